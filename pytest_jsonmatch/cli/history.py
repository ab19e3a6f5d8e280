"""`jsonmatch study history`: figures over many runs, and when they changed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_jsonmatch.cli.studies import finish, noted, study_gates
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import (
    AnyCell,
    Block,
    Cell,
    Chart,
    Rows,
    Said,
    Series,
    Sheet,
    Spark,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.study.history import HistoryChange, HistoryRun, HistoryStudy

_BARS: Final = 40
"""A sparkline has at most this many bars; with more runs, each bar is the mean of several."""
_CHARTED: Final = 5
"""At most this many fields are drawn in one chart: those that move most."""
_Line: TypeAlias = "tuple[str, list[float | None]]"
"""A figure or field, and its values by run."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study history`."""
    from pytest_jsonmatch.study.history import FIGURES, measure_history

    gates = study_gates(options, FIGURES)
    study = measure_history(options.result)
    return finish(options, study, _sheet(study), gates, on=count(len(study.runs), "run"))


def _sheet(found: HistoryStudy) -> Sheet:
    runs = found.runs
    days = [run.created[:10] for run in (runs[0], runs[-1]) if run.created]
    when = f", {' to '.join(dict.fromkeys(days))}" if days else ""
    totals: list[_Line] = [(name, [run.figures[name] for run in runs]) for name in found.runs[0].figures]
    paths = sorted({path for run in runs for path in run.fields})
    fields: list[_Line] = [(path, [run.fields.get(path) for run in runs]) for path in paths]
    fields.sort(key=lambda line: -_spread(line[1]))
    columns, text = ["by run", "first", "last", "least", "most"], {"by run"}
    of_totals, of_fields = ([each for each in found.changes if each.is_field == is_it] for is_it in (0, 1))
    blocks: list[Block] = [
        *_change_blocks(found),
        Rows(["figure", *columns], [_row(line, of_totals) for line in totals], noun="figure", text=text),
        _chart("Figures by run", [totals[0], totals[-1]], runs, of_totals),
        Rows(["field", *columns], [_row(line, of_fields) for line in fields], "Fields", text=text),
        _chart("The fields that move most", fields[:_CHARTED], runs, of_fields),
        Rows(
            ["run", "created", "commit", "cases", "score", "pass rate", ""],
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
            "Runs",
            "run",
            text={"created", "commit", ""},
            spare={"created": 1},
        ),
    ]
    return Sheet("jsonmatch study history", f"history of {count(len(runs), 'run')}{when}", blocks)


def _change_blocks(found: HistoryStudy) -> Iterator[Block]:
    """Yield what has changed, and what can't be compared."""
    if not found.changes:
        yield Said("No change is shown. (If nothing changes, one is still shown in 5 % of histories.)")
    yield Rows(
        ["changed", "", "from", "to", "since", "commit", "shown by"],
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
        text={"", "since", "commit", "shown by"},
    )
    if found.tested < 1:
        share = f"{found.tested * 100:.2g} %"
        yield from noted([f"changes are tested on {share} of the cases, the same in all runs"])
    for at, run in enumerate(found.runs, 1):
        if run.note:
            yield Said(f"run {at}, {run.name}: {run.note}", "open")


def _commit(run: HistoryRun) -> str:
    return run.commit.rstrip("+")[:10] + "+" * run.commit.endswith("+")


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known)


def _row(line: _Line, changes: Sequence[HistoryChange]) -> list[AnyCell]:
    name, values = line
    known = [value for value in values if value is not None]
    ends = (known[0], known[-1], min(known), max(known)) if known else [None] * 4
    first, last, *others = map(score_text, ends)
    own = [each for each in changes if each.figure == name]
    tone = "" if not own else "bad" if own[-1].after < own[-1].before else "good"
    step = -(-len(values) // _BARS)
    parts = [values[at : at + step] for at in range(0, len(values), step)]
    known_parts = ([each for each in part if each is not None] for part in parts)
    bars = [fmean(part) if part else None for part in known_parts]
    return [name, Spark(bars, [each.run // step for each in own]), first, Cell(last, tone), *others]


def _chart(
    title: str, lines: Sequence[_Line], runs: Sequence[HistoryRun], changes: Sequence[HistoryChange]
) -> Chart:
    """Return lines over runs, with gaps before runs that can't be compared."""
    gaps = [(at + 0.5, None) for at, run in enumerate(runs) if run.note.startswith("not comparable")]
    series = [
        Series(name, sorted([*enumerate(values, 1), *gaps], key=itemgetter(0))) for name, values in lines
    ]
    names = {name for name, _ in lines}
    marks: dict[float, list[str]] = {}
    for each in changes:
        if each.figure in names:
            marks.setdefault(each.run + 0.5, []).append(each.figure)
    labels = [(at, ", ".join(figures)) for at, figures in marks.items()]
    return Chart(title, "run", "mean", series, marks=labels, only_on_page=True)
