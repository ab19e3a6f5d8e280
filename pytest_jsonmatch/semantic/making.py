"""A judge made of plain settings, as ini files, TOML and command lines have them."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.cache import CachedJudge
from pytest_jsonmatch.semantic.judging import CallableJudge, Judge, JudgeError
from pytest_jsonmatch.semantic.openaijudge import OpenAIJudge
from pytest_jsonmatch.semantic.settings import read_settings


def make_judge(given: Mapping[str, object]) -> Judge:
    """Return the judge that settings describe; its client is made when it is first asked.

    The mode `cached` needs no network, no key and not the extra `judge`. Without a model it replays the
    verdicts of any model.

    Args:
        given: as for `read_settings`.

    Raises:
        ConfigurationError: a setting has a value that it cannot have, or the model or the cache is missing.

    >>> make_judge({"model": "gpt-4.1-mini", "cache": "verdicts.jsonl", "mode": "cached"})
    CachedJudge(OpenAIJudge('gpt-4.1-mini'), mode='cached')
    """
    settings = read_settings(given)
    model, mode = settings.pop("model", None), settings.pop("mode", "live")
    cache = settings.pop("cache", None)
    if mode == "off":
        return CallableJudge(lambda _: JudgeError("off", "no judge is asked (mode 'off')"))
    if mode == "cached" and cache is None:
        raise ConfigurationError("the mode 'cached' needs a cache: name the file of verdicts")
    if model is None:
        if mode == "cached":
            return CachedJudge(None, cache)
        raise ConfigurationError("no model judges: name one, such as 'gpt-4.1-mini'")
    judge = OpenAIJudge(model, **settings)
    return judge if cache is None else CachedJudge(judge, cache, mode=mode)
