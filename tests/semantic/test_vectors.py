"""Vectors in memory: each made once, also with several threads and after a fork."""

from __future__ import annotations

import multiprocessing
import os
import threading

import numpy as np
import pytest

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.semantic.vectors import Vectors


class Rows:
    """Makes a row of `length` numbers out of a text's characters, and keeps the texts of every call."""

    def __init__(self, length: int = 4) -> None:
        self.length = length
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(list(texts))
        rows = np.zeros((len(texts), self.length), dtype=np.float32)
        for row, text in enumerate(texts):
            for at, character in enumerate(text):
                rows[row, at % self.length] += ord(character)
        return rows


def test_the_encoder_is_loaded_when_it_is_needed():
    loads = []

    def load():
        loads.append(1)
        return Rows()

    vectors = Vectors("rows", load)
    vectors.prepare([])
    assert loads == []
    vectors.prepare(["a", "b"])
    vectors.prepare(["c"])
    assert loads == [1]


def test_an_encoder_that_cannot_be_loaded_is_asked_for_once():
    loads = []

    def load():
        loads.append(1)
        raise ConfigurationError("no such model")

    vectors = Vectors("rows", load)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="no such model"):
            vectors.prepare(["a"])
    assert loads == [1]


def test_repeated_texts_are_encoded_once_and_in_their_order():
    encoder = Rows()
    vectors = Vectors("rows", lambda: encoder)
    vectors.prepare(["b", "a", "b"])
    vectors.prepare(["a", "c"])
    vectors.product("b", "c")
    vectors.products(["a", "b"], ["c"])
    assert encoder.calls == [["b", "a"], ["c"]]


def test_threads_wait_for_what_another_encodes():
    start, go_on = threading.Barrier(5), threading.Event()

    class Held(Rows):
        def encode(self, texts):
            answer = super().encode(texts)
            go_on.wait(10)
            return answer

    encoder = Held()
    vectors = Vectors("rows", lambda: encoder)

    def prepare():
        start.wait()
        vectors.prepare(["a", "b", "c"])

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    start.wait()
    go_on.set()
    for thread in threads:
        thread.join()
    assert encoder.calls == [["a", "b", "c"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_another_thread_encodes_does_not_hang():
    begun, go_on = threading.Event(), threading.Event()

    class Held(Rows):
        def encode(self, texts):
            if texts == ["held"]:
                begun.set()
                go_on.wait(10)
            return super().encode(texts)

    encoder = Held()
    vectors = Vectors("rows", lambda: encoder)
    thread = threading.Thread(target=vectors.prepare, args=(["held"],))
    thread.start()
    begun.wait(10)
    child = multiprocessing.get_context("fork").Process(target=vectors.prepare, args=(["a"],))
    child.start()
    child.join(10)
    go_on.set()
    thread.join()
    assert child.exitcode == 0
