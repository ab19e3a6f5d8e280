"""Rows: elements of arrays of objects that are not compared by position, found or missing."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jsonmatch import compare_corpus, compare_json

ITEMS = [{"n": at, "name": "ab"} for at in range(4)]
OTHER = {"n": 9, "name": "zz"}


def rows(actual: Any, expected: Any, **options: Any) -> dict[str, tuple[int, ...]]:
    options = {"arrays": "unordered", **options}
    return {path: tuple(each) for path, each in compare_json(actual, expected, **options).rows.items()}


@pytest.mark.parametrize("arrays", ["unordered", {"key": "n"}])
@pytest.mark.parametrize(
    ("items", "counts"),
    [
        (ITEMS, (4, 4, 4)),
        ([*ITEMS[1:], OTHER, OTHER], (4, 3, 5)),
        ([], (4, 0, 0)),
        (None, (4, 0, 0)),
        ({"n": 1}, (4, 0, 0)),
    ],
)
def test_an_element_of_expected_is_found_if_it_is_paired(arrays, items, counts):
    assert rows({"items": items}, {"items": ITEMS}, arrays=arrays) == {"items": counts}


def test_an_array_that_one_side_lacks_has_rows_too():
    assert rows({}, {"items": ITEMS}) == {"items": (4, 0, 0)}
    assert rows({"items": ITEMS}, {}) == {"items": (0, 0, 4)}
    assert rows({"a": "none"}, {"a": {"b": {"items": ITEMS}}}) == {"a.b.items": (4, 0, 0)}
    assert rows({"a": {"items": ITEMS}}, {"a": None}) == {"a.items": (0, 0, 4)}


def test_only_objects_are_rows_and_only_if_not_compared_by_position():
    assert rows({"tags": ["a"], "none": []}, {"tags": ["a", "b"], "none": []}) == {}
    assert rows({"items": ITEMS}, {"items": ITEMS}, arrays="ordered") == {}
    assert rows({}, {"items": ITEMS}, arrays="ordered") == {}
    # What expected has decides.
    assert rows([*ITEMS, "total"], ITEMS) == {"$": (4, 4, 5)}


def test_skipped_fields_and_those_compared_as_a_whole_have_no_rows():
    for rule in ({"items": "skip"}, {"items[]": "skip"}, {"items": "exact"}):
        for items in (ITEMS[1:], None):
            assert rows({"items": items}, {"items": ITEMS}, fields=rule) == {}


def test_rows_in_rows_are_counted_whether_their_row_is_found_or_not():
    expected = {"orders": [{"no": 1, "lines": ITEMS}, {"no": 2, "lines": ITEMS[:2]}]}
    actual = {"orders": [{"no": 1, "lines": ITEMS[1:]}]}
    assert rows(actual, expected) == {"orders": (2, 1, 1), "orders[].lines": (6, 3, 3)}


def test_a_metric_without_extras_counts_no_rows_of_actual():
    result = compare_json([*ITEMS[1:], OTHER], ITEMS, metric="json_similarity", arrays={"key": "n"})
    counts = result.rows["$"]
    assert (*counts, counts.extra, counts.precision, counts.f1) == (4, 3, 0, 0, None, None)


def test_to_dict_and_data_frames_have_them():
    result = compare_json([*ITEMS[1:], OTHER], ITEMS, arrays={"key": "n"})
    counts = {"expected": 4, "found": 3, "actual": 4, "recall": 0.75, "precision": 0.75, "f1": 0.75}
    assert result.to_dict()["rows"] == {"$": counts}
    frame = result.to_dataframe(by="rows", library="pandas")
    assert frame.to_dict("records") == [{"path": "$", **counts}]


def test_a_corpus_adds_them_whatever_it_keeps():
    gold = [{"id": at, "of": "ab"[at % 2], "items": ITEMS} for at in range(10)]
    answers = [{"id": at, "items": ITEMS[at % 3 :]} for at in range(9)]
    for keep in ("all", "none"):
        run = compare_corpus(
            answers, gold, id="id", arrays={"key": "n"}, keep=keep, chunk_size=3, tags={"of": "of"}
        )
        # The tenth record has no answer: its rows are missing.
        assert run.rows == {"items": (40, 27, 27)}
        assert run.by_tag["of=b"].rows == {"items": (20, 12, 12)}
        other = compare_corpus(
            [{**each, "id": each["id"] + 10} for each in answers],
            [{**each, "id": each["id"] + 10} for each in gold],
            id="id",
            arrays={"key": "n"},
            keep=keep,
        )
        assert run.merge(other).rows == {"items": (80, 54, 54)}
        assert run.to_dict()["rows"]["items"]["recall"] == 0.675
        assert run.to_dataframe(by="rows", library="pandas").to_dict("records")[0]["found"] == 27
