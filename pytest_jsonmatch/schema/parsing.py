"""`parse_eval_schema`: check a JSON Schema with `x-eval-*` keys, and make it a tree for plans."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.binding import bind_comparator, bind_transforms, warn_about_full_enum
from pytest_jsonmatch.engine.plan.registry import get_active_registry, get_registry_state
from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.schema.defaults import changed_defaults, fitted_defaults
from pytest_jsonmatch.schema.documents import Documents, Violations, is_validatable, model_schema
from pytest_jsonmatch.schema.places import AllOf, AnyOf, SchemaReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.value.paths import Segment
    from pytest_jsonmatch.schema.documents import SchemaSource
    from pytest_jsonmatch.schema.places import Branch, FlatSchema, SchemaPlace

_MAX_KEPT: Final = 128


@final
@dataclass(frozen=True, slots=True)
class _Parsed:
    node: SchemaNode
    state: int
    contents: dict[Path, bytes]

    def holds(self) -> bool:
        """Tell whether everything it was made from is unchanged."""
        return self.state == get_registry_state() and all(
            _content(path) == content for path, content in self.contents.items()
        )


_kept: Final[dict[Any, _Parsed]] = {}


def parse_eval_schema(
    schema: SchemaSource | SchemaNode, *, folders: tuple[str, ...] | None = None
) -> SchemaNode:
    """Check an eval schema and return it as a tree of nodes, one for each place.

    Everything that is wrong with the schema is reported here, not while scoring.

    Args:
        schema: a JSON Schema (draft-07 to 2020-12) with `x-eval-*` keys, as a dict, the path of a JSON file,
            or a pydantic model class; it is not changed. A tree is returned unchanged.
        folders: the folders in or below which files must be that a `$ref` leads to; None for anywhere.

    Returns:
        The root. The same schema gives the same tree, until something is registered. The root's `digest` is a
        hash of the content, including files that it refers to; the signatures of results contain it.

    Raises:
        ConfigurationError: (a ValueError) the schema is invalid, a `$ref` does not resolve, or a rule has an
            unknown comparator, transform or parameter; the message begins with the path.

    >>> parse_eval_schema({"properties": {"age": {"type": "integer"}}}).properties["age"].types
    frozenset({'integer'})
    >>> parse_eval_schema({"type": "array", "items": {"x-eval-compare": "exakt"}})
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: []: unknown comparator 'exakt'; did you mean 'exact'?
    """
    if isinstance(schema, SchemaNode):
        return schema
    key = _key(schema)
    if key is not None:
        key = key, folders
    kept = _kept.get(key) if key is not None else None
    if kept is not None and kept.holds():
        return kept.node
    state = get_registry_state()
    documents = Documents.open(schema, folders)
    reader = SchemaReader(documents)
    node = _node_tree(reader)
    node.digest = documents.digest()
    node.violations = Violations(documents.root, documents.path, folders)
    if key is not None:
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        _kept[key] = _Parsed(node, state, documents.contents)
    return node


def _key(source: object) -> Any:
    """Return a key that identical schemas share; None if there is no cheap one.

    It is made for every comparison, so by C code: the hash in signatures would be too slow.
    """
    if isinstance(source, type) and callable(getattr(source, "model_json_schema", None)):
        source = model_schema(source)
    if isinstance(source, (dict, bool)):
        try:
            return json.dumps(source)
        except (TypeError, ValueError, RecursionError):
            return None
    return Path(source).absolute() if isinstance(source, (str, Path)) else None


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def walk(reader: SchemaReader) -> dict[FlatSchema, tuple[Segment, ...]]:
    """Return what a schema says of every place, each with the first path found to it, the root first.

    Raises:
        ConfigurationError: something in the schema is not valid; the message begins with the path.
    """
    trails: dict[FlatSchema, tuple[Segment, ...]] = {}
    waiting: list[tuple[SchemaPlace, tuple[Segment, ...]]] = [(reader.root, ())]
    for place, trail in waiting:
        try:
            flat = reader.flat(place)
        except ConfigurationError as error:
            raise named(error, trail) from None
        except RecursionError:
            message = "too many combined schemas (allOf, anyOf, $ref) inside each other"
            raise named(ConfigurationError(message), trail) from None
        if flat not in trails:
            trails[flat] = trail
            waiting += [(child, trail if step is None else (*trail, step)) for step, child in flat.children()]
    return trails


def _node_tree(reader: SchemaReader) -> SchemaNode:
    trails = walk(reader)
    registry = get_active_registry()
    for json_type, comparator in changed_defaults().items():
        bind_comparator(comparator, registry, f"default of type {json_type!r}")
    nodes = {flat: _node(flat) for flat in trails}

    def at(place: SchemaPlace) -> SchemaNode:
        return nodes[reader.flat(place)]

    for flat, trail in trails.items():
        node = nodes[flat]
        if "compare" in flat.rules:
            bound = bind_comparator(flat.rules["compare"], registry, format_path(trail))
            warn_about_full_enum(bound, node.enum, format_path(trail))
        if "transform" in flat.rules:
            bind_transforms(flat.rules["transform"], registry, format_path(trail))
        try:
            _check_alignment(reader, flat)
            node.branches = tuple(
                (_branch_test(one, reader.flat(one.node).kinds, reader.documents), at(one.node))
                for one in flat.alternatives
            )
        except ConfigurationError as error:
            raise named(error, trail) from None
        if flat.properties is not None:
            node.properties = {name: at(member) for name, member in flat.properties.items()}
        node.rest = None if flat.rest is None else at(flat.rest)
        node.items = None if flat.items is None else at(flat.items)
    return at(reader.root)


def _branch_test(alternative: Branch, kinds: frozenset[str], documents: Documents) -> Callable[[Any], bool]:
    """Return the test of one alternative: of the value's type alone if that is enough; `kinds` are its types.

    Raises:
        ConfigurationError: the validator refuses the schema.
    """
    if alternative.by_type:
        return lambda value: fits_types(value, kinds)
    accepts = _accepts(alternative.test, documents)
    return lambda value: accepts(value) if is_validatable(value) else fits_types(value, kinds)


def _accepts(place: SchemaPlace, documents: Documents) -> Callable[[Any], bool]:
    if isinstance(place, (AllOf, AnyOf)):
        together, parts = (all, place.parts) if isinstance(place, AllOf) else (any, place.branches)
        tests = [_accepts(part, documents) for part in parts]
        return lambda value: together(accepts(value) for accepts in tests)
    schema = place.schema
    if isinstance(schema, bool):
        return lambda _: schema
    # By its address, to which its references are relative.
    is_valid: Callable[[Any], bool] = documents.validator(documents.location(schema)).is_valid
    return is_valid


def _node(flat: FlatSchema) -> SchemaNode:
    return SchemaNode(
        types=flat.kinds,
        additional=flat.additional,
        rules=flat.rules,
        enum=None if flat.enum is None else tuple(flat.enum),
        type_default=fitted_defaults(flat.kinds),
        description=_described(flat.notes),
    )


def _described(notes: dict[str, Any]) -> str | None:
    """Return the title and the description of a place as one text; None if it has neither."""
    said = [notes[key] for key in ("title", "description") if isinstance(notes.get(key), str) and notes[key]]
    return ": ".join(said) or None


def _check_alignment(reader: SchemaReader, flat: FlatSchema) -> None:
    if "align" not in flat.rules:
        return
    align = flat.rules["align"]
    if flat.kinds and "array" not in flat.kinds:
        raise ConfigurationError(f"x-eval-align needs an array, got {' or '.join(sorted(flat.kinds))}")
    member = align.get("key", align.get("by")) if isinstance(align, dict) else None
    if member is None or flat.items is None:
        return
    elements = reader.flat(flat.items)
    if elements.kinds and "object" not in elements.kinds:
        kinds = " or ".join(sorted(elements.kinds))
        raise ConfigurationError(
            f"x-eval-align: only objects have a member {member!r}, and the elements are {kinds}"
        )


def named(error: ConfigurationError, trail: tuple[Segment, ...]) -> ConfigurationError:
    """Return an error whose message begins with the path of its place."""
    return ConfigurationError(f"{format_path(trail)}: {error}")
