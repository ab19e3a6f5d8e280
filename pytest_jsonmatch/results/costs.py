"""The cost and latency of many answers by model: sums that merge exactly, in memory of constant size."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.value.sums import ExactSum
from pytest_jsonmatch.results.answer import STATISTICS, Spent

if TYPE_CHECKING:
    from collections.abc import Mapping

_ATTRIBUTES: Final = ("seconds", "cost", "tokens")
_NOTHING: Final = Spent()


class _ModelSums:
    """The sums over the answers of one model."""

    __slots__ = ("answers", "known", "scored", "scores", "sums", "times")

    def __init__(self) -> None:
        self.answers = 0
        self.scored = 0
        """The number of answers with a score."""
        self.scores = ExactSum()
        self.known: Counter[str] = Counter()
        """The number of answers with each attribute of `Spent`."""
        self.sums = {name: ExactSum() for name in _ATTRIBUTES}
        self.times: Counter[float] = Counter()
        """The number of answers by their seconds, rounded to three digits."""

    def add(self, spent: Spent, score: float | None) -> None:
        self.answers += 1
        if score is not None:
            self.scored += 1
            self.scores.extend((score,))
        for name in _ATTRIBUTES:
            if (value := getattr(spent, name)) is not None:
                self.known[name] += 1
                self.sums[name].extend((float(value),))
        if spent.seconds is not None:
            self.times[float(f"{spent.seconds:.3g}")] += 1

    def merge(self, other: _ModelSums) -> None:
        self.answers += other.answers
        self.scored += other.scored
        self.scores.merge(other.scores)
        self.known.update(other.known)
        for name, exact_sum in other.sums.items():
            self.sums[name].merge(exact_sum)
        self.times.update(other.times)

    def to_plain(self) -> dict[str, Any]:
        return {
            "answers": self.answers,
            "scores": [self.scores.value, self.scored],
            **{name: [self.sums[name].value, self.known[name]] for name in _ATTRIBUTES if self.known[name]},
            **({"times": [[*item] for item in sorted(self.times.items())]} if self.times else {}),
        }


@final
class CostTotals:  # noqa: PLW1641 - its numbers change, so it has no hash
    """The cost and latency of answers: sums by model, and times rounded to three digits.

    >>> costs = CostTotals()
    >>> costs.add(Spent("small", seconds=1.5, cost=0.25), score=1.0)
    >>> costs.add(Spent("large", seconds=4.5), score=0.5)
    >>> costs.compute("latency.mean"), costs.compute("cost.total"), costs.compute("tokens.mean")
    ((3.0, 2), (0.25, 1), (None, 0))
    """

    __slots__ = ("_models",)

    def __init__(self, models: dict[str, _ModelSums] | None = None) -> None:
        self._models: dict[str, _ModelSums] = {} if models is None else models

    def add(self, spent: Spent | None, score: float | None) -> None:
        """Add an answer and its score, None without one; nothing is added if nothing is known about it."""
        if spent is not None and spent != _NOTHING:
            self._models.setdefault(spent.model or "", _ModelSums()).add(spent, score)

    def merge(self, other: CostTotals) -> None:
        """Add the cost and latency of other answers."""
        for model, sums in other._models.items():
            self._models.setdefault(model, _ModelSums()).merge(sums)

    @property
    def by_model(self) -> dict[str, CostTotals]:
        """The parts by model, sorted; the model is empty if it is unknown."""
        return {model: CostTotals({model: self._models[model]}) for model in sorted(self._models)}

    @property
    def answers(self) -> int:
        """The number of answers about which something is known."""
        return sum(sums.answers for sums in self._models.values())

    @property
    def mean_score(self) -> float | None:
        """The mean score of these answers; None without any."""
        overall = self._all_models
        return overall.scores.value / overall.scored if overall.scored else None

    @property
    def _all_models(self) -> _ModelSums:
        """The sums over all models."""
        overall = _ModelSums()
        for sums in self._models.values():
            overall.merge(sums)
        return overall

    def compute(self, name: str) -> tuple[float | None, int]:
        """Return one of `STATISTICS` over the answers for which it is known, and their number."""
        attribute, (_, _, form) = STATISTICS[name].attribute, name.partition(".")
        overall = self._all_models
        known = overall.known[attribute]
        if not known:
            return None, 0
        if form == "p95":
            return _find_p95(overall.times), known
        total = overall.sums[attribute].value
        if form == "mean":
            return total / known, known
        return int(total) if attribute == "tokens" else total, known

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same numbers, each rounded once."""
        return isinstance(other, CostTotals) and self.to_plain() == other.to_plain()

    def to_plain(self) -> dict[str, Any]:
        """Return the sums by model as plain JSON types, rounded once."""
        return {model: self._models[model].to_plain() for model in sorted(self._models)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CostTotals:
        """Return the sums from the result of `to_plain`."""
        models: dict[str, _ModelSums] = {}
        for model, numbers in plain.items():
            sums = models[model] = _ModelSums()
            sums.answers = numbers["answers"]
            score, sums.scored = numbers["scores"]
            sums.scores.extend((score,))
            for name in _ATTRIBUTES:
                total, sums.known[name] = numbers.get(name, (0.0, 0))
                sums.sums[name].extend((total,))
            sums.times.update({float(seconds): times for seconds, times in numbers.get("times", ())})
        return cls(models)


def _find_p95(times: Counter[float]) -> float:
    """Return the 95th percentile: the lowest time that 95 % of the times do not exceed."""
    ordered = sorted(times)
    ranks = accumulate(times[seconds] for seconds in ordered)
    needed = -(-95 * sum(times.values()) // 100)
    return next(seconds for seconds, rank in zip(ordered, ranks, strict=True) if rank >= needed)
