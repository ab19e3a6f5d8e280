"""Repeated cases: `repeat`, `min_pass_rate` and `--jsonmatch-repeat`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_jsonmatch import read_results
from tests.conftest import load_cases

# Each run of a case answers by the number of its run, in whatever process it is.
CONFTEST = """\
import pytest

@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    answer = jsonmatch_case.input[jsonmatch_case.run - 1]
    if answer == "raise":
        raise RuntimeError("no answer")
    return answer
"""
MIXED = """\
cases:
  - id: flaky
    repeat: 5
    min_pass_rate: 0.6
    input: [{ n: 1 }, { n: 2 }, { n: 1 }, "no JSON", { n: 3, m: 1 }]
    expected:
      n: 1
      m: 1
    fields: { m: { skip: true } }
  - id: fine
    repeat: 2
    min_pass_rate: 0.5
    input: [{ n: 1 }, { n: 2 }]
    expected: { n: 1 }
  - id: once
    input: [{ n: 1 }]
    expected: { n: 1 }
"""


@pytest.fixture
def suite(pytester, write, golden):
    write("conftest.py", CONFTEST)
    golden(MIXED)
    return pytester


def cases_of(text, **options):
    return load_cases(text.encode(), Path("x.yaml"), "x.yaml", **options).by_id


def ids(text, **options):
    return list(cases_of(text, **options))


# -- which runs there are ----------------------------------------------------------------------------------


def test_each_run_is_a_case():
    runs = cases_of("id: a\nrepeat: 3\nmin_pass_rate: 0.5\nexpected: 1\n")
    assert [(id_, case.id, case.run, case.runs, case.base_id) for id_, case in runs.items()] == [
        ("a@1", "a@1", 1, 3, "a"),
        ("a@2", "a@2", 2, 3, "a"),
        ("a@3", "a@3", 3, 3, "a"),
    ]
    assert {case.min_pass_rate for case in runs.values()} == {0.5}


ANSWERED = "cases:\n- {id: a, expected: 1}\n- {id: b, expected: 1, actual: 1}\n"


@pytest.mark.parametrize(
    ("text", "option", "found"),
    [
        ("id: a\nrepeat: 1\nexpected: 1\n", None, "a"),
        (f"repeat: 2\n{ANSWERED}- {{id: c, expected: 1, actual_file: c.txt}}\n", None, "a@1 a@2 b c"),
        (f"repeat: 2\n{ANSWERED}- {{id: d, expected: 1, actual: 1, repeat: 2}}\n", None, "a@1 a@2 b d@1 d@2"),
        (f"repeat: 2\n{ANSWERED}- {{id: e, expected: 1, repeat: 1}}\n", None, "a@1 a@2 b e"),
        # The command line goes before the file.
        (f"repeat: 3\n{ANSWERED}- {{id: c, expected: 1, actual: 1, repeat: 4}}\n", 2, "a@1 a@2 b c@1 c@2"),
        (f"repeat: 2\n{ANSWERED}- {{id: c, expected: 1, actual: 1, repeat: 4}}\n", 1, "a b c"),
        ("id: a\nparametrize: {k: [1, 2]}\nrepeat: '${k}'\nexpected: '${k}'\n", None, "a-1 a-2@1 a-2@2"),
    ],
)
def test_all_but_recorded_answers_are_repeated(text, option, found):
    assert ids(text, repeat=option) == found.split()


def test_the_same_id_twice():
    with pytest.raises(ValueError, match="the id 'a@2' is already taken by the case at line 2"):
        ids("cases:\n- {id: a@2, expected: 1}\n- {id: a, repeat: 2, expected: 1}\n")


@pytest.mark.parametrize("value", ["0", "-1", "many", "2.0", "10001"])
def test_an_option_that_is_none(pytester, value):
    run = pytester.runpytest(f"--jsonmatch-repeat={value}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        f"*error: argument --jsonmatch-repeat: must be a whole number from 1 to 10,000, got '{value}'"
    )


# -- what becomes of them ----------------------------------------------------------------------------------


def test_the_case_is_judged_once_all_runs_have_reported(suite, workers):
    run = suite.runpytest(*workers)
    run.assert_outcomes(passed=4, xfailed=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines("""\
        *= REPEATED CASES =*
        *_ flaky: run 2 of 5, the lowest-scoring _*
        >       n: 1
        E       AssertionError: n 1 → 2 (leaf_f1 0.00 < 1.00)
        *= jsonmatch =*
        repeated cases that did not pass
        case                  verdict  pass rate  limit  margin  note
        a.golden.yaml::flaky  failed        0.40   0.60   -0.20  2 of 5 runs passed
        repeats of 2 cases in 7 runs: pass@1 0.45, pass@2 0.85, pass^2 0.05, flip rate
        0.80
        case                  passed  scores of runs
        a.golden.yaml::flaky  2 of 5    0.00 to 1.00
        a.golden.yaml::fine   1 of 2    0.00 to 1.00""")


def test_enough_runs_pass(suite):
    run = suite.runpytest("-k", "not flaky", "-rx")
    run.assert_outcomes(passed=2, xfailed=1, deselected=5)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines("XFAIL a.golden.yaml::fine@2 - run 2 of 2 under threshold*")
    run.stdout.no_fnmatch_line("*  failed  *")


def test_without_a_rate_each_run_is_a_test(suite, golden):
    golden(MIXED.replace("min_pass_rate: 0.5", ""))
    run = suite.runpytest("-k", "fine")
    run.assert_outcomes(passed=1, failed=1, deselected=6)
    run.stdout.fnmatch_lines("""\
        failed cases
        a.golden.yaml::fine (run 2 of 2)  0.00 < 1.00*
        repeats of 1 case in 2 runs:*""")


def test_what_could_still_change_is_not_judged(suite):
    run = suite.runpytest("a.golden.yaml::flaky@2")
    run.assert_outcomes(xfailed=1)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(
        ["a.golden.yaml::flaky  not decided * 0.60 *", "  0 of 1 run passed, 4 did not run"]
    )


def test_what_could_not_change_is(suite):
    run = suite.runpytest(*(f"a.golden.yaml::flaky@{number}" for number in (2, 4, 5)))
    run.assert_outcomes(xfailed=3)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(
        ["a.golden.yaml::flaky  failed * 0.00 * 0.60 *", "  0 of 3 runs passed, 2 did not run"]
    )


def test_an_error_is_never_forgiven(suite, golden):
    golden(MIXED.replace("{ n: 2 }]", "raise]"))
    run = suite.runpytest("-k", "fine")
    run.assert_outcomes(passed=1, errors=1, deselected=6)
    run.stdout.fnmatch_lines(["repeats of 1 case in 2 runs:*", "a.golden.yaml::fine * 1 of 2*"])


def test_repeats_that_all_pass_need_no_words(pytester):
    pytester.makefile(".golden.yaml", a="{id: a, repeat: 3, actual: 1, expected: 1}")
    run = pytester.runpytest()
    run.assert_outcomes(passed=3)
    run.stdout.no_fnmatch_line("repeats of*")
    pytester.runpytest("--jsonmatch-summary=all").stdout.fnmatch_lines(["repeats of 1 case in 3 runs:*"])


def test_a_comparator_that_raises_is_not_forgiven(suite, write, golden):
    write(
        "conftest.py",
        CONFTEST
        + """
def pytest_jsonmatch_register(registry):
    registry.comparator("broken", lambda expected, actual, params: 1 / 0)
""",
    )
    golden(
        MIXED.replace(
            "    expected: { n: 1 }", "    fields: { n: { compare: broken } }\n    expected: { n: 1 }", 1
        )
    )
    suite.runpytest("-k", "fine").assert_outcomes(failed=2, deselected=6)


def test_an_expected_failure_stays_one(suite, golden):
    golden(MIXED.replace("  - id: flaky", "  - id: flaky\n    marks: [xfail]"))
    run = suite.runpytest("-k", "flaky", "-rx")
    run.assert_outcomes(xpassed=2, xfailed=3, deselected=3)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.no_fnmatch_line("*under threshold*")


def test_runxfail_lets_each_run_stand_for_itself(suite):
    suite.runpytest("--runxfail", "-k", "fine").assert_outcomes(passed=1, failed=1, deselected=6)


def test_last_failed_runs_the_whole_case_again(suite):
    suite.runpytest()
    run = suite.runpytest("--lf")
    run.assert_outcomes(passed=2, xfailed=3)
    run.stdout.fnmatch_lines("a.golden.yaml::flaky  failed *")


# pytest's cache is not needed, and `-x` does not stop at a run.
@pytest.mark.parametrize("arguments", [("-p", "no:cacheprovider"), ("-x",)])
def test_a_failed_case_just_fails(suite, arguments):
    run = suite.runpytest(*arguments)
    run.assert_outcomes(passed=4, xfailed=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines("a.golden.yaml::flaky  failed *")


@pytest.mark.parametrize("option", ["--jsonmatch-summary=none", "--no-summary", "-qq"])
def test_a_failure_is_reported_without_a_summary(suite, option):
    run = suite.runpytest(option, "--tb=no")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    if option != "--no-summary" or pytest.version_tuple >= (8, 1):
        run.stdout.fnmatch_lines("a.golden.yaml::flaky  failed * 0.40 * 0.60 *2 of 5 runs passed")
    run.stdout.no_fnmatch_line("repeats of*")
    run.stdout.no_fnmatch_line("*REPEATED CASES*")


def test_the_table_counts_each_case_once(suite, golden):
    golden("""\
cases:
  - id: often
    repeat: 4
    min_pass_rate: 0
    input: [{ n: 2 }, { n: 2 }, { n: 2 }, { n: 2 }]
    expected: { n: 1 }
  - id: once
    input: [{ n: 1 }]
    expected: { n: 1 }
""")
    run = suite.runpytest("-v")
    assert run.ret == pytest.ExitCode.OK
    # Counts of all runs, and the mean of 0 (four times) and 1.
    run.stdout.re_match_lines([r"n +5 +1 +4 +0 +0 +0\.50"])


def test_runs_of_a_parametrized_fixture_are_distinguished(suite, golden, two_models):
    two_models('{"n": 1 if model == "large" else jsonmatch_case.run}')
    golden("id: a\nrepeat: 3\nmin_pass_rate: 0.5\nexpected: { n: 1 }\n")
    run = suite.runpytest()
    run.assert_outcomes(passed=4, xfailed=2)
    run.stdout.fnmatch_lines("""\
        score of fields by model
        field       large  small
        n            1.00   0.33
        repeats of 2 cases in 6 runs:*
        a.golden.yaml::a[[]small[]]  1 of 3 *""")
    run.stdout.fnmatch_lines("a.golden.yaml::a[[]small[]]  failed * 0.33 * 0.50 *1 of 3 runs passed")


def test_a_python_test_with_golden_cases(pytester, write):
    write("cases/a.yaml", MIXED)
    write(
        "test_it.py",
        """\
from pytest_jsonmatch import assert_json_match, golden_cases

@golden_cases("cases/*.yaml")
def test_it(case):
    answer = case.input[case.run - 1]
    assert_json_match(answer, case.expected, **case.options)
    assert case.id != "fine@1", "something else"
""",
    )
    run = pytester.runpytest()
    # Without JSON is without JSON; but another assertion is not a threshold.
    run.assert_outcomes(passed=3, xfailed=4, failed=1)
    run.stdout.fnmatch_lines("""\
        test_it.py::test_it[[]fine[]] *failed * 0.00 * 0.50 *
          0 of 2 runs passed
        test_it.py::test_it[[]flaky[]] *failed * 0.40 * 0.60 *
          2 of 5 runs passed""")


def test_a_python_test_is_repeated_by_the_command_line(pytester, write):
    write("cases.yaml", "id: a\nexpected: { n: 1 }\n")
    write(
        "test_it.py",
        """\
from pytest_jsonmatch import golden_cases

@golden_cases("cases.yaml")
def test_it(case): pass
""",
    )
    run = pytester.runpytest("--jsonmatch-repeat=2", "--collect-only", "-q")
    run.stdout.fnmatch_lines(["test_it.py::test_it[[]a@1[]]", "test_it.py::test_it[[]a@2[]]"])


def test_a_worker_that_crashes_is_a_run_that_failed(suite, write, golden):
    write(
        "conftest.py",
        """\
import os
import pytest

@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    if jsonmatch_case.run == 2:
        os._exit(1)
    return {"n": 1}
""",
    )
    golden("id: a\nrepeat: 4\nmin_pass_rate: 1\nexpected: { n: 1 }\n")
    run = suite.runpytest_subprocess("-p", "xdist", "-n", "1")
    run.assert_outcomes(passed=3, failed=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines("a.golden.yaml::a  failed * 0.75 *3 of 4 runs passed")


# -- kept and replayed, updated ----------------------------------------------------------------------------


def test_each_run_is_kept_and_replayed(suite, write):
    suite.runpytest("--jsonmatch-record=out.jsonl")
    kept = [json.loads(line) for line in (suite.path / "out.jsonl").read_text().splitlines()]
    assert sorted(entry["case"] for entry in kept) == [
        *(f"a.golden.yaml::fine@{run}" for run in (1, 2)),
        *(f"a.golden.yaml::flaky@{run}" for run in (1, 2, 3, 4, 5)),
        "a.golden.yaml::once",
    ]
    write("conftest.py", "import pytest\n\n@pytest.fixture\ndef jsonmatch_actual():\n    raise SystemError\n")
    run = suite.runpytest("--jsonmatch-replay=out.jsonl")
    run.assert_outcomes(passed=4, xfailed=4)
    run.stdout.fnmatch_lines("a.golden.yaml::flaky  failed * 0.40 * 0.60 *2 of 5 runs passed")


def test_a_replay_with_more_runs_than_were_kept(suite):
    suite.runpytest("--jsonmatch-record=out.jsonl", "-k", "fine")
    run = suite.runpytest("--jsonmatch-replay=out.jsonl", "--jsonmatch-repeat=3", "-k", "fine")
    run.assert_outcomes(passed=1, xfailed=1, errors=1, deselected=6)
    message = "to produce and add it, use --jsonmatch-replay=out.jsonl,missing (this is repeat 3 of 3)"
    run.stdout.fnmatch_lines(f"E*out.jsonl has no output of a.golden.yaml::fine@3; {message}")


def test_runs_that_want_different_values_are_not_written(suite):
    before = (suite.path / "a.golden.yaml").read_bytes()
    run = suite.runpytest("--jsonmatch-update=failed", "-k", "flaky")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert (suite.path / "a.golden.yaml").read_bytes() == before


def test_runs_that_want_the_same_are_one_update(suite, golden, workers):
    golden("id: a\nrepeat: 3\ninput: [{ n: 1 }, { n: 1 }, { n: 1 }]\n")
    run = suite.runpytest("--jsonmatch-update=new", *workers)
    run.assert_outcomes(passed=3)
    run.stdout.fnmatch_lines("updated 1 case in a.golden.yaml")
    assert (suite.path / "a.golden.yaml").read_text().endswith("expected:\n  n: 1\n")


CRASHING = """
import os

def ask(n):
    with open("calls.txt", "a") as file:
        file.write(f"{n} ")
    if n == 0 or (n == 2 and open("calls.txt").read().split().count("2") == 2):  # under `load` never again
        os._exit(3)
    return {"n": n, "m": 1}
"""
CRASHED = """
producer: app:ask
threshold: 0.5
cases:
- { id: a, input: 1, expected: { n: 1, m: 1 } }
- { id: b, input: 2, expected: { n: 2, m: 2 }, repeat: 4 }
- { id: c, input: 0, expected: { n: 0, m: 1 } }
"""


def test_a_run_whose_worker_crashes_is_an_unanswered_run_of_its_case(pytester, golden):
    pytester.makepyfile(app=CRASHING)
    pytester.makeini("[pytest]\npythonpath = .\n")
    golden(CRASHED)
    outcome = pytester.runpytest_subprocess(
        *("-p", "xdist", "-n", "1", "--dist", "load"),
        *("--jsonmatch-json=r.jsonl", "--jsonmatch-gate=score >= 0.4"),
    )
    results = read_results(pytester.path / "r.jsonl")
    found = {case.id: [(run.number, run.unanswered) for run in case.runs] for case in results.cases}
    assert found == {
        "a.golden.yaml::a": [(1, "")],
        "a.golden.yaml::b": [(1, ""), (2, "worker crashed"), (3, ""), (4, "")],
        "a.golden.yaml::c": [(1, "worker crashed")],
    }
    outcome.stdout.re_match_lines(
        [r"score >= 0.4 +passed +0.46.*", r"a.golden.yaml::b \(run 2 of 4\) .*worker 'gw0' crashed while.*"]
    )
    outcome.stdout.fnmatch_lines(["2 unanswered: 2 worker crashed; *"])
