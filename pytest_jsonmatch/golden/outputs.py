"""Keep outputs and score them again: `--jsonmatch-record` and `--jsonmatch-replay`.

A file has one line of JSON for each golden case that ran: the case, and the answer by which it was judged.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.answer import Answer, Spent, make_answer, unwrap_answer
from pytest_jsonmatch.atomic import rename
from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.extract import extract_json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from typing import BinaryIO

    from pytest_jsonmatch.engine.value.convert import JsonValue

# The keys that hold an answer, or say why there is none.
_ANSWERS: Final = ("text", "actual", "error")


def output_line(nodeid: str, actual: object) -> str:
    """Return the line for one answer.

    Args:
        nodeid: the test's node id, by which `Outputs` finds it again.
        actual: the answer: text is kept as it is, anything else as JSON; an error says why that can't be.
            (NaN and the infinities, which JSON does not have, are written as Python's `json` writes them.)
            What an `Answer` took is kept beside its value.
    """
    spent = {"spent": actual.spent.to_dict()} if isinstance(actual, Answer) else {}
    return ascii_json({"case": nodeid, **spent, **_answer(unwrap_answer(actual))})


def _answer(actual: object) -> dict[str, JsonValue]:
    if isinstance(actual, (bytes, bytearray)):
        with suppress(UnicodeDecodeError):
            actual = actual.decode("utf-8")
    try:
        return {"text" if isinstance(actual, str) else "actual": to_json_value(actual)}
    except JsonMatchError as error:
        return {"error": str(error)}


@final
class OutputWriter:
    """Writes lines one by one; the file gets its name when the run is over.

    Until then they are in a file beside it that no other run writes to, `FILE.TIME.partial`. So a run that
    crashes or is interrupted loses nothing, and the file is always that of one whole run: an older one, until
    a run with answers has finished. With `adds`, lines are added to the file itself. Register it as a plugin.
    """

    def __init__(self, path: Path, option: str = "--jsonmatch-record", *, adds: bool = False) -> None:
        """Raise ConfigurationError if there can't be such a file."""
        if path.is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file")
        if not path.parent.is_dir():
            raise ConfigurationError(
                f"No such file or directory: {str(path.parent)!r}; make the folder first"
            )
        self.path = path
        self._option, self._adds = option, adds
        self.problem: str = ""
        """Why the answers could not be written; empty as long as they can."""
        self._note = ""
        self._file: BinaryIO | None = None

    def pytest_sessionstart(self) -> None:
        """Open the file: the partial one, or the file itself, without a last line that was cut."""
        try:
            if self._adds:
                self._file = self.path.open("ab")
                found = self.path.read_bytes()
                size = sum(map(len, _lines(found)))
                if size > len(found):
                    self._file.write(b"\n")
                elif size < len(found):
                    self._file.truncate(size)
            else:
                self._file = self.path.with_name(f"{self.path.name}.{time_ns()}.partial").open("xb")
        except OSError as error:
            reason = f"{self.path} can't be written: {error.strerror}"
            raise pytest.UsageError(f"{self._option}: {reason}") from None

    def write(self, lines: Iterable[str]) -> None:
        """Write lines, each made by `output_line`; stop for good at one that can't be written."""
        if self._file is None:
            return
        try:
            for line in lines:
                self._file.write(line.encode("ascii") + b"\n")
            self._file.flush()
        except OSError as error:
            self._give_up(self._file, error)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Give the file its name once all tests have run: an interrupted or stopped run raises here.

        The exit status does not tell: a second Ctrl-C leaves it at that of a run that passed.
        """
        result = yield
        self.close(is_whole=True)
        return result

    def pytest_sessionfinish(self) -> None:
        """Close the file of a run that did not finish."""
        self.close(is_whole=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why the file is missing, or is not from this run."""
        if self.problem:
            terminalreporter.write_line(f"{self._option}: {self.problem}", red=True)
        elif self._note:
            terminalreporter.write_line(f"{self._option}: {self._note}", yellow=True)

    def pytest_unconfigure(self) -> None:
        """Close the file, and remove it if it is empty, even if the session has not finished."""
        self.close(is_whole=False)

    def close(self, *, is_whole: bool) -> None:
        """Give the file its name if it is from a whole run; else say where it is."""
        file, self._file = self._file, None
        if file is None:
            return
        partial = Path(file.name)
        try:
            file.flush()
            os.fsync(file.fileno())
            file.close()
            if not partial.stat().st_size:
                partial.unlink()
            elif self._adds:
                pass
            elif is_whole:
                rename(partial, self.path)
            else:
                self._note = (
                    "the run did not finish; to make the answers that are missing, use "
                    f"--jsonmatch-replay={partial},missing"
                )
        except OSError as error:
            self._give_up(file, error)

    def _give_up(self, file: BinaryIO, error: OSError) -> None:
        """Stop writing and remove the partial file; what was in the file before stays as it is."""
        self._file = None
        with suppress(OSError):  # closing tries to write what is left once more
            file.close()
        left = "; the file of an earlier run stays as it was" if self.path.exists() else ""
        if self._adds:
            left = "; it holds the answers so far"
        else:
            with suppress(OSError):
                Path(file.name).unlink()
        reason = (error.strerror or str(error)).lower()
        self.problem = f"{self.path} can't be written: {reason}{left}"


@final
class Outputs:
    """The answers in a file."""

    def __init__(self, path: Path, *, asks: bool = False) -> None:
        """Read the file; if a case has several lines, the last counts.

        Args:
            path: the file.
            asks: whether missing answers are made: then the file may be missing, and its last line cut.

        Raises:
            ConfigurationError: the file can't be read, or has a line that was not recorded.
        """
        self.path, self.asks = path, asks
        try:
            data = path.read_bytes() if path.exists() or not asks else b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ConfigurationError(f"{path} can't be read: {reason}") from None
        lines = _lines(data) if asks else data.split(b"\n")
        entries = [_read(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
        self._entries: dict[str, dict[str, Any]] = {entry["case"]: entry for entry in entries}

    def __contains__(self, nodeid: str) -> bool:
        """Return whether there is an answer of a case."""
        return nodeid in self._entries and "error" not in self._entries[nodeid]

    def find(self, nodeid: str) -> object:
        """Return a case's answer, with what it took if that was kept.

        Raises:
            LookupError: there is none; the message says so.
        """
        entry = self._entries.get(
            nodeid, {"error": "record it, with the same number of repeats, or leave it out"}
        )
        if "error" in entry:
            raise LookupError(f"{self.path.name} has no output of {nodeid}: {entry['error']}")
        value = entry["text"] if "text" in entry else entry["actual"]
        return make_answer(value, Spent(**entry["spent"])) if "spent" in entry else value


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a file, each with its end, and without a last one that was cut."""
    lines = data.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        with suppress(ConfigurationError):
            _read(lines[-1], "")
            lines.append(b"\n")
            return lines
        lines.pop()
    return lines


def _read(line: bytes, place: str) -> dict[str, Any]:
    try:
        found = extract_json(line.strip())  # as it reads NaN and the infinities
    except JsonMatchError:
        found = None
    if found is None or found.method != "whole":
        raise ConfigurationError(
            f"{place} is not complete: the file was cut; delete the line, or record the answers again"
        )
    entry, other = found.value, f"{place} is not an output that --jsonmatch-record wrote"
    if type(entry) is not dict or type(entry.get("case")) is not str or entry.keys().isdisjoint(_ANSWERS):
        raise ConfigurationError(other)
    try:
        Spent(**entry.get("spent", {}))
    except (ConfigurationError, TypeError) as error:
        raise ConfigurationError(f"{other}: spent: {error}") from None
    return entry
