"""What the tests of all rooms share."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.metadata
import io
import json
import multiprocessing.util
import os
import pkgutil
import re
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pytest_jsonmatch
from pytest_jsonmatch import (
    Comparison,
    ConfigurationError,
    RunResult,
    compare_corpus,
    compare_json,
    read_results,
    register_comparator,
)
from pytest_jsonmatch.cli.main import main
from pytest_jsonmatch.engine.plan.registry import get_active_registry, session_registry  # noqa: F401 - many tests import it from here
from pytest_jsonmatch.gate.intervals import ratio_interval
from pytest_jsonmatch.gate.paired import PairedTest, paired_test
from pytest_jsonmatch.gate.samples import CaseTerms, pair_cases
from pytest_jsonmatch.golden.loader import load_cases  # noqa: F401 - many tests import it from here
from pytest_jsonmatch.reading.errors import GoldenFileError  # noqa: F401 - many tests import it from here
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.details import details_of
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.results.statistics import Interval
from pytest_jsonmatch.support.frozen import replace

# Tests import their helpers as `tests.NAME`; `pytest` as a command does not find them by itself. The folder comes last,
# so that an installed package is tested as it is installed.
sys.path.append(str(Path(__file__).parents[1]))
from tests import forked, lookups
from tests.laws import share  # noqa: F401 - many tests import it from here

# A run of pytester in this process forgets every module that was imported in it: the next run would get some of our
# modules twice, and C extensions, which cannot be imported twice, would know only the first. So all that a run may
# import is imported here, before the first.
for name in ("numpy", "scipy.optimize", "rapidfuzz.process", "regex", "yaml", "jinja2"):
    import_module(name)
for module in pkgutil.walk_packages(pytest_jsonmatch.__path__, "pytest_jsonmatch."):
    # (Scorers inside other frameworks import these, which are not always here.)
    if not module.name.startswith("pytest_jsonmatch.adapters."):
        import_module(module.name)
# What is imported stays: a tenth of the time of small runs of pytester went into looking for garbage in it.
gc.freeze()
lookups.keep_lookups()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless it is asked for."""
    if not os.environ.get("FULL"):
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="takes long: only with FULL=1"))


@pytest.fixture(scope="session", autouse=True)
def temporary_files_go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what programs leave in the folder for temporary files (locks, Dask's scratch space) inside pytest's own."""
    multiprocessing.util.get_temp_dir()  # which is removed last, so it is made outside
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        patch.setattr(tempfile, "tempdir", None)
        yield
        forked.stop()


XDIST = ("-p", "xdist", "-n", "2")


class SerializedReports:
    """A plugin that sends each report through its serialized form, as pytest-xdist does, but in one process."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        report = yield
        hook, config = item.config.hook, item.config
        data = hook.pytest_report_to_serializable(config=config, report=report)
        return hook.pytest_report_from_serializable(config=config, data=json.loads(json.dumps(data)))


@pytest.fixture(params=["plain", "serialized"])
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Let runs of `pytester` in this process keep reports as they are, and as a worker would send them.

    Only for tests of what reports carry: results, errors, messages. Tests of what needs real workers (options, files
    that are written once, crashes) use `processes`, which takes ten times as long.
    """
    if request.param == "serialized":
        request.getfixturevalue("pytester").plugins.append(SerializedReports())
    return ()


@pytest.fixture(params=[(), XDIST], ids=["plain", "xdist"])
def processes(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Arguments for a run of pytest inside a test: in one process, and with two workers."""
    arguments: tuple[str, ...] = request.param
    return arguments


# What a CI server sets, in the names that the plugin and pytest look for.
CI_VARIABLES = (
    "CI",
    "BUILD_NUMBER",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_WORKSPACE",
)


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test run as at a developer's desk: what a run prints and may write must not depend on where it is."""
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def named_plugins_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load jsonmatch alone in runs of `pytester`, and whatever a test asks for by `-p xdist` or the like.

    So tests don't depend on what else is installed, and a run takes two thirds of the time. The plugin goes by the
    name of its entry point, as it does where pytest finds it by itself, so `-p no:jsonmatch` still turns it off.

    With xdist workers beside pytest-rerunfailures, let such a run have a process of its own: the threads of that
    plugin's server never end, and poll for ever once they have served a worker.
    """
    if "pytester" in request.fixturenames:
        pytester = request.getfixturevalue("pytester")  # which clears the variable PYTEST_ADDOPTS
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        monkeypatch.setenv("PYTEST_ADDOPTS", "-p jsonmatch")
        monkeypatch.setattr(importlib.metadata, "distributions", lookups.with_entry_points)
        if "every_plugin" not in request.fixturenames:
            monkeypatch.setattr(pytester, "popen", functools.partial(forked.popen, pytester.popen))
            forked.fork_workers(monkeypatch)


@pytest.fixture
def every_plugin(named_plugins_only: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pytest find all installed plugins by itself in runs of `pytester`, as it does for users."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> Callable[[], list[tuple[str, float]]]:
    """Let runs of `pytester` write down what they record; the function returns it as (id, score) pairs."""
    pytester.makeconftest(
        """
        import json

        def pytest_jsonmatch_summary(results, terminalreporter):
            with open("recorded.json", "w") as file:
                json.dump([[each.id, each.score] for each in results], file)
        """
    )

    def read() -> list[tuple[str, float]]:
        path = pytester.path / "recorded.json"
        if not path.exists():
            return []
        return [(identity, score) for identity, score in json.loads(path.read_text(encoding="utf-8"))]

    return read


def gates_in(lines: Iterable[str]) -> list[str]:
    """What tables of gates say, as "failed f1 >= 0.9: 0.47, margin -0.43 (mean of 3 records)"."""
    row = re.compile(r"(?:(.+?)  )? *(passed|failed|not decided)  +(\S+)  +\S+  +(\S+)(?:  +(.*))?")
    rows: list[list[str]] = []
    above, is_below_row = "", False
    for line in lines:
        if match := row.fullmatch(line):
            gate, verdict, value, margin, note = match.groups()
            rows.append([(gate or above).strip(), verdict, value, margin, note or ""])
        elif is_below_row and line.startswith("  "):  # a note that did not fit
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
        above, is_below_row = line, match is not None or (is_below_row and line.startswith("  "))
    found = []
    for gate, verdict, value, margin, note in rows:
        shown = note if value == "–" else f"{value}, margin {margin}{f' ({note})' if note else ''}"
        found.append(f"{verdict} {gate}: {shown}")
    return found


def compared(name: str, actual: object, expected: object, **more: Any) -> Comparison:
    """A comparison as a run keeps it, which passes if it reaches `limit`; `more` are options or its fields."""
    limit, options = more.pop("limit", 1.0), more.pop("options", {})
    result = compare_json(actual, expected, metric=more.pop("metric", "json_similarity"), **options)
    passed = result.has_figures and (result.score or 0.0) >= limit
    own = {"id": f"{name}#1", "nodeid": name, "threshold": {"score": limit}, "passed": passed}
    return Comparison.of(result, **{**own, **more})


def case_of(name: str, *answers: object, expected: object, **more: Any) -> Case:
    """A case with a run for each answer; its tags are parameters, too."""
    tags, of_case = (
        more.pop("tags", {}),
        {key: more.pop(key) for key in ("min_pass_rate", "cluster") if key in more},
    )
    kept = [compared(name, answer, expected, params=tuple(tags), **more) for answer in answers]
    runs = tuple(CaseRun(number, each.passed, (each,)) for number, each in enumerate(kept, 1))
    return Case(name, runs, len(runs), tags=tags, **of_case)


def bound(name: str, **params: Any) -> Any:
    """A comparator with its parameters: `score` of two values, and `table` of many with many."""
    return get_active_registry().find_comparator(name).bind(params)


@functools.cache
def case_schema() -> dict[str, Any]:
    """The JSON Schema of golden files, which `jsonmatch cases schema` writes."""
    with tempfile.TemporaryDirectory() as folder:
        assert main(["cases", "schema", "--output", str(Path(folder, "schema.json"))]) == 0
        schema: dict[str, Any] = json.loads(Path(folder, "schema.json").read_text(encoding="utf-8"))
    return schema


def built_in_comparators() -> list[str]:
    """The names that editors offer: those of the package, and not what some test has registered."""
    names: list[str] = case_schema()["$defs"]["comparator_name"]["examples"]
    return names


def option_names() -> list[str]:
    """The options of `compare_json`, which the error for an unknown one lists."""
    with pytest.raises(ConfigurationError) as caught:
        compare_json(1, 1, unknown=1)
    return str(caught.value).partition("known: ")[2].split(", ")


def broken_case(name: str, *errors: str, of: int | None = None, **more: Any) -> Case:
    """A case whose runs failed with these errors before they compared anything."""
    runs = tuple(CaseRun(number, passed=False, error=error) for number, error in enumerate(errors, 1))
    return Case(name, runs, of or len(runs), **more)


def text_of(run: RunResult) -> str:
    """The text of a run's result file, with the run's own origin: `save` adds the time and the commit if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        run.save(Path(folder, "run.jsonl"))
        head, *cases = Path(folder, "run.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    members = json.loads(head)
    for name in ("created", "commit", "versions"):
        members[name] = getattr(run, name)
        if not members[name]:
            del members[name]
    return "".join([json.dumps(members, default=dict), "\n", *cases])


def read_back(text: str) -> RunResult:
    """The run in a result file of this text."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run.jsonl").write_text(text, encoding="utf-8")
        return read_results(Path(folder, "run.jsonl"))


class Terminal(io.TextIOWrapper):
    """A stream that says to be a terminal."""

    def isatty(self) -> bool:
        return True


def output_of(*arguments: str, columns: int = 400, unicode: bool = True) -> tuple[int, str]:
    """The exit code of a command, and what it prints on pages of this width, without colours."""
    output = io.TextIOWrapper(io.BytesIO(), "utf-8") if unicode else Terminal(io.BytesIO(), "ascii")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("NO_COLOR", "1")
        patch.delenv("FORCE_COLOR", raising=False)
        code = main(list(arguments))
    output.seek(0)
    return code, output.read()


def report_of(run: RunResult, *arguments: str, **look: Any) -> list[str]:
    """The lines of `jsonmatch report` for the result file of a run; `look` is as for `output_of`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        path.write_text(text_of(run), encoding="utf-8")
        return output_of("report", str(path), *arguments, **look)[1].splitlines()


class GateRow(NamedTuple):
    """What a report says of a gate."""

    passed: bool | None
    value: str
    note: str


def gate_of(run: RunResult, gate: str) -> GateRow:
    """What `jsonmatch report` says of a gate on a run."""
    (line,) = gates_in(report_of(run, "--gate", gate))
    match = re.fullmatch(r"(passed|failed|not decided) (.*?): (.*)", line)
    assert match is not None
    assert match[2] == gate
    value = re.fullmatch(r"(\S+), margin \S+(?: \((.*)\))?", match[3])
    shown, note = (value[1], value[2] or "") if value else ("–", match[3])
    return GateRow({"passed": True, "failed": False}.get(match[1]), shown, note)


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The interval of a mean of independent values."""
    return ratio_interval((CaseTerms(value, 1.0, str(at)) for at, value in enumerate(values)), confidence)


def unreachable(items: Sequence[Any]) -> list[float]:
    """A batch comparator whose service does not answer for values that are "bad"."""
    if any("bad" in item.expected for item in items):
        raise RuntimeError("no network")
    return [1.0 for _ in items]


def corpus_of(pairs: Iterable[tuple[object, object]], **options: Any) -> RunResult:
    """A corpus of (actual, expected); `first` records are kept, the lowest-scoring of those that `keep` keeps.

    The rule `{"compare": "unreachable"}` fails where "bad" is expected.
    """
    register_comparator("unreachable", unreachable, overwrite=True)
    first = options.pop("first", None)
    answers, gold = zip(*pairs)
    run = compare_corpus(list(answers), list(gold), **options)
    if first is None:
        return run
    return replace(run, records=tuple(sorted(run.records, key=lambda each: (each.score, each.index))[:first]))


def run_of(answers: Mapping[str, tuple[object, object]], **more: Any) -> tuple[RunResult, PageExtra]:
    """A run of (actual, expected) by the id of a case, and what a page shows of it; `more` is as for `compared`."""
    cases, details = [], {}
    for name, (actual, expected) in answers.items():
        cases.append(case_of(name, actual, expected=expected, **more))
        how = {"metric": more.get("metric", "json_similarity"), **more.get("options", {})}
        details[name, f"{name}#1"] = details_of(compare_json(actual, expected, **how))
    return RunResult.of_cases(tuple(cases)), PageExtra(details)


def page_of(answers: Mapping[str, tuple[object, object]], **more: Any) -> str:
    """The page of such a run; `more` may also be arguments of `build`."""
    asked = {name: more.pop(name) for name in ("limit", "metric", "options") if name in more}
    results, extra = run_of(answers, **asked)
    return html_page(build(results, ReportRequest(page=extra, **more)))


def sign_flip(deltas: Iterable[float]) -> PairedTest:
    """The test of one run each, whose scores differ by these."""
    sides = ({str(at): [max(0.0, sign * delta)] for at, delta in enumerate(deltas)} for sign in (1, -1))
    return paired_test(pair_cases(*sides))
