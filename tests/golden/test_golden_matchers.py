"""Matchers in `expected` of golden files, end to end: results, failures, updates, and what keeps them as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_jsonmatch import compare_json
from tests.conftest import GoldenFileError, load_cases

CASES = """\
cases:
- id: fits
  actual: {inv: INV-12, n: 3, id: x, p: 0.30000000000000004, s: open, r: {$ref: a}, d: {$any: 1}, l: [{$regex: a}]}
  expected:
    inv: {$regex: "INV-[0-9]+"}
    n: {$range: [1, 5]}
    id: {$any: string}
    p: {$approx: 0.3}
    s: {$one_of: [open, {$any: true}]}
    r: {$ref: a}
    d: {$literal: {$any: 1}}
    l: {$any: true}
- id: differs
  actual: {inv: XINV-12, n: 7, id: [4, 5], p: 0.5, x: 2}
  expected:
    inv: {$regex: "INV-[0-9]+"}  # of the shop
    n: {$range: [1, 5]}
    id: {$any: [string, "null"]}
    p: {$approx: {value: 0.3, abs: 0.1}}
    s: {$one_of: [open]}
    x: {$regex: a, $any: 1}
"""


def cases(text, name="x.golden.yaml"):
    return load_cases(text.encode(), Path(name), name).by_id


def test_each_word_in_failures_at_its_line_and_in_result_files(pytester, write, workers):
    write("a.golden.yaml", CASES)
    result = pytester.runpytest("--jsonmatch-json=r.jsonl", "--jsonmatch-html=r.html", *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '>*inv: {$regex: "INV-[[]0-9[]]+"}*',
            "E*6 fields: 5 mismatch, 1 missing*",
            'E*0.00  inv *{"$regex": "INV-[[]0-9[]]+"} → "XINV-12"*',
            'E*{"$range": [[]1, 5[]]} → 7  not accepted*',
            'E*{"$any": [[]"string", "null"[]]} → [[]4, 5[]]*not accepted*',
            'E*{"$approx": {"value": 0.3, "abs": 0.1}} → 0.5*',
            'E*{"$one_of": [[]"open"[]]} → (missing)*',
        ]
    )
    kept = [line for line in (pytester.path / "r.jsonl").read_text().splitlines() if "::differs" in line]
    (comparison,) = json.loads(kept[0])["runs"][0]["comparisons"]
    assert comparison["differences"]["n"] == [{"expected": '{"$range": [1, 5]}', "actual": "7"}]
    page = (pytester.path / "r.html").read_text(encoding="utf-8")
    assert "&#34;$range&#34;: [\n      1,\n      5\n    ]" in page


@pytest.mark.parametrize(
    ("expected", "place", "message"),
    [
        (
            "{a: [{$regx: x}]}",
            "17",
            "unknown matcher '$regx'; did you mean '$regex'? Write data as {$literal: {$regx: …}}",
        ),
        ("{$oneOf: [1]}", "12", "unknown matcher '$oneOf'; did you mean '$one_of'?"),
        (
            '{$regex: "(a"}',
            "12",
            "$regex: the pattern '(a' is not a regular expression: missing ) at position 2",
        ),
        ("{$range: [5, 1]}", "12", "$range must be [low, high] (two numbers, both included), got [5, 1]"),
        ("{$any: strin}", "12", "$any must be a JSON type or a list of JSON types (null, boolean"),
        ("{$one_of: []}", "12", "$one_of must be a list with at least one value, got []"),
        ("{$approx: x}", "12", "$approx: 'value' must be a number, got 'x'"),
        ("{$approx: {value: 1, re: 1}}", "12", "$approx has no parameter 're'; did you mean 'rel'?"),
        (
            "{$approx: {rel: 1}}",
            "12",
            "$approx needs the parameter 'value', for example {value: 9.99, abs: 0.01}",
        ),
        ("{$approx: {value: 1, rel: -1}}", "12", "$approx: 'rel' must be a finite number, 0 or more, got -1"),
    ],
)
def test_errors_are_at_their_line(expected, place, message):
    with pytest.raises(GoldenFileError) as caught:
        cases(f"id: a\n\nexpected: {expected}\n")
    assert str(caught.value).startswith(f"x.golden.yaml:3:{place}: `expected`: {message}")


MISPLACED = """\
producer: app:answer
input: 1
cases:
- id: key
  fields: {l: {align: {key: id}}}
  expected:
    l: [{id: 1}, {id: {$any: true}}]
- id: comparator
  options: {target_key: d}
  fields: {d.o: exact}
  expected:
    d:
      o: {a: [{$any: true}]}
- id: recorded
  actual: {o: {a: 1}}
  fields: {o: exact}
  expected: {o: {a: {$any: true}}}
- id: skipped
  fields: {"**.id": skip, n: skip, l: {align: {key: id}}}
  options: {arrays: unordered}
  expected: {n: {a: {$any: true}}, l: [{id: 1, n: {$any: true}}], m: [{id: {$any: true}, n: 2}]}
"""


@pytest.mark.parametrize(
    "written", ["1{zeros}", "-1{zeros}", "{{value: 1{zeros}, abs: 1}}"], ids=["large", "small", "mapping"]
)
def test_an_approximate_number_beyond_doubles_is_an_error_at_its_line(pytester, write, written):
    number = written.format(zeros="0" * 400)
    write("a.golden.yaml", f"cases:\n- id: a\n  expected: {{n: {{$approx: {number}}}}}\n")
    write("b.golden.yaml", "actual: 1\nexpected: 1\n")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["E*a.golden.yaml:3:*an approximate number must be a double*"])


def test_one_of_finds_values_by_json_equality():
    (case,) = cases("cases:\n- {id: a, expected: [{$one_of: [1, {a: [2]}]}]}\n").values()
    scores = [compare_json([actual], case.expected).score for actual in (1.0, {"a": [2.0]}, True, "1", {})]
    assert scores == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_matcher_in_place_of_a_value_that_is_needed_is_found_before_any_producer_is_called(pytester, write):
    write(
        "app.py",
        "def answer(given):\n    print('asked')\n    return {'l': [{'id': 1, 'n': 3}], 'm': [{'n': 2}]}\n",
    )
    write("a.golden.yaml", MISPLACED)
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest("-s", "-p", "no:randomly")
    result.assert_outcomes(passed=1, errors=3)
    assert result.stdout.str().count("asked") == 1
    result.stdout.fnmatch_lines(
        [
            'E*a.golden.yaml:7:18: `expected`: l[[][]].id: elements are paired by this member*matcher {"$any": true}',
            "E*a.golden.yaml:13:7: `expected`: d.o: 'exact' compares this value as a whole, so no matcher*",
            "E*a.golden.yaml:17:14: `expected`: o: 'exact' compares this value as a whole, so no matcher*",
        ]
    )


@pytest.mark.parametrize(
    "data",
    [
        "{$ref: a}",
        "{$oid: x}",
        "{$and: [1]}",
        "{$regex: a, b: 1}",
        "{a: {$date: 1}}",
        "{regex: a}",
        "{$literal: {$any: 1}}",
    ],
)
def test_what_is_data(data):
    expected = cases(f"id: a\nexpected: {data}\n")["a"].expected
    assert json.dumps(expected).replace('"', "") == data.removeprefix("{$literal: ").replace(
        "}}", "}" * (data[:3] != "{$l") + "}"
    )


def test_plain_data_everywhere_else(pytester, write):
    value = '{"$regex": "a"}'
    write("e.json", value)
    write("rows.jsonl", f'{{"expected": {value}, "actual": {value}}}\n')
    write("rows.golden.yaml", "cases_from: {file: rows.jsonl, expected: expected, actual: actual}\n")
    write(
        "a.golden.yaml",
        f"cases:\n- actual: {value}\n  expected_file: e.json\n"
        f"- actual: {value}\n  expected: 1\n  accept: {{$: [{value}]}}\n",
    )
    write(
        "test_text.py",
        f"""
        from pytest_jsonmatch import assert_json_match

        def test_text():
            assert_json_match('{value}', '{value}')
            assert_json_match({value}, {value})
        """.replace("\n        ", "\n"),
    )
    pytester.runpytest().assert_outcomes(passed=4)


def test_from_python_and_from_json(pytester, write):
    write(
        "a.golden.json",
        '{"actual": {"n": 3, "m": "x"}, "expected": {"n": {"$range": [1, 5]}, "m": {"$any": "string"}}}',
    )
    write(
        "test_it.py",
        """
from pytest_jsonmatch import assert_json_match, golden_cases

@golden_cases("a.golden.json")
def test_case(case):
    assert repr(case.expected["n"]) == '{"$range": [1, 5]}'
    assert_json_match(case.actual, case.expected)
""",
    )
    pytester.runpytest().assert_outcomes(passed=2)


def test_matchers_from_python_are_shown_as_written(pytester, write, workers):
    write(
        "test_it.py",
        """
import re
from unittest.mock import ANY

import pytest
from pytest_jsonmatch import assert_json_match

class DirtyEquals:
    def __init__(self):
        self.value = None
    def __eq__(self, other):
        self.value = other
        return type(other) is int
    def __repr__(self):
        return "Kind()" if self.value is None else repr(self.value)

def test_it():
    expected = {"id": ANY, "n": re.compile("a+"), "m": pytest.approx(2.5), "k": DirtyEquals(), "l": [DirtyEquals()]}
    assert_json_match({"id": 5, "n": "b", "m": "2.5", "k": 7, "l": ["x"]}, expected)
""",
    )
    result = pytester.runpytest("--jsonmatch-json=r.jsonl", *workers)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*5 fields: 2 match, 3 mismatch*",
            """E*n     re.compile('a+') → "b"  *not accepted*""",
            "E*m     2.5 ± 2.5e-06 → *not accepted*",
            'E*l[[]0[]]  Kind() → "x"*not accepted*',
        ]
    )
    comparison = json.loads((pytester.path / "r.jsonl").read_text().splitlines()[-1])["runs"][0][
        "comparisons"
    ][0]
    assert comparison["differences"]["l[]"] == [{"expected": "Kind()", "actual": '"x"', "rows": ["l[0]"]}]


def test_places_are_filled_before_matchers_are_read():
    found = cases("id: a\nparametrize: {n: [1, 2]}\nexpected: {m: {$range: [0, '${n}']}}\n")
    assert [repr(case.expected["m"]) for case in found.values()] == [
        '{"$range": [0, 1]}',
        '{"$range": [0, 2]}',
    ]


UPDATED = """\
cases:
- id: kept
  actual: {id: 7, total: 9.5, data: {$any: 1}, lines: [{no: 2, n: 1}, {no: 3, n: 5}]}
  options: {arrays: unordered}
  expected:
    id: {$any: integer}  # new each time
    total: 9
    data: {$literal: {$any: 0}}
    lines:
    - {no: {$one_of: [3]}, n: 4}
    - {no: {$any: true}, n: 1}
- id: grown
  actual: {id: 7, more: {$regx: 1}}
  expected:
    id: {$any: integer}
- id: refused
  actual: {id: x}
  expected:
    id: {$any: integer}
- id: block
  actual: {a: 5, n: 2}
  expected:
    a: [{x: {$any: true}}]
    n: 1
"""


def test_updates_keep_matchers_and_refuse_to_lose_one(pytester, write):
    write("a.golden.yaml", UPDATED)
    result = pytester.runpytest("--jsonmatch-update=all", "-p", "no:randomly")
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == 1
    assert (pytester.path / "a.golden.yaml").read_text() == (
        UPDATED.replace("total: 9\n", "total: 9.5\n")
        .replace("{$literal: {$any: 0}}", "{$literal: {$any: 1}}")
        .replace("n: 4}", "n: 5}")
        .replace("    n: 1\n", "    n: 2\n")
        .replace(
            "    id: {$any: integer}\n- id: refused",
            "    id: {$any: integer}\n    more:\n      $literal:\n        $regx: 1\n- id: refused",
        )
    )
    result.stdout.fnmatch_lines(
        [
            'E*not updated: id: the matcher {"$any": "integer"} would be lost; change it by hand',
            'E*not updated: a: the matcher {"$any": true} would be lost; change it by hand',
            "updated 3 cases in a.golden.yaml",
            'not updated: a.golden.yaml::block: a: the matcher {"$any": true} would be lost; change it by hand',
            'not updated: a.golden.yaml::refused: id: the matcher {"$any": "integer"} would be lost; change it by hand',
        ]
    )


def test_first_values_that_look_like_matchers_are_literal(pytester, write):
    write("a.golden.yaml", "cases:\n- id: a\n  actual: {n: {$range: [1, 2]}}\n")
    pytester.runpytest("--jsonmatch-update=new").assert_outcomes(passed=1)
    assert cases((pytester.path / "a.golden.yaml").read_text())["a"].expected == {"n": {"$range": [1, 2]}}


def test_records_and_replays(pytester, write):
    write("a.golden.yaml", CASES)
    for option in ("record", "replay"):
        pytester.runpytest(f"--jsonmatch-{option}=r.jsonl").assert_outcomes(passed=1, failed=1)


def test_hints_are_about_the_other_fields(pytester, write):
    write("a.golden.yaml", "id: a\nactual: {id: 7, name: ANN}\nexpected: {id: {$any: integer}, name: Ann}\n")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["E*  fields: {name: {transform: [[]casefold[]]}}"])


ABSENT = """\
options: {extra: ignore}
cases:
- id: fits
  actual: {id: 7, l: [1, 2], o: {a: 1}, t: abc, more: 1}
  expected: {id: 7, password: {$absent: true}, l: {$length: 2}, o: {$length: [1, 3]}, t: {$length: 3}}
- id: differs
  actual: {password: [1, 2], l: [1], t: ab, n: 22}
  expected:
    password: {$absent: true}
    l: {$length: [2, 5]}
    t: {$length: 3}
    n: {$length: 2}
    o: {inner: {$absent: true}}
"""


def test_absent_members_and_lengths(pytester, write, workers):
    write("a.golden.yaml", ABSENT)
    result = pytester.runpytest("--jsonmatch-json=r.jsonl", "-v", *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*5 fields: 4 mismatch, 1 missing*",
            'E*0.00  password * {"$absent": true} → [[]1, 2[]]*',
            'E*0.00  l *{"$length": [[]2, 5[]]} → [[]1[]]*',
            'E*0.00  o.inner *{"$absent": true} → (missing)*',
        ]
    )
    kept = [line for line in (pytester.path / "r.jsonl").read_text().splitlines() if "::fits" in line]
    (comparison,) = json.loads(kept[0])["runs"][0]["comparisons"]
    assert (comparison["score"], comparison["counts"]) == (1.0, {"match": 5})


def test_an_absent_member_decides_which_rows_are_paired():
    (case,) = cases("expected: [{n: 1, x: {$absent: true}}, {n: 2, x: 1}]\nactual: []\n").values()
    actual = [{"n": 2, "x": 1}, {"n": 1, "x": 1}, {"n": 1}]
    result = compare_json(actual, case.expected, arrays="unordered")
    assert [pair[:2] for pair in result.alignments[0].pairs] == [(0, 2), (1, 0)]
    result = compare_json({"x": ""}, {"x": case.expected[0]["x"]}, absent=[""])
    assert (result.counts, result.field_results[0].actual_path) == ({"match": 1}, None)
    units = compare_json({"n": 1}, case.expected[0], metric="field_match")
    assert (units.score, units.counts) == (1.0, {"match": 2})


def test_updates_keep_what_must_not_be_there(pytester, write):
    write("a.golden.yaml", "cases:\n- id: a\n  actual: {n: 2}\n  expected: {n: 1, x: {$absent: true}}\n")
    pytester.runpytest("--jsonmatch-update=failed").assert_outcomes(passed=1)
    assert "{n: 2, x: {$absent: true}}" in (pytester.path / "a.golden.yaml").read_text()
