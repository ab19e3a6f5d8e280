"""A run as it is kept: its cases, or the figures of a corpus, and what the run was."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.plan.options import PRESETS
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.results.comparison import Case, Comparison, comparisons_of, mean_of, merged_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.engine.value.paths import Segment

MICRO: Final = "micro."
"""Begins the name of a figure that is not a mean of cases, but of all leaves together."""


@final
class Answers(NamedTuple):
    """What is said of answers as such, beside how right they are.

    >>> Answers(texts=4, parsed=3, valid=1, validated=2).rates
    {'parse_rate': 0.75, 'valid_rate': 0.5}
    """

    texts: int = 0
    """How many are text."""
    parsed: int = 0
    """How many of these have JSON in them."""
    valid: int = 0
    """How many their schema allows."""
    validated: int = 0
    """How many were held against a schema, or had no JSON that could be."""
    not_validated: int = 0
    """How many the validator can't take."""

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Answers:
        """Return what comparisons say of their answers."""
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
        """`parse_rate` and `valid_rate`, where there is anything to divide by."""
        found = {}
        if self.texts:
            found["parse_rate"] = self.parsed / self.texts
        if self.validated:
            found["valid_rate"] = self.valid / self.validated
        return found


_NO_ANSWERS: Final = Answers()


@final
@dataclass(frozen=True, slots=True)
class Corpus:
    """The figures of a whole corpus, of whose records not all need be cases.

    Args:
        metric: the metric's name.
        signature: what all records were scored with.
        records: how many gold records there are.
        answered: how many of them have an answer.
        perfect: how many score 1.
        means: the mean of each figure over the records that have figures; empty without any.
        fields: aggregates by schema path, over all records.
        errors: how much went wrong without ending the run.
        approximate: how many records have an array that was too large to be paired exactly.
        unscored: how many records have no figures: batch errors have left nothing to count.
        answers: what is said of answers as such.
        by_tag: the figures of the records that have a tag, by the tag as `source=phone`.
    """

    metric: str
    signature: str
    records: int
    answered: int
    perfect: int
    means: Mapping[str, float] = field(default_factory=dict)
    fields: Mapping[str, FieldAggregation] = field(default_factory=dict)
    errors: int = 0
    approximate: int = 0
    unscored: int = 0
    answers: Answers = _NO_ANSWERS
    by_tag: Mapping[str, Corpus] = field(default_factory=dict)

    @property
    def as_case(self) -> Case:
        """The figures of all records as those of one case, of which tables read the fields."""
        failed = sum(each.batch_errors for each in self.fields.values())
        counts = {"batch_error": failed} if failed else {}
        score, precision, recall, f1 = (self.means.get(name, 0.0) for name in FIGURES)
        figures = self.metric, self.signature, score, precision, recall, f1
        return Case.single(Comparison("", "", *figures, passed=True, fields=self.fields, counts=counts))


@final
@dataclass(frozen=True, slots=True)
class ResultSet:
    """The cases of a run, by id, and what the run was.

    Args:
        cases: the cases that count: not those skipped or expected to fail.
        created: when, as ISO 8601 with a zone; empty if that does not matter.
        commit: the git commit, with "+" after it if the tree was not clean; empty without one.
        versions: of this package, Python, pytest and what scores depend on, by name.
        collected: how many cases there were to choose from; None if nobody knows.
        narrowed: why not all cases may be here, such as "-k".
        corpus: the figures of all records, where the cases are records of a corpus; they outweigh the cases'.
        judged: whether a judge was asked, which may err: no interval knows how often.
    """

    cases: tuple[Case, ...] = ()
    created: str = ""
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    collected: int | None = None
    narrowed: tuple[str, ...] = ()
    corpus: Corpus | None = None
    judged: bool = False

    @property
    def number(self) -> int:
        """How many cases the figures are of: more than there are here if a corpus keeps only some."""
        return len(self.cases) if self.corpus is None else self.corpus.records

    @property
    def noun(self) -> str:
        """What there are several of."""
        return "case" if self.corpus is None else "record"

    @property
    def is_partial(self) -> bool:
        """Whether records of the corpus are not here as cases."""
        return self.number > len(self.cases)

    def mean(self, name: str) -> float | None:
        """Return the mean of a figure over the cases that have figures; None without any."""
        if self.corpus is not None:
            return self.corpus.means.get(name)
        return mean_of([case.figure(name) for case in self.scored])

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that have figures: where batch errors have left nothing to count, there are none."""
        return tuple(case for case in self.cases if case.has_figures)

    @property
    def unscored(self) -> int:
        """How many cases or records have no figures."""
        if self.corpus is not None:
            return self.corpus.unscored
        return len(self.cases) - len(self.scored)

    @property
    def pass_rate(self) -> float | None:
        """The share of the cases that pass, of the records that score 1; None without cases."""
        if self.corpus is not None:
            return self.corpus.perfect / self.corpus.records if self.corpus.records else None
        return mean_of([float(case.passed) for case in self.cases])

    @property
    def comparisons(self) -> Iterable[Comparison]:
        """Everything that was compared."""
        return comparisons_of(self.cases)

    @property
    def answers(self) -> Answers:
        """What is said of all answers as such."""
        return Answers.of(self.comparisons) if self.corpus is None else self.corpus.answers

    @property
    def completeness(self) -> float | None:
        """The share of the cases there were to choose from that have come to their end.

        None without any, or if something kept cases from running and nobody knows how many. Of a corpus: the
        share of the gold records that have an answer.
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
        """How many results the figures leave out, since a batch comparator failed."""
        return sum(each.counts.get("batch_error", 0) for each in comparisons_of(self.tabled))

    @property
    def errors(self) -> int:
        """How many errors comparators have made, and how many runs came to no figures."""
        if self.corpus is not None:
            return self.corpus.errors
        unscored = sum(bool(run.error) for case in self.cases for run in case.runs)
        return sum(len(each.errors) for each in self.comparisons) + unscored

    @property
    def approximate(self) -> int:
        """How many comparisons have an array that was too large to be paired exactly."""
        if self.corpus is not None:
            return self.corpus.approximate
        return sum(each.approximate for each in self.comparisons)

    @property
    def fields(self) -> Mapping[str, FieldAggregation]:
        """The figures of each field, over all metrics."""
        return merged_fields(self.cases) if self.corpus is None else self.corpus.fields

    @property
    def tabled(self) -> tuple[Case, ...]:
        """The cases that tables are made of: of a corpus one, with the figures of all its records."""
        return self.cases if self.corpus is None else (self.corpus.as_case,)


@lru_cache(maxsize=256)
def counts_extra(signature: str) -> bool:
    """Tell by the signature of a comparison whether it counts what only actual has.

    >>> counts_extra("json_similarity|options:none|schema:none|rules:2")
    False
    >>> counts_extra('json_similarity|options:{"extra":"count"}|schema:none|rules:2')
    True
    """
    metric, _, rest = signature.partition("|options:")
    told = re.match(r'\{.*?"extra":\s*"(\w+)"', rest)
    preset = PRESETS.get(metric)
    return (told[1] if told else "count" if preset is None else preset.extra) == "count"


def segments_of(path: str) -> tuple[Segment, ...]:
    """Return the segments of a field's path as results keep it: a very deep one was cut, and ends in "…"."""
    try:
        return parse_path(path)
    except ConfigurationError:
        return parse_path(path.rstrip("…."))
