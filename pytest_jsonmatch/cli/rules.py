"""What the options say about how values are compared, who judges, and which gates must hold."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import imported, read_config, schema_source
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.expressions import Gate, GateError, parse_gate
from pytest_jsonmatch.semantic.bench import Bench, as_judge, usage_text

if TYPE_CHECKING:
    from pytest_jsonmatch.semantic.judging import Judge

_NO_FILE: Final = "--judge-mode cached takes verdicts from a file: name it with --judge-cache"


@contextmanager
def comparing(options: Namespace) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a comparison of records while plugins are loaded, then write the judge's usage.

    Raises:
        OSError: a file can't be read.
        CommandError: an option has a value that it cannot have.
    """
    with judging(options) as judge:
        yield {
            "metric": options.metric,
            "id_field": options.id_field,
            "repair": getattr(options, "repair", False),
            "judge": judge,
            **rules_of(options),
        }


def rules_of(options: Namespace) -> dict[str, Any]:
    """Return the metric's options as `compare_json` and `compare_corpus` take them, the schema included.

    Raises:
        OSError: a file can't be read.
        CommandError: a file is not valid.
    """
    found = {} if options.config is None else read_config(options.config)
    if options.schema is not None:
        found["schema"] = schema_source(options.schema)
    return found


def gates_of(texts: Sequence[str], read: Callable[[str], Gate] = parse_gate) -> list[Gate]:
    """Return the gates that texts express.

    Args:
        texts: as they were written.
        read: the function that reads one of them.

    Raises:
        CommandError: one of them is not a gate.

    >>> [gate.text for gate in gates_of(["f1 >= 0.9"])]
    ['f1 >= 0.9']
    """
    found = []
    for text in texts:
        try:
            found.append(read(text))
        except GateError as error:
            raise CommandError(f"--gate {text!r}: {error.reason}") from None
    return found


@contextmanager
def judging(options: Namespace) -> Iterator[Bench]:
    """Yield the judge of the options while plugins are loaded, then write its usage to standard error.

    It is the one that the options name, else the one that a plugin has registered. A missing judge is an
    error only once there is a question.

    Raises:
        CommandError: an option has a value that it cannot have.
    """
    with plugins(options):
        bench = Bench(_judge_of(options), mode=options.judge_mode)
        yield bench
    if was_asked(bench):
        sys.stderr.write(f"{usage_text(bench.memory.usage)}\n")


def was_asked(bench: Bench) -> bool:
    """Tell whether there were questions for a judge."""
    usage = bench.memory.usage
    return bool(usage.items or usage.cached or usage.errors)


def _judge_of(options: Namespace) -> Judge | None:
    """Return the judge that the options name; None if they name none.

    Raises:
        CommandError: options contradict each other, a setting has a value that it cannot have, or there is
            no such judge.
    """
    settings = _settings(options)
    if options.judge_from is not None:
        if settings:
            raise CommandError("--judge-set is for --judge-model; a judge of your own has its own settings")
        return _kept(_imported(options.judge_from), options)
    if options.judge_cache is not None:
        settings["cache"] = options.judge_cache
    if not settings and options.judge_model is None:
        return None
    if options.judge_model is None and options.judge_mode in {None, "live"}:
        raise CommandError(f"--judge-{'cache' if options.judge_cache else 'set'} needs --judge-model")
    if options.judge_mode == "cached" and options.judge_cache is None:
        raise CommandError(_NO_FILE)
    from pytest_jsonmatch.semantic.openaijudge import make_judge

    return make_judge({**settings, "model": options.judge_model, "mode": options.judge_mode})


def _settings(options: Namespace) -> dict[str, str]:
    """Return the settings that `--judge-set` gives to the model."""
    found: dict[str, str] = {}
    for written in options.judge_settings:
        name, sign, value = written.partition("=")
        if not sign or not value:
            raise CommandError(f"--judge-set {written!r} is not SETTING=VALUE, such as batch_size=50")
        if name in {"model", "mode", "cache", *found}:
            raise CommandError(f"--judge-set {written!r}: {name} is given twice, or has its own option")
        found[name] = value
    return found


def _kept(judge: Judge, options: Namespace) -> Judge:
    """Return a user's judge; with `--judge-cache` its verdicts are kept in that file."""
    if options.judge_cache is None:
        if options.judge_mode == "cached" and not callable(getattr(judge, "in_mode", None)):
            raise CommandError(_NO_FILE)
        return judge
    from pytest_jsonmatch.semantic.cache import CachedJudge

    model = getattr(judge, "model", None)
    # Functions have no model name: without one, two of them would share their verdicts.
    named = model if isinstance(model, str) else options.judge_from
    return CachedJudge(judge, options.judge_cache, mode=options.judge_mode or "live", model=named)


def _imported(written: str) -> Judge:
    with suppress(ConfigurationError):
        if ":" in written:
            return as_judge(imported(written))
    told = "an object with judge(items), or a function of one item, such as conftest:judge"
    raise CommandError(f"--judge-from {written!r} is not a judge: name {told}")
