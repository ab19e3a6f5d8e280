"""The arrows of the design, held to the code: who imports whom, and what is imported only when needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import pytest_jsonmatch

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(pytest_jsonmatch.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

HEAVY = {
    "numpy",
    "scipy",
    "rapidfuzz",
    "regex",
    "yaml",
    "json_repair",
    "jsonschema_rs",
    "openai",
    "pydantic",
}
# Modules that are themselves imported inside functions only (the second test below holds them to it), so that
# they may import what they like.
LATE = {
    "engine/align/large.py",
    "engine/align/membership.py",
    "engine/align/related.py",
    "engine/comparators/scoretables.py",
    "study/agreement.py",
    "study/calibration.py",
    "study/confidence.py",
}


def imported_on_import(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported: not in functions, not for type checkers only."""
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            waiting.extend(node.orelse)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        waiting.extend(ast.iter_child_nodes(node))
    return found


def roots(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]} if node.level == 0 else set()
    return {alias.name.partition(".")[0] for alias in node.names}


def modules_named(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {alias.name for alias in node.names}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_heavy_packages_are_imported_where_used(source: Path) -> None:
    if source.relative_to(PACKAGE).as_posix() in LATE:
        return
    tree = ast.parse(source.read_text(encoding="utf-8"))
    eager = {
        f"line {node.lineno}: {root}" for node in imported_on_import(tree) for root in roots(node) & HEAVY
    }
    assert eager == set()


def test_late_modules_are_imported_late() -> None:
    late = {"pytest_jsonmatch." + name.removesuffix(".py").replace("/", ".") for name in LATE}
    eager = {
        name
        for source in SOURCES
        if source.relative_to(PACKAGE).as_posix() not in LATE
        for node in imported_on_import(ast.parse(source.read_text(encoding="utf-8")))
        for name in modules_named(node) & late
    }
    assert eager == set()


def test_the_check_above_sees_an_eager_import() -> None:
    tree = ast.parse(
        "try:\n    import numpy.linalg\nexcept ImportError:\n    pass\ndef f():\n    import scipy\n"
    )
    assert [roots(node) for node in imported_on_import(tree)] == [{"numpy"}]


def test_import_contracts() -> None:
    # In a process of its own: Import Linter reads its configuration from the working directory.
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr


# They resolve public names lazily: everything they name imports them by importing anything at all.
LAZY = {"pytest_jsonmatch", "pytest_jsonmatch.schema", "pytest_jsonmatch.study"}


def test_there_is_no_import_circle_not_even_of_types() -> None:
    names = {
        source: ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for source in SOURCES
    }
    graph = {}
    for source, name in names.items():
        statements = ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        imports = [each for each in statements if isinstance(each, (ast.Import, ast.ImportFrom))]
        found = {module for each in imports for module in modules_named(each)} & set(names.values())
        graph[name] = set() if name in LAZY else found - LAZY - {name}
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)  # raises CycleError for a circle


def test_only_one_private_name_of_pytest_is_used() -> None:
    private = {
        "_fixtureinfo",
        "_request",
        "_pyfuncitem",
        "_fixturemanager",
        "_initrequest",
        "_genfunctions",
    }
    used = {
        f"{source.relative_to(PACKAGE)}: {ast.unparse(node)}"
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in private and ast.unparse(node.value) != "self")
        or (isinstance(node, ast.Constant) and node.value in private)
    }
    assign = [
        source
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "fixturenames" and isinstance(node.ctx, ast.Store)
    ]
    assert (used, assign) == (set(), [])


def test_nothing_that_holds_for_the_whole_process_is_changed() -> None:
    calls = {
        f"{source.relative_to(PACKAGE)}: {ast.unparse(node.func)}"
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"os.umask", "gc.freeze", "os.chdir"}
    }
    assert calls == set()


def modules_after(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nprint(*sorted(sys.modules))"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    return set(printed.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = modules_after("import pytest_jsonmatch")
    assert loaded & (HEAVY | {"pytest", "_pytest", "pytest_jsonmatch.engine"}) == set()


def test_the_engine_works_without_pytest_and_yaml() -> None:
    statement = "import pytest_jsonmatch\npytest_jsonmatch.compare_json({'a': 1}, {'a': 1})"
    assert modules_after(statement) & (HEAVY | {"pytest", "_pytest"}) == set()


def test_every_public_name_can_be_had() -> None:
    assert [name for name in pytest_jsonmatch.__all__ if not hasattr(pytest_jsonmatch, name)] == []
    assert set(pytest_jsonmatch.__all__) <= set(dir(pytest_jsonmatch))


def test_one_class_makes_aggregates_and_no_run_has_a_kind() -> None:
    made, branches = set(), []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {
                "FieldAggregation",
                "FieldAggregation.from_list",
            }:
                made.add(name)
        branches += [name for word in ("is_of_records", "totals is None") if word in text]
    assert made == {"engine/result/aggregation.py"}
    assert branches == []


def test_defaults_of_dataclasses_are_allowed_by_every_version_of_python() -> None:
    """Python 3.11 refuses a default without a hash, such as a mapping that is read only; newer ones hash it."""
    refused = [
        f"{source.name}:{field.lineno}"
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and field.value is not None
        if ast.unparse(field.value).startswith("MappingProxyType")
    ]
    assert refused == []


MOST_INSIDE: Final = 45
"""So many files of tests, and no more, may import modules two levels deep in the package."""


def test_few_tests_import_the_insides_of_rooms() -> None:
    """The others use public names, `tests.conftest`, runs of pytest and the command: moving a module leaves them alone."""
    deep = re.compile(r"(?:from|import) pytest_jsonmatch\.\w+\.\w+")
    files = sorted((ROOT / "tests").rglob("*.py"))
    inside = [
        path.relative_to(ROOT).as_posix() for path in files if deep.search(path.read_text(encoding="utf-8"))
    ]
    assert len(inside) <= MOST_INSIDE, inside
