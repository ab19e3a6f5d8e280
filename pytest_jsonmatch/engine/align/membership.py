"""Arrays nested in elements, as numpy arrays. Import this module late, since it imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.align.column import FlatArrays

    Matrix = NDArray[np.float64]
    Indices = NDArray[np.intp]

_CHUNK: Final = 4_000_000
"""The maximum number of cells to compute at a time if the complete matrix is not needed."""


@final
class Membership:
    """The values of each array of one side; at least one array must have values."""

    __slots__ = ("codes", "sizes", "starts")

    def __init__(self, flat: FlatArrays) -> None:
        self.sizes: Indices = np.array([len(codes) for codes in flat.codes], dtype=np.intp)
        self.starts: Indices = np.concatenate(([0], np.cumsum(self.sizes)))
        self.codes: Indices = np.array([code for codes in flat.codes for code in codes], dtype=np.intp)

    def count_matrix(self, values: int) -> Any:
        """Return the number of occurrences of each value in each array, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.codes))
        return csr_matrix((ones, self.codes, self.starts), shape=(len(self.sizes), values))

    def count_values(self, values: Indices) -> Matrix:
        """Return the (arrays, values) numbers of occurrences of some values in each array."""
        counts: Matrix = self.count_matrix(int(self.codes.max()) + 1)[:, values].toarray()
        return counts

    def find_best(self, score: Matrix) -> Matrix:
        """Return, for each row of a matrix, the greatest number in the columns of each array.

        Each column is a value, so that (values, values) becomes (values, arrays).
        """
        best = np.zeros((len(score), len(self.sizes)))
        nonempty = np.flatnonzero(self.sizes)
        step = max(1, _CHUNK // (len(score) * int(self.sizes.max())))
        for start in range(0, len(nonempty), step):
            part = nonempty[start : start + step]
            first, last = self.starts[part[0]], self.starts[part[-1] + 1]
            selected = score.take(self.codes[first:last], axis=1)
            best[:, part] = np.maximum.reduceat(selected, self.starts[part] - first, axis=1)
        return best
