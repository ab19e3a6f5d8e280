"""The running pytest session and test, for modules that do not import pytest.

Every run of pytest imports this module, so its classes are neither dataclasses nor named tuples, which are
slow to create.

The plugin adds a run with `enter` and removes it with `leave`. Outside pytest there is no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path
    from typing import Protocol

    from pytest_jsonmatch.comparing.fileupdater import FileUpdater
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.results.answer import Spent
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.tags import Tags
    from pytest_jsonmatch.semantic.bench import Bench

FAILED_BEFORE: Final = "failed before comparing"
"""The error of a test that failed before it compared anything."""
NOT_RECORDED: Final = "not recorded"
"""Why a replayed case without a saved answer is unanswered."""
WORKER_CRASHED: Final = "worker crashed"
"""Why a golden case is unanswered whose worker of pytest-xdist crashed before it reported anything."""
OTHER_INPUT: Final = "recorded for another input"
"""Why a replayed case is unanswered whose input has changed since."""


RuleKey: TypeAlias = "tuple[str, int, str, str]"


@final
class WrittenRule:
    """A pattern of a rule, the file and line where it is written, and whether it matches anything."""

    __slots__ = ("file", "is_shared", "kind", "line", "matched", "near", "pattern", "tests")

    def __init__(
        self,
        file: str,
        line: int,
        kind: str,
        pattern: str,
        *,
        matched: bool = False,
        is_shared: bool = False,
        near: str | None = None,
    ) -> None:
        self.file: Final = file
        """The file, or "" for the file and line of the running test."""
        self.line: Final = line
        self.kind: Final = kind
        """`fields`, `accept`, `skip` or `threshold`."""
        self.pattern: Final = pattern
        self.matched: bool = matched
        """Whether it has matched anything."""
        self.is_shared: bool = is_shared
        """Whether several tests may have it."""
        self.near: str | None = near
        """The most similar path of a comparison in which it has matched nothing."""
        self.tests: set[str] = set()
        """In the controller: the node ids of the tests in which it has matched nothing."""

    @property
    def key(self) -> RuleKey:
        """The file, line, kind and pattern, which are equal for equal rules of several tests."""
        return self.file, self.line, self.kind, self.pattern


@final
class Repetition:
    """One repetition of a golden case."""

    __slots__ = ("case", "min_pass_rate", "number", "of")

    def __init__(self, case: str, number: int, of: int, min_pass_rate: float | None) -> None:
        self.case: Final = case
        """The node id of the case without the number of the repetition."""
        self.number: Final = number
        """The number of this repetition, from 1."""
        self.of: Final = of
        self.min_pass_rate: Final = min_pass_rate
        """The share of repetitions that must pass; None if all must pass."""


@final
class CaseFiles:
    """The configuration of golden files."""

    __slots__ = ("folders", "repeat")

    def __init__(self, folders: tuple[str, ...] | None, repeat: int | None) -> None:
        self.folders: Final = folders
        """Real paths of the folders whose files cases may name; None for any folder."""
        self.repeat: Final = repeat
        """How often each case without a recorded answer runs; None for the number in its file."""


if TYPE_CHECKING:  # protocols are slow to create, too

    class RunningTest(Protocol):
        """The test that is running."""

        @property
        def nodeid(self) -> str:
            """The node id of the test."""

        @property
        def params(self) -> tuple[str, ...]:
            """The names of the test's parametrized fixtures that are tags."""

        @property
        def shows_values(self) -> bool:
            """Whether a report will contain values."""

        def find_file(self, path: Path, *, claims: bool) -> tuple[Path, str]:
            """Return a path relative to the folder of the test's file, and its display name.

            `claims` notes that an answer is compared with the file; raises ConfigurationError if it is that
            of the fixture `expected_json`, and the test has compared with it before.
            """

        def begin(self) -> None:
            """Note that a comparison begins; without a `record` after it, the comparison failed."""

        def identify(self, name: str | None, tags: Tags) -> str:
            """Return an id for a comparison; raise ConfigurationError if its tags contradict the test's."""

        def claim_spent(self, spent: Spent | None) -> Spent | None:
            """Return the cost and latency of an answer if it is new in this test, else None."""

        def record(
            self,
            comparison: Comparison,
            result: MatchResult,
            rules: Sequence[WrittenRule],
            *,
            is_read: bool,
        ) -> None:
            """Record a comparison.

            Args:
                comparison: what the run keeps of the comparison.
                result: the full result.
                rules: the patterns of the comparison; those of the test's own call or mark have no file.
                is_read: whether the answer could be read and compared.
            """

    class Run(Protocol):
        """A pytest session."""

        @property
        def case_files(self) -> CaseFiles:
            """The configuration of golden files."""

        @property
        def look(self) -> tuple[bool, bool, int]:
            """The style of messages: whether colours and non-ASCII characters are allowed, and the width."""

        @property
        def file_updater(self) -> FileUpdater | None:
            """Requests updates of files with expected values; None if nothing is updated."""

        @property
        def verbosity(self) -> int:
            """The verbosity of failure messages, from 0."""

        @property
        def has_only_gates(self) -> bool:
            """Whether only gates decide: low scores and unreadable answers are recorded but fail no test."""

        @property
        def test(self) -> RunningTest | None:
            """The running test."""

        def get_defaults(self) -> tuple[Mapping[str, Any], Collection[str]]:
            """Return the default `metric`, `threshold` and options, and the names in the test's own mark."""

        @property
        def skipped(self) -> Sequence[str]:
            """The patterns of fields that every comparison skips."""

        def get_bench(self, judge: object) -> Bench:
            """Return the judges for comparators; `judge` is the comparison's own, or None."""


def plain_nodeid(item: Any) -> str:
    """Return an item's node id without the `@group` that pytest-xdist appends under `--dist=loadgroup`."""
    nodeid: str = item.nodeid
    plain = nodeid if item.parent is None else f"{item.parent.nodeid}::{item.name}"
    return plain if nodeid.startswith(f"{plain}@") else nodeid


# A stack, because pytest may run inside a pytest test; the inner run records its own comparisons.
_RUNS: Final[list[Run]] = []


def enter(run: Run) -> None:
    """Make a run the current one."""
    _RUNS.append(run)


def leave(run: Run) -> None:
    """Remove a run from the stack, wherever it is."""
    if run in _RUNS:
        _RUNS.remove(run)


def list_runs() -> tuple[Run, ...]:
    """Return all pytest sessions of this process, the innermost last."""
    return tuple(_RUNS)


def current_run() -> Run | None:
    """Return the innermost pytest session of this process; None outside pytest."""
    return _RUNS[-1] if _RUNS else None
