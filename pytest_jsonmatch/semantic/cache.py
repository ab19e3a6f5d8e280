"""Verdicts kept in a file: what was judged once is not asked again, and CI needs neither network nor key."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.semantic.judging import JudgeError, JudgeUsage
from pytest_jsonmatch.semantic.making import MODES
from pytest_jsonmatch.semantic.verdictfile import VerdictFile, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_jsonmatch.semantic.judging import Answers, Judge, JudgeItem, Verdict
    from pytest_jsonmatch.semantic.making import Mode
    from pytest_jsonmatch.semantic.verdictfile import Key

__all__ = ["CachedJudge", "RecordedJudge"]


@final
class CachedJudge:
    """A judge that is asked only about what it has not judged before.

    Verdicts are kept by model, version of the prompt, path, description, criterion and both values. Errors
    are not kept.

    Args:
        judge: who is asked. With the mode `cached` or `off` it never is.
        path: the file of verdicts, JSON Lines; it need not be there yet. With the mode `off` None will do.
        mode: "live": takes what is in the file, asks about the rest, and keeps what is said. "cached":
            what is not in the file is a JudgeError of the kind `cache miss`. "off": everything is a
            JudgeError of the kind `off`, and the file is not read.
        model: whose verdicts these are; None: the judge's own `model`, or the name of its class.
        prompt: the version of what it is told; None: the judge's own `prompt`, or none.

    Raises:
        ConfigurationError: there is no such mode, or no path. When it is asked: a line of the file is no
            verdict (with its file:line), or the file can't be read, or, in the mode `live`, not be written.

    >>> import tempfile, pathlib
    >>> from pytest_jsonmatch.semantic.judging import CallableJudge, JudgeItem
    >>> asked = CallableJudge(lambda item: item.expected.lower() == item.actual.lower())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "verdicts.jsonl")
    ...     item = JudgeItem("1", "city", "Paris", "PARIS")
    ...     for mode in ("cached", "live", "cached"):
    ...         judge = CachedJudge(asked, file, mode=mode)
    ...         print(mode, type(judge.judge([item])["1"]).__name__)
    ...     judge.close()
    cached JudgeError
    live Verdict
    cached Verdict
    """

    def __init__(
        self,
        judge: Judge,
        path: str | Path | None,
        *,
        mode: Mode = "live",
        model: str | None = None,
        prompt: str | None = None,
    ) -> None:
        if mode not in MODES:
            raise ConfigurationError(f"mode is {mode!r}{did_you_mean(str(mode), MODES)}")
        if path is None and mode != "off":
            raise ConfigurationError(f"the mode {mode!r} needs the path of a cache")
        self._judge = judge
        self._mode = mode
        self.model = model if model is not None else _text(judge, "model", type(judge).__name__)
        self.prompt = prompt if prompt is not None else _text(judge, "prompt", "")
        self._file = None if path is None else VerdictFile(path)
        self._usage = JudgeUsage()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"CachedJudge({self._judge!r}, mode={self._mode!r})"

    @property
    def usage(self) -> JudgeUsage:
        """What has been done so far, by the judge that is asked too."""
        with self._lock:
            return self._judge.usage + self._usage

    def close(self) -> None:
        """Close the judge that is asked, if it can be closed."""
        close = getattr(self._judge, "close", None)
        if callable(close):
            close()

    def in_mode(self, mode: Mode) -> CachedJudge:
        """Return this judge, or the same in another mode.

        >>> from pytest_jsonmatch.semantic.judging import CallableJudge
        >>> judge = CachedJudge(CallableJudge(bool), "verdicts.jsonl")
        >>> judge.in_mode("live") is judge, judge.in_mode("cached") is judge
        (True, False)
        """
        if mode == self._mode:
            return self
        path = None if self._file is None else self._file.path
        found = CachedJudge(self._judge, path, mode=mode, model=self.model, prompt=self.prompt)
        found._file = self._file  # it is where it was, also when the working directory has changed
        return found

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return for each item's id its verdict, from the file or from the judge, or why there is none."""
        if self._file is None or self._mode == "off":
            error = JudgeError("off", "no judge is asked (mode 'off')")
            self._count(errors=len(items))
            return dict.fromkeys((item.id for item in items), error)
        keys: dict[str, Key] = {}
        found: dict[str, Verdict | JudgeError] = {}
        for item in items:
            try:
                keys[item.id] = key_of(item)
            except JudgeError as error:
                found[item.id] = error
        wrong = len(found)
        self._file.refresh()
        open_items: list[JudgeItem] = []
        for item in items:
            if item.id in keys:
                if (verdict := self._file.verdict(keys[item.id], self.model, self.prompt)) is not None:
                    found[item.id] = verdict
                else:
                    open_items.append(item)
        cached = len(found) - wrong
        if self._mode == "cached":
            miss = JudgeError(
                "cache miss",
                f"no verdict of {self.model!r} on this pair in {self._file.path}; the mode 'live' asks for "
                "it (pytest --jsonmatch-judge-mode=live, jsonmatch --judge-mode live)",
            )
            found.update(dict.fromkeys((item.id for item in open_items), miss))
            wrong += len(open_items)
        elif open_items:
            found.update(self._ask(self._file, open_items, keys))
        self._count(cached=cached, errors=wrong)
        return {item.id: found[item.id] for item in items}

    def _ask(
        self, file: VerdictFile, items: Sequence[JudgeItem], keys: dict[str, Key]
    ) -> dict[str, Verdict | JudgeError]:
        """Ask about each pair once, keep what is said, and say it of every item with that pair."""
        file.check_writable()
        first: dict[Key, JudgeItem] = {}
        for item in items:
            first.setdefault(keys[item.id], item)
        answers = self._judge.judge(list(first.values()))
        said: dict[Key, Verdict | JudgeError] = {}
        for key, item in first.items():
            answer = answers.get(item.id)
            said[key] = JudgeError("missing", "the judge gave no answer") if answer is None else answer
        fresh = {key: answer for key, answer in said.items() if not isinstance(answer, JudgeError)}
        # Another process may have asked the same meanwhile: what is in the file stands.
        said.update(file.add(fresh, self.model, self.prompt))
        again = [item for item in items if first[keys[item.id]] is not item]
        errors = sum(isinstance(said[keys[item.id]], JudgeError) for item in again)
        self._count(cached=len(again) - errors, errors=errors)
        return {item.id: said[keys[item.id]] for item in items}

    def _count(self, **figures: int) -> None:
        with self._lock:
            self._usage += JudgeUsage(**figures)


@final
class RecordedJudge:
    """Replays the verdicts of a file, whoever gave them, and asks nobody.

    Args:
        path: a file that a CachedJudge has filled.
        model: whose verdicts are taken; None: anybody's. Where two models differ, that pair is an error.
        prompt: the version of what they were told; None: any.

    Raises:
        ConfigurationError: when it is asked: the file is not there, or a line of it is no verdict.

    >>> import tempfile, pathlib
    >>> from pytest_jsonmatch.semantic.judging import JudgeItem
    >>> line = '{"path": "city", "expected": "New York", "actual": "NYC", "equivalent": true'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "verdicts.jsonl")
    ...     _ = file.write_text(line + ', "model": "m", "prompt": "1"}', encoding="utf-8")
    ...     RecordedJudge(file).judge([JudgeItem("1", "city", "New York", "NYC")])
    {'1': Verdict(equivalent=True, reason=None)}
    """

    def __init__(self, path: str | Path, *, model: str | None = None, prompt: str | None = None) -> None:
        self._file = VerdictFile(path)
        self.model = model
        self.prompt = prompt
        self._usage = JudgeUsage()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"RecordedJudge({str(self._file.path)!r})"

    @property
    def usage(self) -> JudgeUsage:
        """What has been done so far."""
        with self._lock:
            return self._usage

    def in_mode(self, mode: Mode) -> RecordedJudge:  # noqa: ARG002 - it asks nobody in any
        """Return this judge."""
        return self

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return for each item's id its verdict; where there is none, a JudgeError (`cache miss`)."""
        self._file.refresh(required=True)
        answers = {item.id: self._of(item) for item in items}
        errors = sum(isinstance(answer, JudgeError) for answer in answers.values())
        with self._lock:
            self._usage += JudgeUsage(cached=len(items) - errors, errors=errors)
        return answers

    def _of(self, item: JudgeItem) -> Verdict | JudgeError:
        try:
            found = self._file.verdicts(key_of(item), self.model, self.prompt)
        except JudgeError as error:
            return error
        if not found:
            return JudgeError("cache miss", f"no verdict on this pair in {self._file.path}")
        if len({verdict.equivalent for verdict in found.values()}) > 1:
            names = ", ".join(" ".join(filter(None, who)) for who in sorted(found))
            return JudgeError("invalid", f"recorded verdicts differ ({names}): name one model, or one prompt")
        return next(iter(found.values()))


def _text(judge: Any, name: str, default: str) -> str:
    value = getattr(judge, name, None)
    return value if isinstance(value, str) else default
