"""A slow, plain reading of the metric semantics: the engine's second opinion.

Written from the specification alone; it shares no line with the engine and imports nothing from it.
Everything is recursion over (expected, actual), and everything is decided again at every node. Which of the
pairings of an unordered array that tie is taken is not specified, so the reference can be given another one's
pairs: it checks that they are one of these, and says which rows and numbers follow from them.

Where the specification leaves a choice, the one taken here is marked "Reading N" at the line that takes it.
"""

from __future__ import annotations

import json
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

# --------------------------------------------------------------------------------------------- values

MISSING = object()
"""Stands for "this side has nothing here"."""


class RefusedError(Exception):
    """The metric gives no number for this input; `kind` is the name of the error that it raises instead.

    `paths` are the instance paths of which it may name any; `doubts` as in a result.
    """

    def __init__(self, kind: str, paths: list[str] | None = None, doubts: list[str] | None = None) -> None:
        super().__init__(kind, paths)
        self.kind = kind
        self.paths = paths or []
        self.doubts = doubts or []


@dataclass(frozen=True, eq=False)
class DirtyEquals:
    """A matcher in expected; the engine knows it by its name."""

    word: str

    def __eq__(self, actual: object) -> bool:
        if self.word == "anything":
            return True
        if self.word.startswith("length "):
            return isinstance(actual, (str, list, dict)) and len(actual) == int(self.word.split()[1])
        return self.word in {type_of(actual), actual if isinstance(actual, str) else None}

    __hash__ = object.__hash__

    def accepts(self, actual: object) -> bool:
        """Whether it is right here: never a value with NaN or an infinity in it, at any depth."""
        return equal(actual, actual) and self == actual


def type_of(value: object) -> str:
    if isinstance(value, DirtyEquals):
        return "matcher"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def is_container(value: object) -> bool:
    return isinstance(value, (list, dict))


def is_nonfinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def equal(one: object, other: object) -> bool:
    """JSON equality: by type, then by value; NaN and infinities equal nothing."""
    if type_of(one) != type_of(other) or is_nonfinite(one) or is_nonfinite(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(equal(x, y) for x, y in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    return one == other


# ---------------------------------------------------------------------------------------------- paths

ELEMENT = ("any element",)
"""The `[]` of a schema path; a tuple, so that no key can be equal to it."""

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(4096)
def path_text(segments: tuple) -> str:
    text = ""
    for segment in segments:
        if segment is ELEMENT:
            text += "[]"
        elif isinstance(segment, int):
            text += f"[{segment}]"
        elif IDENTIFIER.fullmatch(segment):
            text += f".{segment}" if text else segment
        else:
            text += f"[{json.dumps(segment, ensure_ascii=False)}]"
    return text or "$"


ONE_KEY = ("one key",)
ANYTHING = ("any number of segments",)


def read_path(text: str) -> list:
    """The segments of a path or pattern: keys, indices, and the symbols `[]`, `*` and `**`."""
    segments: list = []
    rest = "" if text == "$" else text
    while rest:
        if quoted := re.match(r'\["(?:[^"\\]|\\.)*"\]', rest):
            segments.append(json.loads(quoted[0][1:-1]))
            rest = rest[quoted.end() :]
        elif index := re.match(r"\[(\d*)\]", rest):
            segments.append(int(index[1]) if index[1] else ELEMENT)
            rest = rest[index.end() :]
        elif word := re.match(r"\.?(\*\*|\*|[A-Za-z_][A-Za-z0-9_]*)", rest):
            segments.append({"**": ANYTHING, "*": ONE_KEY}.get(word[1], word[1]))
            rest = rest[word.end() :]
        else:
            message = f"cannot read {text!r} at {rest!r}"
            raise ValueError(message)
    return segments


def pattern_matches(pattern: list, schema: tuple) -> bool:
    if not pattern:
        return not schema
    if pattern[0] is ANYTHING:
        return any(pattern_matches(pattern[1:], schema[start:]) for start in range(len(schema) + 1))
    if not schema:
        return False
    here = isinstance(schema[0], str) if pattern[0] is ONE_KEY else pattern[0] == schema[0]
    return here and pattern_matches(pattern[1:], schema[1:])


def literal_segments(pattern: list) -> int:
    # Reading 1: `[]` is literal too: it stands in a schema path just so, and says more than `*` or `**` do.
    return sum(segment is ELEMENT or isinstance(segment, str) for segment in pattern)


# ----------------------------------------------------------------------------------------- comparators
#
# Each takes (expected, actual, params) and gives a score. `compare_leaf` has dealt with null and NaN.
# Reading 2: given values of types that it has no rule for, a comparator falls back to JSON equality.


def by_equality(expected: object, actual: object, params: Mapping) -> float:
    if params.get("strict_number_type") and type(expected) is not type(actual):
        return 0.0
    return float(equal(expected, actual))


def as_number(value: object) -> int | float | None:
    """The value as `numeric` reads it: numbers and numeric strings, never booleans.

    Reading 24: as people write numbers ("+5", ".5", "007"), in ASCII digits, not only as JSON does.
    """
    if type_of(value) == "number":
        return value
    if isinstance(value, str) and re.fullmatch(NUMBER_TEXT, value.strip(), re.ASCII):
        return int(value) if re.fullmatch(r"[+-]?[0-9]+", value.strip()) else float(value)
    return None


NUMBER_TEXT = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def by_numeric(expected: object, actual: object, params: Mapping) -> float:
    e, a = as_number(expected), as_number(actual)
    if e is None or a is None:
        return by_equality(expected, actual, {})
    tolerance = params.get("tolerance", {})
    if not tolerance:
        return float(e == a)
    off = abs(Fraction(e) - Fraction(a))
    scale = abs(Fraction(e)) or 1
    within = ["rel" not in tolerance or off <= Fraction(tolerance["rel"]) * scale]
    within += ["abs" not in tolerance or off <= Fraction(tolerance["abs"])]
    return float(all(within))


def by_relative(expected: object, actual: object, params: Mapping) -> float:
    if type_of(expected) != "number" or type_of(actual) != "number":
        return by_equality(expected, actual, params)
    e, a = Fraction(expected), Fraction(actual)
    tiny = Fraction(1e-12)
    if abs(e) <= tiny:
        return float(abs(a) <= tiny)
    score = float(max(Fraction(0), 1 - abs(e - a) / abs(e)))
    # Reading 20: unequal numbers never round up to 1.
    return score if e == a else min(score, math.nextafter(1, 0))


def by_threshold(expected: object, actual: object, params: Mapping) -> float:
    if type_of(expected) != "number" or type_of(actual) != "number":
        return by_equality(expected, actual, {})
    limit, penalty = params["threshold"], params.get("difference_penalty_weighting", 1)
    off = abs(Fraction(expected) - Fraction(actual))
    if off > Fraction(limit):
        return 0.0
    if penalty == 0:
        return 1.0
    return 1 - float(off / Fraction(limit)) ** (1 / penalty)


def by_levenshtein(expected: object, actual: object, params: Mapping) -> float:
    if not isinstance(expected, str) or not isinstance(actual, str):
        return by_equality(expected, actual, params)
    if not expected and not actual:
        return 1.0
    row = list(range(len(actual) + 1))
    for i, x in enumerate(expected, start=1):
        above, row = row, [i]
        for j, y in enumerate(actual, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return 1 - row[-1] / max(len(expected), len(actual))


def by_jaccard(expected: object, actual: object, params: Mapping) -> float:
    if not isinstance(expected, str) or not isinstance(actual, str):
        return by_equality(expected, actual, params)
    e, a = set(expected.lower().split()), set(actual.lower().split())
    return len(e & a) / len(e | a) if e | a else 1.0


def by_contains(expected: object, actual: object, params: Mapping) -> float:
    if not isinstance(expected, str) or not isinstance(actual, str):
        return by_equality(expected, actual, params)
    return float(expected in actual)


def by_oneof(expected: object, actual: object, params: Mapping) -> float:
    if any(equal(value, actual) for value in params.get("values", [])):
        return 1.0
    for group in params.get("groups", []):
        if any(equal(value, expected) for value in group) and any(equal(value, actual) for value in group):
            return 1.0
    # Reading 3: with `groups`, equal values that stand in no group are still equal; with `values`
    # alone the list decides ("whatever expected is").
    return by_equality(expected, actual, {}) if "values" not in params else 0.0


COMPARATORS: dict[str, Callable[[object, object, Mapping], float]] = {
    "exact": by_equality,
    "binary": by_equality,
    "numeric": by_numeric,
    "relative": by_relative,
    "threshold": by_threshold,
    "levenshtein": by_levenshtein,
    "jaccard": by_jaccard,
    "contains": by_contains,
    "oneof": by_oneof,
}


def named(spec: str | Mapping) -> tuple[str, Mapping]:
    """`"name"` or `{"name": {params}}` as (name, params)."""
    if isinstance(spec, str):
        return spec, {}
    ((name, params),) = spec.items()
    return name, params


# ------------------------------------------------------------------------------------------ transforms


def without_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


STRING_TRANSFORMS: dict[str, Callable[[str, Mapping], str]] = {
    "lowercase": lambda text, _: text.lower(),
    "casefold": lambda text, _: text.casefold(),
    "strip": lambda text, _: text.strip(),
    # Reading 4: white space is collapsed and stripped at the ends, as `str.split` sees it.
    "normalize_whitespace": lambda text, _: " ".join(text.split()),
    "sort_tokens": lambda text, _: " ".join(sorted(text.split())),
    # Reading 5: what is left after the marks are gone is not composed again (as in field_match_normalized).
    "strip_accents": lambda text, _: without_marks(text),
    "unicode": lambda text, params: unicodedata.normalize(params["form"], text),
    # The one transform of field_match_normalized.
    "(normalized)": lambda text, _: without_marks(text).casefold(),
}


def transform_scalar(value: object, transforms: list) -> object:
    for spec in transforms:
        name, params = named(spec)
        if name == "round_digits":
            if type_of(value) == "number" and not is_nonfinite(value):
                value = round(value, params["digits"])
        elif name == "type_convert":
            # Only `to: number` is read here: a numeric string becomes its number, all else stays.
            number = as_number(value)
            value = value if number is None else number
        elif isinstance(value, str):
            value = STRING_TRANSFORMS[name](value, params)
    return value


# -------------------------------------------------------------------------------------------- options

DEFAULTS: dict[str, object] = {
    "root": "any",
    "granularity": "leaves",
    "extra": "count",
    "arrays": "ordered",
    "array_threshold": 0,
    "empties": "leaf",
    "nulls": "value",
    "absent": (),
    "reduce": "f1",
    "leaf_threshold": None,
    "match_threshold": None,
    "target_key": "*",
    "transform": [],
    "types": {},
    "unlisted": "extra",
}

FIELD_MATCH = {
    "root": "object",
    "granularity": "fields",
    "extra": "ignore",
    "reduce": "ratio",
    "types": dict.fromkeys(("string", "boolean", "integer", "number"), "exact"),
}

PRESETS: dict[str, dict[str, object]] = {
    "field_match": FIELD_MATCH,
    "field_match_normalized": {**FIELD_MATCH, "transform": ["(normalized)"]},
    "json_similarity": {
        "extra": "ignore",
        "empties": "if_absent",
        "reduce": "ratio",
        "types": {"string": "levenshtein", "integer": "relative", "number": "relative", "boolean": "exact"},
    },
    "pairwise_f1": {
        "arrays": "unordered",
        "array_threshold": 0.3,
        "empties": "never",
        "unlisted": "reject",
        "types": {
            "string": "jaccard",
            "boolean": "binary",
            "integer": "binary",
            "number": {"threshold": {"threshold": 0.001, "difference_penalty_weighting": 0.1}},
        },
    },
    # Without a schema the inferred one lists just what expected has, so the walk is the plain one.
    "leaf_f1": {
        "types": {"string": "exact", "boolean": "exact", "integer": "numeric", "number": "numeric"},
    },
}

ALIASES = {
    "json-field-match": "field_match",
    "json-field-match-normalized": "field_match_normalized",
    "json-similarity": "json_similarity",
    "structeval": "pairwise_f1",
    "extract-eval": "leaf_f1",
}

TYPE_WORDS = ("string", "number", "integer", "boolean", "null")

SOURCE_4_TYPES = {
    "number_evaluation_type": ("integer", "number"),
    "string_evaluation_type": ("string",),
    "boolean_evaluation_type": ("boolean",),
    "integer_evaluation_type": ("integer",),
    "float_evaluation_type": ("number",),
}
"""Source 4's config keys and the types that they speak of; later ones are the more specific."""


def as_source_5(definition: Mapping) -> Mapping:
    """Source 4's `{evaluation_type, evaluation_params}` as `{name: params}`."""
    return {definition["evaluation_type"]: definition.get("evaluation_params", {})}


@dataclass(frozen=True)
class Plan:
    """The options of one comparison, spelt out."""

    root: str
    granularity: str
    extra: str
    arrays: str | Mapping
    array_threshold: float
    empties: str
    nulls: str
    absent: list
    reduce: str
    leaf_threshold: float | None
    match_threshold: float | None
    target_key: str
    transform: list
    types: dict
    unlisted: str
    called: Mapping = field(
        default_factory=dict
    )  # the option `compare` by type: for scalars of any other type, too
    schema: Mapping | None = None
    config: dict = field(default_factory=dict)
    type_defaults: Mapping = field(default_factory=dict)
    rules: list = field(default_factory=list)
    accept: list = field(default_factory=list)
    similarities: dict = field(default_factory=dict)
    optima: dict = field(default_factory=dict)
    parts: dict = field(default_factory=dict)
    pairs: list = field(default_factory=list)
    containers: dict = field(default_factory=dict)
    nodes: dict = field(default_factory=dict)
    doubts: list = field(default_factory=list)  # what the specification does not say and the case depends on
    refused: list = field(default_factory=list)
    pairings: Mapping | None = None  # pairs to follow, by the two paths of their array
    objections: list = field(default_factory=list)  # what is wrong with these pairs

    @classmethod
    def of(cls, options: Mapping, type_defaults: Mapping) -> Plan:
        given = dict(options)
        metric = given.pop("metric", "field_match")
        chosen = {**DEFAULTS, **PRESETS[ALIASES.get(metric, metric)]}
        rules = [(read_path(text), {"skip": True}) for text in given.pop("skip", [])]
        rules += [(read_path(text), long_form(rule)) for text, rule in given.pop("fields", {}).items()]
        accept = [(read_path(text), {"accept": said}) for text, said in given.pop("accept", {}).items()]
        compare = given.pop("compare", None)
        if "target_output_key" in given:
            given["target_key"] = given.pop("target_output_key")
        if "array_matching_threshold" in given:
            given["array_threshold"] = given.pop("array_matching_threshold")
        config, called = {}, {}
        for name, kinds in SOURCE_4_TYPES.items():
            if name in given:
                config.update(dict.fromkeys(kinds, as_source_5(given.pop(name))))
        if given.get("extra") in ("count", "elements"):
            given.setdefault("reduce", "f1")
        elif given.get("reduce") == "ratio":
            given["extra"] = "ignore"
        chosen.update(given)  # Reading 6: a `transform` option takes the place of the preset's own
        if isinstance(compare, Mapping) and set(compare) <= set(TYPE_WORDS):
            # `number` is for both kinds of number unless `integer` is given as well.
            config.update({"integer": compare["number"]} if "number" in compare else {})
            config.update(compare)
            called = {**({"integer": compare["number"]} if "number" in compare else {}), **compare}
        elif compare is not None:
            # Reading 7: one spec for all is for every scalar; it does not make containers leaves.
            called = config = dict.fromkeys(TYPE_WORDS, compare)
        return cls(
            **chosen, called=called, config=config, type_defaults=type_defaults, rules=rules, accept=accept
        )

    @property
    def limit(self) -> tuple[str, float] | None:
        """The threshold of leaves: its name and its value."""
        return limit_in({"leaf_threshold": self.leaf_threshold, "match_threshold": self.match_threshold})

    @property
    def two_sided(self) -> bool:
        """Whether the leaves of both sides count in the similarity of two elements."""
        return (self.reduce, self.extra) == ("f1", "count")

    def part(self, place: Place, value: object, names: list[str]) -> dict | None:
        """Some members of an object; None if it has only nulls there. The same object for the same value."""
        if not isinstance(value, Mapping):
            return None
        key = id(value), tuple(names)
        if key not in self.parts:
            there = present(self, place, value)
            self.parts[key] = {name: there[name] for name in names if name in there}, value
        part = self.parts[key][0]
        return part if any(item is not None for item in part.values()) else None

    def accepted(self, place: Place) -> Accepted:
        """What is right here beside the expected value: what a rule says, then what the option adds."""
        ruled = self.rule(place, "accept")
        added = best_rule(self.accept, place.schema, place.form, "accept")
        found = Accepted()
        for said in (ruled, added):
            words = {"values": said} if isinstance(said, list) else said or {}
            found.values += words.get("values", [])
            found.optional = found.optional or words.get("optional", False)
            found.predicates += [
                (word, words[word]) for word in ("regex", "range", "type", "any") if word in words
            ]
        return found

    def may_lack(self, place: Place, value: object) -> bool:
        """Whether actual may lack this value of expected."""
        return self.accepted(place).optional and not isinstance(value, DirtyEquals)

    def rule(self, place: Place, word: str) -> object:
        return self.rule_at(place.schema, place.form, place.node, word)

    def rule_at(self, schema: tuple, form: str, node: Mapping | None, word: str) -> object:
        """What `fields` says at a schema path, else the schema's node; None if neither says anything."""
        answer = best_rule(self.rules, schema, form, word)
        return schema_rule(node, word) if answer is None else answer


def best_rule(rules: list, schema: tuple, form: str, word: str) -> object:
    """What these rules say here; None if none says anything.

    Among the patterns that match here and have this word the best decides.
    Reading 8: each word is looked up by itself, so a rule that only gives a weight leaves a wider
    pattern's transform in force.
    """
    best, answer = -1, None
    for pattern, rule in rules:
        if word not in rule:
            continue
        # A pattern that ends in `**` is for leaves; arrays are aligned, and transforms inherited, all the same.
        # What an empty container counts as is the metric's matter, but it may be skipped.
        here = (
            form == "scalar"
            or pattern[-1:] != [ANYTHING]
            or word in ("align", "transform", "weight", "limit")
        )
        here = here or (word == "skip" and form == "empty")
        here = here and pattern_matches(pattern, schema)
        # What weighs a container weighs all below it, once.
        if here and word == "weight" and schema and pattern[-1:] == [ANYTHING]:
            here = not pattern_matches(pattern, schema[:-1])
        if here and literal_segments(pattern) >= best:
            best, answer = literal_segments(pattern), rule[word]
    return answer


def long_form(rule: str | Mapping) -> Mapping:
    """A rule as it is without short forms."""
    if isinstance(rule, str):
        return {"skip": True} if rule == "skip" else {"compare": rule}
    limit = limit_in(rule)
    rule = rule if limit is None else {**rule, "limit": limit}
    if "tolerance" not in rule:
        return rule
    said = rule["tolerance"]
    return {
        **rule,
        "compare": {"numeric": {"tolerance": said if isinstance(said, Mapping) else {"abs": said}}},
    }


def limit_in(words: Mapping, prefix: str = "") -> tuple[str, float] | None:
    """The threshold among these words, of which one at most is given: its name and its value."""
    found = [(word, words.get(prefix + word)) for word in ("leaf_threshold", "match_threshold")]
    return next((limit for limit in found if limit[1] is not None), None)


@dataclass
class Accepted:
    """What is right at a place beside the expected value."""

    values: list = field(default_factory=list)
    optional: bool = False
    predicates: list = field(default_factory=list)

    def holds(self, value: object) -> bool:
        # NaN and infinities are never right, at any depth.
        return equal(value, value) and any(
            predicate_holds(word, said, value) for word, said in self.predicates
        )


def predicate_holds(word: str, said: object, value: object) -> bool:
    kind = type_of(value)
    if word == "regex":
        return kind == "string" and re.fullmatch(said, value) is not None
    number = kind == "number" and not is_nonfinite(value)
    if word == "range":
        return number and said[0] <= value <= said[1]
    if word == "type":
        return (
            (number and value % 1 == 0)
            if said == "integer"
            else kind == said and (number or kind != "number")
        )
    return bool(said)


# -------------------------------------------------------------------------------------------- schemas
#
# A schema node is the JSON Schema itself, a dict. None: nothing is said here, all is walked by its leaves.

UNLISTED = object()
"""Stands for the schema of a member that a schema with properties does not list."""


def schema_rule(node: Mapping | None, word: str) -> object:
    if node is None:
        return None
    if word == "compare" and "x-override-evaluator" in node:
        return as_source_5(node["x-override-evaluator"])
    if word == "limit":
        return limit_in(node, "x-eval-")
    return node.get(f"x-eval-{word}")


def pointed_at(document: object, reference: str) -> Mapping:
    """The schema that a `$ref` within the document leads to."""
    for step in reference.removeprefix("#").split("/")[1:]:
        document = document[step.replace("~1", "/").replace("~0", "~")]
    return document


def schema_types(node: Mapping) -> list:
    types = node.get("type", [])
    return [types] if isinstance(types, str) else types


def is_of(value: object, json_type: str) -> bool:
    if json_type == "integer":
        return type_of(value) == "number" and not is_nonfinite(value) and value == int(value)
    return type_of(value) == json_type


def validates(document: Mapping, node: object, value: object) -> bool:
    """Whether the JSON Schema accepts the value, by the words that generated schemas use.

    Reading 39: NaN and infinities are not JSON, so validation accepts them as no type, though they count as numbers
    where the type alone decides.
    """
    if isinstance(node, bool):
        return node

    def accepted(other: object, item: object = value) -> bool:
        return validates(document, other, item)

    right = ["$ref" not in node or accepted(pointed_at(document, node["$ref"]))]
    of_type = not is_nonfinite(value) and any(is_of(value, name) for name in schema_types(node))
    right += ["type" not in node or of_type]
    right += ["enum" not in node or any(equal(one, value) for one in node["enum"])]
    right += ["const" not in node or equal(node["const"], value)]
    right += ["anyOf" not in node or any(accepted(branch) for branch in node["anyOf"])]
    right += ["oneOf" not in node or sum(accepted(branch) for branch in node["oneOf"]) == 1]
    if isinstance(value, list) and "items" in node:
        right += [accepted(node["items"], item) for item in value]
    if isinstance(value, dict):
        listed = node.get("properties", {})
        right += [key in value for key in node.get("required", [])]
        right += [
            accepted(listed.get(key, node.get("additionalProperties", True)), item)
            for key, item in value.items()
        ]
    return all(right)


def chosen_node(plan: Plan, node: Mapping | None, value: object) -> Mapping | None:
    """The node that holds for the value: references followed, the first branch that accepts it taken.

    What is written beside a reference or beside branches outweighs what these say.
    """
    while node is not None and (word := next((w for w in ("$ref", "oneOf", "anyOf") if w in node), None)):
        if word == "$ref":
            found = pointed_at(plan.schema, node[word])
        else:
            found = chosen_branch(plan, node[word], value)
        key = id(node), id(found)
        if limit_in(node, "x-eval-") is not None:
            # One threshold takes the place of the other.
            found = {w: said for w, said in found.items() if not w.endswith("_threshold")}
        if key not in plan.nodes:
            plan.nodes[key] = {**found, **{other: said for other, said in node.items() if other != word}}
        node = plan.nodes[key]
    return node


def chosen_branch(plan: Plan, branches: list, value: object) -> Mapping:
    """The first branch that accepts the value.

    Reading 26: where only one branch is of the value's type, that is the one, whatever else it asks for; where
    none accepts the value, only what is written beside the branches holds. A branch that says no more than null
    is not an alternative to another one but allows it to be null, as a list of types does; one branch alone is no
    alternative either.
    """
    real = [branch for branch in branches if not says_only_null(branch)] or branches[:1]
    of_its_type = [branch for branch in real if may_be(plan.schema, branch, value)]
    accepting = [branch for branch in branches if validates(plan.schema, branch, value)]
    if not accepting:
        plan.doubts.append("no branch accepts a value")
    if value is None and 1 < len(real) < len(branches):
        plan.doubts.append("which of several alternatives is the one that may be null")
    if len(real) == 1 or len(of_its_type) == 1:
        return real[0] if len(real) == 1 else of_its_type[0]
    return next((branch for branch in of_its_type if branch in accepting), NOTHING_SAID)


NOTHING_SAID: dict = {}


def says_only_null(branch: Mapping) -> bool:
    only = branch.get("type") in ("null", ["null"]) or listed_values(branch) == [None]
    return only and not any(word.startswith("x-") for word in branch)


def may_be(document: Mapping, node: Mapping, value: object) -> bool:
    """Whether the node's types allow the value, whatever else it says.

    Where it does not say, its enum does, and properties mean an object and items an array.
    """
    while "$ref" in node:
        node = pointed_at(document, node["$ref"])
    if alternatives := node.get("oneOf", node.get("anyOf")):
        return any(may_be(document, branch, value) for branch in alternatives)
    implied = {"properties": "object", "additionalProperties": "object", "items": "array"}
    types = schema_types(node) or [type_of(value) for value in listed_values(node)]
    types = types or [name for word, name in implied.items() if node.get(word) not in (None, {})]
    return not types or any(is_of(value, name) for name in types)


def listed_values(node: Mapping) -> list:
    return [node["const"]] if "const" in node else node.get("enum", [])


def element_node(node: Mapping | None) -> Mapping | None:
    return None if node is None else node.get("items")


def has_key_without_objects(schema: object) -> bool:
    """Whether elements pair by a member, though their enum has no object."""
    if isinstance(schema, list):
        return any(map(has_key_without_objects, schema))
    if not isinstance(schema, Mapping):
        return False
    align, items = schema.get("x-eval-align"), schema.get("items")
    by_member = isinstance(align, Mapping) and ("key" in align or "by" in align)
    values = listed_values(items) if by_member and items else []
    here = bool(values) and not any(isinstance(value, Mapping) for value in values)
    return here or any(map(has_key_without_objects, schema.values()))


def member_node(plan: Plan, node: Mapping | None, key: str) -> object:
    """The schema of a member, UNLISTED where the schema has properties and this is none of them.

    Reading 27: `properties: {}` is no properties, unless `additionalProperties` is false; where that is a schema,
    it lists the rest.
    Reading 31: a property that is ignored, not being listed, is one that is excluded by rule: shown as skipped.
    """
    if node is None:
        return None
    listed, rest = node.get("properties", {}), node.get("additionalProperties")
    rest = True if rest == {} else rest
    if key in listed:
        return listed[key]
    if isinstance(rest, Mapping):
        return rest
    if rest is True and listed and plan.unlisted == "reject":
        return LEFT_OUT
    return UNLISTED if listed or rest is False else None


LEFT_OUT = {"x-eval-skip": True}


@dataclass
class Place:
    """Where the walk is: the three paths, the schema, the weight so far, and the transforms in force.

    `written` is the schema's node as it stands in the schema, `node` the one that holds for the values here.
    `outer` has the weight, the transforms and the threshold of leaves that come from above.
    `alone` is set while values are compared only for their numbers, `pairing` while these are to say how similar two
    elements are; `is_unit` at a key whose own weight does not matter.
    """

    schema: tuple
    expected: tuple
    actual: tuple
    outer: tuple[float, list, tuple[str, float] | None]
    written: object
    node: Mapping | None = None
    weight: float = 1.0
    transforms: list = field(default_factory=list)
    alone: bool = False
    pairing: bool = False
    is_unit: bool = False
    form: str = "full"
    limit: tuple[str, float] | None = None

    @classmethod
    def top(cls, plan: Plan, expected: object, actual: object) -> Place:
        return cls((), (), (), (1.0, plan.transform, plan.limit), plan.schema).entered(plan, expected, actual)

    def entered(self, plan: Plan, expected: object, actual: object) -> Place:
        """This place with the rules that hold for these values: weights multiply.

        Branches of the schema are chosen by expected, by actual where expected has nothing.
        Reading 9: the nearest transforms replace those that come from above (they do not follow them).
        """
        written = None if self.written is UNLISTED else self.written
        value = actual if expected is MISSING else expected
        node = chosen_node(plan, written, value)
        form = "scalar" if not is_container(value) else "full" if value else "empty"
        words = ("weight", "transform", "limit")
        weight, transforms, limit = (plan.rule_at(self.schema, form, node, word) for word in words)
        return Place(
            self.schema,
            self.expected,
            self.actual,
            self.outer,
            self.written,
            node,
            self.outer[0] * (1.0 if weight is None else weight),
            self.outer[1] if transforms is None else transforms,
            self.alone,
            self.pairing,
            form=form,
            limit=self.outer[2] if limit is None else limit,
        )

    def entered_for(self, plan: Plan, expected: object, actual: object) -> Place:
        """The place with the rules that hold for another expected value; its weight may stay as it is."""
        there = self.entered(plan, expected, actual)
        return replace(there, weight=self.weight) if self.alone or self.is_unit else there

    def member(self, plan: Plan, key: str, expected: object, actual: object = MISSING) -> Place:
        return self.child(plan, (key, key, key), member_node(plan, self.node, key), expected, actual)

    def element(self, plan: Plan, i: int, j: int, expected: object, actual: object = MISSING) -> Place:
        return self.child(plan, (ELEMENT, i, j), element_node(self.node), expected, actual)

    def child(self, plan: Plan, steps: tuple, written: object, expected: object, actual: object) -> Place:
        there = Place(
            (*self.schema, steps[0]),
            (*self.expected, steps[1]),
            (*self.actual, steps[2]),
            (self.weight, self.transforms, self.limit),
            written,
            alone=self.alone,
            pairing=self.pairing,
        )
        return there.entered(plan, expected, actual)


# -------------------------------------------------------------------------------------------- results


@dataclass(frozen=True)
class Row:
    path: str
    expected_path: str | None
    actual_path: str | None
    status: str
    score: float
    weight: float
    expected_leaves: float  # weighted
    actual_leaves: float  # weighted


@dataclass(frozen=True)
class ReferenceResult:
    score: float
    precision: float
    recall: float
    f1: float
    counts: dict[str, int]
    results: list[tuple[str, str | None, str | None, str, float]]
    pairs: list[tuple[str, str, int, int, float]]
    containers: dict[tuple[str | None, str | None], tuple[float, float, float]]
    fields: dict[str, list[float]]
    objections: list[str]
    tied: bool
    doubts: list[str]
    matched_leaves: float
    total_leaves: float


@dataclass(frozen=True)
class Scores:
    matched: float  # Σ weight·score
    expected: float  # E
    actual: float  # A
    precision: float
    recall: float
    f1: float
    score: float


def ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else 1.0


def scores_of(plan: Plan, rows: list[Row]) -> Scores:
    both = [row for row in rows if row.status in {"match", "mismatch"}]
    matched = math.fsum(row.weight * row.score for row in both)
    expected = math.fsum(row.expected_leaves for row in rows)
    actual = math.fsum(row.actual_leaves for row in rows)
    f1 = ratio(2 * matched, expected + actual)
    recall = ratio(matched, expected)
    score = f1 if plan.reduce == "f1" else recall
    return Scores(matched, expected, actual, ratio(matched, actual), recall, f1, score)


# ------------------------------------------------------------------------------------------- the walk


def present(plan: Plan, place: Place, value: Mapping) -> dict:
    """The members that are there: with `nulls: absent`, null ones are not, with `absent`, those of its values."""
    if not nothings(plan):
        return dict(value)
    return {
        key: item
        for key, item in value.items()
        if not is_nothing(plan, there := place.member(plan, key, item), bare(plan, there, item))
    }


def nothings(plan: Plan) -> list:
    return [*plan.absent, *([None] if plan.nulls == "absent" else [])]


def is_nothing(plan: Plan, place: Place, value: object) -> bool:
    """Whether a member is not there, by its value without its own absent members, after its transforms."""
    if isinstance(value, DirtyEquals):
        return False
    seen_value = changed(place, value)
    return any(equal(changed(place, each), seen_value) for each in nothings(plan))


def changed(place: Place, value: object) -> object:
    """A value with all scalars transformed as at this place."""
    if isinstance(value, dict):
        return {key: changed(place, item) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(place, item) for item in value]
    return transform_scalar(value, place.transforms)


def bare(plan: Plan, place: Place, value: object) -> object:
    """A value without absent members at any depth."""
    if plan.rule(place, "compare"):
        return bare_whole(plan, place, value)
    if isinstance(value, dict):
        there = present(plan, place, value)
        return {key: bare(plan, place.member(plan, key, item), item) for key, item in there.items()}
    if isinstance(value, list):
        return [bare(plan, place.element(plan, i, i, item), item) for i, item in enumerate(value)]
    return value


def bare_whole(plan: Plan, place: Place, value: object) -> object:
    """The same of what is compared as a whole: inside, its own transforms hold."""
    if isinstance(value, list):
        return [bare_whole(plan, place, item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: bare_whole(plan, place, item) for key, item in value.items()}
    return {key: item for key, item in inner.items() if not is_nothing(plan, place, item)}


def refuse(plan: Plan, place: Place, value: object, kind: str) -> None:
    """Note the members at any depth that the schema does not list.

    Reading 28: not below what is skipped or compared as a whole: there it is known how all is scored.
    Reading 33: a rule that skips such a member says what is to be done with it.
    Each side is held against the branch that accepts it.
    """
    if plan.rule(place, "skip") or plan.rule(place, "compare"):
        return
    if isinstance(value, dict):
        for key, item in present(plan, place, value).items():
            there = place.member(plan, key, item)
            if there.written is UNLISTED and not plan.rule(there, "skip"):
                path = (*(place.expected if kind == "GoldValidationError" else place.actual), key)
                plan.refused.append((kind, path_text(path)))
            refuse(plan, there, item, kind)
    if isinstance(value, list):
        for i, item in enumerate(value):
            refuse(plan, place.element(plan, i, i, item), item, kind)


def seen(plan: Plan, place: Place, value: object) -> object:
    """The value as it is compared: scalars transformed by the rule at this place, absent nulls left out.

    Reading 34: a container that is compared as a whole is one leaf: rules for places inside it mean nothing.
    """
    return changed(place, bare_whole(plan, place, value))


def both_row(place: Place, status: str, score: float, expected: float, actual: float) -> Row:
    paths = path_text(place.schema), path_text(place.expected), path_text(place.actual)
    return Row(*paths, status, score, place.weight, expected, actual)


def one_row(place: Place, status: str) -> Row:
    """One omission, hallucination or one-sided skip."""
    schema = path_text(place.schema)
    if status == "omission":
        return Row(schema, path_text(place.expected), None, status, 0.0, place.weight, place.weight, 0.0)
    return Row(schema, None, path_text(place.actual), status, 0.0, place.weight, 0.0, place.weight)


def skipped_row(place: Place, expected: object, actual: object) -> Row:
    return Row(
        path_text(place.schema),
        None if expected is MISSING else path_text(place.expected),
        None if actual is MISSING else path_text(place.actual),
        "skipped",
        0.0,
        place.weight,
        0.0,
        0.0,
    )


def default_comparator(plan: Plan, place: Place, expected: object, actual: object) -> str | Mapping:
    node = place.node or {}
    if "enum" in node or "const" in node:
        return "binary"
    kind = type_of(expected)
    if kind == "number":
        fractional = any(isinstance(number, float) and number % 1 != 0 for number in (expected, actual))
        kind = "number" if fractional else "integer"
        # Reading 29: where the schema says which of the two kinds of number it is, that decides.
        declared = {"integer", "number"} & set(schema_types(node))
        kind = next(iter(declared)) if len(declared) == 1 else kind
    defaults = {} if plan.schema is None else dict(plan.type_defaults)
    if "integer" not in schema_types(node) and "number" in defaults:
        # Reading 36: as in a type config, the default of numbers is that of integers too, unless these have one.
        defaults.setdefault("integer", defaults["number"])
    return plan.config.get(kind) or defaults.get(kind) or plan.types.get(kind) or "exact"


def called_comparator(plan: Plan, place: Place, expected: object) -> str | Mapping | None:
    """The comparator that the option `compare` gives for an expected scalar, whatever actual's type is."""
    node = place.node or {}
    kind = type_of(expected)
    if "enum" in node or "const" in node or is_container(expected):
        return None
    if kind == "number":
        kind = "number" if isinstance(expected, float) and expected % 1 != 0 else "integer"
        declared = {"integer", "number"} & set(schema_types(node))
        kind = next(iter(declared)) if len(declared) == 1 else kind
    return plan.called.get(kind)


def compare_leaf(plan: Plan, place: Place, expected: object, actual: object, spec: str | Mapping) -> Row:
    """One leaf with values on both sides, compared as `spec` says."""
    e, a = seen(plan, place, expected), seen(plan, place, actual)
    name, params = named(spec)
    if is_nonfinite(a):
        score = 0.0
    elif (e is None or a is None) and name != "oneof":
        score = float(e is None and a is None)
    elif name == "oneof":
        score = by_oneof(e, a, seen_lists(place, params))
    else:
        score = COMPARATORS[name](e, a, params)
    score = limited(score, place.limit)
    return both_row(place, "match" if score == 1 else "mismatch", score, place.weight, place.weight)


def limited(score: float, limit: tuple[str, float] | None) -> float:
    """What a leaf with this score counts; a threshold is reached within rounding, unless it is 1."""
    if limit is None:
        return score
    word, least = limit
    if score < (least - 1e-12 if least < 1 else 1):
        return 0.0
    return 1.0 if word == "match_threshold" else score


def seen_lists(place: Place, params: Mapping) -> Mapping:
    """oneof's lists, transformed as the values are."""

    def change(values: list) -> list:
        return [
            value if is_container(value) else transform_scalar(value, place.transforms) for value in values
        ]

    changed = dict(params)
    if "values" in params:
        changed["values"] = change(params["values"])
    if "groups" in params:
        changed["groups"] = [change(group) for group in params["groups"]]
    return changed


def one_sided(
    plan: Plan, place: Place, value: object, status: str, *, itself: bool = True, mistyped: bool = False
) -> list[Row]:
    """The leaves of a subtree that only one side has; `itself` is False inside such a subtree."""
    sides = (value, MISSING) if status == "omission" else (MISSING, value)
    optional = status == "omission" and not mistyped and plan.may_lack(place, value)
    if plan.rule(place, "skip") or optional:
        return [skipped_row(place, *sides)]
    if plan.rule(place, "compare") or not is_container(value):
        return contained(plan, place, [one_row(place, status)], *sides)
    rows: list[Row] = []
    if isinstance(value, dict):
        there = present(plan, place, value)
        for key, item in there.items():
            rows += one_sided(plan, place.member(plan, key, item), item, status, itself=False)
        empty = not there
    else:
        for i, item in enumerate(value):
            rows += one_sided(plan, place.element(plan, i, i, item), item, status, itself=False)
        empty = not value
    if plan.empties == "leaf" and empty:
        rows = [one_row(place, status)]
    elif plan.empties == "if_absent" and itself and all(row.status == "skipped" for row in rows):
        # What is missing or mistyped counts max(1, scalars of its subtree), on either side.
        # Reading 10: that holds also when everything below is skipped.
        rows.insert(0, one_row(place, status))
    return contained(plan, place, rows, *sides)


def contained(plan: Plan, place: Place, rows: list[Row], expected: object, actual: object) -> list[Row]:
    """The rows of one place; if a container stands there and has any, its numbers are noted on the way."""
    if rows and not place.alone and (is_container(expected) or is_container(actual)):
        total = scores_of(plan, rows)
        paths = (
            None if expected is MISSING else path_text(place.expected),
            None if actual is MISSING else path_text(place.actual),
        )
        plan.containers[paths] = total.precision, total.recall, total.f1
    return rows


def mistyped(plan: Plan, place: Place, expected: object, actual: object) -> Row:
    """Two different types: one mismatch at the node that counts the leaves of each side."""
    # Reading 30: expected's branch says what the node weighs; the leaves of actual, which is of another type,
    # are those of the branch that accepts actual, as in a list of types.
    theirs = replace(place.entered(plan, actual, MISSING), weight=place.weight, alone=True, form=place.form)
    if theirs.node is not place.node:
        plan.doubts.append("a branch for each side")
    ours = one_sided(plan, replace(place, alone=True), expected, "omission", mistyped=True)
    others = one_sided(plan, theirs, actual, "hallucination", mistyped=True)
    expected_leaves = math.fsum(row.expected_leaves for row in ours)
    actual_leaves = math.fsum(row.actual_leaves for row in others)
    if (plan.extra == "ignore" and is_container(actual)) or (
        plan.extra == "elements" and isinstance(actual, dict)
    ):
        # What such an object has is extra members; an array has extra elements, which count with all their leaves.
        actual_leaves = 0.0
    return both_row(place, "mismatch", 0.0, expected_leaves, actual_leaves)


def walk_accepting(
    plan: Plan, place: Place, expected: object, actual: object, accepted: Accepted
) -> list[Row]:
    """Reading 37: the best by score of the expected value and the others, the first among equals; else a predicate."""
    alone = replace(place, weight=1.0, alone=True, pairing=False)
    best, chosen = -1.0, expected
    explicit = plan.rule(place, "compare")
    for value in (expected, *accepted.values):
        # Reading 38: a value of another type is not taken, even where, without a leaf, it scores 0/0.
        other = is_container(value) | is_container(actual) and type_of(value) != type_of(actual)
        if value is not expected and other and not explicit:
            continue
        there = place.entered(plan, value, actual)
        if there.weight == 0 and place.outer[0] and there.node is not place.written:
            # Whether the weight of an alternative enters this score is not specified; other weights change nothing.
            plan.doubts.append("an accepted value under an alternative of weight 0")
        score = scores_of(
            plan, walk(plan, alone.entered_for(plan, value, actual), value, actual, bare=True)
        ).score
        if score > best + 1e-12 or best < score == 1:
            best, chosen = score, value
    seen_actual = actual if is_container(actual) else transform_scalar(actual, place.transforms)
    predicate = best < 1 and accepted.holds(seen_actual)
    if place.pairing and (predicate or chosen is not expected):
        return [whole_row(plan, place, 1.0 if predicate else best, expected, actual)]
    if predicate:
        row = both_row(place, "match", 1.0, place.weight, place.weight)
        return contained(plan, place, [row], expected, actual)
    rows = walk(plan, place.entered_for(plan, chosen, actual), chosen, actual, bare=True)
    return contained(plan, place, rows, expected, actual)


def whole_row(plan: Plan, place: Place, score: float, expected: object, actual: object) -> Row:
    """In the similarity of two elements: a place that is right as a whole scores for all its leaves."""
    theirs = place.entered(plan, actual, MISSING)
    if place.weight and not place.entered(plan, expected, actual).weight:
        # Reading 18: this is an element, whose own weight of 0 does not enter.
        theirs = replace(theirs, weight=theirs.weight or 1.0)
    leaves = pair_leaves(plan, (place, expected), (theirs, actual))
    status = "match" if score == 1 else "mismatch"
    return replace(both_row(place, status, score, leaves, leaves), weight=leaves)


def pair_leaves(plan: Plan, ours: tuple[Place, object], theirs: tuple[Place, object]) -> float:
    """The divisor of a similarity: the mean of the leaves of both sides, or those of expected."""
    leaves = counted_alone(plan, *ours, of_expected=True)
    return (leaves + counted_alone(plan, *theirs)) / 2 if plan.two_sided else leaves


def counted_alone(plan: Plan, place: Place, value: object, *, of_expected: bool = False) -> float:
    """The weighted leaves of a value by itself; what is optional in expected does not count."""
    if plan.rule(place, "skip"):
        return 0.0
    if plan.rule(place, "compare") or not is_container(value):
        return place.weight
    if isinstance(value, dict):
        there = present(plan, place, value)
        parts = [(place.member(plan, key, item), item) for key, item in there.items()]
    else:
        parts = [(place.element(plan, i, i, item), item) for i, item in enumerate(value)]
    if not parts:
        return place.weight if plan.empties == "leaf" else 0.0
    return math.fsum(
        counted_alone(plan, there, item, of_expected=of_expected)
        for there, item in parts
        if not (of_expected and plan.may_lack(there, item))
    )


def walk(plan: Plan, place: Place, expected: object, actual: object, *, bare: bool = False) -> list[Row]:
    if expected is MISSING and (actual is MISSING or plan.extra == "ignore"):
        # Reading 11: what only actual has enters nothing under `ignore`, not even as a skipped result.
        return []
    if plan.rule(place, "skip"):
        return [skipped_row(place, expected, actual)]
    if expected is MISSING:
        return one_sided(plan, place, actual, "hallucination")
    if actual is MISSING and isinstance(expected, DirtyEquals) and expected.word == "absent":
        # Reading 39: in an object that is missing itself, it is an omission like all below it.
        return [replace(both_row(place, "match", 1.0, place.weight, place.weight), actual_path=None)]
    if actual is MISSING:
        return one_sided(plan, place, expected, "omission")
    if isinstance(expected, DirtyEquals):
        # One leaf, also against a container; no comparator, transform or `accept` applies.
        score = float(expected.accepts(actual))
        if score and is_container(actual):
            # Of pairs that tie, one leaves more leaves of actual alone: similarities around them hang on that.
            plan.doubts.append("a matcher for an object or array")
        if place.pairing:
            return [whole_row(plan, place, score, expected, actual)]
        row = both_row(place, "match" if score else "mismatch", score, place.weight, place.weight)
        return contained(plan, place, [row], expected, actual)
    accepted = Accepted() if bare else plan.accepted(place)
    if accepted.values or accepted.predicates:
        return walk_accepting(plan, place, expected, actual, accepted)
    explicit = plan.rule(place, "compare")
    if explicit:
        row = compare_leaf(plan, place, expected, actual, explicit)
        return contained(plan, place, [row], expected, actual)
    # Reading 12: types are told after the transforms, which may change them.
    e, a = (x if is_container(x) else transform_scalar(x, place.transforms) for x in (expected, actual))
    called = called_comparator(plan, place, e)
    if type_of(e) != type_of(a) and called and not (is_container(e) or is_container(a)):
        return [compare_leaf(plan, place, expected, actual, called)]
    if type_of(e) != type_of(a):
        return contained(plan, place, [mistyped(plan, place, expected, actual)], expected, actual)
    if isinstance(expected, dict):
        both = present(plan, place, expected), present(plan, place, actual)
        return contained(plan, place, walk_object(plan, place, *both), expected, actual)
    if isinstance(expected, list):
        return contained(plan, place, walk_array(plan, place, expected, actual), expected, actual)
    return [compare_leaf(plan, place, expected, actual, default_comparator(plan, place, e, a))]


def both_empty(plan: Plan, place: Place) -> list[Row]:
    if plan.empties == "leaf":
        return [both_row(place, "match", 1.0, place.weight, place.weight)]
    return []


def walk_object(plan: Plan, place: Place, expected: dict, actual: dict) -> list[Row]:
    if not expected and not actual:
        return both_empty(plan, place)
    rows: list[Row] = []
    for key in expected if plan.extra == "elements" else {**expected, **actual}:
        sides = expected.get(key, MISSING), actual.get(key, MISSING)
        rows += walk(plan, place.member(plan, key, *sides), *sides)
    return rows


def walk_array(plan: Plan, place: Place, expected: list, actual: list) -> list[Row]:
    if not expected and not actual:
        return both_empty(plan, place)
    rows: list[Row] = []
    paired = pair_elements(plan, place, expected, actual)
    paths = path_text(place.expected), path_text(place.actual)
    shown = not place.alone and alignment(plan, place, expected, actual) != "ordered"
    for i, j in paired:
        there = place.element(plan, i, j, expected[i], actual[j])
        found = walk(plan, there, expected[i], actual[j])
        rows += found
        if shown:
            plan.pairs.append((*paths, i, j, scores_of(plan, found).f1))
    for i in set(range(len(expected))) - {i for i, _ in paired}:
        rows += walk(plan, place.element(plan, i, i, expected[i]), expected[i], MISSING)
    for j in set(range(len(actual))) - {j for _, j in paired}:
        rows += walk(plan, place.element(plan, j, j, MISSING, actual[j]), MISSING, actual[j])
    return rows


# -------------------------------------------------------------------------------------- array alignment


def alignment(plan: Plan, place: Place, expected: list, actual: list) -> str | Mapping:
    """ "ordered", "unordered", "sequence", {"key": NAME} or {"by": NAMES, "threshold": N} for this array."""
    rule = plan.rule(place, "align")
    if rule is not None:
        if rule.get("match_by") == "key_field":
            return {"key": rule["key"]}
        if "by" in rule:
            return rule
        return {"hungarian": "unordered", "sequence": "sequence"}.get(rule.get("match_by"), "ordered")
    if isinstance(plan.arrays, Mapping) and not all(isinstance(item, dict) for item in expected + actual):
        # Reading 13: "elements are all objects" is asked of both sides.
        return "ordered"
    return plan.arrays


def pair_elements(plan: Plan, place: Place, expected: list, actual: list) -> list[tuple[int, int]]:
    how = alignment(plan, place, expected, actual)
    if isinstance(how, Mapping):
        if "by" in how:
            return pair_by_members(plan, place, expected, actual, how["by"], how.get("threshold"))
        return pair_by_key(plan, place, expected, actual, how["key"])
    if how == "ordered":
        return list(zip(range(len(expected)), range(len(actual)), strict=False))
    pair = pair_sequence if how == "sequence" else pair_unordered
    return pair(plan, place, expected, actual)


def pair_by_key(plan: Plan, place: Place, expected: list, actual: list, name: str) -> list[tuple[int, int]]:
    def first_with_each_key(values: list) -> dict[str, int]:
        found: dict[str, int] = {}
        for i, item in enumerate(values):
            around = place.element(plan, i, i, item)
            key = present(plan, around, item).get(name) if isinstance(item, dict) else None
            there = around.member(plan, name, key)
            key = None if is_container(key) else transform_scalar(key, there.transforms)
            if type_of(key) in {"number", "string"} and not is_nonfinite(key):
                found.setdefault(scalar_text(key), i)
        return found

    theirs = first_with_each_key(actual)
    return [(i, theirs[key]) for key, i in first_with_each_key(expected).items() if key in theirs]


def pair_by_members(
    plan: Plan, place: Place, expected: list, actual: list, names: list[str], threshold: float | None
) -> list[tuple[int, int]]:
    """The pairs of objects by the similarity of some members only.

    Objects that agree in all of these come first. Which of several is decided by all their members.
    """
    if not expected or not actual:
        return []
    sides = (expected, actual)
    elements = [place.element(plan, i, i, item) for side in sides for i, item in enumerate(side)]
    if all(plan.rule(there, "skip") for there in elements):
        return list(zip(range(len(expected)), range(len(actual)), strict=False))
    accepted = [plan.accepted(there) for there in elements]
    whole = any(plan.rule(there, "compare") for there in elements)
    whole |= any(each.values or each.predicates or each.optional for each in accepted)
    if whole or any(isinstance(item, DirtyEquals) for item in expected):
        raise RefusedError("ConfigurationError", doubts=["elements that are compared as a whole"])
    parts = [
        [plan.part(place.element(plan, i, i, item), item, names) for i, item in enumerate(side)]
        for side in sides
    ]
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for number, side in enumerate(parts):
        for i, part in enumerate(side):
            there = place.element(plan, i, i, part)
            if part and not has_nonfinite(plan, there, part):
                groups.setdefault(canonical(plan, there, part), ([], []))[number].append(i)
    given = None
    if plan.pairings is not None and not place.alone:
        given = plan.pairings.get((path_text(place.expected), path_text(place.actual)), [])
    pairs: list[tuple[int, int]] = []

    def choose(one: list, other: list, rows: list[int], columns: list[int], least: float) -> None:
        equal_pairs, best, admissible = optimum(plan, place, one, other, rows, columns, least)
        if place.alone and not place.pairing and is_tied(best, admissible):
            plan.doubts.append("a tie inside an accepted value")
        found = equal_pairs + best
        if given is not None:
            found = [(i, j) for i, j in given if i in rows and j in columns]
            where = path_text(place.expected), path_text(place.actual)
            plan.objections.extend(
                f"{where}: {text}" for text in objections(found, equal_pairs, best, admissible)
            )
        pairs.extend(found)

    for rows, columns in groups.values():
        if rows and columns:
            choose(expected, actual, rows, columns, -1.0)  # they agree, whatever the others are
    rows = [i for i, part in enumerate(parts[0]) if part and i not in {i for i, _ in pairs}]
    columns = [j for j, part in enumerate(parts[1]) if part and j not in {j for _, j in pairs}]
    choose(*parts, rows, columns, plan.array_threshold if threshold is None else threshold)
    if given is not None and set(given) != set(pairs):
        plan.objections.append("a row without the members is paired")
    return sorted(pairs)


def scalar_text(value: object) -> str:
    """Canonical JSON text of a scalar: equal values have the same text."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return "NaN"
        value = int(value) if value == int(value) else value
    return json.dumps(value, ensure_ascii=False, default=id)  # a matcher is nobody's twin


def canonical(plan: Plan, place: Place, value: object) -> str:
    """Canonical JSON text of the value under the plan.

    Transforms are applied, skipped parts left out, unordered arrays inside are sorted: two elements are
    equal under the plan if and only if these texts are equal (and hold no NaN).
    Reading 14: a container of which all is skipped is still not equal to an empty one (which may count as
    a leaf); arrays paired by key stay in order; what a comparator makes one leaf is a plain value inside.
    """
    if plan.rule(place, "skip"):
        return SKIPPED
    if isinstance(value, DirtyEquals):
        return plain_text(value)
    spec = plan.rule(place, "compare")
    if is_container(value) and spec:
        return plain_text(seen(plan, place, value), strict=strict(spec))
    if isinstance(value, dict):
        texts = []
        for key, item in sorted(present(plan, place, value).items()):
            text = canonical(plan, place.member(plan, key, item), item)
            texts.append(text if text == SKIPPED else f"{json.dumps(key, ensure_ascii=False)}:{text}")
        return "{" + ",".join(without_skipped(texts)) + "}"
    if isinstance(value, list):
        texts = [canonical(plan, place.element(plan, i, i, item), item) for i, item in enumerate(value)]
        if alignment(plan, place, value, value) == "unordered":
            texts.sort()
        return "[" + ",".join(without_skipped(texts)) + "]"
    value = transform_scalar(value, place.transforms)
    spec = spec or (not is_container(value) and default_comparator(plan, place, value, value))
    return plain_text(value, strict=strict(spec))


def strict(spec: object) -> bool:
    return isinstance(spec, Mapping) and named(spec)[1].get("strict_number_type") is True


SKIPPED = "…"  # no JSON text is just this


def without_skipped(texts: list[str]) -> list[str]:
    return [text for text in texts if text != SKIPPED] or texts[:1]


def plain_text(value: object, *, strict: bool = False) -> str:
    if isinstance(value, dict):
        texts = [
            f"{json.dumps(key, ensure_ascii=False)}:{plain_text(item, strict=strict)}"
            for key, item in sorted(value.items())
        ]
        return "{" + ",".join(texts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(plain_text(item, strict=strict) for item in value) + "]"
    return f"float {scalar_text(value)}" if strict and isinstance(value, float) else scalar_text(value)


def has_nonfinite(plan: Plan, place: Place, value: object) -> bool:
    """Whether NaN or an infinity stands in it where it is not skipped: such a value equals nothing."""
    if plan.rule(place, "skip"):
        return False
    if isinstance(value, dict):
        there = present(plan, place, value)
        return any(has_nonfinite(plan, place.member(plan, key, item), item) for key, item in there.items())
    if isinstance(value, list):
        return any(has_nonfinite(plan, place.element(plan, i, i, item), item) for i, item in enumerate(value))
    return is_nonfinite(value)


def pair_unordered(plan: Plan, place: Place, expected: list, actual: list) -> list[tuple[int, int]]:
    """The pairs of an unordered array: those that are to be followed, where there are any."""
    where = place.expected, place.actual, id(expected), id(actual), plan.extra
    if where not in plan.optima:
        rows, columns = range(len(expected)), range(len(actual))
        plan.optima[where] = optimum(plan, place, expected, actual, rows, columns, plan.array_threshold)
    equal_pairs, best, admissible = plan.optima[where]
    if place.alone and not place.pairing and is_tied(best, admissible):
        # Only the scores of accepted values are taken so. The specification does not say which of the pairings that
        # tie is taken, and they may leave leaves of other weights, or of empty containers, uncounted.
        plan.doubts.append("a tie inside an accepted value")
    if plan.pairings is None or place.alone:
        return sorted(equal_pairs + best)
    paths = path_text(place.expected), path_text(place.actual)
    given = plan.pairings.get(paths, [])
    if any(i >= len(expected) for i, _ in given):
        # Pairings that tie may differ in their scores, and so may the value that is accepted here.
        plan.doubts.append("another accepted value")
        return sorted(equal_pairs + best)
    plan.objections.extend(f"{paths}: {text}" for text in objections(given, equal_pairs, best, admissible))
    return sorted(given)


def pair_sequence(plan: Plan, place: Place, expected: list, actual: list) -> list[tuple[int, int]]:
    """The pairs of an array whose order counts, with gaps; nothing is open, so any others are wrong."""
    where = place.expected, place.actual, id(expected), id(actual), plan.extra
    if where not in plan.optima:
        # Reading 16, as above.
        admissible = {
            (i, j): alike
            for i in range(len(expected))
            for j in range(len(actual))
            if (alike := similarity(plan, place, expected, actual, i, j)).score > plan.array_threshold + 1e-12
        }
        plan.optima[where] = best_in_order(admissible, len(expected), len(actual)), expected, actual
    best = plan.optima[where][0]
    if plan.pairings is None or place.alone:
        return best
    paths = path_text(place.expected), path_text(place.actual)
    given = plan.pairings.get(paths, [])
    if any(i >= len(expected) for i, _ in given):
        plan.doubts.append("another accepted value")
        return best
    if given != best:
        plan.objections.append(f"{paths}: not the first of the best pairings in order, which is {best}")
    return given


def best_in_order(
    admissible: Mapping[tuple[int, int], Alike], rows: int, columns: int
) -> list[tuple[int, int]]:
    """The pairs, none of which cross, with the greatest sum of similarities; of those that tie, with the greatest Σ;
    of those, the smallest. Numbers that differ by less than 1e-12 are equal.

    `most[i, j]` is what the elements from i and j on can give, as (sum of similarities, Σ, pairs from there on).
    """
    nothing: tuple[float, float, list[tuple[int, int]]] = 0.0, 0.0, []
    most = {(i, columns): nothing for i in range(rows + 1)} | {(rows, j): nothing for j in range(columns + 1)}
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            found = [most[i + 1, j], most[i, j + 1]]
            if (i, j) in admissible:
                alike, (score, matched, pairs) = admissible[i, j], most[i + 1, j + 1]
                found.append((score + alike.score, matched + alike.matched, [(i, j), *pairs]))
            for at in (0, 1):
                greatest = max(each[at] for each in found)
                found = [each for each in found if each[at] > greatest - 1e-12]
            most[i, j] = min(found, key=lambda each: each[2])
    return most[0, 0][2]


def optimum(
    plan: Plan,
    place: Place,
    expected: list,
    actual: list,
    rows: Iterable[int],
    columns: Iterable[int],
    threshold: float,
) -> tuple:
    """The twins, the best pairs of the rest, and the numbers of all pairs of the rest that are admissible."""
    equal_pairs = equal_pairs_of(plan, place, expected, actual, rows, columns)
    left = set(rows) - {i for i, _ in equal_pairs}
    right = set(columns) - {j for _, j in equal_pairs}
    # Reading 16: "greater" than the threshold means by more than rounding.
    admissible = {
        (i, j): alone
        for i in left
        for j in right
        if (alone := similarity(plan, place, expected, actual, i, j)).score > threshold + 1e-12
    }
    return equal_pairs, best_pairs(admissible), admissible


def equal_pairs_of(
    plan: Plan, place: Place, expected: list, actual: list, rows: Iterable[int], columns: Iterable[int]
) -> list[tuple[int, int]]:
    """Equal elements at some indices, in order of position."""
    theirs = {j: place.element(plan, j, j, actual[j]) for j in columns}
    texts = {j: canonical(plan, there, actual[j]) for j, there in theirs.items()}
    free = [j for j, there in theirs.items() if not has_nonfinite(plan, there, actual[j])]
    equal_pairs: list[tuple[int, int]] = []
    for i in rows:
        item = expected[i]
        text = canonical(plan, place.element(plan, i, i, item), item)
        partner = next((j for j in free if texts[j] == text), None)
        if partner is not None:
            free.remove(partner)
            equal_pairs.append((i, partner))
    return equal_pairs


def objections(
    given: list[tuple[int, int]],
    equal_pairs: list[tuple[int, int]],
    best: list[tuple[int, int]],
    admissible: Mapping[tuple[int, int], Alike],
) -> list[str]:
    """What keeps the given pairs from being one of the best pairings.

    Reading 25: an admissible pair of two free elements is always made, be it worth less than the 1e-9 of a tie.
    """
    rest = [pair for pair in given if pair not in equal_pairs]
    ours, theirs = {i for i, _ in given}, {j for _, j in given}
    wrong = {
        "an element is paired twice": not len(ours) == len(theirs) == len(given),
        "equal elements are not paired": not set(equal_pairs) <= set(given),
        "a pair is not above the threshold": not admissible.keys() >= set(rest),
        "a pair is not made": any(i not in ours and j not in theirs for i, j in admissible),
    }
    if not any(wrong.values()):
        sums, most = ([sum(worth) for worth in worths(pairs, admissible)] for pairs in (rest, best))
        within = 1e-9 * max(1, len(rest), len(best))
        wrong["the sum of similarities is not the greatest"] = abs(sums[0] - most[0]) > within
        wrong["the sum of scores is not the greatest of these"] = abs(sums[1] - most[1]) > within
    return [text for text, found in wrong.items() if found]


def is_tied(best: list[tuple[int, int]], admissible: Mapping[tuple[int, int], Alike]) -> bool:
    """Whether another pairing is as good: any other one lacks one of these pairs."""
    return any(
        not objections(best_pairs(others), [], best, admissible)
        for left_out in best
        if (others := {pair: alike for pair, alike in admissible.items() if pair != left_out})
    )


def worths(pairs: list[tuple[int, int]], admissible: Mapping[tuple[int, int], Alike]) -> list[list[float]]:
    """The pairs' similarities, and their Σ."""
    return [[getattr(admissible[pair], name) for pair in pairs] for name in ("score", "matched")]


def best_pairs(admissible: Mapping[tuple[int, int], Alike]) -> list[tuple[int, int]]:
    """The one-to-one pairs with the greatest sum of similarities, and of those that tie with the greatest Σ.

    Pairs are added by one path after the other that gains most, until none gains anything; a path takes a
    column from a row which takes another column. All Σ together add less than the 1e-9 of a tie, in integers.
    """
    most = max((alone.matched for alone in admissible.values()), default=0.0)
    shade = 5e-10 / max(1.0, most * len({i for i, _ in admissible}))
    worth = {
        pair: int(alone.score * 2**60) + int(alone.matched * shade * 2**60)
        for pair, alone in admissible.items()
    }
    row_of: dict[int, int] = {}
    while True:
        gained = dict.fromkeys({i for i, _ in worth} - set(row_of.values()), 0)
        reached: dict[int, tuple[int, int]] = {}
        longer = True
        while longer:
            longer = False
            for (i, j), value in worth.items():
                if i in gained and row_of.get(j) != i and gained[i] + value > reached.get(j, (0, 0))[0]:
                    reached[j] = gained[i] + value, i
                    longer = True
                    if j in row_of:
                        gained[row_of[j]] = gained[i] + value - worth[row_of[j], j]
        ends = reached.keys() - row_of.keys()
        if not ends:
            return [(i, j) for j, i in row_of.items()]
        column: int | None = max(ends, key=lambda j: reached[j])
        while column is not None:
            row = reached[column][1]
            before = next((j for j, i in row_of.items() if i == row), None)
            row_of[column], column = row, before


def similarity(plan: Plan, place: Place, expected: list, actual: list, i: int, j: int) -> Alike:
    """How similar two elements are: Σ by the mean of the leaves that each has by itself.

    Reading 18: alone means that weights from the element upwards do not enter (only a weight of 0 shows it).
    """
    key = (place.schema, id(place.node), id(expected[i]), id(actual[j]), plan.extra)
    if key not in plan.similarities:
        top = replace(place, weight=1.0, alone=True, pairing=True)
        there = top.element(plan, i, j, expected[i], actual[j])
        theirs = top.element(plan, i, j, actual[j])
        if there.weight == 0:
            there, theirs = replace(there, weight=1.0), replace(theirs, weight=theirs.weight or 1.0)
        rows = walk(plan, there, expected[i], actual[j])
        matched = math.fsum(row.weight * row.score for row in rows if row.status in {"match", "mismatch"})
        leaves = pair_leaves(plan, (there, expected[i]), (theirs, actual[j]))
        # What the ids are of is kept beside the numbers, so that they stay theirs.
        alike = Alike(min(1.0, ratio(matched, leaves)), matched)
        plan.similarities[key] = alike, expected[i], actual[j], place.node
    return plan.similarities[key][0]


@dataclass(frozen=True)
class Alike:
    """How similar two elements are, and their Σ."""

    score: float
    matched: float


def shuffled(plan: Plan, place: Place, value: object, rng: random.Random) -> object:
    """A copy whose unordered arrays, at any depth, are in another order."""
    if plan.rule(place, "skip") or plan.rule(place, "compare"):
        return value
    if isinstance(value, dict):
        return {key: shuffled(plan, place.member(plan, key, item), item, rng) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [shuffled(plan, place.element(plan, i, i, item), item, rng) for i, item in enumerate(value)]
    how = alignment(plan, place, value, value)
    by_contents = how == "unordered" or (isinstance(how, Mapping) and "by" in how)
    return rng.sample(items, len(items)) if by_contents else items


# --------------------------------------------------------------------------------------------- fields


def walk_fields(plan: Plan, place: Place, expected: object, actual: object) -> list[Row]:
    """Granularity `fields`: every top-level key is one unit."""
    e = present(plan, place, expected) if isinstance(expected, dict) else expected
    a = present(plan, place, actual) if isinstance(actual, dict) else actual
    if e == {} and a is MISSING:
        # Reading 22: an empty object that is itself what is missing counts as `empties` says, as anywhere.
        return one_sided(plan, place, e, "omission")
    if isinstance(e, dict) and (isinstance(a, dict) or a is MISSING):
        rows: list[Row] = []
        theirs = a if isinstance(a, dict) else {}
        for key in {**e, **theirs}:
            sides = e.get(key, MISSING), theirs.get(key, MISSING)
            rows += unit(plan, place.member(plan, key, *sides), *sides)
        return rows
    # Reading 19: a root that is not an object has no keys: it is one unit itself.
    return unit(plan, place, expected, actual)


def unit(plan: Plan, place: Place, expected: object, actual: object) -> list[Row]:
    if expected is MISSING and (actual is MISSING or plan.extra in ("ignore", "elements")):
        return []
    if plan.rule(place, "skip"):
        return [skipped_row(place, expected, actual)]
    if expected is MISSING:
        return [one_row(place, "hallucination")]
    if actual is MISSING:
        if isinstance(expected, DirtyEquals) and expected.word == "absent":
            return [replace(both_row(place, "match", 1.0, place.weight, place.weight), actual_path=None)]
        lacking = skipped_row(place, expected, actual) if plan.may_lack(place, expected) else None
        return [lacking or one_row(place, "omission")]
    explicit = not isinstance(expected, DirtyEquals) and plan.rule(place, "compare")
    accepted = plan.accepted(place)
    if explicit and not (accepted.values or accepted.predicates):
        return [compare_leaf(plan, place, expected, actual, explicit)]
    # Below the key nothing may be missing or extra, so extra leaves count there whatever the option says.
    # Weights below the key matter only by being 0, unless the key's own is 0 too.
    below = replace(plan, granularity="leaves", extra="count")
    inner = walk(below, replace(place, weight=1.0, is_unit=True), expected, actual)
    if is_container(expected) or is_container(actual) or len(inner) != 1:
        left_out = 0 if place.weight else None
        whole = all(row.status in {"match", "skipped"} or row.weight == left_out for row in inner)
        score = float(whole)
    else:
        # Reading 23: a scalar's comparator gives the unit's score, wherever the comparator comes from.
        score = inner[0].score
    score = limited(score, place.limit)
    return [both_row(place, "match" if score == 1 else "mismatch", score, place.weight, place.weight)]


# ------------------------------------------------------------------------------------------ the answer


def at_target(plan: Plan, expected: object, actual: object) -> tuple[Place, object, object]:
    """Both values at `target_key`, and their place.

    Reading 21: the place keeps its path from the documents' roots, for results and for patterns alike; rules
    that match above it hold as they do above any other node. The schema is that of the documents too.
    """
    place = Place.top(plan, expected, actual)
    for segment in [] if plan.target_key == "*" else read_path(plan.target_key):
        expected, actual = part(expected, segment), part(actual, segment)
        if isinstance(segment, int):
            place = place.element(plan, segment, segment, expected, actual)
        else:
            place = place.member(plan, segment, expected, actual)
    return place, expected, actual


def part(value: object, segment: str | int) -> object:
    if isinstance(value, dict) and segment in value:
        return value[segment]
    if isinstance(value, list) and isinstance(segment, int) and segment < len(value):
        return value[segment]
    return MISSING


def aggregates(rows: list[Row]) -> dict[str, list[float]]:
    """By schema path: how many results have each status, then the four sums."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        numbers = sums.setdefault(row.path, [0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0])
        numbers[COUNTED.index(row.status)] += 1
        for at, more in enumerate(
            (row.score, row.weight * row.score, row.expected_leaves, row.actual_leaves)
        ):
            numbers[6 + at] += more
    return sums


COUNTED = ("match", "mismatch", "omission", "hallucination", "skipped")


def shuffled_sides(
    expected: object, actual: object, options: Mapping, type_defaults: Mapping, rng: random.Random
) -> tuple[object, object]:
    """Both sides with their unordered arrays, at any depth, in another order."""
    plan = Plan.of(options, type_defaults)
    one, other = (shuffled(plan, Place.top(plan, value, MISSING), value, rng) for value in (expected, actual))
    return one, other


def reference_score(
    expected: object,
    actual: object,
    options: Mapping,
    type_defaults: Mapping | None = None,
    pairings: Mapping | None = None,
) -> ReferenceResult:
    """Score `actual` against `expected`, both JSON values, under `compare_json`'s options.

    `type_defaults` is what `set_type_default` was told. `pairings`, if given, are to be followed: the pairs of each
    unordered array by its paths in expected and actual. Raises `RefusedError` with the name of the error that the
    metric raises instead of a number.
    """
    plan = Plan.of(options, type_defaults or {})
    if has_key_without_objects(plan.schema):
        raise RefusedError("ConfigurationError")
    place, expected, actual = at_target(plan, expected, actual)
    if expected is MISSING:
        raise RefusedError("TargetPathError")
    if plan.root == "object" and not (
        isinstance(expected, dict) and (isinstance(actual, dict) or actual is MISSING)
    ):
        raise RefusedError("RootTypeError")
    if place.written is UNLISTED and not plan.rule(place, "skip"):
        plan.refused.append(("GoldValidationError", path_text(place.expected)))
    refuse(plan, place, expected, "GoldValidationError")
    if (plan.unlisted, plan.extra) == ("reject", "count") and actual is not MISSING and not plan.refused:
        # Reading 32: what `extra: ignore` leaves out enters nothing, so it is not refused either.
        refuse(plan, place.entered(plan, actual, MISSING), actual, "UnlistedFieldError")
    if plan.refused:
        paths = sorted({path for _, path in plan.refused})
        raise RefusedError(plan.refused[0][0], paths, sorted(set(plan.doubts)))
    start = walk_fields if plan.granularity == "fields" else walk
    rows = start(plan, place, expected, actual)
    unguided = scores_of(plan, rows)
    if pairings is not None:
        plan = replace(plan, pairings=pairings, pairs=[], containers={})
        rows = start(plan, place, expected, actual)
    total = scores_of(plan, rows)
    return ReferenceResult(
        score=total.score,
        precision=total.precision,
        recall=total.recall,
        f1=total.f1,
        counts=dict(Counter(row.status for row in rows)),
        results=sorted(
            ((row.path, row.expected_path, row.actual_path, row.status, row.score) for row in rows),
            key=lambda result: [part or "" for part in result[:4]],
        ),
        pairs=sorted(plan.pairs),
        containers=plan.containers,
        fields=aggregates(rows),
        objections=plan.objections,
        tied=any(
            abs(one - other) > 1e-9 for one, other in zip(astuple(total), astuple(unguided), strict=True)
        ),
        doubts=sorted(set(plan.doubts)),
        matched_leaves=total.matched,
        total_leaves=total.expected,
    )
