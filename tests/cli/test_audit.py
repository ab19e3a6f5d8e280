"""`jsonmatch study audit`."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tests.conftest import gates_in

GOLD = [{"id": f"r{at}", "vendor": f"vendor {at}", "total": 10 * at, "items": [{"n": at}]} for at in range(6)]
SAID = [{**each, **{2: {"total": 21}, 4: {"vendor": "other"}}.get(at, {})} for at, each in enumerate(GOLD)]
TABLE = """\
gold.jsonl: 6 records, answers of 3 systems

2 places where systems agree against the gold, the strongest evidence first. Expect about 2 of these
gold values to be wrong, assuming that one gold value in fifty is wrong and that no mistake is
shared by all systems.

record  place   gold        answers   votes  wrong gold  who
r2      total   20          21       3 to 0        99 %  a, b, c
r4      vendor  "vendor 4"  "other"  3 to 0        99 %  a, b, c
"""


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch):
    """Let an audit that runs a suite load jsonmatch alone, as other runs in tests do."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p jsonmatch")


@pytest.fixture
def answers(write):
    write(gold_jsonl=GOLD, a_jsonl=SAID, b_jsonl=SAID[::-1], c_jsonl=SAID)
    return "study audit a.jsonl b.jsonl c.jsonl gold.jsonl --id id"


def test_list(answers, command):
    assert command(answers) == (0, TABLE, "")


def test_narrow(answers, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert all(len(line) <= 60 for line in command(answers).out.splitlines())


def test_long_values_are_shown_from_where_they_differ(write, command):
    answers = ["the very same beginning, two", "b"]
    write(gold_jsonl=["the very same beginning, one", "b"], a_jsonl=answers, b_jsonl=answers)
    ran = command("study audit a.jsonl b.jsonl gold.jsonl")
    assert '…ning, one"' in ran.out
    assert '…ning, two"' in ran.out


def test_json_and_gates(answers, command, folder):
    ran = command(
        f"{answers} --json found.json --html audit.html",
        "--gate",
        "suspects <= 1",
        "--gate",
        "suspect_records < 0.5",
    )
    assert ran.code == 1
    assert "failed suspects <= 1: 2, margin -1" in gates_in(ran.out.splitlines())
    found = json.loads((folder / "found.json").read_text())
    assert found["study"] == "audit"
    assert "a, b, c" in (folder / "audit.html").read_text()
    assert found["figures"] == {"suspects": 2, "suspect_records": 2 / 6}
    assert found["found"][0]["answer"] == 21
    assert found["found"][0]["systems"] == ["a", "b", "c"]


def test_numbers_beyond_doubles(write, command, folder):
    gold = '{"n": 1e999}\n{"n": 3}\n{"n": 4}\n{"n": 5}\n'
    printed = gold.replace("1e999", "2e999")
    write(gold_jsonl=gold, a_jsonl=printed, b_jsonl=printed)
    ran = command("study audit a.jsonl b.jsonl gold.jsonl --json found.json")
    assert ran.code == 0
    assert json.loads((folder / "found.json").read_text())["found"][0]["answer"] == "2E+999"


def test_folders(folder, command):
    for name, records in {"gold": GOLD, "a": SAID, "b": SAID}.items():
        (folder / name).mkdir()
        for each in records:
            (folder / name / f"{each['id']}.json").write_text(json.dumps(each))
    (folder / "b" / "r0.json").unlink()
    ran = command("study audit a b gold")
    assert "r2.json  total" in ran.out
    assert "b: missing or not comparable: 1 of 6 answers; not counted there" in ran.out


def test_records_of_folders_are_named_in_errors_and_notes(folder, command, refused, write):
    for name in ("gold", "a", "b"):
        (folder / name).mkdir()
        (folder / name / "r7.json").write_text('{"n": 1}' if name == "gold" else '{"n": 2')
    assert "a: record 'r7.json': repaired" in command("study audit a b gold --repair").out
    write(schema_json={"properties": {}, "additionalProperties": False})
    message = refused("study audit a b gold --repair --schema schema.json")
    assert message.startswith("jsonmatch study audit: record 'r7.json': 'n' is not in the schema")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("study audit", "nothing to audit: give ANSWERS of several systems and GOLD, or"),
        ("study audit gold.jsonl", "give the answers of at least two systems before the gold records"),
        ("study audit a.jsonl gold.jsonl", "an audit needs at least 2 systems, got 1: gold is"),
        ("study audit a.jsonl a.jsonl gold.jsonl", "a.jsonl is given twice; name each file once"),
        ("study audit a.jsonl b.jsonl -", "GOLD is read once for each system: give a file or a"),
        ("study audit a.jsonl nowhere.jsonl gold.jsonl", "nowhere.jsonl: no such file or"),
        ("study audit a.jsonl b.jsonl gold.jsonl --gate f1>1", "--gate 'f1>1': unknown statistic"),
        ("study audit a.jsonl b.jsonl gold.jsonl --review", "--review asks on the terminal, but"),
        ("study audit a.jsonl b.jsonl gold.txt --review", "--review writes into GOLD: a .jsonl,"),
        ("study audit gold.jsonl --mutate golden", "--mutate breaks the answers that cases expect: leave"),
        ("study audit --mutate nowhere", "pytest can't collect the suite: file or directory not found:"),
    ],
)
def test_refused(line, message, answers, refused):
    assert refused(line).startswith(f"jsonmatch study audit: {message}")


# -- review ------------------------------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch):
    """Let a person at a terminal type words, a line each."""

    def call(*words):
        stream = io.StringIO("".join(f"{word}\n" for word in words))
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    return call


def lines(folder, name="gold.jsonl"):
    return (folder / name).read_text().splitlines()


def test_review_of_json_lines(answers, command, folder, typed, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    before = lines(folder)
    typed("r", "k")
    out = command(answers, "--review").out
    assert out.endswith("""\
r2 (total: a, b, c) (1 of 2 to review)
  total
    expected 20
    actual   21
  replace, add as alternative, keep, skip this case, quit? [r/a/k/s/q] \

r4 (vendor: a, b, c) (2 of 2 to review)
  vendor
    expected "vendor 4"
    actual   "other"
  replace, add as alternative, keep, skip this case, quit? [r/a/k/s/q] \
updated 1 case in gold.jsonl
  r2 (total: a, b, c)
    total  20 → 21
""")
    assert lines(folder) == [line.replace('"total": 20', '"total": 21') for line in before]


def test_of_two_corrections_of_a_place_the_stronger_is_offered(answers, write, command, folder, typed):
    other = [{**each, "total": 22} if each["id"] == "r2" else each for each in GOLD]
    write(d_jsonl=other, e_jsonl=other)
    typed("r", "k")
    line = answers.replace("c.jsonl", "c.jsonl d.jsonl e.jsonl")
    assert "r2 (total: a, b, c) (1 of 2 to review)" in command(line, "--review").out
    assert lines(folder)[2] == json.dumps(SAID[2])


def test_without_options_nothing_can_be_accepted_as_well(answers, command, folder, typed):
    before = lines(folder)
    typed("a", "q")
    out = command(answers, "--review").out
    assert "gold records have no `accept`: use that of the file of --config" in out
    assert out.endswith("no case to update\n")
    assert lines(folder) == before


def test_review_of_a_json_array_keeps_its_layout(write, command, folder, typed):
    text = "[\n" + ",\n".join(f"  {json.dumps(each)}" for each in GOLD) + "\n]\n"
    write(gold_json=text, a_json=SAID, b_json=SAID)
    typed("r", "r")
    command("study audit a.json b.json gold.json --id id --review")
    required = text.replace('"total": 20', '"total": 21').replace("vendor 4", "other")
    assert (folder / "gold.json").read_text() == required


def test_review_of_a_folder(folder, command, typed):
    for name, records in {"gold": GOLD, "a": SAID, "b": SAID}.items():
        (folder / name).mkdir()
        for each in records:
            (folder / name / f"{each['id']}.json").write_text(json.dumps(each, indent=2))
    typed("r", "r")
    command("study audit a b gold --review")
    assert [json.loads((folder / "gold" / f"{each['id']}.json").read_text()) for each in GOLD] == SAID
    assert (folder / "gold" / "r2.json").read_text() == json.dumps(SAID[2], indent=2)


@pytest.mark.parametrize("column", ["gold", "notes.gold"])
def test_review_of_a_column(write, command, folder, typed, column):
    def inside(record):
        return {"gold": record} if column == "gold" else {"notes": {"by": "Ann", "gold": record}}

    printed = [{"no": each["id"], "said": each} for each in SAID]
    write(gold_jsonl=[{"no": each["id"], **inside(each)} for each in GOLD], a_jsonl=printed, b_jsonl=printed)
    typed("r", "r")
    command(f"study audit a.jsonl b.jsonl gold.jsonl --id no --expected {column} --actual said --review")
    assert list(map(json.loads, lines(folder))) == [{"no": each["id"], **inside(each)} for each in SAID]


def test_review_of_several_columns_is_refused(answers, refused):
    message = refused(f"{answers} --expected a=total --expected b=vendor --review")
    assert message.startswith(
        "jsonmatch study audit: --review can't write into several columns: name one with"
    )


def test_review_of_elements_that_come_and_go(write, command, folder, typed):
    gold = [{"rows": [{"n": 1}, {"n": 2}, {"n": 3}]}, {"rows": [{"n": 7}]}]
    printed = [{"rows": [{"n": 1}, {"n": 3}]}, {"rows": [{"n": 7}, {"n": 8}, {"n": 9}]}]
    write(gold_jsonl=gold, a_jsonl=printed, b_jsonl=printed, rules_json={"arrays": "unordered"})
    typed("r", "r", "r")
    command("study audit a.jsonl b.jsonl gold.jsonl --review --config rules.json")
    first, second = map(json.loads, lines(folder))
    assert first == printed[0]
    assert second["rows"][0] == {"n": 7}
    assert sorted(each["n"] for each in second["rows"]) == [7, 8, 9]


def test_blank_lines_and_line_ends_stay(folder, command, typed):
    text = "".join(f"{json.dumps(each)}\r\n" + "\r\n" * (at == 1) for at, each in enumerate(GOLD))
    (folder / "gold.jsonl").write_bytes(text.encode())
    for name in "ab":
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in SAID))
    typed("r", "k")
    command("study audit a.jsonl b.jsonl gold.jsonl --id id --review")
    assert (folder / "gold.jsonl").read_bytes() == text.replace('"total": 20', '"total": 21').encode()


# -- errors that a suite does not notice -------------------------------------------------------------------

CASES = """\
cases:
  - id: loose
    input: x
    expected: { total: 1234.5, shop: Bakery }
    fields: { total: { compare: { numeric: { tolerance: { rel: 0.1 } } } } }
  - id: strict
    actual: { total: 1 }
    expected: { total: 2 }
    repeat: 3
  - id: unfinished
    expected: { total: 1 }
    marks: [{ xfail: { reason: later } }]
"""


@pytest.fixture
def suite(folder, write):
    (folder / "golden").mkdir()
    (folder / "golden" / "a.golden.yaml").write_text(CASES)
    (folder / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef jsonmatch_actual():\n    raise AssertionError('no answer is asked for')\n"
    )
    write(pytest_ini="[pytest]\njsonmatch_metric = leaf_f1\n")


def test_mutations(suite, command, folder):
    ran = command("study audit --mutate golden --json found.json")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
golden: 2 golden cases

15 mutations of right answers: 93.3% of them are noticed.

What passes
field  broken by    pass  let pass by        example          in
total  digit      1 of 2  `numeric` rel 0.1  1234.5 → 1244.5  golden/a.golden.yaml::loose

Left out: golden/a.golden.yaml::unfinished: it has the mark xfail.
"""
    )
    found = json.loads((folder / "found.json").read_text())
    assert found["noticed"] == 14 / 15
    (hole,) = found["holes"]
    assert hole == {
        "field": "total",
        "kind": "digit",
        "mutated": 2,
        "noticed": 1,
        "rules": ["`numeric` rel 0.1"],
        "example": "1234.5 → 1244.5",
        "case": "golden/a.golden.yaml::loose",
    }


def test_places_of_matchers_are_left_out(folder, suite, command):
    (folder / "golden" / "a.golden.yaml").write_text(
        "cases:\n- id: a\n  expected: {id: {$any: true}, n: 5, l: [{$regex: a}]}\n- id: b\n  expected: {$any: true}\n"
    )
    ran = command("study audit --mutate golden --json found.json")
    assert (
        "Left out: golden/a.golden.yaml::a: places of matchers; golden/a.golden.yaml::b: places of" in ran.out
    )
    found = json.loads((folder / "found.json").read_text())
    assert (found["noticed"], sorted(found["by_field"])) == (1.0, ["added_by_audit", "l", "n"])


def test_where_gates_decide_every_loss_is_noticed(folder, suite, command, write):
    cases = "cases:\n- {id: a, expected: {a: x, b: 1}}\n"
    (folder / "golden" / "a.golden.yaml").write_text(f"threshold: 0.1\n{cases}")
    assert "0.0% of them" in command("study audit --mutate golden").out
    write(pytest_ini="[pytest]\njsonmatch_fail = gate\n")
    assert "100.0% of them" in command("study audit --mutate golden").out


def test_gate_on_what_is_noticed(suite, command):
    assert command("study audit --mutate golden", "--gate", "noticed >= 0.9").code == 0
    assert command("study audit --mutate golden", "--gate", 'fields["total"].noticed >= 0.95').code == 1


def test_marks_and_conftest_files_hold(folder, suite, command):
    """What the suite registers, and where its threshold stands, is as in any run of it."""
    (folder / "conftest.py").write_text(
        "def pytest_jsonmatch_register(registry):\n"
        "    registry.comparator('anything', lambda expected, actual, params: 1.0)\n"
    )
    (folder / "golden" / "a.golden.yaml").write_text(
        "marks: [{jsonmatch: {threshold: 0.5}}]\n"
        "cases:\n- id: a\n  expected: {a: x, b: y}\n  fields: {a: {compare: anything}}\n"
    )
    out = command("study audit --mutate golden").out
    assert "`anything`" in out
    assert "`threshold` 0.5" in out


def test_other_tests_and_options_of_the_suite(folder, suite, command, write, monkeypatch):
    """Nothing of the suite runs, and nothing that its options write is written."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.delenv("PYTEST_ADDOPTS")
    (folder / "test_a.py").write_text("def test_it():\n    open('ran', 'w')\n")
    write(
        pytest_ini="[pytest]\nfilterwarnings = error\naddopts = -p no:asyncio -n 2 --junitxml=results.xml "
        "--jsonmatch-json=results.json --jsonmatch-update\n"
    )
    ran = command("study audit --mutate .")
    assert ran.code == 0
    assert "1 test: no golden case" in ran.out
    assert not (folder / "ran").exists()
    assert not list(folder.glob("results.*"))
    assert (folder / "golden" / "a.golden.yaml").read_text() == CASES


def test_cases_that_cannot_be_compared_are_reported(folder, suite, command):
    (folder / "golden" / "a.golden.yaml").write_text(
        "cases:\n- {id: a, expected: {a: 1}}\n- {id: b, expected: {a: 1}, metric: nonsense}\n"
        "- {id: c, expected_file: nowhere.json}\n"
    )
    out = " ".join(command("study audit --mutate golden").out.split())
    assert "golden/a.golden.yaml::b: unknown metric 'nonsense'" in out
    assert "nowhere.json' can't be read" in out


def test_a_file_that_is_no_golden_file(folder, suite, refused):
    (folder / "golden" / "b.golden.yaml").write_text("cases:\n- {id: a, expectd: 1}\n")
    message = "golden/b.golden.yaml:2:11: unknown key 'expectd'; did you mean 'expected'?"
    assert refused("study audit --mutate golden") == f"jsonmatch study audit: {message}"


def test_a_conftest_file_that_fails(folder, suite, refused):
    (folder / "conftest.py").write_text("import no_such_module\n")
    message = "pytest can't collect the suite: ModuleNotFoundError: No module named 'no_such_module'"
    assert refused("study audit --mutate golden") == f"jsonmatch study audit: {message}"


def test_judged_fields_are_left_out(folder, suite, command):
    (folder / "golden" / "a.golden.yaml").write_text(
        "cases:\n- {id: a, expected: {a: x, b: 1}, fields: {a: {compare: semantic}}}\n"
    )
    out = command("study audit --mutate golden").out
    assert "a: a judge compares it, but none is asked" in out


def test_places_that_differ_in_the_same_way_are_one_line(write, command):
    gold = [{"id": f"r{at}", "total": 100 * at + 50, "vendor": f"vendor {at}"} for at in range(40)]
    printed = [
        {**each, "total": each["total"] / 100} if at % 4 == 1 else each for at, each in enumerate(gold)
    ]
    write(gold_jsonl=gold, a_jsonl=printed, b_jsonl=printed)
    ran = command("study audit a.jsonl b.jsonl gold.jsonl --id id")
    assert ran.out.splitlines()[-1].split() == [
        *("r1", "and", "9", "more", "total:", "factor", "0.01", "150", "1.5", "2", "to", "0", "a,", "b"),
    ]
    message = " ".join(ran.out.split())
    assert "10 places where systems agree against the gold" in message
    assert "Two systems do not show how often they make the same mistake: add a third" in message
    assert "wrong gold" not in message
    assert command("study audit a.jsonl b.jsonl gold.jsonl --id id -v").out.count("2 to 0") == 10
