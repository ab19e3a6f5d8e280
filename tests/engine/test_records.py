"""What a session keeps of a comparison is the same after its way as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.results.comparison import Comparison

LIMITS = {"score": 1.0}
BY_FIELD = {"score": 0.5, "fields": {"a": 0.5}}


def kept(actual, expected, number=1, threshold=LIMITS, **options):
    result = compare_json(actual, expected, **options)
    return Comparison.of(
        result, id=f"t.py::t#{number}", nodeid="t.py::t", threshold=threshold, passed=result.score == 1
    )


CASES = [
    ({"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {}),
    ({"a": 1, "b": "y"}, {"a": 1, "b": "x"}, {}),
    ({"a": 1, "z": 2}, {"a": 1}, {"metric": "json_similarity"}),
    ({}, {}, {}),
    ({"a": []}, {"a": []}, {"metric": "json_similarity"}),
    ({"a": 1}, {"a": 1}, {"threshold": BY_FIELD}),
    ({"a": [1, 2, 3]}, {"a": [3, 2, 1]}, {"metric": "pairwise_f1"}),
    ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"fields": {"a": {"weight": 0.1}, "b": {"skip": True}}}),
    ('{"a": 1, "a": 1}', {"a": 1}, {}),
    ({"\ud800": 1}, {"\ud800": 1}, {}),
]


@pytest.mark.parametrize(("actual", "expected", "options"), CASES)
def test_two_comparisons_of_one_kind_differ_in_their_ids_only(actual, expected, options):
    first, second = (kept(actual, expected, number, **options) for number in (1, 2))
    one, other = first.to_payload(), second.to_payload()
    assert (one.pop("id"), other.pop("id")) == ("t.py::t#1", "t.py::t#2")
    assert one == other
    for each in (first, second):
        assert each.to_text().isascii()
        assert Comparison.from_text(each.to_text()) == each


def test_kinds_are_told_apart():
    plain = kept({"a": 1}, {"a": 1})
    for other in (
        kept({"b": 1}, {"b": 1}),
        kept({"a": 1}, {"a": 1}, metric="json_similarity"),
        kept({"a": 1}, {"a": 1}, fields={"a": {"weight": 2}}),
        kept({"a": 1}, {"a": 1}, threshold={"score": 0.5}),
        kept({"a": 1, "b": 1}, {"a": 1, "b": 1}),
        kept('{"a": 1, "a": 1}', {"a": 1}),
    ):
        assert Comparison.from_text(other.to_text()) == other != plain


def test_each_has_its_own_dicts():
    text = kept({"a": 1}, {"a": 1}, threshold=BY_FIELD).to_text()
    changed = Comparison.from_text(text)
    changed.threshold["fields"]["a"] = 0
    changed.fields.clear()
    changed.counts.clear()
    assert Comparison.from_text(text) == kept({"a": 1}, {"a": 1}, threshold=BY_FIELD)
    kept({"a": 1}, {"a": 1}).fields.clear()
    assert list(kept({"a": 1}, {"a": 1}).fields) == ["a"]


def test_a_changed_copy_says_what_was_changed():
    _, second = kept({"a": 1}, {"a": 1}), kept({"a": 1}, {"a": 1})
    changed = replace(second, score=0.0, warnings=("unreadable",))
    assert Comparison.from_text(changed.to_text()) == changed
