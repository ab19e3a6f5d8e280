"""`jsonmatch study overlap`: gold records that occur in prompts or training text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import (
    files_by_name,
    iter_lines,
    read_content,
    records_of,
    refuse_repeated,
)
from pytest_jsonmatch.cli.rules import columns_of
from pytest_jsonmatch.cli.studies import finish
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.files import list_files
from pytest_jsonmatch.records.sources import LINES
from pytest_jsonmatch.report.blocks import Column, Report, Row, Table, TableCell, Text
from pytest_jsonmatch.study.overlap import OverlapStudy, measure_overlap
from pytest_jsonmatch.study.words import join_texts


def run(options: Namespace) -> int:
    """Run `jsonmatch study overlap`."""
    refuse_repeated([*options.gold, *options.texts])
    gold = {name: records_of(path) for name, path in files_by_name(options.gold).items()}
    study = measure_overlap(gold, _texts(options.texts), id=options.id, **columns_of(options))
    return finish(options, study, _sheet(study))


def _sheet(study: OverlapStudy) -> Report:
    """Return the report of the study."""
    texts = f"{count(study.texts, 'text')} of {count(study.words, 'word')}"
    about = f"overlap of {count(study.records, 'gold record')} and {texts}"
    rows = [
        Row(
            [
                f"{record.gold}: {record.id}",
                TableCell("whole", "bad") if record.is_whole else "part",
                f"{record.found} of {record.values}",
                record.text,
                "; ".join(record.fields),
            ]
        )
        for record in study.found
    ]
    complete = sum(record.is_whole for record in study.found)
    summary = "No distinctive value of any record occurs in the texts."
    if rows:
        found = f"{count(len(rows), 'record')} with distinctive values in a text, {complete} of them complete"
        summary = f"{found}: check whether they occur by chance."
    texts_of = (Column(title, "text") for title in ("text", "such as"))
    columns = Column("record", "name"), Column("there", "text"), Column("values"), *texts_of
    table = Table(columns, rows, noun="record")
    return Report("jsonmatch study overlap", about, [Text(summary), table])


# -- texts ------------------------------------------------------------------------------------------------


def _texts(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all texts, each with its name: a file, or a line of JSON Lines."""
    for given in paths:
        path = Path(given)
        names = [str(path / name) for name in list_files(path, None)] if path.is_dir() else [given]
        if not names:
            raise CommandError(f"{given} has no files")
        for name in names:
            content = read_content(name)
            if Path(name).suffix.lower() in LINES:
                lines = iter_lines(content.splitlines())
                yield from ((f"{name}:{number}", _as_text(line)) for number, line in lines)
            elif b"\0" not in content:  # a file with NUL bytes is binary, such as a picture
                yield name, _as_text(content)


def _as_text(content: bytes) -> str:
    """Return the strings and numbers of JSON; return any other text as it is."""
    try:
        return join_texts(parse_json(content))
    except JsonParseError:
        return content.decode("utf-8", "replace")
