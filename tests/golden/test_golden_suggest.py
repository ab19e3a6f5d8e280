"""What would let a failing case pass: tried before it is said, and right when it is pasted."""

from __future__ import annotations

import json

import pytest
import yaml

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.comparing.suggest import Trial, suggest_changes

HEAD = "if this difference is acceptable, the case would pass with"


def printed(outcome):
    """The suggestions in the output that are one line of YAML."""
    texts = [line[1:].strip() for line in outcome.outlines if line.startswith("E")]
    return [text.removeprefix("or ") for text in texts[texts.index(HEAD) + 1 :]] if HEAD in texts else []


# Metric, expected, actual, and what is suggested.
SUGGESTED = r"""
field_match | { v: Acme } | { v: ACME } => fields: {v: {transform: [casefold]}}
field_match | { v: Acme } | { v: ' Acme' } => fields: {v: {transform: [strip]}}
field_match | { v: a  b } | { v: a b } => fields: {v: {transform: [normalize_whitespace]}}
field_match | { v: café } | { v: cafe } => fields: {v: normalized_text}
field_match | { v: 2026-01-31 } | { v: 31 January 2026 } => fields: {v: date}
field_match | { n: 100 } | { n: 101.5 } => fields: {n: {tolerance: {rel: 0.02}}}
field_match | { n: 12 } | { n: '12' } => fields: {n: {transform: [{type_convert: {to: number}}]}}
leaf_f1 | { n: 1234.5 } | { n: '€ 1,234.50' } => fields: {n: amount}
leaf_f1 | { v: [1, 2] } | { v: [2, 1] } => fields: {v: {align: unordered}}
leaf_f1 | { a: 1 } | { a: 1, b: null } => options: {nulls: absent} ;; options: {extra: ignore}
leaf_f1 | { a: 1 } | { a: 1, b: 2 } => options: {extra: ignore}
leaf_f1 | [{ v: [1, 2] }] | [{ v: [2, 1] }] => fields: {"[].v": {align: unordered}} ;; options: {arrays: unordered}
leaf_f1 | [{ v: a }, { v: b }] | [{ v: A }, { v: B }] => fields: {"[].v": {transform: [casefold]}}
field_match | { v: Acme } | { v: Bolt } =>
field_match | { n: 1 } | { n: 2 } =>
field_match | { v: Acme } | {} =>
"""


@pytest.mark.parametrize("row", SUGGESTED.strip().splitlines())
def test_what_is_reported(pytester, golden, row):
    compared, _, suggested = row.partition(" =>")
    metric, expected, actual = compared.split(" | ")
    required = [each.strip() for each in suggested.split(" ;; ") if each.strip()]
    case = f"metric: {metric}\nactual: {actual}\nexpected: {expected}\n"
    golden(case)
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    outcome.assert_outcomes(failed=1)
    assert printed(outcome) == required
    for line in required:
        golden(f"{line}\n{case}")
        pytester.runpytest().assert_outcomes(passed=1)


# A rule, expected, actual, and what is suggested in place of the rule.
KEPT = r"""
amount | 100 | 103 => {compare: {amount: {tolerance: {rel: 0.05}}}}
{ compare: { amount: { decimal: '.' } } } | 100 EUR | 101 EUR => {compare: {amount: {decimal: ., tolerance: {rel: 0.01}}}}
{ tolerance: 0.5 } | 100 | 102 => {tolerance: {rel: 0.02}}
exact | Acme | acme => {compare: exact, transform: [casefold]}
amount | 100 | 200 =>
date | 2026-01-31 | 2026-02-01 =>
{ compare: { threshold: { threshold: 1 } } } | 100 | 102 =>
"""


@pytest.mark.parametrize("row", KEPT.strip().splitlines())
def test_a_rule_keeps_its_comparator(pytester, golden, row):
    compared, _, suggested = row.partition(" =>")
    rule, expected, actual = compared.split(" | ")
    golden(f"fields: {{v: {rule}}}\nactual: {{v: {actual}}}\nexpected: {{v: {expected}}}\n")
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    outcome.assert_outcomes(failed=1)
    assert printed(outcome) == ([f"fields: {{v: {suggested.strip()}}}"] if suggested else [])


def test_several_fields_together(pytester, golden):
    case = """\
metric: leaf_f1
actual: { items: [{ n: 2, v: AB }, { n: 1, v: CD }], t: X, w: 101 }
expected: { items: [{ n: 1, v: cd }, { n: 2, v: ab }], t: x, w: 100 }
"""
    golden(case)
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    (rules,) = printed(outcome)
    assert rules == (
        'fields: {items: {align: unordered}, "items[].v": {transform: [casefold]}, t: {transform: [casefold]}, '
        "w: {tolerance: {rel: 0.01}}}"
    )
    golden(f"{rules}\n{case}")
    pytester.runpytest().assert_outcomes(passed=1)


# Without the weight of `v`, or with `u`, the score would stay too low.
ROW = {
    "actual": {"v": "ACME ", "w": 1, "u": 1, "i": [{"v": 2}, {"v": 1}]},
    "expected": {"v": "Acme", "w": 2, "u": 2, "i": [{"v": 1}, {"v": 2}]},
}


@pytest.mark.parametrize(
    "rules",
    [
        {"v": {"weight": 9, "compare": "exact"}, "u": {"skip": True}},
        {"v": {"weight": 9, "transform": ["strip"]}, "u": "skip"},
        {"v": {"weight": 9, "transform": "strip"}, "u": "skip"},
        {"v": {"weight": 9, "accept": ["Bolt"]}, "u": "skip"},
        {"v": {"weight": 9, "match_threshold": 0.9}, "u": "skip"},
        {"v": {"weight": 9, "compare": "levenshtein", "leaf_threshold": 0.9}, "u": "skip"},
        {"*": {"transform": ["strip"]}, "v": {"weight": 9}, "u": "skip"},
        {"**.u": "skip", '["v"]': {"weight": 9}},
        {"i[].v": {"weight": 9, "tolerance": 0.1}, "u": "skip", "v": "skip"},
        {"i": {"weight": 9, "align": "ordered"}, "u": "skip", "v": "skip"},
        {"i[].*": {"weight": 9}, "u": "skip", "v": "skip"},
    ],
)
@pytest.mark.parametrize("kind", ["case", "file", "both", "table", "mark"])
def test_a_pasted_change_keeps_the_rules_that_are_there(pytester, golden, kind, rules):
    """Pasted means: in place of the lines of the case with the same keys."""
    case = {"id": "x", "threshold": 0.7, **ROW}
    document = case | {"fields": rules}
    pasted = document
    (first, rule), *others = rules.items()
    if kind in {"file", "both"}:
        document = {"fields": rules if kind == "file" else dict(others), "cases": [case]}
        pasted = case
        if kind == "both":
            case["fields"] = {first: rule, "w": {"weight": 0.5}}
    elif kind == "table":
        pytester.path.joinpath("rows.jsonl").write_text(json.dumps({"id": "x", **ROW}))
        columns = {"expected": "expected", "actual": "actual"}
        document = {
            "threshold": 0.7,
            "fields": rules,
            "cases_from": {"file": "rows.jsonl", "id": "id", **columns},
        }
        pasted = document
    elif kind == "mark":
        del document["fields"]
        pytester.makeconftest(f"""
            import pytest

            def pytest_collection_modifyitems(items):
                for item in items:
                    item.add_marker(pytest.mark.jsonmatch(fields={rules!r}))
            """)
    golden(json.dumps(document))
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    outcome.assert_outcomes(failed=1)
    changes, before = printed(outcome), dict(pasted)
    assert changes
    for change in changes:
        pasted.clear()
        pasted.update(before | yaml.safe_load(change))
        golden(json.dumps(document))
        pytester.runpytest().assert_outcomes(passed=1)


def test_a_pasted_change_says_all_that_the_case_says_there(pytester, golden):
    golden("""\
fields: { v: { weight: 9 }, n: { weight: 2 } }
options: { arrays: sequence }
cases:
  - id: x
    fields: { u: skip }
    options: { absent: [N/A] }
    actual: { v: ACME, u: 1, n: [], l: [1, 2], e: null }
    expected: { v: Acme, u: 2, n: [], l: [1, 2] }
""")
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    assert printed(outcome) == [
        "fields: {u: skip, v: {weight: 9, transform: [casefold]}}",
        "options: {absent: [N/A], nulls: absent}",
    ]


def test_the_hint_at_absent_values_is_a_line_of_the_case(pytester, golden):
    golden(
        "options: { absent: [N/A], extra: count }\nactual: { v: a, e: null, f: N/A }\nexpected: { v: a }\n"
    )
    outcome = pytester.runpytest("--jsonmatch-summary=none")
    outcome.stdout.fnmatch_lines(
        ["E *of the loss: options: {absent: [[]N/A, null], extra: count} counts such members as missing"]
    )


def test_what_is_not_valid_would_not_pass(pytester, golden):
    case = "actual: { v: ' Acme' }\nexpected: { v: Acme }\nschema: { properties: { v: { maxLength: 4 } } }\n"
    golden(case)
    assert printed(pytester.runpytest("--jsonmatch-summary=none")) == ["fields: {v: {transform: [strip]}}"]
    golden(f"validate: require\n{case}")
    assert printed(pytester.runpytest("--jsonmatch-summary=none")) == []


def test_a_users_comparator_is_not_asked_again(pytester, golden):
    pytester.makeconftest("""
        calls = []

        def slow(expected, actual, params):
            calls.append(1)
            return expected == actual

        def pytest_jsonmatch_register(registry):
            registry.comparator("slow", slow)

        def pytest_sessionfinish():
            print("calls:", len(calls))
        """)
    golden("fields: { v: { compare: slow } }\nactual: { v: A, w: B }\nexpected: { v: a, w: b }\n")
    outcome = pytester.runpytest("-s")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*calls: 1"])
    assert printed(outcome) == []


def test_few_comparisons_are_made_however_much_differs():
    expected = {f"k{n}": "a" for n in range(10)} | {"n": [{"v": 1}] * 3}
    actual = {f"k{n}": "zzz" for n in range(10)} | {"n": [{"v": 9}] * 3}
    made = 0

    def compare(options):
        nonlocal made
        made += 1
        return compare_json(actual, expected, metric="leaf_f1", **options)

    result = compare({})
    assert suggest_changes(result, {}, Trial(compare, lambda again: again.score == 1.0)) == []
    assert made <= 20
    wide = {f"k{n}": n for n in range(6_000)}
    result = compare_json({}, wide)
    assert suggest_changes(result, {}, Trial(compare, lambda _: True)) == []


def test_a_golden_case_is_never_swapped(pytester, golden):
    golden("actual: { a: 1, b: 2 }\nexpected: { a: 1 }\n")
    run = pytester.runpytest()
    run.stdout.fnmatch_lines(["E *the case would pass with", "E *options: {extra: ignore}"])
    run.stdout.no_fnmatch_line("E *swapped*")
