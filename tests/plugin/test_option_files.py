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


# pytest's documentation has this example, under "Working with non-python tests".
YAML_TESTS = """\
import pytest

def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".yaml" and file_path.name.startswith("test"):
        return YamlFile.from_parent(parent, path=file_path)

class YamlFile(pytest.File):
    def collect(self):
        yield YamlItem.from_parent(self, name="usecase")

class YamlItem(pytest.Item):
    def runtest(self):
        pass
"""


@pytest.mark.parametrize(
    "text",
    [
        "ok:\n  expected: {a: 1}\nhello:\n  world: cases\n",
        "- expected: 1\n- cases: []\n",
        "--- !anything\nstages: !include cases.yaml\n---\nexpected: 1\n",
        "text: [unclosed\nexpected: 1\n",
        "{% for cases in range(2) %}",
        "expected",
        "",
    ],
)
def test_yaml_files_of_other_plugins_are_left_alone(pytester, text):
    pytester.makeconftest(YAML_TESTS)
    pytester.path.joinpath("test_login.yaml").write_text(text, encoding="utf-8")
    pytester.runpytest("test_login.yaml").assert_outcomes(passed=1)
    pytester.runpytest("test_login.yaml::usecase").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "text",
    [
        "cases: [{id: a}]",
        "cases_from: none.jsonl",
        "{actual: {a: 1}, 'expected': {a: 1}}",
        "title: !x\nactual: 1\nexpected_file: none.json",
        "expected: 1\nbroken: [",
    ],
)
def test_golden_files_named_on_the_command_line_are_collected_whatever_is_wrong_with_them(pytester, text):
    pytester.path.joinpath("new.yaml").write_text(text, encoding="utf-8")
    assert len(collected(pytester, "new.yaml")) == 1


def test_a_misspelt_key_is_an_error_where_the_name_says_that_there_are_cases(pytester):
    pytester.makefile(".golden.yaml", a="expect: {a: 1}\nactual: {a: 1}\n")
    outcome = pytester.runpytest("a.golden.yaml")
    outcome.stdout.fnmatch_lines(["*unknown key 'expect'; did you mean 'expected'?*"])
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


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
