"""`Answer`: what an answer took, from where it is made to gates, tables and files."""

from __future__ import annotations

import json
import re
import sys
from decimal import Decimal

import pytest

from pytest_jsonmatch import Answer, ConfigurationError, Spent, compare_corpus, read_results
from tests.conftest import gate_of, gates_in

APP = """\
from pytest_jsonmatch import Answer

def slow(document):
    return Answer('{"n": 1}', model="small")

async def later(document):
    return Answer({"n": 1}, seconds=7)

def plain(document):
    return {"n": 1}

def wrong(document):
    return Answer({"n": 1}, usage={"prompt_tokens": 3})
"""
CONFTEST = """\
import pytest
from pytest_jsonmatch import Answer

COSTS = {"a": 0.25, "b": 0.75, "c": None}

@pytest.fixture(params=["small", "large"])
def model(request):
    return request.param

@pytest.fixture
def jsonmatch_actual(jsonmatch_case, model):
    if jsonmatch_case.id == "untold":
        return {"n": 1}
    usage = {"input_tokens": 900, "output_tokens": 100, "cost": COSTS[jsonmatch_case.base_id]}
    seconds = {"small": 1, "large": 3}[model]
    return Answer({"n": int(model == "large")}, model=f"gpt-{model}", usage=usage, seconds=seconds)
"""
CASES = """\
threshold: 0
cases:
  - { id: a, expected: { n: 1 } }
  - { id: b, expected: { n: 1 } }
  - { id: c, expected: { n: 1 } }
  - { id: untold, expected: { n: 1 } }
"""


@pytest.fixture
def suite(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.path.joinpath("x.golden.yaml").write_text(CASES, encoding="utf-8")
    return pytester


@pytest.fixture
def producers(pytester):
    """Runs a case for each producer that is named."""
    pytester.path.joinpath("app.py").write_text(APP, encoding="utf-8")
    pytester.makeini("[pytest]\npythonpath = .\n")

    def run(*names, arguments=()):
        cases = [
            f"- {{id: {name}, input: 1, producer: 'app:{name}', expected: {{n: 1}}}}\n" for name in names
        ]
        pytester.path.joinpath("x.golden.yaml").write_text("cases:\n" + "".join(cases), encoding="utf-8")
        return pytester.runpytest("--jsonmatch-json=o.json", *arguments)

    return run


def spent_in(path):
    """What the answers of a file of results took, by the name of the case."""
    return {
        each.nodeid.rpartition("::")[2]: None if each.spent is None else each.spent.to_dict()
        for each in read_results(path).comparisons
    }


def about_gates(run):
    return [line.partition(" ")[2] for line in gates_in(run.outlines)]


def test_what_is_not_given_is_unknown():
    assert Answer(1).spent == Spent(None, None, None, None, None)
    assert Answer(1, usage={"cost": None, "input_tokens": 3}).spent.to_dict() == {"input_tokens": 3}
    assert Answer(1, model="m", usage={"cost": Decimal("0.5")}, seconds=2).spent == Spent("m", 2, cost=0.5)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ({"usage": {"tokens": 1}}, "usage has an unknown key 'tokens'; allowed are input_tokens, "),
        ({"usage": 7}, "usage must be a mapping with any of input_tokens, output_tokens, cost, got 7"),
        ({"usage": {"cost": -0.5}}, "usage['cost'] must be a number from 0 to "),
        ({"usage": {"cost": Decimal("NaN")}}, "usage['cost'] must be a number from 0 to "),
        (
            {"usage": {"input_tokens": 1.5}},
            "usage['input_tokens'] must be a whole number from 0 to ",
        ),
        ({"seconds": float("inf")}, "seconds must be a number of seconds from 0 to "),
        ({"model": ""}, "model must be a model's name, or None for unknown, got ''"),
    ],
)
def test_what_can_not_be_is_an_error(printed, message):
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}"):
        Answer(1, **printed)


@pytest.mark.parametrize(("number", "p95"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
def test_the_95th_percentile_is_one_of_the_numbers(number, p95):
    answers = [Answer({}, seconds=each) for each in range(number, 0, -1)]
    run = compare_corpus(answers, [{}] * number, keep="all")
    assert gate_of(run, "latency.p95 > 0").value == f"{p95}.00"


OVER = 'over all values of model; one is tags["model=large"]'


def test_gates(suite, workers):
    gates = (
        "latency.p95 <= 3",
        "latency.mean < 2",
        "cost.total == 2",
        "cost.mean <= 0.4",
        "tokens.total <= 6000",
        "tokens.mean == 1000",
        'cases["c"].cost.total >= 0',
        'cases["a*"].cost.mean <= 0.25',
    )
    run = suite.runpytest(*(f"--jsonmatch-gate={gate}" for gate in gates), *workers)
    run.assert_outcomes(passed=8)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert about_gates(run) == [
        f"latency.p95 <= 3: 3.00, margin 0.00 (from 6 of 8 answers, {OVER})",
        f"latency.mean < 2: 2.00, margin 0.00 (from 6 of 8 answers, {OVER})",
        f"cost.total == 2: 2.00, margin 0.00 (from 4 of 8 answers, {OVER})",
        f"cost.mean <= 0.4: 0.50, margin -0.10 (from 4 of 8 answers, {OVER})",
        f"tokens.total <= 6000: 6,000, margin 0 (from 6 of 8 answers, {OVER})",
        f"tokens.mean == 1000: 1000.00, margin 0.00 (from 6 of 8 answers, {OVER})",
        'cases["c"].cost.total >= 0: no answer has a cost: return an Answer with it in `usage`',
        f'cases["a*"].cost.mean <= 0.25: 0.25, margin 0.00 ({OVER})',
    ]
    words = [line.split()[0] for line in gates_in(run.outlines)]
    assert words == ["passed", "failed", "passed", "failed", "passed", "passed", "failed", "passed"]


def test_a_table_by_model(suite, workers):
    run = suite.runpytest("-v", *workers)
    shown = run.outlines[run.outlines.index("answers by model, means and totals") + 1 :][:4]
    assert shown == [
        "model answers mean score seconds p95       cost total cost tokens total tokens",
        "large       3       1.00       3   3 0.5 (of 2)   1 (of 2)  1,000        3,000",
        "small       3       0.00       1   1 0.5 (of 2)   1 (of 2)  1,000        3,000",
        "",
    ]


def test_a_run_that_passes_and_one_that_says_nothing_have_no_table(suite):
    suite.runpytest().stdout.no_fnmatch_line("answers by model*")
    suite.runpytest("-v", "-k", "untold").stdout.no_fnmatch_line("answers by model*")


def test_what_was_kept_is_compared_again_with_what_it_took(suite, workers):
    suite.runpytest("--jsonmatch-record=kept.jsonl", "--jsonmatch-json=a.json", *workers)
    suite.path.joinpath("conftest.py").unlink()
    suite.makeconftest(CONFTEST.replace("return Answer", "raise RuntimeError"))
    run = suite.runpytest("--jsonmatch-replay=kept.jsonl", "--jsonmatch-json=b.json")
    run.assert_outcomes(passed=8)
    known = {"seconds": 1, "input_tokens": 900, "output_tokens": 100}
    found = spent_in(suite.path / "b.json")
    assert found == spent_in(suite.path / "a.json")
    assert found["a[small]"] == {"model": "gpt-small", **known, "cost": 0.25}
    assert found["c[small]"] == {"model": "gpt-small", **known}
    assert found["untold[small]"] is None


@pytest.mark.parametrize(
    ("spent", "message"),
    [
        ({"cost": -1}, "spent: usage[[]'cost'] must be a number from 0 to *, got -1*"),
        (7, "spent: *"),
        ({"model": 7}, "spent: model must be *, got 7*"),
    ],
)
def test_a_kept_answer_that_took_what_can_not_be_is_an_error_of_its_line(suite, spent, message):
    line = json.dumps({"case": "x.golden.yaml::a", "actual": {"n": 1}, "spent": spent})
    suite.path.joinpath("kept.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    run = suite.runpytest("--jsonmatch-replay=kept.jsonl")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(f"*kept.jsonl:2 is not an output that --jsonmatch-record wrote: {message}")


def test_the_call_of_a_producer_is_measured_if_its_answer_does_not_say_how_long_it_took(producers, pytester):
    producers("slow", "later", "plain").assert_outcomes(passed=3)
    found = spent_in(pytester.path / "o.json")
    measured = found["slow"].pop("seconds")
    assert 0 <= measured < 60
    assert found == {"slow": {"model": "small"}, "later": {"seconds": 7}, "plain": None}


def test_the_call_of_the_hook_is_measured_too(pytester):
    pytester.makeconftest("""
        from pytest_jsonmatch import Answer

        def pytest_jsonmatch_actual(case):
            return Answer(None)
    """)
    pytester.path.joinpath("x.golden.yaml").write_text("expected: null\n", encoding="utf-8")
    pytester.runpytest("--jsonmatch-json=o.json").assert_outcomes(passed=1)
    assert list(spent_in(pytester.path / "o.json")["x"]) == ["seconds"]


def test_an_answer_that_can_not_be_is_an_error_of_its_test(producers):
    run = producers("wrong", arguments=("--jsonmatch-gate=cost.total <= 1",))
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(
        "E *.ConfigurationError: usage has an unknown key 'prompt_tokens'; allowed are *"
    )
    assert about_gates(run)[0].startswith("cost.total <= 1: no answer has a cost")


def test_assertions_take_answers_and_count_each_once_in_a_test(pytester, workers):
    pytester.makepyfile("""
        from pytest_jsonmatch import Answer, assert_json_match

        def test_it():
            answer = Answer('Sure: {"n": 1}', model="m", usage={"cost": 0.5})
            assert_json_match(answer, {"n": 1})
            assert_json_match(answer, {"n": 1}, metric="json_similarity")
            assert_json_match(Answer({"n": 1}, usage={"cost": 0.25}), {"n": 1})

        def test_text_without_json():
            assert_json_match(Answer("no", usage={"cost": 1}), {"n": 1})
    """)
    gates = ("--jsonmatch-gate=cost.total == 1.75", "--jsonmatch-gate=parse_rate == 1")
    run = pytester.runpytest(*gates, *workers)
    run.assert_outcomes(passed=1, failed=1)
    assert about_gates(run) == [
        "cost.total == 1.75: 1.75, margin 0.00",
        "parse_rate == 1: 0.67, margin -0.33 (2 of 3 texts)",
    ]


def test_a_case_that_failed_before_it_compared_is_unknown(suite):
    suite.makeconftest(CONFTEST.replace('"c": None', '"d": None'))
    run = suite.runpytest("-k", "small and not untold", "--jsonmatch-gate=cost.total <= 1")
    run.assert_outcomes(passed=2, errors=1, deselected=5)
    assert about_gates(run) == ["cost.total <= 1: 1.00, margin 0.00 (from 2 of 3 answers)"]


@pytest.mark.parametrize(("before", "cases"), [("    expected: { n: 7 }\n", "failed"), ("", "new")])
def test_an_update_writes_the_value(suite, before, cases):
    path = suite.path / "x.golden.yaml"
    path.write_text(f"cases:\n  - id: a\n{before}", encoding="utf-8")
    run = suite.runpytest("-k", "large", f"--jsonmatch-update={cases}")
    run.assert_outcomes(passed=1, deselected=1)
    assert "n: 1" in path.read_text(encoding="utf-8")


def test_reports(suite, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    suite.runpytest("--jsonmatch-json=o.json", "--jsonmatch-markdown=o.md", "--jsonmatch-html=o.html")
    markdown = suite.path.joinpath("o.md").read_text(encoding="utf-8")
    assert "### Answers by model, means and totals\n" in markdown
    assert "\n| `small` | 3 | 0.00 | 1 | 1 | 0.5 (of 2) | 1 (of 2) | 1,000 | 3,000 |\n" in markdown
    page = suite.path.joinpath("o.html").read_text(encoding="utf-8")
    assert '<code>small</code></th><td class="number " data-label="answers">3</td>' in page
    shown = suite.run(sys.executable, "-m", "pytest_jsonmatch", "report", "o.json").stdout
    shown.fnmatch_lines("small * 3 * 0.00 * 1,000 * 3,000")
