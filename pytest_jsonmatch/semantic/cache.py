"""Verdicts kept in a file: no pair is judged twice, and CI needs neither network nor key.

The file is JSON Lines, one verdict per line, sorted, to be committed, diffed and merged. It is always
replaced as a whole. Readers and writers take turns, by a lock, and writers read what others have written
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

from pytest_jsonmatch.atomic import remove_temporary_files, write_file
from pytest_jsonmatch.engine.value.convert import JsonValue
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchWarning, JsonParseError
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.semantic.judging import Answers, Judge, JudgeError, JudgeItem, JudgeUsage, Verdict
from pytest_jsonmatch.semantic.prompts import value_text
from pytest_jsonmatch.semantic.settings import check_setting

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pytest_jsonmatch.semantic.settings import JudgeMode

_LONGEST_VALUE: Final = 1_000_000
_REQUIRED: Final = ("path", "expected", "actual", "equivalent", "model", "prompt")
_TEXTS: Final = ("path", "model", "prompt", "reason", "description", "criterion")

_Who: TypeAlias = "tuple[str, str]"
"""A model, and the version of its prompt."""


@final
class CachedJudge:
    """A judge that is asked only about pairs without a kept verdict.

    Verdicts are kept by model, version of the prompt, path, description, criterion and both values. Errors
    are not kept.

    Args:
        judge: the judge to ask. None: verdicts of any model and prompt are replayed, or those that `model`
            and `prompt` select; a pair on which they differ is an error.
        path: the file of verdicts, JSON Lines; it must exist only if there is no judge.
        mode: "live": takes verdicts from the file, asks about the rest, and keeps the answers. "cached": a
            pair that is not in the file is a JudgeError of the kind `cache miss`.
        model: the model that gave the verdicts; None: the judge's own `model`, or the name of its class.
        prompt: the version of the prompt; None: the judge's own `prompt`, or none.

    Raises:
        ConfigurationError: there is no such mode. When it is asked: a line of the file is not a verdict (with
            its file:line), or the file can't be read or, in the mode `live`, written.

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
            model = _own(judge, "model", type(judge).__name__) if model is None else model
            prompt = _own(judge, "prompt", "") if prompt is None else prompt
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
        """What has been done so far, including what the judge did that is asked."""
        with self._lock:
            return self._usage if self._judge is None else self._judge.usage + self._usage

    def in_mode(self, mode: JudgeMode) -> CachedJudge:
        """Return this judge, or the same in another mode.

        >>> from pytest_jsonmatch.semantic.judging import CallableJudge
        >>> judge = CachedJudge(CallableJudge(bool), "verdicts.jsonl")
        >>> judge.in_mode("live") is judge, judge.in_mode("cached") is judge
        (True, False)
        """
        if mode == self._mode or self._judge is None:
            return self
        judge = CachedJudge(self._judge, self._file.path, mode=mode, model=self.model, prompt=self.prompt)
        judge._file = self._file  # the same file, even if the working directory has changed
        return judge

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return the verdict for each item's id, from the file or the judge, or why there is none."""
        self._file.refresh(required=self._judge is None)
        answers: dict[str, Verdict | JudgeError] = {}
        unknown: list[tuple[VerdictKey, JudgeItem]] = []
        for item in items:
            try:
                key = key_of(item)
                if (verdict := self._file.verdict(key, self.model, self.prompt)) is not None:
                    answers[item.id] = verdict
                else:
                    unknown.append((key, item))
            except JudgeError as error:
                answers[item.id] = error
        is_asked = self._judge is not None and self._mode == "live"
        if not is_asked:
            answers |= dict.fromkeys((item.id for _, item in unknown), self._miss())
        errors = sum(isinstance(answer, JudgeError) for answer in answers.values())
        with self._lock:
            self._usage += JudgeUsage(cached=len(answers) - errors, errors=errors)
        if self._judge is not None and is_asked and unknown:
            answers |= self._ask(self._judge, unknown)
        return {item.id: answers[item.id] for item in items}

    def _miss(self) -> JudgeError:
        told = f"on this pair in {self._file.path}"
        if self._judge is None:
            return JudgeError("cache miss", f"no verdict {told}")
        return JudgeError(
            "cache miss",
            f"no verdict of {self.model!r} {told}; the mode 'live' asks for it "
            "(pytest --jsonmatch-judge-mode=live, jsonmatch --judge mode=live)",
        )

    def _ask(self, judge: Judge, unknown: Sequence[tuple[VerdictKey, JudgeItem]]) -> Answers:
        """Ask about pairs, and keep the verdicts."""
        if find_spec("filelock") is None:
            raise ConfigurationError(
                "keeping verdicts needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'"
            )
        answers = judge.judge([item for _, item in unknown])
        forgotten = JudgeError("missing", "the judge gave no answer")
        said = [(key, item.id, answers.get(item.id, forgotten)) for key, item in unknown]
        fresh = {key: answer for key, _, answer in said if not isinstance(answer, JudgeError)}
        # Another process may have asked the same meanwhile: then the file's verdict counts.
        kept = self._file.add(fresh, str(self.model), str(self.prompt))
        return {name: kept.get(key, answer) for key, name, answer in said}


def _own(judge: Any, name: str, default: str) -> str:
    value = getattr(judge, name, None)
    return value if isinstance(value, str) else default


@final
class VerdictKey(NamedTuple):
    """What identifies a question; its values are JSON text with sorted keys."""

    path: str
    expected: str
    actual: str
    description: str | None
    criterion: str | None


_CacheLine: TypeAlias = "tuple[VerdictKey, _Who, Verdict]"
"""The content of a line."""


def key_of(item: JudgeItem) -> VerdictKey:
    """Return the key of a verdict on an item, to which the model and its prompt are added.

    Raises:
        JudgeError: (of the kind `invalid`) a value is too long, or not JSON.

    >>> key_of(JudgeItem("1", "address", {"zip": 1, "city": "Rome"}, None)).expected
    '{"city": "Rome", "zip": 1}'
    """
    expected, actual = (value_text(_sorted(value), _LONGEST_VALUE) for value in (item.expected, item.actual))
    return VerdictKey(item.path, expected, actual, item.description, item.criterion)


def _sorted(value: JsonValue) -> JsonValue:
    """Return a value with the keys of its objects sorted."""
    if type(value) is dict:
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(element) for element in value] if type(value) is list else value


@final
class VerdictFile:
    """A file of verdicts; safe to use from several threads and processes.

    Args:
        path: the file; it need not exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        """As it was given, for messages."""
        self._place = self.path.absolute()  # tests change the folder that they run in
        self._entries: dict[bytes, _CacheLine] = {}
        """By line."""
        self._verdicts: dict[VerdictKey, dict[_Who, Verdict]] = {}
        self._state: object = None
        """The state of the file that was read."""
        self._lock = Lock()

    def verdict(self, key: VerdictKey, model: str | None, prompt: str | None) -> Verdict | None:
        """Return the verdict on a question, by one model and prompt, or by any (None).

        Raises:
            JudgeError: (of the kind `invalid`) there are several, and they differ.
        """
        verdicts = {
            who: verdict
            for who, verdict in self._verdicts.get(key, {}).items()
            if model in {None, who[0]} and prompt in {None, who[1]}
        }
        if len({verdict.equivalent for verdict in verdicts.values()}) > 1:
            names = ", ".join(" ".join(filter(None, who)) for who in sorted(verdicts))
            raise JudgeError("invalid", f"recorded verdicts differ ({names}): name one model, or one prompt")
        return next(iter(verdicts.values()), None)

    def refresh(self, *, required: bool = False) -> None:
        """Read the file, if it has changed.

        Raises:
            ConfigurationError: it can't be read, or is missing but `required`; or a line is not a verdict.
        """
        try:
            with self._lock, _turn(self._place):
                self._refresh()
        except OSError as error:
            raise ConfigurationError(f"the cache of verdicts can't be read: {error}") from None
        if required and self._state is None:
            raise ConfigurationError(f"the cache of verdicts {self.path} does not exist")

    def _refresh(self) -> None:
        state, data = None, b""
        if self._state is None:  # nothing may be written in this run
            remove_temporary_files(Path(os.path.realpath(self._place)))
        try:
            with self._place.open("rb") as file:
                status = os.fstat(file.fileno())
                state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                if state == self._state:
                    return
                data = file.read()
        except FileNotFoundError:
            pass
        self._state = None  # so that a file with a bad line is read again once it is repaired
        entries: dict[bytes, _CacheLine] = {}
        verdicts: dict[VerdictKey, dict[_Who, Verdict]] = {}
        for number, line in enumerate(data.splitlines(), 1):
            if not line.strip():
                continue
            try:
                key, who, verdict = entries[line] = self._entries.get(line) or _parsed(line)
            except ValueError as error:
                raise ConfigurationError(
                    f"{self.path}:{number}: {error}; delete the line to have the pair asked about again"
                ) from None
            if verdicts.setdefault(key, {}).setdefault(who, verdict).equivalent != verdict.equivalent:
                raise ConfigurationError(
                    f"{self.path}:{number}: a line above has another verdict on the same pair; delete one"
                )
        self._entries, self._verdicts, self._state = entries, verdicts, state

    def add(
        self, verdicts: Mapping[VerdictKey, Verdict], model: str, prompt: str
    ) -> dict[VerdictKey, Verdict]:
        """Keep verdicts, unless another process has kept one meanwhile.

        Returns:
            The file's verdict on each. If the file can't be written, that is only a warning: the verdicts
            were paid for.
        """
        with self._lock:
            try:
                with _turn(self._place):
                    self._refresh()
                    new = {
                        _line(key, verdict, model, prompt).encode()
                        for key, verdict in verdicts.items()
                        if self.verdict(key, model, prompt) is None
                    }
                    if new:
                        lines = sorted(new.union(self._entries))
                        write_file(self._place, b"".join(line + b"\n" for line in lines))
                        self._refresh()
            except (OSError, ConfigurationError) as error:
                warnings.warn(f"verdicts of {model!r} were not kept: {error}", JsonMatchWarning, stacklevel=4)
                return dict(verdicts)
            return {key: self.verdict(key, model, prompt) or verdict for key, verdict in verdicts.items()}


def _turn(path: Path) -> AbstractContextManager[object]:
    """Return the lock of a file of verdicts, if there are locks; it is not beside the committed file.

    Without the extra that has them, files are only read. Windows replaces no file that somebody reads.
    """
    if find_spec("filelock") is None:
        return nullcontext()
    from filelock import FileLock

    user = getattr(os, "getuid", int)()  # on Windows the folder is the user's own
    digest = hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return FileLock(Path(tempfile.gettempdir(), f"pytest-jsonmatch-{user}-{digest}.lock"))


def _line(key: VerdictKey, verdict: Verdict, model: str, prompt: str) -> str:
    """Return a verdict as a line; such lines sort by path, expected and actual."""
    said = {
        "equivalent": verdict.equivalent,
        "reason": verdict.reason,
        "model": model,
        "prompt": prompt,
        "description": key.description,
        "criterion": key.criterion,
    }
    texts = {
        "path": value_text(key.path, _LONGEST_VALUE),
        "expected": key.expected,
        "actual": key.actual,
        **{name: value_text(each, _LONGEST_VALUE) for name, each in said.items() if each is not None},
    }
    return "{" + ", ".join(f'"{name}": {text}' for name, text in texts.items()) + "}"


def _parsed(line: bytes) -> _CacheLine:
    """Read a line; a ValueError says what is wrong with it."""
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")):
        raise ValueError("a merge has left a conflict marker here")
    try:
        said: Any = parse_json(line)
    except JsonParseError as error:
        raise ValueError(str(error)) from None
    if not isinstance(said, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one kind of error for every bad line
    for name in _REQUIRED:
        if name not in said:
            raise ValueError(f"the verdict has no {name!r}")
    if not isinstance(said["equivalent"], bool):
        raise ValueError(f"'equivalent' must be true or false, got {said['equivalent']!r}")  # noqa: TRY004
    for name in _TEXTS:
        if name in said and not isinstance(said[name], str):
            raise ValueError(f"{name!r} is not text")
    words = said.get("description"), said.get("criterion")
    item = JudgeItem("", said["path"], said["expected"], said["actual"], *words)
    return (
        key_of(item),
        (said["model"], said["prompt"]),
        Verdict(said["equivalent"], said.get("reason")),
    )
