"""The settings of a judge: read them from ini files, TOML and command lines, and check them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

JudgeMode: TypeAlias = Literal["live", "cached"]
MODES: Final[tuple[JudgeMode, ...]] = get_args(JudgeMode)
"""live: ask, and cache the verdicts; cached: use only cached verdicts."""


def check_setting(name: str, value: object) -> None:
    """Raise a ConfigurationError if the value of a setting is invalid.

    >>> check_setting("batch_size", 0)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: batch_size must be an integer, 1 or more, got 0
    """
    is_valid, requirement = _RULES[name]
    if not is_valid(value):
        # A value that is not the name of an environment variable may be the key itself, so it is not shown.
        shown = "" if name == "api_key_env" else f", got {value!r}"
        raise ConfigurationError(f"{name} must {requirement}{shown}")


def read_settings(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings in an ini file, TOML or a command line, where numbers may be text.

    Args:
        given: arguments of `OpenAIJudge` by the same names, `mode`, and `cache`, the file of verdicts; None
            and empty text are ignored.

    Raises:
        ConfigurationError: a setting is unknown or has an invalid value.

    >>> read_settings({"model": "gpt-4.1-mini", "max_calls": "100", "base_url": ""})
    {'model': 'gpt-4.1-mini', 'max_calls': 100}
    >>> read_settings({"max_call": 1})
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: a judge has no setting 'max_call'; did you mean 'max_calls'?
    """
    settings: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _RULES:
            raise ConfigurationError(f"a judge has no setting {name!r}{did_you_mean(name, _RULES)}")
        if value is None or value == "":
            continue
        text = value.strip() if isinstance(value, str) else value
        parsed = _parse_text(text)
        settings[name] = parsed if _RULES[name][0](parsed) else text
        check_setting(name, settings[name])
    return settings


def _parse_text(text: object) -> object:
    """Convert text to a number, boolean or None if possible; return anything else unchanged."""
    words = {"true": True, "false": False, "none": None}
    if not isinstance(text, str):
        return text
    if text.lower() in words:
        return words[text.lower()]
    for number_type in (int, float):
        with suppress(ValueError):
            return number_type(text)
    return text


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _require_integer(minimum: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: type(value) is int and value >= minimum, f"be an integer, {minimum} or more"


_KEY: Final = (
    "be the name of an environment variable that contains the key, such as GROQ_API_KEY; the key "
    "itself is never a setting"
)
_RULES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "model": (_is_text, "be text"),
    "base_url": (
        lambda value: _is_text(value) and value.lower().startswith(("http://", "https://")),
        "begin with http:// or https://",
    ),
    "api_key_env": (
        lambda value: _is_text(value) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", value) is not None,
        _KEY,
    ),
    "mode": (lambda value: value in MODES, "be 'live' or 'cached'"),
    "cache": (lambda value: isinstance(value, Path) or _is_text(value), "be a file's path"),
    "batch_size": _require_integer(1),
    "concurrency": _require_integer(1),
    "timeout": (lambda value: _is_number(value) and value > 0, "be a number above 0"),
    "retries": _require_integer(0),
    "max_calls": _require_integer(0),
    "structured": (lambda value: isinstance(value, bool), "be true or false"),
    "temperature": (
        lambda value: value is None or (_is_number(value) and value >= 0),
        "be a number, 0 or more, or none",
    ),
}
"""For each setting, a predicate for valid values, and the requirement as it follows "must"."""
