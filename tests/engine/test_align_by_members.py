"""`align: {by: [...], threshold: ...}`: rows pair by the similarity of some members."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from pytest_jsonmatch import ConfigurationError, compare_json

NAMES = {"by": ["last", "first"]}


def pairs_of(
    expected: list[Any], actual: list[Any], align: dict[str, Any], **options: Any
) -> list[tuple[int, int]]:
    fields = {"$": {"align": align}, **options.pop("fields", {})}
    result = compare_json(actual, expected, metric="leaf_f1", fields=fields, **options)
    alignment = next(each for each in result.alignments if each.path == "$")
    assert alignment.kind == "members"
    return [(i, j) for i, j, _ in alignment.pairs]


def test_other_members_have_no_say_but_score_as_usual():
    expected = [{"last": "Smith", "age": 1, "city": "A"}, {"last": "Jones", "age": 2, "city": "B"}]
    actual = [{"last": "Jones", "age": 1, "city": "A"}, {"last": "Smith", "age": 2, "city": "B"}]
    align = {"by": ["last"]}
    assert pairs_of(expected, actual, align) == [(0, 1), (1, 0)]
    result = compare_json(actual, expected, metric="leaf_f1", fields={"$": {"align": align}})
    assert result.score == pytest.approx(2 / 6)
    assert [
        (row.expected_path, row.actual_path) for row in result.field_results if row.status == "match"
    ] == [
        ("[0].last", "[1].last"),
        ("[1].last", "[0].last"),
    ]


def test_a_pair_needs_a_similarity_above_the_threshold():
    expected, actual = [{"last": "Mueller", "n": 1}], [{"last": "Muller", "n": 1}]
    fields = {"[].last": {"compare": "levenshtein"}}
    for threshold, pairs in ((0.85, [(0, 0)]), (6 / 7, []), (0.9, [])):
        assert pairs_of(expected, actual, {"by": ["last"], "threshold": threshold}, fields=fields) == pairs


def test_the_threshold_defaults_to_array_threshold():
    expected, actual = [{"a": 1, "b": 2}], [{"a": 1, "b": 3}]
    assert pairs_of(expected, actual, {"by": ["a", "b"]}, array_threshold=0.4) == [(0, 0)]
    assert pairs_of(expected, actual, {"by": ["a", "b"]}, array_threshold=0.6) == []
    assert pairs_of(expected, actual, {"by": ["a", "b"], "threshold": 0.4}, array_threshold=0.6) == [(0, 0)]


def test_among_rows_that_agree_in_the_members_the_others_decide():
    expected = [{"last": "Smith", "born": 1950, "city": "A"}, {"last": "Smith", "born": 1960, "city": "B"}]
    actual = [{"last": "Smith", "born": 1970, "city": "C"}, *reversed(expected)]
    actual = [{**row, "note": "x"} for row in actual]
    assert pairs_of(expected, actual, {"by": ["last"], "threshold": 0.9}, array_threshold=0.9) == [
        (0, 2),
        (1, 1),
    ]


def test_rows_without_any_of_the_members_match_nothing():
    expected = [{"last": None}, {"n": 1}, "Smith", {"first": "Jo", "n": 2}]
    actual = [{"last": None}, {"n": 1}, "Smith", {"first": "Jo", "last": "Ng"}]
    assert pairs_of(expected, actual, NAMES) == [(3, 3)]


def test_a_misspelt_member_is_reported():
    result = compare_json(
        [{"id": 1}], [{"id": 1}], metric="leaf_f1", fields={"$": {"align": {"by": ["id", "nmae"]}}}
    )
    assert result.warnings == (
        "$: elements are paired by their member 'nmae', which no element of expected has",
    )


def test_rows_count_as_found_or_missing():
    expected = {"items": [{"sku": "A", "n": 1}, {"sku": "B", "n": 2}]}
    actual = {"items": [{"sku": "C", "n": 2}, {"sku": "A", "n": 9}]}
    result = compare_json(actual, expected, metric="leaf_f1", fields={"items": {"align": {"by": "sku"}}})
    rows = result.rows["items"]
    assert (rows.expected, rows.found, rows.actual) == (2, 1, 2)
    missing = compare_json({}, expected, metric="leaf_f1", fields={"items": {"align": {"by": "sku"}}})
    assert missing.rows["items"].missing == 2


def test_transforms_weights_and_nested_arrays_of_the_members():
    expected = [{"id": " a ", "tags": ["x", "y"]}, {"id": "b", "tags": ["z"]}]
    actual = [{"id": "B", "tags": ["z"]}, {"id": "A", "tags": ["y", "x"]}]
    fields = {"[].id": {"transform": ["strip", "lowercase"], "weight": 0}, "[].tags": {"align": "unordered"}}
    assert pairs_of(expected, actual, {"by": ["id", "tags"]}, fields=fields) == [(0, 1), (1, 0)]


def test_inside_an_array_that_pairs_by_contents():
    lines = [{"sku": "A", "n": 1, "t": ["p", "q"]}, {"sku": "B", "n": 2, "t": ["r"]}]
    changed = [{"sku": "B", "n": 1, "t": ["q", "p"]}, {"sku": "A", "n": 2, "t": ["r"]}]
    expected = [{"no": 1, "lines": lines}, {"no": 2, "lines": lines[:1]}]
    actual = [{"no": 2, "lines": changed[1:]}, {"no": 1, "lines": changed}]
    fields = {"[].lines": {"align": {"by": ["sku"]}}}
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", fields=fields)
    found = {each.path: [] for each in result.alignments}
    for each in result.alignments:
        found[each.path].append([pair[:2] for pair in each.pairs])
    assert found == {
        "$": [[(0, 1), (1, 0)]],
        "[].lines": [[(0, 1), (1, 0)], [(0, 0)]],
        "[].lines[].t": [[]] * 3,
    }


def some_rows(rng: random.Random) -> list[Any]:
    def row() -> dict[str, Any]:
        values = {
            "a": rng.choice("xyz"),
            "b": rng.choice([1, 2, None]),
            "c": rng.randrange(3),
            "d": rng.choice(["", [1]]),
        }
        return {key: value for key, value in values.items() if rng.random() < 0.85}

    return [row() for _ in range(rng.randrange(1, 5))]


@pytest.mark.parametrize("seed", range(150))
def test_no_other_pairing_of_the_members_is_better(seed):
    """All pairings of small arrays are tried; the order of the elements changes no score."""
    rng = random.Random(seed)
    expected, actual, threshold = some_rows(rng), some_rows(rng), rng.choice([0.0, 0.0, 0.5])
    align = {"by": ["a", "b"], "threshold": threshold}
    chosen = pairs_of(expected, actual, align)

    def part(row: dict[str, Any]) -> dict[str, Any]:
        return {key: row[key] for key in ("a", "b") if key in row}

    def similarity(i: int, j: int) -> float:
        one, other = part(expected[i]), part(actual[j])
        if not any(value is not None for value in one.values()) or not any(
            v is not None for v in other.values()
        ):
            return 0.0
        return compare_json(other, one, metric="leaf_f1").score

    assert all(similarity(i, j) > threshold for i, j in chosen)
    equal = {(i, j) for i in range(len(expected)) for j in range(len(actual)) if similarity(i, j) == 1.0}
    rest = [(i, j) for i, j in chosen if (i, j) not in equal]
    taken = {i for i, _ in chosen if (i, _) in equal}, {j for _, j in chosen if (_, j) in equal}
    rows = [i for i in range(len(expected)) if i not in taken[0]]
    columns = [j for j in range(len(actual)) if j not in taken[1]]
    assert not any((i, j) in equal for i in rows for j in columns)
    columns += [None] * len(rows)
    best = max(
        sum(worth for i, j in zip(rows, order) if j is not None and (worth := similarity(i, j)) > threshold)
        for order in itertools.permutations(columns, len(rows))
    )
    assert sum(similarity(i, j) for i, j in rest) == pytest.approx(best)
    options: dict[str, Any] = {"metric": "leaf_f1", "fields": {"$": {"align": align}}}
    score = compare_json(actual, expected, **options).score
    for _ in range(3):
        mixed = rng.sample(actual, len(actual)), rng.sample(expected, len(expected))
        assert compare_json(*mixed, **options).score == pytest.approx(score)


def test_many_rows_are_paired_as_few_are():
    rng = random.Random(5)
    expected = [{"last": f"N{n % 60}", "first": f"F{n}", "n": n} for n in range(150)]
    actual = rng.sample(
        [{**row, "n": 0, "first": row["first"] + rng.choice(["", "x"])} for row in expected], 150
    )
    align = {"by": ["last", "first"], "threshold": 0.6}
    fields = {"[].first": {"compare": "levenshtein"}}
    pairs = pairs_of(expected, actual, align, fields=fields)
    assert len(pairs) == 150
    assert all(actual[j]["first"].rstrip("x") == expected[i]["first"] for i, j in pairs)


@pytest.mark.parametrize(
    ("align", "message"),
    [
        ({"by": []}, "by must be a list of names of members, got []"),
        ({"by": [1]}, "by must be a list of names of members, got [1]"),
        ({"by": ["a"], "treshold": 0.5}, ".align: unknown key 'treshold'; did you mean 'threshold'?"),
        ({"by": ["a"], "min": 0.5}, "unknown key 'min'; known: by, key, match_by, ordered, threshold"),
        ({"by": ["a"], "threshold": 2}, "threshold must be a number from 0 to 1, got 2"),
        (
            {"by": ["a"], "key": "b"},
            "must be 'ordered', 'unordered', 'sequence', {'key': NAME} or {'by': [NAME, ...], 'threshold': NUMBER}, got {'by': ['a'], 'key': 'b'}",
        ),
    ],
)
def test_wrong_rules(align, message):
    with pytest.raises(ConfigurationError) as error:
        compare_json([], [], metric="leaf_f1", fields={"$": {"align": align}})
    assert str(error.value).startswith("fields['$'].align")
    assert str(error.value).endswith(message)


def test_members_are_named_for_one_array_not_for_all():
    with pytest.raises(ConfigurationError) as error:
        compare_json([], [], metric="leaf_f1", arrays={"by": ["a"]})
    assert str(error.value) == (
        "arrays: 'by' names members of one array: fields={'PATTERN': {'align': {'by': ['a']}}}"
    )


@pytest.mark.parametrize("rule", [{"compare": "exact"}, {"accept": [{"a": 2}]}])
def test_elements_that_are_compared_as_a_whole_have_no_members(rule):
    with pytest.raises(ConfigurationError) as error:
        fields = {"$": {"align": {"by": ["a"]}}, "[]": rule}
        compare_json([{"a": 1}], [{"a": 1}], metric="leaf_f1", fields=fields)
    assert str(error.value) == (
        "[]: elements are paired by the similarity of members, so they can't be compared as a whole; give the "
        "comparator or the accepted alternatives to their members"
    )


def test_a_schema_says_it():
    items = {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}}
    schema = {"type": "array", "items": items, "x-eval-align": {"by": ["sku"], "threshold": 0.5}}
    result = compare_json([{"sku": "B", "n": 1}, {"sku": "A", "n": 2}], [{"sku": "A", "n": 1}], schema=schema)
    assert result.alignments[0].pairs == ((0, 1, 0.5),)
    with pytest.raises(ConfigurationError, match="only objects have a member"):
        compare_json([], [], schema={**schema, "items": {"type": "string"}})
