"""The options of the plugin: one table, read once per session into `Settings`."""

from __future__ import annotations

import argparse
import math
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, final

import pytest

from pytest_jsonmatch.support import defaults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.gate.expressions import Gate

_CI_VARIABLES: Final = ("CI", "BUILD_NUMBER")
"""The variables by which pytest itself detects continuous integration, if set and not empty."""
_UPDATE_MODES: Final = ("new", "failed", "all")
_UPDATE_WAYS: Final = frozenset({"dry-run", "force"})
_JUDGE_MODES: Final = ("live", "cached")
_DECIDING: Final = ("case", "gate")
_COUNT: Final = f"whole number from 1 to {defaults.MAX_COUNT:,}"


# -- reading values of the configuration file: each reader raises a ValueError for an invalid value --------


def _threshold(raw: Any) -> float:
    """Return a number from 0 to 1, given as text or, in native TOML, as a number; booleans are refused."""
    number = math.nan if isinstance(raw, bool) else float(raw)
    if 0 <= number <= 1:
        return number
    from pytest_jsonmatch.engine.value.text import suggest_share

    raise ValueError(f"got {raw!r}{suggest_share(raw)}")


def _text(raw: object) -> str:
    return str(raw).strip()


def _strings(raw: object) -> tuple[str, ...]:
    if isinstance(raw, list) and all(isinstance(text, str) for text in raw):
        return tuple(raw)
    raise ValueError(f"got {raw!r}")


def _count(raw: Any) -> int:
    if str(raw).isdecimal() and 1 <= int(raw) <= defaults.MAX_COUNT:
        return int(raw)
    raise ValueError(f"got {raw!r}")


def _patterns(raw: object) -> tuple[str, ...]:
    patterns = _strings(raw)
    if patterns:
        from pytest_jsonmatch.engine.value.paths import parse_pattern

        for text in patterns:
            parse_pattern(text)
    return patterns


def _deciding(raw: object) -> str:
    if (text := _text(raw)) in _DECIDING:
        return text
    raise ValueError(f"got {text!r}")


def _judge(raw: object) -> tuple[tuple[str, str], ...]:
    """Return the settings of a judge, one `NAME = VALUE` per line; most values are checked later."""
    settings: dict[str, str] = {}
    for line in _strings(raw):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not name:
            raise ValueError(f"got {line!r}")
        if name in settings:
            raise ValueError(f"{name} is given twice")
        settings[name] = value
    mode = settings.get("mode", "live")
    if mode not in _JUDGE_MODES:
        raise ValueError(f"mode must be {' or '.join(_JUDGE_MODES)}, got {mode!r}")
    return tuple(settings.items())


# -- reading values of the command line --------------------------------------------------------------------


def _number(raw: str) -> int:
    """Return a number of repetitions or calls."""
    try:
        return _count(raw)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a {_COUNT}, got {raw!r}") from None


def _update(raw: str) -> tuple[str, ...]:
    """Return the cases to update, and how to update them: "new,force" is ("new", "force")."""
    parts = raw.split(",")
    mode, modifiers = (parts[0], parts[1:]) if parts[0] in _UPDATE_MODES else ("failed", parts)
    if _UPDATE_WAYS.issuperset(modifiers):
        return mode, *modifiers
    raise argparse.ArgumentTypeError(
        f"must be new, failed or all, optionally followed by ,dry-run or ,force, got {raw!r}; before a path "
        "write --jsonmatch-update=failed"
    )


def _replay(raw: str) -> tuple[str, bool]:
    """Return the file of answers, and whether missing ones are produced and added to it."""
    path = raw.removesuffix(",missing")
    return path, path != raw


def _names(raw: str) -> list[str]:
    """Return the names in a list that is separated by commas."""
    return [name.strip() for name in raw.split(",")]


def _baseline_name(raw: str) -> str:
    """Return the name of a baseline without the suffix of its file, `.jsonl`."""
    name = raw.removesuffix(".jsonl")
    if not name or set(name) & set('/\\:*?"<>|') or name in {".", ".."}:
        raise argparse.ArgumentTypeError(f"{raw!r} can't name a baseline; for any file use --jsonmatch-json")
    return name


@contextmanager
def usage_errors(option: str) -> Iterator[None]:
    """Turn a `ConfigurationError` into a usage error of pytest that names the option or hook."""
    from pytest_jsonmatch.engine.value.errors import ConfigurationError

    try:
        yield
    except ConfigurationError as error:
        raise pytest.UsageError(f"{option}: {error}") from None


# -- the tables --------------------------------------------------------------------------------------------


@final
class Ini:
    """An ini option: pytest's type, our reader, a description of valid values, the default, the help."""

    __slots__ = ("accepts", "convert", "default", "help", "type")

    def __init__(
        self,
        type: Literal["string", "float", "args", "linelist"],  # noqa: A002 - as in pytest's `addini`
        convert: Callable[[object], object],
        accepts: str,
        default: object,
        help: str,  # noqa: A002 - as in pytest's `addini`
    ) -> None:
        self.type: Final = type
        self.convert: Final = convert
        self.accepts: Final = accepts
        self.default: Final = default
        self.help: Final = help

    def read(self, config: pytest.Config, name: str) -> Any:
        """Return the value of the option; raise `pytest.UsageError` with a description of valid values."""
        try:
            return self.convert(config.getini(f"jsonmatch_{name}"))
        except (TypeError, ValueError, pytest.UsageError) as error:  # the errors of pytest differ by version
            where = f"{config.inipath}: " if config.inipath is not None else ""
            reason = str(error).removeprefix(where)
            raise pytest.UsageError(f"{where}jsonmatch_{name} must be {self.accepts}; {reason}") from error


_FOLDER: Final = "the path of a folder, relative to the rootdir"
_GATES: Final = "a list of gates such as f1 >= 0.9, one per line"
_SETTINGS: Final = "lines of NAME = VALUE, such as model = gpt-4.1-mini"
_PATTERNS: Final = "a list of path patterns such as **.created_at, one per line"
_SCORE: Final = "a number from 0 to 1"
_INI: Final[Mapping[str, Ini]] = {
    "metric": Ini("string", _text, "the name of a metric", defaults.METRIC, "metric of comparisons"),
    "threshold": Ini("float", _threshold, _SCORE, defaults.THRESHOLD, "score that comparisons must reach"),
    "fail": Ini("string", _deciding, "case or gate", "case", "what fails a run: each case, or gates alone"),
    "skip": Ini("linelist", _patterns, _PATTERNS, [], "fields that every comparison skips, one per line"),
    "files": Ini("args", _strings, "a list of glob patterns", [], "globs of additional golden files"),
    "gates": Ini("linelist", _strings, _GATES, [], "gates that a run must pass, one per line"),
    "baselines": Ini("string", _text, _FOLDER, "jsonmatch-baselines", "folder of baselines"),
    "cluster": Ini("string", _text, "the name of a tag", "", "tag that names the cluster of a case"),
    "concurrency": Ini("string", _count, f"a {_COUNT}", "1", "number of concurrent calls of producers"),
    "judge": Ini(
        "linelist", _judge, _SETTINGS, [], "the judge, as NAME = VALUE, one per line (docs/judge.md)"
    ),
}
"""The options of the configuration file, without the prefix `jsonmatch_`: fields of `Settings`."""


def _argument(metavar: str, text: str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": text, **more}


_REPEATABLE: Final[Mapping[str, Any]] = {"action": "append", "default": []}
_COMMAND_LINE: Final[Mapping[str, Mapping[str, Any]]] = {
    "summary": {
        "choices": ("auto", "none", "failed", "all"),
        "default": "auto",
        "help": "tables of fields at the end: auto (of golden and parametrized tests if one fails; of all "
        "with -v, a gate or a report), none, failed (rows below 1), all",
    },
    "repeat": _argument("N", "run every golden case that has no recorded answer N times", type=_number),
    "concurrency": _argument(
        "N", "call the producers of N golden cases concurrently (default: 1)", type=_number
    ),
    "by": _argument(
        "TAG", "show scores by a tag or by the parameters of a fixture; repeatable", **_REPEATABLE
    ),
    "fail-under": _argument(
        "SCORE",
        "fail the run if the mean score of the cases is below this",
        type=defaults.make_number_reader(lambda number: 0 <= number <= 1, "between 0 and 1"),
    ),
    "gate": _argument(
        "GATE", "fail the run unless this gate passes, such as 'f1 >= 0.9'; repeatable", **_REPEATABLE
    ),
    "json": _argument("FILE", "write the results of the run to a file, as JSON Lines"),
    "html": _argument("FILE", "write a report of the run to a file, as one page of HTML"),
    "save": _argument("NAME", "write the results of the run to the folder of baselines", type=_baseline_name),
    "markdown": _argument("FILE", "write a report for a pull request to a file, as Markdown"),
    "baseline": _argument(
        "NAME|FILE",
        "compare the run with a baseline, or with any file of results; several by commas; repeatable",
        type=_names,
        action="extend",
        default=[],
    ),
    "max-drop": _argument(
        "DROP",
        "with baselines: fail the run if the mean score has dropped by more from any of them",
        type=defaults.read_drop,
    ),
    "drop-mode": {
        "choices": ("regression", "non-inferiority"),
        "default": "regression",
        "help": "--jsonmatch-max-drop fails if such a drop is significant, or unless it is ruled out",
    },
    "confidence": _argument(
        "SHARE",
        "confidence level of verdicts and intervals (default: 0.95)",
        type=defaults.read_confidence,
        default=0.95,
    ),
    "judge-mode": {"choices": _JUDGE_MODES, "help": "ask the judge, or take verdicts from its file only"},
    "record": _argument("FILE", "save the answer of every golden case to a JSON Lines file"),
    "replay": _argument(
        "FILE",
        "score the answers that --jsonmatch-record saved, and produce no new ones; with FILE,missing produce "
        "the missing ones, and add them",
        type=_replay,
    ),
    "update": _argument(
        "WHICH",
        "write answers into golden files as expected values: of new, failed (the default) or all cases; with "
        ",dry-run show the diff only, with ,force write even in CI",
        nargs="?",
        const=("failed",),
        type=_update,
    ),
    "review": {"action": "store_true", "help": "ask on the terminal which differences to accept"},
}
"""The options of the command line, without `--jsonmatch-`, with their arguments for argparse."""


@final
class Settings:
    """The checked options of the configuration file and the command line."""

    metric: str
    threshold: float
    fail: Literal["case", "gate"]
    """Whether each case below its threshold fails, or only gates fail a run."""
    skip: tuple[str, ...]
    """Patterns of fields that every comparison skips."""
    files: tuple[str, ...]
    summary: str
    record: str | None
    replay: tuple[str, bool] | None
    """The file of answers, and whether missing ones are produced and added."""
    update: Literal["new", "failed", "all"] | None
    dry_run: bool
    review: bool
    repeat: int | None
    concurrency: int
    """The number of concurrent calls of producers."""
    by: list[str]
    """The names of tags and fixtures by which scores are shown."""
    gates: tuple[tuple[Gate, bool], ...]
    """The gates, each with whether it is from the command line."""
    baselines: str
    """The folder of baselines, relative to the rootdir."""
    cluster: str
    """The tag that names clusters; empty if there is none."""
    json: str | None
    html: str | None
    save: str | None
    markdown: str | None
    baseline: list[str]
    """The names or paths of baselines."""
    max_drop: float | None
    drop_mode: Literal["regression", "non-inferiority"]
    confidence: float
    judge: tuple[tuple[str, str], ...]
    """The settings of the judge, as texts."""
    judge_mode: Literal["live", "cached"] | None
    """None if not given: then a judge keeps its own mode."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name in self.__annotations__:
            setattr(self, name, values[name])

    @property
    def writes_cases(self) -> bool:
        """Whether golden files are rewritten."""
        return self.review or self.update is not None

    @property
    def needing_cases(self) -> list[str]:
        """The options in use that have no effect without golden cases."""
        return [name for name in ("update", "review", "record", "replay", "repeat") if getattr(self, name)]

    @property
    def needing_comparisons(self) -> list[str]:
        """The options in use that have no effect if nothing is compared."""
        names = ("baseline", "save", "json", "html", "markdown", "by")
        gates = ["gate"] if any(is_asked for _, is_asked in self.gates) else []
        return [*gates, *(name for name in names if getattr(self, name))]

    @property
    def asks_of_run(self) -> bool:
        """Whether any option is about the run as a whole: gates, a baseline, reports."""
        reports = self.json or self.html or self.save or self.markdown
        return bool(self.gates or reports or self.baseline)

    @property
    def reports(self) -> bool:
        """Whether a report of the run is needed: for the command line, or for GitHub Actions."""
        if self.markdown is not None:
            return True
        return bool(os.environ.get("GITHUB_STEP_SUMMARY")) or os.environ.get("GITHUB_ACTIONS") == "true"

    @classmethod
    def read(cls, config: pytest.Config) -> Settings:
        """Return the settings of a session; raise `pytest.UsageError` for an invalid value."""

        def given(name: str) -> Any:
            return config.getoption(f"--jsonmatch-{name.replace('_', '-')}")

        for name in ("json", "markdown", "html", "baseline"):
            if given(name) == "" or (name == "baseline" and "" in given(name)):
                raise pytest.UsageError(f"--jsonmatch-{name}= is empty; name a file")
        if given("max-drop") is not None and not given("baseline"):
            raise pytest.UsageError("--jsonmatch-max-drop needs --jsonmatch-baseline")
        if given("record") is not None and given("replay") is not None:
            raise pytest.UsageError(
                "--jsonmatch-record and --jsonmatch-replay: choose one; to add missing answers to FILE, use "
                "--jsonmatch-replay=FILE,missing"
            )
        # Old releases of pytest do not warn about unknown options here.
        for override in config.getoption("override_ini") or ():
            name = override.partition("=")[0]
            if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _INI:
                raise _unknown_option(config, name)
        values = {name: option.read(config, name) for name, option in _INI.items()}
        minimum, gates = given("fail_under"), given("gate")
        minimum_gates = [] if minimum is None else [f"score >= {minimum!r}"]
        values |= {
            "gates": (
                *_gates(values["gates"], "jsonmatch_gates"),
                *_gates([*minimum_gates, *gates], "--jsonmatch-gate"),
            ),
            "concurrency": given("concurrency") or values["concurrency"],
            "judge_mode": given("judge_mode") or dict(values["judge"]).get("mode"),
            **_writing(given("update"), review=given("review")),
        }
        return cls({name: given(name) for name in cls.__annotations__ if name not in values} | values)


_PREFIX: Final = "jsonmatch_"
_UNKNOWN: Final = "Unknown config option: "
"""The start of pytest's warning about an option that nothing has registered."""


def refuse_unknown(config: pytest.Config, warning: Warning | str) -> None:
    """Raise `pytest.UsageError` if pytest warns about an unknown option with our prefix."""
    name = str(warning).removeprefix(_UNKNOWN).strip()
    if isinstance(warning, pytest.PytestConfigWarning) and name.startswith(_PREFIX):
        raise _unknown_option(config, name)


def _unknown_option(config: pytest.Config, name: str) -> pytest.UsageError:
    from pytest_jsonmatch.engine.value.errors import find_closest

    where = f"{config.inipath}: " if config.inipath is not None else ""
    option = name.removeprefix(_PREFIX)
    near, flag = find_closest(option, _INI), option.replace("_", "-")
    if near is not None:
        hint = f"did you mean {_PREFIX + near!r}?"
    elif flag in _COMMAND_LINE:
        hint = f"add --jsonmatch-{flag} to addopts"
    else:
        hint = f"known: {', '.join(_PREFIX + known for known in _INI)}"
    return pytest.UsageError(f"{where}unknown option {name!r}; {hint}")


def _gates(texts: Sequence[str], where: str) -> Iterator[tuple[Gate, bool]]:
    """Yield gates, each with whether it is from the command line; raise a usage error for an invalid one."""
    if not texts:
        return
    from pytest_jsonmatch.gate.expressions import parse_gate

    for text in texts:
        with usage_errors(where):
            gate = parse_gate(text)
        yield gate, where.startswith("--")


def _writing(update: tuple[str, ...] | None, *, review: bool) -> dict[str, Any]:
    """Return the settings for writing golden files; raise a usage error if that is not allowed."""
    if update and review:
        raise pytest.UsageError("--jsonmatch-review and --jsonmatch-update can't go together; choose one")
    mode, *modifiers = update or (None,)
    option = f"--jsonmatch-update={mode}" if update else "--jsonmatch-review"
    variable = ci_variable()
    if (update or review) and not modifiers and variable is not None:
        raise pytest.UsageError(
            f"{option} does not write golden files in CI (the environment variable {variable} is set); "
            f"run it on your own machine, or {f'use {option},force' if update else 'unset the variable'}"
        )
    return {"update": mode, "dry_run": "dry-run" in modifiers, "review": review}


def ci_variable() -> str | None:
    """Return the environment variable that shows that this is a CI run; None outside CI."""
    return next((name for name in _CI_VARIABLES if os.environ.get(name)), None)


def add_options(parser: pytest.Parser) -> None:
    """Register the options of the plugin."""
    # The oldest supported pytest has no float options. Newer ones need the type: in native TOML they refuse
    # a bare 0.9 for a string option, and "0.9" for a float option.
    old = {"float": "string"} if pytest.version_tuple < (8, 4) else {}
    for name, option in _INI.items():
        suffix = f" (default: {option.default})" if option.default else ""
        kind: Any = old.get(option.type, option.type)
        parser.addini(f"jsonmatch_{name}", option.help + suffix, type=kind, default=option.default)
    group = parser.getgroup("jsonmatch", "JSON comparisons (pytest-jsonmatch)")
    for name, settings in _COMMAND_LINE.items():
        group.addoption(f"--jsonmatch-{name}", **settings)
