"""The judges of a run of pytest: the ini option, and usage counts."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.semantic.bench import Bench, Memory
from pytest_jsonmatch.semantic.judging import JudgeUsage

if TYPE_CHECKING:
    from pytest_jsonmatch.session.options import Settings


@final
class Judging:
    """The judges of one run of pytest, and their usage.

    Args:
        settings: of the run.
        root: the folder that the path of a cache is relative to.
    """

    def __init__(self, settings: Settings, root: Path) -> None:
        self.memory: Memory = Memory()
        self._settings = settings
        self._root = root
        self._told = JudgeUsage()

    def bench(self, given: object = None) -> Bench:
        """Return the judges of a comparison; `given` is its own, or None for the configured one."""
        mode = self._settings.judge_mode
        return Bench(given, default=lambda: self.configured, memory=self.memory, mode=mode)

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
            said["cache"] = Path(os.path.relpath(self._root / said["cache"]))  # messages name it
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
