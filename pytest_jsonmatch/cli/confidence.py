"""`jsonmatch study confidence`: the calibration of confidences, and which values may skip review."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import name_of, records_of, refuse_two_stdins
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
    Chart,
    Column,
    Report,
    ReportBlock,
    Row,
    Series,
    Statistic,
    Statistics,
    Table,
    Text,
)
from pytest_jsonmatch.report.formatting import score_text, score_texts

if TYPE_CHECKING:
    from pytest_jsonmatch.study.calibration import Bin, ReviewThreshold
    from pytest_jsonmatch.study.confidence import ConfidenceStudy, FieldConfidence

_SPARE: Final = {"confidence": 1, "brier": 2, INTERVAL: 3}
"""The columns that narrow terminals may leave out, the one with the greatest number first."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study confidence`."""
    from pytest_jsonmatch.study.confidence import STATISTICS, measure_confidence

    gates = study_gates(options, STATISTICS)
    if options.max_error is None and any(gate.statistic == "coverage_at_error" for gate in gates):
        raise CommandError("a gate on coverage_at_error needs --max-error: the share that may be wrong")
    refuse_two_stdins(options.actual, options.expected)
    with comparing(options) as rules:
        study = measure_confidence(
            records_of(options.actual),
            records_of(options.expected),
            confidence=options.confidence,
            max_error=options.max_error,
            correct=options.correct,
            cluster=options.cluster,
            **columns_of(options),
            **rules,
        )
    scope = f"{count(study.total.values, 'value')} with a confidence in {count(study.records, 'record')}"
    if study.clusters < study.records:
        scope += f", {count(study.clusters, 'cluster')}"
    about = f"{name_of(options.actual)} against {name_of(options.expected)}: {scope}"
    sheet = Report("jsonmatch study confidence", about, list(_blocks(study, study.total)))
    return finish(options, study, sheet, gates, on=count(study.total.values, "value"))


# -- for people --------------------------------------------------------------------------------------------


def _blocks(study: ConfidenceStudy, total: FieldConfidence) -> Iterator[ReportBlock]:
    accuracy, note = score_text(total.accuracy), f"mean confidence {score_text(total.mean_confidence)}"
    estimates = {"auroc": total.auroc, "ece": total.ece, "brier": total.brier}
    statistics = [estimate_statistic(name, estimate) for name, estimate in estimates.items()]
    yield Statistics([*statistics, Statistic("right", accuracy, note)])
    if total.auroc is None:
        yield Text("No auroc: it needs values that are right and values that are wrong.", "open")
    if total.at_error is not None and study.max_error is not None:
        yield _threshold_sentence(total.at_error, study.max_error, total.reliability)
    yield notes_table(study.notes)
    yield Chart(
        "Confidence and the share of right values, in bins with equally many values",
        "confidence",
        "right",
        [
            Series("all values", [(point.confidence, point.right) for point in total.reliability]),
            Series("perfect calibration", [(0, 0), (1, 1)], is_guide=True),
        ],
    )
    yield _table(study)


def _threshold_sentence(limit: ReviewThreshold, max_error: float, bins: Sequence[Bin]) -> Text:
    if limit.threshold is None or limit.bound is None:
        from pytest_jsonmatch.study.calibration import may_reach, required_values

        if not may_reach(bins, max_error):
            top = bins[-1]
            return Text(
                f"No threshold can keep the share of wrong values at {max_error:g} or below: of the "
                f"{count(top.number, 'value')} with the highest confidence, {top.confidence:.3g} on average, "
                f"{1 - top.right:.1%} are wrong. More values would not change that: allow more errors with "
                "--max-error, or use other confidences.",
                "bad",
            )
        return Text(
            f"No threshold keeps the share of wrong values at {max_error:g} or below with 95 % confidence. "
            f"That takes at least {count(required_values(max_error))} values without an error in the "
            "validation half: collect more values, or allow more errors with --max-error.",
            "bad",
        )
    return Text(
        f"Values with a confidence of {limit.threshold:g} or more may skip review: {_percent(limit)} of all. "
        f"At most {max_error:g} of them are wrong, with 95 % confidence: in the validation half, "
        f"{count(limit.wrong)} of {count(limit.checked)} are wrong, with an upper bound of "
        f"{limit.bound:.3g}.",
        "good",
    )


def _table(study: ConfidenceStudy) -> Table:
    """Return the table of fields, the largest lower end of the ECE first."""
    titles = ["values", "right", "confidence", "auroc", INTERVAL, "ece", INTERVAL, "brier"]
    fields = [(path, field) for path, field in study.fields.items() if field.values]
    fields.sort(key=lambda item: (-((item[1].ece and item[1].ece.low) or 0.0), item[0]))
    found = [field for _, field in fields]
    cells = [
        [path for path, _ in fields],
        [count(field.values) for field in found],
        score_texts([field.accuracy for field in found]),
        score_texts([field.mean_confidence for field in found]),
        *estimate_columns([field.auroc for field in found]),
        *estimate_columns([field.ece for field in found]),
        estimate_columns([field.brier for field in found])[0],
    ]
    limits = [field.at_error for field in found if field.at_error is not None]
    if limits:
        titles += [f"{study.max_error:g} from", "coverage"]
        cells += [[_threshold(limit) for limit in limits], [_percent(limit) for limit in limits]]
    columns = [Column("field", "name"), *(Column(title, spare=_SPARE.get(title)) for title in titles)]
    rows = list(map(Row, zip(*cells, strict=True)))
    title = "Fields, largest ECE first (by the lower end of its interval)"
    return Table(columns, rows, title)


def _threshold(limit: ReviewThreshold) -> str:
    return "none" if limit.threshold is None else f"{limit.threshold:g}"


def _percent(limit: ReviewThreshold) -> str:
    return f"{limit.coverage * 100:.1f} %"
