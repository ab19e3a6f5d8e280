"""Score JSON against JSON, field by field, in any test suite.

The public names are resolved when they are first used: importing this package imports nothing heavy.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence as _Sequence
    from types import ModuleType as _ModuleType

    from pytest_jsonmatch.support.version import __version__ as __version__
    from pytest_jsonmatch.results.answer import Answer as Answer, Spent as Spent
    from pytest_jsonmatch.comparing.compare_json import compare_json as compare_json
    from pytest_jsonmatch.corpus.compare_corpus import compare_corpus as compare_corpus
    from pytest_jsonmatch.comparing.assertions import assert_json_match as assert_json_match
    from pytest_jsonmatch.corpus.postprocess import (
        NullHandling as NullHandling,
        propagate_batch_errors as propagate_batch_errors,
        reclassify_nulls as reclassify_nulls,
    )
    from pytest_jsonmatch.engine.ask.compound import CompoundComparator as CompoundComparator
    from pytest_jsonmatch.engine.comparators.base import ComparatorResult as ComparatorResult
    from pytest_jsonmatch.engine.comparators.base import BatchItem as BatchItem
    from pytest_jsonmatch.engine.plan.compile import Signature as Signature
    from pytest_jsonmatch.engine.plan.registry import (
        Registry as Registry,
        register_comparator as register_comparator,
        register_encoder as register_encoder,
        register_judge as register_judge,
        register_metric as register_metric,
        register_transform as register_transform,
    )
    from pytest_jsonmatch.engine.result.containers import (
        ArrayAlignment as ArrayAlignment,
        ContainerResult as ContainerResult,
    )
    from pytest_jsonmatch.engine.result.aggregation import (
        ErrorEntry as ErrorEntry,
        FieldAggregation as FieldAggregation,
    )
    from pytest_jsonmatch.engine.result.match import MatchResult as MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult as FieldResult
    from pytest_jsonmatch.engine.value.convert import MISSING as MISSING, to_json_value as to_json_value
    from pytest_jsonmatch.engine.value.errors import (
        ComparatorError as ComparatorError,
        ConfigurationError as ConfigurationError,
        GoldValidationError as GoldValidationError,
        InvalidExpectedError as InvalidExpectedError,
        JsonExtractionError as JsonExtractionError,
        JsonMatchError as JsonMatchError,
        JsonMatchWarning as JsonMatchWarning,
        JsonParseError as JsonParseError,
        RootTypeError as RootTypeError,
        TargetPathError as TargetPathError,
        UnlistedFieldError as UnlistedFieldError,
        UnsupportedValueError as UnsupportedValueError,
    )
    from pytest_jsonmatch.golden.cases import GoldenCase as GoldenCase
    from pytest_jsonmatch.golden.decorator import golden_cases as golden_cases
    from pytest_jsonmatch.reading.extract import Extraction as Extraction, extract_json as extract_json
    from pytest_jsonmatch.report.compared import RunComparison as RunComparison, compare_runs as compare_runs
    from pytest_jsonmatch.results.comparison import Comparison as Comparison
    from pytest_jsonmatch.results.file import read_results as read_results
    from pytest_jsonmatch.results.run import RunResult as RunResult
    from pytest_jsonmatch.results.record import RecordResult as RecordResult, RunError as RunError
    from pytest_jsonmatch.semantic.cache import CachedJudge as CachedJudge
    from pytest_jsonmatch.semantic.judging import (
        CallableJudge as CallableJudge,
        Judge as Judge,
        JudgeError as JudgeError,
        JudgeItem as JudgeItem,
        JudgeUsage as JudgeUsage,
        Verdict as Verdict,
    )
    from pytest_jsonmatch.semantic.openaijudge import OpenAIJudge as OpenAIJudge

_HOMES = {
    "support.version": ("__version__",),
    "results.answer": ("Answer", "Spent"),
    "comparing.assertions": ("assert_json_match",),
    "comparing.compare_json": ("compare_json",),
    "corpus.compare_corpus": ("compare_corpus",),
    "engine.comparators.base": ("BatchItem", "ComparatorResult"),
    "engine.ask.compound": ("CompoundComparator",),
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
    "report.compared": ("RunComparison", "compare_runs"),
    "results.comparison": ("Comparison",),
    "results.file": ("read_results",),
    "engine.plan.registry": (
        "Registry",
        "register_comparator",
        "register_encoder",
        "register_judge",
        "register_metric",
        "register_transform",
    ),
    "engine.score.field": ("FieldResult",),
    "engine.result.aggregation": ("ErrorEntry", "FieldAggregation"),
    "engine.plan.compile": ("Signature",),
    "engine.result.match": ("MatchResult",),
    "results.record": ("RecordResult", "RunError"),
    "results.run": ("RunResult",),
    "engine.value.convert": ("MISSING", "to_json_value"),
    "golden.cases": ("GoldenCase",),
    "golden.decorator": ("golden_cases",),
    "semantic.cache": ("CachedJudge",),
    "semantic.judging": ("CallableJudge", "Judge", "JudgeError", "JudgeItem", "JudgeUsage", "Verdict"),
    "semantic.openaijudge": ("OpenAIJudge",),
}


class _OwnFinder:
    """Finds our modules before pytest does."""

    @staticmethod
    def find_spec(
        name: str, path: _Sequence[str] | None, target: _ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of this package."""
        return PathFinder.find_spec(name, path, target) if name.startswith("pytest_jsonmatch.") else None


# pytest rewrites the `assert` statements of all modules of a plugin. Ours raise their errors themselves, and
# reading the compiled files that pytest keeps for this takes longer than all else in importing a module.
for _index, _finder in enumerate(sys.meta_path):
    if type(_finder).__module__ == "_pytest.assertion.rewrite":
        sys.meta_path.insert(_index, _OwnFinder)
        break

if not TYPE_CHECKING:
    from pytest_jsonmatch.support.lazy import make_lazy_names

    # Hidden from type checkers: with a module `__getattr__` they would accept any misspelt name.
    __all__, __getattr__, __dir__ = make_lazy_names(__name__, _HOMES)
