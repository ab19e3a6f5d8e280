"""Producers: functions that a case names, and the answers that nobody gives."""

from __future__ import annotations

import pytest

CASE = "input: {text: hi}\nproducer: %s\nexpected: {text: hi}\n"


APP = """
import json

class Bot:
    @staticmethod
    def answer(document):
        return {"text": document.pop("text")}

def as_text(document):
    return "Sure: " + json.dumps(document)

async def later(document):
    return document
"""


def test_a_producer_is_called_with_a_copy_of_the_input(pytester, write):
    write("src/app.py", APP)
    pytester.makeini("[pytest]\npythonpath = src\n")
    names = ("Bot.answer", "Bot.answer", "as_text", "later")
    cases = "".join(f"- {{producer: 'app:{name}', expected: {{text: hi}}}}\n" for name in names)
    write("golden/a.golden.yaml", f"input: {{text: hi}}\ncases:\n{cases}")
    pytester.runpytest().assert_outcomes(passed=4)


def test_a_recorded_answer_goes_before_the_producer(pytester, write):
    write("a.golden.yaml", "actual: {a: 1}\nproducer: nowhere:nothing\nexpected: {a: 1}\n")
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("producer", "message"),
    [
        (
            "nowhere:answer",
            "ModuleNotFoundError: No module named 'nowhere'; add the folder that holds it to pytest's ini option `pythonpath`, or install it",
        ),
        ("nowhere.at.all:answer", "ModuleNotFoundError: No module named 'nowhere'; add the folder *"),
        (
            "good.sub:answer",
            "ModuleNotFoundError: No module named 'good.sub'; 'good' is not a package; add the folder *",
        ),
        ("broken:answer", "ModuleNotFoundError: No module named 'not_installed'"),
        ("wrong:answer", "SyntaxError: *"),
    ],
)
def test_a_producer_that_cannot_be_imported(pytester, write, producer, message):
    write("good.py", "")
    write("broken.py", "import not_installed\n")
    write("wrong.py", "def\n")
    write("x.golden.yaml", CASE % producer)
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(
        [
            f">   producer: {producer}",
            f"E   AssertionError: x.golden.yaml:2:1: the producer '{producer}' can't be imported: {message}",
            "x.golden.yaml:2: AssertionError",
        ]
    )


@pytest.mark.parametrize(
    ("producer", "message"),
    [
        (
            "good:anser",
            "the producer 'good:anser': 'good' has no 'anser'; did you mean 'answer'? functions there: answer",
        ),
        ("good:VALUE", "the producer 'good:VALUE' is int, not a function"),
    ],
)
def test_a_producer_that_is_none(pytester, write, producer, message):
    write("good.py", "VALUE = 1\n\ndef answer(document): return 1\n")
    write("x.golden.yaml", CASE % producer)
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([f"E   AssertionError: x.golden.yaml:2:1: {message}"])


def test_a_producer_without_input(pytester, write):
    write("good.py", "def answer(document): return 1\n")
    write("x.golden.yaml", "producer: good:answer\nexpected: 1\n")
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(
        ["E   AssertionError: x.golden.yaml:1:1: the producer 'good:answer' needs an `input` *"]
    )


def test_what_a_producer_raises_is_shown_where_it_was_raised(pytester, write):
    write("good.py", "def answer(document):\n    return document['nothing']\n")
    write("x.golden.yaml", CASE % "good:answer")
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([">*return document[[]'nothing']", "good.py:2: KeyError"])
    assert "producers.py" not in outcome.stdout.str()


def test_an_asynchronous_producer_inside_a_running_loop(pytester, write):
    write("good.py", "async def answer(document):\n    return document\n")
    write("x.golden.yaml", CASE % "good:answer")
    pytester.makeconftest(
        """
        import asyncio
        import pytest
        from pytest_jsonmatch.golden.producers import default_actual

        @pytest.fixture
        def jsonmatch_actual(jsonmatch_case):
            async def inside():
                return default_actual(jsonmatch_case)

            return asyncio.run(inside())
        """
    )
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(
        ["E *: the producer 'good:answer' is asynchronous and an event loop is already running; *"]
    )


def test_without_any_answer(pytester, write):
    write("x.golden.yaml", "title: isn't answered\nexpected: 1\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(
        [
            ">   title: isn't answered",
            "E   AssertionError: x.golden.yaml:1:1: the case 'x' has nothing to compare: give it `actual`, *",
        ]
    )


def test_the_hook_answers_last(pytester, write):
    pytester.makeconftest(
        "def pytest_jsonmatch_actual(case):\n    return {'echo': case.input} if case.id == 'asked' else None\n"
    )
    write(
        "x.golden.yaml",
        "cases:\n- {id: asked, input: 1, expected: {echo: 1}}\n- {id: recorded, actual: {a: 1}, expected: {a: 1}}\n"
        "- {id: silent, input: 1, expected: {echo: 1}}\n",
    )
    pytester.runpytest().assert_outcomes(passed=2, errors=1)
