"""The JSON Schema of golden files for editors, made from the loader's table of keys and `forms.yaml`.

Its draft is 2020-12, but it uses only keywords that mean the same in draft 7, which most editors know. So a
`$ref` has no keywords beside it, and nothing is `unevaluated`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.golden.keys import FILE_KEYS, KEYS, NOT_FILLED, PAIRS, SEVERAL, XUNIT_NAMES
from pytest_jsonmatch.golden.marks import NO_MARKS
from pytest_jsonmatch.golden.yamlevents import load

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

# Patterns that mean the same in Python and in JavaScript. `$(?!\n)` is the very end: Python's `$` also
# matches before a final line break. Every character beyond ASCII counts as a letter.
_END: Final = r"$(?!\n)"
_ID: Final = r"[^\x00-*,/:-?\[-\^`{-\x7f]+"
_WORD: Final = r"[^\x00-@\[-\^`{-\x7f][^\x00-/:-@\[-\^`{-\x7f]*"
_DOTTED: Final = rf"{_WORD}(\.{_WORD})*"
_PATH_KEY: Final = r"([A-Za-z_][A-Za-z0-9_]*|\*\*?)"
_PATH_ITEM: Final = r'\[("([^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")?\]'
_PATH_REST: Final = rf"(\.{_PATH_KEY}|{_PATH_ITEM})*"

PATTERNS: Final[Mapping[str, str]] = {
    "id": rf"^(?!pytest_|__|({'|'.join([*sorted(XUNIT_NAMES), 'pytestmark'])}){_END}){_ID}{_END}",
    "word": f"^{_WORD}{_END}",
    "bare_mark": rf"^(?!({'|'.join([*NO_MARKS, 'usefixtures', 'skipif'])}){_END}){_WORD}{_END}",
    "producer": f"^{_DOTTED}:{_DOTTED}{_END}",
    "path": rf"^(\$|(\$\.)?{_PATH_KEY}{_PATH_REST}|\$?{_PATH_ITEM}{_PATH_REST}){_END}",
    "data_file": rf"\.([jJ][sS][oO][nN]|[yY][aA]?[mM][lL]){_END}",
    "table": rf"\.([jJ][sS][oO][nN][lL]|[cC][sS][vV]){_END}",
    "place": r"\$\{[^{}]*\}",
}
"""The patterns that `forms.yaml` refers to by name."""


@cache
def tables() -> Mapping[str, Any]:
    """Return the content of `forms.yaml`, with its patterns."""

    def with_pattern(node: Schema) -> Schema:
        if isinstance(node.get("pattern"), str):
            node["pattern"] = PATTERNS.get(node["pattern"], node["pattern"])
        return node

    text = files(__package__).joinpath("forms.yaml").read_bytes()
    found: Schema = json.loads(json.dumps(load(text, "forms.yaml").value), object_hook=with_pattern)
    return found


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _words(texts: Mapping[str, str]) -> list[Schema]:
    """Return schemas that offer each word with its meaning."""
    return [{"const": word, "description": text} for word, text in texts.items()]


def _named(what: str) -> Schema:
    """Return the form of "name" or {name: {parameters}}; any name is allowed: users register more."""
    texts: dict[str, str] = {}
    known: Schema = {}
    for name, row in tables()[f"{what}s"].items():
        texts[name], parameters = (row, None) if isinstance(row, str) else row
        known[name] = {"description": texts[name], "type": ["object", "null"]}
        if parameters:
            known[name]["properties"] = parameters
    return {
        "description": f"A {what}: a name, or {{name: {{parameters}}}}.",
        "anyOf": [
            *_words(texts),
            {"type": "string", "description": f"Your own {what}."},
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "properties": known,
                "additionalProperties": {"type": ["object", "null"]},
            },
        ],
    }


def _definitions() -> Schema:
    """Return the definitions of all keys, and those that they refer to."""
    found: Schema = {name: dict(form) for name, form in tables()["forms"].items()}
    found["metric"]["anyOf"] = [*_words(tables()["metrics"]), *found["metric"]["anyOf"]]
    return {
        **found,
        **tables()["parts"],
        "comparator": _named("comparator"),
        "transform": _named("transform"),
    }


def golden_schema() -> Schema:
    """Return the JSON Schema of golden files: the one that is shipped as `golden-cases.schema.json`.

    >>> sorted(golden_schema()["$defs"]["case"]["properties"])[:3]
    ['accept', 'actual', 'actual_file']
    """
    pairs = [_not_both(name) for name in PAIRS]
    wanted = {"anyOf": [{"required": ["expected"]}, {"required": ["expected_file"]}]}
    # `true`, since editors would offer a key with several schemas several times.
    names: Schema = {name: _ref(name) if name in NOT_FILLED else True for name in KEYS}
    values = _unless_filled({name: _ref(name) for name in KEYS if name not in NOT_FILLED})
    cases: Schema = {
        "description": "The cases of the file. Keys beside it apply to all of them.",
        "type": "array",
        "minItems": 1,
        "items": _ref("case"),
    }
    return {
        "$schema": DRAFT,
        "title": "golden cases",
        "description": "Golden cases of pytest-jsonmatch: one case, or a list of `cases`.",
        "type": "object",
        "properties": {"cases": cases, "cases_from": _ref("cases_from"), **names},
        "additionalProperties": False,
        "allOf": [values, *pairs],
        "if": {"anyOf": [{"required": [name]} for name in sorted(SEVERAL)]},
        "then": {
            "properties": {name: False for name in KEYS if name not in FILE_KEYS},
            "not": {"required": sorted(SEVERAL)},
        },
        "else": wanted,
        "$defs": {
            **_definitions(),
            "case": {
                "title": "case",
                "description": "One case: one test.",
                "type": "object",
                "properties": names,
                "additionalProperties": False,
                "allOf": [values, *pairs, wanted],
            },
        },
    }


def _unless_filled(forms: Schema) -> Schema:
    """Return the schema that gives keys their forms; with parameters, a value with a place is not checked."""
    place = _ref("place")
    return {
        "if": {"required": ["parametrize"]},
        "then": {"properties": {name: {"anyOf": [form, place]} for name, form in forms.items()}},
        "else": {"properties": forms},
    }


def _not_both(name: str) -> Schema:
    return {"if": {"required": [name]}, "then": {"properties": {f"{name}_file": False}}}


# -- completion of `expected` ------------------------------------------------------------------------------


def completed(expected: Schema | None = None) -> Schema:
    """Return the schema of golden files with a schema for `expected`, so that editors can complete it.

    Args:
        expected: the schema of every `expected`, without references to other files; None for none.

    >>> total = {"type": "object", "properties": {"total": {"type": "number"}}}
    >>> completed(total)["$defs"]["expected"]["allOf"], completed(total)["$defs"]["expected-1"]["type"]
    ([{'$ref': '#/$defs/expected-1'}], 'object')
    """
    document = golden_schema()
    definitions = document["$defs"]
    if expected is not None:
        definitions["expected"]["allOf"] = [_ref("expected-1")]
        definitions["expected-1"] = _moved(expected, "expected-1")
    return document


def _moved(schema: Schema, name: str) -> Schema:
    """Return a resolved schema, whose references lead into itself, adapted to its place below `$defs`."""

    def led(node: Schema) -> Schema:
        target = node.get("$ref")
        if isinstance(target, str) and target.startswith("#"):
            node["$ref"] = f"#/$defs/{name}{target[1:]}"
        return node

    moved: Schema = json.loads(json.dumps(schema), object_hook=led)
    for word in ("$schema", "$id"):
        moved.pop(word, None)
    # Otherwise editors show the name of the definition.
    moved.setdefault("title", "expected")
    return moved
