"""What a session is judged by, for the terminal: a line for each check that failed or is still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.report.figures import compare_figures, score_text
from pytest_jsonmatch.report.styled import PLAIN, RED, YELLOW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["check_lines"]


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
