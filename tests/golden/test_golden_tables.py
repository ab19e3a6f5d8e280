"""`cases_from`: each row of a JSON Lines or CSV file is a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_jsonmatch import golden_cases
from tests.conftest import GoldenFileError, load_cases

RECEIPT = """\
schema:
  type: object
  properties:
    shop: { type: string }
    total: { type: number }
    count: { type: integer }
    paid: { type: boolean }
    tip: { type: [number, "null"] }
    note: { type: [string, "null"] }
    items: { type: array, items: { type: number } }
    vendor: { type: object, properties: { no: { type: integer } } }
"""


@pytest.fixture
def cases(tmp_path):
    """Load the cases of a table that is written first."""

    def load(columns, rows, name="gold.jsonl", next_to="", **options):
        (tmp_path / name).write_bytes(rows if isinstance(rows, bytes) else rows.encode())
        text = f"{next_to}cases_from: {{file: {name}, {columns}}}\n".encode()
        return load_cases(text, tmp_path / "x.golden.yaml", "x.yaml", **options).by_id

    return load


def error_of(read):
    with pytest.raises(GoldenFileError) as caught:
        read()
    return str(caught.value)


# -- what a row says ---------------------------------------------------------------------------------------


def test_the_whole_row_without_its_id_is_expected(cases):
    found = cases("id: no", '{"no": "a", "total": 1, "items": [{"n": 2}]}\n\n{"total": 2, "no": 7}')
    assert {name: case.expected for name, case in found.items()} == {
        "a": {"total": 1, "items": [{"n": 2}]},
        "7": {"total": 2},
    }
    assert [(case.path.name, case.line, case.has_actual) for case in found.values()] == [
        ("gold.jsonl", 1, False),
        ("gold.jsonl", 3, False),
    ]


def test_nor_are_its_input_and_its_answer_expected(cases):
    (case,) = cases("id: no, input: q, actual: a", '{"no": 1, "q": "how", "a": "{}", "n": 1}\n').values()
    assert (case.input, case.actual, case.expected) == ("how", "{}", {"n": 1})


def test_a_member_is_expected(cases):
    (case,) = cases("expected: gold", '{"gold": [1, 2], "x": 1}\n').values()
    assert (case.id, case.expected) == ("line-1", [1, 2])


def test_fields_are_made_of_columns(cases):
    columns = "expected: {total: a, vendor: {name: b, address: {city: c}}}, input: {city: c}"
    (case,) = cases(columns, '{"a": 1.5, "b": "Ann", "c": null}\n').values()
    assert case.expected == {"total": 1.5, "vendor": {"name": "Ann", "address": {"city": None}}}
    assert case.input == {"city": None}


def test_files_are_named_by_columns(cases, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "7-x.txt").write_text("an invoice")
    (tmp_path / "7.json").write_text('{"total": 1}')
    columns = 'input_file: "docs/{no}-{kind}.txt", expected_file: "{no}.json"'
    (case,) = cases(columns, '{"no": 7, "kind": "x"}\n').values()
    assert (case.input, case.expected) == ("an invoice", {"total": 1})


def test_tags_are_made_of_columns(cases):
    rows = '{"no": "a", "source": "phone", "page": 3}\n{"no": "b", "source": null, "page": 1}'
    found = cases(
        'id: no, tags: {source: "{source}", where: "page {page}"}', rows, next_to="tags: {kind: bill}\n"
    )
    assert found["a"].tags == {"kind": "bill", "source": "phone", "where": "page 3"}
    assert found["a"].expected == {}
    assert error_of(lambda: found["b"].expected) == "gold.jsonl:2:1: 'source' is null, which can't be a tag"


def test_a_broken_row_has_the_tags_of_its_cells_and_else_says_unreadable(cases):
    rows = '{"no": "a", "source": "phone"}\n{"no": "a", "source": "mail"}\n{"no": \n{"no": "b", "source": null}\n'
    found = cases('id: no, tags: {source: "{source}"}', rows, next_to="tags: {kind: bill, source: file}\n")
    assert [case.tags for case in found.values()] == [
        {"kind": "bill", "source": source} for source in ("phone", "mail", "unreadable", "unreadable")
    ]


def test_a_row_comes_before_what_stands_next_to_it(cases):
    next_to = "input_file: none.txt\nthreshold: 0.5\nmetric: json_similarity\n"
    (case,) = cases("input: q", '{"q": "how"}\n', next_to=next_to).values()
    assert (case.input, case.threshold, case.metric) == ("how", 0.5, "json_similarity")


def test_ids_can_name_tests(cases):
    rows = "".join(f'{{"no": {each}}}\n' for each in ('"2024/17 b"', "12", "true", '"é.x@1"', '"a::b[1]"'))
    assert list(cases("id: no", rows)) == ["2024-17-b", "12", "true", "é.x@1", "a-b-1"]


def test_each_case_is_repeated_but_recorded_answers(cases):
    rows = '{"no": "a", "x": 1}\n'
    assert list(cases("id: no", rows, next_to="repeat: 2\n")) == ["a@1", "a@2"]
    assert list(cases("id: no, actual: x", rows, next_to="repeat: 2\n")) == ["a"]


def test_values_are_copies(cases):
    (case,) = cases("expected: gold", '{"gold": {"a": [1]}}\n').values()
    case.expected["a"].append(2)
    assert case.expected == {"a": [1]}


# -- CSV ---------------------------------------------------------------------------------------------------


def test_cells_are_text(cases):
    (case,) = cases("id: no", "no,total,note\r\n1,012,\r\n", "gold.csv").values()
    assert case.expected == {"total": "012", "note": ""}


def test_cells_have_the_types_of_the_schema(cases):
    header = "no,shop,total,count,paid,tip,note,items,other\n"
    rows = header + '1,012,12.50,3,TRUE,,,"[1, 2]",7\n2,,1e2,2.0,false,1,x,[],\n3,,,,,,,,\n'
    found = [case.expected for case in cases("id: no", rows, "gold.csv", RECEIPT).values()]
    assert [list(each) for each in found] == [header.strip().split(",")[1:]] * 3
    assert [list(each.values()) for each in found] == [
        ["012", 12.5, 3, True, None, None, [1, 2], "7"],
        ["", 100.0, 2.0, False, 1, "x", [], ""],
        ["", None, None, None, None, None, None, ""],
    ]


def test_fields_of_columns_have_the_types_of_the_schema(cases):
    columns = "expected: {total: a, vendor: {no: b}}, actual: {total: a}, input: {total: a}"
    (case,) = cases(columns, "a,b\n1.5,7\n", "gold.csv", RECEIPT).values()
    assert (case.expected, case.actual) == ({"total": 1.5, "vendor": {"no": 7}}, {"total": 1.5})
    assert case.input == {"total": "1.5"}


def test_a_column_has_the_type_of_the_whole_schema(cases):
    rows = 'gold,said\n"{""total"": 1}","{""total"": 1}"\n'
    (case,) = cases("expected: gold, actual: said", rows, "gold.csv", RECEIPT).values()
    assert (case.expected, case.actual) == ({"total": 1}, '{"total": 1}')


@pytest.mark.parametrize(
    ("column", "cell", "required"),
    [
        ("total", "12x", "number"),
        ("total", "true", "number"),
        ("count", "1.5", "integer"),
        ("paid", "1", "boolean"),
        ("items", "{}", "array"),
        ("tip", "none", "null or number"),
    ],
)
def test_a_cell_of_another_type_is_an_error(cases, column, cell, required):
    (case,) = cases("", f"no,{column}\n1,{cell}\n", "gold.csv", RECEIPT).values()
    reason = f"{column!r} is {json.dumps(cell)}, but the schema requires {required} there"
    assert error_of(lambda: case.expected) == f"gold.csv:2:1: {reason}"


def test_cells_have_line_breaks_and_quotes(cases):
    rows = 'no,a,b\n1,"x\ny\n\nz",5" pipe\n\n2,"say ""hi""",é\n'
    found = cases("id: no", b"\xef\xbb\xbf" + rows.encode(), "gold.csv")
    assert [(case.line, case.expected) for case in found.values()] == [
        (2, {"a": "x\ny\n\nz", "b": '5" pipe'}),
        (7, {"a": 'say "hi"', "b": "é"}),
    ]


# -- what is wrong -----------------------------------------------------------------------------------------


ROWS_WITH_ERRORS = r"""
{"no": 1, "gold"} => 2:17: the row is not JSON: expected ':' delimiter
{"no": 1 => 2:9: the row is not JSON: the text ends inside an object
[1] => 2:1: the row is [1], not an object
{"n": 1, "gold": 1} => 2:1: the row has no 'no'; did you mean 'n'?
{"no": null, "gold": 1} => 2:1: 'no' is null, which can't name a case
{"no": "//", "gold": 1} => 2:1: 'no' is "//", which can't name a case
{"no": [1], "gold": 1} => 2:1: 'no' is [1], which can't name a case
{"no": "a", "gold": 2} => 2:1: the id 'a' is already taken by the row at line 1
{"no": "setup", "gold": 2} => 2:1: 'setup' is a name that pytest reserves; choose another
{"no": 1, "gold": 1, "gold": 2} => 2:22: the row is not JSON: the key 'gold' occurs twice in one object; keep one
"""


@pytest.mark.parametrize("line", ROWS_WITH_ERRORS.strip().splitlines())
def test_a_row_that_is_no_case(cases, line):
    row, message = line.split(" => ")
    found = cases("id: no, expected: gold", f'{{"no": "a", "gold": 1}}\n{row}\n{{"no": "z", "gold": 3}}\n')
    assert list(found) == ["a", "line-2", "z"]
    assert error_of(lambda: found["line-2"].expected) == f"gold.jsonl:{message}"
    assert (found["a"].expected, found["z"].expected) == (1, 3)


def test_a_row_that_lacks_a_column(cases):
    found = cases(
        'id: no, expected: gold, input_file: "{page}.txt"',
        '{"no": "a", "page": 1}\n{"no": "b", "page": "", "gold": 1}\n',
    )
    assert error_of(lambda: found["a"].expected) == "gold.jsonl:1:1: the row has no 'gold'; known: no, page"
    reported = "gold.jsonl:2:1: 'page' is \"\", which can't be part of a path"
    assert error_of(lambda: found["b"].input) == reported


def test_a_row_of_csv_that_is_no_case(cases):
    found = cases("id: no", b'no,a\n1,"x"y\n2\n3,\xff\n4,ok\n5,"open\n6,x\n', "gold.csv")
    errors = {name: error_of(lambda case=case: case.expected) for name, case in found.items() if name != "4"}
    assert errors == {
        "line-2": "gold.csv:2:1: not CSV: ',' expected after '\"'",
        "line-3": "gold.csv:3:1: the row must have a cell for each of 2 columns, but has 1",
        "line-4": "gold.csv:4:1: not UTF-8 text; save the file as UTF-8",
        "line-6": "gold.csv:6:1: not CSV: unexpected end of data",
    }


@pytest.mark.parametrize("table", ["gold.csv", "gold.jsonl"])
def test_a_row_that_is_not_utf_8_can_be_quoted(pytester, golden, table):
    rows = {
        "gold.csv": b"no,a\nx,caf\xe9\ny,1\n",
        "gold.jsonl": b'{"no": "x", "a": "caf\xe9"}\n{"no": "y", "a": "1"}\n',
    }
    pytester.path.joinpath(table).write_bytes(rows[table])
    golden(f"cases_from: {{file: {table}, id: no, expected: a, actual: a}}\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.re_match_lines([r">   .*caf.*", f"E   {table}:[12]:.* UTF-8.*"])


def test_the_name_of_a_broken_row_may_be_taken(cases):
    found = cases("id: no", '{"no": "line-2"}\n{"no": \n')
    assert list(found) == ["line-2", "line-2+"]


TABLES_WITH_ERRORS = r"""
id: no |  => x.yaml:1:14: gold.csv has no rows; a file without cases tests nothing
id: no | no,a\n => x.yaml:1:14: gold.csv has no rows; a file without cases tests nothing
id: nr | no,a\n1,2\n => x.yaml:1:30: `cases_from`: gold.csv has no column 'nr'; known: a, no
expected: {x: {y: b}} | no,a\n1,2\n => x.yaml:1:45: `cases_from`: gold.csv has no column 'b'; known: a, no
input_file: "{b}" | no,a\n1,2\n => x.yaml:1:30: `cases_from`: gold.csv has no column 'b'; known: a, no
id: no | no,a,a\n1,2,3\n => gold.csv:1:1: two columns have the name 'a'; the first row of a .csv file names the columns
id: no | no,,a\n1,2,3\n => gold.csv:1:1: a column has no name; the first row of a .csv file names the columns
"""


@pytest.mark.parametrize("line", TABLES_WITH_ERRORS.strip().splitlines())
def test_a_table_without_cases(cases, line):
    table, message = line.replace("\\n", "\n").split(" => ")
    columns, rows = table.split(" | ")
    assert error_of(lambda: cases(columns, rows, "gold.csv")) == message


WRONG_COLUMNS = r"""
cases_from: a.csv => 1:1: `cases_from` must be a mapping with `file`, `files` or `rows`, and what its columns are for
cases_from: {file: a.xls} => 1:14: `cases_from`: `file` must name a .jsonl, .csv, .tsv or .json file
cases_from: {id: a} => 1:1: `cases_from`: `file` must name a .jsonl, .csv, .tsv or .json file
cases_from: {file: a.csv, id: 1} => 1:27: `cases_from`: `id` must be the name of the column that names the cases
cases_from: {file: a.csv, expected: {a: 1}} => 1:38: `cases_from`: `a` must name a column, or map fields to columns
cases_from: {file: a.csv, tags: {a: 1}} => 1:34: `cases_from`: the tag 'a' must be a text, with {column} for the value of a column
cases_from: {file: a.csv, expcted: a} => 1:27: `cases_from`: unknown key 'expcted'; did you mean 'expected'?
cases_from: {file: a.csv, input: a, input_file: b} => 1:37: `cases_from`: both `input` and `input_file`; keep one
{cases: [{expected: 1}], cases_from: {file: a.csv}} => 1:26: both `cases` and `cases_from`; keep one
cases_from: {rows: "a:b", file: a.csv} => 1:14: `cases_from`: both `file` and `rows`; keep one
cases_from: {rows: data} => 1:14: `cases_from`: `rows` must be the name of a function that returns dicts, "module:function"
cases_from: {rows: "no_such:data"} => 1:14: `cases_from`: `rows`: 'no_such:data' can't be imported: ModuleNotFoundError: No module named 'no_such'
cases_from: {rows: "json:lods"} => 1:14: `cases_from`: `rows`: 'json:lods': 'json' has no 'lods'; did you mean 'loads'?
cases_from: {rows: "json:load"} => 1:14: `cases_from`: `rows`: 'json:load' failed: TypeError: load() missing 1 required positional argument: 'fp'
cases_from: {rows: "math:pi"} => 1:14: `cases_from`: `rows`: 'math:pi' failed: TypeError: 'float' object is not iterable
cases_from: {rows: "builtins:list"} => 1:14: builtins:list has no rows; a file without cases tests nothing
cases_from: {} => 1:1: `cases_from`: `file` must name a .jsonl, .csv, .tsv or .json file
cases: [{expected: 1, cases_from: {}}] => 1:23: `cases_from` is not allowed inside a case
{cases_from: {file: no.csv}, id: a} => 1:30: `id` belongs to a case and is not allowed next to `cases`
cases_from: {file: no.csv} => 1:14: no.csv can't be read: no such file or directory
"""


@pytest.mark.parametrize("line", WRONG_COLUMNS.strip().splitlines())
def test_what_cases_from_says_is_checked(line):
    text, message = line.split(" => ")
    assert error_of(lambda: load_cases(text.encode(), Path("x.yaml"), "x.yaml")) == f"x.yaml:{message}"


# -- runs of pytest ----------------------------------------------------------------------------------------

TABLE = "cases_from: { file: data/gold.jsonl, id: no, expected: gold, actual: answer }\n"
ROWS = """\
{"no": "a/1", "gold": {"total": 1}, "answer": {"total": 1}}
{"no": "b", "gold": {"total": 2, "shop": "Ann"}, "answer": {"total": 3, "shop": "Ann"}}
{"no": "c", "gold":
{"no": "d", "answer": {}}
"""


def test_rows_are_tests(pytester, write, golden):
    golden(TABLE)
    write("data/gold.jsonl", ROWS)
    result = pytester.runpytest("-rA")
    result.assert_outcomes(passed=1, failed=1, errors=2)
    result.stdout.fnmatch_lines_random("""\
        PASSED a.golden.yaml::a-1
        FAILED a.golden.yaml::b - *
        ERROR a.golden.yaml::line-3 - *
        ERROR a.golden.yaml::d - *
        data/gold.jsonl:2: AssertionError
        E     0.00  total  2 * 3 *  data/gold.jsonl:2
        E   data/gold.jsonl:3:*: the row is not JSON: *
        E   data/gold.jsonl:4:1: the row has no 'gold'; known: answer, no""")


def test_a_wrong_row_with_tags_fails_at_its_line_and_counts_under_those_of_its_file(pytester, write, golden):
    golden("tags: {kind: bill}\n" + TABLE.replace("}", ', tags: {of: "{source}"} }', 1))
    rows = [*ROWS.splitlines(), '{"no": "e", "gold": 1, "answer": 1, "source": null}', "nonsense", ""]
    write("data/gold.jsonl", "\n".join(rows[4:]))
    result = pytester.runpytest("--jsonmatch-gate", 'tags["kind=bill"].f1 >= 1')
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            ">   *'source'*null*".replace("'", '"'),
            "E   data/gold.jsonl:1:1: 'source' is null, which can't be a tag",
            "E   data/gold.jsonl:2:1: the row is not JSON: *",
            'tags[[]"kind=bill"[]].f1 >= 1 *failed*',
        ]
    )
    result.stdout.no_fnmatch_line("self = *")
    result.stdout.no_fnmatch_line("*no case has this tag*")


def test_a_node_id_can_be_pasted_back(pytester, write, golden):
    golden(TABLE)
    write("data/gold.jsonl", ROWS)
    listed = pytester.runpytest("--collect-only", "-q").outlines
    assert listed[:4] == [f"a.golden.yaml::{name}" for name in ("a-1", "b", "line-3", "d")]
    pytester.runpytest("a.golden.yaml::a-1", "a.golden.yaml::line-3").assert_outcomes(passed=1, errors=1)
    pytester.runpytest("-k", "a-1").assert_outcomes(passed=1, deselected=3)


def test_a_broken_row_asks_no_producer(pytester, write, golden):
    golden("producer: extract:ask\ninput: hello\n" + TABLE.replace(", actual: answer", ""))
    write("data/gold.jsonl", ROWS)
    write("extract.py", "def ask(text):\n    print('asked')\n    return {'total': 1}\n")
    broken = ("a.golden.yaml::line-3", "a.golden.yaml::d")
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest("-s", *broken)
    result.assert_outcomes(errors=2)
    assert "asked" not in result.stdout.str()


def test_marks_of_the_file_hold(pytester, write, golden):
    golden("marks: [{xfail: later}]\n" + TABLE)
    write("data/gold.jsonl", ROWS)
    pytester.runpytest().assert_outcomes(xfailed=3, xpassed=1)


def test_a_long_row_is_cut_off_where_it_is_shown(pytester, write, golden):
    golden(TABLE)
    answer = json.dumps({"no": "b", "gold": {"total": 1}, "answer": {"total": 2, "text": "x" * 5_000}})
    write("data/gold.jsonl", f"{answer}\n")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines([">   {*xxx …"])


def test_a_table_of_files_is_within_bounds(pytester, golden):
    outside = pytester.path.parent / f"{pytester.path.name}-gold.jsonl"
    outside.write_text('{"no": "a"}\n')
    golden(f"cases_from: {{ file: ../{outside.name}, id: no }}\n")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E   a.golden.yaml:1:15: `file` '../*' lies outside of *"])


def test_cases_for_a_test_in_python(tmp_path):
    (tmp_path / "x.yaml").write_text("cases_from: { file: gold.jsonl, id: no }\n")
    (tmp_path / "gold.jsonl").write_text('{"no": "a", "n": 1}\n{"no": "b", "n": 2}\n')
    rows = golden_cases(str(tmp_path / "x.yaml")).args[1]
    assert [(row.id, row.values[0].expected) for row in rows] == [("a", {"n": 1}), ("b", {"n": 2})]


@pytest.mark.usefixtures("json_similarity")
@pytest.mark.parametrize("mode", ["failed", "all"])
def test_an_update_is_refused(pytester, write, golden, mode):
    golden(TABLE)
    write("data/gold.jsonl", ROWS)
    result = pytester.runpytest(f"--jsonmatch-update={mode}", "-k", "a-1 or b")
    result.assert_outcomes(passed=1, failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*not updated: it is a row of data/gold.jsonl; change line 2 there"])
    assert (pytester.path / "data" / "gold.jsonl").read_text() == ROWS


@pytest.mark.usefixtures("json_similarity")
def test_the_expected_file_of_a_row_is_updated(pytester, write, golden):
    golden('cases_from: { file: gold.jsonl, id: no, expected_file: "{no}.json", actual: answer }\n')
    write("gold.jsonl", '{"no": "a", "answer": {"n": 2}}\n')
    write("a.json", '{"n": 1}\n')
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1)
    assert (pytester.path / "a.json").read_text() == '{"n": 2}\n'


def test_answers_are_recorded_and_replayed(pytester, write, golden):
    golden("producer: extract:ask\n" + TABLE.replace("actual: answer", "input: no"))
    write("data/gold.jsonl", '{"no": "a", "gold": {"n": 1}}\n')
    write("extract.py", "def ask(text):\n    return {'n': 1}\n")
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=1)
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=1)


# -- rows of a function ------------------------------------------------------------------------------------

DATA = """\
import datetime

class Image:
    size = 3

def rows():
    for no, total in [("a", 1), ("b", 2), ("c", 3)]:
        yield {
            "no": no, "image": Image(), "source": "scan",
            "gold": {"total": total, "day": datetime.date(2024, 3, 1)},
        }

def size(image):
    return {"total": image.size - 2, "day": "2024-03-01"}
"""
FUNCTION = """\
producer: data:size
metric: json_similarity
cases_from:
  rows: data:rows
  id: no
  input: image
  expected: gold
  tags: { source: "{source}" }
"""


@pytest.fixture
def function(pytester, write, golden):
    """Cases from a function: the first one passes, the others fail."""
    golden(FUNCTION)
    write("data.py", DATA)
    pytester.makeini("[pytest]\npythonpath = .\n")


@pytest.mark.usefixtures("function")
def test_rows_of_a_function_are_tests(pytester):
    result = pytester.runpytest("-v", "--jsonmatch-gate", 'tags["source=scan"].pass_rate >= 0.3')
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "a.golden.yaml::a PASSED*",
            ">   rows: data:rows",
            "E     0.50  total  2 * 1 *  a.golden.yaml:4",
            "a.golden.yaml:4: AssertionError",
            "*tags*source=scan*pass_rate >= 0.3*",
        ]
    )


@pytest.mark.usefixtures("function")
@pytest.mark.parametrize(
    "more", [["--jsonmatch-concurrency=3"], ["-p", "xdist", "-n", "2"]], ids=["concurrency", "workers"]
)
def test_rows_of_a_function_side_by_side_and_repeated(pytester, more):
    pytester.runpytest("--jsonmatch-repeat=2", *more).assert_outcomes(passed=2, failed=4)


@pytest.mark.usefixtures("function")
def test_answers_to_rows_of_a_function_are_recorded_and_replayed(pytester, write):
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=1, failed=2)
    write("data.py", DATA.replace("image.size - 2", "no.such"))
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=1, failed=2)


@pytest.mark.usefixtures("function")
def test_an_update_of_a_row_of_a_function_is_refused(pytester):
    result = pytester.runpytest("--jsonmatch-update=failed")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*not updated: it is row 2 of data:rows; change it where that function reads it"]
    )


@pytest.mark.parametrize(
    ("rows", "reported"),
    [
        ("[{'no': 'a', 'gold': 1}, 5]", "row 2: the row must be a dict, got int"),
        ("[{'no': 'a', 'gold': 1}, {'no': 'b'}]", "row 2: the row has no 'gold'; known: no"),
        ("[{'no': 'a', 'gold': 1}, {'no': None, 'gold': 1}]", "row 2: 'no' is null, which can't name a case"),
        ("[{'no': 'a', 'gold': 1}] * 2", "row 2: the id 'a' is already taken by the row at row 1"),
        (
            "[{'no': 'a', 'gold': 1}, {'no': 'b', 'gold': {'x': {1}}}]",
            "row 2: actual has a set at x, which has no JSON form; give a list",
        ),
    ],
)
def test_a_wrong_row_of_a_function_fails_alone(pytester, write, golden, rows, reported):
    golden("cases_from: { rows: data:ROWS, id: no, expected: gold, actual: gold }\n")
    write("data.py", f"ROWS = {rows}\n")
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"E   a.golden.yaml:1:15: {reported}"])


def test_a_function_that_raises_is_one_error_with_its_cause(pytester, write, golden):
    golden("cases_from: { rows: data:rows, id: no }\n")
    write("data.py", "def rows():\n    yield {'no': 1}\n    raise OSError('the disk is gone')\n")
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*: `cases_from`: `rows`: 'data:rows' failed: OSError: the disk is gone"])


def test_a_data_frame_is_rows(pytester, write, golden):
    pytest.importorskip("pandas")
    golden("cases_from: { rows: data:FRAME, id: no, actual: answer }\n")
    write(
        "data.py",
        "import pandas\nFRAME = pandas.DataFrame({'no': [1, 2], 'n': [5, None], 'answer': [{'n': 5}, {}]})\n",
    )
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.runpytest().assert_outcomes(passed=2)
