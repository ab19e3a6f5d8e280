"""Tables of a run: by the values of a tag, by the parameters of a fixture, by model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import Column, ReportBlock, Row, Table, TableCell, Text, score_cell
from pytest_jsonmatch.report.fields import ALL_FIELDS
from pytest_jsonmatch.report.formatting import amount_text, dash
from pytest_jsonmatch.results.answer import STATISTICS as SPENT
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.results.parts import split_by_tag, without_tag
from pytest_jsonmatch.results.totals import Totals

if TYPE_CHECKING:
    from pytest_jsonmatch.results.costs import CostTotals
    from pytest_jsonmatch.results.run import RunResult

_MAX_ROWS: Final = 30
_TITLES: Final = ("score", "precision", "recall", "F1", "pass rate")
_SPARE: Final = {"F1": 3, "precision": 2, "recall": 1}
_COST_TITLES: Final = dict(
    zip(("seconds", "p95", "cost", "total cost", "tokens", "total tokens"), SPENT, strict=True)
)
"""The statistic in each column of the table of cost and latency, by the title of the column."""


def tag_blocks(results: RunResult, name: str, *, fields: bool = True) -> Iterator[ReportBlock]:
    """Yield tables of scores by the values of a tag, or a sentence if nothing has that tag.

    Args:
        results: the run.
        name: the name of the tag.
        fields: whether to add a table of the scores of fields.
    """
    parts = dict(split_by_tag(results, name))
    if not parts:
        known = {tag.partition("=")[0] for tag in results.tags}
        missing = f"a tag {name!r}{did_you_mean(name, known)}" if known else f"any tag, not even {name!r}"
        yield Text(f"no {results.noun} has {missing}", "open")
        return
    noun = results.noun
    rows = [
        Row(
            [
                value or '""',
                count(part.total_records),
                *map(score_cell, (*map(part.mean, SCORES), part.pass_rate)),
            ]
        )
        for value, part in parts.items()
    ]
    rest = without_tag(results, name)
    note = f"{count(rest, noun)} without this tag" if rest else ""
    title = f"by {{}}, mean over {noun}s"
    scores = (Column(score, spare=_SPARE.get(score)) for score in _TITLES)
    columns = [Column(name, "name"), Column(f"{noun}s"), *scores]
    yield Table(columns, rows, title, "value", names=[name], note=note)
    if fields:
        yield from _field_blocks(name, parts)


def _field_blocks(name: str, groups: Mapping[str, RunResult]) -> Iterator[ReportBlock]:
    """Yield a table for each metric with the scores of fields in the parts of a run."""
    by_group = [part.totals_by_metric for part in groups.values()]
    metrics = dict.fromkeys(metric for found in by_group for metric in found)
    titles = [label or '""' for label in groups]
    for metric in metrics:
        totals = [found.get(metric, Totals()) for found in by_group]
        scores = [{path: sums.rate("score") for path, sums in part.fields.items()} for part in totals]
        paths = dict.fromkeys(path for by_path in scores for path in by_path)
        rows = [(path, [by_path.get(path) for by_path in scores]) for path in paths]
        rows = [(path, values) for path, values in rows if any(value is not None for value in values)]
        rows.sort(
            key=lambda row: (
                fsum(known := [value for value in row[1] if value is not None]) / len(known),
                row[0],
            )
        )
        yield Table(
            [Column("field", "name"), *(Column(title, spare=at) for at, title in enumerate(titles))],
            [Row([path, *map(score_cell, values)]) for path, values in rows],
            "score of fields by {}" + (" ({})" if len(metrics) > 1 else ""),
            names=[name, metric][: 1 + (len(metrics) > 1)],
            max_rows=_MAX_ROWS,
            total=[
                TableCell(ALL_FIELDS, "strong"),
                *(score_cell(part.over().rate("score")) for part in totals),
            ],
        )


# -- cost and latency --------------------------------------------------------------------------------------


def cost_blocks(costs: CostTotals) -> Iterator[ReportBlock]:
    """Yield a table of the cost and latency of answers, by model and in total."""
    groups = {model or dash(True): part for model, part in costs.by_model.items()}
    if len(groups) > 1:
        groups["all models"] = costs
    return grouped_cost_blocks(groups, "model")


def grouped_cost_blocks(groups: Mapping[str, CostTotals], noun: str) -> Iterator[ReportBlock]:
    """Yield a table of the cost and latency of answers by group, if any answer has these data.

    Answers without any data are not counted. Columns without any known value are left out. If only some
    answers have a value, the cell contains their number.
    """
    if not any(costs.answers for costs in groups.values()):
        return
    columns = [
        (title, [_cost_cell(statistic, costs) for costs in groups.values()])
        for title, statistic in _COST_TITLES.items()
    ]
    columns = [(title, cells) for title, cells in columns if set(cells) != {dash(True)}]
    rows = [
        Row([name, count(costs.answers), score_cell(costs.mean_score), *(cells[at] for _, cells in columns)])
        for at, (name, costs) in enumerate(groups.items())
    ]
    amounts = (Column(title, spare=at) for at, (title, _) in enumerate(columns))
    header = [Column(noun, "name"), Column("answers"), Column("mean score"), *amounts]
    yield Table(header, rows, f"answers by {noun}, means and totals", noun)


def _cost_cell(statistic: str, costs: CostTotals) -> str:
    value, known = costs.compute(statistic)
    if value is None:
        return dash(True)
    return amount_text(value) + (f" (of {count(known)})" if known < costs.answers else "")
