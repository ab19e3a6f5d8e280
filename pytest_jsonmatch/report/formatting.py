"""Format scores, changes and amounts with as few decimals as possible without misleading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def score_text(score: float | None, min_decimals: int = 2, *, unicode: bool = True) -> str:
    """Return a score with `min_decimals` decimals, or more where these would make it 0 or 1.

    A number below 0, such as a kappa, keeps its sign.

    >>> score_text(0.9545), score_text(0.9996), score_text(1.0), score_text(None)
    ('0.95', '0.9996', '1.00', '–')
    >>> score_text(-0.0004), score_text(-0.0)
    ('-0.0004', '0.00')
    """
    if score is None:
        return dash(unicode)
    score += 0.0  # turns -0.0 into 0.0
    for digits in range(min_decimals, _MAX_DIGITS + 1):
        text = f"{score:.{digits}f}"
        if _is_honest(score, text):
            return text
    return repr(score)


def score_texts(scores: Sequence[float | None]) -> list[str]:
    """Return the scores of a column, all with as many decimals as the one that needs most.

    >>> score_texts([0.5, 0.9996, None])
    ['0.5000', '0.9996', '–']
    """
    digits = max((len(score_text(score).partition(".")[2]) for score in scores), default=2)
    return [score_text(score, max(digits, 2)) for score in scores]


def interval_texts(
    value: float, low: float | None, high: float | None, min_decimals: int = 2
) -> tuple[str, str]:
    """Return a value and its interval with the same number of decimals, enough to distinguish the ends.

    The text of the interval is empty if there is none.

    >>> interval_texts(0.99, 0.6816, 0.9987), interval_texts(0.99994, 0.99991, 0.99996)
    (('0.990', '0.682 to 0.999'), ('0.99994', '0.99991 to 0.99996'))
    """
    if low is None or high is None:
        return score_text(value, min_decimals), ""
    texts: list[str] = []
    for digits in range(min_decimals, _MAX_DIGITS + 1):
        texts = [f"{number + 0.0:.{digits}f}" for number in (value, low, high)]
        is_honest = all(map(_is_honest, (value, low, high), texts))
        if is_honest and (texts[1] != texts[2] or low == high):
            break
    return texts[0], f"{texts[1]} to {texts[2]}"


def limit_texts(value: float, limit: float) -> tuple[str, str]:
    """Return a value and its limit with enough decimals to show which is lower.

    >>> limit_texts(0.9499, 0.95), limit_texts(0.5, 1), limit_texts(0.1, 0.975)
    (('0.9499', '0.95'), ('0.50', '1.00'), ('0.100', '0.975'))
    """
    limit_text = repr(float(limit))  # as in the source, with at least two decimals
    decimals = 2 if "e" in limit_text else len(limit_text.partition(".")[2])
    limit_text += "0" * (2 - decimals)
    for digits in range(min(max(decimals, 2), _MAX_DIGITS), _MAX_DIGITS + 1):
        text = f"{value:.{digits}f}"
        shown = float(text)
        if _is_honest(value, text) and (shown > limit, shown < limit) == (value > limit, value < limit):
            return text, limit_text
    return repr(float(value)), limit_text


def change_text(change: float) -> str:
    """Return a change of a score with its sign, and three decimals or as many as it takes to see it.

    >>> change_text(-0.075), change_text(-0.0004), change_text(0.0)
    ('-0.075', '-0.0004', '0.000')
    """
    from pytest_jsonmatch.gate.verdict import format_differences

    return format_differences(change)[0] if change else "0.000"


def amount_text(amount: float) -> str:
    """Return an amount, such as seconds or money, with at least three significant digits.

    >>> amount_text(0.001234), amount_text(12.345), amount_text(12345.6)
    ('0.00123', '12.3', '12,346')
    """
    return f"{amount:,.0f}" if amount >= _MANY else f"{amount:.3g}"


def dash(unicode: bool) -> str:
    """Return the dash for a score that is undefined (0/0)."""
    return "–" if unicode else "-"


def _is_honest(score: float, text: str) -> bool:
    shown = float(text)
    return not (shown >= 1.0 > score or shown <= 0.0 < score or shown >= 0.0 > score)


def commit_text(commit: str) -> str:
    """Return the commit of a run as text; empty if it is unknown.

    >>> commit_text("0123456789abcdef+"), commit_text("")
    ('commit 0123456789 with changes', '')
    """
    changed = " with changes" if commit.endswith("+") else ""
    return f"commit {commit.rstrip('+')[:10]}{changed}" if commit else ""


def answers_note(answers: AnswerCounts) -> str:
    """Return a note on answers that are invalid or contain no JSON; empty if there are none.

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
