"""Every public name as typed code uses it: checked by mypy and pyright, and run by test_typing_samples.py.

`assert_type` fails in a type checker if a type is not exactly what is written; where it runs it returns its
argument. A `type: ignore` that is not needed fails too: lazy names have types. Each function is one sample and asserts what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import BaseModel
from typing_extensions import assert_type

import pytest_jsonmatch
from pytest_jsonmatch import (
    MISSING,
    Answer,
    ArrayAlignment,
    BatchItem,
    CachedJudge,
    CallableJudge,
    ComparatorError,
    ComparatorResult,
    Comparison,
    CompoundComparator,
    ConfigurationError,
    ContainerResult,
    ErrorEntry,
    Extraction,
    FieldAggregation,
    FieldResult,
    GoldenCase,
    GoldValidationError,
    InvalidExpectedError,
    JsonExtractionError,
    JsonMatchError,
    JsonMatchWarning,
    JsonParseError,
    Judge,
    JudgeError,
    JudgeItem,
    JudgeUsage,
    MatchResult,
    NullHandling,
    OpenAIJudge,
    RecordResult,
    Registry,
    RootTypeError,
    RunComparison,
    RunError,
    RunResult,
    Signature,
    Spent,
    TargetPathError,
    UnlistedFieldError,
    UnsupportedValueError,
    Verdict,
    assert_json_match,
    compare_corpus,
    compare_json,
    compare_runs,
    extract_json,
    golden_cases,
    propagate_batch_errors,
    read_results,
    reclassify_nulls,
    register_comparator,
    register_encoder,
    register_judge,
    register_metric,
    register_transform,
    schema,
    study,
    to_json_value,
)
from pytest_jsonmatch.schema import (
    GoldWarning,
    SchemaNode,
    annotate_xeval,
    infer_schema,
    parse_eval_schema,
    register,
    reset_type_defaults,
    resolve_schema_references,
    set_type_default,
    validate_gold,
)

GOLD: list[dict[str, object]] = [{"id": "a", "city": "Paris", "n": 1}, {"id": "b", "city": "Rome", "n": 2}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer", "x-eval-weight": 2}},
}


class Line(BaseModel):
    """A pydantic model: a schema as a class, data as an instance."""

    sku: str
    amount: float | None = None


# Comparing ----------------------------------------------------------------------------------------


def sample_compare_json() -> None:
    result = assert_type(compare_json('Sure: {"n": 1}', {"n": 2}), MatchResult)
    assert_type(result.score, "float | Any")
    assert_type(result.precision, "float | Any")
    assert_type(result.recall, "float | Any")
    assert_type(result.f1, "float | Any")
    assert_type(result.f_beta(2), "float | Any")
    assert_type(result.counts, dict[str, int])
    assert_type(result.errors, tuple[ErrorEntry, ...])
    assert_type(result.warnings, tuple[str, ...])
    assert_type(result.signature, Signature)
    assert_type(result.to_dict(), dict[str, Any])
    assert result.score == 0.0


def sample_field_results() -> None:
    result = compare_json({"n": 1}, {"n": 2, "m": 3}, metric="json_similarity")
    fields: Sequence[FieldResult] = result.field_results
    field = assert_type(fields[0], FieldResult)
    assert_type(field.replaced(status="match", score=1.0), FieldResult)
    numbers: list[int] = [field.expected, field.expected_compared, field.expected_leaves]
    assert numbers == [2, 2, 1]
    # What a side does not have is MISSING, which is false and no JSON value.
    assert fields[1].actual is MISSING
    assert fields[1].actual_compared is MISSING
    assert not MISSING


def sample_per_field() -> None:
    result = compare_json({"n": 1}, {"n": 2}, metric="json_similarity")
    by_path: Mapping[str, FieldAggregation] = result.per_field
    field = assert_type(by_path["n"], FieldAggregation)
    assert_type(field.merge(FieldAggregation(matches=1)), FieldAggregation)
    assert field.mean_score == 0.5


def sample_containers_and_alignments() -> None:
    result = compare_json({"items": [2, 1]}, {"items": [1, 3]}, metric="pairwise_f1")
    containers: Sequence[ContainerResult] = result.containers
    items = assert_type(result.containers[1], ContainerResult)
    assert items in containers or items.path == "items"
    alignments: Sequence[ArrayAlignment] = result.alignments
    alignment = assert_type(alignments[0], ArrayAlignment)
    assert_type(alignment.pairs, tuple[tuple[int, int, float], ...])
    assert_type(alignment.unmatched_expected, tuple[int, ...])
    assert alignment.pairs == ((0, 1, 1.0),)


def sample_assert_json_match() -> None:
    result = assert_json_match({"a": "colour"}, {"a": "color"}, metric="json_similarity", threshold=0.8)
    assert_type(result, MatchResult)
    limits: dict[str, float | Mapping[str, float]] = {"recall": 0.5, "fields": {"a": 0.5}}
    assert_json_match({"a": 1}, {"a": 1}, threshold=limits, name="mine")
    assert_json_match({"a": 1}, {"a": 1}, threshold={"recall": 0.5, "fields": {"a": 0.5}})
    assert_json_match({"a": 1}, {"a": 1}, threshold=1, fields={"a": {"weight": 2}})
    assert_json_match(
        {"a": 1, "b": 2}, {"a": 1, "b": 2}, fields={"a": {"tolerance": 0.01}, "b": "skip"}, skip=["**.b"]
    )


def sample_a_pydantic_model_is_data_and_schema() -> None:
    result = compare_json(Line(sku="A", amount=1.5), Line(sku="A", amount=1.5), metric="leaf_f1", schema=Line)
    assert result.score == 1.0
    assert parse_eval_schema(Line).properties is not None
    assert compare_corpus(['{"sku": "A", "amount": null}'], [Line(sku="A")], schema=Line).mean_f1 == 1.0


# Text and values ----------------------------------------------------------------------------------


def sample_extract_json() -> None:
    found = assert_type(extract_json('Here: {"n": 1}', want="object", repair=False), Extraction)
    assert_type(found.span, tuple[int, int])
    assert_type(found.method, Literal["whole", "stripped", "fence", "span", "repair"])
    assert_type(found.warnings, tuple[str, ...])
    number: int = found.value["n"]
    assert number == 1
    assert extract_json(b"[1]").value == [1]


def sample_to_json_value() -> None:
    value: dict[str, object] = to_json_value(Line(sku="A"))
    assert value == {"sku": "A", "amount": None}


# Registering --------------------------------------------------------------------------------------


def same_start(expected: str, actual: str, params: Mapping[str, Any]) -> ComparatorResult:
    same = expected[: params["n"]] == actual[: params["n"]]
    return ComparatorResult(float(same), reason=None if same else "another beginning")


def same_meaning(items: list[schema.BatchItem]) -> list[float]:
    return [float(item.expected_compared == item.actual_compared) for item in items]


class Equals:
    """A batch comparator for a chunk of records, which answers by id."""

    scope = "chunk"

    def __call__(self, items: Sequence[BatchItem]) -> dict[str, bool]:
        return {item.id: self.says(item.expected, item.actual) for item in items}

    def says(self, expected: str, actual: str) -> bool:
        return expected.lower() == actual.lower()


def whole_name(expected: dict[str, Any], actual: dict[str, Any], params: Mapping[str, Any]) -> float:
    del params
    return float(sorted(expected.values()) == sorted(actual.values()))


class Letters:
    def encode(self, texts: list[str]) -> list[list[float]]:
        return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


def sample_registering() -> None:
    register_comparator("sample_start", same_start, overwrite=True)
    register_comparator(
        "sample_size", lambda expected, actual, params: len(expected) == len(actual), overwrite=True
    )
    register_comparator("sample_meaning", same_meaning, overwrite=True)
    register("sample_judge", Equals(), overwrite=True)
    register_encoder("sample_letters", Letters(), overwrite=True)
    register_judge("sample_lenient", lambda item: True, overwrite=True)
    register_transform("sample_dashes", lambda value: value.replace("-", ""), overwrite=True)
    register_metric("sample_lenient", {"base": "json_similarity", "leaf_threshold": 0.5}, overwrite=True)
    compound = CompoundComparator("sample_name", ["last", "first"], primary="last", fn=whole_name)
    register_comparator("sample_name", compound, overwrite=True)
    rules: dict[str, dict[str, Any]] = {
        "id": {"transform": ["sample_dashes"]},
        "vendor": {"compare": {"sample_start": {"n": 4}}},
        "last": {"compare": {"sample_name": {"role": "last"}}},
        "first": {"compare": {"sample_name": {"role": "first"}}},
        "note": {"compare": "sample_judge"},
    }
    actual = {"id": "1-2", "vendor": "Acme Ltd.", "last": "Ann", "first": "Lee", "note": "FINE"}
    expected = {"id": "12", "vendor": "Acme Limited", "last": "Lee", "first": "Ann", "note": "fine"}
    assert compare_json(actual, expected, metric="sample_lenient", fields=rules).score == 1.0


def sample_registry() -> None:
    registry = Registry()
    assert pytest_jsonmatch.__version__
    pytest_jsonmatch_register(registry)
    assert_type(registry.find_metric("strict")[0], str)


# A conftest.py ------------------------------------------------------------------------------------


def pytest_jsonmatch_register(registry: Registry) -> None:
    registry.comparator("same_start", same_start)
    registry.transform("no_dashes", lambda value: value.replace("-", ""))
    registry.metric("strict", {"base": "json_similarity", "leaf_threshold": 0.9})


def pytest_jsonmatch_compared(result: MatchResult, item: pytest.Item) -> None:
    item.user_properties.append(("recall", result.recall))


def pytest_jsonmatch_summary(
    results: Sequence[Comparison], terminalreporter: pytest.TerminalReporter
) -> None:
    passed = sum(each.passed for each in results)
    lowest = min(each.recall for each in results)
    terminalreporter.write_line(f"{passed} of {len(results)} passed, lowest recall {lowest:.2f}")


def sample_comparison() -> None:
    result = compare_json({"n": 1}, {"n": 1})
    kept = Comparison.of(result, id="a", nodeid="t.py::a", threshold={"score": 1.0}, passed=True)
    assert_type(kept, Comparison)
    assert_type(kept.fields, Mapping[str, FieldAggregation])
    assert_type(kept.errors, tuple[str, ...])
    assert kept.score == 1.0


# Corpora ------------------------------------------------------------------------------------------


def sample_evaluate() -> None:
    run = assert_type(compare_corpus(GOLD, GOLD, schema=SCHEMA, id="id"), RunResult)
    assert_type(run.per_field, Mapping[str, FieldAggregation])
    assert_type(run.records, tuple[RecordResult, ...])
    assert_type(run.worst, tuple[RecordResult, ...])
    assert_type(run.errors, tuple[RunError, ...])
    assert_type(run.unmatched_expected, tuple["str | int", ...])
    other = [{**record, "id": f"{record['id']}2"} for record in GOLD]
    assert_type(run.merge(compare_corpus(other, other, schema=SCHEMA, id="id")), RunResult)
    assert_type(compare_runs(run, run), RunComparison)
    # Without any record there are no numbers: typed code says what it then wants.
    assert run.mean_f1 is not None
    assert run.mean_f1 >= 0.9


def sample_result_file() -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        results = assert_type(read_results(Path("none.jsonl")), RunResult)
        assert_type(results.mean("score"), "float | None")


def sample_records_of_a_run() -> None:
    run = compare_corpus([{"id": "a", "city": "Lyon"}, "no idea"], GOLD)
    record = run.records[1]
    assert_type(record.f1, "float | Any")
    assert_type(record.counts, Mapping[str, int])
    assert_type(record.field_results, Sequence[FieldResult])
    error = run.errors[0]
    assert record.error == error.reason


def absent(results: Iterable[FieldResult]) -> list[FieldResult]:
    return reclassify_nulls(results, NullHandling(absent_values=[None, "N/A"], both_absent_skip=False))


def without_notes(results: Sequence[FieldResult]) -> Iterable[FieldResult]:
    return (field for field in results if field.path != "note")


def sample_evaluate_with_everything() -> None:
    with ThreadPoolExecutor(1) as executor:
        run = compare_corpus(
            (record for record in GOLD),
            iter(GOLD),
            schema=SCHEMA,
            metric="pairwise_f1",
            id="id",
            post_process=[absent, propagate_batch_errors, without_notes],
            executor=executor,
            keep="imperfect",
            chunk_size=1,
            compare={"string": "levenshtein"},
        )
    assert run.mean_score == 1.0
    assert compare_corpus(GOLD, GOLD, post_process=reclassify_nulls, keep="none").records == ()


def sample_files() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "gold.jsonl"
        path.write_text('{"n": 1}\n{"n": 2}\n', encoding="utf-8")
        (Path(folder) / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
        assert compare_corpus(path, path, schema=Path(folder) / "schema.json").total_records == 2
        assert compare_corpus(path, path, schema=f"{folder}/schema.json").micro_f1 == 1.0


# Eval schemas -------------------------------------------------------------------------------------


def sample_schemas() -> None:
    inferred = assert_type(infer_schema(GOLD), dict[str, Any])
    annotated = assert_type(annotate_xeval(inferred), dict[str, Any])
    tree = assert_type(parse_eval_schema(annotated), SchemaNode)
    assert_type(tree.properties, "dict[str, SchemaNode] | None")
    assert_type(parse_eval_schema(tree), SchemaNode)
    assert_type(resolve_schema_references(SCHEMA), dict[str, Any])
    assert_type(parse_eval_schema(SCHEMA).digest, str)
    validate_gold(GOLD, tree, id="id", warn_missing=False, strict_types=True)
    assert annotated["properties"]["n"]["x-eval-compare"] == "numeric"
    set_type_default("string", {"numeric": {"tolerance": {"abs": 1}}})
    set_type_default("string", "levenshtein")
    reset_type_defaults()


def sample_warnings_of_gold() -> None:
    with pytest.warns(GoldWarning):
        validate_gold([{"city": "Rome"}], SCHEMA)


def sample_the_names_of_the_schema_package() -> None:
    run = assert_type(schema.evaluate(GOLD, GOLD), schema.RunResult)
    assert_type(run, RunResult)
    assert_type(run.records[0], schema.RecordResult)
    assert_type(run.records[0].field_results[0], schema.FieldResult)
    assert_type(run.per_field["n"], schema.FieldAggregation)
    nulls = assert_type(schema.NullHandling(), NullHandling)
    processed = schema.propagate_batch_errors(schema.reclassify_nulls(run.records[0].field_results, nulls))
    assert_type(processed, list[FieldResult])
    assert_type(schema.ComparatorResult(1.0), ComparatorResult)
    schema.register_comparator("sample_same", lambda expected, actual, params: True, overwrite=True)
    made = schema.CompoundComparator("sample_name", ("last", "first"), "last", whole_name)
    assert_type(made, CompoundComparator)

    with pytest.raises(schema.GoldValidationError):
        schema.validate_gold([{"nmae": "Ada"}], SCHEMA)


# Golden cases -------------------------------------------------------------------------------------


def sample_golden_cases_for_a_python_test() -> None:
    def judged(case: GoldenCase) -> MatchResult:
        assert_type(case.options, dict[str, Any])
        assert_type(case.params, dict[str, Any])
        return assert_json_match(
            case.input, case.expected, metric=case.metric, threshold=case.threshold, **case.options
        )

    with TemporaryDirectory() as folder:
        path = Path(folder, "cases.yaml")
        path.write_text("id: a\ninput: {n: 1}\nexpected: {n: 1}\n", encoding="utf-8")
        mark = assert_type(golden_cases(path, argname="case"), pytest.MarkDecorator)
        name, rows = mark.args
        assert (name, [judged(row.values[0]).score for row in rows]) == ("case", [1.0])


def sample_answers() -> None:
    answer = Answer({"n": 1}, model="small", usage={"input_tokens": 900, "cost": 0.01}, seconds=0.5)
    assert_type(answer.spent, Spent)
    assert assert_json_match(answer, {"n": 1}).score == 1.0


# Judges -------------------------------------------------------------------------------------------


def sample_judges() -> None:
    def same_but_for_case(item: JudgeItem) -> bool:
        return str(item.expected).lower() == str(item.actual).lower()

    judge: Judge = CallableJudge(same_but_for_case)
    answers = judge.judge([JudgeItem("1", "city", "Paris", "PARIS")])
    answer = assert_type(answers["1"], "Verdict | JudgeError")
    assert isinstance(answer, Verdict)
    assert_type(judge.usage, JudgeUsage)


def sample_judges_that_are_made() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "verdicts.jsonl")
        model: Judge = OpenAIJudge("gpt-4.1-mini", max_calls=10, structured=False)
        cached: Judge = CachedJudge(model, path, mode="cached")
        recorded: Judge = CachedJudge(None, path, model="gpt-4.1-mini")
        missed = cached.judge([JudgeItem("1", "city", "Paris", "PARIS")])["1"]
        assert isinstance(missed, JudgeError)
        assert (missed.kind, recorded.usage.calls) == ("cache miss", 0)


# Errors -------------------------------------------------------------------------------------------


def sample_errors_and_what_they_say() -> None:
    with pytest.raises(JsonParseError) as parsing:
        compare_json({}, "{")
    with pytest.raises(JsonExtractionError) as extraction:
        extract_json("nothing")
    with pytest.raises(GoldValidationError) as gold:
        compare_corpus([{}], [{"m": 1}], schema=SCHEMA)
    told: list[str] = [parsing.value.reason, extraction.value.excerpt, gold.value.path]
    assert (parsing.value.line, len(told)) == (1, 3)


def sample_errors_are_also_of_pythons_kinds() -> None:
    values: tuple[type[ValueError], ...] = (
        ConfigurationError,
        GoldValidationError,
        InvalidExpectedError,
        JsonExtractionError,
        JsonParseError,
        TargetPathError,
        UnlistedFieldError,
    )
    types: tuple[type[TypeError], ...] = (RootTypeError, UnsupportedValueError)
    others: tuple[type[RuntimeError], ...] = (ComparatorError,)
    everything: tuple[type[Exception], ...] = (*values, *types, *others)
    assert all(issubclass(kind, JsonMatchError) for kind in everything)
    odd: type[UserWarning] = JsonMatchWarning
    assert issubclass(odd, UserWarning)


def sample_confidence() -> None:
    answers = [{"n": {"value": n % 4, "confidence": n % 10 / 10}} for n in range(40)]
    found = study.measure_confidence(answers, [{"n": 1}] * 40, max_error=0.1, confidence="inline")
    assert_type(found, study.ConfidenceStudy)
    assert_type(found.fields["n"], study.FieldConfidence)
    assert_type(found.total.ece, study.Estimate | None)
    assert_type(found.total.reliability, tuple[study.Bin, ...])
    assert_type(found.total.at_error, study.ReviewThreshold | None)
    assert_type(found.statistics["auroc"], float | None)


def sample_agreement() -> None:
    found = study.measure_agreement({"ann": [{"k": 1}], "bob": iter([{"k": 2}])})
    assert_type(found, study.AgreementStudy)
    assert_type(found.fields["k"], study.FieldAgreement)
    assert_type(found.total.alpha, study.Estimate | None)


def sample_overlap() -> None:
    found = study.measure_overlap({"test": [{"k": "no 4711"}]}, [("prompt.md", "text")])
    assert_type(found, study.OverlapStudy)
    assert_type(found.found, tuple[study.SeenRecord, ...])


def sample_shift() -> None:
    found = study.measure_shift([{"n": 1}], [{"n": 1}], cluster="doc")
    assert_type(found, study.ShiftStudy)
    assert_type(found.shown, tuple[study.FieldShift, ...])


def sample_audit_of_gold() -> None:
    gold = [{"id": "r1", "n": 1}, {"id": "r2", "n": 2}]
    found = study.audit_gold({"a": gold, "b": gold}, gold, id="id")
    assert_type(found, study.GoldAudit)
    assert_type(found.found, tuple[study.Suspect, ...])


def sample_audit_of_a_suite() -> None:
    found = study.find_holes([])
    assert_type(found, study.SuiteAudit)
    assert_type(found.holes, tuple[study.Hole, ...])


if TYPE_CHECKING:
    no_such_name = pytest_jsonmatch.no_such_name  # type: ignore[attr-defined]
    wrong_score: str = compare_json(1, 1).score  # type: ignore[assignment]
    wrong_digest: int = schema.parse_eval_schema({}).digest  # type: ignore[assignment]
