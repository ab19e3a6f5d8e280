"""Compare the engine with the slow reference on generated cases, and show the smallest disagreement.

From the repository's root, 100,000 cases from seed 0 on (a few minutes on one core):

    python tests/reference/compare.py 100000 --seed 0

Exit status 0 means that every figure (to 1e-9), every count and every result row agreed; otherwise the
smallest case found is printed, ready to be pasted, with what each side says, and the exit status is 1.
`--ordered` leaves out everything that pairs arrays without order.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # the repository's root, so that the engine of this checkout is the one compared
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from generate import METRICS, Case, case
from reference import ReferenceResult, RefusedError, reference_score

from pytest_jsonmatch import compare_json

UNORDERED = True
"""Whether generated options may pair arrays without order."""

FIGURES = ("score", "precision", "recall", "f1", "matched_leaves", "total_leaves")


def generated(seed: int, *, unordered: bool = UNORDERED) -> Case:
    return case(seed, metrics=METRICS, unordered=unordered)


def figures_of(result: Any) -> dict[str, Any]:
    """What both sides must agree on; rows in an order that does not depend on the walk."""
    said: dict[str, Any] = {name: getattr(result, name) for name in FIGURES}
    said["counts"] = {status: n for status, n in result.counts.items() if n}
    if isinstance(result, ReferenceResult):
        rows = [tuple(row) for row in result.results]
    else:
        rows = [
            (row.path, row.expected_path, row.actual_path, row.status, row.score)
            for row in result.field_results
        ]
    said["rows"] = sorted(rows, key=lambda row: [part or "" for part in row[:4]])
    return said


def close(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9


def same_row(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    # A skipped leaf has no score to compare.
    return one[:4] == other[:4] and (one[3] == "skipped" or close(one[4], other[4]))


def agree(engine: dict[str, Any], reference: dict[str, Any]) -> bool:
    if "error" in engine or "error" in reference:
        return engine == reference
    return (
        all(close(engine[name], reference[name]) for name in FIGURES)
        and engine["counts"] == reference["counts"]
        and len(engine["rows"]) == len(reference["rows"])
        and all(same_row(one, other) for one, other in zip(engine["rows"], reference["rows"], strict=True))
    )


def as_argument(value: Any) -> Any:
    """A root that is a string is given as JSON text, which is what `str` arguments are."""
    return json.dumps(value) if isinstance(value, str) else value


def engine_says(this: Case) -> dict[str, Any]:
    expected, actual = copy.deepcopy(this.expected), copy.deepcopy(this.actual)
    try:
        return figures_of(
            compare_json(as_argument(actual), as_argument(expected), **copy.deepcopy(this.options))
        )
    except Exception as error:  # noqa: BLE001 - whatever it raises is an answer to be compared
        kind = type(error).__name__
        known = kind in {"RootTypeError", "TargetPathError"}
        return {"error": kind if known else f"{kind}: {error}"}


def reference_says(this: Case) -> dict[str, Any]:
    try:
        return figures_of(reference_score(this.expected, this.actual, this.options))
    except RefusedError as refused:
        return {"error": refused.kind}


def disagrees(this: Case) -> bool:
    return not agree(engine_says(this), reference_says(this))


# ------------------------------------------------------------------------------------------- shrinking


def size(this: Case) -> int:
    return len(repr((this.expected, this.actual, this.options)))


def smaller_values(value: Any) -> Iterator[Any]:
    """Copies with one thing less: the parts themselves, one part left out, one part smaller, plain scalars."""
    if isinstance(value, (dict, list)) and value:
        yield type(value)()
        parts = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        yield from (item for _, item in parts)
        for key, item in parts:
            yield without(value, key)
            for less in smaller_values(item):
                changed = copy.copy(value)
                changed[key] = less
                yield changed
    elif isinstance(value, str) and value not in {"", "a"}:
        yield from ("", "a", value[: len(value) // 2], value[1:], value[:-1])
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value not in {0, 1}:
        yield from (0, 1)


def smaller_options(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in options:
        if name != "metric":
            yield {other: value for other, value in options.items() if other != name}
    for pattern, rule in options.get("fields", {}).items():
        fields = {other: value for other, value in options["fields"].items() if other != pattern}
        yield {**options, "fields": fields}
        for word in rule:
            less = {other: value for other, value in rule.items() if other != word}
            yield {**options, "fields": {**options["fields"], pattern: less}}


def smaller_pairs(expected: Any, actual: Any) -> Iterator[tuple[Any, Any]]:
    """Both sides without the same part, at any depth that they share; both replaced by the same part's values."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        shared = [key for key in expected if key in actual]
    elif isinstance(expected, list) and isinstance(actual, list):
        shared = list(range(min(len(expected), len(actual))))
    else:
        return
    for key in shared:
        yield without(expected, key), without(actual, key)
        yield expected[key], actual[key]
        for less in smaller_pairs(expected[key], actual[key]):
            both = copy.copy(expected), copy.copy(actual)
            both[0][key], both[1][key] = less
            yield both


def without(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return {other: item for other, item in value.items() if other != key}
    return value[:key] + value[key + 1 :]


def smaller_cases(this: Case) -> Iterator[Case]:
    for options in smaller_options(this.options):
        yield replace(this, options=options)
    for expected, actual in smaller_pairs(this.expected, this.actual):
        yield replace(this, expected=expected, actual=actual)
    for expected in smaller_values(this.expected):
        yield replace(this, expected=expected)
    for actual in smaller_values(this.actual):
        yield replace(this, actual=actual)


def specified(this: Case) -> bool:
    """Whether the case is one that the generator could make.

    No NaN in expected, no root without keys under `fields`, no text where a container is wanted.
    """
    if "NaN" in json.dumps(this.expected) or "Infinity" in json.dumps(this.expected):
        return False
    if isinstance(this.actual, str) and isinstance(this.expected, (dict, list)):
        return False
    granularity = "fields" if this.options["metric"].startswith("field") else "leaves"
    granular = this.options.get("granularity", granularity) == "fields"
    return not granular or (isinstance(this.expected, dict) and isinstance(this.actual, dict))


def shrunk(this: Case, *, attempts: int = 4000) -> Case:
    """A smaller case on which the two still disagree."""
    while attempts > 0:
        for candidate in smaller_cases(this):
            attempts -= 1
            if size(candidate) < size(this) and specified(candidate) and disagrees(candidate):
                this = candidate
                break
            if attempts <= 0:
                break
        else:
            break
    return this


# --------------------------------------------------------------------------------------------- reports


def report(this: Case, seed: int) -> str:
    engine, reference = engine_says(this), reference_says(this)
    lines = [f"seed {seed}", f"  expected  {this.expected!r}", f"  actual    {this.actual!r}"]
    lines.append(f"  options   {this.options!r}")
    lines += [
        f"  {name}: engine {engine.get(name)!r}, reference {reference.get(name)!r}"
        for name in dict.fromkeys([*engine, *reference])
        if name != "rows" and engine.get(name) != reference.get(name)
    ]
    ours, theirs = reference.get("rows", []), engine.get("rows", [])
    lines += [
        f"  only the engine has     {row}"
        for row in theirs
        if not any(same_row(row, other) for other in ours)
    ]
    lines += [
        f"  only the reference has  {row}"
        for row in ours
        if not any(same_row(row, other) for other in theirs)
    ]
    return "\n".join(lines)


def disagreements(seeds: range, *, unordered: bool = UNORDERED) -> list[int]:
    """The seeds on whose cases engine and reference do not agree."""
    return [seed for seed in seeds if disagrees(generated(seed, unordered=unordered))]


def smallest_report(seeds: list[int], *, unordered: bool = UNORDERED, tries: int = 10) -> str:
    """The report on the smallest case that shrinking a few of these seeds' cases gives."""
    found = [(shrunk(generated(seed, unordered=unordered)), seed) for seed in seeds[:tries]]
    return report(*min(found, key=lambda pair: size(pair[0])))


def main() -> int:
    parser = argparse.ArgumentParser(
        description="compare the engine with the slow reference on generated cases"
    )
    parser.add_argument("cases", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="the first case's seed; the others follow it")
    parser.add_argument("--ordered", action="store_true", help="no unordered arrays")
    parser.add_argument("--each", action="store_true", help="report every disagreement found, shrunk")
    chosen = parser.parse_args()
    unordered = UNORDERED and not chosen.ordered
    seeds = disagreements(range(chosen.seed, chosen.seed + chosen.cases), unordered=unordered)
    sys.stdout.write(f"{chosen.cases} cases from seed {chosen.seed}: {len(seeds)} disagree\n")
    if seeds and chosen.each:
        reports = {report(shrunk(generated(seed, unordered=unordered)), seed) for seed in seeds[:200]}
        sys.stdout.write("\n".join(sorted(reports, key=len)) + "\n")
    elif seeds:
        sys.stdout.write(smallest_report(seeds, unordered=unordered) + "\n")
    return 1 if seeds else 0


if __name__ == "__main__":
    sys.exit(main())
