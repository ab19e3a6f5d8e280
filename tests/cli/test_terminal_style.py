"""Colours, characters and columns: on a terminal, and elsewhere."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from argparse import Namespace

import pytest

from pytest_jsonmatch.cli.output import TerminalStyle, make_style


@pytest.mark.parametrize(
    ("encoding", "environment", "style"),
    [
        ("utf-8", {}, TerminalStyle(color=True, unicode=True, width=70)),
        ("ascii", {}, TerminalStyle(color=True, unicode=False, width=70)),
        ("no-such-encoding", {}, TerminalStyle(color=True, unicode=False, width=70)),
        ("utf-8", {"TERM": "dumb"}, TerminalStyle(color=False, unicode=True, width=70)),
        ("utf-8", {"NO_COLOR": "1"}, TerminalStyle(color=False, unicode=True, width=70)),
        ("utf-8", {"COLUMNS": "3"}, TerminalStyle(color=True, unicode=True, width=40)),
    ],
)
def test_style_of_a_terminal(monkeypatch, encoding, environment, style):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    Terminal.encoding = encoding
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": "70", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert make_style(Namespace()) == style


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal of POSIX")
def test_a_real_terminal_gets_colours(write, folder):
    write(a_json={"n": 1}, b_json={"n": 2})
    environment = {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    reader, writer = os.openpty()
    try:
        code = "import sys; from pytest_jsonmatch.cli.main import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", code, "compare", "a.json", "b.json"],
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**kept, **environment},
            check=False,
        )
        shown = os.read(reader, 100_000).decode()
    finally:
        os.close(writer)
        os.close(reader)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "\x1b[31m0.00\x1b[0m" in shown
