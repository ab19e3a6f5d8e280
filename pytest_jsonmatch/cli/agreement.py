"""`jsonmatch study agreement`: how far annotators of the same documents agree."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.records import open_golds
from pytest_jsonmatch.cli.rules import comparing
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import Block, Cell, Figure, Figures, Rows, Said, Sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.report.sheets import AnyCell
    from pytest_jsonmatch.study.agreement import AgreementStudy, FieldAgreement
    from pytest_jsonmatch.study.calibration import Estimate

_FIGURES: Final = {
    "agreement": ("agreement", "agreement"),
    "cohen": ("Cohen's kappa", "Cohen"),
    "fleiss": ("Fleiss' kappa", "Fleiss"),
    "alpha": ("alpha, nominal", "alpha"),
    "alpha_interval": ("alpha, interval", "alpha of numbers"),
}
"""The names of figures on their own, and above columns."""
_TENTATIVE: Final = 0.667
"""Below this alpha Krippendorff draws no conclusions, not even tentative ones."""


def run(options: Namespace) -> int:
    """Run `jsonmatch study agreement`."""
    from pytest_jsonmatch.study.agreement import FIGURES, measure_agreement

    gates = study_gates(options, FIGURES)
    with comparing(options) as rules:
        study = measure_agreement(open_golds(options.gold), **rules)
    return finish(options, study, _sheet(study), gates, on=count(study.documents, "document"))


def _sheet(found: AgreementStudy) -> Sheet:
    names = " and ".join(found.annotators) if len(found.annotators) < 3 else ", ".join(found.annotators)
    about = f"agreement of {names} on {count(found.documents, 'document')}"
    totals = [
        Figure(name, _text(each), f"95 % interval {_ends(each)}")
        for key, (name, _) in _FIGURES.items()
        if (each := getattr(found.total, key)) is not None
    ]
    # A field where nothing varies has no alpha, and comes last.
    by_alpha = sorted(
        found.fields.items(),
        key=lambda item: (2.0 if item[1].alpha is None else item[1].alpha.value, item[0]),
    )
    *titles, last = (title for _, title in _FIGURES.values())
    columns = ["field", "places", *titles, "its 95 % interval", last]
    rows = [_row(path, each) for path, each in by_alpha]
    worst = [
        [
            str(each.id),
            score_text(min(each.agreement, 0.9999)),
            count(each.differing),
            ", ".join(each.fields) + (", …" if each.differing > len(each.fields) else ""),
        ]
        for each in found.worst
    ]
    of_worst = "document", "agreement", "places", "that differ"
    blocks: list[Block] = [
        Figures(totals),
        Rows(columns, rows, "By field, the lowest alpha first", spare={"places": 1, "its 95 % interval": 1}),
        Rows(of_worst, worst, "The documents with the least agreement", "document", text={"that differ"}),
    ]
    if not worst:
        blocks.append(Said("All agree."))
    if found.alone:
        only = count(found.alone, "document")
        blocks.append(Said(f"{only} described by one annotator only: not counted.", "open"))
    if found.batch_errors:
        failed = count(found.batch_errors, "comparison")
        blocks.append(Said(f"{failed} left out: a batch comparator failed.", "bad"))
    return Sheet("jsonmatch study agreement", about, blocks)


def _row(path: str, found: FieldAgreement) -> list[AnyCell]:
    row: list[AnyCell] = [
        path,
        count(found.places),
        *(_text(getattr(found, key)) for key in _FIGURES),
    ]
    if found.alpha is not None and found.alpha.value < _TENTATIVE:
        row[-2] = Cell(_text(found.alpha), "bad")
    row.insert(-1, _ends(found.alpha))
    return row


def _ends(found: Estimate | None) -> str:
    return "–" if found is None else f"{found.low:.2f} to {found.high:.2f}"


def _text(found: Estimate | None) -> str:
    """Return a figure with at most four decimals; one below 1 is never rounded up to 1."""
    value = None if found is None else found.value
    return score_text(value if value is None or value == 1 else min(value, 0.9999))
