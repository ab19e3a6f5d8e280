"""`parse_eval_schema`: check a JSON Schema with `x-eval-*` keys, and turn it into a tree for plans."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

from pytest_jsonmatch.engine.plan.binding import bind_comparator, bind_transforms, warn_about_full_enum
from pytest_jsonmatch.engine.plan.registry import get_active_registry, get_registry_state
from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchWarning
from pytest_jsonmatch.engine.value.named import import_object, names_object
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.schema.defaults import changed_defaults, fitted_defaults
from pytest_jsonmatch.schema.documents import (
    NAMES,
    Documents,
    Violations,
    is_validatable,
    model_schema,
    other_model_schemas,
)
from pytest_jsonmatch.schema.flattening import AllOf, AnyOf, SchemaReader
from pytest_jsonmatch.schema.keywords import check_root
from pytest_jsonmatch.support.atomic import read_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.value.paths import Segment
    from pytest_jsonmatch.schema.documents import SchemaSource
    from pytest_jsonmatch.schema.flattening import Branch, FlatSchema, Subschema

_MAX_CACHED: Final = 128


@final
@dataclass(frozen=True, slots=True)
class _Parsed:
    node: SchemaNode
    state: int
    contents: dict[Path, bytes]

    def is_current(self) -> bool:
        """Return whether the registry and the files are unchanged."""
        return self.state == get_registry_state() and all(
            _content(path) == content for path, content in self.contents.items()
        )


_cache: Final[dict[Any, _Parsed]] = {}


def parse_eval_schema(
    schema: SchemaSource | SchemaNode, *, folders: tuple[str, ...] | None = None
) -> SchemaNode:
    """Check an eval schema and return it as a tree of nodes.

    All errors of the schema are raised here, not while scoring.

    Args:
        schema: a JSON Schema (draft-07 to 2020-12) with `x-eval-*` keys, as a dict, the path of a JSON file,
            or a pydantic model class or its name, `module:Model`; it is not changed. A tree is returned
            unchanged.
        folders: the folders that must contain, at any depth, the files of each `$ref`; None for no limit.

    Returns:
        The root. The same schema gives the same tree, until something is registered. The `digest` of the root
        is a hash of the schema and the files that it refers to; the signatures of results contain it.

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
    if isinstance(schema, str) and names_object(schema):
        schema = cast("SchemaSource", import_object(schema))
    key = _key(schema)
    if key is not None:
        key = key, folders
    kept = _cache.get(key) if key is not None else None
    if kept is not None and kept.is_current():
        return kept.node
    state = get_registry_state()
    documents = Documents.open(schema, folders)
    reader = SchemaReader(documents)
    node = _node_tree(reader)
    node.digest = documents.digest()
    others = other_model_schemas(schema) if isinstance(schema, type) else ()
    node.violations = Violations(documents.root, documents.path, folders, others)
    if key is not None:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[key] = _Parsed(node, state, documents.contents)
    return node


def _key(source: object) -> Any:
    """Return a cache key that identical schemas share; None if there is no cheap one.

    It is computed for every comparison, so by C code: the hash in signatures would be too slow.
    """
    is_model = isinstance(source, type) and callable(getattr(source, "model_json_schema", None))
    if is_model:
        source = model_schema(source)
    if isinstance(source, (dict, bool)):
        try:
            return is_model, json.dumps(source)
        except (TypeError, ValueError, RecursionError):
            return None
    return Path(source).absolute() if isinstance(source, (str, Path)) else None


def _content(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None


def walk(reader: SchemaReader) -> dict[FlatSchema, tuple[Segment, ...]]:
    """Return the flat schemas of all subschemas, each with the first path to it, the root first.

    Raises:
        ConfigurationError: the schema is not valid; the message begins with the path.
    """
    try:
        check_root(reader.documents.root)
    except ConfigurationError as error:
        raise with_path(error, ()) from None
    paths: dict[FlatSchema, tuple[Segment, ...]] = {}
    queue: list[tuple[Subschema, tuple[Segment, ...]]] = [(reader.root, ())]
    for subschema, path in queue:
        try:
            flat = reader.flat(subschema)
        except ConfigurationError as error:
            raise with_path(error, path) from None
        except RecursionError:
            message = "too many combined schemas (allOf, anyOf, $ref) inside each other"
            raise with_path(ConfigurationError(message), path) from None
        if flat not in paths:
            paths[flat] = path
            queue += [(child, path if step is None else (*path, step)) for step, child in flat.children()]
    for oddity in dict.fromkeys(reader.oddities):
        warnings.warn(oddity, JsonMatchWarning, stacklevel=2)
    return paths


def _node_tree(reader: SchemaReader) -> SchemaNode:
    paths = walk(reader)
    registry = get_active_registry()
    for json_type, comparator in changed_defaults().items():
        bind_comparator(comparator, registry, f"default of type {json_type!r}")
    nodes = {flat: _node(flat) for flat in paths}

    def node_of(subschema: Subschema) -> SchemaNode:
        return nodes[reader.flat(subschema)]

    for flat, path in paths.items():
        node = nodes[flat]
        if "compare" in flat.rules:
            bound = bind_comparator(flat.rules["compare"], registry, format_path(path))
            warn_about_full_enum(bound, node.enum, format_path(path))
        if "transform" in flat.rules:
            bind_transforms(flat.rules["transform"], registry, format_path(path))
        try:
            _check_alignment(reader, flat)
            node.branches = tuple(
                (_branch_test(branch, reader.flat(branch.node).kinds, reader.documents), node_of(branch.node))
                for branch in flat.alternatives
            )
        except ConfigurationError as error:
            raise with_path(error, path) from None
        if flat.properties is not None:
            node.properties = {name: node_of(member) for name, member in flat.properties.items()}
        node.rest = None if flat.rest is None else node_of(flat.rest)
        node.items = None if flat.items is None else node_of(flat.items)
    return node_of(reader.root)


def _branch_test(alternative: Branch, kinds: frozenset[str], documents: Documents) -> Callable[[Any], bool]:
    """Return the test of an alternative; only the type of the value is tested if that is enough.

    Args:
        alternative: the alternative.
        kinds: the types of the alternative.
        documents: the documents of the schema.

    Raises:
        ConfigurationError: the validator does not accept the schema.
    """
    if alternative.by_type:
        return lambda value: fits_types(value, kinds)
    accepts = _accepts(alternative.test, documents)
    return lambda value: accepts(value) if is_validatable(value) else fits_types(value, kinds)


def _accepts(subschema: Subschema, documents: Documents) -> Callable[[Any], bool]:
    if isinstance(subschema, (AllOf, AnyOf)):
        combine, parts = (all, subschema.parts) if isinstance(subschema, AllOf) else (any, subschema.branches)
        tests = [_accepts(part, documents) for part in parts]
        return lambda value: combine(accepts(value) for accepts in tests)
    schema = subschema.schema
    if isinstance(schema, bool):
        return lambda _: schema
    # By its address, since references are relative to that.
    is_valid: Callable[[Any], bool] = documents.validator(documents.location(schema)).is_valid
    return is_valid


def _node(flat: FlatSchema) -> SchemaNode:
    return SchemaNode(
        types=flat.kinds,
        additional=flat.additional,
        rules=flat.rules,
        enum=None if flat.enum is None else tuple(flat.enum),
        type_default=fitted_defaults(flat.kinds),
        description=_describe(flat.notes),
        names=flat.notes.get(NAMES, {}),
    )


def _describe(notes: dict[str, Any]) -> str | None:
    """Return the title and the description of a schema as one text; None without both."""
    texts = [notes[key] for key in ("title", "description") if isinstance(notes.get(key), str) and notes[key]]
    return ": ".join(texts) or None


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


def with_path(error: ConfigurationError, path: tuple[Segment, ...]) -> ConfigurationError:
    """Return an error whose message begins with a path."""
    return ConfigurationError(f"{format_path(path)}: {error}")
