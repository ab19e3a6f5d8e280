"""`--jsonmatch-save` and `--jsonmatch-baseline`."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import read_results

SUITE = """\
import os
import pytest

@pytest.mark.parametrize("name", ["a", "b", os.environ.get("OTHER", "c")])
def test_it(assert_json_match, name):
    answer = {"x": 1, "y": 1}
    if name == os.environ.get("WORSE"):
        answer["y"] = 2
    assert_json_match(answer, {"x": 1, "y": 1}, threshold=0, metric=os.environ.get("METRIC"))
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    for name in ("OTHER", "WORSE", "METRIC"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(test_it=SUITE)
    return pytester


def baseline_lines(run):
    lines = run.outlines
    start = next(
        at
        for at, line in enumerate(lines)
        if line.startswith(("this run is", "no significant change", "the change from"))
    )
    end = next(at for at in range(start, len(lines)) if lines[at].startswith(("=", "mean over", "1 case")))
    return lines[start:end]


def mean_scores(run):
    (line,) = (line for line in baseline_lines(run) if line.startswith("mean score"))
    return line.split()[2:4]


def test_a_first_run_has_none(suite):
    run = suite.runpytest("--jsonmatch-baseline=main")
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(
        "no baseline named 'main' yet; create it with --jsonmatch-save=main (writes jsonmatch-baselines/main.jsonl)"
    )
    coloured = suite.runpytest("--jsonmatch-baseline=sub/main.jsonl", "--color=yes")
    coloured.stdout.fnmatch_lines(
        "*\x1b[[]33mno baseline named 'sub/main.jsonl' yet; create it with --jsonmatch-json=sub/main.jsonl *"
    )


@pytest.mark.parametrize("name", ["main", "./main.jsonl"])
def test_in_ci_it_must_exist(suite, monkeypatch, name):
    monkeypatch.setenv("CI", "true")
    run = suite.runpytest(f"--jsonmatch-baseline={name}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        "ERROR: --jsonmatch-baseline: there is no *main.jsonl; --jsonmatch-save=NAME creates a baseline "
        "(in CI, where CI is set, a baseline must exist)"
    )


def test_a_misspelt_name(suite, monkeypatch):
    suite.runpytest("--jsonmatch-save=main")
    run = suite.runpytest("--jsonmatch-baseline=mian")
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines(
        "no baseline named 'mian' yet; did you mean 'main'[?]; create it with --jsonmatch-save=*"
    )
    monkeypatch.setenv("CI", "true")
    run = suite.runpytest("--jsonmatch-baseline=mian")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines("ERROR: *: there is no *mian.jsonl; did you mean 'main'[?] (in CI, *")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "jsonmatch-results", "version": 99}'])
def test_one_that_is_none(suite, text):
    (suite.path / "main.jsonl").write_text(text, encoding="utf-8")
    run = suite.runpytest("--jsonmatch-baseline=main.jsonl")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines("ERROR: --jsonmatch-baseline: *main.jsonl is *")


@pytest.mark.parametrize("name", ["", ".jsonl", "..", "a/b", "a\\b", "x:y"])
def test_a_name_that_is_none(suite, name):
    run = suite.runpytest(f"--jsonmatch-save={name}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines("*--jsonmatch-save: *can't name a baseline*")


def test_what_became_of_each_case(suite, workers, monkeypatch):
    suite.runpytest("--jsonmatch-save=main")
    monkeypatch.setenv("WORSE", "b")
    monkeypatch.setenv("OTHER", "d")
    run = suite.runpytest("--jsonmatch-baseline=main", *workers)
    assert run.ret == pytest.ExitCode.OK  # whether that is too much is for gates to say
    lines = [line for line in baseline_lines(run) if line]
    assert lines[1] == "needed"
    assert lines[2].startswith("this run against main (20")
    assert [lines[0], *lines[3:11]] == [
        "the change from `main` is not tested: 2 of 3 cases are in both, at least 5",
        "statistic   main  this run  difference     90 % interval  verdict",
        "mean score  1.00      0.75      -0.250  -0.853 to +0.744  not enough cases",
        "y           1.00      0.50      -0.500  -0.999 to +0.944  not enough cases",
        "intervals below the mean score are corrected for their number: they are wider",
        "cases that changed from main to this run",
        "case                    change  expected  main  this run",
        "test_it.py::test_it[b]  -0.500            1.00  0.50",
        "  y                             1         1     2",
    ]
    new, vanished = "  test_it.py::test_it[d]", "  test_it.py::test_it[c]"
    assert lines[11:15] == ["new cases:", new, "cases vanished:", vanished]


def test_a_path_and_a_folder_of_ones_own(suite):
    suite.makeini("[pytest]\njsonmatch_baselines = kept/here\n")
    suite.runpytest("--jsonmatch-save=main", "--jsonmatch-json=other/name.jsonl")
    for name in ("main", "kept/here/main.jsonl", "other/name.jsonl"):
        run = suite.runpytest(f"--jsonmatch-baseline={name}")
        assert mean_scores(run) == ["1.00", "1.00"]


def test_a_name_with_its_suffix(suite):
    run = suite.runpytest("--jsonmatch-baseline=main.jsonl")
    run.stdout.fnmatch_lines(
        "no baseline named 'main.jsonl' yet; create it with --jsonmatch-save=main.jsonl "
        "(writes jsonmatch-baselines/main.jsonl)"
    )
    run = suite.runpytest("--jsonmatch-save=main.jsonl")
    run.stdout.fnmatch_lines("results written to jsonmatch-baselines/main.jsonl")
    for name in ("main", "main.jsonl"):
        run = suite.runpytest(f"--jsonmatch-baseline={name}")
        assert mean_scores(run) == ["1.00", "1.00"]


def test_a_run_can_replace_the_baseline_it_is_compared_with(suite, monkeypatch):
    suite.runpytest("--jsonmatch-save=main")
    monkeypatch.setenv("WORSE", "b")
    run = suite.runpytest("--jsonmatch-save=main", "--jsonmatch-baseline=main")
    assert mean_scores(run) == ["1.00", "0.83"]
    saved = read_results(suite.path / "jsonmatch-baselines" / "main.jsonl")
    assert saved.mean("score") == pytest.approx(5 / 6)


def test_scores_of_another_metric_are_not_compared(suite, monkeypatch):
    suite.runpytest("--jsonmatch-save=main")
    monkeypatch.setenv("METRIC", "json_similarity")
    run = suite.runpytest("--jsonmatch-baseline=main")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines("""\
        --jsonmatch-baseline=main *failed *
          3 cases scored in another way
        3 cases scored differently in `main`: no comparison is made
        test_it.py::test_it[[]a[]] *leaf_f1*, now *json_similarity*""")


@pytest.mark.parametrize("metric", ["leaf_f1", "json_similarity"])
def test_a_case_that_now_stops_at_its_first_comparison_got_worse(suite, monkeypatch, metric):
    suite.makepyfile(
        test_it=f"""
        import os

        def test_it(assert_json_match):
            assert_json_match({{"x": int(os.environ.get("WORSE", 4))}}, {{"x": 4}})
            assert_json_match({{"x": 4}}, {{"x": 4}}, metric="{metric}")
        """
    )
    suite.runpytest("--jsonmatch-save=main")
    monkeypatch.setenv("WORSE", "3")
    run = suite.runpytest("--jsonmatch-baseline=main")
    assert mean_scores(run) == ["1.00", "0.00"]


def test_the_report_says_so_too(suite, monkeypatch):
    suite.runpytest("--jsonmatch-markdown=r.md", "--jsonmatch-baseline=main")
    assert "there is no baseline `main` yet." in (suite.path / "r.md").read_text(encoding="utf-8")
    suite.runpytest("--jsonmatch-save=main")
    monkeypatch.setenv("WORSE", "b")
    suite.runpytest("--jsonmatch-markdown=r.md", "--jsonmatch-baseline=main")
    text = (suite.path / "r.md").read_text(encoding="utf-8")
    assert "mean score of the same cases against `main`: -0.167." in text
    assert "| `test_it.py::test_it[b]` | -0.500 |  | `1.00` | `0.50` |\n| `y` |  | `1` | `1` |" in text


LOSING = """\
import os
import pytest

@pytest.mark.parametrize("number", range(20))
def test_it(assert_json_match, number):
    answer = {f"x{at}": 0 if at < int(os.environ["LOST"]) else 1 for at in range(10)}
    assert_json_match(answer, {f"x{at}": 1 for at in range(10)}, threshold=0)
"""


@pytest.fixture
def losing(pytester, monkeypatch):
    """A suite that has lost 0.1 in each of two releases; the last one is the baseline main."""
    pytester.makepyfile(test_it=LOSING)
    for lost, name in enumerate(("release-1.4", "main")):
        monkeypatch.setenv("LOST", str(lost))
        assert pytester.runpytest(f"--jsonmatch-save={name}").ret == pytest.ExitCode.OK
    monkeypatch.setenv("LOST", "2")
    return pytester


@pytest.mark.parametrize(
    "given",
    [
        ["--jsonmatch-baseline=main,release-1.4"],
        ["--jsonmatch-baseline=main", "--jsonmatch-baseline=release-1.4", "--jsonmatch-baseline=main"],
    ],
)
def test_a_pinned_baseline_sees_what_a_rolling_one_does_not(losing, given):
    alone = losing.runpytest("--jsonmatch-baseline=main", "--jsonmatch-max-drop=0.15")
    assert alone.ret == pytest.ExitCode.OK
    run = losing.runpytest(*given, "--jsonmatch-max-drop=0.15")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines_random(
        [
            "gate *verdict *value *limit *margin",
            "--jsonmatch-max-drop=0.15 from main *passed   -0.100  -0.15  +0.050",
            "--jsonmatch-max-drop=0.15 from release-1.4 *failed   -0.200  -0.15  -0.050",
            "against `main`, this run is significantly worse in mean score (-0.100)*",
            "against `release-1.4`, this run is significantly worse in mean score (-0.200)*",
            "this run against main*mean of 20 cases in both",
            "this run against release-1.4*mean of 20 cases in both",
            "kind *main *release-1.4 *this run",
            "value differs *0.100 *0.000 *0.200",
            "jsonmatch: 1 of 2 gates failed: --jsonmatch-max-drop=0.15 from release-1.4 (-0.200)",
        ]
    )
    # Each of two tests has half of the error rate.
    assert "95 % interval" in run.stdout.str()
    assert "90 % interval" in alone.stdout.str()


def test_a_baseline_that_is_not_there_yet_takes_no_error_rate(losing):
    run = losing.runpytest("--jsonmatch-baseline=main,release-2", "--jsonmatch-max-drop=0.15")
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines_random(
        [
            "no baseline named 'release-2' yet; did you mean 'release-1.4'[?]; create it with *",
            "*there is no baseline yet",
            "*90 % interval*",
        ]
    )


@pytest.mark.parametrize("given", ["", "main,", ",main"])
def test_an_empty_name_of_a_baseline(suite, given):
    run = suite.runpytest(f"--jsonmatch-baseline={given}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines("ERROR: --jsonmatch-baseline= is empty; name a file")
