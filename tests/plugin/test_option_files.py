"""The ini option `jsonmatch_files`, and which files are claimed without it."""

from __future__ import annotations

import pytest

CASE = "expected: {a: 1}\nactual: {a: 1}\n"
native = pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="native TOML came with pytest 9")


@pytest.fixture
def cases(pytester):
    for name in ["one.golden.yaml", "two.golden.yml", "three.yaml", "deep/four.case.yml", "five.json"]:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(CASE, encoding="utf-8")


def collected(pytester, *arguments):
    outcome = pytester.runpytest("--collect-only", "-q", *arguments)
    return sorted(line for line in outcome.outlines if "::" in line)


def test_golden_files_are_claimed_and_what_the_command_line_names(pytester, cases):
    assert collected(pytester) == ["one.golden.yaml::one", "two.golden.yml::two"]
    assert collected(pytester, "three.yaml") == ["three.yaml::three"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\njsonmatch_files = *.case.yml three.*\n"),
        ("pytest.ini", "[pytest]\njsonmatch_files =\n    deep/*.yml\n    three.yaml\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\njsonmatch_files = ["*.case.yml", "three.yaml"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\njsonmatch_files = "*.case.yml three.yaml"\n'),
        pytest.param("pytest.toml", '[pytest]\njsonmatch_files = ["*.case.yml", "three.*"]\n', marks=native),
    ],
)
def test_globs_claim_more_files(pytester, cases, file, text):
    pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    assert collected(pytester) == [
        "deep/four.case.yml::four.case",
        "one.golden.yaml::one",
        "three.yaml::three",
        "two.golden.yml::two",
    ]


def test_globs_reach_the_workers(pytester, cases, processes):
    pytester.makeini("[pytest]\njsonmatch_files = *.case.yml\n")
    pytester.runpytest(*processes).assert_outcomes(passed=3)


@native
@pytest.mark.parametrize("value", ['"*.yaml"', "1", "[1]"])
def test_a_wrong_native_value_is_a_usage_error(pytester, value):
    pytester.path.joinpath("pytest.toml").write_text(
        f"[pytest]\njsonmatch_files = {value}\n", encoding="utf-8"
    )
    outcome = pytester.runpytest()
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: *pytest.toml: jsonmatch_files must be a list of glob patterns; *"])
