"""Kinds of differences: the table of all kinds, and the kind that two values prove by themselves.

A kind is found by the first rule that applies: what the two values prove, then what their surroundings prove
(`engine.result.kinds`), then what describes a wrong value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from contextlib import suppress
from decimal import Context, Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.convert import MISSING, NUMBERS
from pytest_jsonmatch.engine.value.equality import json_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue

NO_ANSWER: Final = "no answer"
NOTHING: Final = "null, empty or absent"
NUMBER_AS_TEXT: Final = "number as text"
WRAPPED: Final = "wrapped value"
WHITE_SPACE: Final = "white space"
TYPOGRAPHY: Final = "typographic form"
CASE: Final = "case or accents"
AMOUNT: Final = "amount in another form"
DATE: Final = "date in another form"
PUNCTUATION: Final = "punctuation"
ROUNDED: Final = "rounded number"
ORDER: Final = "order of elements"
SHIFTED: Final = "shifted elements"
OTHER_KEY: Final = "value under another key"
MISSING_ELEMENT: Final = "missing element"
EXTRA_ELEMENT: Final = "extra element"
ZERO: Final = "zero for null"
MISSING_VALUE: Final = "missing value"
EXTRA_VALUE: Final = "extra value"
PART_OF_DATE: Final = "part of a date"
SIGN: Final = "sign or decimal point"
SHORTER: Final = "shorter text"
LONGER: Final = "longer text"
FEW_CHARACTERS: Final = "few characters differ"
OTHER_VALUE: Final = "value differs"

_OTHER_FORM: Final = (
    *(NOTHING, NUMBER_AS_TEXT, WRAPPED, WHITE_SPACE, TYPOGRAPHY, CASE, AMOUNT, DATE, PUNCTUATION, ROUNDED),
)
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "other form": _OTHER_FORM,
    "other place": (ORDER, SHIFTED, OTHER_KEY),
    "one side": (NO_ANSWER, MISSING_ELEMENT, EXTRA_ELEMENT, ZERO, MISSING_VALUE, EXTRA_VALUE),
    "near": (PART_OF_DATE, SIGN, SHORTER, LONGER, FEW_CHARACTERS),
    "other value": (OTHER_VALUE,),
}
"""The kinds of each family."""
OTHER_FORMS: Final = frozenset(_OTHER_FORM)
"""The kinds that two values determine; they take precedence over kinds found from the surroundings."""
KINDS: Final = (
    *(NO_ANSWER, *_OTHER_FORM, *FAMILIES["other place"], MISSING_ELEMENT, EXTRA_ELEMENT),
    *(ZERO, MISSING_VALUE, EXTRA_VALUE, *FAMILIES["near"], OTHER_VALUE),
)
"""All kinds in the order of their precedence."""

_CONTAINERS: Final = (list, dict)
_PLACEHOLDERS: Final = frozenset({"", "-", "--", "n/a", "none", "null", "nil"})
_LONGEST_PLACEHOLDER: Final = 4
# Hyphens, dashes and minus signs; apostrophes, quotes and primes; double ones of these.
_PLAIN_FORMS: Final = {
    ord(character): plain
    for plain, characters in (("-", "‐‑‒–—―−－"), ("'", "‘’‚′׳`´"), ('"', "“”„″״"))
    for character in characters
}
_MARKS_IN_ASCII: Final = frozenset("&`")
_CONTENT: Final = re.compile(r"(?<=[0-9])[.,:'\"](?=[0-9])|(?<=[0-9])['\"]|[%#&*@/+]")
"""Marks that are content: between digits, of feet and inches, and symbols."""
_PLAIN_NUMBER: Final = re.compile(r"\s*([-+]?(0|[1-9][0-9]*)([.][0-9]+)?)\s*")
_LEADING_ZERO: Final = re.compile("0[0-9]")
_ISO_DATE: Final = re.compile(r"\d\d(\d\d)-(\d\d)-(\d\d)(?!\d)", re.ASCII)
_DIGITS: Final = re.compile("[0-9]+")
_LONGEST_FORM: Final = 40
"""Texts of at least this many characters are neither dates nor amounts."""
_MAX_EDIT_CELLS: Final = 500_000_000
_MAX_JSON: Final = 1_000_000
_MAX_EXPONENT: Final = 400
_LARGE: Final = 10**_MAX_EXPONENT
_ORDINARY: Final = 10**15
"""Integers below this are exact as floats, too."""
_CONTEXT: Final = Context(prec=4 * _MAX_EXPONENT)
_CHARACTERS_PER_EDIT: Final = 5
"""Few characters differ if there is at most one edit for this many characters."""


def find_kind(expected: JsonValue, actual: JsonValue) -> str:
    """Return the kind of the difference between two values, which may be MISSING.

    It is one of `OTHER_FORMS`, or describes how a wrong value is wrong.

    >>> find_kind("Berlin", "BERLIN"), find_kind(1000, "1,000.00"), find_kind("2026-03-04", "4 March 2026")
    ('case or accents', 'amount in another form', 'date in another form')
    >>> find_kind(5, None), find_kind(12.5, 125), find_kind("12 Main Street", "Main Street")
    ('missing value', 'sign or decimal point', 'shorter text')
    """
    if type(expected) is str and type(actual) is str and expected and actual:
        kind = None
        if len(expected) <= _LONGEST_PLACEHOLDER or len(actual) <= _LONGEST_PLACEHOLDER:
            kind = _find_absence(expected, actual)
        return kind or _find_kind_of_texts(expected, actual)
    kind = _find_absence(expected, actual)
    if kind is not None:
        return kind
    if type(expected) in NUMBERS and type(actual) in NUMBERS:
        return _find_kind_of_numbers(expected, actual)
    for value, other in ((expected, actual), (actual, expected)):
        if type(value) in _CONTAINERS:
            if _is_wrapped(value, other):
                return WRAPPED
        elif type(other) is str and (type(value) is bool or type(value) in NUMBERS):
            return _find_kind_of_number_and_text(value, other)
    return OTHER_VALUE


def _find_absence(expected: JsonValue, actual: JsonValue) -> str | None:
    """Return the kind of a difference in which a value represents absence; None if neither does."""
    lacks_expected, lacks_actual = is_nothing(expected), is_nothing(actual)
    if not (lacks_expected or lacks_actual):
        return None
    if lacks_expected and lacks_actual:
        return NOTHING
    other = actual if lacks_expected else expected
    if type(other) in NUMBERS and not other:
        return ZERO
    return EXTRA_VALUE if lacks_expected else MISSING_VALUE


def is_nothing(value: JsonValue) -> bool:
    """Return whether a value represents absence: null, an empty container, or a text such as "N/A"."""
    if value is None or value is MISSING:
        return True
    if type(value) is str:
        return len(value) <= _LONGEST_PLACEHOLDER and _typeset(value).casefold() in _PLACEHOLDERS
    return type(value) in _CONTAINERS and not value


def _is_wrapped(value: JsonValue, other: JsonValue) -> bool:
    """Return whether a container is an array of the other value only, or the other one is JSON text of it."""
    if type(value) is list and len(value) == 1 and json_equal(value[0], other):
        return True
    if type(other) is str and other.lstrip()[:1] in {"[", "{"} and len(other) <= _MAX_JSON:
        with suppress(ValueError, RecursionError):
            return type(json.loads(other)) is type(value)
    return False


# -- numbers -----------------------------------------------------------------------------------------------


def _to_decimal(number: Any) -> Decimal | None:
    """Return a finite number of ordinary size as a Decimal; None for any other."""
    if type(number) is int and abs(number) >= _LARGE:
        return None
    decimal = (
        Decimal(number)
        if type(number) is int
        else Decimal(repr(float(number)))
        if type(number) is float
        else number
    )
    return decimal if decimal.is_finite() and abs(decimal.adjusted()) < _MAX_EXPONENT else None


def _find_kind_of_numbers(expected: Any, actual: Any) -> str:
    one, other = _write_plainly(expected), _write_plainly(actual)
    if not one or not other:
        return _find_kind_of_decimals(expected, actual)
    if abs(expected - actual) <= 1 and len(one.partition(".")[2]) != len(other.partition(".")[2]):
        return _find_kind_of_decimals(expected, actual)  # one may be rounded
    digits = one.replace(".", "").strip("-0")
    if expected == -actual or (digits == other.replace(".", "").strip("-0") and len(digits) > 1):
        return SIGN
    return FEW_CHARACTERS if _is_one_digit_off(one, other) else OTHER_VALUE


def _write_plainly(number: Any) -> str:
    """Return an ordinary int or float as text without an exponent; empty for any other number."""
    if type(number) is int:
        return str(number) if -_ORDINARY < number < _ORDINARY else ""
    if type(number) is not float:
        return ""
    text = repr(number)
    return text.removesuffix(".0") if text[-1].isdigit() and "e" not in text else ""


def _is_one_digit_off(one: str, other: str) -> bool:
    return len(one) == len(other) > 2 and sum(map(str.__ne__, one, other)) == 1


def _find_kind_of_decimals(expected: Any, actual: Any) -> str:
    """Return the kind of the difference between any two numbers."""
    left, right = _to_decimal(expected), _to_decimal(actual)
    if left is None or right is None:
        return OTHER_VALUE
    left, right = _CONTEXT.normalize(left), _CONTEXT.normalize(right)
    digits = left.as_tuple().digits
    if left == -right or (digits == right.as_tuple().digits and len(digits) > 1):
        return SIGN
    for fine, coarse in ((left, right), (right, left)):
        unit = Decimal((0, (1,), min(int(coarse.as_tuple().exponent), 0)))
        if coarse and fine != _CONTEXT.quantize(fine, unit) == coarse:
            return ROUNDED
    return FEW_CHARACTERS if _is_one_digit_off(f"{left:f}", f"{right:f}") else OTHER_VALUE


def _find_kind_of_number_and_text(value: Any, text: str) -> str:
    if text.strip().casefold() == str(value).casefold():
        return NUMBER_AS_TEXT
    if type(value) is bool:
        return OTHER_VALUE
    if _PLAIN_NUMBER.fullmatch(text) and Decimal(text.strip()) == _to_decimal(value):
        return NUMBER_AS_TEXT
    return AMOUNT if _is_same_amount(value, text) else OTHER_VALUE


@cache
def _get_amount_readers() -> list[Callable[[JsonValue], Any]]:
    from pytest_jsonmatch.engine.comparators.amounts import make_amount_reader

    return [make_amount_reader({"decimal": mark}) for mark in (".", ",")]


@cache
def _get_date_readers() -> list[Callable[[JsonValue], Any]]:
    from pytest_jsonmatch.engine.comparators.dates import make_date_reader

    return [make_date_reader({"order": order, "precision": "day"}) for order in ("ymd", "dmy", "mdy")]


def _strip_digits(value: JsonValue) -> str:
    """Return the digits of a value without zeros at both ends; equal amounts share them."""
    text = value if type(value) is str else repr(value)
    if not text.isascii() or "e" in text:
        return ""
    return "".join(_DIGITS.findall(text)).strip("0")


def _is_same_amount(expected: JsonValue, actual: JsonValue) -> bool:
    """Return whether two values are the same amount if both are read in one way; "007" is not 7."""
    from pytest_jsonmatch.engine.comparators.amounts import units_agree

    left, right = _strip_digits(expected), _strip_digits(actual)
    if left != right and left and right:
        return False
    if any(type(value) is str and _LEADING_ZERO.match(value) for value in (expected, actual)):
        return False
    for read in _get_amount_readers():
        one, other = read(expected), read(actual)
        if one is None or other is None or one.number != other.number:
            continue
        if units_agree(one.currency, other.currency):
            return True
    return False


# -- texts -------------------------------------------------------------------------------------------------


def _find_kind_of_texts(expected: str, actual: str) -> str:
    one, other = _squeeze(expected), _squeeze(actual)
    if one == other:
        return WHITE_SPACE
    one, other = _typeset(expected), _typeset(actual)
    if one == other:
        return TYPOGRAPHY
    one, other = _fold(one), _fold(other)
    if one == other:
        return CASE
    if len(expected) < _LONGEST_FORM and len(actual) < _LONGEST_FORM:
        kind = _find_kind_of_short_texts(expected, actual)
        if kind is not None:
            return kind
    if not (one.isalnum() and other.isalnum()) and _strip_marks(one) == _strip_marks(other) != "":
        return PUNCTUATION
    if abs(len(one) - len(other)) > 1:
        if one in other:
            return LONGER
        if other in one:
            return SHORTER
    return FEW_CHARACTERS if _is_similar(one, other) else OTHER_VALUE


def _find_kind_of_short_texts(expected: str, actual: str) -> str | None:
    """Return the kind of two texts that may be amounts or dates; None if they are not."""
    if not (_DIGITS.search(expected) and _DIGITS.search(actual)):
        return None
    if _is_same_amount(expected, actual):
        return AMOUNT
    for iso, text in ((expected, actual), (actual, expected)):
        if (found := _ISO_DATE.match(iso)) is None:
            continue
        is_iso = _ISO_DATE.match(text) is not None
        if len(iso) > 10 or not is_iso or len(text) > 10:
            readers = _get_date_readers()
            date = readers[0](iso)
            if date is not None and any(read(text) == date for read in readers):
                return DATE
        parts = sorted(map(int, _DIGITS.findall(text)))
        if parts in (sorted(map(int, found.groups())), sorted(map(int, found.groups()[1:]))):
            return PART_OF_DATE
        if is_iso:
            return OTHER_VALUE
    return None


def _squeeze(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


def _typeset(text: str) -> str:
    """Return a text without white space, HTML entities and typographic forms."""
    if text.isascii() and _MARKS_IN_ASCII.isdisjoint(text):
        return "".join(text.split())
    if "&" in text:
        import html

        text = html.unescape(text)
    text = unicodedata.normalize("NFKC", "".join(text.split()).translate(_PLAIN_FORMS))
    return "".join(text.translate(_PLAIN_FORMS).split())


def _fold(text: str) -> str:
    """Return a typeset text without accents and case."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join([c for c in decomposed if not unicodedata.combining(c)]).casefold()


def _strip_marks(text: str) -> str:
    """Return a text without punctuation, but with the marks that are content."""
    content = {found.start() for found in _CONTENT.finditer(text)}
    return "".join(
        [c for at, c in enumerate(text) if c.isalnum() or at in content or unicodedata.category(c)[0] != "P"]
    )


def _is_similar(one: str, other: str) -> bool:
    """Return whether at least 80 % of the characters of two texts are equal."""
    shorter, longer = sorted((len(one), len(other)))
    most = longer // _CHARACTERS_PER_EDIT
    if longer - shorter > most or shorter * longer > _MAX_EDIT_CELLS:
        return False
    from rapidfuzz.distance import Levenshtein

    return bool(Levenshtein.distance(one, other, score_cutoff=most) <= most)
