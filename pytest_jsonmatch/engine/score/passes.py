"""The state that the walks of one comparison share, and what a walk returns."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_jsonmatch.engine.align.arrays import Aligner
    from pytest_jsonmatch.engine.align.context import IndexPairs
    from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
    from pytest_jsonmatch.engine.plan.accept import BestValue
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.leaves import Known
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Aligned, Asked, BatchAnswer, Finding, Place, Seen
    from pytest_jsonmatch.engine.value.sums import Sums


@final
class Pass:
    """One pass over two documents, with all that comparators and pairings have said in it.

    Walking again with the same pass gives the same results, asks nobody twice, and pairs nothing again.
    """

    __slots__ = (
        "aligner",
        "answers",
        "choices",
        "count_extra",
        "known",
        "leaves",
        "limit",
        "nested",
        "pairs",
        "partly_keyed",
        "plan",
        "rounds",
        "units",
    )

    def __init__(
        self, plan: Plan, answers: Mapping[Place, BatchAnswer], *, units: bool = False, rounds: int = 0
    ) -> None:
        """Take the answers of batch comparators so far, and the number of rounds.

        If top-level keys are `units`, an extra leaf below one is a difference, however the metric treats
        extra keys at the top.
        """
        self.plan: Plan = plan
        self.answers: Mapping[Place, BatchAnswer] = answers
        self.units: bool = units
        self.rounds: int = rounds
        self.count_extra: bool = units or plan.options.extra == "count"
        self.limit: float | None = plan.options.leaf_threshold
        self.known: dict[Place, float | ComparatorResult | Question | Exception] = {}
        """What comparators without a table said or raised: none is called twice for one place."""
        self.choices: dict[Place, BestValue] = {}
        """What counts at the places where more than the expected value is right."""
        self.pairs: dict[Place, IndexPairs] = {}
        """How the arrays of the result are paired."""
        self.partly_keyed: list[Aligned] = []
        """The arrays of the result that pair by key and have elements without a partner."""
        self.leaves: Known = {}
        self.aligner: Aligner | None = None
        self.nested: dict[Place, tuple[Sums, dict[Place, Asked]]] = {}
        """The sums of arrays in the elements of other arrays, and the questions in them."""

    def finish(self) -> None:
        """Forget what walking again does not need."""
        self.aligner = None
        self.nested = {}
        self.leaves = {}


@final
class Outcome(NamedTuple):
    """What a walk returns."""

    root: PlanNode
    """The node of the whole documents."""
    findings: Sequence[Finding]
    """Everything but plain matches, and possibly those, in the order of the document."""
    matches: int
    """The number of plain matches that are not among the findings."""
    sums: Sums
    alignments: Sequence[Aligned]
    seen: Seen
    own: Pass | None = None
    """What walking again to write plain matches needs; None if there are none."""
    questions: Mapping[Place, Asked] = MappingProxyType({})
    """The open questions to batch comparators."""
    warnings: tuple[str, ...] = ()
    """Elements that can't be paired by their key."""

    @property
    def has_figures(self) -> bool:
        """Tell whether anything counts: batch errors may have left nothing."""
        if self.sums.expected or self.sums.actual:
            return True
        return not any(each.status == BATCH_ERROR for each in self.findings)
