"""Comparators: a name, and how to score two values, or many, once the parameters are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias, final

from pytest_jsonmatch.engine.compare.parameters import accepts, check_names
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.value.convert import JsonValue

    # Named here only, so that importing this module never imports numpy.
    Matrix: TypeAlias = NDArray[np.float64]

Params: TypeAlias = Mapping[str, object]
ScoreFunction: TypeAlias = "Callable[[JsonValue, JsonValue], float | ComparatorResult | Question]"
TableFunction: TypeAlias = "Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix]"
Formula: TypeAlias = "Callable[[Any, Any, Any], Any]"
CompiledTransform: TypeAlias = "Callable[[JsonValue], JsonValue]"


@final
@dataclass(frozen=True, slots=True)
class ComparatorResult:
    """A score with a reason and more, which a comparator may return in place of a bare score.

    Args:
        score: in [0, 1].
        reason: why, for people; shown in reports.
        skip: leave this field out of the scores (its status becomes `skipped`).
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
            never raise, except `regex`, and `levenshtein` for texts that are too long.
        table: takes u expected and v actual values, distinct and of any types, and returns the (u, v) array
            of their scores, equal to those of `score` to 1e-12. None: there is no faster way than `score`.
        ceiling: returns upper bounds of the table if the table would be slow, else None.
        rows: returns, for each expected value, the positions of the actual values that do not score 0, with
            their scores: for small arrays, where that is faster than one call per pair.
        related: returns the pairs that do not score 0 as a sparse matrix (scipy's CSR), for lists so long
            that the table would be too large.
        key: if given, values score 1 where it returns equal keys, and 0 elsewhere.
        prepare: for a comparator that works best on many strings at once: takes the strings that will be
            compared, before a record, or a chunk of records, is scored; fields with equal functions share a
            call. Its ConfigurationError ends the run.
    """

    score: ScoreFunction
    table: TableFunction | None = None
    ceiling: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix | None] | None = None
    rows: Callable[[Sequence[JsonValue], Sequence[JsonValue]], list[dict[int, float]]] | None = None
    related: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Any] | None = None
    key: Callable[[JsonValue], Hashable] | None = None
    prepare: Callable[[Sequence[str]], object] | None = None


def score_or_zero(score: ScoreFunction, expected: JsonValue, actual: JsonValue) -> Any:
    """Return a score, or 0 for values that a built-in comparator refuses: the walk reports that."""
    try:
        return score(expected, actual)
    except ValueError:
        return 0.0


def score_rows(
    score: ScoreFunction, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> list[dict[int, float]]:
    """Return, for each expected value, the scores other than 0, by the position of the actual value."""
    own: Any = score
    try:
        return [
            {to: found for to, other in enumerate(actual) if (found := own(one, other))} for one in expected
        ]
    except ValueError:
        return [{to: score_or_zero(own, one, other) for to, other in enumerate(actual)} for one in expected]


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
    map_params: Callable[[Params, CompiledTransform], Params] | None = None
    batch: Batch | None = None

    def bind(self, params: Params) -> BoundComparator:
        """Return the comparator with its parameters.

        Raises:
            ConfigurationError: a parameter is unknown or invalid.
        """
        if self.params is not None:
            check_names(f"comparator {self.name!r}", params, self.params)
        scoring = self.make(params)
        parts = {each.name: getattr(scoring, each.name) for each in fields(scoring)}
        return BoundComparator(**parts, comparator=self, params=params)


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoundComparator(Scoring):
    """A comparator with its parameters, as a place of a plan has it: its scoring, and its origin."""

    comparator: Comparator
    params: Params

    @property
    def is_fast(self) -> bool:
        """Whether it can score two values at any time, and never fails."""
        return self.table is not None and self.prepare is None

    def after_transforms(self, transform: CompiledTransform) -> BoundComparator:
        """Return the comparator with the JSON values among its parameters transformed like the data."""
        map_params = self.comparator.map_params
        return self if map_params is None else self.comparator.bind(map_params(self.params, transform))


def make_user_comparator(name: str, fn: Callable[..., Any]) -> Comparator:
    """Make a Comparator of a function `fn(expected, actual, params)`.

    Args:
        name: the name to register it under.
        fn: returns a number in [0, 1], a bool, or a ComparatorResult. It gets nulls too. The caller reports
            what it raises, and anything else that it returns.

    >>> same_start = make_user_comparator("same_start", lambda one, other, params: one[0] == other[0])
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


# Batch comparators


@final
@dataclass(frozen=True, slots=True)
class BatchItem:
    """One pair of values that a batch comparator is asked about.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.engine.plan.registry import session_registry
    >>> seen = []
    >>> def judge(items):
    ...     seen.extend(items)
    ...     return [item.expected_compared == item.actual_compared for item in items]
    >>> with session_registry() as registry:
    ...     registry.comparator("judge", judge)
    ...     rule = {"compare": {"judge": {"strict": False}}, "transform": ["lowercase"]}
    ...     compare_json({"notes": ["A"]}, {"notes": ["a"]}, fields={"notes[]": rule}).score
    1.0
    >>> item = seen[0]
    >>> item.id, item.path, item.expected_path, item.expected_parent, item.params
    ('1', 'notes[]', 'notes[0]', 'notes', {'strict': False})
    >>> item.expected, item.actual, item.actual_compared
    ('a', 'A', 'a')
    """

    id: str
    """Unique in the run; the key of the item's answer in a mapping."""
    record: str | int | None
    """The id of the record; None if a single pair of documents is compared."""
    path: str
    """The schema path, such as `items[].note`."""
    expected_path: str
    """The instance path in expected, such as `items[0].note`."""
    actual_path: str
    """The instance path in actual."""
    expected_parent: str | None
    """The instance path of the object or array that contains the value; None for the root."""
    actual_parent: str | None
    """The same in actual."""
    expected: JsonValue
    """The value as it is in expected."""
    actual: JsonValue
    """The value as it is in actual."""
    expected_compared: JsonValue
    """The value to compare: expected's, after transforms."""
    actual_compared: JsonValue
    """The same for actual."""
    params: Mapping[str, Any]
    """The parameters that the field gives the comparator."""
    description: str | None = None
    """The schema's description of the field, or None; an element may have that of its array."""


def is_batch(fn: Callable[..., object]) -> bool:
    """Return whether a comparator takes a list of items: it has a `scope`, or one argument and not three.

    >>> is_batch(lambda items: [1.0] * len(items)), is_batch(lambda expected, actual, params: 1.0)
    (True, False)
    """
    return isinstance(getattr(fn, "scope", None), str) or (accepts(fn, 1) and not accepts(fn, 3))


def batch_comparator(name: str, fn: Callable[[list[BatchItem]], object]) -> Comparator:
    """Make a Comparator of a function (or an object with `__call__`) of a list of items.

    Args:
        name: the name to register it under.
        fn: returns a list of answers in the items' order, or a mapping of item id to answer. An answer is a
            number in [0, 1], a bool, a ComparatorResult, or an exception for an item without a score (a
            JsonMatchError is shown by its message alone). It may have these attributes:

            scope: "record" (the default), one call for the items of one record, or "chunk", one call for the
                items of all records of a chunk, answered by id.
            null_aware: True: it is asked about nulls too.
            short_circuit: True: equal values score 1 without a question.
            judged: True: it is called with (items, judge), where `judge` is the judge given to the
                comparison, or None; an exception ends the run.
            check_params: a function that takes the parameters of a field and raises ConfigurationError (or
                any ValueError or TypeError) if they are wrong.

    Raises:
        ConfigurationError: one of these is invalid.

    >>> judge = batch_comparator("judge", lambda items: [0.5 for item in items])
    >>> judge.name, judge.batch.scope
    ('judge', 'record')
    """
    if isinstance(fn, type):
        raise ConfigurationError(
            f"comparator {name!r} is the class {fn.__name__}; register an instance, such as {fn.__name__}()"
        )
    scope = getattr(fn, "scope", None)
    scope = scope if isinstance(scope, str) else "record"
    if scope not in {"record", "chunk"}:
        raise ConfigurationError(
            f"comparator {name!r} has the scope {scope!r}{did_you_mean(scope, ('record', 'chunk'))}"
        )
    null_aware, short_circuit = (bool(getattr(fn, flag, False)) for flag in ("null_aware", "short_circuit"))
    batch = Batch(name, fn, scope, judged=bool(getattr(fn, "judged", False)))
    check = getattr(fn, "check_params", None)

    def make(params: Params) -> Scoring:
        given = dict(params)
        if check is not None:
            try:
                check(given)
            except ConfigurationError:
                raise
            except (ValueError, TypeError) as error:
                raise ConfigurationError(f"comparator {name!r}: {error}") from None
        question = Question(batch, given)

        def score(expected: JsonValue, actual: JsonValue) -> float | Question:
            if (expected is None or actual is None) and not null_aware:
                return 1.0 if expected is None and actual is None else 0.0
            if short_circuit and json_equal(expected, actual):
                return 1.0
            return question

        return Scoring(score)

    # Equal values match without a question only if the comparator allows it.
    return Comparator(name, make, reflexive=short_circuit, batch=batch)
