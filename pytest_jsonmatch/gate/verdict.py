"""One run against another, in words, and the two ways in which that can fail a build."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.intervals import mean_interval, p_mean_below
from pytest_jsonmatch.gate.margin import checked_gate, p_drop_at_most
from pytest_jsonmatch.gate.paired import holm, level, sign_flip
from pytest_jsonmatch.gate.power import cases_to_rule_out, least_signs, minimum_detectable
from pytest_jsonmatch.gate.samples import as_scores, pair_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_jsonmatch.gate.intervals import Interval
    from pytest_jsonmatch.gate.margin import Mode
    from pytest_jsonmatch.gate.power import Detectable

Kind = Literal["regression", "within noise", "improvement", "inconclusive"]
RELEVANT_DROP: Final = 0.05


@final
@dataclass(frozen=True, slots=True)
class Change:
    """What a comparison shows, what it could have shown, and whether the gate passes.

    `kind` says what is known of a difference at all; `passed` is about `max_drop`. A drop that is proven, but
    not proven to be larger than `max_drop`, is a regression that passes the gate of mode `regression`.
    """

    kind: Kind
    passed: bool
    mode: Mode
    max_drop: float
    confidence: float
    cases: int
    """Cases in both runs: n."""
    informative: int
    """Those whose score differs."""
    current: float | None
    """The mean over these cases; None if there is none."""
    baseline: float | None
    interval: Interval | None
    """Of the mean difference; each end holds at `confidence`. None where too few cases are informative."""
    p_drop: float
    """Of the sign-flip test that there is no drop."""
    p_gain: float
    """Of the sign-flip test that there is no gain."""
    p_beyond: float
    """Of the test that the drop is `max_drop` or less; mode `regression` decides by it."""
    p_within: float
    """Of the bounded test that the drop is `max_drop` or more; mode `non-inferiority` decides by it."""
    method: str
    """Of the sign-flip test: `exact` or `Monte Carlo`."""
    relevant_drop: float
    """The drop that must have been detectable for "within noise"."""
    detectable: Detectable | None
    """The minimum detectable drop; None where a difference is proven, or no case is common."""
    new: tuple[str, ...] = ()
    """Cases that the baseline does not have."""
    vanished: tuple[str, ...] = ()
    """Cases that only the baseline has."""
    figure: str = "mean score"
    """What `current` and `baseline` are."""

    @property
    def delta(self) -> float | None:
        """Current minus baseline: a drop is below 0."""
        if self.current is None or self.baseline is None:
            return None
        return self.current - self.baseline

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        if self.current is None or self.baseline is None:
            return "inconclusive: no case is in both runs"
        return f"{self.kind}: {_WORDS[self.kind](self)}"

    @property
    def gate_words(self) -> str:
        """Why the gate passes or fails, as a sentence."""
        verb = "passes" if self.passed else "fails"
        if self.current is None:
            return f"{verb}: no case is in both runs"
        if self.mode == "regression":
            known = "is proven" if not self.passed else "is not proven"
            drop = f"a drop of more than {_plain(self.max_drop)}" if self.max_drop else "a drop"
            return f"{verb}: {drop} {known} ({_p_text(self.p_beyond, self.confidence)})"
        known = "is ruled out" if self.passed else "is not ruled out"
        p = _p_text(self.p_within, self.confidence)
        text = f"{verb}: a drop of {_plain(self.max_drop)} or more {known} ({p})"
        needed = cases_to_rule_out(self.max_drop, self.confidence)
        if not self.passed and needed is not None and self.cases < needed:
            text += f"; without a change that takes {needed} cases, and there are {self.cases}"
        return text


def compare(
    current: Mapping[str, Sequence[float]],
    baseline: Mapping[str, Sequence[float]],
    *,
    max_drop: float = 0.0,
    confidence: float = 0.95,
    mode: Mode = "regression",
    relevant_drop: float = RELEVANT_DROP,
    figure: str = "mean score",
) -> Change:
    """Compare two runs on the cases that both have.

    The words. A drop or a gain is proven if the sign-flip test of the case deltas has p ≤ 1 - confidence, on
    its side: of two equal systems one side or the other is proven wrongly in at most 2 · (1 - confidence) of
    comparisons. Otherwise it is `within noise` if a drop of `relevant_drop` would have been proven in 80 % of
    such comparisons, and else `inconclusive`.

    The gate. Mode `regression` fails if a drop of more than `max_drop` is proven, by
    `p_drop_at_most`. If the true drop is `max_drop`, it fails in at most 1 - confidence of runs. With
    `max_drop` 0 it fails exactly on the word `regression`. Mode `non-inferiority` passes only if a drop of
    `max_drop` or more is ruled out, by a test that assumes nothing but that scores are in [0, 1] (sign flips
    would take ten equal cases for proof that no case can break). If the true drop is `max_drop`, it passes in
    at most 1 - confidence of runs. With `max_drop` 0 it passes only if the mean has risen even if
    cases break that are unlike any of these: that is more than the word `improvement` takes.

    Without a common case the gate fails in either mode: nothing was compared. With one case nothing can be
    proven.

    Args:
        current: the scores of each case's repeats, by case id. The unit is the case: repeats are averaged.
        baseline: the same of the run to compare with.
        max_drop: the drop of the mean score that is allowed, from 0 to below 1.
        confidence: above 0.5 and below 1; the gate is wrong in at most one minus this share of runs.
        mode: `regression` or `non-inferiority`.
        relevant_drop: the drop that one would want to have seen.
        figure: what the means are called in words.

    Raises ConfigurationError for an invalid argument or score.

    >>> before = {f"case {number}": [1.0] for number in range(9)}
    >>> now = {**before, "case 8": [0.5]}
    >>> verdict = compare(now, before)
    >>> print(verdict.words)
    inconclusive: n = 9 can only detect drops above 0.62; too few informative cases: 1 case differs
    >>> print(verdict.gate_words)
    passes: a drop is not proven (p = 0.50)
    >>> print(compare(now, before, mode="non-inferiority", max_drop=0.02).gate_words)
    fails: a drop of 0.02 or more is not ruled out (p = ...); without a change that takes 149 cases, and
    there are 9
    """
    alpha = checked_gate(max_drop, confidence, mode)
    if not 0.0 <= relevant_drop <= 1.0:
        raise ConfigurationError(
            f"relevant_drop is {relevant_drop!r}: it is a difference of scores, from 0 to 1"
        )
    pairs = pair_cases(current, baseline)
    deltas = pairs.deltas
    n = len(deltas)
    test = sign_flip(deltas)
    beyond = max(test.p_drop, p_drop_at_most(deltas, max_drop)) if max_drop else test.p_drop
    within = p_mean_below(deltas, -max_drop, -1.0) if n else 1.0
    kind: Kind
    detectable = None
    if test.p_drop <= alpha:
        kind = "regression"
    elif test.p_gain <= alpha:
        kind = "improvement"
    else:
        kind = "inconclusive"
        if n:
            detectable = minimum_detectable(pairs, confidence)
            if detectable.drop is not None and detectable.drop <= relevant_drop:
                kind = "within noise"
    interval = None
    if n:
        found = mean_interval(deltas, 2 * confidence - 1, -1.0, 1.0)
        interval = found if found.method == "bootstrap" else None
    proven = beyond <= alpha
    return Change(
        kind=kind,
        passed=n > 0 and (within <= alpha if mode == "non-inferiority" else not proven),
        mode=mode,
        max_drop=max_drop,
        confidence=confidence,
        cases=n,
        informative=test.informative,
        current=math.fsum(pairs.current) / n if n else None,
        baseline=math.fsum(pairs.baseline) / n if n else None,
        interval=interval,
        p_drop=test.p_drop,
        p_gain=test.p_gain,
        p_beyond=beyond,
        p_within=within,
        method=test.method,
        relevant_drop=relevant_drop,
        detectable=detectable,
        new=pairs.new,
        vanished=pairs.vanished,
        figure=figure,
    )


def compare_outcomes(
    current: Mapping[str, bool],
    baseline: Mapping[str, bool],
    *,
    max_drop: float = 0.0,
    confidence: float = 0.95,
    mode: Mode = "regression",
    relevant_drop: float = RELEVANT_DROP,
) -> Change:
    """Compare two runs by which cases passed: `compare` with 1 for passed and 0 for failed.

    The test of the words is then McNemar's exact one.

    >>> before = dict.fromkeys("abcdefgh", True)
    >>> compare_outcomes(before | dict.fromkeys("abcdef", False), before).words
    'regression: the pass rate dropped by 0.750, from 1.000 to 0.250 (p = 0.016, n = 8)'
    """
    return compare(
        as_scores(current),
        as_scores(baseline),
        max_drop=max_drop,
        confidence=confidence,
        mode=mode,
        relevant_drop=relevant_drop,
        figure="pass rate",
    )


@final
@dataclass(frozen=True, slots=True)
class FieldChange:
    """What became of one field, its p-values corrected for being one of several."""

    field: str
    kind: Kind
    """`inconclusive` where too few cases differ to prove anything of one field among so many."""
    cases: int
    informative: int
    current: float | None
    """The mean over the cases that both runs have for this field; None if there is none."""
    baseline: float | None
    interval: Interval | None
    """Of `current`, at the confidence."""
    p_drop: float
    """Of the sign-flip test, after Holm's correction over all fields."""
    p_gain: float
    needed: int
    """How many cases must differ at the least, to prove anything."""

    @property
    def words(self) -> str:
        """The verdict as a sentence."""
        if self.current is None or self.baseline is None:
            return f"{self.field}: inconclusive: no case is in both runs"
        before, now, change = figures_apart(self.baseline, self.current)
        if self.kind == "inconclusive":
            return (
                f"{self.field}: inconclusive: {before} to {now}; too few informative cases "
                f"({_differ(self.informative)}, it takes {self.needed})"
            )
        p = {"regression": self.p_drop, "improvement": self.p_gain}.get(
            self.kind, min(self.p_drop, self.p_gain)
        )
        moved = "down" if self.current < self.baseline else "up"
        text = "unchanged" if self.informative == 0 else f"{moved} by {change}, {before} to {now}"
        return f"{self.field}: {self.kind}: {text} (p = {_p(p)} after Holm, n = {self.cases})"


def compare_fields(
    current: Mapping[str, Mapping[str, Sequence[float]]],
    baseline: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    confidence: float = 0.95,
) -> dict[str, FieldChange]:
    """Compare two runs field by field; the unit is still the case.

    The p-values are corrected by Holm's method over all fields that have a common case, drops and gains each
    for themselves: if nothing changed, any field at all is called a regression in at most 1 - confidence of
    comparisons.

    Args:
        current: by field the scores of each case's repeats, by case id. A case that has several elements of a
            field gives their mean, once per repeat.
        baseline: the same of the run to compare with.
        confidence: above 0.5 and below 1.

    >>> perfect, half = ({str(case): [score] for case in range(8)} for score in (1.0, 0.5))
    >>> before = {"price": perfect, "name": perfect}
    >>> now = {"price": half, "name": perfect}
    >>> for change in compare_fields(now, before).values():
    ...     print(change.words)
    price: regression: down by 0.500, 1.000 to 0.500 (p = 0.0078 after Holm, n = 8)
    name: inconclusive: 1.000 to 1.000; too few informative cases (no case differs, it takes 6)
    """
    alpha = checked_gate(0.0, confidence)
    fields = [*current, *(field for field in baseline if field not in current)]
    pairs = {field: pair_cases(current.get(field, {}), baseline.get(field, {})) for field in fields}
    tests = {field: sign_flip(pairs[field].deltas) for field in fields if pairs[field].cases}
    drops = holm({field: test.p_drop for field, test in tests.items()})
    gains = holm({field: test.p_gain for field, test in tests.items()})
    needed = least_signs(alpha / max(1, len(tests)))
    found: dict[str, FieldChange] = {}
    for field in fields:
        now, before, n = pairs[field].current, pairs[field].baseline, len(pairs[field].cases)
        if not n:
            found[field] = FieldChange(field, "inconclusive", 0, 0, None, None, None, 1.0, 1.0, needed)
            continue
        informative = tests[field].informative
        kind: Kind = "within noise" if informative >= needed else "inconclusive"
        if drops[field] <= alpha:
            kind = "regression"
        elif gains[field] <= alpha:
            kind = "improvement"
        found[field] = FieldChange(
            field,
            kind,
            n,
            informative,
            math.fsum(now) / n,
            math.fsum(before) / n,
            mean_interval(now, confidence),
            drops[field],
            gains[field],
            needed,
        )
    return found


def figures_apart(before: float, now: float) -> tuple[str, str, str]:
    """Return two means and their distance with as many decimals as it takes not to hide a difference.

    >>> figures_apart(0.9121, 0.881), figures_apart(0.95001, 0.95)
    (('0.912', '0.881', '0.031'), ('0.95001', '0.95000', '0.00001'))
    """
    texts = "", "", ""
    for digits in range(3, 10):
        texts = f"{before:.{digits}f}", f"{now:.{digits}f}", f"{abs(now - before):.{digits}f}"
        if (texts[0] == texts[1]) == (abs(now - before) < 1e-9) and not _rounds_to_bound(before, now, texts):
            break
    return texts


def _rounds_to_bound(before: float, now: float, texts: tuple[str, str, str]) -> bool:
    """Tell if a mean that is neither 0 nor 1 would be shown as one of them."""
    shown = zip((before, now), map(float, texts[:2]))
    return any(text in {0.0, 1.0} and abs(text - mean) > 1e-9 for mean, text in shown)


def _p(p: float) -> str:
    """A p-value with two digits that count."""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.{1 - math.floor(math.log10(p))}f}"


def _p_text(p: float, confidence: float) -> str:
    """A p-value that is seen to be on its own side of the level."""
    alpha = level(confidence)
    text = _p(p)
    for digits in range(3, 13):
        if text.startswith("<") or (float(text) <= alpha) == (p <= alpha):
            break
        text = f"{p:.{digits}f}"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _plain(number: float) -> str:
    return f"{number:.12g}"


def _upwards(number: float) -> str:
    """Two digits that count, never below the number."""
    digits = max(2, 1 - math.floor(math.log10(number)))
    return f"{math.ceil(number * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def _differ(number: int) -> str:
    return {0: "no case differs", 1: "1 case differs"}.get(number, f"{number} cases differ")


def _moved(verdict: Change, verb: str, p: float) -> str:
    before, now, change = figures_apart(verdict.baseline or 0.0, verdict.current or 0.0)
    p_text = _p_text(p, verdict.confidence)
    return f"the {verdict.figure} {verb} by {change}, from {before} to {now} ({p_text}, n = {verdict.cases})"


def _words_of_noise(verdict: Change) -> str:
    seen = verdict.detectable.drop if verdict.detectable else None
    would = f"n = {verdict.cases} can detect drops above {_upwards(seen or 1.0)}{_shapes(verdict)}"
    if not verdict.informative:
        return f"no case differs; {would}"
    before, now, _ = figures_apart(verdict.baseline or 0.0, verdict.current or 0.0)
    p = _p_text(min(verdict.p_drop, verdict.p_gain), verdict.confidence)
    return f"the {verdict.figure} went from {before} to {now}, as chance alone may do ({p}); {would}"


def _words_of_doubt(verdict: Change) -> str:
    seen = verdict.detectable.drop if verdict.detectable else None
    few = ""
    if verdict.informative < least_signs(level(verdict.confidence)):
        few = f"; too few informative cases: {_differ(verdict.informative)}"
    if seen is None:
        return f"n = {verdict.cases} can detect no drop, however large{few}"
    return f"n = {verdict.cases} can only detect drops above {_upwards(seen)}{_shapes(verdict)}{few}"


def _shapes(verdict: Change) -> str:
    """How such a drop comes about, and what it takes if cases break, where that is another figure."""
    found = verdict.detectable
    if found is None or found.usual is None or found.shape == "broken":
        return ""
    if found.broken is None:
        return f" {_SHAPES[found.shape]}, and none from cases that break"
    return f" {_SHAPES[found.shape]}, above {_upwards(found.broken)} from cases that break"


_SHAPES: Final[Mapping[str, str]] = {
    "even": "spread over all cases",
    "alike": "by losses as large as the differences seen",
}

_WORDS: Final[Mapping[Kind, Callable[[Change], str]]] = {
    "regression": lambda verdict: _moved(verdict, "dropped", verdict.p_drop),
    "improvement": lambda verdict: _moved(verdict, "rose", verdict.p_gain),
    "within noise": _words_of_noise,
    "inconclusive": _words_of_doubt,
}
