"""Options of commands about comparison rules, the judge, and gates."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import import_named, read_config, schema_source
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.expressions import Gate, GateError, parse_gate
from pytest_jsonmatch.semantic.bench import Bench, as_judge, format_usage
from pytest_jsonmatch.semantic.settings import read_settings

if TYPE_CHECKING:
    from pytest_jsonmatch.semantic.judging import Judge


@contextmanager
def comparing(options: Namespace) -> Iterator[dict[str, Any]]:
    """Yield the arguments for a comparison of records while plugins are loaded; then write the judge's usage.

    Raises:
        OSError: a file can't be read.
        CommandError: an option has an invalid value.
    """
    with judging(options) as judge:
        yield {
            "metric": options.metric,
            "id": options.id,
            "repair": getattr(options, "repair", False),
            "judge": judge,
            **rules_of(options),
        }


def rules_of(options: Namespace) -> dict[str, Any]:
    """Return the options of the metric, with the schema, as arguments of `compare_json` and `compare_corpus`.

    Raises:
        OSError: a file can't be read.
        CommandError: a file is not valid.
    """
    rules = {} if options.config is None else read_config(options.config)
    if options.schema is not None:
        rules["schema"] = schema_source(options.schema)
    return rules


def gates_of(texts: Sequence[str], read: Callable[[str], Gate] = parse_gate) -> list[Gate]:
    """Parse gates.

    Args:
        texts: the texts of the gates.
        read: the function that parses one of them.

    Raises:
        CommandError: a text is not a gate.

    >>> [gate.text for gate in gates_of(["f1 >= 0.9"])]
    ['f1 >= 0.9']
    """
    gates = []
    for text in texts:
        try:
            gates.append(read(text))
        except GateError as error:
            raise CommandError(f"--gate {text!r}: {str(error).splitlines()[0]}") from None
    return gates


@contextmanager
def judging(options: Namespace) -> Iterator[Bench]:
    """Yield the judge while plugins are loaded; then write its usage to standard error.

    The judge is the one that the options name, or the one that a plugin has registered. A missing judge is an
    error only if there is a question.

    Raises:
        CommandError: an option has an invalid value.
    """
    settings = judge_settings(options)
    with plugins(options):
        bench = Bench(_judge_of(settings), mode=settings.get("mode"))
        yield bench
    if was_asked(bench):
        sys.stderr.write(f"{format_usage(bench.memory.usage)}\n")


def was_asked(bench: Bench) -> bool:
    """Return whether there were questions for the judge."""
    usage = bench.memory.usage
    return bool(usage.items or usage.cached or usage.errors)


def judge_settings(options: Namespace) -> dict[str, Any]:
    """Return the settings of `--judge`: those of `jsonmatch_judge`, and `from`, which names a custom judge.

    Raises:
        CommandError: a setting is unknown, or has an invalid value.
    """
    texts: dict[str, str] = {}
    for setting in options.judge:
        name, sign, value = setting.partition("=")
        if not sign or not value:
            raise CommandError(f"--judge must be NAME=VALUE, such as model=gpt-4.1-mini, got {setting!r}")
        if name in texts:
            raise CommandError(f"--judge {setting!r}: {name} is given twice")
        texts[name] = value
    own = {"from": texts.pop("from")} if "from" in texts else {}
    return {**own, **read_settings(texts)}


def _judge_of(settings: Mapping[str, Any]) -> Judge | None:
    """Return the judge that settings describe; None if they do not name one.

    Raises:
        CommandError: there is no such judge, or it does not have these settings.
    """
    if "from" in settings:
        return _custom_judge(settings["from"], settings.get("mode"), settings.get("cache"), settings.keys())
    if settings.keys() <= {"mode"}:
        return None
    from pytest_jsonmatch.semantic.openaijudge import make_judge

    return make_judge(settings)


def _custom_judge(reference: str, mode: Any, cache: str | None, names: Collection[str]) -> Judge:
    """Return a custom judge; with a cache, its verdicts are saved in that file."""
    if unknown := sorted(set(names).difference({"from", "mode", "cache"})):
        raise CommandError(f"--judge {unknown[0]}=...: a judge of your own has its own settings")
    judge = _import_judge(reference)
    if cache is None:
        if mode == "cached" and not callable(getattr(judge, "in_mode", None)):
            raise CommandError("the mode 'cached' needs a cache: name the file of verdicts")
        return judge
    from pytest_jsonmatch.semantic.cache import CachedJudge

    model = getattr(judge, "model", None)
    # Functions have no model name; without a name, two of them would share their verdicts.
    return CachedJudge(
        judge, cache, mode=mode or "live", model=model if isinstance(model, str) else reference
    )


def _import_judge(reference: str) -> Judge:
    with suppress(ConfigurationError):
        if ":" in reference:
            return as_judge(import_named(reference))
    hint = "an object with judge(items), or a function of one item, such as conftest:judge"
    raise CommandError(f"--judge from={reference} is not a judge: name {hint}")
