"""Threads that a test starts."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("start", ["pool.submit(compare)", "pool.submit(copy_context().run, compare)"])
def test_a_pool_s_thread_belongs_to_the_only_running_test(pytester, start, workers):
    pytester.makepyfile(f"""
        from concurrent.futures import ThreadPoolExecutor
        from contextvars import copy_context

        from pytest_jsonmatch import assert_json_match

        pool = ThreadPoolExecutor(1)

        def compare():
            assert_json_match({{"a": 1}}, {{"a": 1}})

        def test_one():
            {start}.result()

        def test_two():
            {start}.result()
        """)
    outcome = pytester.runpytest("--jsonmatch-summary=all", "--jsonmatch-json=o.json", *workers)
    outcome.assert_outcomes(passed=2)
    kept = (pytester.path / "o.json").read_text(encoding="utf-8")
    assert ["::test_one#1" in kept, "::test_two#1" in kept] == [True, True]
