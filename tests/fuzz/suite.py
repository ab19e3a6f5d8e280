"""JSONTestSuite (github.com/nst/JSONTestSuite): 318 files that parsers of JSON should take, or should not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pytest_jsonmatch import JsonMatchError, JsonParseError, extract_json
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.reading.yamlevents import load


def check_suite(folder: Path) -> tuple[Counter[str], list[str]]:
    """Read every file of the suite; return how many there are by verdict (y, n, i), and what is wrong."""
    counts, wrong = Counter(), []
    for path in sorted(folder.glob("test_parsing/[yni]_*.json")):
        counts[path.name[0]] += 1
        try:
            wrong += [
                f"{path.name}: {complaint}" for complaint in complaints(path.name[0], path.read_bytes())
            ]
        except Exception as error:  # noqa: BLE001 - whatever else it is, it is not documented
            wrong.append(f"{path.name}: {error!r}")
    return counts, wrong


def complaints(verdict: str, data: bytes) -> Iterator[str]:
    """What is wrong with how we read one file: y has to be taken, n to be refused, i is free."""
    with suppress(JsonMatchError):
        load(data, "x.yaml")
    try:
        value = repr(parse_json(data))
    except JsonParseError as error:
        # Duplicate keys, which the suite wants taken, are an error in expected data.
        if verdict == "y" and "occurs twice" not in str(error):
            yield f"is refused as expected data: {error}"
    else:
        if verdict == "n" or (verdict == "y" and value != repr(json.loads(data))):
            yield f"is read as {value}"
    for repair in (False, True):
        with suppress(JsonMatchError):
            found = repr(extract_json(data, repair=repair).value)
            if verdict == "y" and found != repr(json.loads(data)):
                yield f"is read as {found} in an answer"
