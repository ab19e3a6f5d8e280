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

from pytest_jsonmatch.gate.headlines import change_of_runs
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.power import minimum_detectable, sample_of
from pytest_jsonmatch.gate.samples import Row
from pytest_jsonmatch.gate.verdict import DropGate, compare

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
def test_equal_systems_are_seldom_called_worse(gates, kind, n, repeats):
    random = gates.source("short", kind, n, repeats)
    found = [compare(*gates.comparison(kind, n, random, repeats=repeats)) for _ in range(RUNS)]
    assert sum(each.kind == "worse" for each in found) <= at_most(0.05, RUNS)


@pytest.mark.parametrize("kind", ["binary", pytest.param("graded", marks=FULL)])
@pytest.mark.parametrize("size", [5, 10])
def test_cases_of_one_document_are_not_independent(gates, kind, size):
    random = gates.source("short", kind, size)
    named = {str(at): f"document {at // size}" for at in range(12 * size)}
    wrong, covers = {True: 0, False: 0}, {True: 0, False: 0}
    for _ in range(400):
        now, before, mean = gates.clustered(kind, 12, size, random)
        sides = gates.as_run(now.reshape(1, -1)), gates.as_run(before.reshape(1, -1))
        for is_named in (True, False):
            wrong[is_named] += compare(*sides, clusters=named if is_named else None).kind == "worse"
            units = named if is_named else {case: case for case in named}
            rows = [Row(score, 1.0, units[case]) for case, [score] in sides[0].items()]
            found = ratio_interval(rows)
            covers[is_named] += found.low <= mean <= found.high
    assert wrong[True] <= at_most(0.05, 400) < wrong[False]
    assert covers[True] >= at_least(0.95, 400) > covers[False]


@pytest.mark.parametrize(
    ("kind", "shape"), [("binary", "broken"), ("tied", "broken"), ("graded", "even"), ("graded", "broken")]
)
@pytest.mark.parametrize("n", [10, pytest.param(30, marks=FULL), pytest.param(100, marks=FULL)])
def test_either_mode_is_seldom_wrong_at_its_margin(gates, kind, shape, n):
    random = gates.source("short", kind, shape, n)
    fails = passes = 0
    for _ in range(RUNS // 2):
        sides = gates.comparison(kind, n, random, drop=0.05, shape=shape)
        fails += not compare(*sides, DropGate(0.05)).passed
        passes += compare(*sides, DropGate(0.05, mode="non-inferiority")).passed
    assert max(fails, passes) <= at_most(0.05, RUNS // 2)


def test_outcomes_are_judged_as_well_as_by_the_unconditional_test(gates):
    random = gates.source("short")
    least = gates.unconditional(20) - 1e-6
    ours = theirs = 0
    for _ in range(300):
        sides = gates.comparison("binary", 20, random, drop=0.3)
        deltas = gates.deltas_of(sides)
        ours += compare(*sides).kind == "worse"
        theirs += gates.z_of(deltas) >= least
    assert theirs > 150
    assert ours >= theirs - 15


def test_non_inferiority_sees_nearly_as_much_as_students_test(gates):
    random = gates.source("short")
    ours = theirs = 0
    for _ in range(200):
        sides = gates.comparison("graded", 150, random)
        ours += compare(*sides, DropGate(0.02, mode="non-inferiority")).passed
        theirs += gates.t_test(gates.deltas_of(sides), 0.02, "greater")
    assert theirs > 100
    assert ours >= theirs - 20


@pytest.mark.parametrize(
    ("kind", "n"), [("binary", 30), ("ceiling", 30), ("ceiling", 100), ("graded", 10), ("tied", 30)]
)
def test_a_detectable_drop_is_detected(gates, kind, n):
    random = gates.source("short", kind, n)
    found, runs = 0, 0
    for _ in range(4):
        now, before = gates.comparison(kind, n, random)
        drop = minimum_detectable(sample_of(before, again=now), n)
        for _ in range(50):
            sides = gates.comparison(kind, n, random, drop=drop, shape="broken")
            found += compare(*sides).kind == "worse"
            runs += 1
    assert at_least(0.8, runs) - 10 <= found <= at_most(0.8, runs) + 10


@pytest.mark.parametrize("kind", ["binary", "graded", "tied"])
def test_four_cases_can_detect_nothing(gates, kind):
    random = gates.source("short", kind)
    for _ in range(20):
        sides = gates.comparison(kind, 4, random, drop=gates.MEANS[kind])
        assert compare(*sides).kind == "too few"
        assert minimum_detectable(sample_of(sides[1]), 4) is None


@pytest.mark.parametrize(
    "name",
    [
        "5 % zeros, else 0.95 to 1",
        *(
            pytest.param(each, marks=FULL)
            for each in ("uniform", "Beta(8, 2)", "90 % ones, else uniform", "0, 0.5, 1: 1, 4, 95 %")
        ),
    ],
)
@pytest.mark.parametrize("n", [21, 30, 50])
def test_intervals_cover(gates, name, n):
    draw, mean = gates.DISTRIBUTIONS[name]
    random = gates.source("short", name, n)
    intervals = [gates.mean_interval(draw(n, random).tolist()) for _ in range(RUNS // 4)]
    assert sum(each.low <= mean <= each.high for each in intervals) >= at_least(0.95, RUNS // 4)


@pytest.mark.parametrize("n", [10, 30])
def test_intervals_of_ratios_cover(gates, n):
    kind = "sizes vary much, errors grow"
    right, size = gates.leaves(kind, 1_000_000, gates.source("short", kind))
    truth = right.sum() / size.sum()
    random = gates.source("short", kind, n)
    hits = 0
    for _ in range(300):
        right, size = gates.leaves(kind, n, random)
        rows = [Row(float(part), float(whole), str(at)) for at, (part, whole) in enumerate(zip(right, size))]
        found = ratio_interval(rows)
        hits += found.low <= truth <= found.high
    assert hits >= at_least(0.95, 300)


@FULL
def test_all_figures_together_are_seldom_called_worse(gates):
    random = gates.source("short")
    found = 0
    for _ in range(300):
        change = change_of_runs(gates.family(50, 10, random, 0.1), gates.family(50, 10, random, 0.1))
        found += any(kind == "worse" for kind, _ in change.sentences())
    assert found <= at_most(0.05, 300)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.98])
def test_wilson_covers_as_often_as_the_binomial_distribution_says(gates, rate):
    runs = 20_000
    passes = gates.source("short", rate).binomial(30, rate, size=runs).tolist()
    covering = gates.covering(rate, 30)
    assert sum(p in covering for p in passes) / runs == pytest.approx(
        gates.exact_coverage(rate, 30), abs=0.01
    )


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
        "### Equal systems: how often they are called worse, in % (at most 5)",
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
