"""What is installed says of itself what the docs say."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest_jsonmatch

ROOT = Path(__file__).resolve().parents[1]
METADATA = importlib.metadata.metadata("pytest-jsonmatch")


def test_version_is_stated_once() -> None:
    assert METADATA["Version"] == pytest_jsonmatch.__version__


def test_plugin_is_found_by_pytest_and_the_command_by_the_shell() -> None:
    points = importlib.metadata.distribution("pytest-jsonmatch").entry_points
    assert {(point.group, point.name, point.value) for point in points} == {
        ("console_scripts", "jsonmatch", "pytest_jsonmatch.cli.main:main"),
        ("pytest11", "jsonmatch", "pytest_jsonmatch.plugin"),
    }


def test_extras() -> None:
    assert sorted(METADATA.get_all("Provides-Extra") or []) == [
        "dates",
        "deepeval",
        "dev",
        "docs",
        "embeddings",
        "html",
        "identifiers",
        "inspect",
        "judge",
        "mlflow",
        "phone",
        "pydantic-evals",
        "repair",
        "test",
    ]


def test_classifiers_name_each_supported_python() -> None:
    classifiers = METADATA.get_all("Classifier") or []
    found = [line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    assert found == ["3.10", "3.11", "3.12", "3.13"]
    assert METADATA["Requires-Python"] == f">={found[0]}"
    assert "Framework :: Pytest" in classifiers
    assert "Typing :: Typed" in classifiers


def test_supported_pythons_are_those_of_ci_and_docs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    docs = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    assert re.findall(r"^(oldest|newest)=(\S+)$", script, flags=re.MULTILINE) == [
        ("oldest", "3.10"),
        ("newest", "3.13"),
    ]
    assert "Python 3.10 to 3.13" in docs


def test_benchmarks_install_what_the_package_needs() -> None:
    needed = [line for line in METADATA.get_all("Requires-Dist") or [] if "extra ==" not in line]
    pinned = (ROOT / "benchmarks" / "requirements" / "ours.txt").read_text(encoding="utf-8").lower()
    names = [re.split(r"[<>=!~ ;]", line, maxsplit=1)[0].lower() for line in needed]
    assert [name for name in names if f"\n{name}==" not in f"\n{pinned}"] == []


def test_types_are_shipped() -> None:
    assert (Path(pytest_jsonmatch.__file__).parent / "py.typed").exists()


def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "pytest_jsonmatch/golden/golden-cases.schema.json" in names
    assert "pytest_jsonmatch/results/results.schema.json" in names
    assert {f"pytest_jsonmatch/report/page/report.{kind}" for kind in ("css", "js", "html.jinja")} <= set(
        names
    )
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"pytest_jsonmatch", f"pytest_jsonmatch-{pytest_jsonmatch.__version__}.dist-info"}


def test_changelog_fragments_are_well_named() -> None:
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {"_template.md.jinja"}
    pattern = r"(\d+|\+[\w-]+)\.(breaking|deprecation|feature|bugfix|doc)(\.\d+)?\.md"
    assert [name for name in sorted(names) if not re.fullmatch(pattern, name)] == []
