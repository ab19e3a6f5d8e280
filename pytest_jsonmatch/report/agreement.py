"""How far a judge agrees with people, for the terminal: figures, a table of two by two, fields, pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, fold, mark, pad
from pytest_jsonmatch.report.figures import count, dash, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, RED, YELLOW, score_markup
from pytest_jsonmatch.report.valuetext import Space, value_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.gate.agreement import Agreement
    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["Disagreement", "agreement_blocks", "disagreement_lines"]

_MAX_SHOWN: Final = 5
_REACH: Final = 300
"""So many columns of a value are shown."""
_REASON_ROWS: Final = 3
_MAX_FIELDS: Final = 20
_COLUMNS: Final = ("n", "agree", "false same", "false different", "accuracy", "kappa", "interval")
_DROPPED: Final = (1, 6, 3, 2)
"""The columns that are left out where there is no room, one after the other."""
_LEAST: Final = 16
"""So many columns are kept for the names of fields."""


@final
@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair of which the judge says something else than people."""

    where: str
    path: str
    expected: JsonValue
    actual: JsonValue
    same: bool
    """What people say; the judge says the contrary."""
    reason: str | None = None
    """What the judge gives as its reason."""


def agreement_blocks(
    table: Agreement,
    fields: Mapping[str, Agreement],
    *,
    title: str,
    confidence: float = 0.95,
    everything: bool = False,
    width: int = 80,
    unicode: bool = True,
) -> list[list[StyledLine]]:
    """Return the lines about a judge, in blocks: its figures, the table, its figures by field.

    Args:
        table: of all pairs.
        fields: by path; shown if there is more than one.
        title: who judged what.
        confidence: of the intervals.
        everything: True shows all fields, False the worst.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
    """
    head: list[StyledLine] = [[(clip(title, width, unicode=unicode), BOLD)]]
    if not table.number:
        return [head]
    head += _figures(table, confidence, width, unicode)
    blocks = [head, list(_two_by_two(table))]
    if len(fields) > 1:
        most = len(fields) if everything else _MAX_FIELDS
        blocks.append(list(_by_field(table, fields, most, confidence, width, unicode)))
    return blocks


def _figures(table: Agreement, confidence: float, width: int, unicode: bool) -> Iterator[StyledLine]:
    accuracy, kappa = table.accuracy_interval(confidence), table.kappa_interval(confidence)
    agreed = f"{count(table.agreed)} of {count(table.number, 'pair')}"
    for name, interval, note in (("accuracy", accuracy, agreed), ("kappa", kappa, "")):
        value = None if interval is None else interval.estimate
        text = "" if interval is None else f"  {_ends(interval, unicode)}"
        if interval is not None:
            text += f"  ({confidence * 100:g} % interval, {interval.method}{f'; {note}' if note else ''})"
        else:
            text += "  not defined: all labels are alike; it needs pairs of both kinds"
        figure = score_text(value, unicode=unicode)
        yield [
            (f"  {name:8}  ", PLAIN),
            (figure, BOLD),
            (clip(text, max(width - 12 - display_width(figure), 1), unicode=unicode), PLAIN),
        ]
    precision, recall = (score_text(each, unicode=unicode) for each in (table.precision, table.recall))
    line = f'  "same"    precision {precision}, recall {recall}'
    yield [(clip(line, width, unicode=unicode), PLAIN)]


def _ends(interval: Interval, unicode: bool) -> str:
    return " to ".join(score_text(end, unicode=unicode) for end in (interval.low, interval.high))


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
    table: Agreement,
    fields: Mapping[str, Agreement],
    most: int,
    confidence: float,
    width: int,
    unicode: bool,
) -> Iterator[StyledLine]:
    """Yield a row for each field, that with the lowest accuracy first, and one for all of them."""
    worst = sorted(fields.items(), key=lambda item: (item[1].accuracy or 0.0, -item[1].number, item[0]))
    rows = [(path or "(no path)", found) for path, found in worst[:most]]
    cells = [_cells(found, confidence, unicode) for _, found in (*rows, ("", table))]
    sizes = [max(len(name), *(len(row[at]) for row in cells)) for at, name in enumerate(_COLUMNS)]
    kept = list(range(len(_COLUMNS)))
    for at in _DROPPED:
        if sum(sizes[each] + 2 for each in kept) + _LEAST > width:
            kept.remove(at)
    room = max(width - sum(sizes[each] + 2 for each in kept), _LEAST)
    labels = [clip_middle(path, room, unicode=unicode) for path, _ in rows]
    first = max(len("field"), *map(display_width, labels))

    def line(label: str, texts: Sequence[str]) -> str:
        return "  ".join((pad(label, first), *(pad(texts[at], sizes[at], right=True) for at in kept)))

    yield [(line("field", _COLUMNS), BOLD)]
    for label, (_, found), texts in zip(labels, rows, cells, strict=False):
        yield [(line(label, texts), score_markup(found.accuracy))]
    yield [(("─" if unicode else "-") * len(line("", _COLUMNS)), DIM)]
    yield [(line("total", cells[-1]), PLAIN)]
    if (hidden := len(fields) - len(rows)) > 0:
        yield [(f"{mark(unicode)} {count(hidden, 'more field')} (-v)", DIM)]


def _cells(found: Agreement, confidence: float, unicode: bool) -> tuple[str, ...]:
    interval = found.kappa_interval(confidence)
    return (
        count(found.number),
        count(found.agreed),
        count(found.false_same),
        count(found.false_different),
        score_text(found.accuracy, unicode=unicode),
        score_text(found.kappa, unicode=unicode),
        dash(unicode) if interval is None else _ends(interval, unicode),
    )


def disagreement_lines(
    found: Sequence[Disagreement], *, everything: bool = False, width: int = 80, unicode: bool = True
) -> list[StyledLine]:
    """Return the pairs of which judge and people say different things.

    Those that only the judge calls the same come first: they are wrong answers that would pass.

    Args:
        found: the pairs.
        everything: True shows all of them, and their values whole.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
    """
    if not found:
        return []
    ordered = sorted(found, key=lambda each: each.same)
    shown = ordered if everything else ordered[:_MAX_SHOWN]
    lines: list[StyledLine] = [[(f"{count(len(found), 'disagreement')}:", BOLD)]]
    space = Space(width - 4, None if everything else _REACH, unicode)
    for each in shown:
        said = "people: same, judge: different" if each.same else "people: different, judge: same"
        named = f"{each.where}  {each.path}" if each.path else each.where
        room = max(width - len(said) - 4, 12)
        lines.append(
            [
                (f"  {clip_middle(named, room, unicode=unicode)}  ", PLAIN),
                (said, YELLOW if each.same else RED),
            ]
        )
        lines += [[("    ", PLAIN), *line] for line in value_lines(each.expected, each.actual, space)]
        if each.reason:
            rows = len(each.reason) if everything else _REASON_ROWS
            folded = fold(f"judge: {each.reason}", width - 4, rows, unicode=unicode)
            lines += [[(f"    {line}", DIM)] for line in folded]
    if hidden := len(found) - len(shown):
        lines.append([(f"  {mark(unicode)} {count(hidden)} more (-v)", DIM)])
    return lines
