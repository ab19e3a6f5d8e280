"""`jsonmatch diff`: two result files side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FINE, CommandError, add_output
from pytest_jsonmatch.cli.look import add_color, as_text, look_of
from pytest_jsonmatch.cli.output import write_output

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["EXAMPLES", "add_arguments"]

EXAMPLES: Final = """\
jsonmatch diff yesterday.json today.json
pytest --jsonmatch-json=today.json; jsonmatch diff tests/baselines/main.json today.json -v
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch diff`.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.json", "b.json"]).after.name
    'b.json'
    """
    parser.add_argument("before", metavar="BEFORE", type=Path, help="a result file: the earlier run")
    parser.add_argument("after", metavar="AFTER", type=Path, help="a result file: the later run")
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="name every case and field that has changed"
    )
    add_color(parser)
    add_output(parser)
    parser.set_defaults(run=_run, command=parser.prog)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.gate.baseline import compare_runs
    from pytest_jsonmatch.report.baseline import baseline_lines
    from pytest_jsonmatch.results.file import read_results

    diff = compare_runs(read_results(options.before), read_results(options.after))
    if diff.mismatches:
        first, *others = diff.mismatches
        more = f" (and {len(others):,} more)" if others else ""
        raise CommandError(f"not scored in the same way: {first.case}: {first.difference}{more}")
    look = look_of(options)
    lines = baseline_lines(
        diff,
        name=str(options.before),
        mode="all" if options.verbose else "auto",
        width=look.width,
        unicode=look.unicode,
        hint="-v",
    )
    write_output(as_text(lines, look), options.output)
    return FINE
