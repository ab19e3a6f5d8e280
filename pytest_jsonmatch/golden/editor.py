"""The JSON Schema of golden files, for editors: made of the tables that the loader itself goes by.

It calls itself draft 2020-12 and keeps to keywords that mean the same in draft 7, which is what most editors
know. So a `$ref` has no keywords beside it, and nothing is `unevaluated`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare import BUILTIN, OPTIONAL
from pytest_jsonmatch.engine.plan.options import (
    ALIASES,
    CHOICES,
    COMPARED_TYPES,
    EVALUATION_TYPES,
    OPTION_ALIASES,
)
from pytest_jsonmatch.engine.plan.written import LARGEST_WEIGHT, SIZE
from pytest_jsonmatch.golden.cases import (
    FIGURES,
    FILE_KEYS,
    KEYS,
    MARK_KEYWORDS,
    NO_MARKS,
    NOT_FILLED,
    PAIRS,
    XUNIT_NAMES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["BEYOND_SCHEMA", "DRAFT", "FORMS", "completed", "golden_schema"]

Schema = dict[str, Any]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

BEYOND_SCHEMA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unique ids": (
            "No two cases have the same `id`, and none has the one that another gets by its place, its "
            "parameters or its runs."
        ),
        "letters of all scripts": (
            "Beyond ASCII, `id`, `producer` and the names of marks hold letters and digits only. The schema "
            "takes any character there: regular expressions have no word for a letter that all editors know."
        ),
        "what parameters make": (
            "A value with a place `${name}` is looked at once it is filled, and so are the ids that "
            "`parametrize` makes. Each place names a parameter, and all rows have the same names."
        ),
        "version specifiers": "The `python` of a `skipif` can be read as a version specifier.",
        "a size of no bytes": "A `memory_limit` in words comes to one byte or more: not `0 KiB`.",
        "duplicate keys": "A key stands once in its mapping; an editor sees one of the two.",
        "plain YAML": (
            "No tags, no merge keys, no keys that are not strings, one document a file; nothing nests deeper "
            "than 1,000 levels, and all of it comes to 16 MiB at most, aliases and `parametrize` written out."
        ),
    }
)
"""The rules of the loader that a JSON Schema has no words for. A test shows each."""

# What editors show. A test holds the names to those that the engine has.
_METRICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "field_match": "The share of expected top-level keys whose value is equal.",
        "field_match_normalized": "As field_match, but strings may differ in accents and case.",
        "json_similarity": "The mean similarity of all expected leaves: partial credit.",
        "pairwise_f1": "Precision and recall of all leaves; arrays have no order.",
        "leaf_f1": "Precision and recall of all leaves, each compared as an eval schema says. The default.",
    }
)
_COMPARATORS: Final[Mapping[str, tuple[str, Mapping[str, Schema]]]] = MappingProxyType(
    {
        "exact": (
            "The same type, and equal.",
            {"strict_number_type": {"description": "true makes 42 differ from 42.0.", "default": False}},
        ),
        "binary": ("Equal or 0.", {}),
        "numeric": (
            "1 if near enough, else 0. Strings that hold a number are read as one.",
            {
                "tolerance": {
                    "description": "How near. Both given: both must hold.",
                    "properties": {
                        "rel": {"description": "Relative to the expected number (to 1, if that is 0)."},
                        "abs": {"description": "The largest difference."},
                    },
                }
            },
        ),
        "relative": ("1 - |expected - actual| / |expected|, not below 0.", {}),
        "threshold": (
            "0 if the difference is more than the threshold, else more the smaller it is.",
            {
                "threshold": {"description": "The largest difference that scores; above 0."},
                "difference_penalty_weighting": {
                    "description": "1 - (difference / threshold) ** (1 / weighting); 0: within is 1.",
                    "default": 1,
                },
            },
        ),
        "levenshtein": ("1 - edit distance / length of the longer string.", {}),
        "jaccard": (
            "Shared words over all words, lower-cased.",
            {"tokenizer": {"description": "A function: from Python only."}},
        ),
        "oneof": (
            "1 if actual is one of some values, or a synonym of expected.",
            {
                "values": {"description": "1 if actual is one of them, whatever expected is."},
                "groups": {"description": "Lists of synonyms: 1 if both are in one of them, or equal."},
            },
        ),
        "normalized_text": ("Equal once accents and case are gone.", {}),
        "date": (
            "The same moment; a date alone is its midnight.",
            {
                "formats": {
                    "description": "A list of formats as for strptime; default ISO 8601 and common forms."
                }
            },
        ),
        "regex": (
            "Expected is a pattern that actual must match as a whole.",
            {"timeout": {"description": "Seconds a match.", "default": 1}},
        ),
        "contains": ("Actual contains expected: a part of a string, elements, members.", {}),
        "cosine": (
            "How near the embeddings of two strings are. Needs the extra `embeddings`.",
            {
                "embedding_model": {
                    "description": "A model's name, a folder, module:attribute, or a registered encoder.",
                    "default": "all-MiniLM-L6-v2",
                },
                "revision": {"description": "A branch, tag or commit of the model."},
                "floor": {
                    "description": "A cosine up to here scores 0, and 1 stays 1; below 1.",
                    "default": 0,
                },
            },
        ),
        "semantic": (
            "1 if the two mean the same, by the word of a judge.",
            {
                "criterion": {"description": "What counts as the same, in words."},
                "judge": {"description": "The name of a registered judge."},
            },
        ),
    }
)
_TRANSFORMS: Final[Mapping[str, tuple[str, Mapping[str, Schema]]]] = MappingProxyType(
    {
        "lowercase": ("Lower case.", {}),
        "strip": ("No white space at either end.", {}),
        "normalize_whitespace": ("Each run of white space becomes one space, none at the ends.", {}),
        "sort_tokens": ("The words between white space, sorted.", {}),
        "round_digits": (
            "A number rounded as Python's round does.",
            {"digits": {"description": "How many digits after the point."}},
        ),
        "type_convert": (
            "The value as another type, where that makes sense; else as it is.",
            {
                "to": {
                    "description": "The type.",
                    "examples": ["string", "number", "integer", "boolean"],
                }
            },
        ),
        "strip_accents": ("Decomposed (NFD), without combining marks.", {}),
        "casefold": ("Full case folding: ß becomes ss.", {}),
        "unicode": (
            "A Unicode normal form.",
            {"form": {"description": "The form.", "examples": ["NFC", "NFD", "NFKC", "NFKD"]}},
        ),
        "strip_punctuation": ("Without punctuation; symbols such as $ and + stay.", {}),
    }
)
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "root": "any, or object: anything but two objects is an error.",
        "granularity": "leaves: each scalar counts; fields: each key at the top counts once.",
        "extra": "count: what only actual has is a hallucination; ignore: it counts nowhere.",
        "unlisted": "Members that a schema does not list. extra: as `extra` says; reject: an error.",
        "arrays": "ordered: by position; unordered: the best pairing; {key: NAME}: by that member.",
        "array_threshold": "A pair of elements is made only if its similarity is greater.",
        "empties": "Whether an empty array or object counts: leaf, if_absent or never.",
        "nulls": "value: null is a value; absent: a member that is null is not there.",
        "reduce": "f1, or ratio: the sum of scores over the expected leaves.",
        "leaf_threshold": "A leaf that scores not more than this counts 0.",
        "target_key": "Compare only the value at this path of both sides; * for everything.",
        "compare": "The comparator for every leaf, or a mapping of JSON types to comparators.",
        "transform": "Transforms for every scalar.",
        "memory_limit": "Bytes, or a size such as 512 MiB, up to which unordered arrays are paired exactly.",
        "repair": "true lets json-repair mend broken text.",
    }
)
_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "compare": "The comparator of this field.",
        "transform": "What is done to both sides before they are compared, from left to right.",
        "skip": "true leaves the field out.",
        "weight": "How much the field counts; 1 is normal, 0 means shown but not counted.",
        "align": "How an array's elements find each other.",
    }
)

# Patterns, in words that mean the same to Python and to JavaScript. `$(?!\n)` is the very end: Python's `$`
# also stands before a last line break. A letter is all that is none of the other characters of ASCII.
_END: Final = r"$(?!\n)"
_ID: Final = r"[^\x00-*,/:-?\[-\^`{-\x7f]+"
_WORD: Final = r"[^\x00-@\[-\^`{-\x7f][^\x00-/:-@\[-\^`{-\x7f]*"
_DOTTED: Final = rf"{_WORD}(\.{_WORD})*"
_PATH_KEY: Final = r"([A-Za-z_][A-Za-z0-9_]*|\*\*?)"
_PATH_ITEM: Final = r'\[("([^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")?\]'
_PATH_REST: Final = rf"(\.{_PATH_KEY}|{_PATH_ITEM})*"
_PATH: Final = rf"^(\$|(\$\.)?{_PATH_KEY}{_PATH_REST}|\$?{_PATH_ITEM}{_PATH_REST}){_END}"
_DATA_FILE: Final = rf"\.([jJ][sS][oO][nN]|[yY][aA]?[mM][lL]){_END}"

_UNIT: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_PATTERN: Final[Schema] = {
    "type": "string",
    "pattern": _PATH,
    "patternErrorMessage": 'Not a path pattern: write items[].price, *, **.id, or ["unit price"].',
}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _words(texts: Mapping[str, str]) -> list[Schema]:
    """Return schemas that offer each word with what it means."""
    return [{"const": word, "description": text} for word, text in texts.items()]


def _named(what: str, table: Mapping[str, tuple[str, Mapping[str, Schema]]]) -> Schema:
    """Return the form of "name" or {name: {parameters}}; any name will do, as one may register one's own."""
    known: Schema = {}
    for name, (text, parameters) in table.items():
        known[name] = {"description": text, "type": ["object", "null"]}
        if parameters:
            known[name]["properties"] = dict(parameters)
    return {
        "description": f"A {what}: a name, or {{name: {{parameters}}}}.",
        "anyOf": [
            *_words({name: text for name, (text, _) in table.items()}),
            {"type": "string", "description": f"A {what} of one's own."},
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "properties": known,
                "additionalProperties": {"type": ["object", "null"]},
            },
        ],
    }


def _id() -> Schema:
    kept = "|".join([*sorted(XUNIT_NAMES), "pytestmark"])
    return {
        "type": "string",
        "pattern": rf"^(?!pytest_|__|({kept}){_END}){_ID}{_END}",
        "patternErrorMessage": (
            "Letters, digits and _ . @ + - only, and no name that pytest keeps for itself; "
            "prose goes into `title`."
        ),
    }


def _data_file() -> Schema:
    return {
        "type": "string",
        "pattern": _DATA_FILE,
        "patternErrorMessage": "A .json, .yaml or .yml file.",
    }


def _metric() -> Schema:
    aliases = {alias: f"The same as {metric}." for alias, metric in ALIASES.items()}
    return {"anyOf": [*_words({**_METRICS, **aliases}), {"type": "string", "minLength": 1}]}


def _threshold() -> Schema:
    limits: Schema = {
        "type": "object",
        "propertyNames": _PATTERN,
        "additionalProperties": _UNIT,
        "description": "Path patterns, and the mean score that each field has to reach.",
    }
    figures: Schema = {
        figure: {**_UNIT, "description": f"The least {figure}, from 0 to 1."} for figure in FIGURES
    }
    several = {"type": "object", "properties": {**figures, "fields": limits}, "additionalProperties": False}
    return {"anyOf": [_UNIT, several]}


def _options() -> Schema:
    path = {"type": "string"}
    forms: dict[str, Schema] = {
        **{name: {"enum": list(choices)} for name, choices in CHOICES.items()},
        "arrays": {"anyOf": [{"enum": ["ordered", "unordered"]}, _by_key()]},
        "array_threshold": _UNIT,
        "leaf_threshold": {**_UNIT, "type": ["number", "null"]},
        "target_key": path,
        "compare": {
            "anyOf": [
                {"type": "string", "examples": [*BUILTIN, *OPTIONAL]},
                {
                    "type": "object",
                    "properties": {kind: _ref("comparator") for kind in COMPARED_TYPES},
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "propertyNames": {"not": {"enum": list(COMPARED_TYPES)}},
                    "additionalProperties": {"type": "object"},
                },
            ]
        },
        "transform": _transforms(),
        "memory_limit": {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "pattern": SIZE, "examples": ["512 MiB"]},
            ]
        },
        "repair": {"type": "boolean"},
    }
    members: Schema = {name: {"description": text, **forms[name]} for name, text in _OPTIONS.items()}
    for alias, name in OPTION_ALIASES.items():
        members[alias] = {**members[name], "description": f"The same as {name}."}
    for name, kind in EVALUATION_TYPES.items():
        members[name] = {
            "description": f"structeval's word for the comparator of {kind} values.",
            "type": "object",
            "properties": {
                "evaluation_type": {"type": "string", "examples": [*BUILTIN, *OPTIONAL]},
                "evaluation_params": {"type": ["object", "null"]},
            },
            "required": ["evaluation_type"],
            "additionalProperties": False,
        }
    return {"type": "object", "properties": members, "additionalProperties": False}


def _by_key() -> Schema:
    return {
        "type": "object",
        "properties": {"key": {"type": "string", "description": "The member that elements are paired by."}},
        "required": ["key"],
        "additionalProperties": False,
    }


def _transforms() -> Schema:
    one = _ref("transform")
    return {"anyOf": [{"type": "array", "items": one}, one]}


def _fields() -> Schema:
    return {"type": "object", "propertyNames": _PATTERN, "additionalProperties": _ref("rule")}


def _rule() -> Schema:
    forms: dict[str, Schema] = {
        # `allOf`, for to draft 7 a $ref stands alone.
        "compare": {"allOf": [_ref("comparator")]},
        "transform": _transforms(),
        "skip": {"type": "boolean"},
        "weight": {"type": "number", "minimum": 0, "maximum": LARGEST_WEIGHT},
        "align": _align(),
    }
    return {
        "title": "rule",
        "description": "How the fields at a path are compared.",
        "type": "object",
        "properties": {word: {"description": text, **forms[word]} for word, text in _FIELDS.items()},
        "additionalProperties": False,
    }


def _align() -> Schema:
    by_key = _by_key()
    by_key["properties"]["match_by"] = {"const": "key_field"}
    return {
        "anyOf": [
            {"enum": ["ordered", "unordered"]},
            by_key,
            {
                "type": "object",
                "properties": {"match_by": {"enum": ["ordered", "hungarian"]}},
                "required": ["match_by"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"ordered": {"type": "boolean"}},
                "required": ["ordered"],
                "additionalProperties": False,
            },
        ]
    }


def _schema() -> Schema:
    return {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]}


def _producer() -> Schema:
    return {
        "type": "string",
        "pattern": f"^{_DOTTED}:{_DOTTED}{_END}",
        "patternErrorMessage": "module:function, such as myproject.extract:receipt.",
    }


_NEVER_BARE: Final = ("usefixtures", "skipif")


def _conditions() -> Schema:
    name: Schema = {"type": "string", "minLength": 1}
    several: Schema = {"anyOf": [name, {"type": "array", "minItems": 1, "items": name}]}
    values: Schema = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": name,
        "additionalProperties": {"type": "string"},
    }
    return {
        "description": "Conditions; the case is skipped where all of them hold.",
        "type": "object",
        "properties": {
            "platform": {"description": "Python's sys.platform: linux, darwin, win32, or a list.", **several},
            "python": {
                "description": 'A version specifier, in quotes: "<3.12".',
                "type": "string",
                "pattern": r"\S",
            },
            "env": {
                "description": "Variables that are set, or a mapping of variables to their values.",
                "anyOf": [*several["anyOf"], values],
            },
            "reason": {"description": "Why, for people.", "type": "string"},
        },
        "anyOf": [{"required": ["platform"]}, {"required": ["python"]}, {"required": ["env"]}],
        "additionalProperties": False,
    }


def _parametrize() -> Schema:
    name: Schema = {
        "type": "string",
        "pattern": f"^{_WORD}{_END}",
        "patternErrorMessage": "The name of a parameter: letters, digits and _.",
    }
    row: Schema = {
        "type": "object",
        "minProperties": 1,
        "propertyNames": name,
        "properties": {"id": _id()},
        "if": {"required": ["id"]},
        "then": {"minProperties": 2},
    }
    return {
        "anyOf": [
            {
                "type": "object",
                "minProperties": 1,
                "propertyNames": name,
                "properties": {"id": False},
                "additionalProperties": {"type": "array", "minItems": 1},
            },
            {"type": "array", "minItems": 1, "items": row},
        ]
    }


def _marks() -> Schema:
    name: Schema = {"type": "string", "pattern": f"^{_WORD}{_END}"}
    bare: Schema = {
        "type": "string",
        "pattern": rf"^(?!({'|'.join([*NO_MARKS, *_NEVER_BARE])}){_END}){_WORD}{_END}",
        "patternErrorMessage": (
            f"The name of a mark; not {', '.join(NO_MARKS)}; {' and '.join(_NEVER_BARE)} need arguments."
        ),
        "examples": list(MARK_KEYWORDS),
    }
    kinds: Mapping[type, Schema] = {str: {"type": "string"}, bool: {"type": "boolean"}}
    texts = {
        "reason": "Why, for people.",
        "strict": "Passing is a failure.",
        "run": "false: don't even run it.",
    }
    arguments: Schema = {
        mark: {
            "description": f"pytest's {mark}: a reason, or {{{', '.join(f'{word}: …' for word in words)}}}.",
            "anyOf": [
                {"type": ["null", "string"]},
                {
                    "type": "object",
                    "properties": {
                        word: {**kinds[kind], "description": texts[word]} for word, kind in words.items()
                    },
                    "additionalProperties": False,
                },
            ],
        }
        for mark, words in MARK_KEYWORDS.items()
    }
    fixture: Schema = {"type": "string", "minLength": 1}
    arguments["usefixtures"] = {
        "description": "Names of fixtures that the case needs.",
        "anyOf": [fixture, {"type": "array", "minItems": 1, "items": fixture}],
    }
    arguments["skipif"] = _conditions()
    refused: Schema = dict.fromkeys(NO_MARKS, False)
    return {
        "type": "array",
        "items": {
            "anyOf": [
                bare,
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "propertyNames": name,
                    "properties": {**arguments, **refused},
                },
            ]
        },
    }


FORMS: Final[Mapping[str, Callable[[], Schema]]] = MappingProxyType(
    {
        "id": _id,
        "data_file": _data_file,
        "metric": _metric,
        "threshold": _threshold,
        "options": _options,
        "fields": _fields,
        "schema": _schema,
        "producer": _producer,
        "marks": _marks,
        "parametrize": _parametrize,
    }
)
"""The forms of values that take more than a line to say, by the name that a `Key` calls them by."""


def golden_schema() -> Schema:
    """Return the JSON Schema of golden files: the one that is shipped as `golden-cases.schema.json`.

    >>> sorted(golden_schema()["$defs"]["case"]["properties"])[:3]
    ['actual', 'actual_file', 'expected']
    """
    pairs = [_not_both(name) for name in PAIRS]
    wanted = {"anyOf": [{"required": ["expected"]}, {"required": ["expected_file"]}]}
    # `true`, for editors offer what has a schema once for each that it has.
    names: Schema = {name: _ref(name) if name in NOT_FILLED else True for name in KEYS}
    values = _unless_filled({name: _ref(name) for name in KEYS if name not in NOT_FILLED})
    cases: Schema = {
        "description": "The cases of the file. What stands beside it holds for all of them.",
        "type": "array",
        "minItems": 1,
        "items": _ref("case"),
    }
    definitions: Schema = {}
    for name, key in KEYS.items():
        form = FORMS[key.form]() if isinstance(key.form, str) else key.form
        definitions[name] = {"description": key.text, **form}
    return {
        "$schema": DRAFT,
        "title": "golden cases",
        "description": "Golden cases of pytest-jsonmatch: one case, or a list of `cases`.",
        "type": "object",
        "properties": {"cases": cases, **names},
        "additionalProperties": False,
        "allOf": [values, *pairs],
        "if": {"required": ["cases"]},
        "then": {"properties": {name: False for name in KEYS if name not in FILE_KEYS}},
        "else": wanted,
        "$defs": {
            **definitions,
            "case": {
                "title": "case",
                "description": "One case: one test.",
                "type": "object",
                "properties": names,
                "additionalProperties": False,
                "allOf": [values, *pairs, wanted],
            },
            "place": _place(),
            "rule": _rule(),
            "comparator": _named("comparator", _COMPARATORS),
            "transform": _named("transform", _TRANSFORMS),
        },
    }


def _unless_filled(forms: Schema) -> Schema:
    """Return what makes keys have their forms; where there are parameters, a value with a place is free."""
    place = _ref("place")
    return {
        "if": {"required": ["parametrize"]},
        "then": {"properties": {name: {"anyOf": [form, place]} for name, form in forms.items()}},
        "else": {"properties": forms},
    }


def _place() -> Schema:
    here: Schema = {"pattern": r"\$\{[^{}]*\}"}
    below = _ref("place")
    return {
        "description": "A value with a place ${name} in it, which a parameter fills.",
        "anyOf": [
            {"type": "string", **here},
            {"type": "array", "contains": below},
            {
                "type": "object",
                "anyOf": [
                    {"not": {"propertyNames": {"not": here}}},
                    {"not": {"additionalProperties": {"not": below}}},
                ],
            },
        ],
    }


def _not_both(name: str) -> Schema:
    return {"if": {"required": [name]}, "then": {"properties": {f"{name}_file": False}}}


# -- completion of `expected` ------------------------------------------------------------------------------


def completed(expected: Schema | None = None, by_schema: Iterable[tuple[Any, Schema]] = ()) -> Schema:
    """Return the schema of golden files in which `expected` has a schema too, for editors to complete it by.

    Args:
        expected: the schema of every `expected`, with nothing to look up outside of itself; None leaves
            it free.
        by_schema: pairs of what stands at the key `schema` and the schema that this means: it is that of
            `expected` where the case, or the file of a case without one, has this `schema`.

    >>> total = {"type": "object", "properties": {"total": {"type": "number"}}}
    >>> completed(total)["$defs"]["expected"]["allOf"], completed(total)["$defs"]["expected-1"]["type"]
    ([{'$ref': '#/$defs/expected-1'}], 'object')
    """
    document = golden_schema()
    definitions = document["$defs"]
    if expected is not None:
        definitions["expected"]["allOf"] = [_ref("expected-1")]
        definitions["expected-1"] = _moved(expected, "expected-1")
    for number, (written, schema) in enumerate(by_schema, start=1):
        name = f"expected-{number}"
        definitions[name] = _moved(schema, name)
        chosen = {"required": ["schema"], "properties": {"schema": {"const": written}}}
        follows = _unless_filled({"expected": _ref(name)})
        definitions["case"]["allOf"].append({"if": chosen, "then": follows})
        inherits = {"if": {"not": {"required": ["schema"]}}, "then": follows}
        document["allOf"].append(
            {
                "if": chosen,
                "then": {"allOf": [follows], "properties": {"cases": {"items": inherits}}},
            }
        )
    return document


def _moved(schema: Schema, name: str) -> Schema:
    """Return a schema that is resolved (its references lead into itself) as it reads below `$defs`."""
    root = f"#/$defs/{name}"
    moved: Schema = {}
    waiting: list[tuple[Any, Any]] = [(schema, moved)]
    while waiting:
        source, target = waiting.pop()
        for key, value in source.items() if isinstance(source, dict) else enumerate(source):
            copy: Any = value
            if isinstance(value, (dict, list)):
                copy = {} if isinstance(value, dict) else []
                waiting.append((value, copy))
            elif key == "$ref" and isinstance(value, str) and value.startswith("#"):
                copy = root + value[1:]
            if isinstance(target, dict):
                target[key] = copy
            else:
                target.append(copy)
    for word in ("$schema", "$id"):
        moved.pop(word, None)
    # Else editors show people the name of the definition.
    moved.setdefault("title", "expected")
    return moved
