"""Texts and values as words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.study.places import nodes_of, path_of

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_DIGITS: Final = 4
_LETTERS: Final = 8
_WORD: Final = re.compile(r"\w+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: case, punctuation and width do not matter.

    >>> words_of("Total: 1,234.50 EUR")
    ['total', '1234', '50', 'eur']
    """
    return _WORD.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).casefold())


def leaves_of(record: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the strings and numbers of a value as text, each with its schema path.

    >>> list(leaves_of({"a b": [{"n": 1.5}, None]}))
    [('["a b"][].n', '1.5')]
    """
    for segments, value in nodes_of(record):
        if value is not None and type(value) not in {bool, dict, list}:
            yield path_of(segments), str(value)


def text_of(value: JsonValue) -> str:
    """Return the names and scalars of a JSON value as one text.

    >>> text_of({"role": "user", "tokens": [12, None]})
    'role user tokens 12 null'
    """
    parts: list[str] = []
    for segments, part in nodes_of(value):
        if segments and segments[-1] is not ELEMENT:
            parts.append(segments[-1])
        if type(part) not in {dict, list}:
            parts.append(str(part) if type(part) is not bool and part is not None else json.dumps(part))
    return " ".join(parts)


def is_telling(words: Sequence[str]) -> bool:
    """Tell whether a value has enough in it to be looked for: four digits, or two words of eight letters.

    >>> is_telling(["berlin"]), is_telling(["5512"]), is_telling(["acme", "gmbh"])
    (False, True, True)
    """
    digits = sum(letter.isdigit() for word in words for letter in word)
    return digits >= _DIGITS or (len(words) > 1 and sum(map(len, words)) >= _LETTERS)


def runs_of(words: Sequence[str], size: int) -> Iterator[str]:
    """Yield every `size` words in a row, as text.

    >>> list(runs_of(["a", "b", "c"], 2))
    ['a b', 'b c']
    """
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
