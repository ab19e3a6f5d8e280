"""The terminal summary: figures per field over a whole session, then the comparisons below their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, fold, mark, pad
from pytest_jsonmatch.report.fieldtable import COLUMNS, summarize, worst_rows
from pytest_jsonmatch.report.figures import compare_figures, count, dash, fixed_figure, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, score_markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.report.fieldtable import BelowLimit, Column, Row, Section, Summary, Unmatched
    from pytest_jsonmatch.report.styled import Markup, StyledLine
    from pytest_jsonmatch.results.comparison import Comparison

__all__ = ["summary_lines"]

_MIN_WIDTH: Final = 20
_MAX_ROWS: Final = 30
_MAX_CASES: Final = 20
_MAX_ARRAYS: Final = 10
_MAX_INDENT: Final = 8
_HINT: Final = "--jsonmatch-summary=all"
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
    *,
    mode: str = "auto",
    width: int = 80,
    unicode: bool = True,
    repeats: Repeats | None = None,
    pivot: str | None = None,
    hint: str = _HINT,
    pivot_option: str = "--jsonmatch-pivot",
) -> list[StyledLine]:
    """Return the lines of the summary, none wider than `width`.

    Args:
        comparisons: everything that was compared, in the order in which it should appear where figures tie.
        mode: "auto" is the table if any field is under 1, else one line; "failed" only what is under 1 or
            below a limit; "all" everything, however long; "none" nothing.
        width: columns of the terminal, at least 20.
        unicode: False keeps to ASCII; other characters of the data become escapes.
        repeats: what repeated cases came to.
        pivot: the fixture whose parameters are the columns of a further table; None for the first that has
            several.
        hint: the option that shows what is left out here.
        pivot_option: the one that chooses `pivot`.
    """
    if mode == "none" or not comparisons:
        return []
    judged = [] if repeats is None else [case.id for case in repeats.cases if case.min_pass_rate is not None]
    summary = summarize(comparisons, frozenset(judged))
    width = max(width, _MIN_WIDTH)
    blocks: list[list[StyledLine]] = []
    if mode == "auto" and summary.is_perfect and not (repeats is not None and repeats.is_mixed):
        blocks.append([_all_well(summary, width, unicode)])
    else:
        blocks += _draw_sections(summary.sections, mode, width, unicode, hint)
        blocks.append(_draw_cases(summary, mode, width, unicode, hint))
        blocks.append(_draw_narrow(summary, mode, width, unicode, hint))
        if pivot is not None or any(comparison.params for comparison in comparisons):
            from pytest_jsonmatch.report.pivot import pivot_blocks

            blocks += pivot_blocks(
                comparisons,
                pivot,
                mode=mode,
                width=width,
                unicode=unicode,
                hint=hint,
                option=pivot_option,
            )
        if repeats is not None:
            from pytest_jsonmatch.report.repeats import repeat_blocks

            blocks += repeat_blocks(repeats, mode=mode, width=width, unicode=unicode, hint=hint)
    blocks.append(
        [[(line, YELLOW)] for note in summary.notes for line in fold(note, width, 2, unicode=unicode)]
    )
    lines: list[StyledLine] = []
    for block in filter(None, blocks):
        lines += [[], *block] if lines else block
    return lines


def _all_well(summary: Summary, width: int, unicode: bool) -> StyledLine:
    runs = f" in {count(summary.runs, 'run')}" if summary.runs > summary.cases else ""
    text = f"jsonmatch: {count(summary.cases, 'case')}{runs}, {count(summary.fields, 'field')}, all 1.00"
    return [(clip(text, width, unicode=unicode), score_markup(1.0))]


# -- the table ---------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns there are and how wide each is, the one of the paths included."""

    columns: tuple[Column, ...]
    titles: tuple[str, ...]
    widths: tuple[int, ...]
    gap: str
    digits: int
    path_width: int
    unicode: bool

    def figure(self, column: Column, figures: FieldAggregation) -> str:
        value = column.value(figures)
        if value is None:
            return dash(self.unicode)
        if column.kind == "count":
            return count(int(value))
        return fixed_figure(value, self.digits, unicode=self.unicode)


def _draw_sections(
    sections: Sequence[Section], mode: str, width: int, unicode: bool, hint: str
) -> Iterator[list[StyledLine]]:
    limit = _MAX_ROWS if mode == "auto" else None
    shown = [worst_rows(section.rows, limit, only_imperfect=mode == "failed") for section in sections]
    totals = [section.total for section in sections]
    titled = len(sections) > 1 or any(section.variants > 1 for section in sections)
    first = "field" if titled else "".join(section.metric for section in sections)
    layout = _layout(first, [row for rows in shown for row in rows], totals, width, unicode)
    for section, rows in zip(sections, shown, strict=True):
        if rows or mode != "failed":
            title = _title(section, width, unicode) if titled else []
            yield [*title, _header(first, layout), *_draw_rows(section, rows, layout, width, mode, hint)]


def _title(section: Section, width: int, unicode: bool) -> list[StyledLine]:
    title = f"{section.metric}, {count(section.cases, 'case')}"
    if section.variants > 1:
        title += f", {count(section.variants, 'different set')} of options"
    return [[(clip(title, width, unicode=unicode), BOLD)]]


def _draw_rows(
    section: Section, rows: list[Row], layout: _Layout, width: int, mode: str, hint: str
) -> list[StyledLine]:
    lines = [_draw_row(_label(row, layout), row.figures, layout) for row in rows]
    hidden = len(section.rows) - len(rows)
    if hidden and mode == "auto":  # under "failed" it is the good ones that are not there
        text = f"{mark(layout.unicode)} {count(hidden, 'more row')} ({hint})"
        lines.append([(clip(text, width, unicode=layout.unicode), DIM)])
    total = pad(clip("total", layout.path_width, unicode=layout.unicode), layout.path_width)
    lines += [_rule(layout), _draw_row(total, section.total, layout, BOLD)]
    return [*lines, *_draw_unmatched(section.unmatched, mode, width, layout.unicode, hint)]


def _draw_unmatched(
    arrays: Sequence[Unmatched], mode: str, width: int, unicode: bool, hint: str
) -> Iterator[StyledLine]:
    if not arrays:
        return
    yield [(clip("elements without a partner:", width, unicode=unicode), BOLD)]
    shown = arrays if mode == "all" else arrays[:_MAX_ARRAYS]
    for each in shown:
        counts = (
            f"{count(each.only_expected)} of {count(each.pairs + each.only_expected)} expected, "
            f"{count(each.only_actual)} of {count(each.pairs + each.only_actual)} actual"
        )
        room = max(width - display_width(counts) - 4, 4)
        path = clip_middle(each.path, room, unicode=unicode)
        yield [(clip(f"  {path}  {counts}", width, unicode=unicode), PLAIN)]
    if hidden := len(arrays) - len(shown):
        text = f"  {mark(unicode)} {count(hidden, 'more array')} ({hint})"
        yield [(clip(text, width, unicode=unicode), DIM)]


def _layout(
    first: str, rows: Sequence[Row], totals: Sequence[FieldAggregation], width: int, unicode: bool
) -> _Layout:
    """Return the roomiest layout in which the paths have what they need; columns go last."""
    labels = [clip(first, width, unicode=unicode), "total", *(_label_text(row, unicode) for row in rows)]
    needed = max(map(display_width, labels))
    every = [row.figures for row in rows] + list(totals)
    layouts = ((attempt, _fit(attempt, every, needed, width, unicode)) for attempt in _ATTEMPTS)
    good = (layout for attempt, layout in layouts if layout.path_width >= min(needed, attempt.path))
    return next(good, _fit(_ATTEMPTS[-1], every, needed, width, unicode))


def _fit(
    attempt: _Attempt, every: Sequence[FieldAggregation], needed: int, width: int, unicode: bool
) -> _Layout:
    """Return the layout of an attempt; the paths get what it leaves, which may be too little."""
    columns = attempt.columns
    titles = tuple(column.title if attempt.long else column.short for column in columns)
    gap = " " * attempt.gap
    draft = _Layout(columns, titles, (), gap, attempt.digits, 0, unicode)
    widths = tuple(
        max(len(title), *(display_width(draft.figure(column, figures)) for figures in every))
        for column, title in zip(columns, titles, strict=True)
    )
    room = width - sum(widths) - attempt.gap * len(widths)
    return _Layout(columns, titles, widths, gap, attempt.digits, min(room, max(needed, 16)), unicode)


def _label_text(row: Row, unicode: bool) -> str:
    return " " * (2 * min(row.depth, _MAX_INDENT)) + clip(row.label, 500, unicode=unicode)


def _label(row: Row, layout: _Layout) -> str:
    indent = " " * min(2 * min(row.depth, _MAX_INDENT), layout.path_width // 2)
    label = clip_middle(row.label, layout.path_width - len(indent), unicode=layout.unicode)
    return pad(indent + label, layout.path_width)


def _header(first: str, layout: _Layout) -> StyledLine:
    cells = [pad(clip_middle(first, layout.path_width, unicode=layout.unicode), layout.path_width)]
    cells += [
        pad(title, width, right=True) for title, width in zip(layout.titles, layout.widths, strict=True)
    ]
    return [(layout.gap.join(cells), BOLD)]


def _rule(layout: _Layout) -> StyledLine:
    total = layout.path_width + sum(layout.widths) + len(layout.gap) * len(layout.widths)
    return [(("─" if layout.unicode else "-") * total, DIM)]


def _draw_row(label: str, figures: FieldAggregation, layout: _Layout, markup: Markup = PLAIN) -> StyledLine:
    line: StyledLine = [(label, markup)]
    for column, width in zip(layout.columns, layout.widths, strict=True):
        value = column.value(figures)
        text = layout.gap + pad(layout.figure(column, figures), width, right=True)
        if column.kind == "figure":
            line.append((text, score_markup(value)))
        else:
            line.append((text, DIM if value == 0 else PLAIN))
    return line


# -- the cases ---------------------------------------------------------------------------------------------


def _draw_cases(summary: Summary, mode: str, width: int, unicode: bool, hint: str) -> list[StyledLine]:
    of = count(summary.runs, "run" if summary.runs > summary.cases else "case")
    title = f"{count(len(summary.below))} of {of} below the threshold:"
    return _draw_listed(title, summary.below, mode, width, unicode, hint)


def _draw_narrow(summary: Summary, mode: str, width: int, unicode: bool, hint: str) -> list[StyledLine]:
    verb = "passes" if len(summary.narrow) == 1 else "pass"
    noun = "run" if summary.runs > summary.cases else "case"
    title = f"{count(len(summary.narrow), noun)} {verb} by less than 0.01:"
    return _draw_listed(title, summary.narrow, mode, width, unicode, hint)


def _draw_listed(
    title: str, cases: Sequence[BelowLimit], mode: str, width: int, unicode: bool, hint: str
) -> list[StyledLine]:
    if not cases:
        return []
    shown = cases if mode == "all" else cases[:_MAX_CASES]
    lines: list[StyledLine] = [[(clip(title, width, unicode=unicode), BOLD)]]
    figures = [_comparison(case, max(width // 2, 12), unicode) for case in shown]
    column = max(map(display_width, figures))
    for case, figure in zip(shown, figures, strict=True):
        room = max(width - column - 4, 1)
        lines.append(
            [
                ("  ", PLAIN),
                (pad(figure, column), score_markup(case.value)),
                ("  ", PLAIN),
                (clip_middle(case.id, room, unicode=unicode), PLAIN),
            ]
        )
    if hidden := len(cases) - len(shown):
        text = f"  {mark(unicode)} {count(hidden, 'more case')} ({hint})"
        lines.append([(clip(text, width, unicode=unicode), DIM)])
    return lines


def _comparison(case: BelowLimit, width: int, unicode: bool) -> str:
    what = "" if case.what == "score" else ("F1" if case.what == "f1" else case.what)
    if case.limit is None:
        figures = "" if case.value is None else score_text(case.value, unicode=unicode)
    elif case.value is None:
        figures = f"{dash(unicode)} < {compare_figures(0.0, case.limit)[1]}"
    else:
        sign = " < " if case.value < case.limit else " ≥ " if unicode else " >= "
        figures = sign.join(compare_figures(case.value, case.limit))
    lead = clip_middle(what, max(width - len(figures) - 1, 4), unicode=unicode) + " " if what else ""
    return clip((lead + figures).rstrip(), max(width, 4), unicode=unicode)
