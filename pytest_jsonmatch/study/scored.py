"""Records with the results of their fields, one after the other, however many there are."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.api import compare_corpus, read_actual
from pytest_jsonmatch.corpus.records import Pair, Reading, in_chunks, open_pairing, read_gold
from pytest_jsonmatch.engine.compare.parameters import take_repair
from pytest_jsonmatch.engine.value.convert import MISSING, JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, JsonMatchWarning

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.corpus.result import RecordResult

_CHUNK: Final = 256


def scored(
    actual: Iterable[object] | str | PathLike[str],
    expected: Iterable[object] | str | PathLike[str],
    split: Callable[[JsonValue], tuple[JsonValue, Any]],
    notes: list[str],
    *,
    metric: str,
    id_field: str | None,
    cluster: str | None,
    options: Mapping[str, Any],
) -> Iterator[tuple[RecordResult, Any]]:
    """Score records as `compare_corpus` does; yield each result with its fields, and what `split` took.

    Args:
        actual: as for `compare_corpus`, as all others but two.
        expected: the gold records.
        split: takes from an answer what is not to be scored, and returns the answer without it, and that.
        notes: at the end it is told here what was left out, and what looks wrong.
        metric: as the arguments below.
        id_field: the member by which a record and its answer find each other.
        cluster: the member that says what gold records belong to.
        options: of the metric, `schema` and `repair` among them.

    Raises:
        ConfigurationError: as `compare_corpus`, and what `split` raises, with the record's name.
    """
    repair, _ = take_repair(options)
    unmatched: set[str] | None = None
    unreadable = 0
    # The id stays in the records, and is left out when they are scored.
    with open_pairing(actual, expected, Reading(id_field, scores_id=True, repair=repair)) as pairing:
        for pairs in in_chunks(iter(pairing), _CHUNK):
            golds, answers, taken = [], [], []
            for pair in pairs:
                gold = read_gold(pair.expected, pair.record_id, pair.where)
                answer, extra = _answer(pair, gold, split, metric, options)
                unreadable += answer is MISSING and pair.actual is not MISSING
                golds.append(_as_text(gold))
                taken.append(extra)
                if answer is not MISSING or id_field is None:
                    answers.append(_as_text(answer))
            with warnings.catch_warnings():
                # A rule that fits nothing in one chunk may fit in another.
                warnings.simplefilter("ignore", JsonMatchWarning)
                run = compare_corpus(
                    answers, golds, metric=metric, id_field=id_field, cluster=cluster, keep="all", **options
                )
            of_chunk = set(run.unmatched_rules)
            unmatched = of_chunk if unmatched is None else unmatched & of_chunk
            yield from zip(run.records, taken, strict=True)
    left_out = {
        "gold records without an answer": len(pairing.unmatched_expected),
        "answers without JSON that can be read, or without an id": unreadable + len(pairing.unreadable),
        "answers without a gold record": len(pairing.unmatched_actual) - len(pairing.unreadable),
    }
    notes += (f"{what}: {number:,}" for what, number in left_out.items() if number)
    notes += (f"the rule {pattern!r} fits no field" for pattern in sorted(unmatched or ()))


def _answer(
    pair: Pair, gold: JsonValue, split: Callable[..., Any], metric: str, options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return a record's answer as JSON without what `split` takes, and that; MISSING if it can't be read."""
    if pair.actual is MISSING:
        return MISSING, None
    try:
        answer = pair.actual if pair.is_read else read_actual(pair.actual, gold, metric, options)
    except JsonMatchError:
        return MISSING, None
    try:
        without, extra = split(answer)
    except ConfigurationError as error:
        raise ConfigurationError(f"record {pair.record_id!r}: {error}") from None
    return without, extra


def _as_text(value: Any) -> Any:
    """Return a value as `compare_corpus` takes it: there a str is JSON text."""
    return json.dumps(value) if type(value) is str else value
