"""`jsonmatch report`: a result file as text, HTML or Markdown."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.output import as_text, look_of, write_files, write_output
from pytest_jsonmatch.cli.rules import gates_of
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.report.against import commit_text
from pytest_jsonmatch.report.checks import check_lines, doubt_lines, gate_lines
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.sheets import block_lines
from pytest_jsonmatch.report.styled import DIM, YELLOW, StyledLine
from pytest_jsonmatch.report.terminal import (
    blocks_lines,
    corpus_lines,
    figure_lines,
    summary_lines,
    unscored_lines,
)
from pytest_jsonmatch.report.view import RunView, extent
from pytest_jsonmatch.results.file import read_results

if TYPE_CHECKING:
    from pytest_jsonmatch.results.run import RunResult


def run(options: Namespace) -> int:
    """Run `jsonmatch report`."""
    gates = gates_of(options.gates)
    results = read_results(options.result)
    _check_tags(results, options.by)
    checks = check_gates([(gate, True) for gate in gates], results)
    view = RunView(results, options.result.name, checks, by=options.by)
    write_files(options, view)
    look = look_of(options)
    write_output(as_text(_lines(view.completed(), look), look))
    return FINE if all(check.passed for check in checks) else NOT_FINE


def _check_tags(results: RunResult, names: Sequence[str]) -> None:
    known = {tag.partition("=")[0] for tag in results.tags}
    for name in names:
        if results.total_records and name not in known:
            told = (
                f"nothing has the tag {name!r}{did_you_mean(name, known)}" if known else "nothing has any tag"
            )
            raise CommandError(f"--by: {told}")


def _lines(view: RunView, look: Look) -> list[StyledLine]:
    """Return the lines of a saved run: what pytest's summary, or `jsonmatch evaluate`, showed of it."""
    results = view.results
    blocks = [list(_origin(view, look))]
    if results.is_of_records:
        blocks.append(corpus_lines(view, look))
        if errors := results.total_errors:
            blocks.append([[(f"{count(errors, 'error')}, listed by `jsonmatch evaluate`", YELLOW)]])
    else:
        if not any(results.comparisons):
            blocks.append([[("nothing was compared", YELLOW)]])
        blocks += [summary_lines(view, look), unscored_lines(results.cases, look)]
    if view.headlines:
        blocks += (block_lines(block, look) for block in view.figure_blocks)
        blocks.append(doubt_lines(results, look))
    elif not results.is_of_records:
        blocks.append(blocks_lines(figure_lines(view), look))
    blocks += [gate_lines(view.gates, look, on=extent(results)), check_lines(view.unsettled, look)]
    return joined(blocks)


def _origin(view: RunView, look: Look) -> Iterator[StyledLine]:
    results = view.results
    parts = extent(results), results.created.replace("T", " "), commit_text(results.commit)
    yield look.title(f"{view.title}: {', '.join(filter(None, parts))}")
    if look.mode == "all":
        versions = ", ".join(f"{name} {text}" for name, text in results.versions.items())
        yield from look.folded(versions, 4, DIM) if versions else ()
