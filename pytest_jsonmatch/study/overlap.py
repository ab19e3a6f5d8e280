"""Gold records that occur in prompts or training text, how unlikely that is by chance, and near duplicates.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, groupby
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.corpus.records import gold_error
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.study.answers import Comparer
from pytest_jsonmatch.study.records import Kept, read_records, temporary_database
from pytest_jsonmatch.study.sample import Sample
from pytest_jsonmatch.study.twins import Duplicate, Twins
from pytest_jsonmatch.study.words import (
    GRAM,
    decoys_of,
    grams_of,
    hash_of,
    hashes_of,
    is_telling,
    keys_of,
    leaves_of,
    text_of,
    words_of,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

    from pytest_jsonmatch.study.records import Record, Side
    from pytest_jsonmatch.study.words import Keys

FIGURES: Final = ("contaminated", "duplicates", "leaks")
"""The figures that gates may name."""
_RARE: Final = 3
"""A value in more gold records than this says nothing about one of them."""
_LEAST: Final = 3
"""Records with fewer values, and none that is telling, are similar by chance: they are no near duplicates."""
_SAMPLE: Final = 500
"""Decoys are made from at most this many values of a field."""
_ALARMS: Final = 0.05
_LISTED: Final = 100
_NAMED: Final = 5
_SHOWN: Final = 40


@final
@dataclass(frozen=True, slots=True)
class Contaminated:
    """A gold record that occurs in the texts more than chance explains.

    Args:
        split: the name of its gold.
        id: its id, or its position.
        values: how many rare values it has.
        found: how many of them occur in the texts.
        text: the text that has most of them.
        in_text: how many that text has.
        is_whole: whether it has all of them, or the whole record word by word.
        p: how likely chance alone finds as many; corrected for the number of records.
        fields: the paths of those found, and a few of their values.
    """

    split: str
    id: str | int
    values: int
    found: int
    text: str
    in_text: int
    is_whole: bool
    p: float
    fields: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class OverlapStudy:
    """What gold records share with texts, and with each other.

    Args:
        records: how many gold records there are.
        texts: how many texts were read.
        words: how many words they have.
        contaminated: how many records occur in the texts beyond chance.
        worst: the first hundred of them, the least likely first.
        duplicates: how many records are nearly the same as an earlier one.
        leaks: how many are nearly the same as one of another split.
        pairs: the first hundred of such pairs.
        is_cut: whether there were too many candidates for pairs to compare all.
    """

    records: int
    texts: int
    words: int
    contaminated: int
    worst: tuple[Contaminated, ...]
    duplicates: int
    leaks: int
    pairs: tuple[Duplicate, ...]
    is_cut: bool = False

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures for gates."""
        return {name: getattr(self, name) for name in FIGURES}


def measure_overlap(
    gold: Mapping[str, Side],
    texts: Iterable[tuple[str, str]] = (),
    *,
    id_field: str | None = None,
    near: float = 0.9,
    metric: str = defaults.METRIC,
    **options: Any,
) -> OverlapStudy:
    """Find the gold records that occur in texts, and those that are nearly the same.

    Rare values are looked for: those of at most three records, with two words or more, or with four digits;
    of longer values, every eight words in a row. How often chance finds a value of a field is measured with
    decoys: up to 1,000 values that no record has, put together from parts of real ones. A record is
    contaminated if chance would find as many of its values in at most 5 % of golds, corrected for the number
    of records (Bonferroni).

    Args:
        gold: the splits of the gold by name: each a list of records, the path of a JSON Lines file, or a
            mapping of ids to records.
        texts: prompts, examples, training texts: (name, part of the text); parts of one text follow another.
        id_field: the member that names a record.
        near: two records are nearly the same if one, as the answer to the other, scores this much.
        metric: the metric that scores near duplicates.
        **options: of the metric, as for `compare_json`.

    Returns:
        Counts, and the first hundred of each kind.

    Raises:
        ConfigurationError: there is no gold record, `near` is not a score, an unknown option.
        GoldValidationError: a record is not JSON.

    Sources: Brown et al. 2020, appendix C (n-grams); Elias & Gygi 2007 (decoys); Broder 1997 (near
    duplicates); docs/overlap.md says what is computed.

    >>> gold = [{"id": n, "no": f"INV-{7919 * n}", "iban": f"DE {104729 * n}"} for n in range(1, 60)]
    >>> prompt = "For example: the invoice INV-55433 is paid to DE 733103."
    >>> found = measure_overlap({"test": gold}, [("prompt.md", prompt)], id_field="id")
    >>> found.contaminated, found.worst[0].id, found.worst[0].is_whole
    (1, 7, True)
    """
    if not 0 < near <= 1:
        raise ConfigurationError(f"near is {near!r}; it must be a score above 0 and up to 1")
    compare = Comparer(metric, options)
    with temporary_database() as database:
        kept, search, twins = Kept(database), _Search(database), Twins(database)
        search.read(kept.keep(read_records(gold, id_field)), twins)
        if not search.number:
            raise ConfigurationError("there is no gold record")
        search.look(texts)
        contaminated, worst = 0, list[_Suspect]()
        for each in search.suspects(kept):
            if each.p <= _ALARMS:
                contaminated += 1
                worst = sorted([*worst, each])[:_LISTED]
        told = tuple(search.told(each, kept[each.record]) for each in worst)

        def score(one: Record, other: Record) -> float:
            (found,) = compare([(other.value, one.value)])
            if isinstance(found, JsonMatchError):
                raise gold_error(one.id, None, found)
            return found.score or 0.0

        twins.link(kept.__getitem__, score, near)
        duplicates, leaks = twins.counts(lambda number: kept[number].gold)
    return OverlapStudy(
        search.number,
        search.texts,
        search.words,
        contaminated,
        told,
        duplicates,
        leaks,
        tuple(twins.pairs),
        twins.is_cut,
    )


# -- the search --------------------------------------------------------------------------------------------

# A decoy has no record. A whole record, all of whose keys must be in one text, has no field.
_TABLES: Final = """
    CREATE TABLE keys (key INTEGER, value INTEGER, record INTEGER, field TEXT);
    CREATE TABLE rare (
        key INTEGER, value INTEGER, record INTEGER, field TEXT,
        PRIMARY KEY (key, value)
    ) WITHOUT ROWID;
    CREATE TABLE texts (text INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE hits (
        text INTEGER, value INTEGER, key INTEGER, record INTEGER, field TEXT,
        PRIMARY KEY (text, value, key)
    ) WITHOUT ROWID;
"""
_RARE_ONES: Final = """
    INSERT OR IGNORE INTO rare SELECT key, value, record, field FROM (
        SELECT *, count(record) OVER (PARTITION BY key) AS golds FROM keys
    ) WHERE golds <= ? AND (golds = 0 OR record IS NOT NULL)
"""
_LOOK_UP: Final = "SELECT rare.* FROM json_each(?) AS asked JOIN rare ON rare.key = asked.value"
_FOUND: Final = """
    CREATE TABLE found AS
        SELECT value, record, field, count(*) AS number, text FROM hits GROUP BY text, value;
    CREATE INDEX found_of ON found (record);
"""
"""The values found, and how many keys of each one text has."""
_OF_SUSPECTS: Final = """
    SELECT rare.record, rare.field, count(*), most FROM rare
    LEFT JOIN (SELECT value, max(number) AS most FROM found GROUP BY value) USING (value)
    WHERE rare.record IN (SELECT record FROM found) GROUP BY value ORDER BY rare.record
"""
"""The values of records with any value found: record, field, how many keys, and the most that a text has."""
_TEXT_OF: Final = """
    SELECT count(*), name FROM found JOIN texts USING (text)
    WHERE record = ? AND (field IS NULL) = ? GROUP BY text ORDER BY sum(number) DESC, text LIMIT 1
"""
_OF_DECOYS: Final = (
    "SELECT field, count(*) FROM rare WHERE record IS NULL GROUP BY field",
    "SELECT field, count(DISTINCT value) FROM found WHERE record IS NULL GROUP BY field",
)
"""How many decoys each field has, and how many are found."""
_Row: TypeAlias = "tuple[int, int, int | None, str | None]"
"""A key, the numbers of its value and record, and the path of its field."""


class _Suspect(NamedTuple):
    """A record with any value found."""

    p: float
    """How likely chance finds as much of it, corrected for the number of records."""
    record: int
    values: int
    """How many rare values it has."""
    found: int
    is_whole: bool


@final
class _Search:
    """The rare values of all gold records, with decoys that look like them, and those found in texts.

    Values are looked for by their keys: numbers for all words of a value, or for eight of them in a row. The
    keys are in a database on disk, so that memory does not grow with records.
    """

    def __init__(self, database: Connection) -> None:
        self.number = self.texts = self.words = 0
        """How many records, texts and words of texts there are."""
        self._database = database
        database.executescript(_TABLES)
        self._values = count()
        self._samples: defaultdict[str, Sample[tuple[str, ...]]] = defaultdict(lambda: Sample(_SAMPLE, []))
        """By field, the first words of some values."""

    def read(self, records: Iterable[Record], twins: Twins) -> None:
        """Read all gold records, add decoys, and prepare to look for rare values."""
        insert = "INSERT INTO keys VALUES (?, ?, ?, ?)"
        self._database.executemany(insert, self._keys_of(records, twins))
        self._database.executemany(insert, self._decoys())
        self._database.execute(_RARE_ONES, (_RARE,))

    def _keys_of(self, records: Iterable[Record], twins: Twins) -> Iterator[_Row]:
        """Yield all keys of records, and add the records to `twins`."""
        for at, record in enumerate(records):
            features: set[int] = set()
            has_any = False
            for path, text in dict.fromkeys(leaves_of(record.value)):
                if words := words_of(text):
                    self._samples[path].add(tuple(words[:GRAM]))
                    keys = keys_of(words)
                    features.update((keys ^ np.uint64(hash_of(path))).tolist())
                    if is_telling(words):
                        has_any = True
                        value = next(self._values)
                        yield from ((key, value, at, path) for key in _signed(keys))
            # Records with next to nothing in them are similar by chance.
            if has_any or len(features) >= _LEAST:
                twins.add(at, features)
            # For the whole record, keys that follow each other, and the last one.
            whole, value = _signed(keys_of(words_of(text_of(record.value)))), next(self._values)
            yield from ((key, value, at, None) for key in {*whole[::GRAM], *whole[-1:]})
            self.number += 1

    def _decoys(self) -> Iterator[_Row]:
        """Yield the keys of decoys, each of which is a value of its own."""
        decoys = {
            _signed(keys_of(words))[0]: path
            for path, sample in self._samples.items()
            for words in decoys_of([words for words in sample.values if is_telling(words)])
        }
        return ((key, next(self._values), None, path) for key, path in decoys.items())

    def look(self, texts: Iterable[tuple[str, str]]) -> None:
        """Read all texts."""
        for name, parts in groupby(texts, itemgetter(0)):
            self.texts += 1
            self._database.execute("INSERT INTO texts VALUES (?, ?)", (self.texts, json.dumps(name)))
            tail = hashes_of(())
            for _, text in parts:
                words = hashes_of(words_of(text))
                self.words += len(words)
                hashes = np.concatenate((tail, words))
                tail = hashes[-GRAM + 1 :]
                keys = np.concatenate([grams_of(hashes, size) for size in range(1, GRAM + 1)])
                hits = [(self.texts, value, key, *of) for key, value, *of in self._rows(keys)]
                self._database.executemany("INSERT OR IGNORE INTO hits VALUES (?, ?, ?, ?, ?)", hits)
        self._database.executescript(_FOUND)

    def _rows(self, keys: Keys) -> Iterator[_Row]:
        """Return the rows of those keys that are looked for."""
        return self._database.execute(_LOOK_UP, (json.dumps(_signed(np.unique(keys))),))

    def _chances(self) -> dict[str, float]:
        """Return for each field the share of its decoys that occur in the texts: an upper estimate."""
        made, found = (dict(self._database.execute(query)) for query in _OF_DECOYS)
        return {path: (found.get(path, 0) + 1) / (made.get(path, 0) + 1) for path in self._samples}

    def suspects(self, kept: Kept) -> Iterator[_Suspect]:
        """Yield the records with any value found."""
        chances = self._chances()
        alike = {path: sample.alike for path, sample in self._samples.items()}
        for record, values in groupby(self._database.execute(_OF_SUSPECTS), itemgetter(0)):
            by_chance, found, is_whole = list[float](), 0, False
            for _, field, keys, most in values:
                if field is None:
                    is_whole = most == keys
                else:
                    by_chance.append(min(chances[field] * keys, 1.0))
                    found += most is not None
            p = _as_many(by_chance, found)
            if is_whole:
                # By chance, texts have it no more often than other records have its values in all fields.
                paths = {path for path, text in leaves_of(kept[record].value) if words_of(text)}
                p = min(p, self.words * prod(alike[path] for path in paths))
            yield _Suspect(min(1.0, p * self.number), record, len(by_chance), found, is_whole)

    def told(self, suspect: _Suspect, record: Record) -> Contaminated:
        """Return a suspect with what was found of its record."""
        execute, at = self._database.execute, suspect.record
        of_it = {value for (value,) in execute("SELECT value FROM found WHERE record = ?", (at,))}
        fields: dict[str, None] = {}
        for path, text in leaves_of(record.value):
            words = words_of(text)
            if is_telling(words) and any(value in of_it for _, value, *_ in self._rows(keys_of(words))):
                fields[f"{path}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}"] = None
        number, text = execute(_TEXT_OF, (at, False)).fetchone() or (0, '""')
        if suspect.is_whole:
            _, text = execute(_TEXT_OF, (at, True)).fetchone()
        return Contaminated(
            record.gold,
            record.id,
            suspect.values,
            suspect.found,
            json.loads(text),
            number,
            suspect.is_whole or number == suspect.values > 1,
            suspect.p,
            tuple(fields)[:_NAMED],
        )


def _signed(keys: Keys) -> list[int]:
    """Return keys as the database has them."""
    found: list[int] = keys.view(np.int64).tolist()
    return found


def _as_many(chances: Iterable[float], number: int) -> float:
    """Return how likely at least this many of several independent events are.

    >>> _as_many([0.5, 0.5], 1), round(_as_many([0.1, 0.2, 0.5], 3), 12)
    (0.75, 0.01)
    """
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, (1 - chance, chance))
    return float(exactly[number:].sum())
