"""Golden cases beside pytest's own options and other plugins: each works as with tests written in Python."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree as ET

import pytest

CASES = """\
cases:
  - id: one
    actual: {n: 1}
    expected: {n: 1}
  - id: two
    actual: {n: 2}
    expected: {n: 0}
  - id: three
    actual: {n: 3}
    expected: {n: 3}
"""
ASKING = """\
cases:
  - {id: one, input: 1, expected: {n: 1}}
  - {id: two, input: 2, expected: {n: 2}}
  - {id: three, input: 3, expected: {n: 3}}
"""


def ran(outcome):
    """The tests that ran and how they ended, in this order; from a run with `-v`."""
    one_process, worker = r"(\S+::\S+) ([A-Z]+)", r"\[gw\d\].* ([A-Z]+) (\S+::\S+)"
    found = (re.match(f"{one_process}|{worker}", line) for line in outcome.outlines)
    return [(match[1] or match[4], match[2] or match[3]) for match in found if match]


# -- pytest's own options ----------------------------------------------------------------------------------


def test_stepwise_goes_on_where_it_stopped(pytester, golden):
    golden(CASES)
    first = pytester.runpytest("--stepwise", "-v")
    assert ran(first) == [("a.golden.yaml::one", "PASSED"), ("a.golden.yaml::two", "FAILED")]
    golden(CASES.replace("{n: 0}", "{n: 2}"))
    second = pytester.runpytest("--stepwise", "-v")
    assert ran(second) == [("a.golden.yaml::two", "PASSED"), ("a.golden.yaml::three", "PASSED")]


def test_custom_marks_bring_their_arguments(pytester, golden):
    pytester.makeini("[pytest]\nmarkers =\n    owner: whom to ask\n")
    pytester.makeconftest("""
        import pytest

        @pytest.fixture
        def jsonmatch_actual(request):
            return [[list(mark.args), mark.kwargs] for mark in request.node.iter_markers("owner")]
        """)
    golden(
        "marks: [{owner: team}]\ncases:\n"
        "- id: both\n  marks: [{owner: [ann, 2]}, {owner: {room: 7}}]\n"
        "  expected: [[[ann, 2], {}], [[], {room: 7}], [[team], {}]]\n"
        "  metric: json_similarity\n"
    )
    pytester.runpytest("--strict-markers").assert_outcomes(passed=1)


def test_the_plan_of_setting_up_runs_nothing(pytester, golden):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="module")
        def server():
            raise RuntimeError("set up")

        @pytest.fixture
        def jsonmatch_actual(server, jsonmatch_case):
            raise RuntimeError("asked")
        """)
    golden(ASKING)
    outcome = pytester.runpytest("--setup-plan")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines("""\
        *SETUP    M server
        *SETUP    F jsonmatch_case
        *SETUP    F jsonmatch_actual (fixtures used: jsonmatch_case, server)
        *a.golden.yaml::one (fixtures used: *jsonmatch_actual, jsonmatch_case, *server)
        *a.golden.yaml::three (fixtures used: *jsonmatch_actual, jsonmatch_case, *server)
        *TEARDOWN M server""")


def test_junit_has_each_case_with_its_failure_and_its_line(pytester, write):
    write("golden/a.golden.yaml", CASES)
    pytester.runpytest("--junitxml=out.xml", "-o", "junit_family=xunit1")
    cases = sorted(ET.parse("out.xml").iter("testcase"), key=lambda case: int(case.get("line", 0)))
    assert [(case.get("name"), case.get("line")) for case in cases] == [
        ("one", "1"),
        ("two", "4"),
        ("three", "7"),
    ]
    assert {(case.get("classname"), case.get("file")) for case in cases} == {
        ("golden.a.golden.yaml", "golden/a.golden.yaml")
    }
    (failure,) = cases[1].iter("failure")
    assert failure.get("message", "").startswith("AssertionError: n 0 → 2 (leaf_f1 0.00 < 1.00)")
    assert ">     expected: {n: 0}" in (failure.text or "")


def test_the_debugger_stops_at_the_line_of_the_yaml(pytester, golden):
    golden(CASES)
    outcome = pytester.run(
        sys.executable, "-m", "pytest", "--pdb", "a.golden.yaml", stdin=b"list 5, 7\nquit\n"
    )
    outcome.stdout.fnmatch_lines("""\
        *a.golden.yaml(7)two()
        -> expected: {n: 0}
        *  5 *- id: two
        *  6 *actual: {n: 2}
        *  7  ->*expected: {n: 0}
        *Exit: Quitting debugger*
        *1 failed, 1 passed*""")


def test_a_node_id_that_no_case_has_is_a_usage_error(pytester, golden):
    golden(CASES)
    outcome = pytester.runpytest("a.golden.yaml::four")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: not found: *a.golden.yaml::four"])


# -- other plugins -----------------------------------------------------------------------------------------


WORKER = """
import pytest

@pytest.fixture
def jsonmatch_actual(jsonmatch_case, worker_id):
    with open(f"{worker_id}.txt", "a") as file:
        print(jsonmatch_case.path.name, file=file)
    return {"n": jsonmatch_case.input}
"""


def shares(pytester):
    """What each worker has written down, without what it has written before."""
    return sorted(
        sorted(set(path.read_text(encoding="utf-8").splitlines())) for path in pytester.path.glob("gw*.txt")
    )


def test_workers_share_the_cases_by_file(pytester, write, golden):
    write("conftest.py", WORKER)
    golden(ASKING)
    write("b.golden.yaml", ASKING)
    outcome = pytester.runpytest("-p", "xdist", "-n", "2", "--dist", "loadfile")
    outcome.assert_outcomes(passed=6)
    outcome.stdout.fnmatch_lines(["jsonmatch: leaf_f1, 6 cases, 6 fields, all 1.00"])
    assert shares(pytester) == [["a.golden.yaml"], ["b.golden.yaml"]]


def test_a_case_that_fails_at_first_is_run_again(pytester, golden):
    pytest.importorskip("pytest_rerunfailures")
    pytester.makeconftest("""
        import pathlib

        def pytest_jsonmatch_actual(case):
            seen = pathlib.Path(f"{case.id}.seen")
            again = seen.exists()
            seen.touch()
            return {"n": case.input if again or case.id == "one" else 0}
        """)
    golden(ASKING)
    outcome = pytester.runpytest_subprocess("-p", "rerunfailures", "--reruns", "1")
    assert outcome.parseoutcomes() == {"passed": 3, "rerun": 2}
    outcome.stdout.fnmatch_lines(["jsonmatch: leaf_f1, 3 cases, 3 fields, all 1.00"])


def test_another_order_is_the_same_run(pytester, golden):
    pytest.importorskip("pytest_randomly")
    rows = [f"- {{id: c{n}, actual: {{n: {n}}}, expected: {{n: {n}}}}}\n" for n in range(20)]
    golden("cases:\n" + "".join(rows))
    outcome = pytester.runpytest_subprocess("-p", "randomly", "--randomly-seed=1", "-v")
    written = [(f"a.golden.yaml::c{n}", "PASSED") for n in range(20)]
    assert ran(outcome) != written
    assert sorted(ran(outcome)) == sorted(written)
    outcome.stdout.fnmatch_lines(["fields of 20 cases by leaf_f1", "all fields *20 *20 *1.00"])


def test_coverage_of_a_producer_and_of_no_yaml(pytester, write, golden):
    pytest.importorskip("pytest_cov")
    write(
        "extract.py",
        "def double(number):\n    if number > 2:\n        return {'n': 0}\n    return {'n': number}\n",
    )
    pytester.makeini("[pytest]\npythonpath = .\n")
    golden(ASKING.replace("cases:", "producer: extract:double\ncases:").replace("{n: 3}", "{n: 0}"))
    outcome = pytester.runpytest_subprocess(
        "-p", "pytest_cov", "--cov=extract", "--cov=.", "--cov-report=term-missing"
    )
    outcome.assert_outcomes(passed=3)
    outcome.stdout.re_match_lines([r"extract\.py +4 +0 +100%.*"])
    lines = outcome.outlines + outcome.errlines
    assert not [line for line in lines if ".yaml" in line and "%" in line and "[" not in line]


@pytest.mark.parametrize(
    ("mode", "decorator"), [("auto", "pytest.fixture"), ("strict", "pytest_asyncio.fixture")]
)
def test_an_answer_from_an_async_fixture(pytester, golden, mode, decorator):
    pytest.importorskip("pytest_asyncio")
    pytester.makeini(f"[pytest]\nasyncio_mode = {mode}\n")
    pytester.makeconftest(f"""
        import asyncio
        import pytest
        import pytest_asyncio

        @{decorator}
        async def client(event_loop_policy):
            await asyncio.sleep(0)
            loop = asyncio.get_running_loop()
            yield loop
            assert asyncio.get_running_loop() is loop

        @{decorator}
        async def jsonmatch_actual(jsonmatch_case, client):
            await asyncio.sleep(0)
            assert asyncio.get_running_loop() is client
            return {{"n": jsonmatch_case.input}}
        """)
    golden(ASKING.replace("{n: 3}", "{n: 0}"))
    # In a process of its own: old releases of pytest-asyncio leave an event loop behind.
    outcome = pytester.runpytest_subprocess("-p", "asyncio", "-W", "ignore::DeprecationWarning")
    outcome.assert_outcomes(passed=2, failed=1)


# -- fixtures ----------------------------------------------------------------------------------------------


def test_the_nearest_conftest_goes_over_its_parent_and_over_plugins(pytester, write):
    answer = (
        "import pytest\n\n@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case):\n    return {'from': '%s'}\n"
    )
    write("own_plugin.py", answer % "plugin")
    write("conftest.py", "pytest_plugins = ['own_plugin']\n")
    write("parent/conftest.py", answer % "parent")
    write("parent/child/conftest.py", answer % "child")
    folders = {".": "plugin", "parent": "parent", "parent/child": "child", "parent/other": "parent"}
    for folder, source in folders.items():
        write(f"{folder}/a.golden.yaml", f"expected: {{from: {source}}}\n")
    pytester.syspathinsert()
    pytester.runpytest().assert_outcomes(passed=4)
