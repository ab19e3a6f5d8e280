"""Triage: ask a judge only what can still change pass or fail.

No figure falls when a verdict rises. So two sums bound every outcome: with 0 for every unknown verdict, and
with 1. If the lower one passes or the upper one fails, the rest need not be asked. A question left out is a
`skipped` result: the figure without it is between the two bounds, since (Σ + w)/A is the mediant of
Σ/(A - w) and w/w.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, final

from pytest_jsonmatch.engine.result.figures import aggregates, plain_matches
from pytest_jsonmatch.engine.score.outcome import BATCH_ERROR, MATCH, MISMATCH, NOT_ASKED, PENDING
from pytest_jsonmatch.engine.value.equality import json_key
from pytest_jsonmatch.engine.value.paths import ELEMENT, parse_pattern
from pytest_jsonmatch.engine.value.sums import Sums, figures_of, total_of
from pytest_jsonmatch.limits import FIGURES, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.node import PlanNode
    from pytest_jsonmatch.engine.score.outcome import Answer, Asked, Finding, Outcome, Place
    from pytest_jsonmatch.limits import Limits


@final
class Triage:
    """Choose which questions of one comparison a judge is asked, given the limits it must reach.

    Args:
        limits: from `read_limits`.

    Questions inside unordered arrays, and those of comparators that ask no judge, are always asked first:
    the pairing of elements depends on them.

    >>> from pytest_jsonmatch.limits import read_limits
    >>> Triage(read_limits(0.9)).saved
    0
    """

    __slots__ = ("_limits", "_reduce", "_rounds", "saved")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._reduce = "f1"
        self._rounds = 0
        self.saved = 0
        """How many questions were left out; equal ones count once."""

    def __call__(self, outcome: Outcome) -> tuple[Mapping[Place, Asked], Mapping[Place, Answer]]:
        """Return the questions to ask now, and stand-ins for answers that are not needed.

        Args:
            outcome: of a pass, with open questions.
        """
        questions = outcome.questions
        self._reduce = outcome.root.plan.options.reduce
        view = _View(outcome)
        first = {
            place: asked
            for place, asked in questions.items()
            if not asked.question.batch.judged
            or place not in view.pending
            or _in_unordered(asked.finding.node)
        }
        if first:
            return first, {}
        groups = self._by_influence(view, questions)
        number = self._needed(view, groups)
        if number is None:
            self.saved += len(groups)
            return {}, dict.fromkeys(questions, NOT_ASKED)
        # Doubling keeps rounds few: a case that passes only if every answer does would ask one by one.
        number = max(number, 2**self._rounds)
        self._rounds += 1
        chosen = {place for group in groups[:number] for place in group}
        return {place: asked for place, asked in questions.items() if place in chosen}, {}

    def _needed(self, view: _View, groups: Sequence[Sequence[Place]]) -> int | None:
        """Return how many of the first groups could settle the verdict; None if it is settled already."""

        def settles(number: int) -> bool:
            first = {place for group in groups[:number] for place in group}
            return self._passes(view, first.__contains__) or not self._passes(
                view, lambda place: place not in first
            )

        return bisect_left(range(len(groups)), True, key=settles) or None

    def _passes(self, view: _View, verdict: Callable[[Place], bool]) -> bool:
        """Tell whether every limit would be reached with these verdicts."""
        findings = view.findings(verdict)
        figures = figures_of(total_of((view.plain, *(each.sums for each in findings))), self._reduce)

        def means() -> Mapping[str, float | None]:
            by_node = aggregates(view.matches, findings)
            return {node.path: aggregate.mean_score for node, aggregate in by_node.items()}

        unasked = frozenset(each.node.place.path for each in findings if each.is_not_asked)
        found = measured(self._limits, figures.__getattribute__, means, unasked)
        return all(each.is_reached for each in found)

    def _by_influence(self, view: _View, questions: Mapping[Place, Asked]) -> list[list[Place]]:
        """Return the places grouped by equal question, the most influential question first."""
        groups: dict[Hashable, list[Place]] = {}
        influence: dict[Hashable, float] = {}
        share = self._share(view)
        for place, asked in questions.items():
            key = _question(asked)
            groups.setdefault(key, []).append(place)
            influence[key] = influence.get(key, 0.0) + share(view.pending[place])
        return [groups[key] for key in sorted(groups, key=lambda key: -influence[key])]

    def _share(self, view: _View) -> Callable[[Finding], float]:
        """Return a function that maps a finding to its share in the figures with a limit."""
        whole = view.plain.score + sum(each.node.weight for each in view.all) or 1.0
        overall = any(name in self._limits for name in FIGURES)
        numbers = Counter(view.matches)
        numbers.update(each.node.place for each in view.all)
        by_pattern = self._limits.get("fields")
        patterns = [parse_pattern(text) for text in by_pattern] if isinstance(by_pattern, dict) else []

        def share(finding: Finding) -> float:
            node = finding.node
            limited = sum(pattern.matches(node.segments()) for pattern in patterns)
            return (node.weight / whole if overall else 0.0) + limited / numbers[node.place]

        return share


def _question(asked: Asked) -> Hashable:
    """Return a key that is equal for equal questions at different places of one path."""
    values = asked.finding.expected, asked.finding.actual, asked.expected, asked.actual
    keys = (json_key(value, strict=True) for value in values)
    return (asked.finding.node.path, repr(asked.question.params), *keys)


@final
class _View:
    """The findings of a pass, some of which wait for answers."""

    __slots__ = ("_open", "all", "matches", "pending", "plain")

    def __init__(self, outcome: Outcome) -> None:
        self.all = outcome.findings
        self.matches = plain_matches(outcome.seen, outcome.findings)
        """How many leaves match without a finding, by schema path."""
        self.plain = Sums(outcome.matches, outcome.matches, outcome.matches, perfect=True)
        """The sums over these leaves."""
        self.pending: dict[Place, Finding] = {}
        """By place, the finding that an answer decides: its own, or that of the unit around it."""
        self._open: dict[int, tuple[Place, ...]] = {}
        """By index of a finding, the places whose answers it waits for."""
        place_of = {id(asked.finding): place for place, asked in outcome.questions.items()}
        for at, finding in enumerate(self.all):
            if finding.status == PENDING:
                self._wait(at, finding, [place_of[id(finding)]])
            elif finding.detail is not None and finding.detail.differences:
                below = finding.detail.differences
                places = [place_of[id(each)] for each in below if each.status == PENDING]
                if all(each.status in {PENDING, BATCH_ERROR} for each in below):
                    self._wait(at, finding, places)
                else:
                    # The unit differs whatever the answers are.
                    self.pending.update(dict.fromkeys(places, finding))

    def _wait(self, at: int, finding: Finding, places: Sequence[Place]) -> None:
        if places:
            self.pending.update(dict.fromkeys(places, finding))
            self._open[at] = tuple(places)

    def findings(self, verdict: Callable[[Place], bool]) -> list[Finding]:
        """Return the findings as they would be with these verdicts."""
        made = list(self.all)
        for at, places in self._open.items():
            equal = all(map(verdict, places))
            status = MATCH if equal else MISMATCH
            made[at] = made[at]._replace(status=status, score=float(equal), detail=None)
        return made


def _in_unordered(node: PlanNode) -> bool:
    """Tell whether a place is in an array whose elements are paired by similarity."""
    below: PlanNode | None = node
    while below is not None and below.parent is not None:
        if below.segment is ELEMENT and below.parent.align == "unordered":
            return True
        below = below.parent
    return False
