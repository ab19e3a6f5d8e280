"""Analyse gold data and answers: label errors, agreement, confidence, contamination, shift.

Each analysis is a function that takes plain Python values and returns a frozen dataclass. Names are resolved
when they are first used, so that importing this package imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.support.lazy import make_lazy_names

if TYPE_CHECKING:
    from pytest_jsonmatch.study.agreement import (
        AgreementStudy as AgreementStudy,
        FieldAgreement as FieldAgreement,
        measure_agreement as measure_agreement,
    )
    from pytest_jsonmatch.study.calibration import (
        Bin as Bin,
        Estimate as Estimate,
        ReviewThreshold as ReviewThreshold,
    )
    from pytest_jsonmatch.study.confidence import (
        ConfidenceStudy as ConfidenceStudy,
        FieldConfidence as FieldConfidence,
        measure_confidence as measure_confidence,
    )
    from pytest_jsonmatch.study.mutate import (
        Hole as Hole,
        SuiteAudit as SuiteAudit,
        find_holes as find_holes,
    )
    from pytest_jsonmatch.study.overlap import (
        OverlapStudy as OverlapStudy,
        SeenRecord as SeenRecord,
        measure_overlap as measure_overlap,
    )
    from pytest_jsonmatch.study.shift import (
        FieldShift as FieldShift,
        ShiftStudy as ShiftStudy,
        measure_shift as measure_shift,
    )
    from pytest_jsonmatch.study.label_errors import (
        GoldAudit as GoldAudit,
        Suspect as Suspect,
        audit_gold as audit_gold,
    )

_HOMES = {
    "study.agreement": ("AgreementStudy", "FieldAgreement", "measure_agreement"),
    "study.calibration": ("Bin", "Estimate", "ReviewThreshold"),
    "study.confidence": ("ConfidenceStudy", "FieldConfidence", "measure_confidence"),
    "study.mutate": ("Hole", "SuiteAudit", "find_holes"),
    "study.overlap": ("OverlapStudy", "SeenRecord", "measure_overlap"),
    "study.shift": ("FieldShift", "ShiftStudy", "measure_shift"),
    "study.label_errors": ("GoldAudit", "Suspect", "audit_gold"),
}
if not TYPE_CHECKING:
    # With this, a type checker would accept any misspelt name.
    __all__, __getattr__, __dir__ = make_lazy_names(__name__, _HOMES)
