"""What the runs of repeated cases come to."""

from __future__ import annotations

from itertools import combinations
from math import isclose

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import RunResult
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.repeats import check, flip_rate, pass_all, pass_at, repeats
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.case_tables import repeated_checks
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import case_of
from tests.laws import law


def case(*, of=5, reported=None, passed, least=None, name="c"):
    runs = range(1, (of if reported is None else reported) + 1)
    return Case(name, tuple(CaseRun(run, run <= passed) for run in runs), of, least)


@pytest.mark.parametrize(
    ("of", "reported", "least", "verdicts"),
    [
        (5, 5, 0.6, {0: "failed", 2: "failed", 3: "passed", 4: "passed", 5: "passed"}),
        # A share that is just its limit passes.
        (10, 10, 0.7, {7: "passed"}),
        (3, 3, 2 / 3, {2: "passed"}),
        (3, 3, 0.67, {2: "failed"}),
        # Missing runs leave open what they could change.
        (5, 3, 0.6, {0: "failed", 3: "passed"}),
        (5, 2, 0.6, {0: "undecided", 2: "undecided"}),
        (5, 1, 0.6, {0: "undecided"}),
    ],
)
def test_the_share_of_all_runs_decides(of, reported, least, verdicts):
    shown = {
        passed: case(of=of, reported=reported, passed=passed, least=least).verdict for passed in verdicts
    }
    assert shown == verdicts


def test_without_a_limit_each_run_stands_for_itself():
    found = case(passed=4)
    assert (found.verdict, check(found)) == ("failed", None)


def test_the_check_of_a_session():
    assert check(case(passed=2, least=0.6)) == Check("c", "pass rate", 0.4, 0.6, False, "2 of 5 runs passed")
    partial = check(case(reported=1, passed=1, least=0.6))
    assert partial == Check("c", "pass rate", 0.2, 0.6, None, "1 of 1 run passed, 4 did not run")


def test_one_check_that_fails_fails_the_run():
    good, bad = Check("c", "f", 1.0, 0.5, passed=True), Check("c", "f", 0.0, 0.5, passed=False)
    fine, failed = (
        case(passed=passed, least=0.6, name=name) for name, passed in (("fine", 3), ("failed", 2))
    )
    undecided = case(passed=1, reported=1, least=0.6, name="undecided")
    assert build(RunResult.of_cases((fine,)), ReportRequest(gates=(good, bad))).verdict == "failed"
    assert (
        build(RunResult.of_cases((fine, undecided, failed)), ReportRequest(gates=(good,))).verdict == "failed"
    )
    report = build(
        RunResult.of_cases((fine, undecided)), ReportRequest(gates=(good, replace(bad, passed=None)))
    )
    assert (report.verdict, report.is_clean) == ("passed", False)
    checks = repeated_checks(RunResult.of_cases((fine, undecided, failed)))
    assert [(each.subject, each.passed) for each in checks] == [
        ("fine", True), ("undecided", None), ("failed", False),
    ]  # fmt: skip


@law(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_what_drawing_k_runs_gives(outcomes, data):
    k = data.draw(st.integers(1, len(outcomes)))
    drawn = list(combinations(outcomes, k))
    found = case(of=len(outcomes), passed=sum(outcomes))
    assert isclose(pass_at(found, k), sum(map(any, drawn)) / len(drawn), abs_tol=1e-12)
    assert isclose(pass_all(found, k), sum(map(all, drawn)) / len(drawn), abs_tol=1e-12)


@law(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_flip_rate_is_that_of_two_drawn_runs(outcomes):
    pairs = list(combinations(outcomes, 2))
    found = flip_rate(case(of=len(outcomes), passed=sum(outcomes)))
    assert isclose(found, sum(a != b for a, b in pairs) / len(pairs), abs_tol=1e-12)


def test_means_are_over_cases_not_over_runs():
    both = repeats([case(of=9, passed=9, name="a"), case(of=2, passed=0, name="b")])
    assert (both.k, both.pass_at(1), both.flip_rate) == (2, 0.5, 0.0)


def test_many_runs_make_no_number_too_large():
    found = case(of=10_000, passed=5_000)
    assert (pass_at(found, 5_001), pass_all(found, 5_000)) == (1.0, 0.0)
    assert isclose(pass_at(found, 1), 0.5)


def test_the_order_of_cases_does_not_matter():
    cases = [
        case_of("f::x", {"a": 1}, {"a": 2}, expected={"a": 1}),
        case_of("f::y", {"a": 2}, {"a": 2}, {"a": 1}, expected={"a": 1}, min_pass_rate=0.5),
    ]
    assert repeats(cases) == repeats(cases[::-1])
    assert [each.id for each in repeats(cases[::-1]).cases] == ["f::x", "f::y"]
