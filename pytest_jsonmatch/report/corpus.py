"""A corpus for the terminal: its figures, its fields, its worst records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.fieldtable import left_out, sections_of
from pytest_jsonmatch.report.figures import answers_note
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.styled import BOLD, PLAIN, RED, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.report.terminal import field_table, summarize
from pytest_jsonmatch.results.model import Corpus, counts_extra

SHOWN_FIELDS: Final = 3
"""So many fields of a record are named."""


def corpus_head(corpus: Corpus, look: Look, *, also: Sequence[str] = ()) -> list[StyledLine]:
    """Return the lines of the figures over all records; `also` is what is counted beside the records.

    The first names the metric, and says what that leaves out.
    """
    metric = look.printable(corpus.metric)
    if not corpus.records:
        return [[(f"{metric}: no records", BOLD)]]
    means = corpus.means
    score = means.get("score")
    first: StyledLine = [
        (f"{metric}, {count(corpus.records, 'record')}: mean score ", BOLD),
        (look.score(score), score_markup(score)),
    ]
    if failed := sum(each.batch_errors for each in corpus.fields.values()):
        first.append((f", {count(failed, 'batch error')}", RED))
    first.append((left_out(1, 0 if counts_extra(corpus.signature) else 1), PLAIN))
    lines = [first]
    total = sections_of([corpus.as_case])[0].total
    micro = [1.0 if each is None else each for each in (total.precision, total.recall, total.f1)]
    for label, values in (
        ("mean of the records", [means.get(name) for name in FIGURES[1:]]),
        ("all leaves together", [None] * 3 if corpus.unscored == corpus.records else micro),
    ):
        precision, recall, f1 = map(look.score, values)
        lines.append([(f"  {label}: precision {precision}, recall {recall}, F1 {f1}", PLAIN)])
    parts = [f"{count(corpus.perfect)} of {count(corpus.records, 'record')} with score 1"]
    if corpus.unscored:
        parts.append(f"{count(corpus.unscored)} without figures (batch errors)")
    if missing := corpus.records - corpus.answered:
        parts.append(f"{count(missing)} without an answer")
    lines.append([(f"  {', '.join([*parts, *also])}", PLAIN)])
    if note := answers_note(corpus.answers):
        lines.append([(f"  {note}", PLAIN)])
    return lines


def corpus_table(corpus: Corpus, look: Look) -> list[StyledLine]:
    """Return the table of the fields over all records; nothing where each is 1."""
    if not corpus.records:
        return []
    summary = summarize([corpus.as_case])
    if summary.is_perfect and look.mode == "auto":
        return []
    notes = [line for note in summary.notes for line in look.folded(note, 2, YELLOW)]
    return joined([field_table(summary.sections[0], look), notes])


def worst_records(records: Sequence[tuple[str, float, str]], look: Look) -> list[StyledLine]:
    """Return a line for each record below 1: of those given name, score, and what is to be said of it."""
    rows: list[StyledLine] = [
        [
            (look.score(score), score_markup(score)),
            (look.clip(name, look.width // 2), PLAIN),
            (told, PLAIN),
        ]
        for name, score, told in records
        if score < 1.0
    ]
    return [[("the worst records:", BOLD)], *look.rows(rows, cut=None)] if rows else []


def some_of(paths: Sequence[str], number: int) -> str:
    """Return the first of so many fields by name, and how many others there are.

    >>> some_of(["a", "b", "c"], 5)
    'a, b, c and 2 more'
    """
    named = paths[:SHOWN_FIELDS]
    others = number - len(named)
    return ", ".join(named) + (f" and {count(others)} more" if others else "")
