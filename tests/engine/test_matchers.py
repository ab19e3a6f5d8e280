"""Matchers inside expected: what they accept, how they count, how they pair, and what is refused."""

from __future__ import annotations

import itertools
import pickle
import re
from collections import Counter
from decimal import Decimal
from unittest.mock import ANY

import dirty_equals as de
import pytest
import regex
from hypothesis import strategies as st

from pytest_jsonmatch import (
    ConfigurationError,
    InvalidExpectedError,
    RootTypeError,
    UnsupportedValueError,
    compare_json,
)
from tests.laws import law

NAN = float("nan")


class IsEven(de.DirtyEquals):
    """A user's own matcher."""

    def equals(self, other):
        return other % 2 == 0


class Broken(de.IsInt):
    def equals(self, other):
        raise RuntimeError(f"no {other}")


UUID = "a2b7c9d0-1234-4a5b-8c6d-7e8f90a1b2c3"
KINDS = {
    "approx": (pytest.approx(0.3), [0.1 + 0.2], [0.31, "0.3"]),
    "approx abs": (pytest.approx(100, abs=1), [101, 99.5], [102, True, None, [100]]),
    "approx of 1": (pytest.approx(1), [1.0000001], [True, "1", 10**400, Decimal("1e400")]),
    "approx Decimal": (pytest.approx(Decimal("0.1")), [0.1], [0.2, Decimal("1e400")]),
    "re": (re.compile("INV-[0-9]+"), ["INV-12"], ["xINV-12", "INV-1x", 12, ["INV-1"]]),
    "re flags": (re.compile("a.b", re.IGNORECASE | re.DOTALL), ["A\nB"], ["ab"]),
    "re ascii": (re.compile(r"\w", re.ASCII), ["e"], ["é"]),
    "regex": (regex.compile(r"\p{Lu}+"), ["ÉA"], ["é"]),
    "ANY": (ANY, [None, 0, [], {"a": 1}], [NAN, [NAN], {"a": float("inf")}]),
    "a subclass": (IsEven(), [2], [1, "x", NAN]),
    "AnyThing": (de.AnyThing, [None, {}], [NAN]),
    "IsStr class": (de.IsStr, ["x"], [1]),
    "IsStr": (de.IsStr(regex="a+"), ["aa"], ["ab"]),
    "IsInt": (de.IsInt, [1], [1.5, True, "1"]),
    "IsPositive": (de.IsPositive, [0.5], [-1, "a"]),
    "IsApprox": (de.IsApprox(10, delta=1), [10.5], [12]),
    "IsFloat": (de.IsFloat(gt=1), [1.5], [0.5, 2]),
    "IsDatetime": (de.IsDatetime(iso_string=True), ["2026-01-31T10:00:00"], ["soon"]),
    "IsDate": (de.IsDate(iso_string=True), ["2026-01-31"], ["31.1."]),
    "IsUUID": (de.IsUUID, [UUID], ["x"]),
    "IsJson": (de.IsJson({"a": de.IsInt}), ['{"a": 1}'], ['{"a": "1"}', "no"]),
    "IsUrl": (de.IsUrl, ["https://example.org/a"], ["nowhere"]),
    "IsPartialDict": (de.IsPartialDict(a=1), [{"a": 1, "b": 2}], [{"b": 2}]),
    "IsDict": (de.IsDict(a=de.IsInt), [{"a": 1}], [{"a": "1"}, []]),
    "IsIgnoreDict": (de.IsIgnoreDict(a=1, b=None), [{"a": 1}], [{"a": 2}]),
    "IsList": (de.IsList(1, 2, check_order=False), [[2, 1]], [[1]]),
    "HasLen": (de.HasLen(2), [[1, 2], "ab"], [[1], 7]),
    "Contains": (de.Contains("a"), [["a", "b"], "cat"], [["b"], 1]),
    "IsOneOf": (de.IsOneOf("a", 1), ["a", 1], ["b"]),
    "IsTrueLike": (de.IsTrueLike, [True, 1, "yes"], [0, None]),
    "IsHash": (de.IsHash("md5"), ["d41d8cd98f00b204e9800998ecf8427e"], ["d4"]),
    "IsIP": (de.IsIP, ["127.0.0.1"], ["x"]),
    "or, and, not": (~de.IsInt & (de.IsStr | de.IsList(length=1)), ["x", [1]], [1, None]),
}


@pytest.mark.parametrize(("matcher", "right", "wrong"), KINDS.values(), ids=KINDS)
def test_a_matcher_is_one_leaf_that_is_right_or_wrong(matcher, right, wrong):
    text = repr(matcher)
    for actual, score in [*((each, 1.0) for each in right), *((each, 0.0) for each in wrong)]:
        result = compare_json({"a": actual, "b": 1}, {"a": matcher, "b": 1})
        field = result.field_results[0]
        assert (field.score, sum(result.counts.values())) == (score, 2), actual
        assert (result.precision, result.recall) == ((score + 1) / 2, (score + 1) / 2), actual
        # Shown as written, although `dirty-equals` shows the value that it has met.
        assert repr(field.expected) == text
    assert compare_json({"b": 1}, {"a": matcher, "b": 1}).counts == {"omission": 1, "match": 1}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            pytest.approx(True),
            "expected has an ApproxScalar at a, which has no JSON form; write pytest.approx",
        ),
        (
            pytest.approx([0.1]),
            "expected has an ApproxSequenceLike at a, which has no JSON form; write pytest",
        ),
        (re.compile(b"x"), "expected has a Pattern at a, which has no JSON form"),
        (int, "expected has the class int at a"),
    ],
)
def test_what_is_no_matcher_is_refused(written, message):
    with pytest.raises(UnsupportedValueError, match=re.escape(message)):
        compare_json({"a": 1}, {"a": written})


def test_matchers_stand_in_expected_only():
    for refused in ({"a": ANY}, [de.IsInt]):
        with pytest.raises(UnsupportedValueError, match="actual has a matcher"):
            compare_json(refused, {})
    with pytest.raises(ConfigurationError, match="must contain JSON values: expected has a _ANY"):
        compare_json({"a": 1}, {"a": 2}, accept={"a": [ANY]})
    with pytest.raises(InvalidExpectedError):
        compare_json({}, {"a": ANY, "b": NAN})


def test_the_root_and_deep_places():
    assert compare_json({"a": 1}, de.IsPartialDict(a=1)).score == 1.0
    assert compare_json([[{"a": [5]}]], [[{"a": [de.IsInt]}]]).score == 1.0
    metric = {"metric": "field_match"}
    assert compare_json({"a": {"b": 1}, "c": 2}, {"a": {"b": de.IsInt}, "c": de.IsStr}, **metric).score == 0.5


def test_a_matcher_that_raises_or_takes_too_long_is_an_error_of_its_place(monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.engine.value.matchers._SECONDS", 0.02)
    slow = re.compile("(a|aa|aaa)+(b|bb)+(a|aa)+$")
    result = compare_json({"a": 7, "b": "a" * 50 + "b" + "a" * 50 + "!"}, {"a": Broken(), "b": slow})
    first, second = result.errors
    assert (first.path, first.comparator, first.reason) == ("a", "matcher", "raised RuntimeError: no 7")
    assert (second.path, second.comparator) == ("b", "matcher")
    assert second.reason.startswith("raised TimeoutError: the pattern '(a|aa|aaa)+(b|bb)+(a|aa)+$' took more")


SLOW = "(?:a|aa)+c"


@pytest.fixture
def asked(monkeypatch):
    """The texts that patterns are asked about; none ends by itself."""
    texts = []

    class Endless:
        pattern = SLOW

        def fullmatch(self, text, timeout):
            texts.append(text)
            raise TimeoutError

    endless = Endless()
    for home in ("value.matchers", "plan.accept", "comparators.text"):
        monkeypatch.setattr(f"pytest_jsonmatch.engine.{home}.compile_pattern", lambda *_: endless)
    return texts


@pytest.mark.parametrize("arrays", ["ordered", "unordered"])
@pytest.mark.parametrize(
    ("written", "options"),
    [
        (re.compile(SLOW), {}),
        ("b", {"accept": {"[].x": {"regex": SLOW}}}),
        (SLOW, {"fields": {"[].x": "regex"}}),
    ],
    ids=["matcher", "accept", "comparator"],
)
def test_a_slow_pattern_is_asked_once_about_a_text(asked, written, options, arrays):
    expected = [{"x": written, "n": number} for number in range(3)]
    actual = [{"x": "aaaa", "n": number} for number in range(3)]
    result = compare_json(actual, expected, arrays=arrays, **options)
    assert (asked, result.score) == (["aaaa"], 0.5)
    assert all("took more than 1 s on a text of 4 characters" in each.reason for each in result.errors)


def test_slow_patterns_have_one_limit_in_a_comparison(asked):
    answer = {f"f{number}": "a" * number for number in range(40)}
    for _ in range(2):
        result = compare_json(answer, dict.fromkeys(answer, re.compile(SLOW)))
        assert len(result.errors) == 40
        assert result.errors[-1].reason.endswith(
            "patterns took more than 5 s in this comparison; make them simpler"
        )
    assert len(asked) == 2 * 5


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            pytest.approx(10**400),
            "expected has at a[0] a matcher that can't be used: an approximate number must be a double, at",
        ),
        (pytest.approx(1, abs=10**400), "expected has at a[0] a matcher that can't be used: an approximate"),
    ],
)
def test_a_matcher_that_can_t_be_used_is_an_error_at_its_place(written, message):
    with pytest.raises(InvalidExpectedError, match=re.escape(message)):
        compare_json({"a": [1]}, {"a": [written]})


@pytest.mark.parametrize(("matcher", "right", "wrong"), KINDS.values(), ids=KINDS)
def test_results_with_matchers_can_be_pickled(matcher, right, wrong):
    result = compare_json({"a": right[0], "b": wrong[0]}, {"a": matcher, "b": matcher})
    copy = pickle.loads(pickle.dumps(result))
    assert repr(copy.to_dict()) == repr(result.to_dict())


@pytest.mark.parametrize(
    ("rules", "score"),
    [
        ({"fields": {"a": {"skip": True}}}, 1.0),
        ({"fields": {"a": {"weight": 3}}}, 0.25),
        ({"fields": {"a": {"compare": "levenshtein", "transform": ["lowercase"]}}}, 0.5),
        ({"accept": {"a": {"any": True}}}, 0.5),
        ({"fields": {"**": {"compare": "levenshtein"}}}, 0.5),
        ({"schema": {"properties": {"a": {"anyOf": [{"type": "integer"}, {}]}, "b": {}}}}, 0.5),
    ],
)
def test_rules_at_its_place(rules, score):
    assert compare_json({"a": "X", "b": 1}, {"a": re.compile("x"), "b": 1}, **rules).score == score


def test_what_is_optional_is_missing_where_a_matcher_stands():
    optional = {"accept": {"**.a": {"optional": True}}}
    for metric in ("leaf_f1", "field_match"):
        assert compare_json({"b": 1}, {"a": ANY, "b": 1}, metric=metric, **optional).recall == 0.5
    assert compare_json([], [{"a": ANY, "b": 1}], **optional).counts == {"omission": 2}


def test_no_key_and_no_part_of_what_is_compared_whole():
    keyed = re.escape(
        "[].id: elements are paired by this member, so expected must have a value there, got the matcher IsInt"
    )
    with pytest.raises(ConfigurationError, match=keyed):
        compare_json([{"id": 1}], [{"id": de.IsInt}], arrays={"key": "id"})
    with pytest.raises(
        ConfigurationError, match="a: 'exact' compares this value as a whole, so no matcher can"
    ):
        compare_json({"a": [1]}, {"a": [ANY]}, fields={"a": {"compare": "exact"}})
    with pytest.raises(RootTypeError, match="expected is of type matcher"):
        compare_json({}, ANY, metric="field_match")


@pytest.mark.parametrize("accept", [{"any": True}, {"type": ["array", "number"]}, {"range": [0, 1]}])
@pytest.mark.parametrize("actual", [NAN, [NAN], [[float("inf")]]], ids=str)
def test_accept_takes_no_nan_either(accept, actual):
    assert compare_json({"a": actual}, {"a": 1}, accept={"a": accept}).score == 0.0


def test_results_are_equal_if_the_same_matchers_stand_in_them():
    written = {"a": de.IsInt, "b": pytest.approx(1)}
    one, other = (compare_json({"a": "x", "b": 2}, written) for _ in range(2))
    assert list(one.field_results) == list(other.field_results)
    again = compare_json({"a": "x", "b": 2}, {"a": de.IsInt, "b": pytest.approx(1)})
    assert one.field_results[1] != again.field_results[1]
    # What has been converted may be given again.
    assert compare_json({"a": 1, "b": 1}, one.documents[0]).score == 1.0


# -- unordered arrays --------------------------------------------------------------------------------------

SCALARS = st.sampled_from([0, 1, 2.5, "a", "ab", None, True])
MATCHERS = st.sampled_from(
    compare_json([], [ANY, re.compile("a.*"), pytest.approx(1), de.IsInt, de.IsList, Broken()]).documents[0]
)


def arrays(scalars):
    records = st.fixed_dictionaries(
        {"a": scalars}, optional={"b": scalars, "c": st.lists(scalars, max_size=2)}
    )
    return st.lists(scalars | records | st.lists(scalars, max_size=2), min_size=1, max_size=4)


def brute_force(expected, actual, options):
    """Return the greatest sum of similarities of pairs with some matcher, none of which may be twins."""
    similarity = [[compare_json([to], [at], **options).score for to in actual] for at in expected]
    lines = similarity if len(expected) <= len(actual) else list(map(list, zip(*similarity)))
    chosen = itertools.permutations(range(len(lines[0])), len(lines))
    return max(sum(lines[at][to] for at, to in enumerate(each)) for each in chosen)


@law(
    st.lists(
        MATCHERS | st.fixed_dictionaries({"a": MATCHERS}, optional={"b": SCALARS, "c": MATCHERS}), max_size=4
    ),
    arrays(SCALARS),
    st.sampled_from(
        [{}, {"metric": "json_similarity"}, {"extra": "ignore"}, {"fields": {"[].a": {"weight": 2}}}]
    ),
    examples=60,
)
def test_arrays_pair_for_the_greatest_sum(expected, actual, options):
    options = {**options, "arrays": "unordered"}
    result = compare_json(actual, expected, **options)
    found = result.alignments[0].pairs if result.alignments else ()
    sums = sum(compare_json([actual[to]], [expected[at]], **options).score for at, to, _ in found)
    assert sums == pytest.approx(brute_force(expected, actual, options) if expected else 0, abs=1e-9)


@pytest.mark.parametrize("size", [12, 60], ids=["lists", "arrays"])
def test_elements_with_matchers_are_found_in_any_order(size):
    expected = [
        {"id": de.IsInt, "name": re.compile(f"n{at}(st)?"), "x": [ANY, {"k": at}]} for at in range(size)
    ]
    actual = [{"id": at, "name": f"n{at}", "x": [{"k": at}, at]} for at in reversed(range(size))]
    result = compare_json(actual, expected, arrays="unordered")
    # Their inner arrays pair, too.
    assert (result.score, [to for _, to, _ in result.alignments[0].pairs]) == (1.0, [*range(size)][::-1])


def test_an_element_with_a_matcher_equals_no_other():
    # As twins, the first two would pair; and nobody would be left that the second matcher accepts.
    assert compare_json(["a", "b"], [ANY, "a"], arrays="unordered").score == 1.0
    assert compare_json(["b", "a"], [ANY, re.compile("b")], arrays="unordered").score == 1.0


@pytest.mark.parametrize("size", [20, 60], ids=["lists", "arrays"])
def test_each_matcher_is_asked_once_about_each_distinct_value(size):
    asked = Counter()

    class DirtyEquals:
        def __eq__(self, other):
            asked[other] += 1
            return other == "b"

        __hash__ = object.__hash__

    expected = [{"id": at, "kind": DirtyEquals()} for at in range(size)]
    actual = [{"id": -at, "kind": "ab"[at % 2]} for at in range(size)]
    compare_json(actual, expected, arrays="unordered")
    # Once for pairing, and once for each pair that is scored.
    assert sum(asked.values()) <= size * 2 + size
