"""`jsonmatch diff`: a result file compared with an earlier one, or several with one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.output import as_text, look_of, write_files, write_output
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.baseline import BaselineDiff, compare_runs
from pytest_jsonmatch.gate.headlines import change_of_runs, changes_of_runs
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import AnySheetCell, Rows, SheetCell, block_lines
from pytest_jsonmatch.report.styled import GREEN, RED, YELLOW, StyledLine
from pytest_jsonmatch.report.terminal import blocks_lines
from pytest_jsonmatch.report.view import TONES_OF, RunView, baseline_blocks
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.model import ResultSet

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.gate.verdict import Change
    from pytest_jsonmatch.report.look import Look


def run(options: Namespace) -> int:
    """Run `jsonmatch diff`."""
    before = read_results(options.before)
    diffs = {str(path): _diff(before, path, options) for path in options.after}
    if len(diffs) < len(options.after):
        raise CommandError("a candidate is given twice; name each file once")
    after = {path: diff.after for path, diff in diffs.items()}
    is_partial = _is_partial([(options.before, before), *after.items()], options)
    gate = DropGate(options.max_drop or 0.0, options.confidence, options.drop_mode)
    look = look_of(options)
    changes: Collection[Change] = ()
    if len(diffs) == 1:
        (diff,) = diffs.values()
        verdict = None if is_partial else change_of_runs(before, diff.after, gate)
        lines = blocks_lines(baseline_blocks(diff, str(options.before), verdict), look)
        if verdict is not None and options.max_drop is not None:
            changes = [verdict.scores]
            lines += [[], *_gate_lines(verdict.scores, look)]
        names = options.after[0].name, options.before.name
        subject = f"--max-drop={options.max_drop:g}" if changes else ""
        checks = [
            Check(subject, "drop", None, options.max_drop, passed=change.passed, note=change.note)
            for change in changes
        ]
        write_files(options, RunView(diff.after, names[0], checks, names[1], diff, verdict))
    else:
        if options.html is not None or options.markdown is not None:
            raise CommandError("--html and --markdown show one later run; leave the other candidates out")
        changes = changes_of_runs(before, after, gate).values()
        lines = _candidates(changes, options, look)
    if any(results.judged for results in (before, *after.values())):
        lines += [[], *look.folded(JUDGED, 4, YELLOW)]
    write_output(as_text(lines, look))
    is_fine = options.max_drop is None or all(change.passed for change in changes)
    return FINE if is_fine else NOT_FINE


def _diff(before: ResultSet, path: Path, options: Namespace) -> BaselineDiff:
    """Return how the result file of a later run differs from the earlier run."""
    diff = compare_runs(before, read_results(path))
    if diff.mismatches:
        first, *others = diff.mismatches
        more = f" (and {len(others):,} more)" if others else ""
        where = f"{path}: " if len(options.after) > 1 else ""
        raise CommandError(f"{where}not scored in the same way: {first.case}: {first.difference}{more}")
    return diff


def _candidates(changes: Collection[Change], options: Namespace, look: Look) -> list[StyledLine]:
    """Return a table of candidates, and the gate's verdict on each."""
    level = 100 * (1 - 2 * DropGate(confidence=options.confidence).alpha)
    title = f"against {options.before}, corrected for {count(len(changes), 'candidate')}, "
    title += f"{level:.3g} % intervals for all together:"
    rows: list[list[AnySheetCell]] = []
    for change in changes:
        tone = TONES_OF.get(change.kind, "")
        # (What the data allow is the end of the interval.)
        verdict = change.verdict.partition(":")[0]
        cells = score_text(change.current), *change.signed, verdict
        rows.append([change.figure, *(SheetCell(text, tone) for text in cells)])
    columns = ("candidate", "mean score", "difference", "interval", "verdict")
    table = Rows(columns, rows, title, "candidate", text={"interval", "verdict"})
    lines = block_lines(table, replace(look, mode="all"))
    if options.max_drop is not None:
        lines += [[], *(line for change in changes for line in _gate_lines(change, look, change.figure))]
    return lines


def _gate_lines(change: Change, look: Look, name: str = "") -> list[StyledLine]:
    text = look.printable(f"{name} {change.gate_words}".strip())
    return look.folded(text, 4, GREEN if change.passed else RED)


def _is_partial(runs: Sequence[tuple[object, ResultSet]], options: Namespace) -> bool:
    """Tell whether any run kept only part of its records; refuse that if single records are needed."""
    for path, results in runs:
        if results.is_partial and (options.max_drop is not None or len(options.after) > 1):
            kept = f"{len(results.cases):,} of {results.number:,}"
            raise CommandError(
                f"single records are compared, but {path} keeps {kept}: save it with --keep all"
            )
    return any(results.is_partial for _, results in runs)
