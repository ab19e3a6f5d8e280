"""Answers in a file of their own, found by the id of a record; and the cost and latency next to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.comparing.comparer import TEXT
from pytest_jsonmatch.engine.value.convert import JsonValue, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.records.columns import ColumnError, describe_missing_id, find_column, get_column
from pytest_jsonmatch.records.csvrows import CsvRow
from pytest_jsonmatch.records.pairing import read_gold
from pytest_jsonmatch.records.sources import RecordSource
from pytest_jsonmatch.results.answer import SPENT_NAMES, Answer, Spent, make_answer

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.records.pairing import Reading

SPENT: Final = "spent"
"""The member, next to an answer, with its model, time, tokens and cost, as `--jsonmatch-record` writes it."""
_NAMES: Final = frozenset(SPENT_NAMES)


def read_spent(record: Mapping[str, Any]) -> Spent | None:
    """Return the cost and latency in a record of an answer; None without any.

    Raises:
        ConfigurationError: a number is negative, or not a number.

    >>> read_spent({"output": "{}", "spent": {"seconds": 1.5}}).seconds
    1.5
    """
    given = record.get(SPENT)
    if type(given) is not dict or not given or not given.keys() <= _NAMES:
        return None
    return Spent(**given)


def select_answer(
    answer: Any, reading: Reading, schema: SchemaNode | None
) -> tuple[Any, tuple[str, ...], Spent | None]:
    """Return the answer in a record, warnings from reading the record, and the answer's cost and latency.

    Args:
        answer: the record: a row of a CSV file, text, or a Python value with a JSON form.
        reading: the columns of the answer.
        schema: the schema that gives cells of a CSV file their types.

    Returns:
        The answer is a JSON value, or text that is the output of a model.

    Raises:
        ColumnError: the record lacks a column.
        JsonMatchError: the record is not JSON, or its cost or latency is not valid.
    """
    warnings: tuple[str, ...] = ()
    spent = None
    if type(answer) is CsvRow:
        answer = answer.read()
    elif isinstance(answer, TEXT) and reading.actual is not None:
        found = extract_json(answer, want="object", repair=reading.repair)
        answer, warnings = found.value, tuple(found.warnings)
    if reading.actual is not None and type(answer) is dict:
        spent = read_spent(answer)
    if not isinstance(answer, TEXT):
        plain = answer if type(answer) is dict else to_json_value(answer, side="actual")
        answer = reading.select_actual(plain, schema)
    if isinstance(answer, Answer):
        answer, spent = answer.value, answer.spent
    return answer, warnings, spent


@final
class AnswerFile:
    """The answers of a file by the text of their id, or by their number without an id.

    Args:
        path: the file.
        name: its display name.
        id: the column of the id; None to number the answers from 1.
        column: the column of the answer; None for the whole record without its id.

    Raises:
        ConfigurationError: the file can't be read, or two answers have one id.
    """

    def __init__(self, path: Any, name: str, id: str | None, column: str | None) -> None:
        self.name = name
        self._id, self._column = id, column
        self._answers: dict[str | int, Any] = {}
        with RecordSource(path, "answers") as source:
            for number, (where, record, _) in enumerate(source, 1):
                self._add(number, where, record)

    def _add(self, number: int, where: str | None, record: Any) -> None:
        try:
            value = read_gold(record, number, None)
        except JsonMatchError:
            value = record  # an error of its case, if a row has this number
        key: str | int = number
        if self._id is not None:
            found = find_column(value, self._id) if type(value) is dict else None
            if type(found) not in {str, int}:
                place = where or f"{self.name}: answer {number}"
                raise ConfigurationError(f"{place} {describe_missing_id(value, self._id)}")
            key = str(found)
            if key in self._answers:
                place = where or f"{self.name}: answer {number}"
                raise ConfigurationError(f"{place} has the same {self._id} as an earlier answer: {found!r}")
        self._answers[key] = value

    def find(self, key: str | int) -> JsonValue:
        """Return an answer: a value, the output of a model as text, or an `Answer`; None without one.

        Raises:
            ColumnError: its record lacks the column.
            ConfigurationError: its cost or latency is not valid.
        """
        if key not in self._answers:
            return None
        record = self._answers[key]
        if type(record) is not dict:
            if self._column is not None:
                raise ColumnError(
                    f"the answer in {self.name} is not an object with the column {self._column!r}"
                )
            return record.decode("utf-8", "replace") if isinstance(record, bytes) else record
        if self._column is None:
            return {name: value for name, value in record.items() if name != self._id}
        try:
            value = get_column(record, self._column)
        except ColumnError as error:
            raise ColumnError(f"the answer in {self.name} {error}") from None
        spent = read_spent(record)
        return value if spent is None else make_answer(value, spent)
