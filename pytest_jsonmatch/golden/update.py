"""Write answers as expected values: tests make requests, and the controller plans and writes updates."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from pytest_jsonmatch.comparing.updatedvalue import UpdatedValue, update_expected
from pytest_jsonmatch.engine.value.convert import MISSING, get_value
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.errors import JsonMatchError, JsonParseError
from pytest_jsonmatch.golden.edit import edit, edit_lines
from pytest_jsonmatch.golden.merge import merge
from pytest_jsonmatch.golden.writing import ascii_json
from pytest_jsonmatch.reading.datafiles import is_lines_file
from pytest_jsonmatch.reading.matchers import to_file_form
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.reading.yamlevents import parse
from pytest_jsonmatch.support.atomic import read_file, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.reading.errors import Steps

UpdateMode: TypeAlias = Literal["new", "failed", "all"]
Action: TypeAlias = Literal["write", "keep", "refused"]

ValueChange: TypeAlias = "tuple[Steps, JsonValue, JsonValue]"

_CHANGED_ON_DISK: Final = "the file has changed since it was read; run again"


@final
@dataclass(frozen=True, slots=True)
class Request:
    """The request of one run of a case for the file with its expected value.

    Args:
        action: "write" the value, "keep" the old one, or nothing, since the change was "refused".
        path: the file.
        name: the display name of the file.
        case: the case, as FILE::ID.
        steps: the steps to the expected value in the file.
        digest: the digest of the content of the file when it was read.
        value: the new value, as JSON text.
        reason: the reason why the change of the value, or of a part of it, was refused.
        has_matchers: whether objects such as `{"$any": true}` in the file are matchers.
    """

    action: Action
    path: str
    name: str
    case: str
    steps: Steps = ()
    digest: str = ""
    value: str = "null"
    reason: str = ""
    has_matchers: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))  # a list, if it came from another process


def digest_of(data: bytes | None) -> str:
    """Return the digest of the content of a file; empty if there is no file.

    >>> digest_of(b"a") == digest_of(b"b"), digest_of(None)
    (False, '')
    """
    return "" if data is None else hashlib.sha256(data).hexdigest()


@final
@dataclass(frozen=True, slots=True)
class Target:
    """An expected value in a file that an update may replace.

    Args:
        path: the file.
        name: the display name of the file.
        case: the case or test, as in node ids.
        steps: the steps to the value in the file.
        digest: the digest of the content of the file when it was read.
        expected: the current value; MISSING without one.
        has_matchers: whether objects such as `{"$any": true}` in the file are matchers.
        obstacle: the reason why the value can't be replaced; None if it can.
    """

    path: Path
    name: str
    case: str
    steps: Steps
    digest: str
    expected: JsonValue
    has_matchers: bool
    obstacle: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Updater:
    """Decides for each expected value that was compared whether to update it, and requests that.

    Args:
        mode: "new": those that do not exist yet; "failed": those of failed comparisons; "all": all.
        dry_run: whether nothing is written: then tests fail as without an update.
        ask: called with each request of the running test.
        is_exempt: returns whether the running test is expected to fail, and so has nothing to write.
    """

    mode: UpdateMode
    dry_run: bool
    ask: Callable[[Request], None]
    is_exempt: Callable[[], bool]

    @property
    def writes_new(self) -> bool:
        """Whether expected values that do not exist yet are written."""
        return self.mode != "failed"

    def request_first(self, target: Target, answer: JsonValue) -> str | None:
        """Request the first expected value; return the reason why the test still fails, or None."""
        refusal = self._write(target, UpdatedValue(answer))
        if refusal is None and (self.dry_run or self.is_exempt()):
            return "there is no expected value yet, and none was written"
        return refusal

    def request_after_failure(
        self, target: Target, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> str | None:
        """Request a new value after a failed comparison; return a text to add to the failure.

        None means that the test passes: its answer will be its expected value. `answer` returns the answer,
        read without an expected value.
        """
        if self.mode == "new" or self.is_exempt():
            return ""
        new = _find_new(target, result, answer)
        if not new.refused and json_equal(target.expected, new.value, strict=True):
            return ""  # no value is wrong
        refusal = self._write(target, new)
        return "" if refusal is None and self.dry_run else refusal

    def request_after_pass(
        self, target: Target, result: MatchResult, answer: Callable[[], JsonValue]
    ) -> None:
        """Request the new value in mode "all"; in other modes, request that the old one stays."""
        if self.mode == "new" or self.is_exempt():
            return
        new = _find_new(target, result, answer) if self.mode == "all" else None
        if new is not None and (new.refused or not json_equal(target.expected, new.value, strict=True)):
            self._write(target, new)
        elif target.obstacle is None:
            self.keep(target)

    def keep(self, target: Target) -> None:
        """Request that the old value stays."""
        self._request(target, "keep")

    def _write(self, target: Target, new: UpdatedValue) -> str | None:
        """Request that a value replaces the old one; return the reason why all or a part of it can't."""
        text = ascii_json(to_file_form(new.value) if target.has_matchers else new.value)
        reason = target.obstacle
        action: Action = "refused"
        if reason is None:
            reason = "; ".join(new.refused)
            if not (reason and json_equal(target.expected, new.value, strict=True)):
                try:
                    parse_json(text)
                    action = "write"
                except JsonParseError:
                    reason = "the answer holds NaN or an infinity, which JSON does not have"
        self._request(target, action, value=text, reason=reason)
        return f"not updated: {reason}" if reason else None

    def _request(self, target: Target, action: Action, *, value: str = "null", reason: str = "") -> None:
        self.ask(
            Request(
                action,
                str(target.path),
                target.name,
                target.case,
                target.steps,
                target.digest,
                value,
                reason,
                target.has_matchers,
            )
        )


def _find_new(target: Target, result: MatchResult, answer: Callable[[], JsonValue]) -> UpdatedValue:
    """Return the new expected value; a string that replaces the old value may be JSON instead."""
    new = update_expected(result)
    if type(new.value) is str and not json_equal(target.expected, new.value):
        new = new._replace(value=answer())
    return new


@final
@dataclass(frozen=True, slots=True)
class CaseUpdater:
    """Updates the expected values of golden cases.

    Args:
        updater: requests updates.
        answer: returns the answer of a case as JSON, read without an expected value.
    """

    updater: Updater
    answer: Callable[[GoldenCase, object], JsonValue]
    _digests: dict[Path, str] = field(default_factory=dict)

    @property
    def writes_new(self) -> bool:
        """Whether cases without an expected value get one."""
        return self.updater.writes_new

    def note_file(self, path: Path, data: bytes) -> None:
        """Note the content of a golden file when its cases were read."""
        self._digests[path] = digest_of(data)

    def request_first(self, case: GoldenCase, actual: object) -> str | None:
        """Request the first expected value of a case; return the reason why its test still fails, or None.

        Raises JsonMatchError if the answer is not JSON.
        """
        return self.updater.request_first(self._make_target(case), self.answer(case, actual))

    def request_after_failure(self, case: GoldenCase, actual: object, result: MatchResult) -> str | None:
        """Request a new value for a case that failed; return a text to add to the failure, or None."""
        return self.updater.request_after_failure(
            self._make_target(case), result, partial(self.answer, case, actual)
        )

    def request_after_pass(self, case: GoldenCase, actual: object, result: MatchResult) -> None:
        """Request the new value of a case that passed, or that the old one stays."""
        self.updater.request_after_pass(self._make_target(case), result, partial(self.answer, case, actual))

    def _make_target(self, case: GoldenCase) -> Target:
        path = case.expected_file
        return Target(
            path or case.path,
            case.expected_file_name,
            f"{case.name_of_file}::{case.base_id}",
            case.expected_steps,
            self._digests.get(case.path, "") if path is None else digest_of(read_content(path)),
            case.expected if case.has_expected else MISSING,
            has_matchers=path is None,
            obstacle=_find_obstacle(case, path),
        )


def _find_obstacle(case: GoldenCase, expected_file: Path | None) -> str | None:
    """Return the reason why the expected value can't be replaced in its file; None if it can."""
    if expected_file is not None:
        reason = refuse_suffix(expected_file)
    elif case.row is not None:
        reason = case.row.remedy
    elif case.has_key("parametrize"):
        reason = "it is one of several that `parametrize` makes; its placeholders `${name}` would be lost"
    else:
        reason = None
    if reason is not None:
        return reason
    real = case.outside(expected_file or case.path)
    return None if real is None else f"a link leads to {real}, outside of the rootdir"


def refuse_suffix(path: Path) -> str | None:
    """Return the reason why a file of an expected value is not written; None if it is."""
    if path.name.lower().endswith((".json", ".yaml", ".yml")):
        return None
    return f"its suffix is {path.suffix!r}; only .json, .yaml and .yml files are written"


# -- in the controller -------------------------------------------------------------------------------------


@final
@dataclass(slots=True)
class FileUpdate:
    """The planned update of one file.

    Args:
        path: the file.
        name: the display name of the file.
        before: the current content of the file; None if it does not exist.
        after: the new content of the file.
        updated: the changes of each case with a new expected value: steps, old value and new value. (If
            several cases share a value, the first one has the changes.)
        refused: the reason why other cases don't get a new value, by case.
    """

    path: Path
    name: str
    before: bytes | None = None
    after: bytes | None = None
    updated: dict[str, list[ValueChange]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def is_changed(self) -> bool:
        """Whether the content of the file changes."""
        return self.after is not None and self.after != self.before

    def refuse(self, reason: str) -> None:
        """Refuse all changes of the file."""
        self.refused.update(dict.fromkeys(self.updated, reason))
        self.updated.clear()
        self.after = None


def plan_updates(requests: Iterable[Request]) -> list[FileUpdate]:
    """Plan the update of each file, sorted by name; nothing is written yet.

    Different values for runs of one case, or for cases with one file of expected values, are refused.
    """
    by_file: dict[str, list[Request]] = {}
    for request in requests:
        by_file.setdefault(os.path.realpath(request.path), []).append(request)
    updates = [_plan_file(Path(path), file_requests) for path, file_requests in by_file.items()]
    return sorted(updates, key=lambda update: update.name)


def _plan_file(path: Path, requests: Sequence[Request]) -> FileUpdate:
    update = FileUpdate(path, requests[0].name)
    by_steps: dict[Steps, list[Request]] = {}
    for request in requests:
        if request.reason:
            update.refused[request.case] = request.reason
        by_steps.setdefault(request.steps, []).append(request)
    changes: dict[Steps, JsonValue] = {}
    cases: dict[Steps, list[str]] = {}
    for steps, step_requests in sorted(by_steps.items()):  # in the order of the file
        names = list(dict.fromkeys(request.case for request in step_requests))
        writes = [request for request in step_requests if request.action == "write"]
        if len({(request.action, request.value) for request in step_requests}) == 1 and writes:
            changes[steps], cases[steps] = parse_json(writes[0].value), names
        elif writes:
            runs = "runs" if steps or not writes[0].has_matchers else "comparisons"
            subject = f"its {runs} need" if len(names) == 1 else f"{' and '.join(names)} need"
            for name in names:
                update.refused.setdefault(name, f"{subject} different values")
    if not changes:
        return update
    update.updated = {name: [] for names in cases.values() for name in names}
    try:
        update.before = read_content(path)
        if {request.digest for request in requests} != {digest_of(update.before)}:
            update.refuse(_CHANGED_ON_DISK)
        else:
            _edit(update, changes, cases)
    except OSError as error:
        update.refuse(f"the file can't be read: {_reason(error)}")
    except JsonMatchError as error:
        update.refuse(str(error))
    return update


def _edit(update: FileUpdate, changes: dict[Steps, JsonValue], cases: dict[Steps, list[str]]) -> None:
    before = b"null\n" if update.before is None else update.before
    edited = (edit_lines if is_lines_file(str(update.path)) else edit)(before, update.name, changes)
    for steps, new in changes.items():
        if steps in edited.refused:
            for name in cases[steps]:
                update.updated.pop(name, None)
                update.refused[name] = edited.refused[steps]
            continue
        old = MISSING if update.before is None else edited.old[steps]
        prefix = (
            steps[-1:] if steps[-1:] == ("accept",) else ()
        )  # paths of accepted alternatives begin with it
        update.updated.get(cases[steps][0], []).extend(_changes(old, new, prefix))
    update.after = edited.data


def _changes(old: JsonValue, new: JsonValue, at: Steps) -> list[ValueChange]:
    if type(new) is dict and (old is MISSING or not old):  # each key separately, since one may be misspelt
        return [((*at, key), MISSING, value) for key, value in new.items()]
    found: list[ValueChange] = []

    def note(steps: Steps, before: JsonValue, after: JsonValue) -> JsonValue:
        found.append((steps, before, after))
        return after

    merge(old, new, note, at)
    return found


def read_value_at(data: bytes, path: Path, steps: Steps) -> JsonValue:
    """Return the value in a file; MISSING if there is none, or the file is not valid.

    In JSON Lines, the first step is the line, from 0.
    """
    try:
        if is_lines_file(str(path)):
            line, *inner_steps = steps
            data, steps = data.split(b"\n")[int(line)], tuple(inner_steps)
        return get_value(parse(data, str(path), holds_cases=True), steps)
    except (JsonMatchError, LookupError):
        return MISSING


def read_content(path: Path) -> bytes | None:
    """Return the content of a file; None if there is none."""
    try:
        return read_file(path)
    except FileNotFoundError:
        return None


def write(update: FileUpdate) -> None:
    """Write one file, completely or not at all; updates that can't be written are refused.

    The new content is written to another file, which then replaces the old one in one step; permissions stay.
    """
    if update.after is None or not update.is_changed:
        return
    try:
        current = read_content(update.path)
        if current != update.before:
            update.refuse(_CHANGED_ON_DISK)
        elif current is not None and not os.access(update.path, os.W_OK):
            update.refuse("the file is read-only")
        else:
            write_file(update.path, update.after)
    except OSError as error:
        update.refuse(f"the file can't be written: {_reason(error)}")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
