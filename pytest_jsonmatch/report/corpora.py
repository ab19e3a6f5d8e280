"""The details and the page of a corpus."""

from __future__ import annotations

from heapq import nsmallest
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.details import details_of
from pytest_jsonmatch.results.origin import with_origin
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.support.atomic import write_file

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.results.record import RecordResult
    from pytest_jsonmatch.results.run import RunResult

_DETAILED: Final = 1_000
"""At most this many of the lowest-scoring records get their documents."""


def write_page(run: RunResult, path: Path) -> None:
    """Write a corpus as an HTML page, with the records that `keep` kept.

    Raises:
        ConfigurationError: jinja2 is not installed.
        OSError: the file can't be written.
    """
    from pytest_jsonmatch.report.html import html_page

    results = with_origin(run, Path.cwd())
    extra = PageExtra(details_of_records(run))
    page = html_page(build(results, ReportRequest(run.metric or "jsonmatch", page=extra, has_intervals=True)))
    write_file(path, page.encode("utf-8", "backslashreplace"))


def detailed_indices(run: RunResult) -> set[int]:
    """Return the indices of the lowest-scoring kept records, which get their documents."""
    kept = [record for record in _kept(run) if record.score is not None]
    rank = attrgetter("score", "f1", "index")
    return {record.index for record in nsmallest(_DETAILED, kept, key=rank)}


def details_of_records(run: RunResult) -> dict[tuple[str, str], str]:
    """Return the details of each kept record for a page; only the lowest-scoring ones have documents."""
    with_documents = detailed_indices(run)
    details = {}
    for record in _kept(run):
        name, detail = str(record.record_id), details_of(_match(record))
        details[name, name] = detail if record.index in with_documents else detail.partition("\n")[0]
    return details


def _kept(run: RunResult) -> list[RecordResult]:
    """Return the records whose comparison is kept."""
    return [record for record in run.records if record.match is not None]


def _match(record: RecordResult) -> MatchResult:
    return cast("MatchResult", record.match)
