"""Runs: the same answers have the same numbers as a corpus, as its cases, in a file, and in merged shards."""

from __future__ import annotations

import warnings
from itertools import permutations
from typing import Any

from hypothesis import strategies as st
from laws import law
from pairs import METRICS, changed, objects

from pytest_jsonmatch import JsonMatchWarning, RunResult, compare_corpus
from pytest_jsonmatch.results.file import from_text, to_text


@st.composite
def corpora(draw) -> dict[str, tuple[Any, Any]]:
    """Return gold records by id, each with its answer, or None without one."""
    gold = draw(st.lists(objects, min_size=1, max_size=6))
    made = {}
    for at, record in enumerate(gold):
        made[f"r{at}"] = record, changed(draw, record) if draw(st.integers(0, 5)) else None
    return made


def compared(pairs: dict[str, tuple[Any, Any]], metric: str) -> RunResult:
    gold = [{"no": name, "of": expected} for name, (expected, _) in pairs.items()]
    answers = [{"no": name, "of": actual} for name, (_, actual) in pairs.items() if actual is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JsonMatchWarning)
        return compare_corpus(answers, gold, id="no", expected="of", actual="of", metric=metric, chunk_size=2)


ANSWERS = {"texts", "parsed"}


def numbers(run: RunResult) -> dict[str, Any]:
    """Return all numbers of a run but those about answers, which a case does not keep."""
    counts = {name: number for name, number in run.totals.counts.items() if number and name not in ANSWERS}
    sums = {name: round(exact.value, 9) for name, exact in run.totals.sums.items() if exact.value}
    fields = {
        path: [round(number, 9) for number in found.to_list()] for path, found in run.all_fields.items()
    }
    return {"counts": counts, "sums": sums, "fields": fields, "order": [*fields], "rows": run.rows}


@law(corpora(), METRICS, st.integers(0, 5), examples=60)
def a_run_has_the_same_numbers_in_every_form(pairs, metric, order):
    run = compared(pairs, metric)
    right = numbers(run)
    assert numbers(from_text(to_text(run), "run.jsonl")) == right
    assert numbers(RunResult.of_cases(run.cases)) == right
    shards = [dict([*pairs.items()][at::3]) for at in range(3)]
    parts = [compared(shard, metric) for shard in shards if shard]
    merged, *others = [*permutations(parts)][order % len([*permutations(parts)])]
    for part in others:
        merged = merged.merge(from_text(to_text(part), "part.jsonl"))
    assert numbers(merged) == right
