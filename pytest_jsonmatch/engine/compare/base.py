"""Comparators: a name, and how to score two values, or many, once the parameters are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, final

from pytest_jsonmatch.engine.compare.parameters import check_names
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.value.convert import JsonValue

    # Named here only, so that importing this module never imports numpy.
    Matrix: TypeAlias = NDArray[np.float64]

Params: TypeAlias = Mapping[str, object]
Score: TypeAlias = "Callable[[JsonValue, JsonValue], float | ComparatorResult | Question]"
Table: TypeAlias = "Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix]"
Change: TypeAlias = "Callable[[JsonValue], JsonValue]"


@final
@dataclass(frozen=True, slots=True)
class ComparatorResult:
    """A score with a reason and more, which a comparator may return in place of a bare score.

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


@final
@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A batch comparator as it was registered."""

    name: str
    ask: Callable[..., object]
    scope: str
    judged: bool


@final
@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Returned by a batch comparator in place of a score; questions are collected and asked together."""

    batch: Batch
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """How a comparator scores once its parameters are known.

    Args:
        score: takes an expected and an actual value. Those of the built-ins take any two JSON values and
            never raise, except `regex`.
        table: takes u expected and v actual values, distinct and of any types, and returns the (u, v) array
            of their scores, equal to those of `score` to 1e-12. None: there is no faster way than `score`.
        ceiling: returns upper bounds of the table if the table would be slow, else None.
        rows: returns, for each expected value, the positions of the actual values that do not score 0, with
            their scores: for small arrays, where that is faster than one call per pair.
        related: returns the pairs that do not score 0 as a sparse matrix (scipy's CSR), for lists so long
            that the table would be too large.
        preload: for a comparator that works best on many strings at once: takes the strings that will be
            compared, before a record, or a chunk of records, is scored; fields with equal functions share a
            call. Its ConfigurationError ends the run.
    """

    score: Score
    table: Table | None = None
    ceiling: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix | None] | None = None
    rows: Callable[[Sequence[JsonValue], Sequence[JsonValue]], list[dict[int, float]]] | None = None
    related: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Any] | None = None
    preload: Callable[[Sequence[str]], object] | None = None


@final
@dataclass(frozen=True, slots=True)
class Comparator:
    """One way to score an expected value against an actual one.

    Args:
        name: the name it is registered under.
        make: takes the parameters, checks their values (a ConfigurationError names a wrong one) and returns
            how values are scored with them.
        params: the names of its parameters; None: any.
        reflexive: equal scalars of one Python type score 1 whatever the parameters, so callers need not ask.
        map_params: for a comparator with JSON values among its parameters: returns the parameters with a
            function applied to every scalar in them, so that the field's transforms reach them too.
        batch: for a comparator that scores many fields in one call: its registration. Its `score` returns a
            `Question` for a pair that it must be asked about.

    >>> from pytest_jsonmatch.engine.compare import BUILTIN
    >>> relative = BUILTIN["relative"].bind({})
    >>> relative.score(100, 98), relative.table([100, 50], [98]).tolist()
    (0.98, [[0.98], [0.040000000000000036]])
    """

    name: str
    make: Callable[[Params], Scoring]
    params: Sequence[str] | None = None
    reflexive: bool = True
    map_params: Callable[[Params, Change], Params] | None = None
    batch: Batch | None = None

    def bind(self, params: Params) -> Bound:
        """Return the comparator with its parameters.

        Raises:
            ConfigurationError: a parameter is unknown or invalid.
        """
        if self.params is not None:
            check_names(f"comparator {self.name!r}", params, self.params)
        scoring = self.make(params)
        parts = {each.name: getattr(scoring, each.name) for each in fields(scoring)}
        return Bound(**parts, comparator=self, params=params)


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bound(Scoring):
    """A comparator with its parameters, as a place of a plan has it: its scoring, and its origin."""

    comparator: Comparator
    params: Params

    @property
    def is_quick(self) -> bool:
        """Whether it can score two values at any time, and never fails."""
        return self.table is not None and self.preload is None

    def behind(self, transform: Change) -> Bound:
        """Return the comparator with the JSON values among its parameters transformed like the data."""
        map_params = self.comparator.map_params
        return self if map_params is None else self.comparator.bind(map_params(self.params, transform))


def user_comparator(name: str, fn: Callable[..., Any]) -> Comparator:
    """Make a Comparator of a function `fn(expected, actual, params)`.

    Args:
        name: the name to register it under.
        fn: returns a number in [0, 1], a bool, or a ComparatorResult. It gets nulls too. The caller reports
            what it raises, and anything else that it returns.

    >>> same_start = user_comparator("same_start", lambda expected, actual, params: expected[0] == actual[0])
    >>> same_start.bind({}).score("Berlin", "Bern")
    True
    """
    if not callable(fn):
        raise ConfigurationError(
            f"comparator {name!r} must be a function of (expected, actual, params), not {type(fn).__name__}"
        )

    def make(params: Params) -> Scoring:
        given = dict(params)
        return Scoring(lambda expected, actual: fn(expected, actual, given))

    return Comparator(name, make, reflexive=False)
