"""`jsonmatch evaluate`."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from pytest_jsonmatch import compare_corpus, read_results
from tests.conftest import gates_in

GOLD = [{"id": "r1", "a": 1, "b": "x"}, {"id": "r2", "a": 2, "b": "y"}, {"id": "r3", "a": 3, "b": "z"}]
ANSWERS = [{"id": "r3", "a": 4, "b": "z", "c": 1}, {"id": "r1", "a": 1, "b": "x"}, {"id": "r9", "a": 1}]
SIDES = "evaluate answers.jsonl gold.jsonl --id id"


@pytest.fixture
def sides(write):
    write(gold_jsonl=GOLD, answers_jsonl=ANSWERS)


def test_text(sides, command):
    assert command(SIDES, "--gate", "f1 >= 0.5", "--gate", "errors == 1") == (
        1,
        """\
answers.jsonl against gold.jsonl
3 records
failed: 1 of 2 gates failed; 1 of 3 records with score 1; 1 error; 1 unanswered; 1 answer not scored

gates, on 3 records
gate         verdict  value  limit  margin  note
f1 >= 0.5    failed    0.47   0.50   -0.03  mean of 3 records
errors == 1  passed       1      1       0

lowest-scoring records, those with errors last
record  score  lowest-scoring fields
r3       0.40  a 0.00, c 0.00
r2       0.00  there is no answer for it

fields of 3 records by leaf_f1
field       n  match  mismatch  missing  extra  score  precision  recall    F1
a           3      1         1        1      0   0.33       0.50    0.33  0.40
c           1      0         0        0      1   0.00       0.00       –  0.00
b           3      2         0        1      0   0.67       1.00    0.67  0.80
──────────────────────────────────────────────────────────────────────────────
all fields  7      3         1        2      1   0.43       0.60    0.50  0.55
2 of 6 expected leaves missing (33.3 %); 1 of 5 actual leaves extra (20 %)

differences, expected → actual:
  a  2 missing
     3 → 4
  … 2 more fields (-v)

kinds of differences by cost, their part of 1 - mean score
kind           n  cases   cost  share  fields
no answer      1      1  0.333   62 %  $
value differs  1      1  0.133   25 %  a
extra value    1      1  0.067   12 %  c
─────────────────────────────────────────────
all            3         0.533  100 %
75 % one side, 25 % other value

mean over records: score 0.47, precision 0.44, recall 0.50, pass rate 0.33
all fields: score 0.43, precision 0.60, recall 0.50, F1 0.55

1 unanswered; mean score 0.47 with it as 0, 0.70 without
error: record 'r2': there is no answer for it
not scored: 'r9', which has no gold record, or is a second answer
""",
        "",
    )


def test_all_well(write, command):
    write(gold_jsonl=GOLD)
    assert command("evaluate gold.jsonl gold.jsonl --gate pass_rate==1") == (
        0,
        """\
gold.jsonl against gold.jsonl
3 records
passed: 1 gate passed; 3 of 3 records with score 1

gates, on 3 records
gate          verdict  value  limit  margin  note
pass_rate==1  passed    1.00   1.00    0.00  3 of 3 records with score 1

jsonmatch: leaf_f1, 3 records, 9 fields, all 1.00
""",
        "",
    )


def test_answers_in_another_order_are_reported(write, command):
    gold = [{"n": at % 3, "id": f"r{at}", "total": at} for at in range(6)]
    write(gold_jsonl=gold, shuffled_jsonl=gold[::-1], wrong_json=[{**each, "id": "?"} for each in gold])
    reported = "id differs by position, but both sides have the same values: are they in another order? Pair them by --id id"
    ran = command("evaluate shuffled.jsonl gold.jsonl")
    assert (ran.code, ran.err) == (0, f"jsonmatch evaluate: warning: {reported}\n")
    write(gaps_jsonl=[each for each in gold if each["id"] != "r3"])  # the later half is one place too early
    assert command("evaluate gaps.jsonl gold.jsonl").err == f"jsonmatch evaluate: warning: {reported}\n"
    lines = [json.dumps(each) for each in gold[::-1]]
    write(broken_jsonl="\n".join([lines[0][:-9], *lines[1:]]))
    assert reported in command("evaluate broken.jsonl gold.jsonl").err
    for line in ("shuffled.jsonl gold.jsonl --id id", "wrong.json gold.jsonl", "gold.jsonl gold.jsonl"):
        assert command(f"evaluate {line}").err == ""


def test_an_answer_that_is_not_json_is_named_once(write, command):
    gold = [{"id": at, "a": at} for at in range(8)]
    answers = [json.dumps(each) for each in gold[3:]]
    write(gold_jsonl=gold, answers_jsonl="\n".join([*answers[:3], answers[3][:-5], answers[4]]))
    lines = command("evaluate answers.jsonl gold.jsonl --id id").out.splitlines()
    assert lines[-5].startswith(
        "error: record 'answers.jsonl:4': no JSON found in the actual text: output ends"
    )
    assert lines[-3:] == [
        "error: record 0: there is no answer for it",
        "error: record 1: there is no answer for it",
        "… 2 more errors (-v)",
    ]


def test_gates_that_need_each_record_keep_all(write, command):
    gold = [{"id": at, "a": at % 2, "b": at % 3, "c": 1} for at in range(30)]
    write(gold_jsonl=gold, answers_jsonl=[{**each, "c": int(each["id"] > 2)} for each in gold])
    tags = ["--tags", "a", "--tags", "b", "--gate"]
    assert command(SIDES, *tags, 'fields["c"].pass_rate >= 0.9').code == 0
    assert command(SIDES, *tags, 'tags["a=1"].tags["b=1"].fields["c"].matches == 4').code == 0
    command(SIDES, *tags[:-1], "--json", "run.jsonl")
    for gate, what in {
        'fields["c"].pass_rate >= 0.9': "a pass rate of fields needs all records: use --keep all",
        'tags["a=1"].tags["b=1"].score >= 0': "a statistic of several tags needs all records: use --keep all",
    }.items():
        ran = command("report run.jsonl --gate", gate)
        assert (ran.code, what in ran.out) == (1, True)


def test_a_gate_without_a_value_says_how_a_file_gets_one(write, command):
    write(gold_jsonl=[{"id": 1, "a": 1}], answers_jsonl=[{"id": 1, "a": 1}])
    gates = {
        "cost.total <= 1": "no answer has a cost: write `cost` into `spent`, next to the answer",
        "latency.p95 < 3": "no answer has a time: write `seconds` into `spent`, next to the answer",
        "valid_rate > 0": "no answer was validated: give --schema",
    }
    out = command(SIDES, *(part for gate in gates for part in ("--gate", gate))).out
    assert [note in out for note in gates.values()] == [True, True, True]


def test_missing_answers_are_no_success_and_hide_no_wrong_ones(write, command, written):
    gold = [{"id": at, "a": at, "b": 1} for at in range(30)]
    write(gold_jsonl=gold, answers_jsonl=[{**each, "a": -1} for each in gold[20:23]] + gold[23:])
    ran = command(SIDES)
    assert (ran.code, command(SIDES, "--gate", "score >= 0").code) == (1, 0)
    lowest = ran.out.partition("lowest-scoring fields\n")[2].splitlines()
    assert [line.split() for line in lowest[:3]] == [[f"{at}", "0.50", "a", "0.00"] for at in (20, 21, 22)]
    assert lowest[3] == "0 and 6 more   0.00  there is no answer for it"
    # A picture of the ten lowest would look like one of all.
    assert ['class="heat"' in written(f"{SIDES} {more}") for more in ("", "--keep all")] == [False, True]
    page = written(SIDES)
    assert "Records, the lowest scores first" in page
    assert "… 17 more errors" in page


HOLD = ["score >= 0.46", "micro.recall >= 0.5", 'fields["a"].precision == 0.5', "pass_rate >= 0.33"]
HOLD += ["completeness >= 0.66", "batch_errors == 0", 'cases["r1"].score == 1']
FAIL = ["micro.recall > 0.5", 'fields["z"].precision >= 0', "completeness == 1", "errors == 0"]
FAIL += ["flip_rate == 0", 'cases["r*"].score == 1', 'cases["none"].score >= 0']


@pytest.mark.parametrize(("gate", "code"), [*((gate, 0) for gate in HOLD), *((gate, 1) for gate in FAIL)])
def test_gates(sides, command, gate, code):
    assert command(SIDES, "--gate", gate).code == code


def test_no_records_and_no_tags(write, command):
    write(gold_jsonl="", one_jsonl=[{"a": 1}])
    ran = command("evaluate gold.jsonl gold.jsonl", "--gate", "f1 >= 0")
    assert (ran.code, gates_in(ran.out.splitlines())) == (1, ["failed f1 >= 0: nothing was compared"])
    ran = command("evaluate one.jsonl gold.jsonl --id a")
    assert (ran.code, "nothing was compared: 1 answer not scored" in ran.out) == (1, True)
    ran = command("evaluate one.jsonl one.jsonl", "--gate", 'tags["source=scan"].f1 >= 0.9')
    assert (ran.code, "no record has any tag" in ran.out) == (1, True)


def test_a_gate_on_cases_looks_at_all_records(write, command):
    write(gold_jsonl=[{"a": 1}] * 40, answers_jsonl=[{"a": 2}] * 20 + [{"a": 1}] * 20)
    ran = command("evaluate answers.jsonl gold.jsonl --gate", 'cases["39"].score == 1')
    assert (ran.code, "passed" in ran.out) == (0, True)


def test_statistics_of_the_file_are_exact_whatever_is_kept(write, command, folder):
    gold = [{"id": f"r{number}", "a": number, "b": number % 7} for number in range(300)]
    answers = [{**each, "b": 3} for each in gold[:-1]]
    write(gold_jsonl=gold, answers_jsonl=answers)
    assert command(f"{SIDES} --json worst.json").code == 1
    assert command(f"{SIDES} --json all.json --keep all").code == 1
    lowest, everything = (read_results(folder / name) for name in ("worst.json", "all.json"))
    run = compare_corpus(answers, gold, id="id")
    assert [(len(each.cases), each.is_partial) for each in (lowest, everything)] == [
        (10, True),
        (300, False),
    ]
    assert lowest.totals == everything.totals
    for statistic in ("score", "precision", "recall", "f1"):
        assert lowest.mean(statistic) == getattr(run, f"mean_{statistic}")
    assert dict(lowest.fields) == dict(run.per_field)
    assert (lowest.pass_rate, lowest.completeness) == (run.total_perfect / 300, 299 / 300)
    lowest.save("again.json")
    assert read_results("again.json") == lowest
    by_id = {case.id: case for case in everything.cases}
    assert list(by_id) == [each["id"] for each in gold]
    assert (by_id["r3"].passed, by_id["r4"].passed, by_id["r4"].mean("score")) == (True, False, 0.5)
    assert by_id["r299"].runs[0].errors == ["there is no answer for it"]


def test_verbose(write, command):
    write(gold_jsonl=[{"id": str(number), "a": 1} for number in range(20)], answers_jsonl="")
    brief, everything = command(SIDES).out, command(f"{SIDES} -v").out
    assert (brief.count("error: record"), everything.count("error: record")) == (3, 20)
    assert "\n… 17 more errors (-v)\n" in brief


def test_schema_config_and_repair(write, command):
    pytest.importorskip("json_repair")
    write(
        gold_jsonl=[{"a": 100, "b": None}],
        answers_jsonl="{'a': 101}\n",
        schema_json={
            "properties": {"a": {"x-eval-compare": {"numeric": {"tolerance": {"rel": 0.1}}}}, "b": {}}
        },
        config_json={"number_evaluation_type": {"evaluation_type": "relative"}, "nulls": "absent"},
        nulls_json={"nulls": "absent"},
    )
    for flags, score in {
        "": "0.00",
        "--repair": "0.00",
        "--repair --config config.json": "0.99",
        "--repair --config nulls.json --schema schema.json": "1.00",
    }.items():
        out = command(f"evaluate answers.jsonl gold.jsonl {flags}").out
        assert out.splitlines()[2].startswith(f"mean score {score}: ")


# -- what a side can be ------------------------------------------------------------------------------------


def test_arrays(write, command):
    write(gold_json=[{"a": 1}, "x", 3], answers_json=['Sure: {"a": 1}', "x", 4])
    assert "2 of 3 records with" in command("evaluate answers.json gold.json").out
    assert "3 of 3 records with" in command("evaluate gold.json gold.json").out


def test_a_name_without_a_known_ending(write, command):
    write(gold_txt='[{"a": 1}, {"a": 2}]', answers_txt='{"a": 1}\n\n{"a": 2}\n')
    assert "2 of 2 records with" in command("evaluate answers.txt gold.txt").out


LINES_AND_ARRAY = [b'{"a": 1}\n\n{"a": 2}\n', b'[{"a": 1}, {"a": 2}]']


@pytest.mark.parametrize("content", LINES_AND_ARRAY, ids=["lines", "array"])
@pytest.mark.parametrize("line", ["gold.jsonl -", "- gold.jsonl"])
def test_standard_input(write, command, stdin, content, line):
    stdin(content)
    write(gold_jsonl=[{"a": 1}, {"a": 2}])
    assert "2 of 2 records with" in command(f"evaluate {line}").out


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="there is no /dev/fd")
@pytest.mark.parametrize("content", LINES_AND_ARRAY, ids=["lines", "array"])
def test_pipes_are_read_once(folder, command, content):
    readers = []
    for _ in range(2):
        reader, writer = os.pipe()
        os.write(writer, content)
        os.close(writer)
        readers.append(reader)
    try:
        gold, actual = (f"/dev/fd/{reader}" for reader in readers)
        assert "2 of 2 records with" in command(f"evaluate {actual} {gold}").out
    finally:
        for reader in readers:
            os.close(reader)


def test_many_answers_without_a_gold_record_are_counted(write, command):
    records = [f'{{"id": {number}}}\n' for number in range(9)]
    write(gold_jsonl='{"id": 0, "n": 1}\n' + records[1], answers_jsonl="".join(records))
    assert "\n… 4 more ids not scored (-v)\n" in command(SIDES).out


def test_nothing_in_the_data_reaches_the_terminal_as_more_than_text(write, folder, command, refused):
    gold = '{"id": "\\u001b[31mr\\u202e", "a\\ud800": "\\u0007"}\n'
    write(gold_jsonl=gold, answers_jsonl=gold.replace("u0007", "u0008"))
    ran = command(f"{SIDES} -v", "--gate", 'cases["\x1b*"].score == 1')
    assert ran.code == 1
    assert '\n\\x1b[31mr\\u202e   0.00  ["a\\ud800"] 0.00\n' in ran.out
    assert not {"\x1b", "\u202e", "\ud800", "\x07", "\x08"} & set(ran.out)
    assert json.loads(command("schema infer gold.jsonl").out)["required"] == ["id", "a\ud800"]
    (folder / "\x1b[31m.json").write_text("broken")
    shown = refused("evaluate gold.jsonl", "\x1b[31m.json")
    assert shown.startswith("jsonmatch evaluate: \\x1b[31m.json:1:1: not valid JSON")


def test_folders(folder, command):
    for name, content in {
        "gold/a.json": '{"n": 1}',
        "gold/deep/b.json": '{"n": 2}',
        "gold/c.json": '"text"',
        "gold/d.json": '{"n": 4}',
        "gold/.hidden/x.json": "broken",
        "answers/a.json": '{"n": 1}',
        "answers/deep/b.txt": 'Here it is: {"n": 3}',
        "answers/c.json": '"text"',
        "answers/z.json": "1",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    ran = command("evaluate answers gold --json r.json")
    reported = "2 of 4 records with score 1; 1 error; 1 unanswered; 1 answer not scored"
    assert reported in " ".join(ran.out.split())
    assert "deep/b.json   0.00  n 0.00\n" in ran.out
    assert "error: record 'd.json': there is no answer for it\n" in ran.out
    assert "not scored: 'z.json', which has no gold record" in ran.out
    ids = [case.id for case in read_results(folder / "r.json").cases]
    assert ids == ["a.json", "c.json", "d.json", "deep/b.json"]


@pytest.fixture
def bad(folder, write):
    write(
        gold_jsonl=[{"id": 1, "a": 1}],
        two_jsonl=[{"id": 1, "a": 1}, {"id": 2, "a": 1}],
        twins_jsonl=[{"id": 1, "a": 1}, {"id": 1, "a": 2}],
        broken_jsonl='{"id": 1}\n\n{"id": 2,\n',
        latin_jsonl=b'{"\xe9": 1}\n',
        object_json={"id": 1},
        broken_json='[{"id": 1},\n]',
        noid_jsonl=[{"a": 1}],
        wide_jsonl='{"id": 1}'.encode("utf-16"),
        wide_csv="id,a\n1,2\n".encode("utf-32"),
        results_jsonl=[{"format": "jsonmatch-results", "version": 3}, {"id": "a", "score": 1}],
        shop_json={"type": "object", "properties": {"shop": {"type": "string"}}},
    )
    write(gold_xlsx="binary", twice_csv="a,a\n1,2\n")
    for name in ("empty", "some", "other", "bad"):
        (folder / name).mkdir()
    (folder / "some" / "a.json").write_text('{"a": 1}')
    (folder / "other" / "b.json").write_text("{}")
    (folder / "bad" / "a.json").write_text('{\n"a" 1}')


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("no.jsonl gold.jsonl", "no.jsonl: no such file or directory"),
        ("gold.jsonl no.jsonl", "no.jsonl: no such file or directory"),
        ("no.json gold.jsonl", "no.json: no such file or directory"),
        ("- -", "both sides are '-'"),
        ("broken.jsonl gold.jsonl --id id", "broken.jsonl:3:10: not valid JSON: the text ends inside"),
        ("broken.jsonl two.jsonl", "broken.jsonl:3:10: not valid JSON: the text ends inside an object near"),
        ("latin.jsonl gold.jsonl", "latin.jsonl:1:3: not valid JSON: byte 0xe9 is not valid UTF-8"),
        ("broken.json gold.jsonl", "broken.json:2:1: not valid JSON: "),
        ("gold.jsonl broken.json", "broken.json:2:1: not valid JSON: "),
        ("object.json gold.jsonl", "object.json must be an array of records, got a single JSON value"),
        ("gold.jsonl object.json", "object.json must be an array of records, got a single JSON value"),
        (
            "gold.jsonl two.jsonl",
            "there are more answers than gold records; without --id they are paired by position",
        ),
        ("twins.jsonl two.jsonl --id id", "gold at twins.jsonl:2 has the same id as an earlier record: 1"),
        ("noid.jsonl gold.jsonl --id id", "gold at noid.jsonl:1 has no 'id'; known: a"),
        ("gold.jsonl gold.jsonl --schema shop.json", "gold.jsonl:1: record 1: 'id' is not in the schema"),
        (
            "results.jsonl gold.jsonl",
            "results.jsonl is a result file, not records; jsonmatch diff compares result files",
        ),
        ("wide.jsonl gold.jsonl", "wide.jsonl seems to be UTF-16 or UTF-32; save it as UTF-8"),
        ("gold.jsonl wide.csv --id id", "wide.csv seems to be UTF-16 or UTF-32; save it as UTF-8"),
        ("gold.jsonl results.jsonl --id id", "results.jsonl is a result file, not records"),
        ("some empty", "empty has no JSON files (*.json, *.txt)"),
        ("some other", "no file in other has the name of a file in some"),
        ("empty some", "empty has no JSON files (*.json)"),
        ("some gold.jsonl", "some is a folder and gold.jsonl is not; give two folders or two files"),
        ("gold.jsonl some", "some is a folder and gold.jsonl is not; give two folders or two files"),
        ("some nowhere", "nowhere: no such file or directory"),
        ("nowhere some", "nowhere: no such file or directory"),
        ("some some --id a", "files in folders are paired by their names; --id is for records in one file"),
        ("gold.jsonl gold.jsonl --id=", "--id must name a column of both sides, got ''"),
        ("gold.jsonl gold.jsonl --actual=", "--actual must name a column, or map fields to columns, got ''"),
        ("gold.jsonl gold.jsonl --delimiter ab", "--delimiter must be one character, got 'ab'"),
        ("bad some", "bad/a.json:2:5: not valid JSON: "),
        ("some some --schema shop.json", "record 'a.json': 'a' is not in the schema; known: shop"),
        ("gold.jsonl gold.jsonl --metric leaf", "unknown metric 'leaf'; did you mean 'leaf_f1'?"),
        ("gold.jsonl gold.jsonl --gate f2>1", "--gate 'f2>1': unknown statistic 'f2'"),
        ("gold.jsonl gold.jsonl --gate f1", "--gate 'f1': "),
        ("gold.jsonl gold.jsonl --by aa", "--by: no gold record has a value at 'aa'; did you mean 'a'?"),
        (
            "gold.jsonl gold.xlsx",
            "gold.xlsx is Excel, but records must be JSON Lines (.jsonl), CSV (.csv), a",
        ),
        ("twice.csv gold.jsonl", "twice.csv:1: two columns have the name 'a'; the first row of a .csv file"),
        ("gold.jsonl gold.jsonl --json some", "argument --json: some: is a directory"),
        ("gold.jsonl gold.jsonl --keep few", "argument --keep: invalid choice: 'few'"),
    ],
)
def test_bad_input_is_one_line(bad, refused, line, reported):
    gold, actual, *more = line.split(" ")
    shown = refused(f"evaluate {actual} {gold}", *more).replace("\\", "/")
    assert shown.startswith(f"jsonmatch evaluate: {reported}")


def test_a_broken_line_of_standard_input(bad, refused, stdin):
    stdin(b'{"a": 1}\n{"a": \n')
    reported = "jsonmatch evaluate: <stdin>:2:7: not valid JSON: the text ends inside an object near"
    assert refused("evaluate two.jsonl -").startswith(reported)


def test_a_broken_answer_counts_as_wrong(bad, command):
    ran = command("evaluate latin.jsonl gold.jsonl")
    assert (ran.code, "0 of 1 record with" in ran.out, "byte 0xe9" in ran.out) == (1, True, True)


def test_a_folder_that_cannot_be_written(refused, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    reported = "argument --json: r.json: permission denied (see jsonmatch evaluate --help)"
    assert refused(f"{SIDES} --json r.json") == f"jsonmatch evaluate: {reported}"


# -- long runs ---------------------------------------------------------------------------------------------


def lines_of(folder, number):
    record = {"shop": "Corner Bakery", "total": 11.5, "paid": True, "note": "with a receipt"}
    with (folder / "gold.jsonl").open("w") as gold, (folder / "answers.jsonl").open("w") as answers:
        for index in range(number):
            gold.write(json.dumps({"id": index, **record}) + "\n")
            answers.write(json.dumps({"id": index, **record, "total": index % 20}) + "\n")


def test_memory_does_not_grow_with_the_records(folder, command):
    peaks = []
    for number in (2_000, 6_000):
        lines_of(folder, number)
        command(f"{SIDES} --json r.json")
        tracemalloc.start()
        try:
            assert command(f"{SIDES} --json r.json").code == 0
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 100_000


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_leaves_what_was_there(folder, write):
    write(gold_jsonl=[{"a": 1}], r_json='{"format": "jsonmatch-results"')
    # The answers never end: what reads them waits until it is interrupted.
    # (What runs in the background of a shell ignores interrupts, and so do its children.)
    code = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('pytest_jsonmatch', run_name='__main__')"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, *["evaluate", "-", "gold.jsonl", "--json", "r.json"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # More than a pipe holds: it is written once the command is reading answers.
    running.stdin.write(b"\n" * 1_000_000)
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (130, b"", b"")
    assert (folder / "r.json").read_text() == '{"format": "jsonmatch-results"'
    assert sorted(path.name for path in folder.iterdir()) == ["gold.jsonl", "r.json"]


def test_html_has_all_records_in_its_statistics_and_values_of_those_kept(write, written):
    gold = [{"id": number, "a": number} for number in range(30)]
    write(gold_jsonl=gold, answers_jsonl=[{**each, "a": each["a"] + 100 * (each["id"] > 8)} for each in gold])
    page = written(SIDES)
    cells = [re.sub(r"<[^>]+>", "", each).strip() for each in re.findall(r"<t[dh] .*?</t[dh]>", page)]
    at = cells.index("a")
    assert cells[at + 1 : at + 6] == ["30", "9", "21", "0", "0"]
    assert page.count("Whole documents") == 10
    assert '<code>9</code><span class="arrow">→</span><code>109</code>' in page
    assert "statistics and fields are of all 30 records, but only 10 are listed" in page


BASKET = {"id": "b", "items": [{"name": "tea", "price": 2}, {"name": "milk", "price": 3}]}
ANSWER = {"id": "b", "items": [{"name": "milk", "price": 3}, {"name": "tea", "price": 4}]}


@pytest.fixture
def baskets(write):
    perfect = {"id": "a", "items": [{"name": "rye", "price": 1}]}
    write(gold_jsonl=[perfect, BASKET], answers_jsonl=[perfect, ANSWER])


def test_html_has_both_documents_of_a_record(baskets, written):
    page = written(f"{SIDES} --metric pairwise_f1")
    documents = [html.unescape(each) for each in re.findall(r"</span><pre>(.*?)</pre>", page, re.DOTALL)]
    assert [json.loads(each)["items"] for each in documents[:2]] == [BASKET["items"], ANSWER["items"]]


def test_html_looks_closely_at_the_lowest_records_only(baskets, written, monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.report.corpora._DETAILED", 1)
    page = written(f"{SIDES} --metric pairwise_f1 --keep all")
    assert page.count("Whole documents") == 1


def test_rules_that_fit_no_record_are_reported(sides, write, command):
    write(rules_json={"fields": {"aa": {"skip": True}, "id": {"skip": True}}})
    ran = command(f"{SIDES} --config rules.json")
    message = "fields: 'aa' matches nothing in expected, actual or schema; did you mean 'a'?"
    assert (ran.code, ran.err) == (1, f"jsonmatch evaluate: warning: {message}\n")


NO_NETWORK = """
def unreachable(items):
    raise RuntimeError("no network")

def pytest_jsonmatch_register(registry):
    registry.comparator("unreachable", unreachable)
"""


def test_batch_errors_alone_are_no_statistics(write, command):
    rules = {"fields": {"a": {"compare": "unreachable"}}}
    write(gold_jsonl=[{"a": "x"}, {"a": "y"}], rules_json=rules, ours_py=NO_NETWORK)
    ran = command("evaluate gold.jsonl gold.jsonl --config rules.json -p ours", "--gate", "f1 >= 0.9")
    assert ran.code == 1
    assert "; 2 records without any score\n" in ran.out
    found = gates_in(ran.out.splitlines())
    assert "failed f1 >= 0.9: batch errors: no leaf is left to count" in found
    assert any(each.startswith("failed batch_errors == 0: 2") for each in found)
    assert command("evaluate gold.jsonl gold.jsonl --config rules.json -p ours").code == 1


VALIDATED = {"schema_json": {"properties": {"a": {"type": "integer", "maximum": 2}, "b": {}}}}


def test_answers_are_validated_if_asked(sides, write, command):
    write(**VALIDATED)
    ran = command(f"{SIDES} --schema schema.json --validate")
    assert "\nvalid by the schema: 1 of 2 answers\n" in ran.out
    assert "note: record 'r3': not valid: a: 4 is greater than the maximum of 2\n" in ran.out
    assert "valid by the schema" not in command(f"{SIDES} --schema schema.json").out


def test_a_gate_on_valid_rate_asks_for_it(sides, write, command):
    write(**VALIDATED)
    ran = command(f"{SIDES} --schema schema.json --json out.json", "--gate", "valid_rate >= 0.5")
    assert (
        ran.code,
        "passed valid_rate >= 0.5: 0.50, margin 0.00 (1 of 2 answers)" in gates_in(ran.out.splitlines()),
    ) == (0, True)
    rates = read_results("out.json").answers.rates
    assert rates == {"parse_rate": 1.0, "valid_rate": 0.5}


def test_statistics_by_a_tag(command, write, written):
    gold = [{"meta": {"source": "phone"}, "a": 1}, {"meta": {"source": "scan"}, "a": 2}, {"a": 3}]
    write(gold_jsonl=gold, answers_jsonl=[gold[0], {**gold[1], "a": 3}, gold[2]])
    line = "evaluate answers.jsonl gold.jsonl --by source=meta.source --json r.json"
    ran = command(line, "--gate", 'tags["source=scan"].f1 >= 0.9', "--gate", 'tags["source=fax"].f1 >= 0')
    assert ran.code == 1
    table = """\
by source, mean over records
source  records  score  precision  recall    F1  pass rate
phone         1   1.00       1.00    1.00  1.00       1.00
scan          1   0.50       0.50    0.50  0.50       0.00
1 record without this tag
"""
    assert table in ran.out
    gate, _ = gates_in(ran.out.splitlines())
    assert gate.startswith('failed tags["source=scan"].f1 >= 0.9: 0.50, margin -0.40')
    assert "no record has this tag; did you mean" in ran.out
    again = command("report r.json --by source", "--gate", 'tags["source=scan"].fields["a"].recall == 0')
    assert (again.code, table in again.out) == (0, True)
    assert "| `scan` | 1 | 0.50 |" in written("report r.json --by source", form="markdown")


def test_what_an_empty_answer_scores(write, command):
    gold = [{"id": 1, "a": None}, {"id": 2, "a": 1}, {"id": 3, "a": 2}]
    answers = [gold[0], {"id": 2, "a": 3}, gold[2]]
    write(g_jsonl=gold, a_jsonl=answers, rules_json={"nulls": "absent", "skip": ["id"]})
    for how in ("--id id", ""):
        ran = command(f"evaluate a.jsonl g.jsonl --config rules.json {how}")
        assert "an empty answer scores 0.33\n" in ran.out
    write(g_jsonl=gold[1:], a_jsonl=answers[1:])
    assert "empty answer" not in command("evaluate a.jsonl g.jsonl --config rules.json").out
    assert "an empty answer scores 0.00\n" in command("evaluate a.jsonl g.jsonl --config rules.json -v").out


def test_nulls_that_explain_the_loss_are_named(command, write):
    write(
        g_jsonl=[{"a": 1, "b": "x"}, {"a": 2}],
        a_jsonl=[{"a": 1, "b": "x", "c": None}, {"a": 2, "b": "", "c": None}],
        rules_json={"absent": [None, ""]},
    )
    out = command("evaluate a.jsonl g.jsonl").out
    assert "in 2 lowest-scoring records, null and empty values explain 100 % of the loss: --absent '[" in out
    out = command("evaluate a.jsonl g.jsonl --config rules.json").out
    assert "explain" not in out
    assert "score 1.00" in out


def test_null_values_that_cost_nothing_explain_no_loss(write, command):
    write(gold_jsonl=[{"a": 1, "b": [], "c": 2}] * 2, answers_jsonl=[{"a": 1, "b": {}, "c": None}] * 2)
    ran = command("evaluate answers.jsonl gold.jsonl --metric pairwise_f1 --fields", 'c={"weight": 0}')
    assert ran.code == 0
    assert "explain" not in ran.out
