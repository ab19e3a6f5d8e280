"""What a judge may cost: set aside before a request is sent, settled when its answer is there."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Condition
from typing import final

from pytest_jsonmatch.semantic.judging import JudgeError

__all__ = ["Budget", "Prices", "Spent"]


@final
@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, of prompts and of answers.

    >>> Prices(0.4, 1.6).of(1_000_000, 500_000)
    1.2
    """

    prompt: float = 0.0
    completion: float = 0.0

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of some tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of a request, estimated or counted by the endpoint."""

    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.prompt_tokens + self.completion_tokens


@final
class Budget:
    """Requests, tokens and money that all threads of a judge draw upon.

    Before a request is sent, it and its estimated tokens are set aside. Where that would pass a limit only
    because of requests under way, it waits for their answers, which may have taken less.

    Args:
        prices: of tokens.
        max_calls: how many requests; None is no limit, here and below.
        max_tokens: how many tokens.
        max_cost: how much they may cost.

    >>> budget = Budget(Prices(), max_calls=1)
    >>> budget.reserve(Spent(100, 20))
    >>> budget.settle(Spent(100, 20), Spent(90, 12))
    >>> budget.reserve(Spent(100, 20))
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.semantic.judging.JudgeError: budget: max_calls=1 is used up
    """

    def __init__(
        self,
        prices: Prices,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        self._prices = prices
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._calls = 0
        self._tokens = 0
        self._cost = 0.0
        self._under_way: list[Spent] = []
        self._changed = Condition()

    def reserve(self, estimate: Spent) -> None:
        """Set a request aside; a JudgeError of the kind `budget` if it would pass a limit."""
        with self._changed:
            while True:
                if self._max_calls is not None and self._calls >= self._max_calls:
                    raise JudgeError("budget", f"max_calls={self._max_calls} is used up")
                if (short := self._short(estimate, self._under_way)) is None:
                    self._calls += 1
                    self._under_way.append(estimate)
                    return
                if not self._under_way or self._short(estimate, []) is not None:
                    raise JudgeError("budget", short)
                self._changed.wait()

    def settle(self, estimate: Spent, spent: Spent | None) -> None:
        """Put in place of what was set aside what was spent; None: nobody knows, and the estimate stands."""
        spent = estimate if spent is None else spent
        with self._changed:
            self._under_way.remove(estimate)
            self._tokens += spent.tokens
            self._cost += self._prices.of(spent.prompt_tokens, spent.completion_tokens)
            self._changed.notify_all()

    def _short(self, estimate: Spent, under_way: list[Spent]) -> str | None:
        """Return what a request would pass, were these requests to take what was estimated."""
        waiting = [*under_way, estimate]
        tokens = self._tokens + sum(each.tokens for each in waiting)
        if self._max_tokens is not None and tokens > self._max_tokens:
            return (
                f"max_tokens={self._max_tokens} would be passed: {self._tokens:,} are used, and the next "
                f"request may take {estimate.tokens:,}"
            )
        prices = self._prices
        cost = self._cost + sum(prices.of(each.prompt_tokens, each.completion_tokens) for each in waiting)
        if self._max_cost is not None and cost > self._max_cost:
            next_cost = prices.of(estimate.prompt_tokens, estimate.completion_tokens)
            return (
                f"max_cost={self._max_cost} would be passed: {self._cost:.6g} is spent, and the next request "
                f"may cost {next_cost:.6g}"
            )
        return None
