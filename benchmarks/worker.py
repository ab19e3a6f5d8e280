"""The process in which one peer runs: reads one JSON request a line, answers with one JSON line.

Requests: `{"op": "load", "workload": …, "size": …, "noise": …, "row": …}` and
`{"op": "run", "budget": seconds}`. It runs under the peer's own interpreter, so that it imports only
the standard library, the workloads and the adapters.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from adapters import ROWS, NotThereError
from workloads import WORKLOADS, count_leaves

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from adapters import CorpusScorer, PairScorer, Row
    from workloads import Json, Pair, Shape

_CHUNK = 100
_SHORT = 0.02
_LONG_ENOUGH = 0.1
_MEMORY_LIMIT = 10 * 2**30

Answer = dict[str, object]


def limit_memory() -> None:
    """Let the process have 10 GiB at most, where the system can."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))


def _status_kib(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def start_watching_memory() -> int | None:
    """Reset the process's peak and return its size in KiB; None where the system has no such figures."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status_kib("VmRSS")
    except OSError:
        return None


def grown_mb(before: int | None) -> float | None:
    """Return by how much the peak is above what `start_watching_memory` returned."""
    return None if before is None else max(0, _status_kib("VmHWM") - before) / 1024


class Job:
    """One peer with its data loaded."""

    def __init__(self, row: Row, pairs: list[Pair], shape: Shape) -> None:
        self.pairs = pairs
        self.leaves = sum(count_leaves(expected) for expected, _ in pairs)
        self.first = True
        self.chunks = [pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK)]
        self._score = self._chunk_scorer(row, shape)

    @staticmethod
    def _chunk_scorer(row: Row, shape: Shape) -> Callable[[list[Pair]], float]:
        if row.make_corpus is not None:
            corpus: CorpusScorer = row.make_corpus(shape)
            return lambda chunk: corpus([expected for expected, _ in chunk], [actual for _, actual in chunk])
        if row.make is None:
            raise NotThereError("the row has no scorer")
        score: PairScorer = row.make(shape)
        return lambda chunk: sum(score(expected, actual) for expected, actual in chunk) / len(chunk)

    def _once(self, budget: float) -> tuple[float, int, float]:
        """Return (CPU seconds, pairs done, mean score of the first chunk)."""
        done, first_score = 0, 0.0
        start = time.process_time()
        for number, chunk in enumerate(self.chunks):
            score = self._score(chunk)
            done += len(chunk)
            if number == 0:
                first_score = score
            if time.process_time() - start > budget:
                break
        return time.process_time() - start, done, first_score

    def warm_up(self) -> None:
        """Score the first chunk once."""
        self._score(self.chunks[0])

    def run(self, budget: float) -> Answer:
        """Run over the pairs within the budget; short runs are repeated and averaged."""
        gc.collect()
        before = start_watching_memory() if self.first else None
        seconds, done, score = self._once(budget)
        grown = grown_mb(before) if self.first else None
        self.first = False
        if seconds < _SHORT:
            times = max(1, int(_LONG_ENOUGH / max(seconds, 1e-5)))
            start = time.process_time()
            for _ in range(times):
                self._once(budget)
            seconds = (time.process_time() - start) / times
        return {
            "seconds": seconds * len(self.pairs) / done,
            "score": score,
            "grown": grown,
            "share": done / len(self.pairs),
        }


def _load(request: dict[str, Json]) -> tuple[Job, Answer]:
    workload = WORKLOADS[str(request["workload"])]
    row = next(row for row in ROWS if row.name == request["row"])
    size = request["size"]
    if not isinstance(size, int):
        raise TypeError("size is an integer")
    # A small run first: what a peer imports or compiles on first use is no growth of the workload.
    Job(row, workload.pairs(workload.warm_size, str(request["noise"])), workload.shape).warm_up()
    job = Job(row, workload.pairs(size, str(request["noise"])), workload.shape)
    return job, {"leaves": job.leaves}


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:100]}" if lines else type(error).__name__


def main(requests: TextIO, answers: TextIO) -> None:
    """Serve requests until the input ends."""
    limit_memory()
    job: Job | None = None
    for line in requests:
        request = json.loads(line)
        answer: Answer
        try:
            if request["op"] == "load":
                job, answer = _load(request)
            elif job is None:
                answer = {"error": "nothing is loaded"}
            else:
                answer = job.run(request["budget"])
        except NotThereError as error:
            answer = {"absent": str(error)}
        except (Exception, MemoryError) as error:  # noqa: BLE001 - whatever a peer raises is its result
            answer = {"error": _sentence(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Peers may write to stdout; the protocol keeps a stream of its own.
    protocol, sys.stdout = sys.stdout, sys.stderr
    main(sys.stdin, protocol)
