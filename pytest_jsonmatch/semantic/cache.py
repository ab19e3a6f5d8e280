"""Verdicts cached in a file: no pair is judged twice, and CI needs neither network nor key.

The file is JSON Lines, one verdict per line, sorted, so that it can be committed, diffed and merged. It is
always replaced as a whole. A lock lets only one process read or write at a time, and writers read the file
before they write.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchWarning,
    JsonParseError,
    choose_words,
)
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.semantic.judging import Answers, Judge, JudgeError, JudgeItem, JudgeUsage, Verdict
from pytest_jsonmatch.semantic.prompts import format_value
from pytest_jsonmatch.semantic.settings import check_setting
from pytest_jsonmatch.support.atomic import open_file, remove_temporary_files, write_file

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pytest_jsonmatch.semantic.settings import JudgeMode

_LONGEST_VALUE: Final = 1_000_000
_REQUIRED: Final = ("path", "expected", "actual", "equivalent", "model", "prompt")
_TEXTS: Final = ("path", "model", "prompt", "reason", "description", "criterion")

_Source: TypeAlias = "tuple[str, str]"
"""The model and the version of the prompt that a verdict comes from."""


@final
class CachedJudge:
    """A judge that is asked only about pairs without a cached verdict.

    Verdicts are cached by model, version of the prompt, path, description, criterion and both values. Errors
    are not cached.

    Args:
        judge: the judge to ask. None: verdicts of any model and prompt are replayed, or those that `model`
            and `prompt` select; a pair on which these verdicts differ is an error.
        path: the file of verdicts, JSON Lines; it must exist only if there is no judge.
        mode: "live": use the verdicts in the file, ask about all other pairs, and add the answers to the
            file. "cached": a pair that is not in the file is a JudgeError of the kind `cache miss`.
        model: the model of the verdicts; None: the judge's own `model`, or the name of its class.
        prompt: the version of the prompt; None: the judge's own `prompt`, or an empty text.

    Raises:
        ConfigurationError: the mode is unknown. When asked: a line of the file is not a verdict (with its
            file:line), or the file can't be read.

    >>> import tempfile, pathlib
    >>> from pytest_jsonmatch.semantic.judging import CallableJudge, JudgeItem
    >>> asked = CallableJudge(lambda item: item.expected.lower() == item.actual.lower())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "verdicts.jsonl")
    ...     item = JudgeItem("1", "city", "Paris", "PARIS")
    ...     for mode in ("cached", "live", "cached"):
    ...         judge = CachedJudge(asked, file, mode=mode)
    ...         print(mode, type(judge.judge([item])["1"]).__name__)
    ...     CachedJudge(None, file).judge([item])
    cached JudgeError
    live Verdict
    cached Verdict
    {'1': Verdict(equivalent=True, reason=None)}
    """

    def __init__(
        self,
        judge: Judge | None,
        path: str | Path,
        *,
        mode: JudgeMode = "live",
        model: str | None = None,
        prompt: str | None = None,
    ) -> None:
        check_setting("mode", mode)
        if judge is not None:
            model = _get_text(judge, "model", type(judge).__name__) if model is None else model
            prompt = _get_text(judge, "prompt", "") if prompt is None else prompt
        self._judge = judge
        self._mode = mode
        self.model = model
        self.prompt = prompt
        self._file = VerdictFile(path)
        self._usage = JudgeUsage()
        self._lock = Lock()

    def __repr__(self) -> str:
        if self._judge is None:
            return f"CachedJudge(None, {str(self._file.path)!r})"
        return f"CachedJudge({self._judge!r}, mode={self._mode!r})"

    @property
    def usage(self) -> JudgeUsage:
        """The usage so far, including that of the wrapped judge."""
        with self._lock:
            return self._usage if self._judge is None else self._judge.usage + self._usage

    def in_mode(self, mode: JudgeMode) -> CachedJudge:
        """Return this judge, or a copy of it in another mode.

        >>> from pytest_jsonmatch.semantic.judging import CallableJudge
        >>> judge = CachedJudge(CallableJudge(bool), "verdicts.jsonl")
        >>> judge.in_mode("live") is judge, judge.in_mode("cached") is judge
        (True, False)
        """
        if mode == self._mode or self._judge is None:
            return self
        judge = CachedJudge(self._judge, self._file.path, mode=mode, model=self.model, prompt=self.prompt)
        judge._file = self._file  # still the same file if the working directory has changed
        return judge

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return for each item's id a verdict from the file or the judge, or a JudgeError."""
        self._file.refresh(required=self._judge is None)
        answers: dict[str, Verdict | JudgeError] = {}
        unknown: list[tuple[VerdictKey, JudgeItem]] = []
        for item in items:
            try:
                key = make_key(item)
                if (verdict := self._file.find_verdict(key, self.model, self.prompt)) is not None:
                    answers[item.id] = verdict
                else:
                    unknown.append((key, item))
            except JudgeError as error:
                answers[item.id] = error
        is_asked = self._judge is not None and self._mode == "live"
        if not is_asked:
            answers |= dict.fromkeys((item.id for _, item in unknown), self._make_miss())
        errors = sum(isinstance(answer, JudgeError) for answer in answers.values())
        with self._lock:
            self._usage += JudgeUsage(cached=len(answers) - errors, errors=errors)
        if self._judge is not None and is_asked and unknown:
            answers |= self._ask(self._judge, unknown)
        return {item.id: answers[item.id] for item in items}

    def _make_miss(self) -> JudgeError:
        pair = f"on this pair in {self._file.path}"
        if self._judge is None:
            return JudgeError("cache miss", f"no verdict {pair}")
        asks = choose_words("in pytest --jsonmatch-judge-mode=live", "--judge mode=live")
        return JudgeError(
            "cache miss", f"no verdict of {self.model!r} {pair}; the mode 'live' asks for it ({asks})"
        )

    def _ask(self, judge: Judge, unknown: Sequence[tuple[VerdictKey, JudgeItem]]) -> Answers:
        """Ask the judge about pairs, and add its verdicts to the file."""
        if find_spec("filelock") is None:
            raise ConfigurationError(
                "keeping verdicts needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'"
            )
        answers = judge.judge([item for _, item in unknown])
        unanswered = JudgeError("missing", "the judge gave no answer")
        replies = [(key, item.id, answers.get(item.id, unanswered)) for key, item in unknown]
        fresh = {key: answer for key, _, answer in replies if not isinstance(answer, JudgeError)}
        # Another process may have asked the same question meanwhile; then the verdict in the file counts.
        recorded = self._file.add(fresh, str(self.model), str(self.prompt))
        return {name: recorded.get(key, answer) for key, name, answer in replies}


def _get_text(judge: Any, name: str, default: str) -> str:
    value = getattr(judge, name, None)
    return value if isinstance(value, str) else default


@final
class VerdictKey(NamedTuple):
    """The key of a question; both values are JSON text with sorted keys."""

    path: str
    expected: str
    actual: str
    description: str | None
    criterion: str | None


_CacheLine: TypeAlias = "tuple[VerdictKey, _Source, Verdict]"
"""The content of a line."""


def make_key(item: JudgeItem) -> VerdictKey:
    """Return the key of an item's verdict, apart from the model and its prompt.

    Raises:
        JudgeError: (of the kind `invalid`) a value is too long, or not JSON.

    >>> make_key(JudgeItem("1", "address", {"zip": 1, "city": "Rome"}, None)).expected
    '{"city": "Rome", "zip": 1}'
    """
    expected, actual = (
        format_value(_sort_keys(value), _LONGEST_VALUE) for value in (item.expected, item.actual)
    )
    return VerdictKey(item.path, expected, actual, item.description, item.criterion)


def _sort_keys(value: JsonValue) -> JsonValue:
    """Return a value with the keys of its objects sorted."""
    if type(value) is dict:
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    return [_sort_keys(element) for element in value] if type(value) is list else value


@final
class VerdictFile:
    """A file of verdicts; safe to use from several threads and processes.

    Args:
        path: the file; it need not exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        """The path as given, for messages."""
        self._absolute_path = self.path.absolute()  # the working directory may change
        self._entries: dict[bytes, _CacheLine] = {}
        """The parsed lines, by their bytes."""
        self._verdicts: dict[VerdictKey, dict[_Source, Verdict]] = {}
        self._state: object = None
        """The identity, size and time of the file when it was last read; None before."""
        self._lock = Lock()

    def find_verdict(self, key: VerdictKey, model: str | None, prompt: str | None) -> Verdict | None:
        """Return the verdict on a question, of one model and prompt, or of any (None).

        Raises:
            JudgeError: (of the kind `invalid`) several verdicts are selected, and they differ.
        """
        verdicts = {
            source: verdict
            for source, verdict in self._verdicts.get(key, {}).items()
            if model in {None, source[0]} and prompt in {None, source[1]}
        }
        if len({verdict.equivalent for verdict in verdicts.values()}) > 1:
            names = ", ".join(" ".join(filter(None, source)) for source in sorted(verdicts))
            raise JudgeError("invalid", f"recorded verdicts differ ({names}): name one model, or one prompt")
        return next(iter(verdicts.values()), None)

    def refresh(self, *, required: bool = False) -> None:
        """Read the file if it has changed.

        Raises:
            ConfigurationError: the file can't be read, is missing though `required`, or has an invalid line.
        """
        try:
            with self._lock, _lock_file(self._absolute_path):
                self._refresh()
        except OSError as error:
            raise ConfigurationError(f"the cache of verdicts can't be read: {error}") from None
        if required and self._state is None:
            raise ConfigurationError(f"the cache of verdicts {self.path} does not exist")

    def _refresh(self) -> None:
        state, data = None, b""
        if self._state is None:  # nothing may be written in this run
            remove_temporary_files(Path(os.path.realpath(self._absolute_path)))
        try:
            with open_file(self._absolute_path) as file:
                status = os.fstat(file.fileno())
                state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                if state == self._state:
                    return
                data = file.read()
        except FileNotFoundError:
            pass
        self._state = None  # so that a file with a bad line is read again once it is repaired
        entries: dict[bytes, _CacheLine] = {}
        verdicts: dict[VerdictKey, dict[_Source, Verdict]] = {}
        for number, line in enumerate(data.splitlines(), 1):
            if not line.strip():
                continue
            try:
                key, source, verdict = entries[line] = self._entries.get(line) or _parse_line(line)
            except ValueError as error:
                raise ConfigurationError(
                    f"{self.path}:{number}: {error}; delete the line to have the pair asked about again"
                ) from None
            if verdicts.setdefault(key, {}).setdefault(source, verdict).equivalent != verdict.equivalent:
                raise ConfigurationError(
                    f"{self.path}:{number}: a line above has another verdict on the same pair; delete one"
                )
        self._entries, self._verdicts, self._state = entries, verdicts, state

    def add(
        self, verdicts: Mapping[VerdictKey, Verdict], model: str, prompt: str
    ) -> dict[VerdictKey, Verdict]:
        """Add verdicts to the file, except where another process has added one meanwhile.

        Returns:
            The file's verdict for each key. A file that can't be written is only a warning, since the
            verdicts were paid for.
        """
        with self._lock:
            try:
                with _lock_file(self._absolute_path):
                    self._refresh()
                    new = {
                        _format_line(key, verdict, model, prompt).encode()
                        for key, verdict in verdicts.items()
                        if self.find_verdict(key, model, prompt) is None
                    }
                    if new:
                        lines = sorted(new.union(self._entries))
                        write_file(self._absolute_path, b"".join(line + b"\n" for line in lines))
                        self._refresh()
            except (OSError, ConfigurationError) as error:
                warnings.warn(f"verdicts of {model!r} were not kept: {error}", JsonMatchWarning, stacklevel=4)
                return dict(verdicts)
            return {
                key: self.find_verdict(key, model, prompt) or verdict for key, verdict in verdicts.items()
            }


def _lock_file(path: Path) -> AbstractContextManager[object]:
    """Return the lock of a file of verdicts; the lock file is in the temporary folder.

    Without `filelock` (the extra `judge`) nothing is locked, since files are only read. Readers need the lock
    because Windows can't replace a file that is being read.
    """
    if find_spec("filelock") is None:
        return nullcontext()
    from filelock import FileLock

    user = getattr(os, "getuid", int)()  # on Windows the folder is the user's own
    digest = hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return FileLock(Path(tempfile.gettempdir(), f"pytest-jsonmatch-{user}-{digest}.lock"))


def _format_line(key: VerdictKey, verdict: Verdict, model: str, prompt: str) -> str:
    """Return a verdict as a line; lines sort by path, expected and actual."""
    members = {
        "equivalent": verdict.equivalent,
        "reason": verdict.reason,
        "model": model,
        "prompt": prompt,
        "description": key.description,
        "criterion": key.criterion,
    }
    texts = {
        "path": format_value(key.path, _LONGEST_VALUE),
        "expected": key.expected,
        "actual": key.actual,
        **{name: format_value(value, _LONGEST_VALUE) for name, value in members.items() if value is not None},
    }
    return "{" + ", ".join(f'"{name}": {text}' for name, text in texts.items()) + "}"


def _parse_line(line: bytes) -> _CacheLine:
    """Parse a line; raise a ValueError that describes the mistake in it."""
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")):
        raise ValueError("a merge has left a conflict marker here")
    try:
        members: Any = parse_json(line)
    except JsonParseError as error:
        raise ValueError(str(error)) from None
    if not isinstance(members, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one kind of error for every bad line
    for name in _REQUIRED:
        if name not in members:
            raise ValueError(f"the verdict has no {name!r}")
    if not isinstance(members["equivalent"], bool):
        raise ValueError(f"'equivalent' must be true or false, got {members['equivalent']!r}")  # noqa: TRY004
    for name in _TEXTS:
        if name in members and not isinstance(members[name], str):
            raise ValueError(f"{name!r} is not text")
    words = members.get("description"), members.get("criterion")
    item = JudgeItem("", members["path"], members["expected"], members["actual"], *words)
    return (
        make_key(item),
        (members["model"], members["prompt"]),
        Verdict(members["equivalent"], members.get("reason")),
    )
