"""Check gates against the results of a run."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.answer import FIGURES as SPENT
from pytest_jsonmatch.answer import Spent, spent_figure
from pytest_jsonmatch.engine.result.rows import rows_text, sum_rows
from pytest_jsonmatch.engine.value.errors import did_you_mean, nearest
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.expressions import (
    COUNTS,
    EACH_VALUE,
    NAMES_OF_RESULTS,
    OF_EXTRAS,
    Gate,
    parse_gate,
)
from pytest_jsonmatch.gate.figures import array_rows, case_rows, leaf_rows
from pytest_jsonmatch.gate.intervals import pass_rate_interval, ratio_interval
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.parts import candidates, listed, no_tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.results.totals import AnswerCounts


_NOTHING_LEFT: Final = "batch errors: no leaf is left to count"
_OF_ANSWERS: Final = {
    "valid_rate": "no answer was validated: give a schema, and leave `validate` on",
    "parse_rate": "no answer was text",
}
"""Figures of answers themselves, with the note for a run that has no value for them."""
_UNKNOWN: Final = {
    "seconds": "no answer has a time: return an Answer with `seconds`",
    "cost": "no answer has a cost: return an Answer with it in `usage`",
    "tokens": "no answer has token counts: return an Answer with them in `usage`",
}
"""The note for a run in which no answer has the value."""


def check_gates(
    gates: Sequence[tuple[Gate, bool]], results: RunResult, confidence: float = 0.95
) -> list[Check]:
    """Check gates, each given with whether it is required.

    Batch errors fail a run that has gates, unless one of them limits the `batch_errors` of all cases.
    """
    checks = [check_gate(gate, results, required=required, confidence=confidence) for gate, required in gates]
    is_allowed = any(gate.figure == "batch_errors" and gate.cases is gate.tag is None for gate, _ in gates)
    if gates and results.total_batch_errors and not is_allowed:
        allow = parse_gate(f"batch_errors <= {results.total_batch_errors}").text
        note = f"a batch comparator failed; the gate {allow!r} would allow it"
        checks.append(replace(check_gate(parse_gate("batch_errors == 0"), results), note=note))
    return checks


def check_gate(gate: Gate, results: RunResult, *, required: bool = True, confidence: float = 0.95) -> Check:
    """Check a gate.

    A gate on a missing figure (no case, no such field, 0/0) fails. A `significant` gate is checked at
    the lower end of the interval for `>` and `>=`, at the upper end for `<` and `<=`.

    Args:
        gate: the gate.
        results: the run.
        required: False leaves the gate undecided if nothing was compared, as in a run of other tests.
        confidence: the confidence of the interval.
    """
    if not results.total_records and not required:
        return _check(gate, None, None, "nothing was compared")
    if gate.tag is not None and gate.tag.endswith(EACH_VALUE):
        return _check_each_value(gate, results, required=required, confidence=confidence)
    if gate.tag is not None:
        everything, results = results, results.tagged(gate.tag)
        if not results.total_records:
            return _check(gate, None, passed=False, note=no_tag(gate.tag, everything))
    if gate.cases is not None:
        cases = tuple(case for case in results.cases if _fits(case.id, gate.cases))
        if not cases:
            return _check(gate, None, passed=False, note=_no_case(gate.cases, results.cases))
        results = results.with_cases(cases)
    value, note = _value(gate, results)
    if gate.is_significant and value is not None:
        checked = _significant(gate, results, confidence)
    else:
        checked = _check(gate, value, value is not None and gate.holds(value), note)
    several = candidates(results)
    if not several or checked.value is None:
        return checked
    told = f"over all values of {' and '.join(several)}"
    if gate.tag is None:
        name, values = next(iter(several.items()))
        told += f'; one is tags["{name}={values[0]}"]'
    return replace(checked, note=f"{checked.note}, {told}" if checked.note else told)


def _check_each_value(gate: Gate, results: RunResult, *, required: bool, confidence: float) -> Check:
    """Check a gate on each value of a tag; return the check of the value with the least margin."""
    name = (gate.tag or "").removesuffix(EACH_VALUE)
    tags = [tag for tag in results.tags if tag.partition("=")[0] == name]
    if not tags:
        if not results.total_records and not required:
            return _check(gate, None, None, "nothing was compared")
        names = {tag.partition("=")[0] for tag in results.tags}
        told = f"no {results.noun} has a tag {name!r}{did_you_mean(name, names)}"
        return _check(gate, None, passed=False, note=told)
    checks = {
        tag: check_gate(replace(gate, tag=tag), results, required=required, confidence=confidence)
        for tag in tags
    }
    failed = [tag for tag, check in checks.items() if not check.passed]

    def margin(tag: str) -> tuple[bool, float]:
        check = checks[tag]
        return check.value is not None, check.margin or 0.0

    lowest = min(failed or tags, key=margin)
    values = {tag: "–" if check.value is None else f"{check.value:.3g}" for tag, check in checks.items()}
    named = [f"{tag} {values[tag]}" for tag in sorted(failed, key=margin)]
    note = f"{len(failed)} of {count(len(tags), 'value')} failed: {listed(named)}" if failed else ""
    note = note or f"{count(len(tags), 'value')}, the closest to the limit is {lowest}"
    return replace(checks[lowest], subject=gate.text, figure=gate.name, note=note)


def _significant(gate: Gate, results: RunResult, confidence: float) -> Check:
    """Check whether the interval of a figure is on the right side of the limit."""
    if results.is_partial:
        return _check(gate, None, passed=False, note="an interval needs all records: use --keep all")
    name, cases = gate.figure, results.cases
    if gate.rows is not None:
        rows = array_rows(cases, name, gate.rows)
    elif gate.is_of_leaves:
        rows = leaf_rows(cases, name, pattern=gate.field)[name]
    else:
        rows = case_rows(cases, name)
    found = (pass_rate_interval if name == "pass_rate" else ratio_interval)(rows, confidence)
    which, end = ("lower", found.low) if gate.operator in {">", ">="} else ("upper", found.high)
    note = f"{found.estimate:.3f}, {confidence * 100:g} % interval {found.low:.3f} to {found.high:.3f}"
    figure = f"{which} end of {gate.name}"
    return Check(gate.text, figure, end, gate.limit, gate.holds(end), note, gate.operator)


def _check(gate: Gate, value: float | None, passed: bool | None, note: str = "") -> Check:
    return Check(gate.text, gate.name, value, gate.limit, passed, note, gate.operator)


def _value(gate: Gate, results: RunResult) -> tuple[float | None, str]:
    """Return the value of a gate's figure, and a note about it."""
    if not results.total_records:
        return None, "nothing was compared"
    name = gate.figure
    needs_extras = name in OF_EXTRAS or (gate.rows is not None and name != "recall")
    if needs_extras and (metric := _without_extras(gate, results)):
        return None, f"not counted: {metric} ignores extra values"
    if gate.rows is not None:
        return _of_rows(gate, gate.rows, results)
    if gate.is_of_leaves:
        return _of_leaves(gate, results)
    if name in _OF_ANSWERS:
        return _of_answers(name, results.answers)
    if name in SPENT:
        return _of_spent(name, [each for case in results.cases for run in case.runs for each in run.spent])
    if name in COUNTS:
        return getattr(results, f"total_{name}"), ""
    return _of_cases(name, results)


def _of_cases(name: str, results: RunResult) -> tuple[float | None, str]:
    """Return a figure of all cases or records: a mean, or a share of them."""
    number = count(results.total_records, results.noun)
    if name == "completeness":
        if results.is_of_records:
            answered = results.total_records - results.total_unanswered
            return results.completeness, f"{answered:,} of {number} with an answer"
        value, reasons = results.completeness, ", ".join(results.narrowed)
        return value, "" if value is not None else f"the number of cases is unknown ({reasons})"
    if name == "answered":
        without = results.total_unanswered
        if results.is_of_records:
            value = 1 - without / results.total_records
        else:
            value = fsum(case.answered for case in results.cases) / results.total_records
        return value, f"{count(without)} of {number} unanswered"
    if name == "flip_rate":
        rates = [row.part for row in case_rows(results.cases, name)]
        if results.is_of_records or not rates:
            return None, "a corpus has no repeats" if results.is_of_records else "no case ran twice"
        return fsum(rates) / len(rates), _mean_of(len(rates), "case")
    if name == "pass_rate":
        if results.is_of_records:
            return results.pass_rate, f"{results.total_perfect:,} of {number} with score 1"
        return results.pass_rate, f"{count(sum(case.passed for case in results.cases))} of {number}"
    mean = results.mean(name)
    scored = results.total_records - results.total_unscored
    return mean, _NOTHING_LEFT if mean is None else _mean_of(scored, results.noun)


def _mean_of(number: int, noun: str) -> str:
    """Return a note on what a mean is over; empty for a single case."""
    return f"mean of {count(number, noun)}" if number > 1 else ""


def _of_leaves(gate: Gate, results: RunResult) -> tuple[float | None, str]:
    matching = None
    if gate.field is not None:
        pattern, fields = parse_pattern(gate.field), results.fields
        matching = [path for path in fields if pattern.matches(parse_path(path))]
        if not fields:
            return None, "no field was compared"
        if not matching:
            near = nearest(gate.field, sorted(fields))
            hint = f"did you mean {near!r}?" if near is not None else f"known: {listed(sorted(fields))}"
            return None, f"no compared field matches; {hint}"
    name = NAMES_OF_RESULTS.get(gate.figure, gate.figure)
    value: float | None = getattr(results.over(matching), name)
    return value, "" if value is not None else "undefined: division by zero"


def _of_rows(gate: Gate, pattern: str, results: RunResult) -> tuple[float | None, str]:
    wanted = parse_pattern(pattern)
    matching = [each for path, each in results.rows.items() if wanted.matches(parse_path(path))]
    if not matching:
        known = listed(sorted(results.rows))
        hint = f"; known: {known}" if known else ": rows are elements of unordered or keyed arrays of objects"
        return None, f"no array with rows matches{hint}"
    if results.is_of_records:
        value = getattr(sum_rows(matching), gate.figure)
    else:
        rows = array_rows(results.cases, gate.figure, pattern)
        whole = fsum(row.whole for row in rows)
        value = fsum(row.part for row in rows) / whole if whole else None
    return value, rows_text(sum_rows(matching)) if value is not None else "undefined: division by zero"


def _of_answers(name: str, answers: AnswerCounts) -> tuple[float | None, str]:
    value = answers.rates.get(name)
    if value is None:
        return None, _OF_ANSWERS[name]
    if name == "parse_rate":
        return value, f"{answers.parsed:,} of {count(answers.texts, 'text')}"
    also = f", {answers.not_validated:,} not validated" if answers.not_validated else ""
    return value, f"{answers.valid:,} of {count(answers.validated, 'answer')}{also}"


def _of_spent(name: str, spent: Sequence[Spent]) -> tuple[float | None, str]:
    value, known = spent_figure(name, spent)
    if value is None:
        return None, _UNKNOWN[SPENT[name].of]
    return value, "" if known == len(spent) else f"from {known:,} of {count(len(spent), 'answer')}"


def _without_extras(gate: Gate, results: RunResult) -> str | None:
    """Return a metric in the gate's comparisons that ignores what only actual has; None if there is none."""
    of = gate.field if gate.rows is None else gate.rows
    pattern = None if of is None or results.is_of_records else parse_pattern(of)
    for each in comparisons_of(results.tabled):
        if not each.counts_extra and (
            pattern is None
            or any(
                pattern.matches(parse_path(path))
                for path in (each.fields if gate.rows is None else each.rows)
            )
        ):
            return each.metric
    return None


def _fits(case: str, glob: str) -> bool:
    """Tell whether a glob matches a case's node id, or the name in it with or without parameters."""
    name = case.rpartition("::")[2]
    # Brackets are meant as in node ids, not as character classes.
    escaped = glob.replace("[", "[[]")
    return any(fnmatchcase(text, escaped) for text in (case, name, name.partition("[")[0]))


def _no_case(glob: str, cases: Sequence[Case]) -> str:
    names = sorted({case.id.rpartition("::")[2].partition("[")[0] for case in cases})
    near = nearest(glob, names)
    return "no case matches" + (f"; did you mean {near!r}?" if near is not None else "")
