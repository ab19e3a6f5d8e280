"""Every number, rule and example of sources 4 and 5 that one comparison can show.

A test whose name says "difference" holds what the specification says instead of the source.
"""

from __future__ import annotations

import datetime as dt

import pytest
from pydantic import BaseModel

from pytest_jsonmatch import (
    ComparatorResult,
    ConfigurationError,
    GoldValidationError,
    UnlistedFieldError,
    compare_json,
)
from pytest_jsonmatch.schema import (
    annotate_xeval,
    infer_schema,
    parse_eval_schema,
    reset_type_defaults,
    set_type_default,
    validate_gold,
)
from tests.conftest import session_registry


def all_scores(result):
    return result.precision, result.recall, result.f1


def statuses(result):
    return [(field.short_path(), field.status) for field in result.field_results]


# ============================================ source 4: pairwise_f1 ============================================

LEFT = {
    "name": "Michael Scott",
    "age": 47,
    "is_athlete": False,
    "metadata": {"date_recorded": "2025-01-01", "location": "Scranton, PA"},
    "hobbies": [
        {"name": "tv", "hours_spent": 10000.0005, "metadata": {"date_started": "2020-01-01"}},
        {"name": "literature", "hours_spent": 0.1, "metadata": {"date_started": "2020-08-01"}},
        {"name": "running", "hours_spent": 90.5, "metadata": {"date_started": "2020-07-01"}},
    ],
}
RIGHT = {
    "name": "Michael Scott",
    "age": 47,
    "is_athlete": True,
    "metadata": {"date_recorded": "2025-01-01", "location": "Scranton, PA"},
    "hobbies": [
        {
            "name": "carbo loading and running",
            "hours_spent": 90.5,
            "metadata": {"date_started": "2020-07-01"},
        },
        {"name": "tv", "hours_spent": 10000, "metadata": {"date_started": "2020-01-01"}},
        {"name": "reading", "hours_spent": 0.1, "metadata": {"date_started": "2020-08-01"}},
        {"name": "comedy", "hours_spent": 1000000, "metadata": {"date_started": "1970-08-01"}},
    ],
}
TV = 2 + 1 - 0.5**10
"""The tv pair: two leaves equal, and a drift of 0.0005 under threshold(0.001, 0.1): 1 - (Δ/t)^(1/w)."""


def pairwise(actual, expected, **options):
    return compare_json(actual, expected, metric="pairwise_f1", **options)


def expected_scores(matched, *, actual=14, expected=17):
    return pytest.approx((matched / actual, matched / expected, 2 * matched / (actual + expected)), abs=1e-6)


def test_left_and_right():
    result = pairwise(LEFT, RIGHT)
    # name, age, date_recorded, location; tv; literature as reading (2 of 3); running (a word of four, and 2).
    assert all_scores(result) == expected_scores(4 + TV + 2 + 2.25)
    assert [round(one_score, 4) for one_score in all_scores(result)] == [0.8035, 0.6617, 0.7257]
    assert result.metric == compare_json(LEFT, RIGHT, metric="structeval").metric == "pairwise_f1"


def test_left_and_right_pair_their_hobbies():
    pairs = {
        (field.expected_path, field.actual_path)
        for field in pairwise(LEFT, RIGHT).field_results
        if field.path == "hobbies[].name"
    }
    assert pairs == {
        ("hobbies[0].name", "hobbies[2].name"),
        ("hobbies[1].name", "hobbies[0].name"),
        ("hobbies[2].name", "hobbies[1].name"),
        ("hobbies[3].name", None),
    }


def test_the_config_of_the_customization_chapter_without_its_embeddings():
    linear = {
        "evaluation_type": "threshold",
        "evaluation_params": {"threshold": 10, "difference_penalty_weighting": 1},
    }
    result = pairwise(LEFT, RIGHT, number_evaluation_type=linear, array_matching_threshold=0.4)
    assert all_scores(result) == expected_scores(4 + (2 + 1 - 0.0005 / 10) + 2 + 2.25)


def test_the_number_config_holds_for_integers_and_the_specific_one_wins():
    loose = {"evaluation_type": "threshold", "evaluation_params": {"threshold": 10}}
    tight = {"evaluation_type": "binary"}
    actual, expected = {"i": 5, "f": 5.5}, {"i": 10, "f": 10.5}
    assert pairwise(actual, expected).f1 == 0.0
    assert pairwise(actual, expected, number_evaluation_type=loose).f1 == 0.5
    assert pairwise(actual, expected, number_evaluation_type=loose, integer_evaluation_type=tight).f1 == 0.25
    assert pairwise(actual, expected, number_evaluation_type=loose, float_evaluation_type=tight).f1 == 0.25


def test_string_comparisons_made_binary_as_in_the_configuration_chapter():
    result = pairwise(LEFT, RIGHT, string_evaluation_type={"evaluation_type": "binary"})
    assert all_scores(result) == expected_scores(4 + TV + 2 + 2)


@pytest.mark.parametrize(
    ("option", "spec", "one_score"),
    [
        ("string_evaluation_type", {"evaluation_type": "jaccard"}, 1 / 3),
        ("string_evaluation_type", {"evaluation_type": "binary"}, 0.0),
        ("boolean_evaluation_type", {"evaluation_type": "binary"}, 0.0),
        ("integer_evaluation_type", {"evaluation_type": "binary"}, 0.0),
        (
            "integer_evaluation_type",
            {"evaluation_type": "threshold", "evaluation_params": {"threshold": 4}},
            0.75,
        ),
        (
            "float_evaluation_type",
            {"evaluation_type": "threshold", "evaluation_params": {"threshold": 2}},
            0.75,
        ),
        ("float_evaluation_type", {"evaluation_type": "binary"}, 0.0),
    ],
)
def test_configuration_options(option, spec, one_score):
    values = {
        "string": ("red car", "red bus"),
        "boolean": (True, False),
        "integer": (7, 8),
        "float": (7.5, 8.0),
    }
    actual, expected = values[option.split("_")[0]]
    assert pairwise({"x": actual}, {"x": expected}, **{option: spec}).f1 == pytest.approx(one_score)


def test_an_unknown_config_key_is_an_error():
    with pytest.raises(ConfigurationError, match="string_evaluation_typ"):
        pairwise({}, {}, string_evaluation_typ={"evaluation_type": "binary"})


@pytest.mark.parametrize(
    "definition",
    ["binary", {}, {"evaluation_type": "binaryy"}, {"type": "binary"}, {"evaluation_type": "threshold"}],
)
def test_a_definition_that_makes_no_sense_is_an_error_before_scoring(definition):
    with pytest.raises(ConfigurationError):
        pairwise({}, {}, integer_evaluation_type=definition)


def test_the_array_threshold_is_0_3_and_must_be_exceeded():
    # Jaccard of 3 words of 10 is just 0.3, of 4 words of 10 more.
    words = "a b c d e f g h i j"
    assert pairwise(["a b c"], [words]).counts == {"omission": 1, "hallucination": 1}
    assert pairwise(["a b c d"], [words]).counts == {"mismatch": 1}
    assert pairwise(["a b c d"], [words], array_matching_threshold=0.4).counts == {
        "omission": 1,
        "hallucination": 1,
    }
    assert pairwise(["a b c"], [words], array_matching_threshold=0).counts == {"mismatch": 1}


def test_a_higher_threshold_asks_for_stronger_matches():
    result = pairwise(LEFT, RIGHT, array_matching_threshold=0.7)
    # literature and reading are two thirds alike; running and its pair are 0.75.
    assert all_scores(result) == expected_scores(4 + TV + 2.25)


def test_quick_start():
    left = {
        "name": "John",
        "age": 25,
        "is_student": True,
        "hobbies": [{"name": "reading"}, {"name": "swimming"}],
    }
    right = {
        "name": "Jane",
        "age": 26,
        "is_student": True,
        "hobbies": [{"name": "hiking"}, {"name": "swimming"}, {"name": "buildings"}],
    }
    # Right: is_student and swimming, of 5 leaves on the left and 6 on the right.
    assert all_scores(pairwise(left, right)) == (2 / 5, 2 / 6, 4 / 11)


class Hobby(BaseModel):
    name: str


class Person(BaseModel):
    name: str
    age: int
    hobbies: list[Hobby] = []


def test_models_on_either_side_and_as_the_schema():
    left = Person(name="John", age=25, hobbies=[Hobby(name="swimming")])
    right = Person(name="John", age=26, hobbies=[Hobby(name="hiking"), Hobby(name="swimming")])
    assert all_scores(pairwise(left, right)) == (2 / 3, 2 / 4, 4 / 7)
    assert all_scores(pairwise(left, right, schema=Person)) == (2 / 3, 2 / 4, 4 / 7)
    assert all_scores(pairwise(left.model_dump(), right)) == (2 / 3, 2 / 4, 4 / 7)


def test_an_evaluator_of_ones_own():
    with session_registry() as registry:
        registry.comparator("initials", lambda expected, actual, params: float(expected[:1] == actual[:1]))
        config = {"string_evaluation_type": {"evaluation_type": "initials"}}
        result = pairwise({"name": "Jhon Jingleheimer"}, {"name": "John Jingleheimer"}, **config)
    assert result.f1 == 1.0


def test_every_registered_comparator_is_an_evaluation_type():
    config = {"string_evaluation_type": {"evaluation_type": "levenshtein"}}
    result = pairwise({"name": "Jhon Jingleheimer"}, {"name": "John Jingleheimer"}, **config)
    assert result.f1 == pytest.approx(1 - 2 / 17)


# -- schemas -------------------------------------------------------------------------------------------------

STATUS = {
    "type": "object",
    "properties": {"status": {"type": "string", "x-override-evaluator": {"evaluation_type": "binary"}}},
}


def test_an_evaluator_for_one_field():
    actual, expected = {"status": "in progress"}, {"status": "in review"}
    assert pairwise(actual, expected).f1 == pytest.approx(1 / 3)
    assert pairwise(actual, expected, schema=STATUS).f1 == 0.0


def test_an_evaluator_for_one_field_outweighs_the_config():
    jaccard = {"evaluation_type": "jaccard"}
    result = pairwise(
        {"status": "in progress"}, {"status": "in review"}, schema=STATUS, string_evaluation_type=jaccard
    )
    assert result.f1 == 0.0


def test_two_evaluators_for_one_field_are_an_error():
    field = {
        "type": "string",
        "x-eval-compare": "exact",
        "x-override-evaluator": {"evaluation_type": "binary"},
    }
    with pytest.raises(ConfigurationError, match="status"):
        pairwise({}, {}, schema={"type": "object", "properties": {"status": field}})


def test_unlisted_properties_are_ignored_where_additional_ones_are_allowed():
    schema = {**STATUS, "additionalProperties": True}
    result = pairwise({"status": "a", "x": 1}, {"status": "a", "y": {"z": 2}}, schema=schema)
    assert all_scores(result) == (1.0, 1.0, 1.0)
    assert (result.total_leaves, result.counts["match"]) == (1, 1)


@pytest.mark.parametrize("additional", [{}, {"additionalProperties": False}])
def test_unlisted_properties_are_errors_that_name_the_path_elsewhere(additional):
    schema = {"type": "array", "items": {**STATUS, **additional}}
    with pytest.raises(UnlistedFieldError) as in_actual:
        pairwise([{"status": "a"}, {"status": "b", "x y": 1}], [{"status": "a"}], schema=schema)
    with pytest.raises(GoldValidationError) as in_expected:
        pairwise([{"status": "a"}], [{"status": "a"}, {"stat": "b"}], schema=schema)
    assert (in_actual.value.path, in_expected.value.path) == ('[1]["x y"]', "[1].stat")


def test_an_enum_is_compared_as_a_whole():
    schema = {"properties": {"status": {"type": "string", "enum": ["in progress", "in review"]}}}
    actual, expected = {"status": "in progress"}, {"status": "in review"}
    assert pairwise(actual, expected, schema=schema).f1 == 0.0
    assert (
        pairwise(actual, expected, schema=schema, string_evaluation_type={"evaluation_type": "jaccard"}).f1
        == 0.0
    )
    override = {"status": {"compare": "jaccard"}}
    assert pairwise(actual, expected, schema=schema, fields=override).f1 == pytest.approx(1 / 3)


def test_an_enum_makes_no_leaf_of_what_is_none():
    schema = {"properties": {"status": {"enum": ["a", "b"]}, "id": {}}}
    result = pairwise({"status": {"x": 1, "y": [2, 3]}, "id": 1}, {"status": "a", "id": 1}, schema=schema)
    assert all_scores(result) == (1 / 4, 1 / 2, 1 / 3)


# -- evaluators and caveats ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "params", "one_score"),
    [
        (10.5, {"threshold": 1}, 0.5),
        (10.5, {"threshold": 1, "difference_penalty_weighting": 2}, 1 - 0.5**0.5),
        (10.5, {"threshold": 1, "difference_penalty_weighting": 0}, 1.0),
        (11.5, {"threshold": 1, "difference_penalty_weighting": 0}, 0.0),
        (11.0, {"threshold": 1}, 0.0),
        (10.0, {"threshold": 1}, 1.0),
    ],
)
def test_threshold_falls_within_its_range_and_is_0_beyond_a_difference_from_the_text(
    actual, params, one_score
):
    schema = {"properties": {"x": {"type": "number", "x-eval-compare": {"threshold": params}}}}
    assert pairwise({"x": actual}, {"x": 10.0}, schema=schema).f1 == pytest.approx(one_score)


def test_jaccard_compares_sets_of_lower_cased_words():
    assert pairwise({"x": "The  THE red car"}, {"x": "red the bus"}).f1 == 2 / 4


def test_all_scalars_weigh_the_same_wherever_they_stand():
    expected = {"a": 1, "b": {"c": {"d": 2}}, "e": [{"f": 3}, 4]}
    for wrong in ({"a": 0}, {"b": {"c": {"d": 0}}}, {"e": [{"f": 0}, 4]}, {"e": [{"f": 3}, 0]}):
        result = pairwise({**expected, **wrong}, expected)
        assert (result.precision, result.recall) == (3 / 4, 3 / 4)


def test_null_is_a_value_a_difference():
    assert all_scores(pairwise({"a": None}, {"a": None, "b": None})) == (1.0, 1 / 2, 2 / 3)
    assert all_scores(pairwise({"a": None}, {"a": None, "b": None}, nulls="absent")) == (1.0, 1.0, 1.0)


def test_a_pair_s_similarity_is_its_f1_a_difference():
    # Mean of the fields' scores: 1/2 of 2 keys in common; F1: 2·1 / (2 + 6) = 1/4, not above 0.3.
    expected = [{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}]
    assert pairwise([{"a": 1, "b": 0}], expected).counts == {"omission": 6, "hallucination": 2}


def test_the_greatest_sum_over_admissible_pairs_a_difference():
    # Alone 0.25 would add to the sum, but a pair that is not above 0.3 is never made.
    result = pairwise(["x y z w"], ["x b c d"], array_matching_threshold=0.1)
    assert result.counts == {"mismatch": 1}
    assert pairwise(["x y z w"], ["x b c d"]).counts == {"omission": 1, "hallucination": 1}


# ============================================ source 5: leaf_f1 =============================================


def leaf_f1(actual, expected, schema=None, **options):
    if schema is not None:
        options["schema"] = {"type": "object", "properties": schema}
    return compare_json(actual, expected, metric="leaf_f1", **options)


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("gold", "extracted", "found"),
    [
        ({"f": "a"}, {"f": "a"}, [("f", "match")]),
        ({"f": "a"}, {"f": "b"}, [("f", "mismatch")]),
        ({"f": "a"}, {}, [("f", "omission")]),
        ({}, {"f": "a"}, [("f", "hallucination")]),
        ({"listed": "b"}, {"listed": "b"}, [("listed", "match")]),
        ({}, {"other": "a"}, [("other", "hallucination")]),
    ],
)
def test_the_scoring_table(gold, extracted, found):
    assert statuses(leaf_f1(extracted, gold, {"f": TEXT, "listed": TEXT})) == found


def test_gold_fields_must_be_in_the_schema():
    with pytest.raises(GoldValidationError, match="typo") as refused:
        leaf_f1({}, {"f": "a", "typo": 1}, {"f": TEXT})
    assert refused.value.path == "typo"


def test_an_extra_object_is_one_hallucination_per_leaf_a_difference():
    result = leaf_f1({"f": "a", "new": {"x": 1, "y": [2, 3], "z": {}}}, {"f": "a"}, {"f": TEXT})
    assert (result.precision, result.recall, result.counts) == (1 / 5, 1.0, {"match": 1, "hallucination": 4})


@pytest.mark.parametrize(
    ("extracted", "precision", "recall"),
    [
        ({"a": 1, "b": 2}, 1.0, 1.0),
        ({"a": 1, "b": 0}, 1 / 2, 1 / 2),
        ({"a": 1}, 1.0, 1 / 2),
        ({"a": 1, "b": 2, "c": 3}, 2 / 3, 1.0),
        ({"a": 0, "c": 3}, 0.0, 0.0),
    ],
)
def test_precision_and_recall_by_status(extracted, precision, recall):
    schema = {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}
    result = leaf_f1(extracted, {"a": 1, "b": 2}, schema)
    assert (result.precision, result.recall) == (precision, recall)
    mean = 2 * precision * recall / (precision + recall) if precision else 0.0
    assert result.f1 == pytest.approx(mean)


GOLD = [
    {"method": "sputtering", "temperature": 300, "lab_id": "A1"},
    {"method": "evaporation", "temperature": 450, "lab_id": "B2"},
]
EXTRACTED = [
    {"method": "sputtering", "temperature": 301, "lab_id": "A1"},
    {"method": "evaporation", "temperature": 460, "lab_id": "B3"},
]


def test_quick_start_record_by_record():
    schema = infer_schema(GOLD)
    annotate_xeval(schema)
    parse_eval_schema(schema)
    validate_gold(GOLD, schema)
    results = [
        compare_json(extracted, gold, metric="extract-eval", schema=schema)
        for gold, extracted in zip(GOLD, EXTRACTED, strict=True)
    ]
    assert [all_scores(result) for result in results] == [(2 / 3, 2 / 3, 2 / 3), (1 / 3, 1 / 3, 1 / 3)]
    assert results[0].counts == {"match": 2, "mismatch": 1}


def test_quick_start_without_a_schema_is_the_schema_inferred():
    assert all_scores(leaf_f1(EXTRACTED[0], GOLD[0])) == (2 / 3, 2 / 3, 2 / 3)


# -- comparators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "gold", "extracted", "score"),
    [
        ("exact", "A1", "A1", 1.0),
        ("exact", "A1", "a1", 0.0),
        ("exact", True, 1, 0.0),
        ("exact", "1", 1, 0.0),
        ("numeric", 42, 42.0, 1.0),
        ("numeric", 42, 43, 0.0),
        ({"numeric": {"tolerance": {"rel": 0.01}}}, 300, 301, 1.0),
        ({"numeric": {"tolerance": {"rel": 0.01}}}, 450, 460, 0.0),
        ({"numeric": {"tolerance": {"rel": 0.01, "abs": 0.5}}}, 300, 301, 0.0),
        ({"numeric": {"tolerance": {"abs": 1}}}, 300, "300.5", 1.0),
        ({"oneof": {"values": ["PVD", "Sputtering", "CVD"]}}, "PVD", "CVD", 1.0),
        ({"oneof": {"values": ["PVD", "Sputtering", "CVD"]}}, "PVD", "ALD", 0.0),
        ({"exact": {}}, 42, 42.0, 1.0),
        ({"exact": {"strict_number_type": True}}, 42, 42.0, 0.0),
    ],
)
def test_built_in_comparators(spec, gold, extracted, score):
    assert leaf_f1({"f": extracted}, {"f": gold}, {"f": {"x-eval-compare": spec}}).f1 == score


def test_type_defaults_are_exact_and_numeric():
    schema = {"s": TEXT, "b": {"type": "boolean"}, "i": {"type": "integer"}, "n": {"type": "number"}}
    gold = {"s": "x", "b": True, "i": 1, "n": 1.5}
    result = leaf_f1(gold, gold, schema)
    assert [field.comparator for field in result.field_results] == ["exact", "exact", "numeric", "numeric"]


def test_the_default_of_a_type_can_be_changed_for_a_while():
    schema = {
        "s": TEXT,
        "t": {"type": "string", "x-eval-compare": "exact"},
        "u": {"type": "string", "enum": ["ab"]},
    }
    extracted, gold = {"s": "ax", "t": "ax", "u": "ax"}, {"s": "ab", "t": "ab", "u": "ab"}
    set_type_default("string", "levenshtein")
    try:
        scores = [field.score for field in leaf_f1(extracted, gold, schema).field_results]
        config = leaf_f1(extracted, gold, schema, compare={"string": "exact"}).field_results[0].score
    finally:
        reset_type_defaults()
    assert (scores, config) == ([0.5, 0.0, 0.0], 0.0)
    assert leaf_f1(extracted, gold, schema).f1 == 0.0


def compare_date(gold, extracted, params):
    """Source 5's example of a custom comparator, as it stands there."""
    formats = params.get("formats", ["%Y-%m-%d", "%b %d, %Y"])

    def parse(value):
        for form in formats:
            try:
                return dt.datetime.strptime(str(value), form)
            except ValueError:
                continue
        return None

    one, other = parse(gold), parse(extracted)
    return ComparatorResult(score=1.0 if (one and other and one == other) else 0.0, comparator="date")


@pytest.mark.parametrize(
    ("spec", "score"), [("own date", 1.0), ({"own date": {"formats": ["%Y-%m-%d"]}}, 0.0)]
)
def test_a_custom_comparator_gets_gold_extracted_and_params(spec, score):
    with session_registry() as registry:
        registry.comparator("own date", compare_date)
        result = leaf_f1({"d": "Jan 31, 2024"}, {"d": "2024-01-31"}, {"d": {"x-eval-compare": spec}})
    assert (result.f1, result.field_results[0].comparator) == (score, "date")


def test_built_in_comparators_cannot_be_overwritten_but_custom_ones_can():
    with session_registry() as registry:
        for name in ("exact", "numeric", "oneof"):
            with pytest.raises(ConfigurationError, match="built-in"):
                registry.comparator(name, compare_date, overwrite=True)
        registry.comparator("own date", lambda gold, extracted, params: 0.0)
        registry.comparator("own date", compare_date, overwrite=True)
        schema = {"d": {"x-eval-compare": "own date"}}
        assert leaf_f1({"d": "Jan 31, 2024"}, {"d": "2024-01-31"}, schema).f1 == 1.0


@pytest.mark.parametrize(
    "spec",
    [
        {"numeric": 0.01},
        {"numeric": {}, "exact": {}},
        {},
        5,
        ["exact"],
        "no such",
        {"numeric": {"toleranz": 1}},
    ],
)
def test_config_syntax_is_a_name_or_one_name_with_its_params(spec):
    with pytest.raises(ConfigurationError, match="items\\[\\]\\.price"):
        parse_eval_schema(
            {
                "properties": {
                    "items": {"items": {"properties": {"price": {"type": "number", "x-eval-compare": spec}}}}
                }
            }
        )


# -- transforms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "gold", "extracted"),
    [
        (["lowercase"], "PVD", "pvd"),
        (["strip"], " PVD", "PVD  "),
        (["normalize_whitespace"], "a  b\n\nc", "a b c"),
        (["sort_tokens"], "b a", "a b"),
        ([{"round_digits": {"digits": 1}}], 1.23, 1.19),
        (["strip", "lowercase"], " PVD ", "pvd"),
    ],
)
def test_transforms(chain, gold, extracted):
    assert leaf_f1({"f": extracted}, {"f": gold}, {"f": {}}).f1 == 0.0
    result = leaf_f1({"f": extracted}, {"f": gold}, {"f": {"x-eval-transform": chain}})
    assert result.f1 == 1.0
    field = result.field_results[0]
    assert field.expected_compared == field.actual_compared
    assert (field.expected, field.actual) == (gold, extracted)


def test_transforms_are_chained_left_to_right():
    # Sorted first, upper case stands before lower case; lower-cased first, it does not.
    gold, extracted = {"f": "b A"}, {"f": "a b"}
    assert leaf_f1(extracted, gold, {"f": {"x-eval-transform": ["lowercase", "sort_tokens"]}}).f1 == 1.0
    swapped = leaf_f1({"f": "A b"}, {"f": "a B"}, {"f": {"x-eval-transform": ["sort_tokens", "lowercase"]}})
    assert swapped.f1 == 0.0


def test_transforms_leave_null_alone():
    schema = {"f": {"type": ["string", "null"], "x-eval-transform": ["strip", "lowercase"]}, "g": TEXT}
    assert leaf_f1({"f": None, "g": "x"}, {"f": None, "g": "x"}, schema).f1 == 1.0
    assert leaf_f1({"f": "null", "g": "x"}, {"f": None, "g": "x"}, schema).f1 == 0.5


# -- alignment -------------------------------------------------------------------------------------------------

LAYERS = {"type": "object", "properties": {"name": {"type": "string"}, "nm": {"type": "integer"}}}
GOLD_LAYERS = {"layers": [{"name": "Au", "nm": 5}, {"name": "Ti", "nm": 2}, {"name": "Si", "nm": 9}]}
EXTRACTED_LAYERS = {"layers": [{"name": "Ti", "nm": 3}, {"name": "Au", "nm": 5}, {"name": "Cu", "nm": 7}]}


def layers(align):
    rules = {} if align is None else {"x-eval-align": align}
    return leaf_f1(EXTRACTED_LAYERS, GOLD_LAYERS, {"layers": {"type": "array", "items": LAYERS, **rules}})


@pytest.mark.parametrize("align", [None, {"ordered": True}])
def test_arrays_are_ordered_by_default(align):
    assert layers(align).counts == {"mismatch": 6}


def test_alignment_by_key():
    result = layers({"match_by": "key_field", "key": "name"})
    assert result.counts == {"match": 3, "mismatch": 1, "omission": 2, "hallucination": 2}
    assert all_scores(result) == (3 / 6, 3 / 6, 3 / 6)


def test_hungarian_alignment_pairs_what_is_alike_at_all():
    result = layers({"match_by": "hungarian"})
    # Si and Cu share nothing: a pair of F1 0 is not made.
    assert result.counts == {"match": 3, "mismatch": 1, "omission": 2, "hallucination": 2}


def test_pairs_are_scored_recursively():
    inner = {"type": "array", "items": {"type": "string"}, "x-eval-align": {"match_by": "hungarian"}}
    outer = {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "integer"}, "tags": inner}},
        "x-eval-align": {"match_by": "key_field", "key": "id"},
    }
    gold = {"steps": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c"]}]}
    extracted = {"steps": [{"id": 2, "tags": ["c"]}, {"id": 1, "tags": ["b", "x", "a"]}]}
    result = leaf_f1(extracted, gold, {"steps": outer})
    assert all_scores(result) == (5 / 6, 1.0, 10 / 11)
    assert [field.actual_path for field in result.field_results if field.status == "hallucination"] == [
        "steps[1].tags[1]"
    ]


# -- skip ------------------------------------------------------------------------------------------------------


def test_skipped_fields_are_in_no_score():
    schema = {"f": TEXT, "id": {"type": "string", "x-eval-skip": True}, "gone": {"x-eval-skip": True}}
    result = leaf_f1({"f": "a", "id": "1"}, {"f": "a", "id": "2", "gone": {"x": 1}}, schema)
    assert all_scores(result) == (1.0, 1.0, 1.0)
    assert statuses(result) == [("f", "match"), ("id", "skipped"), ("gone", "skipped")]
    assert all(not field.expected_leaves + field.actual_leaves for field in result.field_results[1:])


def test_a_skipped_key_still_aligns():
    items = {
        "type": "object",
        "properties": {"id": {"type": "integer", "x-eval-skip": True}, "n": {"type": "integer"}},
    }
    lines = {"type": "array", "items": items, "x-eval-align": {"match_by": "key_field", "key": "id"}}
    gold, extracted = (
        {"lines": [{"id": 1, "n": 5}, {"id": 2, "n": 6}]},
        {"lines": [{"id": 2, "n": 6}, {"id": 1, "n": 5}]},
    )
    result = leaf_f1(extracted, gold, {"lines": lines})
    assert (result.f1, result.counts) == (1.0, {"match": 2, "skipped": 2})
