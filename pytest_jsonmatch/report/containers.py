"""Objects and arrays of one comparison for the terminal, each with its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import display_width, pad
from pytest_jsonmatch.report.figures import count, fixed_figure
from pytest_jsonmatch.report.styled import PLAIN, score_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.result.containers import ContainerResult
    from pytest_jsonmatch.report.look import Look
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["container_lines"]

_COLUMNS: Final = (("precision", 11), ("recall", 8), ("F1", 6))


def container_lines(containers: Sequence[ContainerResult], look: Look, *, most: int) -> list[StyledLine]:
    """Return a line for each object and array below the root, the worst first.

    Args:
        containers: the objects and arrays of one comparison.
        look: how the lines may look.
        most: how many are shown at most.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.report.look import Look
    >>> result = compare_json({"n": {"a": 1}}, {"n": {"a": 1, "b": 2}}, metric="pairwise_f1")
    >>> [line[0][0] for line in container_lines(result.containers, Look(), most=9)]
    ['objects and arrays  precision  recall    F1', '  n         object']
    """
    inner = sorted((each for each in containers if not each.is_root), key=lambda each: each.f1)
    if not inner:
        return []
    shown = inner[:most]
    room = max(look.width - sum(width for _, width in _COLUMNS) - 12, 8)
    names = [
        look.middle(each.short_path() + (" (only in actual)" if each.is_only_in_actual else ""), room)
        for each in shown
    ]
    column = max(8, *map(display_width, names))
    titles = "".join(pad(title, width, right=True) for title, width in _COLUMNS)
    lines = [look.title(pad("objects and arrays", column + 10) + titles)]
    for each, name in zip(shown, names, strict=True):
        line: StyledLine = [(f"  {pad(name, column)}  {each.kind:6}", PLAIN)]
        for value, (_, width) in zip((each.precision, each.recall, each.f1), _COLUMNS, strict=True):
            figure = fixed_figure(value, unicode=look.unicode)
            line.append((pad(figure, width, right=True), score_markup(value)))
        lines.append(line)
    if hidden := len(inner) - len(shown):
        lines.append(look.more(f"{count(hidden)} more"))
    return lines
