"""Marks of golden cases: pytest's own, registered ones, and the ones nobody knows."""

from __future__ import annotations

import pytest

CASES = """\
marks: [everywhere, {usefixtures: [of_file]}]
cases:
  - id: plain
    actual: {}
    expected: {}
  - id: slow
    marks: [slow]
    actual: {}
    expected: {}
  - id: skipped
    marks: [{skip: no network}]
    actual: {}
    expected: {a: 1}
  - id: expected-to-fail
    marks: [{xfail: {reason: not yet, strict: true}}]
    actual: {}
    expected: {a: 1}
  - id: unexpectedly-good
    marks: [{xfail: {strict: true}}]
    actual: {}
    expected: {}
  - id: with-fixture
    marks: [{usefixtures: [fixture]}, {owner: [ann, bob]}]
    actual: {}
    expected: {}
"""
INI = "[pytest]\nmarkers =\n    slow: takes long\n    owner(*names): whom to ask\n    everywhere\n"


CONFTEST = """
import pytest

@pytest.fixture
def fixture():
    print("the fixture ran")

@pytest.fixture
def of_file():
    print("for each")
"""


def test_marks_do_what_they_do_in_python(pytester, golden):
    golden(CASES)
    pytester.makeini(INI)
    pytester.makeconftest(CONFTEST)
    outcome = pytester.runpytest("--strict-markers", "-rP")
    outcome.assert_outcomes(passed=3, skipped=1, xfailed=1, failed=1)
    # Three pass, and of the one that fails output is shown too.
    assert [outcome.outlines.count(line) for line in ("the fixture ran", "for each")] == [1, 4]
    assert "Unknown" not in outcome.stdout.str()


def test_marks_select(pytester, golden):
    golden(CASES)
    pytester.makeini(INI)
    pytester.makeconftest(CONFTEST)
    pytester.runpytest("-m", "slow").assert_outcomes(passed=1, deselected=5)
    pytester.runpytest("--collect-only", "-m", "everywhere").stdout.fnmatch_lines(["*6 tests collected*"])


def test_the_reason_of_a_skip_has_its_line(pytester, golden):
    golden("cases:\n  - id: x\n    marks: [{skip: no network}]\n    expected: 1\n")
    pytester.runpytest("-rs").stdout.fnmatch_lines(["SKIPPED [[]1] a.golden.yaml:2: no network"])


def test_an_unknown_mark_is_a_warning_at_its_line(pytester, golden):
    golden(
        "marks: [evrywhere]\ncases:\n  - marks:\n      - slow\n      - slo\n    actual: {}\n    expected: {}\n"
    )
    pytester.makeini(INI)
    outcome = pytester.runpytest("-W", "default")
    outcome.assert_outcomes(passed=1, warnings=2)
    outcome.stdout.fnmatch_lines("""\
        a.golden.yaml:1
        *a.golden.yaml:1: PytestUnknownMarkWarning: Unknown pytest.mark.evrywhere*""")
    outcome.stdout.fnmatch_lines("""\
        a.golden.yaml:5
        *a.golden.yaml:5: PytestUnknownMarkWarning: Unknown pytest.mark.slo *""")


def test_an_unknown_mark_is_an_error_of_the_file_where_pytest_is_strict(pytester, write, golden):
    golden("cases:\n  - marks:\n      - slow\n      - slo\n    actual: {}\n    expected: {}\n")
    write("b.golden.yaml", "actual: {}\nexpected: {}\n")
    pytester.makeini(INI)
    outcome = pytester.runpytest("--strict-markers")
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines("""\
        >*- slo
        E *a.golden.yaml:4:9: the mark 'slo': 'slo' not found in *""")


# Where warnings are errors an unknown mark is one; a name that begins with _ always is.
@pytest.mark.parametrize(
    ("mark", "message"), [("slo", "Unknown pytest.mark.slo*"), ("_p", "the mark '_p': *")]
)
def test_a_mark_that_pytest_does_not_take_is_an_error_of_the_file(pytester, golden, mark, message):
    golden(f"marks: [{mark}]\nactual: {{}}\nexpected: {{}}\n")
    outcome = pytester.runpytest(*["-W", "error::pytest.PytestUnknownMarkWarning"] * (mark == "slo"))
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([f"> *marks: [[]{mark}]", f"E *a.golden.yaml:1:9: {message}"])
