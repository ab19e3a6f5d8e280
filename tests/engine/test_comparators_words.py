"""token_f1, partial_ratio, token_sort_ratio, token_set_ratio: by words and parts of texts."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from pytest_jsonmatch import compare_json

RATIOS = ["partial_ratio", "token_sort_ratio", "token_set_ratio"]


def score(compare, expected, actual):
    """The score of two values, which must also be that of the only element of two unordered arrays."""
    alone = compare_json({"v": actual}, {"v": expected}, fields={"v": {"compare": compare}})
    pair = compare_json(
        [actual], [expected], arrays="unordered", fields={"[]": {"compare": compare}}, metric="leaf_f1"
    )
    assert pair.score == pytest.approx(alone.score, abs=1e-12)
    return alone.score


@pytest.mark.parametrize(
    ("expected", "actual", "required"),
    [
        ("The cat sat on the mat.", "a cat sat; on a mat", 1.0),
        ("New York", "york", 2 / 3),
        ("so so good", "so good good", 2 / 3),
        ("so so good", "so good", 4 / 5),
        ("don't", "dont", 1.0),
        ("Acme Inc.", "Globex", 0.0),
        ("the", "...", 1.0),
        ("the", "x", 0.0),
        ("", "", 1.0),
        (1, 1.0, 1.0),
        ("1", 1, 0.0),
        (None, "", 0.0),
    ],
)
def test_token_f1_is_that_of_squad(expected, actual, required):
    assert score("token_f1", expected, actual) == pytest.approx(required, abs=1e-12)


@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear"),
        ("Acme", "Acme Incorporated, Delaware"),
        ("Münster", "Munster"),
        ("", "x"),
    ],
)
def test_ratios_are_rapidfuzz_s(name, expected, actual):
    assert score(name, expected, actual) == pytest.approx(getattr(fuzz, name)(expected, actual) / 100)


@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.parametrize(
    ("expected", "actual", "required"), [("", "", 1.0), ("!", "!", 1.0), (2, 2, 1.0), ("a", ["a"], 0.0)]
)
def test_equal_values_are_one_under_every_ratio(name, expected, actual, required):
    assert score(name, expected, actual) == required


@pytest.mark.parametrize("name", [*RATIOS, "token_f1"])
def test_many_texts_are_paired_by_their_best_partners(name):
    names = [f"{first} {last}" for first in ("Ada", "Grace", "Edsger") for last in ("Ma", "Ox", "Li", "Ko")]
    turned = [" ".join(reversed(name.split())) for name in names]
    result = compare_json(turned[::-1], names, arrays="unordered", fields={"[]": {"compare": name}})
    assert {pair[:2] for pair in result.alignments[0].pairs} == {(at, 11 - at) for at in range(12)}
