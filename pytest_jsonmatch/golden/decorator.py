"""`golden_cases`: the cases of golden files for a test written in Python."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch.comparing.running import CaseFiles, current_run
from pytest_jsonmatch.golden.collector import mark_decorator
from pytest_jsonmatch.golden.loader import load_cases
from pytest_jsonmatch.reading.datafiles import display_name, read_limited
from pytest_jsonmatch.reading.errors import GoldenFileError

if TYPE_CHECKING:
    from collections.abc import Iterator


def golden_cases(*patterns: str | os.PathLike[str], argname: str = "case") -> pytest.MarkDecorator:
    """Parametrize a test with the cases of golden files, with their marks.

    The test gets each case as a `GoldenCase`, like the fixture `jsonmatch_case`. The files can have any
    names; if pytest collects them by their names, their cases also run as separate tests.

    Args:
        patterns: paths, relative to the folder of the test file; `*`, `?`, `[]` and `**` as in globs.
        argname: the argument of the test.

    Returns:
        The mark `parametrize` with the ids of the cases; with several files, each id begins with the name of
        its file.

    Raises:
        pytest.Collector.CollectError: no file matches, or a file is not valid; the message says where.

    >>> try:
    ...     golden_cases("no-such-folder/*.yaml")
    ... except pytest.Collector.CollectError as error:
    ...     print(str(error)[:52])
    golden_cases: no file matches 'no-such-folder/*.yaml
    """
    here = sys._getframe(1).f_globals.get("__file__")  # noqa: SLF001 - the module that uses the decorator
    folder = Path(here).resolve().parent if here else Path.cwd()
    rows: list[Any] = []
    try:
        files = _files(patterns, folder)
        for path in files:
            rows += _rows(path, folder, several=len(files) > 1)
    except (GoldenFileError, OSError) as error:
        raise pytest.Collector.CollectError(str(error)) from None
    return pytest.mark.parametrize(argname, rows)


def _files(patterns: tuple[str | os.PathLike[str], ...], folder: Path) -> list[Path]:
    """Return the files that match patterns, without duplicates, in the order of patterns, then of names."""
    if not patterns:
        raise pytest.Collector.CollectError("golden_cases: name at least one file or pattern")
    files: dict[Path, None] = {}
    for pattern in patterns:
        matches = sorted(glob.glob(os.path.join(folder, pattern), recursive=True))  # noqa: PTH118, PTH207
        if not matches:
            raise pytest.Collector.CollectError(
                f"golden_cases: no file matches {os.fspath(pattern)!r} in {folder}"
            )
        files.update(dict.fromkeys(map(Path, matches)))
    return list(files)


def _rows(path: Path, folder: Path, *, several: bool) -> Iterator[Any]:
    run = current_run()
    files = CaseFiles(None, None) if run is None else run.case_files
    name = display_name(path, folder)
    loaded = load_cases(read_limited(path), path, name, repeat=files.repeat, folders=files.folders)
    prefix = f"{path.name.partition('.')[0]}-" if several else ""
    for case in loaded.by_id.values():
        marks = [mark_decorator(mark, loaded.document, path) for mark in (*loaded.marks, *case.marks)]
        yield pytest.param(case, id=f"{prefix}{case.id}", marks=marks)
