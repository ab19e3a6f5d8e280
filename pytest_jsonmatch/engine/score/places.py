"""Score one place: compare two values, or note one that is missing, invented or of the wrong type."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare.base import ComparatorResult, Question
from pytest_jsonmatch.engine.plan.leaves import Leaves, leaves_of, weight_between
from pytest_jsonmatch.engine.score.outcome import (
    BATCH_ERROR,
    HALLUCINATION,
    LEAVES,
    MATCH,
    MISMATCH,
    OMISSION,
    PENDING,
    SKIPPED,
    Asked,
    Detail,
    Seen,
    instance_trail,
    new_trail,
)
from pytest_jsonmatch.engine.value.convert import CONTAINERS, MISSING, NUMBERS
from pytest_jsonmatch.engine.value.errors import (
    GoldValidationError,
    UnlistedFieldError,
    did_you_mean,
    error_text,
)
from pytest_jsonmatch.engine.value.paths import ELEMENT, format_path
from pytest_jsonmatch.engine.value.sums import Sums, total_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.align.context import Aligned
    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Finding, Outcome, Place, Trail
    from pytest_jsonmatch.engine.score.passes import Pass, Spot
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

_NO_LEAVES: Final = Leaves(0, 0.0)


class Places:
    """Scores the places of one walk, one at a time, and keeps the findings."""

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
            complete: write plain matches, too.
            record: the outcome of an earlier walk of the same documents; this walk adds its plain matches.
        """
        self._pass = own
        self._plan = own.plan
        self._base = base
        self._limit = own.plan.options.leaf_threshold
        # Plain matches that weigh differently can't be counted in one number.
        self._complete = complete or record is not None or own.plan.weighted
        self._recorded = None if record is None else (iter(record.findings), iter(record.alignments))
        self.choices: list[int] = [] if record is None else list(reversed(record.choices))
        """The value taken at each place with several accepted ones: 0 for the expected value."""
        self.findings: list[Finding] = []
        self.matches = 0
        """The number of plain matches that are not written."""
        self.parts: list[Sums] = []
        """Sums of nested arrays, in a walk for sums."""
        self.alignments: list[Aligned] = []
        self.questions: dict[Place, Asked] = {}
        self.seen = Seen()

    def sums(self) -> Sums:
        """Return the sums of all findings."""
        if self._plan.weighted:
            base = self._base
            weighed = [
                found.sums if base is None else found.sums_at(weight_between(base, found.node))
                for found in self.findings
            ]
            return total_of((*weighed, *self.parts))
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

    @property
    def is_replay(self) -> bool:
        """Whether findings are taken from an earlier walk."""
        return self._recorded is not None

    def add(self, spot: Spot, status: str, score: float, detail: Detail | None = None) -> None:
        """Add a finding; in a replay, the recorded finding of the same place."""
        if self._recorded is None:
            self.findings.append(spot.finding(status, score, detail))
        else:
            self.add_recorded(spot.node, spot.trail, spot.expected)

    def add_recorded(self, node: PlanNode, trail: Trail | None, expected: JsonValue) -> None:
        """Add the recorded finding of a place."""
        found = None if self._recorded is None else next(self._recorded[0], None)
        if found is None or found.node is not node or found.expected is not expected:
            message = f"internal error: at {node.path} two walks differ; please report this"
            raise RuntimeError(message)
        self.findings.append(found if found.trail is trail else found._replace(trail=trail))

    # -- one place -----------------------------------------------------------------------------------------

    def settle(self, spot: Spot) -> Spot | None:
        """Score a place that is no plain match, or return it if it holds containers to descend into.

        Values accepted beside the expected one are ignored.
        """
        node, expected, actual = spot.node, spot.expected, spot.actual
        if node.branches is not None:
            node = node.chosen(expected, actual)
            spot = spot._replace(node=node)
        if node.skip:
            self.add(spot, SKIPPED, 0.0)
            return None
        if expected is MISSING or actual is MISSING:
            return spot if self._is_descended(spot) else None
        kind, other_kind = type(expected), type(actual)
        if node.explicit is None and kind is other_kind and (kind is dict or kind is list):
            return spot
        if self._recorded is not None:
            self.add(spot, PENDING, 0.0)
        else:
            self._score(spot)
        return None

    def _is_descended(self, spot: Spot) -> bool:
        """Score a value that only one side has, or return True for a container with leaves below it."""
        node = spot.node
        value = spot.actual if spot.expected is MISSING else spot.expected
        self.refuse_unlisted(spot)
        if (type(value) is not dict and type(value) is not list) or node.explicit is not None:
            self._one_sided(spot)
            return False
        if_absent = spot.is_itself_missing and self._plan.options.empties == "if_absent"
        if self._base is None and not if_absent:
            return True
        leaves = leaves_of(node, value, self._pass.leaves, lacking=spot.actual is MISSING)
        if if_absent and not leaves.number:
            # The missing node counts at least once; empty containers inside it do not.
            self._one_sided(spot)
            if self._base is not None or not value:
                return False
            if spot.actual is MISSING:
                # It is a leaf, and is descended into as well: members of it may be skipped.
                self.seen.meet(node)
        elif self._base is not None:
            self._one_sided(spot, leaves)
            return False
        return True

    def refuse_unlisted(self, spot: Spot) -> None:
        """Raise for a member of actual that the schema does not list, if the metric rejects such members."""
        # Elements that are only measured may not be paired in the end.
        invented = spot.node.unlisted and spot.expected is MISSING and self._base is None
        if invented and self._plan.options.unlisted == "reject":
            raise refused(spot.node, spot.inner, of_expected=False)

    def _one_sided(self, spot: Spot, leaves: Leaves | None = None) -> None:
        """Add an omission or hallucination of one leaf or of several."""
        if spot.actual is MISSING:
            self.add(spot, OMISSION, 0.0, leaves and _counting(leaves, _NO_LEAVES))
        elif self._pass.count_extra:
            self.add(spot, HALLUCINATION, 0.0, leaves and _counting(_NO_LEAVES, leaves))

    def _score(self, spot: Spot) -> None:
        """Score two values that are present, of whatever types."""
        node, one, other = spot.node, spot.expected, spot.actual
        bound = node.explicit
        if node.transforms or (bound is not None and self._plan.nulls_absent):
            try:
                if bound is not None or not {type(one), type(other)} & {dict, list}:
                    one = node.whole(one)
                    other = node.whole(other)
            except Exception as error:  # noqa: BLE001 - a user's transform: its failure is a result
                self.add(spot, MISMATCH, 0.0, Detail(error=f"its transform raised {error_text(error)}"))
                return
        score: Callable[[JsonValue, JsonValue], Any]
        kind, other_kind = type(one), type(other)
        if bound is not None:
            score = bound.score
            if bound.table is None:
                score = self._once(spot, score)
        elif kind is other_kind:
            if one == other and node.plain:
                self.add(spot, MATCH, 1.0)
                return
            score = node.types.by_type[kind]
            if not node.types.is_quick:
                score = self._once(spot, score)
        elif kind in NUMBERS and other_kind in NUMBERS:
            score = node.types.by_type[float]
        else:
            self._mistyped(spot)
            return
        self._compare(spot, score, (one, other))

    def _once(
        self, spot: Spot, score: Callable[[JsonValue, JsonValue], Any]
    ) -> Callable[[JsonValue, JsonValue], Any]:
        """Return a comparator that is called once for this place and then repeats its answer."""
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
        """Add the finding of a comparator for two values after transforms."""
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
        self.add(spot, MISMATCH, 0.0 if self._limit is not None and value <= self._limit else value, detail)

    def _answer(self, question: Question, spot: Spot, compared: tuple[JsonValue, JsonValue]) -> Any:
        """Return a batch comparator's answer; without a score, add its finding and return None."""
        place = spot.place
        answer = self._pass.answers.get(place)
        name = question.batch.name
        if answer is None:
            found = spot.finding(PENDING, 0.0)
            self.questions[place] = Asked(place, question, found, *compared)
            if self._base is not None:
                # The highest possible answer: the worth of a pair becomes a bound.
                return 1.0
            self.findings.append(found)
        elif type(answer) is str:
            self.add(spot, BATCH_ERROR, 0.0, Detail(comparator=name, error=answer))
        else:
            return answer
        return None

    def _mistyped(self, spot: Spot) -> None:
        """Add one mismatch that counts the leaves of both sides."""
        node, expected, actual = spot.node, spot.expected, spot.actual
        if type(expected) not in CONTAINERS and type(actual) not in CONTAINERS:
            self.add(spot, MISMATCH, 0.0)
            return
        counts_actual = self._pass.count_extra or (type(actual) is not dict and type(actual) is not list)
        listed = self._plan.schema is not None and self._plan.options.unlisted == "reject"
        if counts_actual and listed and self._base is None:
            check_listed(node, spot.inner, actual, of_expected=False)
        own = self._leaves(node, expected)
        other = self._leaves(node, actual) if counts_actual else _NO_LEAVES
        if type(expected) is dict or type(expected) is list:
            self.seen.mistyped.append((node, expected))
        self.add(spot, MISMATCH, 0.0, _counting(own, other))

    def _leaves(self, node: PlanNode, value: JsonValue) -> Leaves:
        """Return the leaves of a mistyped value."""
        if type(value) is not dict and type(value) is not list:
            return Leaves(1, 1.0)
        leaves = leaves_of(node, value, self._pass.leaves)
        return Leaves(1, 1.0) if not leaves.number and self._plan.options.empties == "if_absent" else leaves


def _counting(own: Leaves, other: Leaves) -> Detail:
    """Return the detail of a finding that counts leaves of both sides."""
    return Detail(leaves=(own.number, other.number), weights=(own.weight, other.weight))


def _checked_score(value: Any, detail: Detail | None) -> tuple[float, Detail | None]:
    """Return a score as a float in [0, 1]; anything else counts as 0, with an error."""
    # numpy's scalars and bools have __float__, too; a string does not.
    number = float(value) if hasattr(value, "__float__") else math.nan
    if 0.0 <= number <= 1.0:
        return number, detail
    return 0.0, Detail(error=f"returned {value!r}, which is not a score in [0, 1]")


def refused(node: PlanNode, trail: Trail | None, *, of_expected: bool) -> JsonMatchError:
    """Return the error for a member that the schema does not list."""
    keys = instance_trail(trail, "expected" if of_expected else "actual")
    path = format_path(keys)
    hint = did_you_mean(str(node.segment), [] if node.parent is None else node.parent.listed())
    if of_expected:
        message = f'{path!r} is not in the schema{hint}; list it, or add it with "x-eval-skip": true'
        return GoldValidationError(message, path=path, keys=keys)
    message = (
        f"actual has {path!r}, which is not in the schema{hint}; list it, "
        'or let the schema say "additionalProperties": true'
    )
    return UnlistedFieldError(message, path)


def check_listed(node: PlanNode, trail: Trail | None, value: JsonValue, *, of_expected: bool = True) -> None:
    """Look for members, at any depth, that the schema does not list.

    Args:
        node: the node of the value.
        trail: its place; None for the root.
        value: a value of one side.
        of_expected: whether that side is expected.

    Raises:
        GoldValidationError: expected has one.
        UnlistedFieldError: actual has one.
    """
    nulls_absent = node.plan.options.nulls == "absent"
    waiting: list[tuple[PlanNode, Trail | None, JsonValue]] = [(node, trail, value)]
    while waiting:
        node, trail, value = waiting.pop()
        if node.branches is not None:
            node = node.chosen(value, MISSING)
        if node.skip:
            continue
        if node.unlisted:
            raise refused(node, trail, of_expected=of_expected)
        if (type(value) is dict or type(value) is list) and node.explicit is None:
            members = list(value.items() if type(value) is dict else enumerate(value))
            # The last one in comes out first.
            for key, item in reversed(members):
                below = node.children[key if type(key) is str else ELEMENT]
                absent = item is None and nulls_absent and type(key) is str
                container = type(item) is dict or type(item) is list
                if container or ((below.unlisted or below.branches is not None) and not absent):
                    waiting.append((below, new_trail((trail, key, key)), item))
