"""Plain readings of the five source formulas: what a careful person writes down first, without tricks.

They stand beside the peers in the tables: a figure that differs from ours by more than a stated
difference is a bug in one of the two. Only the standard library, rapidfuzz and scipy are used.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any  # a recursive alias would make every step a cast


def _equal(left: Json, right: Json) -> bool:
    """JSON equality: a boolean is never a number, at any depth."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)


def _leaves(value: Json) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return sum(map(_leaves, value))
    return 1


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Source 1 and 2 ----------------------------------------------------------------------------------


def field_match(expected: Json, actual: Json) -> float:
    """Source 1: the share of expected's top-level keys whose values are deeply equal."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        raise TypeError("field_match compares objects")
    if not expected:
        return 1.0
    wrong = sum(key not in actual or not _equal(value, actual[key]) for key, value in expected.items())
    return 1 - wrong / len(expected)


def _normalized(value: Json) -> Json:
    if isinstance(value, str):
        decomposed = unicodedata.normalize("NFD", value)
        return "".join(char for char in decomposed if unicodedata.category(char) != "Mn").casefold()
    if isinstance(value, dict):
        return {key: _normalized(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_normalized(part) for part in value]
    return value


def field_match_normalized(expected: Json, actual: Json) -> float:
    """Source 2: source 1 after accents are removed and case is folded in every string value."""
    return field_match(_normalized(expected), _normalized(actual))


# Source 3 ----------------------------------------------------------------------------------------


def json_similarity(expected: Json, actual: Json) -> float:
    """Source 3: Σ leaf similarity / expected leaves; strings by edit distance, numbers by relative error."""
    from rapidfuzz.distance.Levenshtein import distance

    def compare(left: Json, right: Json) -> tuple[float, int]:
        if isinstance(left, dict) and isinstance(right, dict):
            parts = [
                compare(value, right[key]) if key in right else (0.0, _leaves(value))
                for key, value in left.items()
            ]
            return sum(part[0] for part in parts), sum(part[1] for part in parts)
        if isinstance(left, list) and isinstance(right, list):
            parts = list(map(compare, left, right))
            return sum(part[0] for part in parts), sum(part[1] for part in parts) + sum(
                map(_leaves, left[len(right) :])
            )
        if isinstance(left, str) and isinstance(right, str):
            longest = max(len(left), len(right))
            return (1 - distance(left, right) / longest if longest else 1.0), 1
        if _is_number(left) and _is_number(right):
            if abs(left) <= 1e-12:
                return float(abs(right) <= 1e-12), 1
            return max(0.0, float(1 - abs(left - right) / abs(left))), 1
        if type(left) is type(right) and not isinstance(left, (dict, list)):
            return float(left == right), 1
        return 0.0, max(1, _leaves(left))

    matched, total = compare(expected, actual)
    return matched / total if total else 1.0


# Source 4 ----------------------------------------------------------------------------------------

_PAIR_THRESHOLD = 0.3
_FRACTION_TOLERANCE, _FRACTION_WEIGHTING = 0.001, 0.1


def _jaccard(left: str, right: str) -> float:
    first, second = set(left.lower().split()), set(right.lower().split())
    return len(first & second) / len(first | second) if first or second else 1.0


def _scalar_similarity(left: Json, right: Json) -> float:
    if isinstance(left, str) and isinstance(right, str):
        return _jaccard(left, right)
    if _is_number(left) and _is_number(right) and (isinstance(left, float) or isinstance(right, float)):
        delta = abs(left - right)
        if delta > _FRACTION_TOLERANCE:
            return 0.0
        return float(1 - (delta / _FRACTION_TOLERANCE) ** (1 / _FRACTION_WEIGHTING))
    if _is_number(left) and _is_number(right):
        return float(left == right)
    return float(type(left) is type(right) and left == right)


def _pairwise(left: Json, right: Json) -> tuple[float, int, int]:
    """Return (Σ score, expected leaves, actual leaves)."""
    if isinstance(left, dict) and isinstance(right, dict):
        parts = [
            _pairwise(left[key], right[key])
            if key in left and key in right
            else (0.0, _leaves(left[key]) if key in left else 0, _leaves(right[key]) if key in right else 0)
            for key in {**left, **right}
        ]
    elif isinstance(left, list) and isinstance(right, list):
        parts = _paired(left, right)
    elif isinstance(left, (dict, list)) or isinstance(right, (dict, list)):
        return 0.0, _leaves(left), _leaves(right)
    else:
        return _scalar_similarity(left, right), 1, 1
    return sum(part[0] for part in parts), sum(part[1] for part in parts), sum(part[2] for part in parts)


def _f1(matched: float, expected_leaves: int, actual_leaves: int) -> float:
    total = expected_leaves + actual_leaves
    return 2 * matched / total if total else 1.0


def _paired(left: list[Json], right: list[Json]) -> list[tuple[float, int, int]]:
    parts: list[tuple[float, int, int]] = []
    chosen: list[tuple[int, int]] = []
    if left and right:
        import numpy as np
        from scipy.optimize import linear_sum_assignment

        table = [[_pairwise(one, other) for other in right] for one in left]
        matrix = np.array([[_f1(*cell) for cell in row] for row in table])
        matrix[matrix <= _PAIR_THRESHOLD] = 0.0
        rows, columns = linear_sum_assignment(matrix, maximize=True)
        chosen = [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if matrix[i, j] > 0]
        parts.extend(table[i][j] for i, j in chosen)
    parts.extend((0.0, _leaves(left[i]), 0) for i in set(range(len(left))) - {i for i, _ in chosen})
    parts.extend((0.0, 0, _leaves(right[j])) for j in set(range(len(right))) - {j for _, j in chosen})
    return parts


def pairwise_f1(expected: Json, actual: Json) -> float:
    """Source 4: F1 over all leaves, arrays paired by the best sum of pair similarities above 0.3."""
    return _f1(*_pairwise(expected, actual))


# Source 5 ----------------------------------------------------------------------------------------


@dataclass
class Leaf:
    """One field result of source 5."""

    path: str
    status: str
    score: float
    comparator: str = ""
    gold: Json = None
    extracted: Json = None


@dataclass
class Record:
    """The figures of one record of source 5."""

    results: list[Leaf]
    precision: float
    recall: float
    f1: float


@dataclass
class Totals:
    """The aggregate of one field path of source 5."""

    scores: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def _figures(results: list[Leaf]) -> Record:
    counts = {"match": 0, "mismatch": 0, "omission": 0, "hallucination": 0}
    for leaf in results:
        counts[leaf.status] += 1
    matches, mismatches = counts["match"], counts["mismatch"]
    produced, wanted = (
        matches + mismatches + counts["hallucination"],
        matches + mismatches + counts["omission"],
    )
    precision = matches / produced if produced else 1.0
    recall = matches / wanted if wanted else 1.0
    return Record(
        results,
        precision,
        recall,
        2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    )


def _one_sided(schema: dict[str, Json], value: Json, path: str, status: str) -> list[Leaf]:
    results: list[Leaf] = []
    if isinstance(value, dict) and "properties" in schema:
        for key, part in value.items():
            below = schema["properties"].get(key, {})
            results.extend(_one_sided(below, part, f"{path}.{key}" if path else key, status))
        return results
    if isinstance(value, list) and "items" in schema:
        for index, part in enumerate(value):
            results.extend(_one_sided(schema["items"], part, f"{path}[{index}]", status))
        return results
    return [Leaf(path, status, 0.0, gold=value)]


def _compare_leaf(schema: dict[str, Json], gold: Json, extracted: Json, path: str) -> Leaf:
    comparator = "numeric" if schema.get("type") in {"number", "integer"} else "exact"
    if comparator == "numeric":
        same = _is_number(gold) and _is_number(extracted) and gold == extracted
    else:
        same = type(gold) is type(extracted) and gold == extracted
    return Leaf(path, "match" if same else "mismatch", float(same), comparator, gold, extracted)


def _schema_node(schema: dict[str, Json], gold: Json, extracted: Json, path: str) -> list[Leaf]:
    if "properties" in schema and isinstance(gold, dict) and isinstance(extracted, dict):
        results: list[Leaf] = []
        properties: dict[str, dict[str, Json]] = schema["properties"]
        for key, below in properties.items():
            inner = f"{path}.{key}" if path else key
            if key in gold and key in extracted:
                results.extend(_schema_node(below, gold[key], extracted[key], inner))
            elif key in gold:
                results.extend(_one_sided(below, gold[key], inner, "omission"))
            elif key in extracted:
                results.extend(_one_sided(below, extracted[key], inner, "hallucination"))
        results.extend(
            Leaf(f"{path}.{key}", "hallucination", 0.0) for key in extracted if key not in properties
        )
        return results
    if "items" in schema and isinstance(gold, list) and isinstance(extracted, list):
        return _hungarian(schema["items"], gold, extracted, path)
    return [_compare_leaf(schema, gold, extracted, path)]


def _hungarian(schema: dict[str, Json], gold: list[Json], extracted: list[Json], path: str) -> list[Leaf]:
    results: list[Leaf] = []
    chosen: list[tuple[int, int]] = []
    if gold and extracted:
        import numpy as np
        from scipy.optimize import linear_sum_assignment

        table = [
            [_schema_node(schema, one, other, f"{path}[{i}]") for other in extracted]
            for i, one in enumerate(gold)
        ]
        matrix = np.array([[_figures(cell).f1 for cell in row] for row in table])
        rows, columns = linear_sum_assignment(matrix, maximize=True)
        chosen = [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if matrix[i, j] > 0]
        for i, j in chosen:
            results.extend(table[i][j])
    for i in sorted(set(range(len(gold))) - {i for i, _ in chosen}):
        results.extend(_one_sided(schema, gold[i], f"{path}[{i}]", "omission"))
    for j in sorted(set(range(len(extracted))) - {j for _, j in chosen}):
        results.extend(_one_sided(schema, extracted[j], f"{path}[{j}]", "hallucination"))
    return results


def leaf_f1(expected: list[Json], actual: list[Json], schema: dict[str, Json]) -> float:
    """Source 5: the mean F1 of the records, with a result per field and totals per path."""
    records: list[Record] = []
    per_field: dict[str, Totals] = defaultdict(Totals)
    for gold, extracted in zip(expected, actual, strict=True):
        record = _figures(_schema_node(schema, gold, extracted, ""))
        for leaf in record.results:
            totals = per_field[leaf.path]
            totals.scores.append(leaf.score)
            totals.statuses[leaf.status] += 1
        records.append(record)
    return sum(record.f1 for record in records) / len(records)
