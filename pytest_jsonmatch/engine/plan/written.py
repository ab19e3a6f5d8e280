"""Read the values of options, field rules and schemas, with one wording for every mistake.

A reader takes the location of a value and the value; its ConfigurationError begins with the location.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

Spec: TypeAlias = "str | Mapping[str, Mapping[str, Any]]"
"""A comparator or transform as written: "name" or {"name": {parameters}}."""

LARGEST_WEIGHT: Final = 1_000_000


@final
class Named(NamedTuple):
    """A comparator or transform as read: its name and its parameters."""

    name: str
    params: Mapping[str, Any]


@final
class ByKey(NamedTuple):
    """Pair elements that are equal in one member: `when` is "key", or "if_objects" (if all are objects)."""

    when: str
    key: str


Alignment: TypeAlias = "str | ByKey"
"""How elements find their partners: "ordered", "unordered" or by a key."""


def read_spec(where: str, value: Any, kind: str = "comparator") -> Named:
    """Read a comparator or transform; its name is not looked up.

    >>> read_spec("fields['total'].compare", {"numeric": {"tolerance": {"abs": 1}}})
    Named(name='numeric', params={'tolerance': {'abs': 1}})
    """
    name, params = value, None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, params),) = value.items()
    if isinstance(name, str) and (params is None or isinstance(params, Mapping)):
        return Named(name, params or {})
    raise ConfigurationError(f"{where} is {value!r}; it must be a {kind}'s name, or {{name: {{parameters}}}}")


def read_transforms(where: str, value: Any) -> tuple[Spec, ...]:
    """Return transforms as written, each checked; a single one needs no list."""
    specs = (value,) if isinstance(value, (str, Mapping)) else value
    if not isinstance(specs, (list, tuple)):
        raise ConfigurationError(f"{where} is {value!r}; it must be a list of transforms")
    for spec in specs:
        read_spec(where, spec, "transform")
    return tuple(specs)


def read_evaluation(where: str, value: Any) -> Spec:
    """Return the comparator that source 4's `{"evaluation_type": …, "evaluation_params": …}` names.

    >>> read_evaluation("x", {"evaluation_type": "threshold", "evaluation_params": {"threshold": 10}})
    {'threshold': {'threshold': 10}}
    """
    known = ("evaluation_type", "evaluation_params")
    if isinstance(value, Mapping):
        for key in (key for key in value if key not in known):
            raise ConfigurationError(f"{where} has the key {key!r}{did_you_mean(str(key), known)}")
        kind, params = map(value.get, known)
        if isinstance(kind, str) and (params is None or isinstance(params, Mapping)):
            return {kind: params} if params else kind
    example = '{"evaluation_type": NAME, "evaluation_params": {parameters}}'
    raise ConfigurationError(f"{where} is {value!r}; it must be {example}")


def read_flag(where: str, value: Any) -> bool:
    """Return true or false."""
    if isinstance(value, bool):
        return value
    raise ConfigurationError(f"{where} is {value!r}; it must be true or false")


def read_share(where: str, value: Any) -> float:
    """Return a number from 0 to 1."""
    return _number(where, value, 1)


def read_weight(where: str, value: Any) -> float:
    """Return a weight.

    >>> read_weight("x-eval-weight", 2_000_000)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: x-eval-weight is 2000000; it must be a number from 0 to 1,000,000
    """
    return _number(where, value, LARGEST_WEIGHT)


def _number(where: str, value: Any, largest: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= largest:
        return float(value)
    raise ConfigurationError(f"{where} is {value!r}; it must be a number from 0 to {largest:,.0f}")


def read_alignment(where: str, value: Any) -> Alignment:
    """Read how arrays are aligned, in the form of the option `arrays` or of source 5's `x-eval-align`.

    >>> read_alignment("arrays", {"key": "id"}), read_alignment("x-eval-align", {"match_by": "hungarian"})
    (ByKey(when='key', key='id'), 'unordered')
    """
    known = ("key_field", "hungarian", "ordered")
    match value:
        case "ordered" | "unordered":
            return str(value)
        case {"ordered": True, **others} if others in ({}, {"match_by": "ordered"}):
            return "ordered"
        case {"ordered": False, **others} if others and others.get("match_by") != "ordered":
            return read_alignment(where, others)
        case {"ordered": False}:
            how = 'add "match_by": "hungarian", or "key_field" and a "key"'
            raise ConfigurationError(f"{where} does not say how elements are paired; {how}")
        case {"match_by": "ordered" | "hungarian" as by, **others} if not others:
            return "ordered" if by == "ordered" else "unordered"
        case {"key": str(key), **others} if others in ({}, {"match_by": "key_field"}):
            return ByKey("key", key)
        case {"match_by": str(by)} if by not in known:
            raise ConfigurationError(f"{where}: match_by is {by!r}{did_you_mean(by, known)}")
    raise ConfigurationError(f"{where} is {value!r}; it must be 'ordered', 'unordered' or {{'key': NAME}}")
