"""One name, one meaning: no two classes of the package, or type aliases of different meaning, share a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest_jsonmatch

PACKAGE = Path(pytest_jsonmatch.__file__).parent


def named(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the classes and type aliases of a module, each with its meaning: its place, or what it stands for."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            yield node.name, f"{path.relative_to(PACKAGE)}:{node.lineno}"
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            assert node.value is not None
            yield ast.unparse(node.target), ast.unparse(node.value).strip("'\"")


def meanings() -> dict[str, set[str]]:
    found = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for name, meaning in named(path):
            found[name].add(meaning)
    return found


def test_a_class_name_has_one_meaning() -> None:
    found = meanings()
    assert {"MatchResult", "Segment", "JsonValue"} <= found.keys()
    assert {name: sorted(places) for name, places in found.items() if len(places) > 1} == {}
