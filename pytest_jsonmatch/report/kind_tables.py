"""Build the table of the kinds of differences that explain the loss of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators.kinds import FAMILIES, OTHER_KEY
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.blocks import Column, Row, Table, TableCell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.gate.headlines import Contest
    from pytest_jsonmatch.report.blocks import ReportBlock
    from pytest_jsonmatch.results.kindtotals import FieldKind, RunKind
    from pytest_jsonmatch.results.run import RunResult

MAX_KINDS: Final = 12
"""A table shows at most this many kinds."""
_EXPLAINING: Final = {*FAMILIES["other form"], OTHER_KEY}
"""The kinds that leave no other mistake. Elements at other positions may differ there, or be missing."""
_VERBS: Final = {
    **dict.fromkeys(("white space", "typographic form", "punctuation"), " differs"),
    "case or accents": " differ",
}
"""The verbs of kinds that are no sentence without one."""
_COLUMNS: Final = (
    Column("kind", "name"),
    Column("n", spare=2),
    Column("cases", spare=1),
    Column("cost"),
    Column("share"),
    Column("fields", "text"),
)


def kind_blocks(results: RunResult) -> Iterator[ReportBlock]:
    """Yield the table of the kinds of differences of a run, if it has any."""
    kinds = results.kinds
    loss = sum(kind.cost for kind in kinds.values())
    if not kinds:
        return
    shown, rest = list(kinds.items())[:MAX_KINDS], list(kinds.values())[MAX_KINDS:]
    rows = [_row(name, kind.n, kind.cases, kind.cost, loss, fields_text(kind.fields)) for name, kind in shown]
    if rest:
        costs = sum(kind.cost for kind in rest)
        rows.append(
            _row(f"{count(len(rest), 'other kind')}", sum(kind.n for kind in rest), None, costs, loss)
        )
    total = _row("all", sum(kind.n for kind in kinds.values()), None, loss, loss)
    yield Table(
        _COLUMNS,
        rows,
        "kinds of differences by cost, their part of 1 - mean score",
        "kind",
        max_rows=len(rows),
        total=total.cells,
        note=families_text(kinds),
        level="more",
    )


def kind_changes(contests: Sequence[Contest]) -> Iterator[Table]:
    """Yield a table of the kinds of differences in the compared runs, those whose cost changes most first.

    Two runs have their numbers and costs, several have a column of costs each.
    """
    if not contests:
        return
    # Several contests have one of their sides in common: the first prompt, or the run against its baselines.
    by_name = {contest.before: contest.diff.kinds[0] for contest in contests}
    by_name |= {contest.after: contest.diff.kinds[1] for contest in contests}
    names, runs = list(by_name), list(by_name.values())
    costs = {
        name: [run[name].cost if name in run else 0.0 for run in runs]
        for name in dict.fromkeys(name for run in runs for name in run)
    }
    changes = {name: max(of_runs) - min(of_runs) for name, of_runs in costs.items()}
    ranked = sorted(costs, key=lambda name: (-changes[name], name))
    changed = [name for name in ranked if f"{changes[name]:.3f}" != "0.000"]
    shown, rest = changed[:MAX_KINDS], len(ranked) - len(changed[:MAX_KINDS])
    note = f"{count(rest, 'other kind')} changed by less" if rest else ""
    if len(contests) > 1:
        rows = [
            Row([name, *(TableCell(cost_text(cost), value=cost) for cost in costs[name])]) for name in shown
        ]
        title = "kinds of differences by cost, their part of 1 - mean score"
        columns = [Column("kind", "name"), *map(Column, names)]
        yield Table(columns, rows, title, "kind", note=note, level="more")
        return
    rows = [_change_row(name, runs[0], runs[1], costs[name]) for name in shown]
    columns = [*map(Column, ("cost", "change")), Column("fields", "text")]
    columns = [Column("kind", "name"), Column("n", spare=1), *columns]
    title = "kinds of differences, {} → {}"
    yield Table(columns, rows, title, "kind", names=names, note=note, level="more")


def _change_row(
    name: str, before: Mapping[str, RunKind], after: Mapping[str, RunKind], costs: Sequence[float]
) -> Row:
    change = costs[1] - costs[0]
    numbers = [run[name].n if name in run else 0 for run in (before, after)]
    fields = (after if change > 0 else before)[name].fields
    return Row(
        [
            name,
            " → ".join(map(count, numbers)),
            " → ".join(map(cost_text, costs)),
            TableCell(f"{change:+.3f}", "bad" if change > 0 else "good", change),
            fields_text(fields),
        ]
    )


def _row(name: str, n: int, cases: int | None, cost: float, loss: float, fields: str = "") -> Row:
    return Row(
        [
            name,
            TableCell(count(n), value=n),
            TableCell("" if cases is None else count(cases), value=cases),
            TableCell(cost_text(cost), value=cost),
            TableCell(share_text(cost, loss), value=cost),
            fields,
        ]
    )


def sole_kind(result: MatchResult) -> str:
    """Return the kind of differences that explains all of the loss of a comparison; empty if there is none.

    Kinds that only describe a wrong value explain nothing.

    >>> from pytest_jsonmatch import compare_json
    >>> sole_kind(compare_json({"a": "x ", "b": " y", "c": 1}, {"a": "x", "b": "y", "c": 1}))
    'only white space differs'
    """
    kinds = {name: kind for name, kind in result.kinds.items() if kind.cost}
    name = next(iter(kinds), "")
    if len(kinds) != 1 or name not in _EXPLAINING:
        return ""
    return f"only {name}{_VERBS.get(name, '')}"


def cost_text(cost: float) -> str:
    """Return a cost as text.

    >>> cost_text(0.01449), cost_text(0.00002), cost_text(0.0)
    ('0.014', '<0.001', '0.000')
    """
    return "<0.001" if 0 < cost < 0.0005 else f"{cost:.3f}"


def share_text(cost: float, loss: float) -> str:
    """Return the share of a cost in the loss as text; empty without a loss."""
    return f"{cost / loss * 100:.0f} %" if loss else ""


def fields_text(fields: Mapping[str, FieldKind]) -> str:
    """Return the most costly field, and how many others there are.

    >>> from pytest_jsonmatch.results.kindtotals import FieldKind
    >>> fields_text({"total": FieldKind(2, 2, 0.1), "tip": FieldKind(1, 1, 0.05)})
    'total +1'
    """
    first = next(iter(fields), "")
    return f"{first} +{len(fields) - 1}" if len(fields) > 1 else first


def families_text(kinds: Mapping[str, RunKind]) -> str:
    """Return the share of each family of kinds in the loss as a sentence; empty without a loss."""
    costs = {
        family: sum(kinds[name].cost for name in names if name in kinds) for family, names in FAMILIES.items()
    }
    loss = sum(costs.values())
    if not loss:
        return ""
    return ", ".join(f"{share_text(cost, loss)} {family}" for family, cost in costs.items() if cost)
