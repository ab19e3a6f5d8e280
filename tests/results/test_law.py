"""The law: the same data gives the same numbers, whichever way they come in and whichever way they are looked at.

Random answers and options go in by every way in `WAYS`; each run is read back from its file, and its shards are merged.
All have the same totals, the same verdicts of gates and the same table of fields. A new way is one more entry.
"""

from __future__ import annotations

import csv
import importlib.metadata
import itertools
import json
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    Comparison,
    JsonMatchWarning,
    RunResult,
    compare_corpus,
    compare_json,
    read_results,
)
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.report.blocks import Table
from pytest_jsonmatch.report.build import build
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.results.file import from_text, to_text
from tests.conftest import XDIST, main
from tests.fuzz.suites import new_suite, run_pytest
from tests.laws import law
from tests.lookups import with_entry_points

METRICS = ("field_match", "field_match_normalized", "json_similarity", "pairwise_f1", "leaf_f1")
SEEDS = st.integers(0, 2**32)
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


ODD = ("", "a b", "*", "é", "x.y", "[]")
"""Names of members that a path has to put in quotation marks."""


def draw_gold(draw: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": draw.choice("xy")}
    for name in draw.sample("acde", draw.randint(0, 4)):
        made[name] = draw_value(draw)
    if draw.random() < 0.6:
        made["b"] = {name: draw_value(draw) for name in draw.sample("pqr", draw.randint(0, 3))}
    for array in ("items", "taxes"):
        if draw.random() < 0.5:
            numbers = draw.sample(range(5), draw.randint(0, 3))
            made[array] = [{"n": number, "v": draw_value(draw)} for number in numbers]
    if draw.random() < 0.3:
        made[draw.choice(ODD)] = draw.choice(
            [{draw.choice(ODD): draw_value(draw)}, [[draw_value(draw)]], "x"]
        )
    return made


def draw_answer(draw: random.Random, gold: dict[str, Any]) -> dict[str, Any]:
    made = json.loads(json.dumps(gold))
    rows = *made.get("items", ()), *made.get("taxes", ())
    holders = [each for each in (made, made.get("b"), *rows) if isinstance(each, dict)]
    for holder in holders:
        for name in [name for name in holder if name not in {"b", "items", "taxes", "kind"}]:
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
    # Ids in any order, of one digit or two: 10 comes before 9 as a text.
    gold = {str(number): draw_gold(draw) for number in draw.sample(range(5, 15), draw.randint(1, 8))}
    answers = {
        name: None if not answered and draw.random() < 0.1 else draw_answer(draw, record)
        for name, record in gold.items()
    }
    metric = draw.choice(["leaf_f1", "leaf_f1", *METRICS])
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


FLAT = ["kind", "a", "c", "d"]


def make_flat(seed: int) -> Sample:
    """A random sample of records whose members are texts."""
    draw, sample = random.Random(seed), make_sample(seed)
    words = ["x", "y z", "10", "true", "null", '{"n": 1}']
    gold = {name: {"kind": each["kind"]} for name, each in sample.gold.items()}
    for record in gold.values():
        record |= {name: draw.choice(words) for name in FLAT[1:]}
    answers = {
        name: None if draw.random() < 0.1 else {**record, draw.choice("acd"): draw.choice(words)}
        for name, record in gold.items()
    }
    return Sample(gold, answers, sample.metric, sample.options)


def make_repeated(seed: int) -> Sample:
    """A random sample with a list of answers for each gold record, of the same length."""
    draw, sample = random.Random(seed), make_sample(seed)
    number = draw.randint(2, 4)
    answers: dict[str, Any] = {
        name: [None if draw.random() < 0.1 else draw_answer(draw, gold) for _ in range(number)]
        for name, gold in sample.gold.items()
    }
    return Sample(sample.gold, answers, sample.metric, {**sample.options, "repeat": number})


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


def by_runs(sample: Sample, _: Path) -> RunResult:
    """What tests keep of cases with several runs, without pytest."""
    cases = []
    options = {name: value for name, value in sample.options.items() if name != "repeat"}
    for name, gold in sample.gold.items():
        runs = []
        for number, answer in enumerate(sample.answers[name], 1):
            result = compare_json({} if answer is None else answer, gold, metric=sample.metric, **options)
            own: dict[str, Any] = {"id": name, "nodeid": name, "threshold": {"score": 1.0}}
            kept = Comparison.of(result, **own, passed=result.score == 1.0)
            runs.append(CaseRun(number, kept.passed, (kept,)))
        cases.append(Case(name, tuple(runs), of=len(runs), tags={"kind": gold["kind"]}))
    return RunResult.of_cases(cases)


def by_compare_corpus(sample: Sample, _: Path) -> RunResult:
    gold = [{"id": int(name), **record} for name, record in sample.gold.items()]
    answers = [{"id": int(name), **answer} for name, answer in sample.answers.items() if answer is not None]
    more: dict[str, Any] = {"id": "id", "tags": {"kind": "kind"}, "chunk_size": 3}
    return compare_corpus(answers, gold, metric=sample.metric, **more, **sample.options)


def both_sides(sample: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers that there are, and the gold records, by id."""
    return {name: each for name, each in sample.answers.items() if each is not None}, sample.gold


def compare(answers: Any, gold: Any, sample: Sample, **more: Any) -> RunResult:
    more = {"id": "id", "tags": {"kind": "kind"}, "keep": "all"} | more
    return compare_corpus(answers, gold, metric=sample.metric, **more, **sample.options)


def by_array(sample: Sample, folder: Path) -> RunResult:
    files = [folder / "answers.json", folder / "gold.json"]
    for path, side in zip(files, both_sides(sample)):
        path.write_text(json.dumps([{"id": name, **record} for name, record in side.items()]), "utf-8")
    return compare(*files, sample)


def by_function(sample: Sample, _: Path) -> RunResult:
    answers, gold = both_sides(sample)
    return compare(
        lambda: ({"no": name, "out": record} for name, record in answers.items()),
        lambda: ({"no": name, "right": record} for name, record in gold.items()),
        sample,
        id="no",
        actual="out",
        expected="right",
        tags={"kind": "right.kind"},
    )


def by_csv(sample: Sample, folder: Path) -> RunResult:
    """Only for flat records of texts: every cell is a text."""
    files = [folder / "answers.csv", folder / "gold.csv"]
    for path, side in zip(files, both_sides(sample)):
        write_csv(path, ["no", *FLAT], [{"no": name, **record} for name, record in side.items()])
    columns: dict[str, Any] = {name: name for name in FLAT}
    return compare(*files, sample, id="no", actual=columns, expected=columns)


def write_csv(path: Path, names: list[str], rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(rows)


def by_frame(sample: Sample, _: Path) -> RunResult:
    pandas = pytest.importorskip("pandas")
    answers, gold = both_sides(sample)
    sides = (
        pandas.DataFrame({"no": [*side], name: pandas.Series([*side.values()], dtype=object)})
        for name, side in (("out", answers), ("right", gold))
    )
    columns = {"id": "no", "actual": "out", "expected": "right", "tags": {"kind": "right.kind"}}
    return compare(*sides, sample, **columns)


def by_glob(sample: Sample, folder: Path) -> RunResult:
    """A file for each record, and one for each answer; without any answer the folders would be refused."""
    answers, gold = both_sides(sample)
    if not answers:
        return by_compare_corpus(sample, folder)
    for name, side in (("answers", answers), ("gold", gold)):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        for stem, record in side.items():
            (folder / name / f"{stem}.json").write_text(json.dumps(record), encoding="utf-8")
    return compare(folder / "answers" / "*.json", folder / "gold" / "*.json", sample, id=None)


def by_evaluate(sample: Sample, folder: Path) -> RunResult:
    files = [folder / "answers.jsonl", folder / "gold.jsonl"]
    for path, side in zip(files, both_sides(sample)):
        lines = [json.dumps({"id": name, **record}) for name, record in side.items()]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    config, result = folder / "rules.json", folder / "run.jsonl"
    config.write_text(json.dumps(settings_of(sample)), encoding="utf-8")
    arguments = ["--id", "id", "--tags", "kind", "--config", str(config), "--keep", "all"]
    with redirect_stdout(TextIOWrapper(BytesIO())), redirect_stderr(StringIO()):
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
import json
import sys

sys.path.insert(0, ".")

def pytest_jsonmatch_actual(case):
    given = json.loads(case.input) if isinstance(case.input, str) else case.input
    answer = given[case.run - 1] if isinstance(given, list) else given
    if answer is None:
        raise TimeoutError("no answer")
    return answer
"""


def by_assertions(sample: Sample, folder: Path, *arguments: str) -> RunResult:
    (folder / "sample.json").write_text(json.dumps(sample._asdict()), encoding="utf-8")
    (folder / "test_all.py").write_text(ASSERTIONS, encoding="utf-8")
    return run_suite(folder, "test_all.py", *arguments)


def settings_of(sample: Sample) -> dict[str, Any]:
    """The keys of a golden file for a sample."""
    options = dict(sample.options)
    keys = {name: options.pop(name) for name in ("validate", "fields", "repeat") if name in options}
    return {"metric": sample.metric, **keys, "options": options}


def by_yaml(sample: Sample, folder: Path, *arguments: str) -> RunResult:
    cases = [
        {"id": name, "input": sample.answers[name], "expected": gold, "tags": {"kind": gold["kind"]}}
        for name, gold in sample.gold.items()
    ]
    path = folder / "all.golden.yaml"
    path.write_text(json.dumps({**settings_of(sample), "cases": cases}), encoding="utf-8")
    (folder / "conftest.py").write_text(HOOK, encoding="utf-8")
    return run_suite(folder, "all.golden.yaml", *arguments)


def by_source(sample: Sample, folder: Path, source: dict[str, Any], *more: str) -> RunResult:
    """The run of the golden cases of a source."""
    path = folder / "all.golden.yaml"
    path.write_text(json.dumps({**settings_of(sample), "cases_from": source}), encoding="utf-8")
    (folder / "conftest.py").write_text(HOOK, encoding="utf-8")
    return run_suite(folder, "all.golden.yaml", *more)


def rows_of(sample: Sample) -> list[dict[str, Any]]:
    return [
        {"name": name, "answer": sample.answers[name], "right": gold, "kind": gold["kind"]}
        for name, gold in sample.gold.items()
    ]


COLUMNS = {"id": "name", "input": "answer", "expected": "right", "tags": {"kind": "{kind}"}}


def by_table(sample: Sample, folder: Path, *more: str) -> RunResult:
    lines = "".join(f"{json.dumps(row)}\n" for row in rows_of(sample))
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    return by_source(sample, folder, {"file": "rows.jsonl", **COLUMNS}, *more)


def by_array_of_rows(sample: Sample, folder: Path, *more: str) -> RunResult:
    (folder / "rows.json").write_text(json.dumps(rows_of(sample)), encoding="utf-8")
    return by_source(sample, folder, {"file": "rows.json", **COLUMNS}, *more)


def by_csv_rows(sample: Sample, folder: Path, *more: str) -> RunResult:
    """Only for flat records of texts: every cell is a text."""
    rows = [
        {"name": name, "answer": json.dumps(sample.answers[name]), **gold}
        for name, gold in sample.gold.items()
    ]
    write_csv(folder / "rows.csv", ["name", "answer", *FLAT], rows)
    columns = {**COLUMNS, "expected": {name: name for name in FLAT}}
    return by_source(sample, folder, {"file": "rows.csv", **columns}, *more)


def by_rows(sample: Sample, folder: Path, *more: str) -> RunResult:
    (folder / "rows.json").write_text(json.dumps(rows_of(sample)), encoding="utf-8")
    loads = (
        "import json\n\ndef rows():\n    with open('rows.json') as file:\n        return json.load(file)\n"
    )
    (folder / "dataset.py").write_text(loads, encoding="utf-8")
    return by_source(sample, folder, {"rows": "dataset:rows", **COLUMNS}, *more)


def by_files(sample: Sample, folder: Path, *more: str) -> RunResult:
    """A file with what is expected for each case, and its input next to it."""
    shutil.rmtree(folder / "data", ignore_errors=True)
    for row in rows_of(sample):
        place = folder / "data" / row["kind"]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{row['name']}.json").write_text(json.dumps(row["right"]), encoding="utf-8")
        (place / f"{row['name']}.txt").write_text(json.dumps(row["answer"]), encoding="utf-8")
    source = {"files": "data/*/*.json", "id": "{stem}", "input_file": "{dir}/{stem}.txt"}
    return by_source(sample, folder, {**source, "tags": {"kind": "{parent}"}}, *more)


def run_suite(folder: Path, *arguments: str) -> RunResult:
    result = folder / "run.jsonl"
    result.unlink(missing_ok=True)
    run_pytest(folder, "--jsonmatch-json=run.jsonl", *arguments)
    return read_results(result)


WAYS: dict[str, Callable[[Sample, Path], RunResult]] = {
    "compare_corpus": by_compare_corpus,
    "evaluate": by_evaluate,
    "array": by_array,
    "function": by_function,
    "frame": by_frame,
    "glob": by_glob,
}
WAYS_OF_PYTEST: dict[str, Callable[..., RunResult]] = {
    "assertions": by_assertions,
    "yaml": by_yaml,
    "table": by_table,
    "array": by_array_of_rows,
    "rows": by_rows,
    "files": by_files,
}
REPEATED = ("yaml", "table", "rows", "files")
"""The ways that have cases with several runs."""


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
COUNTS += ("incomplete", "warnings", "runs", "comparisons", "unanswered_runs", "ignores_extra", "repeated")


def close(number: float) -> float:
    return round(number, 11)


def seen(run: RunResult) -> dict[str, Any]:
    """All that must be the same, whichever way a run was made."""
    totals = run.totals
    tables = [
        block for block in build(run).blocks if isinstance(block, Table) and block.columns[0].title == "field"
    ]
    return {
        "counts": {name: totals.counts[name] for name in COUNTS},
        "sums": {name: close(exact.value) for name, exact in totals.sums.items() if exact.value},
        "fields": {path: [*map(close, each.to_list())] for path, each in run.all_fields.items()},
        "rows": list(run.rows.items()),
        "kinds": [(name, kind.n, close(kind.cost), list(kind.fields)) for name, kind in run.kinds.items()],
        "by_tag": {tag: close(part.mean("score") or 0.0) for tag, part in run.totals_by_tag.items()},
        "gates": {gate: check_gate(parse_gate(gate), run).passed for gate in GATES},
        "tables": [
            [
                [getattr(cell, "text", cell) for cell in row]
                for row in (*(row.cells for row in table.rows), table.total)
            ]
            for table in tables
        ],
        "differences": [[str(row.details) for row in table.rows] for table in tables],
    }


def assert_same(sample: Sample, runs: dict[str, RunResult]) -> None:
    (first, expected), *others = runs.items()
    order, right = list(expected.all_fields), seen(expected)
    for name, run in others:
        for what, found in seen(run).items():
            assert found == right[what], (what, name, first, sample)
        assert list(run.all_fields) == order, (name, first, sample)


def read_back(run: RunResult) -> RunResult:
    return from_text(to_text(run), "run.jsonl")


def in_shards(sample: Sample, way: Callable[[Sample], RunResult], order: int) -> RunResult:
    """A run whose records were split into three shards, each written to a file, read back and merged in some order."""
    names = list(sample.gold)
    parts = [way(sample.part({*names[start::3]})) for start in range(min(3, len(names)))]
    orders = [*itertools.permutations(parts)]
    first, *others = map(read_back, orders[order % len(orders)])
    for other in others:
        first = first.merge(other)
    return first


@contextmanager
def quiet() -> Iterator[None]:
    """Rules may match nothing in random data. (Each command asks for the entry points of all packages.)"""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(importlib.metadata, "distributions", with_entry_points)
        warnings.simplefilter("ignore", JsonMatchWarning)
        yield


@law(SEEDS, examples=150, within=quiet)
def test_all_ways_of_python_give_the_same(seed: int) -> None:
    sample = make_sample(seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        runs = {name: way(sample, folder) for name, way in WAYS.items()}
        if None not in sample.answers.values():
            runs["comparisons"] = by_comparisons(sample, folder)
        runs |= {
            f"{name}, read back": read_back(runs[name]) for name in ("compare_corpus", "array", "evaluate")
        }
        runs["kept records as cases"] = RunResult.of_cases(runs["compare_corpus"].cases)
        runs["shards"] = in_shards(sample, lambda part: by_compare_corpus(part, folder), seed)
        assert_same(sample, runs)
        sample = make_flat(seed)
        assert_same(sample, {way.__name__: way(sample, folder) for way in (by_compare_corpus, by_csv)})


@law(SEEDS, examples=10, within=quiet)
def test_all_ways_of_pytest_give_the_same(seed: int) -> None:
    sample = make_sample(seed, answered=seed % 2 == 0)
    with new_suite() as folder:
        runs = {"compare_corpus": by_compare_corpus(sample, folder)}
        for name, way in WAYS_OF_PYTEST.items():
            if name != "assertions" or None not in sample.answers.values():
                runs[name] = way(sample, folder)
        runs["shards"] = in_shards(sample, lambda part: by_yaml(part, folder), seed)
        assert_same(sample, runs)
        sample = make_flat(seed)
        ways = (by_csv, by_csv_rows, by_yaml)
        assert_same(sample, {way.__name__: way(sample, folder) for way in ways})


@law(SEEDS, examples=5, within=quiet)
def test_all_ways_give_the_same_for_repeated_cases(seed: int) -> None:
    sample = make_repeated(seed)
    with new_suite() as folder:
        runs = {name: WAYS_OF_PYTEST[name](sample, folder) for name in REPEATED}
        if all(None not in answers for answers in sample.answers.values()):
            runs["comparisons"] = by_runs(sample, folder)
        runs["read back"] = read_back(runs["yaml"])
        runs["shards"] = in_shards(sample, lambda part: by_yaml(part, folder), seed)
        assert_same(sample, runs)


@law(SEEDS, examples=5, within=quiet)
def test_workers_give_the_same(seed: int) -> None:
    with new_suite() as folder:
        sample = make_sample(seed)
        ways = {"corpus": by_compare_corpus(sample, folder), "workers": by_yaml(sample, folder, *XDIST)}
        assert_same(sample, ways)
        sample = make_repeated(seed)
        ways = {"one": by_yaml(sample, folder), "workers": by_yaml(sample, folder, *XDIST)}
        assert_same(sample, ways)
