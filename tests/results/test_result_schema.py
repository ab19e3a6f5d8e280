"""The JSON Schema of result files: it says what we write, and what we read."""

from __future__ import annotations

import copy
import json
from dataclasses import fields, replace
from typing import Any

import jsonschema_rs
import pytest

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.api import compare_json
from pytest_jsonmatch.engine.align.audited import ArrayAudit, AuditedPair, Partner
from pytest_jsonmatch.engine.plan.registry import register_comparator, session_registry
from pytest_jsonmatch.engine.result.absence import Presence
from pytest_jsonmatch.engine.result.figures import FieldAggregation
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.file import FORMAT, VERSION, from_text, schema_text, to_text
from pytest_jsonmatch.results.model import Answers, Corpus, ResultSet

FIELD = FieldAggregation(
    matches=1,
    mismatches=2,
    omissions=1,
    hallucinations=1,
    skipped=1,
    batch_errors=1,
    score_sum=1.5,
    expected_leaves=3,
    actual_leaves=4,
    places=2,
    fabricated=1,
    weighted_score=1.5,
    expected_weight=4.0,
    actual_weight=4.0,
)


PAIR = AuditedPair(0, 1, 0.5, 0.5, Partner(2, 0.25), Partner(None, 0.0), 0.01, ambiguous=True)
AUDIT = ArrayAudit("items", "items", "items", (PAIR,), (1,), (2,), "too many", 3)


def comparison(**more: Any) -> Comparison:
    figures = {"score": 0.5, "precision": 0.5, "recall": 0.25, "f1": 1 / 3}
    if not more.get("has_figures", True):
        figures = dict.fromkeys(figures, 0.0)
    return Comparison("a#1", "a", "pairwise_f1", "pairwise_f1|options:none", **figures, passed=False, **more)


# Every key that there is, each at least once.
FULL = ResultSet(
    (
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
                            presence={
                                "$": Presence(objects=2),
                                "tip": Presence(met=1, known=True, places=1, fabricated=1),
                            },
                            counts={"match": 1},
                            errors=("numeric at a: it failed",),
                            warnings=("a note",),
                            arrays={"items": (1, 0, 2)},
                            params={"model": ("large", 1)},
                            audit=(AUDIT,),
                            parsed=True,
                            validity="invalid",
                            violations=("a: no",),
                            spent=Spent("large", 1.5, 900, 100, 0.25),
                            tags={"language": "de"},
                        ),
                        comparison(has_figures=False),
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
    corpus=Corpus(
        *(
            "pairwise_f1",
            "pairwise_f1|options:none",
            9,
            8,
            7,
            dict.fromkeys(FIGURES, 0.5),
            {"a": FIELD},
            1,
        ),
        unscored=1,
        answers=Answers(5, 4, 2, 3, 1),
        by_tag={"source=phone": Corpus("pairwise_f1", "pairwise_f1|options:none", 0, 0, 0)},
    ),
)
SMALLEST = ResultSet()
NO_RECORDS = ResultSet(corpus=Corpus("m", "m", 0, 0, 0))
SCHEMA: dict[str, Any] = json.loads(schema_text())


def strict(schema: Any) -> Any:
    """The schema with no room for keys that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value if key == "if" else strict(value) for key, value in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


def accepts(schema: Any, found: Any) -> bool:
    return jsonschema_rs.is_valid(schema, found)


def reads(found: Any) -> bool:
    try:
        from_text(json.dumps(found), "x.json")
    except ConfigurationError:
        return False
    return True


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    properties = SCHEMA["properties"]
    assert (properties["format"]["const"], properties["version"]["const"]) == (FORMAT, VERSION)


@pytest.mark.parametrize("results", [FULL, SMALLEST, NO_RECORDS])
def test_what_we_write_is_what_it_says_and_nothing_else(results: ResultSet) -> None:
    assert accepts(strict(SCHEMA), json.loads(to_text(results)))


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


def failing(expected: object, actual: object, params: object) -> float:
    raise ValueError


def test_we_write_all_that_it_says() -> None:
    with session_registry():
        register_comparator("failing", failing)
        rules = {"b": {"compare": "failing"}}
        result = compare_json({"a": [1], "b": 1}, {"a": [2], "b": 1}, metric="field_match", fields=rules)
        case = FULL.cases[0]
        first = case.runs[0].comparisons[0].with_values(result)
        run = replace(case.runs[0], comparisons=(first, *case.runs[0].comparisons[1:]))
        full = replace(FULL, cases=(replace(case, runs=(run, *case.runs[1:])),))
        written = json.loads(to_text(full))
    assert named_in(SCHEMA) - keys_in(written) == set()
    assert accepts(strict(SCHEMA), written)
    assert to_text(from_text(json.dumps(written), "x.json")) == to_text(full)


def test_it_names_every_sum_and_every_key_of_a_comparison() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["field"]["properties"]) == {"score", *FieldAggregation.__dataclass_fields__}
    # (Whether there are figures is whether they are null.)
    own = {each.name for each in fields(Comparison) if each.init} - {"has_figures"}
    assert set(definitions["comparison"]["properties"]) == {*own, "field_results", "containers"}


def places(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below the root."""
    items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [each for key, value in items for each in [(*path, key), *places(value, (*path, key))]]


WRITTEN: dict[str, Any] = json.loads(to_text(FULL))
NAMED = [path for path in places(WRITTEN) if path[-1] in named_in(SCHEMA)]


def changed(path: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(WRITTEN)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return found


def test_of_another_type_nothing_is_valid_and_nothing_is_read() -> None:
    wrong = {str: 7, int: "7", float: "7", bool: 1, list: {}, dict: [], type(None): "no"}
    accepted = []
    for path in NAMED:
        inner: Any = WRITTEN
        for key in path:
            inner = inner[key]
        other = changed(path, wrong[type(inner)])
        if accepts(SCHEMA, other) or reads(other):
            accepted.append((path, accepts(SCHEMA, other), reads(other)))
    assert accepted == []


def test_without_what_is_required_nothing_is_valid_and_nothing_is_read() -> None:
    verdicts = []
    for path in NAMED:
        found = copy.deepcopy(WRITTEN)
        inner = found
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        if accepts(SCHEMA, found) != reads(found):
            verdicts.append((path, accepts(SCHEMA, found), reads(found)))
    assert verdicts == []


RUN = ("cases", 0, "runs", 0)
COMPARED = (*RUN, "comparisons", 0)
PAIRED = (*COMPARED, "audit", 0, "pairs", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 0),
        (("version",), 2),
        (("collected",), -1),
        (("figures", "score"), 1.5),
        (("cases", 0, "of"), 0),
        (("cases", 0, "runs"), []),
        (("cases", 0, "min_pass_rate"), -0.1),
        ((*RUN, "run"), 0),
        ((*COMPARED, "f1"), 1.01),
        ((*COMPARED, "signature"), -1),
        ((*COMPARED, "counts", "match"), 2**53 + 1),
        ((*COMPARED, "threshold", "fields", "items[].*"), 2),
        ((*COMPARED, "fields", "items[].price", "matches"), 1.5),
        ((*COMPARED, "fields", "items[].price", "score_sum"), -1),
        ((*COMPARED, "fields", "items[].price", "actual_weight"), 1e201),
        ((*COMPARED, "arrays", "items"), [1, 2]),
        ((*COMPARED, "params", "model"), ["large", 1, 2]),
        ((*COMPARED, "spent", "cost"), -1),
        ((*COMPARED, "spent", "input_tokens"), 2**53 + 1),
        ((*COMPARED, "spent", "model"), ""),
        (("corpus", "records"), -1),
        ((*PAIRED, "expected"), -1),
        ((*PAIRED, "f1"), 1.5),
        ((*PAIRED, "score"), -0.5),
        ((*PAIRED, "margin"), -0.5),
        ((*PAIRED, "next_actual"), {"index": 1.5, "score": 0.5}),
        ((*PAIRED, "next_expected"), {"index": 1, "score": None}),
        ((*PAIRED, "next_expected"), []),
    ],
)
def test_numbers_out_of_bounds_are_neither_valid_nor_read(path: tuple[Any, ...], value: Any) -> None:
    found = changed(path, value)
    assert (accepts(SCHEMA, found), reads(found)) == (False, False)


def test_keys_that_a_later_release_may_add_are_passed_over() -> None:
    found = changed((*COMPARED, "later"), {"x": 1})
    found["later"] = 1
    assert accepts(SCHEMA, found)
    assert from_text(json.dumps(found), "x.json") == FULL


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_json_does_not_have_is_not_read(text: str) -> None:
    written = json.dumps(changed((*COMPARED, "fields", "items[].price", "score_sum"), "HERE"))
    with pytest.raises(ConfigurationError, match=r'it is damaged: .*score_sum: .* is not of type "number"'):
        from_text(written.replace('"HERE"', text), "x.json")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*COMPARED, "fields", "a["), {"score": 1}, r"'a\[' is not a path"),
        ((*COMPARED, "threshold", "fields", "a["), 1, r"'a\[' is not a"),
        ((*COMPARED, "signature"), 9, "a `signature` is a place beyond the end of"),
        ((*COMPARED, "metric"), "other", "'a#1' is not scored as the corpus is"),
        (("corpus", "records"), 0, "there are 1 cases of 0 records"),
    ],
)
def test_what_a_schema_has_no_words_for_is_not_read(path: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        from_text(json.dumps(changed(path, value)), "x.json")
