"""Chunks scored elsewhere: the same to the last bit, or an error that says why."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError, JsonMatchError, compare_corpus
from pytest_jsonmatch.schema import reset_type_defaults, set_type_default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Late(Executor):
    """Does nothing until somebody asks for a result, and counts how many wait; all travels as by pickle."""

    waiting = most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        executor = self
        sent = pickle.dumps((fn, args, kwargs))

        class Promise(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                executor.waiting -= 1
                function, positional, named = pickle.loads(sent)
                return pickle.loads(pickle.dumps(function(*positional, **named)))

        return Promise()


def test_few_chunks_are_on_their_way_at_a_time():
    taken = 0

    def records() -> Iterator[dict[str, int]]:
        nonlocal taken
        for number in range(1_000):
            taken += 1
            yield {"n": number}

    executor = Late()
    result = compare_corpus(records(), records(), executor=executor, chunk_size=5)
    assert (result.mean_f1, result.total_records, taken, executor.most) == (1.0, 1_000, 2_000, 32)


def test_a_result_that_is_lost_is_asked_for_again():
    class Losing(Late):
        jobs = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.jobs += 1
            if self.jobs != 3:
                return super().submit(fn, *args, **kwargs)
            lost: Future[Any] = Future()
            lost.set_exception(TypeError("cannot unpack non-iterable ChunkResult object"))
            return lost

    records = [{"n": number} for number in range(20)]
    executor = Losing()
    assert compare_corpus(records, records, executor=executor, chunk_size=4).total_records == 20
    assert executor.jobs == 6


def test_what_nobody_has_looked_at_travels_as_well():
    run = pickle.loads(pickle.dumps(compare_corpus([{"a": 2}], [{"a": 1}], executor=Late())))
    assert [(each.path, each.expected, each.actual) for each in run.records[0].field_results] == [("a", 1, 2)]


def test_records_beyond_the_limits_score_0_wherever_they_are_scored():
    nested: Any = 1
    for _ in range(20_000):  # too deep to be pickled
        nested = {"a": nested}
    answers = [nested, '{"a":' * 20_000 + "1" + "}" * 20_000, {"a": 10**5_000}, {"a": 1}]
    with ProcessPoolExecutor(1) as executor:
        for given in (None, executor):
            run = compare_corpus(answers, [{"a": 1}] * 4, executor=given, chunk_size=2)
            assert [record.score for record in run.records] == [0.0, 0.0, 0.0, 1.0]
            reasons = ["more than 128 levels"] * 2 + ["more than 4,300 digits"]
            assert [part in str(record.error) for part, record in zip(reasons, run.records)] == [True] * 3


def test_errors_in_gold_come_back_with_their_place():
    schema = {"properties": {"a": {}}}
    with ProcessPoolExecutor(1) as executor, pytest.raises(GoldValidationError) as caught:
        compare_corpus([{}, {}], [{"a": 1}, {"a": 1, "b": 1}], schema=schema, executor=executor)
    assert (caught.value.record_id, caught.value.path) == (2, "b")


def test_a_process_with_other_rules_is_refused():
    set_type_default("string", "levenshtein")
    spawn = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, spawn) as executor, pytest.raises(ConfigurationError) as message:
            compare_corpus([{"a": "ac"}], [{"a": "ab"}], executor=executor)
    finally:
        reset_type_defaults()
    assert str(message.value).startswith("the worker process has different rules (leaf_f1|options:none|")
    assert str(message.value).endswith("for example in the executor's initializer")


@contextmanager
def dask_cluster() -> Iterator[Any]:
    """Start two Dask workers on this machine, and give their client."""
    distributed = pytest.importorskip("distributed")
    # (Those who want something from a worker that was killed would wait for it for half a minute.)
    patience = {"distributed.comm.timeouts.connect": "5s"}
    with (
        pytest.importorskip("dask").config.set(patience),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        cluster.get_client() as client,
    ):
        assert client.scheduler_info()["address"].startswith("tcp://127.0.0.1:")
        yield client


def two_files(folder: Path, gold: list[Any], extracted: list[Any]) -> tuple[Path, Path]:
    for name, records in (("gold", gold), ("extracted", extracted)):
        (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return folder / "gold", folder / "extracted"


def test_a_dask_cluster_on_this_machine(tmp_path):
    gold = [{"id": n, "name": f"first{n} last{n}", "tags": [f"a{n}", f"b{n}"]} for n in range(60)]
    extracted: list[Any] = [
        {**record, "name": record["name"].upper() if n % 3 else "", "tags": record["tags"][::-1]}
        for n, record in enumerate(gold)
    ]
    files = two_files(tmp_path, gold, extracted)
    lists = gold, [*extracted[:7], "no JSON at all", *extracted[8:]]
    options: dict[str, Any] = {"metric": "pairwise_f1", "id": "id", "keep": "all"}
    with dask_cluster() as client:
        for expected, actual in (lists, files):
            here = compare_corpus(actual, expected, **options)
            away = compare_corpus(actual, expected, executor=client.get_executor(), chunk_size=7, **options)
            assert away.to_dict() == here.to_dict()
            assert [record.counts for record in away.records] == [record.counts for record in here.records]


KILLS = """
import os, pathlib, signal
FLAG = pathlib.Path(__file__).with_suffix(".flag")

def once(results):
    if results[0].expected == 400 and not FLAG.exists():
        FLAG.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return results

def always(results):
    if results[0].expected == 400:
        os.kill(os.getpid(), signal.SIGKILL)
    return results
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("from_files", [True, False])
def test_chunks_of_a_killed_process_are_scored_again(tmp_path, monkeypatch, from_files):
    (tmp_path / "kills.py").write_text(KILLS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    gold, extracted = [{"n": n} for n in range(1_000)], [{"n": n % 900} for n in range(1_000)]
    expected, actual = two_files(tmp_path, gold, extracted) if from_files else (gold, extracted)
    module, flag = import_module("kills"), tmp_path / "kills.flag"
    flag.touch()
    here = compare_corpus(actual, expected, post_process=module.once, chunk_size=20)
    flag.unlink()
    options: dict[str, Any] = {"initializer": sys.path.insert, "initargs": (0, str(tmp_path))}
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), **options) as executor:
        away = compare_corpus(actual, expected, post_process=module.once, chunk_size=20, executor=executor)
    assert (flag.exists(), away.to_dict()) == (True, here.to_dict())
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), **options) as executor,
        pytest.raises(JsonMatchError, match="was killed, and so was one of a new pool"),
    ):
        compare_corpus(actual, expected, post_process=module.always, chunk_size=20, executor=executor)
    monkeypatch.delitem(sys.modules, "kills")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_broken_pool_is_replaced_once_when_records_are_read_ahead(tmp_path, monkeypatch):
    (tmp_path / "kills.py").write_text(KILLS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("kills")
    options: dict[str, Any] = {"initializer": sys.path.insert, "initargs": (0, str(tmp_path))}
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), **options) as executor:

        def read():
            for n in range(1_000):
                if n == 430:  # the record that kills is submitted; its result has not been asked for
                    with pytest.raises(BrokenExecutor):
                        while True:
                            executor.submit(int).result()
                yield {"n": n}

        run = compare_corpus(
            read(),
            [{"n": n} for n in range(1_000)],
            post_process=module.once,
            chunk_size=20,
            executor=executor,
        )
    assert (run.total_records, run.mean_score) == (1_000, 1.0)
    monkeypatch.delitem(sys.modules, "kills")


@pytest.mark.full
def test_a_killed_worker_of_dask_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "kills_once.py").write_text(
        "import os, pathlib, signal\n"
        "flag = pathlib.Path(__file__).with_suffix('.flag')\n"
        "def once(results):\n"
        "    if results[0].expected == 400 and not flag.exists():\n"
        "        flag.touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return results\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    gold, extracted = [{"n": n} for n in range(1_000)], [{"n": n % 900} for n in range(1_000)]
    expected, actual = two_files(tmp_path, gold, extracted)
    flag = tmp_path / "kills_once.flag"
    flag.touch()
    options: dict[str, Any] = {"post_process": import_module("kills_once").once, "chunk_size": 20}
    here = compare_corpus(actual, expected, **options)
    flag.unlink()
    with dask_cluster() as client:
        away = compare_corpus(actual, expected, executor=client.get_executor(), **options)
    assert (flag.exists(), away.to_dict()) == (True, here.to_dict())
