"""The file that results are kept in."""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from pytest_jsonmatch import ConfigurationError, RunResult, read_results
from tests.conftest import case_of, read_back, text_of


def result_of(**answers):
    found = []
    for name, (actual, expected) in answers.items():
        found.append(case_of(name, actual, expected=expected, metric="leaf_f1", passed=False))
    return RunResult.of_cases(tuple(found), collected=len(found))


def test_a_case_that_changes_changes_its_own_line_and_the_head():
    one = text_of(result_of(a=({"x": 1}, {"x": 1}), b=({"x": 1}, {"x": 1}))).splitlines()
    two = text_of(result_of(a=({"x": 1}, {"x": 1}), b=({"x": 2}, {"x": 1}))).splitlines()
    assert [first == second for first, second in zip(one, two, strict=True)] == [False, True, False]


def test_what_a_person_finds_in_it():
    head, case = map(json.loads, text_of(result_of(a=({"x": 1, "y": 2}, {"x": 1, "y": 1}))).splitlines())
    statistics = head.pop("figures")
    assert head == {"format": "jsonmatch-results", "version": 3, "collected": 1}
    assert (
        statistics["cases"],
        statistics["pass_rate"],
        statistics["score"],
        statistics["omission_rate"],
    ) == (
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
HEAD, CASE, OTHER = (json.loads(line) for line in text_of(GOOD).splitlines())


def lines(*found):
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty; write it again with pytest --"),
        ("\n", "it is not JSON: Expecting value: line 2 column 1 (char 1); write it again with pytest --"),
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
    ids=map(str, range(18)),
)
def test_what_is_not_a_result_file(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("x.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_results("x.json")
    assert str(caught.value).startswith(f"x.json is not a result file: {message}")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigurationError, match=r"none.json can't be read: no such file or directory$"):
        read_results(tmp_path / "none.json")
    (tmp_path / "bad.json").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is not a result file: it is not UTF-8 text"):
        read_results(tmp_path / "bad.json")
    (tmp_path / "a.json").write_bytes(
        b"\xef\xbb\xbf" + text_of(GOOD).encode()
    )  # a byte order mark does no harm
    assert read_results(tmp_path / "a.json") == GOOD


ONE, TWO = (
    RunResult.of_cases(commit=commit, created="2026-11-21T12:00:00+00:00") for commit in ("one", "two")
)


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "a.json"
    ONE.save(path)
    path.chmod(0o640)
    TWO.save(path)
    assert (read_results(path), path.stat().st_mode & 0o777) == (TWO, 0o640)

    def fails(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space left on device") as caught:
        ONE.save(path)
    assert caught.value.filename == str(path)
    assert [(each.name, read_results(each)) for each in path.parent.iterdir()] == [("a.json", TWO)]


def test_what_a_killed_writer_left_goes_with_the_next_writer(tmp_path):
    old = [tmp_path / name for name in (".a[1].json.0123abcd.tmp", ".b.json.0123abcd.tmp", ".a[1].json.tmp")]
    new = tmp_path / ".a[1].json.4567abcd.tmp"  # perhaps of a writer that is at work
    for path in (*old, new):
        path.write_bytes(b"")
    for path in old:
        os.utime(path, (0, 0))
    ONE.save(tmp_path / "a[1].json")
    assert sorted(tmp_path.iterdir()) == sorted([*old[1:], new, tmp_path / "a[1].json"])


@pytest.mark.parametrize(
    ("winerror", "refusals", "is_written"), [(32, 3, True), (5, 99, False), (None, 1, False)]
)
def test_windows_refuses_while_a_file_is_read(tmp_path, monkeypatch, winerror, refusals, is_written):
    left, waits, replace_file = [refusals], [], Path.replace
    path = tmp_path / "a.json"
    ONE.save(path)

    def refuses(source, target):
        if not left[0]:
            return replace_file(source, target)
        left[0] -= 1
        error = PermissionError(13, "Permission denied")
        error.winerror = winerror
        raise error

    monkeypatch.setattr(Path, "replace", refuses)
    monkeypatch.setattr(time, "sleep", waits.append)
    with nullcontext() if is_written else pytest.raises(PermissionError):
        TWO.save(path)
    assert [read_results(each) for each in tmp_path.iterdir()] == [TWO if is_written else ONE]
    assert sum(waits) == pytest.approx({32: 0.15, 5: 1.0, None: 0}[winerror])


def test_a_link_goes_on_leading_to_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "there" / "a.json")
    ONE.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_results(tmp_path / "there" / "a.json") == ONE


def test_keys_with_half_of_a_character_are_read_back():
    results = RunResult.of_cases(
        (case_of("a", {"a\ud83d": "x"}, expected={"a\ud83d": 1, "b": "ü😀"}, tags={"\ud83d": "\ud83d"}),)
    )
    text = text_of(results)
    assert text.isascii()
    assert read_back(text) == results
