"""Values held against JSON Schemas, or branches of one, by `jsonschema-rs`; no other files are read."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import quote

from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import shortened
from pytest_jsonmatch.schema.documents import Documents, json_copy
from pytest_jsonmatch.schema.places import AllOf, AnyOf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_jsonmatch.schema.documents import Schema
    from pytest_jsonmatch.schema.places import Alternative, Place

_DEEPEST: Final = 200
"""Values and schemas with more levels don't reach the validator: its recursion would end the process."""
_MOST_LISTED: Final = 20
"""So many violations of one answer are listed."""
_LONGEST: Final = 200


@final
class Validators:
    """Makes the validators of the schemas in some documents."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents

    def of(self, address: str) -> Any:
        """Return the validator of the schema at an address, so that references are resolved as they stand.

        Raises:
            ConfigurationError: the schema is not valid, or has too many levels.
        """
        import jsonschema_rs

        reference = {"$ref": address, **self._dialect}
        try:
            return jsonschema_rs.validator_for(reference, registry=self._registry)
        except jsonschema_rs.ValidationError as error:
            at = "".join(f"/{key}" for key in error.instance_path)
            message = f"not a valid JSON Schema: {error.message} (at {at})"
            raise ConfigurationError(message) from None
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    @cached_property
    def _dialect(self) -> dict[str, str]:
        root = _prepared(self.documents.root)
        return {"$schema": root["$schema"]} if isinstance(root, dict) and "$schema" in root else {}

    @cached_property
    def _registry(self) -> Any:
        """The registry of the documents, which reads other files."""
        import jsonschema_rs

        documents = self.documents
        return jsonschema_rs.Registry(
            [(address, _prepared(document)) for address, document in documents.by_address.items()],
            retriever=lambda address: _prepared(documents.read(address)),
        )


def branch_test(
    alternative: Alternative, kinds: frozenset[str], validators: Validators
) -> Callable[[Any], bool]:
    """Return the test of one alternative, of the value's type if that is enough; `kinds` are its types.

    Raises:
        ConfigurationError: the validator refuses the schema.
    """
    if alternative.by_type:
        return lambda value: fits_types(value, kinds)
    accepts = _accepts(alternative.test, validators)
    return lambda value: accepts(value) if is_validatable(value) else fits_types(value, kinds)


def _accepts(place: Place, validators: Validators) -> Callable[[Any], bool]:
    if isinstance(place, (AllOf, AnyOf)):
        together, parts = (all, place.parts) if isinstance(place, AllOf) else (any, place.branches)
        tests = [_accepts(part, validators) for part in parts]
        return lambda value: together(accepts(value) for accepts in tests)
    schema = place.schema
    if isinstance(schema, bool):
        return lambda _: schema
    # By its address, so that its references are resolved relative to it.
    is_valid: Callable[[Any], bool] = validators.of(validators.documents.location(schema)).is_valid
    return is_valid


@final
class Violations:
    """Tells what in a value a whole schema does not allow; its validator is made for the first value."""

    def __init__(self, root: Schema, path: Path | None) -> None:
        self._root = root
        self._path = path

    def __call__(self, value: Any) -> tuple[str, ...] | None:
        """Return what the schema does not allow in a value, each with its path; None if that can't be told.

        Raises:
            ConfigurationError: the schema is no valid JSON Schema.
        """
        if self._validator is None or not is_validatable(value):
            return None
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            if len(found) == _MOST_LISTED:
                found.append("… and more")
                break
            found.append(f"{format_path(error.instance_path)}: {shortened(error.message, _LONGEST)}")
        return tuple(found)

    @cached_property
    def _validator(self) -> Any:
        """The validator; None for a schema that it can't take."""
        if not is_validatable(json_copy(self._root)):
            return None
        documents = Documents(self._root, self._path)
        return Validators(documents).of(next(iter(documents.by_address)))

    def __reduce__(self) -> Any:
        return Violations, (self._root, self._path)


def _prepared(document: Schema) -> Any:
    """Return a document as the validator takes it: plain JSON, of a dialect that it knows."""
    copy = json_copy(document)
    if not is_validatable(copy):
        message = f"the validator takes schemas of up to {_DEEPEST} levels, without halves of characters"
        raise ConfigurationError(message)
    if isinstance(copy, dict) and "json-schema.org/" not in str(copy.get("$schema")):
        copy.pop("$schema", None)
    waiting = [copy]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            waiting.extend(value.values())
            if isinstance(reference := value.get("$ref"), str):
                # The validator takes addresses in ASCII only.
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
