"""A file that is not valid: what its errors say, and that it is one failing test and no more."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import GoldenFileError, case_schema, load_cases


def errors_of(text):
    with pytest.raises(GoldenFileError) as caught:
        load_cases(text.encode(), Path("x.golden.yaml"), "x.yaml")
    return str(caught.value).split("\n")


def in_case(key):
    """A file with one listed case that has the key beside `expected`, at line 4."""
    return f"cases:\n- id: a\n  expected: 1\n  {key}\n"


# What is after `+` is a line of the one case of a file, its fourth.
ERRORS = r"""
- a\n => 1:1: the file is an array, not a case or `cases:`; write `cases:` above it
id: a\ntitle: Total: 5 EUR\nexpected: 1\n => 2:13: text with a colon and a space must be in quotes; quote the text behind `title:`
id: a\n  title: x\n => 2:8: not YAML: mapping values are not allowed in this context
just text\n => 1:1: the file is a string, not a case or `cases:`
---\n~\n => 1:1: the file is empty; it must contain a case, or `cases:`
id: a\n => 1:1: the case has no `expected` and no `expected_file`; a file of several cases lists them below `cases:`
cases:\n- id: a\n => 2:3: the case has no `expected` and no `expected_file`; pytest --jsonmatch-update=new writes the answer as `expected`
expcted: 1\n => 1:1: unknown key 'expcted'; did you mean 'expected'?
case:\n- expected: 1\n => 1:1: unknown key 'case'; did you mean 'cases'?
metric: a\ncasess: []\n => 2:1: unknown key 'casess'; did you mean 'cases'?
+ inputt: 1 => 4:3: unknown key 'inputt'; did you mean 'input'?
+ cases: [] => 4:3: `cases` is not allowed inside a case
cases: {}\n => 1:1: `cases` is an object, not a list of cases
cases:\n => 1:1: `cases` is null, not a list of cases
cases: []\n => 1:1: `cases` is empty; a file without cases tests nothing
cases:\n- expected: 1\n- text\n => 3:3: the case is a string, not a mapping
id: x\ncases:\n- expected: 1\n => 1:1: `id` belongs to a case and is not allowed next to `cases`
cases:\n- expected: 1\nactual: 1\n => 3:1: `actual` belongs to a case and is not allowed next to `cases`
cases:\n- {id: a, expected: 1}\n- {expected: 1}\n- {id: a, expected: 1}\n => 4:4: the id 'a' is already taken by the case at line 2; choose another
cases:\n- {id: case-2, expected: 1}\n- {expected: 1}\n => 3:3: the id 'case-2' is already taken by the case at line 2; choose another
+ expected_file: a.json => 4:3: both `expected` and `expected_file`; keep one
+ input: 1\n  input_file: a => 5:3: both `input` and `input_file`; keep one
+ actual: 1\n  actual_file: a => 5:3: both `actual` and `actual_file`; keep one
expected_file: 3\n => 1:1: `expected_file` must be a string, got a number; put it in quotes
+ actual_file: '' => 4:3: `actual_file` is empty; give a path, relative to this file
+ title: true => 4:3: `title` must be a string, got a boolean; put it in quotes
+ title: [a] => 4:3: `title` must be a string, got an array
+ metric: '' => 4:3: `metric` is empty; name a metric
+ threshold: high => 4:3: `threshold`: threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got 'high'
+ threshold: {scor: 1} => 4:15: `threshold`: unknown threshold 'scor'; did you mean 'score'?
+ threshold: 90 => 4:3: `threshold`: threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got 90 (for 90 % write 0.9)
+ min_pass_rate: 85.5 => 4:3: `min_pass_rate` must be a number from 0 to 1, got 85.5 (for 85.5 % write 0.855)
+ tolerance: 0.01 => 4:3: unknown key 'tolerance'; write fields: { PATTERN: { tolerance: ... } }
+ arrays: unordered => 4:3: unknown key 'arrays'; write options: { arrays: ... }
+ extra: ignore => 4:3: unknown key 'extra'; write options: { extra: ... }
+ threshold: {f1: 2} => 4:15: `threshold`: threshold['f1'] must be a number from 0 to 1, got 2
+ threshold: {f1: true} => 4:15: `threshold`: threshold['f1'] must be a number from 0 to 1, got True
+ threshold: {fields: 1} => 4:15: `threshold`: threshold['fields'] must map path patterns to numbers from 0 to 1, got 1
+ threshold: {fields: {a: 2}} => 4:24: `threshold`: threshold['fields']['a'] must be a number from 0 to 1, got 2
+ options: [] => 4:3: `options` must be an object, got an array
+ options: {emptie: leaf} => 4:13: `options`: unknown option 'emptie'; did you mean 'empties'?
+ options: {fields: {}} => 4:13: `options` can't hold `fields`; write it next to `options`
+ options: {metric: a} => 4:13: `options` can't hold `metric`; write it next to `options`
+ options: {repair: 1} => 4:13: `options` `repair` must be true or false
+ fields: [] => 4:3: `fields` must be an object, got an array
+ producer: module.function => 4:3: `producer` must be "module:function", such as "myproject.extract:receipt"
+ marks: slow => 4:3: `marks` must be a list, such as [slow] or [{skip: the reason}]
+ marks: [1] => 4:11: `marks`: a mark is a name, or a mapping of one name to its arguments
+ marks: [{a: 1, b: 2}] => 4:11: `marks`: a mark is a name, or a mapping of one name to its arguments
+ marks: ['slow or fast'] => 4:11: `marks`: 'slow or fast' can't be the name of a mark; list marks one by one, arguments as {name: argument}
+ marks: [usefixtures] => 4:11: `marks`: `usefixtures` needs names of fixtures: {usefixtures: [db]}
+ marks: [{skip: 1}] => 4:11: `marks`: `skip` needs a reason: {skip: the reason}
+ marks: [{xfail: {reson: x}}] => 4:11: `marks`: `xfail` has no argument 'reson' here; did you mean 'reason'?
+ marks: [{xfail: {strict: 1}}] => 4:11: `marks`: `strict` of `xfail` must be true or false
+ marks: [{skipif: 'True'}] => 4:11: `marks`: `skipif` needs code: give the case a mark of yours, and skip it in a conftest.py
+ options: {key: no} => 4:13: `options`: unknown option 'key'; write options: {arrays: {"key": "NAME"}}, or fields: {"PATTERN": {"align": {"key": "NAME"}}}
+ marks: [parametrize] => 4:11: `marks`: `parametrize` is a key of its own, next to `marks`
+ parametrize: 3 => 4:3: `parametrize` must map names to lists of values, or list rows of names and values
+ parametrize: {n: 3} => 4:17: `parametrize`: 'n' must be a list of its values
+ parametrize: {a-b: [1]} => 4:17: `parametrize`: 'a-b' can't name a parameter: use letters, digits and _
+ parametrize: [{n: 1}, {m: 1}] => 4:25: `parametrize`: the rows do not have the same names: m and n
+ parametrize: [{id: x}] => 4:17: `parametrize`: a row is a mapping of names to values
+ parametrize: [{id: a b, n: 1}] => 4:18: `parametrize`: 'a b' can't name a test: use letters, digits and _ . @ + -, and put prose into `title`
+ parametrize: {id: [1]} => 4:17: `parametrize`: the ids of a mapping are made of its values; give a list of rows to choose them
+ parametrize: {n: [1, 2]}\n  actual: ['${m}'] => 5:12: '${m}' names no parameter; known: n; to write the text itself, use $${m}
+ parametrize: {n: [1, 2]}\n  threshold: ${n} => 5:3: `threshold`: threshold must be a number from 0 to 1, or a mapping of score, precision, recall, f1 and fields to such numbers, got 2
cases:\n- id: a-2\n  expected: 1\n- id: a\n  parametrize: {n: [1, 2]}\n  expected: 1\n => 4:3: the id 'a-2' is already taken by the case at line 2; choose another
+ fields: {a: {skip: 'yes'}} => 4:12: `fields`: fields['a'].skip must be true or false, got 'yes'
+ fields: {a: {weight: -1}} => 4:12: `fields`: fields['a'].weight must be a number from 0 to 1,000,000, got -1
+ fields: {a: {weight: 1000e400}} => 4:12: `fields`: fields['a'].weight must be a number from 0 to 1,000,000, got Decimal('1.000E+403')
+ fields: {a: {compare: 5}} => 4:12: `fields`: fields['a'].compare must be a comparator's name, or {name: {parameters}}, got 5
+ fields: {a: {transform: [[strip]]}} => 4:12: `fields`: fields['a'].transform must be a transform's name, or {name: {parameters}}, got ['strip']
+ fields: {a: {align: {by: [b], treshold: .5}}} => 4:12: `fields`: fields['a'].align: unknown key 'treshold'; did you mean 'threshold'?
+ fields: {a: {align: {ordered: 1}}} => 4:12: `fields`: fields['a'].align must be 'ordered', 'unordered', 'sequence', {'key': NAME} or {'by': [NAME, ...], 'threshold': NUMBER}, got {'ordered': 1}
+ options: {compare: {string: [exact]}} => 4:13: `options`: compare['string'] must be a comparator's name, or {name: {parameters}}, got ['exact']
+ options: {transform: [1]} => 4:13: `options`: transform must be a transform's name, or {name: {parameters}}, got 1
+ fields:\n    a: {comparee: exact} => 5:5: `fields`: fields['a'] has the rule 'comparee'; did you mean 'compare'?
id: setup_module\nexpected: 1\n => 1:1: `id` 'setup_module' is a name that pytest reserves; choose another
id: tearDownModule\nexpected: 1\n => 1:1: `id` 'tearDownModule' is a name that pytest reserves; choose another
id: setup_function\nexpected: 1\n => 1:1: `id` 'setup_function' is a name that pytest reserves; choose another
id: teardown\nexpected: 1\n => 1:1: `id` 'teardown' is a name that pytest reserves; choose another
id: pytest_generate_tests\nexpected: 1\n => 1:1: `id` 'pytest_generate_tests' is a name that pytest reserves; choose another
id: pytestmark\nexpected: 1\n => 1:1: `id` 'pytestmark' is a name that pytest reserves; choose another
id: __test__\nexpected: 1\n => 1:1: `id` '__test__' begins with two underscores, as Python's own names do; choose another
cases: [{expected: 1}]\nmarks:\n => 2:1: `marks` must be a list, such as [slow] or [{skip: the reason}]
id: [a]\nexpected: 1\n => 1:1: `id` must be a string, got an array
id: 7\nexpected: 1\n => 1:1: `id` must be a string, got a number; put it in quotes
cases:\n- {id: 7, expected: 1}\n- {expected: 1}\n => 2:4: `id` must be a string, got a number; put it in quotes
+ repeat: 0 => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: -1 => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: 1.5 => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: two => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: true => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: [2] => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: 10001 => 4:3: `repeat` must be a whole number from 1 to 10,000
+ repeat: null => 4:3: `repeat` must be a whole number from 1 to 10,000
+ min_pass_rate: -0.1 => 4:3: `min_pass_rate` must be a number from 0 to 1, got -0.1
+ min_pass_rate: 1.1 => 4:3: `min_pass_rate` must be a number from 0 to 1, got 1.1
+ min_pass_rate: high => 4:3: `min_pass_rate` must be a number from 0 to 1, got "high"
+ min_pass_rate: true => 4:3: `min_pass_rate` must be a number from 0 to 1, got true
+ min_pass_rate: null => 4:3: `min_pass_rate` must be a number from 0 to 1, got null
"""


@pytest.mark.parametrize("line", ERRORS.strip().splitlines())
def test_messages(line):
    text, message = line.split(" => ")
    text = text.replace("\\n", "\n")
    assert errors_of(in_case(text[2:]) if text.startswith("+ ") else text) == [f"x.yaml:{message}"]


@pytest.mark.parametrize("text", ["id: a\nexpected: {KEY: 1}\n", 'id: a\nexpected:\n  "KEY": 1\n'])
def test_keys_that_are_too_long_for_yaml(text):
    (message,) = errors_of(text.replace("KEY", "k" * 1_025))
    assert re.match(r"x\.yaml:[23]:\d+: YAML has no keys of more than 1,024 characters on one line;", message)
    key = "k" * 100_000
    data = json.dumps({"actual": 1, "expected": {key: 1}}).encode()
    (case,) = load_cases(data, Path("x.golden.json"), "x.golden.json").by_id.values()
    assert (case.expected, case.position("expected", key)) == ({key: 1}, (1, 28))


@pytest.mark.parametrize("pattern", ["a[", "[x]", "a..b"])
def test_patterns_are_checked(pattern):
    (message,) = errors_of(in_case(f"fields: {{'{pattern}': {{skip: true}}}}"))
    assert message.startswith(f"x.yaml:4:12: `fields`: {pattern!r} is not a path pattern")
    (message,) = errors_of(in_case(f"threshold: {{fields: {{'{pattern}': 1}}}}"))
    assert message.startswith(f"x.yaml:4:24: `threshold`: {pattern!r} is not a path pattern")


def test_an_integer_beyond_the_doubles_is_no_weight():
    (message,) = errors_of(in_case(f"fields: {{a: {{weight: 1{'0' * 400}}}}}"))
    assert "must be a number from 0 to 1,000,000, got 1000" in message


@pytest.mark.parametrize("case_id", ["a b", "a::b", "a/b", "a[1]", "", "a,b", "a\\nb", "(file error)"])
def test_ids_that_node_ids_cannot_hold(case_id):
    (message,) = errors_of(f'cases:\n- expected: 1\n  id: "{case_id}"\n')
    assert message.startswith("x.yaml:3:3: `id` ")
    assert message.endswith(
        "can't name a test: use letters, digits and _ . @ + -, and put prose into `title`"
    )


def test_all_errors_of_a_file_are_reported_at_once_in_the_order_of_its_lines():
    assert errors_of("cases:\n- id: a b\n- expected: 1\n  x: 1\nmetrik: 1\n") == [
        "x.yaml:2:3: `id` 'a b' can't name a test: use letters, digits and _ . @ + -, and put prose into `title`",
        "x.yaml:4:3: unknown key 'x'; known: "
        + ", ".join(sorted(case_schema()["$defs"]["case"]["properties"])),
        "x.yaml:5:1: unknown key 'metrik'; did you mean 'metric'?",
    ]


def calls_of(act):
    """How many Python functions are called, and generators resumed, while `act` runs."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("cases:", "- {expcted: 1}"),
        ("cases:", "- {id: a, expected: 1}"),
        ("cases:", "- {expected: 1, fields: {a: {skipp: true}}}"),
        ("expected: 1", "k{}: 1"),
    ],
)
def test_ten_times_the_errors_are_ten_times_the_work(head, line):
    def work(count):
        text = "\n".join([head, *(line.replace("{}", str(number)) for number in range(count))])
        return calls_of(lambda: errors_of(text))

    work(10)  # imports and first times
    assert work(1_000) < 11 * work(100)


def test_parameters_make_a_hundred_thousand_cases_at_most():
    key = f"parametrize: {{a: {list(range(100))}, b: {list(range(100))}, c: {list(range(11))}}}"
    assert errors_of(in_case(key)) == [
        "x.yaml:4:3: `parametrize` makes 110,000 cases of one; at most 100,000 are allowed"
    ]


def test_many_errors_are_cut():
    lines = errors_of("cases:\n" + "- {expcted: 1}\n" * 30)
    assert (len(lines), lines[-1]) == (11, "and 20 more")


def test_each_broken_file_is_one_error_and_the_others_run(pytester, write, golden):
    golden("cases:\n- expected: {}\n  actual: {}\n")
    write("b.golden.yaml", "cases:\n  - id: x\n    expected: 1\n  - id: x\n    expected: 1\n")
    write("c.golden.yaml", "a: 1\n---\nb: 1\n")
    write("d.golden.yaml", "")
    (pytester.path / "e.golden.yaml").write_bytes(b"a: \xff")
    write("f.golden.yaml", "a:\n\tb")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=5)
    for name, place in {"b": "4:5", "c": "2:1", "d": "1:1", "e": "1:4", "f": "2:1"}.items():
        file = f"{name}.golden.yaml"
        outcome.stdout.fnmatch_lines(f"ERROR {file}::(file error) - {place}: *")
    outcome.stdout.fnmatch_lines("""\
        >*- id: x
        E     b.golden.yaml:4:5: the id 'x' *
        b.golden.yaml:4: error""")


BOMB = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
HOSTILE = {
    "alias-bomb": (f"expected:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n{BOMB}", "8:42"),
    "cyclic-alias": ("expected: &a\n  - *a\n", "2:5"),
    "deep": ("expected: " + "[" * 2_000, "1:139"),
    "duplicate-key": ("expected:\n  a: 1\n  a: 2\n", "3:3"),
    "large": ("expected: 1\ntitle: " + "x" * 17_000_000, "1:1"),
    "nul": ("expected: 1\n\0", "2:1"),
    "number-for-a-key": ("expected: {1: a}\n", "1:12"),
    "python-object": ("expected: !!python/object/apply:os.getcwd []\n", "1:11"),
    "surrogate": ('expected: "\\ud800"\n', "1:14"),
    "tab": ("expected:\n\ta: 1\n", "2:1"),
}


@pytest.mark.parametrize("parser", ["libyaml", "pure"])
def test_hostile_files_are_errors_in_their_place_and_end_nothing(pytester, write, parser, monkeypatch):
    if parser == "pure":
        monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    for name, (text, _) in HOSTILE.items():
        write(f"{name}.golden.yaml", text)
    for name, encoding in {"utf-16": "utf-16", "latin-1": "latin-1"}.items():
        (pytester.path / f"{name}.golden.yaml").write_bytes("actual: é\nexpected: é\n".encode(encoding))
    windows = "\ufeffactual: {a: é}\r\nexpected:\r\n  a: é\r\n"
    (pytester.path / "windows.golden.yaml").write_bytes(windows.encode())
    places = {name: place for name, (_, place) in HOSTILE.items()} | {"utf-16": "1:1", "latin-1": "1:9"}
    if parser == "pure":
        places["surrogate"] = "1:11"
    monkeypatch.setenv("COLUMNS", "200")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=len(places))
    assert [line.partition(" - ")[0] for line in outcome.outlines if line.startswith("ERROR ")] == [
        f"ERROR {name}.golden.yaml::(file error)" for name in sorted(places)
    ]
    for name, place in places.items():
        outcome.stdout.fnmatch_lines(f"ERROR {name}.golden.yaml::(file error) - {place}:*")


def test_a_broken_file_can_be_run_by_its_name(pytester, write):
    write("b.golden.yaml", "nothing: here\n")
    pytester.runpytest("b.golden.yaml::(file error)").assert_outcomes(errors=1)


def test_a_file_that_cannot_be_read_is_its_own_error(pytester, write, golden):
    pytester.makeconftest(
        "def pytest_collectstart(collector):\n    if collector.name == 'gone.golden.yaml':\n        collector.path.unlink()\n"
    )
    write("gone.golden.yaml", "expected: {}\nactual: {}\n")
    golden("expected: {}\nactual: {}\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines(["E *gone.golden.yaml:1:1: the file can't be read: *"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
@pytest.mark.parametrize(
    "case",
    [
        {"expected_file": "pipe.json", "actual": 1},
        {"expected_file": "pipe.yaml", "actual": 1},
        {"expected": 1, "actual_file": "pipe.txt"},
        {"expected": 1, "input_file": "pipe.yml"},
        {"expected": 1, "actual": 1, "schema": "pipe.json"},
        {"expected": 1, "actual": 1, "schema": {"$ref": "FOLDER/pipe.json"}},
        {"cases_from": {"file": "pipe.jsonl", "expected": "total"}},
        {"cases_from": {"file": "pipe.csv", "expected": "total"}},
    ],
)
def test_a_pipe_or_a_device_is_not_read(pytester, golden, case):
    text = json.dumps(case).replace("FOLDER", pytester.path.as_uri())
    os.mkfifo(pytester.path / re.search(r"pipe\.\w+", text)[0])
    golden(text)
    outcome = pytester.runpytest_subprocess(timeout=60)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    outcome.stdout.fnmatch_lines(["*pipe.*: it is a pipe or a device, not a file*"])
