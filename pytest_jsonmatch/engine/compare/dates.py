"""The comparator of dates and times written as text: `date`."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.compare.base import Comparator
from pytest_jsonmatch.engine.compare.equality import equality_of
from pytest_jsonmatch.engine.compare.parameters import check_names
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pytest_jsonmatch.engine.compare.base import Params, Scoring
    from pytest_jsonmatch.engine.value.convert import JsonValue

DEFAULT_FORMATS: Final = (
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
)
"""What is tried after ISO 8601 when no `formats` are given. Only forms that have one reading: 03/04/2026 is
the third of April to some and the fourth of March to others, so it is read only where `formats` says how."""

_ISO: Final = re.compile(
    r"(\d{4})(-?)(\d{2})\2(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII | re.IGNORECASE,
)
# Longer texts are no dates; asking each format would only cost time.
_LONGEST: Final = 100
_OWNER: Final = "comparator 'date'"


def _read_iso(text: str) -> dt.datetime | None:
    """Read an ISO 8601 date, or date and time; the same in every Python version, unlike `fromisoformat`."""
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, hour, minute, second, fraction, zone = found.groups("0")
    tzinfo = None
    try:
        if zone != "0":
            digits = zone[1:].replace(":", "").ljust(4, "0")
            offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
            tzinfo = dt.timezone(-offset if zone[0] == "-" else offset)
        microsecond = int(fraction.ljust(6, "0")[:6])
        return dt.datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second), microsecond, tzinfo
        )
    except ValueError:
        return None


def _checked_formats(given: object) -> tuple[str, ...]:
    formats = (given,) if isinstance(given, str) else given
    if not isinstance(formats, (list, tuple)) or not formats:
        raise ConfigurationError(f'{_OWNER}: \'formats\' must be a list such as ["%Y-%m-%d", "%b %d, %Y"]')
    for form in formats:
        if not isinstance(form, str) or "%" not in form:
            raise ConfigurationError(f"{_OWNER}: {form!r} is not a date format; one looks like '%Y-%m-%d'")
        try:
            # Whatever strptime can't read back, or strftime can't write, is no format.
            sample = dt.datetime(2001, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc).strftime(form)
            dt.datetime.strptime(sample, form)  # noqa: DTZ007 - only asked whether it can be read
        except (ValueError, OverflowError) as error:
            raise ConfigurationError(f"{_OWNER}: {form!r} is not a date format: {error}") from error
    return tuple(formats)


def date_reader(params: Params) -> Callable[[JsonValue], dt.datetime | None]:
    """Return a function that reads a JSON value as a date and time, None for what is none.

    Args:
        params: `formats`, a list of strptime formats, of which the first that fits counts. Without it: ISO
            8601 dates and times, then DEFAULT_FORMATS. Month names are those of the running locale.

    >>> read = date_reader({})
    >>> read("2026-01-31") == read("31 Jan 2026"), read("next week")
    (True, None)
    """
    check_names(_OWNER, params, ["formats"])
    given = params.get("formats")
    formats = DEFAULT_FORMATS if given is None else _checked_formats(given)

    @lru_cache(maxsize=4096)
    def read(text: str) -> dt.datetime | None:
        if given is None and (iso := _read_iso(text)) is not None:
            return iso
        for form in formats:
            with suppress(ValueError, OverflowError):
                # Naive where the format has no zone: a zone must not be invented.
                return dt.datetime.strptime(text, form)  # noqa: DTZ007
        return None

    def read_value(value: JsonValue) -> dt.datetime | None:
        kind = type(value)
        if kind is str:
            return read(value.strip()) if len(value) <= _LONGEST else None
        # A year, or a date such as 20260131, often comes as an integer.
        return read(str(value)) if kind is int and 0 <= value < 10**14 else None

    return read_value


def _bind_date(params: Params) -> Scoring:
    read = date_reader(params)

    def key(value: JsonValue) -> Hashable:
        moment = read(value)
        return json_key(value) if moment is None else moment

    return equality_of(key)


DATE: Final = Comparator("date", _bind_date)
"""1 if both texts stand for the same moment, whatever their formats; a date alone is its midnight, and a time
with a zone never equals one without. If neither is a date: JSON equality. `formats`: see `date_reader`."""
