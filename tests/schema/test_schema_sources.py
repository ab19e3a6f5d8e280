"""What a schema can be given as: a dict, a file, files that refer to each other, a pydantic model; and its hash."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

import pytest_jsonmatch.schema
from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.schema import parse_eval_schema, resolve_schema_references


def write(path: Path, schema: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema), encoding="utf-8")
    return path


# Mappings and files.


def test_a_mapping_and_its_tuples() -> None:
    node = parse_eval_schema(MappingProxyType({"type": ("string", "null"), "enum": ("a",)}))
    assert (node.types, node.enum) == ({"string", "null"}, ("a",))


def test_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"type": "string"})
    node = parse_eval_schema(path)
    assert node.types == {"string"}
    assert parse_eval_schema(str(path)) is node


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"type": "string"})
    parse_eval_schema(path)
    write(path, {"type": "number"})
    assert parse_eval_schema(path).types == {"number"}


def test_files_that_refer_to_each_other(tmp_path: Path) -> None:
    path = write(
        tmp_path / "order.json",
        {
            "properties": {
                "buyer": {"$ref": "parts/person.json"},
                "lines": {"items": {"$ref": "parts/line%20item.json#/$defs/line"}},
            }
        },
    )
    write(
        tmp_path / "parts" / "person.json",
        {
            "properties": {
                "name": {"type": "string"},
                "boss": {"$ref": "person.json"},
                "order": {"$ref": "../order.json"},
            }
        },
    )
    write(
        tmp_path / "parts" / "line item.json",
        {"$defs": {"line": {"properties": {"n": {"$ref": "#/$defs/n"}}}, "n": {"type": "integer"}}},
    )
    node = parse_eval_schema(path)
    members = node.properties or {}
    buyer = members["buyer"].properties or {}
    assert buyer["name"].types == {"string"}
    assert buyer["boss"] is members["buyer"]
    assert buyer["order"] is node
    lines = members["lines"].items
    assert lines is not None
    assert (lines.properties or {})["n"].types == {"integer"}
    resolved = resolve_schema_references(path)
    assert resolve_schema_references(resolved) == resolved


def test_a_file_that_is_referred_to_is_part_of_the_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"$ref": "b.json"})
    other = write(tmp_path / "b.json", {"type": "string"})
    before = parse_eval_schema(path).digest
    assert parse_eval_schema(path).types == {"string"}
    write(other, {"type": "number"})
    assert parse_eval_schema(path).types == {"number"}
    assert parse_eval_schema(path).digest != before


def test_ids() -> None:
    node = parse_eval_schema(
        {
            "$id": "https://example.org/root",
            "properties": {
                "a": {"$ref": "#/$defs/m"},
                "b": {"$ref": "/unit"},
                "c": {"$ref": "https://example.org/root#/$defs/m"},
            },
            "$defs": {
                "m": {"type": "number"},
                "u": {
                    "$id": "https://example.org/unit",
                    "properties": {"x": {"$ref": "#/$defs/t"}},
                    "$defs": {"t": {"type": "string"}},
                },
            },
        }
    )
    members = node.properties or {}
    assert members["a"].types == {"number"}
    assert (members["b"].properties or {})["x"].types == {"string"}
    assert members["c"] is members["a"]
    with pytest.raises(
        ConfigurationError, match=r"^p: \$ref '#money': write a JSON pointer, such as '#/\$defs/item'$"
    ):
        parse_eval_schema({"properties": {"p": {"$ref": "#money"}}})


# Errors.


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("invioce.json", r"^schema file '.*invioce\.json' does not exist; did you mean 'invoice\.json'\?$"),
        ("folder.json", r"^schema file '.*' cannot be read: "),
        ("comma.json", r"^schema file '.*comma\.json': not valid JSON .*line 2, column 10"),
        ("list.json", r"does not contain a JSON Schema: it must be an object, true or false$"),
        ("invoice.json", r"^p: \$ref 'b\.json' does not resolve: schema file '.*b\.json' does not exist"),
    ],
)
def test_files_that_hold_no_schema(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path / "invoice.json", {"properties": {"p": {"$ref": "b.json"}}})
    write(tmp_path / "list.json", [1])
    (tmp_path / "comma.json").write_text('{"type": \n"string",}', encoding="utf-8")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ConfigurationError, match=message):
        parse_eval_schema(tmp_path / name)


def test_references_stay_in_the_allowed_folders(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.json", {"type": "string"})
    project = tmp_path / "project"
    write(project / "part.json", {"type": "string"})
    schema = {"properties": {"p": {"$ref": "../outside.json"}, "q": {"anyOf": [{"$ref": "part.json"}, {}]}}}
    path = write(project / "schemas" / ".." / "a.json", schema)
    reported = f"{outside.resolve()} is outside of {project}; move the file into it"
    for source in (path, {"properties": {"p": {"$ref": outside.as_uri()}}}):
        assert parse_eval_schema(source).properties
        with pytest.raises(
            ConfigurationError, match=rf"^p: \$ref '.*' does not resolve: {re.escape(reported)}$"
        ):
            parse_eval_schema(source, folders=(str(project),))
    (project / "link.json").symlink_to(outside)
    with pytest.raises(ConfigurationError, match=r"outside\.json is outside of "):
        parse_eval_schema(write(project / "b.json", {"$ref": "link.json"}), folders=(str(project),))
    assert parse_eval_schema(write(project / "c.json", {"$ref": "part.json"}), folders=(str(project),)).types


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("file://localhost{}", None),
        ("file://elsewhere{}", "schema file '//elsewhere/.*' does not exist"),
        ("file:///a%00b.json", "schema file '.*' cannot be read: .*null"),
    ],
)
def test_file_addresses(tmp_path: Path, reference: str, reason: str | None) -> None:
    part = write(tmp_path / "part.json", {"type": "string"})
    schema = {"$ref": reference.format(part.resolve().as_posix())}
    if reason is None:
        assert parse_eval_schema(schema).types == {"string"}
    else:
        with pytest.raises(ConfigurationError, match=reason):
            parse_eval_schema(schema)


@pytest.mark.parametrize("reference", ["b.json", "https://example.org/b.json"])
def test_a_reference_from_a_dict_to_elsewhere(reference: str) -> None:
    reported = (
        f"p: $ref {reference!r} does not resolve: {reference!r} is not a file, and nothing is fetched from "
    )
    with pytest.raises(ConfigurationError, match=f"^{re.escape(reported)}"):
        parse_eval_schema({"properties": {"p": {"$ref": reference}}})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (5, "a schema must be a dict, the path of a JSON file or a pydantic model class, got int"),
        (int, "a schema must be a dict, the path of a JSON file or a pydantic model class, got type"),
        (
            '{"type": "string"}',
            (
                "a schema given as text is the path of a file, or a pydantic model as module:Model; parse this "
                'JSON first: \'{"type": "string"}\''
            ),
        ),
        ({"properties": {1: {}}}, "the schema has the key 1 (int); the keys of a schema are strings"),
    ],
)
def test_what_is_no_schema(source: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_eval_schema(source)
    assert str(caught.value) == message


# pydantic.


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(json_schema_extra={"x-eval-compare": "binary"})


class Dog(BaseModel):
    kind: Literal["dog"]
    friend: Dog | None = None


class Zoo(BaseModel):
    name: str = Field(json_schema_extra={"x-eval-transform": ["strip"]})
    pets: list[Cat | Dog]
    first: Cat | None = None


def test_a_pydantic_model() -> None:
    node = parse_eval_schema(Zoo)
    members = node.properties or {}
    assert members["name"].rules.get("transform") == ("strip",)
    pets = members["pets"].items
    assert pets is not None
    (is_cat, cat), (is_dog, dog) = pets.branches
    assert (cat.properties or {})["lives"].rules.get("compare") == "binary"
    assert (is_cat({"kind": "dog"}), is_dog({"kind": "dog"})) == (False, True)
    assert (dog.properties or {})["friend"].types == {"object", "null"}
    assert members["first"].types == {"object", "null"}
    assert parse_eval_schema(Zoo) is node


# Hashes.


def test_the_hash_is_of_the_content(tmp_path: Path) -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1, "x"]}}}
    same = {"properties": {"b": {"enum": [1, "x"]}, "a": {"type": "string"}}, "type": "object"}
    other = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x", 1]}}}
    assert (
        parse_eval_schema(one).digest
        == parse_eval_schema(same).digest
        == parse_eval_schema(write(tmp_path / "one.json", one)).digest
    )
    assert parse_eval_schema(one).digest != parse_eval_schema(other).digest


def test_the_hash_stays_what_it_is() -> None:
    # Results of last year are compared with those of today by it.
    assert parse_eval_schema({"type": "string", "x-eval-compare": "exact"}).digest == "585e628ebf99"


@pytest.mark.parametrize(("one", "other"), [(True, 1), (1, 1.5), ("1", 1), ([], {}), (None, "null")])
def test_values_of_different_types_have_different_hashes(one: object, other: object) -> None:
    assert parse_eval_schema({"enum": [one]}).digest != parse_eval_schema({"enum": [other]}).digest


# The package.


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'infer'"):
        pytest_jsonmatch.schema.infer  # noqa: B018


def test_alternatives_may_refer_to_names_that_are_not_ascii() -> None:
    branches = [{"$ref": "#/$defs/Größe in cm"}, {"properties": {"b": {"type": "string"}}}]
    size = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    node = parse_eval_schema({"anyOf": branches, "$defs": {"Größe in cm": size}})
    assert [accepts({"a": 1}) for accepts, _ in node.branches] == [True, True]
    assert [accepts({"b": "x"}) for accepts, _ in node.branches] == [False, True]


def test_register_takes_names_that_source_5_leaves_free() -> None:
    code = (
        "from pytest_jsonmatch import ConfigurationError\n"
        "from pytest_jsonmatch.schema import evaluate, register\n"
        "register('date', lambda gold, extracted, params: 0.5)\n"
        "register('semantic', lambda gold, extracted, params: 0.5)\n"
        "schema = {'properties': {'d': {'type': 'string', 'x-eval-compare': 'date'}}}\n"
        "print(evaluate([{'d': 'a'}], [{'d': 'b'}], schema).mean_f1)\n"
        "for name in ('date', 'exact'):\n"
        "    try:\n"
        "        register(name, lambda gold, extracted, params: 1.0, name == 'exact')\n"
        "    except ConfigurationError as error:\n"
        "        print(error)\n"
    )
    # (What is registered lasts as long as the process.)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == [
        "0.5",
        "comparator 'date' is registered already; pass overwrite=True to replace it",
        "'exact' is a built-in comparator and cannot be replaced; choose another name",
    ], run.stderr


def test_alternatives_in_another_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"properties": {"at": {"$ref": "b.json#/$defs/at"}}})
    write(
        tmp_path / "b.json",
        {
            "$defs": {
                "at": {
                    "anyOf": [
                        {"properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x"]},
                        {"properties": {"y": {}}},
                    ]
                },
                "n": {"type": "number"},
            }
        },
    )
    branches = (parse_eval_schema(path).properties or {})["at"].branches
    assert [[test(value) for test, _ in branches] for value in ({"x": 1}, {"x": "a"})] == [
        [True, True],
        [False, True],
    ]
