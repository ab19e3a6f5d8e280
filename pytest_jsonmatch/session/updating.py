"""Rewrite golden files: what `--jsonmatch-update` and `--jsonmatch-review` do around a run of pytest."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from pytest_jsonmatch.golden import update
from pytest_jsonmatch.golden.edit import trail_text
from pytest_jsonmatch.golden.review import review
from pytest_jsonmatch.report.escape import display_width, pad, printable
from pytest_jsonmatch.report.figures import count
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import BOLD, GREEN, PLAIN, RED, line_width
from pytest_jsonmatch.report.valuetext import Space, value_lines
from pytest_jsonmatch.session.summary import write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.report.styled import StyledLine
    from pytest_jsonmatch.session.session import Session

_MOST_CHANGES: Final = 20


def write(session: Session) -> list[update.FileUpdate]:
    """Write the golden files of a run that has ended; return what happened to each."""
    requests = [update.Request.from_text(text) for text in session.outcomes.updates]
    if session.settings.review:
        requests = _review(session.config, requests)
    updates = update.plan_updates(requests)
    if not session.settings.dry_run:
        for each in updates:
            update.write(each)
    return updates


def show(terminalreporter: pytest.TerminalReporter, session: Session) -> None:
    """Say what was written."""
    settings = session.settings
    terminalreporter.section("jsonmatch review" if settings.review else "jsonmatch update")
    if session.updates is None:
        terminalreporter.write("the run did not come to its end: nothing was written\n")
        return
    look = Look(*session.look, "all" if session.config.get_verbosity() > 0 else "auto", "-v: all")
    write_lines(terminalreporter, update_lines(session.updates, look, dry_run=settings.dry_run))


def check_terminal(config: pytest.Config) -> None:
    """Refuse a review without a terminal."""
    option = config.option
    if hasattr(config, "workerinput") or getattr(option, "dist", "no") != "no" or getattr(option, "tx", None):
        raise pytest.UsageError("--jsonmatch-review asks on the terminal, one test at a time; leave out -n")
    with _terminal(config):
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise pytest.UsageError(
                "--jsonmatch-review asks on the terminal, and there is none; use --jsonmatch-update"
            )


@contextmanager
def _terminal(config: pytest.Config) -> Iterator[None]:
    """Suspend pytest's capture while questions are asked on the terminal."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend(in_=True)
    try:
        yield
    finally:
        if capture is not None:
            capture.resume()


def _review(config: pytest.Config, requests: list[update.Request]) -> list[update.Request]:
    with _terminal(config):

        def show(text: str) -> None:
            sys.stdout.write("".join(f"{printable(line)}\n" for line in text.splitlines()))

        def ask(question: str) -> str:
            sys.stdout.write(question)
            sys.stdout.flush()
            return sys.stdin.readline()

        return review(requests, show=show, ask=ask)


def update_lines(updates: Sequence[update.FileUpdate], look: Look, *, dry_run: bool) -> list[StyledLine]:
    """Return what the terminal says about updates: how many cases of each file, and what changes in each.

    >>> from pathlib import Path
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> changed = update.FileUpdate(Path("a"), "a.yaml", "", b"1", b"2", ["x"], {"x": [(("n", 0), 1, 2)]})
    >>> for line in update_lines([changed], Look(), dry_run=False):
    ...     print(line_text(line))
    updated 1 case in a.yaml
      x
        n[0]  1 → 2
    """
    lines: list[StyledLine] = []
    for each in updates:
        cases = count(len(each.updated), "case")
        if each.updated and dry_run:
            lines.append([(f"would update {cases} in {each.name} (dry run: nothing was written)", PLAIN)])
        elif each.updated:
            lines.append([(f"updated {cases} in {look.printable(each.name)}", GREEN)])
        for case in each.updated:
            lines += _case_lines(case, each.changes.get(case, ()), look)
    for each in updates:
        for case, reason in each.refused.items():
            lines.append([(look.printable(f"not updated: {case}: {reason}"), RED)])
    return lines or [[("no case to update", PLAIN)]]


def _case_lines(case: str, changes: Sequence[update.Change], look: Look) -> list[StyledLine]:
    """Return a line or two for each place of a case that changes."""
    if not changes:
        return []
    shown, more = look.cut(changes, _MOST_CHANGES, "change", indent="    ")
    paths = [look.middle(trail_text(trail) or "the whole value", look.width // 2) for trail, _, _ in shown]
    widest = max(map(display_width, paths))
    lines: list[StyledLine] = [[(f"  {look.printable(case)}", PLAIN)]]
    for path, (_, old, new) in zip(paths, shown, strict=True):
        values = value_lines(old, new, Space(look.less(8), 0))
        lead: StyledLine = [(f"    {pad(path, widest)}  ", BOLD)]
        if len(values) == 1 and line_width(lead) + line_width(values[0]) <= look.width:
            lines.append([*lead, *values[0]])
        else:
            lines += [lead, *([("        ", PLAIN), *line] for line in values)]
    return lines + more
