"""Eval schemas: JSON Schemas whose `x-eval-*` keys define how every field is scored.

The public names are those of source 5's API reference. They are resolved at their first use, so importing
this package imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch.support.lazy import make_lazy_names

if TYPE_CHECKING:
    from pytest_jsonmatch.corpus.compare_corpus import evaluate as evaluate
    from pytest_jsonmatch.corpus.postprocess import (
        NullHandling as NullHandling,
        propagate_batch_errors as propagate_batch_errors,
        reclassify_nulls as reclassify_nulls,
    )
    from pytest_jsonmatch.results.record import RecordResult as RecordResult
    from pytest_jsonmatch.results.run import RunResult as RunResult
    from pytest_jsonmatch.engine.ask.compound import CompoundComparator as CompoundComparator
    from pytest_jsonmatch.engine.comparators.base import ComparatorResult as ComparatorResult
    from pytest_jsonmatch.engine.comparators.base import BatchItem as BatchItem
    from pytest_jsonmatch.engine.plan.registry import (
        register as register,
        register_comparator as register_comparator,
    )
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode as SchemaNode
    from pytest_jsonmatch.engine.result.aggregation import FieldAggregation as FieldAggregation
    from pytest_jsonmatch.engine.score.field import FieldResult as FieldResult
    from pytest_jsonmatch.engine.value.errors import GoldValidationError as GoldValidationError
    from pytest_jsonmatch.schema.defaults import (
        annotate_xeval as annotate_xeval,
        reset_type_defaults as reset_type_defaults,
        set_type_default as set_type_default,
    )
    from pytest_jsonmatch.schema.gold import GoldWarning as GoldWarning, validate_gold as validate_gold
    from pytest_jsonmatch.schema.inference import infer_schema as infer_schema
    from pytest_jsonmatch.schema.parsing import parse_eval_schema as parse_eval_schema
    from pytest_jsonmatch.schema.resolving import resolve_schema_references as resolve_schema_references

_HOMES = {
    "corpus.compare_corpus": ("evaluate",),
    "engine.comparators.base": ("BatchItem", "ComparatorResult"),
    "engine.ask.compound": ("CompoundComparator",),
    "engine.value.errors": ("GoldValidationError",),
    "corpus.postprocess": ("NullHandling", "propagate_batch_errors", "reclassify_nulls"),
    "engine.plan.registry": ("register", "register_comparator"),
    "engine.score.field": ("FieldResult",),
    "engine.result.aggregation": ("FieldAggregation",),
    "results.record": ("RecordResult",),
    "results.run": ("RunResult",),
    "engine.plan.schemanode": ("SchemaNode",),
    "schema.defaults": ("annotate_xeval", "reset_type_defaults", "set_type_default"),
    "schema.gold": ("GoldWarning", "validate_gold"),
    "schema.inference": ("infer_schema",),
    "schema.parsing": ("parse_eval_schema",),
    "schema.resolving": ("resolve_schema_references",),
}
if not TYPE_CHECKING:
    # Hidden from type checkers: with a module `__getattr__` they would accept any misspelt name.
    __all__, __getattr__, __dir__ = make_lazy_names(__name__, _HOMES)
