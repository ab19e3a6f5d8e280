"""What counts beside the score: values that expected does not have, and validity by the schema."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.score.field import MATCH, SKIPPED
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path, parse_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
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
        known = self.known or other.known
        return Presence(*map(add, self, other))._replace(known=known)


_NOTHING: Final = Presence()


def presence_of(seen: Seen, findings: Iterable[FieldResult]) -> dict[str, Presence]:
    """Return the presence of the members of objects, by schema path, in the order of the document.

    It is empty under metrics that do not count what only actual has.
    """
    found: dict[str, Presence] = {}
    by_node: dict[PlanNode, list[_Pair]] = {}
    for node, expected, actual in seen.objects:
        by_node.setdefault(node, []).append((expected, actual))
    for place in seen.mistyped:
        for node, expected in _objects_in(*place):
            by_node.setdefault(node, []).append((expected, MISSING))
    for node, pairs in by_node.items():
        if node.plan.options.extra != "count":
            return {}
        listed = None if node.schema is None else node.schema.properties
        if listed is None:
            open_objects = Presence(objects=sum(actual is not MISSING for _, actual in pairs))
            merge_presence(found, {node.path: open_objects})
        for key, more in _members(pairs, listed).items():
            if not node.children[key].skip:
                merge_presence(found, {node.children[key].path: more})
    for finding in findings:
        if finding.expected is None and finding.status in {MATCH, SKIPPED}:
            _allow(finding, found)
    return found


def _objects_in(node: PlanNode, value: JsonValue) -> Iterator[tuple[PlanNode, dict[str, Any]]]:
    """Yield the objects in a value, at any depth, that are not compared as a whole."""
    if type(value) not in CONTAINERS or node.explicit is not None or node.skip:
        return
    if type(value) is dict:
        yield node, value
    for key, item in value.items() if type(value) is dict else zip(repeat(ELEMENT), value):
        yield from _objects_in(node.children[key], item)


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


def _allow(finding: FieldResult, found: dict[str, Presence]) -> None:
    """Take back what was counted for a value that is right although expected is null, or that is skipped."""
    before = found.get(finding.path, _NOTHING)
    has_value = finding.actual is not None and finding.actual is not MISSING
    if has_value and before.fabricated and type(finding.expected_key) is str:
        # A value that is right counts as expected; one that is skipped counts as absent.
        places = before.places - (finding.status == MATCH)
        found[finding.path] = before._replace(places=places, fabricated=before.fabricated - 1)


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


VALIDATE: Final = ("report", "require", "off")
"""The values of the option `validate`."""


@final
class Validity(NamedTuple):
    """Whether an answer is valid by its schema.

    >>> Validity(False, ("total: -1 is less than the minimum of 0",)).valid
    False
    """

    valid: bool | None
    """None if the validator can't take the value, which has over 200 levels or lone surrogates."""
    violations: tuple[str, ...] = ()
    """What the schema does not allow, each with its path."""


def check_validate(wanted: object, schema: object) -> None:
    """Check the value of the option `validate`.

    Raises:
        ConfigurationError: it is not in `VALIDATE`, or is "require" without a schema.
    """
    if wanted not in VALIDATE:
        raise ConfigurationError(f"validate is {wanted!r}; it must be {' or '.join(map(repr, VALIDATE))}")
    if wanted == "require" and schema is None:
        raise ConfigurationError("validate is 'require', but there is no schema to validate against")


def validity_of(schema: SchemaNode | None, actual: JsonValue, mode: str) -> Validity | None:
    """Return whether an answer is valid; None if validation is off, or there is no schema.

    An answer that could not be read is not valid.

    Raises:
        ConfigurationError: the schema is not a valid JSON Schema.
    """
    if mode == "off" or schema is None or schema.violations is None:
        return None
    if actual is MISSING:
        return Validity(valid=False)
    found = schema.violations(actual)
    return Validity(None) if found is None else Validity(not found, found)
