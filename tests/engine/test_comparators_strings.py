"""levenshtein, jaccard, normalized_text, contains, regex."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import compare_json
from tests.conftest import bound

NAN = float("nan")


def both(name, expected, actual, params=None):
    score = bound(name, **params or {}).score(expected, actual)
    assert bound(name, **params or {}).table([expected], [actual]).tolist() == [[score]]
    return score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("completed sucessfully", "completed successfully", 1 - 1 / 22),
        ("kitten", "sitting", 1 - 3 / 7),
        ("", "", 1.0),
        ("", "abc", 0.0),
        ("abc", "xyz", 0.0),
        ("é", "e\u0301", 0.0),
        ("\ud800a", "\udc00a", 0.5),
        ("a\x00b", "a\x00c", 1 - 1 / 3),
        (1, 1.0, 1.0),
        ("1", 1, 0.0),
        (None, "", 0.0),
        (["a"], ["a"], 1.0),
    ],
)
def test_levenshtein(expected, actual, score):
    assert both("levenshtein", expected, actual) == pytest.approx(score, abs=1e-15)


def test_texts_too_long_for_an_edit_distance_are_refused():
    levenshtein = bound("levenshtein")
    texts = ["x" * 100_001, "y" * 100_001, "z"]
    with pytest.raises(ValueError, match=r"100,001 × 100,001 characters .* 'token_f1' or 'exact'"):
        levenshtein.score(*texts[:2])
    assert levenshtein.table(texts, texts).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert compare_json(texts, texts[1:2], metric="json_similarity", arrays="unordered").score == 1.0
    for expected, actual in ({"a": texts[0]}, {"a": texts[1]}), (texts[:1], texts[1:2]):
        result = compare_json(actual, expected, metric="json_similarity")
        assert (result.score, len(result.errors)) == (0.0, 1)
        assert "'token_f1' or 'exact'" in str(result.errors[0])


@pytest.mark.parametrize("path", ["a", "[]", "[].a"])
def test_what_is_accepted_counts_where_texts_are_too_long(path, monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.engine.comparators.text._MAX_EDIT_CELLS", 100)
    documents = [{"a": value} for value in ("x" * 20, "y" * 20)]
    if path != "a":
        documents = [[each if path == "[].a" else each["a"]] for each in documents]
    options = {"metric": "json_similarity", "arrays": "unordered"}
    result = compare_json(*documents, accept={path: ["x" * 20]}, **options)
    assert (result.score, result.errors) == (1.0, ())
    result = compare_json(*documents, accept={path: ["z" * 20]}, **options)
    assert (result.score, len(result.errors)) == (0.0, path == "a")


def test_one_edit_in_a_long_text_is_no_match():
    assert both("levenshtein", "x" * 100_000, "x" * 99_999 + "y") == pytest.approx(1 - 1e-5, abs=1e-15)


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("the cat", "The  CAT\n", 1.0),
        ("a b c", "a d", 0.25),
        ("a a b", "b a", 1.0),
        ("a", "a", 1.0),
        ("", " ", 1.0),
        ("", "a", 0.0),
        ("a", "b", 0.0),
        (7, 7, 1.0),
        ("7", 7, 0.0),
        (True, 1, 0.0),
    ],
)
def test_jaccard(expected, actual, score):
    assert both("jaccard", expected, actual) == score


def test_jaccard_with_a_tokenizer():
    assert both("jaccard", "abc", "bcd", {"tokenizer": list}) == 0.5


def test_jaccard_of_many_strings_with_common_and_rare_words():
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]
    expected = [f"the {words[n % 5]} {words[n % 3]} w{n % 40} e{n}" for n in range(80)] + [""]
    actual = [f"The {words[n % 4]} w{n % 50} a{n}" for n in range(90)] + [" "]
    jaccard = bound("jaccard").score
    scores = bound("jaccard").table(expected, actual)
    assert scores.tolist() == [[jaccard(e, a) for a in actual] for e in expected]


def test_jaccard_of_strings_that_share_very_many_words():
    expected = [" ".join(f"t{k}" for k in range(600) if (k + n) % 10 == 0) + f" s{n}" for n in range(30)]
    actual = [" ".join(f"t{k}" for k in range(600) if (k * n) % 11 == 1) + f" s{n}" for n in range(30)]
    jaccard = bound("jaccard").score
    scores = bound("jaccard").table(expected, actual)
    assert scores.tolist() == [[jaccard(e, a) for a in actual] for e in expected]


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("José", "JOSE", 1.0),
        ("Straße", "STRASSE", 1.0),
        ("Zürich", "Zurich ", 0.0),
        ("ΟΔΟΣ", "οδος", 1.0),
        ("İstanbul", "istanbul", 1.0),
        (30, "30", 0.0),
        (30, 30.0, 1.0),
        (None, None, 1.0),
        (["ADMIN", {"Name": "José"}], ["admin", {"Name": "jose"}], 1.0),
        ({"Name": "a"}, {"name": "a"}, 0.0),
        (["ADMIN", "USER"], ["user", "admin"], 0.0),
        (NAN, NAN, 0.0),
    ],
)
def test_normalized_text(expected, actual, score):
    assert both("normalized_text", expected, actual) == score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ("cat", "concatenate", 1.0),
        ("Cat", "concatenate", 0.0),
        ("", "x", 1.0),
        (2, [1, 2.0], 1.0),
        (True, [1, 2], 0.0),
        ([2, "a"], ["a", 1, 2], 1.0),
        ([2, "b"], ["a", 1, 2], 0.0),
        ([1], [[1.0], 2], 1.0),
        ([], [], 1.0),
        ({"a": 1}, {"a": 1.0, "b": 2}, 1.0),
        ({"a": None}, {"b": 2}, 0.0),
        ({"a": 1}, [{"a": 1}], 1.0),
        ("1", 1, 0.0),
        (1, "1", 0.0),
        (None, None, 1.0),
        ("a", None, 0.0),
        (NAN, [NAN], 0.0),
    ],
)
def test_contains(expected, actual, score):
    contains = bound("contains")
    assert contains.score(expected, actual) == score
    assert contains.table([expected, {"other": 1}], [actual])[0, 0] == score


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        (r"INV-\d{4}", "INV-2041", 1.0),
        (r"INV-\d{4}", "INV-2041 ", 0.0),
        (r"(?i)yes|ja", "JA", 1.0),
        (r"a+", "a+", 0.0),
        (r"\d+", 42, 0.0),
        (r"\d+", None, 0.0),
        (42, 42.0, 1.0),
        (None, None, 1.0),
        (["a+"], ["a+"], 1.0),
        ("\ud800", "\ud800", 1.0),
    ],
)
def test_regex(expected, actual, score):
    assert bound("regex").score(expected, actual) == score


def test_a_bad_pattern_is_an_error_that_says_where():
    with pytest.raises(ValueError) as caught:
        bound("regex").score("(a", "a")
    assert str(caught.value) == "the pattern '(a' is not a regular expression: missing ) at position 2"


def test_a_pattern_that_takes_too_long_is_an_error(monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.engine.value.matchers._SECONDS", 0.05)
    match = bound("regex").score
    with pytest.raises(TimeoutError) as caught:
        match("(a|aa|aaa)+(b|bb)+(a|aa)+$", "a" * 50 + "b" + "a" * 50 + "!")
    assert str(caught.value) == (
        "the pattern '(a|aa|aaa)+(b|bb)+(a|aa)+$' took more than 0.05 s on a text of 102 characters; "
        "make it simpler"
    )
