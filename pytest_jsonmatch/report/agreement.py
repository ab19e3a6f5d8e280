"""How far a judge agrees with people, for the terminal: figures, a table of two by two, fields, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.fieldtable import ALL_FIELDS
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, RED, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.report.table import Name, draw_table, roomiest
from pytest_jsonmatch.report.valuetext import Space, value_lines

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.agreement import Agreement
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.semantic.judging import JudgeItem

_MAX_SHOWN: Final = 5
_REACH: Final = 300
"""So many columns of a value are shown."""
_REASON_ROWS: Final = 3
_MAX_FIELDS: Final = 20
_COLUMNS: Final = ("n", "agree", "false same", "false different", "accuracy", "kappa", "interval")
_DROPPED: Final = (1, 6, 3, 2)
"""The columns that are left out where there is no room, one after the other."""


@final
class Disagreement(NamedTuple):
    """A pair of which the judge says something else than people."""

    where: str
    item: JudgeItem
    same: bool
    """What people say; the judge says the contrary."""
    reason: str | None = None
    """What the judge gives as its reason."""


def agreement_blocks(
    table: Agreement, fields: Mapping[str, Agreement], look: Look, *, title: str, confidence: float = 0.95
) -> list[list[StyledLine]]:
    """Return the lines about a judge, in blocks: its figures, the table, its figures by field.

    Args:
        table: of all pairs.
        fields: by path; shown if there is more than one.
        look: how the lines may look.
        title: who judged what.
        confidence: of the intervals.
    """
    head = [look.title(title)]
    if not table.number:
        return [head]
    blocks = [[*head, *_figures(table, confidence, look)], list(_two_by_two(table))]
    if len(fields) > 1:
        blocks.append(_by_field(table, fields, confidence, look))
    return blocks


def _figures(table: Agreement, confidence: float, look: Look) -> Iterator[StyledLine]:
    agreed = f"; {count(table.agreed)} of {count(table.number, 'pair')}"
    for name, interval, note in (
        ("accuracy", table.accuracy_interval(confidence), agreed),
        ("kappa", table.kappa_interval(confidence), ""),
    ):
        text = "not defined: all labels are alike; it needs pairs of both kinds"
        if interval is not None:
            text = f"{_ends(interval, look)}  ({confidence * 100:g} % interval, {interval.method}{note})"
        figure = look.score(None if interval is None else interval.estimate)
        yield look.fitting([(f"  {name:8}  ", PLAIN), (figure, BOLD), (f"  {text}", PLAIN)])
    precision, recall = look.score(table.precision), look.score(table.recall)
    yield look.line(f'  "same"    precision {precision}, recall {recall}')


def _ends(interval: Interval, look: Look) -> str:
    return f"{look.score(interval.low)} to {look.score(interval.high)}"


def _two_by_two(table: Agreement) -> Iterator[StyledLine]:
    false_same = RED if table.false_same else PLAIN
    false_different = RED if table.false_different else PLAIN
    rows = (
        ("people: same", (table.true_same, PLAIN), (table.false_different, false_different)),
        ("people: different", (table.false_same, false_same), (table.true_different, PLAIN)),
    )
    yield [(f"  {'':17}  judge: same  different", DIM)]
    for name, (same, one), (different, other) in rows:
        yield [(f"  {name:17}", DIM), (f"  {count(same):>11}", one), (f"  {count(different):>9}", other)]


def _by_field(
    table: Agreement, fields: Mapping[str, Agreement], confidence: float, look: Look
) -> list[StyledLine]:
    """Return a row for each field, that with the lowest accuracy first, and one for all of them."""
    worst = sorted(fields.items(), key=lambda item: (item[1].accuracy or 0.0, -item[1].number, item[0]))
    shown, more = look.cut(worst, _MAX_FIELDS, "field", indent="")
    markups = [BOLD, *(score_markup(found.accuracy) for _, found in shown), PLAIN]
    titles = ["field", *(path or "(no path)" for path, _ in shown), ALL_FIELDS]
    names = list(map(Name, titles, markups))
    cells = [_COLUMNS, *(_cells(found, confidence, look) for found in (*dict(shown).values(), table))]
    columns = [list(zip(texts, markups, strict=True)) for texts in zip(*cells, strict=True)]
    kept = [
        [column for at, column in enumerate(columns) if at not in _DROPPED[:dropped]]
        for dropped in range(len(_DROPPED) + 1)
    ]
    drawn = roomiest(draw_table(names, each, look) for each in kept)
    *lines, total = drawn.lines
    return [*lines, drawn.rule, total, *more]


def _cells(found: Agreement, confidence: float, look: Look) -> tuple[str, ...]:
    interval = found.kappa_interval(confidence)
    return (
        count(found.number),
        count(found.agreed),
        count(found.false_same),
        count(found.false_different),
        look.score(found.accuracy),
        look.score(found.kappa),
        look.score(None) if interval is None else _ends(interval, look),
    )


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
