"""Verdicts kept in a file: no pair is judged twice, and CI needs neither network nor key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.judging import Answers, Judge, JudgeError, JudgeItem, JudgeUsage, Verdict
from pytest_jsonmatch.semantic.verdictfile import Key, VerdictFile, key_of

if TYPE_CHECKING:
    from pathlib import Path


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
        mode: Literal["live", "cached"] = "live",
        model: str | None = None,
        prompt: str | None = None,
    ) -> None:
        if mode not in {"live", "cached"}:
            raise ConfigurationError(f"mode is {mode!r}; it must be 'live' or 'cached'")
        if judge is not None:
            model = _text(judge, "model", type(judge).__name__) if model is None else model
            prompt = _text(judge, "prompt", "") if prompt is None else prompt
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

    def close(self) -> None:
        """Close the judge that is asked, if it can be closed."""
        close = getattr(self._judge, "close", None)
        if callable(close):
            close()

    def in_mode(self, mode: Literal["live", "cached"]) -> CachedJudge:
        """Return this judge, or the same in another mode.

        >>> from pytest_jsonmatch.semantic.judging import CallableJudge
        >>> judge = CachedJudge(CallableJudge(bool), "verdicts.jsonl")
        >>> judge.in_mode("live") is judge, judge.in_mode("cached") is judge
        (True, False)
        """
        if mode == self._mode or self._judge is None:
            return self
        found = CachedJudge(self._judge, self._file.path, mode=mode, model=self.model, prompt=self.prompt)
        found._file = self._file  # the same file, even if the working directory has changed
        return found

    def judge(self, items: Sequence[JudgeItem]) -> Answers:
        """Return the verdict for each item's id, from the file or the judge, or why there is none."""
        self._file.refresh(required=self._judge is None)
        found: dict[str, Verdict | JudgeError] = {}
        unknown: list[tuple[Key, JudgeItem]] = []
        for item in items:
            try:
                key = key_of(item)
                if (verdict := self._file.verdict(key, self.model, self.prompt)) is not None:
                    found[item.id] = verdict
                else:
                    unknown.append((key, item))
            except JudgeError as error:
                found[item.id] = error
        self._count(found.values())
        if self._judge is not None and self._mode == "live":
            if unknown:
                found.update(self._ask(self._judge, unknown))
        else:
            misses = dict.fromkeys((item.id for _, item in unknown), self._miss())
            self._count(misses.values())
            found.update(misses)
        return {item.id: found[item.id] for item in items}

    def _miss(self) -> JudgeError:
        place = self._file.path
        if self._judge is None:
            return JudgeError("cache miss", f"no verdict on this pair in {place}")
        return JudgeError(
            "cache miss",
            f"no verdict of {self.model!r} on this pair in {place}; the mode 'live' asks for it "
            "(pytest --jsonmatch-judge-mode=live, jsonmatch --judge-mode live)",
        )

    def _ask(self, judge: Judge, unknown: Sequence[tuple[Key, JudgeItem]]) -> Answers:
        """Ask about pairs, and keep the verdicts."""
        self._file.check_writable()
        answers = judge.judge([item for _, item in unknown])
        forgotten = JudgeError("missing", "the judge gave no answer")
        said = [(key, item.id, answers.get(item.id, forgotten)) for key, item in unknown]
        fresh = {key: answer for key, _, answer in said if not isinstance(answer, JudgeError)}
        # Another process may have asked the same meanwhile: then the file's verdict counts.
        kept = self._file.add(fresh, str(self.model), str(self.prompt))
        return {name: kept.get(key, answer) for key, name, answer in said}

    def _count(self, answers: Collection[Verdict | JudgeError]) -> None:
        """Count items that the judge itself was not asked about."""
        errors = sum(isinstance(answer, JudgeError) for answer in answers)
        with self._lock:
            self._usage += JudgeUsage(cached=len(answers) - errors, errors=errors)


def _text(judge: Any, name: str, default: str) -> str:
    value = getattr(judge, name, None)
    return value if isinstance(value, str) else default
