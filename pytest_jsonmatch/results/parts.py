"""The parts of a run with the values of a tag or of a parametrized fixture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.results.comparison import comparisons_of, tags_of_case
from pytest_jsonmatch.results.tags import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.results.run import RunResult

_MOST_NAMED: Final = 10


def by_tag(results: RunResult, name: str) -> Iterator[tuple[str, RunResult]]:
    """Yield each value of a tag, sorted, with the part of the run that has it."""
    for tag in results.tags:
        of, _, value = tag.partition("=")
        if of == name:
            yield value, results.tagged(tag)


def candidates(results: RunResult) -> dict[str, list[str]]:
    """Return the values of the parametrized fixtures that have several, by fixture: each is also a tag."""
    values: dict[str, set[str]] = {}
    for case in results.cases:
        for name in {name for each in comparisons_of([case]) for name in each.params}:
            values.setdefault(name, set()).add(value_text(case.tags.get(name)))
    return {name: sorted(texts) for name, texts in values.items() if len(texts) > 1}


def part_with(results: RunResult, name: str, value: str) -> RunResult:
    """Return the part of a run with a value of a parametrized fixture; its ids are without the value."""
    part = results.tagged(f"{name}={value}")
    return part.with_cases(replace(case, id=_without(case.id, value)) for case in part.cases)


def _without(nodeid: str, label: str) -> str:
    """Return a node id without the label of one parameter.

    >>> _without("a.yaml::b[v1]", "v1"), _without("t.py::t[small-v1-x]", "v1"), _without("t.py::t[y]", "v1")
    ('a.yaml::b', 't.py::t[small-x]', 't.py::t[y]')
    """
    stem, bracket, labels = nodeid.rstrip("]").partition("[")
    rest = f"-{labels}-".replace(f"-{label}-", "-", 1).strip("-")
    return f"{stem}[{rest}]" if bracket and rest else stem


def without_tag(results: RunResult, name: str) -> int:
    """Return how many cases or records have no tag with a name."""
    if results.is_of_records:
        return results.total_records - sum(part.total_records for _, part in by_tag(results, name))
    return sum(all(tag.partition("=")[0] != name for tag in tags_of_case(case)) for case in results.cases)


def no_tag(tag: str, results: RunResult) -> str:
    """Return a text that says that no case has a tag, and which tags exist."""
    known = results.tags
    return f"no {results.noun} has {'this' if known else 'any'} tag{did_you_mean(tag, known)}"


def listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return the first names of a list as text, ten by default, and the number of the others.

    >>> listed([f"n{number}" for number in range(12)])
    'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more'
    """
    more = f" and {count(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
