"""Headline figures with intervals, and a run against its baseline, from results of cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.gate.baseline import Delta, Mismatch, compare_runs
from pytest_jsonmatch.gate.headlines import change_of_runs, field_headlines, headlines
from pytest_jsonmatch.gate.intervals import mean_interval, wilson
from pytest_jsonmatch.report.baseline import baseline_lines
from pytest_jsonmatch.report.checks import interval_lines
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.results.comparison import Comparison
from pytest_jsonmatch.results.model import Case, CaseRun, ResultSet

GOLD = {"a": 1, "b": "x"}
WRONG = {"a": 2, "b": "x"}


def case(name, *answers, metric="field_match", gold=GOLD):
    runs = []
    for number, answer in enumerate(answers, 1):
        result = compare_json(answer, gold, metric=metric)
        made = Comparison.of(
            result, id=f"{name}#1", nodeid=name, threshold={"score": 1.0}, passed=result.score == 1
        )
        runs.append(CaseRun(number, made.passed, (made,)))
    return Case(f"f.yaml::{name}", tuple(runs), len(runs))


def run(**answers):
    cases = [
        case(name, *(given if isinstance(given, list) else [given]))
        for name, given in sorted(answers.items())
    ]
    return ResultSet(tuple(cases), created="2026-11-20T10:00:00+00:00", commit="0123456789abcdef+")


def many(number, wrong=()):
    return run(**{f"c{index:03}": WRONG if index in wrong else GOLD for index in range(number)})


def test_headlines_are_of_cases_not_of_runs():
    found = {each.name: each.interval for each in headlines(run(often=[WRONG] * 9, once=GOLD))}
    assert found["score"] == mean_interval([0.5, 1.0])
    assert found["pass_rate"] == wilson(1, 2)
    assert list(found) == ["score", "precision", "recall", "f1", "pass_rate"]
    assert headlines(ResultSet()) == []


def test_fields_have_intervals_too():
    found = field_headlines(run(often=[WRONG, GOLD], once=GOLD), 0.9)
    assert [each.name for each in found] == ["a", "b"]
    assert found[0].interval == mean_interval([0.5, 1.0], 0.9)


def test_what_is_the_same_is_no_regression():
    verdict = change_of_runs(many(300), many(300), max_drop=0.02)
    assert (verdict.scores.kind, verdict.scores.passed, verdict.outcomes.kind) == (
        "within noise",
        True,
        "within noise",
    )


def test_a_drop_is_found_in_scores_outcomes_and_its_field():
    verdict = change_of_runs(many(60), many(60, wrong=range(20)), max_drop=0.02)
    assert (verdict.scores.kind, verdict.scores.passed, verdict.outcomes.kind) == (
        "regression",
        False,
        "regression",
    )
    assert {name: change.kind for name, change in verdict.fields.items()} == {
        "a": "regression",
        "b": "inconclusive",
    }
    back = change_of_runs(many(60, wrong=range(20)), many(60), max_drop=0.02)
    assert (back.scores.kind, back.scores.passed) == ("improvement", True)


def test_deltas_by_case_and_field():
    diff = compare_runs(
        run(same=GOLD, worse=GOLD, better=WRONG, gone=GOLD),
        run(same=GOLD, worse=WRONG, better=GOLD, fresh=GOLD),
    )
    assert list(diff.changed()) == [Delta("f.yaml::worse", 1.0, 0.5), Delta("f.yaml::better", 0.5, 1.0)]
    assert (diff.new, diff.vanished) == (("f.yaml::fresh",), ("f.yaml::gone",))
    assert {each.name: (each.before, each.after) for each in diff.fields} == {
        "a": (2 / 3, 2 / 3),
        "b": (1.0, 1.0),
    }
    assert diff.score == Delta("score", 2.5 / 3, 2.5 / 3)
    assert compare_runs(run(a=GOLD), run(b=GOLD)).score is None


def test_cases_that_were_scored_in_another_way():
    before = ResultSet((case("a", GOLD), case("b", GOLD)))
    after = ResultSet((case("a", GOLD, metric="pairwise_f1"), case("b", GOLD)))
    diff = compare_runs(before, after)
    assert diff.mismatches == (
        Mismatch(
            "f.yaml::a",
            "field_match|options:none|schema:none|rules:2",
            "pairwise_f1|options:none|schema:none|rules:2",
        ),
    )
    assert diff.mismatches[0].difference == "field_match, now pairwise_f1"
    assert not diff.is_comparable


def test_a_case_that_failed_before_it_compared_was_not_scored_in_another_way():
    failed = Case("f.yaml::a", (CaseRun(1, passed=False, error="failed before comparing"),))
    diff = compare_runs(ResultSet((failed,)), ResultSet((case("a", GOLD),)))
    assert diff.is_comparable
    assert diff.cases == (Delta("f.yaml::a", 0.0, 1.0),)


def shown(diff, mode="auto", **options):
    return [line_text(line) for line in baseline_lines(diff, Look(mode=mode), name="main", **options)]


def test_what_is_shown_of_a_baseline():
    before, after = many(8), replace(many(9, wrong=range(6)), collected=9)
    diff = compare_runs(before, after)
    assert shown(diff, verdict=change_of_runs(before, after)) == [
        "baseline main (2026-11-20, 0123456789): 8 cases in both, 1 new",
        "   -0.38  1.00 → 0.62  score",
        "  regression: the mean score dropped by 0.375, from 1.000 to 0.625 (p = 0.016, n",
        "  = 8)",
        "  which cases pass: regression: the pass rate dropped by 0.750, from 1.000 to",
        "  0.250 (p = 0.016, n = 8)",
        "  field a: regression: down by 0.750, 1.000 to 0.250 (p = 0.031 after Holm, n =",
        "  8)",
        "fields that changed:",
        "   -0.75  1.00 → 0.25  a",
        "cases that changed:",
        *(f"   -0.50  1.00 → 0.50  f.yaml::c{number:03}" for number in range(6)),
        "  new: f.yaml::c008",
    ]


def test_what_did_not_run_has_not_vanished():
    diff = compare_runs(many(3), replace(many(2), narrowed=("-k",)))
    assert shown(diff)[0].endswith("2 cases in both, 1 not run")
    assert shown(diff)[-1] == "  not run: f.yaml::c002"
    assert shown(compare_runs(many(3), many(2)))[-1] == "  vanished: f.yaml::c002"


def test_long_lists_are_cut_unless_all_is_asked_for():
    diff = compare_runs(many(30), many(45, wrong=range(30)))
    lines = shown(diff)
    assert lines.count("  … 20 more (-v)") == 1
    assert "  … 5 more new (-v)" in lines
    assert len(shown(diff, mode="all")) == 5 + 30 + 15


def test_a_refusal_spells_the_difference_out():
    before = ResultSet(tuple(case(f"c{number}", GOLD) for number in range(5)))
    after = ResultSet(tuple(case(f"c{number}", GOLD, metric="pairwise_f1") for number in range(5)))
    assert shown(compare_runs(before, after)) == [
        "baseline main: 5 cases in both",
        "  5 cases not scored as they were then: no comparison is made",
        *(
            line
            for number in range(3)
            for line in (f"  f.yaml::c{number}", "    field_match, now pairwise_f1")
        ),
        "  … 2 more (-v)",
    ]


@pytest.mark.parametrize("unicode", [True, False])
def test_lines_of_intervals(unicode):
    found = headlines(many(40, wrong=range(20)))
    lines = interval_lines(found, Look(unicode=unicode), title="figures", seed=7)
    assert line_text(lines[0]) == "figures, with 95 % confidence intervals (40 cases):"
    assert line_text(lines[1]).startswith("  score      0.75  0.6")
    assert line_text(lines[1]).endswith("(bootstrap, seed 7)")
    assert line_text(lines[2]) == "  pass rate  0.50  0.35 to 0.65  (Wilson)"
    narrow = interval_lines(found, Look(width=40), title="figures", seed=7)
    assert all(line_width(line) <= 40 for line in narrow)
