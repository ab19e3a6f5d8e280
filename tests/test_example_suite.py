"""The example suite passes as it is shipped, alone and on two workers, and shows all that there is to show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.conftest import case_schema

SUITE = Path(__file__).resolve().parents[1] / "example_suite"


def test_passes(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    shutil.copytree(SUITE, pytester.path, dirs_exist_ok=True)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *processes)
    assert result.parseoutcomes() == {"passed": 22, "xfailed": 1}


def test_golden_files_use_every_key() -> None:
    used: set[str] = set()
    for file in SUITE.glob("golden/*.golden.yaml"):
        document = yaml.safe_load(file.read_bytes())
        used |= document.keys() - {"cases"}
        for case in document.get("cases", []):
            used |= case.keys()
    assert used == set(case_schema()["$defs"]["case"]["properties"])


def test_every_document_has_an_answer() -> None:
    documents = {file.name for file in (SUITE / "documents").iterdir()}
    answers = {file.name for file in (SUITE / "answers").iterdir()}
    assert documents == answers
