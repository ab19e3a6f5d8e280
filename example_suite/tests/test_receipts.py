"""Receipts: plain tests with `assert_json_match`."""

from __future__ import annotations

import pytest
from extractor import read_receipt

from pytest_jsonmatch import JsonExtractionError, assert_json_match, extract_json


def test_prose_around_the_json(document):
    assert_json_match(
        read_receipt(document("receipt-0417")),
        {
            "shop": "Corner Bakery",
            "date": "2024-01-31",
            "currency": "EUR",
            "items": [
                {"name": "Sourdough loaf", "quantity": 2, "price": 4.2},
                {"name": "Cinnamon roll", "quantity": 1, "price": 2.6},
            ],
            "total": 11,
        },
    )


def test_near_enough(document):
    # The model writes the shop's name and the date differently, and is a cent off.
    assert_json_match(
        read_receipt(document("receipt-0418")),
        {
            "shop": "The Bookshop",
            "date": "2024-02-03",
            "currency": "GBP",
            "items": [
                {"name": "Middlemarch", "quantity": 1, "price": 12.99},
                {"name": "Bookmark", "quantity": 3, "price": 1.5},
            ],
            "total": 17.49,
        },
        threshold={"score": 0.98, "fields": {"items[].price": 1.0}},
        fields={
            "date": {"compare": {"date": {"formats": ["%Y-%m-%d", "%d %B %Y"]}}},
            "currency": {"transform": ["lowercase"]},
            "total": {"tolerance": 0.05},
        },
    )


def test_accents_do_not_matter(document, assert_json_match):
    # The fixture of the same name does what the import does.
    assert_json_match(
        read_receipt(document("receipt-0419")),
        {"shop": "Café São Bento", "currency": "EUR", "cashier": "João"},
        metric="field_match_normalized",
    )


def test_a_truncated_answer_is_an_error(document):
    # Half a receipt is worth nothing: an answer that was cut off is never used.
    with pytest.raises(JsonExtractionError, match="ends inside an object"):
        extract_json(read_receipt(document("receipt-0420")))
