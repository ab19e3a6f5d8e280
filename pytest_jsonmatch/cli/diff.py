"""`jsonmatch diff`: a result file beside an earlier one, or several beside one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.output import as_text, look_of, write_output

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import RunChange
    from pytest_jsonmatch.gate.verdict import DropGate
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine

EXAMPLES: Final = """\
jsonmatch diff yesterday.json today.json
jsonmatch diff main.json today.json --max-drop 0.02
jsonmatch diff main.json small.json large.json tuned.json
pytest --jsonmatch-json=today.json; jsonmatch diff tests/baselines/main.json today.json -v
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch diff`."""
    parser.add_argument("before", metavar="BEFORE", type=Path, help="a result file: the earlier run")
    parser.add_argument(
        "after",
        metavar="AFTER",
        type=Path,
        nargs="+",
        help="a result file: the later run; several are candidates, judged together",
    )
    parser.add_argument(
        "--max-drop",
        metavar="DROP",
        type=float,
        help="exit with 1 if the mean score has dropped by more than this, beyond what chance makes",
    )
    parser.add_argument(
        "--drop-mode",
        choices=("regression", "non-inferiority"),
        default="regression",
        help="fail if such a drop is proven (the default), or unless it is ruled out",
    )
    parser.add_argument(
        "--confidence", metavar="SHARE", type=float, default=0.95, help="how sure that is (default: 0.95)"
    )
    add_options(parser, "--color", "--output", verbose="name every case and field that has changed")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.gate.baseline import compare_runs
    from pytest_jsonmatch.report.baseline import baseline_lines
    from pytest_jsonmatch.report.styled import GREEN, RED
    from pytest_jsonmatch.results.file import read_results

    before = read_results(options.before)
    diffs = [compare_runs(before, read_results(path)) for path in options.after]
    for path, diff in zip(options.after, diffs, strict=True):
        if diff.mismatches:
            first, *others = diff.mismatches
            more = f" (and {len(others):,} more)" if others else ""
            where = f"{path}: " if len(diffs) > 1 else ""
            raise CommandError(f"{where}not scored in the same way: {first.case}: {first.difference}{more}")
    look = look_of(options)
    if len(diffs) > 1:
        return _several(diffs, options, look)
    verdict = _verdict(diffs[0], options)
    lines = baseline_lines(diffs[0], look, verdict=verdict, name=str(options.before))
    if verdict is not None and options.max_drop is not None:
        lines += [[], [(verdict.scores.gate_words, RED if not verdict.scores.passed else GREEN)]]
    write_output(as_text(lines, look), options.output)
    is_fine = verdict is None or options.max_drop is None or verdict.scores.passed
    return FINE if is_fine else NOT_FINE


def _several(diffs: Sequence[BaselineDiff], options: Namespace, look: Look) -> int:
    """Write a line for each candidate; what is proven of any takes account of all."""
    from pytest_jsonmatch.gate.headlines import changes_of_runs
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED

    names = [str(path) for path in options.after]
    if len(set(names)) < len(names):
        raise CommandError("a candidate is given twice; name each file once")
    for path, diff in zip(options.after, diffs, strict=True):
        _refuse_partial(diff, path, options)
    after = {name: diff.after for name, diff in zip(names, diffs, strict=True)}
    changes = changes_of_runs(diffs[0].before, after, _gate(options))
    title = f"mean score against {options.before}, corrected for {count(len(changes), 'candidate')}:"
    lines: list[StyledLine] = [[(look.printable(title), BOLD)]]
    for change in changes.values():
        markup = RED if change.kind == "worse" else GREEN if change.kind in {"better", "no worse"} else PLAIN
        lines += look.folded(look.printable(change.words), 4, markup, indent="  ")
        if options.max_drop is not None:
            lines.append([("    " + change.gate_words, GREEN if change.passed else RED)])
    write_output(as_text(lines, look), options.output)
    is_fine = options.max_drop is None or all(change.passed for change in changes.values())
    return FINE if is_fine else NOT_FINE


def _verdict(diff: BaselineDiff, options: Namespace) -> RunChange | None:
    """Return what the difference proves; None of a corpus of which a part of the records was kept."""
    if options.max_drop is None and (diff.before.is_partial or diff.after.is_partial):
        return None
    _refuse_partial(diff, options.after[0], options)
    from pytest_jsonmatch.gate.headlines import change_of_runs

    return change_of_runs(diff.before, diff.after, _gate(options))


def _gate(options: Namespace) -> DropGate:
    from pytest_jsonmatch.gate.verdict import DropGate

    return DropGate(options.max_drop or 0.0, options.confidence, options.drop_mode)


def _refuse_partial(diff: BaselineDiff, after: Path, options: Namespace) -> None:
    """Refuse a corpus of which a part of the records was kept."""
    what = "--max-drop compares" if options.max_drop is not None else "several candidates need"
    for path, results in ((options.before, diff.before), (after, diff.after)):
        if results.is_partial:
            raise CommandError(
                f"{what} single records, and {path} keeps {len(results.cases):,} of "
                f"{results.number:,}: save it with --keep all"
            )
