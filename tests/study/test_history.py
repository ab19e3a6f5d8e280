"""`jsonmatch study history` and `measure_history`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.file import to_text
from pytest_jsonmatch.results.model import Corpus, ResultSet
from pytest_jsonmatch.study import measure_history


def run_of(answers, day, **options):
    """A result file's content: the answers to as many cases, each of which is {"a": 0, "b": 0}."""
    cases = []
    for at, answer in enumerate(answers):
        result = compare_json(answer, {"a": 0, "b": 0}, **options)
        passed = result.score == 1
        kept = Comparison.of(result, id=f"c{at}", nodeid=f"c{at}", threshold={}, passed=passed)
        cases.append(Case(f"c{at}", (CaseRun(1, passed=passed, comparisons=(kept,)),)))
    created = f"2026-01-{day:02}T10:00:00+00:00" if day else ""
    return ResultSet(tuple(cases), created=created, commit=f"{day:02}c0ffee")


@pytest.fixture
def save(folder):
    """Write runs to run1.json, run2.json and so on; return the paths."""

    def call(*runs):
        paths = [folder / f"run{number}.json" for number in range(1, len(runs) + 1)]
        for path, run in zip(paths, runs, strict=True):
            path.write_text(to_text(run))
        return paths

    return call


def answers(wrong, field="b", number=30):
    """Answers to so many cases, of which the first are wrong."""
    return [{"a": 0, "b": 0, **({field: 1} if at < wrong else {})} for at in range(number)]


def test_the_figures_of_runs(save):
    study = measure_history(save(*(run_of(answers(0 if day < 3 else 15), day) for day in range(1, 5))))
    assert [run.figures["score"] for run in study.runs] == [1.0, 1.0, 0.75, 0.75]
    assert [run.fields["b"] for run in study.runs] == [1.0, 1.0, 0.5, 0.5]
    last = study.runs[-1]
    assert (last.name, last.commit) == ("run4.json", "04c0ffee")
    assert (last.cases, last.figures["pass_rate"]) == (30, 0.5)


def test_runs_are_ordered_by_time_where_all_have_one(save):
    paths = save(run_of(answers(3), 2), run_of(answers(0), 1))
    assert [run.name for run in measure_history(paths).runs] == ["run2.json", "run1.json"]
    paths = save(run_of(answers(3), 0), run_of(answers(0), 1))
    assert [run.name for run in measure_history(paths).runs] == ["run1.json", "run2.json"]


def test_runs_scored_in_another_way_are_told(save):
    plain = run_of(answers(0), 1)
    weighted = run_of(answers(0), 1, fields={"a": {"weight": 2}})
    mixed = replace(plain, cases=(*weighted.cases[:10], *plain.cases[10:]))
    similar = run_of(answers(0), 1, metric="json_similarity")
    runs = measure_history(save(plain, plain, mixed, similar, ResultSet(created="2026-01-09"))).runs
    other = "not comparable: scored in another way (leaf_f1, now json_similarity)"
    assert [run.note for run in runs] == ["", "", "some cases are scored in another way", other, ""]
    assert [run.is_comparable for run in runs] == [True, True, True, False, True]


def test_a_corpus_without_its_records_has_figures(save):
    whole = [Corpus("leaf_f1", "leaf_f1|x", 500, 500, 400, {"score": score}) for score in (0.9, 0.2)]
    runs = (ResultSet(corpus=each, created=f"2026-01-0{day}") for day, each in enumerate(whole, 1))
    found = [(run.cases, run.figures["score"], run.note) for run in measure_history(save(*runs)).runs]
    assert found == [(500, 0.9, ""), (500, 0.2, "")]


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        ([], "a history needs two runs or more; there is 0"),
        (["run1.json"], "a history needs two runs or more; there is 1"),
        (["run1.json", "no.json"], "no.json can't be read: no such file or directory"),
        (["run1.json", "other.json"], "other.json is no"),
    ],
)
def test_paths_that_cannot_be(save, folder, paths, told):
    save(run_of(answers(0), 1))
    (folder / "other.json").write_text("{}")
    with pytest.raises(ConfigurationError) as error:
        measure_history(paths)
    assert str(error.value).startswith(told)


def test_runs_without_cases(save):
    assert measure_history(save(ResultSet(), ResultSet())).runs[0].figures["score"] is None


# -- the command -------------------------------------------------------------------------------------------


def test_the_command(save, command, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    runs = (run_of(answers(0 if day < 5 else 15), day) for day in range(1, 9))
    save(*runs, run_of(answers(0), 9, metric="json_similarity"))
    names = " ".join(f"run{number}.json" for number in range(1, 10))
    ran = command(f"study history {names} --html h.html --json h.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:16] == [
        "history of 9 runs, 2026-01-01 to 2026-01-09",
        "",
        "run 9, run9.json: not comparable: scored in another way (leaf_f1, now",
        "json_similarity)",
        "",
        "Mean of cases",
        "figure     by run     first  last  least  most",
        "score      ████▁▁▁▁█   1.00  1.00   0.75  1.00",
        "precision  ████▁▁▁▁█   1.00  1.00   0.75  1.00",
        "recall     ████▁▁▁▁█   1.00  1.00   0.75  1.00",
        "f1         ████▁▁▁▁█   1.00  1.00   0.75  1.00",
        "pass_rate  ████▁▁▁▁█   1.00  1.00   0.50  1.00",
        "",
        "Fields, over all leaves",
        "field  by run     first  last  least  most",
        "b      ████▁▁▁▁█   1.00  1.00   0.50  1.00",
    ]
    page = (folder / "h.html").read_text()
    # A line for each figure, with a gap before the last run; and one in each row of both tables.
    assert page.count("<polyline") >= 5 + 5 + 2
    assert json.loads((folder / "h.json").read_text())["runs"][4]["fields"]["b"] == 0.5


def test_many_runs_fit_a_terminal(save, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    paths = save(*(run_of(answers(day % 3, number=4), 0) for day in range(90)))
    out = command("study history", *map(str, paths)).out
    assert max(map(len, out.splitlines())) <= 80
