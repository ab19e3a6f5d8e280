"""The part of a run that has a tag: figures, gates and reports by tag are those of this part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.tags import tag_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.results.comparison import Case, CaseRun
    from pytest_jsonmatch.results.model import ResultSet
    from pytest_jsonmatch.results.tags import Tags

_MOST_NAMED: Final = 10


def tagged(results: ResultSet, tag: str) -> ResultSet:
    """Return a run as if only comparisons with a tag had been made; without cases if none has it.

    If a test compares several documents, only those with the tag count.

    Args:
        results: the run.
        tag: a name and its value, such as `source=phone`.
    """
    cases = tuple(kept for case in results.cases if (kept := _tagged_case(case, tag)) is not None)
    corpus = results.corpus
    if corpus is not None:
        # Without such a record there is no corpus, and there are no cases.
        return replace(results, cases=cases, collected=None, corpus=corpus.by_tag.get(tag))
    return replace(results, cases=cases, collected=None)


def _tagged_case(case: Case, tag: str) -> Case | None:
    runs = tuple(kept for run in case.runs if (kept := _tagged_run(run, case.tags, tag)) is not None)
    return replace(case, runs=runs) if runs else None


def _tagged_run(run: CaseRun, of_case: Tags, tag: str) -> CaseRun | None:
    has_tag = tag in _texts(of_case)
    kept = tuple(
        comparison for comparison in run.comparisons if tag in _texts({**of_case, **comparison.tags})
    )
    if len(kept) == len(run.comparisons):
        return run if kept or has_tag else None
    if not kept and not (run.error and has_tag):
        return None
    passed = not run.error and all(comparison.passed for comparison in kept)
    return replace(run, comparisons=kept, passed=passed)


def _texts(tags: Tags) -> set[str]:
    return {tag_text(name, value) for name, value in tags.items()}


def tags_of(results: ResultSet) -> list[str]:
    """Return all tags of a run as `name=value`, sorted."""
    if results.corpus is not None:
        return sorted(results.corpus.by_tag)
    return sorted({tag for case in results.cases for tag in tags_of_case(case)})


def tags_of_case(case: Case) -> set[str]:
    """Return the tags of a case's comparisons, or of the case itself if it failed before comparing."""
    compared = ({**case.tags, **each.tags} for run in case.runs for each in run.comparisons)
    failed = (case.tags for run in case.runs if run.error or not run.comparisons)
    return set().union(*map(_texts, (*compared, *failed)))


def by_tag(results: ResultSet, name: str) -> Iterator[tuple[str, ResultSet]]:
    """Yield each value of a tag, sorted, with the part of the run that has it."""
    for tag in tags_of(results):
        of, _, value = tag.partition("=")
        if of == name:
            yield value, tagged(results, tag)


def candidates(results: ResultSet) -> dict[str, list[str]]:
    """Return the values of the parametrized fixtures that have several, by fixture: each is also a tag."""
    values: dict[str, set[str]] = {}
    for case in results.cases:
        for name in {name for each in comparisons_of([case]) for name in each.params}:
            values.setdefault(name, set()).add(value_text(case.tags.get(name)))
    return {name: sorted(texts) for name, texts in values.items() if len(texts) > 1}


def part_with(results: ResultSet, name: str, value: str) -> ResultSet:
    """Return the part of a run with a value of a parametrized fixture; its ids are without the value."""
    part = tagged(results, f"{name}={value}")
    return replace(part, cases=tuple(replace(case, id=_without(case.id, value)) for case in part.cases))


def _without(nodeid: str, label: str) -> str:
    """Return a node id without the label of one parameter.

    >>> _without("a.yaml::b[v1]", "v1"), _without("t.py::t[small-v1-x]", "v1"), _without("t.py::t[y]", "v1")
    ('a.yaml::b', 't.py::t[small-x]', 't.py::t[y]')
    """
    stem, bracket, labels = nodeid.rstrip("]").partition("[")
    rest = f"-{labels}-".replace(f"-{label}-", "-", 1).strip("-")
    return f"{stem}[{rest}]" if bracket and rest else stem


def without_tag(results: ResultSet, name: str) -> int:
    """Return how many cases or records have no tag with a name."""
    if results.corpus is not None:
        return results.number - sum(part.number for _, part in by_tag(results, name))
    return sum(all(tag.partition("=")[0] != name for tag in tags_of_case(case)) for case in results.cases)


def no_tag(tag: str, results: ResultSet) -> str:
    """Return a text that says that no case has a tag, and which tags exist."""
    known = tags_of(results)
    return f"no {results.noun} has {'this' if known else 'any'} tag{did_you_mean(tag, known)}"


def listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return the first names of a list as text, ten by default, and the number of the others.

    >>> listed([f"n{number}" for number in range(12)])
    'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more'
    """
    more = f" and {count(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
