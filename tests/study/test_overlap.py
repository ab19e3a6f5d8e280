"""`jsonmatch study overlap` and `measure_overlap`."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest

from pytest_jsonmatch import ConfigurationError, GoldValidationError
from pytest_jsonmatch.study import measure_overlap, words
from pytest_jsonmatch.study.records import Record, temporary_database
from pytest_jsonmatch.study.twins import Twins
from pytest_jsonmatch.study.words import decoys_of, text_of, words_of

NAMES = [
    first + last for first in ("ann", "bob", "cem", "dia", "eve", "fay") for last in ("", "ton", "sen", "ski")
]


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
    found = measure_overlap({"test": gold}, texts, id_field="id")
    assert (found.records, found.texts, found.contaminated) == (80, 2, 1)
    (worst,) = found.worst
    assert (worst.split, worst.id, worst.text, worst.is_whole) == ("test", "r7", "b.md", True)
    assert worst.p < 1e-4
    assert f"no: {gold[7]['no']}" in worst.fields
    assert found.figures == {"contaminated": 1, "duplicates": 0, "leaks": 0}


@pytest.mark.parametrize("form", [json.dumps, lambda record: json.dumps(record, indent=2), text_of])
def test_a_whole_record_is_found_where_each_of_its_values_is_too_short(form):
    gold = [
        {"shop": f"Shop {at}", "paid": at % 2 == 0, "items": [{"n": at + 10 * row} for row in range(3)]}
        for at in range(30)
    ]
    texts = [("p.md", "Shop 4 has 4, and Shop 5 has 15."), ("q.md", f"Like {form(gold[7])}, or so.")]
    found = measure_overlap({"test": gold}, texts)
    (worst,) = found.worst
    assert (worst.id, worst.text, worst.is_whole, worst.values, worst.fields) == (7, "q.md", True, 0, ())


def test_records_that_are_alike_by_chance_are_no_finding():
    gold = [{"kind": "ab"[at % 2], "n": at % 40} for at in range(80)]
    texts = [(f"{at}", json.dumps({"kind": "a", "n": at})) for at in range(40)]
    assert measure_overlap({"test": gold}, texts).contaminated == 0


def test_case_punctuation_and_thousands_do_not_matter():
    gold = golden()
    gold[3].update(name="Müller & Söhne KG", total=41234.55, no="AB 77213")
    text = "MÜLLER & SÖHNE KG: 41,234.55 (ab-77213)"
    (worst,) = measure_overlap({"test": gold}, [("p", text)], id_field="id").worst
    assert (worst.id, worst.found) == ("r3", 3)
    assert set(worst.fields) == {"name: Müller & Söhne KG", "total: 41234.55", "no: AB 77213"}


def test_eight_words_of_a_long_text_are_enough():
    gold = golden()
    gold[5]["note"] = "the goods were left with a neighbour who had moved away long ago and never came back"
    no = gold[5]["no"]
    text = f"{no}: They say the goods were left with a neighbour who had moved."
    (worst,) = measure_overlap({"test": gold}, [("p", text)]).worst
    assert (worst.id, worst.found, worst.is_whole) == (5, 2, False)
    assert measure_overlap({"test": gold}, [("p", f"{no}: the goods were left with a dog")]).worst == ()


def test_a_text_may_come_in_parts():
    gold = golden()
    text = as_text(gold[2])
    whole = measure_overlap({"test": gold}, [("p", text)])
    at = text.index(",")
    # (Cut within the name.)
    parts = measure_overlap({"test": gold}, [("p", text[: at - 4]), ("p", text[at - 4 :])])
    assert whole.texts == parts.texts == 1
    cut = measure_overlap(
        {"test": gold}, [("p", f"{gold[2]['name'].split()[0]} "), ("p", text.split(maxsplit=1)[1])]
    )
    assert cut.worst == whole.worst


def test_what_many_records_have_says_nothing_of_one():
    gold = [{**record, "bank": "First Bank of Nowhere 990117"} for record in golden()]
    found = measure_overlap({"test": gold}, [("p", "First Bank of Nowhere 990117")])
    assert found.contaminated == 0


def test_chance_is_measured_by_values_that_nobody_has():
    """A number alone proves nothing, nor does its date where every date stands in the text."""
    gold = golden()
    days = " ".join(f"20{y}-{m:02}-{d:02}" for y in range(10, 26) for m in range(1, 13) for d in range(1, 29))
    no, date = gold[3]["no"], gold[3]["date"]
    assert measure_overlap({"test": gold}, [("p", f"{no}. {days}")]).contaminated == 0
    assert [each.id for each in measure_overlap({"test": gold}, [("p", f"{no}. {date}")]).worst] == [3]


def test_decoys_look_like_the_values_and_are_none_of_them():
    sample = [words_of(text) for text in ("Ann Ton 4711", "Bob Sen 9002", "Cem Ski 1234")]
    made = decoys_of(sample)
    assert len(made) > 100
    assert not {tuple(words) for words in sample} & set(made)
    assert {words[0] for words in made} == {"ann", "bob", "cem"}
    assert {words[2][0] for words in made} == {"4", "9", "1"}


def test_where_no_decoy_can_be_made_nothing_is_concluded():
    gold = [{"name": f"{name} limited", "kind": "k"} for name in NAMES]
    found = measure_overlap({"test": gold}, [("p", "annton limited and bobsen limited")])
    assert found.contaminated == 0
    # Nor do they make what another field proves any less likely.
    numbered = [{**record, "no": str(12345 + 7919 * at)} for at, record in enumerate(gold)]
    text = [("p", f"{numbered[2]['no']}, {numbered[2]['name']}")]
    (both,) = measure_overlap({"test": numbered}, text).worst
    (alone,) = measure_overlap({"test": [{"no": record["no"]} for record in numbered]}, text).worst
    assert (both.found, both.p) == (2, pytest.approx(alone.p))
    # Almost 1,000 decoys, none of them in the text, for each of 24 records.
    assert alone.p == pytest.approx(24 / 1_001, rel=0.01)
    # One value is not the whole of a record.
    assert (alone.values, alone.found, alone.is_whole) == (1, 1, False)


@pytest.mark.parametrize("as_text", [as_text, text_of])
@pytest.mark.parametrize("histories", [25, pytest.param(300, marks=pytest.mark.full)])
def test_records_of_the_same_kind_seldom_look_contaminated(histories, as_text):
    """In at most 5 % of golds any record is named where none is there; one that is there always is."""
    wrong = seen = 0
    for seed in range(histories):
        numbers = random.Random(seed)
        gold = golden(seed + 1000, 60)
        texts = [(f"t{at}", as_text(record_of(numbers, ""))) for at in range(100)]
        wrong += measure_overlap({"test": gold}, texts).contaminated > 0
        texts[50] = "t50", as_text(gold[9])
        if seed < 10:
            seen += 9 in {each.id for each in measure_overlap({"test": gold}, texts).worst}
    assert wrong <= max(3, 0.06 * histories)
    assert seen == 10


# -- near duplicates ---------------------------------------------------------------------------------------


def test_near_duplicates_within_a_split_and_across():
    gold = golden()
    train = [{**gold[4], "id": "t4", "total": 1}, *golden(1, 20)]
    gold.append({**gold[8], "id": "again"})
    found = measure_overlap({"test": gold, "train": train}, id_field="id", near=0.8)
    assert (found.duplicates, found.leaks) == (2, 2)
    assert {(each.split, each.id, each.other_split, each.other_id, each.score) for each in found.pairs} == {
        ("test", "r4", "train", "t4", 0.8),
        ("test", "r8", "test", "again", 1.0),
    }


def test_texts_are_records_too():
    text = json.dumps("A long text that is a record of its own, and stands there twice.")
    assert measure_overlap({"g": [text, text, '"another"']}).duplicates == 1


def test_rules_say_what_is_nearly_the_same():
    gold = golden(number=10)
    gold.append({**gold[0], "note": gold[0]["note"].upper(), "total": gold[0]["total"] + 0.3})
    rules = {
        "note": {"transform": ["lowercase"]},
        "total": {"compare": {"numeric": {"tolerance": {"abs": 1}}}},
    }
    one = measure_overlap({"g": [{**each, "id": 0} for each in gold]}, near=1.0, fields=rules)
    other = measure_overlap({"g": [{**each, "id": 0} for each in gold]}, near=1.0)
    assert (one.duplicates, other.duplicates) == (1, 0)


def test_a_group_of_equal_records_takes_as_many_comparisons():
    compared = []
    with temporary_database() as database:
        twins = Twins(database)
        for number in range(500):
            twins.add(number, {1, 2, 3, 4})
        twins.link(
            lambda number: Record("g", number, None),
            lambda one, other: compared.append((one, other)) or 1.0,
            0.9,
        )
    assert twins.counts(lambda number: "g") == (499, 0)
    assert len(compared) == 499
    assert len(twins.pairs) == 100


def test_small_records_are_no_duplicates_unless_they_have_a_value_that_tells_them_apart():
    assert measure_overlap({"g": [{"ok": True, "n": 1}] * 9}).duplicates == 0
    asked = [{"question": f"What is the capital of {name}?", "answer": name} for name in NAMES]
    assert measure_overlap({"g": [*asked, asked[3]]}).duplicates == 1


def test_memory_does_not_grow_with_records(monkeypatch):
    # The cache of words is bounded, but larger than this test.
    monkeypatch.setattr(words, "hash_of", words.hash_of.__wrapped__)

    def records(number):
        for at in range(number):
            note = f"goods {at} left at door {at % 91}"
            yield {"no": f"{at * 7919:07}", "note": note, "at": f"{at * 31:06}"}

    def peak(number):
        tracemalloc.start()
        measure_overlap({"g": records(number)}, [("p", "nothing")])
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(600)
    assert peak(3_000) - peak(1_000) < 2_000 * 150


@pytest.mark.parametrize(
    ("gold", "options", "told"),
    [
        ({"g": []}, {}, "there is no gold record"),
        ({"g": [{}]}, {"near": 0}, "near is 0; it must be a score above 0 and up to 1"),
        ({"g": [{}]}, {"id_field": "id"}, "g: record 0 has no id that is a string or an integer"),
        ({"g": "no.jsonl"}, {}, "gold 'no.jsonl' can't be read: no such file or directory"),
    ],
)
def test_arguments_that_cannot_be(folder, gold, options, told):
    with pytest.raises(ConfigurationError) as error:
        measure_overlap(gold, **options)
    assert str(error.value) == told


def test_gold_that_is_no_json():
    with pytest.raises(GoldValidationError, match="record 0: "):
        measure_overlap({"g": ["{"]})


def test_names_and_values_with_half_of_a_surrogate_pair():
    gold = [{**record, "id": f"\ud800{at}", "a\ud800": "\ud800"} for at, record in enumerate(golden())]
    (worst,) = measure_overlap({"g\udcff": gold}, [("p\udcff", as_text(gold[7]))], id_field="id").worst
    assert (worst.split, worst.id, worst.text) == ("g\udcff", "\ud8007", "p\udcff")


def test_one_record_all_of_which_is_null():
    found = measure_overlap({"g": [{"a": None}]}, [("p", "null")])
    assert (found.records, found.contaminated) == (1, 0)


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(write, folder):
    gold = golden()
    write(test_jsonl=gold, train_jsonl=[{**gold[1], "id": "t"}, *golden(2, 30)])
    (folder / "prompts" / ".git").mkdir(parents=True)
    (folder / "prompts" / ".git" / "hidden.md").write_text(as_text(gold[3]))
    (folder / "prompts" / "a.md").write_text(f"Like this:\n{as_text(gold[5])}\n")
    (folder / "prompts" / "logo.png").write_bytes(b"\x89PNG\0" + as_text(gold[6]).encode())
    (folder / "prompts" / "shots.jsonl").write_text(
        json.dumps({"content": as_text(gold[9]) + "\nü"}) + "\nno JSON\n"
    )


def test_the_command(corpus, command, folder):
    ran = command(
        "study overlap test.jsonl --id-field id --with prompts --html o.html --json o.json --gate contaminated<=2"
    )
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    # (A picture is no text.)
    assert lines[0].startswith("overlap of 80 gold records and 3 texts of ")
    found = [line.split() for line in lines if line.startswith("test: ")]
    assert {line[1] for line in found} == {"r5", "r9"}
    assert "shots.jsonl:1" in ran.out
    assert lines[-1].split()[:2] == ["PASSED", "contaminated<=2"]
    assert "Records that occur in the texts" in (folder / "o.html").read_text()
    found = json.loads((folder / "o.json").read_text())
    assert (found["study"], found["contaminated"], found["worst"][0]["split"]) == ("overlap", 2, "test")


def test_leaks_between_splits(corpus, command):
    ran = command("study overlap test.jsonl train.jsonl --id-field id", "--gate", "leaks == 0")
    assert ran.code == 1
    assert "test: r1  train: t   1.00" in ran.out
    assert "contaminated" not in ran.out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("no.jsonl", "no.jsonl: no such file or directory"),
        ("test.jsonl test.jsonl", "one file is given twice"),
        ("test.jsonl --with no.md", "no.md: no such file or directory"),
        ("test.jsonl --with empty", "empty has no files"),
        ("test.jsonl --gate leak>=1", "--gate 'leak>=1': unknown figure 'leak'"),
    ],
)
def test_bad_command_lines(corpus, command, folder, line, told):
    (folder / "empty").mkdir()
    ran = command(f"study overlap {line}")
    assert ran.code == 2
    assert ran.err.startswith(f"jsonmatch study overlap: {told}")
