"""Golden files become tests: which files, under which names, selected, deselected and distributed like others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_jsonmatch.reading import datafiles

ONE = "actual: {a: 1}\nexpected: {a: 1}\n"
TWO = """
cases:
  - id: first
    actual: {a: 1}
    expected: {a: 1}
  - id: second
    actual: {a: 1}
    expected: {a: 2}
"""


def collected(pytester, *arguments):
    outcome = pytester.runpytest("--collect-only", "-q", *arguments)
    return [line for line in outcome.outlines if "::" in line]


def test_golden_files_anywhere_and_nothing_else(pytester, write, golden):
    golden(ONE)
    write("deep/er/b.golden.yml", TWO)
    write("c.yaml", ONE)
    write("golden.yaml", ONE)
    write("d.json", "{}")
    assert collected(pytester) == [
        "a.golden.yaml::a",
        "deep/er/b.golden.yml::first",
        "deep/er/b.golden.yml::second",
    ]


def test_a_file_named_on_the_command_line(pytester, write):
    write("plain.yaml", TWO)
    write("other.yaml", TWO)
    pytester.runpytest("plain.yaml").assert_outcomes(passed=1, failed=1)


def test_globs_of_the_ini_file(pytester, write):
    write("cases/a.yaml", ONE)
    write("cases/deep/b.yaml", ONE)
    write("else/c.yaml", ONE)
    write("x.case", ONE)
    pytester.makeini("[pytest]\njsonmatch_files = cases/*.yaml *.case\n")
    assert sorted(collected(pytester)) == ["cases/a.yaml::a", "cases/deep/b.yaml::b", "x.case::x.case"]


def test_selecting_one_case(pytester, golden):
    golden(TWO)
    pytester.runpytest("a.golden.yaml::second").assert_outcomes(failed=1)


def test_keywords_select_by_id_and_file(pytester, write, golden):
    golden(TWO)
    write("b.golden.yaml", ONE)
    assert collected(pytester, "-k", "second") == ["a.golden.yaml::second"]
    assert collected(pytester, "-k", "b.golden") == ["b.golden.yaml::b"]
    assert collected(pytester, "-k", "jsonmatch") == []


def test_last_failed_first(pytester, golden):
    golden(TWO)
    pytester.runpytest().assert_outcomes(passed=1, failed=1)
    pytester.runpytest("--lf").assert_outcomes(failed=1)


def test_workers_run_what_one_process_runs(pytester, write, golden):
    golden(TWO)
    write("b.golden.yaml", ONE)
    write("c.golden.yaml", "- no mapping\n")
    pytester.runpytest("-p", "xdist", "-n", "2").assert_outcomes(passed=2, failed=1, errors=1)


@pytest.mark.parametrize(
    ("name", "case_id"),
    [
        ("receipt.golden.yaml", "receipt"),
        ("Blue Café (1).golden.yml", "Blue-Café-1"),
        ("setup_module.golden.yaml", "case-setup_module"),
        ("__x__.golden.yaml", "case-x"),
        ("???.golden.yaml", "case"),
    ],
)
def test_the_id_of_a_single_case_is_its_file(pytester, name, case_id):
    (pytester.path / name).write_text(ONE, encoding="utf-8")
    pytester.runpytest("-v").stdout.fnmatch_lines([f"*::{case_id} PASSED*"])


def test_the_id_of_a_listed_case_is_its_place(pytester, golden):
    golden("cases:\n- expected: 1\n- {id: x, expected: 1}\n- expected: 1\n")
    assert collected(pytester) == ["a.golden.yaml::case-1", "a.golden.yaml::x", "a.golden.yaml::case-3"]


def test_ids_may_hold_all_that_node_ids_can(pytester, golden):
    golden("cases:\n" + "".join(f"- {{id: '{i}', actual: {{}}, expected: {{}}}}\n" for i in IDS))
    pytester.runpytest("a.golden.yaml::größe.1", "a.golden.yaml::x@2").assert_outcomes(passed=2)
    pytester.runpytest().assert_outcomes(passed=len(IDS))


IDS = ["größe.1", "x@2", "a-b_c", "1", "test", "Test", "a+b", "_x", "class", "judge", "cases", "-k"]


def test_a_file_is_read_once_where_pytest_asks_for_its_module_again_and_again(pytester, golden):
    pytester.makeini("[pytest]\ncollect_imported_tests = false\n")
    pytester.makeconftest("""
        from pytest_jsonmatch.golden import collector

        loads = []

        def counting(*arguments, load=collector.load_cases, **options):
            loads.append(arguments[1].name)
            return load(*arguments, **options)

        collector.load_cases = counting

        def pytest_collection_finish(session):
            print(f"{len(session.items)} cases, loads: {loads}")

        def pytest_unconfigure():
            collector.load_cases = counting.__kwdefaults__["load"]
        """)
    golden("cases:\n" + "- {actual: {}, expected: {}}\n" * 1000)
    outcome = pytester.runpytest("-q", "-s", "-W", "ignore::pytest.PytestConfigWarning")
    outcome.assert_outcomes(passed=1000)
    outcome.stdout.fnmatch_lines(["1000 cases, loads: ['a.golden.yaml']"])


def test_locations_are_those_of_the_cases(pytester, write):
    pytester.makeconftest("""
        def pytest_collection_finish(session):
            for item in session.items:
                print(item.nodeid, item.location)
                path, line, name = item.reportinfo()
                assert (path, line, name) == (item.path, *item.location[1:])
        """)
    write("golden/a.golden.yaml", TWO)
    pytester.runpytest("-s").stdout.fnmatch_lines("""\
        golden/a.golden.yaml::first ('golden/a.golden.yaml', 2, 'first')
        golden/a.golden.yaml::second ('golden/a.golden.yaml', 5, 'second')""")


def test_the_case_fixture_belongs_to_golden_cases(pytester):
    pytester.makepyfile("def test_it(jsonmatch_case): pass")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(
        "jsonmatch_case and jsonmatch_actual belong to golden YAML cases; *::test_it is not one and can't use them"
    )


def test_a_module_attribute_that_a_plugin_adds_is_no_case(pytester, golden):
    pytester.makeconftest("""
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_collectstart(collector):
            if isinstance(collector, pytest.Module):
                collector.obj.added = lambda: None
            return (yield)
        """)
    golden(ONE)
    assert collected(pytester) == ["a.golden.yaml::a"]


def test_a_file_on_another_drive_is_named_in_full(monkeypatch):
    def other_drive(path, start):
        raise ValueError(f"path is on mount {path!r}, start on mount {start!r}")

    monkeypatch.setattr(datafiles.os.path, "relpath", other_drive)
    assert datafiles.display_name(Path("/golden/a.yaml"), Path("/here")) == "/golden/a.yaml"


def test_a_golden_file_can_be_json_and_is_updated_as_json(pytester):
    pytester.makefile(
        ".golden.json", a='{"cases": [\n\t{"id": "one", "expected": {"e": 2}, "actual": {"e": 1}}\n]}'
    )
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1)
    updated = '{"cases": [\n\t{"id": "one", "expected": {"e": 1}, "actual": {"e": 1}}\n]}'
    assert (pytester.path / "a.golden.json").read_text(encoding="utf-8").strip() == updated


def test_two_halves_of_a_character_in_json_are_that_character(pytester):
    value = {"e": "\N{GRINNING FACE}", "f": r"\ud83d\ude00"}
    escaped, plain = json.dumps(value), json.dumps(value, ensure_ascii=False)
    pytester.makefile(".golden.json", a=f'{{"expected": {escaped}, "actual": {plain}}}')
    pytester.runpytest().assert_outcomes(passed=1)


def test_an_id_with_dots_is_shown_so_that_it_can_be_pasted_back(pytester):
    pytester.makefile(
        ".golden.yaml", a="cases:\n- {id: v1.2, expected: 1, actual: 1}\n- {id: v1.3, expected: 1, actual: 2}"
    )
    result = pytester.runpytest("-v")
    result.stdout.fnmatch_lines(["a.golden.yaml::v1.2 PASSED*", "a.golden.yaml::v1.3 FAILED*", "_* v1.3  *_"])
    pytester.runpytest("a.golden.yaml::v1.2").assert_outcomes(passed=1)
