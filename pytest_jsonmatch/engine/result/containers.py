"""The scores of every object and array of a comparison, and the alignments of its arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.options import ByKey, ByMembers
from pytest_jsonmatch.engine.score.field import UNCOUNTED, Place, format_instance_path, get_instance_keys
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums, add_sums
from pytest_jsonmatch.support.frozen import Frozen, to_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.score.walkstate import AlignedArrays

_KINDS: Final[dict[type, str]] = {dict: "object", list: "array"}
_PAIRINGS: Final[dict[type, str]] = {ByKey: "key", ByMembers: "members"}


@final
class ContainerResult(Frozen):
    """The scores of an object or array over all results in it, at any depth.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"n": [1, 2]}, {"n": [1], "m": 3}, metric="leaf_f1")
    >>> [(each.path, each.kind, each.precision, each.recall) for each in result.containers]
    [('$', 'object', 0.5, 0.5), ('n', 'array', 0.5, 1.0)]
    """

    __slots__ = (
        "actual_leaves",
        "actual_path",
        "expected_leaves",
        "expected_path",
        "f1",
        "kind",
        "path",
        "precision",
        "recall",
    )

    def __init__(
        self,
        path: str,
        expected_path: str | None,
        actual_path: str | None,
        kind: str,
        expected_leaves: float,
        actual_leaves: float,
        precision: float,
        recall: float,
        f1: float,
    ) -> None:
        self.path: Final = path
        """The schema path; `$` is the root."""
        self.expected_path: Final = expected_path
        """The instance path in expected; None if expected has no such container."""
        self.actual_path: Final = actual_path
        """The instance path in actual; None if actual has no such container."""
        self.kind: Final = kind
        """"object" or "array"; expected's kind if the two sides differ."""
        self.expected_leaves: Final = expected_leaves
        """The weighted number of expected's leaves in it."""
        self.actual_leaves: Final = actual_leaves
        """The weighted number of actual's leaves in it."""
        self.precision: Final = precision
        """Σ score / actual's leaves, 1 for 0/0."""
        self.recall: Final = recall
        """Σ score / expected's leaves, 1 for 0/0."""
        self.f1: Final = f1
        """2 Σ score / leaves of both sides, 1 for 0/0."""

    def to_dict(self) -> dict[str, Any]:
        """Return paths and scores as plain JSON types."""
        return to_dict(self)


@final
class ArrayAlignment(Frozen):
    """The pairs of elements of two arrays that are not paired by position.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json([["b", "x"], ["a"]], [["a"], ["b", "c"], ["d"]], metric="pairwise_f1")
    >>> alignment = result.alignments[0]
    >>> alignment.path, alignment.pairs, alignment.unmatched_expected, alignment.unmatched_actual
    ('$', ((0, 1, 1.0), (1, 0, 0.5)), (2,), ())
    """

    __slots__ = (
        "actual_path",
        "expected_path",
        "kind",
        "pairs",
        "path",
        "unmatched_actual",
        "unmatched_expected",
    )

    def __init__(
        self,
        path: str,
        expected_path: str,
        actual_path: str,
        kind: str,
        pairs: tuple[tuple[int, int, float], ...],
        unmatched_expected: tuple[int, ...],
        unmatched_actual: tuple[int, ...],
    ) -> None:
        self.path: Final = path
        """The schema path; `$` is the root."""
        self.expected_path: Final = expected_path
        """The instance path in expected."""
        self.actual_path: Final = actual_path
        """The instance path in actual."""
        self.kind: Final = kind
        """"unordered", "sequence", "key" or "members"."""
        self.pairs: Final = pairs
        """(index in expected, index in actual, F1 of the pair), in the order of expected."""
        self.unmatched_expected: Final = unmatched_expected
        """The indices of expected's elements without a partner."""
        self.unmatched_actual: Final = unmatched_actual
        """The indices of actual's elements without a partner."""

    def to_dict(self) -> dict[str, Any]:
        """Return the alignment as plain JSON types."""
        return to_dict(self)


def compute_containers(findings: Iterable[FieldResult]) -> list[ContainerResult]:
    """Return the scores of every object and array, in document order, the root first."""
    return [
        ContainerResult(
            _format_schema_path(place),
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


def _format_schema_path(place: Place) -> str:
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
        # The container of a finding is empty, mistyped or compared as a whole. It may contain skipped ones.
        within = [] if kind is None or finding.status in UNCOUNTED else [(finding.place, kind)]
        key, place, sums = finding.place.key, finding.parent_place, finding.sums
        while place is not None:
            within.append((place, "array" if type(key) is int else "object"))
            key, place = place.key, place.parent
        for place, kind in reversed(within):
            parts.setdefault(place, (kind, []))[1].append(sums)
    return [(place, kind, add_sums(inner)) for place, (kind, inner) in parts.items()]


def describe_alignments(
    arrays: Sequence[AlignedArrays], findings: Sequence[FieldResult]
) -> list[ArrayAlignment]:
    """Return the alignments of arrays, with the F1 of each pair."""
    if not arrays:
        return []
    aligned = {array.place for array in arrays}
    scores = {finding.place: finding.sums.f1 for finding in findings if finding.parent_place in aligned}
    for place, _, sums in _sum_by_container(findings):
        if place.parent in aligned:
            scores[place._replace(choice=0)] = sums.f1
    return [_make_alignment(array, scores) for array in arrays]


def _make_alignment(aligned: AlignedArrays, scores: dict[Place, float]) -> ArrayAlignment:
    paired, partners = {i for i, _ in aligned.pairs}, {j for _, j in aligned.pairs}
    align = aligned.node.rules.align
    return ArrayAlignment(
        aligned.node.path,
        format_instance_path(aligned.place, "expected"),
        format_instance_path(aligned.place, "actual"),
        kind=align if isinstance(align, str) else _PAIRINGS[type(align)],
        pairs=tuple((i, j, scores.get(Place(aligned.place, i, j), 1.0)) for i, j in aligned.pairs),
        unmatched_expected=tuple(i for i in range(len(aligned.expected)) if i not in paired),
        unmatched_actual=tuple(j for j in range(len(aligned.actual)) if j not in partners),
    )
