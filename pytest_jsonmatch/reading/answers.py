"""Read a text answer where a string may be right: as a string, or as the JSON in it.

Where only objects, arrays, numbers, booleans or null may be right, the answer is the JSON that `extract_json`
finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import CONTAINERS, JSON_TYPES, Matcher, json_type
from pytest_jsonmatch.engine.value.errors import JsonExtractionError, JsonParseError
from pytest_jsonmatch.reading import strict
from pytest_jsonmatch.reading.extract import decode_answer, extract_json, kind_of
from pytest_jsonmatch.reading.landmarks import Landmarks
from pytest_jsonmatch.reading.nested import parse_nested_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.reading.extract import Want

_STRING: Final = "string"
_NO_STRINGS: Final = frozenset[str]()


@final
class TextAnswer(NamedTuple):
    """The JSON value of a text answer."""

    value: JsonValue
    warnings: tuple[str, ...] = ()
    is_string: bool = False
    """Whether the text was read as a string where a string may be right."""


def read_text(
    plan: Plan,
    text: str | bytes | bytearray,
    expected: JsonValue,
    score: Callable[[JsonValue], float],
    *,
    repair: bool = False,
) -> TextAnswer:
    """Return the JSON value of a text answer.

    Args:
        plan: the metric with its options; its alternatives and schema at the root may admit a string.
        text: the answer; bytes are UTF-8.
        expected: the expected value.
        score: scores a value against expected; decides between a string and other JSON if both may be right.
        repair: whether to repair damaged JSON.

    Raises:
        JsonExtractionError: a string can't be right, and there is no JSON in the text.
    """
    root, expected = plan.root, parse_nested_texts(plan, expected)
    is_simple = plan.schema is None and not root.varies and root.rules.accept is None
    types = _NO_STRINGS if is_simple and type(expected) in CONTAINERS else list_admitted_types(plan, expected)
    if _STRING not in types:
        want = kind_of(expected, plan.target)
        extraction = extract_json(text, want=want, repair=repair)
        return TextAnswer(extraction.value, tuple(extraction.warnings))
    text = decode_answer(text)
    string = TextAnswer(_read_string(text, _list_strings(plan, expected)), is_string=True)
    if len(types) == 1:
        return string
    try:
        extraction = extract_json(text, want=_find_want(types), repair=repair)
    except JsonExtractionError:
        return string
    kind = json_type(extraction.value)
    if kind == _STRING or kind not in types:
        return string
    other = TextAnswer(extraction.value, tuple(extraction.warnings))
    string_score, other_score = score(string.value), score(other.value)
    if string_score == other_score:
        return string if type(expected) is str else other
    return max((string_score, string), (other_score, other))[1]


def read_without_expected(
    text: str | bytes | bytearray, *, repair: bool = False, refuse_broken: bool = False
) -> JsonValue:
    """Return the JSON in a text answer, or the text as a string if there is none.

    Args:
        text: the answer; bytes are UTF-8.
        repair: whether to repair damaged JSON.
        refuse_broken: whether text that begins like an object or array and is not JSON is an error.

    >>> read_without_expected('Sure: {"n": 1}'), read_without_expected("<think>hm</think> positive")
    ({'n': 1}, 'positive')
    """
    text = decode_answer(text)
    try:
        return extract_json(text, repair=repair).value
    except JsonExtractionError:
        string = _strip(text)
        if refuse_broken and string.startswith(("{", "[")):
            raise
        return string


def list_admitted_types(plan: Plan, expected: JsonValue) -> frozenset[str]:
    """Return the JSON types that may be right at the root, by expected, alternatives and the schema."""
    types = _list_matched_types(expected)
    if plan.target or plan.options.root == "object":
        return types
    if plan.root.rules.reads_text and type(expected) is str:
        return JSON_TYPES
    if plan.schema is not None:
        types = types.union(*_iter_schema_types(plan.schema))
    accept = plan.root.choose(expected).rules.accept
    if accept is not None:
        values = (_list_matched_types(alternative.value) for alternative in accept.alternatives)
        types = types.union(*values, *(predicate.types for predicate in accept.predicates))
    return types


def _list_matched_types(expected: JsonValue) -> frozenset[str]:
    """Return the JSON types of the values that may equal expected, or that a matcher may accept."""
    return expected.types if type(expected) is Matcher else frozenset({json_type(expected)})


def _iter_schema_types(schema: SchemaNode) -> Iterator[frozenset[str]]:
    """Yield the JSON types that a schema and its alternatives list; a schema without types lists none."""
    yield frozenset("number" if name == "integer" else name for name in schema.types)
    for _, branch in schema.branches:
        yield from _iter_schema_types(branch)


def _list_strings(plan: Plan, expected: JsonValue) -> list[str]:
    """Return the strings that are right: expected, and accepted alternatives."""
    accept = plan.root.choose(expected).rules.accept
    alternatives = () if accept is None else accept.alternatives
    values = expected, *(alternative.value for alternative in alternatives)
    return [value for value in values if type(value) is str]


def _find_want(types: frozenset[str]) -> Want | None:
    """Return the kind of JSON to look for if a string or a value of this kind may be right."""
    match sorted(types - {_STRING}):
        case ["array"]:
            return "array"
        case ["object"]:
            return "object"
    return None


def _read_string(text: str, right: Collection[str]) -> str:
    """Return the string that a text means: itself if that is right, a JSON string in it, or its content."""
    if text in right:
        return text
    found = _find_string(text)
    return _strip(text) if found is None else found


def _find_string(text: str) -> str | None:
    """Return the JSON string that a text is, without reasoning around it, or that a fence contains."""
    string = _parse_string(text)
    if string is None and '"' in text:
        landmarks = Landmarks(text)
        pieces = (landmarks.find_core(), *landmarks.list_bodies())
        strings = (_parse_string(text[start:end]) for start, end in pieces)
        string = next((found for found in strings if found is not None), None)
    return string


def _parse_string(text: str) -> str | None:
    if not text.lstrip(strict.SPACES).startswith('"'):
        return None
    try:
        value = strict.read(text, strict=False).value
    except JsonParseError:
        return None
    return value if type(value) is str else None


def _strip(text: str) -> str:
    """Return a text without byte-order mark, reasoning, an enclosing fence and white space around it."""
    return "".join(text[start:end] for start, end in Landmarks(text).find_content()).strip()
