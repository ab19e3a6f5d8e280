"""`jsonmatch diff`: a result file compared with an earlier one, or several with one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.output import as_text, look_of, write_files, write_output
from pytest_jsonmatch.gate.headlines import Contest, contest
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.against import contest_blocks
from pytest_jsonmatch.report.checks import JUDGED
from pytest_jsonmatch.report.styled import GREEN, RED, YELLOW
from pytest_jsonmatch.report.terminal import blocks_lines
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.parts import listed

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.results.run import RunResult

_FIRST: Final = 3
"""At most this many ids of cases are named."""
_Run: TypeAlias = "tuple[str, RunResult]"
"""A run and its name."""


def run(options: Namespace) -> int:
    """Run `jsonmatch diff`."""
    if len(set(options.after)) < len(options.after):
        raise CommandError("a candidate is given twice; name each file once")
    paths = [options.before, *options.after]
    runs = [(_name(path, paths), read_results(path)) for path in paths]
    contests = _contests(runs, paths, options)
    look, is_one = look_of(options), len(contests) == 1
    lines = blocks_lines(contest_blocks(contests), look)
    checks = []
    for each in contests if options.max_drop is not None else ():
        if each.proven is not None:
            change, whose = each.proven.scores, "" if is_one else f" of {each.after}"
            subject = f"--max-drop={options.max_drop:g}{whose}"
            checks.append(
                Check(subject, "drop", None, options.max_drop, passed=change.passed, note=change.note)
            )
            text = look.printable(f"{'' if is_one else each.after} {change.gate_words}".strip())
            lines += [[], *look.folded(text, 4, GREEN if change.passed else RED)]
    (first, before), (_, after) = runs[:2]
    if is_one:
        view = RunView(after, options.after[0].name, checks, first, contests[0])
    else:
        view = RunView(before, f"{first} and others", checks, rivals=contests)
    write_files(options, view)
    if any(results.judged for _, results in runs):
        lines += [[], *look.folded(JUDGED, 4, YELLOW)]
    write_output(as_text(lines, look))
    return FINE if all(check.passed for check in checks) else NOT_FINE


def _name(path: Path, paths: Sequence[Path]) -> str:
    """Return the name of a file, or its path if another file has the same name."""
    return path.stem if [each.stem for each in paths].count(path.stem) == 1 else str(path)


def _contests(runs: Sequence[_Run], paths: Sequence[Path], options: Namespace) -> list[Contest]:
    """Return the later runs against the earlier one; an error if they can't be compared."""
    for path, (_, results) in zip(paths, runs):
        if results.is_partial and (options.max_drop is not None or len(runs) > 2):
            kept = f"{len(results.cases):,} of {results.total_records:,}"
            raise CommandError(
                f"single records are compared, but {path} keeps {kept}: save it with --keep all"
            )
    gate = DropGate(options.max_drop or 0.0, options.confidence, options.drop_mode)
    tests = (len(runs) - 1) * (2 if options.max_drop is None else 1)
    contests = [contest(runs[0], after, gate, tests=tests) for after in runs[1:]]
    for path, each in zip(paths[1:], contests):
        runs_of = each.diff.before, each.diff.after
        ids = [[case.id for case in results.cases] for results in runs_of]
        if not each.diff.of_corpora and set(ids[0]).isdisjoint(ids[1]):
            sides = ", ".join(
                f"{where} has {listed(list(map(repr, each)), _FIRST) or 'no case'}"
                for where, each in zip((paths[0], path), ids, strict=True)
            )
            raise CommandError(f"no case is in both runs; cases are paired by their ids: {sides}")
        if each.diff.mismatches:
            first, *others = each.diff.mismatches
            more = f" (and {len(others):,} more)" if others else ""
            where = f"{path}: " if len(contests) > 1 else ""
            raise CommandError(f"{where}not scored in the same way: {first.case}: {first.difference}{more}")
    return contests
