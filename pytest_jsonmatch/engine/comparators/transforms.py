"""Transforms, which are applied to both values before they are compared.

A transform returns null, and values of types that it does not apply to, unchanged.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from inspect import signature
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.comparators.parameters import (
    accepts,
    check_names,
    format_value,
    get_required,
    read_choice,
)
from pytest_jsonmatch.engine.value.convert import MAX_DIGITS, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.matchers import compile_pattern, replace_all
from pytest_jsonmatch.engine.value.text import format_number, to_number
from pytest_jsonmatch.support.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_jsonmatch.engine.comparators.base import CompiledTransform, Params
    from pytest_jsonmatch.engine.value.convert import JsonValue


@final
class Transform(Frozen):
    """A named function that changes a value before it is compared.

    Args:
        name: the name under which it is registered.
        make: checks the values of the parameters (a ConfigurationError names an invalid one) and returns a
            function of one JSON value. Those of the built-ins never raise errors.
        params: the names of the parameters; None for any.

    >>> BUILTIN["lowercase"].bind({})("IBAN")
    'iban'
    """

    __slots__ = ("make", "name", "params")

    def __init__(
        self,
        name: str,
        make: Callable[[Params], CompiledTransform],
        params: tuple[str, ...] | None = (),
    ) -> None:
        self.name: Final = name
        self.make: Final = make
        self.params: Final = params

    def bind(self, params: Params) -> CompiledTransform:
        """Return the transform bound to parameters, as a function of a value.

        Raises:
            ConfigurationError: a parameter is unknown or invalid.
        """
        if self.params is not None:
            check_names(f"transform {self.name!r}", params, self.params)
        return self.make(params)


def make_user_transform(name: str, fn: Callable[..., JsonValue]) -> Transform:
    """Return a Transform for a function `fn(value)` or `fn(value, params)`; null is never passed to it.

    The caller reports its errors.

    >>> digits = make_user_transform("digits", lambda value: "".join(filter(str.isdigit, value)))
    >>> digits.bind({})("DE-42 7")
    '427'
    """
    if not callable(fn):
        raise ConfigurationError(
            f"transform {name!r} must be a function of (value) or (value, params), got {type(fn).__name__}"
        )
    # The function requires two arguments, or its second one is named `params`.
    if accepts(fn, 2) and (not accepts(fn, 1) or list(signature(fn).parameters)[1:2] == ["params"]):
        return Transform(name, lambda params: UserFunction(fn, (dict(params),)), params=None)
    return Transform(name, lambda _: UserFunction(fn))


@final
class UserFunction:
    """A user's transform with its parameters; unlike built-ins it may raise errors."""

    __slots__ = ("fn", "params")

    def __init__(
        self,
        fn: Callable[..., JsonValue],
        params: tuple[dict[str, object], ...] = (),
    ) -> None:
        self.fn: Final = fn
        self.params: Final = params

    def __call__(self, value: JsonValue) -> JsonValue:
        """Return the transformed value, converted to JSON; null is unchanged. Raises the errors of both."""
        result = None if value is None else self.fn(value, *self.params)
        return result if type(result) is str or result is value else to_json_value(result)


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
    """Return the text without accents and with its case folded (source 2's normalisation).

    >>> normalize_text("José STRASSE") == normalize_text("JOSE straße")
    True
    """
    return text.lower() if text.isascii() else strip_accents(text).casefold()


def strip_punctuation(text: str) -> str:
    """Return the text without characters of the Unicode categories P*; symbols such as $ and + are kept.

    >>> strip_punctuation("Smith, J. (1+1)")
    'Smith J 1+1'
    """
    if text.isalnum():
        return text
    category = unicodedata.category
    return "".join([c for c in text if not category(c).startswith("P")])


_ASCII_FORMS: Final = {
    **dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-"),
    **dict.fromkeys(map(ord, "‘’‚‛′‵ʹʼ´＇‹›"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″‶＂«»"), '"'),
}
"""Typographic spaces, dashes, minus signs and quotes, each with its form in ASCII."""


def fold_punctuation(text: str) -> str:
    r"""Return the text with typographic dashes, quotes, spaces and minus signs in their ASCII forms.

    >>> fold_punctuation("“Rock’n’Roll” – 5\u202fkm")
    '"Rock\'n\'Roll" - 5 km'
    """
    return text if text.isascii() else text.translate(_ASCII_FORMS)


def map_scalars(value: JsonValue, fn: CompiledTransform) -> JsonValue:
    """Return a copy of a JSON value with `fn` applied to every scalar in it, at any depth, except keys.

    >>> map_scalars({"A": ["B", None]}, repr)
    {'A': ["'B'", 'None']}
    """
    if type(value) is dict:
        return {key: map_scalars(item, fn) for key, item in value.items()}
    if type(value) is list:
        return [map_scalars(item, fn) for item in value]
    return fn(value)


def _make_string_transform(name: str, fn: Callable[[str], str]) -> Transform:
    """Return a transform without parameters for a function of a string."""

    def transform(value: JsonValue) -> JsonValue:
        return fn(value) if type(value) is str else value

    return Transform(name, lambda _: transform)


# Transforms with parameters, and `parse_json`


def read_as_json(value: JsonValue) -> JsonValue:
    """Return the value unchanged: texts are parsed before the walk, which then compares the result."""
    return value


def _read_only_choice(owner: str, params: Params, name: str, known: Iterable[str]) -> Any:
    """Return the only parameter of a transform, which must be one of the known words."""
    names = list(known)
    value = get_required(owner, params, name, f'{{"{name}": "{names[0]}"}}')
    return read_choice(owner, name, value, names)


def _make_unicode(params: Params) -> CompiledTransform:
    form = _read_only_choice("transform 'unicode'", params, "form", ("NFC", "NFD", "NFKC", "NFKD"))
    return lambda value: unicodedata.normalize(form, value) if type(value) is str else value


def _make_replace(params: Params) -> CompiledTransform:
    owner = "transform 'replace'"
    written = get_required(owner, params, "pattern", '{"pattern": " GmbH$", "with": ""}')
    replacement = params.get("with", "")
    for name, value in (("pattern", written), ("with", replacement)):
        if not isinstance(value, str):
            raise ConfigurationError(f"{owner}: {name!r} must be a string, got {format_value(value)}")
    try:
        pattern = compile_pattern(str(written))
    except ValueError as error:
        raise ConfigurationError(f"{owner}: {error}") from None
    try:
        # An optional match, in which all groups exist, shows mistakes in the replacement.
        compile_pattern(f"(?:{written})?").sub(str(replacement), "")
    except Exception as error:  # of the package `regex`
        raise ConfigurationError(f"{owner}: 'with' is {replacement!r}: {error}") from error

    def replace(value: JsonValue) -> JsonValue:
        return replace_all(pattern, str(replacement), value) if type(value) is str else value

    return UserFunction(replace)  # may raise a TimeoutError


def _make_round_digits(params: Params) -> CompiledTransform:
    owner = "transform 'round_digits'"
    digits = get_required(owner, params, "digits", '{"digits": 2}')
    if not isinstance(digits, int) or isinstance(digits, bool) or not -400 <= digits <= 400:
        raise ConfigurationError(f"{owner}: 'digits' must be an integer from -400 to 400, got {digits!r}")

    def transform(value: JsonValue) -> JsonValue:
        if type(value) is not float and type(value) is not int:
            return value
        try:
            return round(value, digits)
        except OverflowError:  # 1.7e308 rounded up to hundreds is too large for a double
            return value

    return transform


def _convert_to_text(value: JsonValue) -> JsonValue:
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        if value - value != 0.0:
            return value  # equal to nothing, also as text
        return format_number(int(value) if value.is_integer() else value)
    if kind is Decimal:
        return _format_decimal(value)
    return format_number(value) if kind is int else value


def _format_decimal(number: Decimal) -> str:
    """Return the same text for equal numbers; integers of at most 4,300 digits are written out."""
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    power = int(exponent) + len(digits) - len(text)
    if power >= 0 and len(text) + power <= MAX_DIGITS:
        return "-" * sign + text + "0" * power
    return str(Decimal((sign, tuple(map(int, text)), power)))


def _convert_to_number(value: JsonValue) -> JsonValue:
    if type(value) is not str:
        return value
    number = to_number(value)
    return value if number is None else number


def _convert_to_int(value: JsonValue) -> JsonValue:
    kind = type(value)
    if kind is float and value - value == 0.0:
        return int(value)
    number = _convert_to_number(value)
    return number if type(number) is int else value


def _convert_to_bool(value: JsonValue) -> JsonValue:
    kind = type(value)
    word = value.strip().lower() if kind is str else value if kind is int or kind is float else None
    if word in {"true", "yes", "1", 1}:
        return True
    return False if word in {"false", "no", "0", 0} else value


_CONVERSIONS: Final[Mapping[str, CompiledTransform]] = {
    "str": _convert_to_text,
    "float": _convert_to_number,
    "int": _convert_to_int,
    "bool": _convert_to_bool,
    "string": _convert_to_text,
    "number": _convert_to_number,
    "integer": _convert_to_int,
    "boolean": _convert_to_bool,
}


def _make_type_convert(params: Params) -> CompiledTransform:
    return _CONVERSIONS[_read_only_choice("transform 'type_convert'", params, "to", _CONVERSIONS)]


BUILTIN: Final[Mapping[str, Transform]] = {
    transform.name: transform
    for transform in (
        _make_string_transform("lowercase", str.lower),
        _make_string_transform("strip", str.strip),
        _make_string_transform("normalize_whitespace", lambda text: " ".join(text.split())),
        _make_string_transform("sort_tokens", lambda text: " ".join(sorted(text.split()))),
        Transform("round_digits", _make_round_digits, ("digits",)),
        Transform("type_convert", _make_type_convert, ("to",)),
        _make_string_transform("strip_accents", strip_accents),
        _make_string_transform("casefold", str.casefold),
        Transform("unicode", _make_unicode, ("form",)),
        _make_string_transform("strip_punctuation", strip_punctuation),
        _make_string_transform("fold_punctuation", fold_punctuation),
        Transform("replace", _make_replace, ("pattern", "with")),
        Transform("parse_json", lambda _: read_as_json),
    )
}
"""The built-in transforms of every registry.

| name | parameters | what it does |
|---|---|---|
| `lowercase` | | `str.lower` |
| `casefold` | | `str.casefold`: "ß" becomes "ss" |
| `strip` | | drops white space at both ends |
| `normalize_whitespace` | | turns every run of white space into one space, with none at the ends |
| `sort_tokens` | | sorts the words between white space |
| `strip_accents` | | decomposes (NFD), then drops combining marks (category Mn) |
| `strip_punctuation` | | drops characters of the Unicode categories P*; symbols such as $ and + stay |
| `fold_punctuation` | | typographic dashes, quotes, spaces and minus signs become "-", "'", '"' and " " |
| `replace` | `pattern`, `with` | replaces each match of a regular expression; `with` may refer to groups |
| `unicode` | `form`: NFC, NFD, NFKC, NFKD | Unicode normal form |
| `round_digits` | `digits` | rounds a number as Python's `round` does |
| `type_convert` | `to`: str, float, int, bool | reads or writes a value as another type |
| `parse_json` | | reads JSON text inside JSON, and compares its value leaf by leaf |

`type_convert` to `str` writes numbers and booleans as JSON text, equal numbers alike (12.0 as "12"); to
`float` reads numeric strings; to `int` reads strings of digits and cuts off a number's fraction; to `bool`
reads true/false, yes/no, 1/0 in any case. Values that can't be converted ("n/a" to a float, a boolean to a
number) stay as they are. JSON Schema's names `string`, `number`, `integer` and `boolean` mean the same.
"""
