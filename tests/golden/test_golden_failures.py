"""A failing case shows its YAML, with `>` at the failing field's own line."""

from __future__ import annotations

import json
import sys

import pytest

RECEIPT = """\
metric: json_similarity
cases:
  - id: receipt
    title: it isn't what it was
    actual:
      merchant: Blue Cafe
      total: 12.5
      items:
        - {name: espresso, qty: 2}
    expected:
      merchant: Blue Cafe
      total: 13.5
      items:
        - name: espresso
          qty: 2
        - name: cake
          qty: 1
  - id: good
    actual: {a: 1}
    expected: {a: 1}
"""


TOLD = 'AssertionError: items[1] {"name": "ca… → (missing), 1 more (json_similarity 0.65 < 1.00)'
TOLD_LINE = TOLD.replace("[", "[[]")


def failures(outcome):
    """The lines between the heading of the failure and the next heading, indentation made one space."""
    lines = outcome.outlines
    start = next(index for index, line in enumerate(lines) if line.endswith("receipt " + "_" * 36)) + 1
    end = next(index for index in range(start, len(lines)) if lines[index].startswith(("==", "--", "__")))
    return [
        " ".join(line.split()) for line in lines[start:end] if line.strip() and not line.startswith("[gw")
    ]


def test_the_lowest_scoring_field_has_the_mark_and_the_others_a_place(pytester, write):
    write("golden/a.golden.yaml", RECEIPT)
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    outcome.assert_outcomes(failed=1, passed=1)
    shown = failures(outcome)
    assert shown[:7] == [
        "merchant: Blue Cafe",
        "total: 13.5",
        "items:",
        "- name: espresso",
        "qty: 2",
        "> - name: cake",
        f"E {TOLD}",
    ]
    assert shown[-1] == "golden/a.golden.yaml:16: AssertionError"
    outcome.stdout.fnmatch_lines("""\
        E *0.00  items[[]1]  row missing from actual  :16
        E *(missing)
        E *0.93  total * 7.4 % off  :12""")


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (["--tb=short"], ["a.golden.yaml:16: in receipt", "*- name: cake", f"E *{TOLD_LINE}"]),
        (["--tb=line"], [f"*a.golden.yaml:16: {TOLD_LINE}"]),
        (["--full-trace", "--showlocals"], ["> *- name: cake", f"E *{TOLD_LINE}"]),
    ],
)
def test_other_tracebacks_show_the_line_too(pytester, golden, options, lines):
    golden(RECEIPT)
    outcome = pytester.runpytest(*options)
    outcome.assert_outcomes(failed=1, passed=1)
    outcome.stdout.fnmatch_lines(lines)


def test_native_tracebacks_show_the_line(pytester, golden):
    golden(RECEIPT)
    shown = failures(pytester.runpytest("--tb=native"))
    at = shown.index(TOLD)
    assert shown[at - 2].endswith('a.golden.yaml", line 16, in receipt')
    assert shown[at - 1] == "- name: cake"


def test_the_first_lines_of_a_case_are_enough_context(pytester, golden):
    golden("# a comment\n\ncases:\n- id: receipt\n  actual: {a: 1}\n  expected: {a: 2}\n")
    assert failures(pytester.runpytest())[:3] == ["- id: receipt", "actual: {a: 1}", "> expected: {a: 2}"]


def test_a_field_that_expected_lacks_is_shown_at_what_is_around_it(pytester, golden):
    golden(
        "cases:\n- id: receipt\n  metric: json_similarity\n  options: {extra: count, reduce: f1}\n"
        "  actual: {a: {b: 1, new: 2}}\n  expected:\n    a:\n      b: 1\n"
    )
    shown = failures(pytester.runpytest("--tb=short"))
    assert shown[:2] == ["a.golden.yaml:7: in receipt", "a:"]


def test_an_expected_file_is_pointed_into(pytester, write):
    write("golden/expected/r.json", '{\n  "a": 1,\n  "b": {"c": 2},\n  "d": 1\n}\n')
    write(
        "golden/a.golden.yaml",
        "cases:\n- id: receipt\n  actual: {a: 1, b: {c: 3}, d: 2}\n  expected_file: expected/r.json\n",
    )
    outcome = pytester.runpytest()
    shown = [line for line in failures(outcome) if not line.startswith("_ _")]
    assert shown == [
        "- id: receipt",
        "actual: {a: 1, b: {c: 3}, d: 2}",
        "> expected_file: expected/r.json",
        "golden/a.golden.yaml:4:",
        "{",
        '"a": 1,',
        '> "b": {"c": 2},',
        "E AssertionError: b.c 2 → 3, 1 more (leaf_f1 0.33 < 1.00)",
        "E 3 fields: 1 match, 2 mismatch",
        "E expected → actual:",
        "E 0.00 b.c 2 → 3 50 % off golden/expected/r.json:3",
        "E 0.00 d 1 → 2 100 % off golden/expected/r.json:4",
        "golden/expected/r.json:3: AssertionError",
    ]
    assert failures(pytester.runpytest("--tb=short"))[:4] == [
        "golden/a.golden.yaml:4: in receipt",
        "expected_file: expected/r.json",
        "golden/expected/r.json:3: in expected_file",
        '"b": {"c": 2},',
    ]


def test_an_expected_file_of_yaml_without_the_field_is_shown_where_it_would_be(pytester, write):
    write("golden/expected/r.yaml", "a:\n  b: 1\nc: 2\n")
    write(
        "golden/a.golden.yaml",
        "cases:\n- {id: receipt, actual: {a: {b: 1, new: 2}, c: 2}, expected_file: expected/r.yaml}\n",
    )
    shown = failures(pytester.runpytest("--tb=short"))
    assert shown[2:4] == ["golden/expected/r.yaml:1: in expected_file", "a:"]


def test_the_values_of_placeholders_are_shown(pytester, golden):
    golden(
        "cases:\n- id: receipt\n  parametrize: {n: [2], shop: [Ann's, Bo]}\n  actual: {n: 1, shop: Bo}\n"
        "  expected: {n: '${n}', shop: '${shop}'}\n"
    )
    reported = [line for line in pytester.runpytest().outlines if line.startswith("E     $")]
    assert reported == ['E     ${n} is 2, ${shop} is "Ann\'s"', 'E     ${n} is 2, ${shop} is "Bo"']


def test_a_long_line_is_cut_around_the_field(pytester, write):
    before = {"id": "before", "actual": 1, "expected": ["x" * 500]}
    case = {"id": "case", "actual": {"n": 1}, "expected": {"n": 2, "more": ["y" * 500]}}
    write("a.golden.json", json.dumps({"cases": [before, case, before | {"id": "behind"}]}))
    outcome = pytester.runpytest("--jsonmatch-summary=none", "-k", "case")
    outcome.stdout.fnmatch_lines(['>*   … xxx*"id": "case"*"n": 2, "more": [[]"yyy* …', "E*(leaf_f1 0.*"])
    assert max(map(len, outcome.outlines)) < 220


def test_only_the_lines_above_the_field_are_shown_in_json_as_well(pytester, write):
    cases = [{"id": name, "actual": 1, "expected": 2} for name in "ab"]
    write("a.golden.json", json.dumps({"cases": cases}, indent=1))
    outcome = pytester.runpytest("--jsonmatch-summary=none", "a.golden.json::a")
    at = outcome.outlines.index('>    "expected": 2')
    assert outcome.outlines[at - 3 : at] == ["    {", '     "id": "a",', '     "actual": 1,']
    assert outcome.outlines[at + 1].startswith("E ")


def test_yaml_that_is_python_too_is_shown_the_same(pytester, write):
    write("receipt.golden.yaml", "actual: {'a': 1}\nexpected: {'a':\n  2}\nmetric: 'field_match'\n")
    assert failures(pytester.runpytest())[:2] == ["actual: {'a': 1}", "> expected: {'a':"]


# A case, the line that is blamed, and the message.
BLAMED = r"""
actual: no json here\n  expected: {a: 1} | actual: no json here => a.golden.yaml:3:3: no JSON found in the actual text: *
metric: feild_match\n  actual: {}\n  expected: {a: 1} | metric: feild_match => a.golden.yaml:3:3: unknown metric 'feild_match'; did you mean 'field_match'?
actual: [1]\n  expected: {a: 1}\n  metric: field_match | metric: field_match => a.golden.yaml:5:3: field_match compares two objects * actual is of type array*
actual: {a: 1}\n  expected: {a: 1}\n  options: {target_key: b} | options: {target_key: b} => a.golden.yaml:5:3: target_key is 'b'*
actual: {a: 1}\n  expected: {a: 1}\n  fields: {a: {compare: exakt}} | fields: {a: {compare: exakt}} => a.golden.yaml:5:12: fields[[]'a'].compare: *'exakt'; did you mean 'exact'?
actual: {a: 1}\n  expected: {a: 1}\n  options: {compare: {string: exakt}} | options: {compare: {string: exakt}} => a.golden.yaml:5:13: compare*'exakt'; did you mean 'exact'?
actual: {a: 1}\n  expected_file: nowhere.json | expected_file: nowhere.json => a.golden.yaml:4:3: expected_file 'nowhere.json' can't be read: no such file*; --jsonmatch-update=new writes it
actual_file: nowhere.txt\n  expected: 1 | actual_file: nowhere.txt => a.golden.yaml:3:3: actual_file 'nowhere.txt' can't be read: no such file*
actual: {a: 1}\n  expected_file: broken.json | expected_file: broken.json => a.golden.yaml:4:3: expected_file is not JSON: broken.json:2:*
actual: {a: 1}\n  expected_file: broken.yaml | expected_file: broken.yaml => a.golden.yaml:4:3: expected_file is not valid: broken.yaml:2:1: the key 'a' is already *
actual: {a: 1}\n  expected: {a: 1}\n  threshold: {fields: {b: 1}} | expected: {a: 1} => leaf_f1 fields[[]"b"] is undefined, needs 1.00
"""


@pytest.mark.parametrize("row", BLAMED.strip().splitlines())
def test_errors_stand_at_the_key_they_are_about(pytester, write, golden, row):
    case, _, reported = row.replace("\\n", "\n").partition(" | ")
    line, message = reported.split(" => ")
    golden(f"cases:\n- id: receipt\n  {case}\n")
    write("broken.json", '{"a":\n 1,}\n')
    write("broken.yaml", "a: 1\na: 2\n")
    outcome = pytester.runpytest()
    assert sum(outcome.parseoutcomes().get(kind, 0) for kind in ("failed", "errors")) == 1
    outcome.stdout.fnmatch_lines([f"> *{line.replace('[', '[[]')}", f"E *{message}"])
    # Only what depends on the answer is shown as a failed assertion.
    is_of_answer = any(part in message for part in ("no JSON found", "actual is of type", "is undefined"))
    assert is_of_answer == any("AssertionError: " in shown for shown in outcome.outlines)


@pytest.mark.parametrize("key", ["input_file", "actual_file", "expected_file"])
def test_a_file_name_that_is_too_long_is_an_error_at_its_line(pytester, golden, key):
    rest = {"input_file": "expected: 1", "actual_file": "expected: 1", "expected_file": "actual: 1"}[key]
    golden(f"cases:\n- id: a\n  {rest}\n  {key}: {'x' * 256}.json\n- {{actual: 1, expected: 1}}\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines([f"E*a.golden.yaml:4:3: {key} 'xxx*' can't be read: file name too long*"])


def test_what_a_hook_of_someone_else_raises_keeps_its_traceback(pytester, write):
    hook = "def pytest_jsonmatch_compared(result, item):\n    assert result.score == 7, 'not mine'\n"
    pytester.makeconftest(hook)
    write("receipt.golden.yaml", "actual: {a: 1}\nexpected: {a: 1}\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines([">*assert result.score == 7, 'not mine'", "conftest.py:2: AssertionError"])


def test_a_comparator_that_raises_fails_the_case_at_its_field(pytester, write):
    pytester.makeconftest("""
        def broken(expected, actual, params):
            raise ValueError("no idea")

        def pytest_jsonmatch_register(registry):
            registry.comparator("broken", broken)
        """)
    write(
        "receipt.golden.yaml",
        "actual: {a: 1, b: 1}\nexpected:\n  a: 1\n  b: 1\nfields: {b: {compare: broken}}\nthreshold: 0\n",
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["> *b: 1", "E *AssertionError: comparator * failed at b; *", "*no idea*"])


def test_a_missing_fixture_is_a_setup_error_and_not_the_end_of_the_run(pytester, golden):
    # From Python 3.12 on, reading the YAML as Python (note the apostrophe) would end in an internal error.
    golden(RECEIPT + "  - id: last\n    marks: [{usefixtures: [nope]}]\n    title: isn't\n    expected: 1\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1, passed=1, errors=1)
    outcome.stdout.fnmatch_lines("""\
        file *a.golden.yaml, line 21
          def golden_case(jsonmatch_case, jsonmatch_actual): ...
        E       fixture 'nope' not found""")


def test_a_file_that_is_not_valid_survives_a_missing_fixture_too(pytester, golden):
    pytester.makeconftest("import pytest\n\n@pytest.fixture(autouse=True)\ndef everywhere(nope): pass\n")
    golden("title: isn't a case\n")
    pytester.runpytest().assert_outcomes(errors=1)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tracebacks have columns since Python 3.11")
def test_no_carets_stand_below_the_yaml(pytester, golden):
    golden(RECEIPT)
    assert not [line for line in failures(pytester.runpytest("--tb=short")) if set(line.strip()) <= set("^~")]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ("{extra: count, reduce: ratio}", "give options: {extra: ignore}"),
        (
            "{transform: parse_json}",
            'such as fields: {"calls[[]].arguments": {"transform": [[]"parse_json"]}}',
        ),
        ("{fields: {a: semantic}}", "register one, or set jsonmatch_judge (docs/judge.md)"),
    ],
)
def test_an_error_that_two_settings_cause_is_mended_by_keys_of_the_file(pytester, golden, options, remedy):
    where = options[1:-1] if "fields" in options else f"options: {options}"
    golden(f"cases:\n  - id: one\n    actual: {{a: x}}\n    expected: {{a: y}}\n    {where}\n")
    pytester.runpytest().stdout.fnmatch_lines([f"E *a.golden.yaml:*{remedy}"])
