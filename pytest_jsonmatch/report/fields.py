"""Build the table of fields that all reports show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.result.aggregation import COUNTS, SHARES, FieldAggregation
from pytest_jsonmatch.engine.result.rows import format_rows
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Column,
    Level,
    Row,
    RowDetail,
    ShownDifference,
    Table,
    TableCell,
    Text,
    score_cell,
)
from pytest_jsonmatch.report.formatting import STATUS_WORDS, score_text, tone_of
from pytest_jsonmatch.results.comparison import Case, Difference, group_by_metric, merge_differences
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.results.totals import Totals

ALL_FIELDS: Final = "all fields"
"""The name of the row for all fields."""
_SPARE: Final = {
    title: place
    for place, title in enumerate(
        ("change", "before", "mismatch", "missing", "extra", "match", "recall", "precision", "F1"), 1
    )
}
"""The columns that narrow terminals may leave out, the one with the greatest number first."""
_MAX_ROWS: Final = 30
_SAME: Final = 1e-12
MAX_DIFFERENCES: Final = 10
"""At most this many differences of a field are shown."""


def shown_fields(totals: Totals) -> dict[str, FieldAggregation]:
    """Return the fields with results, those that lower the score most first."""
    found = {path: sums for path, sums in totals.per_field().items() if sums.total or sums.batch_errors}
    return dict(sorted(found.items(), key=lambda field: (cost(field[1]), field[0])))


def _title(totals: Totals, noun: str) -> str:
    """Return the title of a table, with a `{}` for the metric: its cases, and what is not counted."""
    counts, options = totals.counts, len(totals.metrics)
    title = f"fields of {count(counts['records'], noun)} by {{}}"
    if counts["comparisons"] > counts["runs"]:
        title += f", {count(counts['comparisons'], 'comparison')}"
    if options > 1:
        title += f", {count(options, 'set')} of options"
    return title + left_out(counts["records"], counts["ignores_extra"])


def cost(aggregation: FieldAggregation) -> tuple[bool, bool, float, float]:
    """Return a sort key for fields: those that lower the score most come first, by the weight they lose.

    >>> rare = FieldAggregation(mismatches=1, expected_weight=1)
    >>> often = FieldAggregation(4, 2, score_sum=4, weighted_score=4, expected_weight=6)
    >>> cost(often) < cost(rare)
    True
    """
    lost = aggregation.expected_weight - aggregation.weighted_score
    if aggregation.actual_leaves:
        lost += aggregation.hallucinations * aggregation.actual_weight / aggregation.actual_leaves
    return is_perfect(aggregation), aggregation.mean_score is None, -lost, aggregation.mean_score or 0.0


def is_perfect(aggregation: FieldAggregation) -> bool:
    """Return whether every result scores 1 and none is left out."""
    return (aggregation.mean_score is None or aggregation.mean_score >= 1.0) and not aggregation.batch_errors


def left_out(cases: int, uncounted: int) -> str:
    """Return a note if extra values are not counted in some or all cases; otherwise "".

    >>> left_out(3, 3), left_out(3, 0)
    ('; extras not counted', '')
    """
    if not uncounted:
        return ""
    extent = "" if uncounted == cases else f" in {count(uncounted)} of them"
    return f"; extras not counted{extent}"


# -- the table ---------------------------------------------------------------------------------------------


def field_blocks(
    results: RunResult, before: Mapping[tuple[str, str], float | None]
) -> Iterator[Table | Text]:
    """Yield the table of each metric, and a sentence on the rows of each array.

    Scores are means over the runs of each case first, and then over cases. Counts are sums over all runs.

    Args:
        results: the run.
        before: the scores of the baseline, by metric and path.
    """
    cases = group_by_metric(results.cases)
    for metric, totals in results.totals_by_metric.items() if results.total_records else ():
        metric_cases = cases.get(metric, [])
        details_of = ""
        if results.is_partial:
            details_of = f", in {count(len(metric_cases))} of {count(results.total_records, 'record')}"
        brief = _brief(metric, totals, results.noun, metric_cases)
        known = {path: score for (name, path), score in before.items() if name == metric}
        table = _table(totals, known, merge_differences(metric_cases, MAX_DIFFERENCES))
        yield replace(
            table,
            title=_title(totals, results.noun),
            names=[metric],
            details_of=details_of,
            brief=brief,
        )
        for path, rows in totals.per_array().items():
            level: Level = "normal" if rows.missing or rows.extra else "all"
            yield Text(f"{path}: {format_rows(rows)}", level=level)


def _table(
    totals: Totals,
    before: Mapping[str, float | None],
    differences: Mapping[str, Sequence[Difference]],
) -> Table:
    fields, total = shown_fields(totals), totals.over().read()
    columns = _columns(totals, [total, *fields.values()])
    known = before.keys() & fields.keys()

    def cells(name: AnyCell, aggregation: FieldAggregation, was: float | None = None) -> list[AnyCell]:
        moved = [
            TableCell("" if was is None else score_text(was), "", was),
            _change(aggregation.mean_score, was),
        ]
        return [name, *_cells(aggregation, columns), *(moved if known else ())]

    titles = (*columns, *(("before", "change") if known else ()))
    details = {
        path: [RowDetail(differences=show_differences(path, found))] for path, found in differences.items()
    }
    return Table(
        [
            Column("field", "name"),
            *(Column(title, "bar" if title == "score" else "number", _SPARE.get(title)) for title in titles),
        ],
        [
            Row(cells(path, aggregation, before.get(path)), details.get(path, ()))
            for path, aggregation in fields.items()
        ],
        max_rows=_MAX_ROWS,
        total=cells(TableCell(ALL_FIELDS, "strong"), total),
        perfect_rows=sum(map(is_perfect, fields.values())),
        note=absence_note(total),
    )


def _columns(totals: Totals, aggregations: Iterable[FieldAggregation]) -> dict[str, str]:
    """Return the titles of the columns to show, with the attribute that each one shows.

    Precision, recall and F1 are shown only if they differ from the score, "extra" only if extra values count.
    """
    values = [
        (getattr(aggregation, name), aggregation.mean_score or 0.0)
        for aggregation in aggregations
        for name in list(SHARES.values())[1:]
    ]
    is_other = any(value is not None and abs(value - score) > _SAME for value, score in values)
    hidden = set() if is_other else {"precision", "recall", "F1"}
    if totals.counts["ignores_extra"] >= totals.counts["records"]:
        hidden.add("extra")
    return {title: name for title, name in {**COUNTS, **SHARES}.items() if title not in hidden}


def _cells(aggregation: FieldAggregation, columns: Mapping[str, str]) -> Iterator[TableCell]:
    for title, name in columns.items():
        value = getattr(aggregation, name)
        yield (
            score_cell(value) if title in SHARES else TableCell(count(value), "" if value else "faint", value)
        )


def _change(now: float | None, before: float | None) -> TableCell:
    from pytest_jsonmatch.report.formatting import change_text

    if now is None or before is None:
        return TableCell("")
    change = now - before
    return TableCell(change_text(change), "good" if change > 0 else "bad" if change < 0 else "faint", change)


def show_differences(path: str, differences: Iterable[Difference]) -> list[ShownDifference]:
    """Return the kept differences of a field as a page shows them."""
    return [
        ShownDifference(
            difference.at or path,
            STATUS_WORDS[difference.status],
            difference.expected,
            difference.actual,
            difference.times,
            difference.score,
        )
        for difference in differences
    ]


def _brief(metric: str, totals: Totals, noun: str, cases: Sequence[Case]) -> Text:
    """Return the sentence that replaces the table of a metric in a brief report."""
    counts, mean = totals.counts, totals.mean("score")
    text = f"jsonmatch: {metric}, {count(counts['records'], noun)}"
    if counts["comparisons"] > counts["records"]:
        is_repeated = counts["runs"] > counts["records"]
        text += f" in {count(counts['comparisons'], 'run' if is_repeated else 'comparison')}"
    text += f", {count(totals.over().total, 'field')}, "
    text += "all 1.00" if mean == 1.0 else f"score {score_text(mean)} (mean over {noun}s)"
    means = [case.mean("score") for case in cases if case.has_figures]
    if mean is not None and means and min(means) < mean:
        text += f", lowest {score_text(min(means))}"
    return Text(text + left_out(counts["records"], counts["ignores_extra"]), tone_of(mean))


def absence_note(aggregation: FieldAggregation) -> str:
    """Return the note below a table on missing and extra values; empty if there are none.

    >>> absence_note(FieldAggregation(omissions=1, expected_leaves=8))
    '1 of 8 expected leaves missing (12.5 %)'
    """
    parts = []
    if aggregation.omission_rate:
        leaves = count(aggregation.expected_leaves, "expected leaf", "expected leaves")
        parts.append((aggregation.omissions, leaves, "missing", aggregation.omission_rate))
    if aggregation.hallucination_rate:
        leaves = count(aggregation.actual_leaves, "actual leaf", "actual leaves")
        parts.append((aggregation.hallucinations, leaves, "extra", aggregation.hallucination_rate))
    return "; ".join(
        f"{count(part)} of {total} {what} ({100 * rate:.3g} %)" for part, total, what, rate in parts
    )
