"""What rooms that do not know pytest need to know of the run of pytest around a comparison.

The plugin installs a run by `enter` and removes it by `leave`. Outside pytest there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_jsonmatch.answer import Spent
    from pytest_jsonmatch.corpus.tags import Tags
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.limits import Limits
    from pytest_jsonmatch.semantic.bench import Bench


@final
class Compared(NamedTuple):
    """A comparison that was made in a test."""

    result: MatchResult
    limits: Limits
    """What it had to reach."""
    name: str | None
    """What it is called, if it has a name."""
    passed: bool
    """Whether it is good enough."""
    parsed: bool | None
    """Whether there is JSON in an answer that is text; None for one that is a value."""
    spent: Spent | None = None
    """What the answer took; None if nobody says. The same object counts once in a test."""
    tags: Tags | None = None
    """What it is like, by name, beyond the tags of the test."""
    unreadable: str | None = None
    """Why the answer could not be compared; it counts as 0."""


@final
class Turn(NamedTuple):
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

    yaml_limit: int
    """The size limit of a golden file in bytes; 0 for the default."""
    folders: tuple[str, ...] | None
    """Real paths of the folders in which cases may name files; None for anywhere."""
    repeat: int | None
    """How often each case without a recorded answer runs, whatever its file says."""


class RuleSource(Protocol):
    """Where patterns stand that hold for several tests: a golden file, a mark."""

    def place(self, kind: str, pattern: str) -> tuple[str, int]:
        """Return the file and the line of a rule.

        `kind` is `fields`, `accept` or `threshold`: the word that the pattern is said in.
        """

    def holders(self, kind: str, pattern: str) -> int | None:
        """Return how many tests a rule holds for; None if nobody knows."""


class RunningTest(Protocol):
    """A test while it runs."""

    def begin(self) -> None:
        """Take note that the test tries to compare; if `record` does not follow, something is wrong."""

    def record(self, compared: Compared) -> None:
        """Keep a comparison."""

    def look_at_rules(
        self, result: MatchResult, kind: str, patterns: Iterable[str], source: RuleSource | None
    ) -> None:
        """Find out which patterns fit no place of what was compared.

        Args:
            result: the comparison.
            kind: `fields`, `accept` or `threshold`.
            patterns: what they were given for.
            source: where they stand; None: in the test's own call.
        """


class Run(Protocol):
    """A run of pytest."""

    @property
    def case_files(self) -> CaseFiles:
        """The configuration of golden files."""

    @property
    def suggests(self) -> bool:
        """Whether a failing golden case says what would let it pass."""

    @property
    def look(self) -> tuple[bool, bool, int]:
        """The look of messages: colours or not, more than ASCII or not, and the number of columns."""

    @property
    def verbosity(self) -> int:
        """How much a failure message says, from 0."""

    @property
    def test(self) -> RunningTest | None:
        """The test that runs here. Raises ConfigurationError if that can't be told from others."""

    def defaults(self) -> Mapping[str, Any]:
        """Return the default `metric`, `threshold` and options of comparisons."""

    def source_of_default(self, name: str) -> RuleSource | None:
        """Return where one of these defaults stands, if it is a mark."""

    def bench(self, judge: object) -> Bench:
        """Return the judges that comparators ask; `judge` is the comparison's own, or None."""

    def allows_triage(self) -> bool:
        """Tell whether a judge need not be asked everything; take note if figures need every verdict."""


# A stack, because pytest may run inside a test of pytest: the inner run records its own comparisons.
_RUNS: Final[list[Run]] = []


def enter(run: Run) -> None:
    """Make a run the current one."""
    _RUNS.append(run)


def leave(run: Run) -> None:
    """Remove a run, wherever in the stack it is."""
    if run in _RUNS:
        _RUNS.remove(run)


def runs() -> tuple[Run, ...]:
    """Return all runs of pytest in this process, the innermost last."""
    return tuple(_RUNS)


def current_run() -> Run | None:
    """Return the innermost run of pytest in this process; None outside pytest."""
    return _RUNS[-1] if _RUNS else None
