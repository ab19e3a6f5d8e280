"""`validate_gold`: check gold records against the eval schema that scores them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pytest_jsonmatch.engine.plan.compile import compile_plan
from pytest_jsonmatch.engine.value.convert import fits_types, to_json_value
from pytest_jsonmatch.engine.value.errors import GoldValidationError, JsonMatchWarning, did_you_mean
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.reading.frames import to_rows
from pytest_jsonmatch.reading.nested import parse_nested_texts
from pytest_jsonmatch.schema.parsing import parse_eval_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.paths import Segment
    from pytest_jsonmatch.schema.documents import SchemaSource


class GoldWarning(JsonMatchWarning):
    """A gold record looks wrong but can be scored: a value has an undeclared type, or a field is missing."""


@final
class _Problem(NamedTuple):
    kind: str
    """`extra`, `type` or `missing`."""
    path: tuple[Segment, ...]
    message: str


def validate_gold(
    gold: Iterable[object],
    schema: SchemaSource | SchemaNode,
    id: str | None = None,
    warn_missing: bool = True,
    strict_types: bool = False,
) -> None:
    """Check gold records against an eval schema.

    A field that the schema does not list is an error, since it has no rules. Values of an undeclared type and
    missing listed fields are warnings: one `GoldWarning` for each field. Null is allowed everywhere.

    Args:
        gold: the records, each with a JSON form; an iterator is read once.
        schema: an eval schema: an argument or a result of `parse_eval_schema`.
        id: the member with a record's id (text or an integer), which may be missing from the schema; by
            default the id is the record's number, from 1.
        warn_missing: warn about listed fields that a record does not have.
        strict_types: treat a value of an undeclared type as an error.

    Raises:
        GoldValidationError: (a ValueError) a record has a field that is not in the schema, or no id; or, with
            `strict_types`, a value of an undeclared type. It has `record_id` and `path`.
        ConfigurationError: the schema is not valid.

    >>> validate_gold([{"name": "Ada", "born": 1815}], {"properties": {"name": {"type": "string"}}})
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.GoldValidationError: record 1: 'born' is not in the schema; known: name; \
list it, or add it with "x-eval-skip": true
    """
    node = parse_eval_schema(schema)
    plan = compile_plan("leaf_f1", {"schema": node})
    ignored = frozenset() if id is None else frozenset({id})
    warned: dict[tuple[str, str], list[Any]] = {}
    for number, record in enumerate(to_rows(gold), 1):
        value = parse_nested_texts(plan, to_json_value(record, side="expected"))
        record_id = number if id is None else _record_id(value, number, id)
        for problem in _problems(node, value, (), ignored):
            if problem.kind == "extra" or (problem.kind == "type" and strict_types):
                where = format_path(problem.path)
                raise GoldValidationError(
                    f"record {record_id!r}: {where!r} {problem.message}", record_id, where
                )
            if problem.kind == "type" or warn_missing:
                path = format_path([ELEMENT if isinstance(key, int) else key for key in problem.path])
                entry = warned.setdefault((path, problem.kind), [0, record_id, problem])
                entry[0] += 1
    for (path, _), (count, first_id, problem) in warned.items():
        times = "once" if count == 1 else f"{count} times"
        first = f"in record {first_id!r} at {format_path(problem.path)!r}"
        message = f"{path}: {problem.message} ({times}{', first ' if count > 1 else ' '}{first})"
        warnings.warn(message, GoldWarning, stacklevel=2)


def _record_id(record: Any, number: int, id: str) -> str | int:
    if type(record) is not dict or id not in record:
        raise GoldValidationError(f"record {number}: the id field {id!r} is missing", number, id)
    record_id: str | int = record[id]
    if type(record_id) not in {str, int}:
        message = f"record {number}: the id field {id!r} must be a string or integer, got {record_id!r:.40}"
        raise GoldValidationError(message, number, id)
    return record_id


def _problems(
    node: SchemaNode, value: Any, path: tuple[Segment, ...], ignored: frozenset[str]
) -> Iterator[_Problem]:
    """Yield the problems of a value, in document order; members in `ignored` are allowed at the top only."""
    if value is None or node.rules.get("skip"):
        return
    if node.branches:
        branch = next((branch for accepts, branch in node.branches if accepts(value)), None)
        if branch is not None:
            yield from _problems(branch, value, path, ignored)
        else:
            yield _Problem("type", path, "matches none of the alternatives in the schema")
    elif not fits_types(value, node.types):
        yield _Problem("type", path, f"is not of type {' or '.join(sorted(node.types))}")
    elif "compare" not in node.rules:
        if type(value) is dict and (node.properties is not None or node.rest is not None):
            yield from _member_problems(node, value, path, ignored)
        elif type(value) is list and node.items is not None:
            for index, item in enumerate(value):
                yield from _problems(node.items, item, (*path, index), frozenset())


def _member_problems(
    node: SchemaNode, value: dict[str, Any], path: tuple[Segment, ...], ignored: frozenset[str]
) -> Iterator[_Problem]:
    listed = node.properties or {}
    value = {key if key in listed else node.names.get(key, key): item for key, item in value.items()}
    for key in () if node.rest else value:
        if key not in listed and key not in ignored:
            hint = did_you_mean(key, listed)
            message = f'is not in the schema{hint}; list it, or add it with "x-eval-skip": true'
            yield _Problem("extra", (*path, key), message)
    for key, member in listed.items():
        if key not in value and not member.rules.get("skip"):
            yield _Problem("missing", (*path, key), "is missing and is not scored there")
    for key, item in value.items():
        child = listed.get(key) or (None if key in ignored else node.rest)
        if child is not None:
            yield from _problems(child, item, (*path, key), frozenset())
