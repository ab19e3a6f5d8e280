"""Marks of cases: the values of `marks`, the pytest marks that they mean, and `skipif` without code."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import did_you_mean
from pytest_jsonmatch.golden.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.errors import Trail

_MARK_NAME: Final = re.compile(r"[^\W\d]\w*")
MARK_KEYWORDS: Final[Mapping[str, Mapping[str, type]]] = {
    "skip": {"reason": str},
    "xfail": {"reason": str, "strict": bool, "run": bool},
}
NO_MARKS: Final = {"parametrize": "is a key of its own, beside `marks`"}
_CONDITIONS: Final = ("platform", "python", "env")


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A pytest mark as a case names it: `name`, and the arguments of `pytest.mark.NAME(*args, **kwargs)`."""

    name: str
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    at: Trail = ()


def check_marks(value: JsonValue) -> None:
    """Refuse invalid values of `marks`."""
    if type(value) is not list:
        raise InvalidValueError("must be a list, such as [slow] or [{skip: the reason}]")
    for index, entry in enumerate(value):
        reason = _bad_mark(entry)
        if reason is not None:
            raise InvalidValueError(f": {reason}", index)


def marks_of(entries: Sequence[JsonValue], at: Trail) -> Iterator[Mark]:
    """Yield the marks of a checked list."""
    for index, entry in enumerate(entries):
        name, value = (entry, None) if type(entry) is str else next(iter(entry.items()))
        place = (*at, index)
        if value is None:
            yield Mark(name, at=place)
        elif name == "skipif":
            holds, reason = condition(value)
            yield Mark(name, args=(holds,), kwargs={"reason": reason}, at=place)
        elif type(value) is dict:
            yield Mark(name, kwargs=to_json_value(value), at=place)
        elif type(value) is str and name in MARK_KEYWORDS:
            yield Mark(name, kwargs={"reason": value}, at=place)
        else:
            yield Mark(name, args=tuple(to_json_value(value)) if type(value) is list else (value,), at=place)


def _bad_mark(entry: JsonValue) -> str | None:
    if type(entry) is dict and len(entry) == 1:
        ((name, value),) = entry.items()
    elif type(entry) is str:
        name, value = entry, None
    else:
        return "a mark is a name, or a mapping of one name to its arguments"
    if _MARK_NAME.fullmatch(name) is None:
        return f"{name!r} can't be the name of a mark; list marks one by one, arguments as {{name: argument}}"
    if name in NO_MARKS:
        return f"`{name}` {NO_MARKS[name]}"
    if name == "usefixtures":
        names = value if type(value) is list else [value]
        if not names or not all(type(each) is str and each for each in names):
            return "`usefixtures` takes names of fixtures: {usefixtures: [db]}"
    if name == "skipif":
        return _bad_condition(value)
    known = MARK_KEYWORDS.get(name)
    if known is not None and value is not None:
        if type(value) is str:
            return None
        if type(value) is not dict:
            return f"`{name}` takes a reason: {{{name}: the reason}}"
        for word, argument in value.items():
            if word not in known:
                return f"`{name}` has no argument {word!r} here{did_you_mean(word, known)}"
            if type(argument) is not known[word]:
                kind = "true or false" if known[word] is bool else "a string"
                return f"`{word}` of `{name}` must be {kind}"
    return None


def _bad_condition(given: JsonValue) -> str | None:
    """Return what is wrong with the arguments of a `skipif`; None if nothing is."""
    if type(given) is not dict or not given.keys() - {"reason"}:
        return "`skipif` takes conditions, not code: {skipif: {platform: win32, python: '<3.12', env: CI}}"
    for name, value in given.items():
        if name == "platform":
            if not all(type(each) is str and each for each in _several(value)):
                return "`platform` of `skipif` is a name such as linux, darwin or win32, or a list of names"
        elif name == "python":
            if type(value) is not str or (reason := _bad_versions(value)):
                reason = "" if type(value) is not str else f": {reason}"
                return f"`python` of `skipif` is a version specifier in quotes, such as '<3.12'{reason}"
        elif name == "env":
            names = list(value) if type(value) is dict else _several(value)
            if not names or not all(type(each) is str and each for each in names):
                return "`env` of `skipif` is the name of a variable, or maps names to the values they have"
            if type(value) is dict and not all(type(each) is str for each in value.values()):
                return "`env` of `skipif` maps names to strings; put the value in quotes"
        elif name != "reason":
            return f"`skipif` has no condition {name!r}{did_you_mean(name, (*_CONDITIONS, 'reason'))}"
        elif type(value) is not str:
            return "`reason` of `skipif` must be a string"
    return None


def condition(given: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether all conditions of a checked `skipif` hold, and the reason for people.

    >>> condition({"platform": "no such system"})
    (False, 'platform no such system')
    """
    found: list[bool] = []
    reasons: list[str] = []
    if "platform" in given:
        names = _several(given["platform"])
        found.append(sys.platform in names)
        reasons.append(f"platform {' or '.join(names)}")
    if "python" in given:
        from packaging.specifiers import SpecifierSet  # a dependency of pytest

        # Not `platform.python_version()`: a development build ends it in "a1+", which is not a version.
        found.append(SpecifierSet(given["python"]).contains(".".join(map(str, sys.version_info[:3]))))
        reasons.append(f"Python {given['python']}")
    if "env" in given:
        wanted = given["env"]
        if type(wanted) is dict:
            found.append(all(os.environ.get(name) == value for name, value in wanted.items()))
            reasons += [f"{name}={value}" for name, value in wanted.items()]
        else:
            found.append(all(os.environ.get(name) for name in _several(wanted)))
            reasons += [f"{name} is set" for name in _several(wanted)]
    return all(found), given.get("reason", ", ".join(reasons))


def _several(value: Any) -> list[Any]:
    return value if type(value) is list and value else [value]


def _bad_versions(text: str) -> str | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if not text.strip():
        return "it is empty"
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return f"{text!r} is not one"
    return None
