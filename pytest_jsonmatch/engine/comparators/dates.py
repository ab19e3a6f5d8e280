"""The comparator `date`, for dates and times as text. It guesses neither parts nor their order."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.comparators.base import Comparator
from pytest_jsonmatch.engine.comparators.equality import compare_forms, make_text_reader
from pytest_jsonmatch.engine.comparators.parameters import make_missing_extra_error, read_choice
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from pytest_jsonmatch.engine.comparators.base import Params, Scoring
    from pytest_jsonmatch.engine.value.convert import JsonValue

_NAMED_MONTH_FORMATS: Final = (
    "%d-%b-%Y",
    *[form % month for form in ("%%d %s %%Y", "%s %%d, %%Y", "%s %%d %%Y") for month in ("%b", "%B")],
)
"""The formats to try for texts that are not numeric dates, if no `formats` are given."""
_MONTH_FORMATS: Final = ("%Y-%m", "%Y/%m", "%m/%Y", "%m.%Y", "%m-%Y", "%b %Y", "%B %Y")
_PARTIAL: Final[Mapping[str | None, tuple[str, ...]]] = {
    "month": _MONTH_FORMATS,
    "year": ("%Y", *_MONTH_FORMATS),
}
"""The formats of incomplete dates that each `precision` allows."""
_PARTIAL_ISO: Final[Mapping[str | None, tuple[str, ...]]] = {"month": ("%Y-%m",), "year": ("%Y", "%Y-%m")}
_PART_COUNTS: Final[Mapping[str, int]] = {"year": 1, "month": 2, "day": 3}
_PRECISIONS: Final = ("year", "month", "day", "second")
_ORDERS: Final = ("dmy", "mdy", "ymd")

_TIME: Final = r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?)?"
_COMPACT: Final = re.compile(r"^(\d{4})(\d\d)(\d\d)(?=$|[T ])", re.ASCII | re.IGNORECASE)
_NUMBERS: Final = re.compile(r"(\d{1,4})(\. |[-/. ])(\d{1,2})\2(\d{1,4})" + _TIME, re.ASCII | re.IGNORECASE)
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TO_HYPHENS: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-")
"""Typographic hyphens, dashes and minus signs, which are written as hyphens too."""
_OFFSET: Final = re.compile(r"(?:(?<![^\W\d])(?:Z|UTC|GMT)|[+-]\d{1,2}(?::?\d{2})?)$")
_OWNER: Final = "comparator 'date'"
_PARAMETERS: Final = ("formats", "order", "precision", "languages")


def _read_numbers(text: str, order: str) -> dt.datetime | None:
    """Read a numeric date, with or without a time, independent of the Python version and locale."""
    match = _NUMBERS.fullmatch(_COMPACT.sub(r"\1-\2-\3", text))
    if match is None:
        return None
    first, _, second_part, third, hour, minute, second, fraction, zone = match.groups("0")
    parts = dict(zip(order, (first, second_part, third)))
    if len(parts["y"]) != 4:
        return None  # the century is unknown
    tzinfo = None
    try:
        if zone != "0":
            digits = zone[1:].replace(":", "").ljust(4, "0")
            offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
            tzinfo = dt.timezone(-offset if zone[0] == "-" else offset)
        microsecond = int(fraction.ljust(6, "0")[:6])
        year, month, day = (int(parts[part]) for part in "ymd")
        return dt.datetime(year, month, day, int(hour), int(minute), int(second), microsecond, tzinfo)
    except ValueError:
        return None


def _read_iso(text: str) -> dt.datetime | None:
    """Read an ISO 8601 date, with or without a time."""
    extended = _COMPACT.sub(r"\1-\2-\3", text)
    return _read_numbers(extended, "ymd") if _ISO_DATE.match(extended) else None


def _check_formats(given: object) -> tuple[str, ...]:
    formats = (given,) if isinstance(given, str) else given
    if not isinstance(formats, (list, tuple)) or not formats:
        raise ConfigurationError(f'{_OWNER}: \'formats\' must be a list such as ["%Y-%m-%d", "%b %d, %Y"]')
    for form in formats:
        try:
            # A format is valid if strptime can read what strftime writes.
            sample = dt.datetime(2001, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc).strftime(form)
            dt.datetime.strptime(sample, form)  # noqa: DTZ007 - only a test
            is_format = "%" in form
        except (ValueError, TypeError, OverflowError):
            is_format = False
        if not is_format:
            raise ConfigurationError(f"{_OWNER}: {form!r} is not a date format; one looks like '%Y-%m-%d'")
    return tuple(form.translate(_TO_HYPHENS) for form in formats)


def make_date_reader(params: Params) -> Callable[[JsonValue], dt.datetime | None]:
    """Return a function that reads a JSON value as a date and time, and returns None for other values.

    Args:
        params: `formats`, a list of strptime formats, of which the first that fits is used; other texts are
            read only if they are ISO 8601. Without it, dates in numbers or with an English month are read if
            they have only one reading: 13/04/2026 has one, 03/04/2026 and 03.04.2026 have two. Month names
            are those of the current locale.
            `order`, one of dmy, mdy and ymd: the only order in which numbers are read, except for year first.
            `precision`, one of year, month, day and second: with "month" a date may lack its day, with
            "year" also its month.
            `languages`: also read dates written out in one of these (with the library dateparser).

    >>> read = make_date_reader({})
    >>> read("2026-01-31") == read("31 Jan 2026") == read("31/01/2026"), read("next week")
    (True, None)
    """
    given, order, precision, languages = map(params.get, _PARAMETERS)
    if order is not None:
        order = read_choice(_OWNER, "order", order, _ORDERS)
    if precision is not None:
        precision = read_choice(_OWNER, "precision", precision, _PRECISIONS)
    if given is None:
        formats = _NAMED_MONTH_FORMATS + _PARTIAL.get(precision, ())
    elif order is None:
        formats = _check_formats(given) + _PARTIAL_ISO.get(precision, ())
    else:
        raise ConfigurationError(f"{_OWNER}: 'formats' define the order of numbers; remove 'order'")
    read_in_languages = None if languages is None else _make_language_reader(languages, order, precision)

    orders = _ORDERS if order is None else (order, "ymd")

    def read(text: str) -> dt.datetime | None:
        text = text.translate(_TO_HYPHENS)
        readings = (
            {_read_numbers(text, part_order) for part_order in orders} - {None} if given is None else set()
        )
        if readings:
            return readings.pop() if len(readings) == 1 else None
        for form in formats:
            with suppress(ValueError, OverflowError):
                # Naive if the format has no zone, since a zone must not be guessed.
                return dt.datetime.strptime(text, form)  # noqa: DTZ007
        if given is not None and (moment := _read_iso(text)) is not None:
            return moment
        return None if read_in_languages is None else read_in_languages(text)

    return make_text_reader(read)


def _make_language_reader(
    languages: object, order: str | None, precision: str | None
) -> Callable[[str], dt.datetime | None]:
    """Return a function that reads dates written out in some languages, if all required parts are there."""
    try:
        from dateparser.data.languages_info import language_order
    except ImportError:
        raise make_missing_extra_error(f"{_OWNER} with 'languages'", "dates") from None
    codes = [languages] if isinstance(languages, str) else languages
    if not isinstance(codes, (list, tuple)) or not codes:
        raise ConfigurationError(f'{_OWNER}: \'languages\' must be a list such as ["de", "fr"]')
    for code in codes:
        if code not in language_order:
            raise ConfigurationError(
                f"{_OWNER}: unknown language {code!r}{did_you_mean(str(code), language_order)}"
            )
    needed = ("year", "month", "day")[: _PART_COUNTS.get(precision or "day", 3)]
    orders = [order] if order in {"dmy", "mdy"} else ["dmy", "mdy"]
    parsers = [_load_parser(tuple(codes), str(part_order).upper(), needed) for part_order in orders]

    def read(text: str) -> dt.datetime | None:
        if not any(map(str.isalpha, text)):
            return None
        first, *others = (parser.get_date_data(text).date_obj for parser in parsers)
        if first is None or any(other != first for other in others):
            return None
        # A year of two digits has no century, and the abbreviation of a time zone can be ambiguous.
        is_unambiguous = f"{first.year:04}" in text and (first.tzinfo is None or _OFFSET.search(text))
        return first if is_unambiguous else None

    return read


@lru_cache(maxsize=32)
def _load_parser(languages: tuple[str, ...], order: str, needed: tuple[str, ...]) -> Any:
    """Return a parser of dateparser, cached since loading a language takes a tenth of a second."""
    from dateparser.date import DateDataParser

    settings = {
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": list(needed),
        "DATE_ORDER": order,
        "PREFER_LOCALE_DATE_ORDER": False,
        "PREFER_DAY_OF_MONTH": "first",
    }
    return DateDataParser(
        languages=list(languages), try_previous_locales=False, use_given_order=True, settings=settings
    )


def _make_date(params: Params) -> Scoring:
    read = make_date_reader(params)
    precision = params.get("precision")

    def form(value: JsonValue) -> Hashable | None:
        moment = read(value)
        if moment is None or precision is None:
            return moment
        if precision == "second":
            return moment.replace(microsecond=0)
        return moment.timetuple()[: _PART_COUNTS[str(precision)]]

    return compare_forms(form)


DATE: Final = Comparator("date", _make_date, _PARAMETERS)
"""1 if both texts mean the same moment, whatever their formats. A date without a time means midnight, and a
time with a zone never equals one without. With a `precision` of day or coarser, dates are compared as
written, without regard to zones. If neither is a date: JSON equality. Parameters: see `make_date_reader`."""

COMPARATORS: Final = (DATE,)
"""The comparators of this module."""
