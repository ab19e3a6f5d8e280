"""What a run is judged by, for the terminal: figures with their intervals, doubts about these, gates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.figures import change_text, compare_figures
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED, YELLOW, StyledLine

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.results.run import RunResult

_MOST_NAMED: Final = 3
JUDGED: Final = "intervals do not account for the judge's errors; `jsonmatch study agreement` measures them"


def doubt_lines(results: RunResult, look: Look) -> list[StyledLine]:
    """Return a note on what a run's intervals do not account for; empty if a judge was not asked."""
    return look.folded(JUDGED, 4, YELLOW) if results.judged else []


def check_lines(checks: Iterable[Check], look: Look) -> list[StyledLine]:
    """Return the lines of checks that did not pass, in the style of pytest's short summary.

    They are never cut: node ids are there to be copied.
    """
    lines: list[StyledLine] = []
    for check in checks:
        word = ("UNDECIDED", YELLOW) if check.passed is None else ("FAILED", RED)
        note = f" ({check.note})" if check.note else ""
        if check.passed is None:
            what = f"{check.figure} of {look.score(check.limit)} wanted"
        elif check.value is None:
            what = f"no {check.figure}"
        else:
            what = f"{check.figure} {' < '.join(compare_figures(check.value, check.limit))}"
        lines.append([word, (f" {look.printable(check.subject)} - {what}{note}", PLAIN)])
    return lines


_WORDS = {True: ("PASSED", GREEN), False: ("FAILED", RED), None: ("SKIPPED", YELLOW)}


def gate_lines(checks: Sequence[Check], look: Look, *, on: str) -> list[StyledLine]:
    """Return the lines of gates, each with its figure and its slack.

    Args:
        checks: the gates.
        look: how the lines may look.
        on: what they were evaluated on, such as "12 of 80 cases (-k)".
    """
    if not checks:
        return []
    subjects = [look.printable(check.subject) for check in checks]
    longest = max(map(display_width, subjects))
    lines: list[StyledLine] = [[(f"gates, on {look.printable(on)}:", BOLD)]]
    for check, subject in zip(checks, subjects, strict=True):
        word, markup = _WORDS[check.passed]
        value, _, slack = check_figures(check, unicode=look.unicode)
        said = look.printable(check.note)
        note = f" ({said})" if said else ""
        figures = f"{value}  slack {slack}{note}" if slack else said
        lines.append([(f"  {word:7}", markup), (f"  {pad(subject, longest)}  {figures}".rstrip(), PLAIN)])
    return lines


def failed_line(gates: Sequence[Check], repeated: Sequence[Check], look: Look) -> StyledLine:
    """Return the line that names the gates and repeated cases that failed; empty if none did."""
    parts = []
    for noun, every in (("gate", gates), ("repeated case", repeated)):
        failed = [check for check in every if check.passed is False]
        if failed:
            names = [look.printable(named(check, unicode=look.unicode)) for check in failed[:_MOST_NAMED]]
            names += [f"{count(len(failed) - _MOST_NAMED)} more"] if failed[_MOST_NAMED:] else []
            decided = sum(check.passed is not None for check in every)
            parts.append(f"{count(len(failed))} of {count(decided, noun)} failed: {', '.join(names)}")
    return [(f"jsonmatch: {'; '.join(parts)}", {**RED, **BOLD})] if parts else []


def named(check: Check, *, unicode: bool = True) -> str:
    """Return a check's subject with its value, or with its note if there is no value."""
    value = check_figures(check, unicode=unicode)[0]
    return f"{check.subject} ({value})" if value else ", ".join(filter(None, (check.subject, check.note)))


def check_figures(check: Check, *, unicode: bool = True) -> tuple[str, str, str]:
    """Return a check's value, limit and slack, with enough decimals to distinguish them.

    Value and slack are empty where there is no figure.
    """
    if check.value is None or check.slack is None:
        return "", f"{check.limit:g}", ""
    if isinstance(check.value, int):
        return count(check.value), f"{check.limit:g}", f"{check.slack:+g}" if check.slack else "0"
    return *compare_figures(check.value, check.limit), change_text(check.slack, unicode=unicode)
