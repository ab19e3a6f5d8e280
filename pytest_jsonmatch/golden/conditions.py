"""`skipif` without code: the conditions on platform, Python and environment that a mark can name."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["bad_condition", "condition"]

_CONDITIONS: Final = ("platform", "python", "env")


def bad_condition(given: JsonValue) -> str | None:
    """Return what is wrong with the arguments of a `skipif`; None if nothing is.

    >>> bad_condition({"platfrom": "win32"})
    "`skipif` has no condition 'platfrom'; did you mean 'platform'?"
    """
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
            return "`reason` of `skipif` has to be a string"
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
        from packaging.specifiers import SpecifierSet  # pytest has it for itself

        # Not `platform.python_version()`: a development build ends it in "a1+", which is no version.
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
        return f"{text!r} is none"
    return None
