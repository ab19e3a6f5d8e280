"""The ini option `jsonmatch_yaml_limit`."""

from __future__ import annotations

import pytest

LARGE = "\n".join(
    [
        "cases:",
        "- id: one",
        f"  title: {'x' * 1000}",
        "  actual: {a: 1}",
        "  expected: {a: 1}",
        "",
    ]
)
ADVICE = "*jsonmatch_yaml_limit"  # the whole sentence is pinned in tests/golden/test_yaml_values.py


def write(pytester, name, text):
    (pytester.path / name).write_text(text, encoding="utf-8")


def test_a_larger_file_is_an_error_and_others_run(pytester):
    pytester.makeini("[pytest]\njsonmatch_yaml_limit = 1 KiB\n")
    write(pytester, "a.golden.yaml", "actual: {a: 1}\nexpected: {a: 1}\n")
    write(pytester, "b.golden.yaml", LARGE)
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines(
        [f"E *AssertionError: b.golden.yaml:1:1: the file is larger than 1 KiB; {ADVICE}"]
    )


@pytest.mark.parametrize("limit", ["2 KiB", "2048", "0.5 MiB"])
def test_the_limit_can_be_raised(pytester, limit):
    pytester.makeini(f"[pytest]\njsonmatch_yaml_limit = {limit}\n")
    write(pytester, "b.golden.yaml", LARGE)
    pytester.runpytest().assert_outcomes(passed=1)


def test_without_it_there_is_a_limit(pytester):
    write(pytester, "a.golden.yaml", f"expected: 1\ntitle: {'x' * 2**24}\n")
    outcome = pytester.runpytest("--collect-only", "-q")
    outcome.stdout.fnmatch_lines(["a.golden.yaml::(file error)"])


def test_a_file_over_the_default_limit_can_be_updated_if_its_limit_is_raised(pytester):
    pytester.makeini("[pytest]\njsonmatch_yaml_limit = 20 MiB\n")
    write(pytester, "a.golden.yaml", f"actual: {{a: 1}}\nexpected: {{a: 2}}\ntitle: {'x' * 2**24}\n")
    outcome = pytester.runpytest("--jsonmatch-update=failed")
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["updated 1 case in a.golden.yaml"])
    with (pytester.path / "a.golden.yaml").open(encoding="utf-8") as file:
        assert [next(file), next(file)] == ["actual: {a: 1}\n", "expected: {a: 1}\n"]


def test_it_holds_for_the_yaml_that_cases_name_and_for_nothing_else(pytester):
    pytester.makeini("[pytest]\njsonmatch_yaml_limit = 1 KiB\n")
    write(pytester, "value.yaml", f"a: {'x' * 1500}\n")
    write(pytester, "value.json", f'{{"a": "{"x" * 1500}"}}')
    write(
        pytester,
        "a.golden.yaml",
        "cases:\n"
        "- {id: yaml, actual_file: value.json, expected_file: value.yaml}\n"
        "- {id: json, actual_file: value.json, expected_file: value.json}\n",
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.fnmatch_lines(
        [
            (
                "E *AssertionError: a.golden.yaml:2:39: expected_file is not valid: value.yaml:1:1: "
                f"the file is larger than 1 KiB; {ADVICE}"
            )
        ]
    )


def test_it_holds_for_the_cases_of_python_tests(pytester):
    pytester.makeini("[pytest]\njsonmatch_yaml_limit = 1 KiB\n")
    write(pytester, "b.yaml", LARGE)
    pytester.makepyfile(
        "from pytest_jsonmatch import golden_cases\n\n@golden_cases('b.yaml')\ndef test_it(case): pass\n"
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([f"b.yaml:1:1: the file is larger than 1 KiB; {ADVICE}"])


@pytest.mark.parametrize("value", ["a lot", "0", "-1"])
def test_what_is_no_size_is_a_usage_error(pytester, value):
    pytester.makeini(f"[pytest]\njsonmatch_yaml_limit = {value}\n")
    outcome = pytester.runpytest()
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(
        ["ERROR: *jsonmatch_yaml_limit must be a size such as 16 MiB or 1 GiB; the size is *"]
    )
