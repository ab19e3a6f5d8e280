"""`jsonmatch study shift`: whether new records are still like the old ones."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.studies import finish, noted, study_gates
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import amount_text, score_text
from pytest_jsonmatch.report.sheets import Block, Cell, Figure, Figures, Rows, Said, Sheet
from pytest_jsonmatch.study.shift import FIGURES, Change, ShiftStudy, measure_shift

_GREAT: Final = 0.2
"""A change with at least this effect stands out."""
_OTHERS: Final = 5


def run(options: Namespace) -> int:
    """Run `jsonmatch study shift`."""
    gates = study_gates(options, FIGURES)
    refuse_two_stdins(options.new, options.old)
    study = measure_shift(gold_records(options.new), gold_records(options.old))
    of = f"{count(study.new, 'new record')}, {count(study.old, 'old one')}"
    about = f"{name_of(options.new)} against {name_of(options.old)}: {of}"
    sheet = Sheet("jsonmatch study shift", about, list(_blocks(study)))
    return finish(options, study, sheet, gates, on=count(study.new, "new record"))


def _blocks(study: ShiftStudy) -> Iterator[Block]:
    shown = study.shown
    figures = study.figures
    fields = len(study.by_field)
    yield Figures(
        [
            Figure(
                "shifted",
                count(int(figures["shifted"] or 0)),
                f"of {count(fields, 'field')} that could be tested",
            ),
            Figure("effect", score_text(figures["effect"]), "the greatest that is shown, from 0 to 1"),
            Figure("unseen", count(len(study.unseen)), "keys that no old record has"),
        ]
    )
    if not shown:
        yield Said("Nothing is shown to have moved.", "good")
    yield from noted(study.notes)
    if shown:
        yield _table("What has moved, the greatest effects first", shown)
    yield Rows(
        ["key", "places"],
        [[path, count(number)] for path, number in study.unseen.items()],
        title="Keys that no old record has",
        noun="key",
    )
    yield _table("What is not shown to have moved", study.changes[len(shown) :], most=_OTHERS)
    tests = count(len(study.changes), "test")
    yield Said(
        f"p-values are corrected for {tests}: if nothing has moved, at most 5 % of runs show a change."
        if study.changes
        else "Nothing could be tested: there are too few records, or all are alike.",
        "faint",
    )


def _table(title: str, changes: Iterable[Change], most: int = 20) -> Rows:
    columns = "field", "what", "effect", "from old to new", "p", "records"
    rows: list[list[str | Cell]] = [
        [
            change.path,
            change.kind,
            Cell(f"{change.effect:.2f}", "bad" if change.is_shown and change.effect >= _GREAT else ""),
            _moved(change),
            "< 0.001" if change.p_value < 0.001 else f"{change.p_value:.3f}",
            f"{count(change.old)} → {count(change.new)}",
        ]
        for change in changes
    ]
    text = {"what", "from old to new"}
    return Rows(columns, rows, title, "change", most, text, spare={"p": 1, "records": 2})


def _moved(change: Change) -> str:
    if change.of == "median":
        return f"median {amount_text(change.before)} → {amount_text(change.after)}"
    named = {"presence": "present", "null": "null"}.get(change.kind, f"{change.of!r}")
    return f"{named} {change.before * 100:.3g} % → {change.after * 100:.3g} %"
