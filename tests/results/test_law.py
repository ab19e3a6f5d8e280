"""The law: the same data gives the same numbers, whichever way they come in and whichever way they are looked at.

Random answers and options go in by every way in `WAYS`; each run is read back from its file, and its shards are merged.
All have the same totals, the same verdicts of gates and the same table of fields. A new way is one more entry. A tenth
of the seeds is tried, and all of them with `FULL=1`.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_jsonmatch import JsonMatchWarning, compare_corpus, compare_json, read_results
from pytest_jsonmatch.cli.main import main
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.report.blocks import Table
from pytest_jsonmatch.report.build import build
from pytest_jsonmatch.results.comparison import Case, Comparison
from pytest_jsonmatch.results.file import from_text, to_text
from pytest_jsonmatch.results.run import RunResult
from tests.conftest import XDIST, with_entry_points

SHARE = 1 if os.environ.get("FULL") else 10
IN_PYTHON = range(2_000 // SHARE)
IN_PYTEST = range(50 // SHARE)
WITH_WORKERS = range(5 // min(SHARE, 5))
GATES = [
    *("score >= 0.5", "precision >= 0.7", "recall >= 0.6", "f1 > 0.8", "pass_rate >= 0.2", "micro.f1 >= 0.7"),
    *(
        "micro.recall >= 0.8",
        "micro.score >= 0.6",
        "matches >= 5",
        "mismatches <= 3",
        "missing == 0",
        "extra == 0",
    ),
    *("missing_rate <= 0.2", "extra_rate <= 0.1", "answered >= 0.9", "empty == 0", "batch_errors == 0"),
    *('fields["a"].recall >= 0.5', 'fields["b.*"].pass_rate >= 0.5', 'fields["c"].missing == 0'),
    *('fields["zzz"].extra == 0', 'rows["items"].recall >= 0.5', 'tags["kind=x"].f1 >= 0.5'),
    *("score >= 0.5 significant", "micro.recall >= 0.4 significant", "pass_rate >= 0.1 significant"),
]


class Sample(NamedTuple):
    """Answers by the id of their gold record, None for a record without one, and the options of comparing."""

    gold: dict[str, Any]
    answers: dict[str, Any]
    metric: str
    options: dict[str, Any]

    def part(self, ids: set[str]) -> Sample:
        chosen = ({name: side[name] for name in side if name in ids} for side in (self.gold, self.answers))
        return Sample(*chosen, self.metric, self.options)


def draw_value(draw: random.Random) -> Any:
    return draw.choice([0, 1, 2.5, "x", "y z", True, None, "", {}, []])


def draw_gold(draw: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": draw.choice("xy")}
    for name in draw.sample("acde", draw.randint(0, 4)):
        made[name] = draw_value(draw)
    if draw.random() < 0.6:
        made["b"] = {name: draw_value(draw) for name in draw.sample("pqr", draw.randint(0, 3))}
    if draw.random() < 0.6:
        numbers = draw.sample(range(5), draw.randint(0, 3))
        made["items"] = [{"n": number, "v": draw_value(draw)} for number in numbers]
    return made


def draw_answer(draw: random.Random, gold: dict[str, Any]) -> dict[str, Any]:
    made = json.loads(json.dumps(gold))
    holders = [each for each in (made, made.get("b"), *made.get("items", ())) if isinstance(each, dict)]
    for holder in holders:
        for name in [name for name in holder if name not in {"b", "items", "kind"}]:
            chance = draw.random()
            if chance < 0.1:
                del holder[name]
            elif chance < 0.25:
                holder[name] = draw_value(draw)
        if draw.random() < 0.1:
            holder["extra"] = draw_value(draw)
    if draw.random() < 0.1:
        made.pop("items", None)
    return made


def make_sample(seed: int, *, answered: bool = False) -> Sample:
    """A random sample; without unanswered records if `answered`."""
    draw = random.Random(seed)
    gold = {f"r{number:02}": draw_gold(draw) for number in range(draw.randint(1, 8))}
    answers = {
        name: None if not answered and draw.random() < 0.1 else draw_answer(draw, record)
        for name, record in gold.items()
    }
    metric = draw.choice(["leaf_f1", "leaf_f1", "json_similarity", "pairwise_f1", "field_match"])
    options: dict[str, Any] = {"validate": "off", "fields": {}}
    if draw.random() < 0.4:
        options["fields"]["a"] = {"weight": draw.choice([0, 0.1, 2])}
    if draw.random() < 0.3:
        options["fields"]["c"] = {"skip": True}
    if draw.random() < 0.4:
        options["arrays"] = draw.choice(["unordered", {"key": "n"}])
    if draw.random() < 0.3:
        options["nulls"] = "absent"
    return Sample(gold, answers, metric, options)


# -- ways ---------------------------------------------------------------------------------------------------------


def by_comparisons(sample: Sample, _: Path) -> RunResult:
    """What a test keeps of its comparisons, without pytest; only for samples with all answers."""
    cases = []
    for name, gold in sample.gold.items():
        result = compare_json(sample.answers[name], gold, metric=sample.metric, **sample.options)
        own: dict[str, Any] = {"id": name, "nodeid": name, "threshold": {"score": 1.0}}
        kept = Comparison.of(result, **own, passed=result.score == 1.0)
        cases.append(Case.single(kept, tags={"kind": gold["kind"]}))
    return RunResult.of_cases(cases)


def by_compare_corpus(sample: Sample, _: Path) -> RunResult:
    gold = [{"id": name, **record} for name, record in sample.gold.items()]
    answers = [{"id": name, **answer} for name, answer in sample.answers.items() if answer is not None]
    more: dict[str, Any] = {"id": "id", "tags": {"kind": "kind"}, "chunk_size": 3}
    return compare_corpus(answers, gold, metric=sample.metric, **more, **sample.options)


def by_evaluate(sample: Sample, folder: Path) -> RunResult:
    sides = [
        {name: each for name, each in side.items() if each is not None}
        for side in (sample.answers, sample.gold)
    ]
    files = [folder / "answers.jsonl", folder / "gold.jsonl"]
    for path, side in zip(files, sides):
        lines = [json.dumps({"id": name, **record}) for name, record in side.items()]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    config, result = folder / "rules.json", folder / "run.jsonl"
    config.write_text(json.dumps(settings_of(sample)), encoding="utf-8")
    arguments = ["--id", "id", "--tags", "kind", "--config", str(config), "--keep", "all"]
    main(["evaluate", *map(str, files), *arguments, "--json", str(result)])
    return read_results(result)


ASSERTIONS = """
import json
from pathlib import Path

import pytest

SAMPLE = json.loads(Path(__file__).with_name("sample.json").read_text(encoding="utf-8"))

@pytest.mark.parametrize("name", SAMPLE["gold"])
def test_one(name, assert_json_match):
    gold = SAMPLE["gold"][name]
    assert_json_match(
        SAMPLE["answers"][name], gold, metric=SAMPLE["metric"], tags={"kind": gold["kind"]}, **SAMPLE["options"]
    )
"""
HOOK = """
def pytest_jsonmatch_actual(case):
    if case.input is None:
        raise TimeoutError("no answer")
    return case.input
"""


def by_assertions(sample: Sample, pytester: pytest.Pytester, *arguments: str) -> RunResult:
    (pytester.path / "sample.json").write_text(json.dumps(sample._asdict()), encoding="utf-8")
    pytester.makepyfile(test_all=ASSERTIONS)
    return run_pytest(pytester, "test_all.py", *arguments)


def settings_of(sample: Sample) -> dict[str, Any]:
    """The keys of a golden file for a sample."""
    options = dict(sample.options)
    keys = {name: options.pop(name) for name in ("validate", "fields")}
    return {"metric": sample.metric, **keys, "options": options}


def by_yaml(sample: Sample, pytester: pytest.Pytester, *arguments: str) -> RunResult:
    cases = [
        {"id": name, "input": sample.answers[name], "expected": gold, "tags": {"kind": gold["kind"]}}
        for name, gold in sample.gold.items()
    ]
    path = pytester.path / "all.golden.yaml"
    path.write_text(json.dumps({**settings_of(sample), "cases": cases}), encoding="utf-8")
    pytester.makeconftest(HOOK)
    return run_pytest(pytester, "all.golden.yaml", *arguments)


def by_table(sample: Sample, pytester: pytest.Pytester, *arguments: str) -> RunResult:
    rows = [
        json.dumps({"name": name, "answer": sample.answers[name], "right": gold, "kind": gold["kind"]})
        for name, gold in sample.gold.items()
    ]
    (pytester.path / "rows.jsonl").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    table = {
        "file": "rows.jsonl",
        "id": "name",
        "input": "answer",
        "expected": "right",
        "tags": {"kind": "{kind}"},
    }
    path = pytester.path / "all.golden.yaml"
    path.write_text(json.dumps({**settings_of(sample), "cases_from": table}), encoding="utf-8")
    pytester.makeconftest(HOOK)
    return run_pytest(pytester, "all.golden.yaml", *arguments)


def run_pytest(pytester: pytest.Pytester, *arguments: str) -> RunResult:
    result = pytester.path / "run.jsonl"
    result.unlink(missing_ok=True)
    pytester.runpytest("-q", "--jsonmatch-json=run.jsonl", *arguments)
    return read_results(result)


WAYS: dict[str, Callable[[Sample, Path], RunResult]] = {
    "compare_corpus": by_compare_corpus,
    "evaluate": by_evaluate,
}
WAYS_OF_PYTEST: dict[str, Callable[..., RunResult]] = {
    "assertions": by_assertions,
    "yaml": by_yaml,
    "table": by_table,
}


# -- what is the same ---------------------------------------------------------------------------------------------

COUNTS = (
    "records",
    "passed",
    "perfect_records",
    "unanswered",
    "never_answered",
    "unscored",
    "empty",
    "errors",
)
COUNTS += ("runs", "comparisons", "unanswered_runs", "ignores_extra", "repeated")


def close(number: float) -> float:
    return round(number, 11)


def seen(run: RunResult) -> dict[str, Any]:
    """All that must be the same, whichever way a run was made."""
    totals = run.totals
    tables = [
        block for block in build(run).blocks if isinstance(block, Table) and block.columns[0] == "field"
    ]
    return {
        "counts": {name: totals.counts[name] for name in COUNTS},
        "sums": {name: close(exact.value) for name, exact in totals.sums.items() if exact.value},
        "fields": {path: [*map(close, each.to_list())] for path, each in run.all_fields.items()},
        "rows": dict(run.rows),
        "by_tag": {tag: close(part.mean("score") or 0.0) for tag, part in run.totals_by_tag.items()},
        "gates": {gate: check_gate(parse_gate(gate), run).passed for gate in GATES},
        "tables": [
            [[getattr(cell, "text", cell) for cell in row] for row in (*table.rows, table.total)]
            for table in tables
        ],
    }


def assert_same(sample: Sample, runs: dict[str, RunResult]) -> None:
    (first, expected), *others = runs.items()
    order, right = list(expected.all_fields), seen(expected)
    for name, run in others:
        for what, found in seen(run).items():
            assert found == right[what], (what, name, first, sample)
        if "shards" not in name:
            assert list(run.all_fields) == order, (name, first, sample)


def read_back(run: RunResult) -> RunResult:
    return from_text(to_text(run), "run.jsonl")


def in_shards(sample: Sample, way: Callable[[Sample], RunResult]) -> RunResult:
    """A run whose records were split into two shards, each written to a file and read back."""
    names = list(sample.gold)
    one, other = (read_back(way(sample.part({*names[start::2]}))) for start in (0, 1))
    return other.merge(one)


@pytest.fixture(autouse=True)
def no_warnings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rules may match nothing in random data. (Each command asks for the entry points of all packages.)"""
    monkeypatch.setattr(importlib.metadata, "distributions", with_entry_points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JsonMatchWarning)
        yield


@pytest.mark.parametrize("block", range(10))
def test_all_ways_of_python_give_the_same(
    block: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in IN_PYTHON[block::10]:
        sample = make_sample(seed)
        runs = {name: way(sample, tmp_path) for name, way in WAYS.items()}
        if None not in sample.answers.values():
            runs["comparisons"] = by_comparisons(sample, tmp_path)
        runs |= {f"{name}, read back": read_back(run) for name, run in runs.items()}
        if len(sample.gold) > 1:
            runs["shards"] = in_shards(sample, lambda part: by_compare_corpus(part, tmp_path))
        assert_same(sample, runs)
        capsys.readouterr()


@pytest.mark.parametrize("seed", IN_PYTEST)
def test_all_ways_of_pytest_give_the_same(seed: int, pytester: pytest.Pytester) -> None:
    sample = make_sample(seed, answered=seed % 2 == 0)
    runs = {"compare_corpus": by_compare_corpus(sample, pytester.path)}
    for name, way in WAYS_OF_PYTEST.items():
        if name != "assertions" or None not in sample.answers.values():
            runs[name] = way(sample, pytester)
    if len(sample.gold) > 1:
        runs["yaml in shards"] = in_shards(sample, lambda part: by_yaml(part, pytester))
    assert_same(sample, runs)


@pytest.mark.parametrize("seed", WITH_WORKERS)
def test_workers_give_the_same(seed: int, pytester: pytest.Pytester) -> None:
    sample = make_sample(seed + 1_000)
    assert_same(
        sample,
        {"corpus": by_compare_corpus(sample, pytester.path), "yaml": by_yaml(sample, pytester, *XDIST)},
    )
