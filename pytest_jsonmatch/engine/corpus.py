"""`evaluate` many records: paired, scored in chunks, here or on an executor, summed up without rounding."""

from __future__ import annotations

import sys
from bisect import insort
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.deep import CollectorPause
from pytest_jsonmatch.engine.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonParseError,
)
from pytest_jsonmatch.engine.results import (
    FieldResult,
    FieldResults,
    approximate_warning,
    errors_of,
    sum_rows,
)
from pytest_jsonmatch.engine.runs import (
    MOST_WORST,
    RecordResult,
    RunError,
    RunResult,
    RunSums,
    badness,
    figures_of,
    worst_of,
)
from pytest_jsonmatch.engine.scoring import Outcome, score, walk_flat
from pytest_jsonmatch.engine.values import MISSING, flat_copy, to_json_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor, Future

    from pytest_jsonmatch.engine.plan import Plan, PlanNode
    from pytest_jsonmatch.engine.results import Row
    from pytest_jsonmatch.engine.values import JsonValue

__all__ = ["Keep", "PostProcess", "Progress", "run"]

Keep: TypeAlias = Literal["all", "imperfect", "worst", "none"]
PostProcess: TypeAlias = "Callable[[Sequence[FieldResult]], Iterable[FieldResult]]"
Progress: TypeAlias = "Callable[[int, int | None], object]"
Compile: TypeAlias = "Callable[[str, Mapping[str, Any]], Plan]"

_KEEPS: Final = ("all", "imperfect", "worst", "none")
_CHUNK: Final = 256
_IN_FLIGHT: Final = 32
_AHEAD: Final = 1_000
"""So many records of one side are held while the other side's are looked for, before an index is made."""


@final
@dataclass(frozen=True, slots=True)
class _Pair:
    """A gold record and its answer, as they came."""

    index: int
    record_id: str | int
    gold: Any
    extracted: Any
    """MISSING if there is none."""
    where: str | None = None
    """The gold record's file and line."""


@final
@dataclass(frozen=True, slots=True)
class _Task:
    """How to score a chunk, in a form that travels to another process."""

    compile: Compile
    metric: str
    options: Mapping[str, Any]
    keep: Keep
    id_field: str | None
    post_process: tuple[PostProcess, ...]


@final
@dataclass(slots=True)
class _Chunk:
    """What came of a chunk."""

    sums: RunSums = field(default_factory=RunSums)
    records: list[RecordResult] = field(default_factory=list)
    worst: list[RecordResult] = field(default_factory=list)
    errors: list[RunError] = field(default_factory=list)


def run(
    compile_plan: Compile,
    gold: Any,
    extracted: Any,
    *,
    metric: str,
    options: Mapping[str, Any],
    id_field: str | None,
    post_process: PostProcess | Sequence[PostProcess] | None,
    executor: Executor | None,
    progress: bool | Progress,
    keep: Keep | None,
    chunk_size: int,
) -> RunResult:
    """Do what `api.evaluate` says; `compile_plan` makes a plan of a metric and its options, anywhere."""
    if keep is None:
        keep = "all" if isinstance(gold, Sequence) else "worst"
    if keep not in _KEEPS:
        message = f"keep is {keep!r}; it can be {' or '.join(map(repr, _KEEPS))}"
        raise ConfigurationError(message)
    if type(chunk_size) is not int or chunk_size < 1:
        message = f"chunk_size is {chunk_size!r}; it is a number of records, at least 1"
        raise ConfigurationError(message)
    processors = _processors(post_process)
    plan = compile_plan(metric, options)
    task = _Task(compile_plan, metric, options, keep, id_field, processors)
    pairing = _Pairing(gold, extracted, id_field)
    length = len(gold) if isinstance(gold, Sized) else None
    told = _Progress(progress, length)
    total = _Chunk()
    for chunk in _scored(task, _chunks(iter(pairing), chunk_size), executor):
        total.sums.merge(chunk.sums)
        total.records += chunk.records
        total.errors += chunk.errors[: max(0, _MAX_ERRORS - len(total.errors))]
        total.worst = worst_of((*total.worst, *chunk.worst))
        told.done(total.sums.records)
    told.end()
    total.records.sort(key=lambda record: record.index)
    return RunResult(
        plan.metric,
        plan.signature,
        total.sums,
        records=total.worst if keep == "worst" else total.records,
        worst=total.worst,
        errors=total.errors,
        unmatched_gold=pairing.unmatched_gold,
        unmatched_extracted=pairing.unmatched_extracted,
    )


_MAX_ERRORS: Final = 1_000
_NODE_AND_STATUS: Final = itemgetter(0, 4)


def _processors(given: object) -> tuple[PostProcess, ...]:
    listed = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
    for each in listed:
        if not callable(each):
            message = f"post_process has {each!r}, which cannot be called with a list of field results"
            raise ConfigurationError(message)
    return tuple(listed)


# -- chunks ------------------------------------------------------------------------------------------------


def _chunks(pairs: Iterator[_Pair], size: int) -> Iterator[list[_Pair]]:
    chunk: list[_Pair] = []
    for pair in pairs:
        chunk.append(pair)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _scored(task: _Task, chunks: Iterator[list[_Pair]], executor: Executor | None) -> Iterator[_Chunk]:
    """Score chunks in their order; an executor has a bounded number of them at a time."""
    if executor is None:
        for chunk in chunks:
            yield _score_chunk(task, chunk)
        return
    waiting: deque[Future[_Chunk]] = deque()
    try:
        for chunk in chunks:
            waiting.append(executor.submit(_score_chunk, task, chunk))
            if len(waiting) >= _IN_FLIGHT:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _score_chunk(task: _Task, pairs: list[_Pair]) -> _Chunk:
    # Thousands of rows are made and kept, and none of them is cyclic garbage.
    pause = CollectorPause()
    pause.begin()
    try:
        return _scored_chunk(task, pairs)
    finally:
        pause.end()


def _scored_chunk(task: _Task, pairs: list[_Pair]) -> _Chunk:
    plan = task.compile(task.metric, task.options)
    if plan.recipe is None:
        plan.recipe = (task.compile, task.metric, task.options)
    read = [_read(task, plan, pair) for pair in pairs]
    if plan.has_batch:
        from pytest_jsonmatch.engine.batch import score_batch

        batch = score_batch(plan, [(one.pair.record_id, one.expected, one.actual) for one in read])
        outcomes: Iterable[Outcome | JsonMatchError] = batch
    else:
        outcomes = (_score(plan, one) for one in read)
    made = _Chunk()
    tally: Counter[tuple[PlanNode, str]] = Counter()
    special: list[Row] = []
    for one, outcome in zip(read, outcomes):
        _add(task, plan, made, tally, special, one, outcome)
    made.sums.add_fields(tally, special)
    return made


@final
@dataclass(slots=True)
class _Read:
    """A pair as JSON values."""

    pair: _Pair
    expected: JsonValue
    actual: JsonValue
    error: str | None = None
    warnings: tuple[str, ...] = ()
    flat: bool = False
    """Two objects of scalars."""


def _read(task: _Task, plan: Plan, pair: _Pair) -> _Read:
    gold, extracted = pair.gold, pair.extracted
    if type(gold) is dict and type(extracted) is dict:
        one, other = flat_copy(gold), flat_copy(extracted)
        if one is not None and other is not None:
            return _without_id(task, plan, _Read(pair, one, other, flat=True))
    try:
        if isinstance(gold, (str, bytes, bytearray)):
            from pytest_jsonmatch.engine.parsing import parse_json

            expected = parse_json(_plain_text(gold))
        else:
            expected = to_json_value(gold, side="expected")
    except JsonMatchError as error:
        raise _gold_error(pair, error) from None
    read = _Read(pair, expected, MISSING)
    if extracted is MISSING:
        read.error = "there is no answer for it"
        return _without_id(task, plan, read)
    try:
        if isinstance(extracted, (str, bytes, bytearray)):
            from pytest_jsonmatch.engine.parsing import extract_json

            found = extract_json(_plain_text(extracted), want=_WANTED.get(type(expected)))
            read.actual, read.warnings = found.value, tuple(found.warnings)
        else:
            read.actual = to_json_value(extracted, side="actual")
    except JsonMatchError as error:
        read.error = str(error)
    return _without_id(task, plan, read)


_WANTED: Final[Mapping[type, Literal["object", "array"]]] = {dict: "object", list: "array"}


def _plain_text(text: str | bytes | bytearray) -> str | bytes:
    return bytes(text) if isinstance(text, bytearray) else text


def _without_id(task: _Task, plan: Plan, read: _Read) -> _Read:
    """Take the id out of what is scored, unless the schema lists it: it is how the two found each other."""
    name = task.id_field
    if name is not None and name not in plan.root.listed():
        for side in (read.expected, read.actual):
            if type(side) is dict:
                side.pop(name, None)
    return read


def _score(plan: Plan, read: _Read) -> Outcome | JsonMatchError:
    try:
        if read.flat and plan.flat and read.expected and read.actual:
            return walk_flat(plan, read.expected, read.actual)
        return score(plan, read.expected, read.actual)
    except JsonMatchError as error:
        return error


def _gold_error(pair: _Pair, error: JsonMatchError) -> JsonMatchError:
    where = f"{pair.where}: " if pair.where else ""
    path = getattr(error, "path", "")
    return GoldValidationError(f"{where}record {pair.record_id!r}: {error}", pair.record_id, path)


def _add(
    task: _Task,
    plan: Plan,
    made: _Chunk,
    tally: Counter[tuple[PlanNode, str]],
    special: list[Row],
    read: _Read,
    outcome: Outcome | JsonMatchError,
) -> None:
    """Add one record to what came of its chunk."""
    pair = read.pair
    if isinstance(outcome, GoldValidationError):
        raise _gold_error(pair, outcome)
    if isinstance(outcome, JsonMatchError):
        if read.actual is MISSING:
            raise _gold_error(pair, outcome)
        # The answer is of a kind that the metric refuses: nothing of it counts as found.
        read.error = str(outcome)
        again = _score(plan, _Read(pair, read.expected, MISSING))
        if isinstance(again, JsonMatchError):
            raise _gold_error(pair, again)
        outcome = again
    if read.error is not None:
        made.sums.errors += 1
        made.errors.append(RunError(pair.record_id, None, None, read.error))
    if outcome.gap is not None:
        made.sums.approximate += 1
        read.warnings = (*read.warnings, approximate_warning(outcome.gap))
    if task.post_process:
        outcome = _processed(task, made, pair, outcome)
    rows, totals = outcome.rows, outcome.totals
    if not totals.perfect or plan.has_batch:
        for error in errors_of(rows):
            made.sums.errors += 1
            made.errors.append(RunError(pair.record_id, error.path, error.comparator, error.reason))
        special += [row for row in rows if row[8] is not None or 0.0 < row[5] < 1.0]
    tally.update(map(_NODE_AND_STATUS, rows))
    figures = figures_of(totals, plan.options.reduce)
    made.sums.add(figures, totals)
    if task.keep == "none":
        return
    every = task.keep != "worst"
    rank = (figures[3], figures[2], pair.index)
    if not every and len(made.worst) >= MOST_WORST and rank > badness(made.worst[-1]):
        return
    shown = FieldResults(rows) if task.keep != "imperfect" or not totals.perfect else ()
    counts = dict(Counter(row[4] for row in rows))
    precision, recall, f1, own = figures
    record = RecordResult(
        pair.record_id, pair.index, precision, recall, f1, own, counts, shown, read.error, read.warnings
    )
    if every:
        made.records.append(record)
    if len(made.worst) < MOST_WORST or rank < badness(made.worst[-1]):
        insort(made.worst, record, key=badness)
        del made.worst[MOST_WORST:]


def _processed(task: _Task, made: _Chunk, pair: _Pair, outcome: Outcome) -> Outcome:
    """Return the outcome with what post-processors make of its results; one that raises changes nothing."""
    results: list[FieldResult] = list(map(FieldResult, outcome.rows))
    for process in task.post_process:
        try:
            changed = list(process(list(results)))
        except Exception as error:  # noqa: BLE001 - user code: named, and the run goes on
            _complain(made, pair, process, f"raised {type(error).__name__}: {error}")
            continue
        if not all(isinstance(each, FieldResult) for each in changed):
            _complain(made, pair, process, "returned something else than field results")
            continue
        results = changed
    rows: list[Row] = [tuple(each) for each in results]
    return Outcome(rows, sum_rows(rows), outcome.alignments, outcome.gap)


def _complain(made: _Chunk, pair: _Pair, process: PostProcess, what: str) -> None:
    name = getattr(process, "__name__", repr(process))
    made.sums.errors += 1
    made.errors.append(RunError(pair.record_id, None, None, f"the post-processor {name} {what}"))


# -- progress ----------------------------------------------------------------------------------------------


@final
class _Progress:
    """Tells how far the run is: a function of the caller's, or a line on a terminal."""

    def __init__(self, wanted: bool | Progress, total: int | None) -> None:
        self._total = total
        self._tell: Progress | None = None
        self._line = False
        if callable(wanted):
            self._tell = wanted
        elif wanted and sys.stderr is not None and sys.stderr.isatty():
            self._line = True

    def done(self, count: int) -> None:
        if self._tell is not None:
            self._tell(count, self._total)
        elif self._line:
            of = "" if self._total is None else f" of {self._total:,}"
            sys.stderr.write(f"\r{count:,}{of} records")
            sys.stderr.flush()

    def end(self) -> None:
        if self._line:
            sys.stderr.write("\n")


# -- who belongs to whom -----------------------------------------------------------------------------------


@final
class _Pairing:
    """Gold records and their answers, in the order of gold."""

    def __init__(self, gold: Any, extracted: Any, id_field: str | None) -> None:
        self.unmatched_gold: list[str | int] = []
        self.unmatched_extracted: list[str | int] = []
        self._gold = _Source(gold, "gold")
        self._extracted = _Source(extracted, "extracted")
        self._id_field = id_field

    def __iter__(self) -> Iterator[_Pair]:
        return self._by_position() if self._id_field is None else self._by_id(self._id_field)

    def _by_position(self) -> Iterator[_Pair]:
        answers = iter(self._extracted)
        for index, (where, record) in enumerate(self._gold):
            answer = next(answers, (None, MISSING))[1]
            if answer is MISSING:
                self.unmatched_gold.append(index)
            yield _Pair(index, index, record, answer, where)
        if next(answers, None) is not None:
            message = (
                "there are more extracted records than gold records; "
                "without id_field they are matched by their position"
            )
            raise ConfigurationError(message)

    def _by_id(self, name: str) -> Iterator[_Pair]:
        answers = _Answers(self._extracted, name, self.unmatched_extracted)
        seen: set[str | int] | None = set() if self._gold.is_held else None
        for index, (where, record) in enumerate(self._gold):
            parsed = _parsed_gold(record, where, index)
            record_id = _id_of(parsed, name)
            if record_id is None or (seen is not None and record_id in seen):
                told = f"at {where}" if where else f"record {index}"
                if record_id is None:
                    message = f"gold {told} has no {name}; it has to be a string or an integer"
                else:
                    message = f"gold {told} has the {name} {record_id!r}, as an earlier record has"
                raise GoldValidationError(message, index, name)
            if seen is not None:
                seen.add(record_id)
            answer = answers.take(record_id)
            if answer is MISSING:
                self.unmatched_gold.append(record_id)
            yield _Pair(index, record_id, parsed, answer, where)
        answers.rest()


def _parsed_gold(record: Any, where: str | None, index: int) -> Any:
    if not isinstance(record, (str, bytes, bytearray)):
        return to_json_value(record, side="expected") if type(record) is not dict else record
    from pytest_jsonmatch.engine.parsing import parse_json

    try:
        return parse_json(_plain_text(record))
    except JsonParseError as error:
        raise _gold_error(_Pair(index, index, None, None, where), error) from None


def _id_of(record: Any, name: str) -> str | int | None:
    if type(record) is not dict:
        try:
            record = to_json_value(record)
        except JsonMatchError:
            return None
    found = record.get(name) if type(record) is dict else None
    return found if type(found) is str or type(found) is int else None


@final
class _Answers:
    """The extracted records by id: those before the one looked for are held, too many of a file indexed."""

    def __init__(self, source: _Source, name: str, unmatched: list[str | int]) -> None:
        self._source = source
        self._name = name
        self._unmatched = unmatched
        self._stream = iter(source)
        self._held: dict[str | int, Any] = {}
        self._offsets: dict[str | int, int] | None = None
        self._count = 0

    def take(self, record_id: str | int) -> Any:
        if record_id in self._held:
            return self._held.pop(record_id)
        if self._offsets is not None:
            offset = self._offsets.pop(record_id, None)
            return MISSING if offset is None else self._parsed(self._source.line_at(offset))
        for found, answer in self._next():
            if found == record_id:
                return answer
            if found in self._held:
                self._unmatched.append(found)
                continue
            self._held[found] = answer
            if len(self._held) > _AHEAD and self._source.is_file:
                self._make_index()
                return self.take(record_id)
        return MISSING

    def _next(self) -> Iterator[tuple[str | int, Any]]:
        for _, record in self._stream:
            answer = self._parsed(record)
            found = None if answer is MISSING else _id_of(answer, self._name)
            if found is None:
                # Nobody can tell whose answer it is.
                self._unmatched.append(self._count)
            self._count += 1
            if found is not None:
                yield found, answer

    def _parsed(self, record: Any) -> Any:
        if not isinstance(record, (str, bytes, bytearray)):
            return record
        from pytest_jsonmatch.engine.parsing import extract_json

        try:
            return extract_json(
                bytes(record) if isinstance(record, bytearray) else record, want="object"
            ).value
        except JsonMatchError:
            return MISSING

    def _make_index(self) -> None:
        """Remember where the rest of the file's records begin: about 150 bytes for each."""
        self._offsets = {}
        for offset, line in self._source.rest_with_offsets():
            answer = self._parsed(line)
            found = None if answer is MISSING else _id_of(answer, self._name)
            if found is None or found in self._offsets or found in self._held:
                self._unmatched.append(self._count if found is None else found)
            else:
                self._offsets[found] = offset
            self._count += 1

    def rest(self) -> None:
        """Name the answers that nobody has asked for."""
        self._unmatched.extend(self._held)
        if self._offsets is not None:
            self._unmatched.extend(self._offsets)
        else:
            self._unmatched.extend(found for found, _ in self._next())


@final
class _Source:
    """Records of one side: a list, an iterator, or the lines of a file."""

    def __init__(self, records: Any, side: str) -> None:
        self.is_file = isinstance(records, Path)
        self.is_held = isinstance(records, Sequence)
        self._records = records
        self._file: Any = None
        is_text = isinstance(records, (str, bytes, bytearray))
        if is_text or isinstance(records, Mapping) or not (self.is_file or isinstance(records, Iterable)):
            message = (
                f"{side} is a {type(records).__name__}; it is a list or an iterator of records, "
                "or the Path of a JSON Lines file"
            )
            raise ConfigurationError(message)
        if self.is_file:
            try:
                self._file = records.open("rb")
            except OSError as error:
                message = f"{side} {str(records)!r} can't be read: {(error.strerror or str(error)).lower()}"
                raise ConfigurationError(message) from None

    def __iter__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield (file and line, record)."""
        if not self.is_file:
            for record in self._records:
                yield None, record
            return
        with self._file:
            number = 0
            # `readline`, not iteration, so that `tell` is allowed.
            while line := self._file.readline():
                number += 1
                if line.strip():
                    yield f"{self._records}:{number}", line.rstrip(b"\r\n")

    def rest_with_offsets(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a file that are left, each with where it begins."""
        while True:
            offset = self._file.tell()
            line = self._file.readline()
            if not line:
                return
            if line.strip():
                yield offset, line.rstrip(b"\r\n")

    def line_at(self, offset: int) -> bytes:
        """Return the line of a file that begins at an offset."""
        self._file.seek(offset)
        line: bytes = self._file.readline()
        return line.rstrip(b"\r\n")
