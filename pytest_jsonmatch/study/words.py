"""Texts and values as words, and words as numbers to look for.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.study.places import nodes_of, path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.value.convert import JsonValue

    Keys = NDArray[np.uint64]

GRAM: Final = 8
"""Longer values are looked for by every run of this many words."""
_DECOYS: Final = 1000
_SEED: Final = 20_240_602
_DIGITS: Final = 4
_LETTERS: Final = 8
_WORD: Final = re.compile(r"\w+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BASE: Final = np.uint64(0x9E3779B97F4A7C15)


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
    for segments, each in nodes_of(value):
        if segments and segments[-1] is not ELEMENT:
            parts.append(segments[-1])
        if type(each) not in {dict, list}:
            parts.append(str(each) if type(each) is not bool and each is not None else json.dumps(each))
    return " ".join(parts)


def is_telling(words: Sequence[str]) -> bool:
    """Tell whether a value has enough in it to be looked for: four digits, or two words of eight letters.

    >>> is_telling(["berlin"]), is_telling(["5512"]), is_telling(["acme", "gmbh"])
    (False, True, True)
    """
    digits = sum(letter.isdigit() for word in words for letter in word)
    return digits >= _DIGITS or (len(words) > 1 and sum(map(len, words)) >= _LETTERS)


@lru_cache(maxsize=1 << 14)
def hash_of(word: str) -> int:
    """Return a number of 64 bits that is the same in every process."""
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def hashes_of(words: Sequence[str]) -> Keys:
    """Return the numbers of words."""
    return np.fromiter(map(hash_of, words), dtype=np.uint64, count=len(words))


def grams_of(hashes: Keys, size: int) -> Keys:
    """Return a key for every `size` words in a row."""
    keys = np.zeros(max(len(hashes) - size + 1, 0), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for at in range(size):
            keys = keys * _BASE + hashes[at : at + len(keys)]
    return keys


def keys_of(words: Sequence[str]) -> Keys:
    """Return the keys of a value: one for all its words, or one for every eight words in a row."""
    return grams_of(hashes_of(words), min(len(words), GRAM))


def decoys_of(sample: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return values that look like those of a sample: each part comes from the same place in one of them.

    Parts are words, or the characters of a word with digits. Values of the sample itself are left out.
    """
    alike: dict[tuple[int, ...], list[str]] = {}
    for words in sample:
        for at, word in enumerate(words):
            alike.setdefault((len(words), at), []).append(word)
            alike.setdefault((len(words), at, len(word)), []).append(word)
    made = set()
    chooser = Random(_SEED)  # noqa: S311 - no secret: the same decoys each time
    for _ in range(_DECOYS if sample else 0):
        words = chooser.choice(sample)
        parts = []
        for at, word in enumerate(words):
            if any(map(str.isdigit, word)):
                others = alike[len(words), at, len(word)]
                parts.append("".join(chooser.choice(others)[place] for place in range(len(word))))
            else:
                parts.append(chooser.choice(alike[len(words), at]))
        made.add(tuple(parts))
    return sorted(made.difference(map(tuple, sample)))
