"""The ini option `jsonmatch_threshold`."""

from __future__ import annotations

import pytest

HALF = """
    from pytest_jsonmatch import assert_json_match

    def test_half():
        assert_json_match({"a": 1, "b": 2}, {"a": 1, "b": 3})
"""

FILES = {
    "pytest.ini": "[pytest]\njsonmatch_threshold = {}\n",
    "tox.ini": "[pytest]\njsonmatch_threshold = {}\n",
    "setup.cfg": "[tool:pytest]\njsonmatch_threshold = {}\n",
    "pyproject.toml": "[tool.pytest.ini_options]\njsonmatch_threshold = {}\n",
}
NATIVE = {
    "pytest.toml": "[pytest]\njsonmatch_threshold = {}\n",
    "pyproject.toml": "[tool.pytest]\njsonmatch_threshold = {}\n",
}
native = pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="native TOML came with pytest 9")


@pytest.fixture
def half(pytester):
    return pytester.makepyfile(HALF)


def run(pytester, file, text, *arguments):
    pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    return pytester.runpytest(*arguments)


def test_the_default_is_1(pytester, half):
    pytester.runpytest().assert_outcomes(failed=1)


@pytest.mark.parametrize("file", FILES)
def test_a_lower_threshold_passes(pytester, half, file):
    run(pytester, file, FILES[file].format("0.5")).assert_outcomes(passed=1)


@pytest.mark.parametrize("file", FILES)
def test_a_higher_threshold_fails(pytester, half, file):
    run(pytester, file, FILES[file].format("0.51")).assert_outcomes(failed=1)


def test_it_reaches_the_workers(pytester, half, workers):
    run(pytester, "pytest.ini", FILES["pytest.ini"].format("0.5"), *workers).assert_outcomes(passed=1)


def test_a_toml_string_is_a_number_in_ini_options(pytester, half):
    text = FILES["pyproject.toml"].format('"0.5"')
    run(pytester, "pyproject.toml", text).assert_outcomes(passed=1)


@native
@pytest.mark.parametrize("file", NATIVE)
@pytest.mark.parametrize("number", ["0.5", "0", "5e-1"])
def test_native_toml_has_natural_numbers(pytester, half, file, number):
    run(pytester, file, NATIVE[file].format(number)).assert_outcomes(passed=1)


def test_the_command_line_overrides_it(pytester, half):
    text = FILES["pytest.ini"].format("0.9")
    run(pytester, "pytest.ini", text, "-o", "jsonmatch_threshold=0.5").assert_outcomes(passed=1)


@pytest.mark.parametrize("value", ["high", "1.5", "-0.1", "nan", "inf", "90%", "", "true"])
def test_a_wrong_value_is_a_usage_error(pytester, half, value):
    outcome = run(pytester, "pytest.ini", FILES["pytest.ini"].format(value))
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in outcome.errlines if line.startswith("ERROR:")]
    assert len(errors) == 1
    assert "pytest.ini: jsonmatch_threshold must be a number from 0 to 1; " in errors[0]
    assert "INTERNALERROR" not in outcome.stdout.str() + outcome.stderr.str()


@native
@pytest.mark.parametrize("value", ['"0.9"', "true", "[0.9]", "1.5", "nan"])
def test_a_wrong_native_value_is_a_usage_error(pytester, half, value):
    outcome = run(pytester, "pytest.toml", NATIVE["pytest.toml"].format(value))
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in outcome.errlines if line.startswith("ERROR:")]
    assert len(errors) == 1
    assert "pytest.toml: jsonmatch_threshold must be a number from 0 to 1; " in errors[0]


def test_a_wrong_value_ends_the_run_with_workers_too(pytester, half):
    outcome = run(pytester, "pytest.ini", FILES["pytest.ini"].format("2"), "-p", "xdist", "-n", "2")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    # (The oldest pytest hands over text: '2'.)
    outcome.stderr.fnmatch_lines(["ERROR: *jsonmatch_threshold must be a number from 0 to 1; got *2*"])
