"""`jsonmatch study audit`: gold values that are likely wrong, and errors that a suite does not detect."""

from __future__ import annotations

import sys
from argparse import Namespace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import STDIN, files_by_name, name_of, records_of, refuse_repeated
from pytest_jsonmatch.cli.output import as_text, make_style
from pytest_jsonmatch.cli.rules import columns_of, comparing
from pytest_jsonmatch.cli.studies import finish, notes_table, study_gates
from pytest_jsonmatch.cli.suite import audit_suite
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, replace_value
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.golden.review import review_on_terminal, update_lines
from pytest_jsonmatch.golden.update import Request, digest_of, plan_updates, read_value_at, write
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.datafiles import is_json_file, is_lines_file
from pytest_jsonmatch.records.columns import split_column
from pytest_jsonmatch.report.blocks import Column, Report, Row, Table, TableCell, Text
from pytest_jsonmatch.study.label_errors import GoldAudit, audit_gold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.label_errors import Suspect
    from pytest_jsonmatch.study.mutate import SuiteAudit

_WIDTH: Final = 300
_CONTEXT: Final = 6
_NO_ALTERNATIVES: Final = "gold records have no `accept`: use that of the file of --config"


def run(options: Namespace) -> int:
    """Run `jsonmatch study audit`."""
    if options.mutate is not None:
        return _mutate(options)
    if options.gold is None:
        raise CommandError("nothing to audit: give ANSWERS of several systems and GOLD, or --mutate PATH")
    if options.gold == STDIN:
        raise CommandError("GOLD is read once for each system: give a file or a folder, not standard input")
    if not options.answers:
        raise CommandError(f"give the answers of at least two systems before the gold records {options.gold}")
    gates = study_gates(options, {"suspects", "suspect_records"})
    columns = columns_of(options)
    if options.review:
        _check_review(Path(options.gold), columns["expected"])
    audit = _run_audit(options, columns)
    about = (
        f"{name_of(options.gold)}: {count(audit.records, 'record')}, answers of {len(audit.systems)} systems"
    )
    code = finish(
        options,
        audit,
        _gold_sheet(audit, about, shows_all=bool(options.verbose)),
        gates,
        on=count(audit.records, "record"),
    )
    if options.review:
        _review_suspects(audit.found, Path(options.gold), columns["expected"], options)
    return code


def _mutate(options: Namespace) -> int:
    if options.gold is not None:
        raise CommandError("--mutate breaks the answers that cases expect: leave out ANSWERS and GOLD")
    gates = study_gates(options, {"noticed"})
    audit = audit_suite(options.mutate)
    about = f"{', '.join(options.mutate)}: {count(audit.cases, 'golden case')}"
    return finish(options, audit, _suite_sheet(audit, about), gates, on=count(audit.mutated, "mutation"))


def _run_audit(options: Namespace, columns: Mapping[str, Any]) -> GoldAudit:
    refuse_repeated([*options.answers, options.gold])
    with comparing(options) as rules:
        answers = {name: records_of(path) for name, path in files_by_name(options.answers).items()}
        return audit_gold(answers, records_of(options.gold), **columns, **rules)


# -- for people --------------------------------------------------------------------------------------------


def _gold_sheet(audit: GoldAudit, about: str, *, shows_all: bool) -> Report:
    """Return the report of an audit of gold records: a line for each group of places, or for each place."""
    groups = [[suspect] for suspect in audit.found] if shows_all else audit.groups
    has_estimate = audit.expected is not None
    columns = [Column("record", "name"), *(Column(title, "text") for title in ("place", "gold", "answers"))]
    columns += [Column("votes"), *([Column("wrong gold")] if has_estimate else []), Column("who", "text", 1)]
    rows = []
    for first, *others in groups:
        also = f" and {count(len(others))} more" if others else ""
        place = f"{first.field}: {first.change}" if others else first.path
        chance = "enum" if first.is_outside_schema else f"{min(first.probability * 100, 99):.0f} %"
        cells = (
            TableCell(f"{first.record}{also}", "strong"),
            place,
            *_value_texts(first),
            f"{len(first.systems)} to {len(first.backing)}",
            *([chance] if has_estimate else []),
            ", ".join(first.systems),
        )
        rows.append(Row(cells))
    number = count(len(audit.found), "place")
    summary = f"{number} where systems agree against the gold, the strongest evidence first."
    if len(groups) < len(audit.found):
        summary += f" Places that differ in the same way are one line (-v: all), {count(len(groups))} in all."
    if audit.expected is None:
        summary += (
            " Two systems do not show how often they make the same mistake: add a third to estimate how many "
            "of these gold values are wrong."
        )
    else:
        summary += (
            f" Expect about {audit.expected:.0f} of these gold values to be wrong, assuming that one gold "
            "value in fifty is wrong and that no mistake is shared by all systems."
        )
    if any(suspect.is_outside_schema for suspect in audit.found):
        summary += " The schema's enum does not have the gold values of the first ones."
    table = Table(columns, rows, noun="place")
    return Report("jsonmatch study audit", about, [Text(summary), table, notes_table(audit.notes)])


def _value_texts(suspect: Suspect) -> tuple[str | TableCell, str | TableCell]:
    """Return both values as text; long ones start shortly before the first difference."""
    nothing = TableCell("(nothing)", "faint")
    gold, answer = render(suspect.gold, _WIDTH), render(suspect.answer, _WIDTH)
    if suspect.kind != "change":
        return (nothing, answer) if suspect.kind == "add" else (gold, nothing)
    prefix = takewhile(lambda pair: pair[0] == pair[1], zip(gold, answer))
    begin = sum(1 for _ in prefix) - _CONTEXT
    return (gold, answer) if begin <= _CONTEXT else (f"…{gold[begin:]}", f"…{answer[begin:]}")


def _suite_sheet(audit: SuiteAudit, about: str) -> Report:
    """Return the report of an audit of a suite."""
    columns = [Column("field", "name"), Column("broken by", "text"), Column("pass")]
    columns += [Column("let pass by", "text"), Column("example", "text", 1), Column("in", "text", 2)]
    rows = [
        Row(
            [
                TableCell(hole.field, "strong"),
                hole.kind,
                f"{hole.mutated - hole.noticed} of {hole.mutated}",
                " · ".join(hole.rules),
                hole.example,
                hole.case,
            ]
        )
        for hole in audit.holes
    ]
    summary = "Nothing could be broken."
    if audit.noticed is not None:
        summary = (
            f"{count(audit.mutated, 'mutation')} of right answers: {audit.noticed:.1%} of them are noticed."
        )
    table = Table(columns, rows, "What passes", "hole")
    notes = [Text(f"Left out: {'; '.join(audit.notes)}.", "faint")] if audit.notes else []
    return Report("jsonmatch study audit --mutate", about, [Text(summary), table, *notes])


# -- the review: accepted values go into the gold -----------------------------------------------------------


def _check_review(gold: Path, expected: object) -> None:
    """Check, before any work is done, that a review is possible.

    Raises:
        CommandError: there is no terminal, or GOLD can't be written.
    """
    if not gold.is_dir() and not (is_lines_file(str(gold)) or is_json_file(str(gold))):
        raise CommandError(
            "--review writes into GOLD: a .jsonl, .ndjson or .json file, or a folder of .json files"
        )
    if expected is not None and not isinstance(expected, str):
        raise CommandError("--review can't write into several columns: name one with --expected, or none")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("--review asks on the terminal, but there is none; leave it out to see the list")


def _review_suspects(suspects: Iterable[Suspect], gold: Path, column: str | None, options: Namespace) -> None:
    """Ask about the suspects, those of a record together, and write the accepted values."""
    requests = list(_requests(suspects, gold, column))
    updates = plan_updates(review_on_terminal(requests, _NO_ALTERNATIVES))
    for update in updates:
        write(update)
    style = make_style(options)
    sys.stdout.write(as_text(update_lines(updates, style, dry_run=False), style))


def _requests(suspects: Iterable[Suspect], gold: Path, column: str | None) -> Iterator[Request]:
    """Yield a request for each record, the most suspicious first, to write the values of the systems."""
    by_record: dict[int, list[Suspect]] = {}
    for suspect in suspects:
        places = by_record.setdefault(suspect.position, [])
        # Only the most suspicious value for a place is offered.
        if suspect.kind == "add" or all(other.steps != suspect.steps for other in places):
            places.append(suspect)
    is_lines = is_lines_file(str(gold))
    # Blank lines are not records.
    lines = (
        [index for index, line in enumerate(gold.read_bytes().split(b"\n")) if line.strip()]
        if is_lines
        else []
    )
    for position, places in by_record.items():
        summary = "; ".join(f"{place.path}: {', '.join(place.systems)}" for place in places)
        path = gold / places[0].record if gold.is_dir() else gold
        steps = () if gold.is_dir() else (lines[position] if is_lines else position,)
        data = path.read_bytes()
        value = _corrected(read_value_at(data, path, steps), places, column)
        name, text = f"{places[0].record} ({summary})", ascii_json(value)
        yield Request("write", str(path), str(path), name, steps, digest_of(data), text)


def _corrected(value: JsonValue, places: Iterable[Suspect], column: str | None) -> JsonValue:
    """Return a record with the values of the systems at the given places of a column, or of the record."""
    above: tuple[Any, ...] = ()
    if column is not None:
        above = (column,) if type(value) is dict and column in value else split_column(column)
    # From the last to the first: then adding or removing an element moves no other place.
    for place in sorted(places, key=lambda place: [(type(step) is str, step) for step in place.steps])[::-1]:
        steps = (*above, *place.steps)
        while place.kind == "add" and get_value(value, steps) is not MISSING:
            steps = (*steps[:-1], int(steps[-1]) + 1)  # several elements are added to one array
        value = replace_value(value, steps, place.replacement)
    return value
