"""`--jsonmatch-stop-when-decided`: the run ends once its gates are settled."""

from __future__ import annotations

import pytest

CONFTEST = """\
import pytest


@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    with open("calls.txt", "a") as file:
        file.write("x")
    return jsonmatch_case.input
"""


@pytest.fixture
def suite(pytester, write_cases):
    pytester.makeconftest(CONFTEST)
    write_cases([1.0] * 20)
    return pytester


@pytest.fixture
def write_cases(pytester):
    def write(scores):
        rows = (
            f"  - id: c{number:02}\n    input: {{ a: {1 if score else 2} }}\n    expected: {{ a: 1 }}\n"
            for number, score in enumerate(scores)
        )
        text = "threshold: 0\ncases:\n" + "".join(rows)
        (pytester.path / "a.golden.yaml").write_text(text, encoding="utf-8")

    return write


def stopped(suite, *options):
    return suite.runpytest("--jsonmatch-fail-under=0.5", "--jsonmatch-stop-when-decided", *options)


def calls(pytester):
    return len((pytester.path / "calls.txt").read_text())


def test_a_limit_that_is_reached_for_certain(suite):
    run = stopped(suite)
    assert (run.ret, calls(suite)) == (pytest.ExitCode.OK, 10)
    run.stdout.fnmatch_lines("""\
        gates, on 10 of 20 cases; decided, 10 tests saved:
          PASSED   score >= 0.5  1.00  slack +0.50 (mean of 10 cases)
        *decided: the mean score is at least 0.500*""")


def test_a_limit_that_is_out_of_reach(suite, write_cases):
    write_cases([0.0] * 20)
    gates = ("--jsonmatch-gate=pass_rate >= 0", "--jsonmatch-gate=f1 >= 0.9")
    run = suite.runpytest(*gates, "--jsonmatch-stop-when-decided")
    assert (run.ret, calls(suite)) == (pytest.ExitCode.TESTS_FAILED, 3)
    run.stdout.fnmatch_lines(["*3 of 20 cases; decided, 17 tests*", "  FAILED   f1 >= 0.9  *"])


def test_xdist_stops_too(suite, write_cases):
    write_cases([1.0] * 60)
    run = stopped(suite, "--jsonmatch-fail-under=0.1", "-p", "xdist", "-n", "2")
    assert run.ret == pytest.ExitCode.OK
    done = calls(suite)  # workers end what they were given
    assert done < 60
    run.stdout.fnmatch_lines([f"gates, on {done} of 60 cases; decided, {60 - done} tests saved:"])


@pytest.mark.parametrize(
    ("number", "option", "called", "line"),
    [
        (20, "--jsonmatch-gate=batch_errors == 0", 20, "gates, on 20 cases:"),
        (4, "--jsonmatch-repeat=3", 6, "gates, on 2 of 4 cases; decided, 6 tests saved:"),
    ],
)
def test_a_gate_that_needs_the_whole_run_and_repeats_that_count(
    suite, write_cases, number, option, called, line
):
    write_cases([1.0] * number)
    run = stopped(suite, option)
    assert (run.ret, calls(suite)) == (pytest.ExitCode.OK, called)
    run.stdout.fnmatch_lines(line)


NOT_JUDGED = "not judged: the run ended before all cases had run"


@pytest.mark.parametrize(
    ("score", "option", "called", "line"),
    [
        (1.0, "--jsonmatch-baseline=main", 10, f"  SKIPPED  --jsonmatch-baseline=main  {NOT_JUDGED}"),
        (1.0, "--jsonmatch-max-drop=0.1", 20, "  PASSED   --jsonmatch-max-drop=0.1  *"),
        (0.0, "--jsonmatch-max-drop=0.1", 11, f"  SKIPPED  --jsonmatch-max-drop=0.1  {NOT_JUDGED}"),
    ],
)
def test_one_that_ends_early_is_not_compared_with_a_baseline(suite, write_cases, score, option, called, line):
    suite.runpytest("--jsonmatch-save=main")
    (suite.path / "calls.txt").unlink()
    write_cases([score] * 20)
    run = stopped(suite, "--jsonmatch-baseline=main", option)
    assert (run.ret, calls(suite)) == (0 if score else 1, called)
    run.stdout.fnmatch_lines([line])


PLAIN = """\
import pytest
from pytest_jsonmatch import assert_json_match


def test_that_compares_nothing():
    assert not "a failure"


@pytest.mark.parametrize("value", [1] * 10)
def test_that_does_not_say_that_it_compares(value):
    assert_json_match({"a": 2}, {"a": value}, threshold=0)
"""


def test_any_test_may_compare(suite, write_cases):
    write_cases([1.0] * 5)
    suite.makepyfile(test_b=PLAIN)
    # (The test that compares nothing has run: of 15 that may count 8 have to be wrong.)
    told = ["gates, on 8 cases; decided, 7 tests saved:", "*decided: the mean score can reach at most 0.467*"]
    for files, lines in ((["test_b.py", "a.golden.yaml"], told), (["a.golden.yaml", "test_b.py"], told[1:])):
        run = stopped(suite, *files)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.stdout.fnmatch_lines(lines)


def test_what_is_expected_to_fail_decides_nothing(pytester, python):
    python("""
        @pytest.mark.parametrize("value", [pytest.param(2, marks=pytest.mark.xfail), 1, 1])
        def test_it(value):
            assert_json_match({"a": value}, {"a": 1})
        """)
    run = pytester.runpytest("--jsonmatch-fail-under=0.9", "--jsonmatch-stop-when-decided")
    assert run.ret == pytest.ExitCode.OK
    run.assert_outcomes(passed=2, xfailed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jsonmatch-max-drop=0.1"], "--jsonmatch-max-drop needs --jsonmatch-baseline"),
        (
            ["--jsonmatch-max-drop=1"],
            "--jsonmatch-max-drop: '1' is no drop of a score: from 0 to below 1*",
        ),
        (["--jsonmatch-confidence=95"], "argument --jsonmatch-confidence: '95' is no confidence: above 0.5*"),
        (["--jsonmatch-json="], "--jsonmatch-json= is empty; name a file"),
        ([], "--jsonmatch-stop-when-decided needs a gate*"),
    ],
)
def test_options_that_make_no_sense(pytester, arguments, message):
    run = pytester.runpytest("--jsonmatch-stop-when-decided", *arguments)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(f"*{message}")


def test_a_gate_by_tag_is_open_until_the_end(pytester):
    pytester.makepyfile(
        test_it="import pytest\n"
        "@pytest.mark.parametrize('n', range(8))\n"
        "def test_it(assert_json_match, n):\n"
        "    source = 'phone' if n == 7 else 'scan'\n"
        "    assert_json_match(n == 7, True, threshold=0, tags={'source': source})\n"
    )
    run = pytester.runpytest(
        "--jsonmatch-stop-when-decided", '--jsonmatch-gate=tags["source=phone"].f1 >= 0.9'
    )
    run.assert_outcomes(passed=8)
    assert run.ret == 0
