"""A session: one run of pytest in this process, and which of several is the current one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, final

import pytest

from pytest_jsonmatch.session.outcomes import Outcomes
from pytest_jsonmatch.session.recorder import Look, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.session.options import Settings

__all__ = ["Session", "current_session", "enter", "leave"]


@final
class Session:
    """One run of pytest in this process."""

    def __init__(self, config: pytest.Config, settings: Settings, *, encoding: str) -> None:
        self.config = config
        self.settings = settings
        self.outcomes = Outcomes()
        self.usage_since: Callable[[], list[float] | None] | None = None
        """Tells what judges did since the last call, once one was asked."""
        self.collected: set[str] = set()
        """The cases that were collected, chosen to run or not, by id; empty where nobody asks."""
        self.planned: dict[str, int] | None = None
        """The cases that are chosen to run, and how many runs of each; the first test takes it along."""
        self.judge: object = None
        """The judge of the settings, once somebody has asked for it."""
        self.judged: object = None
        """What judges have said, once one was asked; `judges` knows what it is."""
        self.told: list[float] | None = None
        """What judges had done when a report was last told of it."""
        self._running: list[Recorder] = []
        self._encoding = encoding
        self._look: Look | None = None
        self._closing = ExitStack()
        self._registry_is_open = False

    def open_registry(self) -> None:
        """Call `pytest_jsonmatch_register` as soon as there is anybody to call; pytest calls later comers.

        To be called whenever somebody may have come: a run in which nobody does need not import the engine.
        Raises the `ConfigurationError` of a wrong registration.
        """
        hook = self.config.hook.pytest_jsonmatch_register
        if self._registry_is_open or not hook.get_hookimpls():
            return
        from pytest_jsonmatch.engine.plan.registry import session_registry

        self._registry_is_open = True
        hook.call_historic(kwargs={"registry": self._closing.enter_context(session_registry())})

    def check_metric(self) -> None:
        """Raise `ConfigurationError` if nobody knows the metric of the settings."""
        from pytest_jsonmatch.engine.plan.registry import active_registry

        active_registry().find_metric(self.settings.metric)

    def at_end(self, close: Callable[[], object] | None) -> None:
        """Call something when the session ends."""
        if close is not None:
            self._closing.callback(close)

    def close(self) -> None:
        """Forget what was registered for this session."""
        self._closing.close()

    @property
    def running(self) -> Recorder | None:
        """The recorder of the item that runs now."""
        return self._running[-1] if self._running else None

    def start(self, item: pytest.Item) -> Recorder:
        """Let `item` be the running one."""
        wanted = self.settings.html is not None, self.settings.json is not None
        recorder = Recorder(item, keeps_details=wanted[0], keeps_audit=wanted[1])
        recorder.planned, self.planned = self.planned, None
        self._running.append(recorder)
        return recorder

    def stop(self, recorder: Recorder) -> None:
        """Let the recorder's item be running no more."""
        self._running.remove(recorder)

    @property
    def verbosity(self) -> int:
        """How much a failure message says: `-v`, or the ini option `verbosity_assertions`."""
        return self.config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS)

    @property
    def look(self) -> Look:
        """How text for this run's terminal may look."""
        if self._look is None:
            self._look = self._find_look()
        return self._look

    def _find_look(self) -> Look:
        told = getattr(self.config, "workerinput", {}).get("jsonmatch_look")
        if told is not None:
            return Look(*told)
        if not self.config.pluginmanager.has_plugin("terminalreporter"):
            return Look()
        writer = self.config.get_terminal_writer()
        return Look(
            color=writer.hasmarkup, unicode=_can_write_unicode(self._encoding), width=writer.fullwidth
        )


def _can_write_unicode(encoding: str) -> bool:
    try:
        "…–→█─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True


# The imported `assert_json_match` has no request to ask which test it runs in, and a thread of a test, or an
# event loop that outlives it, has none of the test's context variables. So the process has to know. It is a
# stack because pytest may run inside a test of pytest: what the inner run compares belongs to the inner run.
_SESSIONS: Final[list[Session]] = []


def enter(session: Session) -> None:
    """Make `session` the current one."""
    _SESSIONS.append(session)


def leave(session: Session) -> None:
    """Take `session` away, wherever in the stack it is, with all that was registered for it."""
    if session in _SESSIONS:
        _SESSIONS.remove(session)
    session.close()


def current_session() -> Session | None:
    """Return the innermost session that runs in this process, or None outside pytest."""
    return _SESSIONS[-1] if _SESSIONS else None
