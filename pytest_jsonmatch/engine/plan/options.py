"""The metrics, as data: each is a frozen set of options for the one walk."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALIASES",
    "CHOICES",
    "COMPARED_TYPES",
    "EVALUATION_TYPES",
    "FIELD_WORDS",
    "OPTION_ALIASES",
    "OPTION_NAMES",
    "PRESETS",
    "SIZE",
    "Options",
    "given_comparators",
    "lay_over",
    "merge_options",
    "read_bytes",
    "read_evaluation",
]

Spec: TypeAlias = "str | Mapping[str, Mapping[str, Any]]"
"""A comparator or transform as written: "name" or {"name": {parameters}}."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@final
@dataclass(frozen=True, slots=True)
class Options:
    """Everything a metric can differ in; the defaults are those of the option table in docs/metrics.md."""

    root: str = "any"
    granularity: str = "leaves"
    extra: str = "count"
    unlisted: str = "extra"
    arrays: str | Mapping[str, str] = "ordered"
    array_threshold: float = 0.0
    empties: str = "leaf"
    nulls: str = "value"
    reduce: str = "f1"
    leaf_threshold: float | None = None
    target_key: str = "*"
    compare: Mapping[str, Spec] = field(default_factory=lambda: _NOTHING)
    transform: tuple[Spec, ...] = ()
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: _NOTHING)
    schema: SchemaNode | None = None
    memory_limit: int = 2 * 1024**3


CHOICES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "root": ("any", "object"),
        "granularity": ("leaves", "fields"),
        "extra": ("count", "ignore"),
        "unlisted": ("extra", "reject"),
        "empties": ("leaf", "if_absent", "never"),
        "nulls": ("value", "absent"),
        "reduce": ("f1", "ratio"),
    }
)
OPTION_NAMES: Final = tuple(item.name for item in fields(Options))
OPTION_ALIASES: Final = MappingProxyType(
    {"target_output_key": "target_key", "array_matching_threshold": "array_threshold"}
)
# Source 4's words for `compare`. Its "float" is a number of which one has a fraction.
EVALUATION_TYPES: Final = MappingProxyType(
    {
        "string_evaluation_type": "string",
        "boolean_evaluation_type": "boolean",
        "integer_evaluation_type": "integer",
        "float_evaluation_type": "float",
        "number_evaluation_type": "number",
    }
)
COMPARED_TYPES: Final = ("string", "number", "integer", "boolean", "null")
"""The JSON types that can have a default comparator; `number` is for integers too, unless they have one."""
FIELD_WORDS: Final = ("compare", "transform", "skip", "weight", "align")

PRESETS: Final[Mapping[str, Options]] = MappingProxyType(
    {
        "field_match": Options(root="object", granularity="fields", extra="ignore", reduce="ratio"),
        "field_match_normalized": Options(
            root="object",
            granularity="fields",
            extra="ignore",
            reduce="ratio",
            transform=("strip_accents", "casefold"),
        ),
        "json_similarity": Options(
            extra="ignore",
            empties="if_absent",
            reduce="ratio",
            compare=MappingProxyType({"string": "levenshtein", "number": "relative"}),
        ),
        "pairwise_f1": Options(
            unlisted="reject",
            arrays="unordered",
            array_threshold=0.3,
            empties="never",
            compare=MappingProxyType(
                {
                    "string": "jaccard",
                    "integer": "binary",
                    "number": MappingProxyType(
                        {
                            "threshold": MappingProxyType(
                                {"threshold": 0.001, "difference_penalty_weighting": 0.1}
                            )
                        }
                    ),
                    "boolean": "binary",
                }
            ),
        ),
        "schema_f1": Options(compare=MappingProxyType({"number": "numeric"})),
    }
)
ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "json-field-match": "field_match",
        "json-field-match-normalized": "field_match_normalized",
        "json-similarity": "json_similarity",
        "structeval": "pairwise_f1",
        "extract-eval": "schema_f1",
    }
)


def merge_options(base: Options, given: Mapping[str, Any]) -> Options:
    """Return `base` with the options of a call over it.

    A mapping given as `compare` is laid over the preset's; everything else replaces.

    Raises:
        ConfigurationError: an option is unknown or its value is not one it can have.

    >>> merge_options(Options(), {"extra": "ignore"}).extra
    'ignore'
    """
    changes: dict[str, Any] = {}
    for written, value in given.items():
        name = OPTION_ALIASES.get(written, written)
        if name in EVALUATION_TYPES:
            continue
        if name not in OPTION_NAMES:
            known = (*OPTION_NAMES, *EVALUATION_TYPES, "array_matching_threshold", "repair")
            message = f"unknown option {written!r}{did_you_mean(written, known)}"
            raise ConfigurationError(message)
        if name in changes:
            message = f"{written!r} and {name!r} are the same option; give one"
            raise ConfigurationError(message)
        check = _CHECKS.get(name)
        changes[name] = _choice(name, value) if check is None else check(name, value)
    comparators = given_comparators(given)
    if comparators:
        changes["compare"] = MappingProxyType(lay_over(base.compare, comparators))
    return replace(base, **changes)


def given_comparators(given: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the comparators by JSON type that options name, in `compare` or in source 4's words.

    Among them "float" stands for numbers of which at least one has a fraction: the integers stay as they are.

    Raises:
        ConfigurationError: one is given twice, or is not as it should be.

    >>> given_comparators({"string_evaluation_type": {"evaluation_type": "levenshtein"}})
    {'string': 'levenshtein'}
    """
    found: dict[str, Spec] = dict(_compare("compare", given["compare"])) if "compare" in given else {}
    for written, kind in EVALUATION_TYPES.items():
        if written in given:
            if kind in found or (kind == "float" and "compare" in given and "number" in found):
                message = f"compare and {written} both say how {kind} values are compared; give one"
                raise ConfigurationError(message)
            found[kind] = read_evaluation(written, given[written])
    return found


def lay_over(base: Mapping[str, Spec], comparators: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return comparators by type with others over them; what is said of numbers holds for integers too.

    >>> lay_over({"number": "relative", "integer": "binary"}, {"number": "numeric"})
    {'number': 'numeric'}
    """
    laid_over = {**base, **comparators}
    if "number" in comparators and "integer" not in comparators:
        laid_over.pop("integer", None)
    if "float" in comparators:
        laid_over.setdefault("integer", laid_over.get("number", "exact"))
        laid_over["number"] = laid_over.pop("float")
    return laid_over


def read_evaluation(name: str, value: Any) -> Spec:
    """Return the comparator that source 4's `{"evaluation_type": …, "evaluation_params": …}` names.

    Raises:
        ConfigurationError: it is not of that form; the message begins with `name`.

    >>> read_evaluation("x", {"evaluation_type": "threshold", "evaluation_params": {"threshold": 10}})
    {'threshold': {'threshold': 10}}
    """
    known = ("evaluation_type", "evaluation_params")
    example = '{"evaluation_type": NAME, "evaluation_params": {parameters}}'
    if not _is_mapping(value):
        message = f"{name} is {value!r}; it is {example}"
        raise ConfigurationError(message)
    for key in value:
        if key not in known:
            message = f"{name} has the key {key!r}{did_you_mean(str(key), known)}"
            raise ConfigurationError(message)
    kind, params = (value[key] if key in value else None for key in known)  # noqa: SIM401 - any mapping will do
    if not isinstance(kind, str) or not (params is None or _is_mapping(params)):
        message = f"{name} is {value!r}; it is {example}"
        raise ConfigurationError(message)
    return {kind: params} if params else kind


def _choice(name: str, value: Any) -> str:
    choices = CHOICES[name]
    if not isinstance(value, str) or value not in choices:
        message = f"{name} is {value!r}; it can be {' or '.join(map(repr, choices))}"
        raise ConfigurationError(message)
    return value


def _arrays(name: str, value: Any) -> str | Mapping[str, str]:
    if isinstance(value, str) and value in {"ordered", "unordered"}:
        return value
    if _is_mapping(value) and list(value) == ["key"] and isinstance(value["key"], str):
        return MappingProxyType({"key": value["key"]})
    message = f"{name} is {value!r}; it can be 'ordered', 'unordered' or {{'key': NAME}}"
    raise ConfigurationError(message)


def _unit_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        message = f"{name} is {value!r}; it is a number from 0 to 1"
        raise ConfigurationError(message)
    return float(value)


def _unit_number_or_none(name: str, value: Any) -> float | None:
    return None if value is None else _unit_number(name, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        message = f"{name} is {value!r}; it is an instance path such as 'result.items[0]', or '*' for all"
        raise ConfigurationError(message)
    return value


def _compare(name: str, value: Any) -> Mapping[str, Spec]:
    if isinstance(value, str):
        return MappingProxyType(dict.fromkeys(COMPARED_TYPES[:-1], value))
    if _is_mapping(value):
        unknown = [key for key in value if key not in COMPARED_TYPES]
        if not unknown:
            return MappingProxyType(dict(value))
        if len(value) == 1 and _is_mapping(next(iter(value.values()))):
            return MappingProxyType(dict.fromkeys(COMPARED_TYPES[:-1], value))
        message = f"{name} has the key {unknown[0]!r}{did_you_mean(str(unknown[0]), COMPARED_TYPES)}"
        raise ConfigurationError(message)
    message = (
        f"{name} is {value!r}; it is a comparator, or a mapping of {', '.join(COMPARED_TYPES)} to comparators"
    )
    raise ConfigurationError(message)


def _transform(name: str, value: Any) -> tuple[Spec, ...]:
    if isinstance(value, str) or _is_mapping(value):
        return (value,)
    if isinstance(value, (list, tuple)):
        return tuple(value)
    message = f"{name} is {value!r}; it is a list of transforms"
    raise ConfigurationError(message)


_UNITS: Final = MappingProxyType({"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30})
# Spelled so that it means the same to every editor's regular expressions.
SIZE: Final = r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kKmMgG][iI][bB]|[bB]|)\s*$"
"""A size in words, such as "512 MiB"."""


def read_bytes(name: str, value: Any) -> int:
    """Return a size in bytes, given as a number or as text such as "512 MiB".

    Raises:
        ConfigurationError: it is none; the message begins with `name`.

    >>> read_bytes("memory_limit", "512 MiB"), read_bytes("memory_limit", "1.5GiB"), read_bytes("x", 4096)
    (536870912, 1610612736, 4096)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, float) and value > 0 and value.is_integer():
        return int(value)  # 1e9, as YAML and JSON write it
    if isinstance(value, str) and (size := re.match(SIZE, value)):
        with suppress(OverflowError):
            count = int(float(size[1]) * _UNITS[size[2].upper()])
            if count > 0:
                return count
    message = f"{name} is {value!r}; it is a number of bytes, or text such as '512 MiB' or '2 GiB'"
    raise ConfigurationError(message)


def _schema(name: str, value: Any) -> SchemaNode | None:
    if value is None or isinstance(value, SchemaNode):
        return value
    message = f"{name} is given with each comparison, not with a metric"
    raise ConfigurationError(message)


def _field_rules(name: str, value: Any) -> Mapping[str, Mapping[str, Any]]:
    if not _is_mapping(value):
        message = f"{name} is {value!r}; it maps path patterns to rules ({', '.join(FIELD_WORDS)})"
        raise ConfigurationError(message)
    rules: dict[str, Mapping[str, Any]] = {}
    for pattern, rule in value.items():
        if not _is_mapping(rule):
            message = f"{name}[{pattern!r}] is {rule!r}; it is a mapping of {', '.join(FIELD_WORDS)}"
            raise ConfigurationError(message)
        for word in rule:
            if word not in FIELD_WORDS:
                message = f"{name}[{pattern!r}] has the rule {word!r}{did_you_mean(str(word), FIELD_WORDS)}"
                raise ConfigurationError(message)
        rules[pattern] = MappingProxyType(dict(rule))
    return MappingProxyType(rules)


def _is_mapping(value: Any) -> bool:
    # Duck-typed: MappingProxyType, dict and every registered Mapping have these, and nothing else does.
    return hasattr(value, "keys") and hasattr(value, "__getitem__")


_CHECKS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "arrays": _arrays,
        "array_threshold": _unit_number,
        "leaf_threshold": _unit_number_or_none,
        "target_key": _text,
        "compare": _compare,
        "transform": _transform,
        "fields": _field_rules,
        "schema": _schema,
        "memory_limit": read_bytes,
    }
)
