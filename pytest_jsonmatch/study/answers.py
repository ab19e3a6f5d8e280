"""Gold records with the answers to them, of one system or several, one record after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_jsonmatch.corpus.records import Reading, gold_error, open_pairing, read_gold
from pytest_jsonmatch.engine.compare.parameters import take_repair
from pytest_jsonmatch.engine.value.errors import ConfigurationError, GoldValidationError, JsonMatchError
from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.corpus.records import Pair
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.study.places import Compare

    Records: TypeAlias = "Iterable[object] | str | PathLike[str]"


class Answered(NamedTuple):
    """A gold record with the answers to it."""

    id: str | int
    position: int
    """Among the gold records."""
    gold: JsonValue
    answers: Sequence[object]
    """One of each system; MISSING where it has none."""
    where: str | None
    """The gold record's file and line."""

    def compared(self, compare: Compare, answer: object) -> MatchResult | None:
        """Compare an answer with the record, and return what `checked` does."""
        try:
            return compare(answer, self.gold)
        except JsonMatchError as error:
            return self.checked(error)

    def checked(self, found: MatchResult | JsonMatchError) -> MatchResult | None:
        """Return the result of an answer; None if it is no JSON, or the metric refuses it.

        Raises:
            GoldValidationError: the gold record has a member that the schema does not list.
        """
        if isinstance(found, GoldValidationError):
            raise gold_error(self.id, self.where, found) from None
        return None if isinstance(found, JsonMatchError) else found


def answered(
    gold: Records,
    answers: Mapping[str, Records],
    id_field: str | None,
    options: Mapping[str, Any],
    notes: list[str],
) -> Iterator[Answered]:
    """Yield gold records with the answers to them; an id by which they find each other is left out.

    Args:
        gold: the gold records, read once for each system.
        answers: the answers of each system by its name.
        id_field: the member by which records and answers find each other; None: by position.
        options: of the metric; it says whether broken answers are repaired.
        notes: at the end it is told here which answers belong to no gold record.

    Raises:
        ConfigurationError: several systems and an iterator of gold records; and what `compare_corpus` raises.
    """
    if len(answers) > 1 and isinstance(gold, Iterator):
        raise ConfigurationError("gold is an iterator, and each system reads it anew: give a list or a path")
    reading = Reading(id_field, repair=take_repair(options)[0])
    with ExitStack() as files:
        pairings = [files.enter_context(open_pairing(each, gold, reading)) for each in answers.values()]
        for pairs in _together(pairings):
            first = pairs[0]
            record = read_gold(first.expected, first.record_id, first.where)
            expected, *given = (
                {key: value for key, value in each.items() if key != id_field} if type(each) is dict else each
                for each in (record, *(pair.actual for pair in pairs))
            )
            yield Answered(first.record_id, first.position, expected, given, first.where)
    notes += (
        f"{name}: {count(alone, 'answer')} without a gold record"
        for name, pairing in zip(answers, pairings, strict=True)
        if (alone := len(pairing.unmatched_actual))
    )


def _together(pairings: Sequence[Iterable[Pair]]) -> Iterator[list[Pair]]:
    """Yield the pairs of all systems for one gold record after another; what comes early waits."""
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
