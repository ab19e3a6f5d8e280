"""The options that say who judges what values mean, for all commands that ask a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.sources import import_from_here

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from pytest_jsonmatch.semantic.judging import Judge

__all__ = ["add_judge", "judge_of"]


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
        "--judge-cache", metavar="PATH", help="where verdicts are kept: what is there is not asked again"
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
        if options.judge_base_url is not None:
            raise CommandError(
                "--judge-base-url is for --judge-model; a judge of your own has its own endpoint"
            )
        return _imported(options.judge_from)
    return None


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
