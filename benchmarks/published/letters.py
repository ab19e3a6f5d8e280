"""Humanities data benchmark, letters: date, senders and receivers of 57 letters, as 13 models read them.

    python benchmarks/published/letters.py FOLDER

FOLDER: a checkout of github.com/RISE-UNIBAS/humanities_data_benchmark of April 2025, or of a fork: gold in
`benchmarks/metadata_extraction/ground_truths`, answers in `results/DAY`, figures by letter in `renders/DAY`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_jsonmatch import JsonExtractionError, RunResult, compare_corpus, extract_json

TASK = "benchmarks/metadata_extraction"
DAYS = ("2025-04-01", "2025-04-02")
FIELDS = {name: f"{name}[]" for name in ("send_date", "sender_persons", "receiver_persons")}
COUNTS = ("matches", "hallucinations", "omissions")
ROW = re.compile(r"^\| `(\w+)` .*\| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def names(value: Any) -> list[str]:
    """Return the names in a value; a name in angle brackets was inferred, and is not asked for."""
    listed = value.split("|") if isinstance(value, str) else value or []
    found = dict.fromkeys(name.strip() for name in listed if isinstance(name, str))
    return [name for name in found if not name.startswith("<") and name not in {"None", "null"}]


def letter(found: Any) -> dict[str, list[str]]:
    """Return what is scored of a letter: lists in which nothing occurs twice."""
    found = found.get("metadata", found)
    date = found.get("send_date")
    people = {name: names(found.get(name)) for name in list(FIELDS)[1:]}
    return {"send_date": names(date[:1] if isinstance(date, list) else date), **people}


def answer_of(path: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return an answer as it was kept, and what is scored of it."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    text = kept["response_text"]
    try:
        return kept, letter(text if isinstance(text, dict) else extract_json(text, want="object").value)
    except JsonExtractionError:
        return kept, letter({})


def counts_of(run: RunResult) -> Iterator[dict[str, tuple[int, ...]]]:
    """Yield for each letter how many values of each field are right, invented and missing."""
    for record in run.records:
        assert record.match is not None
        by_field = record.match.per_field
        yield {
            name: tuple(getattr(by_field[path], each) if path in by_field else 0 for each in COUNTS)
            for name, path in FIELDS.items()
        }


def program(folder: Path) -> Any:
    """Return the benchmark's own scorer, without the clients of providers that it imports."""
    sys.path[:0] = [str(folder), str(folder / "scripts")]
    for name, missing in (("pandas", None), ("PIL", "Image"), ("simple_ai_clients", "AiApiClient")):
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], missing or "none", None)
    scorer = importlib.import_module(f"{TASK.replace('/', '.')}.benchmark").MetadataExtraction
    own = scorer.__new__(scorer)
    own.benchmark_dir = str(folder / TASK)
    return own


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    read = {path.stem: json.loads(path.read_text("utf-8")) for path in (folder / TASK).glob("*/*.json")}
    people = read["persons"]
    same = {"compare": {"oneof": {"groups": [[each["name"], *each["alternateName"]] for each in people]}}}
    rules: dict[str, Any] = {
        "arrays": "unordered",
        "empties": "never",
        "fields": {FIELDS[name]: same for name in list(FIELDS)[1:]},
    }
    own, spent, own_spent = program(folder), 0.0, 0.0
    agreed, differing, apart = 0, 0, []
    print("| model | F1 micro: published | ours | F1 macro: published | ours | counts that differ |")
    print("|---|---|---|---|---|---|")
    tests = [test for day in DAYS for test in sorted((folder / "results" / day).iterdir())]
    for test in tests:
        kept = {path.stem.rpartition("_")[2]: path for path in sorted(test.glob("request_*_letter*.json"))}
        if not kept:
            continue
        answers = {name: answer_of(path) for name, path in kept.items()}
        gold = {name: letter(read[name]) for name in kept}
        started = time.process_time()
        actual = [seen for _, seen in answers.values()]
        run = compare_corpus(actual, list(gold.values()), keep="all", **rules)
        spent += time.process_time() - started
        started = time.process_time()
        for name, (whole, _) in answers.items():
            own.score_request_answer(name, whole, read[name])
        own_spent += time.process_time() - started
        wrong = 0
        for name, ours in zip(kept, counts_of(run), strict=True):
            shown = folder / "renders" / test.parent.name / test.name / f"{name}.md"
            for field, *numbers in ROW.findall(shown.read_text("utf-8")):
                theirs = tuple(map(int, numbers))
                differ = sum(one != other for one, other in zip(ours[field], theirs, strict=True))
                wrong, agreed = wrong + differ, agreed + 3 - differ
                if differ:
                    apart.append(f"{test.name} {name} {field}: {theirs}, ours {ours[field]}")
        published = json.loads((test / "scoring.json").read_text(encoding="utf-8"))
        macro = sum(run.per_field[path].f1 or 0.0 for path in FIELDS.values()) / len(FIELDS)
        model = next(iter(answers.values()))[0]["model"]
        micro = f"{published['f1_micro']:.4f} | {run.micro_f1:.4f}"
        print(f"| {model} | {micro} | {published['f1_macro']:.4f} | {macro:.4f} | {wrong} |")
        differing += wrong
    print(f"\n{agreed:,} of {agreed + differing:,} counts agree; right, invented, missing where they do not:")
    print(*apart, sep="\n")
    print(f"\nours: {spent:.2f} s of CPU, its program: {own_spent:.2f} s")


if __name__ == "__main__":
    main()
