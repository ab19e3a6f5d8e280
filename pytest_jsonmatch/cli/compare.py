"""`jsonmatch compare`: one JSON value against another."""

from __future__ import annotations

import math
import sys
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError, add_output
from pytest_jsonmatch.cli.inputs import name_of, refuse_two_stdins, value_of, value_of_answer
from pytest_jsonmatch.cli.look import add_color, as_text, look_of
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.rules import add_rules, rules_of, share

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pytest_jsonmatch.cli.look import Look
    from pytest_jsonmatch.engine.records import Comparison
    from pytest_jsonmatch.engine.results import MatchResult
    from pytest_jsonmatch.report.failure import ThresholdFailure
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["EXAMPLES", "add_arguments"]

EXAMPLES: Final = """\
jsonmatch compare answer.json expected.json
jsonmatch compare answer.txt expected.json --metric json_similarity --threshold 0.9
jsonmatch compare answer.json expected.json --schema receipt.schema.json --report json > result.json
curl -s https://example.org/receipt/7 | jsonmatch compare - expected.json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch compare`.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.json", "b.json"]).metric
    'pairwise_f1'
    """
    parser.add_argument(
        "actual",
        metavar="ACTUAL",
        nargs="?",
        help="what came: JSON, or text that holds JSON; - is standard input",
    )
    parser.add_argument(
        "expected", metavar="EXPECTED", nargs="?", help="what is right: JSON; - is standard input"
    )
    parser.add_argument("--test", metavar="FILE", help="ACTUAL, by the name that structeval has for it")
    parser.add_argument("--gt", metavar="FILE", help="EXPECTED, likewise")
    add_rules(parser, "pairwise_f1")
    parser.add_argument(
        "--threshold", metavar="SCORE", type=share, help="exit with code 1 if the score is below it"
    )
    parser.add_argument(
        "--beta",
        metavar="B",
        type=_beta,
        help="show F-beta, and hold it to the threshold: above 1 recall counts for more, below 1 precision",
    )
    parser.add_argument(
        "--report",
        choices=("text", "json"),
        default="text",
        help="text for people (the default), or a result file in JSON",
    )
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="show more fields and longer values; -vv: all"
    )
    add_color(parser)
    add_output(parser)
    parser.set_defaults(run=_run, command=parser.prog)


def _run(options: Namespace) -> int:
    actual, expected = _sides(options)
    with plugins(options):
        result = _compared(actual, expected, options)
    failures = _failures(result, options)
    fine = not failures and not result.errors
    comparison = _comparison(result, name_of(expected), options, passed=fine)
    if options.report == "json":
        comparison = comparison if result.score == 1.0 else comparison.audited(result)
        if not fine:
            sys.stderr.write(f"{options.command}: {_in_a_line(result, failures)}\n")
        write_output(_result_file(comparison), options.output)
    else:
        write_output(_text(result, comparison, options, failures), options.output)
    return FINE if fine else NOT_FINE


def _sides(options: Namespace) -> tuple[str, str]:
    if (options.test is not None or options.gt is not None) and options.actual is None:
        if options.test is None or options.gt is None:
            missing = "--test" if options.test is None else "--gt"
            raise CommandError(f"{missing} is missing: --test and --gt go together")
        actual, expected = options.test, options.gt
    elif options.test is not None or options.gt is not None:
        raise CommandError("give ACTUAL EXPECTED or --test and --gt, not both")
    elif options.expected is None:
        raise CommandError(f"two files are needed, ACTUAL and EXPECTED (see {options.command} --help)")
    else:
        actual, expected = options.actual, options.expected
    refuse_two_stdins(actual, expected)
    return actual, expected


def _compared(actual: str, expected: str, options: Namespace) -> MatchResult:
    from pytest_jsonmatch.api import prepare
    from pytest_jsonmatch.engine.errors import GoldValidationError, RootTypeError, UnlistedFieldError
    from pytest_jsonmatch.engine.results import MatchResult
    from pytest_jsonmatch.engine.scoring import score

    plan = prepare(options.metric, rules_of(options))
    right = value_of(expected)
    found, warnings = value_of_answer(actual, right, repair=options.repair)
    try:
        scored = score(plan, right, found)
        return MatchResult(plan, scored, warnings=warnings, documents=(right, found))
    except GoldValidationError as error:
        raise CommandError(f"{name_of(expected)}: {error}") from None
    except (RootTypeError, UnlistedFieldError) as error:
        raise CommandError(f"{name_of(actual)}: {error}") from None


def _failures(result: MatchResult, options: Namespace) -> list[ThresholdFailure]:
    from pytest_jsonmatch.report.failure import ThresholdFailure

    if options.threshold is None:
        return []
    value = result.score if options.beta is None else result.f_beta(options.beta)
    what = "score" if options.beta is None else _f_name(options.beta)
    return [ThresholdFailure(what, value, options.threshold)] if value < options.threshold else []


def _comparison(result: MatchResult, name: str, options: Namespace, *, passed: bool) -> Comparison:
    from pytest_jsonmatch.engine.records import Comparison

    limits: dict[str, Any] = {}
    if options.threshold is not None:
        limits = {"score" if options.beta is None else _f_name(options.beta): options.threshold}
    name = Path(name).as_posix()
    return Comparison.of(result, id=name, nodeid=name, threshold=limits, passed=passed)


def _result_file(comparison: Comparison) -> str:
    from pytest_jsonmatch.results.file import to_text
    from pytest_jsonmatch.results.model import Case, CaseRun, ResultSet
    from pytest_jsonmatch.results.origin import with_origin

    case = Case(comparison.id, (CaseRun(1, comparison.passed, (comparison,)),))
    return to_text(with_origin(ResultSet((case,), collected=1), Path.cwd()))


def _text(
    result: MatchResult, comparison: Comparison, options: Namespace, failures: list[ThresholdFailure]
) -> str:
    from pytest_jsonmatch.report.failure import MARGIN, failure_message
    from pytest_jsonmatch.report.figures import score_text
    from pytest_jsonmatch.report.terminal import summary_lines

    look = look_of(options)
    limits = {} if options.threshold is None else {"score": options.threshold}
    message = failure_message(
        result,
        threshold=limits if options.beta is None else {},
        failures=failures,
        verbosity=options.verbose,
        color=look.color,
        unicode=look.unicode,
        width=look.width + MARGIN,
    )
    if options.beta is not None and not failures:
        first, _, rest = message.partition("\n")
        figure = score_text(result.f_beta(options.beta), unicode=look.unicode)
        message = f"{first}\n{_f_name(options.beta)} {figure}\n{rest}"
    # (Whether it passes is said above; the table is of the fields.)
    table = summary_lines(
        [replace(comparison, passed=True, threshold={}, errors=(), warnings=())],
        mode="auto" if options.verbose < 1 else "all",
        width=look.width,
        unicode=look.unicode,
        hint="-v",
    )
    blocks = [_pairs(result, options, look), table if len(table) > 1 else []]
    return "\n".join([f"{message}\n", *(as_text(block, look) for block in blocks if block)])


def _pairs(result: MatchResult, options: Namespace, look: Look) -> list[StyledLine]:
    """Return who met whom in unordered arrays, and who else could have."""
    if result.score == 1.0 and options.verbose < 2:
        return []  # it takes numpy to say that all is well
    from pytest_jsonmatch.report.pairs import pair_lines

    return pair_lines(result.audit(), verbosity=options.verbose, unicode=look.unicode, width=look.width)


def _in_a_line(result: MatchResult, failures: list[ThresholdFailure]) -> str:
    from pytest_jsonmatch.report.failure import failure_message

    return failure_message(result, threshold={}, failures=failures).partition("\n")[0]


def _f_name(beta: float) -> str:
    return f"F{beta:g}"


def _beta(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return number
