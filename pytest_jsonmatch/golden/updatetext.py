"""What the terminal says about golden files that were rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED, line_width
from pytest_jsonmatch.report.valuetext import Space, value_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.golden.update import Change, FileUpdate
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine

_MOST_CHANGES: Final = 20


def update_lines(updates: Sequence[FileUpdate], look: Look, *, dry_run: bool) -> list[StyledLine]:
    """Return the lines about updates: how many cases of each file, and what changes in each.

    >>> from pathlib import Path
    >>> from pytest_jsonmatch.golden.update import FileUpdate
    >>> from pytest_jsonmatch.report.look import Look
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> changed = FileUpdate(Path("a"), "a.yaml", b"1", b"2", {"x": [(("n", 0), 1, 2)]})
    >>> for line in update_lines([changed], Look(), dry_run=False):
    ...     print(line_text(line))
    updated 1 case in a.yaml
      x
        n[0]  1 → 2
    """
    lines: list[StyledLine] = []
    for each in updates:
        cases = count(len(each.updated), "case")
        if each.updated and dry_run:
            lines.append([(f"would update {cases} in {each.name} (dry run: nothing was written)", PLAIN)])
        elif each.updated:
            lines.append([(f"updated {cases} in {look.printable(each.name)}", GREEN)])
        for case, changes in each.updated.items():
            lines += _case_lines(case, changes, look)
    for each in updates:
        for case, reason in each.refused.items():
            lines.append([(look.printable(f"not updated: {case}: {reason}"), RED)])
    return lines or [[("no case to update", PLAIN)]]


def _case_lines(case: str, changes: Sequence[Change], look: Look) -> list[StyledLine]:
    """Return a line or two for each place of a case that changes."""
    if not changes:
        return []
    shown, more = look.cut(changes, _MOST_CHANGES, "change", indent="    ")
    paths = [
        look.middle(format_path(trail) if trail else "the whole value", look.width // 2)
        for trail, _, _ in shown
    ]
    widest = max(map(display_width, paths))
    lines: list[StyledLine] = [[(f"  {look.printable(case)}", PLAIN)]]
    for path, (_, old, new) in zip(paths, shown, strict=True):
        values = value_lines(old, new, Space(look.less(8), 0))
        lead: StyledLine = [(f"    {pad(path, widest)}  ", BOLD)]
        if len(values) == 1 and line_width(lead) + line_width(values[0]) <= look.width:
            lines.append([*lead, *values[0]])
        else:
            lines += [lead, *([("        ", PLAIN), *line] for line in values)]
    return lines + more
