"""Batch comparators in unordered arrays: the same pairs as if every answer were known, for few questions."""

from __future__ import annotations

import random
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import ComparatorResult, JsonMatchError, compare_json
from tests.conftest import session_registry
from tests.laws import law


@pytest.fixture
def registry():
    with session_registry() as registry:
        yield registry


def likeness(expected, actual, params=None):
    """Characters shared of all characters; null is like null only."""
    if expected is None or actual is None:
        return float(expected is None and actual is None)
    one, other = set(str(expected)), set(str(actual))
    return len(one & other) / max(1, len(one | other))


class Likeness:
    null_aware = True

    def __init__(self, scope="record"):
        self.scope = scope
        self.calls = []

    def __call__(self, items):
        self.calls.append(len(items))
        scores = [likeness(item.expected_compared, item.actual_compared) for item in items]
        return dict(zip([item.id for item in items], scores)) if self.scope == "chunk" else scores


@pytest.fixture
def judge(registry):
    judge = Likeness()
    registry.comparator("judge", judge)
    registry.comparator("scalar", likeness)
    return judge


def pairs(result):
    return [(at, to) for at, to, _ in result.alignments[0].pairs]


# -- rounds ----------------------------------------------------------------------------------------------------


def test_fields_that_tell_elements_apart_leave_one_round(judge):
    expected = [{"id": 1, "note": "abc"}, {"id": 2, "note": "xyz"}, {"id": 3, "note": "klm"}]
    actual = [{"id": 3, "note": "klmn"}, {"id": 1, "note": "abcd"}, {"id": 2, "note": "wxyz"}]
    result = compare_json(
        actual, expected, metric="leaf_f1", arrays="unordered", fields={"[].note": {"compare": "judge"}}
    )
    assert pairs(result) == [(0, 1), (1, 2), (2, 0)]
    # Each id counts 1, each note 3/4.
    assert result.score == (3 + 3 * 0.75) / 6
    assert judge.calls == [3]


def test_an_answer_can_undo_a_pair(judge):
    # By the rank alone 0 and 0 belong together (0.75 at most, the notes unknown); the notes say otherwise.
    expected = [{"rank": "aaab", "note": "xyz"}, {"rank": "cccd", "note": "abc"}]
    actual = [{"rank": "aab", "note": "abc"}, {"rank": "ccd", "note": "xyz"}]
    rules = {"[].note": {"compare": "judge"}}
    result = compare_json(
        actual,
        expected,
        metric="leaf_f1",
        arrays="unordered",
        compare={"string": "levenshtein"},
        fields=rules,
    )
    # Own rank 3/4 and note 0: 3/8 each. The other's rank 0 and note 1: 1/2 each.
    assert pairs(result) == [(0, 1), (1, 0)]
    assert result.score == 0.5
    assert judge.calls == [2, 2]


def test_where_a_bound_is_no_better_nothing_more_is_asked(judge):
    expected = [{"id": 1, "note": "abc"}, {"id": 2, "note": "xyz"}]
    actual = [{"id": 1, "note": "klm"}, {"id": 2, "note": "klm"}]
    rules = {"[].note": {"compare": "judge"}, "[].id": {"weight": 2}}
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", fields=rules)
    # Own id 2 of 3, whatever the note; another's note is worth 1 of 3 at most.
    assert (pairs(result), judge.calls) == ([(0, 0), (1, 1)], [2])


def test_equal_elements_pair_without_a_question_and_are_scored_by_one(judge):
    document = [{"note": "abc", "n": 1}, {"note": "xyz", "n": 2}]
    result = compare_json(
        document[::-1],
        document,
        metric="leaf_f1",
        arrays="unordered",
        fields={"[].note": {"compare": "judge"}},
    )
    assert (result.score, judge.calls) == (1.0, [2])


def test_all_arrays_of_a_record_share_their_rounds(judge):
    expected = {"a": [{"id": 1, "s": "abc"}, {"id": 2, "s": "def"}], "b": [{"id": 1, "s": "x"}], "c": "text"}
    actual = {"a": [{"id": 2, "s": "de"}, {"id": 1, "s": "ab"}], "b": [{"id": 1, "s": "xy"}], "c": "test"}
    compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert judge.calls == [4]


def test_an_item_is_asked_about_once(registry):
    seen = []

    def judge(items):
        seen.extend((item.expected_path, item.actual_path) for item in items)
        return [likeness(item.expected, item.actual) for item in items]

    registry.comparator("judge", judge)
    expected, actual = ["abcd", "abce", "abcf", "abxy"], ["abef", "abcy", "xyzc", "abc"]
    compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert len(seen) == len(set(seen)) <= 16


def test_ids_differ_between_rounds(registry):
    ids = []

    def judge(items):
        ids.extend(item.id for item in items)
        return [likeness(item.expected, item.actual) for item in items]

    registry.comparator("judge", judge)
    compare_json(
        ["ab", "cd"], ["cx", "ay"], metric="leaf_f1", arrays="unordered", compare={"string": "judge"}
    )
    assert len(ids) == len(set(ids)) == 4


@pytest.mark.parametrize("size", [20, 200])
def test_far_fewer_questions_than_pairs_where_other_fields_tell_elements_apart(judge, size):
    words = random.Random(4)
    expected = [
        {"sku": f"A-{at:03}", "name": f"item {at % 17}", "price": at % 23, "note": f"text {at}"}
        for at in range(size)
    ]
    actual = [dict(item, note=item["note"].upper()) for item in expected]
    for item in actual:
        if words.random() < 0.5:
            item[words.choice(["sku", "name", "price"])] = "lost"
    words.shuffle(actual)
    result = compare_json(
        actual, expected, metric="leaf_f1", arrays="unordered", fields={"[].note": {"compare": "judge"}}
    )
    assert result.counts["match"] > 2 * size
    assert sum(judge.calls) <= 2 * size


def test_where_only_answers_tell_elements_apart_there_are_few_rounds(judge):
    expected = [f"{chr(97 + at)}{chr(98 + at)}" for at in range(20)]
    actual = [word + "!" for word in reversed(expected)]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert result.score == pytest.approx(2 / 3)
    assert len(judge.calls) <= 8
    assert sum(judge.calls) <= 400


def test_perfect_pairs_end_the_questions(registry):
    calls = []

    def judge(items):
        calls.append(len(items))
        return [item.expected.lower() == item.actual.lower() for item in items]

    registry.comparator("judge", judge)
    expected = [{"n": at, "s": f"text {at}"} for at in range(30)]
    actual = [{"n": at, "s": f"TEXT {at}"} for at in range(30)]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert (result.score, calls) == (1.0, [30])


# -- failures and skips ----------------------------------------------------------------------------------------


def test_a_failed_item_is_left_out_of_its_pair(registry):
    registry.comparator(
        "judge", lambda items: [ValueError("refused") if item.expected == "abc" else 1.0 for item in items]
    )
    expected = [{"id": 1, "note": "abc"}, {"id": 2, "note": "xyz"}]
    actual = [{"id": 2, "note": "wx"}, {"id": 1, "note": "ab"}]
    result = compare_json(
        actual, expected, metric="leaf_f1", arrays="unordered", fields={"[].note": {"compare": "judge"}}
    )
    assert pairs(result) == [(0, 1), (1, 0)]
    assert (result.score, result.counts) == (1.0, {"match": 3, "batch_error": 1})


def test_a_comparator_that_always_fails_ends_all_the_same(registry):
    def broken(items):
        raise OSError("gone")

    registry.comparator("judge", broken)
    expected, actual = ["ab", "cd", "ef"], ["xy", "zz"]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert "pending" not in result.counts
    assert result.counts["batch_error"] == 2


def test_skipped_answers_count_nowhere(registry):
    registry.comparator("judge", lambda items: [ComparatorResult(0.0, "n/a", skip=True) for _ in items])
    expected, actual = [{"id": 1, "s": "a"}, {"id": 2, "s": "b"}], [{"id": 2, "s": "c"}, {"id": 1, "s": "d"}]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare={"string": "judge"})
    assert (result.score, result.counts) == (1.0, {"match": 2, "skipped": 2})


# -- laws ------------------------------------------------------------------------------------------------------


def generated(seed, depth=0):
    chance = seed.random()
    if depth > 3 or chance < 0.35:
        return seed.choice(["ab", "abc", "b", "xyz", "zy", 1, 2, 1.5, True, None, "ba"])
    if chance < 0.65:
        return [generated(seed, depth + 1) for _ in range(seed.randint(0, 4))]
    return {seed.choice("abcd"): generated(seed, depth + 1) for _ in range(seed.randint(0, 4))}


def perturbed(seed, value):
    if isinstance(value, dict):
        return {key: perturbed(seed, item) for key, item in value.items() if seed.random() > 0.1}
    if isinstance(value, list):
        items = [perturbed(seed, item) for item in value if seed.random() > 0.1]
        seed.shuffle(items)
        return items + ([generated(seed, 2)] if seed.random() < 0.2 else [])
    return value if seed.random() > 0.25 else generated(seed, 4)


def options(seed, name):
    """Options drawn alike for every comparator name."""
    chosen = {
        "metric": seed.choice(["leaf_f1", "pairwise_f1", "json_similarity"]),
        "arrays": seed.choice(["unordered", "unordered", "ordered", {"key": "a"}]),
        "empties": seed.choice(["leaf", "if_absent", "never"]),
        "nulls": seed.choice(["value", "absent"]),
        "extra": seed.choice(["count", "ignore"]),
        "leaf_threshold": seed.choice([None, None, 0.4]),
        "array_threshold": seed.choice([0.0, 0.3]),
        "fields": {},
    }
    pattern = seed.choice(["**.a", "**.b", "**[]", "**.*", "*[].a"])
    if seed.random() < 0.6:
        chosen["compare"] = {"string": name, "number": name}
    if seed.random() < 0.6:
        chosen["fields"][pattern] = {"compare": name}
    if seed.random() < 0.2:
        chosen["fields"]["**.c"] = {"weight": 2.0}
    if seed.random() < 0.2:
        chosen["fields"]["**.d"] = {"skip": True}
    return chosen


def compared(actual, expected, chosen):
    try:
        return compare_json(actual, expected, **chosen)
    except JsonMatchError as error:
        return str(error)


def all_scores(result):
    if isinstance(result, str):
        return result
    fields = {
        path: [round(number, 9) for number in aggregate.to_list()]
        for path, aggregate in result.per_field.items()
    }
    sums = [round(number, 9) for number in (result.score, result.precision, result.recall)]
    return sums, result.counts, fields


def assert_as_good(one, other):
    """Check that two results have the same numbers, or, with pairings that tie, the same sum of scores."""
    if isinstance(one, str) or isinstance(other, str) or one.alignments == other.alignments:
        assert all_scores(one) == all_scores(other)
        return
    assert one.matched_leaves == pytest.approx(other.matched_leaves, abs=1e-9)


@contextmanager
def one_comparator_in_three_ways():
    with session_registry() as names:
        names.comparator("scalar", likeness)
        names.comparator("batch", Likeness())
        names.comparator("chunk", Likeness("chunk"))
        yield


SEEDS = st.integers(0, 2**32)


@law(SEEDS, examples=600, within=one_comparator_in_three_ways)
def test_scores_are_those_of_the_same_comparator_asked_one_by_one(seed):
    draw = random.Random(seed)
    expected = [generated(draw, 1) for _ in range(draw.randint(2, 9))]
    actual = perturbed(draw, expected)
    required = compared(actual, expected, options(random.Random(seed), "scalar"))
    for name in ("batch", "chunk"):
        assert_as_good(compared(actual, expected, options(random.Random(seed), name)), required)


@law(SEEDS, examples=100, within=one_comparator_in_three_ways)
def test_units_in_field_match_too(seed):
    draw = random.Random(seed)
    expected = {key: generated(draw, 1) for key in "abc"}
    actual = {key: perturbed(draw, value) for key, value in expected.items()}
    chosen = {"metric": "field_match", "arrays": "unordered"}
    one, other = (
        compared(actual, expected, {**chosen, "compare": {"string": name}}) for name in ("scalar", "batch")
    )
    assert all_scores(one) == all_scores(other)


@law(SEEDS, examples=60, within=one_comparator_in_three_ways)
def test_the_order_of_elements_changes_no_score(seed):
    draw = random.Random(seed)
    expected = [generated(draw, 2) for _ in range(draw.randint(2, 7))]
    actual = perturbed(draw, expected)
    chosen = {"metric": "leaf_f1", "arrays": "unordered", "compare": {"string": "batch"}}
    shuffled, other = draw.sample(expected, len(expected)), draw.sample(actual, len(actual))
    one, two = (all_scores(compared(*sides, chosen)) for sides in ((actual, expected), (other, shuffled)))
    assert one[:2] == two[:2]
