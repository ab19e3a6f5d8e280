"""The options that say who judges, for the commands that compare."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import CommandError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pytest_jsonmatch.engine.triage import Triage
    from pytest_jsonmatch.semantic.bench import Bench

__all__ = ["add_judge", "bench_of", "tell_usage", "triage_of"]

_MODES: Final = ("live", "cached", "off")


def add_judge(parser: ArgumentParser) -> None:
    """Add the options.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_judge(parser)
    >>> parser.parse_args(["--judge-model", "gpt-4.1-mini"]).judge
    'live'
    """
    parser.add_argument(
        "--judge-model", metavar="NAME", help="the model that the comparator semantic asks (docs/judge.md)"
    )
    parser.add_argument(
        "--judge-base-url",
        metavar="URL",
        help="where it is served, such as http://localhost:11434/v1; by default OpenAI",
    )
    parser.add_argument(
        "--judge-key-env", metavar="VARIABLE", help="the environment variable that holds the key for it"
    )
    parser.add_argument("--judge-cache", metavar="FILE", help="keep verdicts in a file, and ask once only")
    parser.add_argument(
        "--judge-max-calls", metavar="N", help="the budget in requests; what is left then is a batch error"
    )
    parser.add_argument(
        "--judge",
        choices=_MODES,
        default="live",
        help="live: ask (the default); cached: verdicts of the cache only; off: ask nobody",
    )


def bench_of(options: Namespace) -> Bench:
    """Return who judges: the model of the options, else the judge that a plugin has registered.

    To be called while plugins are known. The judge is made when there is a question.

    Raises:
        CommandError: an option is not what it can be.
    """
    from pytest_jsonmatch.engine.errors import ConfigurationError
    from pytest_jsonmatch.semantic.bench import Bench

    given: dict[str, Any] = {
        "model": options.judge_model,
        "base_url": options.judge_base_url,
        "api_key_env": options.judge_key_env,
        "cache": options.judge_cache,
        "max_calls": options.judge_max_calls,
    }
    judge = None
    named = {name: value for name, value in given.items() if value is not None}
    if named and options.judge != "off":
        from pytest_jsonmatch.semantic.making import JudgeSettings, make_judge

        if options.judge == "live" and options.judge_model is None:
            option = f"--judge-{next(iter(named)).replace('_', '-').replace('api-key', 'key')}"
            raise CommandError(f"{option} needs --judge-model")
        try:
            judge = make_judge(JudgeSettings.of({**named, "mode": options.judge}))
        except ConfigurationError as error:
            raise CommandError(f"--judge: {error}") from None
    return Bench(judge, mode=options.judge, hint=_HINT)


_HINT: Final = (
    "the comparator 'semantic' has no judge to ask: give --judge-model, or register one by a plugin "
    "(-p MODULE; docs/judge.md)"
)


def triage_of(options: Namespace) -> Triage | None:
    """Return which questions `jsonmatch compare` asks; None: all.

    Raises:
        CommandError: there is no threshold to stop at.
    """
    if not options.judge_triage:
        return None
    if options.threshold is None:
        raise CommandError("--judge-triage needs --threshold: it stops where that is decided")
    from pytest_jsonmatch.engine.triage import Triage

    return Triage({"score": options.threshold}, beta=options.beta)


def tell_usage(bench: Bench, saved: int = 0) -> None:
    """Write what the judge did to standard error, in a line, if it was asked or was to be."""
    from pytest_jsonmatch.semantic.bench import usage_text

    usage = bench.memory.usage
    if saved or usage.items or usage.cached or usage.errors:
        sys.stderr.write(f"{usage_text(usage, saved)}\n")
