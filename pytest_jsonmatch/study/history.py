"""Figures over many runs, and where a change is shown.

Import this module late: it imports numpy.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.baseline import Mismatch, signatures_of
from pytest_jsonmatch.gate.headlines import OF_SCORE
from pytest_jsonmatch.gate.paired import sign_flip
from pytest_jsonmatch.limits import FIGURES as OF_CASES
from pytest_jsonmatch.results.comparison import comparisons_of
from pytest_jsonmatch.results.file import number_of_cases, read_in_parts
from pytest_jsonmatch.results.model import ResultSet

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from pytest_jsonmatch.results.comparison import Case

    Floats = NDArray[np.float64]
    _Figure = tuple[str, bool]
    """The name of a figure, and whether it is that of a field."""
    _Scores = dict[_Figure, tuple[array[int], array[float]]]
    """By figure, the numbers of a run's cases, and their scores."""

FIGURES: Final = ("drops", "gains")
"""The figures that gates may name: how many changes are shown, of all figures or of a field."""
_SHOWN: Final = (*OF_CASES, "pass_rate")
"""The figures of whole runs."""
_SCORE: Final = ("score", False)
_ALARMS: Final = 0.05
_MOST_CASES: Final = 50_000
_MOST_NUMBERS: Final = 10_000_000
"""At most this many cases, and scores of all runs together, are kept; of more cases a sample is tested."""
_LEAST_Z: Final = 2.2
"""Sums of fewer standard deviations prove nothing at any level that is tried: no test is needed."""


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
        run: the number of the first run after it, from 0: where the runs before and after differ most.
        shown_by: the number of the run with which it is shown.
        before: the mean over the cases that the runs have in common, in the runs before it.
        after: the same mean in the runs from it on, up to `shown_by`.
        p: the p-value of the runs that show it.
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
    """Runs from the earliest to the latest, and the changes that are shown.

    Args:
        runs: with their figures, which are of all cases.
        changes: in order.
        tested: the share of the cases that are tested for changes: less than 1 if there are very many.
    """

    runs: tuple[HistoryRun, ...]
    changes: tuple[HistoryChange, ...]
    tested: float = 1.0

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


def measure_history(paths: Sequence[str | PathLike[str]]) -> HistoryStudy:
    """Return the figures of result files, and where they have changed.

    With each run, the last w runs are compared with the w before them, for w = 1, 2, 4 and so on, case by
    case, by the sign-flip test: if runs are equal, either half may come first, so its p-values hold for any
    scores. The error rate is spread over all looks there will ever be (1 / (t · (t + 1)) of it at look t,
    Bonferroni), nine tenths of it on the mean score, the rest on pass rate and fields. So if nothing changes,
    any change at all is shown in at most 5 % of histories, however long they are and whenever one looks.
    After a change the test starts again.

    Args:
        paths: result files. They are sorted by their time if all have one, else they stay in this order.

    Returns:
        Figures of every run, in [0, 1]; what can't be compared; the changes in order.

    Raises:
        ConfigurationError: a file can't be read, or there are fewer than two.

    Sources: Fisher 1935 and Pitman 1937 (sign flips); docs/history.md says what is computed.

    >>> measure_history(["today.json"])
    Traceback (most recent call last):
    pytest_jsonmatch.ConfigurationError: a history needs two runs or more; there is 1
    """
    if len(paths) < 2:
        raise ConfigurationError(f"a history needs two runs or more; there is {len(paths)}")
    files = list(map(_looked_into, map(Path, paths)))
    if all(each.created for each in files):
        files.sort(key=attrgetter("created"))
    numbers = len(files) * (2 + max(each.fields for each in files))
    most = min(_MOST_CASES, _MOST_NUMBERS // numbers)
    tested = _Tested(min(1.0, most / max(1, *(each.cases for each in files))))
    runs = tuple(tested.read(file.path) for file in files)
    # The mean score comes first, then the pass rate, then fields.
    changes = sorted(
        tested.changes(_ALARMS),
        key=lambda each: (each.run, each.is_field, each.figure != "score", each.figure),
    )
    return HistoryStudy(runs, tuple(changes), tested.share)


class _File(NamedTuple):
    """A result file, before it is read."""

    path: Path
    created: str
    fields: int
    """The number of fields in its first cases."""
    cases: int


def _looked_into(path: Path) -> _File:
    if path.exists() and not path.is_file():
        raise ConfigurationError(f"{path} is not a file; a history reads each file more than once")
    first = next(read_in_parts(path))
    fields = {field for each in first.comparisons for field in each.fields}
    return _File(path, first.created, len(fields), number_of_cases(path))


@final
class _Tested:
    """The scores of cases by run: all that is kept of the runs.

    A case that is scored in another way counts as another case.

    Args:
        share: of the cases. Which they are depends on their names alone, so they are the same in all runs.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._runs: list[_Scores] = []
        self._places: dict[str, list[int]] = {}
        """The numbers of each case, one for each way in which it is scored."""
        self._units: list[str] = []
        """By number, as are the signatures."""
        self._signatures: list[Sequence[str]] = []
        self._before: dict[str, int] = {}
        """The cases of the run before, with their numbers."""

    def read(self, path: Path) -> HistoryRun:
        """Read a run, and return it as a history shows it."""
        sums: dict[_Figure, list[float]] = defaultdict(lambda: [0.0, 0.0])
        scores: _Scores = defaultdict(lambda: (array("l"), array("f")))
        here: dict[str, int] = {}
        number = 0
        results = ResultSet()
        for results in read_in_parts(path):
            number += len(results.cases)
            for case in results.cases:
                _sum_up(case, sums)
                if case.has_figures and self._has(case):
                    here[case.id] = self._place(case.id, case.unit, signatures_of(case))
                    _add(case, here[case.id], scores)
        means = {figure: part / whole for figure, (part, whole) in sorted(sums.items()) if whole}
        figures: dict[str, float | None] = {name: means.get((name, False)) for name in _SHOWN}
        fields = {path: mean for (path, is_field), mean in means.items() if is_field}
        corpus = results.corpus
        if corpus is not None:
            figures = {**dict.fromkeys(_SHOWN), **corpus.means, "pass_rate": results.pass_rate}
            known = ((path, each.mean_score) for path, each in sorted(corpus.fields.items()))
            fields = {path: mean for path, mean in known if mean is not None}
            if corpus.records > number:
                # The worst records that a corpus keeps are different ones each time: they prove nothing.
                here, scores = {"": self._place("", "", [corpus.signature])}, {}
            number = corpus.records
        note = self._note(here) if self._runs else ""
        self._runs.append(scores)
        self._before = here
        return HistoryRun(path.name, results.created, results.commit, number, figures, fields, note)

    def _has(self, case: Case) -> bool:
        name = case.unit.encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(name, digest_size=8).digest(), "big") < self.share * 2**64

    def _place(self, name: str, unit: str, signatures: Sequence[str]) -> int:
        """Return the number of a case.

        A case that stopped before its last comparison is the same case, and worse.
        """
        places = self._places.setdefault(name, [])
        for place in places:
            known = self._signatures[place]
            if all(one == other for one, other in zip(known, signatures)):
                self._signatures[place] = max(known, signatures, key=len)
                return place
        places.append(len(self._units))
        self._units.append(unit)
        self._signatures.append(signatures)
        return places[-1]

    def _note(self, here: Mapping[str, int]) -> str:
        """Return why a run can't be compared with the one before it."""
        both = [(self._before[name], place) for name, place in here.items() if name in self._before]
        if not both:
            return "not comparable: no case of the run before"
        other = [pair for pair in both if len({*pair}) > 1]
        if not other:
            return ""
        old, new = next(
            pair for pair in zip(*(self._signatures[place] for place in other[0])) if len({*pair}) > 1
        )
        how = f"scored in another way ({Mismatch('', old, new).difference})"
        if len(other) == len(both):
            return f"not comparable: {how}"
        return f"{count(len(other), 'case')} of {count(len(both))} {how}"

    def changes(self, alpha: float) -> Iterator[HistoryChange]:
        """Yield all changes that are shown."""
        figures = {figure for scores in self._runs for figure in scores}
        clusters = np.unique(self._units, return_inverse=True)[1]
        for figure in figures:
            share = OF_SCORE if figure == _SCORE else (1 - OF_SCORE) / (len(figures) - 1)
            table = np.full((len(self._runs), len(self._units)), np.nan)
            for row, scores in zip(table, self._runs, strict=True):
                if scores:
                    # A case that has nothing at a field has nothing wrong there.
                    row[scores[_SCORE][0]] = 1.0
                    places, of_figure = scores[figure]
                    row[places] = of_figure
            yield from change_points(table, share * alpha, clusters, *figure)


def _add(case: Case, place: int, scores: _Scores) -> None:
    """Add a case's scores to those of its run."""
    found: dict[_Figure, float] = {
        _SCORE: case.figure("score"),
        ("pass_rate", False): case.pass_rate,
        **{(path, True): fmean(of_runs) for path, of_runs in case.scores_by_field().items()},
    }
    for figure, score in found.items():
        places, of_figure = scores[figure]
        places.append(place)
        of_figure.append(score)


def _sum_up(case: Case, sums: dict[_Figure, list[float]]) -> None:
    """Add a case to each figure's sum, and to the number to divide it by."""
    found = [(("pass_rate", False), float(case.passed), 1.0)]
    if case.has_figures:
        found += (((name, False), case.figure(name), 1.0) for name in OF_CASES)
    for each in comparisons_of([case]):
        # A case that ran several times counts as much as any other.
        found += (
            ((path, True), field.score_sum / len(case.runs), field.total / len(case.runs))
            for path, field in each.fields.items()
        )
    for figure, part, whole in found:
        sums[figure][0] += part
        sums[figure][1] += whole


# -- changes -----------------------------------------------------------------------------------------------


def change_points(
    scores: Floats,
    alpha: float,
    clusters: NDArray[np.intp] | None = None,
    figure: str = "score",
    is_field: bool = False,
) -> Iterator[HistoryChange]:
    """Yield the points where the scores of runs change, as `measure_history` says.

    Args:
        scores: (runs, cases); NaN where a run does not have a case.
        alpha: the accepted probability that any change is shown where there is none.
        clusters: the number of each case's cluster; None: each case is its own.
        figure: the name of the figure that the scores are of.
        is_field: whether that is a field.

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
            before, after = float(means[:at].mean()), float(means[at:].mean())
            yield HistoryChange(figure, start, look, before, after, float(p), is_field)


def _split(means: Floats) -> int:
    """Return where two parts of a sequence differ most, given their lengths."""
    n = len(means)
    parts = np.arange(1, n)
    left = np.cumsum(means)[:-1]
    apart = np.abs((means.sum() - left) / (n - parts) - left / parts)
    return int(np.argmax(apart * np.sqrt(parts * (n - parts)))) + 1
