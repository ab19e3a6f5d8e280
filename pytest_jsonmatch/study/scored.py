"""Records with the results of their fields, one after the other, however many there are."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.api import compare_corpus, read_actual
from pytest_jsonmatch.corpus.records import Pair, Reading, in_chunks, open_pairing, read_gold
from pytest_jsonmatch.engine.compare.parameters import take_repair
from pytest_jsonmatch.engine.value.convert import MISSING, JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, JsonMatchWarning

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.corpus.result import RecordResult

_CHUNK: Final = 256


@final
@dataclass(slots=True)
class Scored:
    """Scores records as `compare_corpus` does, and gives each to whoever iterates over this.

    Args:
        actual: as for `compare_corpus`, as all others but `split`.
        expected: the gold records.
        split: takes from an answer what is not to be scored, and returns the answer without it, and that.
        options: of the metric, `schema` and `repair` among them.

    What iteration counts is in `counts`: "records", "unanswered", "unreadable", "alone" (answers without a
    gold record).
    """

    actual: Iterable[object] | str | PathLike[str]
    expected: Iterable[object] | str | PathLike[str]
    split: Callable[[JsonValue], tuple[JsonValue, Any]]
    metric: str
    id_field: str | None = None
    cluster: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    unmatched_rules: set[str] | None = None
    """After iteration: patterns of rules that fit no record."""

    def __iter__(self) -> Iterator[tuple[RecordResult, Any]]:
        """Yield each record's result, with all field results, and what `split` took; None without an answer.

        Raises:
            ConfigurationError: as `compare_corpus`, and what `split` raises, with the record's name.
        """
        repair, _ = take_repair(self.options)
        # The id stays in the records, and is left out when they are scored.
        reading = Reading(self.id_field, scores_id=True, repair=repair)
        with open_pairing(self.actual, self.expected, reading) as pairing:
            for pairs in in_chunks(iter(pairing), _CHUNK):
                yield from self._chunk(pairs)
        self.counts["unanswered"] = len(pairing.unmatched_expected)
        self.counts["unreadable"] += len(pairing.unreadable)
        self.counts["alone"] = len(pairing.unmatched_actual) - len(pairing.unreadable)

    def _chunk(self, pairs: list[Pair]) -> Iterator[tuple[RecordResult, Any]]:
        golds, answers, taken = [], [], []
        for pair in pairs:
            gold = read_gold(pair.expected, pair.record_id, pair.where)
            answer, extra = self._answer(pair, gold)
            golds.append(_as_text(gold))
            taken.append(extra)
            if answer is not MISSING or self.id_field is None:
                answers.append(_as_text(answer))
        with warnings.catch_warnings():
            # A rule that fits nothing in one chunk may fit in another.
            warnings.simplefilter("ignore", JsonMatchWarning)
            run = compare_corpus(
                answers,
                golds,
                metric=self.metric,
                id_field=self.id_field,
                cluster=self.cluster,
                keep="all",
                **self.options,
            )
        unmatched = set(run.unmatched_rules)
        self.unmatched_rules = unmatched & (
            unmatched if self.unmatched_rules is None else self.unmatched_rules
        )
        self.counts["records"] += len(pairs)
        yield from zip(run.records, taken, strict=True)

    def _answer(self, pair: Pair, gold: JsonValue) -> tuple[Any, Any]:
        """Return a record's answer as JSON without what `split` takes; MISSING if it can't be read."""
        if pair.actual is MISSING:
            return MISSING, None
        try:
            answer = (
                pair.actual if pair.is_read else read_actual(pair.actual, gold, self.metric, self.options)
            )
        except JsonMatchError:
            self.counts["unreadable"] += 1
            return MISSING, None
        try:
            return self.split(answer)
        except ConfigurationError as error:
            raise ConfigurationError(f"record {pair.record_id!r}: {error}") from None


def _as_text(value: Any) -> Any:
    """Return a value as `compare_corpus` takes it: there a str is JSON text."""
    return json.dumps(value) if type(value) is str else value
