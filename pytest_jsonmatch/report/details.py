"""What a report shows of one comparison beyond its figures: leaves that differ, pairs, and both documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.compare.transforms import map_scalars
from pytest_jsonmatch.engine.value.convert import MISSING, JsonValue, form_of
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.engine.value.text import count, render
from pytest_jsonmatch.report.escape import clip, printable
from pytest_jsonmatch.report.figures import short_figure
from pytest_jsonmatch.report.textdiff import DiffSpan, spans

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult

MAX_LEAVES: Final = 50
"""Keep at most this many leaves of a comparison."""
_MAX_TEXT: Final = 1000
# For all values of a comparison together: thousands of comparisons must fit into memory.
_MAX_TEXTS: Final = 20_000
_MAX_PATH: Final = 500
_MAX_REASON: Final = 200
_MAX_ARRAYS: Final = 5
_MAX_PAIRS: Final = 12
_MAX_ALONE: Final = 8
_MAX_PREVIEW: Final = 40
_MAX_VALUES: Final = 10
_MAX_NAME: Final = 60
# For each side; less for a perfect comparison, which is rarely looked at.
_MAX_DOCUMENT: Final = 6000
_MAX_PERFECT: Final = 1500
_WELL: Final = frozenset({"match", "skipped"})
_EVIDENT: Final = frozenset({"missing", "not in expected"})
"""Reasons that the two sides already show."""


def details_of(result: MatchResult) -> str:
    r"""Return two lines of ASCII JSON: what is wrong in a result (empty for nothing), and its documents.

    The script of an HTML report draws them. The numbers of leaves and pairs are limited, and long values and
    documents are clipped: the text must travel between processes, and fit on a page.

    >>> from pytest_jsonmatch import compare_json
    >>> details_of(compare_json({"a": 1}, {"a": 1})).splitlines()
    ['', '[[["=", "{\\n  \\"a\\": 1\\n}"]], 0]']
    >>> wrong, _ = details_of(compare_json({"a": "x"}, {"a": "y"})).splitlines()
    >>> json.loads(wrong)["leaves"][0]["e"]
    [['=', '"'], ['-', 'y'], ['=', '"']]
    """
    is_perfect = result.score == 1.0 and not result.errors and set(result.counts) <= _WELL
    return f"{'' if is_perfect else _wrong(result)}\n{_documents(result, is_perfect=is_perfect)}"


def _wrong(result: MatchResult) -> str:
    found = _leaves(result.field_results)
    if arrays := list(islice(_arrays(result), _MAX_ARRAYS)):
        found["arrays"] = arrays
    return json.dumps(found)


def _leaves(results: Iterable[FieldResult]) -> dict[str, Any]:
    """Return the leaves that differ, and how many more there was no room for."""
    kept: list[dict[str, Any]] = []
    more, room = 0, _MAX_TEXTS
    for leaf in _differing(results):
        if len(kept) < MAX_LEAVES and room > 0:
            kept.append(_leaf(leaf))
            room -= sum(len(text) for side in "ea" for _, text in kept[-1][side] or ())
        else:
            more += 1
    return {"leaves": kept, **({"more": more} if more else {})}


def _documents(result: MatchResult, *, is_perfect: bool) -> str:
    """Return both documents as text; actual is null if it is missing, and 0 if both are the same."""
    limit = _MAX_PERFECT if is_perfect else _MAX_DOCUMENT
    expected, actual = (
        None if document is MISSING else [["=", _document(document, limit)]] for document in result.documents
    )
    return json.dumps([expected, 0 if actual == expected else actual])


def _document(value: JsonValue, limit: int) -> str:
    """Return a JSON value as indented, printable text; a line with "…" replaces what is beyond the limit."""
    text, plain = "", map_scalars(value, form_of)
    for part in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(plain):
        text += part
        if len(text) > limit:
            text = f"{text[:limit]}\n…"
            break
    return "\n".join(map(printable, text.split("\n")))


def _differing(results: Iterable[FieldResult]) -> Iterator[FieldResult]:
    for each in results:
        if each.status not in _WELL:
            yield from each.differences or (each,)


def _leaf(leaf: FieldResult) -> dict[str, Any]:
    """Return one leaf: path, status, score, both sides; path in actual and reason if they add anything."""
    sides = sides_of(_text(leaf.expected), _text(leaf.actual))
    paths = [clip(path, _MAX_PATH) for path in (leaf.expected_path, leaf.actual_path) if path]
    shown = {
        "p": paths[0] if paths else "",
        "k": leaf.status,
        "s": short_figure(leaf.score),
        "e": sides[0],
        "a": sides[1],
    }
    if paths[1:] and paths[1] != paths[0]:
        shown["q"] = paths[1]
    if leaf.reason and leaf.reason not in _EVIDENT:
        shown["y"] = clip(leaf.reason, _MAX_REASON)
    return shown


def sides_of(expected: str | None, actual: str | None) -> Any:
    """Return the texts of both sides as spans; in two strings, what only one has is marked."""
    texts = expected, actual
    if expected is not None and actual is not None and expected[:1] == actual[:1] == '"':
        different = spans(expected, actual)
        return [_side(different, "-"), _side(different, "+")]
    return [None if text is None else [("=", printable(text))] for text in texts]


def _text(value: JsonValue) -> str | None:
    return None if value is MISSING else render(value, _MAX_TEXT)


def _side(different: Iterable[DiffSpan], own: str) -> list[list[str]]:
    """Return the spans of one side, its own ones marked."""
    pieces: list[list[str]] = []
    for kind, text in different:
        if kind == "=" and pieces and pieces[-1][0] == "=":
            pieces[-1][1] += printable(text)
        elif kind in {"=", own}:
            pieces.append([kind, printable(text)])
    return pieces


# -- arrays ------------------------------------------------------------------------------------------------


def _arrays(result: MatchResult) -> Iterator[dict[str, Any]]:
    """Yield the arrays in which there is something to show."""
    for each in result.alignments:
        # Wrong pairs come first: they must not be the ones left out.
        pairs = sorted(each.pairs, key=lambda pair: pair[2])
        is_well = not each.unmatched_expected and not each.unmatched_actual
        if is_well and all(i == j and score == 1.0 for i, j, score in pairs):
            continue
        shown = [pair for pair in pairs if pair[2] < 1.0 or pair[0] != pair[1]]
        yield _array(each, sorted((shown or pairs)[:_MAX_PAIRS]), result.documents)


def _array(
    alignment: ArrayAlignment,
    pairs: list[tuple[int, int, float]],
    documents: tuple[JsonValue, JsonValue],
) -> dict[str, Any]:
    """Return one array: path, notes, the pairs shown, elements without a partner, names of elements."""
    expected, actual = alignment.unmatched_expected[:_MAX_ALONE], alignment.unmatched_actual[:_MAX_ALONE]
    sides = (
        (alignment.expected_path, {*(pair[0] for pair in pairs), *expected}),
        (alignment.actual_path, {*(pair[1] for pair in pairs), *actual}),
    )
    names = [
        {index: _name(elements[index]) for elements in [_at(document, path)] for index in indices}
        for (path, indices), document in zip(sides, documents, strict=True)
    ]
    return {
        "p": clip(alignment.expected_path, _MAX_PATH),
        "note": ", ".join(_notes(alignment, len(pairs), len(expected) + len(actual))),
        "pairs": [[i, j, short_figure(score)] for i, j, score in pairs],
        "expected": expected,
        "actual": actual,
        "e": names[0],
        "a": names[1],
    }


def _notes(alignment: ArrayAlignment, pairs: int, alone: int) -> Iterator[str]:
    """Yield notes on an array, of which `pairs` pairs and `alone` unpaired elements are shown."""
    only_expected, only_actual = len(alignment.unmatched_expected), len(alignment.unmatched_actual)
    yield f"{count(len(alignment.pairs), 'pair')} {'by key' if alignment.kind == 'key' else 'by best fit'}"
    if hidden := len(alignment.pairs) - pairs:
        yield f"{count(hidden)} of them in place and right, or not shown"
    if only_expected:
        yield f"{count(only_expected)} only expected"
    if only_actual:
        yield f"{count(only_actual)} only in actual"
    if hidden := only_expected + only_actual - alone:
        yield f"{count(hidden)} of these not shown"


def _at(document: JsonValue, path: str) -> Any:
    """Return the value at an instance path."""
    found: Any = document
    for key in parse_path(path):
        found = found[key]
    return found


def _name(element: JsonValue) -> str:
    """Return the first values in an element as a short name for it."""
    values: Any = [element]
    if type(element) is dict or type(element) is list:
        values = element.values() if type(element) is dict else element
    texts = (
        value if type(value) is str else render(value, _MAX_PREVIEW) for value in islice(values, _MAX_VALUES)
    )
    return clip(", ".join(text[:_MAX_PREVIEW] for text in texts), _MAX_NAME)
