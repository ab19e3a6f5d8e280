"""Strings as expected values: labels and plain texts, and what a text answer is compared as."""

from __future__ import annotations

import json
import re
from unittest.mock import ANY

import pytest

from pytest_jsonmatch import (
    JsonExtractionError,
    JsonParseError,
    assert_json_match,
    compare_corpus,
    compare_json,
)

SURROUNDED = [
    "positive",
    '"positive"',
    "  positive\n",
    "\ufeffpositive",
    "```\npositive\n```",
    "```text\npositive\n```\n",
    '```json\n"positive"\n```',
    '<think>It may be "negative".</think>positive',
    "◁think▷{hm}◁/think▷\n```\npositive\n```",
    'thinking...</think>\n\n"positive"',
    "<|channel|>analysis<|message|>hm<|channel|>final<|message|>positive",
]


@pytest.mark.parametrize("actual", [*SURROUNDED, b"positive", bytearray(b'"positive"')])
def test_a_label_is_found_in_a_text(actual):
    assert assert_json_match(actual, "positive").documents == ("positive", "positive")


@pytest.mark.parametrize(
    ("actual", "value"),
    [
        ("It is positive.", "It is positive."),
        ('{"label": "positive"}', '{"label": "positive"}'),
        ("```\npositive\n``` I think", "```\npositive\n``` I think"),
        ("po<think>hm</think>sitive, no", "positive, no"),
        ("", ""),
    ],
)
def test_any_other_text_is_a_string_that_differs(actual, value):
    result = compare_json(actual, "positive")
    assert (result.score, result.documents[1]) == (0.0, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("not found", "not found"),
        ("", ""),
        ("5", "5"),
        ("true", "true"),
        ("NaN", "NaN"),
        ('"hello"', "hello"),
        (b' "hello" ', "hello"),
        ('"hello', '"hello'),
        ('"a" and "b"', '"a" and "b"'),
        ('Sure: {"a": 1}', 'Sure: {"a": 1}'),
        (' {"a": 1}', {"a": 1}),
        (b"\xef\xbb\xbf[1]", [1]),
    ],
)
def test_expected_text_is_json_only_if_it_begins_like_it(text, value):
    result = compare_json(value if not isinstance(value, str) else json.dumps(value), text)
    assert (result.score, result.documents[0]) == (1.0, value)


@pytest.mark.parametrize(("actual", "expected"), [(5, "5"), (True, "true"), (None, "null"), (1.5, "1.5")])
def test_a_text_equals_no_other_type(actual, expected):
    with pytest.raises(AssertionError):
        assert_json_match(actual, expected)
    assert assert_json_match(expected, actual).score == 1.0  # model output


@pytest.mark.parametrize("text", ["[1] see below", "{name}", '{"a": 1', '{"a": NaN}'])
def test_expected_text_that_begins_like_json_has_to_be_json(text):
    with pytest.raises(JsonParseError, match=r"to expect the text itself, give json\.dumps\(text\)$"):
        assert_json_match(text, text)
    assert assert_json_match(text, json.dumps(text)).score == 1.0


@pytest.mark.parametrize(
    ("actual", "expected", "options", "value"),
    [
        ("INV-7", re.compile("INV-[0-9]+"), {}, "INV-7"),
        ("```\nINV-7\n```", re.compile("INV-[0-9]+"), {}, "INV-7"),
        ("Here: [1]", ANY, {}, [1]),
        ("7", pytest.approx(7), {}, 7),
        ("n/a", {"a": 1}, {"accept": {"$": ["n/a"]}}, "n/a"),
        ('So {"a": 1}', {"a": 1}, {"accept": {"$": ["n/a"]}}, {"a": 1}),
        ("five", 5, {"accept": {"$": ["five"]}}, "five"),
        ('"five"', 5, {"accept": {"$": {"type": "string"}}}, "five"),
        ("5", 5, {"accept": {"$": {"regex": "[a-z]+"}}}, 5),
        ("5", "five", {"accept": {"$": [5]}}, 5),
        ("null", None, {"schema": {"type": ["string", "null"]}}, None),
        ("Positive", "positive", {"transform": ["lowercase"]}, "Positive"),
    ],
)
def test_the_better_of_a_string_and_other_json_counts(actual, expected, options, value):
    result = compare_json(actual, expected, **options)
    assert (result.score, result.documents[1]) == (1.0, value)


def test_a_schema_of_strings_makes_any_text_an_answer():
    schema = {"anyOf": [{"type": "string", "maxLength": 8}, {"type": "object", "properties": {"a": {}}}]}
    result = compare_json("I don't know", {"a": 1}, schema=schema, validate="report")
    assert (result.score, result.documents[1], result.valid) == (0.0, "I don't know", False)


@pytest.mark.parametrize("expected", [5, {"a": "b"}, None, pytest.approx(7)])
def test_where_no_string_may_be_right_a_text_needs_json(expected):
    with pytest.raises(JsonExtractionError, match="there is no object"):
        compare_json("not found", expected)


def test_labels_are_records_of_a_corpus():
    gold = ["positive", "5", {"a": 1}, '"quoted"']
    run = compare_corpus(["<think>hm</think>positive", "5", '{"a": 1}', "quoted"], gold)
    assert (run.mean_score, run.parse_rate) == (1.0, 1.0)
    assert compare_corpus(SURROUNDED, ["positive"] * len(SURROUNDED)).mean_score == 1.0


def test_labels_are_lines_of_a_file(tmp_path):
    (tmp_path / "gold.jsonl").write_text('"positive"\n"5"\n"a b"\n')
    (tmp_path / "answers.jsonl").write_text('"<think>hm</think>positive"\n"5"\na b\n')
    run = compare_corpus(tmp_path / "answers.jsonl", tmp_path / "gold.jsonl")
    assert (run.mean_score, run.parse_rate) == (1.0, None)
