"""The table of figures per field: its sections, rows and columns, for all renderers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, final

from pytest_jsonmatch.engine.result.figures import COUNTS, POSITIONS, SHARES, FieldAggregation
from pytest_jsonmatch.engine.value.paths import Segment, format_path, parse_path
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.sheets import AnySheetCell, Rows, SheetCell, score_cell
from pytest_jsonmatch.results.comparison import (
    Case,
    added,
    by_metric,
    comparisons_of,
    field_sums,
    figures_of,
)

ALL_LEAVES: Final = "all leaves"
"""The name of the row over all leaves."""
_SPARE: Final = {
    title: place
    for place, title in enumerate(
        ("mismatch", "omitted", "invented", "match", "recall", "precision", "F1"), 1
    )
}
"""The columns that narrow terminals may leave out, the last one first."""
_MAX_ROWS: Final = 30
_MAX_DEPTH: Final = 8
_SAME: Final = 1e-12
_AS_A_WHOLE: Final = "(as a whole)"
"""The label, among the rows below a place, of the results at the place itself."""


@final
@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field, or a group of fields; the label is relative to the row's parent.

    `is_group` rows hold the merged figures of all rows below them; `parent` is the index of the row above.
    """

    label: str
    path: str
    depth: int
    parent: int | None
    is_group: bool
    figures: FieldAggregation


@final
@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one metric, worst first; figures of different metrics do not add up.

    Args:
        metric: the metric by which the cases were compared.
        cases: how many cases there are.
        variants: how many different sets of options they have.
        uncounted: how many of them do not count what only actual has.
        rows: fields, and groups of them.
        total: the figures of all leaves.
        noun: what cases are called.
    """

    metric: str
    cases: int
    variants: int
    uncounted: int
    rows: tuple[FieldRow, ...]
    total: FieldAggregation
    noun: str = "case"

    @property
    def extra(self) -> bool:
        """Whether what only actual has is counted anywhere."""
        return self.uncounted < self.cases

    def title(self, quoted: Callable[[str], str] = str) -> str:
        """Return what the figures cover, and what they leave out; `quoted` formats names."""
        title = f"{quoted(self.metric)}, all leaves of {count(self.cases, self.noun)}"
        if self.variants > 1:
            title += f", {count(self.variants, 'set')} of options"
        return title + left_out(self.cases, self.uncounted)


def sections_of(cases: Iterable[Case]) -> tuple[Section, ...]:
    """Return the figures of fields, separately for each metric.

    Figures are means over the runs of each case first, and then over cases; counts are of all runs.
    """
    return tuple(_section(metric, of_metric) for metric, of_metric in by_metric(cases).items())


def worst_rows(
    rows: Sequence[FieldRow], limit: int | None, *, only_imperfect: bool = False
) -> list[FieldRow]:
    """Return the `limit` worst fields with the groups they are in, in the order of the table.

    A group with only one row shown shares a line with it: `items[].price`.
    """
    fields = [
        index
        for index, row in enumerate(rows)
        if not row.is_group and not (only_imperfect and is_perfect(row.figures))
    ]
    if limit is not None and len(fields) > limit:
        fields = sorted(fields, key=lambda index: badness(rows[index].figures))[:limit]
    kept: set[int] = set()
    for start in fields:
        index: int | None = start
        while index is not None and index not in kept:
            kept.add(index)
            index = rows[index].parent
    below = Counter(rows[index].parent for index in kept)
    placed: dict[int, FieldRow] = {}
    for index in sorted(kept):
        row = rows[index]
        if row.parent is not None:
            above = placed[row.parent]
            if below[row.parent] == 1:
                row = replace(row, label=_joined(above.label, row.label), depth=above.depth)
            else:
                row = replace(row, depth=above.depth + 1)
        placed[index] = row
    return [row for index, row in placed.items() if not (row.is_group and below[index] == 1)]


def _joined(above: str, label: str) -> str:
    if label == _AS_A_WHOLE:
        return f"{above} {label}"
    return above + label if label.startswith("[") else f"{above}.{label}"


# -- the tree of fields ------------------------------------------------------------------------------------

_Sums: TypeAlias = "list[float]"
_RESULTS: Final = [place for status, place in POSITIONS.items() if status != "skipped"]
"""The places, in each list of sums, of the numbers of results that a table shows."""


@final
@dataclass(slots=True)
class _Tree:
    """A place in the tree of schema paths: the sums of its own results, and of all here and below."""

    own: list[_Sums] = field(default_factory=list)
    all: list[_Sums] = field(default_factory=list)
    children: dict[Segment, _Tree] = field(default_factory=dict)


def _section(metric: str, cases: Sequence[Case]) -> Section:
    comparisons = list(comparisons_of(cases))
    shares = [1 / len(case.runs) for case in cases for _ in comparisons_of([case])]
    silent = [share for share, each in zip(shares, comparisons, strict=True) if not each.counts_extra]
    number, root = max(round(sum(shares)), 1), _tree(field_sums(cases))
    return Section(
        metric,
        number,
        variants=len({comparison.signature for comparison in comparisons}),
        uncounted=number if len(silent) == len(comparisons) else round(sum(silent)),
        rows=tuple(_rows(root, (), None, 0)),
        total=figures_of(added(root.all)),
    )


def left_out(cases: int, uncounted: int) -> str:
    """Return a note if figures leave out the inventions of some or all cases; else an empty text.

    >>> left_out(3, 3), left_out(3, 0)
    ('; extras not counted', '')
    """
    if not uncounted:
        return ""
    of = "" if uncounted == cases else f" in {count(uncounted)} of them"
    return f"; extras not counted{of}"


def columns_of(section: Section) -> dict[str, str]:
    """Return the titles of the columns that add information, with the figure in each.

    Precision, recall and F1 do only if they differ from the score, inventions only if the metric counts them.
    """
    figures = [section.total, *(row.figures for row in section.rows)]
    values = [
        (getattr(each, name), each.mean_score or 0.0)
        for each in figures
        for name in list(SHARES.values())[1:]
    ]
    is_other = any(value is not None and abs(value - score) > _SAME for value, score in values)
    hidden = set() if is_other else {"precision", "recall", "F1"}
    if not section.extra:
        hidden.add("invented")
    return {title: name for title, name in {**COUNTS, **SHARES}.items() if title not in hidden}


def cells_of(figures: FieldAggregation, columns: Mapping[str, str]) -> Iterator[SheetCell]:
    """Yield the cells of a row, but for its name."""
    for title, name in columns.items():
        value = getattr(figures, name)
        if title in SHARES:
            yield score_cell(value)
        else:
            yield SheetCell(count(value), "" if value else "faint")


def field_table(section: Section, mode: str) -> Rows:
    """Return a section as a table: a tree of fields.

    Args:
        section: of one metric.
        mode: as in `Look`.
    """
    shown = worst_rows(section.rows, _MAX_ROWS if mode == "auto" else None, only_imperfect=mode == "failed")
    columns = columns_of(section)
    rows: list[list[AnySheetCell]] = [
        ["  " * min(row.depth, _MAX_DEPTH) + row.label, *cells_of(row.figures, columns)] for row in shown
    ]
    return Rows(
        ("field", *columns),
        rows,
        section.title(),
        "row",
        most=len(rows),
        hidden=len(section.rows) - len(shown) if mode == "auto" else 0,
        spare=_SPARE,
        total=[SheetCell(ALL_LEAVES, "strong"), *cells_of(section.total, columns)],
    )


def absence_note(figures: FieldAggregation) -> str:
    """Return the note below a table on omitted and invented values; empty if there are none.

    >>> absence_note(FieldAggregation(omissions=1, expected_leaves=8))
    '1 of 8 expected leaves omitted (12.5 %)'
    """
    parts = []
    if figures.omission_rate:
        leaves = count(figures.expected_leaves, "expected leaf", "expected leaves")
        parts.append((figures.omissions, leaves, "omitted", figures.omission_rate))
    if figures.hallucination_rate:
        leaves = count(figures.actual_leaves, "actual leaf", "actual leaves")
        parts.append((figures.hallucinations, leaves, "invented", figures.hallucination_rate))
    return "; ".join(
        f"{count(part)} of {whole} {what} ({100 * rate:.3g} %)" for part, whole, what, rate in parts
    )


def field_scores(cases: Sequence[Case]) -> dict[str, float | None]:
    """Return the mean score of each field by its path, and of all results under "", as in tables."""
    section = _section("", cases)
    scores = {row.path: row.figures.mean_score for row in section.rows if not row.is_group}
    return {**scores, "": section.total.mean_score}


def _tree(by_path: Mapping[str, _Sums]) -> _Tree:
    root = _Tree()
    # A path without results (skipped, absent, a made-up object) makes no row, but counts in existing ones.
    results = {path: any(sums[place] for place in _RESULTS) for path, sums in by_path.items()}
    for path in sorted(by_path, key=results.__getitem__, reverse=True):
        node, sums = root, by_path[path]
        node.all.append(sums)
        for segment in parse_path(path):
            if not results[path] and segment not in node.children:
                break
            node = node.children.setdefault(segment, _Tree())
            node.all.append(sums)
        if results[path]:
            node.own.append(sums)
    return root


def _rows(node: _Tree, path: tuple[Segment, ...], parent: FieldRow | None, number: int) -> list[FieldRow]:
    """Return the rows below a place, groups before their members, the worst first on every level.

    Args:
        node: the place.
        path: of the place.
        parent: its own row; None for the root.
        number: the index of the first row.
    """
    below: list[tuple[FieldRow, _Tree, tuple[Segment, ...]]] = []
    depth, above = (0, None) if parent is None else (parent.depth + 1, number - 1)
    for segment, child in node.children.items():
        place, segments, figures = child, [segment], figures_of(added(child.all))
        while not place.own and len(place.children) == 1:
            ((only, place),) = place.children.items()
            segments.append(only)
        whole = (*path, *segments)
        is_group = bool(place.children)
        row = FieldRow(format_path(segments), format_path(whole), depth, above, is_group, figures)
        below.append((row, place, whole))
    if node.own and (below or not path):
        label, figures = _AS_A_WHOLE if path else "$", figures_of(added(node.own))
        row = FieldRow(label, format_path(path), depth, above, is_group=False, figures=figures)
        below.append((row, _Tree(), path))
    rows: list[FieldRow] = []
    for row, place, whole in sorted(below, key=lambda each: badness(each[0].figures)):
        rows.append(row)
        rows += _rows(place, whole, row, number + len(rows))
    return rows


def badness(figures: FieldAggregation) -> tuple[bool, bool, float, float, int]:
    """Return a key that sorts first the figures that cost the score most: by the weight of what is lost.

    >>> rare = FieldAggregation(mismatches=1, expected_weight=1)
    >>> often = FieldAggregation(4, 2, score_sum=4, weighted_score=4, expected_weight=6)
    >>> badness(often) < badness(rare)
    True
    """
    mean, lost = figures.mean_score, figures.expected_weight - figures.weighted_score
    if figures.actual_leaves:
        lost += figures.hallucinations * figures.actual_weight / figures.actual_leaves
    return is_perfect(figures), mean is None, -lost, mean or 0.0, figures.matches - figures.total


def is_perfect(figures: FieldAggregation) -> bool:
    """Tell whether every result scores 1, and none is left out."""
    mean = figures.mean_score
    return (mean is None or mean >= 1.0) and not figures.batch_errors
