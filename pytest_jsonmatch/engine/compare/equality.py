"""Comparators that ask whether two values are the same: `exact`, `binary` and `oneof`."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from types import NoneType
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator, equality_score
from pytest_jsonmatch.engine.compare.parameters import check_names
from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.equality import json_equal, scalar_key, strict_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.engine.compare.base import (
        EdgeFunction,
        Edges,
        FewFunction,
        Matrix,
        PairFunction,
        Params,
        ScalarFunction,
    )
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["BINARY", "EXACT", "ONEOF", "equal_pairs", "in_same_group"]

_ATOMS: Final = frozenset({str, int, bool, NoneType})


def _exact(expected: JsonValue, actual: JsonValue) -> float:
    kind = type(expected)
    if kind is type(actual):
        if kind in _ATOMS:
            return 1.0 if expected == actual else 0.0
        if kind is float:
            # Infinities, equal in Python, are not JSON: they equal nothing.
            return 1.0 if expected == actual and expected - expected == 0.0 else 0.0
    return equality_score(expected, actual)


def _strict(expected: JsonValue, actual: JsonValue) -> float:
    return 1.0 if strict_equal(expected, actual) else 0.0


def _is_strict(params: Params) -> bool:
    check_names("comparator 'exact'", params, ["strict_number_type"])
    strict = params.get("strict_number_type", False)
    if not isinstance(strict, bool):
        raise ConfigurationError(
            f"comparator 'exact': 'strict_number_type' must be true or false, not {strict!r}"
        )
    return strict


def _bind_exact(params: Params) -> ScalarFunction:
    return _strict if _is_strict(params) else _exact


def _pairwise_exact(params: Params) -> PairFunction:
    strict = _is_strict(params)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import equality_matrix

        return equality_matrix(expected, actual, strict=strict)

    return pairwise


def _sparse_exact(params: Params) -> EdgeFunction:
    strict = _is_strict(params)

    def sparse(expected: Sequence[JsonValue], actual: Sequence[JsonValue], most: int) -> Edges | None:
        from pytest_jsonmatch.engine.compare.tables import equal_edges

        return None if strict else equal_edges(expected, actual, most)

    return sparse


def equal_pairs(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> list[tuple[int, int, float]]:
    """Return the pairs of equal scalars, each scoring 1.

    >>> equal_pairs(["a", "b"], ["b", "c", "b"])
    [(1, 0, 1.0), (1, 2, 1.0)]
    """
    places: dict[object, list[int]] = {}
    for at, value in enumerate(actual):
        places.setdefault(scalar_key(value), []).append(at)
    return [(at, to, 1.0) for at, value in enumerate(expected) for to in places.get(scalar_key(value), ())]


def _few_exact(params: Params) -> FewFunction:
    strict = _is_strict(params)
    return lambda expected, actual: None if strict else equal_pairs(expected, actual)


def _bind_binary(params: Params) -> ScalarFunction:
    check_names("comparator 'binary'", params)
    return _exact


def _pairwise_binary(params: Params) -> PairFunction:
    check_names("comparator 'binary'", params)
    return _pairwise_exact({})


def _few_binary(params: Params) -> FewFunction:
    check_names("comparator 'binary'", params)
    return equal_pairs


def _sparse_binary(params: Params) -> EdgeFunction:
    check_names("comparator 'binary'", params)
    return _sparse_exact({})


EXACT: Final = Comparator("exact", _bind_exact, _pairwise_exact, sparse=_sparse_exact, few=_few_exact)
"""1 for equal JSON values, else 0. `strict_number_type: true` tells 42 from 42.0."""

BINARY: Final = Comparator("binary", _bind_binary, _pairwise_binary, sparse=_sparse_binary, few=_few_binary)
"""1 for equal JSON values, else 0 (source 4's name for it)."""


# oneof


def _oneof_lists(params: Params) -> tuple[str, list[list[JsonValue]]]:
    """Return ("values", [values]) or ("groups", groups) as lists of JSON values, checked."""
    owner = "comparator 'oneof'"
    check_names(owner, params, ["values", "groups"])
    if ("values" in params) == ("groups" in params):
        raise ConfigurationError(
            f"{owner} needs either 'values' (a list that actual must be in) or "
            "'groups' (lists of synonyms that expected and actual must share), and not both"
        )
    if "values" in params:
        return "values", [_json_list(params["values"], f"{owner}: 'values'")]
    groups = params["groups"]
    if not isinstance(groups, (list, tuple)) or not groups:
        raise ConfigurationError(f"{owner}: 'groups' must be a list of lists of synonyms")
    return "groups", [_json_list(group, f"{owner}: each of 'groups'") for group in groups]


def _json_list(values: object, what: str) -> list[JsonValue]:
    if not isinstance(values, (list, tuple, AbstractSet)) or not values:
        raise ConfigurationError(f"{what} must be a list with at least one value")
    try:
        return [to_json_value(value, side="expected") for value in values]
    except JsonMatchError as error:
        raise ConfigurationError(f"{what} must hold JSON values: {error}") from error


def _index(groups: list[list[JsonValue]]) -> Callable[[JsonValue], frozenset[int]]:
    """Return a function that tells which of the groups hold a value."""
    members: dict[object, frozenset[int]] = {}
    containers: list[tuple[JsonValue, int]] = []
    none: frozenset[int] = frozenset()
    for number, group in enumerate(groups):
        for value in group:
            if isinstance(value, (list, dict)):
                containers.append((value, number))
            else:
                key = scalar_key(value)
                members[key] = members.get(key, none) | {number}

    def groups_of(value: JsonValue) -> frozenset[int]:
        kind = type(value)
        if kind is list or kind is dict:
            return frozenset(number for member, number in containers if json_equal(member, value))
        return members.get(scalar_key(value), none)

    return groups_of


def _bind_oneof(params: Params) -> ScalarFunction:
    form, lists = _oneof_lists(params)
    groups_of = _index(lists)

    def among(_expected: JsonValue, actual: JsonValue) -> float:
        return 1.0 if groups_of(actual) else 0.0

    def synonyms(expected: JsonValue, actual: JsonValue) -> float:
        return 1.0 if groups_of(expected) & groups_of(actual) else equality_score(expected, actual)

    return among if form == "values" else synonyms


def _map_oneof(params: Params, function: Callable[[JsonValue], JsonValue]) -> Params:
    form, lists = _oneof_lists(params)
    mapped = [[function(value) for value in values] for values in lists]
    return {form: mapped[0] if form == "values" else mapped}


def in_same_group(params: Params, value: JsonValue) -> bool:
    """Tell whether `value` is in any of the lists of a `oneof`.

    >>> in_same_group({"values": ["CVD", "PVD"]}, "PVD")
    True
    """
    return bool(_index(_oneof_lists(params)[1])(value))


ONEOF: Final = Comparator("oneof", _bind_oneof, null_aware=True, reflexive=False, map_params=_map_oneof)
"""`values`: 1 if actual is among them, whatever expected is. `groups`: 1 if both are in one of these lists of
synonyms, or simply equal. The members are any JSON values, null included."""
