"""In the process of a test: which test runs here, what it compares, and what its reports carry."""

from __future__ import annotations

from contextlib import contextmanager
from math import fsum
from threading import Lock
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.session.payload import ATTRIBUTE, TestPayload
from pytest_jsonmatch.session.rules import checked, is_ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

    from pytest_jsonmatch.answer import Spent
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.running import Repetition, WrittenRule
    from pytest_jsonmatch.session.options import Settings

_XPASS: Final = "[XPASS(strict)] "
"""How pytest reports a test that passes although `xfail(strict=True)` expects a failure."""
_FIGURES: Final = ("score", "precision", "recall", "f1")
_FIXTURES: Final = frozenset({"assert_json_match", "jsonmatch_case", "jsonmatch_actual"})


def is_there_to_compare(item: pytest.Item) -> bool:
    """Tell whether a test is meant to compare: a golden case, or one with our mark or one of our fixtures."""
    return (
        getattr(item.parent, "compares", False)
        or not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or item.get_closest_marker("jsonmatch") is not None
    )


@final
class CurrentTest:
    """Collects what is compared while one item runs, in any thread.

    Args:
        item: the test.
        settings: of the session.
        rules: whether a pattern has matched anything in this process, of those seen so far.
    """

    def __init__(self, item: pytest.Item, settings: Settings, rules: dict[WrittenRule, bool]) -> None:
        self.item = item
        self.nodeid: str = _plain_nodeid(item)
        self.repetition: Repetition | None = None
        """Which run of a repeated case the item is."""
        self.cluster = ""
        """The cluster of the item's case."""
        self.document: str = ""
        """The file with its input, or the case without parameters of fixtures: a cluster if none is named."""
        self.tags: Tags = {}
        """The tags of the case, and those of its parameters."""
        self._params: Mapping[str, str] = {}
        """The labels of the item's parameters that are tags."""
        self._settings = settings
        self._rules = rules
        self._lock = Lock()
        self.restart()

    def restart(self) -> None:
        """Forget everything: the item is about to run (again)."""
        self.begun: int = 0
        """How often the item tried to compare."""
        self.raised: BaseException | None = None
        """What the producer of the answer raised."""
        self._under = False
        """Whether an answer was not good enough."""
        self._names: set[str] = set()
        self._spent: list[Spent] = []
        """Model, time, tokens and cost of the compared answers."""
        self._count = self._compared = 0
        self._figures: list[list[float]] = []
        self._payload = TestPayload()
        """What the next report carries."""

    def take_parameters(self, names: Collection[str] | None = None) -> None:
        """Make parameters of the item tags: those of some fixtures, or all.

        Raises ConfigurationError if a tag of the item has the name of a fixture, and another value.
        """
        __tracebackhide__ = True
        labels = _parameters(self.item) if names is None or names else {}
        self._params = {name: label for name, label in labels.items() if names is None or name in names}
        if names is None and labels and not self.document:
            nodeid = self.nodeid if self.repetition is None else self.repetition.case
            callspec: Any = getattr(self.item, "callspec", None)
            self.document = nodeid.removesuffix(f"[{callspec.id}]")
        self._check_tags(self.tags)
        self.tags = {**self.tags, **self._params}

    def _check_tags(self, tags: Tags) -> None:
        __tracebackhide__ = True
        for name in tags.keys() & self._params.keys():
            if str(tags[name]) != self._params[name]:
                from pytest_jsonmatch.engine.value.errors import ConfigurationError

                raise ConfigurationError(
                    f"the tag {name!r} is {tags[name]!r}, but the parametrized fixture of this name, also a "
                    f"tag, is {self._params[name]!r}; give the tag another name"
                )

    def begin(self) -> None:
        """Note that the item tries to compare; if `record` does not follow, something is wrong."""
        with self._lock:
            self.begun += 1

    @contextmanager
    def adding(self) -> Iterator[TestPayload]:
        """Give access to what the next report will carry."""
        with self._lock:
            self._payload.compares = True
            yield self._payload

    @property
    def params(self) -> tuple[str, ...]:
        """The names of its parameters that are tags."""
        return tuple(self._params)

    @property
    def shows_values(self) -> bool:
        """Whether a page will show values."""
        return self._settings.html is not None

    def identify(self, name: str | None, tags: Tags) -> str:
        """Return an id that no other comparison of the item has; the same error as `take_parameters`.

        It is the name, or `NODEID#n` for the n-th comparison of the test. A repeated name gets `#2`, `#3` and
        so on, since a name used in a loop is no reason to fail a test.
        """
        self._check_tags(tags)
        with self._lock:
            self._count += 1
            short = f"#{self._count}" if name is None else self._unused(name)
            self._names.add(short)
        return _text(f"{self.nodeid}{short}" if name is None else short)

    def claim_spent(self, spent: Spent | None) -> Spent | None:
        """Return what an answer took if it is new to the test: it is kept with its first comparison."""
        with self._lock:
            if spent is None or any(each is spent for each in self._spent):
                return None
            self._spent.append(spent)
            return spent

    def record(
        self,
        comparison: Comparison,
        result: MatchResult,
        rules: Sequence[WrittenRule],
        *,
        is_read: bool,
    ) -> None:
        """Keep a comparison, and look for rules that match no place."""
        with self.adding() as payload:
            payload.comparisons.append(comparison)
            self._under |= not comparison.passed and not comparison.errors
            self._compared += 1
            if comparison.has_figures:
                self._figures.append([getattr(comparison, each) for each in _FIGURES])
        if self.item.config.hook.pytest_jsonmatch_compared.get_hookimpls():  # asking an item's own is slow
            self.item.ihook.pytest_jsonmatch_compared(result=result, item=self.item)
        if rules and not is_ignored():
            found = list(checked(result if is_read else None, rules, self.item, self._rules))
            with self.adding() as payload:
                payload.rules += found

    def _unused(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}#{count}"
        return candidate

    def hand_over(
        self, report: pytest.TestReport, of_run: TestPayload | None, error: BaseException | None
    ) -> None:
        """Attach to a report what is new since the last one: everything but the repetition is sent only once.

        The figures of the test become properties, for JUnit files and others. There are always four: the
        means over the comparisons of the test, as in gates. The failed run of a case with `min_pass_rate`
        becomes an expected failure: the case is judged instead.

        Args:
            report: of a phase of the test.
            of_run: what is new about the run; None for nothing.
            error: what the phase raised.
        """
        if self._figures:
            means = (fsum(each) / len(each) for each in zip(*self._figures))
            report.user_properties += [(f"jsonmatch_{name}", mean) for name, mean in zip(_FIGURES, means)]
        with self._lock:
            payload, self._payload = self._payload, TestPayload()
        if of_run is not None:
            payload.judged, payload.collected = of_run.judged, of_run.collected
        if self._under and error is None and report.when == "call" and self._settings.fail == "gate":
            _expect_failure(report)
        if self.raised is not None and error is self.raised and not hasattr(report, "wasxfail"):
            from pytest_jsonmatch.engine.value.errors import format_error

            payload.raised, payload.compares = format_error(error), True
            if self._settings.fail == "gate":
                report.outcome = "passed"
        payload.repetition = repetition = self.repetition
        payload.cluster = self._named_cluster()
        payload.broken = report.failed and self.begun > self._compared
        # A run that was meant to compare but failed before is noted.
        is_meant = not report.passed and (self.begun > 0 or is_there_to_compare(self.item))
        payload.compares |= bool(repetition or payload.cluster) or is_meant or payload.broken
        if payload.compares:
            payload.tags = self.tags
            if report.when == "call" and report.failed and repetition and self._is_tolerable(error):
                payload.tolerated = True
                # As pytest itself marks an expected failure.
                report.outcome = "skipped"
                report.wasxfail = f"run {repetition.number} of {repetition.of} under threshold"
        if payload.compares or of_run is not None:
            setattr(report, ATTRIBUTE, payload)

    def _is_tolerable(self, error: BaseException | None) -> bool:
        """Tell whether a run is only under its threshold, without an error in the test or around it."""
        from pytest_jsonmatch.engine.value.errors import JsonMatchError

        return (
            self.repetition is not None
            and self.repetition.min_pass_rate is not None
            and self._under
            and isinstance(error, (AssertionError, JsonMatchError))
        )

    def _named_cluster(self) -> str:
        """Return the cluster of the case: the one it names, else the value of the tag that names clusters.

        Without either, cases with one input file are a cluster, or the runs of a golden case with the values
        of a parametrized fixture.
        """
        if self.cluster or self._settings.cluster not in self.tags:
            return self.cluster or self.document
        from pytest_jsonmatch.results.tags import value_text

        return _text(value_text(self.tags[self._settings.cluster]))


def _expect_failure(report: pytest.TestReport) -> None:
    """Make an unexpected pass an expected failure: a low score raised nothing, since gates alone decide."""
    reason = getattr(report, "wasxfail", None)
    if isinstance(report.longrepr, str) and report.longrepr.startswith(_XPASS):
        reason = report.longrepr.removeprefix(_XPASS)
    if reason is not None:
        report.outcome, report.longrepr, report.wasxfail = "skipped", None, reason


@final
class ProducerErrors:
    """Records what producers of golden cases raise. Register it as a plugin.

    If gates alone decide, the tests of such cases pass, and their bodies are left out.
    """

    def __init__(self, running: Callable[[], CurrentTest | None]) -> None:
        self._running = running

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Note that a producer raised."""
        try:
            return (yield)
        except Exception as error:
            test = self._running() if fixturedef.argname == "jsonmatch_actual" else None
            if test is not None:
                *_, (frame, _) = walk_tb(error.__traceback__)
                # Errors of a golden file are raised from its lines: they fail as usual.
                if frame.f_code.co_filename != str(test.item.path):
                    test.raised = error
            raise

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self) -> bool | None:
        """Leave out the body of a test without an answer."""
        test = self._running()
        return True if test is not None and test.raised is not None else None


def tags_of_marks(item: pytest.Item) -> dict[str, Any]:
    """Return the tags in the `jsonmatch` marks of a test; the closest mark wins.

    Raises ConfigurationError for an invalid tag.
    """
    tags: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("jsonmatch"))):
        if mark.kwargs.get("tags") is not None:
            from pytest_jsonmatch.results.tags import read_tags

            tags.update(read_tags(mark.kwargs["tags"]))
    return tags


def _parameters(item: pytest.Item) -> dict[str, str]:
    """Return the labels of a test's parameters, as in its node id."""
    callspec = getattr(item, "callspec", None)
    params: dict[str, object] = getattr(callspec, "params", {})
    indices: dict[str, int] = getattr(callspec, "indices", {})
    whole = str(getattr(callspec, "id", ""))
    labels = [whole] if len(params) == 1 else whole.split("-")
    if len(labels) != len(params):  # a label contains a hyphen, so the id can't be split
        labels = [_label(name, value, indices.get(name, 0)) for name, value in params.items()]
    return {name: _text(label) for name, label in zip(params, labels, strict=True)}


def _label(name: str, value: object, index: int) -> str:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return str(value)
    return str(getattr(value, "__name__", f"{name}{index}"))


def _plain_nodeid(item: pytest.Item) -> str:
    """Return the item's node id without the `@group` that pytest-xdist appends under `--dist=loadgroup`."""
    if item.parent is None or not getattr(item.config.option, "loadgroup", False):
        return item.nodeid
    return f"{item.parent.nodeid}::{item.name}"


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
