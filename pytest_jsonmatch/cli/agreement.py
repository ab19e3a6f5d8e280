"""`jsonmatch agreement`: how far annotators agree who have described the same documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.judging import add_judge, bench_of, tell_usage
from pytest_jsonmatch.cli.options import RULES, add_options, share
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_side, short_names
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLES: Final = """\
jsonmatch agreement ann.jsonl bob.jsonl --id-field id
jsonmatch agreement gold/ann/ gold/bob/ gold/cem/ --html agreement.html
jsonmatch agreement ann.jsonl bob.jsonl --gate 'alpha >= 0.8' --gate 'fields["total"].agreement >= 0.95'
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch agreement`."""
    parser.add_argument(
        "annotators",
        metavar="GOLD",
        nargs="+",
        help="what one annotator says: JSON Lines (.jsonl), a JSON array (.json), or a folder of JSON files",
    )
    add_options(
        parser, *RULES, id_field="the member that is a document's id; without it records go by position"
    )
    parser.add_argument(
        "--confidence", metavar="SHARE", type=share, default=0.95, help="of intervals (default: 0.95)"
    )
    add_judge(parser)
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.study.agreement import FIGURES, measure_agreement
    from pytest_jsonmatch.study.agreementsheet import agreement_sheet

    gates = study_gates(options, FIGURES)
    with plugins(options):
        judge = bench_of(options)
        names = short_names(options.annotators)
        rules = {**rules_of(options), "judge": judge}
        found = measure_agreement(
            {name: open_side(written) for name, written in zip(names, options.annotators, strict=True)},
            metric=options.metric,
            id_field=options.id_field,
            confidence=options.confidence,
            **rules,
        )
    tell_usage(judge)
    return finish(options, found, agreement_sheet(found), gates, on=f"{found.documents:,} documents")
