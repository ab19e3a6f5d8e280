"""What newcomers get wrong, and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_jsonmatch import ConfigurationError, JsonExtractionError, assert_json_match


def test_a_misspelt_argument():
    with pytest.raises(ConfigurationError) as caught:
        assert_json_match({}, {}, treshold=0.9)
    assert str(caught.value) == "unknown argument 'treshold'; did you mean 'threshold'?"


def test_a_misspelt_argument_of_a_mark(pytester, python):
    python("""
        @pytest.mark.jsonmatch(treshold=0.5)
        def test_it():
            assert_json_match({}, {})
        """)
    outcome = pytester.runpytest()
    outcome.stdout.fnmatch_lines("E *: unknown argument 'treshold'; did you mean 'threshold'[?]")


@pytest.mark.parametrize(
    ("actual", "error", "message"),
    [
        ("a/b.json", JsonExtractionError, "it looks like a path: pass the content of the file"),
        (Path("a/b.json"), AssertionError, r"pass the content of the file: path\.read_text\(\)$"),
        ({"a": 1, "b": 2}, AssertionError, "expected is inside actual: if the two were swapped"),
    ],
)
def test_the_path_of_an_answer_and_sides_that_are_swapped(actual, error, message):
    with pytest.raises(error, match=message):
        assert_json_match(actual, {"a": 1})


@pytest.mark.parametrize(
    "arguments",
    [
        "threshold=90",
        "treshold=1",
        "metric='leaf-f1'",
        "fields={'a': {'tolerence': 1}}",
        "fields={'a[*]': 'date'}",
        "accept={'a': 1}",
        "arrays='any'",
        "schema='none.json'",
        "schema='json:none'",
        "schema={'type': 'objekt'}",
        "schema={'properties': {'b': {}}}",
    ],
)
def test_the_frames_of_the_plugin_are_hidden(pytester, python, arguments):
    python(f"""
        def test_it():
            assert_json_match({{"a": 1}}, {{"a": 1}}, {arguments})
        """)
    run = pytester.runpytest()
    run.assert_outcomes(failed=1)
    run.stdout.no_fnmatch_line("*pytest_jsonmatch*.py*")


@pytest.mark.parametrize(
    "option", ["update", "record=out.jsonl", "repeat=2", "gate=f1 >= 0.9", "json=out.json", "save=main"]
)
def test_an_option_that_needs_cases_says_where_they_were_looked_for(pytester, option):
    pytester.makeini("[pytest]\njsonmatch_files = *.case.yaml")
    pytester.makepyfile("def test_a(): pass")
    result = pytester.runpytest(f"--jsonmatch-{option}")
    patterns = "[*].golden.yaml, [*].golden.yml, [*].golden.json, [*].case.yaml"
    result.stdout.fnmatch_lines(
        f"--jsonmatch-{option.partition('=')[0]} needs *; golden files are {patterns} (jsonmatch_files names more)"
    )


def test_an_option_that_has_its_cases_says_nothing(pytester, processes):
    pytester.makefile(".golden.json", a='{"expected": {"n": 1}, "actual": {"n": 1}}')
    result = pytester.runpytest("--jsonmatch-record=out.jsonl", "--jsonmatch-gate=f1 >= 0.9", *processes)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("* needs a *")


BAD_CONFIGURATION = """\
metric: no_such
cases:
- {id: one, expected: {n: 1}, actual: {n: 1}}
- {id: two, expected: {n: 1}, actual: {n: 1}}
- {id: three, metric: leaf_f1, expected: {n: 1}, actual: {n: 1}}
- {id: skipped, expected: {n: 1}, actual: {n: 1}, marks: [{skip: later}]}
- {id: four, metric: leaf_f1, threshold: {score: 1, fields: {n: 1}}, schema: none.json, expected: {n: 1}, actual: {n: 1}}
"""


def test_a_wrong_configuration_is_an_error_reported_once_per_file(pytester):
    pytester.makefile(".golden.yaml", a=BAD_CONFIGURATION)
    result = pytester.runpytest("--jsonmatch-gate=score >= 0.9")
    result.assert_outcomes(passed=1, errors=3, skipped=1)
    result.stdout.fnmatch_lines("""\
        E   a.golden.yaml:1:1: unknown metric 'no_such'; known: *
        E   a.golden.yaml:1:1: the same error as in the case 'one'
        E   a.golden.yaml:7:*: schema*none.json' does not exist*
        gates, on 4 cases
        score >= 0.9 *failed * 0.25 *""")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("jsonmatch_gate = score >= 2", "did you mean 'jsonmatch_gates'?"),
        ("jsonmatch_treshold = 0.5", "did you mean 'jsonmatch_threshold'?"),
        ("jsonmatch_fail_under = 0.5", "add --jsonmatch-fail-under to addopts"),
        ("jsonmatch_xyz = 1", "known: jsonmatch_metric, *"),
    ],
)
def test_an_unknown_option_of_the_configuration_file(pytester, python, workers, line, hint):
    python("def test_it(): assert_json_match({}, {})")
    name, value = line.split(" = ")
    run = pytester.runpytest("-o", f"{name}={value}", *workers)
    run.stderr.fnmatch_lines([f"ERROR: *unknown option '{name}'; {hint}"])
    pytester.makeini(f"[pytest]\n{line}\n")
    run = pytester.runpytest(*workers)
    run.stderr.fnmatch_lines([f"ERROR: *.ini: unknown option '{name}'; {hint}"])
    assert run.ret == pytest.ExitCode.USAGE_ERROR


def test_a_producer_that_is_not_there_lists_those_that_are(pytester):
    pytester.makeconftest("from json import dumps\n\ndef receipt(x): return x\n\ndef invoice(x): return x")
    pytester.makefile(".golden.yaml", a="producer: conftest:model\ninput: 1\nexpected: 1")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        "E *the producer 'conftest:model': 'conftest' has no 'model'; known: invoice, receipt"
    )
