"""The parts of a report that only a page shows: all cases with their details, and charts of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count, natural_key
from pytest_jsonmatch.report.blocks import AnyCell, Chart, Failure, Row, RowDetail, Series, Table, score_cell
from pytest_jsonmatch.report.case_tables import (
    case_cells,
    case_columns,
    lowest_fields,
    named_fields,
)
from pytest_jsonmatch.report.details import detail_from
from pytest_jsonmatch.report.fields import show_differences
from pytest_jsonmatch.report.formatting import dash, score_text
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison, collect_tags
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from pytest_jsonmatch.results.run import RunResult

_MAX_LISTED: Final = 2_000
"""A page lists at most this many cases."""
_MAX_CHARACTERS: Final = 20_000_000
"""The most characters of inputs, answers, values and documents, so that a browser can open the page."""
_BARS: Final = 20
_MAX_MARKS: Final = 3
_HEAT_CASES: Final = 40
_HEAT_FIELDS: Final = 30


def case_table(results: RunResult, failed: Sequence[Failure], extra: PageExtra, link: str = "") -> Table:
    """Return a table of all cases: failed cases first, then the others by score, the lowest first."""
    failing = {failed_case.case.id: failed_case for failed_case in failed}
    others = [case for case in results.cases if case.id not in failing]
    others.sort(key=lambda case: (case.mean("score"), natural_key(case.id)))
    cases = [*(failed_case.case for failed_case in failed), *others][:_MAX_LISTED]
    have_places = bool(extra.sources) or any(failed_case.path for failed_case in failed)
    budget = _DetailBudget(extra)
    tags = [collect_tags(case) for case in cases]
    rows = []
    for case, of_case in zip(cases, tags, strict=True):
        failed_case = failing.get(case.id)
        if failed_case is None:
            score = case.mean("score")
            place = [extra.place(case) or dash(True)] if have_places else []
            fields = named_fields(lowest_fields(case))
            cells: list[AnyCell] = [case.id, score_cell(score if case.has_figures else None), fields, *place]
        else:
            cells = case_cells(failed_case, link, have_places=have_places)
            if have_places and not failed_case.path:
                cells[-1] = extra.place(case) or dash(True)
        details = list(budget.details(case, "" if failed_case is None else failed_case.message))
        status = {"status": [case.verdict]} if results.has_thresholds else {}
        rows.append(Row(cells, details, {**status, "tag": of_case}))
    noun = results.noun
    note = ""
    if len(cases) < len(results.cases):
        total = count(len(results.cases))
        note = f"only the {count(len(cases))} {noun}s with the lowest scores are listed, of {total}"
    return Table(
        case_columns(noun, "bar", have_places=have_places),
        rows,
        _title(results, failed),
        noun,
        note=note,
        perfect_rows=max(len(cases) - len(failed), 0),
        perfect_level="all",
    )


def _title(results: RunResult, failed: Sequence[Failure]) -> str:
    if not (results.has_thresholds and failed):
        last = ", those with errors last" if any(failed_case.run.errors for failed_case in failed) else ""
        return f"{results.noun}s, the lowest scores first{last}"
    what = "did not pass" if results.has_only_gates else "failed"
    return f"cases: {count(len(failed))} of {count(len(results.cases))} {what}"


class CaseText(NamedTuple):
    """The location, input and answer of a test; empty if unknown.

    Args:
        place: where the case is written, as "file:line".
        input: the input of the system under test, as text.
        answer: the raw answer, if it is text.
    """

    place: str = ""
    input: str = ""
    answer: str = ""


@final
@dataclass(frozen=True, slots=True)
class PageExtra:
    """The data of cases that only a page shows.

    Args:
        details: the results of `details_of`, by (node id, id) of the comparison.
        sources: location, input and answer of tests, by node id.
    """

    details: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sources: Mapping[str, CaseText] = field(default_factory=dict)

    def source(self, case: Case, run: CaseRun) -> CaseText:
        """Return location, input and answer of the test of a run."""
        nodeid = run.comparisons[0].nodeid if run.comparisons else case.id
        return self.sources.get(nodeid, CaseText())

    def place(self, case: Case) -> str:
        """Return where a case is written."""
        return self.source(case, case.runs[0]).place


@final
class _DetailBudget:
    """Returns the details of cases until the limit of characters is reached."""

    def __init__(self, extra: PageExtra) -> None:
        self._extra = extra
        self._remaining = _MAX_CHARACTERS

    def details(self, case: Case, message: str) -> Iterator[RowDetail]:
        """Yield the details of each run of a case, followed by those of its comparisons."""
        for run in case.runs:
            source = self._extra.source(case, run)
            number = f"run {run.number} of {case.of}: " if case.of > 1 else ""
            title = f"{number}{'passed' if run.passed else 'failed'}" if number else ""
            texts = [(name, text) for name, text in zip(("input", "answer"), source[1:], strict=True) if text]
            texts = [named_text for named_text in texts if self._reserve(named_text[1])]
            if run.error or texts or title or message:
                yield RowDetail(title, message=message, texts=texts, notes=[run.error] if run.error else ())
                message = ""
            for comparison in run.comparisons:
                yield self._comparison(comparison, is_only=len(run.comparisons) == 1)

    def _comparison(self, comparison: Comparison, *, is_only: bool) -> RowDetail:
        title = ""
        if not is_only:
            name = comparison.id.removeprefix(comparison.nodeid).lstrip("#") or comparison.id
            title = f"{name}: {comparison.metric}, score {score_text(comparison.score)}"
        text = self._extra.details.get((comparison.nodeid, comparison.id), "")
        if not self._reserve(text):
            text = text.partition("\n")[0] if self._remaining > -_MAX_CHARACTERS else ""
        detail = detail_from(
            text, title, (*comparison.all_errors, *comparison.warnings, *comparison.violations)
        )
        if text:
            return detail
        # A result file has no documents, but the most frequent differences of each field.
        kept = (show_differences(path, found) for path, found in comparison.differences.items())
        return replace(detail, differences=list(chain.from_iterable(kept)))

    def _reserve(self, text: str) -> bool:
        self._remaining -= len(text)
        return self._remaining > 0


def score_chart(results: RunResult) -> Chart:
    """Return the distribution of the cases' scores, with their thresholds marked."""
    bars = [0] * _BARS
    for case in results.scored:
        bars[min(int(case.mean("score") * _BARS), _BARS - 1)] += 1
    limits = {comparison.threshold.get("score") for comparison in results.comparisons}
    marks = [(float(limit), f"threshold {limit:g}") for limit in sorted(filter(None, limits))[:_MAX_MARKS]]
    points = [((at + 0.5) / _BARS, float(number)) for at, number in enumerate(bars)]
    noun = f"{results.noun}s"
    return Chart(f"scores of {noun}", "score", noun, [Series("", points)], "bars", marks=marks, level="all")


def heat_chart(results: RunResult, paths: Sequence[str]) -> Chart:
    """Return the scores of fields in the lowest-scoring cases as a heat map."""
    cases = sorted(results.scored, key=lambda case: (case.mean("score"), natural_key(case.id)))
    cases = [case for case in cases if case.mean("score") < 1][:_HEAT_CASES]
    scores = [
        {path: sums.rate("score") for path, sums in case.totals.fields.items() if sums.total}
        for case in cases
    ]
    series = []
    for path in paths:
        points = [(float(at), by_field[path]) for at, by_field in enumerate(scores) if path in by_field]
        if points:
            series.append(Series(path, points))
    which = f"the {count(len(cases), f'lowest-scoring {results.noun}')}, from left to right"
    names = [case.id for case in cases]
    return Chart(f"fields × {results.noun}s", which, "", series[:_HEAT_FIELDS], "heat", names, level="all")
