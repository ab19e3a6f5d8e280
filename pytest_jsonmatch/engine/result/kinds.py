"""Give each differing leaf of a comparison its kind and its cost.

The kinds that two values prove are in `engine.comparators.kinds`. Here are those that the surroundings prove:
a value that is somewhere else in the same object or array, and an element that only one side has.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.align.grid import ROUNDING
from pytest_jsonmatch.engine.align.solve import assign_lists_in_order
from pytest_jsonmatch.engine.comparators.kinds import (
    EXTRA_ELEMENT,
    MISSING_ELEMENT,
    NO_ANSWER,
    ORDER,
    OTHER_FORMS,
    OTHER_KEY,
    SHIFTED,
    find_kind,
)
from pytest_jsonmatch.engine.score.field import HALLUCINATION, MISMATCH, OMISSION, get_instance_keys
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS, get_value
from pytest_jsonmatch.engine.value.equality import make_json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult, Place
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.engine.value.sums import Sums

_DIFFERING: Final = frozenset({MISMATCH, OMISSION, HALLUCINATION})
_MAX_PAIRS: Final = 250_000
"""With more pairs of elements, only equal elements of two arrays are paired again."""
_IN_ORDER: Final = 0.6
"""Elements are shifted if this share of the leaves that match elsewhere matches in order."""
_ONE_DIGIT: Final = 9


@final
class LeafDifference(NamedTuple):
    """One differing leaf, its kind, and its share of the loss.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"city": "BERLIN", "zip": 1}, {"city": "Berlin", "zip": None, "no": 7})
    >>> [(each.path, each.kind, each.cost) for each in result.differences]
    [('city', 'case or accents', 0.4), ('zip', 'extra value', 0.4), ('no', 'missing value', 0.2)]
    """

    field: FieldResult
    """The result of the leaf."""
    kind: str
    """The kind of difference, such as "white space"."""
    cost: float
    """The part of 1 - score that the leaf takes; the costs of a comparison add up to it."""
    path: str
    """The schema path of the leaf; of the element or array for kinds of elements."""
    group: Hashable
    """Leaves of one kind and group are one difference, such as the leaves of a missing element."""


@final
class KindCounts(NamedTuple):
    """The number of differences of one kind in a comparison, and their cost.

    >>> from pytest_jsonmatch import compare_json
    >>> compare_json({"a": " x", "b": "y ", "c": 1}, {"a": "x", "b": "y", "c": 1}).kinds
    {'white space': KindCounts(n=2, cost=0.6666666666666666, fields={'a': (1, 0.333...), 'b': (1, 0.333...)})}
    """

    n: int
    """The number of differences; the leaves of one element or array are one."""
    cost: float
    """The part of 1 - score that they take."""
    fields: Mapping[str, tuple[int, float]]
    """The number of differences and their cost by schema path."""

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON types."""
        fields = {path: {"n": number, "cost": cost} for path, (number, cost) in self.fields.items()}
        return {"n": self.n, "cost": self.cost, "fields": fields}


NOT_ANSWERED: Final[Mapping[str, KindCounts]] = {NO_ANSWER: KindCounts(1, 1.0, {"$": (1, 1.0)})}
"""The kinds of a case that scores 0 without any leaf that could differ."""


def iter_kind_rows(kinds: Mapping[str, KindCounts]) -> Iterator[dict[str, Any]]:
    """Yield a row of counts and cost for each kind and field."""
    return (
        {"kind": kind, "path": path, "n": number, "cost": cost}
        for kind, counts in kinds.items()
        for path, (number, cost) in counts.fields.items()
    )


def find_differences(
    findings: Iterable[FieldResult], documents: tuple[JsonValue, JsonValue], sums: Sums, reduce: str
) -> list[LeafDifference]:
    """Return the differing leaves of a comparison, each with its kind and cost.

    Args:
        findings: the results of the comparison; plain matches may be left out.
        documents: (expected, actual) as compared; actual is MISSING if there is no answer.
        sums: the sums of the comparison.
        reduce: "f1" or "ratio".
    """
    total = sums.expected if reduce == "ratio" else sums.expected + sums.actual
    leaves: list[tuple[FieldResult, float]] = []
    for finding in findings:
        if finding.status in _DIFFERING:
            cost = _compute_cost(finding, reduce, total)
            below = [leaf for leaf in finding.differences if leaf.status in _DIFFERING]
            leaves += [(leaf, cost / len(below)) for leaf in below] or [(finding, cost)]
    if documents[1] is MISSING:
        return [LeafDifference(leaf, NO_ANSWER, cost, "$", None) for leaf, cost in leaves]
    if len(leaves) == 1:  # nothing can be somewhere else
        leaf, cost = leaves[0]
        own = find_kind(leaf.expected_compared, leaf.actual_compared)
        return [_make_difference(leaf, own, cost, _find_around(leaf).row, 0)]
    return list(_Surroundings([leaf for leaf, _ in leaves], documents).classify([cost for _, cost in leaves]))


def _compute_cost(finding: FieldResult, reduce: str, total: float) -> float:
    """Return the part of 1 - score that a result takes."""
    if not total:
        return 0.0
    expected, actual = finding.own_weights
    lost = expected - finding.score if reduce == "ratio" else expected + actual - 2.0 * finding.score
    if reduce == "ratio" and not expected:
        return 0.0
    return max(lost, 0.0) * finding.weight / total


def count_kinds(differences: Iterable[LeafDifference]) -> dict[str, KindCounts]:
    """Return the counts of each kind, the most costly first."""
    listed = tuple(differences)
    if len(listed) == 1:
        _, kind, cost, path, _ = listed[0]
        return {kind: KindCounts(1, min(cost, 1.0), {path: (1, min(cost, 1.0))})}
    costs: dict[str, dict[str, float]] = {}
    groups: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, Hashable]] = set()
    for _, kind, cost, path, group in listed:
        by_path, numbers = costs.setdefault(kind, {}), groups.setdefault(kind, {})
        by_path[path] = by_path.get(path, 0.0) + cost
        is_new = (kind, group) not in seen
        seen.add((kind, group))
        numbers[path] = numbers.get(path, 0) + is_new
    counts = {
        kind: KindCounts(
            sum(groups[kind].values()),
            min(fsum(by_path.values()), 1.0),  # rounding may exceed 1
            {path: (groups[kind][path], min(cost, 1.0)) for path, cost in by_path.items()},
        )
        for kind, by_path in costs.items()
    }
    return dict(sorted(counts.items(), key=lambda item: (-item[1].cost, -item[1].n, item[0])))


@final
class _Located(NamedTuple):
    """A place and its node."""

    place: Place
    node: PlanNode


@final
class _Around(NamedTuple):
    """The containers around a leaf that decide its kind."""

    owner: Place | None
    """The object, or that around the array whose element the leaf is."""
    row: _Located | None
    """The outermost element that only one side has."""
    element: _Located | None
    """The element of the outermost array that is compared by position and that both sides have."""


@final
class _Surroundings:
    """The differing leaves of one comparison, and what is around them."""

    def __init__(self, leaves: list[FieldResult], documents: tuple[JsonValue, JsonValue]) -> None:
        self._leaves = leaves
        self._documents = documents
        self._own = [find_kind(leaf.expected_compared, leaf.actual_compared) for leaf in leaves]
        self._around = [_find_around(leaf) for leaf in leaves]

    def classify(self, costs: list[float]) -> Iterator[LeafDifference]:
        """Yield the differences, given the cost of each leaf."""
        moved = self._find_moved()
        elsewhere = self._find_elsewhere()
        for at, (leaf, own, around, cost) in enumerate(zip(self._leaves, self._own, self._around, costs)):
            row = around.row
            if at in moved:
                kind, path, group = moved[at]
                yield LeafDifference(leaf, kind, cost, path, group)
            elif at in elsewhere and own not in OTHER_FORMS and (row is None or row.place == leaf.place):
                yield LeafDifference(leaf, OTHER_KEY, cost, leaf.path, elsewhere[at])
            else:
                yield _make_difference(leaf, own, cost, row, at)

    # -- other keys ----------------------------------------------------------------------------------------

    def _find_elsewhere(self) -> dict[int, Hashable]:
        """Return, by the index of a leaf, the value that another leaf of its object has on the other side."""
        owners: dict[tuple[Any, bool, Any], set[PlanNode]] = {}
        sides = [
            [(around.owner, is_actual, value) for is_actual, value in enumerate((leaf.expected, leaf.actual))]
            for leaf, around in zip(self._leaves, self._around)
        ]
        for leaf, keys in zip(self._leaves, sides):
            for owner, is_actual, value in keys:
                if is_telling(value):
                    owners.setdefault((owner, not is_actual, value), set()).add(leaf.node.place)
        found: dict[int, Hashable] = {}
        for at, (leaf, keys) in enumerate(zip(self._leaves, sides)):
            for owner, is_actual, value in reversed(keys):
                if is_telling(value) and owners.get((owner, bool(is_actual), value), set()) - {
                    leaf.node.place
                }:
                    found.setdefault(at, (owner, value))
        return found

    # -- other positions -----------------------------------------------------------------------------------

    def _find_moved(self) -> dict[int, tuple[str, str, Hashable]]:
        """Return the kind, path and group of each leaf, by its index, that matches in another element."""
        below: dict[Place | None, list[int]] = {}
        for at, (own, around) in enumerate(zip(self._own, self._around)):
            if own not in OTHER_FORMS and around.element is not None:
                below.setdefault(around.element.place.parent, []).append(at)
        moved: dict[int, tuple[str, str, Hashable]] = {}
        for array, indices in below.items():
            elements = {at: located for at in indices if (located := self._around[at].element) is not None}
            if len({located.place for located in elements.values()}) > 1:
                element = elements[indices[0]].node
                path = "$" if element.parent is None else element.parent.path
                kind, matching = self._find_moved_in(array, elements)
                moved.update(dict.fromkeys(matching, (kind, path, array)))
        return moved

    def _find_moved_in(self, array: Place | None, elements: dict[int, _Located]) -> tuple[str, list[int]]:
        """Return the kind and the indices of the leaves of an array that match in another of its elements."""
        sides: tuple[Side, Side] = "expected", "actual"
        expected, actual = (
            get_value(document, get_instance_keys(array, side))
            for side, document in zip(sides, self._documents)
        )
        if type(expected) is not list or type(actual) is not list:
            return ORDER, []
        node = next(iter(elements.values())).node
        bags = [_make_bags(node, values) for values in (expected, actual)]
        kind, pairings = _pair_again(*bags)
        partners: list[tuple[dict[Any, int], dict[Any, int]]] = [
            (dict(pairs), {to: at for at, to in pairs}) for pairs in pairings
        ]
        matching = []
        for index, element in elements.items():
            leaf = self._leaves[index]
            values = (leaf.expected, element.place.expected_key), (leaf.actual, element.place.actual_key)
            for side, (value, at) in enumerate(values):
                if value is MISSING or type(value) in CONTAINERS:
                    continue
                key = make_leaf_key(leaf.node, value)
                found = [pairing[side].get(at) for pairing in partners]
                if any(other is not None and key in bags[1 - side][other] for other in found):
                    matching.append(index)
                    break
        return kind, matching


def _make_difference(
    leaf: FieldResult, own: str, cost: float, row: _Located | None, at: int
) -> LeafDifference:
    """Return a difference that its values explain, or the element that only one side has."""
    if row is None or own in OTHER_FORMS:
        return LeafDifference(leaf, own, cost, leaf.path, at)
    kind = MISSING_ELEMENT if row.place.actual_key is MISSING else EXTRA_ELEMENT
    return LeafDifference(leaf, kind, cost, row.node.path, row.place)


def _find_around(leaf: FieldResult) -> _Around:
    """Return the containers around a leaf."""
    parent = leaf.parent_place
    is_element = type(leaf.place.key) is int
    if parent is not None and parent.parent is None and not is_element:
        return _Around(parent, None, None)  # a member of the root, as most leaves are
    row = element = None
    place: Place = leaf.place
    node: PlanNode = leaf.node
    while place.parent is not None and node.parent is not None:
        if place.choice:
            element = None  # accepted alternatives are not in the documents
            break
        above = place.parent
        if type(place.key) is int:
            if place.expected_key is MISSING or place.actual_key is MISSING:
                row = _Located(place, node)
            is_on_both_sides = above.expected_key is not MISSING and above.actual_key is not MISSING
            if is_on_both_sides and node.parent.rules.align == "ordered":
                element = _Located(place, node)
        place, node = above, node.parent
    return _Around(parent.parent if is_element and parent is not None else parent, row, element)


def is_telling(value: JsonValue) -> bool:
    """Return whether an equal value elsewhere is hardly a coincidence."""
    if type(value) is str:
        return len(value) > 1
    return type(value) in NUMBERS and abs(value) > _ONE_DIGIT


def make_leaf_key(node: PlanNode, value: JsonValue) -> tuple[PlanNode, Hashable]:
    """Return a key of a leaf; equal keys mean equal values after transforms, at one schema path."""
    return node.place, make_json_key(node.rules.try_transform(value), strict=node.rules.strict_numbers)


def _make_bags(element: PlanNode, values: Sequence[JsonValue]) -> list[Counter[Any]]:
    """Return the leaves of each element, without the order of the arrays in it."""
    bags = []
    for value in values:
        bag: Counter[Any] = Counter()
        queue = [(element.choose(value), value)]
        while queue:
            node, item = queue.pop()
            if node.rules.skip:
                continue
            if type(item) not in CONTAINERS or node.rules.explicit_comparator is not None:
                bag[make_leaf_key(node, item)] += 1
            else:
                queue += [(child, member) for _, child, member in node.iter_children(item)]
        bags.append(bag)
    return bags


def _pair_again(
    expected: list[Counter[Any]], actual: list[Counter[Any]]
) -> tuple[str, list[list[tuple[int, int]]]]:
    """Pair elements by their leaves: in order with gaps, and in any order.

    Returns:
        `SHIFTED` if the pairs in order explain most, else `ORDER`; and both pairings.
    """
    keys, others = [[frozenset(bag.items()) for bag in bags] for bags in (expected, actual)]
    start = end = 0
    shortest = min(len(keys), len(others))
    while start < shortest and keys[start] == others[start]:
        start += 1
    while end < shortest - start and keys[-1 - end] == others[-1 - end]:
        end += 1
    rows, columns = range(start, len(keys) - end), range(start, len(others) - end)
    ends = [(len(keys) - 1 - at, len(others) - 1 - at) for at in range(end)]
    unpaired: dict[Hashable, list[int]] = {}
    for to in reversed(columns):
        unpaired.setdefault(others[to], []).append(to)
    equal = [(at, partners.pop()) for at in rows if (partners := unpaired.get(keys[at]))]
    if len(rows) * len(columns) > _MAX_PAIRS:
        in_order, best = _find_longest_in_order(equal), equal
    else:
        worth = _compute_similarities([expected[at] for at in rows], [actual[to] for to in columns])
        in_order = [(rows[at], columns[to]) for at, to in assign_lists_in_order(worth)]
        best = _add_most_similar(equal, worth, start)
    pairings = list(zip(rows, columns)), in_order + ends, best + ends
    before, found, most = (
        sum([(expected[at] & actual[to]).total() for at, to in pairs]) for pairs in pairings
    )
    is_permutation = len(equal) == len(rows) == len(columns)
    is_shifted = not is_permutation and found - before >= _IN_ORDER * (most - before)
    return SHIFTED if is_shifted else ORDER, list(pairings[1:])


def _compute_similarities(
    expected: Sequence[Counter[Any]], actual: Sequence[Counter[Any]]
) -> list[list[float]]:
    """Return the share of the leaves that each pair of elements has in common."""
    sizes, other_sizes = [[bag.total() for bag in bags] for bags in (expected, actual)]
    return [
        [
            2.0 * both / (size + other) + ROUNDING - ROUNDING if both else 0.0
            for both, other in zip(line, other_sizes)
        ]
        for size, line in zip(sizes, _count_shared(expected, actual))
    ]


def _count_shared(expected: Sequence[Counter[Any]], actual: Sequence[Counter[Any]]) -> list[list[int]]:
    """Return the number of leaves that each pair of elements has in common."""
    owners: dict[Hashable, list[tuple[int, int]]] = {}
    for to, bag in enumerate(actual):
        for key, number in bag.items():
            owners.setdefault(key, []).append((to, number))
    lines = []
    for bag in expected:
        line = [0] * len(actual)
        for key, number in bag.items():
            for to, other in owners.get(key, ()):
                line[to] += min(number, other)
        lines.append(line)
    return lines


def _find_longest_in_order(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs of which no two cross, given pairs sorted by their first index."""
    lasts: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, to) in enumerate(pairs):
        at = bisect_left(lasts, to)
        before.append(ends[at - 1] if at else -1)
        lasts[at : at + 1], ends[at : at + 1] = [to], [number]
    longest, number = [], ends[-1] if ends else -1
    while number >= 0:
        longest.append(pairs[number])
        number = before[number]
    return longest[::-1]


def _add_most_similar(
    equal: list[tuple[int, int]], worth: list[list[float]], start: int
) -> list[tuple[int, int]]:
    """Return pairs of equal elements, and of the others the most similar ones first."""
    rows, columns = {at for at, _ in equal}, {to for _, to in equal}
    cells = sorted(
        (-value, at + start, to + start)
        for at, line in enumerate(worth)
        for to, value in enumerate(line)
        if value and at + start not in rows and to + start not in columns
    )
    pairs = list(equal)
    for _, at, to in cells:
        if at not in rows and to not in columns:
            pairs.append((at, to))
            rows.add(at)
            columns.add(to)
    return pairs
