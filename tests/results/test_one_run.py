"""The same data has the same numbers in a session of pytest, in a corpus, and in a file of either."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    JsonMatchWarning,
    RunResult,
    compare_corpus,
    compare_runs,
    read_results,
)
from tests.conftest import gate_of, read_back, report_of, text_of

GOLD = [{"id": "r1", "a": 1, "b": 2}, {"id": "r2", "a": 1, "b": 2}]


@pytest.fixture
def run_golden(pytester: pytest.Pytester) -> Any:
    """Run golden cases given by id, with a producer, and return the run."""

    def call(cases: list[dict[str, Any]], producer: str, *arguments: str, **file: Any) -> RunResult:
        content = {"threshold": 0, **file, "cases": cases}
        (pytester.path / "all.golden.yaml").write_text(json.dumps(content), encoding="utf-8")
        pytester.makeconftest(producer)
        pytester.runpytest("--jsonmatch-json=run.jsonl", *arguments)
        return read_results(pytester.path / "run.jsonl")

    return call


def checked(text: str, run: RunResult) -> tuple[bool | None, str]:
    passed, _, note = gate_of(run, text)
    return passed, note


ANSWERS = """
def pytest_jsonmatch_actual(case):
    if case.input is None:
        raise TimeoutError("no network")
    return case.input
"""


def test_all_leaves_of_a_case_without_an_answer_are_missing(run_golden: Any) -> None:
    gold = [{name: record[name] for name in ("a", "b")} for record in GOLD]
    cases = [
        {"id": "r1", "input": gold[0], "expected": gold[0]},
        {"id": "r2", "input": None, "expected": gold[1]},
    ]
    of_tests = run_golden(cases, ANSWERS)
    corpus = compare_corpus(GOLD[:1], GOLD, id="id")
    for run in (of_tests, corpus):
        assert (run.micro_recall, run.total_omissions, run.mean_recall) == (0.5, 2, 0.5)
        assert (run.total_unanswered, run.mean_of_answered) == (1, 1.0)
        assert run.per_field["b"].recall == 0.5
    assert of_tests.unanswered == {"TimeoutError": 1}
    assert of_tests.totals.over().read() == corpus.totals.over().read()


def test_a_repeat_without_an_answer_counts_0_in_its_case(run_golden: Any) -> None:
    producer = """
import itertools
turns = itertools.count()

def pytest_jsonmatch_actual(case):
    if next(turns):
        raise TimeoutError("no network")
    return {"a": 1}
"""
    run = run_golden([{"id": "r", "expected": {"a": 1}, "repeat": 2}], producer)
    assert (run.mean_score, run.micro_f1, run.mean_of_answered) == (0.5, pytest.approx(2 / 3), 1.0)
    assert checked("answered >= 0.9", run) == (False, "1 of 2 runs unanswered")
    assert run.per_field["a"].mean_score == 0.5


def test_results_count_in_each_run_and_scores_are_means_over_the_runs_of_a_case(run_golden: Any) -> None:
    producer = """
import itertools
answers = itertools.cycle([{"a": 1, "items": [{"n": 1}]}, {"a": 1, "x": 2}])

def pytest_jsonmatch_actual(case):
    return next(answers) if case.id.startswith("twice") else case.expected
"""
    expected = {"a": 1, "items": [{"n": 1}]}
    cases = [{"id": "twice", "expected": expected, "repeat": 2}, {"id": "once", "expected": expected}]
    run = run_golden(cases, producer, options={"arrays": "unordered"})
    for found in (run, read_back(text_of(run))):
        of_run, of_x = found.totals.over(), found.per_field["x"]
        # x counts 1 in the run without it, and 0 in the other one.
        assert (of_x.mean_score, of_x.hallucinations, found.per_field["items[].n"].mean_score) == (
            0.5,
            1,
            0.75,
        )
        assert [of_run.count(status) for status in ("match", "omission", "hallucination")] == [5, 1, 1]
        assert of_run.rate("missing_rate") == pytest.approx(1 / 6)
        assert (found.rows["items"].expected, found.rows["items"].found) == (3, 2)
        assert found.mean_recall == pytest.approx((0.75 + 1) / 2)


def test_a_file_of_a_corpus_has_its_numbers() -> None:
    corpus = compare_corpus(GOLD[:1], GOLD, id="id", tags={"n": "a"})
    read = read_back(text_of(corpus))
    assert read.totals == corpus.totals
    assert read.totals_by_tag == corpus.totals_by_tag
    assert list(read.per_field) == list(corpus.per_field)


def of_both(run_golden: Any, pairs: list[tuple[Any, Any]], **options: Any) -> tuple[RunResult, RunResult]:
    """The run of golden cases, and that of a corpus, with the same answers."""
    cases = [
        {"id": f"r{number}", "actual": actual, "expected": expected}
        for number, (actual, expected) in enumerate(pairs)
    ]
    answers, gold = zip(*pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JsonMatchWarning)  # of rules that match nothing
        corpus = compare_corpus(list(answers), list(gold), validate="off", **options)
    file = {name: options.pop(name) for name in ("metric", "fields", "skip", "schema") if name in options}
    return run_golden(cases, "", validate="off", options=options, **file), corpus


def test_a_field_that_a_rule_skips_is_listed_and_fails_its_gates(run_golden: Any) -> None:
    for run in of_both(run_golden, [({"a": 1, "b": 2}, {"a": 1, "b": 3})], fields={"b": "skip"}):
        assert (run.total_skipped, list(run.all_fields), list(run.per_field)) == (1, ["a", "b"], ["a"])
        assert checked('fields["b"].missing == 0', run) == (False, "skipped by a rule")


def test_a_field_that_only_a_rule_names_has_counts_of_0(run_golden: Any) -> None:
    rules = {"fields": {"tip": {"weight": 2}, "items": {"weight": 2}}, "nulls": "absent"}
    gold = {"a": 1, "items": [{"n": 1}], "c": None}
    for run in of_both(run_golden, [({"a": 1, "items": [{"n": 1}]}, gold)], **rules):
        assert checked('fields["tip"].extra == 0', run) == (True, "")
        assert checked('fields["c"].extra == 0', run) == (True, "")
        assert checked('fields["items"].extra == 0', run)[0] is False
        assert [*run.per_field] == ["a", "items[].n"]


def test_nothing_divided_by_nothing_is_none_in_a_run(run_golden: Any) -> None:
    for run in of_both(run_golden, [({}, {})], metric="json_similarity"):
        assert (run.mean_score, run.micro_precision, run.micro_recall, run.micro_f1) == (
            1.0,
            None,
            None,
            None,
        )


def test_a_case_that_compares_nothing_is_named(run_golden: Any) -> None:
    pairs = [({"a": 1}, {"a": 1}), ({}, {})]
    for run in of_both(run_golden, pairs, metric="json_similarity"):
        assert (run.total_empty, run.mean_score) == (1, 1.0)
        assert checked("empty == 0", run)[0] is False
        last = run.cases[-1].id
        assert f"1 {run.noun} compares nothing: {last}" in report_of(run)


def test_the_pass_rate_of_fields_is_the_share_of_cases_in_which_all_of_them_are_right(
    run_golden: Any,
) -> None:
    pairs = [
        ({"p": {"a": 1, "b": 2}, "q": 1}, {"p": {"a": 1, "b": 2}, "q": 0}),
        ({"p": {"a": 1, "b": 0}}, {"p": {"a": 1, "b": 2}}),
        ({"q": 1}, {"q": 1}),
    ]
    for run in of_both(run_golden, pairs):
        assert checked('fields["p.*"].pass_rate >= 0.5', run) == (True, f"of 2 {run.noun}s with these fields")
        assert checked('fields["p.*"].pass_rate > 0.5', run)[0] is False


def test_several_tags_select_the_cases_that_have_all_of_them() -> None:
    gold = [{"x": x, "y": y, "n": n} for n, (x, y) in enumerate([(1, 1), (1, 2), (2, 1)])]
    answers = [{**record, "n": 0} for record in gold]
    run = compare_corpus(answers, gold, tags={"x": "x", "y": "y"})
    for found in (run, RunResult.of_cases(run.cases)):
        text = 'tags["x=1"].tags["y=2"].fields["n"].score == 0'
        assert checked(text, found)[0] is True
        assert checked('tags["x=1"].tags["y=1"].fields["n"].score == 1', found)[0] is True
        assert checked('tags["x=2"].tags["y=2"].score >= 0', found)[0] is False


def test_a_file_of_a_corpus_has_its_lists_and_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    answers = [{"id": 1, "a": 1}, {"id": 2, "a": 2, "x": "no"}, {"id": 9}]
    gold = [{"id": number, "a": 1} for number in (1, 2, 3)]
    with pytest.warns(JsonMatchWarning):
        corpus = compare_corpus(answers, gold, id="id", fields={"zz": {"weight": 2}}, tags={"a": "a"})
    read = read_back(text_of(corpus))
    assert [each.record_id for each in read.worst] == [each.record_id for each in corpus.worst] == [2, 3, 1]
    assert read.worst == corpus.worst
    for name in ("unmatched_rules", "unmatched_expected", "unmatched_actual", "errors", "warnings"):
        assert getattr(read, name) == getattr(corpus, name), name
    assert (read.unmatched_rules, read.unmatched_expected) == (("zz",), (3,))
    for by in ("record", "field", "rows"):
        pandas.testing.assert_frame_equal(read.to_dataframe(by, "pandas"), corpus.to_dataframe(by, "pandas"))


def test_a_record_in_two_files_is_an_error() -> None:
    gold = [{"id": name, "a": 1} for name in "pqr"]
    one, other = (compare_corpus(part, part, id="id", keep="worst") for part in (gold[:2], gold[1:]))
    for first, second in ((one, other), (read_back(text_of(one)), read_back(text_of(other))), (one, one)):
        with pytest.raises(ConfigurationError, match="without common records, but both have "):
            first.merge(second)
    gold = [{"id": f"r{number}", "a": number} for number in range(300)]
    parts = {"first": gold[:100], "second": gold[100:250], "third": gold[249:]}
    for keep in ("worst", "all"):
        runs = {
            name: compare_corpus(part, iter(part), id="id", keep=keep if name == "third" else "worst")
            for name, part in parts.items()
        }
        for first, second, third in (runs.values(), map(read_back, map(text_of, runs.values()))):
            merged = first.merge(second)
            assert merged.total_records == 250
            for one, other in ((merged, third), (third, read_back(text_of(merged)))):
                with pytest.raises(ConfigurationError, match=r"both have 1 record with the same id$"):
                    one.merge(other)
    shards = [compare_corpus([{"a": 1}], [{"a": 1}]) for _ in range(2)]
    assert shards[0].merge(shards[1]).total_records == 2


def test_an_answer_that_cannot_be_read_is_an_error_and_no_warning(run_golden: Any) -> None:
    pairs: list[tuple[Any, Any]] = [("no JSON here", {"a": 1}), ('{"a": 1, "a": 1}', {"a": 1})]
    for run in of_both(run_golden, pairs):
        assert (run.total_errors, run.total_warnings, run.answers[:2]) == (1, 1, (2, 1))
        assert [error.reason[:13] for error in run.errors] == ["no JSON found"]
        assert checked("errors == 1", run)[0] is True
        again = RunResult.of_cases(run.cases).totals.counts
        assert (again["errors"], again["warnings"]) == (1, 1)


def test_a_data_frame_without_rows_has_no_answer() -> None:
    pandas = pytest.importorskip("pandas")
    for frame in (pandas.DataFrame({"id": [], "a": []}), pandas.DataFrame([{"id": "r1", "a": "x"}])[:0]):
        run = compare_corpus(frame, GOLD, id="id")
        assert (run.total_records, run.total_unanswered, run.micro_recall) == (2, 2, 0.0)


def test_a_run_of_records_is_complete_as_far_as_they_have_answers() -> None:
    corpus = compare_corpus(GOLD[:1], GOLD, id="id", keep="all")
    for run in (
        corpus,
        read_back(text_of(corpus)),
        RunResult.of_cases(corpus.cases),
        corpus.with_cases(corpus.cases),
    ):
        assert (run.completeness, run.has_thresholds) == (0.5, False)
        assert checked("pass_rate >= 0", run)[1] == f"1 of 2 {run.noun}s with score 1"
        assert checked("flip_rate == 0", run) == (False, f"no {run.noun} ran twice")


def test_runs_that_are_and_are_not_cases_do_not_merge() -> None:
    corpus = compare_corpus(GOLD, GOLD, id="id")
    with pytest.raises(ConfigurationError, match="of one kind, got a run of tests and a corpus"):
        corpus.merge(RunResult.of_cases(corpus.cases))
    parts = [corpus.with_cases([case]) for case in corpus.cases]
    merged = read_back(text_of(parts[1])).merge(read_back(text_of(parts[0])))
    assert (merged.total_records, merged.noun, merged.mean_score) == (2, "record", 1.0)


def test_a_comparison_of_runs_says_what_unanswered_cases_did() -> None:
    gold = [{"id": number, "a": 1} for number in range(12)]
    before, after = (compare_corpus(answers, gold, id="id") for answers in (gold, gold[:4]))
    unanswered = "; 8 unanswered now, 0 before; the other 4: 0.000"
    assert any(line.endswith(unanswered) for line in str(compare_runs(before, after)).splitlines())
    assert "unanswered" not in str(compare_runs(before, before))


def test_the_cost_of_a_kind_is_at_most_1_in_spite_of_rounding() -> None:
    gold = [{"id": 1, **dict.fromkeys("abcdefghijk"[:size], 1)} for size in range(2, 12)]
    for record in gold:
        record["id"] = len(record)
    corpus = compare_corpus([{"id": 0}], gold, id="id", fields={"b": {"weight": 0.1}})
    assert all(kind.cost <= 1 for case in corpus.cases for kind in case.runs[0].comparisons[0].kinds.values())
    assert read_back(text_of(corpus)).total_records == 10
