"""What a run's intervals may not account for: documents that cases seem to share, and a judge's errors."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import YELLOW, StyledLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_jsonmatch.results.model import ResultSet

_LEAST_GROUPS: Final = 5
"""Fewer shared beginnings of ids are more likely kinds of cases than documents."""


JUDGED: Final = "intervals do not account for the judge's errors; `jsonmatch judge calibrate` measures them"


def doubt_blocks(results: ResultSet, look: Look, shared: Mapping[str, str]) -> Iterator[list[StyledLine]]:
    """Yield notes on what a run's intervals may not account for; `shared` as for `cluster_hint`."""
    units = {} if results.is_partial else {case.id: case.cluster for case in results.cases}
    how = "cluster: NAME" if results.corpus is None else "--cluster NAME"
    if hint := cluster_hint(units, shared, how):
        yield look.folded(hint, 4, YELLOW)
    if results.judged:
        yield look.folded(JUDGED, 4, YELLOW)


def cluster_hint(units: Mapping[str, str], shared: Mapping[str, str], how: str = "cluster: NAME") -> str:
    """Return a hint if cases seem to share documents without naming clusters; empty otherwise.

    Args:
        units: the cluster of each case, by case id; empty if it names none.
        shared: the file with the input of each case that has one, by case id.
        how: how to name a cluster.

    >>> cluster_hint({f"a.yaml::doc{at // 3}-{at}": "" for at in range(18)}, {})
    'ids share beginnings (such as doc0-): if cases come from one document, name it (`cluster: NAME`), or
    intervals are too narrow and false alarms too frequent'
    >>> cluster_hint({f"case-{at}": "" for at in range(18)}, {})
    ''
    """
    if any(units.values()):
        return ""
    starts = {case: _beginning(case.rpartition("::")[2]) for case in units}
    for found, what in ((shared, "cases share input files"), (starts, "ids share beginnings")):
        sizes = Counter(name for name in found.values() if name)
        several = [name for name, number in sizes.items() if number > 1]
        if len(several) >= _LEAST_GROUPS and 2 * sum(sizes[name] for name in several) > len(units):
            return (
                f"{what} (such as {min(several)}): if cases come from one document, name it "
                f"(`{how}`), or intervals are too narrow and false alarms too frequent"
            )
    return ""


def _beginning(name: str) -> str:
    """Return a name up to its last separator; empty without one."""
    match = re.match(r"(.+[-_./#:\[]).+", name)
    return match[1] if match else ""
