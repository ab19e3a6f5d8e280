"""`jsonmatch history`: figures over many runs, and since when they have changed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from pytest_jsonmatch.cli.arguments import add
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.historysheet import history_sheet

EXAMPLES: Final = """\
jsonmatch history results/*.json
jsonmatch history results/*.json --html history.html --gate 'drops == 0'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch history`."""
    add(parser, "RESULT", "a result file: one run; as many as there are", nargs="+", type=Path)
    add_options(
        parser, confidence="where nothing changes, this share of histories shows no change (default: 0.95)"
    )
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.study.history import FIGURES, measure_history

    gates = study_gates(options, FIGURES)
    study = measure_history(options.result, confidence=options.confidence)
    return finish(options, study, history_sheet(study), gates, on=count(len(study.runs), "run"))
