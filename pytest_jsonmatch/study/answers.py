"""Pair gold records with the answers of one or several systems, and compare them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar, final

from pytest_jsonmatch.comparing.comparer import Comparer, check_judge
from pytest_jsonmatch.engine.plan.unmatched import collect_patterns, format_unmatched
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchError,
    JsonMatchWarning,
)
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.records.answers import select_answer
from pytest_jsonmatch.records.columns import ColumnError, find_cluster, remove_column
from pytest_jsonmatch.records.pairing import make_gold_error, open_pairing, read_gold

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.records.pairing import Pair, Reading
    from pytest_jsonmatch.study.gold_records import Records

    ComparedAnswer: TypeAlias = MatchResult | JsonMatchError

T = TypeVar("T")

_CHUNK: Final = 256
"""The number of comparisons made together, about which a judge is asked in one call."""


def split_chunks(items: Iterable[T], comparisons: int = 1) -> Iterator[list[T]]:
    """Yield chunks of items that are compared together; each item needs this many comparisons."""
    coming = iter(items)
    while chunk := list(islice(coming, max(1, _CHUNK // comparisons))):
        yield chunk


@final
class RecordComparer:
    """Compares answers with gold records, and records rules that match none of them.

    Raises:
        ConfigurationError: an unknown metric or option.
    """

    def __init__(self, metric: str, options: Mapping[str, Any]) -> None:
        given = dict(options)
        self._judge = given.pop("judge", None)
        check_judge(self._judge)
        self.how: Comparer = Comparer.of(metric, given)
        self._rules = collect_patterns(options)
        self._unmatched = list(self._rules)
        self._last: MatchResult | None = None

    def __call__(self, pairs: Iterable[tuple[JsonValue, JsonValue]]) -> Iterator[ComparedAnswer]:
        """Yield the result of comparing each answer with its gold record, or the error that was raised."""
        for result in self.how.compare_all(pairs, self._judge):
            if not isinstance(result, JsonMatchError):
                self._unmatched, self._last = result.unmatched(self._unmatched), result
            yield result

    def warn(self) -> None:
        """Warn about each rule that matches nothing in any comparison."""
        if self._last is None:
            return
        for rule in self._unmatched:
            text = format_unmatched(self._rules[rule], rule, self._last.nearest_path(rule))
            warnings.warn(text, JsonMatchWarning, stacklevel=3)


class Answered(NamedTuple):
    """A gold record with its answers."""

    id: str | int
    position: int
    """The position among the gold records."""
    gold: JsonValue
    answers: Mapping[str, JsonValue]
    """The answers by system; MISSING for an answer that is missing or unreadable."""
    where: str | None
    """The file and line of the gold record."""
    cluster: str
    """The name of the cluster of the gold record; empty if it is in none."""

    def checked(self, compared: ComparedAnswer) -> MatchResult | None:
        """Return the result of an answer; None if the answer can't be compared.

        Raises:
            GoldValidationError: the gold record has a member that the schema does not list.
        """
        if isinstance(compared, GoldValidationError):
            raise make_gold_error(self.id, self.where, compared) from None
        return None if isinstance(compared, JsonMatchError) else compared


def pair_answers(
    answers: Mapping[str, Records],
    gold: Records,
    reading: Reading,
    compare: RecordComparer,
    notes: list[str],
    cluster: str | None = None,
) -> Iterator[Answered]:
    """Yield gold records with their answers, both without the columns of the id and the cluster.

    Args:
        answers: the answers of each system by its name.
        gold: the gold records, read once for each system; in a mapping, by their ids.
        reading: the columns that pair records and answers, and those that are compared.
        compare: the comparer, which reads answers.
        notes: receives warnings from reading answers, and the number of answers without a gold record.
        cluster: the column of gold records that names their cluster.

    Raises:
        ConfigurationError: several systems and an iterator of gold records; or as for `compare_corpus`.
    """
    if len(answers) > 1 and isinstance(gold, Iterator):
        raise ConfigurationError("gold is an iterator, but each system reads it again: give a list or a path")
    schema = compare.how.plan.schema
    unscored = tuple(reading.unscored(schema, cluster).values())
    with ExitStack() as files:
        pairings = [files.enter_context(open_pairing(records, gold, reading)) for records in answers.values()]
        for pairs in _join_pairs(pairings):
            first = pairs[0]
            name = first.record_id
            record = read_gold(first.expected, name, first.where)
            named = find_cluster(record, cluster)
            try:
                expected = pairings[0].reading.select_expected(record, schema)
            except ColumnError as error:
                raise make_gold_error(name, first.where, error) from None
            read = [
                _read(pair, expected, compare, pairing.reading)
                for pair, pairing in zip(pairs, pairings, strict=True)
            ]
            given = [answer for answer, _ in read]
            for selection, documents in ((reading.expected, [expected]), (reading.actual, given)):
                for document in documents if selection is None else ():
                    for column in unscored:
                        remove_column(document, column)
            notes += (
                f"{system}: record {name!r}: {text}"
                for system, (_, texts) in zip(answers, read, strict=True)
                for text in texts
            )
            by_system = dict(zip(answers, given, strict=True))
            yield Answered(name, first.position, expected, by_system, first.where, named)
    notes[:0] = (
        f"{name}: {text}" for name, pairing in zip(answers, pairings) for text in pairing.actual.warnings
    )
    notes += (
        f"{name}: {count(unmatched, 'answer')} without a gold record"
        for name, pairing in zip(answers, pairings, strict=True)
        if (unmatched := len(pairing.unmatched_actual))
    )


def _read(
    pair: Pair, gold: JsonValue, compare: RecordComparer, reading: Reading
) -> tuple[JsonValue, tuple[str, ...]]:
    """Return the JSON value of an answer, MISSING if there is none, and warnings from reading it."""
    if pair.actual is MISSING:
        return MISSING, ()
    try:
        selected, warnings, _ = select_answer(pair.actual, reading, compare.how.plan.schema)
        answer, tolerated = compare.how.read(selected, gold)
    except JsonMatchError:
        return MISSING, pair.warnings
    return answer, (*pair.warnings, *warnings, *tolerated)


def _join_pairs(pairings: Sequence[Iterable[Pair]]) -> Iterator[list[Pair]]:
    """Yield the pairs of all systems for each gold record; pairs wait until all systems have one."""
    waiting: dict[int, dict[int, Pair]] = {}
    running = {at: iter(pairing) for at, pairing in enumerate(pairings)}
    while running:
        for at, pairs in list(running.items()):
            pair = next(pairs, None)
            if pair is None:
                del running[at]
                continue
            here = waiting.setdefault(pair.position, {})
            here[at] = pair
            if len(here) == len(pairings):
                del waiting[pair.position]
                yield [here[number] for number in range(len(pairings))]
