"""Evaluate a corpus: score its records in chunks, here or on an executor, and add them up."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import BrokenExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, final
from uuid import uuid4
from zlib import crc32

from pytest_jsonmatch.corpus.records import FilePlace, RecordPairing, RecordSource, in_chunks, open_pairing
from pytest_jsonmatch.corpus.result import MAX_ERRORS, RunError, RunResult
from pytest_jsonmatch.corpus.scorer import ChunkResult, Task, score_chunk
from pytest_jsonmatch.engine.plan.fitting import patterns_of
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.paths import parse_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from pytest_jsonmatch.corpus.records import Pair, Reading, Unreadable
    from pytest_jsonmatch.engine.plan.compile import Plan, Signature

_IN_FLIGHT: Final = 32
"""An executor has at most this many jobs at a time."""
_LARGEST: Final = 1 << 20
"""Ranges of the expected side end at the first chunk boundary beyond this many bytes."""
_FEWEST: Final = 64
"""A file with enough chunks is cut into at least this many ranges, so that no worker waits long."""
_POSITION: Final = attrgetter("position")


def evaluate_corpus(
    actual: Any, expected: Any, task: Task, plan: Plan, executor: Executor | None
) -> RunResult:
    """Score a corpus for `api.compare_corpus`, with a task and the plan that it compiles to."""
    total = ChunkResult()
    with open_pairing(actual, expected, task.reading) as pairing:
        if executor is None:
            chunks = _scored_here(task, plan, pairing)
        else:
            chunks = _scored_on(executor, task, plan, pairing)
        for chunk in chunks:
            total.add(chunk)
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


def _scored_here(task: Task, plan: Plan, pairing: RecordPairing) -> Iterator[ChunkResult]:
    for pairs in in_chunks(iter(pairing), task.chunk_size):
        plan.renew()
        yield score_chunk(task, plan, pairs)


def _scored_on(executor: Executor, task: Task, plan: Plan, pairing: RecordPairing) -> Iterator[ChunkResult]:
    """Score on an executor: by byte ranges while both sides are files in the same order, then by records."""
    # No ranges if a judge is asked: when one does not fit, the results of later ones are thrown away.
    cut = () if plan.has_batch else _cut_ranges(pairing, task.chunk_size)
    places = [pairing.actual.place, pairing.expected.place]
    for ranges, chunk in _in_order(executor, partial(_score_range, task), cut):
        places = [ranges.actual.end, ranges.expected.end]
        yield chunk
    for side, place in zip((pairing.actual, pairing.expected), places):
        if side.place != place:
            side.move_to(place)
    batches = map(_RecordBatch, in_chunks(iter(pairing), task.chunk_size))
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
                result = score(job)  # a record is too deep to be sent: it is refused here
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
class _RecordBatch:
    """Records to send."""

    pairs: list[Pair]

    def __dask_tokenize__(self) -> str:
        # By default Dask hashes all values in the arguments, which takes longer than scoring them.
        return uuid4().hex


def _score_batch(task: Task, batch: _RecordBatch) -> ChunkResult:
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


# -- byte ranges -------------------------------------------------------------------------------------------
#
# Of two JSON Lines files with equal numbers of records, workers read their part themselves. A range is sent
# as a path, offsets and a checksum, which tells a worker if it has another file under that path, or if the
# file has changed meanwhile.


@final
@dataclass(frozen=True, slots=True)
class _ByteRange:
    """Whole lines of a file."""

    path: Path
    """As the caller gave it."""
    absolute: Path
    start: FilePlace
    end: FilePlace
    checksum: int

    def read(self) -> RecordSource | None:
        """Return its records; None if the file is missing here, or has other bytes."""
        try:
            with self.absolute.open("rb") as file:
                file.seek(self.start.offset)
                text = file.read(self.end.offset - self.start.offset)
        except OSError:
            return None
        return RecordSource.of_text(text, self.path, self.start) if crc32(text) == self.checksum else None


@final
@dataclass(frozen=True, slots=True)
class RangePair:
    """Ranges of both files with equally many records."""

    actual: _ByteRange
    expected: _ByteRange

    @property
    def records(self) -> int:
        """The number of records on each side."""
        return self.expected.end.records - self.expected.start.records

    def read(self, reading: Reading) -> RecordPairing | None:
        """Return the records of both sides; None if the files here are not the ones that were cut."""
        actual, expected = self.actual.read(), self.expected.read()
        return None if actual is None or expected is None else RecordPairing(actual, expected, reading)


def _cut_ranges(pairing: RecordPairing, chunk_size: int) -> Iterator[RangePair]:
    """Yield ranges of whole chunks while both files have records; nothing if a side is not a file.

    Both sides are left at the end of the last range yielded, or before one that lacks records on a side.
    """
    sides = pairing.actual, pairing.expected
    if any(side.path is None or not side.path.is_file() for side in sides):
        return
    size = min(_LARGEST, os.fstat(pairing.expected.file.fileno()).st_size // _FEWEST)
    while True:
        expected: list[bytes] = []
        room, records, more = size, 0, chunk_size
        while room >= 0 and more == chunk_size:
            lines, more = _lines(pairing.expected, chunk_size)
            room -= sum(map(len, lines))
            expected += lines
            records += more
        actual, answers = _lines(pairing.actual, records)
        if not records or answers < records:
            for side in sides:
                side.move_to(side.place)
            return
        yield RangePair(_range(pairing.actual, actual, records), _range(pairing.expected, expected, records))


def _lines(source: RecordSource, records: int) -> tuple[list[bytes], int]:
    """Return the next lines of a file with up to this many records, and how many they contain."""
    lines: list[bytes] = []
    missing = records
    while missing and (more := list(islice(source.file, missing))):
        lines += more
        missing -= len(more) - sum(map(bytes.isspace, more))
    return lines, records - missing


def _range(source: RecordSource, lines: list[bytes], records: int) -> _ByteRange:
    """Return lines read from the place of a source as a range, and move the place behind them."""
    text = b"".join(lines)
    start = source.place
    end = FilePlace(start.offset + len(text), start.lines + len(lines), start.records + records)
    source.place = end
    assert source.path is not None  # noqa: S101 - for the type checker: only files are cut
    return _ByteRange(source.path, source.path.absolute(), start, end, crc32(text))
