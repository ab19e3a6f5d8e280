"""Rows compared by equality, side by side with the row matcher of run-llama/ExtractBench.

    python benchmarks/rows.py FOLDER

FOLDER is a checkout of that repository, which is not part of this project. The interpreter needs this
package and what their metric imports: autoevals, python-dateutil, pydantic, rapidfuzz, scipy. Both sides of
an array are shuffled flat objects; a share of the rows has one or two changed members. Both programs pair
the rows and count the members that match. They run in turns; the figures are the least CPU seconds of each.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tables

from pytest_jsonmatch import compare_json

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (100, 300, 1_000, 3_000)
SHARES = {"5 % of rows changed": 0.05, "50 % of rows changed": 0.5, "95 % of rows changed": 0.95}
TURNS = 5

_CITIES = ["Paris", "Lyon", "Nice", "Lille", "Brest", "Metz"]
_STATES = ["open", "paid", "late", None]


def _row(rng: random.Random) -> dict[str, Any]:
    return {
        "id": rng.randrange(100_000),
        "name": f"{rng.choice('ABCDEFGH')}. {rng.choice('KLMNOPQRST')}{rng.randrange(400)}",
        "city": rng.choice(_CITIES),
        "state": rng.choice(_STATES),
        "amount": round(rng.uniform(1, 500), 2),
        "count": rng.randrange(12),
    }


def _changed(rng: random.Random, row: dict[str, Any]) -> dict[str, Any]:
    other = _row(rng)
    return row | {key: other[key] for key in rng.sample(sorted(row), rng.randint(1, 2))}


def sides(size: int, share: float) -> tuple[Any, Any]:
    """Return expected and actual, as read from JSON text."""
    rng = random.Random(size)
    expected = [_row(rng) for _ in range(size)]
    actual = [_changed(rng, row) if rng.random() < share else row for row in expected]
    rng.shuffle(actual)
    return json.loads(json.dumps({"rows": expected})), json.loads(json.dumps({"rows": actual}))


def _least(functions: list[Callable[[], int]]) -> tuple[list[float], list[int]]:
    """Return the least CPU seconds of each function, called in turns, and what each returned."""
    seconds, counts = [float("inf")] * len(functions), [0] * len(functions)
    for _ in range(TURNS):
        for index, function in enumerate(functions):
            start = time.process_time()
            counts[index] = function()
            seconds[index] = min(seconds[index], time.process_time() - start)
    return seconds, counts


def main() -> None:
    """Print a table: seconds of both, their ratio, and how many members each found right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a checkout of run-llama/ExtractBench")
    folder = parser.parse_args().folder
    if not (folder / "src" / "extract_bench").is_dir():
        raise SystemExit(
            f"{folder}: there is no src/extract_bench; give a checkout of run-llama/ExtractBench"
        )
    sys.path.insert(0, str(folder / "src"))
    from extract_bench.evaluation.metrics.extract.array_record_match_metric import (
        compute_array_record_match_counts,
    )

    rows = []
    for title, share in SHARES.items():
        for size in SIZES:
            expected, actual = sides(size, share)

            def ours(expected: Any = expected, actual: Any = actual) -> int:
                result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", compare="exact")
                return int(result.matched_leaves)

            def theirs(expected: Any = expected, actual: Any = actual) -> int:
                found = compute_array_record_match_counts(expected, actual, normalize_dates=False)
                return int(found.correct)

            (our_time, their_time), (our_count, their_count) = _least([ours, theirs])
            rows.append(
                [
                    title,
                    str(size),
                    tables.seconds(our_time),
                    tables.seconds(their_time),
                    tables.ratio(our_time / their_time),
                    f"{our_count:,}",
                    f"{their_count:,}",
                ]
            )
    print(
        tables.render(["rows", "N", "ours, s", "ExtractBench, s", "ratio", "matches", "their matches"], rows)
    )


if __name__ == "__main__":
    main()
