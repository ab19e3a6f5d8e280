"""The parts of a run with the values of a tag or of a parametrized fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.results.comparison import collect_tags, iter_comparisons
from pytest_jsonmatch.results.tags import value_text
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.results.run import RunResult


def split_by_tag(results: RunResult, name: str) -> Iterator[tuple[str, RunResult]]:
    """Yield the values of a tag, sorted, each with the part of the run that has it."""
    for tag in results.tags:
        tag_name, _, value = tag.partition("=")
        if tag_name == name:
            yield value, results.tagged(tag)


def find_variants(results: RunResult) -> dict[str, list[str]]:
    """Return the values of each parametrized fixture that has several; each value is also a tag."""
    values: dict[str, set[str]] = {}
    for case in results.cases:
        for name in {name for comparison in iter_comparisons([case]) for name in comparison.params}:
            values.setdefault(name, set()).add(value_text(case.tags.get(name)))
    return {name: sorted(texts) for name, texts in values.items() if len(texts) > 1}


def select_variant(results: RunResult, name: str, value: str) -> RunResult:
    """Return the part of a run with a value of a parametrized fixture, whose case ids omit the value."""
    part = results.tagged(f"{name}={value}")
    return part.with_cases(replace(case, id=_remove_label(case.id, value)) for case in part.cases)


def _remove_label(nodeid: str, label: str) -> str:
    """Return a node id without the label of one parameter.

    >>> [_remove_label(nodeid, "v1") for nodeid in ("a.yaml::b[v1]", "t.py::t[small-v1-x]", "t.py::t[y]")]
    ['a.yaml::b', 't.py::t[small-x]', 't.py::t[y]']
    """
    stem, bracket, labels = nodeid.rstrip("]").partition("[")
    rest = f"-{labels}-".replace(f"-{label}-", "-", 1).strip("-")
    return f"{stem}[{rest}]" if bracket and rest else stem


def without_tag(results: RunResult, name: str) -> int:
    """Return the number of cases or records that have no tag with this name."""
    if results.is_partial:
        return results.total_records - sum(part.total_records for _, part in split_by_tag(results, name))
    return sum(all(tag.partition("=")[0] != name for tag in collect_tags(case)) for case in results.cases)


def describe_missing_tag(tag: str, results: RunResult) -> str:
    """Return a message that no case has a tag, with the known tags as a hint."""
    known = results.tags
    return f"no {results.noun} has {'this' if known else 'any'} tag{did_you_mean(tag, known)}"
