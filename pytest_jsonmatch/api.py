"""`compare_json` and `compare_corpus`: from any Python values or text, and any schema, to a result."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch import defaults
from pytest_jsonmatch.answer import value_of
from pytest_jsonmatch.engine.ask.rounds import answered, answered_all
from pytest_jsonmatch.engine.plan.compile import plan_for
from pytest_jsonmatch.engine.plan.fitting import patterns_of, unmatched_text
from pytest_jsonmatch.engine.plan.options import ALIASES, EVALUATION_TYPES, OPTION_ALIASES, OPTION_NAMES
from pytest_jsonmatch.engine.plan.registry import registry_state
from pytest_jsonmatch.engine.result.absence import check_validate, validity_of
from pytest_jsonmatch.engine.result.match import MatchResult
from pytest_jsonmatch.engine.score.documents import score
from pytest_jsonmatch.engine.value.convert import MISSING, to_json_value
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    JsonExtractionError,
    JsonMatchError,
    JsonMatchWarning,
    JsonParseError,
    nearest,
)
from pytest_jsonmatch.engine.value.matchers import to_expected
from pytest_jsonmatch.running import current_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from concurrent.futures import Executor
    from os import PathLike

    from pytest_jsonmatch.corpus.scorer import Keep, PostProcess
    from pytest_jsonmatch.corpus.tagger import TagSource
    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.schema.documents import SchemaSource
    from pytest_jsonmatch.semantic.bench import Bench


def compare_json(
    actual: object, expected: object, *, metric: str = defaults.METRIC, **options: Any
) -> MatchResult:
    """Score an actual JSON value against the expected one.

    Args:
        actual: a Python value with a JSON form (see `to_json_value`); text (str or bytes), which is model
            output from which JSON is extracted (`extract_json`); or an `Answer` with either as its value.
        expected: a Python value with a JSON form, or text, which must be strict JSON.
        metric: a metric's name, such as "json_similarity"; by default "leaf_f1".
        **options: any option of the metric (docs/metrics.md), such as `fields={"total": {"weight": 2}}`;
            `schema` is an eval schema (a dict, the path of a JSON file, a pydantic model class);
            `validate="report"` also checks `actual` against it as JSON Schema (`result.violations`);
            `repair=True` repairs broken JSON in `actual`, with a warning for each repair;
            `judge` is the judge of the comparator `semantic`: a judge, a function of one item, or the name of
            a registered judge.

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
        UnlistedFieldError: actual has such a member, and the metric (`pairwise_f1`) does not allow it.

    >>> actual, expected = {"status": "completed successfully"}, {"status": "completed sucessfully"}
    >>> result = compare_json(actual, expected, metric="json_similarity")
    >>> round(result.score, 4)
    0.9545
    """
    value = read_expected(expected)
    comparing = Comparing(metric, options) if options else _without_options(metric)
    return comparing.result(actual, value)


_known: Final[dict[tuple[str, int], Comparing]] = {}
"""Metrics without options, by name and state of the registry: 1.1 of 14 µs for a flat record."""
_MOST_KNOWN: Final = 100


def _without_options(metric: str) -> Comparing:
    key = metric, registry_state()
    comparing = _known.get(key)
    if comparing is None:
        comparing = Comparing(metric, {})
        if comparing.is_plain:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[key] = comparing
    comparing.plan.renew()
    return comparing


def read_expected(expected: object) -> JsonValue:
    """Return the expected JSON value, as `compare_json` reads it; text must be strict JSON."""
    if not isinstance(expected, (str, bytes, bytearray)):
        return to_expected(expected)
    from pytest_jsonmatch.reading.strict import parse_json

    text = bytes(expected) if isinstance(expected, bytearray) else expected
    try:
        return parse_json(text)
    except JsonParseError as error:
        error.args = (f"expected is {error}{_remedy(text)}",)
        raise


def _remedy(text: str | bytes) -> str:
    """Return what to write instead of expected text that is not JSON; empty for JSON with a mistake in it."""
    written = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if written.lstrip().startswith(("{", "[", '"')):
        return ""
    if "{" in written or "[" in written:
        return "; text with JSON in it can only be actual, the first argument"
    return f"; to compare strings, give both as JSON, such as {_as_json(written)}"


def _as_json(text: str) -> str:
    """Return the Python code of a text as JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return repr(quoted) if len(quoted) <= _SHORT else "json.dumps(text)"


_SHORT: Final = 40
"""Longer texts are not repeated in a hint."""


@final
class Comparing:
    """A metric with its options, checked and compiled: for one comparison, or for many.

    Args:
        metric: its name.
        options: its options, and those of a comparison: `repair`, `validate`, `judge`.

    Raises:
        ConfigurationError: an unknown metric or option, or an invalid value of an option.
    """

    def __init__(self, metric: str, options: Mapping[str, Any]) -> None:
        self.options: dict[str, Any] = dict(options)
        """The options that the plan knows."""
        self.repair: Any = self.options.pop("repair", False)
        if not isinstance(self.repair, bool):
            raise ConfigurationError(f"repair is {self.repair!r}; it must be True or False")
        self.validate: Any = self.options.pop("validate", "off")
        check_validate(self.validate, self.options.get("schema"))
        judge = self.options.pop("judge", None)
        if judge is not None and not isinstance(judge, str):
            from pytest_jsonmatch.semantic.bench import Bench, as_judge

            if isinstance(judge, type) or not (callable(judge) or isinstance(judge, Bench)):
                as_judge(judge)  # an invalid judge raises here, not at the first question
        self.plan: Plan = prepare(metric, self.options)
        self.bench: Bench | None = _bench(self.plan, judge)
        plan = self.plan
        self.is_plain: bool = plan.is_whole and not (
            plan.has_batch or plan.prepares or plan.reads_texts or plan.standing
        )
        """Whether two JSON values need nothing but a walk."""

    def read(self, actual: object, expected: JsonValue) -> tuple[JsonValue, tuple[str, ...]]:
        """Return the JSON value of an answer, and warnings about how it was read; MISSING stays MISSING.

        Raises the same errors as `compare_json`.
        """
        if actual is MISSING or not isinstance(actual, (str, bytes, bytearray)):
            return (MISSING if actual is MISSING else to_json_value(actual, side="actual")), ()
        from pytest_jsonmatch.reading.extract import extract_json, kind_of

        try:
            found = extract_json(actual, want=kind_of(expected, self.plan.target), repair=self.repair)
        except JsonExtractionError as error:
            if type(expected) is str and isinstance(actual, str):
                error.args = (f"{error}; to compare strings, give both as JSON, such as {_as_json(actual)}",)
            raise
        return found.value, tuple(found.warnings)

    def _documents(self, expected: JsonValue, actual: JsonValue) -> tuple[JsonValue, JsonValue]:
        """Return both sides as they are compared: JSON text inside them is parsed where a rule says so."""
        if not self.plan.reads_texts:
            return expected, actual
        from pytest_jsonmatch.reading.nested import with_texts_read

        return with_texts_read(self.plan, expected), with_texts_read(self.plan, actual)

    def result(self, actual: object, expected: JsonValue) -> MatchResult:
        """Score as `compare_json` does, but `expected` is a JSON value: a str is a JSON string.

        `actual` may be MISSING: an unreadable answer, which counts as missing everything.
        """
        plan = self.plan
        if self.is_plain and type(actual) is dict:
            value = to_json_value(actual)
            return MatchResult(plan, (expected, value), score(plan, expected, value))
        value, notes = self.read(value_of(actual), expected)
        documents = expected, value = self._documents(expected, value)
        asks = plan.has_batch or plan.prepares
        outcome = answered(plan, expected, value, self.bench) if asks else score(plan, expected, value)
        validity = validity_of(plan.schema, value, self.validate)
        return MatchResult(plan, documents, outcome, notes, validity)

    def compare(self, pairs: Iterable[tuple[JsonValue, JsonValue]]) -> Iterator[MatchResult | JsonMatchError]:
        """Yield the results of pairs of an answer and an expected value; questions to a judge are batched.

        For a pair that can't be scored, yield the error instead. An answer may be MISSING.
        """
        documents = [self._documents(expected, actual) for actual, expected in pairs]
        outcomes = answered_all(self.plan, [(None, *each) for each in documents], self.bench)
        for each, found in zip(documents, outcomes, strict=True):
            yield found if isinstance(found, JsonMatchError) else MatchResult(self.plan, each, found)


def _bench(plan: Plan, judge: object) -> Bench | None:
    """Return the judges that the plan's comparators ask; None if no comparator asks one."""
    if not plan.has_batch:
        return None
    from pytest_jsonmatch.semantic.bench import Bench

    if isinstance(judge, Bench):
        return judge
    run = current_run()
    return Bench(judge) if run is None else run.bench(judge)


def compare_corpus(
    actual: Iterable[object] | str | PathLike[str],
    expected: Iterable[object] | Mapping[str, object] | str | PathLike[str],
    *,
    schema: SchemaSource | SchemaNode | None = None,
    metric: str = defaults.METRIC,
    id_field: str | None = None,
    post_process: PostProcess | Sequence[PostProcess] | None = None,
    executor: Executor | None = None,
    keep: Keep | None = None,
    chunk_size: int = 256,
    cluster: str | None = None,
    tags: TagSource | None = None,
    validate: str = "off",
    **options: Any,
) -> RunResult:
    """Score a corpus: the answers to many records against what is expected.

    Args:
        actual: the answers: a list or an iterator of Python values with a JSON form or of text, a data frame
            (each row is a record; missing cells are null), or the path of a JSON Lines file, which is read
            line by line. Text is model output, from which JSON is extracted.
        expected: the gold records, given in the same ways, or as a mapping of ids to records; text must be
            strict JSON.
        schema: an eval schema: a dict, the path of a JSON file, or a pydantic model class.
        metric: a metric's name; by default "leaf_f1".
        id_field: the top-level member by which gold records and answers are matched; without one they are
            matched by position. It is not scored, unless the schema lists it.
        post_process: one or several functions that take a record's field results and return changed ones,
            such as `reclassify_nulls`; they run in the order given, before figures are computed.
        executor: anything with the interface of `concurrent.futures.Executor`: chunks are scored there. With
            processes, options must be picklable, and comparators and the like be registered there too.
        keep: which records stay in the result with their field results and whole comparison (`match`): "all";
            "imperfect": every record, but field results only where a record is not perfect; "worst": the ten
            worst; "none". The default is "all" for a list and "worst" otherwise. Figures do not depend on it.
        chunk_size: how many records are scored, or sent, at a time.
        cluster: the top-level member of each gold record that says what the record belongs to, such as its
            document: records of one cluster are not independent, so intervals and tests count clusters. It
            is not scored, unless the schema lists it.
        tags: properties of gold records: names mapped to paths in the record, `{"source": "meta.source"}`, or
            a function of a record that returns a mapping of names to strings, numbers, booleans or None.
            `run.by_tag["source=phone"]` has the figures of the records with a tag. Tags do not affect
            scores.
        validate: "report" also checks answers against the schema, as JSON Schema: `run.valid_rate`, and
            `violations` of each record.
        **options: any option of the metric, as for `compare_json`, including `repair` and `judge`.

    Returns:
        Means over records, figures over all leaves, aggregates by field, and the worst records.

    Raises:
        ConfigurationError: an unknown metric or option, an invalid schema, an argument of the wrong type.
        GoldValidationError: a gold record is not JSON, has no id, or has a member that the schema does not
            list; it has `record_id` and `path`.

    Issues a JsonMatchWarning for each pattern of `fields` or `accept` that matches no place in any record or
    in the schema.

    >>> actual = [{"n": 1, "s": "a"}, 'Sure: {"n": 3}']
    >>> run = compare_corpus(actual, [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}])
    >>> run.mean_precision, run.mean_recall, run.total_mismatches, run.total_omissions
    (0.5, 0.5, 1, 1)
    """
    from pytest_jsonmatch.corpus.evaluate import evaluate_corpus
    from pytest_jsonmatch.corpus.records import Reading
    from pytest_jsonmatch.corpus.scorer import Task, processors_of
    from pytest_jsonmatch.corpus.tagger import Tagger
    from pytest_jsonmatch.reading.frames import rows_of

    actual, expected = rows_of(actual), rows_of(expected)
    _check_arguments(options)
    if schema is not None:
        options["schema"] = schema
    how = Comparing(metric, {"validate": validate, **options})
    is_list = isinstance(expected, Sequence) and not isinstance(expected, str)
    task = Task(
        compile=prepare,
        metric=metric,
        options=how.options,
        signature=how.plan.signature,
        judge=how.bench,
        keep=keep or ("all" if is_list else "worst"),
        chunk_size=chunk_size,
        reading=Reading(id_field, repair=how.repair),
        post_process=processors_of(post_process),
        tagger=None if tags is None else Tagger(tags),
        validate=how.validate,
        cluster=cluster,
    )
    run = evaluate_corpus(actual, expected, task, how.plan, executor)
    for pattern in run.unmatched_rules:
        text = unmatched_text(patterns_of(options)[pattern], pattern, run.nearest_path(pattern))
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    is_whole = len(run.records) == run.total_records
    if cluster is not None and is_whole and not any(record.cluster for record in run.records):
        text = f"cluster: no gold record has a member {cluster!r}, so each record is a cluster of its own"
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    return run


def _check_arguments(options: Mapping[str, Any]) -> None:
    """Raise an error for an option that is almost the name of an argument of `compare_corpus`."""
    arguments = set(inspect.signature(compare_corpus).parameters) - {"options"}
    for name in options.keys() - OPTION_ALIASES.keys() - EVALUATION_TYPES.keys():
        begun = (each for each in sorted(arguments) if each.startswith(f"{name}_"))
        meant = next(begun, None) or nearest(name, [*arguments, *OPTION_NAMES])
        if meant in arguments:
            raise ConfigurationError(f"unknown argument {name!r}; did you mean {meant!r}?")


def evaluate(
    gold: Iterable[object] | str | PathLike[str],
    extracted: Iterable[object] | str | PathLike[str],
    schema: SchemaSource | SchemaNode | None = None,
    **options: Any,
) -> RunResult:
    """Evaluate extracted records against gold records: `compare_corpus` with gold first, as in source 5.

    Args:
        gold: the correct records, as `expected` of `compare_corpus`.
        extracted: the answers, as `actual` of `compare_corpus`.
        schema: an eval schema: a dict, the path of a JSON file, or a pydantic model class.
        **options: anything else that `compare_corpus` takes.

    Returns:
        What `compare_corpus` returns; it also raises the same errors.

    >>> from pytest_jsonmatch.schema import evaluate
    >>> run = evaluate([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 3}], {"properties": {"n": {"type": "integer"}}})
    >>> run.mean_f1
    0.5
    """
    return compare_corpus(extracted, gold, schema=schema, **options)


def prepare(metric: str, options: Mapping[str, Any]) -> Plan:
    """Return the plan of a metric with options, among them `schema` in any of its forms.

    Raises:
        ConfigurationError: an unknown metric, option, comparator, transform or pattern; an invalid schema.
    """
    schema = options.get("schema") if options else None
    if (
        schema is None
        and ALIASES.get(metric, metric) == "leaf_f1"
        and "pytest_jsonmatch.schema" in sys.modules
    ):
        from pytest_jsonmatch.schema.defaults import changed_defaults

        # An empty schema is inferred from expected: every place has the default of its type.
        schema = {} if changed_defaults() else None
    if schema is not None:
        from pytest_jsonmatch.schema.parsing import parse_eval_schema

        plan = plan_for(metric, {**options, "schema": parse_eval_schema(schema)})
    else:
        plan = plan_for(metric, options)
    if plan.recipe is None:
        plan.recipe = partial(prepare, metric, options)
    return plan
