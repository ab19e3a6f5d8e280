"""What people say of pairs of values, from JSON Lines: whether the two mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import name_of, open_input, values_of_lines
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.semantic.judging import JudgeItem

_NEEDED: Final = ("expected", "actual", "label")
_TEXTS: Final = ("path", "description", "criterion")
_SAME: Final = "true if the two values mean the same, else false"
_TYPES: Final[Mapping[str, tuple[str, frozenset[type]]]] = {
    # (1 and 1.0 are labels, as tables and notebooks write them.)
    "label": (_SAME, frozenset({bool, int, float})),
    **dict.fromkeys(_TEXTS, ("a text", frozenset({str, type(None)}))),
    "id": ("a text or an integer", frozenset({str, int, type(None)})),
}
"""What members can be, in words and as types; expected and actual can be anything."""
_SHOWN: Final = 60


@final
class Label(NamedTuple):
    """A pair of values, as a judge is asked about it, and what people say of it.

    >>> Label(JudgeItem("1", "", "Rome", "Roma"), same=True).settled is None
    True
    >>> [Label(JudgeItem("1", "", value, "Rome"), same=True).settled for value in ("Rome", None)]
    [True, False]
    """

    item: JudgeItem
    """Its id is the number of the line."""
    same: bool
    """What people say."""
    place: str = ""
    """Where it stands, as FILE:LINE."""
    id: str | None = None

    @property
    def where(self) -> str:
        """Where it stands, with its id."""
        return self.place if self.id is None else f"{self.place} ({self.id})"

    @property
    def settled(self) -> bool | None:
        """What scoring decides without a judge; None if the judge is asked."""
        if json_equal(self.item.expected, self.item.actual):
            return True
        return False if self.item.expected is None or self.item.actual is None else None


def read_labels(written: str) -> list[Label]:
    """Return the labels of a file of JSON Lines, or of standard input for "-".

    Raises:
        OSError: it can't be read.
        CommandError: a line is not a label, or the file has none; the message says where.
    """
    name = name_of(written)
    with open_input(written) as stream:
        labels = [
            _label(found, str(line), f"{name}:{line}") for line, found in values_of_lines(written, stream)
        ]
    if not labels:
        raise CommandError(
            f"{name} has no labels: a line is an object with expected, actual and label (true or false)"
        )
    return labels


def _label(found: Any, line: str, place: str) -> Label:
    if type(found) is not dict:
        shown = render(found, _SHOWN)
        raise CommandError(f"{place}: a label is an object with expected, actual and label, not {shown}")
    for name in _NEEDED:
        if name not in found:
            twin = nearest(name, set(found).difference(_NEEDED, _TEXTS, ["id"]))
            hint = f"; is {twin!r} meant to be it?" if twin is not None else ""
            raise CommandError(f"{place}: {name!r} is missing{hint}")
    for name, (told, types) in _TYPES.items():
        value = found.get(name)
        if type(value) not in types or (name == "label" and value not in {0, 1}):
            raise CommandError(f"{place}: {name!r} is {told}, not {render(value, _SHOWN)}")
    words = found.get("description"), found.get("criterion")
    item = JudgeItem(line, found.get("path") or "", found["expected"], found["actual"], *words)
    identifier = found.get("id")
    return Label(item, bool(found["label"]), place, None if identifier is None else str(identifier))
