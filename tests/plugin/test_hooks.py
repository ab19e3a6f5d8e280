"""The plugin's own hooks, in conftest files and in other plugins."""

from __future__ import annotations

import re

import pytest

REGISTER = """
    def pytest_jsonmatch_register(registry):
        registry.comparator("same_length", lambda expected, actual, params: len(expected) == len(actual))
        registry.transform("no_dashes", lambda value: value.replace("-", ""))
        registry.metric("by_length", {"compare": {"string": "same_length"}})
"""
USE = """
    from pytest_jsonmatch import assert_json_match, compare_json

    def test_registered():
        assert_json_match({"a": "abc"}, {"a": "xyz"}, metric="by_length")
        assert_json_match({"a": "1-2"}, {"a": "12"}, fields={"a": {"transform": ["no_dashes"]}})
        assert compare_json({"a": "abc"}, {"a": "xyz"}, metric="by_length").score == 1.0
"""


def test_register_in_several_conftests(pytester):
    outer = "def pytest_jsonmatch_register(registry): registry.metric('outer', {'reduce': 'ratio'})"
    pytester.makeconftest(outer)
    folder = pytester.mkpydir("deep")
    inner = "def pytest_jsonmatch_register(registry): registry.metric('inner', {'base': 'outer'})"
    folder.joinpath("conftest.py").write_text(inner, encoding="utf-8")
    folder.joinpath("test_it.py").write_text(
        "def test_inner(assert_json_match): assert_json_match([1], [1], metric='inner')", encoding="utf-8"
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_what_is_registered_ends_with_the_session(pytester):
    pytester.makeconftest(REGISTER)
    pytester.makepyfile(USE)
    for _ in range(2):  # a second registration of the same names would be an error
        pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_wrong_registration_ends_the_run(pytester, processes):
    pytester.makeconftest("def pytest_jsonmatch_register(registry): registry.comparator('exact', print)")
    pytester.makepyfile("def test_plain(): pass")
    outcome = pytester.runpytest(*processes)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: pytest_jsonmatch_register: 'exact' is a built-in comparator *"])


def test_a_wrong_registration_of_a_subdirectory_is_an_error_of_its_collection(pytester):
    folder = pytester.mkpydir("deep")
    folder.joinpath("conftest.py").write_text(
        "def pytest_jsonmatch_register(registry): registry.comparator('exact', print)", encoding="utf-8"
    )
    folder.joinpath("test_it.py").write_text("def test_plain(): pass", encoding="utf-8")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines("""\
        deep*conftest.py:1: in pytest_jsonmatch_register
        E *: 'exact' is a built-in *""")


def test_compared_sees_every_comparison_and_its_test(pytester, workers):
    pytester.makeconftest("""
        def pytest_jsonmatch_compared(result, item):
            item.user_properties.append(("seen", f"{item.name} {result.metric} {result.score}"))
        """)
    pytester.makepyfile("""
        def test_one(assert_json_match):
            assert_json_match({"a": 1}, {"a": 1})
            assert_json_match([1, 2], [1, 3], metric="json_similarity")
        """)
    pytester.runpytest("--junitxml=junit.xml", *workers).assert_outcomes(failed=1)
    junit = pytester.path.joinpath("junit.xml").read_text(encoding="utf-8")
    seen = [line.split('"')[0] for line in junit.split('name="seen" value="')[1:]]
    assert [text.rpartition(" ")[0] for text in seen] == ["test_one leaf_f1", "test_one json_similarity"]


def test_compared_of_another_folder_hears_nothing(pytester):
    for folder in ("left", "right"):
        path = pytester.mkpydir(folder)
        path.joinpath("conftest.py").write_text(
            f"def pytest_jsonmatch_compared(result, item): print('<{folder} heard {{}}>'.format(item.name))",
            encoding="utf-8",
        )
        path.joinpath(f"test_{folder}.py").write_text(
            f"def test_{folder}(assert_json_match): assert_json_match({{}}, {{}})", encoding="utf-8"
        )
    heard = re.findall("<(.*?)>", pytester.runpytest("-s").stdout.str())
    assert heard == ["left heard test_left", "right heard test_right"]


@pytest.mark.parametrize("argument", ["--jsonmatch-summary=none", "--no-summary"])
def test_summary_is_not_called_without_a_summary(pytester, argument):
    pytester.makeconftest(
        "def pytest_jsonmatch_summary(results, terminalreporter): terminalreporter.write_line('called')"
    )
    pytester.makepyfile("def test_one(assert_json_match): assert_json_match({}, {})")
    assert "called" in pytester.runpytest().outlines
    assert "called" not in pytester.runpytest(argument).outlines


def test_the_first_answer_stands(pytester):
    pytester.makefile(".golden.yaml", echo="input: {a: 1}\nexpected: {a: 1}\n")
    pytester.makeconftest("def pytest_jsonmatch_actual(case): return {'a': 2}")
    hook = "@pytest.hookimpl(tryfirst=True)\ndef pytest_jsonmatch_actual(case): return case.input"
    pytester.makepyfile(our_plugin=f"import pytest\n\n{hook}")
    pytester.syspathinsert()
    pytester.runpytest_subprocess("-p", "our_plugin").assert_outcomes(passed=1)
