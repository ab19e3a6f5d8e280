"""The new expected value after a comparison: only what differs is replaced by values of the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.score.field import get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.reading.matchers import iter_matchers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.reading.errors import Steps

_UNCHANGED: Final = frozenset({"match", "skipped", "batch_error"})


@final
class UpdatedValue(NamedTuple):
    """A new expected value, and the reasons why parts of it can't be replaced."""

    value: JsonValue
    refused: Sequence[str] = ()


def update_expected(result: MatchResult) -> UpdatedValue:
    """Return the expected value with all differing parts replaced by those of the answer.

    The order of members and of unordered arrays stays; additional items of actual are appended, or inserted
    where the order counts. A value with a matcher stays, too.

    >>> from pytest_jsonmatch import compare_json
    >>> expected = {"name": "ANN", "tags": ["x", "y"], "age": 3}
    >>> rules = {"name": {"transform": ["lowercase"]}, "tags": {"align": {"match_by": "hungarian"}}}
    >>> result = compare_json({"age": 4, "name": "ann", "tags": ["z", "y", "x"]}, expected, fields=rules)
    >>> update_expected(result).value
    {'name': 'ANN', 'tags': ['x', 'y', 'z'], 'age': 4}
    """
    differing = [
        leaf
        for field in result.field_results
        if field.status not in _UNCHANGED
        for leaf in _list_leaves(field)
    ]
    pairs = {
        alignment.expected_path: {i: j for i, j, _ in alignment.pairs} for alignment in result.alignments
    }
    sequences = {alignment.expected_path for alignment in result.alignments if alignment.kind == "sequence"}
    sides = _find_enclosing_steps(differing, "expected"), _find_enclosing_steps(differing, "actual")
    merger = _Merger(*sides, pairs, sequences)
    return UpdatedValue(merger.merge(*result.documents, (), ()), merger.refused)


def _list_leaves(field: FieldResult) -> Iterator[FieldResult]:
    yield from field.differences or (field,)


def _find_enclosing_steps(differing: list[FieldResult], side: Side) -> set[Steps]:
    """Return the steps, on one side, to all differences and to all values that contain one."""
    found: set[Steps] = set()
    for leaf in differing:
        steps = get_instance_keys(leaf.place, side)
        if MISSING in steps:
            steps = steps[: steps.index(MISSING)]
        # From the leaf to the root, until known steps.
        while steps not in found:
            found.add(steps)
            steps = steps[:-1]
    return found


@final
@dataclass(frozen=True, slots=True)
class _Merger:
    """Builds the new expected value from both sides.

    Args:
        expected: the steps, in expected, to all differences and to all values that contain one.
        actual: the steps, in actual, to all differences and to all values that contain one.
        pairs: the partners in actual, by the path of each array that is not compared by position.
        sequences: the paths of the arrays in `pairs` whose order counts.
        refused: the reasons why parts that differ are not replaced.
    """

    expected: set[Steps]
    actual: set[Steps]
    pairs: Mapping[str, Mapping[int, int]]
    sequences: AbstractSet[str]
    refused: list[str] = field(default_factory=list)

    def merge(self, old: JsonValue, new: JsonValue, at: Steps, to: Steps) -> JsonValue:
        """Return the merged value; `at` are the steps to it in expected, `to` those in actual."""
        if at not in self.expected and to not in self.actual:
            return old
        if type(old) is type(new) is dict:
            partners: Mapping[Any, Any] = {key: key for key in old if key in new}
        elif type(old) is type(new) is list:
            partners = self.pairs.get(format_path(at), {i: i for i in range(min(len(old), len(new)))})
        else:
            return old if self._refuse_matcher(old, at) else new
        items: list[tuple[Any, Any]] = []
        for key, value in _items(old):
            if key in partners:
                partner = partners[key]
                items.append((key, self.merge(value, new[partner], (*at, key), (*to, partner))))
            elif (*at, key) not in self.expected or self._refuse_matcher(value, (*at, key)):
                items.append((key, value))
        found = set(partners.values())
        added = [(key, value) for key, value in _items(new) if key not in found and (*to, key) in self.actual]
        if type(old) is list and format_path(at) in self.sequences:
            return _insert(items, added, partners)
        items += added
        return dict(items) if type(old) is dict else [value for _, value in items]

    def _refuse_matcher(self, old: JsonValue, at: Steps) -> bool:
        """Refuse to replace a value that contains a matcher; return whether it contains one."""
        matcher = next(iter_matchers(old), None)
        if matcher is not None:
            self.refused.append(f"{format_path(at)}: the matcher {matcher} would be lost; change it by hand")
        return matcher is not None


def _insert(
    items: list[tuple[int, JsonValue]], added: list[tuple[int, JsonValue]], partners: Mapping[int, int]
) -> list[JsonValue]:
    """Return the values of both, each added one before the first item whose partner comes after it."""
    values: list[JsonValue] = []
    rest = list(added)
    for key, value in items:
        while rest and key in partners and rest[0][0] < partners[key]:
            values.append(rest.pop(0)[1])
        values.append(value)
    return values + [value for _, value in rest]


def _items(container: Any) -> Iterable[tuple[Any, JsonValue]]:
    return container.items() if type(container) is dict else enumerate(container)
