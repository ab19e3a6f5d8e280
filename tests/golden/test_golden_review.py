"""--jsonmatch-review: each difference of a failed case is asked about, on a real terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time

import pytest

CASES = """\
metric: leaf_f1
cases:
  - id: bakery  # ours
    actual: { shop: Ann, total: 2, tip: 1 }
    expected:  # by the owner
      shop: 'Ann & Co'
      total: 1
      note: none
  - id: bookshop
    actual: [1, 2, 4]
    expected: [1, 3]
  - id: fine
    actual: 1
    expected: 1
"""
QUESTION = "  replace, add as alternative, keep, skip this case, quit? [r/a/k/s/q] "
TEN_SECONDS = 10


pytestmark = pytest.mark.usefixtures("json_similarity")


@pytest.fixture
def converse(pytester):
    """Run pytest on a pseudo-terminal and give it one answer for each question; return what it wrote."""
    pty = pytest.importorskip("pty", reason="a pseudo-terminal of POSIX")

    def run(answers, *arguments):
        controller, terminal = pty.openpty()
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--jsonmatch-review", *arguments]
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "100", "PYTHONUTF8": "1"}
        process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=pytester.path, env=environment
        )
        os.close(terminal)
        waiting, seen, written = list(answers), 0, b""
        last = time.monotonic()
        while True:
            ready, _, _ = select.select([controller], [], [], 0.1)
            if ready:
                try:
                    chunk = os.read(controller, 4096)
                except OSError:  # Linux: the other side has been closed
                    break
                if not chunk:
                    break
                written += chunk
                last = time.monotonic()
            elif process.poll() is not None:
                break
            elif time.monotonic() - last > 6 * TEN_SECONDS:
                process.kill()
                break
            asked = written.count(QUESTION.strip().encode())
            while seen < asked and waiting:
                seen += 1
                os.write(controller, waiting.pop(0).encode())
        os.close(controller)
        process.wait()
        assert waiting == []
        return process.returncode, written.decode("utf-8").replace("\r\n", "\n")

    return run


def test_accept_and_reject(pytester, golden, converse):
    golden(CASES)
    code, text = converse(["r\n", "k\n", "R\n", "k\n", "r\n", "r\n"])
    assert code == 1
    assert (pytester.path / "a.golden.yaml").read_text() == CASES.replace("'Ann & Co'", "Ann").replace(
        "      note: none\n", ""
    ).replace("[1, 3]", "[1, 2, 4]")
    shown = re.sub(r"quit\? \[r/a/k/s/q\] \w+", "quit?", text)
    assert (
        "\na.golden.yaml::bakery (1 of 2 to review)\n"
        '  shop\n    expected "Ann & Co"\n    actual   "Ann"\n  replace, add as alternative, keep, skip this case, quit?\n'
        "  total\n    expected 1\n    actual   2\n  replace, add as alternative, keep, skip this case, quit?\n"
        '  note\n    expected "none"\n    actual   (nothing)\n  replace, add as alternative, keep, skip this case, quit?\n'
        "  tip\n    expected (nothing)\n    actual   1\n  replace, add as alternative, keep, skip this case, quit?\n"
        "\na.golden.yaml::bookshop (2 of 2 to review)\n"
        "  [1]\n    expected 3\n    actual   2\n  replace, add as alternative, keep, skip this case, quit?\n"
        "  [2]\n    expected (nothing)\n    actual   4\n  replace, add as alternative, keep, skip this case, quit?\n"
    ) in shown
    assert "jsonmatch review" in text
    assert "updated 2 cases in a.golden.yaml" in text
    # What pytest shows of the tests is not captured, as if the tests had printed it.
    assert "Captured stdout" not in text


def test_an_alternative_goes_next_to_the_expected_value(pytester, golden, converse):
    cases = CASES.replace("  - id: bookshop\n", "    accept:  # seen\n      total: [3]\n  - id: bookshop\n")
    golden(cases)
    code, text = converse(["a\n", "add\n", "a\n", "a\n", "k\n", "a\n", "a\n", "k\n"])
    assert code == 1
    assert "nothing is expected there: replace it, or keep it" in text
    assert (pytester.path / "a.golden.yaml").read_text() == cases.replace(
        "      total: [3]\n",
        "      total: [3, 2]\n      shop:\n        - Ann\n      note:\n        optional: true\n",
    ).replace("    expected: [1, 3]\n", "    expected: [1, {$one_of: [3, 2]}]\n")
    again = pytester.runpytest("a.golden.yaml::bakery")
    again.stdout.fnmatch_lines(["*4 fields: 2 match, 1 extra, 1 skipped*"])


@pytest.mark.parametrize(
    ("answers", "arguments", "old", "new"),
    [
        ("r s r k", (), "[1, 3]", "[1, 2]"),  # skipping leaves the case alone
        ("what? R q", (), "'Ann & Co'", "'Ann'"),  # quitting keeps what was accepted
        ("r q", ("-s",), "'Ann & Co'", "'Ann'"),
    ],
)
def test_skip_and_quit(pytester, golden, converse, answers, arguments, old, new):
    golden(CASES)
    converse([f"{answer}\n" for answer in answers.split()], *arguments)
    assert (pytester.path / "a.golden.yaml").read_text() == CASES.replace(old, new)


@pytest.mark.parametrize(
    ("cases", "answers", "ended"), [(CASES, ["\x04"], 1), ("id: a\nactual: 1\nexpected: 1\n", [], 0)]
)
def test_the_end_of_the_input_is_a_quit_and_where_nothing_failed_nothing_is_asked(
    pytester, golden, converse, cases, answers, ended
):
    golden(cases)
    code, text = converse(answers)
    assert (code, (pytester.path / "a.golden.yaml").read_text()) == (ended, cases)
    assert "no case to update" in text


def test_workers_are_refused(golden, converse):
    golden(CASES)
    code, text = converse([], "-p", "xdist", "-n", "2")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --jsonmatch-review asks on the terminal, one test at a time; leave out -n" in text


@pytest.mark.parametrize(
    ("ci", "message"),
    [
        ("", "asks on the terminal, and there is none; use --jsonmatch-update"),
        ("true", "does not write golden files in CI *"),
    ],
)
def test_without_a_terminal_and_in_ci_it_is_refused(pytester, golden, monkeypatch, ci, message):
    monkeypatch.setenv("CI", ci)
    golden(CASES)
    result = pytester.runpytest_subprocess("--jsonmatch-review")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"ERROR: --jsonmatch-review {message}")


def test_alternatives_of_one_row(pytester, golden, converse):
    cases = (
        "cases:\n- id: a\n"
        "  actual: {rows: [{n: 1, t: x}, {n: 9, t: z}, {n: 4}]}\n"
        "  expected:\n    rows:\n    - {n: 1, t: x}\n    - {n: 2, t: z}\n    - {n: 4, t: w}\n"
    )
    golden(cases)
    _, text = converse(["a\n", "a\n", "k\n"])
    assert (pytester.path / "a.golden.yaml").read_text() == cases.replace("n: 2", "n: {$one_of: [2, 9]}")
    assert "`$one_of` can't make it optional in this element alone: replace it, or keep it" in text


def test_data_that_looks_like_a_matcher_is_accepted_as_plain_data(pytester, golden, converse):
    cases = (
        "cases:\n- id: a\n  actual: {q: {$any: 2}, r: {$any: 1}}\n"
        "  expected: {q: {$literal: {$any: 1}}, r: 1}\n"
    )
    golden(cases)
    converse(["a\n", "a\n"])
    assert (pytester.path / "a.golden.yaml").read_text() == (
        f'{cases}  accept:\n    q["$any"]:\n      - 2\n    r:\n      - {{$any: 1}}\n'
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_matchers_stay(pytester, golden, converse):
    cases = (
        "cases:\n- id: a\n  actual: {id: 7, n: 2}\n  expected:\n    id: {$any: integer}\n    n: 1\n"
        "- id: b\n  actual: {id: x}\n  expected: {id: {$any: integer}}\n"
    )
    golden(cases)
    _, text = converse(["r\n"])
    assert (pytester.path / "a.golden.yaml").read_text() == cases.replace("n: 1\n", "n: 2\n")
    assert 'not updated: a.golden.yaml::b: id: the matcher {"$any": "integer"} would be lost' in text
