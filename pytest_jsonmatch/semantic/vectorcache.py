"""Vectors on disk: one SQLite file for each model and revision, which several processes may use at once."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.engine.value.errors import JsonMatchWarning

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

VARIABLE: Final = "JSONMATCH_EMBEDDING_CACHE"
"""The environment variable that names the folder; it overrides every other setting."""

# The version of the stored form; part of the file's name.
_FORM: Final = "2"
_WAIT_SECONDS: Final = 30.0
_CREATE: Final = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
_SELECT: Final = "SELECT vector FROM vectors WHERE key = ?"
_INSERT: Final = "INSERT OR REPLACE INTO vectors VALUES (?, ?)"

# The folder that a pytest session has set; a list, so that functions can change it.
_folder: Final[list[Path | None]] = [None]


class EmbeddingCacheWarning(JsonMatchWarning):
    """A file of the embedding cache can't be used; the vectors are computed again."""


def cache_folder() -> Path | None:
    """Return the folder in which vectors are kept; None if they are not."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else _folder[0]


def use_cache_folder(folder: str, below: Path) -> Callable[[], None]:
    """Keep vectors in a folder from now on; return a function that restores the previous setting.

    Args:
        folder: its path; `~` is the user's home.
        below: the folder that a relative path starts from.

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
    """The vectors of one model on disk. It never raises: vectors that can't be read are computed again.

    Args:
        folder: made when the first vector is written.
        model: the encoder's name, for people who look at the folder.
        revision: the model's; vectors of different revisions are kept apart.
    """

    __slots__ = ("path",)

    def __init__(self, folder: Path, model: str, revision: str) -> None:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/\\]", model)[-1]).strip("-.")[-40:]
        digest = hashlib.sha256(f"{_FORM}\0{model}\0{revision}".encode("utf-8", "replace")).hexdigest()
        self.path = folder / f"{name or 'model'}-{digest[:16]}.sqlite"

    def read(self, texts: Sequence[str]) -> dict[str, NDArray[np.int32]]:
        """Return the stored vectors of strings."""
        import numpy as np

        found: dict[str, NDArray[np.int32]] = {}
        if self.path.exists():
            with self._warned(), self._open() as connection:
                for text in texts:
                    for (stored,) in connection.execute(_SELECT, [_key(text)]):
                        found[text] = np.frombuffer(stored, dtype="<i4").astype(np.int32)
        return found

    def write(self, vectors: Mapping[str, NDArray[np.int32]]) -> None:
        """Store vectors."""
        rows = [(_key(text), vector.astype("<i4").tobytes()) for text, vector in vectors.items()]
        if rows:
            with self._warned(), self._open() as connection:
                connection.executemany(_INSERT, rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction."""
        import sqlite3

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as connection, connection:
            connection.execute(_CREATE)
            yield connection

    @contextmanager
    def _warned(self) -> Iterator[None]:
        """Turn errors into warnings; a damaged file is removed."""
        import sqlite3

        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            _warn(f"{self.path} can't be used ({error}); vectors are computed again")
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:  # or a row is not a vector
            for name in (self.path, Path(f"{self.path}-journal")):
                with suppress(OSError):
                    name.unlink()
            _warn(f"{self.path} is damaged ({error}); it is replaced")


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _warn(message: str) -> None:
    warnings.warn(f"embedding cache: {message}", EmbeddingCacheWarning, stacklevel=2)
