"""Vectors of strings: each string encoded once, kept in memory up to a bound, compared without rounding.

A vector is kept at length 1 in fixed point: every component is a whole number of steps of 2**-26. Products
of such vectors are whole numbers below 2**53, so that doubles add them up exactly, in any order: a score is
the same to the last bit, whether it comes from two vectors or from a matrix product of thousands.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonMatchWarning,
    error_text,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.plan.registry import Encoder

_Vector: TypeAlias = "NDArray[np.int32] | str"
"""The vector of a string, or why it has none."""

_STEPS: Final = 2**26
ONE: Final = float(_STEPS * _STEPS)
"""The product of a vector with itself, apart from the rounding of its components."""
_MOST_BYTES: Final = 256 * 2**20
"""Above this size, only the vectors that the current chunk of records needs stay in memory."""


@final
class EncoderError(JsonMatchError):
    """An encoder has made no vector for a string; the message says why."""


class EncoderWarning(JsonMatchWarning):
    """An encoder has made no vectors for some strings; the message says why.

    Errors in results name fields; in unordered arrays such strings just stay unpaired.
    """


@final
class Vectors:
    """The vectors that one encoder makes.

    Args:
        name: the name of the encoder in errors.
        load: returns the encoder; called when the first string is to be encoded. If it raises a
            ConfigurationError, this is raised for every string.
        revision: returns the encoder's revision, which the cache on disk needs; None if the encoder has none.
            Called only if there is a cache folder.

    >>> class Letters:
    ...     def encode(self, texts):
    ...         return [[text.count("a"), text.count("b")] for text in texts]
    >>> vectors = Vectors("letters", Letters)
    >>> vectors.learn(["a", "ab", "abb"])
    >>> vectors.product("a", "aa") == vectors.product("b", "bb") == ONE
    True
    """

    lock = threading.RLock()
    """One for all encoders: each uses all cores by itself."""

    def __init__(
        self, name: str, load: Callable[[], Encoder], revision: Callable[[], str | None] = lambda: None
    ) -> None:
        self.name = name
        self._load = load
        self._revision = revision
        self._known: dict[str, _Vector] = {}
        self._encoder: Encoder | None = None
        self._broken: ConfigurationError | None = None
        self._dimensions = 0

    def learn(self, texts: Sequence[str]) -> None:
        """Make sure that strings have vectors; new ones are encoded in one call.

        If the encoder fails, nothing is raised here, but later when the vector of such a string is needed.

        Raises:
            ConfigurationError: there is no encoder.
        """
        with self.lock:
            for text in texts:
                if isinstance(self._known.get(text), str):
                    del self._known[text]
            self._learn(texts)

    def _learn(self, texts: Sequence[str]) -> None:
        """Make sure that the vectors of strings are known, or why there are none."""
        if fresh := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._find(fresh)
        if len(self._known) * (4 * self._dimensions + _OVERHEAD) > _MOST_BYTES:
            wanted = set(texts)
            self._known = {text: vector for text, vector in self._known.items() if text in wanted}

    def product(self, left: str, right: str) -> float:
        """Return the scalar product of two strings' vectors, scaled so that `ONE` stands for 1.

        Raises:
            EncoderError: one of them has no vector.
            ConfigurationError: there is no encoder.
        """
        vectors = self._vectors([left, right])
        for vector in vectors:
            if isinstance(vector, str):
                raise EncoderError(vector)
        one, other = self._stacked(vectors)
        return float(one @ other)

    def products(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return the (n, m) scalar products of the vectors of n and m strings: 0 for those that have none.

        Raises:
            ConfigurationError: there is no encoder.
        """
        stacked = self._stacked(self._vectors([*left, *right]))
        products: NDArray[np.float64] = stacked[: len(left)] @ stacked[len(left) :].T
        return products

    def _vectors(self, texts: list[str]) -> list[_Vector]:
        """Return the vectors of strings, or why they have none; unknown ones are encoded in one call."""
        try:
            return [self._known[text] for text in texts]
        except KeyError:
            with self.lock:  # so that no other thread drops what is learnt
                self._learn(texts)
                return [self._known[text] for text in texts]

    def _stacked(self, vectors: Sequence[_Vector]) -> NDArray[np.float64]:
        """Return vectors as the rows of an array of doubles; rows of zeros for missing ones."""
        import numpy as np

        stacked = np.zeros((len(vectors), max(1, self._dimensions)))
        for row, vector in enumerate(vectors):
            if not isinstance(vector, str):
                stacked[row] = vector
        return stacked

    def _find(self, texts: list[str]) -> None:
        """Take the vectors of new strings from the cache on disk, and have the others encoded."""
        from pytest_jsonmatch.semantic.vectorcache import VectorCache, cache_folder

        folder = cache_folder()
        # Some encoders know their revision only once they are loaded.
        revision = None if folder is None else self._revision()
        if folder is not None and revision is None:
            self._loaded()
            revision = self._revision()
        cache = None if folder is None or revision is None else VectorCache(folder, self.name, revision)
        if cache is not None:
            self._keep(cache.read(texts))
            texts = [text for text in texts if isinstance(self._known.get(text, ""), str)]
        if texts:
            made = self._encoded(texts)
            self._keep(made)
            if cache is not None:
                cache.write({text: vector for text, vector in made.items() if not isinstance(vector, str)})
            self._warn(texts)

    def _warn(self, texts: list[str]) -> None:
        """Warn about strings that have just failed."""
        failed = [why for why in map(self._known.get, texts) if isinstance(why, str)]
        if failed:
            many = "1 string has" if len(failed) == 1 else f"{len(failed):,} strings have"
            message = f"{failed[0]}; {many} no vector, and only equal strings match"
            warnings.warn(message, EncoderWarning, stacklevel=2)

    def _keep(self, vectors: Mapping[str, _Vector]) -> None:
        for text, vector in vectors.items():
            length = self._dimensions if isinstance(vector, str) else len(vector)
            self._dimensions = wanted = self._dimensions or length
            why = f"the encoder {self.name!r} returned rows of {length:,} numbers, after rows of {wanted:,}"
            self._known[text] = vector if length == wanted else why

    def _loaded(self) -> Encoder:
        if self._broken is not None:
            raise self._broken
        if self._encoder is None:
            try:
                self._encoder = self._load()
            except ConfigurationError as error:
                self._broken = error
                raise
        return self._encoder

    def _encoded(self, texts: list[str]) -> dict[str, _Vector]:
        """Return the vectors of strings that are not known yet."""
        encoder = self._loaded()
        try:
            returned = encoder.encode(list(map(_encodable, texts)))
        except Exception as error:  # noqa: BLE001 - a user's encoder: its failure is a result
            why = f"raised {error_text(error)}"
        else:
            rows = _as_rows(returned, len(texts))
            if not isinstance(rows, str):
                return self._fixed(texts, rows)
            why = f"returned {rows}; it must return one row of numbers for each of the {len(texts):,} strings"
        return dict.fromkeys(texts, f"the encoder {self.name!r} {why}")

    def _fixed(self, texts: list[str], rows: NDArray[Any]) -> dict[str, _Vector]:
        """Return rows at length 1, in steps of 2**-26; rows of zeros stay zero."""
        import numpy as np

        made: dict[str, _Vector] = {}
        why = f"the encoder {self.name!r} returned NaN or an infinity for this string"
        for start in range(0, len(texts), _ROWS):
            block = rows[start : start + _ROWS].astype(np.float64)
            finite = np.asarray(np.isfinite(block).all(axis=1))
            block[~finite] = 0.0
            # First by the largest component, so that squares neither overflow nor underflow.
            _divide(block, np.abs(block).max(axis=1))
            _divide(block, np.sqrt((block * block).sum(axis=1)))
            block *= _STEPS
            steps = np.rint(block, out=block).astype(np.int32)
            for text, vector, good in zip(texts[start:], steps, finite):
                # A view of its row would keep the whole block in memory.
                made[text] = vector.copy() if good else why
        return made


_ROWS: Final = 512
"""Rows that are processed at a time, so that intermediate values stay in the CPU's cache."""
_OVERHEAD: Final = 300
"""Bytes that a string, its array and their dict entry take besides the numbers, roughly."""


def _renew_lock() -> None:
    Vectors.lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # in a forked process no thread is left to release the lock
    os.register_at_fork(after_in_child=_renew_lock)


def _divide(rows: NDArray[np.float64], by: NDArray[np.float64]) -> None:
    """Divide each row by a number, where that is not 0."""
    by[by == 0.0] = 1.0
    rows /= by[:, None]


def _as_rows(returned: Any, count: int) -> NDArray[Any] | str:
    """Return what an encoder returned as `count` rows of numbers, or a text that describes it otherwise."""
    import numpy as np

    try:
        rows = np.asarray(returned)
    except ValueError:
        return "rows of different lengths"
    if rows.dtype.kind not in "biuf":
        return f"a {type(returned).__name__} that is not an array of numbers"
    if rows.ndim != 2 or rows.shape[0] != count or rows.shape[1] < 1:
        return f"an array of shape {rows.shape}"
    return rows


def _encodable(text: str) -> str:
    r"""Return a text that tokenizers accept: lone surrogates, which JSON allows, are replaced.

    >>> _encodable("a\ud800b") == "a\ufffdb"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
