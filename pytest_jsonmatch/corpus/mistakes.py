"""Mistakes in how a corpus is given: answers and gold swapped, or in another order."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from io import BufferedIOBase
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.comparing.comparer import TEXT
from pytest_jsonmatch.corpus.fitting_columns import compare_other_kinds, find_fitting_arguments
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonMatchError,
    choose_words,
    name_argument,
    write_argument,
)
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.records.answers import read_spent
from pytest_jsonmatch.records.columns import find_column
from pytest_jsonmatch.records.csvrows import CsvRow
from pytest_jsonmatch.records.sources import RecordSource
from pytest_jsonmatch.results.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_jsonmatch.records.pairing import Reading
    from pytest_jsonmatch.results.run import RunResult

_SWAPPED: Final = "are they swapped (answers come first)"
SWAPPED: Final = f"{_SWAPPED}?"
"""The question about sides that seem to be swapped."""
_FEWEST: Final = 3
"""Fewer records show no mistake."""
_LOW: Final = 0.5
"""A run with at most this mean score may compare the wrong columns."""
_SAMPLE: Final = 100
"""The number of records of each side that are read again to see which side has answers."""
_MOST_READ: Final = 10_000
"""The maximum number of records of a corpus that is read again to check the order of answers."""


def find_mistakes(run: RunResult, answers: Any, gold: Any, reading: Reading) -> Iterator[str]:
    """Yield messages on sides that seem swapped or in different orders, in a run that is not perfect.

    Args:
        run: the result.
        answers: the answers, as given to `compare_corpus`. Sides that can be read only once are not checked.
        gold: the gold records.
        reading: the columns of both sides.
    """
    if run.mean_score is None or run.mean_score == 1.0:
        return
    names = _name(answers, "the answers"), _name(gold, "the gold records")
    has_few = run.total_records < _FEWEST
    is_swapped = not has_few and are_swapped(answers, gold, reading)
    samples = _read_samples(answers, gold, reading) if run.mean_score <= _LOW else None
    arguments = {} if samples is None else find_fitting_arguments(*samples, reading)
    shown = _write(arguments)
    if is_swapped:
        parsing = f" If not, parse their JSON text with {shown}" if "fields" in arguments else ""
        yield f"{names[1]} look like answers: {SWAPPED}{parsing}"
    elif arguments:
        yield _describe_forms(names, arguments)
    elif samples is not None and compare_other_kinds(*samples, reading):
        column = f"name the column of the answer with {name_argument('actual')}"
        yield f"{names[0]} are objects, but what is expected in {names[1]} is not: {column}"
    elif has_few:
        return
    elif _shares_no_field(run):
        columns = (
            "" if reading.expected is not None and reading.actual is not None else ", or is a column missing"
        )
        yield f"{names[0]} and {names[1]} share no field: {_SWAPPED}{columns}?"
    elif reading.id is None and run.total_records <= _MOST_READ:
        yield from _find_order(answers, gold, reading)


def _write(arguments: Mapping[str, Any]) -> str:
    return choose_words(", ", " ").join(write_argument(*argument) for argument in arguments.items())


def _describe_forms(names: tuple[str, str], arguments: Mapping[str, Any]) -> str:
    return f"{names[0]} and {names[1]} have different forms; they are alike with {_write(arguments)}"


def find_other_forms(answers: Any, gold: Any, reading: Reading) -> str | None:
    """Return a message about columns in which answers and gold are much more alike than in those compared."""
    samples = _read_samples(answers, gold, reading)
    arguments = {} if samples is None else find_fitting_arguments(*samples, reading)
    if not arguments:
        return None
    return _describe_forms((_name(answers, "the answers"), _name(gold, "the gold records")), arguments)


def _read_samples(answers: Any, gold: Any, reading: Reading) -> tuple[list[Any], list[Any]] | None:
    """Return the first records of both sides; None if one can be read only once."""
    sides = [_read_again(records, reading, _SAMPLE) for records in (answers, gold)]
    if sides[0] is None or sides[1] is None:
        return None
    given = [record.value if isinstance(record, Answer) else record for record in sides[0]]
    return [*map(_parse, given)], [*map(_parse, sides[1])]


def are_swapped(answers: Any, gold: Any, reading: Reading) -> bool:
    """Return whether most of the gold records are answers of models by their form, and no answer is one.

    An answer is text with JSON in it, an `Answer`, or has a cost and latency.
    """
    sides = []
    for records, column in ((gold, reading.expected), (answers, reading.actual)):
        sample = _read_again(records, reading, _SAMPLE)
        if not sample:
            return False
        sides.append(sum(_is_of_model(record, column) for record in sample) / len(sample))
    return sides[0] > 0.5 and not sides[1]


def _is_of_model(record: Any, column: object) -> bool:
    """Return whether a record has the form of a model's answer."""
    if isinstance(record, Answer):
        return True
    value = _parse(record)
    if type(value) is dict and isinstance(column, str):
        with suppress(ConfigurationError):
            if read_spent(value) is not None:
                return True
        value = find_column(value, column)
    if isinstance(value, Answer):
        return True
    if not isinstance(value, TEXT) or b"{" not in _as_bytes(value):
        return False
    with suppress(JsonMatchError):
        found = extract_json(value).value
        return type(found) is dict or (type(found) is list and any(type(item) is dict for item in found))
    return False


def _parse(record: Any) -> Any:
    """Return the JSON value of a record; the record itself if it is not JSON."""
    with suppress(JsonMatchError):
        if type(record) is CsvRow:
            return record.read()
        if isinstance(record, TEXT):
            return parse_json(record)
    return record


def _as_bytes(text: str | bytes | bytearray) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)


def _shares_no_field(run: RunResult) -> bool:
    """Return whether both sides have fields, but none is in both."""
    fields = run.all_fields.values()
    has_both = all(any(getattr(field, name) for field in fields) for name in ("omissions", "hallucinations"))
    return has_both and not any(field.matches or field.mismatches for field in fields)


def _find_order(answers: Any, gold: Any, reading: Reading) -> Iterator[str]:
    """Yield a message if the values of a member show that answers are in another order than the gold."""
    sides = [_read_again(records, reading, _MOST_READ) for records in (answers, gold)]
    if not all(sides):
        return
    rows = [[value if type(value) is dict else {} for value in map(_parse, side or ())] for side in sides]
    first = next((record for record in rows[1] if record), {})
    for member in sorted(first, key=lambda member: "id" not in str(member).lower()):
        columns = [[record.get(member) for record in side] for side in rows]
        if _is_moved(*columns):
            yield (
                f"{member} differs by position, but both sides have the same values: are they in another "
                f"order? Pair them by {write_argument('id', member)}"
            )
            return


def _is_moved(answers: Sequence[Any], gold: Sequence[Any]) -> bool:
    """Return whether unique values of gold are in the answers, but at other positions."""
    ours, named = ({value for value in side if type(value) in {str, int}} for side in (answers, gold))
    if not _FEWEST <= len(named) == len(gold) or 2 * len(named & ours) <= len(named):
        return False
    differing = sum(one != other for one, other in zip(answers, gold)) + abs(len(gold) - len(answers))
    is_complete = ours <= named and len(ours) == len(answers)
    return differing > 0 and (is_complete or 2 * differing > len(gold))


def _read_again(records: Any, reading: Reading, limit: int) -> list[Any] | None:
    """Return the first records of a side; None if it can be read only once."""
    if callable(records) or hasattr(records, "__next__") or isinstance(records, BufferedIOBase):
        return None
    if isinstance(records, (str, PathLike)) and Path(records).exists():
        path = Path(records)
        if not path.is_file() and not path.is_dir():
            return None  # a pipe
    if isinstance(records, Mapping):
        records = [*records.values()]
    with (
        suppress(JsonMatchError, OSError),
        # Gold that is not strict JSON may be answers, which are read tolerantly.
        RecordSource(records, "actual", delimiter=reading.delimiter, is_single_allowed=True) as source,
    ):
        return [record for _, record, _ in islice(source, limit)]
    return None


def _name(records: Any, name: str) -> str:
    """Return the file of a side, or its name."""
    return str(records) if isinstance(records, (str, PathLike)) else name
