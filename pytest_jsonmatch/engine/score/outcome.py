"""The statuses of results, and places of two documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.paths import format_path

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import PlaceKey, Side

MATCH: Final = "match"
MISMATCH: Final = "mismatch"
OMISSION: Final = "omission"
HALLUCINATION: Final = "hallucination"
SKIPPED: Final = "skipped"
PENDING: Final = "pending"
BATCH_ERROR: Final = "batch_error"

STATUSES: Final = (MATCH, MISMATCH, OMISSION, HALLUCINATION, SKIPPED, PENDING, BATCH_ERROR)
"""Every status a result can have."""
LEAFLESS: Final = frozenset({SKIPPED, PENDING, BATCH_ERROR})
"""Statuses that count in no figure."""
LEAVES: Final = {MATCH: (1, 1), MISMATCH: (1, 1), OMISSION: (1, 0), HALLUCINATION: (0, 1)}
"""How many leaves of expected and of actual a status normally counts; other statuses count none."""


@final
class Place(NamedTuple):
    """A place of both documents: one step from the place of the container around it.

    Equal places are one place, in every walk over two documents.
    """

    parent: Place | None
    """The place of the container around it; None: it is the root."""
    expected_key: PlaceKey
    """Its key or index in expected's container, or `MISSING`; None for the root."""
    actual_key: PlaceKey
    """Likewise in actual's."""
    choice: int = 0
    """The number of the accepted value that stands for the expected one here; 0: the expected one."""

    @property
    def key(self) -> PlaceKey:
        """Return its key or index in expected, else in actual."""
        return self.actual_key if self.expected_key is MISSING else self.expected_key


ROOT: Final = Place(None, None, None)


def instance_trail(place: Place | None, side: Side) -> tuple[Any, ...]:
    """Return the keys and indices that lead to a place on one side."""
    keys: list[Any] = []
    while place is not None and place.parent is not None:
        keys.append(place.expected_key if side == "expected" else place.actual_key)
        place = place.parent
    return tuple(reversed(keys))


def instance_path(place: Place | None, side: Side) -> str:
    """Return the path of a place on one side."""
    return format_path(instance_trail(place, side))
