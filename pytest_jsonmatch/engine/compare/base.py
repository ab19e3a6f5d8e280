"""What a comparator is: a name, and how it scores two values, or many, once its parameters are known."""

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
    """What a batch comparator returns in place of a score: to be asked with all the others."""

    batch: Batch
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """How a comparator scores once its parameters are known.

    Args:
        score: takes an expected and an actual value. Those of the built-ins take any two JSON values and
            never raise, except `regex`.
        table: takes u expected and v actual values, distinct ones of any types, and returns the (u, v) array
            of their scores, equal to those of `score` to 1e-12. None: there is no faster way than `score`.
        ceiling: returns upper bounds of the table where the table would be slow; None where it would not.
        rows: returns, for each expected value, the positions of the actual values that do not score 0, with
            their scores: for small arrays, where that is faster than one call a pair.
        related: returns the pairs that do not score 0 as a sparse matrix (scipy's CSR), for lists so long
            that the table would be too large.
        preload: of a comparator that works best on many strings at once: is given the strings that are about
            to be compared, before a record, or a chunk of records, is scored; fields with equal functions
            share a call. Its ConfigurationError ends the run.
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
        name: what it is registered under.
        make: takes the parameters, checks their values (ConfigurationError names a wrong one) and returns how
            values are scored with them.
        params: the names of the parameters that there are; None: any.
        null_aware: it wants to see nulls itself; for the others null against null is 1, and null against
            anything else 0 (which is what all built-ins answer by themselves).
        reflexive: equal scalars of one Python type score 1 whatever the parameters; callers need not ask.
        map_params: for a comparator with JSON values among its parameters: returns the parameters with a
            function applied to every scalar in them, so that the field's transforms reach them too.
        batch: of a comparator that scores many fields in one call, what it was registered as; it scores by
            a `Question` what it has to be asked.

    >>> from pytest_jsonmatch.engine.compare import BUILTIN
    >>> relative = BUILTIN["relative"].bind({})
    >>> relative.score(100, 98), relative.table([100, 50], [98]).tolist()
    (0.98, [[0.98], [0.040000000000000036]])
    """

    name: str
    make: Callable[[Params], Scoring]
    params: Sequence[str] | None = None
    null_aware: bool = False
    reflexive: bool = True
    map_params: Callable[[Params, Change], Params] | None = None
    batch: Batch | None = None

    def bind(self, params: Params) -> Bound:
        """Return how values are scored with some parameters.

        Raises:
            ConfigurationError: a parameter is unknown, or is not what it can be.
        """
        if self.params is not None:
            check_names(f"comparator {self.name!r}", params, self.params)
        scoring = self.make(params)
        parts = {each.name: getattr(scoring, each.name) for each in fields(scoring)}
        return Bound(**parts, comparator=self, params=params)


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bound(Scoring):
    """A comparator with its parameters, as a place of a plan has it: how it scores, and what it came from."""

    comparator: Comparator
    params: Params

    @property
    def is_quick(self) -> bool:
        """Whether it can score two values at any time, and never fails."""
        return self.table is not None and self.preload is None

    def behind(self, transform: Change) -> Bound:
        """Return the comparator with the JSON values among its parameters transformed as the data are."""
        map_params = self.comparator.map_params
        return self if map_params is None else self.comparator.bind(map_params(self.params, transform))


def user_comparator(name: str, fn: Callable[..., Any]) -> Comparator:
    """Make a Comparator of a function `fn(expected, actual, params)`.

    Args:
        name: the name to register it under.
        fn: returns a number in [0, 1], a bool, or a ComparatorResult. It gets nulls too. What it raises, and
            whatever else it returns, is for the caller to report.

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

    return Comparator(name, make, null_aware=True, reflexive=False)
