"""`jsonmatch plan`: how many cases it takes to detect a drop, or to estimate a score precisely."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import SUCCESS, CommandError
from pytest_jsonmatch.cli.commands import OF_RUN
from pytest_jsonmatch.cli.studies import show_sheet
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import OF_SCORE, clusters_of
from pytest_jsonmatch.gate.power import (
    MOST,
    Sample,
    assumed_sample,
    clusters_for_precision,
    clusters_to_detect,
    minimum_detectable,
    sample_of,
)
from pytest_jsonmatch.report.blocks import Report, Text
from pytest_jsonmatch.results.file import read_results

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_jsonmatch.results.run import RunResult

_CONFIDENCE: Final = 0.95
_SCORE_CONFIDENCE: Final = 1 - OF_SCORE * (1 - _CONFIDENCE)
"""The confidence of the test of the mean score in a comparison of two runs."""
_POWER: Final = 0.8
"""The share of runs in which the drop is significant."""
_ASSUMPTION: Final = (
    "The drop is assumed to come from cases that fall to score 0, which is the hardest to detect; a drop "
    "that all cases share takes fewer."
)


def run(options: Namespace) -> int:
    """Run `jsonmatch plan`."""
    sample = _sample(options)
    sentences = []
    if options.drop is not None:
        goal = f"to detect a drop of {options.drop:g} in {_POWER * 100:g} % of runs"
        sentences.append(
            _needed_sentence(
                goal, clusters_to_detect(sample, options.drop, _SCORE_CONFIDENCE, _POWER), sample
            )
        )
    if options.precision is not None:
        goal = f"to estimate the {_statistic(options)} to within {options.precision:g}"
        sentences.append(
            _needed_sentence(goal, clusters_for_precision(sample, options.precision, _CONFIDENCE), sample)
        )
    if not sentences:
        clusters = len(sample.sizes)
        smallest = minimum_detectable(sample, clusters, _SCORE_CONFIDENCE, _POWER)
        drop = "no drop" if smallest is None else f"a drop of {smallest:.2g}"
        sentences.append(f"{_cases_text(sample, clusters)} detect {drop} in {_POWER * 100:g} % of runs")
    blocks = [Text(sentence, "strong") for sentence in sentences]
    if options.drop is not None or options.precision is None:
        blocks.append(Text(_ASSUMPTION, "faint"))
    show_sheet(Report("jsonmatch plan", _about(sample, options), blocks), options)
    return SUCCESS


def _sample(options: Namespace) -> Sample:
    if options.results is None:
        if options.pass_rate in {None, OF_RUN}:
            raise CommandError("nothing to plan from: give RUN (a result file) or --pass-rate RATE")
        return assumed_sample(options.pass_rate)
    if options.pass_rate not in {None, OF_RUN}:
        raise CommandError(f"--pass-rate {options.pass_rate:g}: RUN has the rate; leave one of them out")
    results = _read_complete_run(options.results)
    again = None if options.again is None else _read_complete_run(options.again)
    return sample_of(
        _scores(results, options),
        clusters_of(*filter(None, [again, results])),
        None if again is None else _scores(again, options),
    )


def _read_complete_run(path: Path) -> RunResult:
    results = read_results(path)
    if results.is_partial:
        raise CommandError(f"{path} does not have every record: save it with --keep all")
    return results


def _scores(results: RunResult, options: Namespace) -> dict[str, list[float]]:
    if options.pass_rate is not None:
        return {case.id: [float(run.passed) for run in case.runs] for case in results.cases}
    return {case.id: [run.mean("score") for run in case.runs if run.has_figures] for case in results.scored}


def _about(sample: Sample, options: Namespace) -> str:
    name = "no run" if options.results is None else str(options.results)
    size = "" if options.results is None else f"{count(sum(sample.sizes), 'case')}, "
    return f"plan from {name}: {size}{_statistic(options)} {sample.mean:.3f}; noise {sample.source}"


def _statistic(options: Namespace) -> str:
    return "mean score" if options.pass_rate is None else "pass rate"


def _needed_sentence(goal: str, clusters: int | None, sample: Sample) -> str:
    if clusters is None:
        return f"{goal} takes more than {_cases_text(sample, MOST)}"
    return f"{goal} takes about {_cases_text(sample, clusters)}"


def _cases_text(sample: Sample, clusters: int) -> str:
    """Return a number of clusters as a number of cases, in words."""
    per_cluster = sample.per_cluster
    cases = count(round(clusters * per_cluster), "case")
    return cases if per_cluster == 1 else f"{cases}: {count(clusters, 'cluster')} of {per_cluster:.3g} cases"
