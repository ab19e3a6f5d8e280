"""`jsonmatch cases schema` and `jsonmatch cases header`."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest
from jsonschema_rs import Draft202012Validator

from pytest_jsonmatch.cli.main import main
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.golden.editor import golden_schema


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def printed(capsys):
    """Run a command that goes well, and return what it prints."""

    def call(*arguments):
        code = main(list(arguments))
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, "")
        return shown.out

    return call


@pytest.fixture
def refused(capsys):
    """Run a command that goes wrong, and return its one line."""

    def call(*arguments):
        code = main(list(arguments))
        shown = capsys.readouterr()
        assert (code, shown.out, shown.err.count("\n")) == (2, "", 1)
        return shown.err.removesuffix("\n")

    return call


def accepts(schema, document):
    return Draft202012Validator(json.loads(schema)).is_valid(document)


def test_schema(printed):
    assert json.loads(printed("cases", "schema")) == golden_schema()


def test_a_file_gets_what_standard_output_gets(folder, printed):
    (folder / "s.json").write_text("something older, and longer than nothing")
    assert printed("cases", "schema", "--output", "s.json") == ""
    assert (folder / "s.json").read_bytes().decode() == printed("cases", "schema")
    assert [path.name for path in folder.iterdir()] == ["s.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and links")
def test_a_file_keeps_its_mode_and_a_link_its_target(folder, printed):
    (folder / "real").mkdir()
    real = folder / "real" / "s.json"
    real.write_text("old")
    real.chmod(0o640)
    (folder / "s.json").symlink_to(real)
    printed("cases", "schema", "--output", "s.json")
    assert (folder / "s.json").is_symlink()
    assert json.loads(real.read_text()) == golden_schema()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_file_is_never_half_written(folder, refused, monkeypatch):
    (folder / "s.json").write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = refused("cases", "schema", "--output", "s.json")
    assert told == f"jsonmatch cases schema: {folder.resolve() / 's.json'}: no space left on device"
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("s.json", "old")]


def test_an_interrupt_leaves_nothing_behind(folder, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    assert main(["cases", "schema", "--output", "s.json"]) == 130
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe of POSIX")
def test_what_is_no_file_is_written_to_and_not_replaced(folder):
    os.mkfifo(folder / "pipe")
    # Opened for both, so that neither side waits for the other.
    reader = os.open(folder / "pipe", os.O_RDWR)
    try:
        write_output("short\n", folder / "pipe")
        assert (os.read(reader, 100), (folder / "pipe").is_fifo()) == (b"short\n", True)
    finally:
        os.close(reader)


def test_a_folder_that_is_none(folder, capsys):
    with pytest.raises(SystemExit):
        main(["cases", "schema", "--output", "no/s.json"])
    assert "argument -o/--output: no/s.json: no such file or directory (see" in capsys.readouterr().err


def test_for_golden_files(folder, printed):
    (folder / "golden").mkdir()
    (folder / "golden" / "total.json").write_text(
        '{"properties": {"total": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "number"}}}'
    )
    (folder / "golden" / "a.golden.yaml").write_text(
        "schema: total.json\ncases:\n- expected: {total: 1}\n- expected: {shop: a}\n  schema: {properties: {shop: {type: string}}}\n"
    )
    (folder / "golden" / "b.golden.yaml").write_text("schema: total.json\nexpected: {total: 1}\n")
    schema = printed("cases", "schema", "--for", "golden/a.golden.yaml", "golden/b.golden.yaml")
    assert accepts(schema, {"schema": "total.json", "cases": [{"expected": {"total": 2}}]})
    assert not accepts(schema, {"schema": "total.json", "cases": [{"expected": {"total": "2"}}]})
    inline = {"properties": {"shop": {"type": "string"}}}
    assert not accepts(schema, {"cases": [{"schema": inline, "expected": {"shop": 1}}]})
    assert accepts(schema, {"cases": [{"expected": {"shop": 1, "total": "2"}}]})


def test_for_golden_files_without_a_schema(folder, printed):
    (folder / "a.golden.yaml").write_text("expected: 1\n")
    assert json.loads(printed("cases", "schema", "--for", "a.golden.yaml")) == golden_schema()


def test_for_a_golden_file_that_is_not_valid(folder, refused):
    (folder / "a.golden.yaml").write_text("cases:\n- expcted: 1\n- id: a b\n  expected: 1\n")
    assert refused("cases", "schema", "--for", "a.golden.yaml") == (
        "jsonmatch cases schema: a.golden.yaml:2:3: unknown key 'expcted'; did you mean 'expected'? (and 1 more)"
    )


def test_one_name_for_two_schemas(folder, refused):
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "s.json").write_text("{}")
        (folder / name / "x.golden.yaml").write_text("schema: s.json\nexpected: 1\n")
    told = refused("cases", "schema", "--for", "a/x.golden.yaml", "b/x.golden.yaml")
    assert told.replace("\\", "/") == (
        "jsonmatch cases schema: `schema: s.json` means one file in a/x.golden.yaml and another in "
        "b/x.golden.yaml; write a schema for each of the two"
    )


def test_expected_by_a_file(folder, printed):
    (folder / "r.json").write_text('{"properties": {"shop": {"type": "string"}}}')
    schema = printed("cases", "schema", "--expected", "r.json")
    assert (accepts(schema, {"expected": {"shop": "é"}}), accepts(schema, {"expected": {"shop": 1}})) == (
        True,
        False,
    )


def test_expected_by_a_model(folder, printed, monkeypatch):
    monkeypatch.delitem(sys.modules, "shop_models", raising=False)
    (folder / "shop_models.py").write_text(
        "import pydantic\nclass Item(pydantic.BaseModel):\n    price: float\n"
        "class Receipt(pydantic.BaseModel):\n    items: list[Item]\n"
    )
    before = list(sys.path)
    code = main(["cases", "schema", "--expected", "shop_models:Receipt", "--output", "s.json"])
    schema = (folder / "s.json").read_text()
    assert (code, sys.path) == (0, before)
    assert accepts(schema, {"expected": {"items": [{"price": 1}]}})
    assert not accepts(schema, {"expected": {"items": [{"price": "1"}]}})


def test_what_a_model_prints_is_not_part_of_the_schema(folder, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "loud_models", raising=False)
    (folder / "loud_models.py").write_text(
        "import pydantic\nprint('loud')\nclass Receipt(pydantic.BaseModel):\n    total: float\n"
    )
    assert main(["cases", "schema", "--expected", "loud_models:Receipt"]) == 0
    shown = capsys.readouterr()
    assert (json.loads(shown.out)["$defs"]["expected-1"]["type"], shown.err) == ("object", "loud\n")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("no.json", "schema file 'no.json' does not exist"),
        (
            "no_such_models:Receipt",
            "'no_such_models:Receipt' can't be imported: ModuleNotFoundError: No module named 'no_such_models'",
        ),
        (
            "collections:Chainmap",
            "'collections:Chainmap': 'collections' has no 'Chainmap'; did you mean 'ChainMap'?",
        ),
        (
            "collections:ChainMap",
            "a schema is a dict, the path of a JSON file or a pydantic model class, not ABCMeta",
        ),
    ],
)
def test_expected_by_what_is_no_schema(folder, refused, written, told):
    assert refused("cases", "schema", "--expected", written) == f"jsonmatch cases schema: {told}"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["golden-cases.schema.json"], "golden-cases.schema.json"),
        (["s.json", "a.golden.yaml"], "s.json"),
        (["s.json", "tests/golden/a.golden.yaml"], "../../s.json"),
        (["tests/s.json", "tests/golden/a.golden.yaml"], "../s.json"),
        (["my schemas/s.json"], "my%20schemas/s.json"),
        (["https://example.org/s.json", "tests/a.golden.yaml"], "https://example.org/s.json"),
    ],
)
def test_header(printed, arguments, where):
    assert printed("cases", "header", *arguments) == f"# yaml-language-server: $schema={where}\n"


def test_a_header_for_a_file_on_another_drive(folder, printed, monkeypatch):
    def on_another_drive(path, start):
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(os.path, "relpath", on_another_drive)
    where = (folder / "s.json").as_posix()
    assert (
        printed("cases", "header", "s.json", "a.golden.yaml") == f"# yaml-language-server: $schema={where}\n"
    )


def test_a_file_with_the_header_runs(pytester):
    header = "# yaml-language-server: $schema=golden-cases.schema.json\n"
    pytester.path.joinpath("a.golden.yaml").write_text(f"{header}expected: {{}}\nactual: {{}}\n")
    pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)
