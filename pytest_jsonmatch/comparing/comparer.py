"""A metric with its options, compiled once and cached; every comparison uses one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.comparing.running import current_run
from pytest_jsonmatch.engine.ask.rounds import score_all_with_answers, score_with_answers
from pytest_jsonmatch.engine.plan.compile import compile_plan
from pytest_jsonmatch.engine.plan.options import ALIASES
from pytest_jsonmatch.engine.plan.registry import get_registry_state
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.result.validity import check_validate, check_validity
from pytest_jsonmatch.engine.score.documents import score
from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    JsonParseError,
    RootTypeError,
    UnlistedFieldError,
    choose_words,
    warn_caller,
)
from pytest_jsonmatch.engine.value.matchers import to_expected
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.results.answer import unwrap_answer
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.score.walkstate import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.models import Marked
    from pytest_jsonmatch.engine.value.paths import Segment
    from pytest_jsonmatch.semantic.bench import Bench

_NO_OPTIONS: Final[Mapping[str, Any]] = {}
TEXT: Final = (str, bytes, bytearray)
"""The types of text: model output as actual, JSON text or a string as expected."""
_MAX_CACHED: Final = 256
_cache: Final[dict[Any, Comparer]] = {}


@final
class Comparer:
    """A metric with its options, checked and compiled, for one comparison or for many.

    Get one with `of`. The judge is not part of a comparer: each comparison may have its own.
    """

    def __init__(self, metric: str, options: Mapping[str, Any], schema: SchemaNode | None) -> None:
        remaining = dict(options)
        self.repair: Any = remaining.pop("repair", False)
        """Whether broken JSON in answers is repaired."""
        if not isinstance(self.repair, bool):
            raise ConfigurationError(f"repair must be True or False, got {self.repair!r}")
        self.validate: Any = remaining.pop("validate", "off")
        """How answers are checked against the schema; see `engine.result.validity`."""
        check_validate(self.validate, remaining.get("schema"))
        if schema is not None:
            remaining["schema"] = schema
        self.plan: Plan = compile_plan(metric, remaining)
        plan = self.plan
        self.is_plain: bool = plan.walks_whole_documents and not (
            plan.has_batch or plan.prepares or plan.reads_texts or plan.open_rules
        )
        """Whether a walk alone scores two JSON values: no questions, no conversion of text, no open rules."""

    def warn_without_schema(self) -> None:
        """Warn that answers are not validated if they should be, but there is no schema."""
        if self.validate != "report" or self.plan.schema is not None:
            return
        problem = choose_words(
            "validate is 'report', but there is no schema to validate against",
            "there is no --schema to validate answers against",
        )
        warn_caller(f"{problem}: nothing is validated")

    @classmethod
    def of(cls, metric: str, options: Mapping[str, Any] = _NO_OPTIONS) -> Comparer:
        """Return the comparer of a metric with options, created once for each hashable combination.

        Args:
            metric: the metric's name.
            options: the metric's options, including `schema` in any of its forms, `repair` and `validate`.

        Raises:
            ConfigurationError: an unknown metric, option, comparator, transform or pattern; an invalid
                schema or value of an option.

        >>> Comparer.of("leaf_f1", {"skip": ["id"]}) is Comparer.of("leaf_f1", {"skip": ["id"]})
        True
        """
        schema = _parse_schema(metric, options)
        try:
            frozen = _freeze({**options, "schema": None}) if options else None
            key: Any = metric, get_registry_state(), schema, frozen
            comparer = _cache.get(key)
        except TypeError:
            key, comparer = None, None
        if comparer is None:
            comparer = cls(metric, options, schema)
            comparer.plan.recipe = partial(get_plan, metric, options)
            if key is not None:
                if len(_cache) >= _MAX_CACHED:
                    _cache.clear()
                _cache[key] = comparer
        if comparer.plan.nodes != comparer.plan.last_nodes:
            comparer.plan.limit_nodes()
        return comparer

    def read(
        self, actual: object, expected: JsonValue, judge: object = None
    ) -> tuple[JsonValue, tuple[str, ...]]:
        """Return the JSON value of an answer, and warnings from its extraction; MISSING stays MISSING.

        Raises the same errors as `compare_json`.
        """
        if actual is MISSING or not isinstance(actual, TEXT):
            return (MISSING if actual is MISSING else to_json_value(actual, side="actual")), ()
        from pytest_jsonmatch.reading.answers import read_text

        score = partial(self._score_value, expected, judge)
        return read_text(self.plan, actual, expected, score, repair=self.repair)[:2]

    def read_without_expected(self, actual: object, *, refuse_broken: bool) -> JsonValue:
        """Return the JSON value of an answer without an expected value, to write it as one.

        Text without JSON is a string; `refuse_broken` makes it an error if it begins with `{` or `[`.
        Raises the same errors as `compare_json`.
        """
        value = unwrap_answer(actual)
        if not isinstance(value, TEXT):
            return to_json_value(value)
        from pytest_jsonmatch.reading.answers import read_without_expected

        return read_without_expected(value, repair=self.repair, refuse_broken=refuse_broken)

    def reads_strings(self, expected: JsonValue) -> bool:
        """Return whether text answers may be strings, by the expected value, alternatives and the schema."""
        from pytest_jsonmatch.reading.answers import list_admitted_types

        return "string" in list_admitted_types(self.plan, expected)

    def compare(self, actual: object, expected: JsonValue, judge: object = None) -> MatchResult:
        """Score as `compare_json` does, except that `expected` is a JSON value: a str is a JSON string.

        `actual` may be MISSING: an unreadable answer, in which all of expected is missing.
        """
        plan = self.plan
        if judge is not None:
            check_judge(judge)
        if self.is_plain and type(actual) is dict:
            value = to_json_value(actual)
            return MatchResult(plan, (expected, value), score(plan, expected, value))
        value, warnings = self.read(unwrap_answer(actual), expected, judge)
        return self.compare_value(value, expected, judge, warnings)

    def compare_value(
        self, actual: JsonValue, expected: JsonValue, judge: object = None, warnings: tuple[str, ...] = ()
    ) -> MatchResult:
        """Score two JSON values: a str is a JSON string on both sides."""
        documents = expected, actual = self._prepare_documents(expected, actual)
        outcome = self._score(expected, actual, judge)
        validity = check_validity(self.plan.schema, actual, self.validate)
        return MatchResult(self.plan, documents, outcome, warnings, validity)

    def _score(self, expected: JsonValue, actual: JsonValue, judge: object) -> Outcome:
        if self.plan.has_batch or self.plan.prepares:
            return score_with_answers(self.plan, expected, actual, self.get_bench(judge))
        return score(self.plan, expected, actual)

    def _score_value(self, expected: JsonValue, judge: object, actual: JsonValue) -> float:
        """Return the score of a JSON value; below 0 for one that the metric does not compare."""
        try:
            return self.compare_value(actual, expected, judge).score
        except (RootTypeError, UnlistedFieldError):
            return -1.0

    def compare_all(
        self, pairs: Iterable[tuple[JsonValue, JsonValue]], judge: object = None
    ) -> Iterator[MatchResult | JsonMatchError]:
        """Yield the result of each pair of an answer and an expected value; questions to a judge are batched.

        If a pair can't be scored, the error is yielded in its place. An answer may be MISSING.
        """
        documents = [self._prepare_documents(expected, actual) for actual, expected in pairs]
        outcomes = score_all_with_answers(
            self.plan, [(None, *pair) for pair in documents], self.get_bench(judge)
        )
        for pair, outcome in zip(documents, outcomes, strict=True):
            yield outcome if isinstance(outcome, JsonMatchError) else MatchResult(self.plan, pair, outcome)

    def get_bench(self, judge: object) -> Bench | None:
        """Return the judges of the metric's comparators, `judge` first; None if no comparator asks one."""
        if not self.plan.has_batch:
            return None
        from pytest_jsonmatch.semantic.bench import Bench

        if isinstance(judge, Bench):
            return judge
        run = current_run()
        return Bench(judge) if run is None else run.get_bench(judge)

    def _prepare_documents(self, expected: JsonValue, actual: JsonValue) -> tuple[JsonValue, JsonValue]:
        """Return both sides with the JSON text inside them parsed, in the places where a rule requires it."""
        if not self.plan.reads_texts:
            return expected, actual
        from pytest_jsonmatch.reading.nested import parse_nested_texts

        return parse_nested_texts(self.plan, expected), parse_nested_texts(self.plan, actual)


def get_plan(metric: str, options: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options; unpickling a result in another process calls this."""
    return Comparer.of(metric, options).plan


def check_judge(judge: object) -> None:
    """Raise the ConfigurationError of an invalid judge now, not at the first question."""
    if judge is None or isinstance(judge, str):
        return
    from pytest_jsonmatch.semantic.bench import Bench, as_judge

    if isinstance(judge, type) or not (callable(judge) or isinstance(judge, Bench)):
        as_judge(judge)


def _parse_schema(metric: str, options: Mapping[str, Any]) -> SchemaNode | None:
    """Return the parsed schema; `leaf_f1` without one has an empty schema if type defaults were changed."""
    schema = options.get("schema") if options else None
    if (
        schema is None
        and ALIASES.get(metric, metric) == "leaf_f1"
        and "pytest_jsonmatch.schema" in sys.modules
    ):
        from pytest_jsonmatch.schema.defaults import changed_defaults

        # An empty schema is inferred from expected: every place has the default of its type.
        schema = {} if changed_defaults() else None
    if schema is None:
        return None
    from pytest_jsonmatch.schema.parsing import parse_eval_schema

    return parse_eval_schema(schema)


def _freeze(value: Any) -> Any:
    """Return a hashable key that is equal for equal options only."""
    kind = type(value)
    if kind is str:
        return value
    if isinstance(value, Mapping):
        return ("{}", *((key, _freeze(item)) for key, item in value.items()))
    if kind is list or kind is tuple:
        return ("[]", *map(_freeze, value))
    return (kind, value)


# -- expected values -------------------------------------------------------------------------------------


def read_expected(expected: object) -> JsonValue:
    """Return the expected JSON value as `compare_json` reads it.

    Raises the errors of `to_expected` and of `read_expected_text`.
    """
    if not isinstance(expected, TEXT):
        return to_expected(expected)
    try:
        return read_expected_text(expected)
    except JsonParseError as error:
        error.args = (f"expected is {error}",)
        raise


@final
class ExpectedValue(Frozen):
    """An expected value as JSON, with the aliases and decimals of its pydantic models."""

    __slots__ = ("aliases", "marked", "value")

    def __init__(
        self,
        value: JsonValue,
        marked: tuple[tuple[tuple[Segment, ...], Marked], ...] = (),
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.value: Final = value
        self.marked: Final = marked
        """The schema paths of numbers that pydantic writes as text, and of sets."""
        self.aliases: Final = aliases
        """The aliases of members by their names."""

    def add_rules(self, metric: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return options that compare decimals as numbers, and sets in any order, unless a schema has rules.

        A key of `arrays` pairs sets of objects, too.
        """
        if not self.marked or _parse_schema(metric, options) is not None:
            return options
        marked = self.marked
        if not isinstance(Comparer.of(metric, options).plan.options.arrays, str):
            marked = tuple(entry for entry in marked if entry[1] != "set of objects")
        return {**options, "schema": _make_schema(marked)}


def read_models(expected: object, actual: object) -> ExpectedValue:
    """Return the expected JSON value as `read_expected` does, with the members of models named as in actual.

    pydantic writes members by their aliases, or by name if the model's configuration says so; where an object
    of actual has the names only, they are written by name, too.
    """
    models: list[type] = []
    if isinstance(expected, TEXT):
        return ExpectedValue(read_expected(expected))
    value = to_expected(expected, models=models)
    if not models:
        return ExpectedValue(value)
    from pytest_jsonmatch.engine.value.models import find_aliases, find_marked, follow_names

    by_name = to_expected(expected, form="name")
    aliases = find_aliases(to_expected(expected, form="alias"), by_name)
    if aliases:
        value = follow_names(value, by_name, [_peek(unwrap_answer(actual), value)])
    marked = dict.fromkeys(find_marked(value, to_expected(expected, form="marked"), ELEMENT))
    return ExpectedValue(value, tuple(marked), aliases)


def _peek(actual: object, expected: JsonValue) -> JsonValue:
    """Return the JSON value of an answer, to see the names in it; MISSING for one without."""
    from pytest_jsonmatch.reading.extract import extract_json, kind_of

    try:
        if isinstance(actual, TEXT):
            return extract_json(actual, want=kind_of(expected)).value
        return to_json_value(actual)
    except JsonMatchError:
        return MISSING


@lru_cache(maxsize=256)
def _make_schema(marked: tuple[tuple[tuple[Segment, ...], Marked], ...]) -> SchemaNode:
    """Return a schema with the rules of decimals and sets, and anything else as without it."""
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode

    anything = SchemaNode()
    root = SchemaNode(rest=anything, digest="none")
    for path, kind in marked:
        node = root
        for segment in path:
            if segment is ELEMENT:
                node.items = node.items or SchemaNode(rest=anything)
                node = node.items
            else:
                node.properties = node.properties or {}
                node = node.properties.setdefault(str(segment), SchemaNode(rest=anything))
        node.rules = {"compare": "numeric"} if kind == "decimal" else {"align": "unordered"}
    return root


def read_expected_text(expected: str | bytes | bytearray) -> JsonValue:
    """Return the JSON value that a text means as expected.

    Text that begins with `{` or `[` must be strict JSON; a JSON string literal is that string; any other text
    is a string.

    >>> [read_expected_text(text) for text in ("[5]", "5", '"5"', '"5')]
    [[5], '5', '5', '"5']
    """
    from pytest_jsonmatch.reading.strict import SPACES, decode_text, parse_json

    text = decode_text(expected)
    first = text.removeprefix("\ufeff").lstrip(SPACES)[:1]
    try:
        if first in {"{", "[", '"'}:
            return parse_json(text)
    except JsonParseError as error:
        if first != '"':
            error.args = (f"{error}; to expect the text itself, give json.dumps(text)",)
            raise
    return text
