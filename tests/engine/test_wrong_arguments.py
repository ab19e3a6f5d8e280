"""Errors about arguments name the side and what to write instead."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    JsonExtractionError,
    JsonParseError,
    UnsupportedValueError,
    assert_json_match,
    compare_corpus,
    compare_json,
)

HOW = "to compare strings, give both as JSON, such as "


@pytest.mark.parametrize(
    ("actual", "expected", "error", "message"),
    [
        ("OK", "OK", JsonParseError, "expected is not valid JSON (line 1, column 1): expected value near"),
        ("OK", '"OK"', JsonExtractionError, "no JSON found in the actual text: there is no object or array"),
    ],
)
def test_strings_are_compared_as_json(actual, expected, error, message):
    with pytest.raises(error) as caught:
        assert_json_match(actual, expected)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(f"; {HOW}'\"OK\"'")
    assert assert_json_match('"OK"', '"OK"').score == 1.0


@pytest.mark.parametrize(
    ("expected", "end"),
    [
        ("no " * 20, f"; {HOW}json.dumps(text)"),
        (b'Sure: {"a": 1}', "; text with JSON in it can only be actual, the first argument"),
        ('{"a": }', """expected value near '{"a": }'"""),
    ],
)
def test_expected_text_that_is_not_json(expected, end):
    with pytest.raises(JsonParseError, match=r"^expected is not valid JSON") as caught:
        compare_json({"a": 1}, expected)
    assert str(caught.value).endswith(end)


@pytest.mark.parametrize(("side", "sides"), [("actual", ({1: 2}, {})), ("expected", ({}, {1: 2}))])
def test_a_key_that_is_no_string_is_of_one_side(side, sides):
    with pytest.raises(UnsupportedValueError, match=rf"^{side} has the key 1 \(int\) in the object at \$; "):
        compare_json(*sides)


@pytest.mark.parametrize(("wrong", "meant"), [("ids", "id"), ("id_field", "id"), ("chunk", "chunk_size")])
def test_arguments_of_compare_corpus_are_meant(wrong, meant):
    with pytest.raises(ConfigurationError, match=f"^unknown argument '{wrong}'; did you mean '{meant}'\\?$"):
        compare_corpus([{"a": 1}], [{"a": 1}], **{wrong: "a"})
