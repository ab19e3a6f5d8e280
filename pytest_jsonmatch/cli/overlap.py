"""`jsonmatch study overlap`: gold records that occur in prompts or training text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import lines_of, open_input
from pytest_jsonmatch.cli.records import names_in, open_golds
from pytest_jsonmatch.cli.studies import finish
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.report.sheets import Rows, Sentence, Sheet, SheetCell, SheetFigure, SheetFigures
from pytest_jsonmatch.study.overlap import OverlapStudy, measure_overlap
from pytest_jsonmatch.study.words import text_of

_PART: Final = 1 << 16
_NUL: Final = "\0"


def run(options: Namespace) -> int:
    """Run `jsonmatch study overlap`."""
    study = measure_overlap(open_golds(options.gold), _texts(options.texts), id_field=options.id_field)
    return finish(options, study, _sheet(study))


def _sheet(study: OverlapStudy) -> Sheet:
    """Return a sheet that shows the study to people."""
    texts = f"{count(study.texts, 'text')} of {count(study.words, 'word')}"
    about = f"overlap of {count(study.records, 'gold record')} and {texts}"
    whole = sum(each.is_whole for each in study.found)
    figures = [
        SheetFigure("whole", count(whole), "records that occur as a whole in one text"),
        SheetFigure("in part", count(len(study.found) - whole), "records with distinctive values in a text"),
    ]
    rows = [
        [
            f"{each.gold}: {each.id}",
            SheetCell("whole", "bad") if each.is_whole else "part",
            f"{each.found} of {each.values}",
            each.text,
            "; ".join(each.fields),
        ]
        for each in study.found
    ]
    columns = "record", "there", "values", "text", "such as"
    title = "Records that occur in the texts: look whether they are there by chance"
    table = Rows(columns, rows, title, "record", text={"there", "text", "such as"})
    nothing = Sentence("No distinctive value of any record occurs in the texts." if not rows else "", "good")
    return Sheet("jsonmatch study overlap", about, [SheetFigures(figures), nothing, table])


# -- texts ------------------------------------------------------------------------------------------------


def _texts(written: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all texts, part by part, each with its name: a file, or a line of JSON Lines."""
    for each in written:
        path = Path(each)
        if not path.is_dir():
            yield from _parts(each)
            continue
        names = names_in(path, None)
        if not names:
            raise CommandError(f"{each} has no files")
        for name in names:
            yield from _parts(str(path / name))


def _parts(name: str) -> Iterator[tuple[str, str]]:
    suffix = Path(name).suffix.lower()
    with open_input(name) as stream:
        if suffix in {".jsonl", ".ndjson"}:
            yield from ((f"{name}:{number}", _as_text(line)) for number, line in lines_of(stream))
        elif suffix == ".json":
            yield name, _as_text(stream.read())
        else:
            while lines := stream.readlines(_PART):
                text = b"".join(lines).decode("utf-8", "replace")
                if _NUL in text:
                    return  # not text: a picture, an archive
                yield name, text


def _as_text(content: bytes) -> str:
    """Return the strings and numbers of JSON; return any other text as it is."""
    try:
        return text_of(parse_json(content))
    except JsonParseError:
        return content.decode("utf-8", "replace")
