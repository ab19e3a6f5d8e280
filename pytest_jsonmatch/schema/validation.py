"""Check values against JSON Schemas, or branches of one, with `jsonschema-rs`; no other files are read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import fits_types
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import shortened
from pytest_jsonmatch.schema.documents import Documents, is_validatable, json_copy
from pytest_jsonmatch.schema.places import AllOf, AnyOf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_jsonmatch.schema.documents import Schema
    from pytest_jsonmatch.schema.places import Alternative, Place

_MOST_LISTED: Final = 20
"""At most this many violations of one answer are listed."""
_LONGEST: Final = 200


def branch_test(
    alternative: Alternative, kinds: frozenset[str], documents: Documents
) -> Callable[[Any], bool]:
    """Return the test of one alternative: of the value's type alone if that is enough; `kinds` are its types.

    Raises:
        ConfigurationError: the validator refuses the schema.
    """
    if alternative.by_type:
        return lambda value: fits_types(value, kinds)
    accepts = _accepts(alternative.test, documents)
    return lambda value: accepts(value) if is_validatable(value) else fits_types(value, kinds)


def _accepts(place: Place, documents: Documents) -> Callable[[Any], bool]:
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


@final
class Violations:
    """Lists what a whole schema does not allow in a value; the validator is made for the first value."""

    def __init__(self, root: Schema, path: Path | None) -> None:
        self._root = root
        self._path = path

    def __call__(self, value: Any) -> tuple[str, ...] | None:
        """Return what the schema does not allow in a value, each with its path; None if it can't be checked.

        Raises:
            ConfigurationError: the schema is not a valid JSON Schema.
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
        """The validator; None for a schema that it can't handle."""
        if not is_validatable(json_copy(self._root)):
            return None
        documents = Documents(self._root, self._path)
        return documents.validator(next(iter(documents.by_address)))

    def __reduce__(self) -> Any:
        return Violations, (self._root, self._path)
