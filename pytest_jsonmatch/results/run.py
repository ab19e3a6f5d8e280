"""A run: the cases of a session of pytest, or the records of a corpus, with their totals and origin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.plan.compile import Signature
from pytest_jsonmatch.engine.plan.unmatched import find_nearest_path
from pytest_jsonmatch.engine.result.aggregation import RATES, format_score, merge_aggregations
from pytest_jsonmatch.engine.result.dataframe import iter_field_rows, make_data_frame
from pytest_jsonmatch.engine.result.rows import iter_row_counts
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import SCORES
from pytest_jsonmatch.results.comparison import (
    Case,
    Comparison,
    Difference,
    added,
    comparisons_of,
    field_sums,
    figures_of,
    mean_of,
    merged_fields,
    merged_rows,
    tagged_case,
    tags_of_case,
)
from pytest_jsonmatch.results.record import MAX_ERRORS, RunError, worst_of
from pytest_jsonmatch.results.tags import tag_texts
from pytest_jsonmatch.results.totals import AnswerCounts, RunTotals

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from os import PathLike

    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
    from pytest_jsonmatch.engine.result.dataframe import By, Library
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.results.record import RecordResult

_Rows: TypeAlias = "Iterable[Mapping[str, Any]]"
MICRO: Final = "micro."
"""Prefix of figures over all leaves together, in place of means over cases."""
_MEANS: Final = tuple(f"mean_{name}" for name in ("precision", "recall", "f1", "score"))
_MICRO: Final = tuple(f"micro_{name}" for name in ("precision", "recall", "f1"))
_OF_FIELDS: Final = ("matches", "mismatches", "omissions", "hallucinations", "skipped", "batch_errors")
_OF_RECORDS: Final = ("records", "perfect", "unanswered", "unscored", "not_validated", "errors", "warnings")
_TOTALS: Final = tuple(f"total_{name}" for name in (*_OF_RECORDS, "fields", *_OF_FIELDS))
_NUMBERS: Final = (*_MEANS, *_MICRO, "valid_rate", "parse_rate", *RATES, *_TOTALS)
"""The numbers of a run, in the order of `to_dict`."""


@final
@dataclass(frozen=True, repr=False)
class RunResult:
    """A run: means over its cases or records, figures over all leaves, and figures by field.

    `compare_corpus` and `read_results` return one. Records of a corpus are cases of one comparison each; a
    corpus may keep only some of them (`keep`), but its figures are of all. Figures are None if there is
    nothing to count, such as after batch errors. They never depend on `keep`, on chunks, or on an executor.

    >>> from pytest_jsonmatch import compare_corpus
    >>> run = compare_corpus([{"a": 1, "b": 0}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3}])
    >>> run
    <RunResult leaf_f1: 2 records, mean F1 0.75>
    >>> run.micro_f1, run.per_field["b"].mismatches, run.worst[0].record_id
    (0.6666666666666666, 1, 1)
    """

    kept_cases: tuple[Case, ...] | None = None
    """The cases; None if they are made of `records` when they are needed."""
    totals: RunTotals | None = None
    """The totals of all records of a corpus; None for a run of cases, which has all of its cases."""
    totals_by_tag: Mapping[str, RunTotals] = field(default_factory=dict)
    """The totals of the records with each tag."""
    corpus_signature: Signature | None = None
    """What all records of a corpus were scored with."""
    records: tuple[RecordResult, ...] = ()
    """The records that `keep` selects, in the order of the expected ones; empty in other runs."""
    worst: tuple[RecordResult, ...] = ()
    """The ten records with the lowest score, the worst first; those that could not be scored come last."""
    errors: tuple[RunError, ...] = ()
    """Errors that did not stop the run: the first 1,000 (`total_errors` counts all)."""
    warnings: tuple[RunError, ...] = ()
    """Warnings, such as those about repaired JSON: the first 1,000 (`total_warnings` counts all)."""
    unmatched_expected: tuple[str | int, ...] = ()
    """Ids of gold records without an answer: all of their leaves count as omissions."""
    unmatched_actual: tuple[str | int, ...] = ()
    """Ids of answers without a gold record, and of second answers to one: they were not scored.

    An answer without an id is named by its place: "answers.jsonl:4" or "actual[3]".
    """
    unmatched_rules: tuple[str, ...] = ()
    """The patterns of `fields` and `accept` that match no place in any record or in the schema."""
    corpus_counts_extra: bool = True
    """Whether leaves that only actual has lower the scores of the records of a corpus."""
    created: str = ""
    """When it was made, as ISO 8601 with a zone; empty if that does not matter."""
    commit: str = ""
    """The git commit, with "+" after it if the tree was not clean; empty without one."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of this package, Python, pytest and packages that affect scores, by name."""
    collected: int | None = None
    """How many cases were collected; None if unknown."""
    narrowed: tuple[str, ...] = ()
    """Why cases may be missing, such as "-k"."""
    judged: bool = False
    """Whether a judge was asked: intervals do not include its errors."""
    has_only_gates: bool = False
    """Whether gates alone decide, and cases below their thresholds do not fail the run."""

    @classmethod
    def of_cases(cls, cases: Iterable[Case] = (), **more: Any) -> RunResult:
        """Return a run with all of its cases, such as a session of pytest; `more` are other fields."""
        listed = tuple(cases)
        compared = [each for each in comparisons_of(listed) if each.errors or each.warnings]
        errors = [RunError(each.id, None, None, text) for each in compared for text in each.errors]
        warnings = [RunError(each.id, None, None, text) for each in compared for text in each.warnings]
        return cls(listed, errors=tuple(errors[:MAX_ERRORS]), warnings=tuple(warnings[:MAX_ERRORS]), **more)

    @classmethod
    def of_records(cls, signature: Signature, totals: RunTotals, **more: Any) -> RunResult:
        """Return a run of the records of a corpus; `more` are other fields."""
        return cls(totals=totals, corpus_signature=signature, **more)

    # -- cases and records ---------------------------------------------------------------------------------

    @property
    def is_of_records(self) -> bool:
        """Whether it is of the records of a corpus, of which only some may be kept."""
        return self.totals is not None

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases that count, by id: not those skipped or expected to fail. For a corpus, kept records."""
        if self.kept_cases is not None:
            return self.kept_cases
        kept = (record for record in self.records if record.match is not None)
        return tuple(self._case_of(record) for record in sorted(kept, key=attrgetter("index")))

    def _case_of(self, record: RecordResult) -> Case:
        assert record.match is not None  # noqa: S101 - for the type checker
        name = str(record.record_id)
        passed = record.score is not None and record.score >= 1.0
        comparison = Comparison.of(record.match, id=name, nodeid=name, threshold={}, passed=passed)
        errors = () if record.error is None else (record.error,)
        # The figures are the record's: an answer that is missing or unreadable counts as 0.
        figures: dict[str, Any] = {name: getattr(record, name) or 0.0 for name in SCORES}
        comparison = replace(
            comparison,
            **figures,
            signature=str(self.signature),
            errors=errors,
            validity="",  # valid answers are counted for the corpus as a whole
        )
        return Case.single(comparison, cluster=record.cluster, tags=record.tags)

    def with_cases(self, cases: Iterable[Case]) -> RunResult:
        """Return the run with other cases in place of its own, all of which count."""
        return replace(self, kept_cases=tuple(cases), totals=None, corpus_signature=None, records=())

    @property
    def noun(self) -> str:
        """The noun for what is counted."""
        return "record" if self.is_of_records else "case"

    @property
    def is_partial(self) -> bool:
        """Whether some records of the corpus are not kept as cases."""
        return self.total_records > len(self.cases)

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that have figures: batch errors may leave nothing to count."""
        return tuple(case for case in self.cases if case.has_figures)

    @property
    def comparisons(self) -> Iterable[Comparison]:
        """Everything that was compared."""
        return comparisons_of(self.cases)

    @property
    def tabled(self) -> tuple[Case, ...]:
        """The cases for tables: for a corpus a single one, with the figures of all its records."""
        if self.totals is None:
            return self.cases
        score, precision, recall, f1 = (self.mean(name) or 0.0 for name in SCORES)
        figures = self.metric or "", str(self.signature), score, precision, recall, f1
        failed = self.total_batch_errors
        more: dict[str, Any] = {
            "fields": self.all_fields,
            "rows": self.rows,
            "counts": {"batch_error": failed} if failed else {},
            "counts_extra": self.corpus_counts_extra,
        }
        return (Case.single(Comparison("", "", *figures, passed=True, **more)),)

    # -- what it was scored with ---------------------------------------------------------------------------

    @cached_property
    def signature(self) -> Signature | None:
        """What the scores were made with; None if several. Corpora merge if theirs are equal."""
        if self.totals is not None:
            return self.corpus_signature
        several = {each.signature for each in self.comparisons}
        return Signature.parse(several.pop()) if len(several) == 1 else None

    @cached_property
    def metric(self) -> str | None:
        """The name of the metric; None if several."""
        if self.totals is not None:
            return None if self.corpus_signature is None else self.corpus_signature.metric
        several = {each.metric for each in self.comparisons}
        return several.pop() if len(several) == 1 else None

    # -- means ---------------------------------------------------------------------------------------------

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure over the cases that have figures; None without any.

        Args:
            name: "score", "precision", "recall" or "f1".
        """
        if self.totals is not None:
            return self.totals.mean(name)
        return mean_of([case.figure(name) for case in self.scored])

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
        """The share of the cases that pass, or of the records that score 1; None without any."""
        if self.totals is not None:
            return self.total_perfect / self.total_records if self.total_records else None
        return mean_of([float(case.passed) for case in self.cases])

    @property
    def completeness(self) -> float | None:
        """The share of the collected cases that are complete.

        None without any, or if an unknown number of cases was kept from running. For a corpus, the share of
        the gold records that have an answer.
        """
        if self.totals is not None:
            answered = self.total_records - self.total_unanswered
            return answered / self.total_records if self.total_records else None
        if self.narrowed and self.collected is None:
            return None
        complete = sum(case.is_complete for case in self.cases)
        total = max(len(self.cases), self.collected or 0)
        return complete / total if total else None

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
        if self.total_records == self.total_unscored:
            return None
        found: float | None = getattr(self.over() if self.totals is None else self.totals.total, name)
        return found

    def over(self, paths: Container[str] | None = None) -> FieldAggregation:
        """Return the figures over all leaves, or those of some fields; runs of a case count as one."""
        if self.totals is not None:
            fields = self.all_fields
            return merge_aggregations(fields[path] for path in fields if paths is None or path in paths)
        sums = field_sums(self.cases)
        chosen = [sums[path] for path in sums if paths is None or path in paths]
        return figures_of(added(chosen)) if chosen else merge_aggregations(())

    # -- answers -------------------------------------------------------------------------------------------

    @property
    def answers(self) -> AnswerCounts:
        """How many answers are parsable and valid."""
        return answers_of(self.comparisons) if self.totals is None else self.totals.answers

    @property
    def valid_rate(self) -> float | None:
        """The share of the validated answers that the schema allows; text without JSON is not valid.

        None if no answer was validated; `compare_corpus` validates with `validate="report"`.
        """
        return self.answers.rates.get("valid_rate")

    @property
    def parse_rate(self) -> float | None:
        """The share of the answers given as text that have JSON in them; None if none is text."""
        return self.answers.rates.get("parse_rate")

    # -- fields --------------------------------------------------------------------------------------------

    @cached_property
    def all_fields(self) -> Mapping[str, FieldAggregation]:
        """Aggregates of every field, over all metrics, including those that count in no figure."""
        return merged_fields(self.cases) if self.totals is None else self.totals.per_field()

    @property
    def fields(self) -> Mapping[str, FieldAggregation]:
        """The same as `all_fields`."""
        return self.all_fields

    @cached_property
    def per_field(self) -> Mapping[str, FieldAggregation]:
        """Aggregates by schema path: `items[].price` is over all elements of all records.

        Fields that were always skipped, or always failed in a batch comparator, are left out, since they have
        no figures. `all_fields` includes them.
        """
        return {path: each for path, each in self.all_fields.items() if each.total}

    @cached_property
    def _of_fields(self) -> FieldAggregation:
        return merge_aggregations(self.all_fields.values())

    @cached_property
    def rows(self) -> Mapping[str, RowCounts]:
        """How many rows were expected, found and in actual, by the schema path of the array.

        A row is an element of an array of objects that is not compared by position.

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 3}]}]
        >>> run = compare_corpus([{"items": [{"n": 2}]}, gold[1]], gold, arrays={"key": "n"})
        >>> run.rows["items"].recall
        0.6666666666666666
        """
        return merged_rows(self.cases) if self.totals is None else self.totals.rows

    @property
    def omission_rate(self) -> float | None:
        """Omissions over the leaves of expected, all with weight 1; None for 0/0."""
        return self._of_fields.omission_rate

    @property
    def hallucination_rate(self) -> float | None:
        """Hallucinations over the leaves of actual; None for 0/0, and if the metric does not count them."""
        return self._of_fields.hallucination_rate

    def nearest_path(self, pattern: str) -> str | None:
        """Return the schema path that an unmatched rule was likely meant for; None if none is near."""
        leaves = [parse_path(path) for path in self.all_fields if not path.endswith("…")]
        places = (path[:end] for path in leaves for end in range(len(path), 0, -1))
        return find_nearest_path(parse_pattern(pattern), places)

    # -- counts --------------------------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> Counter[str]:
        if self.totals is not None:
            return self.totals.counts
        compared = list(self.comparisons)
        broken = sum(bool(run.error) for case in self.cases for run in case.runs)
        return Counter(
            records=len(self.cases),
            perfect_records=sum(case.has_figures and case.figure("score") >= 1.0 for case in self.cases),
            unanswered=sum(case.answered < 1 for case in self.cases),
            unscored=sum(not case.has_figures for case in self.cases),
            not_validated=self.answers.not_validated,
            errors=sum(len(each.errors) for each in compared) + broken,
            warnings=sum(len(each.warnings) for each in compared),
        )

    @property
    def total_records(self) -> int:
        """The number of cases, or of gold records."""
        return self._counts["records"]

    @property
    def total_perfect(self) -> int:
        """The number of cases or records that score 1."""
        return self._counts["perfect_records"]

    @property
    def total_unanswered(self) -> int:
        """The number of gold records, or of cases with a run, that have no answer."""
        return self._counts["unanswered"]

    @property
    def unanswered(self) -> Mapping[str, int]:
        """How many cases are unanswered, by what the producer raised first; empty for a corpus."""
        raised = ([run.unanswered for run in case.runs if run.unanswered] for case in self.cases)
        return dict(Counter(names[0] for names in raised if names).most_common())

    @property
    def floor(self) -> float | None:
        """The mean score of empty answers over the cases for which that is known; None without any."""
        found = [
            [each.floor for each in comparisons_of([case]) if each.floor is not None] for case in self.cases
        ]
        return mean_of([sum(floors) / len(floors) for floors in found if floors])

    def mean_of_answered(self, name: str) -> float | None:
        """Return the mean of one of `SCORES` over the cases or records with an answer; None without any."""
        if self.totals is None:
            answered = (
                replace(case, runs=tuple(run for run in case.runs if not run.unanswered))
                for case in self.cases
            )
            return self.with_cases(case for case in answered if case.runs).mean(name)
        scored, mean = self.total_records - self.total_unscored, self.mean(name)
        if mean is None or scored == self.total_unanswered:
            return None
        return mean * scored / (scored - self.total_unanswered)

    @property
    def total_unscored(self) -> int:
        """The number of cases or records without figures: batch errors left nothing to count."""
        return self._counts["unscored"]

    @property
    def total_not_validated(self) -> int:
        """The number of answers that can't be validated: over 200 levels deep, or with lone surrogates."""
        return self._counts["not_validated"]

    @property
    def total_errors(self) -> int:
        """The number of errors, and of runs of cases that have no figures because of an error."""
        return self._counts["errors"]

    @property
    def total_warnings(self) -> int:
        """The number of warnings."""
        return self._counts["warnings"]

    @property
    def total_fields(self) -> int:
        """How many results were scored: matches, mismatches, omissions and hallucinations."""
        return self._of_fields.total

    @property
    def total_matches(self) -> int:
        """The number of results that match."""
        return self._of_fields.matches

    @property
    def total_mismatches(self) -> int:
        """The number of results with values on both sides that score less than 1."""
        return self._of_fields.mismatches

    @property
    def total_omissions(self) -> int:
        """The number of results that only expected has."""
        return self._of_fields.omissions

    @property
    def total_hallucinations(self) -> int:
        """The number of results that only the answers have."""
        return self._of_fields.hallucinations

    @property
    def total_skipped(self) -> int:
        """The number of results that a rule leaves out."""
        return self._of_fields.skipped

    @property
    def total_batch_errors(self) -> int:
        """The number of results for which a batch comparator failed."""
        if self.totals is not None:
            return self._of_fields.batch_errors
        return sum(each.counts.get("batch_error", 0) for each in self.comparisons)

    # -- parts ---------------------------------------------------------------------------------------------

    @property
    def tags(self) -> Sequence[str]:
        """All tags as `name=value`, sorted."""
        if self.totals is not None:
            return sorted(self.totals_by_tag)
        return sorted({tag for case in self.cases for tag in tags_of_case(case)})

    def tagged(self, tag: str) -> RunResult:
        """Return the run as if only comparisons with a tag had been made; without cases if none has it.

        If a test compares several documents, only those with the tag count.

        Args:
            tag: a name and its value, such as `source=phone`.
        """
        cases = self.kept_cases
        if cases is not None:
            cases = tuple(kept for case in cases if (kept := tagged_case(case, tag)) is not None)
        if self.totals is None:
            return replace(self.with_cases(cases or ()), collected=None)
        if tag not in self.totals_by_tag:
            return RunResult.of_cases()
        records = tuple(record for record in self.records if tag in tag_texts(record.tags))
        return replace(self._part(tag), kept_cases=cases, records=records)

    def _part(self, tag: str) -> RunResult:
        """Return the totals of the records with a tag."""
        extra = self.corpus_counts_extra
        return RunResult(
            None, self.totals_by_tag[tag], corpus_signature=self.corpus_signature, corpus_counts_extra=extra
        )

    @property
    def by_tag(self) -> dict[str, RunResult]:
        """The figures of the cases or records with each tag, such as "source=phone"; no record is kept.

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"from": "phone", "n": 1}, {"from": "scan", "n": 2}]
        >>> run = compare_corpus([gold[0], {"n": 2}], gold, tags={"source": "from"})
        >>> {tag: of.mean_recall for tag, of in run.by_tag.items()}
        {'source=phone': 1.0, 'source=scan': 0.5}
        """
        part = self.tagged if self.totals is None else self._part
        return {tag: part(tag) for tag in self.tags}

    def merge(self, other: RunResult) -> RunResult:
        """Return the result of both runs together, as if they were one; the order does not matter.

        Raises:
            ConfigurationError: corpora were scored with different metrics, options, schemas or rules; runs of
                tests have a case in common, or are of different commits; or one is a corpus and the other
                is not.
        """
        if self.totals is None and other.totals is None:
            return self._merged_cases(other)
        if self.totals is None or other.totals is None or self.signature != other.signature:
            message = f"merging needs equal signatures, got {self.signature} and {other.signature}"
            raise ConfigurationError(message)
        totals = RunTotals()
        totals.merge(self.totals)
        totals.merge(other.totals)
        tagged: dict[str, RunTotals] = {}
        for tag, part in (*self.totals_by_tag.items(), *other.totals_by_tag.items()):
            tagged.setdefault(tag, RunTotals()).merge(part)
        are_read = self.kept_cases is not None or other.kept_cases is not None
        return RunResult(
            (*self.cases, *other.cases) if are_read else None,
            totals,
            tagged,
            self.corpus_signature,
            records=self.records + other.records,
            worst=tuple(worst_of(self.worst + other.worst)),
            errors=(self.errors + other.errors)[:MAX_ERRORS],
            warnings=(self.warnings + other.warnings)[:MAX_ERRORS],
            unmatched_expected=self.unmatched_expected + other.unmatched_expected,
            unmatched_actual=self.unmatched_actual + other.unmatched_actual,
            unmatched_rules=tuple(each for each in self.unmatched_rules if each in other.unmatched_rules),
            corpus_counts_extra=self.corpus_counts_extra,
        )

    def _merged_cases(self, other: RunResult) -> RunResult:
        if common := {case.id for case in self.cases} & {case.id for case in other.cases}:
            raise ConfigurationError(
                f"merging needs runs without common cases, but both have {min(common)!r}"
            )
        if self.commit != other.commit:
            commits = " and ".join(each.commit or "no commit" for each in (self, other))
            raise ConfigurationError(f"merging needs runs of one commit, got {commits}")
        return RunResult.of_cases(
            sorted((*self.cases, *other.cases), key=attrgetter("id")),
            created=min(filter(None, (self.created, other.created)), default=""),
            commit=self.commit,
            versions={**other.versions, **self.versions},
            # How many cases there were together is unknown: each part may have deselected those of the other.
            narrowed=tuple(dict.fromkeys((*self.narrowed, *other.narrowed, "merged"))),
            judged=self.judged or other.judged,
            has_only_gates=self.has_only_gates and other.has_only_gates,
        )

    # -- output --------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "metric": self.metric,
            "signature": None if self.signature is None else str(self.signature),
            **{name: getattr(self, name) for name in _NUMBERS},
            "per_field": {path: each.to_dict() for path, each in self.per_field.items()},
            "rows": {path: each.to_dict() for path, each in self.rows.items()},
            **({"by_tag": {tag: of.to_dict() for tag, of in self.by_tag.items()}} if self.tags else {}),
            "records": [each.to_dict() for each in self.records],
            "worst": [each.record_id for each in self.worst],
            "errors": [str(each) for each in self.errors],
            "warnings": [str(each) for each in self.warnings],
            "unmatched_expected": list(self.unmatched_expected),
            "unmatched_actual": list(self.unmatched_actual),
            "unmatched_rules": list(self.unmatched_rules),
        }

    def to_dataframe(self, by: By = "field", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: "field" for a row for each of `per_field`; "record" for one for each case or kept record;
                "leaf" for one for each field result of a kept record (`keep="all"` keeps those of all), or
                for each difference that a case keeps of each of its runs; "rows" for one for each array in
                `rows`.
            library: "pandas" or "polars"; None for the one already imported, else the first installed.

        Raises:
            ConfigurationError: `by` is something else, or no such library is installed.
        """
        is_read = self.kept_cases is not None
        records, leaves = self._rows_of_cases() if is_read else self._rows_of_records()
        rows = {
            "record": records,
            "field": iter_field_rows(self.per_field),
            "leaf": leaves,
            "rows": iter_row_counts(self.rows),
        }
        names = ("id", "run", "path", "status", *Difference._fields) if is_read else ()
        return make_data_frame(rows, by, library, names)

    def _rows_of_records(self) -> tuple[_Rows, _Rows]:
        names = ("record_id", "index", "score", "precision", "recall", "f1", "error", "cluster")
        return (
            ({**each.tags, **{name: getattr(each, name) for name in names}} for each in self.records),
            (
                {"record_id": each.record_id, **leaf.to_dict()}
                for each in self.records
                for leaf in each.field_results
            ),
        )

    def _rows_of_cases(self) -> tuple[_Rows, _Rows]:
        return (
            (
                {
                    **case.tags,
                    "id": case.id,
                    "passed": case.passed,
                    **{name: case.figure(name) if case.has_figures else None for name in SCORES},
                    "pass_rate": case.pass_rate,
                    "cluster": case.cluster,
                }
                for case in self.cases
            ),
            (
                {"id": case.id, "run": run.number, "path": path, "status": each.status, **each._asdict()}
                for case in self.cases
                for run in case.runs
                for comparison in run.comparisons
                for path, differences in comparison.differences.items()
                for each in differences
            ),
        )

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page with all figures and the cases or kept records, as `jsonmatch evaluate --html` does.

        Raises:
            ConfigurationError: jinja2 is not installed.
            OSError: the file can't be written.
        """
        # By name: this room knows none above it, but people look for a result's page at the result.
        import_object("pytest_jsonmatch.report.corpora:write_page")(self, Path(path))

    def _repr_html_(self) -> str:
        """Return the run as notebooks show it."""
        html: str = import_object("pytest_jsonmatch.report.notebook:run_html")(self)
        return html

    def __repr__(self) -> str:
        return f"<RunResult {self._summary()}>"

    def _summary(self) -> str:
        failed = self.total_batch_errors
        left_out = f", {count(failed, 'batch error')}" if failed else ""
        of = count(self.total_records, self.noun)
        if self.totals is None:
            mean = self.mean("score")
            return f"{of}, {'no scores' if mean is None else f'score {format_score(mean)}'}{left_out}"
        mean = self.mean_f1
        figure = "no scores" if mean is None else f"mean F1 {format_score(mean)}"
        return f"{self.metric}: {of}, {figure}{left_out}"


def answers_of(comparisons: Iterable[Comparison]) -> AnswerCounts:
    """Count the answers of comparisons that are text, contain JSON, and are valid."""
    listed = list(comparisons)
    parsed = Counter(each.parsed for each in listed)
    valid = Counter(each.validity for each in listed)
    return AnswerCounts(
        texts=parsed[True] + parsed[False],
        parsed=parsed[True],
        valid=valid["valid"],
        validated=valid["valid"] + valid["invalid"],
        not_validated=valid["not validated"],
    )
