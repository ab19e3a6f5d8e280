"""The context shared by all pairings of one comparison."""

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

NO_LEAVES: Final = 1e-300
"""Weighted leaf counts of at most this count as no leaves."""
ROUNDED_ZERO: Final = 1e-12
"""A similarity is greater than a threshold if it exceeds it by more than this rounding error."""
_BYTES_A_CELL: Final = 32
_MAX_BYTES: Final = 4 * 2**30
_MAX_PAIRINGS: Final = 200_000
"""The maximum number of pairings of nested arrays that are kept for the walk."""
_PATIENCE: Final = 2
"""After this many rounds of questions, questions about the next best pairings are asked, too."""
_MAX_DOUBLINGS: Final = 8


@final
class PairScore(NamedTuple):
    """The score of a pair of elements: exact, or an upper bound while questions are open."""

    similarity: float
    total_score: float
    """The sum Σ weight·score."""
    questions: tuple[Any, ...] = ()
    """The open questions to batch comparators."""


@final
class Pairing(NamedTuple):
    """The pairs of elements of two arrays."""

    pairs: IndexPairs
    total_score: float = 0.0
    """The Σ of the pairs, if they come from a grid."""
    questions: tuple[Any, ...] = ()
    """The open questions to batch comparators; the pairs are final if there are none."""


@final
class Arrays(NamedTuple):
    """Two unordered arrays, and their node."""

    node: PlanNode
    expected: list[JsonValue]
    actual: list[JsonValue]


@final
class LeafCounts(NamedTuple):
    """E and A: the weighted leaf counts of the values of both sides, each counted on its own."""

    expected: list[float]
    actual: list[float] | None
    """None if similarities are divided by the leaves of expected only."""

    def pair(self, row: int, column: int) -> float:
        """Return the leaf count of a pair, which is the divisor of its similarity."""
        one = self.expected[row]
        return one if self.actual is None else (one + self.actual[column]) * 0.5

    def pairs(self, columns: int) -> list[list[float]]:
        """Return the leaf counts of all pairs, row by row, given the number of columns."""
        if self.actual is None:
            return [[one] * columns for one in self.expected]
        return [[(one + other) * 0.5 for other in self.actual] for one in self.expected]


def compute_similarity(total_score: float, leaf_count: float) -> float:
    """Return Σ divided by the leaf count of a pair: at most 1, and 1 if there are no leaves."""
    return 1.0 if leaf_count <= NO_LEAVES else min(total_score / leaf_count, 1.0)


def refuse_too_large(node: PlanNode, rows: int, columns: int) -> None:
    """Raise a JsonMatchError for arrays whose pairs of elements would take too much memory."""
    size = rows * columns * _BYTES_A_CELL
    if size > _MAX_BYTES:
        raise JsonMatchError(
            f"{node.path}: pairing {rows:,} × {columns:,} elements that have no equal would take "
            f"{size / 2**30:,.1f} GiB, and {_MAX_BYTES >> 30} are allowed; pair them by a member: "
            f'{{"align": {{"key": NAME}}}}'
        )


class PairingContext:
    """The options and caches of all pairings of one comparison, and the pairings of nested arrays."""

    def __init__(self, plan: Plan, *, two_sided: bool, rounds: int = 0) -> None:
        """Create a context; `rounds` is the number of rounds of questions so far."""
        options = plan.options
        self.plan = plan
        self.is_two_sided = two_sided
        """Whether similarities are divided by the leaves of both sides, not only by those of expected."""
        self.threshold: float = options.array_threshold + ROUNDED_ZERO
        self.equality: EqualityKeys = EqualityKeys(plan.absent)
        self.leaves: LeafCache = {}
        self.upper_bounds: dict[tuple[PlanNode, int], float] = {}
        """The upper bounds of the scores of containers in actual."""
        self.extra_solutions = (
            0 if rounds < _PATIENCE else 2 ** min(rounds - _PATIENCE + 1, _MAX_DOUBLINGS) - 1
        )
        """The number of next best pairings about which batch comparators are asked, too."""
        self.sides_by_members: list[list[JsonValue]] = []
        """Parts of arrays paired by members, kept alive since caches find containers by identity."""
        self.pairings: dict[tuple[int, int], Pairing] = {}
        """The pairings by the identities of two arrays, which the documents keep alive; by identity, since
        equal elements share a row of a grid, but not the order of their nested arrays."""

    def make_leaf_counts(
        self,
        node: PlanNode,
        expected: Sequence[JsonValue],
        actual: Sequence[JsonValue],
        *,
        plain: bool = False,
    ) -> LeafCounts:
        """Return E and A of values at a node; `plain` is the result of `EqualityKeys.are_plain`."""
        counts = self._count_leaves_by_keys if plain else self._count_leaves
        expected_counts = counts(node, expected, of_expected=True)
        return LeafCounts(
            expected_counts, counts(node, actual, of_expected=False) if self.is_two_sided else None
        )

    def _count_leaves(self, node: PlanNode, values: Sequence[JsonValue], *, of_expected: bool) -> list[float]:
        return [leaf_count(node, value, self.leaves, of_expected=of_expected) for value in values]

    def _count_leaves_by_keys(
        self, node: PlanNode, values: Sequence[JsonValue], *, of_expected: bool
    ) -> list[float]:
        """Return the leaf counts of strings or objects of scalars; objects with the same keys share one."""
        if type(values[0]) is str:
            return [leaf_count(node, values[0], self.leaves, of_expected=of_expected)] * len(values)
        keys = list(map(tuple, values))
        examples = dict(zip(keys, values))
        counts = {
            names: leaf_count(node, value, self.leaves, of_expected=of_expected)
            for names, value in examples.items()
        }
        return [counts[names] for names in keys]

    def keep(self, expected: list[JsonValue], actual: list[JsonValue], pairing: Pairing) -> None:
        """Keep the pairing of two arrays for the walk."""
        if len(self.pairings) < _MAX_PAIRINGS:
            self.pairings[id(expected), id(actual)] = pairing
