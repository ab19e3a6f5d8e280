"""`jsonmatch study overlap` and `measure_overlap`."""

from __future__ import annotations

import json
import random

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError
from pytest_jsonmatch.study import measure_overlap

FIRST = ("ann", "bob", "cem", "dia", "eve", "fay")
NAMES = [first + last for first in FIRST for last in ("", "ton", "sen", "ski")]


def record_of(numbers, name):
    return {
        "id": name,
        "name": f"{numbers.choice(NAMES)} {numbers.choice(NAMES)}",
        "date": f"20{numbers.randint(10, 25)}-{numbers.randint(1, 12):02}-{numbers.randint(1, 28):02}",
        "no": str(numbers.randint(10000, 99999)),
        "total": round(numbers.uniform(1, 9999), 2),
        "note": " ".join(numbers.choice(NAMES) for _ in range(numbers.randint(3, 14))),
    }


def golden(seed=0, number=80):
    numbers = random.Random(seed)
    return [record_of(numbers, f"r{at}") for at in range(number)]


def as_text(record):
    return ", ".join(str(value) for key, value in record.items() if key != "id")


def test_a_record_in_a_prompt_is_found():
    gold = golden()
    texts = [("a.md", "Read the invoice."), ("b.md", f"For example: {as_text(gold[7])}.")]
    study = measure_overlap({"test": gold}, texts, id="id")
    assert (study.records, study.texts) == (80, 2)
    first = study.found[0]
    assert (first.gold, first.id, first.text, first.is_whole) == ("test", "r7", "b.md", True)
    assert first.found == first.values
    assert f"no: {gold[7]['no']}" in first.fields


def test_whole_records_come_first_then_those_with_most_values():
    gold = [{"no": f"{10007 * at}", "code": f"{7919 * at}", "iban": f"{104729 * at}"} for at in range(1, 9)]
    texts = [
        ("a", f"{gold[0]['no']}"),
        ("b", f"{gold[1]['no']} {gold[1]['code']}"),
        ("c", f"{gold[2]['iban']} and {gold[2]['no']}, or {gold[2]['code']}"),
        ("d", f"{gold[1]['no']}"),
    ]
    found = measure_overlap({"g": gold}, texts).found
    # (One value of three may be there by chance.)
    shown = [(each.id, each.text, each.found, each.is_whole) for each in found]
    assert shown == [(3, "c", 3, True), (2, "b", 2, False)]


def test_one_value_is_not_the_whole_of_a_record():
    (seen,) = measure_overlap({"g": [{"no": "12345"}, {"no": "99999"}]}, [("p", "see 12345")]).found
    assert (seen.values, seen.found, seen.is_whole) == (1, 1, False)


def test_case_punctuation_and_thousands_do_not_matter():
    gold = golden()
    gold[3].update(name="Müller & Söhne KG", total=41234.55, no="AB 77213")
    text = "MÜLLER & SÖHNE KG: 41,234.55 (ab-77213)"
    (seen,) = measure_overlap({"test": gold}, [("p", text)], id="id").found
    assert (seen.id, seen.found) == ("r3", 3)
    assert set(seen.fields) == {"name: Müller & Söhne KG", "total: 41234.55", "no: AB 77213"}


def test_eight_words_of_a_long_text_are_enough():
    gold = golden()
    gold[5]["note"] = "the goods were left with a neighbour who had moved away long ago and never came back"
    no = f"{gold[5]['no']}, {gold[5]['date']}"
    text = f"{no}: They say the goods were left with a neighbour who had moved."
    (seen,) = measure_overlap({"test": gold}, [("p", text)]).found
    assert (seen.id, seen.found, seen.is_whole) == (6, 3, False)
    assert measure_overlap({"test": gold}, [("p", f"{no}: the goods were left with a dog")]).found == ()


def test_what_many_records_have_says_nothing_of_one():
    gold = [{**record, "bank": "First Bank of Nowhere 990117"} for record in golden()]
    assert measure_overlap({"test": gold}, [("p", "First Bank of Nowhere 990117")]).found == ()


@pytest.mark.parametrize(
    ("gold", "options", "message"),
    [
        ({"g": []}, {}, "there is no gold record"),
        ({"g": [{}]}, {"id": "id"}, "g: record 1 has no 'id'"),
        ({"g": "no.jsonl"}, {}, "gold 'no.jsonl' can't be read: no such file or directory"),
    ],
)
def test_arguments_that_cannot_be(folder, gold, options, message):
    with pytest.raises(ConfigurationError) as error:
        measure_overlap(gold, [], **options)
    assert str(error.value) == message


def test_gold_that_is_not_json():
    with pytest.raises(GoldValidationError, match="record 1: "):
        measure_overlap({"g": ["{"]}, [])


def test_records_with_nothing_in_them():
    assert measure_overlap({"g": [{"a": None}, {}]}, [("p", "null"), ("q", "")]).found == ()


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(write, folder):
    gold = golden()
    write(test_jsonl=gold)
    prompts = folder / "prompts"
    (prompts / ".git").mkdir(parents=True)
    (prompts / ".git" / "hidden.md").write_text(as_text(gold[3]))
    (prompts / "a.md").write_text(f"Like this:\n{as_text(gold[5])}\n")
    (prompts / "logo.png").write_bytes(b"\x89PNG\0" + as_text(gold[6]).encode())
    (prompts / "shots.jsonl").write_text(json.dumps({"content": as_text(gold[9]) + "\nü"}) + "\nno JSON\n")


def test_the_command(corpus, command, folder):
    ran = command("study overlap test.jsonl --id id --with prompts --html o.html --json o.json")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    # (A picture is no text.)
    assert lines[0].startswith("overlap of 80 gold records and 3 texts of ")
    found = [line.split()[1:3] for line in lines if line.startswith("test: ")]
    assert found[:2] == [["r5", "whole"], ["r9", "whole"]]
    assert ", 2 of them complete: check whether they occur by chance." in " ".join(lines)
    assert "shots.jsonl:1" in ran.out
    assert "shots.jsonl:1" in (folder / "o.html").read_text().replace("<wbr>", "")
    kept = json.loads((folder / "o.json").read_text())
    assert (kept["study"], kept["found"][0]["id"], kept["found"][0]["is_whole"]) == ("overlap", "r5", True)


def test_nothing_is_found(corpus, command, folder):
    (folder / "other.md").write_text("Nothing of it.")
    out = command("study overlap test.jsonl --id id --with other.md").out
    assert "No distinctive value of any record occurs in the texts." in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no.jsonl --with prompts", "no.jsonl: no such file or directory"),
        ("test.jsonl test.jsonl --with prompts", "test.jsonl is given twice; name each file once"),
        ("test.jsonl", "the following arguments are required: --with"),
        ("test.jsonl --with no.md", "no.md: no such file or directory"),
        ("test.jsonl --with empty", "empty has no files"),
    ],
)
def test_bad_command_lines(corpus, command, folder, line, message):
    (folder / "empty").mkdir()
    ran = command(f"study overlap {line}")
    assert ran.code == 2
    assert message in ran.err
