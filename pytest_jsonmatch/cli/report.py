"""`jsonmatch report`: show a result file, or the shards of a run, as text, HTML or Markdown."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS, CommandError
from pytest_jsonmatch.cli.inputs import refuse_repeated
from pytest_jsonmatch.cli.output import as_text, make_style, write_files, write_output
from pytest_jsonmatch.cli.rules import gates_of
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.terminal import report_lines
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.run import INTERRUPTED
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.results.run import RunResult


def run(options: Namespace) -> int:
    """Run `jsonmatch report`."""
    gates = gates_of(options.gates)
    refuse_repeated(options.results)
    results, interrupted = _read_run(options.results)
    _check_tags(results, options.by)
    checks = check_gates([(gate, True) for gate in gates], results)
    notes: list[str | Text] = []
    if interrupted:  # as in pytest
        checks = [replace(check, passed=None) for check in checks]
        names = ", ".join(interrupted)
        notes.append(Text(f"gates are not checked: the run was interrupted ({names})", "bad", level="brief"))
    report = build(
        results,
        ReportRequest(
            options.results[0].name
            if len(options.results) == 1
            else count(len(options.results), "result file"),
            gates=checks,
            by=options.by,
            notes=notes,
            page=PageExtra() if options.html is not None else None,
            has_intervals=True,
        ),
    )
    write_files(options, results, report)
    style = make_style(options)
    write_output(as_text(report_lines(report, style), style))
    return SUCCESS if not interrupted and all(check.passed for check in checks) else FAILURE


def _read_run(paths: Sequence[Path]) -> tuple[RunResult, list[str]]:
    """Return the run of a result file, or the merged shards of several, and which were interrupted."""
    first, *others = paths
    results = read_results(first)
    interrupted = [_describe_interrupted(first, results)]
    for path in others:
        shard = read_results(path)
        interrupted.append(_describe_interrupted(path, shard))
        try:
            results = results.merge(shard)
        except ConfigurationError as error:
            before = "the file" if path == others[0] else "the files"
            raise CommandError(f"{path}: can't be merged with {before} before it: {error}") from None
    return results, [*filter(None, interrupted)]


def _describe_interrupted(path: Path, results: RunResult) -> str:
    """Return the name and the number of cases of a run that was interrupted; empty for any other run."""
    if INTERRUPTED not in results.narrowed:
        return ""
    of = "" if results.collected is None else f" of {results.collected}"
    return f"{path}: {len(results.cases)}{of} cases"


def _check_tags(results: RunResult, names: Sequence[str]) -> None:
    known = {tag.partition("=")[0] for tag in results.tags}
    for name in names:
        if results.total_records and name not in known:
            reason = (
                f"nothing has the tag {name!r}{did_you_mean(name, known)}" if known else "nothing has any tag"
            )
            raise CommandError(f"--by: {reason}")
