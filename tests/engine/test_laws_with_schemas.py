"""Laws of scoring under eval schemas, and of arrays big enough to be compared by column."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from pytest_jsonmatch import compare_json
from tests.conftest import share

TREE_METRICS = ["pairwise_f1", "leaf_f1"]
quiet = settings(
    max_examples=share(60),
    suppress_health_check=[HealthCheck.filter_too_much],
)

# Few values, so that many are equal and many arrays hold twins.
SCALARS = st.sampled_from([0, 1, 1.0, 2.5, "a", "a b", "B a", " b", "", None, True, False, 10**400])
PLAIN_RULES = {
    "x-eval-weight": st.sampled_from([0, 0.5, 2]),
    "x-eval-skip": st.sampled_from([True, False, False]),
    "x-eval-transform": st.sampled_from([["lowercase"], ["strip", "sort_tokens"]]),
}
# An empty array is a leaf, and one full of what is skipped or weighs nothing has none: there junk takes a leaf away.
COUNTED = {"x-eval-weight": st.sampled_from([0.5, 2]), "x-eval-transform": PLAIN_RULES["x-eval-transform"]}
ENUM = {"enum": st.just(["a", "a b", 1, None])}
COMPARE = {
    "x-eval-compare": st.sampled_from(["exact", "levenshtein", "jaccard", {"threshold": {"threshold": 2}}])
}
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "x", "y z"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def schemas(draw, depth=3, plain=PLAIN_RULES, **more) -> dict[str, Any]:
    kind = draw(st.sampled_from(["leaf", "object", "array", "object", "open"])) if depth else "leaf"
    if kind == "leaf":
        types = st.sampled_from(
            ["string", "number", "integer", ["string", "null"], ["number", "string", "boolean"]]
        )
        return {"type": draw(types), **draw(st.fixed_dictionaries({}, optional={**plain, **ENUM, **more}))}
    rules = draw(st.fixed_dictionaries({}, optional=plain))
    if kind == "open":
        return {"type": ["object", "array"], **rules}
    below = schemas(depth=depth - 1, plain=plain, **more)
    if kind == "array":
        return {"type": "array", "items": draw(below), **rules}
    keys = draw(st.lists(st.sampled_from(["a", "b", "c.d", "e f"]), min_size=1, unique=True))
    return {"type": "object", "properties": {key: draw(below) for key in keys}, **rules}


@st.composite
def documents(draw, schema, *, loose=True):
    """A value that holds nothing outside the schema, now and then of another type than it says."""
    if "properties" in schema and not (loose and draw(st.integers(0, 9)) == 0):
        keys = [key for key in schema["properties"] if draw(st.integers(0, 4))]
        return {key: draw(documents(schema["properties"][key])) for key in keys}
    if "items" in schema and not (loose and draw(st.integers(0, 9)) == 0):
        return [draw(documents(schema["items"])) for _ in range(draw(st.integers(0, 4)))]
    return draw(JSON if schema["type"] == ["object", "array"] else SCALARS)


def drawn(data, **rules):
    schema = data.draw(schemas(**rules))
    expected = data.draw(documents(schema))
    actual = data.draw(st.just(copy.deepcopy(expected)) | documents(schema))
    assume(not isinstance(expected, str) and not isinstance(actual, str))  # text would be read as JSON
    return schema, expected, actual


def figures(result):
    return pytest.approx((result.precision, result.recall, result.f1), abs=1e-9)


@pytest.mark.parametrize("arrays", ["ordered", "unordered"])
@pytest.mark.parametrize("metric", TREE_METRICS)
@quiet
@given(st.data())
def test_swapping_the_sides_swaps_precision_and_recall(metric, arrays, data):
    schema, one, other = drawn(data, **COMPARE)
    forth = compare_json(one, other, metric=metric, schema=schema, arrays=arrays)
    back = compare_json(other, one, metric=metric, schema=schema, arrays=arrays)
    assert (back.recall, back.precision, back.f1) == figures(forth)


@pytest.mark.parametrize("extra", ["count", "ignore"])
@pytest.mark.parametrize("metric", TREE_METRICS)
@quiet
@given(st.data(), st.randoms(use_true_random=False))
def test_shuffling_unordered_arrays_at_any_depth_changes_no_figure(shuffled, metric, extra, data, rng):
    schema, expected, actual = drawn(data, **COMPARE)
    options = {"metric": metric, "schema": schema, "arrays": "unordered", "extra": extra}
    before = compare_json(actual, expected, **options)
    after = compare_json(shuffled(actual, rng), shuffled(expected, rng), **options)
    assert (after.precision, after.recall, after.f1) == figures(before)


def scalars(value, schema):
    """How many scalars stand in the value where the schema does not skip them."""
    if schema.get("x-eval-skip"):
        return 0
    if isinstance(value, dict):
        return sum(scalars(item, schema.get("properties", {}).get(key, {})) for key, item in value.items())
    if isinstance(value, list):
        return sum(scalars(item, schema.get("items", {})) for item in value)
    return 1


@pytest.mark.parametrize("arrays", ["ordered", "unordered"])
@pytest.mark.parametrize("metric", TREE_METRICS)
@quiet
@given(st.data())
def test_every_scalar_on_either_side_is_counted_once(metric, arrays, data):
    schema, expected, actual = drawn(data)
    if metric == "leaf_f1":
        # What the schema does not list is counted as well: one hallucination for each leaf.
        actual = data.draw(st.just(actual) | JSON)
        assume(not isinstance(actual, str))
    result = compare_json(actual, expected, metric=metric, schema=schema, arrays=arrays, empties="never")
    assert sum(field.expected_leaves for field in result.field_results) == scalars(expected, schema)
    assert sum(field.actual_leaves for field in result.field_results) == scalars(actual, schema)


def containers(value):
    if isinstance(value, (dict, list)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


@pytest.mark.parametrize("junk", [1, "junk", {"a": 1}, [None, {"x": 2}], {}], ids=str)
@quiet
@given(st.data())
def test_without_unordered_arrays_junk_never_raises_precision(junk, data):
    schema, expected, actual = drawn(data, plain=COUNTED, **COMPARE)
    places = list(containers(actual))
    assume(places)
    place = data.draw(st.sampled_from(places))
    if isinstance(place, list):
        # What is added then stands beyond all that expected can have here, four elements at most.
        place.extend(["pad"] * 4)
    before = compare_json(actual, expected, metric="leaf_f1", schema=schema)
    if isinstance(place, list):
        place.append(junk)
    else:
        place["junk"] = junk
    after = compare_json(actual, expected, metric="leaf_f1", schema=schema)
    assert after.precision <= before.precision + 1e-12


def members_of(value, path=""):
    """The path of each member of an object, with the object and its key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}".removeprefix(".") if key.isidentifier() else f"{path}[{json.dumps(key)}]"
            yield here, value, key
            yield from members_of(inner, here)
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from members_of(inner, f"{path}[{at}]")


@pytest.mark.parametrize("metric", TREE_METRICS)
@quiet
@given(st.data())
def test_without_unordered_arrays_losing_a_correct_leaf_never_raises_recall(metric, data):
    schema, expected, actual = drawn(data, **COMPARE)
    options = {"metric": metric, "schema": schema, "arrays": "ordered"}
    before = compare_json(actual, expected, **options)
    members = {path: place for path, *place in members_of(actual)}
    right = [
        field.actual_path
        for field in before.field_results
        if field.status == "match" and field.actual_path in members
    ]
    assume(right)
    holder, key = members[data.draw(st.sampled_from(right))]
    del holder[key]
    assert compare_json(actual, expected, **options).recall <= before.recall + 1e-12


# -- by column or pair by pair -----------------------------------------------------------------------------------

WORDS = [
    "red",
    "blue",
    "car",
    "bus",
    "Straße",
    "STRASSE",
    "é",
    "e\u0301",
    "12",
    "12.5",
    "2024-01-31",
    "31 Jan 2024",
]
NUMBERS = [0, 1, 2, 2.5, 2.5001, 100, 101, -7, 2**53, 2**53 + 1, 10**400, 1e300, 1e-13]
COLUMNS = {
    "exact": WORDS + NUMBERS,
    "binary": WORDS + NUMBERS,
    "levenshtein": WORDS,
    "jaccard": WORDS,
    "normalized_text": WORDS,
    "contains": WORDS,
    "date": WORDS,
    "amount": ["5 EUR", "€5", "5", "$5", "1,234.5", "1.234,5", "1,234", 5, 1234.5, "5 kg", *WORDS[-4:]],
    "identifier": ["0-306-40615-2", "9780306406157", "080442957X", "x", *WORDS[:3]],
    "phone": ["+49 30 123456", "+4930123456", "030 123456", *WORDS[:3]],
    "numeric": NUMBERS + WORDS[-4:],
    "relative": NUMBERS,
    "numeric rel": NUMBERS,
    "threshold": NUMBERS,
    "oneof": WORDS + NUMBERS,
}
SPECS = {
    "numeric rel": {"numeric": {"tolerance": {"rel": 0.02}}},
    "threshold": {"threshold": {"threshold": 3, "difference_penalty_weighting": 2}},
    "identifier": {"identifier": {"kind": "isbn"}},
    "oneof": {"oneof": {"groups": [["red", "blue", 1], ["car", "bus", 2.5]]}},
}


def side(rng, values, size):
    """Objects of two columns and a third that only some have; strings are two words, so that they are half alike."""

    def one():
        value = rng.choice(values)
        other = rng.choice(values)
        return f"{value} {other}" if isinstance(value, str) and isinstance(other, str) else value

    return [
        {
            "v": one(),
            "w": rng.choice(values),
            **({"n": rng.choice([1, 2, None])} if rng.random() < 0.7 else {}),
        }
        for _ in range(size)
    ]


@pytest.mark.parametrize("explicit", [True, False], ids=["explicit", "by type"])
@pytest.mark.parametrize("comparator", COLUMNS)
def test_arrays_by_column_score_as_pairs_one_by_one(comparator, explicit):
    rng = random.Random(comparator)
    expected, actual = side(rng, COLUMNS[comparator], 40), side(rng, COLUMNS[comparator], 35)
    spec = SPECS.get(comparator, comparator)
    rule = {"x-eval-compare": spec} if explicit else {}
    items = {"type": "object", "properties": {"v": rule, "w": rule, "n": {}}}
    options = {"metric": "leaf_f1"} if explicit else {"metric": "leaf_f1", "compare": spec}
    schema = {"type": "array", "items": items, "x-eval-align": {"match_by": "hungarian"}}
    result = compare_json(actual, expected, schema=schema, **options)

    alone = [[compare_json(a, e, schema=items, **options) for a in actual] for e in expected]
    pairs, twins = set(), 0
    for field in result.field_results:
        if field.expected_path and field.actual_path:
            i, j = (int(path[1 : path.index("]")]) for path in (field.expected_path, field.actual_path))
            pairs.add((i, j))
            (same,) = [one for one in alone[i][j].field_results if one.path == field.path[3:]]
            assert (field.score, field.status) == (pytest.approx(same.score, abs=1e-12), same.status)
    # Equal elements are paired first; the rest is worth what the best assignment of single numbers is.
    free_actual = list(range(len(actual)))
    free_expected = []
    for i, value in enumerate(expected):
        twin = next((j for j in free_actual if typed(actual[j]) == typed(value)), None)
        if twin is None:
            free_expected.append(i)
        else:
            free_actual.remove(twin)
            twins += alone[i][twin].f1
    worth = [[alone[i][j].f1 for j in free_actual] for i in free_expected]
    best = sum(worth[i][j] for i, j in zip(*linear_sum_assignment(worth, maximize=True), strict=True))
    total = math.fsum(alone[i][j].f1 for i, j in pairs)
    assert total == pytest.approx(twins + best, abs=1e-9)


def typed(value):
    return sorted(
        (key, type(item) in {int, float}, item) for key, item in value.items() if item is not None
    ), [key for key, item in value.items() if item is None]
