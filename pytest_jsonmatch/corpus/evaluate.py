"""Evaluate a corpus: score its records in chunks, here or on an executor, and add them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sized
from concurrent.futures import BrokenExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, final
from uuid import uuid4

from pytest_jsonmatch.corpus.progress import Progress, is_watched
from pytest_jsonmatch.corpus.ranges import cut_ranges
from pytest_jsonmatch.corpus.records import in_chunks, open_pairing
from pytest_jsonmatch.corpus.result import MAX_ERRORS, RunError, RunResult
from pytest_jsonmatch.corpus.scorer import ChunkResult, Task, score_chunk
from pytest_jsonmatch.engine.plan.fitting import patterns_of
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.paths import parse_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from pytest_jsonmatch.corpus.ranges import RangePair
    from pytest_jsonmatch.corpus.records import Pair, Pairing, Unreadable
    from pytest_jsonmatch.engine.plan.compile import Plan, Signature

Report: TypeAlias = Callable[[int, "int | None"], object]
"""A function called with the number of records done, and the total, or None if it is unknown."""

_IN_FLIGHT: Final = 32
"""An executor has at most this many jobs at a time."""
_POSITION: Final = attrgetter("position")


def evaluate_corpus(
    actual: Any, expected: Any, task: Task, plan: Plan, *, executor: Executor | None, progress: bool | Report
) -> RunResult:
    """Score a corpus for `api.compare_corpus`, with a task and the plan that it compiles to."""
    total = ChunkResult()
    in_all = _number_of(expected) if progress else None
    with (
        open_pairing(actual, expected, task.reading) as pairing,
        Progress(total=in_all) if progress is True else nullcontext(progress) as report,
    ):
        if executor is None:
            chunks = _scored_here(task, plan, pairing)
        else:
            chunks = _scored_on(executor, task, plan, pairing)
        for chunk in chunks:
            total.add(chunk)
            if report:
                report(total.sums.counts["records"], in_all)
    _add_unreadable(total, pairing.unreadable, task, plan)
    total.records.sort(key=attrgetter("index"))
    errors = [note.entry for note in sorted(total.errors, key=_POSITION)]
    errors += [RunError(each.where, None, None, each.reason) for each in pairing.unreadable[:MAX_ERRORS]]
    return RunResult(
        _signature(plan, task),
        total.sums,
        records=tuple(total.worst if task.keep == "worst" else total.records),
        worst=tuple(total.worst),
        errors=tuple(errors[:MAX_ERRORS]),
        warnings=tuple(note.entry for note in sorted(total.warnings, key=_POSITION)),
        unmatched_expected=tuple(pairing.unmatched_expected),
        unmatched_actual=tuple(pairing.unmatched_actual),
        unmatched_rules=tuple(_unmatched(task, total)),
        _by_tag=total.by_tag,
    )


def _number_of(expected: Any) -> int | None:
    """Return the number of gold records; None if unknown. Files are counted only if progress is shown."""
    if not isinstance(expected, (str, PathLike)):
        return len(expected) if isinstance(expected, Sized) else None
    path = Path(expected)
    if not is_watched() or not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _add_unreadable(total: ChunkResult, answers: Sequence[Unreadable], task: Task, plan: Plan) -> None:
    """Count the answers that can't be assigned to a record, since they are unreadable or have no id."""
    counts = total.sums.counts
    counts["errors"] += len(answers)
    counts["texts"] += sum(each.parsed is not None for each in answers)
    counts["parsed"] += sum(each.parsed is True for each in answers)
    if task.validate != "off" and plan.schema is not None:
        counts["validated"] += sum(each.parsed is False for each in answers)


def _unmatched(task: Task, total: ChunkResult) -> Iterator[str]:
    """Yield the patterns of rules that match no record; one for the id is fine, although it is not scored."""
    for pattern in patterns_of(task.options):
        is_id = parse_pattern(pattern).segments == (task.reading.id_field,)
        if not is_id and pattern in (total.unmatched or ()):
            yield pattern


def _signature(plan: Plan, task: Task) -> Signature:
    """Return a plan's signature with what a run adds to it."""
    more: dict[str, Any] = dict(task.unscored(plan.schema))
    if processors := task.post_process:
        more["post_process"] = [
            f"{getattr(each, '__module__', '')}.{getattr(each, '__qualname__', type(each).__qualname__)}"
            for each in processors
        ]
    return plan.signature.with_options(more) if more else plan.signature


# -- chunks ------------------------------------------------------------------------------------------------


def _scored_here(task: Task, plan: Plan, pairing: Pairing) -> Iterator[ChunkResult]:
    for pairs in in_chunks(iter(pairing), task.chunk_size):
        plan.renew()
        yield score_chunk(task, plan, pairs)


def _scored_on(executor: Executor, task: Task, plan: Plan, pairing: Pairing) -> Iterator[ChunkResult]:
    """Score on an executor: by byte ranges while both sides are files in the same order, then by records."""
    # No ranges if a judge is asked: when one does not fit, the results of later ones are thrown away.
    cut = () if plan.has_batch else cut_ranges(pairing, task.chunk_size)
    places = [pairing.actual.place, pairing.expected.place]
    for ranges, chunk in _in_order(executor, partial(_score_range, task), cut):
        places = [ranges.actual.end, ranges.expected.end]
        yield chunk
    for side, place in zip((pairing.actual, pairing.expected), places):
        if side.place != place:
            side.move_to(place)
    batches = map(_Batch, in_chunks(iter(pairing), task.chunk_size))
    for _, chunk in _in_order(executor, partial(_score_batch, task), batches):
        yield chunk


_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def _in_order(
    executor: Executor, score: Callable[[_Job], _Result | None], jobs: Iterable[_Job]
) -> Iterator[tuple[_Job, _Result]]:
    """Yield jobs with their results, up to the first job without a result."""
    waiting: deque[tuple[_Job, Future[_Result | None]]] = deque()
    jobs = iter(jobs)
    failed: JsonMatchError | None = None
    try:
        while True:
            try:
                for job in islice(jobs, _IN_FLIGHT - len(waiting)):
                    waiting.append((job, executor.submit(score, job)))
            except JsonMatchError as error:
                # Errors of records read earlier come first, as they do without an executor.
                failed = error
            if not waiting:
                if failed is not None:
                    raise failed
                return
            job, future = waiting.popleft()
            try:
                result = future.result()
            except (JsonMatchError, BrokenExecutor):
                raise
            except RecursionError:
                # Python cannot pickle values nested several hundred levels deep, neither jobs nor results.
                result = score(job)
            except Exception:  # noqa: BLE001 - Dask can lose a result with its worker; other errors recur
                result = executor.submit(score, job).result()
            if result is None:
                # The others mostly have none either and end at once; if cancelled then, Dask logs errors.
                wait([each for _, each in waiting], timeout=0.5)
                return
            yield job, result
    finally:
        for _, future in waiting:
            future.cancel()


@final
@dataclass(frozen=True, slots=True)
class _Batch:
    """Records to send."""

    pairs: list[Pair]

    def __dask_tokenize__(self) -> str:
        # By default Dask hashes all values in the arguments, which takes longer than scoring them.
        return uuid4().hex


def _score_batch(task: Task, batch: _Batch) -> ChunkResult:
    return score_chunk(task, task.plan(), batch.pairs)


def _score_range(task: Task, ranges: RangePair) -> ChunkResult | None:
    """Score ranges of both files; return None if they are not in the same order, or not on this machine."""
    plan = task.plan()
    pairing = ranges.read(task.reading)
    if pairing is None:
        return None
    total = ChunkResult()
    for pairs in in_chunks(pairing.in_step(), task.chunk_size):
        total.add(score_chunk(task, plan, pairs))
    return total if total.sums.counts["records"] == ranges.records else None
