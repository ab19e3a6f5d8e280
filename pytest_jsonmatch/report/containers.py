"""Objects and arrays of one comparison for the terminal, each with its own figures."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.report.styled import BOLD, score_markup
from pytest_jsonmatch.report.table import Name, draw_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.result.containers import ContainerResult
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine

_COLUMNS: Final = (
    ("precision", attrgetter("precision")),
    ("recall", attrgetter("recall")),
    ("F1", attrgetter("f1")),
)
_BESIDE: Final = 37
"""How many columns of a line are not the path's."""


def container_lines(containers: Sequence[ContainerResult], look: Look, *, most: int) -> list[StyledLine]:
    """Return a line for each object and array below the root, the worst first.

    Args:
        containers: the objects and arrays of one comparison.
        look: how the lines may look.
        most: how many are shown at most.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.report.look import Look
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> result = compare_json({"n": {"a": 1}}, {"n": {"a": 1, "b": 2}}, metric="pairwise_f1")
    >>> [line_text(line) for line in container_lines(result.containers, Look(), most=9)]
    ['objects and arrays  precision  recall    F1', '  n         object       1.00    0.50  0.67']
    """
    inner = sorted((each for each in containers if not each.is_root), key=lambda each: each.f1)
    if not inner:
        return []
    shown = inner[:most]
    room = max(look.width - _BESIDE, 8)
    paths = [
        look.middle(each.short_path() + (" (only in actual)" if each.is_only_in_actual else ""), room)
        for each in shown
    ]
    widest = max(8, *map(display_width, paths))
    names = [Name("objects and arrays", BOLD)]
    names += [
        Name(f"{pad(path, widest)}  {each.kind:6}", indent=2) for path, each in zip(paths, shown, strict=True)
    ]
    columns: list[StyledLine] = []
    for title, value in _COLUMNS:
        values = map(value, shown)
        cells = [(look.score(each), score_markup(each)) for each in values]
        columns.append([(title, BOLD), *cells])
    lines = draw_table(names, columns, look).lines
    if hidden := len(inner) - len(shown):
        lines.append(look.more(f"{count(hidden)} more"))
    return lines
