"""Batch comparators: what they are asked, how they answer, and what happens when they fail."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import (
    BatchItem,
    ComparatorError,
    ComparatorResult,
    ConfigurationError,
    assert_json_match,
    compare_json,
)
from pytest_jsonmatch.schema import parse_eval_schema, reset_type_defaults, set_type_default
from tests.conftest import session_registry


@pytest.fixture
def registry():
    with session_registry() as registry:
        yield registry


class Judge:
    """Same letters, whatever their case: remembers what it was asked."""

    def __init__(self, **attributes):
        self.calls = []
        for name, value in attributes.items():
            setattr(self, name, value)

    def __call__(self, items):
        self.calls.append(items)
        return [self.score(item) for item in items]

    @staticmethod
    def score(item):
        return str(item.expected_compared).lower() == str(item.actual_compared).lower()


@pytest.fixture
def judge(registry):
    judge = Judge()
    registry.comparator("judge", judge)
    return judge


class JudgeById(Judge):
    scope = "chunk"

    def __call__(self, items):
        return dict(zip([item.id for item in items], super().__call__(items)))


def rows(result):
    return [(f.expected_path, f.status, f.score) for f in result.field_results]


# -- what it is asked ------------------------------------------------------------------------------------------


def test_one_call_has_all_fields_of_a_record(judge):
    result = compare_json(
        {"title": "OLD MAN", "year": 1952, "notes": ["sea", "fish"]},
        {"title": "Old Man", "year": 1952, "notes": ["Sea", "boat"]},
        metric="leaf_f1",
        fields={"title": {"compare": "judge"}, "notes[]": {"compare": "judge"}},
    )
    assert [len(items) for items in judge.calls] == [3]
    assert rows(result) == [
        ("title", "match", 1.0),
        ("year", "match", 1.0),
        ("notes[0]", "match", 1.0),
        ("notes[1]", "mismatch", 0.0),
    ]
    assert result.score == 0.75


def test_items_say_where_they_stand_and_what_is_compared(judge):
    compare_json(
        {"people": [{"name": " ANN "}]},
        {"people": [{"name": "Ann"}]},
        metric="leaf_f1",
        fields={"people[].name": {"compare": {"judge": {"strict": True}}, "transform": ["strip"]}},
    )
    assert judge.calls == [
        [
            BatchItem(
                id="1",
                record=None,
                path="people[].name",
                expected_path="people[0].name",
                actual_path="people[0].name",
                expected_parent="people[0]",
                actual_parent="people[0]",
                expected="Ann",
                actual=" ANN ",
                expected_compared="Ann",
                actual_compared="ANN",
                params={"strict": True},
            )
        ]
    ]


def test_the_root_has_no_parent_and_its_members_have_the_root(judge):
    compare_json('"A"', '"b"', metric="leaf_f1", fields={"**": {"compare": "judge"}})
    compare_json({"a": "A"}, {"a": "b"}, metric="leaf_f1", fields={"a": {"compare": "judge"}})
    asked = [item for items in judge.calls for item in items]
    assert [(item.path, item.expected_path, item.expected_parent) for item in asked] == [
        ("$", "$", None),
        ("a", "a", "$"),
    ]


def test_it_can_score_whole_containers(judge):
    result = compare_json(
        {"tags": ["b", "a"]},
        {"tags": ["a", "b"]},
        metric="leaf_f1",
        fields={"tags": {"compare": "judge"}},
    )
    assert [(item.expected, item.actual) for item in judge.calls[0]] == [(["a", "b"], ["b", "a"])]
    assert rows(result) == [("tags", "mismatch", 0.0)]


def test_two_batch_comparators_are_two_calls(registry):
    one, other = Judge(), Judge()
    registry.comparator("one", one)
    registry.comparator("other", other)
    fields = {"a": {"compare": "one"}, "b": {"compare": "other"}, "c": {"compare": "one"}}
    compare_json(dict.fromkeys("abc", "x"), dict.fromkeys("abc", "y"), metric="leaf_f1", fields=fields)
    assert [[item.path for item in items] for items in one.calls] == [["a", "c"]]
    assert [[item.path for item in items] for items in other.calls] == [["b"]]


OF_STRINGS = {"compare": {"string": "judge"}}
OF_NOTE = {"note": {"type": "string", "x-eval-compare": {"judge": {"strict": False}}}, "other": {}}
BRANCHES = {"v": {"anyOf": [{"type": "integer"}, {"type": "string", "x-eval-compare": "judge"}]}}


@pytest.mark.parametrize(
    ("expected", "actual", "options", "asked"),
    [
        ({"a": "x", "n": 1}, {"a": "X", "n": 2}, OF_STRINGS, ["a"]),
        ({"a": "x"}, {"a": "X"}, {"metric": "json_similarity", **OF_STRINGS}, ["a"]),
        (
            {"note": "a", "other": "a"},
            {"note": "A", "other": "A"},
            {"schema": {"properties": OF_NOTE}},
            ["note"],
        ),
        ({"v": "a"}, {"v": "A"}, {"schema": {"properties": BRANCHES}}, ["v"]),
        ({"a": "x"}, {"b": "x"}, OF_STRINGS, []),
        ({"a": "y"}, {"a": "x"}, {"fields": {"a": {"compare": "judge", "skip": True}}}, []),
        *(
            ({"a": one}, {"a": other}, {"fields": {"a": {"compare": "judge"}}}, [])
            for one, other in [(None, None), ("x", None), (None, "x")]
        ),
    ],
    ids=[
        "a type",
        "a flat object",
        "a schema",
        "a branch",
        "one side",
        "skipped",
        "nulls",
        "null",
        "null there",
    ],
)
def test_what_it_is_asked_about(judge, expected, actual, options, asked):
    result = compare_json(actual, expected, **{"metric": "leaf_f1", **options})
    assert [item.path for items in judge.calls for item in items] == asked
    assert [row.score for row in result.field_results if row.path in asked] == [1.0] * len(asked)
    assert not {row.comparator for row in result.field_results if row.path in asked} - {"judge"}


def test_as_a_default_of_a_schemas_type(judge):
    set_type_default("string", "judge")
    try:
        schema = parse_eval_schema({"type": "object", "properties": {"note": {"type": "string"}}})
        assert compare_json({"note": "A"}, {"note": "a"}, metric="leaf_f1", schema=schema).score == 1.0
    finally:
        reset_type_defaults()
    assert len(judge.calls) == 1


def test_below_a_target_paths_are_those_of_the_document(judge):
    compare_json(
        {"answers": [{"a": "x"}]},
        {"answers": [{"a": "y"}]},
        metric="leaf_f1",
        target_key="answers[0]",
        fields={"**.a": {"compare": "judge"}},
    )
    assert [item.expected_path for item in judge.calls[0]] == ["answers[0].a"]


def test_null_aware_comparators_are_asked_about_nulls(registry):
    judge = Judge(null_aware=True)
    registry.comparator("judge", judge)
    result = compare_json({"a": None}, {"a": "None"}, metric="leaf_f1", fields={"*": {"compare": "judge"}})
    assert (result.score, len(judge.calls)) == (1.0, 1)


def test_equal_values_are_asked_about_unless_it_short_circuits(registry):
    asked, spared = Judge(), Judge(short_circuit=True)
    registry.comparator("asked", asked)
    registry.comparator("spared", spared)
    document = {"a": "x", "b": ["x", {"c": 1.0}]}
    for name in ("asked", "spared"):
        compare_json(document, document, metric="leaf_f1", fields={"*": {"compare": name}})
    assert [len(items) for items in asked.calls] == [2]
    assert spared.calls == []


def test_equality_for_the_short_circuit_is_that_of_json_after_transforms(registry):
    judge = Judge(short_circuit=True)
    registry.comparator("judge", judge)
    compare_json(
        {"a": True, "b": 1.0, "c": "X "},
        {"a": 1, "b": 1, "c": "x"},
        metric="leaf_f1",
        fields={"*": {"compare": "judge", "transform": ["strip", "lowercase"]}},
    )
    assert [[item.path for item in items] for items in judge.calls] == [["a"]]


def test_a_threshold_for_leaves_holds_for_answers(registry):
    registry.comparator("half", lambda items: [0.5 for _ in items])
    rule = {"a": {"compare": "half"}}
    assert compare_json({"a": 1}, {"a": 2}, metric="leaf_f1", fields=rule).score == 0.5
    assert compare_json({"a": 1}, {"a": 2}, metric="leaf_f1", fields=rule, leaf_threshold=0.6).score == 0.0


def test_weights_count(registry):
    registry.comparator("half", lambda items: [0.5 for _ in items])
    rules = {"a": {"compare": "half", "weight": 3}}
    assert compare_json({"a": 1, "b": 1}, {"a": 2, "b": 1}, metric="leaf_f1", fields=rules).score == 2.5 / 4


def test_what_it_does_to_its_list_is_its_own_business(registry):
    def greedy(items):
        scores = [1.0 for _ in items]
        items.clear()
        return scores

    registry.comparator("greedy", greedy)
    assert (
        compare_json({"a": 1}, {"a": 2}, metric="leaf_f1", fields={"a": {"compare": "greedy"}}).score == 1.0
    )


# -- how it answers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda items: [True, 1, ComparatorResult(1.0)],
        lambda items: (1.0 for _ in items),
        lambda items: tuple(1.0 for _ in items),
        lambda items: {item.id: 1.0 for item in reversed(items)},
    ],
    ids=["list", "generator", "tuple", "mapping"],
)
def test_answers_of_every_form(registry, answer):
    registry.comparator("judge", answer)
    result = compare_json(
        {"a": 1, "b": 2, "c": 3},
        {"a": 2, "b": 3, "c": 4},
        metric="leaf_f1",
        fields={"*": {"compare": "judge"}},
    )
    assert (result.score, result.counts) == (1.0, {"match": 3})


def test_numbers_of_numpy(registry):
    import numpy as np

    registry.comparator("judge", lambda items: np.full(len(items), 0.25))
    result = compare_json({"a": 1}, {"a": 2}, metric="leaf_f1", fields={"a": {"compare": "judge"}})
    assert result.score == 0.25


def test_reasons_and_skips(registry):
    registry.comparator(
        "judge",
        lambda items: [ComparatorResult(0.5, "half right"), ComparatorResult(0, "off topic", skip=True)],
    )
    result = compare_json(
        {"a": 1, "b": 2}, {"a": 2, "b": 3}, metric="leaf_f1", fields={"*": {"compare": "judge"}}
    )
    assert [(f.status, f.reason, f.comparator) for f in result.field_results] == [
        ("mismatch", "half right", "judge"),
        ("skipped", "off topic", None),
    ]
    assert result.score == 0.5


def test_answers_by_id(registry):
    registry.comparator("judge", JudgeById())
    result = compare_json(["A", "b"], ["a", "c"], metric="leaf_f1", fields={"[]": {"compare": "judge"}})
    assert [f.score for f in result.field_results] == [1.0, 0.0]


# -- how it fails ----------------------------------------------------------------------------------------------


def failures(registry, answer, scope=None):
    """Three fields of a batch comparator and one of another: what is said of the three."""
    if scope is not None:
        answer.scope = scope
    registry.comparator("judge", answer)
    result = compare_json(
        {"a": 1, "b": 1, "c": 1, "d": 1},
        {"a": 2, "b": 2, "c": 2, "d": 1},
        metric="leaf_f1",
        fields={key: {"compare": "judge"} for key in "abc"},
    )
    assert result.field_results[3].status == "match"
    assert "pending" not in result.counts
    return [f.error if f.status == "batch_error" else f.score for f in result.field_results[:3]]


A_LIST = (
    "it must return a mapping of item id to answer, or a list with one answer for each item, in their order"
)


def raising(items):
    raise TimeoutError("no answer in 30 s")


def raising_without_words(items):
    raise KeyError


def failing_on_its_way(items):
    yield 1.0
    raise OSError("gone")


async def coroutine(items):
    return [1.0 for _ in items]


@pytest.mark.parametrize(
    ("answer", "scope", "reason"),
    [
        (raising, None, "raised TimeoutError: no answer in 30 s"),
        (raising_without_words, None, "raised KeyError"),
        (failing_on_its_way, None, "raised OSError: gone"),
        (coroutine, None, "is a coroutine function; it must wait for its answers itself"),
        (lambda items: [1.0], None, f"returned 1 answer for 3 items; {A_LIST}"),
        (lambda items: {"1": 1.0, "x": 0.0}, None, "answered for ids that it was not asked about: 'x'"),
        (lambda items: None, None, f"returned nothing; {A_LIST}"),
        (lambda items: "1.0", None, f"returned a str; {A_LIST}"),
        (lambda items: {0.5}, None, f"returned a set; {A_LIST}"),
        (lambda items: [1.0] * 3, "chunk", "returned a list; it must return a mapping of item id to answer"),
    ],
)
def test_a_call_that_fails_fails_for_all_its_items(registry, answer, scope, reason):
    assert failures(registry, answer, scope) == [reason] * 3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (1.5, "returned 1.5 for this item, which is not a score in [0, 1]"),
        (-0.1, "returned -0.1 for this item, which is not a score in [0, 1]"),
        (float("nan"), "returned nan for this item, which is not a score in [0, 1]"),
        ("1.0", "returned '1.0' for this item, which is not a score in [0, 1]"),
        (None, "returned None for this item, which is not a score in [0, 1]"),
        ({"score": 1}, "returned {'score': 1} for this item, which is not a score in [0, 1]"),
        (ComparatorResult(2.0), "returned 2.0 for this item, which is not a score in [0, 1]"),
        (ValueError("refused"), "could not score this item: ValueError: refused"),
    ],
)
def test_an_answer_that_is_none_fails_for_its_item_alone(registry, bad, reason):
    assert failures(registry, lambda items: [1.0, bad, 0.5]) == [1.0, reason, 0.5]


def test_an_id_without_an_answer_fails_alone(registry):
    answer = lambda items: {items[0].id: 1.0, items[2].id: 0.5}  # noqa: E731
    assert failures(registry, answer) == [1.0, "gave no answer for this item", 0.5]


def test_a_batch_error_is_left_out_of_the_scores_and_shown_next_to_them(registry):
    registry.comparator("judge", lambda items: [ValueError("refused"), 0.5])
    result = compare_json(
        {"a": "x", "b": "x", "c": 1},
        {"a": "y", "b": "y", "c": 1},
        metric="leaf_f1",
        compare={"string": "judge"},
    )
    # b: 0.5 and c: 1 of two leaves on either side.
    assert (result.score, result.precision, result.recall) == (0.75, 0.75, 0.75)
    assert result.counts == {"match": 1, "mismatch": 1, "batch_error": 1}
    assert (result.per_field["a"].batch_errors, result.per_field["a"].total) == (1, 0)
    assert [str(error) for error in result.errors] == [
        "a: comparator 'judge' could not score this item: ValueError: refused"
    ]


def test_errors_are_reported_where_all_that_counts_is_perfect(registry):
    registry.comparator("judge", raising)
    result = compare_json(
        {"a": "x", "n": 1}, {"a": "y", "n": 1}, metric="leaf_f1", fields={"a": {"compare": "judge"}}
    )
    assert (result.score, [error.path for error in result.errors]) == (1.0, ["a"])


def test_an_assertion_raises_comparator_error(registry):
    registry.comparator("judge", raising)
    with pytest.raises(ComparatorError, match="no answer in 30 s"):
        assert_json_match({"a": "x"}, {"a": "y"}, metric="leaf_f1", fields={"a": {"compare": "judge"}})


def test_interrupts_pass_through(registry):
    def interrupted(items):
        raise KeyboardInterrupt

    registry.comparator("judge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare_json({"a": "x"}, {"a": "y"}, metric="leaf_f1", fields={"a": {"compare": "judge"}})


# -- top-level keys as units -----------------------------------------------------------------------------------


def test_units_are_1_where_all_below_them_is(registry):
    registry.comparator("judge", Judge())
    result = compare_json(
        {"a": {"x": "A", "y": 1}, "b": {"x": "A"}, "c": "C"},
        {"a": {"x": "a", "y": 1}, "b": {"x": "b"}, "c": "c"},
        metric="field_match",
        compare={"string": "judge"},
    )
    assert rows(result) == [("a", "match", 1.0), ("b", "mismatch", 0.0), ("c", "match", 1.0)]


def test_a_unit_that_nothing_but_a_failure_keeps_from_1_is_a_batch_error(registry):
    registry.comparator("judge", raising)
    result = compare_json(
        {"a": {"x": "A", "y": 1}, "b": {"x": "A", "y": 2}, "c": 3},
        {"a": {"x": "a", "y": 1}, "b": {"x": "a", "y": 1}, "c": 3},
        metric="field_match",
        compare={"string": "judge"},
    )
    assert rows(result) == [("a", "batch_error", 0.0), ("b", "mismatch", 0.0), ("c", "match", 1.0)]
    assert [error.path for error in result.errors] == ["a.x", "b.x"]
    assert result.score == 0.5


# -- registering -----------------------------------------------------------------------------------------------


def test_a_scope_that_is_none_is_an_error(registry):
    with pytest.raises(ConfigurationError) as error:
        registry.comparator("judge", Judge(scope="records"))
    assert str(error.value) == "comparator 'judge' has the scope 'records'; did you mean 'record'?"


def test_a_class_is_not_its_instance(registry):
    with pytest.raises(ConfigurationError) as error:
        registry.comparator("judge", JudgeById)
    assert (
        str(error.value)
        == "comparator 'judge' is the class JudgeById; register an instance, such as JudgeById()"
    )


@pytest.mark.parametrize("place", ["fields", "schema"])
def test_parameters_are_checked_before_scoring(registry, place):
    def check_params(params):
        if "model" not in params:
            raise ValueError("name the model, as in {'model': 'small'}")

    registry.comparator("judge", Judge(check_params=check_params))
    options = {
        "fields": {"fields": {"a": {"compare": "judge"}}},
        "schema": {"schema": {"properties": {"a": {"x-eval-compare": "judge"}}}},
    }[place]
    with pytest.raises(ConfigurationError, match="comparator 'judge': name the model, as in"):
        compare_json({"b": 1}, {"b": 1}, metric="leaf_f1", **options)


def test_functions_of_three_arguments_stay_what_they_are(registry):
    registry.comparator("plain", lambda expected, actual, params: 0.5)
    registry.comparator("any", lambda *arguments: 0.25)
    fields = {"a": {"compare": "plain"}, "b": {"compare": "any"}}
    result = compare_json({"a": 1, "b": 1}, {"a": 2, "b": 2}, metric="leaf_f1", fields=fields)
    assert [f.score for f in result.field_results] == [0.5, 0.25]
