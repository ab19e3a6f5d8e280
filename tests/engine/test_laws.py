"""Laws of the engine: what holds for any comparison."""

from __future__ import annotations

import copy
import inspect
import json
import math
import subprocess
import sys
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch import FieldAggregation, JsonMatchError, MatchResult, assert_json_match, compare_json
from tests.fuzz import arrays, evalschemas
from tests.fuzz.documents import (
    ACCEPTED,
    ALIGNMENTS,
    COMPARATORS,
    FAIR,
    METRICS,
    REFLEXIVE_COMPARATORS,
    WORDS,
    compared,
    keys,
    near,
    nonfinite,
    objects,
    options,
    pairs,
    reordered,
    scalars,
    schema_for,
    scores_of,
    unrecorded,
    values,
)
from tests.laws import law

SUMS_FROM = list(inspect.signature(FieldAggregation).parameters).index("score_sum")
STATUSES = ("match", "mismatch", "omission", "hallucination", "skipped", "batch_error")
TREE_METRICS = st.sampled_from(["pairwise_f1", "leaf_f1"])
ORDERS = st.sampled_from(["ordered", "unordered"])
ANY_OPTIONS = options(COMPARATORS, [*ALIGNMENTS, {"key": "id"}], **ACCEPTED)

# -- comparisons: expected, actual and options ----------------------------------------------------------------


@st.composite
def under_options(draw, given=ANY_OPTIONS, comparators=COMPARATORS):
    """Any documents under any options, and often under a schema that expected fits."""
    expected, actual = draw(pairs())
    more = {"schema": schema_for(draw, comparators, expected)} if draw(st.booleans()) else {}
    return expected, actual, {**draw(given), **more}


@st.composite
def under_a_schema(draw, **rules):
    """Documents that hold nothing outside a schema, under it."""
    schema = draw(evalschemas.schemas(**rules))
    expected = draw(evalschemas.documents(schema, loose=False))
    actual = draw(st.just(copy.deepcopy(expected)) | evalschemas.documents(schema, loose=False))
    return expected, actual, {"metric": draw(TREE_METRICS), "schema": schema, "arrays": draw(ORDERS)}


@st.composite
def of_arrays(draw):
    """Documents full of arrays that are hard to pair."""
    given = {"metric": draw(arrays.METRICS), "arrays": draw(arrays.ARRAYS)}
    return draw(arrays.DOCUMENTS), draw(arrays.ANSWERS), {**draw(arrays.options()), **given}


def copies(*sides):
    return (copy.deepcopy(side) for side in sides)


# -- scores ----------------------------------------------------------------------------------------------------

strange = st.recursive(
    scalars
    | nonfinite
    | st.binary(max_size=5)
    | st.sampled_from([object(), {1}, {2: 3}, (1, "a"), 1j, b"[1]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.integers(0, 1), inner, max_size=3),
    max_leaves=8,
)
OPTION_NAMES = [
    "root", "granularity", "arrays", "array_threshold", "empties", "leaf_threshold", "target_key", "compare",
    "transform", "fields", "schema", "repair", "extras",
]  # fmt: skip
wild = st.recursive(
    scalars | st.sampled_from(WORDS) | nonfinite,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)
thresholds = st.sampled_from(
    [0, 0.5, 1, True, -1, 1.5, float("nan"), "90%", {"f1": 1}, {"fields": {"a": 1}}, {}]
)


@law(
    under_options()
    | under_a_schema(**evalschemas.COMPARE)
    | of_arrays()
    | st.tuples(strange, strange, ANY_OPTIONS),
    st.just({}) | st.dictionaries(st.sampled_from(OPTION_NAMES), wild, max_size=2),
    thresholds | st.none(),
    examples=500,
    within=arrays.comparators,
)
def test_anything_gets_scores_that_add_up_or_a_documented_error(comparison, wrong, threshold):
    expected, actual, given = comparison
    given = {**given, **wrong}
    before = repr((expected, actual))
    result = compared(actual, expected, given)
    assert repr((expected, actual)) == before
    if result is not None:
        check_parts(result, is_weighed="weight" in repr(given))
        again = compared(*copies(actual, expected), given)
        assert repr(again.to_dict()) == repr(result.to_dict())
    with suppress(AssertionError, JsonMatchError), unrecorded():
        assert_json_match(actual, expected, threshold=threshold, **given)


def check_parts(result: MatchResult, *, is_weighed: bool) -> None:
    """Check that scores are shares, and that they and the aggregates of fields are the sums of the rows."""
    assert all(0.0 <= one_score <= 1.0 for one_score in scores_of(result) if one_score is not None)
    assert all(0.0 <= each.f1 <= 1.0 for each in result.containers)
    counts, fields = result.counts, {path: each.to_list() for path, each in result.per_field.items()}
    rows = list(result.field_results)
    assert counts == result.counts == Counter(row.status for row in rows)
    counted = {row.path for row in rows if row.status != "skipped"}
    assert counted <= set(fields) <= {row.path for row in rows}
    for path, numbers in fields.items():
        own = [row for row in rows if row.path == path]
        if path in counted:
            assert numbers[:6] == [sum(row.status == status for row in own) for status in STATUSES]
        # (What absence is counted by stands between the counts of statuses and the sums.)
        sums = [[row.score, row.score * row.weight, row.expected_leaves, row.actual_leaves] for row in own]
        known = 2 if is_weighed else 4
        found = [math.fsum(column) for column in zip(*sums, strict=True)]
        assert near(numbers[SUMS_FROM : SUMS_FROM + known], found[:known])
    weights = math.fsum(each.expected_weight for each in result.per_field.values())
    matched = math.fsum(row.score * row.weight for row in rows)
    assert near((result.matched_leaves, result.total_leaves), (matched, weights))
    assert result.to_dict()


@law(objects, objects, METRICS, examples=400)
def test_a_score_of_1_means_that_every_counted_unit_is_1(expected, actual, metric):
    result = compare_json(actual, expected, metric=metric)
    counted = [
        row
        for row in result.field_results
        if row.expected_leaves + row.actual_leaves and row.status != "skipped"
    ]
    if metric not in {"pairwise_f1", "leaf_f1"}:
        counted = [row for row in counted if row.expected_leaves]
    assert (result.score == 1.0) is all(row.score == 1.0 for row in counted)


@law(
    objects | values,
    options(REFLEXIVE_COMPARATORS, ALIGNMENTS, **ACCEPTED),
    st.booleans(),
    st.data(),
    examples=150,
)
def test_what_is_expected_scores_1(value, given, with_schema, data):
    assume(not isinstance(value, str))
    more = {"schema": schema_for(data.draw, REFLEXIVE_COMPARATORS, value)} if with_schema else {}
    result = compared(copy.deepcopy(value), value, {**given, **more})
    assert result is None or scores_of(result) == (1.0, 1.0, 1.0, 1.0)


@law(objects, nonfinite, METRICS, examples=150)
def test_what_is_not_a_number_never_scores_1(value, bad, metric):
    assert compare_json({**value, "x": bad}, {**value, "x": 1.5}, metric=metric).score < 1.0


def count_scalars(value, schema):
    """How many scalars stand in the value where the schema does not skip them."""
    if schema.get("x-eval-skip"):
        return 0
    if isinstance(value, dict):
        return sum(
            count_scalars(item, schema.get("properties", {}).get(key, {})) for key, item in value.items()
        )
    if isinstance(value, list):
        return sum(count_scalars(item, schema.get("items", {})) for item in value)
    return 1


@law(under_a_schema(), evalschemas.JSON, st.booleans(), examples=240)
def test_every_scalar_on_either_side_is_counted_once(comparison, other, with_other):
    expected, actual, given = comparison
    if with_other and given["metric"] == "leaf_f1" and not isinstance(other, str):
        actual = other  # what the schema does not list is counted as well: one hallucination for each leaf
    rows = list(compare_json(actual, expected, **given, empties="never").field_results)
    schema = given["schema"]
    assert sum(row.expected_leaves for row in rows) == count_scalars(expected, schema)
    assert sum(row.actual_leaves for row in rows) == count_scalars(actual, schema)


# -- order and sides ---------------------------------------------------------------------------------------------


@law(under_options(), st.data(), examples=200)
def test_the_order_of_keys_changes_no_score(comparison, data):
    expected, actual, given = comparison
    before = compared(actual, expected, given)
    again = [reordered(data.draw, side, arrays=False) for side in (actual, expected)]
    after = compared(*again, given)
    assert (before is None) is (after is None)
    assert before is None or near(scores_of(before), scores_of(after))
    assert before is None or before.counts == after.counts


def without_order(comparison):
    """The comparison with all arrays unordered."""
    expected, actual, given = comparison
    # A comparator on an array compares it whole, its order too; and fields as units are compared for equality.
    ordering = {"compare", "align"} if given["arrays"] == "unordered" else {"compare"}
    fields = {
        pattern: {word: value for word, value in rule.items() if word not in ordering}
        for pattern, rule in given.get("fields", {}).items()
    }
    return expected, actual, {**given, "granularity": "leaves", "root": "any", "fields": fields}


def without_what_json_lacks(value):
    if isinstance(value, list):
        return [without_what_json_lacks(each) for each in value]
    if isinstance(value, dict):
        return {key: without_what_json_lacks(each) for key, each in value.items()}
    return 0.1 if value in {math.inf, -math.inf} or value != value else value  # noqa: PLR0124 - NaN


ALMOST_JSON = st.recursive(
    st.sampled_from([0, 0.1, 0.10001, "a", True, None, math.nan, math.inf, "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=12,
)
UNORDERED = options(COMPARATORS, ["unordered"], **ACCEPTED).map(
    lambda given: {**given, "arrays": "unordered"}
)


@law(
    st.tuples(pairs(), UNORDERED).map(lambda drawn: (*drawn[0], drawn[1]))
    | st.tuples(under_a_schema(**evalschemas.COMPARE), st.sampled_from(["count", "ignore"])).map(
        lambda drawn: (*drawn[0][:2], {**drawn[0][2], "arrays": "unordered", "extra": drawn[1]})
    )
    | st.tuples(arrays.DOCUMENTS, arrays.ANSWERS, arrays.OPTIONS, METRICS).map(
        lambda drawn: (*drawn[:2], {**drawn[2], "metric": drawn[3]})
    )
    | st.tuples(ALMOST_JSON, TREE_METRICS).map(
        lambda drawn: (
            {"a": without_what_json_lacks(drawn[0])},
            {"a": drawn[0]},
            {"metric": drawn[1], "arrays": "unordered"},
        )
    ),
    st.data(),
    examples=600,
    within=arrays.comparators,
)
def test_the_order_of_unordered_arrays_changes_no_score(comparison, data):
    expected, actual, given = without_order(comparison)
    before = compared(actual, expected, given)
    after = compared(*(reordered(data.draw, side, arrays=True) for side in (actual, expected)), given)
    assert (before is None) is (after is None)
    assert before is None or near(scores_of(before), scores_of(after))


# (How many leaves an empty array or object counts hangs on what stands on the other side.)
EVEN = {"granularity": "leaves", "extra": "count", "reduce": "f1", "empties": "never"}


@law(
    st.tuples(pairs(), options(FAIR, ALIGNMENTS), TREE_METRICS).map(
        lambda drawn: (*drawn[0], {**drawn[1], **EVEN, "metric": drawn[2]})
    )
    | under_a_schema(**evalschemas.COMPARE),
    examples=300,
)
def test_exchanging_the_sides_exchanges_precision_and_recall(comparison):
    one, other, given = comparison
    assume(not isinstance(other, str) and "nan" not in repr(other) and "inf" not in repr(other))
    forth, back = compared(other, one, given), compared(one, other, given)
    assert (forth is None) is (back is None)
    assert forth is None or near(
        (forth.precision, forth.recall, forth.f1), (back.recall, back.precision, back.f1)
    )


# -- more and less -----------------------------------------------------------------------------------------------


def containers(value):
    if isinstance(value, (dict, list)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


# An empty array is a leaf, and one full of what is skipped or weighs nothing has none: there junk takes a leaf away.
@law(
    under_a_schema(plain=evalschemas.COUNTED, **evalschemas.COMPARE),
    st.data(),
    examples=60,
    each=[1, "junk", {"a": 1}, [None, {"x": 2}], {}],
)
def test_without_unordered_arrays_junk_never_raises_precision(junk, comparison, data):
    expected, actual, given = comparison
    given = {**given, "metric": "leaf_f1", "arrays": "ordered"}
    place = data.draw(st.sampled_from(list(containers(actual))))
    if isinstance(place, list):
        # What is added then stands beyond all that expected can have here, four elements at most.
        place.extend(["pad"] * 4)
    before = compare_json(actual, expected, **given)
    if isinstance(place, list):
        place.append(junk)
    else:
        place["junk"] = junk
    after = compare_json(actual, expected, **given)
    assert after.precision <= before.precision + 1e-12


def members_of(value, path=""):
    """The path of each member of an object, with the object and its key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}".removeprefix(".") if key.isidentifier() else f"{path}[{json.dumps(key)}]"
            yield here, value, key
            yield from members_of(inner, here)
    if isinstance(value, list):
        for at, inner in enumerate(value):
            yield from members_of(inner, f"{path}[{at}]")


@law(under_a_schema(**evalschemas.COMPARE), st.data(), examples=240)
def test_without_unordered_arrays_losing_a_correct_leaf_never_raises_recall(comparison, data):
    expected, actual, given = comparison
    given = {**given, "arrays": "ordered"}
    before = compare_json(actual, expected, **given)
    members = {path: place for path, *place in members_of(actual)}
    right = [
        row.actual_path
        for row in before.field_results
        if row.status == "match" and row.actual_path in members
    ]
    if not right:
        return
    holder, key = members[data.draw(st.sampled_from(right))]
    del holder[key]
    assert compare_json(actual, expected, **given).recall <= before.recall + 1e-12


@law(objects.filter(bool), METRICS, st.data(), examples=150)
def test_deleting_a_correct_member_never_raises_recall(value, metric, data):
    less = dict(value)
    del less[data.draw(st.sampled_from(sorted(value)))]
    whole = compare_json(value, value, metric=metric)
    assert compare_json(less, value, metric=metric).recall <= whole.recall


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
