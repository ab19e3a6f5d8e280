"""What a schema can be given as (a dict, a path, a pydantic model class), and its content hash."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.schema.references import Files, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_jsonmatch.schema.references import Schema

__all__ = ["PydanticModel", "SchemaSource", "content_hash", "model_schema", "open_files", "plain_copy"]


class PydanticModel(Protocol):
    """A class with a JSON Schema: a pydantic model."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema."""


SchemaSource: TypeAlias = "Mapping[str, Any] | bool | str | os.PathLike[str] | type[PydanticModel]"
"""A JSON Schema as a mapping, the path of a JSON file, or a pydantic model class."""

_model_schemas: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()


def open_files(source: SchemaSource) -> Files:
    """Return a schema as a fresh document, with the file it was read from.

    Raises:
        ConfigurationError: `source` is nothing a schema can be given as, or the file cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        if isinstance(source, str) and source.lstrip()[:1] in {"{", "["}:
            message = f"a schema given as text is the path of a file; parse this JSON first: {source[:40]!r}"
            raise ConfigurationError(message)
        path = Path(source)
        content, document = read_file(path)
        files = Files(document, path)
        files.contents[path] = content
        return files
    return Files(plain_copy(_schema_of(source)), None)


def _schema_of(source: object) -> Mapping[str, Any] | bool:
    if isinstance(source, (Mapping, bool)):
        return source
    if isinstance(source, type) and callable(getattr(source, "model_json_schema", None)):
        return model_schema(source)
    message = (
        f"a schema is a dict, the path of a JSON file or a pydantic model class, not {type(source).__name__}"
    )
    raise ConfigurationError(message)


def model_schema(model: type) -> dict[str, Any]:
    """Return a pydantic model's JSON Schema, which is made once for each class."""
    found = _model_schemas.get(model)
    if found is None:
        make: Any = model
        found = _model_schemas[model] = make.model_json_schema()
    return found


def plain_copy(schema: Mapping[str, Any] | bool) -> Schema:
    """Copy a schema of any depth; what is no container (a tokenizer, say) is kept as it is.

    Raises:
        ConfigurationError: the schema contains itself as an object (a recursive one uses `$ref`), or has a
            key that is no string.
    """
    if isinstance(schema, bool):
        return schema
    root: dict[str, Any] = {}
    open_ids = {id(schema)}
    stack: list[tuple[Iterator[tuple[Any, Any]], Any, int]] = [(iter(schema.items()), root, id(schema))]
    while stack:
        members, target, ident = stack[-1]
        for key, value in members:
            fresh: Any
            if isinstance(value, Mapping):
                fresh, below = {}, iter(value.items())
            elif isinstance(value, (list, tuple)):
                fresh, below = [], iter(enumerate(value))
            else:
                _put(target, key, value)
                continue
            if id(value) in open_ids:
                message = f"the schema contains itself (at key {key!r}); write a recursive schema with $ref"
                raise ConfigurationError(message)
            open_ids.add(id(value))
            _put(target, key, fresh)
            stack.append((below, fresh, id(value)))
            break
        else:
            stack.pop()
            open_ids.discard(ident)
    return root


def _put(target: Any, key: Any, value: Any) -> None:
    if type(target) is list:
        target.append(value)
    elif isinstance(key, str):
        target[str(key)] = value
    else:
        message = f"the schema has the key {key!r} ({type(key).__name__}); the keys of a schema are strings"
        raise ConfigurationError(message)


def content_hash(documents: list[Schema]) -> str:
    """Return the hash of documents: the same for the same content, in whatever order the keys are."""
    text = "\n".join(render(_sorted_copy(document)) for document in documents)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _sorted_copy(document: Schema) -> Any:
    """Return a document with its keys sorted, and functions by name."""
    holder: list[Any] = []
    waiting: list[tuple[Any, Any, Any]] = [(holder, 0, document)]
    while waiting:
        target, key, value = waiting.pop()
        fresh: Any
        if type(value) is dict:
            fresh = dict.fromkeys(sorted(value))
            waiting.extend((fresh, name, item) for name, item in value.items())
        elif type(value) is list:
            fresh = [None] * len(value)
            waiting.extend((fresh, index, item) for index, item in enumerate(value))
        elif value is None or type(value) in {str, bool, int, float}:
            fresh = value
        else:
            fresh = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
        if target is holder:
            holder.append(fresh)
        else:
            target[key] = fresh
    return holder[0]
