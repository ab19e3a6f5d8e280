"""Where two strings differ."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch.report.textdiff import spans
from tests.laws import law

MARKS = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}


@pytest.mark.parametrize(
    ("expected", "actual", "marked"),
    [
        ("completed successfully", "completed sucessfully", "completed suc[-c-]essfully"),
        ("Acme Inc.", "Acme Incorporated", "Acme Inc[-.-]{+orporated+}"),
        ("The quick brown fox", "The quick red fox jumps", "The quick [-brown-]{+red+} fox{+ jumps+}"),
        ("1 Main St, Springfield", "1 Main Street, Springfeild", "1 Main St{+reet+}, Springf[-ie-]{+ei+}ld"),
        ("INV-2024-0017", "INV-2024-0071", "INV-2024-00[-17-]{+71+}"),
        ("2024-01-31", "2024-02-01", "2024-0[-1-3-]{+2-0+}1"),
        ("paid", "open", "[-paid-]{+open+}"),
        ("", "new", "{+new+}"),
        ("same", "same", "same"),
        ("", "", ""),
    ],
)
def test_words_first_then_characters(expected, actual, marked):
    assert "".join(MARKS[kind].format(text) for kind, text in spans(expected, actual)) == marked


@law(st.text("ab ,é", max_size=40), st.text("ab ,é", max_size=40))
def test_both_texts_can_be_read_back(expected, actual):
    found = spans(expected, actual)

    assert "".join(text for kind, text in found if kind != "+") == expected
    assert "".join(text for kind, text in found if kind != "-") == actual


@law(st.text("ab ", max_size=20), st.text("ab ", max_size=20))
def test_what_is_shared_and_what_is_not_take_turns(expected, actual):
    kinds = "".join(kind for kind, _ in spans(expected, actual))

    assert all(pair not in kinds for pair in ("==", "--", "++", "+-"))


def test_megabytes_that_differ_everywhere_are_one_change():
    assert spans("a" * 1_000_000, "b" * 1_000_000) == [("-", "a" * 1_000_000), ("+", "b" * 1_000_000)]


def test_megabytes_that_differ_in_one_letter_show_that_letter():
    same = "x" * 1_000_000

    assert spans(f"{same}a{same}", f"{same}b{same}") == [("=", same), ("-", "a"), ("+", "b"), ("=", same)]
