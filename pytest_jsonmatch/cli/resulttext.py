"""A result file as text: what pytest's summary, or `jsonmatch evaluate`, showed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.rendering import headlines_of, verdict_of
from pytest_jsonmatch.results.model import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.cli.look import Look
    from pytest_jsonmatch.cli.rendering import Shown
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.results.model import Case, Corpus, ResultSet

__all__ = ["result_lines"]

_HINT: Final = "-v"
_WORST: Final = 10
"""So many records of a corpus are named, and so many cases that compared nothing."""
_UNSCORED: Final = "failed before comparing"


def result_lines(shown: Shown, look: Look, *, verbose: int = 0, pivot: str | None = None) -> list[StyledLine]:
    """Return the lines of a run that was kept.

    Args:
        shown: the run, and what it is compared with and judged by.
        look: how they may look.
        verbose: above 0 everything is shown, however long.
        pivot: the fixture whose parameters are the columns of a table; None for the first that has several.
    """
    mode = "all" if verbose else "auto"
    results = shown.results
    blocks = [list(_origin(shown, look, verbose=verbose))]
    if results.corpus is not None:
        blocks += _corpus_blocks(results, results.corpus, look, verbose)
    else:
        blocks += _run_blocks(results, look, mode, pivot)
        blocks += _pair_blocks(results, look, verbose)
    blocks += _judged_blocks(shown, look, mode)
    lines: list[StyledLine] = []
    for block in filter(None, blocks):
        lines += [[], *block] if lines else block
    return lines


def _origin(shown: Shown, look: Look, *, verbose: int) -> Iterator[StyledLine]:
    from pytest_jsonmatch.report.escape import clip, fold
    from pytest_jsonmatch.report.runreport import extent
    from pytest_jsonmatch.report.styled import BOLD, DIM

    results = shown.results
    parts = [extent(results), results.created.replace("T", " ")]
    if results.commit:
        changed = " with changes" if results.commit.endswith("+") else ""
        parts.append(f"commit {results.commit.rstrip('+')[:10]}{changed}")
    text = f"{shown.title}: {', '.join(filter(None, parts))}"
    yield [(clip(text, look.width, unicode=look.unicode), BOLD)]
    if verbose and results.versions:
        versions = ", ".join(f"{name} {text}" for name, text in results.versions.items())
        for line in fold(versions, look.width, 4, unicode=look.unicode):
            yield [(line, DIM)]


# -- a run of tests ----------------------------------------------------------------------------------------


def _run_blocks(results: ResultSet, look: Look, mode: str, pivot: str | None) -> Iterator[list[StyledLine]]:
    from pytest_jsonmatch.gate.repeats import repeats
    from pytest_jsonmatch.report.styled import YELLOW
    from pytest_jsonmatch.report.terminal import summary_lines

    comparisons = list(results.comparisons)
    if not comparisons:
        yield [[("nothing was compared", YELLOW)]]
    yield summary_lines(
        comparisons,
        mode=mode,
        width=look.width,
        unicode=look.unicode,
        repeats=repeats(results.cases),
        pivot=pivot,
        hint=_HINT,
        pivot_option="--pivot",
    )
    yield list(_unscored(results, look, mode))


def _unscored(results: ResultSet, look: Look, mode: str) -> Iterator[StyledLine]:
    """Yield the runs that failed before they compared anything: in no table, and 0 in every mean."""
    from pytest_jsonmatch.report.escape import clip, mark
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN

    found = [
        (_run_name(case, run.number), run.error)
        for case in results.cases
        for run in case.runs
        if not run.comparisons
    ]
    if not found:
        return
    yield [(f"not counted above: {count(len(found))} {_UNSCORED}", BOLD)]
    shown = found if mode == "all" else found[:_WORST]
    for name, error in shown:
        text = f"  {name}" if error in {"", _UNSCORED} else f"  {name}: {error}"
        yield [(clip(text, look.width, unicode=look.unicode), PLAIN)]
    if hidden := len(found) - len(shown):
        yield [(f"  {mark(look.unicode)} {count(hidden)} more ({_HINT})", DIM)]


def _pair_blocks(results: ResultSet, look: Look, verbose: int) -> Iterator[list[StyledLine]]:
    """Yield the pairs of unordered arrays: of a single comparison, of several if details are asked for."""
    from pytest_jsonmatch.report.pairs import pair_blocks, pair_lines

    comparisons = list(results.comparisons)
    if len(comparisons) == 1:
        audits = comparisons[0].audit
        yield list(pair_lines(audits, verbosity=verbose, unicode=look.unicode, width=look.width))
    elif verbose:
        audited = ((each.id, each.audit) for each in comparisons)
        yield from pair_blocks(audited, verbosity=verbose, unicode=look.unicode, width=look.width)


def _run_name(case: Case, number: int) -> str:
    return case.id if case.of == 1 else f"{case.id} (run {number} of {case.of})"


# -- a corpus ----------------------------------------------------------------------------------------------


def _corpus_blocks(
    results: ResultSet, corpus: Corpus, look: Look, verbose: int
) -> Iterator[list[StyledLine]]:
    from pytest_jsonmatch.report.corpus import corpus_head, corpus_table, worst_records
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.pairs import pair_blocks
    from pytest_jsonmatch.report.styled import YELLOW

    mode = "all" if verbose else "auto"
    yield corpus_head(corpus, unicode=look.unicode)
    yield corpus_table(corpus, mode=mode, width=look.width, unicode=look.unicode, hint=_HINT)
    worst = sorted(results.cases, key=lambda case: case.figure("score"))
    records = [
        (case.id, case.figure("score"), _told(case)) for case in worst[: None if mode == "all" else _WORST]
    ]
    yield list(worst_records(records, width=look.width, unicode=look.unicode))
    if verbose:
        shown = worst[: None if verbose > 1 else _WORST]
        audited = ((case.id, each.audit) for case in shown for run in case.runs for each in run.comparisons)
        yield from pair_blocks(audited, verbosity=verbose, unicode=look.unicode, width=look.width)
    if corpus.errors:
        yield [[(f"{count(corpus.errors, 'error')}, which `jsonmatch evaluate` has named", YELLOW)]]


def _told(case: Case) -> str:
    """Return the worst fields of a record by name, or why it has no score."""
    from pytest_jsonmatch.report.corpus import SHOWN_FIELDS
    from pytest_jsonmatch.results.model import merged_fields

    errors = [error for run in case.runs for each in run.comparisons for error in each.errors]
    if errors:
        return errors[0]
    scores = ((path, figures.mean_score) for path, figures in merged_fields([case]).items())
    wrong = sorted((score, path) for path, score in scores if score is not None and score < 1)
    named = [path for _, path in wrong[:SHOWN_FIELDS]]
    return ", ".join(named) + (f" and {len(wrong) - len(named):,} more" if len(wrong) > len(named) else "")


# -- what it is judged by ----------------------------------------------------------------------------------


def _judged_blocks(shown: Shown, look: Look, mode: str) -> Iterator[list[StyledLine]]:
    from pytest_jsonmatch.report.checks import check_lines, gate_lines
    from pytest_jsonmatch.report.runreport import extent

    found = headlines_of(shown.results)
    if found:
        from pytest_jsonmatch.gate.intervals import SEED
        from pytest_jsonmatch.report.intervals import interval_lines

        yield interval_lines(found, title="figures", seed=SEED, width=look.width, unicode=look.unicode)
    elif shown.results.cases and shown.results.corpus is None:
        yield [_figures(shown.results, look)]
    if shown.diff is not None:
        from pytest_jsonmatch.report.baseline import baseline_lines

        yield baseline_lines(
            shown.diff,
            name=shown.baseline,
            verdict=shown.proven,
            mode=mode,
            width=look.width,
            unicode=look.unicode,
            hint=_HINT,
        )
    verdict = verdict_of(shown)
    yield gate_lines(verdict.gates, on=extent(shown.results), unicode=look.unicode)
    yield check_lines(verdict.unsettled_cases, unicode=look.unicode)


def _figures(results: ResultSet, look: Look) -> StyledLine:
    """Return the figures of a single case, of which there are no intervals."""
    from pytest_jsonmatch.report.figures import score_text
    from pytest_jsonmatch.report.styled import PLAIN, score_markup

    line: StyledLine = []
    for name in FIGURES:
        value = results.mean(name)
        title = "F1" if name == "f1" else str(name)
        line.append((f"{', ' if line else ''}{title} ", PLAIN))
        line.append((score_text(value, unicode=look.unicode), score_markup(value)))
    return line
