"""Suggestions: changes that would let a failing case pass, each tried before it is shown.

Only common ways to loosen a comparison are tried: spelling and white space, tolerances, the order of arrays,
nulls. Skipping a field or lowering the threshold is never suggested.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.golden.writing import YamlWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

Change: TypeAlias = "dict[str, dict[str, Any]]"
"""What to add to a case: `fields` (rules by pattern) and `options`."""

_MOST: Final = 3
_MOST_PATHS: Final = 12
_MOST_LEAVES: Final = 5_000
_TOLERANCES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_SPELLINGS: Final[tuple[dict[str, Any], ...]] = (
    {"transform": ["strip"]},
    {"transform": ["casefold"]},
    {"transform": ["normalize_whitespace"]},
    {"transform": ["casefold", "normalize_whitespace"]},
    {"compare": "normalized_text"},
    {"transform": ["casefold", "sort_tokens"]},
    {"compare": "date"},
    {"compare": "amount"},
    {"compare": "levenshtein"},
)


@final
class Trial(NamedTuple):
    """How to compare again with other options (None if that raises), and whether a result passes."""

    compare: Callable[[Mapping[str, Any]], MatchResult | None]
    passes: Callable[[MatchResult], bool]


def suggestions(result: MatchResult, options: Mapping[str, Any], trial: Trial) -> list[Change]:
    """Return up to three changes that let a failing comparison pass, the smallest first.

    Args:
        result: the comparison as it is.
        options: its options.
        trial: how to compare again.
    """
    differing = _by_path(result)
    if sum(result.counts.values()) > _MOST_LEAVES or not 0 < len(differing) <= _MOST_PATHS:
        return []

    def tried(change: Change) -> MatchResult | None:
        return trial.compare(with_change(options, change))

    def works(change: Change) -> bool:
        again = tried(change)
        return again is not None and trial.passes(again)

    found: list[Change] = []
    accepted = options.get("accept") or {}
    for path, fields in differing.items():
        rules: list[Change] = [{"fields": {path: rule}} for rule in _rules(fields)]
        # If the case fails even when any value is accepted there, no rule can help.
        if rules and works({"options": {"accept": {**accepted, path: {"any": True}}}}):
            found += itertools.islice(filter(works, rules), 1)
    changes = [*_array_changes(differing), *_general_changes(differing)]
    wide = [(change, tried(change)) for change in changes]
    found += [change for change, again in wide if again is not None and trial.passes(again)]
    if found:
        return found[:_MOST]
    for change, again in (({}, result), *wide):
        # With that change, try for each field the rule that is likely to resolve the rest.
        left = {} if again is None else _by_path(again)
        likely = {path: rule for path, fields in left.items() if (rule := _likely(fields)) is not None}
        both = {"fields": {}, **change}
        both["fields"] = {**both["fields"], **likely}
        if likely and works(both):
            return [both]
    return []


def with_change(options: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Return options with a change; an existing rule for the same pattern is extended.

    >>> with_change({"fields": {"a": {"weight": 2}}}, {"fields": {"a": {"compare": "date"}}})
    {'fields': {'a': {'weight': 2, 'compare': 'date'}}}
    """
    rules = options.get("fields") or {}
    changed = {
        pattern: {**rules.get(pattern, {}), **rule} for pattern, rule in change.get("fields", {}).items()
    }
    merged = {**options, **change.get("options", {})}
    if changed:
        merged["fields"] = {**rules, **changed}
    return merged


def as_yaml(change: Change) -> list[str]:
    """Return a change as lines of YAML to paste into a case.

    >>> as_yaml({"fields": {"vendor": {"transform": ["casefold"]}}})
    ['fields: {vendor: {transform: [casefold]}}']
    >>> as_yaml({"fields": {"a": {"compare": "date"}, "b": {"compare": "date"}}})
    ['fields:', '  a: {compare: date}', '  b: {compare: date}']
    """
    lines: list[str] = []
    for key, value in change.items():
        if len(value) == 1:
            lines.append(f"{key}: {YamlWriter().flow(value)}")
        else:
            rules = (YamlWriter().flow({name: rule}) for name, rule in value.items())
            lines += [f"{key}:", *(f"  {rule[1:-1]}" for rule in rules)]
    return lines


def _by_path(result: MatchResult) -> dict[str, list[FieldResult]]:
    """Return the leaves that differ, by schema path."""
    found: dict[str, list[FieldResult]] = {}
    for field in result.field_results:
        if field.status in {"match", "skipped", "batch_error"}:
            continue
        for leaf in field.differences or (field,):
            found.setdefault(leaf.path, []).append(leaf)
    return found


def _rules(fields: list[FieldResult]) -> Iterator[dict[str, Any]]:
    """Yield the rules that may resolve the differences at one path."""
    pairs = [(field.expected, field.actual) for field in fields]
    if any(field.status != "mismatch" for field in fields):
        return
    if all(isinstance(one, str) and isinstance(other, str) for one, other in pairs):
        yield from _SPELLINGS
    elif all(_is_number(one) and _is_number(other) for one, other in pairs):
        tolerance = _tolerance(pairs)
        if tolerance is not None:
            yield {"compare": {"numeric": {"tolerance": tolerance}}}
    elif all(_is_number(one) or isinstance(one, str) for pair in pairs for one in pair):
        yield {"transform": [{"type_convert": {"to": "number"}}]}
        yield {"transform": [{"type_convert": {"to": "string"}}]}
        yield {"compare": "amount"}


def _likely(fields: list[FieldResult]) -> dict[str, Any] | None:
    """Return the first rule under which all the values match."""
    from pytest_jsonmatch.api import compare_json
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

    rules = {f"rule{at}": rule for at, rule in enumerate(_rules(fields))}
    expected, actual = [field.expected for field in fields], [field.actual for field in fields]
    documents = dict.fromkeys(rules, actual), dict.fromkeys(rules, expected)
    try:
        said = compare_json(*documents, fields={f"{name}[]": rule for name, rule in rules.items()})
    except JsonMatchError:
        return None
    matching = (rule for name, rule in rules.items() if said.per_field[f"{name}[]"].f1 == 1.0)
    return next(matching, None)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _tolerance(pairs: list[tuple[Any, Any]]) -> dict[str, float] | None:
    """Return the smallest of the usual tolerances that covers all pairs; None if none does."""
    try:
        worst = max(abs(one - other) / abs(one) if one else float("inf") for one, other in pairs)
    except OverflowError:
        return None
    return next(({"rel": limit} for limit in _TOLERANCES if worst <= limit), None)


def _array_changes(differing: Mapping[str, list[FieldResult]]) -> Iterator[Change]:
    """Yield changes that ignore the order of arrays around differences."""
    arrays = dict.fromkeys(path[: path.index("[]")] or "$" for path in differing if "[]" in path)
    for array in arrays:
        yield {"fields": {array: {"align": "unordered"}}}
    if len(arrays) > 1:
        yield {"options": {"arrays": "unordered"}}


def _general_changes(differing: Mapping[str, list[FieldResult]]) -> list[Change]:
    leaves = [field for fields in differing.values() for field in fields]
    changes: list[Change] = []
    if any(field.expected is None or field.actual is None for field in leaves):
        changes.append({"options": {"nulls": "absent"}})
    if any(field.status == "hallucination" for field in leaves):
        changes.append({"options": {"extra": "ignore"}})
    return changes
