"""Find oddities in documents: members that the schema does not list, and elements without a usable key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.align.keys import get_key_member, read_key_value
from pytest_jsonmatch.engine.plan.options import ByKey, ByMembers
from pytest_jsonmatch.engine.score.field import Place, format_instance_path, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.errors import GoldValidationError, UnlistedFieldError, did_you_mean
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.walkstate import AlignedArrays
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.engine.value.errors import JsonMatchError


_UNUSABLE: Final = {
    "null": "null",
    "boolean": "a boolean",
    "number": "not a finite number",
    "array": "an array",
    "object": "an object",
}
"""Descriptions of values by which no element can be paired, by JSON type."""


def make_unlisted_error(node: PlanNode, where: Place, *, of_expected: bool) -> JsonMatchError:
    """Return the error for a member that the schema does not list."""
    keys = get_instance_keys(where, "expected" if of_expected else "actual")
    path = format_path(keys)
    hint = did_you_mean(str(node.segment), [] if node.parent is None else node.parent.list_members())
    if of_expected:
        message = f'{path!r} is not in the schema{hint}; list it, or add it with "x-eval-skip": true'
        return GoldValidationError(message, path=path, keys=keys)
    message = (
        f"actual has {path!r}, which is not in the schema{hint}; list it, "
        'or let the schema say "additionalProperties": true'
    )
    return UnlistedFieldError(message, path)


def check_listed(node: PlanNode, where: Place, value: JsonValue, *, of_expected: bool = True) -> None:
    """Raise an error for the first member of a value, at any depth, that the schema does not list.

    Args:
        node: the node that is chosen for the value.
        where: the place of the value.
        value: any value.
        of_expected: whether it is a value of expected, or of actual.

    Raises:
        GoldValidationError: expected has such a member.
        UnlistedFieldError: actual has such a member.
    """
    if node.rules.skip:
        return
    if node.unlisted:
        raise make_unlisted_error(node, where, of_expected=of_expected)
    if (type(value) is dict or type(value) is list) and node.rules.explicit_comparator is None:
        absent = node.plan.absent
        for key, child, item in node.iter_children(value):
            if absent is not None and type(key) is str and absent.is_absent(child, item):
                continue
            if type(item) is dict or type(item) is list or child.unlisted:
                check_listed(child, Place(where, key, key), item, of_expected=of_expected)


def find_key_warnings(arrays: Iterable[AlignedArrays]) -> tuple[str, ...]:
    """Return a warning for each schema path and side of arrays with elements that can't be paired."""
    return *_find_unpaired_keys(arrays), *_find_absent_members(arrays)


def _find_absent_members(arrays: Iterable[AlignedArrays]) -> Iterator[str]:
    """Yield a warning for each member by which rows are paired, but which no row of expected has."""
    names: dict[tuple[str, str], bool] = {}
    for array in arrays:
        align = array.node.rules.align
        for name in align.members if isinstance(align, ByMembers) and array.expected else ():
            has_it = any(type(item) is dict and name in item for item in array.expected)
            names[array.node.path, name] = names.get((array.node.path, name), False) or has_it
    for (path, name), is_there in names.items():
        if not is_there:
            yield f"{path}: elements are paired by their member {name!r}, which no element of expected has"


def _find_unpaired_keys(arrays: Iterable[AlignedArrays]) -> tuple[str, ...]:
    """Return a warning for each keyed array's schema path and side with elements that can't be paired."""
    unpaired: dict[tuple[str, str, Side], list[str]] = {}
    for array in arrays:
        align = array.node.rules.align
        if not isinstance(align, ByKey) or len(array.pairs) == len(array.expected) == len(array.actual):
            continue
        key = align.key
        element = array.node.undecided[ELEMENT]
        sides: dict[Side, list[JsonValue]] = {"expected": array.expected, "actual": array.actual}
        for side, values in sides.items():
            seen: set[JsonValue] = {MISSING}
            for at, item in enumerate(values):
                if (value := read_key_value(element, item, key)) in seen:
                    path = format_instance_path(Place(array.place, at, at), side)
                    is_usable = value is not MISSING
                    reason = f"{key!r} is a duplicate" if is_usable else _explain_unusable(element, item, key)
                    unpaired.setdefault((array.node.path, key, side), []).append(f"{path}: {reason}")
                seen.add(value)
    return tuple(
        f"{path}: elements are paired by their member {key!r}; {count(len(places), 'element')} of {side} "
        f"can't be paired, the first is {places[0]}"
        for (path, key, side), places in unpaired.items()
    )


def _explain_unusable(element: PlanNode, item: JsonValue, key: str) -> str:
    """Return why an element has no value by which it can be paired."""
    if type(item) is not dict:
        return "it is not an object"
    if key not in item:
        return f"{key!r} is missing"
    member = get_key_member(element, item, key)
    absent = member.plan.absent
    if item[key] is not None and absent is not None and absent.is_absent(member, item[key]):
        return f"{key!r} is absent by the option `absent`"
    return f"{key!r} is {_UNUSABLE[json_type(member.rules.try_transform(item[key]))]}"
