"""`jsonmatch shift`: whether new records are still like the old ones."""

from __future__ import annotations

from argparse import Namespace

from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.shift import FIGURES, measure_shift
from pytest_jsonmatch.study.shiftsheet import shift_sheet


def run(options: Namespace) -> int:
    """Run `jsonmatch shift`."""
    gates = study_gates(options, FIGURES)
    refuse_two_stdins(options.new, options.old)
    study = measure_shift(gold_records(options.new), gold_records(options.old), cluster=options.cluster)
    sheet = shift_sheet(study, f"{name_of(options.new)} against {name_of(options.old)}")
    return finish(options, study, sheet, gates, on=count(study.new, "new record"))
