"""The message of a failed comparison: the limit, the score, and the lowest-scoring fields first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from sys import maxsize
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

from pytest_jsonmatch.engine.result.collapse import OTHERS_EQUAL, REORDERED, collapse, sentence_of
from pytest_jsonmatch.engine.score.field import ROOT, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, Side, get_value
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.report.escape import display_width, fold, pad
from pytest_jsonmatch.report.formatting import STATUS_WORDS, score_text, tone_of
from pytest_jsonmatch.report.headline import Subject, below, headline
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
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.results.limits import ScoreCheck

_QUIET: Final = frozenset({"match", "skipped"})
_ONE_SIDED: Final = frozenset({"omission", "hallucination"})
# pytest puts "E" and the source's indentation before each line of a message.
MARGIN: Final = 8
"""The columns reserved for that."""
_INDENT: Final = 6
_LEAD: Final = 8
"""The columns before a path: a score with its gaps."""
_MIN_GROUP: Final = 3
"""As many fields that are alike become one line."""
# Paths and values are aligned within these shares of the width; longer ones are not.
_PATH_COLUMN: Final = 0.33
_VALUE_COLUMN: Final = 0.4
_ALSO: Final = 3
_NOTES: Final = 2


class _Volume(NamedTuple):
    """The amount of output at one verbosity."""

    lines: int
    fields: int
    value_lines: int | None
    """None: whole values."""


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
    """Return the message for a comparison that failed; its first line is complete without the others.

    Args:
        result: the result of the comparison.
        style: the style of the lines; 8 columns are reserved for pytest's own margin.
        threshold: all limits; that of the score is shown if no score is too low (a comparator failed).
        failures: the scores below their limits, the most important first.
        verbosity: 0 shows the lowest-scoring fields in at most 25 lines, 1 shows more of them, 2 all, uncut.
        name: the name of the comparison, if it has one.
        locate: returns ":line" or "file:line" of a field whose expected value is written in a file.
    """
    volume = _VOLUMES[min(max(verbosity, 0), len(_VOLUMES) - 1)]
    style = replace(style, width=max(style.width - MARGIN, 40))
    reach = None if volume.value_lines is None else volume.value_lines * style.width
    # For an object or array that is scored as one field, the values in it that differ are listed.
    wrong = _wrong_fields(result, failures)
    different = [len(collapse(field.differences, result.documents)) for field in wrong]
    places = sum(number or 1 for number in different)
    groups = volume.fields < maxsize
    lowest = _lowest_scoring(result, wrong, failures, volume.fields, groups=groups)
    is_empty = _is_empty_answer(result)
    subject = None
    if is_empty:
        subject = Subject(f"actual is {render(result.documents[1])}")
    elif entries := _entries(lowest[:1], 1, result):
        subject = _subject_of(entries[0], result, places, style)
    first = headline(result, subject, threshold, failures, name, style)
    head = _also(failures, style)
    head += _counts(result, style, f", in {count(places, 'place')}" if any(different) else "")
    errors = [f"comparator {error.comparator!r} at {error.path}: {error.reason}" for error in result.errors]
    tail = _notes(errors, "error: ", RED, volume, style)
    tail += _notes(result.warnings, "note: ", DIM, volume, style)
    room = volume.lines - 1 - len(head) - len(tail)
    space = Space(style.less(_INDENT), reach)
    body = [] if is_empty and groups else _fields(result, lowest, places, volume, room, space, locate)
    # No colour in the first line: pytest cuts it for its short summary, and would count or cut escape codes.
    rest = [*head, *body, *tail]
    return "\n".join([line_text([(first, PLAIN)]), *(line_text(line, color=style.color) for line in rest)])


# -- the first lines ---------------------------------------------------------------------------------------


def _subject_of(entry: _Entry, result: MatchResult, places: int, style: TerminalStyle) -> Subject:
    """Return what the first line names, given the first entry and the number of places that differ."""
    field, sentence = entry.field, sentence_of(entry.field)
    path = "".join(_entry_path(entry, result, style))
    others = places - (len(entry.alike) or 1)
    if sentence == REORDERED:
        return Subject(path, sentences=(sentence, "another order"), others=others)
    if sentence.endswith(OTHERS_EQUAL):
        array = _path(_array_of(field, result.documents), result, style)
        where = sentence.partition(", ")[2]
        shorter = f"{where.partition(' at ')[0]}, {OTHERS_EQUAL}"
        others = max(others + 1 - where.count("["), 0)
        return Subject(array, sentences=(sentence, where, shorter), others=others)
    if sentence and not entry.represents_rows:
        return Subject(path, sentences=(sentence,), others=others)
    return Subject(path, (field.expected, field.actual), others=others)


def _also(failures: Sequence[ScoreCheck], style: TerminalStyle) -> list[StyledLine]:
    """Return a line for each further score that is too low, up to a limit."""
    lines: list[StyledLine] = [
        [("also ", DIM), *below(failure, style)] for failure in failures[1 : 1 + _ALSO]
    ]
    if len(failures) > 1 + _ALSO:
        lines.append([(f"{style.mark} and {count(len(failures) - 1 - _ALSO, 'more score')}", DIM)])
    return lines


def _counts(result: MatchResult, style: TerminalStyle, places: str) -> list[StyledLine]:
    counts = result.counts
    parts = ", ".join(
        f"{count(number)} {STATUS_WORDS.get(status, status)}" for status, number in counts.items()
    )
    text = f"{count(sum(counts.values()), 'field')}: {parts}" if counts else "nothing to compare"
    text += places
    if result.score == result.f1 and result.precision != result.recall:
        scores = f"; precision {score_text(result.precision)}, recall {score_text(result.recall)}"
        if len(text) + len(scores) <= style.width:
            text += scores
    return style.folded(text, 2)


def _is_empty_answer(result: MatchResult) -> bool:
    """Return whether actual is an empty object or array, and only lacks what is in expected."""
    actual = result.documents[1]
    is_empty = isinstance(actual, (dict, list)) and not actual
    return is_empty and not result.counts.keys() - {"omission", "skipped"}


def _find_causes(failures: Sequence[ScoreCheck]) -> set[str | None]:
    """Return the fields below their limits, which come first if no overall score is too low."""
    causes = {failure.field for failure in failures}
    return set() if None in causes else causes


def _wrong_fields(result: MatchResult, failures: Sequence[ScoreCheck]) -> list[FieldResult]:
    """Return the fields with mistakes, causes first; those that one sentence explains are one field."""
    causes = _find_causes(failures)
    found = [field for field in result.field_results if field.status not in _QUIET]
    return collapse(sorted(found, key=lambda field: field.path not in causes), result.documents)


# -- the fields --------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """An entry of the message: a field, or a leaf in an object or array that is scored as one field."""

    field: FieldResult
    score: float | None
    alike: Sequence[FieldResult] = ()
    """The fields that the entry represents: those missing from, or extra in, several elements."""

    @property
    def represents_rows(self) -> bool:
        """Whether the entry is a missing or extra row, or several of one array."""
        return _is_row(self.alike[0] if self.alike else self.field)


def _fields(
    result: MatchResult,
    lowest: Sequence[_Group],
    places: int,
    volume: _Volume,
    room: int,
    space: Space,
    locate: Callable[[FieldResult], str | None] | None,
) -> list[StyledLine]:
    entries = _entries(lowest, volume.fields, result)
    if not entries:
        return []
    # Leaves in an object or array that is scored as one field have no score; zeros next to them are left out.
    scores = [entry.score for entry in entries]
    are_scored = any(scores) or None not in scores
    rows = [_row(entry, result, volume, space, locate) for entry in entries]
    total_width = space.style.width + _INDENT
    columns = (
        max(len(row.score[0]) for row in rows) if are_scored else 0,
        _column((display_width(row.path) for row in rows), int(total_width * _PATH_COLUMN)),
        _column(
            (line_width(row.values[0]) for row in rows if len(row.values) == 1),
            int(total_width * _VALUE_COLUMN),
        ),
    )
    location = _shared_location(rows)
    if location:
        rows = [row._replace(tail=_without(row.tail, location)) for row in rows]
    lines: list[StyledLine] = [[(f"expected {space.style.arrow} actual", PLAIN)]]
    lines[0] += [(f" ({location})", DIM)] if location else []
    lines[0].append((":", PLAIN))
    marked, shown = False, 0
    for entry, row in zip(entries, rows, strict=True):
        drawn = _draw(row, columns, space)
        # Two lines are reserved for "and more" and for the legend of the marks.
        if shown and len(lines) + len(drawn) + 2 > room:
            break
        shown += len(entry.alike) or 1
        marked = marked or any(map(has_marks, row.values))
        lines += drawn
    if places > shown:
        hint = "-v: more, -vv: all" if volume.lines < maxsize else "-vv: all"
        lines.append([(f"  {space.style.mark} and {count(places - shown)} more ({hint})", DIM)])
    if marked:
        expected, actual = ("[-only in expected-]", RED), ("{+only in actual+}", GREEN)
        legend: StyledLine = [("  ", PLAIN), expected, (" ", PLAIN), actual]
        fits = line_width(legend) <= total_width
        lines += [legend] if fits else [[("  ", PLAIN), expected], [("  ", PLAIN), actual]]
    return lines


def _shared_location(rows: Sequence[_Row]) -> str:
    """Return the location that all rows have; empty if there is none, or one row."""
    locations = {row.location for row in rows}
    return locations.pop() if len(locations) == 1 and len(rows) > 1 else ""


def _without(tail: StyledLine, location: str) -> StyledLine:
    """Return a tail without its location, the last part, and the gap before it."""
    return tail[:-2] if tail and tail[-1][0] == location else tail


_Group: TypeAlias = "Sequence[FieldResult]"
"""Fields that one entry shows: one, or several that are alike."""


def _groups(fields: Iterable[FieldResult], documents: tuple[JsonValue, JsonValue]) -> list[_Group]:
    """Return fields in groups: those at one schema path that are missing or extra in several elements.

    So are all rows of an array that is empty on the other side.
    """
    by_key: dict[object, list[FieldResult]] = {}
    for number, field in enumerate(fields):
        key: object = number
        if _is_row(field):
            if _is_empty_array(field, documents):
                key = field.parent_place
        elif "[]" in field.path and (field.status in _ONE_SIDED or sentence_of(field)):
            key = field.path, field.status, sentence_of(field)
        by_key.setdefault(key, []).append(field)
    groups: list[_Group] = []
    for alike in by_key.values():
        groups += [alike] if len(alike) >= _MIN_GROUP else [[field] for field in alike]
    return groups


def _is_row(field: FieldResult) -> bool:
    """Return whether a field is a missing or extra element with a reason."""
    return type(field.place.key) is int and field.status in _ONE_SIDED and bool(sentence_of(field))


def _is_empty_array(row: FieldResult, documents: tuple[JsonValue, JsonValue]) -> bool:
    """Return whether the array of a missing or extra row is empty on the other side."""
    side: Side = "actual" if row.status == "omission" else "expected"
    array = get_value(documents[side == "actual"], get_instance_keys(row.parent_place, side))
    return type(array) is list and not array


def _array_of(row: FieldResult, documents: tuple[JsonValue, JsonValue]) -> FieldResult:
    """Return a missing or extra row with the place and the values of its array."""
    array = row.parent_place or ROOT
    expected, actual = (
        get_value(document, get_instance_keys(array, side))
        for document, side in zip(documents, get_args(Side), strict=True)
    )
    return row._replace(
        parent_place=array.parent,
        expected_key=array.expected_key,
        actual_key=array.actual_key,
        expected=expected,
        actual=actual,
    )


def _lowest_scoring(
    result: MatchResult,
    wrong: Sequence[FieldResult],
    failures: Sequence[ScoreCheck],
    limit: int,
    *,
    groups: bool,
) -> list[_Group]:
    """Return the fields to show: those that failed a limit first, then by score, the lowest first."""
    causes = _find_causes(failures)
    return heapq.nsmallest(
        limit,
        _groups(wrong, result.documents) if groups else [[field] for field in wrong],
        key=lambda group: (group[0].path not in causes, not group[0].weight, group[0].score),
    )


def first_field(result: MatchResult, failures: Sequence[ScoreCheck]) -> FieldResult | None:
    """Return the field that the message shows first; None if no field has a mistake."""
    lowest = _lowest_scoring(result, _wrong_fields(result, failures), failures, 1, groups=False)
    entries = _entries(lowest, 1, result)
    return entries[0].field if entries else None


def _entries(groups: Sequence[_Group], limit: int, result: MatchResult) -> list[_Entry]:
    """Return the entries for the fields, at most `limit`.

    Every field gets at least one entry. The remaining entries go to the leaves of the lowest-scoring fields.
    """
    spare = limit - len(groups)
    entries: list[_Entry] = []
    for field, *others in groups:
        if others:
            first = _array_of(field, result.documents) if _is_row(field) else field
            entries.append(_Entry(first, field.score, [field, *others]))
            continue
        leaves = collapse(field.differences, result.documents)
        if not leaves:
            entries.append(_Entry(field, field.score))
            continue
        take = min(len(leaves), 1 + spare)
        spare -= take - 1
        entries += [_Entry(leaf, None) for leaf in leaves[:take]]
    return entries


class _Row(NamedTuple):
    """An entry as text: score, path, expected → actual, and as `tail` the reason and the location."""

    score: tuple[str, Markup]
    path: str
    values: list[StyledLine]
    tail: StyledLine
    location: str


def _row(
    entry: _Entry,
    result: MatchResult,
    volume: _Volume,
    space: Space,
    locate: Callable[[FieldResult], str | None] | None,
) -> _Row:
    field, score, alike = entry
    if field.status == "batch_error":
        score = None  # it was never scored, and counts in no score
    style = space.style
    is_row = entry.represents_rows
    path, number = _entry_path(entry, result, style)
    # Beside the path, the score of a line of its own needs some columns.
    room = style.width + _INDENT - _LEAD - len(number)
    path = (style.middle(path, room) if volume.lines < maxsize else style.printable(path)) + number
    location = "" if locate is None or alike else style.printable(locate(field) or "")
    note = _note(field, space)
    if alike and is_row:
        note = f"{count(len(alike), 'row')} {note.removeprefix('row ')}"
    values = _values(field, space)
    if alike and not is_row and any(_value(other) != _value(field) for other in alike):
        values[0].insert(1 if field.actual is MISSING else 3, (f", {style.mark}", DIM))
    tail = [(note, PLAIN), (location, DIM)]
    shown_score = "" if entry.score is None else style.score(score)
    return _Row(
        (shown_score, TONES[tone_of(score)]),
        path,
        values,
        [part for note in tail if note[0] for part in (("  ", PLAIN), note)],
        location,
    )


def _entry_path(entry: _Entry, result: MatchResult, style: TerminalStyle) -> tuple[str, str]:
    """Return the path of an entry as text, and the number of fields if the path is that of several."""
    field, _, alike = entry
    if not alike or entry.represents_rows:
        return _path(field, result, style), ""
    return field.path, f" {style.times}{count(len(alike))}"


def _value(field: FieldResult) -> str:
    """Return the value of a missing or extra field as text."""
    return render(field.actual if field.expected is MISSING else field.expected)


def _path(field: FieldResult, result: MatchResult, style: TerminalStyle) -> str:
    """Return the path of a field; an index that differs between the sides is `[expected → actual]`.

    An extra element has its index in actual, as `[→ actual]` if expected has an element at that index.
    """
    path, keys = "", [get_instance_keys(field.place, side) for side in ("expected", "actual")]
    for at, (expected, actual) in enumerate(zip(*keys, strict=True)):
        key = actual if expected is MISSING else expected
        if type(key) is not int:
            name = format_path((key,))
            path += name if name.startswith("[") or not path else f".{name}"
        elif expected is MISSING and get_value(result.documents[0], (*keys[0][:at], actual)) is not MISSING:
            path += f"[{style.arrow}{actual}]"
        else:
            path += f"[{key}]" if actual in {key, MISSING} else f"[{expected}{style.arrow}{actual}]"
    return path or "$"


def _note(field: FieldResult, space: Space) -> str:
    """Return the note on a field: its status if the values do not show it, the reason, and weight 0."""
    sentence = sentence_of(field) if field.status in _ONE_SIDED else ""
    if sentence:
        return space.style.printable(", ".join([sentence, *([] if field.weight else ["weight 0"])]))
    # A missing value is shown as "(missing)".
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
    """Return the greatest width of at most `limit`; longer entries are not aligned."""
    return max((width for width in widths if width <= limit), default=0)


def _draw(row: _Row, columns: tuple[int, int, int], space: Space) -> list[StyledLine]:
    """Return a row as one line if it fits, else with the values below the path."""
    score_width, path_width, value_width = columns
    room = space.style.width + _INDENT
    lead: StyledLine = [("  ", PLAIN)]
    if score_width:
        lead += [(pad(row.score[0], score_width), row.score[1]), ("  ", PLAIN)]
    lead.append((pad(row.path, path_width), BOLD))
    tail = row.tail
    if len(row.values) == 1:
        (values,) = row.values
        below: StyledLine = [(" " * _INDENT, PLAIN), *values, *tail]
        for fill in (" " * (value_width - line_width(values)), ""):
            line: StyledLine = [*lead, ("  ", PLAIN), *values, (fill, PLAIN), *tail]
            if line_width(line) <= room:
                return [line]
        if line_width(below) <= room:
            return [lead, below]
    # As much of note and location as fits goes on the first line, the rest below the values.
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
        return raw  # without marks, a second pair of texts would not help
    labels = [(label, DIM)] + [(" " * len(label), PLAIN)] * (len(after) - 1)
    return [*raw, *([lead, *line] for lead, line in zip(labels, after, strict=True))]


# -- errors and warnings -----------------------------------------------------------------------------------


def _notes(
    entries: Sequence[str], label: str, markup: Markup, volume: _Volume, style: TerminalStyle
) -> list[StyledLine]:
    most, rows = (_NOTES, 3) if volume.lines < maxsize else (volume.fields, 5)
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
