"""One place: what two values are worth, or what is missing, invented or mistyped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
from pytest_jsonmatch.engine.plan.leaves import Leaves, leaves_of
from pytest_jsonmatch.engine.score.findings import Findings
from pytest_jsonmatch.engine.score.listed import check_listed, refused
from pytest_jsonmatch.engine.score.outcome import (
    BATCH_ERROR,
    HALLUCINATION,
    MATCH,
    MISMATCH,
    NOT_ASKED,
    OMISSION,
    PENDING,
    SKIPPED,
    Asked,
    Detail,
)
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS
from pytest_jsonmatch.engine.value.errors import error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.passes import Spot
    from pytest_jsonmatch.engine.value.convert import JsonValue


class Places(Findings):
    """Scores places, one at a time."""

    __slots__ = ()

    def settle(self, spot: Spot) -> Spot | None:
        """Score what is no plain match; return the containers to go down into, if that is what it takes.

        Whatever else is accepted there is left aside.
        """
        node, expected, actual = spot.node, spot.expected, spot.actual
        if node.branches is not None:
            node = node.chosen(expected, actual)
            spot = spot._replace(node=node)
        if node.skip:
            self.add(spot, SKIPPED, 0.0)
            return None
        if expected is MISSING or actual is MISSING:
            return spot if self._is_gone_down(spot) else None
        kind, other_kind = type(expected), type(actual)
        if node.explicit is None and kind is other_kind and (kind is dict or kind is list):
            return spot
        if self._recorded is not None:
            self.add(spot, PENDING, 0.0)
        else:
            self._score(spot)
        return None

    def _is_gone_down(self, spot: Spot) -> bool:
        """Score what only one side has, unless it is a container with leaves of its own: then say so."""
        node = spot.node
        value = spot.actual if spot.expected is MISSING else spot.expected
        self.refuse_unlisted(spot)
        if (type(value) is not dict and type(value) is not list) or node.explicit is not None:
            self._one_sided(spot)
            return False
        if self._base is not None:
            lacking = spot.actual is MISSING
            self.take_leaves(spot, leaves_of(node, value, self._pass.leaves, lacking=lacking))
            return False
        counts = spot.is_itself_missing and self._plan.options.empties == "if_absent"
        if counts and not leaves_of(node, value, self._pass.leaves, lacking=spot.actual is MISSING).number:
            # The node that is missing counts at least once; what is empty inside it, not.
            self._one_sided(spot)
            if not value:
                return False
            if spot.actual is MISSING:
                # (It is a leaf, and gone down into as well: members of it may be skipped.)
                self.seen.meet(node)
        return True

    def refuse_unlisted(self, spot: Spot) -> None:
        """Raise for a member of actual that the schema does not list, where the metric does not take that."""
        # (Elements that are measured may not be paired in the end.)
        invented = spot.node.unlisted and spot.expected is MISSING and self._base is None
        if invented and self._plan.options.unlisted == "reject":
            raise refused(spot.node, spot.inner, of_expected=False)

    def _one_sided(self, spot: Spot) -> None:
        """Add one omission or hallucination."""
        if spot.actual is MISSING:
            self.add(spot, OMISSION, 0.0)
        elif self._pass.count_extra:
            self.add(spot, HALLUCINATION, 0.0)

    def _score(self, spot: Spot) -> None:
        """Score two values that are present, of whatever types."""
        node, one, other = spot.node, spot.expected, spot.actual
        bound = node.explicit
        if node.transforms or (bound is not None and self._plan.nulls_absent):
            nulls_absent = bound is not None and self._plan.nulls_absent
            try:
                if bound is not None or not {type(one), type(other)} & {dict, list}:
                    one = node.whole(one, nulls_absent=nulls_absent)
                    other = node.whole(other, nulls_absent=nulls_absent)
            except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                self.add(spot, MISMATCH, 0.0, Detail(error=f"its transform raised {error_text(error)}"))
                return
        score: Callable[[JsonValue, JsonValue], Any]
        kind, other_kind = type(one), type(other)
        if bound is not None:
            score = bound.score
            if (one is None or other is None) and not bound.comparator.null_aware:
                score = _compare_nulls
            elif bound.table is None:
                score = self._once(spot, score)
        elif kind is other_kind:
            if one == other and node.plain:
                self.add(spot, MATCH, 1.0)
                return
            score = node.by_type[kind]
            if not node.types.is_quick:
                score = self._once(spot, score)
        elif kind in NUMBERS and other_kind in NUMBERS:
            score = node.by_type[float]
        else:
            self._mistyped(spot)
            return
        self._compare(spot, score, (one, other))

    def _once(
        self, spot: Spot, score: Callable[[JsonValue, JsonValue], Any]
    ) -> Callable[[JsonValue, JsonValue], Any]:
        """Return a comparator that is not called again for a place where it has been called."""
        known = self._pass.known
        place = spot.place

        def once(one: JsonValue, other: JsonValue) -> Any:
            if place not in known:
                known[place] = score(one, other)
            return known[place]

        return once

    def _compare(
        self,
        spot: Spot,
        score: Callable[[JsonValue, JsonValue], Any],
        compared: tuple[JsonValue, JsonValue],
    ) -> None:
        """Add what a comparator says of two values after transforms."""
        detail: Detail | None = None
        other = compared[1]
        if type(other) is float and other - other != 0.0:
            value: Any = 0.0
        else:
            try:
                value = score(*compared)
            except Exception as error:  # noqa: BLE001 - a user's comparator: its failure is a result
                value, detail = 0.0, Detail(error=f"raised {error_text(error)}")
            if type(value) is Question:
                value = self._answer(value, spot, compared)
                if value is None:
                    return
            if type(value) is ComparatorResult:
                if value.skip:
                    self.add(spot, SKIPPED, 0.0, Detail(reason=value.reason, comparator=value.comparator))
                    return
                if value.reason is not None or value.comparator is not None:
                    detail = Detail(reason=value.reason, comparator=value.comparator)
                value = value.score
            if type(value) is not float or not 0.0 <= value <= 1.0:
                value, detail = _checked_score(value, detail)
        if value == 1.0:
            self.add(spot, MATCH, 1.0, detail)
            return
        limit = self._plan.options.leaf_threshold
        self.add(spot, MISMATCH, 0.0 if limit is not None and value <= limit else value, detail)

    def _answer(self, question: Question, spot: Spot, compared: tuple[JsonValue, JsonValue]) -> Any:
        """Return what a batch comparator has said of two values; None, its finding added, without a score."""
        place = spot.place
        answer = self._pass.answers.get(place)
        name = question.batch.name
        if answer is None:
            found = spot.finding(PENDING, 0.0)
            self.questions[place] = Asked(place, question, found, *compared)
            if self._base is not None:
                # The most that it can say: what a pair is worth becomes a bound.
                return 1.0
            self.findings.append(found)
        elif answer == NOT_ASKED:
            self.add(spot, SKIPPED, 0.0, Detail(comparator=name, reason=NOT_ASKED))
        elif type(answer) is str:
            self.add(spot, BATCH_ERROR, 0.0, Detail(comparator=name, error=answer))
        else:
            return answer
        return None

    def _mistyped(self, spot: Spot) -> None:
        """Add one mismatch that stands for the leaves of both sides."""
        node, expected, actual = spot.node, spot.expected, spot.actual
        if type(expected) not in CONTAINERS and type(actual) not in CONTAINERS:
            self.add(spot, MISMATCH, 0.0)
            return
        counts_actual = self._pass.count_extra or (type(actual) is not dict and type(actual) is not list)
        listed = self._plan.schema is not None and self._plan.options.unlisted == "reject"
        if counts_actual and listed and self._base is None:
            check_listed(node, spot.inner, actual, of_expected=False)
        own = self._leaves(node, expected)
        other = self._leaves(node, actual) if counts_actual else Leaves(0, 0.0)
        if self._base is not None:
            self.take_both(node, own, other)
            return
        if type(expected) is dict or type(expected) is list:
            self.seen.mistyped.append((node, expected))
        weights = own.weight * node.weight, other.weight * node.weight
        self.add(spot, MISMATCH, 0.0, Detail(leaves=(own.number, other.number), weights=weights))

    def _leaves(self, node: PlanNode, value: JsonValue) -> Leaves:
        """Return the leaves of a mistyped value."""
        if type(value) is not dict and type(value) is not list:
            return Leaves(1, 1.0)
        leaves = leaves_of(node, value, self._pass.leaves)
        return Leaves(1, 1.0) if not leaves.number and self._plan.options.empties == "if_absent" else leaves


def _compare_nulls(expected: JsonValue, actual: JsonValue) -> float:
    return 1.0 if expected is None and actual is None else 0.0


def _checked_score(value: Any, detail: Detail | None) -> tuple[float, Detail | None]:
    """Return a score as a float in [0, 1]; what is none is 0, with an error."""
    # numpy's scalars and bools have __float__ as well; a string has not.
    number = float(value) if hasattr(value, "__float__") else math.nan
    if 0.0 <= number <= 1.0:
        return number, detail
    return 0.0, Detail(error=f"returned {value!r}, which is no score in [0, 1]")
