"""What intervals of a run may leave out: documents that cases seem to share, and how often a judge errs."""

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
"""Fewer beginnings that ids share are rather kinds of cases than documents."""


JUDGED: Final = "how often the judge errs is left out of intervals; `jsonmatch judge calibrate` measures it"


def doubt_blocks(results: ResultSet, look: Look, shared: Mapping[str, str]) -> Iterator[list[StyledLine]]:
    """Yield the lines of each thing that intervals of a run may leave out; `shared` as for `cluster_hint`."""
    units = {} if results.is_partial else {case.id: case.cluster for case in results.cases}
    how = "cluster: NAME" if results.corpus is None else "--cluster NAME"
    if hint := cluster_hint(units, shared, how):
        yield look.folded(hint, 4, YELLOW)
    if results.judged:
        yield look.folded(JUDGED, 4, YELLOW)


def cluster_hint(units: Mapping[str, str], shared: Mapping[str, str], how: str = "cluster: NAME") -> str:
    """Return what to say of cases that seem to come from one document and do not say so; empty for nothing.

    Args:
        units: by case id its cluster, or empty where it names none.
        shared: by case id the file with its input, as far as there is one.
        how: what names a cluster.

    >>> cluster_hint({f"a.yaml::doc{at // 3}-{at}": "" for at in range(18)}, {})
    'ids share beginnings (such as doc0-): if cases come from one document, name it (`cluster: NAME`), or
    intervals are too narrow and false alarms too many'
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
                f"(`{how}`), or intervals are too narrow and false alarms too many"
            )
    return ""


def _beginning(name: str) -> str:
    """Return what stands before the last separator of a name; empty without one."""
    match = re.match(r"(.+[-_./#:\[]).+", name)
    return match[1] if match else ""
