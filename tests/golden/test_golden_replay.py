"""`--jsonmatch-record` keeps what producers answered, `--jsonmatch-replay` judges it again without them."""

from __future__ import annotations

import json

import pytest

CONFTEST = """\
import pytest

@pytest.fixture(autouse=True)
def always():
    with open("always.txt", "a") as file:
        file.write("x")

@pytest.fixture
def client():
    with open("calls.txt", "a") as file:
        file.write("x")

@pytest.fixture(params=["small", "large"])
def model(request):
    return request.param

@pytest.fixture
def jsonmatch_actual(jsonmatch_case, model, client):
    if jsonmatch_case.id == "text":
        return f'Sure: {{"n": {1 if model == "large" else 0}}}'
    return {"n": jsonmatch_case.input, "x": "\\ud800é"}
"""
CASES = """\
cases:
  - id: value
    input: 1
    fields: { x: { skip: true } }
    expected: { n: 1 }
  - id: text
    expected: { n: 1 }
"""


@pytest.fixture
def suite(pytester, write):
    write("conftest.py", CONFTEST)
    write("sub/a.golden.yaml", CASES)
    return pytester


def lines(pytester, name="out.jsonl"):
    return [json.loads(line) for line in (pytester.path / name).read_text().splitlines()]


def test_what_is_kept(suite, workers):
    suite.runpytest("--jsonmatch-record=out.jsonl", *workers).assert_outcomes(passed=3, failed=1)
    kept = sorted(lines(suite), key=lambda entry: entry["case"])
    assert [entry["case"] for entry in kept] == [
        "sub/a.golden.yaml::text[large]",
        "sub/a.golden.yaml::text[small]",
        "sub/a.golden.yaml::value[large]",
        "sub/a.golden.yaml::value[small]",
    ]
    assert (kept[1]["text"], kept[2]["actual"]) == ('Sure: {"n": 0}', {"n": 1, "x": "\ud800é"})
    assert (kept[1]["id"], kept[1]["params"]) == ("text", {"model": "small"})
    assert all(entry["seconds"] >= 0 for entry in kept)
    assert not list(suite.path.glob("*.partial"))


def test_it_is_judged_again_and_nobody_is_asked(suite, write, workers):
    suite.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=3, failed=1)
    for name in ("calls.txt", "always.txt"):
        (suite.path / name).unlink()
    outcome = suite.runpytest("--jsonmatch-replay=out.jsonl", *workers)
    outcome.assert_outcomes(passed=3, failed=1)
    outcome.stdout.fnmatch_lines(["*n  0.00  1 → 0  mismatch*"])
    assert not (suite.path / "calls.txt").exists()
    assert (suite.path / "always.txt").read_text() == "xxxx"
    # By today's rules:
    write("sub/a.golden.yaml", "metric: json_similarity\nthreshold: 0\n" + CASES)
    suite.runpytest("--jsonmatch-replay=out.jsonl", *workers).assert_outcomes(passed=4)
    suite.runpytest(
        "--jsonmatch-replay=out.jsonl", "sub/a.golden.yaml::text[small]", *workers
    ).assert_outcomes(passed=1)


def test_a_case_without_a_record_is_an_error_that_names_it(suite, write, workers):
    suite.runpytest("--jsonmatch-record=out.jsonl", "-k", "value")
    outcome = suite.runpytest("--jsonmatch-replay=out.jsonl", *workers)
    outcome.assert_outcomes(passed=2, errors=2)
    outcome.stdout.fnmatch_lines_random(
        [
            ">*- id: text",
            "E*AssertionError: out.jsonl has no output of sub/a.golden.yaml::text?small?; record it, *",
        ]
    )


def test_recorded_answers_are_kept_and_replayed_too(pytester, write, workers):
    write("a.golden.yaml", "actual: { n: 1 }\nexpected: { n: 1 }\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl", *workers).assert_outcomes(passed=1)
    write("a.golden.yaml", "actual: { n: 2 }\nexpected: { n: 2 }\n")
    pytester.runpytest("--jsonmatch-replay=out.jsonl", *workers).assert_outcomes(failed=1)


def test_of_several_tries_the_last_counts(pytester, write):
    pytest.importorskip("pytest_rerunfailures")
    pytester.makeconftest(
        """
        import pytest

        tries = []

        @pytest.fixture
        def jsonmatch_actual():
            tries.append(1)
            return {"n": len(tries)}
        """
    )
    write("a.golden.yaml", "expected: { n: 2 }\n")
    outcome = pytester.runpytest("-p", "rerunfailures", "--reruns=2", "--jsonmatch-record=out.jsonl")
    assert outcome.parseoutcomes() == {"passed": 1, "rerun": 1}
    assert [entry["actual"] for entry in lines(pytester)] == [{"n": 1}, {"n": 2}]
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=1)


def test_an_older_file_stays_until_the_run_is_over(pytester, write):
    write("out.jsonl", "old")
    write(
        "test_a.py",
        "from pathlib import Path\n\ndef test_a(): assert Path('out.jsonl').read_text() == 'old'\n",
    )
    write("a.golden.yaml", "actual: { n: 1 }\nexpected: { n: 1 }\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=2)
    assert len(lines(pytester)) == 1


def test_an_interrupted_run_keeps_what_there_is(pytester, write):
    write("a.golden.yaml", "actual: { n: 1 }\nexpected: { n: 1 }\n")
    write("b/test_b.py", "def test_b(): raise KeyboardInterrupt\n")
    outcome = pytester.runpytest_subprocess("--jsonmatch-record=out.jsonl")
    assert outcome.ret == pytest.ExitCode.INTERRUPTED
    assert [entry["case"] for entry in lines(pytester)] == ["a.golden.yaml::a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--jsonmatch-replay=nowhere.jsonl"],
            "*--jsonmatch-replay: *nowhere.jsonl can't be read: no such file*",
        ),
        (["--jsonmatch-replay=bad.jsonl"], "*bad.jsonl:2 is no output that --jsonmatch-record wrote"),
        (["--jsonmatch-record=no/folder/out.jsonl"], "*--jsonmatch-record: *No such file*"),
        (["--jsonmatch-record=a", "--jsonmatch-replay=b"], "*choose one; a replay makes no new answers"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(pytester, write, arguments, message):
    write("bad.jsonl", '{"case": "a", "text": "b"}\n{"case": "a"}\n')
    write("a.golden.yaml", "actual: 1\nexpected: 1\n")
    outcome = pytester.runpytest(*arguments)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines([message])


@pytest.mark.parametrize("depth", [50_000])
def test_an_answer_too_deep_to_be_written_is_named(pytester, write, depth):
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture
        def jsonmatch_actual():
            value = 1
            for _ in range({depth}):
                value = [value]
            return value
        """
    )
    write("a.golden.yaml", "metric: json_similarity\nthreshold: 0\nexpected: [1]\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=1)
    assert lines(pytester)[0]["error"] == "the answer is nested too deep to be written"
    outcome = pytester.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*has no output of a.golden.yaml::a: the answer is nested too deep*"])
