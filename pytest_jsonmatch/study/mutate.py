"""Find errors that a suite does not notice: mutate right answers, and compare them as its cases do."""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.score.field import BATCH_ERROR, LEAVES, MATCH, SKIPPED, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, replace_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import JsonMatchError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.study.places import format_schema_path, iter_leaf_results
from pytest_jsonmatch.study.words import describe_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.places import Steps

    Try: TypeAlias = "Callable[[JsonValue], tuple[MatchResult, bool, Mapping[str, Any]]]"
    """Compares an answer as a case does; returns the result, whether it passes, and the limits."""

MAX_MUTATIONS: Final = 200
"""At most this many mutations of each case are tried."""
ADDED: Final = "added_by_audit"
_WIDTH: Final = 60
_MAX_ROWS: Final = 100
"""Values are exchanged between at most this many rows of an array."""
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_UNITS: Final = ("kg g", "km m", "cm mm", "l ml", "EUR USD", "€ $", "GBP USD", "£ $", "h min", "% ‰", "°C °F")
_UNIT_OF: Final = {unit: other for pair in _UNITS for unit, other in zip(pair.split(), pair.split()[::-1])}
_UNIT: Final = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(re.escape, _UNIT_OF))})(?![^\W\d_])")


class Mutation(NamedTuple):
    """A change that makes a right answer wrong."""

    kind: str
    """One of `KINDS`."""
    field: str
    """The schema path of the mutated value."""
    steps: Steps
    """The keys and indices of the path at which the answer changes."""
    value: JsonValue
    """The new value; MISSING to remove the value."""
    description: str
    """The change as text."""


# -- single values -----------------------------------------------------------------------------------------


def _digit(value: Any) -> Any:
    """Change the digit in the middle, which changes more than the last decimal but not the magnitude."""
    text = str(value)
    mantissa = text.partition("e")[0] if type(value) is float else text
    places = [found.start() for found in re.finditer("[0-9]", mantissa)]
    if not places:
        return value
    at = places[len(places) // 2]
    return type(value)(f"{text[:at]}{'1234567891'[int(text[at])]}{text[at + 1 :]}")


def _next_day(date: re.Match[str]) -> str:
    try:
        return (dt.date.fromisoformat(date[0]) + dt.timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return date[0]  # not a valid date


_NULL: Final[Mapping[str, Callable[[Any], Any]]] = {"null": lambda _: None}
_OF_NUMBERS: Final = {"digit": _digit, "sign": operator.neg, "unit": lambda number: number * 1000, **_NULL}
_OF_TEXTS: Final = {
    "digit": _digit,
    "date off by one": lambda text: _DATE.sub(_next_day, text, count=1),
    "unit": lambda text: _UNIT.sub(lambda found: _UNIT_OF[found[0]], text, count=1),
    "truncated": lambda text: text[: len(text) // 2],
    **_NULL,
}
_OF_TYPES: Final = {int: _OF_NUMBERS, float: _OF_NUMBERS, str: _OF_TEXTS}
_OF_CONTAINERS: Final = ("swapped", "dropped field", "dropped row", "extra field", "extra row")
KINDS: Final = (*dict.fromkeys((*_OF_NUMBERS, *_OF_TEXTS)), *_OF_CONTAINERS)
"""The kinds of mutations."""


def make_mutations(expected: JsonValue, limit: int = MAX_MUTATIONS) -> list[Mutation]:
    """Return mutations of a right answer: one for each field and kind, then a second, up to `limit`.

    If `limit` is less than the number of fields and kinds, a sample of them is returned. The same value
    always has the same mutations.

    >>> for each in make_mutations({"total": 17.5, "date": "2024-01-31"}):
    ...     print(each.kind, "|", each.description)
    extra field | (nothing) → "extra"
    dropped field | 17.5 → (nothing)
    dropped field | "2024-01-31" → (nothing)
    digit | 17.5 → 18.5
    sign | 17.5 → -17.5
    unit | 17.5 → 17500.0
    null | 17.5 → null
    digit | "2024-01-31" → "2024-11-31"
    date off by one | "2024-01-31" → "2024-02-01"
    truncated | "2024-01-31" → "2024-"
    null | "2024-01-31" → null
    """
    ranked: list[tuple[int, float, int]] = []
    candidates = list(_iter_mutations(expected))
    number: Counter[tuple[str, str]] = Counter()
    random = Random(0)  # noqa: S311 - a sample, not a secret
    for at, mutation in enumerate(candidates):
        # Ties are broken at random, so that no kind and no part of the document is neglected.
        ranked.append((number[mutation.field, mutation.kind], random.random(), at))
        number[mutation.field, mutation.kind] += 1
    return [candidates[at] for at in sorted(at for *_, at in nsmallest(limit, ranked))]


def _iter_mutations(expected: JsonValue) -> Iterator[Mutation]:
    waiting: list[tuple[Steps, JsonValue]] = [((), expected)]
    while waiting:
        steps, value = waiting.pop()
        if type(value) is dict:
            items: list[tuple[Any, JsonValue]] = list(value.items())
            yield _mutation("extra field", (*steps, ADDED), MISSING, "extra")
        elif type(value) is list:
            items = list(enumerate(value))
            if value:
                new = {**value[-1], ADDED: "extra"} if type(value[-1]) is dict else "extra"
                yield _mutation("extra row", (*steps, len(value)), MISSING, new)
        else:
            for kind, break_it in _OF_TYPES.get(type(value), _NULL).items():
                if not json_equal(broken := break_it(value), value):
                    yield _mutation(kind, steps, value, broken)
            continue
        yield from _swaps(steps, value)
        for key, inner in items:
            kind = "dropped field" if type(value) is dict else "dropped row"
            yield _mutation(kind, (*steps, key), inner, MISSING)
        waiting += [((*steps, key), inner) for key, inner in reversed(items)]


def _mutation(kind: str, steps: Steps, old: JsonValue, new: JsonValue) -> Mutation:
    return Mutation(kind, format_schema_path(steps), steps, new, f"{_text(old)} → {_text(new)}")


def _text(value: JsonValue) -> str:
    return "(nothing)" if value is MISSING else render(value, _WIDTH)


def _swaps(steps: Steps, value: Any) -> Iterator[Mutation]:
    """Yield mutations that exchange two values: those of two members, or those of a member in two rows."""
    pairs: list[tuple[Steps, Steps]] = []
    if type(value) is dict:
        last: dict[type, str] = {}
        for key, inner in value.items():
            if type(inner) in last:
                pairs.append(((last[type(inner)],), (key,)))
            last[type(inner)] = key
    else:
        for at, (row, below) in enumerate(pairwise(value[:_MAX_ROWS])):
            if type(row) is type(below) is dict:
                pairs += [((at, key), (at + 1, key)) for key in row if key in below]
    for one, two in pairs:
        first, second = get_value(value, one), get_value(value, two)
        if type(first) not in {dict, list} and not json_equal(first, second):
            swapped = replace_value(replace_value(value, one, second), two, first)
            description = f"{_text(first)} ⇄ {_text(second)}"
            yield Mutation("swapped", format_schema_path((*steps, *two)), steps, swapped, description)


@final
@dataclass(frozen=True, slots=True)
class Hole:
    """Mutations of one kind in one field, some of which pass."""

    field: str
    kind: str
    mutated: int
    noticed: int
    rules: tuple[str, ...]
    """The rules that let them pass, the most frequent first."""
    example: str
    """The description of a mutation that passes."""
    case: str
    """The case of the example."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class SuiteAudit:
    """The errors that a suite notices, and those that it does not."""

    cases: int
    mutated: int
    noticed: float | None
    """The share of the mutations that fail their case; None without mutations."""
    holes: tuple[Hole, ...]
    """The mutations that pass, by field and kind, the most frequent first."""
    by_field: Mapping[str, Mapping[str, float | None]]
    """The statistic `noticed` by schema path."""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return describe_study(self)

    @property
    def statistics(self) -> Mapping[str, float | None]:
        """The statistic `noticed`, for gates."""
        return {"noticed": self.noticed}


def find_holes(cases: Iterable[tuple[str, JsonValue, Try]]) -> SuiteAudit:
    """Mutate the expected values of cases, and find the mutations that pass.

    Args:
        cases: the name of each case, its right answer, and a function that compares an answer as the case
            does: it returns the result, whether the case passes, and the limits.

    Returns:
        The share of mutations that are noticed, and those that pass, by field and kind.

    >>> from pytest_jsonmatch import compare_json
    >>> def compare(actual):
    ...     rules = {"total": {"compare": {"numeric": {"tolerance": {"rel": 0.1}}}}}
    ...     result = compare_json(actual, {"total": 1234.5}, fields=rules)
    ...     return result, result.score >= 1, {"score": 1.0}
    >>> [(hole.kind, hole.rules) for hole in find_holes([("a", {"total": 1234.5}, compare)]).holes]
    [('digit', ('`numeric` rel 0.1',))]
    """
    tried = MutationOutcomes()
    for name, expected, compare in cases:
        tried.add(name, expected, compare)
    return tried.summarize()


# -- outcomes ----------------------------------------------------------------------------------------------


class _Passed(NamedTuple):
    """A mutation that passes."""

    rule: str
    description: str
    case: str


@final
@dataclass(slots=True)
class MutationOutcomes:
    """The outcomes of mutations over several cases."""

    cases: int = 0
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The number of mutations tried, by field and kind."""
    passed: defaultdict[tuple[str, str], list[_Passed]] = field(default_factory=lambda: defaultdict(list))
    """The mutations that pass, by field and kind."""
    notes: dict[str, None] = field(default_factory=dict)
    """Notes on cases and fields that are left out."""

    def add(self, name: str, expected: JsonValue, compare: Try, *, by_gates: bool = False) -> None:
        """Mutate the expected value of a case, and record which mutations pass.

        Args:
            name: the name of the case.
            expected: the right answer.
            compare: compares an answer as the case does.
            by_gates: whether only gates decide about the case, which notice every lower score.
        """
        self.cases += 1
        try:
            right, passes, limits = compare(expected)
        except JsonMatchError as error:
            self.notes[f"{name}: {str(error).splitlines()[0]}"] = None
            return
        if not passes:
            self.notes[f"{name}: its own expected value does not pass"] = None
            return
        by_gates = by_gates or not any(limits.values())
        skipped = [leaf for leaf in iter_leaf_results(right) if leaf.status == SKIPPED]
        self.notes |= {f"{leaf.path}: a rule skips it": None for leaf in skipped}
        skipped_steps = [get_instance_keys(leaf.place, "expected") for leaf in skipped]
        for mutation in make_mutations(expected):
            if any(mutation.steps[: len(place_steps)] == place_steps for place_steps in skipped_steps):
                continue
            place = mutation.field, mutation.kind
            try:
                result, passes, limits = compare(replace_value(expected, mutation.steps, mutation.value))
            except JsonMatchError:  # the test would fail
                self.tries[place] += 1
                continue
            if any(found.status == BATCH_ERROR for found in iter_leaf_results(result)):
                self.notes[f"{mutation.field}: a judge compares it, but none is asked"] = None
                continue
            self.tries[place] += 1
            if passes and not (by_gates and (result.score or 0.0) < (right.score or 0.0)):
                self.passed[place].append(
                    _Passed(_rule(mutation, result, limits), mutation.description, name)
                )

    def summarize(self) -> SuiteAudit:
        """Return the audit of the suite."""
        mutated, missed, holes = Counter[str](), Counter[str](), []
        for (path, kind), number in sorted(self.tries.items()):
            mutated[path] += number
            if passed := self.passed.get((path, kind), []):
                missed[path] += len(passed)
                rules = tuple(rule for rule, _ in Counter(mutation.rule for mutation in passed).most_common())
                hole = Hole(
                    path, kind, number, number - len(passed), rules, passed[0].description, passed[0].case
                )
                holes.append(hole)
        holes.sort(key=lambda hole: (hole.noticed - hole.mutated, hole.field))
        by_field = {path: {"noticed": (tries - missed[path]) / tries} for path, tries in mutated.items()}
        total = mutated.total()
        noticed = (total - missed.total()) / total if total else None
        return SuiteAudit(self.cases, total, noticed, tuple(holes), by_field, tuple(self.notes))


def _rule(mutation: Mutation, result: MatchResult, limits: Mapping[str, Any]) -> str:
    """Return the rule that lets a mutation pass."""
    weights = [
        leaf.weight for leaf in iter_leaf_results(result) if leaf.status in LEAVES and leaf.status != MATCH
    ]
    if weights and not any(weights):
        return "`weight` 0"
    if weights:
        least = ", ".join(f"{name} {limit:g}" for name, limit in limits.items() if type(limit) is float)
        return f"`threshold` {least.removeprefix('score ') or 'of fields'}"
    for leaf in iter_leaf_results(result):
        if get_instance_keys(leaf.place, "expected") == mutation.steps:
            if leaf.actual is MISSING or (leaf.reason or "").startswith("accepted"):
                return "`accept`"
            one, other = leaf.expected_compared, leaf.actual_compared
            if json_equal(one, other):
                return "`transform`"
            comparator, params = leaf.node.rules.find_comparator(one, other)
            return f"`{comparator}` {_params(params)}".rstrip()
    skipped_steps = [
        get_instance_keys(leaf.place, "actual" if leaf.expected is MISSING else "expected")
        for leaf in iter_leaf_results(result)
        if leaf.node.rules.skip
    ]
    if any(place_steps[: len(mutation.steps)] == mutation.steps for place_steps in skipped_steps):
        return "`skip`"
    if mutation.kind.startswith("extra"):
        return "`extra: ignore`"
    if get_value(result.documents[0], mutation.steps) is None or mutation.kind == "null":
        return "`nulls: absent`"
    return "unordered arrays" if mutation.kind == "swapped" else "`accept`"


def _params(params: Mapping[str, Any]) -> str:
    """Return the parameters of a comparator as text.

    >>> _params({"tolerance": {"rel": 0.1}, "strict": True})
    'rel 0.1, strict true'
    """
    parts = []
    for name, value in params.items():
        parts += [_params(value)] if isinstance(value, dict) else [f"{name} {render(value, _WIDTH)}"]
    return ", ".join(parts)
