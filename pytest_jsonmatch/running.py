"""The run of pytest around a comparison, for modules that do not import pytest.

The plugin installs a run with `enter` and removes it with `leave`. Outside pytest there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_jsonmatch.answer import Spent
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.bench import Bench

FAILED_BEFORE: Final = "failed before comparing"
"""The error of a test that failed before it compared anything."""


class WrittenRule(NamedTuple):
    """A pattern, and where it is written."""

    file: str
    line: int
    kind: str
    """`fields`, `accept`, `skip` or `threshold`."""
    pattern: str


@final
class Repetition(NamedTuple):
    """Which run of a repeated case a test is."""

    case: str
    """The node id that the case would have if it ran once."""
    number: int
    """Counted from 1."""
    of: int
    min_pass_rate: float | None
    """The share of the runs that must pass; None if all must."""


@final
class CaseFiles(NamedTuple):
    """The configuration of golden files."""

    folders: tuple[str, ...] | None
    """Real paths of the folders in which cases may name files; None for anywhere."""
    repeat: int | None
    """How often each case without a recorded answer runs; None: as its file says."""


class RunningTest(Protocol):
    """A test while it runs."""

    @property
    def nodeid(self) -> str:
        """Its node id."""

    @property
    def params(self) -> tuple[str, ...]:
        """The names of its parametrized fixtures that are tags."""

    @property
    def shows_values(self) -> bool:
        """Whether a report will show values."""

    def begin(self) -> None:
        """Note that the test tries to compare; if `record` does not follow, something is wrong."""

    def identify(self, name: str | None, tags: Tags) -> str:
        """Return an id for a comparison; ConfigurationError if its tags contradict those of the test."""

    def first_use(self, spent: Spent | None) -> Spent | None:
        """Return what an answer took if it has not been returned before in this test, else None."""

    def record(
        self,
        comparison: Comparison,
        result: MatchResult,
        rules: Sequence[WrittenRule],
        *,
        is_read: bool,
    ) -> None:
        """Keep a comparison.

        Args:
            comparison: the comparison.
            result: its result.
            rules: its patterns; those of the test's own call or mark without a file.
            is_read: whether the answer could be compared.
        """


class Run(Protocol):
    """A run of pytest."""

    @property
    def case_files(self) -> CaseFiles:
        """The configuration of golden files."""

    @property
    def look(self) -> tuple[bool, bool, int]:
        """How messages look: whether in colour, whether beyond ASCII, and the number of columns."""

    @property
    def verbosity(self) -> int:
        """How much a failure message says, from 0."""

    @property
    def has_only_gates(self) -> bool:
        """Whether gates alone decide: low scores and unreadable answers are recorded, and raise nothing."""

    @property
    def test(self) -> RunningTest | None:
        """The test that runs now."""

    def defaults(self) -> tuple[Mapping[str, Any], Collection[str]]:
        """Return the default `metric`, `threshold` and options; and which a mark of the test itself gives."""

    @property
    def skipped(self) -> Sequence[str]:
        """The patterns of fields that no comparison looks at."""

    def bench(self, judge: object) -> Bench:
        """Return the judges that comparators ask; `judge` is the comparison's own, or None."""


# A stack, because pytest may run inside a test of pytest: the inner run records its own comparisons.
_RUNS: Final[list[Run]] = []


def enter(run: Run) -> None:
    """Make a run the current one."""
    _RUNS.append(run)


def leave(run: Run) -> None:
    """Remove a run from the stack, wherever it is."""
    if run in _RUNS:
        _RUNS.remove(run)


def runs() -> tuple[Run, ...]:
    """Return all runs of pytest in this process, the innermost last."""
    return tuple(_RUNS)


def current_run() -> Run | None:
    """Return the innermost run of pytest in this process; None outside pytest."""
    return _RUNS[-1] if _RUNS else None
