"""`jsonmatch diff`: two result files side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.options import add_options
from pytest_jsonmatch.cli.output import as_text, look_of, write_output

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import RunChange

EXAMPLES: Final = """\
jsonmatch diff yesterday.json today.json
jsonmatch diff main.json today.json --max-drop 0.02
pytest --jsonmatch-json=today.json; jsonmatch diff tests/baselines/main.json today.json -v
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch diff`."""
    parser.add_argument("before", metavar="BEFORE", type=Path, help="a result file: the earlier run")
    parser.add_argument("after", metavar="AFTER", type=Path, help="a result file: the later run")
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

    diff = compare_runs(read_results(options.before), read_results(options.after))
    if diff.mismatches:
        first, *others = diff.mismatches
        more = f" (and {len(others):,} more)" if others else ""
        raise CommandError(f"not scored in the same way: {first.case}: {first.difference}{more}")
    verdict = _verdict(diff, options)
    look = look_of(options)
    lines = baseline_lines(diff, look, verdict=verdict, name=str(options.before))
    if verdict is not None and options.max_drop is not None:
        lines += [[], [(verdict.scores.gate_words, RED if not verdict.scores.passed else GREEN)]]
    write_output(as_text(lines, look), options.output)
    is_fine = verdict is None or options.max_drop is None or verdict.scores.passed
    return FINE if is_fine else NOT_FINE


def _verdict(diff: BaselineDiff, options: Namespace) -> RunChange | None:
    """Return what the difference proves; None of a corpus of which a part of the records was kept."""
    for path, results in ((options.before, diff.before), (options.after, diff.after)):
        if results.corpus is not None and len(results.cases) < results.corpus.records:
            if options.max_drop is None:
                return None
            raise CommandError(
                f"--max-drop compares single records, and {path} keeps {len(results.cases):,} of "
                f"{results.corpus.records:,}: save it with --keep all"
            )
    from pytest_jsonmatch.gate.headlines import change_of_runs

    return change_of_runs(
        diff.before,
        diff.after,
        max_drop=options.max_drop or 0.0,
        confidence=options.confidence,
        mode=options.drop_mode,
    )
