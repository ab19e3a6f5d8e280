"""Audits for people: of gold records, and of suites."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.report.sheets import Cell, Column, Rows, Said, Sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.study.mutate import SuiteAudit
    from pytest_jsonmatch.study.suspects import GoldAudit, Suspect

_WIDTH: Final = 300
_CONTEXT: Final = 6


def gold_sheet(found: GoldAudit, about: str) -> Sheet:
    """Return an audit for people."""
    columns = [Column("record"), *(Column(title, text=True) for title in ("place", "gold", "answers"))]
    columns += [Column("votes"), Column("bits"), Column("who", text=True, spare=1)]
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
    notes = [Said(note, "faint") for note in found.notes]
    return Sheet("jsonmatch audit", about, [Said(told), Rows(columns, rows, noun="place"), *notes])


def _differing(suspect: Suspect) -> tuple[str | Cell, str | Cell]:
    """Return both values as text, without a long beginning that they have in common."""
    texts = render(suspect.gold, _WIDTH), render(suspect.said, _WIDTH)
    if suspect.kind != "change":
        nothing = Cell("(nothing)", "faint")
        return (nothing, texts[1]) if suspect.kind == "add" else (texts[0], nothing)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts)))
    begin = max(common - _CONTEXT, 0)
    if begin <= _CONTEXT:
        return texts
    return f"…{texts[0][begin:]}", f"…{texts[1][begin:]}"


def suite_sheet(found: SuiteAudit, about: str) -> Sheet:
    """Return the audit of a suite for people."""
    columns = [Column("field"), Column("broken by", text=True), Column("pass")]
    columns += [Column("let pass by", text=True), Column("example", text=True, spare=1)]
    columns.append(Column("in", text=True, spare=2))
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
    table = Rows(columns, rows, title="What passes", noun="hole")
    notes = [Said(f"Left out: {'; '.join(found.notes)}.", "faint")] if found.notes else []
    return Sheet("jsonmatch audit --mutate", about, [Said(told), table, *notes])
