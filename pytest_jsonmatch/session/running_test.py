"""In the process of a test: the running test, its comparisons, and the payloads of its reports."""

from __future__ import annotations

import re
from contextlib import contextmanager
from math import fsum
from threading import Lock
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, final

import pytest

from pytest_jsonmatch.comparing.running import plain_nodeid
from pytest_jsonmatch.session import ATTRIBUTE
from pytest_jsonmatch.session.outcome import EXPECTED, FAILED, PASSED, TOLERATED, decide_outcome
from pytest_jsonmatch.session.payload import TestPayload
from pytest_jsonmatch.session.rules import check_rules, is_ignored

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_jsonmatch.comparing.running import Repetition, RuleKey, WrittenRule
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.results.answer import Spent
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.session.options import Settings

_ASSERTION: Final = "AssertionError: "
_XPASS: Final = "[XPASS(strict)] "
"""The start of the text for a test that passes although `xfail(strict=True)` expects a failure."""
_SCORES: Final = ("score", "precision", "recall", "f1")
_EXPECTED: Final = "expected_json"
_FIXTURES: Final = frozenset({"assert_json_match", "jsonmatch_case", "jsonmatch_actual", _EXPECTED})
_NOT_IN_NAMES: Final = re.compile(r"[^\w.,=+@()-]")
"""Characters that a file has not in its name; node ids may have them in parameters."""
_LONGEST_STEM: Final = 120


def is_meant_to_compare(item: pytest.Item) -> bool:
    """Return whether a test is meant to compare: a golden case, or one with our mark or fixtures."""
    return (
        getattr(item.parent, "compares", False)
        or not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or item.get_closest_marker("jsonmatch") is not None
    )


@final
class CurrentTest:
    """Collects the comparisons while one item runs, in any thread.

    Args:
        item: the test.
        settings: the settings of the session.
        rules: by the key of a rule, whether it has matched anything in this process so far.
    """

    def __init__(self, item: pytest.Item, settings: Settings, rules: dict[RuleKey, bool]) -> None:
        self.item = item
        self.nodeid: str = plain_nodeid(item)
        self.repetition: Repetition | None = None
        """The repetition of a case that the item is; None if it is not repeated."""
        self.cluster = ""
        """The cluster of the item's case."""
        self.document: str = ""
        """The file of its input, or the case without fixture parameters: the cluster if none is named."""
        self.tags: Tags = {}
        """The tags of the case, and those of its parameters."""
        self._params: Mapping[str, str] = {}
        """The labels of those parameters of the item that are tags, by name."""
        self._settings = settings
        self._rules = rules
        self._lock = Lock()
        self.restart()

    def restart(self) -> None:
        """Reset everything: the item is about to run (again)."""
        self.begun: int = 0
        """The number of comparisons that the item has begun."""
        self._unanswered: tuple[BaseException, str, str] | None = None
        """The error of a case without an answer, with the reason and the message."""
        self._under = False
        """Whether an answer was below its threshold."""
        self._has_claimed = False
        """Whether it has compared with the file of the fixture `expected_json`."""
        self._names: set[str] = set()
        self._spent: list[Spent] = []
        """The cost and latency of the compared answers."""
        self._count = self._compared = 0
        self._scores: list[list[float]] = []
        self._payload = TestPayload()
        """The payload of the next report."""

    def add_parameter_tags(self, names: Collection[str] | None = None) -> None:
        """Add parameters of the item to its tags: those of some fixtures, or all.

        Raises ConfigurationError if a tag of the item has the name of a fixture, but another value.
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

    @property
    def is_unanswered(self) -> bool:
        """Whether the case has no answer."""
        return self._unanswered is not None

    def note_unanswered(self, error: BaseException, reason: str, message: str) -> None:
        """Note an error as the reason why the case has no answer."""
        self._unanswered = error, reason, message

    @property
    def expected_file(self) -> Path:
        """The value of the fixture `expected_json`: `expected/MODULE/TEST.json` next to the test's file."""
        path = self.item.path
        name = self.nodeid.removeprefix(getattr(self.item.getparent(pytest.Module), "nodeid", ""))
        stem = _make_file_stem(name.lstrip(":").replace("::", "."))
        return path.parent / "expected" / path.stem / f"{stem}.json"

    def find_file(self, path: Path, *, claims: bool) -> tuple[Path, str]:
        """Return a path relative to the folder of the test's file, and its display name."""
        from pytest_jsonmatch.reading.datafiles import display_name

        path = self.item.path.parent / path
        if claims and _EXPECTED in getattr(self.item, "fixturenames", ()) and path == self.expected_file:
            with self._lock:
                is_second, self._has_claimed = self._has_claimed, True
            if is_second:
                from pytest_jsonmatch.engine.value.errors import ConfigurationError

                raise ConfigurationError(
                    f"the file of {_EXPECTED} is for one comparison of a test, and this is the second; name "
                    f"another file: {_EXPECTED}.with_name({f'{path.stem}-NAME.json'!r})"
                )
        return path, display_name(path, self.item.config.invocation_params.dir)

    def begin(self) -> None:
        """Note that a comparison begins; without a `record` after it, the comparison failed."""
        with self._lock:
            self.begun += 1

    @contextmanager
    def adding(self) -> Iterator[TestPayload]:
        """Give access to the payload of the next report."""
        with self._lock:
            self._payload.compares = True
            yield self._payload

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the parameters of the test that are tags."""
        return tuple(self._params)

    @property
    def shows_values(self) -> bool:
        """Whether an HTML report will show values."""
        return self._settings.html is not None

    def identify(self, name: str | None, tags: Tags) -> str:
        """Return a unique id for a comparison; check its tags as `add_parameter_tags` does.

        The id is the name, or `NODEID#n` for the n-th comparison of the test. A repeated name gets `#2`, `#3`
        and so on: a name that is used in a loop must not fail a test.
        """
        self._check_tags(tags)
        with self._lock:
            self._count += 1
            short = f"#{self._count}" if name is None else self._unused(name)
            self._names.add(short)
        return _text(f"{self.nodeid}{short}" if name is None else short)

    def claim_spent(self, spent: Spent | None) -> Spent | None:
        """Return the cost and latency of an answer if they are new in this test, else None."""
        with self._lock:
            if spent is None or any(claimed is spent for claimed in self._spent):
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
        """Record a comparison, and check which of its rules match nothing."""
        with self.adding() as payload:
            payload.comparisons.append(comparison)
            self._under |= not comparison.passed and not comparison.errors
            self._compared += 1
            if comparison.has_figures:
                self._scores.append([getattr(comparison, name) for name in _SCORES])
        # Looking up the hooks of an item is slow.
        if self.item.config.hook.pytest_jsonmatch_compared.get_hookimpls():
            self.item.ihook.pytest_jsonmatch_compared(result=result, item=self.item)
        if rules and not is_ignored():
            found = list(check_rules(result if is_read else None, rules, self.item, self._rules))
            with self.adding() as payload:
                payload.rules += found

    def _unused(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}#{count}"
        return candidate

    def attach_payload(
        self, report: pytest.TestReport, of_run: TestPayload | None, error: BaseException | None
    ) -> None:
        """Attach the payload with everything new since the last report to a report.

        The four scores of the test become user properties, for JUnit files and other tools: means over the
        comparisons of the test, as in gates. The failed run of a case with `min_pass_rate` becomes an
        expected failure, since the case is judged as a whole.

        Args:
            report: the report of a phase of the test.
            of_run: the new data about the run; None if there is none.
            error: the exception that the phase raised.
        """
        if getattr(self.item.parent, "compares", False):
            _show_as_error(report, self.item.path.name, is_error=not self._under)
        if self._scores:
            means = (fsum(column) / len(column) for column in zip(*self._scores))
            report.user_properties += [(f"jsonmatch_{name}", mean) for name, mean in zip(_SCORES, means)]
        with self._lock:
            payload, self._payload = self._payload, TestPayload()
        if of_run is not None:
            payload.judge_usage, payload.collected = of_run.judge_usage, of_run.collected
        unanswered = None if hasattr(report, "wasxfail") else self._unanswered
        if unanswered is not None and error is unanswered[0]:
            _, payload.unanswered, payload.error = unanswered
            payload.compares = True
            self._add_unanswered(payload)
        payload.repetition = repetition = self.repetition
        xpass_reason = _find_xpass_reason(report)
        outcome = decide_outcome(
            report.when,
            report.outcome,
            _name_error(error) if self._under else "",
            is_below=self._under,
            is_xpass=xpass_reason is not None,
            is_unanswered=bool(payload.unanswered),
            is_tolerant=repetition is not None and repetition.min_pass_rate is not None,
            has_only_gates=self._settings.fail == "gate",
        )
        payload.tolerated = outcome == TOLERATED
        payload.broken = outcome in {FAILED, TOLERATED} and self.begun > self._compared
        # pytest marks an expected failure in this way.
        if outcome == EXPECTED and xpass_reason is not None:
            report.outcome, report.longrepr, report.wasxfail = "skipped", None, xpass_reason
        elif repetition is not None and payload.tolerated:
            report.outcome = "skipped"
            report.wasxfail = f"run {repetition.number} of {repetition.of} under threshold"
        elif outcome == PASSED:
            report.outcome = PASSED
        payload.cluster = self._named_cluster()
        # A run that was meant to compare but failed before it did counts, too.
        is_meant = not report.passed and (self.begun > 0 or is_meant_to_compare(self.item))
        payload.compares |= bool(repetition or payload.cluster) or is_meant or payload.broken
        if payload.compares:
            payload.nodeid = self.nodeid
            payload.tags = self.tags
        if payload.compares or of_run is not None:
            setattr(report, ATTRIBUTE, payload)

    def _add_unanswered(self, payload: TestPayload) -> None:
        """Add the comparison of a golden case without an answer, in which all of expected is missing."""
        from pytest_jsonmatch.golden.checking import compare_unanswered
        from pytest_jsonmatch.golden.collector import golden_case_of

        case = golden_case_of(self.item)
        compared = None if case is None else compare_unanswered(case, self)
        if compared is not None:
            payload.comparisons.append(compared)

    def _named_cluster(self) -> str:
        """Return the cluster of the case: the one that it names, or the value of the tag that names clusters.

        Without either, the cases with the same input file are a cluster, and so are the runs of a golden case
        with all values of a parametrized fixture.
        """
        if self.cluster or self._settings.cluster not in self.tags:
            return self.cluster or self.document
        from pytest_jsonmatch.results.tags import value_text

        return _text(value_text(self.tags[self._settings.cluster]))


def _show_as_error(report: pytest.TestReport, name: str, *, is_error: bool) -> None:
    """Show an error at a line of a golden file as the error of a file: without the type of an exception.

    In the short test summary, the node id before the message has the path of the file already.

    Args:
        report: the report of a phase of a golden case.
        name: the name of the golden file.
        is_error: whether no comparison failed.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return
    place = rf"(?:\S*{re.escape(name)}|\S+):(?=\d+(?::\d+)?: )"
    if is_error and re.match(_ASSERTION + place, crash.message):
        crash.message = crash.message.removeprefix(_ASSERTION)
        for entry in getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", ())[-1:]:
            entry.lines = [re.sub(rf"^(E\s+){_ASSERTION}", r"\1", line) for line in entry.lines]
            location = getattr(entry, "reprfileloc", None)
            if location is not None and location.message == _ASSERTION[:-2]:
                location.message = "error"
    crash.message = re.sub(rf"^(\w+: )?\S*{re.escape(name)}:(?=\d+(?::\d+)?: )", r"\1", crash.message)


def _find_xpass_reason(report: pytest.TestReport) -> str | None:
    """Return why pytest expected the failure of a test that passed; None if it expected none."""
    if isinstance(report.longrepr, str) and report.longrepr.startswith(_XPASS):
        return report.longrepr.removeprefix(_XPASS)
    reason: str | None = getattr(report, "wasxfail", None)
    return reason


def _name_error(error: BaseException | None) -> str:
    """Return "score" for an error that a low score may have raised, "other" for any other, "" for none."""
    if error is None:
        return ""
    from pytest_jsonmatch.engine.value.errors import JsonMatchError

    return "score" if isinstance(error, (AssertionError, JsonMatchError)) else "other"


@final
class ProducerErrors:
    """Records the exceptions of producers of golden cases. Register it as a plugin.

    If only gates fail a run, the tests of such cases pass, and their bodies do not run.
    """

    def __init__(self, running: Callable[[], CurrentTest | None]) -> None:
        self._running = running

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Record the exception of a producer, and show where in the golden file and in the user's code."""
        __tracebackhide__ = True
        try:
            return (yield)
        except (Exception, pytest.fail.Exception) as error:  # pytest-timeout fails a test
            test = self._running() if fixturedef.argname == "jsonmatch_actual" else None
            if test is not None:
                *_, (frame, _) = walk_tb(error.__traceback__)
                # Errors of a golden file are raised from its lines: they fail as usual.
                if frame.f_code.co_filename != str(test.item.path):
                    from pytest_jsonmatch.engine.value.errors import format_error
                    from pytest_jsonmatch.golden.collector import golden_case_of
                    from pytest_jsonmatch.golden.producers import start_at_case

                    message = f"the producer raised {format_error(error)}"
                    test.note_unanswered(error, type(error).__name__, message)
                    case = golden_case_of(test.item)
                    if case is not None and not test.item.config.getoption("fulltrace"):
                        code = getattr(fixturedef.func, "__code__", None)
                        # On Python 3.10 a bare `raise` would restore the old traceback.
                        raise start_at_case(error, case, code)  # noqa: B904 - it is the same error
            raise

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self) -> bool | None:
        """Skip the body of a test without an answer."""
        test = self._running()
        return True if test is not None and test.is_unanswered else None


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
    """Return the labels of the parameters of a test, as in its node id, by name."""
    callspec = getattr(item, "callspec", None)
    params: dict[str, object] = getattr(callspec, "params", {})
    indices: dict[str, int] = getattr(callspec, "indices", {})
    joined = str(getattr(callspec, "id", ""))
    labels = [joined] if len(params) == 1 else joined.split("-")
    if len(labels) != len(params):  # a label contains a hyphen, so the id can't be split
        labels = [_label(name, value, indices.get(name, 0)) for name, value in params.items()]
    return {name: _text(label) for name, label in zip(params, labels, strict=True)}


def _label(name: str, value: object, index: int) -> str:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return str(value)
    return str(getattr(value, "__name__", f"{name}{index}"))


def _make_file_stem(name: str) -> str:
    """Return a test's name, with its parameters, as the name of a file; a name that changes gets a digest.

    >>> _make_file_stem("test_order[new]"), _make_file_stem("TestOrders.test_get[/orders/1]")
    ('test_order-new', 'TestOrders.test_get-_orders_1-b869e944')
    """
    test, bracket, parameters = name.partition("[")
    plain = f"{test}-{parameters.removesuffix(']')}" if bracket else test
    stem = _NOT_IN_NAMES.sub("_", plain)[:_LONGEST_STEM]
    if stem == plain and not stem.endswith("."):
        return stem
    import hashlib

    return f"{stem}-{hashlib.sha256(_text(plain).encode()).hexdigest()[:8]}"


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
