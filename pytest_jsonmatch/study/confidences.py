"""How sure a model says it is: find confidences in answers, and take them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_jsonmatch.engine.value.convert import MISSING, value_at
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import Segment, format_path, parse_path

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

ConfidenceSource: TypeAlias = "str | Callable[[JsonValue, str], float | None]"
"""Where confidences are: "inline", a path with `{path}` in it, a function of answer and instance path."""
_Segments: TypeAlias = "tuple[Segment, ...]"
_Own: TypeAlias = "Callable[[_Segments, JsonValue], tuple[JsonValue, object]]"
"""Returns a place's value without its confidence, and its confidence; None if it has none itself."""

INLINE: Final = "inline"
_PATH: Final = "{path}"
_PAIR: Final = {"value", "confidence"}


def split_by(source: ConfidenceSource) -> Callable[[JsonValue], tuple[JsonValue, dict[str, float]]]:
    """Return a function that splits an answer: the answer without confidences, and these by instance path.

    The confidence of an object or array applies to everything below it that has none of its own.

    Raises:
        ConfigurationError: a path without `{path}`, or with nothing before it. The function raises it for a
            confidence that is not a number from 0 to 1.

    >>> split_by("inline")({"total": {"value": 9, "confidence": 0.8}, "date": "1 May"})
    ({'total': 9, 'date': '1 May'}, {'total': 0.8})
    >>> split_by("sure.{path}")({"items": [{"price": 9}], "sure": {"items": [{"price": 0.7}]}})
    ({'items': [{'price': 9}]}, {'items[0].price': 0.7})
    """
    if callable(source):
        return lambda answer: _walked(answer, _asked(source, answer))
    if source == INLINE:
        return lambda answer: _walked(answer, _inline)
    before, after = _parts(source)

    def split(answer: JsonValue) -> tuple[JsonValue, dict[str, float]]:
        def own(segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
            found = value_at(answer, (*before, *segments, *after))
            return value, None if found is MISSING or type(found) in {dict, list} else found

        is_object = type(answer) is dict
        bare = {key: value for key, value in answer.items() if key != before[0]} if is_object else answer
        return _walked(bare, own)

    return split


def _inline(_segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
    if type(value) is dict and value.keys() == _PAIR:
        return value["value"], value["confidence"]
    return value, None


def _asked(function: Callable[[JsonValue, str], float | None], answer: JsonValue) -> _Own:
    def own(segments: _Segments, value: JsonValue) -> tuple[JsonValue, object]:
        is_leaf = type(value) not in {dict, list}
        return value, function(answer, format_path(segments)) if is_leaf else None

    return own


def _walked(answer: JsonValue, own: _Own) -> tuple[JsonValue, dict[str, float]]:
    """Return a copy of an answer without confidences, and the confidences by instance path."""
    found: dict[str, float] = {}
    root: list[Any] = [None]
    # An explicit stack: an answer may be deeper than Python's.
    waiting: list[tuple[JsonValue, _Segments, float | None, Any, Any]] = [(answer, (), None, root, 0)]
    while waiting:
        value, segments, above, holder, at = waiting.pop()
        value, given = own(segments, value)
        sure = above if given is None else _checked(given, segments)
        if sure is not None:
            found[format_path(segments)] = sure
        holder[at] = value
        if type(value) is dict:
            holder[at] = copied = dict.fromkeys(value)
            waiting += [(each, (*segments, key), sure, copied, key) for key, each in value.items()]
        elif type(value) is list:
            holder[at] = elements = [None] * len(value)
            waiting += [(each, (*segments, place), sure, elements, place) for place, each in enumerate(value)]
    return root[0], found


def _checked(given: object, segments: _Segments) -> float:
    if type(given) in {int, float} and 0 <= given <= 1:  # type: ignore[operator] # it is a number
        return float(given)  # type: ignore[arg-type] # as above
    raise ConfigurationError(
        f"the confidence of {format_path(segments)} is {given!r}; it must be a number from 0 to 1"
    )


def _parts(template: str) -> tuple[_Segments, _Segments]:
    """Return the segments before `{path}`, and those after it."""
    placeholder = "PATH_OF_THE_VALUE"
    segments = parse_path(template.replace(_PATH, placeholder)) if _PATH in template else ()
    if segments.count(placeholder) != 1 or segments[0] == placeholder or template.count(_PATH) > 1:
        raise ConfigurationError(
            f"confidence is {template!r}; it must be {INLINE!r}, a function, or a path with {{path}} in it "
            "once, as a separate part below a member, such as 'confidence_score.{path}'"
        )
    at = segments.index(placeholder)
    return segments[:at], segments[at + 1 :]
