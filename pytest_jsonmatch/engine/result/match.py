"""The result of one comparison: its scores, and the findings behind them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, final

from pytest_jsonmatch.engine.plan.unmatched import find_nearest_path, iter_paths, matches_somewhere
from pytest_jsonmatch.engine.result.aggregation import (
    aggregate,
    count_plain_matches,
    f_beta,
    format_score,
    iter_errors,
)
from pytest_jsonmatch.engine.result.containers import compute_containers, describe_alignments
from pytest_jsonmatch.engine.result.dataframe import iter_field_rows, make_data_frame
from pytest_jsonmatch.engine.result.rows import count_rows, iter_row_counts
from pytest_jsonmatch.engine.score.documents import write_all
from pytest_jsonmatch.engine.score.field import MATCH, SKIPPED, STATUSES
from pytest_jsonmatch.engine.value.named import import_object
from pytest_jsonmatch.engine.value.paths import parse_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan, Signature
    from pytest_jsonmatch.engine.result.aggregation import ErrorEntry, FieldAggregation
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment, ContainerResult
    from pytest_jsonmatch.engine.result.dataframe import By, Library
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.engine.result.validity import Validity
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Figure, Sums


@final
class MatchResult:
    """The result of one comparison: scores, results per leaf, aggregates per field.

    It has no truth value: `assert compare_json(...)` would pass whatever the score is. Write
    `assert_json_match(...)`, or compare `.score` with what you need.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"name": "Ann", "age": 31}, {"name": "Ann", "age": 30})
    >>> result
    <MatchResult leaf_f1 score=0.5: 1 match, 1 mismatch>
    >>> result.per_field["age"].mismatches
    1
    """

    def __init__(
        self,
        plan: Plan,
        documents: tuple[JsonValue, JsonValue],
        outcome: Outcome,
        warnings: tuple[str, ...] = (),
        validity: Validity | None = None,
    ) -> None:
        """Take (expected, actual), the outcome of their walk, and whether actual is valid by the schema."""
        self._plan = plan
        self._documents = documents
        self._outcome = outcome
        self._warnings = warnings
        self._validity = validity

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._plan.metric

    @property
    def counts_extra(self) -> bool:
        """Whether leaves that only actual has lower the scores."""
        return self._plan.options.extra == "count"

    @property
    def has_figures(self) -> bool:
        """Whether there is anything to count. If batch errors have left nothing, every score is None."""
        return self._outcome.has_figures

    @property
    def score(self) -> Figure:
        """The metric's own score in [0, 1]: exactly 1.0 if and only if every counted unit scores 1."""
        return self.recall if self._plan.options.reduce == "ratio" else self.f1

    @property
    def precision(self) -> Figure:
        """How much of actual is right: Σ score / actual's leaves, 0/0 being 1."""
        return self._sums.precision if self.has_figures else None

    @property
    def recall(self) -> Figure:
        """How much of expected was found: Σ score / expected's leaves, 0/0 being 1."""
        return self._sums.recall if self.has_figures else None

    @property
    def f1(self) -> Figure:
        """The harmonic mean of precision and recall, as 2Σ / (E + A), 0/0 being 1."""
        return self._sums.f1 if self.has_figures else None

    def f_beta(self, beta: float) -> Figure:
        """Return (1 + β²)PR / (β²P + R): β > 1 favours recall, β < 1 precision.

        >>> from pytest_jsonmatch import compare_json
        >>> compare_json({"a": 1}, {"a": 1, "b": 2}).f_beta(2)
        0.5555555555555556
        """
        return f_beta(self.precision, self.recall, beta) if self.has_figures else None

    @property
    def _sums(self) -> Sums:
        """The sums that all scores are computed from."""
        return self._outcome.sums

    def _written(self) -> Outcome:
        """Return the outcome with all findings, in the order of the document, and keep it."""
        self._outcome = write_all(self._plan, self._outcome, *self._documents)
        return self._outcome

    def __getstate__(self) -> dict[str, Any]:
        # What a walk keeps holds functions, which may not be copied.
        self._written()
        return vars(self)

    def findings(self) -> Sequence[FieldResult]:
        """Return all findings without keeping them, for loops over very many comparisons."""
        return write_all(self._plan, self._outcome, *self._documents).findings

    @cached_property
    def field_results(self) -> Sequence[FieldResult]:
        """Every result, in the order of the document."""
        return list(self._written().findings)

    @property
    def imperfect(self) -> Iterator[FieldResult]:
        """The results that are not right, in any order: unlike `field_results` this needs no further walk."""
        return (each for each in self._outcome.findings if each.status not in {MATCH, SKIPPED})

    @cached_property
    def per_field(self) -> Mapping[str, FieldAggregation]:
        """Aggregates keyed by schema path (`items[].price`); what was only skipped is not in it."""
        found = self._outcome.findings
        by_node = aggregate(count_plain_matches(self._outcome.visited, found), found)
        return {node.path: each for node, each in by_node.items() if each.total or each.batch_errors}

    @cached_property
    def containers(self) -> Sequence[ContainerResult]:
        """Precision, recall and F1 of every object and array, in the document's order, the root first."""
        return compute_containers(self._written().findings)

    @cached_property
    def alignments(self) -> Sequence[ArrayAlignment]:
        """How arrays not compared by position were aligned: pairs of indices, each with its F1."""
        outcome = self._written()
        return describe_alignments(outcome.alignments, outcome.findings)

    @cached_property
    def rows(self) -> Mapping[str, RowCounts]:
        """How many rows were expected, found and in actual, by the schema path of the array.

        A row is an element of an array of objects that is not compared by position.

        >>> from pytest_jsonmatch import compare_json
        >>> expected = {"items": [{"n": 1}, {"n": 2}]}
        >>> compare_json({"items": [{"n": 2}]}, expected, arrays={"key": "n"}).rows["items"]
        RowCounts(expected=2, found=1, actual=1)
        """
        return count_rows(self._outcome)

    @property
    def documents(self) -> tuple[JsonValue, JsonValue]:
        """Expected and actual as they were compared, copied from the input; do not change them.

        Actual is `MISSING` if an answer could not be read.
        """
        return self._documents

    @property
    def counts(self) -> dict[str, int]:
        """How many results have each status, unweighted; only statuses that occur."""
        statuses = [each.status for each in self._outcome.findings]
        counts = {status: statuses.count(status) for status in STATUSES}
        counts[MATCH] += self._outcome.matches
        return {status: number for status, number in counts.items() if number}

    @property
    def errors(self) -> tuple[ErrorEntry, ...]:
        """The comparators that raised, or scored outside [0, 1], with the path of the field."""
        return tuple(iter_errors(self._outcome.findings))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Oddities that are not errors: duplicate keys in actual, elements without a key to pair them by."""
        return self._warnings + self._outcome.warnings

    def unmatched(self, patterns: Iterable[str]) -> list[str]:
        """Return the path patterns that fit no place of expected, of actual or of the schema.

        Most likely they are misspelt: their rules apply nowhere.

        Raises:
            ConfigurationError: one is not a path pattern.

        >>> from pytest_jsonmatch import compare_json
        >>> rules = {"totl": {"weight": 2}, "items[].n": {"skip": True}}
        >>> answer = {"total": 1, "items": [{"n": 1}]}
        >>> result = compare_json(answer, answer, fields=rules)
        >>> [(pattern, result.nearest_path(pattern)) for pattern in result.unmatched(rules)]
        [('totl', 'total')]
        """
        schema = self._plan.schema
        return [
            text for text in patterns if not matches_somewhere(parse_pattern(text), self._documents, schema)
        ]

    def nearest_path(self, pattern: str) -> str | None:
        """Return the schema path that was likely meant by an unmatched pattern; None if none is near."""
        return find_nearest_path(parse_pattern(pattern), iter_paths(self._documents, self._plan.schema))

    @property
    def valid(self) -> bool | None:
        """Whether actual is valid by the schema (`validate`); None if that was not checked, or can't be."""
        return None if self._validity is None else self._validity.valid

    @property
    def validity(self) -> Validity | None:
        """Whether actual is valid, and its violations; None if that was not checked. See also `valid`."""
        return self._validity

    @property
    def violations(self) -> tuple[str, ...]:
        """What the schema does not allow in actual, each with its path, if `validate` is on."""
        return () if self._validity is None else self._validity.violations

    @property
    def signature(self) -> Signature:
        """How the score was computed; equal signatures mean comparable scores."""
        return self._plan.signature

    @property
    def total_leaves(self) -> float:
        """The weighted number of expected's leaves: the denominator of a `ratio` score."""
        return _whole(self._sums.expected)

    @property
    def matched_leaves(self) -> float:
        """The weighted sum of the scores: the numerator of every score."""
        return _whole(self._sums.score)

    @property
    def details(self) -> str:
        """One line of counts, as in source 3: "Matched leaves: 8, Total leaves: 10"."""
        return f"Matched leaves: {self.matched_leaves:.6g}, Total leaves: {self.total_leaves:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        names = ("score", "precision", "recall", "f1", "matched_leaves", "total_leaves", "counts")
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            **{name: getattr(self, name) for name in names},
            "field_results": [field.to_dict() for field in self.field_results],
            "per_field": {path: aggregate.to_dict() for path, aggregate in self.per_field.items()},
            "rows": {path: each.to_dict() for path, each in self.rows.items()},
            "errors": [str(entry) for entry in self.errors],
            "warnings": list(self.warnings),
            "valid": self.valid,
            "violations": list(self.violations),
            "containers": [each.to_dict() for each in self.containers],
            "alignments": [each.to_dict() for each in self.alignments],
        }

    def to_dataframe(self, by: By = "leaf", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: "leaf" for a row for each of `field_results`, "field" for one for each of `per_field`, "rows"
                for one for each array in `rows`.
            library: "pandas" or "polars"; None for the one imported already, else the first installed.

        Raises:
            ConfigurationError: `by` is something else, or no such library is installed.

        In polars, a column with values of several types becomes JSON text.
        """
        leaves = (each.to_dict() for each in self.field_results)
        rows = {
            "leaf": leaves,
            "field": iter_field_rows(self.per_field),
            "rows": iter_row_counts(self.rows),
        }
        return make_data_frame(rows, by, library)

    def _repr_html_(self) -> str:
        """Return the comparison as notebooks show it."""
        # By name: the engine knows no report, but a notebook asks the result itself.
        html: str = import_object("pytest_jsonmatch.report.notebook:match_html")(self)
        return html

    def __bool__(self) -> NoReturn:
        message = (
            "a MatchResult has no truth value: it would be true at every score; "
            "use assert_json_match(actual, expected), or compare result.score with what you need"
        )
        raise TypeError(message)

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        return (
            f"<MatchResult {self.metric} score={format_score(self.score)}: {counts or 'nothing to compare'}>"
        )


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number
