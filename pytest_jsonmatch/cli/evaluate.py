"""`jsonmatch evaluate`: score a corpus of answers against gold records."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS, CommandError
from pytest_jsonmatch.cli.inputs import STDIN, gold_records, name_of, records_of, refuse_two_stdins
from pytest_jsonmatch.cli.output import as_text, make_style, write_files, write_output
from pytest_jsonmatch.cli.plugins import load_in_worker, post_processors
from pytest_jsonmatch.cli.progress import Progress
from pytest_jsonmatch.cli.rules import columns_of, comparing, gates_of, was_asked
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import JsonMatchWarning, find_closest
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.records.columns import find_column, iter_members, select, split_column
from pytest_jsonmatch.report.absent_hint import suggest_absent
from pytest_jsonmatch.report.blocks import Heading, Text
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.corpora import details_of_records
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.terminal import block_lines, report_lines
from pytest_jsonmatch.results.origin import with_origin
from pytest_jsonmatch.results.record import NO_ANSWER
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.results.run import RunResult

_SHOWN: Final = 3
"""The maximum number of errors to name without `-v`."""
_TONES: Final = {"error": "bad", "not scored": "open", "note": "faint"}
_MOST_EMPTY: Final = 1_000
"""The maximum number of records for the score of empty answers."""


def run(options: Namespace) -> int:
    """Run `jsonmatch evaluate`."""
    gates = gates_of(options.gates)
    refuse_two_stdins(options.actual, options.expected)
    columns = columns_of(options)
    with comparing(options) as rules:
        _check_tags(options)
        run = _evaluate(options, gates, rules, columns)
        floor = [*_floor(run, rules, columns, options)]
    results = replace(run, judged=was_asked(rules["judge"]))
    if _is_kept(options):
        results = with_origin(results, Path.cwd())
    checks = check_gates([(gate, True) for gate in gates], results)
    unscored = len(run.unmatched_actual)
    report = build(
        results,
        ReportRequest(
            f"{name_of(options.actual)} against {name_of(options.expected)}",
            gates=checks,
            by=tuple(dict(options.by)),
            notes=[*floor, *_hint_at_absent(run), *_notes(run, options, None if options.verbose else _SHOWN)],
            also=[f"{count(unscored, 'answer')} not scored"] if unscored else [],
            page=None if options.html is None else PageExtra(details_of_records(run)),
            has_intervals=_is_kept(options),
            names_errors=False,
        ),
    )
    write_files(options, results, report)
    style = make_style(options)
    heading = block_lines(Heading(report.title), style)
    write_output(as_text([*heading, *report_lines(report, style)], style))
    passed = all(check.passed for check in checks) if gates else run.total_records and not run.total_errors
    return SUCCESS if passed else FAILURE


# -- scoring -----------------------------------------------------------------------------------------------


def _evaluate(
    options: Namespace, gates: Sequence[Gate], rules: dict[str, Any], columns: dict[str, Any]
) -> RunResult:
    from pytest_jsonmatch.corpus.compare_corpus import compare_corpus

    needs_all = any(gate.needs_cases for gate in gates)
    validates = options.validate or any(gate.statistic == "valid_rate" for gate in gates)
    with _executor(options, rules) as executor, Progress(options.expected) as progress:
        return compare_corpus(
            records_of(options.actual),
            records_of(options.expected),
            keep="all" if needs_all else options.keep,
            cluster=options.cluster,
            tags=dict(options.by) or None,
            validate="report" if validates else "off",
            post_process=post_processors(options),
            executor=executor,
            progress=progress.show,
            **columns,
            **rules,
        )


@contextmanager
def _executor(options: Namespace, rules: Mapping[str, Any]) -> Iterator[Executor | None]:
    """Yield the processes that score records, which have the same plugins; None for this process."""
    if options.processes == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from pytest_jsonmatch.comparing.comparer import get_plan

    others = ("id", "judge", "metric", "repair")
    if get_plan(rules["metric"], {name: rules[name] for name in rules if name not in others}).has_batch:
        raise CommandError("--processes: a judge or batch comparator is asked by one process; leave it out")
    # New interpreters, as on every system: a fork would copy threads and open files.
    with ProcessPoolExecutor(
        options.processes, get_context("spawn"), initializer=load_in_worker, initargs=(options.plugins,)
    ) as executor:
        yield executor


def _is_readable(source: str) -> bool:
    """Return whether a side can be read again: it is neither standard input nor a pipe."""
    return source != STDIN and (Path(source).is_file() or Path(source).is_dir() or not Path(source).exists())


def _floor(
    run: RunResult, rules: Mapping[str, Any], columns: Mapping[str, Any], options: Namespace
) -> Iterator[Text]:
    """Yield the score of empty answers: if it is high, a high score of real answers means little."""
    from pytest_jsonmatch.corpus.compare_corpus import compare_corpus

    if not _is_readable(options.expected):
        return
    records = gold_records(options.expected, columns["delimiter"])
    if columns["expected"] is not None:
        rules = {name: value for name, value in rules.items() if name != "id"}
        records = (select(record, columns["expected"]) for record in records)
    sample = [record for record in islice(records, _MOST_EMPTY) if type(record) in (dict, list)]
    name = rules.get("id")
    empty = [type(record)() if name is None else _only_id(record, name) for record in sample]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JsonMatchWarning)  # the run has already issued them
        score = compare_corpus(empty, sample, keep="none", **rules).mean_score
    if score or (options.verbose and score is not None):
        scope = f" (first {count(_MOST_EMPTY, 'record')})" if run.total_records > _MOST_EMPTY else ""
        yield Text(f"an empty answer scores {score_text(score)}{scope}")


def _only_id(record: Any, column: str) -> dict[str, Any]:
    """Return a record with nothing but its id."""
    *outer, last = split_column(column) if column not in record else (column,)
    kept: dict[Any, Any] = {last: find_column(record, column)}
    for step in reversed(outer):
        kept = {step: kept}
    return kept


def _check_tags(options: Namespace) -> None:
    """Raise an error for a tag that no gold record has; standard input can be read only once."""
    if not _is_readable(options.expected):
        return
    for _, path in options.by:
        paths: dict[str, None] = {}
        for record in gold_records(options.expected, options.delimiter):
            if type(record) is dict and find_column(record, path) is not MISSING:
                break
            paths |= dict.fromkeys(iter_members(record))
        else:
            near = find_closest(path, paths)
            hint = "" if near is None else f"; did you mean {near!r}?"
            raise CommandError(f"--by: no gold record has a value at {path!r}{hint}")


# -- the result file ---------------------------------------------------------------------------------------


def _is_kept(options: Namespace) -> bool:
    """Return whether the results are written to a file."""
    return any(target is not None for target in (options.json, options.html, options.markdown))


def _hint_at_absent(run: RunResult) -> Iterator[Text]:
    """Yield a hint if null or empty values explain most of the loss in the lowest-scoring records."""
    results = [record.match for record in run.worst if record.match is not None and record.error is None]
    if (hint := suggest_absent(results)) is not None:
        yield Text(f"in {count(len(results), 'lowest-scoring record')}, {hint}")


def _notes(run: RunResult, options: Namespace, limit: int | None) -> Iterator[Text]:
    """Yield errors, answers without a gold record, and warnings: at most `limit` of each kind, or all."""
    # An answer without an id is named by its place, and its error says what is wrong.
    prefix = f"{name_of(options.actual)}:"
    unreadable = {error.record_id for error in run.errors if str(error.record_id).startswith(prefix)}
    unscored = [name for name in run.unmatched_actual if name not in unreadable]
    kinds = {
        # Missing answers are many and alike: they come last.
        "error": list(map(str, sorted(run.errors, key=lambda error: error.reason == NO_ANSWER))),
        "not scored": [f"{name!r}, which has no gold record, or is a second answer" for name in unscored],
        "note": list(map(str, run.warnings)),
    }
    for kind, texts in kinds.items():
        yield from (Text(f"{kind}: {text}", _TONES[kind]) for text in texts[:limit])
        if hidden := texts[len(texts[:limit]) :]:
            more = (
                f"{count(len(hidden), 'more id')} not scored"
                if kind == "not scored"
                else count(len(hidden), f"more {kind}")
            )
            yield Text(f"… {more} (-v)", "faint")
