"""`--jsonmatch-concurrency`: producers that are called side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest

from tests.conftest import XDIST

# Calls that need each other end only if they run at once. A wait that fails is that call's error.
APP = """
import asyncio
import threading

COUNT = {count}
everyone = threading.Barrier(COUNT, timeout=60)
here = []


def note(n):
    with open("calls.txt", "a") as file:
        file.write(f"{{n}}\\n")


def answer(n):
    if n == 3:
        raise ValueError("no receipt 3")
    return {{"n": n}}


def alone(n):
    note(n)
    return answer(n)


def plain(n):
    everyone.wait()
    note(n)
    everyone.wait()
    return answer(n)


async def later(n):
    here.append(n)
    while len(here) < COUNT:
        await asyncio.sleep(0)
    note(n)
    return answer(n)


def returns_awaitable(n):
    return later(n)
"""


@pytest.fixture
def cases(pytester: pytest.Pytester) -> Callable[..., None]:
    """Write a golden file with cases that answer by a producer, each with a number for its input."""

    def write(producer: str, *next_to: str, file: str = "a", count: int = 3) -> None:
        pytester.makepyfile(app=APP.format(count=count))
        pytester.makeini("[pytest]\npythonpath = .\n")
        lines = [f"producer: app:{producer}", "cases:"]
        for n, more in enumerate(next_to, 1):
            lines += [f"- {{id: c{n}, input: {n}, expected: {{n: {n}}}{more and ', '}{more}}}"]
        pytester.path.joinpath(f"{file}.golden.yaml").write_text("\n".join(lines), "utf-8")

    return write


@pytest.fixture
def calls(pytester: pytest.Pytester) -> Callable[[], dict[int, int]]:
    """Return how often the producer was called with each number."""
    path = pytester.path / "calls.txt"
    return lambda: Counter(map(int, path.read_text("utf-8").split())) if path.exists() else {}


@pytest.mark.parametrize("producer", ["plain", "later", "returns_awaitable"])
@pytest.mark.parametrize("how", [("--jsonmatch-concurrency=3",), ("-o", "jsonmatch_concurrency=3", "-s")])
def test_each_case_gets_its_own_answer_and_error(pytester, cases, calls, producer, how):
    cases(producer, *[""] * 3)
    outcome = pytester.runpytest(*how)
    outcome.assert_outcomes(passed=2, errors=1)
    outcome.stdout.fnmatch_lines(
        ["app.py:*: ValueError", "ERROR a.golden.yaml::c3 - ValueError: no receipt 3"]
    )
    outcome.stdout.no_fnmatch_line("*concurrency.py*")
    outcome.stdout.no_fnmatch_line("*futures*")
    assert calls() == {1: 1, 2: 1, 3: 1}


def test_only_cases_that_will_run_are_asked_and_each_once(pytester, cases, calls):
    marks = ("", "", "{skip: not now}", "", "{xfail: {run: false}}", "", "", "{xfail: {strict: true}}")
    cases("alone", *(f"marks: [{mark}]" if mark else "" for mark in marks))
    pytester.makeconftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            items[3].add_marker(pytest.mark.skipif("True", reason="not here"))
        """
    )
    outcome = pytester.runpytest("--jsonmatch-concurrency=9", "--deselect=a.golden.yaml::c6", "-rA")
    outcome.assert_outcomes(passed=3, skipped=2, xfailed=1, failed=1, deselected=1)  # c8 passes unexpectedly
    assert calls() == {1: 1, 2: 1, 7: 1, 8: 1}


def test_a_replay_asks_nobody(pytester, cases, calls):
    cases("alone", "", "")
    pytester.runpytest("--jsonmatch-concurrency=2", "--jsonmatch-record=o.jsonl").assert_outcomes(passed=2)
    pytester.runpytest("--jsonmatch-concurrency=2", "--jsonmatch-replay=o.jsonl").assert_outcomes(passed=2)
    assert calls() == {1: 1, 2: 1}


WAITING = """
    import asyncio
    import threading

    begun, never = threading.Barrier(4, timeout=60), threading.Event()

    def plain_or_async(n):
        if n == 3:
            return cancelled()
        if n == 5:
            raise AssertionError("nobody asks for the last case")
        begun.wait()
        if n > 1:
            never.wait()
        return {}

    async def cancelled():
        try:
            await asyncio.to_thread(begun.wait)
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            open("cancelled.txt", "w").close()
            raise
    """


@pytest.mark.parametrize(
    "options",
    [
        ("-x",),
        ("-p", "exits"),
    ],
)
def test_a_run_that_ends_early_cancels_calls(pytester, cases, options):
    cases("plain_or_async", *[""] * 5)
    pytester.makepyfile(
        app=WAITING, exits="def pytest_runtest_logfinish(): import pytest; pytest.exit('enough')"
    )
    pytester.syspathinsert()
    outcome = pytester.runpytest("--jsonmatch-concurrency=4", *options)
    outcome.assert_outcomes(failed=1)
    assert (pytester.path / "cancelled.txt").exists()


def test_an_interrupt_ends_the_wait(pytester, cases):
    cases("interrupting", "", "", "")
    pytester.makepyfile(
        app="""
        import os
        import signal
        import threading

        begun, never = threading.Barrier(3, timeout=60), threading.Event()

        def interrupting(n):
            begun.wait()
            if n == 3:
                os.kill(os.getpid(), signal.SIGINT)
            never.wait()
        """
    )
    outcome = pytester.runpytest_subprocess("--jsonmatch-concurrency=3")
    assert outcome.ret == pytest.ExitCode.INTERRUPTED
    outcome.stdout.fnmatch_lines(["*KeyboardInterrupt*"])


WHERE = """
import threading

def where(n):
    with open("where.txt", "a") as file:
        print(threading.current_thread() is threading.main_thread(), file=file)
    return {"n": n}
"""


@pytest.mark.parametrize(
    ("conftest", "mark", "line"),
    [
        ("@pytest.fixture(autouse=True)\ndef clean(): pass", "", "3 cases answered one by one: *(clean)"),
        (
            "@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case):\n    yield {'n': jsonmatch_case.input}",
            "producer: ",
            "3 cases answered one by one: *(jsonmatch_actual)",
        ),
        (
            "@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case, request): return {'n': jsonmatch_case.input}",
            "producer: ",
            "3 cases answered one by one: *(jsonmatch_actual)",
        ),
        (
            (
                "@pytest.fixture(params=[1])\ndef model(request):\n    yield 1\n"
                "@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case, model): return {'n': jsonmatch_case.input}"
            ),
            "producer: ",
            "3 cases answered one by one: *(jsonmatch_actual, model)",
        ),
        ("", "marks: [{usefixtures: tmp_path}]", "1 case answered one by one: *(tmp_path)"),
        # It only changes the answer.
        ("@pytest.fixture\ndef jsonmatch_actual(jsonmatch_actual): return jsonmatch_actual", "", None),
    ],
)
def test_cases_with_fixtures_of_their_own_run_one_by_one(pytester, cases, conftest, mark, line):
    cases("where", "", mark, "")
    if mark == "producer: ":
        path = pytester.path / "a.golden.yaml"
        path.write_text(path.read_text("utf-8").partition("\n")[2].replace(", producer: ", ""), "utf-8")
    pytester.makepyfile(app=WHERE)
    pytester.makeconftest(f"import pytest\n\n{conftest}\n")
    outcome = pytester.runpytest("--jsonmatch-concurrency=3", "-rP")
    outcome.assert_outcomes(passed=3)
    if line is None:
        outcome.stdout.no_fnmatch_line("*one by one*")
    else:
        outcome.stdout.fnmatch_lines([f"jsonmatch_concurrency: {line}"])
    path = pytester.path / "where.txt"
    alone = path.read_text("utf-8").count("True") if path.exists() else 0
    assert alone == (int(line[0]) if line and not mark.startswith("prod") else 0)


TWO_PROMPTS = """
import threading
import pytest

everyone = threading.Barrier(3, timeout=60)

@pytest.fixture(params=["v1", "v2"])
def prompt(request):
    return {"v1": 0, "v2": 10}[request.param]

@pytest.fixture(scope="session")
def client():
    return "client"

def ask(n, added):
    everyone.wait()
    with open("calls.txt", "a") as file:
        file.write(f"{n + added}\\n")
    if n + added == 13:
        raise ValueError("no receipt 13")
    return {"n": n + added}
"""
OWN = """
@pytest.fixture
def jsonmatch_actual(jsonmatch_case, prompt, client):
    return ask(jsonmatch_case.input, prompt)
"""
BY_VARIABLE = """
from contextvars import ContextVar
import app
app.asked = lambda n: ask(n, chosen.get())
chosen = ContextVar("chosen")

@pytest.fixture(params=[0, 10], autouse=True)
def prompt(request):
    chosen.set(request.param)
"""


@pytest.mark.parametrize(
    ("way", "more"), [(OWN, ()), (BY_VARIABLE, ()), (BY_VARIABLE, (*XDIST, "--dist=loadfile"))]
)
def test_two_prompts_are_asked_concurrently(pytester, cases, calls, way, more):
    cases("asked", "", "", "")
    path = pytester.path / "a.golden.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.partition("\n")[2] if way == OWN else text, "utf-8")
    pytester.makeconftest(TWO_PROMPTS + way)
    outcome = pytester.runpytest("--jsonmatch-concurrency=3", "--jsonmatch-record=out.jsonl", *more)
    outcome.assert_outcomes(passed=3, failed=2, errors=1)
    outcome.stdout.no_fnmatch_line("*one by one*")
    outcome.stdout.fnmatch_lines(["ERROR a.golden.yaml::c3[[]*[]] - *no receipt 13*"])
    assert calls() == {1: 1, 2: 1, 3: 1, 11: 1, 12: 1, 13: 1}
    kept = [json.loads(line) for line in (pytester.path / "out.jsonl").read_text().splitlines()]
    assert sorted(entry["actual"]["n"] for entry in kept) == [1, 2, 3, 11, 12]


def test_a_run_with_two_prompts_that_breaks_off_has_paid_for_nothing_twice(pytester, cases, calls):
    cases("asked", "", "", "")
    path = pytester.path / "a.golden.yaml"
    path.write_text(path.read_text("utf-8").partition("\n")[2], "utf-8")
    pytester.makeconftest(TWO_PROMPTS + OWN)
    pytester.makepyfile(stop="def pytest_runtest_logfinish(): import pytest; pytest.exit('enough')")
    pytester.syspathinsert()
    options = ("--jsonmatch-replay=out.jsonl,missing", "--jsonmatch-concurrency=3")
    pytester.runpytest(*options, "-p", "stop")
    assert calls() == {1: 1, 2: 1, 3: 1}
    pytester.runpytest(*options).assert_outcomes(passed=3, failed=2, errors=1)
    assert calls() == {1: 1, 2: 1, 3: 1, 11: 1, 12: 1, 13: 1}


def test_wider_fixtures_are_set_up_before_calls_that_need_them(pytester, cases):
    cases("asks", "", "", "marks: [{usefixtures: server}]", "marks: [{usefixtures: server}]")
    pytester.makepyfile(
        app="""
        import threading
        from contextvars import ContextVar

        model, server, both = ContextVar("model"), None, threading.Barrier(2, timeout=60)

        def asks(n):
            both.wait()
            with open("seen.txt", "a") as file:
                print(n, model.get(), server, file=file)
            return {"n": n}
        """
    )
    pytester.makeconftest(
        """
        import app
        import pytest

        @pytest.fixture(params=["small", "large"], scope="session", autouse=True)
        def model(request):
            token = app.model.set(request.param)
            yield
            app.model.reset(token)

        @pytest.fixture(scope="module")
        def server():
            app.server = "up"
            yield
            app.server = None
        """
    )
    outcome = pytester.runpytest("--jsonmatch-concurrency=3", "-rP")
    outcome.assert_outcomes(passed=8)
    seen = sorted((pytester.path / "seen.txt").read_text("utf-8").splitlines())
    small = ["1 small None", "2 small None", "3 small up", "4 small up"]  # then the server is up
    assert seen == sorted([*small, *(f"{n} large up" for n in range(1, 5))])


@pytest.mark.parametrize("schedule", ["loadfile", "load"])
def test_in_workers(pytester, cases, calls, schedule):
    producer = "alone" if schedule == "load" else "plain"
    for file in "ab":
        cases(producer, "", "", "", file=file, count=3)
    outcome = pytester.runpytest("--jsonmatch-concurrency=3", *XDIST, f"--dist={schedule}")
    outcome.assert_outcomes(passed=4, errors=2)
    note = "jsonmatch_concurrency: producers are called one by one: with --dist=load a worker does not *"
    if schedule == "load":
        outcome.stdout.fnmatch_lines([note])
    else:
        outcome.stdout.no_fnmatch_line("jsonmatch_concurrency*")
    assert calls() == {1: 2, 2: 2, 3: 2}


def test_workers_that_call_nobody_print_no_notice(pytester, cases, calls):
    cases("alone", "", "")
    pytester.runpytest("--jsonmatch-record=o.jsonl").assert_outcomes(passed=2)
    outcome = pytester.runpytest("--jsonmatch-concurrency=2", "--jsonmatch-replay=o.jsonl", *XDIST)
    outcome.assert_outcomes(passed=2)
    outcome.stdout.no_fnmatch_line("jsonmatch_concurrency*")
    assert calls() == {1: 1, 2: 1}


def test_reruns_and_repeats_are_calls_of_their_own(pytester, cases, calls):
    cases("later", "repeat: 2", "", "", count=4)
    outcome = pytester.runpytest("--jsonmatch-concurrency=4", "-p", "rerunfailures", "--reruns=1")
    outcome.assert_outcomes(passed=3, errors=1)
    assert calls() == {1: 2, 2: 1, 3: 2}


HOSTILE = """
import asyncio
import sys
import threading

import pytest

everyone = threading.Barrier(3, timeout=60)

async def hostile(n):
    await asyncio.to_thread(everyone.wait)
    if n == 2:
        HARM
    return {"n": n}
"""


@pytest.mark.parametrize(
    ("harm", "error"),
    [
        ("sys.exit('no more')", "SystemExit: no more (a producer must raise an Exception)"),
        ("raise asyncio.CancelledError", "CancelledError (a producer must raise an Exception)"),
        ("raise GeneratorExit", "GeneratorExit (a producer must raise an Exception)"),
        ("asyncio.current_task().cancel(); await asyncio.sleep(60)", "CancelledError (*"),
        ("asyncio.get_running_loop().close()", "Cannot close a running event loop"),
    ],
)
@pytest.mark.parametrize("together", [3, 1])
def test_only_the_case_fails_whose_producer_ends_in_an_odd_way(pytester, cases, harm, error, together):
    cases("hostile", "", "", "")
    wait = "" if together == 3 else "everyone = threading.Barrier(1)\n"
    pytester.makepyfile(app=HOSTILE.replace("HARM", harm).replace("async def", f"{wait}\nasync def"))
    outcome = pytester.runpytest(f"--jsonmatch-concurrency={together}", "--jsonmatch-json=r.jsonl")
    outcome.assert_outcomes(passed=2, errors=1)
    outcome.stdout.fnmatch_lines([f"E  *RuntimeError: {error}"])
    assert (pytester.path / "r.jsonl").exists()


def test_a_producer_that_stops_the_shared_event_loop(pytester, cases):
    cases("hostile", "", "", "")
    pytester.makepyfile(app=HOSTILE.replace("HARM", "asyncio.get_running_loop().stop()"))
    pytester.runpytest("--jsonmatch-concurrency=3").assert_outcomes(passed=3)


def test_a_producer_may_skip_its_case(pytester, cases):
    cases("hostile", "", "", "")
    pytester.makepyfile(app=HOSTILE.replace("HARM", "pytest.skip('not today')"))
    pytester.runpytest("--jsonmatch-concurrency=3").assert_outcomes(passed=2, skipped=1)


@pytest.mark.parametrize("value", ["0", "two", "10001"])
def test_a_number_is_needed(pytester, value):
    outcome = pytester.runpytest(f"--jsonmatch-concurrency={value}")
    outcome.stderr.fnmatch_lines(
        [f"*--jsonmatch-concurrency: must be a whole number from 1 to 10,000, got '{value}'"]
    )
    outcome = pytester.runpytest("-o", f"jsonmatch_concurrency={value}")
    outcome.stderr.fnmatch_lines(
        [f"*jsonmatch_concurrency must be a whole number from 1 to 10,000; got '{value}'"]
    )
