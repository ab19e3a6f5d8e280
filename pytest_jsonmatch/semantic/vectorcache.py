"""Vectors on disk: one SQLite file for each model and revision, which several processes may use at once."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["VARIABLE", "EmbeddingCacheWarning", "VectorCache", "cache_folder", "use_cache_folder"]

VARIABLE: Final = "JSONMATCH_EMBEDDING_CACHE"
"""The environment variable that names the folder; it goes before every other setting."""

# Raised when what is stored changes its form; part of the file's name.
_FORM: Final = "1"
_AT_A_TIME: Final = 500
_WAIT_SECONDS: Final = 30.0
_CHECK: Final = 4

# The folder that a pytest session has set; a list, so that there is one place for it.
_folder: Final[list[Path | None]] = [None]


class EmbeddingCacheWarning(JsonMatchWarning):
    """A file of the embedding cache can't be used, and why; the vectors are made anew."""


def cache_folder() -> Path | None:
    """Return the folder in which vectors are kept; None if they are not."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else _folder[0]


def use_cache_folder(folder: str, below: Path) -> Callable[[], None]:
    """Keep vectors in a folder from now on; return what puts the setting back that was there before.

    Args:
        folder: its path; `~` is the user's home.
        below: the folder that a relative path begins at.

    >>> undo = use_cache_folder("vectors", below=Path("suite"))
    >>> undo()
    """
    before = _folder[0]
    _folder[0] = below / Path(folder).expanduser()

    def undo() -> None:
        _folder[0] = before

    return undo


@final
class VectorCache:
    """The vectors of one model that are on disk. It never raises: what can't be read is encoded again.

    Args:
        folder: made when the first vector is written.
        model: the encoder's name, for people who look at the folder.
        revision: what tells its vectors from those of others.
    """

    __slots__ = ("path",)

    def __init__(self, folder: Path, model: str, revision: str) -> None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/\\]", model)[-1]).strip("-.")[-40:]
        digest = hashlib.sha256(f"{_FORM}\0{model}\0{revision}".encode("utf-8", "replace")).hexdigest()
        self.path = folder / f"{name or 'model'}-{digest[:16]}.sqlite"

    def read(self, texts: Sequence[str]) -> dict[str, NDArray[np.int32]]:
        """Return the vectors that are there of strings."""
        if not self.path.exists():
            return {}
        keys = {_key(text): text for text in texts}
        found: dict[str, NDArray[np.int32]] = {}

        def select(connection: sqlite3.Connection) -> None:
            wanted = list(keys)
            for start in range(0, len(wanted), _AT_A_TIME):
                some = wanted[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)  # noqa: S608 - question marks
                for key, stored in rows:
                    vector = _unpacked(stored)
                    if vector is not None:
                        found[keys[key]] = vector

        self._work(select)
        return found

    def write(self, vectors: Mapping[str, NDArray[np.int32]]) -> None:
        """Put vectors there."""
        if not vectors:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _warn(f"the folder {self.path.parent} can't be made ({error}); vectors are not kept")
            return
        rows = [(_key(text), _packed(vector)) for text, vector in vectors.items()]

        def insert(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        if not self._work(insert):
            # (What was there was no cache file, and is gone now.)
            self._work(insert)

    def _work(self, do: Callable[[sqlite3.Connection], None]) -> bool:
        """Do something with the file; False if it was damaged, and was removed."""
        import sqlite3

        try:
            with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as connection, connection:
                connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
                do(connection)
        except sqlite3.OperationalError as error:
            _warn(f"{self.path} can't be used ({error}); vectors are made anew")
        except sqlite3.DatabaseError as error:
            for name in (self.path, Path(f"{self.path}-journal")):
                with suppress(OSError):
                    name.unlink()
            _warn(f"{self.path} is damaged ({error}); it is written anew")
            return False
        return True


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _packed(vector: NDArray[np.int32]) -> bytes:
    data = vector.astype("<i4").tobytes()
    return zlib.crc32(data).to_bytes(_CHECK, "little") + data


def _unpacked(stored: object) -> NDArray[np.int32] | None:
    """Return a vector; None for what is damaged."""
    import numpy as np

    if not isinstance(stored, bytes) or len(stored) <= _CHECK or len(stored) % 4:
        return None
    data = stored[_CHECK:]
    if zlib.crc32(data).to_bytes(_CHECK, "little") != stored[:_CHECK]:
        return None
    return np.frombuffer(data, dtype="<i4").astype(np.int32)


def _warn(message: str) -> None:
    warnings.warn(f"embedding cache: {message}", EmbeddingCacheWarning, stacklevel=2)
