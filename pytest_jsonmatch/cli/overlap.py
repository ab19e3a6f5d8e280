"""`jsonmatch study overlap`: gold records that occur in prompts or training text, and near duplicates."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import lines_of, open_input
from pytest_jsonmatch.cli.records import names_in, open_golds
from pytest_jsonmatch.cli.rules import comparing
from pytest_jsonmatch.cli.studies import finish, study_gates
from pytest_jsonmatch.engine.value.errors import JsonParseError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.report.figures import score_text
from pytest_jsonmatch.report.sheets import Block, Figure, Figures, Rows, Said, Sheet

if TYPE_CHECKING:
    from pytest_jsonmatch.study.overlap import OverlapStudy

_PART: Final = 1 << 16
_NUL: Final = "\0"


def run(options: Namespace) -> int:
    """Run `jsonmatch study overlap`."""
    from pytest_jsonmatch.study.overlap import FIGURES, measure_overlap

    gates = study_gates(options, FIGURES)
    with comparing(options) as rules:
        study = measure_overlap(open_golds(options.gold), _texts(options.texts), near=options.near, **rules)
    return finish(options, study, _sheet(study), gates, on=count(study.records, "gold record"))


def _sheet(found: OverlapStudy) -> Sheet:
    """Return a sheet that shows the study to people."""
    about = f"overlap of {count(found.records, 'gold record')}"
    figures = [
        Figure("near duplicates", count(found.duplicates), "records like an earlier one"),
        Figure("leaks", count(found.leaks), "records like one of another split"),
    ]
    blocks: list[Block] = []
    if found.texts:
        about += f" and {count(found.texts, 'text')} of {count(found.words, 'word')}"
        share = f"{score_text(found.contaminated / found.records)} of the records"
        figures.insert(0, Figure("contaminated", count(found.contaminated), share))
        blocks.append(_contaminated(found))
    if found.pairs:
        rows = [
            [f"{each.split}: {each.id}", f"{each.other_split}: {each.other_id}", score_text(each.score)]
            for each in found.pairs
        ]
        title = "Gold records that are nearly the same"
        blocks.append(Rows(["record", "like", "score"], rows, title, "pair", text={"like"}))
    if found.is_cut:
        blocks.append(Said("Too many candidates for pairs: not all were compared.", "open"))
    return Sheet("jsonmatch study overlap", about, [Figures(figures), *blocks])


def _contaminated(found: OverlapStudy) -> Block:
    if not found.worst:
        return Said("No record occurs in the texts beyond what chance explains.")
    columns = "record", "rare values found", "in one text", "by chance", "text", "such as"
    rows = [
        [
            f"{each.split}: {each.id}",
            f"{each.found} of {each.values}",
            "all" if each.is_whole else count(each.in_text),
            f"{each.p:.1g}",
            each.text,
            "; ".join(each.fields),
        ]
        for each in found.worst
    ]
    return Rows(columns, rows, "Records that occur in the texts", "record", text={"text", "such as"})


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
    from pytest_jsonmatch.study.words import text_of

    try:
        return text_of(parse_json(content))
    except JsonParseError:
        return content.decode("utf-8", "replace")
