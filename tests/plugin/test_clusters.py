"""Cases that come from one document: `cluster`, and the hint where none is named."""

from __future__ import annotations

import sys

import pytest

from pytest_jsonmatch import read_results


@pytest.fixture
def suite(pytester):
    """Golden cases, four of each document; every case of the first documents can be made wrong."""

    def write(more="", wrong=0, files=""):
        rows = []
        for at in range(24):
            answer = 2 if at < wrong else 1
            rows.append(
                f"  - id: d{at // 4}-{at}\n    actual: {{ a: {answer} }}\n    expected: {{ a: 1 }}\n"
                + more.format(document=at // 4)
            )
        pytester.makefile(".golden.yaml", a="threshold: 0\n" + files + "cases:\n" + "".join(rows))
        return pytester

    return write


def test_statistics_and_files_know_the_clusters(suite, workers):
    pytester = suite("    cluster: document {document}\n", wrong=4)
    run = pytester.runpytest("--jsonmatch-fail-under=0.5", "--jsonmatch-json=out.json", "-v", *workers)
    assert (
        "mean over cases, with 95 % confidence intervals (24 cases in 6 clusters; they allow for unseen clusters):   score"
        in " ".join(run.outlines)
    )
    kept = read_results(pytester.path / "out.json")
    assert [case.cluster for case in kept.cases[:5]] == ["document 0"] * 4 + ["document 1"]


def test_a_file_may_be_one_document(suite):
    pytester = suite(files="cluster: invoice\n")
    pytester.runpytest("--jsonmatch-json=out.json")
    assert {case.cluster for case in read_results(pytester.path / "out.json").cases} == {"invoice"}


def test_a_case_that_fails_before_it_compares_is_in_its_cluster(pytester):
    pytester.makefile(".golden.yaml", a="cluster: x\nproducer: nowhere:f\ninput: 1\nexpected: 1\n")
    pytester.runpytest("--jsonmatch-json=out.json")
    (case,) = read_results(pytester.path / "out.json").cases
    assert (case.cluster, case.runs[0].error) == ("x", "failed before comparing")


def test_repeats_are_in_the_cluster_of_their_case(pytester):
    pytester.makefile(".golden.yaml", a="cluster: x\nrepeat: 3\nactual: {}\nexpected: {}\n")
    pytester.runpytest("--jsonmatch-json=out.json")
    (case,) = read_results(pytester.path / "out.json").cases
    assert (case.cluster, len(case.runs)) == ("x", 3)


def test_one_document_does_not_fill_the_list_of_failed_cases(pytester):
    pytester.makeini("[pytest]\njsonmatch_cluster = document\n")
    rows = [(0, run) for run in range(9)] + [(document, 0) for document in range(1, 5)]
    cases = [
        f"- {{id: d{document}-{run}, tags: {{document: {document}}}, actual: {{a: 2, b: {int(document > 1)}}}, "
        "expected: {a: 1, b: 1}}\n"
        for document, run in rows
    ]
    pytester.makefile(".golden.yaml", a="cases:\n" + "".join(cases))
    run = pytester.runpytest()
    start = run.outlines.index("failed cases") + 2
    assert [line.split()[0] for line in run.outlines[start : start + 7]] == [
        f"a.golden.yaml::{name}" for name in ("d0-0", "d1-0", "d2-0", "d3-0", "d4-0", "d0-1", "d0-2")
    ]


def test_a_baseline_is_compared_by_clusters(suite):
    named = "    cluster: document {document}\n"
    suite(named).runpytest("--jsonmatch-save=main")
    run = suite(named, wrong=8).runpytest("--jsonmatch-baseline=main")
    assert (
        "no significant change from `main`; with 24 cases in 6 clusters, changes of the mean score"
        in " ".join(run.outlines)
    )
    suite().runpytest("--jsonmatch-save=main")
    run = suite(wrong=8).runpytest("--jsonmatch-baseline=main", "--jsonmatch-max-drop=0.1")
    assert "this run is significantly worse in mean score (-0.333)" in " ".join(run.outlines)
    run.stdout.fnmatch_lines(
        [
            "--jsonmatch-max-drop=0.1 *failed *",
            "* -0.333 (90 % interval -0.* to -0.*): significantly worse by more than*",
        ]
    )


def test_cases_with_one_input_file_are_a_cluster(pytester, workers):
    rows = []
    for at in range(12):
        (pytester.path / f"{at // 2}.txt").write_text("x")
        rows.append(
            f"  - id: case{at}\n    input_file: {at // 2}.txt\n    actual: {{}}\n    expected: {{}}\n"
        )
    pytester.makefile(".golden.yaml", a="cases:\n" + "".join(rows))
    pytester.runpytest("--jsonmatch-fail-under=0.5", "--jsonmatch-json=out.json", *workers)
    clusters = {case.cluster for case in read_results(pytester.path / "out.json").cases}
    assert clusters == {f"{number}.txt" for number in range(6)}


def test_a_judge_may_err_and_intervals_do_not_say_so(pytester):
    pytester.makeconftest(
        "def pytest_jsonmatch_register(registry):\n    registry.judge('default', lambda item: True)\n"
    )
    cases = "".join(f"  - {{ id: case{at}, actual: {{ a: x }}, expected: {{ a: y }} }}\n" for at in range(6))
    pytester.makefile(".golden.yaml", a="fields: { a: { compare: semantic } }\ncases:\n" + cases)
    options = (
        "--jsonmatch-gate=score >= 0.3 significant",
        "--jsonmatch-json=out.json",
        "--jsonmatch-markdown=out.md",
    )
    run = pytester.runpytest(*options)
    assert run.ret == pytest.ExitCode.OK
    message = "intervals do not account for the judge's errors"
    assert sum(message in line for line in run.outlines) == 1
    assert message in (pytester.path / "out.md").read_text(encoding="utf-8")
    for line in (["report", "out.json"], ["diff", "out.json", "out.json"]):
        assert message in pytester.run(sys.executable, "-m", "pytest_jsonmatch", *line).stdout.str()


def test_a_gate_that_is_to_be_significant(suite):
    pytester = suite(wrong=2)
    assert pytester.runpytest("--jsonmatch-gate=score >= 0.8").ret == pytest.ExitCode.OK
    run = pytester.runpytest("--jsonmatch-gate=score >= 0.8 significant")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(
        ["score >= 0.8 significant  failed * 0.92 * 0.80 * -0.0*", "  lower end 0.7* of 24 cases"]
    )
