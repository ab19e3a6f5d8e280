"""Batch comparators asked: what a record's walk wants to know, one call for many fields, and the walk again.

Where the walk meets a field of a batch comparator it looks the answer up in the record's `BatchBook`; if none
is there it files a request, and the pass is not the last. All open requests are then asked about at once, and
the walk is done again with the answers, until nothing is open: no result is ever patched. In unordered arrays
an unknown answer is worth 1, which no answer exceeds, and only the pairs of the optimum over these bounds are
asked about (see `alignment.py`), so that a pass is one round of questions for all arrays.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.compare.base import ComparatorResult
from pytest_jsonmatch.engine.compare.batched import BatchItem, NoAnswer
from pytest_jsonmatch.engine.result.match import instance_path
from pytest_jsonmatch.engine.score.walk_ import walk_once
from pytest_jsonmatch.engine.value.convert import render
from pytest_jsonmatch.engine.value.errors import JsonMatchError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from pytest_jsonmatch.engine.compare.batched import Batch, Request
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.result.match import Totals, Trail
    from pytest_jsonmatch.engine.score.walk_ import Outcome
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.triage import Triage

__all__ = ["BatchBook", "score_batch", "values_key"]


Answer: TypeAlias = "float | ComparatorResult | str"
"""A score, or the reason why there is none; `scoring.NOT_ASKED` is no error."""


@final
class BatchBook:
    """What one record's walks want to know of batch comparators, and what is known."""

    __slots__ = (
        "_known",
        "_open_totals",
        "_places",
        "answers",
        "provisional",
        "record",
        "requests",
        "rounds",
        "unknown",
    )

    def __init__(self, record: str | int | None = None) -> None:
        self.record = record
        self.rounds = 0
        """How often this record's requests were asked about."""
        self.answers: dict[int, Answer] = {}
        self.requests: dict[int, Request] = {}
        self.unknown = 0
        """How often a walk for sums has taken 1 for an answer that is not known."""
        self.provisional = 0
        """How often a pairing was used that such answers may still change."""
        self._places: dict[tuple[int, Any, Any], int] = {}
        self._known: dict[int, tuple[int, Trail]] = {}
        self._open_totals: dict[Hashable, tuple[Totals, int, int]] = {}

    def begin(self) -> None:
        """Begin a pass: what it asks for is all that is open."""
        self.requests = {}
        self.unknown = self.provisional = 0
        self._known = {}
        self._open_totals = {}

    def place(self, trail: Trail | None, expected_key: Any, actual_key: Any) -> int:
        """Return a number for a pair of places in the two documents: the same in every pass.

        Each container of the trail is looked at once a pass, so that depth costs no more than the walk.
        """
        fresh: list[Trail] = []
        at = 0
        while trail is not None:
            if (found := self._known.get(id(trail))) is not None:
                at = found[0]
                break
            fresh.append(trail)
            trail = trail[0]
        for one in reversed(fresh):
            at = self._numbered(at, one[1], one[2])
            # The trail is kept with its number: as long as it lives, its id is its own.
            self._known[id(one)] = (at, one)
        return self._numbered(at, expected_key, actual_key)

    def _numbered(self, parent: int, expected_key: Any, actual_key: Any) -> int:
        return self._places.setdefault((parent, expected_key, actual_key), len(self._places) + 1)

    def open(self) -> tuple[int, int]:
        """Return two counts that stay as they are while a walk for sums meets nothing that is open."""
        return self.unknown, self.provisional

    def keep_open(self, key: Hashable, before: tuple[int, int], totals: Totals) -> bool:
        """Keep sums for the rest of the pass, if anything open was met since `before`; tell whether."""
        unknown, provisional = self.unknown - before[0], self.provisional - before[1]
        if unknown or provisional:
            self._open_totals[key] = (totals, unknown, provisional)
            return True
        return False

    def reopened(self, key: Hashable) -> Totals | None:
        """Return what `keep_open` has kept, its open places counted again; None if there is nothing."""
        found = self._open_totals.get(key)
        if found is None:
            return None
        totals, unknown, provisional = found
        self.unknown += unknown
        self.provisional += provisional
        return totals


def score_batch(
    plan: Plan,
    records: Sequence[tuple[str | int | None, JsonValue, JsonValue]],
    judge: object = None,
    triage: Triage | None = None,
) -> list[Outcome | JsonMatchError]:
    """Score a chunk of records; what batch comparators are asked about, they are asked about together.

    Args:
        plan: a compiled metric, with batch comparators in it or not.
        records: (id, expected, actual) of each record, as `scoring.score` takes the values.
        judge: what comparators that are `judged` are called with.
        triage: says, record by record, which of their questions need an answer; None: all.

    Returns:
        For each record what `scoring.score` returns, or the error that it raises for it.

    Raises:
        ConfigurationError: a comparator that wants to see strings beforehand cannot work at all.

    >>> from pytest_jsonmatch.engine.plan.compile import plan_for
    >>> plan = plan_for("json_similarity", {})
    >>> [outcome.totals.score for outcome in score_batch(plan, [("r1", {"a": 1}, {"a": 1}), ("r2", [2], [])])]
    [1, 0]
    """
    if plan.preloads:
        from pytest_jsonmatch.engine.ask.preload import preload

        preload(plan, ((expected, actual) for _, expected, actual in records))
    books = [BatchBook(record) for record, _, _ in records]
    outcomes: list[Outcome | JsonMatchError] = []
    waiting: list[int] = []
    for at, (_, expected, actual) in enumerate(records):
        outcomes.append(_pass(plan, expected, actual, books[at]))
        if books[at].requests:
            waiting.append(at)
    if waiting:
        desk = _Desk(judge)
        while waiting:
            if triage is not None:
                for at in waiting:
                    triage.choose(outcomes[at], books[at])
            desk.ask([books[at] for at in waiting])
            for at in waiting:
                _, expected, actual = records[at]
                outcomes[at] = _pass(plan, expected, actual, books[at])
            waiting = [at for at in waiting if books[at].requests]
    return outcomes


def _pass(plan: Plan, expected: JsonValue, actual: JsonValue, book: BatchBook) -> Outcome | JsonMatchError:
    book.begin()
    try:
        outcome = walk_once(plan, expected, actual, book if plan.has_batch else None)
    except JsonMatchError as error:
        book.requests = {}
        return error
    if book.provisional and not book.requests:
        message = "a pairing waits for a batch comparator that nobody asks; please report this"
        raise RuntimeError(message)
    return outcome


@final
class _Desk:
    """Asks batch comparators, numbers their items and reads their answers."""

    __slots__ = ("_judge", "_numbers", "_said")

    def __init__(self, judge: object = None) -> None:
        self._judge = judge
        self._numbers: dict[str, int] = {}
        # What comparators that go by values have said of values.
        self._said: dict[Batch, dict[Hashable, Answer]] = {}

    def ask(self, books: Sequence[BatchBook]) -> None:
        """Answer all open requests: one call for each comparator and record, or chunk."""
        calls: dict[tuple[Batch, int], list[tuple[BatchBook, int]]] = {}
        for at, book in enumerate(books):
            book.rounds += 1
            for place, request in book.requests.items():
                batch = request.question.batch
                key = (batch, -1 if batch.scope == "chunk" else at)
                calls.setdefault(key, []).append((book, place))
        for (batch, _), wanted in calls.items():
            if batch.by_value:
                self._ask_by_value(batch, wanted)
            else:
                for (book, place), answer in zip(wanted, self._answers(batch, wanted)):
                    book.answers[place] = answer

    def _ask_by_value(self, batch: Batch, wanted: list[tuple[BatchBook, int]]) -> None:
        said = self._said.setdefault(batch, {})
        keys = [values_key(book.requests[place]) for book, place in wanted]
        fresh = {key: one for key, one in reversed(list(zip(keys, wanted))) if key not in said}
        # In the order in which the fields stand in the records.
        asked = list(reversed(fresh))
        said.update(zip(asked, self._answers(batch, [fresh[key] for key in asked])))
        for (book, place), key in zip(wanted, keys):
            book.answers[place] = said[key]

    def _answers(self, batch: Batch, wanted: list[tuple[BatchBook, int]]) -> list[Answer]:
        """Make one call."""
        if not wanted:
            return []
        items = [self._item(book.record, book.requests[place]) for book, place in wanted]
        try:
            given = list(items)
            return _read(batch, items, batch.ask(given, self._judge) if batch.judged else batch.ask(given))
        except Exception as error:
            if batch.judged:
                # What the judge fails at, the comparator has told: this is about who it is.
                raise
            # A user's comparator: its failure is a result.
            return [f"raised {_named(error)}"] * len(items)

    def _item(self, record: str | int | None, request: Request) -> BatchItem:
        of = "" if record is None else str(record)
        number = self._numbers[of] = self._numbers.get(of, 0) + 1
        trail, expected_key, actual_key = request.trail, request.expected_key, request.actual_key
        return BatchItem(
            id=str(number) if record is None else f"{of}:{number}",
            record=record,
            path=request.node.path,
            expected_path=instance_path(trail, expected_key, 1),
            actual_path=instance_path(trail, actual_key, 2),
            expected_parent=_parent(trail, expected_key, 1),
            actual_parent=_parent(trail, actual_key, 2),
            expected=request.expected,
            actual=request.actual,
            expected_compared=request.expected_compared,
            actual_compared=request.actual_compared,
            params=dict(request.question.params),
            description=request.node.description,
        )


def _parent(trail: Trail | None, key: Any, side: int) -> str | None:
    if key is None:
        return None
    return "$" if trail is None else instance_path(trail[0], trail[side], side)


def values_key(request: Request) -> Hashable:
    """Return what two items share that differ in nothing but where they stand."""
    return (
        _text(request.question.params),
        *map(_form, (request.expected, request.actual, request.expected_compared, request.actual_compared)),
    )


def _form(value: JsonValue) -> Hashable:
    if type(value) is not dict and type(value) is not list:
        return type(value), value
    try:
        return json.dumps(value, sort_keys=True)
    except (RecursionError, TypeError):
        # Nested too deep for Python's encoder, or a number beyond a double. (The order of keys then counts.)
        return render(value)


def _text(params: Mapping[str, Any]) -> str:
    try:
        return json.dumps(params, sort_keys=True, default=repr)
    except (RecursionError, TypeError):
        # Nested too deep, or with keys of several types: of this place alone, whose plan keeps them.
        return f"{id(params)}"


_MORE: Final = "one answer for each item, in their order"


def _read(batch: Batch, items: Sequence[BatchItem], answer: object) -> list[Answer]:
    """Return an answer for each item, or the reason why it has none."""
    if isinstance(answer, Mapping):
        return _read_by_id(items, answer)
    if inspect.iscoroutine(answer):
        answer.close()
        return _all(items, "is a coroutine function; it has to wait for its answers itself")
    if batch.scope == "chunk":
        message = f"returned {_kind(answer)}; with scope 'chunk' it returns a mapping of item id to answer"
        return _all(items, message)
    if isinstance(answer, (str, bytes, set, frozenset)) or not isinstance(answer, Iterable):
        message = (
            f"returned {_kind(answer)}; it returns a list with {_MORE}, or a mapping of item id to answer"
        )
        return _all(items, message)
    answers = list(answer)
    if len(answers) != len(items):
        counts = f"{_count(len(answers), 'answer')} for {_count(len(items), 'item')}"
        message = f"returned {counts}; a list has {_MORE}"
        return _all(items, message)
    return list(map(_checked, answers))


def _read_by_id(items: Sequence[BatchItem], answer: Mapping[Any, object]) -> list[Answer]:
    given = dict(answer)
    known = {item.id for item in items}
    unknown = [key for key in given if key not in known]
    if unknown:
        shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        return _all(items, f"answered for ids that it was not asked about: {shown}")
    return [
        _checked(given[item.id]) if item.id in given else "gave no answer for this item" for item in items
    ]


def _all(items: Sequence[BatchItem], reason: str) -> list[Answer]:
    return [reason] * len(items)


def _checked(answer: object) -> Answer:
    """Return one item's answer, or what is wrong with it."""
    if isinstance(answer, NoAnswer):
        return answer.reason
    if isinstance(answer, BaseException):
        return f"could not score this item: {_named(answer)}"
    score = answer.score if isinstance(answer, ComparatorResult) else answer
    # numpy's scalars and bools have __float__ as well; a string and None have not.
    number = float(score) if hasattr(type(score), "__float__") else math.nan  # type: ignore[arg-type]
    if not 0.0 <= number <= 1.0:
        return f"returned {score!r} for this item, which is no score in [0, 1]"
    if not isinstance(answer, ComparatorResult):
        return number
    return ComparatorResult(number, answer.reason, answer.skip, answer.comparator)


def _named(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
