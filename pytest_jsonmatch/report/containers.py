"""Objects and arrays of one comparison for the terminal, each with its own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip, clip_middle, display_width, mark, pad
from pytest_jsonmatch.report.figures import count, fixed_figure
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, score_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.result.containers import ContainerResult
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["container_lines"]

_TITLES: Final = ("precision", "recall", "F1")
_WIDTHS: Final = tuple(max(len(title), 4) + 2 for title in _TITLES)


def container_lines(
    containers: Sequence[ContainerResult],
    *,
    most: int,
    width: int = 80,
    unicode: bool = True,
    hint: str = "",
) -> list[StyledLine]:
    """Return a line for each object and array below the root, the worst first.

    Args:
        containers: the objects and arrays of one comparison.
        most: how many are shown at most.
        width: columns of the terminal.
        unicode: False keeps to ASCII.
        hint: the option that shows what is left out here; empty if there is none.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"n": {"a": 1}}, {"n": {"a": 1, "b": 2}}, metric="pairwise_f1")
    >>> [line[0][0] for line in container_lines(result.containers, most=9)]
    ['objects and arrays  precision  recall    F1', '  n         object']
    """
    inner = sorted(
        ((each.f1, place, each) for place, each in enumerate(containers) if not each.is_root),
        key=lambda entry: entry[:2],
    )
    if not inner:
        return []
    shown = [each for _, _, each in inner[:most]]
    room = max(width - sum(_WIDTHS) - 12, 8)
    names = [clip_middle(_name(each), room, unicode=unicode) for each in shown]
    column = max(8, *map(display_width, names))
    head = pad("objects and arrays", column + 10)
    titles = "".join(pad(title, room, right=True) for title, room in zip(_TITLES, _WIDTHS, strict=True))
    lines: list[StyledLine] = [[(clip(head + titles, width, unicode=unicode), BOLD)]]
    for each, name in zip(shown, names, strict=True):
        line: StyledLine = [(f"  {pad(name, column)}  {each.kind:6}", PLAIN)]
        for value, own in zip((each.precision, each.recall, each.f1), _WIDTHS, strict=True):
            line.append((pad(fixed_figure(value, unicode=unicode), own, right=True), score_markup(value)))
        lines.append(line)
    if hidden := len(inner) - len(shown):
        text = f"  {mark(unicode)} {count(hidden)} more{f' ({hint})' if hint else ''}"
        lines.append([(clip(text, width, unicode=unicode), DIM)])
    return lines


def _name(container: ContainerResult) -> str:
    path = container.short_path()
    return f"{path} (only in actual)" if container.is_only_in_actual else path
