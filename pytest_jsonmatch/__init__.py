"""Score JSON against JSON, field by field, in any test suite.

The public names are resolved when they are first used: importing this package imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_jsonmatch._lazy import lazy_names
from pytest_jsonmatch._version import __version__

if TYPE_CHECKING:
    from pytest_jsonmatch.answer import Answer, Spent
    from pytest_jsonmatch.api import compare_corpus, compare_json
    from pytest_jsonmatch.assertions import assert_json_match
    from pytest_jsonmatch.corpus.postprocess import NullHandling, propagate_batch_errors, reclassify_nulls
    from pytest_jsonmatch.corpus.result import RecordResult, RunError, RunResult
    from pytest_jsonmatch.engine.align.audited import ArrayAudit
    from pytest_jsonmatch.engine.ask.compound import CompoundComparator
    from pytest_jsonmatch.engine.compare.base import ComparatorResult
    from pytest_jsonmatch.engine.compare.batched import BatchItem
    from pytest_jsonmatch.engine.plan.compile import Signature
    from pytest_jsonmatch.engine.plan.registry import (
        Registry,
        register_comparator,
        register_encoder,
        register_judge,
        register_metric,
        register_transform,
    )
    from pytest_jsonmatch.engine.result.containers import ArrayAlignment, ContainerResult
    from pytest_jsonmatch.engine.result.figures import ErrorEntry, FieldAggregation
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
    from pytest_jsonmatch.engine.value.errors import (
        ComparatorError,
        ConfigurationError,
        GoldValidationError,
        InvalidExpectedError,
        JsonExtractionError,
        JsonMatchError,
        JsonMatchWarning,
        JsonParseError,
        RootTypeError,
        TargetPathError,
        UnlistedFieldError,
        UnsupportedValueError,
    )
    from pytest_jsonmatch.golden.cases import GoldenCase
    from pytest_jsonmatch.golden.decorator import golden_cases
    from pytest_jsonmatch.reading.extract import Extraction, extract_json
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.semantic.cache import CachedJudge
    from pytest_jsonmatch.semantic.judging import (
        CallableJudge,
        Judge,
        JudgeError,
        JudgeItem,
        JudgeUsage,
        Verdict,
    )
    from pytest_jsonmatch.semantic.openaijudge import OpenAIJudge

__all__ = [
    "MISSING",
    "Answer",
    "ArrayAlignment",
    "ArrayAudit",
    "BatchItem",
    "CachedJudge",
    "CallableJudge",
    "ComparatorError",
    "ComparatorResult",
    "Comparison",
    "CompoundComparator",
    "ConfigurationError",
    "ContainerResult",
    "ErrorEntry",
    "Extraction",
    "FieldAggregation",
    "FieldResult",
    "GoldValidationError",
    "GoldenCase",
    "InvalidExpectedError",
    "JsonExtractionError",
    "JsonMatchError",
    "JsonMatchWarning",
    "JsonParseError",
    "Judge",
    "JudgeError",
    "JudgeItem",
    "JudgeUsage",
    "MatchResult",
    "NullHandling",
    "OpenAIJudge",
    "RecordResult",
    "Registry",
    "RootTypeError",
    "RunError",
    "RunResult",
    "Signature",
    "Spent",
    "TargetPathError",
    "UnlistedFieldError",
    "UnsupportedValueError",
    "Verdict",
    "__version__",
    "assert_json_match",
    "compare_corpus",
    "compare_json",
    "extract_json",
    "golden_cases",
    "propagate_batch_errors",
    "reclassify_nulls",
    "register_comparator",
    "register_encoder",
    "register_judge",
    "register_metric",
    "register_transform",
    "to_json_value",
]

_HOMES = {
    "answer": ("Answer", "Spent"),
    "assertions": ("assert_json_match",),
    "api": ("compare_corpus", "compare_json"),
    "engine.compare.base": ("ComparatorResult",),
    "engine.compare.batched": ("BatchItem",),
    "engine.ask.compound": ("CompoundComparator",),
    "engine.align.audited": ("ArrayAudit",),
    "engine.result.containers": ("ArrayAlignment", "ContainerResult"),
    "engine.value.errors": (
        "ComparatorError",
        "ConfigurationError",
        "GoldValidationError",
        "InvalidExpectedError",
        "JsonExtractionError",
        "JsonMatchError",
        "JsonMatchWarning",
        "JsonParseError",
        "RootTypeError",
        "TargetPathError",
        "UnlistedFieldError",
        "UnsupportedValueError",
    ),
    "reading.extract": ("Extraction", "extract_json"),
    "corpus.postprocess": ("NullHandling", "propagate_batch_errors", "reclassify_nulls"),
    "results.comparison": ("Comparison",),
    "engine.plan.registry": (
        "Registry",
        "register_comparator",
        "register_encoder",
        "register_judge",
        "register_metric",
        "register_transform",
    ),
    "engine.score.field": ("FieldResult",),
    "engine.result.figures": ("ErrorEntry", "FieldAggregation"),
    "engine.plan.compile": ("Signature",),
    "engine.result.match": ("MatchResult",),
    "corpus.result": ("RecordResult", "RunError", "RunResult"),
    "engine.value.convert": ("MISSING", "to_json_value"),
    "golden.cases": ("GoldenCase",),
    "golden.decorator": ("golden_cases",),
    "semantic.cache": ("CachedJudge",),
    "semantic.judging": ("CallableJudge", "Judge", "JudgeError", "JudgeItem", "JudgeUsage", "Verdict"),
    "semantic.openaijudge": ("OpenAIJudge",),
}
if not TYPE_CHECKING:
    # A type checker that sees it takes any misspelt name for an object.
    __getattr__ = lazy_names(__name__, _HOMES, __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
