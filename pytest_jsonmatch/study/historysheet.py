"""Figures over many runs, as a sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.sheets import Cell, Chart, Column, Heading, Rows, Said, Series, Sheet, Spark
from pytest_jsonmatch.results.model import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.report.sheets import Block
    from pytest_jsonmatch.study.history import HistoryRun, HistoryStudy

_BARS: Final = 40
"""A sparkline has at most so many bars; of more runs each is the mean of several."""
_CHARTED: Final = 5
"""So many fields are drawn in one chart: those that move most."""


def history_sheet(found: HistoryStudy) -> Sheet:
    """Return a history for people."""
    runs = found.runs
    days = [run.created[:10] for run in (runs[0], runs[-1]) if run.created]
    when = f", {' to '.join(dict.fromkeys(days))}" if days else ""
    spread = {
        path: _spread(_line(runs, path)) for path in sorted({path for run in runs for path in run.fields})
    }
    moved = sorted(spread, key=lambda path: (-spread[path], path))
    columns = [
        Column("figure"),
        Column("by run", text=True),
        *map(Column, ("first", "last", "least", "most")),
    ]
    blocks: list[Block] = [
        *_change_blocks(found),
        Rows(columns, [_row(found, name, is_field=False) for name in (*FIGURES, "pass_rate")], noun="figure"),
        _chart("Figures by run", found, ["score", "pass_rate"], is_field=False),
        Heading("Fields"),
        Rows([Column("field"), *columns[1:]], [_row(found, path, is_field=True) for path in moved]),
        _chart("The fields that move most", found, [path for path in moved[:_CHARTED] if spread[path]]),
        Heading("Runs"),
        Rows(
            [
                Column("run"),
                Column("created", text=True, spare=True),
                Column("commit", text=True),
                Column("cases"),
                Column("score"),
                Column("pass rate"),
                Column("", text=True),
            ],
            [
                [
                    f"{at} {run.name}",
                    run.created[:16].replace("T", " "),
                    _commit(run),
                    count(run.cases),
                    score_text(run.figures["score"]),
                    score_text(run.figures["pass_rate"]),
                    Cell(run.note.partition(":")[0], "open"),
                ]
                for at, run in enumerate(runs, 1)
            ],
            noun="run",
        ),
    ]
    return Sheet("jsonmatch history", f"history of {count(len(runs), 'run')}{when}", blocks)


def _change_blocks(found: HistoryStudy) -> Iterator[Block]:
    """Yield what has changed, and what can't be compared."""
    if not found.changes:
        yield Said(
            f"No change is shown. (If nothing changes, one is in {1 - found.confidence:.2g} of histories.)"
        )
    columns = ["changed", "", "from", "to", "since", "commit", "shown by"]
    yield Rows(
        [Column(title, text=title in {"", "since", "commit", "shown by"}) for title in columns],
        [
            [
                f"field {each.figure}" if each.is_field else each.figure,
                Cell("fell", "bad") if each.after < each.before else Cell("rose", "good"),
                score_text(each.before, 3),
                score_text(each.after, 3),
                f"run {each.run + 1}, {found.runs[each.run].name}",
                _commit(found.runs[each.run]),
                f"run {each.shown_by + 1}",
            ]
            for each in found.changes
        ],
        noun="change",
    )
    for at, run in enumerate(found.runs, 1):
        if run.note:
            yield Said(f"run {at}, {run.name}: {run.note}", "open")


def _commit(run: HistoryRun) -> str:
    return run.commit[:10] + ("+" if run.commit.endswith("+") and len(run.commit) > 10 else "")


def _line(runs: Sequence[HistoryRun], name: str, *, is_field: bool = True) -> list[float | None]:
    return [run.fields.get(name) if is_field else run.figures.get(name) for run in runs]


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known)


def _row(found: HistoryStudy, name: str, *, is_field: bool) -> list[str | Cell | Spark]:
    values = _line(found.runs, name, is_field=is_field)
    known: list[float | None] = [value for value in values if value is not None] or [None]
    changes = [each for each in found.changes if (each.figure, each.is_field) == (name, is_field)]
    tone = "" if not changes else "bad" if changes[-1].after < changes[-1].before else "good"
    ends = known[0], known[-1], min(known, key=_or_0), max(known, key=_or_0)
    first, last, *others = map(score_text, ends)
    step = -(-len(values) // _BARS)
    parts = [
        [each for each in values[at : at + step] if each is not None] for at in range(0, len(values), step)
    ]
    bars = [sum(part) / len(part) if part else None for part in parts]
    return [name, Spark(bars, [each.run // step for each in changes]), first, Cell(last, tone), *others]


def _or_0(value: float | None) -> float:
    return value or 0.0


def _chart(title: str, found: HistoryStudy, names: Sequence[str], *, is_field: bool = True) -> Chart:
    """Return lines over runs, with gaps before runs that can't be compared."""
    lines = []
    for name in names:
        points: list[tuple[float, float | None]] = []
        for at, value in enumerate(_line(found.runs, name, is_field=is_field)):
            if found.runs[at].note.startswith("not comparable"):
                points.append((at + 0.5, None))
            points.append((at + 1, value))
        lines.append(Series(name, points))
    changes = [each for each in found.changes if each.is_field == is_field and each.figure in names]
    ticks = [(at, str(at)) for at in range(1, len(found.runs) + 1)]
    marks = [
        (run + 0.5, ", ".join(each.figure for each in changes if each.run == run))
        for run in sorted({each.run for each in changes})
    ]
    return Chart(title, "run", "mean", lines, ticks=ticks, marks=marks, only_on_page=True)
