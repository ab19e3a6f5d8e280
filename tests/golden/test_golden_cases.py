"""What a case holds: values, defaults of its file, and the files it names."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.conftest import GoldenFileError, load_cases


def cases_of(text, path=Path("golden/x.golden.yaml")):
    return list(load_cases(text.encode(), path, path.as_posix()).by_id.values())


def case_of(text, folder=Path("golden")):
    (case,) = cases_of(text, folder / "x.golden.yaml")
    return case


def test_every_key():
    case = case_of(
        """
        id: receipt
        title: A receipt with VAT
        input: {text: hello}
        actual: [1, {a: ~}]
        expected: hello
        metric: json_similarity
        threshold: {score: 0.9, fields: {a: 1}}
        options: {nulls: absent}
        fields: {a: {weight: 2}}
        producer: module.sub:Class.method
        marks: [slow, {xfail: not yet}, {skip: {reason: x}}, {usefixtures: [a, b]}, {timeout: 5}, {owner: {team: x}}]
        """.replace("\n        ", "\n")
    )
    assert (case.id, case.title, case.line, case.path.name) == (
        "receipt",
        "A receipt with VAT",
        2,
        "x.golden.yaml",
    )
    assert (case.input, case.actual, case.expected) == ({"text": "hello"}, [1, {"a": None}], "hello")
    assert (case.metric, case.threshold) == ("json_similarity", {"score": 0.9, "fields": {"a": 1}})
    assert case.options == {"nulls": "absent", "fields": {"a": {"weight": 2}}}
    assert (case.producer, case.has_input, case.has_actual) == ("module.sub:Class.method", True, True)
    assert [(mark.name, mark.args, dict(mark.kwargs), mark.steps) for mark in case.marks] == [
        ("slow", (), {}, ("marks", 0)),
        ("xfail", (), {"reason": "not yet"}, ("marks", 1)),
        ("skip", (), {"reason": "x"}, ("marks", 2)),
        ("usefixtures", ("a", "b"), {}, ("marks", 3)),
        ("timeout", (5,), {}, ("marks", 4)),
        ("owner", (), {"team": "x"}, ("marks", 5)),
    ]


def test_nothing_but_what_is_expected():
    case = case_of("expected: null\n")
    assert (case.id, case.expected, case.title, case.metric, case.threshold) == ("x", None, None, None, None)
    assert (case.options, case.producer, case.marks) == ({}, None, ())
    assert (case.has_input, case.input, case.has_actual, case.actual) == (False, None, False, None)


def test_all_that_says_how_a_case_is_compared_is_among_its_options():
    text = b"expected: 1\nvalidate: require\naccept: {$: [2]}\n"
    (case,) = load_cases(text, Path("x.yaml"), "x.yaml").by_id.values()
    assert case.options == {"accept": {"$": [2]}, "validate": "require"}


def test_an_actual_that_is_null_is_one():
    assert case_of("actual:\nexpected: 1\n").has_actual is True


def test_values_are_copies():
    case = case_of("actual: {a: [1]}\nexpected: {a: [1]}\noptions: {compare: {string: exact}}\n")
    case.actual["a"].append(2)
    case.expected["a"].append(2)
    case.options["compare"]["string"] = "x"
    assert (case.actual, case.expected, case.options) == (
        {"a": [1]},
        {"a": [1]},
        {"compare": {"string": "exact"}},
    )


def test_defaults_of_the_file():
    first, second = cases_of("""
metric: json_similarity
threshold: {f1: 0.5}
options: {nulls: absent, extra: count}
fields: {a: {weight: 2}, b: {skip: true}}
producer: m:f
input: shared
title: a file about receipts
cases:
  - id: takes-all
    expected: 1
  - id: has-its-own
    expected: 1
    metric: field_match
    threshold: 0.3
    options: {extra: ignore}
    fields: {a: {weight: 3}, c: {skip: true}}
    producer: n:g
    input_file: x.txt
""")
    assert (first.metric, first.threshold, first.producer, first.input) == (
        "json_similarity",
        {"f1": 0.5},
        "m:f",
        "shared",
    )
    assert first.options == {
        "nulls": "absent",
        "extra": "count",
        "fields": {"a": {"weight": 2}, "b": {"skip": True}},
    }
    assert first.title is None
    assert (second.metric, second.threshold, second.producer) == ("field_match", 0.3, "n:g")
    assert second.options == {
        "nulls": "absent",
        "extra": "ignore",
        "fields": {"b": {"skip": True}, "a": {"weight": 3}, "c": {"skip": True}},
    }
    # Of two patterns that fit equally well the last one holds: the case's own come last.
    assert list(second.options["fields"]) == ["b", "a", "c"]
    assert second.has_key("input_file")
    assert not second.has_key("input")


def test_positions_of_keys():
    first, second = cases_of(
        "metric: a\noptions:\n  extra: count\ncases:\n- expected:\n    a: 1\n- expected: 1\n  metric: b\n"
    )
    assert [first.line, second.line] == [5, 7]
    assert [first.position("metric"), second.position("metric")] == [(1, 1), (8, 3)]
    assert [first.position("expected", "a"), second.position("threshold")] == [(6, 5), (7, 3)]
    assert first.position("options", "extra") == (3, 3)


def test_files_are_relative_to_the_yaml_file_and_read_when_asked_for(tmp_path):
    case = case_of(
        "input_file: ../in.txt\nactual_file: out/a.json\nexpected_file: e.json\n", folder=tmp_path / "golden"
    )
    (tmp_path / "golden" / "out").mkdir(parents=True)
    (tmp_path / "in.txt").write_text("the document", encoding="utf-8")
    (tmp_path / "golden" / "out" / "a.json").write_text("Sure: {}", encoding="utf-8")
    (tmp_path / "golden" / "e.json").write_text('\ufeff{"a": 1e3}', encoding="utf-8")
    assert (case.input, case.actual, case.expected) == ("the document", "Sure: {}", {"a": 1000.0})
    (tmp_path / "golden" / "e.json").write_text("[]", encoding="utf-8")
    assert case.expected == []


@pytest.mark.parametrize(
    ("name", "data", "value"),
    [
        ("a.json", b'{"a": 1}', {"a": 1}),
        ("a.JSON", b"[]", []),
        ("a.yaml", b"a: NO", {"a": "NO"}),
        ("a.yml", b"- 1", [1]),
        ("a.md", "# é".encode(), "# é"),
        ("receipt.pdf", b"%PDF\xff", b"%PDF\xff"),
    ],
)
def test_what_an_input_file_gives(tmp_path, name, data, value):
    (tmp_path / name).write_bytes(data)
    assert case_of(f"input_file: {name}\nexpected: 1\n", folder=tmp_path).input == value


@pytest.mark.parametrize(
    ("name", "data", "value"),
    [("a.json", b'{"a": 1}', '{"a": 1}'), ("a.txt", b"x", "x"), ("a.yaml", b"a: 1", {"a": 1})],
)
def test_what_an_actual_file_gives(tmp_path, name, data, value):
    (tmp_path / name).write_bytes(data)
    assert case_of(f"actual_file: {name}\nexpected: 1\n", folder=tmp_path).actual == value


@pytest.mark.parametrize(
    ("keys", "name", "data", "message"),
    [
        ("actual_file: b.txt\nexpected: 1", "b.txt", b"\xff", "actual_file 'b.txt' is not UTF-8 text"),
        (
            "expected_file: b.json",
            "b.json",
            b'{"a":\n"\xff"}',
            "expected_file is not JSON: b.json:2:2: the byte 0xff is not UTF-8; save the file as UTF-8",
        ),
        ("expected_file: b.json", "b.json", b'{"a": 1, "a": 2}', "expected_file is not JSON: b.json:1:"),
        ("expected_file: b.json", "b.json", b"NaN", "expected_file is not JSON: b.json:1:1: "),
        (
            "expected_file: b.yml",
            "b.yml",
            b"a: &a [*a]",
            "expected_file is not valid: b.yml:1:8: *a is inside",
        ),
        ("expected_file: c.json", "b.json", b"", "expected_file 'c.json' can't be read: no such file"),
        ("expected_file: d.json", "d.json/x", b"", "expected_file 'd.json' can't be read: "),
        ('expected_file: "e\\0.json"', "b.json", b"", "expected_file 'e"),
    ],
)
def test_errors_of_files(tmp_path, keys, name, data, message):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    (case,) = load_cases(f"{keys}\n".encode(), tmp_path / "x.golden.yaml", "x.golden.yaml").by_id.values()
    with pytest.raises(GoldenFileError) as caught:
        _ = (case.actual, case.expected)
    assert str(caught.value).startswith(f"x.golden.yaml:1:1: {message}")


def test_places_in_an_expected_file(tmp_path):
    (tmp_path / "e.json").write_text('{\n "a": [\n  1\n ]\n}', encoding="utf-8")
    (tmp_path / "t.json").write_text('{"a": "\\ud83d\\ude00"}', encoding="utf-8")
    (by_file, with_halves) = load_cases(
        b"cases:\n- expected_file: e.json\n- expected_file: t.json\n", tmp_path / "x.yaml", "golden/x.yaml"
    ).by_id.values()
    assert by_file.locate_expected(["a", 0])[:2] == ((2, 3), "golden/e.json:3")
    # YAML has no surrogate pairs.
    assert with_halves.locate_expected(["a"])[:2] == ((3, 3), "golden/t.json:1")
    assert with_halves.expected == {"a": "😀"}


def test_errors_survive_the_way_from_a_worker():
    error = GoldenFileError("a.yaml", 1, 2, "no")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.name, copy.line, copy.column, copy.reason) == (
        "a.yaml:1:2: no",
        "a.yaml",
        1,
        2,
        "no",
    )


@pytest.mark.parametrize(
    "text",
    ["positive", "5", "null", '"a"', '{"a": 1}', "[see below]", "```\nx\n```", "<think>a</think>b", ""],
)
def test_a_text_equals_itself(pytester, golden, text):
    golden(f"cases:\n- id: a\n  actual: {json.dumps(text)}\n  expected: {json.dumps(text)}\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_producer_may_return_a_label(pytester, golden, write):
    write("rows.csv", "id,input,label\n1,nice,positive\n2,bad,negative\n")
    golden("cases_from: { file: rows.csv, id: id, input: input, expected: label }\n")
    pytester.makeconftest("""
        def pytest_jsonmatch_actual(case):
            return "```\\npositive\\n```" if case.input == "nice" else "I think neutral"
        """)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['E*0.00  $  "negative" → "I think neutral" * rows.csv:3'])
