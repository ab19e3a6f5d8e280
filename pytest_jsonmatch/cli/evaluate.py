"""`jsonmatch evaluate`: a corpus of answers against gold records."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import FINE, NOT_FINE, CommandError
from pytest_jsonmatch.cli.inputs import name_of
from pytest_jsonmatch.cli.output import as_text, make_style, write_files, write_output
from pytest_jsonmatch.cli.records import Sides, gold_records, open_sides
from pytest_jsonmatch.cli.rules import comparing, gates_of, was_asked
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.errors import JsonMatchWarning, find_closest
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.gates import check_gates
from pytest_jsonmatch.report.blocks import Text
from pytest_jsonmatch.report.build import build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.corpora import details_of_records
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.terminal import report_lines
from pytest_jsonmatch.results.origin import with_origin
from pytest_jsonmatch.results.run import RunResult

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.expressions import Gate
    from pytest_jsonmatch.results.run import RunResult

_SHOWN: Final = 3
"""At most this many errors are named."""
_TONES: Final = {"error": "bad", "not scored": "open", "note": "faint"}
_MOST_EMPTY: Final = 1_000
"""Of a longer corpus, the score of empty answers is that of this many records."""
_MOST_READ: Final = 10_000
"""Larger corpora are not read again to see whether answers are in another order."""


def run(options: Namespace) -> int:
    """Run `jsonmatch evaluate`."""
    gates = gates_of(options.gates)
    with (
        comparing(options) as rules,
        open_sides(options.actual, options.expected, options) as sides,
    ):
        _check_tags(sides, options)
        run = _evaluated(sides, options, gates, rules)
        floor = list(_floor(run, sides, rules, options))
    results = replace(run, judged=was_asked(rules["judge"]))
    if _is_kept(options):
        results = with_origin(results, Path.cwd())
    checks = check_gates([(gate, True) for gate in gates], results)
    alone = len(run.unmatched_actual) + len(sides.alone)
    report = build(
        results,
        f"{name_of(options.actual)} against {name_of(options.expected)}",
        gates=checks,
        by=tuple(dict(options.by)),
        notes=[*floor, *_notes(run, sides, None if options.verbose else _SHOWN)],
        also=[f"{count(alone, 'answer')} not scored"] if alone else [],
        page=None if options.html is None else PageExtra(details_of_records(run)),
        has_intervals=_is_kept(options),
    )
    write_files(options, results, report)
    style = make_style(options)
    write_output(as_text(report_lines(report, style), style))
    passed = all(check.passed for check in checks) if gates else not run.total_errors
    return FINE if passed else NOT_FINE


# -- scoring -----------------------------------------------------------------------------------------------


def _evaluated(sides: Sides, options: Namespace, gates: Sequence[Gate], rules: dict[str, Any]) -> RunResult:
    from pytest_jsonmatch.api import compare_corpus

    needs_all = any(gate.cases or gate.is_significant for gate in gates)
    validates = options.validate or any(gate.statistic == "valid_rate" for gate in gates)
    run = compare_corpus(
        sides.actual,
        sides.expected,
        keep="all" if needs_all else options.keep,
        cluster=options.cluster,
        tags=dict(options.by) or None,
        validate="report" if validates else "off",
        **rules,
    )
    if options.id_field is None:
        _warn_of_order(sides, run)
    elif run.unmatched_expected and isinstance(sides.expected, str):
        golds = gold_records(sides.expected)
        ids = Counter(record.get(options.id_field) for record in golds if type(record) is dict)
        if twins := [name for name in run.unmatched_expected if ids[name] > 1]:
            raise CommandError(f"{sides.expected}: the {options.id_field} {twins[0]!r} occurs twice")
    return run


def _floor(run: RunResult, sides: Sides, rules: Mapping[str, Any], options: Namespace) -> Iterator[Text]:
    """Yield what empty answers score: a high score of real ones may say little."""
    from pytest_jsonmatch.api import compare_corpus

    golds = sides.expected
    if isinstance(golds, Iterator):  # standard input can be read only once
        return
    read = gold_records(golds) if isinstance(golds, str) else _values(golds)
    some = [record for record in islice(read, _MOST_EMPTY) if type(record) in (dict, list)]
    name = options.id_field
    empty = [type(record)() if name is None else {name: record.get(name)} for record in some]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JsonMatchWarning)  # the run has given them already
        score = compare_corpus(empty, some, keep="none", **rules).mean_score
    if score or (options.verbose and score is not None):
        of = f" (first {count(_MOST_EMPTY, 'record')})" if run.total_records > _MOST_EMPTY else ""
        yield Text(f"an empty answer scores {score_text(score)}{of}")


def _check_tags(sides: Sides, options: Namespace) -> None:
    """Raise an error for a tag that no gold record has; standard input can be read only once."""
    golds = sides.expected
    if isinstance(golds, Iterator):
        return
    for _, path in options.by:
        paths: dict[str, None] = {}
        for record in gold_records(golds) if isinstance(golds, str) else _values(golds):
            if get_value(record, parse_path(path)) is not MISSING:
                break
            paths |= dict.fromkeys(_members(record))
        else:
            near = find_closest(path, paths)
            meant = "" if near is None else f"; did you mean {near!r}?"
            raise CommandError(f"--by: no gold record has a value at {path!r}{meant}")


def _values(golds: Any) -> Iterable[Any]:
    return golds.values() if isinstance(golds, Mapping) else golds


def _members(record: Any, above: str = "") -> Iterator[str]:
    """Yield the paths of members of objects, but not those in arrays."""
    for name, value in record.items() if type(record) is dict else ():
        yield f"{above}{name}"
        yield from _members(value, f"{above}{name}.")


def _warn_of_order(sides: Sides, run: RunResult) -> None:
    """Warn if a member shows that answers are in another order than the gold records."""
    fields = run.all_fields
    members = [path for path, field in fields.items() if field.mismatches and path.isidentifier()]
    both = sides.actual, sides.expected
    is_read_again = run.total_records <= _MOST_READ and all(isinstance(side, (str, list)) for side in both)
    if not members or not is_read_again:
        return
    with suppress(CommandError):  # answers may be text with JSON in it
        read = [list(gold_records(side) if isinstance(side, str) else side) for side in both]
        for member in sorted(members, key=lambda member: "id" not in member.lower()):
            values = [[record.get(member) for record in side if type(record) is dict] for side in read]
            answers, golds = ({value for value in side if type(value) in {str, int}} for side in values)
            is_moved = answers <= golds and len(answers) == len(values[0])
            is_moved |= 2 * fields[member].mismatches > fields[member].total
            if is_moved and 2 < len(golds) == len(values[1]) and 2 * len(golds & answers) > len(golds):
                told = f"{member} differs by position, but both sides have the same values"
                told += f": are they in another order? --id-field {member}"
                warnings.warn(told, JsonMatchWarning, stacklevel=2)
                break


# -- the result file ---------------------------------------------------------------------------------------


def _is_kept(options: Namespace) -> bool:
    """Tell whether the result is kept, to be read later or elsewhere."""
    return any(target is not None for target in (options.json, options.html, options.markdown))


def _notes(run: RunResult, sides: Sides, most: int | None) -> Iterator[Text]:
    """Yield errors, answers without a gold record, and warnings: the first of each kind, or all."""
    alone = (*sides.alone, *run.unmatched_actual)
    kinds = {
        "error": list(map(str, run.errors)),
        "not scored": [f"{name!r}, which has no gold record, or is a second answer" for name in alone],
        "note": [*sides.warnings, *map(str, run.warnings)],
    }
    for kind, texts in kinds.items():
        yield from (Text(f"{kind}: {text}", _TONES[kind]) for text in texts[:most])
        if more := texts[len(texts[:most]) :]:
            yield Text(f"… {count(len(more), f'more {kind}')} (-v)", "faint")
