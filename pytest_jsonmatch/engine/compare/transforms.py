"""Transforms: what is done to both values before they are compared.

A transform leaves values of other types than its own, and null, unchanged.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.compare.parameters import check_names, required
from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.text import as_number, number_text, parse_number

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["BUILTIN", "Transform", "map_strings", "normalize_text", "strip_accents", "user_transform"]

Params: TypeAlias = Mapping[str, object]
Function: TypeAlias = Callable[[JsonValue], JsonValue]


@final
@dataclass(frozen=True, slots=True)
class Transform:
    """One way to change a value before comparing.

    Args:
        name: what it is registered under.
        bind: takes the parameters, checks them once (ConfigurationError names a wrong one) and returns a
            plain function of one JSON value. Those of the built-ins never raise.

    >>> BUILTIN["lowercase"].bind({})("IBAN")
    'iban'
    """

    name: str
    bind: Callable[[Params], Function]


def user_transform(name: str, fn: Callable[..., JsonValue]) -> Transform:
    """Make a Transform of a function `fn(value)` or `fn(value, params)`; null passes it by.

    What it raises is for the caller to report.

    >>> digits = user_transform("digits", lambda value: "".join(filter(str.isdigit, value)))
    >>> digits.bind({})("DE-42 7")
    '427'
    """
    if not callable(fn):
        raise ConfigurationError(
            f"transform {name!r} must be a function of (value) or (value, params), not {type(fn).__name__}"
        )

    takes_params = _takes_params(fn)

    def bind(params: Params) -> Function:
        if takes_params:
            return UserFunction(fn, (dict(params),))
        check_names(f"transform {name!r}", params)
        return UserFunction(fn, ())

    return Transform(name, bind)


@final
class UserFunction:
    """A user's transform with its parameters; unlike a built-in it may raise, or answer as it likes."""

    __slots__ = ("_fn", "_params")

    def __init__(self, fn: Callable[..., JsonValue], params: tuple[dict[str, object], ...]) -> None:
        self._fn = fn
        self._params = params

    def __call__(self, value: JsonValue) -> JsonValue:
        return None if value is None else self._fn(value, *self._params)


def _takes_params(fn: Callable[..., JsonValue]) -> bool:
    """Tell whether a function has to be called with two arguments, or names its second one `params`."""
    import inspect

    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some C functions, `str` for one, have none
        return False
    if list(signature.parameters)[1:2] == ["params"]:
        return True
    try:
        signature.bind(None)
    except TypeError:
        return True
    return False


# Functions of a string


def strip_accents(text: str) -> str:
    """Return the text decomposed (NFD) and without combining marks (category Mn).

    >>> strip_accents("Crème brûlée")
    'Creme brulee'
    """
    if text.isascii():
        return text
    category = unicodedata.category
    return "".join([c for c in unicodedata.normalize("NFD", text) if c < "\u0300" or category(c) != "Mn"])


def normalize_text(text: str) -> str:
    """Return the text without accents and with its case folded: source 2's normalisation.

    >>> normalize_text("José STRASSE") == normalize_text("JOSE straße")
    True
    """
    return text.lower() if text.isascii() else strip_accents(text).casefold()


def _normalize_whitespace(text: str) -> str:
    return " ".join(text.split())


def _sort_tokens(text: str) -> str:
    return " ".join(sorted(text.split()))


def _strip_punctuation(text: str) -> str:
    if text.isalnum():
        return text
    category = unicodedata.category
    return "".join([c for c in text if not category(c).startswith("P")])


def map_strings(value: JsonValue, fn: Callable[[str], str]) -> JsonValue:
    """Return a copy of a JSON value with `fn` applied to every string value in it, at any depth, not to keys.

    >>> map_strings({"A": ["B", 1]}, str.lower)
    {'A': ['b', 1]}
    """
    root = [value]
    stack: list[JsonValue] = [root]
    while stack:
        holder = stack.pop()
        places: Iterable[tuple[JsonValue, JsonValue]]
        places = holder.items() if type(holder) is dict else enumerate(holder)
        for place, item in places:
            kind = type(item)
            if kind is str:
                holder[place] = fn(item)
            elif kind is list or kind is dict:
                # Replacing a member keeps the size, so that going on with the iteration is safe.
                holder[place] = copy = item.copy()
                stack.append(copy)
    return root[0]


def _of_strings(name: str, fn: Callable[[str], str]) -> Transform:
    """Make a transform without parameters of a function of a string."""

    def transform(value: JsonValue) -> JsonValue:
        return fn(value) if type(value) is str else value

    def bind(params: Params) -> Function:
        check_names(f"transform {name!r}", params)
        return transform

    return Transform(name, bind)


# Transforms with parameters


def _bind_unicode(params: Params) -> Function:
    owner = "transform 'unicode'"
    check_names(owner, params, ["form"])
    form = _one_of(owner, "form", required(owner, params, "form", '{"form": "NFC"}'), _FORMS)
    normal: Literal["NFC", "NFD", "NFKC", "NFKD"] = _FORMS[form]

    def transform(value: JsonValue) -> JsonValue:
        return unicodedata.normalize(normal, value) if type(value) is str else value

    return transform


_FORMS: Final[Mapping[str, Literal["NFC", "NFD", "NFKC", "NFKD"]]] = MappingProxyType(
    {"NFC": "NFC", "NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD"}
)


def _one_of(owner: str, name: str, value: object, known: Iterable[str]) -> str:
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    raise ConfigurationError(
        f"{owner}: {name!r} must be one of {', '.join(names)}, not {value!r}"
        + (did_you_mean(value, names) if isinstance(value, str) else "")
    )


def _bind_round_digits(params: Params) -> Function:
    owner = "transform 'round_digits'"
    check_names(owner, params, ["digits"])
    digits = required(owner, params, "digits", '{"digits": 2}')
    if not isinstance(digits, int) or isinstance(digits, bool) or not -400 <= digits <= 400:
        raise ConfigurationError(f"{owner}: 'digits' must be an integer from -400 to 400, not {digits!r}")

    def transform(value: JsonValue) -> JsonValue:
        if type(value) is not float and type(value) is not int:
            return value
        try:
            return round(value, digits)
        except OverflowError:  # 1.7e308 rounded up to hundreds leaves the doubles
            return value

    return transform


def _to_text(value: JsonValue) -> JsonValue:
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    return number_text(value) if kind is int or kind is float or kind is Decimal else value


def _to_number(value: JsonValue) -> JsonValue:
    if type(value) is not str:
        return value
    number = as_number(value)
    return value if number is None else number


def _to_float(value: JsonValue) -> JsonValue:
    number = _to_number(value)
    if type(number) is not int:
        return number
    try:
        double = float(number)
    except OverflowError:
        return number
    return double if double == number else number


def _to_int(value: JsonValue) -> JsonValue:
    kind = type(value)
    if kind is float and value - value == 0.0:
        return int(value)
    if kind is str:
        text = value.strip()
        unsigned = text[1:] if text[:1] in {"+", "-"} else text
        if unsigned.isdecimal() and unsigned.isascii():
            try:
                number = parse_number(unsigned.lstrip("0") or "0")
            except ValueError:  # over 100,000 digits
                return value
            return -number if text[0] == "-" else number
    return value


def _to_bool(value: JsonValue) -> JsonValue:
    kind = type(value)
    if kind is str:
        return _BOOLEANS.get(value.strip().lower(), value)
    return value == 1 if (kind is int or kind is float) and value in {0, 1} else value


_BOOLEANS: Final[Mapping[str, bool]] = MappingProxyType(
    {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
)
_CONVERSIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "str": _to_text,
        "float": _to_float,
        "int": _to_int,
        "bool": _to_bool,
        "string": _to_text,
        "number": _to_number,
        "integer": _to_int,
        "boolean": _to_bool,
    }
)


def _bind_type_convert(params: Params) -> Function:
    owner = "transform 'type_convert'"
    check_names(owner, params, ["to"])
    to = _one_of(owner, "to", required(owner, params, "to", '{"to": "float"}'), _CONVERSIONS)
    return _CONVERSIONS[to]


BUILTIN: Final[Mapping[str, Transform]] = MappingProxyType(
    {
        transform.name: transform
        for transform in (
            _of_strings("lowercase", str.lower),
            _of_strings("strip", str.strip),
            _of_strings("normalize_whitespace", _normalize_whitespace),
            _of_strings("sort_tokens", _sort_tokens),
            Transform("round_digits", _bind_round_digits),
            Transform("type_convert", _bind_type_convert),
            _of_strings("strip_accents", strip_accents),
            _of_strings("casefold", str.casefold),
            Transform("unicode", _bind_unicode),
            _of_strings("strip_punctuation", _strip_punctuation),
        )
    }
)
"""The transforms every registry starts with.

| name | parameters | what it does |
|---|---|---|
| `lowercase` | | `str.lower` |
| `casefold` | | `str.casefold`: "ß" becomes "ss" |
| `strip` | | drops white space at both ends |
| `normalize_whitespace` | | every run of white space becomes one space, none at the ends |
| `sort_tokens` | | the words between white space, sorted |
| `strip_accents` | | NFD, then without combining marks (category Mn) |
| `strip_punctuation` | | without characters of the Unicode categories P*; symbols such as $ and + stay |
| `unicode` | `form`: NFC, NFD, NFKC, NFKD | Unicode normal form |
| `round_digits` | `digits` | rounds a number as Python's `round` does |
| `type_convert` | `to`: str, float, int, bool | reads or writes a value as another type |

`type_convert` to `str` writes numbers and booleans as JSON text; to `float` reads numeric strings and makes
integers floats where that loses nothing; to `int` reads strings of digits and cuts off a number's fraction;
to `bool` reads true/false, yes/no, 1/0 in any case. What makes no sense (a float of "n/a", a number of a
boolean) stays as it is. JSON Schema's names `string`, `integer` and `boolean` mean the same; `number` reads
numeric strings and leaves integers integers.
"""
