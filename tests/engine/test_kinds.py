"""Kinds of differences: each differing leaf has one, and their costs add up to 1 - score."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from pytest_jsonmatch import compare_json

ORDER = {
    "number": "INV-2031-77",
    "customer": "Grün & Söhne, Bad Tölz",
    "date": "2026-03-04",
    "net": 1180.25,
    "vat": None,
    "count": 12,
    "paid": True,
    "zip": "02139",
    "quote": 'a 5" pipe – long',
    "note": "deliver to the back door",
    "ship": {"street": "Hauptstraße 4", "city": "Erding", "country": "Germany"},
    "lines": [
        {"sku": f"A-{at}7", "name": f"item number {at}", "price": 10.5 + at, "tags": ["new", f"t{at}x"]}
        for at in range(6)
    ],
    "tags": ["first", "second", "third", "fourth"],
}


def set_at(*keys):
    def change(order, value):
        for key in keys[:-1]:
            order = order[key]
        order[keys[-1]] = value

    return change


def put(path, value):
    keys = [int(key) if key.isdigit() else key for key in path.split(".")]
    return lambda order: set_at(*keys)(order, value)


def lines(change):
    return lambda order: order.update(lines=change(order["lines"]))


INJECTED = [
    ("null, empty or absent", put("vat", "")),
    ("null, empty or absent", lambda order: order.pop("vat")),
    ("null, empty or absent", put("fax", None)),
    ("null, empty or absent", put("vat", "N/A")),
    ("null, empty or absent", put("extras", [])),
    ("number as text", put("count", "12")),
    ("number as text", put("paid", "true")),
    ("wrapped value", put("number", ["INV-2031-77"])),
    ("wrapped value", put("ship", '{"street": "Hauptstraße 4"}')),
    ("white space", put("number", " INV-2031 -77")),
    ("white space", put("note", "deliver to  the\nback door")),
    ("typographic form", put("quote", "a 5” pipe - long")),
    ("typographic form", put("customer", "Grün &amp; Söhne, Bad Tölz")),
    ("case or accents", put("customer", "GRUN & Sohne, Bad Tolz")),
    ("amount in another form", put("net", "1,180.25 EUR")),
    ("date in another form", put("date", "4 March 2026")),
    ("date in another form", put("date", "04.03.2026")),
    ("punctuation", put("customer", "Grün & Söhne (Bad Tölz)")),
    ("rounded number", put("net", 1180)),
    ("rounded number", put("net", 1180.2)),
    ("order of elements", lambda order: order["tags"].reverse()),
    ("order of elements", lines(lambda rows: [rows[3], rows[0], rows[5], rows[2], rows[1], rows[4]])),
    ("shifted elements", lines(lambda rows: rows[1:])),
    (
        "shifted elements",
        lines(lambda rows: [{"sku": "B", "name": "other", "price": 99.0, "tags": []}, *rows]),
    ),
    ("value under another key", lambda order: order.update(reference=order.pop("number"))),
    ("value under another key", lambda order: order["ship"].update(city="Germany", country="Erding")),
    ("missing element", lines(lambda rows: rows[:-1])),
    ("extra element", lambda order: order["tags"].append("fifth")),
    ("zero for null", put("vat", 0)),
    ("missing value", put("note", None)),
    ("missing value", lambda order: order["ship"].pop("city")),
    ("extra value", put("vat", 19.5)),
    ("extra value", put("fax", "+49 89 1234")),
    ("part of a date", put("date", "03/04")),
    ("sign or decimal point", put("net", -1180.25)),
    ("sign or decimal point", put("net", 11802.5)),
    ("shorter text", put("note", "deliver")),
    ("longer text", put("note", "please deliver to the back door, thanks")),
    ("few characters differ", put("number", "INV-2037-77")),
    ("few characters differ", put("net", 1186.25)),
    ("value differs", put("zip", 2139)),
    ("value differs", put("customer", "Meier")),
    ("value differs", put("paid", False)),
    ("value differs", put("count", {"a": 1})),
]


@pytest.mark.parametrize(("kind", "change"), INJECTED)
def test_an_injected_change_lands_in_its_kind(kind, change):
    actual = copy.deepcopy(ORDER)
    change(actual)
    result = compare_json(actual, ORDER)
    # Where elements are shifted, one of them is missing or inserted.
    next_to = {"missing element", "extra element"} if kind == "shifted elements" else set()
    assert {kind} <= set(result.kinds) <= {kind} | next_to
    assert sum(each.cost for each in result.differences) == pytest.approx(1 - result.score, abs=1e-12)


def test_every_kind_of_the_docs_is_injected():
    docs = Path(__file__).parents[2].joinpath("docs", "scores.md").read_text(encoding="utf-8")
    table = docs.partition("| family | kind | applies if |\n|---|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.split("|")[2].strip() for line in table.splitlines()]
    kinds = [kind for cell in cells for kind in re.split(", (?!empty)", cell)]
    assert sorted({kind for kind, _ in INJECTED}) == sorted(set(kinds) - {"no answer"})


# -- counting ----------------------------------------------------------------------------------------------------


def test_the_leaves_of_an_element_or_array_are_one_difference():
    expected = {"rows": [{"a": at, "b": f"x{at}"} for at in range(5)]}
    actual = {"rows": expected["rows"][1:]}
    kinds = compare_json(actual, expected).kinds
    assert {kind: counts.n for kind, counts in kinds.items()} == {"shifted elements": 1}
    assert list(kinds["shifted elements"].fields) == ["rows"]
    by_rows = compare_json(actual, expected, arrays="sequence").kinds
    assert {kind: (counts.n, counts.fields) for kind, counts in by_rows.items()} == {
        "missing element": (1, {"rows[]": (1, 2 / 18)})
    }


def test_two_rows_that_share_most_are_seen_to_have_changed_places():
    expected = [{"sku": sku, "unit": "piece", "vat": 19, "shop": "north"} for sku in ("A1", "B2", "C3", "D4")]
    actual = [expected[0], expected[2], expected[1], expected[3]]
    assert list(compare_json(actual, expected).kinds) == ["order of elements"]


def test_positions_that_do_not_count_are_not_searched():
    expected = {"rows": [{"n": at} for at in range(4)]}
    actual = {"rows": [{"n": at + 1} for at in range(4)]}
    assert list(compare_json(actual, expected).kinds) == ["shifted elements"]
    assert set(compare_json(actual, expected, arrays="unordered").kinds) == {
        "missing element",
        "extra element",
    }


def test_large_arrays_are_searched_for_equal_elements():
    expected = [{"n": at, "s": f"s{at}"} for at in range(700)]
    actual = [{"n": -1, "s": ""}, *expected]
    assert next(iter(compare_json(actual, expected).kinds)) == "shifted elements"
    assert list(compare_json(expected[::-1], expected).kinds) == ["order of elements"]


def test_values_are_seen_as_they_are_compared():
    rules = {"a": {"transform": ["lowercase"]}}
    kinds = compare_json({"a": "Ä b"}, {"a": "äb"}, fields=rules).kinds
    assert list(kinds) == ["white space"]


def test_the_differences_of_a_unit_share_its_cost():
    expected = {"a": {"x": " 1", "y": "b"}, "c": 1}
    result = compare_json({"a": {"x": "1", "y": "B"}, "c": 1}, expected, metric="field_match")
    assert {kind: counts.cost for kind, counts in result.kinds.items()} == {
        "case or accents": 0.25,
        "white space": 0.25,
    }


def test_partial_scores_and_weights_count_in_costs():
    result = compare_json(
        {"a": "abcd", "b": 1, "c": 3},
        {"a": "abce", "b": None, "c": 3},
        metric="json_similarity",
        fields={"b": {"weight": 2}},
    )
    costs = {each.path: each.cost for each in result.differences}
    assert costs == pytest.approx({"a": 0.25 / 4, "b": 2 / 4})
    assert sum(costs.values()) == pytest.approx(1 - result.score)


def test_a_comparison_without_differences_or_leaves_has_no_kinds():
    assert compare_json({}, {}).kinds == {}
    assert compare_json({"a": 1}, {"a": 1}).kinds == {}
    assert compare_json({"a": 1}, {"a": 2}, fields={"a": {"weight": 0}}).kinds["value differs"].cost == 0.0
