"""The result of one comparison: its scores and findings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, final

from pytest_jsonmatch.engine.plan.known import find_absent_paths
from pytest_jsonmatch.engine.plan.unmatched import find_nearest_path, iter_paths, matches_somewhere
from pytest_jsonmatch.engine.result.aggregation import (
    FieldSums,
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
    from pytest_jsonmatch.engine.result.kinds import KindCounts, LeafDifference
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.engine.result.validity import Validity
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import ScoreValue, Sums


@final
class MatchResult:
    """The result of one comparison: scores, results per leaf, and aggregates per field.

    It has no truth value, since `assert compare_json(...)` would pass at any score. Use
    `assert_json_match(...)`, or compare `.score` with a limit.

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
        """Create a result from (expected, actual), the outcome of their walk, and the validity of actual."""
        self._plan = plan
        self._documents = documents
        self._outcome = outcome
        self._warnings = warnings
        self._validity = validity

    @property
    def plan(self) -> Plan:
        """The metric with its options, compiled."""
        return self._plan

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self._plan.metric

    @property
    def counts_extra(self) -> bool:
        """Whether extra leaves lower the scores."""
        return self._plan.options.extra != "ignore"

    @property
    def has_figures(self) -> bool:
        """Whether there is anything to count; if batch errors have left nothing, every score is None."""
        return self._outcome.has_figures

    @property
    def score(self) -> ScoreValue:
        """The metric's own score in [0, 1]: exactly 1.0 if and only if every counted unit scores 1."""
        return self.recall if self._plan.options.reduce == "ratio" else self.f1

    @property
    def precision(self) -> ScoreValue:
        """The share of actual that is correct: Σ score / actual's leaves, 1 for 0/0."""
        return self._sums.precision if self.has_figures else None

    @property
    def recall(self) -> ScoreValue:
        """The share of expected that was found: Σ score / expected's leaves, 1 for 0/0."""
        return self._sums.recall if self.has_figures else None

    @property
    def f1(self) -> ScoreValue:
        """The harmonic mean of precision and recall, as 2Σ / (E + A), 1 for 0/0."""
        return self._sums.f1 if self.has_figures else None

    def f_beta(self, beta: float) -> ScoreValue:
        """Return (1 + β²)PR / (β²P + R): β > 1 favours recall, β < 1 precision.

        >>> from pytest_jsonmatch import compare_json
        >>> compare_json({"a": 1}, {"a": 1, "b": 2}).f_beta(2)
        0.5555555555555556
        """
        return f_beta(self.precision, self.recall, beta) if self.has_figures else None

    @property
    def _sums(self) -> Sums:
        """The sums from which all scores are computed."""
        return self._outcome.sums

    def _write_findings(self) -> Outcome:
        """Write all findings in document order, keep the outcome, and return it."""
        self._outcome = write_all(self._plan, self._outcome, *self._documents)
        return self._outcome

    def __getstate__(self) -> dict[str, Any]:
        # The state of a walk contains functions, which may not be copyable.
        self._write_findings()
        return vars(self)

    def findings(self) -> Sequence[FieldResult]:
        """Return all findings without keeping them, for loops over very many comparisons."""
        return write_all(self._plan, self._outcome, *self._documents).findings

    @cached_property
    def field_results(self) -> Sequence[FieldResult]:
        """All results, in document order."""
        return list(self._write_findings().findings)

    @property
    def imperfect(self) -> Iterator[FieldResult]:
        """The results that are not matches, in any order; unlike `field_results`, without another walk."""
        return (finding for finding in self._outcome.findings if finding.status not in {MATCH, SKIPPED})

    @cached_property
    def per_field(self) -> Mapping[str, FieldAggregation]:
        """Aggregates by schema path (`items[].price`), without paths that were only skipped."""
        return {
            path: aggregation
            for path, aggregation in self.all_fields.items()
            if aggregation.total or aggregation.batch_errors
        }

    @cached_property
    def all_fields(self) -> Mapping[str, FieldAggregation]:
        """Aggregates by schema path, with paths that were only skipped.

        Fields that a rule or a schema names, or that expected has as null under `nulls="absent"`, have counts
        of 0 without any result.
        """
        findings, plan = self._outcome.findings, self._plan
        fields = aggregate(count_plain_matches(self._outcome.visited, findings), findings)
        absent = find_absent_paths(plan.root.choose(self._documents[0]), self._documents[0])
        for path in (*plan.known_paths, *absent):
            fields.setdefault(path, FieldSums())
        return {path: sums.read() for path, sums in fields.items()}

    @cached_property
    def containers(self) -> Sequence[ContainerResult]:
        """Precision, recall and F1 of every object and array, in document order, the root first."""
        return compute_containers(self._write_findings().findings)

    @cached_property
    def alignments(self) -> Sequence[ArrayAlignment]:
        """The alignments of arrays that are not compared by position: pairs of indices with their F1."""
        outcome = self._write_findings()
        return describe_alignments(outcome.alignments, outcome.findings)

    @cached_property
    def rows(self) -> Mapping[str, RowCounts]:
        """The numbers of rows expected, found and in actual, by the schema path of the array.

        A row is an element of an array of objects that is not compared by position.

        >>> from pytest_jsonmatch import compare_json
        >>> expected = {"items": [{"n": 1}, {"n": 2}]}
        >>> compare_json({"items": [{"n": 2}]}, expected, arrays={"key": "n"}).rows["items"]
        RowCounts(expected=2, found=1, actual=1)
        """
        return count_rows(self._outcome)

    @cached_property
    def differences(self) -> Sequence[LeafDifference]:
        """All differing leaves, each with its kind and the part of 1 - score that it takes."""
        from pytest_jsonmatch.engine.result.kinds import find_differences

        reduce = self._plan.options.reduce
        return find_differences(self._outcome.findings, self._documents, self._sums, reduce)

    @property
    def kinds(self) -> Mapping[str, KindCounts]:
        """The counts and costs of each kind of difference, the most costly first."""
        from pytest_jsonmatch.engine.result.kinds import count_kinds

        return count_kinds(self.differences)

    @property
    def documents(self) -> tuple[JsonValue, JsonValue]:
        """Expected and actual as compared, which are copies of the input; do not change them.

        Actual is `MISSING` if an answer could not be read.
        """
        return self._documents

    @property
    def counts(self) -> dict[str, int]:
        """The unweighted number of results with each status that occurs."""
        statuses = [finding.status for finding in self._outcome.findings]
        counts = {status: statuses.count(status) for status in STATUSES}
        counts[MATCH] += self._outcome.matches
        return {status: number for status, number in counts.items() if number}

    @property
    def errors(self) -> tuple[ErrorEntry, ...]:
        """The errors of comparators, including scores outside [0, 1], with the path of the field."""
        return tuple(iter_errors(self._outcome.findings))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Oddities that are not errors: duplicate keys in actual, and elements without a key for pairing."""
        return self._warnings + self._outcome.warnings

    def unmatched(self, patterns: Iterable[str]) -> list[str]:
        """Return the path patterns that match nothing in expected, actual or the schema.

        Their rules apply nowhere, so they are probably misspelled.

        Raises:
            ConfigurationError: one of the texts is not a path pattern.

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
        """Return the schema path that an unmatched pattern probably means; None if none is near."""
        return find_nearest_path(parse_pattern(pattern), iter_paths(self._documents, self._plan.schema))

    @property
    def valid(self) -> bool | None:
        """Whether actual is valid by the schema (`validate`); None if that was not or can't be checked."""
        return None if self._validity is None else self._validity.valid

    @property
    def validity(self) -> Validity | None:
        """Whether actual is valid, with its violations; None if that was not checked. See also `valid`."""
        return self._validity

    @property
    def violations(self) -> tuple[str, ...]:
        """The violations of the schema by actual, each with its path, if `validate` is on."""
        return () if self._validity is None else self._validity.violations

    @property
    def signature(self) -> Signature:
        """How the score was computed; equal signatures mean comparable scores."""
        return self._plan.signature

    @property
    def total_leaves(self) -> float:
        """The weighted number of expected's leaves, the denominator of a `ratio` score."""
        return _to_integer(self._sums.expected)

    @property
    def matched_leaves(self) -> float:
        """The weighted sum of the scores, the numerator of every score."""
        return _to_integer(self._sums.score)

    @property
    def details(self) -> str:
        """The counts as text, as in source 3: "Matched leaves: 8, Total leaves: 10"."""
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
            "rows": {path: counts.to_dict() for path, counts in self.rows.items()},
            "kinds": {kind: counts.to_dict() for kind, counts in self.kinds.items()},
            "errors": [str(entry) for entry in self.errors],
            "warnings": list(self.warnings),
            "valid": self.valid,
            "violations": list(self.violations),
            "containers": [container.to_dict() for container in self.containers],
            "alignments": [alignment.to_dict() for alignment in self.alignments],
        }

    def to_dataframe(self, by: By = "leaf", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: the rows: "leaf" for those of `field_results`, "field" for those of `per_field`, "rows" for
                the arrays in `rows`, "kind" for the kinds of differences of each field.
            library: "pandas" or "polars"; None for the one already imported, else the first installed.

        Raises:
            ConfigurationError: `by` is invalid, or no such library is installed.

        In polars, a column with values of several types becomes JSON text.
        """
        from pytest_jsonmatch.engine.result.kinds import iter_kind_rows

        leaves = (field.to_dict() for field in self.field_results)
        rows = {
            "leaf": leaves,
            "field": iter_field_rows(self.per_field),
            "rows": iter_row_counts(self.rows),
            "kind": iter_kind_rows(self.kinds),
        }
        return make_data_frame(rows, by, library)

    def _repr_html_(self) -> str:
        """Return the comparison as HTML for notebooks."""
        # Imported by name: the engine does not depend on reports, but notebooks call this method.
        html: str = import_object("pytest_jsonmatch.report.notebook:match_html")(self)
        return html

    def __bool__(self) -> NoReturn:
        __tracebackhide__ = True
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


def _to_integer(number: float) -> float:
    return int(number) if number == int(number) else number
