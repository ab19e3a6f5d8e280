"""The ini option `jsonmatch_metric`."""

from __future__ import annotations

import pytest

SIMILAR = """
    from pytest_jsonmatch import assert_json_match

    def test_similar():
        result = assert_json_match({"status": "abcd"}, {"status": "abcx"}, threshold=0)
        assert (result.metric, result.score) == ("json_similarity", 0.75)
"""

native = pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="native TOML came with pytest 9")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\njsonmatch_metric = json_similarity\n"),
        ("setup.cfg", "[tool:pytest]\njsonmatch_metric = json_similarity\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\njsonmatch_metric = "json_similarity"\n'),
        pytest.param("pyproject.toml", '[tool.pytest]\njsonmatch_metric = "json_similarity"\n', marks=native),
        pytest.param("pytest.toml", '[pytest]\njsonmatch_metric = "json_similarity"\n', marks=native),
    ],
)
def test_it_is_the_default_metric(pytester, file, text):
    pytester.makepyfile(SIMILAR)
    pytester.path.joinpath(file).write_text(text, encoding="utf-8")
    pytester.runpytest().assert_outcomes(passed=1)


def test_it_reaches_the_workers(pytester, workers):
    pytester.makepyfile(SIMILAR)
    pytester.makeini("[pytest]\njsonmatch_metric = json_similarity\n")
    pytester.runpytest(*workers).assert_outcomes(passed=1)


def test_without_it_the_metric_is_leaf_f1(pytester):
    pytester.makepyfile(
        """
        from pytest_jsonmatch import assert_json_match

        def test_default():
            assert assert_json_match({}, {}).metric == "leaf_f1"
        """
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_the_call_wins(pytester):
    pytester.makepyfile(
        """
        from pytest_jsonmatch import assert_json_match

        def test_call():
            assert assert_json_match({}, {}, metric="field_match_normalized").metric == "field_match_normalized"
        """
    )
    pytester.makeini("[pytest]\njsonmatch_metric = json_similarity\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_it_may_name_a_metric_of_the_conftest(pytester):
    pytester.makeconftest(
        """
        def pytest_jsonmatch_register(registry):
            registry.metric("ours", {"base": "json_similarity", "leaf_threshold": 0.9})
        """
    )
    pytester.makepyfile(
        """
        from pytest_jsonmatch import assert_json_match

        def test_ours():
            result = assert_json_match({"status": "abcd"}, {"status": "abcx"}, threshold=0)
            assert (result.metric, result.score) == ("ours", 0.0)
        """
    )
    pytester.makeini("[pytest]\njsonmatch_metric = ours\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_an_unknown_metric_is_a_usage_error(pytester):
    pytester.makeini("[pytest]\njsonmatch_metric = feild_match\n")
    outcome = pytester.runpytest()
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(
        ["ERROR: jsonmatch_metric: unknown metric 'feild_match'; did you mean 'field_match'[?]"]
    )


def test_no_metric_at_all_is_a_usage_error(pytester):
    pytester.makeini("[pytest]\njsonmatch_metric =\n")
    outcome = pytester.runpytest()
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: *jsonmatch_metric must be the name of a metric; got nothing"])
