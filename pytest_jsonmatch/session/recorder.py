"""In a test: what is compared while it runs, and what its reports take along."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pytest

    from pytest_jsonmatch.results.comparison import Comparison

__all__ = [
    "REPORT_ATTRIBUTE",
    "Look",
    "Recorder",
    "Run",
    "is_there_to_compare",
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
