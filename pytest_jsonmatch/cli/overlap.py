"""`jsonmatch overlap`: gold records that stand in prompts or training text, and near duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import lines_of, open_input
from pytest_jsonmatch.cli.options import RULES, add_options, share
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.cli.records import open_side, short_names
from pytest_jsonmatch.cli.rules import rules_of
from pytest_jsonmatch.cli.studies import add_study_options, finish, study_gates

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

EXAMPLES: Final = """\
jsonmatch overlap gold.jsonl --with prompts/ train.jsonl
jsonmatch overlap test.jsonl train.jsonl --id-field id --gate 'leaks == 0'
jsonmatch overlap gold/ --with prompts/ --gate 'contaminated == 0' --html overlap.html
"""
_PART: Final = 1 << 16
_NUL: Final = "\0"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `jsonmatch overlap`."""
    parser.add_argument(
        "gold",
        metavar="GOLD",
        nargs="+",
        help="a split of the gold: JSON Lines (.jsonl), a JSON array (.json), or a folder of JSON files",
    )
    parser.add_argument(
        "--with",
        dest="texts",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help="prompts, examples, training text: files, and folders with all that is in them",
    )
    add_options(parser, *RULES, id_field="the member that is a record's id; without it its place is")
    parser.add_argument(
        "--near",
        metavar="SCORE",
        type=share,
        default=0.9,
        help="records are near duplicates if one as the answer to the other scores as much (default: 0.9)",
    )
    parser.add_argument(
        "--confidence",
        metavar="SHARE",
        type=share,
        default=0.95,
        help="where nothing is contaminated, this share of golds has no record named (default: 0.95)",
    )
    add_study_options(parser)
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    from pytest_jsonmatch.study.overlap import FIGURES, measure_overlap
    from pytest_jsonmatch.study.overlapsheet import overlap_sheet

    gates = study_gates(options, FIGURES)
    names = short_names(options.gold)
    with plugins(options):
        found = measure_overlap(
            {name: open_side(written) for name, written in zip(names, options.gold, strict=True)},
            _texts(options.texts),
            id_field=options.id_field,
            near=options.near,
            confidence=options.confidence,
            metric=options.metric,
            **rules_of(options),
        )
    return finish(options, found, overlap_sheet(found), gates, on=f"{found.records:,} gold records")


def _texts(written: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all texts, part by part, each with its name: a file, or a line of JSON Lines."""
    for each in written:
        path = Path(each)
        if not path.is_dir():
            yield from _parts(each)
            continue
        files = sorted(file for file in path.rglob("*") if file.is_file())
        shown = [
            file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)
        ]
        if not shown:
            raise CommandError(f"{each} has no files")
        for file in shown:
            yield from _parts(str(file))


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
                    return  # no text: a picture, an archive
                yield name, text


def _as_text(content: bytes) -> str:
    """Return the strings and numbers of JSON; what is none, as it is."""
    from pytest_jsonmatch.engine.value.errors import JsonParseError
    from pytest_jsonmatch.reading.strict import parse_json
    from pytest_jsonmatch.study.words import text_of

    try:
        return text_of(parse_json(content))
    except JsonParseError:
        return content.decode("utf-8", "replace")
