"""The workloads W1 to W6: seeded generators of (expected, actual) pairs, standard library only.

Every peer generates its own data from the same seed, so that nothing has to be sent between
processes, and the file therefore imports nothing but the standard library.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Json: TypeAlias = Any  # a recursive alias would make every step a cast
Pair: TypeAlias = tuple[Json, Json]
Shape: TypeAlias = str | dict[str, "Shape"] | list["Shape"]
"""How the data of a workload look: a scalar kind, an object of members, or an array of one element."""

SAME = {"default": 0.45, "hard": 0.05, "default, few values": 0.45, "hard, few values": 0.05}
"""Share of elements (records in W1) that stay as they are, by noise."""

FEW_VALUES = frozenset({"default, few values", "hard, few values"})
"""Noises of data as real ones are: small vocabularies, nulls, missing and extra keys."""

_SYLLABLES = [
    "ba",
    "be",
    "bi",
    "bo",
    "da",
    "de",
    "di",
    "do",
    "fa",
    "fe",
    "fi",
    "ga",
    "go",
    "ka",
    "ke",
    "ki",
    "ko",
    "la",
    "le",
    "li",
    "lo",
    "ma",
    "me",
    "mi",
    "mo",
    "na",
    "ne",
    "ni",
    "no",
    "ra",
    "re",
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MAX_DRIFT = 0.08
_DROP_KEY, _EXTRA_KEY, _TOUCH_FIELD = 0.03, 0.01, 0.3
_DROP_ELEMENT = 0.02
_FEW_DROP_KEY, _FEW_EXTRA_KEY = 0.1, 0.02
_NULL, _MISSING_KEY = 0.07, 0.05


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload: what it is, its sizes, the shape of a record, and the generator of its pairs."""

    name: str
    title: str
    unit: str
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    shape: Shape
    make: Callable[[random.Random, int, str], list[Pair]]
    noises: tuple[str, ...] = ("default", "hard")
    warm_size: int = 30

    def pairs(self, size: int, noise: str) -> list[Pair]:
        """Return the (expected, actual) pairs of this size and noise; the same ones in every process.

        Both sides go through JSON text, as in real life: values that are equal are not the same
        objects, so that no peer gains by identity.
        """
        pairs = self.make(random.Random(f"{self.name}/{size}/{noise}"), size, noise)
        return [
            (json.loads(json.dumps(expected)), json.loads(json.dumps(actual))) for expected, actual in pairs
        ]


def count_leaves(value: Json) -> int:
    """Return the number of scalars in a JSON value of any depth."""
    stack, leaves = [value], 0
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        else:
            leaves += 1
    return leaves


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4)))


def _words(rng: random.Random, low: int, high: int) -> str:
    return " ".join(_word(rng) for _ in range(rng.randint(low, high)))


def _code(rng: random.Random) -> str:
    return f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNPQ')}-{rng.randint(0, 999999):06d}"


def _date(rng: random.Random) -> str:
    return f"20{rng.randint(10, 29)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


SCALARS: dict[str, Callable[[random.Random], Json]] = {
    "word": _word,
    "name": lambda rng: _words(rng, 2, 3).title(),
    "text": lambda rng: _words(rng, 4, 9),
    "code": _code,
    "date": _date,
    "integer": lambda rng: rng.randint(1, 5000),
    "number": lambda rng: round(rng.uniform(0.5, 900.0), 2),
    "boolean": lambda rng: rng.random() < 0.5,
}
"""Scalar kinds of a shape, each with its generator."""

_FEW_WORDS = [one + other for one in _SYLLABLES[:6] for other in _SYLLABLES[10:14]]

FEW_SCALARS: dict[str, Callable[[random.Random], Json]] = {
    "word": lambda rng: rng.choice(_FEW_WORDS),
    "name": lambda rng: " ".join(rng.choices(_FEW_WORDS[:12], k=2)).title(),
    "text": lambda rng: " ".join(rng.choices(_FEW_WORDS, k=rng.randint(3, 6))),
    "code": lambda rng: f"{rng.choice('AB')}K-{rng.randint(0, 199):06d}",
    "date": lambda rng: f"2026-{rng.randint(1, 3):02d}-{rng.randint(1, 28):02d}",
    "integer": lambda rng: rng.randint(1, 12),
    "number": lambda rng: rng.randint(1, 80) / 4,
    "boolean": lambda rng: rng.random() < 0.5,
}
"""The same where there are few values."""


def _scalar(rng: random.Random, kind: str, noise: str) -> Json:
    if noise not in FEW_VALUES:
        return SCALARS[kind](rng)
    return None if rng.random() < _NULL else FEW_SCALARS[kind](rng)


def _typo(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(text))
        letter = rng.choice(_LETTERS)
        text = rng.choice(
            (
                text[:at] + letter + text[at + 1 :],
                text[:at] + letter + text[at:],
                text[:at] + text[at + 1 :] or letter,
            )
        )
    return text


def _perturb_scalar(rng: random.Random, value: Json, noise: str) -> Json:
    if noise in FEW_VALUES:
        return _other_scalar(rng, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 1, 2, 10))
    if isinstance(value, float):
        return round(value * (1 + rng.uniform(-_MAX_DRIFT, _MAX_DRIFT)), 2)
    return _typo(rng, str(value))


def _other_scalar(rng: random.Random, value: Json) -> Json:
    """Return null, or a value of the same small vocabulary: one word of several is another."""
    if value is not None and rng.random() < 4 * _NULL:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return FEW_SCALARS["integer" if isinstance(value, int) else "number"](rng)
    words = str(value or "").split() or [""]
    words[rng.randrange(len(words))] = rng.choice(_FEW_WORDS)
    return " ".join(words)


def _perturb_members(rng: random.Random, record: dict[str, Json], noise: str) -> dict[str, Json]:
    """Return a copy with typos, drifted numbers, missing and extra keys; nested containers are kept."""
    few = noise in FEW_VALUES
    drop, extra = (_FEW_DROP_KEY, _FEW_EXTRA_KEY) if few else (_DROP_KEY, _EXTRA_KEY)
    scalars = [key for key, value in record.items() if not isinstance(value, (dict, list))]
    touched = {key for key in scalars if rng.random() < _TOUCH_FIELD}
    if scalars and not touched:
        touched.add(rng.choice(scalars))
    changed: dict[str, Json] = {}
    for key, value in record.items():
        if key in touched:
            if rng.random() < drop / _TOUCH_FIELD:
                continue
            changed[key] = _perturb_scalar(rng, value, noise)
        else:
            changed[key] = value
    if rng.random() < extra * len(record):
        changed[f"extra_{rng.choice(_FEW_WORDS[:3]) if few else _word(rng)}"] = _scalar(rng, "word", noise)
    return changed


def _build(rng: random.Random, shape: Shape, noise: str) -> dict[str, Json]:
    if not isinstance(shape, dict):
        message = "only objects are built here; arrays have their own generators"
        raise TypeError(message)
    return {
        key: _scalar(rng, part, noise) if isinstance(part, str) else _build(rng, part, noise)
        for key, part in shape.items()
        if not isinstance(part, list) and not (noise in FEW_VALUES and rng.random() < _MISSING_KEY)
    }


def example(shape: Shape) -> Json:
    """Return one value of a shape that has everything: all members, and one element in each array."""
    if isinstance(shape, str):
        return SCALARS[shape](random.Random(shape))
    if isinstance(shape, list):
        return [example(shape[0])]
    return {key: example(part) for key, part in shape.items()}


def _perturb_elements(
    rng: random.Random, elements: list[Json], fresh: Callable[[], Json], noise: str
) -> list[Json]:
    """Return the elements shuffled, some dropped or invented, all but a share of them perturbed."""
    changed: list[Json] = []
    for element in elements:
        if rng.random() < _DROP_ELEMENT:
            changed.append(fresh())
        elif rng.random() < SAME[noise]:
            changed.append(element)
        elif isinstance(element, dict):
            changed.append(_perturb_members(rng, element, noise))
        else:
            changed.append(_perturb_scalar(rng, element, noise))
    rng.shuffle(changed)
    return changed


FLAT: Shape = {
    "id": "code",
    "name": "name",
    "email": "word",
    "city": "word",
    "street": "name",
    "country": "word",
    "born": "date",
    "joined": "date",
    "age": "integer",
    "visits": "integer",
    "rank": "integer",
    "balance": "number",
    "height": "number",
    "rate": "number",
    "active": "boolean",
    "verified": "boolean",
    "comment": "text",
    "summary": "text",
    "team": "word",
    "language": "word",
}
ITEM: Shape = {
    "sku": "code",
    "description": "text",
    "quantity": "integer",
    "unit_price": "number",
    "amount": "number",
    "taxable": "boolean",
}
INVOICE: Shape = {
    "number": "code",
    "issued": "date",
    "due": "date",
    "currency": "word",
    "total": "number",
    "paid": "boolean",
    "vendor": {"name": "name", "street": "name", "tax_id": "code"},
    "items": [ITEM],
}
OBJECT: Shape = {
    "name": "name",
    "code": "code",
    "quantity": "integer",
    "price": "number",
    "active": "boolean",
    "note": "text",
}
LINE: Shape = {"sku": "code", "name": "name", "price": "number", "tags": ["word"]}
ORDER: Shape = {"id": "code", "customer": "name", "items": [LINE]}
_FEWEST_FIELDS = 10
_FEWEST_LINES, _MOST_LINES = 5, 50
_LINES_OF_ORDER, _TAGS_OF_LINE = 20, 10


def _flat_records(rng: random.Random, size: int, noise: str) -> list[Pair]:
    if not isinstance(FLAT, dict):
        raise TypeError
    pairs: list[Pair] = []
    for _ in range(size):
        keys = set(rng.sample(sorted(FLAT), k=rng.randint(_FEWEST_FIELDS, len(FLAT))))
        expected = _build(rng, {key: part for key, part in FLAT.items() if key in keys}, noise)
        same = rng.random() < SAME[noise]
        pairs.append((expected, dict(expected) if same else _perturb_members(rng, expected, noise)))
    return pairs


def _invoices(rng: random.Random, size: int, noise: str) -> list[Pair]:
    pairs: list[Pair] = []
    for _ in range(size):
        expected = _build(rng, INVOICE, noise)
        lines: list[Json] = [_build(rng, ITEM, noise) for _ in range(rng.randint(_FEWEST_LINES, _MOST_LINES))]
        actual = dict(expected) if rng.random() < SAME[noise] else _perturb_members(rng, expected, noise)
        expected["items"] = lines
        actual["items"] = _perturb_elements(rng, lines, lambda: _build(rng, ITEM, noise), noise)
        pairs.append((expected, actual))
    return pairs


def _objects(rng: random.Random, size: int, noise: str) -> list[Pair]:
    elements: list[Json] = [_build(rng, OBJECT, noise) for _ in range(size)]
    return [
        (
            {"items": elements},
            {"items": _perturb_elements(rng, elements, lambda: _build(rng, OBJECT, noise), noise)},
        )
    ]


def _strings(rng: random.Random, size: int, noise: str) -> list[Pair]:
    elements: list[Json] = [_words(rng, 2, 4) for _ in range(size)]
    return [
        (
            {"items": elements},
            {"items": _perturb_elements(rng, elements, lambda: _words(rng, 2, 4), noise)},
        )
    ]


def _wide(rng: random.Random, size: int, noise: str) -> list[Pair]:
    kinds = ("word", "integer", "number", "boolean", "name")
    expected = {f"field_{index}": SCALARS[kinds[index % len(kinds)]](rng) for index in range(size)}
    same = SAME[noise]
    return [
        (
            expected,
            {
                key: value if rng.random() < same else _perturb_scalar(rng, value, noise)
                for key, value in expected.items()
            },
        )
    ]


def _orders(rng: random.Random, size: int, noise: str) -> list[Pair]:
    same = SAME[noise]

    def line() -> dict[str, Json]:
        return {**_build(rng, LINE, noise), "tags": [tag() for _ in range(_TAGS_OF_LINE)]}

    def tag() -> Json:
        return _scalar(rng, "word", noise)

    def order() -> dict[str, Json]:
        return {**_build(rng, ORDER, noise), "items": [line() for _ in range(_LINES_OF_ORDER)]}

    def changed(record: dict[str, Json], inner: str, fresh: Callable[[], Json]) -> dict[str, Json]:
        copy = dict(record) if rng.random() < same else _perturb_members(rng, record, noise)
        below = record[inner]
        if not isinstance(below, list):
            raise TypeError
        parts = [changed(part, "tags", tag) if isinstance(part, dict) else part for part in below]
        if inner == "tags":
            parts = [part if rng.random() < same else _perturb_scalar(rng, part, noise) for part in parts]
        elif rng.random() < _DROP_ELEMENT:
            parts[0] = fresh()
        rng.shuffle(parts)
        copy[inner] = parts
        return copy

    expected: list[Json] = []
    actual: list[Json] = []
    for _ in range(size):
        record = order()
        expected.append(record)
        actual.append(order() if rng.random() < _DROP_ELEMENT else changed(record, "items", line))
    rng.shuffle(actual)
    return [({"orders": expected}, {"orders": actual})]


WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(
            "W1",
            "flat records, 10 to 20 mixed fields",
            "records",
            (10_000,),
            (2_000,),
            FLAT,
            _flat_records,
            noises=tuple(SAME),
            warm_size=3,
        ),
        Workload(
            "W2",
            "invoices, 5 to 50 shuffled line items",
            "invoices",
            (1_000,),
            (100,),
            INVOICE,
            _invoices,
            noises=tuple(SAME),
            warm_size=2,
        ),
        Workload(
            "W3",
            "one array of objects with 6 fields, shuffled",
            "objects",
            (50, 200, 1_000, 2_000),
            (50, 200),
            {"items": [OBJECT]},
            _objects,
            noises=tuple(SAME),
        ),
        Workload(
            "W4",
            "one array of strings, shuffled",
            "strings",
            (200, 1_000, 2_000),
            (50, 200),
            {"items": ["word"]},
            _strings,
        ),
        Workload(
            "W5", "one object with many members", "leaves", (10_000, 100_000), (2_000, 10_000), {}, _wide
        ),
        Workload(
            "W6",
            "orders with 20 items with 10 tags, all shuffled",
            "orders",
            (10, 50),
            (5, 10),
            {"orders": [ORDER]},
            _orders,
            noises=tuple(SAME),
            warm_size=1,
        ),
    )
}
"""All workloads by name."""
