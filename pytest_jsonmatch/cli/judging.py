"""The options that say who judges what values mean, for all commands that ask a judge."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.sources import import_from_here

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from pytest_jsonmatch.semantic.judging import Judge

__all__ = ["add_judge", "judge_of", "questions_at_once"]

_OPTIONS: Final = MappingProxyType(
    {"model": "judge_model", "base_url": "judge_base_url", "cache": "judge_cache", "mode": "judge_mode"}
)
"""The settings that have options of their own."""


def add_judge(parser: ArgumentParser, modes: Sequence[str] = ("live", "cached", "off")) -> None:
    """Add the options, `modes` being what `--judge` can be.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_judge(parser)
    >>> parser.parse_args(["--judge-model", "gpt-4.1-mini"]).judge_model
    'gpt-4.1-mini'
    """
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--judge-model", metavar="NAME", help="the language model that judges (needs pytest-jsonmatch[judge])"
    )
    who.add_argument(
        "--judge-from",
        metavar="MODULE:NAME",
        help="a judge of one's own: an object with judge(items), or a function of one item",
    )
    parser.add_argument(
        "--judge-base-url", metavar="URL", help="the endpoint of the model; without it that of OpenAI"
    )
    parser.add_argument(
        "--judge-set",
        metavar="SETTING=VALUE",
        dest="judge_settings",
        action="append",
        default=[],
        help="another setting of the model, such as max_calls=100 or api_key_env=GROQ_API_KEY; repeatable",
    )
    parser.add_argument(
        "--judge-cache",
        metavar="FILE",
        help="the file in which verdicts are kept: what is there is not asked again",
    )
    told = {
        "live": "asks (the default)",
        "cached": "takes all verdicts from the cache",
        "off": "asks nobody",
    }
    parser.add_argument(
        "--judge",
        dest="judge_mode",
        choices=modes,
        default="live",
        help="; ".join(f"{mode} {told[mode]}" for mode in modes),
    )


def judge_of(options: Namespace) -> Judge | None:
    """Return the judge that the options name; None if they name none.

    Raises:
        CommandError: the options do not go together, or there is no such judge.
        ConfigurationError: a setting is not what it can be, or the extra is not installed.
    """
    if options.judge_from is not None:
        for name, given in (("base-url", options.judge_base_url), ("set", options.judge_settings)):
            if given:
                raise CommandError(f"--judge-{name} is for --judge-model; a judge of your own knows its own")
        return _kept(_imported(options.judge_from), options)
    named = (options.judge_model, options.judge_base_url, options.judge_cache, *options.judge_settings)
    if not any(named) and options.judge_mode == "live":
        return None
    from pytest_jsonmatch.semantic.making import JudgeSettings, make_judge

    return make_judge(JudgeSettings.of(_settings(options)))


def questions_at_once(options: Namespace) -> int:
    """Return how many questions keep the judge of the options busy: so many are asked in one call.

    Raises:
        ConfigurationError: a setting is not what it can be.
    """
    from pytest_jsonmatch.semantic.judging import CallableJudge
    from pytest_jsonmatch.semantic.making import JudgeSettings

    if options.judge_from is None:
        settings = JudgeSettings.of(_settings(options))
    elif isinstance(_imported(options.judge_from), CallableJudge):
        return 1
    else:
        settings = JudgeSettings()
    return settings.batch_size * settings.concurrency


def _kept(judge: Judge, options: Namespace) -> Judge:
    """Return a judge of somebody, its verdicts kept as those of a model are."""
    if options.judge_cache is None:
        if options.judge_mode == "cached":
            raise CommandError("--judge cached takes verdicts from a file: name it with --judge-cache")
        if options.judge_mode == "live":
            return judge
    from pytest_jsonmatch.semantic.cache import CachedJudge

    model = getattr(judge, "model", None)
    return CachedJudge(
        judge,
        options.judge_cache,
        mode=options.judge_mode,
        # Functions have no names of their own: two of them would share their verdicts.
        model=model if isinstance(model, str) else options.judge_from,
    )


def _settings(options: Namespace) -> dict[str, object]:
    found: dict[str, object] = {}
    for written in options.judge_settings:
        name, sign, value = written.partition("=")
        if not sign or not value:
            raise CommandError(f"--judge-set {written!r} is not SETTING=VALUE, such as max_calls=100")
        if name in found or name in _OPTIONS:
            raise CommandError(f"--judge-set {written!r}: {name} is given twice, or has an option of its own")
        found[name] = value
    return found | {name: getattr(options, option) for name, option in _OPTIONS.items()}


def _imported(written: str) -> Judge:
    module_name, colon, name = written.partition(":")
    if not module_name or not colon or not name.isidentifier():
        raise CommandError(f"--judge-from {written!r} is not MODULE:NAME, such as conftest:judge")
    module: Any = import_from_here(module_name, written)
    try:
        found: Any = getattr(module, name)
    except AttributeError:
        from pytest_jsonmatch.engine.errors import did_you_mean

        public = [each for each in dir(module) if not each.startswith("_")]
        raise CommandError(
            f"--judge-from {written!r}: {module_name!r} has no {name!r}{did_you_mean(name, public)}"
        ) from None
    from pytest_jsonmatch.semantic.judging import CallableJudge, Judge

    if isinstance(found, type):
        raise CommandError(f"--judge-from {written!r} is a class; name an object of it")
    if isinstance(found, Judge):
        return found
    if callable(found):
        return CallableJudge(found)
    raise CommandError(
        f"--judge-from {written!r} is no judge: that has judge(items) and usage, or is a function of one item"
    )
