"""Verdicts in words, and the two modes of the gate."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.verdict import (
    Change,
    compare,
    compare_fields,
    compare_outcomes,
    figures_apart,
)


def run(*scores):
    return {f"case {number:03}": [score] for number, score in enumerate(scores)}


def test_a_proven_drop_is_a_regression():
    verdict = compare(run(*[0.5] * 8, 1.0), run(*[0.75] * 8, 1.0))
    assert (verdict.kind, verdict.passed, verdict.cases, verdict.informative) == ("regression", False, 9, 8)
    assert (verdict.p_drop, verdict.p_gain, verdict.p_beyond) == (1 / 256, 1.0, 1 / 256)
    assert verdict.delta == pytest.approx(-2 / 9)
    assert verdict.detectable is None
    assert verdict.words == (
        "regression: the mean score dropped by 0.222, from 0.778 to 0.556 (p = 0.0039, n = 9)"
    )
    assert verdict.gate_words == "fails: a drop is proven (p = 0.0039)"


def test_a_proven_gain_is_an_improvement():
    verdict = compare(run(*[0.75] * 8, 1.0), run(*[0.5] * 8, 1.0))
    assert (verdict.kind, verdict.passed) == ("improvement", True)
    assert verdict.words == (
        "improvement: the mean score rose by 0.222, from 0.556 to 0.778 (p = 0.0039, n = 9)"
    )
    assert verdict.gate_words == "passes: a drop is not proven (p = 1.00)"


def test_a_proven_drop_within_what_is_allowed_passes():
    verdict = compare(run(*[0.74] * 12), run(*[0.75] * 12), max_drop=0.02)
    assert (verdict.kind, verdict.passed) == ("regression", True)
    assert verdict.gate_words == "passes: a drop of more than 0.02 is not proven (p = 1.00)"
    assert not compare(run(*[0.72] * 12), run(*[0.75] * 12), max_drop=0.02).passed


def test_few_cases_are_inconclusive_and_say_what_they_could_have_shown():
    before = run(*[0.5 + 0.03 * number for number in range(9)])
    now = {case: [score + 0.1 * (-1) ** number] for number, (case, [score]) in enumerate(before.items())}
    verdict = compare(now, before)
    assert verdict.kind == "inconclusive"
    assert verdict.passed
    assert re.fullmatch(
        r"inconclusive: n = 9 can only detect drops above 0\.\d+ spread over all cases, above 0\.\d+ from"
        r" cases that break",
        verdict.words,
    )


def test_many_equal_cases_are_within_noise():
    verdict = compare(run(*[1.0] * 200), run(*[1.0] * 200))
    assert verdict.words == "within noise: no case differs; n = 200 can detect drops above 0.034"
    assert compare(run(*[1.0] * 200), run(*[1.0] * 200), relevant_drop=0.01).kind == "inconclusive"


def test_small_differences_of_many_cases_are_within_noise():
    before = run(*[0.6 + 0.001 * number for number in range(100)])
    now = {case: [score + 0.02 * (-1) ** number] for number, (case, [score]) in enumerate(before.items())}
    verdict = compare(now, before)
    assert re.fullmatch(
        r"within noise: the mean score went from 0\.650 to 0\.650, as chance alone may do \(p = 0\.\d+\); n = 100"
        r" can detect drops above 0\.00\d+ spread over all cases, above 0\.0\d+ from cases that break",
        verdict.words,
    )
    assert verdict.interval is not None
    assert verdict.interval.confidence == pytest.approx(0.9)
    assert verdict.interval.low < 0 < verdict.interval.high


def test_one_case_proves_nothing():
    verdict = compare(run(0.0), run(1.0))
    assert (verdict.kind, verdict.passed, verdict.p_drop) == ("inconclusive", True, 0.5)
    assert verdict.words == (
        "inconclusive: n = 1 can detect no drop, however large; too few informative cases: 1 case differs"
    )
    assert not compare(run(1.0), run(1.0), mode="non-inferiority", max_drop=0.5).passed


def test_without_a_common_case_either_gate_fails():
    for mode in ("regression", "non-inferiority"):
        verdict = compare({"a": [1.0]}, {"b": [1.0]}, mode=mode)
        assert (verdict.kind, verdict.passed, verdict.delta) == ("inconclusive", False, None)
        assert (verdict.new, verdict.vanished) == (("a",), ("b",))
        assert verdict.words == "inconclusive: no case is in both runs"
        assert verdict.gate_words == "fails: no case is in both runs"


def test_cases_of_one_run_are_named_and_not_paired():
    verdict = compare({"a": [1.0], "b": [0.0]}, {"a": [1.0], "c": [1.0]})
    assert (verdict.cases, verdict.current, verdict.baseline) == (1, 1.0, 1.0)
    assert (verdict.new, verdict.vanished) == (("b",), ("c",))


def test_repeats_are_not_cases():
    before = {str(case): [1.0, 1.0, 1.0] for case in range(4)}
    now = {str(case): [0.0, 0.0, 0.0] for case in range(4)}
    assert (compare(now, before).kind, compare(now, before).p_drop) == ("inconclusive", 1 / 16)


def test_non_inferiority_needs_cases_even_if_nothing_changes():
    few, enough = run(*[1.0] * 148), run(*[1.0] * 149)
    verdict = compare(few, few, mode="non-inferiority", max_drop=0.02)
    assert not verdict.passed
    assert verdict.p_within == pytest.approx(0.98**148)
    assert verdict.gate_words == (
        "fails: a drop of 0.02 or more is not ruled out (p = 0.0503);"
        " without a change that takes 149 cases, and there are 148"
    )
    verdict = compare(enough, enough, mode="non-inferiority", max_drop=0.02)
    assert verdict.passed
    assert verdict.gate_words == "passes: a drop of 0.02 or more is ruled out (p = 0.049)"


def test_non_inferiority_without_an_allowed_drop_needs_an_improvement():
    same, better = run(*[0.5] * 60), run(*[0.7] * 60)
    assert not compare(same, same, mode="non-inferiority").passed
    assert compare(better, same, mode="non-inferiority").passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "regresion"}, "unknown gate mode 'regresion'; did you mean 'regression'?"),
        ({"max_drop": -0.1}, "max_drop is -0.1: it is a difference of scores, from 0 to below 1"),
        ({"max_drop": float("nan")}, "max_drop is nan: it is a difference of scores, from 0 to below 1"),
        ({"relevant_drop": 2}, "relevant_drop is 2: it is a difference of scores, from 0 to 1"),
        (
            {"confidence": 95},
            "a confidence of 95: of a gate it is a share, such as 0.95, above 0.5 and below 1",
        ),
    ],
)
def test_wrong_options_are_told(options, message):
    with pytest.raises(ConfigurationError) as raised:
        compare(run(1.0), run(1.0), **options)
    assert str(raised.value) == message


def test_outcomes_have_a_pass_rate():
    before = dict.fromkeys("abcdefgh", True)
    verdict = compare_outcomes({**before, **dict.fromkeys("abcde", False)}, before)
    assert (
        verdict.words == "regression: the pass rate dropped by 0.625, from 1.000 to 0.375 (p = 0.031, n = 8)"
    )
    assert isinstance(verdict, Change)


def test_figures_never_hide_a_difference():
    assert figures_apart(0.95, 0.9499) == ("0.9500", "0.9499", "0.0001")
    assert figures_apart(1.0, 0.9999) == ("1.0000", "0.9999", "0.0001")
    assert figures_apart(0.5, 0.5) == ("0.500", "0.500", "0.000")


def test_a_p_value_is_seen_to_be_on_its_side():
    few = run(*[1.0] * 148)
    assert "p = 0.0503" in compare(few, few, mode="non-inferiority", max_drop=0.02).gate_words


def fields_of(**scores):
    return {field: run(*each) for field, each in scores.items()}


def test_fields_are_corrected_for_being_several():
    before = fields_of(price=[1.0] * 9, name=[1.0] * 9, date=[0.5] * 9, note=[1.0] * 9)
    now = fields_of(price=[0.0] * 9, name=[1.0] * 4 + [0.5] * 5, date=[0.75] * 9, note=[1.0] * 9)
    changes = compare_fields(now, before)
    assert {field: change.kind for field, change in changes.items()} == {
        "price": "regression",
        "name": "inconclusive",
        "date": "improvement",
        "note": "inconclusive",
    }
    assert changes["price"].p_drop == pytest.approx(4 / 512)
    assert changes["name"].p_drop == pytest.approx(3 / 32)
    assert [change.words for change in changes.values()] == [
        "price: regression: down by 1.000, 1.000 to 0.000 (p = 0.0078 after Holm, n = 9)",
        "name: inconclusive: 1.000 to 0.722; too few informative cases (5 cases differ, it takes 7)",
        "date: improvement: up by 0.250, 0.500 to 0.750 (p = 0.0078 after Holm, n = 9)",
        "note: inconclusive: 1.000 to 1.000; too few informative cases (no case differs, it takes 7)",
    ]
    assert changes["price"].interval is not None
    assert changes["price"].interval.method == "bounded"


def test_a_field_that_is_not_lost_for_certain_is_within_noise():
    before = fields_of(price=[0.5] * 20)
    now = fields_of(price=[0.4, 0.6] * 10)
    change = compare_fields(now, before)["price"]
    assert change.words == "price: within noise: up by 0.000, 0.500 to 0.500 (p = 0.59 after Holm, n = 20)"


def test_fields_of_one_run_are_named():
    changes = compare_fields(fields_of(a=[1.0]), fields_of(b=[1.0]))
    assert [change.words for change in changes.values()] == [
        "a: inconclusive: no case is in both runs",
        "b: inconclusive: no case is in both runs",
    ]
