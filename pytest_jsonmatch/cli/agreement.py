"""`jsonmatch agreement`: how far annotators agree who have described the same documents."""

from __future__ import annotations

from argparse import Namespace

from pytest_jsonmatch.cli.judging import bench_of, tell_usage
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_golds
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.agreementsheet import agreement_sheet


def run(options: Namespace) -> int:
    """Run `jsonmatch agreement`."""
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
