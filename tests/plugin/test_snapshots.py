"""Snapshots of inline-snapshot as expected: it writes them by its own options. syrupy's fixture gets a message."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import InvalidExpectedError, UnsupportedValueError, compare_json

SUITE = """\
from datetime import date
from unittest.mock import ANY

from dirty_equals import IsInt, IsUUID
from inline_snapshot import Is, snapshot
from pytest_jsonmatch import assert_json_match, compare_json

ANSWER = {"id": 7, "total": 19.990000000000002, "day": "2026-01-31", "tags": ["b", "a"], "state": "open"}
RULES = {"arrays": "unordered", "fields": {"total": {"tolerance": 0.01}}}


def test_right():
    assert_json_match(
        ANSWER,
        snapshot({"id": IsInt(), "total": 19.99, "day": date(2026, 1, 31), "tags": ["a", "b"], "state": "open"}),
        **RULES,
    )
    assert compare_json(ANSWER, snapshot({"id": ANY}), extra="ignore").score == 1.0


def test_new():
    assert_json_match('Sure: {"n": 1}', snapshot())


def test_wrong():
    assert_json_match(
        ANSWER,
        snapshot({"id": IsInt(), "total": 19.99, "day": date(2026, 1, 31), "tags": ["a", "c"], "state": "paid"}),
        **RULES,
    )


def test_nested():
    assert_json_match(ANSWER, {**ANSWER, "id": ANY, "state": snapshot("paid"), "total": snapshot()})


def test_variable():
    number = 7
    for _ in range(2):
        assert_json_match({"n": 7, "m": 1}, snapshot({"n": Is(number), "m": 2}))


def test_matcher():
    assert_json_match({"n": 1, "m": [1, 2]}, snapshot({"n": IsUUID(), "m": [1]}))
"""
WRITTEN = (
    ("'Sure: {\"n\": 1}', snapshot()", "'Sure: {\"n\": 1}', snapshot({'n': 1})"),
    ('"tags": ["a", "c"], "state": "paid"', """"tags": ["a", 'b'], "state": 'open'"""),
    ('snapshot("paid")', "snapshot('open')"),
    ('"total": snapshot()', '"total": snapshot(19.990000000000002)'),
    ('"m": 2}', '"m": 1}'),
    ('"m": [1]}', '"m": [1, 2]}'),
)


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the suite with inline-snapshot in a process of its own, since it keeps its state in modules."""
    pytest.importorskip("inline_snapshot")
    pytest.importorskip("dirty_equals")
    monkeypatch.delenv(
        "PYTEST_XDIST_WORKER", raising=False
    )  # under pytest-xdist inline-snapshot writes nothing
    path = pytester.path / "test_it.py"
    path.write_text(SUITE, "utf-8")

    def run(*arguments):
        result = pytester.runpytest_subprocess("-p", "inline_snapshot", "-p", "no:cacheprovider", *arguments)
        return result, path.read_text("utf-8")

    return run


def test_snapshots_are_compared_and_only_wrong_values_are_written(run):
    result, text = run("--inline-snapshot=report")
    assert text == SUITE
    result.assert_outcomes(
        passed=2, failed=4, errors=5
    )  # inline-snapshot's errors: what is not there, or wrong
    result.stdout.fnmatch_lines('E *AssertionError: tags[[]1] "c" → (missing), 2 more (leaf_f1 0.67 < 1.00)')
    result, text = run("--inline-snapshot=create,fix")
    result.assert_outcomes(passed=5, failed=1, errors=5)
    expected = SUITE
    for old, new in WRITTEN:
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert text == expected
    result, text = run("--inline-snapshot=report")
    result.assert_outcomes(passed=5, failed=1, errors=1)  # a matcher that does not match stays
    assert text == expected
    result, _ = run("--inline-snapshot=disable")  # as in CI
    result.assert_outcomes(passed=5, failed=1)


def test_what_is_wrong_is_reported(run, pytester):
    pytester.path.joinpath("test_it.py").write_text(
        """\
import inline_snapshot
from inline_snapshot import snapshot
from pytest_jsonmatch import assert_json_match, compare_json

def test_swapped():
    assert_json_match(snapshot({"n": 1}), {"n": 1})

def test_no_value():
    compare_json({"n": 1}, {"n": snapshot()})

def test_old(monkeypatch):
    monkeypatch.setattr(inline_snapshot, "__version__", "0.20.1")
    monkeypatch.delattr(inline_snapshot, "get_snapshot_value")
    assert_json_match(1, snapshot(1))
""",
        "utf-8",
    )
    result, _ = run("--inline-snapshot=report", "--tb=line")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "*: actual has a snapshot (UndecidedValue) at $, but snapshots belong in expected; are the two *swapped?",
            "*: expected has at n a snapshot without a value; assert_json_match creates it, with --inline-snapshot=create",
            "*: inline-snapshot must be 0.34 or newer, got 0.20.1; upgrade it",
        ]
    )


def test_the_fixture_of_syrupy_names_the_remedy():
    snapshot = type("SnapshotAssertion", (), {"__module__": "syrupy.assertion"})()
    with pytest.raises(InvalidExpectedError) as caught:
        compare_json({"a": 1}, {"a": snapshot})
    assert str(caught.value) == (
        "expected has a SnapshotAssertion of syrupy at a: compare with it by assert actual == snapshot; "
        "for scores and rules give the fixture expected_json instead, a file that --jsonmatch-update=new writes"
    )
    with pytest.raises(
        UnsupportedValueError, match=r"^actual has a snapshot \(SnapshotAssertion\) at \$, but "
    ):
        compare_json(snapshot, 1)
