"""`jsonmatch study agreement` and `measure_agreement`."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from scipy.stats import binom

from pytest_jsonmatch import ConfigurationError, GoldValidationError, Verdict
from pytest_jsonmatch.study import measure_agreement
from tests.laws import share

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, example C: 4 observers, 12 units, values missing.
FOUR_OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def observers(rows):
    """The records of each observer by the name of the unit; "." is a unit that was not observed."""
    return {
        f"o{at}": {f"u{unit}": {"v": int(value)} for unit, value in enumerate(row.split()) if value != "."}
        for at, row in enumerate(rows)
    }


def test_krippendorffs_example():
    found = measure_agreement(observers(FOUR_OBSERVERS)).fields["v"]
    assert (round(found.alpha.value, 3), found.kappa) == (0.743, None)


def test_cohens_kappa_of_two_raters():
    # Cohen 1960 weighs the same table: both yes 20, both no 15, only one of them yes 5 and 10.
    ann = [{"ok": answer} for answer in [True] * 25 + [False] * 25]
    bob = [{"ok": answer} for answer in [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15]
    found = measure_agreement({"ann": ann, "bob": bob}).fields["ok"]
    assert (found.places, found.alpha) == (50, None)
    assert (found.agreement.value, found.kappa.value) == (pytest.approx(0.7), pytest.approx(0.4))
    low = {"agreement_low": found.agreement.low, "kappa_low": found.kappa.low, "alpha_low": None}
    values = {"agreement": found.agreement.value, "kappa": found.kappa.value, "alpha": None}
    assert found.statistics == {**values, **low}


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_the_krippendorff_package(seed):
    krippendorff = pytest.importorskip("krippendorff")
    numbers = np.random.RandomState(seed)
    true = numbers.randint(0, 5, 40)
    rows = np.where(numbers.random_sample((4, 40)) < 0.7, true, numbers.randint(0, 5, (4, 40))).astype(float)
    rows[numbers.random_sample(rows.shape) < 0.3] = np.nan
    texts = (" ".join("." if np.isnan(value) else str(int(value)) for value in row) for row in rows)
    found = measure_agreement(observers(texts)).fields["v"]
    expected = krippendorff.alpha(rows, level_of_measurement="nominal")
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("names", [("ann", "bob"), ("ann", "bob", "cem")])
def test_the_order_of_documents_does_not_matter(names):
    """Three hundred rare values first, then a common one; some values stand for others."""
    numbers = random.Random(2)
    truth = [f"v{at}" for at in range(300)] + ["common"] * 500
    sides = {
        name: {f"d{at}": {"k": true if numbers.random() < 0.8 else "Common"} for at, true in enumerate(truth)}
        for name in names
    }
    rules = {"k": {"compare": {"oneof": {"groups": [["common", "Common"]]}}}}
    back = {name: dict(reversed(side.items())) for name, side in sides.items()}
    found = [measure_agreement(each, fields=rules).fields["k"] for each in (sides, back)]
    all_statistics = [(each.agreement.value, (each.kappa or each.alpha).value) for each in found]
    assert all_statistics[0] == pytest.approx(all_statistics[1])
    assert 0.4 < all_statistics[0][1] < 0.9


def test_comparators_say_what_agrees():
    ann = [{"shop": f"Shop {at}", "total": 100 + at} for at in range(20)]
    bob = [{"shop": f"SHOP {at}", "total": 100.4 + at} for at in range(20)]
    assert measure_agreement({"ann": ann, "bob": bob}).total.agreement.value == 0.0
    half = {"numeric": {"tolerance": {"abs": 0.5}}}
    rules = {"shop": {"transform": ["lowercase"]}, "total": {"compare": half}}
    found = measure_agreement({"ann": ann, "bob": bob}, fields=rules)
    assert found.total.agreement.value == found.fields["shop"].kappa.value == 1.0


def test_partial_credit_is_agreement_and_no_sameness():
    ann, bob = ["cat", "car", "dog", "cat"], ["cat", "cat", "dog", "dot"]
    sides = {"ann": [{"s": text} for text in ann], "bob": [{"s": text} for text in bob]}
    found = measure_agreement(sides, metric="json_similarity").fields["s"]
    seen, chance = 2 / 4, (2 * 2 + 1 * 1) / 16
    assert found.agreement.value == pytest.approx((1 + 2 / 3 + 1 + 1 / 3) / 4)
    assert found.kappa.value == pytest.approx((seen - chance) / (1 - chance))


def test_what_the_comparator_calls_the_same_agrees_by_chance_too():
    plain = ["US", "US", "DE", "FR", "US", "DE"], ["US", "DE", "DE", "FR", "US", "FR"]
    spelled = ["US", "USA", "DE", "FR", "USA", "DE"], ["USA", "DE", "DE", "FR", "US", "FR"]
    rules = {"land": {"compare": {"oneof": {"groups": [["US", "USA"]]}}}}
    found = []
    for sides in (plain, spelled):
        records = {name: [{"land": land} for land in side] for name, side in zip("ab", sides)}
        found.append(measure_agreement(records, fields=rules))
    plain_kappa, spelled_kappa = (each.fields["land"].kappa.value for each in found)
    assert plain_kappa == pytest.approx(spelled_kappa)


def test_arrays_are_paired_and_what_one_leaves_out_is_disagreement():
    schema = {"properties": {"lines": {"type": "array", "x-eval-align": "unordered"}}}
    ann = [{"lines": [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}]}] * 4
    bob = [{"lines": [{"n": 2, "s": "b"}, {"n": 1, "s": "a"}]}] * 3 + [{"lines": [{"n": 2, "s": "b"}]}]
    found = measure_agreement({"ann": ann, "bob": bob}, schema=schema)
    shares = {path: (each.places, each.agreement.value) for path, each in found.fields.items()}
    assert shares == {"lines[].n": (8, 0.875), "lines[].s": (8, 0.875)}


def test_the_interval_of_many_documents_reaches_two_standard_errors_to_both_sides():
    ann, bob = [{"k": 0}] * 4_000, [{"k": int(at % 5 == 0)} for at in range(4_000)]
    agreement = measure_agreement({"ann": ann, "bob": random.Random(1).sample(bob, 4_000)}).total.agreement
    reach = 1.96 * (0.8 * 0.2 / 4_000) ** 0.5
    assert agreement.value == pytest.approx(0.8)
    assert (agreement.low, agreement.high) == pytest.approx((0.8 - reach, 0.8 + reach), abs=0.003)


def test_a_judge_is_asked_about_many_documents_at_once():
    asked = []

    class Judge:
        def judge(self, items):
            asked.append(len(items))
            return {item.id: Verdict(item.expected.lower() == item.actual.lower()) for item in items}

    sides = {name: [{"s": f"{name} {at % 5}"} for at in range(300)] for name in ("ann", "ANN", "bob")}
    found = measure_agreement(sides, judge=Judge(), fields={"s": {"compare": "semantic"}})
    assert found.total.agreement.value == pytest.approx(1 / 3)
    # Three chunks of documents, five questions of each two annotators.
    assert asked == [15]


def test_a_field_that_does_not_vary_has_no_kappa():
    found = measure_agreement({"ann": [{"k": None}] * 9, "bob": [{"k": None}] * 9}).fields["k"]
    assert (found.agreement.value, found.kappa, found.alpha) == (1.0, None, None)


def test_documents_find_each_other_by_id(write, folder):
    write(
        ann_jsonl=[{"id": at, "k": at % 3} for at in range(300)],
        bob_jsonl=[{"id": at, "k": at % 3} for at in reversed(range(1, 301))],
    )
    found = measure_agreement({name: folder / f"{name}.jsonl" for name in ("ann", "bob")}, id="id")
    assert (found.documents, found.unshared, found.total.kappa.value) == (299, 2, 1.0)


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({"ann": [{"k": 1}]}, "agreement needs at least 2 annotators, got 1"),
        ({"ann": {"a": {}}, "bob": {"b": {}}}, "no document is described by two of ann, bob: do their ids"),
        ({"ann": [{}], "bob": [{}], "metric": "pairwise_f1"}, "there is nothing to compare: no annotator"),
        (
            {"ann": 7, "bob": []},
            "gold must be a list or an iterator of records, or the path of a file of records (JSON Lines, CSV, a JSON array), a folder or a glob, got int",
        ),
    ],
)
def test_sides_that_cannot_be(folder, sides, message):
    options = {"metric": sides.pop("metric")} if "metric" in sides else {}
    with pytest.raises(ConfigurationError) as error:
        measure_agreement(sides, **options)
    assert str(error.value).startswith(message)


def test_a_record_without_an_id_and_one_that_comes_twice(write, folder):
    write(ann_jsonl=[{"id": 1}, {"k": 1}], bob_jsonl=[{"id": 1}, {"id": 1}])
    with pytest.raises(ConfigurationError, match=r"ann.jsonl:2 has no 'id'"):
        measure_agreement({"ann": folder / "ann.jsonl", "bob": []}, id="id")
    with pytest.raises(ConfigurationError, match=r"^bob: the id 1 occurs twice"):
        measure_agreement({"bob": folder / "bob.jsonl", "ann": []}, id="id")
    with pytest.raises(GoldValidationError, match="record 1: "):
        measure_agreement({"bob": ["{"], "ann": ["{}"]})


def test_perfect_agreement_on_few_documents_is_not_certain():
    ratings = [{"k": at % 3} for at in range(20)]
    found = measure_agreement({"ann": ratings, "bob": ratings}).fields["k"]
    # Clopper and Pearson: 0.025 ** (1 / 20).
    assert (found.agreement.low, found.agreement.high) == (pytest.approx(0.832, abs=0.02), 1.0)
    assert (found.kappa.low, found.kappa.high) == (pytest.approx(0.75, abs=0.03), 1.0)


@pytest.mark.parametrize(("raters", "statistic"), [(2, "kappa"), (3, "alpha")])
def test_intervals_hold_as_often_as_they_say(raters, statistic):
    """Annotators who say the truth in nine of ten cases, else anything: 0.81 of what chance leaves."""
    held, runs, number = 0, share(120), 40
    numbers = random.Random(11)
    for _ in range(runs):
        sides = {f"a{at}": [] for at in range(raters)}
        for _ in range(number):
            true = numbers.choice("abc")
            for records in sides.values():
                records.append({"k": true if numbers.random() < 0.9 else numbers.choice("abc")})
        estimate = getattr(measure_agreement(sides).fields["k"], statistic)
        held += estimate.low <= 0.81 <= estimate.high
    # With 95 % there are fewer in 3 of 100 such tests; of 120 runs with 85 %, in 96.
    assert held >= binom.ppf(0.03, runs, 0.95)


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def gold_records(write):
    numbers = random.Random(4)
    ann = [{"id": f"d{at}", "kind": numbers.choice("abc"), "total": at} for at in range(40)]
    bob = [
        {**each, "kind": numbers.choice("abc") if each["total"] % 4 == 0 else each["kind"]} for each in ann
    ]
    write(ann_jsonl=ann, bob_jsonl=bob[::-1], cem_json=ann[:30])


def test_the_command(gold_records, command, folder):
    ran = command(
        "study agreement ann.jsonl bob.jsonl cem.json --id id --html a.html --json a.json --gate alpha>=0.5"
    )
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "agreement of ann, bob, cem on 40 documents"
    assert [line.split()[0] for line in lines if line.startswith(("kind", "total"))] == ["kind", "total"]
    assert lines[-1].split()[:2] == ["alpha>=0.5", "passed"]
    assert "By field, the lowest alpha first" in (folder / "a.html").read_text()
    found = json.loads((folder / "a.json").read_text())
    assert (found["study"], found["documents"]) == ("agreement", 40)
    assert found["fields"]["total"]["agreement"][0] == 1.0


def test_folders(write, command, folder):
    for name, value in (("ann", 1), ("bob", 2)):
        (folder / name).mkdir()
        for at in range(3):
            (folder / name / f"{at}.json").write_text(json.dumps({"k": value if at else 0}))
    (folder / "bob" / "9.json").write_text("{}")
    out = command("study agreement ann bob").out
    assert "agreement of ann and bob on 3 documents" in out
    assert "1 document described by one annotator only: not counted" in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ann.jsonl ann.jsonl", "ann.jsonl is given twice; name each file once"),
        ("ann.jsonl no.jsonl", "no.jsonl: no such file or directory"),
        ("ann.jsonl bob.jsonl --gate cohen>=1", "--gate 'cohen>=1': unknown statistic 'cohen'"),
    ],
)
def test_bad_command_lines(gold_records, command, line, message):
    ran = command(f"study agreement {line}")
    assert ran.code == 2
    assert ran.err.startswith(f"jsonmatch study agreement: {message}")
