"""What each case adds to the part and the total of a statistic, for intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.gate.samples import CaseTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_jsonmatch.results.comparison import Case
    from pytest_jsonmatch.results.statistics import Terms
    from pytest_jsonmatch.results.totals import Totals


def rows_of(cases: Iterable[Case], statistic: Callable[[Totals], Terms]) -> list[CaseTerms]:
    """Return what each case adds to a statistic; a case without a value has no row."""
    terms = ((statistic(case.totals), case.unit) for case in cases)
    return [CaseTerms(part, total, unit) for (part, total), unit in terms if total > 0]
