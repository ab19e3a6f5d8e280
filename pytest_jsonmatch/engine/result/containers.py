"""Figures of every object and array of a comparison, and how its arrays were aligned: sums of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.result.match import LEAFLESS, Totals, instance_path, ratio, row_weights
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.result.match import Row, Trail
    from pytest_jsonmatch.engine.score.walk_ import AlignedRow, Outcome

__all__ = ["ArrayAlignment", "ContainerResult", "alignments_of", "containers_of"]

_CONTAINERS: Final = frozenset({dict, list})


@final
class ContainerResult:
    """The figures of one object or array: of all results in it, however deep.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"n": [1, 2]}, {"n": [1], "m": 3}, metric="schema_f1")
    >>> [(each.path, each.kind, each.precision, each.recall) for each in result.containers]
    [('$', 'object', 0.5, 0.5), ('n', 'array', 0.5, 1.0)]
    """

    __slots__ = ("_keys", "_parent", "_totals", "kind")

    def __init__(self, parent: Trail | None, keys: tuple[Any, Any] | None, kind: str, totals: Totals) -> None:
        self._parent = parent
        self._keys = keys
        self.kind: str = kind
        """object or array; expected's, where the two sides differ."""
        self._totals = totals

    @property
    def path(self) -> str:
        """The schema path; `$` is the root."""
        if self._keys is None:
            return "$"
        segments: list[Any] = [_either(*self._keys)]
        trail = self._parent
        while trail is not None:
            segments.append(_either(trail[1], trail[2]))
            trail = trail[0]
        return format_path([ELEMENT if type(each) is int else each for each in reversed(segments)])

    @property
    def expected_path(self) -> str | None:
        """The instance path in expected; None where expected has no such container."""
        return self._instance_path(1)

    @property
    def actual_path(self) -> str | None:
        """The instance path in actual; None where actual has no such container."""
        return self._instance_path(2)

    @property
    def is_root(self) -> bool:
        """Whether this is the whole value."""
        return self._keys is None

    def short_path(self, limit: int = 200) -> str:
        """The instance path a person wants to see, cut after `limit` levels: expected's, else actual's."""
        if self._keys is None:
            return "$"
        side = 1 if self._keys[0] is not MISSING else 2
        return instance_path(self._parent, self._keys[side - 1], side, limit)

    @property
    def is_only_in_actual(self) -> bool:
        """Whether expected has no such container."""
        return self._keys is not None and self._keys[0] is MISSING

    def _instance_path(self, side: int) -> str | None:
        if self._keys is None:
            return "$"
        key = self._keys[side - 1]
        return None if key is MISSING else instance_path(self._parent, key, side)

    @property
    def expected_leaves(self) -> float:
        """Expected's leaves in it, weighted."""
        return self._totals.expected

    @property
    def actual_leaves(self) -> float:
        """Actual's leaves in it, weighted."""
        return self._totals.actual

    @property
    def precision(self) -> float:
        """Σ score / actual's leaves, 0/0 being 1."""
        return ratio(self._totals.score, self._totals.actual, perfect=self._totals.perfect)

    @property
    def recall(self) -> float:
        """Σ score / expected's leaves, 0/0 being 1."""
        return ratio(self._totals.score, self._totals.expected, perfect=self._totals.perfect)

    @property
    def f1(self) -> float:
        """2 Σ score / leaves of both sides, 0/0 being 1."""
        return _f1(self._totals)

    def to_dict(self) -> dict[str, Any]:
        """Return paths and figures as plain JSON types."""
        names = ("path", "expected_path", "actual_path", "kind", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        where = self.expected_path or self.actual_path
        return f"ContainerResult({where!r}, precision={self.precision:.4g}, recall={self.recall:.4g})"


@final
class ArrayAlignment:
    """Which elements of an array of expected met which of actual's, where not simply by position.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json([["b", "x"], ["a"]], [["a"], ["b", "c"], ["d"]], metric="pairwise_f1")
    >>> alignment = result.alignments[0]
    >>> alignment.path, alignment.pairs, alignment.unmatched_expected, alignment.unmatched_actual
    ('$', ((0, 1, 1.0), (1, 0, 0.5)), (2,), ())
    """

    # In a deep document paths are long, and there are as many as levels: each is made when it is asked for.
    __slots__ = ("_where", "kind", "pairs", "unmatched_actual", "unmatched_expected")

    def __init__(
        self,
        where: tuple[str, str, str] | tuple[PlanNode, Trail | None],
        kind: str,
        pairs: tuple[tuple[int, int, float], ...],
        unmatched_expected: tuple[int, ...],
        unmatched_actual: tuple[int, ...],
    ) -> None:
        """Take where the array is, by its three paths or as the walk has it, and what met there."""
        self._where = where
        self.kind: str = kind
        """unordered or key."""
        self.pairs: tuple[tuple[int, int, float], ...] = pairs
        """(index in expected, index in actual, F1 of the two), in the order of expected."""
        self.unmatched_expected: tuple[int, ...] = unmatched_expected
        """Indices in expected of elements that met none."""
        self.unmatched_actual: tuple[int, ...] = unmatched_actual
        """Likewise in actual."""

    @property
    def path(self) -> str:
        """The schema path of the array."""
        return self._where[0] if len(self._where) == 3 else self._where[0].path

    @property
    def expected_path(self) -> str:
        """The instance path in expected."""
        return self._where[1] if len(self._where) == 3 else _around(self._where[1], 1)

    @property
    def actual_path(self) -> str:
        """The instance path in actual."""
        return self._where[2] if len(self._where) == 3 else _around(self._where[1], 2)

    def _items(self) -> tuple[Any, ...]:
        found = self.kind, self.pairs, self.unmatched_expected, self.unmatched_actual
        return ((self.path, self.expected_path, self.actual_path), *found)

    def __eq__(self, other: object) -> bool:
        return self._items() == other._items() if isinstance(other, ArrayAlignment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._items())

    def __reduce__(self) -> Any:
        return ArrayAlignment, self._items()

    def __repr__(self) -> str:
        alone = len(self.unmatched_expected), len(self.unmatched_actual)
        return f"ArrayAlignment({self.expected_path!r}, {self.kind}, pairs={self.pairs!r}, unmatched={alone})"

    def to_dict(self) -> dict[str, Any]:
        """Return the alignment as plain JSON types."""
        return {
            "path": self.path,
            "expected_path": self.expected_path,
            "actual_path": self.actual_path,
            "kind": self.kind,
            "pairs": [list(pair) for pair in self.pairs],
            "unmatched_expected": list(self.unmatched_expected),
            "unmatched_actual": list(self.unmatched_actual),
        }


@final
class _Entry:
    """Sums of one container while they are made."""

    __slots__ = ("actual", "expected", "key", "perfect", "score", "trail")

    def __init__(self, trail: Trail | None, key: Any) -> None:
        self.trail = trail
        self.key = key
        self.score = self.expected = self.actual = 0.0
        self.perfect = True

    def add(self, score: float, expected: float, actual: float, *, perfect: bool) -> None:
        self.score += score
        self.expected += expected
        self.actual += actual
        self.perfect = self.perfect and perfect

    def totals(self) -> Totals:
        return Totals(self.score, self.expected, self.actual, self.perfect)


def _sum_up(rows: Sequence[Row]) -> tuple[list[_Entry | Row], dict[int, _Entry]]:
    """Return containers in the order of the document, and those with something in them by their trail.

    A container is known by the trail of what is in it: one tuple, shared by all of its members. One that is a
    result itself (empty, mistyped, or compared as a whole) comes as its row.
    """
    order: list[_Entry | Row] = []
    entries: dict[int, _Entry] = {}
    for row in rows:
        node, trail, expected_key, actual_key, status, score, one, other, detail = row
        key = _either(expected_key, actual_key)
        if key is not None:
            entry = entries.get(id(trail)) or _enter(trail, key, order, entries)
            if status not in LEAFLESS:
                expected, actual = row_weights(node, status, detail)
                perfect = score == 1.0 or not (expected or actual)
                entry.add(score * node.weight, expected, actual, perfect=perfect)
        if (type(one) in _CONTAINERS or type(other) in _CONTAINERS) and status not in LEAFLESS:
            order.append(row)
    for item in reversed(order):
        if type(item) is _Entry and item.trail is not None:
            parent = entries[id(item.trail[0])]
            parent.add(item.score, item.expected, item.actual, perfect=item.perfect)
    return order, entries


def _enter(trail: Trail | None, key: Any, order: list[_Entry | Row], entries: dict[int, _Entry]) -> _Entry:
    """Make the entries of a container and of those around it, the outermost first."""
    fresh = []
    while id(trail) not in entries:
        fresh.append(_Entry(trail, key))
        if trail is None:
            break
        trail, key = trail[0], _either(trail[1], trail[2])
    for entry in reversed(fresh):
        entries[id(entry.trail)] = entry
        order.append(entry)
    return fresh[0]


def containers_of(outcome: Outcome) -> list[ContainerResult]:
    """Return the figures of every object and array, in the order of the document, the root first."""
    found: list[ContainerResult] = []
    order, _ = _sum_up(outcome.rows)
    # One that is a result itself may have skipped results in it: it is one container all the same.
    themselves = {(id(item[1]), item[2], item[3]) for item in order if type(item) is tuple}
    for item in order:
        if type(item) is _Entry:
            at = (id(None), None, None) if item.trail is None else (id(item.trail[0]), *item.trail[1:])
            if at in themselves:
                continue
            kind = "array" if type(item.key) is int else "object"
            parent, keys = (None, None) if item.trail is None else (item.trail[0], item.trail[1:])
            found.append(ContainerResult(parent, keys, kind, item.totals()))
        elif type(item) is tuple:
            node, trail, expected_key, actual_key, status, score, one, other, detail = item
            expected, actual = row_weights(node, status, detail)
            perfect = score == 1.0 or not (expected or actual)
            kind = "array" if type(one if type(one) in _CONTAINERS else other) is list else "object"
            keys = None if expected_key is None else (expected_key, actual_key)
            totals = Totals(score * node.weight, expected, actual, perfect)
            found.append(ContainerResult(trail, keys, kind, totals))
    return found


def alignments_of(outcome: Outcome) -> Iterator[ArrayAlignment]:
    """Yield how the arrays were aligned that are not compared by position, in the order of the document.

    Each is made when it is asked for, and so are its paths.
    """
    if not outcome.alignments:
        return
    order, _ = _sum_up(outcome.rows)
    aligned = {id(inner) for _, inner, _, _, _ in outcome.alignments}
    elements: dict[tuple[int, Any, Any], Totals] = {}
    for item in order:
        if type(item) is _Entry and item.trail is not None and id(item.trail[0]) in aligned:
            elements[id(item.trail[0]), item.trail[1], item.trail[2]] = item.totals()
    for node, trail, expected_key, actual_key, status, score, _, _, detail in outcome.rows:
        if id(trail) in aligned and status not in LEAFLESS:
            expected, actual = row_weights(node, status, detail)
            perfect = score == 1.0 or not (expected or actual)
            totals = Totals(score * node.weight, expected, actual, perfect)
            elements[id(trail), expected_key, actual_key] = totals
    for row in outcome.alignments:
        yield _alignment(row, elements)


def _alignment(row: AlignedRow, elements: dict[tuple[int, Any, Any], Totals]) -> ArrayAlignment:
    node, inner, pairs, expected_size, actual_size = row
    rows, columns = {i for i, _ in pairs}, {j for _, j in pairs}
    nothing = Totals(0.0, 0.0, 0.0, perfect=True)
    return ArrayAlignment(
        (node, inner),
        kind="unordered" if node.align == "unordered" else "key",
        pairs=tuple((i, j, _f1(elements.get((id(inner), i, j), nothing))) for i, j in pairs),
        unmatched_expected=tuple(i for i in range(expected_size) if i not in rows),
        unmatched_actual=tuple(j for j in range(actual_size) if j not in columns),
    )


def _around(trail: Trail | None, side: int) -> str:
    """Return the instance path of the container whose members have a trail."""
    return "$" if trail is None else instance_path(trail[0], trail[side], side)


def _either(expected_key: Any, actual_key: Any) -> Any:
    return actual_key if expected_key is MISSING else expected_key


def _f1(totals: Totals) -> float:
    return ratio(2 * totals.score, totals.expected + totals.actual, perfect=totals.perfect)
