"""`jsonmatch plan`."""

from __future__ import annotations

import re

import pytest

GOLD = [{"id": f"r{at}", "document": f"d{at // 4}", "a": at, "b": "x"} for at in range(40)]


@pytest.fixture
def saved(write, command):
    """Score answers of which some are wrong, and save the result under a name."""

    def call(name, wrong, *more):
        write(gold_jsonl=GOLD)
        write(answers_jsonl=[{**each, "a": -1} if each["a"] in wrong else each for each in GOLD])
        line = f"evaluate answers.jsonl gold.jsonl --id id --keep all --json {name}.json"
        assert command(line, *more).code == 0

    return call


def number(text, pattern):
    return float(re.search(pattern, text.replace(",", ""))[1])


def test_how_many_cases_a_drop_takes(saved, command):
    saved("main", {1, 5, 9})
    ran = command("plan main.json --drop 0.05")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "plan from main.json: 40 cases, mean score 0.975; noise assumed: give a second run"
    )
    cases = number(ran.out, r"to detect a drop of 0.05 in 80 % of runs takes about (\d+) cases")
    smaller = number(command("plan main.json --drop 0.2").out, r"takes about (\d+) cases")
    assert smaller < cases


def test_of_documents_with_several_cases(saved, command):
    saved("main", {1, 5, 9}, "--cluster", "document")
    out = command("plan main.json --drop 0.2").out
    found = re.search(r"takes about (\d+) cases: (\d+) clusters of 4 cases", out.replace("\n", " "))
    assert int(found[1]) == 4 * int(found[2])
    assert "…" not in out


def test_a_second_run_says_how_much_they_vary(saved, command):
    saved("main", {1, 5, 9})
    saved("same", {1, 5, 9})
    assumed = number(command("plan main.json --drop 0.1").out, r"takes about (\d+) cases")
    known = command("plan main.json same.json --drop 0.1").out
    assert "noise from the difference of the two runs" in known.replace("\n", " ")
    assert number(known, r"takes about (\d+) cases") < assumed


def test_how_many_cases_a_precision_takes(saved, command):
    saved("main", {1, 5, 9, 13})
    out = command("plan main.json --pass-rate --precision 0.03").out
    assert "pass rate 0.900" in out
    assert "The drop is taken" not in out
    assert number(out, r"to within 0.03 takes about (\d+) cases") == pytest.approx(384, rel=0.1)


def test_without_a_run(command):
    ran = command("plan --pass-rate 0.9 --drop 0.1")
    assert ran.out.startswith("plan from no run: pass rate 0.900; noise assumed")
    assert "in 80 % of runs takes about" in ran.out


def test_what_the_run_itself_can_see(saved, command):
    saved("main", {1, 5, 9})
    assert re.search(r"40 cases detect a drop of 0\.\d+ in 80 % of runs", command("plan main.json").out)


def test_a_page(saved, command, folder):
    saved("main", {1})
    assert command("plan main.json --drop 0.2 --html plan.html").code == 0
    page = (folder / "plan.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "to detect a drop of 0.2 in 80 % of runs takes about" in page
    assert page.count("<script") == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "nothing to plan from: give RUN (a result file) or --pass-rate RATE"),
        ("--pass-rate --drop 0.1", "nothing to plan from: give RUN (a result file) or --pass-rate RATE"),
        ("main.json --pass-rate 0.9", "--pass-rate 0.9: RUN has the rate; leave one of them out"),
        ("main.json --drop 0", "the drop must be above 0 and at most the mean,"),
        ("main.json --precision 0", "the precision must be above 0 and below 1, got 0"),
        ("main.json --drop 5", "argument --drop: must be between 0 and 1, got 5 (for 5 % write 0.05)"),
        ("no.json --drop 0.1", "no.json can't be read: no such file or directory"),
        ("part.json --drop 0.1", "part.json does not have every record: save it with --keep all"),
    ],
)
def test_bad_input_is_one_line(saved, refused, command, line, told):
    saved("main", {1})
    assert command("evaluate answers.jsonl gold.jsonl --id id --json part.json").code == 0
    assert refused(f"plan {line}").startswith(f"jsonmatch plan: {told}")
