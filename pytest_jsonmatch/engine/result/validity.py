"""Whether an answer is valid by its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

VALIDATE: Final = ("report", "require", "off")
"""The values of the option `validate`."""


@final
class Validity(NamedTuple):
    """Whether an answer is valid by its schema.

    >>> Validity(False, ("total: -1 is less than the minimum of 0",)).valid
    False
    """

    valid: bool | None
    """None if the validator can't take the value, which has over 200 levels or lone surrogates."""
    violations: tuple[str, ...] = ()
    """What the schema does not allow, each with its path."""


def check_validate(wanted: object, schema: object) -> None:
    """Check the value of the option `validate`.

    Raises:
        ConfigurationError: it is not in `VALIDATE`, or is "require" without a schema.
    """
    if wanted not in VALIDATE:
        raise ConfigurationError(f"validate is {wanted!r}; it must be {' or '.join(map(repr, VALIDATE))}")
    if wanted == "require" and schema is None:
        raise ConfigurationError("validate is 'require', but there is no schema to validate against")


def check_validity(schema: SchemaNode | None, actual: JsonValue, mode: str) -> Validity | None:
    """Return whether an answer is valid; None if validation is off, or there is no schema.

    An answer that could not be read is not valid.

    Raises:
        ConfigurationError: the schema is not a valid JSON Schema.
    """
    if mode == "off" or schema is None or schema.violations is None:
        return None
    if actual is MISSING:
        return Validity(valid=False)
    found = schema.violations(actual)
    return Validity(None) if found is None else Validity(not found, found)
