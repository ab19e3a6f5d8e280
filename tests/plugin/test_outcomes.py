"""The outcome of a test: a table for each of the two decisions."""

from __future__ import annotations

import pytest

from pytest_jsonmatch.session.outcome import decide_outcome, decide_run

BELOW, XPASS, NO_ANSWER, TOLERANT, GATES = (
    "is_below",
    "is_xpass",
    "is_unanswered",
    "is_tolerant",
    "has_only_gates",
)


@pytest.mark.parametrize(
    ("phase", "outcome", "raised", "facts", "decided"),
    [
        # A test keeps the outcome of pytest,
        ("call", "passed", "", (), "passed"),
        ("call", "failed", "other", (), "failed"),
        ("call", "failed", "score", (BELOW,), "failed"),
        ("call", "skipped", "other", (BELOW,), "skipped"),
        ("setup", "failed", "other", (NO_ANSWER,), "failed"),
        ("call", "passed", "", (BELOW, XPASS), "passed"),
        # except runs of a case with `min_pass_rate`, if only their score failed,
        ("call", "failed", "score", (BELOW, TOLERANT), "tolerated"),
        ("call", "failed", "other", (BELOW, TOLERANT), "failed"),
        ("call", "failed", "score", (TOLERANT,), "failed"),
        ("teardown", "failed", "score", (BELOW, TOLERANT), "failed"),
        # and, if only gates fail a run, cases without an answer and expected failures.
        ("setup", "failed", "other", (NO_ANSWER, GATES), "passed"),
        ("call", "passed", "", (BELOW, GATES), "passed"),
        ("call", "passed", "", (BELOW, XPASS, GATES), "expected"),
        ("call", "passed", "", (XPASS, GATES), "passed"),
        ("call", "failed", "other", (BELOW, XPASS, GATES), "failed"),
        ("teardown", "passed", "", (BELOW, XPASS, GATES), "passed"),
    ],
)
def test_what_pytest_shows(phase, outcome, raised, facts, decided):
    assert decide_outcome(phase, outcome, raised, **dict.fromkeys(facts, True)) == decided


BEFORE = "failed before comparing"


@pytest.mark.parametrize(
    ("compared", "facts", "counted"),
    [
        ([True], {}, (True, "")),
        ([False], {"failed": True}, (False, "")),
        ([True], {"failed": True}, (False, "")),
        ([True, False], {"is_tolerated": True}, (False, "")),
        ([True], {"failed": True, "is_broken": True}, (False, BEFORE)),
        ([], {"failed": True}, (False, BEFORE)),
        ([], {"is_run": True}, (True, BEFORE)),
        ([], {}, None),
        ([False], {"failed": True, "error": "timed out", "is_unanswered": True}, (False, "timed out")),
        # If only gates fail a run, tests pass and cases still pass by their scores.
        ([True, True], {"has_only_gates": True}, (True, "")),
        ([True, False], {"has_only_gates": True}, (False, "")),
        ([True], {"has_only_gates": True, "failed": True}, (False, "")),
        ([], {"has_only_gates": True, "error": "timed out", "is_unanswered": True}, (False, "timed out")),
    ],
)
def test_how_a_run_of_a_case_counts(compared, facts, counted):
    assert decide_run(compared, **facts) == counted
