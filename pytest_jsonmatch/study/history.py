"""Figures over many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.baseline import Mismatch
from pytest_jsonmatch.limits import FIGURES as OF_CASES
from pytest_jsonmatch.results.file import read_results

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.results.model import ResultSet


@final
@dataclass(frozen=True, slots=True)
class HistoryRun:
    """A run, as a history shows it.

    Args:
        name: the name of its file.
        created: when, as ISO 8601; empty if the file does not say.
        commit: the git commit; empty without one.
        cases: the number of cases.
        figures: mean figures and pass rate, by name; None without cases.
        fields: the mean score of each field over all its leaves, by path.
        note: why it can't be compared with the run before, or only in part; empty if it can.
    """

    name: str
    created: str
    commit: str
    cases: int
    figures: Mapping[str, float | None]
    fields: Mapping[str, float]
    note: str = ""

    @property
    def is_comparable(self) -> bool:
        """Whether any figure can be compared with that of the run before."""
        return not self.note.startswith("not comparable")


@final
@dataclass(frozen=True, slots=True)
class HistoryStudy:
    """Runs from the earliest to the latest."""

    runs: tuple[HistoryRun, ...]

    @property
    def figures(self) -> Mapping[str, float | None]:
        """There are none: gates judge one run, or two (`jsonmatch report`, `jsonmatch diff`)."""
        return {}


def measure_history(paths: Sequence[str | PathLike[str]]) -> HistoryStudy:
    """Return the figures of result files, run by run.

    Args:
        paths: result files. They are sorted by their time if all have one, else they stay in this order.

    Returns:
        Figures of every run, in [0, 1], and which runs can't be compared with the run before.

    Raises:
        ConfigurationError: a file can't be read, or there are fewer than two.

    >>> measure_history(["today.json"])
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: a history needs two runs or more; there is 1
    """
    if len(paths) < 2:
        raise ConfigurationError(f"a history needs two runs or more; there is {len(paths)}")
    # Only the figures of a run are kept.
    read = [_read(Path(path)) for path in paths]
    if all(run.created for run, _ in read):
        read.sort(key=lambda each: each[0].created)
    runs, before = [], read[0][1]
    for run, signatures in read:
        runs.append(replace(run, note=_note(before, signatures)))
        before = signatures
    return HistoryStudy(tuple(runs))


def _read(path: Path) -> tuple[HistoryRun, frozenset[str]]:
    """Return a run, and the signatures of its comparisons."""
    results = read_results(path)
    figures = {**{name: results.mean(name) for name in OF_CASES}, "pass_rate": results.pass_rate}
    means = ((field, each.mean_score) for field, each in sorted(results.fields.items()))
    fields = {field: mean for field, mean in means if mean is not None}
    run = HistoryRun(path.name, results.created, results.commit, results.number, figures, fields)
    return run, _signatures(results)


def _signatures(results: ResultSet) -> frozenset[str]:
    of_corpus = [] if results.corpus is None else [results.corpus.signature]
    return frozenset([*of_corpus, *(comparison.signature for comparison in results.comparisons)])


def _note(before: frozenset[str], after: frozenset[str]) -> str:
    """Return why a run can't be compared with the one before it."""
    if not before or not after or before == after:
        return ""
    if before & after:
        return "some cases are scored in another way"
    difference = Mismatch("", min(before), min(after)).difference
    return f"not comparable: scored in another way ({difference})"
