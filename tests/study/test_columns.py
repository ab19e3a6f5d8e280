"""Studies read records as `jsonmatch evaluate` does: the same numbers, whatever form the data has."""

from __future__ import annotations

import csv
import json
import random

import pandas as pd
import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError, JsonMatchWarning
from pytest_jsonmatch.study import (
    audit_gold,
    measure_agreement,
    measure_confidence,
    measure_overlap,
    measure_shift,
)

FIELDS = ("shop", "code")


def corpus(seed, wrong=0.2):
    rng = random.Random(seed)
    gold = [{"shop": rng.choice(["Mill & Sons", "Ann, Bo"]), "code": f"INV {7919 * n}"} for n in range(40)]
    answers = [
        {**record, "shop": "Mill" if rng.random() < wrong else record["shop"], "sure": n % 9 / 10}
        for n, record in enumerate(gold)
    ]
    return gold, answers


GOLD, ANSWERS = corpus(1)


def plain(records):
    return [{"no": f"r{n}", "doc": f"d{n // 4}", **record} for n, record in enumerate(records)], {}


def nested(records):
    lines = [
        {"meta": {"no": f"r{n}", "doc": f"d{n // 4}"}, "out": {"is": record}}
        for n, record in enumerate(records)
    ]
    return lines, {"id": "meta.no", "cluster": "meta.doc", "expected": "out.is", "actual": "out.is"}


def in_csv(folder, name, records):
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["no", "doc", *records[0]], delimiter=";")
        writer.writeheader()
        writer.writerows(plain(records)[0])
    columns = {field: field for field in FIELDS}
    return path, {"delimiter": ";", "expected": columns, "actual": columns}


@pytest.fixture(params=["plain", "lines", "nested", "csv", "frame", "function"])
def form(request, tmp_path):
    """Return a function of a name and records: the same records in some form, and the columns they need."""

    def made(name, records):
        if request.param == "csv":
            return in_csv(tmp_path, name, records)
        given, columns = (nested if request.param == "nested" else plain)(records)
        if request.param in {"lines", "nested"}:
            path = tmp_path / f"{name}.jsonl"
            path.write_text("".join(f"{json.dumps(record)}\n" for record in given))
            return path, columns
        if request.param == "function":
            return lambda: given, columns
        return (pd.DataFrame(given) if request.param == "frame" else given), columns

    return made


def options(columns, *names):
    known = {"id": "no", "cluster": "doc", **columns}
    return {name: known[name] for name in (*names, "delimiter") if name in known}


def without_sure(records):
    return [{field: record[field] for field in FIELDS} for record in records]


def test_audit(form):
    (gold, columns), *others = (
        form(name, records)
        for name, records in (("gold", GOLD), *((name, without_sure(ANSWERS)) for name in "abc"))
    )
    systems = {name: records for name, (records, _) in zip("abc", others, strict=True)}
    audit = audit_gold(systems, gold, **options(columns, "id", "actual", "expected"))
    found = {(suspect.record, suspect.path, suspect.gold, suspect.answer) for suspect in audit.found}
    assert found == {
        (f"r{n}", "shop", record["shop"], "Mill")
        for n, record in enumerate(GOLD)
        if ANSWERS[n]["shop"] != record["shop"]
    }


def test_agreement(form):
    (gold, columns), (answers, _) = form("gold", GOLD), form("a", without_sure(ANSWERS))
    study = measure_agreement({"ann": gold, "bob": answers}, **options(columns, "id", "expected", "cluster"))
    sides = {"ann": plain(GOLD)[0], "bob": plain(without_sure(ANSWERS))[0]}
    assert study == measure_agreement(sides, id="no", cluster="doc")
    assert (study.documents, study.clusters, set(study.fields)) == (40, 10, set(FIELDS))
    apart = measure_agreement(sides, id="no", skip=["doc"])
    assert apart.total.agreement.value == study.total.agreement.value
    assert apart.total.agreement.low > study.total.agreement.low


def test_confidence(form):
    in_place = [
        {field: {"value": record[field], "confidence": record["sure"]} for field in FIELDS}
        for record in ANSWERS
    ]
    (gold, columns) = form("gold", GOLD)
    answers, _ = form("answers", in_place)
    if columns.get("delimiter"):
        answers, columns = plain(in_place)[0], {**columns, "actual": {field: field for field in FIELDS}}
    study = measure_confidence(answers, gold, **options(columns, "id", "actual", "expected", "cluster"))
    assert study == measure_confidence(plain(in_place)[0], plain(GOLD)[0], id="no", cluster="doc")
    assert (study.records, study.clusters, set(study.fields)) == (40, 10, set(FIELDS))


def test_overlap(form):
    gold, columns = form("gold", GOLD)
    texts = [("prompt", "Such as INV 55433 of Mill & Sons")]
    study = measure_overlap({"gold": gold}, texts, **options(columns, "id", "expected"))
    assert [(seen.id, seen.fields) for seen in study.found] == [("r7", ("code: INV 55433",))]


def test_shift(form):
    (old, columns), (new, _) = form("old", GOLD), form("new", [{**record, "code": "?"} for record in GOLD])
    study = measure_shift(new, old, **options(columns, "id", "expected"))
    assert "no" not in study.by_field
    assert study.by_field["code"]["shifted"] == 1


def test_a_column_that_is_not_there():
    gold = [{"no": 1, "gold": {"n": 1}}]
    with pytest.raises(GoldValidationError, match="record 1: has no 'glod'; did you mean 'gold'"):
        measure_agreement({"a": gold, "b": gold}, id="no", expected="glod")
    with pytest.raises(GoldValidationError, match="record 1: has no 'glod'; did you mean 'gold'"):
        audit_gold({"a": gold, "b": gold}, gold, id="no", expected="glod")
    with pytest.raises(ConfigurationError, match="old: record 1 has no 'nr'"):
        measure_shift([{"nr": 1}], gold, id="nr")


def test_a_column_of_answers_that_is_not_named_is_found():
    gold = [{"id": f"r{number}", "gold": {"total": number}} for number in range(5)]
    answers = [{"id": each["id"], "output": each["gold"]} for each in gold]
    forms = "the answers and the gold records have different forms; they are alike with actual='output'"
    columns = {"id": "id", "expected": "gold"}
    with pytest.warns(JsonMatchWarning, match=f"^{forms}$") as caught:
        audit_gold({"a": answers, "b": answers}, gold, **columns)
    assert [warning.filename for warning in caught] == [__file__] * 2
    with pytest.raises(ConfigurationError, match=f"has a confidence; .*; {forms}$"):
        measure_confidence(answers, gold, confidence="sure.{path}", **columns)
