"""Collect the open questions of records, ask them in one call, and score again with the answers.

No result is ever patched: an outcome without open questions is final. In unordered arrays an unknown answer
is worth 1, an upper bound; questions are asked only about pairs that are optimal under these bounds.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, final

from pytest_jsonmatch.engine.ask.prepare import prepare
from pytest_jsonmatch.engine.compare.base import BatchItem, ComparatorResult
from pytest_jsonmatch.engine.score.documents import score
from pytest_jsonmatch.engine.score.field import format_instance_path
from pytest_jsonmatch.engine.score.placescorer import read_score
from pytest_jsonmatch.engine.value.errors import JsonMatchError, format_error
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.compare.base import Batch
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

    Raises what `score.documents.score` raises.
    """
    (found,) = score_all_with_answers(plan, [(None, expected, actual)], judge)
    if isinstance(found, JsonMatchError):
        raise found
    return found


def score_all_with_answers(
    plan: Plan, records: Sequence[RecordPair], judge: object = None
) -> list[Outcome | JsonMatchError]:
    """Score a chunk of records, and ask batch comparators about all of them together.

    Args:
        plan: a compiled metric, with or without batch comparators.
        records: (id, expected, actual) of each record.
        judge: the judge given to comparators that are `judged`.

    Returns:
        For each record its outcome, or the error that scoring it raises.

    Raises:
        ConfigurationError: a comparator that prepares for strings cannot work at all.

    >>> from pytest_jsonmatch.engine.plan.compile import compile_plan
    >>> plan = compile_plan("json_similarity", {})
    >>> outcomes = score_all_with_answers(plan, [("r1", {"a": 1}, {"a": 1}), ("r2", [2], [])])
    >>> [outcome.sums.score for outcome in outcomes]
    [1.0, 0.0]
    """
    if plan.prepares:
        prepare(plan, ((expected, actual) for _, expected, actual in records))
    scored = [_Record(plan, record) for record in records]
    numbers: Counter[str | int | None] = Counter()
    while waiting := [each for each in scored if each.open]:
        _ask(waiting, judge, numbers)
        for each in waiting:
            each.score()
    return [each.outcome for each in scored]


@final
class _Record:
    """A record, its outcome and its answers so far."""

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
        """Score it with the answers so far."""
        try:
            self.outcome = score(self._plan, self._expected, self._actual, self.answers, self._rounds)
        except JsonMatchError as error:
            self.outcome, self.open = error, {}
            return
        self.open = self.outcome.questions
        self._rounds += 1


RecordQuestions: TypeAlias = "list[tuple[_Record, OpenQuestion]]"


def _ask(records: Sequence[_Record], judge: object, numbers: Counter[str | int | None]) -> None:
    """Answer all open questions: one call for each comparator and record, or chunk.

    Args:
        records: those with open questions.
        judge: the judge given to comparators that are `judged`.
        numbers: the number of items so far, by record id.
    """
    calls: dict[tuple[Batch, int], RecordQuestions] = {}
    for at, record in enumerate(records):
        for asked in record.open.values():
            batch = asked.question.batch
            key = batch, -1 if batch.scope == "chunk" else at
            calls.setdefault(key, []).append((record, asked))
    for (batch, _), questions in calls.items():
        items = []
        for record, asked in questions:
            numbers[record.id] += 1
            items.append(_make_item(asked, record.id, numbers[record.id]))
        for (record, asked), answer in zip(questions, _ask_once(batch, items, judge)):
            record.answers[asked.place] = answer


def _ask_once(batch: Batch, items: list[BatchItem], judge: object) -> list[BatchAnswer]:
    """Ask about items in one call; return an answer for each, or the reason why there is none."""
    try:
        given = list(items)
        returned = batch.ask(given, judge) if batch.judged else batch.ask(given)
        read = (
            _read_mapping(items, returned)
            if isinstance(returned, Mapping)
            else _read_list(batch, items, returned)
        )
    except Exception as error:
        if batch.judged:
            # Single failures of the judge are answers already; an error means that it can't be asked at all.
            raise
        # A user's comparator: its failure is a result.
        read = f"raised {format_error(error)}"
    return [read] * len(items) if isinstance(read, str) else read


def _make_item(asked: OpenQuestion, record: str | int | None, number: int) -> BatchItem:
    """Return an open place as the item that a batch comparator is given.

    Args:
        asked: the place.
        record: the id of its record; None if a single pair of documents is compared.
        number: distinguishes the items of a record.
    """
    finding = asked.finding
    place, around = finding.place, finding.around
    return BatchItem(
        id=str(number) if record is None else f"{record}:{number}",
        record=record,
        path=finding.node.path,
        expected_path=format_instance_path(place, "expected"),
        actual_path=format_instance_path(place, "actual"),
        expected_parent=None if around is None else format_instance_path(around, "expected"),
        actual_parent=None if around is None else format_instance_path(around, "actual"),
        expected=finding.expected,
        actual=finding.actual,
        expected_compared=finding.expected_compared,
        actual_compared=finding.actual_compared,
        params=dict(asked.question.params),
        description=finding.node.description,
    )


def _read_list(batch: Batch, items: Sequence[BatchItem], returned: object) -> list[BatchAnswer] | str:
    """Return the answers of a list, or what is wrong with it as a whole."""
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
            return f"returned {returned}; it returns {form}"
    return f"returned {'nothing' if returned is None else f'a {type(returned).__name__}'}; it returns {form}"


def _read_mapping(items: Sequence[BatchItem], returned: Mapping[Any, object]) -> list[BatchAnswer] | str:
    """Return the answers of a mapping, or what is wrong with it as a whole."""
    given = dict(returned)
    unknown = given.keys() - {item.id for item in items}
    if unknown:
        return f"answered for ids that it was not asked about: {', '.join(sorted(map(repr, unknown)))}"
    return [
        _check_answer(given[item.id]) if item.id in given else "gave no answer for this item"
        for item in items
    ]


def _check_answer(answer: object) -> BatchAnswer:
    """Return one item's answer, or what is wrong with it."""
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
