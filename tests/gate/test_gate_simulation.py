"""A short form of `benchmarks/gates.py`: error rates on systems whose true scores are known.

Each bound is what a rate of 5 % (80 %, 95 %) exceeds once in a thousand times, at so many runs. Seeds are fixed.
After 150 runs a rate of three times the error rate is over its bound in nearly all tests; FULL=1 makes 750.
"""

from __future__ import annotations

import pytest
from scipy.stats import binom

from pytest_jsonmatch.gate.headlines import change_of_runs, contest
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.power import minimum_detectable, sample_of
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import DropGate, compare
from tests.laws import share

RUNS = share(750)
FULL = pytest.mark.full


def at_most(rate: float, runs: int) -> int:
    return int(binom.ppf(0.999, runs, rate))


def at_least(rate: float, runs: int) -> int:
    return int(binom.ppf(0.001, runs, rate))


@pytest.mark.parametrize("kind", ["binary", "graded", "tied"])
@pytest.mark.parametrize(
    ("n", "repeats"),
    [(10, 3), (30, 1), *(pytest.param(*each, marks=FULL) for each in ((10, 1), (30, 3), (100, 1)))],
)
def test_equal_systems_are_seldom_called_worse(gates, kind, n, repeats):
    random = gates.source("short", kind, n, repeats)
    found = [compare(*gates.comparison(kind, n, random, repeats=repeats)) for _ in range(RUNS)]
    assert sum(each.kind == "worse" for each in found) <= at_most(0.05, RUNS)


@pytest.mark.parametrize("sides", [(1, 5), (5, 1)])
def test_one_run_against_five_is_as_safe(gates, sides):
    random = gates.source("short", *sides)
    worse = 0
    for _ in range(RUNS):
        whole = zip(gates.comparison("tied", 10, random, repeats=5), sides, strict=True)
        runs = ({case: scores[:number] for case, scores in side.items()} for side, number in whole)
        worse += compare(*runs).kind == "worse"
    assert worse <= at_most(0.05, RUNS)


@pytest.mark.parametrize("kind", ["binary", pytest.param("graded", marks=FULL)])
@pytest.mark.parametrize("size", [5, 10])
def test_cases_of_one_document_are_not_independent(gates, kind, size):
    random = gates.source("short", kind, size)
    named = {str(at): f"document {at // size}" for at in range(12 * size)}
    wrong, covers = {True: 0, False: 0}, {True: 0, False: 0}
    for _ in range(150):
        now, before, mean = gates.clustered(kind, 12, size, random)
        sides = gates.as_run(now.reshape(1, -1)), gates.as_run(before.reshape(1, -1))
        for is_named in (True, False):
            wrong[is_named] += compare(*sides, clusters=named if is_named else None).kind == "worse"
            units = named if is_named else {case: case for case in named}
            rows = [CaseTerms(score, 1.0, units[case]) for case, [score] in sides[0].items()]
            found = ratio_interval(rows)
            covers[is_named] += found.low <= mean <= found.high
    assert wrong[True] <= at_most(0.05, 150) < wrong[False]
    assert covers[True] >= max(at_least(0.95, 150), covers[False] + 1)


@pytest.mark.parametrize(
    ("kind", "shape"), [("binary", "broken"), ("tied", "broken"), ("graded", "even"), ("graded", "broken")]
)
@pytest.mark.parametrize("n", [10, pytest.param(30, marks=FULL), pytest.param(100, marks=FULL)])
def test_either_mode_is_seldom_wrong_at_its_margin(gates, kind, shape, n):
    random = gates.source("short", kind, shape, n)
    fails = passes = 0
    for _ in range(RUNS):
        sides = gates.comparison(kind, n, random, drop=0.05, shape=shape)
        fails += not compare(*sides, DropGate(0.05)).passed
        passes += compare(*sides, DropGate(0.05, mode="non-inferiority")).passed
    assert max(fails, passes) <= at_most(0.05, RUNS)


@pytest.mark.parametrize(
    ("kind", "n", "drop", "gate"),
    [("binary", 20, 0.3, DropGate()), ("graded", 300, 0.0, DropGate(0.02, mode="non-inferiority"))],
)
def test_as_much_is_seen_as_by_the_usual_tests(gates, kind, n, drop, gate):
    """The exact unconditional test of outcomes; Student's t of others, which does not allow for rare losses."""
    random = gates.source("short")
    least = gates.unconditional(20) - 1e-6
    ours = theirs = 0
    runs = share(350)
    for _ in range(runs):
        sides = gates.comparison(kind, n, random, drop=drop)
        deltas, change = gates.deltas_of(sides), compare(*sides, gate)
        if drop:
            ours, theirs = ours + (change.kind == "worse"), theirs + (gates.z_of(deltas) >= least)
        else:
            ours, theirs = ours + change.passed, theirs + gates.t_test(deltas, 0.02, "greater")
    assert theirs > runs / 2
    assert ours >= theirs - runs * (0.1 if drop else 0.2)


@pytest.mark.parametrize(
    ("kind", "n"), [("binary", 30), ("graded", 10), pytest.param("ceiling", 100, marks=FULL)]
)
def test_a_detectable_drop_is_detected(gates, kind, n):
    random = gates.source("short", kind, n)
    found, runs = 0, 0
    for _ in range(2):
        now, before = gates.comparison(kind, n, random)
        drop = minimum_detectable(sample_of([before, now]), n)
        for _ in range(40):
            sides = gates.comparison(kind, n, random, drop=drop, shape="broken")
            found += compare(*sides).kind == "worse"
            runs += 1
    assert at_least(0.8, runs) - 10 <= found <= at_most(0.8, runs) + 10


OTHERS = ("uniform", "Beta(8, 2)", "90 % ones, else uniform", "0, 0.5, 1: 1, 4, 95 %")


@pytest.mark.parametrize(
    "name", ["5 % zeros, else 0.95 to 1", *(pytest.param(each, marks=FULL) for each in OTHERS)]
)
@pytest.mark.parametrize("n", [21, 50])
def test_intervals_cover(gates, name, n):
    draw, mean = gates.DISTRIBUTIONS[name]
    random = gates.source("short", name, n)
    intervals = [gates.mean_interval(draw(n, random).tolist()) for _ in range(RUNS // 3)]
    assert sum(each.low <= mean <= each.high for each in intervals) >= at_least(0.95, RUNS // 3)


@pytest.mark.parametrize("n", [10, 30])
def test_intervals_of_ratios_cover(gates, n):
    kind = "sizes vary much, errors grow"
    right, size = gates.leaves(kind, 1_000_000, gates.source("short", kind))
    truth = right.sum() / size.sum()
    random = gates.source("short", kind, n)
    hits = 0
    for _ in range(RUNS):
        right, size = gates.leaves(kind, n, random)
        rows = [
            CaseTerms(float(part), float(whole), str(at)) for at, (part, whole) in enumerate(zip(right, size))
        ]
        found = ratio_interval(rows)
        hits += found.low <= truth <= found.high
    assert hits >= at_least(0.95, RUNS)


@FULL
def test_all_statistics_together_are_seldom_called_worse(gates):
    random = gates.source("short")
    found = 0
    for _ in range(300):
        change = change_of_runs(gates.family(50, 10, random, 0.1), gates.family(50, 10, random, 0.1))
        found += "worse" in kinds_of(change)
    assert found <= at_most(0.05, 300)


@FULL
def test_equal_prompts_seldom_get_a_winner(gates):
    random = gates.source("short")
    found, runs = 0, 600
    for _ in range(runs):
        sides = [(name, gates.family(50, 3, random, 0.2)) for name in ("v1", "v2")]
        found += not {"better", "worse"}.isdisjoint(kinds_of(contest(*sides, tests=2).change))
    assert found <= at_most(0.05, runs)


def kinds_of(change):
    return {each.kind for each in (change.scores, change.outcomes, *change.fields.values())}


@pytest.mark.parametrize("n", [5, 10, 30])
def test_the_low_end_of_a_pass_rate_is_seldom_above_it(gates, n):
    ends = [gates.mean_interval([1.0] * passed + [0.0] * (n - passed)).low for passed in range(n + 1)]
    for rate in (0.5, 0.8, 0.9, 0.96, 0.98, 0.998):
        assert sum(binom.pmf(at, n, rate) for at, end in enumerate(ends) if end > rate) <= 0.025


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
