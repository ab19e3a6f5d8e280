"""Comparators of phone numbers and identifiers (IBAN, VAT, ISBN and others): `phone` and `identifier`."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator
from pytest_jsonmatch.engine.compare.equality import compare_forms, text_reader
from pytest_jsonmatch.engine.compare.parameters import missing_extra, required
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.compare.base import Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_PHONE: Final = "comparator 'phone'"
_IDENTIFIER: Final = "comparator 'identifier'"


# phone


def phone_reader(params: Params) -> Callable[[JsonValue], str | None]:
    """Return a function that returns a phone number in international form (E.164), None for other values.

    Args:
        params: `region`, the two-letter code of the country whose numbers may lack a country code. Without
            it only numbers with a country code are read.
    """
    try:
        import phonenumbers
    except ImportError:
        raise missing_extra(_PHONE, "phone") from None
    region = params.get("region")
    if region is not None and not (isinstance(region, str) and region in phonenumbers.SUPPORTED_REGIONS):
        hint = did_you_mean(str(region).upper(), phonenumbers.SUPPORTED_REGIONS)
        raise ConfigurationError(f"{_PHONE}: unknown region {region!r}{hint}")

    def read(text: str) -> str | None:
        try:
            number = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            return None
        # A number that is possible only as a local one lacks its area code.
        possible = phonenumbers.is_possible_number_with_reason(number)
        if possible != phonenumbers.ValidationResult.IS_POSSIBLE:
            return None
        written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        return f"{written} ext. {number.extension}" if number.extension else written

    return text_reader(read)


PHONE: Final = Comparator("phone", lambda params: compare_forms(phone_reader(params)), ("region",))
"""1 for the same phone number, however it is written; extensions count. `region`: see `phone_reader`. Other
values are compared by JSON equality. Needs the extra `phone`."""


# identifier


@cache
def _kinds(folder: str) -> Mapping[str, str]:
    """Return the modules of python-stdnum by the names of kinds: `eu_vat` for `stdnum.eu.vat`."""
    # The files are listed: looking for modules in packages would import each of these.
    files = (path.relative_to(folder).with_suffix("") for path in sorted(Path(folder).rglob("*.py")))
    names = [".".join(file.parts) for file in files if file.name not in _NO_KINDS]
    # A country code that is a Python keyword has an underscore after it: stdnum.is_.vsk.
    return {name.replace("_.", ".").replace(".", "_"): f"stdnum.{name}" for name in names}


_NO_KINDS: Final = frozenset({"__init__", "exceptions", "numdb", "util"})


def identifier_reader(params: Params) -> Callable[[JsonValue], str | None]:
    """Return a function that returns an identifier in its compact form, None for what is not a valid one.

    Args:
        params: `kind`, the name of a module of python-stdnum: `iban`, `isbn`; `eu_vat` for `stdnum.eu.vat`.
            An ISBN of ten digits is converted to one of thirteen.
    """
    kind = required(_IDENTIFIER, params, "kind", '{"kind": "iban"}')
    try:
        import stdnum
    except ImportError:
        raise missing_extra(_IDENTIFIER, "identifiers") from None
    kinds = _kinds(stdnum.__path__[0])
    if not isinstance(kind, str) or kind not in kinds:
        near = nearest(str(kind).lower(), kinds)
        # Leave out the hundreds of names that belong to single countries.
        known = [name for name in kinds if kinds[name].count(".") == 1 or name[:3] == "eu_"]
        hint = did_you_mean(str(kind).lower(), [near] if near else known)
        raise ConfigurationError(f"{_IDENTIFIER}: unknown kind {kind!r}{hint}")
    validate: Callable[..., str] = import_module(kinds[kind]).validate
    if kind == "isbn":
        validate = partial(validate, convert=True)
    invalid: type[Exception] = import_module("stdnum.exceptions").ValidationError

    def read(text: str) -> str | None:
        try:
            return validate(text)
        except invalid:
            return None

    return text_reader(read)


IDENTIFIER: Final = Comparator(
    "identifier", lambda params: compare_forms(identifier_reader(params)), ("kind",)
)
"""1 for the same identifier of a `kind`, however it is spaced and punctuated. Invalid values, including those
with wrong check digits, are compared by JSON equality. Needs the extra `identifiers`."""
