"""How far annotators agree, as a sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.sheets import Cell, Column, Figure, Figures, Heading, Rows, Said, Sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.report.sheets import Block, Spark
    from pytest_jsonmatch.study.agreement import AgreementStudy, FieldAgreement
    from pytest_jsonmatch.study.calibration import Estimate

_NAMES: Final = {
    "agreement": "agreement",
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "alpha": "alpha, nominal",
    "alpha_interval": "alpha, interval",
}


def agreement_sheet(found: AgreementStudy) -> Sheet:
    """Return what was found, for people."""
    interval = f"its {found.confidence * 100:g} % interval"
    titles = "agreement", "Cohen", "Fleiss", "alpha", interval, "alpha of numbers"
    columns = [Column("field"), Column("places", spare=True)]
    columns += [Column(title, spare=title == interval) for title in titles]
    by_alpha = sorted(found.fields.items(), key=lambda item: (_rank(item[1]), item[0]))
    names = " and ".join(found.annotators) if len(found.annotators) < 3 else ", ".join(found.annotators)
    about = f"agreement of {names} on {count(found.documents, 'document')}"
    blocks: list[Block] = [
        Figures(
            [
                Figure(
                    _NAMES[name],
                    _text(each.value),
                    f"{found.confidence * 100:g} % interval {_ends(each)}",
                )
                for name in _NAMES
                if (each := getattr(found.total, name)) is not None
            ]
        ),
        Heading("By field, the least alpha first"),
        Rows(columns, [_row(path, each) for path, each in by_alpha]),
    ]
    blocks.append(Heading("The documents with the least agreement" if found.worst else "All agree"))
    blocks.append(
        Rows(
            [Column("document"), Column("agreement"), Column("places"), Column("that differ", text=True)],
            [
                [
                    str(each.id),
                    _text(each.agreement),
                    count(each.differing),
                    ", ".join(each.fields) + (", …" if each.differing > len(each.fields) else ""),
                ]
                for each in found.worst
            ],
            noun="document",
        )
    )
    if found.alone:
        only = count(found.alone, "document")
        blocks.append(Said(f"{only} described by one annotator only: not counted.", "open"))
    if found.batch_errors:
        failed = count(found.batch_errors, "comparison")
        blocks.append(Said(f"{failed} left out: a batch comparator failed.", "bad"))
    return Sheet("jsonmatch agreement", about, blocks)


def _rank(found: FieldAgreement) -> float:
    """Return where a field stands: by alpha; without one, where nothing varies, last."""
    return found.alpha.value if found.alpha is not None else 2.0


def _row(path: str, found: FieldAgreement) -> list[str | Cell | Spark]:
    texts: list[str | Cell | Spark] = [path, count(found.places)]
    for name in _NAMES:
        each: Estimate | None = getattr(found, name)
        tone = "bad" if each is not None and name == "alpha" and each.value < _TENTATIVE else ""
        texts.append(Cell(_text(None if each is None else each.value), tone))
        if name == "alpha":
            texts.append("–" if each is None else _ends(each))
    return texts


_TENTATIVE: Final = 0.667
"""Below this alpha Krippendorff draws no conclusions, not even tentative ones."""


def _ends(found: Estimate) -> str:
    return f"{found.low:.2f} to {found.high:.2f}"


def _text(value: float | None) -> str:
    """Return a figure with no more than four decimals, and less than 1 if it is."""
    return score_text(value if value is None or value == 1 else min(value, 0.9999))
