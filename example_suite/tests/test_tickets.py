"""Support tickets: defaults by marker, several comparisons in one test, a look at the result."""

from __future__ import annotations

import pytest
from extractor import read_ticket

from pytest_jsonmatch import assert_json_match, compare_json

# For every test of this file; a test's own arguments win.
pytestmark = pytest.mark.jsonmatch(metric="json_similarity", threshold=0.9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ticket-2201", {"customer": "Aylin Demir", "product": "Ledger 5", "priority": "urgent"}),
        ("ticket-2202", {"customer": "José", "product": None, "priority": "low"}),
        ("ticket-2203", {"customer": "Mika Virtanen", "product": "Ledger 5.2", "priority": "high"}),
    ],
)
def test_who_and_what(document, name, expected):
    assert_json_match(read_ticket(document(name)), expected)


def test_summary_and_tags(document):
    answer = read_ticket(document("ticket-2203"))
    assert_json_match(
        answer,
        {"summary": "Totals are off by a cent on every second page"},
        name="summary",
    )
    assert_json_match(
        answer,
        {"tags": ["bug", "rounding", "totals"]},
        name="tags",
        fields={"tags": {"compare": "same_tags"}},
    )


def test_most_answers_name_the_priority(document):
    # compare_json only measures; the test decides what to do with the figures. field_match ignores the
    # other keys of the answer.
    expected = {"ticket-2201": "urgent", "ticket-2202": "low", "ticket-2203": "urgent"}
    results = [
        compare_json(read_ticket(document(name)), {"priority": priority}, metric="field_match")
        for name, priority in expected.items()
    ]
    assert sum(result.score for result in results) >= 2
