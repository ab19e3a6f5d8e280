"""`jsonmatch report`: a result file as text, HTML or Markdown."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, STDOUT, CommandError
from pytest_jsonmatch.cli.commands import FILE_FORMS
from pytest_jsonmatch.cli.inputs import STDIN, content_of, name_of, refuse_two_stdins
from pytest_jsonmatch.cli.output import as_text, check_form, completed, in_form, look_of, write_output
from pytest_jsonmatch.cli.rules import gates_of
from pytest_jsonmatch.engine.result.notebook import data_frame, field_columns
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.baseline import compare_runs
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.gate.headlines import change_of_runs
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.report.checks import check_lines, doubt_blocks, gate_lines
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.pairs import pair_blocks
from pytest_jsonmatch.report.sheets import block_lines
from pytest_jsonmatch.report.styled import DIM, YELLOW, StyledLine
from pytest_jsonmatch.report.terminal import blocks_lines, corpus_lines, figure_lines, summary_lines
from pytest_jsonmatch.report.view import RunView, baseline_blocks, commit_text, extent
from pytest_jsonmatch.results.comparison import Case, by_metric, merged_fields
from pytest_jsonmatch.results.file import from_text, read_results, schema_text
from pytest_jsonmatch.results.model import ResultSet
from pytest_jsonmatch.results.tags import tags_of, tags_of_case

_SUFFIXES: Final = frozenset({".json", ".jsonl"})
_WORST: Final = 10
"""At most this many cases that compared nothing are named."""
_UNSCORED: Final = "failed before comparing"


def run(options: Namespace) -> int:
    """Run `jsonmatch report`."""
    form, target = _form(options)
    if options.schema:
        if options.result is not None or options.baseline is not None:
            raise CommandError("--schema is the same for all result files: leave RESULT and --baseline out")
        write_output(schema_text(), target)
        return FINE
    if options.result is None:
        raise CommandError(f"a result file is needed, RESULT (see {options.command} --help)")
    if options.baseline is not None:
        refuse_two_stdins(options.result, options.baseline)
    gates = gates_of(options.gates)
    check_form(form)
    view = replace(_view(options, gates), by=options.by)
    if form == "text":
        options.output = target
        look = look_of(options)
        lines = _lines(view, look, options.verbose)
        write_output(as_text(lines, look), target)
    else:
        is_table = form in {"csv", "parquet"}
        write_output(_table_of(view.results, form) if is_table else in_form(form, view), target)
    return FINE if all(check.passed for check in view.gates) else NOT_FINE


def _form(options: Namespace) -> tuple[str, Path | None]:
    """Return the form and the target file, which follows the form or is given by --output."""
    form = next((name for name in FILE_FORMS if getattr(options, name) is not None), "text")
    named = getattr(options, form)
    if form == "text" or named == STDOUT:
        return form, options.output
    if options.result is None:
        raise CommandError(f"RESULT comes first: {options.command} {named} --{form}")
    if options.output is not None:
        raise CommandError(f"--{form} {named} and --output {options.output}: give one file")
    if form != "json" and Path(named).suffix.lower() in _SUFFIXES:
        raise CommandError(
            f"--{form} {named} would write over a JSON file; RESULT comes first: "
            f"{options.command} {named} --{form}"
        )
    return form, Path(named)


def _view(options: Namespace, gates: Any) -> RunView:
    results = _read(options.result)
    checks = check_gates([(gate, True) for gate in gates], results)
    title = name_of(options.result) if options.result == STDIN else Path(options.result).name
    if options.baseline is None:
        return RunView(results, title, checks)
    before = _read(options.baseline)
    diff = compare_runs(before, results)
    proven = None
    if not diff.is_comparable:
        # As in a run of pytest, a requested comparison that can't be made fails.
        note = f"{count(len(diff.mismatches), 'case')} scored in another way"
        checks.append(
            Check(f"--baseline={name_of(options.baseline)}", "comparable", None, 1.0, passed=False, note=note)
        )
    elif not (before.is_partial or results.is_partial):
        proven = change_of_runs(before, results, by=options.by)
    return RunView(results, title, checks, baseline=name_of(options.baseline), diff=diff, proven=proven)


def _read(written: str) -> ResultSet:
    if written != STDIN:
        return read_results(Path(written))
    try:
        return from_text(content_of(written).decode("utf-8-sig"), name_of(written))
    except UnicodeDecodeError:
        raise CommandError(f"{name_of(written)} is no result file: it is not UTF-8 text") from None


# -- text --------------------------------------------------------------------------------------------------


def _lines(view: RunView, look: Look, verbose: int) -> list[StyledLine]:
    """Return the lines of a saved run: what pytest's summary, or `jsonmatch evaluate`, showed of it."""
    results = view.results
    blocks = [list(_origin(view, look))]
    if results.corpus is not None:
        blocks.append(corpus_lines(view, look))
        if errors := results.corpus.errors:
            blocks.append([[(f"{count(errors, 'error')}, listed by `jsonmatch evaluate`", YELLOW)]])
    else:
        if not any(results.comparisons):
            blocks.append([[("nothing was compared", YELLOW)]])
        blocks += [summary_lines(view, look), list(_unscored(results, look))]
    blocks += pair_blocks(results, look, verbosity=verbose)
    return joined([*blocks, *_verdict_blocks(completed(view), look)])


def _origin(view: RunView, look: Look) -> Iterator[StyledLine]:
    results = view.results
    parts = extent(results), results.created.replace("T", " "), commit_text(results.commit)
    yield look.title(f"{view.title}: {', '.join(filter(None, parts))}")
    if look.mode == "all":
        versions = ", ".join(f"{name} {text}" for name, text in results.versions.items())
        yield from look.folded(versions, 4, DIM) if versions else ()


def _unscored(results: ResultSet, look: Look) -> Iterator[StyledLine]:
    """Yield the runs that failed before they compared anything: in no table, and 0 in every mean."""
    found = [
        (case.id if case.of == 1 else f"{case.id} (run {run.number} of {case.of})", run.error)
        for case in results.cases
        for run in case.runs
        if not run.comparisons
    ]
    if not found:
        return
    yield look.title(f"not counted above: {count(len(found))} {_UNSCORED}")
    shown, more = look.cut(found, _WORST)
    for name, error in shown:
        yield look.line(f"  {name}" if error in {"", _UNSCORED} else f"  {name}: {error}")
    yield from more


def _verdict_blocks(view: RunView, look: Look) -> Iterator[list[StyledLine]]:
    if view.headlines:
        yield from (block_lines(block, look) for block in view.figure_blocks)
        yield from doubt_blocks(view.results, look, {})
    elif view.results.corpus is None:
        yield blocks_lines(figure_lines(view), look)
    if view.diff is not None:
        yield blocks_lines(baseline_blocks(view.diff, view.baseline, view.proven), look)
    yield gate_lines(view.gates, look, on=extent(view.results))
    yield check_lines(view.unsettled, look)


# -- a table for other programs ----------------------------------------------------------------------------


def _table_of(results: ResultSet, form: str) -> bytes:
    """Return one row for each case, metric and field; polars or pandas write it, whichever is installed.

    Raises:
        CommandError: neither is installed, or pandas lacks what it needs for Parquet.
    """
    columns = _columns(results)
    for library in ("polars", "pandas"):
        try:
            frame = data_frame(columns, library)
        except ConfigurationError:
            continue
        written = BytesIO()
        try:
            if library == "polars":
                getattr(frame, f"write_{form}")(written)
            else:
                getattr(frame, f"to_{form}")(written, index=False)
        except ImportError:
            raise CommandError(f"--{form} with pandas needs pyarrow: pip install pyarrow") from None
        return written.getvalue()
    raise CommandError(f"--{form} needs polars or pandas: pip install polars")


def _columns(results: ResultSet) -> dict[str, list[Any]]:
    """Return the columns; if a case has several runs, its figures are of all of them together."""
    tags = sorted({tag.partition("=")[0] for tag in tags_of(results)})
    names = "case", "metric", "passed", *(f"tags.{name}" for name in tags)
    columns: dict[str, list[Any]] = {name: [] for name in (*names, *field_columns({}))}
    for case in results.cases:
        values = [_values(case, name) for name in tags]
        for metric, compared in by_metric([case]).items():
            of_fields = field_columns(merged_fields(compared))
            number = len(of_fields["path"])
            for name, value in zip(names, (case.id, metric, case.passed, *values), strict=True):
                columns[name] += [value] * number
            for name, figures in of_fields.items():
                columns[name] += figures
    return columns


def _values(case: Case, name: str) -> str | None:
    """Return the values of a tag in a case as one text; None if there is none."""
    parts = (tag.partition("=") for tag in sorted(tags_of_case(case)))
    return ", ".join(value for of, _, value in parts if of == name) or None
