"""What newcomers get wrong, and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_jsonmatch import ConfigurationError, JsonExtractionError, assert_json_match


@pytest.mark.parametrize(
    ("threshold", "told"),
    [(90, "got 90; write 0.9"), ("90%", "got '90%'; write 0.9"), (1.5, "got 1.5"), ("high", "got 'high'")],
)
def test_a_threshold_that_is_a_percentage(threshold, told):
    with pytest.raises(ConfigurationError) as caught:
        assert_json_match({}, {}, threshold=threshold)
    assert str(caught.value).endswith(told)


@pytest.mark.parametrize("written", ["90", "90%"])
def test_a_percentage_in_a_golden_file(pytester, written):
    (pytester.path / "a.golden.yaml").write_text(f"threshold: {written}\nactual: 1\nexpected: 1\n")
    run = pytester.runpytest()
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines("*a.golden.yaml:1:1: `threshold` has to be a number from 0 to 1, *; write 0.9")


def test_a_misspelt_argument():
    with pytest.raises(ConfigurationError) as caught:
        assert_json_match({}, {}, treshold=0.9)
    assert str(caught.value) == "unknown argument 'treshold'; did you mean 'threshold'?"


def test_the_path_of_an_answer_as_text():
    with pytest.raises(JsonExtractionError, match="it looks like a path, so pass what is in the file"):
        assert_json_match("answers/receipt.json", {"a": 1})


def test_the_path_of_an_answer():
    with pytest.raises(AssertionError, match=r"pass what is in the file: path\.read_text\(\)$"):
        assert_json_match(Path("answers/receipt.json"), {"a": 1})


def test_sides_that_are_swapped():
    with pytest.raises(AssertionError, match="expected is inside actual: if the two were swapped"):
        assert_json_match({"a": 1, "b": 2}, {"a": 1})


def test_sides_that_differ_have_no_hint():
    with pytest.raises(AssertionError) as caught:
        assert_json_match({"a": 1, "b": 2}, {"a": 2})
    assert "swapped" not in str(caught.value)


def test_the_frames_of_the_plugin_are_hidden(pytester):
    pytester.makepyfile(
        """
        from pytest_jsonmatch import assert_json_match

        def test_it():
            assert_json_match({}, {}, threshold=90)
        """
    )
    run = pytester.runpytest()
    run.assert_outcomes(failed=1)
    run.stdout.no_fnmatch_line("*limits.py*")


def test_an_option_that_is_misspelt(pytester):
    run = pytester.runpytest("--jsonmatch-gatee=score >= 1")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines("*unknown option '--jsonmatch-gatee'; did you mean '--jsonmatch-gate'?")
