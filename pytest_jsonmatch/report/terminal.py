"""The terminal summary: figures per field over a whole session, then the comparisons below their limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.fieldtable import (
    ALL_FIELDS,
    COLUMNS,
    NOT_COUNTED,
    shown_columns,
    summarize,
    worst_rows,
)
from pytest_jsonmatch.report.figures import compare_figures, count, dash, fixed_figure
from pytest_jsonmatch.report.look import joined
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, score_markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.report.fieldtable import BelowLimit, Column, Row, Section, Summary, Unmatched
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import Markup, StyledLine
    from pytest_jsonmatch.results.comparison import Comparison

__all__ = ["summary_lines"]

_MIN_WIDTH: Final = 20
_MAX_ROWS: Final = 30
_MAX_CASES: Final = 20
_MAX_ARRAYS: Final = 10
_MAX_INDENT: Final = 8
# In this order columns give way to the paths in a narrow terminal; the score stays.
_DROP_ORDER: Final = (
    "f1",
    "precision",
    "recall",
    "matches",
    "hallucinations",
    "omissions",
    "mismatches",
    "total",
)


class _Attempt(NamedTuple):
    """A way to lay the table out, good enough if it leaves the paths `path` columns, or all they need."""

    columns: tuple[Column, ...]
    long: bool
    gap: int
    digits: int
    path: int


_ALL_THEY_NEED: Final = 1_000
_ATTEMPTS: Final = (
    _Attempt(COLUMNS, long=True, gap=2, digits=3, path=32),
    _Attempt(COLUMNS, long=True, gap=2, digits=2, path=32),
    _Attempt(COLUMNS, long=True, gap=1, digits=2, path=_ALL_THEY_NEED),
    _Attempt(COLUMNS, long=False, gap=2, digits=2, path=24),
    *(
        _Attempt(
            tuple(column for column in COLUMNS if column.key not in _DROP_ORDER[:dropped]),
            long=False,
            gap=1,
            digits=2,
            path=16,
        )
        for dropped in range(len(_DROP_ORDER) + 1)
    ),
)


def summary_lines(
    comparisons: Sequence[Comparison],
    look: Look,
    *,
    repeats: Repeats | None = None,
    pivot: str | None = None,
    pivot_option: str = "--pivot",
) -> list[StyledLine]:
    """Return the lines of the summary: in mode "auto" one, if every field is 1 and every limit is reached.

    Args:
        comparisons: everything that was compared, in the order in which it should appear where figures tie.
        look: how the lines may look; none is wider than the terminal, which has at least 20 columns.
        repeats: what repeated cases came to.
        pivot: the fixture whose parameters are the columns of a further table; None for the first that has
            several.
        pivot_option: the one that chooses `pivot`.
    """
    if look.mode == "none" or not comparisons:
        return []
    judged = [] if repeats is None else [case.id for case in repeats.cases if case.min_pass_rate is not None]
    summary = summarize(comparisons, frozenset(judged))
    look = replace(look, width=max(look.width, _MIN_WIDTH))
    blocks: list[list[StyledLine]] = []
    if look.mode == "auto" and summary.is_perfect and not (repeats is not None and repeats.is_mixed):
        blocks.append([_all_well(summary, look)])
    else:
        of = "run" if summary.runs > summary.cases else "case"
        below, narrow = len(summary.below), count(len(summary.narrow), of)
        verb = "passes" if len(summary.narrow) == 1 else "pass"
        blocks += _sections(summary.sections, look)
        blocks.append(
            _cases(f"{count(below)} of {count(summary.runs, of)} below the threshold:", summary.below, look)
        )
        blocks.append(_cases(f"{narrow} {verb} by less than 0.01:", summary.narrow, look))
        if pivot is not None or any(comparison.params for comparison in comparisons):
            from pytest_jsonmatch.report.pivot import pivot_blocks

            blocks += pivot_blocks(comparisons, look, pivot, option=pivot_option)
        if repeats is not None:
            from pytest_jsonmatch.report.repeats import repeat_blocks

            blocks += repeat_blocks(repeats, look)
    blocks.append([line for note in summary.notes for line in look.folded(note, 2, YELLOW)])
    return joined(blocks)


def _all_well(summary: Summary, look: Look) -> StyledLine:
    runs = f" in {count(summary.runs, 'run')}" if summary.runs > summary.cases else ""
    text = f"jsonmatch: {count(summary.cases, 'case')}{runs}, {count(summary.fields, 'field')}, all 1.00"
    return look.line(text, score_markup(1.0))


# -- the table ---------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns there are and how wide each is, the one of the paths included."""

    attempt: _Attempt
    widths: tuple[int, ...]
    path_width: int
    look: Look

    @classmethod
    def of(
        cls, attempt: _Attempt, figures: Sequence[tuple[FieldAggregation, bool]], needed: int, look: Look
    ) -> _Layout:
        """Return the layout of an attempt; the paths get what it leaves, which may be too little."""
        draft = cls(attempt, (), 0, look)
        widths = tuple(
            max(len(draft.title(column)), *(display_width(draft.figure(column, *each)) for each in figures))
            for column in attempt.columns
        )
        room = look.width - sum(widths) - attempt.gap * len(widths)
        return cls(attempt, widths, min(room, max(needed, 16)), look)

    def title(self, column: Column) -> str:
        return column.title if self.attempt.long else column.short

    def figure(self, column: Column, figures: FieldAggregation, extra: bool) -> str:
        value = column.value(figures)
        if column.key == "hallucinations" and not extra:
            return NOT_COUNTED if self.attempt.long and self.attempt.gap > 1 else dash(self.look.unicode)
        if value is None:
            return dash(self.look.unicode)
        if column.kind == "count":
            return count(int(value))
        return fixed_figure(value, self.attempt.digits, unicode=self.look.unicode)

    def path(self, label: str, depth: int = 0) -> str:
        indent = " " * min(2 * min(depth, _MAX_INDENT), self.path_width // 2)
        return pad(indent + self.look.middle(label, self.path_width - len(indent)), self.path_width)

    def header(self, first: str) -> StyledLine:
        cells = zip(map(self.title, self.attempt.columns), self.widths, strict=True)
        gap = " " * self.attempt.gap
        texts = [self.path(first), *(pad(title, width, right=True) for title, width in cells)]
        return [(gap.join(texts), BOLD)]

    def row(self, label: str, figures: FieldAggregation, extra: bool, markup: Markup = PLAIN) -> StyledLine:
        line: StyledLine = [(label, markup)]
        for column, width in zip(self.attempt.columns, self.widths, strict=True):
            value = column.value(figures)
            text = " " * self.attempt.gap + pad(self.figure(column, figures, extra), width, right=True)
            is_figure = column.kind == "figure"
            line.append((text, score_markup(value) if is_figure else DIM if value == 0 else PLAIN))
        return line

    def rule(self) -> StyledLine:
        return self.look.rule(self.path_width + sum(self.widths) + self.attempt.gap * len(self.widths))


def _sections(sections: Sequence[Section], look: Look) -> Iterator[list[StyledLine]]:
    limit = _MAX_ROWS if look.mode == "auto" else None
    shown = [worst_rows(section.rows, limit, only_imperfect=look.mode == "failed") for section in sections]
    is_titled = len(sections) > 1 or any(section.variants > 1 for section in sections)
    first = "field" if is_titled else "".join(section.metric for section in sections)
    layout = _layout(first, list(zip(sections, shown, strict=True)), look)
    for section, rows in zip(sections, shown, strict=True):
        if rows or look.mode != "failed":
            title = [_title(section, look)] if is_titled else []
            yield [*title, layout.header(first), *_rows(section, rows, layout)]


def _title(section: Section, look: Look) -> StyledLine:
    title = f"{section.metric}, {count(section.cases, 'case')}"
    if section.variants > 1:
        title += f", {count(section.variants, 'different set')} of options"
    return look.title(title)


def _rows(section: Section, rows: list[Row], layout: _Layout) -> Iterator[StyledLine]:
    look = layout.look
    for row in rows:
        yield layout.row(layout.path(row.label, row.depth), row.figures, section.extra)
    hidden = len(section.rows) - len(rows)
    if hidden and look.mode == "auto":  # under "failed" it is the good ones that are not there
        yield look.more(count(hidden, "more row"), indent="")
    yield layout.rule()
    yield layout.row(layout.path(ALL_FIELDS), section.total, section.extra, BOLD)
    if section.unmatched:
        yield from _unmatched(section.unmatched, look)


def _unmatched(arrays: Sequence[Unmatched], look: Look) -> Iterator[StyledLine]:
    yield look.title("elements without a partner:")
    shown = arrays[: look.most(_MAX_ARRAYS)]
    for each in shown:
        counts = (
            f"{count(each.only_expected)} of {count(each.pairs + each.only_expected)} expected, "
            f"{count(each.only_actual)} of {count(each.pairs + each.only_actual)} actual"
        )
        path = look.middle(each.path, max(look.width - len(counts) - 4, 4))
        yield look.line(f"  {path}  {counts}")
    if hidden := len(arrays) - len(shown):
        yield look.more(count(hidden, "more array"))


def _layout(first: str, shown: Sequence[tuple[Section, list[Row]]], look: Look) -> _Layout:
    """Return the roomiest layout in which the paths have what they need; columns go last."""
    rows = [row for _, rows in shown for row in rows]
    labels = [look.clip(first, look.width), ALL_FIELDS, *(_label(row, look) for row in rows)]
    needed = max(map(display_width, labels))
    figures = [(row.figures, section.extra) for section, rows in shown for row in rows]
    figures += [(section.total, section.extra) for section, _ in shown]
    columns = shown_columns(figure for figure, _ in figures)
    attempts = [
        each._replace(columns=tuple(column for column in each.columns if column in columns))
        for each in _ATTEMPTS
    ]
    layouts = (_Layout.of(attempt, figures, needed, look) for attempt in attempts)
    good = (layout for layout in layouts if layout.path_width >= min(needed, layout.attempt.path))
    return next(good, None) or _Layout.of(attempts[-1], figures, needed, look)


def _label(row: Row, look: Look) -> str:
    return " " * (2 * min(row.depth, _MAX_INDENT)) + look.clip(row.label, 500)


# -- the cases ---------------------------------------------------------------------------------------------


def _cases(title: str, cases: Sequence[BelowLimit], look: Look) -> list[StyledLine]:
    if not cases:
        return []
    shown = cases[: look.most(_MAX_CASES)]
    rows: list[StyledLine] = [
        [(_comparison(case, max(look.width // 2, 12), look), score_markup(case.value)), (case.id, PLAIN)]
        for case in shown
    ]
    lines = [look.title(title), *look.rows(rows)]
    if hidden := len(cases) - len(shown):
        lines.append(look.more(count(hidden, "more case")))
    return lines


def _comparison(case: BelowLimit, width: int, look: Look) -> str:
    what = "" if case.what == "score" else ("F1" if case.what == "f1" else case.what)
    if case.limit is None:
        figures = "" if case.value is None else look.score(case.value)
    elif case.value is None:
        figures = f"{look.score(None)} < {compare_figures(0.0, case.limit)[1]}"
    else:
        sign = " < " if case.value < case.limit else " ≥ " if look.unicode else " >= "
        figures = sign.join(compare_figures(case.value, case.limit))
    lead = look.middle(what, max(width - len(figures) - 1, 4)) + " " if what else ""
    return look.clip((lead + figures).rstrip(), max(width, 4))
