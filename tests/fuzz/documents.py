"""Pairs of JSON documents, and random options and schemas under which they can be compared."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import JsonMatchError, compare_json
from pytest_jsonmatch.schema import infer_schema
from tests.fuzz.comparators import REFLEXIVE, VARIANTS, as_rule

METRICS = st.sampled_from(
    ["field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1"]
)

# Few values beside any, so that many are equal, alike or tied.
scalars = (
    st.sampled_from(
        [None, True, False, 0, 1, 1.0, -0.0, 2.5, 2.5004, 100, 10**400, "", "a", "a b", "B a", "b c"]
    )
    | st.sampled_from(
        ["é", "e\u0301", "Straße", "12", "$1,200.50", "2024-01-31", "31.1.24", "\ud800", "(a", "x" * 99]
    )
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
keys = st.sampled_from(["a", "b", "c", "id", "a b", "x.y", "", "*", "é"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=14,
)
objects = st.dictionaries(keys, values, max_size=4)
nonfinite = st.sampled_from([float("nan"), float("inf"), -float("inf")])


def changed(draw, value):
    """The value with some of its parts lost, added, exchanged or in another order, as an answer has them."""
    what = draw(st.integers(0, 9))
    if what == 0:
        return draw(values | nonfinite)
    if isinstance(value, dict):
        kept = {key: changed(draw, item) for key, item in value.items() if draw(st.integers(0, 7))}
        return {**kept, **draw(objects)} if what == 1 else dict(draw(st.permutations(list(kept.items()))))
    if isinstance(value, list):
        kept = [changed(draw, item) for item in value if draw(st.integers(0, 7))]
        return draw(st.permutations([*kept, *draw(st.lists(values, max_size=2))] if what == 1 else kept))
    return value if what > 4 else draw(scalars)


@st.composite
def pairs(draw, expected=objects | values):
    """Expected data, and an answer that is mostly like it."""
    one = draw(expected.filter(lambda value: not isinstance(value, str)))  # a text would be read as JSON
    other = changed(draw, one) if draw(st.booleans()) else draw(objects | values)
    return one, other


COMPARATORS = [*map(as_rule, VARIANTS), "regex", {"oneof": {"values": ["a", 1, None]}}]
REFLEXIVE_COMPARATORS = [*map(as_rule, REFLEXIVE)]
# Comparators that give two sides the same whichever is expected and decides, by its type, which comparator it is.
FAIR = ["exact", "binary", "levenshtein", "jaccard", "normalized_text", {"threshold": {"threshold": 2}}]
FAIR += [{"numeric": {"tolerance": {"abs": 0.5}}}, {"oneof": {"groups": [["a", "b c", 1], ["é", 2.5]]}}]
TRANSFORMS = ["lowercase", "strip", "sort_tokens", "strip_accents", "casefold", "strip_punctuation"]
TRANSFORMS += [
    {"round_digits": {"digits": 1}},
    {"type_convert": {"to": "number"}},
    {"unicode": {"form": "NFKD"}},
]
ALIGNMENTS = ["ordered", "unordered", {"match_by": "hungarian"}]
PATTERNS = ["a", "b", "c.a", "a[]", "[]", "[].a", "**.id", "*", "**.b[]", '["a b"]', '["x.y"].a', "$"]


def transforms():
    return st.lists(st.sampled_from(TRANSFORMS), min_size=1, max_size=2)


def rules(comparators, alignments):
    several = {
        "weight": st.sampled_from([0, 0.5, 3, 1e6]),
        "skip": st.booleans(),
        "transform": transforms(),
        "compare": st.sampled_from(comparators),
        "align": st.sampled_from(alignments),
    }
    return st.fixed_dictionaries({}, optional=several if alignments else {**several, "align": st.nothing()})


predicates = st.fixed_dictionaries(
    {},
    optional={
        "values": st.lists(values, max_size=2),
        "optional": st.booleans(),
        "regex": st.sampled_from(["a.*", "[0-9]+", ""]),
        "range": st.sampled_from([[0, 2], [1, 1.5]]),
        "type": st.sampled_from(["string", "number", "array"]),
        "any": st.booleans(),
    },
)
ACCEPTED = {
    "accept": st.dictionaries(
        st.sampled_from(PATTERNS), st.lists(values, min_size=1, max_size=2) | predicates, max_size=2
    )
}


def is_consistent(options):
    """Return whether options can be given together."""
    both = options.get("extra") in {"count", "elements"} and options.get("reduce") == "ratio"
    return not both and not {"leaf_threshold", "match_threshold"} <= options.keys()


def options(comparators, alignments, **more):
    """Options of a metric, of which each may be left out."""
    types = st.sampled_from(["string", "number", "integer", "boolean"])
    return st.fixed_dictionaries(
        {"metric": METRICS},
        optional={
            "root": st.just("any"),
            "granularity": st.sampled_from(["leaves", "fields"]),
            "arrays": st.sampled_from(alignments),
            "array_threshold": st.sampled_from([0, 0.3, 0.5]),
            "empties": st.sampled_from(["leaf", "if_absent", "never"]),
            "nulls": st.sampled_from(["value", "absent"]),
            "absent": st.lists(values, max_size=3),
            "reduce": st.sampled_from(["f1", "ratio"]),
            "extra": st.sampled_from(["count", "ignore", "elements"]),
            "unlisted": st.sampled_from(["extra", "reject"]),
            "leaf_threshold": st.sampled_from([0.3, 0.5]),
            "match_threshold": st.sampled_from([0.3, 0.7]),
            "compare": st.dictionaries(types, st.sampled_from(comparators), max_size=2),
            "transform": transforms(),
            "fields": st.dictionaries(st.sampled_from(PATTERNS), rules(comparators, alignments), max_size=3),
            **more,
        },
    ).filter(is_consistent)


def schema_for(draw, comparators, *documents):
    """A schema that some documents fit, with rules here and there."""
    schema = infer_schema([copy.deepcopy(document) for document in documents])
    waiting = [schema]
    for node in waiting:
        if draw(st.integers(0, 3)) == 0:
            said = draw(rules(comparators, ["ordered", "unordered"]))
            node.update({f"x-eval-{word}": value for word, value in said.items() if word != "align"})
        if "items" in node and draw(st.booleans()):
            node["x-eval-align"] = draw(st.sampled_from([{"ordered": True}, {"match_by": "hungarian"}]))
        waiting += [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else [])]
    return schema


def compared(actual, expected, given):
    """The result of a comparison; None if the options, or a side of it, are refused by an error of ours."""
    try:
        return compare_json(actual, expected, **given)
    except JsonMatchError:
        return None


def scores_of(result):
    return (result.score, result.precision, result.recall, result.f1)


def near(one, other):
    return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(one, other, strict=True))


WORDS = [
    "compare", "skip", "weight", "align", "exact", "numeric", "tolerance", "rel", "unordered", "key", "type", "properties",
    "items", "x-eval-compare", "x-eval-align", "$ref", "#", "anyOf", "string", "object", "a", "a[",
]  # fmt: skip


def reordered(draw, value, *, arrays):
    if isinstance(value, dict):
        items = [(key, reordered(draw, item, arrays=arrays)) for key, item in value.items()]
        return dict(draw(st.permutations(items)))
    if isinstance(value, list):
        items = [reordered(draw, item, arrays=arrays) for item in value]
        return draw(st.permutations(items)) if arrays else items
    return value


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keep what is asserted out of the summary of the run of pytest that is going on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_jsonmatch.comparing.running._RUNS", [])
        yield
