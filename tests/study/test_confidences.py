"""Confidences found in answers."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.study.confidence import make_splitter

V = {"value": 1, "confidence": 0.5}


@pytest.mark.parametrize(
    ("answer", "plain", "sure"),
    [
        ({"a": V, "b": 2}, {"a": 1, "b": 2}, {"a": 0.5}),
        ([V, 2], [1, 2], {"[0]": 0.5}),
        (V, 1, {"$": 0.5}),
        (
            {"a": {"value": {"b": 1, "c": V}, "confidence": 0.9}},
            {"a": {"b": 1, "c": 1}},
            {"a": 0.9, "a.b": 0.9, "a.c": 0.5},
        ),
        ({"a": {"value": [1], "confidence": 1}}, {"a": [1]}, {"a": 1.0, "a[0]": 1.0}),
        # Without a confidence, or with other members, it is an object like any other, or says nothing.
        ({"a": {"value": 1, "confidence": None}}, {"a": 1}, {}),
        (
            {"a": {"value": 1, "confidence": 0.5, "page": 2}},
            {"a": {"value": 1, "confidence": 0.5, "page": 2}},
            {},
        ),
        ({"odd key": V}, {"odd key": 1}, {'["odd key"]': 0.5}),
    ],
)
def test_inline(answer, plain, sure):
    assert make_splitter("inline")(answer) == (plain, sure)


@pytest.mark.parametrize(
    ("where", "answer", "plain", "sure"),
    [
        ("c.{path}", {"a": 1, "c": {"a": 0.5}}, {"a": 1}, {"a": 0.5}),
        (
            "c.x.{path}.p",
            {"a": [{"b": 1}], "c": {"x": {"a": [{"b": {"p": 0.5}}]}}},
            {"a": [{"b": 1}]},
            {"a[0].b": 0.5},
        ),
        ("c[0].{path}", {"a": 1, "c": [{"a": 0.5}]}, {"a": 1}, {"a": 0.5}),
        # One of an object is that of all below it.
        (
            "c.{path}",
            {"a": {"b": 1, "d": 2}, "c": {"a": 0.5}},
            {"a": {"b": 1, "d": 2}},
            {"a": 0.5, "a.b": 0.5, "a.d": 0.5},
        ),
        ("c.{path}", {"a": [1, 2], "c": {"a": [0.5, 0.25]}}, {"a": [1, 2]}, {"a[0]": 0.5, "a[1]": 0.25}),
        ("c.{path}", {"a": 1, "c": {}}, {"a": 1}, {}),
        ("c.{path}", [1], [1], {}),
    ],
)
def test_beside_values(where, answer, plain, sure):
    found = make_splitter(where)(answer)
    assert found == (plain, sure)


@pytest.mark.parametrize("given", [1.5, -0.1, "high", True, float("nan"), 93])
def test_what_is_no_confidence(given):
    with pytest.raises(ConfigurationError) as error:
        make_splitter("inline")({"a": [{"value": 1, "confidence": given}]})
    assert str(error.value) == f"the confidence of a[0] must be a number from 0 to 1, got {given!r}"


@pytest.mark.parametrize("where", ["score", "{path}", "c.{path}.{path}", "{path}.confidence", "c.{path}_c"])
def test_what_is_no_place_of_confidences(where):
    with pytest.raises(ConfigurationError, match="confidence must be 'inline'"):
        make_splitter(where)


def test_the_answer_is_not_changed():
    answer = {"a": {"b": 1}, "c": V}
    for where in ("inline", "c.{path}"):
        make_splitter(where)(answer)
    assert answer == {"a": {"b": 1}, "c": V}
