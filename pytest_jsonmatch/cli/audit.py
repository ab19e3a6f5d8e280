"""`jsonmatch audit`: gold that is likely wrong, and errors that a suite would not notice."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import STDIN, name_of
from pytest_jsonmatch.cli.records import by_name, open_sides
from pytest_jsonmatch.cli.reviewing import check_review, review_suspects
from pytest_jsonmatch.cli.studies import finish, noted, study_gates, study_rules
from pytest_jsonmatch.cli.suite import audit_suite
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.report.sheets import Cell, Rows, Said, Sheet
from pytest_jsonmatch.study.suspects import GoldAudit, audit_gold

if TYPE_CHECKING:
    from pytest_jsonmatch.study.mutate import SuiteAudit
    from pytest_jsonmatch.study.suspects import Suspect

_WIDTH: Final = 300
_CONTEXT: Final = 6


def run(options: Namespace) -> int:
    """Run `jsonmatch audit`."""
    if options.mutate is not None:
        return _mutate(options)
    if options.gold is None:
        raise CommandError("nothing to audit: give GOLD with --answers, or --mutate FOLDER")
    if options.gold == STDIN:
        raise CommandError("GOLD is read once for each system: give a file or a folder, not standard input")
    if not options.answers:
        raise CommandError("--answers: give the answers of at least two systems to compare with GOLD")
    gates = study_gates(options, {"suspects", "suspect_records"})
    if options.review:
        check_review(Path(options.gold))
    found = _audited(options)
    about = (
        f"{name_of(options.gold)}: {count(found.records, 'record')}, answers of {len(found.systems)} systems"
    )
    code = finish(options, found, _gold_sheet(found, about), gates, on=count(found.records, "record"))
    if options.review:
        review_suspects(found.found, options)
    return code


def _mutate(options: Namespace) -> int:
    if options.gold is not None or options.answers:
        raise CommandError("--mutate breaks the answers that cases expect: leave out GOLD and --answers")
    if options.workers < 1:
        raise CommandError(f"--workers {options.workers}: it must be at least 1")
    gates = study_gates(options, {"noticed"})
    found = audit_suite(options.mutate, workers=options.workers)
    about = f"{', '.join(options.mutate)}: {count(found.cases, 'golden case')}"
    return finish(options, found, _suite_sheet(found, about), gates, on=count(found.mutated, "mutation"))


def _audited(options: Namespace) -> GoldAudit:
    with study_rules(options) as rules, ExitStack() as files:
        sides = {
            name: files.enter_context(
                open_sides(path, options.gold, id_field=options.id_field, repair=options.repair)
            )
            for name, path in by_name(options.answers).items()
        }
        first = next(iter(sides.values()))
        answers = {name: each.actual for name, each in sides.items()}
        found = audit_gold(first.expected, answers, repair=options.repair, **rules)
    told = (f"{name}: {text}" for name, each in sides.items() for text in each.warnings)
    return replace(found, notes=(*told, *found.notes))


# -- for people --------------------------------------------------------------------------------------------


def _gold_sheet(found: GoldAudit, about: str) -> Sheet:
    """Return the audit of gold records as a sheet for people."""
    columns = "record", "place", "gold", "answers", "votes", "bits", "who"
    text = {"place", "gold", "answers", "who"}
    rows = [
        (
            Cell(each.record, "strong"),
            each.path,
            *_differing(each),
            f"{len(each.systems)} to {len(each.backing)}",
            f"{each.evidence:.1f}",
            ", ".join(each.systems),
        )
        for each in found.found
    ]
    told = f"{count(len(rows), 'place')} where the gold is likely wrong, the strongest evidence first."
    table = Rows(columns, rows, noun="place", text=text, spare={"who": 1})
    return Sheet("jsonmatch audit", about, [Said(told), table, *noted(found.notes)])


def _differing(suspect: Suspect) -> tuple[str | Cell, str | Cell]:
    """Return both values as text, without a long common beginning."""
    texts = render(suspect.gold, _WIDTH), render(suspect.said, _WIDTH)
    if suspect.kind != "change":
        nothing = Cell("(nothing)", "faint")
        return (nothing, texts[1]) if suspect.kind == "add" else (texts[0], nothing)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts)))
    begin = max(common - _CONTEXT, 0)
    if begin <= _CONTEXT:
        return texts
    return f"…{texts[0][begin:]}", f"…{texts[1][begin:]}"


def _suite_sheet(found: SuiteAudit, about: str) -> Sheet:
    """Return the audit of a suite as a sheet for people."""
    columns = "field", "broken by", "pass", "let pass by", "example", "in"
    rows = [
        (
            Cell(each.field, "strong"),
            each.kind,
            f"{each.mutated - each.noticed} of {each.mutated}",
            " · ".join(each.rules),
            each.example,
            each.case,
        )
        for each in found.holes
    ]
    told = "Nothing could be broken."
    if found.noticed is not None:
        told = (
            f"{count(found.mutated, 'mutation')} of right answers: {found.noticed:.1%} of them are noticed."
        )
    text = {"broken by", "let pass by", "example", "in"}
    table = Rows(columns, rows, "What passes", "hole", text=text, spare={"example": 1, "in": 2})
    notes = [Said(f"Left out: {'; '.join(found.notes)}.", "faint")] if found.notes else []
    return Sheet("jsonmatch audit --mutate", about, [Said(told), table, *notes])
