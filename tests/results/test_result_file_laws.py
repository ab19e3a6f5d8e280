"""Laws of results: files are read back or refused with file, line and member; sums are rounded once."""

from __future__ import annotations

import copy
import json
import math
import pickle
from contextlib import suppress
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from pytest_jsonmatch import Comparison, ConfigurationError, RunResult, compare_json
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.results.file import from_text, to_text
from pytest_jsonmatch.results.totals import ExactSum
from tests.laws import law


def _comparison(actual: object, expected: object) -> Comparison:
    result = compare_json(actual, expected)
    return Comparison.of(result, id="a#1", nodeid="a", threshold={"score": 1.0}, passed=False, tags={"n": 1})


RUNS = (
    CaseRun(1, passed=False, comparisons=(_comparison({"x": 1, "y": [1]}, {"x": 2, "y": [1, 2]}),)),
    CaseRun(2, passed=False, error="the producer raised"),
)
TEXT = to_text(
    RunResult.of_cases((Case("a", RUNS, of=2, min_pass_rate=0.5, tags={"source": "phone"}),), collected=1)
)
LINES = [json.loads(line) for line in TEXT.splitlines()]
VALUES = [
    None,
    True,
    0,
    -1,
    2,
    1.5,
    10**400,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    ["x"],
    [[]],
    {},
    {"x": 1},
    {"\ud83d": 1},
]


def places(value: Any, *place: str | int) -> list[tuple[str | int, ...]]:
    """Return the places of all members and elements."""
    members = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    return [place, *(each for name, member in members for each in places(member, *place, name))]


PLACES = [(number, *place) for number, line in enumerate(LINES) for place in places(line) if place]


@law(st.sampled_from(PLACES), st.sampled_from(VALUES), st.booleans(), examples=300)
def test_a_result_file_with_a_wrong_value_is_read_or_refused(place, value, has_half_a_character):
    lines = json.loads(json.dumps(LINES))
    if has_half_a_character:
        lines[place[0]]["\ud800"] = 1
    *around, last = place
    holder = lines
    for step in around:
        holder = holder[step]
    holder[last] = value
    with suppress(ConfigurationError):
        to_text(from_text("\n".join(map(json.dumps, lines)), "x.jsonl"))


# -- what is written is read back -----------------------------------------------------------------------------

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
records = st.dictionaries(st.text(max_size=3), leaves | st.lists(leaves, max_size=2), max_size=3)


@st.composite
def comparisons(draw):
    metric = draw(st.sampled_from(["field_match", "json_similarity", "pairwise_f1"]))
    result = compare_json(draw(records), draw(records), metric=metric)
    name = draw(st.text(min_size=1, max_size=5))
    return Comparison.of(
        result,
        id=name,
        nodeid=f"n::{name}",
        threshold={"score": 0.5},
        passed=draw(st.booleans()),
        params=draw(st.sampled_from([(), ("é",)])),
    )


RUNS_OF_CASES = st.builds(
    CaseRun,
    st.integers(1, 9),
    st.booleans(),
    st.lists(comparisons(), max_size=2).map(tuple),
    st.sampled_from(["", "x"]),
)
cases = st.builds(
    Case,
    st.text(max_size=9),
    st.lists(RUNS_OF_CASES, min_size=1, max_size=3).map(tuple),
    st.integers(1, 9),
    st.none() | st.floats(0, 1),
)
results = st.builds(
    RunResult.of_cases,
    st.lists(cases, max_size=3),
    created=st.just("2026-11-21T12:00:00+00:00"),
    commit=st.text(max_size=4),
    versions=st.just({"python": "3.12.1"}),
    collected=st.none() | st.integers(0, 100),
    narrowed=st.sampled_from([(), ("-k", "node ids")]),
)


@law(results)
def test_what_is_written_is_read_back(result):
    text = to_text(result)
    assert text.isascii()
    assert from_text(text, "x.json") == result
    assert to_text(from_text(text, "x.json")) == text


# -- sums --------------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.floats(-1e12, 1e12) | st.sampled_from([0.1, 1e-300, 1e16, 5e-324]), max_size=20)


def exact(numbers: list[float]) -> ExactSum:
    made = ExactSum()
    made.extend(numbers)
    return made


@law(NUMBERS, NUMBERS, NUMBERS)
def test_a_sum_is_rounded_once(one, other, third):
    total = exact(one)
    total.merge(pickle.loads(pickle.dumps(exact(other))))
    total.merge(copy.copy(exact(third)))
    assert total.value == float(sum(map(Fraction, [*one, *other, *third]), Fraction(0)))


def test_a_long_sum_takes_little_room():
    total = ExactSum()
    for number in range(50_000):
        total.extend((number / 7,))
    assert len(pickle.dumps(total)) < 200
    assert total.value == math.fsum(number / 7 for number in range(50_000))
