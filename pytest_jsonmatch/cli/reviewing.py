"""The review of an audit: a person decides about each place, and accepted values go into the gold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import lines_of, value_of
from pytest_jsonmatch.cli.output import as_text, look_of
from pytest_jsonmatch.engine.value.convert import MISSING, value_at, with_value
from pytest_jsonmatch.golden.files import is_json_file, is_lines_file
from pytest_jsonmatch.golden.review import review_on_terminal, update_lines
from pytest_jsonmatch.golden.update import Request, digest_of, expected_in, plan_updates, write
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.strict import parse_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Iterable, Iterator

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Trail
    from pytest_jsonmatch.study.suspects import Suspect

_NO_ACCEPT: Final = (
    "gold records have no `accept`: name a file of options with --config, for its `accept` to take the value"
)


def check_review(gold: Path) -> None:
    """Refuse an impossible review before any work is done.

    Raises:
        CommandError: there is no terminal, or GOLD can't be written.
    """
    if not gold.is_dir() and not (is_lines_file(str(gold)) or is_json_file(str(gold))):
        raise CommandError(
            "--review writes into GOLD: a .jsonl, .ndjson or .json file, or a folder of .json files"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError("--review asks on the terminal, but there is none; leave it out to see the list")


def review_suspects(suspects: Iterable[Suspect], options: Namespace) -> None:
    """Ask about the suspects, those of a record together, and write the accepted values."""
    rules = None
    if options.config is not None:
        path = Path(options.config)
        rules = _request(path, "what is accepted as well", ("expected",), None, digest_of(path.read_bytes()))
    requests = list(_requests(suspects, Path(options.gold)))
    updates = plan_updates(review_on_terminal(requests, rules, _NO_ACCEPT))
    for each in updates:
        write(each)
    look = look_of(options)
    sys.stdout.write(as_text(update_lines(updates, look, dry_run=False), look))


def _requests(suspects: Iterable[Suspect], gold: Path) -> Iterator[Request]:
    """Yield a request for each record, the most suspicious first, to write what the systems say."""
    by_record: dict[int, list[Suspect]] = {}
    for suspect in suspects:
        places = by_record.setdefault(suspect.position, [])
        # Only the most suspicious value for a place is offered.
        if suspect.kind == "add" or all(each.trail != suspect.trail for each in places):
            places.append(suspect)
    records = {} if gold.is_dir() else _records(gold, by_record)
    digest = "" if gold.is_dir() else digest_of(gold.read_bytes())
    for position, places in by_record.items():
        told = "; ".join(f"{each.path}: {', '.join(each.systems)}" for each in places)
        record = f"{places[0].record} ({told})"
        if gold.is_dir():
            path = gold / places[0].record
            data = path.read_bytes()
            yield _request(path, record, (), _corrected(expected_in(data, path, ()), places), digest_of(data))
        else:
            trail, value = records[position]
            yield _request(gold, record, trail, _corrected(value, places), digest)


def _records(gold: Path, positions: Collection[int]) -> dict[int, tuple[Trail, JsonValue]]:
    """Return records of a file with their places in it; in JSON Lines, that is the line, from 0."""
    if not is_lines_file(str(gold)):
        listed = value_of(str(gold))
        return {at: ((at,), listed[at]) for at in positions}
    with gold.open("rb") as stream:
        lines = ((at, *line) for at, line in enumerate(lines_of(stream)) if at in positions)
        return {at: ((number - 1,), parse_json(line)) for at, number, line in lines}


def _corrected(value: JsonValue, places: Iterable[Suspect]) -> JsonValue:
    """Return a record with the systems' values at the given places."""
    # From the back: adding or removing an element then moves no other place.
    for place in sorted(places, key=lambda each: [(type(step) is str, step) for step in each.trail])[::-1]:
        trail = place.trail
        while place.kind == "add" and value_at(value, trail) is not MISSING:
            trail = (*trail[:-1], int(trail[-1]) + 1)  # several elements are added to one array
        value = with_value(value, trail, place.wanted)
    return value


def _request(path: Path, record: str, trail: Trail, value: JsonValue, digest: str) -> Request:
    return Request("write", str(path), str(path), record, trail, digest, ascii_json(value))
