"""The JSON Schema of golden files: it accepts what the loader accepts, and refuses what the loader refuses."""

from __future__ import annotations

import copy
import json
import re
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import strategies as st
from jsonschema_rs import Draft7Validator, Draft202012Validator

from pytest_jsonmatch import ConfigurationError, JsonMatchError, Registry
from pytest_jsonmatch.comparing.comparer import Comparer
from pytest_jsonmatch.engine.comparators import BUILTIN, OPTIONAL
from pytest_jsonmatch.engine.comparators.transforms import BUILTIN as TRANSFORMS
from pytest_jsonmatch.engine.plan.accept import ACCEPT_WORDS
from pytest_jsonmatch.engine.plan.options import (
    CHOICES,
    COMPARED_TYPES,
    EVALUATION_TYPES,
    FIELD_WORDS,
    LARGEST_WEIGHT,
    OPTION_ALIASES,
    OPTION_NAMES,
    PRESETS,
)
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.keys import CASE_KEYS, FILE_KEYS, KEYS, PAIRS, SEVERAL
from pytest_jsonmatch.golden.marks import MARK_KEYWORDS
from pytest_jsonmatch.reading.matchers import MATCHER_WORDS
from pytest_jsonmatch.reading.yamlevents import load
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.support.defaults import METRIC
from tests.conftest import GoldenFileError, load_cases
from tests.fuzz.yamlfiles import Scribe, chances, parser_of_yaml
from tests.laws import law

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads(files("pytest_jsonmatch.golden").joinpath("golden-cases.schema.json").read_bytes())
VALIDATORS = [Draft202012Validator(SCHEMA), Draft7Validator(SCHEMA)]


def loader_says(text):
    """What the loader has to say against a file; None if nothing."""
    try:
        load_cases(text.encode(), Path("x.golden.yaml"), "x.yaml")
    except GoldenFileError as error:
        # Tables are looked for once the rest of the file is right.
        return None if "no/such" in str(error) and "can't be read" in str(error) else str(error)
    return None


def schema_accepts(document):
    verdicts = {validator.is_valid(document) for validator in VALIDATORS}
    assert len(verdicts) == 1, "draft 7 and draft 2020-12 read the schema differently"
    return verdicts.pop()


def as_text(document):
    return json.dumps(document, ensure_ascii=False).replace("\x7f", "\\u007f")


def test_the_schema_is_one_in_both_drafts():
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        assert jsonschema_rs.meta.is_valid({**SCHEMA, "$schema": draft})


def test_a_reference_stands_alone():
    """To draft 7, and so to most editors, what stands beside a $ref does not exist."""
    waiting, next_to = [SCHEMA], []
    while waiting:
        node = waiting.pop()
        waiting.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else [])
        if isinstance(node, dict) and "$ref" in node and len(node) > 1:
            next_to.append(node)
    assert next_to == []


def test_each_key_has_its_definition_with_a_hover_text():
    definitions = SCHEMA["$defs"]
    assert all(definitions[name]["description"].endswith((".", "*")) for name in [*KEYS, "cases_from"])
    assert set(SCHEMA["properties"]) == {*KEYS, *SEVERAL}
    assert set(definitions["case"]["properties"]) == CASE_KEYS


def test_each_key_is_in_the_table_of_the_docs():
    docs = (ROOT / "docs" / "golden-keys.md").read_text(encoding="utf-8")
    table = docs.split("\n## ", 1)[0]
    assert set(re.findall(r"`(\w+)`", table.split("|---|---|", 1)[1])) >= {*KEYS, "cases_from"}


def forms_of(kind):
    """The forms of known comparators or transforms with parameters, by name; each is also offered alone."""
    *words, _, with_parameters = SCHEMA["$defs"][kind]["anyOf"]
    assert [word["const"] for word in words] == list(with_parameters["properties"])
    return with_parameters["properties"]


def test_names_and_choices_are_those_of_the_engine():
    definitions = SCHEMA["$defs"]
    offered = [form["const"] for form in definitions["metric"]["anyOf"] if "const" in form]
    assert set(offered) == set(PRESETS)
    assert sorted(forms_of("comparator")) == sorted([*BUILTIN, *OPTIONAL])
    assert list(forms_of("transform")) == list(TRANSFORMS)
    known = definitions["options"]["properties"]
    assert set(known) == {*OPTION_NAMES, "repair"} - {"fields", "skip", "accept", "schema"}
    others = list(definitions["options"]["patternProperties"])
    for word in (*OPTION_ALIASES, *EVALUATION_TYPES):
        assert [bool(re.search(pattern, word)) for pattern in others].count(True) == 1
    assert {name: known[name]["enum"] for name in CHOICES} == {
        name: list(choices) for name, choices in CHOICES.items()
    }
    assert sorted(definitions["comparator_name"]["examples"]) == sorted([*BUILTIN, *OPTIONAL])
    assert tuple(known["compare"]["anyOf"][1]["properties"]) == COMPARED_TYPES
    rule = definitions["rule"]["properties"]
    assert set(rule) == set(FIELD_WORDS)
    assert set(definitions["accepted"]["anyOf"][1]["properties"]) == set(ACCEPT_WORDS)
    assert rule["weight"]["maximum"] == LARGEST_WEIGHT
    assert tuple(definitions["matched"]["properties"]) == MATCHER_WORDS
    assert definitions["matched"]["if"]["propertyNames"]["enum"] == list(MATCHER_WORDS)


def test_scores_and_marks_are_those_of_the_loader():
    definitions = SCHEMA["$defs"]
    assert list(definitions["threshold"]["anyOf"][1]["properties"]) == [*SCORES, "fields"]
    bare, with_arguments = definitions["marks"]["items"]["anyOf"]
    assert bare["examples"] == list(MARK_KEYWORDS)
    for name, words in MARK_KEYWORDS.items():
        assert set(with_arguments["properties"][name]["anyOf"][1]["properties"]) == set(words)


@pytest.mark.parametrize(
    ("find", "kind"),
    [(Registry().find_comparator, "comparator"), (Registry().find_transform, "transform")],
    ids=["comparators", "transforms"],
)
def test_parameters_offered_are_those_that_are_taken(find, kind):
    for name, form in forms_of(kind).items():
        parameters = form.get("properties", {})
        with pytest.raises(ConfigurationError) as caught:
            find(name).bind({"qqqq": 1})
        _, _, known = str(caught.value).partition("; known: ")
        assert (name, set(filter(None, known.split(", ")))) == (name, set(parameters))


# -- the same verdict --------------------------------------------------------------------------------------

WORDS = ["a", "é名", "x1", "_b", "", "two words", "1a", "a.b", "a\n", "-", "ß", "1", "true", "~"]
SCALARS = [None, True, False, 0, 1, -1, 2, 0.5, 1.0, 1.5, 1e9, 10**400, -(10**400), *WORDS]
SPECIAL = [
    *("setup", "teardown_module", "setUpModule", "pytest_x", "pytestmark", "__a__", "_a", "setup_x"),
    *("a.json", "b.YAML", "c.yml", "d.txt", ".json", "a.json\n", "a.jsonl", "b.CSV", "c.csv\n"),
    *("m:f", "m.n:C.f", "m", "m:", ":f", "1:f", "m:f:g", "m..n:f", "é:名", "m:f\n", "m: f"),
    *("field_match", "structeval", "ordered", "unordered", "any", "object", "leaves", "count", "f1", "never"),
    *("512 MiB", "1.5gib", " 4096 ", "5 MB", "-1 GiB", "1 B", ".5 KiB", "1e3", "nan", "1_000", "1..0", "."),
    *(
        "$",
        "$.a",
        '$["a"]',
        "$[]",
        "a[].b",
        "**",
        "*",
        "a.*",
        "a.**.b",
        "[]",
        "a[0]",
        "a..b",
        "a.",
        ".a",
        "$a",
    ),
    *('["a b"]', 'a["\\""]', 'a["\\x"]', "a[", "***", "a b", '["\\u00e9"]', '["\\u00"]', "$.", "$$", "*.a[]"),
    *("${a}", "a ${a}", "$${a}", "${", "<3.12", ">=3,<", "linux"),
    *("skip", "xfail", "usefixtures", "skipif", "parametrize", "slow"),
]
values = st.recursive(
    st.sampled_from([*SCALARS, *SPECIAL]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=5,
)
patterns = st.sampled_from(["a", "$", "a[].b", "**.c", '["x y"]', "*", "$.a"])
units = st.sampled_from([0, 1, 0.5, 1.0, 0.0])


def specs(*names):
    parameters = st.none() | st.dictionaries(st.sampled_from(["rel", "tolerance", "x y"]), values, max_size=2)
    mine = st.sampled_from([*names, "my_own", ""])
    return mine | st.builds(lambda name, params: {name: params}, mine, parameters)


def mapping(**members):
    return st.fixed_dictionaries({}, optional=members)


comparators = specs("exact", "numeric", "string")
transforms = specs("strip", "unicode") | st.lists(specs("strip", "unicode"), max_size=3)
by_key = st.fixed_dictionaries({"key": st.sampled_from(WORDS)})
evaluations = st.fixed_dictionaries(
    {"evaluation_type": st.sampled_from(["binary", "x"])},
    optional={"evaluation_params": st.none() | st.dictionaries(st.sampled_from(WORDS), values, max_size=1)},
)
accepted = st.lists(values, min_size=1, max_size=2) | mapping(
    values=st.lists(values, min_size=1, max_size=2),
    optional=st.booleans(),
    regex=st.sampled_from(["", "[A-Z]{2}-[0-9]+"]),
    type=st.sampled_from(["string", ["null", "integer"]]),
    any=st.booleans(),
)
match_thresholds = st.sampled_from([0.5, 1, None])


def has_one_threshold(words):
    return words.get("leaf_threshold") is None or words.get("match_threshold") is None


mapped_rules = mapping(
    accept=accepted,
    compare=comparators,
    tolerance=st.sampled_from([0, 0.5, 10**6, {}, {"rel": 0.01}, {"rel": 1, "abs": 0}, {"abs": None}, None]),
    leaf_threshold=units | st.none(),
    match_threshold=match_thresholds,
    transform=transforms,
    skip=st.booleans(),
    weight=st.sampled_from([0, 1, 2.5, 10**6]),
    align=st.sampled_from(
        ["ordered", "unordered", "sequence", {"match_by": "hungarian"}, {"match_by": "ordered"}]
    )
    | by_key
    | st.builds(lambda name: {"key": name, "match_by": "key_field"}, st.sampled_from(WORDS))
    | st.builds(lambda name: {"key": name, "ordered": False}, st.sampled_from([*WORDS, "ordered"]))
    | st.sampled_from(
        [{"ordered": True}, {"ordered": False, "match_by": "hungarian"}, {"match_by": "sequence"}]
    ),
).filter(lambda rule: not {"compare", "tolerance"} <= rule.keys() and has_one_threshold(rule))
rules = st.sampled_from(["skip", "exact", "my_own"]) | mapped_rules
options = mapping(
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
    arrays=st.sampled_from(["ordered", "unordered", "sequence"]) | by_key,
    absent=st.lists(values, max_size=2),
    array_threshold=units,
    array_matching_threshold=units,
    leaf_threshold=units | st.none(),
    match_threshold=match_thresholds,
    target_key=st.sampled_from(WORDS),
    target_output_key=st.sampled_from(WORDS),
    compare=st.sampled_from(["exact", {"numeric": {}}, {"my_own": {"a": 1}}, {}])
    | mapping(string=comparators, number=comparators, null=comparators),
    transform=transforms,
    repair=st.booleans(),
    string_evaluation_type=evaluations,
    number_evaluation_type=evaluations,
).filter(has_one_threshold)
reasons = st.sampled_from([None, "", "later"])
marks = st.lists(
    st.sampled_from(["slow", "skip", "xfail", "é_1"])
    | st.builds(lambda value: {"slow": value}, values)
    | st.builds(lambda reason: {"skip": reason}, reasons)
    | st.builds(lambda words: {"skip": words}, mapping(reason=st.sampled_from(WORDS)))
    | st.builds(
        lambda words: {"xfail": words}, mapping(reason=st.just("x"), strict=st.booleans(), run=st.booleans())
    )
    | st.builds(lambda names: {"usefixtures": names}, st.sampled_from(["db", ["db"], ["db", "é"]])),
    max_size=3,
)
limits = st.sampled_from([0, 0.5, 3])
matchers = st.sampled_from(
    [
        *({"$regex": "[A-Z]{2}"}, {"$range": [1, 2.5]}, {"$any": True}, {"$any": "null"}),
        {"$any": ["array"]},
        *({"$length": 3}, {"$length": [0, 2]}, {"a": {"$absent": True}}, {"$absent": 1, "b": 2}),
        *({"$one_of": [{"a": 1}]}, {"$approx": 1}, {"$literal": {"$any": 5}}, {"$ref": 1}, {"$a": {"$b": 2}}),
        *({"$regex": 5, "b": 1}, {"$and": [1]}),
    ]
) | st.builds(lambda given: {"$approx": {"value": 1, **given}}, mapping(rel=limits, abs=limits))
matched = st.recursive(
    matchers,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=2),
    max_leaves=3,
)
names = st.sampled_from(["a", "b/c.txt", "é 1"])
several = st.lists(values, min_size=1, max_size=2)
# One strategy a key: a new key of the format needs one here, or the test below says so.
GOOD = {
    "id": st.sampled_from(["a", "é-1", "x.y@z+", "1", "-", "_a", "setup_x"]),
    "title": st.sampled_from(WORDS),
    "input": values,
    "input_file": names,
    "actual": values,
    "actual_file": names,
    "expected": values | matched,
    "expected_file": st.sampled_from(["a.json", "b.YAML", ".yml", "é/c.yml"]),
    "metric": st.sampled_from(["field_match", "structeval", "my own"]),
    "threshold": units
    | mapping(score=units, precision=units, recall=units, f1=units, fields=st.dictionaries(patterns, units)),
    "options": options,
    "fields": st.dictionaries(patterns, rules, max_size=3),
    "skip": st.lists(patterns, max_size=3),
    "accept": st.dictionaries(patterns, accepted, max_size=2),
    "schema": st.sampled_from(["s.json", {}, {"type": "object"}]),
    "validate": st.sampled_from(["report", "require", "off"]),
    "producer": st.sampled_from(["m:f", "m.n:C.f", "_é:名1"]),
    "repeat": st.sampled_from([1, 2, 3.0]),
    "min_pass_rate": units,
    "cluster": st.sampled_from(["invoice 7", "é"]),
    "tags": st.dictionaries(st.sampled_from(["source", "é 1"]), st.sampled_from(SCALARS), max_size=2),
    "marks": marks,
    # Always an "a", as values have places that it fills.
    "parametrize": st.fixed_dictionaries({"a": several}, optional={"é_1": several})
    | st.fixed_dictionaries({"a": values, "id": st.sampled_from(["x", "é-1"])}).map(lambda row: [row]),
}


@st.composite
def mappings(draw, keys, must=()):
    """A case, or the defaults of a file."""
    found = {}
    for name in draw(st.lists(st.sampled_from(sorted(keys)), unique=True, max_size=4)):
        if not any({name, other} in ({pair, f"{pair}_file"} for pair in PAIRS) for other in found):
            found[name] = draw(GOOD[name])
    if must and not any(name in found for name in must):
        name = draw(st.sampled_from(must))
        found[name] = draw(GOOD[name])
    return found


columns = st.recursive(
    st.sampled_from(["a", "é 1"]),
    lambda inner: st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=2),
    max_leaves=3,
)
tables_of_cases = st.fixed_dictionaries(
    {"file": st.sampled_from(["no/such.jsonl", "no/such.CSV"])},
    optional={"id": names, "input": columns, "actual_file": names, "expected": columns},
)
EXPECTED = ("expected", "expected_file")
cases = mappings(CASE_KEYS, EXPECTED)


@st.composite
def good_files(draw):
    if draw(st.booleans()):
        return draw(cases)
    if draw(st.integers(0, 3)) == 0:
        return {**draw(mappings(FILE_KEYS - SEVERAL)), "cases_from": draw(tables_of_cases)}
    listed = draw(st.lists(cases, min_size=1, max_size=3))
    for index, case in enumerate(listed):
        if "id" in case:
            case["id"] += str(index)
    return {**draw(mappings(FILE_KEYS - SEVERAL)), "cases": listed}


def test_every_key_is_generated():
    assert list(GOOD) == list(KEYS)


@law(good_files(), examples=150)
def test_what_is_good_is_good_to_both(document):
    assert (loader_says(as_text(document)), schema_accepts(document)) == (None, True)


def containers(document):
    """Every container in a document, the document first."""
    found = [document]
    for each in found:
        below = each.values() if isinstance(each, dict) else each
        found.extend(value for value in below if isinstance(value, (dict, list)))
    return found


ONLY_THE_LOADER = [
    *("is already taken by", "names no parameter", "the rows do not have the same names"),
    *("unknown matcher", "is not a regular expression", "two numbers, both included"),
]
NAMES = [
    *KEYS,
    *SEVERAL,
    *("file", "expcted", "skip", "xfail", "reason", "strict", "fields", "score", "key", "string", "x"),
]


def with_a_change(document, draw):
    """The document with one thing in it changed: a value replaced, a key added, renamed or taken away."""
    document = copy.deepcopy(document)
    here = draw(st.sampled_from(containers(document)))
    kind = draw(st.sampled_from(["replace", "replace", "add", "rename", "drop"]))
    places = list(here) if isinstance(here, dict) else list(range(len(here)))
    value = draw(values | GOOD[draw(st.sampled_from(sorted(GOOD)))])
    if kind == "add" or not places:
        if isinstance(here, dict):
            here[draw(st.sampled_from([*NAMES, *SPECIAL]))] = value
        else:
            here.append(value)
        return document
    place = draw(st.sampled_from(places))
    if kind == "replace":
        here[place] = value
    elif kind == "drop":
        del here[place]
    elif isinstance(here, dict):
        here[draw(st.sampled_from([*NAMES, *SPECIAL]))] = here.pop(place)
    return document


@law(good_files(), st.data(), examples=150)
def test_one_change_is_good_or_bad_to_both(document, data):
    document = with_a_change(document, data.draw)
    message = loader_says(as_text(document))
    only_the_loader = message and (
        "${" in as_text(document) or any(each in message for each in ONLY_THE_LOADER)
    )
    assert only_the_loader or (message is None) == schema_accepts(document), message


@law(values, examples=150)
def test_any_value_as_a_file_is_good_or_bad_to_both(document):
    message = loader_says(as_text(document))
    assert (message is None) == schema_accepts(document), message


def case_with(**members):
    return {"cases": [{"expected": 1, **members}]}


FAULTS = {
    "a pattern that is none": case_with(expected={"a": [{"$regex": 5}]}),
    "one bound": case_with(expected={"$range": [1]}),
    "no type": case_with(expected={"$any": "text"}),
    "not any": case_with(expected={"$any": False}),
    "one of nothing": case_with(expected={"$one_of": []}),
    "absent but false": case_with(expected={"a": {"$absent": False}}),
    "an absent root": case_with(expected={"$absent": True}),
    "an absent element": case_with(expected={"a": [{"$absent": True}]}),
    "a length below 0": case_with(expected={"$length": -1}),
    "a length without end": case_with(expected={"$length": [2]}),
    "a length of text": case_with(expected={"$length": "3"}),
    "about a text": case_with(expected={"a": {"$approx": "1"}}),
    "about nothing": case_with(expected={"a": {"$approx": {"rel": 1}}}),
    "about with a wrong word": case_with(expected={"a": {"$approx": {"value": 1, "tol": 1}}}),
    "about with a negative limit": case_with(expected={"a": {"$approx": {"value": 1, "abs": -1}}}),
    "a list": [{"expected": 1}],
    "null": None,
    "no cases": {"cases": []},
    "cases as a mapping": {"cases": {}},
    "a case that is none": {"cases": [{"expected": 1}, "text"]},
    "nothing expected": {"cases": [{"id": "a"}]},
    "nothing expected, alone": {"id": "a"},
    "an unknown key": case_with(inputt=1),
    "an unknown key of the file": {"cases": [{"expected": 1}], "metrik": "a"},
    "cases in a case": case_with(cases=[]),
    "id of a file": {"id": "a", "cases": [{"expected": 1}]},
    "expected of a file": {"expected": 1, "cases": [{"expected": 1}]},
    "expected twice": case_with(expected_file="a.json"),
    "actual twice": case_with(actual=1, actual_file="a"),
    "input twice": case_with(input=1, input_file="a"),
    "input twice, of a file": {"input": 1, "input_file": "a", "cases": [{"expected": 1}]},
    "both kinds of cases": {"cases": [{"expected": 1}], "cases_from": {"file": "no/such.csv"}},
    "a table in a case": case_with(cases_from={"file": "no/such.csv"}),
    "a table that is a name": {"cases_from": "no/such.csv"},
    "a table without a file": {"cases_from": {"id": "a"}},
    "a table of another kind": {"cases_from": {"file": "no/such.xlsx"}},
    "an unknown key of a table": {"cases_from": {"file": "no/such.csv", "idd": "a"}},
    "no column": {"cases_from": {"file": "no/such.csv", "expected": {"a": {"b": ""}}}},
    "no columns": {"cases_from": {"file": "no/such.csv", "expected": {"a": {}}}},
    "expected of a row twice": {"cases_from": {"file": "no/such.csv", "expected": "a", "expected_file": "b"}},
    "a number as title": case_with(title=1),
    "an empty path": case_with(input_file=""),
    "an empty metric": case_with(metric=""),
    "a threshold above 1": case_with(threshold=1.01),
    "a true threshold": case_with(threshold=True),
    "an unknown statistic": case_with(threshold={"scor": 1}),
    "a field's threshold above 1": case_with(threshold={"fields": {"a": 2}}),
    "an unknown option": case_with(options={"emptie": "leaf"}),
    "an unknown choice": case_with(options={"empties": "leaves"}),
    "fields among options": case_with(options={"fields": {}}),
    "schema among options": case_with(options={"schema": {}}),
    "an unknown rule": case_with(fields={"a": {"comparee": "exact"}}),
    "no pattern": case_with(fields={"a..b": {}}),
    "an index in a pattern": case_with(fields={"a[0]": {}}),
    "skip as a word": case_with(fields={"a": {"skip": "yes"}}),
    "a rule that is a list": case_with(fields={"a": ["skip"]}),
    "a comparator and a tolerance": case_with(fields={"a": {"compare": "date", "tolerance": 1}}),
    "a tolerance below 0": case_with(fields={"a": {"tolerance": -1}}),
    "a tolerance of another name": case_with(fields={"a": {"tolerance": {"relative": 1}}}),
    "a leaf threshold above 1": case_with(fields={"a": {"leaf_threshold": 2}}),
    "a match threshold of 0": case_with(fields={"a": {"match_threshold": 0}}),
    "two thresholds of a field": case_with(fields={"a": {"leaf_threshold": 0, "match_threshold": 1}}),
    "two thresholds among options": case_with(options={"leaf_threshold": 0.5, "match_threshold": 0.5}),
    "a case that is skipped": case_with(skip=True),
    "one pattern without a list": case_with(skip="a"),
    "no pattern in skip": case_with(skip=["a..b"]),
    "skip among options": case_with(options={"skip": ["a"]}),
    "a weight below 0": case_with(fields={"a": {"weight": -1}}),
    "a weight above a million": case_with(fields={"a": {"weight": 10**6 + 1}}),
    "two comparators in one": case_with(fields={"a": {"compare": {"exact": {}, "binary": {}}}}),
    "a key as a number": case_with(fields={"a": {"align": {"key": 1}}}),
    "no order and no way to pair": case_with(fields={"a": {"align": {"ordered": False}}}),
    "nothing accepted": case_with(accept={"a": []}),
    "a value accepted without a list": case_with(accept={"a": "b"}),
    "an unknown word of accept": case_with(accept={"a": {"value": [1]}}),
    "optional as a word": case_with(accept={"a": {"optional": "yes"}}),
    "a range of one": case_with(accept={"a": {"range": [1]}}),
    "a range of texts": case_with(accept={"a": {"range": ["a", "b"]}}),
    "a type that JSON has not": case_with(accept={"a": {"type": "date"}}),
    "marks as a word": case_with(marks="slow"),
    "two marks in one": case_with(marks=[{"a": 1, "b": 2}]),
    "skipif": case_with(marks=["skipif"]),
    "skipif with an argument": case_with(marks=[{"skipif": {"reason": "x"}}]),
    "no parameters": case_with(parametrize={}),
    "a parameter without values": case_with(parametrize={"a": []}),
    "a row without values": case_with(parametrize=[{"id": "a"}]),
    "a row's id with a space": case_with(parametrize=[{"id": "a b", "n": 1}]),
    "parameters of a file": {"parametrize": {"a": [1]}, "cases": [{"expected": 1}]},
    "a place without parameters": case_with(threshold="${n}"),
    "a bad value beside parameters": case_with(parametrize={"n": [1]}, threshold="high"),
    "usefixtures without names": case_with(marks=["usefixtures"]),
    "strict as a number": case_with(marks=[{"xfail": {"strict": 1}}]),
}


@pytest.mark.parametrize("document", FAULTS.values(), ids=list(FAULTS))
def test_faults_are_refused_by_both(document):
    assert (loader_says(as_text(document)) is not None, schema_accepts(document)) == (True, False)


@pytest.mark.parametrize("character", [chr(code) for code in range(128)], ids=repr)
def test_each_character_of_ascii_in_each_kind_of_name(character):
    for document in [
        {"id": f"a{character}", "expected": 1},
        {"id": f"{character}a", "expected": 1},
        {"producer": f"a{character}:b", "expected": 1},
        {"producer": f"a:{character}b", "expected": 1},
        {"marks": [f"{character}a", {f"a{character}": 1}], "expected": 1},
        {"fields": {f"a{character}b": {}}, "expected": 1},
        {"fields": {f"{character}b": {}}, "expected": 1},
        {"fields": {f'["{character}"]': {}}, "expected": 1},
    ]:
        assert (loader_says(as_text(document)) is None) == schema_accepts(document), document


@pytest.mark.parametrize("path", [*ROOT.glob("example_suite/**/*.golden.yaml")], ids=lambda path: path.name)
def test_the_example_suite_is_good(path):
    assert schema_accepts(load(path.read_bytes(), path.name, holds_cases=True).value)


@pytest.mark.parametrize(
    "value", ["${n}", {"score": "${n}"}, {"fields": {"a.${k}": 1}}, {"score": 1, "f1": "$${n}"}]
)
def test_a_value_with_a_place_is_free_where_there_are_parameters(value):
    parameters = {"n": [1, 0.5], "k": ["b"]}
    assert schema_accepts(case_with(threshold=value, parametrize=parameters))
    assert schema_accepts({"threshold": value, "expected": 1, "parametrize": parameters})
    assert not schema_accepts(case_with(threshold=value))


# -- what a schema can't say -------------------------------------------------------------------------------

# For each rule: files that the loader refuses, and what of them the schema sees and accepts.
BEYOND = {
    "unique ids": [
        ("cases: [{id: a, expected: 1}, {id: a, expected: 1}]", "is already taken by"),
        ("cases: [{id: case-2, expected: 1}, {expected: 1}]", "is already taken by"),
    ],
    "letters of all scripts": [
        ("{id: a–b, expected: 1}", "can't name a test"),
        ("{producer: 'm€:f', expected: 1}", "`producer` must be"),
        ("{marks: [a…], expected: 1}", "can't be the name of a mark"),
    ],
    "what parameters make": [
        ("{parametrize: {n: [2]}, threshold: '${n}', expected: 1}", "must be a number from 0 to 1"),
        ("{parametrize: {n: [a b]}, expected: '${m}'}", "names no parameter"),
        ("{parametrize: [{n: 1}, {m: 1}], expected: 1}", "the rows do not have the same names"),
        ("cases: [{id: a, parametrize: {n: [1]}, expected: 1}, {id: a-1, expected: 1}]", "already taken by"),
    ],
    "duplicate keys": [("{expected: 1, expected: 2}", "'expected'")],
    "tables": [("{cases_from: {file: none.jsonl}}", "none.jsonl can't be read")],
    "plain YAML": [
        ("expected: !!str 1", "the tag"),
        ("expected: {<<: {a: 1}}", "merge keys"),
        ("expected: {1: a}", "is not a string, as JSON's keys are"),
        ("expected: 1\n--- \nexpected: 1", "a second document"),
        ("cases: [{expected: 1}]\ninput: " + "[" * 130 + "]" * 130, "more than 128 levels"),
        ("expected: {a: &a [" + "1," * 9_000 + "1], b: [" + "*a," * 1_000 + "*a]}", "written out, the alias"),
        ("expected: 1 #" + "x" * 2**24, "the file is larger than 16 MiB"),
    ],
}


@pytest.mark.parametrize("rule", BEYOND)
def test_rules_beyond_the_schema_are_the_loaders(rule):
    import yaml

    for text, reported in BEYOND[rule]:
        assert reported in loader_says(text)
        # (The three below are too much for this check, too.)
        if not reported.startswith(("more than 128", "written out", "the file is larger")):
            document = next(yaml.safe_load_all(text))
            # What an editor hands to the schema: keys are strings there.
            assert schema_accepts(json.loads(json.dumps(document)))


# -- any file -------------------------------------------------------------------------------------------------

# Pieces of golden files, in any order.
PIECES = [
    *("cases:\n", "- id: a\n", "- ", "  ", "\n", "\r\n", "\t", "expected: ", "actual: ", "parametrize: ", "${a}"),
    *("&a ", "*a", "<<: ", "!!str ", "? ", ": ", "|\n", ">2-\n", "'", '"', "{", "}", "[", "]", ", ", "#", "@"),
    *("---\n", "...\n", "%YAML 1.2\n", "%TAG ! x\n", "\ufeff", "\0", "\x85", "\u2028", "\ud800", '"\\ud83d"', "\\"),
    *("1e999", "0x1F", "2024-01-31", "~", "NO", "-0", "[" * 140, "]" * 140, "- " * 1_200, "1" * 5_000, "{a: " * 40),
]  # fmt: skip
texts = (st.text() | st.lists(st.sampled_from(PIECES)).map("".join)).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
READ = (
    *("title", "metric", "threshold", "options", "schema", "producer", "marks", "params"),
    *("input", "actual", "expected", "expected_file", "has_expected", "min_pass_rate", "base_id"),
)


@st.composite
def damaged_files(draw):
    """A golden file that is valid, or has one thing wrong, with some of its characters lost or exchanged."""
    document = draw(good_files())
    if draw(st.booleans()):
        document = with_a_change(document, draw)
    scribe = Scribe(draw(chances))
    scribe.block(document if type(document) in {dict, list} else [document], 0)
    text = "\n".join(scribe.lines) + "\n"
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 5))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text.encode("utf-8", "surrogatepass")


@law(st.binary() | texts | damaged_files() | damaged_files(), st.booleans(), examples=100)
def test_any_file_gives_cases_or_an_error_with_a_place(data, pure):
    with parser_of_yaml(pure=pure):
        loaded = attempt(lambda: load_cases(data, Path("nowhere/x.golden.yaml"), "x.golden.yaml"))
    if isinstance(loaded, JsonMatchError):
        assert type(loaded) is GoldenFileError
        assert 1 <= loaded.line <= len(data.decode("utf-8", "replace").splitlines()) + 1
        assert loaded.column >= 1
        return
    for case in list(loaded.by_id.values())[:5]:
        for name in READ:
            attempt(lambda case=case, name=name: getattr(case, name))
        attempt(lambda case=case: scored(case))


def scored(case):
    return Comparer.of(case.metric or METRIC, case.options).compare(case.actual, case.expected).to_dict()


def attempt(act):
    """What an act gives, or the documented error that it ends in."""
    try:
        return act()
    except JsonMatchError as error:
        return error


@law(texts | damaged_files())
def test_the_two_parsers_of_yaml_never_read_two_values(data):
    found = []
    for pure in (False, True):
        # (PyYAML's own parser refuses more, such as a tab after a colon.)
        with parser_of_yaml(pure=pure), suppress(GoldenFileError):
            found.append(load(data, "x.yaml").value)
    assert all(json_equal(found[0], other, strict=True) for other in found), found
