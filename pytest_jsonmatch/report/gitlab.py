"""Cases that failed, as a code quality report of GitLab: JSON in the format of Code Climate issues."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip
from pytest_jsonmatch.report.figures import score_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.report.view import Fault

__all__ = ["code_quality", "severity"]

_SEVERITIES: Final = ((1.0, "blocker"), (0.5, "critical"), (0.1, "major"))
"""By how much of the score is lost; what loses less is minor."""
_FIELDS: Final = 3


def severity(score: float) -> str:
    """Return how severe it is that a case has a score.

    >>> [severity(score) for score in (0.0, 0.5, 0.9, 0.99)]
    ['blocker', 'critical', 'major', 'minor']
    """
    return next((name for lost, name in _SEVERITIES if 1 - score >= lost - 1e-9), "minor")


def code_quality(faults: Iterable[Fault]) -> str:
    r"""Return a code quality report, an issue for each case.

    The fingerprint is of the case's id only: an issue stays the same one while its score changes.

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
