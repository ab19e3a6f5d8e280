"""`jsonmatch study agreement`: the agreement of annotators of the same documents."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.inputs import files_by_name, records_of, refuse_repeated
from pytest_jsonmatch.cli.rules import columns_of, comparing
from pytest_jsonmatch.cli.studies import (
    INTERVAL,
    estimate_columns,
    estimate_statistic,
    finish,
    notes_table,
    study_gates,
)
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import (
    Column,
    Report,
    ReportBlock,
    Row,
    Statistics,
    Table,
    TableCell,
    Text,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.study.agreement import AgreementStudy

_STATISTICS: Final = {"kappa": "Cohen's kappa", "alpha": "Krippendorff's alpha"}
_TENTATIVE: Final = 0.667
"""Krippendorff's limit: values below do not even allow tentative conclusions."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study agreement`."""
    from pytest_jsonmatch.study.agreement import STATISTICS, measure_agreement

    gates = study_gates(options, STATISTICS)
    refuse_repeated(options.gold)
    with comparing(options) as rules:
        annotators = {name: records_of(path) for name, path in files_by_name(options.gold).items()}
        study = measure_agreement(annotators, cluster=options.cluster, **columns_of(options), **rules)
    return finish(options, study, _sheet(study), gates, on=count(study.documents, "document"))


def _sheet(study: AgreementStudy) -> Report:
    names = " and ".join(study.annotators) if len(study.annotators) < 3 else ", ".join(study.annotators)
    about = f"agreement of {names} on {count(study.documents, 'document')}"
    if study.clusters < study.documents:
        about += f", {count(study.clusters, 'cluster')}"
    notes = []
    if study.unshared:
        notes.append(f"{count(study.unshared, 'document')} described by one annotator only: not counted")
    if study.batch_errors:
        notes.append(f"{count(study.batch_errors, 'comparison')} left out: a batch comparator failed")
    return Report("jsonmatch study agreement", about, [*_blocks(study), notes_table(notes)])


def _blocks(study: AgreementStudy) -> Iterator[ReportBlock]:
    """Yield the statistics of all fields and the table of fields."""
    name = "kappa" if len(study.annotators) == 2 else "alpha"
    beyond_chance = getattr(study.total, name)
    totals = {"agreement": study.total.agreement, _STATISTICS[name]: beyond_chance}
    yield Statistics([estimate_statistic(title, estimate) for title, estimate in totals.items()])
    if beyond_chance is None:
        yield Text(f"No {name}: all values are the same, so chance alone explains the agreement.", "open")
    rows = [(path or "(no path)", field, getattr(field, name)) for path, field in study.fields.items()]
    # A field whose values are all the same has no agreement beyond chance, and comes last.
    rows.sort(key=lambda row: (2.0 if row[2] is None else row[2].value, row[0]))
    agreements, _ = estimate_columns([field.agreement for _, field, _ in rows])
    texts = zip(agreements, *estimate_columns([estimate for *_, estimate in rows]), strict=True)
    lines = []
    for (path, field, estimate), (agreement, value, ends) in zip(rows, texts, strict=True):
        tone = "bad" if estimate is not None and estimate.value < _TENTATIVE else ""
        lines.append(Row([path, count(field.places), agreement, TableCell(value, tone), ends]))
    places, interval = Column("places", spare=1), Column(INTERVAL, spare=2)
    columns = Column("field", "name"), places, Column("agreement"), Column(name), interval
    yield Table(columns, lines, f"By field, the lowest {name} first")
