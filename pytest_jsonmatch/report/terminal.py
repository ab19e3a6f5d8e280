"""The terminal summary: figures per field over a whole session, then the comparisons below their limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import Repeats, repeats
from pytest_jsonmatch.limits import Measured, measured
from pytest_jsonmatch.report.fieldtable import (
    ALL_FIELDS,
    NOT_COUNTED,
    Column,
    Row,
    Section,
    Unmatched,
    absence_note,
    is_perfect,
    left_out,
    sections_of,
    shown_columns,
    worst_rows,
)
from pytest_jsonmatch.report.figures import answers_note, compare_figures
from pytest_jsonmatch.report.look import Look, joined, ruled, table_lines
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, Markup, StyledLine, score_markup
from pytest_jsonmatch.results.comparison import Case, Comparison, by_metric, comparisons_of
from pytest_jsonmatch.results.model import Answers

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.figures import FieldAggregation

_NARROW: Final = 0.01
_MIN_WIDTH: Final = 20
_MAX_ROWS: Final = 30
_MAX_CASES: Final = 20
_MAX_ARRAYS: Final = 10
_MAX_FIELDS: Final = 10
_MAX_DEPTH: Final = 8
# The order in which columns make way for the paths in a narrow terminal; the score stays.
_DROP_ORDER: Final = (
    *("f1", "precision", "recall"),
    *("matches", "fabricated", "hallucinations", "omissions", "mismatches", "total", "mean_score"),
)


_MIN_PATH: Final = 16
_ATTEMPTS: Final = ((True, 2, 32), (True, 1, 1_000), (False, 1, 16))
"""Whether titles are long, the gap, and how much room the paths must have; else the next is tried."""


@final
class BelowLimit(NamedTuple):
    """A comparison that did not pass, with its lowest figure below a limit.

    If no limit is missed, `what` says what is wrong; `value` is None if there is no figure.
    """

    id: str
    what: str
    value: float | None
    limit: float | None


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a run's comparisons."""

    cases: int
    runs: int
    """As many as cases, or more if cases were repeated."""
    sections: tuple[Section, ...]
    below: tuple[BelowLimit, ...]
    narrow: tuple[BelowLimit, ...]
    """Comparisons that passed by less than 0.01: the slightest change may make them fail."""
    notes: tuple[str, ...]

    @property
    def is_perfect(self) -> bool:
        """Whether every comparison passed, and every field is perfect."""
        return not self.below and all(
            is_perfect(row.figures) for section in self.sections for row in section.rows
        )


def summarize(cases: Sequence[Case]) -> Summary:
    """Summarize cases; their order only matters for ties.

    Figures are means over the runs of each case first, and then over cases; counts are of all runs. Runs of
    cases that are judged as a whole are not named.

    >>> summarize([])
    Summary(cases=0, runs=0, sections=(), below=(), narrow=(), notes=())
    """
    compared = list(comparisons_of(cases))
    sections = sections_of(cases)
    named = list(comparisons_of(case for case in cases if case.min_pass_rate is None or case.of == 1))
    below = [_below(each) for each in named if not each.passed]
    narrow = [_narrow(each) for each in named if each.passed and each.score < 1.0]
    return Summary(
        cases=sum(section.cases for section in sections),
        runs=len(compared),
        sections=sections,
        below=tuple(sorted(below, key=lambda case: (case.value is not None, case.value or 0.0))),
        narrow=tuple(sorted(filter(None, narrow), key=_slack)),
        notes=tuple(_notes(compared)),
    )


def summary_lines(
    cases: Sequence[Case],
    look: Look,
    *,
    by: Sequence[str] = (),
    by_option: str = "--by",
    is_brief: bool | None = None,
) -> list[StyledLine]:
    """Return the lines of the summary: tables, or in mode "auto" one line per metric.

    Args:
        cases: the cases, in the order in which they should appear where figures tie.
        look: how the lines may look; none is wider than the terminal, which has at least 20 columns.
        by: the tags and fixtures of further tables; if no fixture is among them, the parameters of the first
            that has several are the columns of a table here.
        by_option: the option that names them.
        is_brief: whether one line per metric is enough if nothing failed; None: if also all fields are 1.
    """
    comparisons = list(comparisons_of(cases))
    if look.mode == "none" or not comparisons:
        return []
    repeated = repeats(cases)
    summary = summarize(cases)
    look = replace(look, width=max(look.width, _MIN_WIDTH))
    passed = not summary.below and all(case.verdict == "passed" for case in repeated.cases)
    of = "run" if summary.runs > summary.cases else "case"
    narrow = count(len(summary.narrow), of)
    narrow += f" {'passes' if len(summary.narrow) == 1 else 'pass'} by less than 0.01"
    blocks: list[list[StyledLine]] = []
    is_perfect = summary.is_perfect and not repeated.is_mixed
    is_brief = look.mode == "auto" and is_brief is not False and (is_perfect or (is_brief is True and passed))
    if is_brief:
        lines = _brief(summary, cases, look)
        if summary.narrow:
            lines.append(look.line(f"{narrow} (-v: which)", YELLOW))
        blocks.append(lines)
    else:
        tables = [(section, field_table(section, look)) for section in summary.sections]
        blocks += [[*look.folded(section.title(), 2, BOLD), *table] for section, table in tables if table]
        below = f"{count(len(summary.below))} of {count(summary.runs, of)} below the threshold:"
        blocks.append(_cases(below, summary.below, look))
        blocks.append(_cases(f"{narrow}:", summary.narrow, look))
    if not is_brief and any(comparison.params for comparison in comparisons):
        from pytest_jsonmatch.report.pivot import pivot_blocks

        blocks += pivot_blocks(cases, look, by, option=by_option)
    if not is_brief and any(comparison.spent for comparison in comparisons):
        from pytest_jsonmatch.report.spent import spent_lines

        blocks.append(spent_lines(comparisons, look))
    if repeated and (repeated.is_mixed or not is_brief):
        blocks += [list(_repeat_head(repeated, look))] if is_brief else _repeat_blocks(repeated, look)
    blocks.append([line for note in summary.notes for line in look.folded(note, 2, YELLOW)])
    return joined(blocks)


def _brief(summary: Summary, cases: Sequence[Case], look: Look) -> list[StyledLine]:
    """Return a line for each metric."""
    lines: list[StyledLine] = []
    for metric, compared in by_metric(cases).items():
        sections = [section for section in summary.sections if section.metric == metric]
        number = sum(section.cases for section in sections)
        said = f"jsonmatch: {metric}, {count(number, 'case')}"
        if (runs := len(list(comparisons_of(compared)))) > number:
            said += f" in {count(runs, 'run')}"
        said += f", {count(sum(section.total.total for section in sections), 'field')}, "
        means = [case.figure("score") for case in compared if case.has_figures]
        mean = fsum(means) / len(means) if means else None
        said += "all 1.00" if mean == 1.0 else f"mean of cases {look.score(mean)}"
        if mean is not None and min(means) < mean:
            said += f", lowest {look.score(min(means))}"
        said += left_out(number, sum(section.uncounted for section in sections))
        lines += look.folded(said, 2, score_markup(mean))
    return lines


# -- the table ---------------------------------------------------------------------------------------------


def field_table(section: Section, look: Look) -> list[StyledLine]:
    """Return the table of a section; in mode "failed", nothing if all fields are right."""
    limit = _MAX_ROWS if look.mode == "auto" else None
    rows = worst_rows(section.rows, limit, only_imperfect=look.mode == "failed")
    if not rows and look.mode == "failed":
        return []
    header, *lines, rule, total = ruled(_table(section, rows, look), look)
    hidden = len(section.rows) - len(rows)
    if hidden and look.mode == "auto":  # mode "failed" hides only good ones
        lines.append(look.more(count(hidden, "more row"), indent=""))
    note = absence_note(section.total)
    told = look.folded(note, 3) if note else []
    return [header, *lines, rule, total, *told, *_unmatched(section.unmatched, look)]


def _table(section: Section, rows: Sequence[Row], look: Look) -> list[StyledLine]:
    columns = shown_columns([*(row.figures for row in rows), section.total])
    places = range(1, len(columns) + 1)
    spare = sorted(places, key=lambda at: _DROP_ORDER.index(columns[at - 1].key))[:-1]
    lines: list[StyledLine] = []
    for is_long, gap, enough in _ATTEMPTS:
        cells = list(_cells(section, rows, columns, look, is_long=is_long))
        lines = table_lines(cells, look, texts={0: 0.5}, spare=spare, gap=gap, enough=enough, first=_MIN_PATH)
        if len(lines[0]) == len(cells[0]):
            break
    return lines


def _cells(
    section: Section, rows: Sequence[Row], columns: Sequence[Column], look: Look, *, is_long: bool
) -> Iterator[StyledLine]:
    yield [("field", BOLD), *((each.title if is_long else each.short, BOLD) for each in columns)]
    names = [("  " * min(row.depth, _MAX_DEPTH) + row.label, PLAIN) for row in rows]
    all_figures = [*(row.figures for row in rows), section.total]
    for name, figures in zip([*names, (ALL_FIELDS, BOLD)], all_figures, strict=True):
        yield [name, *(_cell(column, figures, section, look, is_long=is_long) for column in columns)]


def _cell(
    column: Column, figures: FieldAggregation, section: Section, look: Look, *, is_long: bool
) -> tuple[str, Markup]:
    value = column.value(figures)
    if column.key == "hallucinations" and not section.extra:
        return NOT_COUNTED if is_long else look.score(None), DIM
    if column.is_count:
        return count(int(value or 0)), PLAIN if value else DIM
    return look.score(value), score_markup(value)


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
    return [look.title(title), *table_lines(rows, look, texts={0: 1, 1: 0.5}, indent="  "), *more]


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


def _below(comparison: Comparison) -> BelowLimit:
    """Return why a comparison failed: a figure below its limit (the score, else the lowest), or an error."""
    if not comparison.has_figures:
        return BelowLimit(comparison.id, "nothing but batch errors", None, None)
    missed = [each for each in _measured(comparison) if not each.is_reached]
    if missed:
        is_score = missed[0].what == "score"
        return _limited(
            comparison, missed[0] if is_score else min(missed, key=lambda each: each.value or 0.0)
        )
    if comparison.parsed is False:
        return BelowLimit(comparison.id, "no JSON found", None, None)
    if comparison.validity == "invalid":
        return BelowLimit(comparison.id, "not valid by the schema", None, None)
    if comparison.errors:
        return BelowLimit(comparison.id, "comparator error", None, None)
    return BelowLimit(comparison.id, "score", comparison.score, None)


def _narrow(comparison: Comparison) -> BelowLimit | None:
    """Return the figure of a passed comparison that is nearest to its limit; None if none is within 0.01."""
    figures = [
        _limited(comparison, each)
        for each in _measured(comparison)
        if each.value is not None and 0 < each.limit <= each.value < min(each.limit + _NARROW, 1.0)
    ]
    return min(figures, key=_slack, default=None)


def _slack(case: BelowLimit) -> float:
    return (case.value or 0.0) - (case.limit or 0.0)


def _limited(comparison: Comparison, each: Measured) -> BelowLimit:
    return BelowLimit(comparison.id, each.field or each.what, each.value, each.limit)


def _measured(comparison: Comparison) -> Iterator[Measured]:
    return measured(
        dict(comparison.threshold),
        partial(getattr, comparison),
        lambda: {path: figures.mean_score for path, figures in comparison.fields.items()},
    )


def _notes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield notes on the figures: batch errors, comparators that raised, warnings."""
    if failed := sum(each.counts.get("batch_error", 0) for each in comparisons):
        unscored = sum(not each.has_figures for each in comparisons)
        also = f"; {count(unscored, 'comparison')} without any figure" if unscored else ""
        yield f"{count(failed, 'result')} left out of the figures: the batch comparator failed{also}"
    if note := answers_note(Answers.of(comparisons)):
        violations = [f"{entry} ({each.id})" for each in comparisons for entry in each.violations]
        yield f"{note}, the first violation: {violations[0]}" if violations else note
    errors = [f"{entry} ({each.id})" for each in comparisons for entry in each.errors]
    warnings = [f"{entry} ({each.id})" for each in comparisons for entry in each.warnings]
    for entries, noun in ((errors, "comparator error"), (warnings, "warning")):
        if entries:
            first = ", the first: " if len(entries) > 1 else ": "
            yield f"{count(len(entries), noun)}{first}{entries[0]}"


# -- repeated cases ----------------------------------------------------------------------------------------


def _repeat_blocks(repeats: Repeats, look: Look) -> list[list[StyledLine]]:
    """Return the lines about repeated cases, in blocks: what differs between runs, or all in mode "all"."""
    if not repeats:
        return []
    return [[*_repeat_head(repeats, look), *_repeated(repeats, look)], list(_stability(repeats, look))]


def _repeat_head(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    """Yield the figures over all repeated cases."""
    runs = sum(len(case.runs) for case in repeats.cases)
    yield look.title(f"repeats: {count(len(repeats.cases), 'case')} in {count(runs, 'run')}")
    k = repeats.k
    figures = [("pass@1", repeats.pass_at(1))]
    if k > 1:
        figures += [(f"pass@{k}", repeats.pass_at(k)), (f"pass^{k}", repeats.pass_all(k))]
    if repeats.flip_rate is not None:
        figures.append(("flip rate", repeats.flip_rate))
    yield look.line("  " + "  ".join(f"{name} {look.score(value)}" for name, value in figures))


def _repeated(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    cases = sorted(repeats.cases, key=lambda case: (case.pass_rate, case.id))
    if look.mode != "all":
        cases = [case for case in cases if case.passed_runs < len(case.runs)]
    if not cases:
        return
    shown, more = look.cut(cases, _MAX_CASES, "case")
    rows: list[StyledLine] = [[("passed", DIM), ("score", DIM), ("", PLAIN)]]
    for case in shown:
        of_runs = [run.figure("score") for run in case.runs]
        scores = " to ".join(dict.fromkeys(look.score(score) for score in (min(of_runs), max(of_runs))))
        markup = score_markup(case.pass_rate)
        passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
        rows.append([(passed, markup), (scores, markup), (case.id, PLAIN)])
    yield from [*table_lines(rows, look, texts={0: 1, 1: 1, 2: 0.5}, indent="  "), *more]


def _stability(repeats: Repeats, look: Look) -> Iterator[StyledLine]:
    fields = [field for field in repeats.fields if look.mode == "all" or field.stability < 1]
    if not fields:
        return
    shown, more = look.cut(fields, _MAX_FIELDS, "field")
    several = len({field.metric for field in repeats.fields}) > 1
    yield look.title("stability of fields (1 minus the mean difference of a score between two runs):")
    for field in shown:
        path = f"{field.path}  ({field.metric})" if several else field.path
        figure = look.score(field.stability)
        yield look.named(f"  {figure}  ", score_markup(field.stability), path)
    yield from more
