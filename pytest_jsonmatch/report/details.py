"""What a report shows of one comparison beyond its figures: leaves that differ, pairs, and both documents."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.report.documents import document_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.align.audited import ArrayAudit
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import JsonValue

__all__ = ["MAX_LEAVES", "details_of", "details_of_leaves"]

MAX_LEAVES: Final = 50
"""How many leaves of a comparison are kept."""
_MAX_TEXT: Final = 1000
# All values of a comparison together: thousands of comparisons have to fit into memory.
_MAX_TEXTS: Final = 20_000
_MAX_PATH: Final = 500
_MAX_REASON: Final = 200
_MAX_ARRAYS: Final = 5
_MAX_PAIRS: Final = 12
_MAX_ALONE: Final = 8
_MAX_PREVIEW: Final = 40
# Elements are named by their first leaves; of a result with more leaves than this nobody looks for them.
_MAX_SEARCHED: Final = 5000
# Of each side; of what is perfect less, since nobody looks for anything in it.
_MAX_DOCUMENT: Final = 6000
_MAX_PERFECT: Final = 1500
_MAX_MARKED: Final = 400
_WELL: Final = frozenset({"match", "skipped"})


def details_of(result: MatchResult) -> str:
    r"""Return two lines of JSON, in ASCII: what is not right in a result (empty: nothing), and its documents.

    A bounded number of leaves and pairs is kept, and long values and documents are clipped: it has to travel
    between processes, and to fit on a page.

    >>> from pytest_jsonmatch import compare_json
    >>> details_of(compare_json({"a": 1}, {"a": 1})).splitlines()
    ['', '{"expected": [["=", "{\\n  \\"a\\": 1\\n}"]]}']
    >>> wrong, _ = details_of(compare_json({"a": "x"}, {"a": "y"})).splitlines()
    >>> json.loads(wrong)["leaves"][0][:6]
    ['a', 'a', 'mismatch', 0.0, '"y"', '"x"']
    """
    is_perfect = result.score == 1.0 and not result.errors and set(result.counts) <= _WELL
    return f"{'' if is_perfect else _wrong(result)}\n{_documents(result, is_perfect=is_perfect)}"


def _wrong(result: MatchResult) -> str:
    found = {**_leaves(result.field_results), "arrays": _arrays(result)}
    return json.dumps({key: value for key, value in found.items() if value})


def _leaves(results: Iterable[FieldResult]) -> dict[str, Any]:
    """Return what differs, and how many leaves more there was no room for."""
    kept: list[list[Any]] = []
    more, room = 0, _MAX_TEXTS
    for leaf in _differing(results):
        if len(kept) < MAX_LEAVES and room > 0:
            kept.append(_leaf(leaf))
            room -= sum(len(text) for text in kept[-1] if isinstance(text, str))
        else:
            more += 1
    return {"leaves": kept, "more": more}


def _documents(result: MatchResult, *, is_perfect: bool) -> str:
    """Return both documents as marked text; actual is left out where it reads as expected does."""
    limit = _MAX_PERFECT if is_perfect else _MAX_DOCUMENT
    marked: tuple[set[str], set[str]] = set(), set()
    room = _MAX_TEXTS
    for leaf in () if is_perfect else islice(_differing(result.field_results), _MAX_MARKED):
        for paths, path in zip(marked, (leaf.expected_path, leaf.actual_path), strict=True):
            if path is not None:
                paths.add(path)
                room -= len(path)
        if room < 0:
            break
    expected, actual = result.documents
    found: dict[str, Any] = {"expected": document_runs(expected, marked[0], "-", limit)}
    other = None if actual is MISSING else document_runs(actual, marked[1], "+", limit)
    if other != found["expected"]:
        found["actual"] = other
    return json.dumps(found)


def _differing(results: Iterable[FieldResult]) -> Iterator[FieldResult]:
    for each in results:
        if each.status not in _WELL:
            yield from each.differences or (each,)


def _leaf(leaf: FieldResult) -> list[Any]:
    texts = (_text(leaf.expected), _text(leaf.actual))
    reason = leaf.reason or ""
    if len(reason) > _MAX_REASON:
        reason = reason[:_MAX_REASON] + "…"
    paths = (path and path[:_MAX_PATH] for path in (leaf.expected_path, leaf.actual_path))
    return [*paths, leaf.status, leaf.score, *texts, reason]


def _text(value: JsonValue) -> str | None:
    return None if value is MISSING else render(value, _MAX_TEXT)


def _arrays(result: MatchResult) -> list[dict[str, Any]]:
    found = []
    audits = {(each.expected_path, each.actual_path): each for each in result.audit()}
    for each in result.each_alignment():
        audit = audits.get((each.expected_path, each.actual_path))
        unsure = set() if audit is None else {pair.expected for pair in audit.pairs if pair.ambiguous}
        # (What is unsure, and then what is wrong, must not be what is left out.)
        pairs = sorted(each.pairs, key=lambda pair: (pair[0] not in unsure, pair[2]))
        is_well = not each.unmatched_expected and not each.unmatched_actual
        if is_well and all(i == j and score == 1.0 for i, j, score in pairs):
            continue
        shown = [pair for pair in pairs if pair[2] < 1.0 or pair[0] != pair[1] or pair[0] in unsure]
        found.append((each, sorted((shown or pairs)[:_MAX_PAIRS]), audit))
        if len(found) == _MAX_ARRAYS:
            break
    if not found:
        return []
    stems = (
        {_stem(each.expected_path) for each, _, _ in found},
        {_stem(each.actual_path) for each, _, _ in found},
    )
    previews = _previews(result, stems)
    return [
        {**_array(each, pairs, previews), **({} if each.kind == "key" else _audit(audit, pairs))}
        for each, pairs, audit in found
    ]


def _audit(audit: ArrayAudit | None, pairs: list[tuple[int, int, float]]) -> dict[str, Any]:
    """Return, by index in expected, what else the pairs shown could have been, or why nobody has looked."""
    if audit is None:
        return {"unaudited": "this is none of the first arrays"}
    if audit.reason is not None:
        return {"unaudited": audit.reason}
    shown = {pair[0] for pair in pairs}
    return {
        "audit": {
            pair.expected: [best and best.index, best and best.score, pair.margin]
            for pair in audit.pairs
            if pair.expected in shown
            for best in [pair.next_actual]
        }
    }


def _array(
    each: ArrayAlignment, pairs: list[tuple[int, int, float]], previews: tuple[dict[str, str], dict[str, str]]
) -> dict[str, Any]:
    expected, actual = each.unmatched_expected[:_MAX_ALONE], each.unmatched_actual[:_MAX_ALONE]
    sides = (
        (each.expected_path, {*(pair[0] for pair in pairs), *expected}),
        (each.actual_path, {*(pair[1] for pair in pairs), *actual}),
    )
    names = [
        {index: text for index in indices if (text := texts.get(f"{_stem(path)}[{index}]"))}
        for (path, indices), texts in zip(sides, previews, strict=True)
    ]
    return {
        "path": each.expected_path,
        "kind": each.kind,
        "pairs": [list(pair) for pair in pairs],
        "expected": list(expected),
        "actual": list(actual),
        "of": [len(each.pairs), len(each.unmatched_expected), len(each.unmatched_actual)],
        "names": names,
    }


def _stem(path: str) -> str:
    return "" if path == "$" else path


def _previews(result: MatchResult, stems: tuple[set[str], set[str]]) -> tuple[dict[str, str], dict[str, str]]:
    """Return by the path of each element of some arrays, on either side, its first values as a text."""
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    results = result.field_results
    if len(results) > _MAX_SEARCHED:
        return found
    for leaf in results:
        sides = (leaf.expected_path, leaf.expected), (leaf.actual_path, leaf.actual)
        for texts, arrays, (path, value) in zip(found, stems, sides, strict=True):
            if path is None or value is MISSING:
                continue
            for element in _elements(path, arrays):
                before = texts.get(element, "")
                if len(before) < _MAX_PREVIEW:
                    own = value[:_MAX_PREVIEW] if type(value) is str else render(value, _MAX_PREVIEW)
                    texts[element] = f"{before}, {own}" if before else own
    return found


def _elements(path: str, arrays: Iterable[str]) -> Iterator[str]:
    """Yield the paths of the elements of arrays that a leaf's path leads through."""
    for stem in arrays:
        if path.startswith(f"{stem}["):
            yield path[: path.index("]", len(stem)) + 1]


def details_of_leaves(results: Iterable[FieldResult]) -> str:
    """Return as JSON, in ASCII, what differs in a record of a corpus; "" if nothing does.

    It is what `details_of` says of it, without the pairs of its arrays and without its documents.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"a": "x"}, {"a": "y"})
    >>> json.loads(details_of_leaves(result.field_results))["leaves"][0][:6]
    ['a', 'a', 'mismatch', 0.0, '"y"', '"x"']
    """
    found = _leaves(results)
    return json.dumps({key: value for key, value in found.items() if value}) if found["leaves"] else ""
