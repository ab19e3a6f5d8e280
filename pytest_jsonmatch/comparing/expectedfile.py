"""Expected values in JSON and YAML files, for comparisons in Python: a `pathlib.Path` given as `expected`."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from pytest_jsonmatch.comparing.running import current_run
from pytest_jsonmatch.engine.score.field import get_expected_keys
from pytest_jsonmatch.engine.value.errors import InvalidExpectedError
from pytest_jsonmatch.reading.datafiles import display_name, has_yaml_suffix, read_value_file
from pytest_jsonmatch.reading.errors import GoldenFileError, InvalidValueError, Position
from pytest_jsonmatch.reading.matchers import check_matcher_places, iter_matchers, with_matchers
from pytest_jsonmatch.reading.yamlevents import find_position, parse_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

_REMEDY: Final = "; pytest --jsonmatch-update=new writes it"


@final
class ExpectedFile:
    """A JSON or YAML file with an expected value, which may contain matchers such as `{"$any": true}`.

    Args:
        path: the file.
        name: the display name of the file.
        given: the path as the test gives it.

    Raises:
        InvalidExpectedError: the file can't be read; if it does not exist, `read` raises the error.
    """

    __slots__ = ("_given", "data", "name", "path")

    def __init__(self, path: Path, name: str, given: Path) -> None:
        self.path: Final = path
        self.name: Final = name
        self._given: Final = given
        self.data: Final = self._read_data()
        """The content of the file; None if there is no file."""

    def _read_data(self) -> bytes | None:
        try:
            return read_value_file(self.path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidExpectedError(f"the file of expected, {self.name}, can't be read: {reason}")

    def read(self) -> JsonValue:
        """Return the expected value.

        Raises:
            InvalidExpectedError: the file does not exist or is not valid, or a matcher in it is not valid.
        """
        if self.data is None:
            run = current_run()
            remedy = "" if run is None or run.test is None else _REMEDY
            raise InvalidExpectedError(f"there is no file {self.name} for expected{remedy}{self._hint()}")
        try:
            return with_matchers(parse_value(self.data, self.name, is_yaml=has_yaml_suffix(self.path)))
        except GoldenFileError as error:
            raise InvalidExpectedError(str(error)) from None
        except InvalidValueError as error:
            raise self._make_error(error) from None

    def _hint(self) -> str:
        """Return a hint: what a path is relative to, and how to write the path of a file elsewhere."""
        if self._given.is_absolute():
            return ""
        run = current_run()
        if run is None or run.test is None:
            return " (the path is relative to the working directory)"
        hint = " (the path is relative to the folder of the test's file"
        if os.path.exists(self._given):  # noqa: PTH110 - no OSError
            folder = self.path.parents[len(self._given.parts) - 1]
            hint += f"; for the file that exists, write {display_name(self._given, folder)!r}"
        return f"{hint})"

    def check_matchers(self, plan: Plan, expected: JsonValue) -> None:
        """Raise InvalidExpectedError for a matcher where the plan needs a value."""
        if any(iter_matchers(expected)):
            try:
                check_matcher_places(plan, expected)
            except InvalidValueError as error:
                raise self._make_error(error) from None

    def _make_error(self, error: InvalidValueError) -> InvalidExpectedError:
        line, column = self.find_position(error.steps)
        return InvalidExpectedError(f"{self.name}:{line}:{column}: expected{error.reason}")

    def find_position(self, steps: Sequence[str | int] = ()) -> Position:
        """Return the position of a value in the file, or of the nearest entry that contains it."""
        try:
            return find_position(self.data or b"", self.name, steps)
        except GoldenFileError:  # JSON of a form that is not YAML, in a file without a known suffix
            return Position(1, 1)

    def locate(self, field: FieldResult) -> str:
        """Return "file:line" of the expected value of a field."""
        return f"{self.name}:{self.find_position(get_expected_keys(field)).line}"


def find_file(path: Path, *, claims: bool = False) -> ExpectedFile:
    """Return the file at a path that is relative to the running test's file, or to the working directory.

    `claims` tells the running test that the file is compared with an answer.
    """
    run = current_run()
    test = None if run is None else run.test
    if test is None:
        return ExpectedFile(Path(os.path.abspath(path)), path.as_posix(), path)  # noqa: PTH100 - keeps links
    return ExpectedFile(*test.find_file(path, claims=claims), path)
