"""Flat records in a corpus: the numbers have to be those of `compare_json`."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    JsonMatchError,
    JsonMatchWarning,
    compare_corpus,
    compare_json,
)
from tests.conftest import session_registry
from tests.laws import law

PLAIN: list[Any] = ["", "a", "A", " a", "Ann", "anne", "12", 0, 1, 2, 1.0, 2.5, 100, 101, True, False, None]
VALUES: list[Any] = [
    *(*PLAIN, "nan", "é", "e\u0301", "2024-01-02", -0.0, 1e300, 5e-324),
    *(2**53, 2**53 + 1, 2**70, 10**30, Decimal("1.5")),
]
ODD_VALUES: list[Any] = [*VALUES, math.nan, math.inf, -math.inf, [], {}, [1], {"a": 1}]
KEYS = ["a", "b", "c", "d", "e f", ""]


def pair(rng: random.Random, *, odd: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    values, others = (VALUES, ODD_VALUES) if odd else (PLAIN, PLAIN)
    gold = {key: rng.choice(values) for key in rng.sample(KEYS, rng.randint(0, len(KEYS)))}
    kept = {key: value for key, value in gold.items() if rng.random() < 0.8}
    changed = {key: rng.choice(others) for key in KEYS if rng.random() < 0.2}
    items = list({**kept, **changed}.items())
    rng.shuffle(items)
    return gold, dict(items)


RULES: list[dict[str, Any]] = [
    *(
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": ["number", "null"]},
        {"enum": ["a", "A", 1, None]},
    ),
    *({"x-eval-compare": each} for each in ("exact", "levenshtein", "first_letter")),
    {"x-eval-compare": {"numeric": {"tolerance": {"rel": 0.1}}}},
    {"x-eval-compare": {"oneof": {"values": ["a", 1]}}},
    {"x-eval-compare": "jaccard", "x-eval-transform": ["lowercase", "strip"]},
    {"x-eval-transform": ["strip", {"type_convert": {"to": "number"}}]},
    *({"x-eval-transform": ["shout"]}, {"x-eval-skip": True}, {"x-eval-weight": 0.3}, {"x-eval-weight": 0}),
    {"anyOf": [{"type": "string", "x-eval-compare": "levenshtein"}, {"type": "number", "x-eval-skip": True}]},
]


def schema(rng: random.Random) -> dict[str, Any] | None:
    if rng.random() < 0.3:
        return None
    # Mostly few rules: many records without any that is out of the ordinary are counted the quickest way.
    rules = rng.sample(RULES, rng.choice([1, 2, len(RULES)]))
    listed = {key: rng.choice(rules) for key in KEYS if rng.random() < 0.97}
    return {"type": "object", "properties": listed, **rng.choice([{}, {"additionalProperties": True}])}


OPTIONS: list[dict[str, Any]] = [
    *({}, {}, {}, {"transform": ["lowercase"]}, {"extra": "ignore"}, {"leaf_threshold": 0.5}),
    *({"nulls": "absent"}, {"reduce": "ratio"}),
    {"fields": {"a": {"compare": "levenshtein"}, "*": {"transform": ["casefold"]}}},
    {"fields": {"b": {"weight": 2}}},
    {"compare": {"string": "levenshtein", "number": "relative"}},
    {"compare": {"string": "first_letter"}},
]
METRICS = ["field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1"]


@contextmanager
def names_of_rules():
    """Know the names that rules have; those that are drawn at random may match nothing."""
    with session_registry() as names, warnings.catch_warnings():
        names.comparator(
            "first_letter", lambda expected, actual, params: str(expected)[:1] == str(actual)[:1]
        )
        names.transform("shout", lambda value: value.upper() if isinstance(value, str) else value)
        warnings.simplefilter("ignore", JsonMatchWarning)
        yield


@law(st.integers(0, 2**32), examples=500, within=names_of_rules)
def test_statistics_are_those_of_single_comparisons(seed):
    rng = random.Random(seed)
    metric, rules, options = rng.choice(METRICS), schema(rng), rng.choice(OPTIONS)
    gold, extracted, results = [], [], []
    odd = rng.random() < 0.2
    while len(gold) < 12:
        one, other = pair(rng, odd=odd or rng.random() < 0.1)
        try:
            results.append(compare_json(other, one, metric=metric, schema=rules, **options))
        except JsonMatchError:
            # (What is refused has tests of its own.)
            if rng.random() < 0.01:
                return
            continue
        gold.append(one)
        extracted.append(other)
    size = rng.choice([1, 5, 100])
    run = compare_corpus(extracted, gold, schema=rules, metric=metric, chunk_size=size, **options)
    for kept, result in zip(run.records, results, strict=True):
        for statistic in ("precision", "recall", "f1", "score", "counts"):
            assert getattr(kept, statistic) == getattr(result, statistic), statistic
        one, other = ([repr(each.to_dict()) for each in of.field_results] for of in (kept, result))
        assert one == other
    fields: dict[str, Any] = {}
    for result in results:
        for path, each in result.all_fields.items():
            fields[path] = fields[path].merge(each) if path in fields else each
    every = [each for result in results for each in result.field_results]
    skipped = Counter(each.path for each in every if each.status == "skipped")
    assert {path: each.skipped for path, each in fields.items() if each.skipped} == skipped
    assert run.all_fields.keys() == fields.keys()
    assert list(run.per_field) == [path for path in run.all_fields if fields[path].total]
    for path, each in fields.items():
        assert run.all_fields[path].to_list() == pytest.approx(each.to_list(), abs=1e-12), path
    assert run.total_errors == sum(len(result.errors) for result in results)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**25, [1], {"x": 1}, Decimal("1.5")])
def test_answers_with_values_out_of_the_ordinary(value):
    result = compare_corpus([{"a": 1, "b": value}, {"a": 1, "b": 2}, {"a": value}], [{"a": 1, "b": 2}] * 3)
    assert (result.total_matches, result.per_field["a"].matches, result.per_field["b"].matches) == (3, 2, 1)


def test_what_the_caller_changes_later_is_not_seen():
    gold, extracted = [{"a": 1}], [{"a": 2}]
    result = compare_corpus(extracted, gold)
    gold[0]["a"] = extracted[0]["a"] = 3
    (field,) = result.records[0].field_results
    assert (field.expected, field.actual, field.status) == (1, 2, "mismatch")
