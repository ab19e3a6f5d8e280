"""Figures over many runs, and where a change is shown.

Imported when it is asked for: it imports numpy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.gate.baseline import Mismatch
from pytest_jsonmatch.gate.headlines import OF_SCORE, scores_by_field
from pytest_jsonmatch.gate.intervals import checked_confidence
from pytest_jsonmatch.gate.paired import sign_flip
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.model import FIGURES as OF_CASES
from pytest_jsonmatch.results.model import merged_fields

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from pytest_jsonmatch.results.model import Case, ResultSet

    Floats = NDArray[np.float64]
    _Figure = tuple[str, bool]
    """The name of a figure, and whether it is that of a field."""

FIGURES: Final = ("drops", "gains")
"""What gates may look at: how many changes are shown, of all figures, or of a field."""
_LEAST_Z: Final = 2.2
"""Sums of fewer standard deviations prove nothing at any level that is tried: no test is needed."""


@final
@dataclass(frozen=True, slots=True)
class HistoryRun:
    """A run, as a history shows it.

    Args:
        name: of its file.
        created: when, as ISO 8601; empty if the file does not say.
        commit: the git commit; empty without one.
        cases: how many there are.
        figures: mean figures and pass rate, by name; None without cases.
        fields: the mean score of each field, by path.
        note: why it can't be compared with the run before, or only in part; empty if it can.
    """

    name: str
    created: str
    commit: str
    cases: int
    figures: Mapping[str, float | None]
    fields: Mapping[str, float]
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class HistoryChange:
    """A change that is shown.

    Args:
        figure: "score", "pass_rate", or the path of a field.
        run: the number of the first run after it, from 0: where the runs around differ most.
        shown_by: the number of the run with which it is shown.
        before: the mean over the cases that the runs have in common, in the runs before it.
        after: likewise in those from it on, up to `shown_by`.
        p: the p-value, of the runs that show it.
        is_field: whether the figure is that of a field.
    """

    figure: str
    run: int
    shown_by: int
    before: float
    after: float
    p: float
    is_field: bool = False


@final
@dataclass(frozen=True, slots=True)
class HistoryStudy:
    """Runs from the earliest to the latest, and the changes that are shown."""

    runs: tuple[HistoryRun, ...]
    changes: tuple[HistoryChange, ...]
    confidence: float = 0.95

    @property
    def figures(self) -> Mapping[str, float | None]:
        """How many drops and gains are shown, for gates."""
        return _drops_and_gains(self.changes)

    @property
    def by_field(self) -> Mapping[str, Mapping[str, float | None]]:
        """The same of each field."""
        paths = sorted({path for run in self.runs for path in run.fields})
        changes = [each for each in self.changes if each.is_field]
        return {path: _drops_and_gains(each for each in changes if each.figure == path) for path in paths}


def _drops_and_gains(changes: Iterable[HistoryChange]) -> dict[str, float | None]:
    drops = Counter(each.after < each.before for each in changes)
    return {"drops": drops[True], "gains": drops[False]}


def measure_history(paths: Sequence[str | PathLike[str]], *, confidence: float = 0.95) -> HistoryStudy:
    """Return the figures of result files, and where they have changed.

    With each run, the last w runs are held against the w before them, for w = 1, 2, 4 and so on, case by
    case, by the sign-flip test: of equal runs either half may come first, so that its p-values hold for any
    scores. The error rate is spent over all looks there will ever be (1 / (t · (t + 1)) of it at look t,
    Bonferroni), nine tenths of it on the mean score, the rest on pass rate and fields. So if nothing changes,
    any change at all is shown in at most 1 - confidence of histories, however long they are and whenever one
    looks. After a change the test begins anew.

    Args:
        paths: result files. They are ordered by the time that they hold; those without stay where they are.
        confidence: one minus the error rate.

    Returns:
        Figures of every run, in [0, 1]; what can't be compared; the changes in order.

    Raises:
        ConfigurationError: a file can't be read, there are fewer than two, or the confidence is no share.

    Sources: Fisher 1935 and Pitman 1937 (sign flips); docs/history.md says what is computed.

    >>> measure_history(["today.json"])
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: a history is of two runs or more; there is 1
    """
    checked_confidence(confidence)
    if len(paths) < 2:
        raise ConfigurationError(f"a history is of two runs or more; there is {len(paths)}")
    read = _Read()
    for path in paths:
        read.add(Path(path).name, read_results(Path(path)))
    return read.result(1 - confidence)


class _Series(NamedTuple):
    """What is kept of a run for the tests: places of its cases, and scores there, by figure."""

    places: NDArray[np.int32]
    scores: Mapping[_Figure, NDArray[np.float32]]


@final
class _Read:
    """Runs as they are read: one file is in memory at a time."""

    def __init__(self) -> None:
        self._runs: list[tuple[HistoryRun, _Series, dict[str, str]]] = []
        self._places: dict[tuple[str, str], int] = {}
        """Of each case with what it is scored by: scored in another way, it is another one."""
        self._clusters: list[str] = []

    def add(self, name: str, results: ResultSet) -> None:
        """Add a run."""
        fields = merged_fields(results.cases) if results.corpus is None else results.corpus.fields
        means = {
            path: each.mean_score for path, each in sorted(fields.items()) if each.mean_score is not None
        }
        figures = {str(figure): results.mean(figure) for figure in OF_CASES}
        figures["pass_rate"] = results.pass_rate
        run = HistoryRun(name, results.created, results.commit, results.number, figures, means)
        # Of a corpus that keeps its worst records these are others each time: they prove nothing.
        cases = () if results.is_partial else results.scored
        signed = {case.id: _signature(case) for case in cases}
        if results.is_partial and results.corpus is not None:
            signed = {"": results.corpus.signature}
        self._runs.append((run, self._series(cases, signed), signed))

    def _series(self, cases: Sequence[Case], signed: Mapping[str, str]) -> _Series:
        scores: dict[_Figure, Any] = {
            ("score", False): np.array([case.figure("score") for case in cases], dtype=np.float32),
            ("pass_rate", False): np.array([case.pass_rate for case in cases], dtype=np.float32),
        }
        for at, case in enumerate(cases):
            place = self._places.setdefault((case.id, signed[case.id]), len(self._places))
            if place == len(self._clusters):
                self._clusters.append(case.unit)
            for path, of_field in scores_by_field(case).items():
                if (path, True) not in scores:
                    # A case that has nothing at a field has nothing wrong there.
                    scores[path, True] = np.ones(len(cases), dtype=np.float32)
                scores[path, True][at] = math.fsum(of_field) / len(of_field)
        places = [self._places[case.id, signed[case.id]] for case in cases]
        return _Series(np.array(places, dtype=np.int32), scores)

    def result(self, alpha: float) -> HistoryStudy:
        """Return the history."""
        if all(run.created for run, _, _ in self._runs):
            self._runs.sort(key=lambda each: each[0].created)
        runs: list[HistoryRun] = []
        before: dict[str, str] | None = None
        for run, _, signed in self._runs:
            runs.append(run if before is None else replace(run, note=_note(before, signed)))
            before = signed
        figures = sorted({figure for _, series, _ in self._runs for figure in series.scores})
        changes: list[HistoryChange] = []
        for name, is_field in figures:
            is_score = (name, is_field) == ("score", False)
            share = OF_SCORE if is_score else (1 - OF_SCORE) / (len(figures) - 1)
            found = self._changes((name, is_field), share * alpha)
            changes += (HistoryChange(name, *each, is_field=is_field) for each in found)
        # The mean score comes first, then the pass rate, then fields.
        changes.sort(key=lambda each: (each.run, each.is_field, each.figure != "score", each.figure))
        return HistoryStudy(tuple(runs), tuple(changes), round(1 - alpha, 12))

    def _changes(self, figure: _Figure, alpha: float) -> Iterator[ChangePoint]:
        table = np.full((len(self._runs), len(self._places)), np.nan)
        for row, (_, series, _) in zip(table, self._runs, strict=True):
            row[series.places] = series.scores.get(figure, 1.0)
        return change_points(table, alpha, np.unique(self._clusters, return_inverse=True)[1])


def _signature(case: Case) -> str:
    """Return what a case is scored by, in all that it compares."""
    return " & ".join(sorted({each.signature for run in case.runs for each in run.comparisons}))


def _note(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return why a run can't be compared with the one before it."""
    both = [name for name in now if name in before]
    if not both:
        return "not comparable: no case of the run before"
    other = [name for name in both if before[name] != now[name]]
    if not other:
        return ""
    how = Mismatch("", before[other[0]], now[other[0]]).difference
    if len(other) == len(both):
        return f"not comparable: scored in another way ({how})"
    return f"{count(len(other), 'case')} of {count(len(both))} scored in another way ({how})"


# -- changes -----------------------------------------------------------------------------------------------


class ChangePoint(NamedTuple):
    """Where scores change: the fields that `HistoryChange` explains."""

    run: int
    shown_by: int
    before: float
    after: float
    p: float


def change_points(
    scores: Floats, alpha: float, clusters: NDArray[np.intp] | None = None
) -> Iterator[ChangePoint]:
    """Yield the points where the scores of runs change, as `measure_history` says.

    Args:
        scores: (runs, cases); NaN where a run does not have a case.
        alpha: how likely any change may be shown where there is none.
        clusters: the number of the cluster that each case belongs to; None: cases stand alone.

    >>> scores = np.ones((9, 40))
    >>> scores[5:, ::2] = 0.0
    >>> [(found.run, found.shown_by, found.after) for found in change_points(scores, 0.05)]
    [(5, 5, 0.5)]
    """
    there = ~np.isnan(scores)
    nothing = np.zeros((1, scores.shape[1]))
    sums = np.concatenate((nothing, np.cumsum(np.where(there, scores, 0.0), axis=0)))
    numbers = np.concatenate((nothing, np.cumsum(there, axis=0)))
    start = 0
    for look in range(1, len(scores)):
        end = look + 1
        widths = [2**power for power in range(end.bit_length()) if end - 2 ** (power + 1) >= start]
        shown: tuple[float, int] | None = None
        for width in widths:
            first, middle = end - 2 * width, end - width
            common = numbers[end] - numbers[first] == 2 * width
            deltas = (sums[end] + sums[first] - 2 * sums[middle])[common] / width
            if clusters is not None:
                deltas = np.bincount(clusters[common], deltas)
                deltas = deltas[np.unique(clusters[common])]
            if abs(deltas.sum()) < _LEAST_Z * math.sqrt(float((deltas**2).sum())) or not deltas.any():
                continue
            test = sign_flip(deltas.tolist())
            p = min(1.0, 2 * min(test.p_drop, test.p_gain) * len(widths))
            if p <= alpha / (look * end) and (shown is None or p < shown[0]):
                shown = p, first
        if shown is not None:
            p, first = shown
            common = numbers[end] - numbers[first] == end - first
            means = scores[first:end, common].mean(axis=1)
            at = _split(means)
            start = first + at
            yield ChangePoint(start, look, float(means[:at].mean()), float(means[at:].mean()), float(p))


def _split(means: Floats) -> int:
    """Return where two parts of a sequence differ most, for their lengths."""
    n = len(means)
    parts = np.arange(1, n)
    left = np.cumsum(means)[:-1]
    apart = np.abs((means.sum() - left) / (n - parts) - left / parts)
    return int(np.argmax(apart * np.sqrt(parts * (n - parts)))) + 1
