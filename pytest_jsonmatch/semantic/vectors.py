"""Vectors of strings: each string is encoded once in a run, and products have no rounding errors.

A vector has length 1 and is stored in fixed point: every component is a whole number of steps of 2**-26.
Scalar products of such vectors are whole numbers below 2**53, which doubles add exactly and in any order: a
score is the same to the last bit, whether it comes from two vectors or from a matrix product of thousands.
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
"""The vector of a string, or the reason why it has none."""

_STEPS: Final = 2**26
ONE: Final = float(_STEPS * _STEPS)
"""The scalar product of a vector with itself, apart from the rounding of its components."""


@final
class EncoderError(JsonMatchError, ValueError):
    """An encoder has returned no vector for a string; the message says why."""


class EncoderWarning(JsonMatchWarning):
    """An encoder has returned no vectors for some strings; the message says why.

    Results have an error for each field with such a string; in unordered arrays such strings stay unpaired.
    """


@final
class Vectors:
    """The vectors of strings from one encoder.

    Args:
        name: the name of the encoder in errors.
        load: returns the encoder; called before the first string is encoded. If it raises a
            ConfigurationError, the same error is raised for every string.

    >>> class Letters:
    ...     def encode(self, texts):
    ...         return [[text.count("a"), text.count("b")] for text in texts]
    >>> vectors = Vectors("letters", Letters)
    >>> vectors.prepare(["a", "ab", "abb"])
    >>> vectors.product("a", "aa") == vectors.product("b", "bb") == ONE
    True
    """

    lock: Any = threading.RLock()
    """One lock for all encoders, since each encoder uses all cores."""

    def __init__(self, name: str, load: Callable[[], Encoder]) -> None:
        self.name = name
        self._load = load
        self._known: dict[str, _Vector] = {}
        self._encoder: Encoder | None = None
        self._broken: ConfigurationError | None = None
        self._dimensions = 0

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode strings in one call: those that are new and those that failed before.

        If the encoder fails, the error is raised when a vector of these strings is needed.

        Raises:
            ConfigurationError: there is no encoder.
        """
        with self.lock:
            self._encode(
                [text for text in dict.fromkeys(texts) if isinstance(self._known.get(text, ""), str)]
            )

    def product(self, left: str, right: str) -> float:
        """Return the scalar product of two strings' vectors, multiplied by `ONE`.

        Raises:
            EncoderError: one of the strings has no vector.
            ConfigurationError: there is no encoder.
        """
        vectors = self._get_vectors([left, right])
        for vector in vectors:
            if isinstance(vector, str):
                raise EncoderError(vector)
        rows = self._stack(vectors)
        return float(rows[0] @ rows[1])

    def products(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return the (n, m) scalar products of the vectors of n and m strings; 0 where a string has none.

        Raises:
            ConfigurationError: there is no encoder.
        """
        stacked = self._stack(self._get_vectors([*left, *right]))
        products: NDArray[np.float64] = stacked[: len(left)] @ stacked[len(left) :].T
        return products

    def _get_vectors(self, texts: list[str]) -> list[_Vector]:
        """Return the vectors of strings, or the reasons for missing ones; encode new strings in one call."""
        with self.lock:
            self._encode([text for text in dict.fromkeys(texts) if text not in self._known])
            return [self._known[text] for text in texts]

    def _stack(self, vectors: Sequence[_Vector]) -> NDArray[np.float64]:
        """Return vectors as the rows of an array of doubles, with rows of zeros for missing vectors."""
        import numpy as np

        rows = np.zeros((len(vectors), max(1, self._dimensions)))
        for number, vector in enumerate(vectors):
            if not isinstance(vector, str):
                rows[number] = vector
        return rows

    def _encode(self, texts: list[str]) -> None:
        """Encode strings, and keep their vectors or the reasons why they have none."""
        if not texts:
            return
        encoder = self._get_encoder()
        try:
            rows = self._to_rows(encoder.encode(list(map(_replace_surrogates, texts))), len(texts))
        except EncoderError as error:
            vectors: Sequence[_Vector] = [f"the encoder {self.name!r} {error}"] * len(texts)
        except Exception as error:  # noqa: BLE001 - a user's encoder: its failure is a result
            vectors = [f"the encoder {self.name!r} raised {format_error(error)}"] * len(texts)
        else:
            not_finite = f"the encoder {self.name!r} returned NaN or an infinity for this string"
            vectors = [not_finite if row is None else row for row in _to_fixed_point(rows)]
        self._known.update(zip(texts, vectors))
        if reasons := [reason for reason in vectors if isinstance(reason, str)]:
            subject = "1 string has" if len(reasons) == 1 else f"{len(reasons):,} strings have"
            message = f"{reasons[0]}; {subject} no vector, and only equal strings match"
            warnings.warn(message, EncoderWarning, stacklevel=2)

    def _get_encoder(self) -> Encoder:
        if self._broken is not None:
            raise self._broken
        if self._encoder is None:
            try:
                self._encoder = self._load()
            except ConfigurationError as error:
                self._broken = error
                raise
        return self._encoder

    def _to_rows(self, returned: Any, number: int) -> NDArray[Any]:
        """Return an encoder's return value as rows of numbers; raise EncoderError if it is invalid."""
        import numpy as np

        requirement = f"it must return one row of numbers for each of the {number:,} strings"
        try:
            rows = np.array(returned, dtype=np.float64)  # a copy
        except (TypeError, ValueError):
            kind = type(returned).__name__
            raise EncoderError(f"returned a {kind} that is not an array of numbers; {requirement}") from None
        if rows.ndim != 2 or rows.shape[0] != number or rows.shape[1] < 1:
            raise EncoderError(f"returned an array of shape {rows.shape}; {requirement}")
        self._dimensions = dimensions = self._dimensions or rows.shape[1]
        if rows.shape[1] != dimensions:
            raise EncoderError(f"returned rows of {rows.shape[1]:,} numbers, after rows of {dimensions:,}")
        return rows


def _to_fixed_point(rows: NDArray[Any]) -> list[NDArray[np.int32] | None]:
    """Return rows scaled to length 1, in steps of 2**-26; None for rows with NaN. Rows of zeros stay zero."""
    import numpy as np

    finite = np.isfinite(rows).all(axis=1)
    rows[~finite] = 0.0
    # Divide by the largest component first, so that squares neither overflow nor underflow.
    _divide_rows(rows, np.abs(rows).max(axis=1))
    _divide_rows(rows, np.sqrt((rows * rows).sum(axis=1)))
    rows *= _STEPS
    steps = np.rint(rows, out=rows).astype(np.int32)
    return [row if is_finite else None for row, is_finite in zip(steps, finite)]


def _divide_rows(rows: NDArray[Any], divisors: NDArray[Any]) -> None:
    """Divide each row by its divisor, except where that is 0."""
    divisors[divisors == 0.0] = 1.0
    rows /= divisors[:, None]


def _renew_lock() -> None:
    Vectors.lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a forked process has no thread that would release the lock
    os.register_at_fork(after_in_child=_renew_lock)


def _replace_surrogates(text: str) -> str:
    r"""Replace lone surrogates, which JSON allows but tokenizers do not accept.

    >>> _replace_surrogates("a\ud800b") == "a\ufffdb"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
