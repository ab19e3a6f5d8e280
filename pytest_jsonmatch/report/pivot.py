"""Figures by a tag, or unasked by the parameters of a fixture: which model gets which field right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Final, final

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.fieldtable import ALL_FIELDS, field_scores
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.look import Look, ruled, table_lines
from pytest_jsonmatch.report.spent import TextTable
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.results.comparison import Case, by_metric, comparisons_of
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.results.tags import by_tag, tags_of, without_tag

_MAX_ROWS: Final = 30
_MAX_LABEL: Final = 16
_MAX_DIGITS: Final = 4
_SAME: Final = 1e-12
_TITLES: Final = ("score", "precision", "recall", "F1", "pass rate")


@final
@dataclass(frozen=True, slots=True)
class PivotRow:
    """The mean score of one field under each parameter; None where there is none."""

    path: str
    scores: tuple[float | None, ...]

    @property
    def best(self) -> frozenset[int]:
        """The columns with the best score; none if all have the same score.

        Also none if a column has no score: there the field was neither expected nor invented.

        >>> sorted(PivotRow("a", (0.5, 1.0, 1.0)).best), sorted(PivotRow("a", (0.5, None)).best)
        ([1, 2], [])
        """
        known = [score for score in self.scores if score is not None]
        if len(known) < len(self.scores) or max(known) - min(known) <= _SAME:
            return frozenset()
        top = max(known) - _SAME
        return frozenset(place for place, score in enumerate(known) if score >= top)


@final
@dataclass(frozen=True, slots=True)
class Pivot:
    """The scores of fields under each parameter of a fixture, for one metric; the worst fields first."""

    metric: str
    fixture: str
    labels: tuple[str, ...]
    rows: tuple[PivotRow, ...]
    total: PivotRow
    same_cases: bool
    """Whether the same cases count under each parameter; else the columns are not quite comparable."""


def pivots(cases: Sequence[Case]) -> tuple[list[Pivot], list[str]]:
    """Return a pivot for each metric by the first fixture with several parameters; and all such fixtures."""
    labels: dict[str, dict[str, int]] = {}
    for comparison in comparisons_of(cases):
        for name, (label, place) in comparison.params.items():
            labels.setdefault(name, {}).setdefault(label, place)
    names = [name for name, found in labels.items() if len(found) > 1]
    if not names:
        return [], []
    fixture = names[0]
    columns = sorted(labels[fixture], key=lambda label: (labels[fixture][label], label))
    found = []
    for metric, compared in by_metric(cases).items():
        groups: dict[str, list[Case]] = {label: [] for label in columns}
        for case in compared:
            params = next(comparisons_of([case])).params
            if fixture in params:
                groups[params[fixture][0]].append(case)
        if any(groups.values()):
            found.append(pivot_of(metric, fixture, groups))
    return found, names


def pivot_of(metric: str, fixture: str, groups: dict[str, list[Case]]) -> Pivot:
    """Return the scores of fields in groups of cases, each with its label."""
    columns = [field_scores(group) for group in groups.values()]
    paths = dict.fromkeys(
        path for column in columns for path, score in column.items() if path and score is not None
    )
    rows = [PivotRow(path, tuple(column.get(path) for column in columns)) for path in paths]
    rows.sort(key=lambda row: (_mean(row), row.path))
    cases = {frozenset(case.id.partition("[")[0] for case in group) for group in groups.values()}
    total = PivotRow(ALL_FIELDS, tuple(column[""] for column in columns))
    return Pivot(metric, fixture, tuple(groups), tuple(rows), total, len(cases) == 1)


def _mean(row: PivotRow) -> float:
    known = [score for score in row.scores if score is not None]
    return fsum(known) / len(known) if known else 1.0


# -- drawn -------------------------------------------------------------------------------------------------


def pivot_blocks(
    cases: Sequence[Case], look: Look, by: Sequence[str] = (), *, option: str
) -> list[list[StyledLine]]:
    """Return the lines of the table by the first fixture with several parameters, in blocks.

    There is none if a table by such a fixture is requested.

    Args:
        cases: what was compared.
        look: how the lines may look.
        by: the tags and fixtures of requested tables.
        option: the option that requests them.
    """
    found, names = pivots(cases)
    if not set(names).isdisjoint(by):
        return []
    blocks: list[list[StyledLine]] = []
    for pivot in found:
        title = f"score by {pivot.fixture}, * is the best"
        if len(found) > 1:
            title += f" ({pivot.metric})"
        if names[1:]:
            title += f"; {option}={names[1]} for another"
        blocks += pivot_lines(pivot, title, look)
    return blocks


def pivot_lines(pivot: Pivot, title: str, look: Look) -> Iterator[list[StyledLine]]:
    """Yield a table, and further tables for the columns that have no room in it."""
    rows = list(pivot.rows)
    if look.mode == "failed":
        rows = [row for row in rows if any(score is not None and score < 1 for score in row.scores)]
    shown = rows[:_MAX_ROWS] if look.mode == "auto" else rows
    of = [*shown, pivot.total]
    digits = _digits(of)
    first = min(max(display_width(row.path) for row in of), max(look.width // 3, 12))
    names: StyledLine = [("", PLAIN), *((look.middle(row.path, first), PLAIN) for row in of)]
    columns = [_column(label, place, of, digits, look) for place, label in enumerate(pivot.labels)]
    for number, part in enumerate(_parts(columns, look.width - first)):
        lines = table_lines(list(map(list, zip(names, *part, strict=True))), look, texts={0: 0.5}, gap=1)
        header, *body, rule, total = ruled(lines, look)
        block = [] if number else [look.title(title)]
        block += [header, *body]
        if number == 0 and len(rows) > len(shown):
            block.append(look.more(count(len(rows) - len(shown), "more row"), indent=""))
        block += [rule, total]
        if number == 0 and not pivot.same_cases:
            block.append(look.line("the columns are not over the same cases", YELLOW))
        yield block


def _column(label: str, place: int, rows: Sequence[PivotRow], digits: int, look: Look) -> StyledLine:
    """Return the cells of a parameter, each followed by an asterisk or a space."""
    cells: StyledLine = [(look.middle(label, _MAX_LABEL) + " ", BOLD)]
    for row in rows:
        figure, is_best = look.score(row.scores[place], digits), place in row.best
        cells.append((figure + ("*" if is_best else " "), GREEN if is_best else PLAIN))
    return cells


def _parts(columns: Iterable[StyledLine], room: int) -> Iterator[list[StyledLine]]:
    """Yield groups of columns that fit side by side, with a space before each column."""
    part: list[StyledLine] = []
    taken = 0
    for column in columns:
        width = max(display_width(text) for text, _ in column) + 1
        if part and taken + width > room:
            yield part
            part, taken = [], 0
        part.append(column)
        taken += width
    if part:
        yield part


def _digits(rows: Sequence[PivotRow]) -> int:
    """Return how many decimals make the best of each row look better than the others."""
    enough = (each for each in range(2, _MAX_DIGITS) if all(_tells_apart(row, each) for row in rows))
    return next(enough, _MAX_DIGITS)


def _tells_apart(row: PivotRow, digits: int) -> bool:
    best = row.best
    shown = [score_text(score, digits) for score in row.scores]
    return not best or {shown[place] for place in best}.isdisjoint(
        text for place, text in enumerate(shown) if place not in best
    )


# -- by a tag ----------------------------------------------------------------------------------------------


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
    lines = [look.title(f"by {name}, mean of {noun}s"), *table_lines(rows, look, texts={0: 0.5}, first=8)]
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
