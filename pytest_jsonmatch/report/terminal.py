"""A run for the terminal: figures per field, cases below their limits, repeated cases, the worst records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.repeats import Repeats, repeats
from pytest_jsonmatch.limits import Measured, measured
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.fieldtable import (
    Section,
    absence_note,
    badness,
    field_table,
    is_perfect,
    left_out,
)
from pytest_jsonmatch.report.figures import STATUS_WORDS, compare_figures, dash, score_text
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.sheets import (
    AnySheetCell,
    Rows,
    Sentence,
    SheetBlock,
    SheetCell,
    SheetFigure,
    SheetFigures,
    block_lines,
    score_cell,
)
from pytest_jsonmatch.report.styled import StyledLine, score_tone
from pytest_jsonmatch.report.view import left_out_note, of_records, worst_fields
from pytest_jsonmatch.results.comparison import (
    Case,
    Comparison,
    by_metric,
    comparisons_of,
    merged_differences,
)
from pytest_jsonmatch.results.parts import listed
from pytest_jsonmatch.running import FAILED_BEFORE

if TYPE_CHECKING:
    from pytest_jsonmatch.report.view import RunView
    from pytest_jsonmatch.results.comparison import Difference

_MIN_WIDTH: Final = 20
_MAX_CASES: Final = 20
_WORST: Final = 10
"""At most this many records are named."""
_WORST_FIELDS: Final = 3
"""At most this many fields of each are named."""
_DIFFERENCES: Final = 3
"""At most this many differences of a field are shown."""
_MOST_DIFFERING: Final = 30
"""With `-v`, the differences of at most this many fields are shown."""
_GAPS: Final = 4
"""The columns around the path of a difference."""


def blocks_lines(blocks: Iterator[SheetBlock], look: Look) -> list[StyledLine]:
    """Return blocks as lines, with an empty line above each, but not above a sentence on what precedes it."""
    lines: list[StyledLine] = []
    for block in blocks:
        own = block_lines(block, look)
        is_below = isinstance(block, Sentence) and block.tone != "strong" and not block.names
        lines += [[], *own] if own and lines and not is_below else own
    return lines


def summary_lines(view: RunView, look: Look, *, is_brief: bool | None = None) -> list[StyledLine]:
    """Return the lines of a run's summary: tables, or in mode "auto" one line per metric.

    Args:
        view: the run.
        look: how the lines may look; none is wider than the terminal, which has at least 20 columns.
        is_brief: whether one line per metric is enough if nothing failed; None: if also all fields are 1.
    """
    look = replace(look, width=max(look.width, _MIN_WIDTH))
    return [] if look.mode == "none" else blocks_lines(_summary(view, look, is_brief), look)


def brief_lines(view: RunView, look: Look) -> list[StyledLine]:
    """Return a line for each metric, and the notes on its figures."""
    comparisons = list(comparisons_of(view.results.cases))
    notes = (Sentence(note, "open") for note in _notes(view, comparisons) if comparisons)
    return blocks_lines(iter([*_brief(view, view.sections), *notes]), look)


def _summary(view: RunView, look: Look, is_brief: bool | None) -> Iterator[SheetBlock]:
    cases, mode = view.results.cases, look.mode
    comparisons = list(comparisons_of(cases))
    if not comparisons:
        return
    sections, repeated, below = view.sections, repeats(cases), _below(cases)
    passed = not below and all(case.verdict == "passed" for case in repeated.cases)
    is_perfect_run = not below and not repeated.is_mixed and all(map(_is_perfect, sections))
    if mode == "auto" and is_brief is not False and (is_perfect_run or (is_brief is True and passed)):
        yield from _brief(view, sections)
        yield from (block for block in view.sides if view.by or isinstance(block, Sentence))
        yield from view.tables if view.by else view.tables[:1] if view.candidates else ()
        yield from _repeat_head(repeated) if repeated.is_mixed else ()
    else:
        for section in sections:
            yield from section_blocks(section, mode)
            yield _differences(view, section, look, every=is_brief is False or mode == "all")
        of = count(len(comparisons), "run" if repeated else "case")
        if any(not run.comparisons for case in cases for run in case.runs):
            of += " with an answer"
        what = "below the threshold" if all(why.limit is not None for why, _ in below) else "did not pass"
        rows: list[list[AnySheetCell]] = [[why.cell, look.node_id(_name(each))] for why, each in below]
        yield _list(rows, f"{count(len(below))} of {of} {what}:", _MAX_CASES, "case")
        yield from (*view.sides, *view.tables)
        yield from _repeat_head(repeated)
        yield _repeat_table(repeated, look)
    yield from (Sentence(note, "open") for note in _notes(view, comparisons))


def _is_perfect(section: Section) -> bool:
    return all(is_perfect(row.figures) for row in section.rows)


def _list(rows: Sequence[Sequence[AnySheetCell]], title: str, most: int, noun: str) -> Rows:
    return Rows([""] * len(rows[0]) if rows else [""], rows, title, noun, most, text={""})


def _brief(view: RunView, every: Sequence[Section]) -> Iterator[SheetBlock]:
    """Yield a line for each metric."""
    for metric, compared in by_metric(view.results.cases).items():
        sections = [section for section in every if section.metric == metric]
        number = sum(section.cases for section in sections)
        said = f"jsonmatch: {metric}, {count(number, 'case')}"
        if (runs := len(list(comparisons_of(compared)))) > number:
            said += f" in {count(runs, 'run')}"
        said += f", {count(sum(section.total.total for section in sections), 'field')}, "
        means = [case.figure("score") for case in compared if case.has_figures]
        mean = fsum(means) / len(means) if means else None
        said += "all 1.00" if mean == 1.0 else f"score {score_text(mean)} (mean of cases)"
        if mean is not None and min(means) < mean:
            said += f", lowest {score_text(min(means))}"
        said += left_out(number, sum(section.uncounted for section in sections))
        yield Sentence(said, score_tone(mean))


def section_blocks(section: Section, mode: str) -> Iterator[SheetBlock]:
    """Yield the tables of a section, as `field_table` gives them, and the note below."""
    table = field_table(section, mode)
    if not table.rows and mode == "failed":
        return
    yield table
    yield Sentence(absence_note(section.total))


def _differences(view: RunView, section: Section, look: Look, *, every: bool) -> Rows:
    """Return the most frequent differences of a section's worst field, or of all its fields."""
    cases = by_metric(view.results.cases).get(section.metric, [])
    known = merged_differences(cases, _DIFFERENCES)
    listed = (row for row in section.rows if not row.is_group and row.path in known)
    fields = sorted(listed, key=lambda row: badness(row.figures))
    shown = fields[: None if look.mode == "all" else _MOST_DIFFERING if every else 1]
    found = [
        (look.middle(each.at or row.path, look.width // 3), each) for row in shown for each in known[row.path]
    ]
    paths = [path for path, _ in found]
    room = max(look.width - max(map(display_width, paths), default=0) - _GAPS, _MIN_WIDTH)
    rows: list[list[AnySheetCell]] = [
        ["" if path == above else path, _difference(each, look, room)]
        for above, (path, each) in zip(["", *paths], found, strict=False)
    ]
    title = "fields below 1" if every else "the worst field"
    of = ""
    if view.results.is_partial:
        of = f", in {count(len(cases))} of {count(view.results.total_records, 'record')}"
    return _list(rows, f"{title}, expected {look.arrow} actual{of}:", len(rows), "difference")


def _difference(difference: Difference, look: Look, room: int) -> str:
    """Return both values on at most this many columns, or the one that is there and what is wrong with it."""
    times = f"  {'×' if look.unicode else 'x'}{count(difference.times)}" if difference.times > 1 else ""
    room -= len(times)
    sides = [side for side in difference[:2] if side is not None]
    if len(sides) == 1:
        word = STATUS_WORDS[difference.status]
        return f"{_side(sides[0], look, room - len(word) - 1)} {word}{times}"
    room -= len(f" {look.arrow} ")
    limit = max(room // 2, room - min(map(len, sides)))
    if sum(map(len, sides)) > room:
        sides = [side or "" for side in difference.cut(limit - 2 * len(look.mark) + 2)[:2]]
    return f" {look.arrow} ".join(_side(side, look, limit) for side in sides) + times


def _side(text: str, look: Look, room: int) -> str:
    return look.clip(text.replace("…", look.mark), room)


# -- the cases ---------------------------------------------------------------------------------------------


@final
class BelowLimit(NamedTuple):
    """A comparison that did not pass, with its lowest figure below a limit.

    If no limit is missed, `what` says what is wrong; `value` is None if there is no figure.
    """

    what: str
    value: float | None
    limit: float | None

    @property
    def cell(self) -> SheetCell:
        """The figure and its limit, with enough decimals to see which is lower."""
        figures = "" if self.value is None else score_text(self.value)
        if self.limit is not None:
            pair = compare_figures(self.value or 0.0, self.limit)
            figures = f"{dash(True) if self.value is None else pair[0]} < {pair[1]}"
        what = {"score": "", "f1": "F1 "}.get(self.what, f"{self.what} ")
        return SheetCell(f"{what}{figures}".rstrip(), score_tone(self.value))


def _below(cases: Sequence[Case]) -> list[tuple[BelowLimit, Comparison]]:
    """Return the comparisons that failed, the worst first; not those of cases that all runs decide."""
    failed = [
        (_why(each), each)
        for each in comparisons_of(case for case in cases if case.min_pass_rate is None or case.of == 1)
        if not each.passed
    ]
    return sorted(failed, key=lambda pair: (pair[0].value is not None, pair[0].value or 0.0))


def _name(comparison: Comparison) -> str:
    """Return the id of a comparison; if it is the test's first and has no name, the test's, to be copied."""
    return comparison.nodeid if comparison.id == f"{comparison.nodeid}#1" else comparison.id


def _why(comparison: Comparison) -> BelowLimit:
    """Return why a comparison failed: a figure below its limit (the score, else the lowest), or an error."""
    if not comparison.has_figures:
        return BelowLimit("nothing but batch errors", None, None)
    if comparison.parsed is False:
        return BelowLimit("no JSON found", None, None)
    missed = [each for each in _measured(comparison) if not each.is_reached]
    if missed:
        is_score = missed[0].what == "score"
        found = missed[0] if is_score else min(missed, key=lambda each: each.value or 0.0)
        return BelowLimit(found.field or found.what, found.value, found.limit)
    if comparison.validity == "invalid":
        return BelowLimit("not valid by the schema", None, None)
    if comparison.errors:
        return BelowLimit("comparator error", None, None)
    return BelowLimit("score", comparison.score, None)


def _measured(comparison: Comparison) -> Iterator[Measured]:
    return measured(
        dict(comparison.threshold),
        partial(getattr, comparison),
        lambda: {path: figures.mean_score for path, figures in comparison.fields.items()},
    )


def _notes(view: RunView, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield notes on the figures: what they leave out, comparators that raised, warnings."""
    lists = {"violation": "violations", "comparator error": "errors", "warning": "warnings"}
    if note := left_out_note(view.results):
        yield note
    for noun, name in lists.items():
        # That an answer has no JSON is the only warning of its case, which is listed with it.
        told = [each for each in comparisons if name != "warnings" or each.parsed is not False]
        entries = [f"{entry} ({_name(each)})" for each in told for entry in getattr(each, name)]
        if entries:
            first = ", the first: " if len(entries) > 1 else ": "
            yield f"{count(len(entries), noun)}{first}{entries[0]}"


# -- repeated cases ----------------------------------------------------------------------------------------


def _repeat_head(repeated: Repeats) -> Iterator[SheetBlock]:
    """Yield the figures over all repeated cases."""
    if not repeated:
        return
    runs, k = sum(len(case.runs) for case in repeated.cases), repeated.k
    figures = {"pass@1": repeated.pass_at(1)}
    if k > 1:
        figures |= {f"pass@{k}": repeated.pass_at(k), f"pass^{k}": repeated.pass_all(k)}
    if repeated.flip_rate is not None:
        figures["flip rate"] = repeated.flip_rate
    title = f"repeats: {count(len(repeated.cases), 'case')} in {count(runs, 'run')}"
    yield SheetFigures([SheetFigure(name, score_text(value)) for name, value in figures.items()], title)


def _repeat_table(repeated: Repeats, look: Look) -> Rows:
    """Return the repeated cases that did not always pass, or all in mode "all"."""
    rows: list[list[AnySheetCell]] = []
    for case in sorted(repeated.cases, key=lambda case: (case.pass_rate, case.id)):
        if look.mode == "all" or case.passed_runs < len(case.runs):
            of_runs = [run.figure("score") for run in case.runs]
            ends = dict.fromkeys(map(score_text, (min(of_runs), max(of_runs))))
            passed = f"{count(case.passed_runs)} of {count(len(case.runs))}"
            rows.append(
                [look.node_id(case.id), SheetCell(passed, score_tone(case.pass_rate)), " to ".join(ends)]
            )
    return Rows(("case", "passed", "scores of runs"), rows, noun="case", most=_MAX_CASES)


def unscored_lines(cases: Iterable[Case], look: Look) -> list[StyledLine]:
    """Return the runs that failed before they compared anything: in no table, and 0 in every mean."""
    unscored = [
        (look.node_id(case.id) + (f" (run {run.number} of {case.of})" if case.of > 1 else ""), run.error)
        for case in cases
        for run in case.runs
        if not run.comparisons
    ]
    if not unscored:
        return []
    # Each error once: a service that is down fails all cases alike.
    names: dict[str, list[str]] = {}
    for name, error in unscored:
        names.setdefault(name if error in {"", FAILED_BEFORE} else error, []).append(name)
    shown, more = look.cut(list(names.items()), _WORST)
    lines = []
    for error, (first, *others) in shown:
        also = f" and {count(len(others))} more" if others else ""
        lines.append(look.line(f"  {first}" if error == first else f"  {first}{also}: {error}"))
    return [look.title(f"not counted above: {count(len(unscored))} {FAILED_BEFORE}"), *lines, *more]


# -- a corpus ----------------------------------------------------------------------------------------------


def corpus_lines(view: RunView, look: Look, *, also: Sequence[str] = ()) -> list[StyledLine]:
    """Return the figures of a corpus, its fields and its worst records; `also` has further counts."""
    return blocks_lines(_corpus(view, look, also), look)


def _corpus(view: RunView, look: Look, also: Sequence[str]) -> Iterator[SheetBlock]:
    results, mode = view.results, look.mode
    if not results.total_records:
        yield Sentence(f"{results.metric}: no records", "strong")
        return
    told = [reason for reason, _ in of_records(results)]
    yield Sentence(f"{results.metric}, {', '.join([*told, *also])}", "strong")
    yield from figure_lines(view)
    for section in view.sections:
        if mode != "auto" or not _is_perfect(section):
            yield from section_blocks(section, mode)
            yield _differences(view, section, look, every=mode == "all")
    yield from (Sentence(note, "open") for note in _notes(view, list(comparisons_of(results.tabled))))
    yield from view.tables
    worst = sorted(results.scored, key=lambda case: (bool(_errors(case)), case.figure("score")))
    rows: list[list[AnySheetCell]] = [
        [score_cell(case.figure("score")), case.id, _complaint(case)]
        for case in worst
        if case.figure("score") < 1
    ]
    yield _list(rows, "the worst records:", _WORST, "record")


def figure_lines(view: RunView) -> Iterator[Sentence]:
    """Yield a line of figures for each scope, for runs without intervals."""
    for scope in view.scopes:
        figures = ", ".join(f"{each.name} {score_text(each.value)}" for each in scope.figures)
        yield Sentence(f"{scope.title}: {figures}")


def _errors(case: Case) -> list[str]:
    return [error for each in comparisons_of([case]) for error in each.errors]


def _complaint(case: Case) -> str:
    """Return the worst fields of a record by name, or why it has no score."""
    errors = _errors(case)
    return errors[0] if errors else listed([path for path, _ in worst_fields(case)], _WORST_FIELDS)
