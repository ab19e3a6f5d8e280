"""Two files and an executor: workers parse the lines, and nothing else changes."""

from __future__ import annotations

import json
import os
import pickle
import random
import threading
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import JsonMatchError, compare_corpus
from tests.laws import law

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Away(Executor):
    """Scores when a result is asked for, after all has travelled by pickle; `sent` are the jobs."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent += args
        text = pickle.dumps((fn, args))

        class Promise(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                function, positional = pickle.loads(text)
                return pickle.loads(pickle.dumps(function(*positional)))

        promise = Promise()
        promise.set_result(None)
        return promise

    @property
    def kinds(self) -> list[bool]:
        """Which jobs are lines."""
        return [is_lines(job) for job in self.sent]


def is_lines(job: Any) -> bool:
    """Whether a job is lines of files, and not records that have been read."""
    return not hasattr(job, "pairs")


def write(path: Path, lines: list[str], end: str = "\n") -> Path:
    path.write_bytes(end.join([*lines, ""]).encode())
    return path


def message(gold: Path, extracted: Path, **options: Any) -> Any:
    """Return all that a run says, or its error."""
    try:
        run = compare_corpus(extracted, gold, **options)
    except JsonMatchError as error:
        return type(error), str(error)
    kept = [[str(each) for each in record.field_results] for record in run.records]
    return run.to_dict(), [str(record) for record in run.worst], kept


def corpus(rng: random.Random, size: int) -> tuple[list[str], list[str]]:
    gold = [{"id": f"r{n}", "a": n % 3, "b": "x" * rng.randint(0, 40), "c": [n, 0.1]} for n in range(size)]
    extracted = [
        {**record, "b": rng.choice(["", record["b"]]), "c": [record["c"][0], rng.random()]} for record in gold
    ]
    return list(map(json.dumps, gold)), list(map(json.dumps, extracted))


def unordered(rng: random.Random, lines: list[str]) -> None:
    at = rng.randrange(len(lines) - 1)
    lines[at : at + 2] = reversed(lines[at : at + 2])


HARM: dict[str, Callable[[random.Random, list[str]], object]] = {
    "nothing": lambda rng, lines: None,
    "blank": lambda rng, lines: lines.insert(rng.randrange(len(lines)), rng.choice(["", " \t"])),
    "blank at the end": lambda rng, lines: lines.extend(["", ""]),
    "missing": lambda rng, lines: lines.pop(rng.randrange(len(lines))),
    "missing at the end": lambda rng, lines: lines.__delitem__(slice(-rng.randint(1, 9), None)),
    "none": lambda rng, lines: lines.clear(),
    "no JSON": lambda rng, lines: lines.__setitem__(rng.randrange(len(lines)), "I do not know"),
    "prose": lambda rng, lines: lines.__setitem__(0, f"So: {lines[0]}."),
    "no id": lambda rng, lines: lines.__setitem__(rng.randrange(len(lines)), '{"a": 1}'),
    "twice": lambda rng, lines: lines.insert(rng.randrange(len(lines)), lines[0]),
    "twice in a row": lambda rng, lines: lines.insert(5, lines[5]),
    "more": lambda rng, lines: lines.append('{"id": "new"}'),
    "shuffled": lambda rng, lines: rng.shuffle(lines),
    "swapped": unordered,
}


@contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "id differs by position")
        yield


@law(st.integers(0, 2**32), each=[None, "id"], examples=80, within=quiet)
def test_results_are_those_of_one_process(id, seed):
    rng = random.Random(seed)
    with TemporaryDirectory() as folder:
        check_both(rng, id, Path(folder))


def check_both(rng, id, folder):
    gold, extracted = corpus(rng, rng.choice([20, 90]))
    for _ in range(rng.randint(0, 2)):
        of_gold = rng.choice(["blank", "missing", "missing", "blank", "no JSON", "no id", "twice"])
        lines, harm = rng.choice([(gold, of_gold), (extracted, rng.choice(list(HARM)))])
        if len(lines) > 5:
            HARM[harm](rng, lines)
    end = rng.choice(["\n", "\r\n"])
    sides = write(folder / "gold.jsonl", gold, end), write(folder / "extracted.jsonl", extracted, end)
    options = {
        "id": id,
        "chunk_size": rng.choice([1, 7, 40]),
        "keep": rng.choice(["all", "worst"]),
    }
    assert message(*sides, executor=Away(), **options) == message(*sides, **options)


@pytest.mark.parametrize("id", [None, "id"])
@pytest.mark.parametrize("kind", ["files", "lists", "answers missing"])
def test_the_first_error_is_that_of_one_process(tmp_path, id, kind):
    gold = [{"id": n, "a": n} for n in range(40)]
    gold[21] = {"id": 21, "b": 1}
    gold[24] = {"a": 1}
    sides: Any = gold, gold[1:] if kind == "answers missing" else gold
    if kind != "lists":
        texts = [list(map(json.dumps, side)) for side in sides]
        sides = [write(tmp_path / str(number), text) for number, text in enumerate(texts)]
    for size in (2, 5):
        options = {"id": id, "schema": {"properties": {"id": {}, "a": {}}}, "chunk_size": size}
        assert message(*sides, executor=Away(), **options) == message(*sides, **options)


@pytest.mark.parametrize("id", [None, "id"])
def test_only_lines_are_sent(tmp_path, id):
    gold, extracted = corpus(random.Random(1), 1_000)
    sides = write(tmp_path / "gold.jsonl", gold), write(tmp_path / "extracted.jsonl", extracted)
    executor = Away()
    run = compare_corpus(*reversed(sides), executor=executor, id=id, chunk_size=10)
    assert (run.total_records, executor.kinds) == (1_000, [True] * 100)


def test_the_rest_is_sent_once_ids_differ(tmp_path):
    gold, extracted = corpus(random.Random(1), 1_000)
    del extracted[500]
    sides = write(tmp_path / "gold.jsonl", gold), write(tmp_path / "extracted.jsonl", extracted)
    executor = Away()
    options: dict[str, Any] = {"id": "id", "chunk_size": 10}
    assert message(*sides, executor=executor, **options) == message(*sides, **options)
    records = [pair for job in executor.sent if not is_lines(job) for pair in job.pairs]
    assert sorted(pair.position for pair in records) == list(range(500, 1_000))
    # Threads share what was read.
    with ThreadPoolExecutor(2) as threads:
        assert message(*sides, executor=threads, **options) == message(*sides, **options)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_read_once(tmp_path):
    gold, extracted = corpus(random.Random(1), 50)
    write(tmp_path / "gold.jsonl", gold)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write, args=(tmp_path / "pipe", extracted))
    writer.start()
    run = compare_corpus(tmp_path / "pipe", tmp_path / "gold.jsonl", executor=Away(), chunk_size=5)
    writer.join()
    assert run.total_records == 50


@pytest.mark.parametrize("seed", range(6))
def test_a_worker_without_the_files_gets_the_lines(tmp_path, monkeypatch, seed):
    rng = random.Random(seed)
    gold, extracted = corpus(rng, 60)
    list(HARM.values())[seed](rng, extracted)
    sides = write(tmp_path / "gold.jsonl", gold), write(tmp_path / "extracted.jsonl", extracted)
    here, executor = message(*sides, id="id"), Away()
    assert message(*sides, id="id", executor=executor, chunk_size=16) == here
    assert not any(chunk.expected.text or chunk.actual.text for chunk in executor.sent if is_lines(chunk))
    monkeypatch.setattr(
        "pytest_jsonmatch.records.sources.FilePart.is_readable", lambda part: part.text is not None
    )
    assert message(*sides, id="id", executor=Away(), chunk_size=16) == here
