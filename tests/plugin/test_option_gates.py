"""`--jsonmatch-gate`, `--jsonmatch-fail-under` and the ini option `jsonmatch_gates`."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import read_results
from tests.conftest import gates_in

# Of 10 cases, 8 are right; the two others are good enough for their own threshold.
SUITE = """\
import os
import pytest

@pytest.mark.parametrize("number", range(10))
def test_it(assert_json_match, number):
    assert_json_match({"n": 1, "m": number // 8}, {"n": 1, "m": 0}, threshold=0.5)

def test_other():
    pass
"""


@pytest.fixture
def suite(pytester):
    pytester.makepyfile(test_it=SUITE)
    return pytester


def gate_lines(run):
    """The title of the gates of a run, and its gates as `gates_in` returns them."""
    return [
        next((line for line in run.outlines if line.startswith("gates, on ")), None),
        *gates_in(run.outlines),
    ]


def test_all_gates_are_shown_and_one_that_fails_fails_the_run(suite, workers):
    run = suite.runpytest(
        "--jsonmatch-gate=f1 >= 0.95",
        "--jsonmatch-gate=pass_rate == 1",
        '--jsonmatch-gate=fields["m"].score > 0.8',
        "--jsonmatch-gate=batch_errors == 0",
        "--jsonmatch-fail-under=0.9",
        *workers,
    )
    run.assert_outcomes(passed=11)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert gate_lines(run) == [
        "gates, on 10 cases",
        "passed score >= 0.9: 0.90, margin 0.00 (mean of 10 cases)",
        "failed f1 >= 0.95: 0.90, margin -0.05 (mean of 10 cases)",
        "passed pass_rate == 1: 1.00, margin 0.00 (10 of 10 cases)",
        'failed fields["m"].score > 0.8: 0.80, margin 0.00',
        "passed batch_errors == 0: 0, margin 0",
    ]
    assert run.outlines[-1] == (
        'jsonmatch: 2 of 5 gates failed: f1 >= 0.95 (0.90), fields["m"].score > 0.8 (0.80)'
    )


def test_a_run_whose_gates_pass_ends_as_pytest_ends_it(suite):
    run = suite.runpytest("--jsonmatch-gate=f1 >= 0.5")
    assert run.ret == pytest.ExitCode.OK
    assert run.outlines[-1].startswith("=")
    assert not any(line.startswith("mean over cases, ") for line in run.outlines)
    shown = suite.runpytest("--jsonmatch-gate=f1 >= 0.5", "-v").outlines
    assert "mean over cases, with 95 % confidence intervals (10 cases):" in shown


@pytest.mark.parametrize("limit", [0, 1])
def test_the_status_of_failed_tests_stays(suite, limit):
    suite.makepyfile(test_it=SUITE + "    assert 0\n")
    assert suite.runpytest(f"--jsonmatch-gate=score >= {limit}").ret == pytest.ExitCode.TESTS_FAILED


def test_no_test_no_gate(suite):
    run = suite.runpytest("--jsonmatch-gate=score >= 1", "-k", "nothing")
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("option", ["--collect-only", "--setup-only", "--setup-plan"])
def test_gates_of_runs_in_which_nothing_runs(suite, option):
    run = suite.runpytest("--jsonmatch-gate=score >= 1", option)
    assert run.ret == pytest.ExitCode.OK
    assert gate_lines(run) == [None]


# -- what is a gate ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "--jsonmatch-gate=f2 >= 1",
            ["*--jsonmatch-gate: unknown statistic 'f2'; for a field *; known: *", "  f2 >= 1", "  ^"],
        ),
        ("--override-ini=jsonmatch_gates=f2 > 1", ["*jsonmatch_gates: *unknown statistic 'f2'*"]),
        ("--jsonmatch-fail-under=2", ["*argument --jsonmatch-fail-under: *"]),
        ("--jsonmatch-fail-under=nan", ["*argument --jsonmatch-fail-under: *"]),
    ],
)
def test_no_gate_is_a_usage_error(suite, option, message):
    run = suite.runpytest(option)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(message)


def test_gates_of_the_configuration(suite):
    suite.makeini('[pytest]\njsonmatch_gates =\n    f1 >= 0.95\n    fields["m"].score >= 0.8\n')
    run = suite.runpytest("--jsonmatch-gate=errors == 0")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert gate_lines(run) == [
        "gates, on 10 cases",
        "failed f1 >= 0.95: 0.90, margin -0.05 (mean of 10 cases)",
        'passed fields["m"].score >= 0.8: 0.80, margin 0.00',
        "passed errors == 0: 0, margin 0",
    ]


def test_gates_of_the_configuration_mind_nobody_who_compares_nothing(suite):
    suite.makeini("[pytest]\njsonmatch_gates = f1 >= 0.95\n")
    run = suite.runpytest("-k", "other")
    assert run.ret == pytest.ExitCode.OK
    assert gate_lines(run)[1] == "not decided f1 >= 0.95: nothing was compared"
    run = suite.runpytest("-k", "other", "--jsonmatch-gate=f1 >= 0")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    reported = "failed f1 >= 0: nothing was compared"
    assert gate_lines(run)[::2] == ["gates, on 0 of 10 cases (-k)", reported]


# -- partial runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "cases", "note"),
    [
        (("-k", "1 or 9"), "2 of 10 cases (-k)", "0.20, margin -0.80"),
        (("test_it.py::test_it[1]",), "1 case (node ids)", "the number of cases is unknown (node ids)"),
    ],
)
def test_some_of_the_cases(suite, chosen, cases, note):
    run = suite.runpytest(*chosen, "--jsonmatch-gate=completeness == 1", "--jsonmatch-summary=none")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert gate_lines(run) == [f"gates, on {cases}", f"failed completeness == 1: {note}"]


def test_cases_that_only_import_cannot_be_counted_before_they_run(suite):
    suite.makepyfile(
        test_it="""
        from pytest_jsonmatch import assert_json_match

        def test_one():
            assert_json_match({"a": 1}, {"a": 1})

        def test_two():
            assert_json_match({"a": 1}, {"a": 1})
        """
    )
    gate = "--jsonmatch-gate=completeness == 1"
    assert gate_lines(suite.runpytest(gate))[1] == "passed completeness == 1: 1.00, margin 0.00"
    assert gate_lines(suite.runpytest(gate, "-k", "one"))[1] == (
        "failed completeness == 1: the number of cases is unknown (-k)"
    )


def test_last_failed(suite, processes):
    suite.makepyfile(test_it=SUITE.replace("0.5", "1"))
    suite.runpytest()
    gates = ["--jsonmatch-gate=score >= 0.6", "--jsonmatch-gate=completeness == 1"]
    run = suite.runpytest("--lf", *gates, *processes)
    # pytest collects nothing else then: how many cases there are is not to be known.
    assert gate_lines(run) == [
        "gates, on 2 cases (--lf)",
        "failed score >= 0.6: 0.50, margin -0.10 (mean of 2 cases)",
        "failed completeness == 1: the number of cases is unknown (--lf)",
    ]


def test_last_failed_does_not_judge_gates_of_the_file(suite, workers):
    suite.makeini("[pytest]\njsonmatch_gates = score >= 0.9\n")
    test = SUITE.replace("0.5", "1")
    suite.makepyfile(test_it=test)
    suite.runpytest()
    run = suite.runpytest("--lf", *workers)
    run.stdout.fnmatch_lines(["gates of the configuration file are not checked under --lf"])
    assert gate_lines(run) == [
        "gates, on 2 cases (--lf)",
        "not decided score >= 0.9: 0.50, margin -0.40 (mean of 2 cases)",
    ]
    run = suite.runpytest("--lf", "--jsonmatch-gate=score >= 0.8", *workers)
    assert gate_lines(run)[1:] == [
        "not decided score >= 0.9: 0.50, margin -0.40 (mean of 2 cases)",
        "failed score >= 0.8: 0.50, margin -0.30 (mean of 2 cases)",
    ]


def test_stopped_at_the_first_failure(suite):
    suite.makepyfile(test_it=SUITE.replace("0.5", "1"))
    run = suite.runpytest("-x", "--jsonmatch-gate=score >= 0.9")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert gate_lines(run) == [
        "gates, on 9 of 10 cases (stopped early)",
        "passed score >= 0.9: 0.94, margin +0.04 (mean of 9 cases)",
    ]


# -- what counts -------------------------------------------------------------------------------------------


def test_a_test_that_compares_nothing_is_no_case(pytester):
    pytester.makeini("[pytest]\njsonmatch_cluster = document\n")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.jsonmatch(tags={"document": "a"})
        def test_it(assert_json_match):
            assert_json_match({"a": 1}, {"a": 1})

        @pytest.mark.jsonmatch(tags={"document": "a"})
        def test_other():
            pass
        """)
    run = pytester.runpytest("--jsonmatch-gate=errors == 0")
    assert gate_lines(run) == ["gates, on 1 of 2 cases", "passed errors == 0: 0, margin 0"]


def test_what_goes_wrong_around_a_comparison_counts_as_0_if_it_is_not_expected(pytester, workers):
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture
        def broken():
            raise RuntimeError

        def test_right(assert_json_match):
            assert_json_match({"a": 1}, {"a": 1})

        def test_setup(assert_json_match, broken):
            assert_json_match({"a": 1}, {"a": 1})

        def test_before(assert_json_match):
            raise RuntimeError

        @pytest.fixture
        def broken_later():
            yield
            raise RuntimeError

        def test_teardown(assert_json_match, broken_later):
            assert_json_match({"a": 1}, {"a": 1})

        @pytest.mark.jsonmatch
        def test_with_our_mark():
            raise RuntimeError

        def test_that_compares_nothing():
            raise RuntimeError

        def test_that_expects_the_error(assert_json_match):
            with pytest.raises(ValueError):
                assert_json_match({"a": 1}, {"a": 1}, threshold=1.5)

        @pytest.mark.xfail
        def test_xfail(assert_json_match):
            assert_json_match({"a": 1}, {"a": 2})
        """
    )
    run = pytester.runpytest(
        "--jsonmatch-gate=score >= 0.4",
        "--jsonmatch-gate=pass_rate >= 0.2",
        "--jsonmatch-gate=errors == 0",
        "--jsonmatch-gate=completeness == 1",
        *workers,
    )
    assert gate_lines(run) == [
        "gates, on 5 of 6 cases",
        "passed score >= 0.4: 0.40, margin 0.00 (mean of 5 cases)",
        "passed pass_rate >= 0.2: 0.20, margin 0.00 (1 of 5 cases)",
        "failed errors == 0: 3, margin -3",
        "failed completeness == 1: 0.33, margin -0.67",
    ]


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests came with pytest 9")
def test_subtests_belong_to_their_test(pytester):
    pytester.makepyfile(
        test_it="""
        def test_it(subtests, assert_json_match):
            with subtests.test("right"):
                assert_json_match({"a": 1}, {"a": 1})
            with subtests.test("wrong"):
                assert_json_match({"a": 1}, {"a": 2})

        def test_other(subtests, assert_json_match):
            assert_json_match({"a": 1}, {"a": 1})
            with subtests.test("wrong"):
                assert 0
        """
    )
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.75", "--jsonmatch-gate=pass_rate == 0")
    assert gate_lines(run) == [
        "gates, on 2 cases",
        "passed score >= 0.75: 0.75, margin 0.00 (mean of 2 cases)",
        "passed pass_rate == 0: 0.00, margin 0.00 (0 of 2 cases)",
    ]


def test_no_statistic_looks_like_a_limit_that_it_misses(pytester):
    pytester.makepyfile(
        test_it="""
        def test_it(assert_json_match):
            expected = {str(number): 1 for number in range(159)}
            assert_json_match({**expected, **{str(number): 2 for number in range(8)}}, expected, threshold=0)
        """
    )
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.95", "--jsonmatch-gate=score < 0.95")
    assert gate_lines(run) == [
        "gates, on 1 case",
        "failed score >= 0.95: 0.9497, margin -0.0003",
        "passed score < 0.95: 0.9497, margin +0.0003",
    ]


BATCH_ERRORS = """\
fields: {a: {compare: unreachable}}
cases:
- {id: one, expected: {a: bad}, actual: {a: x}}
- {id: two, expected: {a: good}, actual: {a: x}}
"""


@pytest.fixture
def batch_errors(pytester):
    pytester.makeconftest("""
        def unreachable(items):
            if any("bad" in item.expected for item in items):
                raise RuntimeError("no network")
            return [1.0 for _ in items]

        def pytest_jsonmatch_register(registry):
            registry.comparator("unreachable", unreachable)
        """)
    pytester.makefile(".golden.yaml", r=BATCH_ERRORS)


def test_batch_errors_fail_a_gated_run(pytester, batch_errors, workers):
    result = pytester.runpytest("--jsonmatch-gate=f1 >= 0.9", *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines("""\
        E   AssertionError: comparator 'unreachable' failed at * (leaf_f1 is undefined)
        f1 >= 0.9 *passed*
        batch_errors == 0 *failed*
          a batch comparator failed; the gate 'batch_errors <= 1' would allow it
        r.golden.yaml::one  nothing but batch errors  *
        1 result left out of the statistics: the batch comparator failed; 1 case without
        any score""")


def test_a_gate_on_batch_errors_allows_them(pytester, batch_errors):
    result = pytester.runpytest("--jsonmatch-gate=f1 >= 0.9", "--jsonmatch-gate=batch_errors <= 1")
    result.stdout.fnmatch_lines(["f1 >= 0.9 *passed*", "batch_errors <= 1 *passed*"])
    result.stdout.no_fnmatch_line("*batch_errors*failed*")


def test_a_gate_on_a_statistic_that_batch_errors_have_left_out_fails(pytester, batch_errors):
    gates = ["--jsonmatch-gate=f1 >= 0", "--jsonmatch-gate=batch_errors <= 9"]
    result = pytester.runpytest(*gates, "-k", "one")
    result.stdout.fnmatch_lines(["f1 >= 0 *failed*", "  batch errors: no leaf is left to count"])


def test_a_case_without_statistics_comes_back_from_a_result_file(pytester, batch_errors):
    pytester.runpytest("--jsonmatch-json=out.json")
    results = read_results(pytester.path / "out.json")
    assert [(case.id, case.has_figures, case.mean("f1")) for case in results.cases] == [
        ("r.golden.yaml::one", False, 0.0),
        ("r.golden.yaml::two", True, 1.0),
    ]
    assert results.mean("f1") == 1.0
    assert '"unscored": 1' in (pytester.path / "out.json").read_text(encoding="utf-8")


BEFORE_SCORING = """\
import pytest
from pytest_jsonmatch import assert_json_match

def test_fine():
    assert_json_match({"a": 1}, {"a": 1})

def test_threshold():
    assert_json_match({"a": 1}, {"a": 1}, threshold=1.5)

@pytest.mark.jsonmatch(0.5)
def test_mark():
    assert_json_match({"a": 1}, {"a": 1})

def test_expected():
    assert_json_match({"a": 1}, "[1, ")

def test_after_another():
    assert_json_match(1, 1)
    assert_json_match(1, 1, threshold=1.5)
"""


def test_an_assertion_that_fails_before_it_scores_counts_as_0(pytester):
    pytester.makepyfile(BEFORE_SCORING)
    result = pytester.runpytest("--jsonmatch-gate=score >= 0.9")
    result.assert_outcomes(passed=1, failed=4)
    result.stdout.fnmatch_lines(["gates, on 5 cases", "score >= 0.9 *failed*0.20*"])
