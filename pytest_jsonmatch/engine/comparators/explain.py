"""Explain in a few words why two values do not match, for reports; scoring does not use this.

A reason begins with the kind of difference (`engine.comparators.kinds`), the words of the tables of kinds.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.comparators.amounts import make_amount_reader, units_agree
from pytest_jsonmatch.engine.comparators.boxes import intersection_over_union, read_box
from pytest_jsonmatch.engine.comparators.codes import make_identifier_reader, make_phone_reader
from pytest_jsonmatch.engine.comparators.dates import make_date_reader
from pytest_jsonmatch.engine.comparators.kinds import (
    FEW_CHARACTERS,
    NUMBER_AS_TEXT,
    OTHER_VALUE,
    find_kind,
)
from pytest_jsonmatch.engine.comparators.numbers import (
    compute_difference,
    compute_percent_difference,
    read_tolerance,
)
from pytest_jsonmatch.engine.comparators.text import split_tokens
from pytest_jsonmatch.engine.comparators.transforms import normalize_text
from pytest_jsonmatch.engine.value.convert import MISSING, json_type
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count, to_number

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.comparators.amounts import Amount
    from pytest_jsonmatch.engine.comparators.base import Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

# With more pairs of characters than this, comparing two texts would delay a report.
_MAX_EDIT_CELLS: Final = 500_000_000
_LEAST_CODE_EXPONENT: Final = 2
"""Codes have at least three digits."""


def explain(name: str | None, params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    """Explain in a few words why `actual` does not match `expected`.

    Args:
        name: the comparator; if it is not built in, only a difference of type is explained.
        params: the comparator's parameters.
        expected: the expected value after transforms.
        actual: the actual value after transforms.

    Returns None if the values are self-explanatory or if nothing is known. Never raises an error.

    >>> explain("relative", {}, 50, 51.2)
    '2.4 % off'
    >>> explain("numeric", {"tolerance": {"abs": 0.1}}, 1, 1.5)
    '0.5 off (limit 0.1)'
    >>> explain("exact", {}, "Berlin", "berlin")
    'case or accents'
    >>> explain("exact", {}, 42, "42")
    'number as text'
    """
    try:
        return _explain(name, params, expected, actual)
    except (ConfigurationError, ArithmeticError, LookupError):  # also from a user's comparator
        return None


def explain_match(name: str | None, params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    """Explain why two values match if that is not obvious, else return None. Never raises an error.

    >>> explain_match("oneof", {"groups": [["open", "pending"]]}, "open", "pending")
    'not equal, but accepted by the list of oneof'
    >>> explain_match("identifier", {"kind": "iban"}, "DE89 3704", "DE89 3704")
    'equal, though not a valid iban'
    """
    if name == "oneof":
        return None if json_equal(expected, actual) else "not equal, but accepted by the list of oneof"
    if name is None or name not in _READERS or type(expected) is not str:
        return None
    try:
        if _READERS[name](params)(expected) is not None:
            return None
        parameter = _find_deciding_parameter(name, params, expected)
        if parameter is not None:
            return f"equal as text; set '{parameter}': it has two readings"
        return f"equal, though not {_get_noun(name, params)}"
    except ConfigurationError:
        return None


def _explain(name: str | None, params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    if expected is MISSING or actual is MISSING:
        return None
    for value in (actual, expected):
        if type(value) is float and not math.isfinite(value):
            return "not a number (NaN)" if math.isnan(value) else "an infinity is not a JSON number"
    reason = None
    if name is not None and name in _READERS:
        reason = _explain_form(name, params, expected, actual)
    elif name == "numeric" or (name == "threshold" and str not in {type(expected), type(actual)}):
        limit = {"tolerance": params["threshold"]} if name == "threshold" else params
        reason = _explain_numeric(limit, expected, actual)
    elif name == "oneof":
        of_what = "among the accepted values" if "values" in params else "a synonym of the expected value"
        return f"not {of_what}"
    elif name == "contains" and (type(actual) is list or type(actual) is type(expected)):
        return "does not contain the expected value"
    elif type(expected) is type(actual) is str and name == "regex":
        return "does not match the pattern"
    elif type(expected) is type(actual) is str and name == "jaccard" and params.get("tokenizer") is None:
        left, right = split_tokens(expected), split_tokens(actual)
        words = count(len(left | right), "word")
        return None if left == right else f"{count(len(left & right))} of {words} shared"
    return reason or _explain_values(name, params, expected, actual)


def _explain_values(name: str | None, params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    """Explain the difference between the values themselves."""
    kind, other = json_type(expected), json_type(actual)
    if kind != other:
        proven = find_kind(expected, actual)
        if proven == NUMBER_AS_TEXT and "boolean" in {kind, other}:
            return "boolean as text"
        return f"{kind} against {other}" if proven == OTHER_VALUE else proven
    if name is not None and name not in _PLAIN:
        return None
    if kind == "string":
        prepare = normalize_text if name == "normalized_text" else str
        return _explain_texts(prepare(expected), prepare(actual))
    if params.get("strict_number_type") and json_equal(expected, actual):
        return "integer against float"
    return _explain_numeric({}, expected, actual)


# Numbers


def _format_digits(number: Decimal, digits: int = 2) -> str:
    """Return a positive number with this many significant digits; without an exponent if it is ordinary."""
    if Decimal("0.0001") <= number < 1_000_000:
        rounded = f"{number:.{digits}g}"
        # Never round digits before the decimal point: 123 is not shown as 1.2e2.
        plain = f"{Decimal(rounded) if number < 10 ** (digits - 1) else round(number):f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return f"{number:.1e}".replace("e+", "e").replace(".0e", "e")


def _format_difference(delta: Decimal, limit: Decimal, unit: str = "") -> str:
    """Return a difference and its limit as text, with enough digits to distinguish them."""
    limit_text = _format_digits(limit, 6)
    delta_text = next(
        (text for digits in range(2, 18) if (text := _format_digits(delta, digits)) != limit_text), limit_text
    )
    return f"{delta_text}{unit} off (limit {limit_text}{unit})"


def _explain_numeric(params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    left, right = to_number(expected), to_number(actual)
    if left is None or right is None or left == right:
        return None
    kind = find_kind(left, right)
    if not params and _may_be_codes(left, right):
        return None if kind == OTHER_VALUE else kind
    reason = _explain_numbers(params, left, right)
    return reason if kind == OTHER_VALUE or (kind == FEW_CHARACTERS and params) else f"{kind}, {reason}"


def _may_be_codes(left: float | Decimal, right: float | Decimal) -> bool:
    """Return whether two numbers may be codes, such as 404 and 500, of which a percentage says nothing."""
    if not (type(left) is type(right) is int):
        return False
    digits = [Decimal(number).adjusted() for number in (left, right)]
    return digits[0] == digits[1] >= _LEAST_CODE_EXPONENT


def _explain_numbers(params: Params, left: float | Decimal, right: float | Decimal) -> str:
    rel, absolute = read_tolerance("", params.get("tolerance"))
    delta, unit = compute_difference(left, right), ""
    if absolute is not None and delta > (limit := Decimal(repr(absolute))):
        return _format_difference(delta, limit)
    if left != 0:
        delta, unit = compute_percent_difference(left, right), " %"
    if rel is None:
        return f"{_format_digits(delta)}{unit} off"
    return _format_difference(delta, Decimal(repr(rel)).scaleb(2 if unit else 0), unit)


# Texts


def _explain_texts(expected: str, actual: str) -> str | None:
    """Return the kind of difference; the number of edits if the kind says nothing."""
    if expected == actual:
        return None
    kind = find_kind(expected, actual)
    if kind != OTHER_VALUE:
        return kind
    if len(expected) * len(actual) > _MAX_EDIT_CELLS:
        return f"{count(len(expected), 'character')} against {count(len(actual))}"
    if sorted(expected.split()) == sorted(actual.split()):
        return "word order differs"
    from rapidfuzz.distance import Levenshtein

    return count(Levenshtein.distance(expected, actual), "edit")


# Values with a canonical form: dates, amounts, codes


def _get_noun(name: str, params: Params) -> str:
    """Return a noun for the texts that a comparator reads."""
    if name == "phone" and not params.get("region"):
        return "a phone number with a country code"
    return _NOUNS.get(name, f"a valid {params.get('kind')}")


def _find_deciding_parameter(name: str, params: Params, value: JsonValue) -> str | None:
    """Return the parameter that decides between two readings of a value; None if there is only one."""
    parameter, choices = _DECIDING_PARAMETERS.get(name, ("", ()))
    if not choices or params.get(parameter) is not None or params.get("formats") is not None:
        return None
    if any(_READERS[name]({parameter: choice})(value) is None for choice in choices):
        return None
    return parameter


def _explain_form(name: str, params: Params, expected: JsonValue, actual: JsonValue) -> str | None:
    left, right = map(_READERS[name](params), (expected, actual))
    if left is not None and right is not None:
        explain_pair = _PAIR_EXPLAINERS.get(name)
        return _explain_texts(left, right) if explain_pair is None else explain_pair(params, left, right)
    noun = _get_noun(name, params)
    for side, value, form in (("expected", expected, left), ("actual", actual, right)):
        if form is None and (parameter := _find_deciding_parameter(name, params, value)):
            # What to do comes first: reports cut long reasons.
            return f"set '{parameter}': {side} has two readings, compared as text"
    if left is None and right is None:
        are_texts = json_type(expected) == json_type(actual) == "string"
        return f"neither is {noun}; {_explain_texts(expected, actual)}" if are_texts else None
    if left is None:
        return f"expected is not {noun}"
    return f"not {noun}" if type(actual) is str or json_type(actual) == json_type(expected) else None


def _explain_amounts(params: Params, left: Amount, right: Amount) -> str | None:
    if not units_agree(left.currency, right.currency) and None in {left.currency, right.currency}:
        return "set 'percent': a percentage against a number without a percent sign"
    if left.currency is not None and right.currency is not None and left.currency != right.currency:
        return f"{left.currency} against {right.currency}"
    return _explain_numbers(params, left.number, right.number)


def _explain_dates(params: Params, left: dt.datetime, right: dt.datetime) -> str | None:
    if params.get("precision") in {"year", "month", "day"}:
        return f"{count(abs((right.date() - left.date()).days), 'day')} off"
    if (left.tzinfo is None) != (right.tzinfo is None):
        advice = "; 'precision: day' ignores it" if left.date() == right.date() else ""
        return f"only one has a time zone{advice}"
    seconds = abs((right - left).total_seconds())
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{count(round(seconds / size), unit)} off"
    return f"{seconds:g} s off"


def _explain_boxes(_params: Params, left: list[float], right: list[float]) -> str | None:
    return None if intersection_over_union(left, right) else "the boxes do not overlap"


_NOUNS: Final = {
    "date": "a date",
    "amount": "an amount",
    "phone": "a phone number",
    "iou": "a box [x0, y0, x1, y1]",
}
_READERS: Final[Mapping[str, Callable[[Params], Callable[[JsonValue], Any]]]] = {
    "date": make_date_reader,
    "amount": make_amount_reader,
    "phone": make_phone_reader,
    "identifier": make_identifier_reader,
    "iou": lambda _: read_box,
}
_DECIDING_PARAMETERS: Final = {"date": ("order", ("dmy", "mdy")), "amount": ("decimal", (".", ","))}
"""The parameter that decides between two readings of a text, and its values."""
_PAIR_EXPLAINERS: Final[Mapping[str, Callable[[Params, Any, Any], str | None]]] = {
    "date": _explain_dates,
    "amount": _explain_amounts,
    "iou": _explain_boxes,
}


# Comparators of the values themselves, for which any difference between the values explains the score.
_PLAIN: Final = frozenset(
    {"exact", "binary", "relative", "levenshtein", "numeric", "contains", "normalized_text", *_READERS}
)
