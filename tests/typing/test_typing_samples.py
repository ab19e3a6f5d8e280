"""The samples of typed user code: complete, and right when run. (CI asks mypy and pyright about them.)"""

from __future__ import annotations

import ast
import importlib.util
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
