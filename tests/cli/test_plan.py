"""`jsonmatch plan`."""

from __future__ import annotations

import re
import shutil

import pytest

GOLD = [{"id": f"r{at}", "document": f"d{at // 4}", "a": at, "b": "x"} for at in range(40)]


@pytest.fixture
def saved(write, command, folder):
    """Score answers of which some are wrong, and save the result under a name, with a copy."""

    def call(name, wrong, *more):
        write(gold_jsonl=GOLD)
        write(answers_jsonl=[{**each, "a": -1} if each["a"] in wrong else each for each in GOLD])
        line = f"evaluate answers.jsonl gold.jsonl --id id --keep all --json {name}.json"
        assert command(line, *more).code == 0
        shutil.copy(folder / f"{name}.json", folder / f"{name}-copy.json")

    return call


def number(text, pattern):
    return float(re.search(pattern, text.replace(",", ""))[1])


def test_how_many_cases_a_drop_takes(saved, command):
    saved("main", {1, 5, 9})
    saved("again", {1, 6, 9})
    ran = command("plan main.json again.json --drop 0.05")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("plan from main.json and again.json: 40 cases, mean score 0.975\n")
    assert "Two runs do not show what all cases of a run share" in ran.out
    cases = number(ran.out, r"to detect a drop of 0.05 in 80 % of runs takes about (\d+) cases")
    smaller = number(command("plan main.json again.json --drop 0.2").out, r"takes about (\d+) cases")
    assert smaller < cases


def test_a_gate_that_allows_a_drop_takes_more_cases(saved, command):
    saved("main", {1, 5, 9})
    saved("again", {1, 6, 9})
    one = command("plan main.json again.json --drop 0.1").out
    other = command("plan main.json again.json --drop 0.1 --max-drop 0.05").out
    assert number(other, r"takes about (\d+) cases") > 2 * number(one, r"takes about (\d+) cases")
    assert "a drop of 0.1, of which 0.05 is allowed, in 80 % of runs" in other


def test_of_documents_with_several_cases(saved, command):
    saved("main", {1, 5, 9}, "--cluster", "document")
    out = command("plan main.json main-copy.json --drop 0.2").out
    found = re.search(r"takes about (\d+) cases: (\d+) clusters of 4 cases", out.replace("\n", " "))
    assert int(found[1]) == 4 * int(found[2])
    assert "…" not in out


def test_answers_that_vary_take_more_cases(saved, command):
    saved("main", {1, 5, 9})
    saved("same", {1, 5, 9})
    saved("other", {2, 6, 10})
    equal = command("plan main.json same.json --drop 0.1").out
    noisy = command("plan main.json other.json --drop 0.1").out
    assert number(equal, r"takes about (\d+) cases") < number(noisy, r"takes about (\d+) cases")


def test_how_many_cases_a_precision_takes(saved, command):
    saved("main", {1, 5, 9, 13})
    out = command("plan main.json main-copy.json --precision 0.015").out
    assert "The drop is assumed" not in out
    cases = number(out, r"to within 0.015 takes about (\d+) cases")
    # Student's interval would need (1.96 · 0.1 / 0.015)² cases; this one allows for unseen failures.
    assert 170 < cases < 400


def test_what_the_runs_themselves_can_see(saved, command):
    saved("main", {1, 5, 9})
    out = command("plan main.json main-copy.json").out
    assert re.search(r"40 cases detect a drop of 0\.\d+ in 80 % of runs", out)


def test_three_runs_show_the_noise_of_whole_runs(saved, command):
    saved("good", {1})
    saved("same", {1})
    saved("bad", {*range(0, 40, 2)})
    out = " ".join(command("plan good.json same.json bad.json").out.split())
    assert "plan from good.json, same.json and bad.json: 40 cases" in out
    assert re.search(
        r"Whole runs vary by 0\.0\d* \(standard deviation\) beyond what their cases explain;", out
    )
    assert re.search(
        r"calls this system worse than itself in \d\d % of runs\. --jsonmatch-max-drop=0\.\d+ all", out
    )
    assert "Two runs do not show" not in out
    calm = " ".join(command("plan good.json same.json same-copy.json").out.split())
    assert "Whole runs vary no more than their cases explain; but 3 runs cannot exclude" in calm


def test_cases_of_some_runs_only_are_left_out(saved, command, write):
    saved("main", {1})
    write(gold_jsonl=GOLD[:30])
    write(answers_jsonl=GOLD[:30])
    assert command("evaluate answers.jsonl gold.jsonl --id id --keep all --json part.json").code == 0
    assert "30 of 40 cases, in all" in command("plan main.json part.json").out


def test_a_page(saved, command, folder):
    saved("main", {1})
    assert command("plan main.json main-copy.json --drop 0.2 --html plan.html").code == 0
    page = (folder / "plan.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "to detect a drop of 0.2 in 80 % of runs takes about" in page
    assert page.count("<script") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "main.json --drop 0.1",
            "plan needs two or more runs of the same system, which show how its answers vary, got 1",
        ),
        ("main.json main-copy.json --drop 0", "the drop must be above 0 and at most the mean,"),
        (
            "main.json main-copy.json --drop 0.02 --max-drop 0.03",
            "the drop must be above the allowed drop, 0.03, and at most the mean,",
        ),
        ("main.json main-copy.json --precision 0", "the precision must be above 0 and below 1, got 0"),
        (
            "main.json main-copy.json --drop 5",
            "argument --drop: must be between 0 and 1, got 5 (for 5 % write 0.05)",
        ),
        ("main.json no.json --drop 0.1", "no.json can't be read: no such file or directory"),
        ("main.json part.json --drop 0.1", "part.json does not have every record: save it with --keep all"),
    ],
)
def test_bad_input_is_one_line(saved, refused, command, line, message):
    saved("main", {1})
    assert command("evaluate answers.jsonl gold.jsonl --id id --json part.json").code == 0
    assert refused(f"plan {line}").startswith(f"jsonmatch plan: {message}")
