"""The comparators `phone` and `identifier`, for phone numbers and for IBAN, VAT, ISBN and others."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators.base import Comparator
from pytest_jsonmatch.engine.comparators.equality import compare_forms, make_text_reader
from pytest_jsonmatch.engine.comparators.parameters import get_required, make_missing_extra_error
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.comparators.base import Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_PHONE: Final = "comparator 'phone'"
_IDENTIFIER: Final = "comparator 'identifier'"


# phone


def make_phone_reader(params: Params) -> Callable[[JsonValue], str | None]:
    """Return a function that returns a phone number in international form (E.164), or None for other values.

    Args:
        params: `region`, the two-letter code of the country whose numbers may lack a country code. Without
            it only numbers with a country code are read.
    """
    try:
        import phonenumbers
    except ImportError:
        raise make_missing_extra_error(_PHONE, "phone") from None
    region = params.get("region")
    if region is not None and not (isinstance(region, str) and region in phonenumbers.SUPPORTED_REGIONS):
        hint = did_you_mean(str(region).upper(), phonenumbers.SUPPORTED_REGIONS)
        raise ConfigurationError(f"{_PHONE}: unknown region {region!r}{hint}")

    def read(text: str) -> str | None:
        try:
            number = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            return None
        # A number that is only possible locally lacks its area code.
        possible = phonenumbers.is_possible_number_with_reason(number)
        if possible != phonenumbers.ValidationResult.IS_POSSIBLE:
            return None
        formatted = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        return f"{formatted} ext. {number.extension}" if number.extension else formatted

    return make_text_reader(read)


PHONE: Final = Comparator("phone", lambda params: compare_forms(make_phone_reader(params)), ("region",))
"""1 for the same phone number in any notation, including extensions. `region`: see `make_phone_reader`.
Other values are compared by JSON equality. Needs the extra `phone`."""


# identifier


def make_identifier_reader(params: Params) -> Callable[[JsonValue], str | None]:
    """Return a function that returns an identifier in its compact form, or None for invalid values.

    Args:
        params: `kind`, the name of a module of python-stdnum: `iban`, `isbn`; `eu_vat` for `stdnum.eu.vat`.
            An ISBN with ten digits is converted to one with thirteen.
    """
    kind = get_required(_IDENTIFIER, params, "kind", '{"kind": "iban"}')
    try:
        import stdnum.exceptions
    except ImportError:
        raise make_missing_extra_error(_IDENTIFIER, "identifiers") from None
    validate: Callable[..., str] | None = None
    # `eu_vat` is stdnum.eu.vat; a country code that is a Python keyword has an underscore: stdnum.is_.vsk.
    for module in (str(kind), str(kind).replace("_", ".", 1), str(kind).replace("_", "_.", 1)):
        with suppress(ImportError):
            validate = validate or getattr(import_module(f"stdnum.{module}"), "validate", None)
    if validate is None:
        raise ConfigurationError(
            f"{_IDENTIFIER}: unknown kind {kind!r}; it is the name of a module of python-stdnum, "
            "such as 'iban', or 'eu_vat' for stdnum.eu.vat"
        )
    if kind == "isbn":
        validate = partial(validate, convert=True)
    invalid = stdnum.exceptions.ValidationError

    def read(text: str) -> str | None:
        try:
            return validate(text)
        except invalid:
            return None

    return make_text_reader(read)


IDENTIFIER: Final = Comparator(
    "identifier", lambda params: compare_forms(make_identifier_reader(params)), ("kind",)
)
"""1 for the same identifier of a `kind`, with any spacing and punctuation. Invalid values, including those
with wrong check digits, are compared by JSON equality. Needs the extra `identifiers`."""

COMPARATORS: Final = (PHONE, IDENTIFIER)
"""The comparators of this module."""
