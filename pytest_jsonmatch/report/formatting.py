"""Figures for people: as short as they can be without misleading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from pytest_jsonmatch.results.totals import AnswerCounts

_MAX_DIGITS: Final = 6
_MANY: Final = 100

STATUS_WORDS: Final = {
    "match": "match",
    "mismatch": "mismatch",
    "omission": "missing",
    "hallucination": "extra",
    "skipped": "skipped",
    "pending": "pending",
    "batch_error": "batch error",
}
"""The word shown for each status."""
_OPEN_FROM: Final = 0.8


def tone_of(score: float | None) -> str:
    """Return the tone of a score: good for 1, open from 0.8, bad below, none without a score.

    >>> tone_of(1.0), tone_of(0.97), tone_of(0.5), tone_of(None)
    ('good', 'open', 'bad', '')
    """
    if score is None:
        return ""
    return "good" if score >= 1.0 else "open" if score >= _OPEN_FROM else "bad"


def score_text(score: float | None, least: int = 2, *, unicode: bool = True) -> str:
    """Return a score with `least` decimals, or more where these would make it 0 or 1.

    The sign of a figure below 0, such as a kappa, is kept as well.

    >>> score_text(0.9545), score_text(0.9996), score_text(1.0), score_text(None)
    ('0.95', '0.9996', '1.00', '–')
    >>> score_text(-0.0004), score_text(-0.0)
    ('-0.0004', '0.00')
    """
    if score is None:
        return dash(unicode)
    score += 0.0  # turns -0.0 into 0.0
    for digits in range(least, _MAX_DIGITS + 1):
        text = f"{score:.{digits}f}"
        if _is_honest(score, text):
            return text
    return repr(score)


def interval_texts(value: float, low: float | None, high: float | None, least: int = 2) -> tuple[str, str]:
    """Return a figure and its interval with the same decimals, and so many that the ends differ if they do.

    Without an interval its text is empty.

    >>> interval_texts(0.99, 0.6816, 0.9987), interval_texts(0.99994, 0.99991, 0.99996)
    (('0.990', '0.682 to 0.999'), ('0.99994', '0.99991 to 0.99996'))
    """
    if low is None or high is None:
        return score_text(value, least), ""
    texts: list[str] = []
    for digits in range(least, _MAX_DIGITS + 1):
        texts = [f"{number + 0.0:.{digits}f}" for number in (value, low, high)]
        is_honest = all(map(_is_honest, (value, low, high), texts))
        if is_honest and (texts[1] != texts[2] or low == high):
            break
    return texts[0], f"{texts[1]} to {texts[2]}"


def compare_figures(value: float, limit: float) -> tuple[str, str]:
    """Return both figures with enough decimals to see which is the lower one.

    >>> compare_figures(0.9499, 0.95), compare_figures(0.5, 1), compare_figures(0.1, 0.975)
    (('0.9499', '0.95'), ('0.50', '1.00'), ('0.100', '0.975'))
    """
    told = repr(float(limit))  # as its author wrote it, with at least two decimals
    decimals = 2 if "e" in told else len(told.partition(".")[2])
    told += "0" * (2 - decimals)
    for digits in range(min(max(decimals, 2), _MAX_DIGITS), _MAX_DIGITS + 1):
        text = f"{value:.{digits}f}"
        shown = float(text)
        if _is_honest(value, text) and (shown > limit, shown < limit) == (value > limit, value < limit):
            return text, told
    return repr(float(value)), told


def change_text(change: float, *, unicode: bool = True) -> str:
    """Return a change with its sign, and enough decimals to be seen.

    >>> change_text(0.25), change_text(-0.0004), change_text(0.0)
    ('+0.25', '-0.0004', '0.00')
    """
    sign = "" if not change else "+" if change > 0 else "-"
    return sign + score_text(abs(change), unicode=unicode)


def amount_text(amount: float) -> str:
    """Return an amount of anything, such as seconds or money, with at least three significant digits.

    >>> amount_text(0.001234), amount_text(12.345), amount_text(12345.6)
    ('0.00123', '12.3', '12,346')
    """
    return f"{amount:,.0f}" if amount >= _MANY else f"{amount:.3g}"


def short_figure(value: float | None) -> float | None:
    """Round a figure to the digits that a page needs; only an exact 0 or 1 becomes 0 or 1.

    >>> short_figure(1 / 3), short_figure(1 - 1e-9)
    (0.333333, 0.999999)
    """
    if value is None:
        return None
    short = round(value, _MAX_DIGITS)
    least = 10.0**-_MAX_DIGITS
    if short >= 1.0 > value:
        return 1.0 - least
    return least if short <= 0.0 < value else short


def dash(unicode: bool) -> str:
    """Return the sign for "no such figure" (0/0)."""
    return "–" if unicode else "-"


def _is_honest(score: float, text: str) -> bool:
    shown = float(text)
    return not (shown >= 1.0 > score or shown <= 0.0 < score or shown >= 0.0 > score)


def commit_text(commit: str) -> str:
    """Return the commit of a run, as far as it is known.

    >>> commit_text("0123456789abcdef+"), commit_text("")
    ('commit 0123456789 with changes', '')
    """
    changed = " with changes" if commit.endswith("+") else ""
    return f"commit {commit.rstrip('+')[:10]}{changed}" if commit else ""


def answers_note(answers: AnswerCounts) -> str:
    """Return a note on answers that are not valid, or have no JSON in them; empty if there are none.

    >>> from pytest_jsonmatch.results.totals import AnswerCounts
    >>> answers_note(AnswerCounts(texts=4, parsed=3, valid=1, validated=2))
    'valid by the schema: 1 of 2 answers; JSON found in 3 of 4 texts'
    """
    notes = []
    if answers.valid < answers.validated or answers.not_validated:
        note = f"valid by the schema: {count(answers.valid)} of {count(answers.validated, 'answer')}"
        also = f" ({count(answers.not_validated)} not validated)" if answers.not_validated else ""
        notes.append(note + also)
    if answers.parsed < answers.texts:
        notes.append(f"JSON found in {count(answers.parsed)} of {count(answers.texts, 'text')}")
    return "; ".join(notes)
