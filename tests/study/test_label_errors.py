"""Gold that is likely wrong: places where systems agree with each other against it."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from math import log2

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError, Verdict
from pytest_jsonmatch.study import audit_gold

GOLD = [
    {
        "id": f"r{at}",
        "vendor": f"vendor {at}",
        "total": 10 * at + 0.5,
        "paid": at % 2 == 0,
        "items": [{"n": at}],
    }
    for at in range(8)
]


def changed(at, **members):
    records = deepcopy(GOLD)
    records[at] |= members
    return records


def without(at, member):
    records = deepcopy(GOLD)
    del records[at][member]
    return records


def found(answers, **options):
    audited = audit_gold(answers, GOLD, id="id", **options)
    return [
        (each.record, each.path, each.kind, each.gold, each.answer, each.systems) for each in audited.found
    ]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (changed(3, total=31), ("total", "change", 30.5, 31)),
        (without(3, "vendor"), ("vendor", "remove", "vendor 3", None)),
        (changed(3, tax=5), ("tax", "add", None, 5)),
        (changed(3, items=[]), ("items[0]", "remove", {"n": 3}, None)),
    ],
)
def test_what_two_systems_say_together(answers, message):
    assert found({"a": answers, "b": answers}) == [("r3", *message, ("a", "b"))]


@pytest.mark.parametrize(
    ("gold", "systems", "message"),
    [
        (GOLD, "a", "at least 2 systems, got 1"),
        (iter(GOLD), "ab", "gold is an iterator"),
        ([*GOLD, {"id": "r8", "no": 1}], "ab", "'r8'.*'no' is not in the schema"),
    ],
)
def test_what_cannot_be_audited(gold, systems, message):
    schema = {"properties": {key: {} for key in GOLD[0]}, "additionalProperties": False}
    with pytest.raises((ConfigurationError, GoldValidationError), match=message):
        audit_gold({name: [*GOLD, {"id": "r8"}] for name in systems}, gold, id="id", schema=schema)


def test_elements_that_gold_lacks_stand_as_a_whole_at_the_end_of_their_array():
    answers = changed(3, items=[{"n": 3}, {"n": 30}, {"n": 300}])
    suspects = found({"a": answers, "b": answers, "c": answers}, arrays="unordered")
    assert sorted(suspects, key=str) == [
        ("r3", "items[1]", "add", None, {"n": 300}, ("a", "b", "c")),
        ("r3", "items[1]", "add", None, {"n": 30}, ("a", "b", "c")),
    ]


@pytest.mark.parametrize("other", [GOLD, changed(3, total=32)])
def test_systems_that_do_not_agree_are_no_suspicion(other):
    assert found({"a": changed(3, total=31), "b": other, "c": GOLD}) == []


def test_agreement_is_decided_by_the_rules_of_the_fields():
    answers = {"a": changed(3, vendor="VENDOR THREE"), "b": changed(3, vendor="Vendor Three")}
    assert found(answers) == []
    suspects = found(answers, fields={"vendor": {"transform": ["lowercase"]}})
    assert suspects == [("r3", "vendor", "change", "vendor 3", "VENDOR THREE", ("a", "b"))]


@pytest.mark.parametrize(
    ("answers", "path", "systems", "backing"),
    [
        ([*[changed(3, vendor="x")] * 3, GOLD, changed(3, vendor="y")], "vendor", "abc", "d"),
        # A system that lacks the row does not side with its cells.
        ([*[changed(3, items=[{"n": 33}])] * 2, changed(3, items=[])], "items[0].n", "ab", ""),
        # One that is wrong in a row sides with the row.
        ([*[changed(3, items=[])] * 3, changed(3, items=[{"n": 33}])], "items[0]", "abc", "d"),
    ],
)
def test_sides(answers, path, systems, backing):
    (one,) = audit_gold(dict(zip("abcde", answers, strict=False)), GOLD, id="id").found
    assert (one.path, one.systems, one.backing) == (path, tuple(systems), tuple(backing))


def test_the_majority_for_the_gold_outvotes():
    wrong = changed(3, total=31)
    audited = audit_gold({"a": wrong, "b": wrong, "c": GOLD, "d": GOLD, "e": GOLD}, GOLD, id="id")
    assert audited.found == ()
    assert audited.statistics == {"suspects": 0, "suspect_records": 0.0}


def test_values_that_are_seldom_alike_rank_before_those_that_often_are():
    answers = changed(3, vendor="other", paid=True)
    ranked = audit_gold(dict.fromkeys("abc", answers), GOLD, id="id").found
    assert [each.path for each in ranked] == ["vendor", "paid"]


def test_fields_that_systems_read_well_rank_before_those_that_they_do_not():
    """The same three systems agree on two fields; at `vendor` each is wrong in its own way elsewhere."""
    given = {name: changed(3, vendor="said", total=-1) for name in "abc"}
    for name, records in given.items():
        for at in range(4, 8):
            records[at]["vendor"] = f"{name} {at}"
    assert [each.path for each in audit_gold(given, GOLD, id="id").found] == ["total", "vendor"]


def test_a_habit_of_all_systems_ranks_last():
    """Where all systems write it otherwise everywhere, the gold has another convention."""
    answers = [dict(each, vendor=f"{each['vendor']} Inc.") for each in GOLD]
    answers[3]["total"] = 31
    ranked = audit_gold(dict.fromkeys("abc", answers), GOLD, id="id").found
    assert ranked[0].path == "total"
    assert all(each.evidence < ranked[0].evidence / 2 for each in ranked[1:])


def test_evidence():
    """Eight totals that differ, and three systems that are right everywhere else."""
    (one,) = audit_gold(dict.fromkeys("abc", changed(3, total=31)), GOLD, id="id").found
    leaves = 8 * 4
    general = (leaves - 1 + 1) / (leaves + 2)
    right = (7 + 2 * general) / (7 + 2)
    alike = 1 / (8 * 7 + 2)
    assert one.evidence == pytest.approx(3 * log2(right / (1 - right)) + 2 * log2(1 / alike))


@pytest.mark.parametrize(("share", "wrong"), [(0.0, 0), (0.02, 18)])
def test_the_expected_number_is_near_the_true_one(share, wrong):
    """Three systems that are right in 92 of 100 places; else they often make the same mistake."""
    numbers = random.Random(4)
    truth = [{f"f{at}": numbers.randrange(40) for at in range(3)} for _ in range(300)]
    gold = [{key: 99 if numbers.random() < share else value for key, value in each.items()} for each in truth]

    def read(value):
        return value if numbers.random() < 0.92 else (value + numbers.choice((1, 1, 5))) % 40

    def answers():
        return [{key: read(value) for key, value in each.items()} for each in truth]

    audited = audit_gold({name: answers() for name in "abc"}, gold)
    real = [each for each in audited.found if each.gold == 99]
    assert len(real) == pytest.approx(wrong, abs=3)
    assert audited.expected == pytest.approx(len(real), abs=3)
    assert audited.statistics["suspects"] == pytest.approx(len(real), abs=2)


def test_systems_that_share_mistakes_are_not_believed():
    """Two systems cut off the same names; the third does not, and the gold has few errors of its own."""
    names = random.Random(2)
    gold = [{"name": f"{names.randrange(10**6)} Main Street", "total": at * 100 + 50} for at in range(300)]
    similar = [{**each, "name": each["name"][:-7]} if at % 3 else each for at, each in enumerate(gold)]
    other = [{**each, "total": each["total"] / 100} if at % 20 == 1 else each for at, each in enumerate(gold)]
    gold[7] = {**gold[7], "total": 3}
    audited = audit_gold({"a": similar, "b": similar, "c": other}, gold)
    assert [(each.record, each.path) for each in audited.found] == [("8", "total")]
    assert audited.expected == pytest.approx(1, abs=0.1)
    two = audit_gold({"a": similar, "b": similar}, gold)
    assert (two.expected, two.statistics) == (None, {"suspects": None, "suspect_records": None})
    assert sorted((len(group), group[0].change) for group in two.groups)[1:] == [(200, "cut off")]


def test_one_factor_for_many_values_is_one_group():
    gold = [{"total": 100 * at + 50, "tax": 7 * at + 9} for at in range(40)]
    answers = [
        {**each, "total": each["total"] / 100} if at % 4 == 1 else each for at, each in enumerate(gold)
    ]
    answers[0] = {**answers[0], "tax": 3}
    audited = audit_gold({"a": answers, "b": answers}, gold)
    groups = {(group[0].field, group[0].change): len(group) for group in audited.groups}
    assert groups == {("total", "factor 0.01"): 10, ("tax", ""): 1}


def test_gold_outside_its_own_enum_comes_first_and_is_certain():
    schema = {"properties": {"kind": {"enum": ["bill", "receipt"]}, "n": {}, "id": {}}}
    gold = [{"id": f"r{at}", "kind": "bill", "n": at} for at in range(9)]
    gold[5]["kind"] = "recipt"
    answers = [{**each, "kind": "bill" if each["id"] != "r5" else "receipt"} for each in gold]
    answers[2] = {**answers[2], "n": 77}
    first, second = audit_gold(dict.fromkeys("abc", answers), gold, id="id", schema=schema).found
    assert (first.record, first.is_outside_schema, first.probability) == ("r5", True, 1)
    assert (second.record, second.is_outside_schema) == ("r2", False)


def test_text_without_json_takes_no_side_and_is_reported():
    texts = [f"Sure: {json.dumps(each)}" for each in changed(3, total=31)]
    broken = ["no idea" if at == 3 else text for at, text in enumerate(texts)]
    audited = audit_gold({"a": texts, "b": texts, "c": broken}, GOLD, id=None)
    assert [(each.record, each.systems, each.backing) for each in audited.found] == [("4", ("a", "b"), ())]
    assert audited.notes == ("c: missing or not comparable: 1 of 8 answers; not counted there",)


def test_order_does_not_matter_and_missing_answers_are_reported():
    answers = changed(3, total=31)
    given = {"a": answers, "b": answers[::-1], "c": [*answers[2:6], {"id": "nobody", "total": 1}]}
    audited = audit_gold(given, GOLD, id="id")
    (one,) = audited.found
    assert (one.record, one.position, one.systems) == ("r3", 3, ("a", "b", "c"))
    assert audited.records == 8
    assert audited.notes == (
        "c: missing or not comparable: 4 of 8 answers; not counted there",
        "c: 1 answer without a gold record",
    )


def test_a_judge_is_asked_about_many_records_at_once_and_decides_who_agrees():
    asked = []

    class Judge:
        def judge(self, items):
            asked.append(len(items))
            return {item.id: Verdict(item.expected.lower() == item.actual.lower()) for item in items}

    shops = {"a": "Shop", "b": "SHOP"}
    answers = {
        by: [{**each, "vendor": f"{shop} {each['id']}"} for each in GOLD] for by, shop in shops.items()
    }
    rules = {"vendor": {"compare": "semantic"}}
    audited = audit_gold(answers, GOLD, id="id", judge=Judge(), fields=rules)
    assert {(each.path, each.systems) for each in audited.found} <= {("vendor", ("a", "b"))}
    # First all answers against the gold, then who agrees with whom.
    assert asked == [16, 8]


def test_what_was_tolerated_in_answers_is_reported():
    texts = [json.dumps(each)[:-1] for each in GOLD]
    audited = audit_gold({"a": texts, "b": GOLD}, GOLD, id="id", repair=True)
    message = [f"a: record 'r{at}': repaired" for at in range(len(GOLD))]
    assert [note[: len(start)] for note, start in zip(audited.notes, message, strict=True)] == message


def test_planted_errors_are_found_and_little_else():
    """Gold that is wrong in 2 % of its values, three systems that each are wrong in 8 %, half of it in one way."""
    numbers = random.Random(1)
    names = [f"name {at}" for at in range(40)]
    planted, gold, answers = set(), [], {"a": [], "b": [], "c": []}
    for at in range(400):
        true = {
            "name": numbers.choice(names),
            "total": numbers.randrange(500),
            "paid": numbers.random() < 0.5,
        }
        wrong = {"name": numbers.choice(names), "total": numbers.randrange(500), "paid": not true["paid"]}
        record = dict(true)
        for key, value in wrong.items():
            if numbers.random() < 0.02 and value != true[key]:
                record[key] = value
                planted.add((str(at + 1), key))
        gold.append(record)
        # What is hard to read misleads all systems to the same value.
        misread = {"name": numbers.choice(names), "total": numbers.randrange(500), "paid": not true["paid"]}
        for answer in answers.values():
            chances = {key: numbers.random() for key in true}
            others = {
                key: misread[key] if chance < 0.04 else None
                for key, chance in chances.items()
                if chance < 0.08
            }
            answer.append({**true, **others})
    ranked = [(each.record, each.path) for each in audit_gold(answers, gold).found]
    assert len(planted & set(ranked)) / len(planted) > 0.9
    assert len(planted & set(ranked[: len(planted)])) / len(planted) > 0.8
