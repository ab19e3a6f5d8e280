"""Equality of values, of their converted forms or of their members; `exact`, `binary` and `oneof`."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.parameters import read_flag, read_json_list
from pytest_jsonmatch.engine.comparators.transforms import map_scalars
from pytest_jsonmatch.engine.value.equality import json_equal, make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from pytest_jsonmatch.engine.comparators.base import Formula, Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

Form = TypeVar("Form")

# Longer texts are not dates, amounts, or numbers of any kind; parsing them would only take time.
_MAX_LENGTH: Final = 100
NO_TOKEN: Final = frozenset({object()})
"""The token that all texts without tokens share."""


def score_equality(expected: JsonValue, actual: JsonValue) -> float:
    """Return 1.0 for equal JSON values, else 0.0; built-ins use this for types that they don't compare.

    >>> score_equality([1, "a"], [1.0, "a"]), score_equality(True, 1)
    (1.0, 0.0)
    """
    return 1.0 if json_equal(expected, actual) else 0.0


def make_equality(make_key: Callable[[JsonValue], Hashable]) -> Scoring:
    """Return a scoring that scores 1 if `make_key` returns equal keys for two values, else 0.

    >>> first_letter = make_equality(lambda text: text[:1])
    >>> first_letter.score("Bern", "Berlin"), first_letter.table(["Bern", "Rome"], ["Berlin"]).tolist()
    (1.0, [[1.0], [0.0]])
    """

    def score(expected: JsonValue, actual: JsonValue) -> float:
        return 1.0 if make_key(expected) == make_key(actual) else 0.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_equality_table

        return make_equality_table(expected, actual, make_key)

    # Each value has its key as only member.
    by_members = make_set_scoring(lambda value: frozenset({make_key(value)}), score_any_shared)
    return replace(by_members, score=score, table=table, key=make_key)


def make_set_scoring(members: Callable[[JsonValue], frozenset[Hashable]], formula: Formula) -> Scoring:
    """Return a scoring of values by the number of members that they share.

    Args:
        members: returns the members of a value, at least one.
        formula: returns the score of two values that share a member, given the numbers of members that they
            share and that each has (or arrays of these numbers). Values without a shared member score 0.

    >>> letters = make_set_scoring(frozenset, compute_jaccard)
    >>> letters.score("abc", "ab"), letters.rows(["abc", "d"], ["ab", "x"])
    (0.6666666666666666, [{0: 0.6666666666666666}, {}])
    """

    def score(expected: JsonValue, actual: JsonValue) -> float:
        one, other = members(expected), members(actual)
        return 0.0 if one.isdisjoint(other) else formula(len(one & other), len(one), len(other))

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        import numpy as np

        from pytest_jsonmatch.engine.comparators.scoretables import count_shared_members, split_rows

        left, right = list(map(members, expected)), list(map(members, actual))
        shared = count_shared_members(left, right)
        sizes, others = (np.array(list(map(len, sets)), dtype=np.float64) for sets in (left, right))
        for part in split_rows(*shared.shape):
            shared[part] = formula(shared[part], sizes[part, None], others)
        return shared

    def related(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Any:
        from pytest_jsonmatch.engine.comparators.scoretables import score_overlaps

        return score_overlaps(list(map(members, expected)), list(map(members, actual)), formula)

    def rows(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> list[dict[int, float]]:
        # Only consider pairs that share a member; most do not.
        owners: dict[Hashable, list[int]] = {}
        sizes: list[int] = []
        for to, other in enumerate(map(members, actual)):
            sizes.append(len(other))
            for member in other:
                owners.setdefault(member, []).append(to)
        scores: list[dict[int, float]] = []
        for one in map(members, expected):
            size = len(one)
            shared: dict[int, int] = {}
            for member in one:
                for to in owners.get(member, ()):
                    shared[to] = shared.get(to, 0) + 1
            scores.append({to: formula(number, size, sizes[to]) for to, number in shared.items()})
        return scores

    return Scoring(score, table, rows=rows, related=related)


def compute_jaccard(shared: Any, one: Any, other: Any) -> Any:
    """Return the number of shared members divided by the number of all members."""
    return shared / (one + other - shared)


def score_any_shared(shared: Any, _one: Any, _other: Any) -> Any:
    """Return 1 if the values share a member, else 0."""
    return 1.0 * (shared > 0)


def make_string_scoring(
    score_strings: Callable[[str, str], float], score_block: Callable[[Sequence[str], Sequence[str]], Matrix]
) -> Scoring:
    """Return a scoring of strings by `score_strings`, of lists by `score_block`, and else by equality."""

    def score(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is str and type(actual) is str:
            return score_strings(expected, actual)
        return score_equality(expected, actual)

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_string_table

        return make_string_table(expected, actual, score_block)

    return Scoring(score, table)


def make_text_reader(read: Callable[[str], Form | None]) -> Callable[[JsonValue], Form | None]:
    """Return a function that reads texts with `read`, and integers by their digits; None for other values.

    `read` gets short texts without white space at the ends, and its results are cached. Integers are read
    because years and ISBNs are often written as integers.

    >>> reader = make_text_reader(str.upper)
    >>> reader(" ab "), reader(20260131), reader(["ab"])
    ('AB', '20260131', None)
    """
    cached_read = lru_cache(maxsize=4096)(read)

    def read_value(value: JsonValue) -> Form | None:
        kind = type(value)
        if kind is str:
            return cached_read(value.strip()) if len(value) <= _MAX_LENGTH else None
        return cached_read(str(value)) if kind is int and 0 <= value < 10**18 else None

    return read_value


def compare_forms(read: Callable[[JsonValue], Hashable | None]) -> Scoring:
    """Return a scoring that scores 1 for equal forms, else 0; values without a form are compared unchanged.

    >>> compare_forms(make_text_reader(lambda text: text.lower() if text.isalpha() else None)).score("A", "a")
    1.0
    """

    def key(value: JsonValue) -> Hashable:
        form = read(value)
        return make_json_key(value) if form is None else (compare_forms, form)

    return make_equality(key)


# exact, binary

_EQUALITY: Final = make_equality(make_json_key)
_STRICT: Final = make_equality(partial(make_json_key, strict=True))


def _make_exact(params: Params) -> Scoring:
    strict = read_flag("comparator 'exact': 'strict_number_type'", params.get("strict_number_type", False))
    return _STRICT if strict else _EQUALITY


EXACT: Final = Comparator("exact", _make_exact, ("strict_number_type",))
"""1 for equal JSON values, else 0. `strict_number_type: true` distinguishes 42 from 42.0."""

BINARY: Final = Comparator("binary", lambda _: _EQUALITY, ())
"""`exact` under the name that source 4 uses."""


# oneof


def _read_groups(params: Params) -> list[list[JsonValue]]:
    """Check and return the groups of a `oneof`; `values` are a single group."""
    owner = "comparator 'oneof'"
    if ("values" in params) == ("groups" in params):
        raise ConfigurationError(
            f"{owner} needs either 'values' (a list that actual must be in) or "
            "'groups' (lists of synonyms that expected and actual must share), and not both"
        )
    if "values" in params:
        return [read_json_list(f"{owner}: 'values'", params["values"])]
    groups = params["groups"]
    if not isinstance(groups, (list, tuple)) or not groups:
        raise ConfigurationError(f"{owner}: 'groups' must be a list of lists of synonyms")
    return [read_json_list(f"{owner}: each of 'groups'", group) for group in groups]


def _make_lookup(groups: list[list[JsonValue]]) -> Callable[[JsonValue], frozenset[Hashable]]:
    """Return a function that returns the numbers of the groups that contain a value."""
    members: dict[Hashable, frozenset[Hashable]] = {}
    for number, group in enumerate(groups):
        for key in map(make_json_key, group):
            members[key] = members.get(key, frozenset()) | {number}
    return lambda value: members.get(make_json_key(value), frozenset())


def _make_oneof(params: Params) -> Scoring:
    find_groups = _make_lookup(_read_groups(params))
    if "groups" in params:
        # Each value is also in a group of its own, so that equal values match even if they are in no other.
        return make_set_scoring(
            lambda value: find_groups(value) | {(make_json_key(value),)}, score_any_shared
        )

    def among(_expected: JsonValue, actual: JsonValue) -> float:
        return 1.0 if find_groups(actual) else 0.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        import numpy as np

        return np.tile([among(None, value) for value in actual], (len(expected), 1))

    return Scoring(among, table)


def _map_oneof(params: Params, function: Callable[[JsonValue], JsonValue]) -> Params:
    mapped = [[map_scalars(value, function) for value in group] for group in _read_groups(params)]
    return {"groups": mapped} if "groups" in params else {"values": mapped[0]}


ONEOF: Final = Comparator("oneof", _make_oneof, ("values", "groups"), reflexive=False, map_params=_map_oneof)
"""`values`: 1 if actual is one of them, whatever expected is. `groups`: 1 if both are in one of the lists of
synonyms, or are equal. Members can be any JSON values, including null."""

COMPARATORS: Final = (EXACT, BINARY, ONEOF)
"""The comparators of this module."""
