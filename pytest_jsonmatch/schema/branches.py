"""Tests of a value against the branches of a union: by type if that is enough, else by `jsonschema-rs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.schema.places import AllOf, AnyOf
from pytest_jsonmatch.schema.validation import Validators, is_validatable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.schema.places import Alternative, Place, Reader


@final
class Tests:
    """Makes the tests of one schema's alternatives."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._validators = Validators(reader.documents)

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
        # By its address, so that its references are resolved relative to it.
        is_valid: Callable[[Any], bool] = self._validators.of(
            self._reader.documents.location(schema)
        ).is_valid
        return is_valid
