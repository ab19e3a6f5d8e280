"""The judges of a run of pytest: the fixture `jsonmatch_judge`, the ini option, and usage counts."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.bench import Bench, Memory
from pytest_jsonmatch.semantic.judging import JudgeUsage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.session.options import Settings
    from pytest_jsonmatch.session.recorder import Recorder


@final
class Judging:
    """The judges of one run of pytest, and their usage.

    Args:
        settings: of the run.
        root: the folder that the path of a cache is relative to.
        find: returns the recorder of the running test; None outside of tests.
    """

    def __init__(self, settings: Settings, root: Path, find: Callable[[], Recorder | None]) -> None:
        self.memory: Memory = Memory()
        self._settings = settings
        self._root = root
        self._find = find
        self._told = JudgeUsage()

    def bench(self, given: object = None) -> Bench:
        """Return the judges of the current comparison.

        Args:
            given: the comparison's own judge; None: the running test's fixture `jsonmatch_judge`, which is
                requested once there is a question.
        """
        return Bench(given, default=self._of_test, memory=self.memory, mode=self._settings.judge_mode)

    def _of_test(self) -> object:
        """Return the value of the running test's fixture, if overridden; else the configured judge."""
        recorder = self._find()
        if recorder is None or recorder.request is None:
            return self.configured
        judge: object = recorder.request.getfixturevalue("jsonmatch_judge")
        return judge

    @cached_property
    def configured(self) -> object:
        """The judge of `jsonmatch_judge` in the configuration file; None if it names none.

        Raises ConfigurationError if a setting has an invalid value.
        """
        said: dict[str, Any] = dict(self._settings.judge)
        if not said.keys() - {"mode"}:
            return None
        from pytest_jsonmatch.semantic.openaijudge import make_judge

        said["mode"] = self._settings.judge_mode or "live"
        if said.get("cache"):
            place, here = self._root / said["cache"], Path.cwd()
            # The shortest path, since messages name it.
            said["cache"] = place.relative_to(here) if place.is_relative_to(here) else place
        try:
            return make_judge(said)
        except ConfigurationError as error:
            raise ConfigurationError(f"jsonmatch_judge: {error}") from None

    def usage_since(self) -> JudgeUsage | None:
        """Return what judges did since the last call; None if nothing."""
        now = self.memory.usage
        found = now - self._told
        self._told = now
        return None if found == JudgeUsage() else found
