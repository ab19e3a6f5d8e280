"""The file that results are kept in."""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import Comparison, ConfigurationError, RunResult, compare_json, read_results
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.results.file import from_text, to_text
from pytest_jsonmatch.support.atomic import write_file
from tests.laws import law

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
        params=draw(st.sampled_from([(), ("é",)])),
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
    RunResult.of_cases,
    st.lists(cases, max_size=3),
    created=st.just("2026-11-21T12:00:00+00:00"),
    commit=st.text(max_size=4),
    versions=st.just({"python": "3.12.1"}),
    collected=st.none() | st.integers(0, 100),
    narrowed=st.sampled_from([(), ("-k", "node ids")]),
)


@law(results)
def test_what_is_written_is_read_back(result):
    text = to_text(result)
    assert text.isascii()
    assert from_text(text, "x.json") == result
    assert to_text(from_text(text, "x.json")) == text


def result_of(**answers):
    found = []
    for name, (actual, expected) in answers.items():
        result = compare_json(actual, expected)
        made = Comparison.of(result, id=f"{name}#1", nodeid=name, threshold={"score": 1.0}, passed=False)
        found.append(Case(name, (CaseRun(1, passed=False, comparisons=(made,)),)))
    return RunResult.of_cases(tuple(found), collected=len(found))


def test_a_case_that_changes_changes_its_own_line_and_the_head():
    one = to_text(result_of(a=({"x": 1}, {"x": 1}), b=({"x": 1}, {"x": 1}))).splitlines()
    two = to_text(result_of(a=({"x": 1}, {"x": 1}), b=({"x": 2}, {"x": 1}))).splitlines()
    assert [first == second for first, second in zip(one, two, strict=True)] == [False, True, False]


def test_what_a_person_finds_in_it():
    head, case = map(json.loads, to_text(result_of(a=({"x": 1, "y": 2}, {"x": 1, "y": 1}))).splitlines())
    figures = head.pop("figures")
    assert head == {"format": "jsonmatch-results", "version": 3, "collected": 1}
    assert (figures["cases"], figures["pass_rate"], figures["score"], figures["omission_rate"]) == (
        1,
        0,
        0.5,
        0,
    )
    assert list(case) == ["id", "passed", "score", "precision", "recall", "f1", "runs"]
    assert (case["id"], case["score"], case["passed"]) == ("a", 0.5, False)
    (comparison,) = case["runs"][0]["comparisons"]
    assert comparison["signature"] == "leaf_f1|options:none|schema:none|rules:2"
    assert comparison["fields"]["y"] == {
        "score": 0.0,
        "mismatches": 1,
        "expected_leaves": 1,
        "actual_leaves": 1,
        "expected_weight": 1.0,
        "actual_weight": 1.0,
    }


GOOD = result_of(a=({}, {"x": 1}), b=(1, 1))
HEAD, CASE, OTHER = (json.loads(line) for line in to_text(GOOD).splitlines())


def lines(*found):
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not JSON: Expecting value: line 1 column 1 (char 0); write it again with pytest --"),
        ("not JSON", "it is not JSON: "),
        ("[" * 100_000, "it is not JSON: maximum recursion depth exceeded"),
        (lines(HEAD, CASE, "[" * 100_000), "line 3 is damaged: it is not JSON: maximum"),
        ("9" * 4_301, "it is not JSON: Exceeds the limit (4300"),
        ("[]", 'its first line has no "format": "jsonmatch-results"'),
        (lines({**HEAD, "format": "other"}), 'its first line has no "format": "'),
        (json.dumps({**HEAD, "cases": []}, indent=2), "a result file has a line for"),  # an older layout
        (lines({**HEAD, "version": 4}), "its version is 4, and this release reads version 3: upgrade"),
        (lines({**HEAD, "version": 1}), "its version is 1, and this release reads version 3; write it again"),
        (lines({**HEAD, "version": "1"}), "its version is '1', and"),
        (lines(HEAD, CASE), "it has 1 of 2 cases; write it again"),
        (lines(HEAD, CASE, '{"id": "b", "pass'), "line 3 is damaged: it is not JSON: "),
        (lines(HEAD, {**CASE, "runs": []}), "line 2 is damaged: runs: [] has less than"),
        (lines({**HEAD, "versions": {"a": 1}}), 'line 1 is damaged: versions.a: 1 is not of type "string"'),
        (
            lines(HEAD, {**CASE, "recall": 7}),
            "line 2 is damaged: recall: 7 is greater than the maximum of 1;",
        ),
        (lines(HEAD, {**CASE, "\ud800": 1, "runs": 7}), 'line 2 is damaged: runs: 7 is not of type "array"'),
    ],
    ids=map(str, range(17)),
)
def test_what_is_no_result_file(text, message):
    with pytest.raises(ConfigurationError) as caught:
        from_text(text, "x.json")
    assert str(caught.value).startswith(f"x.json is not a result file: {message}")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigurationError, match=r"none.json can't be read: no such file or directory$"):
        read_results(tmp_path / "none.json")
    (tmp_path / "bad.json").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is not a result file: it is not UTF-8 text"):
        read_results(tmp_path / "bad.json")
    (tmp_path / "a.json").write_bytes(
        b"\xef\xbb\xbf" + to_text(GOOD).encode()
    )  # a byte order mark does no harm
    assert read_results(tmp_path / "a.json") == GOOD


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "a.json"
    write_file(path, b"one")
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


def test_what_a_killed_writer_left_goes_with_the_next_writer(tmp_path):
    old = [tmp_path / name for name in (".a[1].json.0123abcd.tmp", ".b.json.0123abcd.tmp", ".a[1].json.tmp")]
    new = tmp_path / ".a[1].json.4567abcd.tmp"  # perhaps of a writer that is at work
    for path in (*old, new):
        path.write_bytes(b"")
    for path in old:
        os.utime(path, (0, 0))
    write_file(tmp_path / "a[1].json", b"one")
    assert sorted(tmp_path.iterdir()) == sorted([*old[1:], new, tmp_path / "a[1].json"])


@pytest.mark.parametrize(
    ("winerror", "refusals", "is_written"), [(32, 3, True), (5, 99, False), (None, 1, False)]
)
def test_windows_refuses_while_a_file_is_read(tmp_path, monkeypatch, winerror, refusals, is_written):
    left, waits, replace_file = [refusals], [], Path.replace

    def refuses(source, target):
        if not left[0]:
            return replace_file(source, target)
        left[0] -= 1
        error = PermissionError(13, "Permission denied")
        error.winerror = winerror
        raise error

    monkeypatch.setattr(Path, "replace", refuses)
    monkeypatch.setattr(time, "sleep", waits.append)
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with nullcontext() if is_written else pytest.raises(PermissionError):
        write_file(path, b"new")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"new" if is_written else b"old"]
    assert sum(waits) == pytest.approx({32: 0.15, 5: 1.0, None: 0}[winerror])


def test_a_link_goes_on_leading_to_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "there" / "a.json")
    write_file(tmp_path / "link.json", b"one")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "there" / "a.json").read_bytes() == b"one"


def test_keys_with_half_of_a_character_are_read_back():
    result = compare_json({"a\ud83d": "x"}, {"a\ud83d": 1, "b": "ü😀"})
    kept = Comparison.of(result, id="a#1", nodeid="a", threshold={}, passed=False, tags={"\ud83d": "\ud83d"})
    results = RunResult.of_cases((Case("a", (CaseRun(1, False, (kept,)),), tags={"\ud83d": 1}),))
    text = to_text(results)
    assert text.isascii()
    assert from_text(text, "x.json") == results
