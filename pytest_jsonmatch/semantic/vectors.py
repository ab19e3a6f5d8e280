"""Vectors of strings: each string is encoded once in a run, and compared without rounding.

A vector is kept at length 1 in fixed point: every component is a whole number of steps of 2**-26. Products
of such vectors are whole numbers below 2**53, so that doubles add them up exactly, in any order: a score is
the same to the last bit, whether it comes from two vectors or from a matrix product of thousands.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonMatchWarning,
    format_error,
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


@final
class EncoderError(JsonMatchError, ValueError):
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

    >>> class Letters:
    ...     def encode(self, texts):
    ...         return [[text.count("a"), text.count("b")] for text in texts]
    >>> vectors = Vectors("letters", Letters)
    >>> vectors.learn(["a", "ab", "abb"])
    >>> vectors.product("a", "aa") == vectors.product("b", "bb") == ONE
    True
    """

    lock: Any = threading.RLock()
    """One for all encoders: each uses all cores by itself."""

    def __init__(self, name: str, load: Callable[[], Encoder]) -> None:
        self.name = name
        self._load = load
        self._known: dict[str, _Vector] = {}
        self._encoder: Encoder | None = None
        self._broken: ConfigurationError | None = None
        self._dimensions = 0

    def learn(self, texts: Sequence[str]) -> None:
        """Make sure that strings have vectors; those that are new or failed are encoded in one call.

        If the encoder fails, nothing is raised here, but later when the vector of such a string is needed.

        Raises:
            ConfigurationError: there is no encoder.
        """
        with self.lock:
            self._encode(
                [text for text in dict.fromkeys(texts) if isinstance(self._known.get(text, ""), str)]
            )

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
        rows = self._stacked(vectors)
        return float(rows[0] @ rows[1])

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
        with self.lock:
            self._encode([text for text in dict.fromkeys(texts) if text not in self._known])
            return [self._known[text] for text in texts]

    def _stacked(self, vectors: Sequence[_Vector]) -> NDArray[np.float64]:
        """Return vectors as the rows of an array of doubles; rows of zeros for missing ones."""
        import numpy as np

        stacked = np.zeros((len(vectors), max(1, self._dimensions)))
        for row, vector in enumerate(vectors):
            if not isinstance(vector, str):
                stacked[row] = vector
        return stacked

    def _encode(self, texts: list[str]) -> None:
        """Have strings encoded, and keep their vectors, or why they have none."""
        if not texts:
            return
        encoder = self._loaded()
        try:
            rows = self._rows(encoder.encode(list(map(_encodable, texts))), len(texts))
        except EncoderError as error:
            made: Sequence[_Vector] = [f"the encoder {self.name!r} {error}"] * len(texts)
        except Exception as error:  # noqa: BLE001 - a user's encoder: its failure is a result
            made = [f"the encoder {self.name!r} raised {format_error(error)}"] * len(texts)
        else:
            nothing = f"the encoder {self.name!r} returned NaN or an infinity for this string"
            made = [nothing if row is None else row for row in _fixed(rows)]
        self._known.update(zip(texts, made))
        if failed := [why for why in made if isinstance(why, str)]:
            many = "1 string has" if len(failed) == 1 else f"{len(failed):,} strings have"
            message = f"{failed[0]}; {many} no vector, and only equal strings match"
            warnings.warn(message, EncoderWarning, stacklevel=2)

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

    def _rows(self, returned: Any, number: int) -> NDArray[Any]:
        """Return what an encoder returned as rows of numbers; raise EncoderError if it is something else."""
        import numpy as np

        wanted = f"it must return one row of numbers for each of the {number:,} strings"
        try:
            rows = np.array(returned, dtype=np.float64)  # a copy
        except (TypeError, ValueError):
            kind = type(returned).__name__
            raise EncoderError(f"returned a {kind} that is not an array of numbers; {wanted}") from None
        if rows.ndim != 2 or rows.shape[0] != number or rows.shape[1] < 1:
            raise EncoderError(f"returned an array of shape {rows.shape}; {wanted}")
        self._dimensions = before = self._dimensions or rows.shape[1]
        if rows.shape[1] != before:
            raise EncoderError(f"returned rows of {rows.shape[1]:,} numbers, after rows of {before:,}")
        return rows


def _fixed(rows: NDArray[Any]) -> list[NDArray[np.int32] | None]:
    """Return rows at length 1, in steps of 2**-26; None for those with NaN. Rows of zeros stay zero."""
    import numpy as np

    finite = np.isfinite(rows).all(axis=1)
    rows[~finite] = 0.0
    # First by the largest component, so that squares neither overflow nor underflow.
    _divide(rows, np.abs(rows).max(axis=1))
    _divide(rows, np.sqrt((rows * rows).sum(axis=1)))
    rows *= _STEPS
    steps = np.rint(rows, out=rows).astype(np.int32)
    return [row if good else None for row, good in zip(steps, finite)]


def _divide(rows: NDArray[Any], by: NDArray[Any]) -> None:
    """Divide each row by a number, where that is not 0."""
    by[by == 0.0] = 1.0
    rows /= by[:, None]


def _renew_lock() -> None:
    Vectors.lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # in a forked process no thread is left to release the lock
    os.register_at_fork(after_in_child=_renew_lock)


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
