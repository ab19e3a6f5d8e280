"""`jsonmatch diff`: compare a result file, or several, with an earlier one."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS, CommandError
from pytest_jsonmatch.cli.output import as_text, make_style, write_files, write_output
from pytest_jsonmatch.gate.headlines import Contest, check_drop, contest
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.baseline_report import contest_blocks
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.terminal import joined_blocks
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.parts import join_names
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
    repeated = next((path for path in options.after if options.after.count(path) > 1), None)
    if repeated is not None:
        raise CommandError(f"{repeated} is given twice; name each file once")
    paths = [options.before, *options.after]
    runs = [(_name(path, paths), read_results(path)) for path in paths]
    contests = _contests(runs, paths, options)
    style, is_one = make_style(options), len(contests) == 1
    checks, notes = [], []
    interrupted = [name for name, results in runs if INTERRUPTED in results.narrowed]
    if interrupted and options.max_drop is not None:  # as in pytest
        names = join_names(interrupted, _FIRST)
        notes.append(Text(f"--max-drop is not judged: the run was interrupted ({names})", "bad"))
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
    for path, (_, results) in zip(paths, runs):
        if results.is_partial and (options.max_drop is not None or len(runs) > 2):
            kept = f"{len(results.cases):,} of {results.total_records:,}"
            raise CommandError(
                f"single records are compared, but {path} keeps {kept}: save it with --keep all"
            )
    gate = DropGate(options.max_drop or 0.0, options.confidence, options.drop_mode)
    tests = (len(runs) - 1) * (2 if options.max_drop is None else 1)
    contests = [contest(runs[0], after, gate, tests=tests) for after in runs[1:]]
    for path, pair in zip(paths[1:], contests):
        runs_of = pair.diff.before, pair.diff.after
        ids = [[case.id for case in results.cases] for results in runs_of]
        if not pair.diff.of_corpora and set(ids[0]).isdisjoint(ids[1]):
            sides = ", ".join(
                f"{where} has {join_names(list(map(repr, side)), _FIRST) or 'no case'}"
                for where, side in zip((paths[0], path), ids, strict=True)
            )
            hint = _explain_parameters(*ids)
            raise CommandError(f"no case is in both runs; cases are paired by their ids: {sides}{hint}")
        if pair.diff.mismatches:
            first, *others = pair.diff.mismatches
            more = f" (and {len(others):,} more)" if others else ""
            where = f"{path}: " if len(contests) > 1 else ""
            raise CommandError(f"{where}not scored in the same way: {first.case}: {first.difference}{more}")
    return contests


def _explain_parameters(before: Sequence[str], after: Sequence[str]) -> str:
    """Return a hint about ids that differ only in the parameters of a fixture; empty if they differ more.

    >>> _explain_parameters(["a.yaml::one[v1]", "a.yaml::two[v1]"], ["a.yaml::one[v2]"])
    "; the ids differ only in '[v1]' and '[v2]': one run with both parameters compares them"
    """
    labels: list[set[str]] = []
    cases: list[set[str]] = []
    for ids in (before, after):
        parts = [re.fullmatch(r"(.+?)(\[.*\])", case_id, re.DOTALL) for case_id in ids]
        cases.append({part[1] for part in parts if part is not None})
        labels.append({part[2] for part in parts if part is not None})
    if cases[0].isdisjoint(cases[1]):
        return ""
    names = (join_names([repr(label) for label in sorted(side)], _FIRST) for side in labels)
    return f"; the ids differ only in {' and '.join(names)}: one run with both parameters compares them"
