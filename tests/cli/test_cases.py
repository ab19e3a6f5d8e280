"""`jsonmatch cases schema`, and how a command writes a file."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest


def test_schema(command):
    ran = command("cases schema")
    assert (ran.code, json.loads(ran.out)["title"], ran.err) == (0, "golden cases", "")


def test_a_file_gets_what_standard_output_gets(folder, command):
    (folder / "s.json").write_text("something older, and longer than nothing")
    assert command("cases schema --output s.json") == (0, "", "")
    assert (folder / "s.json").read_bytes().decode() == command("cases schema").out
    assert [path.name for path in folder.iterdir()] == ["s.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and links")
def test_a_file_keeps_its_mode_and_a_link_its_target(folder, command):
    (folder / "real").mkdir()
    real = folder / "real" / "s.json"
    real.write_text("old")
    real.chmod(0o640)
    (folder / "s.json").symlink_to(real)
    assert command("cases schema --output s.json").code == 0
    assert (folder / "s.json").is_symlink()
    assert json.loads(real.read_text())["title"] == "golden cases"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("error", "ran"),
    [
        (
            OSError(28, "No space left on device"),
            (2, "", "jsonmatch cases schema: {}: no space left on device\n"),
        ),
        (KeyboardInterrupt(), (130, "", "")),
    ],
)
def test_a_file_is_never_half_written(folder, command, monkeypatch, error, ran):
    def stopped(descriptor):
        raise error

    (folder / "s.json").write_text("old")
    monkeypatch.setattr(os, "fsync", stopped)
    code, out, err = command("cases schema --output s.json")
    assert (code, out, err.replace(str(folder.resolve() / "s.json"), "{}")) == ran
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("s.json", "old")]


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe of POSIX")
def test_what_is_no_file_is_written_to_and_not_replaced(folder, command, write):
    write(one_json={})
    os.mkfifo(folder / "pipe")
    # Opened for both, so that neither side waits for the other.
    reader = os.open(folder / "pipe", os.O_RDWR)
    try:
        assert command("schema resolve one.json --output pipe").code == 0
        assert (os.read(reader, 100), (folder / "pipe").is_fifo()) == (b"{}\n", True)
    finally:
        os.close(reader)


def test_a_file_with_the_header_runs(pytester):
    header = "# yaml-language-server: $schema=golden-cases.schema.json\n"
    pytester.path.joinpath("a.golden.yaml").write_text(f"{header}expected: {{}}\nactual: {{}}\n")
    pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)
