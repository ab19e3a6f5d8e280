"""The comparator `amount`, for amounts as text with currency, separators and accounting brackets."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.comparators.base import Comparator, Scoring
from pytest_jsonmatch.engine.comparators.equality import make_text_reader
from pytest_jsonmatch.engine.comparators.numbers import make_tolerance_scoring, read_tolerance
from pytest_jsonmatch.engine.comparators.parameters import format_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import to_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.engine.comparators.base import Matrix, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue

_OWNER: Final = "comparator 'amount'"

_CURRENCIES: Final = """
AED, AFN ؋, ALL, AMD ֏, ANG, AOA, ARS $, AUD A$ AU$ $, AWG, AZN ₼, BAM, BBD $, BDT ৳, BGN, BHD, BIF,
BMD $, BND $, BOB, BRL R$, BSD $, BTN, BWP, BYN, BZD $, CAD C$ CA$ $, CDF, CHF SFR FR, CLP $,
CNY CN¥ RMB ¥ 元, COP $, CRC ₡, CUP $, CVE, CZK KČ, DJF, DKK KR, DOP RD$ $, DZD, EGP, ERN, ETB,
EUR EURO EUROS €, FJD $, FKP, GBP £, GEL ₾, GHS ₵, GIP, GMD, GNF, GTQ, GYD $, HKD HK$ 元 $, HNL, HRK, HTG,
HUF FT, IDR, ILS ₪, INR ₹ RS, IQD, IRR, ISK KR, JMD J$ $, JOD, JPY JP¥ 円 ¥, KES, KGS, KHR ៛, KMF, KPW,
KRW ₩ 원, KWD, KYD $, KZT ₸, LAK ₭, LBP, LKR RS, LRD $, LSL, LYD, MAD, MDL, MGA, MKD, MMK, MNT ₮, MOP, MRU,
MUR RS, MVR, MWK, MXN MX$ $, MYR RM, MZN, NAD N$ $, NGN ₦, NIO, NOK KR, NPR RS, NZD NZ$ $, OMR, PAB, PEN,
PGK, PHP ₱, PKR RS, PLN ZŁ, PYG ₲, QAR, RON LEI, RSD, RUB ₽, RWF, SAR, SBD $, SCR RS, SDG, SEK KR,
SGD S$ $, SHP, SLE, SOS, SRD $, SSP, STN, SVC $, SYP, SZL, THB ฿, TJS, TMT, TND, TOP, TRY ₺, TTD TT$ $,
TWD NT$ 元 $, TZS, UAH ₴, UGX, USD US$ $, UYU $, UZS, VES, VND ₫, VUV, WST, XAF FR, XCD EC$ $, XOF FR,
XPF FR, YER, ZAR R, ZMW, ZWG
"""
"""The codes of ISO 4217, each followed by its signs, in capitals and without a full stop."""


def _read_codes() -> dict[str, set[str]]:
    """Return the codes that each code or sign can mean; signs such as $ have several."""
    codes: dict[str, set[str]] = {}
    for code, *signs in map(str.split, _CURRENCIES.split(",")):
        for name in (code, *signs):
            codes.setdefault(name, set()).add(code)
    return codes


PERCENT: Final = "%"
"""The unit of percentages."""
_PER_CENT: Final = Decimal(100)
_CODES: Final = {**_read_codes(), PERCENT: {PERCENT}}
_EQUIVALENTS: Final[Mapping[int, str | int]] = {
    **dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys(map(ord, "’‘ʼ′`´＇"), "'"),
    **dict.fromkeys(map(ord, "−‐‑‒–—﹣－"), "-"),
    **str.maketrans("٬￥＄￡％﹪٪", "'¥$£%%%"),
}
"""Characters and their plain equivalents: spaces, apostrophes, minus signs, wide currency signs."""

_SIGN: Final = {"": "", "+": "", "-": "-", "()": "-"}
# Groups of three digits, or as in India: three at the end, with pairs before them.
_GROUPED: Final = re.compile(r"(?!0\D)(?:\d{1,3}([.,' ])\d{3}(?:\1\d{3})*|\d{1,2}(,)(?:\d{2},)+\d{3})")


@final
class Amount(NamedTuple):
    """A number and its currency or unit: a code, a sign of several currencies, or "%"; None without any."""

    number: float | Decimal
    currency: str | None = None


def _read_numbers(text: str) -> dict[str, Decimal]:
    """Return the numbers that digits and separators can mean, by decimal mark; "" for no decimal mark.

    >>> _read_numbers("1,234"), _read_numbers("1.234,5")
    ({',': Decimal('1.234'), '': Decimal('1234')}, {',': Decimal('1234.5')})
    """
    readings = {}
    for mark in ".,٫":
        integer_part, has_mark, cents = text.rpartition(mark)
        is_grouped = mark not in integer_part and _GROUPED.fullmatch(integer_part)
        if has_mark and cents.isdecimal() and (not integer_part or integer_part.isdecimal() or is_grouped):
            readings[mark] = Decimal(f"{_read_digits(integer_part)}.{cents}")
    if text.isdecimal() or _GROUPED.fullmatch(text):
        readings[""] = Decimal(_read_digits(text))
    return readings


def _read_digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _find_currency(marks: Sequence[str]) -> str | None:
    """Return the code of the currency that all signs and codes mean; the first sign if several remain.

    Raises:
        LookupError: a sign or code is not a currency, or they contradict each other.
    """
    names = [mark.upper().removesuffix(".") for mark in marks]
    if not names:
        return None
    shared = set.intersection(*(_CODES[name] for name in names))
    if not shared:
        raise LookupError
    return shared.pop() if len(shared) == 1 else names[0]


@cache
def _amount_pattern() -> re.Pattern[str]:
    """Return the pattern of amounts; most runs do not need it, and to compile it takes a millisecond."""
    return re.compile(
        r"""(?:([-+(])\s*)? (?:(?P<before>[^-+()\s\d.,']{1,5}\.?)\s*)? (?:([-+(])\s*)?
            (?P<number>(?:\d|[.,٫](?=\d)) (?:[\d.,٫' ]*\d)?) (?P<no_cents>[.,]-{1,2}(?!\d))?
            (?:\s*(?P<close>\)|-(?=\s|$)))? (?:\s*(?P<after>[^-+()\s\d.,']{1,5}\.?))?
            (?:\s*(?P<last>[-)]))?""",
        re.VERBOSE,
    )


def _find_readings(text: str) -> dict[str, Amount]:
    """Return the amounts that a text can mean, by decimal mark; empty if it is not an amount."""
    match = _amount_pattern().fullmatch(text.translate(_EQUIVALENTS))
    if match is None:
        return {}
    brackets = "".join(filter(None, (match[1], match[3], match["close"], match["last"])))
    try:
        sign = _SIGN[brackets]
        currency = _find_currency([mark for mark in (match["before"], match["after"]) if mark])
    except LookupError:
        return {}
    digits = match["number"] + (match["no_cents"] or "").rstrip("-").replace(".", ".00").replace(",", ",00")
    return {
        mark: Amount(_find_double(number.copy_negate() if sign else number), currency)
        for mark, number in _read_numbers(digits).items()
    }


def _find_double(number: Decimal) -> float | Decimal:
    """Return the double with the same decimal notation; return the number itself if there is none."""
    double = float(number)
    return double if Decimal(repr(double)) == number else number


def _convert_percentage(amount: Amount, percent: object) -> Amount:
    """Return a percentage as a number: its points, or the fraction; return any other amount unchanged."""
    if amount.currency != PERCENT:
        return amount
    number = amount.number
    if percent == "fraction":
        exact = number if type(number) is Decimal else Decimal(repr(number))
        number = _find_double(exact / _PER_CENT)
    return Amount(number)


def units_agree(one: str | None, other: str | None) -> bool:
    """Return whether amounts with these currencies or units may be equal; a percentage only another one.

    >>> units_agree("EUR", None), units_agree("%", None)
    (True, False)
    """
    return one == other or (PERCENT not in {one, other} and (one is None or other is None))


def make_amount_reader(params: Params) -> Callable[[JsonValue], Amount | None]:
    """Return a function that reads a number or an amount as text; it returns None for other values.

    Args:
        params: `decimal`, "." or ",": the decimal mark of a text that can be read in two ways, such as 1,234.
            Without it such a text is not read. `percent`, "points" or "fraction": whether 12 % is 12 or 0.12;
            without it, percentages equal percentages only. Other parameters are ignored.
    """
    decimal, percent = params.get("decimal"), params.get("percent")

    def read(text: str) -> Amount | None:
        readings = _find_readings(text)
        if percent is not None:
            readings = {mark: _convert_percentage(amount, percent) for mark, amount in readings.items()}
        if len(set(readings.values())) < 2:
            return next(iter(readings.values()), None)
        return None if decimal is None else readings.get(str(decimal), readings.get(""))

    read_text = make_text_reader(read)

    def read_value(value: JsonValue) -> Amount | None:
        if type(value) is str:
            return read_text(value)
        number = to_number(value)
        return None if number is None else Amount(number)

    return read_value


def _make_amount(params: Params) -> Scoring:
    if params.get("decimal") not in (None, ".", ","):
        raise ConfigurationError(
            f"{_OWNER}: 'decimal' must be '.' or ',', got {format_value(params['decimal'])}"
        )
    if params.get("percent") not in (None, "points", "fraction"):
        raise ConfigurationError(
            f"{_OWNER}: 'percent' must be 'points' or 'fraction', got {format_value(params['percent'])}"
        )
    read = make_amount_reader(params)
    rel, absolute = read_tolerance(_OWNER, params.get("tolerance"))

    def number(value: JsonValue) -> float | Decimal | None:
        return (amount := read(value)) and amount.number

    def currency(value: JsonValue) -> str | None:
        return (amount := read(value)) and amount.currency

    numbers: Any = make_tolerance_scoring(rel, 0.0 if rel is None and absolute is None else absolute, number)

    def score(expected: JsonValue, actual: JsonValue) -> float:
        one, other = currency(expected), currency(actual)
        return numbers.score(expected, actual) if units_agree(one, other) else 0.0

    def table(expected: Sequence[JsonValue], actual: Sequence[JsonValue]) -> Matrix:
        import numpy as np

        from pytest_jsonmatch.engine.comparators.scoretables import make_equality_table

        one, other = (list(map(currency, values)) for values in (expected, actual))
        agree = make_equality_table(one, other)
        agree[[code is None for code in one]] = 1.0
        agree[:, [code is None for code in other]] = 1.0
        for left, right in ((one, other), (other, one)):
            percentages, plain = [code == PERCENT for code in left], [code is None for code in right]
            sides = agree if left is one else agree.T
            sides[np.ix_(percentages, plain)] = 0.0
        scores: Matrix = numbers.table(expected, actual)
        return scores * agree

    return Scoring(score, table)


AMOUNT: Final = Comparator("amount", _make_amount, ("decimal", "percent", "tolerance"))
"""1 for the same amount within the `tolerance` (as of `numeric`), else 0; amounts of two currencies are 0.
`decimal` and `percent`: see `make_amount_reader`. Other values are compared by JSON equality."""

COMPARATORS: Final = (AMOUNT,)
"""The comparators of this module."""
