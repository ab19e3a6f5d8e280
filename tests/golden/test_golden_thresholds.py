"""`match_threshold` and `leaf_threshold` in golden files and marks."""

from __future__ import annotations

import pytest

SIDES = """\
actual: { vendor: Acme Inc, city: Berlin }
expected: { vendor: Acme Ltd, city: Munich }
metric: json_similarity
"""


@pytest.mark.parametrize(
    ("rules", "score"),
    [
        ("options: { match_threshold: 0.6 }", 0.5),
        ("fields: { vendor: { match_threshold: 0.6 }, city: skip }", 1.0),
        ("options: { leaf_threshold: 0.7 }\nfields: { vendor: { match_threshold: 0.6 } }", 0.5),
    ],
)
def test_a_leaf_that_reaches_the_match_threshold_matches(pytester, rules, score):
    pytester.makefile(".golden.yaml", a=f"{SIDES}{rules}\nthreshold: {score}\n")
    pytester.runpytest().assert_outcomes(passed=1)
    pytester.makefile(".golden.yaml", a=f"{SIDES}{rules}\nthreshold: 1.0\n")
    pytester.runpytest().assert_outcomes(**{"passed" if score == 1.0 else "failed": 1})


@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ("options: { leaf_threshold: 0.5, match_threshold: 0.6 }", "4:33: `options`"),
        ("fields: { vendor: { leaf_threshold: 0.5, match_threshold: 0.6 } }", "4:11: `fields`"),
    ],
)
def test_both_thresholds_are_an_error_at_their_line(pytester, rules, place):
    pytester.makefile(".golden.yaml", a=SIDES + rules)
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    message = "leaf_threshold is 0.5 and *match_threshold is 0.6; give one of them: *"
    result.stdout.fnmatch_lines(f"E*a.golden.yaml:{place}: *{message}")


def test_null_takes_back_the_threshold_of_a_mark(pytester):
    pytester.makepyfile("""
        import pytest
        from pytest_jsonmatch import assert_json_match

        pytestmark = pytest.mark.jsonmatch(metric="json_similarity", leaf_threshold=0.7, threshold=0)

        def test_none():
            assert assert_json_match('"Acme Inc"', '"Acme Ltd"').score == 0.0

        def test_other():
            options = {"leaf_threshold": None, "match_threshold": 0.6}
            assert assert_json_match('"Acme Inc"', '"Acme Ltd"', **options).score == 1.0
    """)
    pytester.runpytest().assert_outcomes(passed=2)
