"""Which files are golden."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_jsonmatch.golden import files
from pytest_jsonmatch.golden.files import is_golden


@pytest.mark.parametrize(
    "name", ["a.golden.yaml", "a.golden.yml", ".golden.yaml", "a.b.golden.yaml", "a.golden.json"]
)
def test_golden_by_name(name):
    assert is_golden(Path("/folder") / name)


@pytest.mark.parametrize("name", ["a.yaml", "golden.yaml", "a.json", "a.golden.yaml.bak", "A.GOLDEN.YAML"])
def test_not_golden_by_name(name):
    assert not is_golden(Path("/folder") / name)


@pytest.mark.parametrize(
    ("name", "claimed"), [("a.yaml", True), ("a.yml", True), ("a.json", False), ("a.py", False)]
)
def test_named_on_the_command_line(name, claimed):
    assert is_golden(Path(name), explicit=True) is claimed


@pytest.mark.parametrize(
    ("glob", "claimed"),
    [
        ("*.yaml", True),
        ("case_*.yaml", False),
        ("golden/*.yaml", True),
        ("cases/golden/a.yaml", True),
        ("olden/*.yaml", False),
        ("/root/*.yaml", True),
        ("/elsewhere/*.yaml", False),
    ],
)
def test_globs(glob, claimed):
    assert is_golden(Path("/root/cases/golden/a.yaml"), [glob]) is claimed


def test_globs_are_written_with_slashes_everywhere(monkeypatch):
    monkeypatch.setattr(files.os, "sep", "\\")
    assert files._matches(Path("cases\\a.yaml"), "cases/*.yaml")
