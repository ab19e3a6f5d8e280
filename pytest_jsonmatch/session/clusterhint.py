"""The hint of a run in which cases seem to come from one document, and name no cluster."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_GROUPS: Final = 5
"""Fewer beginnings that ids share are rather kinds of cases than documents."""


def cluster_hint(units: Mapping[str, str], shared: Mapping[str, str]) -> str:
    """Return what to say of cases that seem to come from one document and do not say so; empty for nothing.

    Args:
        units: by case id its cluster, or empty where it names none.
        shared: by case id the file with its input, as far as there is one.

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
                "(`cluster: NAME`), or intervals are too narrow and false alarms too many"
            )
    return ""


def _beginning(name: str) -> str:
    """Return what stands before the last separator of a name; empty without one."""
    match = re.match(r"(.+[-_./#:\[]).+", name)
    return match[1] if match else ""
