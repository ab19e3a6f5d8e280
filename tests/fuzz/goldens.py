"""Golden files: the loader answers every file with its cases, or with an error that says where."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from edits import Scribe, chances
from hypothesis import strategies as st
from laws import law, parser_of_yaml
from test_golden_editor import good_files, with_a_change

from pytest_jsonmatch import JsonMatchError
from pytest_jsonmatch.comparing.comparer import Comparer
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.reading.errors import GoldenFileError
from pytest_jsonmatch.reading.yamlevents import load
from pytest_jsonmatch.support.defaults import METRIC
from tests.conftest import load_cases

# Pieces of golden files, in any order.
PIECES = [
    *("cases:\n", "- id: a\n", "- ", "  ", "\n", "\r\n", "\t", "expected: ", "actual: ", "parametrize: ", "${a}"),
    *("&a ", "*a", "<<: ", "!!str ", "? ", ": ", "|\n", ">2-\n", "'", '"', "{", "}", "[", "]", ", ", "#", "@"),
    *("---\n", "...\n", "%YAML 1.2\n", "%TAG ! x\n", "\ufeff", "\0", "\x85", "\u2028", "\ud800", '"\\ud83d"', "\\"),
    *("1e999", "0x1F", "2024-01-31", "~", "NO", "-0", "[" * 140, "]" * 140, "- " * 1_200, "1" * 5_000, "{a: " * 40),
]  # fmt: skip
texts = (st.text() | st.lists(st.sampled_from(PIECES)).map("".join)).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
READ = (
    *("title", "metric", "threshold", "options", "schema", "producer", "marks", "params"),
    *("input", "actual", "expected", "expected_file", "has_expected", "min_pass_rate", "base_id"),
)


@st.composite
def damaged_files(draw):
    """A golden file that is valid, or has one thing wrong, with some of its characters lost or exchanged."""
    document = draw(good_files())
    if draw(st.booleans()):
        document = with_a_change(document, draw)
    scribe = Scribe(draw(chances))
    scribe.block(document if type(document) in {dict, list} else [document], 0)
    text = "\n".join(scribe.lines) + "\n"
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 5))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text.encode("utf-8", "surrogatepass")


@law(st.binary() | texts | damaged_files() | damaged_files(), st.booleans(), examples=100)
def any_file_gives_cases_or_an_error_with_a_place(data, pure):
    with parser_of_yaml(pure=pure):
        loaded = attempt(lambda: load_cases(data, Path("nowhere/x.golden.yaml"), "x.golden.yaml"))
    if isinstance(loaded, JsonMatchError):
        assert type(loaded) is GoldenFileError
        assert 1 <= loaded.line <= len(data.decode("utf-8", "replace").splitlines()) + 1
        assert loaded.column >= 1
        return
    for case in list(loaded.by_id.values())[:5]:
        for name in READ:
            attempt(lambda case=case, name=name: getattr(case, name))
        attempt(lambda case=case: scored(case))


def scored(case):
    return Comparer.of(case.metric or METRIC, case.options).compare(case.actual, case.expected).to_dict()


def attempt(act):
    """What an act gives, or the documented error that it ends in."""
    try:
        return act()
    except JsonMatchError as error:
        return error


@law(texts | damaged_files())
def the_two_parsers_of_yaml_never_read_two_values(data):
    found = []
    for pure in (False, True):
        # (PyYAML's own parser refuses more, such as a tab after a colon.)
        with parser_of_yaml(pure=pure), suppress(GoldenFileError):
            found.append(load(data, "x.yaml").value)
    assert all(json_equal(found[0], other, strict=True) for other in found), found
