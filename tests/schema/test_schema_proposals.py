"""`annotate_xeval(schema, gold)`: rules that all gold values allow."""

from __future__ import annotations

import sys

import pytest

from pytest_jsonmatch import compare_corpus
from pytest_jsonmatch.schema import annotate_xeval, infer_schema, validate_gold


def proposed(values):
    """The field that is inferred from these values, annotated, without its type."""
    gold = [{"x": value} for value in values]
    field = annotate_xeval(infer_schema(gold), gold)["properties"]["x"]
    return {key: value for key, value in field.items() if key not in {"type", "items"}}


@pytest.mark.parametrize(
    ("values", "compare"),
    [
        (["2024-03-01", "2024-03-02", "3 Apr 2024"], "date"),
        (["2024-03-01", None, "2024-03-02", "2024-03-03"], "date"),
        (["13/04/2024", "25/04/2024", "17.04.2024"], "date"),
        (["03/04/2024", "25/04/2024", "01/12/2024"], {"date": {"order": "dmy"}}),
        (["03/04/2024", "04/25/2024", "01/12/2024"], {"date": {"order": "mdy"}}),
        (["$5.00", "$1,000.50", "12"], "amount"),
        (["$5.00", "$1,000", "12"], {"amount": {"decimal": "."}}),
        (["12,34,567.5 $", "$1,000", "12"], {"amount": {"decimal": "."}}),
        (["5,00 EUR", "1.000 EUR", "12"], {"amount": {"decimal": ","}}),
        (["+49 30 123456", "+1 202 555 0123", "+49 30 123457"], "phone"),
        (
            ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "NL91ABNA0417164300"],
            {"identifier": {"kind": "iban"}},
        ),
        (["9780306406157", "0-306-40615-2", "9783161484100"], {"identifier": {"kind": "isbn"}}),
    ],
)
def test_a_comparator_that_all_values_allow(values, compare):
    field = proposed(values)
    assert field["x-eval-compare"] == compare
    assert field["$comment"].startswith("proposed: all 3 values are ")


@pytest.mark.parametrize(
    "values",
    [
        ["2024-03-01", "2024-03-02", "soon"],
        ["2024-03-01", "2024-03-01", "2024-03-02"],  # two are no evidence
        ["20240301", "20240302", "20240303"],  # numbers of something, maybe
        ["2024", "2025", "2026"],
        ["1.10", "1.2", "1.3"],  # versions, maybe
        ["R1", "R2", "R3"],  # rand, and anything else
        ["030 123456", "030 123457", "030 123458"],
        ["10115", "10117", "10119"],
        ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "NL91ABNA0417164301"],
        ["2024-03-01", "2024-03-02", 20240303],
    ],
)
def test_nothing_is_proposed_where_one_value_does_not_fit(values):
    assert proposed(values) in ({"x-eval-compare": "exact"}, {})


@pytest.mark.parametrize(
    ("values", "comment"),
    [
        (
            ["03/04/2024", "05/04/2024", "01/12/2024"],
            "dates, but '03/04/2024' can be read in two ways: compare with 'date' once you know which 'order' is right",
        ),
        (
            ["1,000 €", "2,500 €", "3,000 €"],
            "amounts, with currencies, but '1,000 €' can be read in two ways: compare with 'amount' once you know which 'decimal' is right",
        ),
    ],
)
def test_a_choice_is_left_to_people(values, comment):
    assert proposed(values) == {"x-eval-compare": "exact", "$comment": f"all 3 values are {comment}"}


def test_an_enumeration():
    statuses = ["open", "closed"] * 5
    assert proposed(statuses) == {
        "enum": ["closed", "open"],
        "$comment": "proposed: 10 values are only 2 different ones",
        "x-eval-compare": "binary",
    }
    assert proposed([*statuses, None])["enum"] == ["closed", "open", None]
    assert "enum" not in proposed(statuses[:-1])
    assert "enum" not in proposed([{"of": statuses}])["properties"]["of"]["items"]  # all in one record
    assert "enum" not in proposed(["EUR"] * 10)


def rows(*names, arrays=2, size=3):
    return [[{name: f"{name} {at}" for name in names} | {"price": 1.5} for at in range(size)]] * arrays


@pytest.mark.parametrize(
    ("arrays", "align", "comment"),
    [
        (rows("sku"), "sku", "proposed: the elements of each array (2) differ in 'sku'"),
        (
            rows("name", "lineNo"),
            "lineNo",
            "proposed: the elements of each array (2) differ in 'name', 'lineNo'",
        ),
        (
            rows("id", "code"),
            None,
            "the elements of each array (2) differ in 'id', 'code': if one of them identifies an element, make it the key",
        ),
        (
            rows("name"),
            None,
            "the elements of each array (2) differ in 'name': if one of them identifies an element, make it the key",
        ),
        (rows(), None, None),
        (rows("sku", size=1, arrays=20), None, None),
        (rows("sku", arrays=1, size=9), None, None),
        ([*rows("sku"), [{"sku": "a"}, {"sku": "a"}]], None, None),
        ([*rows("sku"), [{"sku": None}]], None, None),
        ([*rows("sku"), [{}]], None, None),
        ([*rows("sku"), ["a"]], None, None),
    ],
)
def test_the_key_of_an_array(arrays, align, comment):
    field = proposed(arrays)
    assert field.get("x-eval-align") == (align and {"match_by": "key_field", "key": align})
    assert field.get("$comment") == comment


def test_rules_that_are_there_stay():
    days = ["2024-03-01", "2024-03-02", "2024-03-03"]
    schema = {
        "properties": {
            "a": {"type": "string", "x-eval-compare": "levenshtein"},
            "b": {"type": "string", "x-eval-skip": True},
            "c": {"type": "string", "$comment": "as printed"},
            "d": {"type": "array", "x-eval-align": {"ordered": True}, "items": {"type": "object"}},
            "e": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        }
    }
    gold = [dict.fromkeys("abce", day) | {"d": rows("sku", size=6)[0]} for day in days]
    properties = annotate_xeval(schema, gold)["properties"]
    assert properties["a"] == {"type": "string", "x-eval-compare": "levenshtein"}
    assert properties["b"] == {"type": "string", "x-eval-skip": True}
    assert properties["c"]["$comment"] == "as printed; proposed: all 3 values are dates"
    assert properties["d"]["x-eval-align"] == {"ordered": True}
    assert "$comment" not in properties["e"]


def test_gold_fits_its_proposals_and_matches_itself():
    gold = [
        {"when": f"0{at}/25/2024", "sum": f"{at},000.5 USD", "state": "ab"[at % 2], "rows": rows("sku")[0]}
        for at in range(1, 10)
    ]
    schema = annotate_xeval(infer_schema(gold), iter(gold))
    validate_gold(gold, schema)
    assert compare_corpus(gold, gold, schema=schema, validate="report").micro_f1 == 1.0
    other = [
        record | {"when": record["when"].replace("/", "-"), "rows": record["rows"][::-1]} for record in gold
    ]
    assert compare_corpus(other, gold, schema=schema).micro_f1 == 1.0


def test_without_an_extra_its_comparator_is_not_proposed(monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    assert proposed(["+49 30 123456", "+1 202 555 0123", "+49 30 123457"]) == {"x-eval-compare": "exact"}
