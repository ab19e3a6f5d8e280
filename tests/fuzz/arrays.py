"""Documents full of unordered arrays whose elements are alike, with options and comparators that make pairing hard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import ComparatorResult, compare_json
from tests.conftest import session_registry
from tests.fuzz.documents import is_consistent


def letters(expected, actual, params=None):
    """Letters that two values share, of all that either has."""
    one, other = set(str(expected)), set(str(actual))
    return len(one & other) / len(one | other) if one | other else 1.0


def moody(expected, actual, params):
    """Leave some pairs out, and fail at others."""
    alike = letters(expected, actual)
    if alike == 0.5:
        return ComparatorResult(0.25, skip=True)
    if alike > 0.9 and expected != actual:
        raise ValueError("too alike")
    return alike


class Asked:
    """A batch comparator: until it has answered, what it is to score is worth 1."""

    scope = "record"

    def __call__(self, items):
        return [letters(item.expected_compared, item.actual_compared) for item in items]


@contextmanager
def comparators() -> Iterator[None]:
    """Know these comparators."""
    with session_registry() as registry:
        registry.comparator("letters", letters)
        registry.comparator("moody", moody)
        registry.comparator("asked", Asked())
        yield


# Few values, so that many are equal, alike or tied.
SCALARS = [None, True, False, 0, 1, 1.0, 2.5, 2.5004, 100, "", "a", "a b", "B a", "b c", "tea for two", "tea"]
STRANGE = [float("nan"), float("inf"), float("-inf"), "\ud800", "a \udfff"]
KEYS = st.sampled_from("abc")
SPECS = st.sampled_from(
    [
        *["exact", "levenshtein", "jaccard", "relative", "letters", "moody", "asked"],
        {"threshold": {"threshold": 2}},
    ]
)
RULES = st.one_of(
    st.fixed_dictionaries({"weight": st.sampled_from([0, 0.5, 2])}),
    st.fixed_dictionaries({"compare": SPECS}),
    st.fixed_dictionaries({"transform": st.sampled_from([["lowercase"], ["strip", "sort_tokens"]])}),
    st.just({"skip": True}),
    st.fixed_dictionaries(
        {
            "align": st.sampled_from(
                [
                    {"ordered": True},
                    *({"match_by": "hungarian"}, {"match_by": "sequence"}),
                    {"match_by": "key_field", "key": "a"},
                ]
            )
        }
    ),
)
PATTERNS = st.sampled_from(["[]", "[].a", "[].b", "[].c", "[][]", "[].b[]", "[].c[].a", "**.a", "**.b[]"])
ACCEPTED = st.sampled_from(
    [
        {"optional": True},
        {"values": ["a", "b"], "optional": True},
        ["tea", None, 1, "a b"],
        ["tea", [], {"a": 1}],
        [["a"], {"a": "b"}],
        {"type": ["array", "null"]},
        {"regex": "t.*"},
    ]
)


OPTIONS = st.fixed_dictionaries(
    {"arrays": st.just("unordered")},
    optional={
        "accept": st.dictionaries(PATTERNS, ACCEPTED, min_size=1, max_size=2),
        "extra": st.sampled_from(["count", "ignore", "elements"]),
        "empties": st.sampled_from(["leaf", "if_absent", "never"]),
        "nulls": st.sampled_from(["value", "absent"]),
        "absent": st.sampled_from([[], ["", "t", []], [0, {}, None]]),
        "reduce": st.sampled_from(["f1", "ratio"]),
        "leaf_threshold": st.sampled_from([0.3, 0.5]),
        "match_threshold": st.sampled_from([0.3, 0.7]),
        "array_threshold": st.sampled_from([0.3, 0.5]),
        "compare": st.dictionaries(st.sampled_from(["string", "number"]), SPECS, min_size=1),
        "fields": st.dictionaries(PATTERNS, RULES, min_size=1, max_size=3),
    },
).filter(is_consistent)
KINDS = [
    {"properties": {"a": {"const": "a"}, "b": {"x-eval-weight": 3}, "c": {}}, "required": ["a"]},
    {"properties": {"a": {"x-eval-skip": True}, "b": {"items": {"x-eval-compare": "letters"}}, "c": {}}},
    {"type": "array", "items": {"x-eval-weight": 2}},
    {"type": "string", "x-eval-compare": "jaccard"},
]
PAIRED = {"x-eval-align": {"match_by": "hungarian"}}
ALTERNATIVES = {"type": "array", "items": {"oneOf": KINDS}, **PAIRED}
WEIGHED = {
    "anyOf": [
        {"type": "string", "x-eval-weight": 3},
        {"type": "object", "x-eval-weight": 2},
        {"type": "array", "items": {"anyOf": [{"type": "string", "x-eval-weight": 2}, {}]}, **PAIRED},
        {"x-eval-weight": 0.5},
    ]
}
HEAVY_TEXTS = {"type": "array", "items": {"anyOf": [{"type": "string", "x-eval-weight": 2}, {}]}}
SCHEMAS = [
    ALTERNATIVES,
    {"type": "array", "items": WEIGHED, **PAIRED},
    {"type": "array", "items": {"properties": dict.fromkeys("abc", WEIGHED)}, **PAIRED},
]


def elements(scalars):
    records = st.fixed_dictionaries(
        {}, optional={"a": scalars, "b": st.lists(scalars, max_size=3), "c": st.lists(scalars, max_size=2)}
    )
    lists = st.fixed_dictionaries({"a": scalars}, optional={"b": scalars, "c": st.lists(records, max_size=3)})
    anything = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=6,
    )
    return records | lists | anything


class DirtyEquals:
    """A matcher that accepts null and true, and raises for strings; matchers are known by this name."""

    def __eq__(self, other):
        if type(other) is str:
            raise RuntimeError(other)
        return other is None or other is True

    __hash__ = object.__hash__


# None accepts an object or array: of two that it accepts, one may leave more leaves without a partner, and
# no rule says which of such pairings is taken.
MATCHERS = compare_json([], [re.compile("t.*|a"), pytest.approx(2.5, abs=1e-3), DirtyEquals()]).documents[0]
EXPECTED = st.lists(elements(st.sampled_from(SCALARS + MATCHERS)), min_size=1, max_size=4)
ACTUAL = st.lists(elements(st.sampled_from(SCALARS + STRANGE)), min_size=1, max_size=4)


@st.composite
def options(draw):
    more = {"schema": draw(st.sampled_from(SCHEMAS)), "unlisted": "extra"}
    return {**draw(OPTIONS), **(more if draw(st.integers(0, 4)) == 0 else {})}


DOCUMENTS = st.lists(elements(st.sampled_from(SCALARS)), max_size=4) | st.dictionaries(
    KEYS, elements(st.sampled_from(SCALARS)), max_size=3
)
ANSWERS = st.lists(elements(st.sampled_from(SCALARS + STRANGE)), max_size=4) | st.dictionaries(
    KEYS, elements(st.sampled_from(SCALARS + STRANGE)), max_size=3
)
METRICS = st.sampled_from(["leaf_f1", "pairwise_f1", "json_similarity", "field_match"])
ARRAYS = st.sampled_from(["ordered", "unordered", {"key": "a"}])
