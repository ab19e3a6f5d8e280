"""The README's picture of a failure shows what pytest prints; `UPDATE_DOCS=1` draws it again."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "failure.svg"
COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#76e3ea"}
WIDTH, HEIGHT = 8.4, 20  # of a character, at a size of 14


def draw(lines: list[str]) -> str:
    """What a dark terminal shows, as SVG: one `text` for each line."""
    size = (round(max(len(plain(line)) for line in lines) * WIDTH + 32), len(lines) * HEIGHT + 28)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}">',
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
        '<g font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" fill="#e6edf3">',
    ]
    for number, line in enumerate(lines):
        if text := plain(line):
            place = f'x="16" y="{28 + number * HEIGHT}" textLength="{len(text) * WIDTH:.0f}"'
            drawn.append(f'<text xml:space="preserve" {place}>{spans(line)}</text>')
    return "\n".join([*drawn, "</g>", "</svg>", ""])


def spans(line: str) -> str:
    drawn, style = "", {}
    for codes, text in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line):
        for code in codes.split(";"):
            if code in {"", "0"}:
                style = {} if codes else style
            elif code in {"1", "2"}:
                style |= {"font-weight": "bold"} if code == "1" else {"fill-opacity": "0.6"}
            elif code in COLORS:
                style["fill"] = COLORS[code]
        written = "".join(f' {key}="{value}"' for key, value in style.items())
        escaped = html.escape(text, quote=False)
        drawn += f"<tspan{written}>{escaped}</tspan>" if style and text else escaped
    return drawn


def plain(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line).rstrip()


def test_the_picture_shows_what_pytest_prints(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("conftest.py", "receipts.golden.yaml"):
        text = re.search(rf"`{name}`\n```\w+\n(.*?)```", readme, re.DOTALL)[1]
        (pytester.path / name).write_text(text, encoding="utf-8")
    result = pytester.runpytest_inprocess("--color=yes", "--code-highlight=no", "-p", "no:cacheprovider")
    texts = [plain(line) for line in result.outlines]
    first = next(number for number, text in enumerate(texts) if "= FAILURES =" in text)
    shown = slice(first, texts.index("receipts.golden.yaml:7: AssertionError") + 1)
    if os.environ.get("UPDATE_DOCS"):
        PICTURE.write_text(draw(result.outlines[shown]), encoding="utf-8")
    drawn = PICTURE.read_text(encoding="utf-8")
    in_picture = re.findall(r"<text [^>]*>(.*)</text>", drawn)
    assert [html.unescape(re.sub(r"<[^>]*>", "", text)).rstrip() for text in in_picture] == [
        text for text in texts[shown] if text
    ]
