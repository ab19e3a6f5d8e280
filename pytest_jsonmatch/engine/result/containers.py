"""Scores for every object and array of a comparison, and how its arrays were aligned."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.options import ByKey, ByMembers
from pytest_jsonmatch.engine.score.field import LEAFLESS, Place, format_instance_path, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums, add_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import AlignedArrays

_KINDS: Final[dict[type, str]] = {dict: "object", list: "array"}
_PAIRINGS: Final[dict[type, str]] = {str: "unordered", ByKey: "key", ByMembers: "members"}


@final
@dataclass(frozen=True, slots=True)
class ContainerResult:
    """The scores of one object or array, over all results in it at any depth.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"n": [1, 2]}, {"n": [1], "m": 3}, metric="leaf_f1")
    >>> [(each.path, each.kind, each.precision, each.recall) for each in result.containers]
    [('$', 'object', 0.5, 0.5), ('n', 'array', 0.5, 1.0)]
    """

    path: str
    """The schema path; `$` is the root."""
    expected_path: str | None
    """The instance path in expected; None if expected has no such container."""
    actual_path: str | None
    """The instance path in actual; None if actual has no such container."""
    kind: str
    """object or array; expected's kind if the two sides differ."""
    expected_leaves: float
    """Expected's leaves in it, weighted."""
    actual_leaves: float
    """Actual's leaves in it, weighted."""
    precision: float
    """Σ score / actual's leaves, 0/0 being 1."""
    recall: float
    """Σ score / expected's leaves, 0/0 being 1."""
    f1: float
    """2 Σ score / leaves of both sides, 0/0 being 1."""

    def to_dict(self) -> dict[str, Any]:
        """Return paths and scores as plain JSON types."""
        return asdict(self)


@final
@dataclass(frozen=True, slots=True)
class ArrayAlignment:
    """Which elements of two arrays were paired, if not by position.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json([["b", "x"], ["a"]], [["a"], ["b", "c"], ["d"]], metric="pairwise_f1")
    >>> alignment = result.alignments[0]
    >>> alignment.path, alignment.pairs, alignment.unmatched_expected, alignment.unmatched_actual
    ('$', ((0, 1, 1.0), (1, 0, 0.5)), (2,), ())
    """

    path: str
    """The schema path; `$` is the root."""
    expected_path: str
    """The instance path in expected."""
    actual_path: str
    """The instance path in actual."""
    kind: str
    """unordered, key or members."""
    pairs: tuple[tuple[int, int, float], ...]
    """(index in expected, index in actual, F1 of the two), in the order of expected."""
    unmatched_expected: tuple[int, ...]
    """Indices in expected of elements without a partner."""
    unmatched_actual: tuple[int, ...]
    """Indices in actual of elements without a partner."""

    def to_dict(self) -> dict[str, Any]:
        """Return the alignment as plain JSON types."""
        return asdict(self)


def compute_containers(findings: Iterable[FieldResult]) -> list[ContainerResult]:
    """Return the scores of every object and array, in the order of the document, the root first."""
    return [
        ContainerResult(
            _schema_path(place),
            None if place.expected_key is MISSING else format_instance_path(place, "expected"),
            None if place.actual_key is MISSING else format_instance_path(place, "actual"),
            kind,
            sums.expected,
            sums.actual,
            sums.precision,
            sums.recall,
            sums.f1,
        )
        for place, kind, sums in _sum_by_container(findings)
    ]


def _schema_path(place: Place) -> str:
    keys = [
        actual if expected is MISSING else expected
        for expected, actual in zip(get_instance_keys(place, "expected"), get_instance_keys(place, "actual"))
    ]
    return format_path([ELEMENT if type(key) is int else key for key in keys])


def _sum_by_container(findings: Iterable[FieldResult]) -> list[tuple[Place, str, Sums]]:
    """Return the kind and the sums of every object and array, the root first."""
    parts: dict[Place, tuple[str, list[Sums]]] = {}
    for finding in findings:
        kind = _KINDS.get(type(finding.expected)) or _KINDS.get(type(finding.actual))
        # A finding of a container is empty, mistyped or compared as a whole. It may contain skipped ones.
        within = [] if kind is None or finding.status in LEAFLESS else [(finding.place, kind)]
        key, place, sums = finding.place.key, finding.around, finding.sums
        while place is not None:
            within.append((place, "array" if type(key) is int else "object"))
            key, place = place.key, place.parent
        for place, kind in reversed(within):
            parts.setdefault(place, (kind, []))[1].append(sums)
    return [(place, kind, add_sums(inner)) for place, (kind, inner) in parts.items()]


def describe_alignments(
    arrays: Sequence[AlignedArrays], findings: Sequence[FieldResult]
) -> list[ArrayAlignment]:
    """Return how arrays were aligned, with the F1 of each pair."""
    if not arrays:
        return []
    aligned = {each.place for each in arrays}
    scores = {each.place: each.sums.f1 for each in findings if each.around in aligned}
    for place, _, sums in _sum_by_container(findings):
        if place.parent in aligned:
            scores[place._replace(choice=0)] = sums.f1
    return [_make_alignment(each, scores) for each in arrays]


def _make_alignment(aligned: AlignedArrays, scores: dict[Place, float]) -> ArrayAlignment:
    paired, partners = {i for i, _ in aligned.pairs}, {j for _, j in aligned.pairs}
    return ArrayAlignment(
        aligned.node.path,
        format_instance_path(aligned.place, "expected"),
        format_instance_path(aligned.place, "actual"),
        kind=_PAIRINGS[type(aligned.node.rules.align)],
        pairs=tuple((i, j, scores.get(Place(aligned.place, i, j), 1.0)) for i, j in aligned.pairs),
        unmatched_expected=tuple(i for i in range(len(aligned.expected)) if i not in paired),
        unmatched_actual=tuple(j for j in range(len(aligned.actual)) if j not in partners),
    )
