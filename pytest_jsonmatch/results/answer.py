"""An answer with its model, time, tokens and cost; and the statistics over many answers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, cast, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.support.frozen import Frozen, list_fields, replace

_USAGE: Final = ("input_tokens", "output_tokens", "cost")
_MAX_NUMBER: Final = 2**53
"""The largest number accepted. Larger ones are mistakes, and would lose precision in sums."""


@final
class Spent(Frozen):
    """The model, time, tokens and cost of an answer. None means unknown, never 0.

    Raises ConfigurationError for an invalid value, such as a number below 0, NaN or an empty name.

    >>> Spent(input_tokens=900, output_tokens=100).tokens, Spent(input_tokens=900).tokens
    (1000, None)
    """

    __slots__ = ("cost", "input_tokens", "model", "output_tokens", "seconds")

    def __init__(
        self,
        model: str | None = None,
        seconds: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost: float | None = None,
    ) -> None:
        __tracebackhide__ = True
        name = cast("object", model)
        if name is not None and not (isinstance(name, str) and name):
            raise ConfigurationError(f"model must be a model's name, or None for unknown, got {model!r}")
        _check("seconds", seconds, (int, float), "a number of seconds")
        _check("usage['input_tokens']", input_tokens, (int,), "a whole number")
        _check("usage['output_tokens']", output_tokens, (int,), "a whole number")
        _check("usage['cost']", cost, (int, float), "a number")
        self.model: Final = model
        self.seconds: Final = seconds
        self.input_tokens: Final = input_tokens
        self.output_tokens: Final = output_tokens
        self.cost: Final = cost
        """In any currency, the same for all answers of a run."""

    @property
    def tokens(self) -> int | None:
        """The sum of input and output tokens; None unless both are known."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def to_dict(self) -> dict[str, Any]:
        """Return the known values as a dict of built-in types.

        >>> Spent(model="small", cost=0.01).to_dict()
        {'model': 'small', 'cost': 0.01}
        """
        return {name: value for name in SPENT_NAMES if (value := getattr(self, name)) is not None}


SPENT_NAMES: Final = list_fields(Spent)


def _check(what: str, value: object, kinds: tuple[type, ...], noun: str) -> None:
    __tracebackhide__ = True
    if value is None:
        return
    if (
        not isinstance(value, kinds)
        or isinstance(value, bool)
        or not 0 <= cast("float", value) <= _MAX_NUMBER
    ):
        raise ConfigurationError(
            f"{what} must be {noun} from 0 to {_MAX_NUMBER:,}, or None for unknown, got {value!r}"
        )


# Not a dataclass, which would have a JSON form: an answer in a place where none is expected must be an error.
@final
class Answer:
    """An answer with its model, time, tokens and cost.

    A producer, the fixture `jsonmatch_actual` and the hook may return one instead of a plain value.

    Args:
        value: the value to compare, or model output as text.
        model: the name of the model that generated it.
        usage: any of `input_tokens`, `output_tokens` and `cost`; a missing key or None means unknown.
        seconds: how long it took. By default the call of the producer or the hook is timed.

    Raises:
        ConfigurationError: an unknown key of `usage` or a number below 0; the message says what is allowed.

    >>> answer = Answer({"total": 12.5}, model="small", usage={"input_tokens": 900, "cost": 0.002})
    >>> answer.value, answer.spent.cost, answer.spent.seconds
    ({'total': 12.5}, 0.002, None)
    """

    __slots__ = ("spent", "value")

    def __init__(
        self,
        value: object,
        *,
        model: str | None = None,
        usage: Mapping[str, float | Decimal | None] | None = None,
        seconds: float | None = None,
    ) -> None:
        __tracebackhide__ = True  # the mistake is in the caller's line
        given: Any = {} if usage is None else usage
        if not isinstance(given, Mapping):
            raise ConfigurationError(
                f"usage must be a mapping with any of {', '.join(_USAGE)}, got {given!r}"
            )
        for key in given:
            if key not in _USAGE:
                raise ConfigurationError(f"usage has an unknown key {key!r}; allowed are {', '.join(_USAGE)}")
        numbers: dict[str, Any] = {
            key: float(number) if isinstance(number, Decimal) else number for key, number in given.items()
        }
        self.value: Final = value
        self.spent: Final = Spent(model, seconds, **numbers)

    def add_seconds(self, seconds: float) -> Answer:
        """Return the answer with a measured time; an answer that has a time stays as it is."""
        if self.spent.seconds is not None:
            return self
        return make_answer(self.value, replace(self.spent, seconds=round(seconds, 6)))

    def __repr__(self) -> str:
        """Return the value and what is known about the answer."""
        known = (f", {name}={value!r}" for name, value in self.spent.to_dict().items())
        return f"Answer({self.value!r}{''.join(known)})"


def make_answer(value: object, spent: Spent) -> Answer:
    """Return an answer with this model, time, tokens and cost."""
    usage = {name: getattr(spent, name) for name in _USAGE}
    return Answer(value, model=spent.model, usage=usage, seconds=spent.seconds)


def unwrap_answer(actual: object) -> object:
    """Return the value of an `Answer`; return anything else unchanged."""
    return actual.value if isinstance(actual, Answer) else actual


class _Statistic(Frozen):
    __slots__ = ("attribute", "description")

    def __init__(self, attribute: str, description: str) -> None:
        self.attribute: Final = attribute
        """The attribute of `Spent`."""
        self.description: Final = description


STATISTICS: Final[Mapping[str, _Statistic]] = {
    "latency.mean": _Statistic("seconds", "the mean time of an answer, in seconds"),
    "latency.p95": _Statistic(
        "seconds", "the 95th percentile of the time of an answer, in seconds with three digits"
    ),
    "cost.mean": _Statistic("cost", "the mean cost of an answer"),
    "cost.total": _Statistic("cost", "the cost of all answers"),
    "tokens.mean": _Statistic("tokens", "the mean tokens of an answer, input and output"),
    "tokens.total": _Statistic("tokens", "the tokens of all answers, input and output"),
}
"""Statistics on the time, cost and tokens of many answers."""
