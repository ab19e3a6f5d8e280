"""Which files are golden."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_jsonmatch.golden import files


@pytest.fixture
def collected(pytester):
    """Write files with a case, run pytest with arguments, and return the files whose cases ran."""

    def run(names, *arguments):
        for name in names:
            path = pytester.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                "{id: a, actual: 1, expected: 1}"
                if path.suffix != ".json"
                else '{"id": "a", "actual": 1, "expected": 1}'
            )
        ran = pytester.inline_run(*arguments)
        return sorted(
            {report.nodeid.partition("::")[0] for report in ran.getreports("pytest_runtest_logreport")}
        )

    return run


def test_golden_by_name(collected):
    golden = [".golden.yaml", "a.b.golden.yaml", "a.golden.json", "a.golden.yaml", "a.golden.yml"]
    others = ["a.yaml", "golden.yaml", "a.json", "a.golden.yaml.bak", "A.GOLDEN.YAML"]
    assert collected([*golden, *others]) == golden


@pytest.mark.parametrize(("name", "claimed"), [("a.yaml", True), ("a.yml", True), ("a.json", False)])
def test_named_on_the_command_line(collected, name, claimed):
    assert collected([name], name) == ([name] if claimed else [])


@pytest.mark.parametrize(
    ("glob", "claimed"),
    [
        ("*.yaml", True),
        ("case_*.yaml", False),
        ("golden/*.yaml", True),
        ("cases/golden/a.yaml", True),
        ("olden/*.yaml", False),
        ("{root}/*.yaml", True),
        ("/elsewhere/*.yaml", False),
    ],
)
def test_globs(pytester, collected, glob, claimed):
    pytester.makeini(f"[pytest]\njsonmatch_files = {glob.format(root=pytester.path.parent)}")
    assert collected(["cases/golden/a.yaml"]) == (["cases/golden/a.yaml"] if claimed else [])


def test_globs_are_written_with_slashes_everywhere(monkeypatch):
    monkeypatch.setattr(files.os, "sep", "\\")
    assert files._matches(Path("cases\\a.yaml"), "cases/*.yaml")
