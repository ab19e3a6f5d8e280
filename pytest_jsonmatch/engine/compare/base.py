"""What a comparator is: a name, a way to bind parameters to a plain function, and its vectorised twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.compare.batched import Batch
    from pytest_jsonmatch.engine.value.convert import JsonValue

    # Named here only, so that importing this module never imports numpy.
    Matrix: TypeAlias = NDArray[np.float64]
    Edges: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], Matrix]

__all__ = [
    "Bind",
    "Comparator",
    "ComparatorResult",
    "EdgeFunction",
    "FewFunction",
    "FloatFunction",
    "MapParams",
    "PairFunction",
    "Pairwise",
    "Params",
    "Preload",
    "ScalarFunction",
    "equality_score",
    "user_comparator",
]


@final
@dataclass(frozen=True, slots=True)
class ComparatorResult:
    """What a comparator may return in place of a bare score.

    Args:
        score: in [0, 1].
        reason: why, for people; shown in reports.
        skip: leave this field out of the figures (its status becomes `skipped`).
        comparator: the name to show; by default the name it is registered under.

    >>> ComparatorResult(0.5, reason="same month").reason
    'same month'
    """

    score: float
    reason: str | None = None
    skip: bool = False
    comparator: str | None = None


Params: TypeAlias = Mapping[str, object]
ScalarFunction: TypeAlias = "Callable[[JsonValue, JsonValue], float | ComparatorResult]"
PairFunction: TypeAlias = "Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix]"
EdgeFunction: TypeAlias = "Callable[[Sequence[JsonValue], Sequence[JsonValue], int], Edges | None]"
FewFunction: TypeAlias = (
    "Callable[[Sequence[JsonValue], Sequence[JsonValue]], list[tuple[int, int, float]] | None]"
)
FloatFunction: TypeAlias = "Callable[[JsonValue, JsonValue], float]"
Bind: TypeAlias = "Callable[[Params], ScalarFunction]"
Pairwise: TypeAlias = "Callable[[Params], PairFunction]"
Sparse: TypeAlias = "Callable[[Params], EdgeFunction]"
Few: TypeAlias = "Callable[[Params], FewFunction]"
MapParams: TypeAlias = "Callable[[Params, Callable[[JsonValue], JsonValue]], Params]"
Preload: TypeAlias = "Callable[[Params], Callable[[Sequence[str]], object]]"


@final
@dataclass(frozen=True, slots=True)
class Comparator:
    """One way to score an expected value against an actual one.

    Args:
        name: what it is registered under.
        bind: takes the parameters, checks them once (ConfigurationError names a wrong one) and returns a
            plain function of (expected, actual). Those of the built-ins take any two JSON values and never
            raise, except `regex` on a bad pattern.
        pairwise: takes the same parameters and returns a function of two lists, of n and m values, that gives
            the n × m float64 array of the scores that the plain function would give (to 1e-12). It takes any
            JSON values too; None where there is no faster way than the plain function.
        null_aware: it wants to see nulls itself; for the others null against null is 1, and null against
            anything else 0 (which is what all built-ins answer by themselves).
        reflexive: equal scalars of one Python type score 1 whatever the parameters; callers need not ask.
        map_params: for a comparator with JSON values among its parameters: returns the parameters with a
            function applied to each such value, so that the field's transforms reach them too.
        sparse: takes the same parameters and returns a function of two lists of strings, or of two lists of
            numbers, and the most pairs that are of use: it gives the pairs that do not score 0, each once, as
            three arrays (of positions in both lists, and of scores), or None if they are more.
        few: as `sparse`, for lists so short that plain Python does it best: the function gives each pair as
            (position, position, score), or None if it cannot tell.
        batch: of a comparator that scores many fields in one call, what it was registered as; its plain
            function returns a `Question` for what it has to be asked.
        preload: of a comparator that had better see many strings at once: takes the same parameters and
            returns a function of the strings that are about to be compared, which is called before a record,
            or a chunk of records, is scored; fields for which it returns equal functions share a call. Its
            ConfigurationError ends the run.

    >>> from pytest_jsonmatch.engine.compare import BUILTIN
    >>> relative = BUILTIN["relative"].bind({})
    >>> relative(100, 98)
    0.98
    """

    name: str
    bind: Bind
    pairwise: Pairwise | None = None
    null_aware: bool = False
    reflexive: bool = True
    map_params: MapParams | None = None
    batch: Batch | None = None
    sparse: Sparse | None = None
    few: Few | None = None
    preload: Preload | None = None


def equality_score(expected: JsonValue, actual: JsonValue) -> float:
    """Return 1.0 for equal JSON values and 0.0 for others: what built-ins say of types they are not made for.

    >>> equality_score([1, "a"], [1.0, "a"]), equality_score(True, 1)
    (1.0, 0.0)
    """
    return 1.0 if json_equal(expected, actual) else 0.0


def user_comparator(name: str, fn: Callable[..., object], *, pairwise: Pairwise | None = None) -> Comparator:
    """Make a Comparator of a function `fn(expected, actual, params)`.

    Args:
        name: the name to register it under.
        fn: returns a number in [0, 1], a bool, or a ComparatorResult. It gets nulls too. What it raises,
            and a score outside [0, 1], is for the caller to report.
        pairwise: a vectorised twin, as described for `Comparator`.

    The function bound from it raises TypeError for a result of any other type.

    >>> same_start = user_comparator("same_start", lambda expected, actual, params: expected[0] == actual[0])
    >>> same_start.bind({})("Berlin", "Bern")
    1.0
    """
    if not callable(fn):
        raise ConfigurationError(
            f"comparator {name!r} must be a function of (expected, actual, params), not {type(fn).__name__}"
        )

    def bind(params: Params) -> ScalarFunction:
        given = dict(params)

        def compare(expected: JsonValue, actual: JsonValue) -> float | ComparatorResult:
            result = fn(expected, actual, given)
            if type(result) is float or isinstance(result, ComparatorResult):
                return result
            # bool, int, Decimal, numpy scalars; a str has no __float__.
            if hasattr(type(result), "__float__"):
                return float(result)  # type: ignore[arg-type]
            raise TypeError(
                f"comparator {name!r} returned {type(result).__name__}; "
                "return a number in [0, 1], a bool or a ComparatorResult"
            )

        return compare

    return Comparator(name, bind, pairwise, null_aware=True, reflexive=False)
