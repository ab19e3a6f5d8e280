"""Whether a limit on a mean is settled before the end of a run: certain bounds, no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from pytest_jsonmatch.gate.verdict import means_apart

if TYPE_CHECKING:
    from fractions import Fraction


@final
class Decision(NamedTuple):
    """Whether a gate is settled before the end."""

    passed: bool | None
    """The outcome; None while it is open."""
    reason: str
    """Why, as a sentence."""


def threshold_decision(
    total: Fraction, seen: int, planned: int, limit: float, *, figure: str = "mean score"
) -> Decision:
    """Tell whether `mean >= limit` is settled: the same if all remaining cases score 0, or all score 1.

    This is certain, not statistical: the whole run would give the same result, down to the last bit of the
    mean (sums are rounded once). A pass rate is a mean of zeros and ones.

    Args:
        total: the sum of the scores of the cases that have run, each the mean of its repeats.
        seen: how many cases have run.
        planned: how many cases there are in all.
        limit: what the mean over all of them must reach.
        figure: the name of the mean.

    >>> from fractions import Fraction
    >>> threshold_decision(Fraction("1.6"), seen=3, planned=10, limit=0.9)
    Decision(passed=False, reason='the mean score can reach at most 0.860')
    >>> threshold_decision(Fraction("1.5"), seen=2, planned=3, limit=0.5).reason
    'the mean score is at least 0.500'
    """
    if not planned:
        return Decision(False, "there is no case")
    worst, best = float(total) / planned, float(total + planned - seen) / planned
    if worst >= limit:
        return Decision(True, f"the {figure} is at least {means_apart(limit, worst)[1]}")
    if best < limit:
        return Decision(False, f"the {figure} can reach at most {means_apart(limit, best)[1]}")
    return Decision(None, f"the {figure} ends between {worst!r} and {best!r}")
