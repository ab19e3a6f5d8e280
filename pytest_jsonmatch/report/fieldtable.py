"""The table of figures per field as data: sections, rows, columns. Renderers draw it, each in its own way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.result.absence import Presence, merge_presence
from pytest_jsonmatch.engine.result.figures import POSITIONS, FieldAggregation, with_fabrications
from pytest_jsonmatch.engine.value.paths import Segment, format_path
from pytest_jsonmatch.limits import Measured, measured
from pytest_jsonmatch.report.figures import answers_note, count
from pytest_jsonmatch.results.model import Answers, blended, counts_extra, segments_of

if TYPE_CHECKING:
    from pytest_jsonmatch.results.comparison import Comparison


@final
class Column(NamedTuple):
    """One column: the figure of a field that it shows, its titles, long and short, and whether it counts."""

    key: str
    title: str
    short: str
    is_count: bool = True

    def value(self, figures: FieldAggregation) -> float | None:
        """Return the figure."""
        found: float | None = getattr(figures, self.key)
        return found


COLUMNS: Final = (
    Column("total", "n", "n"),
    Column("matches", "match", "match"),
    Column("mismatches", "mismatch", "mism."),
    Column("omissions", "omitted", "omit."),
    Column("hallucinations", "invented", "inv."),
    Column("fabricated", "fabricated", "fabr."),
    Column("mean_score", "score", "score", is_count=False),
    Column("precision", "precision", "prec.", is_count=False),
    Column("recall", "recall", "rec.", is_count=False),
    Column("f1", "F1", "F1", is_count=False),
)
"""The columns of tables, in order."""
ALL_FIELDS: Final = "all fields"
"""The name of the row over all leaves."""
NOT_COUNTED: Final = "not counted"
"""What stands for a number of inventions where the metric does not look for any."""
_ONLY_IF_OTHER: Final = ("precision", "recall", "f1")
_SAME: Final = 1e-12
_AS_A_WHOLE: Final = "(as a whole)"
"""The name of a place among the rows below it: of what was scored there and not field by field."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One field, or a group of fields: the label stands for itself below the row's parent.

    `is_group` rows hold the merged figures of all rows below them, `parent` is the index of the row above.
    """

    label: str
    path: str
    depth: int
    parent: int | None
    is_group: bool
    figures: FieldAggregation


@final
class Unmatched(NamedTuple):
    """How many elements of an array found no partner, over all cases."""

    path: str
    pairs: int
    only_expected: int
    only_actual: int


@final
@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one metric, worst first; figures of different metrics do not add up.

    Args:
        metric: by which the cases were compared.
        cases: how many there are.
        variants: how many different sets of options they have.
        uncounted: how many of them leave out what only actual has: nobody knows how much of it there is.
        file: the one that the cases are in, where cases of the metric are in several sections; else empty.
        rows: fields, and groups of them.
        total: the figures of all leaves.
        unmatched: the arrays in which elements found no partner.
    """

    metric: str
    cases: int
    variants: int
    uncounted: int
    file: str
    rows: tuple[Row, ...]
    total: FieldAggregation
    unmatched: tuple[Unmatched, ...] = ()

    @property
    def extra(self) -> bool:
        """Whether what only actual has is counted anywhere."""
        return self.uncounted < self.cases

    @property
    def title(self) -> str:
        """What the figures are of, and what they leave out."""
        title = f"{self.metric}, all leaves of {count(self.cases, 'case')}"
        if self.file:
            title += f" in {self.file}"
        if self.variants > 1:
            title += f", {count(self.variants, 'set')} of options"
        return title + left_out(self.cases, self.uncounted)


@final
class BelowLimit(NamedTuple):
    """A comparison that did not pass, with its lowest figure below a limit.

    Where no limit is broken, `what` says what is wrong; `value` is None where there is no figure.
    """

    id: str
    what: str
    value: float | None
    limit: float | None


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What a run's comparisons come to."""

    cases: int
    runs: int
    """As many as cases, or more if cases were repeated."""
    sections: tuple[Section, ...]
    below: tuple[BelowLimit, ...]
    narrow: tuple[BelowLimit, ...]
    """Comparisons that passed by less than 0.01: the least change may let them fail."""
    notes: tuple[str, ...]

    @property
    def is_perfect(self) -> bool:
        """Whether there is nothing to show but that all is well."""
        return not self.below and all(
            is_perfect(row.figures) for section in self.sections for row in section.rows
        )


def summarize(comparisons: Iterable[Comparison], judged: frozenset[str] = frozenset()) -> Summary:
    """Return the summary of comparisons, the same whatever their order but for ties.

    Figures are means over the runs of each case first, and then over cases; counts are of all runs.

    Args:
        comparisons: everything that was compared.
        judged: repeated cases that are judged as a whole: their runs are not named.

    >>> summarize([])
    Summary(cases=0, runs=0, sections=(), below=(), narrow=(), notes=())
    """
    compared = list(comparisons)
    by_metric: dict[str, list[Comparison]] = {}
    for each in compared:
        by_metric.setdefault(each.metric, []).append(each)
    shares = _shares(compared)
    sections = tuple(
        _section(metric, group, shares, file)
        for metric, of_metric in by_metric.items()
        for file, group in _by_fields(of_metric)
    )
    named = [each for each in compared if not each.case or each.case not in judged]
    below = [_below(each) for each in named if not each.passed]
    narrow = [_narrow(each) for each in named if each.passed and each.score < 1.0]
    return Summary(
        cases=sum(section.cases for section in sections),
        runs=len(compared),
        sections=sections,
        below=tuple(sorted(below, key=lambda case: (case.value is not None, case.value or 0.0))),
        narrow=tuple(sorted(filter(None, narrow), key=_slack)),
        notes=tuple(_notes(compared)),
    )


def worst_rows(rows: Sequence[Row], limit: int | None, *, only_imperfect: bool = False) -> list[Row]:
    """Return the `limit` worst fields with the groups they are in, in the order of the table.

    A group of which only one row is shown shares a line with it: `items[].price`.
    """
    fields = [
        index
        for index, row in enumerate(rows)
        if not row.is_group and not (only_imperfect and is_perfect(row.figures))
    ]
    if limit is not None and len(fields) > limit:
        fields = sorted(fields, key=lambda index: _badness(rows[index].figures))[:limit]
    kept: set[int] = set()
    for field in fields:
        index: int | None = field
        while index is not None and index not in kept:
            kept.add(index)
            index = rows[index].parent
    below = Counter(rows[index].parent for index in kept)
    placed: dict[int, Row] = {}
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
_NUMBERS: Final = len(FieldAggregation().to_list())
_RESULTS: Final = len(POSITIONS)
"""So many of them count results."""
_NARROW: Final = 0.01


class _Node:
    """A place in the tree of schema paths: its own figures, if it has any, and those of all below."""

    __slots__ = ("beside", "children", "own", "segments", "sums")

    def __init__(self, segments: tuple[Segment | str, ...]) -> None:
        self.segments = segments  # from the parent to here
        self.children: dict[Segment | str, _Node] = {}
        self.own: _Sums | None = None
        self.beside: list[_Sums] = []  # of members here and below that have no result, and no row
        self.sums: _Sums = []

    def figures(self) -> FieldAggregation:
        if len(self.sums) == _NUMBERS:
            return FieldAggregation.from_list(self.sums)
        return blended(self.sums)


def _shares(comparisons: Iterable[Comparison]) -> dict[str, float]:
    """Return what each run of a repeated case counts for; empty if there is none."""
    runs: dict[str, set[str]] = {}
    for comparison in comparisons:
        if comparison.case:
            runs.setdefault(comparison.case, set()).add(comparison.nodeid)
    return {case: 1 / len(nodeids) for case, nodeids in runs.items()}


def _by_fields(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    """Return the comparisons of each file, those of files that have a field in common together.

    Each group is named by its file if there are several groups.
    """
    by_file: dict[str, list[Comparison]] = {}
    for each in comparisons:
        by_file.setdefault(each.nodeid.partition("::")[0], []).append(each)
    groups: list[tuple[list[str], set[str]]] = []
    for file, of_file in by_file.items():
        files, paths = [file], {path for each in of_file for path in each.fields}
        apart = []
        for group in groups:
            # (What has no field at all has nothing to be told apart by.)
            if paths and group[1] and paths.isdisjoint(group[1]):
                apart.append(group)
            else:
                files, paths = group[0] + files, group[1] | paths
        groups = [*apart, (files, paths)]
    found = []
    for files, _ in groups:
        name = files[0] if len(files) == 1 else f"{files[0]} and {count(len(files) - 1, 'other file')}"
        found.append((name if len(groups) > 1 else "", [each for file in files for each in by_file[file]]))
    return found


def _section(
    metric: str, comparisons: Sequence[Comparison], shares: Mapping[str, float], file: str = ""
) -> Section:
    cases = max(round(_cases(comparisons, shares)), 1)
    root = _tree(_sums_by_path(comparisons, shares))
    silent = [each for each in comparisons if not counts_extra(each.signature)]
    return Section(
        metric,
        cases,
        variants=len({comparison.signature for comparison in comparisons}),
        uncounted=cases if len(silent) == len(comparisons) else round(_cases(silent, shares)),
        file=file,
        rows=tuple(_rows(root)),
        total=root.figures(),
        unmatched=tuple(_unmatched(comparisons)),
    )


def _cases(comparisons: Iterable[Comparison], shares: Mapping[str, float]) -> float:
    return sum(shares.get(comparison.case, 1.0) for comparison in comparisons)


def left_out(cases: int, uncounted: int) -> str:
    """Return what is said of figures in which inventions of some cases are not counted.

    >>> left_out(3, 3), left_out(3, 0)
    ('; extras not counted', '')
    """
    if not uncounted:
        return ""
    of = "" if uncounted == cases else f" in {count(uncounted)} of them"
    return f"; extras not counted{of}"


def shown_columns(figures: Iterable[FieldAggregation]) -> tuple[Column, ...]:
    """Return the columns that say something.

    Precision, recall and F1 do only where they differ from the score, fabrications only if there are any.

    >>> [column.title for column in shown_columns([FieldAggregation(matches=1, score_sum=1.0)])][-1]
    'score'
    """
    rows = list(figures)
    values = [(getattr(each, key), each.mean_score or 0.0) for each in rows for key in _ONLY_IF_OTHER]
    is_other = any(value is not None and abs(value - score) > _SAME for value, score in values)
    hidden = set() if is_other else set(_ONLY_IF_OTHER)
    if not any(each.fabricated for each in rows):
        hidden.add("fabricated")
    return tuple(column for column in COLUMNS if column.key not in hidden)


def absence_note(figures: FieldAggregation) -> str:
    """Return what is said of absent values below a table: nothing if none is missing or made up.

    >>> absence_note(FieldAggregation(omissions=1, expected_leaves=8, fabricated=1, places=4))
    '1 of 8 expected leaves omitted (12.5 %); fabricated at 1 of 4 places where nothing is expected (25 %)'
    """
    parts = []
    if figures.omission_rate:
        parts.append(_share(figures.omissions, figures.expected_leaves, "expected leaves omitted"))
    if figures.hallucination_rate:
        parts.append(_share(figures.hallucinations, figures.actual_leaves, "actual leaves invented"))
    if figures.fabrication_rate:
        what = "places where nothing is expected"
        parts.append(f"fabricated at {_share(figures.fabricated, figures.places, what)}")
    return "; ".join(parts)


def _share(part: int, whole: int, what: str) -> str:
    return f"{count(part)} of {count(whole)} {what} ({100 * part / whole:.3g} %)"


def _sums_by_path(comparisons: Iterable[Comparison], shares: Mapping[str, float]) -> dict[str, _Sums]:
    """Return each field's sums: of all runs, and where there are shares, of what each run counts for too."""
    by_path: dict[str, _Sums] = {}
    presence: dict[str, Presence] = {}
    for comparison in comparisons:
        merge_presence(presence, comparison.presence)
        share = shares.get(comparison.case, 1.0)
        for path, figures in comparison.fields.items():
            numbers = figures.to_list()
            if shares:
                numbers += [share * number for number in numbers]
            sums = by_path.get(path)
            by_path[path] = numbers if sums is None else _sum_of([sums, numbers])
    for path, places in with_fabrications({}, presence).items():
        numbers = places.to_list() * (2 if shares else 1)
        by_path[path] = _sum_of([by_path[path], numbers]) if path in by_path else numbers
    return by_path


def field_scores(comparisons: Sequence[Comparison]) -> dict[str, float | None]:
    """Return the mean score of each field by its path, and at "" that of all results, as tables have them."""
    section = _section("", comparisons, _shares(comparisons))
    scores = {row.path: row.figures.mean_score for row in section.rows if not row.is_group}
    return {**scores, "": section.total.mean_score}


def _unmatched(comparisons: Sequence[Comparison]) -> Iterator[Unmatched]:
    """Yield the arrays in which elements found no partner, those with the most of them first."""
    sums: dict[str, tuple[int, int, int]] = {}
    for comparison in comparisons:
        for path, (pairs, expected, actual) in comparison.arrays.items():
            before = sums.get(path, (0, 0, 0))
            sums[path] = (before[0] + pairs, before[1] + expected, before[2] + actual)
    for path, counts in sorted(sums.items(), key=lambda item: (-item[1][1] - item[1][2], item[0])):
        if counts[1] or counts[2]:
            yield Unmatched(path, *counts)


def _tree(by_path: Mapping[str, _Sums]) -> _Node:
    root = _Node(())
    without_results: list[tuple[str, _Sums]] = []
    for path, sums in by_path.items():
        if not any(sums[:_RESULTS]):
            without_results.append((path, sums))
            continue
        node = root
        for segment in segments_of(path):
            child = node.children.get(segment)
            if child is None:
                child = node.children[segment] = _Node((segment,))
            node = child
        node.own = sums if node.own is None else _sum_of([node.own, sums])
    for path, sums in without_results:
        # (A member that nothing has, or an object that was made up: it counts where there is a row.)
        node = root
        for segment in segments_of(path):
            if segment not in node.children:
                break
            node = node.children[segment]
        node.beside.append(sums)
    # Children before parents, without recursion: a path may have hundreds of levels.
    order = [root]
    for node in order:
        order.extend(node.children.values())
    for node in reversed(order):
        node.sums = _sum_of(
            [child.sums for child in node.children.values()] + ([node.own] if node.own else []) + node.beside
        )
        if node.own is None and len(node.children) == 1 and node is not root:
            only = next(iter(node.children.values()))
            node.segments += only.segments
            node.children, node.own = only.children, only.own
    return root


def _sum_of(parts: list[_Sums]) -> _Sums:
    return [sum(numbers) for numbers in zip(*parts, strict=True)] if parts else FieldAggregation().to_list()


def _rows(root: _Node) -> Iterator[Row]:
    """Yield the rows in order: groups before what is in them, the worst first on every level."""
    # Without recursion: a result file may have paths of any depth.
    stack: list[tuple[_Node, tuple[Segment | str, ...], int, int | None]] = [(root, (), -1, None)]
    index = None
    while stack:
        node, path, depth, parent = stack.pop()
        if node is not root:
            index = 0 if index is None else index + 1
            label = format_path(node.segments) if node.segments else (_AS_A_WHOLE if path else "$")
            yield Row(label, format_path(path), depth, parent, bool(node.children), node.figures())
        below = list(node.children.values())
        if node.own is not None and (below or node is root):
            itself = _Node(())
            itself.sums = node.own
            below.append(itself)
        below.sort(key=lambda each: _badness(each.figures()))
        stack += [(each, path + each.segments, depth + 1, index) for each in reversed(below)]


def _badness(figures: FieldAggregation) -> tuple[bool, float, int]:
    mean = figures.mean_score
    return mean is None, 1.0 if mean is None else mean, figures.matches - figures.total


def is_perfect(figures: FieldAggregation) -> bool:
    """Whether there is nothing to find fault with: every result is 1, and none is left out."""
    mean = figures.mean_score
    return (mean is None or mean >= 1.0) and not figures.batch_errors


# -- cases and notes ---------------------------------------------------------------------------------------


def _below(comparison: Comparison) -> BelowLimit:
    """Return the figure of a failed comparison that a reader wants to see: the first below its limit."""
    if not comparison.has_figures:
        return BelowLimit(comparison.id, "nothing but batch errors", None, None)
    missed = [each for each in _measured(comparison) if not each.is_reached]
    if missed:
        is_score = missed[0].what == "score"
        return _limited(
            comparison, missed[0] if is_score else min(missed, key=lambda each: each.value or 0.0)
        )
    if comparison.validity == "invalid":
        return BelowLimit(comparison.id, "not valid by the schema", None, None)
    if comparison.errors:
        return BelowLimit(comparison.id, "comparator error", None, None)
    return BelowLimit(comparison.id, "score", comparison.score, None)


def _narrow(comparison: Comparison) -> BelowLimit | None:
    """Return the figure of a passed comparison that is nearest to its limit; None if none is within 0.01."""
    figures = [
        _limited(comparison, each)
        for each in _measured(comparison)
        if each.value is not None and 0 < each.limit <= each.value < min(each.limit + _NARROW, 1.0)
    ]
    return min(figures, key=_slack, default=None)


def _slack(case: BelowLimit) -> float:
    return (case.value or 0.0) - (case.limit or 0.0)


def _limited(comparison: Comparison, each: Measured) -> BelowLimit:
    return BelowLimit(comparison.id, each.field or each.what, each.value, each.limit)


def _measured(comparison: Comparison) -> Iterator[Measured]:
    means = {path: figures.mean_score for path, figures in comparison.fields.items()}
    return measured(dict(comparison.threshold), partial(getattr, comparison), lambda: means)


def _notes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield what stands beside the figures: batch errors, comparators that raised, warnings."""
    if failed := sum(each.counts.get("batch_error", 0) for each in comparisons):
        unscored = sum(not each.has_figures for each in comparisons)
        also = f"; {count(unscored, 'comparison')} without any figure" if unscored else ""
        yield f"{count(failed, 'result')} left out of the figures: the batch comparator failed{also}"
    if note := answers_note(Answers.of(comparisons)):
        violations = [f"{entry} ({each.id})" for each in comparisons for entry in each.violations]
        yield f"{note}, the first violation: {violations[0]}" if violations else note
    errors = [f"{entry} ({each.id})" for each in comparisons for entry in each.errors]
    warnings = [f"{entry} ({each.id})" for each in comparisons for entry in each.warnings]
    for entries, noun in ((errors, "comparator error"), (warnings, "warning")):
        if entries:
            first = ", the first: " if len(entries) > 1 else ": "
            yield f"{count(len(entries), noun)}{first}{entries[0]}"
