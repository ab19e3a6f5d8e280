"""The audit of unordered arrays: second-best partners, and pairs that could as well have been others."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import compare_json, register_comparator
from pytest_jsonmatch.engine.align import audit as audits
from pytest_jsonmatch.engine.align.audited import Partner
from pytest_jsonmatch.engine.plan.registry import session_registry

OPTIONS = {"metric": "leaf_f1", "arrays": "unordered"}


def seen(actual, expected, **more):
    (audit,) = compare_json(actual, expected, **{**OPTIONS, **more}).audit()
    return [(each.expected, each.actual, each.next_actual, each.ambiguous) for each in audit.pairs]


def test_second_best_partners():
    expected = [{"n": "tea", "p": 2, "q": 1}, {"n": "milk", "p": 3, "q": 9}]
    actual = [{"n": "milk", "p": 3, "q": 1}, {"n": "tea", "p": 2, "q": 5}, {"n": "bag", "p": 0, "q": 0}]
    (audit,) = compare_json(actual, expected, **OPTIONS).audit()
    third = pytest.approx(1 / 3)
    assert [
        (each.expected, each.actual, each.next_actual.index, each.next_actual.score) for each in audit.pairs
    ] == [(0, 1, 0, third), (1, 0, None, 0.0)]
    assert (audit.unmatched_expected, audit.unmatched_actual, audit.reason) == ((), (2,), None)


def test_the_only_elements_have_no_second_best():
    assert seen([{"n": 1, "m": 3}], [{"n": 1, "m": 2}]) == [(0, 0, None, False)]


def test_a_tie_is_ambiguous():
    expected = [{"n": "tea", "p": 2}, {"n": "milk", "p": 3}]
    actual = [{"n": "tea", "p": 3}, {"n": "milk", "p": 2}]
    assert seen(actual, expected) == [(0, 0, Partner(1, 0.5), True), (1, 1, Partner(0, 0.5), True)]


def test_an_array_that_is_accepted_in_place_of_the_expected_value():
    accept = {"rows": [[{"n": 1, "m": 2}, {"n": 3, "m": 4}]]}
    actual = {"rows": [{"n": 3, "m": 4}, {"n": 1, "m": 5}]}
    (audit,) = compare_json(actual, {"rows": None}, accept=accept, **OPTIONS).audit()
    assert [(each.expected, each.actual, each.f1) for each in audit.pairs] == [(0, 1, 0.5), (1, 0, 1.0)]


def test_equal_elements_may_be_exchanged_in_peace():
    tea = {"n": "tea", "p": 2}
    assert [each[3] for each in seen([tea, tea], [tea, tea])] == [False, False]
    actual = [{"n": "tea", "p": 3}, {"n": "tea", "p": 4}]
    # Two equal ones expected, two others there: which of the equal ones meets which of these is all one.
    assert [each[3] for each in seen(actual, [tea, tea])] == [False, False]
    # Of three there one is left over: any of them could be.
    assert [each[3] for each in seen([*actual, {"n": "tea", "p": 5}], [tea, tea])] == [True, True]


def test_a_long_way_round_is_found():
    """No two may be swapped, but three in a ring."""
    expected = [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}]
    actual = [{"a": 1, "b": 4}, {"a": 3, "b": 6}, {"a": 5, "b": 2}]
    assert [each[3] for each in seen(actual, expected)] == [True, True, True]


def test_nearly_a_tie():
    expected = [{"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}]
    actual = [{"a": 1, "b": 1, "c": 2}, {"a": 2, "b": 2, "c": 1}]
    result = compare_json(actual, expected, **OPTIONS)
    (near,) = result.audit(tolerance=0.7)
    assert [(each.margin, each.ambiguous) for each in near.pairs] == [(pytest.approx(2 / 3), True)] * 2
    assert [each.ambiguous for each in result.audit()[0].pairs] == [False, False]


def test_a_margin_as_large_as_the_tolerance():
    expected = [{"a": 0, "b": 0}]
    actual = [{"a": 0, "b": 1}, {"a": 0, "b": 0, "c": 1}]
    result = compare_json(actual, expected, **OPTIONS)
    assert [each.ambiguous for each in result.audit(0.3)[0].pairs] == [True]  # 0.8 less 0.5
    assert [each.ambiguous for each in result.audit(0.29)[0].pairs] == [False]


def test_a_pair_that_is_hardly_alike_is_not_ambiguous_for_that():
    assert (
        seen([{"t": "a" * 99 + "b"}], [{"t": "b" * 100}], metric="json_similarity", extra="count")[0][3]
        is False
    )


def test_inside_paired_elements():
    expected = [{"id": 1, "tags": [[1, 2], [1, 3]]}, {"id": 2, "tags": [[7]]}]
    actual = [{"id": 2, "tags": [[7]]}, {"id": 1, "tags": [[1, 9], [1, 8]]}]
    found = {each.actual_path: each for each in compare_json(actual, expected, **OPTIONS).audit()}
    assert [(each.ambiguous, each.score) for each in found["[1].tags"].pairs] == [(True, 0.5)] * 2
    assert [each.ambiguous for each in found["$"].pairs] == [False, False]


def test_arrays_paired_by_key_or_position_have_no_audit():
    expected = {"k": [{"id": 1}], "o": [1]}
    assert compare_json(expected, expected, metric="leaf_f1", arrays={"key": "id"}).audit() == ()
    assert compare_json({"a": 1}, {"a": 1}).audit() == ()


@pytest.mark.parametrize("tolerance", [-0.1, 1.1, float("nan")])
def test_a_tolerance_is_a_number_from_0_to_1(tolerance):
    with pytest.raises(ValueError, match="it must be a number from 0 to 1"):
        compare_json([1], [1], **OPTIONS).audit(tolerance)


# -- what is not computed ----------------------------------------------------------------------------------


def test_dear_comparators_are_not_asked():
    asked = []

    def dear(expected, actual, params):
        asked.append((expected, actual))
        return 0.5

    with session_registry():
        register_comparator("dear", dear)
        result = compare_json(
            [{"n": 1, "t": "x"}, {"n": 2, "t": "y"}],
            [{"n": 2, "t": "z"}, {"n": 1, "t": "w"}],
            fields={"[].t": {"compare": "dear"}},
            **OPTIONS,
        )
        asked.clear()
        (audit,) = result.audit()
    assert (audit.reason, asked) == ("comparing them may be slow", [])
    assert [(each.f1, each.score, each.ambiguous) for each in audit.pairs] == [(0.75, None, None)] * 2


@pytest.mark.parametrize(
    ("actual", "expected", "options", "reason"),
    [
        (
            ["a1"],
            ["[a-z]1", "x"],
            {"compare": {"string": "regex"}},
            "comparing them may be slow",
        ),
        ([1], [2], {"fields": {"[]": {"skip": True}}}, "its elements are skipped"),
        (
            [{"t": {"n": 3}}, {"t": {"n": 4}}],
            [{"t": {"n": 0}}, {"t": {"n": 1}}],
            {"accept": {"[].t": [{"n": 3}]}},
            "comparing them may be slow",
        ),
    ],
)
def test_what_is_not_computed(actual, expected, options, reason):
    (audit,) = compare_json(actual, expected, **OPTIONS, **options).audit()
    assert audit.reason == reason


def test_dates_are_cheap():
    expected = [{"d": "2026-01-02", "n": 1}, {"d": "2026-01-03", "n": 2}]
    actual = [{"d": "3 January 2026", "n": 1}, {"d": "2 January 2026", "n": 2}]
    formats = {"date": {"formats": ["%Y-%m-%d", "%d %B %Y"]}}
    assert [each[3] for each in seen(actual, expected, fields={"[].d": {"compare": formats}})] == [True, True]


def test_what_is_looked_at_is_bounded(monkeypatch):
    monkeypatch.setattr(audits, "_MAX_WORK", 35)
    expected = [{"n": n, "m": n} for n in range(6)]
    actual = [{"n": n, "m": n + 5} for n in range(6)]
    (audit,) = compare_json(actual, expected, **OPTIONS).audit()
    assert (audit.reason, len(audit.pairs)) == ("it would take too long", 6)


def test_long_texts():
    expected = [{"t": chr(0x4E00 + n) * 200} for n in range(25)]
    actual = [{"t": each["t"][1:] + "x"} for each in expected]
    options = {**OPTIONS, "compare": {"string": "levenshtein"}}
    (audit,) = compare_json(actual, expected, **options).audit()
    assert [(each.score, each.next_actual) for each in audit.pairs] == [(0.995, Partner(None, 0.0))] * 25


def test_below_a_target_and_below_what_is_paired_by_key():
    expected = {"d": [{"id": 5, "t": []}, {"id": 1, "t": [[1, 1], [2, 2]]}], "x": 1}
    actual = {"d": [{"id": 1, "t": [[1, 2], [2, 1]]}], "x": 1}
    fields = {"d": {"align": {"key": "id"}}, "d[].t": {"align": "unordered"}}
    for more in ({}, {"target_key": "d"}):
        (audit,) = compare_json(actual, expected, metric="leaf_f1", fields=fields, **more).audit()
        assert (audit.expected_path, audit.actual_path) == ("d[1].t", "d[0].t")
        assert [each.ambiguous for each in audit.pairs] == [True, True]


def test_exchanges_are_bounded(monkeypatch):
    monkeypatch.setattr(audits, "_MAX_WORK", 4)  # 2 × 2 pairs of elements
    found = seen([{"n": 1, "p": 3}, {"n": 1, "p": 4}], [{"n": 1, "p": 1}, {"n": 1, "p": 2}])
    assert found == [(0, 0, Partner(1, 0.5), None), (1, 1, Partner(0, 0.5), None)]


def test_a_large_array_of_which_little_differs():
    expected = [{"n": n, "name": f"thing {n}"} for n in range(3000)]
    actual = [dict(each) for each in reversed(expected)]
    actual[0]["n"], actual[1]["n"] = actual[1]["n"], actual[0]["n"]
    (audit,) = compare_json(actual, expected, **OPTIONS).audit()
    assert audit.reason is None
    assert [each.expected for each in audit.pairs if each.ambiguous] == [2998, 2999]
    # Who has found an equal has no second best: nobody has looked.
    assert [each.next_actual for each in audit.pairs[:2998]] == [None] * 2998
    assert {each.next_actual for each in audit.pairs[2998:]} == {Partner(0, 0.5), Partner(1, 0.5)}
