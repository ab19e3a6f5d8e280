"""Tables of a run: by the values of a tag, by the parameters of a fixture, by model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.answer import STATISTICS as SPENT
from pytest_jsonmatch.answer import Spent, compute_statistic
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import SCORES
from pytest_jsonmatch.report.blocks import AnyCell, ReportBlock, Table, TableCell, Text, score_cell
from pytest_jsonmatch.report.fields import ALL_FIELDS, field_scores
from pytest_jsonmatch.report.formatting import amount_text, dash
from pytest_jsonmatch.results.comparison import Case, Comparison, by_metric, comparisons_of, mean_of
from pytest_jsonmatch.results.parts import by_tag, without_tag

if TYPE_CHECKING:
    from pytest_jsonmatch.results.run import RunResult

_MAX_ROWS: Final = 30
_TITLES: Final = ("score", "precision", "recall", "F1", "pass rate")
_SPARE: Final = {"F1": 3, "precision": 2, "recall": 1}
_SPENT_TITLES: Final = dict(
    zip(("seconds", "p95", "cost", "total cost", "tokens", "total tokens"), SPENT, strict=True)
)
"""The figure in each column of what answers took, by its title."""


def tag_blocks(results: RunResult, name: str, *, fields: bool = True) -> Iterator[ReportBlock]:
    """Yield the figures of a run by the values of a tag, and those of `fields`; or why there are none."""
    parts = dict(by_tag(results, name))
    if not parts:
        known = {tag.partition("=")[0] for tag in results.tags}
        text = f"nothing has a tag {name!r}{did_you_mean(name, known)}" if known else "nothing has any tag"
        yield Text(text, "open")
        return
    noun = results.noun
    rows: list[list[AnyCell]] = [
        [
            value or '""',
            count(part.total_records),
            *map(score_cell, (*map(part.mean, SCORES), part.pass_rate)),
        ]
        for value, part in parts.items()
    ]
    rest = without_tag(results, name)
    note = f"{count(rest, noun)} without this tag" if rest else ""
    title = f"by {{}}, mean over {noun}s"
    columns = (name, f"{noun}s", *_TITLES)
    yield Table(columns, rows, title, "value", names=[name], spare=_SPARE, note=note)
    if fields:
        yield from _field_blocks(name, {value: part.tabled for value, part in parts.items()})


def _field_blocks(name: str, groups: Mapping[str, Sequence[Case]]) -> Iterator[ReportBlock]:
    """Yield the scores of fields in groups of cases, side by side; a table for each metric."""
    by_group = {label: by_metric(cases) for label, cases in groups.items()}
    metrics = dict.fromkeys(metric for found in by_group.values() for metric in found)
    titles = [label or '""' for label in groups]
    for metric in metrics:
        scores = [field_scores(found.get(metric, ())) for found in by_group.values()]
        paths = dict.fromkeys(path for each in scores for path in each if path)
        rows = [(path, [each.get(path) for each in scores]) for path in paths]
        rows = [(path, values) for path, values in rows if any(value is not None for value in values)]
        rows.sort(
            key=lambda row: (
                fsum(known := [each for each in row[1] if each is not None]) / len(known),
                row[0],
            )
        )
        yield Table(
            ("field", *titles),
            [[path, *map(score_cell, values)] for path, values in rows],
            "score of fields by {}" + (" ({})" if len(metrics) > 1 else ""),
            names=[name, metric][: 1 + (len(metrics) > 1)],
            most=_MAX_ROWS,
            total=[TableCell(ALL_FIELDS, "strong"), *(score_cell(each[""]) for each in scores)],
            spare={title: at for at, title in enumerate(titles)},
        )


# -- what answers took -------------------------------------------------------------------------------------


def spent_blocks(cases: Iterable[Case]) -> Iterator[ReportBlock]:
    """Yield what answers took, by model and in total, as `spent_of` does."""
    by_model: dict[str, list[Comparison]] = {}
    for each in comparisons_of(cases):
        if each.spent is not None and each.spent != Spent():
            by_model.setdefault(each.spent.model or dash(True), []).append(each)
    groups = dict(sorted(by_model.items()))
    if len(groups) > 1:
        groups["all models"] = [each for group in groups.values() for each in group]
    return spent_of(groups, "model")


def spent_of(groups: Mapping[str, Iterable[Comparison]], noun: str) -> Iterator[ReportBlock]:
    """Yield what answers took, by group, if any answer says; others are in no row.

    Columns without any known value are left out. If only some answers have a value, the cell says how many.
    """
    known = {
        name: [each for each in group if each.spent is not None and each.spent != Spent()]
        for name, group in groups.items()
    }
    if not any(known.values()):
        return
    columns = [
        (title, [_spent_cell(figure, [each.spent or Spent() for each in group]) for group in known.values()])
        for title, figure in _SPENT_TITLES.items()
    ]
    columns = [(title, cells) for title, cells in columns if set(cells) != {dash(True)}]
    rows: list[list[AnyCell]] = [
        [name, count(len(group)), _mean_score(group), *(cells[at] for _, cells in columns)]
        for at, (name, group) in enumerate(known.items())
    ]
    titles = [title for title, _ in columns]
    spare = {title: at for at, title in enumerate(titles)}
    header = (noun, "answers", "mean score", *titles)
    yield Table(header, rows, f"answers by {noun}, means and totals", noun, spare=spare)


def _spent_cell(figure: str, spent: Sequence[Spent]) -> str:
    value, known = compute_statistic(figure, spent)
    if value is None:
        return dash(True)
    return amount_text(value) + (f" (of {count(known)})" if known < len(spent) else "")


def _mean_score(group: Iterable[Comparison]) -> TableCell:
    return score_cell(mean_of([each.score for each in group if each.has_figures]))
