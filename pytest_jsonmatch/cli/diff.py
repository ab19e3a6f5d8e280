"""`jsonmatch diff`: compare a result file, or several, with an earlier one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS
from pytest_jsonmatch.cli.inputs import refuse_repeated
from pytest_jsonmatch.cli.output import as_text, make_style, write_files, write_output
from pytest_jsonmatch.engine.value.text import join_names
from pytest_jsonmatch.gate.headlines import Contest, check_drop, contest
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.baseline_report import contest_blocks
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.compared import check_comparable, check_complete
from pytest_jsonmatch.report.terminal import joined_blocks
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.run import INTERRUPTED

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.gate.check import Check
    from pytest_jsonmatch.report.blocks import Report
    from pytest_jsonmatch.results.run import RunResult

_FIRST: Final = 3
"""The maximum number of case ids to name."""
_Run: TypeAlias = "tuple[str, RunResult]"
"""A run and its name."""


def run(options: Namespace) -> int:
    """Run `jsonmatch diff`."""
    refuse_repeated(options.after)
    paths = [options.before, *options.after]
    runs = [(_name(path, paths), read_results(path)) for path in paths]
    contests = _contests(runs, paths, options)
    style, is_one = make_style(options), len(contests) == 1
    checks, notes = [], []
    interrupted = [name for name, results in runs if INTERRUPTED in results.narrowed]
    if interrupted and options.max_drop is not None:  # as in pytest
        names = join_names(interrupted, _FIRST)
        notes.append(Text(f"--max-drop is not checked: the run was interrupted ({names})", "bad"))
    for pair in contests if options.max_drop is not None and not interrupted else ():
        if pair.change is not None:
            change, whose = pair.change.scores, "" if is_one else f" of {pair.after}"
            subject = f"--max-drop={options.max_drop:g}{whose}"
            checks.append(check_drop(subject, change))
            text = f"{'' if is_one else pair.after} {change.gate_text}".strip()
            notes.append(Text(text, "good" if change.passed else "bad"))
    _, (_, after) = runs[:2]
    if any(results.judged for _, results in runs):
        notes.append(Text(JUDGED, "open"))
    if any(getattr(options, form) is not None for form in ("html", "markdown")):
        write_files(options, after, _report(contests, checks, options))
    blocks = [block for group in (contest_blocks(contests), notes) for block in group]
    write_output(as_text(joined_blocks(blocks, style), style))
    is_judged = options.max_drop is None or not interrupted
    return SUCCESS if is_judged and all(check.passed for check in checks) else FAILURE


def _report(contests: Sequence[Contest], checks: Sequence[Check], options: Namespace) -> Report:
    """Return the report of the comparison of a later run, or of several, with the earliest one."""
    from pytest_jsonmatch.report.build import build_comparison
    from pytest_jsonmatch.report.cases_page import PageExtra

    return build_comparison(contests, gates=checks, page=None if options.html is None else PageExtra())


def _name(path: Path, paths: Sequence[Path]) -> str:
    """Return the name of a file, or its path if another file has the same name."""
    return path.stem if [other.stem for other in paths].count(path.stem) == 1 else str(path)


def _contests(runs: Sequence[_Run], paths: Sequence[Path], options: Namespace) -> list[Contest]:
    """Compare each later run with the first; raise CommandError if two runs can't be compared."""
    if options.max_drop is not None or len(runs) > 2:
        for path, (_, results) in zip(paths, runs):
            check_complete(path, results)
    gate = DropGate(options.max_drop or 0.0, options.confidence, options.drop_mode)
    tests = (len(runs) - 1) * (2 if options.max_drop is None else 1)
    contests = [contest(runs[0], after, gate, tests=tests) for after in runs[1:]]
    for path, pair in zip(paths[1:], contests):
        check_comparable(pair, (paths[0], path), f"{path}: " if len(contests) > 1 else "")
    return contests
