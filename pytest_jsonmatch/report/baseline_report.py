"""Compare runs of the same cases: which one is better, by which statistics, and in which cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

from pytest_jsonmatch.engine.result.collapse import REORDERED
from pytest_jsonmatch.engine.value.errors import write_argument
from pytest_jsonmatch.engine.value.text import count, natural_key
from pytest_jsonmatch.report.blocks import (
    AnyCell,
    Column,
    ReportBlock,
    Row,
    Table,
    TableCell,
    Text,
    score_cell,
)
from pytest_jsonmatch.report.formatting import amount_text, change_text, commit_text, dash, score_text
from pytest_jsonmatch.report.kind_tables import kind_changes
from pytest_jsonmatch.report.tables import grouped_cost_blocks
from pytest_jsonmatch.results.comparison import MAX_KEPT, iter_comparisons, mean_of
from pytest_jsonmatch.support.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Contest, RunChange
    from pytest_jsonmatch.gate.verdict import Change
    from pytest_jsonmatch.results.comparison import Case, Difference
    from pytest_jsonmatch.results.run import RunResult

_MAX_LISTED: Final = 10
_MAX_NAMED: Final = 5
_MAX_CASES: Final = 100
_MAX_ANSWERS: Final = 5
_MAX_ROWS: Final = 20
_MIN_ROWS: Final = 6
"""The least number of rows of each run if several runs are compared."""
THIS: Final = "this run"
"""The name of the current run in a comparison with its baseline."""
_CORRECTED: Final = "intervals below the mean score are corrected for their number: they are wider"
_LEVELS: Final = (
    "in brackets, how many cases have the field: its level is their mean; in the difference, a run that "
    "lacks it counts as 1"
)
_INDEX: Final = re.compile(r"\[(\d+)\]")
_TONES: Final = {"worse": "bad", "better": "good", "ruled out": "good"}


def contest_blocks(contests: Sequence[Contest], noun: str = "run") -> Iterator[ReportBlock]:
    """Yield blocks that compare pairs of runs: verdicts, statistics, changed cases, cost.

    Args:
        contests: the comparisons, which have one run in common.
        noun: the noun for what is compared: "run", or the name of a parametrized fixture.
    """
    has_several = len({contest.before for contest in contests}) > 1
    if len(contests) > 1 and not has_several:
        yield systems_table(contests, noun)
    for contest in contests:
        sentence = verdict(contest)
        if has_several and contest.before not in sentence.names:
            names = [contest.before, *sentence.names]
            sentence = sentence._replace(text=f"against {{}}, {sentence.text}", names=names)
        yield sentence
    yield from contest_tables(contests, noun)


def systems_table(contests: Sequence[Contest], noun: str = "run") -> Table:
    """Return a table of runs that are compared with the same run: a row of statistics for each."""
    first = contests[0]
    rows: list[list[AnyCell]] = [_system_row(first.before, first.diff.before, "")]
    for contest in contests:
        change = contest.change
        text = "" if change is None else change.scores.verdict
        rows.append(_system_row(contest.after, contest.diff.after, text))
    titles = ["mean score", "F1", "pass rate", "answered", "cost", "p95 seconds"]
    kept = [at for at in range(len(titles)) if any(row[at + 1] != dash(True) for row in rows)]
    of_verdict = Column(f"mean score against {first.before}", "text")
    columns = [Column(noun, "name"), *(Column(titles[at]) for at in kept), of_verdict]
    shown = [Row([row[0], *(row[at + 1] for at in kept), row[-1]]) for row in rows]
    return Table(columns, shown, f"{noun}s", noun)


def _system_row(name: str, results: RunResult, text: str) -> list[AnyCell]:
    """Return the cells of a run: its name, statistics, and the verdict on its change."""
    costs = results.totals.costs
    amounts = [costs.compute(statistic)[0] for statistic in ("cost.total", "latency.p95")]
    scores = results.mean_score, results.mean_f1, results.pass_rate
    answered = results.totals.counts["records"] - results.total_unanswered
    return [
        TableCell(name, "strong"),
        *(dash(True) if score is None else score_cell(score) for score in scores),
        count(answered) if results.total_unanswered else "all",
        *(dash(True) if amount is None else amount_text(amount) for amount in amounts),
        TableCell(text, _TONES.get(text, "")),
    ]


def contest_tables(contests: Sequence[Contest], noun: str = "run") -> Iterator[ReportBlock]:
    """Yield the blocks of `contest_blocks` below the verdicts."""
    for contest in contests:
        yield from _contest_tables(contest, max(_MAX_ROWS // len(contests), _MIN_ROWS))
    yield from kind_changes([contest for contest in contests if contest.diff.is_comparable])
    runs = {contest.before: contest.diff.before for contest in contests}
    runs |= {contest.after: contest.diff.after for contest in contests}
    yield from grouped_cost_blocks({name: results.totals.costs for name, results in runs.items()}, noun)


def _contest_tables(contest: Contest, max_rows: int) -> Iterator[ReportBlock]:
    diff = contest.diff
    if contest.renaming is not None:
        yield Text(f"{contest.before} had another rootdir: it is read {contest.renaming}", "open")
    rows = [Row([mismatch.case, mismatch.difference]) for mismatch in diff.mismatches]
    if rows:
        columns = Column("scored differently", "name"), Column("then, and now", "text")
        yield Table(columns, rows, "", "case", _MAX_LISTED)
        return
    yield replace(_statistic_table(contest), max_rows=max_rows // 2)
    yield replace(_case_table(contest), max_rows=max_rows)
    lists = ("new", diff.new), ("not run" if _is_incomplete(diff.after) else "vanished", diff.vanished)
    for what, ids in lists:
        title = "new cases" if what == "new" else f"cases {what}"
        yield Table([Column("", "name")], [Row([case_id]) for case_id in ids], title, "case", _MAX_LISTED)


def _is_incomplete(results: RunResult) -> bool:
    return bool(results.narrowed) or len(results.cases) < (results.collected or 0)


def _change_cell(change: float) -> TableCell:
    return TableCell(change_text(change), "bad" if change < 0 else "good")


# -- the verdict -------------------------------------------------------------------------------------------


@final
class _NamedChange(NamedTuple):
    """The change of a statistic between two runs: its name, and how a sentence names it, with {} for data."""

    name: str
    where: str
    change: Change


def _list_changes(run_change: RunChange) -> Iterator[_NamedChange]:
    """Yield the changes of statistics that both runs have; of the pass rate only if a case did not pass."""
    yield _NamedChange("mean score", "in mean score", run_change.scores)
    if {run_change.outcomes.current, run_change.outcomes.baseline} - {1.0, None}:
        yield _NamedChange("pass rate", "in pass rate", run_change.outcomes)
    others = [_NamedChange(name, "for {}", change) for name, change in run_change.tags.items()]
    others += [_NamedChange(name, "on {}", change) for name, change in run_change.fields.items()]
    yield from sorted(
        others, key=lambda named: (not _is_significant(named.change), -abs(named.change.delta or 0.0))
    )


def _is_significant(change: Change) -> bool:
    return change.kind in {"better", "worse"}


def verdict(contest: Contest) -> Text:
    """Return in which statistics a run is significantly better or worse, and what could go undetected."""
    if not contest.diff.is_comparable:
        number = count(len(contest.diff.mismatches), "case")
        text = f"{number} scored differently in {{}}: no comparison is made"
        return Text(text, "bad", [contest.before])
    if contest.change is None:
        return _partial_note(contest.diff)
    scores, changes = contest.change.scores, [*_list_changes(contest.change)]
    who, names = (THIS, []) if contest.after == THIS else ("{}", [contest.after])
    parts_by_kind: list[str] = []
    if scores.kind == "no case":
        return Text(
            "no case is in both {} and {}: cases are paired by their ids",
            "bad",
            [contest.before, contest.after],
        )
    kinds = [kind for kind in ("better", "worse") if any(named.change.kind == kind for named in changes)]
    for kind in kinds:
        same_kind = [named for named in changes if named.change.kind == kind]
        shown = same_kind[:_MAX_NAMED]
        names += [named.name for named in shown if "{}" in named.where]
        places = [f"{named.where} ({named.change.signed[0]})" for named in shown]
        places += [f"{count(len(same_kind) - _MAX_NAMED)} more"] if same_kind[_MAX_NAMED:] else []
        parts_by_kind.append(f"{kind} {_join_parts(places)}")
    parts = [f"{who} is significantly {_join_parts(parts_by_kind)}"] if parts_by_kind else []
    if scores.kind == "ruled out":
        parts.append(f"{scores.verdict} in mean score")
    if not parts:
        is_tested = scores.kind != "too few"
        parts = ["no significant change from {}" if is_tested else "the change from {} is not tested"]
        names = [*names, contest.before]
    elif any(named.change.kind in {"not significant", "too few"} for named in changes):
        parts.append("no other significant change")
    text = ("" if parts_by_kind or who == THIS else "{}: ") + ", ".join(parts)
    number = count(scores.cases, "case")
    if scores.clusters < scores.cases:
        number += f" in {count(scores.clusters, 'cluster')}"
    total, scope = max(len(contest.diff.before.cases), len(contest.diff.after.cases)), number
    if scores.cases < total:
        scope = (
            f"{count(scores.cases)} of {count(total, 'case')} {'is' if scores.cases == 1 else 'are'} in both"
        )
    if scores.kind == "too few":
        text += f": {scope}, at least {scores.gate.least_to_test} needed"
    elif scores.kind == "not significant":
        text += f"; with {number}, changes of the mean score up to {scores.undetected} could go undetected"
        text += f"; {scope}" if scores.cases < total else ""
    else:
        text += f"; {scope}"
    tone = _TONES[kinds[0]] if len(kinds) == 1 else "open" if kinds else ""
    return Text(text + _unanswered_part(contest.diff), tone, names)


def _unanswered_part(diff: BaselineDiff) -> str:
    """Return the numbers of unanswered cases and the change of the others, if the two runs differ in them."""
    now, before = diff.after.total_unanswered, diff.before.total_unanswered
    if now == before:
        return ""
    unanswered = {case.id for run in (diff.before, diff.after) for case in run.cases if case.answered < 1}
    changes = [delta.change for delta in diff.cases if delta.name not in unanswered]
    text = f"; {count(now)} unanswered now, {count(before)} before"
    mean = mean_of(changes)
    return text if mean is None else f"{text}; the other {count(len(changes))}: {change_text(mean)}"


def _partial_note(diff: BaselineDiff) -> Text:
    """Return how many records both files keep, and how to get a verdict; empty if nothing is missing."""
    if not diff.of_totals:
        return Text("")
    kept, total = len(diff.cases), count(max(diff.before.total_records, diff.after.total_records), "record")
    number = (
        f"only {count(kept)} of {total} {'is' if kept == 1 else 'are'}" if kept else f"none of {total} is"
    )
    keeping = write_argument("keep", "all")
    return Text(f"{number} in both files: evaluate with `{keeping}` to get a verdict and intervals", "open")


def _join_parts(parts: Sequence[str]) -> str:
    last = ", and " if any(" and " in part for part in parts) else " and "
    return f"{', '.join(parts[:-1])}{last}{parts[-1]}" if len(parts) > 1 else parts[0]


def _statistic_table(contest: Contest) -> Table:
    """Return the statistics of both runs; without intervals if a corpus keeps only some records."""
    diff, run_change = contest.diff, contest.change
    parts = diff.before.created[:10], commit_text(diff.before.commit)
    made = ", ".join(filter(None, parts)) if diff.before.created != diff.after.created else ""
    coverage = f"mean of {count(len(diff.cases), 'case')} in both"
    title, names = f"{{}} against {{}}{' ({})' if made else ''}", [contest.after, contest.before]
    names += [made] if made else []
    if diff.of_totals:
        coverage = f"mean of all {count(diff.after.total_records, 'record')}"
        if diff.before.total_records != diff.after.total_records:
            coverage += f" ({count(diff.before.total_records)} in {{}})"
            names.append(contest.before)
    title += f", {coverage}"
    columns = [
        Column("statistic", "name"),
        Column(contest.before),
        Column(contest.after),
        Column("difference"),
    ]
    rows: list[Row] = []
    if run_change is None:
        means = [] if diff.score is None else [diff.score._replace(name="mean score")]
        for delta in (*means, *(delta for delta in diff.fields if delta.change)):
            texts = score_text(delta.before), score_text(delta.after)
            rows.append(Row([delta.name, *texts, _change_cell(delta.change)]))
        return Table(columns, rows, title, "statistic", names=names)
    if run_change.scores.interval is None:
        return Table(columns, rows)
    percent = f"{run_change.scores.interval.confidence * 100:.3g}"
    columns += [Column(f"{percent} % interval", spare=1), Column("verdict", "verdict")]
    changes, notes = _list_changes(run_change), list[str]()
    for name, _, change in (next(changes), *(named for named in changes if named.change.delta)):
        tone = _TONES.get(change.kind, "")
        cells = (TableCell(text, tone) for text in (*change.signed, change.verdict))
        levels = [score_text(change.baseline), score_text(change.current)]
        with_field = run_change.with_field.get(name)
        if with_field is not None and {*with_field} != {run_change.scores.cases}:
            levels = [f"{level} ({count(number)})" for level, number in zip(levels, with_field)]
            notes = [_LEVELS]
        rows.append(Row([name, *levels, *cells]))
    note = "; ".join([_CORRECTED, *notes] if len(rows) > 1 else [])
    return Table(columns, rows, title, "statistic", names=names, note=note)


# -- cases that changed ------------------------------------------------------------------------------------


def _case_table(contest: Contest) -> Table:
    """Return the cases whose score has changed, each followed by the values that differ in its answers."""
    runs = contest.diff.before, contest.diff.after
    before, after = ({case.id: case for case in results.cases} for results in runs)
    changed = [delta for delta in contest.diff.cases if delta.change]
    changed.sort(key=lambda delta: (-abs(delta.change), delta.change, natural_key(delta.name)))
    rows: list[list[AnyCell]] = []
    for delta in changed[:_MAX_CASES]:
        rows.append(
            [delta.name, _change_cell(delta.change), "", score_text(delta.before), score_text(delta.after)]
        )
        answers = [*_answers(before[delta.name], after[delta.name])]
        rows += answers[:_MAX_ANSWERS]
        if more := answers[_MAX_ANSWERS:]:
            rows.append([f"  {count(len(more))} more", "", "", "", ""])
    which = f", the {_MAX_CASES} largest of {count(len(changed))}" if changed[_MAX_CASES:] else ""
    if contest.diff.of_totals:
        which += f", among the {count(len(contest.diff.cases), 'record')} in both files"
    title = f"cases that changed from {{}} to {{}}{which}"
    names = [contest.before, contest.after]
    values = (Column(name, "text") for name in ("expected", *names))
    columns = [Column("case", "name"), Column("change"), *values]
    return Table(columns, list(map(Row, rows)), title, "row", names=names)


def _answers(before: Case, after: Case) -> Iterator[list[AnyCell]]:
    """Yield a row for each value that is wrong in only one of two answers, or wrong in different ways."""
    errors = [next((run.error for run in case.runs if run.error), "") for case in (before, after)]
    if any(errors):
        yield ["  no answer", "", "", *(TableCell(error, "bad") for error in errors)]
    sides = [_wrong(case) for case in (before, after)]
    unknown = [_not_kept(case) for case in (before, after)]
    yield from _row_lines(sides, [bool(error or fields) for error, fields in zip(errors, unknown)])
    if len(before.runs) == len(after.runs) == 1:
        yield from _order_lines(sides, errors, unknown)
    missing = {row for side in sides for row in side.missing}
    keys = {key: None for side in sides for key in side.values if key.row not in missing}
    for key in sorted(keys, key=lambda key: natural_key(key.row)):
        found = [side.values.get(key, []) for side in sides]
        if [difference.actual for difference in found[0]] != [difference.actual for difference in found[1]]:
            expected = (found[0] or found[1])[0].expected
            right = TableCell(dash(True) if expected is None else expected, "good")
            texts = [_actual_texts(side) for side in found]
            cells = (
                TableCell(text, "bad") if text else TableCell("") if error or key.field in fields else right
                for text, error, fields in zip(texts, errors, unknown)
            )
            yield [f"  {key.row}{_below_row(key.path, key.row)}", "", right.text, *cells]


def _order_lines(
    sides: Sequence[_Wrong], errors: Sequence[str], unknown: Sequence[Collection[str]]
) -> Iterator[list[AnyCell]]:
    """Yield a line for each array with the elements of expected in another order; remove its differences."""
    arrays = [_group_by_array(side) for side in sides]
    reordered = [
        {array: keys for array, keys in of_side.items() if _is_reordered(side, keys, fields)}
        for side, of_side, fields in zip(sides, arrays, unknown)
    ]
    for array in sorted({array for found in reordered for array in found}, key=natural_key):
        # An array that is wrong in another way in one answer is shown element by element.
        if any(array in of_side and array not in found for of_side, found in zip(arrays, reordered)):
            continue
        actual, cells = [], []
        for side, found, error, fields in zip(sides, reordered, errors, unknown):
            keys = found.get(array, [])
            differences = [side.values.pop(key)[0] for key in keys]
            actual.append([difference.actual for difference in differences])
            in_order = TableCell("" if error or fields else "in order", "good")
            cells.append(TableCell(REORDERED, "bad") if keys else in_order)
        if actual[0] != actual[1]:
            yield [f"  {array}", "", "", *cells]


def _group_by_array(side: _Wrong) -> dict[str, list[_Key]]:
    """Return the keys of wrong elements, by the path of their array."""
    found: dict[str, list[_Key]] = {}
    for key in sorted(side.values, key=lambda key: natural_key(key.row)):
        if key.row.endswith("]") and not _below_row(key.path, key.row):
            found.setdefault(key.row.rpartition("[")[0] or "$", []).append(key)
    return found


def _is_reordered(side: _Wrong, keys: Sequence[_Key], unknown: Collection[str]) -> bool:
    """Return whether wrong elements of an array are only in another order."""
    found = [difference for key in keys for difference in side.values[key]]
    if len(found) != len(keys) or any(key.field in unknown for key in keys):
        return False
    if any(difference.times > len(difference.rows) for difference in found):
        return False
    expected = [difference.expected for difference in found]
    actual = [difference.actual for difference in found]
    texts = [*expected, *actual]
    is_whole = all(text is not None and "…" not in text for text in texts)
    return is_whole and Counter(expected) == Counter(actual)


def _actual_texts(differences: Sequence[Difference]) -> str:
    """Return the different values of actual in the runs of a case as text, each with its number."""
    times = Counter(difference.actual or "missing" for difference in differences)
    return ", ".join(text if number == 1 else f"{text} ({number} times)" for text, number in times.items())


def _row_lines(sides: Sequence[_Wrong], incomplete: Sequence[bool]) -> Iterator[list[AnyCell]]:
    """Yield a line for each row that is missing from one of two answers, or extra in one of them.

    Args:
        sides: what is wrong in the two answers.
        incomplete: whether each answer may have further mistakes, which are not kept.
    """
    for row in sorted({row for side in sides for row in side.missing}, key=natural_key):
        lacking = [side.missing.get(row, []) for side in sides]
        if all(lacking):
            continue
        cells = []
        for side, is_missing, may_be_wrong in zip(sides, lacking, incomplete):
            wrong = (
                (key.path, difference.actual)
                for key, found in side.values.items()
                if key.row == row
                for difference in found
            )
            text = "missing" if is_missing else _row_text(wrong, row) or ("" if may_be_wrong else "found")
            cells.append(TableCell(text, "good" if text == "found" else "bad"))
        expected = _row_text(
            ((path, difference.expected) for path, difference in lacking[0] or lacking[1]), row
        )
        yield [f"  {row}", "", expected, *cells]
    texts: list[dict[str, str]] = [{}, {}]
    for side, rows in zip(sides, texts):
        for row, found in side.extra.items():
            rows[_row_text(((path, difference.actual) for path, difference in found), row)] = row
    for number, (own, other) in enumerate((texts, texts[::-1])):
        for text, row in own.items():
            if text not in other:
                cells = [TableCell("" if may_be_wrong else dash(True), "good") for may_be_wrong in incomplete]
                cells[number] = TableCell(text, "bad")
                yield [f"  extra {row}", "", dash(True), *cells]


def _row_text(values: Iterable[tuple[str, str | None]], row: str) -> str:
    """Return the members of a row with their values as text."""
    named = ((_below_row(path, row).removeprefix("."), value or "missing") for path, value in values)
    return ", ".join(dict.fromkeys(f"{name} {value}" if name else value for name, value in named))


def _below_row(path: str, row: str) -> str:
    """Return the part of a schema path below a row, such as `.n` for `lines[].n` and `lines[2]`."""
    return path.split("[]", len(_INDEX.findall(row)))[-1]


@final
class _Key(NamedTuple):
    """The key of a wrong value: its row (none for extra elements), field, schema path and expected value."""

    row: str
    field: str
    path: str
    expected: str | None
    """As JSON text; "…" for all values that were cut."""


@final
class _Wrong(NamedTuple):
    """The mistakes in a case."""

    values: dict[_Key, list[Difference]]
    """The differences outside of missing and extra rows."""
    missing: dict[str, list[tuple[str, Difference]]]
    """The schema paths and values of missing rows, by the row's path in expected."""
    extra: dict[str, list[tuple[str, Difference]]]
    """The schema paths and values of extra rows, by the row's path in actual."""


def _wrong(case: Case) -> _Wrong:
    """Return the mistakes in a case, without those that are not kept."""
    wrong = _Wrong({}, {}, {})
    for compared in iter_comparisons([case]):
        for field in {**compared.fields, **compared.differences}:
            for difference in compared.differences.get(field, ()):
                path = difference.at or field
                short = (
                    "…"
                    if difference.expected is not None and "…" in difference.expected
                    else difference.expected
                )
                for row in difference.rows or ("",):
                    is_element = not _below_row(path, row)
                    if is_element and difference.expected is None:
                        wrong.values.setdefault(_Key("", field, path, short), []).append(difference)
                    elif is_element or row not in difference.unpaired:
                        wrong.values.setdefault(_Key(row, field, path, short), []).append(difference)
                    else:
                        rows = wrong.missing if difference.actual is None else wrong.extra
                        rows.setdefault(row, []).append((path, difference))
    return wrong


def _not_kept(case: Case) -> set[str]:
    """Return the fields of which not all differences are kept, so that other values may be wrong, too."""
    return {
        path
        for compared in iter_comparisons([case])
        for path, aggregation in compared.fields.items()
        if aggregation.matches < aggregation.total
        and len(compared.differences.get(path, ())) not in range(1, MAX_KEPT)
    }
