"""Collect the open questions of records, ask them in one call, and score again with the answers.

No result is ever patched: an outcome is the last one when it leaves no question open. In unordered arrays an
unknown answer is worth 1, which no answer exceeds; only pairs of the optimum over these bounds are asked
about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, final

from pytest_jsonmatch.engine.ask.preload import preload
from pytest_jsonmatch.engine.ask.questions import item_of, read_answers, values_key
from pytest_jsonmatch.engine.score.documents import score
from pytest_jsonmatch.engine.value.errors import JsonMatchError, error_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pytest_jsonmatch.engine.compare.base import Batch
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.score.outcome import Answer, Asked, Outcome, Place
    from pytest_jsonmatch.engine.value.convert import JsonValue

    Record: TypeAlias = tuple[str | int | None, JsonValue, JsonValue]
    """(id, expected, actual)."""


class Chooser(Protocol):
    """Says which open questions of an outcome are worth asking now."""

    def choose(self, outcome: Outcome) -> tuple[Mapping[Place, Asked], Mapping[Place, Answer]]:
        """Return the questions to ask, and answers for those that are left out."""
        ...


def answered(
    plan: Plan, expected: JsonValue, actual: JsonValue, judge: object = None, chooser: Chooser | None = None
) -> Outcome:
    """Score two JSON values, with whatever batch comparators have to say of them.

    Args:
        plan: a compiled metric.
        expected: a JSON value.
        actual: a JSON value, or MISSING.
        judge: what comparators that are `judged` are called with.
        chooser: says which questions need an answer; None: all.

    Raises what `score.documents.score` raises.
    """
    if not (plan.has_batch or plan.preloads):
        return score(plan, expected, actual)
    (found,) = answered_all(plan, [(None, expected, actual)], judge, chooser)
    if isinstance(found, JsonMatchError):
        raise found
    return found


def answered_all(
    plan: Plan, records: Sequence[Record], judge: object = None, chooser: Chooser | None = None
) -> list[Outcome | JsonMatchError]:
    """Score a chunk of records; what batch comparators are asked about, they are asked about together.

    Args:
        plan: a compiled metric, with batch comparators in it or not.
        records: (id, expected, actual) of each record.
        judge: what comparators that are `judged` are called with.
        chooser: says, record by record, which questions need an answer; None: all.

    Returns:
        For each record its outcome, or the error that scoring it raises.

    Raises:
        ConfigurationError: a comparator that wants to see strings beforehand cannot work at all.

    >>> from pytest_jsonmatch.engine.plan.compile import plan_for
    >>> plan = plan_for("json_similarity", {})
    >>> outcomes = answered_all(plan, [("r1", {"a": 1}, {"a": 1}), ("r2", [2], [])])
    >>> [outcome.sums.score for outcome in outcomes]
    [1.0, 0.0]
    """
    if plan.preloads:
        preload(plan, ((expected, actual) for _, expected, actual in records))
    scored = [_Scored(plan, record) for record in records]
    desk = _Desk(judge)
    while waiting := [each for each in scored if each.open]:
        if chooser is not None:
            for each in waiting:
                each.leave_out(chooser)
        desk.ask(waiting)
        for each in waiting:
            each.score()
    return [each.outcome for each in scored]


@final
class _Scored:
    """A record and what is known of it."""

    __slots__ = ("_actual", "_expected", "_plan", "_rounds", "answers", "id", "open", "outcome")

    def __init__(self, plan: Plan, record: Record) -> None:
        self._plan = plan
        self.id, self._expected, self._actual = record
        self._rounds = 0
        self.answers: dict[Place, Answer] = {}
        """What batch comparators have answered so far."""
        self.open: Mapping[Place, Asked] = {}
        """What they are asked next."""
        self.outcome: Outcome | JsonMatchError
        self.score()

    def score(self) -> None:
        """Score it with the answers so far."""
        try:
            self.outcome = score(self._plan, self._expected, self._actual, self.answers, self._rounds)
        except JsonMatchError as error:
            self.outcome, self.open = error, {}
            return
        self.open = self.outcome.questions
        self._rounds += 1

    def leave_out(self, chooser: Chooser) -> None:
        """Let the chooser say which questions are asked now."""
        assert not isinstance(self.outcome, JsonMatchError)  # noqa: S101 - it has open questions
        self.open, answers = chooser.choose(self.outcome)
        self.answers.update(answers)


Wanted: TypeAlias = "list[tuple[_Scored, Asked]]"


@final
class _Desk:
    """Asks batch comparators and numbers their items."""

    __slots__ = ("_judge", "_numbers", "_said")

    def __init__(self, judge: object) -> None:
        self._judge = judge
        self._numbers: dict[str | int | None, int] = {}
        # Answers by values, of comparators to which equal values are one question.
        self._said: dict[Batch, dict[Hashable, Answer]] = {}

    def ask(self, records: Sequence[_Scored]) -> None:
        """Answer all open questions: one call for each comparator and record, or chunk."""
        calls: dict[tuple[Batch, int], Wanted] = {}
        for at, record in enumerate(records):
            for asked in record.open.values():
                batch = asked.question.batch
                key = batch, -1 if batch.scope == "chunk" else at
                calls.setdefault(key, []).append((record, asked))
        for (batch, _), wanted in calls.items():
            answers = self._by_value(batch, wanted) if batch.by_value else self._answers(batch, wanted)
            for (record, asked), answer in zip(wanted, answers):
                record.answers[asked.place] = answer

    def _by_value(self, batch: Batch, wanted: Wanted) -> list[Answer]:
        """Ask about equal values once; return an answer for each place."""
        said = self._said.setdefault(batch, {})
        keys = [values_key(asked) for _, asked in wanted]
        fresh: dict[Hashable, tuple[_Scored, Asked]] = {}
        for key, one in zip(keys, wanted):
            if key not in said:
                fresh.setdefault(key, one)
        said.update(zip(fresh, self._answers(batch, list(fresh.values()))))
        return [said[key] for key in keys]

    def _answers(self, batch: Batch, wanted: Wanted) -> list[Answer]:
        """Ask about places in one call."""
        if not wanted:
            return []
        items = []
        for record, asked in wanted:
            number = self._numbers[record.id] = self._numbers.get(record.id, 0) + 1
            items.append(item_of(asked, record.id, number))
        try:
            given = list(items)
            said = batch.ask(given, self._judge) if batch.judged else batch.ask(given)
            return read_answers(batch, items, said)
        except Exception as error:
            if batch.judged:
                # Failures of the judge's are answers already: this says that it can't be asked at all.
                raise
            # A user's comparator: its failure is a result.
            return [f"raised {error_text(error)}"] * len(items)
