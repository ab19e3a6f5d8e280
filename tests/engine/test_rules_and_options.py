"""The option table and the rules by path pattern."""

from __future__ import annotations

import gc
import json
import re
import sys
from unittest.mock import ANY

import pytest

from pytest_jsonmatch import (
    ComparatorResult,
    ConfigurationError,
    TargetPathError,
    assert_json_match,
    compare_corpus,
    compare_json,
    register_comparator,
    register_metric,
    register_transform,
)
from tests.conftest import session_registry


def rows(result):
    return [(f.path, f.status, f.score) for f in result.field_results]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"items": [{"price": 1}]}, "items[0].price"),
        ([1], "[0]"),
        ([{"price": 1}], "[0].price"),
        (1, "$"),
        ({"unit price": 1}, '["unit price"]'),
        ({"a": {"a.b": [[], [], 1]}}, 'a["a.b"][2]'),
        ({"é": {"x": 1}}, '["é"].x'),
        ({"cafe\u0301": {"x": 1}}, '["cafe\\u0301"].x'),
    ],
)
def test_paths_are_written_and_read(document, path):
    *_, field = compare_json(document, document).field_results
    assert (field.expected_path, field.actual_path, field.path) == (path, path, re.sub(r"\d+]", "]", path))
    *_, field = compare_json(document, document, fields={field.path: {"weight": 2}}).field_results
    assert field.weight == 2


@pytest.mark.parametrize("text", ["a..b", "a.", ".a", "a[", "a b", "", "a[-1]", f"a[{'9' * 5_000}]"])
def test_what_is_no_path_is_an_error_that_shows_where(text):
    with pytest.raises(ConfigurationError, match="is not a path pattern: character"):
        compare_json({}, {}, skip=[text])


@pytest.mark.parametrize(
    ("pattern", "document", "path", "matches"),
    [
        ("**.price", {"items": [{"price": 1}]}, "items[].price", True),
        ("**", 1, "$", True),
        ("*", {"a": 1}, "a", True),
        ("*", {"a": {"b": 1}}, "a.b", False),
        ("items[].*", {"items": [{"price": 1}]}, "items[].price", True),
        ("items.*", {"items": [1]}, "items[]", False),
        ("**[]", {"a": {"b": [1]}}, "a.b[]", True),
        ('["a.b"]', {"a.b": 1}, '["a.b"]', True),
        ("a.b", {"a.b": 1}, '["a.b"]', False),
    ],
)
def test_patterns(pattern, document, path, matches):
    found = compare_json(document, document, fields={pattern: {"compare": "relative"}}).field_results
    assert any(field.path == path and field.comparator == "relative" for field in found) is matches


def test_the_pattern_with_more_literal_segments_wins_then_the_later():
    expected, actual = {"items": [{"price": 10.0}]}, {"items": [{"price": 10.5}]}
    close, exact = {"compare": {"numeric": {"tolerance": {"abs": 1}}}}, {"compare": "exact"}
    score = lambda fields: compare_json(actual, expected, metric="json_similarity", fields=fields).score  # noqa: E731
    assert score({"items[].price": close, "**.price": exact}) == 1.0
    assert score({"**.price": exact, "items[].*": close, "*[].price": exact}) == 0.0


def test_skip_weight_and_transform():
    expected = {"id": "A", "name": "Ann ", "note": "x", "n": 1}
    actual = {"id": "B", "name": "ann", "note": "y", "n": 1}
    result = compare_json(
        actual,
        expected,
        metric="json_similarity",
        fields={
            "id": {"skip": True},
            "name": {"transform": ["strip", "lowercase"]},
            "note": {"weight": 0},
            "n": {"weight": 3},
        },
    )
    assert rows(result) == [
        ("id", "skipped", 0.0),
        ("name", "match", 1.0),
        ("note", "mismatch", 0.0),
        ("n", "match", 1.0),
    ]
    assert (result.score, result.total_leaves, result.counts["mismatch"]) == (1.0, 4, 1)
    assert result.field_results[1].expected_compared == "ann"


def test_a_field_that_is_skipped_is_no_field():
    result = compare_json(
        {"id": 7, "n": 1}, {"id": ["A"], "n": 1}, metric="field_match", fields={"id": {"skip": True}}
    )
    assert (rows(result), result.score) == ([("id", "skipped", 0.0), ("n", "match", 1.0)], 1.0)


def test_a_comparator_on_an_array_makes_it_one_leaf_and_transforms_reach_into_it():
    result = compare_json(
        {"tags": ["A", "b"]},
        {"tags": ["a", "B"]},
        metric="json_similarity",
        fields={"tags": {"compare": "exact", "transform": ["lowercase"]}},
    )
    assert rows(result) == [("tags", "match", 1.0)]


def test_arrays_by_key():
    expected = [{"id": 1, "v": "x"}, {"id": 2, "v": "y"}, {"id": 3, "v": "z"}]
    actual = [{"id": 3, "v": "z"}, {"id": 1.0, "v": "x"}, {"id": None, "v": "q"}]
    result = compare_json(actual, expected, metric="leaf_f1", arrays={"key": "id"})
    assert [(f.expected_path, f.actual_path, f.status) for f in result.field_results] == [
        ("[0].id", "[1].id", "match"),
        ("[0].v", "[1].v", "match"),
        ("[1].id", None, "omission"),
        ("[1].v", None, "omission"),
        ("[2].id", "[0].id", "match"),
        ("[2].v", "[0].v", "match"),
        (None, "[2].id", "hallucination"),
        (None, "[2].v", "hallucination"),
    ]
    assert (result.precision, result.recall) == (4 / 6, 4 / 6)


def test_align_for_one_array():
    fields = {"lines": {"align": {"match_by": "key_field", "key": "sku"}}}
    expected, actual = {"lines": [{"sku": "a"}, {"sku": "b"}]}, {"lines": [{"sku": "b"}, {"sku": "a"}]}
    assert compare_json(actual, expected, metric="json_similarity", fields=fields).score == 1.0


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ({}, 2 / 3),
        ({"extra": "ignore"}, 1.0),
        ({"reduce": "ratio"}, 1.0),
        ({"nulls": "absent"}, 2 / 3),
        ({"empties": "never"}, 2 / 3),
    ],
)
def test_options(options, score):
    assert compare_json({"a": 1, "b": 2}, {"a": 1}, metric="leaf_f1", **options).score == score


ITEMS = {"items": [{"sku": "A", "price": 1}]}
EXTRA = {"items": [{"sku": "A", "price": 1}, {"sku": "B", "price": 9}]}


@pytest.mark.parametrize("metric", ["json_similarity", "field_match", "field_match_normalized"])
def test_extra_count_makes_a_ratio_an_f1(metric):
    assert compare_json({"a": 1, "b": 2}, {"a": 1}, metric=metric, extra="count").score == 2 / 3
    with session_registry() as registry:
        registry.metric("counting", {"base": metric, "extra": "count"})
        assert compare_json({"a": 1, "b": 2}, {"a": 1}, metric="counting").score == 2 / 3
    assert compare_json(EXTRA, ITEMS, metric=metric, extra="count").score < 1.0


@pytest.mark.parametrize("metric", ["leaf_f1", "pairwise_f1", "json_similarity"])
def test_a_ratio_does_not_count_extras(metric):
    result = compare_json(EXTRA, ITEMS, metric=metric, reduce="ratio")
    assert (result.score, result.precision, result.counts) == (1.0, 1.0, {"match": 2})
    with pytest.raises(
        ConfigurationError, match=r"extra is 'count' and reduce is 'ratio', .* leave out reduce"
    ):
        compare_json(EXTRA, ITEMS, metric=metric, reduce="ratio", extra="count")


def test_nulls_absent_and_empties():
    absent = {"metric": "leaf_f1", "nulls": "absent"}
    assert compare_json({"a": 1}, {"a": 1, "b": None}, **absent).score == 1.0
    assert compare_json([None], [None], **absent).counts == {"match": 1}
    assert compare_json({"a": []}, {"a": []}, metric="leaf_f1").counts == {"match": 1}
    assert compare_json({}, {"a": []}, metric="leaf_f1").counts == {"omission": 1}
    assert compare_json({}, {"a": []}, metric="leaf_f1", empties="never").counts == {}


@pytest.mark.parametrize(
    ("expected", "actual", "options", "counts", "score"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, {}, {"match": 1}, 1.0),
        ({"a": [1]}, {"a": [1, 2], "b": [3]}, {}, {"match": 1, "hallucination": 1}, 2 / 3),
        ([{"a": 1}], [{"a": 1, "b": 2}, {"a": 1, "b": 2}], {}, {"match": 1, "hallucination": 2}, 2 / 4),
        ([{"a": 1}], [{"b": 2, "c": 3}, {"a": 1, "b": 2}], {"arrays": "unordered"},
         {"match": 1, "hallucination": 2}, 2 / 4),
        ([], [{"a": {"b": [1, 2]}}], {}, {"hallucination": 2}, 0.0),
        ({"a": 1}, {"a": {"b": 1, "c": [2]}}, {}, {"mismatch": 1}, 0.0),
        ({"a": 1, "b": 1}, {"a": [{"b": 1, "c": 2}], "b": 1}, {}, {"mismatch": 1, "match": 1}, 2 / 5),
        ({"a": [1]}, {"a": [1, 2]}, {"metric": "json_similarity"}, {"match": 1, "hallucination": 1}, 2 / 3),
        ({"a": [1]}, {"a": [1], "b": [2]}, {"metric": "field_match"}, {"match": 1}, 1.0),
    ],
)  # fmt: skip
def test_extra_elements_count_and_extra_members_do_not(expected, actual, options, counts, score):
    result = compare_json(actual, expected, **{"extra": "elements", **options})
    assert (result.counts, result.score) == (counts, pytest.approx(score))


def test_rows_are_paired_as_if_extras_did_not_count():
    expected, actual = (
        [{"a": 1, "b": 2}],
        [{"a": 1, "x": 1, "y": 2}, {"a": 1, "b": 2, **dict.fromkeys("cdefgh", 0)}],
    )
    result = compare_json(actual, expected, arrays="unordered", extra="elements")
    assert [pair[:2] for pair in result.alignments[0].pairs] == [(0, 1)]
    run = compare_corpus([{"rows": actual}], [{"rows": expected}], arrays="unordered", extra="elements")
    rows, total = run.rows["rows"], run.all_fields["rows[].x"]
    assert (rows.recall, rows.precision, total.hallucinations) == (1.0, 0.5, 1)


def test_extra_elements_can_change_no_ratio():
    with pytest.raises(ConfigurationError, match=r"^extra is 'elements' and reduce is 'ratio'"):
        compare_json({}, {}, extra="elements", reduce="ratio")


ABSENT = {"absent": [None, "", "N/A", []]}


@pytest.mark.parametrize(
    ("expected", "actual", "options", "counts"),
    [
        ({"a": 1}, {"a": 1, "b": None, "c": "", "d": "N/A", "e": []}, {}, {"match": 1}),
        ({"a": 1, "b": "N/A"}, {"a": 1, "b": None}, {}, {"match": 1}),
        ({"a": 1, "b": "N/A"}, {"a": 1, "b": "x"}, {}, {"match": 1, "hallucination": 1}),
        ({"a": 1, "b": "x"}, {"a": 1, "b": ""}, {}, {"match": 1, "omission": 1}),
        ({"a": ["", None]}, {"a": ["", "N/A"]}, {}, {"match": 1, "mismatch": 1}),
        ({"a": {"b": {"c": ""}}}, {"a": {}}, {}, {"omission": 1}),
        ({"a": 1, "b": {"c": None}}, {"a": 1}, {"absent": [{}, None]}, {"match": 1}),
        ({"a": 1, "b": {"c": None}}, {"a": 1}, {"absent": [{}]}, {"match": 1, "omission": 1}),
        ({"a": 1}, {"a": 1, "b": " n/A "}, {}, {"match": 1, "hallucination": 1}),
        ({"a": 1}, {"a": 1, "b": " n/A "}, {"transform": ["strip", "casefold"]}, {"match": 1}),
        ({"a": 1}, {"a": 1, "b": [" "]}, {"absent": [[""]], "transform": ["strip"]}, {"match": 1}),
        ({"a": 1}, {"a": 1, "b": None}, {"absent": [""], "nulls": "absent"}, {"match": 1}),
        ({"a": 0, "b": False}, {"a": False, "b": 0}, {"absent": [0]}, {"hallucination": 1, "omission": 1}),
        ({"b": ANY}, {"b": ""}, {}, {"omission": 1}),
        ({"b": "x"}, {"b": ""}, {"accept": {"b": [""]}}, {"omission": 1}),
        ({"b": "x"}, {"b": ""}, {"accept": {"b": {"optional": True}}}, {"skipped": 1}),
        ({"b": {"c": "N/A", "d": 1}}, {"b": {"d": 1}}, {"fields": {"b": "exact"}}, {"match": 1}),
        ([{"k": "", "n": 1}], [{"k": "", "n": 1}], {"arrays": {"key": "k"}}, {"omission": 1, "hallucination": 1}),
        ([{"n": 1, "x": ""}, {"n": 2}], [{"n": 2, "x": None}, {"n": 1}], {"arrays": "unordered"}, {"match": 2}),
    ],
)  # fmt: skip
def test_values_that_mean_that_a_member_is_absent(expected, actual, options, counts):
    assert compare_json(actual, expected, **{**ABSENT, **options}).counts == counts


def test_absent_is_a_list_of_values():
    for value in (None, "", {"a": 1}, [float("nan")]):
        with pytest.raises(ConfigurationError, match=r"^absent must "):
            compare_json({}, {}, absent=value)


def test_a_schema_need_not_list_an_absent_member():
    schema = {"properties": {"a": {"type": "integer"}}}
    assert compare_json({"a": 1, "c": ""}, {"a": 1, "b": "N/A"}, schema=schema, **ABSENT).score == 1.0


def test_a_failure_names_the_option_if_nulls_explain_it():
    with pytest.raises(AssertionError, match=r'explain 67 % of the loss: absent=\[None, ""\] counts such'):
        assert_json_match({"a": 2, "b": None, "c": "", "d": 4, "e": ""}, {"a": 1, "c": None, "d": 4})
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"a": 2, "b": None}, {"a": 1})
    assert "absent" not in str(caught.value)


def test_a_type_mismatch_counts_the_leaves_of_each_side_once():
    result = compare_json({"a": [1, 2, 3]}, {"a": {"x": 1, "y": 2}}, metric="leaf_f1")
    (field,) = result.field_results
    assert (field.path, field.status, field.expected_leaves, field.actual_leaves) == ("a", "mismatch", 2, 3)


def test_a_target_that_expected_lacks_is_an_error_and_one_that_actual_lacks_is_missing():
    with pytest.raises(TargetPathError, match="'b'"):
        compare_json({"a": 1}, {"a": 1}, metric="json_similarity", target_key="b")
    assert compare_json({}, {"a": {"b": 1}}, metric="json_similarity", target_key="a").counts == {
        "omission": 1
    }
    for actual in ({"a": [1]}, {"a": "12"}, {"a": {"1": 2}}):
        result = compare_json(actual, {"a": [1, 2]}, metric="json_similarity", target_key="a[1]")
        assert result.counts == {"omission": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "feild_match"}, "unknown metric 'feild_match'; did you mean 'field_match'"),
        ({"extras": "count"}, "unknown option 'extras'; did you mean 'extra'"),
        ({"threshold": 0.9}, "unknown option 'threshold'; write assert result.score >= 0.9, or assert_json"),
        (
            {"id": "sku"},
            "unknown option 'id'; write arrays={'key': 'NAME'}, or fields={'PATTERN': {'align': ",
        ),
        (
            {"fields": {"x[*].v": {}}},
            "is not understood; write \\[\\] for any element",
        ),
        ({"extra": "both"}, "extra must be 'count' or 'ignore' or 'elements', got 'both'"),
        (
            {"fields": {"a": {"compare": "exakt"}}},
            r"fields\['a'\].compare: unknown comparator 'exakt'; did you mean",
        ),
        ({"fields": {"a": {"wieght": 2}}}, "has the rule 'wieght'; did you mean 'weight'"),
        ({"fields": {"a[0]": {"weight": 2}}}, r"write \[\] for the index"),
        ({"fields": {"a": {"weight": -1}}}, "weight must be a number from 0 to 1,000,000, got -1"),
        (
            {"fields": {"a": {"weight": 1_000_001}}},
            "weight must be a number from 0 to 1,000,000, got 1000001",
        ),
        ({"fields": {"a": {"align": "sideways"}}}, "align must be 'ordered', 'unordered'"),
        ({"compare": {"strnig": "exact"}}, "did you mean 'string'"),
        ({"transform": ["lower_case"]}, "unknown transform 'lower_case'; did you mean 'lowercase'"),
        ({"leaf_threshold": 2}, "leaf_threshold must be a number from 0 to 1, got 2"),
    ],
)
def test_a_wrong_option_says_what_to_do(options, message):
    with pytest.raises(ConfigurationError, match=message):
        compare_json({"a": 1}, {"a": 1}, **options)


def test_a_comparator_that_raises_or_leaves_its_range_is_an_error_entry_and_the_others_stand():
    with session_registry() as registry:
        registry.comparator("broken", lambda expected, actual, params: 1 / 0)
        registry.comparator("wild", lambda expected, actual, params: 1.5)
        registry.comparator("left out", lambda expected, actual, params: ComparatorResult(0.0, skip=True))
        fields = {"a": {"compare": "broken"}, "b": {"compare": "wild"}, "c": {"compare": "left out"}}
        document = {"a": 1, "b": 2, "c": 3, "d": 4}
        result = compare_json(document, document, metric="json_similarity", fields=fields)
    assert rows(result) == [
        ("a", "mismatch", 0.0),
        ("b", "mismatch", 0.0),
        ("c", "skipped", 0.0),
        ("d", "match", 1.0),
    ]
    assert [str(entry) for entry in result.errors] == [
        "a: comparator 'broken' raised ZeroDivisionError: division by zero",
        "b: comparator 'wild' returned 1.5, which is not a score in [0, 1]",
    ]


def test_a_comparator_that_raises_where_nothing_weighs_is_an_error_entry_too():
    with session_registry() as registry:
        registry.comparator("broken", lambda expected, actual, params: 1 / 0)
        fields = {"a": {"compare": "broken", "weight": 0}}
        result = compare_json({"a": 1, "b": 2}, {"a": 1, "b": 2}, metric="json_similarity", fields=fields)
    assert (result.score, [entry.path for entry in result.errors]) == (1.0, ["a"])


def test_names_that_are_taken_are_replaced_only_on_purpose():
    with pytest.raises(ConfigurationError, match="built-in comparator and cannot be replaced"):
        register_comparator("exact", max, overwrite=True)
    with pytest.raises(ConfigurationError, match="built-in metric and cannot be replaced"):
        register_metric("structeval", {}, overwrite=True)
    for register in (register_comparator, register_transform):
        name = "date" if register is register_comparator else "lowercase"
        with pytest.raises(ConfigurationError, match="another name, or pass overwrite=True to replace it"):
            register(name, max)
    with session_registry() as registry:
        registry.comparator("ours", max)
        with pytest.raises(ConfigurationError, match="overwrite=True"):
            registry.comparator("ours", min)
        registry.comparator("ours", min, overwrite=True)


def test_a_replaced_built_in_is_used_and_named_in_the_signature():
    plain = compare_json({"a": "x"}, {"a": "y"}, metric="json_similarity")
    with session_registry() as registry:
        registry.comparator("levenshtein", lambda expected, actual, params: 0.25, overwrite=True)
        registry.transform("lowercase", str.upper, overwrite=True)
        result = compare_json({"a": "x"}, {"a": "y"}, metric="json_similarity")
    assert (plain.score, result.score) == (0.0, 0.25)
    assert result.signature.options == '{"replaced":["comparator levenshtein","transform lowercase"]}'


@pytest.mark.parametrize("options", [None, "json_similarity", [("base", "json_similarity")]])
def test_a_metric_is_a_mapping_of_options(options):
    with pytest.raises(
        ConfigurationError, match=r"metric 'ours' must be a mapping of options, such as .*, got"
    ):
        register_metric("ours", options)


def test_signatures_tell_comparable_scores():
    one = compare_json({"a": 1}, {"a": 1}, metric="json_similarity")
    same = compare_json({"b": 2}, {"b": 3}, metric="json-similarity")
    other = compare_json({"a": 1}, {"a": 1}, metric="json_similarity", leaf_threshold=0.5)
    assert one.signature == same.signature
    assert one.signature != other.signature
    assert str(other.signature) == 'json_similarity|options:{"leaf_threshold":0.5}|schema:none|rules:2'


def test_a_result_has_no_truth_value_and_is_plain_json():
    result = compare_json({"a": "x"}, {"a": "y", "b": [1]}, metric="json_similarity")
    with pytest.raises(TypeError, match="assert_json_match"):
        bool(result)
    assert json.loads(json.dumps(result.to_dict()))["counts"] == {"mismatch": 1, "omission": 1}
    assert repr(result) == "<MatchResult json_similarity score=0: 1 mismatch, 1 omission>"


def test_a_target_of_nulls_alone_that_is_missing_is_an_omission():
    options = {"metric": "json_similarity", "target_key": "t", "granularity": "fields", "nulls": "absent"}
    result = compare_json({}, {"t": {"a": None}}, **options)
    assert (result.score, result.counts) == (0.0, {"omission": 1})


def test_lists_of_known_words_show_one_name_each():
    with pytest.raises(
        ConfigurationError, match=r"known: field_match, field_match_normalized, json_similarity, "
    ):
        compare_json({}, {}, metric="???")
    with pytest.raises(ConfigurationError, match="unknown option 'zzz'; known: ") as caught:
        compare_json({}, {}, zzz=1)
    assert "evaluation_type" not in str(caught.value)
    assert "array_matching_threshold" not in str(caught.value)
    assert compare_json({}, {}, metric="structeval", array_matching_threshold=0.5).metric == "pairwise_f1"


def test_a_flat_comparison_runs_in_few_files():
    actual, expected = {"id": "a1", "total": 3.7, "name": "Foo"}, {"id": "a1", "total": 3.5, "name": "Fox"}
    for _ in range(2):
        compare_json(actual, expected)
    files = set()

    def note(frame, event, _):
        if event == "call" and "pytest_jsonmatch" in frame.f_code.co_filename:
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = compare_json(actual, expected)
    finally:
        sys.setprofile(before)
    assert result.score == 1 / 3
    assert len(files) <= 15, sorted(files)


@pytest.fixture
def mine():
    """A registered comparator, as the list of what it was called with."""
    calls = []
    with session_registry() as registry:
        registry.comparator("mine", lambda expected, actual, _: calls.append((expected, actual)) or 0.5)
        yield calls


@pytest.mark.parametrize("arrays", ["ordered", "unordered"])
def test_the_option_compare_gets_scalars_of_any_types(mine, arrays):
    pairs = [("1", 1), (3, None), (None, "x"), (None, None), (True, 1), (1.5, "1.5")]
    for expected, actual in pairs:
        by_option = compare_json([[actual]], [[expected]], compare="mine", arrays=arrays)
        by_field = compare_json([[actual]], [[expected]], fields={"[][]": {"compare": "mine"}}, arrays=arrays)
        assert (by_option.score, by_option.to_dict()["field_results"]) == (
            0.5,
            by_field.to_dict()["field_results"],
        )
        assert mine == [(expected, actual)] * 2
        mine.clear()
    # It is for leaves: containers of other types are mismatches as always.
    assert compare_json({"a": [1, 2]}, {"a": "x"}, compare="mine").field_results[0].actual_leaves == 2


def test_comparators_by_type_get_what_is_expected_to_be_of_their_type(mine):
    def called_with(expected, actual, **compare):
        compare_json(actual, expected, compare=compare)
        return [mine.pop() for _ in mine[:]]

    assert called_with(["x"], [1], string="mine") == [("x", 1)]
    assert called_with([1], ["x"], string="mine") == []
    assert called_with([1], ["x"], number="mine") == called_with([1], ["x"], integer="mine") == [(1, "x")]
    assert called_with([1.5], ["x"], integer="mine") == called_with([2.5], [None], null="mine") == []
    # A declared type decides which of the two comparators of numbers applies.
    schema = {"properties": {"n": {"type": "number"}}}
    assert compare_json({"n": "1"}, {"n": 1}, schema=schema, compare={"integer": "mine"}).score == 0.0
    assert compare_json({"n": "1"}, {"n": 1}, schema=schema, compare={"number": "mine"}).score == 0.5
    # A metric's own comparators see values of one type only.
    assert compare_json({"n": "3"}, {"n": 3}).score == 0.0
    assert compare_json({"n": "3"}, {"n": 3}, compare="numeric").score == 1.0


NEAR = {"a": 1.0, "b": {"c": [1.01, []]}}, {"a": 1.001, "b": {"c": [1.0, []]}}
NUMERIC = {"compare": {"numeric": {"tolerance": {"abs": 0.1}}}}


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"**": NUMERIC}, {"match": 3}),
        ({"b.**": NUMERIC}, {"match": 2, "mismatch": 1}),
        ({"**": {"skip": True}}, {"skipped": 3}),
        ({"**": {"skip": True}, "a": {"skip": False}}, {"mismatch": 1, "skipped": 2}),
        ({"**": {"accept": {"type": "number"}}}, {"match": 3}),
    ],
)
def test_a_pattern_that_ends_in_two_asterisks_is_for_leaves(fields, counts):
    expected, actual = NEAR
    assert compare_json(actual, expected, fields=fields).counts == counts
    (pair,) = compare_json(
        [0, actual],
        [expected],
        fields={f"[].{path}": rule for path, rule in fields.items()},
        arrays="unordered",
    ).alignments[:1]
    is_alike = counts.keys() != {"mismatch", "skipped"}
    assert [each[:2] for each in pair.pairs] == ([(0, 1)] if is_alike else [])


def test_a_weight_for_leaves_counts_once():
    expected, actual = {"a": {"b": [1, 2]}, "c": 1}, {"a": {"b": [1, 0]}, "c": 1}
    result = compare_json(actual, expected, fields={"a.**": {"weight": 3}})
    assert (result.matched_leaves, result.total_leaves) == (4, 7)


@pytest.mark.parametrize("arrays", ["ordered", "unordered"])
@pytest.mark.parametrize(
    ("made", "reported"),
    [
        (lambda value: {value}, "set"),
        (lambda value: [value], "array or object"),
        (lambda value: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_transform_whose_result_can_not_be_compared_is_an_error_entry(made, reported, arrays):
    with session_registry() as registry:
        registry.transform("made", made)
        result = compare_json(
            [{"a": "x", "b": 1}],
            [{"a": "y", "b": 1}],
            fields={"[].a": {"transform": ["made"]}},
            arrays=arrays,
        )
        assert result.counts == {"match": 1, "mismatch": 1}
        assert reported in result.errors[0].reason


@pytest.mark.parametrize("score", [10**400, type("Odd", (), {"__float__": lambda self: 1 / 0})()])
def test_a_score_that_is_not_a_number_is_an_error_entry(score):
    with session_registry() as registry:
        registry.comparator("odd", lambda expected, actual, params: score)
        (error,) = compare_json({"a": 1}, {"a": 2}, compare="odd").errors
        assert "which is not a score in [0, 1]" in error.reason


@pytest.mark.parametrize("actual", [[{"n": 2.0}, {"n": 2}], [{"n": 2}, {"n": 2.0}], [{"n": [2.0]}, {"n": 2}]])
@pytest.mark.parametrize(
    "strict",
    [
        {"compare": {"number": {"exact": {"strict_number_type": True}}}},
        {"fields": {"[].n": {"compare": {"exact": {"strict_number_type": True}}}}},
    ],
)
def test_numbers_of_two_kinds_are_not_equal_where_kinds_count(actual, strict):
    assert compare_json(actual, [{"n": 2}], arrays="unordered", **strict).counts["match"] == 1


def test_members_that_no_rule_names_apart_share_their_rules():
    answer = {f"k{number}": number for number in range(50)}
    fields = compare_json(answer, {}, fields={"k7": {"weight": 2}}).field_results
    assert len({id(field.node.rules) for field in fields}) == 2


def count_nodes():
    gc.collect()
    node = type(compare_json(1, 1).field_results[0].node)
    return sum(type(item) is node for item in gc.get_objects())


@pytest.mark.parametrize("metric", ["leaf_f1", "pairwise_f1"])
def test_keys_that_are_data_do_not_fill_the_memory(metric):
    before = count_nodes()
    for number in range(5_000):
        document = {"total": 1, f"inv-{number}": number}
        assert compare_json(document, document, metric=metric).score == 1
    assert count_nodes() - before < 2_000


def test_the_rules_of_a_wide_object_are_made_once():
    document = {f"inv-{number}": number for number in range(1_500)}
    first = compare_json({**document, "inv-7": 0}, document)
    before = count_nodes()
    for number in range(10):
        again = compare_json({**document, "inv-7": 0, f"new-{number}": 0}, document)
    assert again.field_results[0].node is first.field_results[0].node
    assert count_nodes() - before == 10
