"""Errors about arguments name the side and what to write instead."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    JsonParseError,
    UnsupportedValueError,
    assert_json_match,
    compare_corpus,
    compare_json,
)


@pytest.mark.parametrize(
    ("expected", "end"),
    [
        ("[1] see below", "near '[1] see below'; to expect the text itself, give json.dumps(text)"),
        ('{"a": }', """near '{"a": }'; to expect the text itself, give json.dumps(text)"""),
        (b"caf\xe9", r"save the text as UTF-8 near 'caf\\xe9'"),
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 90}, "got 90 (for 90 % write 0.9)"),
        (
            {"threshold": {"fields": {"a": 99.5}}},
            "threshold['fields']['a'] must be a number from 0 to 1, got 99.5 (for 99.5 % write 0.995)",
        ),
        ({"leaf_threshold": 80}, "leaf_threshold must be a number from 0 to 1, got 80 (for 80 % write 0.8)"),
        ({"threshold": 1.5}, "got 1.5"),
    ],
)
def test_a_percentage_where_a_share_is_required(options, message):
    with pytest.raises(ConfigurationError) as caught:
        assert_json_match({"a": 1}, {"a": 1}, **options)
    assert str(caught.value).endswith(message)
