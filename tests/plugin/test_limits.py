"""Answers beyond the limits: the case scores 0 and the run goes on."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import read_results

PYTHON = """\
import json
import sys

import pytest


def nested(levels, inner):
    for _ in range(levels):
        inner = [inner]
    return inner


DEEPEST, TOO_DEEP, TOO_LONG = nested(128, 1), {"a": nested(128, 1)}, 10**4_300


@pytest.mark.parametrize("answer", [DEEPEST, json.dumps(DEEPEST)], ids=["value", "text"])
def test_deepest(assert_json_match, answer):
    assert_json_match(answer, DEEPEST)
    assert_json_match(nested(128, 2), DEEPEST, threshold=0)


@pytest.mark.parametrize("answer", [TOO_DEEP, json.dumps(TOO_DEEP)], ids=["value", "text"])
def test_too_deep(assert_json_match, answer):
    assert_json_match(answer, {"a": 1}, threshold=0)


@pytest.mark.parametrize("answer", [{"a": TOO_LONG}, '{"a": 1' + 4_300 * "0" + "}"], ids=["value", "text"])
def test_too_long(assert_json_match, answer):
    assert_json_match(answer, {"a": 1}, threshold=0)
"""
GOLDEN = """\
threshold: 0
expected: {a: 1}
parametrize: {kind: [right, deep, deep-text, long, long-text]}
input: ${kind}
"""
CONFTEST = """\
import json
import pytest

deep = 1
for _ in range(128):
    deep = [deep]
ANSWERS = {
    "right": {"a": 1},
    "deep": {"a": deep},
    "deep-text": json.dumps({"a": deep}),
    "long": {"a": 10**4_300},
    "long-text": '{"a": 1' + 4_300 * "0" + "}",
}

@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return ANSWERS[jsonmatch_case.input]
"""


def scores(pytester: pytest.Pytester) -> dict[str, float]:
    cases = read_results(pytester.path / "r.jsonl").cases
    return {case.id.rpartition("::")[2]: case.mean("score") for case in cases}


def test_in_assertions(pytester, workers):
    pytester.makepyfile(test_it=PYTHON)
    run = pytester.runpytest("--jsonmatch-json=r.jsonl", *workers)
    run.assert_outcomes(passed=2, failed=4)
    run.stdout.fnmatch_lines(["E * more than 128 levels of arrays and objects*"])
    run.stdout.fnmatch_lines(["E * an integer of more than 4,300 digits*"])
    assert "RecursionError" not in run.stdout.str()
    assert scores(pytester) == {
        "test_deepest[value]": 0.5,
        "test_deepest[text]": 0.5,
        **{f"test_too_{what}[{kind}]": 0.0 for what in ("deep", "long") for kind in ("value", "text")},
    }


def test_in_golden_cases(pytester, workers):
    pytester.path.joinpath("x.golden.yaml").write_text(GOLDEN)
    pytester.makeconftest(CONFTEST)
    run = pytester.runpytest(
        "--jsonmatch-json=r.jsonl", "--jsonmatch-html=r.html", "--jsonmatch-gate=score >= 0.2", *workers
    )
    run.assert_outcomes(passed=1, failed=4)
    run.stdout.fnmatch_lines(["*more than 128 levels*", "score >= 0.2 *passed * 0.20*"])
    assert "RecursionError" not in run.stdout.str()
    assert sorted(scores(pytester).values()) == [0.0, 0.0, 0.0, 0.0, 1.0]
