"""`compare_corpus`: numbers of a corpus, whatever way it comes and wherever it is scored."""

from __future__ import annotations

import importlib
import json
import random
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchWarning,
    compare_corpus,
    compare_json,
    register_comparator,
)
from pytest_jsonmatch.schema import annotate_xeval, infer_schema, parse_eval_schema, validate_gold

GOLD = [
    {"method": "sputtering", "temperature": 300, "lab_id": "A1"},
    {"method": "evaporation", "temperature": 450, "lab_id": "B2"},
]
EXTRACTED = [
    {"method": "sputtering", "temperature": 301, "lab_id": "A1"},
    {"method": "evaporation", "temperature": 460, "lab_id": "B3"},
]


def test_the_quick_start_of_source_5():
    # Record 1: 2 of 3 fields match, so P = R = F1 = 2/3. Record 2: 1 of 3. Their mean is 1/2.
    schema = infer_schema(GOLD)
    annotate_xeval(schema)
    parse_eval_schema(schema)
    validate_gold(GOLD, schema)
    result = compare_corpus(EXTRACTED, GOLD, schema=schema)
    first, second = result.records
    assert (first.record_id, first.precision, first.recall, first.f1) == (1, 2 / 3, 2 / 3, 2 / 3)
    assert (second.record_id, second.precision, second.recall, second.f1) == (2, 1 / 3, 1 / 3, 1 / 3)
    assert (result.mean_precision, result.mean_recall, result.mean_f1) == (0.5, 0.5, 0.5)
    assert (result.micro_precision, result.micro_recall, result.micro_f1) == (0.5, 0.5, 0.5)
    assert (result.total_records, result.total_fields) == (2, 6)
    assert (result.total_matches, result.total_mismatches) == (3, 3)
    assert (result.total_omissions, result.total_hallucinations, result.total_batch_errors) == (0, 0, 0)
    assert {
        path: (each.mean_score, each.matches, each.mismatches, each.omissions, each.hallucinations)
        for path, each in result.per_field.items()
    } == {"method": (1.0, 2, 0, 0, 0), "temperature": (0.0, 0, 2, 0, 0), "lab_id": (0.5, 1, 1, 0, 0)}
    assert [each.status for each in second.field_results] == ["match", "mismatch", "mismatch"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_taken_by_row(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    columns = {"id": ["a", "b"], "n": [1, None], "s": ["x", None], "at": [datetime(2024, 1, 31), None]}
    frame = importlib.import_module(library).DataFrame(columns)
    gold = [
        {"id": "a", "n": 1, "s": "x", "at": "2024-01-31T00:00:00"},
        {"id": "b", "n": None, "s": None, "at": None},
    ]
    run = compare_corpus(frame, gold, id="id", nulls="absent")
    assert (run.mean_f1, [record.record_id for record in run.records]) == (1.0, ["a", "b"])
    assert compare_corpus(gold[::-1], frame, id="id", nulls="absent").mean_f1 == 1.0
    schema = infer_schema(frame)
    if library == "polars":
        assert schema["properties"]["s"] == {"type": ["string", "null"]}
        assert validate_gold(frame, schema) is None


@pytest.mark.parametrize("side", ["answers", "gold"])
def test_missing_cells_of_pandas_are_members_that_a_record_lacks(side):
    pandas = pytest.importorskip("pandas")
    records = [{"id": str(number), "n": number} for number in range(40)]
    records[3] |= {"note": "seen", "seats": 5, "at": datetime(2024, 1, 31), "ok": True, "tags": ["a"]}
    records[4] |= {"note": None}
    frame = pandas.DataFrame(records)
    frame["kind"] = pandas.array([None, *["x"] * 39], dtype="string")
    frame["count"] = pandas.array([None, *[1] * 39], dtype="Int64")
    for record in records[1:]:
        record.update(kind="x", count=1)
    if frame["note"][4] is not None:  # newer versions make NaN of it in a column of text
        del records[4]["note"]
    sides = (frame, records) if side == "answers" else (records, frame)
    run = compare_corpus(*sides, id="id")
    assert (run.mean_f1, run.micro_f1) == (1.0, 1.0)


def test_none_in_a_column_of_objects_is_null():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Series([None, float("nan"), [1]], dtype=object)})
    assert compare_corpus(frame, [{"a": None}, {}, {"a": [1]}]).mean_f1 == 1.0


def test_nan_in_a_column_of_numbers_is_not_there():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, float("nan")], "b": ["x", "y"]})
    run = compare_corpus(frame, [{"a": 1, "b": "x"}, {"a": None, "b": "y"}])
    assert [field.status for field in run.records[1].field_results] == ["omission", "match"]
    polars = pytest.importorskip("polars")
    run = compare_corpus(polars.DataFrame({"a": [1.0, float("nan")]}), [{"a": 1}, {}])
    assert run.mean_f1 == 1.0


def test_nulls_of_polars_are_values_with_a_warning():
    polars = pytest.importorskip("polars")
    frame, gold = polars.DataFrame([{"a": 1, "b": "x"}, {"a": 2}]), [{"a": 1, "b": "x"}, {"a": 2}]
    with pytest.warns(
        JsonMatchWarning, match="^column 'b' of a data frame of polars: null counts as a value"
    ):
        assert compare_corpus(frame, gold).micro_f1 < 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compare_corpus(frame, gold, nulls="absent").micro_f1 == 1.0
        assert compare_corpus(frame, gold, nulls="value").micro_f1 < 1.0
        compare_corpus(frame.fill_null("z"), gold)


def test_two_columns_of_one_name_are_an_error():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(
        ConfigurationError, match="two columns of the data frame have the name 'a'; rename one"
    ):
        compare_corpus(frame, [{"a": 1}])


def generated(count: int, seed: int = 7) -> tuple[list[Any], list[Any]]:
    rng = random.Random(seed)

    def record() -> dict[str, Any]:
        rows = [{"x": rng.randint(0, 3), "y": rng.choice(["p", "q"])} for _ in range(rng.randint(0, 2))]
        tags = [rng.choice("abc") for _ in range(rng.randint(0, 3))]
        return {
            "name": rng.choice(["ann", "bob", "carl"]),
            "n": rng.choice([1, 2, 0.1, None]),
            "tags": tags,
            "rows": rows,
        }

    return [record() for _ in range(count)], [record() for _ in range(count)]


ROW = {"type": "object", "properties": {"x": {"x-eval-weight": 0.7}, "y": {"type": "string"}}}
WEIGHTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "x-eval-compare": "levenshtein", "x-eval-weight": 0.3},
        "n": {"type": ["number", "null"], "x-eval-compare": {"numeric": {"tolerance": {"abs": 0.5}}}},
        "tags": {"type": "array", "x-eval-align": {"match_by": "hungarian"}, "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"anyOf": [ROW, {"type": "string"}]}},
    },
}


@pytest.fixture(scope="module")
def whole():
    """Records, answers, and what a run of them in one chunk says."""
    gold, extracted = generated(100)
    return gold, extracted, compare_corpus(extracted, gold, schema=WEIGHTS).to_dict()


@pytest.fixture(scope="module")
def executors():
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2) as processes:
        yield {"here": None, "threads": threads, "processes": processes}


@pytest.mark.parametrize("keep", ["all", "imperfect", "worst", "none"])
@pytest.mark.parametrize(
    ("size", "where"), [(1, "here"), (7, "threads"), (21, "processes"), (1000, "processes")]
)
def test_statistics_depend_on_neither_chunks_nor_executors_nor_what_is_kept(
    whole, executors, keep, size, where
):
    gold, extracted, required = whole
    how = {"keep": keep, "chunk_size": size, "executor": executors[where]}
    found = compare_corpus(extracted, gold, schema=WEIGHTS, **how).to_dict()
    if keep != "all":
        required = {name: value for name, value in required.items() if name != "records"}
        del found["records"]
    assert found == ({**required, "worst": []} if keep == "none" else required)


def test_an_answer_that_cannot_be_read_has_nothing_right():
    result = compare_corpus(['{"a": 1, "b": ', 'Sure: {"a": 1}'], [{"a": 1, "b": 2}, {"a": 1}])
    assert (result.records[0].recall, result.mean_recall) == (0.0, 0.5)
    assert result.records[0].counts == {"omission": 2}
    (error,) = result.errors
    assert (error.record_id, error.path, error.comparator) == (1, None, None)
    reported = "no JSON found in the actual text: output ends inside an object opened at line 1"
    assert error.reason.startswith(reported)


def test_an_answer_that_the_metric_refuses_has_nothing_right():
    schema = {"type": "object", "properties": {"a": {}}}
    gold = [{"a": 1}, {"a": 1}]
    result = compare_corpus([{"a": 1, "z": 2}, {"a": 1}], gold, schema=schema, metric="pairwise_f1")
    assert ([each.f1 for each in result.records], result.errors[0].record_id) == ([0.0, 1.0], 1)
    assert result.records[0].error is not None
    assert compare_corpus([[1]], [{"a": 1}], metric="field_match").records[0].score == 0.0


@pytest.mark.parametrize(
    ("gold", "schema", "options", "message"),
    [
        (['{"a": '], None, {}, r"^record 1: not valid JSON \(line 1, column 7\)"),
        (
            [{"a": 1}, {"b": 1}],
            {"properties": {"a": {}}},
            {},
            r"^record 2: 'b' is not in the schema; known: a",
        ),
        ([{"a": float("nan")}], None, {}, r"^record 1: .*"),
        ([[1]], None, {"metric": "field_match"}, r"^record 1: field_match compares two objects"),
    ],
)
def test_gold_has_to_be_right(gold, schema, options, message):
    with pytest.raises(GoldValidationError, match=message):
        compare_corpus([{"a": 1, "id": 1}, {"a": 1, "id": 2}][: len(gold)], gold, schema=schema, **options)


def test_what_goes_wrong_in_comparators_is_collected():
    register_comparator("broken", lambda expected, actual, params: 1 / 0, overwrite=True)
    records = [{"a": 1, "b": 1}] * 2
    result = compare_corpus(records, records, fields={"a": {"compare": "broken"}})
    assert (result.mean_f1, result.total_errors) == (0.5, 2)
    reported = "record 2, a: comparator 'broken' raised ZeroDivisionError: division by zero"
    assert str(result.errors[1]) == reported


# -- who belongs to whom -----------------------------------------------------------------------------------


def test_ids_bring_records_together():
    gold = [{"id": "x", "v": 1}, {"id": "y", "v": 2}, {"id": "z", "v": 3}]
    extracted = [
        {"id": "z", "v": 3},
        {"id": "q", "v": 9},
        '{"id": "x", "v": 1}',
        {"v": 4},
        {"id": "x", "v": 5},
    ]
    result = compare_corpus(extracted, gold, id="id")
    assert [(each.record_id, each.f1, each.error) for each in result.records] == [
        ("x", 1.0, None),
        ("y", 0.0, "there is no answer for it"),
        ("z", 1.0, None),
    ]
    assert (result.unmatched_expected, result.total_errors) == (("y",), 2)
    assert sorted(map(str, result.unmatched_actual)) == ["actual[3]", "q", "x"]
    assert [str(each) for each in result.errors] == [
        "record 'y': there is no answer for it",
        "record 'actual[3]': the answer has no 'id'; known: v",
    ]


def test_without_ids_missing_answers_are_wrong_and_surplus_ones_an_error():
    result = compare_corpus([{"a": 1}], [{"a": 1}, {"a": 2}])
    assert (result.mean_recall, result.unmatched_expected) == (0.5, (2,))
    with pytest.raises(
        ConfigurationError,
        match=r"^there are more answers than gold records; without id they are paired by position$",
    ):
        compare_corpus([{"a": 1}, {"a": 2}], [{"a": 1}])


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)) + "\n\n", encoding="utf-8")
    return path


def test_bad_lines(tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"a": 1}\n\n{"a": \n', encoding="utf-8")
    answers = lines(tmp_path / "answers.jsonl", [{"a": 1}, {"a": 2}])
    reported = r"gold\.jsonl:3:7: not valid JSON: the text ends inside an object near"
    with pytest.raises(GoldValidationError, match=reported):
        compare_corpus(answers, gold)
    gold.write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    answers.write_text('{"a": 1}\nI do not know\n', encoding="utf-8")
    result = compare_corpus(answers, gold)
    assert (result.mean_f1, result.errors[0].record_id) == (0.5, 2)


# -- what is kept, what is told ----------------------------------------------------------------------------


def test_what_is_kept():
    gold = [{"a": index} for index in range(30)]
    extracted = [{"a": index if index % 2 else -1} for index in range(30)]

    def kept(**options: Any) -> tuple[int, int, list[Any]]:
        result = compare_corpus(extracted, gold, **options)
        with_fields = sum(bool(each.field_results) for each in result.records)
        return len(result.records), with_fields, [each.record_id for each in result.worst]

    lowest = list(range(1, 21, 2))
    assert [kept(), kept(keep="imperfect")] == [(30, 30, lowest), (30, 15, lowest)]
    assert [kept(keep="worst"), kept(keep="none")] == [(10, 10, lowest), (0, 0, [])]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "best"}, "keep must be 'all' or 'imperfect' or 'worst' or 'none', got 'best'"),
        ({"chunk_size": 0}, "chunk_size must be a number of records, at least 1, got 0"),
        ({"post_process": 5}, "post_process has 5, which cannot be called with a list of field results"),
        (
            {"executor": 4},
            "executor must be one of concurrent.futures, such as ProcessPoolExecutor(4), got 4",
        ),
        ({"id": 5}, "id must name a column of both sides, got 5"),
        ({"cluster": 3}, "cluster must name a column of gold records, got 3"),
        ({"repair": 1}, "repair must be True or False, got 1"),
        ({"metric": "leaf_f2"}, "unknown metric 'leaf_f2'; did you mean 'leaf_f1'?"),
    ],
)
def test_what_is_wrong_with_arguments(options, message):
    with pytest.raises(ConfigurationError) as caught:
        compare_corpus([], [], **options)
    assert str(caught.value) == message


def test_gold_records_may_have_ids_of_their_own():
    run = compare_corpus([{"n": 1}, {"n": 3}], {"one.json": {"n": 1}, "two.json": {"n": 2}}, keep="all")
    assert [(each.record_id, each.score) for each in run.records] == [("one.json", 1.0), ("two.json", 0.0)]


def test_a_record_that_is_kept_has_its_comparison():
    gold, answer = {"id": 1, "a": [1, 2]}, {"id": 1, "a": [2, 3]}
    run = compare_corpus([answer], [gold], metric="pairwise_f1", id="id")
    match = run.records[0].match
    alone = compare_json({"a": [2, 3]}, {"a": [1, 2]}, metric="pairwise_f1")
    assert (match.documents, match.alignments) == (alone.documents, alone.alignments)


CLUSTERED = [{"document": f"d{at // 2}", "n": at} for at in range(4)]


@pytest.mark.parametrize("answers", [[{"n": at} for at in range(4)], CLUSTERED])
def test_a_cluster_is_named_and_not_scored(answers):
    run = compare_corpus(answers, CLUSTERED, cluster="document")
    assert [record.cluster for record in run.records] == ["d0", "d0", "d1", "d1"]
    assert (run.mean_f1, list(run.per_field)) == (1.0, ["n"])
    assert CLUSTERED[0] == {"document": "d0", "n": 0}
    assert run.signature != compare_corpus(answers, CLUSTERED).signature
    run = compare_corpus([{}, {}, {}], [{"n": 1}, {"document": None}, {"document": 7}], cluster="document")
    assert [record.cluster for record in run.records] == ["", "", "7"]


def test_a_cluster_that_no_record_names_is_a_warning():
    with pytest.warns(
        JsonMatchWarning, match="^cluster: no gold record has a column 'dokument', so each record"
    ):
        compare_corpus([{"n": 1}], CLUSTERED[:1], cluster="dokument")


def test_the_id_is_scored_only_if_the_schema_lists_it():
    gold, extracted = [{"id": 1, "v": 2}], [{"id": 1, "v": 2}]
    schema = {"properties": {"id": {}, "v": {}}}
    assert compare_corpus(extracted, gold, id="id").total_fields == 1
    assert compare_corpus(extracted, gold, schema={"properties": {"v": {}}}, id="id").total_fields == 1
    assert compare_corpus(extracted, gold, schema=schema, id="id").total_fields == 2
    assert gold == [{"id": 1, "v": 2}]


A_LIST = "must be a list or an iterator of records, or the path of a file of records (JSON Lines, CSV, a JSON array), a folder or a glob"


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (b"[]", f"expected {A_LIST}, got bytes"),
        (5, f"expected {A_LIST}, got int"),
        (Path("nowhere.jsonl"), "expected 'nowhere.jsonl' can't be read: no such file or directory"),
        ("nowhere.jsonl", "expected 'nowhere.jsonl' can't be read: no such file or directory"),
    ],
)
def test_what_is_no_corpus(gold, message):
    with pytest.raises(ConfigurationError) as caught:
        compare_corpus([], gold)
    assert str(caught.value) == message
    with pytest.raises(
        ConfigurationError,
        match=r"actual must be a list or an iterator of records, or the path of a file of records .*, got dict",
    ):
        compare_corpus({"a": 1}, {"a": 1})  # only gold may have ids beside its records


@pytest.mark.parametrize("expected", [{"x": 1}, {}])
@pytest.mark.parametrize("answer", ["sorry", '{"x":', None])
def test_an_answer_without_json_counts_0_in_every_statistic(expected, answer):
    answers = [expected] if answer is None else [expected, answer]
    run = compare_corpus(answers, [expected, expected])
    assert (run.mean_precision, run.mean_recall, run.mean_f1, run.mean_score) == (0.5, 0.5, 0.5, 0.5)


# -- mistakes in how a corpus is given ------------------------------------------------------------------------

CLEAN = [{"id": f"r{n}", "total": n} for n in range(5)]
SAID = [f'Sure: {{"id": "r{n}", "total": {n + (n == 3)}}}' for n in range(5)]
SPENT = [{"id": f"r{n}", "out": {"total": n + 1}, "spent": {"seconds": 1.5}} for n in range(5)]
WHOLE = [{"id": f"r{n}", "gold": {"total": n}} for n in range(5)]
LABELS = [{"id": f"r{n}", "label": f"word {n}"} for n in range(5)]
WORDS = [{"id": f"r{n}", "said": {"word": f"word {min(n, 3)}", "sure": 1}} for n in range(5)]
TEXTS = [{"id": f"r{n}", "json": json.dumps({"total": n})} for n in range(5)]
FORMS = "the answers and the gold records have different forms; they are alike with"
OBJECTS = (
    "the answers are objects, but what is expected in the gold records is not: name the column of the answer"
)


@pytest.mark.parametrize(
    ("answers", "gold", "options", "reported"),
    [
        (CLEAN, SAID, {}, "the gold records look like answers: are they swapped (answers come first)?"),
        (CLEAN, map(str, SAID), {}, None),  # can be read only once
        (
            WHOLE,
            SPENT,
            {"id": "id", "expected": "out", "actual": "gold"},
            "the gold records look like answers",
        ),
        (SAID, CLEAN, {}, None),
        (SPENT, WHOLE, {"id": "id", "actual": "out", "expected": "gold"}, None),
        (SAID, SAID[1:] + SAID[:1], {}, None),
        (
            WHOLE,
            CLEAN,
            {"id": "id"},
            f"{FORMS} actual='gold'",
        ),
        (CLEAN, WHOLE, {"id": "id"}, f"{FORMS} expected='gold'"),
        (CLEAN[:1], WHOLE[:1], {"id": "id"}, f"{FORMS} expected='gold'"),
        (SPENT, WHOLE, {"id": "id", "expected": "gold"}, f"{FORMS} actual='out'"),
        (SPENT, WHOLE, {"id": "id"}, f"{FORMS} actual='out', expected='gold'"),
        (SPENT, WHOLE, {}, f"{FORMS} actual='out', expected='gold'"),
        (WORDS, LABELS, {"id": "id", "expected": "label"}, f"{FORMS} actual='said.word'"),
        (WORDS, LABELS, {"id": "id", "actual": "said.word"}, f"{FORMS} expected='label'"),
        (pd.DataFrame(CLEAN), pd.DataFrame(LABELS), {"id": "id", "expected": "label"}, OBJECTS),
        (
            CLEAN,
            TEXTS,
            {"id": "id"},
            f"{FORMS} expected='json', fields={{'$': {{'transform': ['parse_json']}}}}",
        ),
        (
            CLEAN,
            TEXTS,
            {"id": "id", "expected": "json"},
            "the gold records look like answers: are they swapped (answers come first)? If not, parse their JSON",
        ),
        (
            [{"a": 1}] * 5,
            [{"b": 1}] * 5,
            {},
            "the answers and the gold records share no field: are they swapped",
        ),
        ([{"id": 9, "a": 1}], CLEAN, {"id": "id"}, None),
        (
            CLEAN[::-1],
            CLEAN,
            {},
            "id differs by position, but both sides have the same values: are they in another",
        ),
        (CLEAN[::-1], CLEAN, {"id": "id"}, None),
        (pd.DataFrame(CLEAN[::-1]), pd.DataFrame(CLEAN), {}, "id differs by position"),
        (WHOLE[::-1], WHOLE, {"actual": "gold", "expected": "gold"}, "id differs by position"),
        ([{**record, "total": 0} for record in CLEAN], CLEAN, {}, None),
    ],
)
def test_sides_that_are_swapped_or_in_another_order(answers, gold, options, reported):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_corpus(answers, gold, **options)
    texts = [str(warning.message) for warning in caught if warning.category is JsonMatchWarning]
    assert [text.startswith(reported or "?") for text in texts] == [True] * (reported is not None)
    assert all(warning.filename == __file__ for warning in caught)


def test_gold_that_is_not_json_because_the_sides_are_swapped(tmp_path):
    answers, gold = tmp_path / "answers.jsonl", tmp_path / "gold.jsonl"
    answers.write_text("".join(f"{line}\n" for line in SAID))
    gold.write_text("".join(f"{json.dumps(record)}\n" for record in CLEAN))
    reported = "not valid JSON: .*; are they swapped \\(answers come first\\)\\?"
    with pytest.raises(GoldValidationError, match=reported) as caught:
        compare_corpus(gold, answers)
    assert caught.value.record_id == 1
    gold.write_text("Sure: {}\n" * 5)
    with pytest.raises(GoldValidationError) as caught:
        compare_corpus(answers, gold)
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize("keep", ["all", "none"])
def test_a_tag_that_no_record_has_is_a_warning(keep):
    gold = [{"n": 1, "meta": {"source": "scan"}}]
    with pytest.warns(JsonMatchWarning) as caught:
        compare_corpus(gold, gold, tags={"from": "meta.sauce", "source": "meta.source"}, keep=keep)
    message = "tags: no gold record has a value at 'meta.sauce', so no record has the tag 'from'"
    assert [str(each.message) for each in caught] == [message]
