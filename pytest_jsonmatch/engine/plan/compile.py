"""The plan of a metric with its options: compiled once and identified by a signature."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.fieldrules import PlanBase
from pytest_jsonmatch.engine.plan.known import find_known_paths
from pytest_jsonmatch.engine.plan.node import NodeSpec, PlanNode
from pytest_jsonmatch.engine.plan.options import OPTION_NAMES, PRESETS, Options
from pytest_jsonmatch.engine.plan.registry import get_active_registry
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.support.frozen import Frozen, replace

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.registry import Registry

RULES_VERSION: Final = "2"
"""The version of the scoring rules, part of every signature; increase it whenever a score may change."""

# Keys that are data (ids, dates) would fill the memory: the tree is rebuilt above this many nodes, or above
# this many times the nodes that one comparison has added.
_MAX_NODES: Final = 1000
_MAX_GROWTH: Final = 4


@final
class Signature(Frozen):
    """How a score was computed; two scores are comparable only if their signatures are equal.

    `options` is JSON text: the options that differ from the metric's preset, and the names of replaced
    built-ins. `schema` is the hash of the schema or "none". `version` is the version of the scoring rules,
    which changes whenever a score may change.

    >>> str(Signature("field_match", "", "none", "2"))
    'field_match|options:none|schema:none|rules:2'
    """

    __slots__ = ("metric", "options", "schema", "version")

    def __init__(
        self,
        metric: str,
        options: str,
        schema: str,
        version: str,
    ) -> None:
        self.metric: Final = metric
        self.options: Final = options
        self.schema: Final = schema
        self.version: Final = version

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse the text of a signature.

        >>> Signature.parse("field_match|options:none|schema:none|rules:2")
        Signature(metric='field_match', options='', schema='none', version='2')
        """
        # Options are JSON text, which may contain anything; the other parts do not.
        metric, _, rest = text.partition("|options:")
        options, _, rest = rest.rpartition("|schema:")
        schema, _, version = rest.partition("|rules:")
        return cls(metric, "" if options == "none" else options, schema, version)

    def with_options(self, options: Mapping[str, Any]) -> Signature:
        """Return the signature with additional options, whose values are JSON values."""
        known = json.loads(self.options) if self.options else {}
        return replace(self, options=_to_canonical_json({**known, **options}))

    def __str__(self) -> str:
        return f"{self.metric}|options:{self.options or 'none'}|schema:{self.schema}|rules:{self.version}"


@final
class Plan(PlanBase):
    """A metric with its options and rules, ready to score."""

    def __init__(self, metric: str, preset: Options, given: Mapping[str, Any], registry: Registry) -> None:
        super().__init__(preset, given, registry)
        self.metric = metric
        self.target: tuple[str | int, ...] = _read_target(self.options.target_key)
        schema, defaults = self.schema, {} if self.schema is None else self.schema.type_default
        self.signature: Signature = Signature(
            metric,
            _format_options(PRESETS.get(metric, Options()), self.options, defaults, registry.list_replaced()),
            "none" if schema is None else schema.digest,
            RULES_VERSION,
        )
        self.root: PlanNode = PlanNode(self, None, "$", NodeSpec(schema))
        self.known_paths: tuple[str, ...] = () if self.target else find_known_paths(self)
        """The paths of fields that are known even if no document has them."""
        self._max_nodes = _MAX_NODES
        self.last_nodes: int = self.nodes
        """The number of nodes before the last comparison."""
        walks_leaves = self.options.granularity == "leaves" and self.options.root == "any"
        self.walks_whole_documents: bool = walks_leaves and not self.target and schema is None
        """Whether the walk starts at the root of both documents, whatever their types."""

    def find_node(self, path: str) -> PlanNode:
        """Return the node of a schema path."""
        node = self.root
        for segment in parse_path(path):
            node = node.undecided[segment]
        return node

    def limit_nodes(self) -> None:
        """Rebuild the tree between comparisons if it is large; results of the old tree stay valid."""
        if self.nodes > self._max_nodes:
            growth = self.nodes - self.last_nodes
            self._max_nodes = max(self._max_nodes, _MAX_GROWTH * growth)
            if self.nodes > self._max_nodes:
                self.nodes = 0
                self.root = PlanNode(self, None, "$", NodeSpec(self.schema))
        self.last_nodes = self.nodes


def _read_target(text: str) -> tuple[str | int, ...]:
    segments = () if text == "*" else parse_path(text)
    steps = tuple(segment for segment in segments if isinstance(segment, (str, int)))
    if len(steps) < len(segments):
        raise ConfigurationError(
            f"target_key is {text!r}; it names one place: write an index, such as [0], for []"
        )
    return steps


def _format_options(
    preset: Options, options: Options, type_default: Mapping[str, Any], replaced: list[str]
) -> str:
    """Return the differences from the metric's preset, and the replaced built-ins, as canonical JSON."""
    changed: dict[str, Any] = {}
    for name in OPTION_NAMES:
        value = _to_json(getattr(options, name))
        # The signature has the schema's hash separately.
        if name != "schema" and value != _to_json(getattr(preset, name)):
            changed[name] = value
    if type_default:
        changed["type_defaults"] = _to_json(type_default)
    if replaced:
        changed["replaced"] = replaced
    return _to_canonical_json(changed) if changed else ""


def _to_canonical_json(options: Mapping[str, Any]) -> str:
    return json.dumps(options, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _to_json(value: Any) -> Any:
    """Return an option's value as a JSON value, with functions replaced by their names."""
    if isinstance(value, Mapping):
        # As pairs, since the order of field rules matters: of equally literal patterns the later one wins.
        return [[str(key), _to_json(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_json(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"


def compile_plan(metric: str, given: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options.

    Raises:
        ConfigurationError: a metric, option, comparator, transform or pattern is unknown.
    """
    registry = get_active_registry()
    return Plan(*registry.find_metric(metric), given, registry)
