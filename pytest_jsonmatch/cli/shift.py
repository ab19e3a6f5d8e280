"""`jsonmatch shift`: whether new records are still like the old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins
from pytest_jsonmatch.cli.records import gold_records
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLES: Final = """\
jsonmatch shift july.jsonl june.jsonl
jsonmatch shift july/ gold/ --html shift.html
jsonmatch shift july.jsonl june.jsonl --gate 'effect <= 0.2' --gate 'unseen == 0'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch shift`."""
    parser.add_argument(
        "new",
        metavar="NEW",
        help="records: JSON Lines (.jsonl), a JSON array (.json), a folder of files, - for stdin",
    )
    parser.add_argument("old", metavar="OLD", help="the records that they are compared with, likewise")
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        help="the member of records that says what they belong to, such as a document: the first record of "
        "each cluster stands for it, since others are not independent",
    )
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.study.shift import FIGURES, measure_shift
    from pytest_jsonmatch.study.shiftsheet import shift_sheet

    gates = study_gates(options, FIGURES)
    refuse_two_stdins(options.new, options.old)
    study = measure_shift(gold_records(options.new), gold_records(options.old), cluster=options.cluster)
    sheet = shift_sheet(study, f"{name_of(options.new)} against {name_of(options.old)}")
    return finish(options, study, sheet, gates, on=count(study.new, "new record"))
