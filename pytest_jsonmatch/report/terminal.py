"""The terminal summary: figures per field over a whole session, then the comparisons below their limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch.report.fieldtable import (
    ALL_FIELDS,
    NOT_COUNTED,
    shown_columns,
    summarize,
    worst_rows,
)
from pytest_jsonmatch.report.figures import compare_figures, count
from pytest_jsonmatch.report.look import joined
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, score_markup
from pytest_jsonmatch.report.table import Name, draw_table, roomiest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.report.fieldtable import BelowLimit, Column, Row, Section, Summary, Unmatched
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.report.table import Table
    from pytest_jsonmatch.results.comparison import Comparison

_MIN_WIDTH: Final = 20
_MAX_ROWS: Final = 30
_MAX_CASES: Final = 20
_MAX_ARRAYS: Final = 10
_MAX_DEPTH: Final = 8
_MIN_PATH: Final = 16
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

    long: bool
    gap: int
    digits: int
    path: int
    dropped: int = 0


_ALL_THEY_NEED: Final = 1_000
_ATTEMPTS: Final = (
    _Attempt(long=True, gap=2, digits=3, path=32),
    _Attempt(long=True, gap=2, digits=2, path=32),
    _Attempt(long=True, gap=1, digits=2, path=_ALL_THEY_NEED),
    _Attempt(long=False, gap=2, digits=2, path=24),
    *(_Attempt(long=False, gap=1, digits=2, path=16, dropped=at) for at in range(len(_DROP_ORDER) + 1)),
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


def _sections(sections: Sequence[Section], look: Look) -> Iterator[list[StyledLine]]:
    limit = _MAX_ROWS if look.mode == "auto" else None
    shown = [worst_rows(section.rows, limit, only_imperfect=look.mode == "failed") for section in sections]
    is_titled = len(sections) > 1 or any(section.variants > 1 for section in sections)
    first = "field" if is_titled else "".join(section.metric for section in sections)
    drawn = _table(first, list(zip(sections, shown, strict=True)), look)
    header, *rest = drawn.lines
    left = iter(rest)  # all sections have the same columns
    for section, rows in zip(sections, shown, strict=True):
        *lines, total = islice(left, len(rows) + 1)
        if not rows and look.mode == "failed":
            continue
        hidden = len(section.rows) - len(rows)
        if hidden and look.mode == "auto":  # under "failed" it is the good ones that are not there
            lines.append(look.more(count(hidden, "more row"), indent=""))
        title = [_title(section, look)] if is_titled else []
        yield [*title, header, *lines, drawn.rule, total, *_unmatched(section.unmatched, look)]


def _table(first: str, shown: Sequence[tuple[Section, list[Row]]], look: Look) -> Table:
    """Return the roomiest table in which the paths have what they need; columns go last."""
    names = [Name(first, BOLD)]
    figures: list[tuple[FieldAggregation, bool]] = []
    for section, rows in shown:
        names += [Name(row.label, indent=2 * min(row.depth, _MAX_DEPTH)) for row in rows]
        names.append(Name(ALL_FIELDS, BOLD))
        figures += [(each, section.extra) for each in (*(row.figures for row in rows), section.total)]
    columns = shown_columns(each for each, _ in figures)

    def drawn(attempt: _Attempt) -> Table:
        dropped = _DROP_ORDER[: attempt.dropped]
        kept = [column for column in columns if column.key not in dropped]
        cells = [_column(column, attempt, figures, look) for column in kept]
        return draw_table(names, cells, look, gap=attempt.gap, minimum=_MIN_PATH, enough=attempt.path)

    return roomiest(map(drawn, _ATTEMPTS))


def _column(
    column: Column, attempt: _Attempt, figures: Sequence[tuple[FieldAggregation, bool]], look: Look
) -> StyledLine:
    cells: StyledLine = [(column.title if attempt.long else column.short, BOLD)]
    for each, extra in figures:
        value = column.value(each)
        if column.key == "hallucinations" and not extra:
            is_wide = attempt.long and attempt.gap > 1
            cells.append((NOT_COUNTED if is_wide else look.score(None), DIM))
        elif column.kind == "count":
            cells.append((count(int(value or 0)), PLAIN if value else DIM))
        else:
            cells.append((look.fixed(value, attempt.digits), score_markup(value)))
    return cells


def _title(section: Section, look: Look) -> StyledLine:
    title = f"{section.metric}, {count(section.cases, 'case')}"
    if section.variants > 1:
        title += f", {count(section.variants, 'different set')} of options"
    return look.title(title)


def _unmatched(arrays: Sequence[Unmatched], look: Look) -> Iterator[StyledLine]:
    if arrays:
        yield look.title("elements without a partner:")
    shown, more = look.cut(arrays, _MAX_ARRAYS, "array")
    for each in shown:
        counts = (
            f"{count(each.only_expected)} of {count(each.pairs + each.only_expected)} expected, "
            f"{count(each.only_actual)} of {count(each.pairs + each.only_actual)} actual"
        )
        path = look.middle(each.path, max(look.width - len(counts) - 4, 4))
        yield look.line(f"  {path}  {counts}")
    yield from more


# -- the cases ---------------------------------------------------------------------------------------------


def _cases(title: str, cases: Sequence[BelowLimit], look: Look) -> list[StyledLine]:
    if not cases:
        return []
    shown, more = look.cut(cases, _MAX_CASES, "case")
    rows: list[StyledLine] = [
        [(_comparison(case, max(look.width // 2, 12), look), score_markup(case.value)), (case.id, PLAIN)]
        for case in shown
    ]
    return [look.title(title), *look.rows(rows), *more]


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
