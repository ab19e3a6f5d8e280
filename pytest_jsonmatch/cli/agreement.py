"""`jsonmatch agreement`: how far annotators agree who have described the same documents."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from pytest_jsonmatch.cli.arguments import add
from pytest_jsonmatch.cli.judging import add_judge, bench_of, tell_usage
from pytest_jsonmatch.cli.options import RULES, add_options
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_golds
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.agreementsheet import agreement_sheet

EXAMPLES: Final = """\
jsonmatch agreement ann.jsonl bob.jsonl --id-field id
jsonmatch agreement gold/ann/ gold/bob/ gold/cem/ --html agreement.html
jsonmatch agreement ann.jsonl bob.jsonl --gate 'alpha >= 0.8' --gate 'fields["total"].agreement >= 0.95'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch agreement`."""
    told = "what one annotator says: JSON Lines (.jsonl), a JSON array (.json), or a folder of JSON files"
    add(parser, "GOLD", told, nargs="+")
    told = "the member that is a document's id; without it records go by position"
    add_options(parser, *RULES, "--confidence", id_field=told)
    add_judge(parser)
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.study.agreement import FIGURES, measure_agreement

    gates = study_gates(options, FIGURES)
    with plugins(options):
        judge = bench_of(options)
        rules = {**rules_of(options), "judge": judge}
        study = measure_agreement(
            open_golds(options.gold),
            metric=options.metric,
            id_field=options.id_field,
            confidence=options.confidence,
            **rules,
        )
    tell_usage(judge)
    return finish(options, study, agreement_sheet(study), gates, on=count(study.documents, "document"))
