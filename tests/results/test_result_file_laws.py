"""Result files: a member of a wrong type is an error that names file, line and member, or does no harm."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from pytest_jsonmatch import Comparison, ConfigurationError, RunResult, compare_json
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.results.file import from_text, to_text
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
