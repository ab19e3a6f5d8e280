"""Colours, characters and columns: on a terminal, and elsewhere."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pytest

from tests import forked
from tests.conftest import main


@pytest.mark.parametrize(
    ("encoding", "environment", "color", "unicode", "width"),
    [
        ("utf-8", {}, True, True, 70),
        ("ascii", {}, True, False, 70),
        ("no-such-encoding", {}, True, False, 70),
        ("utf-8", {"TERM": "dumb"}, False, True, 70),
        ("utf-8", {"NO_COLOR": "1"}, False, True, 70),
        ("utf-8", {"COLUMNS": "3"}, True, True, 40),
    ],
)
def test_style_of_a_terminal(monkeypatch, folder, write, encoding, environment, color, unicode, width):
    class Terminal:
        """A stream that says to be a terminal, whose bytes are kept."""

        buffer = io.BytesIO()

        def isatty(self):
            return True

        def flush(self):
            pass

    Terminal.encoding = encoding
    write(a_json={"n": "many " * 30, "m": "a b"}, b_json={"n": "more " * 30, "m": "a  b"})
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": "70", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    main(["compare", "a.json", "b.json", "--metric", "json_similarity"])
    shown = Terminal.buffer.getvalue().decode()
    lines = re.sub(r"\x1b\[\d+m", "", shown).splitlines()
    assert ("\x1b" in shown, shown.isascii()) == (color, not unicode)
    assert {len(line) for line in lines if line.startswith("      ")} == {width}  # both texts are cut


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal of POSIX")
def test_a_real_terminal_gets_colours(write, folder):
    write(a_json={"n": 1}, b_json={"n": 2})
    environment = {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    reader, writer = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, *forked.JSONMATCH, "compare", "a.json", "b.json"],
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
