"""Gates held against what a study found, in total and of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.results.model import segments_of

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.expressions import Gate


def check_study_gate(
    gate: Gate,
    figures: Mapping[str, float | None],
    by_field: Mapping[str, Mapping[str, float | None]],
) -> Check:
    """Return whether a gate on a study's figures holds. A gate on a missing figure fails.

    Args:
        gate: the gate. One on fields has to hold for every field that its pattern fits.
        figures: those in total, by name; None for 0/0 and the like.
        by_field: the same of each field, by its path.

    >>> from pytest_jsonmatch.gate.expressions import parse_gate
    >>> gate = parse_gate('fields["*"].auroc >= 0.8', {"auroc"})
    >>> check = check_study_gate(gate, {}, {"a": {"auroc": 0.9}, "b": {"auroc": 0.7}})
    >>> check.passed, check.value, check.note
    (False, 0.7, 'b')
    """
    if gate.field is None:
        value = figures.get(gate.figure)
        return _check(gate, value, "" if value is not None else "there is no such figure of this data")
    pattern = parse_pattern(gate.field)
    fitting = [path for path in by_field if pattern.matches(segments_of(path))]
    if not fitting:
        near = nearest(gate.field, sorted(by_field))
        hint = f"; did you mean {near!r}?" if near is not None else ""
        return _check(gate, None, f"no field matches{hint}")
    found = [(by_field[path].get(gate.figure), path) for path in fitting]
    missing = [path for value, path in found if value is None]
    if missing:
        return _check(gate, None, f"{missing[0]} has no {gate.figure}")
    checks = [_check(gate, value, path if len(fitting) > 1 else "") for value, path in found]
    return min(checks, key=lambda check: (check.passed is True, check.slack or 0.0))


def _check(gate: Gate, value: float | None, note: str) -> Check:
    passed = value is not None and gate.holds(value)
    return Check(gate.name, gate.figure, value, gate.limit, passed, note, gate.operator)
