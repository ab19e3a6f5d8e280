"""`jsonmatch_fail = gate`: gates alone decide, whatever becomes of single cases."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch import read_results

ASK = """\
import pytest

def ask(text):
    if text == "boom":
        raise TimeoutError("no answer")
    return {"good": '{"a": 1}', "low": {"a": 2}, "cut": '{"a": 1, "b": ['}[text]
"""
FIXTURE = """
@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return ask(jsonmatch_case.input)
"""
CASES = "".join(
    f"- {{id: {name}, input: {name}, expected: {{a: 1}}}}\n" for name in ("good", "low", "cut", "boom")
)
INI = "[pytest]\njsonmatch_fail = gate\n"
LISTED = [
    "cases that did not pass",
    "*::boom *0.00  the producer raised TimeoutError: no answer",
    "*::cut *no JSON found *",
    "*::low *0.00 < 1.00 *",
]


@pytest.mark.parametrize(
    ("conftest", "producer"),
    [(ASK, "producer: conftest:ask\n"), (ASK + FIXTURE, "")],
    ids=["producer", "fixture"],
)
def test_low_scores_and_missing_answers_are_recorded(pytester, workers, conftest, producer):
    pytester.makeconftest(conftest)
    pytester.makefile(".golden.yaml", a=f"{producer}cases:\n{CASES}")
    pytester.makeini(INI + "jsonmatch_gates =\n    score >= 0.25\n    errors <= 2\n    pass_rate >= 0.25\n")
    files = ("--jsonmatch-json=out.jsonl", "--jsonmatch-markdown=out.md")
    run = pytester.runpytest(*files, *workers)
    run.assert_outcomes(passed=4)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(LISTED)
    cases = read_results(pytester.path / "out.jsonl").cases
    runs = {case.id.partition("::")[2]: case.runs[0] for case in cases}
    scores = {name: run.mean("score") for name, run in runs.items()}
    assert scores == {"good": 1, "low": 0, "cut": 0, "boom": 0}
    assert [name for name, run in runs.items() if run.passed] == ["good"]
    markdown = (pytester.path / "out.md").read_text(encoding="utf-8")
    message = "3 gates passed; 3 of 4 cases did not pass; 1 unanswered"
    assert markdown.startswith(f"## ✅ jsonmatch: passed\n\n{message}")
    assert "### Cases that did not pass" in markdown
    run = pytester.runpytest("--jsonmatch-gate=errors == 0", *workers)
    run.assert_outcomes(passed=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("conftest", "producer"),
    [(ASK, "producer: conftest:ask\n"), (ASK + FIXTURE, "")],
    ids=["producer", "fixture"],
)
@pytest.mark.parametrize("fail", ["case", "gate"])
def test_a_case_whose_producer_raises_is_unanswered(pytester, workers, conftest, producer, fail):
    pytester.makeconftest(conftest)
    pytester.makefile(".golden.yaml", a=f"{producer}cases:\n{CASES}")
    pytester.makeini(f"[pytest]\njsonmatch_fail = {fail}\n")
    gates = [f"--jsonmatch-gate={gate}" for gate in ("answered == 0.75", "answered >= 0.9 significant")]
    run = pytester.runpytest("--jsonmatch-json=out.jsonl", "--jsonmatch-html=out.html", *gates, *workers)
    run.assert_outcomes(**({"passed": 4} if fail == "gate" else {"passed": 1, "failed": 2, "errors": 1}))
    message = "1 unanswered: 1 TimeoutError; mean score 0.25 with it as 0, 0.33 without"
    run.stdout.fnmatch_lines(["answered == 0.75 *passed *0.75 *", "  1 of 4 cases unanswered", message])
    run.stdout.fnmatch_lines(["answered >= 0.9 significant *failed *"])
    run.stdout.no_fnmatch_line("*before comparing*")
    result = read_results(pytester.path / "out.jsonl")
    assert (result.total_unanswered, result.unanswered) == (1, {"TimeoutError": 1})
    assert "1 unanswered" in (pytester.path / "out.html").read_text("utf-8")


@pytest.mark.parametrize("fail", ["case", "gate"])
def test_a_replay_without_an_answer_leaves_the_case_unanswered(pytester, workers, fail):
    pytester.makeconftest(ASK)
    pytester.makefile(".golden.yaml", a=f"producer: conftest:ask\ncases:\n{CASES}")
    pytester.makeini(f"[pytest]\njsonmatch_fail = {fail}\n")
    pytester.mkdir("out")
    gate = "--jsonmatch-gate=answered >= 0.9"
    pytester.runpytest("--jsonmatch-record=out/part.jsonl", gate)
    run = pytester.runpytest(
        "--jsonmatch-replay=out/part.jsonl", gate, "--jsonmatch-json=out.jsonl", *workers
    )
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.assert_outcomes(**({"passed": 4} if fail == "gate" else {"passed": 1, "failed": 2, "errors": 1}))
    message = "1 unanswered: 1 not recorded; mean score 0.25 with it as 0, 0.33 without"
    run.stdout.fnmatch_lines(["answered >= 0.9 *failed *0.75 *1 of 4 cases unanswered", message])
    run.stdout.no_fnmatch_line("*before comparing*")
    if fail == "case":
        message = "produce and add it, use --jsonmatch-replay=out[/\\]part.jsonl,missing"
        run.stdout.fnmatch_lines([f"E *part.jsonl has no output of a.golden.yaml::boom; to {message}"])
    (boom,) = [case for case in read_results(pytester.path / "out.jsonl").cases if "boom" in case.id]
    assert boom.runs[0].unanswered == "not recorded"
    assert boom.runs[0].error.startswith("part.jsonl has no output of a.golden.yaml::boom; ")


def test_a_repeated_case_is_unanswered_once(pytester, workers):
    pytester.makeconftest("def ask(text):\n    raise TimeoutError\n")
    pytester.makefile(
        ".golden.yaml", a="producer: conftest:ask\ncases:\n- {id: a, repeat: 3, input: x, expected: 1}\n"
    )
    run = pytester.runpytest("--jsonmatch-json=out.jsonl", *workers)
    run.assert_outcomes(errors=3)
    run.stdout.fnmatch_lines(["1 unanswered: 1 TimeoutError"])
    assert read_results(pytester.path / "out.jsonl").unanswered == {"TimeoutError": 1}


def test_an_error_of_a_golden_file_is_no_missing_answer(pytester, workers):
    pytester.makefile(".golden.yaml", a="cases:\n- {id: a, producer: nowhere:ask, input: 1, expected: 1}\n")
    run = pytester.runpytest("--jsonmatch-json=out.jsonl", *workers)
    run.assert_outcomes(errors=1)
    assert read_results(pytester.path / "out.jsonl").total_unanswered == 0


def test_a_test_in_python_goes_on_to_its_next_comparison(pytester, python):
    pytester.makeini(INI)
    python("""
        def test_it():
            for answer in ({"a": 2}, "no JSON", {"a": 1}):
                last = assert_json_match(answer, {"a": 1})
            assert last.score == 1

        def test_that_fails_by_itself():
            assert assert_json_match({"a": 2}, {"a": 1}).score > 0.5

        def test_that_is_wrong():
            assert_json_match({"a": 2}, {"a": 1}, metric="leaf_f2")

        def test_with_a_comparator_that_raises():
            assert_json_match({"a": "x"}, {"a": "["}, fields={"a": {"compare": "regex"}})
        """)
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.05")
    run.assert_outcomes(passed=1, failed=3)
    run.stdout.fnmatch_lines(["*on 4 cases", "score*passed*", "*no JSON found*"])


def test_faults_of_golden_files_still_fail(pytester):
    pytester.makeini(INI)
    pytester.makeconftest(ASK)
    pytester.makefile(".golden.yaml", a='producer: "conftest:asks"\ninput: good\nexpected: {a: 1}\n')
    run = pytester.runpytest()
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["E *did you mean 'ask'*", "a.golden.yaml:1: error"])


def test_each_error_is_reported_once(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    pytester.makeini(INI)
    pytester.makeconftest(ASK)
    cases = "".join(f"- {{input: {name}, expected: {{a: 1}}}}\n" for name in ["cut", "boom", "boom", "boom"])
    pytester.makefile(".golden.yaml", a=f"producer: conftest:ask\ncases:\n{cases}")
    text = pytester.runpytest("--jsonmatch-gate=score >= 0").stdout.str()
    assert (text.count("no JSON found"), text.count("TimeoutError: no answer")) == (1, 1)
    assert re.search(r"and 2 more +0.00 +the producer raised TimeoutError: no answer", text)


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize("answer", ["low", "cut", "boom"])
def test_a_low_score_is_the_failure_that_xfail_expects(pytester, strict, answer):
    pytester.makeini(INI + "jsonmatch_gates = score >= 1\n")
    pytester.makeconftest(ASK)
    marks = f"marks: [{{xfail: {{reason: known, strict: {strict}}}}}]"
    case = f"- {{id: bad, input: {answer}, expected: {{a: 1}}, {marks}}}\n"
    fine = f"- {{id: fine, input: good, expected: {{a: 1}}, {marks}}}\n"
    pytester.makefile(".golden.yaml", a=f"producer: conftest:ask\ncases:\n{CASES.splitlines()[0]}\n{case}")
    run = pytester.runpytest("-rx")
    run.assert_outcomes(passed=1, xfailed=1)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(["XFAIL *a.golden.yaml::bad - *known"])
    pytester.makefile(".golden.yaml", a=f"producer: conftest:ask\ncases:\n{fine}")
    pytester.runpytest().assert_outcomes(**{"failed" if strict == "true" else "xpassed": 1})


def test_updates_write_cases_below_their_threshold(pytester):
    pytester.makeini(INI)
    file = pytester.makefile(".golden.yaml", a="id: a\nactual: {a: 2}\nexpected: {a: 1}\n")
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1)
    assert "expected: {a: 2}" in file.read_text()


def test_without_a_gate_nothing_can_fail(pytester):
    pytester.makeini(INI)
    pytester.makefile(".golden.yaml", a="actual: {a: 2}\nexpected: {a: 1}\nrepeat: 2\nmin_pass_rate: 0.5\n")
    run = pytester.runpytest()
    run.assert_outcomes(passed=2)
    run.stdout.fnmatch_lines("jsonmatch_fail is gate, and there is no gate: nothing can fail*")
    pytester.makeini(INI.replace("gate", "gates"))
    pytester.runpytest().stderr.fnmatch_lines("*jsonmatch_fail must be case or gate; got 'gates'")


def test_a_cut_off_answer_is_not_below_a_threshold_of_0(pytester):
    pytester.makefile(".golden.yaml", a="id: cut\nactual: '{\"a\": ['\nthreshold: 0\nexpected: {a: 1}\n")
    run = pytester.runpytest()
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["failed cases", "*::cut *no JSON found *"])
