"""Check gates against the results of a run."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.answer import STATISTICS as COST_AND_LATENCY
from pytest_jsonmatch.answer import Spent, compute_statistic
from pytest_jsonmatch.engine.result.rows import format_rows, sum_rows
from pytest_jsonmatch.engine.value.errors import did_you_mean, find_closest
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.expressions import (
    COUNTS,
    NEEDS_EXTRAS,
    RESULT_NAMES,
    Gate,
    parse_gate,
    quoted,
)
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.statistics import array_rows, case_rows, leaf_rows
from pytest_jsonmatch.results.comparison import iter_comparisons
from pytest_jsonmatch.results.parts import describe_missing_tag, find_variants, join_names

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
"""Statistics about the answers themselves, with the note for a run without a value for them."""
_UNKNOWN: Final = {
    "seconds": "no answer has a time: return an Answer with `seconds`",
    "cost": "no answer has a cost: return an Answer with it in `usage`",
    "tokens": "no answer has token counts: return an Answer with them in `usage`",
}
"""The note for a run without any answer that has the value, by value."""


def check_gates(
    gates: Sequence[tuple[Gate, bool]], results: RunResult, confidence: float = 0.95
) -> list[Check]:
    """Check gates, each given with whether it is required.

    Batch errors fail a run that has gates, unless one of them limits the `batch_errors` of all cases.
    """
    checks = [check_gate(gate, results, required=required, confidence=confidence) for gate, required in gates]
    is_allowed = any(gate.statistic == "batch_errors" and gate.cases is gate.tag is None for gate, _ in gates)
    if gates and results.total_batch_errors and not is_allowed:
        allow = parse_gate(f"batch_errors <= {results.total_batch_errors}").text
        note = f"a batch comparator failed; the gate {allow!r} would allow it"
        checks.append(replace(check_gate(parse_gate("batch_errors == 0"), results), note=note))
    return checks


def check_gate(gate: Gate, results: RunResult, *, required: bool = True, confidence: float = 0.95) -> Check:
    """Check a gate.

    A gate on a statistic without a value (no case, no such field, 0/0) fails. A `significant` gate is
    checked at the lower end of the interval for `>` and `>=`, at the upper end for `<` and `<=`.

    Args:
        gate: the gate.
        results: the run.
        required: False leaves the gate undecided if nothing was compared, as in a run of other tests.
        confidence: the confidence of the interval.
    """
    if not results.total_records and not required:
        return _check(gate, None, None, "nothing was compared")
    if gate.each_tag is not None:
        return _check_each_value(gate, gate.each_tag, results, confidence)
    if gate.tag is not None:
        everything, results = results, results.tagged(gate.tag)
        if not results.total_records:
            return _check(gate, None, passed=False, note=describe_missing_tag(gate.tag, everything))
    return _check_selected(gate, results, confidence)


def _check_selected(gate: Gate, results: RunResult, confidence: float) -> Check:
    """Check a gate on the part of a run that its tag selects."""
    if gate.cases is not None:
        cases = tuple(case for case in results.cases if _matches(case.id, gate.cases))
        if not cases:
            return _check(gate, None, passed=False, note=_no_case(gate.cases, results.cases))
        results = results.with_cases(cases)
    value, note = _value(gate, results)
    if gate.is_significant and value is not None:
        check = _significant(gate, results, confidence)
    else:
        check = _check(gate, value, value is not None and gate.passes(value), note)
    several = find_variants(results)
    if not several or check.value is None:
        return check
    scope = f"over all values of {' and '.join(several)}"
    if gate.tag is None:
        name, values = next(iter(several.items()))
        scope += f"; one is tags[{quoted(f'{name}={values[0]}')}]"
    return replace(check, note=f"{check.note}, {scope}" if check.note else scope)


def _check_each_value(gate: Gate, name: str, results: RunResult, confidence: float) -> Check:
    """Check a gate on each value of a tag; return the check of the value with the smallest margin."""
    tags = [tag for tag in results.tags if tag.partition("=")[0] == name]
    if not tags:
        names = {tag.partition("=")[0] for tag in results.tags}
        reason = f"no {results.noun} has a tag {name!r}{did_you_mean(name, names)}"
        return _check(gate, None, passed=False, note=reason)
    checks = {tag: _check_selected(replace(gate, tag=tag), results.tagged(tag), confidence) for tag in tags}
    failed = [tag for tag, check in checks.items() if not check.passed]

    def margin(tag: str) -> tuple[bool, float]:
        check = checks[tag]
        return check.value is not None, check.margin or 0.0

    lowest = min(failed or tags, key=margin)
    values = {tag: "–" if check.value is None else f"{check.value:.3g}" for tag, check in checks.items()}
    named = [f"{tag} {values[tag]}" for tag in sorted(failed, key=margin)]
    note = f"{len(failed)} of {count(len(tags), 'value')} failed: {join_names(named)}" if failed else ""
    note = note or f"{count(len(tags), 'value')}, the closest to the limit is {lowest}"
    return replace(checks[lowest], subject=gate.text, statistic=gate.name, note=note)


def _significant(gate: Gate, results: RunResult, confidence: float) -> Check:
    """Check whether the whole interval of a statistic passes."""
    if results.is_partial:
        return _check(gate, None, passed=False, note="an interval needs all records: use --keep all")
    name, cases = gate.statistic, results.cases
    if gate.rows is not None:
        rows = array_rows(cases, name, gate.rows)
    elif gate.is_of_leaves:
        rows = leaf_rows(cases, name, pattern=gate.field)[name]
    else:
        rows = case_rows(cases, name)
    interval = ratio_interval(rows, confidence)
    side, end = ("lower", interval.low) if gate.operator in {">", ">="} else ("upper", interval.high)
    note = (
        f"{interval.estimate:.3f}, {confidence * 100:g} % interval {interval.low:.3f} to {interval.high:.3f}"
    )
    statistic = f"{side} end of {gate.name}"
    return Check(gate.text, statistic, end, gate.limit, gate.passes(end), note, gate.operator)


def _check(gate: Gate, value: float | None, passed: bool | None, note: str = "") -> Check:
    return Check(gate.text, gate.name, value, gate.limit, passed, note, gate.operator)


def _value(gate: Gate, results: RunResult) -> tuple[float | None, str]:
    """Return the value of a gate's statistic, and a note about it."""
    if not results.total_records:
        return None, "nothing was compared"
    name = gate.statistic
    needs_extras = name in NEEDS_EXTRAS or (gate.rows is not None and name != "recall")
    if needs_extras and (metric := _without_extras(gate, results)):
        return None, f"not counted: {metric} ignores extra values"
    if gate.rows is not None:
        return _row_statistic(gate, gate.rows, results)
    if gate.is_of_leaves:
        return _leaf_statistic(gate, results)
    if name in _OF_ANSWERS:
        return _answer_statistic(name, results.answers)
    if name in COST_AND_LATENCY:
        return _spent_statistic(
            name, [spent for case in results.cases for run in case.runs for spent in run.spent]
        )
    if name in COUNTS:
        return getattr(results, f"total_{name}"), ""
    return _case_statistic(name, results)


def _case_statistic(name: str, results: RunResult) -> tuple[float | None, str]:
    """Return a statistic of all cases or records, a mean or a share, and a note about it."""
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
    """Return a note with the number of cases that a mean is over; empty for a single one."""
    return f"mean of {count(number, noun)}" if number > 1 else ""


def _leaf_statistic(gate: Gate, results: RunResult) -> tuple[float | None, str]:
    matching = None
    if gate.field is not None:
        pattern, fields = parse_pattern(gate.field), results.fields
        matching = [path for path in fields if pattern.matches(parse_path(path))]
        if not fields:
            return None, "no field was compared"
        if not matching:
            near = find_closest(gate.field, sorted(fields))
            hint = f"did you mean {near!r}?" if near is not None else f"known: {join_names(sorted(fields))}"
            return None, f"no compared field matches; {hint}"
    name = RESULT_NAMES.get(gate.statistic, gate.statistic)
    value: float | None = getattr(results.over(matching), name)
    return value, "" if value is not None else "undefined: division by zero"


def _row_statistic(gate: Gate, pattern: str, results: RunResult) -> tuple[float | None, str]:
    selected = parse_pattern(pattern)
    matching = [row_counts for path, row_counts in results.rows.items() if selected.matches(parse_path(path))]
    if not matching:
        known = join_names(sorted(results.rows))
        hint = f"; known: {known}" if known else ": rows are elements of unordered or keyed arrays of objects"
        return None, f"no array with rows matches{hint}"
    if results.is_of_records:
        value = getattr(sum_rows(matching), gate.statistic)
    else:
        rows = array_rows(results.cases, gate.statistic, pattern)
        total = fsum(row.total for row in rows)
        value = fsum(row.part for row in rows) / total if total else None
    return value, format_rows(sum_rows(matching)) if value is not None else "undefined: division by zero"


def _answer_statistic(name: str, answers: AnswerCounts) -> tuple[float | None, str]:
    value = answers.rates.get(name)
    if value is None:
        return None, _OF_ANSWERS[name]
    if name == "parse_rate":
        return value, f"{answers.parsed:,} of {count(answers.texts, 'text')}"
    unvalidated = f", {answers.not_validated:,} not validated" if answers.not_validated else ""
    return value, f"{answers.valid:,} of {count(answers.validated, 'answer')}{unvalidated}"


def _spent_statistic(name: str, spent: Sequence[Spent]) -> tuple[float | None, str]:
    value, known = compute_statistic(name, spent)
    if value is None:
        return None, _UNKNOWN[COST_AND_LATENCY[name].attribute]
    return value, "" if known == len(spent) else f"from {known:,} of {count(len(spent), 'answer')}"


def _without_extras(gate: Gate, results: RunResult) -> str | None:
    """Return a metric in the gate's comparisons that ignores extra values; None if there is none."""
    selector = gate.field if gate.rows is None else gate.rows
    pattern = None if selector is None or results.is_of_records else parse_pattern(selector)
    for comparison in iter_comparisons(results.tabled):
        if not comparison.counts_extra and (
            pattern is None
            or any(
                pattern.matches(parse_path(path))
                for path in (comparison.fields if gate.rows is None else comparison.rows)
            )
        ):
            return comparison.metric
    return None


def _matches(case: str, glob: str) -> bool:
    """Return whether a glob matches a case's node id, or its name with or without parameters."""
    name = case.rpartition("::")[2]
    # Brackets are literal, as in node ids, not character classes.
    escaped = glob.replace("[", "[[]")
    return any(fnmatchcase(text, escaped) for text in (case, name, name.partition("[")[0]))


def _no_case(glob: str, cases: Sequence[Case]) -> str:
    names = sorted({case.id.rpartition("::")[2].partition("[")[0] for case in cases})
    near = find_closest(glob, names)
    return "no case matches" + (f"; did you mean {near!r}?" if near is not None else "")
