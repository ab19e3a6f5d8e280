"""The rules of fields and of a schema, and the rules that match at a place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.comparators.transforms import read_as_json
from pytest_jsonmatch.engine.plan.absent import make_absent_values
from pytest_jsonmatch.engine.plan.accept import read_accept
from pytest_jsonmatch.engine.plan.binding import TypeTable, bind_comparator, bind_transforms
from pytest_jsonmatch.engine.plan.options import (
    COMPARED_TYPES,
    merge_comparators,
    merge_options,
    read_alignment,
    read_comparators,
)
from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.plan.valuerules import NO_WORDS, RuleWords, make_thresholds, make_value_rules
from pytest_jsonmatch.engine.value.errors import ConfigurationError, write_argument
from pytest_jsonmatch.engine.value.paths import parse_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from functools import partial

    from pytest_jsonmatch.engine.plan.absent import AbsentValues
    from pytest_jsonmatch.engine.plan.binding import Transforms
    from pytest_jsonmatch.engine.plan.options import Options, Spec
    from pytest_jsonmatch.engine.plan.registry import Registry
    from pytest_jsonmatch.engine.plan.valuerules import Thresholds, ValueRules
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.paths import Pattern, Segment


def bind_words(words: Mapping[str, Any], registry: Registry, where: str) -> RuleWords:
    """Return the words of a checked rule of `fields` or of a schema, bound.

    Raises:
        ConfigurationError: a comparator, transform or parameter is unknown; the message begins with `where`.
    """
    if not words:
        return NO_WORDS
    rule = dict(words)
    if "compare" in rule:
        rule["compare"] = bind_comparator(rule["compare"], registry, f"{where}compare")
    if "transform" in rule:
        transforms = bind_transforms(rule["transform"], registry, f"{where}transform")
        rule["reads_text"] = read_as_json in transforms
        rule["transform"] = transforms[1:] if rule["reads_text"] else transforms
    if "align" in rule:
        rule["align"] = read_alignment(f"{where}align", rule["align"])
    if "leaf_threshold" in rule or "match_threshold" in rule:
        given = [rule.pop(word, None) for word in ("leaf_threshold", "match_threshold")]
        rule["thresholds"] = make_thresholds(*given)
    if "accept" in rule:
        rule["accept"] = read_accept(f"{where}accept", rule["accept"])
    return RuleWords(**rule)


@final
class FieldRule(NamedTuple):
    """The rule of a pattern, and how much of the pattern the path to a place has matched."""

    pattern: Pattern
    words: RuleWords
    positions: frozenset[int]
    """The open positions of the pattern."""
    matched_above: bool = False
    """Whether the pattern matched the place around this one."""


OpenRules: TypeAlias = tuple[FieldRule, ...]
"""The rules that may match at a place or below it."""


def make_field_rules(options: Options, registry: Registry) -> OpenRules:
    """Return the rules of `skip`, `fields` and `accept` as they are at the root, the strongest last.

    Of two patterns that match, the one with more literal segments wins, then the later one.
    """
    written = [(text, RuleWords(skip=True)) for text in options.skip]
    written += [
        (text, bind_words(words, registry, f"fields[{text!r}].")) for text, words in options.fields.items()
    ]
    # The option `accept` adds to what a rule of `fields` accepts.
    written += [
        (text, RuleWords(also=read_accept(f"accept[{text!r}]", accepted)))
        for text, accepted in options.accept.items()
    ]
    patterns = [(parse_pattern(text), words) for text, words in written]
    rules = [FieldRule(pattern, words, pattern.start()) for pattern, words in patterns]
    return tuple(sorted(rules, key=lambda rule: rule.pattern.literals))


def advance(open_rules: OpenRules, segment: Segment) -> OpenRules:
    """Return the rules that are still open one segment further down."""
    return tuple(
        FieldRule(pattern, words, stepped, pattern.accepts(positions))
        for pattern, words, positions, _ in open_rules
        if (stepped := pattern.step(positions, segment))
    )


_LEAF_WORDS: Final = frozenset({"compare", "skip", "accept", "also"})
"""The words that apply to leaves only, under a pattern for leaves; other words are inherited."""
ValueKind: TypeAlias = 'Literal["full", "empty", "scalar"]'
"""A full container, an empty one, or a scalar."""
KINDS: Final[tuple[ValueKind, ...]] = ("full", "empty", "scalar")


def get_kind(value: JsonValue) -> ValueKind:
    """Return the kind of a value."""
    if type(value) is dict or type(value) is list:
        return "full" if value else "empty"
    return "scalar"


def find_strongest_words(open_rules: OpenRules, kind: ValueKind | None) -> RuleWords:
    """Return the words of the rules that match at a place; for each word, the strongest rule wins."""
    excluded_by_kind = {"scalar": frozenset[str](), "empty": _LEAF_WORDS - {"skip"}}.get(
        kind or "full", _LEAF_WORDS
    )
    words = NO_WORDS
    for rule in open_rules:
        if rule.pattern.accepts(rule.positions):
            excluded = excluded_by_kind if rule.pattern.is_for_leaves else frozenset[str]()
            # A weight applies to everything below a container, where the pattern matches again.
            excluded |= {"weight"} if rule.matched_above and rule.pattern.is_for_leaves else frozenset()
            words = words.stronger(rule.words.without(excluded))
    return words


def rules_vary_by_kind(open_rules: OpenRules) -> bool:
    """Return whether leaves and containers have different rules at a place."""
    return any(
        rule.pattern.is_for_leaves
        and rule.pattern.accepts(rule.positions)
        and not _LEAF_WORDS.isdisjoint(rule.words.given)
        for rule in open_rules
    )


class PlanBase:
    """The options of a plan, and the bound rules from the options and the schema."""

    def __init__(self, preset: Options, given: Mapping[str, Any], registry: Registry) -> None:
        """Merge the options `given` over those of a metric."""
        options = merge_options(preset, given)
        self.options: Options = options
        self.registry = registry
        self.schema: SchemaNode | None = options.schema
        self.recipe: partial[Any] | None = None
        """Makes the same plan in another process, where results are unpickled; None if that is impossible."""
        self.nodes = 0
        self.absent: AbsentValues | None = make_absent_values(options)
        self.thresholds: Thresholds = make_thresholds(options.leaf_threshold, options.match_threshold)
        self.transforms: Transforms = bind_transforms(options.transform, registry, "transform")
        if read_as_json in self.transforms:
            example = write_argument("fields", {"calls[].arguments": {"transform": ["parse_json"]}})
            raise ConfigurationError(f"transform: 'parse_json' needs a place, such as {example}")
        self._tables: dict[str, TypeTable] = {}
        self.types: TypeTable = self._get_table(options.compare)
        self.default_types: TypeTable = self.types
        self.open_rules: OpenRules = make_field_rules(options, registry)
        self.by_schema: dict[SchemaNode | None, RuleWords] = {
            None: NO_WORDS,
            IGNORED: RuleWords(**IGNORED.rules),
        }
        """The words of the schema's places, with their comparators by type."""
        for place in _iter_schema_nodes(self.schema):
            # A schema's comparators by type take precedence over the metric's, and the call's over both.
            compare = merge_comparators(
                merge_comparators(preset.compare, place.type_default), read_comparators(given)
            )
            words = bind_words(place.rules, registry, "x-eval-")
            self.by_schema[place] = self._make_tables(place, compare).stronger(words)
        rules = [*(rule.words for rule in self.open_rules), *self.by_schema.values()]
        self.weighted: bool = any(words.weight not in {None, 1.0} for words in rules)
        self.reads_texts: bool = any(words.reads_text for words in rules)
        """Whether a rule reads texts inside documents as JSON."""
        bound = [words.compare for words in rules if words.compare is not None]
        bound.extend(entry for table in self._tables.values() for entry in table.bound.values())
        self.has_batch: bool = any(entry.comparator.batch is not None for entry in bound)
        """Whether a field may have a batch comparator."""
        self.prepares: bool = any(entry.prepare is not None for entry in bound)
        """Whether a comparator prepares strings before they are compared."""

        self._value_rules: dict[Any, ValueRules] = {}

    def get_value_rules(
        self,
        schema: SchemaNode | None,
        strongest: RuleWords,
        above: ValueRules | None,
        *,
        checked: bool,
    ) -> ValueRules:
        """Return the rules of a place; places with the same words below the same rules share one object.

        Args:
            schema: the schema of the place; None if it has none.
            strongest: the words of the strongest field rules there.
            above: the rules of the place around it; None for the root.
            checked: whether the walk has to check the values there.
        """
        # The values of words are kept alive by this plan's rules, so their ids are unique.
        key = schema, above, checked, *((word, id(value)) for word, value in strongest.given.items())
        value_rules = self._value_rules.get(key)
        if value_rules is None:
            words = self.by_schema[schema].stronger(strongest)
            value_rules = make_value_rules(
                words, above or self, self.options.arrays, absent=self.absent, checked=checked
            )
            self._value_rules[key] = value_rules
        return value_rules

    def __reduce__(self) -> Any:
        if self.recipe is None:
            raise TypeError("this plan cannot be pickled; pickle its options instead")
        return self.recipe, ()

    def _make_tables(self, place: SchemaNode, compare: dict[str, Spec]) -> RuleWords:
        """Return the table for a place and below it, and the table for the place alone, if they exist."""
        default_types = self._get_table(compare) if place.type_default else None
        types: TypeTable | None = None
        declared = place.types & {"integer", "number"}
        if place.enum is not None:
            types = self._get_table(dict.fromkeys(COMPARED_TYPES, "binary"), ())
        elif len(declared) == 1:
            # A single declared type decides, not whether a value happens to have a fraction.
            integer = compare.pop("integer", None)
            if integer is not None and "integer" in declared:
                compare["number"] = integer
            cross_types = set(self.options.cross_types) - {"integer", "number"}
            if declared <= set(self.options.cross_types):
                cross_types |= {"integer", "number"}
            types = self._get_table(compare, sorted(cross_types))
        return RuleWords(default_types=default_types, types=types)

    def _get_table(
        self, compare: Mapping[str, Spec], cross_types: Collection[str] | None = None
    ) -> TypeTable:
        cross_types = self.options.cross_types if cross_types is None else cross_types
        key = f"{compare!r} {cross_types!r}"
        if key not in self._tables:
            self._tables[key] = TypeTable(compare, cross_types, self.registry)
        return self._tables[key]


IGNORED: Final = SchemaNode(rules={"skip": True})
"""Members allowed by `additionalProperties: true`, which metrics that reject unlisted members skip."""


def _iter_schema_nodes(schema: SchemaNode | None) -> Iterable[SchemaNode]:
    """Return the places of a schema, each once, even if the schema contains itself."""
    queue = [] if schema is None else [schema]
    seen: dict[SchemaNode, None] = {}
    while queue:
        place = queue.pop()
        if place not in seen:
            seen[place] = None
            queue += [*(place.properties or {}).values(), *(branch for _, branch in place.branches)]
            queue += [child for child in (place.rest, place.items) if child is not None]
    return seen
