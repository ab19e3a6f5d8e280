"""parse_json: JSON text inside JSON is read before documents are compared."""

from __future__ import annotations

import json

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError, compare_corpus, compare_json
from pytest_jsonmatch.schema import validate_gold

ARGUMENTS = {"calls[].arguments": {"transform": ["parse_json"]}}


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def as_text(calls):
    return [{**each, "arguments": json.dumps(each["arguments"])} for each in calls]


def test_arguments_are_compared_leaf_by_leaf():
    expected = {"calls": [call("weather", city="Rome", days=3)]}
    actual = {"calls": as_text([call("weather", city="Roma", days=3.0, unit="C")])}
    result = compare_json(actual, expected, fields=ARGUMENTS)
    assert [(field.path, field.actual_path, field.status) for field in result.field_results] == [
        ("calls[].name", "calls[0].name", "match"),
        ("calls[].arguments.city", "calls[0].arguments.city", "mismatch"),
        ("calls[].arguments.days", "calls[0].arguments.days", "match"),
        ("calls[].arguments.unit", "calls[0].arguments.unit", "hallucination"),
    ]
    assert isinstance(actual["calls"][0]["arguments"], str)


CALLS = [call("a", x=1), call("b", y=[1, 2]), call("a", x=2)]


@pytest.mark.parametrize("expected", [CALLS, as_text(CALLS)], ids=["objects", "texts"])
@pytest.mark.parametrize("actual", [CALLS, as_text(CALLS)], ids=["objects", "texts"])
def test_either_side_may_be_a_text(expected, actual):
    result = compare_json({"calls": actual}, {"calls": expected}, fields=ARGUMENTS)
    assert (result.score, len(result.field_results)) == (1.0, 7)
    turned = compare_json({"calls": actual[::-1]}, {"calls": expected}, fields=ARGUMENTS, arrays="unordered")
    assert turned.score == 1.0


def test_calls_in_any_order_are_paired_by_their_arguments():
    expected = [call("search", q=f"q{n}", n=n) for n in range(40)]
    actual = as_text([call("search", q=f"q{n}", n=n + 1) for n in reversed(range(40))])
    fields = {**ARGUMENTS, "calls": {"align": "unordered"}}
    result = compare_json({"calls": actual}, {"calls": expected}, fields=fields)
    assert result.counts == {"match": 80, "mismatch": 40}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        (" [1, 2]\n", [1, 2]),
        ('"text"', "text"),
        ("12", 12),
        ("null", None),
        ("{}", {}),
    ],
)
def test_any_json_is_read(text, value):
    assert compare_json({"v": text}, {"v": value}, fields={"v": {"transform": "parse_json"}}).score == 1.0
    assert compare_json({"v": text}, {"v": value}).score == 0.0


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1', "{'a': 1}", "NaN", '{"a": 1, "a": 2}', "x" * 10**6, "[" * 10**6]
)
def test_what_is_not_json_stays_a_text(text):
    rule = {"v": {"transform": "parse_json"}}
    assert compare_json({"v": text}, {"v": text}, fields=rule).score == 1.0
    result = compare_json({"v": text}, {"v": {"a": 1}}, fields=rule)
    assert [(field.status, field.actual) for field in result.field_results] == [("mismatch", text)]


def test_texts_below_stay_texts_and_one_text_is_read_once():
    rule = {"v": {"transform": "parse_json"}}
    expected = {"v": {"n": "5", "inner": '{"a": 1}'}}
    assert compare_json({"v": json.dumps(expected["v"])}, expected, fields=rule).score == 1.0
    assert compare_json({"v": '{"n": 5}'}, {"v": {"n": "5"}}, fields=rule).score == 0.0
    twice = json.dumps(json.dumps({"a": 1}))
    assert compare_json({"v": twice}, {"v": '{"a": 1}'}, fields=rule).score == 0.0


def test_the_value_in_a_text_chooses_among_alternatives():
    read = {"type": ["string", "object"], "x-eval-transform": "parse_json"}
    texts, objects = {**read, "type": "string"}, {"type": "object", "properties": {"inner": read}}
    schema = {"type": "object", "properties": {"v": {"anyOf": [texts, objects]}}}
    expected = {"v": {"inner": '{"a": 1}'}}
    for actual in ({"v": {"inner": '{ "a": 1.0 }'}}, {"v": json.dumps({"inner": '{ "a": 1.0 }'})}):
        result = compare_json(actual, expected, schema=schema)
        assert [(field.path, field.status) for field in result.field_results] == [("v.inner.a", "match")]


def test_rules_and_transforms_below():
    fields = {
        "v": {"transform": ["parse_json", "lowercase"]},
        "v.n": {"compare": {"numeric": {"tolerance": {"abs": 1}}}},
        "v.at": {"compare": "date"},
        "v.id": {"skip": True},
    }
    actual = {"v": '{"Name": "ANN", "n": 4, "at": "3 Apr 2024", "id": 7}'}
    assert (
        compare_json(actual, {"v": {"Name": "Ann", "n": 5, "at": "2024-04-03"}}, fields=fields).score == 1.0
    )


def test_a_comparator_takes_it_whole():
    fields = {"v": {"transform": "parse_json", "compare": "exact"}}
    result = compare_json({"v": '{"a": 1, "b": 2}'}, {"v": {"b": 2.0, "a": 1}}, fields=fields)
    assert [(field.path, field.status) for field in result.field_results] == [("v", "match")]


@pytest.mark.parametrize("metric", ["field_match", "json_similarity", "pairwise_f1", "leaf_f1"])
def test_in_every_metric(metric):
    result = compare_json(
        {"v": '{"a": [1, 2]}'}, {"v": {"a": [1, 2]}}, metric=metric, fields={"v": {"transform": "parse_json"}}
    )
    assert result.score == 1.0


def test_by_a_schema():
    arguments = {
        "type": "object",
        "x-eval-transform": ["parse_json"],
        "properties": {"city": {"type": "string", "x-eval-transform": ["lowercase"]}},
    }
    items = {"type": "object", "properties": {"name": {"type": "string"}, "arguments": arguments}}
    schema = {"type": "object", "properties": {"calls": {"type": "array", "items": items}}}
    expected = {"calls": [call("weather", city="Rome")]}
    assert (
        compare_json({"calls": as_text([call("weather", city="ROME")])}, expected, schema=schema).score == 1.0
    )


def test_below_a_target_and_at_the_root():
    rule = {"r.v": {"transform": "parse_json"}}
    assert compare_json({"r": {"v": "[1]"}}, {"r": {"v": [1]}}, fields=rule, target_key="r.v").score == 1.0
    assert compare_json({"r": {"v": "[1]"}}, {"r": {"v": [1]}}, fields=rule, target_key="r").score == 1.0
    assert compare_json(json.dumps("[1]"), [1], fields={"$": {"transform": "parse_json"}}).score == 1.0


def test_in_a_corpus():
    expected = [{"id": n, "calls": [call("a", x=n)]} for n in range(5)]
    actual = [{"id": each["id"], "calls": as_text(each["calls"])} for each in expected]
    run = compare_corpus(actual, expected, id="id", fields=ARGUMENTS)
    assert (run.micro_f1, set(run.per_field)) == (1.0, {"calls[].name", "calls[].arguments.x"})
    texts = [json.dumps(each) for each in actual]
    assert compare_corpus(texts, expected, id="id", fields=ARGUMENTS).micro_f1 == 1.0


def test_an_answer_is_searched_for_json_where_gold_is_json_in_a_text():
    gold, answers = [{"label": '{"n": 1}'}], [{"output": 'Sure: {"n": 1}.'}]
    columns = {"expected": "label", "actual": "output"}
    run = compare_corpus(answers, gold, **columns, fields={"$": {"transform": ["parse_json"]}})
    assert (run.mean_score, set(run.per_field)) == (1.0, {"n"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"fields": {"a": {"transform": ["strip", "parse_json"]}}},
            "fields['a'].transform: 'parse_json' must be the first transform",
        ),
        (
            {"transform": "parse_json"},
            "transform: 'parse_json' needs a place, such as fields={'calls[].arguments': {'transform': ['parse_json']}}",
        ),
        (
            {"fields": {"a": {"transform": {"parse_json": {"strict": True}}}}},
            "fields['a'].transform: transform 'parse_json' has no parameter 'strict'; it takes none",
        ),
        (
            {"schema": {"properties": {"a": {"x-eval-transform": ["strip", "parse_json"]}}}},
            "a: 'parse_json' must be the first transform",
        ),
    ],
)
def test_a_wrong_rule_is_named(options, message):
    with pytest.raises(ConfigurationError) as caught:
        compare_json({}, {}, **options)
    assert str(caught.value) == message


def test_an_accepted_value_may_be_one_of_several_arguments():
    expected = {"calls": [call("a", x=1, mode="fast")]}
    actual = {"calls": as_text([call("a", x=1, mode="quick")])}
    accept = {"calls[].arguments.mode": ["quick"]}
    assert compare_json(actual, expected, fields=ARGUMENTS, accept=accept).score == 1.0


def test_gold_texts_are_not_of_a_wrong_type(recwarn):
    arguments = {
        "type": "object",
        "x-eval-transform": ["parse_json"],
        "properties": {"x": {"type": "integer"}},
    }
    schema = {"type": "object", "properties": {"arguments": arguments}}
    validate_gold([{"arguments": '{"x": 1}'}, {"arguments": {"x": 1}}], schema)
    assert not recwarn.list
    with pytest.raises(GoldValidationError, match=r"'arguments\.y' is not in the schema"):
        validate_gold([{"arguments": '{"y": 1}'}], schema)


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        ({"b": 1}, "{b: 1}", "object against text that is not JSON of type object"),
        ({"b": 1}, '"text"', "object against text that is not JSON of type object"),
        ([1], "", "array against text that is not JSON of type array"),
        (5, "five", "number against text that is not JSON of type number"),
        ("five", "5", "text that is not JSON of type number against number"),
        ({"b": 1}, "[1]", "object against array"),
        ("one", "two", "3 edits"),
    ],
)
def test_a_text_that_is_not_json_is_named_in_the_reason(expected, actual, reason):
    for compare in ({}, {"compare": "exact"}):
        rule = {"a": {"transform": "parse_json", **compare}}
        assert compare_json({"a": actual}, {"a": expected}, fields=rule).field_results[0].reason == reason
