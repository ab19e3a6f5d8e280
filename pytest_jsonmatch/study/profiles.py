"""What the records of one side are like, field by field, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from sys import float_info
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.paths import ELEMENT, Segment, format_path
from pytest_jsonmatch.study.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.engine.value.convert import JsonValue

_RESERVOIR: Final = 10_000
"""So many numbers, and so many lengths, are kept of a field."""
_MOST_KINDS: Final = 1_000
"""Of more different values, or formats, there is no distribution to compare: it is free text."""
_MOST_FIELDS: Final = 5_000
_LONGEST: Final = 80
"""Values and formats are told apart by so many characters."""


def _reservoir() -> Sample[float]:
    return Sample(_RESERVOIR, array("d"))


def _counted(kinds: Counter[str] | None, value: str) -> Counter[str] | None:
    """Return how often each of some values came, with one more; None once there are too many of them."""
    if kinds is None:
        return None
    kinds[value[:_LONGEST]] += 1
    return kinds if len(kinds) <= _MOST_KINDS else None


@final
@dataclass(slots=True)
class FieldProfile:
    """What a field is like.

    All but `places` is of one place in each record: where arrays have many elements, of one taken at random.
    """

    path: str = ""
    holder: str = ""
    """The path of the objects or arrays that it stands in."""
    below: dict[Segment, FieldProfile] = field(default_factory=dict)
    """The fields of these."""
    places: int = 0
    """At how many places of all records it stands."""
    objects: int = 0
    """How many objects stand here."""
    present: int = 0
    """In how many objects of its holder it is a member."""
    types: Counter[str] = field(default_factory=Counter)
    values: Counter[str] | None = field(default_factory=Counter)
    """Of strings and booleans; None if there are too many to be compared, as for `formats`."""
    formats: Counter[str] | None = field(default_factory=Counter)
    """Of strings: digits as 9, letters as A and a, runs of letters as one."""
    numbers: Sample[float] = field(default_factory=_reservoir)
    lengths: Sample[float] = field(default_factory=_reservoir)
    """Of strings in characters, of arrays in elements."""

    def add(self, value: JsonValue) -> None:
        """Let a value come."""
        kind = json_type(value)
        self.types[kind] += 1
        if kind == "number":
            self.numbers.add(_as_double(value))
        elif kind == "boolean":
            self.values = _counted(self.values, "true" if value else "false")
        elif type(value) is str:
            self.values = _counted(self.values, value)
            self.formats = _counted(self.formats, format_of(value[:_LONGEST]))
            self.lengths.add(len(value))
        elif type(value) is list:
            self.lengths.add(len(value))


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max


def format_of(text: str) -> str:
    """Return the pattern of digits and letters in a text.

    >>> format_of("2024-01-31"), format_of("31 Jan 2024"), format_of("DE-0042b")
    ('9999-99-99', '99 Aa 9999', 'A-9999a')
    """
    signs = ("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)
    return "".join("".join(run) if sign == "9" else sign for sign, run in groupby(signs))


@final
class Profile:
    """What the records of one side are like; `add` lets them come one by one."""

    def __init__(self) -> None:
        self.records = 0
        self.fields = {"": FieldProfile()}
        """By path; the records themselves have an empty one."""
        self.left_out = 0
        """Places of fields beyond the first 5,000."""
        self._random = Random(0)  # noqa: S311 - takes samples, and guards nothing

    def add(self, record: JsonValue) -> None:
        """Let a record come."""
        self.records += 1
        # (An own stack: a record may be deeper than Python's.)
        waiting: list[tuple[JsonValue, FieldProfile, bool]] = [(record, self.fields[""], True)]
        while waiting:
            value, found, is_sample = waiting.pop()
            found.places += 1
            if is_sample:
                found.add(value)
            inside: Iterable[tuple[Segment, JsonValue, bool]] = ()
            if type(value) is dict:
                found.objects += is_sample
                inside = ((key, each, is_sample) for key, each in value.items())
            elif type(value) is list and value:
                # Elements of one array are not independent: one of them stands for all.
                taken = self._random.randrange(len(value)) if is_sample else -1
                inside = ((ELEMENT, each, at == taken) for at, each in enumerate(value))
            for segment, each, is_taken in inside:
                below = self._below(found, segment)
                if below is None:
                    self.left_out += 1
                    continue
                below.present += is_taken and segment is not ELEMENT
                waiting.append((each, below, is_taken))

    def _below(self, holder: FieldProfile, segment: Segment) -> FieldProfile | None:
        found = holder.below.get(segment)
        if found is None and len(self.fields) < _MOST_FIELDS:
            step = format_path((segment,))
            dot = "." if holder.path and not step.startswith("[") else ""
            path = f"{holder.path}{dot}{step}"
            found = holder.below[segment] = self.fields[path] = FieldProfile(path, holder.path)
        return found
