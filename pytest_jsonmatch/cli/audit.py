"""`jsonmatch audit`: gold that is likely wrong, and breaks that a suite would not notice."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import STDIN, name_of
from pytest_jsonmatch.cli.judging import bench_of, tell_usage
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import by_name, names_in, open_sides
from pytest_jsonmatch.cli.reviewing import check_review, review_suspects
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.cli.suite import audit_suite
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.auditsheet import gold_sheet, suite_sheet
from pytest_jsonmatch.study.suspects import GoldAudit, audit_gold


def run(options: Namespace) -> int:
    """Run `jsonmatch audit`."""
    if options.mutate is not None:
        return _mutate(options)
    if options.gold is None:
        raise CommandError("nothing to audit: give GOLD with --answers, or --mutate FOLDER")
    if options.gold == STDIN:
        raise CommandError("GOLD is read once for each system: give a file or a folder, not standard input")
    if _is_yaml(Path(options.gold)):
        raise CommandError(
            f"{options.gold} has golden cases in YAML, and GOLD is JSON: audit the files that "
            "`expected_file` or `cases_from` names, or review answers to cases one by one with pytest "
            "--jsonmatch-review"
        )
    if not options.answers:
        raise CommandError("--answers: give the answers of at least two systems to hold against GOLD")
    gates = study_gates(options, {"suspects", "suspect_records"})
    if options.review:
        check_review(Path(options.gold))
    with plugins(options):
        found = _audited(options)
    about = (
        f"{name_of(options.gold)}: {count(found.records, 'record')}, answers of {len(found.systems)} systems"
    )
    code = finish(options, found, gold_sheet(found, about), gates, on=count(found.records, "record"))
    if options.review:
        review_suspects(found.found, options)
    return code


def _is_yaml(gold: Path) -> bool:
    suffixes = (".yaml", ".yml")
    if gold.is_dir():
        return not names_in(gold, (".json",)) and bool(names_in(gold, suffixes))
    return gold.suffix.lower() in suffixes


def _mutate(options: Namespace) -> int:
    if options.gold is not None or options.answers:
        raise CommandError("--mutate breaks the answers that cases expect: leave out GOLD and --answers")
    if options.workers < 1:
        raise CommandError(f"--workers {options.workers}: it is at least 1")
    gates = study_gates(options, {"noticed"})
    found = audit_suite(options.mutate, workers=options.workers)
    about = f"{', '.join(options.mutate)}: {count(found.cases, 'golden case')}"
    return finish(options, found, suite_sheet(found, about), gates, on=count(found.mutated, "mutation"))


def _audited(options: Namespace) -> GoldAudit:
    judge = bench_of(options)
    rules: dict[str, Any] = {**rules_of(options), "judge": judge}
    with ExitStack() as files:
        sides = {
            name: files.enter_context(
                open_sides(path, options.gold, id_field=options.id_field, repair=options.repair)
            )
            for name, path in by_name(options.answers).items()
        }
        first = next(iter(sides.values()))
        answers = {name: each.actual for name, each in sides.items()}
        found = audit_gold(
            first.expected,
            answers,
            metric=options.metric,
            id_field=options.id_field,
            repair=options.repair,
            **rules,
        )
    tell_usage(judge)
    if not first.names:
        return found
    return replace(
        found, found=tuple(replace(each, record=first.names[each.position]) for each in found.found)
    )
