"""Headline numbers with intervals, and a run against its baseline, from results of cases."""

from __future__ import annotations

import itertools

import pytest

from pytest_jsonmatch import RunResult
from pytest_jsonmatch.gate.baseline import Delta, Mismatch, compare_runs
from pytest_jsonmatch.gate.headlines import change_of_runs, contest, contests_of, headlines
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import case_of, corpus_of, mean_interval

GOLD = {"a": 1, "b": "x"}
WRONG = {"a": 2, "b": "x"}


def case(name, *answers, metric="field_match", gold=GOLD):
    return case_of(f"f.yaml::{name}", *answers, expected=gold, metric=metric)


def run(**answers):
    lists = {name: given if isinstance(given, list) else [given] for name, given in sorted(answers.items())}
    cases = (case(name, *given) for name, given in lists.items())
    return RunResult.of_cases(tuple(cases), created="2026-11-20T10:00:00+00:00", commit="0123456789abcdef+")


def many(number, wrong=()):
    return run(**{f"c{index:03}": WRONG if index in wrong else GOLD for index in range(number)})


def test_headlines_are_of_cases_not_of_runs():
    found = {each.name: each.interval for each in headlines(run(often=[WRONG] * 9, once=GOLD))}
    assert found["score"] == mean_interval([0.5, 1.0])
    assert found["pass_rate"] == mean_interval([1.0, 0.0])
    assert list(found)[:5] == ["score", "precision", "recall", "f1", "pass_rate"]
    assert headlines(RunResult.of_cases()) == []


def test_a_drop_is_found_in_scores_outcomes_and_its_field():
    verdict = change_of_runs(many(60), many(60, wrong=range(20)), DropGate(0.02))
    assert (verdict.scores.kind, verdict.scores.passed, verdict.outcomes.kind) == ("worse", False, "worse")
    assert {name: change.kind for name, change in verdict.fields.items()} == {
        "a": "worse",
        "b": "not significant",
    }
    back = change_of_runs(many(60, wrong=range(20)), many(60), DropGate(0.02))
    assert (back.scores.kind, back.scores.passed) == ("better", True)


def test_where_the_mean_score_has_not_moved_fields_share_a_tenth_of_the_error_rate():
    """Six of twelve cases would prove a field's gain or drop alone, at 0.008 each."""
    before, after = ({"a": 1, "b": "y"}, {"a": 2, "b": "x"})
    cases = {f"c{number:02}": GOLD for number in range(6, 12)}
    runs = (run(**cases, **{f"c{number:02}": answer for number in range(6)}) for answer in (before, after))
    verdict = change_of_runs(*runs)
    kinds = {verdict.scores.kind, *(change.kind for change in verdict.fields.values())}
    assert kinds == {"not significant"}


def in_documents(results, size):
    """The same run, so many cases of it from each document."""
    cases = tuple(replace(each, cluster=f"document {at // size}") for at, each in enumerate(results.cases))
    return results.with_cases(cases)


def test_cases_of_one_document_are_no_proof_of_ten():
    before, after = many(40), many(40, wrong=range(10))
    assert change_of_runs(before, after).scores.kind == "worse"
    verdict = change_of_runs(before, in_documents(after, 5))
    assert (verdict.scores.kind, verdict.outcomes.kind) == ("not significant", "too few")
    assert verdict.scores.clusters == 8
    found = {each.name: each.interval for each in headlines(in_documents(after, 5))}
    assert (found["score"].clusters, found["pass_rate"].clusters) == (8, 8)
    assert found["pass_rate"].low < headlines(after)[4].interval.low


def test_an_extra_field_is_worse():
    answers = [{**GOLD, "note": "x"}] * 30 + [GOLD] * 30
    before, after = (
        RunResult.of_cases(
            tuple(case(f"c{at:03}", answer, metric="leaf_f1") for at, answer in enumerate(side))
        )
        for side in ([GOLD] * 60, answers)
    )
    verdict = change_of_runs(before, after)
    note = verdict.fields["note"]
    assert (note.kind, note.cases, note.baseline, note.current) == ("worse", 30, None, 0.0)
    assert change_of_runs(after, before).fields["note"].kind == "better"
    failed = Case("f.yaml::c000", (CaseRun(1, passed=False, error="failed before comparing"),))
    verdict = change_of_runs(before.with_cases((failed, *before.cases[1:])), after)
    assert verdict.fields["note"].cases == 29


def test_a_field_alone_is_red_only_if_it_is_beyond_doubt():
    """The mean score has nine tenths of the error rate; the rest is shared by pass rate and fields."""
    gold = {f"f{number}": 1 for number in range(4)}
    cases = []
    for wrong in (0, 5, 20):
        answers = [{**gold, "f0": 2} if at < wrong else gold for at in range(60)]
        # What one field loses another one gains: the mean stays.
        before = [{**gold, "f1": 2} if at < wrong else gold for at in range(60)]
        runs = [
            RunResult.of_cases(tuple(case(f"c{at:02}", each, gold=gold) for at, each in enumerate(side)))
            for side in (before, answers)
        ]
        verdict = change_of_runs(*runs)
        assert verdict.scores.kind == "not significant"
        cases.append(verdict.fields["f0"].kind)
    assert cases == ["not significant", "not significant", "worse"]


def test_candidates_are_corrected_together():
    before, worse = many(60), many(60, wrong=range(20))
    runs = {"a": worse, "b": before, "c": many(60, wrong=range(4))}
    contests = {name: contest(("main", before), (name, after), tests=3) for name, after in runs.items()}
    changes = {name: each.change.scores for name, each in contests.items()}
    assert [change.kind for change in changes.values()] == ["worse", "not significant", "not significant"]
    alone = change_of_runs(before, many(60, wrong=range(4))).scores
    # The mean score is tested at nine tenths of the error rate; its interval has the level of all others.
    assert (alone.kind, alone.interval.confidence) == ("worse", pytest.approx(0.9))
    assert "(90 % interval -" in alone.difference
    # Intervals hold for the three together, too.
    assert changes["c"].interval.low < alone.interval.low
    assert changes["c"].interval.confidence == pytest.approx(1 - 2 * 0.05 / 3)


def prompts(**fixtures):
    """A run of 30 cases with each combination of values; the first ones are wrong with the second prompt."""
    cases = []
    for values in itertools.product(*fixtures.values()):
        for at in range(30):
            made = case(f"c{at:02}[{'-'.join(values)}]", WRONG if values[0] == "v2" and at < 5 else GOLD)
            comparison = replace(made.runs[0].comparisons[0], params=tuple(fixtures))
            runs = (replace(made.runs[0], comparisons=(comparison,)),)
            tags = dict(zip(fixtures, values, strict=True))
            cases.append(replace(made, runs=runs, tags=tags, cluster=f"c{at:02}"))
    return contests_of(RunResult.of_cases(tuple(cases)), fixtures, 0.95)


def test_all_comparisons_of_prompts_share_an_error_rate_and_either_may_win():
    prompt, model = ["v1", "v2"], ["large", "small"]
    found = {
        len(fixtures): [each.change.scores for contests in prompts(**fixtures).values() for each in contests]
        for fixtures in ({"prompt": prompt}, {"prompt": prompt, "model": model})
    }
    assert [[change.kind for change in changes] for changes in found.values()] == [
        ["worse"],
        ["not significant", "not significant"],
    ]
    levels = [change.interval.confidence for changes in found.values() for change in changes]
    assert levels == pytest.approx([0.95, 0.975, 0.975])
    (back,) = prompts(prompt=prompt[::-1])["prompt"]
    assert back.change.scores.kind == "better"


def test_a_fixture_that_says_what_kind_a_case_is_takes_no_part():
    """Each case runs with one of its values only: there is nothing to compare."""
    cases = [case(f"c{at:02}[{'xy'[at % 2]}]", GOLD) for at in range(8)]
    cases = [replace(each, tags={"kind": "xy"[at % 2]}) for at, each in enumerate(cases)]
    assert contests_of(RunResult.of_cases(tuple(cases)), {"kind": ["x", "y"]}, 0.95) == {}


def test_statistics_over_all_fields_have_intervals_of_their_own():
    results = run(small=GOLD, other=GOLD, large=WRONG)
    found = {each.name: each.interval for each in headlines(results)}
    assert list(found)[5:] == ["micro.score", "micro.precision", "micro.recall", "micro.f1"]
    assert found["micro.f1"].estimate == pytest.approx(5 / 6)
    assert found["micro.f1"].cases == 3


def test_deltas_by_case_and_field():
    diff = compare_runs(
        run(same=GOLD, worse=GOLD, better=WRONG, gone=GOLD),
        run(same=GOLD, worse=WRONG, better=GOLD, fresh=GOLD),
    )
    changed = [each for each in diff.cases if each.change]
    assert changed == [Delta("f.yaml::better", 0.5, 1.0), Delta("f.yaml::worse", 1.0, 0.5)]
    assert (diff.new, diff.vanished) == (("f.yaml::fresh",), ("f.yaml::gone",))
    fields = {each.name: (each.before, each.after) for each in diff.fields}
    assert fields == {"a": (2 / 3, 2 / 3), "b": (1.0, 1.0)}
    assert diff.score == Delta("score", 2.5 / 3, 2.5 / 3)
    assert compare_runs(run(a=GOLD), run(b=GOLD)).score is None


def test_cases_that_were_scored_in_another_way():
    before = RunResult.of_cases((case("a", GOLD), case("b", GOLD)))
    after = RunResult.of_cases((case("a", GOLD, metric="pairwise_f1"), case("b", GOLD)))
    diff = compare_runs(before, after)
    signatures = (f"{metric}|options:none|schema:none|rules:2" for metric in ("field_match", "pairwise_f1"))
    assert diff.mismatches == (Mismatch("f.yaml::a", *signatures),)
    assert diff.mismatches[0].difference == "field_match, now pairwise_f1"
    assert not diff.is_comparable


def test_a_case_that_failed_before_it_compared_was_not_scored_in_another_way():
    failed = Case("f.yaml::a", (CaseRun(1, passed=False, error="failed before comparing"),))
    diff = compare_runs(RunResult.of_cases((failed,)), RunResult.of_cases((case("a", GOLD),)))
    assert diff.is_comparable
    assert diff.cases == (Delta("f.yaml::a", 0.0, 1.0),)


def test_a_case_that_stopped_before_its_last_comparison_was_not_scored_in_another_way():
    """As a test does at the first assertion that fails, whatever it would have compared next."""
    [first], [second] = case("a", WRONG).runs, case("a", GOLD, metric="pairwise_f1").runs
    whole = case("a", GOLD).runs[0].comparisons + second.comparisons
    before, after = (CaseRun(1, passed=False, comparisons=made) for made in (whole, first.comparisons))
    diff = compare_runs(*(RunResult.of_cases((Case("f.yaml::a", (each,), 1),)) for each in (before, after)))
    assert (diff.is_comparable, diff.cases) == (True, (Delta("f.yaml::a", 1.0, 0.5),))


def test_statistics_that_one_of_two_corpora_lacks_are_not_compared():
    rules = {"fields": {"a": {"compare": "unreachable"}}}
    good, bad = [({"a": "good"}, {"a": "good"})] * 2, [({"a": "bad"}, {"a": "bad"})] * 2
    some, none = (corpus_of(pairs, keep="none", **rules) for pairs in (good, bad))
    for pair in ((some, none), (none, some)):
        diff = compare_runs(*pair)
        assert (diff.of_totals, diff.score, diff.fields) == (True, None, ())


def test_five_cases_prove_nothing_of_three_candidates():
    change = contest(("main", many(5)), ("a", many(5, wrong=range(5))), tests=3).change.scores
    assert (change.kind, change.passed) == ("too few", False)
