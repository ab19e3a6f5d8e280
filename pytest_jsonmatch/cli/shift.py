"""`jsonmatch study shift`: whether new records are still like the old ones."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator

from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import amount_text, score_text
from pytest_jsonmatch.report.sheets import Rows, Sentence, Sheet, SheetBlock, SheetFigure, SheetFigures
from pytest_jsonmatch.study.shift import FIGURES, FieldShift, ShiftStudy, measure_shift


def run(options: Namespace) -> int:
    """Run `jsonmatch study shift`."""
    gates = study_gates(options, FIGURES)
    refuse_two_stdins(options.new, options.old)
    new, old = gold_records(options.new), gold_records(options.old)
    study = measure_shift(new, old, cluster=options.cluster)
    noun = "record" if options.cluster is None else "cluster"
    of = f"{count(study.new, f'new {noun}')}, {count(study.old, 'old one')}"
    about = f"{name_of(options.new)} against {name_of(options.old)}: {of}"
    sheet = Sheet("jsonmatch study shift", about, list(_blocks(study)))
    return finish(options, study, sheet, gates, on=count(study.new, f"new {noun}"))


def _blocks(study: ShiftStudy) -> Iterator[SheetBlock]:
    shown = study.shown
    shifted, effect = int(study.figures["shifted"] or 0), score_text(study.figures["effect"])
    tested = f"of {count(len({change.path for change in study.changes}), 'field')} that could be tested"
    yield SheetFigures(
        [
            SheetFigure("shifted", count(shifted), tested),
            SheetFigure("effect", effect, "the greatest that is shown, from 0 to 1"),
            SheetFigure("unseen", count(len(study.unseen)), "keys that no old record has"),
        ]
    )
    if not shown:
        yield Sentence("Nothing is shown to have moved.", "good")
    yield _table("What has moved, the greatest effects first", shown)
    unseen = [[path, count(number)] for path, number in study.unseen.items()]
    yield Rows(["key", "places"], unseen, title="Keys that no old record has", noun="key")
    yield _table("What is not shown to have moved", study.changes[len(shown) :])
    tests = count(len(study.changes), "test")
    yield Sentence(
        f"p-values are corrected for {tests}: if nothing has moved, at most 5 % of runs show a change.",
        "faint",
    )


def _table(title: str, changes: Iterable[FieldShift]) -> Rows:
    columns = "field", "what", "effect", "from old to new", "p", "records"
    rows = [
        [
            change.path,
            change.kind,
            f"{change.effect:.2f}",
            _moved(change),
            "< 0.001" if change.p_value < 0.001 else f"{change.p_value:.3f}",
            f"{count(change.old)} → {count(change.new)}",
        ]
        for change in changes
    ]
    text = {"what", "from old to new"}
    return Rows(columns, rows, title, "change", text=text, spare={"p": 1, "records": 2})


def _moved(change: FieldShift) -> str:
    if change.of == "median":
        return f"median {amount_text(change.before)} → {amount_text(change.after)}"
    name = change.of if change.kind == "type" else repr(change.of)
    return f"{name} {change.before * 100:.3g} % → {change.after * 100:.3g} %"
