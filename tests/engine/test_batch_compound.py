"""Compound comparators: sibling fields scored as one."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import CompoundComparator, ConfigurationError, compare_json
from tests.conftest import session_registry

RULES = {
    "**.last": {"compare": {"full_name": {"role": "surname"}}},
    "**.first": {"compare": {"full_name": {"role": "given"}}},
}


def same_words(expected, actual, params):
    one, other = (
        " ".join(str(value) for value in side.values() if value is not None).split()
        for side in (expected, actual)
    )
    return sorted(one) == sorted(other)


def rows(result):
    return [(f.expected_path or f.actual_path, f.status, f.score) for f in result.field_results]


@pytest.fixture
def registry():
    with session_registry() as registry:
        registry.comparator(
            "full_name", CompoundComparator("full_name", ["surname", "given"], "surname", same_words)
        )
        yield registry


@pytest.mark.parametrize(
    ("expected", "actual", "found", "reasons"),
    [
        (
            {"first": "Maria", "last": "Luisa Alvarez", "age": 30},
            {"first": "Maria Luisa", "last": "Alvarez", "age": 30},
            [("first", "skipped", 0.0), ("last", "match", 1.0), ("age", "match", 1.0)],
            ["scored with its 'surname', at last", None, None],
        ),
        (
            {"first": "Anna", "last": "Lee"},
            {"first": "Ann", "last": "Lee"},
            [("first", "skipped", 0.0), ("last", "mismatch", 0.0)],
            ["scored with its 'surname', at last", None],
        ),
        (
            {"first": "Ann", "last": "Lee"},
            {"last": "Lee"},
            [("first", "omission", 0.0), ("last", "mismatch", 0.0)],
            ["missing", "incomplete: no 'given' to compare"],
        ),
        (
            {"first": "Ann", "last": "Lee"},
            {"first": "Ann"},
            [("first", "skipped", 0.0), ("last", "omission", 0.0)],
            ["scored with its 'surname', which is missing", "missing"],
        ),
        (
            {"first": "Bob"},
            {"first": "Ann"},
            [("first", "skipped", 0.0)],
            ["scored with its 'surname', which is missing"],
        ),
    ],
    ids=["right", "a part differs", "a part is missing", "the primary is missing", "nobody has the primary"],
)
@pytest.mark.usefixtures("registry")
def test_the_primary_bears_the_score_of_all(expected, actual, found, reasons):
    result = compare_json(actual, expected, metric="leaf_f1", fields=RULES)
    assert (rows(result), [field.reason for field in result.field_results]) == (found, reasons)
    assert {field.comparator for field in result.field_results[:2]} <= {"full_name", None}
    assert result.total_leaves == sum(status != "skipped" for _, status, _ in found)


@pytest.mark.usefixtures("registry")
def test_groups_are_those_of_one_parent():
    people = [{"first": "Ann", "last": "Lee"}, {"first": "Bob", "last": "Ray"}]
    result = compare_json(
        {"people": [people[0], {"first": "Rob", "last": "Ray"}], "author": people[1]},
        {"people": people, "author": people[1]},
        metric="leaf_f1",
        fields=RULES,
    )
    assert [row for row in rows(result) if row[1] != "skipped"] == [
        ("people[0].last", "match", 1.0),
        ("people[1].last", "mismatch", 0.0),
        ("author.last", "match", 1.0),
    ]


@pytest.mark.usefixtures("registry")
def test_in_an_unordered_array_the_parts_pair_together():
    expected = [{"first": "Ann Lee", "last": "Ray", "n": 1}, {"first": "Bob", "last": "Fox", "n": 2}]
    actual = [{"first": "Bob", "last": "Fox", "n": 2}, {"first": "Ann", "last": "Lee Ray", "n": 1}]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", fields=RULES)
    assert result.score == 1.0
    assert result.counts == {"match": 4, "skipped": 2}
    assert [pair[:2] for pair in result.alignments[0].pairs] == [(0, 1), (1, 0)]


@pytest.mark.usefixtures("registry")
def test_from_a_schema():
    schema = {
        "type": "object",
        "properties": {
            "last": {"type": "string", "x-eval-compare": {"full_name": {"role": "surname"}}},
            "first": {"type": "string", "x-eval-compare": {"full_name": {"role": "given"}}},
        },
    }
    result = compare_json(
        {"last": "Luisa Alvarez", "first": "Maria"},
        {"last": "Alvarez", "first": "Maria Luisa"},
        metric="leaf_f1",
        schema=schema,
    )
    assert (result.score, result.counts) == (1.0, {"match": 1, "skipped": 1})


@pytest.mark.usefixtures("registry")
def test_a_part_that_is_not_compared_leaves_the_group_incomplete():
    result = compare_json(
        {"first": "Ann", "last": "Lee"},
        {"first": "Ann", "last": "Lee"},
        metric="leaf_f1",
        fields={"last": RULES["**.last"]},
    )
    assert rows(result) == [("first", "match", 1.0), ("last", "mismatch", 0.0)]


# -- nulls, parameters, failures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (("Ann", None), ("Ann", None), 1.0),
        ((None, None), (None, None), 1.0),
        ((None, None), ("Ann", None), 0.0),
        (("Ann", "Lee"), (None, None), 0.0),
        (("Ann Lee", None), ("Ann", "Lee"), 1.0),
    ],
)
@pytest.mark.usefixtures("registry")
def test_nulls(expected, actual, score):
    result = compare_json(
        dict(zip(("first", "last"), actual)),
        dict(zip(("first", "last"), expected)),
        metric="leaf_f1",
        fields=RULES,
    )
    assert result.field_results[1].score == score


def test_the_function_gets_the_primarys_parameters_and_transformed_values():
    seen = []

    def remember(expected, actual, params):
        seen.append((expected, actual, params))
        return 0.5

    with session_registry() as registry:
        registry.comparator("pair", CompoundComparator("pair", ["x", "y"], "x", remember))
        result = compare_json(
            {"a": "1 ", "b": "2"},
            {"a": "3", "b": " 4"},
            metric="leaf_f1",
            fields={
                "a": {"compare": {"pair": {"role": "x", "limit": 5}}, "transform": ["strip"]},
                "b": {"compare": {"pair": {"role": "y"}}, "transform": ["strip"]},
            },
        )
    assert seen == [({"x": "3", "y": "4"}, {"x": "1", "y": "2"}, {"limit": 5})]
    assert result.score == 0.5


def test_a_function_that_fails_fails_for_its_group_alone():
    def fail_for_ann(expected, actual, params):
        if expected["given"] == "Ann":
            raise ValueError("not Ann")
        return 1.0

    with session_registry() as registry:
        registry.comparator(
            "full_name", CompoundComparator("full_name", ["surname", "given"], "surname", fail_for_ann)
        )
        people = [{"first": "Ann", "last": "Lee"}, {"first": "Bob", "last": "Ray"}]
        result = compare_json(people, people, metric="leaf_f1", fields=RULES)
    assert [row[:2] for row in rows(result)] == [
        ("[0].first", "skipped"),
        ("[0].last", "batch_error"),
        ("[1].first", "skipped"),
        ("[1].last", "match"),
    ]
    assert [str(error) for error in result.errors] == [
        "[0].last: comparator 'full_name' could not score this item: ValueError: not Ann"
    ]


@pytest.mark.usefixtures("registry")
def test_one_role_for_two_fields_of_an_object_is_an_error_of_both():
    result = compare_json(
        {"first": "Ann", "last": "Lee"},
        {"first": "Ann", "last": "Lee"},
        metric="leaf_f1",
        fields={"*": {"compare": {"full_name": {"role": "given"}}}},
    )
    assert result.counts == {"batch_error": 2}
    assert {f.error for f in result.field_results} == {
        "could not score this item: ValueError: first and last both have the role 'given'; only one field of an object can have it"
    }


# -- configuration ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"role": "givn"}, "comparator 'full_name' has no role 'givn'; did you mean 'given'?"),
        ({}, "comparator 'full_name' needs the parameter 'role', for example {\"role\": \"surname\"}"),
    ],
)
@pytest.mark.usefixtures("registry")
def test_a_role_that_is_none_is_an_error_before_scoring(params, message):
    with pytest.raises(ConfigurationError) as error:
        compare_json({}, {}, metric="leaf_f1", fields={"a": {"compare": {"full_name": params}}})
    assert str(error.value) == f"fields['a'].compare: {message}"
    with pytest.raises(ConfigurationError) as error:
        schema = {"properties": {"a": {"x-eval-compare": {"full_name": params}}}}
        compare_json({}, {}, metric="leaf_f1", schema=schema)
    assert str(error.value) == f"a: {message}"


@pytest.mark.parametrize(
    ("roles", "primary"), [(["x"], "x"), (["x", "x"], "x"), ("xy", "x"), (["x", "y"], "z")]
)
def test_a_compound_comparator_that_cannot_be_is_an_error(roles, primary):
    with pytest.raises(ConfigurationError) as error:
        CompoundComparator("pair", roles, primary, same_words)
    message = f"roles must be two or more different names, and the primary one of them, got roles {roles!r}"
    assert str(error.value) == f"compound comparator 'pair': {message} and the primary {primary!r}"
