"""Outputs kept and scored again: `--jsonmatch-record` and `--jsonmatch-replay`.

A file has one line of JSON for each golden case that ran: what it was, and the answer that it was judged by.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.engine.values import to_json_value
from pytest_jsonmatch.recording import REPORT_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from pytest_jsonmatch.golden.cases import GoldenCase

__all__ = ["OutputWriter", "Outputs", "output_line"]


def output_line(
    nodeid: str, case: GoldenCase, actual: object, *, seconds: float, params: Mapping[str, object]
) -> str:
    """Return the line for one answer.

    Args:
        nodeid: the test's node id, by which `Outputs` finds it again.
        case: the case.
        actual: the answer: text is kept as it is, anything else as JSON.
        seconds: what making it took.
        params: the parameters of fixtures.
    """
    entry: dict[str, Any] = {
        "case": nodeid,
        "id": case.id,
        "repeat": case.run,
        "params": {**case.params, **{name: _plain(value) for name, value in params.items()}},
        "seconds": round(seconds, 6),
    }
    if isinstance(actual, (bytes, bytearray)):
        actual = bytes(actual).decode("utf-8", "surrogateescape")
    if isinstance(actual, str):
        entry["text"] = str.__str__(actual)
    else:
        try:
            entry["actual"] = to_json_value(actual)
        except JsonMatchError as error:
            entry["error"] = str(error)
    # (ASCII passes everywhere, whatever a model puts into a string.)
    return _dumps(entry)


def _dumps(entry: dict[str, Any]) -> str:
    try:
        return json.dumps(entry, default=_number)
    except RecursionError:
        del entry["actual"]
        entry["error"] = "the answer is nested too deep to be written"
        return json.dumps(entry)


def _number(value: object) -> object:
    # Decimals, which stand for numbers that no double holds.
    return float(str(value))


def _plain(value: object) -> object:
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)


@final
class OutputWriter:
    """Writes the lines that reports carry, one by one; the file takes its name when the run is over.

    Until then they stand in a file beside it with `.partial` after its name, so that a run that dies loses
    nothing and leaves an older file alone. To be registered as a plugin.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._file: BinaryIO = self._partial.open("wb")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write what a report carries."""
        lines: Iterable[str] = getattr(report, REPORT_ATTRIBUTE, {}).get("outputs", ())
        for line in lines:
            self._file.write(line.encode("ascii") + b"\n")
        if lines:
            self._file.flush()

    def pytest_sessionfinish(self) -> None:
        """Give the file its name."""
        if not self._file.closed:
            self._file.close()
            os.replace(self._partial, self.path)  # noqa: PTH105 - the same, and no second Path


@final
class Outputs:
    """A file of outputs, read when one is asked for."""

    def __init__(self, path: Path) -> None:
        """Note where each case's line begins; of several for one case, the last counts.

        Raises:
            ConfigurationError: the file can't be read, or a line is none that was recorded.
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
            message = f"{path} can't be read: {(error.strerror or str(error)).lower()}"
            raise ConfigurationError(message) from None

    def find(self, nodeid: str) -> object:
        """Return a case's answer.

        Raises:
            LookupError: there is none; the message says so.
        """
        offset = self._offsets.get(nodeid)
        if offset is None:
            message = f"{self.path.name} has no output of {nodeid}; record it, or leave the case out"
            raise LookupError(message)
        with self.path.open("rb") as file:
            file.seek(offset)
            entry = json.loads(file.readline())
        if "error" in entry:
            message = f"{self.path.name} has no output of {nodeid}: {entry['error']}"
            raise LookupError(message)
        return entry["text"] if "text" in entry else entry["actual"]


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    answered = type(entry) is dict and not {"text", "actual", "error"}.isdisjoint(entry)
    if not answered or type(entry.get("case")) is not str:
        message = f"{path}:{number} is no output that --jsonmatch-record wrote"
        raise ConfigurationError(message)
    found: dict[str, Any] = entry
    return found
