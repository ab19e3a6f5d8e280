"""Comparators in general: the table of built-ins, parameters, users' functions, what importing costs."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from pytest_jsonmatch import ComparatorResult, ConfigurationError, compare_json
from tests.conftest import built_in_comparators, session_registry


def test_the_built_in_names():
    assert " ".join(sorted(built_in_comparators())) == (
        "amount, binary, contains, cosine, date, exact, identifier, iou, jaccard, levenshtein, normalized_text, numeric, "
        "oneof, partial_ratio, phone, regex, relative, semantic, threshold, token_f1, token_set_ratio, token_sort_ratio"
    ).replace(",", "")


@pytest.mark.parametrize("rule", [{"oneof": {"values": ["a"]}}, "regex"])
def test_equal_values_may_score_less_than_one(rule):
    value = {"v": "a+"}
    assert compare_json(value, value, fields={"v": {"compare": rule}}).score == 0.0


def test_importing_and_listing_comparators_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from pytest_jsonmatch import compare_json\n"
        "fields = {'a': {'compare': 'relative', 'transform': ['lowercase']}, 'b': 'regex'}\n"
        "assert compare_json({'a': 2}, {'a': 1}, fields=fields).field_results[0].reason\n"
        "print(sorted({'numpy', 'scipy', 'rapidfuzz', 'regex', 'yaml', 'dateparser', 'phonenumbers', 'stdnum'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


WRONG = """
numeric {"tolerence": {"rel": 0.1}} comparator 'numeric' has no parameter 'tolerence'; did you mean 'tolerance'?
numeric {"tolerance": {"relative": 0.1}} the tolerance of comparator 'numeric' has no parameter 'relative'; known: abs, rel
numeric {"tolerance": "x"} comparator 'numeric': 'tolerance' must be a finite number, 0 or more, got 'x'
numeric {"tolerance": "5 %"} comparator 'numeric': 'tolerance' must be a number or a mapping, got '5 %' (for 5 % of expected, set 'rel' to 0.05)
numeric {"tolerance": {"abs": -1}} comparator 'numeric': 'abs' must be a finite number, 0 or more, got -1
numeric {"tolerance": {"rel": true}} comparator 'numeric': 'rel' must be a finite number, 0 or more, got True
numeric {"tolerance": {"rel": NaN}} comparator 'numeric': 'rel' must be a finite number, 0 or more, got nan
threshold {} comparator 'threshold' needs the parameter 'threshold', for example {"threshold": 0.5}
threshold {"threshold": 0} comparator 'threshold': 'threshold' must be a finite number above 0, got 0
threshold {"threshold": 1, "difference_penalty_weighting": "1"} comparator 'threshold': 'difference_penalty_weighting' must be a finite number, 0 or more, got '1'
relative {"rel": 1} comparator 'relative' has no parameter 'rel'; it takes none
binary {"x": 1} comparator 'binary' has no parameter 'x'; it takes none
levenshtein {"x": 1} comparator 'levenshtein' has no parameter 'x'; it takes none
normalized_text {"x": 1} comparator 'normalized_text' has no parameter 'x'; it takes none
contains {"x": 1} comparator 'contains' has no parameter 'x'; it takes none
regex {"timeout": 2} comparator 'regex' has no parameter 'timeout'; it takes none
exact {"strict_number_type": "yes"} comparator 'exact': 'strict_number_type' must be true or false, got 'yes'
jaccard {"tokenizer": "words"} comparator 'jaccard': 'tokenizer' must be a function from a string to its tokens, got str
oneof {} comparator 'oneof' needs either 'values' (a list that actual must be in) or 'groups' (lists of synonyms that expected and actual must share), and not both
oneof {"values": []} comparator 'oneof': 'values' must be a list with at least one value, got []
oneof {"values": "abc"} comparator 'oneof': 'values' must be a list with at least one value, got 'abc'
oneof {"values": [NaN]} comparator 'oneof': 'values' must contain JSON values: expected holds nan
oneof {"groups": ["ab"]} comparator 'oneof': each of 'groups' must be a list with at least one value, got 'ab'
oneof {"groups": {}} comparator 'oneof': 'groups' must be a list of lists of synonyms
date {"formats": ["%Y-%q"]} comparator 'date': '%Y-%q' is not a date format; one looks like '%Y-%m-%d'
date {"formats": ["iso"]} comparator 'date': 'iso' is not a date format; one looks like '%Y-%m-%d'
date {"formats": [3]} comparator 'date': 3 is not a date format; one looks like '%Y-%m-%d'
date {"formats": []} comparator 'date': 'formats' must be a list such as ["%Y-%m-%d", "%b %d, %Y"]
"""


def said_of(name, params):
    with pytest.raises(ConfigurationError) as caught:
        compare_json({"v": 1}, {"v": 2}, fields={"v": {"compare": {name: params}}})
    return str(caught.value).removeprefix("fields['v'].compare: ")


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_parameter_is_named_when_rules_are_compiled(line):
    name, rest = line.split(" ", 1)
    params, end = json.JSONDecoder().raw_decode(rest)
    assert said_of(name, params).startswith(rest[end + 1 :])


def test_a_wrong_parameter_beyond_pythons_limit_of_digits():
    assert said_of("numeric", {"tolerance": {"abs": 10**5000}}) == (
        "comparator 'numeric': 'abs' must be a finite number, 0 or more, got an integer of hundreds of digits"
    )


@pytest.mark.parametrize(("result", "score"), [(0.25, 0.25), (True, 1.0), (0, 0.0), (Fraction(1, 4), 0.25)])
def test_a_users_function_may_return_any_number(result, score):
    with session_registry() as registry:
        registry.comparator("mine", lambda *_: result)
        (field,) = compare_json({"v": "a"}, {"v": "b"}, fields={"v": {"compare": "mine"}}).field_results
    assert (field.score, type(field.score), field.error) == (score, float, None)


def test_a_users_function_gets_both_values_and_its_parameters_and_may_give_a_reason():
    def fn(expected, actual, params):
        return ComparatorResult(0.5, reason=f"{expected} {actual} {params}")

    with session_registry() as registry:
        registry.comparator("mine", fn)
        rule = {"compare": {"mine": {"limit": 3}}}
        (field,) = compare_json({"v": 1}, {"v": None}, fields={"v": rule}).field_results
    assert (field.score, field.reason) == (0.5, "None 1 {'limit': 3}")


@pytest.mark.parametrize("result", ["good", 7, None])
def test_a_users_function_that_returns_no_score_is_an_error(result):
    with session_registry() as registry:
        registry.comparator("mine", lambda *_: result)
        (error,) = compare_json({"v": "a"}, {"v": "b"}, fields={"v": {"compare": "mine"}}).errors
    assert error.reason == f"returned {result!r}, which is not a score in [0, 1]"


def test_a_users_comparator_sees_nulls_and_is_asked_about_equal_values():
    with session_registry() as registry:
        registry.comparator("mine", lambda *_: 0.0)
        for value in (None, 1, "a"):
            assert compare_json({"v": value}, {"v": value}, fields={"v": {"compare": "mine"}}).score == 0.0


def test_a_users_comparator_must_be_callable():
    with session_registry() as registry, pytest.raises(ConfigurationError) as caught:
        registry.comparator("mine", 3)
    assert str(caught.value) == "comparator 'mine' must be a function of (expected, actual, params), got int"
