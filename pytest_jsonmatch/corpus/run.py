"""`evaluate` many records: paired, scored in chunks, here or on an executor, summed up without rounding."""

from __future__ import annotations

import json
import sys
from bisect import insort
from collections import Counter, deque
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.corpus.records import gold_error, open_pairing, plain_text
from pytest_jsonmatch.corpus.result import (
    MAX_ERRORS,
    MOST_WORST,
    RecordResult,
    RunError,
    RunResult,
    RunSums,
    figures_of,
    worst_of,
)
from pytest_jsonmatch.corpus.tally import Counted, FlatTally
from pytest_jsonmatch.engine.compare.parameters import take_repair
from pytest_jsonmatch.engine.result.field import FieldResult, FieldResults
from pytest_jsonmatch.engine.result.figures import approximate_warning, errors_of, is_approximate
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.score.outcome import MATCH
from pytest_jsonmatch.engine.score.walk_ import score, walk_flat
from pytest_jsonmatch.engine.value.collector import CollectorPause
from pytest_jsonmatch.engine.value.convert import MISSING, flat_copy, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, GoldValidationError, JsonMatchError
from pytest_jsonmatch.engine.value.sums import total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Executor, Future

    from pytest_jsonmatch.corpus.records import Pair
    from pytest_jsonmatch.engine.plan.compile import Plan, PlanNode, Recipe, Signature
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.score.outcome import Finding, Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums

__all__ = ["Keep", "PostProcess", "Progress", "run"]

Keep: TypeAlias = Literal["all", "imperfect", "worst", "none"]
PostProcess: TypeAlias = "Callable[[Sequence[FieldResult]], Iterable[FieldResult]]"
Progress: TypeAlias = "Callable[[int, int | None], object]"
Compile: TypeAlias = "Callable[[str, Mapping[str, Any]], Plan]"
Figures: TypeAlias = "tuple[float, float, float, float]"
"""Precision, recall, F1 and score of a record."""

_KEEPS: Final = ("all", "imperfect", "worst", "none")
_IN_FLIGHT: Final = 32
_POSITION: Final = itemgetter(0)  # of a `Pair`
_NODE: Final = attrgetter("node")
_STATUS: Final = attrgetter("status")
_NODE_AND_STATUS: Final = attrgetter("node", "status")


@final
@dataclass(frozen=True, slots=True)
class _Task:
    """How to score a chunk, in a form that travels to another process."""

    compile: Compile
    metric: str
    options: Mapping[str, Any]
    signature: Signature
    """Of the plan: it has to come out the same wherever it is compiled."""
    keep: Keep
    repair: bool
    hidden: str | None
    """The id field, where it is not scored."""
    post_process: tuple[PostProcess, ...]
    judge: object = None
    """What comparators that ask a judge are given."""
    matches: bool = False
    """Whether what is kept of a record has its comparison."""


@final
@dataclass(slots=True)
class _Chunk:
    """What came of a chunk."""

    sums: RunSums = field(default_factory=RunSums)
    records: list[RecordResult] = field(default_factory=list)
    worst: list[RecordResult] = field(default_factory=list)
    errors: list[tuple[int, RunError]] = field(default_factory=list)
    """Each with the index of its record."""
    warnings: list[tuple[int, RunError]] = field(default_factory=list)
    """Likewise."""


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
    matches: bool = False,
    judge: Callable[[Plan], object] | None = None,
) -> RunResult:
    """Do what `api.evaluate` says; `compile_plan` makes a plan of a metric and its options, anywhere.

    `judge` gives, for a plan, what its comparators that ask a judge are given.
    """
    if keep is None:
        keep = "all" if isinstance(gold, Sequence) and not isinstance(gold, str) else "worst"
    _check(keep, chunk_size, id_field)
    if matches and executor is not None:
        message = "matches=True keeps comparisons, which stay in the process that made them; without executor"
        raise ConfigurationError(message)
    processors = _processors(post_process)
    repair, options = take_repair(options)
    plan = compile_plan(metric, options)
    hidden = None if id_field is None or _lists(plan.schema, id_field) else id_field
    asked = None if judge is None else judge(plan)
    task = _Task(
        compile_plan, metric, options, plan.signature, keep, repair, hidden, processors, asked, matches
    )
    total = _Chunk()
    with open_pairing(gold, extracted, id_field, repair=repair) as pairing:
        chunks = _chunks(iter(pairing), chunk_size)
        in_all = len(gold) if isinstance(gold, Sized) and not isinstance(gold, str) else None
        told = _Progress(progress, in_all)
        scored = _scored_here(task, plan, chunks) if executor is None else _sent(task, chunks, executor)
        try:
            for chunk in scored:
                total.sums.merge(chunk.sums)
                total.records += chunk.records
                total.errors += chunk.errors[: max(0, MAX_ERRORS - len(total.errors))]
                total.warnings += chunk.warnings[: max(0, MAX_ERRORS - len(total.warnings))]
                total.worst = worst_of((*total.worst, *chunk.worst))
                told.done(total.sums.records)
        finally:
            told.end()
    total.sums.errors += len(pairing.unreadable)
    total.records.sort(key=lambda record: record.index)
    total.errors.sort(key=itemgetter(0))
    total.warnings.sort(key=itemgetter(0))
    return RunResult(
        plan.metric,
        _signature(plan.signature, hidden, processors),
        total.sums,
        records=total.worst if keep == "worst" else total.records,
        worst=total.worst,
        errors=[
            *(error for _, error in total.errors),
            *(RunError(where, None, None, why) for where, why in pairing.unreadable[:MAX_ERRORS]),
        ],
        warnings=[warning for _, warning in total.warnings],
        unmatched_gold=pairing.unmatched_gold,
        unmatched_extracted=pairing.unmatched_extracted,
    )


def _check(keep: object, chunk_size: object, id_field: object) -> None:
    if keep not in _KEEPS:
        message = f"keep is {keep!r}; it can be {' or '.join(map(repr, _KEEPS))}"
        raise ConfigurationError(message)
    if not isinstance(chunk_size, int) or isinstance(chunk_size, bool) or chunk_size < 1:
        message = f"chunk_size is {chunk_size!r}; it is a number of records, at least 1"
        raise ConfigurationError(message)
    if id_field is not None and not isinstance(id_field, str):
        message = f"id_field is {id_field!r}; it is the name of a member at the top of each record"
        raise ConfigurationError(message)


def _processors(given: object) -> tuple[PostProcess, ...]:
    listed = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
    for each in listed:
        if not callable(each):
            message = f"post_process has {each!r}, which cannot be called with a list of field results"
            raise ConfigurationError(message)
    return tuple(listed)


def _lists(schema: SchemaNode | None, name: str) -> bool:
    """Tell whether a schema, or one of its alternatives, lists a member."""
    if schema is None:
        return False
    return name in (schema.properties or ()) or any(_lists(branch, name) for _, branch in schema.branches)


def _signature(plain: Signature, hidden: str | None, processors: Sequence[PostProcess]) -> Signature:
    """Return a plan's signature with what a run adds to it."""
    more: dict[str, Any] = {}
    if hidden is not None:
        more["id_field"] = hidden
    if processors:
        more["post_process"] = [
            f"{getattr(each, '__module__', '')}.{getattr(each, '__qualname__', type(each).__qualname__)}"
            for each in processors
        ]
    if not more:
        return plain
    options = {**(json.loads(plain.options) if plain.options else {}), **more}
    text = json.dumps(options, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return replace(plain, options=text)


# -- chunks ------------------------------------------------------------------------------------------------


def _chunks(pairs: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, size)):
        chunk.sort(key=_POSITION)
        yield chunk


def _scored_here(task: _Task, plan: Plan, chunks: Iterator[list[Pair]]) -> Iterator[_Chunk]:
    for chunk in chunks:
        plan.renew()
        yield _score_with(task, plan, chunk)


def _sent(task: _Task, chunks: Iterator[list[Pair]], executor: Executor) -> Iterator[_Chunk]:
    """Score chunks on an executor, which has a bounded number of them at a time; they come in their order."""
    waiting: deque[tuple[Future[_Chunk], list[Pair]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((executor.submit(_score_chunk, task, chunk), chunk))
            if len(waiting) >= _IN_FLIGHT:
                yield _received(task, *waiting.popleft())
        while waiting:
            yield _received(task, *waiting.popleft())
    finally:
        for future, _ in waiting:
            future.cancel()


def _received(task: _Task, future: Future[_Chunk], chunk: list[Pair]) -> _Chunk:
    try:
        return future.result()
    except RecursionError:
        # Python cannot pickle values nested some hundred levels deep, on the way there or back.
        return _score_chunk(task, chunk)


def _score_chunk(task: _Task, pairs: list[Pair]) -> _Chunk:
    """Score a chunk, maybe in another process."""
    plan = task.compile(task.metric, task.options)
    if plan.signature != task.signature:
        message = (
            f"the process that scores has other rules ({plan.signature}) than the one that asks "
            f"({task.signature}): what is registered or set there (set_type_default, register_metric) has to "
            "be so here too, for example by the executor's initializer"
        )
        raise ConfigurationError(message)
    return _score_with(task, plan, pairs)


def _score_with(task: _Task, plan: Plan, pairs: list[Pair]) -> _Chunk:
    if plan.recipe is None:
        plan.recipe = (task.compile, task.metric, task.options)
    # Thousands of findings are made and kept, and none of them is cyclic garbage.
    pause = CollectorPause()
    pause.begin()
    try:
        return _Scorer(task, plan).score(pairs)
    finally:
        pause.end()


@final
@dataclass(slots=True)
class _Read:
    """A pair as JSON values."""

    pair: Pair
    expected: JsonValue
    actual: JsonValue
    error: str | None = None
    warnings: tuple[str, ...] = ()
    flat: bool = False
    """Two objects of scalars."""


@final
class _FlatFindings:
    """Makes the findings of two flat records when they are looked at, maybe in another process."""

    __slots__ = ("_actual", "_expected", "_plan")

    def __init__(self, plan: Plan | Recipe, expected: JsonValue, actual: JsonValue) -> None:
        self._plan = plan
        self._expected = expected
        self._actual = actual

    def __call__(self) -> Sequence[Finding]:
        plan = self._plan
        if isinstance(plan, tuple):
            compile_here, metric, options = recipe = plan
            self._plan = plan = compile_here(metric, options)
            plan.recipe = recipe
        return (walk_flat if plan.flat else score)(plan, self._expected, self._actual).findings

    def __reduce__(self) -> Any:
        plan = self._plan if isinstance(self._plan, tuple) else self._plan.recipe
        return _FlatFindings, (plan, self._expected, self._actual)


@final
class _Candidate(NamedTuple):
    """A record that may be kept, as long as its chunk is scored."""

    pair: Pair
    figures: Figures
    found: Outcome | Counted
    expected: JsonValue
    actual: JsonValue
    error: str | None
    warnings: tuple[str, ...]

    def record(self, plan: Plan, *, fields: bool, matches: bool) -> RecordResult:
        """Return what is kept of it, with field results or without, with its comparison or without."""
        pair, found = self.pair, self.found
        shown: Sequence[FieldResult] = ()
        match: MatchResult | None = None
        if isinstance(found, Counted):
            counts = found.counts()
            if fields:
                # (The dicts are the caller's, who may change them before anybody looks.)
                expected, actual = dict(self.expected), dict(self.actual)
                shown = FieldResults(_FlatFindings(plan, expected, actual))
                if matches:
                    match = MatchResult(plan, (expected, actual), None, self.warnings)
        else:
            counts = dict(Counter(map(_STATUS, found.findings)))
            if fields:
                shown = FieldResults(found.findings)
                if matches:
                    # (That arrays were not paired exactly, the comparison says by itself.)
                    warnings = tuple(each for each in self.warnings if not is_approximate((each,)))
                    match = MatchResult(plan, (self.expected, self.actual), found, warnings)
        precision, recall, f1, own = self.figures
        return RecordResult(
            pair.record_id,
            pair.position,
            precision,
            recall,
            f1,
            own,
            counts,
            shown,
            self.error,
            self.warnings,
            match,
        )


@final
class _Scorer:
    """Scores the records of one chunk and adds them up."""

    __slots__ = (
        "_figures",
        "_flat",
        "_known",
        "_made",
        "_nodes",
        "_others",
        "_plan",
        "_special",
        "_task",
        "_totals",
        "_worst",
    )

    def __init__(self, task: _Task, plan: Plan) -> None:
        self._task = task
        self._plan = plan
        self._made = _Chunk()
        self._flat = None if task.post_process else FlatTally(plan)
        self._known: dict[Sums, Figures] = {}
        self._figures: list[Figures] = []
        self._totals: list[Sums] = []
        self._nodes: Counter[PlanNode] = Counter()  # findings, whatever they say
        self._others: Counter[tuple[PlanNode, str]] = Counter()  # those of them that are no plain matches
        self._special: list[Finding] = []  # those of the latter that say more than their status
        self._worst: list[tuple[tuple[float, float, int], _Candidate]] = []

    def score(self, pairs: list[Pair]) -> _Chunk:
        """Score all records."""
        plan, hidden = self._plan, self._task.hidden
        if plan.has_batch or plan.preloads:
            from pytest_jsonmatch.engine.ask.rounds_ import score_batch

            asked = [self._read(pair) for pair in pairs]
            records = [(one.pair.record_id, one.expected, one.actual) for one in asked]
            outcomes = score_batch(plan, records, self._task.judge)
            for read, outcome in zip(asked, outcomes):
                self._add(read, outcome)
        else:
            for pair in pairs:
                gold, extracted = pair.gold, pair.extracted
                if type(gold) is dict and type(extracted) is dict:
                    if hidden is not None:
                        gold, extracted = self._shown(gold), self._shown(extracted)
                    if self._counted(pair, gold, extracted, None, pair.warnings):
                        continue
                read = self._read(pair)
                if not (
                    type(gold) is not dict
                    and type(read.expected) is dict
                    and type(read.actual) is dict
                    and self._counted(pair, read.expected, read.actual, read.error, read.warnings)
                ):
                    self._add(read, _score(plan, read))
        return self._finished()

    def _finished(self) -> _Chunk:
        made = self._made
        made.sums.extend(self._figures, self._totals)
        if self._flat is not None:
            made.sums.add_keys(self._flat.by_key())
        made.sums.add_rows(self._nodes, self._others, self._special)
        if self._task.keep == "worst":
            made.worst = [self._record(candidate, fields=True) for _, candidate in self._worst]
        else:
            made.worst = worst_of(made.records)
        return made

    # -- reading -------------------------------------------------------------------------------------------

    def _shown(self, record: dict[Any, Any]) -> dict[Any, Any]:
        """Return a record without its id, if that is only how the two found each other."""
        hidden = self._task.hidden
        if hidden is None or hidden not in record:
            return record
        return {key: value for key, value in record.items() if key != hidden}

    def _read(self, pair: Pair) -> _Read:
        gold, extracted = pair.gold, pair.extracted
        if type(gold) is dict and type(extracted) is dict:
            one, other = flat_copy(gold), flat_copy(extracted)
            if one is not None and other is not None:
                shown, found = self._shown(one), self._shown(other)
                return _Read(pair, shown, found, warnings=pair.warnings, flat=True)
        try:
            if isinstance(gold, (str, bytes, bytearray)):
                from pytest_jsonmatch.reading.strict import parse_json

                expected = parse_json(plain_text(gold))
            else:
                expected = to_json_value(gold, side="expected")
        except JsonMatchError as error:
            raise gold_error(pair.record_id, pair.where, error) from None
        read = _Read(pair, expected, MISSING, warnings=pair.warnings)
        try:
            if extracted is MISSING:
                read.error = "there is no answer for it"
            elif isinstance(extracted, (str, bytes, bytearray)):
                from pytest_jsonmatch.reading.extract import extract_json

                want = _WANTED.get(type(expected))
                extraction = extract_json(plain_text(extracted), want=want, repair=self._task.repair)
                read.actual, read.warnings = extraction.value, tuple(extraction.warnings)
            else:
                read.actual = to_json_value(extracted, side="actual")
        except JsonMatchError as error:
            read.error = str(error)
        if type(read.expected) is dict:
            read.expected = self._shown(read.expected)
        if type(read.actual) is dict:
            read.actual = self._shown(read.actual)
        return read

    # -- adding --------------------------------------------------------------------------------------------

    def _counted(
        self, pair: Pair, expected: Any, actual: Any, error: str | None, warnings: tuple[str, ...]
    ) -> bool:
        """Count two flat objects; False if they are none, or not to be counted."""
        if self._flat is None or (counted := self._flat.add(expected, actual)) is None:
            return False
        if warnings:
            self._warn(pair, warnings)
        totals = counted.totals
        figures = self._known.get(totals)
        if figures is None:
            figures = self._known[totals] = figures_of(totals, self._plan.options.reduce)
        self._figures.append(figures)
        self._totals.append(totals)
        if self._keeps(pair, figures):
            self._keep(totals, _Candidate(pair, figures, counted, expected, actual, error, warnings))
        return True

    def _add(self, read: _Read, outcome: Outcome | JsonMatchError) -> None:
        """Add one record."""
        pair, made, plan = read.pair, self._made, self._plan
        if isinstance(outcome, GoldValidationError):
            raise gold_error(pair.record_id, pair.where, outcome)
        if isinstance(outcome, JsonMatchError):
            if read.actual is MISSING:
                raise gold_error(pair.record_id, pair.where, outcome)
            # The answer is of a kind that the metric refuses: nothing of it counts as found.
            read.error = str(outcome)
            again = _score(plan, _Read(pair, read.expected, MISSING))
            if isinstance(again, JsonMatchError):
                raise gold_error(pair.record_id, pair.where, again)
            outcome = again
        if read.error is not None:
            self._note(pair, None, None, read.error)
        if outcome.gap is not None:
            made.sums.approximate += 1
            read.warnings = (*read.warnings, approximate_warning(outcome.gap))
        if read.warnings:
            self._warn(pair, read.warnings)
        if self._task.post_process:
            outcome = self._processed(pair, outcome)
        findings, totals = outcome.findings, outcome.sums
        self._nodes.update(map(_NODE, findings))
        others = [each for each in findings if each.status != MATCH or each.detail is not None]
        if others:
            self._others.update(map(_NODE_AND_STATUS, others))
            self._special += [each for each in others if each.detail is not None or each.score]
            for error in errors_of(others):
                self._note(pair, error.path, error.comparator, error.reason)
        figures = figures_of(totals, plan.options.reduce)
        self._figures.append(figures)
        self._totals.append(totals)
        if self._keeps(pair, figures):
            expected, actual = read.expected, read.actual
            self._keep(
                totals, _Candidate(pair, figures, outcome, expected, actual, read.error, read.warnings)
            )

    def _keeps(self, pair: Pair, figures: Figures) -> bool:
        """Tell whether anything is to be kept of a record."""
        keep, worst = self._task.keep, self._worst
        if keep != "worst" or len(worst) < MOST_WORST:
            return keep != "none"
        return (figures[3], figures[2], pair.position) < worst[-1][0]

    def _keep(self, totals: Sums, candidate: _Candidate) -> None:
        """Keep what is to be kept of a record."""
        keep = self._task.keep
        if keep == "worst":
            rank = (candidate.figures[3], candidate.figures[2], candidate.pair.position)
            insort(self._worst, (rank, candidate))
            del self._worst[MOST_WORST:]
        else:
            fields = keep == "all" or not totals.perfect
            self._made.records.append(self._record(candidate, fields=fields))

    def _record(self, candidate: _Candidate, *, fields: bool) -> RecordResult:
        return candidate.record(self._plan, fields=fields, matches=self._task.matches)

    def _processed(self, pair: Pair, outcome: Outcome) -> Outcome:
        """Return the outcome with what post-processors make of it; one that raises changes nothing."""
        results: list[FieldResult] = list(FieldResults(outcome.findings))
        for process in self._task.post_process:
            name = getattr(process, "__name__", repr(process))
            try:
                changed = list(process(list(results)))
            except Exception as error:  # noqa: BLE001 - user code: named, and the run goes on
                why = f"the post-processor {name} raised {type(error).__name__}: {error}"
                self._note(pair, None, None, why)
                continue
            if not all(isinstance(each, FieldResult) for each in changed):
                why = f"the post-processor {name} returned something else than field results"
                self._note(pair, None, None, why)
                continue
            results = changed
        sums = total_of(each.sums for each in results)
        return outcome._replace(findings=results, sums=sums)

    def _note(self, pair: Pair, path: str | None, comparator: str | None, reason: str) -> None:
        made = self._made
        made.sums.errors += 1
        if len(made.errors) < MAX_ERRORS:
            made.errors.append((pair.position, RunError(pair.record_id, path, comparator, reason)))

    def _warn(self, pair: Pair, warnings: tuple[str, ...]) -> None:
        made = self._made
        made.sums.warnings += len(warnings)
        if len(made.warnings) < MAX_ERRORS:
            made.warnings += [
                (pair.position, RunError(pair.record_id, None, None, text)) for text in warnings
            ]


_WANTED: Final[Mapping[type, Literal["object", "array"]]] = {dict: "object", list: "array"}


def _score(plan: Plan, read: _Read) -> Outcome | JsonMatchError:
    try:
        if read.flat and plan.flat and read.expected and read.actual:
            return walk_flat(plan, read.expected, read.actual)
        return score(plan, read.expected, read.actual)
    except JsonMatchError as error:
        return error


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
