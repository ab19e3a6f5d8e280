"""128 levels of any kind are compared inside a test of pytest, under the recursion limit that Python has by default."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_jsonmatch import JsonMatchError, compare_json
from tests.conftest import session_registry

LEVELS = 128


def nested(wrap, innermost: Any, levels: int = LEVELS):
    for _ in range(levels):
        innermost = wrap(innermost)
    return innermost


# How a value is wrapped once more, and the options under which its containers are compared.
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "objects": (lambda value: {"a": value}, {}),
    "wide objects": (lambda value: {"n": 1, "a": value, "t": "x"}, {}),
    "ordered arrays": (lambda value: [value], {}),
    "unordered arrays": (lambda value: [value], {"arrays": "unordered"}),
    "unordered arrays of two": (lambda value: [value, 0], {"arrays": "unordered"}),
    "accepted objects": (lambda value: {"a": value}, {"accept": {"**.a": [1]}}),
    "accepted arrays": (lambda value: [value], {"accept": {"**[]": {"range": [8, 9]}}}),
    "accepted unordered arrays": (
        lambda value: [value, 0],
        {"arrays": "unordered", "accept": {"**[]": {"optional": True}}},
    ),
    "rules for leaves": (
        lambda value: [value, 0],
        {"arrays": "unordered", "fields": {"**": {"accept": [1], "weight": 2}}},
    ),
}
# Two levels at once.
TWO: dict[str, tuple[Any, dict[str, Any]]] = {
    "keyed arrays": (lambda value: [{"id": 1, "a": value}], {"arrays": {"key": "id"}}),
    "records": (lambda value: [{"id": 1, "a": value}, {"id": 2}], {"arrays": "unordered"}),
    "units": (lambda value: {"a": [value]}, {"metric": "field_match"}),
    "texts": (lambda value: {"a": [value, "x"]}, {"metric": "json_similarity", "arrays": "unordered"}),
    "f1": (lambda value: {"a": [value, "x"]}, {"metric": "pairwise_f1"}),
}
CASES = [
    pytest.param(wrap, options, levels, id=name)
    for kinds, levels in ((KINDS, LEVELS), (TWO, LEVELS // 2))
    for name, (wrap, options) in kinds.items()
]


@pytest.mark.parametrize(("wrap", "options", "levels"), CASES)
def test_128_levels(wrap, options, levels):
    expected, right, wrong = (nested(wrap, leaf, levels) for leaf in ("leaf", "leaf", "fault"))
    assert sys.getrecursionlimit() == 1000
    assert compare_json(right, expected, **options).score == 1.0
    result = compare_json(wrong, expected, **options)
    assert result.score < 1.0
    assert any(field.score < 1.0 for field in result.field_results)
    assert result.to_dict()
    assert compare_json(type(right)(), expected, **options).to_dict()


def depth_of(frame) -> int:
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def frames_a_level(value, wrong, **options) -> int:
    """How many frames deeper the last comparator is called for one more level."""
    depths = []

    def deep(expected, actual, params):
        depths.append(depth_of(sys._getframe()))
        return expected == actual

    with session_registry() as registry:
        registry.comparator("deep", deep)
        for levels in (10, 20):
            expected, actual = nested(value, "leaf", levels), nested(wrong, "fault", levels)
            compare_json(actual, expected, compare={"string": "deep"}, **options)
            depths.append(-1)
    first = max(depths[: depths.index(-1)])
    return (max(depths) - first + 9) // 10


@pytest.mark.parametrize(
    ("wrap", "options", "most"),
    [
        (lambda value: {"a": value}, {}, 2),
        (lambda value: [value], {}, 2),
        (lambda value: [value, 0], {"arrays": "unordered"}, 6),
        (lambda value: {"a": value}, {"accept": {"**.a": [{}, 1]}}, 6),
    ],
    ids=["objects", "ordered arrays", "unordered arrays", "accept"],
)
def test_a_level_takes_few_frames(wrap, options, most):
    assert frames_a_level(wrap, wrap, **options) <= most


def test_a_stack_that_is_nearly_used_up_is_an_error_that_says_so():
    value = nested(lambda value: [value], 1)

    def below(levels):
        return compare_json(value, value) if levels == 0 else below(levels - 1)

    with pytest.raises(JsonMatchError, match="needs more of Python's stack than is left"):
        below(sys.getrecursionlimit() - depth_of(sys._getframe()) - 200)
