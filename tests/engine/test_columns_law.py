"""Arrays big enough to be compared by column score as their pairs do one by one."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from pytest_jsonmatch import compare_json
from tests.fuzz.comparators import VARIANTS, as_rule
from tests.laws import law

WORDS = [
    "red",
    "blue",
    "car",
    "bus",
    "Straße",
    "STRASSE",
    "é",
    "e\u0301",
    "12",
    "12.5",
    "2024-01-31",
    "31 Jan 2024",
]
NUMBERS = [0, 1, 2, 2.5, 2.5001, 100, 101, -7, 2**53, 2**53 + 1, 10**400, 1e300, 1e-13]
COLUMNS = {
    "exact": WORDS + NUMBERS,
    "binary": WORDS + NUMBERS,
    "levenshtein": WORDS,
    "jaccard": WORDS,
    "normalized_text": WORDS,
    "contains": WORDS,
    "date": WORDS,
    "amount": ["5 EUR", "€5", "5", "$5", "1,234.5", "1.234,5", "1,234", 5, 1234.5, "5 kg", *WORDS[-4:]],
    "identifier": ["0-306-40615-2", "9780306406157", "080442957X", "x", *WORDS[:3]],
    "phone": ["+49 30 123456", "+4930123456", "030 123456", *WORDS[:3]],
    "numeric": NUMBERS + WORDS[-4:],
    "relative": NUMBERS,
    "numeric rel": NUMBERS,
    "threshold": NUMBERS,
    "oneof": WORDS + NUMBERS,
}
COLUMNS = {key: COLUMNS.get(key, WORDS + NUMBERS) for key in [*VARIANTS, *COLUMNS]}
SPECS = {
    "numeric rel": {"numeric": {"tolerance": {"rel": 0.02}}},
    "threshold": {"threshold": {"threshold": 3, "difference_penalty_weighting": 2}},
    "identifier": {"identifier": {"kind": "isbn"}},
    "oneof": {"oneof": {"groups": [["red", "blue", 1], ["car", "bus", 2.5]]}},
}


def side(rng, values, size):
    """Objects of two columns and a third that only some have; strings are two words, so that they are half alike."""

    def one():
        value = rng.choice(values)
        other = rng.choice(values)
        return f"{value} {other}" if isinstance(value, str) and isinstance(other, str) else value

    return [
        {
            "v": one(),
            "w": rng.choice(values),
            **({"n": rng.choice([1, 2, None])} if rng.random() < 0.7 else {}),
        }
        for _ in range(size)
    ]


@law(st.integers(0, 2**32), each=COLUMNS, examples=5)
def test_arrays_by_column_score_as_pairs_one_by_one(comparator, seed):
    rng, explicit = random.Random(seed), (len(comparator) + seed) % 2
    expected, actual = side(rng, COLUMNS[comparator], 38), side(rng, COLUMNS[comparator], 34)
    spec = SPECS.get(comparator) or as_rule(comparator)
    rule = {"x-eval-compare": spec} if explicit else {}
    items = {"type": "object", "properties": {"v": rule, "w": rule, "n": {}}}
    options = {"metric": "leaf_f1"} if explicit else {"metric": "leaf_f1", "compare": spec}
    schema = {"type": "array", "items": items, "x-eval-align": {"match_by": "hungarian"}}
    result = compare_json(actual, expected, schema=schema, **options)

    alone = [[compare_json(a, e, schema=items, **options) for a in actual] for e in expected]
    pairs, equal_elements = set(), 0
    for field in result.field_results:
        if field.expected_path and field.actual_path:
            i, j = (int(path[1 : path.index("]")]) for path in (field.expected_path, field.actual_path))
            pairs.add((i, j))
            (same,) = [one for one in alone[i][j].field_results if one.path == field.path[3:]]
            assert (field.score, field.status) == (pytest.approx(same.score, abs=1e-12), same.status)
    # Equal elements are paired first; the rest is worth what the best assignment of single numbers is.
    free_actual = list(range(len(actual)))
    free_expected = []
    for i, value in enumerate(expected):
        equal_element = next((j for j in free_actual if typed(actual[j]) == typed(value)), None)
        if equal_element is None:
            free_expected.append(i)
        else:
            free_actual.remove(equal_element)
            equal_elements += alone[i][equal_element].f1
    worth = [[alone[i][j].f1 for j in free_actual] for i in free_expected]
    best = sum(worth[i][j] for i, j in zip(*linear_sum_assignment(worth, maximize=True), strict=True))
    total = math.fsum(alone[i][j].f1 for i, j in pairs)
    assert total == pytest.approx(equal_elements + best, abs=1e-9)


def typed(value):
    return sorted(
        (key, type(item) in {int, float}, item) for key, item in value.items() if item is not None
    ), [key for key, item in value.items() if item is None]
