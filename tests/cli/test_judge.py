"""Commands that compare with a judge: `--judge`, and judges that plugins register."""

from __future__ import annotations

import json
import sys

import pytest

from tests.conftest import gates_in

RULES = {"fields": {"*": {"compare": "semantic"}}}
JUDGED = "--config rules.json -p jm_judge"


@pytest.fixture
def plugin(write, monkeypatch):
    """Write a module whose judge takes texts for the same but for case, and the files to compare."""

    def call(judge="lambda item: item.expected.lower() == item.actual.lower()"):
        monkeypatch.delitem(sys.modules, "jm_judge", raising=False)
        write(
            jm_judge_py=f"def pytest_jsonmatch_register(registry):\n    registry.judge('default', {judge})\n",
            rules_json=RULES,
            a_json={"n": "1", "city": "PARIS", "land": "France"},
            b_json={"n": "1", "city": "Paris", "land": "FRANCE"},
            gold_jsonl=[{"city": "Paris"}, {"city": "Rome"}, {"city": "Paris"}],
            answers_jsonl=[{"city": "PARIS"}, {"city": "Milan"}, {"city": "PARIS"}],
        )

    return call


@pytest.fixture
def own(write, monkeypatch):
    """Write a module with judges of one's own."""
    monkeypatch.delitem(sys.modules, "judges", raising=False)
    write(
        judges_py="def judge(item):\n    return True\n\n\ndef other(item):\n    return True\n\n\nnumber = 1\n"
    )


def test_compare_asks_the_judge_of_a_plugin(plugin, command):
    plugin()
    reported = "leaf_f1 score 1.00 (limit 1.0)\n3 fields: 3 match\n"
    assert command(f"compare a.json b.json {JUDGED}") == (0, reported, "judge: 2 calls, 2 items\n")


def test_evaluate_does_and_asks_equal_questions_once(plugin, command):
    plugin()
    ran = command(f"evaluate answers.jsonl gold.jsonl {JUDGED}")
    assert (ran.code, ran.err) == (0, "judge: 2 calls, 2 items\n")
    assert ran.out.splitlines()[2].endswith(": 2 of 3 records with score 1")


def test_verdicts_of_a_function_are_kept_under_its_name(plugin, own, command):
    plugin()
    line = "compare a.json b.json --config rules.json --judge from=judges:judge --judge cache=kept.jsonl"
    assert (command(line).err, command(line).err) == (
        "judge: 2 calls, 2 items\n",
        "judge: 0 calls, 2 from cache\n",
    )
    other = command(line.replace("judges:judge", "judges:other"), "--judge", "mode=cached")
    assert (other.code, other.err) == (1, "judge: 0 calls, 2 errors\n")


def test_results_alone_go_to_standard_output(plugin, command):
    plugin()
    ran = command(f"compare a.json b.json {JUDGED} --report json")
    assert (json.loads(ran.out)["figures"]["score"], ran.err) == (1.0, "judge: 2 calls, 2 items\n")


@pytest.mark.parametrize("line", ["compare a.json b.json", "evaluate answers.jsonl gold.jsonl"])
def test_without_a_judge_the_first_question_is_an_error(plugin, refused, line):
    plugin()
    reported = "no judge is configured: give --judge or -p MODULE (docs/judge.md)"
    assert refused(f"{line} --config rules.json").endswith(reported)


def test_without_a_question_nobody_is_missed(plugin, command):
    plugin()
    ran = command("compare a.json a.json --config rules.json")
    assert (ran.code, ran.err) == (0, "")


def test_a_failed_judge_is_no_success(plugin, command):
    plugin("lambda item: 1 / 0")
    ran = command(f"compare a.json b.json {JUDGED}")
    assert "error: comparator 'semantic' at city: invalid: the judge raised" in ran.out
    corpus = command(f"evaluate answers.jsonl gold.jsonl {JUDGED} --gate", "batch_errors == 0")
    assert (ran.code, corpus.code) == (1, 1)
    assert "3 results left out of the statistics: the batch comparator failed" in corpus.out
    assert any(each.startswith("failed batch_errors == 0: 3") for each in gates_in(corpus.out.splitlines()))
    assert corpus.out.splitlines()[2] == "failed: 1 of 1 gate failed; 0 of 3 records with score 1; 3 errors"


def test_cached_takes_recorded_verdicts_alone(plugin, write, command):
    plugin()
    verdict = {"expected": "Paris", "actual": "PARIS", "equivalent": True, "model": "m", "prompt": "1"}
    write(verdicts_jsonl=[{"path": "city", **verdict}])
    ran = command(
        "compare a.json b.json --config rules.json --judge mode=cached --judge cache=verdicts.jsonl"
    )
    assert (ran.code, ran.err) == (1, "judge: 0 calls, 1 from cache, 1 error\n")
    assert "cache miss: no verdict on this pair" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--judge mode=cached --judge model=m",
            "--judge: the mode 'cached' needs a cache: name the file of verdicts",
        ),
        ("--judge cache=v.jsonl", "--judge: the judge needs a model: name one, such as 'gpt-4.1-mini'"),
        ("--judge api_key_env=KEY", "--judge: the judge needs a model: name one, such as 'gpt-4.1-mini'"),
        (
            "--judge model=m --judge max_calls",
            "--judge must be NAME=VALUE, such as model=gpt-4.1-mini, got 'max_calls'",
        ),
        ("--judge model=m --judge model=n", "--judge 'model=n': model is given twice"),
        (
            "--judge model=m --judge max_cals=1",
            "--judge: a judge has no setting 'max_cals'; did you mean 'max_calls'?",
        ),
        ("--judge from=judges:jugde", "'judges:jugde': 'judges' has no 'jugde'; did you mean 'judge'?"),
        ("--judge from=judges:number", "--judge from=judges:number is not a judge: name an"),
        ("--judge from=nowhere:judge", "'nowhere:judge' can't be imported:"),
        (
            "--judge from=judges:judge --judge base_url=http://x",
            "--judge base_url=...: a judge of your own has its",
        ),
        (
            "--judge from=judges:judge --judge mode=cached",
            "--judge: the mode 'cached' needs a cache: name the file",
        ),
        (
            "--judge model=m --judge max_calls=many",
            "--judge: max_calls must be an integer, 0 or more, got 'many'",
        ),
    ],
)
def test_options_that_do_not_fit(plugin, own, refused, options, message):
    plugin()
    reported = refused(f"compare a.json b.json --config rules.json {options}")
    assert reported.startswith(f"jsonmatch compare: {message}")
