"""Snapshots of other libraries as expected values, recognised without importing these libraries."""

from __future__ import annotations

import sys
from typing import Any, Final

from pytest_jsonmatch.engine.value.errors import ConfigurationError, InvalidExpectedError

_INLINE: Final = "inline_snapshot"
_LIBRARIES: Final = frozenset({_INLINE, "syrupy"})
_SYRUPY: Final = (
    "compare with it by assert actual == snapshot; for scores and rules give the fixture "
    "expected_json instead, a file that --jsonmatch-update=new writes"
)


def may_have_snapshots() -> bool:
    """Return whether inline-snapshot has been imported."""
    return _INLINE in sys.modules


def is_snapshot(value: object) -> bool:
    """Return whether a value is an object of inline-snapshot."""
    return type(value).__module__.partition(".")[0] == _INLINE


def is_foreign(value: object) -> bool:
    """Return whether a value is an object of inline-snapshot or of syrupy."""
    return type(value).__module__.partition(".")[0] in _LIBRARIES


def read_snapshot(snapshot: object) -> Any:
    """Return the value that an object of inline-snapshot has in the source; `...` if it has none yet.

    Raises ConfigurationError if the release of inline-snapshot is too old.
    """
    library: Any = sys.modules[_INLINE]
    try:
        return library.get_snapshot_value(snapshot, "old")
    except (AttributeError, TypeError):
        version = getattr(library, "__version__", "an older release")
    raise ConfigurationError(f"inline-snapshot must be 0.34 or newer, got {version}; upgrade it")


def read_expected_snapshot(snapshot: object, path: str) -> Any:
    """Return the value of an object of inline-snapshot or syrupy at a path of expected.

    Raises InvalidExpectedError for one that has no value.
    """
    if not is_snapshot(snapshot):
        raise InvalidExpectedError(f"expected has a {type(snapshot).__name__} of syrupy at {path}: {_SYRUPY}")
    value = read_snapshot(snapshot)
    if value is ... or value is snapshot:
        raise InvalidExpectedError(
            f"expected has at {path} a snapshot without a value; assert_json_match creates it, with "
            "--inline-snapshot=create"
        )
    return value
