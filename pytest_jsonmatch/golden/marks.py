"""Marks of cases: the values of `marks`, the pytest marks that they mean, and `skipif` without code."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.golden.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Steps

_MARK_NAME: Final = re.compile(r"[^\W\d]\w*")
MARK_KEYWORDS: Final[Mapping[str, Mapping[str, type]]] = {
    "skip": {"reason": str},
    "xfail": {"reason": str, "strict": bool, "run": bool},
}
NO_MARKS: Final = {"parametrize": "is a key of its own, beside `marks`"}
_CONDITIONS: Final = ("platform", "python", "env", "reason")


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A pytest mark as a case names it: `name`, and the arguments of `pytest.mark.NAME(*args, **kwargs)`."""

    name: str
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    at: Steps = ()


def marks_of(value: JsonValue, at: Steps = ()) -> list[Mark]:
    """Return the marks that a value of `marks` lists; `at` is its place in the file.

    Raises:
        InvalidValueError: the value is not valid.
    """
    if type(value) is not list:
        raise InvalidValueError("must be a list, such as [slow] or [{skip: the reason}]")
    marks: list[Mark] = []
    for index, entry in enumerate(value):
        try:
            marks.append(_mark(entry, (*at, index)))
        except ValueError as error:
            raise InvalidValueError(f": {error}", index) from None
    return marks


def _mark(entry: JsonValue, at: Steps) -> Mark:
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
    if name in NO_MARKS:
        raise ValueError(f"`{name}` {NO_MARKS[name]}")
    if name == "usefixtures":
        _names(value, "`usefixtures` takes names of fixtures: {usefixtures: [db]}")
    if name == "skipif":
        holds, reason = condition(value)
        return Mark(name, args=(holds,), kwargs={"reason": reason}, at=at)
    if value is None:
        return Mark(name, at=at)
    if name in MARK_KEYWORDS:
        value = {"reason": value} if type(value) is str else value
        _check_arguments(name, value, MARK_KEYWORDS[name])
    if type(value) is dict:
        return Mark(name, kwargs=to_json_value(value), at=at)
    return Mark(name, args=tuple(to_json_value(value)) if type(value) is list else (value,), at=at)


def _check_arguments(name: str, value: JsonValue, known: Mapping[str, type]) -> None:
    if type(value) is not dict:
        raise ValueError(f"`{name}` takes a reason: {{{name}: the reason}}")
    for word, argument in value.items():
        if word not in known:
            raise ValueError(f"`{name}` has no argument {word!r} here{did_you_mean(word, known)}")
        if type(argument) is not known[word]:
            kind = "true or false" if known[word] is bool else "a string"
            raise ValueError(f"`{word}` of `{name}` must be {kind}")


def _names(value: JsonValue, otherwise: str) -> list[str]:
    """Return a name, or a list of names, as a list; raise ValueError for anything else."""
    names = value if type(value) is list else [value]
    if not names or not all(type(each) is str and each for each in names):
        raise ValueError(otherwise)
    return names


def condition(given: JsonValue) -> tuple[bool, str]:
    """Return whether all conditions of a `skipif` hold, and the reason for people.

    Raises:
        ValueError: they are not valid.

    >>> condition({"platform": "no such system"})
    (False, 'platform no such system')
    """
    if type(given) is not dict or not given.keys() - {"reason"}:
        raise ValueError(
            "`skipif` takes conditions, not code: {skipif: {platform: win32, python: '<3.12', env: CI}}"
        )
    for name in given:
        if name not in _CONDITIONS:
            raise ValueError(f"`skipif` has no condition {name!r}{did_you_mean(name, _CONDITIONS)}")
    found: list[bool] = []
    reasons: list[str] = []
    if "platform" in given:
        names = _names(
            given["platform"],
            "`platform` of `skipif` is a name such as linux, darwin or win32, or a list of names",
        )
        found.append(sys.platform in names)
        reasons.append(f"platform {' or '.join(names)}")
    if "python" in given:
        found.append(_is_python(given["python"]))
        reasons.append(f"Python {given['python']}")
    if "env" in given:
        wanted = given["env"]
        names = _names(
            list(wanted) if type(wanted) is dict else wanted,
            "`env` of `skipif` is the name of a variable, or maps names to the values they have",
        )
        if type(wanted) is not dict:
            found.append(all(map(os.environ.get, names)))
            reasons += [f"{name} is set" for name in names]
        elif all(type(each) is str for each in wanted.values()):
            found.append(all(os.environ.get(name) == value for name, value in wanted.items()))
            reasons += [f"{name}={value}" for name, value in wanted.items()]
        else:
            raise ValueError("`env` of `skipif` maps names to strings; put the value in quotes")
    reason = given.get("reason", ", ".join(reasons))
    if type(reason) is not str:
        raise ValueError("`reason` of `skipif` must be a string")
    return all(found), reason


def _is_python(given: JsonValue) -> bool:
    """Tell whether this Python has one of the versions."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # a dependency of pytest

    wrong = "`python` of `skipif` is a version specifier in quotes, such as '<3.12'"
    if type(given) is not str:
        raise ValueError(wrong)
    if not given.strip():
        raise ValueError(f"{wrong}: it is empty")
    try:
        # Not `platform.python_version()`: a development build ends it in "a1+", which is not a version.
        return SpecifierSet(given).contains(".".join(map(str, sys.version_info[:3])))
    except InvalidSpecifier:
        raise ValueError(f"{wrong}: {given!r} is not one") from None
