"""A run as Markdown, for pull requests and job summaries: readable as it stands, and rendered.

Everything that comes from data stands in code spans or fences, escaped: it stays text, mentions nobody, and
can't break a table.
"""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from pytest_jsonmatch.report.baseline import change_text
from pytest_jsonmatch.report.checks import check_figures
from pytest_jsonmatch.report.escape import clip_middle
from pytest_jsonmatch.report.fieldtable import COLUMNS, summarize
from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.runreport import field_comparisons, left_out_note, message_lines
from pytest_jsonmatch.results.model import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.gate.baseline import BaselineDiff, Delta, Mismatch
    from pytest_jsonmatch.gate.headlines import RunChange
    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.report.fieldtable import Row, Section
    from pytest_jsonmatch.report.runreport import Fault, RunReport
    from pytest_jsonmatch.results.model import Corpus

__all__ = ["COMMENT_BYTES", "cell", "code", "markdown"]

T = TypeVar("T")

COMMENT_BYTES: Final = 65_000
"""How long a report for a comment is at most: GitHub takes 65,536 characters."""
_OPEN: Final = 15
"""How many rows of a list are seen at once; the others are in a part that opens."""
_STEPS: Final = (10_000, 3_000, 1_000, 300, 100, 30, 10, 3, 1)
"""How many rows of a list there are at most; the first number with which the whole is short enough."""
_MESSAGES: Final = 50
_MESSAGE_LINES: Final = 40
_WIDTH: Final = 120
_FIELDS_OF_CASE: Final = 3
_TITLES: Final = {"score": "score", "precision": "precision", "recall": "recall", "f1": "F1"}
_PLAIN: Final = re.compile(r"[A-Za-z0-9 ,;()%-]+(?:\.\d+)?")
_FIGURE: Final = "---:"
_TEXT: Final = "---"


def markdown(report: RunReport, limit: int) -> str:
    """Return a run as Markdown.

    Args:
        report: the run.
        limit: how long it may be, in bytes of UTF-8; lists are cut, the worst stays, and a line says so.
    """
    text = ""
    figures = list(_headline(report))
    sections = summarize(field_comparisons(report.results)).sections
    for most in _STEPS:
        text = "\n".join(_lines(report, figures, sections, most)) + "\n"
        if len(text.encode()) <= limit:
            break
    return text


def code(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span that is the same text whatever is in it, outside of tables.

    >>> print(code("a|b"), code("one `two`"), code("line\nbreak"))
    `a|b` `` one `two` `` `line\nbreak`
    """
    return _span(clip_middle(text, width))


def cell(text: str, width: int = _WIDTH) -> str:
    r"""Return text as a code span for a table: there pipes need a backslash.

    A pipe that has one before it, on which renderers do not agree, is written as an escape.

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


def _prose(text: str) -> str:
    """Return a note of ours as it is, or as code if anything may come from data."""
    return text if not text or _PLAIN.fullmatch(text) else cell(text, 200)


def _said_of(text: str) -> str:
    """Return a note as `_prose` does, outside of tables."""
    return text if _PLAIN.fullmatch(text) else code(text, 200)


def _lines(
    report: RunReport, figures: Sequence[str], sections: Sequence[Section], most: int
) -> Iterator[str]:
    yield from _verdict(report, most)
    yield from figures
    yield from _differences(report)
    yield from _fields(sections, most)
    yield from _cases(report, most)
    if report.diff is not None:
        yield from _baseline(report.diff, report.proven, report.baseline, most)


# -- lists -------------------------------------------------------------------------------------------------


def _table(header: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(title for title, _ in header)} |"
    yield f"| {' | '.join(kind for _, kind in header)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _listed(
    header: Sequence[tuple[str, str]],
    items: Sequence[T],
    row: Callable[[T], Sequence[str]],
    most: int,
    noun: str,
    *,
    of: str = "",
    total: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield a table of the first items, one to open with the others, and a line that says what was cut."""
    shown = items[: min(_OPEN, most)]
    yield from _table(header, [*map(row, shown), *([] if total is None else [total])])
    if more := items[len(shown) : most]:
        yield from _folded(f"{count(len(more))} more", _table(header, map(row, more)))
    if len(items) > most:
        hidden, every = count(len(items) - most), count(len(items), noun)
        yield f"*Cut to keep this short: {hidden} of {every}{of} not shown.*"
        yield ""


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


# -- the verdict -------------------------------------------------------------------------------------------


def _verdict(report: RunReport, most: int) -> Iterator[str]:
    if report.failed:
        yield "## ❌ jsonmatch: failed"
    elif not report.results.number:
        yield "## ➖ jsonmatch: nothing was compared"
    elif not report.is_judged:
        yield f"## jsonmatch: score {score_text(report.results.mean('score'))}"
    elif report.is_cut_short:
        yield "## ⚠️ jsonmatch: passed so far"
    else:
        yield "## ✅ jsonmatch: passed"
    yield ""
    yield "; ".join(_sums(report)) + "."
    yield ""
    if report.verdict.gates:
        yield f"### Gates, on {_said_of(report.on)}"
        yield ""
        gates = sorted(report.verdict.gates, key=lambda check: check.passed is not False)
        header = [("", _TEXT), ("gate", _TEXT), ("value", _FIGURE), ("limit", _FIGURE), ("slack", _FIGURE)]
        yield from _listed([*header, ("", _TEXT)], gates, _gate, max(most, _OPEN), "gate")
    if report.verdict.unsettled_cases:
        yield "### Repeated cases that did not pass"
        yield ""
        header = [("", _TEXT), ("case", _TEXT), ("pass rate", _FIGURE), ("wanted", _FIGURE), ("", _TEXT)]
        yield from _listed(header, report.verdict.unsettled_cases, _repeated, most, "case")


def _sums(report: RunReport) -> Iterator[str]:
    gates = [check for check in report.verdict.gates if check.passed is not None]
    if gates:
        failed = sum(not check.passed for check in gates)
        yield (
            f"**{failed} of {count(len(gates), 'gate')} failed**"
            if failed
            else (f"{count(len(gates), 'gate')} passed")
        )
    if report.results.corpus is not None:
        yield from _of_corpus(report.results.corpus)
    else:
        yield from _of_cases(report)
    if note := left_out_note(report.results):
        yield note
    if report.others_failed:
        yield f"{count(report.others_failed, 'test')} that compared nothing failed too"
    for reason, number in report.left_out:
        yield f"not counted: {count(number)} {reason}"
    if report.diff is not None and report.diff.score is not None and report.diff.is_comparable:
        yield f"score against {code(report.baseline)}: {change_text(report.diff.score.change)}"
    elif report.diff is not None and not report.diff.is_comparable:
        yield f"**{code(report.baseline)} can't be compared with**: cases were scored in another way"
    elif report.baseline:
        yield f"there is no baseline {code(report.baseline)} yet"


def _of_cases(report: RunReport) -> Iterator[str]:
    cases = count(len(report.results.cases), "case")
    if report.faults:
        yield f"**{count(len(report.faults))} of {cases} failed**"
    else:
        yield "no case failed" if report.is_judged else f"{cases}, without a threshold"
    if unscored := sum(not fault.metric for fault in report.faults):
        yield f"{count(unscored)} before comparing, which counts as 0"
    if report.on != cases:
        yield f"evaluated on {_said_of(report.on)}"


def _of_corpus(corpus: Corpus) -> Iterator[str]:
    yield f"{count(corpus.perfect)} of {count(corpus.records, 'record')} with score 1"
    if missing := corpus.records - corpus.answered:
        yield f"{count(missing)} without an answer"
    if corpus.errors:
        yield count(corpus.errors, "error")


_SIGNS: Final = {True: "✅ passed", False: "❌ **failed**", None: "➖ skipped"}


def _gate(check: Check) -> list[str]:
    value, limit, slack = check_figures(check)
    return [_SIGNS[check.passed], cell(check.subject), value or "–", limit, slack or "–", _prose(check.note)]


def _repeated(check: Check) -> list[str]:
    value, limit, _ = check_figures(check)
    sign = "➖ undecided" if check.passed is None else _SIGNS[check.passed]
    return [sign, cell(check.subject), value, limit, _prose(check.note)]


# -- figures -----------------------------------------------------------------------------------------------


def _headline(report: RunReport) -> Iterator[str]:
    results = report.results
    if not results.number:
        return
    yield "### Figures"
    yield ""
    names = ["cases", "pass rate"] if results.corpus is None else ["records", "with score 1"]
    titles = [*names, *(_TITLES[name] for name in FIGURES)]
    figures = [score_text(results.pass_rate), *(score_text(results.mean(name)) for name in FIGURES)]
    rows = [[count(results.number), *figures]]
    by_name = {each.name: each.interval for each in report.headlines}
    if by_name:
        intervals = [by_name["pass_rate"], *(by_name[name] for name in FIGURES)]
        confidence = f"{intervals[0].confidence * 100:g} % confidence"
        rows.append([confidence, *(f"{score_text(each.low)}–{score_text(each.high)}" for each in intervals)])
    yield from _table([(title, _FIGURE) for title in titles], rows)


def _differences(report: RunReport) -> Iterator[str]:
    if report.differences:
        yield "### What differs"
        yield ""
        yield from _fenced(message_lines(report.differences, _MESSAGE_LINES))


def _fenced(lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    fence = "`" * max(3, _longest_ticks("\n".join(shown)) + 1)
    return [f"{fence}text", *shown, fence, ""]


def _fields(sections: Sequence[Section], most: int) -> Iterator[str]:
    if not sections:
        return
    yield "### Fields, the worst first"
    yield ""
    for section in sections:
        if len(sections) > 1 or section.variants > 1:
            yield f"{code(section.metric)}, {count(section.cases, 'case')}:"
            yield ""
        yield from _section(section, most)


def _section(section: Section, most: int) -> Iterator[str]:
    rows = sorted((row for row in section.rows if not row.is_group), key=_order)
    imperfect = [row for row in rows if not _is_perfect(row.figures)]
    perfect = rows[len(imperfect) :]
    header = [("field", _TEXT), *((column.title, _FIGURE) for column in COLUMNS)]
    total = ["**all**", *_cells(section.total)]
    yield from _listed(header, imperfect, _field, most, "field", of=" below 1", total=total)
    if perfect:
        title = f"{count(len(perfect), 'field')} without a fault"
        if len(perfect) > most:
            title += f", {count(len(perfect) - most)} of them not shown"
        yield from _folded(title, _table(header, [_field(row) for row in perfect[:most]]))


def _order(row: Row) -> tuple[bool, float, int, str]:
    mean = row.figures.mean_score
    lost = row.figures.matches - row.figures.total
    return _is_perfect(row.figures), 0.0 if mean is None else mean, lost, row.path


def _is_perfect(figures: FieldAggregation) -> bool:
    return (figures.mean_score is None or figures.mean_score >= 1) and not figures.batch_errors


def _field(row: Row) -> list[str]:
    return [cell(row.path, 80), *_cells(row.figures)]


def _cells(figures: FieldAggregation) -> Iterator[str]:
    for column in COLUMNS:
        value = column.value(figures)
        is_count = column.kind == "count" and value is not None
        yield count(int(value or 0)) if is_count else score_text(value)


# -- cases -------------------------------------------------------------------------------------------------


def _cases(report: RunReport, most: int) -> Iterator[str]:
    faults = report.faults
    if not faults or report.differences:  # of the one case that there is all has been said
        return
    corpus = report.results.corpus
    noun = "case" if corpus is None else "record"
    if corpus is None:
        yield f"### Cases that failed: {count(len(faults))}"
    else:
        yield "### The worst records" if report.results.is_partial else "### Records below 1"
    yield ""
    header = [("score", _FIGURE), (noun, _TEXT), ("worst fields", _TEXT)]
    row = _case
    if any(fault.path for fault in faults):
        header.append(("at", _TEXT))
        row = partial(_placed, link=report.link)
    yield from _listed(header, faults, row, most, noun)
    said = [fault for fault in faults[: min(most, _MESSAGES)] if fault.message]
    for fault in said:
        yield from _said(fault)


def _placed(fault: Fault, link: str) -> list[str]:
    return [*_case(fault), _place(fault, link)]


def _case(fault: Fault) -> list[str]:
    fields = [f"{cell(path, 60)} {score_text(score)}" for path, score in fault.fields[:_FIELDS_OF_CASE]]
    if len(fault.fields) > _FIELDS_OF_CASE:
        fields.append(f"{count(len(fault.fields) - _FIELDS_OF_CASE)} more")
    return [
        score_text(fault.score),
        cell(fault.case) + (f" ({fault.note})" if fault.note else ""),
        ", ".join(fields) or _prose(fault.headline) or "–",
    ]


def _place(fault: Fault, link: str) -> str:
    if not fault.path:
        return "–"
    place = cell(f"{fault.path}:{fault.line}")
    if not link or fault.path.startswith("/"):
        return place
    return f"[{place}]({link}{quote(fault.path, errors='backslashreplace')}#L{fault.line})"


def _said(fault: Fault) -> Iterator[str]:
    # A summary is HTML, in which Markdown means nothing.
    name = escape(clip_middle(fault.case, _WIDTH))
    note = f" ({fault.note})" if fault.note else ""
    lines = _fenced(message_lines(fault.message, _MESSAGE_LINES))
    yield from _folded(f"<code>{name}</code>{note}", lines)


# -- the baseline ------------------------------------------------------------------------------------------


def _baseline(diff: BaselineDiff, proven: RunChange | None, name: str, most: int) -> Iterator[str]:
    made = ", ".join(filter(None, [diff.before.created[:10], diff.before.commit[:10]]))
    yield f"### Against the baseline {code(name)}"
    yield ""
    parts = [f"{count(len(diff.cases), 'case')} in both"]
    if diff.of_corpora:
        parts = [f"{count(diff.after.number, 'record')}, then {count(diff.before.number)}"]
    for what, names in (("new", diff.new), ("vanished", diff.vanished)):
        parts += [f"{count(len(names))} {what}"] if names else []
    yield ", ".join(parts) + (f"; made {code(made, 40)}" if made else "") + "."
    yield ""
    if not diff.is_comparable:
        header = [("not scored as it was then", _TEXT), ("then, and now", _TEXT)]
        yield from _listed(header, diff.mismatches, _mismatch, most, "case")
        return
    if proven is not None:
        yield from (f"- {_prose(words)}" for _, words in proven.sentences())
        yield ""
    for what, deltas in (
        ("field", [each for each in diff.fields if each.change]),
        ("case", list(diff.changed())),
    ):
        header = [("change", _FIGURE), ("then", _FIGURE), ("now", _FIGURE), (what, _TEXT)]
        if deltas:
            yield from _listed(header, deltas, _delta, most, what)
    for title, names in (("new cases", diff.new), ("vanished cases", diff.vanished)):
        if names:
            lines = [*(f"- {code(each)}" for each in names[:most]), ""]
            if len(names) > most:
                lines += [f"*Cut to keep this short: {count(len(names) - most)} not shown.*", ""]
            if len(names) <= _OPEN:
                yield from [f"{title.capitalize()}:", "", *lines]
            else:
                yield from _folded(f"{count(len(names))} {title}", lines)


def _mismatch(mismatch: Mismatch) -> list[str]:
    return [cell(mismatch.case), cell(mismatch.difference, 200)]


def _delta(delta: Delta) -> list[str]:
    change = change_text(delta.change)
    return [
        f"**{change}**" if delta.change < 0 else change,
        score_text(delta.before),
        score_text(delta.after),
        cell(delta.name),
    ]
