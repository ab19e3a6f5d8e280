"""A corpus for the terminal: its figures, its fields, its worst records."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip, display_width, pad, printable
from pytest_jsonmatch.report.figures import count, fixed_figure, score_text
from pytest_jsonmatch.report.runreport import whole_corpus
from pytest_jsonmatch.report.styled import BOLD, PLAIN, RED, score_markup
from pytest_jsonmatch.report.terminal import summary_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.model import Corpus

__all__ = ["SHOWN_FIELDS", "corpus_head", "corpus_table", "worst_records"]

SHOWN_FIELDS: Final = 3
"""So many fields of a record are named."""


def corpus_head(corpus: Corpus, *, also: Sequence[str] = (), unicode: bool = True) -> list[StyledLine]:
    """Return the lines of the figures over all records.

    Args:
        corpus: the figures.
        also: what else is to be counted beside the records.
        unicode: False keeps to ASCII.
    """
    metric = printable(corpus.metric, ascii_only=not unicode)
    if not corpus.records:
        return [[(f"{metric}: no records", BOLD)]]

    def text(score: float | None) -> str:
        return score_text(score, unicode=unicode)

    means = corpus.means
    lines: list[StyledLine] = [
        [
            (f"{metric}, {count(corpus.records, 'record')}: mean score ", BOLD),
            (text(means["score"]), score_markup(means["score"])),
        ]
    ]
    if failed := sum(each.batch_errors for each in corpus.fields.values()):
        lines[0].append((f", {count(failed, 'batch error')}", RED))
    columns = (
        ("mean of the records", (means["precision"], means["recall"], means["f1"])),
        ("all leaves together", _micro(corpus)),
    )
    for label, (precision, recall, f1) in columns:
        figures = f"precision {text(precision)}, recall {text(recall)}, F1 {text(f1)}"
        lines.append([(f"  {label}: {figures}", PLAIN)])
    parts = [f"{count(corpus.perfect)} of {count(corpus.records, 'record')} with score 1"]
    if missing := corpus.records - corpus.answered:
        parts.append(f"{count(missing)} without an answer")
    return [*lines, [(f"  {', '.join([*parts, *also])}", PLAIN)]]


def _micro(corpus: Corpus) -> tuple[float, float, float]:
    """Return precision, recall and F1 over all leaves; 0/0 is 1."""
    fields = corpus.fields.values()
    score = fsum(each.weighted_score for each in fields)
    expected = fsum(each.expected_weight for each in fields)
    actual = fsum(each.actual_weight for each in fields)
    pairs = ((score, actual), (score, expected), (2 * score, expected + actual))
    precision, recall, f1 = (min(part / whole, 1.0) if whole else 1.0 for part, whole in pairs)
    return precision, recall, f1


def corpus_table(
    corpus: Corpus, *, mode: str = "auto", width: int = 80, unicode: bool = True, hint: str
) -> list[StyledLine]:
    """Return the table of the fields over all records; nothing where each is 1.

    Args:
        corpus: the figures.
        mode: "all" shows every field, "auto" the worst.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
        hint: the option that shows what is left out here.
    """
    if not corpus.records:
        return []
    lines = summary_lines([whole_corpus(corpus)], mode=mode, width=width, unicode=unicode, hint=hint)
    return lines if len(lines) > 1 else []


def worst_records(
    records: Sequence[tuple[str, float, str]], *, width: int = 80, unicode: bool = True
) -> Iterator[StyledLine]:
    """Yield a line for each record below 1.

    Args:
        records: name, score, and what is to be said of each, the worst first.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
    """
    worst = [record for record in records if record[1] < 1.0]
    if not worst:
        return
    yield [("the worst records:", BOLD)]
    names = [clip(name, width // 2, unicode=unicode) for name, _, _ in worst]
    column = max(map(display_width, names))
    for (_, score, told), name in zip(worst, names, strict=True):
        figure = fixed_figure(score, unicode=unicode)
        line = f"  {pad(name, column)}  {told}"
        yield [
            (f"  {figure}", score_markup(score)),
            (clip(line, width - 6, unicode=unicode).rstrip(), PLAIN),
        ]
