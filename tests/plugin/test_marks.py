"""`@pytest.mark.jsonmatch(...)`, and what wins over what."""

from __future__ import annotations

import pytest

LEVELS = """
    import pytest
    from pytest_jsonmatch import assert_json_match

    pytestmark = pytest.mark.jsonmatch(metric="json_similarity", threshold=0.3)

    def check(expected_metric, expected_threshold, **arguments):
        result = assert_json_match({"a": 1}, {"a": 1}, name=repr(expected_threshold), **arguments)
        assert result.metric == expected_metric

    def test_module():
        check("json_similarity", 0.3)

    @pytest.mark.jsonmatch(threshold=0.4)
    def test_function_over_module():
        check("json_similarity", 0.4)

    @pytest.mark.jsonmatch(metric="field_match")
    class TestClass:
        def test_class_over_module(self):
            check("field_match", 0.3)

        @pytest.mark.jsonmatch(metric="field_match_normalized")
        def test_function_over_class(self):
            check("field_match_normalized", 0.3)

        @pytest.mark.jsonmatch(threshold=0.4)
        def test_call_over_function(self):
            check("json_similarity", 0.5, threshold=0.5, metric="json_similarity")

    @pytest.mark.jsonmatch(threshold=None, metric=None)
    def test_none_means_not_given():
        check("json_similarity", 0.3)

    def test_a_mark_added_while_the_test_runs(request):
        request.node.add_marker(pytest.mark.jsonmatch(threshold=0.6))
        check("json_similarity", 0.6)
"""


@pytest.fixture
def thresholds(pytester):
    """Every comparison is named after the threshold it should have; the conftest says which it had."""
    pytester.makeconftest("""
        def pytest_jsonmatch_summary(results, terminalreporter):
            wrong = [each for each in results if repr(each.threshold["score"]) != each.id.split("#")[0]]
            terminalreporter.write_line(f"{len(results)} compared, wrong: {wrong}")
        """)


def test_the_closest_wins(pytester, thresholds):
    pytester.makepyfile(LEVELS)
    pytester.makeini("[pytest]\njsonmatch_threshold = 0.2\njsonmatch_metric = field_match\n")
    outcome = pytester.runpytest("--strict-markers")
    outcome.assert_outcomes(passed=7)
    outcome.stdout.fnmatch_lines(["7 compared, wrong: []"])


def test_a_mark_wins_over_ini_and_gives_options(pytester, python):
    python("""
        @pytest.mark.jsonmatch(metric="json_similarity", extra="count", leaf_threshold=0.9)
        class TestOptions:
            def test_from_the_mark(self):
                result = assert_json_match({"a": "abcd", "b": 1}, {"a": "abcx"}, threshold=0)
                assert (result.score, result.counts["hallucination"]) == (0.0, 1)

            def test_the_call_wins_option_by_option(self):
                result = assert_json_match({"a": "abcd", "b": 1}, {"a": "abcx"}, threshold=0, leaf_threshold=0.1)
                assert (result.score, result.counts["hallucination"]) == (0.5, 1)
        """)
    pytester.makeini("[pytest]\njsonmatch_metric = field_match\n")
    pytester.runpytest().assert_outcomes(passed=2)


def test_an_extra_item_fails_wherever_extra_count_is_given(pytester, python):
    pytester.makeconftest("""
        def pytest_jsonmatch_register(registry):
            registry.metric("counting", {"base": "json_similarity", "extra": "count"})
        """)
    python("""
        import pytest

        def test_call():
            assert_json_match([1, 2], [1], metric="json_similarity", extra="count")

        @pytest.mark.jsonmatch(metric="json_similarity", extra="count")
        def test_mark():
            assert_json_match([1, 2], [1])

        def test_ini():
            assert_json_match([1, 2], [1])
        """)
    pytester.path.joinpath("cases.golden.yaml").write_text(
        "metric: json_similarity\noptions: {extra: count}\n"
        "cases:\n- {id: file, actual: [1, 2], expected: [1]}\n"
        "- {id: registered, metric: counting, options: {}, actual: [1, 2], expected: [1]}\n"
    )
    pytester.makeini("[pytest]\njsonmatch_metric = counting\njsonmatch_threshold = 1.0\n")
    pytester.runpytest().assert_outcomes(failed=5)


def test_it_is_registered(pytester):
    pytester.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.jsonmatch(metric=None, *"])


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("0.9", "@pytest.mark.jsonmatch takes keywords only: metric=, threshold=, *; got 0.9"),
        ("metric='feild_match'", "unknown metric 'feild_match'; did you mean 'field_match'?"),
    ],
)
def test_a_wrong_mark_is_an_error_that_says_so(pytester, mark, message):
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.jsonmatch({mark})
        def test_one(assert_json_match):
            assert_json_match({{}}, {{}})
        """)
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines([f"E*ConfigurationError: {message}"])
