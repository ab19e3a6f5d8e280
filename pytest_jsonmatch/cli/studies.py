"""The options, gates and output that all commands of `jsonmatch study` share."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS
from pytest_jsonmatch.cli.output import as_text, make_style, write_output
from pytest_jsonmatch.cli.rules import gates_of
from pytest_jsonmatch.engine.value.errors import find_closest
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.gate.check import Check
from pytest_jsonmatch.gate.expressions import Gate, parse_gate
from pytest_jsonmatch.report.blocks import Column, Report, Row, Statistic, Table
from pytest_jsonmatch.report.checks import gate_table
from pytest_jsonmatch.report.formatting import dash, interval_texts
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.terminal import report_lines
from pytest_jsonmatch.support.atomic import write_file
from pytest_jsonmatch.support.frozen import replace

INTERVAL: Final = "95 % interval"
_NOTES: Final = 5
"""The maximum number of notes to show without `-v`."""

if TYPE_CHECKING:
    from pytest_jsonmatch.study.calibration import Estimate


class Study(Protocol):
    """The result of a study: a dataclass of plain values, with the statistics that gates test.

    It may also have the statistics of each field: `by_field`, by path and name.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def statistics(self) -> Mapping[str, float | None]:
        """The statistics of the whole study, by name; None for one without a value."""


def study_gates(options: Namespace, statistics: Collection[str]) -> list[Gate]:
    """Return the gates of a command line.

    Args:
        options: the options of the command.
        statistics: the names of the statistics that gates of this study can use.

    Raises:
        CommandError: a gate can't be read.
    """
    return gates_of(options.gates, partial(parse_gate, statistics=statistics))


def finish(
    options: Namespace, study: Study, sheet: Report, gates: Sequence[Gate] = (), *, on: str = ""
) -> int:
    """Write the result of a study, and return the exit code of its gates.

    Args:
        options: the options of the command.
        study: the result.
        sheet: the report of the result.
        gates: the gates that `study_gates` returns.
        on: what the gates are checked on, such as "1,200 answers".
    """
    checks = [check_study_gate(gate, study.statistics, getattr(study, "by_field", {})) for gate in gates]
    if options.json is not None:
        name, statistics = sheet.title.removeprefix("jsonmatch study "), dict(study.statistics)
        document = {"study": name, "version": 1, "figures": statistics, **asdict(study)}
        # A number that does not fit a double is written as text.
        text = json.dumps(document, indent=1, ensure_ascii=False, default=str)
        write_output(f"{text}\n", options.json)
    show_sheet(replace(sheet, blocks=[*sheet.blocks, gate_table(checks, on)]), options)
    return SUCCESS if all(check.passed for check in checks) else FAILURE


def estimate_columns(estimates: Sequence[Estimate | None]) -> tuple[list[str], list[str]]:
    """Return the columns of estimates and of their intervals, with the same decimals in all rows."""
    texts = [estimate_texts(estimate) for estimate in estimates]
    digits = max((len(value.partition(".")[2]) for value, _ in texts), default=2)
    texts = [estimate_texts(estimate, max(digits, 2)) for estimate in estimates]
    return [value for value, _ in texts], [interval for _, interval in texts]


def estimate_texts(estimate: Estimate | None, min_decimals: int = 2) -> tuple[str, str]:
    """Return an estimate and its 95 % interval as text; a dash and an empty text without one."""
    return (dash(True), "") if estimate is None else interval_texts(*estimate, min_decimals)


def estimate_statistic(name: str, estimate: Estimate | None) -> Statistic:
    """Return a statistic of a report with its interval."""
    value, ends = estimate_texts(estimate)
    return Statistic(name, value, ends and f"{INTERVAL} {ends}")


def notes_table(notes: Sequence[str]) -> Table:
    """Return the notes of a study as a table."""
    return Table([Column("notes", "name")], [Row([note]) for note in notes], noun="note", max_rows=_NOTES)


def show_sheet(sheet: Report, options: Namespace) -> None:
    """Write a report as text, and as an HTML page if `--html` names one."""
    if options.html is not None:
        write_file(options.html, html_page(sheet).encode("utf-8", "backslashreplace"))
    style = make_style(options)
    write_output(as_text(report_lines(sheet, style), style))


def check_study_gate(
    gate: Gate, statistics: Mapping[str, float | None], by_field: Mapping[str, Mapping[str, float | None]]
) -> Check:
    """Check a gate on the statistics of a study; a gate on a statistic without a value fails.

    Args:
        gate: the gate. A gate on fields must pass for every field that its pattern matches.
        statistics: the statistics of the whole study, by name; None if undefined, such as 0/0.
        by_field: the statistics of each field, by its path.

    >>> from pytest_jsonmatch.gate.expressions import parse_gate
    >>> gate = parse_gate('fields["*"].auroc >= 0.8', {"auroc"})
    >>> check = check_study_gate(gate, {}, {"a": {"auroc": 0.9}, "b": {"auroc": 0.7}})
    >>> check.passed, check.value, check.note
    (False, 0.7, 'b')
    """
    by_path = {"": statistics}
    if gate.field is not None:
        pattern = parse_pattern(gate.field)
        by_path = {path: by_field[path] for path in by_field if pattern.matches(parse_path(path))}
    checks = []
    for path, named in by_path.items():
        value = named.get(gate.statistic)
        passed = value is not None and gate.passes(value)
        note = (
            f"{path or 'this data'} has no {gate.statistic}" if value is None else path * (len(by_path) > 1)
        )
        checks.append(Check(gate.text, gate.name, value, gate.limit, passed, note, gate.operator))
    if checks:
        return min(checks, key=lambda check: (check.value is not None, check.passed, check.margin or 0.0))
    near = find_closest(str(gate.field), sorted(by_field))
    note = "no field matches" + (f"; did you mean {near!r}?" if near is not None else "")
    return Check(gate.text, gate.name, None, gate.limit, passed=False, note=note, operator=gate.operator)
