"""Score the six systems of DocuBench with pytest-jsonmatch, each document by its own schema.

python benchmarks/docubench.py [FOLDER] [--documents N] [--verdicts]

FOLDER holds `labels/`, `schemas/` and `results/` of the DocuBench repository by DocuPipe
(github.com/DocuPipe/DocuBench, CC BY 4.0); nothing of it is part of this project.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tables

from pytest_jsonmatch import FieldAggregation, compare_corpus
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.paired import holm
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.verdict import compare

if TYPE_CHECKING:
    from pytest_jsonmatch import RunResult

HERE = Path(__file__).resolve().parent
METRICS: dict[str, dict[str, Any]] = {
    "leaf_f1, unordered": {"metric": "leaf_f1", "arrays": "unordered"},
    "the same, null is absent": {"metric": "leaf_f1", "arrays": "unordered", "nulls": "absent"},
    "the same, edit distance": {
        "metric": "leaf_f1",
        "arrays": "unordered",
        "nulls": "absent",
        "compare": {"string": "levenshtein"},
    },
    "pairwise_f1, null is absent": {"metric": "pairwise_f1", "nulls": "absent"},
}
# The one whose ranking is the published one; verdicts are made with it.
RANKED = "the same, null is absent"


def default_folder() -> Path:
    """Return where the data is looked for: $JSONMATCH_REAL, or beside the checkout."""
    real = os.environ.get("JSONMATCH_REAL")
    return Path(real or HERE.parent.parent / "shared" / "real") / "docubench"


def _answer(path: Path) -> object:
    if not path.exists():
        return "no answer"
    found = json.loads(path.read_text(encoding="utf-8"))
    return found.get("data") if found.get("data") is not None else "no answer"


def score(
    folder: Path, system: str, options: dict[str, Any], limit: int | None = None
) -> dict[str, RunResult]:
    """Return the result of each document by its name."""
    results: dict[str, RunResult] = {}
    for label in sorted((folder / "labels").glob("*.json"))[:limit]:
        gold = json.loads(label.read_text(encoding="utf-8"))
        answer = _answer(folder / "results" / system / label.name)
        schema = folder / "schemas" / label.name
        results[label.stem] = compare_corpus([answer], [gold], schema=schema, **options)
    return results


def _mean(results: dict[str, RunResult], figure: str) -> float:
    return statistics.fmean(getattr(result, figure) for result in results.values())


def _published(folder: Path) -> dict[str, float]:
    """Return the published figure of each system: the mean accuracy of its fields, over documents."""
    summary = json.loads((folder / "results" / "summary.json").read_text(encoding="utf-8"))
    aggregates: dict[str, float] = summary["aggregates"]
    return aggregates


def _print_systems(title: str, runs: dict[str, dict[str, RunResult]], published: dict[str, float]) -> None:
    rows = []
    for system, results in sorted(runs.items(), key=lambda item: -_mean(item[1], "mean_f1")):
        figures = [f"{_mean(results, name):.4f}" for name in ("mean_f1", "mean_precision", "mean_recall")]
        missing = sum(bool(result.total_errors) for result in results.values())
        rows.append(
            [system, *figures, str(missing), f"{published[system]:.4f}" if system in published else "–"]
        )
    print(f"\n### {title}\n")
    print(tables.render(["system", "mean F1", "precision", "recall", "unread", "published"], rows))


def _by_kind(runs: dict[str, dict[str, RunResult]]) -> None:
    """Print what costs each system its points: statuses, over all fields."""
    rows = []
    for system, results in runs.items():
        total = FieldAggregation()
        for result in results.values():
            for each in result.per_field.values():
                total = total.merge(each)
        counts = (total.total, total.matches, total.mismatches, total.omissions, total.hallucinations)
        rows.append([system, *(f"{count:,}" for count in counts)])
    print("\n### What costs points\n")
    print(tables.render(["system", "results", "match", "mismatch", "omitted", "invented"], rows))


def _fields_apart(one: dict[str, RunResult], other: dict[str, RunResult], names: tuple[str, str]) -> None:
    """Print the fields in which two systems differ most."""
    differences: dict[str, float] = defaultdict(float)
    for document, result in one.items():
        sides = result.per_field, other[document].per_field
        size = sum(each.total for each in sides[0].values()) or 1
        for path in {**sides[0], **sides[1]}:
            lost = [
                (side[path].total - side[path].score_sum) / size if path in side else 0.0 for side in sides
            ]
            differences[f"{document} {path}"] += lost[1] - lost[0]
    worst = sorted(differences.items(), key=lambda item: -abs(item[1]))[:8]
    print(f"\n### {names[0]} against {names[1]}: the fields that make the difference\n")
    rows = [[path, f"{value / len(one):+.4f}"] for path, value in worst]
    print(tables.render(["document and field", f"in favour of {names[0]}"], rows))


def _ranked(runs: dict[str, dict[str, RunResult]]) -> list[str]:
    return sorted(runs, key=lambda system: -_mean(runs[system], "mean_f1"))


def _print_verdicts(runs: dict[str, dict[str, RunResult]]) -> None:
    """Print the ranking with intervals, and who is better than whom."""
    scores = {
        system: {name: [float(result.mean_f1 or 0.0)] for name, result in runs[system].items()}
        for system in _ranked(runs)
    }
    documents = len(next(iter(scores.values())))
    rows = []
    for rank, (system, figures) in enumerate(scores.items(), start=1):
        found = ratio_interval(CaseTerms(score, 1.0, name) for name, [score] in figures.items())
        rows.append([str(rank), system, f"{found.estimate:.4f}", f"{found.low:.3f} to {found.high:.3f}", ""])
    print(f"\n### Ranking by mean F1 on {documents} documents, with 95 % intervals\n")
    print(tables.render(["", "system", "mean F1", "95 % interval", ""], rows))
    verdicts = {pair: compare(scores[pair[0]], scores[pair[1]]) for pair in itertools.combinations(scores, 2)}
    corrected = holm(
        {" ".join(pair): min(1.0, 2 * min(each.p_drop, each.p_gain)) for pair, each in verdicts.items()}
    )
    rows = []
    for pair, verdict in verdicts.items():
        p, ahead = corrected[" ".join(pair)], pair[0] if (verdict.delta or 0.0) > 0 else pair[1]
        text = "not shown to differ"
        if p <= 0.05:
            text = f"{ahead} is better"
        elif verdict.kind in {"worse", "better"}:
            text = f"{ahead} is better, were this the only question"
        between = verdict.interval
        ends = "" if between is None else f"{between.low:+.3f} to {between.high:+.3f}"
        alone = min(1.0, 2 * min(verdict.p_drop, verdict.p_gain))
        rows.append([" – ".join(pair), f"{verdict.delta:+.4f}", ends, f"{alone:.4f}", f"{p:.4f}", text])
    print(f"\n### All {len(verdicts)} pairs\n")
    print(tables.render(["pair", "difference", "interval", "p", "p after Holm", "verdict"], rows))
    print(
        "\np: two-sided, sign flips of the differences by document; corrected for all pairs by Holm's method."
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docubench.py", description="Score DocuBench's systems.")
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder(), metavar="FOLDER")
    parser.add_argument("--documents", type=int, metavar="N", help="only the first N; default: all")
    parser.add_argument("--verdicts", action="store_true", help="intervals, and who is better than whom")
    given = parser.parse_args(arguments)
    folder: Path = given.folder
    if not (folder / "labels").is_dir():
        print(f"DocuBench's data is not here: {folder} has no labels/. Give the folder that has.")
        return 0
    published = _published(folder)
    systems = sorted(published, key=lambda system: -published[system])
    metrics = {RANKED: METRICS[RANKED]} if given.verdicts else METRICS
    for title, options in metrics.items():
        runs = {system: score(folder, system, options, given.documents) for system in systems}
        if given.verdicts:
            _print_verdicts(runs)
            continue
        _print_systems(title, runs, published)
        ranked = _ranked(runs)
        print(f"\nRanking: {' > '.join(ranked)}; as published: {'yes' if ranked == systems else 'no'}.")
        apart = next(((ours, theirs) for ours, theirs in zip(ranked, systems) if ours != theirs), None)
        if apart:
            _fields_apart(runs[apart[0]], runs[apart[1]], apart)
            _by_kind(runs)
    print("\nData: DocuBench by DocuPipe (github.com/DocuPipe/DocuBench), CC BY 4.0.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
