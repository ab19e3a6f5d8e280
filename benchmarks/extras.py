"""Benchmarks that are not workloads: what the plugin costs pytest, the YAML loader, user comparators.

Whole pytest processes are timed from outside, in turns; the figure is the median of the ratios of each
turn. Times are the child's own CPU seconds (user and system) where the system tells them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import tables
from environments import HERE, NotInstallableError, python_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from environments import Interpreter

_EMPTY_TURNS, _SUITE_TURNS, _QUICK_TURNS = 21, 5, 3


def _cpu_seconds(command: list[str], folder: Path) -> tuple[float, int, str]:
    """Run a command in a folder; return its CPU seconds, its exit status and its last line of output."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    before, start = _children_seconds(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    wall = time.perf_counter() - start
    spent = _children_seconds() - before
    last = next(iter(reversed(done.stdout.strip().splitlines())), "")
    return spent or wall, done.returncode, last.strip("= ")


def _children_seconds() -> float:
    """Return the CPU seconds of all finished children; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


Commands = dict[str, tuple[list[str], Path]]


def _in_turns(commands: Commands, turns: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    times: dict[str, list[float]] = {name: [] for name in commands}
    notes: dict[str, str] = {}
    for turn in range(turns + 1):
        for name, (command, folder) in commands.items():
            spent, status, last = _cpu_seconds(command, folder)
            notes[name] = f"exit status {status}: {last}"
            if turn:  # the first turn writes caches
                times[name].append(spent)
    return times, notes


def _print_turns(title: str, times: dict[str, list[float]], notes: dict[str, str], base: str) -> None:
    print(f"\n### {title}\n")
    rows = []
    for name, spent in times.items():
        ratios = [one / other for one, other in zip(spent, times[base], strict=True)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        rows.append(
            [
                name,
                tables.seconds(statistics.median(spent)),
                tables.ratio(statistics.median(ratios)),
                spread,
                tables.seconds(min(spent)),
                tables.ratio(min(spent) / min(times[base])),
                notes[name],
            ]
        )
    titles = ["suite", "CPU time", f"median ratio to {base}", "range", "least", "ratio of least", "last run"]
    print(tables.render(titles, rows), flush=True)


def _print_per_case(
    title: str, times: dict[str, list[float]], commands: Commands, count: int, root: str
) -> None:
    """Print what a case takes beyond a session with one test, which every suite pays for once."""
    folder = _folder(root, "one", {"test_one.py": "def test_one():\n    pass\n"})
    rows = []
    for name, (command, _) in commands.items():
        one = min(_cpu_seconds(command, folder)[0] for _ in range(_SUITE_TURNS))
        rows.append([name, tables.seconds(one), tables.seconds((min(times[name]) - one) / count)])
    print(f"\n### {title}\n")
    print(tables.render(["suite", "a session with one test", "each further case"], rows), flush=True)


def idle(interpreter: Interpreter, quick: bool) -> None:
    """What an installed but unused plugin costs pytest in an empty folder."""
    bare, ours = python_of("bare", interpreter), python_of("ours", interpreter)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands: Commands = {
            "not installed": ([bare, "-m", "pytest"], folder),
            "installed, switched off": ([ours, "-m", "pytest", "-p", "no:jsonmatch"], folder),
            "installed, idle": ([ours, "-m", "pytest"], folder),
        }
        times, notes = _in_turns(commands, _QUICK_TURNS if quick else _EMPTY_TURNS)
    _print_turns("P1 · pytest on an empty folder", times, notes, "not installed")
    _print_turns("P1 · the same, against the plugin switched off", times, notes, "installed, switched off")


_PARAMETRIZED = """\
import pytest


def value(i):
    return {{"a": i, "b": "text {{}}".format(i)}}


CASES = [pytest.param(value(i), value(i), id="case-{{}}".format(i)) for i in range({count})]


@pytest.mark.parametrize(("actual", "expected"), CASES)
def test_case(actual, expected):
    assert actual == expected
"""
_SYRUPY = """\
import pytest


@pytest.mark.parametrize("i", range({count}))
def test_case(i, snapshot):
    assert {{"a": i, "b": "text {{}}".format(i)}} == snapshot
"""
_PYTEST_GOLDEN = """\
import pytest


@pytest.mark.golden_test("cases/*.yml")
def test_case(golden):
    assert golden["actual"] == golden.out["expected"]
"""


def _golden_file(count: int) -> str:
    cases = "".join(
        f"  - id: case-{i}\n    actual: {{a: {i}, b: text {i}}}\n    expected: {{a: {i}, b: text {i}}}\n"
        for i in range(count)
    )
    return f"metric: field_match\ncases:\n{cases}"


def _folder(root: str, name: str, files: dict[str, str]) -> Path:
    folder = Path(root) / name
    for path, text in {"pytest.ini": _INI, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


_INI = "[pytest]\n"
_COLLECT, _RUN = ["-m", "pytest", "-q", "--collect-only"], ["-m", "pytest", "-q"]


def golden(interpreter: Interpreter, quick: bool) -> None:
    """Trivial golden cases of one file against as many parametrized tests, syrupy and pytest-golden."""
    bare, ours = python_of("bare", interpreter), python_of("ours", interpreter)
    try:
        snapshots: str | None = python_of("snapshots", interpreter)
    except NotInstallableError as error:
        snapshots = None
        print(f"\nsyrupy and pytest-golden are left out: {error}")
    turns = _QUICK_TURNS if quick else _SUITE_TURNS
    for count in (200, 1_000) if quick else (1_000, 10_000):
        with tempfile.TemporaryDirectory() as root:
            plain = _folder(root, "plain", {"test_cases.py": _PARAMETRIZED.format(count=count)})
            cases = _folder(root, "golden", {"cases.golden.yaml": _golden_file(count)})
            commands = {"parametrized": ([bare, *_COLLECT], plain), "golden YAML": ([ours, *_COLLECT], cases)}
            _print_turns(f"P2 · collect {count:,} cases", *_in_turns(commands, turns), "parametrized")
            commands = {"parametrized": ([bare, *_RUN], plain), "golden YAML": ([ours, *_RUN], cases)}
            if snapshots:
                commands |= _snapshot_suites(root, snapshots, count)
            times, notes = _in_turns(commands, turns)
            _print_turns(f"P2 · run {count:,} cases", times, notes, "golden YAML")
            _print_per_case(f"P2 · run {count:,} cases, without starting", times, commands, count, root)
    _golden_files(interpreter, quick)


def _golden_files(interpreter: Interpreter, quick: bool) -> None:
    """Files of one golden case each against as many Python files of one parametrized test."""
    bare, ours = python_of("bare", interpreter), python_of("ours", interpreter)
    count = 100 if quick else 1_000
    turns = _QUICK_TURNS if quick else _SUITE_TURNS
    with tempfile.TemporaryDirectory() as root:
        one = _PARAMETRIZED.format(count=1)
        plain = _folder(root, "plain", {f"test_{number}.py": one for number in range(count)})
        cases = _folder(root, "golden", {f"{number}.golden.yaml": _golden_file(1) for number in range(count)})
        for what, arguments in (("collect", _COLLECT), ("run", _RUN)):
            commands = {
                "parametrized": ([bare, *arguments], plain),
                "golden YAML": ([ours, *arguments], cases),
            }
            title = f"P2 · {what} {count:,} files of one case"
            _print_turns(title, *_in_turns(commands, turns), "parametrized")


def _snapshot_suites(root: str, python: str, count: int) -> Commands:
    """Return the same cases for syrupy and, up to 1,000 of them, pytest-golden (a file for each case)."""
    kept = _folder(root, "syrupy", {"test_cases.py": _SYRUPY.format(count=count)})
    _cpu_seconds([python, *_RUN, "--snapshot-update", "-p", "no:golden"], kept)
    commands: Commands = {"syrupy": ([python, *_RUN, "-p", "no:golden"], kept)}
    if count <= 1_000:
        case = "actual: {{a: {i}, b: text {i}}}\nexpected: {{a: {i}, b: text {i}}}\n"
        files = {f"cases/{i}.yml": case.format(i=i) for i in range(count)}
        files |= {"test_cases.py": _PYTEST_GOLDEN, "pytest.ini": _INI + "enable_assertion_pass_hook = true\n"}
        commands["pytest-golden"] = ([python, *_RUN, "-p", "no:syrupy"], _folder(root, "files", files))
    return commands


_YAML_SCRIPT = """\
import gc, json, statistics, sys, time
import yaml
from pytest_jsonmatch.reading.yamlevents import load

text = open(sys.argv[1], encoding="utf-8").read()
loaders = {
    "ours, with lines": lambda: load(text, "cases.golden.yaml"),
    "yaml.load, CSafeLoader": lambda: yaml.load(text, yaml.CSafeLoader),
    "yaml.compose, CSafeLoader": lambda: yaml.compose(text, yaml.CSafeLoader),
}
times = {name: [] for name in loaders}
for _ in range(int(sys.argv[2])):
    for name, function in loaders.items():
        gc.collect()
        start = time.process_time()
        function()
        times[name].append(time.process_time() - start)
size = len(text.encode()) / 1e6
print(json.dumps({name: size / statistics.median(spent) for name, spent in times.items()}))
"""


def _script(python: str, script: str, *arguments: str) -> dict[str, object] | str:
    """Run a script that prints one JSON object; return it, or the last line of what went wrong."""
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [python, "-c", script, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        return next(iter(reversed(done.stderr.strip().splitlines())), f"exit status {done.returncode}")
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def yaml_speed(interpreter: Interpreter, quick: bool) -> None:
    """Megabytes a second of our YAML loader beside PyYAML's own."""
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "cases.golden.yaml"
        path.write_text(_golden_file(1_000 if quick else 10_000), encoding="utf-8")
        speeds = _script(python_of("ours", interpreter), _YAML_SCRIPT, str(path), "3")
    print("\n### P3 · YAML loaders, one golden file\n")
    if isinstance(speeds, str):
        print(f"Not there yet: {speeds}")
        return
    base = float(str(speeds["ours, with lines"]))
    rows = [
        [name, tables.plain(float(str(speed)), 2), tables.ratio(base / float(str(speed)))]
        for name, speed in speeds.items()
    ]
    print(tables.render(["loader", "MB/s", "ours is faster by"], rows))


_CALLS_SCRIPT = """\
import json, sys
from pytest_jsonmatch import compare_json, register_comparator
from workloads import WORKLOADS

calls = 0

def similar(expected, actual, params):
    global calls
    calls += 1
    a, b = set(expected.split()), set(actual.split())
    return len(a & b) / len(a | b) if a | b else 1.0

register_comparator("similar", similar)
answer = {}
kinds = {
    "objects, one field of six": ("W3", {"fields": {"items[].note": {"compare": "similar"}}}),
    "strings, all there is": ("W4", {"compare": {"string": "similar"}}),
}
for kind, (name, options) in kinds.items():
    for noise in ("default", "hard"):
        for size in (50, 200, 500):
            (expected, actual), = WORKLOADS[name].pairs(size, noise)
            calls = 0
            result = compare_json(actual, expected, metric="pairwise_f1", **options)
            answer[f"{kind} {noise} {size}"] = [kind, noise, size, calls, result.score]
print(json.dumps(answer))
"""


def user_comparator(interpreter: Interpreter, quick: bool) -> None:
    """How often a user's comparator is called for one unordered array of N elements (N² would be naive)."""
    del quick
    answer = _script(python_of("ours", interpreter), _CALLS_SCRIPT)
    print("\n### U1 · calls of a user comparator in one unordered array of N elements\n")
    if isinstance(answer, str):
        print(f"Not there yet: {answer}")
        return
    rows = []
    for value in answer.values():
        if not isinstance(value, list):
            raise TypeError("the script answers with lists")
        kind, noise, size, calls, score = value
        rows.append(
            [kind, noise, f"{size:,}", f"{calls:,}", tables.plain(calls / size, 2), tables.plain(score, 4)]
        )
    print(
        tables.render(["elements, and what it compares", "noise", "N", "calls", "calls / N", "score"], rows)
    )


BENCHMARKS: dict[str, Callable[[Interpreter, bool], None]] = {
    "P1": idle,
    "P2": golden,
    "P3": yaml_speed,
    "U1": user_comparator,
}
"""The benchmarks of this file by name."""

if __name__ == "__main__":
    sys.exit("Run benchmarks/run.py instead.")
