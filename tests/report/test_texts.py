"""Texts and numbers as reports show them: printable, cut to their room, differences marked, numbers not misleading."""

from __future__ import annotations

import math
import unicodedata
from functools import partial

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, pad, printable
from pytest_jsonmatch.report.formatting import limit_texts, score_text
from pytest_jsonmatch.report.textdiff import spans
from tests.laws import law

clip_start = partial(clip, head=0)

ANY_TEXT = st.text(st.characters(exclude_categories=()))
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("red \x1b[31m text", r"red \x1b[31m text"),
        ("line\nbreak\ttab\rreturn\x00", r"line\nbreak\ttab\rreturn\x00"),
        ("C1 \x9b31m", r"C1 \x9b31m"),
        ("bidi \u202ecba\u202c \u2066x\u2069", r"bidi \u202ecba\u202c \u2066x\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028separator\u2029", r"line\u2028separator\u2029"),
        ("lone \ud83d surrogate", r"lone \ud83d surrogate"),
        ("no-break\xa0space", r"no-break\xa0space"),
        ("variation \u2764\ufe0f", "variation \u2764\\ufe0f"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("blank \u2800 and \u3164", r"blank \u2800 and \u3164"),
        ("Ünïcödé 日本 😀", "Ünïcödé 日本 😀"),
        ("e\u0301 is fine", "e\u0301 is fine"),
        ("\u0301 at the start", r"\u0301 at the start"),
        ("after\n\u0301", r"after\n\u0301"),
        ("z" + "\u0300" * 6, "z" + "\u0300" * 4 + r"\u0300\u0300"),
    ],
)
def test_what_is_not_plainly_visible_is_an_escape(text, shown):
    assert printable(text) == shown


def test_ascii_only_escapes_everything_else_too():
    assert printable("Ünï 日 😀 e\u0301 \x1b", ascii_only=True) == r"\xdcn\xef \u65e5 \U0001f600 e\u0301 \x1b"


@law(ANY_TEXT)
def test_no_text_leaves_anything_raw(text):
    shown = printable(text)

    assert not {unicodedata.category(character) for character in shown} & INVISIBLE
    assert shown.encode("utf-8").decode("utf-8") == shown


@law(ANY_TEXT)
def test_ascii_text_is_ascii(text):
    assert printable(text, ascii_only=True).isascii()


@law(ANY_TEXT, st.integers(1, 30), st.booleans())
def test_what_is_cut_fits(text, width, unicode):
    for cut in (clip, clip_start, clip_middle):
        assert display_width(cut(text, width, unicode=unicode)) <= width


@law(ANY_TEXT)
def test_what_fits_is_not_cut(text):
    shown = printable(text)
    width = max(display_width(shown), 1)

    assert [cut(text, width) for cut in (clip, clip_start, clip_middle)] == [shown] * 3


@pytest.mark.parametrize(
    ("cut", "shown"), [(clip, "completed…"), (clip_start, "…cessfully"), (clip_middle, "comp…fully")]
)
def test_cut_at_the_end_the_start_and_in_the_middle(cut, shown):
    assert cut("completed successfully", 10) == shown


def test_wide_characters_take_two_columns():
    assert [clip("日本語テキスト", 8), clip_middle("日本語テキスト", 8), pad("日本", 6)] == [
        "日本語…",
        "日…スト",
        "日本  ",
    ]


def test_an_escape_is_never_cut_in_two():
    assert clip("ab\x1b\x1b\x1b", 8) == r"ab\x1b…"


def test_megabytes_are_not_walked_to_show_ten_columns():
    text = "\u0301x" * 1_000_000

    assert [display_width(cut(text, 10)) <= 10 for cut in (clip, clip_start, clip_middle)] == [True] * 3


# -- where two strings differ --------------------------------------------------------------------------------

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


# -- numbers that never say what is not so -------------------------------------------------------------------

SCORES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (1.0, "1.00"),
        (0.0, "0.00"),
        (21 / 22, "0.95"),
        (0.995, "0.99"),
        (0.9951, "0.995"),
        (0.99999, "0.99999"),
        (math.nextafter(1.0, 0.0), "0.9999999999999999"),
        (0.004, "0.004"),
        (1e-300, "1e-300"),
        (-0.0, "0.00"),
        (-0.004, "-0.004"),
        (-0.146, "-0.15"),
        (-1e-300, "-1e-300"),
        (None, "–"),
    ],
)
def test_two_decimals_or_as_many_as_it_takes(score, shown):
    assert score_text(score) == shown


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.5, 1.0, ("0.50", "1.00")),
        (0.5, 1, ("0.50", "1.00")),
        (0.9499, 0.95, ("0.9499", "0.95")),
        (0.949999, 0.95, ("0.949999", "0.95")),
        (0.95 - 1e-12, 0.95, ("0.949999999999", "0.95")),
        (0.9999, 1.0, ("0.9999", "1.00")),
        (math.nextafter(1.0, 0.0), 1.0, ("0.9999999999999999", "1.00")),
        (0.91, 0.9545, ("0.9100", "0.9545")),
        (0.0, 0.5, ("0.00", "0.50")),
        (0.0001, 0.5, ("0.0001", "0.50")),
        (0.0, 1e-9, ("0.00", "1e-09")),
    ],
)
def test_a_value_and_its_limit_differ_as_printed(value, limit, shown):
    assert limit_texts(value, limit) == shown


@law(SCORES, SCORES, also=[(0.95, 0.9500000000000001)])
def test_the_lower_statistic_reads_as_the_lower_one(value, limit):
    assume(value < limit)

    shown = limit_texts(value, limit)

    assert float(shown[0]) < float(shown[1])
    assert float(shown[1]) == limit


@law(SCORES)
def test_only_a_perfect_score_reads_as_one_and_only_nothing_as_zero(score):
    for text in (score_text(score), limit_texts(score, 1.0)[0]):
        assert (float(text) == 1.0, float(text) == 0.0) == (score == 1.0, score == 0.0)


def test_numbers_with_their_nouns():
    assert [count(0, "case"), count(1, "case"), count(1234567, "leaf", "leaves"), count(9990)] == [
        "0 cases",
        "1 case",
        "1,234,567 leaves",
        "9,990",
    ]
