"""The plugin's options: one table, read once a session into frozen `Settings`."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest

from pytest_jsonmatch import defaults
from pytest_jsonmatch.results.limits import MAX_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable

CI_VARIABLES: Final = ("CI", "BUILD_NUMBER")
"""What pytest itself takes for a sign of continuous integration, if it is set and not empty."""
UPDATE_MODES: Final = ("new", "failed", "all")
UPDATE_WAYS: Final = ("dry-run", "force")
DROP_MODES: Final = ("regression", "non-inferiority")
SUMMARY_MODES: Final = ("auto", "none", "failed", "all")
JUDGE_MODES: Final = ("live", "cached", "off")


def as_limit(value: object) -> float:
    """Return a threshold as a float.

    A `ValueError` says what is wrong with anything but a number from 0 to 1; booleans and NaN are none.

    >>> as_limit(1)
    1.0
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ValueError(f"got {value!r}")


def _nonempty(raw: object) -> str:
    name = str(raw).strip()
    if name:
        return name
    raise ValueError("got nothing")


def _text(raw: object) -> str:
    return str(raw).strip()


def _threshold(raw: object) -> float:
    if not isinstance(raw, str):
        return as_limit(raw)
    try:
        number = float(raw)
    except ValueError:
        raise ValueError(f"got {raw!r}") from None
    return as_limit(number)


def _size(raw: object) -> str:
    text = str(raw).strip()
    if text:
        from pytest_jsonmatch.engine.plan.written import read_bytes

        read_bytes("the size", text if not text.isdecimal() else int(text))
    return text


def _judge(raw: object) -> tuple[tuple[str, str], ...]:
    """Return the settings of a judge, `NAME = VALUE` a line; what they mean is looked at when needed."""
    found: dict[str, str] = {}
    for line in _strings(raw):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"got {line!r}")
        if name.strip() in found:
            raise ValueError(f"{name.strip()} is there twice")
        found[name.strip()] = value.strip()
    mode = found.get("mode", "live")
    if mode not in JUDGE_MODES:
        raise ValueError(f"mode is {mode!r}, which is none of {', '.join(JUDGE_MODES)}")
    return tuple(found.items())


def _byte_count(raw: object) -> int:
    text = _size(raw or "")
    if not text:
        return 0
    from pytest_jsonmatch.engine.plan.written import read_bytes

    return read_bytes("the size", text if not text.isdecimal() else int(text))


def _paths(raw: object) -> tuple[str, ...]:
    if isinstance(raw, list):
        return tuple(os.path.realpath(path) for path in raw)
    raise ValueError(f"got {raw!r}")


def _strings(raw: object) -> tuple[str, ...]:
    if isinstance(raw, list) and all(isinstance(text, str) for text in raw):
        return tuple(raw)
    raise ValueError(f"got {raw!r}")


def _repeats(raw: str) -> int:
    if raw.isdecimal() and 1 <= int(raw) <= MAX_REPEATS:
        return int(raw)
    raise argparse.ArgumentTypeError(f"{raw!r} is no whole number from 1 to {MAX_REPEATS:,}")


def _least(raw: str) -> float:
    try:
        return _threshold(raw)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{raw!r} is no number from 0 to 1") from None


def _update(raw: str) -> tuple[str, ...]:
    """Return which cases are updated, and how: "new,force" is ("new", "force")."""
    words = raw.split(",")
    mode, ways = (words[0], words[1:]) if words[0] in UPDATE_MODES else ("failed", words)
    if set(ways) <= set(UPDATE_WAYS):
        return mode, *ways
    raise argparse.ArgumentTypeError(
        f"{raw!r} is not what to update: new, failed or all, with ,dry-run or ,force behind it. "
        "In front of a path write --jsonmatch-update=failed"
    )


def _drop(raw: str) -> float:
    try:
        drop = _threshold(raw)
    except ValueError:
        drop = 1.0
    if drop < 1:
        return drop
    raise argparse.ArgumentTypeError(f"{raw!r} is no drop of a score: from 0 to below 1, such as 0.02")


def _share(raw: str) -> float:
    try:
        share = float(raw)
    except ValueError:
        share = 0.0
    if 0.5 < share < 1:
        return share
    raise argparse.ArgumentTypeError(f"{raw!r} is no confidence: above 0.5 and below 1, such as 0.95")


def _mode(raw: object) -> str:
    if raw in SUMMARY_MODES:
        return str(raw)
    raise ValueError(f"got {raw!r}")


@dataclass(frozen=True, slots=True)
class Option:
    """One ini option: its name, pytest's type for it, what it accepts (for errors), and how it is read."""

    name: str
    kind: Literal["string", "float", "args", "linelist", "bool", "paths"]
    default: object
    accepts: str
    convert: Callable[[object], object]
    help: str

    def add_to(self, parser: pytest.Parser) -> None:
        """Register the option with pytest."""
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        if self.kind == "float" and pytest.version_tuple < (8, 4):
            # This pytest knows no floats. A newer one has to be told: in native TOML it refuses a bare 0.9
            # for a string, and wants 0.9 there, not "0.9".
            parser.addini(self.name, self.help, type="string", default=default)
        else:
            parser.addini(self.name, self.help, type=self.kind, default=default)

    def read(self, config: pytest.Config) -> Any:
        """Return the option's value; `pytest.UsageError` names the option and what it accepts."""
        try:
            return self.convert(config.getini(self.name))
        except (TypeError, ValueError, pytest.UsageError) as error:  # pytest's own refusals differ by version
            where = f"{config.inipath}: " if config.inipath is not None else ""
            reason = str(error).removeprefix(where)
            raise pytest.UsageError(f"{where}{self.name} must be {self.accepts}; {reason}") from error


OPTIONS: Final = (
    Option(
        name="jsonmatch_metric",
        kind="string",
        default=defaults.METRIC,
        accepts="the name of a metric",
        convert=_nonempty,
        help=f"metric of comparisons that name none (default: {defaults.METRIC})",
    ),
    Option(
        name="jsonmatch_threshold",
        kind="float",
        default=defaults.THRESHOLD,
        accepts="a number from 0 to 1",
        convert=_threshold,
        help=f"score that a comparison has to reach, from 0 to 1 (default: {defaults.THRESHOLD})",
    ),
    Option(
        name="jsonmatch_files",
        kind="args",
        default=(),
        accepts="a list of glob patterns",
        convert=_strings,
        help="globs of YAML files that hold golden cases, beside *.golden.yaml, *.golden.yml, *.golden.json",
    ),
    Option(
        name="jsonmatch_memory_limit",
        kind="string",
        default="",
        accepts="a size such as 512 MiB or 2 GiB",
        convert=_size,
        help="memory in which unordered arrays are paired exactly (default: 2 GiB)",
    ),
    Option(
        name="jsonmatch_yaml_limit",
        kind="string",
        default=0,
        accepts="a size such as 16 MiB or 1 GiB",
        convert=_byte_count,
        help="how large a golden YAML file may be, its aliases written out (default: 16 MiB)",
    ),
    Option(
        name="jsonmatch_allowed_paths",
        kind="paths",
        default=(),
        accepts="a list of folders",
        convert=_paths,
        help="folders outside of rootdir in which golden cases may name files, relative to the ini file",
    ),
    Option(
        name="jsonmatch_summary",
        kind="string",
        default="auto",
        accepts=f"one of {', '.join(SUMMARY_MODES)}",
        convert=_mode,
        help="default of --jsonmatch-summary",
    ),
    Option(
        name="jsonmatch_suggest",
        kind="bool",
        default=True,
        accepts="true or false",
        convert=bool,
        help="whether a failing golden case says what would let it pass (default: true)",
    ),
    Option(
        name="jsonmatch_gates",
        kind="linelist",
        default=(),
        accepts="a list of gates such as f1 >= 0.9, one a line",
        convert=_strings,
        help="gates that a run has to pass, one a line, such as f1 >= 0.9",
    ),
    Option(
        name="jsonmatch_baselines",
        kind="string",
        default="jsonmatch-baselines",
        accepts="the path of a folder, relative to the rootdir",
        convert=_nonempty,
        help="folder of the baselines of --jsonmatch-save (default: jsonmatch-baselines)",
    ),
    Option(
        name="jsonmatch_embedding_cache",
        kind="string",
        default="",
        accepts="the path of a folder, relative to the rootdir",
        convert=_text,
        help="folder in which the vectors of the comparator cosine are kept (default: they are not)",
    ),
    Option(
        name="jsonmatch_judge",
        kind="linelist",
        default=(),
        accepts="lines of NAME = VALUE, such as model = gpt-4.1-mini",
        convert=_judge,
        help="the judge of the comparator semantic: NAME = VALUE, one a line, such as model = gpt-4.1-mini "
        "(docs/judge.md has the names)",
    ),
    Option(
        name="jsonmatch_judge_triage",
        kind="bool",
        default=False,
        accepts="true or false",
        convert=bool,
        help="whether a judge is asked only what can change whether a comparison passes (default: false)",
    ),
)
"""The options of the configuration file; without `jsonmatch_` their names are those of `Settings`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration file and the command line say, checked."""

    metric: str = defaults.METRIC
    threshold: float = defaults.THRESHOLD
    files: tuple[str, ...] = ()
    summary: str = "auto"
    memory_limit: str = ""
    suggest: bool = True
    yaml_limit: int = 0
    """In bytes; 0 for the default."""
    folders: tuple[str, ...] | None = None
    """Real paths: the folders in which golden cases may name files, rootdir and those allowed beside it."""
    record: str | None = None
    replay: str | None = None
    update: Literal["new", "failed", "all"] | None = None
    dry_run: bool = False
    review: bool = False
    repeat: int | None = None
    pivot: str | None = None
    by: tuple[str, ...] = ()
    """The names of tags by which figures are shown."""
    gates: tuple[str, ...] = ()
    """Gates of the configuration file."""
    asked_gates: tuple[str, ...] = ()
    """Gates of the command line."""
    baselines: str = "jsonmatch-baselines"
    """The folder of baselines, relative to the rootdir."""
    embedding_cache: str = ""
    """The folder of vectors, relative to the rootdir; empty: none."""
    json: str | None = None
    html: str | None = None
    save: str | None = None
    markdown: str | None = None
    gitlab: str | None = None
    baseline: str | None = None
    baseline_required: bool = False
    max_drop: float | None = None
    drop_mode: Literal["regression", "non-inferiority"] = "regression"
    confidence: float = 0.95
    stop_when_decided: bool = False
    judge: tuple[tuple[str, str], ...] = ()
    """The settings of the judge, as they are written."""
    judge_mode: Literal["live", "cached", "off"] | None = None
    """None where nobody says: then a judge has the mode that it was made with."""
    judge_triage: bool = False

    @property
    def writes_cases(self) -> bool:
        """Whether golden files are rewritten."""
        return self.review or self.update is not None

    @property
    def needing_cases(self) -> tuple[str, ...]:
        """The options in use that mean nothing without golden cases."""
        found = {
            "--jsonmatch-update": self.update is not None,
            "--jsonmatch-review": self.review,
            "--jsonmatch-record": self.record is not None,
            "--jsonmatch-replay": self.replay is not None,
            "--jsonmatch-repeat": self.repeat is not None,
        }
        return tuple(name for name, is_used in found.items() if is_used)

    @property
    def needing_comparisons(self) -> tuple[str, ...]:
        """The options in use that mean nothing where nothing is compared."""
        found = {
            "--jsonmatch-gate": self.asked_gates,
            "--jsonmatch-baseline": self.baseline,
            "--jsonmatch-save": self.save,
            "--jsonmatch-json": self.json,
            "--jsonmatch-html": self.html,
            "--jsonmatch-markdown": self.markdown,
            "--jsonmatch-by": self.by,
        }
        return tuple(name for name, is_used in found.items() if is_used)

    @property
    def asks_of_run(self) -> bool:
        """Whether something is asked of the run as a whole."""
        reports = self.json or self.html or self.save or self.markdown or self.gitlab
        return bool(self.gates or self.asked_gates or reports or self.baseline)

    @property
    def reports(self) -> bool:
        """Whether anybody wants a report of the run: on the command line, or GitHub Actions."""
        if self.markdown is not None or self.gitlab is not None:
            return True
        return bool(os.environ.get("GITHUB_STEP_SUMMARY")) or os.environ.get("GITHUB_ACTIONS") == "true"

    @classmethod
    def read(cls, config: pytest.Config) -> Settings:
        """Return the session's settings; `pytest.UsageError` for a wrong value."""
        for option in _NAMED:
            if config.getoption(option) == "":
                raise pytest.UsageError(f"{option}= is empty; name a file")
        for option, other in _NEEDED:
            if config.getoption(option) not in {None, False} and not config.getoption(other):
                raise pytest.UsageError(f"{option} needs {other}")
        if (
            config.getoption("--jsonmatch-record") is not None
            and config.getoption("--jsonmatch-replay") is not None
        ):
            raise pytest.UsageError(
                "--jsonmatch-record and --jsonmatch-replay: choose one; a replay makes no new answers"
            )
        said = {option.name.removeprefix("jsonmatch_"): option.read(config) for option in OPTIONS}
        said |= {
            name: config.getoption(f"--jsonmatch-{name.replace('_', '-')}") for name in _COMMAND_LINE_ONLY
        }
        summary, allowed = said.pop("summary"), said.pop("allowed_paths")
        return cls(
            **said,
            summary=config.getoption("--jsonmatch-summary") or summary,
            folders=(os.path.realpath(config.rootpath), *allowed),
            asked_gates=_asked_gates(config),
            by=tuple(config.getoption("--jsonmatch-by")),
            save=_name(config.getoption("--jsonmatch-save")),
            judge_mode=config.getoption("--jsonmatch-judge-mode") or dict(said["judge"]).get("mode"),
            **_writing(config),
        )


_COMMAND_LINE_ONLY: Final = (
    "record",
    "replay",
    "repeat",
    "pivot",
    "json",
    "html",
    "markdown",
    "gitlab",
    "baseline",
    "baseline_required",
    "max_drop",
    "drop_mode",
    "confidence",
    "stop_when_decided",
)
"""The settings that are options of the command line by the same name, taken as they are."""


def _name(name: str | None) -> str | None:
    if name is not None and (not name or set(name) & set('/\\:*?"<>|') or name in {".", ".."}):
        raise pytest.UsageError(
            f"--jsonmatch-save: {name!r} can't name a baseline; for any file use --jsonmatch-json"
        )
    return name


def _asked_gates(config: pytest.Config) -> tuple[str, ...]:
    least: float | None = config.getoption("--jsonmatch-fail-under")
    gates: list[str] = config.getoption("--jsonmatch-gate")
    return (*([] if least is None else [f"score >= {least!r}"]), *gates)


_NAMED: Final = (
    "--jsonmatch-json",
    "--jsonmatch-markdown",
    "--jsonmatch-gitlab",
    "--jsonmatch-html",
    "--jsonmatch-baseline",
)
"""Options that name a file, or a baseline."""
_NEEDED: Final = (
    ("--jsonmatch-max-drop", "--jsonmatch-baseline"),
    ("--jsonmatch-baseline-required", "--jsonmatch-baseline"),
)
"""Options that mean nothing without another."""


def _writing(config: pytest.Config) -> dict[str, Any]:
    """Return what the command line says about writing golden files; a usage error where it must not be."""
    update, review = config.getoption("--jsonmatch-update"), config.getoption("--jsonmatch-review")
    if update and review:
        raise pytest.UsageError("--jsonmatch-review and --jsonmatch-update can't go together; choose one")
    mode, *ways = update or (None,)
    option = f"--jsonmatch-update={mode}" if update else "--jsonmatch-review"
    variable = next((name for name in CI_VARIABLES if os.environ.get(name)), None)
    if (update or review) and not ways and variable is not None:
        raise pytest.UsageError(
            f"{option} does not write golden files in CI (the environment variable {variable} is set); "
            f"run it on your own machine, or {f'use {option},force' if update else 'unset the variable'}"
        )
    return {"update": mode, "dry_run": "dry-run" in ways, "review": review}


def add_options(parser: pytest.Parser) -> None:
    """Register every option of the plugin."""
    for option in OPTIONS:
        option.add_to(parser)
    group = parser.getgroup("jsonmatch", "JSON comparisons (pytest-jsonmatch)")
    group.addoption(
        "--jsonmatch-summary",
        choices=SUMMARY_MODES,
        help="table of scores by field at the end: auto (if any field is under 1, else one line), none, "
        "failed (fields under 1 only) or all",
    )
    group.addoption(
        "--jsonmatch-repeat",
        metavar="N",
        type=_repeats,
        help="run every golden case that has no recorded answer N times, whatever its file says",
    )
    group.addoption(
        "--jsonmatch-pivot",
        metavar="FIXTURE",
        help="parametrized fixture whose parameters are the columns of a table of scores by field",
    )
    group.addoption(
        "--jsonmatch-by",
        metavar="TAG",
        action="append",
        default=[],
        help="show figures by the values of a tag, such as source; can be given several times",
    )
    group.addoption(
        "--jsonmatch-fail-under",
        metavar="SCORE",
        type=_least,
        help="fail the run if the mean score of the cases is below this, from 0 to 1",
    )
    group.addoption(
        "--jsonmatch-gate",
        metavar="GATE",
        action="append",
        default=[],
        help="fail the run unless this holds, such as 'f1 >= 0.9' or 'fields[\"total\"].recall >= 0.95'; "
        "can be given several times",
    )
    group.addoption(
        "--jsonmatch-json",
        metavar="FILE",
        help="write the results of the run to a file, as JSON",
    )
    group.addoption(
        "--jsonmatch-html",
        metavar="FILE",
        help="write a report of the run to a file: one page of HTML that needs nothing else",
    )
    group.addoption(
        "--jsonmatch-save",
        metavar="NAME",
        help="write the results of the run to the folder of baselines",
    )
    group.addoption(
        "--jsonmatch-markdown",
        metavar="FILE",
        help="write a report for a pull request to a file, as Markdown",
    )
    group.addoption(
        "--jsonmatch-gitlab",
        metavar="FILE",
        help="write the cases that failed to a file, as a code quality report of GitLab",
    )
    group.addoption(
        "--jsonmatch-baseline",
        metavar="NAME|FILE",
        help="compare the run with a baseline: its name, or the path of any file of results",
    )
    group.addoption(
        "--jsonmatch-baseline-required",
        action="store_true",
        help="let it be an error that the baseline does not exist",
    )
    group.addoption(
        "--jsonmatch-max-drop",
        metavar="DROP",
        type=_drop,
        help="with --jsonmatch-baseline: fail the run if the mean score has dropped by more than this, "
        "beyond what chance makes",
    )
    group.addoption(
        "--jsonmatch-drop-mode",
        choices=DROP_MODES,
        default="regression",
        help="what --jsonmatch-max-drop asks for: regression fails if such a drop is proven (the default), "
        "non-inferiority fails unless it is ruled out",
    )
    group.addoption(
        "--jsonmatch-confidence",
        metavar="SHARE",
        type=_share,
        default=0.95,
        help="how sure verdicts and confidence intervals are, above 0.5 and below 1 (default: 0.95)",
    )
    group.addoption(
        "--jsonmatch-stop-when-decided",
        action="store_true",
        help="end the run as soon as the rest of it can't change whether its gates pass",
    )
    group.addoption(
        "--jsonmatch-judge-mode",
        choices=JUDGE_MODES,
        help="whom the comparator semantic asks: live (the judge, the default), cached (nobody: verdicts of "
        "the cache file only) or off (nobody: each question is an error)",
    )
    group.addoption(
        "--jsonmatch-record",
        metavar="FILE",
        help="keep the answer of every golden case in a file of JSON lines",
    )
    group.addoption(
        "--jsonmatch-replay",
        metavar="FILE",
        help="judge the answers that --jsonmatch-record kept, and make none",
    )
    group.addoption(
        "--jsonmatch-update",
        metavar="WHICH",
        nargs="?",
        const=("failed",),
        type=_update,
        help="write actual values into golden files as the expected ones: new (cases that have none), "
        "failed (cases below their threshold, the default) or all; with ,dry-run print the diff and write "
        "nothing, with ,force write even in CI",
    )
    group.addoption(
        "--jsonmatch-review",
        action="store_true",
        help="ask on the terminal, field by field, which differences of failed cases are to be expected",
    )
