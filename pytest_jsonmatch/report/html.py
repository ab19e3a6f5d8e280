"""A run as one self-contained HTML file: no network, no other file.

The main figures are in the page itself. A script draws the long lists from the data in the file, but only the
rows in view.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.report.against import commit_text
from pytest_jsonmatch.report.checks import named
from pytest_jsonmatch.report.details import sides_of
from pytest_jsonmatch.report.escape import clip
from pytest_jsonmatch.report.fieldtable import Section, absence_note
from pytest_jsonmatch.report.figures import compare_figures, score_text, short_figure
from pytest_jsonmatch.report.pages import check_cells, check_installed, rendered
from pytest_jsonmatch.report.sheetpage import sections_of_page
from pytest_jsonmatch.report.view import (
    TITLES_OF,
    CaseText,
    Headfigure,
    RunView,
    extent,
    missed_limit,
)
from pytest_jsonmatch.results.comparison import (
    Case,
    CaseRun,
    Comparison,
    by_metric,
    merged_differences,
    tags_of_case,
)

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.baseline import Delta
    from pytest_jsonmatch.results.comparison import Difference

_DIGITS: Final = 6
_MAX_ID: Final = 500
_MAX_MESSAGE: Final = 1000
_MAX_GATES: Final = 3
_MAX_DIFFERENCES: Final = 10
"""At most this many differences of a field are shown."""
_ROOM: Final = 8_000_000
"""The most characters for inputs with raw answers; twice as many for values and documents of the worst
comparisons. A page must open."""
_UNJUDGED: Final = "scored"

_UNKNOWN: Final = CaseText()

_Key: TypeAlias = "tuple[str, str]"
"""Node id and id of a comparison."""


def html_page(view: RunView) -> str:
    """Return a page as HTML text.

    Raises ConfigurationError if jinja2 is not installed.
    """
    check_installed()
    from jinja2.utils import htmlsafe_json_dumps

    data = _Data(view)
    return rendered(
        "report.html.jinja",
        styles=("report.css",),
        script="report.js",
        data=htmlsafe_json_dumps(data.all(), separators=(",", ":"), allow_nan=False),
        notes=[_plain(text) for text in (*view.notes, *data.bounds)],
        tags=[_plain(tag, _MAX_ID) for tag in data.tags],
        **_texts(view),
    )


# -- the page itself ---------------------------------------------------------------------------------------


def _texts(view: RunView) -> dict[str, Any]:
    results = view.results
    on = _plain(extent(results))
    runs = sum(len(case.runs) for case in results.cases)
    made = results.created.replace("T", " ")
    about = [on, count(runs, "run") if runs > len(results.cases) else "", made, commit_text(results.commit)]
    versions = ", ".join(f"{_plain(name)} {_plain(text)}" for name, text in results.versions.items())
    return {
        "title": _plain(view.title),
        "about": " · ".join(filter(None, map(_plain, about))),
        "made": versions or f"pytest-jsonmatch {__version__}",
        "on": on,
        "banner": _banner(view),
        "confidence": view.confidence,
        "is_partial": results.is_partial,
        "scopes": [
            {"title": scope.title, "cards": [_card(each) for each in scope.figures]} for scope in view.scopes
        ],
        "checks": [check_cells(check) for check in (*view.gates, *view.unsettled)],
        "tables": sections_of_page(view.tables),
        "sides": sections_of_page(view.sides),
        "baseline": sections_of_page(view.against),
    }


def _banner(view: RunView) -> dict[str, str] | None:
    if not view.is_judged:
        return None
    kind, word = view.verdict
    failed = [named(check) for check in view.gates if check.passed is False]
    said = [*(reason for reason, _ in view.reasons), *failed[:_MAX_GATES]]
    return {"kind": kind, "word": word, "text": _plain(" · ".join(said))}


def _plain(text: str, limit: int = _MAX_MESSAGE) -> str:
    """Return text clipped and printable: nothing in it is hidden, or reorders text."""
    return clip(text, limit)


def _card(figure: Headfigure) -> dict[str, str]:
    value, ends = figure.texts
    card = {"name": figure.name, "value": value, "interval": ends}
    interval = figure.interval
    if interval is None:
        return card
    return card | {
        "low": f"{interval.low * 100:.1f}",
        "width": f"{max(interval.high - interval.low, 0.005) * 100:.1f}",
        "point": f"{interval.estimate * 98.8:.1f}",
    }


# -- the data that the script draws ------------------------------------------------------------------------


@final
class _Data:
    """The data of a run for the script. Keys are short, since a page may have 10,000 cases."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._places: dict[tuple[str, str], int] = {}
        """The row of each field in the table of fields, by metric and path."""
        self._sections = view.sections
        self._metrics = list(dict.fromkeys(section.metric for section in self._sections))
        self._is_judged = view.judges_cases
        tags = sorted({tag for case in view.results.cases for tag in tags_of_case(case)})
        self.tags = {tag: place for place, tag in enumerate(tags)}
        """The index of each tag."""
        self._details: dict[_Key, list[Any]] = {}
        """What is wrong in a comparison, if anything is, and its documents."""
        self._room, room = _ROOM, 2 * _ROOM
        keys = [(each.nodeid, each.id) for each in sorted(view.results.comparisons, key=attrgetter("score"))]
        texts = {key: text for key in keys if (text := view.details.get(key))}
        for key, text in texts.items():
            if room > 0:
                room -= len(text)
                # Of all but the worst records of a corpus there are no documents.
                self._details[key] = [
                    json.loads(part) if part else None for part in text.partition("\n")[::2]
                ]
        shown, every = len(self._details), len(texts)
        told = f"Values and documents are shown for the {count(shown, 'worst comparison')} of {count(every)}."
        self.bounds = [told] if shown < every else []
        """What the page leaves out."""

    def all(self) -> dict[str, object]:
        view = self._view
        diff = view.contest.diff if view.contest is not None and view.contest.diff.is_comparable else None
        before = {} if diff is None else {each.name: each.before for each in diff.cases}
        silent = {section.metric for section in self._sections if not section.extra}
        return {
            "metrics": [_plain(name, _MAX_ID) for name in self._metrics],
            "extra": [int(metric not in silent) for metric in self._metrics],
            "fields": list(self._fields(() if diff is None else diff.fields)),
            "absence": [note for each in self._sections if (note := self._absence(each))],
            "cases": [self._case(case, before.get(case.id)) for case in view.results.cases],
        }

    def _absence(self, section: Section) -> str:
        note = absence_note(section.total)
        several = f"{section.metric}: " if len(self._sections) > 1 else ""
        return _plain(several + note) if note else ""

    def _fields(self, deltas: Sequence[Delta]) -> Iterator[list[object]]:
        before = {(each.metric, each.name): each.before for each in deltas}
        cases = by_metric(self._view.results.cases)
        for section in self._sections:
            number = self._metrics.index(section.metric)
            differences = merged_differences(cases.get(section.metric, ()), _MAX_DIFFERENCES)
            for row in section.rows:
                if row.is_group:
                    continue
                self._places[section.metric, row.path] = len(self._places)
                of = row.figures
                scores = (
                    of.mean_score,
                    of.precision,
                    of.recall,
                    of.f1,
                    before.get((section.metric, row.path)),
                )
                path = _plain(row.path, _MAX_ID)
                leaves = [_leaf(path, each) for each in differences.get(row.path, ())]
                yield [path, number, _counts(of), *map(short_figure, scores), leaves]

    def _case(self, case: Case, before: float | None) -> dict[str, object]:
        entry: dict[str, object] = {
            "i": _plain(case.id, _MAX_ID),
            "v": case.verdict if self._is_judged else _UNJUDGED,
            **_figures(*map(case.figure, FIGURES)),
            "u": [self._run(case, run) for run in case.runs],
        }
        entry |= _exact(case.figure("score"), *(each for run in case.runs for each in run.comparisons))
        if place := self._source(case, case.runs[0]).place:
            entry["l"] = _plain(place, _MAX_ID)
        if tags := tags_of_case(case):
            entry["t"] = sorted(self.tags[tag] for tag in tags)
        if case.of > 1:
            entry["o"] = case.of
        if self._view.results.is_of_records and any(each.errors for each in case.runs[0].comparisons):
            entry["z"] = 1  # listed after wrong answers
        if before is not None:
            entry["b"] = short_figure(before)
        return entry

    def _source(self, case: Case, run: CaseRun) -> CaseText:
        nodeid = run.comparisons[0].nodeid if run.comparisons else case.id
        return self._view.sources.get(nodeid, _UNKNOWN)

    def _run(self, case: Case, run: CaseRun) -> dict[str, object]:
        entry: dict[str, object] = {"n": run.number, "k": int(run.passed)}
        for key, text in zip("qa", self._source(case, run)[1:], strict=True):
            if text and self._room > 0:
                entry[key] = "\n".join(_plain(line, _MAX_MESSAGE) for line in text.split("\n"))
                self._room -= len(text)
        if run.error:
            entry["e"] = _plain(run.error)
        if run.comparisons:
            entry["c"] = [self._comparison(each) for each in run.comparisons]
        return entry

    def _comparison(self, of: Comparison) -> dict[str, object]:
        entry: dict[str, object] = {
            "m": self._metrics.index(of.metric),
            **_figures(of.score, of.precision, of.recall, of.f1),
            "x": [number for path, figures in of.fields.items() for number in self._cell(of, path, figures)],
        }
        entry |= _exact(of.score, of)
        if of.threshold:
            entry["t"] = _plain(", ".join(_limits(of.threshold)))
        if warnings := [_plain(text) for text in (*of.errors, *of.warnings)]:
            entry["w"] = warnings
        wrong, documents = self._details.get((of.nodeid, of.id), (None, None))
        if wrong is not None:
            entry["d"] = wrong
        if documents is not None:
            entry["o"] = documents
        return entry

    def _cell(self, comparison: Comparison, path: str, figures: FieldAggregation) -> Iterator[float]:
        """Yield the field's row, its counts, and the sum of its scores."""
        place = self._places.get((comparison.metric, path))
        if place is not None:
            yield place
            yield from _counts(figures)
            # Shortened, but never so that the mean of an imperfect field looks like 1.
            short = round(figures.score_sum, _DIGITS)
            yield figures.total - 10.0**-_DIGITS if short >= figures.total > figures.score_sum else short


def _leaf(path: str, of: Difference) -> dict[str, object]:
    """Return a difference of a field as `report.details` returns a leaf of a case."""
    expected, actual = sides_of(of.expected, of.actual)
    leaf = {"p": _plain(of.at or path, _MAX_ID), "k": of.status, "s": of.score, "e": expected, "a": actual}
    return {**leaf, "y": f"{count(of.times)} times"} if of.times > 1 else leaf


def _exact(score: float, *comparisons: Comparison) -> dict[str, str]:
    """Return the text of a score below its limit, if that needs more decimals than the script would show."""
    limit = missed_limit(score, comparisons)
    text = "" if limit is None else compare_figures(score, limit)[0]
    return {} if text in {"", score_text(score)} else {"g": text}


def _counts(figures: FieldAggregation) -> list[int]:
    return [figures.matches, figures.mismatches, figures.omissions, figures.hallucinations]


def _figures(*figures: float) -> dict[str, float | None]:
    return dict(zip("sprf", map(short_figure, figures), strict=True))


def _limits(threshold: Mapping[str, Any]) -> Iterator[str]:
    for name, limit in threshold.items():
        pairs: Iterable[tuple[str, Any]] = limit.items() if isinstance(limit, dict) else [(name, limit)]
        yield from (f"{TITLES_OF.get(each, each)} ≥ {least}" for each, least in pairs)
