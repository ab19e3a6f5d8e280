"""What is installed says of itself what the docs say."""

from __future__ import annotations

import email
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import pytest_jsonmatch

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = "https://git.example.org/team/pytest-jsonmatch"
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
    assert "| Python | 3.10 to 3.13 |" in docs


def test_benchmarks_install_what_the_package_needs() -> None:
    needed = [line for line in METADATA.get_all("Requires-Dist") or [] if "extra ==" not in line]
    pinned = (ROOT / "benchmarks" / "requirements" / "ours.txt").read_text(encoding="utf-8").lower()
    names = [re.split(r"[<>=!~ ;]", line, maxsplit=1)[0].lower() for line in needed]
    assert [name for name in names if f"\n{name}==" not in f"\n{pinned}"] == []


def test_types_are_shipped() -> None:
    assert (Path(pytest_jsonmatch.__file__).parent / "py.typed").exists()


def build(folder: Path, target: str, out: Path) -> tuple[Path, str]:
    """Build a wheel or a source archive; return it, and what was warned of."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    (archive,) = out.iterdir()
    return archive, done.stderr


@pytest.fixture(scope="module")
def unaddressed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The wheel of this folder, in which no address is set."""
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel as it is released, with the project's address."""
    folder = tmp_path_factory.mktemp("addressed")
    for name in ("README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, folder)
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pyproject = re.sub(r'^address = ".*"', f'address = "{ADDRESS}/"', pyproject, flags=re.MULTILINE)
    (folder / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pytest_jsonmatch", folder / "pytest_jsonmatch", ignore=skip)
    wheel, warned = build(folder, "wheel", folder / "dist")
    assert "UserWarning" not in warned
    return wheel


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def links(markdown: str) -> list[str]:
    return re.findall(r"]\(([^)\s]+)", markdown)


def test_wheel_holds_the_package_and_nothing_else(unaddressed: tuple[Path, str]) -> None:
    names = zipfile.ZipFile(unaddressed[0]).namelist()
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pytest_jsonmatch").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == there
    about = f"pytest_jsonmatch-{pytest_jsonmatch.__version__}.dist-info"
    files = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    assert {name for name in names if ".dist-info/" in name} == {f"{about}/{name}" for name in files}


def test_links_of_a_readme_without_an_address_stay_and_the_build_warns(unaddressed: tuple[Path, str]) -> None:
    wheel, warned = unaddressed
    assert "address is empty, so links of the README work only in the repository" in warned
    metadata = metadata_of(wheel)
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()
    assert metadata["Project-URL"] is None


def test_links_of_a_readme_with_an_address_are_absolute(addressed: Path) -> None:
    metadata = metadata_of(addressed)
    text = metadata.get_payload(decode=True).decode()
    assert [link for link in links(text) if not link.startswith(("https://", "#"))] == []
    version = f"v{pytest_jsonmatch.__version__}"
    assert f"{ADDRESS}/blob/{version}/docs/rules.md" in links(text)
    assert f"![A failure]({ADDRESS}/raw/{version}/docs/images/failure.svg)" in text
    assert metadata.get_all("Project-URL") == [
        f"Homepage, {ADDRESS}",
        f"Documentation, {ADDRESS}/blob/{version}/docs/index.md",
        f"Changelog, {ADDRESS}/blob/{version}/CHANGELOG.md",
        f"Issues, {ADDRESS}/issues",
    ]


def test_indexes_accept_and_show_the_wheel(addressed: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    command = [sys.executable, "-m", "twine", "check", "--strict", str(addressed)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a clone knows which files there are")
def test_source_archive_holds_all_that_its_tests_need(tmp_path: Path) -> None:
    archive, _ = build(ROOT, "sdist", tmp_path)
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    there = {name for name in listed.stdout.splitlines() if not name.startswith(".github/")}
    assert names == there | {"PKG-INFO"}
