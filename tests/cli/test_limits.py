"""Values beyond 128 levels or 4,300 digits, at each entry of the command: an error, or a record that scores 0."""

from __future__ import annotations

import json

import pytest

DEEP = "more than 128 levels of arrays and objects; compare its parts one by one"
LONG = "an integer of more than 4,300 digits; give it as a string"
VALUES = {"deep": '{"a": ' + "[" * 128 + "]" * 128 + "}", "long": '{"a": ' + "9" * 4_301 + "}"}
WITHIN = {"deep": '{"a": ' + "[" * 127 + "]" * 127 + "}", "long": '{"a": ' + "9" * 4_300 + "}"}


@pytest.fixture(params=["deep", "long"])
def message(request, write, folder):
    """Write files with a value beyond a limit, and return the end of the error."""
    value = VALUES[request.param]
    schema: object = {"type": "number"}
    for _ in range(70):
        schema = {"type": "object", "properties": {"a": schema}}
    write(
        beyond_json=value,
        within_json=WITHIN[request.param],
        one_json={"a": 1},
        one_jsonl=[{"a": 1}] * 2,
        beyond_jsonl=f'{{"a": 1}}\n{value}\n',
        array_json=f'[{{"a": 1}}, {value}]',
        gold_json=[{"a": 1}] * 2,
        schema_json=schema,
        object_json={"type": "object"},
        rules_json=f'{{"fields": {value}}}',
    )
    for name, text in (("gold/x.json", '{"a": 1}'), ("gold/y.json", '{"a": 1}'), ("answers/x.json", value)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "answers/y.json").write_text('{"a": 1}')
    return DEEP if request.param == "deep" else LONG


def test_what_is_within_passes(message, command):
    assert command("compare within.json within.json").code == 0
    assert command("compare within.json within.json --report json").code == 0
    assert command("schema infer within.json").code == 0


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("compare one.json beyond.json", "beyond.json:1:"),
        ("compare one.json one.json --config rules.json", "rules.json:1:"),
        ("evaluate one.jsonl beyond.jsonl", "beyond.jsonl:2:"),
        ("evaluate gold.json array.json", "array.json:1:"),
        ("evaluate gold answers", "answers/x.json:1:"),
        ("schema infer beyond.jsonl", "beyond.jsonl:2:"),
        ("schema validate object.json --gold beyond.jsonl", "beyond.jsonl:2:"),
        ("study agreement one.jsonl beyond.jsonl", "beyond.jsonl:2:"),
    ],
)
def test_it_is_refused_with_its_place(message, refused, line, place):
    shown = refused(line)
    assert f": {place}" in shown
    assert message in shown


def test_an_answer_to_compare_is_a_failure_with_its_place(message, command):
    ran = command("compare beyond.json one.json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith("jsonmatch compare: beyond.json:1:")
    assert message in ran.err


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ("beyond.jsonl one.jsonl", "record 2"),
        ("array.json gold.json", "record 2"),
        ("answers gold", "record 'x.json'"),
    ],
)
def test_an_answer_scores_0_and_the_others_are_scored(message, command, line, record):
    ran = command(f"evaluate {line}", "--gate", "score == 0.5")
    assert (ran.code, ran.err) == (0, "")
    shown = " ".join(ran.out.split())
    assert f"error: {record}: no JSON found" in shown
    assert message in shown


@pytest.mark.parametrize(
    "line",
    [
        "compare one.json one.json --schema schema.json",
        "evaluate one.jsonl one.jsonl --schema schema.json",
        "schema resolve schema.json",
        "schema annotate schema.json",
    ],
)
def test_a_schema_that_is_too_deep(message, refused, line):
    assert DEEP in refused(line)


@pytest.mark.parametrize("line", ["report bad.json", "diff good.json bad.json", "plan good.json bad.json"])
def test_a_result_file(message, command, refused, folder, line):
    command("evaluate one.jsonl one.jsonl --json good.json")
    head, *cases = (folder / "good.json").read_text().splitlines()
    case = cases[0].removesuffix("}")
    value = "[" * 100_000 + "]" * 100_000 if message == DEEP else "9" * 4_301
    (folder / "bad.json").write_text("\n".join([head, f'{case}, "more": {value}}}', *cases[1:]]) + "\n")
    assert json.loads(head)["format"] == "jsonmatch-results"
    assert refused(line).partition(": ")[2].startswith("bad.json ")
