"""Tables with answers in a second file, nested columns, and settings of a case in its row."""

from __future__ import annotations

import json

import pytest

from pytest_jsonmatch import Answer
from tests.conftest import GoldenFileError, load_cases


@pytest.fixture
def cases(tmp_path):
    """Load the cases of a table; the files are written first, lists as JSON Lines."""

    def load(columns, next_to="", **files):
        for name, content in files.items():
            stem, _, suffix = name.rpartition("_")
            lines = content if isinstance(content, str) else "\n".join(map(json.dumps, content))
            (tmp_path / f"{stem}.{suffix}").write_text(lines)
        text = f"{next_to}cases_from: {{{columns}}}\n".encode()
        return load_cases(text, tmp_path / "x.golden.yaml", "x.yaml").by_id

    return load


GOLD = [{"doc": 7, "total": 1}, {"doc": "b", "total": 2}]


def error_of(read):
    with pytest.raises(GoldenFileError) as caught:
        read()
    return str(caught.value)


# -- a second file -----------------------------------------------------------------------------------------


def test_answers_of_a_second_file_are_found_by_id(cases):
    answers = [{"no": "b", "out": '{"total": 3}'}, {"no": "7", "out": {"total": 1}}, {"no": "x", "out": 0}]
    found = cases(
        "file: gold.jsonl, id: doc, actual: {file: a.jsonl, id: no, column: out}",
        gold_jsonl=GOLD,
        a_jsonl=answers,
    )
    assert {name: (case.expected, case.actual) for name, case in found.items()} == {
        "7": ({"total": 1}, {"total": 1}),
        "b": ({"total": 2}, '{"total": 3}'),
    }


def test_without_a_column_the_record_is_the_answer(cases):
    found = cases(
        "file: gold.csv, id: doc, actual: {file: a.json, id: meta.no}",
        gold_csv="doc,total\n7,1\n",
        a_json=json.dumps([{"meta": {"no": 7}, "total": "1"}]),
    )
    assert found["7"].actual == {"meta": {"no": 7}, "total": "1"}


def test_without_ids_rows_are_paired_by_position(cases):
    found = cases(
        "file: gold.jsonl, expected: total, actual: {file: a.jsonl, column: out}",
        gold_jsonl='{"total": 1}\n\n{"total": 2}\n',
        a_jsonl=[{"out": 5}, {"out": 6}],
    )
    assert {name: case.actual for name, case in found.items()} == {"line-1": 5, "line-3": 6}


def test_cost_and_latency_stand_next_to_the_answer(cases):
    spent = {"model": "small", "seconds": 1.5, "input_tokens": 90, "cost": 0.01}
    answers = [
        {"no": 7, "out": {"total": 1}, "spent": spent},
        {"no": "b", "out": 1, "spent": {"seconds": -1}},
    ]
    found = cases(
        "file: gold.jsonl, id: doc, actual: {file: a.jsonl, id: no, column: out}",
        gold_jsonl=GOLD,
        a_jsonl=answers,
    )
    assert isinstance(found["7"].actual, Answer)
    assert found["7"].actual.spent.to_dict() == spent
    assert error_of(lambda: found["b"].actual).startswith("gold.jsonl:2:1: seconds must be a number")


def test_cost_and_latency_stand_next_to_an_answer_in_its_row(cases):
    rows = [
        {"no": 7, "out": {"total": 1}, "gold": {"total": 1}, "spent": {"seconds": 2}},
        {"no": 8, "out": {"total": 1}, "gold": {"total": 1}, "spent": 3},
        {"no": 9, "out": {"total": 1}, "gold": {"total": 1}, "spent": {"seconds": -1}},
    ]
    found = cases("file: rows.jsonl, id: no, expected: gold, actual: out", rows_jsonl=rows)
    assert (found["7"].actual.value, found["7"].actual.spent.seconds) == ({"total": 1}, 2)
    assert found["8"].actual == {"total": 1}
    assert error_of(lambda: found["9"].actual).startswith("rows.jsonl:3:1: seconds must be a number")


def test_rows_of_a_function_have_answers_with_cost_and_latency(pytester, golden, write):
    golden('cases_from: { rows: "data:rows", expected: gold, actual: out }\n')
    write(
        "data.py",
        "from pytest_jsonmatch import Answer\n\n"
        "def rows():\n"
        "    yield {'out': Answer('So: {\"a\": 1}', seconds=2), 'gold': {'a': 1}}\n"
        "    yield {'out': Answer({'a': 2}, seconds=4), 'gold': {'a': 2}}\n",
    )
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest("--jsonmatch-gate", "latency.mean == 3")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["latency.mean == 3 *passed*"])


WRONG = r"""
actual: {file: a.txt, id: no} => 1:50: `cases_from`: the `file` of `actual` must name a .jsonl, .csv, .tsv or .json file
actual: {file: a.jsonl} => 1:41: `cases_from`: `cases_from` has an `id` and `actual` has none; give both, or none to pair rows by position
actual: {file: none.jsonl, id: no} => 1:50: `cases_from`: none.jsonl can't be read: no such file or directory
actual: {file: a.jsonl, id: nr} => 1:50: `cases_from`: a.jsonl:1 has no 'nr'; known: no, out
actual: {file: twice.jsonl, id: no} => 1:50: `cases_from`: twice.jsonl:2 has the same no as an earlier answer: 7
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_second_file_that_is_wrong(cases, line):
    columns, message = line.split(" => ")
    files = {"gold_jsonl": GOLD, "a_jsonl": [{"no": 7, "out": 1}], "twice_jsonl": [{"no": 7}, {"no": 7}]}
    reported = error_of(lambda: cases(f"file: gold.jsonl, id: doc, {columns}", **files))
    assert reported == f"x.yaml:{message}"


def test_a_missing_answer_is_unanswered(pytester, golden, write):
    golden("cases_from: { file: gold.jsonl, id: doc, actual: { file: a.jsonl, id: no, column: out } }\n")
    write("gold.jsonl", "\n".join(map(json.dumps, GOLD)))
    write("a.jsonl", '{"no": 7, "out": {"total": 1}, "spent": {"seconds": 2, "cost": 0.5}}\n')
    result = pytester.runpytest("--jsonmatch-gate", "answered == 0.5", "--jsonmatch-gate", "latency.p95 == 2")
    result.stdout.fnmatch_lines_random(
        ["E   AssertionError: a.jsonl has no answer for 'b'", "answered == 0.5 *", "latency.p95 == 2 *"]
    )


def test_a_column_that_the_answer_lacks(cases):
    found = cases(
        "file: gold.jsonl, id: doc, actual: {file: a.jsonl, id: no, column: output}",
        gold_jsonl=GOLD[:1],
        a_jsonl=[{"no": 7, "out": 1}],
    )
    reported = "gold.jsonl:1:1: the answer in a.jsonl has no 'output'; did you mean 'out'?"
    assert str(found["7"].fault) == reported


# -- columns -----------------------------------------------------------------------------------------------


def test_columns_are_paths(cases):
    gold = [{"meta": {"id": 1, "by": "Ann"}, "gold": {"calls": [{"n": 1}]}, "in": {"text": "how"}}]
    columns = "file: gold.jsonl, id: meta.id, expected: gold.calls, input: in.text, tags: {by: '{meta.by}'}"
    (case,) = cases(columns, gold_jsonl=gold).values()
    assert (case.id, case.expected, case.input, case.tags) == ("1", [{"n": 1}], "how", {"by": "Ann"})


def test_a_column_before_a_path(cases):
    (case,) = cases("file: gold.jsonl, expected: a.b", gold_jsonl=[{"a.b": 1, "a": {"b": 2}}]).values()
    assert case.expected == 1


def test_other_files(cases):
    for columns, files in {
        "file: gold.tsv": {"gold_tsv": "a\tb\nx\ty\n"},
        "file: gold.csv, delimiter: ';'": {"gold_csv": "a;b\nx;y\n"},
        "file: gold.json": {"gold_json": '[{"a": "x", "b": "y"}]'},
    }.items():
        (case,) = cases(columns, **files).values()
        assert case.expected == {"a": "x", "b": "y"}


def test_another_delimiter_is_suggested(cases):
    reported = error_of(lambda: cases("file: gold.csv, id: a", gold_csv="a;b\nx;y\n"))
    assert reported == "x.yaml:1:30: `cases_from`: gold.csv has no column 'a'; is the delimiter ';'?"


def test_an_element_that_is_no_row(cases):
    found = cases("file: gold.json", gold_json='[{"a": 1}, 5]')
    assert str(found["row-2"].fault) == "gold.json:1:1: row 2: the row is 5, not an object"
    reported = error_of(lambda: cases("file: gold.json", gold_json='[{"a": 1},\n 5'))
    assert reported.startswith("gold.json:1:1: 2:3: not valid JSON")


# -- settings ----------------------------------------------------------------------------------------------


def test_settings_of_a_row(cases):
    columns = (
        "file: gold.jsonl, expected: x, title: t, threshold: limit, fields: rules, skip: out, cluster: doc"
    )
    rows = [
        {"x": 1, "t": "the first", "limit": 0.5, "rules": {"a": "exact"}, "out": ["b"], "doc": 7},
        {"x": 2, "t": None, "limit": None, "rules": None, "out": None, "doc": None},
        {"x": 3, "t": "", "limit": 2, "rules": {}, "out": [], "doc": "d"},
    ]
    next_to = "threshold: 0.9\nfields: {c: exact}\nskip: [d]\n"
    one, two, three = cases(columns, next_to, gold_jsonl=rows).values()
    assert (one.title, one.threshold, one.cluster) == ("the first", 0.5, "7")
    assert one.options == {"fields": {"c": "exact", "a": "exact"}, "skip": ["d", "b"]}
    assert (two.title, two.threshold, two.cluster) == (None, 0.9, "")
    assert two.options == {"fields": {"c": "exact"}, "skip": ["d"]}
    assert (
        str(three.fault)
        == "gold.jsonl:3:1: `threshold`: threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got 2"
    )


def test_settings_in_cells_are_json(cases):
    columns = "file: gold.csv, id: no, threshold: limit, fields: rules, skip: out"
    rows = 'no,a,limit,rules,out\n1,x,0.5,"{""a"": ""skip""}","[""b""]"\n2,y,,,\n3,z,half,,\n'
    one, two, three = cases(columns, gold_csv=rows).values()
    assert (one.expected, one.threshold, one.options) == (
        {"a": "x"},
        0.5,
        {"fields": {"a": "skip"}, "skip": ["b"]},
    )
    assert (two.expected, two.threshold, two.options) == ({"a": "y"}, None, {})
    assert str(three.fault).startswith("gold.csv:4:1: 'limit' is \"half\", not JSON: ")
