"""A result file as text: what pytest's summary, or `jsonmatch evaluate`, showed of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import headlines
from pytest_jsonmatch.report.baseline import baseline_lines
from pytest_jsonmatch.report.checks import check_lines, doubt_blocks, gate_lines, headline_blocks
from pytest_jsonmatch.report.corpus import corpus_blocks
from pytest_jsonmatch.report.look import Look, joined
from pytest_jsonmatch.report.pairs import pair_blocks, pair_lines
from pytest_jsonmatch.report.pivot import tag_blocks
from pytest_jsonmatch.report.styled import DIM, PLAIN, YELLOW, StyledLine, score_markup
from pytest_jsonmatch.report.terminal import summary_lines
from pytest_jsonmatch.report.view import RunView, commit_text, extent, faults_of, left_out_note
from pytest_jsonmatch.results.model import ResultSet

_WORST: Final = 10
"""At most this many cases that compared nothing are named."""
_UNSCORED: Final = "failed before comparing"


def result_lines(
    view: RunView, look: Look, *, verbose: int = 0, pivot: str | None = None
) -> list[StyledLine]:
    """Return the lines of a saved run.

    Args:
        view: the run, what it is compared with, and its gates.
        look: how they may look.
        verbose: above 0 everything is shown, however long.
        pivot: the fixture whose parameters are the columns of a table; None for the first that has several.
    """
    results = view.results
    blocks = [list(_origin(view, look))]
    if results.corpus is not None:
        blocks += corpus_blocks(results, look, verbose=verbose)
        if errors := results.corpus.errors:
            blocks.append([[(f"{count(errors, 'error')}, listed by `jsonmatch evaluate`", YELLOW)]])
    else:
        blocks += _run_blocks(results, look, pivot)
        blocks += _pair_blocks(results, look, verbose)
    for name in view.by:
        blocks += tag_blocks(results, name, look, option="--by")
    return joined([*blocks, *_verdict_blocks(completed(view), look)])


def completed(view: RunView) -> RunView:
    """Return a view with everything derived from its results: intervals, failures, what is left out."""
    results = view.results
    notes = [*filter(None, [left_out_note(results)]), *view.notes]
    if results.is_partial:
        of = count(results.number, "record")
        notes.append(
            f"Figures and fields are of all {of}, but only {count(len(results.cases))} are listed as cases. "
            "`jsonmatch evaluate --keep all` lists all, and figures then have intervals."
        )
    return replace(
        view,
        headlines=() if results.is_partial or len(results.cases) < 2 else headlines(results),
        faults=faults_of(results),
        notes=notes,
    )


def _origin(view: RunView, look: Look) -> Iterator[StyledLine]:
    results = view.results
    parts = extent(results), results.created.replace("T", " "), commit_text(results.commit)
    yield look.title(f"{view.title}: {', '.join(filter(None, parts))}")
    if look.mode == "all":
        versions = ", ".join(f"{name} {text}" for name, text in results.versions.items())
        yield from look.folded(versions, 4, DIM) if versions else ()


# -- a run of tests ----------------------------------------------------------------------------------------


def _run_blocks(results: ResultSet, look: Look, pivot: str | None) -> Iterator[list[StyledLine]]:
    if not any(results.comparisons):
        yield [[("nothing was compared", YELLOW)]]
    yield summary_lines(results.cases, look, pivot=pivot)
    yield list(_unscored(results, look))


def _unscored(results: ResultSet, look: Look) -> Iterator[StyledLine]:
    """Yield the runs that failed before they compared anything: in no table, and 0 in every mean."""
    found = [
        (case.id if case.of == 1 else f"{case.id} (run {run.number} of {case.of})", run.error)
        for case in results.cases
        for run in case.runs
        if not run.comparisons
    ]
    if not found:
        return
    yield look.title(f"not counted above: {count(len(found))} {_UNSCORED}")
    shown, more = look.cut(found, _WORST)
    for name, error in shown:
        yield look.line(f"  {name}" if error in {"", _UNSCORED} else f"  {name}: {error}")
    yield from more


def _pair_blocks(results: ResultSet, look: Look, verbose: int) -> Iterator[list[StyledLine]]:
    """Yield the pairs of unordered arrays: of a single comparison, or of several with `-v`."""
    comparisons = list(results.comparisons)
    if len(comparisons) == 1:
        yield pair_lines(comparisons[0].audit, look, verbosity=verbose)
    elif verbose:
        yield from pair_blocks(((each.id, each.audit) for each in comparisons), look, verbosity=verbose)


# -- gates and verdicts --------------------------------------------------------------------------------------


def _verdict_blocks(view: RunView, look: Look) -> Iterator[list[StyledLine]]:
    yield from headline_blocks(view.headlines, look, noun=view.results.noun)
    if view.headlines:
        yield from doubt_blocks(view.results, look, {})
    if view.results.cases and not view.headlines and view.results.corpus is None:
        yield [_figures(view, look)]
    if view.diff is not None:
        yield baseline_lines(view.diff, look, name=view.baseline, verdict=view.proven)
    yield gate_lines(view.gates, look, on=extent(view.results))
    yield check_lines(view.unsettled, look)


def _figures(view: RunView, look: Look) -> StyledLine:
    """Return the figures of a single case, which have no intervals."""
    line: StyledLine = []
    for title, value, _ in view.figures[:-1]:
        line.append((f"{', ' if line else ''}{title} ", PLAIN))
        line.append((look.score(value), score_markup(value)))
    return line
