"""Values of golden files beyond our limits: 128 levels, and integers of 4,300 digits."""

from __future__ import annotations

import json

import pytest

from pytest_jsonmatch import JsonMatchError
from tests.conftest import load_cases


def nested(levels):
    return "[" * levels + "1" + "]" * levels


def cases(value):
    """A golden file of three cases on lines of their own; the second has a value as its recorded answer."""
    return (
        '{"cases": [\n {"id": "first", "actual": 1, "expected": 1},\n'
        f' {{"id": "second", "actual": {value},\n  "expected": {value}}},\n'
        ' {"id": "third", "actual": 1, "expected": 1}\n]}\n'
    )


DEEP = "more than 128 levels of arrays and objects; give its parts cases of their own"
LONG = "an integer of more than 4,300 digits; give it as a string"
ALIASES = "".join(f"a{level}: &a{level} [*a{level - 1}]\n" for level in range(1, 140))


@pytest.mark.parametrize("name", ["a.golden.yaml", "a.golden.json"])
@pytest.mark.parametrize(
    ("value", "column", "reason"),
    [
        (nested(129), 157, DEEP),
        (nested(1_000), 157, DEEP),
        ('{"a": ' * 130 + "1" + "}" * 130, 797, DEEP),
        ("1" * 4_301, 29, LONG),
        ('{"a": [1, -' + "1" * 4_301 + "]}", 39, LONG),
    ],
)
def test_one_case_beyond_them_fails_and_the_others_run(pytester, write, name, value, column, reason):
    write(name, cases(value))
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.6", "--tb=short")
    run.assert_outcomes(passed=2, errors=1)
    run.stdout.fnmatch_lines([f"*{name}:3:{column}: {reason}*"])
    run.stdout.fnmatch_lines(["*0.67*"])
    assert "Traceback" not in run.stdout.str() + run.stderr.str()


@pytest.mark.parametrize("name", ["a.golden.yaml", "a.golden.json"])
@pytest.mark.parametrize("value", [nested(128), '{"a":' * 128 + "1" + "}" * 128, "1" * 4_300])
def test_values_within_them_pass(pytester, write, name, value):
    write(name, cases(value))
    write(f"one-{name}", f'{{"actual": {value}, "expected": {value}}}')
    pytester.runpytest().assert_outcomes(passed=4)


def test_they_are_counted_in_a_file_of_one_case_as_in_a_list(pytester, golden):
    golden(f"actual: {nested(128)}\nexpected: {nested(129)}\n")
    run = pytester.runpytest()
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines([f"*a.golden.yaml:2:139: {DEEP}"])


def test_levels_of_aliases_count_where_they_are_used(tmp_path):
    text = (
        f"cases:\n- id: one\n  expected:\n    a0: &a0 1\n    {ALIASES.replace(chr(10), chr(10) + '    ')}\n"
    )
    (case,) = load_cases(text.encode(), tmp_path / "a.golden.yaml", "a.golden.yaml").by_id.values()
    with pytest.raises(JsonMatchError, match=rf"^a\.golden\.yaml:132:\d+: {DEEP}"):
        _ = case.expected


def test_next_to_cases_they_are_an_error_of_the_file(pytester, golden):
    golden(f"schema: {nested(200)}\ncases:\n- expected: 1\n")
    run = pytester.runpytest()
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines([f"*a.golden.yaml:1:*: {DEEP}"])


@pytest.mark.parametrize("name", ["e.json", "e.yaml"])
@pytest.mark.parametrize("value", [nested(129), "1" * 4_301])
def test_a_file_that_a_case_names(pytester, write, golden, name, value):
    write(name, value)
    golden(f"cases:\n- {{id: a, actual: 1, expected_file: {name}}}\n- {{id: b, actual: 1, expected: 1}}\n")
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.5")
    assert run.parseoutcomes()["passed"] == 1
    run.stdout.fnmatch_lines(
        f"*a.golden.yaml:2:*expected_file*{name}:1:*: *{128 if '[' in value else '4,300'}*"
    )


def test_the_other_cases_are_updated(pytester, golden):
    text = cases(nested(129)).replace('"actual": 1', '"actual": 2')
    golden(text)
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=2, errors=1)
    assert (pytester.path / "a.golden.yaml").read_text() == text.replace('"expected": 1', '"expected": 2')


def test_a_test_in_python_gets_the_error_with_the_value(pytester, write):
    write("cases.yaml", cases(nested(129)))
    pytester.makepyfile("""
        from pytest_jsonmatch import golden_cases

        @golden_cases("cases.yaml")
        def test_it(case):
            assert case.expected == case.actual
        """)
    run = pytester.runpytest()
    run.assert_outcomes(passed=2, failed=1)
    run.stdout.fnmatch_lines([f"E *cases.yaml:3:157: {DEEP}"])
    assert json.loads(nested(3)) == [[[1]]]


@pytest.mark.parametrize("levels", [60, 95, 127])
@pytest.mark.parametrize("line_break", ["", "\n "])
def test_a_deep_case_fails_like_any_other(pytester, write, golden, levels, line_break):
    # pytest reads the file as Python to quote it; Python's parser ends in a MemoryError at some 100 brackets.
    value = f"[{line_break}" * levels + "%d" + "]" * levels
    golden(f"actual: {value % 1}\nexpected: {value % 2}\n")
    write("rows.jsonl", f'{{"actual": {value % 1}, "expected": {value % 2}}}\n'.replace("\n ", ""))
    write("b.golden.yaml", "cases_from: {file: rows.jsonl, actual: actual, expected: expected}\n")
    run = pytester.runpytest()
    run.assert_outcomes(failed=2)
    run.stdout.fnmatch_lines(["E   AssertionError: *[[]0[]] 2 → 1 (leaf_f1 0.00 < 1.00)"])


def test_a_case_nested_too_deeply_for_libyaml_does_not_stop_updates_of_others(pytester, golden):
    golden(
        f"cases:\n- {{id: deep, actual: {nested(1_000)}, expected: 1}}\n- {{id: other, actual: 2, expected: 1}}\n"
    )
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1, errors=1)
    text = (pytester.path / "a.golden.yaml").read_text(encoding="utf-8")
    assert text.endswith("- {id: other, actual: 2, expected: 2}\n")
