from __future__ import annotations

import importlib.metadata
import io
import json
import sys
from typing import NamedTuple

import pytest

from tests.conftest import main
from tests.lookups import with_entry_points


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.metadata, "distributions", with_entry_points)  # read once for all commands
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def write(folder):
    """Write files: text as it is, anything else as JSON, a list as JSON Lines where the name says so."""

    def call(**files):
        for name, content in files.items():
            stem, _, suffix = name.rpartition("_")
            path = folder / f"{stem}.{suffix}"
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            elif suffix == "jsonl":
                path.write_text("".join(f"{json.dumps(each)}\n" for each in content), encoding="utf-8")
            else:
                path.write_text(json.dumps(content), encoding="utf-8")

    return call


@pytest.fixture
def command(folder, capsys):
    """Run a command line in the folder, and return its exit code and what it prints."""

    def call(line, *more):
        capsys.readouterr()
        try:
            code = main([*line.split(), *more])
        except SystemExit as left:
            code = left.code
        shown = capsys.readouterr()
        return Ran(code, shown.out, shown.err)

    return call


@pytest.fixture
def written(command, folder):
    """Run a command line that writes a page, or another form, and return what it has written."""

    def call(line, *more, form="html"):
        command(f"{line} --{form} written.{form}", *more)
        return (folder / f"written.{form}").read_text(encoding="utf-8")

    return call


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        reader = io.BufferedReader(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(reader, encoding="utf-8"))

    return give


@pytest.fixture
def refused(command):
    """Run a command line that cannot be used, and return its one line."""

    def call(line, *more):
        ran = command(line, *more)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        return ran.err.removesuffix("\n")

    return call
