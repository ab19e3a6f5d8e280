"""`jsonmatch study history` and `measure_history`."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from pytest_jsonmatch import ConfigurationError, compare_json
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.file import to_text
from pytest_jsonmatch.results.model import Corpus, ResultSet
from pytest_jsonmatch.study import history, measure_history
from pytest_jsonmatch.study.history import change_points

NUMBERS = np.random.RandomState


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


def test_a_drop_is_shown_since_the_run_it_began_with(save):
    study = measure_history(save(*(run_of(answers(0 if day < 5 else 15), day) for day in range(1, 10))))
    assert [(each.figure, each.is_field, each.run, each.before, each.after) for each in study.changes] == [
        ("score", False, 4, 1.0, 0.75),
        ("pass_rate", False, 4, 1.0, 0.5),
        ("b", True, 4, 1.0, 0.5),
    ]
    assert study.figures == {"drops": 3, "gains": 0}
    assert study.by_field == {"a": {"drops": 0, "gains": 0}, "b": {"drops": 1, "gains": 0}}
    assert [run.fields["b"] for run in study.runs[3:6]] == [1.0, 0.5, 0.5]
    assert (study.runs[4].commit, study.runs[4].figures["pass_rate"]) == ("05c0ffee", 0.5)


def test_a_gain_after_a_drop_is_another_change(save):
    wrong = [0] * 4 + [15] * 5 + [0] * 5
    study = measure_history(save(*(run_of(answers(each), day) for day, each in enumerate(wrong, 1))))
    scores = [each for each in study.changes if each.figure == "score"]
    assert [(each.run, each.after > each.before) for each in scores] == [(4, False), (9, True)]


def test_runs_are_ordered_by_time_where_all_have_one(save):
    paths = save(run_of(answers(3), 2), run_of(answers(0), 1))
    assert [run.name for run in measure_history(paths).runs] == ["run2.json", "run1.json"]
    paths = save(run_of(answers(3), 0), run_of(answers(0), 1))
    assert [run.name for run in measure_history(paths).runs] == ["run1.json", "run2.json"]


def test_runs_scored_in_another_way_are_not_compared(save):
    """A drop that the change of the metric explains is no change."""
    runs = [run_of(answers(0), day) for day in range(1, 5)]
    runs += [run_of(answers(20), day, metric="json_similarity") for day in range(5, 9)]
    study = measure_history(save(*runs))
    assert study.changes == ()
    assert [at for at, run in enumerate(study.runs) if run.note] == [4]
    assert study.runs[4].note == "not comparable: scored in another way (leaf_f1, now json_similarity)"


def test_cases_scored_in_another_way_are_left_out(save):
    runs = [run_of(answers(0), day) for day in range(1, 5)]
    other = run_of(answers(0), 5, fields={"a": {"weight": 2}})
    mixed = replace(other, cases=(*other.cases[:10], *run_of(answers(0), 5).cases[10:]))
    study = measure_history(save(*runs, mixed))
    assert study.runs[4].note.startswith("10 cases of 30 scored in another way (options:none, now ")


def test_a_case_that_stopped_before_its_second_metric_is_worse(save):
    """What it did not come to is not scored in another way; nor is a case that raised an error."""

    def run(day, wrong):
        each = run_of(answers(0), day), run_of(answers(0), day, metric="json_similarity")
        cases = []
        for at, (one, other) in enumerate(zip(*(found.cases for found in each), strict=True)):
            of_both = (*one.runs[0].comparisons, *other.runs[0].comparisons)
            if at >= wrong:
                cases.append(replace(one, runs=(CaseRun(1, passed=True, comparisons=of_both),)))
            elif at % 2:
                cases.append(replace(one, runs=(CaseRun(1, passed=False, comparisons=of_both[:1]),)))
            else:
                cases.append(replace(one, runs=(CaseRun(1, passed=False, error="TimeoutError"),)))
        return replace(each[0], cases=tuple(cases))

    study = measure_history(save(*(run(day, 0 if day < 5 else 20) for day in range(1, 10))))
    assert [run.note for run in study.runs] == [""] * 9
    assert [(each.figure, each.run) for each in study.changes if not each.is_field] == [
        ("score", 4),
        ("pass_rate", 4),
    ]


def test_runs_without_a_case_in_common(save):
    one = run_of(answers(0, number=3), 1)
    other = replace(one, cases=tuple(replace(case, id=f"x{case.id}") for case in one.cases), created="")
    assert [run.note for run in measure_history(save(one, other)).runs] == [
        "",
        "not comparable: no case of the run before",
    ]


def test_a_corpus_without_its_records_has_figures_and_no_changes(save):
    runs = [
        ResultSet(
            corpus=Corpus("leaf_f1", "leaf_f1|x", 500, 500, 400, {"score": score}), created=f"2026-01-0{day}"
        )
        for day, score in ((1, 0.9), (2, 0.2), (3, 0.2))
    ]
    study = measure_history(save(*runs))
    assert [run.figures["score"] for run in study.runs] == [0.9, 0.2, 0.2]
    assert (study.changes, [run.note for run in study.runs]) == ((), ["", "", ""])


def test_clusters_change_as_a_whole(save):
    """Twenty cases of one document are one document."""

    def clustered(run):
        return replace(
            run, cases=tuple(replace(case, cluster=f"d{at % 3}") for at, case in enumerate(run.cases))
        )

    runs = [run_of(answers(0 if day < 4 else 15), day) for day in range(1, 8)]
    assert measure_history(save(*runs)).changes
    assert measure_history(save(*map(clustered, runs))).changes == ()


@pytest.mark.parametrize(
    ("cases", "kind"),
    [(40, "outcomes"), (12, "outcomes"), pytest.param(100, "scores", marks=pytest.mark.full)],
)
def test_fifty_equal_runs_seldom_show_a_change(cases, kind):
    """In at most 5 % of histories; if it were 10 %, this test would fail in 97 of 100 programs."""
    numbers, histories, wrong = NUMBERS(5), 200, 0
    for _ in range(histories):
        chances = numbers.beta(6, 1, cases)
        scores = numbers.beta(5, 1, (50, cases))
        if kind == "outcomes":
            scores = (numbers.random_sample((50, cases)) < chances).astype(float)
        wrong += next(change_points(scores, 0.05), None) is not None
    assert wrong <= 0.06 * histories


def test_a_drop_of_a_tenth_is_seen_in_few_runs():
    numbers = NUMBERS(1)
    shown = []
    for _ in range(40):
        chances = np.where(np.arange(40) < 20, 0.95, 0.85)[:, None]
        found = next(change_points((numbers.random_sample((40, 150)) < chances).astype(float), 0.05), None)
        shown.append(99 if found is None else found.shown_by - 20)
    assert np.median(shown) <= 4
    assert max(shown) < 20


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        ([], "a history needs two runs or more; there is 0"),
        (["run1.json"], "a history needs two runs or more; there is 1"),
        (["run1.json", "."], ". is not a file; a history reads each file more than once"),
        (["run1.json", "no.json"], "no.json can't be read: no such file or directory"),
        (
            ["run1.json", "other.json"],
            'other.json is no result file: it has no "format": "jsonmatch-results"',
        ),
    ],
)
def test_paths_that_cannot_be(save, folder, paths, told):
    save(run_of(answers(0), 1))
    (folder / "other.json").write_text("{}")
    with pytest.raises(ConfigurationError) as error:
        measure_history(paths)
    assert str(error.value) == told


def test_memory_does_not_grow_with_cases(save, monkeypatch):
    """Of ten times as many cases as many are tested, and the changes are the same."""
    monkeypatch.setattr(history, "_MOST_CASES", 100)
    monkeypatch.setattr("pytest_jsonmatch.results.file._CASES_OF_A_PART", 50)
    one = run_of(answers(0, number=1), 1).cases[0]
    bad = run_of(answers(1, number=1), 1).cases[0]

    def measured(number):
        days = range(1, 5)
        runs = (
            ResultSet(
                tuple(
                    replace(bad if day > 2 and at % 2 else one, id=f"document {at}") for at in range(number)
                ),
                created=f"2026-01-0{day}",
            )
            for day in days
        )
        paths = save(*runs)
        tracemalloc.start()
        study = measure_history(paths)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return study, peak

    measured(10)
    (few, small), (many, large) = measured(200), measured(2_000)
    assert [(each.figure, each.run) for each in many.changes] == [
        (each.figure, each.run) for each in few.changes
    ]
    assert many.runs[2].cases == 2_000
    assert many.runs[2].figures["pass_rate"] == 0.5
    assert (few.tested, many.tested) == (0.5, 0.05)
    assert large < 1.5 * small


def test_memory_hardly_grows_with_runs(save):
    paths = save(*(run_of(answers(1, number=40), day) for day in range(1, 21)))

    def peak(number):
        tracemalloc.start()
        measure_history(paths[:number])
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    assert peak(20) < 1.5 * peak(2)


def test_clusters_are_tested_as_a_whole_or_not_at_all(save, monkeypatch):
    monkeypatch.setattr(history, "_MOST_CASES", 20)
    runs = [run_of(answers(0 if day < 5 else 20, number=40), day) for day in range(1, 10)]
    runs = [
        replace(run, cases=tuple(replace(case, cluster=f"d{at % 4}") for at, case in enumerate(run.cases)))
        for run in runs
    ]
    study = measure_history(save(*runs))
    assert (study.tested, study.changes) == (0.5, ())


def test_a_large_run_says_how_many_cases_are_tested(save, command, monkeypatch):
    monkeypatch.setattr(history, "_MOST_CASES", 30)
    save(*(run_of(answers(1, number=60), day) for day in (1, 2)))
    assert (
        "changes are tested on 50 % of the cases, the same in all runs"
        in command("study history run1.json run2.json").out
    )


def test_runs_without_cases(save):
    study = measure_history(save(ResultSet(), ResultSet()))
    assert (study.changes, study.runs[0].figures["score"]) == ((), None)


# -- the command -------------------------------------------------------------------------------------------


def test_the_command(save, command, folder):
    save(*(run_of(answers(0 if day < 5 else 15), day) for day in range(1, 10)))
    names = " ".join(f"run{number}.json" for number in range(1, 10))
    ran = command(f"study history {names} --html h.html --json h.json", "--gate", "drops == 0")
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert lines[0] == "history of 9 runs, 2026-01-01 to 2026-01-09"
    assert lines[3].split() == [
        "score",
        "fell",
        "1.000",
        "0.750",
        "run",
        "5,",
        "run5.json",
        "05c0ffee",
        "run",
        "5",
    ]
    assert (
        next(line for line in lines if line.startswith("score  ") and "fell" not in line).split()[1]
        == "████▁▁▁▁▁"
    )
    assert "FAILED   drops == 0  3" in lines[-1]
    assert (folder / "h.html").read_text().count("<svg") >= 4
    assert json.loads((folder / "h.json").read_text())["changes"][0]["figure"] == "score"


def test_no_change(save, command):
    save(run_of(answers(1), 1), run_of(answers(2), 2))
    ran = command("study history run1.json run2.json")
    assert ran.code == 0
    assert "No change is shown. (If nothing changes, one is still shown in 5 % of histories.)" in ran.out


def test_many_runs_fit_a_terminal(save, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    paths = save(*(run_of(answers(day % 3, number=4), 0) for day in range(90)))
    out = command("study history", *map(str, paths)).out
    assert max(map(len, out.splitlines())) <= 80
