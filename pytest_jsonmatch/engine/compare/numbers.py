"""Comparators of numbers: `numeric` (within a tolerance), `relative` and `threshold` (partial credit).

Integers are exact at any size and numbers beyond the doubles are never expanded; NaN and infinities score 0;
booleans are no numbers. Values that are no numbers are compared by JSON equality.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_left, bisect_right
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare.base import Comparator, equality_score
from pytest_jsonmatch.engine.compare.equality import equal_pairs
from pytest_jsonmatch.engine.compare.parameters import (
    check_names,
    mapping_parameter,
    number_parameter,
    required,
)
from pytest_jsonmatch.engine.value.text import as_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.compare.base import (
        EdgeFunction,
        Edges,
        FewFunction,
        FloatFunction,
        Matrix,
        PairFunction,
        Params,
        ScalarFunction,
    )
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = [
    "NUMERIC",
    "RELATIVE",
    "THRESHOLD",
    "difference",
    "numeric_tolerance",
    "percent_difference",
    "relative_difference",
]

_ALMOST_ONE: Final = math.nextafter(1.0, 0.0)
_ZERO: Final = 1e-12
_EXACT_INTEGER: Final = 2**53
# Four roundings of half a unit, with room to spare: nearer than this to a limit, doubles can't tell.
_DOUBT: Final = 2.0**-50

# Exact arithmetic, for the rare numbers and the rare doubts


def _wide_context() -> decimal.Context:
    """Sixty digits and every exponent: enough for any ratio of interest, and no number is ever expanded."""
    return decimal.Context(
        prec=60, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[]
    )


def _as_written(number: float | Decimal) -> Decimal:
    """Return a number exactly; a double as the shortest decimal that stands for it, 0.1 as 0.1."""
    return Decimal(repr(number)) if type(number) is float else Decimal(number)


def difference(expected: float | Decimal, actual: float | Decimal) -> Decimal:
    """Return |expected - actual| of two finite numbers as they are written, to sixty digits.

    >>> difference(0.8, 0.7), difference(2**53 + 1, 2**53)
    (Decimal('0.1'), Decimal('1'))
    """
    return _wide_context().subtract(_as_written(expected), _as_written(actual)).copy_abs()


def relative_difference(expected: float | Decimal, actual: float | Decimal) -> Decimal:
    """Return |expected - actual| / |expected| of two finite numbers, expected not 0.

    >>> relative_difference(50, 49)
    Decimal('0.02')
    """
    return _wide_context().divide(difference(expected, actual), _as_written(expected).copy_abs())


def percent_difference(expected: float | Decimal, actual: float | Decimal) -> Decimal:
    """Return 100 × |expected - actual| / |expected| of two finite numbers, expected not 0.

    >>> percent_difference(50, 49)
    Decimal('2')
    """
    return relative_difference(expected, actual).scaleb(2, _wide_context())


def _surely_within(
    expected: float | Decimal, actual: float | Decimal, rel: float | None, absolute: float | None
) -> bool:
    """Decide by decimal arithmetic what doubles can't: 0.8 is within 0.1 of 0.7."""
    delta = difference(expected, actual)
    if absolute is not None and delta > _as_written(absolute):
        return False
    if rel is None:
        return True
    base = _as_written(expected).copy_abs()
    limit = _wide_context().multiply(_as_written(rel), base) if base else _as_written(rel)
    return delta <= limit


def _finite(number: float | Decimal) -> bool:
    return math.isfinite(number) if type(number) is float else True


# numeric


def numeric_tolerance(params: Params) -> tuple[float | None, float | None]:
    """Return (rel, abs) of numeric's parameters, None for what is not given; checks them.

    >>> numeric_tolerance({"tolerance": {"rel": 0.01}})
    (0.01, None)
    """
    owner = "comparator 'numeric'"
    check_names(owner, params, ["tolerance"])
    example = '{"rel": 0.01} or {"abs": 0.5}'
    tolerance = mapping_parameter(owner, "tolerance", params.get("tolerance"), example)
    check_names("the tolerance of comparator 'numeric'", tolerance, ["rel", "abs"])
    rel, absolute = (
        None if tolerance.get(name) is None else number_parameter(owner, name, tolerance[name])
        for name in ("rel", "abs")
    )
    return rel, absolute


def _tolerant(rel: float | None, absolute: float | None) -> Callable[[float, float], float]:
    """Return the function that scores two ints or floats (NaN and infinities too) within the tolerance."""
    cap = math.inf if absolute is None else absolute

    def within(expected: float, actual: float) -> float:
        if expected == actual:
            return 1.0 if expected - expected == 0 else 0.0
        try:
            limit = cap if rel is None else min(cap, rel * (abs(expected) or 1.0))
            delta = abs(expected - actual)
            doubt = (abs(expected) + abs(actual) + limit) * _DOUBT
            if delta > limit + doubt:
                return 0.0
            if delta < limit - doubt:
                return 1.0
        except OverflowError:
            pass  # an integer that no double holds
        if not (_finite(expected) and _finite(actual)):
            return 0.0
        return 1.0 if _surely_within(expected, actual, rel, absolute) else 0.0

    return within


def _bind_numeric(params: Params) -> FloatFunction:
    rel, absolute = numeric_tolerance(params)
    if rel is None and absolute is None:
        absolute = 0.0
    within = _tolerant(rel, absolute)

    def numeric(expected: JsonValue, actual: JsonValue) -> float:
        kind = type(expected)
        if kind is type(actual) and (kind is float or kind is int):
            return within(expected, actual)
        left, right = as_number(expected), as_number(actual)
        if left is None or right is None:
            return equality_score(expected, actual)
        if type(left) is Decimal or type(right) is Decimal:
            return 1.0 if _surely_within(left, right, rel, absolute) else 0.0
        return within(left, right)  # type: ignore[arg-type]

    return numeric


def _pairwise_numeric(params: Params) -> PairFunction:
    rel, absolute = numeric_tolerance(params)
    scalar = _bind_numeric(params)
    exact = not rel and not absolute

    def read(values: Sequence[JsonValue]) -> list[JsonValue]:
        if str not in set(map(type, values)):
            return list(values)
        return [v if type(v) is not str or (number := as_number(v)) is None else number for v in values]

    def block(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> Matrix:
        return _tolerance_block(expected, actual, rel, absolute, scalar)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import equality_matrix, number_matrix

        if exact:
            return equality_matrix(read(expected), read(actual))
        return number_matrix(read(expected), read(actual), block, scalar)

    return pairwise


def _sparse_numeric(params: Params) -> EdgeFunction:
    rel, absolute = numeric_tolerance(params)

    def sparse(expected: Sequence[JsonValue], actual: Sequence[JsonValue], most: int) -> Edges | None:
        from pytest_jsonmatch.engine.compare.tables import equal_edges

        if rel or absolute or str in {type(value) for value in (*expected, *actual)}:
            return None
        return equal_edges(expected, actual, most)

    return sparse


def _few_numeric(params: Params) -> FewFunction:
    rel, absolute = numeric_tolerance(params)

    def few(
        expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> list[tuple[int, int, float]] | None:
        if rel or absolute or str in {*map(type, expected), *map(type, actual)}:
            return None
        return equal_pairs(expected, actual)

    return few


def _tolerance_block(
    expected: NDArray[np.float64],
    actual: NDArray[np.float64],
    rel: float | None,
    absolute: float | None,
    scalar: FloatFunction,
) -> Matrix:
    """The twin of `_tolerant`: the same doubles, and the same decimals where these can't tell."""
    import numpy as np

    from pytest_jsonmatch.engine.compare.tables import row_blocks

    if rel is None and absolute is not None and _integral(expected) and _integral(actual):
        return (np.abs(expected[:, None] - actual) <= absolute).astype(np.float64)
    scores = np.empty((len(expected), len(actual)))
    decided: dict[tuple[float, float], float] = {}
    size, other_size = np.abs(expected), np.abs(actual)
    limit = np.full(len(expected), math.inf if absolute is None else absolute)
    with np.errstate(over="ignore", invalid="ignore"):
        if rel is not None:
            np.minimum(limit, rel * np.where(size == 0.0, 1.0, size), out=limit)
        for rows in row_blocks(*scores.shape):
            bound = limit[rows, None]
            # `gap` is how far beyond the limit a difference is.
            gap = np.abs(expected[rows, None] - actual)
            gap -= bound
            doubt = size[rows, None] + other_size
            doubt += bound
            doubt *= _DOUBT
            scores[rows] = gap < 0.0
            unsure = ~(np.abs(gap) > doubt)
            if unsure.any():
                for i, j in zip(*(found.tolist() for found in np.nonzero(unsure)), strict=True):
                    pair = float(expected[rows.start + i]), float(actual[j])
                    if pair not in decided:
                        decided[pair] = scalar(*pair)
                    scores[rows.start + i, j] = decided[pair]
    return scores


def _integral(numbers: NDArray[np.float64]) -> bool:
    """Tell whether all differences to other such numbers are exact."""
    import numpy as np

    return bool(((np.floor(numbers) == numbers) & (np.abs(numbers) <= _EXACT_INTEGER / 2)).all())


NUMERIC: Final = Comparator(
    "numeric", _bind_numeric, _pairwise_numeric, sparse=_sparse_numeric, few=_few_numeric
)
"""1 within the tolerance, else 0. `tolerance: {rel, abs}`; both given = both must hold; `rel` is relative to
|expected|, to 1 if that is 0. Without one: equal in value. Numeric strings are read as numbers."""


# relative


def _relative(expected: JsonValue, actual: JsonValue) -> float:
    kind, other = type(expected), type(actual)
    if (kind is float or kind is int) and (other is float or other is int):
        if expected == actual:
            return 1.0 if expected - expected == 0 else 0.0
        try:
            size = abs(expected)
            if size <= _ZERO:
                return 1.0 if abs(actual) <= _ZERO else 0.0
            score: float = 1.0 - abs(expected - actual) / size
        except OverflowError:
            return _relative_wide(expected, actual)
        if score >= 1.0:
            return _ALMOST_ONE  # different numbers, however near
        return score if score > 0.0 else 0.0  # noqa: FURB136 - `max` would let NaN through, and is slower
    return _relative_wide(expected, actual)


def _relative_wide(expected: JsonValue, actual: JsonValue) -> float:
    """`relative` for numbers beyond the doubles, and for what is no number."""
    if type(expected) is str or type(actual) is str:
        return equality_score(expected, actual)
    left, right = as_number(expected), as_number(actual)
    if left is None or right is None or left == right:
        return equality_score(expected, actual)
    if abs(_rough(left)) <= _ZERO:
        return 1.0 if abs(_rough(right)) <= _ZERO else 0.0
    ratio = _rough(relative_difference(left, right))
    return min(max(0.0, 1.0 - ratio), _ALMOST_ONE)


def _rough(number: float | Decimal) -> float:
    """Return the nearest double; an infinity beyond the doubles."""
    if type(number) is float:
        return number
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _bind_relative(params: Params) -> ScalarFunction:
    check_names("comparator 'relative'", params)
    return _relative


def _pairwise_relative(params: Params) -> PairFunction:
    check_names("comparator 'relative'", params)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import number_matrix

        return number_matrix(expected, actual, _relative_block, _relative)

    return pairwise


def _relative_block(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> Matrix:
    import numpy as np

    from pytest_jsonmatch.engine.compare.tables import row_blocks

    scores = np.empty((len(expected), len(actual)))
    size = np.abs(expected)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for rows in row_blocks(*scores.shape):
            part, column = scores[rows], expected[rows, None]
            np.subtract(column, actual, out=part)
            np.abs(part, out=part)
            part /= size[rows, None]
            np.subtract(1.0, part, out=part)
            np.clip(part, 0.0, _ALMOST_ONE, out=part)
            part[column == actual] = 1.0
    near_zero = size <= _ZERO
    if near_zero.any():
        scores[near_zero] = np.abs(actual) <= _ZERO
    return scores


RELATIVE: Final = Comparator("relative", _bind_relative, _pairwise_relative)
"""max(0, 1 - |expected - actual| / |expected|); if |expected| <= 1e-12, 1 if |actual| <= 1e-12 else 0
(source 3). Different numbers score less than 1, however near."""


# threshold


def _threshold_params(params: Params) -> tuple[float, float]:
    owner = "comparator 'threshold'"
    check_names(owner, params, ["threshold", "difference_penalty_weighting"])
    given = required(owner, params, "threshold", '{"threshold": 0.5}')
    limit = number_parameter(owner, "threshold", given, above_zero=True)
    name = "difference_penalty_weighting"
    return limit, number_parameter(owner, name, params.get(name, 1))


def _bind_threshold(params: Params) -> FloatFunction:
    limit, weighting = _threshold_params(params)
    if weighting == 0:
        return _bind_step(limit)
    power = 1.0 / weighting

    def threshold(expected: JsonValue, actual: JsonValue) -> float:
        kind, other = type(expected), type(actual)
        if (kind is float or kind is int) and (other is float or other is int):
            if expected == actual:
                return 1.0 if expected - expected == 0 else 0.0
            if kind is other or -_EXACT_INTEGER <= (expected if kind is int else actual) <= _EXACT_INTEGER:
                delta: float = abs(expected - actual)
                # Written so that NaN falls through to 0.
                score: float = 1.0 - (delta / limit) ** power if delta <= limit else 0.0
                return score
        return wide(expected, actual)

    def wide(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) is str or type(actual) is str:
            return equality_score(expected, actual)
        left, right = as_number(expected), as_number(actual)
        if left is None or right is None:
            return equality_score(expected, actual)
        delta = difference(left, right)
        if delta > _as_written(limit):
            return 0.0
        score: float = 1.0 - min(1.0, float(delta) / limit) ** power
        return score

    return threshold


def _bind_step(limit: float) -> FloatFunction:
    """No penalty: 1 up to the threshold, then 0, which is what `numeric` does with numbers."""
    within = _tolerant(None, limit)

    def threshold(expected: JsonValue, actual: JsonValue) -> float:
        kind, other = type(expected), type(actual)
        if (kind is float or kind is int) and (other is float or other is int):
            return within(expected, actual)
        if Decimal in {kind, other} and {kind, other} <= {int, float, Decimal}:
            left, right = as_number(expected), as_number(actual)
            if left is None or right is None:
                return 0.0
            return 1.0 if _surely_within(left, right, None, limit) else 0.0
        return equality_score(expected, actual)

    return threshold


def _pairwise_threshold(params: Params) -> PairFunction:
    limit, weighting = _threshold_params(params)
    scalar = _bind_threshold(params)

    def block(expected: NDArray[np.float64], actual: NDArray[np.float64]) -> Matrix:
        if weighting == 0:
            return _tolerance_block(expected, actual, None, limit, scalar)
        return _threshold_block(expected, actual, limit, 1.0 / weighting)

    def pairwise(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.compare.tables import number_matrix

        return number_matrix(expected, actual, block, scalar)

    return pairwise


def _sparse_threshold(params: Params) -> EdgeFunction:
    limit, weighting = _threshold_params(params)

    def sparse(expected: Sequence[JsonValue], actual: Sequence[JsonValue], most: int) -> Edges | None:
        from pytest_jsonmatch.engine.compare.tables import near_edges

        if weighting == 0 or str in {type(value) for value in (*expected, *actual)}:
            return None
        found = near_edges(expected, actual, limit, most)
        if found is None:
            return None
        rows, columns, apart = found
        return rows, columns, 1.0 - (apart / limit) ** (1.0 / weighting)

    return sparse


def _few_threshold(params: Params) -> FewFunction:
    limit, _ = _threshold_params(params)
    threshold = _bind_threshold(params)

    def few(
        expected: Sequence[JsonValue], actual: Sequence[JsonValue]
    ) -> list[tuple[int, int, float]] | None:
        numbers: list[Any] = [*expected, *actual]
        if not {*map(type, numbers)} <= _MACHINE_NUMBERS or not all(-_FAR < one < _FAR for one in numbers):
            return None
        ranked = sorted(zip(actual, range(len(actual))))
        values = [value for value, _ in ranked]
        # A little more than the limit is looked at, so that no rounding can hide a pair.
        reach = limit + 1e-9 * (limit + max(map(abs, numbers)))
        found = []
        for at, one in enumerate(expected):
            for value, to in ranked[bisect_left(values, one - reach) : bisect_right(values, one + reach)]:
                if score := threshold(one, value):
                    found.append((at, to, score))
        return found

    return few


_MACHINE_NUMBERS: Final = frozenset({int, float})
_FAR: Final = 2.0**53


def _threshold_block(
    expected: NDArray[np.float64], actual: NDArray[np.float64], limit: float, power: float
) -> Matrix:
    import numpy as np

    from pytest_jsonmatch.engine.compare.tables import row_blocks

    scores = np.zeros((len(expected), len(actual)))
    with np.errstate(over="ignore", under="ignore"):
        for rows in row_blocks(*scores.shape):
            delta = expected[rows, None] - actual
            np.abs(delta, out=delta)
            # Raising to a power is dear, and most pairs of a real column lie far apart.
            near = np.nonzero(delta <= limit)
            scores[rows][near] = 1.0 - (delta[near] / limit) ** power
    return scores


THRESHOLD: Final = Comparator(
    "threshold", _bind_threshold, _pairwise_threshold, sparse=_sparse_threshold, few=_few_threshold
)
"""With d = |expected - actual|, t = `threshold` > 0 and w = `difference_penalty_weighting` >= 0 (default 1):
d > t gives 0; w = 0 gives 1; else 1 - (d / t) ** (1 / w) (source 4's program)."""
