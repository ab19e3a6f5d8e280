"""A short form of `benchmarks/gates.py`: error rates on systems whose true scores are known.

Each bound is what a rate of 5 % (80 %, 95 %) exceeds once in a thousand times, at so many runs. Seeds are fixed.
After 1,000 runs a doubled error rate is over its bound 998 times in 1,000.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scipy.stats import binom

from pytest_jsonmatch.gate.intervals import mean_interval, p_mean_below
from pytest_jsonmatch.gate.margin import p_drop_at_most
from pytest_jsonmatch.gate.power import minimum_detectable
from pytest_jsonmatch.gate.sequential import SequentialGate
from pytest_jsonmatch.gate.verdict import compare

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
# The sources that are published as a package come without the benchmarks.
pytestmark = pytest.mark.skipif(
    not (FOLDER / "gates.py").exists(), reason="no benchmarks/gates.py in this tree"
)


RUNS = 1_000
FULL = pytest.mark.full


def at_most(rate: float, runs: int) -> int:
    return int(binom.ppf(0.999, runs, rate))


def at_least(rate: float, runs: int) -> int:
    return int(binom.ppf(0.001, runs, rate))


@pytest.mark.parametrize("kind", ["binary", "graded", "tied"])
@pytest.mark.parametrize(
    ("n", "repeats"),
    [(10, 1), (10, 3), (30, 1), pytest.param(30, 3, marks=FULL), pytest.param(100, 1, marks=FULL)],
)
def test_equal_systems_seldom_fail(gates, kind, n, repeats):
    random = gates.source("short", kind, n, repeats)
    pairs = [gates.comparison(kind, n, random, repeats=repeats) for _ in range(RUNS)]
    assert sum(p_drop_at_most(each.deltas, 0.0) <= 0.05 for each in pairs) <= at_most(0.05, RUNS)


@pytest.mark.parametrize(
    ("kind", "shape"), [("binary", "broken"), ("tied", "broken"), ("graded", "even"), ("graded", "broken")]
)
@pytest.mark.parametrize("n", [10, pytest.param(30, marks=FULL), pytest.param(100, marks=FULL)])
def test_either_mode_is_seldom_wrong_at_its_margin(gates, kind, shape, n):
    random = gates.source("short", kind, shape, n)
    drawn = [gates.comparison(kind, n, random, drop=0.05, shape=shape).deltas for _ in range(RUNS)]
    assert sum(p_drop_at_most(deltas, 0.05) <= 0.05 for deltas in drawn) <= at_most(0.05, RUNS)
    assert sum(p_mean_below(deltas, -0.05, -1.0) <= 0.05 for deltas in drawn) <= at_most(0.05, RUNS)


@pytest.mark.parametrize(
    ("kind", "n", "drop"), [("binary", 30, 0.3), ("graded", 100, 0.025), ("tied", 30, 0.2)]
)
def test_the_gate_has_the_power_of_the_exact_test(gates, kind, n, drop):
    random = gates.source("short", kind, n)
    drawn = [gates.comparison(kind, n, random, drop=drop).deltas for _ in range(60)]
    ours = sum(p_drop_at_most(deltas, 0.0) <= 0.05 for deltas in drawn)
    exact = sum(gates.reference(deltas) <= 0.05 for deltas in drawn)
    assert abs(ours - exact) <= 3
    assert exact > 30


@pytest.mark.parametrize(("kind", "n"), [("binary", 30), ("binary", 100), ("graded", 10), ("tied", 30)])
def test_a_detectable_drop_is_detected(gates, kind, n):
    random = gates.source("short", kind, n)
    found, runs = 0, 0
    for _ in range(4):
        pilot = minimum_detectable(gates.comparison(kind, n, random))
        for _ in range(50):
            deltas = gates.comparison(kind, n, random, drop=pilot.drop, shape=pilot.shape).deltas
            found += p_drop_at_most(deltas, 0.0) <= 0.05
            runs += 1
    assert at_least(0.8, runs) - 10 <= found <= at_most(0.8, runs) + 10


@pytest.mark.parametrize("kind", ["binary", "graded", "tied"])
def test_four_cases_can_detect_nothing(gates, kind):
    random = gates.source("short", kind)
    assert {minimum_detectable(gates.comparison(kind, 4, random)).drop for _ in range(5)} == {None}
    for _ in range(20):
        assert p_drop_at_most(gates.comparison(kind, 4, random, drop=gates.MEANS[kind]).deltas, 0.0) > 0.05


@FULL
@pytest.mark.parametrize(
    "name",
    ["uniform", "Beta(8, 2)", "90 % ones, else uniform", "98 % ones, else uniform", "0, 0.5, 1: 1, 4, 95 %"],
)
@pytest.mark.parametrize("n", [10, 30])
def test_intervals_cover(gates, name, n):
    draw, mean = gates.DISTRIBUTIONS[name]
    random = gates.source("short", name, n)
    intervals = [mean_interval(draw(n, random).tolist()) for _ in range(RUNS)]
    assert sum(each.low <= mean <= each.high for each in intervals) >= at_least(0.95, RUNS)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.98])
def test_wilson_covers_as_often_as_the_binomial_distribution_says(gates, rate):
    runs = 20_000
    passes = gates.source("short", rate).binomial(30, rate, size=runs).tolist()
    covering = gates.covering(rate, 30)
    assert sum(p in covering for p in passes) / runs == pytest.approx(
        gates.exact_coverage(rate, 30), abs=0.01
    )


@FULL
@pytest.mark.parametrize("kind", ["binary", "graded", "tied"])
@pytest.mark.parametrize("max_drop", [0.0, 0.05])
def test_looking_after_each_case_does_no_harm(gates, kind, max_drop):
    random = gates.source("short", kind, max_drop)
    wrong = [0, 0]
    for _ in range(RUNS):
        gate = SequentialGate(60, max_drop)
        highest = [0.0, 0.0]
        for delta in gates.comparison(kind, 60, random, drop=max_drop).deltas:
            gate.add(delta)
            highest = [max(highest[0], gate.e_drop), max(highest[1], gate.e_no_drop)]
        wrong = [count + (wealth >= 20) for count, wealth in zip(wrong, highest)]
    assert max(wrong) <= at_most(0.05, RUNS)


def test_the_verdict_is_that_of_the_tests(gates):
    random = gates.source("short")
    for _ in range(6):
        pairs = gates.comparison("tied", 12, random, drop=0.3)
        now, before = (
            {case: [score] for case, score in zip(pairs.cases, side)}
            for side in (pairs.current, pairs.baseline)
        )
        verdict = compare(now, before, max_drop=0.1)
        assert verdict.passed == (p_drop_at_most(pairs.deltas, 0.1) > 0.05)
        verdict = compare(now, before, max_drop=0.4, mode="non-inferiority")
        assert verdict.passed == (p_mean_below(pairs.deltas, -0.4, -1.0) <= 0.05)


def test_the_command_prints_its_tables():
    done = subprocess.run(
        [sys.executable, str(FOLDER / "gates.py"), "equal", "wilson", "--runs", "2"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=True,
    )
    assert [line for line in done.stdout.splitlines() if line.startswith("###")] == [
        "### Equal systems: how often the regression gate fails, in % (at most 5)",
        "### Wilson's interval of a pass rate at 95 %: simulated coverage / exact coverage, in %",
    ]


def test_the_command_writes_its_tables_into_a_document(gates, tmp_path, capsys):
    document = tmp_path / "gates.md"
    document.write_text("Before\n\n<!-- table: equal -->\nold\n<!-- end -->\n\nAfter\n", encoding="utf-8")
    assert gates.main(["equal", "--runs", "1", "--write", str(document)]) == 0
    lines = document.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("Before", "After")
    assert lines[4] == "| scores            | n = 10 | n = 30 | n = 100 | n = 300 |"
    assert lines[-5:-1] == ["1 runs a cell.", "", "<!-- end -->", ""]
    assert "old" not in lines
    assert capsys.readouterr().out.count("\n|") == 8
