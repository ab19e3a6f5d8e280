"""`jsonmatch study shift`: whether the distribution of records has shifted."""

from __future__ import annotations

from argparse import Namespace

from pytest_jsonmatch.cli.inputs import name_of, records_of, refuse_two_stdins
from pytest_jsonmatch.cli.rules import columns_of
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import Column, Report, Row, Table, Text
from pytest_jsonmatch.report.formatting import amount_text
from pytest_jsonmatch.study.shift import MIN_VALUES, STATISTICS, FieldShift, measure_shift


def run(options: Namespace) -> int:
    """Run `jsonmatch study shift`."""
    gates = study_gates(options, STATISTICS)
    refuse_two_stdins(options.new, options.old)
    study = measure_shift(
        records_of(options.new),
        records_of(options.old),
        id=options.id,
        cluster=options.cluster,
        **columns_of(options),
    )
    new = count(study.new, "new record" if options.cluster is None else "new cluster")
    about = f"{name_of(options.new)} against {name_of(options.old)}: {new}, {count(study.old, 'old one')}"
    change = Column("from old to new", "text")
    columns = Column("field", "name"), Column("what", "text"), Column("effect"), change, Column("p")
    title = "Shifted fields, the largest effect first"
    table = Table(columns, list(map(_row, study.shown)), title, "change")
    fields, tests = count(len(study.by_field), "field"), count(len(study.changes), "test")
    summary = (
        f"{int(study.statistics['shifted'])} of {fields} have shifted. Without any shift, at most 5 % of "
        f"runs report one: p is corrected for {tests}."
    )
    if min(study.new, study.old) < MIN_VALUES:
        summary = f"Not enough records: testing a field takes at least {MIN_VALUES} values on each side."
    elif not study.changes:
        summary = "No field was tested: all values of a field are equal, or too rare."
    sheet = Report("jsonmatch study shift", about, [Text(summary), table])
    return finish(options, study, sheet, gates, on=new)


def _row(change: FieldShift) -> Row:
    if change.of == "median":
        change_text = f"median {amount_text(change.before)} → {amount_text(change.after)}"
    else:
        change_text = f"{change.of} {change.before * 100:.3g} % → {change.after * 100:.3g} %"
    p_value = "< 0.001" if change.p_value < 0.001 else f"{change.p_value:.3f}"
    return Row([change.path, change.kind, f"{change.effect:.2f}", change_text, p_value])
