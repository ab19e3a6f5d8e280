"""Users see the terms of the glossary: no retired term in the docs, in help or in messages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_jsonmatch
from tests.conftest import main

PACKAGE = Path(pytest_jsonmatch.__file__).parent
ROOT = Path(__file__).parent.parent
RETIRED = {
    r"\bfigures?\b(?! \d)": "score, or statistic for a number about a run",
    r"\b(?:invented|inventions?|fabricat\w+)\b": "extra",
    r"\bomitted\b(?! by)": "missing",
    r"\bgolds\b": "gold records",
    r"\bworst\b": "lowest-scoring",
    r"\bslack\b": "margin",
    r"\bcould hide\b": "could go undetected",
    r"\bnot shown to differ\b": "no significant change",
    r"\bproven\b": "significant",
    r"\btoo few to tell\b": "not enough cases",
    r"\bwhat else is right\b": "accepted alternatives",
    r"\bwhat answers took\b": "cost and latency",
    r"\bfits no place\b": "matches nothing",
    r"\bis wanted\b": "expected X, got Y",
    r"\bis no (?:number|result|JSON|object|array|valid)\b": "is not a",
    r"\b(?:as ever|likewise|anew)\b": "standard English",
}
"""Retired terms, each with what replaces it."""
ALLOWED = {
    ("docs/contributing/changes.md", "worst"),  # the option `--keep worst` in a heading
}
"""Uses that stay, as the file and the term."""


def retired(text: str) -> list[str]:
    """Return the retired terms in a text, outside of backticks."""
    prose = re.sub(r"`[^`]*`", "", text)
    return [hit for term in RETIRED for hit in re.findall(term, prose, re.IGNORECASE)]


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of a page's lines that are not in a fenced block."""
    is_fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield number, line


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of a module's strings with a space, except for docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        is_message = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        if is_message and " " in node.value:
            yield node.lineno, node.value


NAMES = {
    r"\btwins?\b": "equal elements",
    r"\b(?:told|said|wanted)\b": "reported, printed, required",
    r"\bbeside\b": "next to",
}
"""Private words that names of tests, their arguments and variables don't use either, with those that replace them."""


def names(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the names that a module of tests defines, as words."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name:
            yield node.lineno, name.replace("_", " ")


def remarks(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module of tests."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def help_texts(capsys: pytest.CaptureFixture[str], command: str = "") -> Iterator[tuple[str, str]]:
    """Yield the commands, and what each prints with `--help`."""
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    shown = capsys.readouterr().out
    yield (
        command,
        re.sub(r"\s+", " ", re.sub(r"\{[^}]*\}", "", shown)),
    )  # without choices
    if "\n  COMMAND\n" in shown:
        for name in re.findall(r"^    (\w+) ", shown, re.MULTILINE):
            yield from help_texts(capsys, f"{command} {name}".strip())


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(PACKAGE.rglob("*.py"))


def found(path: Path, texts: Iterator[tuple[int, str]]) -> list[str]:
    # The package may be installed elsewhere.
    name = path.relative_to(PACKAGE.parent if PACKAGE in path.parents else ROOT).as_posix()
    return [
        f"{name}:{number}: {term}"
        for number, text in texts
        for term in retired(text)
        if (name, term.lower()) not in ALLOWED
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_use_no_retired_term(page: Path) -> None:
    assert found(page, paragraphs(page)) == []


def test_messages_use_no_retired_term() -> None:
    assert [line for module in MODULES for line in found(module, messages(module))] == []


def test_tests_explain_themselves_without_retired_terms() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert [line for module in tests for line in found(module, remarks(module))] == []


def test_names_of_tests_use_no_retired_term() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    assert [line for module in tests for line in found(module, names(module))] == []
    private = re.compile("|".join(NAMES), re.IGNORECASE)
    defined = [
        f"{module.name}:{number}: {name}"
        for module in tests
        for number, name in names(module)
        if name.startswith("test ") and private.search(name)
    ]
    assert defined == []


def test_help_uses_no_retired_term(capsys: pytest.CaptureFixture[str]) -> None:
    texts = dict(help_texts(capsys))
    assert {"", "evaluate", "study", "study shift"} <= texts.keys()
    assert {command: retired(text) for command, text in texts.items() if retired(text)} == {}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("unknown figure 'f2'", ["figure"]),
        ("2 Golds, the worst first", ["Golds", "worst"]),
        ("keep `worst`, see figure 2", []),
        ("3 missing, 1 extra", []),
    ],
)
def test_what_counts_as_retired(text: str, terms: list[str]) -> None:
    assert retired(text) == terms
