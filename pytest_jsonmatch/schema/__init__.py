"""Eval schemas: a JSON Schema with `x-eval-*` keys says how every field is scored.

The names are those of source 5's API reference. They are resolved when they are first used: importing this
package imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch._lazy import lazy_names

if TYPE_CHECKING:
    from pytest_jsonmatch.api import evaluate
    from pytest_jsonmatch.corpus.postprocess import NullHandling, propagate_batch_errors, reclassify_nulls
    from pytest_jsonmatch.corpus.result import RecordResult, RunResult
    from pytest_jsonmatch.engine.ask.compound import CompoundComparator
    from pytest_jsonmatch.engine.compare.base import ComparatorResult
    from pytest_jsonmatch.engine.compare.batched import BatchItem
    from pytest_jsonmatch.engine.plan.registry import register, register_comparator
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.result.figures import FieldAggregation
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.errors import GoldValidationError
    from pytest_jsonmatch.schema.defaults import annotate_xeval, reset_type_defaults, set_type_default
    from pytest_jsonmatch.schema.gold import GoldWarning, validate_gold
    from pytest_jsonmatch.schema.inference import infer_schema
    from pytest_jsonmatch.schema.parsing import parse_eval_schema
    from pytest_jsonmatch.schema.resolving import resolve_schema_references

__all__ = [
    "BatchItem",
    "ComparatorResult",
    "CompoundComparator",
    "FieldAggregation",
    "FieldResult",
    "GoldValidationError",
    "GoldWarning",
    "NullHandling",
    "RecordResult",
    "RunResult",
    "SchemaNode",
    "annotate_xeval",
    "evaluate",
    "infer_schema",
    "parse_eval_schema",
    "propagate_batch_errors",
    "reclassify_nulls",
    "register",
    "register_comparator",
    "reset_type_defaults",
    "resolve_schema_references",
    "set_type_default",
    "validate_gold",
]

_HOMES = {
    "api": ("evaluate",),
    "engine.compare.base": ("ComparatorResult",),
    "engine.compare.batched": ("BatchItem",),
    "engine.ask.compound": ("CompoundComparator",),
    "engine.value.errors": ("GoldValidationError",),
    "corpus.postprocess": ("NullHandling", "propagate_batch_errors", "reclassify_nulls"),
    "engine.plan.registry": ("register", "register_comparator"),
    "engine.score.field": ("FieldResult",),
    "engine.result.figures": ("FieldAggregation",),
    "corpus.result": ("RecordResult", "RunResult"),
    "engine.plan.schemanode": ("SchemaNode",),
    "schema.defaults": ("annotate_xeval", "reset_type_defaults", "set_type_default"),
    "schema.gold": ("GoldWarning", "validate_gold"),
    "schema.inference": ("infer_schema",),
    "schema.parsing": ("parse_eval_schema",),
    "schema.resolving": ("resolve_schema_references",),
}
if not TYPE_CHECKING:
    # A type checker that sees it takes any misspelt name for an object.
    __getattr__ = lazy_names(__name__, _HOMES, "pytest_jsonmatch")


def __dir__() -> list[str]:
    return sorted(__all__)
