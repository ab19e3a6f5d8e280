"""Workflow commands for GitHub Actions: log lines that become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.case_tables import message_lines
from pytest_jsonmatch.report.checks import named
from pytest_jsonmatch.report.escape import clip, clip_middle, printable

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.report.blocks import Failure, Report

MAX_ERRORS: Final = 10
"""GitHub shows at most this many errors per step."""
_LINES: Final = 12
_WIDTH: Final = 160


def command(name: str, message: str, **properties: str) -> str:
    r"""Return a workflow command.

    >>> command("error", "50 %\nof it", file="a,b.yaml", line="3")
    '::error file=a%2Cb.yaml,line=3::50 %25%0Aof it'
    """
    shown = {
        key: _escaped(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()
    }
    written = ",".join(f"{key}={value}" for key, value in shown.items())
    return f"::{name}{f' {written}' if written else ''}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def workflow_commands(report: Report, gates: Iterable[Check], *, unicode: bool = True) -> Iterator[str]:
    """Yield one command for all failed gates and one for each failed case, at most ten errors.

    Args:
        report: the report of the run.
        gates: the gates of the run.
        unicode: whether characters beyond ASCII are allowed.
    """
    failed = [check for check in gates if check.passed is False]
    if failed:
        lines = (clip(named(check, unicode=unicode), _WIDTH, unicode=unicode) for check in failed)
        yield command("error", "\n".join(lines), title=f"{count(len(failed), 'gate')} failed")
    room = MAX_ERRORS - bool(failed)
    for failure in report.failures[:room]:
        yield _failure(failure, unicode)
    hidden = len(report.failures) - room
    if hidden > 0:
        text = f"{count(hidden, 'more case')} failed, none with a lower score than those above"
        yield command("notice", text, title="jsonmatch")


def _failure(failure: Failure, unicode: bool) -> str:
    title = clip_middle(failure.case.id.rpartition("::")[2] or failure.case.id, 80, unicode=unicode)
    if failure.note:
        title += f" ({failure.note})"
    message = failure.message.removeprefix("AssertionError: ") or "failed"
    text = "\n".join(message_lines(message, _LINES, width=_WIDTH, unicode=unicode))
    place = {"file": printable(failure.path), "line": str(failure.line)} if failure.path else {}
    return command("error", text, **place, title=title)
