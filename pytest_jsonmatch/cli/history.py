"""`jsonmatch study history`: figures over many runs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from operator import itemgetter
from typing import Final, TypeAlias

from pytest_jsonmatch.cli.studies import finish
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import (
    AnySheetCell,
    Chart,
    Rows,
    Sentence,
    Series,
    Sheet,
    SheetBlock,
    Spark,
)
from pytest_jsonmatch.study.history import HistoryRun, measure_history

_BARS: Final = 40
"""A sparkline shows at most this many runs, the last ones."""
_Line: TypeAlias = "tuple[str, list[float | None]]"
"""A figure or field, and its values by run."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study history`."""
    study = measure_history(options.result)
    return finish(options, study, _sheet(study.runs))


def _sheet(runs: Sequence[HistoryRun]) -> Sheet:
    days = [run.created[:10] for run in (runs[0], runs[-1]) if run.created]
    when = f", {' to '.join(dict.fromkeys(days))}" if days else ""
    totals: list[_Line] = [(name, [run.figures[name] for run in runs]) for name in runs[0].figures]
    paths = sorted({path for run in runs for path in run.fields})
    fields: list[_Line] = [(path, [run.fields.get(path) for run in runs]) for path in paths]
    fields.sort(key=lambda line: -_spread(line[1]))
    columns, text = ["by run", "first", "last", "least", "most"], {"by run"}
    notes = (f"run {at}, {run.name}: {run.note}" for at, run in enumerate(runs, 1) if run.note)
    of_runs = [
        [
            f"{at} {run.name}",
            run.created[:16].replace("T", " "),
            run.commit.rstrip("+")[:10] + "+" * run.commit.endswith("+"),
            count(run.cases),
            score_text(run.figures["score"]),
            score_text(run.figures["pass_rate"]),
        ]
        for at, run in enumerate(runs, 1)
    ]
    titles = ["run", "created", "commit", "cases", "score", "pass rate"]
    # There is a gap before runs that can't be compared.
    gaps = [(at + 0.5, None) for at, run in enumerate(runs) if not run.is_comparable]
    series = [
        Series(name, sorted([*enumerate(values, 1), *gaps], key=itemgetter(0))) for name, values in totals
    ]
    blocks: list[SheetBlock] = [
        *(Sentence(note, "open") for note in notes),
        Rows(["figure", *columns], list(map(_row, totals)), "Mean of cases", "figure", text=text),
        Chart("Mean of cases by run", "run", "mean", series, only_on_page=True),
        Rows(["field", *columns], list(map(_row, fields)), "Fields, over all leaves", text=text),
        Rows(titles, of_runs, "Runs", "run", text={"created", "commit"}, spare={"created": 1}),
    ]
    return Sheet("jsonmatch study history", f"history of {count(len(runs), 'run')}{when}", blocks)


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known)


def _row(line: _Line) -> list[AnySheetCell]:
    name, values = line
    known = [value for value in values if value is not None]
    ends = (known[0], known[-1], min(known), max(known)) if known else [None] * 4
    return [name, Spark(values[-_BARS:]), *map(score_text, ends)]
