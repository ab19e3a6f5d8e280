"""Seeded triples (expected, actual, options) for comparing the engine with the slow reference.

`case(seed)` is a pure function of its arguments: the same seed gives the same case on every machine and
every supported Python. Actual documents are mostly damaged copies of expected ones, as model output is:
members dropped, added, renamed and retyped, elements shuffled, doubled and lost, strings and numbers a
little off, NaN here and there.
"""

from __future__ import annotations

import copy
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

from tests.reference.reference import DirtyEquals
from tests.reference.schemas import (
    Draft,
    schema_for,
    some_source_4_config,
    some_type_defaults,
    tree_schema,
    two_trees,
)

LARGE = 200
"""Two seeds in this many, an even and an odd one, have arrays of 28 to 40 elements, which are paired with numpy."""

METRICS = ("field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1")

KEYS = (
    "name", "price", "id", "items", "tags", "a", "b", "c", "_x1",
    "unit price", "a.b", 'q"uote', "é", "", "[]", "$", "*", "**", "0", "tab\t",
)  # fmt: skip

STRINGS = (
    "", "a", "ab", "running", "carbo loading", "Carbo  Loading ", "running shoes", "shoes running", "a b c", "c b a x",
    "café", "cafe\u0301", "CAFE", "naïve résumé", "Straße", "STRASSE", "ﬁn", "İ", "日本", "日本語", "😀 ok", "😀",
    "12", "3.5", "1", "true", "null", "line\nbreak", "\u00a0", "x" * 30, "x" * 29 + "y",
)  # fmt: skip

NUMBERS = (
    0, 1, 1.0, 2, 2.0, 2.5, -3, 0.1, 0.1004, 0.10005, 1e-13, -0.0, 7, 12, 3.5, 100, 101, 100.4, 10000, 10000.0005,
    2**53, 2**53 + 1, float(2**53), 10**22, 1e22, 10**30, 10**30 + 10**28, 1.5e300,
)  # fmt: skip

HUGE = (10**400, 10**400 + 10**399)

# `contains` comes last: what it means for containers is not specified, so no rule for a place has it.
STRING_SPECS = ("exact", "levenshtein", "jaccard", "binary", "contains")
NUMBER_SPECS: tuple[Any, ...] = (
    "exact",
    "numeric",
    "relative",
    {"exact": {"strict_number_type": True}},
    {"numeric": {"tolerance": {"rel": 0.013}}},
    {"numeric": {"tolerance": {"abs": 0.07}}},
    {"numeric": {"tolerance": {"rel": 0.013, "abs": 0.07}}},
    {"threshold": {"threshold": 1.7}},
    {"threshold": {"threshold": 1.7, "difference_penalty_weighting": 0}},
    {"threshold": {"threshold": 120.3, "difference_penalty_weighting": 2}},
)
LIST_SPECS: tuple[Any, ...] = (
    {"oneof": {"values": ["a", 1, None, "café"]}},
    {"oneof": {"groups": [["a", "ab", "running"], [1, 2, "1"]]}},
)
TRANSFORMS: tuple[Any, ...] = (
    "lowercase",
    "strip",
    "normalize_whitespace",
    "sort_tokens",
    "strip_accents",
    "casefold",
    {"unicode": {"form": "NFC"}},
    {"round_digits": {"digits": 1}},
    {"type_convert": {"to": "number"}},
)


@dataclass(frozen=True)
class Case:
    """One input of the comparison; `options` is what `compare_json` takes, `metric` included.

    `type_defaults` is what `set_type_default` is told before.
    """

    expected: Any
    actual: Any
    options: dict[str, Any]
    type_defaults: dict[str, Any] = field(default_factory=dict)


def case(seed: int) -> Case:
    """The case of this seed; that of every other has an eval schema."""
    plain = plain_case(seed)
    made = with_schema(random.Random(seed), plain) if seed % 2 else plain
    made = with_accept(random.Random(seed), made) if seed % 5 < 2 else made
    made = with_short_forms(random.Random(seed), made) if seed % 3 == 0 else made
    return with_matchers(random.Random(seed), made) if seed % 7 == 0 else made


def with_matchers(rng: random.Random, plain: Case) -> Case:
    """Put matchers in place of some of expected's values; a schema would refuse some of them."""

    def matched(value: Any, depth: int, *, in_object: bool = False) -> Any:
        if in_object and rng.random() < 0.1:
            return DirtyEquals("absent")
        if depth and rng.random() < (0.15 if isinstance(value, (dict, list)) else 0.3):
            near = value if isinstance(value, str) else "number"
            words = ("anything", "string", "array", "object", "number", near, "length 1", "length 2")
            return DirtyEquals(rng.choice(words))
        if isinstance(value, dict):
            return {key: matched(item, depth + 1, in_object=True) for key, item in value.items()}
        return [matched(item, depth + 1) for item in value] if isinstance(value, list) else value

    if "schema" in plain.options or "target_key" in plain.options or "target_output_key" in plain.options:
        return plain
    return Case(matched(plain.expected, 0), plain.actual, plain.options, plain.type_defaults)


def with_short_forms(rng: random.Random, plain: Case) -> Case:
    """Write rules in their short forms where they have one, and give some a leaf threshold."""
    fields: dict[str, Any] = {}
    options = {**plain.options, "fields": fields}
    for pattern, given in plain.options.get("fields", {}).items():
        rule = dict(given)
        if rng.random() < 0.3:
            word = rng.choice(("leaf_threshold", "match_threshold"))
            rule[word] = rng.choice((0 if word == "leaf_threshold" else 0.1, 0.3, 0.6, 1))
        match rule:
            case {"skip": True, **others} if not others:
                if rng.random() < 0.5:
                    options["skip"] = [*options.get("skip", ()), pattern]
                else:
                    fields[pattern] = "skip"
            case {"compare": str(name), **others} if not others:
                fields[pattern] = name
            case {"compare": {"numeric": {"tolerance": tolerance}}, **others}:
                short = tolerance["abs"] if tolerance.keys() == {"abs"} else tolerance
                fields[pattern] = {**others, "tolerance": short}
            case _:
                fields[pattern] = rule
    return Case(plain.expected, plain.actual, options, plain.type_defaults)


def with_accept(rng: random.Random, plain: Case) -> Case:
    """Say at some places accepted alternatives: values of the documents, and predicates."""
    places: dict[tuple[Any, ...], Any] = {}
    theirs: dict[tuple[Any, ...], Any] = {}
    collect(plain.expected, (), places)
    collect(plain.actual, (), theirs)
    places.pop((), None)
    if not places or "target_key" in plain.options or "target_output_key" in plain.options:
        return plain
    options = dict(plain.options)
    for _ in range(rng.randint(1, 3)):
        segments = rng.choice(list(places))
        near = [theirs[segments]] if segments in theirs else []
        values = rng.choices([*near * 3, *places.values(), *theirs.values(), None, ""], k=rng.randint(1, 3))
        said: dict[str, Any] = {"values": list(filter(is_json, values)) or [1]}
        if rng.random() < 0.3:
            said = {"optional": True} if rng.random() < 0.3 else {**said, "optional": True}
        if rng.random() < 0.3:
            word = rng.choice(("regex", "range", "type", "any"))
            said[word] = {
                "regex": rng.choice(("[a-z]+", ".*a.*", "[0-9.]+")),
                "range": [0, rng.choice((5, 100, 1e6))],
                "type": rng.choice(("string", "number", "integer", "object", "array", "null", "boolean")),
                "any": True,
            }[word]
        wide = path(segments) if rng.random() < 0.8 else some_pattern(rng, segments, wide=True)
        accept: Any = said["values"] if [*said] == ["values"] and rng.random() < 0.5 else said
        if rng.random() < 0.5:
            options["accept"] = {**options.get("accept", {}), wide: accept}
        else:
            fields = options.get("fields", {})
            options["fields"] = {**fields, wide: {**fields.get(wide, {}), "accept": accept}}
    return Case(plain.expected, plain.actual, options, plain.type_defaults)


def with_schema(rng: random.Random, plain: Case) -> Case:
    expected, actual, options = plain.expected, plain.actual, dict(plain.options)
    lenient = options.get("unlisted") == "reject" or (
        "unlisted" not in options and options["metric"] == "pairwise_f1"
    )
    draft = Draft(rng, some_rule=some_rule, some_value=some_value, lenient=lenient)
    type_defaults = {}
    if rng.random() < 0.08:
        type_defaults = some_type_defaults(rng, STRING_SPECS, NUMBER_SPECS)
        draft.faithful = True
    if rng.random() < 0.1 and not options["metric"].startswith("field") and "target_key" not in options:
        expected, actual = two_trees(rng, some_scalar, damaged)
        options.pop("fields", None)
        if not isinstance(actual, dict):
            actual = copy.deepcopy(expected)
        options["schema"] = tree_schema(rng, draft)
    else:
        granularity = "fields" if options["metric"].startswith("field") else "leaves"
        granular = options.get("granularity", granularity) == "fields"
        options["schema"] = schema_for(draft, expected, actual, granular=granular)
    return Case(expected, actual, options, type_defaults)


def is_json(value: Any) -> bool:
    """Tell whether there is no NaN in a value, and no infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def plain_case(seed: int) -> Case:
    rng = random.Random(seed)
    large = seed % LARGE < 2
    options = some_options(rng, [metric for metric in METRICS if not (large and metric.startswith("field"))])
    metric = options["metric"]
    needs_object = options.get("root", "object" if metric.startswith("field") else "any") == "object"
    granular = options.get("granularity", "fields" if metric.startswith("field") else "leaves") == "fields"
    # What a root that is not an object means under `granularity: fields` is not specified: not generated.
    as_object = granular or rng.random() < (0.98 if needs_object else 0.6)
    if large or rng.random() < 0.25:
        expected, actual = two_collections(rng, options, large=large)
        if as_object:
            key = rng.choice(KEYS)
            expected, actual = {key: expected}, {key: actual}
    else:
        expected, actual = two_documents(rng, as_object=as_object)
        # A text that is given where an object or array is expected is searched for one: not the walk's matter.
        if (granular and not isinstance(actual, dict)) or (
            isinstance(actual, str) and isinstance(expected, (dict, list))
        ):
            actual = copy.deepcopy(expected)
    if rng.random() < 0.08 and isinstance(expected, dict):
        targets = [key for key, value in expected.items() if isinstance(value, dict) or not granular]
        targets = [key for key in targets if expected[key] is not None]
        fits = isinstance(actual, dict) and (
            not granular or all(isinstance(actual.get(key, {}), dict) for key in targets)
        )
        if targets and fits:
            key = rng.choice(targets)
            options["target_key"] = path([key])
    add_rules(rng, options, expected, actual)
    return Case(expected, actual, options)


def two_documents(rng: random.Random, *, as_object: bool) -> tuple[Any, Any]:
    """Two documents of many shapes, the second mostly a damaged copy of the first."""
    expected = some_object(rng, 3) if as_object else some_value(rng, 3)
    if rng.random() < 0.15:
        return expected, some_object(rng, 3) if as_object else some_value(rng, 3)
    return expected, damaged(rng, expected, rng.choice((0.05, 0.15, 0.3, 0.5)), nonfinite=True)


def two_collections(
    rng: random.Random, options: dict[str, Any], *, large: bool
) -> tuple[list[Any], list[Any]]:
    """Two arrays whose elements all resemble each other, so that many assignments are worth comparing."""
    fewest, most, keys, variety = (28, 40, 5, 3) if large else (2, 6, 4, 1)
    if large or rng.random() < 0.8:
        options["arrays"] = rng.choice(("unordered", "unordered", "sequence"))
    # A few values for each key: elements share some members and differ in others.
    palettes = {
        key: [
            value
            for _ in range(variety)
            for value in (some_scalar(rng), some_scalar(rng), some_array(rng, 1))
        ]
        for key in rng.sample(KEYS, rng.randint(1, keys))
    }
    if rng.random() < 0.2:
        palettes[""] = [some_array(rng, 2), some_array(rng, 2)]

    def element() -> Any:
        if rng.random() < 0.1:
            return some_value(rng, 1)
        return {key: rng.choice(palette) for key, palette in palettes.items() if rng.random() < 0.85}

    expected = [damaged(rng, element(), 0.1) for _ in range(rng.randint(fewest, most))]
    actual = [damaged(rng, element(), 0.1, nonfinite=True) for _ in range(rng.randint(fewest, most))]
    if rng.random() < 0.1:
        # Only scalars: strings with words in common, numbers near each other.
        words = rng.sample(STRINGS + NUMBERS, 4 * variety)
        expected, actual = ([rng.choice(words) for _ in side] for side in (expected, actual))
    return expected, actual


# -------------------------------------------------------------------------------------------- options


def some_options(rng: random.Random, metrics: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"metric": rng.choice(metrics)}
    if rng.random() < 0.75:
        choices: dict[str, tuple[Any, ...]] = {
            "root": ("any", "object"),
            "granularity": ("leaves", "leaves", "fields"),
            "extra": ("count", "ignore", "elements"),
            "arrays": ("ordered", {"key": "id"}, {"key": "name"}, "unordered", "unordered", "sequence"),
            "array_threshold": (0, 0.3, 0.5),
            "empties": ("leaf", "if_absent", "never"),
            "nulls": ("value", "absent"),
            "absent": ([], [None, "", "a"], ["", "Running", []], [0, 1, "a", {}], [{}, [], False, ["a"]]),
            "reduce": ("f1", "ratio"),
            "unlisted": ("extra", "reject"),
            "leaf_threshold": (None, None, 0.3, 0.5),
            "match_threshold": (None, None, 0.3, 0.7),
        }
        chance = rng.choice((0.2, 0.5, 1.0))
        options.update(
            {name: rng.choice(values) for name, values in choices.items() if rng.random() < chance}
        )
        if options.get("extra") in ("count", "elements") and options.get("reduce") == "ratio":
            del options[rng.choice(("extra", "reduce"))]  # both together are an error
        if options.get("leaf_threshold") and options.get("match_threshold"):
            del options[rng.choice(("leaf_threshold", "match_threshold"))]  # both together are an error
    if options["metric"] == "pairwise_f1" and rng.random() < 0.15:
        config = some_source_4_config(rng, STRING_SPECS, NUMBER_SPECS)
        if "array_matching_threshold" in config:
            options.pop("array_threshold", None)
        options.update(config)
    elif rng.random() < 0.2:
        options["compare"] = some_type_config(rng)
    if rng.random() < 0.15:
        options["transform"] = some_transforms(rng)
    return options


def some_type_config(rng: random.Random) -> Any:
    if rng.random() < 0.2:
        return rng.choice(("exact", "levenshtein", "relative"))
    config = {
        "string": rng.choice(STRING_SPECS),
        "number": rng.choice(NUMBER_SPECS),
        "integer": rng.choice(NUMBER_SPECS),
        "boolean": rng.choice(("exact", "binary")),
    }
    return {name: spec for name, spec in config.items() if rng.random() < 0.5} or {"string": "exact"}


def some_transforms(rng: random.Random) -> list[Any]:
    return [rng.choice(TRANSFORMS) for _ in range(rng.randint(1, 2))]


# -------------------------------------------------------------------------------------- rules by field


def add_rules(rng: random.Random, options: dict[str, Any], *documents: Any) -> None:
    """Give half of the cases one to three rules at places that their documents have."""
    places: dict[tuple[Any, ...], Any] = {}
    for document in documents:
        collect(document, (), places)
    places.pop((), None)
    if not places or rng.random() < 0.5:
        return
    fields: dict[str, Any] = {}
    for _ in range(rng.randint(1, 3)):
        segments = rng.choice(list(places))
        if rule := some_rule(rng, places[segments]):
            pattern = some_pattern(rng, segments, wide="skip" not in rule)
            fields[pattern] = {**fields.get(pattern, {}), **rule}
    if fields:
        options["fields"] = fields


def collect(value: Any, segments: tuple[Any, ...], places: dict[tuple[Any, ...], Any]) -> None:
    """The schema path of every node, with one value that stands there (None in a path is any element)."""
    places[segments] = value
    if isinstance(value, dict):
        for key, item in value.items():
            collect(item, (*segments, key), places)
    if isinstance(value, list):
        for item in value:
            collect(item, (*segments, None), places)


def some_rule(rng: random.Random, value: Any) -> dict[str, Any]:
    rule: dict[str, Any] = {}
    if rng.random() < 0.35:
        rule["weight"] = rng.choice((0, 0.5, 2, 3))
    if rng.random() < 0.2:
        rule["skip"] = True
    if rng.random() < 0.3:
        rule["transform"] = some_transforms(rng)
    if isinstance(value, list) and rng.random() < 0.6:
        aligns: list[Any] = [{"ordered": True}, {"match_by": "key_field", "key": rng.choice(("id", "name"))}]
        by: dict[str, Any] = {"by": rng.sample(("id", "name", "tags"), rng.choice((1, 1, 2)))}
        if rng.random() < 0.4:
            by["threshold"] = rng.choice((0, 0.3, 0.6))
        rule["align"] = rng.choice([*aligns, by, {"match_by": "sequence"}, *[{"match_by": "hungarian"}] * 2])
    if isinstance(value, (dict, list)):
        if rng.random() < 0.05:
            rule["compare"] = "exact"
    elif rng.random() < 0.4:
        rule["compare"] = rng.choice(STRING_SPECS[:4] + NUMBER_SPECS + LIST_SPECS)
    return rule


def some_pattern(rng: random.Random, segments: tuple[Any, ...], *, wide: bool) -> str:
    """A pattern that matches the path: itself, or with some keys or its beginning made wild.

    Only a `wide` one may end in a symbol for any key: if much is skipped, nothing is left to compare.
    """
    changed: list[Any] = list(segments)
    for i, segment in enumerate(changed):
        last = i == len(changed) - 1
        if isinstance(segment, str) and rng.random() < 0.15 and (wide or not last):
            changed[i] = "(one key)"
    if rng.random() < 0.25:
        cut = rng.randint(1, len(changed))
        if wide or cut < len(changed):
            changed = ["(anything)", *changed[cut:]]
    return path(changed)


def path(segments: list[Any] | tuple[Any, ...]) -> str:
    text = ""
    for segment in segments:
        if segment is None:
            text += "[]"
        elif segment in {"(one key)", "(anything)"}:
            text += ("." if text else "") + ("*" if segment == "(one key)" else "**")
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", segment):
            text += ("." if text else "") + segment
        else:
            text += f"[{json.dumps(segment, ensure_ascii=False)}]"
    return text


# ------------------------------------------------------------------------------------------ documents


def some_scalar(rng: random.Random) -> Any:
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(STRINGS)
    if kind < 0.8:
        return rng.choice(HUGE) if rng.random() < 0.03 else rng.choice(NUMBERS)
    return rng.choice((True, False, None))


def some_object(rng: random.Random, depth: int) -> dict[str, Any]:
    # Few distinct keys in most objects, so that shapes often overlap.
    keys = KEYS[:8] if rng.random() < 0.75 else KEYS
    size = 0 if rng.random() < 0.04 else rng.choice((3, 4, 5, 6, 7) if depth == 3 else (1, 2, 3, 3, 4))
    return {key: some_value(rng, depth - 1) for key in rng.sample(keys, size)}


def some_array(rng: random.Random, depth: int) -> list[Any]:
    size = rng.choice((0, 1, 2, 3, 4, 5, 6) if depth >= 2 else (0, 1, 2, 3))
    kind = rng.random()
    if kind < 0.2:  # variations of one record: many pairs are similar, few are twins
        template = some_object(rng, 2 if depth == 3 else 1)
        return [damaged(rng, template, 0.35) for _ in range(size)]
    if kind < 0.4:  # records with a key
        records = [some_object(rng, 1) for _ in range(size)]
        for record in records:
            if rng.random() < 0.9:
                record[rng.choice(("id", "id", "name"))] = rng.choice(
                    (1, 2, 3, 1.0, "1", "a", "A", True, None)
                )
        return records
    if kind < 0.6:
        return [some_scalar(rng) for _ in range(size)]
    if kind < 0.75:  # few values, so that many repeat
        values = [some_scalar(rng) for _ in range(2)]
        return [rng.choice(values) for _ in range(size)]
    if kind < 0.85:
        return [some_array(rng, depth - 1) if depth > 1 else [] for _ in range(size)]
    return [some_value(rng, depth - 1) for _ in range(size)]


def some_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth <= 0:
        return rng.choice(([], {})) if kind < 0.05 else some_scalar(rng)
    if kind < 0.3:
        return some_object(rng, depth)
    return some_array(rng, depth) if kind < 0.65 else some_scalar(rng)


def damaged(rng: random.Random, value: Any, rate: float, *, nonfinite: bool = False) -> Any:
    """A copy with about `rate` of its nodes changed in one way or other, NaN and infinities if `nonfinite`."""
    if rng.random() < rate * 0.3:
        return some_value(rng, 1)  # often of another type
    if isinstance(value, dict):
        members = [
            (key, damaged(rng, item, rate, nonfinite=nonfinite))
            for key, item in value.items()
            if rng.random() > rate * 0.7
        ]
        if rng.random() < rate:
            members.append((rng.choice(KEYS), some_value(rng, 1)))
        rng.shuffle(members)
        return dict(members)
    if isinstance(value, list):
        items = [damaged(rng, item, rate, nonfinite=nonfinite) for item in value if rng.random() > rate * 0.5]
        if items and rng.random() < rate:
            items.append(copy.deepcopy(rng.choice(items)))
        if rng.random() < rate:
            items.insert(rng.randint(0, len(items)), some_value(rng, 1))
        if rng.random() < 0.4:
            rng.shuffle(items)
        return items[:6]
    if rng.random() > rate:
        return value
    return damaged_scalar(rng, value, nonfinite=nonfinite)


def damaged_scalar(rng: random.Random, value: Any, *, nonfinite: bool) -> Any:
    if nonfinite and rng.random() < 0.08:
        return rng.choice((float("nan"), float("inf")))
    if isinstance(value, str) and rng.random() < 0.7:
        words = value.split()
        return rng.choice(
            (value.upper(), value + " x", value[1:], " ".join(reversed(words)), value.lower() + " ")
        )
    if isinstance(value, bool):
        return rng.choice((not value, int(value), str(value).lower()))
    if isinstance(value, (int, float)) and rng.random() < 0.7:
        if abs(value) > 1e15:
            return value + 1 if isinstance(value, int) else value
        return rng.choice((value + 1, value * 1.004, value - 0.0004, str(value), -value))
    return some_scalar(rng)
