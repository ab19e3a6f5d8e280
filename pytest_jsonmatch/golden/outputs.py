"""Keep outputs and score them again: `--jsonmatch-record` and `--jsonmatch-replay`.

A file has one line of JSON for each golden case that ran: the case, and the answer by which it was judged.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.answer import Answer, Spent, answer_of, value_of
from pytest_jsonmatch.engine.value.convert import to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, JsonParseError
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.results.atomic import rename

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase

# The keys that hold an answer, or say why there is none.
_ANSWERS: Final = ("text", "base64", "actual", "error")


def output_line(
    nodeid: str, case: GoldenCase, actual: object, *, seconds: float, params: Mapping[str, object]
) -> str:
    """Return the line for one answer.

    Args:
        nodeid: the test's node id, by which `Outputs` finds it again.
        case: the case.
        actual: the answer: text, and bytes that are not text, are kept as they are, anything else as JSON.
            (NaN and the infinities, which JSON does not have, are written as Python's `json` writes them.)
            What an `Answer` took is kept beside its value.
        seconds: how long the setup of its test took.
        params: the parameters of fixtures.
    """
    return ascii_json(
        {
            "case": nodeid,
            "id": case.id,
            "repeat": case.run,
            "params": {**case.params, **{name: _plain(value) for name, value in params.items()}},
            "seconds": round(seconds, 6),
            **({"spent": actual.spent.to_dict()} if isinstance(actual, Answer) else {}),
            **_answer(value_of(actual)),
        }
    )


def _answer(actual: object) -> dict[str, JsonValue]:
    if isinstance(actual, (bytes, bytearray)):
        data = bytes(actual)
        try:
            actual = data.decode("utf-8")
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(data).decode("ascii")}
    try:
        return {"text" if isinstance(actual, str) else "actual": to_json_value(actual)}
    except JsonMatchError as error:
        return {"error": str(error)}


def _plain(value: object) -> JsonValue:
    """Return a parameter as JSON; its `repr` if it has no such form."""
    if value is None or isinstance(value, (str, int, float)):
        with suppress(JsonMatchError):  # NaN
            return to_json_value(value)
    return repr(value)


@final
class OutputWriter:
    """Writes lines one by one; the file gets its name when the run is over.

    Until then they are in a file beside it that no other run writes to, `FILE.TIME.partial`. So a run that
    crashes or is interrupted loses nothing, and the file is always that of one whole run: an older one, until
    a run with answers has finished. Register it as a plugin.
    """

    def __init__(self, path: Path) -> None:
        """Raise ConfigurationError if there can't be such a file."""
        if path.is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file")
        if not path.parent.is_dir():
            raise ConfigurationError(
                f"No such file or directory: {str(path.parent)!r}; make the folder first"
            )
        self.path = path
        self.problem: str = ""
        """Why the answers could not be written; empty as long as they can."""
        self._note = ""
        self._file: BinaryIO | None = None

    def pytest_sessionstart(self) -> None:
        """Open the partial file."""
        try:
            self._file = self.path.with_name(f"{self.path.name}.{time_ns()}.partial").open("xb")
        except OSError as error:
            reason = f"{self.path} can't be written: {error.strerror}"
            raise pytest.UsageError(f"--jsonmatch-record: {reason}") from None

    def write(self, lines: Iterable[str]) -> None:
        """Write lines, each made by `output_line`; stop for good at one that can't be written."""
        if self._file is None:
            return
        try:
            for line in lines:
                self._file.write(line.encode("ascii") + b"\n")
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Give the file its name, if there is anything in it and the run has finished."""
        is_over = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
        self.close(is_whole=is_over and not (session.shouldfail or session.shouldstop))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why the file is missing, or is not from this run."""
        if self.problem:
            terminalreporter.write_line(f"--jsonmatch-record: {self.problem}", red=True)
        elif self._note:
            terminalreporter.write_line(f"--jsonmatch-record: {self._note}", yellow=True)

    def pytest_unconfigure(self) -> None:
        """Close the file, and remove it if it is empty, even if the session has not finished."""
        self.close(is_whole=False)

    def close(self, *, is_whole: bool) -> None:
        """Give the file its name if it is from a whole run; else say where it is."""
        if self._file is None:
            return
        partial = Path(self._file.name)
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if not partial.stat().st_size:
                partial.unlink()
            elif is_whole:
                rename(partial, self.path)
            else:
                self._note = f"the run did not finish; its answers so far are in {partial}"
        except OSError as error:
            self._give_up(error)
        self._file = None

    def _give_up(self, error: OSError) -> None:
        """Stop writing and remove the partial file; a file that was there before stays as it is."""
        if self._file is not None:
            with suppress(OSError):  # closing tries to write what is left once more
                self._file.close()
            with suppress(OSError):
                Path(self._file.name).unlink()
            self._file = None
        reason = (error.strerror or str(error)).lower()
        left = "; the file of an earlier run stays as it was" if self.path.exists() else ""
        self.problem = f"{self.path} can't be written: {reason}{left}"


@final
class Outputs:
    """A file of outputs, each of which is read when it is requested."""

    def __init__(self, path: Path) -> None:
        """Note where each case's line begins; if a case has several, the last counts.

        Raises:
            ConfigurationError: the file can't be read, or has a line that was not recorded.
        """
        self.path = path
        self._offsets: dict[str, int] = {}
        offset = 0
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if not line.isspace():
                        self._offsets[_parsed(line, path, number)["case"]] = offset
                    offset += len(line)
        except OSError as error:
            raise ConfigurationError(
                f"{path} can't be read: {(error.strerror or str(error)).lower()}"
            ) from None

    def find(self, nodeid: str) -> object:
        """Return a case's answer, with what it took if that was kept.

        Raises:
            LookupError: there is none; the message says so.
        """
        offset = self._offsets.get(nodeid)
        if offset is None:
            message = f"{self.path.name} has no output of {nodeid}; record it, or leave the case out"
            raise LookupError(message + self._hint(nodeid))
        with self.path.open("rb") as file:
            file.seek(offset)
            entry = _read(file.readline())
        if "error" in entry:
            raise LookupError(f"{self.path.name} has no output of {nodeid}: {entry['error']}")
        if "base64" in entry:
            value: object = base64.b64decode(entry["base64"])
        else:
            value = entry["text"] if "text" in entry else entry["actual"]
        return answer_of(value, Spent.from_dict(entry["spent"])) if "spent" in entry else value

    def _hint(self, nodeid: str) -> str:
        """Return what to do if the case was kept with another number of runs."""
        head, bracket, params = nodeid.partition("[")
        kept = 0
        while f"{head}@{kept + 1}{bracket}{params}" in self._offsets:
            kept += 1
        if kept:
            return f". It was kept in {kept} runs: replay with --jsonmatch-repeat={kept}"
        once = head.rpartition("@")[0] + bracket + params
        return ". It was kept in one run: replay with --jsonmatch-repeat=1" if once in self._offsets else ""


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        entry = _read(line)
    except JsonMatchError:
        message = (
            f"{path}:{number} is not complete: the file was cut; delete the line, or record the answers again"
        )
        raise ConfigurationError(message) from None
    other = f"{path}:{number} is not an output that --jsonmatch-record wrote"
    if type(entry) is not dict or type(entry.get("case")) is not str or entry.keys().isdisjoint(_ANSWERS):
        raise ConfigurationError(other)
    try:
        Spent.from_dict(entry.get("spent", {}))
    except ConfigurationError as error:
        raise ConfigurationError(f"{other}: spent: {error}") from None
    return entry


def _read(line: bytes) -> Any:
    try:
        return parse_json(line)
    except JsonParseError:
        found = extract_json(line.strip())  # an answer with NaN or an infinity
        if found.method != "whole":
            raise
        return found.value
