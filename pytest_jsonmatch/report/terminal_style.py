"""The style of lines for a terminal, and functions that lay them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import (
    clip,
    clip_middle,
    display_width,
    fold,
    mark,
    pad,
    printable,
)
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, Markup, StyledLine

T = TypeVar("T")

_LONGEST_TEXT: Final = 500
_MIN_TEXT: Final = 16
"""Texts are not cut to fewer columns than this."""
_GAP: Final = 2
_LAYOUTS: Final = ((_GAP, _LONGEST_TEXT), (1, _LONGEST_TEXT), (1, _MIN_TEXT))
"""The gap between columns and the width of texts; the next pair is tried if columns have to be left out."""


@final
@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """The style and the amount of text for a terminal.

    Args:
        color: whether ANSI colours are used.
        unicode: whether characters beyond ASCII are allowed; if not, they become escapes.
        width: the number of columns of the terminal.
        mode: "auto" shows the lowest-scoring rows, "failed" only what is below 1 or a limit, "all" everything
            uncut, "none" nothing.
        hint: the option that shows what is left out.
        node_id: returns a node id in the form that pytest accepts in the folder in which it was started.
    """

    color: bool = False
    unicode: bool = True
    width: int = 80
    mode: str = "auto"
    hint: str = "-v"
    node_id: Callable[[str], str] = str

    @property
    def mark(self) -> str:
        """The ellipsis."""
        return mark(self.unicode)

    @property
    def arrow(self) -> str:
        """The arrow between two values, such as expected and actual."""
        return "→" if self.unicode else "->"

    def less(self, columns: int) -> TerminalStyle:
        """Return a style for lines that are this many columns narrower."""
        return replace(self, width=self.width - columns)

    def printable(self, text: str) -> str:
        """Return text with escapes for the characters that can't be shown."""
        return printable(text, ascii_only=not self.unicode)

    def clip(self, text: str, width: int, head: float = 1.0) -> str:
        """Return text in at most `width` columns, cut at its end; at its start if `head` is 0."""
        return clip(text, width, unicode=self.unicode, head=head)

    def middle(self, text: str, width: int) -> str:
        """Return text in at most `width` columns, cut in its middle."""
        return clip_middle(text, width, unicode=self.unicode)

    def name(self, node_id: str, width: int) -> str:
        """Return a node id in at most `width` columns; its file is cut first, at its start.

        >>> TerminalStyle().name("invoices.golden.yaml::bread", 17)
        '…lden.yaml::bread'
        """
        path, separator, case = self.printable(node_id).partition("::")
        if not separator or display_width(node_id) <= width:
            return self.middle(node_id, width)
        room = width - display_width(f"{separator}{case}")
        if room < len(self.mark):
            return self.middle(case, width)
        return f"{self.clip(path, room, head=0)}{separator}{case}"

    def score(self, value: float | None, min_decimals: int = 2) -> str:
        """Return a score with at least `min_decimals` decimals, and as many as `score_text` needs."""
        return score_text(value, min_decimals, unicode=self.unicode)

    def line(self, text: str, markup: Markup = PLAIN) -> StyledLine:
        """Return a line of text, cut to the width."""
        return [(self.clip(text, self.width), markup)]

    def title(self, text: str) -> StyledLine:
        """Return the title of the lines below it."""
        return self.line(text, BOLD)

    def more(self, what: str, indent: str = "  ") -> StyledLine:
        """Return a line on what is left out, with a hint on how to see it."""
        hint = f" ({self.hint})" if self.hint else ""
        return self.line(f"{indent}{self.mark} {what}{hint}", DIM)

    def cut(
        self, items: Sequence[T], number: int, noun: str = "", indent: str = "  "
    ) -> tuple[Sequence[T], list[StyledLine]]:
        """Return the first items of a list, and a line that counts the hidden ones, if there are any."""
        shown = items[: None if self.mode == "all" else number]
        hidden = len(items) - len(shown)
        what = count(hidden, f"more {noun}") if noun else f"{count(hidden)} more"
        return shown, [self.more(what, indent)] if hidden else []

    def folded(self, text: str, rows: int, markup: Markup = PLAIN, indent: str = "") -> list[StyledLine]:
        """Return text folded into at most `rows` lines."""
        room = max(self.width - len(indent), 20)
        return [[(indent + line, markup)] for line in fold(text, room, rows, unicode=self.unicode)]

    def fitting(self, line: StyledLine) -> StyledLine:
        """Return a line, cut at its end if it is too long."""
        room = self.width
        parts: StyledLine = []
        for text, markup in line:
            parts.append((self.clip(text, room), markup))
            room -= display_width(parts[-1][0])
            if room <= 0:
                break
        return parts


def can_write(encoding: str) -> bool:
    """Return whether an encoding has the arrows and lines of tables.

    >>> can_write("utf-8"), can_write("ascii")
    (True, False)
    """
    try:
        "…–→█─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def joined(blocks: Iterable[Sequence[StyledLine]]) -> list[StyledLine]:
    """Return the lines of all blocks, with an empty line between two blocks that have lines.

    >>> joined([[[("a", {})]], [], [[("b", {})]]])
    [[('a', {})], [], [('b', {})]]
    """
    lines: list[StyledLine] = []
    for block in filter(None, blocks):
        lines += [[], *block] if lines else block
    return lines


# -- tables ------------------------------------------------------------------------------------------------


def table_lines(
    rows: Sequence[StyledLine],
    style: TerminalStyle,
    *,
    texts: Mapping[int, float],
    spare: Sequence[int] = (),
    node_ids: bool = False,
    indent: str = "",
) -> list[StyledLine]:
    """Return rows as lines, with their cells aligned in columns.

    If the width is too small, gaps are reduced, then columns in `spare` are left out, then the longest texts
    are cut.

    Args:
        rows: the cells of each line, the same number in every line.
        style: the style of the lines.
        texts: the columns of text, which are left-aligned and may be cut, with the `head` of `clip` for each.
            All other columns hold numbers, which are right-aligned.
        spare: the columns that may be left out, in the order in which they are.
        node_ids: whether the first column has node ids, whose files are cut first.
        indent: the text before each line.
    """
    columns = {at: list(cells) for at, cells in enumerate(zip(*rows, strict=True))}
    if not columns:
        return []
    for at, head in texts.items():
        columns[at] = [(style.clip(text, _LONGEST_TEXT, head), markup) for text, markup in columns[at]]
    full_widths = {at: max(display_width(text) for text, _ in cells) for at, cells in columns.items()}
    widths, gap = full_widths, _GAP

    def lacking(longest: int = _LONGEST_TEXT) -> int:
        needed = (min(width, longest) if at in texts else width for at, width in widths.items())
        return len(indent) + sum(needed) + gap * (len(widths) - 1) - style.width

    for gap, longest in _LAYOUTS if spare else _LAYOUTS[:1]:  # noqa: B007 - `lacking` reads the gap
        widths = dict(full_widths)
        for at in spare:
            if lacking(longest) > 0:
                del widths[at]
        if len(widths) == len(full_widths):
            break
    for _ in range(lacking()):
        widest = max(texts.keys() & widths, key=widths.__getitem__)
        widths[widest] = max(widths[widest] - 1, _MIN_TEXT)
    lines = []
    for row in zip(*(columns[at] for at in widths), strict=True):
        line: StyledLine = []
        for (at, width), (text, markup) in zip(widths.items(), row, strict=True):
            if at in texts:
                is_name = node_ids and not at
                text = style.name(text, width) if is_name else style.clip(text, width, texts[at])  # noqa: PLW2901
            line.append(((" " * gap if line else indent) + pad(text, width, right=at not in texts), markup))
        # Empty cells at the end must not leave trailing white space.
        while len(line) > 1 and not line[-1][0].strip():
            line.pop()
        line[-1] = line[-1][0].rstrip(), line[-1][1]
        lines.append(style.fitting(line))
    return lines
