"""Measure how often the gates are wrong, on systems whose true scores are known.

python benchmarks/gates.py [TABLE ...] [--quick] [--runs N] [--write FILE]

TABLE is one or more of: equal, repeats, extra, clusters, documents, limit, non-inferiority, margin, merges,
power, detectable, beside, intervals, ends, micro, rates, families; default: all. FULL=1 adds rows. Every cell
of a table is made of N simulated comparisons, each with its own cases and scores, from a fixed seed; those of
`documents` are drawn from the real answers of DocuBench (`docubench.py` says where it looks for them), and
left out without. With --write they are put into a document (benchmarks/gates.md) too, between
`<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import statistics
import sys
import zlib
from functools import reduce
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import docubench
import numpy as np
import tables
from scipy.special import gammaln, stdtr
from scipy.stats import binom

from pytest_jsonmatch.engine.result.aggregation import FieldAggregation
from pytest_jsonmatch.gate.headlines import change_of_runs
from pytest_jsonmatch.gate.intervals import lower_end, ratio_interval
from pytest_jsonmatch.gate.power import minimum_detectable, sample_of
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import DropGate, compare
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.run import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_jsonmatch.gate.headlines import RunChange
    from pytest_jsonmatch.results.statistics import Interval


SIZES = (10, 30, 100, 300)
KINDS = ("binary", "graded", "tied")
ALPHA = 0.05
FULL = "FULL" in os.environ
ICC = 0.58
# The mean score of the case population of each kind.
MEANS = {"binary": 0.8, "graded": 0.8, "tied": 0.955, "ceiling": 0.9925}

Random = np.random.RandomState
Run: TypeAlias = "dict[str, list[float]]"


def source(*name: object) -> Random:
    """A generator of its own for each cell, so that cells can be run one by one."""
    return Random(zlib.crc32(repr(name).encode()))


def qualities(kind: str, n: int, random: Random) -> np.ndarray:
    """How good a system is at each case. Cases differ: some are easy, some are hard."""
    if kind == "tied":
        # Seven in ten are always right.
        return np.where(random.random_sample(n) < 0.7, 1.0, 0.8)
    if kind == "ceiling":
        # Nearly all are always right, the others nearly so.
        return np.where(random.random_sample(n) < 0.85, 1.0, 0.95)
    return random.beta(8, 2, n)


def scores(kind: str, quality: np.ndarray, random: Random) -> np.ndarray:
    """One score for each case: of `binary` 0 or 1, of `tied` 0, 0.5 or 1, of others any number between."""
    if kind == "binary":
        return (random.random_sample(len(quality)) < quality).astype(float)
    if kind == "tied":
        chance = random.random_sample(len(quality))
        right, half = quality, quality + (1 - quality) / 2
        return np.where(chance < right, 1.0, np.where(chance < half, 0.5, 0.0))
    if kind == "ceiling":
        return np.where(quality == 1.0, 1.0, random.uniform(0.9, 1.0, len(quality)))
    return random.beta(20 * quality, 20 * (1 - quality) + 1e-9)


def shape_of(kind: str) -> str:
    return "even" if kind == "graded" else "broken"


def comparison(
    kind: str, n: int, random: Random, *, repeats: int = 1, drop: float = 0.0, shape: str | None = None
) -> tuple[Run, Run]:
    """Two runs, now and before, of systems that are equal but for a true drop of the mean.

    `broken`: a case scores 0 with a probability. `even`: every case scores less by the drop. `hidden`: all
    cases lose 0.02 more than it, and one in twenty wins that back (the baseline was 0.4 too low there).
    """
    quality = qualities(kind, n, random)
    shape = shape or shape_of(kind)
    broken = random.random_sample(n) < drop / MEANS[kind]
    lucky = random.random_sample(n) < 0.05
    baseline, current = [], []
    for _ in range(repeats):
        before = scores(kind, quality, random)
        baseline.append(before - 0.4 * lucky if shape == "hidden" else before)
        now = scores(kind, quality, random)
        if shape == "broken":
            now = np.where(broken, 0.0, now)
        else:
            now = now - drop - (0.02 if shape == "hidden" else 0.0)
        current.append(now)
    return as_run(np.array(current)), as_run(np.array(baseline))


def as_run(side: np.ndarray) -> Run:
    """A table of repeats by cases as a mapping; a score that a drop takes out of [0, 1] is put at its end."""
    return {str(case): column.tolist() for case, column in enumerate(np.clip(side, 0.0, 1.0).T)}


def deltas_of(runs: tuple[Run, Run]) -> list[float]:
    now, before = runs
    return [
        math.fsum(now[case]) / len(now[case]) - math.fsum(before[case]) / len(before[case]) for case in now
    ]


def clustered(kind: str, documents: int, size: int, random: Random) -> tuple[np.ndarray, np.ndarray, float]:
    """Two runs of equal systems on several cases from each document, as (documents, size), and their mean.

    Each run is good at some documents and bad at others, whatever the case: the intraclass correlation of
    scores, and so of the differences, is 0.58.
    """
    sides = []
    for _ in range(2):
        if kind == "binary":
            spread = (1 - ICC) / ICC
            quality = random.beta(0.8 * spread, 0.2 * spread, (documents, 1))
            sides.append((random.random_sample((documents, size)) < quality).astype(float))
        else:
            shared = math.sqrt(ICC) * random.standard_normal((documents, 1))
            own = math.sqrt(1 - ICC) * random.standard_normal((documents, size))
            sides.append(0.5 + 0.1 * (shared + own))
    return sides[0], sides[1], 0.8 if kind == "binary" else 0.5


def mean_interval(values: Sequence[float]) -> Interval:
    """The interval of a mean of independent values."""
    return ratio_interval(CaseTerms(value, 1.0, str(at)) for at, value in enumerate(values))


def share(count: float, runs: int) -> str:
    return f"{100 * count / runs:.1f}"


def title(text: str) -> None:
    print(f"\n### {text}\n", flush=True)


def equal(runs: int) -> None:
    title("Equal systems: how often they are called worse, in % (at most 5)")
    rows = []
    for kind in KINDS:
        for repeats in (1, 3):
            row = [f"{kind}, {repeats} repeat{'s' if repeats > 1 else ''}"]
            for n in SIZES:
                random = source("equal", kind, repeats, n)
                found = (compare(*comparison(kind, n, random, repeats=repeats)) for _ in range(runs))
                row.append(share(sum(each.kind == "worse" for each in found), runs))
            rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in SIZES), ""], rows))


def clusters(runs: int) -> None:
    title("Several cases from one document: called worse / mean in the interval, in % (at most 5 / 95)")
    rows = []
    for kind in ("binary", "graded"):
        for size in (5, 10):
            for is_named in (True, False):
                row = [f"{kind}, {size} cases each, cluster {'named' if is_named else 'not named'}"]
                for documents in (6, 12, 25, 50):
                    random = source("clusters", kind, size, documents)
                    worse = covers = 0
                    for _ in range(runs):
                        now, before, mean = clustered(kind, documents, size, random)
                        names = [str(at // size) if is_named else str(at) for at in range(now.size)]
                        named = {str(at): f"document {name}" for at, name in enumerate(names)}
                        sides = as_run(now.reshape(1, -1)), as_run(before.reshape(1, -1))
                        worse += compare(*sides, clusters=named).kind == "worse"
                        found = ratio_interval(
                            CaseTerms(value, 1.0, name) for value, name in zip(now.ravel().tolist(), names)
                        )
                        covers += found.low <= mean <= found.high
                    row.append(f"{share(worse, runs)} / {share(covers, runs)}")
                rows.append([*row, ""])
    print(tables.render(["scores", *(f"{n} documents" for n in (6, 12, 25, 50)), ""], rows))


# Each system in one pair.
PAIRS = (("docupipe_high", "gemini"), ("docupipe_standard", "gpt"), ("extend", "claude"))


def scores_by_key(folder: Path, system: str) -> dict[str, dict[str, float]]:
    """The F1 of each top-level key of each document of DocuBench."""
    found: dict[str, dict[str, float]] = {}
    for document, result in docubench.score(folder, system, docubench.METRICS[docubench.RANKED]).items():
        keys: dict[str, list[FieldAggregation]] = {}
        for path, figures in result.per_field.items():
            keys.setdefault(re.split(r"[.\[]", path, maxsplit=1)[0], []).append(figures)
        found[document] = {key: reduce(FieldAggregation.merge, each).f1 or 0.0 for key, each in keys.items()}
    return found


def documents(runs: int) -> None:
    title("DocuBench by document and key: called worse / mean in the interval, in % (at most 5 / 95)")
    folder = docubench.default_folder()
    if not (folder / "labels").is_dir():
        print("left out: DocuBench's data is not here")
        return
    rows = []
    for names in PAIRS:
        sides = [scores_by_key(folder, name) for name in names]
        # Of each document the scores of both systems, key by key; a key that one lacks was right there.
        both = [
            np.array([[side[name].get(key, 1.0) for side in sides] for key in {**side_a, **sides[1][name]}])
            for name, side_a in sides[0].items()
        ]
        truth = float(np.concatenate(both).mean())
        for is_named in (True, False):
            row = [f"{' and '.join(names)}, document {'named' if is_named else 'not named'}"]
            for n in (12, 25, 50):
                random = source("documents", names, n)
                worse = covers = 0
                for _ in range(runs):
                    # Which of the two systems answered a document is chance: so both runs are equally good.
                    drawn = [
                        both[at][:, :: random.choice([-1, 1])] for at in random.randint(len(both), size=n)
                    ]
                    units = [str(at) for at, scores in enumerate(drawn) for _ in scores]
                    now, before = np.concatenate(drawn).T
                    named = {str(at): unit if is_named else str(at) for at, unit in enumerate(units)}
                    worse += compare(as_run(now[None]), as_run(before[None]), clusters=named).kind == "worse"
                    found = ratio_interval(map(CaseTerms, now.tolist(), [1.0] * len(now), named.values()))
                    covers += found.low <= truth <= found.high
                row.append(f"{share(worse, runs)} / {share(covers, runs)}")
            rows.append([*row, ""])
    print(tables.render(["systems", *(f"{n} documents" for n in (12, 25, 50)), ""], rows))


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
                    sides = comparison(kind, n, random, drop=drop, shape=shape)
                    wrong[0] += not compare(*sides, DropGate(drop)).passed
                    wrong[1] += compare(*sides, DropGate(drop, mode="non-inferiority")).passed
                fails.append(share(wrong[0], runs))
                passes.append(share(wrong[1], runs))
            rows.append([f"{kind}, {shape}, {drop}", *fails, *passes, ""])
    header = ["scores, drop", *(f"fails, {n}" for n in SIZES), *(f"passes, {n}" for n in SIZES), ""]
    print(tables.render(header, rows))
    print("\nfails: mode `regression`; passes: mode `non-inferiority`.")


def one_leaf(share: float) -> Callable[[int, float, Random], tuple[np.ndarray, np.ndarray]]:
    """Now and before, if one of several leaves breaks in this share of the cases."""

    def draw(n: int, drop: float, random: Random) -> tuple[np.ndarray, np.ndarray]:
        return 1 - drop / share * (random.random_sample(n) < share), np.ones(n)

    return draw


def drawn_graded(n: int, drop: float, random: Random) -> tuple[np.ndarray, np.ndarray]:
    quality = 0.15 + 0.8 * random.beta(8, 2, n)
    before, now = (random.beta(40 * quality, 40 * (1 - quality)) for _ in range(2))
    return now - drop, before


def drawn_binary(n: int, drop: float, random: Random) -> tuple[np.ndarray, np.ndarray]:
    quality = random.beta(8, 2, n)
    before, now = ((random.random_sample(n) < quality).astype(float) for _ in range(2))
    return np.where(random.random_sample(n) < drop / 0.8, 0.0, now), before


def drawn_zeros(n: int, drop: float, random: Random) -> tuple[np.ndarray, np.ndarray]:
    """Some answers fail, and score 0; a drop is made of more of them."""
    mean = random.beta(9, 1, n)
    now, before = (
        np.where(random.random_sample(n) < zeros, 0.0, random.beta(30 * mean + 0.01, 30 * (1 - mean) + 0.01))
        for zeros in (0.05 + drop / 0.9, 0.05)
    )
    return now, before


def drawn_losses(n: int, drop: float, random: Random) -> tuple[np.ndarray, np.ndarray]:
    """Some cases fall from 1 to 0, all others stay at 1."""
    return (random.random_sample(n) >= drop).astype(float), np.ones(n)


LOSSES: dict[str, Callable[[int, float, Random], tuple[np.ndarray, np.ndarray]]] = {
    "one leaf breaks in 90 %": one_leaf(0.9),
    "one leaf breaks in 80 %": one_leaf(0.8),
    "graded": drawn_graded,
    "binary": drawn_binary,
    "zero-inflated": drawn_zeros,
    "one leaf breaks in 50 %": one_leaf(0.5),
    "rare total losses": drawn_losses,
}


def true_drop(name: str, drop: float) -> float:
    """The drop of the mean, of which a little is lost where scores end at 0 and 1."""
    now, before = LOSSES[name](500_000, drop, source("true", name, drop))
    return float(np.clip(before, 0, 1).mean() - np.clip(now, 0, 1).mean())


def limit(runs: int) -> None:
    title("Fails max_drop: true drop at the limit / twice the limit, in % (at most 5 / the more the better)")
    rows = []
    sizes = (5, 8, 10, 20, 50)
    names = LOSSES if FULL else [*LOSSES][:5]
    for allowed, name in product((0.02, 0.1) if FULL else (0.1,), names):
        draw = LOSSES[name]
        row = [f"{name}, {allowed}"]
        exact = DropGate(round(true_drop(name, allowed), 6))
        for n in sizes:
            random = source("limit", name, allowed, n)
            failed = [0, 0]
            for _ in range(runs):
                for at, gate in enumerate((exact, DropGate(allowed))):
                    now, before = draw(n, (1 + at) * allowed, random)
                    failed[at] += not compare(as_run(now[None]), as_run(before[None]), gate).passed
            row.append(" / ".join(share(each, runs) for each in failed))
        rows.append([*row, ""])
    print(tables.render(["loss, limit", *(f"n = {n}" for n in sizes), ""], rows))


def noninferiority(runs: int) -> None:
    title("Passes non-inferiority: true drop at the limit / no drop, in % (at most 5 / the more the better)")
    rows = []
    sizes = (30, 50, 100, 150, 200, 300) if FULL else (100, 150, 300)
    names = LOSSES if FULL else ("graded", "rare total losses")
    for allowed, name in product((0.02, 0.05) if FULL else (0.02,), names):
        draw = LOSSES[name]
        row = [f"{name}, {allowed}"]
        exact = DropGate(round(true_drop(name, allowed), 6), mode="non-inferiority")
        for n in sizes:
            random = source("non-inferiority", name, allowed, n)
            passed = [0, 0]
            for _ in range(runs):
                for at, gate in enumerate((exact, DropGate(allowed, mode="non-inferiority"))):
                    now, before = draw(n, (1 - at) * allowed, random)
                    passed[at] += compare(as_run(now[None]), as_run(before[None]), gate).passed
            row.append(" / ".join(share(each, runs) for each in passed))
        rows.append([*row, ""])
    print(tables.render(["loss, limit", *(f"n = {n}" for n in sizes), ""], rows))


def repeated(runs: int) -> None:
    title("Different numbers of runs: equal systems called worse / a drop found, in % (at most 5 / more)")
    rows = []
    for kind in ("graded", "binary"):
        for number_before, number_now in ((5, 1), (1, 5), *(((3, 2),) if FULL else ())):
            row = [f"{kind}, {number_before} runs before, {number_now} now"]
            for n in (10, 30, 100):
                random = source("repeats", kind, number_before, number_now, n)
                drop = (0.06 if kind == "graded" else 0.2) * math.sqrt(30 / n)
                found = [0, 0]
                for _ in range(runs):
                    for at in range(2):
                        now, before = comparison(kind, n, random, repeats=5, drop=at * drop)
                        sides = [
                            {case: scores[:number] for case, scores in side.items()}
                            for side, number in ((now, number_now), (before, number_before))
                        ]
                        found[at] += compare(sides[0], sides[1]).kind == "worse"
                row.append(" / ".join(share(each, runs) for each in found))
            rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in (10, 30, 100)), ""], rows))


def with_extra(chances: np.ndarray, repeats: int, random: Random) -> RunResult:
    """A run whose answers have a field beyond what is expected now and then, with a chance for each case."""
    expected = FieldAggregation(
        matches=1, score_sum=1.0, weighted_score=1.0, expected_weight=1.0, actual_weight=1.0
    )
    extra = FieldAggregation(hallucinations=1, actual_weight=1.0)
    made = {}
    for has_extra in (False, True):
        fields, score = {"total": expected, "vendor": expected}, 1.0
        if has_extra:
            fields, score = {**fields, "tip": extra}, 0.8
        scores = (score, score, score, score)
        made[has_extra] = Comparison("", "", "m", "s", *scores, not has_extra, fields=fields)
    cases = []
    for at, chance in enumerate(chances):
        flags = (random.random_sample(repeats) < chance).tolist()
        runs = (CaseRun(number, not flag, (made[flag],)) for number, flag in enumerate(flags, 1))
        cases.append(Case(str(at), tuple(runs), of=repeats))
    return RunResult(tuple(cases))


def extra(runs: int) -> None:
    title("Equal systems, a field that runs add now and then: it alone / anything is called worse, in %")
    rows = []
    sizes = (10, 30, 100) if FULL else (10, 30)
    chances: dict[str, Callable[[int, Random], np.ndarray]] = {
        "in 20 % of answers": lambda n, _: np.full(n, 0.2),
        "in 20 %, mostly of some cases": lambda n, random: random.beta(0.4, 1.6, n),
    }
    for name, draw in chances.items():
        for number_before, number_now in ((5, 1), (1, 5)):
            row = [f"{name}, {number_before} runs before, {number_now} now"]
            for n in sizes:
                random = source("extra", name, number_before, number_now, n)
                alone = anything = 0
                for _ in range(runs):
                    chance = draw(n, random)
                    sides = [with_extra(chance, number, random) for number in (number_now, number_before)]
                    scored = [
                        {
                            case.id: case.scores_by_field().get("tip", [1.0] * len(case.runs))
                            for case in side.cases
                        }
                        for side in sides
                    ]
                    alone += compare(scored[0], scored[1]).kind == "worse"
                    anything += is_worse(change_of_runs(sides[1], sides[0]))
                row.append(f"{share(alone, runs)} / {share(anything, runs)}")
            rows.append([*row, ""])
    print(tables.render(["a field", *(f"n = {n}" for n in sizes), ""], rows))


def is_worse(change: RunChange) -> bool:
    """Whether anything at all is called worse."""
    changes = (change.scores, change.outcomes, *change.fields.values())
    return any(each.kind == "worse" for each in changes)


def beside(runs: int) -> None:
    title("Intervals of a difference at 90 %: of all / beside a significant change, in %")

    def gain(share: float) -> Callable[[int, float, Random], tuple[np.ndarray, np.ndarray]]:
        return lambda n, _, random: (0.2 + 0.5 * (random.random_sample(n) < share), np.full(n, 0.2))

    shapes = {
        "0.5 gained in 95 % of cases": gain(0.95),
        "0.5 gained in 80 % of cases": gain(0.8),
        "one leaf breaks in 90 %": LOSSES["one leaf breaks in 90 %"],
        **({name: LOSSES[name] for name in ("graded", "binary", "zero-inflated")} if FULL else {}),
    }
    rows = []
    sizes = (5, 8, 12, 20, 50)
    for name, draw in shapes.items():
        now, before = draw(500_000, 0.2, source("beside", name))
        truth = float(np.clip(now, 0, 1).mean() - np.clip(before, 0, 1).mean())
        row = [name]
        for n in sizes:
            random = source("beside", name, n)
            covers, significant, both = 0, 0, 0
            for _ in range(runs):
                now, before = draw(n, 0.2, random)
                change = compare(as_run(now[None]), as_run(before[None]))
                assert change.interval is not None
                holds = change.interval.low - 1e-9 <= truth <= change.interval.high + 1e-9
                is_significant = change.kind in {"worse", "better"}
                covers, significant = covers + holds, significant + is_significant
                both += holds and is_significant
            row.append(f"{share(covers, runs)} / {share(both, significant) if significant else '–'}")
        rows.append([*row, ""])
    print(tables.render(["change", *(f"n = {n}" for n in sizes), ""], rows))


def ends(runs: int) -> None:
    title("Ends for 30 and 100 fields: how often low ends are above the mean / high ends below it")
    rows = []
    draws = DRAWS["ends"] * runs
    fields = (30, 100)
    for name in ("Beta(8, 2)", "90 % ones, else uniform", "0, 0.5, 1: 5, 10, 85 %"):
        draw, mean = DISTRIBUTIONS[name]
        for n in (10, 30, 100) if FULL else (30, 100):
            random = source("ends", name, n)
            missed = {number: [0, 0] for number in fields}
            for _ in range(draws):
                values = draw(n, random)
                for number, missed_of in missed.items():
                    alpha = 0.025 / number
                    missed_of[0] += lower_end(values, alpha, 0.0) > mean
                    missed_of[1] += -lower_end(-values, alpha, -1.0) < mean
            cells = (
                " / ".join(f"{each / draws / 0.025 * number:.2f}" for each in missed[number])
                for number in fields
            )
            rows.append([f"{name}, {n} cases", *cells, ""])
    print(tables.render(["scores", *(f"{number} fields" for number in fields), ""], rows))
    print("\nAs multiples of what is allowed, 0.025 / the number of fields.")


def merges(runs: int) -> None:
    title("Ten changes that lose 0.02 each, max_drop 0.02: never failed, in %; first failure (median)")
    rows = []
    for kind in ("graded", "binary") if FULL else ("graded",):
        for n in (30, 100) if FULL else (30,):
            random = source("merges", kind, n)
            never = [0, 0]
            first: tuple[list[int], list[int]] = ([], [])
            for _ in range(runs):
                quality = qualities(kind, n, random)
                saved = [as_run(scores(kind, quality, random)[None])]
                failed: list[int | None] = [None, None]
                for number in range(1, 11):
                    now = as_run(scores(kind, np.clip(quality - 0.02 * number, 1e-3, 1), random)[None])
                    for at, baseline in enumerate((saved[-1], saved[0])):
                        if failed[at] is None and not compare(now, baseline, DropGate(0.02)).passed:
                            failed[at] = number
                    saved.append(now)
                for at, number_failed in enumerate(failed):
                    never[at] += number_failed is None
                    first[at].append(number_failed or 11)
            medians = [statistics.median(each) for each in first]
            cells = (f"{share(never[at], runs)}; {medians[at]:.0f}" for at in range(2))
            rows.append([f"{kind}, {n} cases", *cells, ""])
    print(tables.render(["scores", "baseline: the change before", "baseline: pinned", ""], rows))


def t_test(deltas: Sequence[float], drop: float, alternative: Literal["less", "greater"]) -> bool:
    """Student's test, which is the best where differences are normal."""
    deviation = statistics.stdev(deltas)
    if deviation == 0:
        return False
    t = (statistics.fmean(deltas) + drop) / deviation * math.sqrt(len(deltas))
    return bool(stdtr(len(deltas) - 1, t if alternative == "less" else -t) <= ALPHA)


def z_of(deltas: Sequence[float]) -> float:
    """How far the sum is below 0, in standard deviations of sign flips."""
    squares = math.fsum(delta**2 for delta in deltas)
    return -math.fsum(deltas) / math.sqrt(squares) if squares else 0.0


def unconditional(n: int, sizes: tuple[float, ...] = (1.0,)) -> float:
    """The least z that the exact unconditional test of n deltas of these sizes, or 0, calls a drop.

    Its error rate is at most 5 % whatever the chances of the sizes are, and nearly that for the worst of
    them (Suissa & Shuster 1991, for outcomes).
    """
    values = np.array([sign * size for size in sizes for sign in (-1, 1)])
    counts = np.array([each for each in product(range(n + 1), repeat=len(values)) if sum(each) <= n])
    counts = np.column_stack([n - counts.sum(axis=1), counts])
    squares = counts[:, 1:] @ values**2
    z = np.round(-(counts[:, 1:] @ values) / np.sqrt(np.where(squares, squares, 1)), 9)
    counts = counts[np.argsort(-z)]
    z = np.sort(z)[::-1]
    ways = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    last = np.append(np.flatnonzero(np.diff(z)), len(z) - 1)  # (of each run of equal z)
    error_rates = np.zeros(len(last))
    grid = np.linspace(0.01, 1, 100 if len(sizes) == 1 else 16)
    for chances in product(grid, repeat=len(sizes)):
        if sum(chances) < 1:
            logs = np.log([1 - sum(chances), *(chance / 2 for chance in chances for _ in (-1, 1))])
            error_rates = np.maximum(error_rates, np.cumsum(np.exp(ways + counts @ logs))[last])
    return float(z[last[np.flatnonzero(error_rates <= ALPHA)[-1]]])


def power(runs: int) -> None:
    title("True drops: how often they are proven, and by the best other test, in %")
    rows = []
    for kind, sizes, drops in (
        ("binary", (1.0,), (0.5, 0.35, 0.22, 0.13)),
        ("tied", (0.5, 1.0), (0.5, 0.3, 0.18, 0.1)),
        ("graded", (), (0.1, 0.06, 0.05, 0.035)),
    ):
        row = [kind]
        for n, drop in zip((10, 20, 30, 50), drops):
            random = source("power", kind, n)
            least = unconditional(n, sizes) - 1e-6 if sizes else 0.0
            found = [0, 0]
            for _ in range(runs):
                sides = comparison(kind, n, random, drop=drop)
                deltas = deltas_of(sides)
                found[0] += compare(*sides).kind == "worse"
                found[1] += z_of(deltas) >= least if sizes else t_test(deltas, 0.0, "less")
            row.append(f"{share(found[0], runs)} / {share(found[1], runs)} ({drop})")
        rows.append([*row, ""])
    for kind, limit in (("binary", 0.1), ("tied", 0.05), ("graded", 0.02), ("graded", 0.05)):
        row = [f"{kind}, equal, a drop of {limit} ruled out"]
        gate = DropGate(limit, mode="non-inferiority")
        for n in (50, 100, 150, 300):
            random = source("power", "non-inferiority", kind, limit, n)
            found = [0, 0, 0]
            for _ in range(runs):
                sides = comparison(kind, n, random)
                found[0] += compare(*sides, gate).passed
                found[1] += t_test(deltas_of(sides), limit, "greater")
                dropped = comparison(kind, n, random, drop=limit, shape="broken")
                found[2] += t_test(deltas_of(dropped), limit, "greater")
            ours, theirs, wrong = (share(each, runs) for each in found)
            row.append(f"{ours} / {theirs}, errs {wrong} (n = {n})")
        rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in (10, 20, 30, 50)), ""], rows))
    print(
        "\nOurs / of drops of `binary` and `tied` the exact unconditional test, else Student's t (true drop)."
    )
    print("errs: how often Student's t rules a drop out that is there, made of cases that fall to 0.")


def detectable(runs: int) -> None:
    title("The detectable drop: how often a drop of that size is detected, in % (80 promised)")
    rows = []
    pilots = max(4, runs // 50)
    sizes = (10, 30, 100, 300)
    kinds = [(kind, 0.0) for kind in ("binary", "tied", "graded", "ceiling")]
    for kind, allowed in [*kinds, *([("binary", 0.05), ("graded", 0.02)] if FULL else [])]:
        row = [f"{kind}, {allowed:g} allowed" if allowed else kind]
        gate = DropGate(allowed)
        for n in sizes:
            random = source("detectable", kind, allowed, n)
            printed: list[float] = []
            found = 0
            for _ in range(pilots):
                now, before = comparison(kind, n, random)
                drop = minimum_detectable(sample_of([before, now]), n, gate)
                if drop is None or drop > MEANS[kind]:
                    continue
                printed.append(drop)
                for _ in range(runs // pilots):
                    sides = comparison(kind, n, random, drop=drop, shape="broken")
                    found += not compare(*sides, gate).passed
            tried = len(printed) * (runs // pilots)
            row.append(f"{share(found, tried)} ({statistics.median(printed):.3f})" if tried else "none")
        rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in sizes), ""], rows))
    print("\nDetected (the median of what is printed), the drop made of cases that fall to 0.")


ONES = (0.5, 0.8, 0.9, 0.95, 0.98)


def _ones(ones: float) -> Callable[[int, Random], np.ndarray]:
    return lambda n, random: np.where(random.random_sample(n) < ones, 1.0, random.random_sample(n))


def _crashing(zeros: float) -> Callable[[int, Random], np.ndarray]:
    return lambda n, random: np.where(random.random_sample(n) < zeros, 0.0, random.uniform(0.95, 1.0, n))


DISTRIBUTIONS: dict[str, tuple[Callable[[int, Random], np.ndarray], float]] = {
    "uniform": (lambda n, random: random.random_sample(n), 0.5),
    "Beta(8, 2)": (lambda n, random: random.beta(8, 2, n), 0.8),
    "Beta(20, 1)": (lambda n, random: random.beta(20, 1, n), 20 / 21),
    "Beta(2, 0.2)": (lambda n, random: random.beta(2, 0.2, n), 2 / 2.2),
    **{f"{100 * ones:.0f} % ones, else uniform": (_ones(ones), (1 + ones) / 2) for ones in ONES},
    "0, 0.5, 1: 5, 10, 85 %": (lambda n, random: random.choice([0, 0.5, 1], n, p=[0.05, 0.1, 0.85]), 0.9),
    "0, 0.5, 1: 1, 4, 95 %": (lambda n, random: random.choice([0, 0.5, 1], n, p=[0.01, 0.04, 0.95]), 0.97),
    "5 % zeros, else 0.95 to 1": (_crashing(0.05), 0.95 * 0.975),
    "2 % zeros, else 0.95 to 1": (_crashing(0.02), 0.98 * 0.975),
    "0, 1: 10, 90 %": (lambda n, random: random.choice([0.0, 1.0], n, p=[0.1, 0.9]), 0.9),
}


def covered(runs: int) -> None:
    title("Intervals of a mean at 95 %: how often the true mean is in them, in %")
    rows = []
    sizes = (5, 10, 30, 100, 300, 1_000)
    for name, (draw, mean) in DISTRIBUTIONS.items():
        row = [name]
        for n in sizes:
            random = source("intervals", name, n)
            found = [mean_interval(draw(n, random).tolist()) for _ in range(runs)]
            hits = sum(each.low <= mean <= each.high for each in found)
            width = statistics.median(each.high - each.low for each in found)
            row.append(f"{share(hits, runs)} ({width:.2f})")
        rows.append([*row, ""])
    print(tables.render(["scores", *(f"n = {n}" for n in sizes), ""], rows))
    print("\nIn brackets the median width.")


def leaves(kind: str, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
    """Of each case how many leaves are right, and how many there are; errors grow with size, or do not."""
    if kind == "5 to 200 leaves, large ones break":
        size = random.randint(5, 200, n)
        wrong = np.where(random.random_sample(n) < 0.001 * size, 0.8, 0.03)
    else:
        spread, slope = {
            "sizes vary, errors do not": (0.5, 0.0),
            "sizes vary, errors grow": (0.5, 1.0),
            "sizes vary much, errors grow": (1.0, 0.5),
        }[kind]
        size = np.ceil(10 * np.exp(spread * random.standard_normal(n))).astype(int)
        wrong = 0.02 * (size / 10) ** slope * np.exp(0.5 * random.standard_normal(n))
    return size - random.binomial(size, np.clip(wrong, 0, 0.9)), size


def micro(runs: int) -> None:
    title("Intervals of a figure over all leaves: that of the ratio / that of the mean of cases, in %")
    rows = []
    for kind in (
        "sizes vary, errors do not",
        "sizes vary, errors grow",
        "sizes vary much, errors grow",
        "5 to 200 leaves, large ones break",
    ):
        right, size = leaves(kind, 2_000_000, source("micro", kind))
        truth = float(right.sum() / size.sum())
        row = [kind]
        for n in SIZES:
            random = source("micro", kind, n)
            hits = [0, 0]
            for _ in range(runs):
                right, size = leaves(kind, n, random)
                ratio = ratio_interval(map(CaseTerms, right.tolist(), size.tolist(), map(str, count())))
                mean = mean_interval((right / size).tolist())
                hits = [hit + (each.low <= truth <= each.high) for hit, each in zip(hits, (ratio, mean))]
            row.append(" / ".join(share(hit, runs) for hit in hits))
        rows.append([*row, ""])
    print(tables.render(["", *(f"n = {n}" for n in SIZES), ""], rows))


def rates(_: int) -> None:
    title("Intervals of a pass rate at 95 %: their exact coverage / low ends above the rate, in %")
    rows = []
    sizes = (5, *SIZES)
    for rate in (0.5, 0.8, 0.9, 0.95, 0.98, 0.998):
        row = [f"pass rate {rate}"]
        for n in sizes:
            found = [mean_interval([1.0] * passed + [0.0] * (n - passed)) for passed in range(n + 1)]
            chances: Any = binom.pmf(range(n + 1), n, rate)
            covers = math.fsum(chances[[each.low <= rate <= each.high for each in found]])
            above = math.fsum(chances[[each.low > rate for each in found]])
            row.append(f"{100 * covers:.1f} / {100 * above:.1f}")
        rows.append([*row, ""])
    print(tables.render(["", *(f"n = {n}" for n in sizes), ""], rows))


def family(n: int, fields: int, random: Random, noise: float) -> RunResult:
    """A run of cases of which each field is wrong now and then, more often in some cases."""
    hard = random.beta(2, 2, n)
    cases = []
    for at in range(n):
        wrong = (random.random_sample(fields) < 2 * noise * hard[at]).tolist()
        score = 1 - sum(wrong) / fields
        sums = {
            f"f{number}": FieldAggregation(
                matches=not bad,
                mismatches=bad,
                score_sum=1.0 - bad,
                weighted_score=1.0 - bad,
                expected_weight=1.0,
                actual_weight=1.0,
            )
            for number, bad in enumerate(wrong)
        }
        passed = score == 1.0
        made = Comparison("", "", "m", "s", score, score, score, score, passed, fields=sums)
        cases.append(Case(str(at), (CaseRun(1, passed, (made,)),)))
    return RunResult(tuple(cases))


def families(runs: int) -> None:
    title("Equal systems: how often anything at all (score, pass rate, a field) is called worse, in %")
    rows = []
    sizes = (20, 50, 100) if FULL else (20, 50)
    for fields, noise in ((3, 0.1), (10, 0.05), (10, 0.2), (30, 0.1)):
        row = [f"{fields} fields, {100 * noise:.0f} % wrong"]
        for n in sizes:
            random = source("families", fields, noise, n)
            found = 0
            for _ in range(runs):
                sides = [family(n, fields, random, noise) for _ in range(2)]
                found += is_worse(change_of_runs(sides[0], sides[1]))
            row.append(share(found, runs))
        rows.append([*row, ""])
    print(tables.render(["", *(f"n = {n}" for n in sizes), ""], rows))


TABLES = {
    "equal": equal,
    "repeats": repeated,
    "extra": extra,
    "clusters": clusters,
    "documents": documents,
    "limit": limit,
    "non-inferiority": noninferiority,
    "margin": margin,
    "merges": merges,
    "power": power,
    "detectable": detectable,
    "beside": beside,
    "intervals": covered,
    "ends": ends,
    "micro": micro,
    "rates": rates,
    "families": families,
}

DRAWS = {"ends": 20, "rates": 0}
"""How many draws a table takes for each run asked for, if not one."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="gates.py", description="Measure the error rates of gates.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--runs", type=int, default=2_000, metavar="N", help="per cell; default: 2,000")
    parser.add_argument("--quick", action="store_true", help="200 runs per cell: about five minutes in all")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the document that has the tables")
    given = parser.parse_args(arguments)
    unknown = sorted({*given.tables} - {*TABLES})
    if unknown:
        parser.error(f"unknown table {unknown[0]!r}; known: {', '.join(TABLES)}")
    for name in given.tables or TABLES:
        runs = 200 if given.quick else given.runs
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            TABLES[name](runs)
        print(printed.getvalue(), flush=True)
        if given.write:
            _write(given.write, name, printed.getvalue(), runs)
    return 0


def _write(document: Path, name: str, printed: str, runs: int) -> None:
    # (Without the empty column at the right, which keeps the last figures aligned in a terminal.)
    lines = (re.sub(r"\|(  |--)\|$", "|", line) for line in printed.splitlines())
    rows = "\n".join(line for line in lines if line.startswith("|"))
    if not rows:
        return  # (Left out: the table that is there stays.)
    place = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    text = document.read_text(encoding="utf-8")
    draws = DRAWS.get(name, 1) * runs
    number = f"{draws:,} runs a cell." if draws else "Exact, without simulation."
    text = place.sub(lambda found: f"{found[1]}\n{rows}\n\n{number}\n\n{found[2]}", text)
    document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
