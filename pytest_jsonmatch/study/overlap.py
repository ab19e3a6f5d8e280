"""Gold records that occur in prompts or training text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import shorten
from pytest_jsonmatch.study.gold_records import read_records
from pytest_jsonmatch.study.words import is_telling, leaves_of, runs_of, words_of

if TYPE_CHECKING:
    from pytest_jsonmatch.study.gold_records import Record, Records

_RARE: Final = 3
"""A value in more gold records than this says nothing about one of them."""
_LONG: Final = 8
"""Of longer values, every run of this many words is looked for."""
_NAMED: Final = 5
_SHOWN: Final = 40


@final
@dataclass(frozen=True, slots=True)
class SeenRecord:
    """A gold record of which a text has distinctive values.

    Args:
        gold: the name of its gold.
        id: its id, or its position.
        text: the text that has most of it.
        values: how many distinctive values the record has.
        found: how many of them are in that text.
        is_whole: whether it has two or more of them and all are there.
        fields: the paths of those found, with their values; the first five.
    """

    gold: str
    id: str | int
    text: str
    values: int
    found: int
    is_whole: bool
    fields: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class OverlapStudy:
    """The gold records that occur in texts.

    Args:
        records: how many gold records there are.
        texts: how many texts were read.
        words: how many words they have.
        found: the records of which a text has half or more: whole ones first, then those with most values.
    """

    records: int
    texts: int
    words: int
    found: tuple[SeenRecord, ...]

    @property
    def figures(self) -> Mapping[str, float | None]:
        """There are none: what is found needs a look, not a limit."""
        return {}


def measure_overlap(
    gold: Mapping[str, Records], texts: Iterable[tuple[str, str]], *, id_field: str | None = None
) -> OverlapStudy:
    """Find the gold records that occur in texts.

    Distinctive values are looked for: those of at most three records, with four digits, or with two words and
    eight letters. Of values longer than eight words, every eight words in a row are looked for.

    Args:
        gold: gold records by the name of their file: each a list of records, the path of a JSON Lines file,
            or a mapping of ids to records.
        texts: prompts, examples, training texts, each with its name.
        id_field: the member that names a record.

    Returns:
        Every record of whose distinctive values a text has half or more, with the text that has most of it.

    Raises:
        ConfigurationError: there is no gold record.
        GoldValidationError: a record is not JSON.

    Source: Brown et al. 2020, appendix C (n-grams).

    >>> gold = [{"id": n, "no": f"INV-{7919 * n}", "iban": f"DE {104729 * n}"} for n in range(1, 60)]
    >>> prompt = "For example: the invoice INV-55433 is paid to DE 733103."
    >>> (seen,) = measure_overlap({"test": gold}, [("prompt.md", prompt)], id_field="id").found
    >>> seen.id, seen.found, seen.values, seen.is_whole
    (7, 2, 2, True)
    """
    sought = [_Sought(record) for record in read_records(gold, id_field)]
    if not sought:
        raise ConfigurationError("there is no gold record")
    keys: defaultdict[str, list[tuple[_Sought, str]]] = defaultdict(list)
    for record in sought:
        for value, words in record.values.items():
            for key in set(_keys_of(words)):
                keys[key].append((record, value))
    common = {key for key, of in keys.items() if len({record for record, _ in of}) > _RARE}
    for record in sought:
        record.values = {
            value: words for value, words in record.values.items() if not common.issuperset(_keys_of(words))
        }
    texts_read = words_read = 0
    for name, text in texts:
        words = words_of(text)
        texts_read, words_read = texts_read + 1, words_read + len(words)
        hits: defaultdict[_Sought, set[str]] = defaultdict(set)
        for key in (run for size in range(1, _LONG + 1) for run in runs_of(words, size)):
            for record, value in keys.get(key, ()) if key not in common else ():
                hits[record].add(value)
        for record, values in hits.items():
            if len(values) > len(record.found):
                record.found, record.text = values, name
    seen = [record.seen() for record in sought if 2 * len(record.found) >= max(len(record.values), 1)]
    seen.sort(key=lambda each: (not each.is_whole, -each.found))
    return OverlapStudy(len(sought), texts_read, words_read, tuple(seen))


@final
class _Sought:
    """A gold record that is looked for."""

    def __init__(self, record: Record) -> None:
        self.record = record
        values = {f"{path}: {text}": words_of(text) for path, text in leaves_of(record.value)}
        self.values = {value: words for value, words in values.items() if is_telling(words)}
        """The words of its distinctive values, by path and value."""
        self.text = ""
        """The text that has most of them."""
        self.found: set[str] = set()

    def seen(self) -> SeenRecord:
        """Return the record with what was found of it."""
        fields = tuple(shorten(value, _SHOWN) for value in self.values if value in self.found)
        gold, name, _ = self.record
        is_whole = 1 < len(fields) == len(self.values)
        return SeenRecord(gold, name, self.text, len(self.values), len(fields), is_whole, fields[:_NAMED])


def _keys_of(words: Sequence[str]) -> Iterator[str]:
    """Return what a value is found by: all its words, or every eight of them in a row."""
    return runs_of(words, min(len(words), _LONG))
