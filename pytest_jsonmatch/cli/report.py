"""`jsonmatch report`: a result file as text, HTML or Markdown."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.commands import FILE_FORMS
from pytest_jsonmatch.cli.inputs import STDIN, content_of, name_of, refuse_two_stdins
from pytest_jsonmatch.cli.options import STDOUT
from pytest_jsonmatch.cli.output import Form, as_text, check_form, in_form, look_of, write_output
from pytest_jsonmatch.cli.rules import gates_of
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.baseline import compare_runs
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import change_of_runs
from pytest_jsonmatch.gate.session import Check
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.file import from_text, read_results, schema_text
from pytest_jsonmatch.results.model import ResultSet

_SUFFIXES: Final = frozenset({".json", ".jsonl"})


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
        from pytest_jsonmatch.cli.resulttext import result_lines

        options.output = target
        look = look_of(options)
        lines = result_lines(view, look, verbose=options.verbose, pivot=options.pivot)
        write_output(as_text(lines, look), target)
    else:
        write_output(in_form(form, view), target)
    return FINE if all(check.passed for check in view.gates) else NOT_FINE


def _form(options: Namespace) -> tuple[Form, Path | None]:
    """Return the form and the target file, which follows the form or is given by --output."""
    form: Any = next((name for name in FILE_FORMS if getattr(options, name) is not None), "text")
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
    checks = [check_gate(gate, results) for gate in gates]
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
