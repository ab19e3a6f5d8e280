"""Suggest changes that let a failing comparison pass; each is tried before it is shown.

Only common ways to relax a comparison are tried: spelling and white space, tolerances, the order of arrays,
nulls. A rule keeps its comparator, with a larger tolerance. Skipping a field or lowering the threshold is
never suggested.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.comparators.kinds import ORDER, SHIFTED
from pytest_jsonmatch.engine.plan.node import add_transforms
from pytest_jsonmatch.engine.plan.options import extend_rule
from pytest_jsonmatch.engine.result.collapse import REORDERED, collapse, sentence_of
from pytest_jsonmatch.support.defaults import METRIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

Rule: TypeAlias = "str | dict[str, Any]"
Suggested: TypeAlias = "dict[str, dict[str, Any]]"
"""A change: `fields` (rules by pattern) and `options` to add to those of the comparison."""

_MAX_SUGGESTIONS: Final = 3
_MAX_PATHS: Final = 12
_MAX_LEAVES: Final = 5_000
_MAX_ARRAYS: Final = 5
_MAX_UNPAIRED: Final = 200
"""With more differing leaves, the order of an array is ignored only if leaves match in other elements."""
_ELEMENT: Final = re.compile(r"\[\]")
_TOLERANCES: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_SPELLINGS: Final[tuple[Rule, ...]] = (
    {"transform": ["strip"]},
    {"transform": ["casefold"]},
    {"transform": ["normalize_whitespace"]},
    {"transform": ["casefold", "normalize_whitespace"]},
    "normalized_text",
    {"transform": ["casefold", "sort_tokens"]},
    "date",
    {"compare": {"date": {"precision": "day"}}},
    "amount",
)
_DATES: Final[tuple[Rule, ...]] = ("date", {"compare": {"date": {"precision": "day"}}})
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?")


@final
class Trial(NamedTuple):
    """Functions that compare with other options (None if that raises), and check whether a result passes."""

    compare: Callable[[Mapping[str, Any]], MatchResult | None]
    passes: Callable[[MatchResult], bool]


def suggest_changes(result: MatchResult, options: Mapping[str, Any], trial: Trial) -> list[Suggested]:
    """Return up to three changes that let a failing comparison pass, the smallest first.

    Args:
        result: the result of the comparison.
        options: the options of the comparison.
        trial: the functions to compare again.
    """
    differing = _group_by_path(result)
    if sum(result.counts.values()) > _MAX_LEAVES or not differing:
        return []

    @cache
    def compare_with(number: int) -> MatchResult | None:
        return trial.compare(with_change(options, wide[number]))

    def passes(again: MatchResult | None) -> bool:
        return again is not None and trial.passes(again)

    # Rules for single fields are suggested only if few fields differ.
    has_few = len(differing) <= _MAX_PATHS
    single: list[Suggested] = []
    if has_few:
        single = [{"fields": {path: rule}} for path, rule in _find_likely_rules(differing).items()]
    wide = [*_list_array_changes(result, differing), *_list_general_changes(differing)]
    passing = itertools.chain(
        (change for change in single if passes(trial.compare(with_change(options, change)))),
        (change for number, change in enumerate(wide) if passes(compare_with(number))),
    )
    found = list(itertools.islice(passing, _MAX_SUGGESTIONS))
    if found:
        return found
    for number in range(-has_few, len(wide)):
        # With this change, try for each field the rule that is likely to resolve the remaining differences.
        again = result if number < 0 else compare_with(number)
        remaining = {} if again is None else _group_by_path(again)
        if not 0 < len(remaining) <= _MAX_PATHS:
            continue
        likely, change = _find_likely_rules(remaining), {} if number < 0 else wide[number]
        both = {"fields": {}, **change}
        both["fields"] = {**both["fields"], **likely}
        if likely and passes(trial.compare(with_change(options, both))):
            return [both]
    return []


def as_arguments(options: Mapping[str, Any], change: Suggested) -> list[str]:
    """Return a change as a line of arguments in Python; `fields` has the rules of the call, too.

    The arguments replace those of the call.

    >>> change = {"fields": {"total": {"tolerance": {"rel": 0.1}}}, "options": {"extra": "ignore"}}
    >>> as_arguments({"fields": {"id": "skip"}}, change)
    ['fields={"id": "skip", "total": {"tolerance": {"rel": 0.1}}}, extra="ignore"']
    """
    arguments: dict[str, Any] = {}
    if rules := change.get("fields"):
        given = options.get("fields") or {}
        arguments["fields"] = {**given, **extend_rules(given, rules)}
    arguments |= change.get("options", {})
    return [", ".join(f"{name}={_format_value(value)}" for name, value in arguments.items())]


def _format_value(value: object) -> str:
    """Return a value as Python code, strings in double quotes."""
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{_format_value(key)}: {_format_value(item)}' for key, item in value.items())}}}"
        )
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_format_value, value))}]"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    # The repr of a text with an apostrophe is in double quotes.
    return f'"{repr(chr(39) + value)[2:]}' if isinstance(value, str) and '"' not in value else repr(value)


def with_change(options: Mapping[str, Any], change: Suggested) -> dict[str, Any]:
    """Return options with a change; a rule that exists for the same pattern is extended.

    >>> with_change({"fields": {"a": {"weight": 2}}}, {"fields": {"a": "date"}})
    {'fields': {'a': {'weight': 2, 'compare': 'date'}}}
    """
    rules = options.get("fields") or {}
    merged = {**options, **change.get("options", {})}
    if changed := change.get("fields"):
        merged["fields"] = {**rules, **extend_rules(rules, changed)}
    return merged


def extend_rules(given: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules `added`; one whose pattern has a rule in `given` extends that rule.

    >>> extend_rules({"a": {"weight": 2}, "b": "skip"}, {"a": "date", "c": "date"})
    {'a': {'weight': 2, 'compare': 'date'}, 'c': 'date'}
    """
    return {
        pattern: extend_rule(given[pattern], rule) if pattern in given else rule
        for pattern, rule in added.items()
    }


def _group_by_path(result: MatchResult) -> dict[str, list[FieldResult]]:
    """Return the leaves that differ, by schema path."""
    found: dict[str, list[FieldResult]] = {}
    for field in result.field_results:
        if field.status in {"match", "skipped", "batch_error"}:
            continue
        for leaf in field.differences or (field,):
            found.setdefault(leaf.path, []).append(leaf)
    return found


def _list_rules(fields: list[FieldResult]) -> Iterator[Rule]:
    """Yield the rules that may resolve the differences at one path."""
    if any(field.status != "mismatch" for field in fields):
        return
    node = fields[0].node
    explicit = node.rules.explicit_comparator
    usual = (
        add_transforms(rule, node) if isinstance(rule, dict) else rule for rule in _list_usual_rules(fields)
    )
    if explicit is None:
        yield from usual
        return
    # A rule that names a comparator keeps it.
    name, params = explicit.comparator.name, dict(explicit.params)
    for rule in usual:
        if isinstance(rule, dict) and "transform" in rule:
            yield {"compare": {name: params} if params else name, **rule}
    if "tolerance" in (explicit.comparator.params or ()):
        for limit in _TOLERANCES:
            tolerance = {"tolerance": {"rel": limit}}
            yield tolerance if name == "numeric" else {"compare": {name: {**params, **tolerance}}}


def _list_usual_rules(fields: list[FieldResult]) -> Iterator[Rule]:
    """Yield the rules that may resolve differences where no comparator is set."""
    pairs = [(field.expected, field.actual) for field in fields]
    if all(isinstance(one, str) and isinstance(other, str) for one, other in pairs):
        yield from _SPELLINGS
    elif all(_is_number(one) and _is_number(other) for one, other in pairs):
        tolerance = _find_tolerance(pairs)
        if tolerance is not None:
            yield {"tolerance": tolerance}
    elif all(_is_number(one) or isinstance(one, str) for pair in pairs for one in pair):
        yield {"transform": [{"type_convert": {"to": "number"}}]}
        yield {"transform": [{"type_convert": {"to": "string"}}]}
        yield "amount"


def _find_likely_rules(differing: Mapping[str, list[FieldResult]]) -> dict[str, Rule]:
    """Return, by path, the first likely rule with which all values at the path match."""
    return _find_rules({path: (fields, _list_rules(fields)) for path, fields in differing.items()})


def find_date_rules(result: MatchResult) -> dict[str, Rule]:
    """Return, by path, rules for ISO dates that differ in their precision or form only."""
    differing = {
        path: (fields, _DATES)
        for path, fields in _group_by_path(result).items()
        if all(type(field.expected) is str and _DATE.fullmatch(field.expected) for field in fields)
        and all(type(field.actual) is str for field in fields)
        and fields[0].node.rules.explicit_comparator is None
    }
    return _find_rules(differing)


def find_array_rules(
    result: MatchResult, options: Mapping[str, Any], trial: Trial
) -> tuple[dict[str, Rule], MatchResult] | None:
    """Return rules for arrays whose elements match at other positions, and the best result with them."""
    if sum(result.counts.values()) > _MAX_LEAVES:
        return None
    kinds = result.kinds
    paths = [path for kind in (ORDER, SHIFTED) if kind in kinds for path in kinds[kind].fields]
    if not 0 < len(paths) <= _MAX_ARRAYS:
        return None
    best, best_rules = result, None
    for align in ("sequence", "unordered"):
        rules: dict[str, Rule] = {path: {"align": align} for path in paths}
        again = trial.compare(with_change(options, {"fields": rules}))
        if again is not None and again.score > best.score:
            best, best_rules = again, rules
    return None if best_rules is None else (best_rules, best)


def _find_rules(candidates: Mapping[str, tuple[list[FieldResult], Iterable[Rule]]]) -> dict[str, Rule]:
    """Return, by path, the first of the rules with which all values at the path match."""
    from pytest_jsonmatch.comparing.comparer import Comparer
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

    found: dict[str, Rule] = {}
    for path, (fields, rules) in candidates.items():
        expected, actual = [field.expected for field in fields], [field.actual for field in fields]
        for rule in rules:
            with suppress(JsonMatchError):
                comparer = Comparer.of(METRIC, {"fields": {"[]": rule}})
                # The first value rules out most rules for long arrays.
                if all(comparer.compare(actual[:end], expected[:end]).f1 == 1.0 for end in (1, None)):
                    found[path] = rule
                    break
    return found


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _find_tolerance(pairs: list[tuple[Any, Any]]) -> dict[str, float] | None:
    """Return the smallest of the common tolerances that covers all pairs; None if none does."""
    try:
        largest = max(abs(one - other) / abs(one) if one else float("inf") for one, other in pairs)
    except OverflowError:
        return None
    return next(({"rel": limit} for limit in _TOLERANCES if largest <= limit), None)


def _list_array_changes(
    result: MatchResult, differing: Mapping[str, list[FieldResult]]
) -> Iterator[Suggested]:
    """Yield changes that ignore the order of arrays around differences, the innermost arrays first."""
    leaves: Counter[str] = Counter()
    for path, fields in differing.items():
        for found in _ELEMENT.finditer(path):
            leaves[path[: found.start()] or "$"] += len(fields)
    # Pairing many elements that match nowhere takes long, and does not help.
    kinds = result.kinds if max(leaves.values(), default=0) > _MAX_UNPAIRED else {}
    moved = {path for kind in (ORDER, SHIFTED) if kind in kinds for path in kinds[kind].fields}
    reordered = _find_reordered(result) if kinds else set()
    arrays = [
        array
        for array, number in leaves.items()
        if number <= _MAX_UNPAIRED or array in reordered or (array.partition("[]")[0] or "$") in moved
    ]
    arrays = sorted(arrays, key=lambda array: -array.count("[]"))[:_MAX_ARRAYS]
    for array in arrays:
        yield {"fields": {array: {"align": "unordered"}}}
    if len(arrays) > 1:
        yield {"options": {"arrays": "unordered"}}


def _find_reordered(result: MatchResult) -> set[str]:
    """Return the paths of arrays whose elements differ only in their order."""
    collapsed = collapse(result.field_results, result.documents)
    return {field.path for field in collapsed if sentence_of(field) == REORDERED}


def _list_general_changes(differing: Mapping[str, list[FieldResult]]) -> list[Suggested]:
    """Return options that ignore nulls or extra values, where such values differ."""
    leaves = [field for fields in differing.values() for field in fields]
    changes: list[Suggested] = []
    if any(field.expected is None or field.actual is None for field in leaves):
        changes.append({"options": {"nulls": "absent"}})
    if any(field.status == "hallucination" for field in leaves):
        changes.append({"options": {"extra": "ignore"}})
    return changes
