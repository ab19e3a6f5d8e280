"""Which session and which test is running, and what was compared in it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.model import Case
    from pytest_jsonmatch.settings import Settings

__all__ = [
    "REPORT_ATTRIBUTE",
    "Crash",
    "Look",
    "Outcomes",
    "Recorder",
    "Run",
    "Session",
    "current_session",
    "enter",
    "is_there_to_compare",
    "leave",
    "parameters",
    "tell_usage",
]

REPORT_ATTRIBUTE: Final = "jsonmatch"
"""Where a test report carries what the test hands over: a dict of built-in types, by `Recorder.hand_over`.

`comparisons`: a list of (id, JSON text) pairs; `outputs`: lines for the file of `--jsonmatch-record`;
`judged`: what judges did since the last report, numbers that add up;
`details`: (node id, id, JSON text) of what a report shows of a comparison;
`updates`: JSON texts of what is to be written into golden files; `run`: the fields of a `Run`;
`tolerated`: True; `planned`: what is chosen to run, once a process.
"""

Payload: TypeAlias = "tuple[str, str]"
"""A comparison's id, and what its `to_text` gives.

One ASCII string a comparison, and not a tree of dicts: it passes between processes whatever a key holds (half
of a surrogate pair would end the run), and 10,000 of them are nothing to the garbage collector.
"""

_FIGURES: Final = ("score", "precision", "recall", "f1")
_FIXTURES: Final = frozenset({"assert_json_match", "jsonmatch_case", "jsonmatch_actual"})


@dataclass(frozen=True, slots=True)
class Look:
    """How text for the terminal may look; a worker of pytest-xdist is told its controller's."""

    color: bool = False
    unicode: bool = True
    width: int = 80


def is_there_to_compare(item: pytest.Item) -> bool:
    """Tell whether a test says that it compares: a golden case, or one with our mark or a fixture of ours."""
    return (
        getattr(item.parent, "compares", False)
        or not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or item.get_closest_marker("jsonmatch") is not None
    )


@final
class Run(NamedTuple):
    """Which run of which repeated case a test is."""

    case: str
    """The node id that a case would have that is not repeated."""
    number: int
    """Counted from 1."""
    of: int
    min_pass_rate: float | None
    """The share of the runs that has to pass; None if each has to."""


@final
class Crash(NamedTuple):
    """Where a test failed, and what it said; paths as pytest has them."""

    path: str
    line: int
    message: str
    test: tuple[str, int]
    """Where the test itself stands, relative to the rootdir."""


@final
class Recorder:
    """What is compared while one item runs, by whichever thread."""

    __slots__ = (
        "_compared",
        "_count",
        "_details",
        "_lock",
        "_names",
        "_pending",
        "_properties",
        "_sums",
        "item",
        "keeps_audit",
        "keeps_details",
        "nodeid",
        "outputs",
        "params",
        "planned",
        "run",
        "setup_seconds",
        "under",
        "updates",
        "wanted",
    )

    def __init__(self, item: pytest.Item, *, keeps_details: bool = False, keeps_audit: bool = False) -> None:
        self.item = item
        self.keeps_details = keeps_details
        """Whether a report will show values."""
        self.keeps_audit = keeps_audit
        """Whether a result file will say what pairs of arrays could have been instead."""
        self.nodeid = _plain_nodeid(item)
        self._lock = Lock()
        self._names: set[str] = set()
        self._pending: list[Payload] = []
        self._details: list[tuple[str, str, str]] = []
        self._properties: list[tuple[str, object]] = []
        self._sums = [0.0] * len(_FIGURES)
        self._compared = 0
        self._count = 0
        self.updates: list[str] = []
        """What the item wants to be written into golden files."""
        self.wanted = False
        """Whether the item tried to compare."""
        self.under = False
        """Whether an answer was not good enough."""
        self.run: Run | None = None
        """Which run of a repeated case the item is."""
        self.planned: Mapping[str, int] | None = None
        """What is chosen to run, for the first report that goes out."""
        self.params: Mapping[str, tuple[str, int]] = {}
        """The labels of the item's parameters, and the place of each among those of its fixture."""
        self.setup_seconds = 0.0
        """What setting the item's fixtures up took."""
        self.outputs: list[str] = []
        """Lines for the file of `--jsonmatch-record`."""

    def restart(self) -> None:
        """Forget everything: the item is about to run (again)."""
        with self._lock:
            self._take_properties_away()
            self._names.clear()
            self._pending.clear()
            self._sums = [0.0] * len(_FIGURES)
            self._compared = 0
            self._details.clear()
            self._count = 0
            self.updates.clear()
            self.wanted = False
            self.under = False
            self.outputs.clear()

    def record(self, make: Callable[[str], Comparison], name: str | None, details: str = "") -> None:
        """Keep the comparison that `make` returns for an id that no other comparison of the item has.

        The id is the name, or `NODEID#n` for the n-th comparison of the test. A name that comes again gets
        `#2`, `#3` and so on, since a loop over a name must not stop a test that has nothing else against it.
        `details` are what a report shows of it.
        """
        with self._lock:
            self._count += 1
            short = f"#{self._count}" if name is None else self._unused(name)
            self._names.add(short)
        comparison = make(_text(f"{self.nodeid}{short}" if name is None else short))
        payload = (comparison.id, comparison.to_text())
        figures = [getattr(comparison, name) for name in _FIGURES]
        with self._lock:
            self.under |= not comparison.passed and not comparison.errors
            self._pending.append(payload)
            if details:
                self._details.append((comparison.nodeid, comparison.id, details))
            self._sums = [total + figure for total, figure in zip(self._sums, figures, strict=True)]
            self._compared += 1
            self._put_properties()

    def _put_properties(self) -> None:
        """Put the figures of the test among its properties, where JUnit files and others find them.

        They are four, however much a test compares: the means of its comparisons, as gates have them.
        """
        self._take_properties_away()
        means = (total / self._compared for total in self._sums)
        self._properties = [(f"jsonmatch_{name}", mean) for name, mean in zip(_FIGURES, means, strict=True)]
        self.item.user_properties += self._properties

    def _take_properties_away(self) -> None:
        for entry in self._properties:
            if entry in self.item.user_properties:
                self.item.user_properties.remove(entry)
        self._properties = []

    def _unused(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}#{count}"
        return candidate

    def hand_over(self, report: pytest.TestReport) -> None:
        """Give a report what there is since the last one: everything travels once, but for the run."""
        carried: dict[str, object] = {}
        if self._pending or self.updates or self.outputs:  # most tests compare nothing
            with self._lock:
                if self._pending:
                    carried["comparisons"], self._pending = self._pending, []
                if self._details:
                    carried["details"], self._details = self._details, []
                if self.updates:
                    carried["updates"], self.updates = self.updates, []
                if self.outputs:
                    carried["outputs"], self.outputs = self.outputs, []
        if self.run is not None:
            carried["run"] = list(self.run)
        if self.planned is not None:
            carried["planned"], self.planned = dict(self.planned), None
        if not report.passed and not carried and self.is_missed():
            carried["comparisons"] = []
        if carried:
            setattr(report, REPORT_ATTRIBUTE, carried)

    def tolerate(self, report: pytest.TestReport, error: BaseException) -> None:
        """Let a run of a case of which not all have to pass be an expected failure: the case is judged later.

        Only a run that is under its threshold is, and nothing that is wrong with the test or around it.
        """
        run = self.run
        if run is None or run.min_pass_rate is None or not self.under or not _is_verdict(error):
            return
        # What pytest itself makes of a failure that was expected.
        report.outcome = "skipped"
        report.wasxfail = f"run {run.number} of {run.of} under threshold"
        getattr(report, REPORT_ATTRIBUTE)["tolerated"] = True

    def is_missed(self) -> bool:
        """Whether the item is there to compare, so that a run of it without a comparison is worth a note."""
        return self.wanted or is_there_to_compare(self.item)


def tell_usage(report: pytest.TestReport, used: list[float]) -> None:
    """Let a report tell what judges did since the last one."""
    carried: dict[str, object] = getattr(report, REPORT_ATTRIBUTE, {})
    carried["judged"] = used
    setattr(report, REPORT_ATTRIBUTE, carried)


def parameters(item: pytest.Item) -> dict[str, tuple[str, int]]:
    """Return the labels of a test's parameters, as in its node id, and the place of each in its fixture."""
    callspec = getattr(item, "callspec", None)
    params: dict[str, object] = getattr(callspec, "params", {})
    indices: dict[str, int] = getattr(callspec, "indices", {})
    whole = str(getattr(callspec, "id", ""))
    labels = [whole] if len(params) == 1 else whole.split("-")
    if len(labels) != len(params):  # a label with a hyphen: which is whose is not to be told
        labels = [_label(name, value, indices.get(name, 0)) for name, value in params.items()]
    return {name: (_text(label), indices.get(name, 0)) for name, label in zip(params, labels, strict=True)}


def _label(name: str, value: object, index: int) -> str:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return str(value)
    return str(getattr(value, "__name__", f"{name}{index}"))


def _is_verdict(error: BaseException) -> bool:
    """Tell whether an error says that an answer is not good enough: below a threshold, or no JSON at all."""
    if isinstance(error, AssertionError):
        return True
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

    return isinstance(error, JsonMatchError)


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
    details: dict[tuple[str, str], str] = field(default_factory=dict)
    updates: list[str] = field(default_factory=list)
    xfail: bool = False
    skipped: bool = False
    failed: bool = False
    run: Run | None = None
    tolerated: pytest.TestReport | None = None
    """The report that says so: the run of a case is not good enough, and need not be."""
    ended: bool = False
    """Whether the test itself has run, or could not."""
    crash: Crash | None = None
    """Where it failed first."""

    def take_crash(self, report: pytest.TestReport) -> None:
        """Take where a report says that the test failed; a place in the code goes before a mere text."""
        where = getattr(report.longrepr, "reprcrash", None)
        path, line, _ = report.location
        test = path, (line or 0) + 1
        if where is not None and (self.crash is None or self.crash.line == 0):
            self.crash = Crash(str(where.path), where.lineno, str(where.message), test)
        elif self.crash is None:
            text = report.longreprtext
            # Where a fixture is missing, all of them are listed below the line that says so.
            said = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
            self.crash = Crash("", 0, "\n".join(said) or text, test)


def _comparisons(test: _Test) -> list[Comparison]:
    from pytest_jsonmatch.results.comparison import Comparison

    return [Comparison.from_text(payload) for payload in test.comparisons.values()]


def _cases(tests: Iterable[tuple[str, _Test]]) -> tuple[Case, ...]:
    from pytest_jsonmatch.results.model import Case, CaseRun

    runs: dict[str, list[CaseRun]] = {}
    kinds: dict[str, Run] = {}
    for nodeid, test in tests:
        compared = tuple(_comparisons(test))
        if test.xfail or test.skipped or not test.ended or not (compared or test.failed or test.run):
            continue
        run = test.run or Run(nodeid, 1, 1, None)
        error = "" if compared else "failed before comparing"
        passed = not (test.failed or test.tolerated is not None)
        runs.setdefault(run.case, []).append(CaseRun(run.number, passed, compared, error))
        kinds[run.case] = run
    return tuple(
        Case(
            name,
            tuple(sorted(runs[name], key=lambda run: run.number)),
            kinds[name].of,
            kinds[name].min_pass_rate,
        )
        for name in sorted(runs)
    )


@final
class Outcomes:
    """What the reports of a whole run say, with and without pytest-xdist; the last rerun wins."""

    def __init__(self) -> None:
        self._tests: dict[str, _Test] = {}
        self.judged: list[list[float]] = []
        """What judges did, part by part, in all processes; of tests that ran again each time."""
        self._by_case: dict[str, list[str]] = {}
        self._failed_otherwise: set[str] = set()
        self.planned: Mapping[str, int] = {}
        """The cases that were chosen to run, and how many runs of each; empty where nobody asks."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what one report carries; registered as a plugin of its own, it hears its own run only."""
        if report.when == "setup":
            self._tests.pop(report.nodeid, None)  # an earlier try of pytest-rerunfailures or the like
        carried: dict[str, Any] | None = getattr(report, REPORT_ATTRIBUTE, None)
        if carried is not None and "judged" in carried:
            self.judged.append(carried.pop("judged"))
            carried = carried or None
        test = self._tests.get(report.nodeid)
        if test is None:
            # A worker that crashed attached nothing; pytest-xdist reports that as a phase of its own ("???").
            if carried is None and report.when in {"setup", "call", "teardown"}:
                if report.failed:
                    self._failed_otherwise.add(report.nodeid)
                return
            test = self._tests[report.nodeid] = _Test()
        if report.failed or (carried is not None and carried.get("tolerated")):
            test.take_crash(report)
        if carried is not None:
            test.comparisons.update(carried.get("comparisons", ()))
            test.details.update(((nodeid, name), text) for nodeid, name, text in carried.get("details", ()))
            test.updates += carried.get("updates", ())
            if "run" in carried and test.run is None:
                test.run = Run(*carried["run"])
                self._by_case.setdefault(test.run.case, []).append(report.nodeid)
            if "planned" in carried:
                self.planned = carried["planned"]
            if carried.get("tolerated"):
                test.tolerated, test.ended = report, True
                return
        test.ended |= report.when != "setup" or report.failed
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
        return [comparison for _, test in self._counted() for comparison in _comparisons(test)]

    def details(self) -> dict[tuple[str, str], str]:
        """Return, by node id and id of a comparison, what a report shows of it; empty where none is made."""
        return {key: text for _, test in self._counted() for key, text in test.details.items()}

    def left_out_case(self, nodeid: str) -> str | None:
        """Return the case that a test belongs to, if the test was skipped or expected to fail; else None."""
        test = self._tests.get(nodeid)
        if test is None or not (test.xfail or test.skipped):
            return None
        return nodeid if test.run is None else test.run.case

    def case_of(self, nodeid: str) -> Case | None:
        """Return the case that a test belongs to, once all its runs have begun; None if none that counts."""
        test = self._tests.get(nodeid)
        if test is None:
            return None
        name = nodeid if test.run is None else test.run.case
        nodeids = [nodeid] if test.run is None else self._by_case.get(name, [])
        if test.run is not None and len(nodeids) < test.run.of:
            return None
        found = _cases((each, self._tests[each]) for each in nodeids if each in self._tests)
        return found[0] if found else None

    def cases(self) -> tuple[Case, ...]:
        """Return the cases that count, by id: tests that compared, or were there to and failed before."""
        return _cases(self._counted())

    @property
    def tolerated(self) -> list[tuple[str, Run, pytest.TestReport]]:
        """The runs under their threshold that need not reach it: node id, which run it is, what says why."""
        return [
            (nodeid, test.run, test.tolerated)
            for nodeid, test in self._counted()
            if test.run is not None and test.tolerated is not None
        ]

    @property
    def crashes(self) -> dict[tuple[str, int], Crash]:
        """Where runs of cases failed, by the id of the case and the number of the run."""
        found = {}
        for nodeid, test in self._counted():
            if test.crash is not None:
                run = test.run or Run(nodeid, 1, 1, None)
                found[run.case, run.number] = test.crash
        return found

    @property
    def failed_otherwise(self) -> int:
        """How many tests failed that have nothing to do with comparisons."""
        return len(self._failed_otherwise - self._tests.keys())

    @property
    def run_ids(self) -> dict[str, list[str]]:
        """The node ids of the runs of each repeated case."""
        found: dict[str, list[str]] = {}
        for nodeid, test in self._counted():
            if test.run is not None:
                found.setdefault(test.run.case, []).append(nodeid)
        return found

    @property
    def updates(self) -> list[tuple[str, str]]:
        """What tests want to be written into golden files, with their node ids."""
        return [(nodeid, update) for nodeid, test in self._counted() for update in test.updates]

    @property
    def unscored(self) -> list[str]:
        """The node ids that failed before they compared anything; a gate counts them as 0."""
        return [nodeid for nodeid, test in self._counted() if test.failed and not test.comparisons]

    @property
    def cases_left_out(self) -> frozenset[str]:
        """The cases that were skipped or expected to fail."""
        return frozenset(
            nodeid if test.run is None else test.run.case
            for nodeid, test in self._tests.items()
            if test.xfail or test.skipped
        )

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

    @property
    def ended(self) -> int:
        """How many tests that are there to compare have run."""
        return sum(test.ended or test.skipped for test in self._tests.values())

    @property
    def has_runs(self) -> bool:
        """Whether there are repeated cases."""
        return any(test.run is not None for test in self._tests.values())

    def __bool__(self) -> bool:
        return bool(self._tests)


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
