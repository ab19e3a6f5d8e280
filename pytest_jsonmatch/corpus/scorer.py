"""Score one chunk of records, in this process or in another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast, final

from pytest_jsonmatch.comparing.comparer import TEXT, Comparer
from pytest_jsonmatch.engine.ask.rounds import score_all_with_answers
from pytest_jsonmatch.engine.plan.known import find_absent_paths
from pytest_jsonmatch.engine.plan.unmatched import collect_patterns, matches_somewhere
from pytest_jsonmatch.engine.result.aggregation import (
    FieldSums,
    aggregate,
    count_plain_matches,
    iter_errors,
)
from pytest_jsonmatch.engine.result.kinds import NOT_ANSWERED, count_kinds, find_differences
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.result.rows import add_rows, count_rows
from pytest_jsonmatch.engine.result.validity import check_validity
from pytest_jsonmatch.engine.score.documents import write_all
from pytest_jsonmatch.engine.score.field import FieldResult
from pytest_jsonmatch.engine.score.walkstate import VisitedPlaces
from pytest_jsonmatch.engine.value.convert import MISSING, copy_flat, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonParseError,
    format_error,
    name_argument,
)
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.engine.value.sums import Scores, add_sums, compute_scores
from pytest_jsonmatch.reading.answers import list_admitted_types, read_text
from pytest_jsonmatch.reading.nested import parse_nested_texts
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.answers import select_answer
from pytest_jsonmatch.records.columns import ColumnError, find_cluster, remove_column
from pytest_jsonmatch.records.pairing import make_gold_error, read_gold
from pytest_jsonmatch.results.comparison import VALIDITY
from pytest_jsonmatch.results.record import (
    MAX_ERRORS,
    MAX_WORST,
    NO_ANSWER,
    RecordResult,
    RunError,
    lowest_scoring,
    rank_record,
)
from pytest_jsonmatch.results.tags import tag_text
from pytest_jsonmatch.results.totals import Totals

if TYPE_CHECKING:
    from pytest_jsonmatch.corpus.tagger import Tagger
    from pytest_jsonmatch.engine.plan.compile import Plan, Signature
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.result.validity import Validity
    from pytest_jsonmatch.engine.score.walkstate import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums
    from pytest_jsonmatch.reading.answers import TextAnswer
    from pytest_jsonmatch.records.pairing import Pair, Reading
    from pytest_jsonmatch.results.answer import Spent
    from pytest_jsonmatch.results.idkeys import IdKeys
    from pytest_jsonmatch.results.tags import Tags

Keep: TypeAlias = Literal["all", "imperfect", "worst", "none"]
PostProcess: TypeAlias = Callable[[Sequence[FieldResult]], Iterable[FieldResult]]


@final
@dataclass(frozen=True, slots=True)
class Task:
    """The options for scoring chunks, in a form that can be sent to another process."""

    metric: str
    options: Mapping[str, Any]
    signature: Signature
    """The signature of the plan, which must be the same in every process."""
    judge: object
    """The judge for comparators that ask one."""
    keep: Keep
    chunk_size: int
    reading: Reading
    post_process: tuple[PostProcess, ...]
    tagger: Tagger | None
    """Finds the tags of gold records."""
    validate: str
    """How answers are validated against the schema; see `engine.result.validity`."""
    cluster: str | None
    """The member of gold records that names their cluster."""

    def __post_init__(self) -> None:
        """Check the arguments of the caller."""
        if self.keep not in _KEEPS:
            raise ConfigurationError(f"keep must be {' or '.join(map(repr, _KEEPS))}, got {self.keep!r}")
        if type(self.chunk_size) is not int or self.chunk_size < 1:
            message = f"chunk_size must be a number of records, at least 1, got {self.chunk_size!r}"
            raise ConfigurationError(message)
        if not isinstance(cast("object", self.cluster), (str, NoneType)):
            raise ConfigurationError(
                f"{name_argument('cluster')} must name a column of gold records, got {self.cluster!r}"
            )

    def unscored(self, schema: SchemaNode | None) -> dict[str, str]:
        """Return the columns that are not scored because the schema does not list them, by argument name."""
        return self.reading.unscored(schema, self.cluster)

    def plan(self) -> Plan:
        """Return the plan, compiled in this process.

        Raises:
            ConfigurationError: registrations or settings differ in this process.
        """
        plan = Comparer.of(self.metric, self.options).plan
        if plan.signature != self.signature:
            message = (
                f"the worker process has different rules ({plan.signature}) from the calling process "
                f"({self.signature}); make the same registrations and settings there (register_metric, "
                "set_type_default), for example in the executor's initializer"
            )
            raise ConfigurationError(message)
        return plan


def check_processors(given: object) -> tuple[PostProcess, ...]:
    """Return post-processors, given as one, several or none, as a tuple.

    Raises:
        ConfigurationError: a post-processor is not callable.
    """
    listed = () if given is None else given if isinstance(given, (list, tuple)) else (given,)
    for processor in listed:
        if not callable(processor):
            message = f"post_process has {processor!r}, which cannot be called with a list of field results"
            raise ConfigurationError(message)
    return tuple(listed)


@final
class Note(NamedTuple):
    """An error or a warning, and the position of its record."""

    position: int
    entry: RunError


@final
@dataclass(slots=True)
class ChunkResult:
    """The sums of one or more chunks, and the parts of their records that are kept."""

    sums: Totals = field(default_factory=Totals)
    records: list[RecordResult] = field(default_factory=list)
    worst: list[RecordResult] = field(default_factory=list)
    errors: list[Note] = field(default_factory=list)
    warnings: list[Note] = field(default_factory=list)
    unmatched: frozenset[str] | None = None
    """Patterns of rules that match nothing in any record; None without records."""
    by_tag: dict[str, Totals] = field(default_factory=dict)
    """The sums of the records with each tag."""
    gold_keys: IdKeys | None = None
    """The keys of the gold records, if another process has paired them."""

    def add(self, other: ChunkResult) -> None:
        """Add the result of the next chunk."""
        self.sums.merge(other.sums)
        for tag, sums in other.by_tag.items():
            self.by_tag.setdefault(tag, Totals()).merge(sums)
        if len(self.by_tag) > _MAX_TAGS:
            message = f"there are more than {_MAX_TAGS:,} tags; a tag is what many records have in common"
            raise ConfigurationError(message)
        self.records += other.records
        self.worst = lowest_scoring((*self.worst, *other.worst))
        self.errors += other.errors[: max(0, MAX_ERRORS - len(self.errors))]
        self.warnings += other.warnings[: max(0, MAX_ERRORS - len(self.warnings))]
        if self.unmatched is None:
            self.unmatched = other.unmatched
        elif other.unmatched is not None:
            self.unmatched &= other.unmatched


def score_chunk(task: Task, plan: Plan, pairs: list[Pair]) -> ChunkResult:
    """Score the records of a chunk.

    Raises:
        GoldValidationError: a gold record is not JSON, or can't be compared.
    """
    if task.tagger is None:
        return _Scorer(task, plan, {}).score(pairs)
    return _score_by_tags(task, plan, task.tagger, pairs)


def _score_by_tags(task: Task, plan: Plan, tagger: Tagger, pairs: list[Pair]) -> ChunkResult:
    """Score the records of a chunk in groups with the same tags."""
    groups: dict[tuple[str, ...], tuple[dict[str, Any], list[Pair]]] = {}
    for pair in pairs:
        record = pair.expected if pair.is_read else read_gold(pair.expected, pair.record_id, pair.where)
        try:
            tags = tagger(record)
        except ConfigurationError as error:
            raise ConfigurationError(f"record {pair.record_id!r}: {error}") from None
        texts = tuple(tag_text(name, value) for name, value in tags.items())
        groups.setdefault(texts, (tags, []))[1].append(pair)
    total = ChunkResult()
    for texts, (tags, group) in groups.items():
        made = _Scorer(task, plan, tags).score(group)
        made.by_tag = dict.fromkeys(texts, made.sums)
        total.add(made)
    total.errors.sort(key=_POSITION)
    total.warnings.sort(key=_POSITION)
    return total


_POSITION: Final = attrgetter("position")
_MAX_TAGS: Final = 10_000
"""With more tags than this, an id was probably used as a tag."""


@final
@dataclass(slots=True)
class _ReadPair:
    """A pair as JSON values."""

    pair: Pair
    expected: JsonValue
    actual: JsonValue
    error: str | None = None
    warnings: tuple[str, ...] = ()
    validity: Validity | None = None
    cluster: str = ""
    spent: Spent | None = None
    """The cost and latency of the answer."""
    is_string: bool = False
    """Whether a text answer was read as a string, without JSON."""
    is_text: bool = False
    """Whether the answer was given as text."""


_ZERO_SCORES: Final = Scores(precision=0.0, recall=0.0, f1=0.0, score=0.0)
"""The scores of a record whose answer is missing or unreadable, even if nothing is expected."""
_KEEPS: Final = ("all", "imperfect", "worst", "none")


@final
class _Scorer:
    """Scores the records of one chunk and adds them up."""

    def __init__(self, task: Task, plan: Plan, tags: Tags) -> None:
        self._task = task
        self._tags = tags
        self._plan = plan
        self._result = ChunkResult()
        self._rules = [parse_pattern(text) for text in collect_patterns(task.options)]
        """The patterns of rules that have not matched yet."""
        self._known: dict[Sums, Scores] = {}
        self._scores: list[Scores] = []
        self._unscored_members = tuple(task.unscored(plan.schema).values())
        self._unscored = 0
        self._seen = VisitedPlaces()
        self._outcomes: list[tuple[str, Outcome, tuple[str, ...]]] = []
        """The outcomes with the ids of their records, and the paths of absent members."""
        self._findings: list[FieldResult] = []

    def score(self, pairs: list[Pair]) -> ChunkResult:
        reads = [self._read(pair) for pair in pairs]
        records = [(read.pair.record_id, read.expected, read.actual) for read in reads]
        for read, outcome in zip(reads, score_all_with_answers(self._plan, records, self._task.judge)):
            self._add(read, outcome)
        made = self._result
        made.unmatched = frozenset(pattern.text for pattern in self._rules) if pairs else None
        made.sums.add_records(self._scores, self._unscored)
        # Post-processors return all results, including matches, so no plain matches are left to count.
        plain = {} if self._task.post_process else count_plain_matches(self._seen, self._findings)
        fields = aggregate(plain, self._findings)
        absent = [path for _, _, paths in self._outcomes for path in paths]
        fields |= {
            path: FieldSums() for path in (*self._plan.known_paths, *absent) if pairs and path not in fields
        }
        order = self._find_order(fields.keys())
        for path, sums in fields.items():
            made.sums.add_field(path, sums, order.get(path, sums.first))
        if self._task.keep != "worst":
            made.worst = lowest_scoring(made.records)
        return made

    # -- reading -------------------------------------------------------------------------------------------

    def _read(self, pair: Pair) -> _ReadPair:
        """Return a pair as JSON values with its cluster, without the unscored members."""
        read, plan, task = self._to_json(pair), self._plan, self._task
        if read.spent is None:
            read.spent = pair.spent
        if plan.reads_texts:
            read.expected = parse_nested_texts(plan, read.expected)
            read.actual = parse_nested_texts(plan, read.actual)
        if task.reading.expected is None:
            read.cluster = find_cluster(read.expected, task.cluster)
        if self._unscored_members:
            reading = task.reading
            for side, selection in ((read.expected, reading.expected), (read.actual, reading.actual)):
                for name in self._unscored_members if selection is None else ():
                    remove_column(side, name)
        return read

    def _to_json(self, pair: Pair) -> _ReadPair:
        """Return a pair as JSON values that no caller holds, so that they may be changed."""
        if not self._task.reading.is_plain:
            return self._select(pair)
        actual, expected = pair.actual, pair.expected
        if pair.is_read:
            return _ReadPair(pair, expected, actual, warnings=pair.warnings, is_text=pair.is_text)
        if type(expected) is dict and type(actual) is dict:
            flat_expected, flat_actual = copy_flat(expected), copy_flat(actual)
            if flat_expected is not None and flat_actual is not None:
                return _ReadPair(
                    pair, flat_expected, flat_actual, warnings=pair.warnings, is_text=pair.is_text
                )
        expected = read_gold(expected, pair.record_id, pair.where)
        read = _ReadPair(pair, expected, MISSING, warnings=pair.warnings, is_text=pair.is_text)
        try:
            if actual is MISSING:
                read.error = NO_ANSWER
            else:
                self._read_answer(read, actual)
        except JsonMatchError as error:
            read.error = str(error)
        return read

    def _read_answer(self, read: _ReadPair, actual: Any) -> None:
        """Set the JSON value of an answer."""
        if isinstance(actual, TEXT):
            read.actual, found, read.is_string = self._read_text(actual, read.expected)
            read.warnings = (*read.warnings, *found)
        else:
            read.actual = to_json_value(actual, side="actual")

    def _select(self, pair: Pair) -> _ReadPair:
        """Return the columns of a pair of records as JSON values."""
        reading, schema = self._task.reading, self._plan.schema
        record = pair.expected if pair.is_read else read_gold(pair.expected, pair.record_id, pair.where)
        try:
            expected = reading.select_expected(record, schema)
        except ColumnError as error:
            raise make_gold_error(pair.record_id, pair.where, error) from None
        read = _ReadPair(pair, expected, MISSING, warnings=pair.warnings, is_text=pair.is_text)
        if reading.expected is not None:
            read.cluster = find_cluster(record, self._task.cluster)
        if pair.actual is MISSING:
            read.error = NO_ANSWER
            return read
        try:
            answer, found, read.spent = select_answer(pair.actual, reading, schema)
            read.warnings = (*read.warnings, *found)
            if reading.actual is not None:
                read.is_text = isinstance(answer, TEXT)
            self._read_answer(read, answer)
        except ColumnError as error:
            read.error = f"the answer {error}"
        except JsonMatchError as error:
            read.error = str(error)
        return read

    def _read_text(self, text: str | bytes | bytearray, expected: JsonValue) -> TextAnswer:
        """Return the JSON value of a text answer; a JSON string in a line of a file is the text."""
        task, plan = self._task, self._plan

        def score(value: JsonValue) -> float:
            (outcome,) = score_all_with_answers(plan, [(None, expected, value)], task.judge)
            if isinstance(outcome, JsonMatchError):
                return -1.0
            return compute_scores(outcome.sums, plan.options.reduce).score

        if isinstance(text, bytes) and "string" in list_admitted_types(plan, expected):
            with suppress(JsonParseError):
                line = parse_json(text)
                text = line if type(line) is str else text
        return read_text(plan, text, expected, score, repair=task.reading.repair)

    # -- adding --------------------------------------------------------------------------------------------

    def _add(self, read: _ReadPair, outcome: Outcome | JsonMatchError) -> None:
        """Add the result of one record."""
        pair = read.pair
        counts = self._result.sums.counts
        if pair.actual is MISSING:
            counts.update(unanswered=1, never_answered=1, unanswered_runs=1, incomplete=1)
        validity = self._validate(read) if self._task.validate != "off" else ""
        is_parsed = read.actual is not MISSING if read.is_text and not read.is_string else None
        if is_parsed is not None or validity:
            self._result.sums.add_answer(is_parsed, validity)
        if isinstance(outcome, JsonMatchError):
            outcome = self._score_as_wrong(read, outcome)
        if read.error is not None:
            self._note(pair, read.error)
        if warnings := (*read.warnings, *outcome.warnings):
            self._warn(pair, warnings)
        if self._rules:
            documents, schema = (read.expected, read.actual), self._plan.schema
            self._rules = [
                pattern for pattern in self._rules if not matches_somewhere(pattern, documents, schema)
            ]
        plan = self._plan
        root = plan.root.choose(read.expected)
        absent = () if plan.absent is None else tuple(find_absent_paths(root, read.expected))
        self._outcomes.append((str(pair.record_id), outcome, absent))
        self._seen.merge(outcome.visited)
        if outcome.alignments or outcome.one_sided_arrays:
            add_rows(self._result.sums.rows, count_rows(outcome))
        if self._task.post_process:
            outcome = self._post_process(read, outcome)
        self._findings += outcome.findings
        if outcome.findings:
            for error in iter_errors(outcome.findings):
                self._note(pair, error.reason, error.path, error.comparator)
        if outcome.has_figures and not (outcome.sums.expected or outcome.sums.actual):
            counts["empty"] += 1
        if not outcome.has_figures:
            self._unscored += 1
            self._result.sums.costs.add(read.spent, None)
            self._keep(read, outcome, None)
            return
        scores = _ZERO_SCORES if read.error is not None else self._known.get(outcome.sums)
        if scores is None:
            scores = self._known[outcome.sums] = compute_scores(outcome.sums, self._plan.options.reduce)
        self._scores.append(scores)
        self._result.sums.costs.add(read.spent, scores.score)
        if scores.score < 1.0:
            self._add_kinds(read, outcome)
        self._keep(read, outcome, scores)

    def _find_order(self, paths: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the first occurrence of each path: the lowest id of a record, and the position in it."""
        order: dict[str, tuple[str, int]] = {}
        keys: dict[Any, set[Any]] = {}
        nodes: set[PlanNode] = set()
        for name, outcome, absent in sorted(self._outcomes, key=itemgetter(0)):
            if len(order) == len(paths):
                break
            new = [finding.node for finding in outcome.findings if finding.node not in nodes]
            if outcome.visited.is_known(keys) and not new and all(path in order for path in absent):
                continue
            nodes.update(new)
            found = aggregate(count_plain_matches(outcome.visited, ()), outcome.findings)
            known = dict.fromkeys((*found, *self._plan.known_paths, *absent))
            for at, path in enumerate(path for path in known if path in paths):
                order.setdefault(path, (name, at))
        return order

    def _add_kinds(self, read: _ReadPair, outcome: Outcome) -> None:
        """Add the kinds of differences of a record whose score is below 1."""
        documents = read.expected, MISSING if read.error is not None else read.actual
        differences = find_differences(outcome.findings, documents, outcome.sums, self._plan.options.reduce)
        self._result.sums.kinds.add_case(count_kinds(differences) or NOT_ANSWERED)

    def _validate(self, read: _ReadPair) -> str:
        """Validate an answer and return the result; missing answers are not validated."""
        if read.pair.actual is MISSING and read.actual is MISSING:
            return ""
        read.validity = check_validity(self._plan.schema, read.actual, self._task.validate)
        if read.validity is None:
            return ""
        if read.validity.violations:
            self._warn(read.pair, [f"not valid: {violation}" for violation in read.validity.violations])
        return VALIDITY[read.validity.valid]

    def _score_as_wrong(self, read: _ReadPair, error: JsonMatchError) -> Outcome:
        """Return the outcome of a record whose answer can't be compared: it counts as entirely wrong."""
        pair = read.pair
        if not isinstance(error, GoldValidationError) and read.actual is not MISSING:
            read.error = str(error)
            empty = pair.record_id, read.expected, MISSING
            (outcome,) = score_all_with_answers(self._plan, [empty], self._task.judge)
            if not isinstance(outcome, JsonMatchError):
                return outcome
            error = outcome
        raise make_gold_error(pair.record_id, pair.where, error)

    def _keep(self, read: _ReadPair, outcome: Outcome, scores: Scores | None) -> None:
        """Keep a record if `keep` selects it; a record without scores is never among the lowest-scoring."""
        keep, made = self._task.keep, self._result
        if keep == "worst" and scores is not None:
            # Of records with equal scores the first is kept, and records are added in order.
            last = made.worst[-1] if len(made.worst) == MAX_WORST else None
            rank = rank_record(scores.score, scores.f1, read.error)
            if last is None or rank < rank_record(last.score, last.f1, last.error):
                made.worst = lowest_scoring((*made.worst, self._record(read, outcome, scores, fields=True)))
        elif keep in {"all", "imperfect"}:
            fields = keep == "all" or scores is None or not outcome.sums.perfect
            made.records.append(self._record(read, outcome, scores, fields=fields))

    def _record(
        self, read: _ReadPair, outcome: Outcome, scores: Scores | None, *, fields: bool
    ) -> RecordResult:
        """Return the record to keep; with its comparison if `fields`."""
        match = MatchResult(self._plan, (read.expected, read.actual), outcome, read.warnings, read.validity)
        precision, recall, f1, score = scores or (None, None, None, None)
        return RecordResult(
            read.pair.record_id,
            read.pair.position,
            precision,
            recall,
            f1,
            score,
            counts=match.counts,
            error=read.error,
            warnings=match.warnings,
            violations=match.violations,
            tags=self._tags,
            match=match if fields else None,
            cluster=read.cluster,
            spent=read.spent,
        )

    def _post_process(self, read: _ReadPair, outcome: Outcome) -> Outcome:
        """Return the outcome after all post-processors; a post-processor that fails has no effect."""
        pair = read.pair
        outcome = write_all(self._plan, outcome, read.expected, read.actual)
        results: list[FieldResult] = list(outcome.findings)
        for process in self._task.post_process:
            name = getattr(process, "__name__", repr(process))
            try:
                changed: list[object] = list(process(list(results)))
            except Exception as error:  # noqa: BLE001 - an error in user code is noted, and the run continues
                self._note(pair, f"the post-processor {name} raised {format_error(error)}")
                continue
            if all(isinstance(result, FieldResult) for result in changed):
                results = cast("list[FieldResult]", changed)
            else:
                self._note(pair, f"the post-processor {name} returned something other than field results")
        sums = add_sums(result.sums for result in results)
        return outcome._replace(findings=results, sums=sums, visited=VisitedPlaces())

    def _note(self, pair: Pair, reason: str, path: str | None = None, comparator: str | None = None) -> None:
        made = self._result
        made.sums.counts["errors"] += 1
        if len(made.errors) < MAX_ERRORS:
            made.errors.append(Note(pair.position, RunError(pair.record_id, path, comparator, reason)))

    def _warn(self, pair: Pair, warnings: Sequence[str]) -> None:
        made = self._result
        made.sums.counts["warnings"] += len(warnings)
        if len(made.warnings) < MAX_ERRORS:
            notes = (RunError(pair.record_id, None, None, text) for text in warnings)
            made.warnings += [Note(pair.position, note) for note in notes]
