"""`jsonmatch shift`: whether new records are still like the old ones."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from pytest_jsonmatch.cli.arguments import add
from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.shift import FIGURES, measure_shift
from pytest_jsonmatch.study.shiftsheet import shift_sheet

EXAMPLES: Final = """\
jsonmatch shift july.jsonl june.jsonl
jsonmatch shift july/ gold/ --html shift.html
jsonmatch shift july.jsonl june.jsonl --gate 'effect <= 0.2' --gate 'unseen == 0'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch shift`."""
    add(parser, "NEW", "records: JSON Lines (.jsonl), a JSON array (.json), a folder of files, - for stdin")
    add(parser, "OLD", "the records that they are compared with, likewise")
    add_options(
        parser, cluster="the member that records belong together by: the first of each stands for all"
    )
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    gates = study_gates(options, FIGURES)
    refuse_two_stdins(options.new, options.old)
    study = measure_shift(gold_records(options.new), gold_records(options.old), cluster=options.cluster)
    sheet = shift_sheet(study, f"{name_of(options.new)} against {name_of(options.old)}")
    return finish(options, study, sheet, gates, on=count(study.new, "new record"))
