"""The numbers of any part of a run: counts, exact sums, fields and rows. They merge in any order."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.engine.result.aggregation import FieldSums, merge_fields
from pytest_jsonmatch.engine.result.rows import RowCounts, add_rows
from pytest_jsonmatch.engine.value.sums import ExactSum, Scores
from pytest_jsonmatch.results.costs import CostTotals
from pytest_jsonmatch.results.kindtotals import KindTotals

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation


@final
class AnswerCounts(NamedTuple):
    """The numbers of answers that are parsable and valid.

    >>> AnswerCounts(texts=4, parsed=3, valid=1, validated=2).rates
    {'parse_rate': 0.75, 'valid_rate': 0.5}
    """

    texts: int = 0
    """The number of answers that are text."""
    parsed: int = 0
    """The number of these that contain JSON."""
    valid: int = 0
    """The number of answers that are valid by their schema."""
    validated: int = 0
    """The number of answers that were checked against a schema or contain no JSON to check."""
    not_validated: int = 0
    """The number of answers that the validator can't handle."""

    @property
    def rates(self) -> dict[str, float]:
        """`parse_rate` and `valid_rate`; an undefined rate (0/0) is left out."""
        rates = {}
        if self.texts:
            rates["parse_rate"] = self.parsed / self.texts
        if self.validated:
            rates["valid_rate"] = self.valid / self.validated
        return rates


@final
class Totals:  # noqa: PLW1641 - its numbers change, so it has no hash
    """The numbers of a case, of the cases with a tag or a metric, or of a whole run.

    A case counts once: its scores are means over its runs. Results, answers and errors count in each run.

    >>> from pytest_jsonmatch import compare_corpus
    >>> totals = compare_corpus([{"a": 1, "b": 0}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3}]).totals
    >>> totals.counts["records"], totals.mean("recall"), totals.over({"a"}).rate("score")
    (2, 0.75, 1.0)
    """

    __slots__ = ("costs", "counts", "fields", "kinds", "metrics", "rows", "sums")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Counts by name.

        Of cases or records: `records`, `passed`, `perfect_records`, `unanswered` (a run has no answer),
        `never_answered`, `not_compared`, `incomplete` (a run is missing, failed before it compared, or has
        no answer), `with_threshold` (the case can fail), `repeated`, `ignores_extra`, `empty` (no leaf
        counts), and `unscored` (only batch errors are left). Of runs: `runs`, `unanswered_runs`,
        `comparisons`, `answers` (a run without a known cost or latency counts as one), `errors`,
        `warnings`, and those of `AnswerCounts`.
        """
        self.sums: defaultdict[str, ExactSum] = defaultdict(ExactSum)
        """Sums over cases: the scores in `Scores`, `answered` (the share of the runs with an answer), `flips`
        (the flip rates of repeated cases), and `gain` (the mean score of the runs with an answer, minus the
        score)."""
        self.fields: dict[str, FieldSums] = {}
        """The sums of fields by path."""
        self.rows: dict[str, RowCounts] = {}
        """Counts of rows by the path of their array."""
        self.kinds: KindTotals = KindTotals()
        """The differences of the cases by kind."""
        self.costs: CostTotals = CostTotals()
        """The cost and latency of the answers."""
        self.metrics: dict[str, str] = {}
        """The metrics of the comparisons, by their signatures."""

    @classmethod
    def of(cls, parts: Iterable[Totals]) -> Totals:
        """Return the numbers of cases together."""
        made = cls()
        for part in parts:
            made.merge(part)
        return made

    def add_answer(self, parsed: bool | None, validity: str) -> None:
        """Count an answer.

        Args:
            parsed: whether a text contains JSON; None if the answer is a value.
            validity: "valid", "invalid", "not validated", or empty if it was not checked.
        """
        counts = self.counts
        if parsed is not None:
            counts["texts"] += 1
            counts["parsed"] += parsed
        if validity:
            counts["valid"] += validity == "valid"
            counts["validated"] += validity != "not validated"
            counts["not_validated"] += validity == "not validated"

    def add_records(self, scores: Sequence[Scores], unscored: int) -> None:
        """Add records with one run each: their scores, and the number of records without scores.

        The records without an answer must be counted before.
        """
        number = len(scores) + unscored
        perfect = sum(record_scores.score >= 1.0 for record_scores in scores)
        self.counts.update(
            records=number,
            runs=number,
            comparisons=number,
            answers=number,
            unscored=unscored,
            passed=perfect,
            perfect_records=perfect,
        )
        for name, column in zip(Scores._fields, zip(*scores)):
            self.sums[name].extend(column)
        self.sums["answered"].extend((float(number - self.counts["unanswered"]),))

    def add_field(self, path: str, sums: FieldSums, first: tuple[str, int]) -> None:
        """Add the sums of a field, and its first occurrence."""
        known = self.fields.get(path)
        if known is None:
            known = self.fields[path] = FieldSums(first)
        elif first < known.first:
            known.first = first
        known.merge(sums)

    def merge(self, other: Totals) -> None:
        """Add other numbers; the order of merging does not matter."""
        self.counts.update(other.counts)
        for name, exact_sum in other.sums.items():
            self.sums[name].merge(exact_sum)
        for path, sums in other.fields.items():
            self.add_field(path, sums, sums.first)
        add_rows(self.rows, other.rows)
        self.kinds.merge(other.kinds)
        self.costs.merge(other.costs)
        self.metrics |= other.metrics

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same numbers, each rounded once."""
        return isinstance(other, Totals) and self._numbers == other._numbers

    @property
    def _numbers(self) -> tuple[object, ...]:
        sums = {name: exact_sum.value for name, exact_sum in self.sums.items() if exact_sum.value}
        return +self.counts, sums, self.per_field(), self.rows, self.kinds, self.costs, self.metrics

    @property
    def scored(self) -> int:
        """The number of cases that have scores."""
        return self.counts["records"] - self.counts["unscored"]

    def mean(self, name: str) -> float | None:
        """Return the mean of one of `SCORES` over the cases that have scores; None without any."""
        return min(self.sums[name].value / self.scored, 1.0) if self.scored else None

    @property
    def mean_of_answered(self) -> float | None:
        """The mean score of the runs with an answer, per case first; None without any."""
        number = self.scored - self.counts["never_answered"]
        return min((self.sums["score"].value + self.sums["gain"].value) / number, 1.0) if number > 0 else None

    @property
    def answers(self) -> AnswerCounts:
        """The numbers of answers that are parsable and valid."""
        return AnswerCounts(**{name: self.counts[name] for name in AnswerCounts._fields})

    def over(self, paths: Container[str] | None = None) -> FieldSums:
        """Return the sums over the leaves of all fields, or of some."""
        return merge_fields(sums for path, sums in self.fields.items() if paths is None or path in paths)

    def ignores_extra(self, paths: Container[str] | None, *, of_rows: bool) -> bool:
        """Return whether some comparison with one of these fields or arrays ignores extra values."""
        if of_rows or paths is None:
            has_any = paths is None or any(path in paths for path in self.rows)
            return has_any and self.counts["ignores_extra"] > 0
        return any(self.fields[path].ignores_extra for path in self.fields if path in paths)

    def per_field(self) -> dict[str, FieldAggregation]:
        """Return aggregations by schema path, in their order in the case with the lowest id that has them."""
        ordered = self._sorted_fields()
        # A rule may name a container of fields, which is no field.
        above = {path[:at] for path in self.fields for at, character in enumerate(path) if character in ".["}
        return {path: sums.read() for path, sums in ordered if any(sums.counts) or path not in above}

    def per_array(self) -> dict[str, RowCounts]:
        """Return the row counts by the schema path of the array, in the order of the fields in arrays."""
        order = [path for path, _ in self._sorted_fields()]

        def place(array: str) -> tuple[int, str]:
            inside = (at for at, path in enumerate(order) if path.startswith(f"{array}["))
            return next(inside, len(order)), array

        return {array: self.rows[array] for array in sorted(self.rows, key=place)}

    def _sorted_fields(self) -> list[tuple[str, FieldSums]]:
        return sorted(self.fields.items(), key=lambda field: (field[1].first, field[0]))
