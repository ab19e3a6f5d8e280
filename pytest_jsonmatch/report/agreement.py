"""How far a judge agrees with people: figures, a table of two by two, fields, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import AnyCell, Block, Cell, Figure, Figures, Rows, Sheet
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, RED, YELLOW, StyledLine
from pytest_jsonmatch.report.valuetext import Space, value_lines

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.agreement import Agreement
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.semantic.judging import JudgeItem

_MAX_SHOWN: Final = 5
_REACH: Final = 300
"""So many columns of a value are shown."""
_REASON_ROWS: Final = 3
_COLUMNS: Final = ("field", "n", "false same", "false different", "accuracy", "kappa", "interval")


@final
class Disagreement(NamedTuple):
    """A pair of which the judge says something else than people."""

    where: str
    item: JudgeItem
    same: bool
    """What people say; the judge says the contrary."""
    reason: str | None = None
    """What the judge gives as its reason."""


def agreement_sheet(
    title: str, table: Agreement, fields: Mapping[str, Agreement], confidence: float = 0.95
) -> Sheet:
    """Return what is known of a judge: its figures, the table of two by two, its figures by field.

    Args:
        title: who judged what.
        table: of all pairs.
        fields: by path; shown if there is more than one.
        confidence: of the intervals.
    """
    if not table.number:
        return Sheet("jsonmatch judge calibrate", title, [])
    two_by_two: list[list[AnyCell]] = [
        ["same", count(table.true_same), _wrong(table.false_different)],
        ["different", _wrong(table.false_same), count(table.true_different)],
    ]
    blocks: list[Block] = [
        Figures(list(_figures(table, confidence))),
        Rows(["people", "judge: same", "judge: different"], two_by_two),
    ]
    if len(fields) > 1:
        worst = sorted(fields.items(), key=lambda item: (item[1].accuracy or 0.0, -item[1].number, item[0]))
        rows = [_row(path, found, confidence) for path, found in worst]
        blocks.append(Rows(_COLUMNS, rows, spare={"false same": 1, "false different": 2, "interval": 3}))
    return Sheet("jsonmatch judge calibrate", title, blocks)


def _figures(table: Agreement, confidence: float) -> Iterator[Figure]:
    agreed = f"; {count(table.agreed)} of {count(table.number, 'pair')}"
    for name, interval, note in (
        ("accuracy", table.accuracy_interval(confidence), agreed),
        ("kappa", table.kappa_interval(confidence), ""),
    ):
        text = "not defined: all labels are alike; it needs pairs of both kinds"
        if interval is not None:
            text = f"{_ends(interval)}  ({confidence * 100:g} % interval, {interval.method}{note})"
        yield Figure(name, score_text(None if interval is None else interval.estimate), text)
    yield Figure("precision", score_text(table.precision), 'of the verdict "same"')
    yield Figure("recall", score_text(table.recall), "likewise")


def _ends(interval: Interval | None) -> str:
    return "–" if interval is None else f"{score_text(interval.low)} to {score_text(interval.high)}"


def _wrong(number: int) -> Cell:
    return Cell(count(number), "bad" if number else "")


def _row(path: str, found: Agreement, confidence: float) -> list[AnyCell]:
    counts = map(count, (found.number, found.false_same, found.false_different))
    figures = map(score_text, (found.accuracy, found.kappa))
    return [path or "(no path)", *counts, *figures, _ends(found.kappa_interval(confidence))]


def disagreement_lines(found: Sequence[Disagreement], look: Look) -> list[StyledLine]:
    """Return the pairs of which judge and people say different things; with "all" with their values whole.

    Those that only the judge calls the same come first: they are wrong answers that would pass.
    """
    if not found:
        return []
    shown, more = look.cut(sorted(found, key=lambda each: each.same), _MAX_SHOWN)
    lines: list[StyledLine] = [[(f"{count(len(found), 'disagreement')}:", BOLD)]]
    space = Space(look.less(4), look.most(_REACH))
    for each in shown:
        said = "people: same, judge: different" if each.same else "people: different, judge: same"
        item = each.item
        named = f"{each.where}  {item.path}" if item.path else each.where
        name = look.middle(named, max(look.width - len(said) - 4, 12))
        lines.append([(f"  {name}  ", PLAIN), (said, YELLOW if each.same else RED)])
        lines += [[("    ", PLAIN), *line] for line in value_lines(item.expected, item.actual, space)]
        if each.reason:
            rows = look.most(_REASON_ROWS) or len(each.reason)
            lines += look.folded(f"judge: {each.reason}", rows, DIM, indent="    ")
    return [*lines, *more]
