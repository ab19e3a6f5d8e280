"""Tests of a value against the branches of a union: by type if that is enough, else by `jsonschema-rs`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import quote

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.schema.documents import json_copy
from pytest_jsonmatch.schema.places import AllOf, AnyOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.schema.documents import Schema
    from pytest_jsonmatch.schema.places import Alternative, Place, Reader

_DEEPEST: Final = 200
"""Deeper values and schemas are kept from the validator, whose recursion would crash the process."""


@final
class Tests:
    """Makes the tests of one schema's alternatives."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def of(self, alternative: Alternative) -> Callable[[Any], bool]:
        """Return the test of one alternative.

        Raises:
            ConfigurationError: the validator refuses the schema.
        """
        kinds = self._reader.flat(alternative.node).kinds
        if alternative.by_type:
            return lambda value: fits_types(value, kinds)
        accepts = self._accepts(alternative.test)
        return lambda value: accepts(value) if is_validatable(value) else fits_types(value, kinds)

    def _accepts(self, place: Place) -> Callable[[Any], bool]:
        if isinstance(place, AllOf):
            every = [self._accepts(part) for part in place.parts]
            return lambda value: all(accepts(value) for accepts in every)
        if isinstance(place, AnyOf):
            some = [self._accepts(branch) for branch in place.branches]
            return lambda value: any(accepts(value) for accepts in some)
        schema = place.schema
        if isinstance(schema, bool):
            return lambda _: schema
        return self._validator(schema)

    def _validator(self, schema: dict[str, Any]) -> Callable[[Any], bool]:
        """Return the validator of a schema in one of the documents."""
        import jsonschema_rs

        # By its address, so that its references are resolved relative to it.
        reference = {"$ref": self._reader.documents.location(schema), **self._dialect}
        try:
            validator = jsonschema_rs.validator_for(reference, registry=self._registry)
        except jsonschema_rs.ValidationError as error:
            at = "".join(f"/{key}" for key in error.instance_path)
            raise ConfigurationError(f"not a valid JSON Schema: {error.message} (at {at})") from None
        except ValueError as error:
            raise ConfigurationError(str(error)) from None
        return validator.is_valid

    @cached_property
    def _dialect(self) -> dict[str, str]:
        root = _prepared(self._reader.documents.root)
        return {"$schema": root["$schema"]} if isinstance(root, dict) and "$schema" in root else {}

    @cached_property
    def _registry(self) -> Any:
        """The registry of the documents, which reads other files."""
        import jsonschema_rs

        documents = self._reader.documents
        return jsonschema_rs.Registry(
            [(address, _prepared(document)) for address, document in documents.by_address.items()],
            retriever=lambda address: _prepared(documents.read(address)),
        )


def _prepared(document: Schema) -> Any:
    """Return a document as the validator needs it: plain JSON, of a dialect that it knows."""
    copy = json_copy(document)
    if not is_validatable(copy):
        raise ConfigurationError(
            f"alternatives here need a validator, which takes schemas of up to {_DEEPEST} levels"
        )
    if isinstance(copy, dict) and "json-schema.org/" not in str(copy.get("$schema")):
        copy.pop("$schema", None)
    waiting = [copy]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            waiting.extend(value.values())
            if isinstance(reference := value.get("$ref"), str):
                # The validator accepts addresses in ASCII only.
                value["$ref"] = quote(reference, safe=_ADDRESS)
        elif type(value) is list:
            waiting.extend(value)
    return copy


def is_validatable(value: Any) -> bool:
    r"""Tell whether a JSON value may reach the validator: 200 levels at most, and no lone surrogates.

    >>> is_validatable({"a": ["b"]}), is_validatable({"a": ["\ud800"]})
    (True, False)
    """
    level = [value]
    for _ in range(_DEEPEST + 1):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                below.extend(item)
                below.extend(item.values())
            elif type(item) is list:
                below.extend(item)
            elif type(item) is str and not item.isascii() and _SURROGATE.search(item):
                return False
        if not below:
            return True
        level = below
    return False


_ADDRESS: Final = "".join(map(chr, range(0x21, 0x7F)))
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def fits_types(value: Any, types: frozenset[str]) -> bool:
    """Tell whether a JSON value has one of the JSON Schema types; an empty set allows all.

    >>> fits_types(2.0, frozenset({"integer"})), fits_types(True, frozenset({"integer", "null"}))
    (True, False)
    """
    if not types:
        return True
    kind = type(value)
    name = _NAMES.get(kind)
    if name is not None:
        return name in types
    return "number" in types or (
        "integer" in types and (kind is int or (kind is float and value.is_integer()))
    )


_NAMES: Final = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
