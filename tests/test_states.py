"""One life of a comparison: what each step returns, and which classes are gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_jsonmatch
from pytest_jsonmatch import MatchResult, compare_json
from pytest_jsonmatch.comparer import Comparer

PACKAGE = Path(pytest_jsonmatch.__file__).parent
RETIRED = ("Comparing",)


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_class_is_gone(name):
    found = [
        source.name
        for source in PACKAGE.rglob("*.py")
        if re.search(rf"^class {name}\b", source.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == []


def test_metric_and_options_are_compiled_once():
    one, other = (Comparer.of("leaf_f1", {"skip": ["id"]}) for _ in range(2))
    assert one is other
    assert Comparer.of("leaf_f1", {"skip": ["b"]}) is not one


def test_the_engine_returns_a_match_result():
    assert type(Comparer.of("leaf_f1").compare({"a": 1}, {"a": 1})) is MatchResult
    assert type(compare_json({"a": 1}, {"a": 1})) is MatchResult
