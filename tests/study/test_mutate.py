"""Breaks of right answers, and what a case says of them."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.value.convert import replace_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.study.mutate import KINDS, find_holes, make_mutations
from tests.laws import law


def broken(expected, kind):
    return [
        replace_value(expected, each.steps, each.value)
        for each in make_mutations(expected)
        if each.kind == kind
    ]


@pytest.mark.parametrize(
    ("kind", "expected", "answers"),
    [
        ("digit", 17.5, [18.5]),
        ("digit", 1234, [1244]),
        ("digit", 1e300, [2e300]),
        ("digit", "INV-2041", ["INV-2051"]),
        ("digit", "no digits", []),
        ("digit", True, []),
        ("sign", -3, [3]),
        ("sign", 0, []),
        ("date off by one", "2024-02-28", ["2024-02-29"]),
        ("date off by one", "2023-12-31T10:00", ["2024-01-01T10:00"]),
        ("date off by one", "2024-02-31", []),
        ("date off by one", "9999-12-31", []),
        ("unit", "5 kg", ["5 g"]),
        ("unit", "€ 11.00", ["$ 11.00"]),
        ("unit", "11.00 EUR", ["11.00 USD"]),
        ("unit", "10km", ["10m"]),
        ("unit", "kgb", []),
        ("unit", 3, [3000]),
        ("truncated", "abcdef", ["abc"]),
        ("truncated", "", []),
        ("null", 3, [None]),
        ("null", None, []),
        ("swapped", {"a": 1, "b": 2}, [{"a": 2, "b": 1}]),
        ("swapped", {"a": 1, "b": "x"}, []),
        ("swapped", {"a": 1, "b": 1}, []),
        ("swapped", [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}], [[{"a": 2, "b": "x"}, {"a": 1, "b": "x"}]]),
        ("swapped", ["a", "b"], []),
        ("dropped field", {"a": 1}, [{}]),
        ("dropped row", [1, 2], [[2], [1]]),
        ("extra field", {"a": 1}, [{"a": 1, "added_by_audit": "extra"}]),
        ("extra row", [{"a": 1}], [[{"a": 1}, {"a": 1, "added_by_audit": "extra"}]]),
        ("extra row", ["a"], [["a", "extra"]]),
    ],
)
def test_kinds(kind, expected, answers):
    made = broken(expected, kind)
    assert [each for each in made if type(each) is type(expected) or kind == "null"] == answers


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text("ab12 -€k", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@law(JSON, st.integers(1, 30))
def test_each_mutation_changes_the_answer_and_there_are_no_more_than_asked_for(expected, most):
    found = make_mutations(expected, most)
    assert len(found) <= most
    assert {each.kind for each in found} <= set(KINDS)
    for each in found:
        assert not json_equal(replace_value(expected, each.steps, each.value), expected)
    assert found == make_mutations(expected, most)


def test_every_field_and_kind_comes_before_a_second_one():
    rows = [{"a": at, "b": f"text {at}"} for at in range(100)]
    every = {(each.field, each.kind) for each in make_mutations(rows, 10_000)}
    assert {(each.field, each.kind) for each in make_mutations(rows, len(every))} == every


def test_a_sample_has_every_kind_and_all_parts_of_a_document():
    wide = {f"f{at}": f"text {at} kg" if at % 2 else at + 0.5 for at in range(300)}
    found = make_mutations(wide, 200)
    assert len(found) == 200
    kinds = {"digit", "sign", "unit", "truncated", "null", "swapped", "dropped field"}
    assert {each.kind for each in found} >= kinds
    places = [int(each.field[1:]) for each in found if each.field in wide]
    assert min(places) < 30
    assert max(places) > 270


# -- what a case says --------------------------------------------------------------------------------------


def case(expected, threshold=1.0, **options):
    def compare(actual):
        result = compare_json(actual, expected, **{"metric": "leaf_f1", **options})
        return result, result.score >= threshold and not result.errors, {"score": threshold}

    return find_holes([("case", expected, compare)])


def passing(audit):
    return {(each.field, each.kind): each.rules for each in audit.holes}


def test_a_strict_case_notices_everything():
    audit = case({"total": 17.5, "date": "2024-01-31", "items": [{"n": 1}, {"n": 2}]})
    assert audit.noticed == 1.0
    assert audit.holes == ()
    assert audit.mutated >= len(KINDS)
    assert audit.by_field["total"] == {"noticed": 1.0}


@pytest.mark.parametrize(
    ("expected", "options", "hole"),
    [
        (
            {"total": 1234.5},
            {"fields": {"total": {"compare": {"numeric": {"tolerance": {"rel": 0.1}}}}}},
            ("total", "digit", "`numeric` rel 0.1"),
        ),
        ({"total": 3, "n": 4}, {"fields": {"total": {"accept": [-3]}}}, ("total", "sign", "`accept`")),
        (
            {"tip": 3, "n": 4},
            {"fields": {"tip": {"accept": {"optional": True}}}},
            ("tip", "dropped field", "`accept`"),
        ),
        ({"a": 1}, {"extra": "ignore"}, ("added_by_audit", "extra field", "`extra: ignore`")),
        ({"a": None, "b": 1}, {"nulls": "absent"}, ("a", "dropped field", "`nulls: absent`")),
        (
            {"a": 17.02},
            {"fields": {"a": {"transform": [{"round_digits": {"digits": 0}}]}}},
            ("a", "digit", "`transform`"),
        ),
        ({"a": {"b": 1}, "c": 2}, {"skip": ["a.*"]}, ("a", "dropped field", "`skip`")),
        ({"a": 1, "b": 2}, {"threshold": 0.5}, ("a", "sign", "`threshold` 0.5")),
        ({"a": 1, "b": 2}, {"fields": {"a": {"weight": 0}}}, ("a", "sign", "`weight` 0")),
    ],
)
def test_the_rule_that_lets_a_break_pass(expected, options, hole):
    field, kind, rule = hole
    assert passing(case(expected, **options))[field, kind] == (rule,)


def test_holes_with_examples():
    audit = case({"a": 1, "b": 2}, threshold=0.5)
    hole = next(each for each in audit.holes if (each.field, each.kind) == ("a", "sign"))
    assert (hole.mutated, hole.noticed, hole.example, hole.case) == (1, 0, "1 → -1", "case")


def test_skipped_fields_are_left_out():
    audit = case({"id": 3, "total": 4}, fields={"id": {"skip": True}})
    assert audit.noticed == 1.0
    assert "id" not in audit.by_field
    assert audit.notes == ("id: a rule skips it",)


def test_a_case_that_fails_its_own_right_answer():
    audit = case({"a": 1}, threshold=2.0)
    assert (audit.mutated, audit.noticed) == (0, None)
    assert audit.notes == ("case: its own expected value does not pass",)


def test_an_answer_that_the_metric_refuses_is_noticed():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    audit = case({"a": 1}, metric="pairwise_f1", schema=schema)
    assert audit.by_field["added_by_audit"] == {"noticed": 1.0}


def test_a_case_with_threshold_0_is_there_for_gates_and_notices_every_loss():
    expected = {"total": 1234.5, "shop": "Mill"}
    rules = {"total": {"compare": {"numeric": {"tolerance": {"rel": 0.1}}}}}

    def compare(actual):
        return compare_json(actual, expected, fields=rules), True, {"score": 0.0}

    audit = find_holes([("a", expected, compare)])
    assert [(hole.field, hole.kind) for hole in audit.holes] == [("total", "digit")]
    assert 0.8 < audit.noticed < 1
