"""The arrays inside elements, as numpy arrays. Import this module late: it imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.column import FlatArrays

    Matrix = NDArray[np.float64]
    Indices = NDArray[np.intp]

_CHUNK: Final = 4_000_000
"""At most this many cells are computed at a time where a whole matrix is not needed."""


@final
class Membership:
    """The values of each array of one side, of which at least one has any."""

    __slots__ = ("codes", "sizes", "starts")

    def __init__(self, flat: FlatArrays) -> None:
        self.sizes: Indices = np.array([len(codes) for codes in flat.codes], dtype=np.intp)
        self.starts: Indices = np.concatenate(([0], np.cumsum(self.sizes)))
        self.codes: Indices = np.array([code for codes in flat.codes for code in codes], dtype=np.intp)

    def count_matrix(self, values: int) -> Any:
        """Return how often each value is in each array, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.codes))
        return csr_matrix((ones, self.codes, self.starts), shape=(len(self.sizes), values))

    def count_values(self, values: Indices) -> Matrix:
        """Return how often each of some values is in each array, (arrays, values)."""
        found: Matrix = self.count_matrix(int(self.codes.max()) + 1)[:, values].toarray()
        return found

    def find_best(self, score: Matrix) -> Matrix:
        """Return, for each line of a matrix, the greatest number among the columns of each array.

        Each column is a value: (values, values) becomes (values, arrays).
        """
        best = np.zeros((len(score), len(self.sizes)))
        having = np.flatnonzero(self.sizes)
        step = max(1, _CHUNK // (len(score) * int(self.sizes.max())))
        for start in range(0, len(having), step):
            some = having[start : start + step]
            first, last = self.starts[some[0]], self.starts[some[-1] + 1]
            found = score.take(self.codes[first:last], axis=1)
            best[:, some] = np.maximum.reduceat(found, self.starts[some] - first, axis=1)
        return best
