"""A judge made of plain settings, as ini files, TOML and command lines have them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.semantic.judging import Judge

__all__ = ["MODES", "STRUCTURED", "JudgeSettings", "Mode", "Structured", "make_judge"]

Mode: TypeAlias = Literal["live", "cached", "off"]
MODES: Final[tuple[Mode, ...]] = ("live", "cached", "off")
"""Ask, and keep what is said; take what was said before and ask nobody; judge nothing."""

Structured: TypeAlias = Literal["auto", "json_schema", "json_object", "none"]
STRUCTURED: Final[tuple[Structured, ...]] = ("auto", "json_schema", "json_object", "none")
"""How the form of an answer is asked for; `auto` tries them in this order, once for an endpoint."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """Who judges, at what cost, and where verdicts are kept.

    Raises:
        ConfigurationError: a setting is not what it can be; the message names it.

    >>> JudgeSettings(model="gpt-4.1-mini", max_calls=100).mode
    'live'
    >>> JudgeSettings(model="gpt-4.1-mini", batch_size=0)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: batch_size is 0; it is an integer, 1 or more
    """

    model: str | None = None
    """The name of the model, as the endpoint knows it (for Azure the deployment)."""
    base_url: str | None = None
    """The endpoint, such as `http://localhost:11434/v1`; None: OpenAI's, or that in `OPENAI_BASE_URL`."""
    api_key_env: str | None = None
    """The environment variable that holds the key. None: `OPENAI_API_KEY` (Azure: `AZURE_OPENAI_API_KEY`),
    but for a `base_url` none: a key is never sent to an endpoint that it was not named for."""
    azure_endpoint: str | None = None
    """The endpoint of an Azure OpenAI resource; it needs an `api_version`."""
    api_version: str | None = None
    """The version of Azure's API, such as `2024-10-21`."""
    mode: Mode = "live"
    cache: str | Path | None = None
    """The file of verdicts; `cached` needs one."""
    batch_size: int = 20
    """How many pairs go into one request at most."""
    concurrency: int = 4
    """How many requests are under way at once at most."""
    timeout: float = 60.0
    """Seconds for one request, from its first byte to the last of its answer."""
    retries: int = 3
    """How often a request is sent again after 429, 5xx, a cut connection or a timeout."""
    max_calls: int | None = None
    """The budget in requests, retries included."""
    max_tokens: int | None = None
    """The budget in tokens, of prompts and answers together."""
    max_cost: float | None = None
    """The budget in the currency of the two prices."""
    price_per_million_prompt_tokens: float | None = None
    price_per_million_completion_tokens: float | None = None
    structured: Structured = "auto"
    instructions: str | None = None
    """What the judge is told beside the usual: what counts as the same in this project."""
    seed: int | None = None
    """Sent along where it is given; endpoints that know it answer more alike."""

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            check(name, getattr(self, name))
        if self.max_cost is not None and None in {
            self.price_per_million_prompt_tokens,
            self.price_per_million_completion_tokens,
        }:
            raise ConfigurationError(
                "max_cost needs price_per_million_prompt_tokens and price_per_million_completion_tokens"
            )
        if self.azure_endpoint is not None and self.api_version is None:
            raise ConfigurationError("azure_endpoint needs an api_version, such as '2024-10-21'")
        if self.azure_endpoint is not None and self.base_url is not None:
            raise ConfigurationError("base_url and azure_endpoint are two endpoints; give one")

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> JudgeSettings:
        """Return settings read from an ini file, TOML or a command line: numbers may be texts.

        Args:
            settings: by the names of this class; None and empty text are as if they were not there.

        Raises:
            ConfigurationError: there is no such setting, or it is not what it can be.

        >>> JudgeSettings.of({"model": "gpt-4.1-mini", "max_calls": "100"}).max_calls
        100
        >>> JudgeSettings.of({"sead": 1})
        Traceback (most recent call last):
        ...
        pytest_jsonmatch.ConfigurationError: a judge has no setting 'sead'; did you mean 'seed'?
        """
        known = {field.name: str(field.type) for field in fields(cls)}
        given: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in known:
                raise ConfigurationError(f"a judge has no setting {name!r}{did_you_mean(name, known)}")
            if value is None or (isinstance(value, str) and not value.strip()):
                continue
            given[name] = _number(value.strip(), known[name]) if isinstance(value, str) else value
        return cls(**given)


def _number(text: str, kind: str) -> object:
    """Return the number that a text says, if the setting is one; else the text, for the checks to refuse."""
    for word, read in (("int", int), ("float", float)):
        if kind.startswith(word):
            try:
                return read(text)
            except ValueError:
                return text
    return text


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that the settings describe; no client is made before it is asked.

    With a `cache` the judge is a CachedJudge; in the mode `cached` it needs neither network nor key nor the
    extra `judge`. Without a model the mode `cached` replays what any model has said (RecordedJudge).

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
    judge = OpenAIJudge(
        settings.model or "none",
        base_url=settings.base_url,
        api_key_env=settings.api_key_env,
        azure_endpoint=settings.azure_endpoint,
        api_version=settings.api_version,
        batch_size=settings.batch_size,
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        retries=settings.retries,
        max_calls=settings.max_calls,
        max_tokens=settings.max_tokens,
        max_cost=settings.max_cost,
        price_per_million_prompt_tokens=settings.price_per_million_prompt_tokens,
        price_per_million_completion_tokens=settings.price_per_million_completion_tokens,
        structured=settings.structured,
        instructions=settings.instructions,
        seed=settings.seed,
    )
    if settings.cache is None and settings.mode == "live":
        return judge
    return CachedJudge(judge, settings.cache, mode=settings.mode)


def _text(name: str, value: object) -> None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ConfigurationError(f"{name} is {value!r}; it is a text")


def _variable(name: str, value: object) -> None:
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)):
        # (What it is instead may be a key: it is not shown.)
        raise ConfigurationError(
            f"{name} is the name of an environment variable that holds the key, such as GROQ_API_KEY; "
            "the key itself is never a setting"
        )


def _address(name: str, value: object) -> None:
    _text(name, value)
    if isinstance(value, str) and not value.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"{name} is {value!r}; it begins with http:// or https://")


def _path(name: str, value: object) -> None:
    if value is not None and (not isinstance(value, (str, Path)) or not str(value).strip()):
        raise ConfigurationError(f"{name} is {value!r}; it is the path of a file")


def _integer(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name} is {value!r}; it is an integer, {least} or more")


def _above_zero(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ConfigurationError(f"{name} is {value!r}; it is a number above 0")


def _price(name: str, value: object) -> None:
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf
    ):
        raise ConfigurationError(f"{name} is {value!r}; it is a number, 0 or more")


def _one_of(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise ConfigurationError(f"{name} is {value!r}{did_you_mean(str(value), words)}")


_CHECKS: Final[Mapping[str, Any]] = {
    "model": _text,
    "base_url": _address,
    "api_key_env": _variable,
    "azure_endpoint": _address,
    "api_version": _text,
    "mode": lambda name, value: _one_of(name, value, MODES),
    "cache": _path,
    "batch_size": lambda name, value: _integer(name, value, 1),
    "concurrency": lambda name, value: _integer(name, value, 1),
    "timeout": _above_zero,
    "retries": lambda name, value: _integer(name, value, 0),
    "max_calls": lambda name, value: None if value is None else _integer(name, value, 0),
    "max_tokens": lambda name, value: None if value is None else _integer(name, value, 0),
    "max_cost": _price,
    "price_per_million_prompt_tokens": _price,
    "price_per_million_completion_tokens": _price,
    "structured": lambda name, value: _one_of(name, value, STRUCTURED),
    "instructions": _text,
    "seed": lambda name, value: None if value is None else _integer(name, value, 0),
}
