"""Who judges in a command, by its options and plugins; what triage leaves out; what it took."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.judging import add_judge, judge_of

if TYPE_CHECKING:
    from argparse import Namespace

    from pytest_jsonmatch.engine.triage import Triage
    from pytest_jsonmatch.semantic.bench import Bench

__all__ = ["add_judge", "bench_of", "tell_usage", "triage_of"]

_HINT: Final = (
    "the comparator 'semantic' has no judge to ask: give --judge-model, or register one by a plugin "
    "(-p MODULE; docs/judge.md)"
)


def bench_of(options: Namespace, hint: str = _HINT) -> Bench:
    """Return who judges: the judge of the options, else the one that a plugin has registered.

    To be called while plugins are known. Nobody is asked before there is a question.

    Args:
        options: of the command line.
        hint: what is said where there is no judge.

    Raises:
        CommandError: an option is not what it can be.
    """
    from pytest_jsonmatch.semantic.bench import Bench

    judge = None if options.judge == "off" else judge_of(options)
    return Bench(judge, mode=options.judge, hint=hint)


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
