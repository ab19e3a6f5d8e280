"""Side-by-side benchmarks: `python benchmarks/run.py [W1 … U1] [--quick]` prints tables of ratios.

Every peer lives in a virtual environment of its own (made on first use) and in a process of its own.
Within one table all peers take turns, and a figure is the median of its turns. Times are CPU seconds
of the process, all threads added, so that other work on the machine does not enter.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import selectors
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import cliffs
import extras
import tables
from adapters import ROWS
from environments import HERE, OURS, NotInstallableError, find_interpreter, python_of
from workloads import SAME, WORKLOADS

if TYPE_CHECKING:
    from adapters import Row
    from environments import Interpreter
    from workloads import Workload

Environments = tuple[dict[str, str], dict[str, str]]
"""Interpreters by environment, and for those that could not be made the reason."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to measure."""

    loading: float
    cap: float
    rounds: int
    slice: float
    row: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sizes and noises to measure; an empty list means all."""

    quick: bool
    sizes: list[int]
    noises: list[str]


FULL = Limits(loading=60.0, cap=30.0, rounds=5, slice=1.0, row=4.0)
QUICK = Limits(loading=15.0, cap=20.0, rounds=3, slice=0.5, row=1.5)


@dataclass
class Outcome:
    """What is known of one row at one size."""

    seconds: list[float] = field(default_factory=list)
    score: float | None = None
    grown: float | None = None
    leaves: int = 0
    note: str = ""
    absent: bool = False

    @property
    def median(self) -> float | None:
        """The median time, None without a single finished run."""
        return statistics.median(self.seconds) if self.seconds else None


class Worker:
    """A peer's process."""

    def __init__(self, python: str, cap: float) -> None:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONWARNINGS": "ignore",
        }
        self._process = subprocess.Popen(
            [python, str(HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self._cap = cap

    def ask(self, cap: float | None = None, **request: object) -> dict[str, object]:
        """Send a request and return the answer; a process that is too slow or dies is an error."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or self._process.poll() is not None:
            return {"error": "the process has ended"}
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        limit = cap or self._cap
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            if not selector.select(limit):
                self.close()
                return {"timeout": f"> {limit:.0f} s"}
        line = stdout.readline()
        if not line:
            self.close()
            return {"error": f"the process died with status {self._process.returncode}"}
        answer: dict[str, object] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _failed(outcome: Outcome, answer: dict[str, object]) -> bool:
    for key in ("absent", "error", "timeout"):
        if key in answer:
            outcome.note = str(answer[key])
            outcome.absent = key == "absent"
            return True
    return False


def measure(
    rows: list[Row], pythons: dict[str, str], workload: Workload, size: int, noise: str, limits: Limits
) -> dict[str, Outcome]:
    """Return the outcome of every row for one workload, size and noise; rows take turns."""
    outcomes = {row.name: Outcome() for row in rows}
    workers: dict[str, Worker] = {}
    for row in rows:
        worker = Worker(pythons[row.environment], limits.cap)
        answer = worker.ask(
            cap=limits.loading, op="load", workload=workload.name, size=size, noise=noise, row=row.name
        )
        if _failed(outcomes[row.name], answer):
            worker.close()
            continue
        leaves = answer["leaves"]
        outcomes[row.name].leaves = leaves if isinstance(leaves, int) else 0
        workers[row.name] = worker
    for _ in range(limits.rounds):
        for name, worker in list(workers.items()):
            outcome = outcomes[name]
            answer = worker.ask(op="run", budget=limits.slice)
            if _failed(outcome, answer):
                worker.close()
                del workers[name]
                continue
            outcome.seconds.append(float(str(answer["seconds"])))
            outcome.score = float(str(answer["score"]))
            if answer["grown"] is not None:
                outcome.grown = float(str(answer["grown"]))
            share = float(str(answer["share"]))
            if sum(outcome.seconds) * share > limits.row:
                worker.close()
                del workers[name]
    for worker in workers.values():
        worker.close()
    return outcomes


def _growth(times: list[tuple[int, float]]) -> float | None:
    if len(times) < 2:
        return None
    (small, first), (large, second) = times[-2:]
    return math.log(second / first) / math.log(large / small)


Measured = dict[int, dict[str, dict[str, Outcome]]]
"""The outcomes of every row, by size and noise."""


def _extremes(rows: list[Row], measured: Measured) -> str:
    """Return a table of each row's best and worst noise; a peer's ratios are those to ours at one noise."""
    lines: list[list[str]] = []
    for size, by_noise in measured.items():
        for row in rows:
            times = {
                noise: median
                for noise, outcomes in by_noise.items()
                if row.name in outcomes and (median := outcomes[row.name].median)
            }
            if len(times) < 2:
                continue
            best, worst = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
            ratios = [
                median / base
                for noise, median in times.items()
                if row.against in by_noise[noise] and (base := by_noise[noise][row.against].median)
            ]
            lines.append(
                [
                    row.name,
                    f"{size:,}",
                    tables.seconds(times[best]),
                    tables.seconds(times[worst]),
                    tables.ratio(times[worst] / times[best]),
                    tables.ratio(min(ratios, default=None)),
                    tables.ratio(max(ratios, default=None)),
                    row.against or "–",
                    f"{best} – {worst}",
                ]
            )
    header = [
        "tool",
        "size",
        "best",
        "worst",
        "worst / best",
        "least ratio",
        "greatest",
        "against ours",
        "noises",
    ]
    return tables.render(header, lines)


def _table(rows: list[Row], outcomes: dict[str, Outcome], history: dict[str, list[tuple[int, float]]]) -> str:
    lines: list[list[str]] = []
    for row in rows:
        outcome = outcomes.get(row.name)
        if outcome is None or outcome.absent:
            continue
        base = outcomes.get(row.against)
        median = outcome.median
        against = base.median if base else None
        lines.append(
            [
                row.name,
                tables.seconds(median),
                tables.ratio(median / against if median and against else None),
                row.against or "–",
                tables.rate(outcome.leaves / median if median else None),
                tables.plain(outcome.grown, 1),
                tables.plain(_growth(history.get(row.name, [])), 2),
                tables.plain(outcome.score, 4),
                outcome.note,
            ]
        )
    return tables.render(
        ["tool", "CPU time", "ratio", "against ours", "leaves/s", "MB grown", "growth", "score", "note"],
        lines,
    )


def run_workload(
    workload: Workload, rows: list[Row], found: Environments, limits: Limits, choice: Choice
) -> None:
    """Measure one workload at its sizes and noises and print its tables."""
    pythons, missing = found
    present = [row for row in rows if row.environment in pythons]
    for row in rows:
        if row.environment in missing:
            print(f"\n{row.name} could not be installed: {missing[row.environment]}")
    measured: Measured = {}
    for noise in [noise for noise in workload.noises if not choice.noises or noise in choice.noises]:
        history: dict[str, list[tuple[int, float]]] = {}
        hopeless: dict[str, str] = {}
        sizes = workload.quick_sizes if choice.quick else workload.sizes
        for size in [size for size in sizes if not choice.sizes or size in choice.sizes]:
            outcomes = measure(
                [row for row in present if row.name not in hopeless], pythons, workload, size, noise, limits
            )
            outcomes |= {name: Outcome(note=note) for name, note in hopeless.items()}
            measured.setdefault(size, {})[noise] = outcomes
            for name, outcome in outcomes.items():
                if outcome.median:
                    history.setdefault(name, []).append((size, outcome.median))
                elif outcome.note.startswith(">"):
                    hopeless.setdefault(name, f"{outcome.note} at {size:,}")
            absent = [f"{name} ({outcome.note})" for name, outcome in outcomes.items() if outcome.absent]
            print(f"\n### {workload.name} · {workload.title} · {size:,} {workload.unit} · {noise} noise\n")
            print(_table(rows, outcomes, history), flush=True)
            if absent:
                print(f"\nNot there yet: {'; '.join(absent)}.")
    if any(len(by_noise) > 1 for by_noise in measured.values()):
        print(f"\n### {workload.name} · {workload.title} · the best noise and the worst\n")
        print(_extremes(rows, measured), flush=True)


def _environments(rows: list[Row], interpreter: Interpreter) -> Environments:
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name in dict.fromkeys(row.environment for row in rows):
        try:
            found[name] = python_of(name, interpreter)
        except NotInstallableError as error:
            missing[name] = str(error)
    return found, missing


def main(arguments: list[str]) -> None:
    """Run the named benchmarks, all of them by default."""
    parser = argparse.ArgumentParser(prog="run.py", description="Side-by-side benchmarks against peers.")
    others = {**extras.BENCHMARKS, "C1": cliffs.run}
    names = [*WORKLOADS, *others]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(names)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes, short slices: a smoke test")
    parser.add_argument(
        "--python", metavar="PATH", help="the interpreter for every environment; default: python3.12"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="only peers whose name contains TEXT; may be repeated (our own rows always run)",
    )
    parser.add_argument(
        "--noise",
        action="append",
        default=[],
        choices=list(SAME),
        help="only this noise of each workload; may be repeated",
    )
    parser.add_argument(
        "--size",
        action="append",
        type=int,
        default=[],
        metavar="N",
        help="only this size of each workload; may be repeated",
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in names]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; known: {', '.join(names)}")
    interpreter = find_interpreter(given.python)
    print(f"Python {interpreter.version}, {platform.system()}, {os.cpu_count()} cores")
    if interpreter.notice:
        print(interpreter.notice)
    limits = QUICK if given.quick else FULL
    chosen = given.names or names
    wanted = given.only or [""]
    rows = [
        row
        for row in ROWS
        if set(row.workloads) & set(chosen)
        and (row.environment == OURS or any(text in row.name for text in wanted))
    ]
    found = _environments(rows, interpreter)
    for name in chosen:
        if name in WORKLOADS:
            here = [row for row in rows if name in row.workloads]
            run_workload(WORKLOADS[name], here, found, limits, Choice(given.quick, given.size, given.noise))
        else:
            others[name](interpreter, given.quick)


if __name__ == "__main__":
    main(sys.argv[1:])
