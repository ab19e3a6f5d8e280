"""The ini options `jsonmatch_metric` and `jsonmatch_threshold`, and the docs of all options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# By json_similarity 0.75, by leaf_f1 0.
SIMILAR = """
    from pytest_jsonmatch import assert_json_match

    def test_similar():
        assert_json_match({"status": "abcd"}, {"status": "abcx"})
"""
native = pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="native TOML came with pytest 9")
FILES = [
    ("pytest.ini", "[pytest]\njsonmatch_metric = json_similarity\njsonmatch_threshold = {}\n"),
    (
        "pyproject.toml",
        '[tool.pytest.ini_options]\njsonmatch_metric = "json_similarity"\njsonmatch_threshold = {}\n',
    ),
]
NATIVE = [
    pytest.param(
        name, f'{head}\njsonmatch_metric = "json_similarity"\njsonmatch_threshold = {{}}\n', marks=native
    )
    for name, head in [("pytest.toml", "[pytest]"), ("pyproject.toml", "[tool.pytest]")]
]


def run(pytester, file, text, *arguments):
    pytester.makepyfile(SIMILAR)
    pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    return pytester.runpytest(*arguments)


@pytest.mark.parametrize(("file", "text"), [*FILES, *NATIVE])
@pytest.mark.parametrize(("threshold", "passed"), [("0.75", 1), ("0.76", 0), ("75e-2", 1), ("0", 1)])
def test_they_are_the_defaults(pytester, file, text, threshold, passed):
    run(pytester, file, text.format(threshold)).assert_outcomes(passed=passed, failed=1 - passed)


def test_they_reach_the_workers(pytester, processes):
    file, text = FILES[0]
    run(pytester, file, text.format("0.7"), *processes).assert_outcomes(passed=1)


def test_a_toml_string_is_a_number_in_ini_options(pytester):
    file, text = FILES[1]
    run(pytester, file, text.format('"0.7"')).assert_outcomes(passed=1)


def test_the_command_line_overrides_them(pytester):
    file, text = FILES[0]
    run(pytester, file, text.format("0.9"), "-o", "jsonmatch_threshold=0.5").assert_outcomes(passed=1)


def test_the_call_wins_and_a_metric_of_the_conftest_may_be_named(pytester, python):
    pytester.makeconftest("""
        def pytest_jsonmatch_register(registry):
            registry.metric("ours", {"base": "json_similarity", "leaf_threshold": 0.9})
        """)
    python("""
        def test_ours():
            result = assert_json_match({"status": "abcd"}, {"status": "abcx"}, threshold=0)
            assert (result.metric, result.score) == ("ours", 0.0)

        def test_call():
            assert assert_json_match({}, {}, metric="field_match_normalized").metric == "field_match_normalized"
        """)
    pytester.makeini("[pytest]\njsonmatch_metric = ours\n")
    pytester.runpytest().assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "jsonmatch_metric = feild_match",
            "ERROR: jsonmatch_metric: unknown metric 'feild_match'; did you mean 'field_match'[?]",
        ),
        *(
            (
                f"jsonmatch_threshold = {value}",
                "ERROR: *pytest.ini: jsonmatch_threshold must be a number from 0 to 1; *",
            )
            for value in ("high", "1.5", "-0.1", "nan", "inf", "90%", "", "true")
        ),
    ],
)
def test_a_wrong_value_is_a_usage_error(pytester, line, message):
    outcome = run(pytester, "pytest.ini", f"[pytest]\n{line}\n")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines([message])
    assert sum(line.startswith("ERROR:") for line in outcome.errlines) == 1
    assert "INTERNALERROR" not in outcome.stdout.str() + outcome.stderr.str()


@native
@pytest.mark.parametrize("value", ['"0.9"', "true", "[0.9]", "1.5", "nan"])
def test_a_wrong_native_value_is_a_usage_error(pytester, value):
    outcome = run(pytester, "pytest.toml", f"[pytest]\njsonmatch_threshold = {value}\n")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: *pytest.toml: jsonmatch_threshold must be a number from 0 to 1; *"])


def test_each_option_has_a_row_in_the_docs(pytester):
    text = pytester.runpytest_subprocess("--help").stdout.str()
    options = set(re.findall(r"^ +(--jsonmatch-[a-z-]+|jsonmatch_[a-z]+)", text, re.MULTILINE))
    assert {"--jsonmatch-html", "jsonmatch_metric"} <= options
    page = Path(__file__).parents[2].joinpath("docs", "configuration.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| (.+?) \| ", page, re.MULTILINE))
    assert options - set(re.findall(r"--jsonmatch-[a-z-]+|jsonmatch_[a-z]+", rows)) == set()
