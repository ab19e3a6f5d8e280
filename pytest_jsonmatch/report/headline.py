"""The first line of the message of a failed comparison, which pytest repeats in its short summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import display_width
from pytest_jsonmatch.report.fields import left_out
from pytest_jsonmatch.report.formatting import limit_texts, tone_of
from pytest_jsonmatch.report.kind_tables import sole_kind
from pytest_jsonmatch.report.styled import PLAIN, TONES, line_text
from pytest_jsonmatch.report.valuetext import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.report.terminal_style import TerminalStyle
    from pytest_jsonmatch.results.limits import ScoreCheck

_MIN_LEAD: Final = 32
"""The columns that a long name leaves for the field if possible."""
_LEAST: Final = 20
"""The columns of the field at least."""
_MIN_NAME: Final = 12
_MAX_NAME: Final = 24
_MIN_PATH: Final = 12
_MIN_VALUES: Final = 24
"""The columns of long values, for which less important parts of the line are left out."""


@final
class Subject(NamedTuple):
    """What the first line names."""

    text: str
    """The path of the lowest-scoring field, or a sentence about all of actual."""
    values: tuple[JsonValue, JsonValue] | None = None
    """(expected, actual) of the field."""
    sentences: Sequence[str] = ()
    """Instead of values, a sentence that explains the field; shorter ones for narrow lines follow."""
    others: int = 0
    """The number of other places that differ."""


def headline(
    result: MatchResult,
    subject: Subject | None,
    threshold: Mapping[str, object],
    failures: Sequence[ScoreCheck],
    name: str | None,
    style: TerminalStyle,
) -> str:
    """Return the first line: the lowest-scoring field, then in parentheses the score that is too low.

    Args:
        result: the result of the comparison.
        subject: the lowest-scoring field; None if no field has a mistake.
        threshold: all limits; that of the score is shown if no score is too low.
        failures: the scores below their limits, the most important first.
        name: the name of the comparison, if it has one.
        style: the style of the line; long values are cut to its width.
    """
    scores = _score_text(result, threshold, failures, style)
    if subject is None or not (failures or result.errors) or _matches_nothing(failures):
        return f"{scores} ({style.middle(name, _MAX_NAME)})" if name else scores
    before, after = (" (", ")") if failures else ("; ", "")
    room = style.width - display_width(scores) - len(before + after)
    if name:
        least = _MIN_LEAD + len(": ")
        shown = style.middle(name, min(max(room - least, _MIN_NAME), _MAX_NAME))
        room -= display_width(shown) + len(": ")
        scores = f"{shown}: {scores}"
    room = max(room, _LEAST)
    return f"{style.clip(_lead(result, subject, style, room), room)}{before}{scores}{after}"


def _matches_nothing(failures: Sequence[ScoreCheck]) -> bool:
    """Return whether the first limit is for fields of which none is compared."""
    return bool(failures) and failures[0].value is None and failures[0].field is not None


def _score_text(
    result: MatchResult, threshold: Mapping[str, object], failures: Sequence[ScoreCheck], style: TerminalStyle
) -> str:
    """Return the metric, and the first score that is too low, else the score and its limit."""
    metric = style.printable(result.metric)
    if not failures:
        limit = f" (limit {threshold['score']})" if "score" in threshold else ""
        return f"{metric} score {style.score(result.score)}{limit}{left_out(1, not result.counts_extra)}"
    first, more = failures[0], count(len(failures) - 1, "more score")
    end = f", {more} too low" if failures[1:] else ""
    if first.value is None:
        return (
            f"{metric} is undefined{end}"
            if result.errors
            else f"{metric} {line_text(below(first, style))}{end}"
        )
    names = {"score": "", "f1": "F1 "}  # "leaf_f1 0.50 < 1.00" is clear
    name = f"of {first.field} " if first.field is not None else names.get(first.name, f"{first.name} ")
    value, limit = limit_texts(first.value, first.limit)
    return f"{metric} {style.middle(name, style.width // 2)}{value} < {limit}{end}"


def below(failure: ScoreCheck, style: TerminalStyle) -> StyledLine:
    """Return a score that is too low, and its limit."""
    what = style.middle("F1" if failure.name == "f1" else failure.name, style.width // 2)
    if failure.value is None:
        return [(f"{what} is undefined, needs {limit_texts(0.0, failure.limit)[1]}", PLAIN)]
    value, limit = limit_texts(failure.value, failure.limit)
    return [(f"{what} ", PLAIN), (value, TONES[tone_of(failure.value)]), (f" < {limit}", PLAIN)]


def _lead(result: MatchResult, subject: Subject, style: TerminalStyle, room: int) -> str:
    """Return what the line names, and how many other places differ, in about `room` columns."""
    if result.errors:
        first, others = result.errors[0], len(result.errors) - 1
        start = style.printable(f"comparator {first.comparator!r} failed at ")
        end = f", {count(others, 'more error')}" if others else ""
        return f"{start}{style.middle(first.path, max(room - len(start) - len(end), _MIN_PATH))}{end}"
    more = f", {count(subject.others)} more" if subject.others else ""
    if subject.values is None:
        return _sentence(subject, more, style, room)
    kind = style.printable(f": {sole}") if subject.others and (sole := sole_kind(result)) else ""
    width = display_width(value_text(*subject.values, style, room))
    path = style.middle(subject.text, max(room - width - len(more) - 1, room // 2))
    left = room - display_width(path) - 1
    ends = (f"{more}{kind}", kind or more, more, "")
    least = min(width, _MIN_VALUES)
    end = next((text for text in ends if left - display_width(text) >= least), "")
    values = value_text(*subject.values, style, max(left - display_width(end), _MIN_PATH))
    return f"{path} {values}{end}"


def _sentence(subject: Subject, more: str, style: TerminalStyle, room: int) -> str:
    """Return a field with the longest of its sentences that fits."""
    texts = [style.printable(f": {sentence}") for sentence in subject.sentences] or [""]
    for end in [f"{text}{end}" for text in texts for end in (more, "")]:
        if display_width(f"{subject.text}{end}") <= room:
            return f"{subject.text}{end}"
    return f"{style.middle(subject.text, max(room - display_width(texts[-1]), _MIN_PATH))}{texts[-1]}"
