"""The settings of a judge: their rules, and how they are read from ini files, TOML and command lines."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

JudgeMode: TypeAlias = Literal["live", "cached"]
MODES: Final[tuple[JudgeMode, ...]] = get_args(JudgeMode)
"""live: ask, and keep verdicts; cached: use only kept verdicts."""


def check_setting(name: str, value: object) -> None:
    """Raise a ConfigurationError if a setting has a value that it cannot have.

    >>> check_setting("batch_size", 0)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: batch_size is 0; it must be an integer, 1 or more
    """
    rule = _RULES[name]
    if not rule.holds(value):
        shown = f"{name} is {value!r}; " if rule.shown else f"{name}: "
        raise ConfigurationError(f"{shown}{rule.told}")


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
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _RULES:
            raise ConfigurationError(f"a judge has no setting {name!r}{did_you_mean(name, _RULES)}")
        if value is None or value == "":
            continue
        found[name] = value
        if isinstance(value, str) and (text := value.strip()):
            try:
                found[name] = _RULES[name].read(text)
            except ValueError:
                found[name] = text  # which its rule refuses
        check_setting(name, found[name])
    return found


class _SettingRule(NamedTuple):
    """The rule for a setting: which values it can have, and how it is read from text."""

    holds: Callable[[Any], bool]
    told: str
    read: Callable[[str], object] = str
    shown: bool = True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _integer(least: int) -> _SettingRule:
    return _SettingRule(
        lambda value: type(value) is int and value >= least, f"it must be an integer, {least} or more", int
    )


_RULES: Final[Mapping[str, _SettingRule]] = {
    "model": _SettingRule(lambda value: isinstance(value, str) and bool(value.strip()), "it must be a text"),
    "base_url": _SettingRule(
        lambda value: isinstance(value, str) and value.lower().startswith(("http://", "https://")),
        "it must begin with http:// or https://",
    ),
    # A value that breaks this rule may be a key: it is not shown.
    "api_key_env": _SettingRule(
        lambda value: (
            isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", value) is not None
        ),
        "it must be the name of an environment variable that has the key, such as GROQ_API_KEY; the key "
        "itself is never a setting",
        shown=False,
    ),
    "mode": _SettingRule(lambda value: value in MODES, "it must be 'live' or 'cached'"),
    "cache": _SettingRule(
        lambda value: isinstance(value, (str, Path)) and bool(str(value).strip()), "it must be a file's path"
    ),
    "batch_size": _integer(1),
    "concurrency": _integer(1),
    "timeout": _SettingRule(
        lambda value: _is_number(value) and value > 0, "it must be a number above 0", float
    ),
    "retries": _integer(0),
    "max_calls": _integer(0),
    "structured": _SettingRule(
        lambda value: isinstance(value, bool),
        "it must be true or false",
        lambda text: {"true": True, "false": False}.get(text.lower(), text),
    ),
    "temperature": _SettingRule(
        lambda value: value is None or (_is_number(value) and value >= 0),
        "it must be a number, 0 or more, or none",
        lambda text: None if text.lower() == "none" else float(text),
    ),
}
