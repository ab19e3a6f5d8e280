"""Bind comparators and transforms to their parameters, and make tables of comparators by type."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias, final

from pytest_jsonmatch.engine.comparators.transforms import read_as_json
from pytest_jsonmatch.engine.plan.options import COMPARED_TYPES, read_spec, read_transforms
from pytest_jsonmatch.engine.value.convert import CONTAINERS, NUMBERS, is_integral, json_type
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchWarning

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_jsonmatch.engine.comparators.base import BoundComparator
    from pytest_jsonmatch.engine.plan.registry import Registry
    from pytest_jsonmatch.engine.value.convert import JsonValue

Transforms: TypeAlias = "tuple[Callable[[JsonValue], JsonValue], ...]"
UserScore: TypeAlias = "Callable[[JsonValue, JsonValue], Any]"


def bind_comparator(spec: Any, registry: Registry, where: str) -> BoundComparator:
    """Return the comparator that `spec` names, bound to its parameters.

    Raises:
        ConfigurationError: the name or a parameter is unknown; the message begins with `where`.
    """
    name, params = read_spec(where, spec)
    try:
        return registry.find_comparator(name).bind(params)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None


def warn_about_full_enum(bound: BoundComparator | None, enum: Sequence[JsonValue] | None, where: str) -> None:
    """Warn about a `oneof` that lists all values of an enum, so that every value is accepted."""
    if bound is None or bound.comparator.name != "oneof" or "values" not in bound.params:
        return
    if enum and all(value is None or bound.score(None, value) for value in enum):
        message = f"{where}: oneof accepts every value of the enum; did you mean exact?"
        warnings.warn(message, JsonMatchWarning, stacklevel=3)


def bind_transforms(specs: Any, registry: Registry, where: str) -> Transforms:
    """Return the functions for a list of transforms, bound to their parameters.

    Raises:
        ConfigurationError: a name or parameter is unknown; the message begins with `where`.
    """
    specs_read = [read_spec(where, spec, "transform") for spec in read_transforms(where, specs)]
    try:
        transforms = tuple(registry.find_transform(name).bind(params) for name, params in specs_read)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if read_as_json in transforms[1:]:
        raise ConfigurationError(f"{where}: 'parse_json' must be the first transform")
    return transforms


@final
class TypeTable:
    """Comparators by the type of values, for places without a more specific comparator."""

    __slots__ = ("bound", "by_type", "cross_types", "is_fast", "reflexive")

    def __init__(self, compare: Mapping[str, Any], cross_types: Collection[str], registry: Registry) -> None:
        bound = {
            kind: bind_comparator(compare.get(kind, "exact"), registry, f"compare[{kind!r}]")
            for kind in COMPARED_TYPES
            if kind in compare or kind != "integer"
        }
        bound.setdefault("integer", bound["number"])
        self.bound: dict[str, BoundComparator] = bound
        """The comparators by JSON type; integers have the one for numbers, unless they have their own."""
        self.cross_types: frozenset[str] = frozenset(cross_types)
        """The types of expected values whose comparators also compare scalars of other types."""
        self.reflexive: bool = all(entry.comparator.reflexive for entry in bound.values())
        """Whether equal scalars always score 1."""
        number, integer = bound["number"].score, bound["integer"].score

        def score_numbers(expected: JsonValue, actual: JsonValue) -> Any:
            return (integer if is_integral(expected) and is_integral(actual) else number)(expected, actual)

        self.is_fast: bool = all(entry.is_fast for entry in bound.values())
        """Whether all comparators can score two values at any time and never raise an error."""
        self.by_type: dict[type, UserScore] = {
            str: bound["string"].score,
            bool: bound["boolean"].score,
            type(None): bound["null"].score,
            int: integer,
            float: number if bound["integer"] is bound["number"] else score_numbers,
        }
        """The scoring function of each Python type that a JSON scalar can have."""
        self.by_type[Decimal] = self.by_type[float]

    def score(self, expected: JsonValue, actual: JsonValue) -> Any:
        """Score two scalars by their types; scalars of different types score 0 except under `cross_types`."""
        kind, other_kind = type(expected), type(actual)
        if kind is other_kind:
            return self.by_type[kind](expected, actual)
        if kind in NUMBERS and other_kind in NUMBERS:
            return self.by_type[float](expected, actual)
        bound = self.find_for_any(expected) if self.cross_types else None
        return 0.0 if bound is None else bound.score(expected, actual)

    def find_for_any(self, expected: JsonValue) -> BoundComparator | None:
        """Return the comparator of an expected scalar for scalars of other types; None if there is none."""
        kind = json_type(expected)
        if kind == "number" and is_integral(expected):
            kind = "integer"
        return self.bound[kind] if kind in self.cross_types else None

    def find(self, expected: JsonValue, actual: JsonValue) -> BoundComparator | None:
        """Return the comparator for two values of one type; None for containers."""
        kind = json_type(expected)
        if kind in {"string", "boolean", "null"}:
            return self.bound[kind]
        if type(expected) in CONTAINERS or type(actual) in CONTAINERS:
            return None
        if type(actual) not in NUMBERS:
            return self.find_for_any(expected)
        return self.bound["integer" if is_integral(expected) and is_integral(actual) else "number"]
