"""Gates on numbers of studies."""

from __future__ import annotations

import pytest

from pytest_jsonmatch.cli.studies import check_study_gate
from pytest_jsonmatch.gate.expressions import GateError, parse_gate

STATISTICS = {"auroc", "ece"}
BY_FIELD = {"total": {"auroc": 0.9}, "items[].price": {"auroc": 0.7}, "date": {"auroc": None}}


def check(text):
    found = check_study_gate(parse_gate(text, STATISTICS), {"auroc": 0.8, "ece": None}, BY_FIELD)
    return found.passed, found.value, found.note


def test_of_all_values():
    assert check("auroc >= 0.8") == (True, 0.8, "")
    assert check("auroc > 0.8") == (False, 0.8, "")


def test_a_gate_on_a_missing_statistic_fails():
    assert check("ece <= 1") == (False, None, "this data has no ece")
    assert check('fields["date"].auroc > 0') == (False, None, "date has no auroc")


def test_of_fields_every_one_has_to_hold():
    assert check('fields["total"].auroc > 0.8') == (True, 0.9, "")
    assert check('fields["**.price"].auroc > 0.8') == (False, 0.7, "")
    assert check('fields["*"].auroc > 0.8') == (False, None, "date has no auroc")
    assert check('fields["totl"].auroc > 0.8') == (False, None, "no field matches; did you mean 'total'?")


def test_the_lowest_of_several_fields_is_shown():
    by_field = {"a": {"auroc": 0.7}, "b": {"auroc": 0.6}, "c": {"auroc": 0.9}}
    found = check_study_gate(parse_gate('fields["*"].auroc >= 0.8', STATISTICS), {}, by_field)
    assert (found.passed, found.value, found.note) == (False, 0.6, "b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("aurok > 1", "unknown statistic 'aurok'; did you mean 'auroc'?"),
        ("f1 > 0.5", "unknown statistic 'f1'; known: auroc, ece"),
        (
            'cases["x"].auroc > 0.5',
            "a gate on a study selects fields[…] only, not tags, cases, rows or micro",
        ),
        ("auroc", "expected one of >=, <=, ==, !=, >, <, but the gate ends here"),
        ("auroc > 0.5 proven", "expected the end of the gate, not 'proven'"),
        ('fields["a..b"].auroc > 0', "'a..b' is not a path pattern"),
    ],
)
def test_what_is_not_a_gate_of_a_study(text, reason):
    with pytest.raises(GateError) as error:
        parse_gate(text, STATISTICS)
    assert str(error.value).startswith(reason)
