"""`jsonmatch plan`: how many cases it takes to prove a drop, or to know a figure well."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import FINE, CommandError
from pytest_jsonmatch.cli.commands import OF_RUN
from pytest_jsonmatch.cli.studies import show_sheet
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import OF_SCORE, clusters_of
from pytest_jsonmatch.gate.power import (
    MOST,
    Sample,
    Trials,
    assumed_sample,
    clusters_to_know,
    clusters_to_prove,
    minimum_detectable,
    reach,
    sample_of,
)
from pytest_jsonmatch.report.sheets import Chart, Sentence, Series, Sheet, SheetBlock
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.model import ResultSet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CONFIDENCE: Final = 0.95
_AT_SCORE: Final = 1 - OF_SCORE * (1 - _CONFIDENCE)
"""The confidence at which a comparison of two runs judges the mean score."""
_POWER: Final = 0.8
"""The share of runs in which a drop must be proven."""
_HARDEST: Final = (
    "The drop is assumed to come from cases that fall to score 0, which is the hardest to prove; a drop that "
    "all cases share takes fewer."
)


def run(options: Namespace) -> int:
    """Run `jsonmatch plan`."""
    sample = _sample(options)
    blocks: list[SheetBlock] = []
    if options.drop is not None:
        blocks.append(_of_drop(sample, options))
    if options.precision is not None:
        blocks.append(_of_precision(sample, options))
    if not blocks:
        blocks.append(_of_run(sample))
    if options.drop is not None or options.precision is None:
        blocks.append(Sentence(_HARDEST, "faint"))
    show_sheet(Sheet("jsonmatch plan", _about(sample, options), blocks), options)
    return FINE


def _sample(options: Namespace) -> Sample:
    if options.results is None:
        if options.pass_rate in {None, OF_RUN}:
            raise CommandError("nothing to plan from: give RUN, a result file, or --pass-rate RATE")
        return assumed_sample(options.pass_rate)
    if options.pass_rate not in {None, OF_RUN}:
        raise CommandError(f"--pass-rate {options.pass_rate:g}: RUN has the rate; leave one of them out")
    results = _whole(options.results)
    again = None if options.again is None else _whole(options.again)
    return sample_of(
        _scores(results, options),
        clusters_of(*filter(None, [again, results])),
        None if again is None else _scores(again, options),
    )


def _whole(path: Path) -> ResultSet:
    results = read_results(path)
    if results.is_partial:
        raise CommandError(f"{path} does not have every record: save it with --keep all")
    return results


def _scores(results: ResultSet, options: Namespace) -> dict[str, list[float]]:
    if options.pass_rate is not None:
        return {case.id: [float(run.passed) for run in case.runs] for case in results.cases}
    return {case.id: [run.figure("score") for run in case.runs if run.has_figures] for case in results.scored}


def _about(sample: Sample, options: Namespace) -> str:
    figure = "mean score" if options.pass_rate is None else "pass rate"
    name = "no run" if options.results is None else str(options.results)
    of = "" if options.results is None else f"{count(sum(sample.sizes), 'case')}, "
    return f"plan from {name}: {of}{figure} {sample.mean:.3f}; noise {sample.source}"


def _amount(sample: Sample, clusters: int) -> str:
    """Return a number of clusters in words, as cases."""
    cases = round(clusters * sample.per_cluster)
    if sample.per_cluster == 1:
        return f"about {count(cases, 'case')}"
    return f"about {count(cases, 'case')}: {count(clusters, 'cluster')} of {sample.per_cluster:.3g} cases"


def _of_drop(sample: Sample, options: Namespace) -> SheetBlock:
    return _curve(
        sample,
        f"to prove a drop of {options.drop:g} in {_POWER * 100:g} % of runs",
        clusters_to_prove(sample, options.drop, _AT_SCORE, _POWER),
        "share of runs that prove it",
        lambda size: Trials(sample, size, _AT_SCORE).power(options.drop),
    )


def _of_precision(sample: Sample, options: Namespace) -> SheetBlock:
    return _curve(
        sample,
        f"to know the figure to within {options.precision:g}",
        clusters_to_know(sample, options.precision, _CONFIDENCE),
        "reach of the interval to each side",
        lambda size: reach(sample, size, _CONFIDENCE),
    )


def _curve(
    sample: Sample, what: str, clusters: int | None, title: str, value: Callable[[int], float]
) -> SheetBlock:
    """Return how many clusters it takes, with a curve from far too few to more than enough."""
    if clusters is None:
        return Sentence(f"{what} takes more than {_amount(sample, MOST).removeprefix('about ')}", "strong")
    sizes = sorted({max(2, round(clusters * part)) for part in (0.25, 0.5, 0.75, 1, 1.5, 2)})
    points = [(round(size * sample.per_cluster), value(size)) for size in sizes]
    return Chart(f"{what} takes {_amount(sample, clusters)}", "cases", title, [Series("", points)])


def _of_run(sample: Sample) -> SheetBlock:
    """Return the smallest drop that the cases of the run can prove."""
    clusters = len(sample.sizes)
    smallest = minimum_detectable(sample, clusters, _AT_SCORE, _POWER)
    with_these = _amount(sample, clusters).removeprefix("about ")
    drop = "no drop" if smallest is None else f"a drop of {smallest:.2g}"
    return Sentence(f"{with_these} prove {drop} in {_POWER * 100:g} % of runs", "strong")
