"""Accepted alternatives: the words, the reasons, and how arrays pair. (`tests/reference` scores random cases.)"""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json, register_comparator


def statuses(result):
    return [(field.short_path(), field.status, field.reason) for field in result.field_results]


@pytest.mark.parametrize(
    ("accept", "actual", "reason"),
    [
        (["Acme"], "Acme", "accepted: 'Acme'"),
        ({"values": [7]}, 7, "accepted: 7"),
        ({"regex": "[A-Z]+"}, "XYZ", "accepted: matches the pattern '[A-Z]+'"),
        ({"range": [1, 2.5]}, 2.5, "accepted: between 1 and 2.5"),
        ({"type": "integer"}, 2.0, "accepted: of type integer"),
        ({"type": ["null", "array"]}, [1, 2], "accepted: of type null or array"),
        ({"any": True}, {"a": 1}, "accepted: any value"),
    ],
)
def test_a_value_is_accepted_with_a_reason(accept, actual, reason):
    for given in ({"accept": {"v": accept}}, {"fields": {"v": {"accept": accept}}}):
        result = compare_json({"v": actual}, {"v": "Acme Corp"}, **given)
        assert (result.score, statuses(result)) == (1.0, [("v", "match", reason)])


@pytest.mark.parametrize("more", [{}, {"optional": True}])
def test_an_accepted_value_that_is_equal_counts_however_near_the_expected_one_is(more):
    accept = {"v": {"values": [10**30], **more}}
    result = compare_json({"v": 10**30}, {"v": 10**30 + 1}, metric="json_similarity", accept=accept)
    assert (result.score, statuses(result)) == (1.0, [("v", "match", f"accepted: {10**30}")])


def test_a_unit_whose_array_matches_needs_no_reason():
    accept = {"v": {"values": ["", [1, 2]], "type": "array"}}
    result = compare_json({"v": ["A"]}, {"v": ["a"]}, metric="field_match_normalized", accept=accept)
    assert (result.score, statuses(result)) == (1.0, [("v", "match", None)])


def test_a_unit_of_another_type_is_wrong_whatever_it_weighs():
    rules = {"fields": {"v": {"weight": 0}}, "accept": {"v": {"optional": True}}}
    result = compare_json({"v": []}, {"v": {}}, metric="field_match", **rules)
    assert statuses(result) == [("v", "mismatch", "null, empty or absent")]


@pytest.mark.parametrize(
    ("accept", "actual"),
    [
        ({"regex": "[A-Z]"}, "XY"),
        ({"regex": "[0-9]+"}, 12),
        ({"range": [1, 2]}, True),
        ({"range": [1, 2]}, "1"),
        ({"range": [1, 2]}, 2.0000001),
        ({"range": [1, 2]}, float("nan")),
        ({"type": "integer"}, 2.5),
        ({"type": "number"}, float("inf")),
        ({"type": "number"}, True),
        ({"any": False}, 1),
        ([1], True),
    ],
)
def test_a_value_is_not_accepted(accept, actual):
    assert compare_json({"v": actual}, {"v": "Acme"}, accept={"v": accept}).score == 0.0


def test_the_best_alternative_counts_and_the_expected_value_first():
    options = {"metric": "json_similarity", "accept": {"v": ["kitten", "sitting"]}}
    result = compare_json({"v": "sittin"}, {"v": "abc"}, **options)
    assert result.score == pytest.approx(6 / 7)
    assert result.field_results[0].reason == "nearest accepted value: 'sitting'"
    assert compare_json({"v": "abc"}, {"v": "abc"}, **options).field_results[0].reason is None


def test_the_expected_value_comes_first_where_another_is_nearer_by_rounding_alone():
    # 1 of 3 leaves, or 1 and 1/3 of 4: as doubles, the second is the larger third.
    options = {"metric": "json_similarity", "accept": {"v": [["a", "abc", "q", "r"]]}}
    result = compare_json({"v": ["a", "axy"]}, {"v": ["a", "b", "c"]}, **options)
    assert [field.expected for field in result.field_results] == ["a", "b", "c"]


def test_optional_is_a_lack_and_not_a_null():
    accept = {"tip": {"optional": True}, "items[]": {"optional": True}, "who.age": {"optional": True}}
    expected = {"tip": 1, "items": [1, 2], "who": {"age": 3, "name": "Ann"}}
    result = compare_json({"items": [1], "who": {"name": "Ann"}}, expected, accept=accept)
    assert (result.score, result.counts) == (1.0, {"match": 2, "skipped": 3})
    assert compare_json({**expected, "tip": None}, expected, accept=accept).counts["mismatch"] == 1
    # What is optional in an object that is missing itself does not count either.
    assert compare_json({}, expected, accept=accept).counts == {"omission": 1, "skipped": 4}


def test_what_expected_lacks_stays_extra():
    result = compare_json({"a": 1, "b": 2}, {"a": 1}, accept={"b": {"any": True}})
    assert statuses(result)[1] == ("b", "hallucination", "not in expected")


def test_other_values_of_a_container_are_scored_leaf_by_leaf():
    accept = {"at": [{"x": 1, "y": 2, "z": 3}]}
    result = compare_json({"at": {"x": 1, "y": 2, "z": 4}}, {"at": {"lat": 1.5}}, accept=accept)
    assert result.counts == {"match": 2, "mismatch": 1}
    assert result.per_field["at.z"].mismatches == 1
    assert (result.matched_leaves, result.total_leaves) == (2, 3)
    assert statuses(result) == [
        ("at.x", "match", "in another accepted value"),
        ("at.y", "match", "in another accepted value"),
        ("at.z", "mismatch", "33 % off, in another accepted value"),
    ]


def test_transforms_reach_what_is_accepted():
    fields = {"v": {"transform": ["lowercase"], "accept": {"values": ["ACME"], "regex": "[a-z]{2}"}}}
    for actual in ("acme", "XY"):
        assert compare_json({"v": actual}, {"v": "other"}, fields=fields).score == 1.0


def test_arrays_pair_for_the_best_of_all_that_is_right():
    expected = [{"id": "a", "unit": "pcs"}, {"id": "b", "unit": "kg"}]
    actual = [{"id": "c", "unit": "kilo"}, {"id": "d", "unit": "piece"}]
    accept = {"[].unit": {"values": ["piece"]}}
    result = compare_json(actual, expected, metric="pairwise_f1", accept=accept)
    assert result.counts == {"match": 1, "mismatch": 1, "omission": 2, "hallucination": 2}
    many = [{"id": str(at), "unit": "pcs"} for at in range(60)]
    others = [{"id": str(at), "unit": "piece"} for at in reversed(range(60))]
    assert compare_json(others, many, metric="pairwise_f1", accept=accept).score == 1.0


def test_an_element_without_an_optional_member_is_the_best_partner():
    expected = [{"name": "a", "size": 1, "tip": 2}]
    actual = [{"name": "a", "size": 9, "tip": 2}, {"name": "a", "size": 1}]
    accept = {"[].tip": {"optional": True}}
    assert compare_json(actual[1:], expected, arrays="unordered", accept=accept).score == 1.0
    (alignment,) = compare_json(actual, expected, arrays="unordered", accept=accept).alignments
    assert alignment.pairs == ((0, 1, 1.0),)


@pytest.mark.parametrize("actual", [{"b": 1}, {"a": "s", "b": 1}, {"a": None, "b": 1}])
def test_optional_members_do_not_count_where_their_object_is_missing_or_mistyped(actual):
    expected = {"a": {"x": 1, "tip": 2}, "b": 1}
    assert compare_json(actual, expected, accept={"a.tip": {"optional": True}}).recall == 1 / 2


def test_a_comparator_of_ones_own_is_asked_about_each_alternative_once():
    asked = []

    def same_start(expected, actual, params):
        asked.append((expected, actual))
        return expected[:1] == actual[:1]

    register_comparator("same_start", same_start)
    fields = {"v": {"compare": "same_start", "accept": ["banana", "cherry", "date"]}}
    result = compare_json({"v": "cat"}, {"v": "apple"}, fields=fields)
    assert (result.score, asked) == (1.0, [("apple", "cat"), ("banana", "cat"), ("cherry", "cat")])
    assert statuses(result) == [("v", "match", "accepted: 'cherry'")]


@pytest.mark.parametrize("metric", ["leaf_f1", "json_similarity", "pairwise_f1"])
@pytest.mark.parametrize("size", [6, 40])
def test_pairs_with_what_may_be_missing_are_those_that_the_walk_makes(metric, size):
    rng = random.Random(size)
    expected = [
        {"name": rng.choice("abc"), "at": {"x": rng.choice("de"), "y": 1}, "tags": rng.choices("fgh", k=2)}
        for _ in range(size)
    ]
    actual = [{key: item[key] for key in item if rng.random() < 0.7} for item in expected[1:]]
    actual += [{"name": "z", "at": {"y": 1}}]
    paths = ("[]", "[].at", "[].at.x", "[].tags", "[].tags[]")
    # A predicate that never holds makes every pair a matter for the walk.
    optional, walked = (
        compare_json(
            actual, expected, arrays="unordered", metric=metric, accept=dict.fromkeys(paths, printed)
        )
        for printed in ({"optional": True}, {"optional": True, "range": [-2, -1]})
    )
    assert optional.counts == walked.counts
    assert optional.score == pytest.approx(walked.score, abs=1e-12)


@pytest.fixture
def little_time(monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.engine.value.matchers._SECONDS", 0.02)


def test_a_slow_pattern_is_an_error_of_the_field(little_time):
    result = compare_json({"v": "a" * 40 + "b"}, {"v": "x"}, accept={"v": {"regex": "(a|aa|a?)+$"}})
    assert result.score == 0.0
    assert not result.errors or "took more than 0.02 s" in result.errors[0].reason


def test_another_predicate_may_hold_where_a_pattern_is_slow(little_time):
    slow = {"v": {"accept": {"regex": "(a|aa|a?)+$"}}}
    result = compare_json({"v": "a" * 40 + "b"}, {"v": "x"}, fields=slow, accept={"v": {"regex": "a+b"}})
    assert result.score == 1.0
    assert not result.errors


def test_patterns_everywhere_take_quadratic_time_at_most():
    def nested(depth, leaf):
        value = leaf
        for _ in range(depth):
            value = {"a": value}
        return value

    result = compare_json(nested(60, 1), nested(60, 2), accept={"**": {"range": [0, 1]}})
    assert result.score == 1.0


@pytest.mark.parametrize(
    ("accept", "message"),
    [
        (
            "Acme",
            "accept['v'] must be a list of values, or a mapping with any of values, optional",
        ),
        ([], "accept['v'] must be a list with at least one value, got []"),
        ({"vals": [1]}, "accept['v'] has the word 'vals'; did you mean 'values'?"),
        ({"optional": "yes"}, "accept['v'].optional must be true or false, got 'yes'"),
        ({"regex": "("}, "accept['v'].regex: the pattern '(' is not a regular expression"),
        (
            {"range": [2, 1]},
            "accept['v'].range must be [low, high] (two numbers, both included), got [2, 1]",
        ),
        (
            {"range": [1, 2, 3]},
            "accept['v'].range must be [low, high] (two numbers, both included), got [1, 2, 3]",
        ),
        ({"range": 1}, "accept['v'].range must be [low, high] (two numbers, both included), got 1"),
        (
            {"range": [1, None]},
            "accept['v'].range must be [low, high] (two numbers, both included), got [1, None]",
        ),
        (
            {"type": "date"},
            "accept['v'].type must be a JSON type or a list of JSON types (null, boolean",
        ),
        ([float("nan")], "accept['v'] must contain JSON values"),
    ],
)
def test_a_mistake_is_reported_with_its_place(accept, message):
    with pytest.raises(ConfigurationError) as error:
        compare_json({}, {}, accept={"v": accept})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("actual", "score"), [({"v": "y"}, 1.0), ({"v": "z"}, 0.0), ({"v": 3}, 0.0), ({"v": "x"}, 1.0)]
)
def test_an_alternative_of_a_schema_accepts_by_its_own_words(actual, score):
    alternatives = [{"type": "string", "x-eval-accept": ["y"]}, {"type": "integer"}]
    schema = {"type": "object", "properties": {"v": {"anyOf": alternatives}}}
    assert compare_json(actual, {"v": "x"}, schema=schema).score == score
    listed = {"type": "object", "properties": {"v": {"type": "array", "items": {"anyOf": alternatives}}}}
    pair = {"v": [actual["v"], 5]}, {"v": [5, "x"]}
    assert compare_json(*pair, schema=listed, arrays="unordered").score == (1 + score) / 2


@pytest.mark.parametrize(("actual", "score"), [("N/A", 1.0), ("0", 1.0), ("x", 0.0), (0, 0.0)])
def test_the_option_adds_to_what_an_alternative_of_a_schema_accepts(actual, score):
    alternatives = [{"type": "string", "x-eval-accept": ["n/a"], "x-eval-transform": "lowercase"}, {}]
    schema = {"properties": {"v": {"anyOf": alternatives}, "list": {"items": {"anyOf": alternatives}}}}
    option = {"v": ["0"], "list[]": ["0"]}
    assert compare_json({"v": actual}, {"v": "ann"}, schema=schema, accept=option).score == score
    pair = {"list": [actual, "B"]}, {"list": ["b", "ann"]}
    result = compare_json(*pair, schema=schema, accept=option, arrays="unordered")
    assert result.score == (1 + score) / 2


def test_a_rule_that_accepts_only_scalars_leaves_objects_to_the_alternatives_of_a_schema():
    alternatives = [
        {"properties": {"items": {"const": "a"}}},
        {"properties": {"items": {}, "*": {"x-eval-weight": 0}}},
    ]
    schema = {"properties": {"k": {"items": {"anyOf": alternatives}}}}
    actual = {"k": [{"items": "A", "*": []}]}
    result = compare_json(
        actual, {"k": [{"items": "A"}]}, metric="field_match", schema=schema, accept={"**": [100]}
    )
    assert (result.score, result.counts) == (1.0, {"match": 1})


def test_the_members_of_an_accepted_array_keep_their_own_values():
    # The comparator is for leaves, as the expected value is one; the accepted array is entered.
    result = compare_json({"a": [1, "b"]}, {"a": "x"}, fields={"**": "exact"}, accept={"a": [[1, "c"]]})
    found = [(each.short_path(), each.expected) for each in result.field_results]
    assert found == [("a[0]", 1), ("a[1]", "c")]


def test_a_mistyped_member_of_an_accepted_array_has_its_own_scores():
    result = compare_json({"a": [1, "b"]}, {"a": "x"}, fields={"**": "exact"}, accept={"a": [[[2], "b"]]})
    assert [each.expected_path for each in result.containers] == ["$", "a", "a[0]"]


OF_EVERY_KIND = [None, True, 2, 2.5, Decimal("1e400"), "a", "2024-01-31", {}, {"x": 2}, [], [2], [{"x": 1}]]
ACCEPTED = [
    *([value] for value in OF_EVERY_KIND),
    OF_EVERY_KIND,
    {"regex": "[a-z]"},
    {"range": [1, 2]},
    {"type": "object"},
    {"any": True},
    {"values": [{"x": 2}], "optional": True},
    {"values": [{"x": 2}, 7], "type": "array", "regex": "[b-z]"},
]
COMPARED = [
    None,
    "exact",
    "date",
    "levenshtein",
    "jaccard",
    "amount",
    {"numeric": {"tolerance": 1}},
    "contains",
]


@pytest.mark.parametrize("compare", COMPARED, ids=str)
def test_results_of_every_pair_of_kinds_have_a_reason_that_can_be_read(compare):
    pairs = {
        f"m{at}": pair
        for at, pair in enumerate(itertools.product(OF_EVERY_KIND, [*OF_EVERY_KIND, float("nan")]))
    }
    expected, actual = ({name: pair[at] for name, pair in pairs.items()} for at in (0, 1))
    shown = set()
    metrics = itertools.cycle(["leaf_f1", "pairwise_f1", "json_similarity"])
    for accept, metric in zip(ACCEPTED, metrics, strict=False):
        rule = {"accept": accept} | ({} if compare is None else {"compare": compare})
        result = compare_json(actual, expected, metric=metric, fields={"*": rule})
        shown |= {field.path.partition(".")[0].partition("[")[0] for field in result.field_results}
        for field in result.field_results:
            text = field.to_dict()["reason"]
            assert text is None or (type(text) is str and text)
    assert shown == set(pairs)
