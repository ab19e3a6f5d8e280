"""`jsonmatch plan`: how many cases it takes to detect a drop, or to estimate the score precisely."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.cli.arguments import SUCCESS, CommandError
from pytest_jsonmatch.cli.inputs import refuse_repeated
from pytest_jsonmatch.cli.studies import show_sheet
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.headlines import OF_SCORE, clusters_of
from pytest_jsonmatch.gate.power import (
    MOST,
    Sample,
    clusters_for_precision,
    clusters_to_detect,
    minimum_detectable,
    sample_of,
)
from pytest_jsonmatch.gate.verdict import DropGate, round_up
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
_TWO_RUNS: Final = (
    "Two runs do not show what all cases of a run share, such as a provider's bad hour: give three or more "
    "runs from different times."
)


def run(options: Namespace) -> int:
    """Run `jsonmatch plan`."""
    if len(options.results) < 2:
        raise CommandError(
            "plan needs two or more runs of the same system, which show how its answers vary, got 1: "
            "run the suite again without a change, and give both files"
        )
    refuse_repeated(options.results)
    results = [_read_complete_run(path) for path in options.results]
    sample = sample_of([_scores(run_result) for run_result in results], clusters_of(*results))
    gate = DropGate(options.max_drop, _SCORE_CONFIDENCE)
    sentences = []
    if options.drop is not None:
        goal = f"to detect a drop of {options.drop:g}{_allowing(gate)} in {_POWER * 100:g} % of runs"
        sentences.append(
            _needed_sentence(goal, clusters_to_detect(sample, options.drop, gate, _POWER), sample)
        )
    if options.precision is not None:
        goal = f"to estimate the mean score to within {options.precision:g}"
        sentences.append(
            _needed_sentence(goal, clusters_for_precision(sample, options.precision, _CONFIDENCE), sample)
        )
    if not sentences:
        clusters = len(sample.sizes)
        smallest = minimum_detectable(sample, clusters, gate, _POWER)
        drop = "no drop" if smallest is None else f"a drop of {smallest:.2g}"
        sentences.append(
            f"{_cases_text(sample, clusters)} detect {drop}{_allowing(gate)} in {_POWER * 100:g} % of runs"
        )
    blocks = [Text(sentence, "strong") for sentence in sentences]
    blocks += [Text(sentence) for sentence in _noise_sentences(sample, len(results))]
    if options.drop is not None or options.precision is None:
        blocks.append(Text(_ASSUMPTION, "faint"))
    if len(results) == 2:
        blocks.append(Text(_TWO_RUNS, "faint"))
    show_sheet(Report("jsonmatch plan", _about(sample, options, results), blocks), options)
    return SUCCESS


def _read_complete_run(path: Path) -> RunResult:
    results = read_results(path)
    if results.is_partial:
        raise CommandError(f"{path} does not have every record: save it with --keep all")
    return results


def _scores(results: RunResult) -> dict[str, list[float]]:
    return {case.id: [run.mean("score") for run in case.runs if run.has_figures] for case in results.scored}


def _about(sample: Sample, options: Namespace, results: list[RunResult]) -> str:
    number, most = sum(sample.sizes), max(run_result.total_records for run_result in results)
    cases = count(number, "case") if number == most else f"{count(number)} of {count(most, 'case')}, in all"
    names = " and ".join(filter(None, [", ".join(map(str, options.results[:-1])), str(options.results[-1])]))
    return f"plan from {names}: {cases}, mean score {sample.mean:.3f}"


def _allowing(gate: DropGate) -> str:
    return f", of which {gate.max_drop:g} is allowed," if gate.max_drop else ""


def _noise_sentences(sample: Sample, runs: int) -> Iterator[str]:
    """Yield how much whole runs vary, and what a gate can detect in spite of this."""
    if runs < 3:
        return
    most = f"{count(runs)} runs cannot exclude {round_up(sample.most_run_noise)}"
    if not sample.run_noise:
        yield f"Whole runs vary no more than their cases explain; but {most}, as a standard deviation."
        return
    from scipy.special import ndtri

    at_level, at_power = (ndtri(share) * 2**0.5 * sample.run_noise for share in (_SCORE_CONFIDENCE, _POWER))
    deviation = f"{sample.run_noise:.2g} (standard deviation)"
    yield f"Whole runs vary by {deviation} beyond what their cases explain; {most}."
    wrong = sample.false_alarms(_SCORE_CONFIDENCE)
    yield (
        "So a gate without an allowed drop calls this system worse than itself in "
        f"{100 * wrong:.0f} % of runs. --jsonmatch-max-drop={round_up(at_level)} allows for it, and detects "
        f"drops of {round_up(at_level + at_power)} in {_POWER * 100:g} % of runs at best, however many cases "
        "or repeats there are."
    )


def _needed_sentence(goal: str, clusters: int | None, sample: Sample) -> str:
    if clusters is None:
        return f"{goal} takes more than {_cases_text(sample, MOST)}"
    return f"{goal} takes about {_cases_text(sample, clusters)}"


def _cases_text(sample: Sample, clusters: int) -> str:
    """Return a number of clusters as a number of cases, in words."""
    per_cluster = sample.per_cluster
    cases = count(round(clusters * per_cluster), "case")
    return cases if per_cluster == 1 else f"{cases}: {count(clusters, 'cluster')} of {per_cluster:.3g} cases"
