"""Marks of cases: the values of `marks`, and the pytest marks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.reading.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.reading.errors import Steps

_MARK_NAME: Final = re.compile(r"[^\W\d]\w*")
MARK_KEYWORDS: Final[Mapping[str, Mapping[str, type]]] = {
    "skip": {"reason": str},
    "xfail": {"reason": str, "strict": bool, "run": bool},
}
_NO_MARKS: Final = {
    "parametrize": "is a key of its own, next to `marks`",
    "skipif": "needs code: give the case a mark of yours, and skip it in a conftest.py",
}


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A pytest mark of a case: `pytest.mark.NAME(*args, **kwargs)`."""

    name: str
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    steps: Steps = ()
    """The steps to the mark in the file."""


def marks_of(value: JsonValue, steps: Steps = ()) -> list[Mark]:
    """Return the marks in a value of `marks`; `steps` lead to it in the file.

    Raises:
        InvalidValueError: the value is not valid.
    """
    if type(value) is not list:
        raise InvalidValueError("must be a list, such as [slow] or [{skip: the reason}]")
    marks: list[Mark] = []
    for index, entry in enumerate(value):
        try:
            marks.append(_mark(entry, (*steps, index)))
        except ValueError as error:
            raise InvalidValueError(f": {error}", index) from None
    return marks


def _mark(entry: JsonValue, steps: Steps) -> Mark:
    """Return a mark; raise ValueError if it is not valid."""
    if type(entry) is dict and len(entry) == 1:
        ((name, value),) = entry.items()
    elif type(entry) is str:
        name, value = entry, None
    else:
        raise ValueError("a mark is a name, or a mapping of one name to its arguments")
    if _MARK_NAME.fullmatch(name) is None:
        raise ValueError(
            f"{name!r} can't be the name of a mark; list marks one by one, arguments as {{name: argument}}"
        )
    if name in _NO_MARKS:
        raise ValueError(f"`{name}` {_NO_MARKS[name]}")
    if name == "usefixtures":
        fixtures = value if type(value) is list else [value]
        if not fixtures or not all(type(fixture) is str and fixture for fixture in fixtures):
            raise ValueError("`usefixtures` needs names of fixtures: {usefixtures: [db]}")
    if value is None:
        return Mark(name, steps=steps)
    if name in MARK_KEYWORDS:
        value = {"reason": value} if type(value) is str else value
        _check_arguments(name, value, MARK_KEYWORDS[name])
    if type(value) is dict:
        return Mark(name, kwargs=to_json_value(value), steps=steps)
    return Mark(name, args=tuple(to_json_value(value)) if type(value) is list else (value,), steps=steps)


def _check_arguments(name: str, value: JsonValue, known: Mapping[str, type]) -> None:
    if type(value) is not dict:
        raise ValueError(f"`{name}` needs a reason: {{{name}: the reason}}")
    for word, argument in value.items():
        if word not in known:
            raise ValueError(f"`{name}` has no argument {word!r} here{did_you_mean(word, known)}")
        if type(argument) is not known[word]:
            kind = "true or false" if known[word] is bool else "a string"
            raise ValueError(f"`{word}` of `{name}` must be {kind}")
