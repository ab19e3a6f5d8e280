"""`jsonmatch compare`."""

from __future__ import annotations

import json
import math
import re
import sys

import pytest

RIGHT = {"shop": "Mill", "total": 11, "items": [{"name": "bun"}, {"name": "rye"}]}
WRONG = {"shop": "Mill", "total": 12, "items": [{"name": "rye"}]}


@pytest.fixture
def files(write):
    write(right_json=RIGHT, wrong_json=WRONG)


@pytest.mark.parametrize(
    "line",
    [
        "compare wrong.json right.json",
        "compare --test wrong.json --gt right.json --report text",
        "compare wrong.json --gt right.json",
    ],
)
def test_text(files, command, line):
    assert command(f"{line} --metric pairwise_f1") == (
        1,
        """\
total 11 → 12, 1 more (pairwise_f1 0.57 < 1.00)
4 fields: 2 match, 1 mismatch, 1 missing; precision 0.67, recall 0.50
expected → actual:
  0.00  total     11 → 12                      9.1 % off
  0.00  items[0]  {"name": "bun"} → (missing)  row missing from actual

fields of 1 case by pairwise_f1
field         n  match  mismatch  missing  extra  score  precision  recall    F1
total         1      0         1        0      0   0.00       0.00    0.00  0.00
items[].name  2      1         0        1      0   0.50       1.00    0.50  0.67
shop          1      1         0        0      0   1.00       1.00    1.00  1.00
────────────────────────────────────────────────────────────────────────────────
all fields    4      2         1        1      0   0.50       0.67    0.50  0.57
1 of 4 expected leaves missing (25 %)

items: 1 of 2 rows found
""",
        "",
    )


def test_json_has_values_and_the_statistics_of_objects_and_elements(write, command):
    write(
        e_json={"a": 1, "items": [{"n": "caf\u00e9"}, {"n": "y"}]},
        a_json={"a": 2, "items": [{"n": "caf\u00e9"}, {"n": "z", "k": None}]},
    )
    found = json.loads(command("compare a.json e.json --report json").out)
    (comparison,) = found["cases"][0]["runs"][0]["comparisons"]
    shown = [
        (each["expected_path"], each["status"], each.get("expected"), each.get("actual", "none"))
        for each in comparison["field_results"]
    ]
    assert shown == [
        ("a", "mismatch", 1, 2),
        ("items[0].n", "match", "caf\u00e9", "caf\u00e9"),
        ("items[1].n", "mismatch", "y", "z"),
        (None, "hallucination", None, None),
    ]
    assert {each["expected_path"]: (each["kind"], each["f1"]) for each in comparison["containers"]} == {
        "$": ("object", pytest.approx(2 / 7)),
        "items": ("array", 0.4),
        "items[0]": ("object", 1.0),
        "items[1]": ("object", 0.0),
    }


def test_json_of_any_value(write, command):
    write(
        a_json='{"big": 1e999, "half": "\\ud800", "deep": ' + "[" * 127 + "]" * 127 + "}",
        e_json='{"big": 2, "half": "x", "deep": 1}',
    )
    ran = command("compare a.json e.json --report json")
    assert r"\ud800" in ran.out
    (comparison,) = json.loads(ran.out)["cases"][0]["runs"][0]["comparisons"]
    values = {each["path"]: each["actual"] for each in comparison["field_results"]}
    assert (values["big"], values["half"]) == (math.inf, "\ud800")


def test_all_well(files, command):
    reported = "leaf_f1 score 1.00 (limit 1.0)\n4 fields: 4 match\n"
    assert command("compare right.json right.json") == (0, reported, "")


def test_a_metric_that_does_not_count_extras_says_so_where_all_is_well(write, command):
    write(more_json={"n": 1, "m": 2}, less_json={"n": 1})
    assert command("compare more.json less.json --metric json_similarity").out == (
        "json_similarity score 1.00 (limit 1.0); extras not counted\n1 field: 1 match\n"
    )


def test_every_leaf_is_equal_and_nothing_extra_or_it_fails(write, command):
    write(more_json={"n": 1, "m": 2}, less_json={"n": 1}, other_json={"n": 2})
    for sides in ("more.json less.json", "less.json more.json", "other.json less.json"):
        assert command(f"compare {sides}").code == 1


def test_threshold(files, command):
    ran = command("compare wrong.json right.json --threshold 0.3")
    assert (ran.code, ran.out.splitlines()[0], ran.err) == (
        1,
        "total 11 → 12, 1 more (leaf_f1 0.29 < 0.30)",
        "",
    )
    assert command("compare wrong.json right.json --threshold 0.28").code == 0


def test_json_is_one_document(files, command):
    ran = command("compare wrong.json right.json --report json --metric pairwise_f1 --threshold 0.6")
    found = json.loads(ran.out)
    (case,) = found["cases"]
    (compared,) = case["runs"][0]["comparisons"]
    assert (ran.code, ran.err) == (1, "jsonmatch compare: total 11 → 12, 1 more (pairwise_f1 0.57 < 0.60)\n")
    assert (found["format"], case["id"], case["passed"]) == ("jsonmatch-results", "right.json", False)
    assert (round(case["recall"], 2), compared["threshold"]) == (0.5, {"score": 0.6})
    assert {each["path"] for each in compared["field_results"] if each["status"] == "mismatch"} >= {"total"}
    assert [each["path"] for each in compared["containers"]] == ["$", "items", "items[]", "items[]"]


def test_html_shows_both_sides(files, command, written):
    ran = command("compare wrong.json right.json --report html --metric pairwise_f1 --threshold 0.5")
    assert (ran.code, ran.err, ran.out[:15]) == (0, "", "<!doctype html>")
    assert "wrong.json against right.json" in ran.out
    page = written("compare wrong.json right.json --metric pairwise_f1 --threshold 0.5")
    # (It has the time.)
    assert len({re.sub(r"\d", "", text.partition("</head>")[0]) for text in (page, ran.out)}) == 1
    assert re.findall(r'<div class="leaf-head"><code>(.*?)</code>', ran.out)[:2] == ["total", "items[0]"]
    assert "Whole documents, side by side" in ran.out


@pytest.mark.parametrize(
    ("threshold", "verdict"), [("", "failed"), (" --threshold 0.1", "passed"), (" --threshold 1", "failed")]
)
def test_html_has_the_verdict(files, command, threshold, verdict):
    page = command(f"compare wrong.json right.json --report html{threshold}").out
    assert f'role="status"><strong>{verdict}</strong>' in page


@pytest.mark.parametrize("option", ["--report html", "--html page.html"])
def test_html_needs_jinja(files, refused, monkeypatch, option):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert refused(f"compare wrong.json right.json {option}") == (
        "jsonmatch compare: an HTML report needs jinja2; "
        "install it with: pip install 'pytest-jsonmatch[html]'"
    )


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False)],
)
def test_color(files, command, monkeypatch, environment, colored):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in command("compare wrong.json right.json").out) is colored


def test_verbose(write, command):
    expected = {f"k{number:02}": number for number in range(40)}
    write(a_json=dict.fromkeys(expected, -1), b_json=expected)
    brief, more, everything = (command(f"compare a.json b.json {flag}").out for flag in ("", "-v", "-vv"))
    assert "  … and 32 more (-v: more, -vv: all)\n" in brief
    assert "… 10 more fields (-v)\n" in brief
    assert "more" not in more.partition("\n")[2]
    assert more.count("k39") == everything.count("k39") == 2


def test_metric_config_and_schema(write, command):
    write(
        a_json={"n": 1, "note": None, "s": "rye bread"},
        b_json={"n": 3, "s": "rye"},
        config_json={
            "string_evaluation_type": {"evaluation_type": "levenshtein"},
            "number_evaluation_type": {
                "evaluation_type": "threshold",
                "evaluation_params": {"threshold": 10, "difference_penalty_weighting": 1},
            },
            "array_matching_threshold": 0.4,
            "nulls": "absent",
        },
        nulls_json={"nulls": "absent"},
        short_json={"skip": ["note"], "fields": {"n": {"tolerance": 2}, "s": "jaccard"}},
        schema_json={"properties": {"n": {"type": "integer"}, "s": {"type": "string", "x-eval-skip": True}}},
    )
    for flags, head in {
        "--metric pairwise_f1": "pairwise_f1 score 0.20 (limit 0.0)",
        "--metric pairwise_f1 --config nulls.json": "pairwise_f1 score 0.25 (limit 0.0)",
        "--metric pairwise_f1 --config config.json": "pairwise_f1 score 0.57 (limit 0.0)",
        "--metric leaf_f1 --schema schema.json --config nulls.json": "leaf_f1 score 0.00 (limit 0.0)",
        "--metric json_similarity": "json_similarity score 0.33 (limit 0.0); extras not counted",
        "--config short.json": "leaf_f1 score 0.75 (limit 0.0)",
    }.items():
        assert command(f"compare a.json b.json --threshold 0 {flags}").out.splitlines()[0] == head


def test_texts_inside_are_read_by_the_schema(write, command):
    arguments = {"type": "object", "x-eval-transform": ["parse_json"]}
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "arguments": arguments}}
    right = {"name": "pay", "arguments": {"to": "Ann", "sum": 5}}
    wrong = {"name": "pay", "arguments": '{"to": "Ann", "sum": 6}'}
    write(schema_json=schema, right_json=right, wrong_json=wrong)
    status, output, _ = command("compare wrong.json right.json --schema schema.json")
    assert (status, "  0.00  arguments.sum  5 → 6  20 % off" in output) == (1, True)


def test_a_model_is_a_schema(write, command, monkeypatch):
    monkeypatch.delitem(sys.modules, "compare_models", raising=False)
    write(
        compare_models_py="import pydantic\nclass Receipt(pydantic.BaseModel):\n    n: float\n",
        a_json={"n": 1},
    )
    assert command("compare a.json a.json --schema compare_models:Receipt").code == 0


@pytest.mark.parametrize(
    ("answer", "notes"),
    [
        ('Sure:\n```json\n{"n": 1}\n```\n', 0),
        ('{"n": 2, "n": 1}', 1),
        ('<think>{"n": 2}</think>{"n": 1}', 0),
        ('\ufeff{"n": 1}', 0),
    ],
)
def test_an_answer_is_text_with_json_in_it(write, command, answer, notes):
    write(a_txt=answer, b_json={"n": 1})
    ran = command("compare a.txt b.json")
    assert (ran.out.splitlines()[0], ran.out.count("note: ")) == ("leaf_f1 score 1.00 (limit 1.0)", notes)


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (b'{"a": 1,\n "b": }', ":2:7: not valid JSON: expected value"),
        (b"", ":1:1: not valid JSON: the text is empty"),
        (b"I can't say.", ": no JSON found in the actual text: there is no "),
        (b'{"\xe9": 1}', ":1:3: not valid JSON: byte 0xe9 is not valid UTF-8"),
        (b'{"n": [1, 2', ":1:12: not valid JSON: "),
    ],
)
@pytest.mark.parametrize("gold", [{"n": 1}, {}, [1, [2]]])
def test_an_answer_without_json_fails_as_every_other_wrong_answer(
    write, folder, command, answer, reported, gold
):
    write(a_json=answer, b_json=gold)
    for threshold in ("1", "0"):
        ran = command(f"compare a.json b.json --threshold {threshold}")
        assert (ran.code, ran.out, ran.err.startswith(f"jsonmatch compare: a.json{reported}")) == (
            1,
            "",
            True,
        )
        assert ran.err.count("\n") == 1
    ran = command("compare a.json b.json --report json --html page.html --threshold 0")
    (case,) = json.loads(ran.out)["cases"]
    (comparison,) = case["runs"][0]["comparisons"]
    assert (ran.code, comparison["score"], comparison["passed"]) == (1, 0.0, False)
    assert "no JSON found" in (folder / "page.html").read_text(encoding="utf-8")


def test_repair(write, command):
    pytest.importorskip("json_repair")
    write(a_json="{'n': 1}", b_json={"n": 1})
    assert command("compare a.json b.json").err.startswith("jsonmatch compare: a.json:1:2: not valid JSON: ")
    assert command("compare a.json b.json --repair").out.startswith("leaf_f1 score 1.00 (limit 1.0)\n")


def test_another_type_is_a_mismatch(write, command):
    write(a_json=[1], b_json={"n": 1}, c_json='"text"')
    assert command("compare a.json b.json").out.startswith(
        '$ {"n": 1} → [1] (leaf_f1 0.00 < 1.00)\n1 field: 1 mismatch\n'
    )
    assert command("compare c.json b.json").out.startswith('$ {"n": 1} → "text" (leaf_f1 0.00 < 1.00)\n')
    assert command("compare c.json c.json").out.startswith("leaf_f1 score 1.00 (limit 1.0)\n")


TWO_FILES = "two files are needed, ACTUAL and EXPECTED, or --test and --gt (see jsonmatch compare --help)"


@pytest.mark.parametrize("line", ["compare - right.json", "compare right.json -"])
def test_standard_input(files, command, stdin, line):
    stdin(json.dumps(RIGHT).encode())
    assert command(line).out.startswith("leaf_f1 score 1.00 (limit 1.0)\n")


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        *((line, TWO_FILES) for line in ("right.json", "", "--test right.json", "--gt right.json")),
        ("- -", "both sides are '-', but standard input can be read only once; give one a file"),
        ("no.json right.json", "no.json: no such file or directory"),
        ("wrong.json no.json", "no.json: no such file or directory"),
        ("wrong.json .", ".: is a directory"),
        ("wrong.json broken.json", "broken.json:2:7: not valid JSON: expected value"),
        (
            "wrong.json two.jsonl",
            "two.jsonl has a JSON value in each line; to compare line by line, write jsonm",
        ),
        (
            "two.jsonl right.json",
            "two.jsonl has a JSON value in each line; to compare line by line, write jsonm",
        ),
        ("wrong.json results.jsonl", "results.jsonl is a result file; jsonmatch diff compares result files"),
        ("results.jsonl right.json", "results.jsonl is a result file; jsonmatch diff compares result files"),
        ("wrong.json latin.json", "latin.json:1:3: not valid JSON: byte 0xe9 is not valid UTF-8"),
        ("wrong.json right.json --metric pairwis_f1", "unknown metric 'pairwis_f1'; did you mean"),
        ("wrong.json right.json --config no.json", "no.json: no such file or directory"),
        ("wrong.json right.json --config broken.json", "broken.json:2:7: not valid JSON"),
        (
            "wrong.json right.json --config list.json",
            "list.json: a configuration must be a mapping of options",
        ),
        ("wrong.json right.json --config typo.json", "typo.json: unknown option 'array_threshhold'; did"),
        ("wrong.json right.json --schema no.json", "schema file 'no.json' does not exist"),
        ("wrong.json right.json --schema shop.json", "right.json: 'total' is not in the schema; known: shop"),
        ("extra.json shop-only.json --schema shop.json --metric pairwise_f1", "extra.json: "),
        ("list.json right.json --metric field_match", "list.json: field_match compares two objects key by"),
        (
            "wrong.json right.json --html wrong.json/out.html",
            "argument --html: wrong.json/out.html: wrong.json is",
        ),
        ("wrong.json right.json --html .", "argument --html: .: is a directory"),
        (
            "wrong.json right.json --threshold 1.5",
            "argument --threshold: must be between 0 and 1, got 1.5 (for 1.5 % write 0.015)",
        ),
        ("wrong.json right.json --threshold x", "argument --threshold: must be between 0 and 1, got x"),
        ("wrong.json right.json --report markdown", "argument --report: invalid choice: 'markdown'"),
    ],
)
def test_bad_input_is_one_line(files, folder, write, refused, line, reported):
    write(
        broken_json='{"a": 1,\n "b": }',
        results_jsonl='{"format": "jsonmatch-results", "version": 3}\n{"id": "a"}\n',
        empty_json="",
        prose_txt="I can't say.",
        latin_json=b'{"\xe9": 1}',
        list_json=[1],
        two_jsonl=[{"a": 1}, {"a": 2}],
        typo_json={"array_threshhold": 0.4},
        shop_json={"type": "object", "properties": {"shop": {"type": "string"}}},
        extra_json={"shop": "Mill", "colour": "red"},
    )
    (folder / "shop-only.json").write_text('{"shop": "Mill"}')
    shown = refused(f"compare {line}").replace(str(folder.resolve()) + "/", "").replace("\\", "/")
    assert shown.startswith(f"jsonmatch compare: {reported}")


def test_a_missing_folder_is_created(files, folder, command):
    assert command("compare right.json right.json --html new/folder/page.html").code == 0
    assert (folder / "new" / "folder" / "page.html").read_text().startswith("<!doctype html>")


def test_a_comparator_that_fails(write, command, monkeypatch):
    monkeypatch.delitem(sys.modules, "failing", raising=False)
    write(
        failing_py="def pytest_jsonmatch_register(registry):\n"
        "    registry.comparator('ours', lambda expected, actual, params: 1 / 0)\n",
        a_json={"n": 1},
        config_json={"fields": {"n": {"compare": "ours"}}},
    )
    ran = command("compare a.json a.json -p failing --config config.json")
    assert ran.code == 1
    assert "error: comparator 'ours' at n: raised ZeroDivisionError" in ran.out


def test_rules_that_fit_no_place_are_reported(write, command):
    write(right_json=RIGHT, rules_json={"fields": {"items.name": {"skip": True}, "total": {"weight": 2}}})
    ran = command("compare right.json right.json --config rules.json")
    message = (
        "fields: 'items.name' matches nothing in expected, actual or schema; did you mean 'items[].name'?"
    )
    assert (ran.code, ran.err) == (0, f"jsonmatch compare: warning: {message}\n")


def test_a_configuration_of_structeval_may_say_null_for_nothing(write, command):
    names = ("string_evaluation_type", "array_matching_threshold", "integer_evaluation_type")
    write(right_json=RIGHT, config_json=dict.fromkeys(names))
    line = "compare --test right.json --gt right.json --metric structeval --config config.json"
    assert command(line).code == 0


def test_a_label_is_compared_as_text(command, write):
    write(gold_json='"positive"', label_txt="<think>hm</think>positive\n", wrong_txt='{"label": 1}')
    assert command("compare label.txt gold.json").code == 0
    assert command("compare wrong.txt gold.json").code == 1
