"""Pairs of unordered arrays as text."""

from __future__ import annotations

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.pairs import pair_lines
from pytest_jsonmatch.report.styled import line_text

EXPECTED = {
    "items": [{"n": "bread", "p": 1}, {"n": "milk", "p": 2}, {"n": "eggs", "p": 3}, {"n": "a b c", "p": 4}]
}
ACTUAL = {
    "items": [{"n": "eggs", "p": 3}, {"n": "bread", "p": 2}, {"n": "milk", "p": 1}, {"n": "bag", "p": 9}]
}


def text(actual, expected, *, metric="pairwise_f1", verbosity=0, unicode=True, width=80, **options):
    audits = compare_json(actual, expected, metric=metric, **options).audit()
    return [
        line_text(line)
        for line in pair_lines(audits, Look(unicode=unicode, width=width), verbosity=verbosity)
    ]


def test_what_is_not_right():
    assert text(ACTUAL, EXPECTED) == [
        "pairs of items (expected ↔ actual)",
        "  items[0] ↔ items[1]  F1 0.50, next best 0.50 (items[2]), ambiguous: a tie",
        "  items[1] ↔ items[2]  F1 0.50, next best 0.50 (items[1]), ambiguous: a tie",
        "  items[3] only in expected",
        "  items[3] only in actual",
    ]


def test_all_of_it():
    assert text(ACTUAL, EXPECTED, verbosity=2)[3] == "  items[2] ↔ items[0]  F1 1.00"


def test_all_well():
    assert text(EXPECTED, EXPECTED) == []
    assert text({"items": EXPECTED["items"][1:]}, EXPECTED) == []  # the table of the fields says who is alone


def test_nearly_a_tie_and_a_score_that_is_no_f1():
    expected = [{"a": "x" * 100, "b": 1}, {"a": "x" * 99 + "y", "b": 2}]
    actual = [{"a": "x" * 100}, {"a": "x" * 99 + "y"}]
    assert text(actual, expected, metric="json_similarity", arrays="unordered")[1:] == [
        "  [0] ↔ [0]  F1 0.67, score 0.50, next best 0.49 ([1]), ambiguous: another pairing totals 0.01 less",
        "  [1] ↔ [1]  F1 0.67, score 0.50, next best 0.49 ([0]), ambiguous: another pairing totals 0.01 less",
    ]


def test_only_ascii():
    assert text([["\u202eé", 2]], [["\u202eé", 1]], unicode=False)[1] == "  [0] <-> [0]  F1 0.50"
    lines = text({"\u202e\x1b[31mé": [[1, 2]]}, {"\u202e\x1b[31mé": [[1, 3]]}, unicode=False)
    assert all(line.isascii() and line.isprintable() for line in lines)


def test_long_lists_are_cut_and_what_is_unsure_is_kept():
    expected = [{"n": n, "m": 1, "k": -1 - n} for n in range(30)]
    expected += [{"n": 90, "m": 3, "k": 91}, {"n": 91, "m": 3, "k": 90}]
    actual = [{"n": n, "m": 2, "k": 170 + n} for n in range(30)]
    actual += [{"n": 90, "m": 4, "k": 790}, {"n": 191, "m": 4, "k": 91}]
    lines = text(actual, expected, metric="leaf_f1", arrays="unordered")
    assert [line for line in lines if "ambiguous" in line] == [
        "  [30] ↔ [31]  F1 0.33, next best 0.33 ([30]), ambiguous: a tie"
    ]
    assert (len(lines), lines[-1]) == (12, "  … and 23 pairs more")


def test_many_arrays_are_cut():
    expected = {f"a{n}": [{"n": n, "m": 1}] for n in range(6)}
    actual = {f"a{n}": [{"n": n, "m": 2}] for n in range(6)}
    lines = text(actual, expected, metric="leaf_f1", arrays="unordered")
    assert (len(lines), lines[-1]) == (9, "… and pairs of 2 more arrays")
    assert len(text(actual, expected, metric="leaf_f1", arrays="unordered", verbosity=1)) == 12


def test_what_was_not_computed_is_said():
    lines = text([["a2"], ["b3"]], [["a1", "[a-z]2"]], compare={"string": "regex"})
    assert lines[:2] == [
        "pairs of $ (expected ↔ actual)",
        "  next best and ambiguous pairs not computed: comparing them may be slow",
    ]


def test_paths_of_any_length_fit():
    expected = {"k" * 300: [{"n": "bread", "p": 1}, {"n": "milk", "p": 2}]}
    actual = {"k" * 300: [{"n": "milk", "p": 1}, {"n": "bread", "p": 2}]}
    assert max(map(len, text(actual, expected, width=80))) < 130
