"""Tests that run side by side in threads, and threads that a test starts."""

from __future__ import annotations

import pytest

SIDE_BY_SIDE = """
    import threading

    import pytest


    def pytest_runtestloop(session):
        def run(item):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)

        threads = [threading.Thread(target=run, args=(item,)) for item in session.items]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return True


    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item):
        call = pytest.CallInfo.from_call(item.obj, "call")
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)
        return True
"""


def test_tests_in_threads_are_told_apart(pytester):
    pytester.makeconftest(SIDE_BY_SIDE)
    pytester.makepyfile(
        """
        import threading

        import pytest
        from pytest_jsonmatch import assert_json_match

        both_run = threading.Barrier(2, timeout=120)

        def test_one():
            both_run.wait()
            assert_json_match({"one": 1}, {"one": 1})
            both_run.wait()

        @pytest.mark.jsonmatch(threshold=0.5)
        def test_two():
            both_run.wait()
            assert_json_match({"two": 1, "b": 1}, {"two": 1, "b": 2})
            both_run.wait()
        """
    )
    outcome = pytester.runpytest("--jsonmatch-json=o.json")
    outcome.assert_outcomes(passed=2)
    kept = (pytester.path / "o.json").read_text(encoding="utf-8")
    assert ["::test_one#1" in kept, "::test_two#1" in kept, "#2" in kept] == [True, True, False]


def test_a_thread_of_nobody_is_an_error_while_several_tests_run(pytester):
    pytester.makeconftest(SIDE_BY_SIDE)
    pytester.makepyfile(
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor

        import pytest
        from pytest_jsonmatch import ConfigurationError, assert_json_match

        both_run = threading.Barrier(2, timeout=120)

        def test_one():
            both_run.wait()
            with ThreadPoolExecutor() as pool, pytest.raises(ConfigurationError) as error:
                pool.submit(assert_json_match, 1, 1).result()
            both_run.wait()
            said = str(error.value)
            assert "several tests run at once" in said and "test_one" in said and "test_two" in said

        def test_two():
            both_run.wait()
            both_run.wait()
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)


@pytest.mark.parametrize("start", ["pool.submit(compare)", "pool.submit(copy_context().run, compare)"])
def test_a_pool_s_thread_belongs_to_the_only_running_test(pytester, start, workers):
    pytester.makepyfile(
        f"""
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
        """
    )
    outcome = pytester.runpytest("--jsonmatch-summary=all", "--jsonmatch-json=o.json", *workers)
    outcome.assert_outcomes(passed=2)
    kept = (pytester.path / "o.json").read_text(encoding="utf-8")
    assert ["::test_one#1" in kept, "::test_two#1" in kept] == [True, True]
