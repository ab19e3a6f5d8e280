"""The file that results are kept in."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.results.atomic import write_file
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.file import (
    VERSION,
    from_text,
    number_of_cases,
    read_in_parts,
    read_results,
    to_text,
)
from pytest_jsonmatch.results.model import ResultSet

FIGURES_OF_NONE = {"score": 0, "precision": 0, "recall": 0, "f1": 0}

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
records = st.dictionaries(st.text(max_size=3), leaves | st.lists(leaves, max_size=2), max_size=3)


@st.composite
def comparisons(draw):
    metric = draw(st.sampled_from(["field_match", "json_similarity", "pairwise_f1"]))
    result = compare_json(draw(records), draw(records), metric=metric)
    name = draw(st.text(min_size=1, max_size=5))
    return Comparison.of(
        result,
        id=name,
        nodeid=f"n::{name}",
        threshold={"score": 0.5},
        passed=draw(st.booleans()),
        params=draw(st.sampled_from([{}, {"model": ("é", 1)}])),
    )


runs = st.builds(
    CaseRun,
    st.integers(1, 9),
    st.booleans(),
    st.lists(comparisons(), max_size=2).map(tuple),
    st.sampled_from(["", "x"]),
)
cases = st.builds(
    Case,
    st.text(max_size=9),
    st.lists(runs, min_size=1, max_size=3).map(tuple),
    st.integers(1, 9),
    st.none() | st.floats(0, 1),
)
results = st.builds(
    ResultSet,
    st.lists(cases, max_size=3).map(tuple),
    st.just("2026-11-21T12:00:00+00:00"),
    st.text(max_size=4),
    st.just({"python": "3.12.1"}),
    st.none() | st.integers(0, 100),
    st.sampled_from([(), ("-k", "node ids")]),
)


@given(results)
def test_what_is_written_is_read_back(result):
    text = to_text(result)
    assert text.isascii()
    assert from_text(text, "x.json") == result
    assert to_text(from_text(text, "x.json")) == text


def result_of(**answers):
    found = []
    for name, (actual, expected) in answers.items():
        made = Comparison.of(
            compare_json(actual, expected),
            id=f"{name}#1",
            nodeid=name,
            threshold={"score": 1.0},
            passed=False,
        )
        found.append(Case(name, (CaseRun(1, passed=False, comparisons=(made,)),)))
    return ResultSet(tuple(found), collected=len(found))


def test_a_field_that_changes_changes_its_own_line_and_the_figures_above():
    one = to_text(result_of(a=({"x": 1, "y": 1}, {"x": 1, "y": 1}), b=({"x": 1}, {"x": 1}))).splitlines()
    two = to_text(result_of(a=({"x": 1, "y": 2}, {"x": 1, "y": 1}), b=({"x": 1}, {"x": 1}))).splitlines()
    assert len(one) == len(two)
    changed = [line.split(":")[0].strip() for line, other in zip(one, two, strict=True) if line != other]
    assert changed == ['"figures"', '{"id"', '{"id"', '"y"']


def test_what_a_person_finds_in_it():
    found = json.loads(to_text(result_of(a=({"x": 1, "y": 2}, {"x": 1, "y": 1}))))
    assert (found["format"], found["version"]) == ("jsonmatch-results", 1)
    assert found["figures"] == {
        "cases": 1,
        "pass_rate": 0.0,
        "score": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "omission_rate": 0.0,
        "hallucination_rate": 0.0,
    }
    (case,) = found["cases"]
    assert (case["id"], case["score"], case["passed"]) == ("a", 0.5, False)
    (comparison,) = case["runs"][0]["comparisons"]
    assert found["signatures"][comparison["signature"]] == "leaf_f1|options:none|schema:none|rules:2"
    assert {path: field["score"] for path, field in comparison["fields"].items()} == {"x": 1.0, "y": 0.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("not JSON", "x.json is no result file: it is not JSON: "),
        ("[" * 100_000, "x.json is no result file: it is not JSON: "),
        ("[]", 'x.json is no result file: it has no "format": "jsonmatch-results"'),
        ({"format": "other"}, 'x.json is no result file: it has no "format": "jsonmatch-results"'),
        (
            {"version": VERSION + 1},
            f"x.json is a result file of version {VERSION + 1}, and this release reads up to {VERSION}; upgrade",
        ),
        ({"version": "1"}, "x.json is a result file of version '1', and"),
        ({"cases": None}, "x.json is no result file: it is damaged: cases: null is not of type"),
        (
            {"cases": [dict(FIGURES_OF_NONE, id="a", passed=True, runs=[])]},
            "x.json is no result file: it is damaged: cases[0].runs: [] has less than 1 item",
        ),
        ({"signatures": []}, "x.json is no result file: it is damaged: a `signature` is a place beyond"),
        (
            {"versions": {"a": 1}},
            'x.json is no result file: it is damaged: versions.a: 1 is not of type "string"',
        ),
    ],
)
def test_what_is_no_result_file(change, message):
    text = change
    if isinstance(change, dict):
        text = json.dumps({**json.loads(to_text(result_of(a=({}, {"x": 1})))), **change})
    with pytest.raises(ConfigurationError) as caught:
        from_text(text, "x.json")
    assert str(caught.value).startswith(message)


def test_a_score_that_is_none():
    text = to_text(result_of(a=({}, {"x": 1}))).replace(
        '"recall": 0.0, "f1": 0.0, "passed"', '"recall": 7, "f1": 0.0, "passed"'
    )
    with pytest.raises(
        ConfigurationError, match=r"comparisons\[0\]\.recall: 7 is greater than the maximum of 1"
    ):
        from_text(text, "x.json")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigurationError, match=r"none.json can't be read: no such file or directory$"):
        read_results(tmp_path / "none.json")
    (tmp_path / "bad.json").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is no result file: it is not UTF-8 text"):
        read_results(tmp_path / "bad.json")


def test_a_byte_order_mark_does_no_harm(tmp_path):
    result = replace(result_of(a=({}, {"x": 1})), commit="abc")
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + to_text(result).encode())
    assert read_results(tmp_path / "a.json") == result


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "a.json"
    write_file(path, b"one", make_folders=True)
    path.chmod(0o640)
    write_file(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)

    def fails(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_file(path, b"three")
    assert caught.value.filename == str(path)
    assert [(each.name, each.read_bytes()) for each in path.parent.iterdir()] == [("a.json", b"two")]


def test_a_link_goes_on_leading_to_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "there" / "a.json")
    write_file(tmp_path / "link.json", b"one")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "there" / "a.json").read_bytes() == b"one"


def test_pairs_of_arrays_come_back():
    result = compare_json([[1, 3], [2], [9]], [[1, 2], [5, 5]], metric="leaf_f1", arrays="unordered")
    kept = Comparison.of(result, id="a", nodeid="n", threshold={}, passed=True).audited(result)
    assert len(kept.audit) == 2
    kept = replace(kept, audit=(*kept.audit, replace(kept.audit[0], reason="too many", more=3)))
    results = ResultSet((Case("a", (CaseRun(1, True, (kept,)),)),))
    assert from_text(to_text(results), "x.json") == results
    assert Comparison.from_text(kept.to_text()) == kept


def test_pairs_of_arrays_are_bounded():
    expected = [{"n": n, "m": 1} for n in range(300)]
    result = compare_json(
        [{"n": n, "m": 2} for n in range(300)], expected, metric="leaf_f1", arrays="unordered"
    )
    kept = Comparison.of(result, id="a", nodeid="n", threshold={}, passed=True).audited(result)
    assert [(len(each.pairs), each.more) for each in kept.audit] == [(200, 100)]


def test_keys_with_half_of_a_character_and_values_of_any_depth_are_read_back():
    deep = "x"
    for _ in range(120):
        deep = [deep]
    result = compare_json({"a": deep, "b": Decimal("1e400"), "c": math.nan}, {"a": 1, "b": "ü😀"})
    kept = Comparison.of(result, id="a#1", nodeid="a", threshold={}, passed=False, tags={"\ud83d": "\ud83d"})
    kept = kept.with_values(result)
    results = ResultSet((Case("a", (CaseRun(1, False, (kept,)),), tags={"\ud83d": 1}),))
    text = to_text(results)
    assert text.isascii()
    assert '"expected": "\\u00fc\\ud83d\\ude00"' in text
    assert to_text(from_text(text, "x.json")) == text


def run_of(number):
    """A run of so many cases."""
    runs = (CaseRun(1, passed=True, comparisons=(*result_of(a=(1, 1)).comparisons,)),)
    return ResultSet(tuple(Case(f"c{at}", runs) for at in range(number)), commit="abc")


@pytest.mark.parametrize(
    ("number", "parts"), [(0, [0]), (1, [1]), (1_000, [1_000]), (2_001, [1_000, 1_000, 1])]
)
def test_a_file_is_read_in_parts(tmp_path, number, parts):
    path, run = tmp_path / "r.json", run_of(number)
    path.write_text(to_text(run))
    found = list(read_in_parts(path))
    assert [len(each.cases) for each in found] == parts
    assert replace(found[0], cases=tuple(case for each in found for case in each.cases)) == run
    assert number_of_cases(path) == number


@pytest.mark.parametrize(
    "other", [{}, {"indent": 1}, {"indent": 2}, {"indent": 4}, {"indent": 2, "sort_keys": True}], ids=str
)
def test_a_file_that_is_laid_out_in_another_way_has_the_same_cases(tmp_path, other):
    path, run = tmp_path / "r.json", run_of(1_100)
    path.write_text(json.dumps(json.loads(to_text(run)), **other))
    assert [case for each in read_in_parts(path) for case in each.cases] == list(run.cases)


def test_what_is_wrong_in_a_late_part_is_told_with_its_place_in_the_file(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(to_text(run_of(1_100)).replace('"id": "c1050"', '"id": 1050'))
    with pytest.raises(
        ConfigurationError, match=r"r.json is no result file: .* cases\[1050\].id: 1050 is not"
    ):
        list(read_in_parts(path))
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"r.json is no result file: it is not UTF-8 text"):
        list(read_in_parts(path))
