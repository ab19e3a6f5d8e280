"""Files as records: those of a folder, or those that a glob matches."""

from __future__ import annotations

import glob
from pathlib import Path, PurePosixPath
from typing import Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError

GOLD_SUFFIXES: Final = (".json",)
ANSWER_SUFFIXES: Final = (".json", ".txt")
"""The output of a model may be text: then the answer has the suffix .txt."""


def list_files(folder: Path, suffixes: tuple[str, ...] | None) -> list[str]:
    """Return the relative paths of all files in a folder that are not hidden; None allows any suffix."""
    matching = (path for path in folder.rglob("*") if suffixes is None or path.suffix.lower() in suffixes)
    paths = [path.relative_to(folder) for path in matching]
    visible = (path for path in paths if not any(part.startswith(".") for part in path.parts))
    return sorted(path.as_posix() for path in visible if (folder / path).is_file())


def is_glob(source: str) -> bool:
    """Return whether a text is a glob of files rather than the path of one.

    >>> is_glob("tests/**/*.json"), is_glob("gold.jsonl")
    (True, False)
    """
    return glob.has_magic(source) and not Path(source).exists()


def find_files(pattern: str, folder: Path) -> list[str]:
    """Return the paths, relative to a folder, of the files that a glob matches, sorted; "/" separates parts.

    `**` matches any number of folders. Hidden files and folders only match if the pattern names the dot.
    """
    found = glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 - Path.glob lists hidden files
    paths = (Path(path).as_posix() for path in found)
    return sorted(path for path in dict.fromkeys(paths) if (folder / path).is_file())


def glob_root(pattern: str) -> str:
    """Return the folder in which all files of a glob are; "" if the first part is a pattern.

    >>> glob_root("tests/data/**/*.json"), glob_root("*.json")
    ('tests/data', '')
    """
    parts: list[str] = []
    for part in PurePosixPath(pattern.replace("\\", "/")).parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return str(PurePosixPath(*parts)) if parts else ""


def name_files(pattern: str, paths: list[str]) -> dict[str, str]:
    """Return the paths of the files of a glob by name: the path below the glob's root, without suffix.

    Raises:
        ConfigurationError: two files have one name.

    >>> name_files("data/**/*.json", ["data/a.json", "data/shop/b.json"])
    {'a': 'data/a.json', 'shop/b': 'data/shop/b.json'}
    """
    root, named = glob_root(pattern), dict[str, str]()
    for path in paths:
        relative = PurePosixPath(path).relative_to(root) if root else PurePosixPath(path)
        name = str(relative.with_suffix(""))
        if name in named:
            raise ConfigurationError(f"{named[name]} and {path} would both be the record {name!r}")
        named[name] = path
    return named
