"""What a session keeps of a comparison: figures and counts, in types that travel between processes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.engine.result.absence import Presence
from pytest_jsonmatch.engine.result.figures import FieldAggregation
from pytest_jsonmatch.limits import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.corpus.tags import Tags
    from pytest_jsonmatch.engine.align.audited import ArrayAudit
    from pytest_jsonmatch.engine.result.match import MatchResult

# A result file keeps at most this many arrays of a comparison, and this many pairs of each.
_MAX_ARRAYS = 20
_MAX_PAIRS = 200


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a session, as summaries and gates read it.

    >>> from pytest_jsonmatch import compare_json
    >>> kept = Comparison.of(
    ...     compare_json({"a": 1}, {"a": 1}), id="t.py::t#1", nodeid="t.py::t", threshold={}, passed=True
    ... )
    >>> Comparison.from_text(kept.to_text()) == kept
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
    presence: Mapping[str, Presence] = field(default_factory=dict)
    """What stands at members of objects, by schema path: with all others of a run, its fabrications."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Results per status."""
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    arrays: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """By schema path of arrays not compared by position: pairs, elements only in expected, only in actual."""
    approximate: bool = False
    """Whether an unordered array was too large to be paired exactly."""
    params: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """The test's parameters by the name of the fixture: the label, and its place among the fixture's."""
    audit: tuple[ArrayAudit, ...] = ()
    """What else the pairs of unordered arrays could have been, where a result file asks for it."""
    field_results: tuple[Mapping[str, Any], ...] = ()
    """Every result with its values, where a result file asks for it."""
    containers: tuple[Mapping[str, Any], ...] = ()
    """The figures of objects and elements, likewise."""
    parsed: bool | None = None
    """Whether an answer that is text has JSON in it; None for one that is a value."""
    validity: str = ""
    """`valid`, `invalid` or `not validated` by its schema; empty where nobody asks."""
    violations: tuple[str, ...] = ()
    """What in the answer the schema does not allow."""
    spent: Spent | None = None
    """What the answer took; None if nobody says, or if an earlier comparison of the test has it."""
    tags: Tags = field(default_factory=dict)
    """What it is like, by name, beyond the tags of its case."""
    has_figures: bool = True
    """Whether there is anything to count. Where batch errors have left nothing, the figures here are 0."""

    @classmethod
    def of(
        cls,
        result: MatchResult,
        *,
        id: str,  # noqa: A002 - the field's name
        nodeid: str,
        threshold: Mapping[str, Any],
        passed: bool,
        **more: Any,
    ) -> Comparison:
        """Return what a session keeps of a result; `more` are fields that a result does not know."""
        return cls(
            id=id,
            nodeid=nodeid,
            metric=result.metric,
            signature=str(result.signature),
            score=result.score or 0.0,
            precision=result.precision or 0.0,
            recall=result.recall or 0.0,
            f1=result.f1 or 0.0,
            passed=passed,
            has_figures=result.has_figures,
            threshold=dict(threshold),
            fields=result.per_field.short(),
            presence=result.presence(),
            counts=result.counts,
            errors=tuple(map(str, result.errors)),
            warnings=result.warnings,
            arrays=result.array_counts(),
            approximate=result.alignment == "approximate",
            validity="" if result.validity is None else _VALIDITY[result.validity.valid],
            violations=result.violations,
            **more,
        )

    def audited(self, result: MatchResult) -> Comparison:
        """Return the comparison with the audit of its result, of a bounded number of pairs."""
        audits = result.audit()[:_MAX_ARRAYS]
        return replace(self, audit=tuple(each.shortened(_MAX_PAIRS) for each in audits)) if audits else self

    def with_values(self, result: MatchResult) -> Comparison:
        """Return the comparison with all values of its result, and the figures of objects and elements."""
        return replace(
            self,
            field_results=tuple(each.to_dict() for each in result.field_results),
            containers=tuple(each.to_dict() for each in result.containers),
        )

    def to_payload(self) -> dict[str, Any]:
        """Return the comparison as built-in types, which any transport between processes takes."""
        payload: dict[str, Any] = {
            name: value for name in _WRITTEN if (value := getattr(self, name)) or name not in _SOMETIMES
        }
        if not self.has_figures:
            payload.update(dict.fromkeys(FIGURES))
        payload["fields"] = {path: aggregate.to_list() for path, aggregate in self.fields.items()}
        if self.parsed is not None:
            payload["parsed"] = self.parsed
        if self.presence:
            payload["presence"] = {path: each.to_dict() for path, each in self.presence.items()}
        if self.spent is not None:
            payload["spent"] = self.spent.to_dict()
        if self.audit:
            payload["audit"] = [each.to_dict() for each in self.audit]
        return payload

    def to_text(self) -> str:
        """Return the payload as JSON, in ASCII, which passes between processes whatever a key holds."""
        return json.dumps(self.to_payload())

    @classmethod
    def from_text(cls, text: str) -> Comparison:
        """Return the comparison that `to_text` gave."""
        payload = json.loads(text)
        fields = {path: FieldAggregation.from_list(row) for path, row in payload["fields"].items()}
        return cls.from_payload(payload, fields)

    @classmethod
    def from_payload(
        cls, payload: Mapping[str, Any], aggregates: Mapping[str, FieldAggregation]
    ) -> Comparison:
        """Return the comparison that `to_payload` gave; unknown keys, of later releases, are ignored.

        Args:
            payload: all but the fields, as JSON has it.
            aggregates: the fields.
        """
        found = {name: payload[name] for name in cls.__dataclass_fields__ if name in payload}
        found["fields"] = aggregates
        if found["score"] is None:
            found.update(dict.fromkeys(FIGURES, 0.0), has_figures=False)
        if "presence" in found:
            found["presence"] = {path: Presence(**each) for path, each in found["presence"].items()}
        for name in ("errors", "warnings", "violations", *_LISTED):
            found[name] = tuple(found.get(name, ()))
        for name in ("arrays", "params"):
            found[name] = {key: tuple(row) for key, row in found.get(name, {}).items()}
        if "spent" in found:
            found["spent"] = Spent.from_dict(found["spent"])
        if "audit" in found:
            from pytest_jsonmatch.engine.align.audited import ArrayAudit  # most comparisons have none

            found["audit"] = tuple(map(ArrayAudit.from_dict, found["audit"]))
        return cls(**found)


_VALIDITY: Final = {True: "valid", False: "invalid", None: "not validated"}
_LISTED: Final = ("field_results", "containers")
_SOMETIMES: Final = frozenset(
    {"params", "tags", "errors", "warnings", "arrays", "approximate", "validity", "violations", *_LISTED}
)
"""What a payload has of some comparisons only."""
_WRITTEN: Final = (
    *("id", "nodeid", "params", "tags", "metric", "signature", *FIGURES, "passed", "threshold"),
    *("fields", "counts", "errors", "warnings", "arrays", "approximate", "validity", "violations"),
    *_LISTED,
)
"""What a payload has as it stands, in this order."""
