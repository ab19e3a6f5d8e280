"""`jsonmatch compare`: compare one JSON value with another."""

from __future__ import annotations

import json
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FAILURE, SUCCESS, CommandError
from pytest_jsonmatch.cli.inputs import (
    AnswerError,
    is_json_lines,
    name_of,
    read_answer,
    read_content,
    read_value,
    refuse_two_stdins,
)
from pytest_jsonmatch.cli.output import as_text, make_style, render_run, write_output
from pytest_jsonmatch.cli.rules import judging, rules_of
from pytest_jsonmatch.engine.ask.rounds import score_with_answers
from pytest_jsonmatch.engine.plan.unmatched import collect_patterns, format_unmatched
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import (
    GoldValidationError,
    JsonMatchWarning,
    RootTypeError,
    UnlistedFieldError,
)
from pytest_jsonmatch.engine.value.sums import compute_scores
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.answers import list_admitted_types, read_text
from pytest_jsonmatch.reading.extract import kind_of
from pytest_jsonmatch.reading.nested import parse_nested_texts
from pytest_jsonmatch.records.sources import LINES
from pytest_jsonmatch.report.blocks import Table
from pytest_jsonmatch.report.escape import printable
from pytest_jsonmatch.report.failure import MARGIN, failure_message
from pytest_jsonmatch.report.fields import field_blocks
from pytest_jsonmatch.report.styled import StyledLine
from pytest_jsonmatch.report.terminal import joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.comparison import Case, Comparison
from pytest_jsonmatch.results.limits import ScoreCheck
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.support.atomic import RESULTS_START
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.semantic.bench import Bench

_ROWS: Final = 6
"""The maximum number of lines of the first sentence."""


def run(options: Namespace) -> int:
    """Run `jsonmatch compare`."""
    actual, expected = options.actual, options.expected
    if actual is None or expected is None:
        reason = "two files are needed, ACTUAL and EXPECTED, or --test and --gt"
        raise CommandError(f"{reason} (see {options.command} --help)")
    refuse_two_stdins(actual, expected)
    contents = [read_content(side) for side in (actual, expected)]
    for side, content in zip((actual, expected), contents, strict=True):
        # An answer may be text with several JSON values in it.
        if content.startswith(RESULTS_START):
            raise CommandError(f"{name_of(side)} is a result file; jsonmatch diff compares result files")
        if (side == expected or Path(side).suffix.lower() in LINES) and is_json_lines(content):
            reason = f"{name_of(side)} has a JSON value in each line; to compare line by line, write"
            raise CommandError(f"{reason} jsonmatch evaluate {actual} {expected}")
    with judging(options) as judge:
        result, unreadable = _compare(contents, options, judge)
    score = ScoreCheck("score", result.score, options.threshold)
    passed = score.is_reached and not (result.errors or unreadable)
    name = Path(name_of(expected)).as_posix()
    limits = {"score": options.threshold}
    comparison = Comparison.of(result, id=name, nodeid=name, threshold=limits, passed=passed)
    if unreadable:
        comparison = replace(
            comparison, score=0.0, precision=0.0, recall=0.0, f1=0.0, parsed=False, unreadable=unreadable
        )
    title = f"{name_of(actual)} against {name_of(expected)}"
    if options.html is not None:
        write_output(_render("html", result, comparison, title), options.html)
    if unreadable:
        sys.stderr.write(printable(f"{options.command}: {unreadable}") + "\n")
    if options.report == "text":
        write_output("" if unreadable else _text(result, score, comparison, options))
    else:
        if not (passed or unreadable):
            headline = _message(result, score, TerminalStyle()).partition("\n")[0]
            sys.stderr.write(f"{options.command}: {headline}\n")
        write_output(_render(options.report, result, comparison, title))
    return SUCCESS if passed else FAILURE


def _compare(contents: Sequence[bytes], options: Namespace, judge: Bench) -> tuple[MatchResult, str]:
    """Return the result, and why the answer is not JSON: then everything in it counts as missing."""
    from pytest_jsonmatch.comparing.comparer import get_plan

    actual, expected = options.actual, options.expected
    rules = rules_of(options)
    plan = get_plan(rules.pop("metric"), rules)
    gold = read_value(expected, contents[1])
    types = list_admitted_types(plan, gold)

    def score(value: JsonValue) -> float:
        sides = parse_nested_texts(plan, gold), parse_nested_texts(plan, value)
        return compute_scores(score_with_answers(plan, *sides, judge).sums, plan.options.reduce).score

    unreadable = ""
    if "string" in types:
        answer, notes, _ = read_text(plan, contents[0], gold, score, repair=options.repair)
    else:
        try:
            answer, notes = read_answer(
                actual, kind_of(gold, plan.target), repair=options.repair, content=contents[0]
            )
        except AnswerError as error:
            answer, notes, unreadable = MISSING, (), str(error)
    gold, answer = parse_nested_texts(plan, gold), parse_nested_texts(plan, answer)
    try:
        outcome = score_with_answers(plan, gold, answer, judge)
    except GoldValidationError as error:
        raise CommandError(f"{name_of(expected)}: {error}") from None
    except (RootTypeError, UnlistedFieldError) as error:
        raise CommandError(f"{name_of(actual)}: {error}") from None
    result = MatchResult(plan, (gold, answer), outcome, notes)
    patterns = collect_patterns(rules)
    for pattern in result.unmatched(patterns):
        text = format_unmatched(patterns[pattern], pattern, result.nearest_path(pattern))
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    return result, unreadable


def _render(form: str, result: MatchResult, comparison: Comparison, title: str) -> str | bytes:
    """Return the HTML page ("html"), or the JSON document ("json"): a result file with all values."""
    from pytest_jsonmatch.report.build import ReportRequest, build
    from pytest_jsonmatch.report.cases_page import PageExtra
    from pytest_jsonmatch.report.details import details_of
    from pytest_jsonmatch.results.file import to_document
    from pytest_jsonmatch.results.origin import with_origin
    from pytest_jsonmatch.results.run import RunResult

    results = with_origin(RunResult.of_cases((Case.single(comparison),), collected=1), Path.cwd())
    if form == "html":
        details = {(comparison.nodeid, comparison.id): details_of(result)}
        return render_run(form, results, build(results, ReportRequest(title, page=PageExtra(details))))
    content = to_document(results)
    content["cases"][0]["runs"][0]["comparisons"][0] |= {
        "field_results": [item.to_dict() for item in result.field_results],
        "containers": [item.to_dict() for item in result.containers],
    }
    try:
        return json.dumps(content, indent=2) + "\n"
    except TypeError:  # a number larger than doubles
        return render(content) + "\n"


def _text(result: MatchResult, score: ScoreCheck, comparison: Comparison, options: Namespace) -> str:
    style = make_style(options)
    blocks: list[list[StyledLine]] = []
    if result.score != 1.0 or options.verbose:
        results = RunResult.of_cases((Case.single(comparison),))
        of_fields = field_blocks(results, {})
        # The message has shown the values that differ.
        shown = (_without_details(block) if isinstance(block, Table) else block for block in of_fields)
        shown = (block for block in shown if options.verbose or block.level != "all")
        blocks.append(joined_blocks(shown, style))
    first, *others = _message(result, score, style.less(-MARGIN), options.verbose).split("\n")
    # pytest repeats the first line in its summary, so it is one line, however long.
    message = "\n".join([as_text(style.folded(first, _ROWS), style).rstrip("\n"), *others])
    return "\n".join([f"{message}\n", *(as_text(block, style) for block in blocks if block)])


def _without_details(table: Table) -> Table:
    return replace(table, rows=[row._replace(details=()) for row in table.rows])


def _message(result: MatchResult, score: ScoreCheck, style: TerminalStyle, verbosity: int = 0) -> str:
    """Return a message about the differences, lowest-scoring fields first."""
    failures = [] if score.is_reached else [score]
    return failure_message(
        result, style, threshold={"score": score.limit}, failures=failures, verbosity=verbosity
    )
