"""`jsonmatch history`: figures over many runs, and since when they have changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.options import share
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLES: Final = """\
jsonmatch history results/*.json
jsonmatch history results/*.json --html history.html --gate 'drops == 0'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch history`."""
    parser.add_argument(
        "results", metavar="RESULT", type=Path, nargs="+", help="a result file: one run; as many as there are"
    )
    parser.add_argument(
        "--confidence",
        metavar="SHARE",
        type=share,
        default=0.95,
        help="where nothing changes, this share of histories shows no change (default: 0.95)",
    )
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.study.history import FIGURES, measure_history
    from pytest_jsonmatch.study.historysheet import history_sheet

    gates = study_gates(options, FIGURES)
    found = measure_history(options.results, confidence=options.confidence)
    return finish(options, found, history_sheet(found), gates, on=f"{len(found.runs):,} runs")
