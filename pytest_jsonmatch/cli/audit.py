"""`jsonmatch audit`: gold that is likely wrong, and breaks that a suite would not notice."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import STDIN, name_of
from pytest_jsonmatch.cli.judging import bench_of, tell_usage
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_sides
from pytest_jsonmatch.cli.reviewing import check_review, review_suspects
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.cli.suite import audit_suite
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.study.auditsheet import gold_sheet, suite_sheet
from pytest_jsonmatch.study.suspects import GoldAudit, audit_sides, comparing


def run(options: Namespace) -> int:
    """Run `jsonmatch audit`."""
    if options.mutate is not None:
        return _mutate(options)
    if options.gold is None:
        raise CommandError("nothing to audit: give GOLD with --answers, or --mutate FOLDER")
    if options.gold == STDIN:
        raise CommandError("GOLD is read once for each system: give a file or a folder, not standard input")
    if not options.answers:
        raise CommandError("--answers: give the answers of at least two systems to hold against GOLD")
    gates = study_gates(options, {"suspects", "suspect_records", "agreement"})
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


def _mutate(options: Namespace) -> int:
    if options.gold is not None or options.answers:
        raise CommandError("--mutate breaks the answers that cases expect: leave out GOLD and --answers")
    for name in ("workers", "max_mutations"):
        if getattr(options, name) < 1:
            raise CommandError(f"--{name.replace('_', '-')} {getattr(options, name)}: it is at least 1")
    gates = study_gates(options, {"noticed"})
    found = audit_suite(options.mutate, workers=options.workers, most=options.max_mutations)
    about = f"{', '.join(options.mutate)}: {count(found.cases, 'golden case')}"
    return finish(options, found, suite_sheet(found, about), gates, on=count(found.mutated, "mutation"))


def _audited(options: Namespace) -> GoldAudit:
    rules: dict[str, Any] = rules_of(options)
    rules |= {"judge": bench_of(options), "repair": options.repair}
    compare = comparing(options.metric, rules.pop("schema", None), rules)
    with ExitStack() as files:
        sides = {
            name: files.enter_context(
                open_sides(path, options.gold, id_field=options.id_field, repair=options.repair)
            )
            for name, path in _systems(options.answers).items()
        }
        names = next(iter(sides.values())).names
        pairs = {name: (each.actual, each.expected) for name, each in sides.items()}
        found = audit_sides(pairs, compare, id_field=options.id_field, names=names, agree=options.agree)
    tell_usage(rules["judge"])
    return found


def _systems(paths: Sequence[str]) -> dict[str, str]:
    """Return the answers by the names of systems: short ones, if these tell them apart.

    >>> _systems(["out/a.jsonl", "out/b.jsonl"]), _systems(["a/out.jsonl", "b/out.jsonl"])
    ({'a': 'out/a.jsonl', 'b': 'out/b.jsonl'}, {'a/out.jsonl': 'a/out.jsonl', 'b/out.jsonl': 'b/out.jsonl'})
    """
    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(paths) else list(paths)
    if len(set(names)) < len(names):
        raise CommandError("--answers: the same answers are given twice; they would always agree")
    return dict(zip(names, paths))
