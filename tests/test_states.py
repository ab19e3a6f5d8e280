"""One life of a comparison: what each step returns, and which classes are gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_jsonmatch
from pytest_jsonmatch import Comparison, MatchResult, RunResult, compare_corpus, compare_json, read_results
from pytest_jsonmatch.comparing.comparer import Comparer
from pytest_jsonmatch.comparing.request import ComparisonRequest, resolve

PACKAGE = Path(pytest_jsonmatch.__file__).parent
RETIRED = (
    "Comparing",
    "_Asked",
    "Compared",
    "TestNews",
    "RunNews",
    "Recorder",
    "Outcomes",
    "Turn",
    "ResultSet",
    "Corpus",
    "RunSums",
    "RunView",
    "Section",
    "Rows",
    "RunTotals",
    "_FieldSums",
    "MetricFields",
)


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_class_is_gone(name):
    found = [
        source.name
        for source in PACKAGE.rglob("*.py")
        if re.search(rf"^class {name}\b", source.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == []


def test_metric_and_options_are_compiled_once():
    one, other = (Comparer.of("leaf_f1", {"skip": ["id"]}) for _ in range(2))
    assert one is other
    assert Comparer.of("leaf_f1", {"skip": ["b"]}) is not one


def test_the_engine_returns_a_match_result():
    assert type(Comparer.of("leaf_f1").compare({"a": 1}, {"a": 1})) is MatchResult
    assert type(compare_json({"a": 1}, {"a": 1})) is MatchResult


def test_a_request_has_all_defaults():
    given = {"metric": None, "threshold": 0.5, "options": {"judge": "ours"}}
    request = resolve({"a": 1}, {"a": 1}, **given)
    assert type(request) is ComparisonRequest
    assert (request.metric, request.limits, request.options) == (
        "leaf_f1",
        {"score": 0.5},
        {"validate": "off"},
    )
    assert request.judge == "ours"


CONFTEST = """
from pytest_jsonmatch import Comparison
from pytest_jsonmatch.session.payload import TestPayload

class Reports:
    def pytest_runtest_logreport(self, report):
        payload = getattr(report, "jsonmatch", None)
        if payload is not None:
            assert type(payload) is TestPayload
            for comparison in payload.comparisons:
                assert type(comparison) is Comparison
                print(f"{comparison.nodeid} {comparison.score}")

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reports())
"""


def test_a_report_carries_comparisons(pytester, workers):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        test_a="""
        def test_one(assert_json_match):
            assert_json_match({"a": "\\ud800"}, {"a": "\\ud800"}, name="\\ud800")
        """
    )
    result = pytester.runpytest("-s", *workers)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines("*test_a.py::test_one 1.0*")


def test_text_is_made_only_for_another_process():
    from pytest_jsonmatch.session.payload import TestPayload, decode, encode

    result = compare_json({"a": 1, "\ud800": "x"}, {"a": 2})
    comparison = Comparison.of(result, id="a", nodeid="t.py::a", threshold={"score": 1.0}, passed=False)
    payload = TestPayload()
    payload.compares, payload.comparisons, payload.tags = True, [comparison], {"n": 1}
    text = encode(payload)
    assert text.isascii()
    decoded = decode(text)
    assert (decoded.compares, decoded.comparisons, decoded.tags) == (True, [comparison], {"n": 1})
    assert encode(decoded) == text


def test_a_corpus_a_session_and_a_file_are_run_results(pytester):
    pytester.makepyfile(
        """
        def test_one(assert_json_match):
            assert_json_match({"a": 1, "b": 2}, {"a": 1, "b": 3}, threshold=0.5)
        """
    )
    pytester.runpytest("--jsonmatch-json=run.jsonl").assert_outcomes(passed=1)
    of_cases = read_results(pytester.path / "run.jsonl")
    of_records = compare_corpus([{"a": 1, "b": 2}], [{"a": 1, "b": 3}])
    for run in (of_cases, of_records):
        assert type(run) is RunResult
        assert (run.mean_f1, run.micro_f1, run.total_records, run.total_mismatches) == (0.5, 0.5, 1, 1)
        assert (run.metric, run.per_field["b"].mismatches, len(run.cases)) == ("leaf_f1", 1, 1)
        assert str(run.signature).startswith("leaf_f1|options:none|")


def test_one_class_makes_aggregations():
    """So that a case, a tag, a run, a corpus and a file have the same numbers."""
    made = [
        (source.name, line.strip())
        for source in sorted(PACKAGE.rglob("*.py"))
        for line in source.read_text(encoding="utf-8").splitlines()
        if re.search(
            r"FieldAggregation\((?!\)|Frozen)|FieldAggregation\.from_list\(|FieldAggregation, plain", line
        )
        and ">>>" not in line
    ]
    assert [name for name, _ in made] == ["aggregation.py", "file.py"], made
    assert "return FieldAggregation.from_list(" in made[0][1]


def test_no_run_is_without_totals():
    found = [
        source.name
        for source in PACKAGE.rglob("*.py")
        if re.search(r"\btotals is (not )?None", source.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_mapping_that_is_not_given_is_that_of_one_object_alone():
    def make():
        return Comparison("a", "a", "leaf_f1", "", 1.0, 1.0, 1.0, 1.0, passed=True)

    changed = make()
    mappings = [getattr(changed, name) for name in Comparison.__slots__]
    mappings = [mapping for mapping in mappings if isinstance(mapping, dict)]
    for number, mapping in enumerate(mappings):
        mapping["x"] = number
    assert [mapping["x"] for mapping in mappings] == [0, 1, 2, 3, 4, 5, 6]
    assert make().fields == make().tags == {}
