"""Gold records and answers brought together by id: in whatever order, with gaps on either side, in little memory."""

from __future__ import annotations

import json
import random
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import GoldValidationError, JsonMatchWarning, compare_corpus
from pytest_jsonmatch.records import pairing
from pytest_jsonmatch.records.pairing import Reading, open_pairing
from pytest_jsonmatch.results.idkeys import IdKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def found(gold: Any, extracted: Any) -> tuple[dict[Any, Any], list[Any], list[Any]]:
    """Pair by id; {id: (position, answer's value)}, and who stays alone."""
    with open_pairing(extracted, gold, Reading("id")) as opened:
        pairs = list(opened)
    met = {
        pair.record_id: (pair.position, pair.expected["g"], pair.actual.get("x"))
        for pair in pairs
        if isinstance(pair.actual, dict)
    }
    assert len(pairs) == len(met) + len(opened.unmatched_expected)
    return met, opened.unmatched_expected, opened.unmatched_actual


ORDERS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "same": lambda records: records,
    "reversed": lambda records: records[::-1],
    "shuffled": lambda records: random.Random(len(records)).sample(records, len(records)),
    "one late": lambda records: records[1:] + records[:1],
    "one early": lambda records: records[-1:] + records[:-1],
}


@pytest.mark.parametrize("kind", ["list", "iterator", "file"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [0, 1, 7, 1_200])
def test_everybody_finds_the_own_answer(tmp_path, kind, order, size):
    ids = list(range(size))
    gold = [{"id": number, "g": number} for number in ids if number % 5 != 1]
    extracted = [{"id": number, "x": number} for number in ids if number % 7 != 1]
    extracted = ORDERS[order](extracted)
    sides: list[Any] = [gold, extracted]
    if kind != "list":
        given = iter if kind == "iterator" else lambda side: lines(tmp_path / str(id(side)), side)
        sides = list(map(given, sides))
    met, lonely_gold, lonely_answers = found(*sides)
    position = {record["id"]: at for at, record in enumerate(gold)}
    assert met == {number: (position[number], number, number) for number in position if number % 7 != 1}
    assert lonely_gold == [number for number in position if number % 7 == 1]
    assert sorted(lonely_answers) == [number for number in ids if number % 7 != 1 and number % 5 == 1]


def test_of_two_answers_the_first_counts():
    gold = [{"id": "a", "g": 1}, {"id": "b", "g": 2}]
    extracted = [{"id": "b", "x": 1}, {"id": "b", "x": 2}, {"id": "a", "x": 3}, {"id": "a", "x": 4}]
    assert found(gold, extracted) == ({"a": (0, 1, 3), "b": (1, 2, 1)}, [], ["b", "a"])


def test_an_answer_that_cannot_be_read_is_named_by_its_line(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": 1, "v": 1}\n\nI do not know.\n', encoding="utf-8")
    result = compare_corpus(answers, [{"id": 1, "v": 1}, {"id": 2, "v": 1}], id="id")
    reason = "no JSON found in the actual text: there is no object in the text"
    assert (result.unmatched_expected, result.unmatched_actual) == ((2,), (f"{answers}:3",))
    assert [str(error) for error in result.errors] == [
        "record 2: there is no answer for it",
        f"record '{answers}:3': {reason}; the text begins 'I do not know.'",
    ]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([{"id": 1, "v": {1}}], "record 1: expected has a set at v, which has no JSON form; give a list"),
        ([{1, 2}], "record 1: expected has a set at $, which has no JSON form; give a list"),
        ([{"id": 1.5}], "gold record 1 must have a string or an integer as 'id', got 1.5"),
        ([{"id": True}], "gold record 1 must have a string or an integer as 'id', got true"),
        ([{"id": None}], "gold record 1 must have a string or an integer as 'id', got null"),
        ([{"ids": 1}], "gold record 1 has no 'id'; did you mean 'ids'?"),
        ([{"no": 1, "v": 2}], "gold record 1 has no 'id'; known: no, v"),
        ([{"id;v": "1;2"}], "gold record 1 has no 'id'; is the delimiter ';'?"),
        ([[1]], "gold record 1 must be an object with the id 'id', got [1]"),
        (iter([{"id": 1}, {"id": 1}]), "gold record 2 has the same id as an earlier record: 1"),
    ],
)
def test_gold_records_that_cannot_be_distinguished(gold, message):
    with pytest.raises(GoldValidationError) as caught:
        compare_corpus([{"id": 1}, {"id": 9}] if isinstance(gold, list) else [{"id": 9}], gold, id="id")
    assert str(caught.value) == message


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(2)])
@pytest.mark.parametrize("order", [lambda gold: gold, lambda gold: gold[::-1], lambda gold: gold[:-1]])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "iterator"])
def test_an_id_that_occurs_twice_is_an_error_if_its_records_are_far_apart(tmp_path, kind, order, executor):
    gold = [{"id": f"r{number % 1_999}", "n": str(number)} for number in range(2_000)]
    answers = order(gold)

    def make(name: str, records: list[dict[str, str]]) -> Any:
        if kind == "iterator":
            return iter(records)
        path = tmp_path / f"{name}.{kind}"
        rows = ["id,n", *(",".join(record.values()) for record in records)]
        path.write_text("\n".join(rows if kind == "csv" else map(json.dumps, records)))
        return path

    where = {"jsonl": "at .*gold.jsonl:2000", "csv": "at .*gold.csv:2001", "iterator": "record 2000"}[kind]
    with pytest.raises(GoldValidationError, match=f"^gold {where} has the same id as .*record") as raised:
        compare_corpus(make("answers", answers), make("gold", gold), id="id", executor=executor)
    assert raised.value.record_id == (2_000 if kind == "iterator" else "r0")
    assert compare_corpus(make("answers", answers), make("gold", gold[:-1]), id="id").total_records == 1_999


def test_many_ids_are_kept_in_8_bytes_each():
    keys = IdKeys()
    for number in range(60_000):
        keys.add(number)
    assert keys.find_repeated() == set()
    keys.add(59_000)
    assert [keys.positions(key) for key in keys.find_repeated()] == [[59_000, 60_000]]


def peak(count: int, missing: int, kind: str, folder: Path) -> int:
    """The most memory that a run takes, of whose answers every `missing`th is not there."""

    def records(*, gaps: bool) -> Iterator[dict[str, Any]]:
        for number in range(count):
            if not gaps or number % missing:
                yield {"id": number, "text": f"{number:0200}"}

    if kind == "file":
        gold: Any = lines(folder / "gold.jsonl", list(records(gaps=False)))
        extracted: Any = lines(folder / "extracted.jsonl", list(records(gaps=True)))
    else:
        gold, extracted = records(gaps=False), records(gaps=True)
    tracemalloc.start()
    try:
        compare_corpus(extracted, gold, id="id")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["file", "iterator"])
def test_memory_stays_flat_in_the_same_order_with_answers_missing(tmp_path, kind):
    peak(100, 50, kind, tmp_path)  # what is loaded and compiled once
    # Of 2,000 records, held whole, the answers alone would take 0.7 MB; 10 are missing.
    assert peak(2_000, 200, kind, tmp_path) < 1.3 * peak(500, 200, kind, tmp_path)


def test_files_in_another_order_are_held_by_offset(tmp_path, monkeypatch):
    numbers = list(range(3_000))
    gold = lines(tmp_path / "gold.jsonl", [{"id": number, "text": "x" * 2_000} for number in numbers])
    numbers.reverse()
    answers = lines(tmp_path / "answers.jsonl", [{"id": number, "text": "x" * 2_000} for number in numbers])

    def peak_with(held: int) -> int:
        monkeypatch.setattr(pairing, "_MAX_WAITING", held)
        tracemalloc.start()
        assert compare_corpus(answers, gold, id="id").mean_f1 == 1.0
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak_with(100)  # what is loaded and compiled once
    assert peak_with(100) < 0.5 * peak_with(10_000)


@pytest.mark.filterwarnings("error")
def test_files_are_closed_whatever_happens(tmp_path):
    gold = lines(tmp_path / "gold.jsonl", [{"a": 1}, {"a": 2}])
    with pytest.raises(ValueError, match="can't be read"):
        compare_corpus(tmp_path / "nowhere.jsonl", gold)
    with pytest.raises(ValueError, match="more answers than gold"):
        compare_corpus(gold, [{"a": 1}])
    assert compare_corpus(gold, str(gold)).mean_f1 == 1.0


@pytest.mark.parametrize(
    ("gold", "answer", "shown"),
    [(7, "7", "7 and '7'"), ("caf\u00e9", "cafe\u0301", r"'caf\xe9' and 'cafe\u0301'")],
)
def test_ids_that_differ_only_in_form(gold, answer, shown):
    reported = f"1 id differs only in type or Unicode form, such as {shown}: write ids alike on both sides"
    with pytest.warns(JsonMatchWarning) as caught:
        compare_corpus([{"id": answer, "v": 1}, {"id": 1}], [{"id": gold, "v": 1}, {"id": 1}], id="id")
    assert [str(warning.message) for warning in caught] == [reported]
