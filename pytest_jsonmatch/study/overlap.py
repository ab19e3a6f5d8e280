"""Gold records that stand in prompts or training text, how unlikely that is by chance, and near duplicates.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

import math
import random
import re
import unicodedata
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pytest_jsonmatch import defaults
from pytest_jsonmatch.api import compare_values
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.sheets import Column, Figure, Figures, Heading, Rows, Said, Sheet
from pytest_jsonmatch.study.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.report.sheets import Block
    from pytest_jsonmatch.study.records import Side

    Keys = NDArray[np.uint64]

FIGURES: Final = ("contaminated", "contaminated_share", "duplicates", "leaks")
"""What gates may look at."""
_GRAM: Final = 8
"""Of longer values, every so many words in a row are looked for."""
_RARE: Final = 3
"""A value that more gold records have says nothing of one of them."""
_DIGITS: Final = 4
"""A single word with so many digits is looked for; of others two words and as many letters as follow."""
_LETTERS: Final = 8
_SAMPLE: Final = 500
_DECOYS: Final = 1000
_BANDS, _ROWS = 16, 4
_LEAST_FEATURES: Final = 3
_MOST_PAIRS: Final = 200_000
_LISTED: Final = 100
_NAMED: Final = 5
_SHOWN: Final = 40
_SEED: Final = 20_240_602
_WORD: Final = re.compile(r"\w+")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BASE: Final = np.uint64(0x9E3779B97F4A7C15)


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
class Duplicate:
    """Two gold records that are nearly the same, and the score of one as the answer to the other."""

    split: str
    id: str | int
    other_split: str
    other_id: str | int
    score: float


@final
@dataclass(frozen=True, slots=True)
class Overlap:
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


def overlap(
    gold: Mapping[str, Side],
    texts: Iterable[tuple[str, str]] = (),
    *,
    id_field: str | None = None,
    near: float = 0.9,
    confidence: float = 0.95,
    metric: str = defaults.METRIC,
    **options: Any,
) -> Overlap:
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
    >>> found = overlap({"test": gold}, [("prompt.md", prompt)], id_field="id")
    >>> found.contaminated, found.worst[0].id, found.worst[0].is_whole
    (1, 7, True)
    """
    if not 0 < near <= 1:
        raise ConfigurationError(f"near is {near!r}; it is a score, above 0 and up to 1")
    records = Records(gold, id_field)
    index = _Index()
    for record in records:
        index.add(record)
    if not index.sizes:
        raise ConfigurationError("there is no gold record")
    found = index.search(texts)
    fields = found.by_field()
    suspects = sorted(each for each in found.suspects(fields) if each[0] <= 1 - confidence)
    twins = _Twins(records, near, lambda one, other: _score(one, other, metric, options))
    twins.link(np.array(index.bands, dtype=np.uint64).reshape(-1, _BANDS))
    return Overlap(
        len(index.sizes),
        found.texts,
        found.words,
        fields,
        len(suspects),
        tuple(found.told(records, at, p) for p, at in suspects[:_LISTED]),
        *twins.counted(),
        tuple(twins.pairs[:_LISTED]),
        twins.is_cut,
    )


def _score(one: JsonValue, other: JsonValue, metric: str, options: Mapping[str, Any]) -> float:
    return compare_values(other, one, metric, options).score or 0.0


# -- words and keys ----------------------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: case, accents' forms and 1,000 do not matter.

    >>> words_of("Total: 1,234.50 EUR")
    ['total', '1234', '50', 'eur']
    """
    return _WORD.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).casefold())


@lru_cache(maxsize=1 << 17)
def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _hashes(words: Sequence[str]) -> Keys:
    return np.fromiter(map(_hash, words), dtype=np.uint64, count=len(words))


def _grams(hashes: Keys, size: int) -> Keys:
    """Return a key for every so many words in a row."""
    keys = np.zeros(max(len(hashes) - size + 1, 0), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for at in range(size):
            keys = keys * _BASE + hashes[at : at + len(keys)]
    return keys


def _keys(words: Sequence[str]) -> list[int]:
    """Return what is looked for of a value."""
    keys: list[int] = _grams(_hashes(words), min(len(words), _GRAM)).tolist()
    return keys


def _is_telling(words: Sequence[str]) -> bool:
    if len(words) == 1:
        return sum(map(str.isdigit, words[0])) >= _DIGITS
    return sum(map(len, words)) >= _LETTERS


def _leaves(record: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the schema paths of strings and numbers with their texts."""
    stack: list[tuple[str, Any]] = [("", record)]
    while stack:
        path, value = stack.pop()
        if type(value) is dict:
            stack += [(f"{path}.{key}" if path else key, each) for key, each in value.items()]
        elif type(value) is list:
            stack += [(f"{path}[]", each) for each in value]
        elif value is not None and type(value) is not bool:
            yield path, str(value)


def text_of(value: JsonValue) -> str:
    """Return the strings and numbers of a JSON value as one text.

    >>> text_of({"role": "user", "tokens": [12, None]})
    'user 12'
    """
    return " ".join(text for _, text in [*_leaves(value)][::-1])


def _decoys(sample: Sequence[Sequence[str]], chooser: random.Random) -> set[tuple[str, ...]]:
    """Return values that look like those of a sample: each part is that of another one at its place.

    Parts are words; of a word with digits, its characters. What can't differ from the sample is left out.
    """
    alike: dict[tuple[int, ...], list[str]] = {}
    for words in sample:
        for at, word in enumerate(words):
            alike.setdefault((len(words), at), []).append(word)
            alike.setdefault((len(words), at, len(word)), []).append(word)
    made = set()
    for _ in range(_DECOYS):
        words = chooser.choice(sample)
        parts = []
        for at, word in enumerate(words):
            if any(map(str.isdigit, word)):
                others = alike[len(words), at, len(word)]
                parts.append("".join(chooser.choice(others)[place] for place in range(len(word))))
            else:
                parts.append(chooser.choice(alike[len(words), at]))
        made.add(tuple(parts))
    return made.difference(map(tuple, sample))


# -- the index ---------------------------------------------------------------------------------------------


@final
class _Index:
    """The rare values of all gold records, as numbers."""

    def __init__(self) -> None:
        self.paths: dict[str, int] = {}
        self.sizes = array("i")
        """Of each record, how many values were looked at."""
        self.bands = array("Q")
        self._samples: list[list[Sequence[str]]] = []
        self._seen: list[int] = []
        self._keys, self._owners = array("Q"), array("i")
        self.records, self.fields = array("i"), array("i")
        """Of each value."""
        self._chooser = random.Random(_SEED)  # noqa: S311 - no secret: the same sample each time

    def add(self, record: JsonValue) -> None:
        """Add a record."""
        features: set[int] = set()
        number = 0
        for path, text in set(_leaves(record)):
            words = words_of(text)
            keys = _keys(words) if words else []
            features.update(key ^ _hash(path) for key in keys)
            if not words or not _is_telling(words):
                continue
            number += 1
            field = self.paths.setdefault(path, len(self.paths))
            self._sample(field, words[:_GRAM])
            self._keys.extend(keys)
            self._owners.extend([len(self.records)] * len(keys))
            self.records.append(len(self.sizes))
            self.fields.append(field)
        self.bands.extend(_bands(features, len(self.sizes)))
        self.sizes.append(number)

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

    def search(self, texts: Iterable[tuple[str, str]]) -> _Found:
        """Look for all values, and for decoys, in texts."""
        found = _Found(self, np.array(self._keys, dtype=np.uint64), np.array(self._owners, dtype=np.int64))
        for field, sample in enumerate(self._samples):
            for words in sorted(_decoys(sample, self._chooser)):
                found.add_decoy(_keys(words)[0], field)
        found.look(texts)
        return found


def _bands(features: set[int], number: int) -> list[int]:
    """Return what near duplicates have in common, most likely: MinHash in bands."""
    if len(features) < _LEAST_FEATURES:
        # (Different for every record: with so little in it, it may well be like another one by chance.)
        return [_hash(f"record {number} {band}") for band in range(_BANDS)]
    values = np.fromiter(features, dtype=np.uint64, count=len(features))
    with np.errstate(over="ignore"):
        mixed = (values ^ (values >> np.uint64(31))) * _MIX[:, None]
        least = (mixed ^ (mixed >> np.uint64(29))).min(axis=1).reshape(_BANDS, _ROWS)
        bands: list[int] = (least * _MIX[:_ROWS]).sum(axis=1, dtype=np.uint64).tolist()
    return bands


_MIX: Final = np.random.RandomState(_SEED).randint(1, 2**62, _BANDS * _ROWS).astype(np.uint64) * np.uint64(
    2
) + np.uint64(1)


# -- searching ---------------------------------------------------------------------------------------------


@final
class _Found:
    """What of the index, and of the decoys, stands in texts."""

    def __init__(self, index: _Index, keys: Keys, owners: NDArray[np.int64]) -> None:
        self.texts = self.words = 0
        self._index = index
        order = np.argsort(keys, kind="stable")
        self._keys, starts = np.unique(keys[order], return_index=True)
        self._ends = np.append(starts, len(keys))
        self._owners = owners[order]
        self._is_rare = np.diff(self._ends) <= _RARE
        self._records = np.array(index.records, dtype=np.int64)
        self._fields = np.array(index.fields, dtype=np.int64)
        rare = self._owners[np.repeat(self._is_rare, np.diff(self._ends))]
        self._grams = np.bincount(rare, minlength=len(self._records))
        """Of each value, how many of its keys are rare."""
        self._is_found = np.zeros(len(self._records), dtype=bool)
        self._sizes = np.bincount(self._records[self._grams > 0], minlength=len(index.sizes))
        """Of each record, how many rare values it has."""
        self._best: dict[int, tuple[int, str]] = {}
        """Of each record that has any value in a text, the most that one text has, and its name."""
        self._decoys: dict[int, int] = {}

    def add_decoy(self, key: int, field: int) -> None:
        """Add a value that nobody has, unless somebody has it."""
        at = int(np.searchsorted(self._keys, np.uint64(key)))
        if at == len(self._keys) or self._keys[at] != key:
            self._decoys.setdefault(key, field)

    def look(self, texts: Iterable[tuple[str, str]]) -> None:
        """Read all texts."""
        decoys = np.array(sorted(self._decoys), dtype=np.uint64)
        self._decoy_hits: set[int] = set()
        last, tail, here = "", _hashes(()), set[int]()
        for name, text in texts:
            if name != last or not self.texts:
                self._end(last, here)
                last, tail, here = name, _hashes(()), set()
                self.texts += 1
            words = _hashes(words_of(text))
            self.words += len(words)
            hashes = np.concatenate((tail, words))
            tail = hashes[-_GRAM + 1 :]
            grams = np.concatenate([_grams(hashes, size) for size in range(1, _GRAM + 1)])
            places = _places(self._keys, grams)
            here.update(places[self._is_rare[places]].tolist())
            self._decoy_hits.update(decoys[_places(decoys, grams)].tolist())
        self._end(last, here)

    def _end(self, name: str, here: set[int]) -> None:
        """Take note of what one text has."""
        if not here:
            return
        values = np.unique(
            [owner for at in here for owner in self._owners[self._ends[at] : self._ends[at + 1]]]
        )
        self._is_found[values] = True
        for record, number in Counter(self._records[values].tolist()).items():
            if number > self._best.get(record, (0, ""))[0]:
                self._best[record] = number, name

    def _owners_of(self, places: Iterable[int]) -> set[int]:
        """Return the values that have a key, by the places of keys."""
        return {
            owner for at in places for owner in self._owners[self._ends[at] : self._ends[at + 1]].tolist()
        }

    def by_field(self) -> dict[str, FieldOverlap]:
        """Return how many rare values fields have, how many were found, and how many decoys."""
        fields = len(self._index.paths)
        values = np.bincount(self._fields[self._grams > 0], minlength=fields)
        hits = np.bincount(self._fields[self._is_found], minlength=fields)
        made = Counter(self._decoys.values())
        found = Counter(self._decoys[key] for key in self._decoy_hits)
        return {
            path: FieldOverlap(int(values[at]), int(hits[at]), (found[at] + 1) / (made[at] + 1))
            for path, at in sorted(self._index.paths.items())
            if values[at]
        }

    def suspects(self, fields: Mapping[str, FieldOverlap]) -> Iterator[tuple[float, int]]:
        """Yield how likely it is that chance finds as much of a record, if any is found, and its number."""
        chances = np.array([fields[path].chance if path in fields else 1.0 for path in self._index.paths])
        for record in self._best:
            own = slice(*np.searchsorted(self._records, (record, record + 1)))
            grams = self._grams[own]
            by_chance = np.minimum(chances[self._fields[own]] * grams, 1.0)[grams > 0]
            p = _as_many(by_chance.tolist(), int(self._is_found[own].sum()))
            yield min(1.0, p * len(self._index.sizes)), record

    def told(self, records: Records, at: int, p: float) -> Contaminated:
        """Return a suspect with what was found of it."""
        split, name, record = records.at(at)
        fields = []
        for path, text in _leaves(record):
            words = words_of(text)
            if words and _is_telling(words):
                places = _places(self._keys, np.array(_keys(words), dtype=np.uint64))
                owners = {
                    owner
                    for place in places
                    for owner in self._owners[self._ends[place] : self._ends[place + 1]]
                }
                if any(self._is_found[owner] and self._records[owner] == at for owner in owners):
                    fields.append(f"{path}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'}")
        own = slice(*np.searchsorted(self._records, (at, at + 1)))
        number, text = self._best[at]
        values, found = int(self._sizes[at]), int(self._is_found[own].sum())
        return Contaminated(split, name, values, found, text, number, p, tuple(fields[:_NAMED]))


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
    fewer = [1.0] + [0.0] * (number - 1)
    for chance in chances:
        for at in range(number - 1, 0, -1):
            fewer[at] += chance * (fewer[at - 1] - fewer[at])
        fewer[0] *= 1 - chance
    return max(1 - sum(fewer), math.prod(sorted(chances)[:number]))


# -- near duplicates ---------------------------------------------------------------------------------------


@final
class _Twins:
    """Gold records that are nearly the same."""

    def __init__(self, records: Records, near: float, score: Callable[[JsonValue, JsonValue], float]) -> None:
        self.pairs: list[Duplicate] = []
        self.is_cut = False
        self._records, self._near, self._score = records, near, score
        self._first: dict[int, int] = {}
        """Of each record that is like an earlier one: that one."""
        self._tried: set[tuple[int, int]] = set()

    def link(self, bands: Keys) -> None:
        """Compare records that share a band with the first that has it."""
        for band in bands.T:
            order = np.argsort(band, kind="stable")
            same = np.flatnonzero(band[order][1:] == band[order][:-1]) + 1
            for at in same.tolist():
                leader = order[at - 1]
                self._compare(self._root(int(leader)), int(order[at]))

    def _root(self, record: int) -> int:
        while record in self._first:
            record = self._first[record]
        return record

    def _compare(self, one: int, other: int) -> None:
        if self._root(other) == one or (one, other) in self._tried:
            return
        if len(self._tried) == _MOST_PAIRS:
            self.is_cut = True
            return
        self._tried.add((one, other))
        (split, name, record), (other_split, other_name, other_record) = map(self._records.at, (one, other))
        score = self._score(record, other_record)
        if score >= self._near:
            earlier, later = sorted((one, self._root(other)))
            self._first[later] = earlier
            if len(self.pairs) < _LISTED or split != other_split:
                self.pairs.append(Duplicate(split, name, other_split, other_name, score))

    def counted(self) -> tuple[int, int]:
        """Return how many records are like an earlier one, and how many are like one of another split."""
        groups: dict[int, Counter[str]] = {}
        for record in self._first:
            root = self._root(record)
            for each in (record, root) if root not in groups else (record,):
                groups.setdefault(root, Counter())[self._records.at(each)[0]] += 1
        leaks = sum(sum(group.values()) for group in groups.values() if len(group) > 1)
        return len(self._first), leaks


# -- the sheet ---------------------------------------------------------------------------------------------


def overlap_sheet(found: Overlap) -> Sheet:
    """Return what was found, for people."""
    read = f" and {count(found.texts, 'text')} of {count(found.words, 'word')}" if found.texts else ""
    share = f"{score_text(found.contaminated / found.records)} of the records"
    blocks: list[Block] = []
    if found.texts:
        blocks.append(Figures([Figure("contaminated", count(found.contaminated), share)]))
    blocks += [
        Figures(
            [
                Figure("near duplicates", count(found.duplicates), "records like an earlier one"),
                Figure("leaks", count(found.leaks), "records like one of another split"),
            ]
        ),
        Heading("Records that stand in the texts") if found.texts else Said(""),
        Said("None does, beyond what chance explains." if found.texts and not found.contaminated else ""),
        Rows(
            [
                Column("record"),
                Column("rare values found"),
                Column("in one text"),
                Column("by chance"),
                Column("text", text=True),
                Column("such as", text=True),
            ],
            [
                [
                    f"{each.split}: {each.id}",
                    f"{each.found} of {each.values}",
                    "all" if each.is_whole else count(each.in_text),
                    f"{each.p:.1g}",
                    each.text,
                    "; ".join(each.fields),
                ]
                for each in found.worst
            ],
            noun="record",
        ),
        Heading("Rare values by field") if found.texts else Said(""),
        Rows(
            [Column("field"), *map(Column, ("values", "found", "share", "by chance, up to"))],
            [
                [
                    path,
                    *map(count, (each.values, each.found)),
                    score_text(each.found / each.values, 3),
                    _up_to(each),
                ]
                for path, each in found.fields.items()
                if found.texts
            ],
        ),
        Heading("Gold records that are nearly the same") if found.pairs else Said(""),
        Rows(
            [Column("record"), Column("like", text=True), Column("score")],
            [
                [f"{each.split}: {each.id}", f"{each.other_split}: {each.other_id}", score_text(each.score)]
                for each in found.pairs
            ],
            noun="pair",
        ),
    ]
    if found.is_cut:
        blocks.append(Said(f"Only {count(_MOST_PAIRS)} candidates for pairs were compared.", "open"))
    kept = [block for block in blocks if not isinstance(block, Said) or block.text]
    return Sheet("jsonmatch overlap", f"overlap of {count(found.records, 'gold record')}{read}", kept)
