"""Evaluate a corpus: score its records in chunks, in this process or on an executor, and add them up."""

from __future__ import annotations

from collections import deque
from concurrent.futures import BrokenExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, final
from uuid import uuid4

from pytest_jsonmatch.corpus.scorer import ChunkResult, Task, score_chunk
from pytest_jsonmatch.engine.plan.unmatched import collect_patterns
from pytest_jsonmatch.engine.value.errors import JsonMatchError, choose_words
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.records.columns import split_column
from pytest_jsonmatch.records.pairing import RecordPairing, open_pairing, split_pairs
from pytest_jsonmatch.records.sources import FileOffset, RecordSource
from pytest_jsonmatch.results.record import MAX_ERRORS, RunError
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future, ProcessPoolExecutor

    from pytest_jsonmatch.engine.plan.compile import Plan, Signature
    from pytest_jsonmatch.records.pairing import Pair, Unreadable
    from pytest_jsonmatch.records.sources import FilePart

_IN_FLIGHT: Final = 32
"""At most this many jobs are submitted to an executor at a time."""
_POSITION: Final = attrgetter("position")


def evaluate_corpus(
    actual: Any,
    expected: Any,
    task: Task,
    plan: Plan,
    executor: Executor | None,
    progress: Callable[[int], object] | None = None,
) -> RunResult:
    """Score a corpus for `api.compare_corpus`, with a task and its compiled plan."""
    total = ChunkResult()
    with open_pairing(actual, expected, task.reading) as pairing:
        task = replace(task, reading=pairing.reading)
        if executor is None:
            chunks = _score_here(task, plan, pairing)
        else:
            chunks = _score_on(_Workers(executor), task, plan, pairing)
        for chunk in chunks:
            total.add(chunk)
            if progress is not None:
                progress(total.sums.counts["records"])
    _add_unreadable(total, pairing.unreadable, task, plan)
    total.records.sort(key=attrgetter("index"))
    errors = [note.entry for note in sorted(total.errors, key=_POSITION)]
    errors += [
        RunError(answer.where, None, None, answer.reason) for answer in pairing.unreadable[:MAX_ERRORS]
    ]
    notes = [note.entry for note in sorted(total.warnings, key=_POSITION)]
    notes += [RunError(pairing.actual.name, None, None, text) for text in pairing.actual.warnings]
    signature = _signature(plan, task)
    for sums in (total.sums, *total.by_tag.values()):
        sums.metrics[str(signature)] = signature.metric
        sums.counts["ignores_extra"] = 0 if plan.options.extra != "ignore" else sums.counts["records"]
    return RunResult(
        None,
        total.sums,
        total.by_tag,
        "record",
        records=tuple(total.worst if task.keep == "worst" else total.records),
        worst=tuple(total.worst),
        errors=tuple(errors[:MAX_ERRORS]),
        warnings=tuple(notes),
        unmatched_expected=tuple(pairing.unmatched_expected),
        unmatched_actual=tuple(pairing.unmatched_actual),
        unmatched_rules=tuple(_unmatched(task, total)),
        id_keys=b"" if task.keep in {"all", "imperfect"} else pairing.collect_keys().lowest(),
    )


def _add_unreadable(total: ChunkResult, answers: Sequence[Unreadable], task: Task, plan: Plan) -> None:
    """Count the answers that can't be paired because they are unreadable or have no id."""
    counts = total.sums.counts
    counts["errors"] += len(answers)
    counts["texts"] += sum(answer.parsed is not None for answer in answers)
    counts["parsed"] += sum(answer.parsed is True for answer in answers)
    if task.validate != "off" and plan.schema is not None:
        counts["validated"] += sum(answer.parsed is False for answer in answers)


def _unmatched(task: Task, total: ChunkResult) -> Iterator[str]:
    """Yield the patterns of rules that match no record, except for the id, which is not scored."""
    id_steps = None if task.reading.id is None else split_column(task.reading.id)
    for pattern in collect_patterns(task.options):
        is_id = parse_pattern(pattern).segments == id_steps
        if not is_id and pattern in (total.unmatched or ()):
            yield pattern


def _signature(plan: Plan, task: Task) -> Signature:
    """Return the signature of a plan with the unscored members and post-processors of a task."""
    more: dict[str, Any] = dict(task.unscored(plan.schema))
    if processors := task.post_process:
        more["post_process"] = [
            f"{getattr(call, '__module__', '')}.{getattr(call, '__qualname__', type(call).__qualname__)}"
            for call in processors
        ]
    return plan.signature.with_options(more) if more else plan.signature


_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

# -- chunks ------------------------------------------------------------------------------------------------


def _score_here(task: Task, plan: Plan, pairing: RecordPairing) -> Iterator[ChunkResult]:
    for pairs in split_pairs(iter(pairing), task.chunk_size):
        plan.limit_nodes()
        yield score_chunk(task, plan, pairs)


@final
class _Workers:
    """An executor. A pool of processes, one of which was killed, is replaced once."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        """The executor of new calls."""
        self._new: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[..., _Result], *arguments: Any) -> Future[_Result]:
        """Submit a call, to a new pool if the first one is broken."""
        try:
            return self.executor.submit(function, *arguments)
        except BrokenExecutor as error:
            self.replace(self.executor, error)
            return self.executor.submit(function, *arguments)

    def replace(self, old: Executor, error: BrokenExecutor) -> None:
        """Replace a broken pool of processes, unless it has been replaced.

        Raises:
            JsonMatchError: the new pool is broken, too.
            BrokenExecutor: it is another kind of executor.
        """
        from concurrent.futures import ProcessPoolExecutor

        if old is not self.executor:
            return
        if not isinstance(old, ProcessPoolExecutor):
            raise error
        if self._new is not None:
            raise JsonMatchError(
                "a process that scores records was killed, and so was one of a new pool: the system may have "
                "run out of memory, or a comparator or post-processor ends its process; use fewer processes"
                + choose_words(" or a smaller chunk_size, or no executor", ", or --processes 1")
                + ", to see the error"
            ) from None
        names = "_max_workers", "_mp_context", "_initializer", "_initargs"
        arguments = [getattr(old, name) for name in names]  # in the order of its arguments
        self._new = self.executor = ProcessPoolExecutor(*arguments)

    def close(self) -> None:
        """End the processes of a new pool; the first pool is the caller's."""
        if self._new is not None:
            self._new.shutdown(cancel_futures=True)


def _score_on(executor: _Workers, task: Task, plan: Plan, pairing: RecordPairing) -> Iterator[ChunkResult]:
    """Score on an executor, which also parses the lines of files while both sides are in the same order."""
    try:
        yield from _score_all_on(executor, task, plan, pairing)
    finally:
        executor.close()


def _score_all_on(
    executor: _Workers, task: Task, plan: Plan, pairing: RecordPairing
) -> Iterator[ChunkResult]:
    # If a judge is asked, lines are paired here: scoring lines in vain would cost calls.
    chunks = () if plan.has_batch else _split_lines(pairing, task.chunk_size)
    ends = [FileOffset(), FileOffset()]
    for chunk, result in _run_in_order(executor, partial(_score_lines, task), chunks):
        ends = [chunk.actual.end, chunk.expected.end]
        if isinstance(result, ChunkResult):
            yield _with_keys(result, pairing)
        else:  # the worker does not have the files: the text of the lines is sent
            again = executor.submit(_score_lines, task, chunk.with_text()).result()
            if again is None:
                ends = [chunk.actual.start, chunk.expected.start]
                break
            yield _with_keys(cast("ChunkResult", again), pairing)
    for side, end in zip((pairing.actual, pairing.expected), ends):
        if side.start != end:
            side.move_to(end)
    batches = map(_RecordBatch, split_pairs(iter(pairing), task.chunk_size))
    for _, result in _run_in_order(executor, partial(_score_batch, task), batches):
        yield result


def _with_keys(result: ChunkResult, pairing: RecordPairing) -> ChunkResult:
    """Return the result of lines, whose keys are added to those of the pairing."""
    if result.gold_keys is not None:
        pairing.gold_keys.extend(result.gold_keys)
    return result


def _run_in_order(
    executor: _Workers, score: Callable[[_Job], _Result | None], jobs: Iterable[_Job]
) -> Iterator[tuple[_Job, _Result]]:
    """Yield jobs with their results, up to the first job without a result."""
    waiting: deque[_Submitted[_Job, _Result]] = deque()
    jobs = iter(jobs)
    failed: JsonMatchError | None = None
    try:
        while True:
            try:
                for job in islice(jobs, _IN_FLIGHT - len(waiting)):
                    waiting.append(_Submitted(executor, score, job))
            except JsonMatchError as error:
                # Errors of earlier records are raised first, as without an executor.
                failed = error
            if not waiting:
                if failed is not None:
                    raise failed
                return
            first = waiting.popleft()
            job = first.job
            try:
                result = first.future.result()
            except JsonMatchError:
                raise
            except BrokenExecutor as error:
                executor.replace(first.executor, error)
                waiting.appendleft(first)
                for submitted in waiting:
                    submitted.repeat(executor, score)
                continue
            except RecursionError:
                result = score(job)  # a record is too deep to be pickled, and is rejected here
            except Exception:  # noqa: BLE001 - Dask can lose a result with its worker; other errors recur
                result = executor.submit(score, job).result()
            if result is None:
                # Most other jobs end at once, too; cancelling them while they end makes Dask log errors.
                wait([running.future for running in waiting], timeout=0.5)
                return
            yield job, result
    finally:
        for running in waiting:
            running.future.cancel()


class _Submitted(Generic[_Job, _Result]):
    """A job, and the executor to which it was submitted."""

    def __init__(self, workers: _Workers, score: Callable[[_Job], _Result | None], job: _Job) -> None:
        self.job = job
        self.future = workers.submit(score, job)
        self.executor = workers.executor

    def repeat(self, workers: _Workers, score: Callable[[_Job], _Result | None]) -> None:
        """Submit the job again if it was lost with a replaced executor, without a result."""
        future = self.future
        is_scored = future.done() and not future.cancelled() and future.exception() is None
        if self.executor is not workers.executor and not is_scored:
            self.future = workers.submit(score, self.job)
            self.executor = workers.executor


@final
@dataclass(frozen=True, slots=True)
class _RecordBatch:
    """Records to send to an executor."""

    pairs: list[Pair]

    def __dask_tokenize__(self) -> str:
        # By default Dask hashes all values in the arguments, which takes longer than scoring them.
        return uuid4().hex


def _score_batch(task: Task, batch: _RecordBatch) -> ChunkResult:
    return score_chunk(task, task.plan(), batch.pairs)


# -- lines of files ----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class LineChunk:
    """Lines of two files with the same number of records, to be parsed and scored on an executor."""

    actual: FilePart
    expected: FilePart

    def with_text(self) -> LineChunk:
        """Return the lines with their text, for a worker that can't read the files."""
        return LineChunk(self.actual.with_text(), self.expected.with_text())

    def __dask_tokenize__(self) -> str:
        return uuid4().hex


def _split_lines(pairing: RecordPairing, chunk_size: int) -> Iterator[LineChunk]:
    """Yield chunks while both files have records; none if a side is not a file that can be read again."""
    sides = pairing.actual, pairing.expected
    if not all(side.form == "lines" and side.is_file for side in sides):
        return
    while True:
        expected, actual = pairing.expected.read_part(chunk_size), pairing.actual.read_part(chunk_size)
        if not expected.records or expected.records != actual.records:
            return
        yield LineChunk(actual, expected)


def _score_lines(task: Task, chunk: LineChunk) -> ChunkResult | str | None:
    """Return the result of lines of both files.

    Returns:
        None if their records are not in the same order; a text if this process does not have the files.
    """
    plan = task.plan()
    if not (chunk.actual.is_readable() and chunk.expected.is_readable()):
        return "no such files"
    actual, expected = RecordSource.of_part(chunk.actual), RecordSource.of_part(chunk.expected)
    pairing = RecordPairing(actual, expected, task.reading)
    pairs = list(pairing.pair_in_step())
    if len(pairs) < chunk.expected.records:
        return None
    result = score_chunk(task, plan, pairs)
    result.gold_keys = pairing.gold_keys
    return result
