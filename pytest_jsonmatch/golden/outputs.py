"""Save answers and score them again: `--jsonmatch-record` and `--jsonmatch-replay`.

A file has one line of JSON for each answer of a golden case: the case, a digest of its input, the answer.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.comparing.running import OTHER_INPUT
from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    UnsupportedValueError,
    hide_secrets,
)
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.results.answer import Answer, Spent, make_answer, unwrap_answer
from pytest_jsonmatch.results.renaming import find_renaming
from pytest_jsonmatch.support.atomic import read_file, rename, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.results.renaming import Renaming

# The keys of an answer, or of the reason why there is none.
_ANSWERS: Final = ("text", "actual", "error")
_START: Final = b'{"case": "'
"""The start of every line."""
_DIGITS: Final = 16
"""The number of hexadecimal digits of a digest."""
_LOCKED: Final = 1 << 30
"""The byte that is locked on Windows instead of a file."""
_NOTE: Final = "jsonmatch_replay"
_KEY: Final = "jsonmatch_answers"
"""The name of the file among what a worker of pytest-xdist receives, and of the problem that it returns."""


def digest_input(case: GoldenCase) -> str | None:
    """Return a digest of the input of a case: empty without an input, None if it has no JSON form.

    Raises GoldenFileError if the input can't be read.
    """
    if not case.has_input:
        return ""
    value = case.input
    if isinstance(value, bytes):
        data = b"bytes " + value
    else:
        try:
            data = ascii_json(_sort_keys(to_json_value(value))).encode("ascii")
        except UnsupportedValueError:
            return None
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _sort_keys(value: JsonValue) -> JsonValue:
    """Return a value with the keys of its objects sorted."""
    if type(value) is dict:
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    return [_sort_keys(element) for element in value] if type(value) is list else value


def output_line(nodeid: str, actual: object, digest: str | None = None, *, is_final: bool = True) -> str:
    """Return the line for one answer.

    Args:
        nodeid: the node id of the test, by which `Outputs` finds the answer.
        actual: the answer: text is saved unchanged, other values as JSON, or as an error if they have no JSON
            form. (NaN and the infinities, which JSON does not have, are written as Python's `json` writes
            them.) The cost and latency of an `Answer` are saved with its value.
        digest: the digest of the input; None if it is unknown.
        is_final: whether it is the answer of the case, not one that a fixture may still change.
    """
    of_input: dict[str, JsonValue] = {} if digest is None else {"input": digest}
    if not is_final:
        of_input["final"] = False
    spent = {"spent": actual.spent.to_dict()} if isinstance(actual, Answer) else {}
    return ascii_json({"case": nodeid, **of_input, **spent, **_answer(unwrap_answer(actual))})


def _answer(actual: object) -> dict[str, JsonValue]:
    if isinstance(actual, (bytes, bytearray)):
        with suppress(UnicodeDecodeError):
            actual = actual.decode("utf-8")
    try:
        return {"text" if isinstance(actual, str) else "actual": to_json_value(actual)}
    except JsonMatchError as error:
        return {"error": hide_secrets(str(error))}


# -- writing -----------------------------------------------------------------------------------------------


@final
class AnswerLog:
    """A file to which several processes and threads append lines; each line is on disk once it is written.

    Args:
        path: the file; it is created if it does not exist.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        # Unbuffered: each line is appended in one call, so that lines of several processes do not mix.
        self._file = path.open("ab", buffering=0)
        self._lock = Lock()
        self.path = path
        self.problem: str = ""
        """The reason why a line could not be written; empty if all were."""

    def write(self, line: str) -> None:
        """Append a line; after a line that can't be written, ignore all others."""
        data = line.encode("ascii") + b"\n"
        with self._lock:
            if self._file.closed or self.problem:
                return
            try:
                with _lock_file(self._file.fileno()):
                    while data:  # on a full disk, the first call writes a part, and the next one raises
                        data = data[self._file.write(data) :]
            except OSError as error:
                self.problem = (error.strerror or str(error)).lower()

    def close(self) -> None:
        """Close the file; later lines are ignored."""
        with self._lock:
            if not self._file.closed:
                with suppress(OSError):  # a device
                    os.fsync(self._file.fileno())
                self._file.close()


@contextmanager
def _lock_file(descriptor: int) -> Iterator[None]:
    """Lock the file on Windows, where another process could append between the steps of one append."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        os.lseek(descriptor, _LOCKED, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            os.lseek(descriptor, _LOCKED, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        yield


@final
class OutputWriter:
    """Writes lines one by one; the file gets its name when the run is over. Register it as a plugin.

    Until then the lines are in another file of the same folder that no other run writes to,
    `FILE.TIME.partial`. So a run that crashes or is interrupted loses nothing, and the file is always from
    one complete run: an older one, until a run with answers has finished. With `adds`, lines are appended to
    the file itself. A pipe or a device gets all lines at the end. Workers of pytest-xdist write their own
    lines.
    """

    def __init__(self, path: Path, option: str = "--jsonmatch-record", *, adds: bool = False) -> None:
        """Raise ConfigurationError if the file can't be created, or has anything but recorded answers."""
        if path.is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file")
        self.path = path
        self._target = Path(os.path.realpath(path))  # a link is followed and kept
        self._is_device = path.exists() and not path.is_file()
        if not self._is_device and not self._target.parent.is_dir():
            raise ConfigurationError(
                f"No such file or directory: {str(self._target.parent)!r}; make the folder first"
            )
        if not adds and path.is_file():
            _check_recorded(path)
        self._option, self._adds = option, adds
        self.problem: str = ""
        """The reason why the answers could not be written; empty if they could."""
        self._note = ""
        self._log: AnswerLog | None = None

    def pytest_sessionstart(self) -> None:
        """Open the partial file, or the file itself without an incomplete last line."""
        try:
            if self._adds:
                _end_last_line(self._target)
                self._log = AnswerLog(self._target)
            else:
                self._log = AnswerLog(self._make_partial())
        except OSError as error:
            reason = f"{self.path} can't be written: {error.strerror}"
            raise pytest.UsageError(f"{self._option}: {reason}") from None

    def _make_partial(self) -> Path:
        """Create an empty file for the lines of this run."""
        if self._is_device:
            descriptor, name = tempfile.mkstemp(suffix=".partial", prefix="jsonmatch-answers-")
            os.close(descriptor)
            return Path(name)
        path = self._target.with_name(f"{self._target.name}.{time_ns()}.partial")
        path.open("xb").close()
        return path

    def write(self, line: str) -> None:
        """Write a line of `output_line`."""
        if self._log is not None:
            self._log.write(line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist where to write."""
        if self._log is not None:
            node.workerinput[_KEY] = str(self._log.path)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Note that a worker could not write."""
        if self._log is not None and (problem := getattr(node, "workeroutput", {}).get(_KEY)):
            self._log.problem = problem

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Give the file its name once all tests have run: an interrupted or stopped run raises here.

        The exit status does not show it: after a second Ctrl-C it is that of a run that passed.
        """
        result = yield
        self.close(is_complete=True)
        return result

    @pytest.hookimpl(trylast=True)  # when the workers of pytest-xdist have ended
    def pytest_sessionfinish(self) -> None:
        """Note where the answers of a run that did not finish are; calls that return later are saved, too."""
        if self._log is not None and not self._adds:
            self._note = (
                "the run did not finish; to make the answers that are missing, use "
                f"--jsonmatch-replay={self._log.path},missing"
            )
            if not self._log.path.stat().st_size:
                self._note = ""

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
        """Close the file, and give it its name if it is from a complete run."""
        log, self._log = self._log, None
        if log is None:
            return
        log.close()
        problem = log.problem
        try:
            if not problem and log.path.stat().st_size and is_complete and not self._adds:
                self._finish(log.path)
        except OSError as error:
            problem = (error.strerror or str(error)).lower()
        with suppress(OSError):
            if not log.path.stat().st_size:
                log.path.unlink()
        if problem:
            where = "it" if self._adds else str(log.path)
            earlier = self.path.is_file() and not self._adds
            note = "; the file of an earlier run stays as it was" if earlier else ""
            self.problem = f"{self.path} can't be written: {problem}; {where} holds the answers so far{note}"

    def _finish(self, partial: Path) -> None:
        """Give the lines of a complete run to the file."""
        if self._is_device:
            write_file(self.path, partial.read_bytes())
            partial.unlink()
            return
        if self._target.exists():
            partial.chmod(self._target.stat().st_mode & 0o7777)
        rename(partial, self._target)


@final
class WorkerWriter:
    """Appends the lines of a worker of pytest-xdist to the file of the run. Register it as a plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self._output: dict[str, Any] = getattr(config, "workeroutput", {})
        self._log: AnswerLog | None = None
        try:
            self._log = AnswerLog(Path(getattr(config, "workerinput", {})[_KEY]))
        except OSError as error:
            self._output[_KEY] = (error.strerror or str(error)).lower()

    def write(self, line: str) -> None:
        """Write a line of `output_line`."""
        if self._log is not None:
            self._log.write(line)

    def pytest_sessionfinish(self) -> None:
        """Report a line that could not be written."""
        if self._log is not None and self._log.problem:
            self._output[_KEY] = self._log.problem

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        if self._log is not None:
            self._log.close()


def _check_recorded(path: Path) -> None:
    """Raise ConfigurationError if a file that is about to be replaced has anything but recorded answers."""
    with suppress(OSError):  # it is not readable, but can be replaced
        data = read_file(path)
        try:
            _read_lines(data[: _complete_size(data)], path)
        except ConfigurationError as error:
            raise ConfigurationError(f"{error}; name another file, or delete this one") from None


def _end_last_line(path: Path) -> None:
    """Cut an incomplete last line off a file, and end a complete one."""
    data = read_file(path) if path.exists() else b""
    size = _complete_size(data)
    if size < len(data):
        os.truncate(path, size)
    elif data and not data.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


@final
class AnswerRecorder:
    """Writes each answer of this process once, as soon as a producer has returned it.

    Args:
        write: appends a line to the file; called from several threads.
        outputs: the saved answers, which are not written again.
    """

    def __init__(self, write: Callable[[str], None], outputs: Outputs | None) -> None:
        self._write, self._outputs = write, outputs
        self._early: dict[str, object] = {}
        """The final answers that were written before their tests have received them, by node id."""

    def keep_early(self, nodeid: str, case: GoldenCase, actual: object, *, is_final: bool) -> None:
        """Write an answer that its test has not received yet.

        Args:
            nodeid: the node id of the test.
            case: its case.
            actual: the answer.
            is_final: whether no fixture changes it before it is compared.
        """
        if is_final:
            self._early[nodeid] = actual
        self._write_line(nodeid, case, actual, is_final=is_final)

    def keep(self, nodeid: str, case: GoldenCase, actual: object, digest: Callable[[], str | None]) -> None:
        """Write the answer of a running test, unless it is in the file."""
        is_replayed = self._outputs is not None and self._outputs.has(nodeid, digest)
        if not is_replayed and self._early.pop(nodeid, MISSING) is not actual:
            self._write_line(nodeid, case, actual)

    def _write_line(self, nodeid: str, case: GoldenCase, actual: object, *, is_final: bool = True) -> None:
        name = nodeid if self._outputs is None else self._outputs.name_in_file(nodeid)
        self._write(output_line(name, actual, digest_input(case), is_final=is_final))


# -- reading -----------------------------------------------------------------------------------------------


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
        self.path: Path = path
        self.adds_missing: bool = adds_missing
        try:
            data = read_file(path) if path.exists() or not adds_missing else b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ConfigurationError(f"{path} can't be read: {reason}") from None
        self._entries = _read_lines(data[: _complete_size(data)] if adds_missing else data, path)
        self._renaming: Renaming | None = None
        self.note: str = ""
        """How the ids of the file differ from those of the run, if they are from another rootdir."""

    def match_ids(self, nodeids: Collection[str]) -> None:
        """Find the answers of cases that were recorded under another rootdir, by the ids of all cases."""
        if not nodeids or not self._entries or not self._entries.keys().isdisjoint(nodeids):
            return
        self._renaming = renaming = find_renaming(self._entries, nodeids)
        if renaming is not None:
            self._entries = {renaming.apply(nodeid): entry for nodeid, entry in self._entries.items()}
            self.note = f"{self.path.name} was recorded under another rootdir: it is read {renaming}"
        else:
            self.note = (
                f"{self.path.name} has no case of this run, also not under another rootdir: it has "
                f"{next(iter(self._entries))!r}, the run has {next(iter(nodeids))!r}"
            )

    def name_in_file(self, nodeid: str) -> str:
        """Return the id of a case in the file."""
        return nodeid if self._renaming is None else self._renaming.undo(nodeid)

    def has(self, nodeid: str, digest: Callable[[], str | None]) -> bool:
        """Return whether the file has an answer of a case to its input; `digest` returns its digest."""
        entry = self._entries.get(nodeid)
        return entry is not None and _is_final(entry) and _is_of_input(entry, digest)

    def find_produced(self, nodeid: str, digest: Callable[[], str | None]) -> object:
        """Return the answer of a producer that a fixture has not received yet; MISSING if there is none."""
        entry = self._entries.get(nodeid)
        if entry is None or "error" in entry or _is_final(entry) or not _is_of_input(entry, digest):
            return MISSING
        return _value(entry)

    def find(self, nodeid: str, digest: Callable[[], str | None] = lambda: None) -> object:
        """Return the answer of a case, with its cost and latency if they were saved.

        Args:
            nodeid: the node id of the case.
            digest: returns the digest of the case's input; None if it is unknown.

        Raises:
            LookupError: there is no answer, or it was recorded for another input.
        """
        entry = self._entries.get(nodeid, {"error": ""})
        if not _is_final(entry):
            reason = f": {entry['error']}" if entry.get("error") else ""
            raise LookupError(f"{self.path.name} has no output of {nodeid}{reason}")
        if not _is_of_input(entry, digest):
            raise LookupError(f"the output of {nodeid} in {self.path.name} was {OTHER_INPUT}")
        return _value(entry)


@final
class ReplayedIds:
    """Writes at the end how ids of the file differ from those of the run. Register it as a plugin."""

    def __init__(self, config: pytest.Config, outputs: Outputs) -> None:
        self._config, self._outputs = config, outputs

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Send the note from a worker of pytest-xdist: the controller collects nothing."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[_NOTE] = self._outputs.note

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the note from a worker."""
        self._outputs.note = getattr(node, "workeroutput", {}).get(_NOTE) or self._outputs.note

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the note."""
        if self._outputs.note:
            terminalreporter.write_line(f"--jsonmatch-replay: {self._outputs.note}", yellow=True)


def _is_final(entry: Mapping[str, Any]) -> bool:
    return "error" not in entry and entry.get("final") is not False


def _value(entry: Mapping[str, Any]) -> object:
    value = entry["text"] if "text" in entry else entry["actual"]
    return make_answer(value, Spent(**entry["spent"])) if "spent" in entry else value


def _read_lines(data: bytes, path: Path) -> dict[str, dict[str, Any]]:
    """Return the last line of each case."""
    lines = enumerate(data.split(b"\n"), 1)
    entries = (_read(line, f"{path}:{number}") for number, line in lines if line.strip())
    return {entry["case"]: entry for entry in entries}


def _is_of_input(entry: Mapping[str, Any], digest: Callable[[], str | None]) -> bool:
    """Return whether an answer is not known to be one to another input."""
    return "input" not in entry or digest() in {None, entry["input"]}


def _complete_size(data: bytes) -> int:
    """Return the size of the content of a file without a last line that was cut off."""
    end = data.rfind(b"\n") + 1
    last = data[end:]
    is_ours = last.startswith(_START) or _START.startswith(last)
    return end if is_ours and _parse(last) is MISSING else len(data)


def _parse(line: bytes) -> JsonValue:
    """Return the value of a line of JSON, NaN and the infinities included; MISSING if it is not JSON."""
    try:
        extraction = extract_json(line.strip())
    except JsonMatchError:
        return MISSING
    return extraction.value if extraction.method == "whole" else MISSING


def _read(line: bytes, location: str) -> dict[str, Any]:
    entry, message = _parse(line), f"{location} is not an output that --jsonmatch-record wrote"
    if entry is MISSING and line.startswith(_START):
        raise ConfigurationError(
            f"{location} is not complete: the file was cut; delete the line, or record the answers again"
        )
    if type(entry) is not dict or type(entry.get("case")) is not str or entry.keys().isdisjoint(_ANSWERS):
        raise ConfigurationError(message)
    try:
        Spent(**entry.get("spent", {}))
    except (ConfigurationError, TypeError) as error:
        raise ConfigurationError(f"{message}: spent: {error}") from None
    return entry
