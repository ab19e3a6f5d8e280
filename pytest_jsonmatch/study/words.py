"""Split texts and values into words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.study.places import format_cached, iter_nodes

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_DIGITS: Final = 4
_LETTERS: Final = 8
_WORD: Final = re.compile(r"\w+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def split_words(text: str) -> list[str]:
    """Return the words of a text, ignoring case, punctuation and the width of characters.

    >>> split_words("Total: 1,234.50 EUR")
    ['total', '1234', '50', 'eur']
    """
    return _WORD.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).casefold())


def iter_leaf_texts(record: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the schema paths and texts of the strings and numbers in a value.

    >>> list(iter_leaf_texts({"a b": [{"n": 1.5}, None]}))
    [('["a b"][].n', '1.5')]
    """
    for segments, value in iter_nodes(record):
        if value is not None and type(value) not in {bool, dict, list}:
            yield format_cached(segments), str(value)


def join_texts(value: JsonValue) -> str:
    """Return the names and scalars of a JSON value as one text.

    >>> join_texts({"role": "user", "tokens": [12, None]})
    'role user tokens 12 null'
    """
    parts: list[str] = []
    for segments, part in iter_nodes(value):
        if segments and segments[-1] is not ELEMENT:
            parts.append(segments[-1])
        if type(part) not in {dict, list}:
            parts.append(str(part) if type(part) is not bool and part is not None else json.dumps(part))
    return " ".join(parts)


def is_distinctive(words: Sequence[str]) -> bool:
    """Return whether a value has four digits, or two or more words with eight letters in all.

    >>> is_distinctive(["berlin"]), is_distinctive(["5512"]), is_distinctive(["acme", "gmbh"])
    (False, True, True)
    """
    digits = sum(letter.isdigit() for word in words for letter in word)
    return digits >= _DIGITS or (len(words) > 1 and sum(map(len, words)) >= _LETTERS)


def iter_ngrams(words: Sequence[str], size: int) -> Iterator[str]:
    """Yield every `size` consecutive words as text.

    >>> list(iter_ngrams(["a", "b", "c"], 2))
    ['a b', 'b c']
    """
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))


def describe_study(study: Any) -> str:
    """Return the result of a study in a line, for tracebacks and notebooks: its class and its statistics."""
    values = ((name, value) for name, value in study.statistics.items())
    parts = (f"{name} {'–' if value is None else f'{value:.3g}'}" for name, value in values)
    return f"<{type(study).__name__}: {', '.join(parts)}>"
