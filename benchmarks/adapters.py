"""The peers, ourselves and the plain readings behind one form: a pair or a list of pairs in, a score out.

Each factory runs inside its peer's own environment and imports the peer there; nothing else may be
imported at module level. Peers are called as directly as they allow: prepared models and schemas, no
parsing, no reports.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import readings
from workloads import example

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workloads import Json, Shape

PairScorer = Callable[["Json", "Json"], float]
CorpusScorer = Callable[[list["Json"], list["Json"]], float]

FLAT = ("W1", "W5")
ARRAYS = ("W2", "W3", "W4", "W6")
ALL = FLAT + ARRAYS
OURS = "ours"


class NotThereError(Exception):
    """What was asked for does not exist in this environment (yet)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: who, where it lives, which of our metrics it stands against, and how to call it."""

    name: str
    environment: str
    against: str
    workloads: tuple[str, ...]
    make: Callable[[Shape], PairScorer] | None = None
    make_corpus: Callable[[Shape], CorpusScorer] | None = None


_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean"}


def json_schema(shape: Shape) -> dict[str, Json]:
    """Return the eval schema of a shape; every array is unordered."""
    if isinstance(shape, str):
        return {"type": _TYPES.get(shape, "string")}
    if isinstance(shape, list):
        return {"type": "array", "items": json_schema(shape[0]), "x-eval-align": {"match_by": "hungarian"}}
    return {"type": "object", "properties": {key: json_schema(part) for key, part in shape.items()}}


def eval_schema(shape: Shape) -> dict[str, Json]:
    """Return the eval schema as users make it: inferred, annotated, and arrays said to be unordered."""
    from pytest_jsonmatch.schema import annotate_xeval, infer_schema

    schema = annotate_xeval(infer_schema([example(shape)]))
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.get("properties", {}).values())
        if node["type"] == "array":
            node["x-eval-align"] = {"match_by": "hungarian"}
            waiting.append(node["items"])
    return schema


# Ourselves ---------------------------------------------------------------------------------------


def _ours(metric: str, **options: object) -> Callable[[Shape], PairScorer]:
    def make(_shape: Shape) -> PairScorer:
        compare = _compare_json(metric, options)

        def score(expected: Json, actual: Json) -> float:
            return float(compare(actual, expected, metric=metric, **options).score)

        return score

    return make


def _ours_with_details(metric: str, **options: object) -> Callable[[Shape], PairScorer]:
    """Read path, status and score of every field result, as a report of everything would."""

    def make(_shape: Shape) -> PairScorer:
        compare = _compare_json(metric, options)

        def score(expected: Json, actual: Json) -> float:
            result = compare(actual, expected, metric=metric, **options)
            _look_at(result.field_results)
            return float(result.score)

        return score

    return make


def _look_at(leaves: Iterable[Any]) -> float:
    total = 0.0
    for leaf in leaves:
        if leaf.path and leaf.status:
            total += leaf.score
    return total


def _ours_by_schema(factory: Callable[..., Callable[[Shape], PairScorer]]) -> Callable[[Shape], PairScorer]:
    """Compare one pair after the other under an eval schema, which is parsed once, as peers' models are."""

    def make(shape: Shape) -> PairScorer:
        from pytest_jsonmatch.schema import parse_eval_schema

        return factory("leaf_f1", schema=parse_eval_schema(eval_schema(shape)))(shape)

    return make


def _compare_json(metric: str, options: dict[str, object]) -> Callable[..., Any]:
    try:
        from pytest_jsonmatch import ConfigurationError, compare_json
    except ImportError as error:
        raise NotThereError(f"compare_json: {error}") from error
    try:
        compare_json({}, {}, metric=metric, **options)
    except ConfigurationError as error:
        raise NotThereError(str(error)) from error
    return compare_json


def _ours_evaluate(shape: Shape) -> CorpusScorer:
    """Run source 5's own workflow: a corpus, a schema as a dict, the mean F1."""
    from pytest_jsonmatch import compare_corpus

    schema = eval_schema(shape)

    def score(expected: list[Json], actual: list[Json]) -> float:
        mean = compare_corpus(actual, expected, schema=schema, keep="none").mean_f1
        return 0.0 if mean is None else mean

    return score


def _ours_evaluate_with_details(shape: Shape) -> CorpusScorer:
    """Do so with all field results kept, and look at each, which source 5 always keeps."""
    from pytest_jsonmatch import compare_corpus

    schema = eval_schema(shape)

    def score(expected: list[Json], actual: list[Json]) -> float:
        run = compare_corpus(actual, expected, schema=schema, keep="all")
        for record in run.records:
            _look_at(record.field_results)
        return 0.0 if run.mean_f1 is None else run.mean_f1

    return score


# Peers -------------------------------------------------------------------------------------------


def _structeval(_shape: Shape) -> PairScorer:
    from structeval import StructEvaluator

    def score(expected: Json, actual: Json) -> float:
        return float(StructEvaluator.run(actual, expected).sum_metrics.f1_score)

    return score


def _stickler(shape: Shape) -> PairScorer:
    import stickler
    from pydantic import create_model

    scalars: dict[str, Any] = {"integer": int, "number": float, "boolean": bool}

    def model(name: str, part: Shape) -> Any:
        if isinstance(part, str):
            return scalars.get(part, str)
        if isinstance(part, list):
            return types.GenericAlias(list, (model(name, part[0]),))
        members: dict[str, Any] = {
            key: (model(f"{name}_{key}", below) | None, None) for key, below in part.items()
        }
        return create_model(name, **members)

    evaluated = stickler.eval_for(model("Root", shape)).eval_model

    def score(expected: Json, actual: Json) -> float:
        return float(evaluated.from_json(expected).compare_with(evaluated.from_json(actual))["overall_score"])

    return score


def _uipath(_shape: Shape) -> PairScorer:
    from uipath.eval.evaluators import JsonSimilarityEvaluator

    evaluator = JsonSimilarityEvaluator(
        id="json-similarity", evaluatorConfig={"name": "JsonSimilarityEvaluator"}
    )

    def score(expected: Json, actual: Json) -> float:
        # Its own counting without the justification texts, which would cost it more.
        matched, total = evaluator._compare_tokens(expected, actual)  # noqa: SLF001
        return float(matched / total) if total else 1.0

    return score


def _deepdiff(_shape: Shape) -> PairScorer:
    from deepdiff import DeepDiff

    def score(expected: Json, actual: Json) -> float:
        difference = DeepDiff(expected, actual, ignore_order=True, get_deep_distance=True)
        return 1 - float(difference.get("deep_distance", 0.0))

    return score


def _deepdiff_ordered(_shape: Shape) -> PairScorer:
    from deepdiff import DeepDiff

    def score(expected: Json, actual: Json) -> float:
        return 1 - float(DeepDiff(expected, actual, get_deep_distance=True).get("deep_distance", 0.0))

    return score


def _anls_star(_shape: Shape) -> PairScorer:
    from anls_star import anls_score

    return lambda expected, actual: float(anls_score(expected, actual))


def _autoevals(_shape: Shape) -> PairScorer:
    from autoevals import JSONDiff

    scorer = JSONDiff(preserve_strings=True)
    return lambda expected, actual: float(scorer.json_diff(actual, expected))


def _jsondiff(_shape: Shape) -> PairScorer:
    from jsondiff import similarity

    return lambda expected, actual: float(similarity(expected, actual))


def _extract_eval(shape: Shape) -> CorpusScorer:
    from struct_extract_eval import annotate_xeval, evaluate
    from struct_extract_eval.core import scoring

    logging.disable(logging.WARNING)
    # Without its cap of 50 × 50 pairs, above which it falls back to ordered pairing.
    scoring._MAX_HUNGARIAN_PAIRS = 10**12  # noqa: SLF001
    schema = json_schema(shape)
    annotate_xeval(schema)

    def score(expected: list[Json], actual: list[Json]) -> float:
        return float(evaluate(expected, actual, schema).mean_f1)

    return score


# Plain readings and floors -----------------------------------------------------------------------


def _reading(function: PairScorer) -> Callable[[Shape], PairScorer]:
    return lambda _shape: function


def _reading_5(shape: Shape) -> CorpusScorer:
    schema = json_schema(shape)
    return lambda expected, actual: readings.leaf_f1(expected, actual, schema)


def _walk(_shape: Shape) -> PairScorer:
    """Floor of W5: touch every leaf of both sides once, with an explicit stack and no scoring."""

    def score(expected: Json, actual: Json) -> float:
        stack, equal, total = [(expected, actual)], 0, 0
        while stack:
            left, right = stack.pop()
            if isinstance(left, dict) and isinstance(right, dict):
                stack.extend((value, right.get(key)) for key, value in left.items())
            else:
                total += 1
                equal += left == right
        return equal / max(1, total)

    return score


def _assignment_floor(_shape: Shape) -> PairScorer:
    """Floor of W3 and W4: a matrix a column (edit distance, number, equality), their mean, an assignment."""
    import numpy as np
    from rapidfuzz.distance.Levenshtein import normalized_similarity
    from rapidfuzz.process import cdist
    from scipy.optimize import linear_sum_assignment

    def column(left: list[Json], right: list[Json]) -> Any:
        # What is null, missing or of another type is like nothing.
        kind = next((type(value) for value in left if value is not None), str)
        sides = [[value if type(value) is kind else None for value in side] for side in (left, right)]
        if kind is str:
            return cdist(*[[value or "" for value in side] for side in sides], scorer=normalized_similarity)
        numbers = [np.array([np.nan if x is None else x for x in side], dtype=float) for side in sides]
        if kind is float:
            return np.abs(numbers[0][:, None] - numbers[1][None, :]) <= 0.001
        return numbers[0][:, None] == numbers[1][None, :]

    def score(expected: Json, actual: Json) -> float:
        left, right = expected["items"], actual["items"]
        keys = list(dict.fromkeys(key for one in left for key in one)) if isinstance(left[0], dict) else []
        columns = [column([one.get(key) for one in left], [one.get(key) for one in right]) for key in keys]
        matrix = sum(columns) / len(columns) if columns else column(left, right)
        rows, chosen = linear_sum_assignment(matrix, maximize=True)
        return float(matrix[rows, chosen].sum() / len(left))

    return score


UNORDERED = {"arrays": "unordered"}

ROWS: tuple[Row, ...] = (
    Row("json_similarity", OURS, "", FLAT, _ours("json_similarity")),
    Row("json_similarity, all leaf details", OURS, "", FLAT, _ours_with_details("json_similarity")),
    Row("field_match", OURS, "", FLAT, _ours("field_match")),
    Row("field_match, all details", OURS, "", ("W1",), _ours_with_details("field_match")),
    Row("field_match_normalized", OURS, "", FLAT, _ours("field_match_normalized")),
    Row(
        "field_match_normalized, all details",
        OURS,
        "",
        ("W1",),
        _ours_with_details("field_match_normalized"),
    ),
    Row("pairwise_f1", OURS, "", ALL, _ours("pairwise_f1")),
    Row("pairwise_f1, all leaf details", OURS, "", ALL, _ours_with_details("pairwise_f1")),
    Row(
        "pairwise_f1, edit distance",
        OURS,
        "",
        ("W3", "W4"),
        _ours("pairwise_f1", compare={"string": "levenshtein"}),
    ),
    Row("leaf_f1", OURS, "", ALL, _ours("leaf_f1", **UNORDERED)),
    Row("leaf_f1, all leaf details", OURS, "", ("W1",), _ours_with_details("leaf_f1", **UNORDERED)),
    Row("leaf_f1, eval schema", OURS, "", ("W1", *ARRAYS), _ours_by_schema(_ours)),
    Row(
        "leaf_f1, eval schema, all leaf details",
        OURS,
        "",
        ("W1", "W2"),
        _ours_by_schema(_ours_with_details),
    ),
    Row("evaluate, eval schema", OURS, "", ("W1", *ARRAYS), None, _ours_evaluate),
    Row(
        "evaluate, eval schema, all leaf details",
        OURS,
        "",
        ("W1", "W2"),
        None,
        _ours_evaluate_with_details,
    ),
    Row("floor: walk", "readings", "json_similarity", ("W5",), _walk),
    Row(
        "floor: matrix and assignment",
        "readings",
        "pairwise_f1, edit distance",
        ("W3", "W4"),
        _assignment_floor,
    ),
    Row("uipath", "uipath", "json_similarity", FLAT, _uipath),
    Row("structeval", "structeval", "pairwise_f1", ALL, _structeval),
    Row("extract-eval", "extract-eval", "evaluate, eval schema", ("W1", *ARRAYS), None, _extract_eval),
    Row("stickler", "stickler-eval", "pairwise_f1", ("W1", *ARRAYS), _stickler),
    Row("anls-star", "anls-star", "pairwise_f1", ALL, _anls_star),
    Row("deepdiff", "deepdiff", "json_similarity", FLAT, _deepdiff_ordered),
    Row("deepdiff, ignore_order", "deepdiff", "pairwise_f1", ARRAYS, _deepdiff),
    Row("autoevals (ordered)", "autoevals", "json_similarity", ALL, _autoevals),
    Row("jsondiff (ordered)", "jsondiff", "json_similarity", ALL, _jsondiff),
    Row("plain reading of source 1", "readings", "field_match", FLAT, _reading(readings.field_match)),
    Row(
        "plain reading of source 2",
        "readings",
        "field_match_normalized",
        FLAT,
        _reading(readings.field_match_normalized),
    ),
    Row("plain reading of source 3", "readings", "json_similarity", FLAT, _reading(readings.json_similarity)),
    Row("plain reading of source 4", "readings", "pairwise_f1", ALL, _reading(readings.pairwise_f1)),
    Row(
        "plain reading of source 5 (extract-eval's formula)",
        "readings",
        "evaluate, eval schema",
        ("W1", *ARRAYS),
        None,
        _reading_5,
    ),
)
"""Every row of every table, in the order of the tables."""
