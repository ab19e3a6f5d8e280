"""The keys of golden files, as one table with the check of each; and the ids of cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.plan.options import Options, merge_options, refuse_two_thresholds
from pytest_jsonmatch.engine.result.validity import VALIDATE
from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.errors import ConfigurationError, write_arguments_as
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.engine.value.text import add_article, render, suggest_share
from pytest_jsonmatch.golden.marks import marks_of
from pytest_jsonmatch.reading.errors import InvalidValueError
from pytest_jsonmatch.reading.matchers import with_matchers
from pytest_jsonmatch.results.limits import read_limits
from pytest_jsonmatch.results.tags import find_tag_error
from pytest_jsonmatch.support.defaults import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.reading.errors import Steps

KeyCheck: TypeAlias = "Callable[[JsonValue], object]"

# Names that have a meaning for pytest in a module.
XUNIT_NAMES: Final = frozenset(
    f"{when}{what}"
    for when in ("setup", "teardown")
    for what in ("", "_module", "_function", "_class", "_method")
) | {"setUpModule", "tearDownModule"}
_ID: Final = re.compile(r"[\w.@+-]+")
_NOT_IN_IDS: Final = re.compile(r"[^\w.@+-]+")
_PRODUCER: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_DEFAULT_OPTIONS: Final = Options()


def bad_id(value: str) -> str | None:
    """Return the reason why a test can't have a name; None if it can.

    >>> bad_id("setup_module")
    "'setup_module' is a name that pytest reserves; choose another"
    """
    if _ID.fullmatch(value) is None:
        return f"{value!r} can't name a test: use letters, digits and _ . @ + -, and put prose into `title`"
    if value in XUNIT_NAMES or value.startswith("pytest_") or value == "pytestmark":
        return f"{value!r} is a name that pytest reserves; choose another"
    if value.startswith("__"):
        return f"{value!r} begins with two underscores, as Python's own names do; choose another"
    return None


def as_id(text: str) -> str:
    """Return a text as a part of an id; empty if an id can't have any of its characters.

    >>> as_id("Ann's Café"), as_id("?!")
    ('Ann-s-Café', '')
    """
    return _NOT_IN_IDS.sub("-", text).strip("-")


def id_of_file(path: Path) -> str:
    """Return the name of a file as the id of its only case: `Blue-Café-1` for `Blue Café (1).golden.yaml`."""
    stem = re.sub(r"(\.golden)?\.(yaml|yml|json)$", "", path.name, flags=re.IGNORECASE)
    case_id = as_id(stem).strip("-.")
    return case_id if case_id and bad_id(case_id) is None else f"case-{case_id.strip('_')}".rstrip("-")


def ids_of_runs(case_id: str, runs: int) -> list[str]:
    """Return the ids of the runs of a case.

    >>> ids_of_runs("a", 1), ids_of_runs("a", 2)
    (['a'], ['a@1', 'a@2'])
    """
    return [case_id] if runs == 1 else [f"{case_id}@{run}" for run in range(1, runs + 1)]


def _is(kind: str) -> KeyCheck:
    """Return a check that a value has a JSON type."""

    def check(value: JsonValue) -> None:
        found = json_type(value)
        if found == kind:
            return
        hint = ""
        if kind == "string":
            hint = "; put it in quotes" if found in {"number", "boolean"} else ""
        raise InvalidValueError(f"must be {add_article(kind)}, got {add_article(found)}{hint}")

    return check


_string: Final = _is("string")
_object: Final = _is("object")


def _text(missing: str) -> KeyCheck:
    """Return a check for text that is not empty; `missing` is the hint if it is."""

    def check(value: JsonValue) -> None:
        _string(value)
        if value == "":
            raise InvalidValueError(f"is empty; {missing}")

    return check


_file: Final = _text("give a path, relative to this file")


def _id(value: JsonValue) -> None:
    _string(value)
    if reason := bad_id(value):
        raise InvalidValueError(reason)


def _unit(value: JsonValue) -> None:
    if not (isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1):
        raise InvalidValueError(
            f"must be a number from 0 to 1, got {render(value, 40)}{suggest_share(value)}"
        )


def is_repeat(value: JsonValue) -> bool:
    """Return whether a value is a number of runs."""
    return type(value) in {int, float} and 1 <= value <= MAX_COUNT and value == int(value)


def _repeat(value: JsonValue) -> None:
    if not is_repeat(value):
        raise InvalidValueError(f"must be a whole number from 1 to {MAX_COUNT:,}")


def _threshold(value: JsonValue) -> None:
    if type(value) is not dict:
        _check_with_engine((), read_limits, value)
        return
    for name, limit in value.items():
        if name == "fields" and type(limit) is dict:
            for pattern, field_limit in limit.items():
                _check_with_engine((name, pattern), read_limits, {name: {pattern: field_limit}})
        else:
            _check_with_engine((name,), read_limits, {name: limit})


def _pattern(pattern: str, *steps: str) -> None:
    _check_with_engine(steps, parse_pattern, pattern)


def _check_with_engine(steps: Steps, read: Callable[..., object], *arguments: object) -> None:
    """Raise the error that a comparison would raise for a value, at the steps to it."""
    try:
        with write_arguments_as("case"):
            read(*arguments)
    except ConfigurationError as error:
        raise InvalidValueError(f": {error}", *steps) from None


def _options(value: JsonValue) -> None:
    _object(value)
    for name, option in value.items():
        if name in {"metric", "threshold", "schema", "fields", "accept", "skip", "validate"}:
            raise InvalidValueError(f"can't hold `{name}`; write it next to `options`", name)
        if name == "repair":
            if type(option) is not bool:
                raise InvalidValueError("`repair` must be true or false", name)
            continue
        _check_with_engine((name,), merge_options, _DEFAULT_OPTIONS, {name: option})
    _check_with_engine(("match_threshold",), refuse_two_thresholds, value)


def _by_pattern(name: str) -> KeyCheck:
    def check(value: JsonValue) -> None:
        _object(value)
        for pattern, rule in value.items():
            _check_with_engine((pattern,), merge_options, _DEFAULT_OPTIONS, {name: {pattern: rule}})
            _pattern(pattern, pattern)

    return check


def _skip(value: JsonValue) -> None:
    if type(value) in {bool, str}:
        raise InvalidValueError(
            'lists patterns of fields to leave out, such as ["**.id"]; to skip a case write `marks: [skip]`'
        )
    for index, pattern in enumerate(value if type(value) is list else ()):
        _check_with_engine((index,), merge_options, _DEFAULT_OPTIONS, {"skip": [pattern]})
    _check_with_engine((), merge_options, _DEFAULT_OPTIONS, {"skip": value})


def _schema(value: JsonValue) -> None:
    if type(value) not in {dict, str}:
        raise InvalidValueError("is neither the path of a JSON file nor a schema")
    if type(value) is str:
        _file(value)


def _validate(value: JsonValue) -> None:
    if value not in VALIDATE:
        raise InvalidValueError(f"must be {' or '.join(VALIDATE)}, got {render(value, 40)}")


def _tags(value: JsonValue) -> None:
    _object(value)
    for name, tag in value.items():
        if reason := find_tag_error(name, tag):
            raise InvalidValueError(f": {reason}", name)


def _producer(value: JsonValue) -> None:
    if type(value) is not str or _PRODUCER.fullmatch(value) is None:
        raise InvalidValueError('must be "module:function", such as "myproject.extract:receipt"')


@final
class Key(NamedTuple):
    """One key of the format, for the loader; `golden-cases.schema.json` describes it for editors.

    Args:
        check: raises InvalidValueError for a value that is not valid; None if every value is valid.
        file_wide: whether it is allowed next to `cases`, as a default for every case.
        joined: whether the values of a case and its file are joined: members of mappings, elements of lists.
        filled: whether placeholders `${name}` in it are replaced.
    """

    check: KeyCheck | None
    file_wide: bool = False
    joined: bool = False
    filled: bool = True


# A new key is a row here, a form in golden-cases.schema.json, and a row in docs/golden-keys.md.
KEYS: Final[Mapping[str, Key]] = {
    "id": Key(_id, filled=False),
    "title": Key(_string, file_wide=True),
    "input": Key(None, file_wide=True),
    "input_file": Key(_file, file_wide=True),
    "actual": Key(None),
    "actual_file": Key(_file),
    "expected": Key(with_matchers),
    "expected_file": Key(_file),
    "metric": Key(_text("name a metric"), file_wide=True),
    "threshold": Key(_threshold, file_wide=True),
    "options": Key(_options, file_wide=True, joined=True),
    "fields": Key(_by_pattern("fields"), file_wide=True, joined=True),
    "skip": Key(_skip, file_wide=True, joined=True),
    "accept": Key(_by_pattern("accept"), file_wide=True, joined=True),
    "schema": Key(_schema, file_wide=True),
    "validate": Key(_validate, file_wide=True),
    "producer": Key(_producer, file_wide=True),
    "repeat": Key(_repeat, file_wide=True),
    "min_pass_rate": Key(_unit, file_wide=True),
    "cluster": Key(_text("name what the case belongs to"), file_wide=True),
    "tags": Key(_tags, file_wide=True, joined=True),
    "marks": Key(marks_of, file_wide=True, filled=False),
    "parametrize": Key(None, filled=False),
}
"""The keys of the format, in the order in which they are usually written."""
CASE_KEYS: Final = frozenset(KEYS)
SEVERAL: Final = frozenset({"cases", "cases_from"})
"""The keys of a file with several cases."""
FILE_KEYS: Final = SEVERAL | {name for name, key in KEYS.items() if key.file_wide}
JOINED: Final = tuple(name for name, key in KEYS.items() if key.joined)
NOT_FILLED: Final = frozenset(name for name, key in KEYS.items() if not key.filled)
PAIRS: Final = tuple(name for name in KEYS if f"{name}_file" in KEYS)
"""Keys that are a value or a file: `input` or `input_file`, never both."""
