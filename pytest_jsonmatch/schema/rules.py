"""The `x-eval-*` keys of a schema: their forms, and the checks of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.accept import read_accept
from pytest_jsonmatch.engine.plan.rules import bind_comparator, bind_transforms
from pytest_jsonmatch.engine.plan.written import (
    read_alignment,
    read_evaluation,
    read_flag,
    read_spec,
    read_transforms,
    read_weight,
)
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.registry import Registry

OVERRIDE: Final = "x-override-evaluator"
DECISIVE: Final = ("compare", "skip")
"""Rules that make a place one result, whatever the schema says below it."""


def own_rules(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules written at one schema by their names without `x-eval-`, checked for their form.

    `x-override-evaluator` comes out as `compare`.

    Raises:
        ConfigurationError: an unknown `x-eval-` key, two comparators, or an invalid rule.
    """
    rules: dict[str, Any] = {}
    for key, value in schema.items():
        if key == OVERRIDE or key.startswith("x-eval-"):
            if key not in _READERS:
                raise ConfigurationError(f"unknown key {key!r}{did_you_mean(key, _READERS)}")
            # Some writers of JSON write `null` for a missing key.
            if value is not None:
                name, read = _READERS[key]
                if name in rules:
                    raise ConfigurationError(f"has both x-eval-compare and {OVERRIDE}; give one")
                rules[name] = read(key, value)
    return rules


def written_rules(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return rules as they are written in a schema."""
    written = {f"x-eval-{name}": value for name, value in rules.items()}
    if "transform" in rules:
        written["x-eval-transform"] = list(rules["transform"])
    return written


def bind_rules(rules: Mapping[str, Any], registry: Registry, where: Callable[[], str]) -> None:
    """Check the comparator and the transforms, so that mistakes are reported before scoring.

    Raises:
        ConfigurationError: unknown names or parameters; the message begins with the path.
    """
    if "compare" in rules:
        bind_comparator(rules["compare"], registry, where())
    if "transform" in rules:
        bind_transforms(rules["transform"], registry, where())


def _compare(key: str, value: Any) -> Any:
    read_spec(key, value)
    return value


def _accept(key: str, value: Any) -> Any:
    read_accept(key, value)
    return value


def _align(key: str, value: Any) -> Any:
    read_alignment(key, value)
    return dict(value) if isinstance(value, Mapping) else value


_READERS: Final[dict[str, tuple[str, Callable[[str, Any], Any]]]] = {
    "x-eval-compare": ("compare", _compare),
    "x-eval-skip": ("skip", read_flag),
    "x-eval-transform": ("transform", read_transforms),
    "x-eval-align": ("align", _align),
    "x-eval-weight": ("weight", read_weight),
    "x-eval-accept": ("accept", _accept),
    OVERRIDE: ("compare", read_evaluation),
}
RULE_KEYS: Final = frozenset(_READERS)
"""The keys of a schema that are rules."""
