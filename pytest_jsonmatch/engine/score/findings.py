"""What a walk has found so far: findings, counts, and the sums over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_jsonmatch.engine.plan.leaves import Leaves, weight_between
from pytest_jsonmatch.engine.score.outcome import LEAVES, Seen
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.sums import Sums, total_of

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.align.context import Aligned
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import (
        Asked,
        Detail,
        Finding,
        Outcome,
        Place,
        Trail,
    )
    from pytest_jsonmatch.engine.score.passes import Pass, Spot
    from pytest_jsonmatch.engine.value.convert import JsonValue


class Findings:
    """Collects what one walk finds."""

    __slots__ = (
        "_base",
        "_complete",
        "_pass",
        "_plan",
        "_recorded",
        "alignments",
        "choices",
        "findings",
        "matches",
        "parts",
        "questions",
        "seen",
    )

    def __init__(
        self,
        own: Pass,
        *,
        base: PlanNode | None = None,
        complete: bool = False,
        record: Outcome | None = None,
    ) -> None:
        """Begin a walk.

        Args:
            own: the pass it belongs to.
            base: the node above which weights do not count; None: the walk is for a result, not for sums.
            complete: write plain matches too.
            record: an earlier walk of the same documents, for whose findings matches are still to be written.
        """
        self._pass = own
        self._plan = own.plan
        self._base = base
        # Plain matches that weigh differently can't be counted in one number.
        self._complete = complete or record is not None or own.plan.weighted
        self._recorded = None if record is None else (iter(record.findings), iter(record.alignments))
        self.choices: list[int] = [] if record is None else list(reversed(record.choices))
        """Which of the values that are right were taken, where there are several: 0 is the expected one."""
        self.findings: list[Finding] = []
        self.matches = 0
        """Plain matches that are not written."""
        self.parts: list[Sums] = []
        """Sums of nested arrays, in a walk for sums."""
        self.alignments: list[Aligned] = []
        self.questions: dict[Place, Asked] = {}
        self.seen = Seen()

    def sums(self) -> Sums:
        """Return the sums over all that was found."""
        if self._plan.weighted:
            return total_of((*map(self._weighed, self.findings), *self.parts))
        expected = actual = self.matches
        scores, perfect = [float(self.matches)], True
        for found in self.findings:
            own, other = LEAVES.get(found.status, (0, 0)) if found.detail is None else found.leaves
            expected += own
            actual += other
            if found.score != 1.0:
                perfect = perfect and not (own or other)
            scores.append(found.score)
        sums = Sums(math.fsum(scores), expected, actual, perfect)
        return total_of((sums, *self.parts)) if self.parts else sums

    def _weighed(self, found: Finding) -> Sums:
        """Return what a finding adds, weights counted from the base down."""
        sums = found.sums
        if self._base is None:
            return sums
        expected, actual = found.leaves
        weight = weight_between(self._base, found.node)
        return Sums(found.score * weight, expected * weight, actual * weight, sums.perfect)

    @property
    def is_replay(self) -> bool:
        """Whether findings are taken from an earlier walk."""
        return self._recorded is not None

    def add(self, spot: Spot, status: str, score: float, detail: Detail | None = None) -> None:
        """Add a finding; where a walk was recorded, that walk's finding of the same place."""
        if self._recorded is None:
            self.findings.append(spot.finding(status, score, detail))
        else:
            self.add_recorded(spot.node, spot.trail, spot.expected)

    def add_recorded(self, node: PlanNode, trail: Trail | None, expected: JsonValue) -> None:
        """Add the recorded walk's finding of a place."""
        found = None if self._recorded is None else next(self._recorded[0], None)
        if found is None or found.node is not node or found.expected is not expected:
            message = f"internal error: at {node.path} two walks differ; please report this"
            raise RuntimeError(message)
        self.findings.append(found if found.trail is trail else found._replace(trail=trail))

    def take_leaves(self, spot: Spot, leaves: Leaves) -> None:
        """Add the leaves of a container that only one side has, in a walk for sums."""
        node, pass_ = spot.node, self._pass
        if spot.actual is not MISSING and not pass_.count_extra:
            return
        if not leaves.number and spot.is_itself_missing and self._plan.options.empties == "if_absent":
            leaves = Leaves(1, 1.0)
        nothing = Leaves(0, 0.0)
        self.take_both(node, *((leaves, nothing) if spot.actual is MISSING else (nothing, leaves)))

    def take_both(self, node: PlanNode, own: Leaves, other: Leaves) -> None:
        """Add leaves of both sides at a place, none of which is right, in a walk for sums."""
        weight = weight_between(self._base, node) if self._plan.weighted and self._base is not None else 1.0
        perfect = not (own.number or other.number)
        self.parts.append(Sums(0.0, own.weight * weight, other.weight * weight, perfect))
