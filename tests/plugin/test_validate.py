"""An answer is also held against its schema, as JSON Schema: `validate`, `valid_rate`, `parse_rate`."""

from __future__ import annotations

import warnings

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    JsonMatchWarning,
    assert_json_match,
    compare_corpus,
    compare_json,
    read_results,
)
from tests.conftest import main

SCHEMA = {
    "type": "object",
    "properties": {"total": {"type": "number", "minimum": 0}, "items": {"items": {"required": ["n"]}}},
}
WRONG = {"total": -1, "items": [{"n": 1}, {}]}
VIOLATIONS = ("total: -1 is less than the minimum of 0", 'items[1]: "n" is a required property')


def test_violations_are_listed_and_do_not_fail():
    result = assert_json_match(WRONG, WRONG, schema=SCHEMA)
    assert (result.valid, sorted(result.violations)) == (False, sorted(VIOLATIONS))
    assert compare_json(WRONG, WRONG, schema=SCHEMA, validate="report").to_dict()["valid"] is False


def test_they_stand_below_a_failure():
    with pytest.raises(AssertionError) as error:
        assert_json_match(WRONG, {**WRONG, "total": 2}, schema=SCHEMA)
    lines = str(error.value).splitlines()
    assert lines[0] == "total 2 → -1 (leaf_f1 0.67 < 1.00)"
    found = [line.removeprefix("not valid by the schema: ").strip() for line in lines]
    assert sorted(found[-2:]) == sorted(VIOLATIONS)


def test_require_fails_for_what_is_not_valid():
    with pytest.raises(AssertionError, match=r"\Anot valid by the schema: (total: -1 is|items\[1\]: \"n\")"):
        assert_json_match(WRONG, WRONG, schema=SCHEMA, validate="require")
    assert assert_json_match({"total": 1}, {"total": 1}, schema=SCHEMA, validate="require").valid is True


def compare_lists(actual, expected, **options):
    return compare_corpus([actual], [expected], **options)


@pytest.mark.parametrize("compare", [compare_json, assert_json_match, compare_lists])
def test_report_without_a_schema_is_a_warning(compare):
    with pytest.warns(
        JsonMatchWarning, match="'report', but there is no schema to validate against: nothing"
    ):
        compare({"a": 1}, {"a": 1}, validate="report")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare({"a": 1}, {"a": 1})
        compare({"a": 1}, {"a": 1}, validate="report", schema={})
        compare({"a": 1}, {"a": 1}, validate="off")


def test_report_without_a_schema_is_a_warning_in_golden_files_and_on_the_command_line(pytester, capsys):
    pytester.makefile(".golden.yaml", a="validate: report\nexpected: {a: 1}\nactual: {a: 1}\n")
    run = pytester.runpytest("-W", "default")
    run.assert_outcomes(passed=1, warnings=1)
    run.stdout.fnmatch_lines(
        "*a.golden.yaml:*JsonMatchWarning: validate is 'report', but there is no schema*"
    )
    pytester.runpytest("-W", "error").assert_outcomes(failed=1)
    pytester.makefile(".jsonl", a='{"a": 1}')
    main(["evaluate", "a.jsonl", "a.jsonl", "--validate"])
    assert "there is no --schema to validate answers against" in capsys.readouterr().err


def test_off_does_not_look():
    assert assert_json_match(WRONG, WRONG, schema=SCHEMA, validate="off").valid is None
    assert compare_json(WRONG, WRONG, schema=SCHEMA).valid is None
    assert assert_json_match(WRONG, WRONG).valid is None


def test_what_the_validator_can_not_take_is_not_validated():
    value = {"total": 1, "x": "\ud800"}
    result = assert_json_match(value, value, schema={}, validate="require")
    assert (result.valid, result.validity.violations) == (None, ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validate": "yes", "schema": {}}, "validate must be 'report' or 'require' or 'off', got 'yes'"),
        ({"validate": "require"}, "validate is 'require', but there is no schema to validate against"),
    ],
)
def test_what_is_no_way_to_validate(options, message):
    with pytest.raises(ConfigurationError, match=message):
        assert_json_match({}, {}, **options)


CASES = """\
schema: s.json
cases:
- {id: valid, expected: {total: 1}, actual: {total: 1}}
- {id: invalid, expected: {total: -1}, actual: 'Sure: {"total": -1}'}
- {id: none, expected: {total: 1}, actual: nothing}
- {id: half, threshold: 0, expected: {s: x}, actual: '{"s": "\\ud800"}'}
- {id: "off", expected: {total: -1}, actual: {total: -1}, validate: "off"}
"""


@pytest.fixture
def cases(pytester):
    pytester.makefile(".json", s='{"properties": {"total": {"minimum": 0}, "s": {}}}')
    pytester.makefile(".golden.yaml", c=CASES)


def test_golden_cases_gates_and_reports(pytester, cases, workers):
    result = pytester.runpytest(
        *workers,
        "--jsonmatch-gate=valid_rate >= 0.9",
        "--jsonmatch-gate=parse_rate >= 0.9",
        "--jsonmatch-gate=cases['valid'].parse_rate >= 0.9",
        "--jsonmatch-json=out.json",
        "--jsonmatch-markdown=out.md",
    )
    result.assert_outcomes(passed=4, failed=1)
    note = "valid by the schema: 1 of 3 answers (1 not validated); JSON found in 2 of 3 texts"
    result.stdout.fnmatch_lines("""\
        valid_rate >= 0.9 *failed *
          1 of 3 answers, 1 not validated
        parse_rate >= 0.9 *failed *
        cases[[]'valid'].parse_rate >= 0.9 *failed *
          no answer was text
        valid by the schema: 1 of 3 answers (1 not validated); JSON found in 2 of 3
        texts
        1 violation: total: -1 *""")
    assert note in (pytester.path / "out.md").read_text(encoding="utf-8")
    results = read_results(pytester.path / "out.json")
    assert results.answers.rates == {"parse_rate": 2 / 3, "valid_rate": 1 / 3}
    found = [each.validity for each in results.comparisons]
    assert found == ["not validated", "invalid", "invalid", "", "valid"]


def test_require_in_a_golden_file(pytester, cases):
    text = (pytester.path / "c.golden.yaml").read_text(encoding="utf-8")
    (pytester.path / "c.golden.yaml").write_text(f"validate: require\n{text}", encoding="utf-8")
    result = pytester.runpytest("-k", "valid or half")
    result.assert_outcomes(passed=2, failed=1, deselected=2)
    result.stdout.fnmatch_lines(f"E *AssertionError: not valid by the schema: {VIOLATIONS[0]}")
    result.stdout.fnmatch_lines(["c.golden.yaml::invalid  not valid by the schema*"])
