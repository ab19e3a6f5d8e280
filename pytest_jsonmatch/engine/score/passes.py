"""The state that the walks of one comparison share, and a pair of places that a walk scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, final

from pytest_jsonmatch.engine.score.field import new_finding
from pytest_jsonmatch.engine.score.outcome import Place, place_below
from pytest_jsonmatch.engine.value.convert import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_jsonmatch.engine.align.arrays import Aligner
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.leaves import Known
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Answer, Asked, Detail, Finding, Trail
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.sums import Sums


@final
class Spot(NamedTuple):
    """A pair of places to score: their keys and their values."""

    node: PlanNode
    trail: Trail | None
    """The trail of the containers around it."""
    expected_key: Any
    actual_key: Any
    expected: JsonValue
    actual: JsonValue
    left: Any = None
    """The container around it in expected."""
    right: Any = None
    """The container around it in actual."""

    @property
    def inner(self) -> Trail | None:
        """The trail of the values below it."""
        if self.expected_key is None:
            return None
        expected_key = MISSING if self.expected is MISSING else self.expected_key
        actual_key = MISSING if self.actual is MISSING else self.actual_key
        return place_below(self.trail, expected_key, actual_key)

    @property
    def place(self) -> Place:
        """Its identity: the same in every pass, as documents outlive the comparison."""
        return Place(id(self.left), self.expected_key, id(self.right), self.actual_key)

    @property
    def is_itself_missing(self) -> bool:
        """Whether both sides have the container around it."""
        return self.expected_key is not MISSING and self.actual_key is not MISSING

    def finding(self, status: str, score: float, detail: Detail | None = None) -> Finding:
        """Return a finding at this place."""
        expected_key, actual_key = self.expected_key, self.actual_key
        if self.expected is MISSING:
            expected_key = MISSING
        if self.actual is MISSING:
            actual_key = MISSING
        values = status, score, self.expected, self.actual, detail
        return new_finding((self.node, self.trail, expected_key, actual_key, *values))


new_spot: Callable[[tuple[Any, ...]], Spot] = partial(tuple.__new__, Spot)


@final
class Pass:
    """One pass over two documents: what its walks share."""

    def __init__(
        self, plan: Plan, answers: Mapping[Place, Answer], *, units: bool = False, rounds: int = 0
    ) -> None:
        """Take the answers of batch comparators so far, and the number of rounds.

        If top-level keys are `units`, an extra leaf below one is a difference, however the metric treats
        extra keys at the top.
        """
        self.units = units
        self.plan = plan
        self.answers = answers
        self.rounds = rounds
        self.count_extra = units or plan.options.extra == "count"
        self.aligner: Aligner | None = None
        self.known: dict[Place, Any] = {}
        """The answers of comparators without a table: none is called twice for one place."""
        self.choices: dict[Place, int] = {}
        """The number of the accepted value that is taken at a place."""
        self.leaves: Known = {}
        self.nested: dict[tuple[int, int], tuple[Sums, dict[Place, Asked]]] = {}
        """The sums of nested arrays, and the questions in them, by the arrays' identities."""
