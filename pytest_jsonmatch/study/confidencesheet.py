"""What confidences are worth, as a sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.figures import amount_text, count, score_text
from pytest_jsonmatch.report.sheets import (
    Block,
    Cell,
    Chart,
    Column,
    Figure,
    Figures,
    Heading,
    Rows,
    Said,
    Series,
    Sheet,
    Spark,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.study.calibration import Cheapest, Estimate, Promise
    from pytest_jsonmatch.study.confidence import ConfidenceStudy, FieldConfidence

_FEW: Final = 30
"""Fields with fewer values are shown faintly: their figures say little."""
_MOST_LINES: Final = 5


def confidence_sheet(study: ConfidenceStudy, about: str) -> Sheet:
    """Return what was found, for people.

    Args:
        study: what was found.
        about: what was studied, such as "answers.jsonl against gold.jsonl".
    """
    total = study.total
    of = f"{count(total.values, 'value')} with a confidence in {count(study.records, 'record')}"
    if study.clusters < study.records:
        of += f", {count(study.clusters, 'cluster')}"
    return Sheet("jsonmatch confidence", f"{about}: {of}", list(_blocks(study, total)))


def _blocks(study: ConfidenceStudy, total: FieldConfidence) -> Iterator[Block]:
    yield Figures(
        [
            Figure("auroc", *_estimate(total.auroc)),
            Figure("ece", *_estimate(total.ece)),
            Figure("brier", *_estimate(total.brier)),
            Figure(
                "right", score_text(total.accuracy), f"mean confidence {score_text(total.mean_confidence)}"
            ),
        ]
    )
    if total.auroc is None:
        yield Said("No auroc: it takes values that are right and values that are wrong.", "open")
    if total.at_error is not None and study.max_error is not None:
        yield _promised(total.at_error, study.max_error)
    if total.cheapest is not None:
        yield _cheapest(total.cheapest)
    for note in study.notes:
        yield Said(f"note: {note}", "faint")
    yield Heading("Confidence and the share of right values, in bins of as many values each")
    yield Chart(
        "",
        "confidence",
        "right",
        [
            Series("all values", [(each.confidence, each.right) for each in total.reliability]),
            Series("as it should be", [(0, 0), (1, 1)], is_guide=True),
        ],
    )
    named = [("all values", total)]
    if 1 < len(study.fields) <= _MOST_LINES:
        named += [(path, each) for path, each in study.fields.items() if each.values]
    yield Heading("Share of wrong values, if those with the highest confidences are accepted")
    yield Chart(
        "",
        "accepted",
        "wrong",
        [Series(name, [(risk.coverage, risk.error) for risk in each.risks]) for name, each in named],
    )
    yield _table(study)


def _estimate(found: Estimate | None) -> tuple[str, str]:
    if found is None:
        return "–", ""
    value, low, high = found
    return score_text(value), "" if low is None else f"{score_text(low)} to {score_text(high)}"


def _promised(found: Promise, most: float) -> Said:
    if found.threshold is None or found.bound is None:
        from pytest_jsonmatch.study.calibration import needed

        return Said(
            f"No threshold is shown to keep the share of wrong values at {most:g} or below. It takes at "
            f"least {count(needed(most))} values without a mistake in the half that is checked.",
            "bad",
        )
    return Said(
        f"Values with a confidence of {found.threshold:g} or more may skip review: {_percent(found)} of all. "
        f"At most {most:g} of them are wrong, with 95 % confidence: of the half that did not choose the "
        f"threshold {count(found.wrong)} of {count(found.checked)} are, a share below {found.bound:.3g}.",
        "good",
    )


def _cheapest(found: Cheapest) -> Said:
    others = (
        f"reviewing all costs {amount_text(found.cost_of_review)}, none {amount_text(found.cost_of_none)}"
    )
    if found.threshold is None:
        return Said(f"Reviewing all values is cheapest: {others}.", "open")
    return Said(
        f"A threshold of {found.threshold:g} is cheapest: {_percent(found)} of the values skip review, "
        f"and a value costs {amount_text(found.cost)}; {others}.",
        "strong",
    )


def _table(study: ConfidenceStudy) -> Rows:
    """Return the table of fields, those first whose confidences are most surely off."""
    most, cost = study.max_error, study.cost
    columns: list[tuple[Column, Callable[[FieldConfidence], str | Spark]]] = [
        (Column("values"), lambda of: count(of.values)),
        (Column("right"), lambda of: score_text(of.accuracy)),
        (Column("confidence", spare=1), lambda of: score_text(of.mean_confidence)),
        (Column("auroc"), lambda of: _estimate(of.auroc)[0]),
        (Column("interval", spare=3), lambda of: _estimate(of.auroc)[1]),
        (Column("ece"), lambda of: _estimate(of.ece)[0]),
        (Column("interval", spare=3), lambda of: _estimate(of.ece)[1]),
        (Column("brier", spare=2), lambda of: _estimate(of.brier)[0]),
        (
            Column("right by bin", text=True, spare=4),
            lambda of: Spark([each.right for each in of.reliability]),
        ),
    ]
    if most is not None:
        columns += [
            (Column(f"{most:g} from"), lambda of: _threshold(of.at_error)),
            (Column("coverage"), lambda of: "" if of.at_error is None else _percent(of.at_error)),
        ]
    if cost is not None:
        columns += [
            (Column("cheapest from"), lambda of: _threshold(of.cheapest)),
            (
                Column("cost", spare=1),
                lambda of: "" if of.cheapest is None else amount_text(of.cheapest.cost),
            ),
        ]
    ranked = sorted(
        ((path, each) for path, each in study.fields.items() if each.values),
        key=lambda one: (-((one[1].ece and one[1].ece.low) or 0.0), one[0]),
    )
    rows = []
    for path, each in ranked:
        tone = "faint" if each.values < _FEW else ""
        cells = (shown(each) for _, shown in columns)
        rows.append(
            [Cell(path, tone), *(Cell(cell, tone) if isinstance(cell, str) else cell for cell in cells)]
        )
    titles = [Column("field"), *(column for column, _ in columns)]
    return Rows(titles, rows, title="Fields, the most surely miscalibrated first")


def _threshold(found: Promise | Cheapest | None) -> str:
    if found is None:
        return ""
    return "none" if found.threshold is None else f"{found.threshold:g}"


def _percent(found: Promise | Cheapest) -> str:
    return f"{found.coverage * 100:.1f} %"
