"""Gold records that occur in prompts or training text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import shortened
from pytest_jsonmatch.study.records import read_records
from pytest_jsonmatch.study.words import is_telling, leaves_of, runs_of, text_of, words_of

if TYPE_CHECKING:
    from pytest_jsonmatch.study.records import Record, Records

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
        is_whole: whether it has two or more of them and all are there, or the whole record word by word.
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
        texts: prompts, examples, training texts: (name, part of the text); parts of one text follow another.
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
    search = _Search()
    for record in read_records(gold, id_field):
        search.add(record)
    if not search.records:
        raise ConfigurationError("there is no gold record")
    search.leave_out_common()
    for name, parts in groupby(texts, itemgetter(0)):
        search.look(name, [word for _, part in parts for word in words_of(part)])
    seen = [record.seen() for record in search.records if record.best.found]
    seen.sort(key=lambda each: (not each.is_whole, -each.found))
    return OverlapStudy(len(search.records), search.texts, search.words, tuple(seen))


class _Hit(NamedTuple):
    """What one text has of a record. The greatest is the best."""

    is_whole: bool = False
    number: int = 0
    text: str = ""
    found: frozenset[str] = frozenset()
    """The values, and the whole record as ""."""


@final
@dataclass(slots=True, eq=False)
class _Sought:
    """A gold record that is looked for."""

    gold: str
    id: str | int
    words: list[str]
    """Of the whole record, with names."""
    values: dict[str, list[str]]
    """The words of its distinctive values, by path and value."""
    best: _Hit = field(default_factory=_Hit)

    def seen(self) -> SeenRecord:
        """Return the record with what was found of it."""
        fields = tuple(shortened(value, _SHOWN) for value in self.values if value in self.best.found)
        hit, number = self.best, len(self.values)
        return SeenRecord(self.gold, self.id, hit.text, number, hit.number, hit.is_whole, fields[:_NAMED])


@final
class _Search:
    """All gold records, with the words that they are found by."""

    def __init__(self) -> None:
        self.texts = self.words = 0
        """How many texts there are, and words in them."""
        self.records: list[_Sought] = []
        self._keys: defaultdict[str, list[tuple[_Sought, str]]] = defaultdict(list)
        """The records and values that have a run of words, by these."""

    def add(self, record: Record) -> None:
        """Add a gold record."""
        values = {f"{path}: {text}": words_of(text) for path, text in leaves_of(record.value)}
        telling = {value: words for value, words in values.items() if is_telling(words)}
        sought = _Sought(record.gold, record.id, words_of(text_of(record.value)), telling)
        self.records.append(sought)
        for value, words in telling.items():
            for key in dict.fromkeys(_keys_of(words)):
                self._keys[key].append((sought, value))
        for key in islice(_keys_of(sought.words), 1):
            self._keys[key].append((sought, ""))

    def leave_out_common(self) -> None:
        """Leave out words that too many records have to say anything about one of them."""
        for key in [key for key, of in self._keys.items() if len({id(each) for each, _ in of}) > _RARE]:
            del self._keys[key]
        for record in self.records:
            record.values = {
                value: words
                for value, words in record.values.items()
                if not self._keys.keys().isdisjoint(_keys_of(words))
            }

    def look(self, name: str, words: list[str]) -> None:
        """Look for all records in a text."""
        self.texts += 1
        self.words += len(words)
        found: defaultdict[_Sought, set[str]] = defaultdict(set)
        for size in range(1, _LONG + 1):
            for at, run in enumerate(runs_of(words, size)):
                for record, value in self._keys.get(run, ()):
                    if value or words[at : at + len(record.words)] == record.words:
                        found[record].add(value)
        for record, values in found.items():
            number, all_of_it = len(values - {""}), len(record.values)
            is_whole = "" in values or 1 < number == all_of_it
            if (is_whole or 2 * number >= all_of_it) and (is_whole, number) > record.best[:2]:
                record.best = _Hit(is_whole, number, name, frozenset(values))


def _keys_of(words: Sequence[str]) -> Iterator[str]:
    """Return what a value is found by: all its words, or every eight of them in a row."""
    return runs_of(words, min(len(words), _LONG)) if words else iter(())
