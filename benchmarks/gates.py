"""Measure how often the gates are wrong, on systems whose true scores are known.

python benchmarks/gates.py [TABLE ...] [--runs N] [--write FILE]

TABLE is one or more of: equal, margin, power, detectable, intervals, wilson, sequential, kappa; default:
all. Every cell of a table is made of N simulated comparisons, each with its own cases and scores, from a
fixed seed. With --write they are put into a document (docs/statistics.md) too, between
`<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import re
import statistics
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tables
from scipy.stats import binom, binomtest

from pytest_jsonmatch.gate import intervals
from pytest_jsonmatch.gate.agreement import Agreement
from pytest_jsonmatch.gate.intervals import p_mean_below, wilson
from pytest_jsonmatch.gate.margin import p_drop_at_most
from pytest_jsonmatch.gate.power import minimum_detectable
from pytest_jsonmatch.gate.samples import pair_cases
from pytest_jsonmatch.gate.sequential import SequentialGate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.gate.samples import Pairs

SIZES = (10, 30, 100, 300)
KINDS = ("binary", "graded", "tied")
ALPHA = 0.05
# The mean score of the case population of each kind.
MEANS = {"binary": 0.8, "graded": 0.8, "tied": 0.955}

Random = np.random.RandomState


def source(*name: object) -> Random:
    """A generator of its own for each cell, so that cells can be run one by one."""
    return Random(zlib.crc32(repr(name).encode()))


def qualities(kind: str, n: int, random: Random) -> np.ndarray:
    """How good a system is at each case. Cases differ: some are easy, some are hard."""
    if kind == "tied":
        # Seven in ten are always right.
        return np.where(random.random_sample(n) < 0.7, 1.0, 0.8)
    return random.beta(8, 2, n)


def scores(kind: str, quality: np.ndarray, random: Random) -> np.ndarray:
    """One score for each case: of `binary` 0 or 1, of `tied` 0, 0.5 or 1, of `graded` any number between."""
    if kind == "binary":
        return (random.random_sample(len(quality)) < quality).astype(float)
    if kind == "tied":
        chance = random.random_sample(len(quality))
        right, half = quality, quality + (1 - quality) / 2
        return np.where(chance < right, 1.0, np.where(chance < half, 0.5, 0.0))
    return random.beta(20 * quality, 20 * (1 - quality) + 1e-9)


def shape_of(kind: str) -> str:
    return "even" if kind == "graded" else "broken"


def largest(kind: str, shape: str) -> float:
    """The largest drop of the population's mean in this shape."""
    return MEANS[kind] - 0.25 if shape == "alike" else MEANS[kind]


def comparison(
    kind: str, n: int, random: Random, *, repeats: int = 1, drop: float = 0.0, shape: str | None = None
) -> Pairs:
    """Two runs of systems that are equal but for a true drop of the mean.

    `broken`: a case scores 0 with a probability. `alike` (for tied scores): it scores 0 or 0.5. `even`: every
    case scores less by the drop. `hidden`: all cases lose 0.02 more than it, and one in twenty wins that back
    (the baseline was 0.4 too low there).
    """
    quality = qualities(kind, n, random)
    shape = shape or shape_of(kind)
    broken = random.random_sample(n) < drop / largest(kind, shape)
    lucky = random.random_sample(n) < 0.05
    baseline, current = [], []
    for _ in range(repeats):
        before = scores(kind, quality, random)
        baseline.append(before - 0.4 * lucky if shape == "hidden" else before)
        now = scores(kind, quality, random)
        if shape == "broken":
            now = np.where(broken, 0.0, now)
        elif shape == "alike":
            now = np.where(broken, random.choice([0.0, 0.5], n), now)
        elif shape == "even":
            now = now - drop
        else:
            now = now - drop - 0.02
        current.append(now)
    return paired(np.array(current), np.array(baseline))


def paired(current: np.ndarray, baseline: np.ndarray) -> Pairs:
    """The road that plain mappings take; a graded score that a drop takes out of [0, 1] is put at its end."""
    names = [str(case) for case in range(current.shape[1])]
    sides = (
        {name: column.tolist() for name, column in zip(names, np.clip(side, 0.0, 1.0).T)}
        for side in (current, baseline)
    )
    return pair_cases(*sides)


def gate_fails(deltas: Sequence[float], drop: float) -> bool:
    """Tell if mode `regression` fails: never where the mean is above the margin (p is above a half there)."""
    return math.fsum(deltas) < -drop * len(deltas) and p_drop_at_most(deltas, drop) <= ALPHA


def gate_passes(deltas: Sequence[float], drop: float) -> bool:
    """Tell if mode `non-inferiority` passes: never where the mean is below the margin."""
    return math.fsum(deltas) > -drop * len(deltas) and p_mean_below(deltas, -drop, -1.0) <= ALPHA


def share(count: float, runs: int) -> str:
    return f"{100 * count / runs:.1f}"


def title(text: str) -> None:
    print(f"\n### {text}\n", flush=True)


def equal(runs: int) -> None:
    title("Equal systems: how often the regression gate fails, in % (at most 5)")
    rows = []
    for kind in KINDS:
        for repeats in (1, 3):
            row = [f"{kind}, {repeats} repeat{'s' if repeats > 1 else ''}"]
            for n in SIZES:
                random = source("equal", kind, repeats, n)
                deltas = (comparison(kind, n, random, repeats=repeats).deltas for _ in range(runs))
                row.append(share(sum(gate_fails(each, 0.0) for each in deltas), runs))
            rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in SIZES), ""], rows))


def margin(runs: int) -> None:
    title("True drop exactly max_drop: how often the gate is wrong, in % (at most 5)")
    rows = []
    shapes = [
        ("binary", "broken"),
        ("tied", "broken"),
        ("graded", "even"),
        ("graded", "broken"),
        ("graded", "hidden"),
    ]
    for drop in (0.02, 0.1):
        for kind, shape in shapes:
            fails: list[str] = []
            passes: list[str] = []
            for n in SIZES:
                random = source("margin", kind, shape, drop, n)
                wrong = [0, 0]
                for _ in range(runs):
                    deltas = comparison(kind, n, random, drop=drop, shape=shape).deltas
                    wrong[0] += gate_fails(deltas, drop)
                    wrong[1] += gate_passes(deltas, drop)
                fails.append(share(wrong[0], runs))
                passes.append(share(wrong[1], runs))
            rows.append([f"{kind}, {shape}, {drop}", *fails, *passes, ""])
    header = ["scores, drop", *(f"fails, {n}" for n in SIZES), *(f"passes, {n}" for n in SIZES), ""]
    print(tables.render(header, rows))
    print("\nfails: mode `regression`; passes: mode `non-inferiority`.")


def reference(deltas: Sequence[float]) -> float:
    """The exact sign-flip p-value, made in another way: the distribution of the sum by Fourier transform."""
    steps = np.rint(np.array(deltas) * 500)
    total, steps = steps.sum(), np.abs(steps[steps != 0])
    if not len(steps):
        return 1.0
    if set(steps) == {500.0}:
        lost = round((len(steps) - total / 500) / 2)
        return float(binomtest(lost, len(steps), alternative="greater").pvalue)
    size = 1 << math.ceil(math.log2(2 * steps.sum() + 2))
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    sums = np.arange(size)
    counts, values = np.unique(steps, return_counts=True)[::-1]
    spectrum = np.ones(len(angles))
    for value, count in zip(values, counts):
        spectrum *= np.cos(angles * value) ** count
    chances = np.fft.irfft(spectrum, size)
    signed = np.where(sums < size / 2, sums, sums - size)
    return float(chances[signed <= total].sum())


def power(runs: int) -> None:
    title("True drops: how often the regression gate fails, and the exact test rejects, in %")
    rows = []
    factors = {"binary": 1.8, "graded": 0.3, "tied": 1.1}
    for kind in KINDS:
        row = [kind]
        for n in SIZES:
            drop = min(
                0.75,
                factors[kind] / (n if kind != "graded" else math.sqrt(n)) * (4 if kind != "graded" else 1),
            )
            random = source("power", kind, n)
            found = [0, 0]
            for _ in range(runs):
                deltas = comparison(kind, n, random, drop=drop).deltas
                found[0] += gate_fails(deltas, 0.0)
                found[1] += reference(deltas) <= ALPHA + 1e-9
            row.append(f"{share(found[0], runs)} / {share(found[1], runs)} ({drop:.3f})")
        rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in SIZES), ""], rows))
    print("\nThe gate / the exact test (the true drop).")


SHAPES = (
    ("binary", "broken"),
    ("graded", "even"),
    ("graded", "broken"),
    ("tied", "alike"),
    ("tied", "broken"),
)


def detectable(runs: int) -> None:
    title("The minimum detectable drop: how often a drop of that size is detected, in % (80 promised)")
    rows = []
    pilots = max(4, runs // 20)
    for kind, shape in SHAPES:
        row = [f"{kind}, {shape}"]
        for n in (4, *SIZES):
            random = source("detectable", kind, shape, n)
            printed: list[float] = []
            found = 0
            for _ in range(pilots):
                pilot = minimum_detectable(comparison(kind, n, random))
                drop = pilot.broken if shape == "broken" else pilot.usual if pilot.shape == shape else None
                if drop is None or drop > largest(kind, shape):
                    continue
                printed.append(drop)
                for _ in range(runs // pilots):
                    deltas = comparison(kind, n, random, drop=drop, shape=shape).deltas
                    found += gate_fails(deltas, 0.0)
            if printed:
                none = 100 * (pilots - len(printed)) / pilots
                said = f"; none: {none:.0f}" if none else ""
                middle = f"{statistics.median(printed):.3f}"
                row.append(f"{share(found, len(printed) * (runs // pilots))} ({middle}{said})")
            else:
                # Nothing is printed: is it true that not even the largest drop is detected?
                deltas_of = (
                    comparison(kind, n, random, drop=largest(kind, shape), shape=shape).deltas
                    for _ in range(runs)
                )
                found = sum(gate_fails(deltas, 0.0) for deltas in deltas_of)
                row.append(f"none (largest: {share(found, runs)})")
        rows.append([*row, ""])
    print(tables.render(["scores, drop", *(f"n = {n}" for n in (4, *SIZES)), ""], rows))
    print('\nDetected (the median of what is printed; in how many % of comparisons it is "none at this n").')


ONES = (0.5, 0.8, 0.9, 0.95, 0.98)


def _ones(ones: float) -> Callable[[int, Random], np.ndarray]:
    return lambda n, random: np.where(random.random_sample(n) < ones, 1.0, random.random_sample(n))


DISTRIBUTIONS: dict[str, tuple[Callable[[int, Random], np.ndarray], float]] = {
    "uniform": (lambda n, random: random.random_sample(n), 0.5),
    "Beta(8, 2)": (lambda n, random: random.beta(8, 2, n), 0.8),
    "Beta(20, 1)": (lambda n, random: random.beta(20, 1, n), 20 / 21),
    "Beta(2, 0.2)": (lambda n, random: random.beta(2, 0.2, n), 2 / 2.2),
    **{f"{100 * ones:.0f} % ones, else uniform": (_ones(ones), (1 + ones) / 2) for ones in ONES},
    "0, 0.5, 1: 5, 10, 85 %": (lambda n, random: random.choice([0, 0.5, 1], n, p=[0.05, 0.1, 0.85]), 0.9),
    "0, 0.5, 1: 1, 4, 95 %": (lambda n, random: random.choice([0, 0.5, 1], n, p=[0.01, 0.04, 0.95]), 0.97),
    "0, 1: 10, 90 %": (lambda n, random: random.choice([0.0, 1.0], n, p=[0.1, 0.9]), 0.9),
}


def covered(runs: int) -> None:
    title("Intervals of a mean at 95 %: how often the true mean is in them, in %")
    rows = []
    for name, (draw, mean) in DISTRIBUTIONS.items():
        row = [name]
        for n in SIZES:
            random = source("intervals", name, n)
            counts = [0, 0, 0]
            for _ in range(runs):
                values = draw(n, random)
                # (What is printed has 10,000; that is no difference that this table could show.)
                ours = intervals.bootstrap_interval(values.tolist(), resamples=2_500)
                boot = ours.low <= mean <= ours.high
                bounded = (
                    p_mean_below(values.tolist(), mean) > 0.025
                    and p_mean_below((1 - values).tolist(), 1 - mean) > 0.025
                )
                used = boot if ours.informative >= intervals.FEW else bounded
                counts = [
                    count + hit for count, hit in zip(counts, (used, boot, ours.informative >= intervals.FEW))
                ]
            row.append(f"{share(counts[0], runs)} ({share(counts[1], runs)}; {100 * counts[2] / runs:.0f})")
        rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in SIZES), ""], rows))
    print("\nWhat is printed (the bootstrap alone; in how many % of samples it is the one that is printed).")


def covering(rate: float, n: int) -> list[int]:
    """The numbers of passes whose interval has the rate in it."""
    return [passed for passed in range(n + 1) if (found := wilson(passed, n)).low <= rate <= found.high]


def exact_coverage(rate: float, n: int) -> float:
    """The coverage of Wilson's interval, by the sum over all numbers of passes."""
    return math.fsum(float(binom.pmf(passed, n, rate)) for passed in covering(rate, n))


def wilsons(runs: int) -> None:
    title("Wilson's interval of a pass rate at 95 %: simulated coverage / exact coverage, in %")
    rows = []
    for rate in (0.5, 0.8, 0.9, 0.95, 0.98):
        row = [f"pass rate {rate}"]
        for n in SIZES:
            passes = source("wilson", rate, n).binomial(n, rate, size=max(runs, 20_000))
            hits = np.isin(passes, covering(rate, n)).sum()
            row.append(f"{share(float(hits), len(passes))} / {100 * exact_coverage(rate, n):.1f}")
        rows.append([*row, ""])
    print(tables.render(["", *(f"n = {n}" for n in SIZES), ""], rows))


def _stopped(kind: str, n: int, drop: float, max_drop: float, runs: int) -> list[str]:
    random = source("sequential", kind, drop, max_drop, n)
    fails = ruled_out = fixed = 0
    saved: list[float] = []
    for _ in range(runs):
        deltas = comparison(kind, n, random, drop=drop).deltas
        fixed += gate_fails(deltas, max_drop)
        gate = SequentialGate(n, max_drop)
        highest, decision = 0.0, gate.decision()
        for delta in deltas:
            found = gate.add(delta)
            decision = found if decision.passed is None else decision
            if decision.passed is not None and drop > max_drop:
                break
            # (To count the errors the bets go on to the end.)
            highest = max(highest, gate.e_no_drop)
        fails += decision.passed is False
        ruled_out += highest >= 1 / ALPHA
        saved.append(decision.saved / n)
    errors = share(ruled_out, runs) if drop <= max_drop else "–"
    return [share(fails, runs), share(fixed, runs), errors, f"{100 * statistics.fmean(saved):.0f}"]


def sequential(runs: int) -> None:
    title("Stopping when decided, looking after each case")
    rows = []
    settings = [
        ("equal", 0.0, 0.0, (100, 300)),
        ("drop 0.05 = max_drop", 0.05, 0.05, (100, 300)),
        ("drop 0.05", 0.05, 0.0, (300,)),
        ("drop 0.1", 0.1, 0.0, (100, 300)),
        ("drop 0.3", 0.3, 0.0, (100,)),
    ]
    for kind in KINDS:
        for name, drop, max_drop, sizes in settings:
            for n in sizes:
                row = _stopped(kind, n, drop, max_drop, runs)
                rows.append([f"{kind}, {name}, n = {n}", *row, ""])
    header = ["scores, true drop", "fails, %", "fixed n fails, %", "ruled out, %", "calls saved, %", ""]
    print(tables.render(header, rows))
    print(
        "\nfails: of runs that stop when decided; fixed n: of the same runs with all cases, by the test of"
        " `compare`. ruled out: how often a drop of max_drop or more was ever ruled out, which is wrong here."
    )


# Of the pairs, those that people call the same; of these and of the others, those that the judge gets right.
JUDGES = {
    "half same, judge right 0.9 / 0.9": (0.5, 0.9, 0.9),
    "half same, judge right 0.98 / 0.98": (0.5, 0.98, 0.98),
    "0.7 same, judge right 0.7 / 0.6": (0.7, 0.7, 0.6),
    "0.8 same, judge right 0.95 / 0.8": (0.8, 0.95, 0.8),
    "0.9 same, judge right 0.97 / 0.7": (0.9, 0.97, 0.7),
}


def cells(judge: str) -> np.ndarray:
    """The chances of the four cells of an `Agreement`, in its order."""
    same, right_same, right_other = JUDGES[judge]
    other = 1 - same
    return np.array(
        [same * right_same, other * (1 - right_other), same * (1 - right_same), other * right_other]
    )


def kappa_of(chances: np.ndarray) -> float:
    """Kappa by its definition."""
    a, b, c, d = chances
    chance = (a + b) * (a + c) + (b + d) * (c + d)
    return float((a + d - chance) / (1 - chance))


def by_standard_error(table: Agreement) -> tuple[float, float]:
    """The usual interval of kappa, by its standard error (Fleiss, Cohen & Everitt 1969)."""
    shares = np.array(
        [[table.true_same, table.false_different], [table.false_same, table.true_different]]
    ) / float(table.number)
    people, judge = shares.sum(axis=1), shares.sum(axis=0)
    chance = float(people @ judge)
    kappa = (float(np.trace(shares)) - chance) / (1 - chance)
    total = -((kappa - chance * (1 - kappa)) ** 2)
    for i in (0, 1):
        for j in (0, 1):
            if i == j:
                total += shares[i, i] * (1 - (people[i] + judge[i]) * (1 - kappa)) ** 2
            else:
                total += (1 - kappa) ** 2 * shares[i, j] * (judge[i] + people[j]) ** 2
    reach = statistics.NormalDist().inv_cdf(0.975) * math.sqrt(max(total, 0.0) / table.number) / (1 - chance)
    return kappa - reach, kappa + reach


def kappas(runs: int) -> None:
    title("Cohen's kappa at 95 %: coverage of our interval / of that by the standard error, in %")
    rows = []
    sizes = (20, 50, 100, 300)
    for judge in JUDGES:
        chances = cells(judge)
        true = kappa_of(chances)
        row = [f"{judge}: kappa {true:.2f}"]
        for n in sizes:
            drawn = source("kappa", judge, n).multinomial(n, chances, size=runs)
            tables_of_two = [Agreement(*map(int, counts)) for counts in drawn]
            defined = [table for table in tables_of_two if table.has_both_labels]
            hits = [0, 0]
            for table in defined:
                ours = table.kappa_interval()
                ends = ((ours.low, ours.high) if ours else (1.0, -1.0), by_standard_error(table))
                for at, (low, high) in enumerate(ends):
                    hits[at] += low - 1e-12 <= true <= high + 1e-12
            row.append(" / ".join(share(hit, len(defined)) for hit in hits))
        rows.append([*row, ""])
    print(tables.render(["", *(f"n = {n}" for n in sizes), ""], rows))


TABLES = {
    "equal": equal,
    "margin": margin,
    "power": power,
    "detectable": detectable,
    "intervals": covered,
    "wilson": wilsons,
    "sequential": sequential,
    "kappa": kappas,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="gates.py", description="Measure the error rates of gates.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--runs", type=int, default=2_000, metavar="N", help="per cell; default: 2,000")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document that has the tables")
    given = parser.parse_args(arguments)
    unknown = sorted({*given.tables} - {*TABLES})
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}; known: {', '.join(TABLES)}")
    for name in given.tables or TABLES:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            TABLES[name](given.runs)
        print(printed.getvalue(), flush=True)
        if given.write:
            _write(given.write, name, printed.getvalue(), given.runs)
    return 0


def _write(document: Path, name: str, printed: str, runs: int) -> None:
    # (Without the empty column at the right, which keeps the last figures aligned in a terminal.)
    lines = (re.sub(r"\|(  |--)\|$", "|", line) for line in printed.splitlines())
    rows = "\n".join(line for line in lines if line.startswith("|"))
    place = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    text = document.read_text(encoding="utf-8")
    text = place.sub(lambda found: f"{found[1]}\n{rows}\n\n{runs:,} runs a cell.\n\n{found[2]}", text)
    document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
