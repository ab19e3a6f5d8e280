"""Options of commands about comparison rules, the judge, and gates."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.cli.arguments import RULE_OPTIONS, CommandError
from pytest_jsonmatch.cli.inputs import import_named, read_config, schema_source
from pytest_jsonmatch.cli.plugins import plugins
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonParseError
from pytest_jsonmatch.gate.expressions import Gate, GateError, parse_gate
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.semantic.bench import Bench, as_judge, format_usage
from pytest_jsonmatch.semantic.settings import read_settings
from pytest_jsonmatch.support.defaults import METRIC

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
        rules = {"repair": getattr(options, "repair", False), **rules_of(options)}
        yield {**rules, "id": options.id, "judge": judge}


def rules_of(options: Namespace) -> dict[str, Any]:
    """Return the metric and its options as arguments of `compare_json` and `compare_corpus`.

    Options of the command line take precedence over those of `--config`: mappings are merged by member, lists
    are joined.

    Raises:
        OSError: a file can't be read.
        CommandError: a file or an option is not valid.
    """
    rules = {} if options.config is None else read_config(options.config)
    for name, value in _given_rules(options).items():
        earlier = rules.get(name)
        if type(value) is dict and type(earlier) is dict:
            rules[name] = {**earlier, **value}
        else:
            rules[name] = [*earlier, *value] if type(value) is list and type(earlier) is list else value
    if options.schema is not None:
        rules["schema"] = schema_source(options.schema)
    rules["metric"] = options.metric or rules.get("metric") or METRIC
    return rules


def _given_rules(options: Namespace) -> dict[str, Any]:
    """Return the options of the metric on the command line, each checked."""
    from pytest_jsonmatch.engine.plan.options import Options, merge_options

    given: dict[str, Any] = {}
    for name, (usage, _, is_repeated) in RULE_OPTIONS.items():
        value = getattr(options, name, None)
        if value is None or value == []:
            continue
        option = usage.split()[0]
        if "=" in usage:
            given[name] = dict(_read_assignment(option, text) for text in value)
        elif is_repeated:
            given[name] = list(value)
        else:
            given[name] = _read_word(value)
            if name == "arrays" and value.startswith("key="):
                given[name] = {"key": value.removeprefix("key=")}
        try:
            merge_options(Options(), {name: given[name]})
        except ConfigurationError as error:
            # An error about the whole value begins with the name of the option.
            reason = str(error)
            named = reason.startswith((f"{name} ", f"{name}:"))
            reason = reason.removeprefix(name) if named else f": {reason}"
            raise CommandError(f"{option}{reason}") from None
    return given


def _read_assignment(option: str, text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise CommandError(f"{option} must be NAME=VALUE, such as total=numeric, got {text!r}")
    return name, _read_word(value)


def _read_word(text: str) -> Any:
    """Return the JSON value of a text, or the text itself if it is a plain word."""
    try:
        return parse_json(text)
    except JsonParseError:
        return text


def columns_of(options: Namespace) -> dict[str, Any]:
    """Return the columns of the command line as arguments of `compare_corpus`, if the command has them."""
    columns = {
        side: _read_selection(f"--{side}", getattr(options, f"{side}_column"))
        for side in ("expected", "actual")
        if f"{side}_column" in options
    }
    return {**columns, "delimiter": _read_delimiter(options.delimiter)}


def _read_selection(option: str, given: Sequence[str]) -> Any:
    """Return a column, or a mapping of fields to columns; None if the option is not given."""
    if not given:
        return None
    pairs = [text.partition("=") for text in given]
    if len(pairs) == 1 and not pairs[0][1]:
        return given[0]
    if not all(name and sign and column for name, sign, column in pairs):
        raise CommandError(f"{option} is given {len(given)} times; for several columns write FIELD=COLUMN")
    return {name: column for name, _, column in pairs}


def _read_delimiter(given: str | None) -> str | None:
    return "\t" if given in {"\\t", "tab"} else given


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
    with _judge_errors():
        return {**own, **read_settings(texts)}


@contextmanager
def _judge_errors() -> Iterator[None]:
    """Name the option in errors about settings of a judge."""
    try:
        yield
    except CommandError:
        raise
    except ConfigurationError as error:
        raise CommandError(f"--judge: {error}") from None


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

    with _judge_errors():
        return make_judge(settings)


def _custom_judge(reference: str, mode: Any, cache: str | None, names: Collection[str]) -> Judge:
    """Return a custom judge; with a cache, its verdicts are saved in that file."""
    if unknown := sorted(set(names).difference({"from", "mode", "cache"})):
        raise CommandError(f"--judge {unknown[0]}=...: a judge of your own has its own settings")
    judge = _import_judge(reference)
    if cache is None:
        if mode == "cached" and not callable(getattr(judge, "in_mode", None)):
            raise CommandError("--judge: the mode 'cached' needs a cache: name the file of verdicts")
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
