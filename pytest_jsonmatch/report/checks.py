"""What a session is judged by, for the terminal: a line for each check that failed or is still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.report.escape import display_width, pad, printable
from pytest_jsonmatch.report.figures import compare_figures, count, score_text
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED, YELLOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["check_figures", "check_lines", "gate_lines"]


def check_lines(checks: Iterable[Check], *, unicode: bool = True) -> list[StyledLine]:
    """Return the lines of checks, as pytest words its own short summary.

    They are as long as they need to be: a node id is there to be copied.
    """
    return [_line(check, unicode) for check in checks]


def _line(check: Check, unicode: bool) -> StyledLine:
    note = f" ({check.note})" if check.note else ""
    if check.passed is None:
        word, what = "UNDECIDED", f"{check.figure} of {score_text(check.limit, unicode=unicode)} wanted"
    elif check.value is None:
        word, what = "FAILED", f"no {check.figure}"
    else:
        word = "PASSED" if check.passed else "FAILED"
        sign = " >= " if check.passed else " < "
        what = f"{check.figure} {sign.join(compare_figures(check.value, check.limit))}"
    subject = printable(check.subject, ascii_only=not unicode)
    return [(word, YELLOW if check.passed is None else RED), (f" {subject} - {what}{note}", PLAIN)]


def gate_lines(checks: Sequence[Check], *, on: str, unicode: bool = True) -> list[StyledLine]:
    """Return the lines of gates: each with its figure, and what it has to spare or lacks.

    Args:
        checks: the gates.
        on: what they were evaluated on, such as "12 of 80 cases (-k)".
        unicode: False keeps to ASCII.
    """
    if not checks:
        return []
    texts = [printable(check.subject, ascii_only=not unicode) for check in checks]
    longest = max(map(display_width, texts))
    lines: list[StyledLine] = [[(f"gates, on {printable(on, ascii_only=not unicode)}:", BOLD)]]
    for check, text in zip(checks, texts, strict=True):
        word, markup = ("PASSED", GREEN) if check.passed else ("FAILED", RED)
        if check.passed is None:
            word, markup = "SKIPPED", YELLOW
        lines.append(
            [(f"  {word:7}", markup), (f"  {pad(text, longest)}  {_figures(check, unicode)}".rstrip(), PLAIN)]
        )
    return lines


def _figures(check: Check, unicode: bool) -> str:
    value, _, slack = check_figures(check, unicode=unicode)
    if not slack:
        return check.note
    return f"{value}  slack {slack}{f' ({check.note})' if check.note else ''}"


def check_figures(check: Check, *, unicode: bool = True) -> tuple[str, str, str]:
    """Return a check's value, limit and slack, with as many decimals as it takes to tell them apart.

    Value and slack are empty where there is no figure.
    """
    if check.value is None or check.slack is None:
        return "", f"{check.limit:g}", ""
    if isinstance(check.value, int):
        return count(check.value), f"{check.limit:g}", f"{check.slack:+g}" if check.slack else "0"
    value, limit = compare_figures(check.value, check.limit)
    sign = "" if not check.slack else "+" if check.slack > 0 else "-"
    return value, limit, sign + score_text(abs(check.slack), unicode=unicode)
