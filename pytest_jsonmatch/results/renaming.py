"""Node ids of the same cases under different rootdirs of pytest: they differ by a folder at their start."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Collection


@final
class Renaming(NamedTuple):
    """A folder that ids of one rootdir lack or have under another: one of the two members is empty."""

    removed: str
    added: str

    def apply(self, nodeid: str) -> str:
        """Return the id under the other rootdir; an id without the removed folder stays as it is."""
        return self.added + nodeid.removeprefix(self.removed) if nodeid.startswith(self.removed) else nodeid

    def undo(self, nodeid: str) -> str:
        """Return the id that `apply` turns into this one."""
        return Renaming(self.added, self.removed).apply(nodeid)

    def __str__(self) -> str:
        """Return what is done with the ids, in words.

        >>> print(Renaming("", "mini/"))
        with 'mini/' before each id
        """
        return f"with {self.added!r} before each id" if self.added else f"without {self.removed!r} in each id"


def find_renaming(ids: Collection[str], targets: Collection[str]) -> Renaming | None:
    """Return the folder to add or remove so that ids become target ids; None if there is none.

    All ids must become target ids, or all target ids must come from an id. There is none, too, if an id is a
    target id already, or if several folders are possible.

    >>> find_renaming({"c.yaml::a", "c.yaml::b"}, {"mini/c.yaml::a", "mini/c.yaml::b", "mini/c.yaml::c"})
    Renaming(removed='', added='mini/')
    >>> find_renaming({"mini/c.yaml::a", "mini/c.yaml::b"}, {"c.yaml::a"})
    Renaming(removed='mini/', added='')
    >>> find_renaming({"c.yaml::a"}, {"x/c.yaml::a", "y/c.yaml::a"})
    """
    known, unique = set(ids), set(targets)
    if not known or not unique or not known.isdisjoint(unique):
        return None
    by_name: dict[str, list[str]] = {}
    for nodeid in unique:
        by_name.setdefault(_name(nodeid), []).append(nodeid)
    found: dict[Renaming, int] = {}
    for nodeid in known:
        for other in by_name.get(_name(nodeid), ()):
            short, long = sorted((nodeid, other), key=len)
            folder = long.removesuffix(short)
            if folder.endswith("/") and long.endswith(short):
                renaming = Renaming("", folder) if long == other else Renaming(folder, "")
                found[renaming] = found.get(renaming, 0) + 1
    complete = [renaming for renaming, number in found.items() if number in {len(known), len(unique)}]
    return complete[0] if len(complete) == 1 else None


def _name(nodeid: str) -> str:
    """Return a node id without the folder of its file."""
    path, separator, rest = nodeid.partition("::")
    return path.rpartition("/")[2] + separator + rest
