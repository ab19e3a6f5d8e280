"""Cases with parameters, and the same cases for a test in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import load_cases

ROWS = """\
cases:
  - id: plain
    actual: { name: "${name}" }
    expected: { name: "${name}" }
  - id: greet
    parametrize:
      name: [Ann, Bo]
      lang: [en, de]
    title: Greets ${name}
    actual: { text: "hello ${name}", lang: "${lang}" }
    expected: { text: "hello ${name}", lang: en }
"""


def cases_of(text):
    return load_cases(text.encode(), Path("x.golden.yaml"), "x.yaml").by_id


def test_all_combinations_of_a_mapping(pytester, golden):
    golden(ROWS)
    outcome = pytester.runpytest("-v")
    outcome.assert_outcomes(passed=3, failed=2)
    for name in ("plain", "greet-Ann-en", "greet-Ann-de", "greet-Bo-en", "greet-Bo-de"):
        word = "FAILED" if name.endswith("de") else "PASSED"
        assert any(f"::{name}" in line and word in line for line in outcome.outlines)
    pytester.runpytest("a.golden.yaml::greet-Bo-de").assert_outcomes(failed=1)
    # At the line of the field that is wrong, in the text that all rows share.
    outcome.stdout.fnmatch_lines([">   expected: { text: *", "a.golden.yaml:11: AssertionError"])


def test_values_keep_their_type_and_text_is_put_into_text():
    found = cases_of("""\
metric: json_similarity
options: { arrays: { key: "${key}" } }
input: { for: "${n}" }
cases:
  - id: a
    parametrize:
      - { id: few, n: 2, key: sku, more: [1, { b: null }] }
      - { n: 2.5, key: id, more: null }
    actual_file: answers/${key}.txt
    fields: { "${key}": { skip: true } }
    expected: { n: "${n}", text: "n=${n}", more: "${more}", plain: "$${n}", "${key}": "${more}!" }
""")
    few, two = found.values()
    assert list(found) == ["a-few", "a-2.5-id-null"]
    assert few.expected == {
        "n": 2,
        "text": "n=2",
        "more": [1, {"b": None}],
        "plain": "${n}",
        "sku": '[1, {"b": null}]!',
    }
    assert two.expected == {"n": 2.5, "text": "n=2.5", "more": None, "plain": "${n}", "id": "null!"}
    assert (few.input, two.input) == ({"for": 2}, {"for": 2.5})
    assert few.options == {"arrays": {"key": "sku"}, "fields": {"sku": {"skip": True}}}
    assert (few.params, two.params["key"]) == ({"n": 2, "key": "sku", "more": [1, {"b": None}]}, "id")
    assert few.position("expected", "n").line == 11


def test_checks_are_made_of_what_comes_out():
    text = 'parametrize: { t: [0.5, 1] }\nid: a\nthreshold: "${t}"\nactual: 1\nexpected: 1\n'
    assert [case.threshold for case in cases_of(text).values()] == [0.5, 1]


def test_ids_are_names_whatever_the_values():
    values = json.dumps(["a b", "a/b", "", None, True, 1.5, "x" * 50, [1], {"a": 1}, "€"])
    ids = list(cases_of(f"id: x\nexpected: 1\nparametrize: {{ v: {values} }}\n"))
    assert ids == [f"x-{end}" for end in ("a-b", "a-b-2", "3", "null", "true", "1.5", "7", "8", "9", "10")]


def test_what_a_fixture_makes_of_parameters(pytester, golden):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture
        def jsonmatch_actual(jsonmatch_case):
            return {"n": jsonmatch_case.params["n"] + 1}
        """)
    golden("id: a\nparametrize: { n: [1, 2] }\nexpected: { n: 3 }\n")
    pytester.runpytest().assert_outcomes(passed=1, failed=1)


TEST = """\
from pytest_jsonmatch import assert_json_match, golden_cases


@golden_cases("cases/*.yaml")
def test_answers(case):
    answer = {"n": case.input * 2}
    assert_json_match(answer, case.expected, threshold=case.threshold, **case.options)
"""


def test_the_same_cases_for_a_test_in_python(pytester, write):
    write("tests/test_a.py", TEST)
    write(
        "tests/cases/doubles.yaml",
        "cases:\n- {id: one, input: 1, expected: {n: 2}}\n- {id: two, input: 2, expected: {n: 5}}\n"
        "- {id: three, input: 3, expected: {n: 7}, marks: [{xfail: wrong on purpose}]}\n",
    )
    outcome = pytester.runpytest("-v")
    outcome.assert_outcomes(passed=1, failed=1, xfailed=1)
    outcome.stdout.fnmatch_lines_random(["*test_answers?one? *", "*test_answers?two? *"])
    pytester.runpytest("tests/test_a.py::test_answers[one]").assert_outcomes(passed=1)
    write("tests/cases/more.yaml", "marks: [{skip: later}]\ncases:\n- {id: one, expected: 1}\n")
    outcome = pytester.runpytest("--collect-only", "-q")
    assert "tests/test_a.py::test_answers[doubles-one]" in outcome.outlines
    assert "tests/test_a.py::test_answers[more-one]" in outcome.outlines
    pytester.runpytest().assert_outcomes(passed=1, failed=1, xfailed=1, skipped=1)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "golden_cases: no file matches 'cases/*.yaml' in *"),
        ({"tests/cases/a.yaml": "expcted: 1\n"}, "cases/a.yaml:1:1: unknown key 'expcted'; *"),
    ],
)
def test_what_is_wrong_with_the_files_is_reported_where_they_are_used(pytester, write, files, message):
    write("tests/test_a.py", TEST)
    write("tests/test_b.py", "def test_b(): pass\n")
    for name, text in files.items():
        write(name, text)
    outcome = pytester.runpytest("--continue-on-collection-errors")
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines([message])
    outcome.stdout.no_fnmatch_line("*Traceback*")


def test_an_update_leaves_places_alone(pytester, golden):
    text = "id: a\nparametrize: { n: [1, 2] }\nactual: { n: 1 }\nexpected: { n: '${n}' }\n"
    golden(text)
    outcome = pytester.runpytest("--jsonmatch-update=all")
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.fnmatch_lines(["*a.golden.yaml::a-2*its placeholders `${name}` would be lost*"])
    assert (pytester.path / "a.golden.yaml").read_text() == text
