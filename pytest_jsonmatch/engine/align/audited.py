"""The results of an audit: each pair of an unordered array, and its alternatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Partner:
    """The best element of the other side, other than the one that an element is paired with.

    >>> Partner(2, 0.7).score
    0.7
    """

    index: int | None
    """Its index; None if all of them score 0."""
    score: float


@final
@dataclass(frozen=True, slots=True)
class AuditedPair:
    """A pair of elements of an unordered array, and its alternatives.

    >>> pair = AuditedPair(0, 1, 0.75, 0.75, Partner(4, 0.7), ambiguous=False)
    >>> pair.next_actual.index, pair.next_actual.score
    (4, 0.7)
    """

    expected: int
    """The index in expected."""
    actual: int
    """The index in actual."""
    f1: float
    """The F1 of the two, as in `alignments`."""
    score: float | None = None
    """The metric's score of the two, whose sum over all pairs the pairing maximizes: the F1, except under
    `reduce: ratio`. None if it was not computed."""
    next_actual: Partner | None = None
    """For the element of expected, the second-best element of actual that has no equal partner. None if there
    is no other, or if the two are equal."""
    margin: float | None = None
    """The least loss in the sum of similarities if one of the two is paired with another element that is not
    equal to its partner. None if that is more than the tolerance."""
    ambiguous: bool | None = None
    """Whether there is such a margin. None if it was not computed."""


@final
@dataclass(frozen=True, slots=True)
class ArrayAudit:
    """The pairs of one unordered array, and their alternatives.

    >>> from pytest_jsonmatch import compare_json
    >>> expected = [{"n": "tea", "p": 2}, {"n": "milk", "p": 3}]
    >>> actual = [{"n": "tea", "p": 3}, {"n": "milk", "p": 2}]
    >>> (audit,) = compare_json(actual, expected, metric="pairwise_f1").audit()
    >>> [(each.expected, each.actual, each.f1, each.next_actual, each.ambiguous) for each in audit.pairs]
    [(0, 0, 0.5, Partner(index=1, score=0.5), True), (1, 1, 0.5, Partner(index=0, score=0.5), True)]
    """

    path: str
    """The schema path of the array."""
    expected_path: str
    """The instance path in expected."""
    actual_path: str
    """The instance path in actual."""
    pairs: tuple[AuditedPair, ...]
    """In the order of expected."""
    unmatched_expected: tuple[int, ...]
    """Indices in expected of elements without a partner."""
    unmatched_actual: tuple[int, ...]
    """Likewise in actual."""
    reason: str | None = None
    """Why nothing was computed; None if it was."""
    more: int = 0
    """The number of pairs left out by `shortened`."""

    def shortened(self, most: int) -> ArrayAudit:
        """Return the audit with at most this many pairs: the ambiguous ones first, then the worst.

        >>> audit = ArrayAudit("a", "a", "a", tuple(AuditedPair(at, at, at / 2) for at in range(3)), (), ())
        >>> [pair.expected for pair in audit.shortened(2).pairs], audit.shortened(2).more
        ([0, 1], 1)
        """
        if len(self.pairs) <= most:
            return self
        pairs = sorted(self.pairs, key=lambda pair: (not pair.ambiguous, pair.f1, pair.expected))[:most]
        kept = tuple(sorted(pairs, key=lambda pair: pair.expected))
        return replace(self, pairs=kept, more=self.more + len(self.pairs) - len(kept))
