"""`jsonmatch history`: figures over many runs, and since when they have changed."""

from __future__ import annotations

from argparse import Namespace

from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.historysheet import history_sheet


def run(options: Namespace) -> int:
    """Run `jsonmatch history`."""
    from pytest_jsonmatch.study.history import FIGURES, measure_history

    gates = study_gates(options, FIGURES)
    study = measure_history(options.result, confidence=options.confidence)
    return finish(options, study, history_sheet(study), gates, on=count(len(study.runs), "run"))
