"""The details of a comparison for a page: the values that differ, and both documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.comparators.transforms import map_scalars
from pytest_jsonmatch.engine.result.collapse import collapse
from pytest_jsonmatch.engine.value.convert import MISSING, JsonValue, to_file_form
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.report.blocks import RowDetail, ShownDifference
from pytest_jsonmatch.report.escape import clip
from pytest_jsonmatch.report.formatting import STATUS_WORDS

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult

MAX_LEAVES: Final = 50
"""Keep at most this many leaves of a comparison."""
_MAX_TEXT: Final = 1000
# The characters of all values of a comparison: thousands of comparisons must fit into memory.
_MAX_TEXTS: Final = 20_000
_MAX_PATH: Final = 500
_MAX_REASON: Final = 200
# The characters of each side; fewer for a perfect comparison, whose details are rarely needed.
_MAX_DOCUMENT: Final = 6000
_MAX_PERFECT: Final = 1500
_WELL: Final = frozenset({"match", "skipped"})
_EVIDENT: Final = frozenset({"missing", "not in expected"})
"""Reasons that the two sides already show."""


def details_of(result: MatchResult) -> str:
    r"""Return two lines of ASCII JSON: the differences in a result (empty if none), and its documents.

    The number of leaves is limited, and long values and documents are clipped, since the text is sent between
    processes and must fit on a page.

    >>> from pytest_jsonmatch import compare_json
    >>> details_of(compare_json({"a": 1}, {"a": 1})).splitlines()
    ['', '["{\\n  \\"a\\": 1\\n}", 0]']
    >>> detail_from(details_of(compare_json({"a": "x"}, {"a": "y"}))).differences[0].expected
    '"y"'
    """
    is_perfect = result.score == 1.0 and not result.errors and set(result.counts) <= _WELL
    wrong = "" if is_perfect else json.dumps(_leaves(_differing(result)))
    return f"{wrong}\n{_documents(result, is_perfect=is_perfect)}"


def detail_from(text: str, title: str = "", notes: Iterable[str] = ()) -> RowDetail:
    """Return the row detail from the text of `details_of`, whose second line may be left out."""
    wrong, _, documents = text.partition("\n")
    found = json.loads(wrong) if wrong else {"leaves": []}
    expected, actual = json.loads(documents) if documents else (None, None)
    return RowDetail(
        title,
        differences=[ShownDifference(*leaf) for leaf in found["leaves"]],
        more=found.get("more", 0),
        notes=tuple(notes),
        documents=(expected, expected if actual == 0 else actual) if documents else None,
    )


def _leaves(results: Iterable[FieldResult]) -> dict[str, object]:
    """Return the leaves that differ up to a limit, and the number of the others."""
    kept: list[ShownDifference] = []
    more, room = 0, _MAX_TEXTS
    for leaf in results:
        if len(kept) < MAX_LEAVES and room > 0:
            kept.append(_leaf(leaf))
            room -= sum(len(side or "") for side in (kept[-1].expected, kept[-1].actual))
        else:
            more += 1
    return {"leaves": kept, **({"more": more} if more else {})}


def _differing(result: MatchResult) -> list[FieldResult]:
    """Return the leaves that differ; those that one sentence explains are one result."""
    found = (field for field in result.field_results if field.status not in _WELL)
    leaves = (leaf for field in found for leaf in field.differences or (field,))
    return collapse(leaves, result.documents)


def _leaf(leaf: FieldResult) -> ShownDifference:
    paths = [clip(path, _MAX_PATH) for path in (leaf.expected_path, leaf.actual_path) if path]
    return ShownDifference(
        paths[0] if paths else "",
        STATUS_WORDS[leaf.status],
        _text(leaf.expected),
        _text(leaf.actual),
        score=leaf.score,
        reason="" if not leaf.reason or leaf.reason in _EVIDENT else clip(leaf.reason, _MAX_REASON),
        actual_path=paths[1] if paths[1:] and paths[1] != paths[0] else "",
    )


def _text(value: JsonValue) -> str | None:
    return None if value is MISSING else render(value, _MAX_TEXT)


def _documents(result: MatchResult, *, is_perfect: bool) -> str:
    """Return both documents as JSON text; a missing side is null, and an actual equal to expected is 0."""
    limit = _MAX_PERFECT if is_perfect else _MAX_DOCUMENT
    expected, actual = (
        None if document is MISSING else _document(document, limit) for document in result.documents
    )
    return json.dumps([expected, 0 if actual == expected else actual])


def _document(value: JsonValue, limit: int) -> str:
    """Return a JSON value as indented text; a line with "…" replaces the text beyond the limit."""
    text, plain = "", map_scalars(value, to_file_form)
    for part in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(plain):
        text += part
        if len(text) > limit:
            return f"{text[:limit]}\n…"
    return text
