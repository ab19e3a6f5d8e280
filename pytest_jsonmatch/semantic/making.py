"""A judge made of plain settings, as ini files, TOML and command lines have them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.semantic.judging import Judge

__all__ = ["MODES", "STRUCTURED", "JudgeSettings", "Mode", "Structured", "make_judge"]

Mode: TypeAlias = Literal["live", "cached", "off"]
MODES: Final[tuple[Mode, ...]] = ("live", "cached", "off")
"""Ask, and keep verdicts; take kept verdicts and ask nobody; judge nothing."""

Structured: TypeAlias = Literal["json_schema", "json_object", "none"]
STRUCTURED: Final[tuple[Structured, ...]] = ("json_schema", "json_object", "none")
"""How the form of an answer is asked for."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The arguments of `OpenAIJudge` by the same names, with a mode and a file of verdicts.

    Raises:
        ConfigurationError: a setting has a value that it cannot have; the message names it.

    >>> JudgeSettings(model="gpt-4.1-mini", max_calls=100).mode
    'live'
    >>> JudgeSettings(model="gpt-4.1-mini", batch_size=0)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: batch_size is 0; it is an integer, 1 or more
    """

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    azure_endpoint: str | None = None
    api_version: str | None = None
    mode: Mode = "live"
    cache: str | Path | None = None
    """The file of verdicts; the mode `cached` needs one."""
    batch_size: int = 20
    concurrency: int = 4
    timeout: float = 60.0
    retries: int = 2
    max_calls: int | None = None
    max_tokens: int | None = None
    structured: Structured = "json_schema"
    temperature: float | None = 0.0
    seed: int | None = None
    instructions: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value, rule = getattr(self, field.name), _RULES[field.name]
            if not (value is None and field.default is None) and not rule.holds(value):
                shown = f"{field.name} is {value!r}; " if rule.shown else f"{field.name}: "
                raise ConfigurationError(f"{shown}{rule.told}")
        if self.azure_endpoint is not None and self.api_version is None:
            raise ConfigurationError("azure_endpoint needs an api_version, such as '2024-10-21'")
        if self.azure_endpoint is not None and self.base_url is not None:
            raise ConfigurationError("base_url and azure_endpoint are two endpoints; give one")

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> JudgeSettings:
        """Return settings read from an ini file, TOML or a command line, where numbers may be texts.

        Args:
            settings: by the names of this class; None and empty text are ignored.

        Raises:
            ConfigurationError: there is no such setting, or it has a value that it cannot have.

        >>> JudgeSettings.of({"model": "gpt-4.1-mini", "max_calls": "100"}).max_calls
        100
        >>> JudgeSettings.of({"sead": 1})
        Traceback (most recent call last):
        ...
        pytest_jsonmatch.ConfigurationError: a judge has no setting 'sead'; did you mean 'seed'?
        """
        given: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in _RULES:
                raise ConfigurationError(f"a judge has no setting {name!r}{did_you_mean(name, _RULES)}")
            if isinstance(value, str) and (text := value.strip()):
                try:
                    given[name] = _RULES[name].read(text)
                except ValueError:
                    given[name] = text  # which its rule refuses
            elif value is not None and value != "":
                given[name] = value
        return cls(**given)


class _Rule(NamedTuple):
    """What a setting can be."""

    holds: Callable[[Any], bool]
    told: str
    read: Callable[[str], object] = str
    shown: bool = True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _integer(least: int) -> _Rule:
    return _Rule(
        lambda value: type(value) is int and value >= least, f"it is an integer, {least} or more", int
    )


def _one_of(words: tuple[str, ...]) -> _Rule:
    named = ", ".join(map(repr, words[:-1]))
    return _Rule(lambda value: value in words, f"it is {named} or {words[-1]!r}")


_TEXT: Final = _Rule(lambda value: isinstance(value, str) and bool(value.strip()), "it is a text")
_ADDRESS: Final = _Rule(
    lambda value: isinstance(value, str) and value.lower().startswith(("http://", "https://")),
    "it begins with http:// or https://",
)
_RULES: Final[Mapping[str, _Rule]] = {
    "model": _TEXT,
    "base_url": _ADDRESS,
    # (A value that breaks this rule may be a key: it is not shown.)
    "api_key_env": _Rule(
        lambda value: (
            isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", value) is not None
        ),
        "it is the name of an environment variable that holds the key, such as GROQ_API_KEY; the key itself "
        "is never a setting",
        shown=False,
    ),
    "azure_endpoint": _ADDRESS,
    "api_version": _TEXT,
    "mode": _one_of(MODES),
    "cache": _Rule(
        lambda value: isinstance(value, (str, Path)) and bool(str(value).strip()), "it is the path of a file"
    ),
    "batch_size": _integer(1),
    "concurrency": _integer(1),
    "timeout": _Rule(lambda value: _is_number(value) and value > 0, "it is a number above 0", float),
    "retries": _integer(0),
    "max_calls": _integer(0),
    "max_tokens": _integer(0),
    "structured": _one_of(STRUCTURED),
    "temperature": _Rule(
        lambda value: value is None or (_is_number(value) and value >= 0),
        "it is a number, 0 or more, or none",
        lambda text: None if text.lower() == "none" else float(text),
    ),
    "seed": _integer(0),
    "instructions": _TEXT,
}


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that the settings describe; no client is made before it is asked.

    With a `cache` the judge is a CachedJudge; in the mode `cached` it needs neither network nor key nor the
    extra `judge`. Without a model the mode `cached` replays the verdicts of any model (RecordedJudge).

    Raises:
        ConfigurationError: there is no model to ask, or no cache to read.

    >>> make_judge(JudgeSettings(model="gpt-4.1-mini", cache="verdicts.jsonl", mode="off")).usage.calls
    0
    """
    from pytest_jsonmatch.semantic.cache import CachedJudge, RecordedJudge
    from pytest_jsonmatch.semantic.openaijudge import OpenAIJudge

    if settings.mode == "cached" and settings.cache is None:
        raise ConfigurationError("the mode 'cached' needs a cache: name the file of verdicts")
    if settings.model is None:
        if settings.mode == "cached" and settings.cache is not None:
            return RecordedJudge(settings.cache)
        if settings.mode == "live":
            raise ConfigurationError("no model judges: name one, such as 'gpt-4.1-mini'")
    own = {name: getattr(settings, name) for name in _RULES if name not in {"model", "mode", "cache"}}
    judge = OpenAIJudge(settings.model or "none", **own)
    if settings.cache is None and settings.mode == "live":
        return judge
    return CachedJudge(judge, settings.cache, mode=settings.mode)
