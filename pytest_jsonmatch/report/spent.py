"""What answers took, by model: the score beside seconds, cost and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final, NamedTuple

from pytest_jsonmatch.answer import FIGURES, Spent, spent_figure
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import amount_text, dash, score_text
from pytest_jsonmatch.report.look import Look, table_lines
from pytest_jsonmatch.report.styled import BOLD, PLAIN, StyledLine
from pytest_jsonmatch.results.comparison import Comparison

_ALL: Final = "all models"
_COLUMNS: Final = dict(
    zip(("seconds", "p95", "cost", "total cost", "tokens", "total tokens"), FIGURES, strict=True)
)
"""The figure in each column, by its title."""


class TextTable(NamedTuple):
    """A table of figures as text; the first cell of each row is a name."""

    title: str
    noun: str
    """What a row is."""
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def spent_table(comparisons: Iterable[Comparison], *, unicode: bool = True) -> TextTable | None:
    """Return what answers took, by model and in total; None if no answer says. Others are in no row.

    Columns without any known value are left out. If only some answers have a value, the cell says how many.
    """
    by_model: dict[str, list[tuple[Spent, Comparison]]] = {}
    for each in comparisons:
        if each.spent is not None and each.spent != Spent():
            by_model.setdefault(each.spent.model or "", []).append((each.spent, each))
    if not by_model:
        return None
    groups = [(model or dash(unicode), by_model[model]) for model in sorted(by_model)]
    if len(groups) > 1:
        groups.append((_ALL, [each for _, group in groups for each in group]))
    columns = [
        (title, [_cell(figure, [spent for spent, _ in group], unicode=unicode) for _, group in groups])
        for title, figure in _COLUMNS.items()
    ]
    known = [(title, cells) for title, cells in columns if set(cells) != {dash(unicode)}]
    rows = [
        (name, count(len(group)), _score(group, unicode=unicode), *(cells[row] for _, cells in known))
        for row, (name, group) in enumerate(groups)
    ]
    header = ("model", "answers", "score", *(title for title, _ in known))
    return TextTable("answers by model, means and totals", "model", header, rows)


def _cell(figure: str, spent: Sequence[Spent], *, unicode: bool) -> str:
    value, known = spent_figure(figure, spent)
    if value is None:
        return dash(unicode)
    return amount_text(value) + (f" (of {count(known)})" if known < len(spent) else "")


def _score(group: Iterable[tuple[Spent, Comparison]], *, unicode: bool) -> str:
    scores = [each.score for _, each in group if each.has_figures]
    return score_text(fsum(scores) / len(scores) if scores else None, unicode=unicode)


def spent_lines(comparisons: Iterable[Comparison], look: Look) -> list[StyledLine]:
    """Return the lines of the table; the last columns are left out where there is no room for them."""
    found = spent_table(comparisons, unicode=look.unicode)
    if found is None:
        return []
    rows: list[StyledLine] = [[(title, BOLD) for title in found.header]]
    rows += [[(cell, PLAIN) for cell in row] for row in found.rows]
    spare = range(len(found.header) - 1, 0, -1)
    lines: list[StyledLine] = []
    for gap in (2, 1):
        lines = table_lines(rows, look, texts={0: 0.5}, spare=spare, gap=gap, first=8)
        if len(lines[0]) == len(rows[0]):
            break
    return [look.title(f"{found.title}:"), *lines]
