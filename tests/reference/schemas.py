"""Seeded eval schemas that fit generated documents: most list just what expected holds, some say less or more.

`add_schema` gives a case's options a schema (`options["schema"]`), and rarely defaults by type and the config keys
of source 4. Every function draws from the generator's own `random.Random`, so a seed gives one schema.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

NAMES = ("one", "two", "a/b", "til~de", "é")

Chooser = Callable[..., Any]


def json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value % 1 == 0):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class Draft:
    """A schema in the making: the documents' places become nodes, some of them definitions."""

    def __init__(self, rng: random.Random, *, some_rule: Chooser, some_value: Chooser, lenient: bool) -> None:
        self.rng = rng
        self.some_rule = some_rule
        self.some_value = some_value
        self.lenient = lenient  # how often members of expected stay out of the schema
        self.definitions: dict[str, Any] = {}
        self.in_branch = False
        self.faithful = False  # whether types are always those of the values

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def node(self, expected: list[Any], actual: list[Any]) -> dict[str, Any]:
        """The schema of a place where these values stand."""
        if self.chance(0.04):
            return {}
        if self.chance(0.12) and (expected or actual):
            made = self.branches(expected, actual)
        else:
            made = self.plain(expected, actual)
        name = self.rng.choice(NAMES)
        if self.chance(0.08) and name not in self.definitions:
            self.definitions[name] = made
            made = {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}
            if self.chance(0.3):
                made["x-eval-weight"] = self.rng.choice((0.5, 2))
        return made

    def plain(self, expected: list[Any], actual: list[Any], *, rules: bool = True) -> dict[str, Any]:
        types = self.types(expected or actual)
        made: dict[str, Any] = {}
        # A branch without a type would be told apart by what its words mean for other types: not generated.
        if types and (self.in_branch or not self.chance(0.04)):
            made["type"] = types[0] if len(types) == 1 and not self.chance(0.1) else types
        # Values of types that are not said here stand under no listing.
        if "object" in types:
            self.add_members(made, *(kept(side, dict) for side in (expected, actual)))
        if "array" in types and not self.chance(0.12):
            made["items"] = self.node(*(elements(side) for side in (expected, actual)))
        scalars = [value for value in expected + actual if not isinstance(value, (dict, list))]
        # What a branch with several types and an enum is worth where no branch accepts the value: not generated.
        single = len(types) == 1 or not self.in_branch
        if scalars and single and self.chance(0.12) and not set(types) & {"object", "array"}:
            made["enum"] = [self.rng.choice(scalars) for _ in range(3)] + ["other"]
        if rules:
            self.add_rules(made, types, expected + actual)
        return made

    def types(self, values: list[Any]) -> list[str]:
        found = list(dict.fromkeys(json_type(value) for value in values if not nonfinite(value)))
        if "number" in found and "integer" in found and not self.chance(0.3):
            found.remove("integer")
        if "integer" in found and self.chance(0.3):
            found[found.index("integer")] = "number"
        if self.chance(0.1) and "null" not in found:
            found.append("null")
        # Which defaults by type hold inside a container that stands where the schema has none: not generated.
        if len(found) > 1 and self.chance(0.15) and not self.faithful:
            found.pop()
        if self.chance(0.03) and not self.faithful:
            found = [self.rng.choice(("string", "number", "integer", "boolean", "null", "object", "array"))]
        return list(dict.fromkeys(found))

    def add_members(
        self, made: dict[str, Any], expected: list[dict[str, Any]], actual: list[dict[str, Any]]
    ) -> None:
        if self.chance(0.1):
            if self.chance(0.4):
                made["additionalProperties"] = self.rng.choice((True, False))
            elif self.chance(0.3):
                made["additionalProperties"] = self.node(all_items(expected), all_items(actual))
            return
        listed: dict[str, Any] = {}
        unlisted = False
        for key in dict.fromkeys(key for value in expected for key in value):
            if self.chance(0.05 if self.lenient else 0.006):
                unlisted = True
            else:
                listed[key] = self.node(items_at(expected, key), items_at(actual, key))
        for key in dict.fromkeys(key for value in actual for key in value):
            if key not in listed and self.chance(0.6):
                listed[key] = self.node([], items_at(actual, key))
        if self.chance(0.15):
            listed.setdefault(
                self.rng.choice(("id", "name", "more")), self.node([self.some_value(self.rng, 1)], [])
            )
        made["properties"] = listed
        if self.chance(0.5 if self.lenient or unlisted else 0.2):
            made["additionalProperties"] = True
        elif self.chance(0.15):
            made["additionalProperties"] = False
        elif self.chance(0.05):
            made["additionalProperties"] = self.plain([self.some_value(self.rng, 1)], [])
        if listed and self.chance(0.2):
            made["required"] = self.rng.sample(list(listed), 1)

    def branches(self, expected: list[Any], actual: list[Any]) -> dict[str, Any]:
        """oneOf or anyOf: by type, by a member's value, or by what an enum lists."""
        values = expected or actual
        alternatives: list[Any] = []
        outside, self.in_branch = self.in_branch, True
        kinds = list(dict.fromkeys(json_type(value) for value in values if not nonfinite(value)))
        for kind in kinds:
            ours, theirs = ([v for v in side if json_type(v) == kind] for side in (expected, actual))
            first = self.rng.choice(ours or theirs)
            branch = self.plain(ours, theirs)
            if kind == "object" and first and self.chance(0.5):
                # One of the members tells two kinds of object apart.
                key = self.rng.choice(list(first))
                special = self.plain(ours, theirs)
                if isinstance(first[key], (dict, list)):
                    special["required"] = [key]
                else:
                    special.setdefault("properties", {})[key] = {"const": first[key]}
                    special["required"] = [key]
                alternatives.append(special)
            elif kind not in {"object", "array", "null"} and self.chance(0.4):
                special = self.plain([first], [])
                special["enum"] = [first]
                alternatives.append(special)
            alternatives.append(branch)
        self.in_branch = outside
        if self.chance(0.3):
            alternatives.append({"type": "null"})
        if len(alternatives) > 1 and self.chance(0.1):
            alternatives.pop(0)
        if not alternatives:
            alternatives.append({"type": self.rng.choice(("string", "object"))})
        made: dict[str, Any] = {self.rng.choice(("anyOf", "oneOf")): alternatives}
        if self.chance(0.2):
            made["x-eval-weight"] = self.rng.choice((0.5, 2))
            for branch in alternatives:
                branch.pop("x-eval-weight", None)
        return made

    def aligns(self, made: dict[str, Any], align: dict[str, Any]) -> bool:
        """Whether the elements can have the key: a schema of which it is known that they have not is an error."""
        items = made.get("items", {})
        told_apart = items.keys() & {"$ref", "anyOf", "oneOf"}
        names = [align["key"]] if "key" in align else align.get("by", ())
        listed = items.get("properties") or dict.fromkeys(names)
        of_objects = "object" in items.get("type", "array" if "items" in items else "object")
        return not names or (of_objects and not told_apart and listed.keys() >= set(names))

    def add_rules(self, made: dict[str, Any], types: list[str], values: list[Any]) -> None:
        if not values or not self.chance(0.25):
            return
        sample = self.rng.choice(values)
        rule = self.some_rule(self.rng, sample)
        if self.chance(0.5):
            rule.pop("skip", None)
        # (Of a schema that says nothing but properties it is known that it is for objects.)
        is_array = "array" in types and not made.keys().isdisjoint({"type", "items"})
        if "align" in rule and not (is_array and self.aligns(made, rule["align"])):
            del rule["align"]
        if "compare" in rule and set(types) & {"object", "array"} and not isinstance(sample, (dict, list)):
            del rule["compare"]
        if "compare" in rule and self.chance(0.3):
            spec = rule.pop("compare")
            name, params = (spec, None) if isinstance(spec, str) else next(iter(spec.items()))
            definition = {"evaluation_type": name}
            if params is not None:
                definition["evaluation_params"] = params
            made["x-override-evaluator"] = definition
        if self.chance(0.1):
            word = self.rng.choice(("leaf_threshold", "match_threshold"))
            rule = {**rule, word: self.rng.choice((0.3, 0.6, 1))}
        made.update({f"x-eval-{word}": said for word, said in rule.items()})


def nonfinite(value: Any) -> bool:
    return isinstance(value, float) and value - value != 0


def kept(values: list[Any], kind: type) -> list[Any]:
    return [value for value in values if isinstance(value, kind)]


def elements(values: list[Any]) -> list[Any]:
    return [item for value in kept(values, list) for item in value]


def items_at(values: list[dict[str, Any]], key: str) -> list[Any]:
    return [value[key] for value in values if key in value]


def all_items(values: list[dict[str, Any]]) -> list[Any]:
    return [item for value in values for item in value.values()]


def schema_for(draft: Draft, expected: Any, actual: Any, *, granular: bool) -> dict[str, Any]:
    # What a rule on the root means where its keys are the units is not specified: not generated.
    plain = granular or draft.chance(0.5)
    schema = (
        draft.plain([expected], [actual], rules=not granular) if plain else draft.node([expected], [actual])
    )
    if draft.definitions:
        schema = {**schema, "$defs": draft.definitions}
    return schema


# ------------------------------------------------------------------------------------ recursive documents


def two_trees(rng: random.Random, some_scalar: Chooser, damaged: Chooser) -> tuple[Any, Any]:
    def tree(depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {"name": some_scalar(rng), "a": rng.choice((1, 2, 2.5, "a b", "b"))}
        if depth and rng.random() < 0.8:
            node["items"] = [tree(depth - 1) for _ in range(rng.randint(0, 3))]
        if depth and rng.random() < 0.2:
            node["c"] = tree(depth - 1)
        return node

    expected = tree(3)
    return expected, damaged(rng, expected, 0.12, nonfinite=True)


def tree_schema(rng: random.Random, draft: Draft) -> dict[str, Any]:
    at_root = rng.random() < 0.5
    again = {"$ref": "#" if at_root else "#/$defs/tree"}
    items: dict[str, Any] = {"type": "array", "items": dict(again)}
    draft.add_rules(items, ["array"], [[]])
    name: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
    draft.add_rules(name, name["type"], ["x"])
    tree: dict[str, Any] = {
        "type": "object",
        "properties": {"name": name, "a": {"type": ["number", "string"]}, "items": items, "c": dict(again)},
    }
    if rng.random() < 0.3:
        tree["properties"]["c"] = {"anyOf": [{"type": "null"}, dict(again)]}
    if rng.random() < 0.3:
        items["items"] = {"oneOf": [dict(again), {"type": ["string", "number", "null"]}]}
    if rng.random() < 0.5:
        tree["additionalProperties"] = True
    return tree if at_root else {**again, "$defs": {"tree": tree}}


# --------------------------------------------------------------------------------------- defaults, config


def some_type_defaults(rng: random.Random, string_specs: Any, number_specs: Any) -> dict[str, Any]:
    choices = {
        "string": string_specs,
        "number": number_specs,
        "integer": number_specs,
        "boolean": ("exact", "binary"),
    }
    found = {name: rng.choice(specs) for name, specs in choices.items() if rng.random() < 0.5}
    return copy.deepcopy(found)


def some_source_4_config(rng: random.Random, string_specs: Any, number_specs: Any) -> dict[str, Any]:
    """Source 4's config keys, each sometimes."""
    choices = {
        "string_evaluation_type": string_specs,
        "boolean_evaluation_type": ("binary", "exact"),
        "integer_evaluation_type": number_specs,
        "float_evaluation_type": number_specs,
        "number_evaluation_type": number_specs,
    }
    config: dict[str, Any] = {}
    for key, specs in choices.items():
        if rng.random() < 0.4:
            spec = rng.choice(specs)
            name, params = (spec, {}) if isinstance(spec, str) else next(iter(spec.items()))
            config[key] = {"evaluation_type": name, "evaluation_params": params}
            if not params and rng.random() < 0.5:
                del config[key]["evaluation_params"]
    if rng.random() < 0.4:
        config["array_matching_threshold"] = rng.choice((0, 0.2, 0.4, 0.6))
    return config
