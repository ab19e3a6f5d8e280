"""The `x-eval-*` keys of a schema: what may be written, and whether it can be used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.compile import bind_comparator, bind_transforms
from pytest_jsonmatch.engine.plan.options import read_evaluation
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.registry import Registry

__all__ = ["DECISIVE", "RULE_KEYS", "bind_rules", "own_rules", "written_rules"]

OVERRIDE: Final = "x-override-evaluator"
RULE_KEYS: Final = (
    "x-eval-compare",
    "x-eval-skip",
    "x-eval-transform",
    "x-eval-align",
    "x-eval-weight",
)
DECISIVE: Final = ("compare", "skip")
"""Rules that make a place one result: what the schema says below it no longer matters."""


def own_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules written at one schema by their names without `x-eval-`, checked for their form.

    `x-override-evaluator` comes out as `compare`.

    Raises:
        ConfigurationError: an unknown `x-eval-` key, two comparators, or a rule that is not as it should be.
    """
    rules: dict[str, Any] = {}
    for key, value in schema.items():
        if key == OVERRIDE or key.startswith("x-eval-"):
            if key not in _READERS:
                message = f"unknown key {key!r}{did_you_mean(key, _READERS)}"
                raise ConfigurationError(message)
            # `null` is how some writers of JSON say that a key is not there.
            if value is not None:
                name, read = _READERS[key]
                if name in rules:
                    message = f"has both x-eval-compare and {OVERRIDE}; give one"
                    raise ConfigurationError(message)
                rules[name] = read(value)
    return rules


def written_rules(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return rules as they are written in a schema."""
    written = {f"x-eval-{name}": value for name, value in rules.items()}
    if "transform" in rules:
        written["x-eval-transform"] = list(rules["transform"])
    return written


def bind_rules(rules: Mapping[str, Any], registry: Registry, where: Callable[[], str]) -> None:
    """Try out the comparator and the transforms, so that what is wrong with them is known before scoring.

    Raises:
        ConfigurationError: unknown names or parameters; the message begins with the path.
    """
    if "compare" in rules:
        bind_comparator(rules["compare"], registry, where())
    if "transform" in rules:
        bind_transforms(rules["transform"], registry, where())


def _compare(value: Any) -> Any:
    if _is_entry(value):
        return value
    message = f"x-eval-compare is {value!r}; a comparator is a name, or {{name: {{parameters}}}}"
    raise ConfigurationError(message)


def _override(value: Any) -> Any:
    return read_evaluation(OVERRIDE, value)


def _transform(value: Any) -> tuple[Any, ...]:
    entries = (value,) if isinstance(value, (str, Mapping)) else value
    if isinstance(entries, (list, tuple)) and all(map(_is_entry, entries)):
        return tuple(entries)
    message = f"x-eval-transform is {value!r}; it is a list of names, or of {{name: {{parameters}}}}"
    raise ConfigurationError(message)


def _skip(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    message = f"x-eval-skip is {value!r}; it is true or false"
    raise ConfigurationError(message)


def _weight(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    message = f"x-eval-weight is {value!r}; a weight is a number from 0 up"
    raise ConfigurationError(message)


def _align(value: Any) -> Any:
    if value in ("ordered", "unordered"):
        return value
    if isinstance(value, Mapping):
        content = dict(value)
        if content in (
            {"ordered": True},
            {"ordered": False},
            {"match_by": "ordered"},
            {"match_by": "hungarian"},
        ):
            return content
        by = content.get("match_by")
        if (
            isinstance(content.get("key"), str)
            and content.keys() == {"match_by", "key"}
            and by == "key_field"
        ):
            return content
        if isinstance(content.get("key"), str) and len(content) == 1:
            return content
        known = ("key_field", "hungarian", "ordered")
        if isinstance(by, str) and by not in known:
            message = f"x-eval-align: match_by is {by!r}{did_you_mean(by, known)}"
            raise ConfigurationError(message)
    message = (
        f'x-eval-align is {value!r}; it can be {{"match_by": "key_field", "key": NAME}}, '
        '{"match_by": "hungarian"} or {"ordered": true}'
    )
    raise ConfigurationError(message)


def _is_entry(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, params),) = value.items()
        return isinstance(name, str) and bool(name) and (params is None or isinstance(params, Mapping))
    return False


_READERS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "x-eval-compare": ("compare", _compare),
    "x-eval-skip": ("skip", _skip),
    "x-eval-transform": ("transform", _transform),
    "x-eval-align": ("align", _align),
    "x-eval-weight": ("weight", _weight),
    OVERRIDE: ("compare", _override),
}
