"""Short forms of rules: "skip", a comparator's name, `tolerance`; `leaf_threshold` of a field; the option `skip`."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    ConfigurationError,
    JsonMatchWarning,
    compare_corpus,
    compare_json,
    register_comparator,
    register_metric,
)
from tests.laws import law

EXPECTED = {"id": 1, "total": 10, "vendor": "Acme Ltd", "lines": [{"at": 1, "n": 1}]}
ACTUAL = {"id": 2, "total": 10.01, "vendor": "Acme Inc", "lines": [{"at": 2, "n": 1}]}


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("skip", {"skip": True}),
        ("levenshtein", {"compare": "levenshtein"}),
        ({"tolerance": 0.01}, {"compare": {"numeric": {"tolerance": {"abs": 0.01}}}}),
        ({"tolerance": {"rel": 0.1, "abs": 0}}, {"compare": {"numeric": {"tolerance": {"rel": 0.1, "abs": 0}}}}),
        ({"tolerance": {"rel": 0.01}, "weight": 2}, {"compare": {"numeric": {"tolerance": {"rel": 0.01}}}, "weight": 2}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["id", "total", "vendor", "lines[].at"])
def test_a_short_form_means_the_long_one(short, long, path):
    results = [compare_json(ACTUAL, EXPECTED, fields={path: rule}) for rule in (short, long)]
    printed = [
        [(field.path, field.status, field.score) for field in result.field_results] for result in results
    ]
    assert printed[0] == printed[1]
    assert [str(result.signature).replace("0.0", "0") for result in results][:1] * 2 == [
        str(result.signature).replace("0.0", "0") for result in results
    ]


def test_they_hold_together():
    fields = {"id": "skip", "total": {"tolerance": 0.01}, "vendor": "levenshtein"}
    result = compare_json(ACTUAL, EXPECTED, fields=fields, skip=["**.at"])
    assert {field.path: (field.status, field.score) for field in result.field_results} == {
        "id": ("skipped", 0.0),
        "total": ("match", 1.0),
        "vendor": ("mismatch", 0.625),
        "lines[].at": ("skipped", 0.0),
        "lines[].n": ("match", 1.0),
    }


def test_a_rule_of_fields_goes_over_skip_and_skips_add_up():
    register_metric("short_quiet", {"skip": ["**.at"]}, overwrite=True)
    reported = [field.path for field in compare_json(ACTUAL, EXPECTED, metric="short_quiet").field_results]
    assert "lines[].at" in reported
    result = compare_json(
        ACTUAL, EXPECTED, metric="short_quiet", skip=["id"], fields={"**.at": {"skip": False}}
    )
    skipped = [field.path for field in result.field_results if field.status == "skipped"]
    assert skipped == ["id"]
    assert compare_json(ACTUAL, EXPECTED, metric="short_quiet", skip=["id"]).counts["skipped"] == 2


WORDS = ["Acme Ltd", "Acme Inc", "Acme", "none of it", ""]


@pytest.mark.parametrize(
    ("limit", "scores"),
    [(0.626, [0.0, 0.625]), (0.625, [0.625, 0.625]), (None, [0.625, 0.625])],
)
def test_the_leaf_threshold_of_a_field_goes_over_that_of_the_metric(limit, scores):
    result = compare_json(
        {"a": "Acme Inc", "b": "Acme Inc"},
        {"a": "Acme Ltd", "b": "Acme Ltd"},
        metric="json_similarity",
        fields={"a": {"leaf_threshold": limit}},
    )
    assert [field.score for field in result.field_results] == scores
    over = compare_json(
        ["Acme Inc"],
        ["Acme Ltd"],
        metric="json_similarity",
        leaf_threshold=0.7,
        fields={"[]": {"leaf_threshold": limit}},
    )
    assert over.score == scores[0]


@pytest.mark.parametrize("paired", ["ordered", "unordered"])
@pytest.mark.parametrize("size", [1, 80])
def test_a_leaf_threshold_is_reached_by_a_score_equal_to_it(paired, size):
    # 1 - 0.9 is a little less than 0.1 in doubles: a threshold is not missed by rounding.
    rule = {"compare": "levenshtein", "leaf_threshold": 0.1}
    expected = [{"v": "abcdefghij", "n": number} for number in range(size)]
    actual = [{"v": "azzzzzzzzz", "n": number} for number in range(size)]
    result = compare_json(actual, expected, arrays=paired, fields={"[].v": rule})
    assert round(result.score, 4) == 0.55


def test_a_leaf_threshold_of_1_leaves_matches_only():
    result = compare_json({"a": "Acme Inc"}, {"a": "Acme Ltd"}, metric="json_similarity", leaf_threshold=1)
    assert result.score == 0.0
    assert compare_json({"a": "Acme"}, {"a": "Acme"}, metric="json_similarity", leaf_threshold=1).score == 1.0


def test_the_leaf_threshold_of_a_container_holds_below_it():
    value = {"a": {"b": "Acme Ltd"}, "c": "Acme Ltd"}, {"a": {"b": "Acme Inc"}, "c": "Acme Inc"}
    result = compare_json(*value, metric="json_similarity", fields={"a": {"leaf_threshold": 0.7}})
    assert [field.score for field in result.field_results] == [0.0, 0.625]


names = st.sampled_from(WORDS)
records = st.lists(st.fixed_dictionaries({"v": names, "w": names}), max_size=4)


@law(records, records, st.sampled_from([0.3, 0.625, 0.7]))
def test_arrays_pair_as_under_a_comparator_with_the_limit_inside(expected, actual, limit):
    def clipped(one, other, _params):
        score = compare_json([other], [one], metric="json_similarity").score
        return score if score >= limit else 0.0

    register_comparator("short_clipped", clipped, overwrite=True)
    options = {"metric": "pairwise_f1", "arrays": "unordered"}
    mine = compare_json(
        actual, expected, **options, fields={"[].v": {"compare": "levenshtein", "leaf_threshold": limit}}
    )
    other = compare_json(actual, expected, **options, fields={"[].v": "short_clipped"})
    assert mine.score == pytest.approx(other.score, abs=1e-9)


def test_a_large_array_pairs_under_the_limits_of_its_fields():
    expected = [{"v": f"Acme Ltd {number}", "n": number} for number in range(80)]
    actual = [{"v": f"Acme Inc {number}", "n": number} for number in range(80)][::-1]
    rule = {"compare": "levenshtein", "leaf_threshold": 0.9}
    result = compare_json(actual, expected, arrays="unordered", fields={"[].v": rule})
    assert result.score == 0.5


@pytest.mark.parametrize("paired", ["ordered", "unordered"])
@pytest.mark.parametrize("size", [1, 80])
def test_a_leaf_that_reaches_the_match_threshold_is_a_match(paired, size):
    # 1 - 0.9 is a little less than 0.1 in doubles: a threshold is not missed by rounding.
    expected = [{"v": "abcdefghij", "w": "abcdefghij", "n": number} for number in range(size)]
    actual = [{"v": "azzzzzzzzz", "w": "zzzzzzzzzz", "n": number} for number in range(size)]
    rule = {"compare": "levenshtein", "match_threshold": 0.1}
    result = compare_json(actual, expected, arrays=paired, fields={"[].*": rule})
    assert result.score == pytest.approx(2 / 3)
    assert result.counts == {**result.counts, "match": 2 * size, "mismatch": size}


@pytest.mark.parametrize(("threshold", "row", "similarity"), [(None, 0, 0.5), (0.4, 1, 1.0)])
def test_pairs_are_chosen_under_the_match_threshold(threshold, row, similarity):
    # Of the first row one of two leaves is equal; both leaves of the second score 0.4.
    expected = [{"a": "abcde", "b": "vwxyz"}, {"a": "abzzz", "b": "fgzzz"}]
    options = {"compare": "levenshtein", "arrays": "unordered", "match_threshold": threshold}
    result = compare_json([{"a": "abcde", "b": "fghij"}], expected, **options)
    assert result.alignments[0].pairs == ((row, 0, similarity),)


@pytest.mark.parametrize(
    ("metric", "field", "score"),
    [
        ({"match_threshold": 0.6}, {}, 1.0),
        ({"match_threshold": 0.63}, {}, 0.0),
        ({"match_threshold": 0.6}, {"leaf_threshold": 0.6}, 0.625),
        ({"match_threshold": 0.6}, {"leaf_threshold": None}, 0.625),
        ({"match_threshold": 0.6}, {"match_threshold": None}, 0.625),
        ({"leaf_threshold": 0.7}, {"match_threshold": 0.6}, 1.0),
        ({"leaf_threshold": None, "match_threshold": 0.6}, {}, 1.0),
    ],
)
def test_the_threshold_of_a_field_goes_over_that_of_the_metric(metric, field, score):
    sides = {"a": "Acme Inc"}, {"a": "Acme Ltd"}
    assert compare_json(*sides, metric="json_similarity", fields={"a": field}, **metric).score == score


def test_a_threshold_replaces_the_other_one_of_a_registered_metric():
    register_metric("short_lenient", {"base": "json_similarity", "match_threshold": 0.6}, overwrite=True)
    sides = {"a": "Acme Inc"}, {"a": "Acme Ltd"}
    assert compare_json(*sides, metric="short_lenient").score == 1.0
    assert compare_json(*sides, metric="short_lenient", leaf_threshold=0.6).score == 0.625


def test_the_expected_value_matches_first():
    options = {"metric": "json_similarity", "match_threshold": 0.6, "accept": {"a": ["Acme Inc."]}}
    found = [compare_json({"a": text}, {"a": "Acme Ltd"}, **options) for text in ("Acme Inc", "Acme Inc..")]
    assert [(result.score, result.field_results[0].reason) for result in found] == [
        (1.0, None),
        (1.0, "accepted: 'Acme Inc.'"),
    ]


def test_words_of_schemas_too():
    schema = {
        "properties": {
            "total": {"type": "number", "x-eval-tolerance": 0.01},
            "vendor": {"type": "string", "x-eval-compare": "levenshtein", "x-eval-leaf_threshold": 0.7},
        }
    }
    sides = ({name: side[name] for name in ("total", "vendor")} for side in (ACTUAL, EXPECTED))
    result = compare_json(*sides, schema=schema)
    assert [field.score for field in result.field_results] == [1.0, 0.0]
    schema["properties"]["total"]["x-eval-compare"] = "exact"
    with pytest.raises(
        ConfigurationError, match=r"^total: has both x-eval-compare and x-eval-tolerance; give one$"
    ):
        compare_json({}, {}, schema=schema)


def test_match_thresholds_of_schemas():
    vendor = {"type": "string", "x-eval-compare": "levenshtein", "x-eval-leaf_threshold": 0.7}
    schema = {
        "properties": {"a": {"$ref": "#/$defs/vendor", "x-eval-match_threshold": 0.6}},
        "$defs": {"vendor": vendor},
    }
    assert compare_json({"a": "Acme Inc"}, {"a": "Acme Ltd"}, schema=schema).score == 1.0
    vendor["x-eval-match_threshold"] = 0.5
    message = r"^a: has both x-eval-leaf_threshold and x-eval-match_threshold; give one$"
    with pytest.raises(ConfigurationError, match=message):
        compare_json({}, {}, schema=schema)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields": {"a": 1}}, r"fields\['a'\] must be 'skip', a comparator's name, or a mapping of compare, .*tolerance"),
        ({"fields": {"a": "skp"}}, r"fields\['a'\].compare: unknown comparator 'skp'"),
        ({"fields": {"a": "unordered"}}, r"fields\['a'\].compare: unknown comparator 'unordered'; write \{'align': 'unordered'\}$"),
        ({"fields": {"a": "casefold"}}, r"fields\['a'\].compare: unknown comparator 'casefold'; write \{'transform': 'casefold'\}$"),
        ({"fields": {"a": {"date": {"order": "dmy"}}}}, r"fields\['a'\] has the rule 'date'; a comparator with parameters is written \{'compare': \{'date': \{'order': 'dmy'\}\}\}$"),
        ({"fields": {"a": {"tolerance": -1}}}, r"fields\['a'\].tolerance: 'tolerance' must be a finite number, 0 or more, got -1"),
        ({"fields": {"a": {"tolerance": True}}}, r"fields\['a'\].tolerance: 'tolerance' must be a finite number"),
        ({"fields": {"a": {"tolerance": {"ab": 1}}}}, r"the tolerance of fields\['a'\].tolerance has no parameter 'ab'; did you mean 'abs'\?"),
        ({"fields": {"a": {"tolerance": 1, "compare": "date"}}}, r"fields\['a'\] has both compare and tolerance; a tolerance alone compares by `numeric`, and .*'amount'"),
        ({"fields": {"a": {"leaf_threshold": 2}}}, r"fields\['a'\].leaf_threshold must be a number from 0 to 1, got 2"),
        ({"fields": {"a": {"match_threshold": 0}}}, r"fields\['a'\].match_threshold must be greater than 0 and at most 1, got 0, which every leaf reaches"),
        ({"match_threshold": "x"}, r"match_threshold must be a number from 0 to 1, got 'x'"),
        ({"match_threshold": 0.5, "leaf_threshold": 0.6}, r"leaf_threshold is 0.6 and match_threshold is 0.5; give one of them"),
        ({"fields": {"a": {"match_threshold": 1, "leaf_threshold": 0}}}, r"fields\['a'\].leaf_threshold is 0 and fields\['a'\].match_threshold is 1; give one"),
        ({"skip": "a"}, r"skip must be a list of path patterns such as \['\*\*.created_at'\], got 'a'"),
        ({"skip": [1]}, r"skip must be a list of path patterns"),
        ({"skip": ["a..b"]}, r"'a..b' is not a path pattern: character 3"),
        ({"tolerance": 1}, r"unknown option 'tolerance'; write fields=\{'PATTERN': \{'tolerance': 0.01\}\}"),
        ({"ignore": ["a"]}, r"unknown option 'ignore'; write skip=\['PATTERN'\]"),
    ],
)  # fmt: skip
def test_mistakes(options, message):
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        compare_json({"a": 1}, {"a": 1}, **options)


def test_no_comparator_is_called_skip():
    with pytest.raises(
        ConfigurationError, match=r"no comparator can be called 'skip': .* choose another name"
    ):
        register_comparator("skip", lambda *_: 1.0)


def test_a_skip_that_matches_nothing_is_reported_for_corpora():
    with pytest.warns(JsonMatchWarning, match=r"skip: '\*\*.idd' matches nothing .*; did you mean 'id'\?"):
        run = compare_corpus([ACTUAL], [EXPECTED], skip=["**.idd", "total"])
    assert "total" not in run.per_field
