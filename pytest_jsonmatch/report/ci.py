"""Output for CI services: workflow commands for GitHub Actions, and a code quality report for GitLab.

Workflow commands are lines of a log that become annotations on a pull request. A code quality report is JSON
in the format of Code Climate issues.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.checks import check_figures
from pytest_jsonmatch.report.escape import clip, clip_middle, printable
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.view import Fault, RunView, message_lines

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check

MOST: Final = 10
"""GitHub shows at most this many errors per step."""
_LINES: Final = 12
_WIDTH: Final = 160
_SEVERITIES: Final = ((1.0, "blocker"), (0.5, "critical"), (0.1, "major"))
"""The severity by how much of the score is lost; smaller losses are minor."""
_FIELDS: Final = 3


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
        yield command("error", "\n".join(_gates(gates, unicode)), title=f"{count(len(gates), 'gate')} failed")
    room = MOST - bool(gates)
    for fault in view.faults[:room]:
        yield _fault(fault, unicode)
    hidden = len(view.faults) - room
    if hidden > 0:
        text = f"{count(hidden, 'more case')} failed, none with a lower score than those above"
        yield command("notice", text, title="jsonmatch")


def _gates(gates: Sequence[Check], unicode: bool) -> Iterator[str]:
    for check in gates[:_LINES]:
        value, _, slack = check_figures(check, unicode=unicode)
        figures = f"{value}, slack {slack}" if slack else "no figure"
        note = f" ({check.note})" if check.note else ""
        yield clip(f"{check.subject}: {figures}{note}", _WIDTH, unicode=unicode)
    if len(gates) > _LINES:
        yield f"and {count(len(gates) - _LINES)} more"


def _fault(fault: Fault, unicode: bool) -> str:
    title = clip_middle(fault.case.rpartition("::")[2] or fault.case, 80, unicode=unicode)
    if fault.note:
        title += f" ({fault.note})"
    message = fault.message.removeprefix("AssertionError: ") or "failed"
    text = "\n".join(message_lines(message, _LINES, width=_WIDTH, unicode=unicode))
    place = {"file": printable(fault.path), "line": str(fault.line)} if fault.path else {}
    return command("error", text, **place, title=title)


def severity(score: float) -> str:
    """Return the severity of a case with this score.

    >>> [severity(score) for score in (0.0, 0.5, 0.9, 0.99)]
    ['blocker', 'critical', 'major', 'minor']
    """
    return next((name for lost, name in _SEVERITIES if 1 - score >= lost - 1e-9), "minor")


def code_quality(faults: Iterable[Fault]) -> str:
    r"""Return a code quality report, an issue for each case.

    The fingerprint depends only on the case's id, so an issue stays the same while its score changes.

    >>> code_quality([])
    '[]\n'
    """
    return json.dumps([_issue(fault) for fault in faults], indent=2) + "\n"


def _issue(fault: Fault) -> dict[str, object]:
    fields = ", ".join(f"{path} {score_text(score)}" for path, score in fault.fields[:_FIELDS])
    name = fault.case.rpartition("::")[2]
    note = f" ({fault.note})" if fault.note else ""
    text = f"{name}{note}: {fault.headline}{f'; worst: {fields}' if fields else ''}"
    return {
        "description": clip(text, 500),
        "check_name": f"jsonmatch/{fault.metric or 'error'}",
        "fingerprint": sha256(f"jsonmatch:{fault.case}".encode("utf-8", "backslashreplace")).hexdigest(),
        "severity": severity(fault.score),
        "location": {"path": fault.path or fault.case.partition("::")[0], "lines": {"begin": fault.line}},
    }
