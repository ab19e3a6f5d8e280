"""On GitHub Actions: annotations, and the summary of a step."""

from __future__ import annotations

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
    expected:
      n: 2
  - id: right
    actual: { n: 1 }
    expected: { n: 1 }
"""
TESTS = """\
import pytest

@pytest.fixture
def broken():
    raise RuntimeError("50 %, broken")

def test_setup(assert_json_match, broken):
    pass

def test_python(assert_json_match):
    assert_json_match({"a": 1}, {"a": 1})
    assert_json_match(
        {"b": 1},
        {"b": 2},
    )
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    folder = pytester.mkdir("evals")
    (folder / "a.golden.yaml").write_text(GOLDEN, encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    return pytester


def commands(run):
    return [line for line in run.outlines if line.startswith("::")]


def test_each_failed_case_is_annotated_where_it_failed(suite, workers):
    run = suite.runpytest("evals", *workers)
    assert [line.partition("%0A")[0] for line in commands(run)] == [
        "::error file=evals/a.golden.yaml,line=12,title=flaky (run 1 of 3)::n 2 → 1 (leaf_f1 0.00 < 1.00)",
        "::error file=evals/test_it.py,line=5,title=test_setup::RuntimeError: 50 %25, broken",
        '::error file=evals/a.golden.yaml,line=6,title=wrong::name "Anne" → "Ann" (leaf_f1 0.50 < 1.00)',
        "::error file=evals/test_it.py,line=12,title=test_python::b 2 → 1 (leaf_f1 0.00 < 1.00)",
    ]


def test_a_failure_without_a_place_in_the_code_is_annotated_where_its_test_begins(suite):
    text = "\n\ndef test_missing(no_such_fixture, assert_json_match):\n    pass\n"
    (suite.path / "evals" / "test_more.py").write_text(text, encoding="utf-8")
    (command,) = commands(suite.runpytest("evals/test_more.py"))
    assert command.startswith("::error file=evals/test_more.py,line=3,title=test_missing::")


def test_gates_are_annotated_once(suite):
    run = suite.runpytest("evals", "-k", "right", "--jsonmatch-gate=score < 1", "--jsonmatch-gate=errors > 0")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert commands(run) == ["::error title=2 gates failed::score < 1 (1.00)%0Aerrors > 0 (0)"]


def test_cases_are_not_annotated_where_gates_alone_decide(suite):
    (suite.path / "evals" / "pytest.ini").write_text("[pytest]\njsonmatch_fail = gate\n", encoding="utf-8")
    run = suite.runpytest("evals/a.golden.yaml", "--jsonmatch-gate=score >= 0.9")
    assert [line.partition("%0A")[0] for line in commands(run)] == [
        "::error title=1 gate failed::score >= 0.9 (0.50)"
    ]


def test_ten_and_how_many_more(suite):
    cases = "".join(f"- {{id: case-{n:02}, actual: {{n: 1}}, expected: {{n: {n}}}}}\n" for n in range(2, 16))
    (suite.path / "evals" / "a.golden.yaml").write_text(f"cases:\n{cases}", encoding="utf-8")
    lines = commands(suite.runpytest("evals/a.golden.yaml"))
    assert [line.partition(" ")[0] for line in lines] == ["::error"] * 10 + ["::notice"]
    assert "::4 more cases failed" in lines[-1]


@pytest.mark.parametrize("value", ["", "false"])
def test_nobody_else_gets_annotations(suite, monkeypatch, value):
    monkeypatch.setenv("GITHUB_ACTIONS", value)
    assert commands(suite.runpytest("evals")) == []


def test_the_summary_of_the_step(suite, monkeypatch):
    path = suite.path / "summary.md"
    path.write_text("# of another tool\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    for name, value in {"SERVER_URL": "https://x.test", "REPOSITORY": "o/r", "SHA": "0a1b"}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    suite.runpytest("evals")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# of another tool\n\n## ❌ jsonmatch: failed\n")
    assert text.count("## ❌ jsonmatch: failed") == 1
    link = "[`evals/a.golden.yaml:6`](https://x.test/o/r/blob/0a1b/evals/a.golden.yaml#L6)"
    assert f"| `a.golden.yaml::wrong` | `0.50 < 1.00` | `name 0.00` | {link} |\n" in text


def test_a_summary_keeps_to_what_the_step_has_left(suite, monkeypatch):
    path = suite.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    path.write_bytes(b"x" * ((1 << 20) - 6_000))
    suite.runpytest("evals")
    assert (1 << 20) - 6_000 < path.stat().st_size < 1 << 20
    path.write_bytes(b"x" * ((1 << 20) - 1_100))
    run = suite.runpytest("evals", "-k", "right")
    assert path.stat().st_size == (1 << 20) - 1_100
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines("*summary.md has no space left for a summary: GitHub allows 1 MiB per step")


def test_a_summary_that_cannot_be_written_fails_nothing(suite, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(suite.path / "evals" / "pytest.ini" / "summary.md"))
    run = suite.runpytest("evals", "-k", "right")
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines("*summary.md can't be written: not a directory")
