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
    read = f" and {count(found.texts, 'text')} of {count(found.words, 'word')}" if found.texts else ""
    share = f"{score_text(found.contaminated / found.records)} of the records"
    blocks: list[Block] = []
    if found.texts:
        blocks.append(Figures([Figure("contaminated", count(found.contaminated), share)]))
    blocks += [
        Figures(
            [
                Figure("near duplicates", count(found.duplicates), "records like an earlier one"),
                Figure("leaks", count(found.leaks), "records like one of another split"),
            ]
        ),
        Heading("Records that stand in the texts") if found.texts else Said(""),
        Said("None does, beyond what chance explains." if found.texts and not found.contaminated else ""),
        Rows(
            [
                Column("record"),
                Column("rare values found"),
                Column("in one text"),
                Column("by chance"),
                Column("text", text=True),
                Column("such as", text=True),
            ],
            [
                [
                    f"{each.split}: {each.id}",
                    f"{each.found} of {each.values}",
                    "all" if each.is_whole else count(each.in_text),
                    f"{each.p:.1g}",
                    each.text,
                    "; ".join(each.fields),
                ]
                for each in found.worst
            ],
            noun="record",
        ),
        Heading("Rare values by field") if found.texts else Said(""),
        Rows(
            [Column("field"), *map(Column, ("values", "found", "share", "by chance, up to"))],
            [
                [
                    path,
                    *map(count, (each.values, each.found)),
                    score_text(each.found / each.values, 3),
                    # Where nothing else can be made up, it is not known.
                    "not known" if each.chance == 1.0 else score_text(each.chance, 3),
                ]
                for path, each in found.fields.items()
                if found.texts
            ],
        ),
        Heading("Gold records that are nearly the same") if found.pairs else Said(""),
        Rows(
            [Column("record"), Column("like", text=True), Column("score")],
            [
                [f"{each.split}: {each.id}", f"{each.other_split}: {each.other_id}", score_text(each.score)]
                for each in found.pairs
            ],
            noun="pair",
        ),
    ]
    if found.is_cut:
        blocks.append(Said("Too many candidates for pairs: not all were compared.", "open"))
    kept = [block for block in blocks if not isinstance(block, Said) or block.text]
    return Sheet("jsonmatch overlap", f"overlap of {count(found.records, 'gold record')}{read}", kept)
