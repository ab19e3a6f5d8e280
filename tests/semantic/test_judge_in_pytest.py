"""Judges in pytest: the fixture, the setting, the three modes, and what the summary says."""

from __future__ import annotations

import json

import pytest

SUITE = """
    from pytest_jsonmatch import assert_json_match, compare_json, compare_corpus

    RULES = {"metric": "leaf_f1", "compare": {"string": "semantic"}}

    def test_imported():
        assert_json_match({"city": "PARIS"}, {"city": "Paris"}, **RULES)

    def test_fixture(assert_json_match):
        assert_json_match({"city": "ROME"}, {"city": "Rome"}, **RULES)

    def test_compare():
        assert compare_json({"city": "LIMA"}, {"city": "Lima"}, **RULES).score == 1.0

    def test_evaluate():
        run = compare_corpus([{"city": "OSLO"}], [{"city": "Oslo"}], compare={"string": "semantic"})
        assert run.mean_f1 == 1.0
"""
CASES = """
metric: leaf_f1
cases:
  - id: works
    expected: {summary: Fine weather}
    actual: {summary: FINE WEATHER}
    fields:
      summary: {compare: semantic}
"""
JUDGE = """
    def pytest_jsonmatch_register(registry):
        registry.judge("default", lambda item: item.expected.lower() == item.actual.lower())
"""


def judge_line(outcome):
    """The line of the summary that tells what judges did."""
    return next((line for line in outcome.outlines if line.startswith("judge: ")), None)


@pytest.fixture
def suite(pytester):
    """Makes a suite in which everything that compares needs a judge."""
    pytester.makepyfile(SUITE)
    pytester.makefile(".golden.yaml", cases=CASES)
    return pytester


def test_the_judge_of_a_conftest_judges_everything(suite):
    suite.makeconftest(JUDGE)
    outcome = suite.runpytest()
    outcome.assert_outcomes(passed=5)
    assert judge_line(outcome) == "judge: 5 calls, 5 items"


def test_the_judge_of_the_call_goes_before_that_of_a_mark_and_both_before_the_default(pytester):
    pytester.makeconftest(JUDGE + "        registry.judge('never', lambda item: False)\n")
    pytester.makepyfile("""
        import pytest
        from pytest_jsonmatch import assert_json_match

        RULES = {"compare": {"string": "semantic"}}

        @pytest.mark.jsonmatch(judge="never")
        def test_mark():
            assert assert_json_match(["a"], ["A"], threshold=0, **RULES).score == 0

        @pytest.mark.jsonmatch(judge="never")
        def test_call():
            assert_json_match(["a"], ["b"], judge=lambda item: True, **RULES)

        def test_no_question():
            assert_json_match(["a"], ["a"], **RULES)
        """)
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=3)
    assert judge_line(outcome) == "judge: 2 calls, 2 items"


def test_equal_questions_of_several_tests_are_asked_once(pytester):
    pytester.makeconftest(JUDGE)
    cases = "".join(f"  - {{id: c{n}, expected: {{s: one}}, actual: {{s: ONE}}}}\n" for n in range(5))
    pytester.makefile(
        ".golden.yaml", cases=f"metric: leaf_f1\nfields: {{s: {{compare: semantic}}}}\ncases:\n{cases}"
    )
    assert judge_line(pytester.runpytest()) == "judge: 1 call, 1 item"


# -- errors ------------------------------------------------------------------------------------------------


def test_a_golden_case_without_a_verdict_fails_and_says_field_line_and_reason(pytester):
    pytester.makeconftest(JUDGE.replace("lambda item:", "lambda item: 1 / 0 or"))
    pytester.makefile(".golden.yaml", cases=CASES)
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines("""\
        >     expected: {summary: Fine weather}
        E     AssertionError: comparator 'semantic' failed at summary (leaf_f1 is undefined)
        E       –  summary  batch error, comparator failed  :4
        E     error: comparator 'semantic' at summary: invalid: the judge raised
        E            ZeroDivisionError: division by zero
        1 result left out of the statistics: the batch comparator failed*
        judge: 1 call, 1 item, 1 error""")


def test_batch_errors_are_in_every_report(pytester, processes):
    pytester.makeconftest(JUDGE.replace("lambda item:", "lambda item: 1 / 0 or"))
    pytester.makefile(".golden.yaml", cases=CASES)
    pytester.runpytest(
        "--jsonmatch-markdown=o.md", "--jsonmatch-html=o.html", "--jsonmatch-json=o.json", *processes
    )
    printed = "1 result left out of the statistics: the batch comparator failed"
    read = {
        kind: (pytester.path / f"o.{kind}").read_text(encoding="utf-8") for kind in ("md", "html", "json")
    }
    head, case = map(json.loads, read["json"].splitlines())
    assert head["figures"]["batch_errors"] == 1
    assert [printed in read["md"], printed in read["html"], case["runs"][0]["comparisons"][0]["counts"]] == [
        True,
        True,
        {"batch_error": 1},
    ]


def write_settings(pytester, url):
    pytester.makeini(
        f"[pytest]\njsonmatch_judge =\n    model = loopback\n    base_url = {url}\n    cache = judge.jsonl\n"
    )


# -- the setting -------------------------------------------------------------------------------------------


def test_live_fills_the_cache_and_cached_needs_nobody(suite, endpoint):
    write_settings(suite, endpoint.url)
    live = suite.runpytest()
    live.assert_outcomes(passed=5)
    assert (sum(len(request.pairs) for request in endpoint.requests), judge_line(live)) == (
        5,
        "judge: 5 calls, 5 items, 550 tokens",
    )
    endpoint.requests.clear()
    write_settings(suite, "http://127.0.0.1:9/v1")  # nobody is there
    again = suite.runpytest("--jsonmatch-judge-mode=cached")
    again.assert_outcomes(passed=5)
    assert (judge_line(again), endpoint.requests) == ("judge: 0 calls, 5 from cache", [])
    (suite.path / "cases.golden.yaml").write_text(CASES.replace("FINE", "GOOD"), encoding="utf-8")
    missed = suite.runpytest("--jsonmatch-judge-mode=cached")
    missed.assert_outcomes(passed=4, failed=1)
    missed.stdout.fnmatch_lines("""\
        *error: comparator 'semantic' at summary: cache miss:*
        judge: 0 calls, 4 from cache, 1 error""")


def test_past_the_budget_every_case_says_so(pytester, endpoint):
    write_settings(pytester, endpoint.url)
    with (pytester.path / "tox.ini").open("a", encoding="utf-8") as file:
        file.write("\n    max_calls = 1\n")
    cases = "".join(
        f"  - {{id: c{at}, expected: {{a: x{at}}}, actual: {{a: X{at}}}, fields: {{a: {{compare: semantic}}}}}}\n"
        for at in range(6)
    )
    pytester.makefile(".golden.yaml", cases=f"metric: leaf_f1\ncases:\n{cases}")
    outcome = pytester.runpytest("--jsonmatch-gate=batch_errors == 0")
    asked = len(endpoint.requests)
    outcome.assert_outcomes(passed=asked, failed=6 - asked)
    outcome.stdout.fnmatch_lines(f"""\
        batch_errors == 0  failed *{6 - asked} *
        {6 - asked} results left out of the statistics: the batch comparator failed*
        *budget: max_calls=1*
        judge: * {6 - asked} errors""")
    assert asked == 1


def test_a_judge_of_one_s_own_with_a_cache_follows_the_mode(pytester):
    pytester.makeconftest("""
        from pathlib import Path
        from pytest_jsonmatch import CachedJudge, CallableJudge

        def pytest_jsonmatch_register(registry):
            judge = CallableJudge(lambda item: item.expected.lower() == item.actual.lower())
            registry.judge("default", CachedJudge(judge, Path(__file__).with_name("verdicts.jsonl")))
        """)
    pytester.makefile(".golden.yaml", cases=CASES)
    lines = [judge_line(pytester.runpytest(*way)) for way in ((), ("--jsonmatch-judge-mode=cached",))]
    assert lines == ["judge: 1 call, 1 item", "judge: 0 calls, 1 from cache"]


def test_the_mode_can_stand_in_the_configuration_file(pytester):
    pytester.makeini("[pytest]\njsonmatch_judge =\n    model = m\n    cache = v.jsonl\n    mode = cached\n")
    pytester.makefile(".golden.yaml", cases=CASES)
    pytester.runpytest().stdout.fnmatch_lines(["judge: 0 calls, 1 error"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("model", "*jsonmatch_judge must be lines of NAME = VALUE*got 'model'"),
        ("mode = alive", "*jsonmatch_judge must be*mode must be live or cached, got 'alive'*"),
        ("model = a\n    model = b", "*jsonmatch_judge must be*model is given twice"),
    ],
)
def test_a_setting_that_can_t_be_read_is_a_usage_error(pytester, lines, message):
    pytester.makeini(f"[pytest]\njsonmatch_judge =\n    {lines}\n")
    outcome = pytester.runpytest()
    outcome.stderr.fnmatch_lines([message])
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("modle = x", "*jsonmatch_judge: a judge has no setting 'modle'*"),
        ("model = x\n    batch_size = none", "*batch_size must be *got 'none'*"),
        ("model = x\n    mode = cached", "*jsonmatch_judge: *needs a cache*"),
    ],
)
def test_a_setting_that_is_wrong_is_reported_when_it_is_needed(pytester, lines, message):
    pytester.makeini(f"[pytest]\njsonmatch_judge =\n    {lines}\n")
    pytester.makefile(".golden.yaml", cases=CASES)
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines([message])
