"""How often expected has no value for a member of an object, and how often actual has one there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.score.outcome import MATCH, SKIPPED
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path, parse_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.passes import Seen
    from pytest_jsonmatch.engine.value.convert import JsonValue

    _Pair: TypeAlias = tuple[dict[str, Any], Any]
    """An object of expected, and its counterpart in actual: an object, or `MISSING`."""


@final
class Presence(NamedTuple):
    """Counts for one schema path, as an object and as a member of objects; two of them merge.

    Only objects on both sides count. An object is open if no schema lists its members: whether it could have
    a member that neither side has there depends on the other records of the run.
    """

    objects: int = 0
    """Open objects at this path."""
    met: int = 0
    """Open objects in which either side has this member, even if it is null."""
    known: bool = False
    """Whether expected has this member in any object, even in one that actual lacks."""
    places: int = 0
    """Objects in which expected has no value for this member, as far as this record shows."""
    fabricated: int = 0
    """Of these, the objects in which actual has one."""

    def merge(self, other: Presence) -> Presence:
        """Return the counts of both; the order of merging does not matter."""
        return Presence(
            self.objects + other.objects,
            self.met + other.met,
            self.known or other.known,
            self.places + other.places,
            self.fabricated + other.fabricated,
        )


_NOTHING: Final = Presence()


def presence_of(seen: Seen, findings: Iterable[FieldResult]) -> dict[PlanNode, Presence]:
    """Return the presence of the members of objects, by schema path, in the order of the document.

    It is empty under metrics that do not count what only actual has.
    """
    found: dict[PlanNode, Presence] = {}

    def add(node: PlanNode, more: Presence) -> None:
        found[node.place] = found.get(node.place, _NOTHING).merge(more)

    by_node: dict[PlanNode, list[_Pair]] = {}
    for node, expected, actual in seen.objects:
        by_node.setdefault(node, []).append((expected, actual))
    for node, expected in _objects_in(seen.mistyped):
        by_node.setdefault(node, []).append((expected, MISSING))
    for node, pairs in by_node.items():
        if node.plan.options.extra != "count":
            return {}
        listed = None if node.schema is None else node.schema.properties
        if listed is None:
            add(node, Presence(objects=sum(actual is not MISSING for _, actual in pairs)))
        for key, more in _members(pairs, listed).items():
            if not node.children[key].skip:
                add(node.children[key], more)
    for finding in findings:
        if finding.expected is None and finding.status in {MATCH, SKIPPED}:
            _allow(finding, found)
    return found


def _objects_in(values: Iterable[tuple[PlanNode, JsonValue]]) -> Iterator[tuple[PlanNode, dict[str, Any]]]:
    """Yield the objects in values, at any depth, that are not compared as a whole."""
    waiting = list(values)
    while waiting:
        node, value = waiting.pop()
        if node.explicit is not None or node.skip:
            continue
        if type(value) is dict:
            yield node, value
            waiting += [(node.children[key], each) for key, each in value.items()]
        elif type(value) is list:
            waiting += [(node.children[ELEMENT], each) for each in value]


def _members(pairs: Iterable[_Pair], listed: Iterable[str] | None) -> dict[str, Presence]:
    """Return the presence of the members of objects at one schema path.

    An object that actual lacks only shows which members expected has. If a schema lists members, all of these
    count, and those that actual has.
    """
    wanted = list(listed or ())
    known: dict[str, Any] = {}
    members: list[str] = []
    places: list[str] = []
    fabricated: list[str] = []
    for expected, actual in pairs:
        known.update(expected)
        if actual is MISSING:
            continue
        lacking = [key for key, value in expected.items() if value is None]
        # The subset is tested first: most objects have only expected members.
        extra = [] if actual.keys() <= expected.keys() else [key for key in actual if key not in expected]
        lacking += extra
        members += expected
        members += extra
        fabricated += [key for key in lacking if actual.get(key) is not None]
        places += lacking
        places += [key for key in wanted if key not in expected and key not in actual]
    met, counted, made_up = map(Counter, (members, places, fabricated))
    if listed is not None:
        return {key: Presence(places=number, fabricated=made_up[key]) for key, number in counted.items()}
    return {
        key: Presence(0, met[key], key in known, counted[key], made_up[key])
        for key in dict.fromkeys((*met, *known))
    }


def _allow(finding: FieldResult, found: dict[PlanNode, Presence]) -> None:
    """Take back what was counted for a value that is right although expected is null, or that is skipped."""
    place = finding.node.place
    before = found.get(place, _NOTHING)
    has_value = finding.actual is not None and finding.actual is not MISSING
    if has_value and before.fabricated and type(finding.expected_key) is str:
        # A value that is right counts as expected; one that is skipped counts as absent.
        is_right = finding.status == MATCH
        found[place] = before._replace(places=before.places - is_right, fabricated=before.fabricated - 1)


def by_path(presence: Mapping[PlanNode, Presence]) -> dict[str, Presence]:
    """Return presences by path as text."""
    found: dict[str, Presence] = {}
    for node, each in presence.items():
        merge_presence(found, {node.path: each})
    return found


def merge_presence(into: dict[str, Presence], other: Mapping[str, Presence]) -> None:
    """Add the presences of another record or run."""
    for path, each in other.items():
        into[path] = into[path].merge(each) if path in into else each


def fabrications(presence: Mapping[str, Presence]) -> dict[str, tuple[int, int]]:
    """Return by member in how many objects expected has no value for it, and in how many of them actual has.

    Args:
        presence: that of all records of a run, by path as text.

    >>> fabrications({"$": Presence(objects=3), "tip": Presence(met=1, known=True)})
    {'tip': (2, 0)}
    """
    found = {}
    for path, each in presence.items():
        places = each.places
        if each.known:
            parent = format_path(parse_path(path)[:-1])
            places += presence.get(parent, _NOTHING).objects - each.met
        if places > 0:
            found[path] = places, each.fabricated
    return found
