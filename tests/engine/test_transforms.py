"""What each transform does to its own type, and that it leaves all others alone."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import ConfigurationError, compare_json
from tests.conftest import case_schema, session_registry
from tests.laws import law

NAN, INFINITY = float("nan"), float("inf")
ALL = {
    "lowercase": {},
    "strip": {},
    "normalize_whitespace": {},
    "sort_tokens": {},
    "round_digits": {"digits": 2},
    "type_convert": {"to": "str"},
    "strip_accents": {},
    "casefold": {},
    "unicode": {"form": "NFC"},
    "strip_punctuation": {},
    "fold_punctuation": {},
    "replace": {"pattern": "x+", "with": "y"},
    "parse_json": {},
}


def transformed(value, name, params=None, expected=""):
    """What a transform makes of a value of actual, which is a unit of its own."""
    rule = {"transform": [{name: ALL[name] if params is None else params}], "compare": "exact"}
    result = compare_json({"v": value}, {"v": expected}, fields={"v": rule})
    assert result.errors == ()
    return result.field_results[0].actual_compared


def test_the_built_in_names():
    offered = case_schema()["$defs"]["transform"]["anyOf"]
    assert [each["const"] for each in offered if "const" in each] == list(ALL)


@pytest.mark.parametrize(
    ("name", "params", "value", "result"),
    [
        ("lowercase", {}, "IBAN ÄÖ", "iban äö"),
        ("casefold", {}, "Straße", "strasse"),
        ("strip", {}, " \n a b\t", "a b"),
        ("normalize_whitespace", {}, "  a\n\t b ", "a b"),
        ("sort_tokens", {}, "Lee  Ann", "Ann Lee"),
        ("strip_accents", {}, "Crème brûlée", "Creme brulee"),
        ("strip_accents", {}, "plain", "plain"),
        ("strip_accents", {}, "שָׁלוֹם", "שלום"),
        ("strip_punctuation", {}, "«Hello, world!» – $5.00", "Hello world  $500"),
        ("strip_punctuation", {}, "plain", "plain"),
        ("fold_punctuation", {}, "«a» “b” ‘c’ – −5\u202fkm\u00a0— d’e", '"a" "b" \'c\' - -5 km - d\'e'),
        ("fold_punctuation", {}, "plain - 'a'", "plain - 'a'"),
        ("replace", {"pattern": " (GmbH|AG)$"}, "Müller GmbH", "Müller"),
        ("replace", {"pattern": "(\\d+)-(\\d+)", "with": "\\2/\\1"}, "a 12-34 5-6", "a 34/12 6/5"),
        ("replace", {"pattern": "(?i)x", "with": ""}, 5, 5),
        ("unicode", {"form": "NFC"}, "e\u0301", "é"),
        ("unicode", {"form": "NFKC"}, "ﬁ①", "fi1"),
        ("round_digits", {"digits": 2}, 3.14159, 3.14),
        ("round_digits", {"digits": 0}, 2.5, 2.0),
        ("round_digits", {"digits": -2}, 1251, 1300),
        ("round_digits", {"digits": 2}, 7, 7),
        ("round_digits", {"digits": -308}, 1.7e308, 1.7e308),
        ("round_digits", {"digits": 2}, "3.14159", "3.14159"),
        ("round_digits", {"digits": 2}, Decimal("1e400"), Decimal("1e400")),
        ("type_convert", {"to": "str"}, 42, "42"),
        ("type_convert", {"to": "str"}, 4.5, "4.5"),
        ("type_convert", {"to": "str"}, True, "true"),
        ("type_convert", {"to": "str"}, False, "false"),
        ("type_convert", {"to": "string"}, 12.0, "12"),
        ("type_convert", {"to": "string"}, -0.0, "0"),
        ("type_convert", {"to": "string"}, 1e300, str(int(1e300))),
        ("type_convert", {"to": "string"}, Decimal("-1.50e400"), "-15" + "0" * 399),
        ("type_convert", {"to": "string"}, Decimal("1.0e9999"), "1E+9999"),
        ("type_convert", {"to": "string"}, INFINITY, INFINITY),
        ("type_convert", {"to": "float"}, " 4.50", 4.5),
        ("type_convert", {"to": "float"}, "n/a", "n/a"),
        ("type_convert", {"to": "float"}, "NaN", "NaN"),
        ("type_convert", {"to": "float"}, 2**53 + 1, 2**53 + 1),
        ("type_convert", {"to": "float"}, 10**400, 10**400),
        ("type_convert", {"to": "number"}, "12", 12),
        ("type_convert", {"to": "int"}, "-007", -7),
        ("type_convert", {"to": "int"}, "+7", 7),
        ("type_convert", {"to": "int"}, "4.5", "4.5"),
        ("type_convert", {"to": "int"}, "", ""),
        ("type_convert", {"to": "int"}, "-", "-"),
        ("type_convert", {"to": "int"}, 4.9, 4),
        ("type_convert", {"to": "integer"}, float("inf"), float("inf")),
        ("type_convert", {"to": "bool"}, "Yes ", True),
        ("type_convert", {"to": "bool"}, "0", False),
        ("type_convert", {"to": "bool"}, "maybe", "maybe"),
        ("type_convert", {"to": "bool"}, 1, True),
        ("type_convert", {"to": "boolean"}, 0.0, False),
        ("type_convert", {"to": "bool"}, 2, 2),
    ],
)
def test_what_a_transform_does(name, params, value, result):
    found = transformed(value, name, params)
    assert (found, type(found)) == (result, type(result))


def test_integers_beyond_pythons_limit_of_digits():
    assert transformed(10**4299, "type_convert", {"to": "str"}) == "1" + "0" * 4299
    assert transformed("1" + "0" * 4299, "type_convert", {"to": "int"}) == 10**4299
    assert transformed("9" * 4301, "type_convert", {"to": "int"}) == "9" * 4301


@pytest.mark.parametrize("name", ALL)
def test_null_stays_and_containers_are_transformed_inside(name):
    assert transformed(None, name) is None
    assert transformed([], name) == []
    assert transformed(["A b", None], name) == [transformed("A b", name), None]
    assert transformed({"K": " V "}, name) == {"K": transformed(" V ", name)}


@pytest.mark.parametrize("name", [name for name in ALL if name not in {"round_digits", "type_convert"}])
@pytest.mark.parametrize("value", [True, 1, 2.5, Decimal("1e400")])
def test_transforms_of_strings_leave_other_scalars_alone(name, value):
    found = transformed(value, name)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("to", ["str", "float", "int", "bool"])
def test_type_convert_makes_no_number_of_a_boolean_and_keeps_its_own_type(to):
    assert transformed(True, "type_convert", {"to": to}) == (True if to != "str" else "true")


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-40, 40).map(float)


@law(NUMBERS | st.decimals(allow_nan=False, allow_infinity=False, places=2), NUMBERS)
def test_equal_numbers_become_equal_texts_and_different_ones_do_not(one, other):
    rule = {"fields": {"a": {"transform": [{"type_convert": {"to": "string"}}]}}}
    for left, right in ((one, other), (one, float(one) if float(one) == one else one)):
        plain, converted = (compare_json({"a": right}, {"a": left}, **more).score for more in ({}, rule))
        assert converted == plain


def test_numbers_that_are_no_json_equal_no_text():
    rule = {"fields": {"a": {"transform": [{"type_convert": {"to": "string"}}]}}}
    assert compare_json({"a": NAN}, {"a": "NaN"}, **rule).score == 0


def test_rows_pair_by_a_key_that_is_written_as_an_integer_or_a_float():
    rules = {"items[].id": {"transform": [{"type_convert": {"to": "string"}}]}}
    expected, actual = {"items": [{"id": 12, "n": 1}]}, {"items": [{"id": 12.0, "n": 1}]}
    assert compare_json(actual, expected, arrays={"key": "id"}, fields=rules).score == 1


@law(st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()), each=ALL)
def test_no_transform_raises(name, value):
    transformed(value, name)


@law(
    st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    each=["str", "float", "int", "bool"],
)
def test_no_conversion_raises(to, value):
    transformed(value, "type_convert", {"to": to})


@law(
    st.text(st.characters()) | st.floats(allow_nan=False),
    each=[
        "lowercase",
        "strip",
        "normalize_whitespace",
        "sort_tokens",
        "strip_accents",
        "casefold",
        "round_digits",
    ],
)
def test_twice_is_as_good_as_once(name, value):
    once = transformed(value, name)
    assert transformed(once, name) == once


@law(st.text(st.sampled_from("aÅé\u0301ßİΣς \ud800")))
def test_the_fast_path_for_ascii_changes_nothing(text):
    assert transformed(text + "é", "strip_accents") == transformed(text, "strip_accents") + "e"
    plain = transformed(transformed(text, "casefold"), "strip_accents")
    normalized = {"v": {"compare": "normalized_text"}}
    assert compare_json({"v": text + "é"}, {"v": plain + "e"}, fields=normalized).score == 1.0


WRONG = """
{"lowercase": {"x": 1}} transform 'lowercase' has no parameter 'x'; it takes none
{"round_digits": {}} transform 'round_digits' needs the parameter 'digits', for example {"digits": 2}
{"round_digits": {"digit": 2}} transform 'round_digits' has no parameter 'digit'; did you mean 'digits'?
{"round_digits": {"digits": 1000000000}} transform 'round_digits': 'digits' must be an integer from -400 to 400, got 1000000000
{"round_digits": {"digits": true}} transform 'round_digits': 'digits' must be an integer from -400 to 400, got True
{"type_convert": {"to": "flaot"}} transform 'type_convert': 'to' must be one of str, float, int, bool, string, number, integer, boolean, got 'flaot'; did you mean 'float'?
{"unicode": {}} transform 'unicode' needs the parameter 'form', for example {"form": "NFC"}
{"unicode": {"form": 1}} transform 'unicode': 'form' must be one of NFC, NFD, NFKC, NFKD, got 1
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_parameter_is_named_when_rules_are_compiled(line):
    rule, end = json.JSONDecoder().raw_decode(line)
    with pytest.raises(ConfigurationError) as caught:
        compare_json("1", "1", transform=[rule])
    assert str(caught.value).endswith(line[end + 1 :])


@pytest.mark.parametrize(
    ("fn", "params", "result"),
    [
        (str.upper, {}, "AB"),
        (lambda value: value + "!", {}, "ab!"),
        (lambda value, params: value * params["times"], {"times": 2}, "abab"),
        (lambda value, params=None: value * params["times"], {"times": 2}, "abab"),
        (lambda value, options: value * options["times"], {"times": 2}, "abab"),
        (lambda value, times=3: value * times, {}, "ababab"),
        (str, {}, "ab"),
    ],
)
def test_a_users_function_with_and_without_params(fn, params, result):
    with session_registry() as registry:
        registry.transform("mine", fn)
        assert transformed("ab", "mine", params) == result


def test_a_users_function_never_sees_null():
    with session_registry() as registry:
        registry.transform("upper", str.upper)
        registry.transform("divide", lambda value, params: value / params)
        assert transformed(None, "upper", {}, expected=None) is None
        assert transformed(None, "divide", {}, expected=None) is None


def test_parameters_for_a_function_that_takes_none_are_an_error():
    with session_registry() as registry, pytest.raises(ConfigurationError) as caught:
        registry.transform("mine", str.upper)
        compare_json("a", "a", transform=[{"mine": {"times": 2}}])
    assert str(caught.value) == "transform: transform 'mine' has no parameter 'times'; it takes none"


def test_a_users_transform_must_be_callable():
    with session_registry() as registry, pytest.raises(ConfigurationError) as caught:
        registry.transform("mine", "upper")
    assert str(caught.value) == "transform 'mine' must be a function of (value) or (value, params), got str"


def test_a_users_transform_that_fails_for_a_value_of_a_oneof_leaves_it_unchanged():
    with session_registry() as registry:
        registry.transform("upper", lambda value: value.upper())
        rule = {"compare": {"oneof": {"values": ["ok", 1]}}, "transform": ["upper"]}
        assert compare_json({"v": "Ok"}, {"v": "?"}, fields={"v": rule}).score == 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "pattern"),
        ({"pattern": "("}, "is not a regular expression: "),
        ({"pattern": 5}, "'pattern' must be a string, got 5"),
        ({"pattern": "a", "with": None}, "'with' must be a string, got None"),
        ({"pattern": "(a)", "with": "\\2"}, "'with' is .*invalid group reference"),
        ({"pattern": "a", "wiht": ""}, "wiht"),
    ],
)
def test_a_replacement_that_is_wrong_is_an_error_before_scoring(params, message):
    with pytest.raises(ConfigurationError, match=message):
        compare_json({}, {}, transform=[{"replace": params}])


@pytest.fixture
def little_time(monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.engine.value.matchers._SECONDS", 0.02)


def test_a_replacement_that_takes_too_long_is_an_error_of_its_field(little_time):
    options = {"fields": {"a": {"transform": [{"replace": {"pattern": "(a|aa|aaa)+(b|bb)+(a|aa)+$"}}]}}}
    result = compare_json({"a": "a" * 50 + "b" + "a" * 50 + "!", "b": 1}, {"a": "a", "b": 1}, **options)
    assert (result.score, len(result.errors)) == (0.5, 1)
    assert "took more than" in result.errors[0].reason
