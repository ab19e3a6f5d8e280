"""`parametrize`: its rows, and the placeholders `${name}` for their values."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.golden.keys import as_id, bad_id
from pytest_jsonmatch.reading.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.reading.errors import Steps

_NAME: Final = re.compile(r"[^\W\d]\w*")
"""The name of a parameter."""

_PLACEHOLDER: Final = re.compile(r"(\$?)\$\{([^{}]*)\}")
_LONGEST: Final = 40
# A few names with many values each would otherwise need all memory.
_MOST: Final = 100_000


@final
class Expansion(NamedTuple):
    """A row of parameters, and the suffix that it adds to the id of its case."""

    suffix: str
    values: Mapping[str, JsonValue]


def expansions(given: JsonValue) -> list[Expansion]:
    """Return the rows of `parametrize`: all combinations of a mapping, or the items of a list.

    Raises:
        InvalidValueError: the value is not valid.

    >>> [row.suffix for row in expansions({"shop": ["Ann's", "Bo"], "n": [1, 2]})]
    ['Ann-s-1', 'Ann-s-2', 'Bo-1', 'Bo-2']
    >>> expansions([{"id": "none", "n": None}, {"n": [1]}])[1]
    Expansion(suffix='2', values={'n': [1]})
    """
    expanded: list[Expansion] = []
    used: set[str] = set()
    for number, row in enumerate(_rows(given), 1):
        values = {name: value for name, value in row.items() if name != "id"}
        suffix = row["id"] if "id" in row else _suffix(values, number)
        if suffix in used and "id" not in row:
            suffix = f"{suffix}-{number}"
        used.add(suffix)
        expanded.append(Expansion(suffix, values))
    return expanded


def _rows(given: Any) -> list[dict[str, JsonValue]]:
    if type(given) is dict and given:
        for name, values in given.items():
            _check_name(name, name)
            if name == "id":
                raise InvalidValueError(
                    ": the ids of a mapping are made of its values; give a list of rows to choose them", name
                )
            if type(values) is not list or not values:
                raise InvalidValueError(f": {name!r} must be a list of its values", name)
        count = math.prod(map(len, given.values()))
        if count > _MOST:
            raise InvalidValueError(f"makes {count:,} cases of one; at most {_MOST:,} are allowed")
        return [dict(zip(given, values)) for values in itertools.product(*given.values())]
    if type(given) is not list or not given:
        raise InvalidValueError("must map names to lists of values, or list rows of names and values")
    names: set[str] = set()
    for number, row in enumerate(given):
        if type(row) is not dict or not row.keys() - {"id"}:
            raise InvalidValueError(": a row is a mapping of names to values", number)
        for name in row:
            _check_name(name, number, name)
        own = row.keys() - {"id"}
        names = names or own
        if own != names:
            both = f"{', '.join(sorted(own))} and {', '.join(sorted(names))}"
            raise InvalidValueError(f": the rows do not have the same names: {both}", number)
        if type(row.get("id", "")) is not str:
            raise InvalidValueError(": an id is text", number, "id")
        if "id" in row and (reason := bad_id(row["id"])):
            raise InvalidValueError(f": {reason}", number, "id")
    return given


def _check_name(name: str, *steps: str | int) -> None:
    if _NAME.fullmatch(name) is None:
        raise InvalidValueError(f": {name!r} can't name a parameter: use letters, digits and _", *steps)


def _suffix(values: Mapping[str, JsonValue], number: int) -> str:
    """Return the part of an id that identifies a row: its values, or its number if they can't be in an id."""
    parts = []
    for value in values.values():
        text = value if type(value) is str else json.dumps(value, default=str)
        part = "" if type(value) in {dict, list} else as_id(text)
        if not part or len(part) > _LONGEST:
            return str(number)
        parts.append(part)
    return "-".join(parts) or str(number)


def fill_placeholders(
    value: JsonValue, values: Mapping[str, JsonValue], report: Callable[[Steps, str], None], steps: Steps = ()
) -> JsonValue:
    """Return a value with its placeholders `${name}` replaced.

    A string that is a single placeholder becomes the value of the parameter, of any type; in longer strings
    and in keys of objects the placeholder is replaced by its text. `$${name}` becomes `${name}`.

    Args:
        value: a JSON value.
        values: the parameters, by name.
        report: called with steps and message for each placeholder of an unknown parameter.
        steps: the steps to `value`.

    >>> fill_placeholders({"a": "${n}", "b": "no. ${n}", "c": "$${n}"}, {"n": 3}, print)
    {'a': 3, 'b': 'no. 3', 'c': '${n}'}
    """

    def text_in(text: str, where: Steps) -> str:
        def replace(placeholder: re.Match[str]) -> str:
            escaped, name = placeholder.groups()
            if escaped:
                return placeholder[0][1:]
            if name not in values:
                hint = did_you_mean(name, values)
                shown = placeholder[0]
                report(where, f"{shown!r} names no parameter{hint}; to write the text itself, use ${shown}")
                return placeholder[0]
            value = values[name]
            return value if type(value) is str else json.dumps(value, ensure_ascii=False, default=str)

        return _PLACEHOLDER.sub(replace, text)

    if type(value) is str:
        single = _PLACEHOLDER.fullmatch(value)
        is_value = single is not None and not single[1] and single[2] in values
        return to_json_value(values[single[2]]) if single and is_value else text_in(value, steps)
    if type(value) is dict:
        return {
            text_in(name, (*steps, name)): fill_placeholders(member, values, report, (*steps, name))
            for name, member in value.items()
        }
    if type(value) is list:
        return [fill_placeholders(item, values, report, (*steps, index)) for index, item in enumerate(value)]
    return value
