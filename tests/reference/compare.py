"""Compare the engine with the slow reference on a generated case, and show the smallest disagreement.

Cases of odd seeds have an eval schema. Set apart are cases that depend on what the specification leaves open:
a value that no branch of a `oneOf` or `anyOf` accepts, null where several branches and a bare null are given, and two
values of different types that belong to two branches.

The reference checks the pairs that the engine reports for each unordered array: one to one, twins first, above the
threshold, and none better. Every number (to 1e-9), every count, result row and aggregate by field, and the numbers of
every object and array, have to be those that follow from these pairs. Set apart are cases whose headline numbers
are others with the pairs that the reference has found: pairings that tie leave different leaves of one side uncounted.
Then the laws: no number changes when the engine scores again, or when unordered arrays are shuffled at any depth, and
exchanging the sides exchanges precision and recall where the metric treats them alike.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pytest_jsonmatch import MatchResult, compare_json
from pytest_jsonmatch.schema import reset_type_defaults, set_type_default
from tests.conftest import load_cases, replace
from tests.reference.generate import Case, case
from tests.reference.reference import DirtyEquals, Plan, RefusedError, reference_score, shuffled_sides

SCORES = ("score", "precision", "recall", "f1", "matched_leaves", "total_leaves")


def granular(this: Case) -> bool:
    return plan_of(this).granularity == "fields"


def plan_of(this: Case) -> Plan:
    return Plan.of(this.options, this.type_defaults)


KNOWN_ERRORS = {"RootTypeError", "TargetPathError", "GoldValidationError", "UnlistedFieldError"}


@functools.cache
def from_golden(expected: str) -> Any:
    """Return an expected value as golden files write it."""
    text = f"id: a\nactual: 1\nexpected: {expected}\n"
    (case,) = load_cases(text.encode(), Path("a.golden.yaml"), "a.golden.yaml").by_id.values()
    return case.expected


def as_written(value: Any) -> Any:
    """Return expected with the matchers that only golden files have."""
    if isinstance(value, DirtyEquals) and value.word == "absent":
        return from_golden("{member: {$absent: true}}")["member"]
    if isinstance(value, DirtyEquals) and value.word.startswith("length "):
        return from_golden(f"{{$length: {value.word.split()[1]}}}")
    if isinstance(value, dict):
        return {key: as_written(item) for key, item in value.items()}
    return [as_written(item) for item in value] if isinstance(value, list) else value


def answer_of(this: Case) -> MatchResult:
    """Return the engine's answer to a case, whose values and options it may not change."""
    expected, actual, options, type_defaults = copy.deepcopy(
        (this.expected, this.actual, this.options, this.type_defaults)
    )
    try:
        for name, spec in type_defaults.items():
            set_type_default(name, spec)
        expected = as_written(expected)
        # A root that is a string is given as JSON text, which is what `str` arguments are.
        given = [json.dumps(value) if isinstance(value, str) else value for value in (actual, expected)]
        return compare_json(*given, **options)
    finally:
        reset_type_defaults()


def engine_says(this: Case) -> dict[str, Any]:
    try:
        result = answer_of(this)
    except Exception as error:  # noqa: BLE001 - whatever it raises is an answer to be compared
        kind = type(error).__name__
        if "only objects have a member" in str(error):
            return {"error": kind}
        return {
            "error": kind if kind in KNOWN_ERRORS else f"{kind}: {error}",
            "path": getattr(error, "path", None),
        }
    said: dict[str, Any] = {name: getattr(result, name) for name in SCORES}
    said["counts"] = {status: n for status, n in result.counts.items() if n}
    # (The reference does not count absence, which stands between the counts of statuses and the sums.)
    aggregates = {path: each.to_list() for path, each in result.per_field.items()}
    said["fields"] = {path: numbers[:6] + numbers[-4:] for path, numbers in aggregates.items()}
    said["rows"] = in_order(
        (row.path, row.expected_path, row.actual_path, row.status, row.score) for row in result.field_results
    )
    said["containers"] = {
        (each.expected_path, each.actual_path): (each.precision, each.recall, each.f1)
        for each in result.containers
    }
    said["pairs"] = sorted(
        (each.expected_path, each.actual_path, *pair) for each in result.alignments for pair in each.pairs
    )
    costs = [each.cost for each in result.differences]
    said["costs"] = [sum(costs), sum(each.cost for each in result.kinds.values()), min(costs, default=0.0)]
    return with_scores_of_its_own(said, this)


def reference_says(this: Case, engine: dict[str, Any]) -> dict[str, Any]:
    """What the engine has to say, given the pairs that it has chosen."""
    pairings: dict[tuple[str, str], list[tuple[int, int]]] | None = None
    if not granular(this) and "error" not in engine:
        pairings = {}
        for expected_path, actual_path, i, j, _ in engine["pairs"]:
            pairings.setdefault((expected_path, actual_path), []).append((i, j))
    try:
        result = reference_score(this.expected, this.actual, this.options, this.type_defaults, pairings)
    except RefusedError as refused:
        return {"error": refused.kind, "paths": refused.paths, "doubts": refused.doubts}
    said: dict[str, Any] = {name: getattr(result, name) for name in SCORES}
    for name in ("counts", "fields", "containers", "pairs", "objections", "tied", "doubts"):
        said[name] = getattr(result, name)
    # What was only skipped has no aggregate.
    said["fields"] = {path: each for path, each in said["fields"].items() if any(each[:4]) or each[5]}
    said["rows"] = in_order(result.results)
    if "error" not in engine:
        # The costs of differences add up to what is lost, one by one and by kind, and none is negative.
        loss = 1 - engine["score"]
        said["costs"] = [loss, loss, max(0.0, engine["costs"][2])]
    return with_scores_of_its_own(said, this)


def in_order(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in an order that does not depend on the walk; a skipped leaf has no score to compare."""
    plain = [row[:4] if row[3] == "skipped" else row for row in rows]
    return sorted(plain, key=lambda row: [part or "" for part in row[:4]])


def with_scores_of_its_own(said: dict[str, Any], this: Case) -> dict[str, Any]:
    if granular(this):
        # What stands below a unit has no numbers of its own.
        said["containers"], said["pairs"] = {}, []
    elif "target_key" in this.options:
        # What is above the target holds it and nothing else: no number of the metric's.
        said["containers"].pop(("$", "$"), None)
    return said


def close(one: Any, other: Any) -> bool:
    """Whether two parts of a line are equal, numbers to 1e-9."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return bool(one == other)


def agree(engine: dict[str, Any], reference: dict[str, Any]) -> bool:
    if "error" in engine or "error" in reference:
        named = engine.get("path"), reference.get("paths")
        return engine.get("error") == reference.get("error") and (not named[1] or named[0] in named[1])
    return not reference["objections"] and all(close(engine[name], reference[name]) for name in engine)


def verdict(this: Case) -> str:
    """agree, tied, differ, or open: they differ where the specification leaves open what the reference has chosen."""
    engine = engine_says(this)
    if "matcher" in engine.get("error", ""):
        return "open"  # no matcher is a key, and no comparator takes one: such cases are refused
    reference = reference_says(this, engine)
    if agree(engine, reference):
        return "differ" if broken_laws(this, engine) else "tied" if reference.get("tied") else "agree"
    return "open" if reference.get("doubts") else "differ"


def disagrees(this: Case) -> bool:
    return verdict(this) == "differ"


# ------------------------------------------------------------------------------------------------ laws


def broken_laws(this: Case, engine: dict[str, Any]) -> list[str]:
    """The laws of unordered arrays that do not hold for the case, each with what it gives."""
    words = json.dumps(this.options)
    if "error" in engine or (plan_of(this).arrays != "unordered" and '"hungarian"' not in words):
        return []
    before = counted(engine)
    others = {"scored again": this}
    if '"anyOf"' not in words and '"oneOf"' not in words:
        # (Which branch holds for an element of actual, and so which of its arrays have an order, hangs on its partner.)
        rng = random.Random(words)
        sides = shuffled_sides(this.expected, this.actual, this.options, this.type_defaults, rng)
        others["shuffled"] = replace(this, expected=sides[0], actual=sides[1])
    broken = [
        f"{name}: {before} before, {after} after, with {other.expected!r} and {other.actual!r}"
        for name, other in others.items()
        if not close(before, after := counted(engine_says(other)))
    ]
    if symmetric(this):
        after = counted(engine_says(replace(this, expected=this.actual, actual=this.expected)))
        exchanged = [after.get(name) for name in ("score", "recall", "precision", "f1")]
        if not close([before[name] for name in SCORES[:4]], exchanged):
            broken.append(f"sides exchanged: {before} before, {after} after")
    return broken


def counted(said: dict[str, Any]) -> dict[str, Any]:
    """The numbers, counts and aggregates without what is skipped: of twins that differ only there, the order decides."""
    if "error" in said:
        return said
    counts = {status: number for status, number in said["counts"].items() if status != "skipped"}
    fields = {path: numbers[:4] + numbers[6:] for path, numbers in said["fields"].items() if any(numbers[:4])}
    return {**{name: said[name] for name in SCORES}, "counts": counts, "fields": fields}


def symmetric(this: Case) -> bool:
    """Whether the metric treats both sides alike: extras count, and so do the values and comparators on both."""
    plan = plan_of(this)
    if "DirtyEquals" in repr(this.expected):
        return False
    if (plan.extra, plan.reduce, plan.schema, plan.target_key) != ("count", "f1", None, "*"):
        return False
    words = json.dumps([this.options, plan.types, this.expected, this.actual])
    # What holds for leaves alone goes by expected's form, and comparators by type go by expected's type.
    by_type = set(plan.called) and set(map(str, plan.called.values())) != {str(plan.called.get("null"))}
    if by_type or any(pattern.endswith("**") for pattern in this.options.get("fields", {})):
        return False
    # A text beside a container is searched for JSON, and numbers that are none are an error in expected.
    if isinstance(this.expected, str) or "NaN" in words or "Infinity" in words:
        return False
    # How many leaves an empty container counts hangs on its partner, and so with pairings that tie do the numbers.
    if plan.empties != "never" and any(word in words for word in ("[]", "{}", "null", "skip")):
        return False
    return not any(f'"{word}"' in words for word in ("relative", "rel", "contains", "oneof", "accept"))


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
        for word in rule if isinstance(rule, dict) else ():
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

    No NaN in expected, no root without keys under `fields`, no text where a container is expected.
    """
    if "NaN" in json.dumps(this.expected, default=repr) or "Infinity" in json.dumps(
        this.expected, default=repr
    ):
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
        reference_says(this, {"error": ""})
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
    engine = engine_says(this)
    reference = reference_says(this, engine)
    lines = [f"seed {seed}", f"  expected  {this.expected!r}", f"  actual    {this.actual!r}"]
    lines.append(f"  options   {this.options!r}")
    if this.type_defaults:
        lines.append(f"  defaults  {this.type_defaults!r}")
    for name in dict.fromkeys([*engine, *reference]):
        ours, theirs = engine.get(name), reference.get(name)
        if name in PARTS:
            lines += [f"  {name}: only the engine has     {part}" for part in missing(ours, theirs)]
            lines += [f"  {name}: only the reference has  {part}" for part in missing(theirs, ours)]
        elif not close(ours, theirs):
            lines.append(f"  {name}: engine {ours!r}, reference {theirs!r}")
    return "\n".join(lines + [f"  {law}" for law in broken_laws(this, engine)])


PARTS = ("fields", "rows", "containers", "pairs")


def missing(parts: Any, others: Any) -> list[Any]:
    """Which parts of what one side says the other has not."""
    ours, theirs = (list(each.items()) if isinstance(each, dict) else each or [] for each in (parts, others))
    return [part for part in ours if not any(close(part, other) for other in theirs)]


def smallest_report(seed: int) -> str:
    """The report on the smallest case that shrinking a seed's case gives."""
    return report(shrunk(case(seed)), seed)
