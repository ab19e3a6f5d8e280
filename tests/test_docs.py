"""Every example in README.md, docs/ and the docstrings runs, and prints what the text says it prints.

How a fenced block is run depends on its language; docs/contributing/testing.md ("Examples") says how to write one.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import doctest
import functools
import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
import yaml

import pytest_jsonmatch
import pytest_jsonmatch.schema
import pytest_jsonmatch.study
from tests import forked
from tests.conftest import session_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FULL = bool(os.environ.get("FULL"))
ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "example_suite" / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^`\s]*)\s*$")
HEADING = re.compile(r"^#{1,6} +(?P<title>.+)$")
DIRECTIVE = re.compile(r"^<!-- (?P<key>continues|outcome|copy)(?:: (?P<value>.+?))? -->$")
FILE_NAME = re.compile(r"^`([^`\s]+)`$")
RunPytest: TypeAlias = "Callable[..., pytest.RunResult]"
# The name that a block gets where the line above names none.
DEFAULT_FILES = {"yaml": "cases.golden.yaml", "ini": "pytest.ini", "toml": "pyproject.toml", "json": None}
NOT_RUN = {"text", "sh", "bash", "diff", "markdown", "{eval-rst}", "{toctree}"}
TIME = re.compile(r"\b\d+\.\d\ds\b(?: \(\d+:\d\d:\d\d\))?")  # pytest adds "(0:01:02)" from a minute on
# pytest stretches its rulers to 80 columns: their length depends on how many digits a time has.
RULER = re.compile(r"([=_-])\1{2,}")


@dataclass(frozen=True)
class Block:
    document: Path
    line: int
    language: str
    text: str
    directives: dict[str, str]

    @property
    def where(self) -> str:
        return f"{self.document.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def file(self) -> str | None:
        """The project file that this block is, or None if it is none."""
        if "file" in self.directives:
            return self.directives["file"]
        if self.language == "python":
            if ">>>" in self.text:
                return None
            if re.search(r"^( *async)? *def test_|^class Test", self.text, re.MULTILINE):
                return "test_example.py"
            if re.search(r"^@pytest\.(fixture|hookimpl)|^def pytest_", self.text, re.MULTILINE):
                return "conftest.py"
            return None
        return DEFAULT_FILES.get(self.language)

    @property
    def is_patch(self) -> bool:
        """Whether it changes a file of the package, for the examples of its section."""
        return self.language == "diff" and "file" in self.directives

    @property
    def of_ci(self) -> bool:
        return self.language == "yaml" and (self.file or "").startswith(".")


@dataclass(frozen=True)
class Section:
    """The blocks below one heading: together they are one small project."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    earlier_files: list[Block] = field(default_factory=list)
    """The files of the sections that this one continues, oldest first."""

    @property
    def files(self) -> list[Block]:
        return [block for block in self.blocks if block.file is not None and not block.is_patch]

    @property
    def patches(self) -> list[Block]:
        return [block for block in self.blocks if block.is_patch]

    @property
    def project_files(self) -> list[Block]:
        return [block for block in self.files if not block.of_ci]

    @property
    def has_tests(self) -> bool:
        names = [block.file or "" for block in self.files]
        return any(re.search(r"(^|/)test_.*\.py$|\.golden\.ya?ml$", name) for name in names)

    @property
    def commands(self) -> list[Block]:
        return [block for block in self.blocks if block.language == "console"]


def read_sections(document: Path) -> list[Section]:
    sections = [Section(document.stem)]
    directives: dict[str, str] = {}
    lines = iter(enumerate(document.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if found := DIRECTIVE.match(line):
            directives[found["key"]] = found["value"] or ""
        elif found := FILE_NAME.match(line):
            directives["file"] = found[1]
        elif found := HEADING.match(line):
            sections.append(Section(found["title"]))
        elif found := FENCE.match(line):
            body = []
            for _, inner in lines:
                if inner.strip() == found["ticks"]:
                    break
                body.append(inner.removeprefix(found["indent"]))
            text = "".join(f"{part}\n" for part in body)
            sections[-1].blocks.append(Block(document, number, found["language"], text, directives))
            directives = {}
        elif line.strip():
            directives = {}
    sections = [section for section in sections if section.blocks]
    for before, section in pairwise(sections):
        first = section.blocks[0]
        if "continues" in first.directives and first not in snippets_of(section):
            section.earlier_files.extend([*before.earlier_files, *before.files])
    return sections


def snippets_of(section: Section) -> list[Block]:
    return [block for block in section.blocks if block.language == "python" and block.file is None]


ALL_SECTIONS = [section for document in DOCUMENTS if document.exists() for section in read_sections(document)]
ALL_BLOCKS = [block for section in ALL_SECTIONS for block in section.blocks]
SNIPPETS = [block for section in ALL_SECTIONS for block in snippets_of(section)]
# (The files of a CI service are no project of pytest.)
PROJECTS = [section for section in ALL_SECTIONS if section.project_files or section.commands]


def test_every_block_is_of_a_known_kind() -> None:
    known = {"python", "console", *DEFAULT_FILES, *NOT_RUN}
    assert [f"{block.where}: {block.language!r}" for block in ALL_BLOCKS if block.language not in known] == []


def with_earlier_blocks(block: Block) -> str:
    """A block that continues earlier ones, with their code before it, at its own line number."""
    parts = [block]
    if "continues" in block.directives:
        of_document = [
            other for other in SNIPPETS if other.document == block.document and other.line < block.line
        ]
        for other in reversed(of_document):
            parts.insert(0, other)
            if "continues" not in other.directives:
                break
    source = ""
    for part in parts:
        source += "\n" * (part.line - source.count("\n")) + part.text
    return source


@contextmanager
def registries_restored() -> Iterator[None]:
    """Take back what an example registers for the whole process."""
    program = pytest_jsonmatch.register_comparator.__self__
    tables = [names.maps[0] for names in program._names.values()]
    before = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, content in zip(tables, before, strict=True):
            table.clear()
            table.update(content)
        with session_registry():  # compiled rules are compiled again
            pass


@pytest.mark.parametrize("block", SNIPPETS, ids=lambda block: block.where)
def test_snippet(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = with_earlier_blocks(block)
    if ">>>" in source:
        run_doctest(doctest.DocTestParser().get_doctest(source, {}, block.where, str(block.document), 0))
    else:
        with registries_restored():
            exec(compile(source, str(block.document), "exec"), {"__name__": "__example__"})


@pytest.mark.parametrize(
    "section", PROJECTS, ids=lambda section: f"{section.blocks[0].where} {section.title}"
)
def test_project(
    section: Section,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if needs_newer_pytest(section):
        pytest.skip("pytest reads native TOML configuration from version 9 on")
    for name in ("distributed", "fastapi"):
        # (An import here would be undone after the test, but not what it registers for pickling.)
        is_used = any(f"from {name} import" in block.text for block in section.files)
        if is_used and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    for name, value in {"COLUMNS": "80", "LINES": "24", "PYTHONUTF8": "1", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("FORCE_COLOR", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    run = pytester.runpytest_inprocess
    if section.patches:
        monkeypatch.setenv("PYTHONPATH", str(patched_package(section, tmp_path_factory.mktemp("patched"))))
        # (This process has the package as it is.)
        run = functools.partial(pytester.run, sys.executable, "-m", "pytest")
    ran = True
    for block in section.earlier_files:
        write_file(block, pytester.path)
    for block in section.blocks:
        if "copy" in block.directives:
            shutil.copytree(ROOT / block.directives["copy"], pytester.path, dirs_exist_ok=True)
        if block.language == "console":
            ran |= check_console(block, pytester, run)
        elif block in section.files:
            write_file(block, pytester.path)
            ran = False
    if not ran:
        run_silently(section, run)


def patched_package(section: Section, folder: Path) -> Path:
    """A copy of the package with the changes that a section shows."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(pytest_jsonmatch.__file__).parent, folder / "pytest_jsonmatch", ignore=skip)
    for block in section.patches:
        target = folder / "pytest_jsonmatch" / block.directives["file"]
        text = "\n" + target.read_text(encoding="utf-8")
        for hunk in block.text.split("@@\n")[1:]:
            lines = hunk.splitlines(keepends=True)
            old = "\n" + "".join(line[1:] for line in lines if line[0] in " -")
            new = "\n" + "".join(line[1:] for line in lines if line[0] in " +")
            assert text.count(old) == 1, f"{block.where}: this should be in {target.name} once:{old}"
            text = text.replace(old, new)
        target.write_text(text[1:], encoding="utf-8")
    return folder


def test_a_package_with_all_changes_passes_the_checks(tmp_path: Path) -> None:
    """Apply what the page on changes shows to one copy, and let the linters, the types and the laws look at it."""
    sections = [
        section for section in read_sections(ROOT / "docs" / "contributing" / "changes.md") if section.patches
    ]
    for name in ("pyproject.toml", "tests"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    patched_package(Section("all", [block for section in sections for block in section.patches]), tmp_path)
    laws = "tests/engine/test_comparators_laws.py"
    for command in (
        ["ruff", "check", "--no-cache", "pytest_jsonmatch"],
        ["ruff", "format", "--no-cache", "--diff", "pytest_jsonmatch"],
        # (Three quarters of a minute.)
        *([["mypy", "--no-incremental", "--cache-dir=/dev/null", "pytest_jsonmatch"]] if FULL else []),
        ["pytest", "-q", "-p", "no:cacheprovider", laws, "-k", "same_start"],
    ):
        pytest.importorskip(command[0])
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": ""}
        run = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{command}: {run.stdout}{run.stderr}"


def test_what_a_change_costs() -> None:
    page = ROOT / "docs" / "contributing" / "changes.md"
    stated = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    counted = []
    for section in read_sections(page):
        files = {block.directives["file"] for block in section.patches}
        lines = [line for block in section.patches for line in block.text.splitlines() if line[0] in "+-"]
        counted.append((section.title[0].lower() + section.title[1:], str(len(files)), str(len(lines))))
        assert len(files) <= 3
    assert stated == counted


def write_file(block: Block, folder: Path) -> None:
    target = folder / block.file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.text, encoding="utf-8")


def needs_newer_pytest(section: Section) -> bool:
    native = any(block.file == "pytest.toml" or "[tool.pytest]" in block.text for block in section.files)
    return native and pytest.version_tuple < (9,)


def run_silently(section: Section, run: RunPytest) -> None:
    """Run a project of which the text shows no output: all pass, or what its `outcome` says."""
    if not section.has_tests:  # its options and hooks are known, and what it collects, if anything, passes
        outcome = run("--strict-config", "-p", "no:cacheprovider")
        assert outcome.ret in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        return
    required = {"passed": None}
    for block in section.blocks:
        if "outcome" in block.directives:
            pairs = (pair.split("=") for pair in block.directives["outcome"].split())
            required = {name: int(count) for name, count in pairs}
    result = run("--strict-config", "-p", "no:cacheprovider")
    outcomes = result.parseoutcomes()
    if required == {"passed": None}:
        assert set(outcomes) == {"passed"}, "\n".join(result.outlines + result.errlines)
    else:
        assert outcomes == required


def check_console(block: Block, pytester: pytest.Pytester, run: RunPytest) -> bool:
    """Run each `$ …` line of a block and compare what it prints with the lines below it; tell if pytest ran."""
    ran = False
    shown: list[str] = []
    printed: list[str] = []
    for chunk in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = chunk.partition("\n")
        program, *arguments = shlex.split(command)
        assert program in {"pytest", "jsonmatch", "python"}, f"{block.where}: {program!r} can't be run here"
        shown += [f"$ {command}", *output.strip("\n").splitlines()]
        if program == "pytest":
            ran = True
            result = run("-p", "no:cacheprovider", *arguments)
            printed += [f"$ {command}", *without_header(result.outlines)]
        else:
            start = forked.JSONMATCH if program == "jsonmatch" else ()
            result = pytester.run(sys.executable, *start, *arguments)
            printed += [f"$ {command}", *result.outlines, *result.errlines]
    if matches(normalise(shown), normalise(printed)):
        return ran
    if os.environ.get("UPDATE_DOCS") and "..." not in shown:
        text = block.document.read_text(encoding="utf-8")
        replaced = text.replace(
            f"```console\n{block.text}```",
            "\n".join(["```console", *(TIME.sub("0.12s", line) for line in printed), "```"]),
            1,
        )
        block.document.write_text(replaced, encoding="utf-8")
        return ran
    return pytest.fail(
        "\n".join([block.where, *difflib.ndiff(normalise(shown), normalise(printed))]), pytrace=False
    )


def without_header(lines: list[str]) -> list[str]:
    """Drop what differs by machine (versions, plugins, the root folder), and blank lines at either end."""
    for index, line in enumerate(lines):
        if re.match(r"collected \d+ items?|collecting \.\.\.", line):
            lines = lines[index + 1 :]
            break
    return "\n".join(line.rstrip() for line in lines).strip("\n").splitlines()


def normalise(lines: list[str]) -> list[str]:
    """Times and the length of rulers are not part of an example."""
    return [RULER.sub(r"\1\1\1", TIME.sub("0.01s", line)) for line in lines]


def matches(shown: list[str], printed: list[str]) -> bool:
    """Equal line by line, where a shown line "..." stands for any number of lines."""
    pattern = "".join(r"(.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_json_blocks_are_json_and_files_of_ci_are_yaml() -> None:
    for block in ALL_BLOCKS:
        if block.language == "json":
            json.loads(block.text)
        elif block.of_ci:
            assert isinstance(yaml.safe_load(block.text), dict)


@pytest.mark.parametrize(
    "document",
    [
        path
        for path in (*DOCUMENTS, ROOT / "SECURITY.md", *sorted((ROOT / "benchmarks").glob("*.md")))
        if path.exists()
    ],
    ids=lambda path: path.name,
)
def test_links_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)(?:#([^)]+))?\)", prose)
    broken = [
        f"{target}#{anchor}" if anchor else target
        for target, anchor in links
        if not (document.parent / target).exists()
        or (anchor and anchor not in anchors(document.parent / target))
    ]
    assert broken == []


def anchors(document: Path) -> set[str]:
    titles = re.findall(r"^#{1,6} +(.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {slug(title) for title in titles}


def slug(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    "page",
    [
        "AGENTS.md",
        "CONTRIBUTING.md",
        *(f"docs/contributing/{name}.md" for name in ("changes", "testing", "tour")),
    ],
)
def test_pages_for_contributors_name_files_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text)) - {"test_example.py"}  # a name inside an example
    there = [
        path.as_posix()
        for name in ("pytest_jsonmatch", "tests", "benchmarks")
        for path in (ROOT / name).rglob("*.py")
    ]
    assert [name for name in sorted(named) if not any(f"/{name}" in path for path in there)] == []


def test_agents_names_every_folder_of_the_package() -> None:
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "pytest_jsonmatch").glob("*/__init__.py")}
    assert [room for room in sorted(rooms) if not re.search(rf"`(pytest_jsonmatch/)?{room}`", text)] == []


TOUR = ROOT / "docs" / "contributing" / "tour.md"


def definitions(source: Path) -> set[str]:
    """The classes and functions of a module by qualified name; those inside functions have that of the function."""
    found = set()

    def visit(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{above}{child.name}."
                found.add(name.removesuffix("."))
            visit(child, name)

    visit(ast.parse(source.read_text(encoding="utf-8")), "")
    return found


def test_the_tour_names_functions_and_classes_that_exist() -> None:
    package = Path(pytest_jsonmatch.__file__).parent
    prose = re.sub(r"^```.*?^```$", "", TOUR.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    steps = re.findall(r"`([\w/]+\.py):\s+([\w.]+)`", prose)
    assert len(steps) > 30
    assert [
        f"{file}: {name}"
        for file, name in steps
        if not (package / file).is_file() or name not in definitions(package / file)
    ] == []
    known = {*dir(builtins), *(name for source in package.rglob("*.py") for name in definitions(source))}
    named = set(re.findall(r"`(_\w+|[A-Z]\w*[a-z]\w*)`", prose))
    assert named - known == set()


def test_the_rooms_of_the_tour_are_those_of_the_contract() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition('id = "layers"')[2]
    layers = re.findall(r'^    "(.+)",$', contract.partition("layers = [")[2].partition("]")[0], re.MULTILINE)
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", TOUR.read_text(encoding="utf-8"), re.MULTILINE)
    message: dict[int, set[str]] = {}
    for level, rooms in rows:
        message.setdefault(int(level), set()).update(re.findall(r"`(\w+)(?:/|\.py)`", rooms))
    assert message == {level: set(rooms.split(" | ")) for level, rooms in enumerate(layers, start=1)}


def test_the_tour_is_short() -> None:
    assert len(TOUR.read_text(encoding="utf-8").split()) <= 1_500


def test_contributing_is_short() -> None:
    assert (ROOT / "CONTRIBUTING.md").stat().st_size <= 8_000


def test_examples_import_public_names_only() -> None:
    private = [
        f"{block.where}: {line}"
        for block in ALL_BLOCKS
        if block.document != TOUR and not block.is_patch  # they show how the package works inside
        for line in block.text.splitlines()
        if re.search(r"\b(?:from|import) pytest_jsonmatch\.(?!(?:schema|study|adapters\.\w+)(?: |$))", line)
    ]
    assert private == []


def test_readme_has_exactly_two_commands() -> None:
    commands = [
        line
        for block in ALL_BLOCKS
        if block.document.name == "README.md" and block.document.parent == ROOT and block.language == "sh"
        for line in block.text.splitlines()
    ]
    assert len(commands) == 2
    assert commands[0].startswith("pip install ")
    assert "example_suite" in commands[0]
    assert commands[1].startswith("pip install ")


def test_kinds_of_the_landing_page() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    cell = r" \| `([^`]*)`"
    rows = re.findall(rf"^\| ([\w ,]+){cell}{cell} \| `?([^`]*)`? ?\|$", page, re.MULTILINE)
    assert len(rows) == 10
    for kind, *sides, option in rows:
        expected, actual = map(json.loads, sides)
        assert list(pytest_jsonmatch.compare_json({"x": actual}, {"x": expected}).kinds) == [kind]
        result = eval(
            f"compare({{'x': actual}}, {{'x': expected}}, {option})",
            {"compare": pytest_jsonmatch.compare_json, "actual": actual, "expected": expected},
        )
        assert (result.score > 0) == bool(option), kind


# What newcomers ask first, and the section that answers it.
QUESTIONS = {
    "ignore order": "rules.md#ignore-the-order-of-lists",
    "ignore a field": "rules.md#ignore-a-field",
    "tolerance on one number": "rules.md#allow-a-tolerance-for-a-number",
    "dates in different formats": "rules.md#compare-dates-amounts-and-other-values-in-any-form",
    "several accepted answers": "rules.md#accept-several-answers",
    "volatile fields everywhere": "api-responses.md#ignore-ids-and-times",
    "only a subset": "api-responses.md#check-only-a-part-of-a-response",
    "extra keys fail": "rules.md#ignore-keys-that-only-the-answer-has",
    "see the difference": "golden-files.md#read-a-failure",
    "update expected values": "updates.md#update-cases-that-fail",
    "test a FastAPI endpoint": "api-responses.md#test-a-fastapi-endpoint",
    "call OpenAI concurrently and record": "answers.md#call-openais-models-concurrently-and-record-the-answers",
    "gate on F1 and on no regression": "ci.md#require-a-minimum-f1-and-no-regression",
    "compare two models": "prompts.md#compare-two-prompts-in-one-run",
    "pydantic models as expected": "schemas.md#compare-an-answer-with-a-pydantic-model",
    "pydantic models as schema": "schemas.md#put-rules-into-a-model",
    "a judge with a local model": "judge.md#ask-a-language-model",
    "nested lists matched by id": "api-responses.md#match-nested-lists-by-id",
    "partial credit for strings": "rules.md#give-partial-credit-for-similar-texts",
    "what a score means": "concepts.md#a-score-step-by-step",
    "use without pytest": "without-pytest.md#score-a-data-set-in-python",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_example_answers_a_question_within_two_clicks(question: str) -> None:
    page, _, anchor = QUESTIONS[question].partition("#")
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"]({page})" in index  # one click to the page, one to the section
    (section,) = (
        section
        for section in ALL_SECTIONS
        if section.blocks[0].document == ROOT / "docs" / page and slug(section.title) == anchor
    )
    assert [block for block in section.blocks if block.language not in NOT_RUN] != []


def test_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    assert len(re.findall(r"^\| .*docs/\w", text, re.MULTILINE)) == 8


# Docstrings


def modules() -> list[str]:
    walked = pkgutil.walk_packages(pytest_jsonmatch.__path__, prefix="pytest_jsonmatch.")
    names = ["pytest_jsonmatch", *sorted(module.name for module in walked)]
    # Scorers inside other frameworks import these, which are not always here.
    return [name for name in names if not name.startswith("pytest_jsonmatch.adapters.")]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if example.examples:
            run_doctest(example)


def run_doctest(example: doctest.DocTest) -> None:
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with registries_restored():
        runner.run(example, out=printed.append)
    assert runner.failures == 0, "".join(printed)


def public_names() -> list[str]:
    """Functions and classes at the top; an error class is explained by its sentence."""
    return [
        name
        for name in pytest_jsonmatch.__all__
        if callable(value := getattr(pytest_jsonmatch, name))
        and not (inspect.isclass(value) and issubclass(value, Exception))
    ]


def test_every_public_name_has_one_entry_in_the_reference() -> None:
    entries = [
        name
        for page in (ROOT / "docs" / "api").glob("*.md")
        for name in re.findall(r"^\.\. auto\w+:: (\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    names = {*pytest_jsonmatch.__all__, *pytest_jsonmatch.schema.__all__, *pytest_jsonmatch.study.__all__}
    assert sorted(entries) == sorted(names - {"__version__"})


@pytest.mark.parametrize("name", public_names())
def test_public_docstring_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(pytest_jsonmatch, name)) or "")
