"""Path patterns that fit no place, and the paths that they were likely meant to be."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import JsonMatchWarning, compare_corpus, compare_json
from pytest_jsonmatch.schema import parse_eval_schema
from tests.laws import law

ANSWER = {"total": 1, "items": [{"price": 2}, {"tags": ["x"]}], "meta": {"unit price": 3}}


@pytest.mark.parametrize(
    "pattern",
    [
        "$",
        "total",
        "items",
        "items[]",
        "items[].tags[]",
        "items[].*",
        "**.price",
        "**",
        'meta["unit price"]',
        "*.*",
    ],
)
def test_places_are_leaves_and_containers(pattern):
    assert compare_json(ANSWER, ANSWER).unmatched([pattern]) == []


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("totl", "total"),
        ("items.price", "items[].price"),
        ("items[].pricee", "items[].price"),
        ("total[]", "total"),
        ("**.prise", "items[].price"),
        ("items[].*.price", "items[].price"),
        ("entirely[].different", None),
    ],
)
def test_patterns_that_fit_no_place(pattern, near):
    result = compare_json(ANSWER, ANSWER)
    assert result.unmatched([pattern]) == [pattern]
    assert result.nearest_path(pattern) == near


def test_only_a_corpus_warns_of_a_pattern_without_a_match():
    document, fields = {"items": [{"a": 1}]}, {"items.a": {"weight": 2}}
    result = compare_json(document, document, fields=fields)
    assert (result.warnings, result.unmatched(fields)) == ((), ["items.a"])
    with pytest.warns(JsonMatchWarning, match=r"^fields: 'items\.a' matches nothing .*'items\[\]\.a'\?$"):
        compare_corpus([document], [document], fields=fields)


def test_each_side_and_the_schema_count():
    schema = parse_eval_schema(
        {
            "properties": {
                "a": {"type": "integer"},
                "s": {"anyOf": [{"type": "null"}, {"properties": {"t": {}}}]},
            },
            "additionalProperties": {"properties": {"any": {}}},
        }
    )
    result = compare_json({"a": 1, "b": 2}, {"a": 1, "c": 3}, schema=schema)
    assert result.unmatched(["a", "b", "c", "s", "s.t", "x", "x.any", "x.other", "*.any"]) == ["x.other"]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("a", "it is not an object"),
        ({"idd": 1}, "'id' is missing"),
        ({"id": None}, "'id' is null"),
        ({"id": True}, "'id' is a boolean"),
        ({"id": [1]}, "'id' is an array"),
        ({"id": {}}, "'id' is an object"),
        ({"id": 1.0}, "'id' is a duplicate"),
    ],
)
def test_elements_that_cannot_pair_by_their_key_are_reported(element, reason):
    answer = {"tags": [{"id": 1}, element, element], "empty": []}
    fields = {name: {"align": {"key": "id"}} for name in ("tags", "empty")}
    message = (
        "tags: elements are paired by their member 'id'; 2 elements of {} can't be paired, "
        f"the first is tags[1]: {reason}"
    )
    both = message.format("expected"), message.format("actual")
    result = compare_json(answer, answer, fields=fields)
    assert (result.score < 1, result.warnings) == (True, both)
    run = compare_corpus([answer], [answer], fields=fields)
    assert [str(each) for each in run.warnings] == [f"record 1: {each}" for each in both]
    if isinstance(element, dict):
        assert compare_json(answer["tags"], answer["tags"], arrays={"key": "id"}).warnings
    fine = {"tags": [{"id": 1}, {"id": "1"}, {"id": 2}]}
    assert compare_json(fine, {"tags": [{"id": 3}]}, fields=fields).warnings == ()


def test_an_infinite_key_pairs_no_element():
    fields = {"tags": {"align": {"key": "id"}}}
    (warning,) = compare_json({"tags": [{"id": math.inf}]}, {"tags": [{"id": 1}]}, fields=fields).warnings
    assert warning.endswith(
        "1 element of actual can't be paired, the first is tags[0]: 'id' is not a finite number"
    )


def test_a_schema_that_holds_itself():
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}, "v": {}}}}}
    result = compare_json({"v": 1}, {"v": 1}, schema=schema)
    assert result.unmatched(["n.n.n.v", "**.v", "n.n.w", "**.w"]) == ["n.n.w", "**.w"]


values = st.recursive(
    st.integers(0, 1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)


def paths_of(value):
    yield ()
    if isinstance(value, dict):
        yield from ((key, *path) for key, child in value.items() for path in paths_of(child))
    if isinstance(value, list):
        yield from (("[]", *path) for child in value for path in paths_of(child))


def matches(steps, path):
    """Whether the steps of a pattern are those of a path, written once more as plainly as can be."""
    if not steps:
        return not path
    first, *more = steps
    if first == "**":
        return any(matches(more, path[at:]) for at in range(len(path) + 1))
    return bool(path) and (path[0] == first or (first == "*" and path[0] != "[]")) and matches(more, path[1:])


@law(values, st.lists(st.sampled_from(["a", "b", "[]", "*", "**"]), min_size=1, max_size=4))
def test_a_pattern_fits_if_it_matches_the_path_of_a_place(value, steps):
    pattern = "$" + "".join(step if step == "[]" else f".{step}" for step in steps)
    unmatched = compare_json(value, value).unmatched([pattern])
    assert (unmatched == []) == any(matches(steps, list(path)) for path in paths_of(value))
