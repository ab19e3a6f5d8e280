"""Find the differences between two strings, by words first and then by characters."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, TypeVar

Kind: TypeAlias = Literal["=", "-", "+"]
DiffSpan: TypeAlias = "tuple[Kind, str]"
_Text = TypeVar("_Text", str, "list[str]")

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
# With more characters than this on either side, the part that differs is shown as one change: matching is
# quadratic, and its result would be too long to read.
_MAX_MIDDLE: Final = 2000
# Equal islands shorter than this between two changes make a diff harder to read, not easier.
_MIN_ISLAND: Final = 3


def spans(expected: str, actual: str) -> list[DiffSpan]:
    """Split two strings into shared spans ("="), spans only in expected ("-") and only in actual ("+").

    Between two shared spans there is at most one "-" and then at most one "+".

    >>> spans("completed successfully", "completed sucessfully")
    [('=', 'completed suc'), ('-', 'c'), ('=', 'essfully')]
    """
    # Imported here since only a run with a failure needs it. difflib would be cubic on hostile text.
    from rapidfuzz.distance import Postfix, Prefix

    head = Prefix.similarity(expected, actual)
    left, right = expected[head:], actual[head:]
    tail = Postfix.similarity(left, right)
    left, right, end = left[: len(left) - tail], right[: len(right) - tail], left[len(left) - tail :]
    if max(len(left), len(right)) > _MAX_MIDDLE:
        middle: list[DiffSpan] = [("-", left), ("+", right)]
    else:
        middle = _by_words(left, right)
    return _tidy([("=", expected[:head]), *middle, ("=", end)])


def _by_words(expected: str, actual: str) -> list[DiffSpan]:
    pieces: list[DiffSpan] = []
    for equal, left, right in _matched(_WORD.findall(expected), _WORD.findall(actual)):
        if equal:
            pieces.append(("=", "".join(left)))
        else:
            pieces.extend(_by_characters("".join(left), "".join(right)))
    return pieces


def _by_characters(expected: str, actual: str) -> list[DiffSpan]:
    """Split two different words into spans; words that share less than half are replaced as one change."""
    inside = _matched(expected, actual)
    shared = sum(len(left) for equal, left, _ in inside if equal)
    if 2 * shared < max(len(expected), len(actual)):
        return [("-", expected), ("+", actual)]
    found: list[DiffSpan] = []
    for equal, left, right in inside:
        found.extend([("=", left)] if equal else [("-", left), ("+", right)])
    return found


def _matched(expected: _Text, actual: _Text) -> list[tuple[bool, _Text, _Text]]:
    from rapidfuzz.distance import Indel

    blocks: list[tuple[bool, _Text, _Text]] = []
    left = right = 0  # where the next change to list starts
    for block in Indel.editops(expected, actual).as_matching_blocks():  # the last is empty, at the ends
        blocks.append((False, expected[left : block.a], actual[right : block.b]))
        left, right = block.a + block.size, block.b + block.size
        blocks.append((True, expected[block.a : left], actual[block.b : right]))
    return blocks


def _tidy(raw: list[DiffSpan]) -> list[DiffSpan]:
    """Join adjacent spans, merge short equal spans into the changes around them, and put "-" before "+"."""
    kinds: tuple[Kind, ...] = ("=", "-", "+")
    changes = [["", "", ""]]  # shared text, then what expected and actual have after it
    for kind, text in raw:
        if kind == "=" and text and any(changes[-1][1:]):
            changes.append(["", "", ""])
        changes[-1][kinds.index(kind)] += text
    joined = changes[:1]
    for shared, removed, added in changes[1:]:
        if len(shared) < _MIN_ISLAND and (removed or added):
            joined[-1][1] += shared + removed
            joined[-1][2] += shared + added
        else:
            joined.append([shared, removed, added])
    return [(kind, text) for change in joined for kind, text in zip(kinds, change, strict=True) if text]
