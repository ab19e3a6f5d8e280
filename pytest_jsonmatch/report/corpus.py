"""A corpus for the terminal: its figures, its fields, its worst records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_jsonmatch.engine.result.figures import together
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.fieldtable import left_out
from pytest_jsonmatch.report.figures import answers_note
from pytest_jsonmatch.report.look import Look, joined, table_lines
from pytest_jsonmatch.report.pairs import pair_blocks
from pytest_jsonmatch.report.styled import BOLD, PLAIN, RED, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.report.terminal import field_table, summarize
from pytest_jsonmatch.report.view import worst_fields
from pytest_jsonmatch.results.comparison import Case, comparisons_of
from pytest_jsonmatch.results.model import Corpus, ResultSet, counts_extra
from pytest_jsonmatch.results.tags import listed

_WORST: Final = 10
"""At most this many records are named."""
_FIELDS: Final = 3
"""At most this many fields of each are named."""


def _head(corpus: Corpus, look: Look, also: Sequence[str]) -> list[StyledLine]:
    """Return the lines of the figures over all records; `also` has further counts.

    The first line names the metric, and says what it leaves out.
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
    total = together(corpus.fields.values())
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


def _table(corpus: Corpus, look: Look) -> list[StyledLine]:
    """Return the table of the fields over all records; in mode "auto", nothing if all are perfect."""
    if not corpus.records:
        return []
    summary = summarize([corpus.as_case])
    if summary.is_perfect and look.mode == "auto":
        return []
    notes = [line for note in summary.notes for line in look.folded(note, 2, YELLOW)]
    return joined([field_table(summary.sections[0], look), notes])


def corpus_blocks(
    results: ResultSet, look: Look, *, verbose: int, also: Sequence[str] = ()
) -> Iterator[list[StyledLine]]:
    """Yield the figures of a corpus, its fields and its worst records, with their pairs if `verbose`.

    `also` has further counts.
    """
    corpus = results.corpus
    if corpus is None:
        return
    yield _head(corpus, look, also)
    yield _table(corpus, look)
    worst = sorted(results.scored, key=lambda case: case.figure("score"))
    rows: list[StyledLine] = [
        [
            (look.score(score), score_markup(score)),
            (look.clip(case.id, look.width // 2), PLAIN),
            (_complaint(case), PLAIN),
        ]
        for case in worst[: look.most(_WORST)]
        if (score := case.figure("score")) < 1.0
    ]
    table = table_lines(rows, look, texts={1: 1, 2: 1}, indent="  ")
    yield [[("the worst records:", BOLD)], *table] if table else []
    if verbose:
        shown = worst[: None if verbose > 1 else _WORST]
        audited = ((case.id, each.audit) for case in shown for run in case.runs for each in run.comparisons)
        yield from pair_blocks(audited, look, verbosity=verbose)


def _complaint(case: Case) -> str:
    """Return the worst fields of a record by name, or why it has no score."""
    errors = [error for each in comparisons_of([case]) for error in each.errors]
    return errors[0] if errors else listed([path for path, _ in worst_fields(case)], _FIELDS)
