"""The JSON value model, and the conversion of Python values into it.

Inside the engine a JSON value is None, bool, int, float, str, list or dict; a number too large for a double,
such as 1e400, is a Decimal. It has at most `MAX_DEPTH` levels, and integers of at most `MAX_DIGITS` digits.
Both limits are checked where values come in: here, and where JSON text, YAML and schemas are read. All other
code can therefore be plainly recursive.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import pathlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import (
    InvalidExpectedError,
    JsonMatchError,
    UnsupportedValueError,
    format_error,
)
from pytest_jsonmatch.engine.value.models import dump_model, is_model
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.snapshots import is_foreign, read_expected_snapshot

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_jsonmatch.engine.value.models import Form
    from pytest_jsonmatch.engine.value.paths import Segment

    Where: TypeAlias = tuple[Segment, ...]

# `Any`, since a recursive alias would need a cast at every step of every walk and find no more mistakes.
JsonValue: TypeAlias = Any
Side: TypeAlias = Literal["expected", "actual"]

NUMBERS: Final = frozenset({int, float, Decimal})
"""The types of JSON numbers, without `bool`, which is a subclass of int in Python."""
CONTAINERS: Final = frozenset({dict, list})
"""The types of objects and arrays."""
MAX_DEPTH: Final = 128
"""The maximum number of nested levels of arrays and objects; values with more are errors."""
MAX_DIGITS: Final = 4300
"""The maximum number of digits of integers; integers with more are errors."""
TOO_DEEP: Final = f"more than {MAX_DEPTH} levels of arrays and objects"
"""The text of errors about the first limit; they add the place and a hint."""
TOO_LONG: Final = f"an integer of more than {MAX_DIGITS:,} digits; give it as a string"
"""The text of errors about the second limit."""
_LONG_PATH: Final = 80
_SHOWN_PATH: Final = 30
"""The number of characters of a long path that are shown at each end."""
_FEW_BITS: Final = 3 * MAX_DIGITS
"""An integer of this many bits has fewer digits than the limit, since a digit takes more than three bits."""


@final
class _Missing:
    """The type of `MISSING`, the marker for a place without a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> Literal[False]:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


JSON_TYPES: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})
"""The names of the JSON types."""
MISSING: Final = _Missing()
PlaceKey: TypeAlias = str | int | _Missing | None
"""A key or index in one side's container; `MISSING` if that side has no value, None for the root."""


@final
class Matcher:
    """An object in expected in place of a value, which decides which values of actual are accepted.

    Args:
        source: the matcher as written: a Python object, or in a golden file an object such as
            `{"$any": true}`; in a pickled result, its `form`.
        text: the text of the matcher as written.
        accepts: returns whether a JSON value without NaN and infinities is accepted; it may raise errors.
        types: the JSON types of the values that it may accept.
    """

    __slots__ = ("_accepts", "source", "text", "types")

    def __init__(
        self,
        source: object,
        text: str,
        accepts: Callable[[JsonValue], object],
        types: Collection[str] | None = None,
    ) -> None:
        self.types: frozenset[str] = JSON_TYPES if types is None else frozenset(types)
        self.source: object = source
        self.text: str = text
        self._accepts = accepts

    @property
    def is_absence(self) -> bool:
        """Whether the member must not be there."""
        return not self.types

    @property
    def form(self) -> JsonValue:
        """The form for files: the object of a golden file, or the text of a Python object."""
        return self.source if type(self.source) is dict else self.text

    def score(self, _expected: JsonValue, actual: JsonValue) -> float:
        """Return 1 for an accepted value, else 0; NaN and infinities are never accepted."""
        return 1.0 if is_finite(actual) and self._accepts(actual) else 0.0

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if type(other) is not Matcher:
            return False
        is_data = type(self.source) is dict or type(self.source) is str
        return self.source is other.source or (is_data and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> Any:
        # Objects of other packages may not be picklable, so only the form for files is pickled.
        return Matcher, (self.form, self.text, _refuse, self.types)


def _refuse(_actual: JsonValue) -> NoReturn:
    raise TypeError("this matcher was read from a pickled result, which keeps its text only")


def is_finite(value: JsonValue) -> bool:
    """Return whether a value contains neither NaN nor infinities."""
    if type(value) is dict or type(value) is list:
        return all(map(is_finite, value.values() if type(value) is dict else value))
    return type(value) is not float or value - value == 0.0


def to_file_form(value: JsonValue) -> JsonValue:
    """Return the form of a matcher for files; return any other value unchanged."""
    return value.form if type(value) is Matcher else value


NO_SCALARS: Final = frozenset({dict, list, Matcher})
"""The types of values in expected that are not compared as scalars."""


def get_value(value: JsonValue, keys: Sequence[Any]) -> JsonValue:
    """Return the value at a path of keys and indices; MISSING if there is none.

    >>> get_value({"a": [1, 2]}, ("a", 1)), get_value({"a": "x"}, ("a", 0)) is MISSING
    (2, True)
    """
    for key in keys:
        if type(value) is dict:
            value = value.get(key, MISSING)
        else:
            is_there = type(value) is list and type(key) is int and key < len(value)
            value = value[key] if is_there else MISSING
    return value


def replace_value(value: JsonValue, keys: Sequence[Any], new: JsonValue) -> JsonValue:
    """Return a copy of a value with `new` at a path of keys and indices; MISSING removes the value there.

    >>> replace_value({"a": [1, 2]}, ("a", 2), 3), replace_value({"a": [1, 2]}, ("a", 0), MISSING)
    ({'a': [1, 2, 3]}, {'a': [2]})
    """
    if not keys:
        return new
    key, *inner_keys = keys
    copy = value.copy()
    if inner_keys:
        new = replace_value(get_value(value, (key,)), inner_keys, new)
    if new is MISSING:
        del copy[key]
    elif type(copy) is list and key == len(copy):
        copy.append(new)
    else:
        copy[key] = new
    return copy


def json_type(value: JsonValue) -> str:
    """Return the JSON type name of a JSON value: null, boolean, number, string, array or object.

    >>> [json_type(v) for v in (None, True, 1, 1.5, "x", [], {})]
    ['null', 'boolean', 'number', 'number', 'string', 'array', 'object']
    """
    return _TYPE_NAMES[type(value)]


_TYPE_NAMES: Final[dict[type, str]] = {
    NoneType: "null",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    str: "string",
    list: "array",
    dict: "object",
    Matcher: "matcher",
}
SCHEMA_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
"""The types of JSON Schema, which distinguishes integers from other numbers."""


def fits_types(value: JsonValue, types: Collection[str]) -> bool:
    """Return whether a JSON value has one of the JSON Schema types; an empty collection allows all types.

    >>> fits_types(2.0, ["integer"]), fits_types(True, ["integer", "null"])
    (True, False)
    """
    name = json_type(value)
    return not types or name in types or (name == "number" and "integer" in types and is_integral(value))


def is_integral(number: JsonValue) -> bool:
    """Return whether the value of a number is an integer, as that of 1.0."""
    if type(number) is float:
        return number.is_integer()
    return type(number) is int or type(number) is Decimal


def to_json_value(value: object, *, side: Side = "actual") -> JsonValue:
    """Convert a Python value to a JSON value, without sharing containers.

    Args:
        value: a dict, list, tuple, str, int, float, bool, None, any Mapping or Sequence, a pydantic model, a
            dataclass or attrs instance, an Enum (its value), Decimal, date, datetime, time (ISO 8601 text),
            UUID or Path (text), or a scalar of numpy; nested at any depth.
        side: "expected" raises an error for NaN and infinities; "actual" keeps them, but they equal nothing.

    Raises:
        UnsupportedValueError: (a TypeError) a value has no JSON form; the message names its path.
        InvalidExpectedError: (a ValueError) expected contains NaN or an infinity.

    >>> to_json_value({"when": dt.date(2026, 1, 31), "tags": ("a", "b")})
    {'when': '2026-01-31', 'tags': ['a', 'b']}
    """
    if type(value) is dict and (flat := copy_flat(value)) is not None:
        return flat
    return convert_by(value, ConversionRules(side))


@final
class ConversionRules(NamedTuple):
    """The rules for converting the values of one side."""

    side: Side
    to_matcher: Callable[[Any], Matcher | None] | None = None
    """Returns the matcher for an object, or None if it is not a matcher; None if matchers are not allowed."""
    form: Form = "configured"
    """The form in which pydantic models are written."""
    models: list[type] | None = None
    """Collects the classes of pydantic models."""


def copy_flat(value: dict[Any, Any]) -> dict[str, JsonValue] | None:
    """Copy a dict of plain scalars as fast as possible; return None if a value needs further checks.

    >>> copy_flat({"a": 1, "b": None}), copy_flat({"a": [1]})
    ({'a': 1, 'b': None}, None)
    """
    total = 0.0
    for key, item in value.items():
        if type(key) is not str:
            return None
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is float:
            total += item
        elif kind is not int or not -_EVERYDAY_INTEGER < item < _EVERYDAY_INTEGER:
            return None
    # One test for all numbers: the sum is NaN or infinite if any number is, or if it overflows.
    return value.copy() if total - total == 0.0 else None


_EVERYDAY_INTEGER: Final = 2**63


def convert_by(value: Any, rules: ConversionRules, where: Where = ()) -> JsonValue:
    """Convert the value at a place."""
    unwrapped = _unwrap(value, rules, where)
    kind = type(unwrapped)
    if kind is not dict and kind is not list:
        return unwrapped
    if len(where) >= MAX_DEPTH:
        raise UnsupportedValueError(
            f"{rules.side} has {TOO_DEEP} at {_shorten_path(where)}; compare its parts one by one "
            "(an object that contains itself has no JSON form)"
        )
    if kind is dict:
        flat = copy_flat(unwrapped)
        return _convert_object(unwrapped, rules, where) if flat is None else flat
    if set(map(type, unwrapped)) == {str}:
        return unwrapped.copy()
    array = []
    for at, item in enumerate(unwrapped):
        kind = type(item)
        is_text = kind is str or kind is bool or item is None
        array.append(item if is_text else convert_by(item, rules, (*where, at)))
    return array


def _shorten_path(where: Where) -> str:
    path = format_path(where)
    return path if len(path) <= _LONG_PATH else f"{path[:_SHOWN_PATH]}…{path[-_SHOWN_PATH:]}"


def _convert_object(value: dict[Any, Any], rules: ConversionRules, where: Where) -> dict[str, JsonValue]:
    converted = {}
    for key, item in value.items():
        if type(key) is not str:
            if not isinstance(key, str):
                raise _make_key_error(key, rules, where)
            key = str.__str__(key)  # noqa: PLW2901 - a str subclass, converted
        kind = type(item)
        is_text = kind is str or kind is bool or item is None
        converted[key] = item if is_text else convert_by(item, rules, (*where, key))
    return converted


def _make_key_error(key: object, rules: ConversionRules, where: Where) -> UnsupportedValueError:
    return UnsupportedValueError(
        f"{rules.side} has the key {key!r} ({type(key).__name__}) in the object at {format_path(where)}; "
        "JSON keys are strings: convert it before comparing"
    )


def _unwrap(item: Any, rules: ConversionRules, where: Where) -> Any:
    """Return `item` as a scalar, or as a dict or list whose members are still to be converted."""
    kind = type(item)
    if kind in _UNCHANGED_TYPES:
        return item
    if kind is float:
        return _check_float(item, rules, where)
    if isinstance(item, enum.Enum):
        return _unwrap(item.value, rules, where)
    if isinstance(item, int):
        return _check_int(int(item), rules, where)
    if isinstance(item, float):
        return _check_float(float(item), rules, where)
    if isinstance(item, Decimal):
        return _convert_decimal(item, rules, where)
    for types, convert in _CONVERTERS.items():
        if isinstance(item, types):
            return convert(item)
    if rules.to_matcher is not None and (matcher := _find_matcher(item, rules.to_matcher, where)) is not None:
        return matcher
    if is_foreign(item) or is_model(item):
        return _unwrap(_dump(item, rules, where), rules, where)
    if getattr(item, "shape", None) == () and callable(scalar := getattr(item, "item", None)):
        return _unwrap(scalar(), rules, where)  # a scalar of numpy
    if (members := _get_members(item)) is not None:
        return members
    if isinstance(item, Sequence) and not isinstance(item, (bytes, bytearray, memoryview)):
        return list(item)
    raise _make_unsupported_error(item, rules, where)


def _dump(item: Any, rules: ConversionRules, where: Where) -> Any:
    """Return the value of a snapshot or of a pydantic model."""
    if not is_foreign(item):
        if rules.models is not None:
            rules.models.append(type(item))
        return dump_model(item, rules.form)
    path = format_path(where)
    if rules.side == "expected":
        return read_expected_snapshot(item, path)
    raise UnsupportedValueError(
        f"actual has a snapshot ({type(item).__name__}) at {path}, but snapshots belong in expected; are the "
        "two arguments swapped?"
    )


def _find_matcher(item: object, to_matcher: Callable[[Any], Matcher | None], where: Where) -> Matcher | None:
    try:
        return to_matcher(item)
    except Exception as error:  # from its repr or its pattern
        reason = str(error) if isinstance(error, JsonMatchError) else format_error(error)
        raise InvalidExpectedError(
            f"expected has at {format_path(where)} a matcher that can't be used: {reason}"
        ) from error


def _make_unsupported_error(item: object, rules: ConversionRules, where: Where) -> UnsupportedValueError:
    import inspect

    name = type(item).__name__
    description = f"a{'n' if name[0] in 'aeiouAEIOU' else ''} {name}"
    if isinstance(item, type):
        description = f"the class {item.__name__}"
    message = f"{rules.side} has {description} at {format_path(where)}, which has no JSON form"
    bases = {base.__name__ for base in (item if isinstance(item, type) else type(item)).__mro__}
    if rules.side == "actual" and not _MATCHERS.isdisjoint(bases):
        return UnsupportedValueError(
            f"actual has a matcher ({name}) at {format_path(where)}, but matchers belong in expected; "
            "are the two arguments swapped?"
        )
    if isinstance(item, type):
        is_model = callable(getattr(item, "model_json_schema", None))
        message += "; give an instance" + (", or the class as `schema`" if is_model else "")
    elif inspect.isawaitable(item):
        message += "; await it first"
    elif inspect.isroutine(item):
        message += "; call it" + (" and await the result" if inspect.iscoroutinefunction(item) else "")
    elif isinstance(item, (bytes, bytearray)):
        message += "; decode it first"
    elif isinstance(item, (set, frozenset)):
        message += "; give a list"
    elif name.startswith("Approx"):
        message += "; write pytest.approx for each number"
    elif isinstance(item, Iterator):
        message += "; give a list"
    else:
        calls = (f"; call .{call}({argument})" for call, argument in _CALLS if hasattr(item, call))
        message += next(calls, "")
    return UnsupportedValueError(message)


def _get_members(item: Any) -> Any:
    """Return the members of a dataclass or attrs instance, or what `model_dump` returns; None without one."""
    if isinstance(item, type):
        return None
    if callable(getattr(type(item), "model_dump", None)):  # a mock itself has any attribute
        return item.model_dump()
    if dataclasses.is_dataclass(item):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    attributes = getattr(type(item), "__attrs_attrs__", None)
    return None if attributes is None else {field.name: getattr(item, field.name) for field in attributes}


_MATCHERS: Final = frozenset({"_ANY", "ApproxScalar", "DirtyEquals", "Pattern"})
"""The classes of the matchers of unittest.mock, pytest, dirty-equals and re."""
_CALLS: Final = (("json", ""), ("to_dicts", ""), ("tolist", ""), ("to_list", ""), ("to_dict", "'records'"))
"""Methods of responses, data frames, columns and arrays that return JSON values, with their arguments."""
_UNCHANGED_TYPES: Final = frozenset({dict, list, str, bool, NoneType})
_CONVERTERS: Final[Mapping[Any, Callable[[Any], Any]]] = {
    str: str.__str__,
    (dt.date, dt.time): lambda item: item.isoformat(),
    (uuid.UUID, pathlib.PurePath): str,
    Mapping: lambda item: dict(item.items()),
}


def _check_int(number: int, rules: ConversionRules, where: Where) -> int:
    if number.bit_length() <= _FEW_BITS or abs(number) < 10**MAX_DIGITS:
        return number
    raise (InvalidExpectedError if rules.side == "expected" else UnsupportedValueError)(
        f"{rules.side} holds at {format_path(where)} {TOO_LONG}"
    )


def _check_float(number: float, rules: ConversionRules, where: Where) -> float:
    if rules.side == "expected" and not math.isfinite(number):
        raise InvalidExpectedError(
            f"expected holds {number!r} at {format_path(where)}; JSON has no such number"
        )
    return number


def _convert_decimal(number: Decimal, rules: ConversionRules, where: Where) -> int | float | Decimal:
    if not number.is_finite():
        return _check_float(float("nan") if number.is_nan() else float(number), rules, where)
    nearest_double = float(number)
    if math.isinf(nearest_double):
        return number
    return int(number) if number == number.to_integral_value() else nearest_double
