"""`jsonmatch schema`."""

from __future__ import annotations

import json
import sys

import pytest

RECORDS = [{"shop": "Mill", "total": 1}, {"shop": "Hill", "total": 1.5, "paid": True}]
INFERRED = {
    "type": "object",
    "properties": {"shop": {"type": "string"}, "total": {"type": "number"}, "paid": {"type": "boolean"}},
    "required": ["shop", "total"],
}


@pytest.fixture
def files(write):
    write(
        gold_jsonl=RECORDS,
        gold_json=RECORDS,
        one_json=RECORDS[1],
        schema_json={
            "$ref": "#/$defs/r",
            "$defs": {"r": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        },
        typo_json={"properties": {"n": {"x-eval-compare": "exakt"}}},
        list_json=[1],
        broken_json='{"a": 1,\n "b": }',
        empty_jsonl="",
        wrong_jsonl=[{"n": 1}, {"m": 1}],
        types_jsonl=[{"n": 1}, {"n": "x"}, {}],
    )


@pytest.mark.parametrize("gold", ["gold.jsonl", "gold.json"])
def test_infer(files, command, gold):
    ran = command(f"schema infer {gold}")
    assert (ran.code, json.loads(ran.out), ran.err) == (0, INFERRED, "")


def test_infer_of_one_record_of_a_folder_and_of_standard_input(files, folder, command, stdin):
    (folder / "gold").mkdir()
    for number, record in enumerate(RECORDS):
        (folder / "gold" / f"{number}.json").write_text(json.dumps(record))
    assert json.loads(command("schema infer gold").out) == INFERRED
    assert json.loads(command("schema infer one.json").out)["required"] == ["shop", "total", "paid"]
    stdin((folder / "gold.jsonl").read_bytes())
    assert json.loads(command("schema infer -").out) == INFERRED


def test_infer_and_annotate_into_a_file(files, folder, command):
    assert command("schema infer gold.jsonl --annotate --output out.json") == (0, "", "")
    properties = json.loads((folder / "out.json").read_text())["properties"]
    assert [each["x-eval-compare"] for each in properties.values()] == ["exact", "numeric", "exact"]


def test_resolve_and_annotate(files, command):
    resolved = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert json.loads(command("schema resolve schema.json").out) == resolved
    resolved["properties"]["n"]["x-eval-compare"] = "numeric"
    assert json.loads(command("schema annotate schema.json").out) == resolved


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\npythonpath = lib src\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["lib", "src"]\n'),
        ("pyproject.toml", '[tool.pytest]\npythonpath = ["src"]\n'),
        ("tox.ini", "[tox]\nenvlist = py\n[pytest]\npythonpath =\n    src\n"),
        ("setup.cfg", "[metadata]\nname = shop\n[tool:pytest]\npythonpath = src\n"),
    ],
)
def test_models_are_searched_in_the_pythonpath_of_pytest(folder, command, monkeypatch, name, text):
    pytest.importorskip("pydantic")
    monkeypatch.delitem(sys.modules, "shop_models", raising=False)
    for path, content in {
        "src/shop_models.py": "import pydantic\nclass Receipt(pydantic.BaseModel):\n    total: float\n",
        name: text,
        "tests/a.json": "1",
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    monkeypatch.chdir(folder / "tests")
    ran = command("schema resolve shop_models:Receipt")
    assert (ran.code, list(json.loads(ran.out)["properties"])) == (0, ["total"])
    assert str(folder / "src") not in sys.path


def test_the_first_configuration_counts_and_a_broken_one_is_passed_over(folder, refused, monkeypatch):
    monkeypatch.delitem(sys.modules, "shop_models", raising=False)
    (folder / "shop_models.py").write_text("", encoding="utf-8")
    (folder / "tests").mkdir()
    (folder / "tests" / "pytest.ini").write_text("", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    monkeypatch.chdir(folder / "tests")
    message = "jsonmatch schema resolve: 'shop_models:Receipt' can't be imported: ModuleNotFoundError: "
    assert refused("schema resolve shop_models:Receipt").startswith(message)
    (folder / "tests" / "pytest.ini").write_text("pythonpath", encoding="utf-8")
    assert "'shop_models' has no 'Receipt'" in refused("schema resolve shop_models:Receipt")


def test_annotate_with_gold(write, command):
    lines = [{"sku": f"A{at}", "qty": 1} for at in range(3)]
    gold = [{"day": f"2024-03-0{at}", "note": "x" * at, "lines": lines} for at in range(1, 4)]
    write(gold_jsonl=gold)
    command("schema infer gold.jsonl --output schema.json")
    ran = command("schema annotate schema.json --gold gold.jsonl --output eval.json")
    assert ran == (0, "", "")
    ran = command("schema annotate eval.json")
    properties = json.loads(ran.out)["properties"]
    assert properties["day"]["x-eval-compare"] == "date"
    assert properties["note"]["x-eval-compare"] == "exact"
    assert properties["lines"]["x-eval-align"] == {"match_by": "key_field", "key": "sku"}
    assert [field.get("$comment") for field in properties.values()] == [
        "proposed: all 3 values are dates",
        None,
        "proposed: the elements of each array (3) differ in 'sku'",
    ]
    assert command("schema validate eval.json --gold gold.jsonl").code == 0


def test_validate(files, command):
    assert command("schema validate schema.json") == (0, "schema.json is valid\n", "")
    assert command("schema validate typo.json") == (
        1,
        "typo.json: n: unknown comparator 'exakt'; did you mean 'exact'?\n",
        "",
    )


def test_validate_names_what_is_no_schema_and_misspelt_keywords(write, command):
    inner = {"type": "object", "propertis": {"n": {"type": "integer"}}}
    write(request_json={"name": "f", "strict": True, "schema": inner}, inner_json=inner)
    ran = command("schema validate request.json")
    assert ran.code == 1
    assert ran.out == (
        "request.json: $: not a JSON Schema: no keyword of JSON Schema is among its members 'name', 'strict', "
        "'schema'; the schema in it is at ['schema']: give that\n"
    )
    assert command("schema validate inner.json") == (
        0,
        "warning: schema: unknown keyword 'propertis' has no effect; did you mean 'properties'?\n",
        "",
    )


def test_validate_gold(files, write, command):
    write(fits_jsonl=[{"id": "a", "n": 1}, {"id": "b", "n": 2}])
    assert command("schema validate schema.json --gold fits.jsonl --id id") == (
        0,
        "fits.jsonl matches schema.json\n",
        "",
    )
    ran = command("schema validate schema.json --gold wrong.jsonl")
    assert (ran.code, ran.out.splitlines()[-1][:42]) == (1, "error: record 2: 'm' is not in the schema;")
    ran = command("schema validate schema.json --gold types.jsonl")
    assert (ran.code, ran.out.count("warning: ")) == (0, 2)


def test_validate_knows_plugins(files, write, command, monkeypatch):
    monkeypatch.delitem(sys.modules, "schema_plugin", raising=False)
    write(
        schema_plugin_py="def pytest_jsonmatch_register(registry):\n"
        "    registry.comparator('exakt', lambda expected, actual, params: 1.0)\n"
    )
    assert command("schema validate typo.json -p schema_plugin").code == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("infer no.jsonl", "no.jsonl: no such file or directory"),
        ("infer empty.jsonl", "empty.jsonl: a schema needs at least one record to infer it from"),
        ("infer broken.json", "broken.json:2:7: not valid JSON"),
        ("resolve no.json", "schema file 'no.json' does not exist"),
        ("annotate schema.json --gold no.jsonl", "no.jsonl: no such file or directory"),
        ("annotate schema.json --gold broken.json", "broken.json:2:7: not valid JSON"),
        ("annotate list.json", "schema file 'list.json' does not contain a JSON Schema"),
        ("validate no.json", "schema file 'no.json' does not exist"),
        ("validate broken.json", "schema file 'broken.json': not valid JSON (line 2, column 7)"),
        ("validate schema.json --gold no.jsonl", "no.jsonl: no such file or directory"),
        ("validate schema.json --gold broken.json", "broken.json:2:7: not valid JSON"),
        ("resolve nowhere:Model", "'nowhere:Model' can't be imported: ModuleNotFoundError"),
    ],
)
def test_bad_input_is_one_line(files, refused, line, message):
    assert refused(f"schema {line}").startswith(f"jsonmatch schema {line.split()[0]}: {message}")
