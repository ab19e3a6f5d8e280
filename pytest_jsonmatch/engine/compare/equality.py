"""Comparators that test whether two values are the same: `exact`, `binary` and `oneof`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator, Scoring
from pytest_jsonmatch.engine.compare.parameters import read_json_list
from pytest_jsonmatch.engine.compare.scorings import equality_of, scoring_of_sets
from pytest_jsonmatch.engine.compare.transforms import map_scalars
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.compare.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue


_EQUALITY: Final = equality_of(json_key)
_STRICT: Final = equality_of(partial(json_key, strict=True))


def _make_exact(params: Params) -> Scoring:
    strict = params.get("strict_number_type", False)
    if not isinstance(strict, bool):
        raise ConfigurationError(
            f"comparator 'exact': 'strict_number_type' must be true or false, not {strict!r}"
        )
    return _STRICT if strict else _EQUALITY


EXACT: Final = Comparator("exact", _make_exact, ("strict_number_type",))
"""1 for equal JSON values, else 0. `strict_number_type: true` distinguishes 42 from 42.0."""

BINARY: Final = Comparator("binary", lambda _: _EQUALITY, ())
"""The same as `exact`, under source 4's name."""


# oneof


def _oneof_lists(params: Params) -> tuple[str, list[list[JsonValue]]]:
    """Return ("values", [values]) or ("groups", groups) as lists of JSON values, checked."""
    owner = "comparator 'oneof'"
    if ("values" in params) == ("groups" in params):
        raise ConfigurationError(
            f"{owner} needs either 'values' (a list that actual must be in) or "
            "'groups' (lists of synonyms that expected and actual must share), and not both"
        )
    if "values" in params:
        return "values", [read_json_list(f"{owner}: 'values'", params["values"])]
    groups = params["groups"]
    if not isinstance(groups, (list, tuple)) or not groups:
        raise ConfigurationError(f"{owner}: 'groups' must be a list of lists of synonyms")
    return "groups", [read_json_list(f"{owner}: each of 'groups'", group) for group in groups]


def _memberships(groups: list[list[JsonValue]]) -> Callable[[JsonValue], frozenset[Hashable]]:
    """Return a function from a value to the numbers of the groups that contain it."""
    members: dict[Hashable, frozenset[Hashable]] = {}
    for number, group in enumerate(groups):
        for key in map(json_key, group):
            members[key] = members.get(key, frozenset()) | {number}
    return lambda value: members.get(json_key(value), frozenset())


def _make_oneof(params: Params) -> Scoring:
    form, lists = _oneof_lists(params)
    groups_of = _memberships(lists)
    if form == "values":
        return _among(groups_of)

    # Each value also has its own group, so that equal values match even if they are in no other.
    return scoring_of_sets(lambda value: groups_of(value) | {(json_key(value),)}, graded=False)


def _among(groups_of: Callable[[JsonValue], frozenset[Hashable]]) -> Scoring:
    def among(value: JsonValue) -> float:
        return 1.0 if groups_of(value) else 0.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        import numpy as np

        return np.tile(np.array(list(map(among, actual)), dtype=np.float64), (len(expected), 1))

    return Scoring(lambda _expected, actual: among(actual), table)


def _map_oneof(params: Params, function: Callable[[JsonValue], JsonValue]) -> Params:
    form, lists = _oneof_lists(params)
    mapped = [[map_scalars(value, function) for value in values] for values in lists]
    return {form: mapped[0] if form == "values" else mapped}


def in_same_group(params: Params, value: JsonValue) -> bool:
    """Tell whether `value` is in any of the lists of a `oneof`.

    >>> in_same_group({"values": ["CVD", "PVD"]}, "PVD")
    True
    """
    return bool(_memberships(_oneof_lists(params)[1])(value))


ONEOF: Final = Comparator("oneof", _make_oneof, ("values", "groups"), reflexive=False, map_params=_map_oneof)
"""`values`: 1 if actual is among them, whatever expected is. `groups`: 1 if both are in one of these lists of
synonyms, or are equal. Members can be any JSON values, including null."""
