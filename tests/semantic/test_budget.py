from __future__ import annotations

import threading

import pytest

from pytest_jsonmatch.semantic.budget import Budget
from pytest_jsonmatch.semantic.judging import JudgeError


def taken(budget, times=100, used=100):
    """How many requests of an estimated 100 tokens a budget allows one after the other, and what it then says."""
    for number in range(times):
        try:
            budget.reserve(100)
        except JudgeError as error:
            return number, str(error)
        budget.settle(100, used)
    return times, None


@pytest.mark.parametrize("calls", [0, 1, 7])
def test_calls(calls):
    assert taken(Budget(max_calls=calls)) == (calls, f"budget: max_calls={calls} is used up")


def test_no_limit():
    assert taken(Budget()) == (100, None)


def test_tokens_as_estimated():
    assert taken(Budget(max_tokens=350)) == (
        3,
        "budget: max_tokens=350 would be passed: 300 are used, and the next request may take 100",
    )


def test_tokens_as_counted():
    # After nine times 30 tokens 270 are used, and 100 more would be 370.
    assert taken(Budget(max_tokens=350), used=30)[0] == 9


def test_a_request_that_was_not_worked_on_costs_nothing_but_a_call():
    assert taken(Budget(max_tokens=150, max_calls=9), used=0) == (9, "budget: max_calls=9 is used up")


@pytest.mark.parametrize("limit", [{"max_calls": 50}, {"max_tokens": 5000}])
def test_threads_pass_no_limit_together(limit):
    budget = Budget(**limit)
    together = threading.Barrier(8)
    sent = []

    def ask():
        together.wait()
        while True:
            try:
                budget.reserve(100)
            except JudgeError:
                return
            sent.append(1)
            budget.settle(100, 100)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 50


def test_what_others_have_set_aside_is_waited_for():
    budget = Budget(max_tokens=150)
    budget.reserve(100)
    second = threading.Thread(target=budget.reserve, args=(100,))
    second.start()
    second.join(0.05)
    waits = second.is_alive()
    budget.settle(100, 20)
    second.join(10)
    assert (waits, second.is_alive()) == (True, False)


def test_what_would_not_fit_anyway_is_not_waited_for():
    budget = Budget(max_tokens=150)
    budget.reserve(20)
    with pytest.raises(JudgeError, match="max_tokens=150 would be passed"):
        budget.reserve(200)
