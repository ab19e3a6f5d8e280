"""The terminal summary: figures per field over a whole session, then the comparisons below their limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch.report.fieldtable import (
    ALL_FIELDS,
    NOT_COUNTED,
    BelowLimit,
    Column,
    Row,
    Section,
    Summary,
    Unmatched,
    absence_note,
    left_out,
    shown_columns,
    summarize,
    worst_rows,
)
from pytest_jsonmatch.report.figures import compare_figures, count
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.report.table import Name, Table, draw_table, roomiest

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.repeats import Repeats
    from pytest_jsonmatch.results.comparison import Comparison

_MIN_WIDTH: Final = 20
_MAX_ROWS: Final = 30
_MAX_CASES: Final = 20
_MAX_ARRAYS: Final = 10
_MAX_DEPTH: Final = 8
_MIN_PATH: Final = 16
# In this order columns give way to the paths in a narrow terminal; the score stays.
_DROP_ORDER: Final = (
    *("f1", "precision", "recall"),
    *("matches", "fabricated", "hallucinations", "omissions", "mismatches", "total"),
)


class _Attempt(NamedTuple):
    """A way to lay the table out, good enough if it leaves the paths `path` columns, or all they need."""

    long: bool
    gap: int
    path: int
    dropped: int = 0


_ALL_THEY_NEED: Final = 1_000
_ATTEMPTS: Final = (
    _Attempt(long=True, gap=2, path=32),
    _Attempt(long=True, gap=1, path=_ALL_THEY_NEED),
    *(_Attempt(long=False, gap=1, path=16, dropped=at) for at in range(len(_DROP_ORDER) + 1)),
)


def summary_lines(
    comparisons: Sequence[Comparison],
    look: Look,
    *,
    repeats: Repeats | None = None,
    pivot: str | None = None,
    pivot_option: str = "--pivot",
    is_brief: bool = False,
) -> list[StyledLine]:
    """Return the lines of the summary: in mode "auto" one a metric, if every field is 1 and nothing failed.

    Args:
        comparisons: everything that was compared, in the order in which it should appear where figures tie.
        look: how the lines may look; none is wider than the terminal, which has at least 20 columns.
        repeats: what repeated cases came to.
        pivot: the fixture whose parameters are the columns of a further table; None for the first that has
            several.
        pivot_option: the one that chooses `pivot`.
        is_brief: whether it is one line a metric as soon as nothing failed, whatever the scores.
    """
    if look.mode == "none" or not comparisons:
        return []
    repeated = () if repeats is None else repeats.cases
    judged = frozenset(case.id for case in repeated if case.min_pass_rate is not None)
    summary = summarize(comparisons, judged)
    look = replace(look, width=max(look.width, _MIN_WIDTH))
    is_mixed = repeats is not None and repeats.is_mixed
    passed = not summary.below and all(case.verdict == "passed" for case in repeated)
    of = "run" if summary.runs > summary.cases else "case"
    narrow = count(len(summary.narrow), of)
    narrow += f" {'passes' if len(summary.narrow) == 1 else 'pass'} by less than 0.01"
    blocks: list[list[StyledLine]] = []
    is_brief = look.mode == "auto" and ((is_brief and passed) or (summary.is_perfect and not is_mixed))
    if is_brief:
        lines = _brief(summary, comparisons, look)
        if summary.narrow:
            lines.append(look.line(f"{narrow} (-v: which)", YELLOW))
        blocks.append(lines)
    else:
        tables = [(section, field_table(section, look)) for section in summary.sections]
        blocks += [[*look.folded(section.title, 2, BOLD), *table] for section, table in tables if table]
        below = f"{count(len(summary.below))} of {count(summary.runs, of)} below the threshold:"
        blocks.append(_cases(below, summary.below, look))
        blocks.append(_cases(f"{narrow}:", summary.narrow, look))
    if pivot is not None or (not is_brief and any(comparison.params for comparison in comparisons)):
        from pytest_jsonmatch.report.pivot import pivot_blocks

        blocks += pivot_blocks(comparisons, look, pivot, option=pivot_option)
    if not is_brief and any(comparison.spent for comparison in comparisons):
        from pytest_jsonmatch.report.spent import spent_lines

        blocks.append(spent_lines(comparisons, look))
    if repeats is not None and (is_mixed or not is_brief):
        from pytest_jsonmatch.report.repeats import repeat_blocks, repeat_head

        blocks += [list(repeat_head(repeats, look))] if is_brief else repeat_blocks(repeats, look)
    blocks.append([line for note in summary.notes for line in look.folded(note, 2, YELLOW)])
    return joined(blocks)


def _brief(summary: Summary, comparisons: Sequence[Comparison], look: Look) -> list[StyledLine]:
    """Return a line for each metric."""
    scores: dict[str, dict[str, list[float]]] = {}
    for each in comparisons:
        of_metric = scores.setdefault(each.metric, {})
        if each.has_figures:
            of_metric.setdefault(each.case or each.nodeid, []).append(each.score)
    lines: list[StyledLine] = []
    for metric, of_cases in scores.items():
        sections = [section for section in summary.sections if section.metric == metric]
        cases = sum(section.cases for section in sections)
        said = f"jsonmatch: {metric}, {count(cases, 'case')}"
        if (runs := sum(each.metric == metric for each in comparisons)) > cases:
            said += f" in {count(runs, 'run')}"
        said += f", {count(sum(section.total.total for section in sections), 'field')}, "
        means = [fsum(found) / len(found) for found in of_cases.values()]
        mean = fsum(means) / len(means) if means else None
        said += "all 1.00" if mean == 1.0 else f"mean of cases {look.score(mean)}"
        if mean is not None and min(means) < mean:
            said += f", lowest {look.score(min(means))}"
        said += left_out(cases, sum(section.uncounted for section in sections))
        lines += look.folded(said, 2, score_markup(mean))
    return lines


# -- the table ---------------------------------------------------------------------------------------------


def field_table(section: Section, look: Look) -> list[StyledLine]:
    """Return the table of a section; nothing if what is not right is wanted, and all is."""
    limit = _MAX_ROWS if look.mode == "auto" else None
    rows = worst_rows(section.rows, limit, only_imperfect=look.mode == "failed")
    if not rows and look.mode == "failed":
        return []
    drawn = _table(section, rows, look)
    header, *lines, total = drawn.lines
    hidden = len(section.rows) - len(rows)
    if hidden and look.mode == "auto":  # under "failed" it is the good ones that are not there
        lines.append(look.more(count(hidden, "more row"), indent=""))
    note = absence_note(section.total)
    told = look.folded(note, 2) if note else []
    return [header, *lines, drawn.rule, total, *told, *_unmatched(section.unmatched, look)]


def _table(section: Section, rows: Sequence[Row], look: Look) -> Table:
    """Return the roomiest table in which the paths have what they need; columns go last."""
    names = [Name(row.label, indent=2 * min(row.depth, _MAX_DEPTH)) for row in rows]
    figures = [*(row.figures for row in rows), section.total]
    columns = shown_columns(figures)

    def drawn(attempt: _Attempt) -> Table:
        dropped = _DROP_ORDER[: attempt.dropped]
        kept = [column for column in columns if column.key not in dropped]
        cells = [_column(column, attempt, figures, section, look) for column in kept]
        return draw_table(
            [Name("field", BOLD), *names, Name(ALL_FIELDS, BOLD)],
            cells,
            look,
            gap=attempt.gap,
            minimum=_MIN_PATH,
            enough=attempt.path,
        )

    return roomiest(map(drawn, _ATTEMPTS))


def _column(
    column: Column, attempt: _Attempt, figures: Sequence[FieldAggregation], section: Section, look: Look
) -> StyledLine:
    cells: StyledLine = [(column.title if attempt.long else column.short, BOLD)]
    for each in figures:
        value = column.value(each)
        if column.key == "hallucinations" and not section.extra:
            cells.append((NOT_COUNTED if attempt.long else look.score(None), DIM))
        elif column.is_count:
            cells.append((count(int(value or 0)), PLAIN if value else DIM))
        else:
            cells.append((look.score(value), score_markup(value)))
    return cells


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
