"""Schema paths (`items[].price`), instance paths (`items[0].price`), and the patterns that match them."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, cast, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@final
class _Marker(Enum):
    """A segment that is neither a key nor an index, with its notation."""

    ELEMENT = "[]"
    ANY_KEY = "*"
    ANY_DEPTH = "**"


# Nodes are looked up by segments all the time, and the hash of an Enum is a slow Python function. Inside the
# class, type checkers would report an override with another type.
setattr(_Marker, "__hash__", object.__hash__)  # noqa: B010


ELEMENT: Final = _Marker.ELEMENT
"""Any element of an array: the `[]` of a schema path."""
ANY_KEY: Final = _Marker.ANY_KEY
"""Any single key: the `*` of a pattern."""
ANY_DEPTH: Final = _Marker.ANY_DEPTH
"""Any number of segments: the `**` of a pattern."""

Segment: TypeAlias = "str | int | _Marker"

_PATTERN: Final = "path pattern"
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# One step of a path: a name, with a dot before it unless it is the first, or something in brackets.
_STEP: Final = re.compile(
    r"""
      (?P<dot>\.?) (?: (?P<key>[A-Za-z_][A-Za-z0-9_]*) | (?P<any>\*\*?) )
    | \[(?P<quoted>"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")\]
    | \[(?P<index>[0-9]{0,18})\]
    """,
    re.VERBOSE | re.DOTALL,
)


def format_path(segments: Sequence[Segment]) -> str:
    """Return the text of a path.

    >>> format_path(("items", 0, "unit price")), format_path((ELEMENT, "price")), format_path(())
    ('items[0]["unit price"]', '[].price', '$')
    """
    parts: list[str] = []
    for segment in segments:
        if type(segment) is str:
            if _PLAIN_KEY.fullmatch(segment):
                parts.append(f".{segment}" if parts else segment)
            else:
                parts.append(f"[{_quote(segment)}]")
        elif isinstance(segment, _Marker):
            dot = "." if parts and segment is not ELEMENT else ""
            parts.append(dot + segment.value)
        else:
            parts.append(f"[{segment}]")
    return "".join(parts) or "$"


def has_usual_form(key: str) -> bool:
    """Return whether a key is in Unicode form NFC; others look like it, and are shown in ASCII."""
    if key.isascii():
        return True
    import unicodedata

    return unicodedata.is_normalized("NFC", key)


def _quote(key: str) -> str:
    """Return a key as a JSON string; in ASCII if it looks like another key, or has lone surrogates.

    Keys that differ only in their Unicode form look equal; files can't contain lone surrogates.
    """
    if not has_usual_form(key):
        return json.dumps(key)
    text = json.dumps(key, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(key)
    return text


def parse_path(text: str) -> tuple[Segment, ...]:
    """Read a schema or instance path.

    Raises:
        ConfigurationError: `text` is not a path; the message gives the position.

    >>> parse_path('items[0]["unit price"]')
    ('items', 0, 'unit price')
    """
    segments = _read_segments(text, "path")
    if any(segment is ANY_KEY or segment is ANY_DEPTH for segment in segments):
        raise ConfigurationError(f"{text!r} is a pattern, not a path: * and ** match many places")
    return segments


def parse_pattern(text: str) -> Pattern:
    """Read a path pattern: `*` is one key, `[]` any element, `**` any number of segments.

    Raises:
        ConfigurationError: `text` is not a pattern; the message gives the position.

    >>> parse_pattern("**.price").matches(parse_path("items[].price"))
    True
    """
    segments = _read_segments(text, _PATTERN)
    if any(type(segment) is int for segment in segments):
        raise ConfigurationError(
            f"{text!r} names one element; a rule applies to every element of an array: write [] for the index"
        )
    return Pattern(text, segments)


def _read_segments(text: str, what: str) -> tuple[Segment, ...]:
    if not isinstance(cast("object", text), str):
        raise ConfigurationError(
            f"a {what} must be a string such as 'items[].price', got {type(text).__name__}"
        )
    if text == "$":
        return ()
    segments: list[Segment] = []
    position = 1 if text.startswith(("$.", "$[")) else 0
    while position < len(text) or not segments:
        step = _STEP.match(text, position)
        if step is None and position > 0 and text[position : position + 1] == ".":
            position += 1  # the dot is valid, but not the text after it
        if step is None or (step["dot"] is not None and bool(step["dot"]) == (position == 0)):
            elements = "[]" if what == _PATTERN else "[0]"
            how = (
                f"keys with dots (a.b), elements as {elements} (a{elements}.b), other keys quoted "
                '(["unit price"]), $ for the root'
            )
            raise ConfigurationError(
                f"{text!r} is not a {what}: character {position + 1} is not understood; write "
                f"{'[] for any element' if text.startswith('[*]', position) else how}"
            )
        segments.append(_read_segment(step))
        position = step.end()
    return tuple(segments)


def _read_segment(step: re.Match[str]) -> Segment:
    if step["quoted"]:
        key: str = json.loads(step["quoted"], strict=False)
        return key
    if step["any"]:
        return _Marker(step["any"])
    return step["key"] or (int(step["index"]) if step["index"] else ELEMENT)


@final
class Pattern(Frozen):
    """A path pattern, which is matched segment by segment."""

    __slots__ = ("segments", "text")

    def __init__(
        self,
        text: str,
        segments: tuple[Segment, ...],
    ) -> None:
        self.text: Final = text
        self.segments: Final = segments

    @property
    def literals(self) -> int:
        """The number of segments that are keys or `[]`; of matching patterns, the one with most wins."""
        return sum(1 for segment in self.segments if segment is not ANY_KEY and segment is not ANY_DEPTH)

    @property
    def is_for_leaves(self) -> bool:
        """Whether the pattern ends in `**`, so that it applies to leaves, not to containers around them."""
        return self.segments[-1:] == (ANY_DEPTH,)

    def start(self) -> frozenset[int]:
        """Return the positions in the pattern at which matching can begin."""
        return self._add_skippable({0})

    def step(self, states: frozenset[int], segment: Segment) -> frozenset[int]:
        """Return the positions that can follow `states` after one more segment of a schema path.

        `ANY_KEY` as the segment means any key.
        """
        reached: set[int] = set()
        for state in states:
            required = self.segments[state] if state < len(self.segments) else None
            if required is ANY_DEPTH:
                reached.add(state)
            elif required == segment or _is_any(required, segment) or _is_any(segment, required):
                reached.add(state + 1)
        return self._add_skippable(reached)

    def accepts(self, states: frozenset[int]) -> bool:
        """Return whether a path that led to `states` matches the pattern."""
        return len(self.segments) in states

    def matches(self, segments: Sequence[Segment]) -> bool:
        """Return whether a path, given as segments, matches; any index matches `[]`."""
        states = self.start()
        for segment in segments:
            states = self.step(states, ELEMENT if type(segment) is int else segment)
            if not states:
                return False
        return self.accepts(states)

    def _add_skippable(self, states: set[int]) -> frozenset[int]:
        """Add the positions that are reached if `**` matches no segment."""
        for state in sorted(states):
            after = state
            while after < len(self.segments) and self.segments[after] is ANY_DEPTH:
                after += 1
                states.add(after)
        return frozenset(states)


def _is_any(segment: Segment | None, key: Segment | None) -> bool:
    return segment is ANY_KEY and type(key) is str
