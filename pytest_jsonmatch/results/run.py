"""A run: the cases of a session of pytest, or the records of a corpus, with their totals and origin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.plan.compile import Signature
from pytest_jsonmatch.engine.plan.unmatched import find_nearest_path
from pytest_jsonmatch.engine.result.aggregation import RATES, format_score
from pytest_jsonmatch.engine.result.dataframe import iter_field_rows, make_data_frame
from pytest_jsonmatch.engine.result.rows import iter_row_counts
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.results.comparison import (
    Case,
    CaseRun,
    Comparison,
    Difference,
    collect_tags,
    group_by_metric,
    iter_comparisons,
    mean_of,
    select_tag,
    totals_of,
)
from pytest_jsonmatch.results.idkeys import lowest_keys, make_key, read_keys
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.results.record import MAX_ERRORS, NO_ANSWER, RunError, lowest_scoring
from pytest_jsonmatch.results.tags import tag_texts
from pytest_jsonmatch.results.totals import Totals
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
    from pytest_jsonmatch.engine.result.dataframe import By, Library
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.results.kindtotals import RunKind
    from pytest_jsonmatch.results.record import RecordResult
    from pytest_jsonmatch.results.statistics import Interval
    from pytest_jsonmatch.results.totals import AnswerCounts

_Rows: TypeAlias = "Iterable[Mapping[str, Any]]"
MICRO: Final = "micro."
"""The prefix of scores over all leaves together, as opposed to means over cases."""
INTERRUPTED: Final = "interrupted"
"""The reason in `narrowed` for a run that has not finished."""
_MEANS: Final = tuple(f"mean_{name}" for name in ("precision", "recall", "f1", "score"))
_MICRO: Final = tuple(f"micro_{name}" for name in ("precision", "recall", "f1"))
_FIELD_COUNTS: Final = ("matches", "mismatches", "omissions", "hallucinations", "skipped", "batch_errors")
_RECORD_COUNTS: Final = (
    "records",
    "perfect",
    "unanswered",
    "unscored",
    "not_validated",
    "errors",
    "warnings",
)
_TOTALS: Final = tuple(f"total_{name}" for name in (*_RECORD_COUNTS, "fields", *_FIELD_COUNTS))
_NUMBERS: Final = (*_MEANS, *_MICRO, "valid_rate", "parse_rate", *RATES, *_TOTALS)
"""The numbers of a run, in the order of `to_dict`."""


@final
@dataclass(frozen=True, repr=False)
class RunResult:
    """A run: mean scores over its cases or records, scores over all leaves, and scores by field.

    It is returned by `compare_corpus` and `read_results`. Each record of a corpus is a case with one
    comparison. A corpus may keep only some records (`keep`), but its scores cover all of them. Scores are
    None if there is nothing to count, such as after batch errors. They do not depend on `keep`, on chunks, or
    on an executor.

    >>> from pytest_jsonmatch import compare_corpus
    >>> run = compare_corpus([{"a": 1, "b": 0}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3}])
    >>> run
    <RunResult leaf_f1: 2 records, mean F1 0.75>
    >>> run.micro_f1, run.per_field["b"].mismatches, run.worst[0].record_id
    (0.6666666666666666, 1, 1)
    """

    kept_cases: tuple[Case, ...] | None = ()
    """The cases; None if they are built from `records` when needed."""
    totals: Totals = field(default_factory=Totals)
    """The numbers of all cases or records, also of those that are not kept."""
    counted_tags: Mapping[str, Totals] | None = None
    """The numbers of the records with each tag, if records were counted when they were scored, since not all
    may be kept; None if `totals` are those of the cases."""
    noun: str = "case"
    """The noun for a unit of the run: "record" or "case"."""
    records: tuple[RecordResult, ...] = ()
    """The records that `keep` selects, in the order of the gold records; empty for a run of cases."""
    worst: tuple[RecordResult, ...] = ()
    """The ten records with the lowest scores, the lowest first; those that could not be scored come last."""
    errors: tuple[RunError, ...] = ()
    """The first 1,000 errors that did not stop the run (`total_errors` counts all)."""
    warnings: tuple[RunError, ...] = ()
    """The first 1,000 warnings, such as those about repaired JSON (`total_warnings` counts all)."""
    unmatched_expected: tuple[str | int, ...] = ()
    """The ids of gold records without an answer; all of their leaves count as omissions."""
    unmatched_actual: tuple[str | int, ...] = ()
    """The ids of answers without a gold record and of second answers to one, which were not scored.

    An answer without an id is named by its position: "answers.jsonl:4" or "actual[3]".
    """
    unmatched_rules: tuple[str, ...] = ()
    """The patterns of `fields` and `accept` that match nothing in any record or in the schema."""
    id_keys: bytes = b""
    """The lowest keys of the ids of all gold records, by which `merge` finds common records; empty if all
    records are kept, or if they are only numbered."""
    created: str = ""
    """The time of the run, as ISO 8601 with a time zone; empty if unknown."""
    commit: str = ""
    """The git commit, followed by "+" if the tree had changes; empty if unknown."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of this package, Python, pytest and packages that affect scores, by name."""
    collected: int | None = None
    """The number of collected cases; None if unknown."""
    narrowed: tuple[str, ...] = ()
    """The reasons for which cases may not have run, such as "-k"."""
    judged: bool = False
    """Whether a judge was asked; intervals do not include its errors."""
    has_only_gates: bool = False
    """Whether only gates decide, and cases below their thresholds do not fail the run."""

    @classmethod
    def of_cases(cls, cases: Iterable[Case] = (), **more: Any) -> RunResult:
        """Return a run of cases, such as a session of pytest; `more` are further fields."""
        listed = tuple(cases)
        errors = [
            RunError(case.id, None, None, text) for case in listed for run in case.runs for text in run.errors
        ]
        warnings = [
            RunError(comparison.id, None, None, text)
            for comparison in iter_comparisons(listed)
            for text in comparison.all_warnings
        ]
        return cls(
            listed,
            totals_of(listed),
            errors=tuple(errors[:MAX_ERRORS]),
            warnings=tuple(warnings[:MAX_ERRORS]),
            **more,
        )

    # -- cases and records ---------------------------------------------------------------------------------

    @property
    def is_counted(self) -> bool:
        """Whether records were counted when they were scored; otherwise `totals` are those of the cases."""
        return self.counted_tags is not None

    @property
    def has_thresholds(self) -> bool:
        """Whether cases have thresholds, so that they can fail; without any, those that score 1 pass."""
        return self.totals.counts["with_threshold"] > 0

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases, by id, without those skipped or expected to fail; for a corpus, the kept records."""
        if self.kept_cases is not None:
            return self.kept_cases
        kept = (record for record in self.records if record.match is not None)
        return tuple(self._make_case(record) for record in sorted(kept, key=attrgetter("index")))

    def _make_case(self, record: RecordResult) -> Case:
        assert record.match is not None  # noqa: S101 - for the type checker
        name = str(record.record_id)
        passed = record.score is not None and record.score >= 1.0
        comparison = Comparison.of(record.match, id=name, nodeid=name, threshold={}, passed=passed)
        unanswered = NO_ANSWER if record.error == NO_ANSWER else ""
        # The scores are those of the record: a missing or unreadable answer counts as 0.
        scores: dict[str, Any] = {name: getattr(record, name) or 0.0 for name in SCORES}
        comparison = replace(
            comparison,
            **scores,
            signature=str(self.signature),
            unreadable="" if unanswered else record.error or "",
            spent=record.spent,
        )
        runs = (CaseRun(1, passed, (comparison,), unanswered, unanswered),)
        return Case(name, runs, cluster=record.cluster, tags=record.tags)

    def with_cases(self, cases: Iterable[Case]) -> RunResult:
        """Return a run of other cases, with the origin of this run."""
        listed = tuple(cases)
        return replace(self, kept_cases=listed, totals=totals_of(listed), counted_tags=None, records=())

    @property
    def is_partial(self) -> bool:
        """Whether only some records of the corpus are kept as cases."""
        return self.total_records > len(self.cases)

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that have scores: batch errors may leave nothing to count."""
        return tuple(case for case in self.cases if case.has_figures)

    @property
    def comparisons(self) -> Iterable[Comparison]:
        """All comparisons of the cases."""
        return iter_comparisons(self.cases)

    @cached_property
    def totals_by_tag(self) -> Mapping[str, Totals]:
        """The numbers of the cases with each tag, such as "source=phone", sorted by tag."""
        if self.counted_tags:
            return dict(sorted(self.counted_tags.items()))
        tags = {tag for case in self.cases for tag in collect_tags(case)}
        return {tag: totals_of(_select(self.cases, tag)) for tag in sorted(tags)}

    @cached_property
    def totals_by_metric(self) -> Mapping[str, Totals]:
        """The numbers of the cases by the metric of their comparisons."""
        if self.metric is not None and not self.totals.counts["not_compared"]:
            return {self.metric: self.totals}
        return {metric: totals_of(cases) for metric, cases in group_by_metric(self.cases).items()}

    # -- metric and signature ------------------------------------------------------------------------------

    @property
    def signature(self) -> Signature | None:
        """The signature of all scores; None if there are several. Corpora with equal signatures can merge."""
        signatures = [*self.totals.metrics]
        return Signature.parse(signatures[0]) if len(signatures) == 1 else None

    @property
    def metric(self) -> str | None:
        """The name of the metric; None if there are several."""
        metrics = {*self.totals.metrics.values()}
        return metrics.pop() if len(metrics) == 1 else None

    # -- means ---------------------------------------------------------------------------------------------

    def mean(self, name: str) -> float | None:
        """Return a mean over the cases that have scores; None if no case has scores.

        Args:
            name: "score", "precision", "recall" or "f1".
        """
        return self.totals.mean(name)

    @property
    def mean_precision(self) -> float | None:
        """The mean of the precision of cases or records."""
        return self.mean("precision")

    @property
    def mean_recall(self) -> float | None:
        """The mean of the recall of cases or records."""
        return self.mean("recall")

    @property
    def mean_f1(self) -> float | None:
        """The mean of the F1 of cases or records."""
        return self.mean("f1")

    @property
    def mean_score(self) -> float | None:
        """The mean of the scores of cases or records."""
        return self.mean("score")

    @property
    def pass_rate(self) -> float | None:
        """The share of the cases that pass, or of the records that score 1; None without cases."""
        return self.totals.counts["passed"] / self.total_records if self.total_records else None

    @property
    def completeness(self) -> float | None:
        """The share of the collected cases that are complete.

        None without cases, or if an unknown number of cases did not run. A record is complete if it has an
        answer.
        """
        if self.narrowed and self.collected is None:
            return None
        total = max(self.total_records, self.collected or 0)
        return (self.total_records - self.totals.counts["incomplete"]) / total if total else None

    # -- over all leaves -----------------------------------------------------------------------------------

    @cached_property
    def micro_precision(self) -> float | None:
        """Precision over the leaves of all cases or records together."""
        return self._micro("precision")

    @cached_property
    def micro_recall(self) -> float | None:
        """Recall over the leaves of all cases or records together."""
        return self._micro("recall")

    @cached_property
    def micro_f1(self) -> float | None:
        """F1 over the leaves of all cases or records together."""
        return self._micro("f1")

    def _micro(self, name: str) -> float | None:
        return self.totals.over().rate(name)

    # -- answers -------------------------------------------------------------------------------------------

    @property
    def answers(self) -> AnswerCounts:
        """The numbers of answers that are parsable and valid."""
        return self.totals.answers

    @property
    def valid_rate(self) -> float | None:
        """The share of the validated answers that the schema allows; text without JSON is not valid.

        None if no answer was validated; `compare_corpus` validates with `validate="report"`.
        """
        return self.answers.rates.get("valid_rate")

    @property
    def parse_rate(self) -> float | None:
        """The share of the answers given as text that contain JSON; None if none is text."""
        return self.answers.rates.get("parse_rate")

    # -- fields --------------------------------------------------------------------------------------------

    @cached_property
    def all_fields(self) -> Mapping[str, FieldAggregation]:
        """Aggregations of all fields, over all metrics, including fields that count in no score."""
        return self.totals.per_field()

    @property
    def fields(self) -> Mapping[str, FieldAggregation]:
        """The same as `all_fields`."""
        return self.all_fields

    @cached_property
    def per_field(self) -> Mapping[str, FieldAggregation]:
        """Aggregations by schema path: `items[].price` covers all elements of all records.

        Fields that were always skipped, or always failed in a batch comparator, have no scores and are left
        out. `all_fields` includes them.
        """
        return {path: aggregation for path, aggregation in self.all_fields.items() if aggregation.total}

    @cached_property
    def _total_fields(self) -> FieldAggregation:
        return self.totals.over().read()

    @cached_property
    def rows(self) -> Mapping[str, RowCounts]:
        """The numbers of rows in expected, found, and in actual, by the schema path of the array.

        A row is an element of an array of objects that is not compared by position.

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 3}]}]
        >>> run = compare_corpus([{"items": [{"n": 2}]}, gold[1]], gold, arrays={"key": "n"})
        >>> run.rows["items"].recall
        0.6666666666666666
        """
        return self.totals.per_array()

    @cached_property
    def kinds(self) -> Mapping[str, RunKind]:
        """The numbers and the cost of each kind of difference, the most costly first.

        The costs of all kinds add up to 1 - mean score.

        >>> from pytest_jsonmatch import compare_corpus
        >>> run = compare_corpus([{"a": "x ", "b": 1}, {"a": "y"}], [{"a": "x", "b": 1}, {"a": "y"}])
        >>> run.kinds["white space"].n, run.kinds["white space"].cost, run.mean("score")
        (1, 0.25, 0.75)
        """
        return self.totals.kinds.read(self.totals.scored)

    @property
    def omission_rate(self) -> float | None:
        """The share of the leaves of expected that are omissions, all with weight 1; None for 0/0."""
        return self._total_fields.omission_rate

    @property
    def hallucination_rate(self) -> float | None:
        """The share of the leaves of actual that are hallucinations; None for 0/0 or if they do not count."""
        return self._total_fields.hallucination_rate

    def nearest_path(self, pattern: str) -> str | None:
        """Return the schema path that is most similar to an unmatched rule; None if none is similar."""
        found = [path for path, aggregation in self.all_fields.items() if any(aggregation.to_list())]
        leaves = [parse_path(path) for path in found if not path.endswith("…")]
        places = (path[:end] for path in leaves for end in range(len(path), 0, -1))
        return find_nearest_path(parse_pattern(pattern), places)

    # -- counts --------------------------------------------------------------------------------------------

    @property
    def total_records(self) -> int:
        """The number of cases, or of gold records."""
        return self.totals.counts["records"]

    @property
    def total_perfect(self) -> int:
        """The number of cases or records that score 1."""
        return self.totals.counts["perfect_records"]

    @property
    def total_unanswered(self) -> int:
        """The number of gold records, or of cases with a run, that have no answer."""
        return self.totals.counts["unanswered"]

    @property
    def unanswered(self) -> Mapping[str, int]:
        """The numbers of unanswered cases by reason, such as the type of an exception; empty for a corpus."""
        raised = (
            [run.unanswered for run in case.runs if run.unanswered not in {"", NO_ANSWER}]
            for case in self.cases
        )
        return dict(Counter(names[0] for names in raised if names).most_common())

    @property
    def floor(self) -> float | None:
        """The mean score of empty answers over the cases for which it is known; None without any."""
        found = [
            [comparison.floor for comparison in iter_comparisons([case]) if comparison.floor is not None]
            for case in self.cases
        ]
        return mean_of([sum(floors) / len(floors) for floors in found if floors])

    @property
    def mean_of_answered(self) -> float | None:
        """The mean score of the cases or records with an answer; None without any."""
        return self.totals.mean_of_answered

    @property
    def total_unscored(self) -> int:
        """The number of cases or records without scores: batch errors left nothing to count."""
        return self.totals.counts["unscored"]

    @property
    def total_empty(self) -> int:
        """The number of cases or records that compare nothing: no leaf counts."""
        return self.totals.counts["empty"]

    @property
    def total_not_validated(self) -> int:
        """The number of answers that can't be validated: deeper than 200 levels, or with lone surrogates."""
        return self.totals.counts["not_validated"]

    @property
    def total_errors(self) -> int:
        """The number of errors, including runs of cases that compared nothing because of an error."""
        return self.totals.counts["errors"]

    @property
    def total_warnings(self) -> int:
        """The number of warnings."""
        return self.totals.counts["warnings"]

    @property
    def total_fields(self) -> int:
        """The number of scored results: matches, mismatches, omissions and hallucinations."""
        return self._total_fields.total

    @property
    def total_matches(self) -> int:
        """The number of results that match."""
        return self._total_fields.matches

    @property
    def total_mismatches(self) -> int:
        """The number of results with values on both sides that score less than 1."""
        return self._total_fields.mismatches

    @property
    def total_omissions(self) -> int:
        """The number of missing values, which only expected has."""
        return self._total_fields.omissions

    @property
    def total_hallucinations(self) -> int:
        """The number of extra values, which only actual has."""
        return self._total_fields.hallucinations

    @property
    def total_skipped(self) -> int:
        """The number of results that a rule skips."""
        return self._total_fields.skipped

    @property
    def total_batch_errors(self) -> int:
        """The number of results for which a batch comparator failed."""
        return self._total_fields.batch_errors

    # -- parts ---------------------------------------------------------------------------------------------

    @property
    def tags(self) -> Sequence[str]:
        """All tags as `name=value`, sorted."""
        return list(self.totals_by_tag)

    def tagged(self, tag: str) -> RunResult:
        """Return the part of the run with a tag; it has no cases if nothing has the tag.

        If a test compares several documents, only those with the tag count.

        Args:
            tag: a name and its value, such as `source=phone`.
        """
        kept = None if self.kept_cases is None else _select(self.kept_cases, tag)
        records = tuple(record for record in self.records if tag in tag_texts(record.tags))
        return replace(self._part(tag), kept_cases=kept, records=records)

    def _part(self, tag: str) -> RunResult:
        """Return the part with a tag, without any case."""
        totals = self.totals_by_tag.get(tag, Totals())
        counted: Mapping[str, Totals] | None = None if self.counted_tags is None else {}
        return RunResult((), totals, counted, self.noun, has_only_gates=self.has_only_gates)

    @property
    def by_tag(self) -> dict[str, RunResult]:
        """The parts of the run with each tag, such as "source=phone", without cases (see `tagged`).

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"from": "phone", "n": 1}, {"from": "scan", "n": 2}]
        >>> run = compare_corpus([gold[0], {"n": 2}], gold, tags={"source": "from"})
        >>> {tag: of.mean_recall for tag, of in run.by_tag.items()}
        {'source=phone': 1.0, 'source=scan': 0.5}
        """
        return {tag: self._part(tag) for tag in self.tags}

    def merge(self, other: RunResult) -> RunResult:
        """Return the result of both runs together, in any order.

        Raises:
            ConfigurationError: the corpora were scored with different metrics, options, schemas or rules; the
                runs of tests have a common case or different commits; or only one of them is a corpus.
        """
        if not (self.is_counted or other.is_counted):
            return self._merge_cases(other)
        if not (self.is_counted and other.is_counted):
            message = "merging needs runs of one kind, got a run of tests and a corpus; report each by itself"
            raise ConfigurationError(message)
        if self.signature != other.signature:
            message = f"merging needs equal signatures, got {self.signature} and {other.signature}"
            raise ConfigurationError(message)
        self._refuse_common_records(other)
        id_keys = self._merge_keys(other)
        totals = Totals()
        totals.merge(self.totals)
        totals.merge(other.totals)
        tagged: dict[str, Totals] = {}
        for tag, part in (*(self.counted_tags or {}).items(), *(other.counted_tags or {}).items()):
            tagged.setdefault(tag, Totals()).merge(part)
        are_read = self.kept_cases is not None or other.kept_cases is not None
        return RunResult(
            (*self.cases, *other.cases) if are_read else None,
            totals,
            tagged,
            self.noun,
            records=self.records + other.records,
            worst=tuple(lowest_scoring(self.worst + other.worst)),
            errors=(self.errors + other.errors)[:MAX_ERRORS],
            warnings=(self.warnings + other.warnings)[:MAX_ERRORS],
            unmatched_expected=self.unmatched_expected + other.unmatched_expected,
            unmatched_actual=self.unmatched_actual + other.unmatched_actual,
            unmatched_rules=tuple(rule for rule in self.unmatched_rules if rule in other.unmatched_rules),
            id_keys=id_keys,
        )

    def _refuse_common_records(self, other: RunResult) -> None:
        """Raise an error if a record is in both runs, as far as they keep records."""
        ids = [{record.record_id: record for record in run.records + run.worst} for run in (self, other)]
        are_positions = all(
            record.record_id == record.index + 1 for records in ids for record in records.values()
        )
        common = sorted(ids[0].keys() & ids[1].keys(), key=str)
        if common and (not are_positions or (self.created and self == other)):
            message = f"merging needs runs without common records, but both have {common[0]!r}"
            raise ConfigurationError(message)

    def _merge_keys(self, other: RunResult) -> bytes:
        """Return the lowest keys of the ids of both runs; raise an error if they have some in common."""
        if not (self.id_keys or other.id_keys):  # both keep all their records, whose ids are compared
            return b""
        ours, theirs = self._all_keys, other._all_keys
        if number := len(ours & theirs):
            shared = "1 record with the same id" if number == 1 else f"{number:,} records with the same ids"
            raise ConfigurationError(f"merging needs runs without common records, but both have {shared}")
        return lowest_keys(ours | theirs)

    @property
    def _all_keys(self) -> set[int]:
        """The keys of the ids of all records; of a large run that does not keep all records, some of them."""
        if self.id_keys or not self.records or self.is_partial:
            return read_keys(self.id_keys)
        names = [record.record_id for record in self.records]
        are_positions = all(record.record_id == record.index + 1 for record in self.records)
        return set() if are_positions else {*map(make_key, names)}

    def _merge_cases(self, other: RunResult) -> RunResult:
        if common := {case.id for case in self.cases} & {case.id for case in other.cases}:
            raise ConfigurationError(
                f"merging needs runs without common cases, but both have {min(common)!r}"
            )
        if self.commit != other.commit:
            commits = " and ".join(run.commit or "no commit" for run in (self, other))
            raise ConfigurationError(f"merging needs runs of one commit, got {commits}")
        return RunResult.of_cases(
            sorted((*self.cases, *other.cases), key=attrgetter("id")),
            noun=self.noun,
            created=min(filter(None, (self.created, other.created)), default=""),
            commit=self.commit,
            versions={**other.versions, **self.versions},
            # The number of all cases is unknown: each part may have deselected those of the other.
            narrowed=tuple(dict.fromkeys((*self.narrowed, *other.narrowed, "merged"))),
            judged=self.judged or other.judged,
            has_only_gates=self.has_only_gates and other.has_only_gates,
        )

    # -- output --------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain JSON types."""
        return {
            "metric": self.metric,
            "signature": None if self.signature is None else str(self.signature),
            **{name: getattr(self, name) for name in _NUMBERS},
            "per_field": {path: aggregation.to_dict() for path, aggregation in self.per_field.items()},
            "rows": {path: row_counts.to_dict() for path, row_counts in self.rows.items()},
            "kinds": {name: kind.to_dict() for name, kind in self.kinds.items()},
            **({"by_tag": {tag: part.to_dict() for tag, part in self.by_tag.items()}} if self.tags else {}),
            "records": [record.to_dict() for record in self.records],
            "worst": [record.record_id for record in self.worst],
            "errors": [str(error) for error in self.errors],
            "warnings": [str(warning) for warning in self.warnings],
            "unmatched_expected": list(self.unmatched_expected),
            "unmatched_actual": list(self.unmatched_actual),
            "unmatched_rules": list(self.unmatched_rules),
        }

    def to_dataframe(self, by: By = "field", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: what the rows are: "field" for the fields in `per_field`; "record" for cases or kept records;
                "leaf" for the field results of kept records (`keep="all"` keeps all), or for the differences
                that cases keep for each of their runs; "rows" for the arrays in `rows`; "kind" for the
                kinds of differences in `kinds`, by field.
            library: "pandas" or "polars"; None for the one already imported, else the first installed.

        Raises:
            ConfigurationError: `by` has another value, or no such library is installed.
        """
        is_read = self.kept_cases is not None
        leaves = self._leaf_rows() if is_read else self._field_result_rows()
        rows = {
            "record": map(_record_row, self.records) if self.records else map(_case_row, self.cases),
            "field": iter_field_rows(self.per_field),
            "leaf": leaves,
            "rows": iter_row_counts(self.rows),
            "kind": (
                {"kind": name, "path": path, **numbers._asdict()}
                for name, kind in self.kinds.items()
                for path, numbers in kind.fields.items()
            ),
        }
        names = ("id", "run", "path", "status", *Difference._fields) if is_read and by == "leaf" else ()
        return make_data_frame(rows, by, library, names)

    def _field_result_rows(self) -> _Rows:
        return (
            {"id": str(record.record_id), **leaf.to_dict()}
            for record in self.records
            for leaf in record.field_results
        )

    def _leaf_rows(self) -> _Rows:
        return (
            {
                "id": case.id,
                "run": run.number,
                "path": path,
                "status": difference.status,
                **difference._asdict(),
            }
            for case in self.cases
            for run in case.runs
            for comparison in run.comparisons
            for path, differences in comparison.differences.items()
            for difference in differences
        )

    def interval(self, name: str, fields: str | None = None, confidence: float = 0.95) -> Interval:
        """Return a statistic with its confidence interval: `estimate`, `low` and `high`.

        Args:
            name: the statistic as gates name it, such as "f1", "pass_rate", "micro.f1" or
                'tags["source=phone"].recall'.
            fields: a path or pattern of fields, such as "items[].price", for the statistic of these fields.
            confidence: how often such an interval contains the true value, in the long run.

        Raises:
            ConfigurationError: an unknown statistic, one without an interval (counts, cost), no such field,
                or a corpus that keeps only some of its records.

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"n": number} for number in range(40)]
        >>> interval = compare_corpus([{"n": 0}] * 4 + gold[4:], gold).interval("f1")
        >>> round(interval.estimate, 3), 0.7 < interval.low < 0.925 < interval.high < 1
        (0.925, True)
        """
        found: Interval = import_object("pytest_jsonmatch.gate.gates:find_interval")(
            self, name, fields, confidence
        )
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write a result file, which `read_results`, `jsonmatch report` and `jsonmatch diff` read.

        Raises:
            OSError: the file can't be written.
        """
        import_object("pytest_jsonmatch.results.file:write_results")(self, Path(path))

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write an HTML page with all statistics and the cases or kept records.

        Raises:
            ConfigurationError: jinja2 is not installed.
            OSError: the file can't be written.
        """
        # Imported by name: this package must not import `report`, but users expect the method here.
        import_object("pytest_jsonmatch.report.corpora:write_page")(self, Path(path))

    def _repr_html_(self) -> str:
        """Return the run as HTML for notebooks."""
        html: str = import_object("pytest_jsonmatch.report.notebook:run_html")(self)
        return html

    def __repr__(self) -> str:
        return f"<RunResult {self._summary()}>"

    def _summary(self) -> str:
        failed = self.total_batch_errors
        left_out = f", {count(failed, 'batch error')}" if failed else ""
        size = count(self.total_records, self.noun)
        mean = self.mean_f1
        f1 = "no scores" if mean is None else f"mean F1 {format_score(mean)}"
        return f"{f'{self.metric}: ' if self.metric else ''}{size}, {f1}{left_out}"


def _case_row(case: Case) -> dict[str, Any]:
    """Return the row of a case in a data frame."""
    return {
        **case.tags,
        "id": case.id,
        "passed": case.passed,
        **{name: case.mean(name) if case.has_figures else None for name in SCORES},
        "pass_rate": case.pass_rate,
        "cluster": case.cluster,
        "error": next((run.error for run in case.runs if run.error), None),
    }


def _record_row(record: RecordResult) -> dict[str, Any]:
    """Return the row of a record in a data frame, with the columns of a case."""
    passed = record.score is not None and record.score >= 1.0
    return {
        **record.tags,
        "id": str(record.record_id),
        "passed": passed,
        **{name: getattr(record, name) for name in SCORES},
        "pass_rate": float(passed),
        "cluster": record.cluster,
        "error": record.error,
    }


def _select(cases: Iterable[Case], tag: str) -> tuple[Case, ...]:
    """Return cases with only the comparisons that have a tag."""
    return tuple(kept for case in cases if (kept := select_tag(case, tag)) is not None)
