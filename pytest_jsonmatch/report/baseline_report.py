"""Two runs of the same cases side by side: which is better, by which figures, and in which cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.gate.verdict import round_up
from pytest_jsonmatch.report.blocks import AnyCell, ReportBlock, Table, TableCell, Text
from pytest_jsonmatch.report.formatting import change_text, commit_text, dash, score_text
from pytest_jsonmatch.report.tables import spent_of
from pytest_jsonmatch.results.comparison import MOST_KEPT, comparisons_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_jsonmatch.gate.headlines import Contest, RunChange
    from pytest_jsonmatch.gate.verdict import Change
    from pytest_jsonmatch.results.comparison import Case, Difference
    from pytest_jsonmatch.results.run import RunResult

_MOST: Final = 10
_MAX_NAMED: Final = 5
_MAX_CASES: Final = 100
_MAX_ANSWERS: Final = 5
_MOST_ROWS: Final = 20
_LEAST_ROWS: Final = 6
"""Of several runs, fewer rows each are shown, but not fewer than this."""
THIS: Final = "this run"
"""The name of a run against its baseline."""
_INDEX: Final = re.compile(r"\[(\d+)\]")
_TONES: Final = {"worse": "bad", "better": "good", "no worse": "good"}


def contest_blocks(contests: Sequence[Contest], noun: str = "run") -> Iterator[ReportBlock]:
    """Yield what there is to say of runs against the first of them, all verdicts first.

    Args:
        contests: each of the other runs against the first.
        noun: what they are: runs, or values of a parametrized fixture.
    """
    yield from map(_verdict, contests)
    for contest in contests:
        yield from _tables(contest, max(_MOST_ROWS // len(contests), _LEAST_ROWS))
    runs = {contest.before: contest.diff.before for contest in contests[:1]}
    runs |= {contest.after: contest.diff.after for contest in contests}
    yield from spent_of({name: comparisons_of(results.cases) for name, results in runs.items()}, noun)


def _tables(contest: Contest, most: int) -> Iterator[ReportBlock]:
    diff = contest.diff
    rows: list[list[AnyCell]] = [[each.case, each.difference] for each in diff.mismatches]
    if rows:
        yield Table(("scored differently", "then, and now"), rows, "", "case", _MOST, text={"then, and now"})
        return
    yield replace(_figure_table(contest), most=most // 2)
    yield replace(_case_table(contest), most=most)
    lists = ("new", diff.new), ("not run" if _is_incomplete(diff.after) else "vanished", diff.vanished)
    for what, ids in lists:
        title = "new cases" if what == "new" else f"cases {what}"
        yield Table([""], [[each] for each in ids], title, "case", _MOST)


def _is_incomplete(results: RunResult) -> bool:
    return bool(results.narrowed) or len(results.cases) < (results.collected or 0)


def _change_cell(change: float) -> TableCell:
    return TableCell(change_text(change), "bad" if change < 0 else "good")


# -- the verdict -------------------------------------------------------------------------------------------


@final
class _Contested(NamedTuple):
    """A figure of two runs: its name, and how a sentence names it, with {} for data."""

    name: str
    where: str
    change: Change


def _figures_of(proven: RunChange) -> Iterator[_Contested]:
    """Yield the figures that both runs have; the pass rate only if a case did not pass."""
    yield _Contested("mean score", "in mean score", proven.scores)
    if {proven.outcomes.current, proven.outcomes.baseline} - {1.0, None}:
        yield _Contested("pass rate", "in pass rate", proven.outcomes)
    others = [_Contested(name, "for {}", change) for name, change in proven.tags.items()]
    others += [_Contested(name, "on {}", change) for name, change in proven.fields.items()]
    yield from sorted(others, key=lambda each: (not _is_proven(each.change), -abs(each.change.delta or 0.0)))


def _is_proven(change: Change) -> bool:
    return change.kind in {"better", "worse"}


def _verdict(contest: Contest) -> Text:
    """Return in which figures a run is significantly better or worse, and what could go undetected."""
    if not contest.diff.is_comparable:
        number = count(len(contest.diff.mismatches), "case")
        text = f"{number} scored differently in {{}}: no comparison is made"
        return Text(text, "bad", [contest.before])
    if contest.change is None:
        return Text("")
    scores, figures = contest.change.scores, [*_figures_of(contest.change)]
    who, names = (THIS, []) if contest.after == THIS else ("{}", [contest.after])
    told: list[str] = []
    if scores.kind == "no case":
        return Text(
            "no case is in both {} and {}: cases are paired by their ids",
            "bad",
            [contest.before, contest.after],
        )
    kinds = [kind for kind in ("better", "worse") if any(each.change.kind == kind for each in figures)]
    for kind in kinds:
        of_kind = [each for each in figures if each.change.kind == kind]
        shown = of_kind[:_MAX_NAMED]
        names += [each.name for each in shown if "{}" in each.where]
        places = [f"{each.where} ({change_text(each.change.delta or 0.0)})" for each in shown]
        places += [f"{count(len(of_kind) - _MAX_NAMED)} more"] if of_kind[_MAX_NAMED:] else []
        told.append(f"{kind} {_and(places)}")
    parts = [f"{who} is significantly {_and(told)}"] if told else []
    if scores.kind == "no worse":
        parts.append(f"{scores.verdict} in mean score")
    if not parts:
        parts, names = ["no significant change from {}"], [*names, contest.before]
    elif any(each.change.kind in {"not shown", "too few"} for each in figures):
        parts.append("no other significant change")
    text = ("" if told or who == THIS else "{}: ") + ", ".join(parts)
    number = count(scores.cases, "case")
    if scores.clusters < scores.cases:
        number += f" in {count(scores.clusters, 'cluster')}"
    if scores.kind == "too few":
        text += f"; {number} cannot be tested, it takes at least {scores.gate.least_to_test}"
    elif scores.kind == "not shown" and scores.interval is not None:
        undetected = round_up(max(-scores.interval.low, scores.interval.high))
        text += f"; with {number}, changes of the mean score up to {undetected} could go undetected"
    else:
        text += f"; {number}"
    tone = _TONES[kinds[0]] if len(kinds) == 1 else "open" if kinds else ""
    return Text(text, tone, names)


def _and(parts: Sequence[str]) -> str:
    last = ", and " if any(" and " in part for part in parts) else " and "
    return f"{', '.join(parts[:-1])}{last}{parts[-1]}" if len(parts) > 1 else parts[0]


def _figure_table(contest: Contest) -> Table:
    """Return the figures of both runs; of corpora with only some records, without intervals."""
    diff, proven = contest.diff, contest.change
    parts = diff.before.created[:10], commit_text(diff.before.commit)
    made = ", ".join(filter(None, parts)) if diff.before.created != diff.after.created else ""
    of = f"mean of {count(len(diff.cases), 'case')} in both"
    if diff.of_corpora:
        of = f"{count(diff.after.total_records, 'record')}, then {count(diff.before.total_records)}"
        of += ", over all fields"
    title, names = f"{{}} against {{}}{' ({})' if made else ''}, {of}", [contest.after, contest.before]
    names += [made] if made else []
    columns = ["statistic", contest.before, contest.after, "difference"]
    rows: list[list[AnyCell]] = []
    if proven is None:
        means = [] if diff.score is None else [diff.score._replace(name="mean score")]
        for each in (*means, *(each for each in diff.fields if each.change)):
            texts = score_text(each.before), score_text(each.after)
            rows.append([each.name, *texts, _change_cell(each.change)])
        return Table(columns, rows, title, "statistic", names=names, text={"verdict"})
    if proven.scores.interval is None:
        return Table(columns, rows)
    columns += [f"{proven.scores.interval.confidence * 100:.3g} % interval", "verdict"]
    figures = _figures_of(proven)
    for name, _, change in (next(figures), *(each for each in figures if each.change.delta)):
        tone = _TONES.get(change.kind, "")
        cells = (TableCell(text, tone) for text in (*change.signed, change.verdict))
        rows.append([name, score_text(change.baseline), score_text(change.current), *cells])
    return Table(columns, rows, title, "statistic", names=names, text={"verdict"})


# -- cases that changed ------------------------------------------------------------------------------------


def _case_table(contest: Contest) -> Table:
    """Return the cases whose score has changed, each with the answers that differ below it."""
    runs = contest.diff.before, contest.diff.after
    before, after = ({case.id: case for case in results.cases} for results in runs)
    changed = [each for each in contest.diff.cases if each.change]
    changed.sort(key=lambda each: (-abs(each.change), each.change, each.name))
    rows: list[list[AnyCell]] = []
    for each in changed[:_MAX_CASES]:
        rows.append(
            [each.name, _change_cell(each.change), "", score_text(each.before), score_text(each.after)]
        )
        answers = [*_answers(before[each.name], after[each.name])]
        rows += answers[:_MAX_ANSWERS]
        if more := answers[_MAX_ANSWERS:]:
            rows.append([f"  {count(len(more))} more", "", "", "", ""])
    which = f", the {_MAX_CASES} largest of {count(len(changed))}" if changed[_MAX_CASES:] else ""
    title = f"cases that changed from {{}} to {{}}{which}"
    columns = ["case", "change", "expected", contest.before, contest.after]
    names = [contest.before, contest.after]
    return Table(columns, rows, title, "row", text={"expected", *columns[3:]}, names=names)


def _answers(before: Case, after: Case) -> Iterator[list[AnyCell]]:
    """Yield a row for each value that is wrong in one of two answers, or wrong in other ways."""
    errors = [next((run.error for run in case.runs if run.error), "") for case in (before, after)]
    if any(errors):
        yield ["  no answer", "", "", *(TableCell(error, "bad") for error in errors)]
    sides = [_wrong(case) for case in (before, after)]
    unknown = [_not_kept(case) for case in (before, after)]
    yield from _row_lines(sides, [bool(error or fields) for error, fields in zip(errors, unknown)])
    missing = {row for side in sides for row in side.missing}
    keys = {key: None for side in sides for key in side.values if key.row not in missing}
    for key in sorted(keys, key=lambda key: _in_order(key.row)):
        found = [side.values.get(key, []) for side in sides]
        if [each.actual for each in found[0]] != [each.actual for each in found[1]]:
            expected = (found[0] or found[1])[0].expected
            right = TableCell(dash(True) if expected is None else expected, "good")
            texts = [", ".join(each.actual or "missing" for each in side) for side in found]
            cells = (
                TableCell(text, "bad") if text else TableCell("") if error or key.field in fields else right
                for text, error, fields in zip(texts, errors, unknown)
            )
            yield [f"  {key.row}{_below_row(key.path, key.row)}", "", right.text, *cells]


def _row_lines(sides: Sequence[_Wrong], incomplete: Sequence[bool]) -> Iterator[list[AnyCell]]:
    """Yield a line for each row that is missing from one of two answers, or extra in one of them.

    Args:
        sides: what is wrong in the two answers.
        incomplete: whether more than that may be wrong.
    """
    for row in sorted({row for side in sides for row in side.missing}, key=_in_order):
        lacking = [side.missing.get(row, []) for side in sides]
        if all(lacking):
            continue
        cells = []
        for side, is_missing, may_be_wrong in zip(sides, lacking, incomplete):
            wrong = (
                (key.path, each.actual)
                for key, found in side.values.items()
                if key.row == row
                for each in found
            )
            text = "missing" if is_missing else _row_text(wrong, row) or ("" if may_be_wrong else "found")
            cells.append(TableCell(text, "good" if text == "found" else "bad"))
        expected = _row_text(((path, each.expected) for path, each in lacking[0] or lacking[1]), row)
        yield [f"  {row}", "", expected, *cells]
    texts: list[dict[str, str]] = [{}, {}]
    for side, rows in zip(sides, texts):
        for row, found in side.extra.items():
            rows[_row_text(((path, each.actual) for path, each in found), row)] = row
    for number, (own, other) in enumerate((texts, texts[::-1])):
        for text, row in own.items():
            if text not in other:
                cells = [TableCell(dash(True), "good"), TableCell(dash(True), "good")]
                cells[number] = TableCell(text, "bad")
                yield [f"  extra {row}", "", dash(True), *cells]


def _row_text(values: Iterable[tuple[str, str | None]], row: str) -> str:
    """Return the members of a row with their values."""
    named = ((_below_row(path, row).removeprefix("."), value or "missing") for path, value in values)
    return ", ".join(f"{name} {value}" if name else value for name, value in named)


def _below_row(path: str, row: str) -> str:
    """Return the rest of a schema path below a row: `.n` for `lines[].n` and `lines[2]`."""
    return path.split("[]", len(_INDEX.findall(row)))[-1]


def _in_order(row: str) -> list[tuple[str, int]]:
    """Return the sort key of a row's path: `[10]` comes after `[9]`."""
    parts = _INDEX.split(row)
    return [(name, int(number)) for name, number in zip(parts[::2], [*parts[1::2], "0"])]


@final
class _Key(NamedTuple):
    """A value of a case: its row (none for extra elements), field, schema path and expected value."""

    row: str
    field: str
    path: str
    expected: str | None
    """Values that were cut are one."""


@final
class _Wrong(NamedTuple):
    """What is wrong in a case."""

    values: dict[_Key, list[Difference]]
    """The differences outside of missing and extra rows."""
    missing: dict[str, list[tuple[str, Difference]]]
    """The schema paths and values of missing rows, by the row's path in expected."""
    extra: dict[str, list[tuple[str, Difference]]]
    """Those of extra rows, by their path in actual."""


def _wrong(case: Case) -> _Wrong:
    """Return the differences in a case."""
    wrong = _Wrong({}, {}, {})
    for compared in comparisons_of([case]):
        for field in {**compared.fields, **compared.differences}:
            for each in compared.differences.get(field, ()):
                path = each.at or field
                short = "…" if each.expected is not None and "…" in each.expected else each.expected
                for row in each.rows or ("",):
                    is_element = not _below_row(path, row)
                    if is_element and each.expected is None:
                        wrong.values.setdefault(_Key("", field, path, short), []).append(each)
                    elif is_element or row not in each.unpaired:
                        wrong.values.setdefault(_Key(row, field, path, short), []).append(each)
                    else:
                        rows = wrong.missing if each.actual is None else wrong.extra
                        rows.setdefault(row, []).append((path, each))
    return wrong


def _not_kept(case: Case) -> set[str]:
    """Return the fields of which not all differences are kept: what is not there may be wrong, too."""
    return {
        path
        for compared in comparisons_of([case])
        for path, figures in compared.fields.items()
        if figures.matches < figures.total
        and len(compared.differences.get(path, ())) not in range(1, MOST_KEPT)
    }
