"""Product extraction benchmark: price, SKU and availability of 140 pages, as three systems read them.

    python benchmarks/published/products.py FOLDER

FOLDER: a checkout of github.com/scrapinghub/product-extraction-benchmark (MIT): gold with every value that is
right, answers, and figures with their standard deviations, by a bootstrap, in `dataset`; its program.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_jsonmatch import FieldAggregation, compare_json
from pytest_jsonmatch.gate.intervals import influences
from pytest_jsonmatch.gate.samples import CaseTerms

ATTRIBUTES = ("price", "sku", "availability", "InStock", "OutOfStock")
# Prices are texts: 9.5 equals 9.50.
FIELDS = {"price": "numeric"}
FIGURES = ("f1", "precision", "recall")


def page_of(right: dict[str, list[str]], answer: dict[str, str]) -> dict[str, FieldAggregation]:
    """Return the figures of one page by attribute; the first right value is expected, others are accepted."""
    expected = {name: right[name][0] for name in ATTRIBUTES if right.get(name)}
    accept = {name: right[name] for name in expected if len(right[name]) > 1}
    actual = {name: answer[name] for name in ATTRIBUTES if answer.get(name) is not None}
    found = compare_json(actual, expected, fields=FIELDS, accept=accept).per_field
    return {name: found.get(name, FieldAggregation()) for name in ATTRIBUTES}


def triple(one: FieldAggregation) -> tuple[int, int, int]:
    """Return what the benchmark counts: right, wrong or invented, wrong or missing."""
    return one.matches, one.mismatches + one.hallucinations, one.mismatches + one.omissions


def deviation(pages: list[FieldAggregation], figure: str) -> float:
    """Return the standard error that our confidence intervals are made of."""
    rows = []
    for at, one in enumerate(pages):
        whole = {
            "f1": (one.expected_weight + one.actual_weight) / 2,
            "precision": one.actual_weight,
            "recall": one.expected_weight,
        }
        rows.append(CaseTerms(one.weighted_score, whole[figure], str(at)))
    values = influences(rows).values
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    data = folder / "dataset"
    gold, published = (
        json.loads((data / f"{name}.json").read_text("utf-8")) for name in ("ground-truth", "metrics")
    )
    answers: dict[str, Any] = {
        path.stem: json.loads(path.read_text("utf-8")) for path in sorted((data / "output").glob("*.json"))
    }
    sys.path.insert(0, str(folder))
    sys.modules["tabulate"] = ModuleType("tabulate")  # it only prints
    own = importlib.import_module("evaluate")
    started = time.process_time()
    ours = {system: [page_of(gold[page], seen[page]) for page in gold] for system, seen in answers.items()}
    spent = time.process_time() - started
    started = time.process_time()
    theirs = {
        (system, name): [
            (own.decimal_matching if name == "price" else own.hard_matching)(
                set(gold[page].get(name, [])), seen[page].get(name)
            )
            for page in gold
        ]
        for system, seen in answers.items()
        for name in ATTRIBUTES
    }
    own_spent = time.process_time() - started
    print(
        "| attribute | system | F1: published | ours | precision | ours | recall | ours | pages that differ |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    same, furthest = 0, 0.0
    apart = []
    for name in ATTRIBUTES:
        for system in answers:
            pages = [page[name] for page in ours[system]]
            total = FieldAggregation()
            for one in pages:
                total = total.merge(one)
            differ = [
                page
                for page, one, triple_of in zip(gold, pages, theirs[system, name], strict=True)
                if triple(one) != triple_of
            ]
            apart += [f"{system} {name} {page}" for page in differ]
            cells = []
            for figure in FIGURES:
                shown = published[system][name]
                figures = (
                    (shown[figure], shown[f"{figure}_std"]),
                    (getattr(total, figure), deviation(pages, figure)),
                )
                same += math.isclose(figures[0][0], figures[1][0])
                furthest = max(furthest, abs(figures[0][1] - figures[1][1]))
                cells += [f"{value:.3f} ± {std:.3f}" for value, std in figures]
            print(f"| {name} | {system} | {' | '.join(cells)} | {len(differ)} |")
    print(f"\n{same} of {len(answers) * len(ATTRIBUTES) * len(FIGURES)} figures are equal;", end=" ")
    print(f"standard deviations differ by {furthest:.3f} at most", *apart, sep="\n" if apart else "")
    print(f"\nours: {spent:.3f} s of CPU, its program: {own_spent:.3f} s")


if __name__ == "__main__":
    main()
