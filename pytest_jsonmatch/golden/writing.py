"""JSON values as YAML and JSON text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.matchers import is_matcher
from pytest_jsonmatch.reading.yamlevents import HALF, reads_as_string

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_BEYOND_ASCII: Final = re.compile("[^\0-\x7f]+")
# Characters that need no escape in quotes: all but controls, line breaks of YAML 1.1 or 1.2, and the byte
# order mark.
_PLAIN_CHARACTERS: Final = " -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_PRINTABLE: Final = re.compile(f"[{_PLAIN_CHARACTERS}]*")
_IN_A_BLOCK: Final = re.compile(f"[\t\n{_PLAIN_CHARACTERS}]*")
_ESCAPED: Final = re.compile(f"[^{_PLAIN_CHARACTERS}]")
_NOT_FIRST: Final = frozenset(",[]{}#&*!|>'\"%@`")
_FIRST_BEFORE_TEXT: Final = frozenset("-?:")


def yaml_scalar(value: JsonValue, style: str = "", *, flow: bool = False) -> str:
    r"""Return a scalar as YAML on one line, in the given style if the style can represent it.

    Args:
        value: null, a boolean, a number or a string. Only strings are quoted.
        style: empty (plain), `'` or `"`.
        flow: whether it is between brackets.

    >>> yaml_scalar("NO"), yaml_scalar("12"), yaml_scalar("it's", "'"), yaml_scalar("a\nb", "'")
    ('NO', '"12"', "'it''s'", '"a\\nb"')
    """
    if type(value) is not str:
        return render(value)
    is_printable = _PRINTABLE.fullmatch(value) is not None
    if not style and is_printable and _plain(value, flow=flow):
        return value
    if is_printable and (style == "'" or (not style and ('"' in value or "\\" in value))):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return _double(value)


def _plain(value: str, *, flow: bool) -> bool:
    """Return whether a string can be written without quotes."""
    if not value or value != value.strip() or not reads_as_string(value):
        return False
    if value[0] in _NOT_FIRST or value.startswith(("---", "...")):
        return False
    if value[0] in _FIRST_BEFORE_TEXT and (len(value) == 1 or value[1] in " ,[]{}"):
        return False
    if ": " in value or " #" in value or value.endswith(":"):
        return False
    return not (flow and any(bracket in value for bracket in ",[]{}?"))


def _double(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def literal_lines(value: str) -> list[str] | None:
    r"""Return a string as a literal scalar: its header, then its lines; None if it can't be one.

    >>> literal_lines("one\ntwo\n"), literal_lines("one\n\ntwo"), literal_lines(" one\n")
    (['|', '  one', '  two'], ['|-', '  one', '', '  two'], None)
    """
    lines = value.removesuffix("\n").split("\n")
    if _IN_A_BLOCK.fullmatch(value) is None or not lines[-1].strip() or next(filter(None, lines))[0] in " \t":
        return None
    return ["|" if value.endswith("\n") else "|-", *_indented(lines)]


def yaml_key(name: str, *, flow: bool = False) -> str:
    """Return a key as YAML, in quotes if it would not be read as a string.

    >>> yaml_key("total"), yaml_key("12")
    ('total', '"12"')
    """
    return yaml_scalar(name, flow=flow or ":" in name or "?" in name)


def yaml_flow(value: JsonValue) -> str:
    """Return a value as YAML on one line.

    >>> yaml_flow({"a": [1, "x, y"], "b": {}})
    '{a: [1, "x, y"], b: {}}'
    """
    if type(value) is dict:
        members = (f"{yaml_key(name, flow=True)}: {yaml_flow(member)}" for name, member in value.items())
        return f"{{{', '.join(members)}}}"
    if type(value) is list:
        return f"[{', '.join(map(yaml_flow, value))}]"
    return yaml_scalar(value, flow=True)


def yaml_entry(head: str, value: JsonValue, *, literal: bool = True) -> list[str]:
    r"""Return the lines of a member, whose head is its key, or of an element, whose head is a dash.

    >>> yaml_entry("a:", [1, {"b": "x\ny\n"}])
    ['a:', '  - 1', '  - b: |', '      x', '      y']
    """
    if type(value) in {dict, list} and value and not is_matcher(value):
        lines = yaml_lines(value, literal=literal)
        return [f"- {lines[0]}", *_indented(lines[1:])] if head == "-" else [head, *_indented(lines)]
    if type(value) is str and literal and "\n" in value and (block := literal_lines(value)) is not None:
        return [f"{head} {block[0]}", *block[1:]]
    return [f"{head} {yaml_flow(value) if type(value) in {dict, list} else yaml_scalar(value)}"]


def yaml_lines(value: Any, *, literal: bool = True) -> list[str]:
    """Return the lines of an object or array that is not empty.

    Args:
        value: the object or array.
        literal: whether text with several lines is written as a literal scalar.

    >>> yaml_lines({"a": {"b": [1, {"c": 2, "d": "x"}], "e": []}})
    ['a:', '  b:', '    - 1', '    - c: 2', '      d: x', '  e: []']
    """
    entries = (
        ((f"{yaml_key(name)}:", item) for name, item in value.items())
        if type(value) is dict
        else (("-", item) for item in value)
    )
    return [line for head, item in entries for line in yaml_entry(head, item, literal=literal)]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def ascii_json(value: JsonValue) -> str:
    r"""Return a value as JSON text in ASCII.

    >>> ascii_json({"a": ["é", 1]})
    '{"a": ["\\u00e9", 1]}'
    """
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], render(value))


def json_text(value: JsonValue, lead: str = "", unit: str | None = None) -> str:
    r"""Return a value as JSON text; lone surrogates are escaped.

    Args:
        value: the value.
        lead: the line break and the indentation of the line on which the value begins.
        unit: the additional indentation of each level; None for a value on one line.

    >>> json_text({"a": [1], "b": []}, "\n", "  ")
    '{\n  "a": [\n    1\n  ],\n  "b": []\n}'
    """
    if type(value) not in {dict, list} or not value:
        return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", render(value))
    inner = "" if unit is None else lead + unit
    items = (
        [f"{json_text(name)}: {json_text(item, inner, unit)}" for name, item in value.items()]
        if type(value) is dict
        else [json_text(item, inner, unit) for item in value]
    )
    opening, closing = "{}" if type(value) is dict else "[]"
    comma = ", " if unit is None else ","
    return f"{opening}{inner}{f'{comma}{inner}'.join(items)}{'' if unit is None else lead}{closing}"
