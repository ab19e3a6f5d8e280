"""The tree of schema paths: how the values at each are scored, decided when it is first met; and leaves."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.compare.transforms import UserFunction, map_scalars
from pytest_jsonmatch.engine.plan.accept import Acceptance
from pytest_jsonmatch.engine.plan.rules import (
    FORMS,
    IGNORED,
    advance,
    depend_on_form,
    winners,
)
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.compare.base import Bound
    from pytest_jsonmatch.engine.plan.accept import Accept
    from pytest_jsonmatch.engine.plan.options import Alignment
    from pytest_jsonmatch.engine.plan.rules import Form, PlanBase, Standing, Transforms, TypeTable, UserScore
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Segment


class _Children(dict["Segment", "PlanNode"]):
    """The nodes one step from a node: by key, ELEMENT, or the number of a schema's alternative."""

    __slots__ = ("_node",)

    def __init__(self, node: PlanNode) -> None:
        super().__init__()
        self._node = node

    def __missing__(self, step: Segment) -> PlanNode:
        node = self._node
        if type(step) is int:
            schema = (node.branches or ())[step][1]
            form = [*FORMS][step] if node.by_form else node.form
            child = PlanNode(node.plan, node.parent, node.segment, Listed(schema, node.unlisted, form))
            child.place = node.place
        else:
            child = PlanNode(node.plan, node, step, node.said_of(step))
        child.origin = node, step
        self[step] = child
        return child


_ROUNDING: Final = 1e-12
"""Scores that differ by no more may be equal: tables and single scores agree to this."""


def _lowest(threshold: float | None) -> float:
    """Return the lowest score that reaches a threshold; 1 is reached by a match only."""
    if threshold is None:
        return 0.0
    return threshold - _ROUNDING if threshold < 1.0 else 1.0


@final
class Listed(NamedTuple):
    """What is known of a place when its node is made."""

    schema: SchemaNode | None
    unlisted: bool = False
    """Whether this is a member that the schema does not list."""
    form: Form | None = None
    """The form of the values here; None: any."""


class PlanNode:
    """How the values at one schema path are scored."""

    def __init__(self, plan: PlanBase, parent: PlanNode | None, segment: Segment, listed: Listed) -> None:
        self.plan = plan
        self.parent = parent
        self.segment = segment
        self.children: _Children = _Children(self)
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._path: str | None = None
        schema, unlisted, form = listed
        self.schema: SchemaNode | None = schema
        self.unlisted: bool = unlisted
        self.form: Form | None = form
        self.origin: tuple[PlanNode, Segment] | None = None
        """The node that made this one, and the step from there."""
        self.place: PlanNode = self
        """The node of this schema path in aggregates, shared by its alternatives."""
        if parent is not None and parent.place is not parent:
            self.place = parent.place.children[segment]
        above = plan if parent is None else parent
        self.standing: Standing = plan.standing if parent is None else advance(parent.standing, segment)
        self.by_form: bool = form is None and depend_on_form(self.standing)
        """Whether the rules here depend on the form of a value."""
        branches: Sequence[tuple[Callable[[Any], bool], SchemaNode | None]] = ()
        if self.by_form:
            branches = [(has_form, schema) for has_form in FORMS.values()]
        elif schema is not None:
            branches = schema.branches
        self.branches: Sequence[tuple[Callable[[Any], bool], SchemaNode | None]] | None = branches or None
        """Alternatives: the first whose test accepts expected's value applies."""
        ruled = winners(self.standing, form)
        if self.by_form:
            ruled = {word: ruled[word] for word in ("weight",) if word in ruled}
        said = {**({} if schema is None else plan.by_schema[schema]), **ruled}
        self.default_types: TypeTable = said.get("default_types", above.default_types)
        self.types: TypeTable = said.get("types", self.default_types)
        self.transforms: Transforms = said.get("transform", above.transforms)
        self.reads_text: bool = said.get("reads_text", False)
        """Whether texts here are JSON, which is read before the walk."""
        explicit: Bound | None = said.get("compare")
        behind = explicit.behind(self.prepare) if explicit and self.transforms else explicit
        self.explicit: Bound | None = behind
        of_numbers = explicit or self.types.bound["integer"]
        self.strict: bool = of_numbers.params.get("strict_number_type") is True
        """Whether 42 and 42.0 differ here."""
        self.skip: bool = said.get("skip", False)
        self.leaf_threshold: float | None = said.get("leaf_threshold", above.leaf_threshold)
        self.lowest_score: float = _lowest(self.leaf_threshold)
        """A leaf that scores less than this counts 0."""
        self.align: Alignment = said.get("align", plan.options.arrays)
        self.own_weight: float = float(said.get("weight", 1.0))
        self.weight: float = self.own_weight if parent is None else parent.weight * self.own_weight
        looked_at = self.skip or self.unlisted or self.branches
        is_safe = not (looked_at or any(isinstance(change, UserFunction) for change in self.transforms))
        reflexive = self.types.reflexive if explicit is None else explicit.comparator.reflexive
        self.plain: bool = is_safe and reflexive
        """Whether equal scalars of one type match without further checks."""
        compare = self.explicit or self.types
        can_be_quick = is_safe and compare.is_quick
        self.quick: UserScore | None = self._behind_transforms(compare.score) if can_be_quick else None
        """Scores two scalars and never fails; None if they need further checks."""
        self.accept: Acceptance | None = None
        """What else is right here; None if only the expected value is."""
        self.bare: PlanNode = self
        """The same place if only the expected value is right."""
        accepts: list[Accept] = [said[word] for word in ("accept", "also") if word in said]
        if accepts:
            self._accept(accepts[0].extended(accepts[1]) if len(accepts) > 1 else accepts[0], compare.score)
        plan.nodes += 1

    def _accept(self, accept: Accept, score: UserScore) -> None:
        """Let more than the expected value be right."""
        self.bare = object.__new__(PlanNode)
        vars(self.bare).update(vars(self))
        is_quick, is_whole = self.quick is not None, self.explicit is not None
        self.accept = Acceptance(accept, score, self.prepare, quick=is_quick, whole=is_whole)
        if is_quick:
            self.quick = self._behind_transforms(self.accept.score) if accept.is_quick else None

    def said_of(self, segment: Segment) -> Listed:
        """Return the schema of a place below, and whether it is a member that the schema does not list."""
        schema = self.schema
        if schema is None or segment is ELEMENT:
            return Listed(None if schema is None else schema.items)
        listed = schema.properties
        if listed is not None and segment in listed:
            return Listed(listed[segment])
        if schema.rest is not None or listed is None:
            return Listed(schema.rest)
        if self.plan.options.unlisted == "reject" and schema.additional is True:
            return Listed(IGNORED)
        return Listed(None, unlisted=True)

    def beyond_schema(self) -> bool:
        """Tell whether this is a member that the schema does not list, or below one."""
        return any(node.unlisted for node in self._upwards())

    def listed(self) -> list[str]:
        """Return the members that the schema lists below."""
        return [] if self.schema is None else list(self.schema.properties or ())

    def chosen(self, expected: JsonValue, actual: JsonValue) -> PlanNode:
        """Return the node for two values: expected decides, or actual if expected has no value.

        If the schema gives alternatives, it is the first that accepts the value, or this node if none does;
        for a matcher it is this node.
        """
        value = actual if expected is MISSING else expected
        node = self
        while node.branches is not None:
            if type(value) is Matcher and not node.by_form:
                break
            number = next((at for at, (accepts, _) in enumerate(node.branches) if accepts(value)), None)
            if number is None:
                break
            node = node.children[number]
        return node

    @property
    def description(self) -> str | None:
        """The schema's description of this place; an element without one has its array's."""
        for node in self._upwards():
            said = None if node.schema is None else node.schema.description
            if said is not None or node.segment is not ELEMENT:
                return said
        return None

    @property
    def path(self) -> str:
        """The schema path as text."""
        if self._path is None:
            self._path = format_path(self.segments())
        return self._path

    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of the schema path."""
        return tuple(node.segment for node in self._upwards())[-2::-1]

    def _upwards(self) -> Iterator[PlanNode]:
        node: PlanNode | None = self
        while node is not None:
            yield node
            node = node.parent

    def prepare(self, value: JsonValue) -> JsonValue:
        """Return a value after this node's transforms, or unchanged if a user's transform fails."""
        container = type(value) is dict or type(value) is list
        if value is MISSING or (self.explicit is None if container else not self.transforms):
            return value
        if type(value) is Matcher:
            return value
        try:
            return self.whole(value)
        except Exception:  # noqa: BLE001 - user code; the scorer has made an error entry of it already
            return value

    def whole(self, value: JsonValue) -> JsonValue:
        """Return a value as a comparator takes it whole: every scalar transformed, absent nulls left out.

        Raises whatever a user's transform raises.
        """
        if type(value) is not dict and type(value) is not list:
            return self._transform(value)
        if not self.transforms and not self.plan.nulls_absent:
            return value
        return map_scalars(value, self._transform, drop_nulls=self.plan.nulls_absent)

    def _transform(self, value: JsonValue) -> JsonValue:
        if value is not None:
            for transform in self.transforms:
                value = transform(value)
            if (type(value) is dict or type(value) is list) and self.explicit is None:
                raise TypeError("it made an array or object of a scalar, which needs a comparator of its own")
        return value

    def _behind_transforms(self, score: UserScore) -> UserScore:
        """Return the function that scores two values after this node's transforms."""
        if not self.transforms:
            return score
        transform = self._transform
        return lambda expected, actual: score(transform(expected), transform(actual))

    def may_lack(self, value: JsonValue) -> bool:
        """Tell whether actual may lack a value of expected here without penalty."""
        return self.accept is not None and self.accept.optional and type(value) is not Matcher

    def comparator_for(self, expected: JsonValue, actual: JsonValue) -> tuple[str | None, Mapping[str, Any]]:
        """Return the name and parameters of the comparator for two values of one type here."""
        bound = self.explicit or self.types.find(expected, actual)
        return (None, {}) if bound is None else (bound.comparator.name, bound.params)

    def __repr__(self) -> str:
        return f"<PlanNode {self.path}>"

    def __reduce__(self) -> Any:
        steps: list[Segment] = []
        node = self
        while node.origin is not None:
            node, step = node.origin
            steps.append(step)
        return _node_at, (self.plan, steps[::-1])


def _node_at(plan: Any, steps: list[Segment]) -> PlanNode:
    """Return the node that some steps lead to from a plan's root."""
    node: PlanNode = plan.root
    for step in steps:
        node = node.children[step]
    return node


@final
class Leaves(NamedTuple):
    """The number of leaves of a value, and their weight relative to that of the value's own place."""

    number: int
    weight: float


def refuse_matchers(bound: Bound, path: str, value: JsonValue) -> None:
    """Raise a ConfigurationError for a matcher in a value of expected that a comparator takes whole."""
    if type(value) is Matcher:
        name = bound.comparator.name
        message = f"{path}: {name!r} compares this value as a whole, so no matcher can stand in it: {value!r}"
        raise ConfigurationError(message)
    if type(value) is dict or type(value) is list:
        for item in value.values() if type(value) is dict else value:
            refuse_matchers(bound, path, item)


Known: TypeAlias = "dict[tuple[PlanNode, int, bool], Leaves]"
"""Leaves of containers, by their place, their identity, and whether they are of expected."""


def without_nulls(value: JsonValue) -> JsonValue:
    """Return an object without its null members; anything else unchanged."""
    if type(value) is dict and None in value.values():
        return {key: item for key, item in value.items() if item is not None}
    return value


def leaves_of(node: PlanNode, value: JsonValue, known: Known, *, of_expected: bool) -> Leaves:
    """Count the leaves of a container: scalars, values that a comparator takes whole, maybe empty containers.

    Args:
        node: its place.
        value: an object or array.
        known: caches the counts of it and of all containers in it.
        of_expected: whether it is a value of expected, whose optional members and elements do not count.
    """
    ident = node, id(value), of_expected
    if ident in known:
        return known[ident]
    options = node.plan.options
    whole = without_nulls(value) if options.nulls == "absent" else value
    number, weight = (1, 1.0) if options.empties == "leaf" and not whole else (0, 0.0)
    for child, member in _members(node, whole):
        if child.branches is not None:
            child = child.chosen(member, MISSING)  # noqa: PLW2901 - the one for this value
        if child.skip or (of_expected and child.may_lack(member)):
            continue
        if (type(member) is not dict and type(member) is not list) or child.explicit is not None:
            number += 1
            weight += child.own_weight
        else:
            leaves = leaves_of(child, member, known, of_expected=of_expected)
            number += leaves.number
            weight += child.own_weight * leaves.weight
    known[ident] = Leaves(number, weight)
    return known[ident]


def leaf_count(node: PlanNode, value: JsonValue, known: Known, *, of_expected: bool) -> float:
    """Return the weighted leaf count of a value, counted alone.

    Under alternatives of a schema, it counts as under the one that it chooses by itself.

    Args:
        node: its place, whose own weight is left out.
        value: any value.
        known: caches the counts of all containers in it.
        of_expected: whether it is a value of expected, whose optional members and elements do not count.
    """
    child = node if node.branches is None else node.chosen(value, MISSING)
    if child.skip:
        return 0.0
    weight = weight_chosen(node, child)
    if (type(value) is not dict and type(value) is not list) or child.explicit is not None:
        return weight
    return weight * leaves_of(child, value, known, of_expected=of_expected).weight


def weight_chosen(node: PlanNode, chosen: PlanNode) -> float:
    """Return the weight of an alternative of the schema relative to that of the place itself."""
    return chosen.own_weight / node.own_weight if chosen is not node and node.own_weight else 1.0


def upper_bound(node: PlanNode, value: JsonValue, known: dict[tuple[PlanNode, int], float]) -> float:
    """Return an upper bound of the weighted score of anything compared with a value of actual.

    Whatever is right there is one of its leaves, or a container that is right as a whole.

    Args:
        node: its place, whose own weight is left out.
        value: any value.
        known: caches the results for containers.
    """
    return max(weight_chosen(node, variant) for variant in _variants(node)) * _bound_in(node, value, known)


def _bound_in(node: PlanNode, value: JsonValue, known: dict[tuple[PlanNode, int], float]) -> float:
    if type(value) is not dict and type(value) is not list:
        return 1.0
    ident = node, id(value)
    if ident not in known:
        most = 1.0
        for variant in _variants(node):
            total = 0.0
            for child, member in _members(variant, value):
                total += max(each.own_weight for each in _variants(child)) * _bound_in(child, member, known)
            most = max(most, total)
        known[ident] = most
    return known[ident]


def _variants(node: PlanNode) -> list[PlanNode]:
    """Return a node and its alternatives by the schema, if they may weigh differently."""
    if node.by_form:
        return _variants(node.children[0])  # weights don't depend on the form
    # Apart from their weights they count the same.
    number = len(node.branches or ()) if node.plan.weighted else 0
    return [node, *map(node.children.__getitem__, range(number))]


def _members(node: PlanNode, value: JsonValue) -> Iterator[tuple[PlanNode, JsonValue]]:
    if type(value) is dict:
        return zip(map(node.children.__getitem__, value), value.values())
    return zip(repeat(node.children[ELEMENT]), value)


def weight_between(base: PlanNode, node: PlanNode) -> float:
    """Return the weight of a node relative to that of its ancestor `base`."""
    if base.weight:
        return node.weight / base.weight
    weight, above = 1.0, node
    while above.depth > base.depth and above.parent is not None:
        weight *= above.own_weight
        above = above.parent
    return weight
