"""Check gates against the results of a run."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.result.rows import format_rows, sum_rows
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    choose_words,
    did_you_mean,
    find_closest,
    write_argument,
)
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.text import count, join_names
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.expressions import (
    COUNTS,
    KIND_COUNT,
    NEEDS_EXTRAS,
    Gate,
    parse_gate,
    quoted,
)
from pytest_jsonmatch.gate.intervals import cases_to_rule_out, ratio_interval
from pytest_jsonmatch.gate.samples import CaseTerms
from pytest_jsonmatch.gate.statistics import rows_of
from pytest_jsonmatch.results.answer import STATISTICS as COST_AND_LATENCY
from pytest_jsonmatch.results.parts import describe_missing_tag, find_variants
from pytest_jsonmatch.results.statistics import OF_CASES, STATUSES, kind_terms, leaf_terms, row_terms
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.results.statistics import Interval, Terms
    from pytest_jsonmatch.results.totals import Totals


def _write_note(note: tuple[str, ...]) -> str:
    """Return a note with its remedy, if it has one."""
    problem, *remedies = note
    return f"{problem}: {choose_words(*remedies)}" if remedies else problem


def _needs_all(what: str) -> str:
    return f"{what} needs all records: use {write_argument('keep', 'all')}"


_NOTHING_LEFT: Final = "batch errors: no leaf is left to count"
_OF_ANSWERS: Final = {
    "valid_rate": ("no answer was validated", "give a schema, and leave `validate` on", "give --schema"),
    "parse_rate": ("no answer was text",),
}
"""Statistics about the answers themselves, with the note for a run without a value for them."""
_UNKNOWN: Final = {
    "seconds": (
        "no answer has a time",
        "return an Answer with `seconds`",
        "write `seconds` into `spent`, next to the answer",
    ),
    "cost": (
        "no answer has a cost",
        "return an Answer with it in `usage`",
        "write `cost` into `spent`, next to the answer",
    ),
    "tokens": (
        "no answer has token counts",
        "return an Answer with them in `usage`",
        "write `input_tokens` and `output_tokens` into `spent`, next to the answer",
    ),
}
"""The note for a run without any answer that has the value, by value: the problem, then the remedy in Python
and for files of answers."""


def check_gates(
    gates: Sequence[tuple[Gate, bool]], results: RunResult, confidence: float = 0.95
) -> list[Check]:
    """Check gates, each given with whether it is required.

    Batch errors fail a run that has gates, unless one of them limits the `batch_errors` of all cases.
    """
    checks = [check_gate(gate, results, required=required, confidence=confidence) for gate, required in gates]
    is_allowed = any(gate.statistic == "batch_errors" and not (gate.cases or gate.tags) for gate, _ in gates)
    if gates and results.total_batch_errors and not is_allowed:
        allow = parse_gate(f"batch_errors <= {results.total_batch_errors}").text
        note = f"a batch comparator failed; the gate {allow!r} would allow it"
        checks.append(replace(check_gate(parse_gate("batch_errors == 0"), results), note=note))
    return checks


def check_gate(gate: Gate, results: RunResult, *, required: bool = True, confidence: float = 0.95) -> Check:
    """Check a gate.

    A gate on a statistic without a value (no case, no such field, 0/0) fails. A `significant` gate
    compares the lower end of the interval for `>` and `>=`, the upper end for `<` and `<=`.

    Args:
        gate: the gate.
        results: the run.
        required: False leaves the gate undecided if nothing was compared, as in a run of other tests.
        confidence: the confidence of the interval.
    """
    if not results.total_records and not required:
        return _check(gate, None, None, "nothing was compared")
    if gate.by_tag is not None:
        return _check_all_values(gate, gate.by_tag, results, confidence)
    for position, tag in enumerate(gate.tags):
        everything = results
        if position and results.is_partial:
            return _check(gate, None, passed=False, note=_needs_all("a statistic of several tags"))
        results = results.tagged(tag)
        if not results.total_records:
            return _check(gate, None, passed=False, note=describe_missing_tag(tag, everything))
    return _check_selected(gate, results, confidence)


def _check_selected(gate: Gate, results: RunResult, confidence: float) -> Check:
    """Check a gate on the part of a run that its tag selects."""
    if gate.cases is not None:
        cases = tuple(case for case in results.cases if _matches(case.id, gate.cases))
        if not cases:
            return _check(gate, None, passed=False, note=_no_case(gate.cases, results.cases))
        results = results.with_cases(cases)
    check = _check_value(gate, results, confidence)
    several = find_variants(results)
    if not several or check.value is None:
        return check
    scope = f"over all values of {' and '.join(several)}"
    if not gate.tags:
        name, values = next(iter(several.items()))
        scope += f"; one is tags[{quoted(f'{name}={values[0]}')}]"
    return replace(check, note=f"{check.note}, {scope}" if check.note else scope)


def _check_all_values(gate: Gate, name: str, results: RunResult, confidence: float) -> Check:
    """Check a gate on each value of a tag; return the check of the value with the smallest margin."""
    tags = [tag for tag in results.tags if tag.partition("=")[0] == name]
    if not tags:
        names = {tag.partition("=")[0] for tag in results.tags}
        reason = f"no {results.noun} has a tag {name!r}{did_you_mean(name, names)}"
        return _check(gate, None, passed=False, note=reason)
    checks = {
        tag: _check_selected(replace(gate, tags=(tag,)), results.tagged(tag), confidence) for tag in tags
    }
    failed = [tag for tag, check in checks.items() if not check.passed]

    def margin(tag: str) -> tuple[bool, float]:
        check = checks[tag]
        return check.value is not None, check.margin or 0.0

    def describe(tag: str) -> str:
        check, part = checks[tag], results.tagged(tag)
        texts = ["–" if check.value is None else _value_text(gate, check.value)]
        if check.end is not None:
            texts.append(f"{check.side} end {_value_text(gate, check.end)}")
        return f"{tag} {', '.join([*texts, count(part.total_records, part.noun)])}"

    lowest = min(failed or tags, key=margin)
    named = [describe(tag) for tag in sorted(failed, key=margin)]
    note = f"{len(failed)} of {count(len(tags), 'value')} failed: {join_names(named, between='; ')}"
    if not failed:
        note = f"{count(len(tags), 'value')}, the closest to the limit is {describe(lowest)}"
    return replace(checks[lowest], subject=gate.text, statistic=gate.name, note=note)


def _value_text(gate: Gate, value: float) -> str:
    return f"{value:g}" if gate.statistic in COUNTS else f"{value:.2f}"


def _check(gate: Gate, value: float | None, passed: bool | None, note: str = "") -> Check:
    return Check(gate.text, gate.name, value, gate.limit, passed, note, gate.operator)


def _check_value(gate: Gate, results: RunResult, confidence: float) -> Check:
    """Check the value of a gate's statistic or, if the gate is `significant`, the end of its interval."""
    if not results.total_records:
        return _check(gate, None, passed=False, note="nothing was compared")
    paths, reason = _find_paths(gate, results)
    if reason:
        return _check(gate, None, passed=False, note=reason)
    if gate.statistic in _OF_RUN:
        value, note = _OF_RUN[gate.statistic](results)
    elif gate.statistic in COST_AND_LATENCY:
        value, note = _cost_and_latency(gate.statistic, results)
    elif gate.field is not None and gate.statistic == "pass_rate":
        return _check_right(gate, paths or (), results, confidence)
    else:
        statistic = _find_statistic(gate, paths)
        part, total = statistic(results.totals)
        is_count = gate.statistic in COUNTS or gate.statistic == KIND_COUNT
        value = part if is_count else min(part / total, 1.0) if total else None
        note = _note(gate, results, paths, value)
        if gate.is_significant and value is not None:
            if results.is_partial:
                return _check(gate, None, passed=False, note=_needs_all("an interval"))
            return _check_interval(gate, rows_of(results.cases, statistic), results.noun, confidence)
    return _check(gate, value, value is not None and gate.passes(value), note)


def _find_statistic(gate: Gate, paths: Container[str] | None) -> Callable[[Totals], Terms]:
    """Return the statistic of a gate, for a run or a case."""
    if gate.kind is not None:
        return partial(kind_terms, gate.statistic, gate.kind)
    if gate.rows is not None:
        return partial(row_terms, gate.statistic, paths or ())
    if gate.is_of_leaves or gate.statistic in STATUSES:
        return partial(leaf_terms, gate.statistic, paths)
    return OF_CASES[gate.statistic]


def _find_paths(gate: Gate, results: RunResult) -> tuple[Container[str] | None, str]:
    """Return the fields or arrays of a gate, None for all fields; and the reason why it has no value."""
    totals, paths = results.totals, None
    if gate.field is not None:
        known = totals.per_field()
        if not known:
            return None, "no field was compared"
        pattern = parse_pattern(gate.field)
        paths = {path for path in known if pattern.matches(parse_path(path))}
        if not paths:
            near = find_closest(gate.field, sorted(known))
            hint = f"did you mean {near!r}?" if near is not None else f"known: {join_names(sorted(known))}"
            return None, f"no compared field matches; {hint}"
        if all(known[path].skipped and not known[path].total + known[path].batch_errors for path in paths):
            return None, "skipped by a rule"
    if gate.rows is not None:
        pattern = parse_pattern(gate.rows)
        paths = {path for path in totals.rows if pattern.matches(parse_path(path))}
        if not paths:
            arrays = join_names(sorted(totals.rows))
            hint = (
                f"; known: {arrays}"
                if arrays
                else ": rows are elements of unordered or keyed arrays of objects"
            )
            return None, f"no array with rows matches{hint}"
    if gate.statistic in NEEDS_EXTRAS or (gate.rows is not None and gate.statistic != "recall"):
        for metric, part in results.totals_by_metric.items():
            if part.ignores_extra(paths, of_rows=gate.rows is not None):
                return None, f"not counted: {metric} ignores extra values"
    return paths, ""


def find_interval(
    results: RunResult, name: str, fields: str | None = None, confidence: float = 0.95
) -> Interval:
    """Return a statistic of a run with its confidence interval, for `RunResult.interval`."""
    text = name if fields is None else f"fields[{quoted(fields)}].{name}"
    gate = parse_gate(f"{text} >= 0")
    if gate.statistic in {*COUNTS, *COST_AND_LATENCY, *_OF_RUN} or gate.by_tag is not None or gate.cases:
        raise ConfigurationError(f"{text} has no interval: name a score, a rate or a share, such as 'f1'")
    if results.is_partial:
        raise ConfigurationError(_needs_all("an interval"))
    for tag in gate.tags:
        results = results.tagged(tag)
    paths, reason = _find_paths(gate, results)
    if reason:
        raise ConfigurationError(f"{text}: {reason}")
    if gate.field is not None and gate.statistic == "pass_rate":
        rates = ((case.right_rate(paths or ()), case.unit) for case in results.cases)
        rows = [CaseTerms(rate, 1.0, unit) for rate, unit in rates if rate is not None]
    else:
        rows = rows_of(results.cases, _find_statistic(gate, paths))
    return ratio_interval(rows, confidence)


def _check_right(gate: Gate, paths: Container[str], results: RunResult, confidence: float) -> Check:
    """Check the share of the cases in which all leaves of some fields are right."""
    if results.is_partial:
        note = _needs_all("a pass rate of fields")
        return _check(gate, None, passed=False, note=note)
    rates = ((case.right_rate(paths), case.unit) for case in results.cases)
    rows = [CaseTerms(rate, 1.0, unit) for rate, unit in rates if rate is not None]
    if not rows:
        return _check(gate, None, passed=False, note="undefined: division by zero")
    if gate.is_significant:
        return _check_interval(gate, rows, results.noun, confidence)
    value = fsum(row.part for row in rows) / len(rows)
    return _check(gate, value, gate.passes(value), f"of {count(len(rows), results.noun)} with these fields")


def _check_interval(gate: Gate, rows: Sequence[CaseTerms], noun: str, confidence: float) -> Check:
    """Check whether the whole interval of a statistic passes."""
    interval = ratio_interval(rows, confidence)
    is_low = gate.operator in {">", ">="}
    end = interval.low if is_low else interval.high
    check = Check(
        gate.text, gate.name, interval.estimate, gate.limit, gate.passes(end), "", gate.operator, end
    )
    unit = noun if interval.clusters == interval.cases else "cluster"
    note = f"{check.side} end {_end_text(end, gate.limit)} of {count(interval.clusters, unit)}"
    worst_share = 1 - gate.limit if is_low else gate.limit
    needed = cases_to_rule_out(worst_share, (1 - confidence) / 2) if 0 < worst_share < 1 else 0
    if not check.passed and interval.clusters < needed:
        best = "even perfect scores need" if is_low else "even a value of 0 needs"
        note += f"; {best} {count(needed, unit)}"
    return replace(check, note=note)


def _end_text(end: float, limit: float) -> str:
    """Return the end of an interval with enough decimals to tell it from the limit.

    >>> _end_text(0.71, 0.7), _end_text(0.6999, 0.7)
    ('0.71', '0.6999')
    """
    return f"{end:.2f}" if end == limit or round(end, 2) != round(limit, 2) else f"{end:.4f}"


# -- notes -------------------------------------------------------------------------------------------------


def _note(gate: Gate, results: RunResult, paths: Container[str] | None, value: float | None) -> str:
    """Return what a value is based on, or the reason why there is none."""
    name, counts = gate.statistic, results.totals.counts
    number = count(counts["records"], results.noun)
    if gate.rows is not None and value is not None:
        return format_rows(sum_rows(rows for path, rows in results.rows.items() if path in (paths or ())))
    if gate.rows is not None or gate.is_of_leaves:
        return "" if value is not None else "undefined: division by zero"
    if name in COUNTS:
        return ""
    if gate.kind is not None and value is not None:
        kind = results.kinds.get(gate.kind)
        return f"in {count(0 if kind is None else kind.cases)} of {number}"
    if name == "answered":
        if counts["runs"] > counts["records"]:
            return f"{count(counts['unanswered_runs'])} of {count(counts['runs'], 'run')} unanswered"
        return f"{count(counts['unanswered'])} of {number} unanswered"
    if name == "flip_rate":
        if value is None:
            return f"no {results.noun} ran twice"
        return _mean_of(counts["repeated"], "case")
    if name == "pass_rate":
        return f"{count(counts['passed'])} of {number}{'' if results.has_thresholds else ' with score 1'}"
    if name in _OF_ANSWERS and value is None:
        return _write_note(_OF_ANSWERS[name])
    if name == "parse_rate":
        return f"{counts['parsed']:,} of {count(counts['texts'], 'text')}"
    if name == "valid_rate":
        unvalidated = f", {counts['not_validated']:,} not validated" if counts["not_validated"] else ""
        return f"{counts['valid']:,} of {count(counts['validated'], 'answer')}{unvalidated}"
    return _NOTHING_LEFT if value is None else _mean_of(results.totals.scored, results.noun)


def _mean_of(number: int, noun: str) -> str:
    """Return a note with the number of cases that a mean is over; empty for a single one."""
    return f"mean of {count(number, noun)}" if number > 1 else ""


def _completeness(results: RunResult) -> tuple[float | None, str]:
    value, reasons = results.completeness, ", ".join(results.narrowed)
    return value, "" if value is not None else f"the number of cases is unknown ({reasons})"


_OF_RUN: Final = {"completeness": _completeness}


def _cost_and_latency(name: str, results: RunResult) -> tuple[float | None, str]:
    value, known = results.totals.costs.compute(name)
    if value is None:
        return None, _write_note(_UNKNOWN[COST_AND_LATENCY[name].attribute])
    answers = results.totals.counts["answers"]
    return value, "" if known == answers else f"from {known:,} of {count(answers, 'answer')}"


# -- cases -------------------------------------------------------------------------------------------------


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
