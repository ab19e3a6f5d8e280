"""JSON values as YAML and JSON text, in the style of an existing document."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.yamlevents import HALF, reads_as_string

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_BEYOND_ASCII: Final = re.compile("[^\0-\x7f]+")
# Characters that need no escape in quotes: no controls, no line breaks of YAML 1.1 or 1.2, no byte order
# mark.
_PLAIN_CHARACTERS: Final = " -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_AS_IT_IS: Final = re.compile(f"[{_PLAIN_CHARACTERS}]*")
_IN_A_BLOCK: Final = re.compile(f"[\t\n{_PLAIN_CHARACTERS}]*")
_ESCAPED: Final = re.compile(f"[^{_PLAIN_CHARACTERS}]")
_NOT_FIRST: Final = frozenset(",[]{}#&*!|>'\"%@`")
_FIRST_BEFORE_TEXT: Final = frozenset("-?:")
_WIDTH: Final = 80


def yaml_scalar(value: JsonValue, style: str = "", *, flow: bool = False) -> str:
    r"""Return a scalar as YAML on one line, in the given style if that can express it.

    Args:
        value: null, a boolean, a number or a string. Only strings are ever quoted.
        style: empty (plain), `'` or `"`.
        flow: whether it is between brackets.

    >>> yaml_scalar("NO"), yaml_scalar("12"), yaml_scalar("it's", "'"), yaml_scalar("a\nb", "'")
    ('NO', '"12"', "'it''s'", '"a\\nb"')
    """
    if type(value) is not str:
        return render(value)
    as_it_is = _AS_IT_IS.fullmatch(value) is not None
    if not style and as_it_is and _plain(value, flow=flow):
        return value
    if as_it_is and (style == "'" or (not style and ('"' in value or "\\" in value))):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return _double(value)


def _plain(value: str, *, flow: bool) -> bool:
    """Tell whether a string needs no quotes."""
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


def block_scalar(value: str, style: str, *, indent: int, parent: int, keeps: bool) -> list[str] | None:
    r"""Return a string as a literal or folded scalar: its header, then its indented lines.

    Args:
        value: the string.
        style: `|` or `>`. Text that can't be folded becomes literal.
        indent: the indentation of the lines.
        parent: the indentation of the container.
        keeps: whether blank lines at the end may be written: only if the old text ended so.

    Returns:
        The lines, or None if no block can hold the string.

    >>> block_scalar("one\ntwo\n", "|", indent=2, parent=0, keeps=False)
    ['|', '  one', '  two']
    >>> block_scalar("one\ntwo", ">", indent=4, parent=2, keeps=False)
    ['>-', '    one', '', '    two']
    """
    body = value.rstrip("\n")
    ending = len(value) - len(body)
    if not body or _IN_A_BLOCK.fullmatch(value) is None or (ending > 1 and not keeps):
        return None
    lines = body.split("\n")
    first = next(line for line in lines if line)
    if first[0] == "\t" or not lines[-1].strip():
        return None
    hint = ""
    if first[0] == " ":
        if not 0 < indent - parent < 10:
            return None
        hint = str(indent - parent)
    if style == ">" and any(line[:1] in {" ", "\t"} or line != line.rstrip() for line in lines):
        style = "|"
    if style == ">":
        lines = _folded(lines, max(_WIDTH - indent, 20))
    chomping = ("-", "", "+")[min(ending, 2)]
    prefix = " " * indent
    return [
        f"{style}{hint}{chomping}",
        *(prefix + line if line else "" for line in lines),
        *[""] * (ending - 1),
    ]


def _folded(lines: list[str], width: int) -> list[str]:
    """Return the lines of a folded scalar: long ones are broken, and each line break becomes a blank line."""
    folded: list[str] = []
    begun = False
    for line in lines:
        if line and begun:
            folded.append("")
        begun |= bool(line)
        # Lines are broken at single blanks only, which folding restores.
        is_breakable = re.search(r"\s\s|[^\S ]", line) is None
        wrapped = textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        folded += (is_breakable and wrapped) or [line]
    return folded


@final
@dataclass(frozen=True, slots=True)
class YamlWriter:
    """Writes values in the style of the YAML around them.

    Args:
        step: how much deeper a mapping inside a mapping is indented.
        list_step: how much deeper the dashes of a list inside a mapping are.
        padding: the blanks inside braces, before the first member and after the last.
        quote: what strings are written in, if that can express them: empty (plain), `'` or `"`.
        key_quote: what keys are written in.
    """

    step: int = 2
    list_step: int = 2
    padding: str = ""
    quote: str = ""
    key_quote: str = ""

    def key(self, name: str, *, flow: bool = False) -> str:
        """Return a key; one that reads as anything but a string is quoted.

        >>> YamlWriter().key("total"), YamlWriter().key("12")
        ('total', '"12"')
        """
        return yaml_scalar(name, self.key_quote, flow=flow or ":" in name or "?" in name)

    def flow(self, value: JsonValue) -> str:
        """Return a value on one line.

        >>> YamlWriter().flow({"a": [1, "x, y"], "b": {}})
        '{a: [1, "x, y"], b: {}}'
        """
        if type(value) is dict:
            members = (f"{self.key(name, flow=True)}: {self.flow(each)}" for name, each in value.items())
            padding = self.padding if value else ""
            return f"{{{padding}{', '.join(members)}{padding}}}"
        if type(value) is list:
            return f"[{', '.join(map(self.flow, value))}]"
        return yaml_scalar(value, self.quote, flow=True)

    def member(self, name: str, value: JsonValue) -> list[str]:
        """Return the lines of a member of a block mapping, not indented.

        >>> YamlWriter(list_step=0).member("a", {"b": [1, {"c": 2, "d": "x"}], "e": []})
        ['a:', '  b:', '  - 1', '  - c: 2', '    d: x', '  e: []']
        """
        head = f"{self.key(name)}:"
        if type(value) in {dict, list} and value:
            step = self.step if type(value) is dict else self.list_step
            return [head, *_indented(self.lines(value), step)]
        return self._with_scalar(head, value)

    def element(self, value: JsonValue) -> list[str]:
        """Return the lines of an element of a block list, not indented.

        >>> YamlWriter().element({"a": 1, "b": [2]})
        ['- a: 1', '  b:', '    - 2']
        """
        if type(value) in {dict, list} and value:
            first, *others = self.lines(value)
            return [f"- {first}", *_indented(others, 2)]
        return self._with_scalar("-", value)

    def lines(self, value: Any) -> list[str]:
        """Return the lines of an object or array that is not empty, not indented."""
        if type(value) is dict:
            return [line for name, each in value.items() for line in self.member(name, each)]
        return [line for each in value for line in self.element(each)]

    def _with_scalar(self, head: str, value: JsonValue) -> list[str]:
        if type(value) is str and not self.quote and "\n" in value:
            block = block_scalar(value, "|", indent=self.step, parent=0, keeps=False)
            if block is not None:
                return [f"{head} {block[0]}", *block[1:]]
        text = self.flow(value) if type(value) in {dict, list} else yaml_scalar(value, self.quote)
        return [f"{head} {text}"]


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line if line else "" for line in lines]


def ascii_json(value: JsonValue) -> str:
    r"""Return a value of any depth as JSON text in ASCII.

    >>> ascii_json({"a": ["é", 1]})
    '{"a": ["\\u00e9", 1]}'
    """
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], render(value))


@final
@dataclass(frozen=True, slots=True)
class JsonWriter:
    """Writes values, of no great depth, in the style of the JSON around them.

    Args:
        colon: the separator of a key and its value.
        comma: the separator of elements on one line.
        ascii: whether everything beyond ASCII is escaped.
        newline: the line break.
        unit: what each level adds to the indentation; None keeps every value on one line.
    """

    colon: str = ": "
    comma: str = ", "
    ascii: bool = False
    newline: str = "\n"
    unit: str | None = None

    def scalar(self, value: JsonValue) -> str:
        r"""Return a scalar; half of a surrogate pair is always escaped.

        >>> JsonWriter().scalar("é\ud800"), JsonWriter(ascii=True).scalar("é")
        ('"é\\ud800"', '"\\u00e9"')
        """
        if type(value) is not str:
            return render(value)
        text = json.dumps(value, ensure_ascii=self.ascii)
        return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)

    def value(self, value: JsonValue, indent: str = "") -> str:
        r"""Return a value that begins on a line with this indentation.

        >>> JsonWriter(unit="  ").value({"a": [1], "b": []})
        '{\n  "a": [\n    1\n  ],\n  "b": []\n}'
        """
        inner = indent + (self.unit or "")
        if type(value) is dict:
            (begin, end), items = "{}", [self.member(name, each, inner) for name, each in value.items()]
        elif type(value) is list:
            (begin, end), items = "[]", [self.value(each, inner) for each in value]
        else:
            return self.scalar(value)
        if not items or self.unit is None:
            return f"{begin}{self.comma.join(items)}{end}"
        line = f"{self.newline}{inner}"
        return f"{begin}{line}{f',{line}'.join(items)}{self.newline}{indent}{end}"

    def member(self, name: str, value: JsonValue, indent: str) -> str:
        """Return a member.

        >>> JsonWriter(colon=":").member("a", 1, "")
        '"a":1'
        """
        return f"{self.scalar(name)}{self.colon}{self.value(value, indent)}"
