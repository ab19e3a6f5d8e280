"""Whether an answer is valid by its schema, beside how right it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue

VALIDATE: Final = ("report", "require", "off")
"""What the option `validate` can be."""


@final
class Validity(NamedTuple):
    """Whether an answer is valid by its schema.

    >>> Validity(False, ("total: -1 is less than the minimum of 0",)).valid
    False
    """

    valid: bool | None
    """None where the validator can't take the value: it has over 200 levels, or halves of characters."""
    violations: tuple[str, ...] = ()
    """What the schema does not allow, each with its path."""


def check_validate(wanted: object, schema: object) -> None:
    """Check how an answer is to be validated.

    Raises:
        ConfigurationError: it is none of `VALIDATE`, or "require" without a schema.
    """
    if wanted not in VALIDATE:
        raise ConfigurationError(f"validate is {wanted!r}; it can be {' or '.join(map(repr, VALIDATE))}")
    if wanted == "require" and schema is None:
        raise ConfigurationError("validate is 'require', and there is no schema to validate against")


def validity_of(schema: SchemaNode | None, actual: JsonValue, mode: str) -> Validity | None:
    """Return whether an answer is valid; None where nobody asks, or there is no schema.

    An answer that could not be read is not valid.

    Raises:
        ConfigurationError: the schema is no valid JSON Schema.
    """
    if mode == "off" or schema is None or schema.violations is None:
        return None
    if actual is MISSING:
        return Validity(valid=False)
    found = schema.violations(actual)
    return Validity(None) if found is None else Validity(not found, found)
