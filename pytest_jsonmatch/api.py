"""`compare_json` and `evaluate`: from any Python values or text, and any schema, to a result."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from pytest_jsonmatch.engine.parameters import take_repair
from pytest_jsonmatch.engine.plan import compile_plan
from pytest_jsonmatch.engine.results import MatchResult
from pytest_jsonmatch.engine.scoring import score
from pytest_jsonmatch.engine.values import MISSING, flat_copy, to_json_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from pytest_jsonmatch.engine.corpus import Keep, PostProcess, Progress
    from pytest_jsonmatch.engine.plan import Plan
    from pytest_jsonmatch.engine.runs import RunResult
    from pytest_jsonmatch.engine.schemanode import SchemaNode
    from pytest_jsonmatch.engine.values import JsonValue
    from pytest_jsonmatch.schema.documents import SchemaSource

__all__ = ["compare_json", "compare_values", "evaluate", "prepare"]


def compare_json(
    actual: object, expected: object, *, metric: str = "field_match", **options: Any
) -> MatchResult:
    """Score an actual JSON value against the expected one.

    Args:
        actual: a Python value with a JSON form (see `to_json_value`), or text (str or bytes): a model's
            output, which the JSON is extracted from (`extract_json`).
        expected: a Python value with a JSON form, or text: strict JSON.
        metric: a metric's name, such as "field_match", "json_similarity" or "schema_f1".
        **options: any option of the metric (docs/metrics.md), such as `fields={"total": {"weight": 2}}`;
            `schema` is an eval schema (a dict, the path of a JSON file, a pydantic model class);
            `repair=True` lets broken JSON in `actual` be repaired, with a warning for each repair.

    Returns:
        The figures, the result of every leaf, and aggregates per field.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern.
        JsonExtractionError: `actual` is text without JSON in it.
        JsonParseError: `expected` is text that is not strict JSON.
        UnsupportedValueError: a value has no JSON form (a TypeError).
        InvalidExpectedError: expected holds NaN or an infinity.
        RootTypeError: the metric compares objects and was given something else.
        TargetPathError: `target_key` names a place that expected does not have.
        GoldValidationError: expected has a member that the schema does not list.
        UnlistedFieldError: actual has one, and the metric (`pairwise_f1`) does not take that.

    >>> actual, expected = {"status": "completed successfully"}, {"status": "completed sucessfully"}
    >>> result = compare_json(actual, expected, metric="json_similarity")
    >>> round(result.score, 4)
    0.9545
    """
    if type(expected) is dict and type(actual) is dict and "repair" not in options:
        one, other = flat_copy(expected), flat_copy(actual)
        if one and other:
            # Two objects of scalars, the everyday case: figures now, results per leaf when looked at.
            plan = prepare(metric, options)
            if plan.flat:
                return MatchResult(plan, None, (one, other))
            return MatchResult(plan, score(plan, one, other), documents=(one, other))
    if type(expected) is str or isinstance(expected, (str, bytes, bytearray)):
        expected = _parse_expected(expected)
    else:
        expected = to_json_value(expected, side="expected")
    return compare_values(actual, expected, metric, options)


def compare_values(
    actual: object, expected: JsonValue, metric: str, options: Mapping[str, Any]
) -> MatchResult:
    """Score as `compare_json` does, `expected` being a JSON value already: here a str is a JSON string.

    `actual` may be MISSING: an answer that could not be read has nothing of what was expected.
    """
    repair, options = take_repair(options)
    plan = prepare(metric, options)
    warnings: tuple[str, ...] = ()
    if type(actual) is str or isinstance(actual, (str, bytes, bytearray)):
        actual, warnings = _extract_actual(actual, expected, plan, repair=repair)
    elif actual is not MISSING:
        actual = to_json_value(actual, side="actual")
    found = score(plan, expected, actual)
    return MatchResult(plan, found, warnings=warnings, documents=(expected, actual))


def read_actual(actual: object, expected: JsonValue, metric: str, options: Mapping[str, Any]) -> JsonValue:
    """Return the JSON value that `compare_values` would compare, raising what it would raise."""
    if not isinstance(actual, (str, bytes, bytearray)):
        return to_json_value(actual, side="actual")
    repair, options = take_repair(options)
    return _extract_actual(actual, expected, prepare(metric, options), repair=repair)[0]


def evaluate(
    gold: Iterable[object] | str | PathLike[str],
    extracted: Iterable[object] | str | PathLike[str],
    schema: SchemaSource | SchemaNode | None = None,
    *,
    metric: str = "schema_f1",
    id_field: str | None = None,
    post_process: PostProcess | Sequence[PostProcess] | None = None,
    executor: Executor | None = None,
    progress: bool | Progress = False,
    keep: Keep | None = None,
    chunk_size: int = 256,
    **options: Any,
) -> RunResult:
    """Score a corpus: extracted records against gold records.

    Args:
        gold: the records that are right: a list or an iterator of Python values with a JSON form or of JSON
            text, or the path of a JSON Lines file, which is read line by line.
        extracted: the answers, as `gold`; text is a model's output, which the JSON is extracted from.
        schema: an eval schema: a dict, the path of a JSON file, or a pydantic model class.
        metric: a metric's name.
        id_field: the member, at the top of each record, by which a gold record and its answer find each
            other; without one they go by position. It is not scored, unless the schema lists it.
        post_process: one or several functions of a record's field results that return what holds instead,
            such as `reclassify_nulls`; they run in this order before the figures are made.
        executor: anything with the interface of `concurrent.futures.Executor`: chunks are scored there. What
            is sent to another process has to be picklable, and what is registered to be registered there.
        progress: True for a line on the terminal, or a function of (records done, records in all or None).
        keep: which records stay in the result with their field results. "all"; "imperfect": all records, but
            field results only of those not perfect; "worst": the ten worst records; "none". By default "all"
            for a list and "worst" for anything else. Figures do not depend on it.
        chunk_size: how many records are scored, or sent, at a time.
        **options: any option of the metric, as for `compare_json`, `repair` among them.

    Returns:
        Means over records, figures over all leaves, aggregates by field, and the worst records.

    Raises:
        ConfigurationError: an unknown metric or option, a schema that is none, an argument of a wrong kind.
        GoldValidationError: a gold record is not JSON, has no id, or has a member that the schema does not
            list; it has `record_id` and `path`.

    >>> run = evaluate([{"n": 1, "s": "a"}, {"n": 2, "s": "b"}], [{"n": 1, "s": "a"}, 'Sure: {"n": 3}'])
    >>> run.mean_precision, run.mean_recall, run.total_mismatches, run.total_omissions
    (0.5, 0.5, 1, 1)
    """
    from pytest_jsonmatch.engine.corpus import run

    return run(
        prepare,
        gold,
        extracted,
        metric=metric,
        options=options if schema is None else {**options, "schema": schema},
        id_field=id_field,
        post_process=post_process,
        executor=executor,
        progress=progress,
        keep=keep,
        chunk_size=chunk_size,
    )


def prepare(metric: str, options: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options, `schema` among them in any form that `load_schema` takes.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern; no schema.
    """
    schema = options.get("schema") if options else None
    if (
        schema is None
        and metric in ("schema_f1", "extract-eval")
        and "pytest_jsonmatch.schema" in sys.modules
    ):
        from pytest_jsonmatch.schema.defaults import has_type_defaults

        # Without a schema it is the one inferred from expected: every place has the default of its type.
        schema = {} if has_type_defaults() else None
    if schema is not None:
        from pytest_jsonmatch.schema.parsing import load_schema

        options = {**options, "schema": load_schema(schema)}
    return compile_plan(metric, options)


def _parse_expected(text: str | bytes | bytearray) -> JsonValue:
    from pytest_jsonmatch.engine.parsing import parse_json

    if isinstance(text, bytearray):
        text = bytes(text)
    return parse_json(text)


def _extract_actual(
    text: str | bytes | bytearray, expected: JsonValue, plan: Plan, *, repair: bool
) -> tuple[JsonValue, tuple[str, ...]]:
    from pytest_jsonmatch.engine.parsing import extract_json

    want: Literal["object", "array"] | None = None
    if type(expected) is dict:
        want = "object"
    elif type(expected) is list:
        want = "array"
    if plan.target:
        # The document around the target is what expected is; its own type was looked at, not the target's.
        want = "object" if isinstance(plan.target[0], str) else "array"
    if isinstance(text, bytearray):
        text = bytes(text)
    extraction = extract_json(text, want=want, repair=repair)
    return extraction.value, tuple(extraction.warnings)
