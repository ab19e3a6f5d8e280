"""`--jsonmatch-gitlab`: a code quality report."""

from __future__ import annotations

import json

import pytest

GOLDEN = """\
cases:
  - id: wrong
    actual: { total: 1, name: Ann }
    expected:
      total: 1
      name: Anne
  - id: flaky
    repeat: 3
    min_pass_rate: 0.9
    actual: { n: 1 }
    expected: { n: 2 }
  - id: right
    actual: { n: 1 }
    expected: { n: 1 }
"""


@pytest.fixture
def suite(pytester):
    pytester.mkdir(".git")
    folder = pytester.mkdir("evals")
    (folder / "a.golden.yaml").write_text(GOLDEN, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_it.py").write_text(
        "def test_it(assert_json_match, nothing):\n    pass\n", encoding="utf-8"
    )
    return pytester


def read(suite):
    return json.loads((suite.path / "quality.json").read_text(encoding="utf-8"))


def test_an_issue_for_each_failed_case(suite):
    suite.runpytest("evals", "--jsonmatch-gitlab=quality.json")
    issues = read(suite)
    fingerprints = [issue.pop("fingerprint") for issue in issues]
    assert len(set(fingerprints)) == 3
    setup, wrong = issues.pop(1), issues.pop()
    assert setup["location"] == {"path": "evals/test_it.py", "lines": {"begin": 1}}
    assert (setup["check_name"], setup["severity"]) == ("jsonmatch/error", "blocker")
    assert wrong == {
        "description": "wrong: leaf_f1 score 0.50 < 1.00; worst: name 0.00",
        "check_name": "jsonmatch/leaf_f1",
        "severity": "critical",
        "location": {"path": "evals/a.golden.yaml", "lines": {"begin": 6}},
    }
    assert issues == [
        {
            "description": "flaky (run 1 of 3): leaf_f1 score 0.00 < 1.00; worst: n 0.00",
            "check_name": "jsonmatch/leaf_f1",
            "severity": "blocker",
            "location": {"path": "evals/a.golden.yaml", "lines": {"begin": 11}},
        }
    ]


def test_fingerprints_do_not_change_when_lines_and_scores_do(suite):
    arguments = ("evals", "--jsonmatch-gitlab=quality.json", "-k", "wrong")
    suite.runpytest(*arguments)
    (before,) = read(suite)
    path = suite.path / "evals" / "a.golden.yaml"
    path.write_text(
        GOLDEN.replace("    actual", "\n\n    actual").replace("total: 1,", "total: 7,"), encoding="utf-8"
    )
    suite.runpytest(*arguments)
    (after,) = read(suite)
    assert before["fingerprint"] == after["fingerprint"]
    assert before["location"] != after["location"]


def test_no_issue_where_nothing_failed(suite):
    run = suite.runpytest("evals", "--jsonmatch-gitlab=quality.json", "-k", "right")
    assert run.ret == pytest.ExitCode.OK
    assert read(suite) == []
