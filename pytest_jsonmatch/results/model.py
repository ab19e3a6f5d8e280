"""A run as result files keep it: its cases, or the figures of a corpus, and where it comes from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.result.figures import short_score, together
from pytest_jsonmatch.engine.result.notebook import data_frame, field_rows, fields_html
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
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
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.engine.result.notebook import By, Library

MICRO: Final = "micro."
"""Prefix of figures over all leaves together, in place of means over cases."""


@final
class AnswerCounts(NamedTuple):
    """How many answers are parsable and valid, whatever their scores.

    >>> AnswerCounts(texts=4, parsed=3, valid=1, validated=2).rates
    {'parse_rate': 0.75, 'valid_rate': 0.5}
    """

    texts: int = 0
    """How many are text."""
    parsed: int = 0
    """How many of these contain JSON."""
    valid: int = 0
    """How many their schema allows."""
    validated: int = 0
    """How many were checked against a schema, or have no JSON to check."""
    not_validated: int = 0
    """How many the validator can't handle."""

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> AnswerCounts:
        """Count the answers of comparisons."""
        listed = list(comparisons)
        parsed = Counter(each.parsed for each in listed)
        valid = Counter(each.validity for each in listed)
        return cls(
            texts=parsed[True] + parsed[False],
            parsed=parsed[True],
            valid=valid["valid"],
            validated=valid["valid"] + valid["invalid"],
            not_validated=valid["not validated"],
        )

    @property
    def rates(self) -> dict[str, float]:
        """`parse_rate` and `valid_rate`; a rate that would be 0/0 is left out."""
        rates = {}
        if self.texts:
            rates["parse_rate"] = self.parsed / self.texts
        if self.validated:
            rates["valid_rate"] = self.valid / self.validated
        return rates


_NO_ANSWERS: Final = AnswerCounts()


@final
@dataclass(frozen=True, slots=True)
class Corpus:
    """The figures of a whole corpus; not all of its records need to be kept as cases.

    Args:
        metric: the metric's name.
        signature: what all records were scored with.
        records: how many gold records there are.
        answered: how many of them have an answer.
        perfect: how many score 1.
        means: the mean of each figure over the records that have figures; empty without any.
        fields: aggregates by schema path, over all records.
        errors: how many errors did not end the run.
        unscored: how many records have no figures, since batch errors left nothing to count.
        answers: how many answers are parsable and valid.
        by_tag: the figures of the records with each tag, such as `source=phone`.
        counts_extra: whether leaves that only actual has lower the scores.
    """

    metric: str
    signature: str
    records: int
    answered: int
    perfect: int
    means: Mapping[str, float] = field(default_factory=dict)
    fields: Mapping[str, FieldAggregation] = field(default_factory=dict)
    errors: int = 0
    unscored: int = 0
    answers: AnswerCounts = _NO_ANSWERS
    by_tag: Mapping[str, Corpus] = field(default_factory=dict)
    counts_extra: bool = True

    @property
    def as_case(self) -> Case:
        """The figures of all records as one case, for tables by field."""
        failed = sum(each.batch_errors for each in self.fields.values())
        counts = {"batch_error": failed} if failed else {}
        score, precision, recall, f1 = (self.means.get(name, 0.0) for name in FIGURES)
        figures = self.metric, self.signature, score, precision, recall, f1
        more: dict[str, Any] = {"fields": self.fields, "counts": counts, "counts_extra": self.counts_extra}
        return Case.single(Comparison("", "", *figures, passed=True, **more))


@final
@dataclass(frozen=True, slots=True)
class ResultSet:
    """The cases of a run, by id, and where the run comes from.

    Args:
        cases: the cases that count: not those skipped or expected to fail.
        created: when it was made, as ISO 8601 with a zone; empty if that does not matter.
        commit: the git commit, with "+" after it if the tree was not clean; empty without one.
        versions: of this package, Python, pytest and packages that affect scores, by name.
        collected: how many cases were collected; None if unknown.
        narrowed: why cases may be missing here, such as "-k".
        corpus: the figures of all records, if the cases are records of a corpus; they replace the cases'.
        judged: whether a judge was asked: intervals do not include its errors.
        has_only_gates: whether gates alone decide, and cases below their thresholds do not fail the run.

    >>> from pytest_jsonmatch import read_results
    >>> read_results("results.jsonl").mean("score")  # doctest: +SKIP
    0.97
    """

    cases: tuple[Case, ...] = ()
    created: str = ""
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    collected: int | None = None
    narrowed: tuple[str, ...] = ()
    corpus: Corpus | None = None
    judged: bool = False
    has_only_gates: bool = False

    @property
    def number(self) -> int:
        """How many cases the figures cover: more than are here if only some records were kept."""
        return len(self.cases) if self.corpus is None else self.corpus.records

    @property
    def noun(self) -> str:
        """The noun for what is counted."""
        return "case" if self.corpus is None else "record"

    @property
    def is_partial(self) -> bool:
        """Whether some records of the corpus are not kept as cases."""
        return self.number > len(self.cases)

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure over the cases that have figures; None without any."""
        if self.corpus is not None:
            return self.corpus.means.get(name)
        return mean_of([case.figure(name) for case in self.scored])

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that have figures: batch errors may leave nothing to count."""
        return tuple(case for case in self.cases if case.has_figures)

    @property
    def unscored(self) -> int:
        """How many cases or records have no figures."""
        if self.corpus is not None:
            return self.corpus.unscored
        return len(self.cases) - len(self.scored)

    @property
    def pass_rate(self) -> float | None:
        """The share of the cases that pass, or of the records that score 1; None without any."""
        if self.corpus is not None:
            return self.corpus.perfect / self.corpus.records if self.corpus.records else None
        return mean_of([float(case.passed) for case in self.cases])

    @property
    def comparisons(self) -> Iterable[Comparison]:
        """Everything that was compared."""
        return comparisons_of(self.cases)

    @property
    def answers(self) -> AnswerCounts:
        """How many answers are parsable and valid."""
        return AnswerCounts.of(self.comparisons) if self.corpus is None else self.corpus.answers

    @property
    def completeness(self) -> float | None:
        """The share of the collected cases that are complete.

        None without any, or if an unknown number of cases was kept from running. For a corpus, the share of
        the gold records that have an answer.
        """
        if self.corpus is not None:
            return self.corpus.answered / self.corpus.records if self.corpus.records else None
        if self.narrowed and self.collected is None:
            return None
        complete = sum(case.is_complete for case in self.cases)
        total = max(len(self.cases), self.collected or 0)
        return complete / total if total else None

    @property
    def batch_errors(self) -> int:
        """How many results the figures leave out because a batch comparator failed."""
        return sum(each.counts.get("batch_error", 0) for each in comparisons_of(self.tabled))

    @property
    def errors(self) -> int:
        """How many errors comparators made, plus how many runs have no figures because of an error."""
        if self.corpus is not None:
            return self.corpus.errors
        unscored = sum(bool(run.error) for case in self.cases for run in case.runs)
        return sum(len(each.errors) for each in self.comparisons) + unscored

    @property
    def fields(self) -> Mapping[str, FieldAggregation]:
        """The figures of each field, over all metrics."""
        return merged_fields(self.cases) if self.corpus is None else self.corpus.fields

    def over(self, paths: Container[str] | None = None) -> FieldAggregation:
        """Return the figures over all leaves, or those of some fields; runs of a case count as one."""
        if self.corpus is not None:
            fields = self.corpus.fields
            return together(fields[path] for path in fields if paths is None or path in paths)
        sums = field_sums(self.cases)
        chosen = [sums[path] for path in sums if paths is None or path in paths]
        return figures_of(added(chosen)) if chosen else together(())

    def to_dataframe(self, by: By = "record", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: "record" for a row for each case, "field" for one for each schema path, "leaf" for one for
                each difference that the file keeps, of each run of a case.
            library: "pandas" or "polars"; None for the one already imported, else the first installed.

        Raises:
            ConfigurationError: `by` is something else, or no such library is installed.
        """
        rows_by = {
            "record": (
                {
                    **case.tags,
                    "id": case.id,
                    "passed": case.passed,
                    **{name: case.figure(name) if case.has_figures else None for name in FIGURES},
                    "pass_rate": case.pass_rate,
                    "cluster": case.cluster,
                }
                for case in self.cases
            ),
            "field": field_rows(self.fields),
            "leaf": (
                {"id": case.id, "run": run.number, "path": path, "status": each.status, **each._asdict()}
                for case in self.cases
                for run in case.runs
                for comparison in run.comparisons
                for path, differences in comparison.differences.items()
                for each in differences
            ),
        }
        return data_frame(rows_by, by, library, ("id", "run", "path", "status", *Difference._fields))

    def _repr_html_(self) -> str:
        """Return the run as notebooks show it."""
        head = f"{count(self.number, self.noun)}, score {short_score(self.mean('score'))}"
        return fields_html(head, self.fields)

    @property
    def tabled(self) -> tuple[Case, ...]:
        """The cases for tables: for a corpus a single one, with the figures of all its records."""
        return self.cases if self.corpus is None else (self.corpus.as_case,)
