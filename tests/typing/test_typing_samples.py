"""The samples of typed user code: complete, right when run, and accepted by mypy (CI also asks pyright)."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_jsonmatch
import pytest_jsonmatch.schema
import pytest_jsonmatch.study
from pytest_jsonmatch.schema import reset_type_defaults

SAMPLES = Path(__file__).with_name("samples.py")
TREE = ast.parse(SAMPLES.read_text(encoding="utf-8"))
NAMES = [
    node.name for node in TREE.body if isinstance(node, ast.FunctionDef) and node.name.startswith("sample_")
]


@pytest.fixture(scope="module")
def samples():
    spec = importlib.util.spec_from_file_location("typing_samples", SAMPLES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_sample_does_what_it_says(samples, name):
    try:
        getattr(samples, name)()
    finally:
        reset_type_defaults()


@pytest.mark.parametrize(
    ("module", "alias"),
    [
        (pytest_jsonmatch, "pytest_jsonmatch"),
        (pytest_jsonmatch.schema, "schema"),
        (pytest_jsonmatch.study, "study"),
    ],
)
def test_samples_use_every_public_name(module, alias):
    used = {node.id for node in ast.walk(TREE) if isinstance(node, ast.Name)}
    used |= {
        node.attr
        for node in ast.walk(TREE)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == alias
    }
    assert sorted(set(module.__all__) - used) == []


def mypy(folder: Path, name: str) -> str:
    """What mypy says from outside the checkout: of the package as it is installed, and without its settings."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=/dev/null", name],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def test_samples_pass_mypy():
    assert mypy(SAMPLES.parent, SAMPLES.name) == "Success: no issues found in 1 source file\n"


def test_mypy_sees_the_types_of_lazy_names(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "from pytest_jsonmatch import compare_json, no_such_name\n"
        "from pytest_jsonmatch.schema import parse_eval_schema\n"
        "score: str = compare_json(1, 1).score\n"
        "digest: int = parse_eval_schema({}).digest\n",
        encoding="utf-8",
    )
    assert [line for line in mypy(tmp_path, "wrong.py").splitlines() if "error:" in line] == [
        'wrong.py:1: error: Module "pytest_jsonmatch" has no attribute "no_such_name"  [attr-defined]',
        'wrong.py:3: error: Incompatible types in assignment (expression has type "float | Any", variable has type "str")  [assignment]',
        'wrong.py:4: error: Incompatible types in assignment (expression has type "str", variable has type "int")  [assignment]',
    ]
