"""Kinds of differences over a run: counts, cases and costs, which merge exactly."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pytest_jsonmatch.engine.value.sums import ExactSum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.result.kinds import KindCounts


@final
class FieldKind(NamedTuple):
    """The differences of one kind in one field of a run."""

    n: int
    """The number of differences."""
    cases: int
    """The number of cases that have them."""
    cost: float
    """Their part of 1 - mean score."""


@final
class RunKind(NamedTuple):
    """The differences of one kind in a run.

    >>> from pytest_jsonmatch import compare_corpus
    >>> run = compare_corpus([{"a": "x ", "b": 1}, {"a": "y"}], [{"a": "x", "b": 1}, {"a": "y"}])
    >>> run.kinds
    {'white space': RunKind(n=1, cases=1, cost=0.25, fields={'a': FieldKind(n=1, cases=1, cost=0.25)})}
    """

    n: int
    """The number of differences; the leaves of one missing or extra element are one."""
    cases: int
    """The number of cases that have them."""
    cost: float
    """Their part of 1 - mean score; the costs of all kinds add up to it."""
    fields: Mapping[str, FieldKind]
    """The differences by schema path, the most costly first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        fields = {path: field._asdict() for path, field in self.fields.items()}
        return {**self._asdict(), "fields": fields}


class _Sums:
    """The sums of one kind, or of one kind in one field."""

    __slots__ = ("cases", "cost", "n")

    def __init__(self) -> None:
        self.n = 0
        self.cases = 0
        self.cost = ExactSum()

    def add(self, n: int, cases: int, costs: Iterable[float]) -> None:
        self.n += n
        self.cases += cases
        self.cost.extend(costs)

    def merge(self, other: _Sums) -> None:
        self.n += other.n
        self.cases += other.cases
        self.cost.merge(other.cost)


@final
class KindTotals:  # noqa: PLW1641 - its numbers change, so it has no hash
    """The sums of the kinds of differences over cases, also by field."""

    __slots__ = ("_fields", "_kinds")

    def __init__(self) -> None:
        self._kinds: defaultdict[str, _Sums] = defaultdict(_Sums)
        self._fields: defaultdict[tuple[str, str], _Sums] = defaultdict(_Sums)

    def add_case(self, kinds: Mapping[str, KindCounts]) -> None:
        """Add the differences of one case."""
        for kind, (n, cost, fields) in kinds.items():
            self._kinds[kind].add(n, 1, (cost,))
            for path, (number, part) in fields.items():
                self._fields[kind, path].add(number, 1, (part,))

    def merge(self, other: KindTotals) -> None:
        """Add the differences of other cases."""
        for kind, sums in other._kinds.items():
            self._kinds[kind].merge(sums)
        for key, sums in other._fields.items():
            self._fields[key].merge(sums)

    def count(self, kind: str) -> int:
        """Return the number of differences of a kind."""
        return self._kinds[kind].n if kind in self._kinds else 0

    def cost(self, kind: str) -> float:
        """Return the sum of the costs of a kind over cases."""
        return self._kinds[kind].cost.value if kind in self._kinds else 0.0

    def read(self, cases: int) -> dict[str, RunKind]:
        """Return the differences by kind, the most costly first, given the number of cases with a score."""
        divisor = cases or 1
        fields: dict[str, dict[str, FieldKind]] = {}
        for (kind, path), sums in self._fields.items():
            fields.setdefault(kind, {})[path] = FieldKind(sums.n, sums.cases, sums.cost.value / divisor)
        found = {
            kind: RunKind(
                sums.n,
                sums.cases,
                sums.cost.value / divisor,
                dict(sorted(fields.get(kind, {}).items(), key=_rank)),
            )
            for kind, sums in self._kinds.items()
        }
        return dict(sorted(found.items(), key=_rank))

    def to_plain(self) -> dict[str, Any]:
        """Return the sums as plain JSON types, rounded once."""
        return {
            kind: {
                "n": sums.n,
                "cases": sums.cases,
                "cost": sums.cost.value,
                "fields": {
                    path: [field.n, field.cases, field.cost.value]
                    for (other, path), field in sorted(self._fields.items())
                    if other == kind
                },
            }
            for kind, sums in sorted(self._kinds.items())
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> KindTotals:
        """Return the sums from the result of `to_plain`."""
        made = cls()
        for kind, numbers in plain.items():
            made._kinds[kind].add(numbers["n"], numbers["cases"], (numbers["cost"],))
            for path, (n, cases, cost) in numbers["fields"].items():
                made._fields[kind, path].add(n, cases, (cost,))
        return made

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same numbers, each rounded once."""
        return isinstance(other, KindTotals) and self.to_plain() == other.to_plain()


def _rank(item: tuple[str, RunKind | FieldKind]) -> tuple[float, int, str]:
    name, numbers = item
    return -numbers.cost, -numbers.n, name


def average_kinds(runs: Sequence[Sequence[Mapping[str, KindCounts]]]) -> dict[str, KindCounts]:
    """Return the kinds of differences of a case from those of the comparisons of its runs.

    Costs are means over the comparisons of a run first, then over runs, as the score is; numbers are sums. A
    run without a comparison has no answer.
    """
    if len(runs) == 1 and len(runs[0]) == 1:
        return dict(runs[0][0])
    from pytest_jsonmatch.engine.result.kinds import NOT_ANSWERED, KindCounts

    n: dict[tuple[str, str], int] = {}
    costs: dict[tuple[str, str], ExactSum] = {}
    for kind, path, number, cost in _iter_shares(runs, NOT_ANSWERED):
        n[kind, path] = n.get((kind, path), 0) + number
        costs.setdefault((kind, path), ExactSum()).extend((cost,))
    merged: dict[str, KindCounts] = {}
    for kind in dict.fromkeys(kind for kind, _ in n):
        fields = {path: (n[other, path], costs[other, path].value) for other, path in n if other == kind}
        total = sum(number for number, _ in fields.values())
        merged[kind] = KindCounts(total, sum(cost for _, cost in fields.values()), fields)
    return merged


def _iter_shares(
    runs: Sequence[Sequence[Mapping[str, KindCounts]]], not_answered: Mapping[str, KindCounts]
) -> Iterator[tuple[str, str, int, float]]:
    for comparisons in runs:
        listed = comparisons or (not_answered,)
        share = 1.0 / (len(listed) * len(runs))
        for kinds in listed:
            for kind, counts in kinds.items():
                for path, (number, cost) in counts.fields.items():
                    yield kind, path, number, cost * share
