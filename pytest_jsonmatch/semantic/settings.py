"""The settings of a judge: their rules, and how they are read from ini files, TOML and command lines."""

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
"""live: ask, and keep verdicts; cached: use only kept verdicts."""


def check_setting(name: str, value: object) -> None:
    """Raise a ConfigurationError if a setting has a value that it cannot have.

    >>> check_setting("batch_size", 0)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: batch_size must be an integer, 1 or more, got 0
    """
    holds, requirement = _RULES[name]
    if not holds(value):
        # A wrong name of the variable with the key may be the key: it is not shown.
        shown = "" if name == "api_key_env" else f", got {value!r}"
        raise ConfigurationError(f"{name} must {requirement}{shown}")


def read_settings(given: Mapping[str, object]) -> dict[str, Any]:
    """Return settings read from an ini file, TOML or a command line, where numbers may be texts.

    Args:
        given: the arguments of `OpenAIJudge` by the same names, `mode`, and `cache`, the file of verdicts;
            None and empty text are ignored.

    Raises:
        ConfigurationError: there is no such setting, or it has a value that it cannot have.

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
        plain = _plain(text)
        settings[name] = plain if _RULES[name][0](plain) else text
        check_setting(name, settings[name])
    return settings


def _plain(text: object) -> object:
    """Return the number or the word that a text stands for; anything else as it is."""
    words = {"true": True, "false": False, "none": None}
    if not isinstance(text, str):
        return text
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _integer(least: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: type(value) is int and value >= least, f"be an integer, {least} or more"


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
    "batch_size": _integer(1),
    "concurrency": _integer(1),
    "timeout": (lambda value: _is_number(value) and value > 0, "be a number above 0"),
    "retries": _integer(0),
    "max_calls": _integer(0),
    "structured": (lambda value: isinstance(value, bool), "be true or false"),
    "temperature": (
        lambda value: value is None or (_is_number(value) and value >= 0),
        "be a number, 0 or more, or none",
    ),
}
"""For each setting, a check of its value, and the requirement as it follows "must"."""
