"""`--jsonmatch-pivot`: the fixture whose parameters are columns."""

from __future__ import annotations

PYTHON = """\
import pytest

from pytest_jsonmatch import assert_json_match


@pytest.fixture(params=[{"name": "a"}, {"name": "b"}], ids=["gpt-mini", "gpt-large"])
def model(request):
    return request.param


@pytest.fixture(params=["short", "long"])
def prompt(request):
    return request.param


@pytest.mark.parametrize("number", [1, 2])
def test_it(model, prompt, number):
    answer = {"n": number, "prompt": prompt if model["name"] == "b" else "none"}
    assert_json_match(answer, {"n": number, "prompt": prompt}, threshold=0)
"""


def test_tests_in_python_are_counted_where_the_fixture_is_named(pytester, workers):
    pytester.makepyfile(test_it=PYTHON)
    pytester.runpytest(*workers).stdout.no_fnmatch_line("score by*")
    run = pytester.runpytest("--jsonmatch-pivot=prompt", *workers)
    run.stdout.fnmatch_lines(
        [
            "score by prompt, [*] is the best",
            "           short  long",
            "prompt      0.50  0.50",
            "n           1.00  1.00",
        ]
    )


def test_labels_with_hyphens_can_not_be_told_from_each_other(pytester):
    pytester.makepyfile(test_it=PYTHON)
    run = pytester.runpytest("--jsonmatch-pivot=model")
    run.stdout.fnmatch_lines(
        ["score by model, [*] is the best", "           model0  model1", "prompt       0.00    1.00[*]"]
    )


def test_labels_of_a_single_parameter_are_those_of_the_node_id(pytester):
    pytester.makepyfile(
        test_it=PYTHON.replace('@pytest.mark.parametrize("number", [1, 2])\n', "").replace(
            "(model, prompt, number):", '(model):\n    number, prompt = 1, "short"'
        )
    )
    run = pytester.runpytest("--jsonmatch-pivot=model")
    run.stdout.fnmatch_lines(["           gpt-mini  gpt-large", "prompt         0.00       1.00[*]"])


def test_a_fixture_that_nobody_uses(pytester):
    pytester.makepyfile(test_it=PYTHON)
    run = pytester.runpytest("--jsonmatch-pivot=modle")
    run.stdout.fnmatch_lines("--jsonmatch-pivot=modle: no fixture of that name has several parameters here")
