"""Each law of this folder with the inputs of one seed; `run.py` beside it goes on with others by the hour."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

# The modules beside this file import each other as the script does, which `importlib` mode does not offer.
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(Path(__file__).parent))
    run = importlib.import_module("run")
for name in (
    "run",
    "laws",
    "texts",
    "edits",
    "evalschemas",
    "goldens",
    "pairs",
    "resultfiles",
    "runs",
    "suite",
    "test_golden_editor",
    "test_schema_laws",
):
    del sys.modules[name]
for name in ("compare", "figures", "generate", "reference", "schemas"):
    sys.modules.pop(name, None)


@pytest.fixture
def outside_of_pytest(monkeypatch):
    """Keep what laws compare out of this run's summary."""
    monkeypatch.setattr("pytest_jsonmatch.comparing.running._RUNS", [])


@pytest.mark.parametrize("name", run.LAWS)
def test_law(name, outside_of_pytest):
    run.check_law(name, 0)


@pytest.mark.parametrize(
    "name", [name for name in run.LAWS if name != "an_update_writes_what_came_and_nothing_else"]
)
def test_a_law_can_be_tried_on_bytes(name, outside_of_pytest):
    run.LAWS[name].hypothesis.fuzz_one_input(bytes(range(256)) * 4)


def test_files_of_json_test_suite_are_taken_and_refused_by_their_names(tmp_path):
    folder = tmp_path / "test_parsing"
    folder.mkdir()
    for name, text in {
        "y_array": "[1, 2.5]",
        "y_twice": '{"a": 1, "a": 2}',
        "n_comma": "[1,]",
        "n_text": "[\xff]",
        "i_huge": "1e9999",
        "i_half": '"\\ud800"',
    }.items():
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
    assert run.check_suite(tmp_path) == ({"y": 2, "n": 2, "i": 2}, [])
    (folder / "n_right.json").write_text("[1]")
    (folder / "y_wrong.json").write_text("[1")
    _, wrong = run.check_suite(tmp_path)
    assert [line.partition(":")[0] for line in wrong] == ["n_right.json", "y_wrong.json"]
