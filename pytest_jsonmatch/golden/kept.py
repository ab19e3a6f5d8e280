"""What an update writes: expected values that match by their rules stay, the others become what came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.score.outcome import instance_trail
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.golden.errors import Trail

_RIGHT: Final = frozenset({"match", "skipped", "batch_error"})


def updated(result: MatchResult) -> JsonValue:
    """Return expected with what is not right in it replaced by what came.

    The order of members and of unordered arrays stays; what actual has more goes to the end.

    >>> from pytest_jsonmatch import compare_json
    >>> expected = {"name": "ANN", "tags": ["x", "y"], "age": 3}
    >>> rules = {"name": {"transform": ["lowercase"]}, "tags": {"align": {"match_by": "hungarian"}}}
    >>> updated(compare_json({"age": 4, "name": "ann", "tags": ["z", "y", "x"]}, expected, fields=rules))
    {'name': 'ANN', 'tags': ['x', 'y', 'z'], 'age': 4}
    """
    wrong = [leaf for field in result.field_results if field.status not in _RIGHT for leaf in _leaves(field)]
    pairs = {each.expected_path: {i: j for i, j, _ in each.pairs} for each in result.alignments}
    return _Merge(_around(wrong, "expected"), _around(wrong, "actual"), pairs).of(*result.documents, (), ())


def _leaves(field: FieldResult) -> Iterator[FieldResult]:
    yield from field.differences or (field,)


def _around(wrong: list[FieldResult], side: Side) -> set[Trail]:
    """Return the places on one side in which, or somewhere below which, something is wrong."""
    places: set[Trail] = set()
    for leaf in wrong:
        trail = instance_trail(leaf.place, side)
        if MISSING in trail:
            trail = trail[: trail.index(MISSING)]
        # From the leaf upwards, as far as is not known yet.
        while trail not in places:
            places.add(trail)
            trail = trail[:-1]
    return places


@final
@dataclass(frozen=True, slots=True)
class _Merge:
    """Takes from both sides what belongs into the new expected value.

    Args:
        expected: the places in expected where something is wrong at or below.
        actual: likewise in actual.
        pairs: by the path of each array that is not compared by position, the partners in actual.
    """

    expected: set[Trail]
    actual: set[Trail]
    pairs: Mapping[str, Mapping[int, int]]

    def of(self, old: JsonValue, new: JsonValue, at: Trail, to: Trail) -> JsonValue:
        """Return the value for a place, which is `at` in expected and `to` in actual."""
        if at not in self.expected and to not in self.actual:
            return old
        items: list[tuple[Any, Any]]
        if type(old) is dict and type(new) is dict:
            items = [*self._kept(old.items(), new, {key: key for key in new}, at, to)]
            items += [
                (key, value) for key, value in new.items() if key not in old and (*to, key) in self.actual
            ]
            return dict(items)
        if type(old) is list and type(new) is list:
            partners = self.pairs.get(format_path(at), {i: i for i in range(min(len(old), len(new)))})
            items = [*self._kept(enumerate(old), new, partners, at, to)]
            found = set(partners.values())
            items += [(j, new[j]) for j in range(len(new)) if j not in found and (*to, j) in self.actual]
            return [value for _, value in items]
        return new

    def _kept(
        self, old: Any, new: Any, partners: Mapping[Any, Any], at: Trail, to: Trail
    ) -> Iterator[tuple[Any, Any]]:
        for key, value in old:
            partner = partners.get(key, MISSING)
            if partner is not MISSING:
                yield key, self.of(value, new[partner], (*at, key), (*to, partner))
            elif (*at, key) not in self.expected:
                yield key, value
