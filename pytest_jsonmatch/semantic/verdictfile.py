"""The file of verdicts: JSON Lines, one verdict a line, sorted, to be committed, read in a diff and merged.

Lines are appended in one write, under a lock that all processes share. Who has appended any puts the file in
order at the end; until then it is a valid file, only its last lines are not where they belong.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import warnings
import weakref
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonParseError, did_you_mean
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.results.atomic import write_file
from pytest_jsonmatch.semantic.judging import JudgeItem, Verdict
from pytest_jsonmatch.semantic.prompts import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["Key", "VerdictFile", "key_of"]

_LONGEST_VALUE: Final = 1_000_000
_REQUIRED: Final = ("path", "expected", "actual", "equivalent", "model", "prompt")
_OPTIONAL: Final = ("reason", "description", "criterion")

_Who: TypeAlias = "tuple[str, str]"
"""A model, and the version of what it was told."""


@final
class Key(NamedTuple):
    """What one question is, its values as JSON text with sorted keys."""

    path: str
    expected: str
    actual: str
    description: str | None
    criterion: str | None


def key_of(item: JudgeItem) -> Key:
    """Return what a verdict on an item is kept by, beside the model and its prompt.

    Raises:
        JudgeError: (of the kind `invalid`) a value is too long, or no JSON.

    >>> key_of(JudgeItem("1", "address", {"zip": 1, "city": "Rome"}, None)).expected
    '{"city": "Rome", "zip": 1}'
    """
    expected, actual = (value_text(_sorted(value), _LONGEST_VALUE) for value in (item.expected, item.actual))
    return Key(item.path, expected, actual, item.description, item.criterion)


def _sorted(value: JsonValue) -> JsonValue:
    """Return a value with the keys of its objects in order; one that is nested too deep stays as it is."""
    with suppress(RecursionError):
        return _in_order(value)
    return value


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value


@final
class VerdictFile:
    """What a file of verdicts holds, as far as it was read; it is read on where others have appended.

    Args:
        path: the file; it need not be there.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        """As it was given: what messages say."""
        self._place = self.path.absolute()  # tests change the folder that they run in
        self._found: dict[Key, dict[_Who, tuple[Verdict, int]]] = {}
        self._read = 0
        """How many bytes of the file were read."""
        self._lines = 0
        self._node: object = None
        self._lock = RLock()
        self._untidy: list[bool] = []
        # Also when nobody has closed it: as the interpreter ends.
        self._end = weakref.finalize(self, _tidy, self._place, self._untidy, wait=False)

    def verdict(self, key: Key, model: str, prompt: str) -> Verdict | None:
        """Return a model's verdict on a question."""
        with self._lock:
            found = self._found.get(key, {}).get((model, prompt))
            return None if found is None else found[0]

    def verdicts(self, key: Key, model: str | None, prompt: str | None) -> Mapping[_Who, Verdict]:
        """Return all verdicts on a question, by model and prompt; None is any."""
        with self._lock:
            return {
                who: verdict
                for who, (verdict, _) in self._found.get(key, {}).items()
                if model in (None, who[0]) and prompt in (None, who[1])
            }

    def refresh(self, *, required: bool = False) -> None:
        """Read what is new in the file.

        Raises:
            ConfigurationError: it can't be read; `required`, and it is not there; or a line is no verdict.
        """
        with self._lock, _locked(self._place, needed=False):
            self._refresh(required=required)

    def _refresh(self, *, required: bool = False) -> None:
        try:
            with self._place.open("rb") as file:
                status = os.fstat(file.fileno())
                node = (status.st_dev, status.st_ino)
                if node != self._node or status.st_size < self._read:
                    self._found, self._read, self._lines, self._node = {}, 0, 0, node
                if status.st_size == self._read:
                    return
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            if required:
                raise ConfigurationError(f"the cache of verdicts {self.path} is not there") from None
            self._found, self._read, self._lines, self._node = {}, 0, 0, None
            return
        except OSError as error:
            raise ConfigurationError(f"the cache of verdicts can't be read: {error}") from None
        for line in data.split(b"\n")[: -1 if data.endswith(b"\n") else None]:
            self._lines += 1
            if line.strip():
                self._take(line)
        self._read += len(data)
        if not data.endswith(b"\n"):
            self._node = None  # its last line may go on: the file is read again as a whole

    def _take(self, line: bytes) -> None:
        try:
            key, who, verdict = _parsed(line)
        except ValueError as error:
            self._node = None  # to be read again, when somebody has mended it
            raise ConfigurationError(
                f"{self.path}:{self._lines}: {error}; delete the line, and the pair is asked about again"
            ) from None
        known = self._found.setdefault(key, {})
        if who in known and known[who][0].equivalent != verdict.equivalent:
            self._node = None
            raise ConfigurationError(
                f"{self.path}:{self._lines}: another verdict on the same pair is in line {known[who][1]}; "
                "delete one of the two"
            )
        known.setdefault(who, (verdict, self._lines))

    def check_writable(self) -> None:
        """Raise ConfigurationError if nothing can be appended: before anybody is asked, and paid."""
        try:
            if not self._place.exists():
                self._place.parent.mkdir(parents=True, exist_ok=True)
                if os.access(self._place.parent, os.W_OK):
                    return
                raise PermissionError(13, "Permission denied", str(self._place.parent))
            os.close(os.open(self._place, os.O_WRONLY | os.O_APPEND))
        except OSError as error:
            raise ConfigurationError(
                f"the cache of verdicts can't be written: {error}; name another, or use the mode 'cached'"
            ) from None

    def add(self, verdicts: Mapping[Key, Verdict], model: str, prompt: str) -> dict[Key, Verdict]:
        """Append verdicts, but for those that another process has appended meanwhile.

        Returns:
            What now stands in the file for each of them. If it can't be written that is a warning, and the
            verdicts stand: they were paid for.
        """
        if not verdicts:
            return {}
        with self._lock:
            try:
                with _locked(self._place, needed=True):
                    self._refresh()
                    self._append(
                        [
                            _line(key, verdict, model, prompt)
                            for key, verdict in verdicts.items()
                            if self.verdict(key, model, prompt) is None
                        ]
                    )
                    self._refresh()
            except (OSError, ConfigurationError) as error:
                warnings.warn(f"verdicts of {model!r} were not kept: {error}", RuntimeWarning, stacklevel=4)
                return dict(verdicts)
            return {key: self.verdict(key, model, prompt) or verdict for key, verdict in verdicts.items()}

    def _append(self, lines: list[str]) -> None:
        if not lines:
            return
        data = "".join(f"{line}\n" for line in lines).encode()
        # Without a buffer, which would be written again as the file is closed.
        with self._place.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    data = b"\n" + data
            try:
                while data:
                    data = data[file.write(data) :]
            except BaseException:
                # No half-written line: a full disk, an interrupt.
                with suppress(OSError):
                    file.truncate(size)
                raise
        self._untidy.append(True)

    def close(self) -> None:
        """Put the lines in order, if any were appended here."""
        with self._lock:
            _tidy(self._place, self._untidy)


def _tidy(path: Path, untidy: list[bool], *, wait: bool = True) -> None:
    """Put lines in order; without waiting where garbage is collected, maybe by one who holds the lock.

    Who holds it then has appended lines, or puts them in order, and ours are among them.
    """
    if not untidy:
        return
    untidy.clear()
    # What was appended is safe; a file that can't be replaced keeps its order.
    with suppress(OSError), _locked(path, needed=True, wait=wait):
        data = path.read_bytes()
        lines = {line.rstrip(b"\r") for line in data.split(b"\n")} - {b""}
        tidied = b"".join(line + b"\n" for line in sorted(lines))
        if tidied != data:
            write_file(path, tidied)


def _line(key: Key, verdict: Verdict, model: str, prompt: str) -> str:
    """Return a verdict as a line; such lines sort by path, expected and actual."""
    members = {
        "path": _text(key.path),
        "expected": key.expected,
        "actual": key.actual,
        "equivalent": "true" if verdict.equivalent else "false",
        "reason": _text(verdict.reason),
        "model": _text(model),
        "prompt": _text(prompt),
        "description": _text(key.description),
        "criterion": _text(key.criterion),
    }
    written = ", ".join(f'"{name}": {text}' for name, text in members.items() if text)
    return f"{{{written}}}"


def _text(text: str | None) -> str:
    return "" if text is None else value_text(text, _LONGEST_VALUE)


def _parsed(line: bytes) -> tuple[Key, _Who, Verdict]:
    """Read a line; a ValueError says what is wrong with it."""
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")):
        raise ValueError("a merge has left its marks here")
    try:
        found: Any = parse_json(line)
    except JsonParseError as error:
        raise ValueError(str(error)) from None
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - one kind of error for every bad line
    for name in found:
        if name not in {*_REQUIRED, *_OPTIONAL}:
            raise ValueError(
                f"there is no {name!r} in a verdict{did_you_mean(name, (*_REQUIRED, *_OPTIONAL))}"
            )
    for name in _REQUIRED:
        if name not in found:
            raise ValueError(f"a verdict without {name!r}")
    if not isinstance(found["equivalent"], bool):
        raise ValueError(f"'equivalent' is {found['equivalent']!r}; it is true or false")  # noqa: TRY004
    for name in ("path", "model", "prompt", *_OPTIONAL):
        if name in found and not isinstance(found[name], str):
            raise ValueError(f"{name!r} is no text")
    item = JudgeItem(
        "",
        found["path"],
        found["expected"],
        found["actual"],
        found.get("description"),
        found.get("criterion"),
    )
    return key_of(item), (found["model"], found["prompt"]), Verdict(found["equivalent"], found.get("reason"))


@contextmanager
def _locked(path: Path, *, needed: bool, wait: bool = True) -> Iterator[None]:
    """Keep other processes and threads from the file; an OSError if that means to wait, and it must not.

    The lock is a file in the folder for temporary files, so that none lies beside what is committed. Where it
    can't be had, a reader goes on without.
    """
    whose = os.getuid() if hasattr(os, "getuid") else 0
    digest = hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    place = Path(tempfile.gettempdir(), f"pytest-jsonmatch-{whose}-{digest}.lock")
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        if needed:
            raise
        yield
        return
    try:
        _lock(file, wait=wait)
        yield
    finally:
        os.close(file)  # which ends the lock


def _lock(file: int, *, wait: bool) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # pragma: no cover - Windows
        import msvcrt

        while True:
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            except OSError:
                if not wait:
                    raise
                time.sleep(0.01)
            else:
                return
    else:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
