"""YAML with JSON's types, built in one pass over PyYAML's events, with the position of every node.

All values are JSON values: a plain scalar is null (`null`, `~` or nothing), `true`, `false`, a number
if it is written as JSON writes numbers, and a string otherwise. So `NO`, `on`, `012`, `12:30`, `1_000`,
`2024-01-31`, `0x1F`, `.nan`, `.inf` and `True` are strings, and `1e3` is a number.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, final

from pytest_jsonmatch.engine.value.convert import MAX_DEPTH, TOO_DEEP, json_type
from pytest_jsonmatch.engine.value.errors import JsonParseError, find_closest
from pytest_jsonmatch.engine.value.text import parse_number, render
from pytest_jsonmatch.reading.datafiles import MAX_SIZE, is_json_file
from pytest_jsonmatch.reading.errors import GoldenFileError, Position, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue

EMPTY: Final = "the file is empty; it must contain a case, or `cases:`"
_NO_VALUE: Final = "the file is empty; it must contain a value, such as `total: 12`, `[]` or `null`"

_ATOMS: Final[dict[str, JsonValue]] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_NUMBER_STARTS: Final = frozenset("-0123456789")
# Up to this length int() is exact, and below Python's limit on the digits of an integer.
_SHORT: Final = 300

HALF: Final = re.compile("[\ud800-\udfff]")

# Characters that YAML 1.2 does not allow. PyYAML reports their position in bytes or in characters, depending
# on its build, so they are searched for here. (Compiling this takes longer than reading most files.)
_FORBIDDEN: Final = "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
# In YAML 1.1, and so in PyYAML, these three characters are line breaks; in YAML 1.2 and in editors they are
# not. While PyYAML reads the text, unused private-use characters replace them.
_OLD_BREAKS: Final = "\x85\u2028\u2029"
_PRIVATE_USE: Final = range(0xE000, 0xF900)

_TAB: Final = "a tab can't indent in YAML; use spaces"
_COLON: Final = "text with a colon and a space must be in quotes; quote the text behind `{}:`"
_LONGEST_KEY: Final = 1_024
_LONG_KEY: Final = (
    "YAML has no keys of more than 1,024 characters on one line; begin the line with `? `, and the next one, "
    "with the value, with `: `; or keep the file as JSON"
)
_SECOND_DOCUMENT: Final = (
    "a second document begins here; keep one document per file, and list several cases below `cases:`"
)
_MERGE_KEY: Final = 'YAML 1.2 has no merge keys; repeat the keys, or write "<<" in quotes to mean the name'
_KEY_KIND: Final = "a key is an {}; JSON's keys are strings"
# YAML parsers take quadratic time in the depth, so they are stopped at this level.
_MAX_LEVELS: Final = 1_000
_TOO_DEEP_FOR_LIBYAML: Final = "exceeded maximum nesting depth"
_SPLIT: Final = f"{TOO_DEEP}; give its parts cases of their own"
_TOO_LARGE: Final = (
    "the file is larger than 16 MiB; split it, or keep large values in JSON files (`expected_file`)"
)
_TOO_MUCH: Final = "written out, the aliases up to here take more than 16 MiB; use fewer of them"
_TAG: Final = "the tag {!r}: values have JSON's types only; leave it out, and put strings in quotes"
_BOM_IN_TEXT: Final = re.compile("(?:\\A|[\r\n])\ufeff")
_BAD_ESCAPE: Final = "found invalid Unicode character escape code"
_BAD_ESCAPE_REASON: Final = (
    "an escape is not a character, or is a lone surrogate (YAML has no surrogate pairs); write the "
    "character itself, or keep the JSON in a file of its own"
)


class _LibyamlDepthError(Exception):
    """The text has more levels than libyaml reads (since 0.2.6, about 1,000)."""


@final
class Document:
    """A loaded YAML document: its JSON value, and the position of each node.

    Nodes are numbered in the order of their events: a mapping, its first key, the value of that key, and so
    on. `marks` has one entry per node, `ends` the number after the last node of each container, `aliases` the
    node that each alias refers to. These are cheap to build; paths are looked up only when something fails.
    """

    __slots__ = ("_aliases", "_ends", "_faults", "_indexes", "_marks", "folders", "name", "spans", "value")

    def __init__(self, name: str, value: JsonValue, built: _Builder) -> None:
        self.name: str = name
        self.value: JsonValue = value
        self._marks = built.marks
        self._ends = built.ends
        self._aliases = built.aliases
        self._faults = built.faults
        self.spans: dict[int, tuple[Any, Any]] = built.spans
        """The first and the last event of each node, if requested."""
        self.folders: tuple[str, ...] | None = None
        """Real paths of the folders in which its cases may name files, besides its own; None for no limit."""
        self._indexes: dict[int, dict[str | int, tuple[int, int]]] = {}

    def position(self, path: Sequence[str | int] = ()) -> Position:
        r"""Return the start of the entry at `path`: of the key of a member, or of the item of an array.

        If there is nothing at `path`, it is the nearest entry that contains it.

        Args:
            path: object keys and array indices, from the document's root.

        >>> load(b"a:\n  - b: 1\n", "x.yaml").position(["a", 0, "b"])
        Position(line=2, column=5)
        """
        return _position(self._marks[self._nodes(path)[0]])

    def fault(self, path: Sequence[str | int] = ()) -> GoldenFileError | None:
        """Return the error of the first value beyond our limits at or below `path`; None if there is none."""
        if not self._faults:
            return None
        _, node = self._nodes(path)
        end = self._ends.get(node, node + 1)
        return next((error for at, error in self._faults if node <= at < end), None)

    def _nodes(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Return the nodes of key (or item) and value at `path`, or of the nearest entry that contains it."""
        value, nodes = self.value, (0, 0)
        for step in path:
            found = self._child(value, nodes[1], step)
            if found is None:
                break
            nodes = found
            value = value[step]
        return nodes

    def error(self, path: Sequence[str | int], reason: str) -> GoldenFileError:
        """Return an error with a reason, at the entry at `path`."""
        line, column = self.position(path)
        return GoldenFileError(self.name, line, column, shortened(reason))

    def _child(self, value: JsonValue, node: int, step: str | int) -> tuple[int, int] | None:
        """Return the nodes of the key and of the value of a child; None if there is no such child."""
        # Ten thousand errors in a list of ten thousand cases must not go through it ten thousand times.
        index = self._indexes.get(node)
        if index is None:
            index = self._indexes[node] = dict(self.children(value, node))
        return index.get(step)

    def children(self, value: JsonValue, node: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
        """Yield the key or index, and the nodes of key and value, of each child of a container."""
        ends = self._ends
        child = self._aliases.get(node, node) + 1
        if type(value) is dict:
            for name in value:
                yield name, (child, child + 1)
                child = ends.get(child + 1, child + 2)
        elif type(value) is list:
            for index in range(len(value)):
                yield index, (child, child)
                child = ends.get(child, child + 1)


def _position(mark: int) -> Position:
    return Position((mark >> 32) + 1, (mark & 0xFFFFFFFF) + 1)


def load(data: bytes | str, name: str, *, holds_cases: bool = False, has_spans: bool = False) -> Document:
    r"""Load one YAML document.

    Args:
        data: the content of the file; bytes are UTF-8, with or without a byte order mark.
        name: the name of the file in errors.
        holds_cases: whether it is a golden file: levels are counted from each value of its cases, and a value
            beyond our limits is replaced by null and becomes a `fault` of the document.
        has_spans: whether the document keeps the events of its nodes.

    Raises:
        GoldenFileError: the text is not a single well-formed document of JSON's types. The message begins
            with name:line:column.

    >>> load("country: NO\nprice: 1e3\nbooked: 2024-01-31\n", "x.yaml").value
    {'country': 'NO', 'price': 1000.0, 'booked': '2024-01-31'}
    """
    if len(data) > MAX_SIZE:
        raise GoldenFileError(name, 1, 1, _TOO_LARGE)
    text = _decode(data, name) if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line, column = _line_and_column(text, text.index("\0"))
        raise GoldenFileError(name, line, column, "a NUL character; the file is damaged, or is not text")
    if (found := _BOM_IN_TEXT.search(text)) is not None:  # parsers differ in how they read it
        line, column = _line_and_column(text, found.end() - 1)
        raise GoldenFileError(name, line, column, "a byte order mark in the middle of the file; remove it")
    text, restore = (text, None) if is_json_file(name) else _hide_old_breaks(text)
    try:
        document = _Builder(text, name, restore, holds_cases, has_spans).build()
    except _LibyamlDepthError:
        document = _Builder(text, name, restore, holds_cases, has_spans).build(pure=True)
    if not holds_cases and (fault := document.fault()) is not None:
        raise fault
    return document


def find_position(data: bytes, name: str, steps: Sequence[str | int] = ()) -> Position:
    """Return the position of an entry of a file, or of the nearest entry that contains it.

    A failure asks for many entries of one file, so the last file stays loaded.

    Raises:
        GoldenFileError: the file is not YAML, nor JSON of a form that is YAML, too.
    """
    return _load_last(data, name).position(steps)


@lru_cache(maxsize=1)
def _load_last(data: bytes, name: str) -> Document:
    return load(data, name)


def parse(data: bytes, name: str, *, holds_cases: bool = False) -> JsonValue:
    """Return the value of a file, or of one line; its name decides between JSON and YAML.

    Args:
        data: the content of the file.
        name: the name of the file in errors.
        holds_cases: whether it may be a golden file (see `load`).

    Raises:
        GoldenFileError: the file is not valid.
    """
    if not is_json_file(name):
        return load(data, name, holds_cases=holds_cases).value
    return parse_value(data, name, is_yaml=False)


def parse_value(data: bytes, name: str, *, is_yaml: bool) -> JsonValue:
    """Return the value of a YAML or JSON file, whatever its name.

    Raises:
        GoldenFileError: the file is not valid.
    """
    if is_yaml:
        return load(data, name).value
    return _parse_json(_decode(data, name).removeprefix("\ufeff"), name)


def _parse_json(text: str, name: str) -> JsonValue:
    from pytest_jsonmatch.reading.strict import parse_json

    try:
        return parse_json(text)
    except JsonParseError as error:
        raise GoldenFileError(name, error.line, error.column, error.reason) from None


def _skip_container(get_event: Callable[[], Any]) -> Any:
    """Skip the rest of a container; return the event that ends it, or None if it has far too many levels."""
    opened = 1
    event = None
    while 0 < opened < _MAX_LEVELS:
        event = get_event()
        if hasattr(event, "flow_style"):  # another begins
            opened += 1
        elif not hasattr(event, "anchor"):  # one ends
            opened -= 1
    return None if opened else event


def reads_as_string(text: str) -> bool:
    """Return whether a plain scalar (one without quotes) is read as a string.

    >>> reads_as_string("NO"), reads_as_string("12:30"), reads_as_string("1e3"), reads_as_string("~")
    (True, True, False, False)
    """
    return text not in _ATOMS and text != "<<" and _NUMBER.fullmatch(text) is None


def _decode(data: bytes, name: str) -> str:
    if b"\0" in data[:4] or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise GoldenFileError(name, 1, 1, "the file seems to be UTF-16 or UTF-32; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        line, column = _line_and_column(before, len(before))
        reason = f"the byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise GoldenFileError(name, line, column, reason) from None


def _line_and_column(text: str, index: int) -> Position:
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _hide_old_breaks(text: str) -> tuple[str, dict[int, str] | None]:
    """Return the text without YAML 1.1's additional line breaks, and the table that restores them."""
    if text.isascii() or not any(character in text for character in _OLD_BREAKS):
        return text, None
    used = set(text)
    free = (chr(code) for code in _PRIVATE_USE if chr(code) not in used)
    replacements = dict(zip(_OLD_BREAKS, free))
    return (
        text.translate({ord(old): new for old, new in replacements.items()}),
        {ord(new): old for old, new in replacements.items()},
    )


def _key_length(text: str) -> int:
    """Return the length of the key, with quotes, at the end of a text, before any colon."""
    text = text.rstrip(": ")
    if text[-1:] in {'"', "'"}:
        return len(text) - text.rfind(text[-1], 0, -1)
    return len(text) - 1 - max(text.rfind(bracket) for bracket in ",{}[]")


@final
class _Anchor(NamedTuple):
    """A value with an anchor.

    Args:
        node: the number of its node.
        value: the value.
        size: the number of its characters with aliases expanded; None while it is open.
        levels: the number of its levels of containers.
    """

    node: int
    value: JsonValue
    size: int | None
    levels: int = 0


@final
class _Builder:
    """Builds a document in one pass over the events of a text."""

    def __init__(
        self, text: str, name: str, restore: dict[int, str] | None, holds_cases: bool, has_spans: bool
    ) -> None:
        self.text = text
        self.name = name
        self.restore = restore
        self.unusual: bool = restore is not None
        self.holds_cases = holds_cases
        self.marks: array[int] = array("Q")
        self.ends: dict[int, int] = {}
        self.aliases: dict[int, int] = {}
        self.faults: list[tuple[int, GoldenFileError]] = []
        """The errors of values beyond our limits, each with its node."""
        self.has_spans = has_spans
        self.spans: dict[int, tuple[Any, Any]] = {}
        self.anchors: dict[str, _Anchor] = {}
        self.aliased: int = 0
        self.deepest: int = 0
        """The deepest level in the open container."""
        self.keys: dict[str, str] = {}

    def build(self, *, pure: bool = False) -> Document:
        """Return the document.

        Args:
            pure: whether to use PyYAML's own parser, which is slower than libyaml but has no depth limit.
        """
        import yaml

        from pytest_jsonmatch.reading import jsonevents

        try:
            # libyaml's parser if PyYAML was built with it; otherwise PyYAML's own: same events, but slower.
            loader = yaml.SafeLoader if pure else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            is_json = is_json_file(self.name)
            self.unusual |= loader is yaml.SafeLoader and not is_json
            parser: Any = jsonevents.JsonParser(self.text) if is_json else loader(self.text)
            self.get_event: Callable[[], Any] = parser.get_event
            self.events: Any = jsonevents if is_json else yaml.events
            try:
                value = self._document()
            except (GoldenFileError, UnicodeEncodeError):
                raise
            except (ValueError, OverflowError):
                # The pure Python parser passes an escape such as "\\UFFFFFFFF" to chr() without a check.
                self._fail(parser.get_mark(), _BAD_ESCAPE_REASON)
            finally:
                parser.dispose()
        except jsonevents.NotJsonError:
            _parse_json(self.text, self.name)
            raise AssertionError(
                "text is JSON to one reader, and not to another"
            ) from None  # pragma: no cover
        except (yaml.reader.ReaderError, UnicodeEncodeError):
            raise self._forbidden_character() from None
        except yaml.MarkedYAMLError as error:
            if error.problem == _TOO_DEEP_FOR_LIBYAML:
                raise _LibyamlDepthError from None
            raise self._syntax_error(error) from None
        return Document(self.name, value, self)

    def _document(self) -> JsonValue:
        self.get_event()
        event = self.get_event()
        if type(event) is self.events.StreamEndEvent:
            raise GoldenFileError(self.name, 1, 1, EMPTY if self.holds_cases else _NO_VALUE)
        value = self._value(self.get_event(), 0 if self.holds_cases else 1)
        self.get_event()
        event = self.get_event()
        if type(event) is not self.events.StreamEndEvent:
            self._fail(event.start_mark, _SECOND_DOCUMENT)
        return value

    # `Any`, here and below: PyYAML's events are untyped.
    def _value(self, event: Any, depth: int) -> JsonValue:
        """Return the value that begins with an event; `depth` is the level of a container there."""
        kind = type(event)
        if kind is self.events.ScalarEvent:
            return self._scalar(event)
        if kind is self.events.AliasEvent:
            return self._alias(event, depth)
        mark, node = event.start_mark, len(self.marks)
        self.marks.append(mark.line << 32 | mark.column)
        if event.tag is not None:
            self._tag(event)
        if depth > MAX_DEPTH:
            end = _skip_container(self.get_event)
            if end is None:
                self._fail(mark, _SPLIT)
            self.spans[node] = event, end
            return self._add_fault(mark, _SPLIT)
        is_object = kind is self.events.MappingStartEvent
        value: Any = {} if is_object else []
        begun, outer_deepest, self.deepest = mark.index + self.aliased, self.deepest, depth
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(node, value, None)
        end = self._fill_object(value, node, depth) if is_object else self._fill_array(value, depth)
        if event.anchor is not None and self.anchors[event.anchor].node == node:
            size = end.end_mark.index + self.aliased - begun
            self.anchors[event.anchor] = _Anchor(node, value, size, self.deepest - depth + 1)
        if self.has_spans:
            self.spans[node] = event, end
        self.deepest = max(self.deepest, outer_deepest)
        self.ends[node] = len(self.marks)
        return value

    def _fill_object(self, target: dict[str, JsonValue], node: int, depth: int) -> Any:
        """Read the members of an object; return the event that ends it."""
        get_event, scalar, end = self.get_event, self.events.ScalarEvent, self.events.MappingEndEvent
        while type(event := get_event()) is not end:
            mark = event.start_mark
            key = self._scalar(event) if type(event) is scalar else self._alias_as_key(event)
            if type(key) is not str or (key == "<<" and not getattr(event, "style", True)):
                self._bad_key(event, key)
            key = self.keys.setdefault(key, key)
            if key in target:
                self._duplicate(mark, target, node, key)
            event = get_event()
            if type(event) is scalar:
                target[key] = self._scalar(event)
            else:
                is_list = self.holds_cases and node == 0 and key == "cases"
                target[key] = self._value(event, -1 if is_list else depth + 1)
        return event

    def _fill_array(self, target: list[JsonValue], depth: int) -> Any:
        """Read the elements of an array; return the event that ends it."""
        get_event, scalar, end = self.get_event, self.events.ScalarEvent, self.events.SequenceEndEvent
        while type(event := get_event()) is not end:
            is_scalar = type(event) is scalar
            target.append(self._scalar(event) if is_scalar else self._value(event, depth + 1))
        return event

    def _scalar(self, event: Any) -> JsonValue:
        mark = event.start_mark
        self.marks.append(mark.line << 32 | mark.column)
        value: JsonValue = event.value
        if self.has_spans:
            self.spans[len(self.marks) - 1] = event, event
        if event.tag is not None:
            self._tag(event)
        if not event.style:
            if value in _ATOMS:
                value = _ATOMS[value]
            elif value[0] in _NUMBER_STARTS and (number := _NUMBER.fullmatch(value)):
                value = int(value) if not number[1] and len(value) < _SHORT else self._number(event)
        if self.unusual and type(value) is str:
            value = self._restore_string(event, value)
        if event.anchor is not None:
            size = event.end_mark.index - mark.index
            self.anchors[event.anchor] = _Anchor(len(self.marks) - 1, value, size)
        return value

    def _restore_string(self, event: Any, value: str) -> str:
        """Return a string as it is in the text; raise an error for a lone surrogate, as libyaml does."""
        if HALF.search(value):
            self._fail(event.start_mark, _BAD_ESCAPE_REASON)
        return value if self.restore is None else value.translate(self.restore)

    def _number(self, event: Any) -> JsonValue:
        try:
            return parse_number(event.value)
        except ValueError as error:
            return self._add_fault(event.start_mark, str(error))

    def _add_fault(self, mark: Any, reason: str) -> None:
        """Note that the last node is beyond our limits."""
        error = GoldenFileError(self.name, mark.line + 1, mark.column + 1, reason)
        self.faults.append((len(self.marks) - 1, error))

    def _alias(self, event: Any, depth: int) -> JsonValue:
        mark = event.start_mark
        found = self.anchors.get(event.anchor)
        if found is None:
            guess = find_closest(event.anchor, self.anchors)
            hint = f"; did you mean *{guess}?" if guess else ""
            self._fail(mark, f"there is no anchor &{event.anchor} before this alias{hint}")
        if found.size is None:
            self._fail(mark, f"*{event.anchor} is inside the value it names; JSON has no cycles")
        self.aliases[len(self.marks)] = found.node
        if self.has_spans:
            self.spans[len(self.marks)] = event, event
        self.marks.append(mark.line << 32 | mark.column)
        self.aliased += found.size
        if self.aliased + len(self.text) > MAX_SIZE:
            self._fail(mark, _TOO_MUCH)
        if depth + found.levels - 1 > MAX_DEPTH:
            return self._add_fault(mark, _SPLIT)
        self.deepest = max(self.deepest, depth + found.levels - 1)
        return found.value

    def _alias_as_key(self, event: Any) -> JsonValue:
        if type(event) is not self.events.AliasEvent:
            is_object = type(event) is self.events.MappingStartEvent
            self._fail(event.start_mark, _KEY_KIND.format("object" if is_object else "array"))
        return self._alias(event, 0)

    def _tag(self, event: Any) -> NoReturn:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!", 1)
        self._fail(event.start_mark, _TAG.format(tag))

    def _bad_key(self, event: Any, value: JsonValue) -> NoReturn:
        if value == "<<":
            self._fail(event.start_mark, _MERGE_KEY)
        if type(value) in {dict, list}:
            self._fail(event.start_mark, _KEY_KIND.format(json_type(value)))
        text = render(value, limit=40)
        self._fail(event.start_mark, f'the key {text} is not a string, as JSON\'s keys are; write "{text}"')

    def _duplicate(self, mark: Any, target: dict[str, JsonValue], node: int, key: str) -> NoReturn:
        first = node + 1
        for _ in takewhile(key.__ne__, target):
            first = self.ends.get(first + 1, first + 2)
        line, _ = _position(self.marks[first])
        self._fail(mark, f"the key {key!r} is already at line {line}; keep one of them")

    def _fail(self, mark: Any, reason: str) -> NoReturn:
        raise GoldenFileError(self.name, mark.line + 1, mark.column + 1, shortened(reason))

    def _forbidden_character(self) -> GoldenFileError:
        found = re.search(_FORBIDDEN, self.text)
        if found is None:  # pragma: no cover - PyYAML rejects more than the standard does
            return GoldenFileError(self.name, 1, 1, "a character that YAML does not allow")
        line, column = _line_and_column(self.text, found.start())
        code = ord(found[0])
        reason = f"the character U+{code:04X} is not allowed in YAML; write it as an escape in double quotes"
        return GoldenFileError(self.name, line, column, reason)

    def _syntax_error(self, error: Any) -> GoldenFileError:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = error.problem or error.context or "not YAML"
        lines = re.split("\r\n|\r|\n", self.text)
        text_line = lines[line - 1] if line <= len(lines) else ""
        key, colon, _ = text_line[: column - 1].partition(": ")
        is_tab = text_line[column - 1 : column] == "\t"
        if "tab character" in problem or (is_tab and "cannot start any token" in problem):
            reason = _TAB
        elif ":" in text_line[max(column - 2, 0) : column] and _key_length(text_line[:column]) > _LONGEST_KEY:
            reason = _LONG_KEY
        elif colon and problem.startswith("mapping values are not allowed"):
            reason = _COLON.format(key.strip(" -"))
        elif problem == _BAD_ESCAPE:
            reason = _BAD_ESCAPE_REASON
        else:
            reason = f"not YAML: {problem}"
            if error.context and error.context_mark and error.context_mark.line != line - 1:
                reason += f" ({error.context} that begins at line {error.context_mark.line + 1})"
        return GoldenFileError(self.name, min(line, len(lines)), column, shortened(reason))
