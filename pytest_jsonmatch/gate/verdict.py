"""Compare two runs: the difference with its interval, a verdict in words, and whether a gate passes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.intervals import cases_to_rule_out, influences
from pytest_jsonmatch.gate.paired import PairedTest, holm, paired_test
from pytest_jsonmatch.gate.samples import pair_cases
from pytest_jsonmatch.results.statistics import Interval
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_jsonmatch.gate.samples import Pairs

Mode = Literal["regression", "non-inferiority"]
Kind = Literal["worse", "better", "ruled out", "not significant", "too few", "no case"]
_VERDICTS: Final[Mapping[Kind, str]] = {
    "worse": "significantly worse",
    "better": "significantly better",
    "ruled out": "a drop of {} is ruled out",
    "not significant": "no significant change",
    "too few": "not enough cases",
    "no case": "not in both",
}
_Finding: TypeAlias = Literal["too few", "drop", "gain", "larger drop", "ruled out"]
_KINDS: Final[Mapping[Mode, Sequence[tuple[Kind, AbstractSet[_Finding]]]]] = {
    "regression": (
        ("worse", {"drop"}),
        ("better", {"gain"}),
        ("too few", {"too few"}),
        ("ruled out", {"ruled out"}),
        ("not significant", set()),
    ),
    "non-inferiority": (
        ("worse", {"drop"}),
        # If the systems are not equal, the test may find a gain although the mean can still have dropped.
        ("better", {"gain", "ruled out"}),
        ("too few", {"too few"}),
        ("ruled out", {"ruled out"}),
        ("not significant", set()),
    ),
}
"""The kinds of changes, and the findings that each needs: the first that has all of them counts."""
RunScores: TypeAlias = "Mapping[str, Sequence[float]]"
"""The scores of each case's repeats, by case id."""


@final
@dataclass(frozen=True, slots=True)
class DropGate:
    """The requirements of a gate on the drop from a baseline.

    >>> DropGate(0.02).alpha
    0.05
    """

    max_drop: float = 0.0
    """The allowed drop of the mean score: at least 0, below 1."""
    confidence: float = 0.95
    """Above 0.5 and below 1: the gate is wrong in at most 1 - `confidence` of runs."""
    mode: Mode = "regression"
    """Whether the gate fails if a larger drop is significant, or fails unless such a drop is ruled out."""

    @property
    def alpha(self) -> float:
        """The error rate: 1 - confidence, without floating-point noise."""
        return round(1 - self.confidence, 12)

    @property
    def least_to_test(self) -> int:
        """The least number of cases for a significant drop, if all of them get worse.

        >>> DropGate().least_to_test, DropGate(confidence=0.99).least_to_test
        (5, 7)
        """
        return math.ceil(-math.log2(self.alpha) - 1e-9)

    @property
    def least_to_rule_out(self) -> int | None:
        """The least number of cases, all of them unchanged, that rule out `max_drop`; None for 0.

        >>> DropGate(0.02).least_to_rule_out, DropGate(0.1).least_to_rule_out
        (149, 29)
        """
        return cases_to_rule_out(self.max_drop, self.alpha) if self.max_drop else None


ANY_DROP: Final = DropGate()
"""The gate that fails on any drop that is significant at a confidence of 0.95."""


@final
@dataclass(frozen=True, slots=True)
class Change:
    """The result of a comparison, and whether the gate passes.

    `kind` is about any difference; `passed` is about the drop that the gate allows. A drop
    that is significant, but not significantly larger than that, is `worse` and passes in mode `regression`.
    """

    kind: Kind
    passed: bool
    gate: DropGate
    cases: int = 0
    """Cases in both runs: n."""
    clusters: int = 0
    """The number of independent clusters among them."""
    current: float | None = None
    """The mean over these cases; None if there is none."""
    baseline: float | None = None
    interval: Interval | None = None
    """The interval for the mean difference; None without a case.

    Its confidence is that of all intervals of the comparison together: 90 % for a gate at 95 %, whose tests
    are one-sided.
    """
    p_drop: float = 1.0
    """The p-value of the permutation test for a drop."""
    p_gain: float = 1.0
    """The p-value of the permutation test for a gain."""

    @property
    def delta(self) -> float | None:
        """Current minus baseline: a drop is below 0."""
        return None if self.interval is None else self.interval.estimate

    @property
    def signed(self) -> tuple[str, str]:
        """The difference and the ends of its interval; empty without a case.

        The interval of a significant change excludes 0, also if its end is 0.
        """
        if self.interval is None:
            return "", ""
        delta, low, high = self._texts
        if self.kind == "better" and not float(low):
            low = "above 0"
        if self.kind == "worse" and not float(high):
            high = "below 0"
        return delta, f"{low} to {high}"

    @property
    def difference(self) -> str:
        """The difference with its interval and the confidence of this; empty without a case."""
        if self.interval is None:
            return ""
        delta, ends = self.signed
        return f"{delta} ({self.interval.confidence * 100:.3g} % interval {ends})"

    @property
    def verdict(self) -> str:
        """The kind of the change, in a few words."""
        return _VERDICTS[self.kind].format(f"{self.gate.max_drop:.12g}")

    @property
    def reason(self) -> str:
        """The reason why the gate passes or fails."""
        limit, needed = f"{self.gate.max_drop:.12g}", self.gate.least_to_rule_out
        if self.interval is None:
            return "no case is in both runs"
        number = count(self.clusters, self._unit)
        undetected = f"with {number}, drops up to {self._texts[1].lstrip('+-')} could go undetected"
        is_short = needed is not None and self.clusters < needed
        if self.gate.mode == "non-inferiority":
            if self.passed:
                return f"a drop of {limit} is ruled out"
            also = f"; even without a change it takes {needed} {self._unit}s" if is_short else ""
            return f"a drop of {limit} is not ruled out: {undetected}{also}"
        more = f" by more than {limit}" if self.gate.max_drop else ""
        if self.kind == "too few":
            least = self.gate.least_to_test
            result = f"passed because the mean is not lower{more}"
            if not self.passed:
                result = f"failed because the mean is lower{more}"
            return f"{number} cannot be tested, it takes at least {least}; {result}"
        if not self.passed:
            return f"significantly worse{more}"
        if self.kind == "worse" and self.interval.low > -self.gate.max_drop:
            return f"significantly worse, but a drop of {limit} is ruled out"
        if self.kind == "worse":
            return f"significantly worse; the drop may still be below the allowed {limit}"
        if self.kind != "not significant":
            return self.verdict
        also = f"; it takes at least {needed} {self._unit}s to rule out a drop of {limit}" if is_short else ""
        return f"no significant change; {undetected}{also}"

    @property
    def note(self) -> str:
        """The difference with its interval, and the reason why the gate passes or fails."""
        return f"{self.difference}: {self.reason}" if self.difference else self.reason

    @property
    def gate_text(self) -> str:
        """Whether the gate passes, and why, as a sentence."""
        if self.kind == "too few" and self.gate.mode == "regression":
            return self.reason
        reason = self.reason
        if self.passed and self.kind == "worse" and self.gate.mode == "regression":
            delta, low, high = self._texts
            smallest = high.lstrip("+-") if float(high) else "above 0"
            reason = reason.replace("worse", f"worse ({delta})", 1)
            reason += f" (interval {smallest} to {low.lstrip('+-')})"
        return f"{'passes' if self.passed else 'fails'}: {reason}"

    @property
    def undetected(self) -> str:
        """The largest change that could go undetected; empty without a case."""
        if self.interval is None:
            return ""
        ends = abs(self.interval.low), abs(self.interval.high)
        return self._texts[1 if ends[0] >= ends[1] else 2].lstrip("+-")

    @property
    def _texts(self) -> list[str]:
        """The difference and the ends of its interval, with as many decimals wherever they are named."""
        if self.interval is None:
            return ["", "", ""]
        return format_differences(self.interval.estimate, self.interval.low, self.interval.high)

    @property
    def _unit(self) -> str:
        return "case" if self.clusters == self.cases else "cluster"


def compare(
    current: RunScores,
    baseline: RunScores,
    gate: DropGate = ANY_DROP,
    *,
    clusters: Mapping[str, str] | None = None,
) -> Change:
    """Compare two runs on the cases that both have.

    The kind: a drop or a gain is significant if the one-sided permutation test has p ≤ 1 - confidence. For
    two equal systems, either is called significant in at most about 2 · (1 - confidence) of comparisons.

    The gate: mode `regression` fails if a drop is significant, and still is after `max_drop` was added to
    every current score, together with one more case that lost nothing. Mode `non-inferiority` passes if a
    gain is significant after `max_drop` was added to every current score, together with one more case that
    lost everything, and if there are as many cases as it takes without any change: one that is lost in fifty
    may be in none of 100. Both are monotone: no worse score turns a failed gate into one that passes. If the
    true drop is `max_drop`, either mode is wrong in at most about 1 - confidence of runs
    (docs/statistics.md).

    With fewer cases, or clusters, than a significant change needs, mode `regression` judges by the plain
    difference. Without a common case the gate fails in either mode: nothing was compared.

    Args:
        current: the scores of each case's repeats, by case id; they are averaged.
        baseline: the scores of each case's repeats in the run to compare with.
        gate: the requirements; by default, that no drop at all is significant at a confidence of 0.95.
        clusters: the cluster of each case, such as its document, by case id; clusters are independent of each
            other. A case that is not listed is independent of all others.

    >>> before = {f"case {number}": [1.0] for number in range(9)}
    >>> now = {**before, "case 8": [0.5]}
    >>> verdict = compare(now, before)
    >>> verdict.verdict, verdict.difference
    ('no significant change', '-0.056 (90 % interval -0.337 to +0.252)')
    >>> print(compare(now, before, DropGate(0.02, mode="non-inferiority")).gate_text)
    fails: a drop of 0.02 is not ruled out: with 9 cases, drops up to 0.337 could go undetected; even
    without a change it takes 149 cases
    """
    return compare_several({"": (current, baseline)}, gate, clusters=clusters)[""]


def compare_several(
    runs: Mapping[str, tuple[RunScores, RunScores]],
    gate: DropGate = ANY_DROP,
    *,
    clusters: Mapping[str, str] | None = None,
    of_drops: float = 1.0,
    of_gains: float = 1.0,
) -> dict[str, Change]:
    """Compare several scores of two runs, or several runs with one, corrected for multiple tests.

    p-values are corrected by Holm's method, separately for drops and gains: if nothing changed, at most
    1 - confidence of comparisons call any score worse.

    Args:
        runs: by name, the scores of each case's repeats, by case id, now and before.
        gate: the requirements for each of them.
        clusters: the cluster of each case, by case id.
        of_drops: the share of the error rate for drops; other tests use the rest.
        of_gains: the share of the error rate for gains.

    >>> perfect, half = ({str(case): [score] for case in range(8)} for score in (1.0, 0.5))
    >>> for name, change in compare_several({"price": (half, perfect), "name": (perfect, perfect)}).items():
    ...     print(name, change.verdict)
    price significantly worse
    name no significant change
    """
    pairs = {name: pair_cases(now, before, clusters) for name, (now, before) in runs.items()}
    tests = {name: paired_test(paired) for name, paired in pairs.items() if paired.cases}
    drops = holm({name: min(1.0, test.p_drop / of_drops) for name, test in tests.items()})
    gains = holm({name: min(1.0, test.p_gain / of_gains) for name, test in tests.items()})
    # Each gate and interval has its share of the error rate: it needs more cases, too.
    one = replace(gate, confidence=1 - gate.alpha * max(of_drops, of_gains) / max(len(tests), 1))
    return {
        name: _judge(paired, PairedTest(drops[name], gains[name]), one, gate.alpha)
        if paired.cases
        else Change("no case", passed=False, gate=one)
        for name, paired in pairs.items()
    }


def _judge(pairs: Pairs, test: PairedTest, gate: DropGate, alpha: float) -> Change:
    """Judge a difference by its gate, which may be one of several.

    Args:
        pairs: the cases of both runs.
        test: the permutation test, its p-values corrected for all tests.
        gate: the gate, at the error rate that it and each end of the interval have among all tests.
        alpha: the error rate of the corrected p-values.
    """
    n, mean = len(pairs.cases), influences(pairs.rows)
    units = len(mean.values)
    findings = _find(pairs, units, test, gate, alpha)
    kind = next(kind for kind, needed in _KINDS[gate.mode] if needed <= findings)
    if gate.mode == "non-inferiority":
        passed = "ruled out" in findings
    elif "too few" in findings:
        # Nothing can be tested: three of three cases that fall to 0 would pass.
        passed = mean.ratio >= -gate.max_drop - 1e-12
    else:
        passed = "larger drop" not in findings
    ends = _clamp(mean.ends(gate.alpha, -1.0, 1.0), kind, findings, gate.max_drop)
    return Change(
        kind=kind,
        passed=passed,
        gate=gate,
        cases=n,
        clusters=units,
        current=math.fsum(pairs.current) / n,
        baseline=math.fsum(pairs.baseline) / n,
        interval=Interval(mean.ratio, *ends, 1 - 2 * alpha, n, units),
        p_drop=test.p_drop,
        p_gain=test.p_gain,
    )


def _find(pairs: Pairs, units: int, test: PairedTest, gate: DropGate, alpha: float) -> set[_Finding]:
    """Run the tests of a gate, and return what they find; the arguments are those of `_judge`."""
    limit = gate.max_drop
    is_worse, is_enough = test.p_drop <= alpha, units >= (gate.least_to_rule_out or 0)
    found: dict[_Finding, bool] = {
        "too few": units < gate.least_to_test,
        "drop": is_worse,
        "gain": test.p_gain <= alpha,
        "larger drop": is_worse and (not limit or paired_test(pairs, limit, 0.0).p_drop <= gate.alpha),
        "ruled out": (limit > 0 or gate.mode == "non-inferiority")
        and is_enough
        and paired_test(pairs, limit, -1.0).p_gain <= gate.alpha,
    }
    return {finding for finding, holds in found.items() if holds}


def _clamp(
    ends: tuple[float, float], kind: Kind, findings: set[_Finding], limit: float
) -> tuple[float, float]:
    """Return the ends of an interval without what the tests exclude, and with what they do not exclude."""
    cuts = [(0.0, kind == "better", kind == "worse")]
    if limit and "too few" not in findings:
        cuts = [(-limit, "ruled out" in findings, "larger drop" in findings), *cuts]
    low, high = ends
    for value, is_below, is_above in cuts:
        low = max(low, value) if is_below else min(low, value)
        high = min(high, value) if is_above else max(high, value)
    return low, high


def format_means(before: float, now: float) -> tuple[str, str]:
    """Format two means with enough decimals to distinguish them from each other, and from 0 and 1.

    >>> format_means(0.9121, 0.881), format_means(0.95001, 0.95), format_means(1.0, 0.9999)
    (('0.912', '0.881'), ('0.95001', '0.95000'), ('1.0000', '0.9999'))
    """
    texts = "", ""
    for digits in range(3, 10):
        texts = f"{before:.{digits}f}", f"{now:.{digits}f}"
        is_bound = any(
            float(text) in {0.0, 1.0} and abs(float(text) - mean) > 1e-9
            for text, mean in zip(texts, (before, now))
        )
        if (texts[0] == texts[1]) == (abs(now - before) < 1e-9) and not is_bound:
            break
    return texts


def format_differences(*numbers: float) -> list[str]:
    """Format differences with enough decimals to show which of them are 0."""
    texts: list[str] = []
    for digits in range(3, 10):
        texts = [f"{round(number, digits) + 0.0:+.{digits}f}" for number in numbers]
        if all(float(text) or abs(number) < 1e-9 for text, number in zip(texts, numbers)):
            break
    return texts


def round_up(number: float) -> str:
    """Format a number with two significant digits, rounded up."""
    digits = 2 if number <= 0 else max(2, 1 - math.floor(math.log10(number)))
    return f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{digits}f}"
