"""Where a `$ref` leads: JSON pointers by ourselves, ids, anchors and other files by `referencing`."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, final
from urllib.parse import quote, unquote, urldefrag, urlsplit
from urllib.request import url2pathname

from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonParseError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Files", "Schema", "Scope", "library", "open_scope", "registry_of"]

Schema: TypeAlias = "dict[str, Any] | bool"

_NAMELESS: Final = "urn:pytest-jsonmatch:schema"
"""The address of a schema that is no file."""


def library(name: str) -> Any:
    """Import a library of the `schema` extra; untyped, since jsonschema ships no types.

    Raises:
        ConfigurationError: it is not installed; the message says how to install it.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        message = (
            f"this schema needs the {package} library (ids, anchors, other files, alternatives of one type); "
            'run: pip install "pytest-jsonmatch[schema]"'
        )
        raise ConfigurationError(message) from None


class Scope(Protocol):
    """Where the references of a schema are looked up."""

    def lookup(self, reference: str) -> tuple[Schema, Scope]:
        """Return the schema that a `$ref` names, and the scope of the references in it."""

    def enter(self, schema: dict[str, Any]) -> Scope:
        """Return the scope inside a schema, which may have an `$id` of its own."""


@final
class Files:
    """The files a schema was read from: their text, and where each of their schemas stands."""

    def __init__(self, root: Schema, path: Path | None) -> None:
        self.root = root
        self.address = _NAMELESS if path is None else path.resolve().as_uri()
        self.documents: dict[str, Schema] = {self.address: root}
        self.contents: dict[Path, bytes] = {}
        self.alone = True
        """Whether the document refers to nothing outside of itself."""
        self._locations: dict[int, tuple[str, _Trail]] = {}
        self._indexed: set[str] = set()

    def read(self, address: str) -> Schema:
        """Return the document at an address; only files are read, nothing is fetched from the network.

        Raises:
            ConfigurationError: no such file, or not JSON.
        """
        address = urldefrag(address)[0]
        if address in self.documents:
            return self.documents[address]
        if not address.startswith("file:"):
            hint = "; give the schema as a path, so that it is known what the $ref is relative to"
            elsewhere = "; nothing is fetched from the network, so put it in a file or under $defs"
            message = f"no schema at {address!r}{elsewhere if urlsplit(address).scheme else hint}"
            raise ConfigurationError(message)
        path = Path(url2pathname(urlsplit(address).path))
        content, document = read_file(path)
        self.contents[path] = content
        self.documents[address] = document
        return document

    def location(self, schema: dict[str, Any]) -> str:
        """Return the address, with a JSON pointer, of a schema in one of the documents."""
        for address, document in self.documents.items():
            if address not in self._indexed:
                self._indexed.add(address)
                self._locations.update(
                    (id(value), (address, trail)) for value, trail in _containers(document)
                )
        address, trail = self._locations[id(schema)]
        return f"{address}#{_pointer(trail)}"


def read_file(path: Path) -> tuple[bytes, Schema]:
    """Return a schema file's bytes and the schema in it.

    Raises:
        ConfigurationError: it cannot be read, or holds no JSON Schema; the message names the file.
    """
    from pytest_jsonmatch.reading.strict import parse_json

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        near = [entry.name for entry in path.parent.glob("*.json")] if path.parent.is_dir() else []
        message = f"schema file {str(path)!r} does not exist{did_you_mean(path.name, near[:200])}"
        raise ConfigurationError(message) from None
    except OSError as error:
        message = f"schema file {str(path)!r} cannot be read: {error.strerror or error}"
        raise ConfigurationError(message) from None
    try:
        document = parse_json(content)
    except JsonParseError as error:
        message = f"schema file {str(path)!r}: {error}"
        raise ConfigurationError(message) from None
    if not isinstance(document, (dict, bool)):
        message = f"schema file {str(path)!r} holds no JSON Schema: a schema is an object, or true or false"
        raise ConfigurationError(message)
    return content, document


def open_scope(files: Files) -> Scope:
    """Return the scope of a document's root; `referencing` is imported only for what it is needed for."""
    files.alone = not _needs_library(files.root)
    return _PointerScope(files.root) if files.alone else _LibraryScope.of(files)


@final
class _PointerScope:
    """References within one document: `#` and `#/…`."""

    __slots__ = ("_root",)

    def __init__(self, root: Schema) -> None:
        self._root = root

    def lookup(self, reference: str) -> tuple[Schema, Scope]:
        found: Any = self._root
        for part in reference.split("/")[1:]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if type(found) is dict and key in found:
                found = found[key]
            elif type(found) is list and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                hint = did_you_mean(key, found) if type(found) is dict else ""
                message = f"$ref {reference!r} leads nowhere: there is no {key!r}{hint}"
                raise ConfigurationError(message)
        return _checked(found, reference), self

    def enter(self, schema: dict[str, Any]) -> Scope:  # noqa: ARG002 - one document, one scope
        return self


@final
class _LibraryScope:
    """References as `referencing` resolves them: by id, by anchor, into other files."""

    __slots__ = ("_resolver", "_specification")

    def __init__(self, resolver: Any, specification: Any) -> None:
        self._resolver = resolver
        self._specification = specification

    @classmethod
    def of(cls, files: Files) -> Scope:
        registry, specification = registry_of(files)
        return cls(registry.resolver(base_uri=files.address), specification)

    def lookup(self, reference: str) -> tuple[Schema, Scope]:
        exceptions = library("referencing.exceptions")
        try:
            found = self._resolver.lookup(reference)
        except exceptions.Unresolvable as error:
            # What reading the file said is more to the point than that the reference is unresolvable.
            reason: BaseException | None = error
            while reason is not None and not isinstance(reason, ConfigurationError):
                reason = reason.__cause__ or reason.__context__
            message = f"$ref {reference!r} leads nowhere" + (f": {reason}" if reason else "")
            raise ConfigurationError(message) from None
        return _checked(found.contents, reference), _LibraryScope(found.resolver, self._specification)

    def enter(self, schema: dict[str, Any]) -> Scope:
        if "$id" not in schema and "id" not in schema:
            return self
        resource = self._specification.create_resource(schema)
        return _LibraryScope(self._resolver.in_subresource(resource), self._specification)


def registry_of(files: Files) -> tuple[Any, Any]:
    """Return a `referencing` registry of the documents, which reads other files, and the dialect."""
    referencing = library("referencing")
    dialects = library("referencing.jsonschema")
    written = files.root.get("$schema") if type(files.root) is dict else None
    specification = dialects.specification_with(
        written if isinstance(written, str) else "", default=dialects.DRAFT202012
    )
    resources: dict[str, Any] = {}

    def retrieve(address: str) -> Any:
        # One resource for each file: the same `$ref` has to lead to the same object.
        if address not in resources:
            document = files.read(address)
            resources[address] = referencing.Resource.from_contents(
                document, default_specification=specification
            )
        return resources[address]

    resource = specification.create_resource(files.root)
    return referencing.Registry(retrieve=retrieve).with_resource(
        files.address, resource
    ).crawl(), specification


def _checked(found: Any, reference: str) -> Schema:
    if isinstance(found, (dict, bool)):
        return found
    message = f"$ref {reference!r} leads to {json.dumps(found)[:40]}, which is no schema"
    raise ConfigurationError(message)


def _needs_library(root: Schema) -> bool:
    for value, trail in _containers(root):
        if type(value) is dict:
            reference = value.get("$ref")
            if isinstance(reference, str) and reference != "#" and not reference.startswith("#/"):
                return True
            if trail is not None and isinstance(value.get("$id"), str):
                return True
    return False


_Trail: TypeAlias = "tuple[Any, str | int] | None"
"""The way from the root, as linked pairs: text for every level would cost the square of the depth."""


def _containers(document: Any) -> Iterator[tuple[Any, _Trail]]:
    """Yield every object and array of a document with the way to it."""
    waiting: list[tuple[Any, _Trail]] = [(document, None)]
    while waiting:
        value, trail = waiting.pop()
        members: Iterable[tuple[Any, Any]]
        if type(value) is dict:
            members = value.items()
        elif type(value) is list:
            members = enumerate(value)
        else:
            continue
        yield value, trail
        waiting.extend(
            (item, (trail, key)) for key, item in members if type(item) is dict or type(item) is list
        )


def _pointer(trail: _Trail) -> str:
    parts: list[str] = []
    while trail is not None:
        trail, key = trail
        parts.append(quote(str(key).replace("~", "~0").replace("/", "~1"), safe="~"))
    return "".join(f"/{part}" for part in reversed(parts))
