"""`jsonmatch init`: what it writes runs, and passes and fails as its comments say."""

from __future__ import annotations

import re

import pytest

FILES = [f"evals/{name}" for name in ("conftest.py", "receipts.py", "receipts.golden.yaml", "pytest.ini")]


def test_what_it_writes_passes_and_fails_as_its_comments_say(folder, command, pytester):
    ran = command("init")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        *(f"wrote {name}" for name in FILES),
        "",
        "Two cases pass and one fails: pytest evals",
    ]
    message = dict(re.findall(r"- id: (\w+) # (passes|fails)", (folder / FILES[2]).read_text()))
    suite = pytester.runpytest("evals", "-rA", "-p", "no:cacheprovider").stdout.str()
    outcomes = {
        case: {"PASSED": "passes", "FAILED": "fails"}[outcome]
        for outcome, case in re.findall(r"^(PASSED|FAILED) \S+::(\w+)", suite, re.MULTILINE)
    }
    assert outcomes == message == {"bakery": "passes", "bookshop": "passes", "teahouse": "fails"}, suite
    assert re.search('currency  .*"GBP" (→|->) "EUR"', suite)


def test_it_runs_next_to_other_conftest_files(folder, command, pytester):
    command("init")
    for name in ("conftest.py", "last/conftest.py", "last/test_it.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("def test_it(): pass\n")
    pytester.runpytest(".", "-p", "no:cacheprovider").assert_outcomes(failed=1, passed=3)


def test_a_folder_can_be_named(folder, command):
    assert command("init", "tests/my evals").code == 0
    assert (folder / "tests/my evals/conftest.py").is_file()


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(folder, refused, name):
    (folder / "evals").mkdir()
    (folder / name).write_text("mine")
    assert refused("init") == (
        f"jsonmatch init: {name} exists, so nothing was written; name another folder: jsonmatch init FOLDER"
    )
    assert [path.name for path in (folder / "evals").iterdir()] == [name.rpartition("/")[2]]
    assert (folder / name).read_text() == "mine"
