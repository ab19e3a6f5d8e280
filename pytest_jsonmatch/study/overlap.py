"""Gold records that stand in prompts or training text, how unlikely that is by chance, and near duplicates.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.corpus.records import gold_error
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.study.answers import Comparing
from pytest_jsonmatch.study.records import opened, record_at
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
    from numpy.typing import NDArray

    from pytest_jsonmatch.study.records import Record, Side
    from pytest_jsonmatch.study.words import Keys

FIGURES: Final = ("contaminated", "duplicates", "leaks")
"""What gates may look at."""
_RARE: Final = 3
"""A value that more gold records have says nothing of one of them."""
_LEAST: Final = 3
"""Records with fewer values, and none that is looked for, are like others by chance: no near duplicates."""
_SAMPLE: Final = 500
"""Decoys are made of so many values of a field."""
_ALARMS: Final = 0.05
_LISTED: Final = 100
_NAMED: Final = 5
_SHOWN: Final = 40


@final
@dataclass(frozen=True, slots=True)
class Contaminated:
    """A gold record of which more stands in the texts than chance explains.

    Args:
        split: the name of its gold.
        id: its id, or its place.
        values: how many rare values it has.
        found: how many of them stand in the texts.
        text: the text that has most of them.
        in_text: how many these are.
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
        contaminated: how many records stand in the texts, beyond chance.
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
    """Return which gold records stand in texts, and which are nearly the same.

    Rare values are looked for: those of at most three records, of two words or more, or with four digits; of
    longer ones every eight words in a row. How often chance finds a value of a field is measured by decoys:
    up to 1,000 values that no record has, put together from parts of those there are. A record is
    contaminated if chance would find as many of its values in at most 5 % of golds, corrected
    for the number of records (Bonferroni).

    Args:
        gold: the splits of the gold by name: each a list of records, the path of a JSON Lines file, or a
            mapping of ids to records.
        texts: prompts, examples, training texts: (name, part of the text); parts of one text follow another.
        id_field: the member that names a record.
        near: two records are nearly the same if one as the answer to the other scores as much.
        metric: what scores near duplicates.
        **options: of the metric, as for `compare_json`.

    Returns:
        Counts, and the first hundred of each kind.

    Raises:
        ConfigurationError: there is no gold record, `near` is no share, an unknown option.
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
        raise ConfigurationError(f"near is {near!r}; it is a score, above 0 and up to 1")
    twins, search, compare = Twins(), _Search(), Comparing(metric, options)
    with opened(gold, id_field) as golds:
        for record in chain.from_iterable(golds):
            twins.add(search.add(record))
        if not search.number:
            raise ConfigurationError("there is no gold record")
        search.close()
        search.look(texts)
        record_of = partial(record_at, golds)
        suspects = sorted(each for each in search.suspects(record_of) if each[0] <= _ALARMS)
        worst = [search.told(record_of(at), at, p) for p, at in suspects[:_LISTED]]

        def score(one: Record, other: Record) -> float:
            (found,) = compare([(other.value, one.value)])
            if isinstance(found, JsonMatchError):
                raise gold_error(one.id, None, found)
            return found.score or 0.0

        twins.link(record_of, score, near)
        duplicates, leaks = twins.counts(lambda number: record_of(number).gold)
    return OverlapStudy(
        search.number,
        search.texts,
        search.words,
        len(suspects),
        tuple(worst),
        duplicates,
        leaks,
        tuple(twins.pairs),
        twins.is_cut,
    )


# -- the search --------------------------------------------------------------------------------------------

_WHOLE: Final = -1
"""In place of a field: the whole record, of which all keys have to stand in one text."""
_NOBODY: Final = -1
"""In place of a record: a decoy."""


@final
class _Search:
    """The rare values of all gold records, with decoys that look like them, and what texts have of them.

    What is looked for of a value are keys: numbers for all its words, or for eight of them in a row.
    """

    def __init__(self) -> None:
        self.number = self.texts = self.words = 0
        """How many records, texts and words of texts there are."""
        self._paths: dict[str, int] = {}
        """The number of each field."""
        self._keys, self._owners = array("Q"), array("i")
        """What is looked for, and of which value."""
        self._records, self._fields = array("i"), array("i")
        """Of each value."""
        self._samples: list[Sample[tuple[str, ...]]] = []
        """Of each field, the first words of some values."""

    def add(self, record: Record) -> set[int]:
        """Add a record; return its values as numbers, if there is enough in them to tell it from others."""
        features: set[int] = set()
        before = len(self._records)
        for path, text in dict.fromkeys(leaves_of(record.value)):
            if words := words_of(text):
                field = self._paths.setdefault(path, len(self._paths))
                if field == len(self._samples):
                    self._samples.append(Sample(_SAMPLE, []))
                self._samples[field].add(tuple(words[:GRAM]))
                keys = keys_of(words).tolist()
                features.update(key ^ hash_of(path) for key in keys)
                if is_telling(words):
                    self._add(keys, self.number, field)
        is_small = len(features) < _LEAST and len(self._records) == before
        # Keys that follow each other, and the last one.
        whole = keys_of(words_of(text_of(record.value)))
        self._add({*whole[::GRAM].tolist(), *whole[-1:].tolist()}, self.number, _WHOLE)
        self.number += 1
        return set() if is_small else features

    def _add(self, keys: Collection[int], record: int, field: int) -> None:
        self._keys.extend(keys)
        self._owners.extend([len(self._records)] * len(keys))
        self._records.append(record)
        self._fields.append(field)

    def close(self) -> None:
        """Add decoys when all records are there, and make ready to look for them and for what is rare."""
        self._values = len(self._records)
        decoys = {
            int(keys_of(words)[0]): field
            for field, sample in enumerate(self._samples)
            for words in decoys_of([words for words in sample.values if is_telling(words)])
        }
        made, taken = np.array(list(decoys), dtype=np.uint64), np.sort(np.asarray(self._keys))
        ends = [np.searchsorted(taken, made, side) for side in ("left", "right")]
        for key in made[ends[0] == ends[1]].tolist():
            self._add([key], _NOBODY, decoys[key])
        del taken
        # (Arrays of numpy share the memory of those that have been filled.)
        self._record_of, self._field_of = np.asarray(self._records), np.asarray(self._fields)
        order = np.argsort(np.asarray(self._keys), kind="stable")
        keys, self._keys = np.asarray(self._keys)[order], array("Q")
        owners, self._owners = np.asarray(self._owners)[order], array("i")
        del order
        is_rare = np.ones(len(keys), dtype=bool)
        is_common = keys[_RARE:] == keys[:-_RARE]
        for at in range(_RARE + 1):
            is_rare[at : len(is_common) + at] &= ~is_common
        self._rare, self._owner_of = keys[is_rare], owners[is_rare]
        self._grams = np.bincount(self._owner_of, minlength=len(self._record_of))
        """Of each value, how many of its keys are rare."""
        self._is_found = np.zeros(len(self._record_of), dtype=bool)
        self._best: dict[int, tuple[int, str]] = {}
        """Of each record that has any value in a text, the most that one text has, and its name."""
        self._wholes: dict[int, str] = {}
        """Of each record that stands in a text as a whole, the name of the text."""

    def look(self, texts: Iterable[tuple[str, str]]) -> None:
        """Read all texts."""
        last, tail, here = None, hashes_of(()), set[int]()
        for name, text in texts:
            if name != last:
                self._end(last or "", here)
                last, tail, here = name, hashes_of(()), set()
                self.texts += 1
            words = hashes_of(words_of(text))
            self.words += len(words)
            hashes = np.concatenate((tail, words))
            tail = hashes[-GRAM + 1 :]
            grams = np.concatenate([grams_of(hashes, size) for size in range(1, GRAM + 1)])
            here.update(self._places(grams).tolist())
        self._end(last or "", here)

    def _places(self, keys: Keys) -> NDArray[np.intp]:
        """Return where those keys stand that are looked for; each of them up to three times."""
        first, end = (np.searchsorted(self._rare, keys, side) for side in ("left", "right"))
        return np.concatenate([first[first + at < end] + at for at in range(_RARE)])

    def _end(self, name: str, here: set[int]) -> None:
        """Take note of what one text has."""
        places = np.fromiter(here, dtype=np.intp, count=len(here))
        owners, numbers = np.unique(self._owner_of[places], return_counts=True)
        is_whole = self._field_of[owners] == _WHOLE
        all_of = owners[is_whole & (numbers == self._grams[owners])]
        self._wholes |= dict.fromkeys(self._record_of[all_of].tolist(), name)
        values = owners[~is_whole]
        self._is_found[values] = True
        for record, number in Counter(self._record_of[values].tolist()).items():
            if record != _NOBODY and number > self._best.get(record, (0, ""))[0]:
                self._best[record] = number, name

    def _chances(self) -> NDArray[np.float64]:
        """Return of each field the share of its decoys that stand in the texts: an upper estimate."""
        is_decoy = self._record_of == _NOBODY
        made, found = (
            np.bincount(self._field_of[which], minlength=len(self._paths))
            for which in (is_decoy, is_decoy & self._is_found)
        )
        chances: NDArray[np.float64] = (found + 1) / (made + 1)
        return chances

    def suspects(self, record_of: Callable[[int], Record]) -> Iterator[tuple[float, int]]:
        """Yield how likely chance finds as much of a record, if any is found, and the record's number."""
        chances = self._chances()
        alike = {path: self._samples[at].alike for path, at in self._paths.items()}
        for record in self._best.keys() | self._wholes.keys():
            own = self._values_of(record)
            by_chance = np.minimum(chances[self._field_of[own]] * self._grams[own], 1.0)
            p = _as_many(by_chance.tolist(), int(self._is_found[own].sum()))
            if record in self._wholes:
                # No text has it more often than other records have its values in all fields.
                paths = {path for path, text in leaves_of(record_of(record).value) if words_of(text)}
                p = min(p, self.words * prod(alike[path] for path in paths))
            yield min(1.0, p * self.number), record

    def _values_of(self, record: int) -> NDArray[np.intp]:
        """Return the numbers of a record's rare values."""
        own = np.arange(*np.searchsorted(self._record_of[: self._values], (record, record + 1)))
        rare: NDArray[np.intp] = own[(self._grams[own] > 0) & (self._field_of[own] != _WHOLE)]
        return rare

    def told(self, record: Record, at: int, p: float) -> Contaminated:
        """Return a suspect with what was found of it."""
        own = self._values_of(at)
        found = own[self._is_found[own]]
        fields: dict[str, None] = {}
        for path, text in leaves_of(record.value):
            words = words_of(text)
            if is_telling(words) and np.isin(found, self._owner_of[self._places(keys_of(words))]).any():
                fields[f"{path}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}"] = None
        number, text = self._best.get(at, (0, ""))
        is_whole = at in self._wholes or number == len(own) > 1
        text = self._wholes.get(at, text)
        named = tuple(fields)[:_NAMED]
        return Contaminated(record.gold, record.id, len(own), len(found), text, number, is_whole, p, named)


def _as_many(chances: Iterable[float], number: int) -> float:
    """Return how likely so many of independent events are, or more.

    >>> _as_many([0.5, 0.5], 1), round(_as_many([0.1, 0.2, 0.5], 3), 12)
    (0.75, 0.01)
    """
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, (1 - chance, chance))
    return float(exactly[number:].sum())
