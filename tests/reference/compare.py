"""Compare the engine with the slow reference on generated cases, and show the smallest disagreement.

From the repository's root, 100,000 cases from seed 0 on (about ten minutes on one core):

    python tests/reference/compare.py 100000 --seed 0

Cases of odd seeds have an eval schema. Counted apart are cases that depend on what the specification leaves open:
a value that no branch of a `oneOf` or `anyOf` accepts, null where several branches and a bare null are given, and two
values of different types that belong to two branches.

Exit status 0 means that every figure (to 1e-9), every count, result row and pair, and the figures of every object
and array agreed; otherwise the smallest case found is printed, ready to be pasted, with what each side says, and
the exit status is 1. `--ordered` leaves out everything that pairs arrays without order, `--no-schemas` every schema.
`--columns` lets the engine pair small arrays as it pairs large ones: by columns, bounds, and the pairs that score.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # the repository's root, so that the engine of this checkout is the one compared
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from generate import METRICS, Case, case
from reference import ReferenceResult, RefusedError, reference_score

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.schema import reset_type_defaults, set_type_default

UNORDERED = True
"""Whether generated options may pair arrays without order."""

FIGURES = ("score", "precision", "recall", "f1", "matched_leaves", "total_leaves")


def generated(seed: int, *, unordered: bool = UNORDERED, schemas: bool = True) -> Case:
    return case(seed, metrics=METRICS, unordered=unordered, schemas=schemas)


def figures_of(result: Any, this: Case) -> dict[str, Any]:
    """What both sides must agree on; rows in an order that does not depend on the walk."""
    said: dict[str, Any] = {name: getattr(result, name) for name in FIGURES}
    said["counts"] = {status: n for status, n in result.counts.items() if n}
    if isinstance(result, ReferenceResult):
        rows = [tuple(row) for row in result.results]
        said["doubts"] = result.doubts
        said["containers"] = result.containers
        said["pairs"] = result.pairs
    else:
        said["containers"] = {
            (each.expected_path, each.actual_path): (each.precision, each.recall, each.f1)
            for each in result.containers
        }
        said["pairs"] = sorted(
            (each.expected_path, each.actual_path, *pair) for each in result.alignments for pair in each.pairs
        )
        rows = [
            (row.path, row.expected_path, row.actual_path, row.status, row.score)
            for row in result.field_results
        ]
    if granular(this):
        # What stands below a unit has no figures of its own.
        said["containers"], said["pairs"] = {}, []
    elif "target_key" in this.options:
        # What is above the target holds it and nothing else: no figure of the metric's.
        said["containers"].pop(("$", "$"), None)
    said["rows"] = sorted(rows, key=lambda row: [part or "" for part in row[:4]])
    return said


def granular(this: Case) -> bool:
    default = "fields" if this.options["metric"].startswith("field") else "leaves"
    return this.options.get("granularity", default) == "fields"


def close(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9


def same_row(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    # A skipped leaf has no score to compare.
    return one[:4] == other[:4] and (one[3] == "skipped" or close(one[4], other[4]))


def same_parts(engine: dict[str, Any], reference: dict[str, Any]) -> bool:
    """Whether the figures of objects and arrays, and the pairs of elements, are the same."""
    ours, theirs = reference["containers"], engine["containers"]
    return (
        ours.keys() == theirs.keys()
        and all(close(x, y) for key in ours for x, y in zip(ours[key], theirs[key], strict=True))
        and [pair[:4] for pair in reference["pairs"]] == [pair[:4] for pair in engine["pairs"]]
        and all(close(x[4], y[4]) for x, y in zip(reference["pairs"], engine["pairs"], strict=True))
    )


def agree(engine: dict[str, Any], reference: dict[str, Any]) -> bool:
    if "error" in engine or "error" in reference:
        named = engine.get("path"), reference.get("paths")
        return engine.get("error") == reference.get("error") and (not named[1] or named[0] in named[1])
    return (
        all(close(engine[name], reference[name]) for name in FIGURES)
        and same_parts(engine, reference)
        and engine["counts"] == reference["counts"]
        and len(engine["rows"]) == len(reference["rows"])
        and all(same_row(one, other) for one, other in zip(engine["rows"], reference["rows"], strict=True))
    )


def as_argument(value: Any) -> Any:
    """A root that is a string is given as JSON text, which is what `str` arguments are."""
    return json.dumps(value) if isinstance(value, str) else value


KNOWN_ERRORS = {"RootTypeError", "TargetPathError", "GoldValidationError", "UnlistedFieldError"}


def engine_says(this: Case) -> dict[str, Any]:
    expected, actual = copy.deepcopy(this.expected), copy.deepcopy(this.actual)
    try:
        for name, spec in this.type_defaults.items():
            set_type_default(name, copy.deepcopy(spec))
        given = as_argument(actual), as_argument(expected)
        return figures_of(compare_json(*given, **copy.deepcopy(this.options)), this)
    except Exception as error:  # noqa: BLE001 - whatever it raises is an answer to be compared
        kind = type(error).__name__
        return {
            "error": kind if kind in KNOWN_ERRORS else f"{kind}: {error}",
            "path": getattr(error, "path", None),
        }
    finally:
        reset_type_defaults()


def reference_says(this: Case) -> dict[str, Any]:
    try:
        return figures_of(reference_score(this.expected, this.actual, this.options, this.type_defaults), this)
    except RefusedError as refused:
        return {"error": refused.kind, "paths": refused.paths, "doubts": refused.doubts}


def verdict(this: Case) -> str:
    """agree, differ, or open: they differ where the specification leaves open what the reference has chosen."""
    reference = reference_says(this)
    if agree(engine_says(this), reference):
        return "agree"
    return "open" if reference.get("doubts") else "differ"


def disagrees(this: Case) -> bool:
    return verdict(this) == "differ"


@contextmanager
def columns() -> Iterator[None]:
    """Let the engine pair the smallest of arrays as it pairs large ones."""
    import numpy as np  # noqa: F401 - without it, small arrays are paired in plain Python

    from pytest_jsonmatch.engine import alignment

    always = {(alignment, "_CHEAP_CELLS"): 0}
    usual = {(module, name): getattr(module, name) for module, name in always}
    try:
        for (module, name), value in always.items():
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in usual.items():
            setattr(module, name, value)


# ------------------------------------------------------------------------------------------- shrinking


def size(this: Case) -> int:
    return len(repr((this.expected, this.actual, this.options, this.type_defaults)))


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


def smaller_schemas(node: Any) -> Iterator[Any]:
    """Copies of a schema with one word, one member or one branch less."""
    if isinstance(node, list):
        if len(node) > 1:
            yield from (without(node, i) for i in range(len(node)))
        for i, item in enumerate(node):
            for less in smaller_schemas(item):
                yield [*node[:i], less, *node[i + 1 :]]
    elif isinstance(node, dict):
        for word, said in node.items():
            yield without(node, word)
            for less in smaller_schemas(said):
                yield {**node, word: less}


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
    for name in this.type_defaults:
        yield replace(this, type_defaults=without(this.type_defaults, name))
    if "schema" in this.options:
        for less in smaller_schemas(this.options["schema"]):
            yield replace(this, options={**this.options, "schema": less})
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
    if "schema" in this.options and not sound(this):
        return False
    return not granular(this) or (isinstance(this.expected, dict) and isinstance(this.actual, dict))


def sound(this: Case) -> bool:
    """Whether both sides can read the schema: shrinking also makes some that mean nothing."""
    if "ConfigurationError" in engine_says(this).get("error", ""):
        return False
    try:
        reference_says(this)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


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
    if this.type_defaults:
        lines.append(f"  defaults  {this.type_defaults!r}")
    lines += [
        f"  {name}: engine {engine.get(name)!r}, reference {reference.get(name)!r}"
        for name in dict.fromkeys([*engine, *reference])
        if name not in {"rows", "containers", "pairs"} and engine.get(name) != reference.get(name)
    ]
    for name in ("containers", "pairs"):
        both = [said.get(name, []) for said in (engine, reference)]
        both = [list(parts.items()) if isinstance(parts, dict) else parts for parts in both]
        lines += [f"  {name}: only engine    {part}" for part in both[0] if part not in both[1]]
        lines += [f"  {name}: only reference {part}" for part in both[1] if part not in both[0]]
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


def disagreements(seeds: range, *, unordered: bool = UNORDERED, schemas: bool = True) -> list[int]:
    """The seeds on whose cases engine and reference do not agree."""
    return [seed for seed in seeds if disagrees(generated(seed, unordered=unordered, schemas=schemas))]


def smallest_report(
    seeds: list[int], *, unordered: bool = UNORDERED, schemas: bool = True, tries: int = 10
) -> str:
    """The report on the smallest case that shrinking a few of these seeds' cases gives."""
    found = [(shrunk(generated(seed, unordered=unordered, schemas=schemas)), seed) for seed in seeds[:tries]]
    return report(*min(found, key=lambda pair: size(pair[0])))


def main() -> int:
    parser = argparse.ArgumentParser(
        description="compare the engine with the slow reference on generated cases"
    )
    parser.add_argument("cases", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="the first case's seed; the others follow it")
    parser.add_argument("--ordered", action="store_true", help="no unordered arrays")
    parser.add_argument("--no-schemas", action="store_true", help="no eval schemas")
    parser.add_argument("--each", action="store_true", help="report every disagreement found, shrunk")
    parser.add_argument("--columns", action="store_true", help="pair small arrays as large ones are paired")
    chosen = parser.parse_args()
    with columns() if chosen.columns else nullcontext():
        return compared(chosen)


def compared(chosen: argparse.Namespace) -> int:
    unordered, schemas = UNORDERED and not chosen.ordered, not chosen.no_schemas
    verdicts = {
        seed: verdict(generated(seed, unordered=unordered, schemas=schemas))
        for seed in range(chosen.seed, chosen.seed + chosen.cases)
    }
    seeds = [seed for seed, found in verdicts.items() if found == "differ"]
    unsaid = list(verdicts.values()).count("open")
    sys.stdout.write(
        f"{chosen.cases} cases from seed {chosen.seed}: {len(seeds)} disagree, "
        f"{unsaid} differ in what the specification leaves open\n"
    )
    if seeds and chosen.each:
        reports = {
            report(shrunk(generated(seed, unordered=unordered, schemas=schemas)), seed)
            for seed in seeds[:200]
        }
        sys.stdout.write("\n".join(sorted(reports, key=len)) + "\n")
    elif seeds:
        sys.stdout.write(smallest_report(seeds, unordered=unordered, schemas=schemas) + "\n")
    return 1 if seeds else 0


if __name__ == "__main__":
    sys.exit(main())
