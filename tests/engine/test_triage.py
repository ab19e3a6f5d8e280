"""Triage: a judge is asked less, and pass or fail is what it would be if it was asked everything."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_json
from pytest_jsonmatch.limits import measured, read_limits
from pytest_jsonmatch.triage import Triage

SEMANTIC = {"string": "semantic"}


class Asked:
    """A judge by a table of verdicts, which counts what it is asked."""

    def __init__(self, verdicts):
        self.verdicts = verdicts
        self.items = []

    def __call__(self, item):
        self.items.append(item)
        return self.verdicts[item.actual]


def figures(result):
    return {"score": result.score, "precision": result.precision, "recall": result.recall, "f1": result.f1}


def passes(result, threshold):
    means = {path: aggregate.mean_score for path, aggregate in result.per_field.items()}
    open_paths = frozenset(
        field.path for field in result.field_results if (field.reason or "").startswith("not asked")
    )
    found = measured(read_limits(threshold), figures(result).__getitem__, lambda: means, open_paths)
    return all(each.is_reached for each in found)


LIMITS = st.sampled_from([0.0, 0.2, 0.34, 0.5, 0.6, 0.75, 0.9, 1.0])
THRESHOLDS = (
    LIMITS
    | st.dictionaries(st.sampled_from(["score", "precision", "recall", "f1"]), LIMITS, min_size=1)
    | st.fixed_dictionaries(
        {"f1": LIMITS, "fields": st.dictionaries(st.sampled_from(["a", "b", "*", "l[]"]), LIMITS, min_size=1)}
    )
)
# A member: the same, another number, a question, only in expected, only in actual, a question of two in a list.
KINDS = st.sampled_from(["same", "other", "ask", "ask", "ask", "gone", "extra", "list"])


@st.composite
def comparisons(draw):
    expected, actual, questions = {}, {}, []
    for name, kind in zip("abcdef", draw(st.lists(KINDS, min_size=1, max_size=6))):
        if kind != "extra":
            expected[name] = f"right {name}" if kind != "list" else [f"right {name}0", f"right {name}1"]
        if kind == "ask":
            actual[name] = f"asked {name}"
            questions.append(actual[name])
        elif kind == "list":
            actual[name] = [f"asked {name}{at}" for at in range(2)]
            questions += actual[name]
        elif kind == "same":
            actual[name] = expected[name]
        elif kind != "gone":
            actual[name] = 7
    weights = draw(st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, 0.5, 2, 5]), max_size=2))
    return expected, actual, questions, {name: {"weight": weight} for name, weight in weights.items()}


@given(
    comparison=comparisons(),
    threshold=THRESHOLDS,
    metric=st.sampled_from(["leaf_f1", "json_similarity", "field_match"]),
    data=st.data(),
)
def test_pass_or_fail_is_the_same_for_every_judge(comparison, threshold, metric, data):
    expected, actual, questions, fields = comparison
    options = {"metric": metric, "fields": fields, "compare": SEMANTIC}
    verdicts = {question: data.draw(st.booleans(), question) for question in questions}
    whole, some = Asked(verdicts), Asked(verdicts)
    everything = compare_json(actual, expected, judge=whole, **options)
    triaged = compare_json(actual, expected, judge=some, judge_triage=True, threshold=threshold, **options)
    assert passes(triaged, threshold) == passes(everything, threshold)
    asked = {item.actual for item in some.items}
    assert asked <= {item.actual for item in whole.items}
    # What is shown is between what the open questions could have made of it.
    bounds = []
    for answer in (False, True):
        judge = Asked(
            {question: verdicts[question] if question in asked else answer for question in verdicts}
        )
        bounds.append(compare_json(actual, expected, judge=judge, **options))
    for name, value in figures(triaged).items():
        low, high = (figures(bound)[name] for bound in bounds)
        assert low - 1e-12 <= value <= high + 1e-12
    for beta in (0.5, 2):
        low, high = (bound.f_beta(beta) for bound in bounds)
        assert low - 1e-12 <= triaged.f_beta(beta) <= high + 1e-12


@pytest.mark.parametrize("verdicts", [(x >> 2 & 1, x >> 1 & 1, x & 1) for x in range(8)])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 1.0])
def test_unordered_arrays_pass_or_fail_as_if_everything_was_asked(verdicts, threshold):
    expected = {"l": ["one", "two"], "note": "right", "id": 1}
    actual = {"l": ["eins", "zwei"], "note": "ja", "id": 1}

    def judge(item):
        if item.path == "note":
            return bool(verdicts[2])
        return bool(verdicts[(item.expected == "one") != (item.actual == "eins")])

    options = {"metric": "leaf_f1", "arrays": "unordered", "compare": SEMANTIC, "judge": judge}
    everything = compare_json(actual, expected, **options)
    triaged = compare_json(actual, expected, judge_triage=True, threshold=threshold, **options)
    assert passes(triaged, threshold) == passes(everything, threshold)


@st.composite
def with_unordered_arrays(draw):
    def element(side):
        members = {"id": draw(st.integers(0, 2)), "t": f"{side} {draw(st.integers(0, 2))}"}
        if draw(st.booleans()):
            members["sub"] = [f"{side} sub {draw(st.integers(0, 1))}"] * draw(st.integers(0, 2))
        return members

    sides = [
        {
            "l": [element(side) for _ in range(draw(st.integers(0, 3)))],
            "n": f"{side} n",
            "k": draw(st.booleans()),
        }
        for side in ("right", "asked")
    ]
    return (*sides, {"n": {"weight": draw(st.sampled_from([0, 1, 4]))}})


@given(
    comparison=with_unordered_arrays(),
    threshold=THRESHOLDS,
    metric=st.sampled_from(["leaf_f1", "pairwise_f1", "json_similarity", "field_match"]),
    seed=st.integers(0, 255),
)
def test_verdicts_that_decide_pairings_change_nothing_of_that(comparison, threshold, metric, seed):
    expected, actual, fields = comparison
    asked = []

    def judge(item):
        asked.append(item)
        return bool(crc32(repr((seed, item.expected, item.actual)).encode()) & 1)

    options = {"metric": metric, "fields": fields, "arrays": "unordered", "compare": SEMANTIC, "judge": judge}
    everything = compare_json(actual, expected, **options)
    number = len(asked)
    triaged = compare_json(actual, expected, judge_triage=True, threshold=threshold, **options)
    assert (passes(triaged, threshold), len(asked) <= 2 * number) == (passes(everything, threshold), True)


def test_the_most_influential_question_comes_first_and_the_rest_is_left_out():
    judge = Asked({"x": True, "y": True, "z": True})
    triage = Triage(read_limits(0.7))
    result = compare_json(
        {"big": "x", "b": "y", "c": "z"},
        {"big": "X", "b": "Y", "c": "Z"},
        metric="leaf_f1",
        compare=SEMANTIC,
        fields={"big": {"weight": 8}},
        judge=judge,
        judge_triage=triage,
    )
    assert ([item.path for item in judge.items], triage.saved, result.counts) == (
        ["big"],
        2,
        {"match": 1, "skipped": 2},
    )


@pytest.mark.parametrize(
    ("metric", "actual", "expected"),
    [("leaf_f1", "x", "y"), ("field_match", {"c": 1, "d": "x"}, {"c": 1, "d": "y"})],
)
def test_what_is_left_out_says_why(metric, actual, expected):
    result = compare_json(
        {"a": 1, "b": actual},
        {"a": 2, "b": expected},
        metric=metric,
        compare=SEMANTIC,
        judge=lambda item: True,
        judge_triage=True,
        threshold=0.9,
    )
    assert [(field.status, field.reason) for field in result.field_results][1] == (
        "skipped",
        "not asked: no verdict could change pass or fail",
    )


def test_a_perfect_score_needs_all_questions_in_few_rounds():
    rounds = []

    class Counting:
        def judge(self, items):
            rounds.append(len(items))
            from pytest_jsonmatch.semantic.judging import Verdict

            return {item.id: Verdict(equivalent=True) for item in items}

    expected = {f"k{n}": f"right {n}" for n in range(40)}
    actual = {f"k{n}": f"said {n}" for n in range(40)}
    compare_json(
        actual,
        expected,
        metric="leaf_f1",
        compare=SEMANTIC,
        judge=Counting(),
        judge_triage=True,
        threshold=1.0,
    )
    assert rounds == [1, 2, 4, 8, 16, 9]


def test_equal_questions_are_one():
    expected = {"l": [{"t": "right"} for _ in range(9)], "n": "right"}
    actual = {"l": [{"t": "asked"} for _ in range(9)], "n": "asked too"}
    judge = Asked({"asked": True, "asked too": True})
    compare_json(
        actual, expected, metric="leaf_f1", compare=SEMANTIC, judge=judge, judge_triage=True, threshold=0.8
    )
    assert [item.path for item in judge.items] == ["l[].t"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge_triage": True}, "judge_triage=True needs a threshold to stop at"),
        ({"judge_triage": 0.9}, "judge_triage is 0.9; it must be True or False"),
        ({"judge_triage": None}, "judge_triage is None; it must be True or False"),
        ({"judge_triage": True, "threshold": 2}, "threshold must be a number from 0 to 1, or a mapping"),
        ({"judge_triage": True, "threshold": {"f2": 1}}, "unknown threshold 'f2'"),
        ({"threshold": 0.9}, "unknown option 'threshold'"),
    ],
)
def test_a_threshold_is_needed(options, message):
    with pytest.raises(ConfigurationError, match=message):
        compare_json({"a": 1}, {"a": 1}, **options)


def test_what_is_turned_off_needs_no_threshold():
    assert compare_json({"a": 1}, {"a": 1}, judge_triage=False, threshold=0.9).score == 1.0


def test_a_corpus_needs_every_verdict():
    with pytest.raises(ConfigurationError, match="judge_triage is for a comparison with a threshold"):
        compare_corpus([{"a": 1}], [{"a": 1}], judge_triage=True)
