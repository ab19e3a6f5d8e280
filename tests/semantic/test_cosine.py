"""The comparator `cosine`, by small encoders: what it scores, and how often it has strings encoded."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from zlib import crc32

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    ComparatorError,
    ConfigurationError,
    JsonMatchWarning,
    assert_json_match,
    compare_corpus,
    compare_json,
)
from pytest_jsonmatch.semantic import encoders
from tests.conftest import bound, session_registry
from tests.laws import law


class Trigrams:
    """Counts three letters in a row in 64 slots, and keeps the texts of every call."""

    def __init__(self, slots: int = 64) -> None:
        self.slots = slots
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return [self.row(f" {text} ") for text in texts]

    def row(self, text):
        found = Counter(crc32(text[at : at + 3].encode()) % self.slots for at in range(len(text) - 2))
        return [float(found[slot]) for slot in range(self.slots)]


BY_NAME = {"cosine": {"embedding_model": "trigrams"}}
OVERRIDE = {"evaluation_type": "cosine", "evaluation_params": {"embedding_model": "trigrams"}}


@pytest.fixture
def trigrams():
    with session_registry() as registry:
        encoder = Trigrams()
        registry.encoder("trigrams", encoder)
        yield encoder


def scored(actual, expected, **params):
    compare = {"cosine": {"embedding_model": "trigrams", **params}}
    return compare_json({"x": actual}, {"x": expected}, fields={"x": {"compare": compare}}).score


# -- scores ------------------------------------------------------------------------------------------------


class Plane:
    """Turns "3 4" into the vector (3, 4)."""

    def encode(self, texts):
        return [[float(number) for number in text.split()] for text in texts]


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("1 0", "5 0", 1.0),
        ("1 0", "3 4", 0.6),
        ("1 0", "0 1", 0.0),
        ("1 0", "-1 0", 0.0),
        ("1 0", "1 1", 0.7071),
        ("0 0", "1 0", 0.0),
        ("0 0", "0  0", 0.0),
        ("0 0", "0 0", 1.0),
        ("1e300 0", "1e300 1e300", 0.7071),
        ("1e-300 0", "1e-300 1e-300", 0.7071),
    ],
)
def test_the_score_is_the_cosine(expected, actual, score):
    with session_registry() as registry:
        registry.encoder("trigrams", Plane())
        assert scored(actual, expected) == score
        cosine = bound("cosine", embedding_model="trigrams")
        assert cosine.table([expected], [actual]).tolist() == [[score]]


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (None, None, 1.0),
        (None, "a", 0.0),
        ("a", None, 0.0),
        (1, 1.0, 1.0),
        (1, "1", 0.0),
        (True, 1, 0.0),
        (["a"], ["a"], 1.0),
        (["a"], ["b"], 0.0),
        ({"a": 1}, "a", 0.0),
    ],
)
def test_what_is_no_two_strings_is_equal_or_not_and_never_encoded(trigrams, expected, actual, score):
    assert scored(actual, expected) == score
    assert trigrams.calls == []


def test_transforms_come_first(trigrams):
    rule = {"compare": BY_NAME, "transform": ["lowercase", {"type_convert": {"to": "str"}}]}
    result = compare_json({"x": "ABC", "y": 1234}, {"x": "abcd", "y": 123}, fields={"*": rule})
    assert [sorted(call) for call in trigrams.calls] == [["123", "1234", "abc", "abcd"]]
    assert [0 < field.score < 1 for field in result.field_results] == [True, True]


TEXTS = st.lists(
    st.sampled_from(
        ["", "a", "New York", "NYC", "Newark", "the red car", "a red car", "\ud800", "ü", None, 1]
    ),
    max_size=12,
)


@law(TEXTS, TEXTS, st.sampled_from([3, 64]))
def test_the_table_is_the_plain_function_to_the_last_bit(expected, actual, slots):
    with session_registry() as registry:
        registry.encoder("trigrams", Trigrams(slots))
        cosine = bound("cosine", embedding_model="trigrams")
        plain = [[cosine.score(one, other) for other in actual] for one in expected]
        assert cosine.table(expected, actual).tolist() == plain


# -- each string once --------------------------------------------------------------------------------------


def test_a_record_is_one_call_and_equal_or_lone_strings_are_in_none(trigrams):
    expected = {"a": "one", "b": "two", "c": "same", "d": "gone", "e": [{"f": "three"}], "n": 1}
    actual = {"a": "ones", "b": "twos", "c": "same", "g": "new", "e": [{"f": "thre"}], "n": "one"}
    compare_json(actual, expected, metric="json_similarity", compare={"string": BY_NAME})
    assert [sorted(call) for call in trigrams.calls] == [["one", "ones", "thre", "three", "two", "twos"]]


def test_a_corpus_is_one_call_a_chunk(trigrams):
    gold = [{"name": f"customer {n % 700}", "kind": "shop"} for n in range(1_000)]
    extracted = [{"name": f"client {n % 700}", "kind": "shop"} for n in range(1_000)]
    compare_corpus(extracted, gold, metric="json_similarity", compare={"string": BY_NAME}, chunk_size=250)
    assert list(map(len, trigrams.calls)) == [500, 500, 400]


@pytest.mark.parametrize("metric", ["pairwise_f1", "leaf_f1"])
@pytest.mark.parametrize("size", [5, 60])
def test_an_unordered_array_is_one_call_and_equal_elements_are_in_none(trigrams, metric, size):
    expected = [{"name": f"thing {n}", "n": n} for n in range(size)]
    actual = [{"name": f"thing {n}" if n % 5 == 0 else f"thin {n}", "n": n} for n in reversed(range(size))]
    result = compare_json(
        {"list": actual}, {"list": expected}, metric=metric, arrays="unordered", compare={"string": BY_NAME}
    )
    changed = [n for n in range(size) if n % 5]
    assert result.counts["match"] == 2 * size - len(changed)
    (call,) = trigrams.calls
    assert sorted(call) == sorted(f"{word} {n}" for word in ("thing", "thin") for n in changed)


def test_keyed_arrays_and_targets(trigrams):
    expected = {
        "t": {"list": [{"id": 1, "s": "one"}, {"id": 2, "s": "two"}, {"id": 3, "s": "three"}]},
        "u": "no",
    }
    actual = {
        "t": {"list": [{"id": 3, "s": "thre"}, {"id": 1, "s": "one"}, {"id": 4, "s": "four"}]},
        "u": "on",
    }
    result = compare_json(
        actual,
        expected,
        metric="leaf_f1",
        target_key="t",
        fields={"t.list": {"align": {"key": "id"}}, "t.list[].s": {"compare": BY_NAME}},
    )
    assert [sorted(call) for call in trigrams.calls] == [["four", "thre", "three", "two"]]
    assert [(row.path, row.status) for row in result.field_results if row.path.endswith("s")] == [
        ("t.list[].s", "match"),
        ("t.list[].s", "omission"),
        ("t.list[].s", "mismatch"),
        ("t.list[].s", "hallucination"),
    ]


# -- wherever a comparator can be named --------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "json_similarity", "compare": {"string": BY_NAME}},
        {"metric": "leaf_f1", "fields": {"*": {"compare": BY_NAME}}},
        {"metric": "field_match_normalized", "fields": {"s": {"compare": BY_NAME}}},
        {"metric": "pairwise_f1", "string_evaluation_type": OVERRIDE},
        {"metric": "pairwise_f1", "schema": {"properties": {"s": {"x-override-evaluator": OVERRIDE}}}},
    ],
)
def test_every_metric_takes_it(trigrams, options):
    result = compare_json({"s": "a red car"}, {"s": "the red car"}, **options)
    assert (round(result.score, 6), len(trigrams.calls)) == (scored("a red car", "the red car"), 1)
    assert 0 < result.score < 1


# -- which encoder -----------------------------------------------------------------------------------------


def scored_by(model, **params):
    compare = {"cosine": {"embedding_model": model, **params}}
    return compare_json({"x": "a"}, {"x": "b"}, fields={"x": {"compare": compare}}).score


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"embeding_model": "x"},
            "comparator 'cosine' has no parameter 'embeding_model'; did you mean 'embedding_model'?",
        ),
        (
            {"embedding_model": ""},
            (
                "comparator 'cosine': 'embedding_model' must be the name of a model, a folder, "
                "or the name of a registered encoder, got ''"
            ),
        ),
    ],
)
def test_wrong_parameters(trigrams, params, message):
    with pytest.raises(ConfigurationError) as caught:
        compare_json({"x": "a"}, {"x": "b"}, fields={"x": {"compare": {"cosine": params}}})
    assert str(caught.value) == f"fields['x'].compare: {message}"


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "someone/some-model"])
def test_without_the_extra_the_error_says_what_to_install(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setattr(encoders, "_loaded", {})
    with session_registry(), pytest.raises(ConfigurationError) as caught:
        scored_by(model)
    assert str(caught.value) == (
        f"fields['x'].compare: comparator 'cosine': the model {model!r} needs sentence-transformers; "
        "pip install 'pytest-jsonmatch[embeddings]', or register an encoder of this name"
    )


def test_names_of_encoders():
    with session_registry() as registry:
        registry.encoder("mine", Trigrams())
        with pytest.raises(ConfigurationError, match="encoder 'mine' is registered already"):
            registry.encoder("mine", Trigrams())
        registry.encoder("mine", Trigrams(), overwrite=True)
        with pytest.raises(ConfigurationError, match="an encoder's name must be a non-empty string"):
            registry.encoder(" ", Trigrams())
        for given in (Trigrams, 3):
            with pytest.raises(ConfigurationError, match=r"encoder 'x' must be an object with encode.*, got"):
                registry.encoder("x", given)


# -- encoders that fail ------------------------------------------------------------------------------------


class Returns:
    def __init__(self, answer):
        self.answer = answer
        self.calls = 0

    def encode(self, texts):
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(texts) if callable(self.answer) else self.answer


WANTED = "it must return one row of numbers for each of the 4 strings"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ValueError("no more"), "raised ValueError: no more"),
        (KeyError(), "raised KeyError"),
        (None, f"returned an array of shape (); {WANTED}"),
        ("text", f"returned a str that is not an array of numbers; {WANTED}"),
        ([[1.0, 2.0]], f"returned an array of shape (1, 2); {WANTED}"),
        ([1.0, 2.0, 3.0, 4.0], f"returned an array of shape (4,); {WANTED}"),
        ([[], [], [], []], f"returned an array of shape (4, 0); {WANTED}"),
        ([[1.0], [1.0], [1.0], [1.0, 2.0]], f"returned a list that is not an array of numbers; {WANTED}"),
        ([[float("nan")]] * 4, "returned NaN or an infinity for this string"),
        ([[float("inf")]] * 4, "returned NaN or an infinity for this string"),
    ],
)
@pytest.mark.parametrize("metric", ["leaf_f1", "pairwise_f1"])
def test_a_failing_encoder_is_an_error_of_its_fields(answer, reason, metric):
    with session_registry() as registry:
        encoder = Returns(answer)
        registry.encoder("broken", encoder)
        with pytest.warns(JsonMatchWarning) as warned:
            result = compare_json(
                {"a": "x", "b": ["y", "same"], "n": 1},
                {"a": "z", "b": ["same", "w"], "n": 1},
                metric=metric,
                arrays="unordered",
                array_threshold=0,
                compare={"string": {"cosine": {"embedding_model": "broken"}}},
            )
        assert (result.counts["match"], encoder.calls) == (2, 1)
        assert [error.path for error in result.errors] == ["a"]
        assert result.errors[0].comparator == "cosine"
        assert result.errors[0].reason == f"raised EncoderError: the encoder 'broken' {reason}"
        assert [str(each.message) for each in warned] == [
            f"the encoder 'broken' {reason}; 4 strings have no vector, and only equal strings match"
        ]


def test_strings_that_failed_are_tried_again_with_the_next_record():
    answers = [ValueError("busy"), lambda texts: [[1.0, float(len(text))] for text in texts]]

    def later(texts):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(texts)

    with session_registry() as registry:
        registry.encoder("busy", Returns(later))
        rule = {"x": {"compare": {"cosine": {"embedding_model": "busy"}}}}
        with pytest.warns(JsonMatchWarning, match="raised ValueError: busy"):
            results = [compare_json({"x": "a"}, {"x": "bb"}, fields=rule) for _ in range(2)]
        assert [len(result.errors) for result in results] == [1, 0]


def test_an_encoder_that_changes_the_length_of_its_rows():
    with session_registry() as registry:
        registry.encoder("growing", Returns(lambda texts: [[1.0] * len(max(texts, key=len))] * len(texts)))
        assert scored_by("growing") == 1.0
        rule = {"x": {"compare": {"cosine": {"embedding_model": "growing"}}}}
        with pytest.warns(JsonMatchWarning, match="returned rows of 3 numbers, after rows of 1"):
            assert len(compare_json({"x": "abc"}, {"x": "def"}, fields=rule).errors) == 1


# -- executors ---------------------------------------------------------------------------------------------

MANY = [{"a": f"text {n}", "l": [f"x {n}", f"y {n}"]} for n in range(60)]
OTHERS = [{"a": f"test {n}", "l": [f"yy {n}", f"xx {n}"]} for n in range(60)]
OPTIONS = {"metric": "pairwise_f1", "compare": {"string": BY_NAME}, "chunk_size": 7}


def test_a_process_that_does_not_know_the_encoder_says_so(trigrams):
    executor = ProcessPoolExecutor(1, get_context("spawn"))
    with executor, pytest.raises(ConfigurationError, match="the model 'trigrams'"):
        compare_corpus(OTHERS, MANY, executor=executor, **OPTIONS)


# -- the configuration of source 4 -------------------------------------------------------------------------


def test_only_the_strings_without_a_vector_fail():
    def odd(texts):
        return [[float("nan") if text == "bad" else 1.0, float(len(text))] for text in texts]

    with session_registry() as registry:
        registry.encoder("odd", Returns(odd))
        rule = {"compare": {"cosine": {"embedding_model": "odd"}}}
        with pytest.warns(JsonMatchWarning, match="for this string; 1 string has no vector"):
            result = compare_json({"a": "bad", "b": "x"}, {"a": "good", "b": "yy"}, fields={"*": rule})
        assert [(field.path, field.score > 0.9) for field in result.field_results] == [
            ("a", False),
            ("b", True),
        ]
        assert [error.path for error in result.errors] == ["a"]
        with pytest.warns(JsonMatchWarning), pytest.raises(ComparatorError, match="NaN or an infinity"):
            assert_json_match({"a": "bad"}, {"a": "good"}, fields={"*": rule})
