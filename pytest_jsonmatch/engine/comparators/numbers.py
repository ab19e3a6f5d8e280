"""Comparators of numbers: `numeric` (within a tolerance), `relative` and `threshold` (partial scores).

Integers are exact at any size, numbers too large for doubles are never expanded, NaN and infinities score 0,
and booleans are not numbers. Values that are not numbers are compared by JSON equality.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import make_equality, score_equality
from pytest_jsonmatch.engine.comparators.parameters import check_names, get_required, read_number
from pytest_jsonmatch.engine.value.equality import make_json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import to_number

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.comparators.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Doubles: TypeAlias = NDArray[np.float64]

# `Any` to type checkers: operations that two of these do not support raise errors, which are caught.
Number: TypeAlias = "JsonValue"

_PERCENT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_ALMOST_ONE: Final = math.nextafter(1.0, 0.0)
_ZERO: Final = 1e-12
_EXACT_INTEGER: Final = 2**53
_MACHINE: Final = frozenset({int, float})
# More than four roundings of half a unit: nearer than this to a limit, doubles can't decide.
_ROUNDING_SHARE: Final = 2.0**-50


# Exact arithmetic, for rare numbers and close decisions

# Sixty digits and every exponent are enough for any relevant ratio, and no number is ever expanded.
_WIDE: Final = decimal.Context(
    prec=60, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[]
)


def _read_as_written(number: Number) -> Decimal:
    """Return a number as a decimal, exactly; a double as the shortest decimal that denotes it: 0.1 as 0.1."""
    return Decimal(repr(number)) if type(number) is float else Decimal(number)


def compute_difference(expected: Number, actual: Number) -> Decimal:
    """Return |expected - actual| of two finite numbers in their decimal notation, to sixty digits.

    >>> compute_difference(0.8, 0.7), compute_difference(2**53 + 1, 2**53)
    (Decimal('0.1'), Decimal('1'))
    """
    return _WIDE.subtract(_read_as_written(expected), _read_as_written(actual)).copy_abs()


def compute_percent_difference(expected: Number, actual: Number) -> Decimal:
    """Return 100 × |expected - actual| / |expected| of two finite numbers, expected not 0.

    >>> compute_percent_difference(50, 49)
    Decimal('2')
    """
    return _divide(expected, actual).scaleb(2, _WIDE)


def _divide(expected: Number, actual: Number) -> Decimal:
    return _WIDE.divide(compute_difference(expected, actual), _read_as_written(expected).copy_abs())


# Shared by the three comparators


def _make_number_scoring(
    score_pair: Callable[[Number, Number], float],
    score_block: Callable[[Doubles, Doubles], Matrix],
    read: Callable[[JsonValue], Number | None] = lambda value: (
        None if type(value) is str else to_number(value)
    ),
) -> Scoring:
    """Return a scoring of numbers by `score_pair`, of tables of doubles by `score_block`, else by equality.

    `read` returns the finite number that a value denotes, or None; by default not for numeric strings.
    """

    def score(expected: JsonValue, actual: JsonValue) -> float:
        if type(expected) in _MACHINE and type(actual) in _MACHINE and expected - expected == actual - actual:
            return score_pair(expected, actual)  # both finite
        left, right = read(expected), read(actual)
        return score_equality(expected, actual) if left is None or right is None else score_pair(left, right)

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        from pytest_jsonmatch.engine.comparators.scoretables import make_number_table

        return make_number_table(_read_all(expected), _read_all(actual), score_block, score)

    def _read_all(values: Sequence[JsonValue]) -> Sequence[JsonValue]:
        if str not in set(map(type, values)):
            return values
        return [value if (number := read(value)) is None else number for value in values]

    return Scoring(score, table)


def _make_within(rel: float | None, absolute: float | None) -> Callable[[Number, Number], float]:
    """Return a function that scores two finite numbers by doubles, or by decimals if doubles can't decide."""
    cap = math.inf if absolute is None else absolute

    def within(expected: Number, actual: Number) -> float:
        if expected == actual:
            return 1.0
        try:
            limit = cap if rel is None else min(cap, rel * (abs(expected) or 1.0))
            delta = abs(expected - actual)
            rounding = (abs(expected) + abs(actual) + limit) * _ROUNDING_SHARE
            if delta > limit + rounding:
                return 0.0
            if delta < limit - rounding:
                return 1.0
        except (ArithmeticError, TypeError):
            pass  # an integer too large for a double, or a Decimal
        return _score_exactly(expected, actual, rel, absolute)

    return within


def _score_exactly(expected: Number, actual: Number, rel: float | None, absolute: float | None) -> float:
    """Score by decimal arithmetic what doubles can't decide: 0.8 is within 0.1 of 0.7."""
    delta, base = compute_difference(expected, actual), _read_as_written(expected).copy_abs() or Decimal(1)
    if absolute is not None and delta > _read_as_written(absolute):
        return 0.0
    return 1.0 if rel is None or delta <= _WIDE.multiply(_read_as_written(rel), base) else 0.0


def _make_within_block(rel: float | None, absolute: float | None) -> Callable[[Doubles, Doubles], Matrix]:
    """Return a function that does the same as `_make_within` for a column and a row of doubles."""
    within = _make_within(rel, absolute)

    def block(expected: Doubles, actual: Doubles) -> Matrix:
        import numpy as np

        size, other_size = np.abs(expected), np.abs(actual)
        limit = np.full(expected.shape, math.inf if absolute is None else absolute)
        if rel is not None:
            np.minimum(limit, rel * np.where(size == 0.0, 1.0, size), out=limit)
        # The difference minus the limit, positive beyond the limit.
        gap = np.abs(expected - actual)
        gap -= limit
        scores = (gap <= 0.0).astype(np.float64)
        max_rounding = (size + limit + other_size.max()) * _ROUNDING_SHARE
        for row, column in np.argwhere(~(np.abs(gap, out=gap) > max_rounding)).tolist():
            scores[row, column] = within(expected[row, 0].item(), actual[column].item())
        return scores

    return block


# numeric


def read_tolerance(owner: str, given: object) -> tuple[float | None, float | None]:
    """Return (rel, abs) of a tolerance as written, with None for missing values; a number is absolute.

    >>> read_tolerance("comparator 'numeric'", {"rel": 0.01}), read_tolerance("fields['total']", 2)
    ((0.01, None), (None, 2.0))
    """
    tolerance = {} if given is None else given
    if not isinstance(tolerance, Mapping):
        if isinstance(tolerance, str) and (percent := _PERCENT.fullmatch(tolerance)):
            share = float(percent[1]) / 100
            raise ConfigurationError(
                f"{owner}: 'tolerance' must be a number or a mapping, got {tolerance!r} "
                f"(for {percent[1]} % of expected, set 'rel' to {share:g})"
            )
        return None, read_number(owner, "tolerance", tolerance)
    check_names(f"the tolerance of {owner}", tolerance, ["rel", "abs"])
    rel, absolute = (
        None if tolerance.get(name) is None else read_number(owner, name, tolerance[name])
        for name in ("rel", "abs")
    )
    return rel, absolute


def make_tolerance_scoring(
    rel: float | None, absolute: float | None, read: Callable[[JsonValue], Number | None]
) -> Scoring:
    """Return a scoring of the numbers that `read` returns: 1 within a tolerance of each other, else 0."""
    return _make_number_scoring(_make_within(rel, absolute), _make_within_block(rel, absolute), read)


def _make_numeric(params: Params) -> Scoring:
    rel, absolute = read_tolerance("comparator 'numeric'", params.get("tolerance"))
    if not rel and not absolute:
        return make_equality(_make_number_key)
    return make_tolerance_scoring(rel, absolute, to_number)


def _make_number_key(value: JsonValue) -> Hashable:
    number = to_number(value) if type(value) is str else None
    return make_json_key(value) if number is None else number


NUMERIC: Final = Comparator("numeric", _make_numeric, ("tolerance",))
"""1 within the tolerance, else 0. `tolerance: {rel, abs}`: if both are given, both must be met; `rel` is
relative to |expected|, or to 1 if that is 0. Default: equal in value. Numeric strings are read as numbers."""


# relative


def _score_relative(expected: Number, actual: Number) -> float:
    if expected == actual:
        return 1.0
    try:
        size = abs(expected)
        if size <= _ZERO:
            return 1.0 if abs(actual) <= _ZERO else 0.0
        score: float = 1.0 - abs(expected - actual) / size
    except (ArithmeticError, TypeError):  # too large for doubles
        score = 1.0 - float(_divide(expected, actual))
    if score >= 1.0:
        return _ALMOST_ONE  # never 1 for different numbers
    return score if score > 0.0 else 0.0  # noqa: FURB136 - `max` is slower


def _score_relative_block(expected: Doubles, actual: Doubles) -> Matrix:
    import numpy as np

    size = np.abs(expected)
    scores = np.abs(expected - actual)
    scores /= size
    np.subtract(1.0, scores, out=scores)
    np.clip(scores, 0.0, _ALMOST_ONE, out=scores)
    scores[expected == actual] = 1.0
    scores[size[:, 0] <= _ZERO] = np.abs(actual) <= _ZERO
    return scores


RELATIVE: Final = Comparator(
    "relative", lambda _: _make_number_scoring(_score_relative, _score_relative_block), ()
)
"""max(0, 1 - |expected - actual| / |expected|); if |expected| <= 1e-12, 1 if |actual| <= 1e-12 else 0
(source 3). Different numbers always score less than 1."""


# threshold

_WEIGHTING: Final = "difference_penalty_weighting"


def _make_threshold(params: Params) -> Scoring:
    owner = "comparator 'threshold'"
    given = get_required(owner, params, "threshold", '{"threshold": 0.5}')
    limit = read_number(owner, "threshold", given, above_zero=True)
    weighting = read_number(owner, _WEIGHTING, params.get(_WEIGHTING, 1))
    if weighting == 0:
        # No penalty: 1 up to the threshold, 0 beyond it.
        return _make_number_scoring(_make_within(None, limit), _make_within_block(None, limit))
    power = 1.0 / weighting

    def threshold(expected: Number, actual: Number) -> float:
        if expected == actual:
            return 1.0
        is_exact = type(expected) is type(actual) is not Decimal
        if is_exact or all(-_EXACT_INTEGER <= number <= _EXACT_INTEGER for number in (expected, actual)):
            delta = abs(expected - actual)
        else:
            delta = float(compute_difference(expected, actual))
        score: float = 1.0 - (delta / limit) ** power if delta <= limit else 0.0
        return score

    def block(expected: Doubles, actual: Doubles) -> Matrix:
        import numpy as np

        delta = np.abs(expected - actual)
        # Powers are slow, and most pairs of a real column are far apart.
        near = np.nonzero(delta <= limit)
        scores = np.zeros(delta.shape)
        scores[near] = 1.0 - (delta[near] / limit) ** power
        return scores

    return _make_number_scoring(threshold, block)


THRESHOLD: Final = Comparator("threshold", _make_threshold, ("threshold", _WEIGHTING))
"""With d = |expected - actual|, t = `threshold` > 0 and w = `difference_penalty_weighting` >= 0 (default 1):
d > t gives 0; w = 0 gives 1; else 1 - (d / t) ** (1 / w) (source 4's program)."""

COMPARATORS: Final = (NUMERIC, RELATIVE, THRESHOLD)
"""The comparators of this module."""
