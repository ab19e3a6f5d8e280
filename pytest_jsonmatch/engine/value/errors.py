"""The errors and warnings of this package, and the hints in their messages."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copyreg import __newobj__ as newobj  # type: ignore[attr-defined]
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECRET_NAMES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_MIN_SECRET: Final = 6
"""Shorter values of environment variables are not hidden: they may be part of any word."""
_LONGEST_MESSAGE: Final = 500
_MOST_KNOWN: Final = 40
"""The maximum number of known names to list in a hint."""
ArgumentForm: TypeAlias = Literal["python", "command", "options", "case"]
"""How messages write arguments: as Python code, options of the command, or keys of a file: a mapping of
options, or a golden case."""
_FORM: Final[ContextVar[ArgumentForm]] = ContextVar("jsonmatch_argument_form", default="python")
_LISTS: Final = frozenset({"absent"})
"""Options whose value is a JSON list; other options with several values are repeated."""
_KEYS_OF_CASES: Final = frozenset({"accept", "fields", "metric", "schema", "skip"})
"""Arguments that are keys of a golden case; other arguments are members of its `options`."""


class JsonMatchError(Exception):
    """The base class of all errors raised by pytest-jsonmatch."""

    def __reduce__(self) -> tuple[object, ...]:
        # Pickled by its attributes, since `__init__` takes other arguments than the message.
        return newobj, (type(self), *self.args), self.__dict__


class JsonMatchWarning(UserWarning):
    """Something is odd, but the comparison continues."""


class ConfigurationError(JsonMatchError, ValueError):
    """A metric, option, comparator, transform, parameter or path pattern is unknown or invalid."""


class JsonParseError(JsonMatchError, ValueError):
    """A text that must be strict JSON is not strict JSON.

    `reason` describes the mistake; `line` and `column` count from 1; `excerpt` shows the place.
    """

    def __init__(self, reason: str, *, line: int = 1, column: int = 1, excerpt: str = "") -> None:
        near = f" near {excerpt!r}" if excerpt else ""
        super().__init__(f"not valid JSON (line {line}, column {column}): {reason}{near}")
        self.reason = reason
        self.line = line
        self.column = column
        self.excerpt = excerpt


class JsonExtractionError(JsonMatchError, ValueError):
    """No JSON was found in a model's output; `reason` says why, `excerpt` shows how the output begins."""

    def __init__(self, reason: str, *, excerpt: str = "") -> None:
        beginning = f"; the text begins {excerpt!r}" if excerpt else ""
        super().__init__(f"no JSON found in the actual text: {reason}{beginning}")
        self.reason = reason
        self.excerpt = excerpt


class UnsupportedValueError(JsonMatchError, TypeError):
    """A Python value has no JSON form; the message names its path."""


class InvalidExpectedError(JsonMatchError, ValueError):
    """Expected data has a value that JSON cannot express, or is a file that is missing or not valid."""


class GoldValidationError(JsonMatchError, ValueError):
    """Expected data does not match the schema for scoring: for example, it has an unlisted field.

    `record_id` is the record's id, or its number from 1 (None if there is only one record); `path` is the
    instance path of the value, and `keys` are the path's keys and indices, if a comparison raised the error.
    """

    def __init__(
        self,
        message: str,
        record_id: str | int | None = None,
        path: str = "",
        keys: tuple[str | int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.record_id = record_id
        self.path = path
        self.keys = keys


class UnlistedFieldError(JsonMatchError, ValueError):
    """An answer has a field that the schema does not list, under a metric that rejects such fields.

    >>> error = UnlistedFieldError("actual: 'colour' is not in the schema", path="colour")
    >>> error.path
    'colour'
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class RootTypeError(JsonMatchError, TypeError):
    """The metric compares objects, but a value is not an object; the message names suitable metrics."""


class TargetPathError(JsonMatchError, ValueError):
    """Expected has no value at `target_key`."""


class ComparatorError(JsonMatchError, RuntimeError):
    """In an assertion, a comparator raised an error or returned a score outside [0, 1]."""


def format_error(error: BaseException) -> str:
    r"""Return the type of an error and the first line of its message, without secrets.

    >>> format_error(KeyError("x")), format_error(TimeoutError()), format_error(ValueError("2 errors\na: no"))
    ("KeyError: 'x'", 'TimeoutError', 'ValueError: 2 errors')
    """
    text = first_line(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_line(message: str) -> str:
    """Return the first line of the message of someone else's error, without secrets, and cut if it is long.

    Such a message may contain a whole request or response.
    """
    line = hide_secrets(message).strip().partition("\n")[0].rstrip()
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 1]}…"


def hide_secrets(text: str) -> str:
    """Replace secrets in a text by `***`: values of environment variables that are named like secrets.

    >>> os.environ["SHOP_API_KEY"] = "sk-12345678"
    >>> hide_secrets("invalid key: sk-12345678")
    'invalid key: ***'
    """
    secrets = {
        line.strip()
        for name, value in os.environ.items()
        if any(word in name.upper() for word in _SECRET_NAMES)
        for line in value.splitlines()
    }
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "***")
    return text


def find_closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate closest to `word`, or None if none is close.

    >>> find_closest("feild_match", ["field_match", "json_similarity"])
    'field_match'
    """
    found = get_close_matches(word, list(candidates), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the closest candidate, or "; known: ..." if none is close.

    >>> did_you_mean("exakt", ["exact", "numeric"])
    "; did you mean 'exact'?"
    """
    names = sorted(candidates)
    found = find_closest(word, names)
    if found is not None:
        return f"; did you mean {found!r}?"
    if not names:
        return ""
    more = [f"{len(names) - _MOST_KNOWN + 1} more"] if len(names) > _MOST_KNOWN else []
    return f"; known: {', '.join([*names[: _MOST_KNOWN - len(more)], *more])}"


def warn_caller(message: str) -> None:
    """Issue a `JsonMatchWarning` at the line that called this package."""
    level, frame = 1, sys._getframe()  # noqa: SLF001 - inspect.currentframe() may be None
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("pytest_jsonmatch."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, JsonMatchWarning, stacklevel=level)


# -- arguments in messages ---------------------------------------------------------------------------------


@contextmanager
def write_arguments_as(form: ArgumentForm) -> Iterator[None]:
    """Write the arguments in messages in a form."""
    token = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(token)


def choose_words(python: str, command: str, file: str | None = None) -> str:
    """Return the words of the current form; by default, files have those of Python."""
    form = _FORM.get()
    return command if form == "command" else python if form == "python" or file is None else file


def name_argument(name: str) -> str:
    """Return the name of an argument.

    >>> with write_arguments_as("command"):
    ...     name_argument("max_error")
    '--max-error'
    """
    return choose_words(name, _option(name))


def write_argument(name: str, value: object) -> str:
    r"""Return an argument with its value.

    >>> write_argument("keep", "all")
    "keep='all'"
    >>> with write_arguments_as("command"):
    ...     write_argument("keep", "all"), write_argument("fields", {"PATTERN": {"weight": 2}})
    ('--keep all', '--fields \'PATTERN={"weight": 2}\'')
    >>> with write_arguments_as("case"):
    ...     write_argument("extra", "ignore"), write_argument("fields", {"PATTERN": {"weight": 2}})
    ('options: {extra: ignore}', 'fields: {"PATTERN": {"weight": 2}}')
    """
    form = _FORM.get()
    if form == "python":
        return f"{name}={value!r}"
    if form == "command":
        return _write_option(name, value)
    member = f"{name}: {_as_json(value)}"
    return f"options: {{{member}}}" if form == "case" and name not in _KEYS_OF_CASES else member


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _write_option(name: str, value: Any) -> str:
    """Return an option of the command with its value, for a shell; it is repeated for several values."""
    import shlex  # late: most runs show no hint

    values = [value]
    if isinstance(value, Mapping):
        values = [f"{key}={_as_json(member)}" for key, member in value.items()]
    elif isinstance(value, list) and name not in _LISTS:
        values = value
    return " ".join(f"{_option(name)} {shlex.quote(_as_json(item))}" for item in values)


def _as_json(value: Any) -> str:
    """Return JSON, or the text itself of a string."""
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Tracebacks show the names under which users import these.
for _class in (JsonMatchWarning, JsonMatchError, *JsonMatchError.__subclasses__()):
    _class.__module__ = "pytest_jsonmatch"
del _class
