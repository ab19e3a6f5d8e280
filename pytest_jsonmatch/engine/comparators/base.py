"""The base of comparators: a name, and functions that score values under given parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.comparators.parameters import accepts, check_names
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.support.frozen import Frozen, list_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_jsonmatch.engine.value.convert import JsonValue

    # Only for type checkers, so that importing this module does not import numpy.
    Matrix: TypeAlias = NDArray[np.float64]

Params: TypeAlias = Mapping[str, object]
ScoreFunction: TypeAlias = "Callable[[JsonValue, JsonValue], float | ComparatorResult | Question]"
TableFunction: TypeAlias = "Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix]"
Formula: TypeAlias = "Callable[[Any, Any, Any], Any]"
CompiledTransform: TypeAlias = "Callable[[JsonValue], JsonValue]"


@final
class ComparatorResult(Frozen):
    """A score with a reason and more, which a comparator may return instead of a number.

    Args:
        score: the score, from 0 to 1.
        reason: the reason as text for reports.
        skip: whether to leave this field out of the scores; its status becomes `skipped`.
        comparator: the name to show; by default the name under which the comparator is registered.

    >>> ComparatorResult(0.5, reason="same month").reason
    'same month'
    """

    __slots__ = ("comparator", "reason", "score", "skip")

    def __init__(
        self,
        score: float,
        reason: str | None = None,
        skip: bool = False,
        comparator: str | None = None,
    ) -> None:
        self.score: Final = score
        self.reason: Final = reason
        self.skip: Final = skip
        self.comparator: Final = comparator


@final
class Batch:
    """A registered batch comparator."""

    __slots__ = ("ask", "judged", "name", "scope")

    def __init__(
        self,
        name: str,
        ask: Callable[..., object],
        scope: str,
        judged: bool,
    ) -> None:
        self.name: Final = name
        self.ask: Final = ask
        self.scope: Final = scope
        self.judged: Final = judged


@final
class Question:
    """The result of a batch comparator for a pair without a score; questions are asked together later."""

    __slots__ = ("batch", "params")

    def __init__(
        self,
        batch: Batch,
        params: Mapping[str, Any],
    ) -> None:
        self.batch: Final = batch
        self.params: Final = params


class Scoring:
    """The scoring functions of a comparator under given parameters.

    Args:
        score: scores an expected and an actual value. Those of the built-ins accept any two JSON values and
            never raise, except `regex`, and `levenshtein` for texts that are too long.
        table: scores all pairs of u expected and v actual values, distinct and of any types, and returns a
            (u, v) array, equal to the scores of `score` to 1e-12. None if nothing is faster than `score`.
        upper_bounds: returns upper bounds of the table if the table would be slow, else None.
        rows: returns, for each expected value, the positions of the actual values that do not score 0, with
            their scores; for small arrays, where that is faster than one call per pair.
        related: returns the pairs that do not score 0 as a sparse matrix (scipy's CSR), for lists so long
            that the table would be too large.
        key: if given, values score 1 if it returns equal keys for them, else 0.
        prepare: for a comparator that works best on many strings at once: called with the strings to compare
            before a record, or a chunk of records, is scored; fields with equal functions share a call. Its
            ConfigurationError ends the run.
    """

    __slots__ = ("key", "prepare", "related", "rows", "score", "table", "upper_bounds")

    def __init__(
        self,
        score: ScoreFunction,
        table: TableFunction | None = None,
        upper_bounds: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Matrix | None] | None = None,
        rows: Callable[[Sequence[JsonValue], Sequence[JsonValue]], list[dict[int, float]]] | None = None,
        related: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Any] | None = None,
        key: Callable[[JsonValue], Hashable] | None = None,
        prepare: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        self.score: Final = score
        self.table: Final = table
        self.upper_bounds: Final = upper_bounds
        self.rows: Final = rows
        self.related: Final = related
        self.key: Final = key
        self.prepare: Final = prepare


def score_or_zero(score: ScoreFunction, expected: JsonValue, actual: JsonValue) -> Any:
    """Return a score, or 0 if a built-in comparator raises a ValueError, which the walk reports."""
    try:
        return score(expected, actual)
    except ValueError:
        return 0.0


def score_rows(
    score: ScoreFunction, expected: Sequence[JsonValue], actual: Sequence[JsonValue]
) -> list[dict[int, float]]:
    """Return, for each expected value, the scores other than 0 by the position of the actual value."""
    score_pair: Any = score
    try:
        return [
            {to: value for to, other in enumerate(actual) if (value := score_pair(one, other))}
            for one in expected
        ]
    except ValueError:
        return [
            {to: score_or_zero(score_pair, one, other) for to, other in enumerate(actual)} for one in expected
        ]


@final
class Comparator(Frozen):
    """A named way to score an actual value against an expected one.

    Args:
        name: the name under which it is registered.
        make: checks the values of the parameters (a ConfigurationError names an invalid one) and returns the
            scoring functions.
        params: the names of the parameters; None for any.
        reflexive: whether equal scalars of one Python type score 1 whatever the parameters, so that callers
            need not call it for them.
        map_params: for a comparator with JSON values among its parameters: returns the parameters with a
            function applied to every scalar in them, so that the field's transforms apply to them, too.
        batch: for a comparator that scores many fields in one call: its registration. Its `score` returns a
            `Question` for a pair that must be scored in such a call.

    >>> from pytest_jsonmatch.engine.comparators import BUILTIN
    >>> relative = BUILTIN["relative"].bind({})
    >>> relative.score(100, 98), relative.table([100, 50], [98]).tolist()
    (0.98, [[0.98], [0.040000000000000036]])
    """

    __slots__ = ("batch", "make", "map_params", "name", "params", "reflexive")

    def __init__(
        self,
        name: str,
        make: Callable[[Params], Scoring],
        params: Sequence[str] | None = None,
        reflexive: bool = True,
        map_params: Callable[[Params, CompiledTransform], Params] | None = None,
        batch: Batch | None = None,
    ) -> None:
        self.name: Final = name
        self.make: Final = make
        self.params: Final = params
        self.reflexive: Final = reflexive
        self.map_params: Final = map_params
        self.batch: Final = batch

    def bind(self, params: Params) -> BoundComparator:
        """Return the comparator bound to parameters.

        Raises:
            ConfigurationError: a parameter is unknown or invalid.
        """
        if self.params is not None:
            check_names(f"comparator {self.name!r}", params, self.params)
        return BoundComparator(self.make(params), self, params)


@final
class BoundComparator(Scoring):
    """The scoring of a comparator with its parameters, for a place of a plan."""

    __slots__ = ("comparator", "params")

    def __init__(self, scoring: Scoring, comparator: Comparator, params: Params) -> None:
        super().__init__(*(getattr(scoring, name) for name in list_fields(Scoring)))
        self.comparator: Final = comparator
        self.params: Final = params

    @property
    def is_fast(self) -> bool:
        """Whether it can score two values at any time and never raises an error."""
        return self.table is not None and self.prepare is None

    def after_transforms(self, transform: CompiledTransform) -> BoundComparator:
        """Return the comparator with the JSON values among its parameters transformed like the data."""
        map_params = self.comparator.map_params
        return self if map_params is None else self.comparator.bind(map_params(self.params, transform))


def make_user_comparator(name: str, fn: Callable[..., Any]) -> Comparator:
    """Return a Comparator for a function `fn(expected, actual, params)`.

    Args:
        name: the name under which to register it.
        fn: returns a number in [0, 1], a bool, or a ComparatorResult. Nulls are passed to it, too. The caller
            reports its errors and invalid return values.

    >>> same_start = make_user_comparator("same_start", lambda one, other, params: one[0] == other[0])
    >>> same_start.bind({}).score("Berlin", "Bern")
    True
    """
    if not callable(fn):
        raise ConfigurationError(
            f"comparator {name!r} must be a function of (expected, actual, params), got {type(fn).__name__}"
        )

    def make(params: Params) -> Scoring:
        given = dict(params)
        return Scoring(lambda expected, actual: fn(expected, actual, given))

    return Comparator(name, make, reflexive=False)


# Batch comparators


@final
class BatchItem(Frozen):
    """A pair of values for a batch comparator.

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

    __slots__ = (
        "actual",
        "actual_compared",
        "actual_parent",
        "actual_path",
        "description",
        "expected",
        "expected_compared",
        "expected_parent",
        "expected_path",
        "id",
        "params",
        "path",
        "record",
    )

    def __init__(
        self,
        id: str,
        record: str | int | None,
        path: str,
        expected_path: str,
        actual_path: str,
        expected_parent: str | None,
        actual_parent: str | None,
        expected: JsonValue,
        actual: JsonValue,
        expected_compared: JsonValue,
        actual_compared: JsonValue,
        params: Mapping[str, Any],
        description: str | None = None,
    ) -> None:
        self.id: Final = id
        """Unique in the run; the key of the item's answer in a mapping."""
        self.record: Final = record
        """The id of the record; None if a single pair of documents is compared."""
        self.path: Final = path
        """The schema path, such as `items[].note`."""
        self.expected_path: Final = expected_path
        """The instance path in expected, such as `items[0].note`."""
        self.actual_path: Final = actual_path
        """The instance path in actual."""
        self.expected_parent: Final = expected_parent
        """The instance path of the object or array that contains the value; None for the root."""
        self.actual_parent: Final = actual_parent
        """The instance path of the object or array in actual; None for the root."""
        self.expected: Final = expected
        """The value in expected, before transforms."""
        self.actual: Final = actual
        """The value in actual, before transforms."""
        self.expected_compared: Final = expected_compared
        """The value of expected after transforms, to compare."""
        self.actual_compared: Final = actual_compared
        """The value of actual after transforms, to compare."""
        self.params: Final = params
        """The parameters of the comparator for this field."""
        self.description: Final = description
        """The schema's description of the field, or for an element that of its array; None without any."""


def is_batch(fn: Callable[..., object]) -> bool:
    """Return whether a function is a batch comparator: has a `scope`, or accepts one argument but not three.

    >>> is_batch(lambda items: [1.0] * len(items)), is_batch(lambda expected, actual, params: 1.0)
    (True, False)
    """
    return isinstance(getattr(fn, "scope", None), str) or (accepts(fn, 1) and not accepts(fn, 3))


def batch_comparator(name: str, fn: Callable[[list[BatchItem]], object]) -> Comparator:
    """Return a Comparator for a function (or an object with `__call__`) of a list of items.

    Args:
        name: the name under which to register it.
        fn: returns a list of answers in the items' order, or a mapping of item id to answer. An answer is a
            number in [0, 1], a bool, a ComparatorResult, or an exception for an item without a score (a
            JsonMatchError is shown by its message alone). It may have these attributes:

            scope: "record" (the default), one call for the items of one record, or "chunk", one call for the
                items of all records of a chunk, answered by id.
            null_aware: True: nulls are passed to it, too.
            short_circuit: True: equal values score 1 without a question.
            judged: True: it is called with (items, judge), where `judge` is the judge given to the
                comparison, or None; an exception ends the run.
            check_params: a function that takes the parameters of a field and raises ConfigurationError (or
                any ValueError or TypeError) if they are invalid.

    Raises:
        ConfigurationError: `fn` is a class, or its scope is unknown.

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
