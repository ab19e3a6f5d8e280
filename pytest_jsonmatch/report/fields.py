"""Build the table of fields that all reports show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.result.aggregation import COUNTS, POSITIONS, SHARES, FieldAggregation
from pytest_jsonmatch.engine.result.rows import format_rows
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Level,
    RowDetail,
    ShownDifference,
    Table,
    TableCell,
    Text,
    score_cell,
)
from pytest_jsonmatch.report.formatting import STATUS_WORDS, score_text, tone_of
from pytest_jsonmatch.results.comparison import (
    Case,
    Difference,
    add_sums,
    field_sums,
    group_by_metric,
    iter_comparisons,
    make_aggregation,
    mean_of,
    merge_differences,
    merge_rows,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.rows import RowCounts
    from pytest_jsonmatch.results.run import RunResult

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
_RESULTS: Final = [place for status, place in POSITIONS.items() if status != "skipped"]
"""The indices, in the sums of a field, of the counts that a table shows."""
MAX_DIFFERENCES: Final = 10
"""At most this many differences of a field are shown."""


@final
class MetricFields(NamedTuple):
    """The fields of the cases compared with one metric; statistics of different metrics do not add up.

    Args:
        metric: the metric's name.
        cases: how many cases there are.
        variants: how many different sets of options they have.
        uncounted: how many of them do not count extra values.
        fields: the aggregates by path, the fields that lower the score most first.
        total: the aggregate of all fields.
        rows: counts of rows by the path of the array.
        noun: the noun for a case.
    """

    metric: str
    cases: int
    variants: int
    uncounted: int
    fields: Mapping[str, FieldAggregation]
    total: FieldAggregation
    rows: Mapping[str, RowCounts]
    noun: str = "case"

    @property
    def counts_extra(self) -> bool:
        """Whether any case counts extra values."""
        return self.uncounted < self.cases

    @property
    def title(self) -> str:
        """The title of the table: the number of cases and what is not counted, with a `{}` for the metric."""
        variants = f", {count(self.variants, 'set')} of options" if self.variants > 1 else ""
        return (
            f"fields of {count(self.cases, self.noun)} by {{}}{variants}"
            f"{left_out(self.cases, self.uncounted)}"
        )

    @property
    def is_perfect(self) -> bool:
        """Whether every result scores 1 and none is left out."""
        return all(map(is_perfect, self.fields.values()))


def fields_of(results: RunResult) -> list[MetricFields]:
    """Return the fields of a run for each metric; those of a corpus cover all records, kept or not.

    Scores are means over the runs of each case first, and then over cases. Counts are sums over all runs.
    """
    if not results.total_records:
        return []
    found = [_fields(metric, cases) for metric, cases in group_by_metric(results.tabled).items()]
    if not results.is_of_records:
        return found
    total = results.total_records
    return [
        metric._replace(cases=total, noun=results.noun, uncounted=0 if metric.counts_extra else total)
        for metric in found
    ]


def _fields(metric: str, cases: Sequence[Case]) -> MetricFields:
    comparisons = list(iter_comparisons(cases))
    shares = [1 / len(case.runs) for case in cases for _ in iter_comparisons([case])]
    silent = [
        share for share, comparison in zip(shares, comparisons, strict=True) if not comparison.counts_extra
    ]
    number, sums = max(round(sum(shares)), 1), field_sums(cases)
    fields = {
        path: make_aggregation(field_sum)
        for path, field_sum in sums.items()
        # A path without results (skipped, absent) has no row, but counts in the total.
        if any(field_sum[place] for place in _RESULTS)
    }
    return MetricFields(
        metric,
        number,
        variants=len({comparison.signature for comparison in comparisons}),
        uncounted=number if len(silent) == len(comparisons) else round(sum(silent)),
        fields=dict(sorted(fields.items(), key=lambda field: (cost(field[1]), field[0]))),
        total=make_aggregation(add_sums(sums.values())),
        rows=merge_rows(cases),
    )


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
    results: RunResult, metrics: Sequence[MetricFields], before: Mapping[tuple[str, str], float | None]
) -> Iterator[Table | Text]:
    """Yield the table of each metric, and a sentence on the rows of each array.

    Args:
        results: the run.
        metrics: its fields.
        before: the scores of the baseline, by metric and path.
    """
    cases = group_by_metric(results.cases)
    for metric in metrics:
        metric_cases = cases.get(metric.metric, [])
        details_of = ""
        if results.is_partial:
            details_of = f", in {count(len(metric_cases))} of {count(results.total_records, 'record')}"
        yield _table(metric, metric_cases, _brief(metric, results, metric_cases), details_of, before)
        for path, rows in metric.rows.items():
            level: Level = "normal" if rows.missing or rows.extra else "all"
            yield Text(f"{path}: {format_rows(rows)}", level=level)


def _table(
    metric: MetricFields,
    cases: Sequence[Case],
    brief: Text,
    details_of: str,
    before: Mapping[tuple[str, str], float | None],
) -> Table:
    columns = _columns(metric)
    known = {path: before[metric.metric, path] for path in metric.fields if (metric.metric, path) in before}
    differences = merge_differences(cases, MAX_DIFFERENCES)

    def row(name: AnyCell, aggregation: FieldAggregation, was: float | None = None) -> list[AnyCell]:
        moved = [
            TableCell("" if was is None else score_text(was), "", was),
            _change(aggregation.mean_score, was),
        ]
        return [name, *_cells(aggregation, columns), *(moved if known else ())]

    return Table(
        ("field", *columns, *(("before", "change") if known else ())),
        [row(path, aggregation, known.get(path)) for path, aggregation in metric.fields.items()],
        metric.title,
        names=[metric.metric],
        max_rows=_MAX_ROWS,
        spare=_SPARE,
        bars=("score",),
        total=row(TableCell(ALL_FIELDS, "strong"), metric.total),
        perfect_rows=sum(map(is_perfect, metric.fields.values())),
        details=[
            [RowDetail(differences=show_differences(path, differences[path]))] if path in differences else []
            for path in metric.fields
        ],
        details_of=details_of,
        note=absence_note(metric.total),
        brief=brief,
    )


def _columns(metric: MetricFields) -> dict[str, str]:
    """Return the titles of the columns to show, with the attribute that each one shows.

    Precision, recall and F1 are shown only if they differ from the score, "extra" only if extra values count.
    """
    values = [
        (getattr(aggregation, name), aggregation.mean_score or 0.0)
        for aggregation in (metric.total, *metric.fields.values())
        for name in list(SHARES.values())[1:]
    ]
    is_other = any(value is not None and abs(value - score) > _SAME for value, score in values)
    hidden = set() if is_other else {"precision", "recall", "F1"}
    if not metric.counts_extra:
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


def _brief(metric: MetricFields, results: RunResult, cases: Sequence[Case]) -> Text:
    """Return the sentence that replaces the table of a metric in a brief report."""
    text = f"jsonmatch: {metric.metric}, {count(metric.cases, metric.noun)}"
    if (runs := len(list(iter_comparisons(cases)))) > metric.cases:
        text += f" in {count(runs, 'run')}"
    text += f", {count(metric.total.total, 'field')}, "
    means = [case.mean("score") for case in cases if case.has_figures]
    mean = mean_of(means) if not results.is_of_records else results.mean("score")
    text += "all 1.00" if mean == 1.0 else f"score {score_text(mean)} (mean over {metric.noun}s)"
    if mean is not None and means and min(means) < mean:
        text += f", lowest {score_text(min(means))}"
    return Text(text + left_out(metric.cases, metric.uncounted), tone_of(mean))


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


def field_scores(cases: Iterable[Case]) -> dict[str, float | None]:
    """Return the mean score of each field by its path, and that of all fields under ""."""
    metric = _fields("", list(cases))
    return {
        **{path: aggregation.mean_score for path, aggregation in metric.fields.items()},
        "": metric.total.mean_score,
    }
