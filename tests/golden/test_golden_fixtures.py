"""Fixtures around golden cases: overridden, parametrized, automatic, at every level."""

from __future__ import annotations

import pytest

CASES = """\
cases:
  - id: one
    input: 1
    expected: {n: 1}
  - id: two
    input: 2
    expected: {n: 2}
"""


def test_overriding_the_answer_in_a_conftest(pytester, write, golden):
    write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case):\n    return {'n': jsonmatch_case.input}\n",
    )
    write(
        "sub/conftest.py",
        "import pytest\n\n@pytest.fixture\ndef jsonmatch_actual(jsonmatch_actual):\n    return {'n': -jsonmatch_actual['n']}\n",
    )
    golden(CASES)
    write("sub/b.golden.yaml", CASES)
    pytester.runpytest().assert_outcomes(passed=2, failed=2)


def test_a_parametrized_fixture_runs_each_case_for_each_value(pytester, golden, two_models):
    two_models('{"n": jsonmatch_case.input if model == "large" else 1}')
    golden(CASES)
    outcome = pytester.runpytest("-v")
    outcome.assert_outcomes(passed=3, failed=1)
    pytester.runpytest("a.golden.yaml::two[small]").assert_outcomes(failed=1)


def test_a_hook_that_parametrizes_some_cases_only(pytester, golden):
    pytester.makeconftest("""
        import pytest

        def pytest_generate_tests(metafunc):
            if metafunc.function.__name__ == "two":
                metafunc.fixturenames.append("repeat")
                metafunc.parametrize("repeat", [1, 2, 3])

        @pytest.fixture
        def jsonmatch_actual(jsonmatch_case):
            return {"n": jsonmatch_case.input}
        """)
    golden(CASES)
    pytester.runpytest().assert_outcomes(passed=4)


def test_automatic_and_module_wide_fixtures(pytester, golden):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(autouse=True, scope="module")
        def server(request):
            assert request.module.__file__ == str(request.path)
            yield
            print("server stopped")

        @pytest.fixture(autouse=True)
        def every(request, server):
            assert request.function.__name__ == request.node.originalname

        def pytest_jsonmatch_actual(case):
            return {"n": case.input}
        """)
    golden(CASES)
    outcome = pytester.runpytest("-rP")
    outcome.assert_outcomes(passed=2)


# pytest-asyncio looks at each test by itself, and then so do we: without it, cases share what pytest found out.
@pytest.mark.parametrize("arguments", [(), ("-p", "asyncio")])
def test_a_marked_case_keeps_its_fixtures_to_itself(pytester, golden, arguments):
    pytester.makeconftest("""
        import pytest

        ran = []

        @pytest.fixture
        def special(request):
            ran.append(request.node.name)

        def pytest_jsonmatch_actual(case):
            return {"n": case.input}

        def pytest_unconfigure():
            print("special ran for", ran)
        """)
    golden(
        CASES
        + "  - {id: marked, input: 3, expected: {n: 3}, marks: [{usefixtures: special}]}\n  - {id: last, input: 4, expected: {n: 4}}\n"
    )
    outcome = pytester.runpytest_subprocess("-s", *arguments)
    outcome.assert_outcomes(passed=4)
    outcome.stdout.fnmatch_lines(["special ran for ['marked']"])


RECORDED = """\
cases:
  - {id: one, actual: {n: 1}, expected: {n: 1}}
  - {id: two, actual: {n: 2}, expected: {n: 3}}
  - {id: three, actual: {n: 3}, expected: {n: 3}, marks: [skip]}
"""
COUNTING = """\
import pytest

def pytest_fixture_setup(fixturedef):
    with open("set_up.txt", "a") as file:
        print(fixturedef.argname, file=file)
"""


def test_recorded_answers_need_no_fixtures_while_nobody_overrides_them(pytester, write, golden):
    write("conftest.py", COUNTING)
    golden(RECORDED)
    pytester.runpytest().assert_outcomes(passed=1, failed=1, skipped=1)
    assert not (pytester.path / "set_up.txt").exists()


@pytest.mark.parametrize("name", ["jsonmatch_case", "jsonmatch_actual"])
def test_recorded_answers_go_through_an_override(pytester, write, golden, name):
    write("conftest.py", f"{COUNTING}\n@pytest.fixture\ndef {name}({name}):\n    return {name}\n")
    golden(RECORDED)
    pytester.runpytest().assert_outcomes(passed=1, failed=1, skipped=1)
    asked = (pytester.path / "set_up.txt").read_text(encoding="utf-8").split()
    assert (asked.count("jsonmatch_case"), asked.count("jsonmatch_actual")) == (
        (4, 2) if name == "jsonmatch_case" else (2, 4)
    )


def test_an_automatic_fixture_may_use_the_case(pytester, write, golden):
    write(
        "conftest.py",
        f"{COUNTING}\n@pytest.fixture(autouse=True)\ndef seen(jsonmatch_case):\n    assert jsonmatch_case.id in ('one', 'two')\n",
    )
    golden(RECORDED)
    pytester.runpytest().assert_outcomes(passed=1, failed=1, skipped=1)
    assert (pytester.path / "set_up.txt").read_text(encoding="utf-8").split().count("jsonmatch_case") == 2


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-show", "--fixtures-per-test"])
def test_who_looks_at_the_fixtures_sees_them(pytester, golden, option):
    golden(RECORDED)
    pytester.runpytest(option, "-v").stdout.fnmatch_lines(["*two*", "*jsonmatch_actual*"])
