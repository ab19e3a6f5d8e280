"""Stop a run as soon as its gate is settled; looking after every case does not raise the error rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.gate.verdict import ANY_DROP, means_apart

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_jsonmatch.gate.verdict import DropGate

_BETS: Final = 64
_SMALLEST_BET: Final = 0.01
_LARGEST_BET: Final = 0.95


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


@final
class SequentialGate:
    """A gate against a baseline that may be looked at after each case.

    Two bets run on the case deltas: one gains money if the mean drop is larger than `max_drop`, the other if
    it is smaller. Under its null hypothesis a bet is fair at best, so the chance that its wealth *ever*
    reaches 1 / (1 - confidence) is at most 1 - confidence (Ville 1939), no matter when one looks or stops.
    The deltas need only lie in [-1, 1]: the bets are fair for any with a mean of -`max_drop`. Each wealth is
    the mean over 64 fixed stakes, so it does not depend on the order of the cases seen.

    - Mode `regression`: fails once a drop of more than `max_drop` is proven. Passes once no outcome of the
      rest could prove it (certain), or a drop of `max_drop` or more is ruled out.
    - Mode `non-inferiority`: passes once a drop of `max_drop` or more is ruled out. Fails once no outcome of
      the rest could rule it out (certain), or a drop of more than `max_drop` is proven.
    - After the last case it is decided: what is not proven by then stays unproven. Do not try the
      fixed-sample tests of `compare` as well: two tests err more often than one. The freedom to look costs
      power: see docs/statistics.md.

    It is valid only if the order of the cases does not depend on their outcomes: each new case's expected
    delta must not be predictable from those seen. Shuffle a file that is sorted by difficulty.

    Source: Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by betting; Orabona &
    Jun 2024 (the mixture of stakes).

    >>> gate = SequentialGate(planned=100)
    >>> for number in range(100):
    ...     decision = gate.add(-1.0 if number % 2 else -0.5)
    ...     if decision.passed is not None:
    ...         break
    >>> number, decision.passed, decision.reason
    (10, False, 'a drop is proven (e = 20.5)')
    """

    __slots__ = ("_gate", "_logs", "_planned", "_seen", "_stakes", "decision")

    decision: Decision
    """Whether the gate is settled; once it is, further cases change nothing."""

    def __init__(self, planned: int, gate: DropGate = ANY_DROP) -> None:
        import numpy as np

        self._gate = gate
        self._planned = planned
        max_drop = self._gate.max_drop
        self._seen = 0
        shares = np.geomspace(_SMALLEST_BET, _LARGEST_BET, _BETS)
        # A stake can't lose more than everything: the worst delta for the first bet is +1, for the second -1.
        self._stakes: Any = np.stack([-shares / (1 + max_drop), shares / (1 - max_drop)])
        self._logs: Any = np.zeros((2, _BETS))
        self.decision = self._decide()

    def add(self, delta: float, weight: float = 1.0) -> Decision:
        """Add the delta of the next case (current minus baseline), and tell whether it settles the gate.

        For cases in clusters: the mean delta of the next cluster, and its size as a share of the largest one.
        """
        self._seen += 1
        self._logs += self._gains(delta, weight)
        if self.decision.passed is None:
            self.decision = self._decide()
        return self.decision

    def _gains(self, delta: float, weight: float = 1.0) -> Any:
        """Return the logarithm of the factor by which each stake of both bets changes."""
        import numpy as np

        return np.log1p(self._stakes * (weight * (delta + self._gate.max_drop)))

    @property
    def e_drop(self) -> float:
        """The wealth of the bet that the drop is larger than `max_drop`: proven at 1 / (1 - confidence)."""
        return _mean_exp(self._logs[0])

    @property
    def e_no_drop(self) -> float:
        """The wealth of the bet that the drop is smaller than `max_drop`."""
        return _mean_exp(self._logs[1])

    def _decide(self) -> Decision:
        rest = self._planned - self._seen
        enough, max_drop = 1 / self._gate.alpha, self._gate.max_drop
        drop = f"a drop of more than {max_drop:.12g}" if max_drop else "a drop"
        small = f"a drop of {max_drop:.12g} or more"
        is_regression = self._gate.mode == "regression"
        if self.e_drop >= enough:
            return Decision(False, f"{drop} is proven (e = {self.e_drop:.3g})")
        if self.e_no_drop >= enough:
            return Decision(True, f"{small} is ruled out (e = {self.e_no_drop:.3g})")
        # Assume that every remaining case helps this bet as much as a case can.
        at, best = (0, -1.0) if is_regression else (1, 1.0)
        if _mean_exp(self._logs[at] + rest * self._gains(best)[at]) < enough:
            what = f"{drop} can no longer be proven"
            if not is_regression:
                what = f"{small} can no longer be ruled out"
            return Decision(is_regression, what if rest else what.replace("can no longer", "could not"))
        return Decision(None, "not settled yet")


def _mean_exp(logs: Any) -> float:
    """Return the mean of exponentials; infinity if it is too large for a float."""
    import numpy as np

    largest = float(logs.max())
    if largest > 700:
        return math.inf
    return math.exp(largest) * float(np.exp(logs - largest).sum()) / _BETS
