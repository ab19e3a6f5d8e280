"""Batch comparators over many records: one call for a chunk, the same numbers however records are chunked."""

from __future__ import annotations

import random

import pytest

from pytest_jsonmatch import RootTypeError, compare_corpus, compare_json
from pytest_jsonmatch.engine.ask.rounds import score_all_with_answers
from pytest_jsonmatch.engine.plan.compile import compile_plan
from pytest_jsonmatch.schema import parse_eval_schema
from tests.conftest import session_registry


class Judge:
    """Same letters; remembers the records of each call."""

    def __init__(self, scope):
        self.scope = scope
        self.calls = []

    def __call__(self, items):
        self.calls.append([item.id for item in items])
        return {item.id: item.expected.lower() == item.actual.lower() for item in items}


@pytest.fixture
def registry():
    with session_registry() as registry:
        yield registry


GOLD = [{"note": "a", "n": 1}, {"note": "b", "n": 2}, {"note": "c", "n": 3}]
EXTRACTED = [{"note": "A", "n": 1}, {"note": "x", "n": 2}, {"note": "C", "n": 4}]
RULES = {"note": {"compare": "judge"}}


def test_scope_chunk_is_one_call_for_all_records_of_a_chunk(registry):
    judge = Judge("chunk")
    registry.comparator("judge", judge)
    run = compare_corpus(EXTRACTED, GOLD, fields=RULES)
    assert judge.calls == [["1:1", "2:1", "3:1"]]
    assert [record.f1 for record in run.records] == [1.0, 0.5, 0.5]


def test_each_chunk_has_a_call_of_its_own(registry):
    judge = Judge("chunk")
    registry.comparator("judge", judge)
    compare_corpus(EXTRACTED, GOLD, fields=RULES, chunk_size=2)
    assert judge.calls == [["1:1", "2:1"], ["3:1"]]


def test_scope_record_is_one_call_a_record(registry):
    judge = Judge("record")
    registry.comparator("judge", judge)
    compare_corpus(EXTRACTED, GOLD, fields=RULES)
    assert judge.calls == [["1:1"], ["2:1"], ["3:1"]]


def test_records_are_known_by_their_ids(registry):
    seen = []

    def judge(items):
        seen.extend((item.record, item.id) for item in items)
        return [1.0 for _ in items]

    registry.comparator("judge", judge)
    gold = [{"id": "r1", "note": "a"}, {"id": "r2", "note": "b"}]
    extracted = [{"id": "r2", "note": "x"}, {"id": "r1", "note": "y"}]
    compare_corpus(extracted, gold, id="id", fields=RULES)
    assert seen == [("r1", "r1:1"), ("r2", "r2:1")]


def test_ids_are_unique_where_those_of_records_are_not(registry):
    judge = Judge("chunk")
    registry.comparator("judge", judge)
    plan = compile_plan("leaf_f1", {"fields": RULES})
    score_all_with_answers(
        plan, [("same", {"note": "a"}, {"note": "b"}), ("same", {"note": "c"}, {"note": "d"})]
    )
    assert judge.calls == [["same:1", "same:2"]]


def test_rounds_go_on_only_for_records_that_need_them(registry):
    judge = Judge("chunk")
    registry.comparator("judge", judge)
    settled, open_ones = [{"s": "a", "n": 1}, {"s": "b", "n": 2}], [{"s": "c"}, {"s": "D"}]
    gold = [settled, open_ones]
    extracted = [[{"s": "A", "n": 1}, {"s": "B", "n": 2}], [{"s": "C"}, {"s": "d"}]]
    run = compare_corpus(extracted, gold, arrays="unordered", compare={"string": "judge"})
    assert run.mean_f1 == 1.0
    assert [{call_id.split(":")[0] for call_id in call} for call in judge.calls] == [{"1", "2"}, {"2"}]


def test_a_failed_call_is_counted_and_named_and_the_run_goes_on(registry):
    def judge(items):
        if any(item.record == 1 for item in items):
            raise TimeoutError("too slow")
        return [1.0 for _ in items]

    registry.comparator("judge", judge)
    run = compare_corpus(EXTRACTED, GOLD, fields=RULES)
    assert (run.total_batch_errors, run.per_field["note"].batch_errors) == (1, 1)
    assert [(error.record_id, error.path, error.reason) for error in run.errors] == [
        (1, "note", "raised TimeoutError: too slow")
    ]
    # Record 1 has n alone (right), 0 both, 2 the note of two.
    assert [record.f1 for record in run.records] == [1.0, 1.0, 0.5]


def test_what_a_record_raises_stands_in_its_place(registry):
    registry.comparator("judge", Judge("chunk"))
    plan = compile_plan("field_match", {"fields": RULES})
    one, other = score_all_with_answers(plan, [(0, {"note": "a"}, [1]), (1, {"note": "a"}, {"note": "A"})])
    assert isinstance(one, RootTypeError)
    assert other.sums.score == 1.0


def test_plans_without_batch_comparators_are_scored_one_by_one():
    plan = compile_plan("leaf_f1", {})
    outcomes = score_all_with_answers(plan, [(0, {"a": 1}, {"a": 1}), (1, {"a": 1}, {"a": 2})])
    assert [outcome.sums.score for outcome in outcomes] == [1, 0]


@pytest.mark.parametrize("scope", ["record", "chunk"])
def test_scores_do_not_depend_on_the_chunks(registry, scope):
    registry.comparator("judge", Judge(scope))
    draw = random.Random(7)
    gold = [
        {"items": [{"s": draw.choice("abcdef"), "n": draw.randint(0, 2)} for _ in range(draw.randint(0, 6))]}
        for _ in range(40)
    ]
    extracted = [
        {"items": [{"s": draw.choice("ABCDEF"), "n": item["n"]} for item in reversed(record["items"])]}
        for record in gold
    ]
    chosen = {"arrays": "unordered", "compare": {"string": "judge"}}
    runs = [compare_corpus(extracted, gold, chunk_size=size, **chosen) for size in (1, 7, 256)]
    single = [
        compare_json(answer, record, metric="leaf_f1", **chosen) for record, answer in zip(gold, extracted)
    ]
    assert [record.f1 for record in runs[0].records] == [result.f1 for result in single]
    assert [run.to_dict() for run in runs[1:]] == [runs[0].to_dict()] * 2


def test_plans_without_one_know_it(registry):
    registry.comparator("judge", Judge("chunk"))
    registry.comparator("plain", lambda expected, actual, params: 0.5)
    rule = {"a": {"compare": "plain"}}
    schema = parse_eval_schema({"items": {"properties": {"a": {"x-eval-compare": "judge"}}}})
    assert [
        compile_plan("leaf_f1", options).has_batch
        for options in (
            {},
            {"fields": rule},
            {"fields": {"a": {"compare": "judge"}}},
            {"compare": {"integer": "judge"}},
            {"schema": schema},
        )
    ] == [False, False, True, True, True]
