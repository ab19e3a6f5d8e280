"""What is recorded, wherever in a test the comparison happens."""

from __future__ import annotations

import re
import sys

import pytest

pytestmark = pytest.mark.usefixtures("recorded")


EVERYWHERE = """
from concurrent.futures import ThreadPoolExecutor
import unittest

import pytest
from pytest_jsonmatch import assert_json_match as imported


@pytest.fixture
def around():
    imported({}, {}, name="before")
    yield
    imported({}, {}, name="after")


def test_a(around):
    imported({}, {}, name="amid")


def test_b(assert_json_match):
    assert_json_match({"a": 1, "b": 2}, {"a": 1, "b": 3}, threshold=0.5)


def test_c(assert_json_match):
    assert_json_match({"a": 1, "b": 2}, {"a": 1, "b": 3})


class TestD:
    @pytest.mark.parametrize("value", [1, 2])
    def test_it(self, value):
        imported([value], [1], metric="json_similarity", threshold=0)


class TestE(unittest.TestCase):
    def test_it(self):
        imported({"a": 1}, {"a": 1})


def test_f():
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: imported({"n": n}, {"n": n}), range(40)))
"""


def test_wherever_it_is_compared(pytester, recorded, processes):
    pytester.makepyfile(test_it=EVERYWHERE)
    pytester.runpytest(*processes).assert_outcomes(passed=6, failed=1)
    found = [(name.removeprefix("test_it.py::"), score) for name, score in recorded()]
    of_threads = [each for each in found if each[0].startswith("test_f")]
    assert sorted(of_threads) == sorted((f"test_f#{n}", 1.0) for n in range(1, 41))
    assert [each for each in found if each not in of_threads] == [
        *(("TestD::test_it[1]#1", 1.0), ("TestD::test_it[2]#1", 0.0), ("TestE::test_it#1", 1.0)),
        *(("before", 1.0), ("amid", 1.0), ("after", 1.0), ("test_b#1", 0.5), ("test_c#1", 0.5)),
    ]


def test_async_tests(pytester, recorded):
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(
        test_it="""
        import asyncio
        import pytest
        from pytest_jsonmatch import assert_json_match

        async def compare(value):
            await asyncio.sleep(0)
            assert_json_match({"a": value}, {"a": 1}, threshold=0)

        @pytest.mark.asyncio
        async def test_one():
            await asyncio.gather(compare(1), compare(1))

        @pytest.mark.asyncio
        async def test_two():
            await compare(2)
        """
    )
    # In a process of its own: old releases of pytest-asyncio leave an event loop behind.
    pytester.runpytest_subprocess("-p", "asyncio").assert_outcomes(passed=2)
    found = [(name.removeprefix("test_it.py::"), score) for name, score in recorded()]
    assert found == [("test_one#1", 1.0), ("test_one#2", 1.0), ("test_two#1", 0.0)]


def test_comparisons_have_a_name_or_their_number_in_the_test(pytester, python, recorded):
    python("""
        def test_one():
            assert_json_match({}, {})
            assert_json_match({}, {}, name="header")
            assert_json_match({}, {})

        @pytest.mark.parametrize("n", [1, 2])
        def test_two(n):
            for name in ["page", "page#2", "page", "page"]:
                assert_json_match({}, {}, name=name)
        """)
    pytester.runpytest().assert_outcomes(passed=3)
    assert [identity for identity, _ in recorded()] == [
        *("test_it.py::test_one#1", "header", "test_it.py::test_one#3"),
        # A name that comes again gets a number; the same name in two tests is two comparisons.
        *("page", "page#2", "page#3", "page#4"),
        *("page", "page#2", "page#3", "page#4"),
    ]


def test_xfail_and_skip_are_left_out(pytester, python, recorded, workers):
    python("""
        def test_counted():
            assert_json_match({}, {})

        @pytest.mark.xfail
        def test_xfailed():
            assert_json_match({"a": 1}, {"a": 2})

        @pytest.mark.xfail
        def test_xpassed():
            assert_json_match({}, {})

        def test_skipped_half_way():
            assert_json_match({}, {})
            pytest.skip("enough")

        @pytest.mark.skip
        def test_skipped(assert_json_match):
            pass
        """)
    outcome = pytester.runpytest(*workers)
    outcome.assert_outcomes(passed=1, xfailed=1, xpassed=1, skipped=2)
    assert recorded() == [("test_it.py::test_counted#1", 1.0)]
    outcome.stdout.fnmatch_lines(["not counted above: 2 expected to fail, 2 skipped"])


def test_the_last_rerun_wins(pytester, python, recorded, processes):
    pytest.importorskip("pytest_rerunfailures")
    python("""
        tries = []

        def test_flaky():
            tries.append(1)
            assert_json_match({"a": 1}, {"a": 1})
            assert_json_match({"a": len(tries)}, {"a": 3})
        """)
    outcome = pytester.runpytest_subprocess(*processes, "-p", "rerunfailures", "--reruns", "2")
    assert outcome.parseoutcomes() == {"passed": 1, "rerun": 2}
    assert recorded() == [("test_it.py::test_flaky#1", 1.0), ("test_it.py::test_flaky#2", 1.0)]


def test_a_rerun_begins_its_user_properties_again(pytester, python):
    pytest.importorskip("pytest_rerunfailures")
    python("""
        tries = []

        def test_flaky(request):
            request.node.user_properties.append(("try", len(tries)))
            tries.append(1)
            assert_json_match({"a": len(tries)}, {"a": 2})
        """)
    run = pytester.inline_run("-p", "rerunfailures", "--reruns", "1")
    reports = run.getreports("pytest_runtest_logreport")
    assert reports[-1].user_properties == [
        ("try", 0),
        ("try", 1),
        *((f"jsonmatch_{statistic}", 1.0) for statistic in ("score", "precision", "recall", "f1")),
    ]


def test_groups_of_xdist_do_not_show_in_ids(pytester, python, recorded):
    python("""
        @pytest.mark.xdist_group("one@two")
        def test_one():
            assert_json_match({}, {})

        def test_two():
            assert_json_match({}, {})
        """)
    pytester.runpytest("-p", "xdist", "-n", "1", "--dist", "loadgroup").assert_outcomes(passed=2)
    assert recorded() == [("test_it.py::test_one#1", 1.0), ("test_it.py::test_two#1", 1.0)]


def test_groups_of_xdist_do_not_show_in_ids_of_cases(pytester):
    cases = "producer: app:ask\nmarks: [{xdist_group: one}]\ncases:\n"
    cases += "- {id: a, input: 1, expected: 1}\n- {id: b, input: 2, expected: 2, repeat: 2}\n"
    pytester.path.joinpath("a.golden.yaml").write_text(cases, "utf-8")
    pytester.makepyfile(app="def ask(n): return n")
    pytester.makeini("[pytest]\npythonpath = .\n")
    options = ("--jsonmatch-json=r.jsonl", "--jsonmatch-html=r.html", "--jsonmatch-gate=completeness == 1")
    grouped = ("-p", "xdist", "-n", "1", "--dist", "loadgroup")
    files = []
    for more in (
        (),
        (*grouped, "--jsonmatch-record=out.jsonl"),
        (*grouped, "--jsonmatch-replay=out.jsonl"),
    ):
        outcome = pytester.runpytest_subprocess(*options, *more)
        outcome.assert_outcomes(passed=3)
        outcome.stdout.no_fnmatch_line("*::*@one*")
        files.append(pytester.path.joinpath("r.jsonl").read_text().splitlines()[1:])
        assert "@one" not in pytester.path.joinpath("r.html").read_text("utf-8")
    assert files.count(files[0]) == len(files)
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=3)


def test_half_a_surrogate_pair_does_not_end_a_run(pytester, recorded, workers):
    pytester.makepyfile(
        test_it=r"""
        def test_one(assert_json_match):
            assert_json_match({"\ud800": "\udc00"}, {"\ud800": "\udfff"}, threshold=0, name="\ud83d")
        """
    )
    pytester.runpytest(*workers).assert_outcomes(passed=1)
    assert recorded() == [("\\ud83d", 0.0)]


def test_statistics_are_properties_of_the_test_in_junit(pytester, python, workers):
    python("""
        def test_one():
            assert_json_match({}, {})
            assert_json_match({"a": 1}, {"a": 1, "b": 3}, name="half", threshold=0.5)

        def test_without():
            pass
        """)
    run = pytester.runpytest("--junitxml=junit.xml", *workers)
    run.assert_outcomes(passed=2)
    junit = pytester.path.joinpath("junit.xml").read_text(encoding="utf-8")
    found = re.findall('<property name="jsonmatch_([^"]*)" value="([^"]*)"', junit)
    mean = "0.8333333333333333"
    assert found == [("score", mean), ("precision", "1.0"), ("recall", "0.75"), ("f1", mean)]


def test_a_run_inside_a_test_records_nothing_outside(pytester, python, recorded):
    python("""
        pytest_plugins = ["pytester"]

        def test_outer(pytester):
            assert_json_match({}, {}, name="before")
            pytester.makepyfile(
                test_inner='''
                from pytest_jsonmatch import assert_json_match

                def test_inner():
                    assert_json_match({"a": 1}, {"a": 2}, threshold=0, name="inner")
                '''
            )
            result = pytester.runpytest_inprocess("-p", "jsonmatch")
            result.assert_outcomes(passed=1)
            assert_json_match({}, {}, name="after")
        """)
    pytester.runpytest().assert_outcomes(passed=1)
    assert recorded() == [("before", 1.0), ("after", 1.0)]


def test_without_the_plugin_it_only_asserts(pytester, python, every_plugin, processes):
    pytester.path.joinpath("conftest.py").unlink()  # it implements a hook that nobody knows now
    python("""
        def test_one():
            assert_json_match({"a": 1}, {"a": 1})
            with pytest.raises(AssertionError):
                assert_json_match({"a": 1}, {"a": 2})
        """)
    # (Hypothesis takes half a second to import in each process.)
    without = ("-p", "no:jsonmatch", "-p", "no:hypothesispytest")
    outcome = pytester.run(sys.executable, "-m", "pytest", *without, *processes)
    outcome.assert_outcomes(passed=1)
    assert "jsonmatch" not in outcome.stdout.str().split("collected")[-1]


UNREADABLE = """
    from pytest_jsonmatch import assert_json_match

    def test_truncated():
        assert_json_match('{"a": 1, "b": ', {"a": 1, "b": 2}, metric="field_match", threshold=0)

    def test_of_another_type():
        assert_json_match([1], {"a": 1}, metric="field_match")

    def test_fine():
        assert_json_match({"a": 1}, {"a": 1}, metric="field_match")
"""


def test_an_answer_that_cannot_be_read_scores_0(pytester, recorded, workers):
    pytester.makepyfile(test_it=UNREADABLE)
    outcome = pytester.runpytest("--jsonmatch-summary=all", *workers)
    outcome.assert_outcomes(passed=1, failed=2)
    found = [(name.removeprefix("test_it.py::"), score) for name, score in recorded()]
    assert found == [("test_fine#1", 1.0), ("test_of_another_type#1", 0.0), ("test_truncated#1", 0.0)]
    outcome.stdout.re_match_lines([r"a +3 +1 +0 +2 +0.33.*", r"b +1 +0 +0 +1 +0.00.*"], consecutive=True)


def test_a_test_that_failed_before_comparing_counts_0_and_the_summary_says_so(pytester):
    cases = "cases:\n  - { expected: 1, actual: 1 }\n  - { expected: 1, actual_file: none.json }\n"
    (pytester.path / "a.golden.yaml").write_text(cases)
    outcome = pytester.runpytest()
    outcome.stdout.fnmatch_lines(
        ["mean over cases: score 0.50*", "1 failed before comparing, which counts as 0 in means over cases"]
    )
    outcome.stdout.no_fnmatch_line("not counted above*")
