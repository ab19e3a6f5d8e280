"""Tests of a value against the branches of a union: by type where that is enough, else by `jsonschema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.schema.places import AllOf, AnyOf
from pytest_jsonmatch.schema.references import library, registry_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.schema.places import Alternative, Place, Reader

__all__ = ["Tests", "fits_types"]


@final
class Tests:
    """Makes the tests of one schema's alternatives."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._validator_of: Callable[[dict[str, Any]], Any] | None = None

    def of(self, alternative: Alternative) -> Callable[[Any], bool]:
        """Return the test of one alternative.

        Raises:
            ConfigurationError: it needs `jsonschema`, which is not installed or refuses the schema.
        """
        kinds = self._reader.flat(alternative.node).kinds

        def of_type(value: Any) -> bool:
            return fits_types(value, kinds)

        if alternative.by_type:
            return of_type
        accepts = self._accepts(alternative.test)

        def valid(value: Any) -> bool:
            try:
                return accepts(value)
            except RecursionError:
                # Validators recurse. Of values too deep for them the type decides.
                return of_type(value)

        return valid

    def _accepts(self, place: Place) -> Callable[[Any], bool]:
        if isinstance(place, AllOf):
            every = [self._accepts(part) for part in place.parts]
            return lambda value: all(accepts(value) for accepts in every)
        if isinstance(place, AnyOf):
            some = [self._accepts(branch) for branch in place.branches]
            return lambda value: any(accepts(value) for accepts in some)
        if isinstance(place.schema, bool):
            verdict = place.schema
            return lambda _: verdict
        if self._validator_of is None:
            self._validator_of = _validators(self._reader)
        accepts: Callable[[Any], bool] = self._validator_of(place.schema).is_valid
        return accepts


def _validators(reader: Reader) -> Callable[[dict[str, Any]], Any]:
    """Return a function that makes the validator of a schema in one of the documents."""
    jsonschema = library("jsonschema")
    files = reader.files
    registry, _ = registry_of(files)
    dialect = jsonschema.validators.validator_for(files.root, default=jsonschema.Draft202012Validator)
    for document in files.documents.values():
        try:
            dialect.check_schema(document)
        except jsonschema.SchemaError as error:
            message = f"not a valid JSON Schema: {error.message} (at {error.json_path})"
            raise ConfigurationError(message) from None
    # By its address, so that the references in it are resolved as where it stands.
    return lambda schema: dialect({"$ref": files.location(schema)}, registry=registry)


def fits_types(value: Any, types: frozenset[str]) -> bool:
    """Tell whether a JSON value has one of the JSON Schema types; no types are all.

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


_NAMES = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
