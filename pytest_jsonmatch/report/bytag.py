"""Figures by a tag: a table of the tag's values, and one of fields by value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.look import Look, table_lines
from pytest_jsonmatch.report.pivot import pivot_lines, pivot_of
from pytest_jsonmatch.report.spent import TextTable
from pytest_jsonmatch.report.styled import BOLD, PLAIN, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.results.comparison import Case, by_metric
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.results.tags import by_tag, tags_of, without_tag

_TITLES: Final = ("score", "precision", "recall", "F1", "pass rate")


def _figures(part: ResultSet) -> list[float | None]:
    return [*map(part.mean, FIGURES), part.pass_rate]


def tag_table(results: ResultSet, name: str) -> TextTable:
    """Return the figures of a run by the values of a tag; without rows, the title says why."""
    parts = dict(by_tag(results, name))
    title = f"by {name}, mean of {results.noun}s" if parts else no_such_name(results, name)
    rows = [(tag, count(part.number), *map(score_text, _figures(part))) for tag, part in parts.items()]
    return TextTable(title, "value", (name, f"{results.noun}s", *_TITLES), rows)


def no_such_name(results: ResultSet, name: str) -> str:
    """Return the message for a tag name that nothing has, with the nearest name that exists."""
    known = {tag.partition("=")[0] for tag in tags_of(results)}
    return f"nothing has a tag {name!r}{did_you_mean(name, known)}" if known else "nothing has any tag"


def tag_blocks(results: ResultSet, name: str, look: Look, *, option: str) -> Iterator[list[StyledLine]]:
    """Yield the lines of the figures by a tag, in blocks.

    Args:
        results: the run.
        name: the name of the tag.
        look: how the lines may look.
        option: the option that requests them.
    """
    parts = dict(by_tag(results, name))
    if not parts:
        yield look.folded(f"{option}={name}: {no_such_name(results, name)}", 2, YELLOW)
        return
    noun = results.noun
    rows: list[StyledLine] = [[(title, BOLD) for title in (name, f"{noun}s", *_TITLES)]]
    for tag, part in parts.items():
        figures = ((look.score(value), score_markup(value)) for value in _figures(part))
        rows.append([(tag or '""', PLAIN), (count(part.number), PLAIN), *figures])
    lines = [look.title(f"by {name}, mean of {noun}s"), *table_lines(rows, look, texts={0: 0.5})]
    if rest := without_tag(results, name):
        lines.append(look.line(f"{count(rest, noun)} without this tag", YELLOW))
    yield lines
    groups: dict[str, dict[str, list[Case]]] = {}
    for tag, part in parts.items():
        for metric, compared in by_metric(part.tabled).items():
            groups.setdefault(metric, {value: [] for value in parts})[tag] = compared
    for metric, found in groups.items():
        title = f"score of fields by {name}, over all leaves, * is the best"
        title += f" ({metric})" if len(groups) > 1 else ""
        # The columns always have different cases here, so no line says so.
        yield from pivot_lines(replace(pivot_of(metric, name, found), same_cases=True), title, look)
