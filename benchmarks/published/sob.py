"""SOB, images: 34 models × 209 records of the Structured Output Benchmark, scored again.

    python benchmarks/published/sob.py FOLDER [--python PATH]

FOLDER is a checkout of github.com/JigsawStack/sob (MIT): it has the answers in data/images_responses, and the
figures of each record, by its own evaluate.py, in data/evaluation/image. With an interpreter that has the
package jsonschema, evaluate.py runs too, and both programs are timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from pytest_jsonmatch import (
    RecordResult,
    compare_corpus,
    compare_json,
    register_metric,
    register_transform,
)
from pytest_jsonmatch.schema import SchemaNode, parse_eval_schema

FIGURES = {
    "leaf_value_em": "exact leaves",
    "value_token_f1": "token F1",
    "hier_path_recall": "path recall",
    "path_set_f1": "path F1",
    "schema_compliance": "valid by schema",
    "strict_json_em": "perfect",
}
WEIGHTS, CONTAINERS = {"easy": 1, "medium": 2, "hard": 3}, (dict, list)

# Leaves are scalars, arrays have an order, and an empty container is no leaf. For token F1 each scalar but
# null is written as text; punctuation separates words, but for the underscore, which is a letter.
register_transform("as_words", lambda value: re.sub(r"[^\w\s]", " ", str(value)).replace("_", "\u02cd"))
register_metric("sob", {"base": "leaf_f1", "empties": "never"})
register_metric("sob_words", {"base": "sob", "transform": ["as_words"], "compare": "token_f1"})


@cache
def schema_of(written: str) -> SchemaNode:
    """Parse a schema once: all models answer the same questions."""
    return parse_eval_schema(json.loads(written))


def read(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def figures(record: dict[str, Any], exact: RecordResult, words: RecordResult) -> dict[str, float]:
    """Return the six figures of one record, as the benchmark defines them."""
    answer, gold = record["output"].get("candidate_response"), record["output"]["ground_truth"]
    if not isinstance(answer, CONTAINERS):
        return dict.fromkeys(FIGURES, 0.0)
    schema = schema_of(json.dumps(record["input"]["json_schema"]))
    valid = compare_json(answer, gold, schema=schema, validate="report").valid
    fields = exact.field_results
    both = sum(
        field.status in {"match", "mismatch"}
        and not isinstance(field.expected, CONTAINERS)
        and not isinstance(field.actual, CONTAINERS)
        for field in fields
    )
    expected = sum(field.expected_leaves for field in fields)
    actual = sum(field.actual_leaves for field in fields)
    path_f1 = 2 * both / (expected + actual)
    # An answer that the schema forbids has no credit; one without nine tenths of the paths has less.
    credit = min(1.0, (path_f1 / 0.9) ** 2) * bool(valid)
    return {
        "leaf_value_em": exact.recall * credit,
        "value_token_f1": words.recall * credit,
        "hier_path_recall": both / expected * bool(valid),
        "path_set_f1": path_f1 * bool(valid),
        "schema_compliance": float(bool(valid)),
        "strict_json_em": float(exact.f1 == 1.0 and answer == gold),
    }


def ours(answers: Path) -> list[dict[str, float]]:
    """Score the answers of one model."""
    records = read(answers)
    gold = [record["output"]["ground_truth"] for record in records]
    given = [record["output"].get("candidate_response") for record in records]
    exact = compare_corpus(given, gold, metric="sob")
    words = compare_corpus(given, gold, metric="sob_words")
    return [figures(*each) for each in zip(records, exact.records, words.records)]


def weighted(rows: list[dict[str, float]], records: list[dict[str, Any]], name: str) -> float:
    """Return the mean of a figure, by the difficulty of the records."""
    weights = [WEIGHTS[record["schema_complexity"]] for record in records]
    return math.fsum(w * row[name] for w, row in zip(weights, rows)) / sum(weights)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", help="an interpreter with the package jsonschema, to time evaluate.py")
    args = parser.parse_args()
    files = sorted((args.folder / "data/images_responses").glob("*.jsonl"))
    if not files:
        sys.exit(f"{args.folder}: no data/images_responses/*.jsonl; FOLDER is a checkout of JigsawStack/sob")
    started = time.process_time()
    mine = {path.stem.removeprefix("response_").removesuffix("_image"): ours(path) for path in files}
    spent = time.process_time() - started
    apart: dict[str, list[float]] = defaultdict(list)
    print("| model, by its weighted mean of exact leaves | theirs | ours | difference |\n|---|---|---|---|")
    lines = []
    for model, rows in mine.items():
        theirs = read(args.folder / "data/evaluation/image" / model / "eval_records.jsonl")
        for name in FIGURES:
            apart[name] += [row[name] - their[name] for row, their in zip(rows, theirs, strict=True)]
        means = [weighted(each, theirs, "leaf_value_em") for each in (theirs, rows)]
        lines.append((*means, model))
    for their_mean, our_mean, model in sorted(lines, reverse=True):
        print(f"| {model} | {their_mean:.4f} | {our_mean:.4f} | {our_mean - their_mean:+.4f} |")
    print("\n| figure | records | equal | others: mean difference |\n|---|---|---|---|")
    for name, differences in apart.items():
        others = [each for each in differences if abs(each) > 1e-9]
        mean = f"{len(others)}: {math.fsum(others) / len(others):+.4f}" if others else "–"
        print(f"| {FIGURES[name]} | {len(differences):,} | {len(differences) - len(others):,} | {mean} |")
    print(f"\nours: {spent:.1f} s of CPU", end="")
    if args.python:
        before = os.times()
        command = [args.python, "evaluate.py", "data/images_responses", "--bootstrap-samples=1"]
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(
                [*command, "--output-root", scratch], cwd=args.folder, check=True, stdout=subprocess.DEVNULL
            )
        theirs_spent = sum(os.times()[2:4]) - sum(before[2:4])
        print(f", evaluate.py (one bootstrap sample in place of 1,000): {theirs_spent:.1f} s", end="")
    print()


if __name__ == "__main__":
    main()
