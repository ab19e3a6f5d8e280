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


GOLD = [
    {
        "id": f"receipt-{at}",
        "shop": {"name": f"Corner Bakery & Sons {at}"},
        "total": at * 1.5,
        "items": [at, 1, 2],
    }
    for at in range(12)
]
LINES = (
    "compare answer.json receipt.json",
    "compare answer.json receipt.json --metric field_match_normalized --threshold 0.1",
    "compare empty.json receipt.json",
    "compare receipt.json receipt.json",
    "evaluate answers_of_a_model.jsonl gold_records.jsonl --id id",
    "report run_of_a_model.jsonl --gate f1>=0.99",
    "diff run_of_a_model.jsonl run_of_another.jsonl",
    "diff run_of_a_model.jsonl run_of_another.jsonl -v --max-drop 0.01",
    "plan run_of_a_model.jsonl run_of_another.jsonl --drop 0.05",
    "study audit answers_of_a_model.jsonl answers_of_another.jsonl gold_records.jsonl --id id",
    "study agreement answers_of_a_model.jsonl gold_records.jsonl --id id --gate kappa>=0.9",
    "study overlap gold_records.jsonl --with answers_of_a_model.jsonl --id id",
    "study shift answers_of_a_model.jsonl gold_records.jsonl",
)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(monkeypatch, command, write, width):
    answers = [
        [
            {**each, "shop": {"name": each["shop"]["name"].upper()}, "total": each["total"] + 1, "note": None}
            if at % step == 0
            else {**each, "items": each["items"][: at % 3]}
            for at, each in enumerate(GOLD)
        ]
        for step in (2, 3)
    ]
    write(gold_records_jsonl=GOLD, answers_of_a_model_jsonl=answers[0], answers_of_another_jsonl=answers[1])
    write(receipt_json=GOLD[0], answer_json=answers[0][0], empty_json={})
    for name in ("a_model", "another"):
        files = f"answers_of_{name}.jsonl gold_records.jsonl"
        command(f"evaluate {files} --id id --keep all --json run_of_{name}.jsonl")
    monkeypatch.setenv("COLUMNS", str(width))
    for line in LINES:
        ran = command(line)
        assert (ran.err, ran.code in {0, 1}) == ("", True), line
        assert {text: len(text) for text in ran.out.splitlines() if len(text) > width} == {}, line
    (first, second, *_) = command(LINES[0]).out.splitlines()
    assert f"{first} {second}".startswith("shop.name")
    assert "(leaf_f1 0.62 < 1.00)" in f"{first} {second}"
