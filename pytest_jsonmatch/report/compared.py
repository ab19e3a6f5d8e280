"""`compare_runs`: two runs of the same cases, their difference, and which changes are significant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pytest_jsonmatch.engine.result.dataframe import Library, make_data_frame
from pytest_jsonmatch.engine.value.errors import ConfigurationError, write_argument
from pytest_jsonmatch.engine.value.text import join_names
from pytest_jsonmatch.gate.headlines import Contest, contest
from pytest_jsonmatch.gate.verdict import DropGate
from pytest_jsonmatch.report.baseline_report import contest_blocks
from pytest_jsonmatch.report.styled import line_text
from pytest_jsonmatch.report.terminal import joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.file import read_results
from pytest_jsonmatch.results.run import RunResult

if TYPE_CHECKING:
    from os import PathLike

    from pytest_jsonmatch.gate.baseline import Delta
    from pytest_jsonmatch.gate.verdict import Change

    AnyRun: TypeAlias = "RunResult | str | PathLike[str]"

_FIRST: Final = 3
"""The maximum number of case ids to name."""
_WIDTH: Final = 100


def compare_runs(
    before: AnyRun,
    after: AnyRun,
    *,
    names: Sequence[str] = (),
    max_drop: float | None = None,
    confidence: float = 0.95,
    by: Sequence[str] = (),
) -> RunComparison:
    """Compare two runs of the same cases, as `jsonmatch diff` does.

    Args:
        before: the earlier run: a result of `compare_corpus`, or the path of a result file.
        after: the later run.
        names: the names of both in texts; by default those of their files, or "before" and "after".
        max_drop: the drop of the mean score that is allowed; `passed` is False if it dropped significantly by
            more. None does not test for a drop alone.
        confidence: the confidence of intervals and tests.
        by: names of tags whose values are compared, too.

    Returns:
        The comparison. Its text is what `jsonmatch diff` prints.

    Raises:
        ConfigurationError: a file can't be read, no case is in both runs, or cases were scored differently.

    >>> from pytest_jsonmatch import compare_corpus, compare_runs
    >>> gold = [{"n": number} for number in range(20)]
    >>> worse = compare_corpus([{"n": -1}] * 12 + gold[12:], gold)
    >>> compared = compare_runs(compare_corpus(gold, gold), worse)
    >>> compared.verdict, round(compared.scores.delta, 2), len(compared.cases)
    ('worse', -0.6, 12)
    """
    runs = [read_results(run) if isinstance(run, (str, os.PathLike)) else run for run in (before, after)]
    for which, run in zip(("before", "after"), runs):
        if not isinstance(run, RunResult):
            raise ConfigurationError(f"{which} must be a RunResult or the path of a result file, got {run!r}")
    named = list(names) or [
        Path(run).stem if isinstance(run, (str, os.PathLike)) else default
        for run, default in ((before, "before"), (after, "after"))
    ]
    if len(named) != 2 or named[0] == named[1]:
        named = ["before", "after"] if not names else named
        if len(named) != 2 or named[0] == named[1]:
            raise ConfigurationError(f"names must be two different names, got {list(names)!r}")
    if max_drop is not None:
        for name, run in zip(named, runs):
            check_complete(name, run)
    gate = DropGate(max_drop or 0.0, confidence)
    pair = contest((named[0], runs[0]), (named[1], runs[1]), gate, by=by, tests=2 if max_drop is None else 1)
    check_comparable(pair, named)
    return RunComparison(pair, is_gated=max_drop is not None)


@final
class RunComparison:
    """The comparison of a run with an earlier one; its text is what `jsonmatch diff` prints.

    >>> from pytest_jsonmatch import compare_corpus, compare_runs
    >>> gold = [{"n": number} for number in range(20)]
    >>> print(compare_runs(compare_corpus(gold, gold), compare_corpus(gold, gold)))
    `after`: no significant change from `before`...
    """

    def __init__(self, contest: Contest, *, is_gated: bool) -> None:
        self._contest = contest
        self._is_gated = is_gated

    @property
    def scores(self) -> Change | None:
        """The change of the mean score, with its interval; None if only some records are kept."""
        return None if self._contest.change is None else self._contest.change.scores

    @property
    def pass_rate(self) -> Change | None:
        """The change of the pass rate."""
        return None if self._contest.change is None else self._contest.change.outcomes

    @property
    def fields(self) -> Mapping[str, Change]:
        """The changes of the fields, by path."""
        return {} if self._contest.change is None else self._contest.change.fields

    @property
    def tags(self) -> Mapping[str, Change]:
        """The changes for the values of tags, such as "source=phone"."""
        return {} if self._contest.change is None else self._contest.change.tags

    @property
    def verdict(self) -> str | None:
        """The verdict on the mean score: "better", "worse", "ruled out", "not significant" or "too few"."""
        return None if self.scores is None else self.scores.kind

    @property
    def passed(self) -> bool | None:
        """Whether the mean score did not drop by more than `max_drop`; None without it."""
        return self.scores.passed if self._is_gated and self.scores is not None else None

    @property
    def cases(self) -> tuple[Delta, ...]:
        """The cases whose score changed, the largest loss first: `name`, `before`, `after`, `change`."""
        changed = (delta for delta in self._contest.diff.cases if delta.change)
        return tuple(sorted(changed, key=lambda delta: delta.change))

    @property
    def new(self) -> tuple[str, ...]:
        """The ids of cases that only the later run has."""
        return self._contest.diff.new

    @property
    def vanished(self) -> tuple[str, ...]:
        """The ids of cases that only the earlier run has."""
        return self._contest.diff.vanished

    def to_dataframe(self, by: str = "case", library: Library | None = None) -> Any:
        """Return a data frame with a row for each case in both runs, or each field (`by="field"`).

        Args:
            by: "case" or "field".
            library: "pandas" or "polars"; None for the one that is already imported.

        Raises:
            ConfigurationError: `by` is invalid, or no such library is installed.
        """
        diff = self._contest.diff
        fields = self.fields
        rows_by: dict[str, Iterable[Mapping[str, Any]]] = {
            "case": (
                {"case": case.name, "before": case.before, "after": case.after, "change": case.change}
                for case in diff.cases
            ),
            "field": (
                {
                    "path": field.name,
                    "before": field.before,
                    "after": field.after,
                    "change": field.change,
                    "verdict": fields[field.name].kind if field.name in fields else None,
                }
                for field in diff.fields
            ),
        }
        return make_data_frame(rows_by, by, library, ["case", "before", "after", "change"])

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the comparison as an HTML page, with both answers of the cases that changed.

        Raises:
            ConfigurationError: jinja2 is not installed.
            OSError: the file can't be written.
        """
        from pytest_jsonmatch.report.build import build_comparison
        from pytest_jsonmatch.report.cases_page import PageExtra
        from pytest_jsonmatch.report.html import html_page
        from pytest_jsonmatch.support.atomic import write_file

        page = html_page(build_comparison([self._contest], page=PageExtra()))
        write_file(Path(path), page.encode("utf-8", "backslashreplace"))

    def _repr_html_(self) -> str:
        """Return the comparison as HTML for notebooks; without jinja2, as text in HTML."""
        from html import escape

        from pytest_jsonmatch.report.html import blocks_html

        try:
            return blocks_html(list(contest_blocks([self._contest])))
        except ConfigurationError:
            return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        """Return what `jsonmatch diff` prints."""
        lines = joined_blocks(contest_blocks([self._contest]), TerminalStyle(width=_WIDTH))
        return "\n".join(map(line_text, lines)).rstrip()

    def __repr__(self) -> str:
        return f"<RunComparison {self._contest.after} against {self._contest.before}: {self.verdict}>"


def check_complete(name: object, run: RunResult) -> None:
    """Raise ConfigurationError if a run keeps only some of its records."""
    if run.is_partial:
        kept = f"{len(run.cases):,} of {run.total_records:,}"
        raise ConfigurationError(
            f"single records are compared, but {name} keeps {kept}: save it with "
            f"{write_argument('keep', 'all')}"
        )


def check_comparable(pair: Contest, names: Sequence[object], prefix: str = "") -> None:
    """Raise ConfigurationError if two runs have no case in common, or were not scored in the same way.

    Args:
        pair: the comparison.
        names: the names of both runs in the message.
        prefix: the beginning of the message about different scoring.
    """
    runs = pair.diff.before, pair.diff.after
    ids = [[case.id for case in results.cases] for results in runs]
    if not pair.diff.of_totals and set(ids[0]).isdisjoint(ids[1]):
        sides = ", ".join(
            f"{where} has {join_names(list(map(repr, side)), _FIRST) or 'no case'}"
            for where, side in zip(names, ids)
        )
        hint = _explain_parameters(*ids)
        raise ConfigurationError(f"no case is in both runs; cases are paired by their ids: {sides}{hint}")
    if pair.diff.mismatches:
        first, *others = pair.diff.mismatches
        more = f" (and {len(others):,} more)" if others else ""
        raise ConfigurationError(
            f"{prefix}not scored in the same way: {first.case}: {first.difference}{more}"
        )


def _explain_parameters(before: Sequence[str], after: Sequence[str]) -> str:
    """Return a hint about ids that differ only in the parameters of a fixture; empty if they differ more.

    >>> _explain_parameters(["a.yaml::one[v1]", "a.yaml::two[v1]"], ["a.yaml::one[v2]"])
    "; the ids differ only in '[v1]' and '[v2]': one run with both parameters compares them"
    """
    labels: list[set[str]] = []
    cases: list[set[str]] = []
    for ids in (before, after):
        parts = [re.fullmatch(r"(.+?)(\[.*\])", case_id, re.DOTALL) for case_id in ids]
        cases.append({part[1] for part in parts if part is not None})
        labels.append({part[2] for part in parts if part is not None})
    if cases[0].isdisjoint(cases[1]):
        return ""
    names = (join_names([repr(label) for label in sorted(side)], _FIRST) for side in labels)
    return f"; the ids differ only in {' and '.join(names)}: one run with both parameters compares them"
