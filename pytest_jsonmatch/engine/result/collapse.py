"""Replace the differences that one sentence explains by one result each.

An array whose elements only are in another order, elements that were inserted or removed, a key that was
renamed, and a row that only one side has.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.result.kinds import is_telling, make_leaf_key
from pytest_jsonmatch.engine.result.rows import collapse_rows
from pytest_jsonmatch.engine.score.field import (
    HALLUCINATION,
    MISMATCH,
    OMISSION,
    Detail,
    Place,
    get_instance_keys,
)
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, get_value
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side

REORDERED: Final = "the same elements in another order"
OTHERS_EQUAL: Final = "the others equal"
"""The end of the sentence on inserted or removed elements."""
_DIFFERING: Final = frozenset({MISMATCH, OMISSION, HALLUCINATION})
_SIDES: Final[tuple[Side, Side]] = ("expected", "actual")
_MOST_INSERTED: Final = 3
"""At most this many inserted or removed elements are named."""
_MOST_VALUES: Final = 20_000
"""Arrays are searched for equal elements until this many values were read, so that reports stay fast."""


def collapse(results: Iterable[FieldResult], documents: tuple[JsonValue, JsonValue]) -> list[FieldResult]:
    """Return results; those that one sentence explains are one result, which has the sentence as reason.

    Args:
        results: results of a comparison, or of a field that is scored as a whole.
        documents: (expected, actual).
    """
    return collapse_rows(_collapse_members(_Arrays(documents).collapse(results), documents), documents)


def sentence_of(result: FieldResult) -> str:
    """Return the sentence that explains a result of `collapse`; empty if there is none.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"n": [2, 1]}, {"n": [1, 2]})
    >>> [sentence_of(each) for each in collapse(result.field_results, result.documents)]
    ['the same elements in another order']
    """
    return "" if result.detail is None else result.detail.reason or ""


# -- arrays ------------------------------------------------------------------------------------------------


@final
class _Array(NamedTuple):
    """An array of both sides that is compared by position."""

    place: Place
    node: PlanNode
    element: PlanNode


@final
class _Arrays:
    """The arrays around differences, and the results that explain them."""

    def __init__(self, documents: tuple[JsonValue, JsonValue]) -> None:
        self._documents = documents
        self._room = _MOST_VALUES
        self._explained: dict[Place, list[FieldResult]] = {}

    def collapse(self, results: Iterable[FieldResult]) -> list[FieldResult]:
        """Return results, those in an explained array replaced."""
        collapsed: dict[Place | int, list[FieldResult]] = {}
        for number, result in enumerate(results):
            key: Place | int = number
            found = [result]
            if result.status in _DIFFERING and not (result.detail is not None and result.detail.error):
                for array in _list_arrays(result):
                    if array.place not in self._explained:
                        self._explained[array.place] = self._explain(array, result)
                    if self._explained[array.place]:
                        key, found = array.place, self._explained[array.place]
                        break
            collapsed.setdefault(key, found)
        return [result for found in collapsed.values() for result in found]

    def _explain(self, array: _Array, result: FieldResult) -> list[FieldResult]:
        """Return the results that explain all differences in an array; none if there is no explanation."""
        expected, actual = (
            get_value(document, get_instance_keys(array.place, side))
            for side, document in zip(_SIDES, self._documents)
        )
        if type(expected) is not list or type(actual) is not list:
            return []
        change = len(actual) - len(expected)
        if abs(change) > _MOST_INSERTED or not expected or not actual:
            return []
        keys = [self._make_key(array.element.choose(value), value) for value in expected]
        others = [self._make_key(array.element.choose(value), value) for value in actual]
        if self._room < 0:
            return []
        place, base = array.place, result._replace(node=array.node)
        if not change:
            if keys == others or Counter(keys) != Counter(others):
                return []
            return [
                base._replace(
                    parent_place=place.parent,
                    expected_key=place.expected_key,
                    actual_key=place.actual_key,
                    status=MISMATCH,
                    expected=expected,
                    actual=actual,
                    detail=Detail(reason=REORDERED),
                )
            ]
        longer, shorter = (others, keys) if change > 0 else (keys, others)
        indices = _find_inserted(longer, shorter)
        if len(indices) != abs(change) or indices[0] == len(shorter):
            return []  # elements at the end shift no others
        verb = "inserted" if change > 0 else "removed"
        sizes = f"{count(len(actual), 'element')} instead of {count(len(expected))}"
        where = ", ".join(f"[{index}]" for index in indices)
        reason = f"{sizes}, {count(len(indices))} {verb} at {where}, {OTHERS_EQUAL}"
        return [
            base._replace(
                node=array.element,
                parent_place=place,
                expected_key=MISSING if change > 0 else index,
                actual_key=index if change > 0 else MISSING,
                status=HALLUCINATION if change > 0 else OMISSION,
                expected=MISSING if change > 0 else expected[index],
                actual=actual[index] if change > 0 else MISSING,
                detail=Detail(reason=verb if number else reason),
            )
            for number, index in enumerate(indices)
        ]

    def _make_key(self, node: PlanNode, value: JsonValue) -> Hashable:
        """Return a key of a value; equal keys mean that the values match."""
        self._room -= 1
        if self._room < 0:
            return None
        if type(value) not in CONTAINERS or node.rules.explicit_comparator is not None:
            return make_leaf_key(node, value)
        if type(value) is dict:
            counted = [member for member in node.iter_children(value) if not member[1].rules.skip]
            return dict, frozenset([(key, self._make_key(child, item)) for key, child, item in counted])
        return list, *(self._make_key(child, item) for _, child, item in node.iter_children(value))


def _list_arrays(result: FieldResult) -> list[_Array]:
    """Return the arrays by position around a result, the outermost first."""
    arrays: list[_Array] = []
    place, node = result.place, result.node
    while place.parent is not None and node.parent is not None:
        if place.choice:
            return []  # accepted alternatives are not in the documents
        above = place.parent
        is_on_both_sides = above.expected_key is not MISSING and above.actual_key is not MISSING
        if type(place.key) is int and is_on_both_sides and node.parent.rules.align == "ordered":
            arrays.append(_Array(above, node.parent, node))
        place, node = above, node.parent
    return arrays[::-1]


def _find_inserted(longer: Sequence[Hashable], shorter: Sequence[Hashable]) -> list[int]:
    """Return the indices of `longer` that are left over if `shorter` is read from it in order."""
    left_over, at = [], 0
    for index, key in enumerate(longer):
        if at < len(shorter) and key == shorter[at]:
            at += 1
        else:
            left_over.append(index)
    return left_over


# -- members -----------------------------------------------------------------------------------------------


@final
class _Member(NamedTuple):
    """A member of an object that only one side has."""

    place: Place
    node: PlanNode


def _collapse_members(
    results: Sequence[FieldResult], documents: tuple[JsonValue, JsonValue]
) -> list[FieldResult]:
    """Return results, those of renamed members replaced."""
    members = [_find_member(result) for result in results]
    missing: dict[Place, list[str]] = {}
    for place in dict.fromkeys(member.place for member in members if member is not None):
        if place.parent is not None and place.actual_key is MISSING:
            missing.setdefault(place.parent, []).append(str(place.expected_key))
    renamed = {
        Place(owner, old, MISSING): new
        for owner, keys in missing.items()
        for old, new in _find_renamed(owner, keys, documents).items()
    }
    if not renamed:
        return list(results)
    gone = renamed.keys() | {Place(place.parent, MISSING, new) for place, new in renamed.items()}
    collapsed: dict[Place | int, FieldResult] = {}
    for number, (result, member) in enumerate(zip(results, members)):
        if member is None or member.place not in gone:
            collapsed[number] = result
            continue
        place = member.place
        if place in renamed and place not in collapsed:
            collapsed[place] = result._replace(
                node=member.node,
                parent_place=place.parent,
                expected_key=place.expected_key,
                expected=get_value(documents[0], get_instance_keys(place, "expected")),
                detail=Detail(reason=f"renamed to {format_path([renamed[place]])}?"),
            )
    return list(collapsed.values())


def _find_renamed(
    owner: Place, missing: Sequence[str], documents: tuple[JsonValue, JsonValue]
) -> dict[str, str]:
    """Return the new keys of missing members whose value one extra member of the same object has."""
    expected, actual = (
        get_value(document, get_instance_keys(owner, side)) for side, document in zip(_SIDES, documents)
    )
    if type(expected) is not dict or type(actual) is not dict:
        return {}
    extra = [key for key in actual if key not in expected]
    if not extra or len(extra) * len(missing) > _MOST_VALUES:
        return {}
    new: dict[Hashable, list[str]] = {}
    for key in extra:
        if _is_telling(actual[key]):
            new.setdefault(make_json_key(actual[key]), []).append(key)
    old: dict[Hashable, list[str]] = {}
    for key in missing:
        old.setdefault(make_json_key(expected[key]), []).append(key)
    return {
        keys[0]: new[value][0] for value, keys in old.items() if len(keys) == 1 == len(new.get(value, ()))
    }


def _is_telling(value: JsonValue) -> bool:
    """Return whether an equal value under another key is hardly a coincidence."""
    return bool(value) if type(value) in CONTAINERS else is_telling(value)


def _find_member(result: FieldResult) -> _Member | None:
    """Return the outermost one-sided place around a missing or extra value, if it is a member."""
    if result.status not in {OMISSION, HALLUCINATION}:
        return None
    place, node, found = result.place, result.node, None
    while place.parent is not None and node.parent is not None:
        if place.choice:
            return None
        if place.expected_key is MISSING or place.actual_key is MISSING:
            found = _Member(place, node) if type(place.key) is str else None
        place, node = place.parent, node.parent
    return found
