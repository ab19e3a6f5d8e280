"""Lines of text with markup, used by all renderers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from pytest_jsonmatch.report.escape import display_width, no_command

Markup: TypeAlias = "dict[str, bool]"
"""Keywords of pytest's `terminalreporter.write`: red, green, yellow, bold, light (dim) ..."""
StyledLine: TypeAlias = "list[tuple[str, Markup]]"

PLAIN: Final[Markup] = {}
BOLD: Final[Markup] = {"bold": True}
DIM: Final[Markup] = {"light": True}
RED: Final[Markup] = {"red": True}
YELLOW: Final[Markup] = {"yellow": True}
GREEN: Final[Markup] = {"green": True}

TONES: Final[Mapping[str, Markup]] = {
    "": PLAIN,
    "strong": BOLD,
    "faint": DIM,
    "good": GREEN,
    "bad": RED,
    "open": YELLOW,
}
"""The tones of cells and sentences, with their markup; a page has a class for each."""
_SGR: Final = {"bold": 1, "light": 2, "red": 31, "green": 32, "yellow": 33}


def guarded(line: StyledLine) -> StyledLine:
    """Return a line that CI services do not take for a command."""
    text = "".join(text for text, _ in line)
    shown = no_command(text)
    return line if shown == text else [(shown, line[0][1])]


def line_text(line: Iterable[tuple[str, Markup]], *, color: bool = False) -> str:
    r"""Return a styled line as text without trailing spaces, with ANSI colours if `color`.

    >>> line_text([("score ", {}), ("0.5", {"red": True})]), line_text([("0.5", {"red": True})], color=True)
    ('score 0.5', '\x1b[31m0.5\x1b[0m')
    """
    line = guarded(list(line))
    if not color:
        return "".join(text for text, _ in line).rstrip()
    parts: list[str] = []
    for text, markup in line:
        codes = ";".join(str(_SGR[name]) for name, on in markup.items() if on)
        parts.append(f"\x1b[{codes}m{text}\x1b[0m" if codes else text)
    return "".join(parts).rstrip()


def line_width(line: Iterable[tuple[str, Markup]]) -> int:
    """Return the number of columns of a styled line."""
    return sum(display_width(text) for text, _ in line)
