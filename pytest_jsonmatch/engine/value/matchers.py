"""Matchers in Python: `pytest.approx`, compiled patterns, `unittest.mock.ANY` and `dirty-equals`.

They are recognised by the names of their classes, without importing their packages.
"""

from __future__ import annotations

import re
import threading
from decimal import Decimal
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import NUMBERS, ConversionRules, Matcher, convert_by, copy_flat
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import format_number, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    import regex

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.models import Form

# The time limits of regular expressions on one text, and in one comparison.
_SECONDS: Final = 1.0
_TOTAL_SECONDS: Final = 5.0
# Results that took longer are cached until the comparison ends; others are cheaper to compute again.
_SLOW: Final = 0.001
_LONGEST: Final = 60


def to_matcher(written: Any) -> Matcher | None:
    """Return the matcher for an object in place of an expected value; None if it is not a matcher.

    >>> import re
    >>> to_matcher(re.compile("INV-[0-9]+")).score(None, "INV-7"), to_matcher("INV-7")
    (1.0, None)
    """
    if type(written) is Matcher:
        return written
    names = {base.__name__ for base in (written if isinstance(written, type) else type(written)).__mro__}
    if "DirtyEquals" in names:
        # After a successful comparison, its repr is that of the value.
        text = (
            repr(written) if isinstance(written, type) else getattr(written, "_repr_ne", written.__repr__)()
        )
        return Matcher(written, text, lambda actual: written == actual)
    if isinstance(written, type):
        return None
    if "_ANY" in names:
        return Matcher(written, repr(written), lambda actual: written == actual)
    if "ApproxScalar" in names and is_number(written.expected):
        return Matcher(written, _format_approx(written), _make_near(written), ("number",))
    if "Pattern" in names and hasattr(written, "fullmatch") and isinstance(written.pattern, str):
        accepts = make_full_match(_compile_timed(written))
        return Matcher(written, repr(written), accepts, ("string",))
    return None


def _format_approx(written: Any) -> str:
    try:
        return repr(written)
    except OverflowError:
        raise ConfigurationError(
            "an approximate number must be a double, at most 1.8e308; write the number itself"
        ) from None


def to_expected(value: object, *, form: Form = "configured", models: list[type] | None = None) -> JsonValue:
    """Convert an expected Python value, which may contain matchers such as `pytest.approx(1)`.

    Args:
        value: the value.
        form: the form in which pydantic models are written.
        models: collects the classes of pydantic models.

    Raises the errors of `to_json_value`.

    >>> from unittest.mock import ANY
    >>> to_expected({"n": 1, "id": ANY})
    {'n': 1, 'id': <ANY>}
    """
    if type(value) is dict and (flat := copy_flat(value)) is not None:
        return flat
    return convert_by(value, ConversionRules("expected", to_matcher, form, models))


def is_number(value: object) -> bool:
    """Return whether a Python object is a number, but not a boolean."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def _make_near(approximately: Any) -> Callable[[JsonValue], bool]:
    """Return a function that returns whether a value is a number that a `pytest.approx` accepts."""

    def accepts(actual: JsonValue) -> bool:
        if type(actual) not in NUMBERS:
            return False
        if isinstance(approximately.expected, Decimal):
            actual = Decimal(format_number(actual))
        try:
            return bool(approximately == actual)
        except (OverflowError, TypeError):  # a number too large for a double
            return False

    return accepts


def _compile_timed(written: Any) -> regex.Pattern[str]:
    """Return a compiled pattern with a time limit, by the `regex` package."""
    import regex

    if not isinstance(written, re.Pattern):
        return written  # already a pattern of `regex`
    flags = (getattr(regex, name) for name in "IMSXA" if written.flags & getattr(re, name))
    return compile_pattern(written.pattern, sum(flags))


def make_full_match(pattern: regex.Pattern[str]) -> Callable[[JsonValue], bool]:
    """Return a function that returns whether a value is a text that a pattern matches completely."""
    return lambda actual: type(actual) is str and matches_fully(pattern, actual)


def compile_pattern(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """Return a regular expression of the `regex` package, or raise a ValueError that explains the mistake."""
    import regex

    try:
        return regex.compile(pattern, flags)
    except (regex.error, ValueError, OverflowError, RecursionError, IndexError, TypeError) as error:
        shown = shorten(repr(pattern), _LONGEST)
        raise ValueError(f"the pattern {shown} is not a regular expression: {error}") from error


@final
class _MatchTimer(threading.local):
    """The time and slow results of patterns in the comparison that runs in this thread."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slow: dict[tuple[regex.Pattern[str], str], bool | str] = {}
        """Slow results by pattern and text; for a match that was stopped, the reason."""


_matching: Final = _MatchTimer()


def start_matching() -> None:
    """Reset the time of patterns for a new comparison."""
    if _matching.seconds:
        _matching.seconds, _matching.slow = 0.0, {}


def matches_fully(pattern: regex.Pattern[str], text: str) -> bool:
    """Return whether a pattern matches a complete text.

    Raises:
        TimeoutError: the pattern took too long on this text, or patterns took too long in this comparison.
    """
    slow = _matching.slow
    answer = slow.get((pattern, text)) if slow else None
    if answer is None:
        answer = _match_timed(pattern, text)
    if isinstance(answer, str):
        raise TimeoutError(answer)
    return answer


def replace_all(pattern: regex.Pattern[str], replacement: str, text: str) -> str:
    """Return a text in which each match of a pattern is replaced; `replacement` may refer to groups.

    Raises:
        TimeoutError: the pattern took too long on this text, or patterns took too long in this comparison.
    """
    key = pattern, f"{replacement}\0{text}"
    answer = _matching.slow.get(key) if _matching.slow else None
    if answer is None:
        replaced: list[str] = []

        def run(limit: float) -> bool:
            replaced.append(pattern.sub(replacement, text, timeout=limit))
            return True

        answer = _run_timed(pattern, text, run, key)
        if answer is True:
            return replaced[0]
    if isinstance(answer, str):
        raise TimeoutError(answer)
    return str(pattern.sub(replacement, text))


def _match_timed(pattern: regex.Pattern[str], text: str) -> bool | str:
    return _run_timed(
        pattern, text, lambda limit: pattern.fullmatch(text, timeout=limit) is not None, (pattern, text)
    )


def _run_timed(
    pattern: regex.Pattern[str],
    text: str,
    run: Callable[[float], bool],
    key: tuple[regex.Pattern[str], str],
) -> bool | str:
    """Return the result of a function that is given its time limit; the reason if it was stopped."""
    remaining = _TOTAL_SECONDS - _matching.seconds
    if remaining <= 0.0:
        return f"patterns took more than {_TOTAL_SECONDS:g} s in this comparison; make them simpler"
    limit, started = min(_SECONDS, remaining), perf_counter()
    answer: bool | str
    try:
        answer = run(limit)
        seconds = perf_counter() - started
    except TimeoutError:
        seconds = limit
        answer = (
            f"the pattern {shorten(repr(pattern.pattern), _LONGEST)} took more than {limit:.2g} s on a "
            f"text of {len(text)} characters; make it simpler"
        )
    _matching.seconds += seconds
    if seconds > _SLOW:
        _matching.slow[key] = answer
    return answer
