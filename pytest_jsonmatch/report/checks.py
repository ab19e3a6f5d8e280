"""Tables of gates and of repeated cases, and the last line of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import Column, Row, Table, TableCell
from pytest_jsonmatch.report.formatting import dash, limit_texts, score_text
from pytest_jsonmatch.report.styled import BOLD, RED, StyledLine
from pytest_jsonmatch.report.terminal_style import TerminalStyle

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.check import Check

_MAX_NAMED: Final = 3
_VERDICTS: Final = {
    True: TableCell("passed", "good"),
    False: TableCell("failed", "bad"),
    None: TableCell("not decided", "open"),
}
JUDGED: Final = "intervals do not account for the judge's errors; `jsonmatch study agreement` measures them"


def gate_table(checks: Sequence[Check], on: str) -> Table:
    """Return a table of the gates of a run or a study.

    Args:
        checks: the gates with their results.
        on: the cases they were evaluated on, such as "12 of 80 cases (-k)".
    """
    return _check_table(checks, "gate", "value", f"gates, on {on}" if on else "gates")


def repeated_table(checks: Sequence[Check]) -> Table:
    """Return a table of the repeated cases that failed or are not decided."""
    return _check_table(checks, "case", "pass rate", "repeated cases that did not pass")


def _check_table(
    checks: Sequence[Check],
    noun: str,
    value: str,
    title: str,
) -> Table:
    rows = [
        Row(
            [
                check.subject,
                _VERDICTS[check.passed],
                *(text or dash(True) for text in check_texts(check)),
                check.note,
            ]
        )
        for check in checks
    ]
    columns = [
        Column(noun, "node id" if noun == "case" else "name", uncut=True),
        Column("verdict", "verdict"),
        *map(Column, (value, "limit", "margin")),
        Column("note", "note"),
    ]
    return Table(columns, rows, title, noun, max_rows=len(checks), level="brief")


def failed_line(gates: Sequence[Check], repeated: Sequence[Check], style: TerminalStyle) -> StyledLine:
    """Return a line that names the failed gates and failed repeated cases; empty if there are none."""
    parts = []
    for noun, checks in (("gate", gates), ("repeated case", repeated)):
        failed = [check for check in checks if check.passed is False]
        if failed:
            names = [style.printable(named(check, unicode=style.unicode)) for check in failed[:_MAX_NAMED]]
            names += [f"{count(len(failed) - _MAX_NAMED)} more"] if failed[_MAX_NAMED:] else []
            decided = sum(check.passed is not None for check in checks)
            parts.append(f"{count(len(failed))} of {count(decided, noun)} failed: {', '.join(names)}")
    return [(f"jsonmatch: {'; '.join(parts)}", {**RED, **BOLD})] if parts else []


def named(check: Check, *, unicode: bool = True) -> str:
    """Return the subject of a check with its value, or with its note if there is no value."""
    value = check_texts(check, unicode=unicode)[0]
    if check.end is not None:
        value += f", {check.side} end {limit_texts(check.end, check.limit)[0]}"
    return f"{check.subject} ({value})" if value else ", ".join(filter(None, (check.subject, check.note)))


def check_texts(check: Check, *, unicode: bool = True) -> tuple[str, str, str]:
    """Return the value, limit and margin of a check with enough decimals to distinguish value and limit.

    Value and margin are empty if there is no value.
    """
    if check.value is None or check.margin is None:
        return "", f"{check.limit:g}", ""
    if isinstance(check.value, int):
        return count(check.value), f"{check.limit:g}", f"{check.margin:+g}" if check.margin else "0"
    if check.is_drop:
        from pytest_jsonmatch.gate.verdict import format_differences

        value, margin = format_differences(check.value, check.margin)  # as in the note and the other tables
        return value, limit_texts(check.value, check.limit)[1], margin
    sign = "" if not check.margin else "+" if check.margin > 0 else "-"
    margin = sign + score_text(abs(check.margin), unicode=unicode)
    return *limit_texts(check.value, check.limit), margin
