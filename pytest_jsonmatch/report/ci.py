"""Workflow commands for GitHub Actions: lines of a log that become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.checks import named
from pytest_jsonmatch.report.escape import clip, clip_middle, printable
from pytest_jsonmatch.report.view import Fault, RunView, message_lines

MOST: Final = 10
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


def workflow_commands(view: RunView, *, unicode: bool = True) -> Iterator[str]:
    """Yield one command for all failed gates, and one for each failed case, the worst first; ten at most.

    Args:
        view: the run.
        unicode: False keeps to ASCII.
    """
    gates = [check for check in view.gates if check.passed is False]
    if gates:
        lines = (clip(named(check, unicode=unicode), _WIDTH, unicode=unicode) for check in gates)
        yield command("error", "\n".join(lines), title=f"{count(len(gates), 'gate')} failed")
    if view.results.has_only_gates:
        return
    room = MOST - bool(gates)
    for fault in view.faults[:room]:
        yield _fault(fault, unicode)
    hidden = len(view.faults) - room
    if hidden > 0:
        text = f"{count(hidden, 'more case')} failed, none with a lower score than those above"
        yield command("notice", text, title="jsonmatch")


def _fault(fault: Fault, unicode: bool) -> str:
    title = clip_middle(fault.case.rpartition("::")[2] or fault.case, 80, unicode=unicode)
    if fault.note:
        title += f" ({fault.note})"
    message = fault.message.removeprefix("AssertionError: ") or "failed"
    text = "\n".join(message_lines(message, _LINES, width=_WIDTH, unicode=unicode))
    place = {"file": printable(fault.path), "line": str(fault.line)} if fault.path else {}
    return command("error", text, **place, title=title)
