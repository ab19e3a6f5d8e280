"""Questions about answers and gold records that a score does not answer.

Each has a function that takes plain Python values and returns a frozen dataclass. The names are resolved when
they are first used: importing this package imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch._lazy import lazy_names

if TYPE_CHECKING:
    from pytest_jsonmatch.study.agreement import (
        AgreementStudy,
        DisputedDocument,
        FieldAgreement,
        measure_agreement,
    )
    from pytest_jsonmatch.study.calibration import Bin, Estimate, Risk, Threshold
    from pytest_jsonmatch.study.confidence import ConfidenceStudy, FieldConfidence, measure_confidence
    from pytest_jsonmatch.study.history import HistoryChange, HistoryRun, HistoryStudy, measure_history
    from pytest_jsonmatch.study.mutate import Hole, Mutation, SuiteAudit, find_holes, mutations
    from pytest_jsonmatch.study.overlap import Contaminated, OverlapStudy, measure_overlap
    from pytest_jsonmatch.study.shift import Change, ShiftStudy, measure_shift
    from pytest_jsonmatch.study.suspects import GoldAudit, Suspect, audit_gold
    from pytest_jsonmatch.study.twins import Duplicate

__all__ = [
    "AgreementStudy",
    "Bin",
    "Change",
    "ConfidenceStudy",
    "Contaminated",
    "DisputedDocument",
    "Duplicate",
    "Estimate",
    "FieldAgreement",
    "FieldConfidence",
    "GoldAudit",
    "HistoryChange",
    "HistoryRun",
    "HistoryStudy",
    "Hole",
    "Mutation",
    "OverlapStudy",
    "Risk",
    "ShiftStudy",
    "SuiteAudit",
    "Suspect",
    "Threshold",
    "audit_gold",
    "find_holes",
    "measure_agreement",
    "measure_confidence",
    "measure_history",
    "measure_overlap",
    "measure_shift",
    "mutations",
]

_HOMES = {
    "agreement": ("AgreementStudy", "DisputedDocument", "FieldAgreement", "measure_agreement"),
    "calibration": ("Bin", "Estimate", "Risk", "Threshold"),
    "confidence": ("ConfidenceStudy", "FieldConfidence", "measure_confidence"),
    "mutate": ("Hole", "Mutation", "SuiteAudit", "find_holes", "mutations"),
    "history": ("HistoryChange", "HistoryRun", "HistoryStudy", "measure_history"),
    "overlap": ("Contaminated", "OverlapStudy", "measure_overlap"),
    "shift": ("Change", "ShiftStudy", "measure_shift"),
    "suspects": ("GoldAudit", "Suspect", "audit_gold"),
    "twins": ("Duplicate",),
}
if not TYPE_CHECKING:
    # A type checker that saw it would accept any misspelt name.
    __getattr__ = lazy_names(__name__, _HOMES, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
