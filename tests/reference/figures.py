"""Write the figures of generated cases and of real answers as JSON lines, and compare two such files.

The engine is the one that Python finds, so two checkouts are compared by three commands:

    PYTHONPATH=../before python tests/reference/figures.py cases 0 100000 > before.jsonl
    PYTHONPATH=. python tests/reference/figures.py cases 0 100000 > after.jsonl
    python tests/reference/figures.py diff before.jsonl after.jsonl

`docubench FOLDER` takes the place of `cases FIRST END` for the answers in a folder of DocuBench: every system's, under
every metric, with arrays as the metric has them and unordered. `diff` counts the cases that differ in headline figures,
in counts and in aggregates by field, and shows the first of each; its exit status is 1 if a headline figure differs.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from generate import METRICS, Case, case

from pytest_jsonmatch import JsonMatchError, MatchResult, compare_json
from pytest_jsonmatch.schema import reset_type_defaults, set_type_default

FIGURES = ("score", "precision", "recall", "f1")


def answer_of(this: Case) -> MatchResult:
    """Return the engine's answer to a case, whose values and options it may not change."""
    expected, actual, options, type_defaults = copy.deepcopy(
        (this.expected, this.actual, this.options, this.type_defaults)
    )
    try:
        for name, spec in type_defaults.items():
            set_type_default(name, spec)
        # A root that is a string is given as JSON text, which is what `str` arguments are.
        given = [json.dumps(value) if isinstance(value, str) else value for value in (actual, expected)]
        return compare_json(*given, **options)
    finally:
        reset_type_defaults()


def figures_of(name: Any, this: Case) -> dict[str, Any]:
    """Return what a comparison says of a case, or the name of the error that it raises."""
    try:
        result = answer_of(this)
    except JsonMatchError as error:
        return {"case": name, "figures": type(error).__name__}
    return {
        "case": name,
        "figures": [getattr(result, figure) for figure in FIGURES],
        "counts": {status: number for status, number in sorted(result.counts.items()) if number},
        "fields": {path: each.to_list() for path, each in sorted(result.per_field.items())},
        "alignment": result.alignment,
    }


def generated_figures(first: int, end: int) -> Iterator[dict[str, Any]]:
    for seed in range(first, end):
        yield figures_of(seed, case(seed))


def real_figures(folder: Path) -> Iterator[dict[str, Any]]:
    def read(path: Path) -> Any:
        return json.loads(path.read_text(encoding="utf-8"))

    systems = sorted(path for path in (folder / "results").iterdir() if path.is_dir())
    for label in sorted((folder / "labels").glob("*.json")):
        gold, schema = read(label), read(folder / "schemas" / label.name)
        for system in systems:
            answer = read(system / label.name)["data"]
            for metric in METRICS:
                for arrays in ({}, {"arrays": "unordered"}):
                    this = Case(gold, answer, {"metric": metric, "schema": schema, **arrays})
                    yield figures_of([label.stem, system.name, metric, *arrays.values()], this)


def write(lines: Iterator[dict[str, Any]]) -> int:
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


def close(one: Any, other: Any) -> bool:
    """Whether two parts of a line are equal, numbers to 1e-9."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return bool(one == other)


def differences(before: Path, after: Path, shown: int) -> int:
    """Print which lines of two files differ, and in what."""
    different: dict[str, list[str]] = {
        part: [] for part in ("case", "figures", "counts", "fields", "alignment")
    }
    cases = 0
    with before.open(encoding="utf-8") as ours, after.open(encoding="utf-8") as theirs:
        for cases, texts in enumerate(zip_longest(ours, theirs, fillvalue="{}"), start=1):  # noqa: B007
            if texts[0] == texts[1]:
                continue
            one, other = map(json.loads, texts)
            for part, found in different.items():
                if not close(one.get(part), other.get(part)):
                    found.append(f"  {one.get('case')}: {one.get(part)} before, {other.get(part)} after")
    for part, found in different.items():
        sys.stdout.write("\n".join([f"{part}: {len(found)} of {cases} differ", *found[:shown]]) + "\n")
    return 1 if different["case"] or different["figures"] else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="write figures as JSON lines, and compare two files of them")
    commands = parser.add_subparsers(dest="command", required=True)
    cases = commands.add_parser("cases", help="write the figures of generated cases")
    cases.add_argument("first", type=int)
    cases.add_argument("end", type=int)
    commands.add_parser("docubench", help="write those of real answers").add_argument("folder", type=Path)
    diff = commands.add_parser("diff", help="compare two files")
    diff.add_argument("before", type=Path)
    diff.add_argument("after", type=Path)
    diff.add_argument("--shown", type=int, default=5, help="how many differences of a kind to print")
    chosen = parser.parse_args()
    if chosen.command == "cases":
        return write(generated_figures(chosen.first, chosen.end))
    if chosen.command == "docubench":
        return write(real_figures(chosen.folder))
    return differences(chosen.before, chosen.after, chosen.shown)


if __name__ == "__main__":
    sys.exit(main())
