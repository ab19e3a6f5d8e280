"""The JSON Schema of result files: it says what we write, and what we read."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest

from pytest_jsonmatch import (
    Answer,
    Comparison,
    ConfigurationError,
    FieldAggregation,
    JsonMatchWarning,
    RunResult,
    Spent,
    compare_corpus,
    register_comparator,
)
from pytest_jsonmatch.engine.result.rows import RowCounts
from pytest_jsonmatch.results.comparison import Case, CaseRun, Difference
from pytest_jsonmatch.results.file import FORMAT, VERSION, from_text, schema_text, to_text
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.support.frozen import list_fields, replace
from tests.conftest import corpus_of, unreachable

FIELD = FieldAggregation.from_list([1, 2, 1, 1, 1, 1, 3, 4, 1.5, 1.5, 4.0, 4.0])


def comparison(**more: Any) -> Comparison:
    statistics = {"score": 0.5, "precision": 0.5, "recall": 0.25, "f1": 1 / 3}
    if not more.get("has_figures", True):
        statistics = dict.fromkeys(statistics, 0.0)
    return Comparison(
        "a#1", "a", "pairwise_f1", "pairwise_f1|options:none", **statistics, passed=False, **more
    )


SCHEMA_OF_GOLD = {
    "properties": {
        "a": {"x-eval-compare": "unreachable"},
        "items": {
            "items": {"properties": {"n": {"type": "integer"}}},
            "x-eval-align": {"match_by": "key_field", "key": "n"},
        },
    }
}
GOLD = [{"id": f"r{at}", "a": "good", "items": [{"n": at}, {"n": at + 1}]} for at in range(9)]
ANSWERS = [
    {"id": "r0", "a": "good", "items": [{"n": 0}, {"n": 8}]},
    '{"id": "r1", "a": "good", "items": []}',
    '{"id": "r2", "a": "good", "items": [{"n": "x"}]}',
    {"id": "r3", "a": "good", "items": [{"n": 3}, {"n": 4, "b": "\ud800"}]},
    {"id": "r4", "a": "bad"},
    '{"id": "r5", no',
    *GOLD[6:],
]
register_comparator("unreachable", unreachable, overwrite=True)
CORPUS = compare_corpus(
    ANSWERS,
    [*GOLD[:4], {"id": "r4", "a": "bad"}, *GOLD[5:]],
    id="id",
    schema=SCHEMA_OF_GOLD,
    validate="report",
    tags={"source": "a"},
)
# Every key that there is, each at least once.
FULL = replace(
    CORPUS,
    records=(),
    worst=(),
    warnings=(),
    errors=(),
    unmatched_expected=(),
    unmatched_actual=(),
    kept_cases=(
        Case(
            "a",
            (
                CaseRun(
                    1,
                    passed=False,
                    comparisons=(
                        comparison(
                            threshold={"score": 1.0, "F2": 0.5, "fields": {"items[].*": 0.5}},
                            fields={"items[].price": FIELD, '["a b"]': FieldAggregation(skipped=1)},
                            rows={"items": RowCounts(5, 4, 6)},
                            differences={
                                "items[].price": (
                                    Difference(
                                        "1", "2", 3, 0.5, "items[].price.n", ("items[0]",), ("items[0]",)
                                    ),
                                )
                            },
                            counts={"match": 1},
                            errors=("numeric at a: it failed",),
                            unreadable="there is no JSON in it",
                            warnings=("a note",),
                            params=("model",),
                            parsed=True,
                            validity="invalid",
                            violations=("a: no",),
                            spent=Spent("large", 1.5, 900, 100, 0.25),
                            tags={"language": "de"},
                        ),
                        comparison(has_figures=False, counts_extra=False, floor=0.25),
                    ),
                ),
                CaseRun(2, passed=False, error="it raised"),
            ),
            of=3,
            min_pass_rate=0.5,
            cluster="invoice 7",
            tags={"source": "phone", "pages": 3, "signed": None},
        ),
    ),
    created="2026-11-21T12:00:00+00:00",
    commit="abc+",
    versions={"python": "3.13.1"},
    collected=3,
    narrowed=("-k",),
    judged=True,
    has_only_gates=True,
)
SCHEMA: dict[str, Any] = json.loads(schema_text())


HEAD, CASE = (json.loads(line) for line in to_text(FULL).splitlines())


def schema_of(kind: str) -> Any:
    return {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}


def strict(schema: Any) -> Any:
    """The schema with no room for keys that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


def read(head: Any, *cases: Any) -> RunResult:
    return from_text("\n".join(map(json.dumps, (head, *cases))), "x.json")


def reads(head: Any, *cases: Any) -> bool:
    try:
        read(head, *cases)
    except ConfigurationError:
        return False
    return True


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    properties = SCHEMA["$defs"]["head"]["properties"]
    assert (properties["format"]["const"], properties["version"]["const"]) == (FORMAT, VERSION)


@pytest.mark.parametrize(
    "results", [FULL, RunResult.of_cases(), replace(corpus_of([({}, {})], keep="none"), kept_cases=())]
)
def test_what_we_write_is_what_it_says_and_nothing_else(results: RunResult) -> None:
    for number, line in enumerate(to_text(results).splitlines()):
        found = json.loads(line)
        assert jsonschema_rs.is_valid(SCHEMA, found)
        assert jsonschema_rs.is_valid(strict(schema_of("case" if number else "head")), found)
    assert from_text(to_text(results), "x.json") == results


def keys_in(found: Any) -> set[str]:
    if isinstance(found, list):
        return set().union(*map(keys_in, found))
    if isinstance(found, dict):
        return set(found).union(*map(keys_in, found.values()))
    return set()


def named_in(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(named_in, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*map(named_in, schema.values()))


def test_we_write_all_that_it_says() -> None:
    gold = [{"id": "r1", "a": 1}]
    ignoring = to_text(compare_corpus(gold, gold, extra="ignore", id="id", keep="none"))
    rules: dict[str, Any] = {"metric": "json_similarity", "fields": {"x": {"weight": 2}}, "id": "id"}
    usage = {"input_tokens": 3, "output_tokens": 4, "cost": 0.5}
    answers = [Answer('{"id": 1, "a": 1, "a": 1}', seconds=1.5, usage=usage), {"id": 3}]
    with pytest.warns(JsonMatchWarning):
        run = compare_corpus(answers, [{"id": 1}, {"id": 2, "b": 1}], **rules)
    corpus, *_ = to_text(run).splitlines()
    assert named_in(SCHEMA) - keys_in([HEAD, CASE, *map(json.loads, (ignoring, corpus))]) == set()


def test_it_names_every_sum_and_every_member_of_a_comparison() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["field"]["properties"]) == {"score", *list_fields(FieldAggregation)}
    assert set(definitions["comparison"]["properties"]) == {
        name for name in list_fields(Comparison) if name != "detail"
    }


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below the root."""
    items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [each for key, value in items for each in [(*path, key), *places(value, (*path, key))]]


def changed(path: tuple[Any, ...], change: Any) -> tuple[Any, Any]:
    """The lines of `FULL` after a change at a place: `change` takes the object and the key."""
    found = {"head": copy.deepcopy(HEAD), "case": copy.deepcopy(CASE)}
    inner: Any = found
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return found["head"], found["case"]


def with_value(path: tuple[Any, ...], value: Any) -> tuple[Any, Any]:
    return changed(path, lambda inner, key: inner.__setitem__(key, value))


WRONG = {str: 7, int: "7", float: "7", bool: 1, list: {}, dict: [], type(None): "no"}


def of_another_type(inner: Any, key: Any) -> None:
    inner[key] = WRONG[type(inner[key])]


def without(inner: Any, key: Any) -> None:
    del inner[key]


def test_what_is_not_valid_is_not_read() -> None:
    named = [path for path in places({"head": HEAD, "case": CASE})[1:] if path[-1] in named_in(SCHEMA)]
    assert [path for path in named if reads(*changed(path, of_another_type))] == []
    required = {path[-1] for path in named if not reads(*changed(path, without))}
    assert {"format", "version", "figures", "cases", "id", "runs", "number", "passed", "nodeid"} <= required
    assert required.isdisjoint({"created", "commit", "collected", "judged", "cluster", "tags", "comparisons"})


COMPARED = ("case", "runs", 0, "comparisons", 0)
SUMS = {"score_sum", "weighted_score", "expected_weight", "actual_weight"}


def value_at(path: tuple[Any, ...]) -> Any:
    inner: Any = {"head": HEAD, "case": CASE}
    for key in path:
        inner = inner[key]
    return inner


def read_as(value: float) -> set[str]:
    """The names of the numbers that may have a value."""
    numbers = [path for path in places({"head": HEAD, "case": CASE}) if type(value_at(path)) in {int, float}]
    chosen = [path for path in numbers if {"tags", "sums", "leaves", "kinds"}.isdisjoint(path)]
    return {path[-1] for path in chosen if reads(*with_value(path, value))}


def test_numbers_out_of_bounds_are_not_read() -> None:
    assert read_as(-1) == read_as(1e201) == set()
    assert read_as(2**60) == SUMS
    assert read_as(1.5) == {*SUMS, "seconds", "cost"}
    assert read_as(0.5) - read_as(1.5) == {
        *SCORES,
        *("pass_rate", "parse_rate", "valid_rate", "omission_rate", "hallucination_rate"),
        *("min_pass_rate", "F2", "items[].*", "floor"),
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("head", "version"), 0),
        (("head", "version"), 1),
        (("case", "of"), 0),
        (("case", "runs"), []),
        ((*COMPARED, "signature"), 0),
        ((*COMPARED, "params"), [1]),
        ((*COMPARED, "spent", "model"), ""),
    ],
)
def test_what_else_is_not_read(path: tuple[Any, ...], value: Any) -> None:
    assert not reads(*with_value(path, value))


def test_keys_that_a_later_release_may_add_are_ignored() -> None:
    _, case = with_value((*COMPARED, "later"), {"x": 1})
    assert read({**HEAD, "later": 1}, case) == FULL


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_json_does_not_have_is_not_read(text: str) -> None:
    lines = with_value((*COMPARED, "fields", "items[].price", "score_sum"), "HERE")
    written = "\n".join(map(json.dumps, lines))
    with pytest.raises(ConfigurationError, match=r'is damaged: .*score_sum: .* is not of type "number"'):
        from_text(written.replace('"HERE"', text), "x.json")
