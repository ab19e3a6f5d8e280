"""Unordered arrays of many kinds, to find those that are slower than others of their shape.

Each kind is measured under several metrics in a process of its own: CPU seconds, and their ratio to one
assignment (scipy's) of a random matrix with as many rows and columns in the same process. After a size that
takes too long, larger ones are not tried.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tables
from environments import HERE, OURS, python_of
from worker import grown_mb, limit_memory, start_watching_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from environments import Interpreter

Json = Any
Sides = tuple[list[Json], list[Json]]

METRICS: dict[str, dict[str, object]] = {
    "pairwise_f1": {},
    "json_similarity": {"arrays": "unordered"},
    "leaf_f1": {"arrays": "unordered"},
}
SIZES, QUICK_SIZES = (200, 1_000, 3_000), (200,)
SECONDS = 60.0
"""A process that takes longer is ended."""

_COLORS = ["red", "blue", "green", "old", "new", "big", "small", "hot", "cold", "dry", "wet", "raw"]
_THINGS = ["apple", "car", "tree", "lamp", "road", "door", "box", "cup", "hat", "coin", "ring", "bird"]
_NAMES = [f"{color} {thing}" for color in _COLORS for thing in _THINGS]
_KINDS = ["food", "toys", "books", "tools", "garden"]
_CURRENCIES = ["USD", "EUR", "GBP", "JPY"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of array: what its elements are, and the generator of both sides."""

    name: str
    make: Callable[[random.Random, int], Sides]
    options: dict[str, object] | None = None


def _shuffled(rng: random.Random, elements: list[Json]) -> list[Json]:
    return rng.sample(elements, len(elements))


def _both(make: Callable[[random.Random], Json]) -> Callable[[random.Random, int], Sides]:
    """Return a generator of two sides that have nothing to do with each other."""
    return lambda rng, size: ([make(rng) for _ in range(size)], [make(rng) for _ in range(size)])


def _changed(
    make: Callable[[random.Random], Json], change: Callable[[random.Random, Json], Json], share: float
) -> Callable[[random.Random, int], Sides]:
    """Return a generator of elements and of the same, shuffled, a share of them changed."""

    def sides(rng: random.Random, size: int) -> Sides:
        expected = [make(rng) for _ in range(size)]
        actual = [change(rng, each) if rng.random() < share else each for each in expected]
        return expected, _shuffled(rng, actual)

    return sides


# Flat elements -----------------------------------------------------------------------------------


def _item(rng: random.Random) -> Json:
    return {
        "category": rng.choice(_KINDS),
        "currency": rng.choice(_CURRENCIES),
        "status": rng.choice(["open", "paid", "void"]),
        "flag": rng.random() < 0.5,
        "quantity": rng.randrange(1, 20),
        "price": round(rng.random() * 100, 2),
    }


def _one_field_wrong(rng: random.Random, record: Json) -> Json:
    return {**record, rng.choice(list(record)): rng.choice(["other", None, 7])}


def _sparse_item(rng: random.Random) -> Json:
    record = {key: None if rng.random() < 0.15 else value for key, value in _item(rng).items()}
    return {key: value for key, value in record.items() if rng.random() < 0.85}


def _member_gone_or_new(rng: random.Random, record: Json) -> Json:
    kept = {key: value for key, value in record.items() if rng.random() < 0.8}
    return {**kept, rng.choice(["page", "remark", *record]): rng.choice([None, "other", 3])}


def _ids_wrong(rng: random.Random, size: int) -> Sides:
    same = {"type": "invoice", "country": "DE", "currency": "EUR"}
    expected = [{**same, "id": number} for number in range(size)]
    return expected, _shuffled(rng, [{**same, "id": number + size} for number in range(size)])


def _all_equal(_rng: random.Random, size: int) -> Sides:
    return [{"a": "x y", "b": 1, "c": "k"}] * size, [{"a": "x z", "b": 1, "c": "j"}] * size


def _flags(rng: random.Random) -> Json:
    return {key: rng.random() < 0.5 for key in "abcdefghij"}


def _own_members(rng: random.Random) -> Json:
    return {"kind": rng.choice(_KINDS), **{f"k{rng.randrange(10**6)}": rng.randrange(9) for _ in range(5)}}


def _many_members(rng: random.Random) -> Json:
    return {f"k{number}": rng.choice(_KINDS + _CURRENCIES) for number in range(30)}


def _close_numbers(_rng: random.Random, size: int) -> Sides:
    return [1 + at * 1e-9 for at in range(size)], [1 + at * 1e-9 + 5e-10 for at in range(size)]


def _one_word_alike(rng: random.Random, size: int) -> Sides:
    expected, actual = (
        [f"item {number + first} {rng.choice(_KINDS)}" for number in range(size)] for first in (0, size)
    )
    return expected, actual


def _anything(rng: random.Random) -> Json:
    choice = rng.randrange(8)
    return [
        None,
        rng.random() < 0.5,
        rng.randrange(10),
        round(rng.random(), 3),
        rng.choice(_NAMES),
        {"a": rng.choice(_KINDS), "n": rng.randrange(5)},
        [rng.choice(_KINDS) for _ in range(3)],
        {},
    ][choice]


def _random_words(rng: random.Random) -> Json:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {key: "".join(rng.choices(letters, k=8)) for key in ("name", "code", "note")}


# Elements with arrays inside ---------------------------------------------------------------------


def _tags(rng: random.Random, number: int) -> list[Json]:
    return [rng.choice(_NAMES) for _ in range(number)]


def _tagged(rng: random.Random) -> Json:
    return {"name": rng.choice(_NAMES), "category": rng.choice(_KINDS), "tags": _tags(rng, 5)}


def _tags_changed(rng: random.Random, record: Json) -> Json:
    return {**record, "tags": [rng.choice(_NAMES) if rng.random() < 0.4 else tag for tag in record["tags"]]}


def _label(rng: random.Random) -> Json:
    return None if rng.random() < 0.02 else f"{rng.choice(_COLORS)}{rng.randrange(10**6)}"


def _labelled(rng: random.Random) -> Json:
    return {"name": rng.choice(_NAMES), "labels": [_label(rng) for _ in range(5)]}


def _labels_changed(rng: random.Random, record: Json) -> Json:
    return {**record, "labels": [_label(rng) if rng.random() < 0.4 else own for own in record["labels"]]}


def _line(rng: random.Random) -> Json:
    return {"sku": rng.choice(_NAMES), "quantity": rng.randrange(1, 4), "tags": _tags(rng, 10)}


def _order(rng: random.Random) -> Json:
    lines = [_line(rng) for _ in range(20)]
    return {"customer": rng.choice(_NAMES), "currency": rng.choice(_CURRENCIES), "items": lines}


def _order_changed(rng: random.Random, order: Json) -> Json:
    lines = []
    for line in order["items"]:
        tags = [rng.choice(_NAMES) if rng.random() < 0.2 else tag for tag in line["tags"]]
        quantity = rng.randrange(1, 4) if rng.random() < 0.3 else line["quantity"]
        lines.append({**line, "quantity": quantity, "tags": _shuffled(rng, tags)})
    return {**order, "items": _shuffled(rng, lines)}


def _receipt(rng: random.Random) -> Json:
    """An order in which much may be missing, at every level."""
    lines = [{**_sparse_item(rng), "tags": _tags(rng, rng.randrange(3))} for _ in range(rng.randrange(1, 6))]
    order = {"number": rng.randrange(10**6), "lines": lines, "buyer": _sparse_item(rng)}
    return {key: value for key, value in order.items() if rng.random() < 0.9}


def _receipt_changed(rng: random.Random, order: Json) -> Json:
    lines = [_member_gone_or_new(rng, line) for line in order.get("lines", [])]
    return {**order, "lines": _shuffled(rng, lines)}


def _by_lines(
    sides: Callable[[random.Random, int], Sides], lines: int
) -> Callable[[random.Random, int], Sides]:
    """Return a generator whose size counts the lines inside of its elements."""
    return lambda rng, size: sides(rng, max(2, size // lines))


def _three_levels(rng: random.Random) -> Json:
    return [[rng.choice(_KINDS) for _ in range(5)] for _ in range(5)]


# Long texts --------------------------------------------------------------------------------------


def _text(rng: random.Random) -> Json:
    return " ".join(rng.choice(_NAMES) for _ in range(150))


def _text_changed(rng: random.Random, text: Json) -> Json:
    return " ".join(rng.choice(_COLORS) if rng.random() < 0.1 else word for word in text.split())


_BY_KEY: dict[str, object] = {"fields": {"[].lines": {"align": {"key": "price"}}}}
_OPTIONAL: dict[str, object] = {
    "accept": {"[].lines[].status": {"optional": True}, "[].buyer": {"optional": True}}
}
_EDITS: dict[str, object] = {"compare": {"string": "levenshtein"}}

GROUPS: dict[str, tuple[Kind, ...]] = {
    "flat elements": (
        Kind("random words", _changed(_random_words, _one_field_wrong, 0.5)),
        Kind("few values", _changed(_item, _one_field_wrong, 0.5)),
        Kind("nulls, missing and extra keys", _changed(_sparse_item, _member_gone_or_new, 0.9)),
        Kind("equal but for one field", _ids_wrong),
        Kind("all alike", _all_equal),
        Kind("ten booleans", _both(_flags)),
        Kind("thirty keys", _both(_many_members)),
        Kind("keys that are data", _changed(_own_members, _one_field_wrong, 0.9)),
        Kind("numbers within the tolerance", _close_numbers),
        Kind("strings with one word in common", _one_word_alike),
        Kind("values of all types", _both(_anything)),
    ),
    "arrays inside, sides related": (
        Kind("records with tags", _changed(_tagged, _tags_changed, 0.9)),
        Kind("records with tags of many words", _changed(_labelled, _labels_changed, 0.9)),
        Kind("orders, lines, tags", _by_lines(_changed(_order, _order_changed, 1.0), 20)),
        Kind("receipts, some empty", _by_lines(_changed(_receipt, _receipt_changed, 1.0), 3)),
        Kind("the same, lines by key", _by_lines(_changed(_receipt, _receipt_changed, 1.0), 3), _BY_KEY),
        Kind(
            "the same, optional members", _by_lines(_changed(_receipt, _receipt_changed, 1.0), 3), _OPTIONAL
        ),
    ),
    "arrays inside, sides unrelated": (
        Kind("arrays of integers", _both(lambda rng: [rng.randrange(20) for _ in range(10)])),
        Kind("arrays of tags", _both(lambda rng: _tags(rng, 10))),
        Kind("arrays of tags by edit distance", _both(lambda rng: _tags(rng, 10)), _EDITS),
        Kind("unrelated orders", _by_lines(_both(_order), 20)),
        Kind("arrays in arrays in arrays", _by_lines(_both(_three_levels), 25)),
    ),
    "long texts": (
        Kind("texts of 1.5 KB by edit distance", _changed(_text, _text_changed, 0.95), _EDITS),
        Kind("unrelated texts by edit distance", _both(_text), _EDITS),
    ),
}


def measure(name: str, size: int, metric: str) -> dict[str, object]:
    """Compare one array of a kind, and return what it took; in the environment of our own package."""
    # What importing these costs is measured apart.
    import numpy as np
    import rapidfuzz.process  # noqa: F401
    import scipy.sparse  # noqa: F401
    from scipy.optimize import linear_sum_assignment

    from pytest_jsonmatch import compare_json

    kind = next(kind for kinds in GROUPS.values() for kind in kinds if kind.name == name)
    options = {**METRICS[metric], **(kind.options or {})}
    expected, actual = kind.make(random.Random(3), 40)
    # What is imported on first use is no part of it.
    compare_json(actual, expected, metric=metric, **options).score  # noqa: B018
    # Equal values are not the same objects.
    expected, actual = json.loads(json.dumps(kind.make(random.Random(7), size)))
    before = start_watching_memory()
    start = time.process_time()
    result = compare_json(actual, expected, metric=metric, **options)
    score = result.score
    seconds = time.process_time() - start
    grown = grown_mb(before)
    matrix = np.random.default_rng(0).random((size, size))
    linear_sum_assignment(matrix[:9, :9])
    floor = min(_seconds(lambda: linear_sum_assignment(matrix, maximize=True)) for _ in range(3))
    return {"seconds": seconds, "ratio": seconds / floor, "score": score, "grown": grown}


def _seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def _measured(python: str, name: str, size: int, metric: str) -> dict[str, Any] | str:
    """Return what `measure` says in a process of its own, or why it says nothing."""
    command = [python, str(HERE / "cliffs.py"), name, str(size), metric]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        return f"> {SECONDS:.0f} s"
    if done.returncode:
        return next(iter(reversed(done.stderr.strip().splitlines())), f"exit status {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _row(kind: Kind, size: int, answer: dict[str, Any] | str) -> list[str]:
    if isinstance(answer, str):
        return [kind.name, f"{size:,}", "–", "–", "–", "–", answer]
    return [
        kind.name,
        f"{size:,}",
        tables.seconds(answer["seconds"]),
        tables.ratio(answer["ratio"]),
        tables.plain(answer["grown"], 1),
        tables.plain(answer["score"], 4),
        "",
    ]


def run(interpreter: Interpreter, quick: bool) -> None:
    """Print a table for each metric and group of kinds."""
    python = python_of(OURS, interpreter)
    header = ["elements", "size", "CPU time", "ratio to an assignment", "MB grown", "score", "note"]
    for metric in METRICS:
        for group, kinds in GROUPS.items():
            rows = []
            for kind in kinds:
                for size in QUICK_SIZES if quick else SIZES:
                    answer = _measured(python, kind.name, size, metric)
                    rows.append(_row(kind, size, answer))
                    if isinstance(answer, str):
                        break
            print(f"\n### C1 · unordered arrays, {group} · {metric}\n")
            print(tables.render(header, rows), flush=True)


if __name__ == "__main__":
    limit_memory()
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
