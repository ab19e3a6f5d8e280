"""What is read, and when: counted by Python itself, which reports every file that is opened."""

from __future__ import annotations

import collections

import pytest

CONFTEST = """
import os
import sys

def opened(event, arguments):
    if event == "open" and str(arguments[0]).endswith((".yaml", "expected.json", "answer.txt", "schema.json")):
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{os.getpid()} {now} {os.path.basename(arguments[0])}\\n".encode())
        os.close(descriptor)

log = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opened.log")
now = "collection"
sys.addaudithook(opened)

def pytest_runtest_logstart(nodeid):
    global now
    now = nodeid.rpartition(":")[2]
"""
CASES = """\
cases:
  - id: first
    actual: {a: 1}
    expected_file: expected.json
  - id: second
    actual_file: answer.txt
    expected: {a: 1}
  - id: third
    actual: {a: 1}
    expected: {a: 1}
    schema: schema.json
"""


@pytest.fixture
def opened(pytester, write, golden):
    """Run pytest in a process of its own; return (when, file) for each opening, by process."""
    write("conftest.py", CONFTEST)
    golden(CASES)
    write("b.golden.yaml", CASES)
    write("expected.json", '{"a": 1}')
    write("answer.txt", '{"a": 1}')
    write("schema.json", '{"type": "object", "properties": {"a": {"type": "number"}}}')

    def run(*arguments, **outcomes):
        outcome = pytester.runpytest_subprocess(*arguments)
        outcome.assert_outcomes(**outcomes)
        by_process = collections.defaultdict(list)
        for line in (pytester.path / "opened.log").read_text(encoding="utf-8").splitlines():
            process, when, name = line.split(" ", 2)
            by_process[process].append((when, name))
        return list(by_process.values())

    return run


GOLDEN = [("collection", "a.golden.yaml"), ("collection", "b.golden.yaml")]


def test_collecting_reads_each_golden_file_once_and_nothing_else(opened):
    assert opened("--collect-only") == [GOLDEN]


def test_recorded_answers_and_their_expected_values_are_read_when_the_case_runs(opened):
    (process,) = opened("a.golden.yaml", passed=3)
    assert process == [
        ("collection", "a.golden.yaml"),
        # Once for what may be wrong with it before the run, once for whether it is still the same.
        ("collection", "schema.json"),
        ("first", "expected.json"),
        ("second", "answer.txt"),
        ("third", "schema.json"),
    ]


def test_what_a_case_names_is_not_read_if_it_does_not_run(opened):
    (process,) = opened("-k", "second", passed=2, deselected=4)
    assert process == [*GOLDEN, ("second", "answer.txt"), ("second", "answer.txt")]


def test_each_worker_reads_each_golden_file_once(opened):
    processes = opened("-p", "xdist", "-n", "2", passed=6)
    collected = [[entry for entry in process if entry[0] == "collection"] for process in processes]
    schemas = [("collection", "schema.json")] * 2  # of two files
    assert collected == [[*GOLDEN, *schemas]] * 2  # the controller collects nothing
    read = sorted(entry for process in processes for entry in process if entry[0] != "collection")
    assert [entry for entry in read if entry[0] != "third"] == [
        ("first", "expected.json"),
        ("first", "expected.json"),
        ("second", "answer.txt"),
        ("second", "answer.txt"),
    ]
