"""Gold records that stand in prompts or training text, how unlikely that is by chance, and near duplicates.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.api import compare_values
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.study.records import opened, record_at
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
    words_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.study.records import Record, Side
    from pytest_jsonmatch.study.words import Keys

FIGURES: Final = ("contaminated", "contaminated_share", "duplicates", "leaks")
"""What gates may look at."""
_RARE: Final = 3
"""A value that more gold records have says nothing of one of them."""
_SAMPLE: Final = 500
"""Decoys are made of so many values of a field."""
_LISTED: Final = 100
_NAMED: Final = 5
_SHOWN: Final = 40
_SEED: Final = 20_240_602


@final
@dataclass(frozen=True, slots=True)
class FieldOverlap:
    """The rare values of a field: how many there are, and stand in the texts, and would by chance.

    Args:
        values: how many were looked for.
        found: how many stand in some text.
        chance: the share of made-up values of the same form that do: an upper estimate.
    """

    values: int
    found: int
    chance: float


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
        p: how likely chance alone finds as many; corrected for the number of records.
        fields: the paths of those found, and a few of their values.
    """

    split: str
    id: str | int
    values: int
    found: int
    text: str
    in_text: int
    p: float
    fields: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all its rare values stand in one text."""
        return self.in_text == self.values > 1


@final
@dataclass(frozen=True, slots=True)
class OverlapStudy:
    """What gold records share with texts, and with each other.

    Args:
        records: how many gold records there are.
        texts: how many texts were read.
        words: how many words they have.
        fields: by path the values that were looked for.
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
    fields: Mapping[str, FieldOverlap]
    contaminated: int
    worst: tuple[Contaminated, ...]
    duplicates: int
    leaks: int
    pairs: tuple[Duplicate, ...]
    is_cut: bool = False

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures for gates."""
        share = self.contaminated / self.records
        return dict(zip(FIGURES, (self.contaminated, share, self.duplicates, self.leaks), strict=True))

    @property
    def by_field(self) -> Mapping[str, Mapping[str, float | None]]:
        """No figure is of a field."""
        return {}


def measure_overlap(
    gold: Mapping[str, Side],
    texts: Iterable[tuple[str, str]] = (),
    *,
    id_field: str | None = None,
    near: float = 0.9,
    confidence: float = 0.95,
    metric: str = defaults.METRIC,
    **options: Any,
) -> OverlapStudy:
    """Return which gold records stand in texts, and which are nearly the same.

    Rare values are looked for: those of at most three records, of two words or more, or with four digits; of
    longer ones every eight words in a row. How often chance finds a value of a field is measured by decoys:
    up to 1,000 values that no record has, put together from parts of those there are. A record is
    contaminated if chance would find as many of its values in less than 1 - confidence of golds, corrected
    for the number of records (Bonferroni).

    Args:
        gold: the splits of the gold by name: each a list of records, the path of a JSON Lines file, or a
            mapping of ids to records.
        texts: prompts, examples, training texts: (name, part of the text); parts of one text follow another.
        id_field: the member that names a record.
        near: two records are nearly the same if one as the answer to the other scores as much.
        confidence: one minus the error rate.
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
    twins, index = Twins(), _Index()
    with opened(gold, id_field) as golds:
        for record in chain.from_iterable(golds):
            twins.add(index.add(record))
        if not index.number:
            raise ConfigurationError("there is no gold record")
        found = _Found(index)
        found.look(texts)
        fields = found.by_field()
        suspects = sorted(each for each in found.suspects(fields) if each[0] <= 1 - confidence)
        worst = [found.told(record_at(golds, at), at, p) for p, at in suspects[:_LISTED]]

        def score(one: Record, other: Record) -> float:
            return compare_values(other.value, one.value, metric, options).score or 0.0

        twins.link(lambda number: record_at(golds, number), score, near)
        duplicates, leaks = twins.counts(lambda number: record_at(golds, number).gold)
    return OverlapStudy(
        index.number,
        found.texts,
        found.words,
        fields,
        len(suspects),
        tuple(worst),
        duplicates,
        leaks,
        tuple(twins.pairs),
        twins.is_cut,
    )


# -- the index ---------------------------------------------------------------------------------------------


@final
class _Index:
    """The values of all gold records that may be rare, as numbers."""

    def __init__(self) -> None:
        self.number = 0
        """Of records."""
        self.paths: dict[str, int] = {}
        self.keys, self.owners = array("Q"), array("i")
        """What is looked for, and of which value."""
        self.records, self.fields = array("i"), array("i")
        """Of each value."""
        self._samples: list[list[Sequence[str]]] = []
        self._seen: list[int] = []
        self._chooser = random.Random(_SEED)  # noqa: S311 - no secret: the same sample each time

    def add(self, record: Record) -> set[int]:
        """Add a record; return all its values as numbers."""
        features: set[int] = set()
        for path, text in dict.fromkeys(leaves_of(record.value)):
            words = words_of(text)
            if not words:
                continue
            keys = keys_of(words).tolist()
            features.update(key ^ hash_of(path) for key in keys)
            if is_telling(words):
                self._sample(self.paths.setdefault(path, len(self.paths)), words[:GRAM])
                self.keys.extend(keys)
                self.owners.extend([len(self.records)] * len(keys))
                self.records.append(self.number)
                self.fields.append(self.paths[path])
        self.number += 1
        return features

    def _sample(self, field: int, words: Sequence[str]) -> None:
        """Keep a fair sample of the values of a field (Vitter 1985)."""
        if field == len(self._seen):
            self._seen.append(0)
            self._samples.append([])
        self._seen[field] += 1
        held = self._samples[field]
        if len(held) < _SAMPLE:
            held.append(words)
        elif (place := self._chooser.randrange(self._seen[field])) < _SAMPLE:
            held[place] = words

    def decoys(self) -> Iterator[tuple[int, int]]:
        """Yield keys of values that look like those of a field, each with the field."""
        for field, sample in enumerate(self._samples):
            for words in decoys_of(sample, self._chooser):
                yield int(keys_of(words)[0]), field


@final
class _Found:
    """What of the index, and of the decoys, stands in texts."""

    def __init__(self, index: _Index) -> None:
        self.texts = self.words = 0
        self._index = index
        # (Arrays of numpy share the memory of those that have been filled.)
        order = np.argsort(np.asarray(index.keys), kind="stable")
        keys = np.asarray(index.keys)[order]
        self._owners = np.asarray(index.owners)[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        self._keys, self._ends = keys[starts], np.append(starts, len(keys))
        numbers = np.diff(self._ends)
        self._is_rare = numbers <= _RARE
        self._records = np.asarray(index.records)
        self._fields = np.asarray(index.fields)
        rare = self._owners[np.repeat(self._is_rare, numbers)]
        self._grams = np.bincount(rare, minlength=len(self._records))
        """Of each value, how many of its keys are rare."""
        self._is_found = np.zeros(len(self._records), dtype=bool)
        self._best: dict[int, tuple[int, str]] = {}
        """Of each record that has any value in a text, the most that one text has, and its name."""
        made = {key: field for key, field in index.decoys() if not len(_places(self._keys, _one(key)))}
        self._decoys = np.array(sorted(made), dtype=np.uint64)
        self._decoy_fields = np.array([made[key] for key in self._decoys.tolist()], dtype=np.int64)
        self._is_decoy_found = np.zeros(len(made), dtype=bool)

    def look(self, texts: Iterable[tuple[str, str]]) -> None:
        """Read all texts."""
        last, tail, here = "", hashes_of(()), set[int]()
        for name, text in texts:
            if name != last or not self.texts:
                self._end(last, here)
                last, tail, here = name, hashes_of(()), set()
                self.texts += 1
            words = hashes_of(words_of(text))
            self.words += len(words)
            hashes = np.concatenate((tail, words))
            tail = hashes[-GRAM + 1 :]
            grams = np.concatenate([grams_of(hashes, size) for size in range(1, GRAM + 1)])
            places = _places(self._keys, grams)
            here.update(places[self._is_rare[places]].tolist())
            self._is_decoy_found[_places(self._decoys, grams)] = True
        self._end(last, here)

    def _end(self, name: str, here: set[int]) -> None:
        """Take note of the values that one text has."""
        values = np.array(sorted(self._owners_of(here)), dtype=np.int64)
        self._is_found[values] = True
        for record, number in Counter(self._records[values].tolist()).items():
            if number > self._best.get(record, (0, ""))[0]:
                self._best[record] = number, name

    def _owners_of(self, places: Iterable[int]) -> set[int]:
        """Return the values that have a key, by the places of keys."""
        slices = (slice(self._ends[at], self._ends[at + 1]) for at in places)
        return {owner for each in slices for owner in self._owners[each].tolist()}

    def by_field(self) -> dict[str, FieldOverlap]:
        """Return how many rare values fields have, how many were found, and how many decoys."""
        fields = len(self._index.paths)
        values = np.bincount(self._fields[self._grams > 0], minlength=fields)
        found = np.bincount(self._fields[self._is_found], minlength=fields)
        decoys = np.bincount(self._decoy_fields, minlength=fields)
        wrongly = np.bincount(self._decoy_fields[self._is_decoy_found], minlength=fields)
        return {
            path: FieldOverlap(int(values[at]), int(found[at]), float((wrongly[at] + 1) / (decoys[at] + 1)))
            for path, at in sorted(self._index.paths.items())
            if values[at]
        }

    def suspects(self, fields: Mapping[str, FieldOverlap]) -> Iterator[tuple[float, int]]:
        """Yield how likely chance finds as much of a record, if any is found, and the record's number."""
        chances = np.array([fields[path].chance if path in fields else 1.0 for path in self._index.paths])
        for record in self._best:
            own = self._values_of(record)
            by_chance = np.minimum(chances[self._fields[own]] * self._grams[own], 1.0)
            p = _as_many(by_chance.tolist(), int(self._is_found[own].sum()))
            yield min(1.0, p * self._index.number), record

    def _values_of(self, record: int) -> NDArray[np.int64]:
        """Return the numbers of a record's rare values."""
        own = np.arange(*np.searchsorted(self._records, (record, record + 1)))
        rare: NDArray[np.int64] = own[self._grams[own] > 0]
        return rare

    def told(self, record: Record, at: int, p: float) -> Contaminated:
        """Return a suspect with what was found of it."""
        fields = []
        own = self._values_of(at)
        found = set(own[self._is_found[own]].tolist())
        for path, text in leaves_of(record.value):
            words = words_of(text)
            if is_telling(words) and found & self._owners_of(_places(self._keys, keys_of(words)).tolist()):
                fields.append(f"{path}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}")
        number, text = self._best[at]
        named = tuple(dict.fromkeys(fields))[:_NAMED]
        return Contaminated(record.gold, record.id, len(own), len(found), text, number, p, named)


def _one(key: int) -> Keys:
    return np.array([key], dtype=np.uint64)


def _places(keys: Keys, wanted: Keys) -> NDArray[np.intp]:
    """Return where in sorted keys those stand that are wanted, of those that do."""
    if not len(keys):
        return np.zeros(0, dtype=np.intp)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    held: NDArray[np.intp] = places[keys[places] == wanted]
    return held


def _as_many(chances: Sequence[float], number: int) -> float:
    """Return how likely so many of independent events are, or more.

    >>> _as_many([0.5, 0.5], 1), _as_many([0.1, 0.2, 0.5], 3)
    (0.75, 0.010000000000000002)
    """
    # From the end, so that small results keep their digits: exactly this many so far, and this many or more.
    exactly = [1.0] + [0.0] * number
    for chance in chances:
        exactly[number] += chance * exactly[number - 1]
        for at in range(number - 1, 0, -1):
            exactly[at] += chance * (exactly[at - 1] - exactly[at])
        exactly[0] *= 1 - chance
    return exactly[number]
