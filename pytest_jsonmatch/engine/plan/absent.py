"""Values of object members that mean that the member is absent: the options `nulls` and `absent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, final

from pytest_jsonmatch.engine.comparators.transforms import map_scalars
from pytest_jsonmatch.engine.value.convert import CONTAINERS, Matcher
from pytest_jsonmatch.engine.value.equality import make_json_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from pytest_jsonmatch.engine.comparators.base import CompiledTransform
    from pytest_jsonmatch.engine.plan.options import Options
    from pytest_jsonmatch.engine.value.convert import JsonValue


class Rules(Protocol):
    """The rules of a place that matter here."""

    @property
    def explicit_comparator(self) -> object:
        """The comparator that a rule names; None without one."""

    @property
    def transforms(self) -> tuple[Callable[[JsonValue], JsonValue], ...]:
        """The transforms of scalars."""

    @property
    def transform(self) -> CompiledTransform:
        """Applies the transforms to a scalar."""


class RuledNode(Protocol):
    """A node of the plan's tree, with what matters here."""

    @property
    def rules(self) -> Rules:
        """The rules of the place."""

    def iter_children(self, value: JsonValue) -> Iterator[tuple[str | int, Any, JsonValue]]:
        """Yield the key or index, the chosen node, and the value of each member or element."""


@final
class AbsentValues:
    """The values that mean that an object's member is absent, compared after the member's transforms."""

    __slots__ = ("_has_containers", "_is_only_null", "_keys", "_values")

    def __init__(self, values: Sequence[JsonValue]) -> None:
        self._values = tuple(values)
        self._is_only_null: bool = all(value is None for value in values)
        self._has_containers: bool = any(type(value) in CONTAINERS for value in values)
        self._keys: dict[Any, frozenset[Hashable]] = {}
        """The equality keys of the values, by the transforms that were applied to them."""

    def remove(self, node: RuledNode, members: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return an object without absent members; the object itself if it has none."""
        if self._is_only_null:
            if None not in members.values():
                return members
            return {key: item for key, item in members.items() if item is not None}
        kept: dict[Any, JsonValue] = {
            key: item for key, child, item in node.iter_children(members) if not self.is_absent(child, item)
        }
        return members if len(kept) == len(members) else kept

    def remove_from(self, node: RuledNode, value: JsonValue) -> JsonValue:
        """Return an object without absent members; anything else unchanged."""
        return self.remove(node, value) if type(value) is dict else value

    def is_absent(self, node: RuledNode, value: JsonValue) -> bool:
        """Return whether the value of a member means that it is absent; a container without its own ones.

        The node is the one that is chosen for the value.
        """
        if value is None or self._is_only_null:
            return value is None and self._covers(node.rules, value)
        if type(value) in CONTAINERS and not self._has_containers:
            return False
        return self._covers(node.rules, self._strip(node, value))

    def _strip(self, node: RuledNode, value: JsonValue) -> JsonValue:
        """Return a value without absent members at any depth."""
        if type(value) not in CONTAINERS:
            return value
        if node.rules.explicit_comparator is not None:
            return self.strip_deeply(node.rules, value)
        if type(value) is list:
            return [self._strip(child, item) for _, child, item in node.iter_children(value)]
        return {
            key: self._strip(child, item)
            for key, child, item in node.iter_children(value)
            if not self.is_absent(child, item)
        }

    def strip_deeply(self, rules: Rules, value: JsonValue) -> JsonValue:
        """Return a value that is compared as a whole, without absent members at any depth."""
        if type(value) is list:
            return [self.strip_deeply(rules, item) for item in value]
        if type(value) is not dict:
            return value
        stripped = {key: self.strip_deeply(rules, item) for key, item in value.items()}
        return {key: item for key, item in stripped.items() if not self._covers(rules, item)}

    def _covers(self, rules: Rules, value: JsonValue) -> bool:
        if type(value) is Matcher:
            return False
        keys = self._keys.get(rules.transforms)
        if keys is None:
            keys = frozenset(make_json_key(_transform(rules, listed)) for listed in self._values)
            self._keys[rules.transforms] = keys
        return make_json_key(_transform(rules, value)) in keys


def _transform(rules: Rules, value: JsonValue) -> JsonValue:
    """Return a value with the transforms of its place; unchanged if a user's transform raises an error."""
    if not rules.transforms:
        return value
    try:
        return map_scalars(value, rules.transform)
    except Exception:  # noqa: BLE001 - user code; the scorer records the error
        return value


def make_absent_values(options: Options) -> AbsentValues | None:
    """Return the absent values by the options `nulls` and `absent`; None without any."""
    values = (*options.absent, None) if options.nulls == "absent" else options.absent
    return AbsentValues(values) if values else None
