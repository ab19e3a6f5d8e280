"""Text of any kind, printable: nothing raw that moves the cursor, hides or reorders."""

from __future__ import annotations

import unicodedata
from functools import partial

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, pad, printable
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
