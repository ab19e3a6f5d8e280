from __future__ import annotations

import threading

import pytest

from pytest_jsonmatch.semantic.budget import Budget, Prices, Spent
from pytest_jsonmatch.semantic.judging import JudgeError

NEXT = Spent(80, 20)


def taken(budget, times=100, spent=None):
    """How many requests a budget allows one after the other, and what it then says."""
    for number in range(times):
        try:
            budget.reserve(NEXT)
        except JudgeError as error:
            return number, str(error)
        budget.settle(NEXT, spent)
    return times, None


@pytest.mark.parametrize("calls", [0, 1, 7])
def test_calls(calls):
    assert taken(Budget(Prices(), max_calls=calls)) == (calls, f"budget: max_calls={calls} is used up")


def test_no_limit():
    assert taken(Budget(Prices())) == (100, None)


def test_tokens_as_estimated_where_nobody_counts():
    assert taken(Budget(Prices(), max_tokens=350)) == (
        3,
        "budget: max_tokens=350 would be passed: 300 are used, and the next request may take 100",
    )


def test_tokens_as_counted():
    # Sums of 30: after nine of them 270 are used, and 100 more would be 370.
    assert taken(Budget(Prices(), max_tokens=350), spent=Spent(20, 10))[0] == 9


def test_cost():
    # A million prompts' tokens are 10, answers' 100: a request costs 0.0008 + 0.002.
    assert taken(Budget(Prices(10, 100), max_cost=0.01)) == (
        3,
        "budget: max_cost=0.01 would be passed: 0.0084 is spent, and the next request may cost 0.0028",
    )


def test_a_request_that_was_not_worked_on_costs_nothing_but_a_call():
    assert taken(Budget(Prices(), max_tokens=150, max_calls=9), spent=Spent(0, 0)) == (
        9,
        "budget: max_calls=9 is used up",
    )


@pytest.mark.parametrize("limit", [{"max_calls": 50}, {"max_tokens": 5000}, {"max_cost": 5000e-6}])
def test_threads_pass_no_limit_together(limit):
    budget = Budget(Prices(1, 1), **limit)
    together = threading.Barrier(8)
    sent = []

    def ask():
        together.wait()
        while True:
            try:
                budget.reserve(NEXT)
            except JudgeError:
                return
            sent.append(1)
            budget.settle(NEXT, None)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 50


def test_what_others_have_set_aside_is_waited_for():
    budget = Budget(Prices(), max_tokens=150)
    budget.reserve(NEXT)
    second = threading.Thread(target=budget.reserve, args=(NEXT,))
    second.start()
    second.join(0.05)
    waits = second.is_alive()
    budget.settle(NEXT, Spent(10, 10))
    second.join(10)
    assert (waits, second.is_alive()) == (True, False)


def test_what_would_not_fit_anyway_is_not_waited_for():
    budget = Budget(Prices(), max_tokens=150)
    budget.reserve(Spent(10, 10))
    with pytest.raises(JudgeError, match="max_tokens=150 would be passed"):
        budget.reserve(Spent(100, 100))
