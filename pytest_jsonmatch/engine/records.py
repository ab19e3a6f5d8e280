"""What a session keeps of a comparison: figures and counts, in types that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.results import FieldAggregation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.results import MatchResult

__all__ = ["Comparison"]

# Deeper paths than this are cut in summaries, where nobody reads them; results keep them whole.
_SHOWN_LEVELS = 200


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a session, as summaries and gates read it.

    >>> from pytest_jsonmatch import compare_json
    >>> kept = Comparison.of(
    ...     compare_json({"a": 1}, {"a": 1}), id="t.py::t#1", nodeid="t.py::t", threshold={}, passed=True
    ... )
    >>> Comparison.from_payload(kept.to_payload()) == kept
    True
    """

    id: str
    """`NODEID#1`, or the name given."""
    nodeid: str
    metric: str
    signature: str
    score: float
    precision: float
    recall: float
    f1: float
    passed: bool
    threshold: Mapping[str, Any] = field(default_factory=dict)
    """The limits asked for: `{"score": 1.0}`, with `fields` mapping path patterns to limits."""
    fields: Mapping[str, FieldAggregation] = field(default_factory=dict)
    """Aggregates by schema path."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Results per status."""
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    arrays: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """By schema path of arrays not compared by position: pairs, elements only in expected, only in actual."""
    approximate: bool = False
    """Whether an unordered array was too large to be paired exactly."""
    case: str = ""
    """What all runs of a repeated golden case have in common, their node id without `@2`; else empty."""
    params: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """The test's parameters by the name of the fixture: the label, and its place among the fixture's."""

    @classmethod
    def of(
        cls,
        result: MatchResult,
        *,
        id: str,  # noqa: A002 - the field's name
        nodeid: str,
        threshold: Mapping[str, Any],
        passed: bool,
        case: str = "",
        params: Mapping[str, tuple[str, int]] | None = None,
    ) -> Comparison:
        """Return what a session keeps of a result."""
        return cls(
            id=id,
            nodeid=nodeid,
            metric=result.metric,
            signature=str(result.signature),
            score=result.score,
            precision=result.precision,
            recall=result.recall,
            f1=result.f1,
            passed=passed,
            threshold=dict(threshold),
            fields=result.per_field.short(_SHOWN_LEVELS),
            counts=result.counts,
            errors=tuple(map(str, result.errors)),
            warnings=result.warnings,
            arrays=result.array_counts(_SHOWN_LEVELS),
            approximate=result.alignment == "approximate",
            case=case,
            params=params or {},
        )

    def to_payload(self) -> dict[str, Any]:
        """Return the comparison as built-in types, which any transport between processes takes."""
        payload: dict[str, Any] = {
            "id": self.id,
            "nodeid": self.nodeid,
            "metric": self.metric,
            "signature": self.signature,
            "score": self.score,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "passed": self.passed,
            "threshold": dict(self.threshold),
            "fields": {path: aggregate.to_list() for path, aggregate in self.fields.items()},
            "counts": dict(self.counts),
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "arrays": {path: list(counts) for path, counts in self.arrays.items()},
        }
        if self.approximate:
            payload["approximate"] = True
        if self.case:
            payload["case"] = self.case
        if self.params:
            payload["params"] = {name: list(label) for name, label in self.params.items()}
        return payload

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Comparison:
        """Return the comparison that `to_payload` gave."""
        plain = dict(payload)
        plain["fields"] = {path: FieldAggregation.from_list(row) for path, row in plain["fields"].items()}
        plain["errors"] = tuple(plain["errors"])
        plain["warnings"] = tuple(plain["warnings"])
        plain["arrays"] = {path: tuple(counts) for path, counts in plain["arrays"].items()}
        if "params" in plain:
            plain["params"] = {name: (label, place) for name, (label, place) in plain["params"].items()}
        return cls(**plain)
