"""`--jsonmatch-summary`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_jsonmatch import read_results

PERFECT = """
    def test_perfect(assert_json_match):
        assert_json_match({"name": "Ann", "age": 3}, {"name": "Ann", "age": 3})
"""
MIXED = """
    def test_mixed(assert_json_match):
        assert_json_match({"name": "Ann", "age": 3}, {"name": "Ann", "age": 4}, threshold=0.5)
"""


def summary(outcome):
    """The lines that the plugin wrote, without the heading."""
    lines = outcome.outlines
    heads = [number for number, line in enumerate(lines) if line.strip("= ") == "jsonmatch"]
    if not heads:
        return [line for line in lines if line.startswith("jsonmatch:")]
    below = lines[heads[0] + 1 :]
    end = next(number for number, line in enumerate(below) if line.startswith("=") or " passed in " in line)
    return [line for line in below[:end] if line and "less than" not in line]


def rows(outcome):
    return [line.split()[0] for line in summary(outcome) if line.startswith(("name", "age"))]


FAILED = """
    def test_failed(assert_json_match):
        assert_json_match({"name": "Ann", "age": 3}, {"name": "Ann", "age": 4}, metric="json_similarity")
"""


def test_auto_is_a_line_for_each_metric_when_all_pass(pytester, workers):
    pytester.makepyfile(test_a=PERFECT, test_b=MIXED)
    assert summary(pytester.runpytest(*workers)) == [
        "jsonmatch: leaf_f1, 2 cases, 4 fields, score 0.75 (mean over cases), lowest 0.50"
    ]
    pytester.makepyfile(test_c=FAILED.replace(")\n", ", threshold=0.5)\n"))
    lines = [line for line in summary(pytester.runpytest()) if line.startswith("jsonmatch")]
    assert [line.partition(",")[0] for line in lines] == ["jsonmatch: leaf_f1", "jsonmatch: json_similarity"]


@pytest.mark.parametrize("arguments", [("-v",), ("--jsonmatch-summary=all",)], ids=str)
def test_the_table_of_a_run_in_which_all_pass_is_there_for_the_asking(pytester, arguments):
    pytester.makepyfile(MIXED)
    assert rows(pytester.runpytest(*arguments)) == ["age", "name"]
    pytester.makepyfile(PERFECT)
    assert rows(pytester.runpytest(*arguments)) == ["age", "name"]


@pytest.mark.parametrize(
    ("text", "arguments", "shown"),
    [
        (FAILED, [], []),
        (FAILED, ["-v"], ["age", "name"]),
        (MIXED, ["--jsonmatch-summary=none"], []),
        (MIXED, ["--jsonmatch-summary=failed"], ["age"]),
        ("def test_plain(): pass", ["--jsonmatch-summary=all"], []),
    ],
)
def test_which_rows_are_shown(pytester, text, arguments, shown):
    pytester.makepyfile(text)
    assert rows(pytester.runpytest(*arguments)) == shown


@pytest.mark.parametrize("arguments", [("--no-summary",), ("-qq",), ("--collect-only",)], ids=str)
def test_what_turns_summaries_off_turns_ours_off(pytester, arguments):
    pytester.makepyfile(MIXED)
    text = pytester.runpytest(*arguments).stdout.str()
    assert "age" not in text
    assert " jsonmatch " not in text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_every_terminal_can_show_it(pytester, encoding):
    pytester.makepyfile(
        test_long=r"""
        def test_long(assert_json_match):
            assert_json_match({"müde" * 40: "日本"}, {"müde" * 40: "日本語"}, threshold=0)
        """
    )
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    arguments = [sys.executable, "-m", "pytest", "--jsonmatch-summary=all"]
    process = subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, check=True)
    text = process.stdout.decode(encoding)
    found = [each in text for each in (" jsonmatch ", "UnicodeEncodeError", "日本")]
    assert found == [True, False, encoding == "utf-8"]


def test_it_is_coloured_only_where_pytest_is(pytester):
    pytester.makepyfile(MIXED)
    plain = pytester.runpytest("--color=no", "-v").stdout.str()
    coloured = pytester.runpytest("--color=yes", "-v").stdout.str()
    assert "\x1b[" not in plain
    row = next(line for line in coloured.splitlines() if line.startswith("age") or "age  " in line)
    assert "\x1b[31m" in row


def test_ids_can_be_passed_to_pytest_where_it_was_started(pytester):
    folder = pytester.mkdir("evals")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    cases = "cases: [{id: tea, expected: {a: 1}, actual: {a: 2}}]\n"
    (folder / "a.golden.yaml").write_text(cases, encoding="utf-8")
    pytester.runpytest("evals").stdout.fnmatch_lines(["evals/a.golden.yaml::tea  0.00 < 1.00 *"])
    pytester.runpytest("evals/a.golden.yaml::tea").assert_outcomes(failed=1)


def test_what_an_empty_answer_scores_with_v(pytester, workers):
    pytester.makefile(
        ".golden.yaml",
        a="""\
            options: {nulls: absent}
            cases:
            - {id: nothing, actual: {}, expected: {a: null}}
            - {id: one, actual: {a: 1}, expected: {a: 1}}
            - {id: scalar, actual: 1, expected: 1}
            - {id: list, actual: [1], expected: [1]}
            """,
    )
    run = pytester.runpytest("-v", "--jsonmatch-json=out.jsonl", *workers)
    run.assert_outcomes(passed=4)
    run.stdout.fnmatch_lines(["an empty answer scores 0.33"])
    pytester.runpytest(*workers).stdout.no_fnmatch_line("*empty answer*")
    assert read_results(pytester.path / "out.jsonl").floor == pytest.approx(1 / 3)
