"""Figures of every object and array of a comparison, and how its arrays were aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.score.outcome import LEAFLESS, Aligned, instance_path
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.score.outcome import Finding, Trail

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

    __slots__ = ("_place", "_sums", "kind")

    def __init__(self, place: Trail | None, kind: str, sums: Sums) -> None:
        self._place = place
        self.kind: str = kind
        """object or array; expected's, where the two sides differ."""
        self._sums = sums

    @property
    def path(self) -> str:
        """The schema path; `$` is the root."""
        keys: list[Any] = []
        place = self._place
        while place is not None:
            keys.append(ELEMENT if type(place.key) is int else place.key)
            place = place.parent
        return format_path(keys[::-1])

    @property
    def expected_path(self) -> str | None:
        """The instance path in expected; None where expected has no such container."""
        return None if self.is_only_in_actual else instance_path(self._place, "expected")

    @property
    def actual_path(self) -> str | None:
        """The instance path in actual; None where actual has no such container."""
        gone = self._place is not None and self._place.actual_key is MISSING
        return None if gone else instance_path(self._place, "actual")

    @property
    def is_root(self) -> bool:
        """Whether this is the whole value."""
        return self._place is None

    @property
    def is_only_in_actual(self) -> bool:
        """Whether expected has no such container."""
        return self._place is not None and self._place.expected_key is MISSING

    def short_path(self, limit: int = 200) -> str:
        """Return the instance path in expected, else in actual, cut after `limit` levels."""
        return instance_path(self._place, "actual" if self.is_only_in_actual else "expected", limit)

    @property
    def expected_leaves(self) -> float:
        """Expected's leaves in it, weighted."""
        return self._sums.expected

    @property
    def actual_leaves(self) -> float:
        """Actual's leaves in it, weighted."""
        return self._sums.actual

    @property
    def precision(self) -> float:
        """Σ score / actual's leaves, 0/0 being 1."""
        return self._sums.precision

    @property
    def recall(self) -> float:
        """Σ score / expected's leaves, 0/0 being 1."""
        return self._sums.recall

    @property
    def f1(self) -> float:
        """2 Σ score / leaves of both sides, 0/0 being 1."""
        return self._sums.f1

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
        where: tuple[str, str, str] | Aligned,
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
        where = self._where
        return where.node.path if isinstance(where, Aligned) else where[0]

    @property
    def expected_path(self) -> str:
        """The instance path in expected."""
        where = self._where
        return instance_path(where.trail, "expected") if isinstance(where, Aligned) else where[1]

    @property
    def actual_path(self) -> str:
        """The instance path in actual."""
        where = self._where
        return instance_path(where.trail, "actual") if isinstance(where, Aligned) else where[2]

    def _items(self) -> tuple[Any, ...]:
        paths = self.path, self.expected_path, self.actual_path
        return paths, self.kind, self.pairs, self.unmatched_expected, self.unmatched_actual

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
class _Container:
    """An object or array while its sums are made."""

    __slots__ = ("actual", "around", "expected", "kind", "perfect", "place", "score")

    def __init__(self, place: Trail | None, around: _Container | None, kind: str) -> None:
        self.place = place
        self.around = around
        self.kind = kind
        self.score = self.expected = self.actual = 0.0
        self.perfect = True

    def add(self, sums: Sums) -> None:
        self.score += sums.score
        self.expected += sums.expected
        self.actual += sums.actual
        self.perfect = self.perfect and sums.perfect

    @property
    def sums(self) -> Sums:
        return Sums(self.score, self.expected, self.actual, self.perfect)


def _sum_up(findings: Iterable[Finding]) -> list[_Container]:
    """Return containers in the order of the document, each with the sums of all that is in it."""
    order: list[_Container] = []
    known: dict[Hashable, _Container] = {}
    around: _Container | None = None
    for finding in findings:
        place = finding.place
        if place is not None and (around is None or around.place is not place.parent):
            around = _around(place, order, known)
        kinds = {type(finding.expected), type(finding.actual)} & _CONTAINERS
        if kinds and finding.status not in LEAFLESS:
            # It is a finding itself: empty, mistyped or compared as a whole. Skipped ones may stand in it.
            kind = type(finding.expected) if len(kinds) == 2 else kinds.pop()
            container = _Container(place, around, "array" if kind is list else "object")
            container.add(finding.sums)
            known[_ident(place)] = container
            order.append(container)
        elif around is not None:
            around.add(finding.sums)
    for container in reversed(order):
        if container.around is not None:
            container.around.add(container.sums)
    return order


def _around(place: Trail, order: list[_Container], known: dict[Hashable, _Container]) -> _Container:
    """Return the container around a place; it and those around it are made if they are new."""
    fresh: list[Trail] = []
    member: Trail | None = place
    outer: _Container | None = None
    while member is not None and (outer := known.get(_ident(member.parent))) is None:
        fresh.append(member)
        member = member.parent
    for member in reversed(fresh):
        outer = _Container(member.parent, outer, "array" if type(member.key) is int else "object")
        known[_ident(member.parent)] = outer
        order.append(outer)
    return known[_ident(place.parent)]


def _ident(place: Trail | None) -> Hashable:
    """Return what tells containers apart: what stands in one container shares one trail."""
    return None if place is None else (id(place.parent), place.expected_key, place.actual_key)


def containers_of(findings: Iterable[Finding]) -> list[ContainerResult]:
    """Return the figures of every object and array, in the order of the document, the root first."""
    return [ContainerResult(each.place, each.kind, each.sums) for each in _sum_up(findings)]


def alignments_of(arrays: Sequence[Aligned], findings: Sequence[Finding]) -> Iterator[ArrayAlignment]:
    """Yield how arrays were aligned, with the F1 of each pair; each is made when it is asked for."""
    if not arrays:
        return
    aligned = {id(each.trail) for each in arrays}
    elements = {_ident(each.place): each.sums for each in findings if id(each.trail) in aligned}
    for container in _sum_up(findings):
        if container.place is not None and id(container.place.parent) in aligned:
            elements[_ident(container.place)] = container.sums
    for each in arrays:
        yield _alignment(each, elements)


def _alignment(aligned: Aligned, elements: dict[Hashable, Sums]) -> ArrayAlignment:
    paired, partners = {i for i, _ in aligned.pairs}, {j for _, j in aligned.pairs}
    inside, nothing = id(aligned.trail), Sums(0.0, 0.0, 0.0, perfect=True)
    return ArrayAlignment(
        aligned,
        kind="unordered" if aligned.node.align == "unordered" else "key",
        pairs=tuple((i, j, elements.get((inside, i, j), nothing).f1) for i, j in aligned.pairs),
        unmatched_expected=tuple(i for i in range(aligned.expected_size) if i not in paired),
        unmatched_actual=tuple(j for j in range(aligned.actual_size) if j not in partners),
    )
