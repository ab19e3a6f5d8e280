"""Expected values of inline-snapshot, which it writes into the source of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.comparing.updatedvalue import update_expected
from pytest_jsonmatch.engine.score.field import MATCHER
from pytest_jsonmatch.engine.value.convert import MISSING, Matcher
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.engine.value.snapshots import is_snapshot, read_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.value.convert import JsonValue


def has_snapshots(value: object) -> bool:
    """Return whether an expected value is or contains an object of inline-snapshot."""
    if isinstance(value, Mapping):
        return any(map(has_snapshots, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(has_snapshots, value))
    return is_snapshot(value)


@final
class Snapshots:
    """An expected value with snapshots; `update` lets inline-snapshot write new ones.

    Args:
        expected: the expected value.
        read_answer: returns the answer as JSON, read without an expected value; the value of new snapshots.
    """

    def __init__(self, expected: object, read_answer: Callable[[], JsonValue]) -> None:
        self._expected: Final = expected
        self.is_new: Final = is_snapshot(expected) and read_snapshot(expected) is ...
        """Whether the whole value is a snapshot without a value."""
        self.value: Final = self._fill(expected, read_answer)
        """The expected value without snapshots."""

    def _fill(self, expected: Any, read_answer: Callable[[], JsonValue]) -> Any:
        """Return a value with snapshots replaced by their values; new ones by the value of the answer."""
        if is_snapshot(expected):
            value = read_snapshot(expected)
            if value is not ...:
                return value
            answer = read_answer()
            return None if answer is MISSING else answer
        if not isinstance(expected, (Mapping, list, tuple)):
            return expected

        def fill(key: Any, item: Any) -> Any:
            return self._fill(item, lambda: _get(read_answer(), key))

        if isinstance(expected, Mapping):
            return {key: fill(key, item) for key, item in expected.items()}
        items = [fill(index, item) for index, item in enumerate(expected)]
        return tuple(items) if isinstance(expected, tuple) else items

    def update(self, result: MatchResult, *, has_failed: bool) -> bool:
        """Compare the snapshots with the new expected value, from which inline-snapshot updates them.

        Return whether they are equal; when inline-snapshot is going to write the value, they are, too.
        """
        old, _ = result.documents
        new = update_expected(result).value if has_failed else old
        # inline-snapshot keeps the matchers that it knows; it compares them with values of the answer.
        compared = {
            id(field.expected): field.actual for field in result.field_results if field.comparator == MATCHER
        }
        return bool(self._expected == _rebuild(self.value, old, new, compared))


def _get(container: JsonValue, key: Any) -> JsonValue:
    """Return a member or an element; MISSING without one."""
    if type(container) is dict:
        return container.get(key, MISSING)
    return container[key] if type(container) is list and key < len(container) else MISSING


def _rebuild(python: Any, old: JsonValue, new: JsonValue, compared: Mapping[int, Any]) -> Any:
    """Return a new JSON value with the user's Python objects in the places where nothing has changed.

    Args:
        python: the Python value; MISSING without one.
        old: the same value as JSON.
        new: the new value.
        compared: the values of actual that are compared with matchers, by the ids of the matchers.
    """
    if type(new) is Matcher:
        return compared.get(id(new), python)
    is_object = type(new) is dict
    if not is_object and type(new) is not list:
        return python if python is not MISSING and json_equal(old, new, strict=True) else new
    known = python
    if isinstance(python, Mapping):
        known = dict(python)
    elif isinstance(python, (list, tuple)):
        known = list(python)
    elif python is not MISSING and json_equal(old, new, strict=True):
        return python  # a model, for example
    rebuilt = {
        key: _rebuild(_get(known, key), _get(old, key), item, compared)
        for key, item in (new.items() if is_object else enumerate(new))
    }
    rebuilt = {key: item for key, item in rebuilt.items() if item is not MISSING}
    if is_object:
        return rebuilt
    return tuple(rebuilt.values()) if isinstance(python, tuple) else [*rebuilt.values()]
