"""What gold records share with texts and with each other, as a sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.sheets import Column, Figure, Figures, Heading, Rows, Said, Sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.report.sheets import Block
    from pytest_jsonmatch.study.overlap import OverlapStudy


def overlap_sheet(found: OverlapStudy) -> Sheet:
    """Return what was found, for people."""
    about = f"overlap of {count(found.records, 'gold record')}"
    figures = [
        Figure("near duplicates", count(found.duplicates), "records like an earlier one"),
        Figure("leaks", count(found.leaks), "records like one of another split"),
    ]
    blocks: list[Block] = []
    if found.texts:
        about += f" and {count(found.texts, 'text')} of {count(found.words, 'word')}"
        share = f"{score_text(found.contaminated / found.records)} of the records"
        figures.insert(0, Figure("contaminated", count(found.contaminated), share))
        blocks += [Heading("Records that stand in the texts"), _contaminated(found)]
    if found.pairs:
        rows = [
            [f"{each.split}: {each.id}", f"{each.other_split}: {each.other_id}", score_text(each.score)]
            for each in found.pairs
        ]
        columns = [Column("record"), Column("like", text=True), Column("score")]
        blocks += [Heading("Gold records that are nearly the same"), Rows(columns, rows, noun="pair")]
    if found.is_cut:
        blocks.append(Said("Too many candidates for pairs: not all were compared.", "open"))
    return Sheet("jsonmatch overlap", about, [Figures(figures), *blocks])


def _contaminated(found: OverlapStudy) -> Block:
    if not found.worst:
        return Said("None does, beyond what chance explains.")
    columns = [Column("record"), *map(Column, ("rare values found", "in one text", "by chance"))]
    columns += [Column("text", text=True), Column("such as", text=True)]
    rows = [
        [
            f"{each.split}: {each.id}",
            f"{each.found} of {each.values}",
            "all" if each.is_whole else count(each.in_text),
            f"{each.p:.1g}",
            each.text,
            "; ".join(each.fields),
        ]
        for each in found.worst
    ]
    return Rows(columns, rows, noun="record")
