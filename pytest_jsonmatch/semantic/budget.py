"""The budget of a judge: reserved before a request is sent, settled when it has ended."""

from __future__ import annotations

from threading import Condition
from typing import final

from pytest_jsonmatch.semantic.judging import JudgeError


@final
class Budget:
    """Requests and tokens that all threads of a judge draw upon.

    Each request reserves its estimated tokens. If it does not fit only because of requests under way, it
    waits for them: they may take fewer tokens than estimated.

    Args:
        max_calls: the limit on requests; None is no limit, here and below.
        max_tokens: the limit on tokens.

    >>> budget = Budget(max_calls=1)
    >>> budget.reserve(120)
    >>> budget.settle(120, 102)
    >>> budget.reserve(120)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.semantic.judging.JudgeError: budget: max_calls=1 is used up
    """

    def __init__(self, *, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._calls = 0
        self._used = 0
        self._set_aside = 0
        self._changed = Condition()

    def reserve(self, tokens: int) -> None:
        """Reserve a request and its estimated tokens.

        Raises:
            JudgeError: (of the kind `budget`) it would exceed a limit.
        """
        with self._changed:
            while True:
                if self._max_calls is not None and self._calls >= self._max_calls:
                    raise JudgeError("budget", f"max_calls={self._max_calls} is used up")
                if self._max_tokens is not None and self._used + tokens > self._max_tokens:
                    raise JudgeError(
                        "budget",
                        f"max_tokens={self._max_tokens} would be passed: {self._used:,} are used, and the "
                        f"next request may take {tokens:,}",
                    )
                if self._max_tokens is None or self._used + self._set_aside + tokens <= self._max_tokens:
                    break
                self._changed.wait()
            self._calls += 1
            self._set_aside += tokens

    def settle(self, tokens: int, used: int) -> None:
        """Replace the tokens reserved for a request by those that it used."""
        with self._changed:
            self._set_aside -= tokens
            self._used += used
            self._changed.notify_all()
