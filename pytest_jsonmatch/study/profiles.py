"""What the records of one side are like, field by field, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
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
"""At most this many numbers, and as many lengths, are kept of a field."""
MOST_CLASSES: Final = 1_000
"""With more different values, or formats, a field is free text: it has no distribution to compare."""
_MOST_FIELDS: Final = 5_000
_LONGEST: Final = 80
"""Values and formats are distinguished by this many characters."""


@final
@dataclass(slots=True)
class FieldProfile:
    """What a field is like.

    All but `places` is about one place in each record: one taken at random if arrays have many elements.
    """

    path: str = ""
    holder: str = ""
    """The path of the objects or arrays that it is in."""
    below: dict[Segment, FieldProfile] = field(default_factory=dict)
    """The fields directly below it."""
    places: int = 0
    """The number of its places in all records."""
    objects: int = 0
    """How many objects are here."""
    present: int = 0
    """In how many objects of its holder it is a member."""
    shares: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How often each class occurred, by the kind of classes: "null", "type", "value" of strings and booleans,
    "format" of strings: digits as 9, letters as A and a, runs of letters as one. If there are more than
    `MOST_CLASSES`, not all of them are counted."""
    samples: defaultdict[str, Sample[float]] = field(
        default_factory=lambda: defaultdict(lambda: Sample(_RESERVOIR, array("d")))
    )
    """Samples of each "number", and each "length": of strings in characters, of arrays in elements."""

    def add(self, value: JsonValue) -> None:
        """Add a value."""
        kind = json_type(value)
        self.shares["null"].update(null=kind == "null", other=kind != "null")
        if kind != "null":
            self._count("type", kind)
        if kind == "number":
            self.samples["number"].add(_as_double(value))
        elif kind == "boolean":
            self._count("value", "true" if value else "false")
        elif kind == "string":
            self._count("value", value)
            self._count("format", format_of(value[:_LONGEST]))
        if kind in {"string", "array"}:
            self.samples["length"].add(len(value))

    def _count(self, kind: str, name: str) -> None:
        classes = self.shares[kind]
        if len(classes) <= MOST_CLASSES:
            classes[name[:_LONGEST]] += 1


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
    """What the records of one side are like; `add` takes them one by one."""

    def __init__(self) -> None:
        self.records = 0
        self.fields = {"": FieldProfile()}
        """By path; the records themselves have an empty one."""
        self.left_out = 0
        """Places of fields beyond the first 5,000."""
        self._random = Random(0)  # noqa: S311 - takes samples, and guards nothing

    def add(self, record: JsonValue) -> None:
        """Add a record."""
        self.records += 1
        # An explicit stack: a record may be deeper than Python's.
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
