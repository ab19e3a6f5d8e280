"""The context that all pairings of one comparison share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.align.keys import EqualityKeys
from pytest_jsonmatch.engine.plan.node import leaf_count
from pytest_jsonmatch.engine.value.errors import JsonMatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.node import LeafCache, PlanNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Measure: TypeAlias = Callable[[int, int], "PairScore"]
    """Scores two elements of two arrays, given their indices."""

IndexPairs: TypeAlias = "list[tuple[int, int]]"
"""Pairs of (index in expected, index in actual), in the order of expected."""

NOTHING: Final = 1e-300
"""At most this many weighted leaves count as none."""
ROUNDED_ZERO: Final = 1e-12
"""A similarity is greater than a threshold if it exceeds it by more than this, the error of rounding."""
_BYTES_A_CELL: Final = 32
_MOST_BYTES: Final = 4 * 2**30
_MOST_KEPT: Final = 200_000
"""At most this many pairings of nested arrays are kept for the walk."""
_PATIENCE: Final = 2
"""After this many rounds of questions, the next best pairings are asked about as well."""
_MOST_DOUBLINGS: Final = 8


@final
class PairScore(NamedTuple):
    """A pair of elements: exact, or an upper bound while questions are open."""

    similarity: float
    total_score: float
    """Σ weight·score."""
    questions: tuple[Any, ...] = ()
    """The open questions to batch comparators."""


@final
class Pairing(NamedTuple):
    """How two arrays pair."""

    pairs: IndexPairs
    total_score: float = 0.0
    """Σ of the pairs, if they come from a grid."""
    questions: tuple[Any, ...] = ()
    """The questions to batch comparators that are open until the pairs are final."""


@final
class Arrays(NamedTuple):
    """Two unordered arrays."""

    node: PlanNode
    expected: list[JsonValue]
    actual: list[JsonValue]


@final
class LeafCounts(NamedTuple):
    """E and A: the weighted leaf count of each value of two sides, counted alone."""

    expected: list[float]
    actual: list[float] | None
    """None where similarities are divided by the leaves of expected only."""

    def pair(self, row: int, column: int) -> float:
        """Return the leaf count of a pair: the divisor of its similarity."""
        own = self.expected[row]
        return own if self.actual is None else (own + self.actual[column]) * 0.5

    def pairs(self, columns: int) -> list[list[float]]:
        """Return the leaf counts of all pairs, given the number of columns."""
        if self.actual is None:
            return [[own] * columns for own in self.expected]
        return [[(own + other) * 0.5 for other in self.actual] for own in self.expected]


def compute_similarity(total_score: float, leaf_count: float) -> float:
    """Return Σ divided by the leaf count of a pair: at most 1, and 1 if there are no leaves."""
    return 1.0 if leaf_count <= NOTHING else min(total_score / leaf_count, 1.0)


def refuse_too_large(node: PlanNode, rows: int, columns: int) -> None:
    """Raise a JsonMatchError for arrays whose pairs of elements would take too much memory."""
    size = rows * columns * _BYTES_A_CELL
    if size > _MOST_BYTES:
        raise JsonMatchError(
            f"{node.path}: pairing {rows:,} × {columns:,} elements that have no equal would take "
            f"{size / 2**30:,.1f} GiB, and {_MOST_BYTES >> 30} are allowed; pair them by a member: "
            f'{{"align": {{"key": NAME}}}}'
        )


class PairingContext:
    """The options at hand, and the pairings of nested arrays that were found on the way."""

    def __init__(self, plan: Plan, *, count_extra: bool, rounds: int = 0) -> None:
        """Take the number of rounds of questions so far."""
        options = plan.options
        self.plan = plan
        self.count_extra = count_extra
        self.is_two_sided: bool = options.reduce == "f1" and count_extra
        """Whether similarities are divided by the leaves of both sides, not only by those of expected."""
        self.threshold: float = options.array_threshold + ROUNDED_ZERO
        self.equality: EqualityKeys = EqualityKeys(nulls_absent=options.nulls == "absent")
        self.leaves: LeafCache = {}
        self.upper_bounds: dict[tuple[PlanNode, int], float] = {}
        """Upper bounds of the scores of containers of actual."""
        self.solutions_ahead = (
            0 if rounds < _PATIENCE else 2 ** min(rounds - _PATIENCE + 1, _MOST_DOUBLINGS) - 1
        )
        """How many of the next best pairings batch comparators are also asked about."""
        self.sides_by_members: list[list[JsonValue]] = []
        """Parts of arrays that pair by members, kept alive: caches find a container by its identity."""
        self.kept: dict[tuple[int, int], Pairing] = {}
        """Pairings by the identity of two arrays, which the documents keep alive: equal elements share a row
        of a grid, but not the order inside their arrays."""

    def leaf_counts(
        self,
        node: PlanNode,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
        *,
        plain: bool = False,
    ) -> LeafCounts:
        """Return E and A of values at a node; `plain` as in `EqualityKeys.are_plain`."""
        counts = self._count_leaves_by_keys if plain else self._count_leaves
        own = counts(node, expected, of_expected=True)
        return LeafCounts(own, counts(node, actual, of_expected=False) if self.is_two_sided else None)

    def _count_leaves(self, node: PlanNode, values: Sequence[JsonValue], *, of_expected: bool) -> list[float]:
        return [leaf_count(node, value, self.leaves, of_expected=of_expected) for value in values]

    def _count_leaves_by_keys(
        self, node: PlanNode, values: Sequence[JsonValue], *, of_expected: bool
    ) -> list[float]:
        """Count strings, or objects of scalars: those with the same keys have the same leaves."""
        if type(values[0]) is str:
            return [leaf_count(node, values[0], self.leaves, of_expected=of_expected)] * len(values)
        keys = list(map(tuple, values))
        one_of_each = dict(zip(keys, values))
        known = {
            each: leaf_count(node, value, self.leaves, of_expected=of_expected)
            for each, value in one_of_each.items()
        }
        return [known[each] for each in keys]

    def keep(self, expected: list[JsonValue], actual: list[JsonValue], pairing: Pairing) -> None:
        """Keep the pairing of two arrays for the walk."""
        if len(self.kept) < _MOST_KEPT:
            self.kept[id(expected), id(actual)] = pairing
