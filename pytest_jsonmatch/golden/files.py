"""Which files are golden files; imports nothing heavy."""

from __future__ import annotations

import os
from contextlib import suppress
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OWN: Final = (".golden.yaml", ".golden.yml", ".golden.json")
"""The suffixes of golden files."""
_YAML: Final = (".yaml", ".yml")


def is_golden(path: Path, globs: Sequence[str] = (), *, explicit: bool = False) -> bool:
    """Return whether a file contains golden cases.

    Args:
        path: the file.
        globs: the ini option `jsonmatch_files`, read as pytest reads `python_files`: a pattern without a
            slash is matched against the file's name, any other against the end of its path.
        explicit: whether the file was named on the command line.

    >>> from pathlib import Path
    >>> is_golden(Path("a.golden.yaml")), is_golden(Path("a.yaml")), is_golden(Path("a.yaml"), explicit=True)
    (True, False, True)
    """
    name = path.name
    if name.endswith(OWN) or (explicit and name.endswith(_YAML)):
        return True
    return any(_matches(path, glob) for glob in globs)


_CASE_KEYS: Final = frozenset({"cases", "cases_from", "expected", "expected_file"})


def holds_cases(path: Path) -> bool:
    """Return whether a YAML file has a key at its top that only golden files have.

    A file that is named on the command line may belong to another plugin, so its tags are not resolved. If
    it is not YAML, the keys before the error count.
    """
    import yaml

    from pytest_jsonmatch.reading.datafiles import read_limited

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    level, is_key = 0, True
    with suppress(OSError, yaml.YAMLError, RecursionError):
        for event in yaml.parse(read_limited(path), Loader=loader):
            if level == 1 and is_key and getattr(event, "value", None) in _CASE_KEYS:
                return True
            if isinstance(event, yaml.events.NodeEvent) and level == 1:
                is_key = not is_key
            if isinstance(event, yaml.events.CollectionStartEvent):
                if level == 0 and isinstance(event, yaml.events.SequenceStartEvent):
                    return False
                level += 1
            elif isinstance(event, yaml.events.CollectionEndEvent):
                level -= 1
            elif isinstance(event, yaml.events.DocumentEndEvent):
                return False
    return False


def _matches(path: Path, glob: str) -> bool:
    if os.sep != "/":
        glob = glob.replace("/", os.sep)
    if os.sep not in glob:
        return fnmatch(path.name, glob)
    if path.is_absolute() and not os.path.isabs(glob):  # noqa: PTH117 - not a path
        glob = f"*{os.sep}{glob}"
    return fnmatch(str(path), glob)
