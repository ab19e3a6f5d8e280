"""The tree of schema paths, whose nodes are created when first needed; and leaf counts."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.plan.fieldrules import (
    IGNORED,
    KINDS,
    advance,
    find_strongest_words,
    get_kind,
    rules_vary_by_kind,
)
from pytest_jsonmatch.engine.plan.options import read_spec, read_transforms
from pytest_jsonmatch.engine.plan.valuerules import RuleWords
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.support.frozen import Frozen, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.engine.comparators.base import BoundComparator
    from pytest_jsonmatch.engine.plan.fieldrules import OpenRules, PlanBase, ValueKind
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.plan.valuerules import ValueRules
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Segment


class _Undecided(dict["Segment", "PlanNode"]):
    """The child nodes of a node by key, or by ELEMENT, created when first needed."""

    __slots__ = ("_node",)

    def __init__(self, node: PlanNode) -> None:
        super().__init__()
        self._node = node

    def __missing__(self, segment: Segment) -> PlanNode:
        node = self._node
        child = PlanNode(
            node.plan, node, segment, node.make_child_spec(segment), (node, "undecided", segment)
        )
        self[segment] = child
        return child


@final
class NodeSpec(Frozen):
    """Everything needed to create a node, except its location."""

    __slots__ = ("kind", "schema", "unlisted")

    def __init__(
        self, schema: SchemaNode | None, unlisted: bool = False, kind: ValueKind | None = None
    ) -> None:
        self.schema: Final = schema
        self.unlisted: Final = unlisted
        """Whether this is a member that the schema does not list."""
        self.kind: Final = kind
        """The kind of the values here; None for any."""


@final
class PlanNode:
    """A schema path in the tree of a plan, with the rules for scoring the values there."""

    __slots__ = (
        "_alternatives",
        "_kinds",
        "_path",
        "depth",
        "open_rules",
        "origin",
        "parent",
        "place",
        "plan",
        "rules",
        "segment",
        "spec",
        "undecided",
        "varies",
        "varies_by_kind",
        "weight",
    )

    def __init__(
        self,
        plan: PlanBase,
        parent: PlanNode | None,
        segment: Segment,
        spec: NodeSpec,
        origin: tuple[PlanNode, str, Any] | None = None,
    ) -> None:
        """Create a node.

        Args:
            plan: the plan whose tree this is.
            parent: the node of the object or array around it; None for the root.
            segment: the key of the member, or ELEMENT.
            spec: the specification of the place.
            origin: the node that creates this one, the name of that node's collection, and the key there.
        """
        self.plan: PlanBase = plan
        self.parent: PlanNode | None = parent
        self.segment: Segment = segment
        self.spec: NodeSpec = spec
        self.origin: tuple[PlanNode, str, Any] | None = origin
        self.undecided: _Undecided = _Undecided(self)
        """The child nodes by key, or by ELEMENT, before `choose`: for code that chooses by two values or that
        looks at many; all other code calls `iter_children`."""
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._path: str | None = None
        self._alternatives: list[PlanNode] | None = None
        self._kinds: dict[ValueKind, PlanNode] | None = None
        self.place: PlanNode = self
        """The node for this schema path in aggregates, shared by its alternatives."""
        if origin is not None and origin[1] != "undecided":
            self.place = origin[0].place
        elif parent is not None and parent.place is not parent:
            self.place = parent.place.undecided[segment]
        self.open_rules: OpenRules = (
            plan.open_rules if parent is None else advance(parent.open_rules, segment)
        )
        """The rules that may match at this place or below."""
        self.varies_by_kind: bool = spec.kind is None and rules_vary_by_kind(self.open_rules)
        """Whether the rules here depend on the kind of a value."""
        self.varies: bool = self.varies_by_kind or bool(spec.schema is not None and spec.schema.branches)
        """Whether the rules depend on the value: `choose` returns the node for a value."""
        strongest = find_strongest_words(self.open_rules, spec.kind)
        if self.varies_by_kind:
            strongest = RuleWords(weight=strongest.weight)
        above = None if parent is None else parent.rules
        checked = self.varies or spec.unlisted
        self.rules: ValueRules = plan.get_value_rules(spec.schema, strongest, above, checked=checked)
        self.weight: float = self.rules.weight if parent is None else parent.weight * self.rules.weight
        """The product of the weights from the root to this place."""
        plan.nodes += 1

    @property
    def schema(self) -> SchemaNode | None:
        """The schema of this place."""
        return self.spec.schema

    @property
    def unlisted(self) -> bool:
        """Whether this is a member that the schema does not list."""
        return self.spec.unlisted

    @property
    def alternatives(self) -> list[PlanNode]:
        """The nodes for the schema's alternatives at this place."""
        if self._alternatives is None:
            branches = () if self.spec.schema is None or self.varies_by_kind else self.spec.schema.branches
            specs = [replace(self.spec, schema=schema) for _, schema in branches]
            self._alternatives = [
                PlanNode(self.plan, self.parent, self.segment, spec, (self, "alternatives", number))
                for number, spec in enumerate(specs)
            ]
        return self._alternatives

    @property
    def kinds(self) -> dict[ValueKind, PlanNode]:
        """The nodes for each kind of value, if the rules here depend on it."""
        if self._kinds is None:
            self._kinds = {
                kind: PlanNode(
                    self.plan, self.parent, self.segment, replace(self.spec, kind=kind), (self, "kinds", kind)
                )
                for kind in KINDS
            }
        return self._kinds

    def make_child_spec(self, segment: Segment) -> NodeSpec:
        """Return the specification of a child."""
        schema = self.spec.schema
        if schema is None or segment is ELEMENT:
            return NodeSpec(None if schema is None else schema.items)
        listed = schema.properties
        if listed is not None:
            name = segment if segment in listed else schema.names.get(str(segment))
            if name in listed:
                return NodeSpec(listed[name])
        if schema.rest is not None or listed is None:
            return NodeSpec(schema.rest)
        if self.plan.options.unlisted == "reject" and schema.additional is True:
            return NodeSpec(IGNORED)
        return NodeSpec(None, unlisted=True)

    def is_beyond_schema(self) -> bool:
        """Return whether this is a member that the schema does not list, or is below such a member."""
        return any(node.unlisted for node in self._iter_upwards())

    def list_members(self) -> list[str]:
        """Return the names of the members that the schema lists below this place."""
        return [] if self.schema is None else list(self.schema.properties or ())

    def choose(self, expected: JsonValue, actual: JsonValue = MISSING) -> PlanNode:
        """Return the node for two values; expected decides, or actual if expected has no value.

        That is the first alternative of the schema that accepts the value. If none does, or for a matcher, it
        is this node, or that of the value's kind if rules vary by kind.
        """
        if not self.varies:
            return self
        value = actual if expected is MISSING else expected
        node = self.kinds[get_kind(value)] if self.varies_by_kind else self
        while node.varies and type(value) is not Matcher:
            tests = () if node.spec.schema is None else node.spec.schema.branches
            number = next((index for index, (accepts, _) in enumerate(tests) if accepts(value)), None)
            if number is None:
                break
            node = node.alternatives[number]
        return node

    def iter_children(self, value: JsonValue) -> Iterator[tuple[str | int, PlanNode, JsonValue]]:
        """Yield the key or index, the node that is chosen, and the value of each member or element.

        Of a scalar, nothing.
        """
        undecided = self.undecided
        if type(value) is dict:
            for key, item in value.items():
                child = undecided[key]
                yield key, child.choose(item) if child.varies else child, item
        elif type(value) is list:
            element = undecided[ELEMENT]
            for index, item in enumerate(value):
                yield index, element.choose(item) if element.varies else element, item

    @property
    def description(self) -> str | None:
        """The schema's description of this place; an element without one has the description of its array."""
        for node in self._iter_upwards():
            text = None if node.schema is None else node.schema.description
            if text is not None or node.segment is not ELEMENT:
                return text
        return None

    @property
    def path(self) -> str:
        """The schema path as text."""
        if self._path is None:
            self._path = format_path(self.get_segments())
        return self._path

    def get_segments(self) -> tuple[Segment, ...]:
        """Return the segments of the schema path."""
        return tuple(node.segment for node in self._iter_upwards())[-2::-1]

    def _iter_upwards(self) -> Iterator[PlanNode]:
        node: PlanNode | None = self
        while node is not None:
            yield node
            node = node.parent

    def __repr__(self) -> str:
        return f"<PlanNode {self.path}>"

    def __reduce__(self) -> Any:
        steps: list[tuple[str, Any]] = []
        node = self
        while node.origin is not None:
            node, collection, key = node.origin
            steps.append((collection, key))
        return _find_node, (self.plan, steps[::-1])


def _find_node(plan: Any, steps: list[tuple[str, Any]]) -> PlanNode:
    """Return the node that steps lead to from a plan's root."""
    node: PlanNode = plan.root
    for collection, key in steps:
        node = getattr(node, collection)[key]
    return node


@final
class LeafCount(NamedTuple):
    """The number of leaves of a value, and their weight relative to the weight of the value's place."""

    number: int
    weight: float


def refuse_matchers(bound: BoundComparator, path: str, value: JsonValue) -> None:
    """Raise a ConfigurationError for a matcher in an expected value that a comparator compares as a whole."""
    if type(value) is Matcher:
        name = bound.comparator.name
        message = (
            f"{path}: {name!r} compares this value as a whole, so no matcher can be inside it: {value!r}"
        )
        raise ConfigurationError(message)
    if type(value) is dict or type(value) is list:
        for item in value.values() if type(value) is dict else value:
            refuse_matchers(bound, path, item)


LeafCache: TypeAlias = "dict[tuple[PlanNode, int, bool], LeafCount]"
"""The leaf counts of containers, by place, identity, and whether the container is in expected."""


def count_leaves(node: PlanNode, value: JsonValue, cache: LeafCache, *, of_expected: bool) -> LeafCount:
    """Count the leaves of a container: scalars, values compared as a whole, and maybe empty containers.

    Args:
        node: the place of the container.
        value: an object or array.
        cache: caches the counts of the container and of all containers in it.
        of_expected: whether the container is in expected, where optional members and elements do not count.
    """
    key = node, id(value), of_expected
    if key in cache:
        return cache[key]
    options = node.plan.options
    absent = node.plan.absent
    members = value if absent is None else absent.remove_from(node, value)
    number, weight = (1, 1.0) if options.empties == "leaf" and not members else (0, 0.0)
    for _, child, member in node.iter_children(members):
        if child.rules.skip or (of_expected and child.rules.may_lack(member)):
            continue
        if (
            type(member) is not dict and type(member) is not list
        ) or child.rules.explicit_comparator is not None:
            number += 1
            weight += child.rules.weight
        else:
            leaves = count_leaves(child, member, cache, of_expected=of_expected)
            number += leaves.number
            weight += child.rules.weight * leaves.weight
    cache[key] = LeafCount(number, weight)
    return cache[key]


def leaf_count(node: PlanNode, value: JsonValue, cache: LeafCache, *, of_expected: bool) -> float:
    """Return the weighted leaf count of a value that has no partner.

    If the schema has alternatives, the value is counted under the alternative that it chooses.

    Args:
        node: the place of the value, whose own weight is left out.
        value: any value.
        cache: caches the counts of all containers in the value.
        of_expected: whether the value is in expected, where optional members and elements do not count.
    """
    child = node.choose(value)
    if child.rules.skip:
        return 0.0
    weight = get_chosen_weight(node, child)
    if (type(value) is not dict and type(value) is not list) or child.rules.explicit_comparator is not None:
        return weight
    return weight * count_leaves(child, value, cache, of_expected=of_expected).weight


def get_chosen_weight(node: PlanNode, chosen: PlanNode) -> float:
    """Return the weight of an alternative of the schema relative to the weight of the place itself."""
    return chosen.rules.weight / node.rules.weight if chosen is not node and node.rules.weight else 1.0


def upper_bound(node: PlanNode, value: JsonValue, cache: dict[tuple[PlanNode, int], float]) -> float:
    """Return the share of a value of actual in the upper bound of a pair's weighted score.

    Every match is a leaf of the value, or a container that matches as a whole.

    Args:
        node: the place of the value, whose own weight is left out.
        value: any value.
        cache: caches the results for containers.
    """
    return max(get_chosen_weight(node, variant) for variant in _get_variants(node)) * _compute_bound(
        node, value, cache
    )


def _compute_bound(node: PlanNode, value: JsonValue, cache: dict[tuple[PlanNode, int], float]) -> float:
    if type(value) is not dict and type(value) is not list:
        return 1.0
    key = node, id(value)
    if key not in cache:
        bound = 1.0
        for variant in _get_variants(node):
            total = 0.0
            for child, member in _iter_undecided(variant, value):
                total += max(option.rules.weight for option in _get_variants(child)) * _compute_bound(
                    child, member, cache
                )
            bound = max(bound, total)
        cache[key] = bound
    return cache[key]


def _get_variants(node: PlanNode) -> list[PlanNode]:
    """Return a node and its alternatives in the schema; only the node if the plan has no weights."""
    if node.varies_by_kind:
        return _get_variants(node.kinds["full"])  # weights don't depend on the kind
    # Without weights, alternatives have equal bounds.
    return [node, *node.alternatives] if node.plan.weighted else [node]


def _iter_undecided(node: PlanNode, value: JsonValue) -> Iterator[tuple[PlanNode, JsonValue]]:
    """Return the members or elements of a value with their nodes, for which no alternative is chosen."""
    if type(value) is dict:
        return zip(map(node.undecided.__getitem__, value), value.values())
    return zip(repeat(node.undecided[ELEMENT]), value)


def get_weight_between(base: PlanNode, node: PlanNode) -> float:
    """Return the weight of a node relative to that of its ancestor `base`."""
    if base.weight:
        return node.weight / base.weight
    weight, above = 1.0, node
    while above.depth > base.depth and above.parent is not None:
        weight *= above.rules.weight
        above = above.parent
    return weight


def add_transforms(rule: Mapping[str, Any], node: PlanNode) -> dict[str, Any]:
    """Return a rule for a place, with the transforms that apply there before those of the rule.

    A rule's transforms would otherwise replace those of weaker rules, of the schema and of the metric.
    """
    if "transform" not in rule:
        return dict(rule)
    earlier = _list_transforms(node)
    added = read_transforms("transform", rule["transform"])
    return {**rule, "transform": [*earlier, *(spec for spec in added if spec not in earlier)]}


def _list_transforms(node: PlanNode) -> list[Any]:
    """Return the transforms at a place as they are written in a rule, a schema or an option."""
    place: PlanNode | None = node
    options = node.plan.options
    while place is not None:
        words = [
            options.fields[rule.pattern.text]
            for rule in place.open_rules
            if rule.words.transform is not None and rule.pattern.accepts(rule.positions)
        ]
        if place.spec.schema is not None:
            words.insert(0, place.spec.schema.rules)
        listed = [rule["transform"] for rule in words if "transform" in rule]
        if listed:
            # Texts are parsed at the place of the rule only, not below it.
            specs = read_transforms("transform", listed[-1])
            return [
                spec
                for spec in specs
                if place is node or read_spec("transform", spec, "transform").name != "parse_json"
            ]
        place = place.parent
    return list(options.transform)
