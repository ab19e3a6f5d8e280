"""What a session keeps of a comparison: figures and counts, in types that travel between processes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.result.figures import FieldAggregation

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pytest_jsonmatch.engine.align.audited import ArrayAudit
    from pytest_jsonmatch.engine.result.match import MatchResult

__all__ = ["Comparison"]

# Most comparisons of a suite are alike in all but their ids. What they have in common is written once and
# read once; at most this many kinds of it are remembered.
_KINDS = 256
# Longer texts are not worth their memory: few of their kind are alike.
_LONG = 20_000
# A result file keeps at most this many arrays of a comparison, and this many pairs of each.
_MAX_ARRAYS = 20
_MAX_PAIRS = 200
# Summaries cut paths after this many levels; results keep them whole.
_SHOWN_LEVELS = 200


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
    audit: tuple[ArrayAudit, ...] = ()
    """What else the pairs of unordered arrays could have been, where a result file asks for it."""
    _figures: str = field(default="", init=False, repr=False, compare=False)
    """What the second line of `to_text` says, if it is known. (`replace` forgets it.)"""

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
        kind = _kind(result, threshold, passed=passed)
        summaries = result._summaries  # noqa: SLF001 - sessions keep it, users do not need it
        known = None if kind is None else summaries.get(kind)
        if known is not None:
            made = cls(id, nodeid, **_fresh(_read(known)), case=case, params=params or {})
            object.__setattr__(made, "_figures", known)
            return made
        made = cls(
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
        if kind is not None:
            if len(summaries) >= _KINDS:
                summaries.clear()
            summaries[kind] = json.dumps(made._found())[1:]
        return made

    def audited(self, result: MatchResult) -> Comparison:
        """Return the comparison with the audit of its result, of a bounded number of pairs."""
        audits = result.audit()[:_MAX_ARRAYS]
        return replace(self, audit=tuple(each.shortened(_MAX_PAIRS) for each in audits)) if audits else self

    def to_payload(self) -> dict[str, Any]:
        """Return the comparison as built-in types, which any transport between processes takes."""
        return {**self._own(), **self._found()}

    def _own(self) -> dict[str, Any]:
        own: dict[str, Any] = {"id": self.id, "nodeid": self.nodeid}
        if self.case:
            own["case"] = self.case
        if self.params:
            own["params"] = {name: list(label) for name, label in self.params.items()}
        return own

    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = {
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
            found["approximate"] = True
        if self.audit:
            found["audit"] = [each.to_dict() for each in self.audit]
        return found

    def to_text(self) -> str:
        r"""Return the payload as JSON, in ASCII, which passes between processes whatever a key holds.

        The first line says whose comparison it is, the second what it found.

        >>> Comparison("a", "t.py::t", "m", "s", 1.0, 1.0, 1.0, 1.0, passed=True).to_text().splitlines()[0]
        '{"id": "a", "nodeid": "t.py::t",'
        """
        return f"{json.dumps(self._own())[:-1]},\n{self._figures or json.dumps(self._found())[1:]}"

    @classmethod
    def from_text(cls, text: str) -> Comparison:
        """Return the comparison that `to_text` gave."""
        own, _, figures = text.partition(",\n")
        return cls(**_labelled(json.loads(own + "}")), **_fresh(_read(figures)))


def _kind(result: MatchResult, threshold: Mapping[str, Any], *, passed: bool) -> Hashable:
    """Return what determines all but the ids, if results like this one are common; else None."""
    shape = result._shape  # noqa: SLF001 - sessions keep it, users do not need it
    return None if shape is None or "fields" in threshold else (shape, tuple(threshold.items()), passed)


def _read(figures: str) -> dict[str, Any]:
    return _remembered(figures) if len(figures) < _LONG else _parsed(figures)


def _parsed(figures: str) -> dict[str, Any]:
    return _typed(json.loads("{" + figures))


_remembered = lru_cache(maxsize=_KINDS)(_parsed)


def _typed(payload: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(payload)
    plain["fields"] = {path: FieldAggregation.from_list(row) for path, row in plain["fields"].items()}
    plain["errors"] = tuple(plain["errors"])
    plain["warnings"] = tuple(plain["warnings"])
    plain["arrays"] = {path: tuple(counts) for path, counts in plain["arrays"].items()}
    if "audit" in plain:
        from pytest_jsonmatch.engine.align.audited import ArrayAudit  # most comparisons have none

        plain["audit"] = tuple(map(ArrayAudit.from_dict, plain["audit"]))
    return plain


def _labelled(payload: dict[str, Any]) -> dict[str, Any]:
    if "params" in payload:
        payload["params"] = {name: (label, place) for name, (label, place) in payload["params"].items()}
    return payload


def _fresh(known: dict[str, Any]) -> dict[str, Any]:
    """Return what is known with dicts of its own: hooks are given comparisons."""
    fresh = known.copy()
    for key in ("threshold", "fields", "counts", "arrays"):
        fresh[key] = fresh[key].copy()
    if "fields" in fresh["threshold"]:
        fresh["threshold"]["fields"] = fresh["threshold"]["fields"].copy()
    return fresh
