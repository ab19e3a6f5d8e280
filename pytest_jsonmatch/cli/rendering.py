"""Results as JSON, Markdown and HTML, for all commands that have results to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.gate.headlines import Headline
    from pytest_jsonmatch.report.view import RunView
    from pytest_jsonmatch.results.model import ResultSet

Form: TypeAlias = Literal["text", "json", "html", "markdown"]
FORMS: Final = ("text", "json", "html", "markdown")


def check_form(form: Form) -> None:
    """Check, before any work is done, that a form can be made.

    Raises:
        ConfigurationError: it can't; the message says what to install.

    >>> check_form("text")
    """
    if form == "html":
        from pytest_jsonmatch.report.pages import check_installed

        check_installed()


def in_form(form: Form, view: RunView) -> str:
    """Return what was found as JSON, Markdown or HTML.

    >>> from pytest_jsonmatch.report.view import RunView
    >>> from pytest_jsonmatch.results.model import ResultSet
    >>> in_form("markdown", RunView(ResultSet(), "none")).splitlines()[0]
    '## ➖ jsonmatch: nothing was compared'
    """
    if form == "json":
        from pytest_jsonmatch.results.file import to_text

        return to_text(view.results)
    if form == "html":
        from pytest_jsonmatch.report.html import html_page

        return html_page(completed(view))
    from pytest_jsonmatch.report.markdown import COMMENT_BYTES, markdown

    return markdown(completed(view), COMMENT_BYTES)


def completed(view: RunView) -> RunView:
    """Return a view with everything derived from its results: intervals, failures, what is left out."""
    from pytest_jsonmatch.gate.repeats import repeats
    from pytest_jsonmatch.gate.session import Checks
    from pytest_jsonmatch.report.figures import count
    from pytest_jsonmatch.report.view import faults_of, left_out_note

    results = view.results
    notes = [*filter(None, [left_out_note(results)]), *view.notes]
    if results.is_partial:
        kept, of = count(len(results.cases), "record"), count(results.number)
        notes.append(
            f"Figures and fields are those of all {of} records; {kept} of them are listed as cases. "
            "With `jsonmatch evaluate --keep all` all are, and figures have intervals."
        )
    return replace(
        view,
        unsettled=Checks(cases=repeats(results.cases).checks).unsettled_cases,
        headlines=_headlines(results),
        faults=faults_of(results),
        notes=notes,
    )


def _headlines(results: ResultSet) -> Sequence[Headline]:
    """Return the figures with their intervals; none for a single case or for part of the records."""
    if results.is_partial or len(results.cases) < 2:
        return ()
    from pytest_jsonmatch.gate.headlines import headlines

    return headlines(results)
