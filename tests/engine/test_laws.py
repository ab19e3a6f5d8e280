"""Laws of the engine, on generated JSON. (Those that hold under any options are in tests/fuzz.)"""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_jsonmatch import FieldAggregation, compare_json
from tests.conftest import share

STATUSES = ("match", "mismatch", "omission", "hallucination", "skipped", "batch_error")
METRICS = ("field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["a b", "b a", "A", "é"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc d"), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)
FLAT = st.dictionaries(st.sampled_from("abcdefg"), SCALARS, max_size=7)
quiet = settings(max_examples=share(150))
SUMS_FROM = list(inspect.signature(FieldAggregation).parameters).index("score_sum")


@pytest.mark.parametrize("metric", METRICS)
@quiet
@given(OBJECTS, OBJECTS)
def test_scores_lie_between_0_and_1_and_1_means_that_every_counted_unit_is_1(metric, expected, actual):
    result = compare_json(actual, expected, metric=metric)
    assert all(0.0 <= figure <= 1.0 for figure in (result.score, result.precision, result.recall, result.f1))
    counted = [
        f for f in result.field_results if f.expected_leaves + f.actual_leaves and f.status != "skipped"
    ]
    if metric in {"pairwise_f1", "leaf_f1"}:
        assert (result.score == 1.0) is all(f.score == 1.0 for f in counted)
    else:
        assert (result.score == 1.0) is all(f.score == 1.0 for f in counted if f.expected_leaves)


@pytest.mark.parametrize("metric", ["field_match", "json_similarity", "leaf_f1"])
@quiet
@given(OBJECTS, st.data())
def test_deleting_a_correct_member_never_raises_recall(metric, value, data):
    if value:
        less = dict(value)
        del less[data.draw(st.sampled_from(sorted(value)))]
        whole = compare_json(value, value, metric=metric)
        assert compare_json(less, value, metric=metric).recall <= whole.recall


@pytest.mark.parametrize("metric", METRICS)
@quiet
@given(OBJECTS, st.sampled_from([float("nan"), float("inf")]))
def test_nan_never_scores_1(metric, value, bad):
    assert compare_json({**value, "x": bad}, {**value, "x": 1.5}, metric=metric).score < 1.0


@pytest.mark.parametrize("metric", METRICS)
@quiet
@given(OBJECTS | FLAT, OBJECTS | FLAT)
def test_figures_are_the_sums_of_the_results(metric, expected, actual):
    compared = compare_json(actual, expected, metric=metric)
    figures = compared.matched_leaves, compared.total_leaves, compared.counts
    # (What absence is counted by stands between the counts of statuses and the sums.)
    fields = {
        path: [*each.to_list()[:6], *each.to_list()[SUMS_FROM:]] for path, each in compared.per_field.items()
    }
    results = list(compare_json(actual, expected, metric=metric).field_results)
    assert figures == (
        pytest.approx(math.fsum(each.score * each.weight for each in results)),
        sum(each.expected_leaves for each in results),
        Counter(each.status for each in results),
    )
    assert fields == {
        path: [
            *(sum(each.status == status for each in results if each.path == path) for status in STATUSES),
            pytest.approx(math.fsum(each.score for each in results if each.path == path)),
            pytest.approx(math.fsum(each.score * each.weight for each in results if each.path == path)),
            sum(each.expected_leaves for each in results if each.path == path),
            sum(each.actual_leaves for each in results if each.path == path),
        ]
        for path in {each.path for each in results}
    }


# -- unordered arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 50, 300])
def test_objects_pair_with_their_own_at_every_size(size):
    expected = [{"id": f"n{i}", "a": i, "b": f"x{i} y"} for i in range(size)]
    actual = [{"id": f"n{i}", "a": i, "b": "z"} for i in reversed(range(size))]
    result = compare_json(actual, expected, metric="pairwise_f1")
    assert result.counts == {"match": 2 * size, "mismatch": size}
    assert all(f.expected == f.actual for f in result.field_results if f.path == "[].id")


def test_the_optimum_and_not_the_greedy_choice():
    # Greedy takes the pair of 0.9 first and leaves 0.0 for the rest.
    expected, actual = ["aaaaaaaaab", "aaaaaaaabb"], ["aaaaaaaaaa", "aaaaaaaabb"]
    options = {"metric": "leaf_f1", "compare": "levenshtein", "arrays": "unordered"}
    assert compare_json(actual, expected, **options).counts == {"match": 1, "mismatch": 1}


def test_of_pairings_that_tie_the_one_with_the_larger_sum_of_scores():
    # 3 of 9 leaves, and nothing for the rest; or 1 of 6 (the mean of 3 and 9), twice. In binary neither is exact.
    expected = [{"a": 1, "b": 1, "c": 1}, {f"m{at}": 1 for at in range(9)}]
    actual = [
        {"m8": 1, "x": 0, "y": 0},
        {"a": 1, "m0": 1, "m1": 1, "m2": 1, **{f"z{at}": 0 for at in range(5)}},
    ]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered")
    assert ([pair[:2] for pair in result.alignments[0].pairs], result.matched_leaves) == ([(1, 1)], 3)


# -- names ---------------------------------------------------------------------------------------------------


def test_importing_the_package_and_comparing_numbers_imports_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'rapidfuzz', 'yaml', 'regex', 'pytest', 'json_repair'}"
    code = (
        "import sys, pytest_jsonmatch as p\n"
        "p.compare_json({'a': [{'b': 1}]}, {'a': [{'b': 2}]}, metric='leaf_f1').to_dict()\n"
        "p.compare_json([1, 2, {'a': 3}], [{'a': 3}, 2, 5], metric='pairwise_f1').to_dict()\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
