"""Results as JSON, Markdown and HTML, for all commands that have results to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Headline, RunChange
    from pytest_jsonmatch.gate.session import Check, Checks
    from pytest_jsonmatch.report.runreport import Fault
    from pytest_jsonmatch.results.model import ResultSet

__all__ = ["FORMS", "Form", "Shown", "add_report", "check_form", "headlines_of", "in_form", "verdict_of"]

Form: TypeAlias = Literal["text", "json", "html", "markdown"]
FORMS: Final = ("text", "json", "html", "markdown")


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """What a command has found, whatever it is shown as.

    Args:
        results: the run, with its origin.
        title: what it is called.
        gates: what it was judged by.
        baseline: the name of the run that it is compared with; empty without one.
        diff: how it differs from that.
        proven: what the difference proves.
        differences: what differs, where two values were compared and nothing else; else empty.
        details: by (node id, id) of a comparison what the page shows of it.
        notes: what else is to be said.
    """

    results: ResultSet
    title: str
    gates: Sequence[Check] = ()
    baseline: str = ""
    diff: BaselineDiff | None = None
    proven: RunChange | None = None
    differences: str = ""
    details: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def add_report(parser: ArgumentParser, text: str) -> None:
    """Add the option `--report`; `text` says what the text and the JSON are.

    >>> from pytest_jsonmatch.cli.arguments import Parser
    >>> parser = Parser()
    >>> add_report(parser, "text for people, or a result file in JSON")
    >>> parser.parse_args(["--report", "html"]).report
    'html'
    """
    parser.add_argument("--report", choices=FORMS, default="text", help=text)


def check_form(form: Form) -> None:
    """Find out before any work is done whether a form can be made.

    Raises:
        ConfigurationError: it can't; the message says what to install.

    >>> check_form("text")
    """
    if form == "html":
        from pytest_jsonmatch.report.html import check_installed

        check_installed()


def in_form(form: Form, shown: Shown) -> str:
    """Return what was found as JSON, Markdown or HTML.

    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> in_form("markdown", Shown(ResultSet(), "none")).splitlines()[0]
    '## ➖ jsonmatch: nothing was compared'
    """
    if form == "json":
        from pytest_jsonmatch.results.file import to_text

        return to_text(shown.results)
    return _page(shown) if form == "html" else _markdown(shown)


def verdict_of(shown: Shown) -> Checks:
    """Return the gates, and those cases that are judged by all of their runs."""
    from pytest_jsonmatch.gate.repeats import repeats
    from pytest_jsonmatch.gate.session import Checks

    return Checks(tuple(shown.gates), repeats(shown.results.cases).checks)


def headlines_of(results: ResultSet) -> list[Headline]:
    """Return the figures with their intervals; none where one case, or not every record, is there."""
    if results.is_partial or len(results.cases) < 2:
        return []
    from pytest_jsonmatch.gate.headlines import headlines

    return headlines(results)


def _markdown(shown: Shown) -> str:
    from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown
    from pytest_jsonmatch.report.runreport import RunReport, extent

    report = RunReport(
        shown.results,
        verdict_of(shown),
        extent(shown.results),
        tuple(sorted(_faults(shown.results), key=lambda fault: (fault.score, fault.case))),
        shown.baseline,
        shown.diff,
        proven=shown.proven,
        headlines=tuple(headlines_of(shown.results)),
        differences=shown.differences,
    )
    return markdown(report, COMMENT_BYTES)


def _faults(results: ResultSet) -> Iterator[Fault]:
    from pytest_jsonmatch.report.runreport import failed_run, make_fault

    for case in results.cases:
        run = failed_run(case)
        if run is not None:
            errors = [error for each in run.comparisons for error in each.errors]
            yield make_fault(case, run, ("", 1), "\n".join(errors))


def _page(shown: Shown) -> str:
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.html import Page, html_page
    from pytest_jsonmatch.report.runreport import left_out_note

    results, verdict = shown.results, verdict_of(shown)
    notes = [*filter(None, [left_out_note(results)]), *shown.notes]
    if results.is_partial:
        kept, of = count(len(results.cases), "record"), count(results.number)
        notes.append(
            f"Figures and fields are those of all {of} records; {kept} of them are listed as cases. "
            "With `jsonmatch evaluate --keep all` all are, and figures have intervals."
        )
    page = Page(
        results,
        title=shown.title,
        headlines=headlines_of(results),
        checks=(*verdict.gates, *verdict.unsettled_cases),
        baseline=shown.baseline,
        diff=shown.diff,
        verdict=shown.proven,
        details=shown.details,
        notes=notes,
    )
    return html_page(page)
