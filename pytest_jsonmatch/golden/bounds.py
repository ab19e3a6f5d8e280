"""The bounds of golden files: the size of their YAML, and the folders of the files that cases name."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.running import CaseFiles

# Some 300,000 lines, read in seconds and in a few hundred megabytes of memory: more than people write by
# hand, and less than what would exhaust a CI machine.
DEFAULT_SIZE: Final = 16 * 1024**2
UNLIMITED: Final = sys.maxsize
"""For files that were read before, within the limit."""


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a session's golden files.

    Args:
        size: the limit of a YAML file in bytes, with its aliases written out.
        folders: the real paths of the folders in or below which cases may name files, besides the folder of
            the golden file; None for anywhere.
    """

    size: int = DEFAULT_SIZE
    folders: tuple[str, ...] | None = None

    @classmethod
    def of(cls, files: CaseFiles) -> Bounds:
        """Return the configured bounds."""
        return cls(files.yaml_limit or DEFAULT_SIZE, files.folders)

    def outside(self, path: str, home: str) -> str | None:
        """Return the real path of a file, with symbolic links resolved, if it is out of bounds; else None.

        Args:
            path: the file.
            home: the folder of the golden file that names it.
        """
        if self.folders is None:
            return None
        try:
            real = os.path.realpath(path)
        except ValueError:  # not a path: reading the file will report that
            return None
        return None if _is_below(real, *self.folders, os.path.realpath(home)) else real

    def leads_out(self, path: Path) -> str | None:
        """Return the real path of a file if links lead out of bounds to it; else None."""
        real = os.path.realpath(path)
        if self.folders is None or _is_below(real, *self.folders):
            return None
        return real if _is_below(os.path.abspath(path), *self.folders) else None  # noqa: PTH100

    def read(self, path: Path) -> bytes:
        """Return the content of a YAML file; if it is too large, only one byte more than the limit."""
        with path.open("rb") as file:
            return file.read(self.size + 1)


def _is_below(path: str, *folders: str) -> bool:
    return any(map(PurePath(path).is_relative_to, folders))


def size_text(size: int) -> str:
    """Return a number of bytes as text for people.

    >>> size_text(16 * 1024**2), size_text(1536), size_text(100)
    ('16 MiB', '1.5 KiB', '100 bytes')
    """
    for unit, bytes_of_it in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if size >= bytes_of_it:
            return f"{size / bytes_of_it:.4g} {unit}"
    return f"{size} bytes"
