"""What a corpus can be read from: the same numbers, whatever form the data has."""

from __future__ import annotations

import csv
import json
import random
from typing import Any

import pandas as pd
import polars as pl
import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    GoldValidationError,
    RunResult,
    compare_corpus,
    read_results,
)
from tests.conftest import gate_of, report_of

SCHEMA = {
    "properties": {
        "shop": {"type": "string"},
        "total": {"type": "number"},
        "paid": {"type": "boolean"},
        "tip": {"type": ["number", "null"]},
    }
}


def corpus(seed: int) -> tuple[list[Any], list[Any]]:
    rng = random.Random(seed)
    gold = [
        {
            "id": f"r{number}",
            "shop": rng.choice(["Ann, Bo", 'the "Mill"', "012", "é\nx"]),
            "total": rng.randint(0, 4) / 2,
            "paid": rng.random() < 0.5,
            "tip": rng.choice([None, 1.5]),
        }
        for number in range(rng.randint(1, 12))
    ]
    answers = [{**record, "total": rng.choice([record["total"], 9.5])} for record in gold]
    return answers, gold


def as_cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def write_csv(path, records, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(records[0])
        writer.writerows(map(as_cell, record.values()) for record in records)
    return path


def write_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def write_files(folder, records):
    folder.mkdir()
    for record in records:
        (folder / f"{record['id']}.json").write_text(json.dumps(record))
    return folder


def statistics(run) -> Any:
    """Everything that the result contains, but for the share of text, which only some forms are."""
    return {name: value for name, value in run.to_dict().items() if name != "parse_rate"}


@pytest.mark.parametrize("seed", range(20))
def test_all_forms_give_the_same_numbers(tmp_path, seed):
    answers, gold = corpus(seed)
    shuffled = random.Random(seed).sample(answers, len(answers))
    # Data frames do not distinguish null from a missing member in all columns.
    options: dict[str, Any] = {"schema": SCHEMA, "id": "id", "keep": "none", "nulls": "absent"}
    forms: dict[str, Any] = {
        "list": lambda records, name: records,
        "iterator": lambda records, name: iter(records),
        "function": lambda records, name: lambda: iter(records),
        "pandas": lambda records, name: pd.DataFrame(records),
        "polars": lambda records, name: pl.DataFrame(records),
        "lines": lambda records, name: write_lines(tmp_path / f"{name}.jsonl", records),
        "csv": lambda records, name: write_csv(tmp_path / f"{name}.csv", records),
        "tsv": lambda records, name: write_csv(tmp_path / f"{name}.tsv", records, "\t"),
        "array": lambda records, name: write_array(tmp_path / f"{name}.json", records),
    }
    reported = {
        name: statistics(compare_corpus(make(shuffled, "answers"), make(gold, "gold"), **options))
        for name, make in forms.items()
    }
    for name in forms:
        assert reported[name] == reported["list"], name


def write_array(path, records):
    path.write_text(json.dumps(records))
    return path


def test_files_are_paired_by_their_names(tmp_path, monkeypatch):
    answers, gold = corpus(3)
    write_files(tmp_path / "gold", gold)
    write_files(tmp_path / "out", answers)
    monkeypatch.chdir(tmp_path)
    one = compare_corpus("out", "gold", skip=["id"])
    other = compare_corpus("out/*.json", "gold/*.json", skip=["id"])
    assert one.mean_f1 == other.mean_f1 == compare_corpus(answers, gold, id="id").mean_f1
    assert [record.record_id for record in one.records] == [
        f"{name.record_id}.json" for name in other.records
    ]


def test_names_of_a_glob_are_paths_below_its_folder(tmp_path):
    for name in ("gold/a/x.json", "gold/b/x.json", "gold/b/.y.json", "out/b/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"n": 1}')
    run = compare_corpus(f"{tmp_path}/out/**/*.txt", f"{tmp_path}/gold/**/*.json", keep="all")
    assert [(record.record_id, record.f1) for record in run.records] == [("a/x", 0.0), ("b/x", 1.0)]
    assert run.unmatched_expected == ("a/x",)


def test_two_files_of_a_glob_with_one_name(tmp_path):
    for name in ("a.json", "a.txt"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(ConfigurationError) as caught:
        compare_corpus([], f"{tmp_path}/*.*")
    assert str(caught.value).endswith("/a.txt would both be the record 'a'")


def test_a_glob_without_files(tmp_path):
    with pytest.raises(ConfigurationError, match=r"^no file matches .*/\*\.json$"):
        compare_corpus([], f"{tmp_path}/*.json")


# -- columns -----------------------------------------------------------------------------------------------

NESTED = [
    {"meta": {"id": 1, "source": "mail"}, "gold": {"calls": [{"n": 1}]}, "note": "x"},
    {"meta": {"id": 2, "source": "scan"}, "gold": {"calls": [{"n": 2}]}, "note": "y"},
]
OUTPUT = [
    {"meta": {"id": 2}, "calls": 'Sure: [{"n": 2}]'},
    {"meta": {"id": 1}, "calls": [{"n": 3}]},
]


@pytest.mark.parametrize("form", ["list", "lines"])
@pytest.mark.parametrize("workers", [0, 2])
def test_columns_are_paths(tmp_path, form, workers):
    from concurrent.futures import ThreadPoolExecutor

    sides: list[Any] = [OUTPUT, NESTED]
    if form == "lines":
        sides = [write_lines(tmp_path / f"{number}.jsonl", side) for number, side in enumerate(sides)]
    run = compare_corpus(
        *sides,
        id="meta.id",
        expected="gold.calls",
        actual="calls",
        tags={"source": "meta.source"},
        cluster="meta.source",
        keep="all",
        executor=ThreadPoolExecutor(workers) if workers else None,
    )
    assert [(each.record_id, each.score, each.cluster) for each in run.records] == [
        (1, 0.0, "mail"),
        (2, 1.0, "scan"),
    ]
    assert run.by_tag["source=scan"].mean_score == 1.0
    assert list(run.per_field) == ["[].n"]
    assert (run.parse_rate, NESTED[0]["note"]) == (1.0, "x")


def test_a_mapping_of_columns():
    gold = [{"a": 1, "b.c": "x"}, {"a": 2, "b.c": "y"}]
    run = compare_corpus(
        [{"sum": 1, "shop": {"name": "x"}}, {"sum": 3, "shop": {"name": "y"}}],
        gold,
        expected={"total": "a", "vendor": {"name": "b.c"}},
        actual={"total": "sum", "vendor": {"name": "shop.name"}},
    )
    assert {path: field.mean_score for path, field in run.per_field.items()} == {
        "total": 0.5,
        "vendor.name": 1.0,
    }


def test_an_id_inside_an_object_is_not_scored():
    gold = [{"meta": {"id": 1, "page": 3}, "n": 1}]
    run = compare_corpus([{"meta": {"id": 1, "page": 4}, "n": 1}], gold, id="meta.id")
    assert sorted(run.per_field) == ["meta.page", "n"]
    assert gold[0]["meta"] == {"id": 1, "page": 3}


def test_a_gold_record_without_the_column(tmp_path):
    gold = write_lines(tmp_path / "gold.jsonl", NESTED)
    with pytest.raises(GoldValidationError) as caught:
        compare_corpus(OUTPUT, gold, expected="gold.cals")
    assert str(caught.value) == f"{gold}:1: record 1: has no 'gold.cals'; did you mean 'gold.calls'?"


def test_an_answer_without_the_column_counts_as_wrong():
    run = compare_corpus([{"out": {"n": 1}}, {"n": 1}, [1]], [{"n": 1}] * 3, actual="out")
    assert run.mean_f1 == pytest.approx(1 / 3)
    assert [str(error) for error in run.errors] == [
        "record 2: the answer has no 'out'; known: n",
        "record 3: the answer is [1], not an object with columns",
    ]


# -- CSV ---------------------------------------------------------------------------------------------------


def test_answers_in_a_column_are_model_output(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(
        'no,shop,total,answer\n1,Ann,2.5,"{""shop"": ""Ann"", ""total"": 2.5}"\n2,Bo,1,nothing\n'
    )
    fields = {"shop": "shop", "total": "total"}
    run = compare_corpus(table, table, schema=SCHEMA, id="no", expected=fields, actual="answer")
    assert (run.mean_score, run.parse_rate, run.total_records) == (0.5, 0.5, 2)


def test_without_a_schema_cells_are_text(tmp_path):
    table = write_csv(tmp_path / "gold.csv", [{"a": 1, "b": "x"}])
    assert compare_corpus([{"a": "1", "b": "x"}], table).mean_f1 == 1.0
    assert compare_corpus([{"a": 1, "b": "x"}], table).mean_f1 == 0.5


def test_a_delimiter(tmp_path):
    table = write_csv(tmp_path / "gold.csv", [{"a": "1", "b": "x,y"}], ";")
    assert compare_corpus([{"a": "1", "b": "x,y"}], table, delimiter=";").mean_f1 == 1.0
    with pytest.raises(ConfigurationError, match=r"^delimiter must be one character, got ';;'$"):
        compare_corpus([], table, delimiter=";;")


def test_rows_in_another_order_are_read_again(tmp_path, monkeypatch):
    from pytest_jsonmatch.records import pairing

    monkeypatch.setattr(pairing, "_MAX_WAITING", 2)
    gold = [{"id": str(number), "text": f'line\n"{number}", é'} for number in range(50)]
    table = write_csv(tmp_path / "gold.csv", gold)
    answers = write_csv(tmp_path / "answers.csv", gold[::-1])
    assert compare_corpus(answers, table, id="id").mean_f1 == 1.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,a\n1,2\n", ":1: two columns have the name 'a'; the first row of a .csv file names the columns"),
        (b"a,b\n1,2\n1\n", ":3: record 2: the row must have a cell for each of 2 columns, but has 1"),
        (b"a,b\n1,\xff\n", ":2: record 1: not UTF-8 text; save the file as UTF-8"),
        (b"a,b\n1,7\n", ":2: record 1: 'b' is \"7\", but the schema requires boolean there"),
    ],
)
def test_gold_rows_that_cannot_be_read(tmp_path, content, message):
    table = tmp_path / "gold.csv"
    table.write_bytes(content)
    with pytest.raises((ConfigurationError, GoldValidationError)) as caught:
        compare_corpus(
            [{"a": "1", "b": "2"}] * (content.count(b"\n") - 1),
            table,
            schema={"properties": {"a": {}, "b": {"type": "boolean"}}} if b"7" in content else None,
        )
    assert str(caught.value) == f"{table}{message}"


# -- cost and latency --------------------------------------------------------------------------------------


def latencies(run) -> list[Any]:
    return [record.spent and record.spent.seconds for record in run.records]


@pytest.mark.parametrize("id", [None, "id"])
def test_answers_with_cost_and_latency(id):
    from pytest_jsonmatch import Answer

    gold = [{"id": n, "n": n} for n in range(3)]
    answers = [
        Answer({"id": 0, "n": 0}, seconds=1.0, usage={"cost": 0.5}),
        Answer('So: {"id": 1, "n": 1}', seconds=3.0, usage={"cost": 0.25}),
        {"id": 2, "n": 2},
    ]
    run = compare_corpus(answers, gold, id=id)
    assert (run.mean_score, latencies(run)) == (1.0, [1.0, 3.0, None])
    gates = ["latency.p95 <= 3", "cost.total == 0.75", "latency.mean == 2"]
    assert [gate_of(run, gate).passed for gate in gates] == [True] * 3
    partial = compare_corpus(answers * 8, gold * 8, keep="worst")
    passed, _, note = gate_of(partial, "cost.total == 6")
    assert (passed, note) == (True, "from 16 of 24 answers")


@pytest.mark.parametrize("form", ["list", "function", "frame"])
def test_a_column_of_answers_with_cost_and_latency(form):
    from pytest_jsonmatch import Answer

    gold = [{"no": n, "right": {"n": n}} for n in range(2)]
    answers = [
        {"no": 1, "out": Answer('So: {"n": 1}', seconds=3.0)},
        {"no": 0, "out": Answer({"n": 0}, seconds=1.0)},
    ]
    given: Any = answers
    if form == "function":
        given = lambda: iter(answers)  # noqa: E731
    elif form == "frame":
        given = pytest.importorskip("pandas").DataFrame(answers)
    run = compare_corpus(given, gold, id="no", actual="out", expected="right", keep="all")
    assert (run.mean_score, latencies(run), run.parse_rate) == (1.0, [1.0, 3.0], 1.0)


def cost_table(run: RunResult) -> list[list[str]]:
    """The rows of the table of costs, below its head."""
    lines = report_of(run)
    at = lines.index("answers by model, means and totals")
    return [line.split() for line in lines[at + 2 : lines.index("", at)]]


def test_cost_and_latency_do_not_depend_on_what_is_kept(tmp_path):
    gold = [{"id": n, "n": n % 7} for n in range(60)]
    answers = [
        {
            "id": n,
            "out": {"n": n % 5},
            "spent": {"model": f"m{n % 2}", "seconds": n / 7, **({"cost": 0.1} if n % 3 else {})},
        }
        for n in range(60)
    ]
    files = [write_lines(tmp_path / name, lines) for name, lines in (("a.jsonl", answers), ("g.jsonl", gold))]
    columns = {"id": "id", "actual": "out", "expected": {"n": "n"}}
    whole = compare_corpus(*files, keep="all", **columns)
    cases = RunResult.of_cases(whole.cases)
    assert whole.totals.costs == cases.totals.costs
    p95 = sorted(n / 7 for n in range(60))[56]
    assert whole.totals.costs.compute("latency.p95") == (float(f"{p95:.3g}"), 60)
    table = cost_table(whole)
    assert [row[:2] for row in table[:2]] == [["m0", "30"], ["m1", "30"]]
    assert table[-1][:3] == ["all", "models", "60"]
    for run in (
        compare_corpus(*files, keep="none", chunk_size=7, **columns),
        compare_corpus(*files, keep="worst", **columns),
    ):
        assert run.totals == whole.totals
        run.save(tmp_path / "run.jsonl")
        back = read_results(tmp_path / "run.jsonl")
        assert back.totals.costs == whole.totals.costs
        assert cost_table(back) == table


def test_lines_with_cost_and_latency(tmp_path):
    gold = write_lines(tmp_path / "gold.jsonl", [{"id": n, "n": n} for n in range(2)])
    spent = {"model": "small", "seconds": 2.5, "input_tokens": 3}
    answers = [{"id": 1, "out": {"n": 1}}, {"id": 0, "out": '{"n": 0}', "spent": spent}]
    run = compare_corpus(
        write_lines(tmp_path / "a.jsonl", answers),
        gold,
        id="id",
        actual="out",
        expected={"n": "n"},
        keep="all",
    )
    assert (run.mean_score, latencies(run)) == (1.0, [2.5, None])
    assert run.cases[0].runs[0].comparisons[0].spent.to_dict() == spent
