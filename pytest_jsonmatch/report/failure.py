"""The message of a failed comparison: what was required, what came, and the worst fields first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from sys import maxsize
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_jsonmatch.engine.result.rows import collapse_rows
from pytest_jsonmatch.engine.score.field import get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import display_width, fold, pad
from pytest_jsonmatch.report.fields import left_out
from pytest_jsonmatch.report.formatting import STATUS_WORDS, compare_figures, score_text, tone_of
from pytest_jsonmatch.report.styled import (
    BOLD,
    DIM,
    GREEN,
    PLAIN,
    RED,
    TONES,
    Markup,
    StyledLine,
    line_text,
    line_width,
)
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.report.valuetext import Space, has_marks, value_lines

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.limits import ScoreCheck

_QUIET: Final = frozenset({"match", "skipped"})
# pytest puts "E" and the source's indentation before each line of a message.
MARGIN: Final = 8
"""The columns reserved for that."""
_INDENT: Final = 6
# Paths and values line up within these shares of the width; longer ones stick out.
_PATH_COLUMN: Final = 0.33
_VALUE_COLUMN: Final = 0.4
_ALSO: Final = 3
_NOTES: Final = 2


class _Volume(NamedTuple):
    """How much is shown at one verbosity."""

    lines: int
    fields: int
    value_lines: int | None
    """None: everything, uncut."""


_VOLUMES: Final = (_Volume(25, 8, 0), _Volume(maxsize, 50, 5), _Volume(maxsize, maxsize, None))


def failure_message(
    result: MatchResult,
    style: TerminalStyle,
    *,
    threshold: Mapping[str, object],
    failures: Sequence[ScoreCheck],
    verbosity: int = 0,
    name: str | None = None,
    locate: Callable[[FieldResult], str | None] | None = None,
) -> str:
    """Return the message for a comparison below its threshold; its first line makes sense on its own.

    Args:
        result: what was scored.
        style: how the lines may look; 8 columns are reserved for pytest's own margin.
        threshold: all limits that were set, by figure; shown if no figure is too low (a comparator failed).
        failures: the figures below their limits, the most important first.
        verbosity: 0 shows the worst fields in at most 25 lines, 1 shows more of them, 2 all, uncut.
        name: the comparison's name, if it has one.
        locate: returns ":line" or "file:line" of a field whose expected value is written in a file.
    """
    volume = _VOLUMES[min(max(verbosity, 0), len(_VOLUMES) - 1)]
    style = replace(style, width=max(style.width - MARGIN, 40))
    reach = None if volume.value_lines is None else volume.value_lines * style.width
    # For a field that is scored as a whole, the places in it that differ are listed.
    different = [len(collapse_rows(field.differences, result.documents)) for field in _found(result)]
    places = sum(number or 1 for number in different)
    head = _head(result, threshold, failures, name, style)
    head.append(_counts(result, style, f", in {count(places, 'place')}" if any(different) else ""))
    errors = [f"comparator {each.comparator!r} at {each.path}: {each.reason}" for each in result.errors]
    tail = _notes(errors, "error: ", RED, volume, style)
    tail += _notes(result.warnings, "note: ", DIM, volume, style)
    room = volume.lines - len(head) - len(tail)
    worst = _worst(result, failures, volume.fields)
    body = _fields(result, worst, places, volume, room, Space(style.less(_INDENT), reach), locate)
    # pytest cuts the first line to fit its short summary, and would count or cut escape codes in it.
    rest = [*head[1:], *body, *tail]
    return "\n".join([line_text(head[0]), *(line_text(line, color=style.color) for line in rest)])


# -- the first lines ---------------------------------------------------------------------------------------


def _head(
    result: MatchResult,
    threshold: Mapping[str, object],
    failures: Sequence[ScoreCheck],
    name: str | None,
    style: TerminalStyle,
) -> list[StyledLine]:
    first: StyledLine = [(f"{style.printable(result.metric)} ", PLAIN)]
    if failures:
        first += _below(failures[0], style)
        if len(failures) > 1:
            first.append((f" and {count(len(failures) - 1, 'more figure')} too low", PLAIN))
    else:
        limits = "" if "score" not in threshold else f" (limit {threshold['score']})"
        silent = left_out(1, not result.counts_extra)
        first.append((f"score {style.score(result.score)}{limits}{silent}", PLAIN))
    if result.errors:
        first.append((f", {count(len(result.errors), 'comparator error')}", PLAIN))
    if name:
        room = max(style.width - line_width(first) - 3, 24)
        first.append((f" ({style.middle(name, room)})", PLAIN))
    lines = [first]
    lines += [[("also ", DIM), *_below(failure, style)] for failure in failures[1 : 1 + _ALSO]]
    if len(failures) > 1 + _ALSO:
        lines.append([(f"{style.mark} and {count(len(failures) - 1 - _ALSO, 'more figure')}", DIM)])
    return lines


def _below(failure: ScoreCheck, style: TerminalStyle) -> StyledLine:
    what = style.middle("F1" if failure.name == "f1" else failure.name, style.width // 2)
    if failure.value is None:
        return [(f"{what} has no figure, needs {compare_figures(0.0, failure.limit)[1]}", PLAIN)]
    value, limit = compare_figures(failure.value, failure.limit)
    return [(f"{what} ", PLAIN), (value, TONES[tone_of(failure.value)]), (f" < {limit}", PLAIN)]


def _counts(result: MatchResult, style: TerminalStyle, places: str) -> StyledLine:
    counts = result.counts
    parts = ", ".join(
        f"{count(number)} {STATUS_WORDS.get(status, status)}" for status, number in counts.items()
    )
    text = f"{count(sum(counts.values()), 'field')}: {parts}" if counts else "nothing to compare"
    text += places
    if result.score == result.f1 and result.precision != result.recall:
        figures = f"; precision {score_text(result.precision)}, recall {score_text(result.recall)}"
        if len(text) + len(figures) <= style.width:
            text += figures
    return [(text, PLAIN)]


def _found(result: MatchResult, causes: Container[str | None] = ()) -> list[FieldResult]:
    """Return the fields that are not right, rows of one side as one each; causes come first."""
    found = [field for field in result.field_results if field.status not in _QUIET]
    return collapse_rows(sorted(found, key=lambda field: field.path not in causes), result.documents)


# -- the fields --------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """One thing to show: a field, or a leaf below a field that is scored as a whole."""

    field: FieldResult
    score: float | None


def _fields(
    result: MatchResult,
    worst: Sequence[FieldResult],
    places: int,
    volume: _Volume,
    room: int,
    space: Space,
    locate: Callable[[FieldResult], str | None] | None,
) -> list[StyledLine]:
    entries = _entries(worst, volume.fields, result)
    if not entries:
        return []
    # Leaves of a field that is scored as a whole have no score; next to them, zeros add nothing.
    scores = [entry.score for entry in entries]
    are_scored = any(scores) or None not in scores
    rows = [_row(entry, result, volume, space, locate) for entry in entries]
    whole = space.style.width + _INDENT
    columns = (
        max(len(row.score[0]) for row in rows) if are_scored else 0,
        _column((display_width(row.path) for row in rows), int(whole * _PATH_COLUMN)),
        _column(
            (line_width(row.values[0]) for row in rows if len(row.values) == 1),
            int(whole * _VALUE_COLUMN),
        ),
    )
    lines: list[StyledLine] = [[(f"expected {space.style.arrow} actual:", PLAIN)]]
    marked, shown = False, 0
    for row in rows:
        drawn = _draw(row, columns, space)
        # Two lines are reserved for "and more" and for the legend of the marks.
        if shown and len(lines) + len(drawn) + 2 > room:
            break
        shown += 1
        marked = marked or any(map(has_marks, row.values))
        lines += drawn
    if places > shown:
        hint = "-v: more, -vv: all" if volume.lines < maxsize else "-vv: all"
        lines.append([(f"  {space.style.mark} and {count(places - shown)} more ({hint})", DIM)])
    if marked:
        lines.append([("  [-only in expected-]", RED), (" ", PLAIN), ("{+only in actual+}", GREEN)])
    return lines


def _worst(result: MatchResult, failures: Sequence[ScoreCheck], limit: int) -> list[FieldResult]:
    """Return the fields to show, the worst first."""
    causes = {failure.field for failure in failures}
    if None in causes:
        causes = set()  # fields come first only if nothing else failed
    return heapq.nsmallest(
        limit,
        _found(result, causes),
        key=lambda field: (field.path not in causes, not field.weight, field.score),
    )


def first_field(result: MatchResult, failures: Sequence[ScoreCheck]) -> FieldResult | None:
    """Return the field that the message shows first; None if all are right."""
    entries = _entries(_worst(result, failures, 1), 1, result)
    return entries[0].field if entries else None


def _entries(fields: Sequence[FieldResult], limit: int, result: MatchResult) -> list[_Entry]:
    """Return what to show for the fields.

    Every field gets one entry; the room that remains goes to the leaves of the worst fields.
    """
    spare = limit - len(fields)
    entries: list[_Entry] = []
    for field in fields:
        leaves = collapse_rows(field.differences, result.documents)
        if not leaves:
            entries.append(_Entry(field, field.score))
            continue
        take = min(len(leaves), 1 + spare)
        spare -= take - 1
        entries += [_Entry(leaf, None) for leaf in leaves[:take]]
    return entries


class _Row(NamedTuple):
    """An entry as text: score, path, expected → actual; why it is not right, and where it is written."""

    score: tuple[str, Markup]
    path: str
    values: list[StyledLine]
    tail: StyledLine


def _row(
    entry: _Entry,
    result: MatchResult,
    volume: _Volume,
    space: Space,
    locate: Callable[[FieldResult], str | None] | None,
) -> _Row:
    field, score = entry
    if field.status == "batch_error":
        score = None  # it was never scored, and is in no figure
    style = space.style
    path = _path(field, result, style)
    path = style.middle(path, style.width - 24) if volume.lines < maxsize else style.printable(path)
    place = None if locate is None else locate(field)
    tail = [(_note(field, space), PLAIN), (style.printable(place or ""), DIM)]
    figure = "" if entry.score is None else style.score(score)
    return _Row(
        (figure, TONES[tone_of(score)]),
        path,
        _values(field, space),
        [part for note in tail if note[0] for part in (("  ", PLAIN), note)],
    )


def _path(field: FieldResult, result: MatchResult, style: TerminalStyle) -> str:
    """Return the path of a field; an index that is not the same on both sides is `[expected → actual]`.

    Of an element of only one side it is that side's, as `[→ actual]` if expected has another element there.
    """
    path, trails = "", [get_instance_keys(field.place, side) for side in ("expected", "actual")]
    for at, (expected, actual) in enumerate(zip(*trails, strict=True)):
        key = actual if expected is MISSING else expected
        if type(key) is not int:
            name = format_path((key,))
            path += name if name.startswith("[") or not path else f".{name}"
        elif expected is MISSING and get_value(result.documents[0], (*trails[0][:at], actual)) is not MISSING:
            path += f"[{style.arrow}{actual}]"
        else:
            path += f"[{key}]" if actual in {key, MISSING} else f"[{expected}{style.arrow}{actual}]"
    return path or "$"


def _note(field: FieldResult, space: Space) -> str:
    """Return why a field is not right."""
    if field.detail is not None and field.status in {"omission", "hallucination"} and field.detail.reason:
        return ", ".join([field.detail.reason, *([] if field.weight else ["weight 0"])])  # it is a row
    # A value that is missing is shown as such.
    parts = [] if field.status in {"mismatch", "omission"} else [STATUS_WORDS[field.status]]
    if field.error:
        parts.append("comparator failed")  # the error is shown below
    elif field.reason and field.status not in {"omission", "hallucination"}:
        style = space.style
        parts.append(
            style.printable(field.reason) if space.reach is None else style.clip(field.reason, style.width)
        )
    return ", ".join(parts if field.weight else [*parts, "weight 0"])


def _column(widths: Iterable[int], limit: int) -> int:
    """Return the width in which most entries line up; a few long ones stick out."""
    return max((width for width in widths if width <= limit), default=0)


def _draw(row: _Row, columns: tuple[int, int, int], space: Space) -> list[StyledLine]:
    """Draw a row on one line if it fits, else with the values below the rest."""
    figure, path, value = columns
    room = space.style.width + _INDENT
    lead: StyledLine = [("  ", PLAIN)]
    if figure:
        lead += [(pad(row.score[0], figure), row.score[1]), ("  ", PLAIN)]
    lead.append((pad(row.path, path), BOLD))
    tail = row.tail
    if len(row.values) == 1:
        (values,) = row.values
        below: StyledLine = [(" " * _INDENT, PLAIN), *values, *tail]
        for fill in (" " * (value - line_width(values)), ""):
            line: StyledLine = [*lead, ("  ", PLAIN), *values, (fill, PLAIN), *tail]
            if line_width(line) <= room:
                return [line]
        if line_width(below) <= room:
            return [lead, below]
    # As much of note and place as fits goes on the first line, the rest below the values.
    kept = next(part for part in (tail, tail[:2], []) if line_width([*lead, *part]) <= room or not part)
    left: list[StyledLine] = [[part] for part in tail[len(kept) :] if part[0].strip()]
    return [[*lead, *kept], *([(" " * _INDENT, PLAIN), *line] for line in (*row.values, *left))]


def _values(field: FieldResult, space: Space) -> list[StyledLine]:
    expected, actual = field.expected, field.actual
    if type(expected) is not str or type(actual) is not str:
        return value_lines(expected, actual, space)
    compared = field.expected_compared, field.actual_compared
    if compared == (expected, actual):
        return value_lines(expected, actual, space)
    label = "compared as "
    raw = value_lines(expected, actual, space, marks=False)
    after = value_lines(*compared, Space(space.style.less(len(label)), space.reach))
    if space.reach == 0 and not any(map(has_marks, after)):
        return raw  # a second pair of unmarked texts says little
    labels = [(label, DIM)] + [(" " * len(label), PLAIN)] * (len(after) - 1)
    return [*raw, *([lead, *line] for lead, line in zip(labels, after, strict=True))]


# -- errors and warnings -----------------------------------------------------------------------------------


def _notes(
    entries: Sequence[str], label: str, markup: Markup, volume: _Volume, style: TerminalStyle
) -> list[StyledLine]:
    most, rows = (_NOTES, 2) if volume.lines < maxsize else (volume.fields, 5)
    indent = " " * len(label)
    lines: list[StyledLine] = []
    for entry in entries[:most]:
        if volume.value_lines is None:
            lines.append([(label, markup), (style.printable(entry), PLAIN)])
            continue
        texts = fold(entry, style.width - len(label), rows, unicode=style.unicode)
        lines += [[(indent if at else label, markup), (text, PLAIN)] for at, text in enumerate(texts)]
    if len(entries) > most:
        lines.append([(f"{style.mark} and {count(len(entries) - most)} more", DIM)])
    return lines
