"""Which session and which test is running, and what was compared in it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias, final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.records import Comparison
    from pytest_jsonmatch.settings import Settings

__all__ = [
    "REPORT_ATTRIBUTE",
    "UPDATE_ATTRIBUTE",
    "Look",
    "Outcomes",
    "Recorder",
    "Session",
    "current_session",
    "enter",
    "leave",
]

REPORT_ATTRIBUTE: Final = "jsonmatch"
"""Where a test report carries what was compared: a list of (id, JSON text) pairs."""
UPDATE_ATTRIBUTE: Final = "jsonmatch_update"
"""Where a test report carries what is to be written into golden files: a list of JSON texts."""

Payload: TypeAlias = "tuple[str, str]"
"""A comparison's id, and what its `to_text` gives.

One ASCII string a comparison, and not a tree of dicts: it passes between processes whatever a key holds (half
of a surrogate pair would end the run), and 10,000 of them are nothing to the garbage collector.
"""

_FIXTURES: Final = frozenset({"assert_json_match", "jsonmatch_case", "jsonmatch_actual"})


@dataclass(frozen=True, slots=True)
class Look:
    """How text for the terminal may look; a worker of pytest-xdist is told its controller's."""

    color: bool = False
    unicode: bool = True
    width: int = 80


@final
class Recorder:
    """What is compared while one item runs, by whichever thread."""

    __slots__ = (
        "_count",
        "_lock",
        "_names",
        "_pending",
        "_properties",
        "item",
        "nodeid",
        "outputs",
        "setup_seconds",
        "updates",
        "wanted",
    )

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.nodeid = _plain_nodeid(item)
        self._lock = Lock()
        self._names: set[str] = set()
        self._pending: list[Payload] = []
        self._properties: list[tuple[str, object]] = []
        self._count = 0
        self.updates: list[str] = []
        """What the item wants to be written into golden files."""
        self.wanted = False
        """Whether the item tried to compare."""
        self.setup_seconds = 0.0
        """What setting the item's fixtures up took."""
        self.outputs: list[str] = []
        """Lines for the file of `--jsonmatch-record`."""

    def restart(self) -> None:
        """Forget everything: the item is about to run (again)."""
        with self._lock:
            for entry in self._properties:
                if entry in self.item.user_properties:
                    self.item.user_properties.remove(entry)
            self._names.clear()
            self._pending.clear()
            self._properties.clear()
            self._count = 0
            self.updates.clear()
            self.wanted = False
            self.outputs = []

    def record(self, make: Callable[[str], Comparison], name: str | None) -> None:
        """Keep the comparison that `make` returns for an id that no other comparison of the item has.

        The id is the name, or `NODEID#n` for the n-th comparison of the test. A name that comes again gets
        `#2`, `#3` and so on, since a loop over a name must not stop a test that has nothing else against it.
        """
        with self._lock:
            self._count += 1
            short = f"#{self._count}" if name is None else self._unused(name)
            self._names.add(short)
        comparison = make(_text(f"{self.nodeid}{short}" if name is None else short))
        payload = (comparison.id, comparison.to_text())
        entry = (
            f"jsonmatch_score{short}" if name is None else f"jsonmatch_score[{_text(short)}]",
            comparison.score,
        )
        with self._lock:
            self._pending.append(payload)
            self._properties.append(entry)
            self.item.user_properties.append(entry)

    def _unused(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}#{count}"
        return candidate

    def hand_over(self) -> list[Payload]:
        """Return what was compared since the last call: each comparison travels on one report only."""
        if not self._pending:  # most tests compare nothing
            return []
        with self._lock:
            payloads, self._pending = self._pending, []
        return payloads

    def is_missed(self) -> bool:
        """Whether the item is there to compare, so that a run of it without a comparison is worth a note."""
        names = getattr(self.item, "fixturenames", ())
        return (
            self.wanted
            or getattr(self.item.parent, "compares", False)
            or not _FIXTURES.isdisjoint(names)
            or self.item.get_closest_marker("jsonmatch") is not None
        )


def _plain_nodeid(item: pytest.Item) -> str:
    """Return the item's node id without the `@group` that pytest-xdist appends under `--dist=loadgroup`."""
    nodeid = item.nodeid
    if not getattr(item.config.option, "loadgroup", False):
        return nodeid
    marks = list(item.iter_markers("xdist_group"))
    names = [str(mark.args[0] if mark.args else mark.kwargs.get("name", "default")) for mark in marks]
    # Older releases append the closest mark's name, newer ones all names, sorted and joined.
    for suffix in (*(f"@{name}" for name in names[:1]), f"@{'_'.join(sorted(set(names)))}"):
        if marks and nodeid.endswith(suffix):
            return nodeid.removesuffix(suffix)
    return nodeid


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(slots=True)
class _Test:
    """What the reports of one item have said so far."""

    comparisons: dict[str, str] = field(default_factory=dict)
    updates: list[str] = field(default_factory=list)
    xfail: bool = False
    skipped: bool = False
    failed: bool = False


@final
class Outcomes:
    """What the reports of a whole run say, with and without pytest-xdist; the last rerun wins."""

    def __init__(self) -> None:
        self._tests: dict[str, _Test] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what one report carries; registered as a plugin of its own, it hears its own run only."""
        if report.when == "setup":
            self._tests.pop(report.nodeid, None)  # an earlier try of pytest-rerunfailures or the like
        payloads: list[Payload] | None = getattr(report, REPORT_ATTRIBUTE, None)
        updates: list[str] = getattr(report, UPDATE_ATTRIBUTE, [])
        test = self._tests.get(report.nodeid)
        if test is None:
            # A worker that crashed attached nothing; pytest-xdist reports that as a phase of its own ("???").
            if payloads is None and not updates and report.when in {"setup", "call", "teardown"}:
                return
            test = self._tests[report.nodeid] = _Test()
        test.comparisons.update(payloads or ())
        test.updates += updates
        test.failed |= report.failed
        if not hasattr(report, "context"):  # one skipped subtest does not take the others out
            test.xfail |= hasattr(report, "wasxfail")
            test.skipped |= report.skipped

    def _counted(self) -> Iterator[tuple[str, _Test]]:
        # By node id: the order in which workers report must not show in the table.
        tests = sorted(self._tests.items())
        return ((nodeid, test) for nodeid, test in tests if not (test.xfail or test.skipped))

    def comparisons(self) -> list[Comparison]:
        """Return what counts: the comparisons of all tests but those skipped or expected to fail."""
        from pytest_jsonmatch.engine.records import Comparison

        payloads = (payload for _, test in self._counted() for payload in test.comparisons.values())
        return [Comparison.from_text(payload) for payload in payloads]

    @property
    def updates(self) -> list[tuple[str, str]]:
        """What tests want to be written into golden files, with their node ids."""
        return [(nodeid, update) for nodeid, test in self._counted() for update in test.updates]

    @property
    def unscored(self) -> list[str]:
        """The node ids that failed before they compared anything; a gate counts them as 0."""
        return [nodeid for nodeid, test in self._counted() if test.failed and not test.comparisons]

    @property
    def left_out(self) -> dict[str, int]:
        """How many tests the table does not show, by reason."""
        tests = self._tests.values()
        counts = {
            "expected to fail": sum(test.xfail for test in tests),
            "skipped": sum(test.skipped and not test.xfail for test in tests),
            "failed before comparing": len(self.unscored),
        }
        return {reason: count for reason, count in counts.items() if count}

    def __bool__(self) -> bool:
        return bool(self._tests)


@final
class Session:
    """One run of pytest in this process."""

    def __init__(self, config: pytest.Config, settings: Settings, *, encoding: str) -> None:
        self.config = config
        self.settings = settings
        self.outcomes = Outcomes()
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
        from pytest_jsonmatch.engine.registry import session_registry

        self._registry_is_open = True
        hook.call_historic(kwargs={"registry": self._closing.enter_context(session_registry())})

    def check_metric(self) -> None:
        """Raise `ConfigurationError` if nobody knows the metric of the settings."""
        from pytest_jsonmatch.engine.registry import active_registry

        active_registry().find_metric(self.settings.metric)

    def close(self) -> None:
        """Forget what was registered for this session."""
        self._closing.close()

    @property
    def running(self) -> Recorder | None:
        """The recorder of the item that runs now."""
        return self._running[-1] if self._running else None

    def start(self, item: pytest.Item) -> Recorder:
        """Let `item` be the running one."""
        recorder = Recorder(item)
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
