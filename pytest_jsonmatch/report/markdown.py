"""A run as Markdown, for pull requests and job summaries: readable both as text and rendered.

Everything that comes from data is in code spans or fences, escaped: it stays text, mentions no user, and
can't break a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.checks import check_figures
from pytest_jsonmatch.report.escape import clip_middle
from pytest_jsonmatch.report.fieldtable import (
    ALL_LEAVES,
    FieldRow,
    Section,
    absence_note,
    badness,
    cells_of,
    columns_of,
    is_perfect,
)
from pytest_jsonmatch.report.figures import change_text, score_text
from pytest_jsonmatch.report.sheets import AnySheetCell, Rows, Sentence, SheetBlock, SheetCell
from pytest_jsonmatch.report.view import TITLES_OF, Fault, RunView, extent, message_lines

if TYPE_CHECKING:
    from pytest_jsonmatch.gate.session import Check

T = TypeVar("T")

COMMENT_BYTES: Final = 65_000
"""The most bytes of a report for a comment: GitHub accepts 65,536 characters."""
_OPEN: Final = 15
"""How many rows of a list are always visible; the others are folded."""
_STEPS: Final = (10_000, 3_000, 1_000, 300, 100, 30, 10, 3, 1)
"""The most rows of a list: the first of these numbers with which the whole report is short enough."""
_MARKS: Final = {"failed": "❌ ", "passed": "✅ ", "undecided": "⚠️ "}
_MESSAGES: Final = 50
_MESSAGE_LINES: Final = 40
_WIDTH: Final = 120
_FIELDS_OF_CASE: Final = 3
_PLAIN: Final = re.compile(r"(?:[A-Za-z0-9 ,;()%+–-]|\.(?=\d|$)|:(?= |$))+")


def markdown(view: RunView, limit: int) -> str:
    """Return a run as Markdown.

    Args:
        view: the run.
        limit: the most bytes of UTF-8; lists are cut to their worst entries, and a line says so.
    """
    text = ""
    sections = view.sections
    for most in _STEPS:
        text = "\n".join(_lines(view, sections, most)) + "\n"
        if len(text.encode()) <= limit:
            break
    return text


def code(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span for use outside of tables, whatever characters it contains.

    >>> print(code("a|b"), code("one `two`"), code("line\nbreak"))
    `a|b` `` one `two` `` `line\nbreak`
    """
    return _span(clip_middle(text, width))


def cell(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span for a table, where pipes need a backslash.

    A pipe after a backslash, on which renderers do not agree, is written as an escape.

    >>> print(cell("a|b"), cell("a\\|b"))
    `a\|b` `a\\x7cb`
    """
    shown = re.sub(r"(?<=\\)\|", r"\\x7c", clip_middle(text, width))
    return _span(shown.replace("|", "\\|"))


def _span(shown: str) -> str:
    if not shown.strip():
        shown = f'"{shown}"'
    ticks = "`" * (_longest_ticks(shown) + 1)
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _prose(text: str, quote: Callable[[str, int], str] = cell) -> str:
    """Return a note as it is, or as code if it may contain data."""
    return text if not text or _PLAIN.fullmatch(text) else quote(text, 200)


def _lines(view: RunView, sections: Sequence[Section], most: int) -> Iterator[str]:
    yield from _verdict(view, most)
    for title, blocks in (("Which is better", view.sides), ("Against the baseline", view.against)):
        yield from (
            _headed(title, (line for block in blocks for line in _block(block, most))) if blocks else ()
        )
    if view.results.total_records:
        yield from _headed("Figures", _figures(view))
    if sections:
        lines = (line for section in sections for line in _section(section, most))
        yield from _headed("Fields over all leaves, the worst first", lines)
    for block in view.tables:
        yield from _block(block, most)
    if view.faults:
        title = "The worst records" if view.results.is_partial else "Records below 1"
        if not view.results.is_of_records:
            what = "did not pass" if view.results.has_only_gates else "failed"
            title = f"Cases that {what}: {count(len(view.faults))}"
        yield from _headed(title, _cases(view, most))


# -- lists -------------------------------------------------------------------------------------------------


def _headed(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield from lines


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; columns whose titles end in a colon hold figures."""
    yield f"| {' | '.join(title.removesuffix(':') for title in header)} |"
    yield f"| {' | '.join('---:' if title.endswith(':') else '---' for title in header)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _listed(
    header: Sequence[str],
    items: Sequence[T],
    row: Callable[[T], Sequence[str]],
    most: int,
    noun: str,
    *,
    of: str = "",
    total: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield a table of the first items, a folded one of the others, and a line that says what was cut."""
    shown = items[: min(_OPEN, most)]
    yield from _table(header, [*map(row, shown), *([] if total is None else [total])])
    if more := items[len(shown) : most]:
        yield from _folded(f"{count(len(more))} more", _table(header, map(row, more)))
    if len(items) > most:
        yield from _cut(f"{count(len(items) - most)} of {count(len(items), noun)}{of}")


def _block(block: SheetBlock, most: int) -> Iterator[str]:
    """Yield a sentence or a table; other blocks are not part of reports."""
    if isinstance(block, Sentence):
        yield from [block.quoting(code) if block.names else _prose(block.text, code), ""]
    elif isinstance(block, Rows) and block.rows and not any(block.columns):
        yield from [_prose(f"{block.title[:1].upper()}{block.title[1:]}", code), ""]
        yield from (f"- {' '.join(code(str(each)) for each in row)}" for row in block.rows[:most])
        yield ""
        if len(block.rows) > most:
            yield from _cut(count(len(block.rows) - most))
    elif isinstance(block, Rows) and block.rows:
        if block.title:
            yield from _headed(_prose(f"{block.title[:1].upper()}{block.title[1:]}", code), ())
        is_text = [not at or title in block.text for at, title in enumerate(block.columns)]

        def cells(row: Sequence[AnySheetCell]) -> list[str]:
            texts = [each.text if isinstance(each, SheetCell) else str(each) for each in row]
            return [
                cell(each.lstrip()) if data and each else _prose(each)
                for each, data in zip(texts, is_text, strict=True)
            ]

        header = [
            _prose(each) + (":" * (not data)) for each, data in zip(block.columns, is_text, strict=True)
        ]
        total = cells(block.total) if block.total else None
        yield from _listed(header, block.rows, cells, most, block.noun, total=total)


def _cut(what: str) -> Iterator[str]:
    yield f"*Cut to keep this short: {what} not shown.*"
    yield ""


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _fenced(lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    fence = "`" * max(3, _longest_ticks("\n".join(shown)) + 1)
    return [f"{fence}text", *shown, fence, ""]


# -- the verdict -------------------------------------------------------------------------------------------


def _verdict(view: RunView, most: int) -> Iterator[str]:
    kind, words = view.verdict
    mark = _MARKS.get(kind, "" if view.results.total_records else "➖ ")
    yield f"## {mark}jsonmatch: {words}"
    yield ""
    yield "; ".join(_sums(view)) + "."
    yield ""
    if view.gates:
        gates = sorted(view.gates, key=lambda check: check.passed is not False)
        header = ["", "gate", "value:", "limit:", "slack:", ""]
        lines = _listed(header, gates, _gate, max(most, _OPEN), "gate")
        yield from _headed(f"Gates, on {_prose(extent(view.results), code)}", lines)
    if view.unsettled:
        header = ["", "case", "pass rate:", "wanted:", "slack:", ""]
        lines = _listed(header, view.unsettled, _gate, most, "case")
        yield from _headed("Repeated cases that did not pass", lines)


def _sums(view: RunView) -> Iterator[str]:
    for reason, is_bad in view.reasons:
        is_ours = is_bad or _PLAIN.fullmatch(reason.replace(": ", " "))
        yield f"**{reason}**" if is_bad else reason if is_ours else code(reason, 200)
    if view.contest is None:
        if view.baseline:
            yield f"there is no baseline {code(view.baseline)} yet"
    elif not view.contest.diff.is_comparable:
        yield f"**not comparable with {code(view.baseline)}**: cases were scored differently"
    elif view.contest.diff.score is not None:
        change = change_text(view.contest.diff.score.change)
        yield f"mean score of the same cases against {code(view.baseline)}: {change}"


_SIGNS: Final = {True: "✅ passed", False: "❌ **failed**", None: "➖ not decided"}


def _gate(check: Check) -> list[str]:
    value, limit, slack = check_figures(check)
    return [_SIGNS[check.passed], cell(check.subject), value or "–", limit, slack or "–", _prose(check.note)]


# -- figures -----------------------------------------------------------------------------------------------


def _figures(view: RunView) -> Iterator[str]:
    found = {each.name for scope in view.scopes for each in scope.figures}
    names = [name for name in (*TITLES_OF.values(), "pass rate") if name in found]
    rows = []
    for scope in view.scopes:
        known = {each.name: each for each in scope.figures}
        # Precision, recall and F1 are left out of a scope where they equal the score.
        shown = [known.get(name, None if name == "pass rate" else scope.figures[0]) for name in names]
        texts = [("", "") if each is None else each.texts for each in shown]
        rows.append([scope.title, *(value for value, _ in texts)])
        if view.headlines:
            rows.append(["".join(view.confidence), *(ends for _, ends in texts)])
    yield from _table(
        [count(view.results.total_records, view.results.noun), *(f"{name}:" for name in names)], rows
    )


def _section(section: Section, most: int) -> Iterator[str]:
    yield f"{section.title(code)}:"
    yield ""
    rows = [row for row in section.rows if not row.is_group]
    rows.sort(key=lambda row: (badness(row.figures), row.path))
    imperfect = [row for row in rows if not is_perfect(row.figures)]
    perfect = rows[len(imperfect) :]
    columns = columns_of(section)
    header = ["field", *(f"{title}:" for title in columns)]

    def field(row: FieldRow) -> list[str]:
        return [cell(row.path, 80), *(each.text for each in cells_of(row.figures, columns))]

    total = [f"**{ALL_LEAVES}**", *(each.text for each in cells_of(section.total, columns))]
    yield from _listed(header, imperfect, field, most, "field", of=" below 1", total=total)
    if note := absence_note(section.total):
        yield f"{note}."
        yield ""
    if perfect:
        title = count(len(perfect), "perfect field")
        if len(perfect) > most:
            title += f", {count(len(perfect) - most)} of them not shown"
        yield from _folded(title, _table(header, map(field, perfect[:most])))


# -- cases -------------------------------------------------------------------------------------------------


def _cases(view: RunView, most: int) -> Iterator[str]:
    have_places = any(fault.path for fault in view.faults)
    header = ["score:", view.results.noun, "worst fields", *(["at"] if have_places else [])]

    def row(fault: Fault) -> list[str]:
        return [*_case(fault), *([_place(fault, view.link)] if have_places else [])]

    yield from _listed(header, view.faults, row, most, view.results.noun)
    for fault in view.faults[: min(most, _MESSAGES)]:
        if fault.message:
            # A summary is HTML, in which Markdown means nothing.
            name = f"<code>{escape(clip_middle(fault.case, _WIDTH))}</code>"
            lines = _fenced(message_lines(fault.message, _MESSAGE_LINES))
            yield from _folded(name + _note(fault), lines)


def _note(fault: Fault) -> str:
    return f" ({fault.note})" if fault.note else ""


def _case(fault: Fault) -> list[str]:
    fields = [f"{cell(path, 60)} {score_text(score)}" for path, score in fault.fields[:_FIELDS_OF_CASE]]
    if len(fault.fields) > _FIELDS_OF_CASE:
        fields.append(f"{count(len(fault.fields) - _FIELDS_OF_CASE)} more")
    worst = ", ".join(fields) or _prose(fault.headline) or "–"
    return [fault.score_text, cell(fault.case) + _note(fault), worst]


def _place(fault: Fault, link: str) -> str:
    if not fault.path:
        return "–"
    place = cell(f"{fault.path}:{fault.line}")
    if not link or fault.path.startswith("/"):
        return place
    return f"[{place}]({link}{quote(fault.path, errors='backslashreplace')}#L{fault.line})"
