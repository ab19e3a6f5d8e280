"""Rules that fit no place of anything they were given for are warned of, each at its place."""

from __future__ import annotations

import pytest

# (What turns warnings into errors around this test holds in a run inside it too.)
SHOWN = ("-W", "default::pytest_jsonmatch.JsonMatchWarning")

RULES_BESIDE_CASES = """\
fields:
  totl: {weight: 2}
  items[].price: {skip: true}
cases:
- id: one
  expected: {total: 1, items: [{price: 1}]}
  actual: {total: 1, items: [{price: 2}]}
- id: two
  expected: {total: 1, a: [{b: 1}]}
  actual: {total: 1, a: [{b: 1}]}
  fields:
    a.b: {weight: 3}
"""


def warnings_of(result):
    return [line.strip() for line in result.outlines if "JsonMatchWarning" in line]


def test_rules_of_an_assertion_are_reported_once_per_test(pytester, workers):
    pytester.makepyfile("""
        def test_it(assert_json_match):
            rules = {"a": {"weight": 2}, "b": {"weight": 2}, "c[].d": {"skip": True}, "e.f": {"skip": True}}
            for document in ({"c": [{"d": 1}], "e": [{"f": 1}]}, {"a": 1}, {"b": 1}):
                assert_json_match(document, document, fields=rules)
        """)
    result = pytester.runpytest(*SHOWN, *workers)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        "*test_*.py:1: JsonMatchWarning: fields: 'e.f' matches nothing in *; did you mean 'e[[][]].f'[?]"
    )


def test_limits_of_fields_are_rules_too(pytester):
    pytester.makepyfile("""
        def test_it(assert_json_match):
            assert_json_match({"total": 1}, {"total": 1}, threshold={"fields": {"totl": 1}})
        """)
    result = pytester.runpytest(*SHOWN)
    result.assert_outcomes(failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        "*JsonMatchWarning: threshold: 'totl' matches nothing *did you mean 'total'[?]"
    )


def test_rules_of_golden_files_are_reported_at_the_end(pytester, workers):
    pytester.makefile(".golden.yaml", r=RULES_BESIDE_CASES)
    result = pytester.runpytest(*SHOWN, *workers)
    result.assert_outcomes(passed=2, warnings=2)
    nowhere = "matches nothing in expected, actual or schema"
    assert [line.partition("JsonMatchWarning: ")[2] for line in warnings_of(result)] == [
        f"fields: 'totl' {nowhere} in any of 2 tests; did you mean 'total'?",
        f"fields: 'a.b' {nowhere}; did you mean 'a[].b'?",
    ]
    result.stdout.fnmatch_lines(["r.golden.yaml:2", "r.golden.yaml:12"])


@pytest.mark.parametrize("way", [("-k", "one"), ("r.golden.yaml::one",)])
def test_a_rule_is_not_reported_before_all_its_cases_have_run(pytester, way):
    pytester.makefile(".golden.yaml", r=RULES_BESIDE_CASES)
    result = pytester.runpytest(*SHOWN, *way)
    result.assert_outcomes(passed=1, deselected=1 if way[0] == "-k" else 0)
    assert warnings_of(result) == []


def test_a_rule_is_not_reported_if_a_case_did_not_come_to_its_end(pytester):
    broken = RULES_BESIDE_CASES.replace("  actual: {total: 1, items: [{price: 2}]}", "  actual: no JSON")
    pytester.makefile(".golden.yaml", r=broken)
    result = pytester.runpytest(*SHOWN)
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    assert ["'a.b'" in line for line in warnings_of(result)] == [True]


def test_all_parameters_of_a_fixture_count(pytester, workers):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(params=["x", "y"])
        def jsonmatch_actual(request):
            return {"n": 1, request.param: 1}
        """)
    pytester.makefile(
        ".golden.yaml",
        r="id: one\nexpected: {n: 1}\nthreshold: 0.5\nfields: {y: {skip: true}, z: {skip: true}}",
    )
    result = pytester.runpytest(*SHOWN, *workers)
    result.assert_outcomes(passed=2, warnings=1)
    assert ["'z'" in line and "in any of 2 tests" in line for line in warnings_of(result)] == [True]


MARKED = """
    import pytest

    pytestmark = pytest.mark.jsonmatch(accept={"y": [1]})

    @pytest.mark.jsonmatch(fields={"a": {"weight": 2}, "b": {"weight": 2}, "z": {"skip": True}})
    @pytest.mark.parametrize("name", "ab")
    def test_it(assert_json_match, name):
        assert_json_match({name: 1}, {name: 1})
"""


def test_a_mark_of_a_test_is_checked_and_that_of_a_module_is_not(pytester, workers):
    pytester.makepyfile(test_m=MARKED)
    result = pytester.runpytest(*SHOWN, *workers)
    result.assert_outcomes(passed=2, warnings=1)
    assert ["test_m.py:5: " in line and "'z'" in line for line in warnings_of(result)] == [True]


def test_parameters_of_a_test_are_not_checked_apart(pytester):
    pytester.makepyfile(test_m=MARKED)
    result = pytester.runpytest(*SHOWN, "-k", "a]")
    assert warnings_of(result) == []


@pytest.mark.parametrize("left_out", ["marks: [skip]", "marks: [xfail]", "producer: 'no_such:function'"])
def test_a_file_with_a_case_that_compares_nothing_is_not_checked(pytester, left_out):
    cases = RULES_BESIDE_CASES.replace("  actual: {total: 1, items: [{price: 2}]}", f"  {left_out}")
    pytester.makefile(".golden.yaml", r=cases, s=RULES_BESIDE_CASES)
    result = pytester.runpytest(*SHOWN)
    assert {"s.golden.yaml" in line for line in warnings_of(result)} == {True}


@pytest.mark.parametrize("filter_", ["error", "error::pytest_jsonmatch.JsonMatchWarning"])
def test_under_error_the_run_fails(pytester, filter_, workers):
    pytester.makefile(".golden.yaml", r=RULES_BESIDE_CASES)
    result = pytester.runpytest("-W", filter_, *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*r.golden.yaml:2: fields: 'totl' matches nothing *", "*2 passed*"])


IGNORED = "ignore::pytest_jsonmatch.JsonMatchWarning"


def test_warnings_can_be_ignored(pytester):
    pytester.makefile(".golden.yaml", r=RULES_BESIDE_CASES)
    result = pytester.runpytest("-W", IGNORED)
    assert result.ret == pytest.ExitCode.OK
    assert warnings_of(result) == []
    marked = f"marks: [{{filterwarnings: '{IGNORED}'}}]\n{RULES_BESIDE_CASES}"
    pytester.makefile(".golden.yaml", r=marked)
    assert warnings_of(pytester.runpytest(*SHOWN)) == []


def test_a_filter_for_warnings_of_another_module_ignores_none_of_ours(pytester):
    pytester.makeini(f"[pytest]\nfilterwarnings =\n    {SHOWN[1]}\n    ignore::UserWarning:torch\n")
    pytester.makefile(".golden.yaml", a=RULES_BESIDE_CASES)
    result = pytester.runpytest()
    assert len(warnings_of(result)) == 2


def test_what_is_accepted_somewhere_is_a_rule_too(pytester):
    pytester.makefile(
        ".golden.yaml", r="id: one\nexpected: {n: 1}\nactual: {n: 2}\naccept: {n: [2], m: [1]}\n"
    )
    result = pytester.runpytest(*SHOWN)
    result.assert_outcomes(passed=1, warnings=1)
    assert ["accept: 'm' matches nothing" in line for line in warnings_of(result)] == [True]
