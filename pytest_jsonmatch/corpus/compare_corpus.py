"""`compare_corpus`: compare many records, read from any source, and return the result of the run."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.comparing.comparer import Comparer, check_judge
from pytest_jsonmatch.engine.plan.options import EVALUATION_TYPES, OPTION_ALIASES, OPTION_NAMES
from pytest_jsonmatch.engine.plan.unmatched import collect_patterns, format_unmatched
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    JsonMatchWarning,
    find_closest,
    name_argument,
)
from pytest_jsonmatch.support import defaults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor
    from io import BufferedIOBase
    from os import PathLike
    from typing import TypeAlias

    from pytest_jsonmatch.corpus.scorer import Keep, PostProcess
    from pytest_jsonmatch.corpus.tagger import TagSource
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.records.columns import ColumnSelection
    from pytest_jsonmatch.results.run import RunResult
    from pytest_jsonmatch.schema.documents import SchemaSource

    RecordsArgument: TypeAlias = (
        Iterable[object] | Callable[[], Iterable[object]] | str | PathLike[str] | BufferedIOBase
    )


def compare_corpus(
    answers: RecordsArgument,
    gold: RecordsArgument | Mapping[str, object],
    /,
    *,
    schema: SchemaSource | SchemaNode | None = None,
    metric: str = defaults.METRIC,
    id: str | None = None,
    actual: ColumnSelection | None = None,
    expected: ColumnSelection | None = None,
    delimiter: str | None = None,
    post_process: PostProcess | Sequence[PostProcess] | None = None,
    executor: Executor | None = None,
    keep: Keep | None = None,
    chunk_size: int = 256,
    cluster: str | None = None,
    tags: TagSource | None = None,
    progress: Callable[[int], object] | None = None,
    validate: str = "off",
    **options: Any,
) -> RunResult:
    """Score a corpus: answers against gold records.

    Args:
        answers: a list or an iterator of Python values with a JSON form or of text, a data frame (each row is
            a record; missing cells are null), a function that returns one of these; or the path of a file:
            JSON Lines and CSV are read row by row, a JSON array as a whole. The path of a folder, or a glob
            such as `out/**/*.json`, makes each file an answer. Text is model output, from which JSON is
            extracted; a string if gold is a string.
        gold: the gold records, given in the same ways, or as a mapping of ids to records; text is strict
            JSON if it begins with `{` or `[`, otherwise a string. The lines of a file are strict JSON. Files
            are paired by their names.
        schema: an eval schema: a dict, the path of a JSON file, or a pydantic model class. It gives the cells
            of CSV files their types.
        metric: a metric's name; by default "leaf_f1".
        id: the column by which gold records and answers are paired, a name or a path such as "meta.id";
            without one they are paired by position. It is not scored, unless the schema lists it.
        actual: the column of an answer's record with the answer itself, such as "output"; a string there is
            model output. A mapping such as {"total": "sum"} makes an object of several columns. By default
            the whole record.
        expected: the column of gold records with what is expected, such as "gold.calls", or a mapping.
        delimiter: the delimiter of CSV files; by default "," and in .tsv files a tab.
        post_process: one or several functions that take a record's field results and return changed ones,
            such as `reclassify_nulls`; they run in the order given, before scores are computed.
        executor: anything with the interface of `concurrent.futures.Executor`: chunks are scored there. With
            processes, options must be picklable, and comparators and the like be registered there too.
        keep: which records stay in the result with their field results and whole comparison (`match`): "all";
            "imperfect": every record, but field results only for records that are not perfect; "worst": the
            ten lowest-scoring records; "none". The default is "all" for a list and "worst" otherwise. Scores
            do not depend on it.
        chunk_size: how many records are scored, or sent, at a time.
        cluster: the column of each gold record that names its cluster, such as its document.
            Records of one cluster are not independent, so intervals and tests count clusters. The member is
            not scored, unless the schema lists it.
        tags: properties of gold records: names mapped to columns or paths, `{"source": "meta.source"}`, or
            a function of a record that returns a mapping of names to strings, numbers, booleans or None.
            `run.by_tag["source=phone"]` has the scores of the records with a tag. Tags do not affect
            scores.
        progress: called with the number of records scored so far, after each chunk.
        validate: "report" also checks answers against the schema, as JSON Schema: `run.valid_rate`, and
            `violations` of each record.
        **options: any option of the metric, as for `compare_json`, including `repair` and `judge`.

    Returns:
        Means over records, scores over all leaves, aggregates by field, and the kept records.

    Raises:
        ConfigurationError: an unknown metric or option, an invalid schema, an argument of the wrong type.
        GoldValidationError: a gold record is not JSON, has no id, or has a member that the schema does not
            list; it has `record_id` (without `id`, the record's number from 1) and `path`.

    Issues a JsonMatchWarning for each pattern of `fields` or `accept` that matches nothing in any record or
    in the schema; if ids of both sides differ only in type or Unicode form, as 7 and "7" do; if the sides
    seem to be swapped, or are more alike in a column of theirs; and without `id` if their order seems to
    differ.

    >>> actual = [{"n": 1, "s": "a"}, 'Sure: {"n": 3}']
    >>> run = compare_corpus(actual, [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}])
    >>> run.mean_precision, run.mean_recall, run.total_mismatches, run.total_omissions
    (0.5, 0.5, 1, 1)
    """
    from pytest_jsonmatch.corpus.evaluate import evaluate_corpus
    from pytest_jsonmatch.corpus.mistakes import SWAPPED, are_swapped, find_mistakes
    from pytest_jsonmatch.corpus.scorer import Task, check_processors
    from pytest_jsonmatch.corpus.tagger import Tagger
    from pytest_jsonmatch.reading.frames import to_rows, warn_about_nulls
    from pytest_jsonmatch.records.pairing import Reading, find_similar_ids

    if options.keys().isdisjoint({"nulls", "absent"}):
        warn_about_nulls(answers, gold)
    answers, gold = to_rows(answers), to_rows(gold)
    _check_arguments(options)
    if schema is not None:
        options["schema"] = schema
    judge = options.pop("judge", None)
    check_judge(judge)
    comparer = Comparer.of(metric, {"validate": validate, **options})
    comparer.warn_without_schema()
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ConfigurationError(
            f"executor must be one of concurrent.futures, such as ProcessPoolExecutor(4), got {executor}"
        )
    is_list = isinstance(gold, Sequence) and not isinstance(gold, str)
    task = Task(
        metric=metric,
        options=options,
        signature=comparer.plan.signature,
        judge=comparer.get_bench(judge),
        keep=keep or ("all" if is_list else "worst"),
        chunk_size=chunk_size,
        reading=Reading(id, comparer.repair, expected, actual, delimiter),
        post_process=check_processors(post_process),
        tagger=None if tags is None else Tagger(tags),
        validate=comparer.validate,
        cluster=cluster,
    )
    try:
        run = evaluate_corpus(answers, gold, task, comparer.plan, executor, progress)
    except GoldValidationError as error:
        if not are_swapped(answers, gold, task.reading):
            raise
        raise GoldValidationError(f"{error}; {SWAPPED}", error.record_id, error.path, error.keys) from error
    for text in find_mistakes(run, answers, gold, task.reading):
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    if (similar := find_similar_ids(run.unmatched_expected, run.unmatched_actual)) is not None:
        warnings.warn(similar, JsonMatchWarning, stacklevel=2)
    for pattern in run.unmatched_rules:
        text = format_unmatched(collect_patterns(options)[pattern], pattern, run.nearest_path(pattern))
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    if isinstance(tags, Mapping) and run.total_records:
        found = {tag.partition("=")[0] for tag in run.tags}
        for tag in (tag for tag in tags if tag not in found):
            name, column = name_argument("tags"), tags[tag]
            text = f"{name}: no gold record has a value at {column!r}, so no record has the tag {tag!r}"
            warnings.warn(text, JsonMatchWarning, stacklevel=2)
    keeps_all = len(run.records) == run.total_records
    if cluster is not None and keeps_all and not any(record.cluster for record in run.records):
        name = name_argument("cluster")
        text = f"{name}: no gold record has a column {cluster!r}, so each record is a cluster of its own"
        warnings.warn(text, JsonMatchWarning, stacklevel=2)
    return run


def _check_arguments(options: Mapping[str, Any]) -> None:
    """Raise an error for an option that is almost the name of an argument of `compare_corpus`."""
    arguments = set(inspect.signature(compare_corpus).parameters) - {"options"}
    for name in options.keys() - OPTION_ALIASES.keys() - EVALUATION_TYPES.keys():
        completions = (
            argument
            for argument in sorted(arguments)
            if argument.startswith(f"{name}_") or name.startswith(f"{argument}_")
        )
        suggestion = next(completions, None) or find_closest(name, [*arguments, *OPTION_NAMES])
        if suggestion in arguments:
            raise ConfigurationError(f"unknown argument {name!r}; did you mean {suggestion!r}?")


def evaluate(
    gold: RecordsArgument | Mapping[str, object],
    extracted: RecordsArgument,
    schema: SchemaSource | SchemaNode | None = None,
    **options: Any,
) -> RunResult:
    """Evaluate extracted records against gold records: `compare_corpus` with the gold records first.

    Args:
        gold: the correct records, as for `compare_corpus`.
        extracted: the answers, as for `compare_corpus`.
        schema: an eval schema: a dict, the path of a JSON file, or a pydantic model class.
        **options: any other argument or option of `compare_corpus`.

    Returns:
        The result of `compare_corpus`. Raises the same errors, too.

    >>> from pytest_jsonmatch.schema import evaluate
    >>> run = evaluate([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 3}], {"properties": {"n": {"type": "integer"}}})
    >>> run.mean_f1
    0.5
    """
    return compare_corpus(extracted, gold, schema=schema, **options)
