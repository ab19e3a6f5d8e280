"""What a report shows of one comparison beyond its figures: leaves that differ, side by side, and pairs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.values import MISSING, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_jsonmatch.engine.containers import ArrayAlignment
    from pytest_jsonmatch.engine.results import FieldResult, MatchResult
    from pytest_jsonmatch.engine.values import JsonValue

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
_WELL: Final = frozenset({"match", "skipped"})


def details_of(result: MatchResult) -> str:
    """Return, as JSON in ASCII, what is to be seen of a result that is not perfect; "" of one that is.

    A bounded number of leaves and pairs is kept, and long values are clipped: it has to travel between
    processes, and to fit on a page.

    >>> from pytest_jsonmatch import compare_json
    >>> details_of(compare_json({"a": 1}, {"a": 1}))
    ''
    >>> json.loads(details_of(compare_json({"a": "x"}, {"a": "y"})))["leaves"][0][:6]
    ['a', 'a', 'mismatch', 0.0, '"y"', '"x"']
    """
    if result.score == 1.0 and not result.errors and set(result.counts) <= _WELL:
        return ""
    kept: list[list[Any]] = []
    more, room = 0, _MAX_TEXTS
    for leaf in _differing(result.field_results):
        if len(kept) < MAX_LEAVES and room > 0:
            kept.append(_leaf(leaf))
            room -= sum(len(text) for text in kept[-1] if isinstance(text, str))
        else:
            more += 1
    found = {"leaves": kept, "more": more, "arrays": _arrays(result)}
    return json.dumps({key: value for key, value in found.items() if value})


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
    for each in result.alignments:
        pairs = sorted(each.pairs, key=lambda pair: pair[2])
        is_well = not each.unmatched_expected and not each.unmatched_actual
        if is_well and all(i == j and score == 1.0 for i, j, score in pairs):
            continue
        shown = [pair for pair in pairs if pair[2] < 1.0 or pair[0] != pair[1]][:_MAX_PAIRS]
        found.append((each, sorted(shown or pairs[:_MAX_PAIRS])))
        if len(found) == _MAX_ARRAYS:
            break
    if not found:
        return []
    stems = (
        {_stem(each.expected_path) for each, _ in found},
        {_stem(each.actual_path) for each, _ in found},
    )
    previews = _previews(result, stems)
    return [_array(each, pairs, previews) for each, pairs in found]


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

    It is what `details_of` says of it, without the pairs of its arrays: they are not kept of records.

    >>> from pytest_jsonmatch import compare_json
    >>> result = compare_json({"a": "x"}, {"a": "y"})
    >>> json.loads(details_of_leaves(result.field_results))["leaves"][0][:6]
    ['a', 'a', 'mismatch', 0.0, '"y"', '"x"']
    """
    kept: list[list[Any]] = []
    more, room = 0, _MAX_TEXTS
    for leaf in _differing(results):
        if len(kept) == MAX_LEAVES or room <= 0:
            more += 1
            continue
        kept.append(_leaf(leaf))
        room -= sum(len(text) for text in kept[-1] if isinstance(text, str))
    return json.dumps({"leaves": kept, **({"more": more} if more else {})}) if kept else ""
