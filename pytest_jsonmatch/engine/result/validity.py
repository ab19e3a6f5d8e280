"""Validation of answers against their schema."""

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
    """The validity of an answer under its schema.

    >>> Validity(False, ("total: -1 is less than the minimum of 0",)).valid
    False
    """

    valid: bool | None
    """None if the validator can't check the value, which has over 200 levels or lone surrogates."""
    violations: tuple[str, ...] = ()
    """The violations of the schema, each with its path."""


def check_validate(validate: object, schema: object) -> None:
    """Check the value of the option `validate`.

    Raises:
        ConfigurationError: the value is not in `VALIDATE`, or is "require" without a schema.
    """
    if validate not in VALIDATE:
        raise ConfigurationError(f"validate must be {' or '.join(map(repr, VALIDATE))}, got {validate!r}")
    if validate == "require" and schema is None:
        raise ConfigurationError("validate is 'require', but there is no schema to validate against")


def check_validity(schema: SchemaNode | None, actual: JsonValue, mode: str) -> Validity | None:
    """Return the validity of an answer; None if validation is off or there is no schema.

    An unreadable answer (MISSING) is not valid.

    Raises:
        ConfigurationError: the schema is not a valid JSON Schema.
    """
    if mode == "off" or schema is None or schema.violations is None:
        return None
    if actual is MISSING:
        return Validity(valid=False)
    violations = schema.violations(actual)
    return Validity(None) if violations is None else Validity(not violations, violations)
