"""Why two values do not match, in a few words, and the kind of their difference."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_jsonmatch import MISSING
from pytest_jsonmatch.engine.comparators.explain import explain, explain_match
from pytest_jsonmatch.engine.comparators.kinds import FAMILIES, KINDS, find_kind

NAN, INF = float("nan"), float("inf")
_TWO_READINGS = "set '{1}': {0} has two readings, compared as text"
_NEITHER = "neither is a phone number with a country code; "


@pytest.mark.parametrize(
    ("name", "params", "expected", "actual", "reason"),
    [
        ("exact", {}, "30", 30, "number as text"),
        ("exact", {}, False, "false", "boolean as text"),
        ("binary", {}, "True", True, "boolean as text"),
        ("exact", {}, None, "x", "extra value"),
        (None, {}, [1], {"a": 1}, "array against object"),
        ("mine", {}, True, 1, "boolean against number"),
        ("mine", {}, "a", "b", None),
        ("exact", {}, 1, NAN, "not a number (NaN)"),
        ("relative", {}, 1, INF, "an infinity is not a JSON number"),
        ("exact", {}, True, False, None),
        ("exact", {}, MISSING, 1, None),
        ("exact", {}, 50, 51.2, "2.4 % off"),
        ("exact", {"strict_number_type": True}, 42, 42.0, "integer against float"),
        ("relative", {}, 20.3, 20.5, "few characters differ, 0.99 % off"),
        ("relative", {}, 0, 5, "5 off"),
        ("relative", {}, 10, 35, "250 % off"),
        # Whole numbers that may be codes have no percentage.
        ("exact", {}, 404, 405, "few characters differ"),
        ("exact", {}, 404, 410, None),
        ("exact", {}, 200, 503, None),
        ("relative", {}, 2024, 2031, None),
        ("exact", {}, 12_345, 54_322, None),
        ("exact", {}, 404, -404, "sign or decimal point"),
        ("exact", {}, 404.0, 410, "1.5 % off"),
        ("exact", {}, 404, 41_000, "10049 % off"),
        ("numeric", {"tolerance": {"rel": 0.01}}, 404, 410, "1.5 % off (limit 1 %)"),
        ("relative", {}, 1, 1e12, "1e14 % off"),
        ("relative", {}, 2**53, 2**53 + 1, "few characters differ"),
        ("relative", {}, Decimal("1e999999999"), 3, "100 % off"),
        ("relative", {}, 3, Decimal("3e999999999"), "1e1000000001 % off"),
        ("numeric", {"tolerance": {"abs": 0.1}}, 1, 1.5, "0.5 off (limit 0.1)"),
        ("numeric", {"tolerance": {"abs": 0.1}}, 1, 1.10001, "rounded number, 0.10001 off (limit 0.1)"),
        ("numeric", {"tolerance": {"abs": 100}}, 0, 250, "250 off (limit 100)"),
        ("numeric", {"tolerance": {"rel": 0.01}}, 100, 102.4, "2.4 % off (limit 1 %)"),
        ("numeric", {"tolerance": {"rel": 0.05}}, 1000, 1123.4, "12 % off (limit 5 %)"),
        ("numeric", {"tolerance": {"rel": 0.01}}, 0, 2, "2 off (limit 0.01)"),
        (
            "numeric",
            {"tolerance": {"rel": 0.01, "abs": 9}},
            100,
            105,
            "5 % off (limit 1 %)",
        ),
        ("numeric", {}, "42", 43, "2.4 % off"),
        ("numeric", {}, "many", 43, "string against number"),
        ("threshold", {"threshold": 0.1}, 1, 1.5, "0.5 off (limit 0.1)"),
        ("threshold", {"threshold": 0.1}, 1, 1.05, "rounded number, 5 % off"),
        ("threshold", {"threshold": 0.1}, 1, "1", "number as text"),
        ("levenshtein", {}, "kitten", "sitten", "few characters differ"),
        ("levenshtein", {}, "kitten", "sitting", "3 edits"),
        ("exact", {}, "Berlin", "berlin", "case or accents"),
        ("exact", {}, "Zürich", "Zurich", "case or accents"),
        ("exact", {}, "a b", "a  b", "white space"),
        ("exact", {}, "a, b", "a b", "punctuation"),
        ("exact", {}, "Zürich", "ZURICH", "case or accents"),
        ("exact", {}, "\u00e9", "e\u0301", "typographic form"),
        ("exact", {}, "Ann Lee", "Lee Ann", "word order differs"),
        ("exact", {}, "!", "?", "1 edit"),
        ("exact", {}, 12.5, 125, "sign or decimal point, 900 % off"),
        ("exact", {}, "Main Street 4, Bath", "Main Street", "shorter text"),
        ("exact", {}, "2026-03-04", "4 March 2026", "date in another form"),
        ("exact", {}, "2026-03-04", "03/04", "part of a date"),
        ("exact", {}, ["a"], "a", "wrapped value"),
        ("exact", {}, "abc", "", "missing value"),
        ("jaccard", {}, "a b c", "a d", "1 of 4 words shared"),
        ("jaccard", {}, "a", "", "0 of 1 word shared"),
        ("jaccard", {}, "a b", "b A", None),
        ("levenshtein", {}, "a", "a", None),
        ("threshold", {"threshold": 1e-300}, 1, 1.5, "0.5 off (limit 1e-300)"),
        ("jaccard", {"tokenizer": list}, "ab", "bc", None),
        ("normalized_text", {}, "Zürich", "zurick", "few characters differ"),
        ("normalized_text", {}, ["A"], ["b"], None),
        ("normalized_text", {}, 1, 2, "100 % off"),
        ("oneof", {"values": [1, 2, 3]}, 1, "x", "not among the accepted values"),
        ("oneof", {"values": ["a"]}, "a", None, "not among the accepted values"),
        ("oneof", {"groups": [["a", "b"]]}, "a", "c", "not a synonym of the expected value"),
        ("date", {}, "2026-01-31", "2026-02-03", "3 days off"),
        ("date", {}, "2026-01-31", "2026-01-30", "1 day off"),
        ("date", {}, "2026-01-31T10:00", "2026-01-31T12:00", "2 hours off"),
        ("date", {}, "2026-01-31T10:00:00", "2026-01-31T10:00:07", "7 s off"),
        (
            "date",
            {},
            "2026-01-31T10:00",
            "2026-01-31T10:00Z",
            "only one has a time zone; 'precision: day' ignores it",
        ),
        ("date", {}, "2026-01-31", "soon", "not a date"),
        ("date", {}, "soon", "2026-01-31", "expected is not a date"),
        ("date", {}, "2026-01-31", None, "missing value"),
        ("date", {"precision": "year"}, "2026", "2024-05-01", "610 days off"),
        ("date", {"precision": "month"}, "2026-01", "2025-12-31", "1 day off"),
        ("date", {"precision": "day"}, "2026-01-31T10:00", "2026-02-03", "3 days off"),
        ("date", {}, "soon", "later", "neither is a date; 5 edits"),
        ("date", {}, "2026-04-03", "03/04/2026", _TWO_READINGS.format("actual", "order")),
        ("date", {}, "03/04/2026", "2026-04-03", _TWO_READINGS.format("expected", "order")),
        ("date", {"order": "mdy"}, "2026-04-03", "03/04/2026", "30 days off"),
        ("date", {}, "2026-04-03", "31/31/2026", "not a date"),
        ("date", {"formats": ["%Y"]}, "2026", "03/04/2026", "not a date"),
        ("amount", {}, "5 EUR", "$5", "EUR against $"),
        ("amount", {}, "100 EUR", 102, "2 % off"),
        ("amount", {"tolerance": {"abs": 0.1}}, "1,5 €", 1, "0.5 off (limit 0.1)"),
        ("amount", {}, 1234, "1,234", _TWO_READINGS.format("actual", "decimal")),
        ("amount", {}, "1.234 €", "1234 €", _TWO_READINGS.format("expected", "decimal")),
        ("amount", {"decimal": ","}, 1234, "1,234", "100 % off"),
        ("amount", {}, "5", "five", "not an amount"),
        ("amount", {}, 5, "five", "not an amount"),
        ("amount", {}, 5, True, "number against boolean"),
        ("amount", {}, "five", "5", "expected is not an amount"),
        ("amount", {}, "5 kg", "6 kg", "neither is an amount; 1 edit"),
        ("amount", {}, 5, None, "missing value"),
        ("amount", {}, 5, NAN, "not a number (NaN)"),
        ("phone", {"region": "DE"}, "030 123456", "030 123457", "few characters differ"),
        ("phone", {"region": "DE"}, "030 123456", "n/a", "not a phone number"),
        ("phone", {}, "+4930123456", "030 123456", "not a phone number with a country code"),
        ("phone", {}, "030 123456", "030123456", _NEITHER + "white space"),
        ("identifier", {"kind": "iban"}, "DE89370400440532013000", "DE8937", "not a valid iban"),
        ("identifier", {"kind": "iban"}, "DE1", "DE2", "neither is a valid iban; 1 edit"),
        ("identifier", {"kind": "nothing"}, "DE1", "DE2", None),
        ("regex", {}, "a+", "b", "does not match the pattern"),
        ("regex", {}, "a+", 1, "string against number"),
        ("contains", {}, "cat", "dog", "does not contain the expected value"),
        ("contains", {}, 1, [2], "does not contain the expected value"),
        ("contains", {}, {"a": 1}, {}, "does not contain the expected value"),
        ("contains", {}, "1", 1, "number as text"),
        ("exact", {}, [1, 2], [1], None),
        ("exact", {}, {"a": 1, "b": 2}, {"a": 2, "c": 4}, None),
        ("numeric", {"tolerance": "x"}, 1, 2, None),
    ],
)
def test_explain(name, params, expected, actual, reason):
    assert explain(name, params, expected, actual) == reason


def test_long_texts_are_not_searched_for_edits():
    assert explain("exact", {}, "a" * 30_000, "b" * 30_000) == "30,000 characters against 30,000"


@pytest.mark.parametrize(
    ("name", "params", "expected", "actual", "reason"),
    [
        ("exact", {}, "a", "a", None),
        ("oneof", {"groups": [["a", "b"]]}, "a", "a", None),
        ("oneof", {"groups": [["a", "b"]]}, "a", "b", "not equal, but accepted by the list of oneof"),
        ("date", {}, "2026-01-31", "31 Jan 2026", None),
        ("date", {}, "soon", "soon", "equal, though not a date"),
        ("date", {}, None, None, None),
        ("date", {}, "03/04/2026", "03/04/2026", "equal as text; set 'order': it has two readings"),
        ("amount", {}, "1,234", "1,234", "equal as text; set 'decimal': it has two readings"),
        ("amount", {}, "n/a", "n/a", "equal, though not an amount"),
        ("phone", {}, "030 1", "030 1", "equal, though not a phone number with a country code"),
        ("identifier", {"kind": "isbn"}, "0-306-40615-3", "0-306-40615-3", "equal, though not a valid isbn"),
        ("identifier", {"kind": "nothing"}, "a", "a", None),
    ],
)
def test_explain_match(name, params, expected, actual, reason):
    assert explain_match(name, params, expected, actual) == reason


# -- kinds of differences ---------------------------------------------------------------------------------


def test_all_kinds_have_a_family():
    assert sorted(kind for kinds in FAMILIES.values() for kind in kinds) == sorted(KINDS)


@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        ("", None, "null, empty or absent"),
        ({}, MISSING, "null, empty or absent"),
        ("none", "x", "extra value"),
        ("-", "--", "null, empty or absent"),
        ("0", None, "missing value"),
        (0, None, "zero for null"),
        ("02139", 2139, "value differs"),
        (2139.0, "2139", "number as text"),
        (False, "False", "number as text"),
        (True, 1, "value differs"),
        (1e3, "1000", "number as text"),
        (["a"], "a", "wrapped value"),
        (["a"], "b", "value differs"),
        ([1, 2], "[1, 3]", "wrapped value"),
        ([1, 2], "[redacted]", "value differs"),
        ("1.234,50", "1234.5", "amount in another form"),
        ("1,234.50", "1234.5", "amount in another form"),
        ("$ 5", "5 EUR", "value differs"),
        ("2026-03-04", "2026-04-03", "value differs"),
        ("2026-03-04T00:00:00", "4.3.2026", "date in another form"),
        ("2026-03-04", "3/4/26", "part of a date"),
        ("3' - 0\"", '3" - 0"', "few characters differ"),
        ("a, b", "a b", "punctuation"),
        ("10 %", "10", "value differs"),
        ("!", "?", "value differs"),
        ("abcde", "abcdef", "few characters differ"),
        ("ab", "abcd", "longer text"),
        (7, 70, "value differs"),
        (12, 120, "sign or decimal point"),
        (7, -7, "sign or decimal point"),
        (7.4, 7, "rounded number"),
        (404, 405, "few characters differ"),
        (44, 45, "value differs"),
        (1, NAN, "value differs"),
        (INF, 1, "value differs"),
        (10**3000, 10**3000 + 1, "value differs"),
        (12345678901234567890123456789012345, 12345678901234567890123456789012346, "few characters differ"),
        (0, 5, "value differs"),
        ("a" * 30_000, "b" * 30_000, "value differs"),
        ("x" + "a" * 20_000, "a" * 20_000 + "y", "few characters differ"),
    ],
)
def test_the_kind_of_two_values(expected, actual, kind):
    assert find_kind(expected, actual) == kind
    swapped = {"missing value": "extra value", "shorter text": "longer text"}
    swapped |= {other: one for one, other in swapped.items()}
    assert find_kind(actual, expected) == swapped.get(kind, kind)
