"""`jsonmatch confidence`: what confidences in answers are worth, and which answers may skip review."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import name_of
from pytest_jsonmatch.cli.judging import bench_of, tell_usage
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_sides
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.sources import imported
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.confidence import FIGURES, measure_confidence
from pytest_jsonmatch.study.confidencesheet import confidence_sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.study.confidences import ConfidenceSource


def run(options: Namespace) -> int:
    """Run `jsonmatch confidence`."""
    gates = study_gates(options, FIGURES)
    if options.max_error is None and any(gate.figure == "coverage_at_error" for gate in gates):
        raise CommandError("a gate on coverage_at_error needs --max-error: the share that may be wrong")
    cost = None if options.cost is None else _cost(options.cost)
    with (
        plugins(options),
        open_sides(
            options.actual, options.expected, id_field=options.id_field, repair=options.repair
        ) as sides,
    ):
        judge = bench_of(options)
        study = measure_confidence(
            sides.actual,
            sides.expected,
            confidence=_source(options.confidence),
            max_error=options.max_error,
            cost=cost,
            correct=options.correct,
            metric=options.metric,
            id_field=options.id_field,
            cluster=options.cluster,
            repair=options.repair,
            judge=judge,
            **rules_of(options),
        )
    tell_usage(judge)
    sheet = confidence_sheet(study, f"{name_of(options.actual)} against {name_of(options.expected)}")
    return finish(options, study, sheet, gates, on=count(study.total.values, "value"))


def _source(written: str) -> ConfidenceSource:
    """Return where confidences stand, a function imported if it is one."""
    if "{path}" in written or ":" not in written:
        return written
    function: ConfidenceSource = imported(written)
    return function


def _cost(written: str) -> dict[str, float]:
    """Return the costs that are written as wrong=100,review=1."""
    try:
        pairs = (part.split("=") for part in written.split(","))
        return {name.strip(): float(amount) for name, amount in pairs}
    except ValueError:
        raise CommandError(
            f"--cost {written!r}: it is what a wrong value and a review cost, as in wrong=100,review=1"
        ) from None
