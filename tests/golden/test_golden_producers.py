"""Producers: functions that a case names, and the answers that nobody gives."""

from __future__ import annotations

import re
import sys

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


def test_a_recorded_answer_goes_before_the_producer(pytester, golden):
    golden("actual: {a: 1}\nproducer: nowhere:nothing\nexpected: {a: 1}\n")
    pytester.runpytest().assert_outcomes(passed=1)


MISSING = "ModuleNotFoundError: No module named"
ADD_IT = "add the folder that holds it to pytest's ini option `pythonpath`, or install it"


@pytest.mark.parametrize(
    ("producer", "message"),
    [
        ("nowhere:answer", f"{MISSING} 'nowhere'; {ADD_IT}"),
        ("nowhere.at.all:answer", f"{MISSING} 'nowhere'; {ADD_IT}"),
        ("good.sub:answer", f"{MISSING} 'good.sub'; 'good' is not a package; {ADD_IT}"),
        ("broken:answer", f"{MISSING} 'not_installed'"),
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
    outcome.stdout.fnmatch_lines(f"""\
        >   producer: {producer}
        E   x.golden.yaml:2:1: the producer '{producer}' can't be imported: {message}
        x.golden.yaml:2: error""")


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            CASE % "good:anser",
            "2:1: the producer 'good:anser': 'good' has no 'anser'; did you mean 'answer'?",
        ),
        (CASE % "good:VALUE", "2:1: the producer 'good:VALUE' is int, not a function"),
        ("producer: good:answer\nexpected: 1\n", "1:1: the producer 'good:answer' needs an `input` *"),
    ],
)
def test_a_producer_that_is_none_or_has_no_input(pytester, write, case, message):
    write("good.py", "VALUE = 1\n\ndef answer(document): return 1\n")
    write("x.golden.yaml", case)
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(f"E   x.golden.yaml:{message}")


def test_what_a_producer_raises_is_shown_where_it_was_raised(pytester, write):
    write("good.py", "def answer(document):\n    return document['nothing']\n")
    write("x.golden.yaml", CASE % "good:answer")
    pytester.syspathinsert()
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([">*return document[[]'nothing']", "good.py:2: KeyError"])
    assert "producers.py" not in outcome.stdout.str()


@pytest.mark.parametrize("key", ["{top}", "{case}"])
def test_an_answer_without_json_fails_at_the_line_of_its_case(pytester, write, golden, monkeypatch, key):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    where = {"top": "producer: good:answer\n", "case": "  producer: good:answer\n"}
    top, own = (where[name] if name in key else "" for name in where)
    write("good.py", "def answer(document):\n    return 'no JSON'\n")
    golden(f"{top or 'metric: leaf_f1'}\ncases:\n- id: a\n  input: 1\n{own}  expected: {{n: 1}}\n")
    pytester.syspathinsert()
    run = pytester.runpytest()
    run.assert_outcomes(failed=1)
    line = 4 if top else 3
    run.stdout.fnmatch_lines(f"""\
        >   - id: a
        E   AssertionError: a.golden.yaml:{line}:3: no JSON found in the actual text*""")
    run.stdout.fnmatch_lines([f"::error file=a.golden.yaml,line={line}*"])


@pytest.mark.parametrize(
    ("producer", "conftest", "reported"),
    [
        ("producer: conftest:answer", "", "the producer 'conftest:answer' returned None"),
        (
            "",
            "import pytest\n@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case): pass\n",
            "the fixture jsonmatch_actual returned None",
        ),
    ],
)
def test_an_answer_of_none(pytester, write, producer, conftest, reported):
    pytester.makeconftest(f"def answer(document): pass\n{conftest}")
    cases = "cases:\n- {id: a, input: 1, expected: {n: 1}}\n- {id: b, input: 1, expected: null}\n"
    write("x.golden.yaml", f"{producer}\n{cases}")
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.5")
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines([">   - {id: a*", f"E   AssertionError: {reported}", "score >= 0.5  passed *"])


@pytest.mark.parametrize(
    ("arguments", "body", "is_error"),
    [
        ("jsonmatch_case", "return {'text': 'hi'}", True),
        ("jsonmatch_case, jsonmatch_actual", "return jsonmatch_actual", False),
        ("request", "return request.getfixturevalue('jsonmatch_actual')", False),
        ("request", "return {'text': 'hi'}", True),
    ],
)
def test_a_fixture_never_replaces_a_producer_silently(pytester, write, arguments, body, is_error):
    pytester.makeconftest(
        "import pytest\ndef answer(document): return document\n"
        f"@pytest.fixture\ndef jsonmatch_actual({arguments}):\n    {body}\n"
    )
    cases = "- {id: asked, input: {text: hi}}\n- {id: recorded, actual: {text: hi}}\n"
    cases = cases.replace("}\n", ", producer: 'conftest:answer', expected: {text: hi}}\n")
    write("x.golden.yaml", f"cases:\n{cases}")
    run = pytester.runpytest()
    run.assert_outcomes(passed=1 if is_error else 2, errors=int(is_error))
    if is_error:
        reported = "the producer 'conftest:answer' would never be called: the fixture jsonmatch_actual at conftest.py:3"
        run.stdout.fnmatch_lines(f"E   x.golden.yaml:2:*: {reported} answers instead; remove one *")


def test_what_can_be_known_is_checked_before_the_first_producer_is_called(pytester, write, golden):
    pytester.makeini("[pytest]\npythonpath = .\n")
    write("app.py", "def answer(document):\n    print('asked', document)\n    return document\n")
    write("bad.json", "{")
    broken = {
        "no-file": "expected_file: no.json",
        "no-json": "expected_file: bad.json",
        "no-input": "{expected: 1, input_file: no.txt}",
        "outside": "expected_file: ../out.json",
        "metric": "{expected: 1, metric: leaf_f}",
        "schema": "{expected: 1, schema: no.json}",
        "reference": "{expected: 1, schema: {$ref: 'file:///out.json'}}",
        "producer": "{expected: 1, producer: 'app:anser'}",
    }
    lines = [f"- {{id: {name}, {keys.strip('{}')}}}" for name, keys in broken.items()]
    lines[6] = "- {id: reference, expected: 1, schema: {$ref: 'file:///out.json'}}"
    golden("producer: app:answer\ninput: 1\ncases:\n- {id: good, expected: 1}\n" + "\n".join(lines))
    run = pytester.runpytest("-rA", "-s")
    run.assert_outcomes(passed=1, errors=len(broken))
    assert [line for line in run.outlines if line.endswith("asked 1")] == ["a.golden.yaml EEEEEEEEasked 1"]
    run.stdout.fnmatch_lines("""\
        *expected_file 'no.json' can't be read: no such file or directory*
        *expected_file is not JSON: *
        *input_file 'no.txt' can't be read*
        *`expected_file` '../out.json' lies outside of *, pytest's rootdir*
        *unknown metric 'leaf_f'*
        *schema file *no.json' does not exist*
        *$ref 'file:///out.json' does not resolve: /out.json is outside of **
        *'app' has no 'anser'*""")
    assert "asked" not in pytester.runpytest("-s", "-x").stdout.str()
    assert "asked" not in pytester.runpytest("-s", "--collect-only").stdout.str()
    pytester.runpytest("--jsonmatch-update=new", "-k", "no-file").assert_outcomes(passed=1)


def test_without_any_answer(pytester, write):
    write("x.golden.yaml", "title: isn't answered\nexpected: 1\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines("""\
        >   title: isn't answered
        E   x.golden.yaml:1:1: the case 'x' has nothing to compare: give it `actual`, *""")


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


FAILING = """import pytest

def call(text):
    raise TimeoutError("no answer within 30 s")

def sync(text):
    return call(text)

async def later(text):
    return call(text)
"""
FRAMES = {"sync": 7, "later": 10, "jsonmatch_actual": 14, "pytest_jsonmatch_actual": 13}
FIXTURE = """
@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return call(jsonmatch_case.input)
"""
HOOK = """
def pytest_jsonmatch_actual(case):
    return call(case.input)
"""


@pytest.mark.parametrize(
    ("code", "producer", "caller", "more"),
    [
        ("", "producer: conftest:sync", "sync", []),
        ("", "producer: conftest:later", "later", []),
        ("", "producer: conftest:later", "later", ["--jsonmatch-concurrency=2"]),
        (FIXTURE, "", "jsonmatch_actual", []),
        (HOOK, "", "pytest_jsonmatch_actual", []),
    ],
    ids=["producer", "async", "concurrent", "fixture", "hook"],
)
def test_the_traceback_of_an_error_has_the_line_of_the_case_and_the_user_s_frames(
    pytester, golden, code, producer, caller, more
):
    pytester.makeconftest(FAILING + code)
    golden(f"{producer}\ncases:\n- {{id: a, input: hi, expected: 1}}\n")
    run = pytester.runpytest("--tb=short", *more)
    run.assert_outcomes(errors=1)
    text = run.stdout.str().partition("ERROR at setup of a")[2].partition("= jsonmatch =")[0]
    assert re.findall(r"^(?:E  .*|.*: in .*)$", text, re.MULTILINE) == [
        "a.golden.yaml:3: in a",
        f"conftest.py:{FRAMES[caller]}: in {caller}",
        "conftest.py:4: in call",
        "E   TimeoutError: no answer within 30 s",
    ]


def test_the_traceback_of_another_fixture_has_no_frame_of_the_plugin(pytester, golden):
    code = "import pytest\n\n@pytest.fixture\ndef jsonmatch_actual(client):\n    return client\n\n"
    pytester.makeconftest(code + "@pytest.fixture\ndef client():\n    raise OSError('no route')\n")
    golden("input: hi\nexpected: 1\n")
    run = pytester.runpytest()
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["E       OSError: no route", "*conftest.py:9: OSError"])
    run.stdout.no_fnmatch_line("*ProducerErrors*")
    run.stdout.no_fnmatch_line("*running_test.py*")


LATE = """
import asyncio
import json
import signal
from functools import reduce

import pytest

async def waits(n):
    await asyncio.wait_for(asyncio.sleep(3600), 0)

def parses(n):
    return json.loads("{")

def calls_back(n):
    return json.dumps({1, 2}, default=refuses)

def refuses(value):
    raise LookupError("refused") from ValueError("inner")

def is_failed(n):  # as by pytest-timeout, whose handler of a signal fails the test
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("Timeout (>1.0s)"))
    signal.raise_signal(signal.SIGALRM)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGALRM")
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("waits", "*TimeoutError*"),
        ("parses", "json.decoder.JSONDecodeError: Expecting *"),
        ("calls_back", "LookupError: refused"),
        ("is_failed", "Failed: Timeout *"),
    ],
)
@pytest.mark.parametrize("concurrency", ["1", "3"])
def test_only_the_users_own_frames_are_shown(pytester, golden, name, error, concurrency):
    pytester.makepyfile(late=LATE)
    pytester.makeini("[pytest]\npythonpath = .\n")
    golden(f"producer: late:{name}\ninput: 1\nexpected: {{ n: 1 }}\n")
    if (name, concurrency) == ("is_failed", "3"):
        pytest.skip("signals are handled in the main thread")
    outcome = pytester.runpytest("--jsonmatch-summary=none", f"--jsonmatch-concurrency={concurrency}")
    outcome.assert_outcomes(errors=1)
    lines = outcome.outlines
    assert [line for line in lines if "lib/python" in line or "pytest_jsonmatch" in line] == []
    assert len(lines) < 50
    outcome.stdout.fnmatch_lines([">   producer: late:*", "late.py:*", f"ERROR a.golden.yaml::a - {error}"])
    assert "lib/python" in pytester.runpytest("--full-trace").stdout.str()


def test_the_short_summary_does_not_repeat_the_file(pytester, golden):
    golden(
        "cases:\n- {id: a, actual: 1, expected: 1, metric: nonsense}\n- {id: b, actual_file: no.txt, expected: 1}\n"
    )
    outcome = pytester.runpytest()
    outcome.stdout.fnmatch_lines(
        [
            "E*a.golden.yaml:3:11: actual_file 'no.txt' can't be read: *",
            "ERROR a.golden.yaml::a - 2:35: unknown metric 'nonsense'*",
            "ERROR a.golden.yaml::b - 3:11: actual_file 'no.txt' can't be *",
        ]
    )
