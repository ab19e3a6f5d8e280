"""Options and field rules, compiled once into a tree of nodes that says how every field is scored.

A node is made the first time its path is met and kept for the records that follow. Everything that can be
decided once for a path is decided there: its comparators, transforms, weight, skip, alignment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.compare.transforms import UserFunction
from pytest_jsonmatch.engine.plan.options import PRESETS, Options, given_comparators, lay_over, merge_options
from pytest_jsonmatch.engine.plan.registry import active_registry, registry_state
from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path, parse_path, parse_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_jsonmatch.engine.compare.base import Comparator, EdgeFunction, FewFunction
    from pytest_jsonmatch.engine.plan.registry import Registry
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Pattern, Segment

__all__ = ["Plan", "PlanNode", "Signature", "check_defaults", "check_rule", "compile_plan"]

RULES_VERSION: Final = "1"
"""The version of the scoring rules, part of every signature: raised whenever a figure may change."""

# More nodes than this and the tree is begun anew: keys that are data (ids, dates) must not fill the memory.
_MAX_NODES: Final = 200_000
_MAX_PLANS: Final = 256
_KEPT_PATH_DEPTH: Final = 64

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NUMERIC: Final = frozenset({"integer", "number"})
_IGNORED: Final = SchemaNode(skip=True)
"""What a schema that allows additional members says of them, under a metric that ignores those."""

Score: TypeAlias = "Callable[[JsonValue, JsonValue], Any]"


@final
@dataclass(frozen=True, slots=True)
class Signature:
    """What a score was made with: two scores are comparable only if their signatures are equal.

    `options` are those that differ from the metric's preset, as text; `schema` is the hash of the schema or
    "none"; `version` is the version of the scoring rules, which changes whenever a figure may.

    >>> str(Signature("field_match", "", "none", "1"))
    'field_match|options:none|schema:none|rules:1'
    """

    metric: str
    options: str
    schema: str
    version: str

    def __str__(self) -> str:
        return f"{self.metric}|options:{self.options or 'none'}|schema:{self.schema}|rules:{self.version}"


@final
class BoundComparator:
    """A comparator with its parameters: `fn(expected, actual)` scores."""

    __slots__ = ("_edges", "_few", "_matrix", "_preload", "comparator", "fn", "params")

    def __init__(self, comparator: Comparator, params: Mapping[str, Any], fn: Score) -> None:
        self.comparator = comparator
        self.params = params
        self.fn = fn
        self._matrix: Any = None
        self._edges: Any = None
        self._few: Any = None
        self._preload: Any = None

    @property
    def batch(self) -> bool:
        """Whether it is asked about many fields in one call."""
        return self.comparator.batch is not None

    def matrix(self) -> Callable[[Sequence[JsonValue], Sequence[JsonValue]], Any] | None:
        """Return the vectorised form: two lists to the matrix of their pairs' scores; None if it has none."""
        if self._matrix is None and self.comparator.pairwise is not None:
            self._matrix = self.comparator.pairwise(self.params)
        matrix: Callable[[Sequence[JsonValue], Sequence[JsonValue]], Any] | None = self._matrix
        return matrix

    def edges(self) -> EdgeFunction | None:
        """Return what gives the pairs of two lists that do not score 0, where they are few; or None."""
        if self._edges is None and self.comparator.sparse is not None:
            self._edges = self.comparator.sparse(self.params)
        edges: EdgeFunction | None = self._edges
        return edges

    def few(self) -> FewFunction | None:
        """Return what gives the pairs of two short lists that do not score 0; or None."""
        if self._few is None and self.comparator.few is not None:
            self._few = self.comparator.few(self.params)
        few: FewFunction | None = self._few
        return few

    def preload(self) -> Callable[[Sequence[str]], object] | None:
        """Return what wants to see the strings that are about to be compared; or None."""
        if self._preload is None and self.comparator.preload is not None:
            self._preload = self.comparator.preload(self.params)
        preload: Callable[[Sequence[str]], object] | None = self._preload
        return preload

    def behind(self, transforms: tuple[Callable[[JsonValue], JsonValue], ...]) -> BoundComparator:
        """Return the comparator with the JSON values among its parameters transformed as the data are."""
        map_params = self.comparator.map_params
        if map_params is None or not transforms:
            return self

        def transformed(value: JsonValue) -> JsonValue:
            if value is not None and type(value) is not dict and type(value) is not list:
                for transform in transforms:
                    value = transform(value)
            return value

        params = map_params(self.params, transformed)
        return BoundComparator(self.comparator, params, self.comparator.bind(params))


class _Children(dict[Any, "PlanNode"]):
    """The nodes below a node; a new key makes its node."""

    __slots__ = ("_node",)

    def __init__(self, node: PlanNode) -> None:
        super().__init__()
        self._node = node

    def __missing__(self, segment: Segment) -> PlanNode:
        node = self._node
        child = self[segment] = PlanNode(node.plan, node, segment, *node.said_of(segment))
        return child

    def __reduce__(self) -> Any:
        message = "plans are compiled where they are used; send options instead"
        raise TypeError(message)


@final
class TypeTable:
    """The comparators that go by the values' types, where nothing nearer is said."""

    __slots__ = ("_integer", "_number", "_others", "batch", "by_type", "preloads", "reflexive")

    def __init__(self, compare: Mapping[str, Any], registry: Registry) -> None:
        bound = {
            kind: bind_comparator(compare.get(kind, "exact"), registry, f"compare[{kind!r}]")
            for kind in ("string", "number", "boolean", "null")
        }
        self._number = bound["number"]
        self._integer = (
            bind_comparator(compare["integer"], registry, "compare['integer']")
            if "integer" in compare
            else self._number
        )
        self._others = {str: bound["string"], bool: bound["boolean"], type(None): bound["null"]}
        self.by_type = self._dispatch()
        """The scoring function of each Python type that a JSON scalar can have."""
        self.reflexive = all(
            one.comparator.reflexive for one in (self._number, self._integer, *self._others.values())
        )
        """Whether equal scalars score 1 without asking."""
        self.batch = any(one.batch for one in (self._number, self._integer, *self._others.values()))
        """Whether one of them is a batch comparator."""
        self.preloads = self._others[str].comparator.preload is not None
        """Whether that of strings wants to see them before they are compared."""

    def find(self, expected: JsonValue, actual: JsonValue) -> BoundComparator | None:
        """Return the comparator of two values of one type; None for containers."""
        kind = type(expected)
        if kind in self._others:
            return self._others[kind]
        if kind is dict or kind is list or type(actual) in {str, bool, dict, list}:
            return None
        return self._integer if is_integral(expected) and is_integral(actual) else self._number

    def _dispatch(self) -> dict[type, Score]:
        number = self._number.fn
        if self._integer is not self._number:
            integer, fractional = self._integer.fn, self._number.fn

            def number(expected: JsonValue, actual: JsonValue) -> Any:
                fn = integer if is_integral(expected) and is_integral(actual) else fractional
                return fn(expected, actual)

        table: dict[type, Score] = {kind: bound.fn for kind, bound in self._others.items()}
        table.update({int: self._integer.fn, float: number, Decimal: number})
        return table


@final
class PlanNode:
    """How the values at one schema path are scored."""

    __slots__ = (
        "_alone",
        "_base",
        "_inherited",
        "_lone",
        "_schema",
        "_states",
        "_variants",
        "align",
        "branches",
        "by_type",
        "children",
        "depth",
        "explicit",
        "own_weight",
        "parent",
        "path",
        "place",
        "plan",
        "reflexive",
        "segment",
        "skip",
        "special",
        "sure",
        "transforms",
        "types",
        "unlisted",
        "weight",
    )

    def __init__(
        self,
        plan: Plan,
        parent: PlanNode | None,
        segment: Segment,
        schema: SchemaNode | None = None,
        unlisted: bool = False,
        variant_of: PlanNode | None = None,
    ) -> None:
        self.plan = plan
        self.parent = parent
        self.segment = segment
        self.children = _Children(self)
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.explicit: BoundComparator | None = None
        self.skip = False
        self.align: Alignment = plan.align
        self.own_weight = 1.0
        self.unlisted: bool = unlisted
        """The schema says nothing of a member here, and the metric does not take that."""
        self.branches: tuple[tuple[Callable[[JsonValue], bool], SchemaNode], ...] | None = None
        self._schema = schema
        self._variants: dict[SchemaNode, PlanNode] | None = None
        self._lone = False
        self._alone: PlanNode | None = None
        self.place: PlanNode = self
        """The node that stands for this schema path in aggregates, whatever the value made of its rules."""
        if parent is None:
            self.transforms = plan.transforms
            self._inherited = plan.types
            self._states: tuple[tuple[FieldRule, frozenset[int]], ...] = tuple(
                (rule, rule.pattern.start()) for rule in plan.rules
            )
        else:
            self.transforms = parent.transforms
            self._inherited = parent._inherited  # noqa: SLF001 - of the same class
            self._states = _advance(parent._states, segment)  # noqa: SLF001 - of the same class
            if parent.place is not parent:
                self.place = parent.place.children[segment]
        self.types = self._inherited
        self._base = variant_of
        if variant_of is not None:
            self.place = variant_of.place
        self._follow_rules()
        self.weight: float = self.own_weight if parent is None else parent.weight * self.own_weight
        plan.nodes += 1

    def alone(self) -> PlanNode:
        """Return the node by which an element is scored alone: its own weight, if 0, does not hold there."""
        if self.weight != 0.0 and self.branches is None:
            return self
        if self._alone is None:
            clone = PlanNode(self.plan, self.parent, self.segment, self._schema, self.unlisted, self)
            if clone.weight == 0.0:
                clone.weight = clone.own_weight = 1.0
            clone._lone = True
            self._alone = clone
        return self._alone

    def said_of(self, segment: Segment) -> tuple[SchemaNode | None, bool]:
        """Return what the schema says of a place below, and whether the metric refuses members there."""
        schema = self._schema
        if schema is None:
            return None, False
        if segment is ELEMENT:
            return schema.items, False
        listed = schema.properties
        if listed is not None and segment in listed:
            return listed[segment], False
        if schema.rest is not None or listed is None:
            return schema.rest, False
        if self.plan.options.unlisted == "reject" and schema.additional is True:
            return _IGNORED, False
        return None, True

    def beyond_schema(self) -> bool:
        """Tell whether this is a member that the schema does not list, or below one."""
        node: PlanNode | None = self
        while node is not None and not node.unlisted:
            node = node.parent
        return node is not None

    def listed(self) -> list[str]:
        """Return the members that the schema lists below."""
        return [] if self._schema is None else list(self._schema.properties or ())

    def chosen(self, expected: JsonValue, actual: JsonValue) -> PlanNode:
        """Return the node that holds for two values: expected decides, actual where there is no expected.

        Where the schema gives alternatives, that is the first which accepts the value; without one, this.
        """
        node = self
        while node.branches is not None:
            value = actual if expected is MISSING else expected
            schema = next((schema for accepts, schema in node.branches if accepts(value)), None)
            if schema is None:
                return node
            found = node._variant(schema)
            node = found.alone() if node._lone else found
        return node

    @property
    def description(self) -> str | None:
        """What the schema says of this place, in words; of an element without any, its array's."""
        node: PlanNode | None = self
        while node is not None:
            schema = node._schema  # noqa: SLF001 - of the same class
            said = None if schema is None else schema.description
            if said is not None or node.segment is not ELEMENT:
                return said
            node = node.parent
        return None

    def default_for(self, expected: JsonValue, actual: JsonValue) -> BoundComparator | None:
        """Return the comparator of two values' type, where nothing more particular is said."""
        return self.types.find(expected, actual)

    def _follow_rules(self) -> None:
        """Take over what the schema says of this place, and over it what the rules for this path say."""
        if self._schema is not None:
            self._follow_schema(self._schema)
        if self._states:
            for winner in _winners(self._states):
                winner.apply(self)
        if self.explicit is not None:
            self.explicit = self.explicit.behind(self.transforms)
        self.by_type = self.types.by_type
        self.reflexive = self.types.reflexive
        self.special = bool(
            self.skip
            or self.explicit
            or self.transforms
            or not self.reflexive
            or self.unlisted
            or self.branches is not None
        )
        self.sure = (
            not (self.skip or self.unlisted or self.branches)
            and (self.reflexive if self.explicit is None else self.explicit.comparator.reflexive)
            and not (
                self.transforms and any(isinstance(transform, UserFunction) for transform in self.transforms)
            )
        )
        """Whether equal scalars of one type match without a further look."""

    def _follow_schema(self, schema: SchemaNode) -> None:
        plan = self.plan
        if schema.type_default:
            self._inherited = plan.types_over(schema.type_default)
        declared = schema.types & _NUMERIC
        if schema.enum:
            self.types = plan.exact_types()
        elif len(declared) == 1:
            # One type declared means that rules go by it, not by whether a value happens to have a fraction.
            self.types = plan.types_over(schema.type_default, *declared)
        else:
            self.types = self._inherited
        if schema.compare is not None:
            self.explicit = plan.comparator_of(schema)
        if schema.transform is not None:
            self.transforms = bind_transforms(schema.transform, plan.registry, self.path)
        if schema.align is not None:
            self.align = read_alignment(schema.align, self.path)
        self.skip = schema.skip
        self.own_weight = schema.weight
        self.branches = schema.branches or None

    if TYPE_CHECKING:
        path: str
        """The schema path as text."""

    def __getattr__(self, name: str) -> str:
        # A slot not filled yet: made text when somebody asks for it, it is read by C code from then on.
        if name != "path":
            raise AttributeError(name)
        text = format_path(self.segments())
        if self.depth <= _KEPT_PATH_DEPTH:
            self.path = text
        return text

    def short_path(self, limit: int) -> str:
        """Return the schema path, cut after `limit` levels."""
        return self.path if self.depth <= limit else format_path(self.segments(), limit)

    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of the schema path."""
        segments: list[Segment] = []
        node = self
        while node.parent is not None:
            segments.append(node.segment)
            node = node.parent
        return tuple(reversed(segments))

    def prepare(self, value: JsonValue) -> JsonValue:
        """Return a value after this node's transforms, or as it is when a transform of the user's fails."""
        if value is None or value is MISSING:
            return value
        container = type(value) is dict or type(value) is list
        if container and (self.explicit is None or not (self.transforms or self.plan.nulls_absent)):
            return value
        try:
            if container:
                return self.whole(value, nulls_absent=self.plan.nulls_absent)
            return self._transform(value)
        except Exception:  # noqa: BLE001 - user code; the scorer has made an error entry of it already
            return value

    def whole(self, value: JsonValue, *, nulls_absent: bool) -> JsonValue:
        """Return a value as a comparator takes it whole: every scalar transformed, absent nulls left out.

        Raises whatever a transform of the user's raises.
        """
        kind = type(value)
        if kind is not dict and kind is not list:
            return value if value is None else self._transform(value)
        if not self.transforms and not nulls_absent:
            return value
        top: list[JsonValue] = []
        stack: list[tuple[Any, Any]] = [(top, (None, value))]
        # (What a container becomes is made before it is filled: depth costs no recursion.)
        while stack:
            into, (key, item) = stack.pop()
            fresh: Any
            if type(item) is dict:
                present = [pair for pair in item.items() if pair[1] is not None or not nulls_absent]
                fresh = dict.fromkeys(name for name, _ in present)
                stack.extend((fresh, pair) for pair in present)
            elif type(item) is list:
                fresh = [None] * len(item)
                stack.extend((fresh, pair) for pair in enumerate(item))
            else:
                fresh = item if item is None else self._transform(item)
            if key is None:
                into.append(fresh)
            else:
                into[key] = fresh
        return top[0]

    def _transform(self, value: JsonValue) -> JsonValue:
        for transform in self.transforms:
            value = transform(value)
        return value

    def comparator_for(self, expected: JsonValue, actual: JsonValue) -> tuple[str | None, Mapping[str, Any]]:
        """Return the name and parameters of the comparator that two values of one type meet here."""
        bound = self.explicit or self.types.find(expected, actual)
        return (None, {}) if bound is None else (bound.comparator.name, bound.params)

    def __repr__(self) -> str:
        return f"<PlanNode {self.short_path(20)}>"

    def __reduce__(self) -> Any:
        if self.plan.recipe is None:
            return self.children.__reduce__()
        steps: list[Segment | _Branch] = []
        node = self
        while True:
            base, parent = node._base, node.parent
            if base is not None:
                schemas = [schema for _, schema in base.branches or ()]
                if node._schema in schemas:
                    steps.append(_Branch(schemas.index(node._schema)))
                node = base
            elif parent is not None:
                steps.append(node.segment)
                node = parent
            else:
                break
        return _node_at, (self.plan.recipe, tuple(reversed(steps)))

    def _at(self, steps: tuple[Segment | _Branch, ...]) -> PlanNode:
        """Return the node that steps lead to from here."""
        node = self
        for step in steps:
            if type(step) is _Branch:
                node = node._variant((node.branches or ())[step.number][1])
            else:
                node = node.children[step]
        return node

    def _variant(self, schema: SchemaNode) -> PlanNode:
        """Return the node of one of the alternatives."""
        if self._variants is None:
            self._variants = {}
        found = self._variants.get(schema)
        if found is None:
            found = PlanNode(self.plan, self.parent, self.segment, schema, variant_of=self)
            self._variants[schema] = found
        return found


@final
class _Branch(NamedTuple):
    """The alternative that was chosen at a node."""

    number: int


def _node_at(recipe: Recipe, steps: tuple[Segment | _Branch, ...]) -> PlanNode:
    """Return a node in this process: its plan is compiled here, or has been."""
    compile_here, metric, options = recipe
    plan = compile_here(metric, options)
    plan.recipe = recipe
    return plan.root._at(steps)  # noqa: SLF001 - of this module


Recipe: TypeAlias = "tuple[Callable[[str, Mapping[str, Any]], Plan], str, Mapping[str, Any]]"
"""How another process makes the same plan: a function of a module, the metric, and the options as given."""


Alignment: TypeAlias = "str | tuple[str, str]"
"""How elements find their partners: "ordered", "unordered", ("key", NAME) or ("if_objects", NAME)."""


@final
class FieldRule:
    """What `fields` says for one pattern, each word resolved."""

    __slots__ = ("align", "explicit", "order", "pattern", "skip", "transforms", "weight", "words")

    def __init__(self, pattern: Pattern, order: int, rule: Mapping[str, Any], registry: Registry) -> None:
        where = f"fields[{pattern.text!r}]"
        self.pattern = pattern
        self.order = order
        self.words = frozenset(rule)
        self.explicit = (
            bind_comparator(rule["compare"], registry, f"{where}.compare") if "compare" in rule else None
        )
        self.transforms = bind_transforms(rule.get("transform", ()), registry, f"{where}.transform")
        self.skip = _flag(rule.get("skip", False), f"{where}.skip")
        self.weight = _weight(rule.get("weight", 1.0), f"{where}.weight")
        self.align = read_alignment(rule["align"], f"{where}.align") if "align" in rule else "ordered"

    def rank(self) -> tuple[int, int]:
        """Return what decides between patterns that match: literal segments, then the later one."""
        return self.pattern.literals, self.order


@final
class _Winner:
    """The rule that decides one word at a node."""

    __slots__ = ("_rule", "_word")

    def __init__(self, word: str, rule: FieldRule) -> None:
        self._word = word
        self._rule = rule

    def apply(self, node: PlanNode) -> None:
        rule = self._rule
        if self._word == "compare":
            node.explicit = rule.explicit
        elif self._word == "transform":
            node.transforms = rule.transforms
        elif self._word == "skip":
            node.skip = rule.skip
        elif self._word == "weight":
            node.own_weight = rule.weight
        else:
            node.align = rule.align


def _advance(
    states: tuple[tuple[FieldRule, frozenset[int]], ...], segment: Segment
) -> tuple[tuple[FieldRule, frozenset[int]], ...]:
    if not states:
        return states
    stepped = ((rule, rule.pattern.step(open_states, segment)) for rule, open_states in states)
    return tuple((rule, open_states) for rule, open_states in stepped if open_states)


def _winners(states: tuple[tuple[FieldRule, frozenset[int]], ...]) -> Iterable[_Winner]:
    if not states:
        return ()
    matching = sorted(
        (rule for rule, open_states in states if rule.pattern.accepts(open_states)), key=FieldRule.rank
    )
    best = {word: rule for rule in matching for word in rule.words}
    return [_Winner(word, rule) for word, rule in best.items()]


@final
class Plan:
    """A metric with its options and rules, ready to score."""

    __slots__ = (
        "_bound",
        "_exact",
        "_over",
        "align",
        "by_type",
        "flat",
        "has_batch",
        "metric",
        "nodes",
        "nulls_absent",
        "options",
        "preloads",
        "recipe",
        "registry",
        "root",
        "rules",
        "schema",
        "signature",
        "summaries",
        "target",
        "transforms",
        "types",
        "uniform",
        "weighted",
    )

    def __init__(
        self,
        metric: str,
        options: Options,
        registry: Registry,
        preset: Options | None = None,
        given: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """`given` are the comparators by type of the call: what a schema says of types is between the two."""
        self.metric = metric
        self.options = options
        self.registry = registry
        self.recipe: Recipe | None = None
        """How results make their way between processes; None: not at all."""
        self.schema = options.schema
        self.summaries: dict[Hashable, str] = {}
        """What sessions keep of results that are alike."""
        said = _said(self.schema)
        self._bound: dict[SchemaNode, BoundComparator] = {}
        self._exact: TypeTable | None = None
        base = options if preset is None else preset
        self._over: tuple[dict[Any, TypeTable], Mapping[str, Any], Mapping[str, Any]] = (
            {},
            base.compare,
            given,
        )
        self.nulls_absent = options.nulls == "absent"
        self.nodes = 0
        self.types = TypeTable(options.compare, registry)
        self.by_type = self.types.by_type
        self.transforms = bind_transforms(options.transform, registry, "transform")
        self.rules = tuple(
            FieldRule(parse_pattern(text), order, rule, registry)
            for order, (text, rule) in enumerate(options.fields.items())
        )
        self.uniform = not self.rules and not self.transforms and not said.more
        """Whether elements are equal if their values are, wherever they stand."""
        self.has_batch = (
            self.types.batch
            or any(rule.explicit is not None and rule.explicit.batch for rule in self.rules)
            or any(registry.is_batch(name) for name in said.comparators)
        )
        """Whether a batch comparator may be asked about a field."""
        self.preloads = (
            self.types.preloads
            or any(rule.explicit is not None and rule.explicit.comparator.preload for rule in self.rules)
            or any(registry.preloads(name) for name in said.comparators)
        )
        """Whether a comparator may want to see strings before they are compared (`preloading`)."""
        self.flat = (
            not self.rules
            and not (self.has_batch or self.preloads)
            and self.schema is None
            and self.types.reflexive
            and all(_spec_name(spec) in _STRING_TRANSFORMS for spec in options.transform)
            and options.nulls == "value"
            and options.leaf_threshold is None
            and options.target_key == "*"
        )
        """Whether two objects of scalars can be scored by `scoring.score_flat`."""
        self.weighted = said.weighted or any("weight" in rule.words for rule in self.rules)
        self.align = _global_alignment(options.arrays)
        self.target = () if options.target_key == "*" else _target(options.target_key)
        self.signature = Signature(
            metric,
            _options_text(
                PRESETS.get(metric, Options()),
                options,
                {} if self.schema is None else self.schema.type_default,
            ),
            "none" if self.schema is None else self.schema.digest,
            RULES_VERSION,
        )
        self.root = PlanNode(self, None, "$", self.schema)

    def comparator_of(self, schema: SchemaNode) -> BoundComparator:
        """Return the comparator that a place of the schema names."""
        found = self._bound.get(schema)
        if found is None:
            found = self._bound[schema] = bind_comparator(schema.compare, self.registry, "x-eval-compare")
        return found

    def exact_types(self) -> TypeTable:
        """Return the table of a place whose values are enumerated: equality for every type."""
        if self._exact is None:
            self._exact = TypeTable(
                dict.fromkeys(("string", "number", "boolean", "null"), "binary"), self.registry
            )
        return self._exact

    def types_over(self, type_default: Mapping[str, Any], declared: str = "") -> TypeTable:
        """Return the table in which defaults by type stand between the preset's and what the call gives.

        `declared` is "integer" or "number" where all numbers are to be compared as of that type.
        """
        tables, preset, given = self._over
        key = (declared, json.dumps(_plain(type_default), sort_keys=True) if type_default else "")
        found = tables.get(key)
        if found is None:
            compare = lay_over(lay_over(preset, type_default), given)
            if declared == "integer" and "integer" in compare:
                compare["number"] = compare["integer"]
            elif declared:
                compare.pop("integer", None)
            found = tables[key] = TypeTable(compare, self.registry)
        return found

    def renew(self) -> None:
        """Begin the tree anew when it has grown too large; what was scored with the old one stays valid."""
        if self.nodes > _MAX_NODES:
            self.nodes = 0
            self.root = PlanNode(self, None, "$", self.schema)


@final
class _Said(NamedTuple):
    """What a whole schema says somewhere."""

    weighted: bool = False
    more: bool = False
    """More than which members there are: equal values may not be the same, or need not be equal to be."""
    comparators: frozenset[str] = frozenset()
    """The names of the comparators that it uses."""


def _said(schema: SchemaNode | None) -> _Said:
    if schema is None:
        return _Said()
    seen = {schema}
    waiting = [schema]
    weighted = more = False
    names: set[str] = set()
    while waiting:
        node = waiting.pop()
        if node.compare is not None:
            names.add(_spec_name(node.compare))
        names.update(map(_spec_name, node.type_default.values()))
        weighted = weighted or node.weight != 1.0
        more = more or bool(
            node.skip
            or node.compare is not None
            or node.transform
            or node.align is not None
            or node.branches
            or node.additional is True
        )
        below = [*(node.properties or {}).values(), *(branch for _, branch in node.branches)]
        below.extend(one for one in (node.rest, node.items) if one is not None)
        for one in below:
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return _Said(weighted, more, frozenset(names))


def is_integral(number: JsonValue) -> bool:
    """Tell whether a number has no fraction, by value: 1.0 has none."""
    if type(number) is float:
        return number.is_integer()
    return type(number) is int or type(number) is Decimal


def bind_comparator(spec: Any, registry: Registry, where: str) -> BoundComparator:
    """Return the comparator that `spec` names, with its parameters checked.

    Raises:
        ConfigurationError: unknown name or parameter; the message begins with `where`.
    """
    name, params = _named(spec, where, "comparator")
    try:
        comparator = registry.find_comparator(name)
        fn = comparator.bind(params)
    except ConfigurationError as error:
        message = f"{where}: {error}"
        raise ConfigurationError(message) from None
    return BoundComparator(comparator, params, fn)


def bind_transforms(
    specs: Any, registry: Registry, where: str
) -> tuple[Callable[[JsonValue], JsonValue], ...]:
    """Return the functions that a list of transforms names.

    Raises:
        ConfigurationError: unknown name or parameter; the message begins with `where`.
    """
    bound: list[Callable[[JsonValue], JsonValue]] = []
    for name, params in _named_transforms(specs, where):
        try:
            bound.append(registry.find_transform(name).bind(params))
        except ConfigurationError as error:
            message = f"{where}: {error}"
            raise ConfigurationError(message) from None
    return tuple(bound)


def _named_transforms(specs: Any, where: str) -> list[tuple[str, Mapping[str, Any]]]:
    if isinstance(specs, (str, Mapping)):
        specs = (specs,)
    if not isinstance(specs, (list, tuple)):
        message = f"{where} is {specs!r}; it is a list of transforms"
        raise ConfigurationError(message)
    return [_named(spec, where, "transform") for spec in specs]


def check_rule(rule: Mapping[str, Any], where: str) -> None:
    """Check the form of a field rule, before there is a registry to look its names up in.

    Args:
        rule: words of `fields` to what each says.
        where: what errors begin with.

    Raises:
        ConfigurationError: a word's value is nothing that it can be.

    >>> check_rule({"skip": "yes"}, "fields['total']")
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: fields['total'].skip is 'yes'; it is true or false
    """
    if "compare" in rule:
        _named(rule["compare"], f"{where}.compare", "comparator")
    if "transform" in rule:
        _named_transforms(rule["transform"], f"{where}.transform")
    if "skip" in rule:
        _flag(rule["skip"], f"{where}.skip")
    if "weight" in rule:
        _weight(rule["weight"], f"{where}.weight")
    if "align" in rule:
        read_alignment(rule["align"], f"{where}.align")


def check_defaults(options: Options) -> None:
    """Check the form of the comparators and transforms among options, as `check_rule` does for a rule.

    Raises:
        ConfigurationError: one is neither a name nor a name with parameters.

    >>> check_defaults(merge_options(Options(), {"transform": [5]}))
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: transform is 5; a transform is a name, or {name: ...}
    """
    for kind, spec in options.compare.items():
        _named(spec, f"compare[{kind!r}]", "comparator")
    _named_transforms(options.transform, "transform")


# Transforms that make strings of strings and leave everything else as it is.
_STRING_TRANSFORMS: Final = frozenset(
    {
        "casefold",
        "lowercase",
        "normalize_whitespace",
        "sort_tokens",
        "strip",
        "strip_accents",
        "strip_punctuation",
        "unicode",
    }
)


def _spec_name(spec: Any) -> Any:
    return next(iter(spec), None) if isinstance(spec, Mapping) else spec


def _named(spec: Any, where: str, what: str) -> tuple[str, Mapping[str, Any]]:
    if isinstance(spec, str):
        return spec, {}
    if isinstance(spec, Mapping) and len(spec) == 1:
        ((name, params),) = spec.items()
        if isinstance(name, str) and (params is None or isinstance(params, Mapping)):
            return name, params or {}
    message = f"{where} is {spec!r}; a {what} is a name, or {{name: {{parameters}}}}"
    raise ConfigurationError(message)


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        message = f"{where} is {value!r}; it is true or false"
        raise ConfigurationError(message)
    return value


def _weight(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= sys.float_info.max:
        message = f"{where} is {value!r}; a weight is a number from 0 up"
        raise ConfigurationError(message)
    return float(value)


def _global_alignment(arrays: str | Mapping[str, str]) -> Alignment:
    return arrays if isinstance(arrays, str) else ("if_objects", arrays["key"])


def read_alignment(value: Any, where: str) -> Alignment:
    """Read a rule's `align`: as `arrays` is written, or as source 5 writes `x-eval-align`."""
    if value in ("ordered", "unordered"):
        return str(value)
    if isinstance(value, Mapping):
        content = dict(value)
        if list(content) == ["ordered"] and isinstance(content["ordered"], bool):
            return "ordered" if content["ordered"] else "unordered"
        if content == {"match_by": "ordered"}:
            return "ordered"
        if content == {"match_by": "hungarian"}:
            return "unordered"
        key = content.pop("key", None)
        if isinstance(key, str) and content in ({}, {"match_by": "key_field"}):
            return ("key", key)
        by = content.get("match_by")
        if isinstance(by, str) and by not in {"key_field", "hungarian", "ordered"}:
            message = f"{where}: match_by is {by!r}{did_you_mean(by, ('key_field', 'hungarian', 'ordered'))}"
            raise ConfigurationError(message)
    message = f"{where} is {value!r}; it can be 'ordered', 'unordered' or {{'key': NAME}}"
    raise ConfigurationError(message)


def _target(text: str) -> tuple[Segment, ...]:
    segments = parse_path(text)
    if ELEMENT in segments:
        message = f"target_key is {text!r}; it names one place: write an index, such as [0], for []"
        raise ConfigurationError(message)
    return segments


def _options_text(preset: Options, options: Options, type_default: Mapping[str, Any]) -> str:
    """Return what differs from the metric's preset, as canonical JSON."""
    changed = {
        name: _plain(getattr(options, name))
        for name in Options.__slots__
        if name not in _NO_OPTIONS and _plain(getattr(options, name)) != _plain(getattr(preset, name))
    }
    if type_default:
        changed["type_defaults"] = _plain(type_default)
    return json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False) if changed else ""


def _plain(value: Any) -> Any:
    """Return an option's value as JSON types; a function by its name."""
    if isinstance(value, Mapping):
        # Field rules keep their order (of two equally literal patterns the later one wins), so: pairs.
        return [[str(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"


# The signature has the schema's hash beside the options; memory says how a figure is found, not what it is.
_NO_OPTIONS: Final = frozenset({"schema", "memory_limit"})

_plans: Final[dict[Any, Plan]] = {}


def compile_plan(metric: str, given: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options; compiled once for each combination that is hashable.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern.
    """
    state = registry_state()
    try:
        key: Any = (metric, state, _frozen(given)) if given else (metric, state)
        found = _plans.get(key)
    except TypeError:
        key, found = None, None
    if found is None:
        registry = active_registry()
        name, preset = registry.find_metric(metric)
        found = (
            Plan(name, merge_options(preset, given), registry, preset, given_comparators(given))
            if given
            else Plan(name, preset, registry)
        )
        if key is not None:
            if len(_plans) >= _MAX_PLANS:
                _plans.clear()
            _plans[key] = found
    found.renew()
    return found


def _frozen(value: Any) -> Any:
    """Return a hashable stand-in: equal for equal options, and only for those."""
    kind = type(value)
    if kind is str:
        return value
    if isinstance(value, Mapping):
        return ("{}", *((key, _frozen(item)) for key, item in value.items()))
    if kind is list or kind is tuple:
        return ("[]", *map(_frozen, value))
    return (kind, value)
