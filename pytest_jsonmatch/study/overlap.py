"""Find gold records that occur in prompts or training texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import shorten
from pytest_jsonmatch.records.pairing import Reading
from pytest_jsonmatch.study.gold_records import read_records
from pytest_jsonmatch.study.words import (
    describe_study,
    is_distinctive,
    iter_leaf_texts,
    iter_ngrams,
    split_words,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.study.gold_records import Record, Records

_MAX_RECORDS: Final = 3
"""A value in more gold records than this is not distinctive."""
_WINDOW: Final = 8
"""Longer values are searched for by every sequence of this many words."""
_NAMED: Final = 5
_SHOWN: Final = 40


@final
@dataclass(frozen=True, slots=True)
class SeenRecord:
    """A gold record whose distinctive values occur in a text.

    Args:
        gold: the name of its gold file.
        id: the id or position of the record.
        text: the name of the text that contains most of its values.
        values: the number of distinctive values of the record.
        found: how many of them the text contains.
        is_whole: whether the record has two or more of them, and the text contains all.
        fields: the paths and values of the first five that were found.
    """

    gold: str
    id: str | int
    text: str
    values: int
    found: int
    is_whole: bool
    fields: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, repr=False)
class OverlapStudy:
    """The gold records that occur in texts.

    Args:
        records: the number of gold records.
        texts: the number of texts.
        words: the number of words in the texts.
        found: the records of which a text contains half or more, whole records first, then by found values.
    """

    records: int
    texts: int
    words: int
    found: tuple[SeenRecord, ...]

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def statistics(self) -> Mapping[str, float | None]:
        """No statistics: findings need a review, not a limit."""
        return {}


def measure_overlap(
    gold: Mapping[str, Records],
    texts: Iterable[tuple[str, str]],
    /,
    *,
    id: str | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
) -> OverlapStudy:
    """Find the gold records that occur in texts.

    Texts are searched for distinctive values: values of at most three records that have four digits, or two
    words and eight letters. Values longer than eight words are searched for by every eight words in a row.

    Args:
        gold: gold records by the name of their file, as for `compare_corpus`.
        texts: the names and contents of prompts, examples or training texts.
        id: the column with a record's id.
        expected: the column of gold records with what is expected, or a mapping of fields to columns; by
            default the whole record.
        delimiter: the delimiter of CSV files.

    Returns:
        The records of which a text contains half or more of the distinctive values, each with the text that
        contains most of them.

    Raises:
        ConfigurationError: there is no gold record.
        GoldValidationError: a record is not JSON.

    Source: Brown et al. 2020, appendix C (n-grams).

    >>> gold = [{"id": n, "no": f"INV-{7919 * n}", "iban": f"DE {104729 * n}"} for n in range(1, 60)]
    >>> prompt = "For example: the invoice INV-55433 is paid to DE 733103."
    >>> (seen,) = measure_overlap({"test": gold}, [("prompt.md", prompt)], id="id").found
    >>> seen.id, seen.found, seen.values, seen.is_whole
    (7, 2, 2, True)
    """
    reading = Reading(id, expected=expected, delimiter=delimiter)
    searched = [_SearchedRecord(record) for record in read_records(gold, reading)]
    if not searched:
        raise ConfigurationError("there is no gold record")
    keys: defaultdict[str, list[tuple[_SearchedRecord, str]]] = defaultdict(list)
    for record in searched:
        for value, words in record.values.items():
            for key in set(_iter_keys(words)):
                keys[key].append((record, value))
    common = {key for key, places in keys.items() if len({record for record, _ in places}) > _MAX_RECORDS}
    for record in searched:
        record.values = {
            value: words for value, words in record.values.items() if not common.issuperset(_iter_keys(words))
        }
    texts_read = words_read = 0
    for name, text in texts:
        words = split_words(text)
        texts_read, words_read = texts_read + 1, words_read + len(words)
        hits: defaultdict[_SearchedRecord, set[str]] = defaultdict(set)
        for key in (run for size in range(1, _WINDOW + 1) for run in iter_ngrams(words, size)):
            for record, value in keys.get(key, ()) if key not in common else ():
                hits[record].add(value)
        for record, values in hits.items():
            if len(values) > len(record.found):
                record.found, record.text = values, name
    seen = [record.seen() for record in searched if 2 * len(record.found) >= max(len(record.values), 1)]
    seen.sort(key=lambda seen_record: (not seen_record.is_whole, -seen_record.found))
    return OverlapStudy(len(searched), texts_read, words_read, tuple(seen))


@final
class _SearchedRecord:
    """A gold record to search for."""

    def __init__(self, record: Record) -> None:
        self.record = record
        values = {f"{path}: {text}": split_words(text) for path, text in iter_leaf_texts(record.value)}
        self.values = {value: words for value, words in values.items() if is_distinctive(words)}
        """The words of its distinctive values, by path and value."""
        self.text = ""
        """The name of the text that contains most of them."""
        self.found: set[str] = set()

    def seen(self) -> SeenRecord:
        """Return the record with the values that were found."""
        fields = tuple(shorten(value, _SHOWN) for value in self.values if value in self.found)
        gold, name = self.record.gold, self.record.id
        is_whole = 1 < len(fields) == len(self.values)
        return SeenRecord(gold, name, self.text, len(self.values), len(fields), is_whole, fields[:_NAMED])


def _iter_keys(words: Sequence[str]) -> Iterator[str]:
    """Return the search keys of a value: all its words, or every eight of them in a row."""
    return iter_ngrams(words, min(len(words), _WINDOW))
