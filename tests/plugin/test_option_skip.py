"""The ini option `jsonmatch_skip`, the option `skip` of assertions and marks, and the key `skip` of cases."""

from __future__ import annotations

import pytest

SHOWN = ("-W", "default::pytest_jsonmatch.JsonMatchWarning")

GOLDEN = """\
skip: [id]
cases:
- id: one
  actual: {id: 1, n: 1, meta: {at: 1}, note: x}
  expected: {id: 2, n: 1, meta: {at: 2}, note: y}
  skip: [note]
- id: two
  actual: {id: 1, n: 1, meta: {at: 1}}
  expected: {id: 2, n: 1, meta: {at: 2}}
"""
TEST = """
    import pytest

    @pytest.mark.jsonmatch(skip=["id"])
    def test_marked(assert_json_match):
        assert_json_match({"id": 1, "at": 2}, {"id": 2, "at": 3})

    def test_called(assert_json_match):
        result = assert_json_match({"id": 1, "at": 2, "n": 1}, {"id": 2, "at": 3, "n": 1}, skip=["id"])
        assert result.counts["skipped"] == 2

    def test_compared_again(assert_json_match):
        assert_json_match({"at": 2}, {"at": 3}, fields={"at": {"skip": False}})
"""


def test_what_the_suite_skips_adds_to_what_a_test_or_a_case_skips(pytester, workers):
    pytester.makeini("[pytest]\njsonmatch_skip =\n    **.at\n    meta.ID\n")
    pytester.makepyfile(TEST)
    pytester.makefile(".golden.yaml", a=GOLDEN)
    result = pytester.runpytest(*SHOWN, *workers)
    # Patterns of the ini file are not checked.
    result.assert_outcomes(passed=4, failed=1, warnings=0)


def test_a_skip_of_a_case_that_matches_nothing_is_reported_at_its_line(pytester):
    text = GOLDEN.replace("skip: [id]", "skip:\n- id\n- '**.at'\n- idd")
    pytester.makefile(".golden.yaml", a=text.replace("skip: [note]", "skip: [note, notes]"))
    result = pytester.runpytest(*SHOWN)
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines("""\
        a.golden.yaml:4
        *skip: 'idd' matches nothing * in any of 2 tests; did you mean 'id'[?]
        a.golden.yaml:9
        *skip: 'notes' matches nothing *; did you mean 'note'[?]""")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("skip: true", "a.golden.yaml:2:1: `skip` lists * to skip a case write `marks: [[]skip[]]`"),
        ("skip: the printer is broken", "a.golden.yaml:2:1: `skip` lists * write `marks: [[]skip[]]`"),
        ("skip: [id, 'a..b']", "a.golden.yaml:2:12: `skip`: 'a..b' is not a path pattern*"),
        ("skip: [1]", "a.golden.yaml:2:8: `skip`: skip must be a list of path patterns*, got [[]1[]]*"),
        ("options: {skip: [id]}", "a.golden.yaml:2:11: `options` can't hold `skip`; write it next to `options`"),
        ("fields: {n: {tolerance: 1, compare: date}}", "a.golden.yaml:2:10: `fields`: * has both compare and tolerance*"),
        ("fields: {n: {tolerance: x}}", "a.golden.yaml:2:10: `fields`: *'tolerance' must be a finite number*"),
        ("fields: {n: skp}", "a.golden.yaml:2:10: fields[[]'n'].compare: unknown comparator 'skp'*"),
    ],
)  # fmt: skip
def test_mistakes_in_a_case(pytester, key, message):
    pytester.makefile(".golden.yaml", a=f"id: one\n{key}\nexpected: {{n: 1}}\nactual: {{n: 1}}\n")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*{message}"])


def test_a_wrong_pattern_of_the_suite_is_a_usage_error(pytester):
    pytester.makeini("[pytest]\njsonmatch_skip = a..b\n")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "*tox.ini: jsonmatch_skip must be a list of path patterns such as [*][*].created_at, *; 'a..b' is not *"
    )


def test_short_forms_in_a_case(pytester):
    case = """\
        actual: {id: 1, total: 10.01, vendor: Acme Inc}
        expected: {id: 2, total: 10, vendor: Acme Ltd}
        fields: {id: skip, total: {tolerance: 0.01}, vendor: {compare: levenshtein, leaf_threshold: 0.6}}
        threshold: {fields: {total: 1, vendor: 0.62}, score: 0.8}
    """
    pytester.makefile(".golden.yaml", a=case)
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_suggestion_extends_a_short_rule(pytester):
    sides = "actual: {id: 1, vendor: acme}\nexpected: {id: 2, vendor: ACME}\n"
    pytester.makefile(".golden.yaml", a=sides + "fields: {id: skip, vendor: exact}")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        ["E*  fields: {id: skip, vendor: {compare: exact, transform: [[]casefold[]]}}"]
    )
