"""What the runs of repeated cases come to."""

from __future__ import annotations

from itertools import combinations
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.engine.records import Comparison
from pytest_jsonmatch.gate.repeats import CaseRun, RepeatedCase, repeats
from pytest_jsonmatch.gate.session import Check, SessionVerdict


def case(*, of=5, reported=None, passed, least=None):
    return RepeatedCase("c", of, of if reported is None else reported, passed, least)


def compared(actual, expected, *, case="f::c", run=1):
    result = compare_json(actual, expected, metric="json_similarity")
    nodeid = f"{case}@{run}"
    return Comparison.of(
        result, id=f"{nodeid}#1", nodeid=nodeid, threshold={}, passed=result.score == 1, case=case
    )


def runs_of(*actuals, expected, case="f::c", least=None):
    found = []
    for run, actual in enumerate(actuals, 1):
        comparison = compared(actual, expected, case=case, run=run)
        found.append(CaseRun(case, run, len(actuals), least, comparison.passed, [comparison]))
    return found


@pytest.mark.parametrize(
    ("passed", "verdict"), [(0, "failed"), (2, "failed"), (3, "passed"), (4, "passed"), (5, "passed")]
)
def test_the_share_of_all_runs_decides(passed, verdict):
    assert case(passed=passed, least=0.6).verdict == verdict


def test_a_share_that_is_just_its_limit_passes():
    assert case(of=10, passed=7, least=0.7).verdict == "passed"
    assert case(of=3, passed=2, least=2 / 3).verdict == "passed"
    assert case(of=3, passed=2, least=0.67).verdict == "failed"


@pytest.mark.parametrize(
    ("reported", "passed", "verdict"),
    [(3, 3, "passed"), (2, 2, "undecided"), (2, 0, "undecided"), (3, 0, "failed"), (1, 0, "undecided")],
)
def test_missing_runs_leave_open_what_they_could_change(reported, passed, verdict):
    assert case(reported=reported, passed=passed, least=0.6).verdict == verdict


def test_without_a_limit_each_run_stands_for_itself():
    found = case(passed=0)
    assert (found.verdict, found.check()) == (None, None)


def test_what_a_session_is_told():
    assert case(passed=2, least=0.6).check() == Check("c", "pass rate", 0.4, 0.6, False, "2 of 5 runs passed")
    partial = case(reported=1, passed=1, least=0.6).check()
    assert partial == Check("c", "pass rate", 0.2, 0.6, None, "1 of 1 run passed, 4 did not run")


def test_one_check_that_fails_fails_the_session():
    good, bad, open_one = (Check("c", "f", 1.0, 0.5, passed) for passed in (True, False, None))
    assert SessionVerdict.of([good, bad, open_one]).failed
    assert not SessionVerdict.of([good, open_one]).failed
    assert not SessionVerdict().failed
    assert SessionVerdict.of([open_one, good, bad]).unsettled == (bad, open_one)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_what_drawing_k_runs_gives(outcomes, data):
    k = data.draw(st.integers(1, len(outcomes)))
    drawn = list(combinations(outcomes, k))
    found = case(of=len(outcomes), passed=sum(outcomes))
    assert isclose(found.pass_at(k), sum(map(any, drawn)) / len(drawn), abs_tol=1e-12)
    assert isclose(found.pass_all(k), sum(map(all, drawn)) / len(drawn), abs_tol=1e-12)


@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_flip_rate_is_that_of_two_drawn_runs(outcomes):
    pairs = list(combinations(outcomes, 2))
    found = case(of=len(outcomes), passed=sum(outcomes)).flip_rate
    assert isclose(found, sum(a != b for a, b in pairs) / len(pairs), abs_tol=1e-12)


def test_means_are_over_cases_not_over_runs():
    long = [CaseRun("a", n, 9, None, passed=True) for n in range(1, 10)]
    short = [CaseRun("b", 1, 1, None, passed=False)]
    both = repeats([*long, *short])
    assert (both.k, both.pass_at(1), both.flip_rate) == (1, 0.5, 0.0)


def test_many_runs_make_no_number_too_large():
    found = case(of=10_000, passed=5_000)
    assert (found.pass_at(5_001), found.pass_all(5_000)) == (1.0, 0.0)
    assert isclose(found.pass_at(1), 0.5)


def test_the_stability_of_a_field():
    expected = {"a": 1, "b": "xxxx", "c": 1}
    found = repeats(
        runs_of(
            {"a": 1, "b": "xxxx", "c": 1},
            {"a": 2, "b": "xxyy", "c": 1},
            {"a": 1, "b": "xxxx"},
            expected=expected,
        )
    )
    # Of three runs the pairs differ by 1, 0, 1 in `a`; by 0.5, 0, 0.5 in `b`; by 0, 1, 1 in `c`.
    assert [(field.path, round(field.stability, 9)) for field in found.fields] == [
        ("a", round(1 / 3, 9)),
        ("c", round(1 / 3, 9)),
        ("b", round(2 / 3, 9)),
    ]


def test_a_field_that_only_some_runs_invent_is_not_stable():
    found = repeats(runs_of({"a": 1}, {"a": 1, "z": 1}, expected={"a": 1}))
    by_path = {field.path: field.stability for field in found.fields}
    assert by_path["a"] == 1.0
    assert by_path.get("z", 0.0) == 0.0


def test_the_order_of_runs_does_not_matter():
    runs = [
        *runs_of({"a": 1}, {"a": 2}, expected={"a": 1}, case="f::x"),
        *runs_of({"a": 2}, {"a": 2}, {"a": 1}, expected={"a": 1}, case="f::y", least=0.5),
    ]
    assert repeats(runs) == repeats(runs[::-1])
    assert [(each.id, each.scores) for each in repeats(runs).cases] == [("f::x", (0, 1)), ("f::y", (0, 1))]
