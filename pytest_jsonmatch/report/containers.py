"""Objects and arrays of one comparison for the terminal, each with its own figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import BOLD, PLAIN, StyledLine, score_markup

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.containers import ContainerResult

_TITLES: Final = ("objects and arrays", "", "precision", "recall", "F1")


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
    >>> for line in container_lines(result.containers, Look(), most=9):
    ...     print(line_text(line))
    objects and arrays          precision  recall  F1
    n                   object  1.00       0.50    0.67
    """
    inner = sorted((each for each in containers if not each.is_root), key=lambda each: each.f1)
    if not inner:
        return []
    rows: list[StyledLine] = [[(title, BOLD) for title in _TITLES]]
    for each in inner[:most]:
        path = each.short_path() + (" (only in actual)" if each.is_only_in_actual else "")
        figures = (
            (look.score(value), score_markup(value)) for value in (each.precision, each.recall, each.f1)
        )
        rows.append([(path, PLAIN), (each.kind, PLAIN), *figures])
    lines = look.rows(rows, cut=0, indent="")
    if hidden := len(inner) - len(rows) + 1:
        lines.append(look.more(f"{count(hidden)} more"))
    return lines
