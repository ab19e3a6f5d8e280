"""What people say of pairs of values, from JSON Lines: whether the two mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.cli.arguments import CommandError
from pytest_jsonmatch.cli.inputs import name_of, open_input, values_of_lines
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import nearest
from pytest_jsonmatch.engine.value.text import render

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_NEEDED: Final = ("expected", "actual", "label")
_TEXTS: Final = ("path", "description", "criterion")
_SHOWN: Final = 60


@final
@dataclass(frozen=True, slots=True)
class Label:
    """A pair of values, and what people say of it.

    >>> Label(1, "Rome", "Roma", same=True).settled is None
    True
    >>> Label(1, "Rome", "Rome", same=True).settled, Label(2, None, "Rome", same=False).settled
    (True, False)
    """

    line: int
    """Where it stands in the file."""
    expected: JsonValue
    actual: JsonValue
    same: bool
    """What people say."""
    path: str = ""
    description: str | None = None
    criterion: str | None = None
    id: str | None = None

    @property
    def settled(self) -> bool | None:
        """What scoring decides without a judge; None if the judge is asked."""
        if json_equal(self.expected, self.actual):
            return True
        return False if self.expected is None or self.actual is None else None

    @property
    def question(self) -> tuple[str, ...]:
        """What identifies the question: a judge is asked once about labels that share it."""
        values = (render(self.expected), render(self.actual))
        return (*values, self.path, repr(self.description), repr(self.criterion))


def read_labels(written: str) -> list[Label]:
    """Return the labels of a file of JSON Lines, or of standard input for "-".

    Raises:
        OSError: it can't be read.
        CommandError: a line is not a label, or the file has none; the message says where.
    """
    labels = []
    name = name_of(written)
    with open_input(written) as stream:
        for number, found in values_of_lines(written, stream):
            labels.append(_label(found, number, f"{name}:{number}"))
    if not labels:
        raise CommandError(
            f"{name} has no labels: a line is an object with expected, actual and label (true or false)"
        )
    return labels


def _label(found: Any, line: int, where: str) -> Label:
    if type(found) is not dict:
        raise CommandError(
            f"{where}: a label is an object with expected, actual and label, not {_shown(found)}"
        )
    for name in _NEEDED:
        if name not in found:
            twin = nearest(name, set(found).difference(_NEEDED, _TEXTS, ["id"]))
            hint = f"; is {twin!r} meant to be it?" if twin is not None else ""
            raise CommandError(f"{where}: {name!r} is missing{hint}")
    label = found["label"]
    # (1 and 1.0 are labels, as tables and notebooks write them.)
    if type(label) is not bool and (type(label) not in {int, float} or label not in {0, 1}):
        raise CommandError(
            f"{where}: 'label' is true if the two values mean the same, else false, not {_shown(label)}"
        )
    for name in _TEXTS:
        if type(found.get(name)) not in {str, type(None)}:
            raise CommandError(f"{where}: {name!r} is a text, not {_shown(found[name])}")
    identifier = found.get("id")
    if type(identifier) not in {str, int, type(None)}:
        raise CommandError(f"{where}: 'id' is a text or an integer, not {_shown(identifier)}")
    return Label(
        line,
        found["expected"],
        found["actual"],
        bool(label),
        found.get("path") or "",
        found.get("description"),
        found.get("criterion"),
        None if identifier is None else str(identifier),
    )


def _shown(value: JsonValue) -> str:
    return render(value, _SHOWN)
