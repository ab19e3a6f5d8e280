"""Verdicts in words, and the two modes of the gate."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch.gate.verdict import DropGate, compare, compare_several, format_means


def run(*scores):
    return {f"case {number:03}": [score] for number, score in enumerate(scores)}


def test_a_significant_drop():
    verdict = compare(run(*[0.5] * 8, 1.0), run(*[0.75] * 8, 1.0))
    assert (verdict.kind, verdict.passed, verdict.cases, verdict.clusters) == ("worse", False, 9, 9)
    # All eight that differ got worse: 2 of 512 patterns, of which the observed one counts in full.
    assert verdict.p_drop == pytest.approx(1.5 / 512)
    assert verdict.delta == pytest.approx(-2 / 9)
    assert re.fullmatch(r"-0\.222 \(90 % interval -0\.\d{3} to below 0\): significantly worse", verdict.note)
    assert verdict.gate_text == "fails: significantly worse"


def test_a_significant_gain():
    verdict = compare(run(*[0.75] * 8, 1.0), run(*[0.5] * 8, 1.0))
    assert (verdict.kind, verdict.passed) == ("better", True)
    shown = r"\+0\.222 \(90 % interval above 0 to \+0\.\d{3}\): significantly better"
    assert re.fullmatch(shown, verdict.note)
    assert verdict.gate_text == "passes: significantly better"


def test_a_significant_drop_within_what_is_allowed_passes():
    verdict = compare(run(*[0.74] * 12), run(*[0.75] * 12), DropGate(0.02))
    assert (verdict.kind, verdict.passed) == ("worse", True)
    message = r"passes: significantly worse \(-0\.010\); the drop may still be below the allowed 0\.02 \(interval above 0 to 0\.\d+\)"
    assert re.fullmatch(message, verdict.gate_text)
    verdict = compare(run(*[0.5] * 30), run(*[0.75] * 30), DropGate(0.02))
    assert verdict.gate_text == "fails: significantly worse by more than 0.02"


@pytest.mark.parametrize("number", [5, 6, 7, 12, 30])
def test_a_drop_of_all_cases_fails_however_few_they_are(number):
    """If the limit is not small, seven cases are needed: one more that lost nothing is allowed for."""
    before, now = run(*[1.0] * number), run(*[0.5] * number)
    for max_drop, passes in ((0.02, False), (0.3, number < 7), (0.6, True)):
        assert compare(now, before, DropGate(max_drop)).passed is passes
    mixed = run(*[0.5] * (number - 1), 0.9)
    assert not compare(mixed, before, DropGate(0.02)).passed


def test_what_is_not_shown_says_what_the_data_allow():
    before = run(*[0.5 + 0.03 * number for number in range(9)])
    now = {case: [score + 0.1 * (-1) ** number] for number, (case, [score]) in enumerate(before.items())}
    verdict = compare(now, before)
    assert (verdict.kind, verdict.passed) == ("not significant", True)
    message = (
        f"no significant change; with 9 cases, drops up to {-verdict.interval.low:.3f} could go undetected"
    )
    assert (verdict.reason, verdict.verdict) == (message, "no significant change")
    assert verdict.interval.low < 0 < verdict.interval.high
    assert verdict.interval.confidence == pytest.approx(0.9)


def test_few_cases_say_how_many_it_takes():
    verdict = compare(run(0.0, 0.0, 0.0, 0.0), run(1.0, 1.0, 1.0, 1.0))
    assert (verdict.kind, verdict.p_drop) == ("too few", 1 / 16)
    message = "{} cases cannot be tested, it takes at least {}; failed because the mean is lower"
    assert verdict.reason == message.format(4, 5)
    verdict = compare(run(*[0.0] * 6), run(*[1.0] * 6), DropGate(confidence=0.99))
    assert verdict.reason == message.format(6, 7)
    assert not compare(run(1.0), run(1.0), DropGate(0.5, mode="non-inferiority")).passed


@pytest.mark.parametrize(
    ("now", "max_drop", "passed", "words"),
    [
        ([0.0] * 3, 0.0, False, "failed because the mean is lower"),
        ([0.9, 1.0, 1.0], 0.05, True, "passed because the mean is not lower by more than 0.05"),
        ([0.9, 0.9, 1.0], 0.05, False, "failed because the mean is lower by more than 0.05"),
        ([1.0] * 3, 0.0, True, "passed because the mean is not lower"),
    ],
)
def test_where_nothing_can_be_significant_the_plain_difference_decides(now, max_drop, passed, words):
    verdict = compare(run(*now), run(1.0, 1.0, 1.0), DropGate(max_drop))
    assert (verdict.kind, verdict.passed) == ("too few", passed)
    assert verdict.gate_text == f"3 cases cannot be tested, it takes at least 5; {words}"


def test_a_gate_that_passes_says_what_drop_is_possible():
    same = run(*[1.0] * 20)
    assert compare(same, same, DropGate(0.02)).gate_text == (
        "passes: no significant change; with 20 cases, drops up to 0.139 could go undetected; "
        "it takes at least 149 cases to rule out a drop of 0.02"
    )
    noisy = run(*[0.0, 1.0] * 80), run(*[1.0, 0.0] * 80)
    message = r"passes: no significant change; with 160 cases, drops up to 0\.\d\d\d could go undetected"
    assert re.fullmatch(message, compare(*noisy, DropGate(0.02)).gate_text)


def test_an_error_rate_is_what_its_author_meant():
    assert [DropGate(confidence=share).alpha for share in (0.95, 0.9, 0.99)] == [0.05, 0.1, 0.01]
    assert [DropGate(confidence=share).least_to_test for share in (0.51, 0.75, 0.95, 0.99)] == [2, 2, 5, 7]


def test_no_worse_is_significant_by_many_cases():
    same = run(*[1.0] * 200)
    verdict = compare(same, same, DropGate(0.02))
    assert (verdict.kind, verdict.passed) == ("ruled out", True)
    assert verdict.difference == "+0.000 (90 % interval -0.015 to +0.015)"
    assert verdict.verdict == "a drop of 0.02 is ruled out"
    assert compare(same, same).reason == (
        "no significant change; with 200 cases, drops up to 0.015 could go undetected"
    )


def test_a_small_loss_of_many_cases_is_within_the_limit():
    """Where the interval is within the limit, the drop is not called one that may be within it."""
    before, now = run(*[1.0] * 200), run(*[0.99] * 40, *[1.0] * 160)
    assert compare(now, before, DropGate(0.05)).gate_text.startswith(
        "passes: significantly worse (-0.002), but a drop of 0.05 is ruled out (interval "
    )
    assert "may still be below the allowed 0.002" in compare(now, before, DropGate(0.002)).gate_text


def test_cases_of_one_document_count_as_one():
    before, now = run(*[1.0] * 40), run(*[0.5] * 10, *[1.0] * 30)
    assert compare(now, before).kind == "worse"
    documents = {case: f"document {at // 5}" for at, case in enumerate(before)}
    verdict = compare(now, before, clusters=documents)
    assert (verdict.kind, verdict.cases, verdict.clusters) == ("not significant", 40, 8)
    assert verdict.p_drop == pytest.approx(1 / 8 + 1 / 512)
    assert verdict.interval.low < compare(now, before).interval.low
    halves = {case: f"half {at // 20}" for at, case in enumerate(before)}
    assert compare(now, before, clusters=halves).reason == (
        "2 clusters cannot be tested, it takes at least 5; failed because the mean is lower"
    )


def test_without_a_common_case_either_gate_fails():
    for mode in ("regression", "non-inferiority"):
        verdict = compare({"a": [1.0]}, {"b": [1.0]}, DropGate(mode=mode))
        assert (verdict.kind, verdict.passed, verdict.delta) == ("no case", False, None)
        assert verdict.gate_text == "fails: no case is in both runs"


def test_non_inferiority_needs_cases_even_if_nothing_changes():
    few, enough = run(*[1.0] * 148), run(*[1.0] * 149)
    gate = DropGate(0.02, mode="non-inferiority")
    assert compare(few, few, gate).gate_text == (
        "fails: a drop of 0.02 is not ruled out: with 148 cases, drops up to 0.020 could go undetected;"
        " even without a change it takes 149 cases"
    )
    assert [compare(each, each, gate).passed for each in (few, enough)] == [False, True]
    assert compare(enough, enough, gate).gate_text == "passes: a drop of 0.02 is ruled out"


def test_non_inferiority_without_an_allowed_drop_needs_a_gain():
    same, better = run(*[0.5] * 60), run(*[0.5 + 0.01 * at for at in range(30)] * 2)
    assert not compare(same, same, DropGate(mode="non-inferiority")).passed
    assert compare(better, same, DropGate(mode="non-inferiority")).passed


def test_a_gain_of_few_cases_may_leave_a_drop_of_the_mean_possible():
    """Four of seven cases gain: chance alone seldom does that, but one in fifty may crash, unseen."""
    now, before = run(0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0), run(*[0.0] * 7)
    assert compare(now, before).kind == "better"
    verdict = compare(now, before, DropGate(0.02, mode="non-inferiority"))
    assert (verdict.kind, verdict.passed) == ("not significant", False)
    assert verdict.interval.low <= -0.02


def test_statistics_never_hide_a_difference():
    assert format_means(0.95, 0.9499) == ("0.9500", "0.9499")
    assert format_means(1.0, 0.9999) == ("1.0000", "0.9999")
    assert format_means(0.5, 0.5) == ("0.500", "0.500")
    many = run(*[1.0] * 3000)
    assert "-0.0001 (" in compare({**many, "case 000": [0.7]}, many).difference


def statistics_of(now, before):
    return {name: (run(*now[name]), run(*before[name])) for name in now}


def test_several_statistics_are_corrected_for_being_several():
    before = {"price": [1.0] * 9, "name": [1.0] * 9, "date": [0.5] * 9, "note": [1.0] * 9}
    now = {"price": [0.0] * 9, "name": [1.0] * 4 + [0.5] * 5, "date": [0.75] * 9, "note": [1.0] * 9}
    changes = compare_several(statistics_of(now, before))
    kinds = {"price": "worse", "name": "worse", "date": "better", "note": "not significant"}
    assert {name: change.kind for name, change in changes.items()} == kinds
    assert changes["price"].p_drop == pytest.approx(4 / 512)
    assert changes["name"].p_drop == pytest.approx(3 / 64 + 3 / 1024)
    # With a part of the error rate spent elsewhere, not all of it is significant.
    less = compare_several(statistics_of(now, before), of_drops=0.5)
    assert {name: change.kind for name, change in less.items()} == {**kinds, "name": "not significant"}


def test_gates_of_several_candidates_are_corrected_too():
    before = [1.0] * 30
    now = {"a": [1.0] * 26 + [0.0] * 4, "b": before, "c": before}
    changes = compare_several(statistics_of(now, dict.fromkeys(now, before)))
    assert compare(run(*now["a"]), run(*before)).kind == "worse"
    assert [(change.kind, change.passed) for change in changes.values()] == [("not significant", True)] * 3
    now["a"] = [1.0] * 20 + [0.0] * 10
    changes = compare_several(statistics_of(now, dict.fromkeys(now, before)), DropGate(0.1))
    assert {name: change.passed for name, change in changes.items()} == {"a": False, "b": True, "c": True}


@pytest.mark.parametrize(("cases", "passed"), [(149, False), (202, False), (203, True)])
def test_several_candidates_take_more_cases_to_be_significant_no_worse(cases, passed):
    """Of one candidate 149 cases prove it; of three each has a third of the error rate."""
    same, gate = [1.0] * cases, DropGate(0.02, mode="non-inferiority")
    changes = compare_several(statistics_of(dict.fromkeys("abc", same), dict.fromkeys("abc", same)), gate)
    assert {change.passed for change in changes.values()} == {passed}
