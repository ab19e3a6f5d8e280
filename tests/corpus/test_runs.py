"""Sums that do not round, and runs that merge: parts put together in any order are the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    ConfigurationError,
    JsonMatchWarning,
    compare_corpus,
    compare_json,
    reclassify_nulls,
    register_comparator,
)
from tests.laws import law


def parts(count: int) -> list[Any]:
    gold = [{"id": f"r{number:02}", "a": number, "b": [number % 3, 0.1 * number]} for number in range(count)]
    extracted = [{"id": f"r{number:02}", "a": number % 2, "b": [number % 2]} for number in range(count)]
    options: dict[str, Any] = {"id": "id", "fields": {"a": {"weight": 0.3}, "b": {"weight": 0.7}}}
    return [compare_corpus([other], [one], **options) for one, other in zip(gold, extracted)]


@law(st.permutations(range(8)), st.integers(1, 7))
def test_runs_merge_in_any_order_and_grouping(order, split):
    runs = parts(8)
    nothing = compare_corpus([], [], id="id", fields={"a": {"weight": 0.3}, "b": {"weight": 0.7}})

    def merged(chosen: Any) -> Any:
        whole = nothing
        for at in chosen:
            whole = whole.merge(runs[at])
        return whole

    def plain(run: Any) -> dict[str, Any]:
        reported = run.to_dict()
        reported["records"].sort(key=lambda each: each["record_id"])
        return reported

    whole = merged(range(8))
    assert plain(merged(order)) == plain(whole)
    assert plain(merged(order[:split]).merge(merged(order[split:]))) == plain(whole)
    assert plain(whole.merge(nothing)) == plain(whole)


def test_what_a_run_adds_is_in_its_signature():
    gold = [{"id": 1, "v": None}]
    plain, by_id = compare_corpus(gold, gold), compare_corpus(gold, gold, id="id")
    processed = compare_corpus(gold, gold, post_process=reclassify_nulls)
    listed = compare_corpus(gold, gold, schema={"properties": {"id": {}, "v": {}}}, id="id")
    assert plain.signature == compare_json({}, {}, metric="leaf_f1").signature
    assert by_id.signature.options == '{"id":"id"}'
    added = '{"post_process":["pytest_jsonmatch.corpus.postprocess.reclassify_nulls"]}'
    assert processed.signature.options == added
    assert listed.signature.options == ""
    with pytest.raises(ConfigurationError, match="needs equal signatures"):
        plain.merge(processed)


def test_warnings_are_kept_and_counted_whatever_is_kept_of_records():
    gold = [{"id": n, "v": n} for n in range(3)]
    extracted = ['{"id": 0, "v": 0', '{"id": 1, "v": 1}', '{"id": 2, "v": 2']
    runs = [compare_corpus(extracted, gold, keep=keep, repair=True) for keep in ("all", "none")]
    for run in runs:
        assert (run.mean_f1, run.total_warnings, run.total_errors) == (1.0, 2, 0)
        assert [warning.record_id for warning in run.warnings] == [1, 3]
    assert str(runs[0].warnings[0]) == f"record 1: {runs[0].records[0].warnings[0]}"
    both = runs[0].merge(runs[1])
    assert (both.total_warnings, len(both.warnings), len(both.to_dict()["warnings"])) == (4, 4, 4)


@pytest.mark.parametrize(
    ("status", "score"),
    [("match", 0.5), ("mismatch", 1), ("omission", 0.5), ("mismatch", -1), ("pending", 0)],
)
def test_a_replaced_result_has_a_score_that_fits_its_status(status, score):
    (field,) = compare_json([1], [2], metric="leaf_f1").field_results
    reported = (
        f"status is '{status}' and score is {score}; a match scores 1, .*; statuses: match, mismatch, om"
    )
    with pytest.raises(ValueError, match=reported):
        field.replaced(status=status, score=score)


RULES = {"a": {"weight": 2}, **{path: {"skip": True} for path in ("b[].c", "b.c", "id", "z")}}
DOCUMENTS = [{"id": number, **({"b": [{"c": 1}]} if number == 7 else {"a": 1})} for number in range(10)]


@pytest.mark.parametrize("chunk_size", [1, 3, 256])
def test_rules_that_fit_no_record_are_reported(chunk_size):
    with pytest.warns(JsonMatchWarning) as caught:
        run = compare_corpus(DOCUMENTS, DOCUMENTS, fields=RULES, id="id", chunk_size=chunk_size)
    assert run.unmatched_rules == ("b.c", "z")
    assert [str(each.message) for each in caught] == [
        "fields: 'b.c' matches nothing in expected, actual or schema; did you mean 'b[].c'?",
        "fields: 'z' matches nothing in expected, actual or schema",
    ]


def test_rules_that_fit_one_of_two_runs_fit_both_together():
    rules = {"a": {"weight": 2}, "b": {"weight": 2}}
    with pytest.warns(JsonMatchWarning):
        runs = [compare_corpus([document], [document], fields=rules) for document in ({"a": 1}, {"b": 1})]
    assert (runs[0].unmatched_rules, runs[1].unmatched_rules) == (("b",), ("a",))
    assert runs[0].merge(runs[1]).unmatched_rules == ()


def unreachable(items):
    if any("bad" in item.expected for item in items):
        raise RuntimeError("no network")
    return [0.5 for _ in items]


def test_a_record_of_batch_errors_alone_has_no_statistics():
    register_comparator("unreachable", unreachable, overwrite=True)
    gold = [{"a": "bad"}, {"a": "good"}, {"a": "bad", "b": 1}]
    run = compare_corpus(gold, gold, fields={"a": {"compare": "unreachable"}})
    assert [each.f1 for each in run.records] == [None, 0.5, 1.0]
    assert (run.mean_f1, run.micro_f1, run.total_records, run.total_unscored) == (0.75, 0.75, 3, 1)
    assert (run.total_perfect, run.total_batch_errors) == (1, 2)
    assert [each.record_id for each in run.worst] == [2, 3]
    assert run.to_dict()["records"][0]["score"] is None


TEXTS = ['{"id": 1, "a": 1}', '{"id": 2, "a": -1}', '{"id": 3, ', '{"id": 4, "a": 1}']


@pytest.mark.parametrize("by_id", [True, False])
@pytest.mark.parametrize("kind", [list, "file"])
@pytest.mark.parametrize("chunk_size", [1, 256])
def test_valid_and_parsed_answers(tmp_path, by_id, kind, chunk_size):
    expected = [{"id": number, "a": 1} for number in range(1, 5)]
    schema = {"properties": {"id": {}, "a": {"minimum": 0}}}
    answers, gold = TEXTS, expected
    if kind == "file":
        answers, gold = tmp_path / "a.jsonl", tmp_path / "g.jsonl"
        answers.write_text("\n".join(TEXTS))
        gold.write_text("\n".join(map(json.dumps, expected)))
    options = {"validate": "report", "id": "id" if by_id else None, "chunk_size": chunk_size}
    run = compare_corpus(answers, gold, schema=schema, **options)
    assert (run.valid_rate, run.parse_rate) == (0.5, 0.75)
    if not by_id:
        assert run.merge(run).valid_rate == 0.5


def test_a_case_has_the_statistics_of_its_record_if_its_answer_is_missing():
    run = compare_corpus(
        [{"id": "a", "n": 1}], [{"id": "a", "n": 1}, {"id": "b", "n": 2}], id="id", keep="all"
    )
    statistics = [[case.mean(name) for name in ("score", "precision", "recall", "f1")] for case in run.cases]
    assert statistics == [[1.0] * 4, [0.0] * 4]
    assert run.mean("precision") == 0.5


def test_the_repr_of_a_record_shows_what_is_wrong():
    gold = [{"a": at, "b": "x", "c": 1, "d": 2} for at in range(3)]
    answers = [{"a": 0, "b": "x" * 40, "c": 1, "d": 2}, {"e": 5}, "no JSON"]
    run = compare_corpus(answers, gold)
    assert [repr(record).partition("f1=")[2] for record in run.records] == [
        '0.75, b: "x" → "xxxxxxxxxxxxxxxxxxxxxxxxxxxx…)',
        "0, a: missing, b: missing, c: missing, 2 more)",
        "0, no JSON found in the actual text: there is no object in the text; the text begins 'no JSON')",
    ]
