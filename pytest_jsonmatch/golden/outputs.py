"""Save answers and score them again: `--jsonmatch-record` and `--jsonmatch-replay`.

A file has one line of JSON for each golden case that ran: the case, and its answer.
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
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, hide_secrets
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.extract import extract_json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from typing import BinaryIO

    from pytest_jsonmatch.engine.value.convert import JsonValue

# The keys of an answer, or of the reason why there is none.
_ANSWERS: Final = ("text", "actual", "error")


def output_line(nodeid: str, actual: object) -> str:
    """Return the line for one answer.

    Args:
        nodeid: the node id of the test, by which `Outputs` finds the answer.
        actual: the answer: text is saved unchanged, other values as JSON, or as an error if they have no JSON
            form. (NaN and the infinities, which JSON does not have, are written as Python's `json` writes
            them.) The cost and latency of an `Answer` are saved with its value.
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
        return {"error": hide_secrets(str(error))}


@final
class OutputWriter:
    """Writes lines one by one; the file gets its name when the run is over.

    Until then the lines are in another file of the same folder that no other run writes to,
    `FILE.TIME.partial`. So a run that crashes or is interrupted loses nothing, and the file is always from
    one complete run: an older one, until a run with answers has finished. With `adds`, lines are appended to
    the file itself. Register it as a plugin.
    """

    def __init__(self, path: Path, option: str = "--jsonmatch-record", *, adds: bool = False) -> None:
        """Raise ConfigurationError if the file can't be created."""
        if path.is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file")
        if not path.parent.is_dir():
            raise ConfigurationError(
                f"No such file or directory: {str(path.parent)!r}; make the folder first"
            )
        self.path = path
        self._option, self._adds = option, adds
        self.problem: str = ""
        """The reason why the answers could not be written; empty if they could."""
        self._note = ""
        self._file: BinaryIO | None = None

    def pytest_sessionstart(self) -> None:
        """Open the partial file, or the file itself without an incomplete last line."""
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
        """Write lines of `output_line`; stop for good at a line that can't be written."""
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

        The exit status does not show it: after a second Ctrl-C it is that of a run that passed.
        """
        result = yield
        self.close(is_complete=True)
        return result

    def pytest_sessionfinish(self) -> None:
        """Close the file of a run that did not finish."""
        self.close(is_complete=False)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the reason why the file is missing or not from this run."""
        if self.problem:
            terminalreporter.write_line(f"{self._option}: {self.problem}", red=True)
        elif self._note:
            terminalreporter.write_line(f"{self._option}: {self._note}", yellow=True)

    def pytest_unconfigure(self) -> None:
        """Close the file, and remove it if it is empty, even if the session has not finished."""
        self.close(is_complete=False)

    def close(self, *, is_complete: bool) -> None:
        """Give the file its name if it is from a complete run; otherwise note where it is."""
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
            elif is_complete:
                rename(partial, self.path)
            else:
                self._note = (
                    "the run did not finish; to make the answers that are missing, use "
                    f"--jsonmatch-replay={partial},missing"
                )
        except OSError as error:
            self._give_up(file, error)

    def _give_up(self, file: BinaryIO, error: OSError) -> None:
        """Stop writing and remove the partial file; the earlier content of the file stays."""
        self._file = None
        with suppress(OSError):  # closing tries again to write the rest
            file.close()
        note = "; the file of an earlier run stays as it was" if self.path.exists() else ""
        if self._adds:
            note = "; it holds the answers so far"
        else:
            with suppress(OSError):
                Path(file.name).unlink()
        reason = (error.strerror or str(error)).lower()
        self.problem = f"{self.path} can't be written: {reason}{note}"


@final
class Outputs:
    """The answers in a file."""

    def __init__(self, path: Path, *, adds_missing: bool = False) -> None:
        """Read the file; if a case has several lines, the last one counts.

        Args:
            path: the file.
            adds_missing: whether missing answers are produced and added: then the file may be missing, and
                its last line may be incomplete.

        Raises:
            ConfigurationError: the file can't be read, or has a line that was not recorded.
        """
        self.path, self.adds_missing = path, adds_missing
        try:
            data = path.read_bytes() if path.exists() or not adds_missing else b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ConfigurationError(f"{path} can't be read: {reason}") from None
        lines = _lines(data) if adds_missing else data.split(b"\n")
        entries = [_read(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
        self._entries: dict[str, dict[str, Any]] = {entry["case"]: entry for entry in entries}

    def __contains__(self, nodeid: str) -> bool:
        """Return whether the file has an answer of a case."""
        return nodeid in self._entries and "error" not in self._entries[nodeid]

    def find(self, nodeid: str) -> object:
        """Return the answer of a case, with its cost and latency if they were saved.

        Raises:
            LookupError: there is no answer.
        """
        entry = self._entries.get(nodeid, {"error": ""})
        if "error" in entry:
            reason = f": {entry['error']}" if entry["error"] else ""
            raise LookupError(f"{self.path.name} has no output of {nodeid}{reason}")
        value = entry["text"] if "text" in entry else entry["actual"]
        return make_answer(value, Spent(**entry["spent"])) if "spent" in entry else value


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a file, each with its line break, without an incomplete last line."""
    lines = data.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        with suppress(ConfigurationError):
            _read(lines[-1], "")
            lines.append(b"\n")
            return lines
        lines.pop()
    return lines


def _read(line: bytes, location: str) -> dict[str, Any]:
    try:
        extraction = extract_json(line.strip())  # reads NaN and the infinities, too
    except JsonMatchError:
        extraction = None
    if extraction is None or extraction.method != "whole":
        raise ConfigurationError(
            f"{location} is not complete: the file was cut; delete the line, or record the answers again"
        )
    entry, message = extraction.value, f"{location} is not an output that --jsonmatch-record wrote"
    if type(entry) is not dict or type(entry.get("case")) is not str or entry.keys().isdisjoint(_ANSWERS):
        raise ConfigurationError(message)
    try:
        Spent(**entry.get("spent", {}))
    except (ConfigurationError, TypeError) as error:
        raise ConfigurationError(f"{message}: spent: {error}") from None
    return entry
