"""Collect the open questions of records, ask them in one call, and score the records again with the answers.

No result is patched: an outcome without open questions is final. In unordered arrays an unknown answer counts
1, an upper bound; questions are asked only about pairs that are optimal under these bounds.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, final

from pytest_jsonmatch.engine.ask.prepare import prepare
from pytest_jsonmatch.engine.comparators.base import BatchItem, ComparatorResult
from pytest_jsonmatch.engine.score.documents import score
from pytest_jsonmatch.engine.score.field import format_instance_path
from pytest_jsonmatch.engine.score.placescorer import read_score
from pytest_jsonmatch.engine.value.errors import JsonMatchError, format_error
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.comparators.base import Batch
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.score.field import Place
    from pytest_jsonmatch.engine.score.walkstate import BatchAnswer, OpenQuestion, Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue

    RecordPair: TypeAlias = tuple[str | int | None, JsonValue, JsonValue]
    """(id, expected, actual)."""


def score_with_answers(plan: Plan, expected: JsonValue, actual: JsonValue, judge: object = None) -> Outcome:
    """Score two JSON values with the answers of batch comparators.

    Args:
        plan: a compiled metric.
        expected: a JSON value.
        actual: a JSON value, or MISSING.
        judge: the judge given to comparators that are `judged`.

    Raises the errors of `score.documents.score`.
    """
    (outcome,) = score_all_with_answers(plan, [(None, expected, actual)], judge)
    if isinstance(outcome, JsonMatchError):
        raise outcome
    return outcome


def score_all_with_answers(
    plan: Plan, records: Sequence[RecordPair], judge: object = None
) -> list[Outcome | JsonMatchError]:
    """Score a chunk of records, asking batch comparators about all of them together.

    Args:
        plan: a compiled metric, with or without batch comparators.
        records: (id, expected, actual) of each record.
        judge: the judge given to comparators that are `judged`.

    Returns:
        For each record its outcome, or the error raised while scoring it.

    Raises:
        ConfigurationError: a comparator that prepares strings is not usable.

    >>> from pytest_jsonmatch.engine.plan.compile import compile_plan
    >>> plan = compile_plan("json_similarity", {})
    >>> outcomes = score_all_with_answers(plan, [("r1", {"a": 1}, {"a": 1}), ("r2", [2], [])])
    >>> [outcome.sums.score for outcome in outcomes]
    [1.0, 0.0]
    """
    if plan.prepares:
        prepare(plan, ((expected, actual) for _, expected, actual in records))
    record_states = [_Record(plan, record) for record in records]
    numbers: Counter[str | int | None] = Counter()
    while open_records := [record_state for record_state in record_states if record_state.open]:
        _ask(open_records, judge, numbers)
        for record_state in open_records:
            record_state.score()
    return [record_state.outcome for record_state in record_states]


@final
class _Record:
    """A record with its outcome and its answers so far."""

    __slots__ = ("_actual", "_expected", "_plan", "_rounds", "answers", "id", "open", "outcome")

    def __init__(self, plan: Plan, record: RecordPair) -> None:
        self._plan = plan
        self.id, self._expected, self._actual = record
        self._rounds = 0
        self.answers: dict[Place, BatchAnswer] = {}
        """The answers of batch comparators so far."""
        self.open: Mapping[Place, OpenQuestion] = {}
        """The questions to ask next."""
        self.outcome: Outcome | JsonMatchError
        self.score()

    def score(self) -> None:
        """Score the record with the answers so far."""
        try:
            self.outcome = score(self._plan, self._expected, self._actual, self.answers, self._rounds)
        except JsonMatchError as error:
            self.outcome, self.open = error, {}
            return
        self.open = self.outcome.questions
        self._rounds += 1


RecordQuestions: TypeAlias = "list[tuple[_Record, OpenQuestion]]"


def _ask(records: Sequence[_Record], judge: object, numbers: Counter[str | int | None]) -> None:
    """Answer all open questions, with one call for each comparator and record, or chunk.

    Args:
        records: the records with open questions.
        judge: the judge given to comparators that are `judged`.
        numbers: the number of items so far, by record id.
    """
    calls: dict[tuple[Batch, int], RecordQuestions] = {}
    for index, record in enumerate(records):
        for question in record.open.values():
            batch = question.question.batch
            key = batch, -1 if batch.scope == "chunk" else index
            calls.setdefault(key, []).append((record, question))
    for (batch, _), questions in calls.items():
        items = []
        for record, question in questions:
            numbers[record.id] += 1
            items.append(_make_item(question, record.id, numbers[record.id]))
        for (record, question), answer in zip(questions, _ask_once(batch, items, judge)):
            record.answers[question.place] = answer


def _ask_once(batch: Batch, items: list[BatchItem], judge: object) -> list[BatchAnswer]:
    """Ask about items in one call; return an answer for each, or the reason why there is none."""
    try:
        copied = list(items)
        returned = batch.ask(copied, judge) if batch.judged else batch.ask(copied)
        answers = (
            _read_mapping(items, returned)
            if isinstance(returned, Mapping)
            else _read_list(batch, items, returned)
        )
    except Exception as error:
        if batch.judged:
            # Failures on single items are answers already; an error means that the judge can't be asked.
            raise
        # A user's comparator: its failure is a result.
        answers = f"raised {format_error(error)}"
    return [answers] * len(items) if isinstance(answers, str) else answers


def _make_item(question: OpenQuestion, record: str | int | None, number: int) -> BatchItem:
    """Return the item of an open question for its batch comparator.

    Args:
        question: the open question.
        record: the id of its record; None if a single pair of documents is compared.
        number: the number of the item in its record.
    """
    finding = question.finding
    place, parent_place = finding.place, finding.parent_place
    return BatchItem(
        id=str(number) if record is None else f"{record}:{number}",
        record=record,
        path=finding.node.path,
        expected_path=format_instance_path(place, "expected"),
        actual_path=format_instance_path(place, "actual"),
        expected_parent=None if parent_place is None else format_instance_path(parent_place, "expected"),
        actual_parent=None if parent_place is None else format_instance_path(parent_place, "actual"),
        expected=finding.expected,
        actual=finding.actual,
        expected_compared=finding.expected_compared,
        actual_compared=finding.actual_compared,
        params=dict(question.question.params),
        description=finding.node.description,
    )


def _read_list(batch: Batch, items: Sequence[BatchItem], returned: object) -> list[BatchAnswer] | str:
    """Return the answers in a list, or the reason why the list as a whole is invalid."""
    if inspect.iscoroutine(returned):
        returned.close()
        return "is a coroutine function; it must wait for its answers itself"
    form = "a mapping of item id to answer"
    if batch.scope != "chunk":
        form += ", or a list with one answer for each item, in their order"
        if isinstance(returned, Iterable) and not isinstance(returned, (str, bytes, set, frozenset)):
            answers = list(returned)
            if len(answers) == len(items):
                return list(map(_check_answer, answers))
            returned = f"{count(len(answers), 'answer')} for {count(len(items), 'item')}"
            return f"returned {returned}; it must return {form}"
    return (
        f"returned {'nothing' if returned is None else f'a {type(returned).__name__}'}; it must return {form}"
    )


def _read_mapping(items: Sequence[BatchItem], returned: Mapping[Any, object]) -> list[BatchAnswer] | str:
    """Return the answers in a mapping, or the reason why the mapping as a whole is invalid."""
    answers = dict(returned)
    unknown = answers.keys() - {item.id for item in items}
    if unknown:
        return f"answered for ids that it was not asked about: {', '.join(sorted(map(repr, unknown)))}"
    return [
        _check_answer(answers[item.id]) if item.id in answers else "gave no answer for this item"
        for item in items
    ]


def _check_answer(answer: object) -> BatchAnswer:
    """Return the answer for one item, or the reason why it is invalid."""
    if isinstance(answer, JsonMatchError):
        return str(answer)
    if isinstance(answer, BaseException):
        return f"could not score this item: {format_error(answer)}"
    returned = answer.score if isinstance(answer, ComparatorResult) else answer
    number = read_score(returned)
    if number is None:
        return f"returned {returned!r} for this item, which is not a score in [0, 1]"
    if not isinstance(answer, ComparatorResult):
        return number
    return ComparatorResult(number, answer.reason, answer.skip, answer.comparator)
