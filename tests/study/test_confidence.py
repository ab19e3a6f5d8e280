"""`jsonmatch study confidence` and `measure_confidence`."""

from __future__ import annotations

import json
import re
from itertools import takewhile

import pytest

from pytest_jsonmatch import ConfigurationError, JsonMatchWarning
from pytest_jsonmatch.study import measure_confidence


def records(number):
    """Answers that are wrong where their confidence is low, with gold records."""
    gold = [{"id": f"r{at}", "total": at, "lines": [{"n": at}, {"n": at + 1}]} for at in range(number)]
    answers = []
    for at, record in enumerate(gold):
        is_wrong = at % 5 == 0
        total = {"value": -1 if is_wrong else at, "confidence": 0.4 if is_wrong else 0.9 + at % 7 / 100}
        answers.append(
            {**record, "total": total, "lines": [{"n": {"value": at, "confidence": 0.8}}, {"n": at + 1}]}
        )
    return answers, gold


def test_what_is_right_and_how_sure_it_was():
    study = measure_confidence(*records(50), id="id")
    total = study.fields["total"]
    assert (total.values, total.accuracy, total.auroc.value) == (50, 0.8, 1.0)
    lines = study.fields["lines[].n"]
    assert (lines.values, lines.without, lines.accuracy, lines.auroc) == (50, 50, 1.0, None)
    assert (study.total.values, study.total.without, study.records, study.clusters) == (100, 50, 50, 50)
    assert study.notes == ("values without a confidence: not counted: 50",)
    assert study.statistics["without_confidence"] == pytest.approx(1 / 3)
    assert study.by_field["total"]["accuracy"] == 0.8


def test_rules_and_schema_say_what_is_right():
    gold = [{"n": 100, "s": "a"}] * 4
    answers = [{"n": {"value": 101, "confidence": 0.9}, "s": {"value": "A", "confidence": 0.9}}] * 4
    assert measure_confidence(answers, gold).total.accuracy == 0.0
    rules = {"n": {"compare": {"numeric": {"tolerance": {"rel": 0.1}}}}, "s": {"transform": ["lowercase"]}}
    assert measure_confidence(answers, gold, fields=rules).total.accuracy == 1.0
    close = measure_confidence(answers, gold, metric="json_similarity", correct=0.9)
    assert close.fields["n"].accuracy == 1.0


def test_extra_values_are_wrong_and_missing_ones_are_not_there():
    answers = [{"a": {"value": 1, "confidence": 0.9}, "new": {"value": 1, "confidence": 0.6}}, {}]
    study = measure_confidence(answers, [{"a": 1, "b": 2}, {"a": 1, "b": 2}])
    assert sorted(study.fields) == ["a", "new"]
    assert (study.fields["new"].accuracy, study.total.values) == (0.0, 2)


def test_what_is_left_out_is_reported():
    answers = ['{"id": "a", "n": {"value": 1, "confidence": 0.5}}', "no JSON", '{"id": "x", "n": 1}']
    gold = [{"id": "a", "n": 1, "m": 2}, {"id": "b", "n": 1, "m": 2}]
    study = measure_confidence(answers, gold, id="id")
    assert study.notes == (
        "answers: 2 answers without a gold record",
        "gold records without an answer that can be read: 1",
    )


def test_what_was_tolerated_in_answers_is_reported():
    answers = ['{"n": {"value": 1, "confidence": 0.5}', {"n": {"value": 1, "confidence": 0.5}}]
    (note,) = measure_confidence(answers, [{"n": 1}] * 2, repair=True).notes
    assert note.startswith("answers: record 1: repaired")


def test_a_rule_that_fits_nowhere_is_reported():
    answers, gold = records(5)
    rules = {"totl": {"weight": 2}, "lines[].n": {"weight": 2}}
    reason = r"^fields: 'totl' matches nothing .*; did you mean 'total'\?"
    with pytest.warns(JsonMatchWarning, match=reason) as message:
        measure_confidence(answers, gold, id="id", fields=rules)
    assert len(message) == 1


def test_fields_without_any_confidence_are_named():
    answer = {"n": {"value": 1, "confidence": 0.5}, **dict.fromkeys("abcd", 1)}
    study = measure_confidence([answer], [{"n": 1, **dict.fromkeys("abcd", 1)}])
    assert study.notes == (
        "values without a confidence: not counted: 4",
        "fields without any confidence (a, b, c, …): 4",
    )


def test_clusters_widen_intervals():
    gold = [{"doc": f"d{at // 20}", "n": 1} for at in range(400)]
    answers = [{"n": {"value": int(at // 20 % 4 != 0), "confidence": 0.9 - at % 3 / 10}} for at in range(400)]
    alone, together = (
        measure_confidence(answers, gold, cluster=name, fields=rules)
        for name, rules in ((None, {"doc": {"skip": True}}), ("doc", {}))
    )
    assert (alone.clusters, together.clusters) == (400, 20)
    one, other = (each.total.brier.high - each.total.brier.low for each in (alone, together))
    assert other > 2 * one


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_error": 0}, "max_error must be above 0 and below 1, got 0"),
        (
            {"confidence": "sure.{path}"},
            "no value in the answers to 2 records has a confidence; these were looked for at 'sure.{path}'",
        ),
        ({"metric": "feild_match"}, "unknown metric 'feild_match'"),
    ],
)
def test_arguments_that_cannot_be(options, message):
    answers = [{"n": {"value": 1, "confidence": 0.5}}] * 2
    with pytest.raises(ConfigurationError) as error:
        measure_confidence(answers, [{"n": 1}] * 2, **options)
    assert str(error.value).startswith(message)


def test_a_wrong_confidence_is_named_with_its_record():
    answers = [{"id": "b", "n": {"value": 1, "confidence": 7}}]
    with pytest.raises(
        ConfigurationError, match=r"^record 'b': the confidence of n must be a number from 0 to 1, got 7"
    ):
        measure_confidence(answers, [{"id": "b", "n": 1}], id="id")


@pytest.mark.parametrize("answers", [[], [{"n": None}], [{"n": {"value": 1, "confidence": None}}]])
def test_without_any_confidence(answers):
    with pytest.raises(ConfigurationError, match="has a confidence; these were looked for as"):
        measure_confidence(answers, [{"n": None}] * len(answers))


def test_one_record():
    study = measure_confidence([{"n": {"value": 1, "confidence": 0.7}}], [{"n": 1}], max_error=0.1)
    assert study.total.brier == (pytest.approx(0.09), None, None)
    assert study.total.at_error.threshold is None


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(write):
    answers, gold = records(700)
    write(answers_jsonl=answers, gold_jsonl=gold)


def test_the_command(corpus, command, folder):
    ran = command(
        "study confidence answers.jsonl gold.jsonl --id id --max-error 0.05 --html c.html --json c.json --gate coverage_at_error>=0.5"
    )
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "answers.jsonl against gold.jsonl: 1,400 values with a confidence in 700 records"
    assert "Values with a confidence of 0.8 or more may skip review: 90.0 % of all." in ran.out
    assert names(lines) == ["lines[].n", "total"]
    assert lines[-1].split()[:3] == ["coverage_at_error>=0.5", "passed", "0.90"]
    page = (folder / "c.html").read_text()
    assert page.count("<h2") == 3
    found = json.loads((folder / "c.json").read_text())
    assert (found["study"], found["version"], found["fields"]["total"]["values"]) == ("confidence", 1, 700)
    assert found["total"]["at_error"]["threshold"] == 0.8


@pytest.mark.parametrize(("wrong", "can"), [(3, False), (50, True)])
def test_more_values_do_not_help_if_the_surest_are_wrong(write, command, wrong, can):
    gold = [{"n": at} for at in range(120)]
    answers = [
        {"n": {"value": -at if at % wrong == 1 else at, "confidence": 0.9 + at % 10 / 100}}
        for at in range(120)
    ]
    write(answers_jsonl=answers, gold_jsonl=gold)
    message = " ".join(command("study confidence answers.jsonl gold.jsonl --max-error 0.01").out.split())
    assert ("collect more values" in message) == can
    assert (
        "No threshold can keep the share of wrong values at 0.01 or below: of the 12 values with the highest "
        "confidence, 0.99 on average, 33.3% are wrong. More values would not change that:" in message
    ) == (not can)


def test_a_column_has_the_same_number_of_decimals(write, command):
    gold = [{"n": at, "m": at} for at in range(400)]
    answers = [
        {
            "n": {"value": -at if at % 250 == 1 else at, "confidence": 0.5 + (at % 13) / 26},
            "m": {"value": -at if at % 2 else at, "confidence": 0.75},
        }
        for at in range(400)
    ]
    write(answers_jsonl=answers, gold_jsonl=gold)
    lines = command("study confidence answers.jsonl gold.jsonl").out.splitlines()
    for title in ("confidence ", "field "):
        start = next(at for at, line in enumerate(lines) if line.startswith(title))
        rows = list(takewhile(str.strip, lines[start + 1 :]))
        rows = [re.sub(" to ", "–", row).split() for row in rows]
        for column in zip(*(row for row in rows if row[0][0] != "…"), strict=True):
            decimals = {len(text.partition(".")[2]) for text in column if re.fullmatch(r"[\d.]+", text)}
            assert len(decimals) < 2, column


def names(lines):
    start = next(at for at, line in enumerate(lines) if line.startswith("field "))
    return [line.split()[0] for line in lines[start + 1 : start + 3]]


def test_a_gate_that_fails(corpus, command):
    gate = 'fields["total"].ece_low <= 0.01'
    ran = command("study confidence answers.jsonl gold.jsonl --id id --gate", gate)
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith('fields["total"].ece_low <= 0.01  failed    0.')


def test_confidences_next_to_values(write, command):
    answers = [{"n": at, "sure": {"n": 0.5}} for at in range(60)]
    write(gold_jsonl=[{"n": at} for at in range(60)], a_jsonl=answers)
    shown = command("study confidence a.jsonl gold.jsonl --confidence sure.{path}").out
    assert "60 values with a confidence" in shown
    assert "No auroc: it needs values that are right and values that are wrong." in shown


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--gate coverage_at_error>0.5", "a gate on coverage_at_error needs --max-error"),
        ("--gate f1>0.5", "--gate 'f1>0.5': unknown statistic 'f1'; known: accuracy, auroc,"),
        ("--max-error 5", "argument --max-error: must be between 0 and 1, got 5 (for 5 % write 0.05)"),
        ("--confidence x", "--confidence must be 'inline', or a path with {path} in it"),
        ("--max-error 0", "--max-error must be above 0 and below 1, got 0.0"),
        ("--json -", "argument --json: -: standard output is for the report; name a file"),
    ],
)
def test_a_command_that_cannot_be_used(corpus, refused, line, message):
    assert message in refused(f"study confidence answers.jsonl gold.jsonl --id id {line}")
