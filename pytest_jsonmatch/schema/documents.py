"""The sources of a schema, its documents, and the targets of the `$ref`s in them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, final
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from pytest_jsonmatch.engine.value.convert import MAX_DEPTH, TOO_DEEP, Matcher
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonParseError, did_you_mean
from pytest_jsonmatch.engine.value.named import import_object, names_object
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import render, shorten
from pytest_jsonmatch.schema.keywords import COMPARATORS, Schema
from pytest_jsonmatch.support.atomic import read_file

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.paths import Segment


class PydanticModel(Protocol):
    """A class with a JSON Schema: a pydantic model."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema."""


SchemaSource: TypeAlias = "Mapping[str, Any] | bool | str | os.PathLike[str] | type[PydanticModel]"
"""A JSON Schema as a mapping, the path of a JSON file, or a pydantic model class."""

_NAMELESS: Final = "urn:pytest-jsonmatch:schema"
"""The address of a schema that is not a file."""
_INSTANCES: Final = frozenset({"enum", "const", "default", "examples"})
"""Keywords with plain values: an `$id` in them has no meaning."""
_MOST_LISTED: Final = 20
"""The maximum number of violations to list for one answer."""
_LONGEST: Final = 200


class _DocumentPosition(NamedTuple):
    """The position of an object in a document."""

    address: str
    """The address of the document."""
    path: tuple[Segment, ...]
    base: str
    """The base address of references in the object."""


@final
class Documents:
    """A schema and the files that it refers to; each file is read when a reference first needs it.

    Args:
        root: the schema.
        path: the file of the schema; None if it is not in a file.
        folders: the folders that must contain, at any depth, the files that it refers to; None for no limit.
    """

    def __init__(self, root: Schema, path: Path | None, folders: tuple[str, ...] | None = None) -> None:
        self.root = root
        self.path = path
        self.folders = folders
        self.by_address: dict[str, Schema] = {}
        self.contents: dict[Path, bytes] = {}
        """The contents of the files that were read."""
        self._named: dict[str, Schema] = {}
        self._positions: dict[int, _DocumentPosition] = {}
        self._add(root, _NAMELESS if path is None else path.resolve().as_uri())

    @classmethod
    def open(cls, source: SchemaSource, folders: tuple[str, ...] | None = None) -> Documents:
        """Return the documents of a schema from any source; the schema itself is not changed.

        Raises:
            ConfigurationError: `source` is not a schema, or its file can't be read.
        """
        if not isinstance(source, (str, os.PathLike)):
            return cls(plain_copy(_schema_of(source)), None, folders)
        if isinstance(source, str) and source.lstrip()[:1] in {"{", "["}:
            raise ConfigurationError(
                "a schema given as text is the path of a file, or a pydantic model as module:Model; "
                f"parse this JSON first: {source[:40]!r}"
            )
        if isinstance(source, str) and names_object(source):
            return cls(plain_copy(_schema_of(import_object(source))), None, folders)
        path = Path(source)
        content, root = _read_file(path)
        documents = cls(root, path, folders)
        documents.contents[path] = content
        return documents

    def target(self, schema: dict[str, Any]) -> Schema:
        """Return the schema that another schema's `$ref` refers to.

        Raises:
            ConfigurationError: the reference does not resolve, or its target is not a schema.
        """
        reference = schema["$ref"]
        if not isinstance(reference, str):
            raise ConfigurationError(f"$ref must be text such as '#/$defs/item', got {reference!r}")
        base = self._positions[id(schema)].base
        address, _, fragment = _resolve_address(base, reference).partition("#")
        try:
            document = self._named[address] if address in self._named else self.read(address)
        except ConfigurationError as error:
            raise ConfigurationError(f"$ref {reference!r} does not resolve: {error}") from None
        if fragment and not fragment.startswith("/"):
            raise ConfigurationError(f"$ref {reference!r}: write a JSON pointer, such as '#/$defs/item'")
        target: Any = _follow_pointer(document, fragment, reference)
        if not isinstance(target, (dict, bool)):
            raise ConfigurationError(
                f"$ref {reference!r} leads to {json.dumps(target)[:40]}, which is not a schema"
            )
        return target

    def read(self, address: str) -> Schema:
        """Return the document at an address; only files are read, nothing is fetched from the network.

        Raises:
            ConfigurationError: the file is missing, outside the allowed folders, or not JSON.
        """
        address = urldefrag(address)[0]
        if address in self.by_address:
            return self.by_address[address]
        if not address.startswith("file:"):
            raise ConfigurationError(
                f"{address!r} is not a file, and nothing is fetched from the network: put the schema "
                "under $defs, or in a file next to one that is given by its path"
            )
        _, host, name, *_ = urlsplit(address)
        path = Path(url2pathname(name if host in {"", "localhost"} else f"//{host}{name}"))
        if self.folders is not None and "\0" not in str(path):
            real = path.resolve()
            if not any(real.is_relative_to(Path(folder).resolve()) for folder in self.folders):
                raise ConfigurationError(f"{real} is outside of {self.folders[0]}; move the file into it")
        self.contents[path], document = _read_file(path)
        self._add(document, address)
        return document

    def location(self, schema: dict[str, Any]) -> str:
        """Return the address, with a JSON pointer, of an object in one of the documents."""
        position = self._positions[id(schema)]
        keys = [str(key).replace("~", "~0").replace("/", "~1") for key in position.path]
        return "/".join([f"{position.address}#", *(quote(key, safe="~", errors="replace") for key in keys)])

    def digest(self) -> str:
        """Return a hash of all documents that does not depend on the order of keys."""
        first, *others = self.by_address
        copies = [json_copy(self.by_address[address]) for address in (first, *sorted(others))]
        text = "\n".join(map(render, copies))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def validator(self, address: str) -> Any:
        """Return the validator of the schema at an address; references are resolved relative to the address.

        Raises:
            ConfigurationError: the schema is not valid.
        """
        import jsonschema_rs

        dialect = self.root.get("$schema") if isinstance(self.root, dict) else None
        reference = {"$ref": address, **({"$schema": dialect} if _is_known(dialect) else {})}
        try:
            return jsonschema_rs.validator_for(reference, registry=self._registry)
        except jsonschema_rs.ValidationError as error:
            pointer = "".join(f"/{key}" for key in error.instance_path)
            message = f"not a valid JSON Schema: {error.message} (at {pointer})"
            raise ConfigurationError(message) from None
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    @cached_property
    def _registry(self) -> Any:
        """The documents as the registry of the validator, which reads other files when it needs them."""
        import jsonschema_rs

        return jsonschema_rs.Registry(
            [(address, _to_plain_document(document)) for address, document in self.by_address.items()],
            retriever=lambda address: _to_plain_document(self.read(address)),
        )

    def _add(self, document: Schema, address: str) -> None:
        """Add a document: note the positions of its objects, and the objects that have an address."""
        self.by_address[address] = self._named[address] = document
        self._note(document, (), address, address)

    def _note(self, value: Any, path: tuple[Segment, ...], address: str, base: str) -> None:
        if type(value) is dict:
            name = value.get("$id")
            if isinstance(name, str):
                name = _resolve_address(base, name)
                base = urldefrag(name)[0]
                self._named.setdefault(name.rstrip("#"), value)
            self._positions[id(value)] = _DocumentPosition(address, path, base)
        members = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
        for key, item in members:
            if key not in _INSTANCES:
                self._note(item, (*path, key), address, base)


@final
class Violations:
    """Lists the violations of a whole schema in a value; the validator is made for the first value."""

    def __init__(
        self,
        root: Schema,
        path: Path | None,
        folders: tuple[str, ...] | None,
        others: tuple[Schema, ...] = (),
    ) -> None:
        """Prepare the validation; a value that one of the `others` accepts has no violations."""
        self._given = root, path, folders
        self._other_schemas = others
        self._others = tuple(Violations(other, path, folders) for other in others)

    def __call__(self, value: Any) -> tuple[str, ...] | None:
        """Return the violations of the schema in a value, each with its path; None if it can't be validated.

        Raises:
            ConfigurationError: the schema is not a valid JSON Schema.
        """
        violations = self._find(value)
        for other in self._others if violations else ():
            if (found := other(value)) is not None and len(found) < len(violations or ()):
                violations = found
        return violations

    def _find(self, value: Any) -> tuple[str, ...] | None:
        if self._validator is None or not is_validatable(value):
            return None
        violations: list[str] = []
        for error in self._validator.iter_errors(value):
            if len(violations) == _MOST_LISTED:
                violations.append("… and more")
                break
            violations.append(f"{format_path(error.instance_path)}: {shorten(error.message, _LONGEST)}")
        return tuple(violations)

    @cached_property
    def _validator(self) -> Any:
        """The validator; None for a schema that it does not support."""
        documents = Documents(*self._given)
        if not is_validatable(documents.root):
            return None
        return documents.validator(next(iter(documents.by_address)))

    def __reduce__(self) -> Any:
        return Violations, (*self._given, self._other_schemas)


def _resolve_address(base: str, reference: str) -> str:
    """Return the address of a reference that is relative to another address."""
    # `urljoin` does not support URNs.
    return urldefrag(base)[0] + reference if reference[:1] in {"#", ""} else urljoin(base, reference)


def _follow_pointer(document: Schema, pointer: str, reference: str) -> Any:
    target: Any = document
    for step in pointer.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if type(target) is dict and key in target:
            target = target[key]
        elif type(target) is list and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            hint = did_you_mean(key, target) if type(target) is dict else ""
            raise ConfigurationError(f"$ref {reference!r} does not resolve: there is no {key!r}{hint}")
    return target


def _read_file(path: Path) -> tuple[bytes, Schema]:
    """Return the content of a schema file and the schema in it.

    Raises:
        ConfigurationError: the file can't be read, or is not a JSON Schema; the message names the file.
    """
    from pytest_jsonmatch.reading.strict import parse_json

    try:
        content = read_file(path)
    except FileNotFoundError:
        near = [entry.name for entry in path.parent.glob("*.json")] if path.parent.is_dir() else []
        raise ConfigurationError(
            f"schema file {str(path)!r} does not exist{did_you_mean(path.name, near[:200])}"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"schema file {str(path)!r} cannot be read: {reason}") from None
    try:
        document = parse_json(content)
    except JsonParseError as error:
        raise ConfigurationError(f"schema file {str(path)!r}: {error}") from None
    if not isinstance(document, (dict, bool)):
        raise ConfigurationError(
            f"schema file {str(path)!r} does not contain a JSON Schema: it must be an object, true or false"
        )
    return content, document


def _schema_of(source: object) -> Mapping[str, Any] | bool:
    if isinstance(source, (Mapping, bool)):
        return source
    if isinstance(source, type) and callable(getattr(source, "model_json_schema", None)):
        return model_schema(source)
    raise ConfigurationError(
        "a schema must be a dict, the path of a JSON file or a pydantic model class, "
        f"got {type(source).__name__}"
    )


@lru_cache(maxsize=256)
def model_schema(model: Any) -> dict[str, Any]:
    """Return the schema of a pydantic model's JSON, created once for each class.

    The names of members that have aliases are under `NAMES`, Decimals have the comparator `numeric`, and sets
    (only for them does pydantic write `uniqueItems`) are unordered.
    """
    first, *others = _write_schemas(model)
    schema: dict[str, Any] = json.loads(json.dumps(first))
    for other in others:
        _annotate(schema, other)
    return schema


@lru_cache(maxsize=256)
def other_model_schemas(model: Any) -> tuple[dict[str, Any], ...]:
    """Return the other schemas by which an answer is valid: of what the model reads, and by name."""
    first, *others = _write_schemas(model)
    return tuple(schema for number, schema in enumerate(others) if schema not in (first, *others[:number]))


def _write_schemas(model: Any) -> list[dict[str, Any]]:
    """Return the schemas of what pydantic writes, by alias and by name, and of what it reads."""
    write = model.model_json_schema
    if not hasattr(model, "__pydantic_serializer__"):
        return [write()]
    by_alias = model.model_config.get("serialize_by_alias") is not False
    schemas = []
    for mode in ("serialization", "validation"):
        for names in (by_alias, not by_alias):
            with suppress(Exception):  # of pydantic: a type has no schema in one of the modes
                schemas.append(write(by_alias=names, mode=mode))
    return schemas or [write()]


NAMES: Final = "x-python-names"
"""The keyword for other names of members, each with the name under which the member is listed."""


def _annotate(schema: Any, other: Any) -> None:
    """Add to the schema of a model what another schema of the model shows: names, Decimals, and sets."""
    if type(schema) is list and type(other) is list:
        for one, two in zip(schema, other, strict=False):
            _annotate(one, two)
    if type(schema) is not dict or type(other) is not dict:
        return
    listed, others = schema.get("properties"), other.get("properties")
    if type(listed) is dict and type(others) is dict and len(listed) == len(others):
        names = {two: one for one, two in zip(listed, others, strict=True) if one != two}
        if names:
            schema[NAMES] = {**schema.get(NAMES, {}), **names}
        _annotate(list(listed.values()), list(others.values()))
    elif type(listed) is dict and type(others) is dict:  # what is computed is only written
        for name in listed.keys() & others.keys():
            _annotate(listed[name], others[name])
    for keyword in schema.keys() & other.keys() - {"properties", NAMES}:
        if keyword in {"$defs", "patternProperties"}:
            for name in schema[keyword].keys() & other[keyword].keys():
                _annotate(schema[keyword][name], other[keyword][name])
        elif keyword in {"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf"}:
            _annotate(schema[keyword], other[keyword])
    written, read = _list_types(schema), _list_types(other)
    is_decimal = "string" in written and "number" not in written and read == written | {"number"}
    if is_decimal and schema.keys().isdisjoint(COMPARATORS):
        schema["x-eval-compare"] = "numeric"
    if schema.get("uniqueItems") is True and schema.get("type") == "array":
        schema.setdefault("x-eval-align", "unordered")


def _list_types(schema: dict[str, Any]) -> set[str]:
    """Return the types of a schema's own alternatives; of strings only those without a format."""
    branches = schema.get("anyOf", [schema])
    return {
        branch.get("type", "") if type(branch.get("type")) is str and "format" not in branch else ""
        for branch in branches
        if type(branch) is dict
    }


def json_copy(document: Schema) -> Any:
    """Return a document as JSON with sorted keys; functions are replaced by their names."""
    return json.loads(json.dumps(document, sort_keys=True, default=_named))


def _named(value: Any) -> str:
    if type(value) is Matcher:
        raise ValueError("a matcher has no type")
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"


def plain_copy(value: Any, path: tuple[Segment, ...] = ()) -> Any:
    """Copy a schema, or the part of one at `path`; values that are not containers are shared.

    Raises:
        ConfigurationError: the schema is too deep, or has a key that is not a string.
    """
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    if len(path) >= MAX_DEPTH:
        where = format_path(path)
        raise ConfigurationError(
            f"the schema has {TOO_DEEP} at {where}; put parts under $defs, and refer to them with $ref "
            "(as one that contains itself must)"
        )
    if not isinstance(value, Mapping):
        return [plain_copy(item, (*path, index)) for index, item in enumerate(value)]
    for key in value:
        if not isinstance(key, str):
            raise ConfigurationError(
                f"the schema has the key {key!r} ({type(key).__name__}); the keys of a schema are strings"
            )
    return {str(key): plain_copy(item, (*path, key)) for key, item in value.items()}


def _to_plain_document(document: Schema) -> Any:
    """Return a document in the form that the validator needs: plain JSON, in a dialect that it supports."""
    if not is_validatable(document):
        raise ConfigurationError("the validator does not support schemas with lone surrogates")
    copy = json.loads(json.dumps(document, default=_named), object_hook=_encode_reference)
    if isinstance(copy, dict) and not _is_known(copy.get("$schema")):
        copy.pop("$schema", None)
    return copy


def _encode_reference(members: dict[str, Any]) -> dict[str, Any]:
    """Percent-encode a `$ref`, since the validator needs ASCII addresses."""
    if isinstance(reference := members.get("$ref"), str):
        members["$ref"] = quote(reference, safe=_ADDRESS)
    return members


def _is_known(dialect: object) -> bool:
    return "json-schema.org/" in str(dialect)


def is_validatable(value: Any) -> bool:
    r"""Return whether the validator supports a JSON value: it does not accept lone surrogates and matchers.

    >>> is_validatable({"a": ["b"]}), is_validatable({"a": ["\ud800"]})
    (True, False)
    """
    try:
        json.dumps(value, ensure_ascii=False, default=_named).encode()
    except ValueError:
        return False
    return True


_ADDRESS: Final = "".join(map(chr, range(0x21, 0x7F)))
